//! What the manager would do for changed pools, control planes and networks: [`files`] reads manifests, [`ask`] has the API
//! server complete them in a dry run and the manager plan them (FooPlan), `text` prints the result.

pub mod ask;
pub mod files;
mod text;

pub use text::text;
pub(crate) use text::{changes, conditions, settings, with_rest};

use foo_api::plan::{CallsPlan, PoolPlan};
use serde::Serialize;

/// All plans of one command.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Plans {
    /// Of pools, by namespace and name.
    pub plans: Vec<Plan<PoolPlan>>,
    /// Of control planes, by namespace and name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub control_planes: Vec<Plan<CallsPlan>>,
    /// Of networks, by namespace and name of the FooCluster.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub networks: Vec<Plan<CallsPlan>>,
    /// Why there is no plan for the other objects.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<String>,
    /// Which objects of the files have no plan because the provider has nothing in AWS for them.
    #[serde(skip)]
    pub left_out: Vec<String>,
}

/// The plan of one object.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan<P> {
    /// Namespace of the object.
    pub namespace: String,
    /// What would follow.
    #[serde(flatten)]
    pub plan: P,
}

impl Plans {
    /// Those that consist of calls, with their kinds: networks first, because everything waits for them.
    pub(crate) fn calls(&self) -> impl Iterator<Item = (&'static str, &Plan<CallsPlan>)> {
        let networks = self.networks.iter().map(|it| ("FooCluster", it));
        networks.chain(self.control_planes.iter().map(|it| ("FooControlPlane", it)))
    }

    /// Whether anything would be changed.
    pub fn change_anything(&self) -> bool {
        self.plans.iter().any(|it| !it.plan.changes.is_empty() || !it.plan.actions.is_empty())
            || self.calls().any(|(_, it)| !it.plan.changes.is_empty() || !it.plan.calls.is_empty())
    }
}
