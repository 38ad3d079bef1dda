//! FooMachines without a pool, because a user created them by hand: their status reports it, and what to do. The
//! provider does nothing else about them; the passes of pools ignore them.

use super::gather::{Caches, belongs_to, owning_pool};
use crate::Context;
use crate::apply::{self, StatusWriter, Written};
use crate::clock::kube_time;
use foo_api::machine::FooMachineStatus;
use foo_api::{FooMachine, FooMachinePool, conditions, names};
use foo_model::Reason;
use futures::StreamExt;
use futures::channel::mpsc::UnboundedReceiver;
use kube::{Api, Resource, ResourceExt};
use kube_runtime::reflector::ObjectRef;
use std::sync::Arc;
use std::time::Duration;

/// How long a FooMachine may exist before its pool: both may be moved or restored.
const PATIENCE: Duration = Duration::from_secs(30);
/// The pause after a failed write.
const TRY_AGAIN: Duration = Duration::from_mins(5);
/// Maximum of FooMachines that wait or are written concurrently.
const AT_A_TIME: usize = 64;

const MESSAGE: &str = "no FooMachinePool has an instance of this name: the provider creates FooMachines itself, one \
                       for each instance, and does not manage this one; delete it (where the policy foo-machines is \
                       installed, first set the annotation infrastructure.foo.com/deletion-allowed on it), and raise \
                       MachinePool.spec.replicas if you want one more instance";

/// Checks each changed FooMachine whose pool is unknown.
pub(super) async fn run(
    context: Context,
    caches: Caches,
    suspects: UnboundedReceiver<ObjectRef<FooMachine>>,
) {
    if caches.wait_until_filled().await.is_err() {
        return;
    }
    let unowned = Unowned { status: StatusWriter::new(names::managers::MACHINE_STATUS), context, caches };
    suspects.for_each_concurrent(AT_A_TIME, |suspect| unowned.check(suspect)).await;
}

struct Unowned {
    context: Context,
    caches: Caches,
    status: StatusWriter,
}

impl Unowned {
    async fn check(&self, suspect: ObjectRef<FooMachine>) {
        // When the manager starts, nearly all are reported before the cache has their pools.
        if self.unowned_machine(&suspect).is_none() {
            return;
        }
        tokio::time::sleep(PATIENCE).await;
        while let Some(machine) = self.unowned_machine(&suspect) {
            match self.report(&machine).await {
                Err(apply::Error::Kube(error))
                    if !apply::is_not_found(&error) && !apply::is_conflict(&error) =>
                {
                    tracing::warn!(machine = %suspect, %error, "could not write the status of a FooMachine");
                }
                Ok(()) | Err(_) => return,
            }
            tokio::time::sleep(TRY_AGAIN).await;
        }
    }

    /// The FooMachine, if it has no pool.
    fn unowned_machine(&self, suspect: &ObjectRef<FooMachine>) -> Option<Arc<FooMachine>> {
        let machine = self.caches.foo_machines.get(suspect)?;
        (self.needs_report(&machine) && !is_known(&self.caches, &machine)).then_some(machine)
    }

    /// A FooMachine with the provider's finalizer was created by it: its pool is deleted, and a user is about to
    /// clean up.
    fn needs_report(&self, machine: &FooMachine) -> bool {
        let is_ours = |value: &String| machine.labels().get(names::WATCH_LABEL) == Some(value);
        machine.metadata.deletion_timestamp.is_none()
            && !machine.finalizers().iter().any(|finalizer| finalizer == names::MACHINE_FINALIZER)
            && !machine.annotations().contains_key(names::PAUSED_ANNOTATION)
            // The pools of another manager are not visible here, and it knows its FooMachines.
            && self.context.settings.watch_filter.as_ref().is_none_or(is_ours)
    }

    async fn report(&self, machine: &FooMachine) -> Result<(), apply::Error> {
        let old = machine.status.clone().unwrap_or_default();
        let ready = conditions::NewCondition {
            kind: "Ready".to_owned(),
            status: "False",
            reason: Reason::Unmanaged.into(),
            message: MESSAGE.to_owned(),
        };
        let now = kube_time(&self.context.kubernetes_clock);
        let conditions = conditions::merge(&old.conditions, &[ready], machine.metadata.generation, now);
        let status = FooMachineStatus { conditions, ..old };
        let namespace = machine.namespace().unwrap_or_default();
        let machines: Api<FooMachine> = Api::namespaced(self.context.client.clone(), &namespace);
        let written =
            self.status.apply_if_changed(&machines, machine, machine.status.as_ref(), &status).await?;
        if written == Written::Yes {
            let object = machine.object_ref(&());
            self.context.events.publish(&object, Reason::Unmanaged, MESSAGE).await;
        }
        Ok(())
    }
}

/// Whether an existing pool has an instance of this name.
pub(super) fn is_known(caches: &Caches, machine: &FooMachine) -> bool {
    let namespace = machine.namespace().unwrap_or_default();
    let owner = owning_pool(machine).filter(|pool| belongs_to(machine, pool));
    let is_there = |pool: &str| caches.pools.get(&ObjectRef::new(pool).within(&namespace)).is_some();
    let has_it = |pool: &FooMachinePool| {
        pool.metadata.namespace.as_deref() == Some(&namespace) && belongs_to(machine, &pool.name_any())
    };
    owner.is_some_and(is_there) || !caches.pools.state_filter(has_it).is_empty()
}
