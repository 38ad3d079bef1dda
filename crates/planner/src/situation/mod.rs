//! Facts derived from the inputs: the three sources (group, FooMachines, Machines) joined per instance and
//! counted, once per pass.
//!
//! Nothing is decided here. Each question of the steps is a function of [`Situation`]. It is created in
//! layers, each from those before it:
//!
//! 1. [`Facts`], in this order: `view` (the group, and who owns it), `size` (desired capacity, and who sets the
//!    replicas), `content` (what instances were launched from, and what new ones will be launched from), `member`
//!    (group, FooMachines and Machines joined), `counts`;
//! 2. `rollout`: the progress of replacements ([`Progress`]);
//! 3. `announced`: what AWS announced, which instances are at risk, and the surge for them ([`RebalanceSurge`]);
//!    `expiry`: which instances are too old, and the surge for them ([`Expiry`]).
//!
//! `window` derives from the facts whether the provider may replace instances by its own choice, which the last two use.
//! `template`, `group`, `warm_pool`, `targets` and `adoption` derive from the facts what several steps and conditions need; `unhealthy`
//! does from the whole situation.

mod adoption;
mod announced;
mod content;
mod counts;
mod expiry;
mod facts;
mod group;
mod member;
mod rollout;
mod size;
mod targets;
mod template;
mod unhealthy;
mod view;
mod warm_pool;
mod window;

pub(crate) use adoption::{AdoptionState, adoption, is_secured, is_to_come};
pub(crate) use announced::{
    announcement_states, at_risk, cooldown_since, is_advised, is_recommended, leaves_warm_pool, round,
};
pub(crate) use content::ContentState;
pub(crate) use expiry::{ExpiryHold, expired, has_expired, next_expiry};
pub(crate) use facts::Facts;
pub(crate) use group::{
    Difference, differences, group_is_gone, lacking_tags, launches_suspended_by_aws, obstacle,
    of_another_installation, other_terminating_hooks, suspended, wanted_min, wanted_tags, was_lost,
};
pub(crate) use member::{MachineState, Member, MissingInstance, claim};
pub(crate) use rollout::{Phase, available_from, is_available, room, staying};
pub(crate) use size::{Capacity, ReplicasManagedBy};
pub(crate) use targets::{TargetFailure, is_blind, is_served, target_failure};
pub(crate) use template::{MissingObject, TemplateState, missing_object, mix, template_state};
pub(crate) use unhealthy::unhealthy;
pub(crate) use view::View;
pub(crate) use warm_pool::{
    Unwanted, WarmPoolState, awaits_read, delays_rollout, holds_replacements_until, is_awaited, is_overdue,
    is_recorded, is_unfit, may_have_pods_of_others, shows_predecessor, version_of, warm_pool,
};
pub(crate) use window::window_hold;

use crate::desired::Desired;
use crate::memory::Memory;
use crate::observed::Observed;
use announced::RebalanceSurge;
use expiry::Expiry;
use rollout::Progress;

/// The facts of one pool, and what follows from them.
pub(crate) struct Situation<'a> {
    facts: Facts<'a>,
    /// The progress of the roll-out.
    pub(crate) rollout: Progress,
    /// Instances that are too old.
    pub(crate) expiry: Expiry,
    /// Surge that replaces instances at risk.
    spare: RebalanceSurge,
}

/// A situation gives access to its facts.
impl<'a> std::ops::Deref for Situation<'a> {
    type Target = Facts<'a>;

    fn deref(&self) -> &Facts<'a> {
        &self.facts
    }
}

impl<'a> Situation<'a> {
    pub(crate) fn new(desired: &'a Desired, observed: &'a Observed, memory: &'a Memory) -> Self {
        let facts = Facts::of(desired, observed, memory);
        let rollout = Progress::of(&facts);
        let expiry = Expiry::of(&facts, rollout);
        let spare = RebalanceSurge::of(&facts, rollout);
        Self { facts, rollout, expiry, spare }
    }

    /// The total number of instances: the desired replicas plus surge.
    pub(crate) fn total(&self) -> u32 {
        self.target.replicas.saturating_add(self.surge())
    }

    /// Surge: instances beyond the desired replicas, for replacements.
    pub(crate) fn surge(&self) -> u32 {
        self.rollout.surge.max(self.spare.wanted).max(self.expiry.surge)
    }

    /// Surge, including that for members whose replacement has begun and that still exist.
    fn surge_retained(&self) -> u32 {
        self.rollout.surge_retained.max(self.spare.held).max(self.expiry.surge_retained)
    }

    /// Interrupted instances that the surge does not already replace.
    pub(crate) fn interrupted_beyond_surge(&self) -> u32 {
        self.counts.interrupted.saturating_sub(self.counts.departing.min(self.surge_retained()))
    }

    /// How many Machines are to be kept. Departing members use up surge first, except those that AWS
    /// interrupts.
    pub(crate) fn target(&self) -> u32 {
        let going = self.counts.departing.saturating_sub(self.interrupted_beyond_surge());
        self.target.replicas.saturating_add(self.surge_retained().saturating_sub(going))
    }
}
