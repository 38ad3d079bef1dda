//! How often the health of targets is read: Elastic Load Balancing announces no change of it.

use crate::desired::Desired;
use crate::observed::LastRead;
use foo_model::{Group, HealthInGroups, Instance, TargetGroupArn, Targets, health_in};
use std::collections::BTreeMap;
use std::time::Duration;

/// While every instance is healthy: one call per target group and minute.
const AT_REST: Duration = Duration::from_mins(1);
/// While one is not.
const SOON: Duration = Duration::from_secs(15);

/// How old the last read may be; `None` if none is needed, because the pool does not ask for it or has no instances.
pub fn max_age(
    desired: &Desired,
    group: Option<&Group>,
    read: &LastRead<BTreeMap<TargetGroupArn, Targets>>,
) -> Option<Duration> {
    let mut members = group.filter(|_| desired.asks_for_target_health())?.instances.iter();
    let in_service = |it: &&Instance| it.lifecycle.is_capacity();
    let first = members.find(in_service)?;
    let LastRead::At { seen, .. } = read else { return Some(SOON) };
    let serves = |it: &Instance| health_in(seen, &it.id) == HealthInGroups::Serves;
    let rests = serves(first) && members.filter(in_service).all(serves);
    Some(if rests { AT_REST } else { SOON })
}
