//! The number of members in each state.

use super::member::{MachineState, Member};
use foo_model::{LifecycleState, Protection, SignalKind};

/// Counts of members.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MemberCounts {
    /// Capacity in the observation, including instances that the provider just terminated: none that may be
    /// alive is left out.
    pub(crate) existing: u32,
    /// Existing ones without those that the provider just terminated.
    pub(crate) remaining: u32,
    /// New, awaiting their Machine, or active.
    pub(crate) active: u32,
    /// Interrupted, draining, released, or with a FooMachine that was deleted first: they exist and will be
    /// terminated.
    pub(crate) departing: u32,
    /// Departing ones that AWS interrupts.
    pub(crate) interrupted: u32,
    /// Draining only.
    pub(crate) draining: u32,
    /// Released only.
    pub(crate) released: u32,
    /// Terminating, or with a termination sent.
    pub(crate) terminating: u32,
    /// In service, with a FooMachine, and active.
    pub(crate) serving: u32,
    /// Capacity that is launching.
    pub(crate) booting: u32,
    /// Capacity without a FooMachine.
    pub(crate) without_foo_machine: u32,
    /// Capacity that AWS might terminate in a scale-in.
    pub(crate) unprotected: u32,
}

impl MemberCounts {
    pub(crate) fn of(members: &[Member<'_>]) -> Self {
        let mut counts = Self::default();
        for member in members {
            counts.add(member);
        }
        counts
    }

    fn add(&mut self, member: &Member<'_>) {
        let lifecycle = &member.instance.lifecycle;
        if lifecycle.is_capacity() {
            self.existing += 1;
            self.booting += u32::from(*lifecycle != LifecycleState::InService);
            self.unprotected += u32::from(member.instance.protection == Protection::Unprotected);
        }
        match member.state {
            MachineState::New | MachineState::AwaitingMachine | MachineState::Active => {
                self.active += 1;
                self.without_foo_machine += u32::from(member.state == MachineState::New);
                let serving = *lifecycle == LifecycleState::InService && member.state != MachineState::New;
                self.serving += u32::from(serving);
            }
            MachineState::Draining => {
                self.departing += 1;
                self.draining += 1;
            }
            MachineState::FooMachineDeletedFirst | MachineState::Interrupted => self.departing += 1,
            MachineState::Released => {
                self.departing += 1;
                self.released += 1;
            }
            MachineState::TerminateSent | MachineState::Terminating => self.terminating += 1,
            MachineState::OutOfService => {}
        }
        let goes = member.state.is_leaving();
        self.interrupted += u32::from(goes && member.is_announced(SignalKind::Interruption));
        self.remaining = self.active + self.departing;
    }
}
