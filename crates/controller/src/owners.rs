//! Owners, and when to trust them: any user who can write an object can write its ownerReferences.

use foo_api::capi::Cluster;
use foo_api::names::PAUSED_ANNOTATION;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::{Resource, ResourceExt};
use kube_runtime::reflector::{ObjectRef, Store};
use std::sync::Arc;

/// Group of Cluster API's own kinds.
const CLUSTER_API: &str = "cluster.x-k8s.io";

/// The owner of this Cluster API kind: it exists in the namespace of the object and has the uid in the
/// reference.
pub(crate) fn of_kind<K>(object: &impl ResourceExt, kind: &str, there: &Store<K>) -> Option<Arc<K>>
where
    K: Resource<DynamicType = ()> + Clone + 'static,
{
    let namespace = object.namespace().unwrap_or_default();
    owners_of_kind(object, kind).find_map(|owner| {
        let found = there.get(&ObjectRef::new(&owner.name).within(&namespace))?;
        (found.meta().uid.as_ref() == Some(&owner.uid)).then_some(found)
    })
}

/// Whether a reference names an owner of this Cluster API kind.
pub(crate) fn has_owner_of_kind(object: &impl ResourceExt, kind: &str) -> bool {
    owners_of_kind(object, kind).next().is_some()
}

fn owners_of_kind<'o>(object: &'o impl ResourceExt, kind: &str) -> impl Iterator<Item = &'o OwnerReference> {
    let of_kind =
        move |owner: &&OwnerReference| owner.kind == kind && group(&owner.api_version) == CLUSTER_API;
    object.owner_references().iter().filter(of_kind)
}

/// Whether an object was created for this very owner: uid, kind and group of a reference agree, whatever its version.
pub(crate) fn is_owned_by<K>(object: &impl ResourceExt, owner: &K) -> bool
where
    K: Resource<DynamicType = ()>,
{
    object.owner_references().iter().any(|reference| names(reference, owner))
}

/// Whether a reference to its owner has the version that the owner is served in. Kubernetes does not collect an object
/// whose owner it cannot find by the reference: one of another version has to be written again.
pub(crate) fn has_current_owner<K>(object: &impl ResourceExt, owner: &K) -> bool
where
    K: Resource<DynamicType = ()>,
{
    let current = |reference: &OwnerReference| reference.api_version == K::api_version(&());
    let owned = |reference: &&OwnerReference| names(reference, owner);
    object.owner_references().iter().filter(owned).any(current)
}

/// Whether a reference means this object.
pub(crate) fn names<K>(reference: &OwnerReference, owner: &K) -> bool
where
    K: Resource<DynamicType = ()>,
{
    Some(&reference.uid) == owner.meta().uid.as_ref()
        && reference.kind == K::kind(&())
        && group(&reference.api_version) == K::group(&())
}

/// Whether an object is paused: by its own annotation, or by the Cluster that owns it.
pub(crate) fn is_paused(object: &impl ResourceExt, owner: Option<&Cluster>) -> bool {
    object.annotations().contains_key(PAUSED_ANNOTATION) || owner.is_some_and(Cluster::is_paused)
}

/// The group of an apiVersion; none for the core group.
pub(crate) fn group(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}

#[cfg(test)]
mod tests {
    use super::*;
    use foo_api::FooCluster;
    use foo_api::capi::{Cluster, ClusterSpec};
    use kube_runtime::reflector;
    use kube_runtime::watcher;

    fn there(cluster: Cluster) -> Store<Cluster> {
        let (store, mut writer) = reflector::store();
        writer.apply_watcher_event(&watcher::Event::Apply(cluster));
        store
    }

    /// Whether a FooCluster in `namespace` with such an owner is accepted as part of the Cluster `ns/c` with
    /// the uid `7`.
    fn believed(namespace: &str, api_version: &str, kind: &str, name: &str, uid: &str) -> bool {
        let mut cluster = Cluster::new("c", ClusterSpec::default());
        cluster.metadata.namespace = Some("ns".to_owned());
        cluster.metadata.uid = Some("7".to_owned());
        let spec = serde_json::json!({"region": "eu-central-1", "network": {"existing": {"subnets": []}}});
        let mut owned = FooCluster::new("f", serde_json::from_value(spec).unwrap());
        owned.metadata.namespace = Some(namespace.to_owned());
        let owner = OwnerReference {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            name: name.to_owned(),
            uid: uid.to_owned(),
            ..OwnerReference::default()
        };
        owned.metadata.owner_references = Some(vec![owner]);
        of_kind(&owned, "Cluster", &there(cluster)).is_some()
    }

    /// Whether a Secret with such an owner is the FooCluster's with the uid `7`, and whether it has to be written
    /// again.
    fn owned(api_version: &str, kind: &str, uid: &str) -> (bool, bool) {
        let spec = serde_json::json!({"region": "eu-central-1", "network": {"existing": {"subnets": []}}});
        let mut owner = FooCluster::new("f", serde_json::from_value(spec).unwrap());
        owner.metadata.uid = Some("7".to_owned());
        let mut secret = k8s_openapi::api::core::v1::Secret::default();
        let reference = OwnerReference {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            name: "f".to_owned(),
            uid: uid.to_owned(),
            ..OwnerReference::default()
        };
        secret.metadata.owner_references = Some(vec![reference]);
        (is_owned_by(&secret, &owner), has_current_owner(&secret, &owner))
    }

    #[test]
    fn an_owner_matches_in_every_version_and_is_current_in_one() {
        let group = foo_api::names::INFRASTRUCTURE_GROUP;
        assert_eq!(owned(&format!("{group}/v1alpha1"), "FooCluster", "7"), (true, true));
        for version in ["v1alpha0", "v1beta1"] {
            assert_eq!(owned(&format!("{group}/{version}"), "FooCluster", "7"), (true, false), "{version}");
        }
        assert_eq!(owned("example.com/v1alpha1", "FooCluster", "7"), (false, false));
        assert_eq!(owned(&format!("{group}/v1alpha1"), "FooMachinePool", "7"), (false, false));
        assert_eq!(owned(&format!("{group}/v1alpha1"), "FooCluster", "8"), (false, false));
    }

    #[test]
    fn an_owner_matches_by_group_kind_name_and_uid_only() {
        for version in ["v1beta1", "v1beta2"] {
            assert!(believed("ns", &format!("cluster.x-k8s.io/{version}"), "Cluster", "c", "7"));
        }
        assert!(!believed("other", "cluster.x-k8s.io/v1beta2", "Cluster", "c", "7"));
        assert!(!believed("ns", "example.com/v1", "Cluster", "c", "7"));
        assert!(!believed("ns", "cluster.x-k8s.io.example.com/v1", "Cluster", "c", "7"));
        assert!(!believed("ns", "v1", "Cluster", "c", "7"));
        assert!(!believed("ns", "cluster.x-k8s.io/v1beta2", "Machine", "c", "7"));
        assert!(!believed("ns", "cluster.x-k8s.io/v1beta2", "Cluster", "d", "7"));
        assert!(!believed("ns", "cluster.x-k8s.io/v1beta2", "Cluster", "c", "8"));
    }
}
