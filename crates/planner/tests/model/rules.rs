//! What must hold, what must be reachable, and the way to rest.

use super::manager::{CallOutcome, Sight, act, begin};
use super::scenario::{Scenario, Warmth, Whose};
use super::state::{
    Budget, Foo, Life, Mach, NOW, Owner, RENEWAL_WAITS, State, Target, Unit, WarmPool, Wrong, count,
};
use foo_planner::desired::OnFailure;
use stateright::{Model as _, Property};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The invariants.
pub(crate) fn always() -> Vec<Property<Scenario>> {
    let always = Property::<Scenario>::always;
    vec![
        always("the checker finds nothing in any plan", |_, state| {
            !matches!(state.wrong, Some(Wrong::Plan(_)))
        }),
        always("I1 only released instances are ended, drained", |_, state| {
            let undrained = matches!(
                state.wrong,
                Some(
                    Wrong::LetGoUndrained
                        | Wrong::ReleasedAlive
                        | Wrong::ScaledInUndrained
                        | Wrong::ExcludedAlive
                )
            );
            state.wrong != Some(Wrong::EndedUnreleased) && !undrained
        }),
        always("I1 nothing joins the cluster in a warm pool", |_, state| {
            state.wrong != Some(Wrong::WarmsJoining)
        }),
        always("I2 desired capacity is never below the target", |_, state| {
            state.group.desired >= state.tale.lowest
        }),
        always("I3 enough are available", |scenario, state| {
            let lacking = scenario.lacking().saturating_add(state.tale.robbed);
            state.available().saturating_add(lacking) >= state.tale.lowest
        }),
        always("I4 there are never too many", |scenario, state| {
            let most = state.tale.highest + scenario.surge;
            state.existing().max(state.group.desired) <= most
        }),
        always("I5 a hook is completed once, an instance is ended once", |_, state| {
            !matches!(state.wrong, Some(Wrong::CompletedTwice | Wrong::EndedTwice))
        }),
        always("I7 no more Machines are chosen than are too many", |scenario, state| {
            // Too many are, beside what the desired replicas lost, what was launched in advance for a roll-out or for an instance
            // that goes without us, once that was not needed after all.
            let rolls = state.content > 1 || scenario.whose == Whose::Adoptable;
            let advance = if rolls { scenario.surge } else { 0 };
            // Once the successor of an expired instance serves, a manager that has not read the template yet finds one too many, and
            // chooses the expired one.
            let advance = advance + scenario.expired;
            state.tale.victims <= state.tale.lowered + state.tale.robbed + advance
        }),
        always("I8 all managers together keep one budget of drains", |scenario, state| {
            let drains = |unit: &&Unit| unit.machine == Mach::Draining && !unit.taken && !unit.marked;
            count(state.units.iter().filter(drains)) <= scenario.drains
        }),
        always("I9 content that failed is not launched again", |_, state| {
            state.wrong != Some(Wrong::LaunchesQuarantined)
        }),
        always("I10 an idle pool needs no action", |_, state| state.wrong != Some(Wrong::NotIdle)),
        always("I11 nothing is launched in vain", |scenario, state| state.tale.launched <= scenario.launches),
        always("I6 I11 whatever happened, it ends the same", |scenario, state| {
            !is_sampled(state) || settle(scenario, state).is_ok()
        }),
        always("I12 a foreign group is not touched", |_, state| state.wrong != Some(Wrong::WroteForeign)),
        always("an outdated warm pool is deleted before more instances are launched", |_, state| {
            state.wrong != Some(Wrong::TakesOutdated)
        }),
        always("nothing is replaced that is as wanted, young, and not known to be unhealthy", |_, state| {
            !matches!(state.wrong, Some(Wrong::ReplacedSound | Wrong::ReplacedUnread))
        }),
        always("connections drain before an instance is terminated", |_, state| {
            state.wrong != Some(Wrong::CutConnections)
        }),
        always(
            "what stays is deregistered only from a target group that the spec no longer names",
            |_, state| state.wrong != Some(Wrong::DetachedNamed),
        ),
    ]
}

/// Examples that must be found, by name.
pub(crate) mod reach {
    use super::{
        Foo, Life, Mach, NOW, Owner, Property, RENEWAL_WAITS, Scenario, State, Target, Unit, WarmPool, Warmth,
    };

    fn some(name: &'static str, condition: fn(&Scenario, &State) -> bool) -> Property<Scenario> {
        Property::sometimes(name, condition)
    }

    fn any(state: &State, is: fn(&Unit) -> bool) -> bool {
        state.units.iter().any(is)
    }

    pub(crate) fn rest() -> Property<Scenario> {
        some("rest after all that may happen has happened", |scenario, state| {
            let quiet = state.left.edits == 0 && state.left.targets == 0 && state.left.takes == 0;
            let over = quiet && state.left.faults == 0 && state.left.hand_overs == 0;
            over && scenario.is_idle(state)
        })
    }

    pub(crate) fn end() -> Property<Scenario> {
        some("an instance was ended", |_, state| any(state, |unit| unit.ended_by.is_some()))
    }

    pub(crate) fn marked() -> Property<Scenario> {
        some("all Machines are marked", |_, state| state.units.iter().all(|unit| unit.marked))
    }

    pub(crate) fn marked_victim() -> Property<Scenario> {
        some("a marked Machine was drained", |_, state| {
            any(state, |unit| unit.marked && unit.machine == Mach::LetGo)
        })
    }

    pub(crate) fn two_at_work() -> Property<Scenario> {
        some("two managers are both about to act", |_, state| {
            state.managers.len() == 2 && state.managers.iter().all(|manager| manager.pending.is_some())
        })
    }

    pub(crate) fn completion() -> Property<Scenario> {
        some("the hook of an instance that AWS took was completed", |_, state| {
            any(state, |unit| unit.taken && unit.completed_by.is_some())
        })
    }

    pub(crate) fn burial() -> Property<Scenario> {
        some("Cluster API was shown that there is nothing to drain", |_, state| {
            any(state, |unit| unit.excluded)
        })
    }

    pub(crate) fn surge() -> Property<Scenario> {
        some("there are more than wanted for", |_, state| state.existing() > state.tale.highest)
    }

    pub(crate) fn adopted() -> Property<Scenario> {
        some("a group of another tool is adopted, and its instances have Machines", |scenario, state| {
            state.adopt && scenario.is_idle(state)
        })
    }

    pub(crate) fn renewed_after_adoption() -> Property<Scenario> {
        some("all are launched by the pool that adopted the group", |_, state| {
            let own = |unit: &Unit| unit.version > 0 && unit.serves();
            !state.adopt && !state.units.is_empty() && state.units.iter().all(own)
        })
    }

    pub(crate) fn taken_before_the_hook() -> Property<Scenario> {
        some("AWS takes an instance of a group that has no hook yet", |_, state| {
            state.group.secured.owned && !state.group.secured.hook && any(state, |unit| unit.taken)
        })
    }

    pub(crate) fn renewed() -> Property<Scenario> {
        some("all are of the new content", |_, state| {
            state.content > 1 && state.units.iter().all(|unit| unit.version == state.content && unit.serves())
        })
    }

    pub(crate) fn renewed_warm_pool() -> Property<Scenario> {
        some("an instance of the new content waits", |_, state| {
            let waiting = state.group.warm_pool.and_then(|pool| pool.waiting);
            state.content > 1 && waiting == Some(state.content)
        })
    }

    pub(crate) fn took_outdated() -> Property<Scenario> {
        some(
            "AWS deletes the warm pool too late, and the group takes an outdated instance",
            |scenario, state| {
                let is_new = |unit: &Unit| unit.number > scenario.size;
                state.units.iter().any(|unit| is_new(unit) && unit.version < state.group.version)
            },
        )
    }

    pub(crate) fn joining_without_warm_pool() -> Property<Scenario> {
        some("the group launches user data that join, and has no warm pool", |scenario, state| {
            state.warms && !scenario.waits(state.group.version) && state.group.warm_pool.is_none()
        })
    }

    pub(crate) fn refused_deletion() -> Property<Scenario> {
        some("AWS refuses to delete a warm pool for ten minutes", |_, state| {
            let since = state.managers.first().and_then(|manager| manager.mind.0.warm_pool_unfit_since);
            state.denied && since.is_some_and(|since| since.until(NOW) >= RENEWAL_WAITS)
        })
    }

    pub(crate) fn new_warm_pool() -> Property<Scenario> {
        some("an instance waits in a warm pool that the spec names since", |scenario, state| {
            let waits = state.group.warm_pool.is_some_and(|pool| pool.waiting.is_some());
            scenario.warmth == Warmth::None && state.warms && waits
        })
    }

    pub(crate) fn named_foreign_warm_pool() -> Property<Scenario> {
        some("the spec names a warm pool where another user has one", |_, state| {
            let is_foreign = |pool: WarmPool| pool.owner == Owner::AnotherUser;
            state.warms && state.group.warm_pool.is_some_and(is_foreign)
        })
    }

    pub(crate) fn replaced_unhealthy() -> Property<Scenario> {
        some("an instance that a load balancer finds unhealthy is drained", |_, state| {
            any(state, |unit| unit.target == Target::Unhealthy && unit.machine == Mach::LetGo)
        })
    }

    pub(crate) fn unread_health() -> Property<Scenario> {
        some("the health of targets is unknown while one is unhealthy", |scenario, state| {
            let unread = state.left.unread < scenario.budget.unread;
            unread && any(state, |unit| unit.target == Target::Unhealthy && unit.machine == Mach::Alive)
        })
    }

    pub(crate) fn drained_first() -> Property<Scenario> {
        some("connections drain to an instance whose Node is drained", |_, state| {
            any(state, |unit| unit.life == Life::Deregistering && unit.ended_by.is_some() && unit.drained)
        })
    }

    pub(crate) fn drains_beside() -> Property<Scenario> {
        some("the Node of an instance that AWS takes drains beside its connections", |_, state| {
            any(state, |unit| {
                unit.life == Life::Deregistering && unit.taken && unit.machine == Mach::Draining
            })
        })
    }

    pub(crate) fn drained_beside() -> Property<Scenario> {
        some("a released instance that AWS took still has connections", |_, state| {
            any(state, |unit| unit.life == Life::Deregistering && unit.taken && unit.is_released())
        })
    }

    pub(crate) fn deregistered() -> Property<Scenario> {
        some("connections drain to an instance whose Machine stays", |_, state| {
            any(state, |unit| unit.target == Target::Draining && unit.runs())
        })
    }

    pub(crate) fn detached() -> Property<Scenario> {
        some("an idle group is no longer behind a load balancer", |scenario, state| {
            scenario.balanced && !state.group.attached && scenario.is_idle(state)
        })
    }

    pub(crate) fn all_young() -> Property<Scenario> {
        some("every expired instance is replaced", |scenario, state| {
            state.units.iter().all(|unit| !scenario.has_expired(unit) && unit.serves())
        })
    }

    pub(crate) fn quarantine() -> Property<Scenario> {
        some("new content fails", |_, state| state.quarantine.is_some())
    }

    pub(crate) fn launch_after_quarantine() -> Property<Scenario> {
        some("content of before is launched again", |_, state| {
            let last = state.units.iter().filter(|unit| unit.version == 2).map(|unit| unit.number).max();
            state.quarantine.is_some()
                && state
                    .units
                    .iter()
                    .any(|unit| unit.version == 1 && Some(unit.number) > last && last.is_some())
        })
    }

    pub(crate) fn unmanaged_excess() -> Property<Scenario> {
        some("a foreign group has too many", |_, state| {
            state.target < state.group.desired && any(state, |unit| unit.foo == Foo::Alive)
        })
    }

    pub(crate) fn late_sight() -> Property<Scenario> {
        some("a manager saw what was no longer so", |scenario, state| {
            state.left.lates < scenario.budget.lates
        })
    }

    pub(crate) fn lost_effect() -> Property<Scenario> {
        some("a response was lost after an instance had been terminated", |scenario, state| {
            state.left.faults < scenario.budget.faults && any(state, |unit| unit.life == Life::Waiting)
        })
    }
}

impl Scenario {
    /// How many may be lacking because of us. With neither surge nor that, one may be.
    fn lacking(&self) -> u8 {
        if self.surge == 0 { self.unavailable.max(1) } else { self.unavailable }
    }

    /// Whether a state is one to come to rest in.
    fn is_an_end(&self, state: &State) -> bool {
        if self.is_foreign() {
            return state.group.desired == self.size && state.units.len() == usize::from(self.size);
        }
        let waits = !state.adopt || state.target != state.group.desired;
        if self.whose == Whose::Adoptable && !state.group.secured.owned && waits {
            // It is adopted only if the spec says so, with as many instances as it has.
            let untouched = |unit: &Unit| unit.foo == Foo::NotYet && unit.ended_by.is_none();
            return state.units.iter().all(untouched);
        }
        if !(self.broken && state.content == 2 && self.on_failure == OnFailure::Halt) {
            return self.is_idle(state);
        }
        // What does not work stays for inspection, and so does what a higher target launched of it before that was known.
        let stays = |unit: &Unit| unit.machine == Mach::Alive && unit.is_capacity();
        state.quarantine.is_some_and(|(content, _)| content == 2)
            && state.group.version == 1
            && state.units.iter().all(stays)
            && state.available() + self.lacking() >= state.tale.lowest
            && state.existing() == state.group.desired
    }
}

/// Interval of the states from which the way to an idle pool is tried.
const SAMPLE: u64 = 100;

fn is_sampled(state: &State) -> bool {
    if state.wrong.is_some() {
        return false;
    }
    let mut hasher = DefaultHasher::new();
    state.hash(&mut hasher);
    hasher.finish().is_multiple_of(SAMPLE)
}

/// The longest wait of the planner's (a mark waits three minutes for a launch), in ticks, and one more.
const PATIENCE: u8 = 7;

/// Without interference and with current reads the pool becomes idle, at the desired replicas.
pub(crate) fn settle(scenario: &Scenario, state: &State) -> Result<(), String> {
    let mut state = state.clone();
    state.left = Budget::default();
    state.denied = false;
    state.managers.truncate(1);
    let mut idle = 0;
    for _ in 0..100 {
        finish_pass(scenario, &mut state);
        state.tick(scenario.ages(PATIENCE));
        let moved = work(scenario, &mut state);
        let mut busy = false;
        for _ in 0..5 {
            let plan = begin(scenario, &mut state, 0, Sight::Fresh);
            if let Some(wrong) = state.wrong {
                return Err(format!("on the way to rest: {wrong:?}"));
            }
            if plan.actions.is_empty() {
                break;
            }
            busy = true;
            finish_pass(scenario, &mut state);
        }
        idle = if moved || busy { 0 } else { idle + 1 };
        if idle > 1 && scenario.is_an_end(&state) {
            return Ok(());
        }
        if idle > PATIENCE {
            break;
        }
    }
    Err(format!("it does not come to rest at the target: {state:#?}"))
}

fn finish_pass(scenario: &Scenario, state: &mut State) {
    while state.managers[0].pending.is_some() {
        act(scenario, state, 0, CallOutcome::Completed);
    }
    state.tidy();
}

/// AWS and core do all that they can.
fn work(scenario: &Scenario, state: &mut State) -> bool {
    let mut moved = false;
    for _ in 0..200 {
        let mut steps = Vec::new();
        scenario.nature(state, &mut steps);
        let Some(step) = steps.first() else { return moved };
        let next = scenario.next_state(state, *step);
        *state = next.unwrap();
        moved = true;
    }
    panic!("AWS and core do not come to an end")
}
