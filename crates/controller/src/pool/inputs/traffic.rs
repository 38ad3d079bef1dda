//! What sends requests to a pool's instances: the load balancers and target groups of the spec.

use crate::identities::Limits;
use foo_api::pool::FooMachinePoolSpec;
use foo_model::{Blocked, LatticeTargetGroupArn, LoadBalancerName, TargetGroupArn};
use std::collections::BTreeSet;

/// What the group is attached to, of each kind; `None`: what it has stays.
#[derive(Default)]
pub(super) struct Sources {
    pub(super) target_groups: Option<BTreeSet<TargetGroupArn>>,
    pub(super) classic_load_balancers: Option<BTreeSet<LoadBalancerName>>,
    pub(super) lattice_target_groups: Option<BTreeSet<LatticeTargetGroupArn>>,
}

/// Those of the spec. Of a kind of which the identity does not allow one, which blocks the launch template, those of the group stay.
pub(super) fn sources(spec: &FooMachinePoolSpec, limits: &Limits) -> Sources {
    Sources {
        target_groups: if_allowed(spec.target_groups.as_deref(), |arn| limits.target_group(arn)),
        classic_load_balancers: if_allowed(spec.classic_load_balancers.as_deref(), |name| {
            limits.classic_load_balancer(name)
        }),
        lattice_target_groups: if_allowed(spec.vpc_lattice_target_groups.as_deref(), |arn| {
            limits.target_group(arn)
        }),
    }
}

/// Whether the identity allows all of them.
pub(super) fn allowed(spec: &FooMachinePoolSpec, limits: &Limits) -> Result<(), Blocked> {
    let mut arns = spec.target_groups.iter().chain(&spec.vpc_lattice_target_groups).flatten();
    arns.try_for_each(|arn| limits.target_group(arn))?;
    let mut names = spec.classic_load_balancers.iter().flatten();
    names.try_for_each(|name| limits.classic_load_balancer(name))
}

fn if_allowed<T: Ord + for<'a> From<&'a str>>(
    named: Option<&[String]>,
    check: impl Fn(&str) -> Result<(), Blocked>,
) -> Option<BTreeSet<T>> {
    let named = named?;
    let allowed = named.iter().all(|id| check(id).is_ok());
    allowed.then(|| named.iter().map(|id| T::from(id.as_str())).collect())
}
