//! The Capacity Block that a pool's instances run in: which one the spec names, what EC2 says of it, and the subnets of its zone.

use super::observe;
use crate::clouds::CloudRegion;
use crate::identities::Limits;
use crate::pool::gather::Gathered;
use crate::pool::reads::ReadBlock;
use crate::pool::state::PoolState;
use foo_api::pool as api;
use foo_api::shared::unsigned;
use foo_cloud::Freshness;
use foo_model::{Blocked, FoundReservation, InstanceType, Reason, Seconds, SubnetId, Timestamp};
use foo_planner::capacity_block::{max_age, unfit};
use foo_planner::desired::{CapacityBlock, Desired, Goal, Wanted};
use foo_planner::observed::LastRead;
use std::collections::BTreeSet;
use std::time::Duration;

/// A pass that the planner requested for a read comes no earlier than the read is due.
const TIMER: Duration = Duration::from_secs(1);

/// The block of the spec.
pub(super) fn named(spec: &api::FooMachinePoolSpec) -> Option<&api::CapacityBlock> {
    spec.capacity_reservation.as_ref()?.block.as_ref()
}

/// The same in the planner's nouns. The schema has an instance type beside it.
pub(super) fn block(spec: &api::FooMachinePoolSpec) -> Option<CapacityBlock> {
    let (api::CapacityBlock { id, drain_lead_seconds }, instance_type) =
        named(spec).zip(spec.instance_type.as_deref())?;
    Some(CapacityBlock {
        id: id.clone(),
        instance_type: InstanceType::new(instance_type),
        drain_lead: Seconds(unsigned(*drain_lead_seconds)),
    })
}

/// Reads it if the identity allows it and the last read is too old. A read that fails leaves the last one: what is known of its end
/// stays true, unless its owner extends it. Returns what keeps it from being read, if a user can change that.
pub(super) async fn read(
    region: &CloudRegion,
    desired: &Desired,
    limits: &Limits,
    state: &mut PoolState,
    now: Timestamp,
) -> Option<Blocked> {
    let known = &mut state.reads.capacity_block;
    let Some(block) = &desired.capacity_block else {
        *known = ReadBlock::default();
        return None;
    };
    if known.id != block.id {
        *known = ReadBlock { id: block.id.clone(), read: LastRead::Unknown };
    }
    if let Err(forbidden) = limits.capacity(&block.id) {
        return refused(&mut known.read, forbidden);
    }
    let age = max_age(desired, &known.read, &region.clock(), now)?;
    let freshness = Freshness::Within(age.saturating_sub(TIMER));
    match region.reservations.reservation(&block.id, freshness).await.fresh() {
        Ok(Some(found)) => {
            known.read = newer(&known.read, found.began, (*found.value).clone());
            None
        }
        Ok(None) => None,
        Err(error) => {
            if known.read.seen().is_none() {
                known.read = observe::failed(&error);
            }
            let reason = Reason::from(error.kind);
            (!reason.is_transient()).then(|| Blocked::new(reason, error.to_string()))
        }
    }
}

/// What is known after a response. EC2 does not take a block back: a response without a block that was read before is stale, or EC2
/// has forgotten one that is over. Neither changes when its instances end.
fn newer(
    before: &LastRead<Option<FoundReservation>>,
    at: Timestamp,
    seen: Option<FoundReservation>,
) -> LastRead<Option<FoundReservation>> {
    LastRead::At { at, seen: seen.or_else(|| before.seen().cloned().flatten()) }
}

/// What the identity does not allow is not read. The end of a block that was read before stays known: its instances are drained in
/// time whoever may launch into it. Returns the refusal if the read does not have it.
fn refused(read: &mut LastRead<Option<FoundReservation>>, forbidden: Blocked) -> Option<Blocked> {
    if matches!(read.seen(), Some(Some(_))) {
        return Some(forbidden);
    }
    *read = observe::untrusted(&forbidden);
    None
}

/// Leaves the subnets in the zone of the block: EC2 launches none of its instances in another zone. While the zone is not known, the
/// group keeps the subnets that it has.
pub(super) fn keep_zone(
    desired: &mut Desired,
    gathered: &Gathered,
    known: &LastRead<Option<FoundReservation>>,
) {
    let Some(block) = desired.capacity_block.as_ref().filter(|_| desired.goal == Goal::Run) else { return };
    let Wanted::Ready(subnets) = &desired.group.settings.subnets else { return };
    let kept = match known.seen() {
        Some(Some(found)) => {
            let all = gathered.network().into_iter().flat_map(|network| &network.subnets);
            let of_zone = all.filter(|it| it.zone == found.zone.as_str()).map(|it| it.id.as_str());
            let of_zone: BTreeSet<&str> = of_zone.collect();
            in_zone(block, found, subnets, &of_zone)
        }
        Some(None) => Err(Blocked::new(
            Reason::CapacityBlockUnusable,
            format!("EC2 knows no Capacity Reservation {}", block.id),
        )),
        None => Err(Blocked::new(
            Reason::CapacityBlockUnknown,
            format!("the zone of Capacity Block {} is not known yet", block.id),
        )),
    };
    desired.group.settings.subnets = match kept {
        Ok(kept) => Wanted::Ready(kept),
        Err(blocked) => Wanted::Blocked(blocked),
    };
}

/// Those of the subnets that are in the zone of the block, if the pool can run in it.
fn in_zone(
    block: &CapacityBlock,
    found: &FoundReservation,
    subnets: &BTreeSet<SubnetId>,
    of_zone: &BTreeSet<&str>,
) -> Result<BTreeSet<SubnetId>, Blocked> {
    if let Some(unfit) = unfit(block, found) {
        return Err(unfit);
    }
    let kept: BTreeSet<_> = subnets.iter().filter(|id| of_zone.contains(id.as_str())).cloned().collect();
    if kept.is_empty() { Err(no_subnet(&block.id, found)) } else { Ok(kept) }
}

fn no_subnet(id: &str, found: &FoundReservation) -> Blocked {
    Blocked::new(
        Reason::CapacityBlockUnusable,
        format!("Capacity Block {id} is in zone {}, in which the pool has no subnet", found.zone),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use foo_model::{AwsTime, ReservationKind, Zone};

    fn found(kind: ReservationKind, instance_type: &str) -> FoundReservation {
        FoundReservation {
            kind,
            state: "active".to_owned(),
            instance_type: InstanceType::new(instance_type),
            zone: Zone::new("eu-central-1b"),
            starts: None,
            ends: None,
        }
    }

    fn known() -> LastRead<Option<FoundReservation>> {
        let seen = Some(found(ReservationKind::CapacityBlock, "p5.48xlarge"));
        LastRead::At { at: Timestamp(1_000), seen }
    }

    #[test]
    fn a_block_that_was_read_stays_known_when_ec2_does_not_show_it_any_more() {
        let later = Timestamp(2_000);
        let seen = known().seen().cloned().flatten();
        assert_eq!(newer(&known(), later, None), LastRead::At { at: later, seen: seen.clone() });
        assert_eq!(newer(&LastRead::Unknown, later, None), LastRead::At { at: later, seen: None });
        let extended = seen.map(|seen| FoundReservation { ends: Some(AwsTime::from_millis(1)), ..seen });
        assert_eq!(newer(&known(), later, extended.clone()), LastRead::At { at: later, seen: extended });
    }

    #[test]
    fn the_end_of_a_block_stays_known_when_the_identity_does_not_allow_the_block_any_more() {
        let forbidden = || Blocked::new(Reason::CapacityNotAllowed, "cr-1 is not allowed");
        let mut read = known();
        assert_eq!(refused(&mut read, forbidden()), Some(forbidden()), "it is reported");
        assert_eq!(read, known());
        for mut nothing in [LastRead::Unknown, LastRead::At { at: Timestamp(1_000), seen: None }] {
            assert_eq!(refused(&mut nothing, forbidden()), None, "the condition of the block reports it");
            assert_eq!(nothing, observe::untrusted(&forbidden()));
        }
    }

    #[test]
    fn only_a_block_that_the_pool_can_run_in_limits_its_subnets() {
        let block = CapacityBlock {
            id: "cr-1".to_owned(),
            instance_type: InstanceType::new("p5.48xlarge"),
            drain_lead: Seconds(1_800),
        };
        let subnets: BTreeSet<SubnetId> = ["subnet-a", "subnet-b"].map(SubnetId::new).into();
        let kept = |kind, of: &str| in_zone(&block, &found(kind, of), &subnets, &["subnet-b"].into());
        assert_eq!(
            kept(ReservationKind::CapacityBlock, "p5.48xlarge"),
            Ok([SubnetId::new("subnet-b")].into())
        );
        for (kind, of) in
            [(ReservationKind::OnDemand, "p5.48xlarge"), (ReservationKind::CapacityBlock, "p4d.24xlarge")]
        {
            let refused = kept(kind, of).map_err(|blocked| blocked.reason);
            assert_eq!(refused, Err(Reason::CapacityBlockUnusable), "{of}");
        }
    }
}
