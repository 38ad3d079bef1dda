//! How many members stand where.

use super::member::{Member, Standing};
use foo_model::{LifecycleState, Protection, SignalKind};

/// Counts of members.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    /// All that are capacity in the view: nothing that may still live is left out, what we just ended included.
    pub(crate) existing: u32,
    /// Those of them that we did not just end.
    pub(crate) staying: u32,
    /// New, unclaimed and kept.
    pub(crate) kept: u32,
    /// Doomed, draining, undercut and released: they exist and will go.
    pub(crate) going: u32,
    /// Those of them that AWS announced to take back.
    pub(crate) interrupted: u32,
    /// Draining only.
    pub(crate) draining: u32,
    /// Released only.
    pub(crate) released: u32,
    /// Ending and leaving.
    pub(crate) leaving: u32,
    /// In service, with a FooMachine, and kept.
    pub(crate) serving: u32,
    /// Capacity on its way up.
    pub(crate) booting: u32,
    /// Capacity without a FooMachine.
    pub(crate) nameless: u32,
    /// Capacity that scale-in might pick.
    pub(crate) unprotected: u32,
}

impl Tally {
    pub(crate) fn of(members: &[Member<'_>]) -> Self {
        let mut tally = Self::default();
        for member in members {
            tally.add(member);
        }
        tally
    }

    fn add(&mut self, member: &Member<'_>) {
        let lifecycle = &member.instance.lifecycle;
        if lifecycle.is_capacity() {
            self.existing += 1;
            self.booting += u32::from(*lifecycle != LifecycleState::InService);
            self.unprotected += u32::from(member.instance.protection == Protection::Unprotected);
        }
        match member.standing {
            Standing::New | Standing::Unclaimed | Standing::Kept => {
                self.kept += 1;
                self.nameless += u32::from(member.standing == Standing::New);
                let serving = *lifecycle == LifecycleState::InService && member.standing != Standing::New;
                self.serving += u32::from(serving);
            }
            Standing::Draining => {
                self.going += 1;
                self.draining += 1;
            }
            Standing::Undercut | Standing::Doomed => self.going += 1,
            Standing::Released => {
                self.going += 1;
                self.released += 1;
            }
            Standing::Ending | Standing::Leaving => self.leaving += 1,
            Standing::Aside => {}
        }
        let goes = member.standing.is_going();
        self.interrupted += u32::from(goes && member.is_announced(SignalKind::Interruption));
        self.staying = self.kept + self.going;
    }
}
