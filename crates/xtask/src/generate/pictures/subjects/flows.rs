//! What happens one after the other.

use crate::generate::pictures::canvas::Tint::{Aws, Kubernetes, Plain, Provider};
use crate::generate::pictures::sequence::Sequence;
use anyhow::Result;

/// crates/controller/src/pool/mod.rs.
pub(in super::super) fn pass() -> Result<String> {
    let mut it = Sequence::new(
        "A pass over a pool",
        "The controller gathers objects from caches and the newest observation of the group, has the planner compute a plan \
         and a second piece of code check it, sends the actions one by one, and publishes status and events.",
    );
    let objects = it.lane("API server\nobjects", Kubernetes);
    let controller = it.lane("Pool controller\nin the manager", Provider);
    let planner = it.lane("Planner and check\npure functions", Provider);
    let aws = it.lane("AWS", Aws);
    it.sends(objects, controller, "watch: an object\nof the pool changed");
    it.sends(aws, controller, "sweep or event: the group changed");
    it.does(controller, "read: caches, newest\nobservation of the group");
    it.sends(controller, planner, "what is desired,\nobserved, remembered");
    it.returns(planner, controller, "actions, report,\nmemory");
    it.sends(controller, planner, "does the plan violate\nan invariant?");
    it.returns(planner, controller, "no; otherwise nothing\nis carried out");
    it.does(controller, "record: what this\naction will change");
    it.sends(controller, aws, "send: one action, only while this manager leads");
    it.returns(aws, controller, "done, refused, or no response");
    it.note(
        controller,
        aws,
        "the same for the next action; a failure skips those that depend on it;\nif an action provides what the next plan \
         needs: read and plan again",
    );
    it.sends(controller, objects, "publish: status, provider\nids, events that changed");
    it.drawn()
}

/// docs/concepts/pools.md, "Roll-outs".
pub(in super::super) fn roll_out() -> Result<String> {
    let mut it = Sequence::new(
        "A roll-out",
        "A pool of three with maxSurge 1 and maxUnavailable 0. The manager creates a launch template version and raises \
         desired capacity to four. When the Node of the canary has been Ready for long enough, the manager deletes one old \
         Machine at a time; Cluster API drains it, the manager terminates its instance, and AWS launches the replacement. \
         The last termination lowers desired capacity to three.",
    );
    let user = it.lane("User\n3 replicas", Plain);
    let manager = it.lane("foo-manager", Provider);
    let core = it.lane("Cluster API core", Kubernetes);
    let aws = it.lane("AWS\nthe group", Aws);
    it.sends(user, manager, "changes the content\nof the FooMachinePool");
    it.sends(manager, aws, "a new launch template version; desired capacity 4");
    it.does(aws, "launches the canary\nwith the new content");
    it.note(
        manager,
        core,
        "a FooMachine and a Machine; the Node of the canary\nis Ready for minReadySeconds",
    );
    it.sends(manager, core, "deletes an old Machine");
    it.does(core, "drains its Node");
    it.sends(core, manager, "deletes the FooMachine:\nreleased");
    it.sends(manager, aws, "terminates the instance; desired capacity stays 4");
    it.does(aws, "launches a replacement\nwith the new content");
    it.note(
        manager,
        aws,
        "the same for the next old Machine when the replacement is available;\nas many at a time as maxSurge and \
         maxUnavailable allow",
    );
    it.sends(manager, aws, "terminates the last old instance; desired capacity 3");
    it.note(
        user,
        manager,
        "if the canary, or a later instance, does not\nbecome available in time: Halt or Rollback",
    );
    it.drawn()
}

/// docs/concepts/pools.md, "How an instance is terminated".
pub(in super::super) fn drain() -> Result<String> {
    let mut it = Sequence::new(
        "A scale-in",
        "The manager deletes a Machine, Cluster API drains its Node and deletes the FooMachine, the manager terminates the \
         instance and completes the lifecycle action of the hook, and removes its finalizer when EC2 reports the instance \
         as terminated.",
    );
    let nodes = it.lane("Workload cluster\nthe Node", Kubernetes);
    let core = it.lane("Cluster API core", Kubernetes);
    let manager = it.lane("foo-manager", Provider);
    let aws = it.lane("AWS\nthe group", Aws);
    it.does(manager, "chooses a Machine,\nreads it again");
    it.sends(manager, core, "deletes the Machine");
    it.sends(core, nodes, "cordons the Node,\nevicts its Pods");
    it.returns(nodes, core, "Pods ended,\nvolumes detached");
    it.sends(core, manager, "deletes the FooMachine:\nreleased");
    it.sends(manager, aws, "terminates this instance,\nlowers desired capacity");
    it.does(aws, "Terminating:Wait, for\nthe hook foo-drain");
    it.sends(manager, aws, "completes the\nlifecycle action");
    it.does(aws, "terminates the instance");
    it.returns(aws, manager, "EC2: terminated");
    it.sends(manager, core, "removes its finalizer\nfrom the FooMachine");
    it.sends(core, nodes, "deletes the Node;\nthe Machine is deleted");
    it.drawn()
}

/// docs/concepts/pools.md, "When AWS terminates an instance".
pub(in super::super) fn drain_by_aws() -> Result<String> {
    let mut it = Sequence::new(
        "A termination by AWS",
        "The instance waits in Terminating:Wait for the hook. The manager deletes the Machine, Cluster API drains the Node \
         and deletes the FooMachine, and the manager completes the lifecycle action. AWS launches the replacement in the \
         meantime.",
    );
    let nodes = it.lane("Workload cluster\nthe Node", Kubernetes);
    let core = it.lane("Cluster API core", Kubernetes);
    let manager = it.lane("foo-manager", Provider);
    let aws = it.lane("AWS\nthe group", Aws);
    it.does(aws, "health check, rebalancing,\nlifetime, console");
    it.does(aws, "Terminating:Wait, for\nthe hook foo-drain;\nlaunches a replacement");
    it.sends(aws, manager, "sweep or event");
    it.sends(manager, core, "deletes the Machine");
    it.sends(core, nodes, "cordons the Node,\nevicts its Pods");
    it.sends(manager, aws, "heartbeats, one\nevery 20 minutes");
    it.returns(nodes, core, "Pods ended,\nvolumes detached");
    it.sends(core, manager, "deletes the FooMachine:\nreleased");
    it.sends(manager, aws, "completes the lifecycle\naction, once");
    it.does(aws, "terminates the instance");
    it.drawn()
}

/// docs/decisions/0004, crates/controller/src/leader/state.rs.
pub(in super::super) fn takeover() -> Result<String> {
    let mut it = Sequence::new(
        "A takeover",
        "A leader that cannot renew the Lease stops all writes 10 seconds after it sent the last successful renewal, and \
         exits. Another manager takes the Lease when it has not changed for 15 seconds, and decides about sizes another 10 \
         seconds later. A delayed renewal is refused.",
    );
    let first = it.lane("Manager A\nthe leader", Provider);
    let lease = it.lane("Lease\non the API server", Kubernetes);
    let second = it.lane("Manager B\nwaits", Provider);
    let aws = it.lane("AWS", Aws);
    it.sends(first, lease, "renews every 2 s, with\nthe resourceVersion");
    it.sends(second, lease, "reads every 2 s");
    it.does(first, "cannot reach\nthe API server");
    it.does(first, "10 s after its last renewal:\nsends no more writes,\nexits, is restarted");
    it.does(second, "has seen no renewal\nfor 15 s by its own clock");
    it.sends(second, lease, "takes it, with\nthe resourceVersion");
    it.returns(first, lease, "a delayed renewal:\nrefused, other version");
    it.sends(second, aws, "describes all groups");
    it.does(second, "for 10 s: no decision\nabout sizes");
    it.sends(second, aws, "continues the work, from\nwhat objects and AWS show");
    it.drawn()
}
