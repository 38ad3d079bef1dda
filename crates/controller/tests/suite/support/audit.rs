//! What must hold in every test, whatever it is about.

use foo_apiserver_fake::FakeCore;
use foo_cloud::InstanceState;
use foo_model::InstanceId;
use foo_simulator_core::RegionHandle;
use std::collections::BTreeSet;
use std::sync::Mutex;

/// Watches over instances that end.
#[derive(Default)]
pub(crate) struct Audit {
    /// Violations of invariants that managers counted.
    pub(crate) violations: u64,
    /// Those that the test brought about.
    pub(crate) provoked: u64,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    alive: BTreeSet<InstanceId>,
    excused: BTreeSet<InstanceId>,
    lost: Vec<InstanceId>,
}

impl Audit {
    /// This instance's end is the test's own doing.
    pub(crate) fn excuse(&self, id: &InstanceId) {
        self.seen.lock().unwrap().excused.insert(id.clone());
    }

    /// Notes which instances end while pods may run on them.
    pub(crate) fn check(&self, region: &RegionHandle, core: &FakeCore) {
        let seen = &mut *self.seen.lock().unwrap();
        let check = |region: &mut foo_simulator_core::core::Region| {
            for instance in region.instances() {
                if matches!(instance.state, InstanceState::Pending | InstanceState::Running) {
                    seen.alive.insert(instance.id.clone());
                } else if seen.alive.remove(&instance.id) && !seen.excused.contains(&instance.id) {
                    let provider_id = instance.id.provider_id(&instance.zone);
                    if !core.may_terminate(&provider_id) {
                        seen.lost.push(instance.id.clone());
                    }
                }
            }
        };
        region.with(check).unwrap();
    }

    /// Panics if something was lost.
    pub(crate) fn verdict(&self, core: &FakeCore) {
        let undrained = core.undrained();
        assert!(undrained.is_empty(), "undrained: {undrained:?}");
        let lost = &self.seen.lock().unwrap().lost;
        assert!(lost.is_empty(), "ended with pods on them: {lost:?}");
        assert_eq!(self.violations, self.provoked, "foo_invariant_violations");
    }
}
