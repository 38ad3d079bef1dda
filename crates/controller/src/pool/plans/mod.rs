//! Responds to FooPlans about FooMachinePools and MachinePools.
//!
//! * [`question`]: what is asked, from the objects in the spec;
//! * [`foresee`]: the inputs of a pass over the changed pool, and `foo_planner::forecast` on them. Nothing is written and
//!   no group is observed for it: the state of the pool is a copy ([`super::state::PoolState::for_plan`]);
//! * [`differences`]: what differs between the specs, in AWS's terms; [`in_aws`]: what differs between the group and the
//!   end of the forecast;
//! * [`result`]: the status.

mod differences;
mod foresee;
mod in_aws;
mod question;
mod result;

use super::pools::Pools;
use crate::plans::is_reconciled_here;
use crate::responders::{Computes, Foreseen, Foresees};
use foo_api::plan::{FooPlan, FooPlanStatus};
use question::Question;

impl Foresees for Pools {
    fn foresee<'a>(&'a self, plan: &'a FooPlan, computes: &'a Computes) -> Foreseen<'a> {
        Box::pin(async {
            let is_filtered = self.context.settings.watch_filter.is_some();
            let Some(question) = Question::of(plan, &self.caches, is_filtered)? else { return Ok(None) };
            let planned = question.planned.as_ref();
            if question.present.is_none() && !is_reconciled_here(&self.context, planned) {
                return Ok(None);
            }
            let pool = Some(self.foresee_pool(&question, computes).await?);
            Ok(Some(FooPlanStatus { pool, ..FooPlanStatus::default() }))
        })
    }
}
