//! Which objects belong to a FooControlPlane.

use crate::kubeconfig;
use crate::owners;
use foo_api::capi::Cluster;
use foo_api::{FooControlPlane, names};
use kube::ResourceExt;
use kube_runtime::reflector::{ObjectRef, Store};
use std::sync::Arc;

/// The FooControlPlane that a Cluster names.
pub(super) fn control_plane_of(cluster: Cluster) -> Option<ObjectRef<FooControlPlane>> {
    let namespace = cluster.namespace().unwrap_or_default();
    let reference = cluster.spec.control_plane_ref.filter(|reference| reference.kind == "FooControlPlane")?;
    Some(ObjectRef::new(&reference.name).within(&namespace))
}

/// The Cluster that owns this object, a reference that core sets, and that names it as its control plane.
/// Owner references alone prove nothing: any user who may create FooControlPlanes could have the
/// kubeconfig of any Cluster of the namespace written.
pub(super) fn owner(control_plane: &FooControlPlane, clusters: &Store<Cluster>) -> Option<Arc<Cluster>> {
    let cluster = owners::of_kind(control_plane, "Cluster", clusters)?;
    let named = cluster.spec.control_plane_ref.as_ref().is_some_and(|reference| {
        reference.kind == "FooControlPlane"
            && reference.api_group == names::CONTROL_PLANE_GROUP
            && reference.name == control_plane.name_any()
    });
    named.then_some(cluster)
}

/// Whether Cluster API reads the control plane's kubeconfig from a Secret with that name.
pub(super) fn is_created_for(control_plane: &FooControlPlane, secret: &str) -> bool {
    let cluster = control_plane.labels().get(names::CLUSTER_NAME_LABEL);
    cluster.is_some_and(|cluster| kubeconfig::secret_name(cluster) == secret)
}

/// Name of the Secret that the user put the kubeconfig into, in mode `external`.
pub(super) fn users_secret(control_plane: &FooControlPlane) -> Option<&str> {
    control_plane.spec.external.as_ref().map(|external| external.kubeconfig_secret_ref.name.as_str())
}
