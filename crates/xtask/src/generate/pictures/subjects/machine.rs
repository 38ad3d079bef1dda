//! The states of a Machine: `MachineState` in `crates/planner/src/situation/member.rs`.

use crate::generate::pictures::boxes::{Boxes, Grid};
use crate::generate::pictures::canvas::Place::{Left, Right};
use crate::generate::pictures::canvas::Tint::{Aws, Kubernetes, Plain, Provider};
use anyhow::Result;

pub(in super::super) fn life() -> Result<String> {
    let mut it = Boxes::new(
        "The life of one Machine",
        "New, AwaitingMachine, Active, Draining, Released, TerminateSent, Terminating, in this order. From Active also \
         Interrupted and FooMachineDeletedFirst, both before Draining, and OutOfService and back. From Active and Draining \
         also Terminating, if AWS terminates the instance itself.",
        Grid { width: 176, height: 34, gap_x: 110, gap_y: 52 },
    );
    let begin = it.dot(1, 0);
    let new = it.node(1, 1, Provider, "New");
    let awaiting = it.node(1, 2, Kubernetes, "AwaitingMachine");
    let active = it.node(1, 3, Plain, "Active");
    let out_of_service = it.node(2, 2, Plain, "OutOfService");
    let interrupted = it.node(0, 4, Provider, "Interrupted");
    let deleted_first = it.node(2, 4, Provider, "FooMachineDeletedFirst");
    let draining = it.node(1, 5, Kubernetes, "Draining");
    let released = it.node(1, 6, Provider, "Released");
    let sent = it.node(1, 7, Aws, "TerminateSent");
    let terminating = it.node(1, 8, Aws, "Terminating");
    let end = it.dot(1, 9);

    it.arrow(begin.bottom(), new.top()).says(0, Right, "AWS launches an instance");
    it.arrow(new.bottom(), awaiting.top()).says(0, Right, "the manager creates\nthe FooMachine");
    it.arrow(awaiting.bottom(), active.top()).says(0, Right, "Cluster API creates\nthe Machine");
    it.arrow(active.bottom(), draining.top()).says(
        0,
        Right,
        "the manager, a user or\ncluster-autoscaler\ndeletes the Machine",
    );
    it.arrow(draining.bottom(), released.top()).says(
        0,
        Right,
        "Cluster API has drained the\nNode, deletes the FooMachine",
    );
    it.arrow(released.bottom(), sent.top()).says(0, Right, "the manager terminates\nthe instance");
    it.arrow(sent.bottom(), terminating.top()).says(0, Right, "AWS shows the instance\nas Terminating");
    it.arrow(terminating.bottom(), end.top()).says(
        0,
        Right,
        "the manager completes the lifecycle action,\nEC2 reports the instance as terminated",
    );

    it.arrow(active.left().by(6), interrupted.top()).says(1, Right, "EC2 announces a\nspot interruption");
    it.arrow(interrupted.bottom(), draining.left()).says(0, Right, "the manager\ndeletes the Machine");
    it.arrow(active.right().by(6), deleted_first.top()).says(1, Right, "a user deletes\nthe FooMachine");
    it.arrow(deleted_first.bottom(), draining.right().by(-6)).says(
        0,
        Right,
        "the manager\ndeletes the Machine",
    );
    it.arrow(active.right().by(-6), out_of_service.bottom().by(-10)).says(
        1,
        Left,
        "a user puts\nit into Standby",
    );
    it.arrow(out_of_service.bottom().by(10), active.right()).says(
        0,
        Right,
        "a user puts it back\ninto service",
    );
    it.arrow_bent(active.left().by(-6), terminating.left(), 306).says(
        1,
        Right,
        "AWS terminates\nthe instance itself",
    );
    it.arrow_bent(draining.right().by(6), terminating.right(), 216).says(
        1,
        Right,
        "AWS terminates\nthe instance itself",
    );
    it.drawn()
}
