//! Whether instances can run in the Capacity Block of the spec.

use super::parts::condition;
use crate::capacity_block::{Phase, no_drain_while, phase};
use crate::desired::Desired;
use crate::observed::Observed;
use crate::report::{Condition, ConditionKind, Status};
use foo_model::Blocked;

/// Present while the pool runs in a Capacity Block.
pub(crate) fn capacity_block_ready(desired: &Desired, observed: &Observed) -> Option<Condition> {
    let block = desired.capacity_block.as_ref()?;
    let phase = phase(desired, observed)?;
    let (status, announces_drain) = match phase {
        Phase::Open(_) => (Status::True, true),
        Phase::Unknown(_) => (Status::Unknown, false),
        Phase::Draining(_) => (Status::False, true),
        Phase::Unusable(_)
        | Phase::NotStarted(_)
        | Phase::Unavailable(_)
        | Phase::Undated(_)
        | Phase::Ended(_) => (Status::False, false),
    };
    let Blocked { reason, message } = phase.explained(block);
    let message = match no_drain_while(desired).filter(|_| announces_drain) {
        Some(held) => format!("{message}; no Machine is drained while {held}"),
        None => message,
    };
    Some(condition(ConditionKind::CapacityBlockReady, status, reason, message))
}
