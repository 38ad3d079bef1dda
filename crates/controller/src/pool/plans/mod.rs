//! Responds to FooPlans about FooMachinePools and MachinePools.
//!
//! * [`question`]: what is asked, from the objects in the spec;
//! * [`foresee`]: the inputs of a pass over the changed pool, and `foo_planner::forecast` on them. Nothing is written and
//!   no group is observed for it: the state of the pool is a copy ([`super::state::PoolState::for_plan`]);
//! * [`differences`]: what differs in AWS's terms;
//! * [`result`]: the status.

mod differences;
mod foresee;
mod question;
mod result;

use super::pools::Pools;
use crate::plans::objects::Subject;
use crate::plans::{Foresees, is_reconciled_here};
use foo_api::plan::{FooPlan, FooPlanStatus};
use question::Question;
use std::sync::Arc;
use tokio::sync::Semaphore;

impl Foresees for Pools {
    type Question = Question;

    fn question(&self, plan: &FooPlan) -> Result<Option<Question>, String> {
        if Subject::of(plan) != Subject::Pool {
            return Ok(None);
        }
        let is_filtered = self.context.settings.watch_filter.is_some();
        let question = Question::of(plan, &self.caches, is_filtered)?;
        let is_here =
            |it: &Question| it.present.is_some() || is_reconciled_here(&self.context, it.planned.as_ref());
        Ok(question.filter(is_here))
    }

    async fn foresee(&self, question: &Question, computes: &Arc<Semaphore>) -> Result<FooPlanStatus, String> {
        let pool = self.foresee_pool(question, computes).await?;
        Ok(FooPlanStatus { pool: Some(pool), ..FooPlanStatus::default() })
    }
}
