//! What the networks and EKS clusters of other namespaces consist of. It is not named by accident or by guessing:
//! launching into a subnet takes its addresses and, like a subnet in a VPC or a rule that names a security group,
//! delays the deletion of the network that owns it; an instance in a security group has access wherever the group is.
//!
//! Known from the statuses of FooClusters and FooControlPlanes, which only the manager writes; so a manager that sees
//! one namespace knows of no other.

use super::Limits;
use crate::watch::Filled;
use foo_api::in_aws::Thing;
use foo_api::{FooCluster, FooControlPlane};
use foo_model::{Blocked, Reason};
use kube::{Resource, ResourceExt};
use kube_runtime::reflector::Store;

/// The FooControlPlanes that this process knows.
#[derive(Clone, Default)]
pub(super) enum ControlPlanes {
    /// None: no controller of this process reads them, or they are not installed.
    #[default]
    Unread,
    /// A controller of this process will read them.
    Expected,
    /// In this cache, once it is filled.
    Read(Store<FooControlPlane>, Filled),
}

/// The objects of all namespaces that own something in AWS.
pub(crate) struct Neighbours<'a> {
    clusters: &'a Store<FooCluster>,
    control_planes: Option<Store<FooControlPlane>>,
}

impl<'a> Neighbours<'a> {
    pub(super) fn of(clusters: &'a Store<FooCluster>, control_planes: &ControlPlanes) -> Self {
        let control_planes = match control_planes {
            ControlPlanes::Unread | ControlPlanes::Expected => None,
            ControlPlanes::Read(store, _) => Some(store.clone()),
        };
        Self { clusters, control_planes }
    }

    /// Whether it belongs to an object of a namespace other than this one.
    fn have(&self, namespace: &str, id: &str) -> bool {
        let is_other = |of: Option<String>| of.as_deref() != Some(namespace);
        let in_network = |it: &FooCluster| is_other(it.namespace()) && owns(it, id);
        let of_eks = |it: &FooControlPlane| is_other(it.namespace()) && is_of_eks(it, id);
        let control_planes = self.control_planes.as_ref();
        any(self.clusters, in_network) || control_planes.is_some_and(|store| any(store, of_eks))
    }
}

fn any<K: Resource<DynamicType = ()> + Clone + 'static>(
    store: &Store<K>,
    has_it: impl Fn(&K) -> bool,
) -> bool {
    !store.state_filter(has_it).is_empty()
}

impl Limits {
    /// Whether none of these is a part of a network or EKS cluster that the provider created for an object of another
    /// namespace; one that a list of the identity names is allowed.
    pub(crate) fn of_neighbours<'a>(
        &self,
        named: impl IntoIterator<Item = (Thing, &'a str)>,
        neighbours: &Neighbours<'_>,
    ) -> Result<(), Blocked> {
        let mut named = named.into_iter().filter(|(thing, id)| !self.lists(*thing, id));
        match named.find(|(_, id)| neighbours.have(self.namespace(), id)) {
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
        "{what} {id} belongs to a FooCluster or FooControlPlane of another namespace: it can be used if the FooClusterIdentity lists it \
         ({list})"
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

/// Whether EKS created this security group for the cluster of a FooControlPlane.
fn is_of_eks(control_plane: &FooControlPlane, id: &str) -> bool {
    let eks = control_plane.status.as_ref().and_then(|status| status.eks.as_ref());
    eks.is_some_and(|eks| eks.cluster_security_group.as_deref() == Some(id))
}
