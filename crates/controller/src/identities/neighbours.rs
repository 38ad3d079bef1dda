//! What the networks of other namespaces consist of. Nobody names it by accident or by guessing: launching into a subnet takes its
//! addresses and, like a subnet in a VPC or a rule that names a security group, holds up the deletion of the network that owns it.
//!
//! Known from the statuses of FooClusters, which only the manager writes; so a manager that sees one namespace knows of no other.

use super::Limits;
use foo_api::FooCluster;
use foo_api::in_aws::Thing;
use foo_model::Reason;
use foo_planner::desired::Blocked;
use kube::ResourceExt;
use kube_runtime::reflector::Store;

impl Limits {
    /// Whether none of these is a part of a network that the provider created for a FooCluster of another namespace; one that a list of
    /// the identity names is allowed.
    pub(crate) fn of_neighbours<'a>(
        &self,
        named: impl IntoIterator<Item = (Thing, &'a str)>,
        clusters: &Store<FooCluster>,
    ) -> Result<(), Blocked> {
        let named: Vec<_> = named.into_iter().filter(|(thing, id)| !self.lists(*thing, id)).collect();
        if named.is_empty() {
            return Ok(());
        }
        let others = clusters.state_filter(|it| it.namespace().as_deref() != Some(self.namespace()));
        let theirs = |id: &str| others.iter().any(|it| owns(it, id));
        match named.into_iter().find(|(_, id)| theirs(id)) {
            None => Ok(()),
            Some((thing, id)) => Err(refused(thing, id)),
        }
    }
}

fn refused(thing: Thing, id: &str) -> Blocked {
    let (reason, what, list) = match thing {
        Thing::Vpc => (Reason::VpcNotAllowed, "VPC", "allowedVPCs"),
        Thing::SecurityGroup => (Reason::SecurityGroupNotAllowed, "security group", "allowedSecurityGroups"),
        _ => (Reason::SubnetNotAllowed, "subnet", "allowedSubnets"),
    };
    let message = format!(
        "{what} {id} belongs to the network of a FooCluster of another namespace: it can be used if the FooClusterIdentity lists it ({list})"
    );
    Blocked::new(reason, message)
}

/// Whether the provider created this for the network of a FooCluster. A VPC that the spec names is the user's.
fn owns(cluster: &FooCluster, id: &str) -> bool {
    let Some(managed) = &cluster.spec.network.managed else { return false };
    let network = cluster.status.as_ref().and_then(|status| status.network.as_ref());
    managed.vpc_id.as_deref() != Some(id)
        && network.is_some_and(|network| network.resources.iter().any(|part| part.id.as_deref() == Some(id)))
}
