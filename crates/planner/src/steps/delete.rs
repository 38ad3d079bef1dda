//! Deletes a Machine, for any step: two reasons cause one deletion.

use crate::action::{MachineAction, Precondition};
use crate::draft::{Draft, Stage};
use crate::situation::Situation;
use foo_model::Machine;

/// Deletes a Machine unless it is being deleted.
pub(crate) fn delete_machine(
    situation: &Situation<'_>,
    machine: Option<&Machine>,
    why: &str,
    draft: &mut Draft,
) {
    let Some(machine) = machine else { return };
    let noted = situation.memory.deleted_machines.contains_key(&machine.name);
    if machine.deletion.is_deleting() || noted || !draft.deleted.insert(machine.name.clone()) {
        return;
    }
    draft.act(
        Stage::Machines,
        MachineAction::DeleteMachine {
            name: machine.name.clone(),
            uid: machine.uid.clone(),
            only_if: Precondition::SameUid,
            why: why.to_owned(),
        },
    );
}
