//! Elastic Load Balancing: two APIs at one endpoint, which the version in the request distinguishes. They describe
//! and delete load balancers and target groups; the control API creates them, as controllers in clusters would.

mod classic;
mod fields;
mod v2;

use super::operation::Operation;
use crate::request::params::Params;

/// Version of the API of classic load balancers.
pub(super) const CLASSIC: &str = "2012-06-01";

/// All actions.
pub(super) const ACTIONS: [(&str, Operation); 6] = [
    ("DescribeLoadBalancers", |region, params, caller, xml| {
        either(params, classic::balancers, v2::balancers)(region, params, caller, xml)
    }),
    ("DescribeTags", |region, params, caller, xml| {
        either(params, classic::tags, v2::tags)(region, params, caller, xml)
    }),
    ("DeleteLoadBalancer", |region, params, caller, xml| {
        either(params, classic::delete, v2::delete)(region, params, caller, xml)
    }),
    ("DescribeTargetGroups", v2::target_groups),
    ("DescribeTargetHealth", v2::target_health),
    ("DeleteTargetGroup", v2::delete_target_group),
];

fn either(params: &Params, classic: Operation, v2: Operation) -> Operation {
    if params.text("Version") == Some(CLASSIC) { classic } else { v2 }
}
