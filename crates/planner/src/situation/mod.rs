//! What is the case: the three sources (group, FooMachines, Machines) joined per instance and counted, once per pass.
//!
//! Nothing is decided here. Every question the steps ask of the world is a function of [`Situation`]. It is made in layers, each
//! from those before it: [`Facts`], then how far the replacement of outdated instances is ([`Progress`]), then what is wanted
//! for the sake of what AWS announced ([`RebalanceSurge`]).

mod announced;
mod content;
mod counts;
mod facts;
mod group;
mod member;
mod rollout;
mod size;
mod template;
mod unhealthy;
mod view;

pub(crate) use announced::{announcement_states, at_risk, cooldown_since, is_advised, is_recommended, round};
pub(crate) use content::ContentState;
pub(crate) use facts::Facts;
pub(crate) use group::{
    Difference, differences, group_is_gone, lacking_tags, launches_suspended_by_aws, mix, obstacle,
    of_another_installation, wanted_min, wanted_tags, was_lost,
};
pub(crate) use member::{MachineState, Member, MissingInstance, claim};
pub(crate) use rollout::{Phase, available_from, is_available, room, staying};
pub(crate) use size::{Capacity, ReplicasManagedBy};
pub(crate) use template::{TemplateState, template_state};
pub(crate) use unhealthy::unhealthy;
pub(crate) use view::View;

use crate::desired::Desired;
use crate::memory::Memory;
use crate::observed::Observed;
use announced::RebalanceSurge;
use rollout::Progress;

/// All that is the case with one pool: its facts, and what follows from them.
pub(crate) struct Situation<'a> {
    facts: Facts<'a>,
    /// Where the replacement of outdated instances stands.
    pub(crate) rollout: Progress,
    /// What is wanted beyond the desired replicas for the sake of what is at risk.
    spare: RebalanceSurge,
}

/// A situation can be asked whatever its facts can be asked.
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
        let spare = RebalanceSurge::of(&facts, rollout);
        Self { facts, rollout, spare }
    }

    /// How many instances there shall be: the desired replicas, and what replacements have beyond it for a while.
    pub(crate) fn total(&self) -> u32 {
        self.target.replicas.saturating_add(self.surge())
    }

    /// Instances beyond the desired replicas that are wanted for the sake of replacements.
    pub(crate) fn surge(&self) -> u32 {
        self.rollout.surge.max(self.spare.wanted)
    }

    /// The same while those that go for the sake of replacements are still there.
    fn surge_retained(&self) -> u32 {
        self.rollout.surge_retained.max(self.spare.held)
    }

    /// Those that AWS takes and that a replacement in advance does not make up for already.
    pub(crate) fn interrupted_beyond_surge(&self) -> u32 {
        self.counts.interrupted.saturating_sub(self.counts.departing.min(self.surge_retained()))
    }

    /// How many Machines shall stay. Those that are going still take the place of what replacements have beyond the desired replicas,
    /// but for those that AWS takes.
    pub(crate) fn target(&self) -> u32 {
        let going = self.counts.departing.saturating_sub(self.interrupted_beyond_surge());
        self.target.replicas.saturating_add(self.surge_retained().saturating_sub(going))
    }
}
