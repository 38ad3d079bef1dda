//! What follows from the Capacity Block that the instances of a pool run in (EC2 User Guide, "Capacity Blocks for ML"): when
//! they can be launched, when they have to be drained, and how often EC2 is asked about that.
//!
//! A block changes how many instances are desired, and nothing else. So it is applied to the desired state before any question is
//! asked (`in_force`), and the steps know nothing of it but the words: at its end a pool is scaled in to zero, as `spec.maxSize: 0` would do it.
//! Only all Machines at once: EC2 terminates their instances anyway.

use crate::desired::{CapacityBlock, Desired, Goal, Size, Wanted};
use crate::observed::{LastRead, Observed};
use foo_model::{
    Aws, Blocked, Comparison, FoundReservation, InstanceId, MachineName, Reason, ReservationKind,
    ReservationState, Seconds, Timestamp, count,
};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::time::Duration;

/// How old the last read may be while nothing is expected to change.
const AT_REST: Duration = Duration::from_hours(1);
/// The same within that time of a start, of a drain and of an end, and while Machines are drained: their owner may extend the block
/// until 35 minutes before its end (EC2 User Guide, "Extend Capacity Blocks").
const SOON: Duration = Duration::from_mins(5);
/// The shortest pause between two passes for a read that is due.
const READ_AGAIN: Duration = Duration::from_mins(1);

/// Where in its life a block is.
pub(crate) enum Phase {
    /// It has not been read.
    Unknown(Blocked),
    /// No instance of the pool can ever run in it.
    Unusable(Blocked),
    /// It has no capacity yet. It starts at this moment by AWS's clock, if EC2 says so.
    NotStarted(Option<Timestamp>),
    /// It should have capacity, and EC2 has this other word for its state.
    Unavailable(String),
    /// Instances run in it. By AWS's clock, as users know its end.
    Open(Times),
    /// It ends soon, or has ended, by clocks that do not agree: that is no reason to delete a Machine, nor to launch one that may have
    /// to be drained at once. By AWS's clock, too.
    Undated(Times),
    /// Its instances are drained. By AWS's clock, too.
    Draining(Times),
    /// It has ended; how that is known, for users: EC2's word for its state, or its end by AWS's clock.
    Ended(String),
}

/// The last hours of a block, by one clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Times {
    /// From when on the provider deletes Machines.
    pub(crate) drains: Timestamp,
    /// From when on EC2 terminates instances.
    pub(crate) terminates: Timestamp,
    /// When it ends.
    pub(crate) ends: Timestamp,
}

impl Times {
    /// By the manager's clock.
    fn of(found: &FoundReservation, lead: Seconds, clock: &Comparison<Aws>) -> Option<Self> {
        Some(Self::until(clock.local(found.ends?), found, lead))
    }

    /// By AWS's clock: a message must not change with the measured difference of the clocks.
    fn by_aws(found: &FoundReservation, lead: Seconds) -> Option<Self> {
        Some(Self::until(Timestamp(found.ends?.millis()), found, lead))
    }

    fn until(ends: Timestamp, found: &FoundReservation, lead: Seconds) -> Self {
        let terminates = ends.minus(found.terminates_before_end());
        Self { drains: terminates.minus(lead.into()), terminates, ends }
    }

    /// Why Machines are drained.
    fn announced(self, id: &str) -> String {
        format!(
            "Capacity Block {id} ends at {}, and EC2 terminates its instances from {}",
            self.ends.to_the_minute(),
            self.terminates.to_the_minute()
        )
    }
}

/// The block of a pool that runs in it; not of one that is deleted, or has no group before it adopts one.
fn in_use<'d>(desired: &'d Desired, observed: &Observed) -> Option<&'d CapacityBlock> {
    let runs = desired.goal == Goal::Run && !observed.awaits_adoption(desired.adoption);
    desired.capacity_block.as_ref().filter(|_| runs)
}

/// The phase of the pool's block; `None` if it does not run in one.
pub(crate) fn phase(desired: &Desired, observed: &Observed) -> Option<Phase> {
    let block = in_use(desired, observed)?;
    let id = &block.id;
    let found = match &observed.capacity_block {
        LastRead::Unknown => {
            let message = format!("Capacity Block {id} has not been read yet");
            return Some(Phase::Unknown(Blocked::new(Reason::CapacityBlockUnknown, message)));
        }
        LastRead::Failed { reason, message } => {
            return Some(Phase::Unknown(Blocked::new(*reason, message.clone())));
        }
        LastRead::At { seen: None, .. } => {
            return Some(Phase::Unusable(unusable(format!("EC2 knows no Capacity Reservation {id}"))));
        }
        LastRead::At { seen: Some(found), .. } => found,
    };
    Some(unfit(block, found).map_or_else(|| of_fitting(block, found, observed), Phase::Unusable))
}

fn unusable(why: String) -> Blocked {
    Blocked::new(Reason::CapacityBlockUnusable, why)
}

/// Why no instance of the pool can run in what EC2 knows by the id of its block, whenever that starts and ends.
pub fn unfit(block: &CapacityBlock, found: &FoundReservation) -> Option<Blocked> {
    let id = &block.id;
    if found.kind != ReservationKind::CapacityBlock {
        let why = format!("{id} is an On-Demand Capacity Reservation: name it in capacityReservation.id");
        return Some(unusable(why));
    }
    (found.instance_type != block.instance_type).then(|| {
        unusable(format!(
            "Capacity Block {id} has instances of the type {}, and the pool of the type {}",
            found.instance_type, block.instance_type
        ))
    })
}

fn of_fitting(block: &CapacityBlock, found: &FoundReservation, observed: &Observed) -> Phase {
    let (id, lead, clock) = (&block.id, block.drain_lead, &observed.aws_clock);
    let Some((local, shown)) = Times::of(found, lead, clock).zip(Times::by_aws(found, lead)) else {
        return Phase::Unusable(unusable(format!("EC2 does not say when Capacity Block {id} ends")));
    };
    let never_open = found.starts.is_some_and(|starts| local.drains <= clock.local(starts));
    match found.state() {
        ReservationState::Over => Phase::Ended(format!("is {}", found.state)),
        // What runs nevertheless is drained before EC2 terminates it.
        _ if never_open && staying(observed) == 0 => Phase::Unusable(unusable(format!(
            "Capacity Block {id} has no time between its start and its drain: lower drainLeadSeconds, which is {}",
            lead.0
        ))),
        ReservationState::Coming => Phase::NotStarted(found.starts.map(|starts| Timestamp(starts.millis()))),
        ReservationState::Active => started(local, shown, observed),
        ReservationState::Unavailable => match started(local, shown, observed) {
            Phase::Open(_) => Phase::Unavailable(found.state.clone()),
            phase => phase,
        },
    }
}

/// Without agreement of the clocks no time of AWS is a reason to delete a Machine.
fn started(local: Times, shown: Times, observed: &Observed) -> Phase {
    let now = observed.now;
    if now < local.drains {
        Phase::Open(shown)
    } else if !observed.aws_clock.agreement.proves_ages() {
        Phase::Undated(shown)
    } else if now < local.ends {
        Phase::Draining(shown)
    } else {
        Phase::Ended(format!("ended at {}", shown.ends.to_the_minute()))
    }
}

impl Phase {
    /// Whether the pool has as many instances as its replicas say.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self, Self::Open(_))
    }

    /// What it means for the pool, for users.
    pub(crate) fn explained(&self, block: &CapacityBlock) -> Blocked {
        let id = &block.id;
        let (reason, message) = match self {
            Self::Unknown(blocked) | Self::Unusable(blocked) => return blocked.clone(),
            Self::NotStarted(Some(at)) => (
                Reason::CapacityBlockNotStarted,
                format!(
                    "Capacity Block {id} starts at {}; until then no instance is launched",
                    at.to_the_minute()
                ),
            ),
            Self::NotStarted(None) => (
                Reason::CapacityBlockNotStarted,
                format!("Capacity Block {id} has not started; until then no instance is launched"),
            ),
            Self::Unavailable(state) => (
                Reason::CapacityBlockUnavailable,
                format!("Capacity Block {id} is {state}; until it is active no instance is launched"),
            ),
            Self::Undated(times) => (
                Reason::CapacityBlockClocksDiffer,
                format!(
                    "{}; without agreement of the manager's clock with that of AWS, no Machine is drained and none is launched",
                    times.announced(id)
                ),
            ),
            Self::Open(Times { drains, terminates, ends }) => (
                Reason::CapacityBlockActive,
                format!(
                    "Capacity Block {id} ends at {}: all Machines are drained from {}, and EC2 terminates instances from {}",
                    ends.to_the_minute(),
                    drains.to_the_minute(),
                    terminates.to_the_minute()
                ),
            ),
            Self::Draining(times) => (
                Reason::CapacityBlockEnding,
                format!(
                    "{}; until it is extended, or the spec names another one, the pool has no instances, whatever its replicas",
                    times.announced(id)
                ),
            ),
            Self::Ended(how) => (
                Reason::CapacityBlockEnded,
                format!("Capacity Block {id} {how}: name another one in capacityReservation.block.id"),
            ),
        };
        Blocked::new(reason, message)
    }
}

/// Why all Machines of the pool are deleted now, if its block ends.
pub(crate) fn ending(desired: &Desired, observed: &Observed) -> Option<String> {
    let block = desired.capacity_block.as_ref().filter(|_| no_drain_while(desired).is_none())?;
    match phase(desired, observed)? {
        Phase::Draining(times) => Some(times.announced(&block.id)),
        Phase::Unknown(_)
        | Phase::Unusable(_)
        | Phase::NotStarted(_)
        | Phase::Unavailable(_)
        | Phase::Open(_)
        | Phase::Undated(_)
        | Phase::Ended(_) => None,
    }
}

/// What keeps the pool from being drained at the end of its block, whatever the clocks say.
pub(crate) fn no_drain_while(desired: &Desired) -> Option<&'static str> {
    match desired.size {
        _ if desired.pause.is_some() => Some("the pool is paused"),
        Size::Unknown => Some("the replicas of the pool are not known"),
        Size::External { .. } => Some("another controller sets the size of the pool"),
        Size::Replicas { .. } => None,
    }
}

/// Whether the block limits the size of the pool now.
pub(crate) fn limits_size(desired: &Desired, observed: &Observed) -> bool {
    phase(desired, observed).is_some_and(|phase| !phase.is_open())
}

/// The desired state while the block is in its present phase.
///
/// * While instances run in it: that of the spec.
/// * At its end: no instances; all Machines may drain at once, without stabilization.
/// * Before its start, after its end, and while it is not known whether it has capacity: no more instances than there are. Those of
///   another block stay, and are not replaced: nothing could be launched in their place. Scale-ins continue.
/// * While nothing is known of it, nothing is created either.
pub(crate) fn in_force<'d>(desired: &'d Desired, observed: &Observed) -> Cow<'d, Desired> {
    let Some((phase, block)) = phase(desired, observed).zip(desired.capacity_block.as_ref()) else {
        return Cow::Borrowed(desired);
    };
    if phase.is_open() {
        return Cow::Borrowed(desired);
    }
    let mut held = desired.clone();
    match &phase {
        Phase::Open(_) => {}
        Phase::Draining(_) => {
            cap(&mut held.size, 0);
            held.scale_in.max_concurrent_drains = u32::MAX;
            held.scale_in.stabilization = Seconds(0);
        }
        Phase::Unknown(blocked) => {
            held.missing.push(blocked.clone());
            let unknown = Blocked::new(Reason::CapacityBlockUnknown, blocked.message.clone());
            hold(&mut held, staying(observed), unknown);
        }
        Phase::Unusable(blocked) => {
            hold(&mut held, staying(observed), blocked.clone());
            block_template(&mut held, blocked.clone());
        }
        Phase::NotStarted(_) | Phase::Unavailable(_) | Phase::Undated(_) | Phase::Ended(_) => {
            hold(&mut held, staying(observed), phase.explained(block));
        }
    }
    Cow::Owned(held)
}

/// What a forecast begins with: the desired state in the present phase of the block, which lasts as long as the forecast. What follows
/// from the block later is no effect of the change that is forecast, and a block is read again and again.
pub(crate) fn frozen(desired: &Desired, observed: &Observed) -> Desired {
    let limits = limits_size(desired, observed);
    let mut frozen = in_force(desired, observed).into_owned();
    frozen.capacity_block = None;
    if let Size::Replicas { wanted, ceiling: Some(most) } = &mut frozen.size
        && limits
    {
        // It is the block's limit, and not that of spec.maxSize.
        *wanted = (*wanted).min(*most);
    }
    frozen
}

/// No more instances than there are, none of which is replaced.
fn hold(held: &mut Desired, staying: u32, because: Blocked) {
    cap(&mut held.size, staying);
    if staying > 0 {
        block_template(held, because);
    }
}

fn block_template(held: &mut Desired, because: Blocked) {
    if matches!(held.template, Wanted::Ready(_)) {
        held.template = Wanted::Blocked(because);
    }
}

fn cap(size: &mut Size, most: u32) {
    match size {
        Size::Replicas { ceiling, .. } => *ceiling = Some(ceiling.map_or(most, |ceiling| ceiling.min(most))),
        Size::External { .. } | Size::Unknown => {}
    }
}

/// Instances of the group that are not being drained.
fn staying(observed: &Observed) -> u32 {
    let Some(Some(group)) = observed.group.seen() else { return 0 };
    let deleting: BTreeSet<&MachineName> = observed
        .machines
        .iter()
        .filter(|machine| machine.deletion.is_deleting())
        .map(|machine| &machine.name)
        .collect();
    let going: BTreeSet<&InstanceId> = observed
        .foo_machines
        .iter()
        .filter(|machine| machine.deletion.is_deleting() || deleting.contains(&machine.name))
        .map(|machine| &machine.instance)
        .collect();
    let stays = group.instances.iter().filter(|it| it.lifecycle.is_capacity() && !going.contains(&it.id));
    count(stays)
}

/// How old the last read of the block may be; `None` if none is needed. A read of before the start, the drain or the end is too old once
/// that moment has come: so no Machine is deleted whose block was extended meanwhile.
pub fn max_age(
    desired: &Desired,
    read: &LastRead<Option<FoundReservation>>,
    clock: &Comparison<Aws>,
    now: Timestamp,
) -> Option<Duration> {
    let runs = desired.goal == Goal::Run && desired.pause.is_none();
    let block = desired.capacity_block.as_ref().filter(|_| runs)?;
    let (read_at, found) = match read {
        LastRead::Unknown | LastRead::Failed { .. } | LastRead::At { seen: None, .. } => return Some(SOON),
        LastRead::At { at, seen: Some(found) } => (*at, found),
    };
    let times = Times::of(found, block.drain_lead, clock);
    let drains = times.is_some_and(|it| it.drains <= now && now < it.ends);
    let is_near = |at: Timestamp| at.until(now).max(now.until(at)) < AT_REST;
    let soon = drains || changes(found, times, clock).any(is_near);
    let usual = if soon { SOON } else { AT_REST };
    let passed = changes(found, times, clock).filter(|at| read_at < *at && *at <= now).max();
    Some(passed.map_or(usual, |at| at.until(now).min(usual)))
}

/// When the pool is planned again because of its block: when its phase changes, and when it is to be read.
pub(crate) fn wakes(desired: &Desired, observed: &Observed) -> Vec<Timestamp> {
    let (read, clock, now) = (&observed.capacity_block, &observed.aws_clock, observed.now);
    let Some((age, block)) = max_age(desired, read, clock, now).zip(desired.capacity_block.as_ref()) else {
        return Vec::new();
    };
    // A read that failed is repeated soon, but not in each pass.
    let due = read.seen_at().map_or(now, |at| at.plus(age));
    let again = due.max(now.plus(READ_AGAIN));
    let found = read.seen().and_then(Option::as_ref);
    let moments = found.into_iter().flat_map(|found| {
        changes(found, Times::of(found, block.drain_lead, clock), clock).filter(move |at| *at > now)
    });
    moments.chain([again]).collect()
}

fn changes(
    found: &FoundReservation,
    times: Option<Times>,
    clock: &Comparison<Aws>,
) -> impl Iterator<Item = Timestamp> + use<> {
    let starts = found.starts.map(|starts| clock.local(starts));
    let of_end = times.map(|it| [it.drains, it.ends]);
    starts.into_iter().chain(of_end.into_iter().flatten())
}
