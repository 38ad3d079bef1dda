//! Reasons of a FooMachine. `reason/list.rs` says what each line has.

macro_rules! machine {
    ([$($rest:ident)*] $($before:tt)*) => {
        all! {
            [$($rest)*]
            $($before)*

            // FooMachine.
            InService Good [MachineReady True]
            "the instance is in service"
            ""

            Launching Waiting [MachineReady False]
            "the instance is not in service yet"
            "wait"

            NotInService NeedsUser [MachineReady False]
            "the instance is in standby, is being detached and the like; see `status.lifecycleState`"
            "return it to service, or delete its Machine"

            Terminating Waiting [MachineReady False]
            "AWS is terminating the instance, if need be after its drain"
            "wait"

            NotInGroup NeedsUser [MachineReady False]
            "the instance runs, but is not in the group: it was detached, or the group does not list it yet"
            "attach it again, or delete its Machine"

            InstanceGone Waiting [MachineReady False]
            "EC2 says that the instance is terminated"
            "wait; its Machine is being deleted"

            InstanceNotFound Waiting [MachineReady Unknown]
            "EC2 does not know the instance; if it keeps saying so, the instance counts as terminated"
            "wait"

            Unmanaged NeedsUser [MachineReady False]
            "no FooMachinePool has an instance of this name: the FooMachine was created by hand, and no controller manages it"
            "delete it (with the annotation that the [policy](install.md#protection-from-deletion) names); for one more instance raise `MachinePool.spec.replicas`"

            UpToDate Good [MachineUpToDate True]
            "the instance was launched from the launch template version that all instances should have"
            ""

            Outdated Waiting [MachineUpToDate False]
            "the instance was launched from another version of the launch template"
            "`RollingOut` of the pool says when it is replaced"

            TemplateVersionUnknown Waiting [MachineUpToDate Unknown]
            "it is not known yet from what the instance was launched"
            "wait"
        }
    };
}
pub(super) use machine;
