//! Several MachinePools that reference one FooMachinePool. Cluster API sets the first of them as its owner; the
//! others wait without a message. If a user deletes one of them, Cluster API deletes the FooMachinePool, and
//! with it all instances of its owner (Cluster API, MachinePool controller, `reconcileDeleteExternal`): so
//! the provider warns.

use crate::pool::gather::Gathered;
use foo_model::{Blocked, Reason, some_names};
use kube::ResourceExt;

/// The warning about them.
pub(in crate::pool) fn warning(gathered: &Gathered) -> Option<Blocked> {
    let owner = gathered.machine_pool.as_ref()?.name_any();
    (!gathered.rivals.is_empty()).then(|| {
        let others = some_names(gathered.rivals.iter().map(String::as_str));
        Blocked::new(
            Reason::MultipleMachinePools,
            format!(
                "MachinePool {others} also references this FooMachinePool, and gets no instances, since MachinePool \
                 {owner} owns it: reference another one in spec.template.spec.infrastructureRef there, and only then \
                 delete what you do not need, since Cluster API deletes a MachinePool's infrastructure with it"
            ),
        )
    })
}
