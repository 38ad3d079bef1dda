//! The components, and who calls whom.

use crate::generate::pictures::boxes::{Boxes, Grid};
use crate::generate::pictures::canvas::Edge::{Bottom, Top};
use crate::generate::pictures::canvas::Place::{Above, Left, Right};
use crate::generate::pictures::canvas::Tint::{Aws, Kubernetes, Plain, Provider};
use anyhow::Result;

pub(in super::super) fn components() -> Result<String> {
    let mut it = Boxes::new(
        "Components",
        "kubectl, Cluster API core and the manager use the API server of the management cluster. Cluster API core calls the \
         runtime extension, and drains Nodes through the API server of the workload cluster. The manager describes and \
         changes Auto Scaling groups, EC2 and EKS, and receives events from SQS. The runtime extension and kubectl foo \
         only read from AWS.",
        Grid { width: 148, height: 46, gap_x: 72, gap_y: 60 },
    );
    let users = it.node(1, 0, Plain, "kubectl\nclusterctl, Git");
    let plugin = it.node(3, 1, Provider, "kubectl foo\nthe plugin");
    it.frame((0, 1), (2, 2), Top, "Management cluster");
    let api = it.wide(0, 1, 3, Kubernetes, "Kubernetes API server\nall objects, the Lease");
    let core = it.node(0, 2, Kubernetes, "Cluster API core\nMachines, drains");
    let extension = it.node(1, 2, Provider, "foo-extension\nruntime extension");
    let manager = it.node(2, 2, Provider, "foo-manager\nall controllers");
    it.frame((0, 4), (0, 5), Bottom, "Workload cluster");
    let workload = it.node(0, 4, Kubernetes, "API server\nEKS, or your own");
    let nodes = it.node(0, 5, Kubernetes, "Nodes\nkubelets");
    let aws = it.frame((1, 4), (3, 5), Bottom, "AWS");
    let eks = it.node(1, 4, Aws, "EKS\ncontrol planes");
    let groups = it.node(2, 4, Aws, "Auto Scaling\ngroups");
    let queue = it.node(3, 4, Aws, "SQS\nevents of AWS");
    let instances = it.node(2, 5, Aws, "EC2\ninstances, networks");

    it.arrow(users.bottom(), api.top());
    it.arrow(plugin.left(), api.right());
    it.arrow(core.top(), api.bottom().facing(core.top())).says(0, Right, "watches, writes");
    it.arrow(manager.top(), api.bottom().facing(manager.top())).says(0, Left, "watches, writes");
    it.arrow(core.right(), extension.left()).says(0, Above, "hooks");
    it.arrow(core.bottom(), workload.top()).says(0, Right, "drains");
    it.arrow_bent(manager.bottom().by(-40), workload.top().by(50), 30).says(
        2,
        Right,
        "reads version, cordons",
    );
    it.arrow(extension.bottom(), aws.top().facing(extension.bottom())).says(0, Right, "reads");
    it.arrow(manager.bottom(), aws.top().facing(manager.bottom())).says(0, Right, "describes,\nchanges");
    it.arrow(manager.right(), queue.top().by(-30)).says(1, Left, "receives");
    it.arrow(plugin.bottom().by(30), aws.top().facing(plugin.bottom().by(30))).says(
        0,
        Right,
        "reads, as\nthe user",
    );
    it.arrow(eks.left(), workload.right()).says(0, Above, "runs");
    it.arrow(groups.bottom(), instances.top()).says(0, Right, "launches,\nterminates");
    it.arrow(instances.left(), nodes.right()).says(0, Above, "instances are Nodes");
    it.arrow(nodes.top(), workload.bottom()).says(0, Right, "join");
    it.drawn()
}
