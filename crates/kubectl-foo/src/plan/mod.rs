//! What the manager would do for changed pools: [`files`] reads manifests, [`ask`] has the API server complete them in a dry
//! run and the manager plan them (FooPlan), `text` prints the result.

pub mod ask;
pub mod files;
mod text;

pub use text::text;

use foo_api::plan::PoolPlan;
use serde::Serialize;

/// All plans of one command.
#[derive(Clone, Debug, Serialize)]
pub struct Plans {
    /// By namespace and name of the pool.
    pub plans: Vec<Plan>,
    /// Why there is no plan for the other pools.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<String>,
}

/// The plan of one pool.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// Namespace of the pool.
    pub namespace: String,
    /// What would follow.
    #[serde(flatten)]
    pub plan: PoolPlan,
}

impl Plans {
    /// Whether anything would be changed.
    pub fn change_anything(&self) -> bool {
        self.plans.iter().any(|it| !it.plan.changes.is_empty() || !it.plan.actions.is_empty())
    }
}
