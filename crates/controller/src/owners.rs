//! Owners, and when to trust them: any user who can write an object can write its ownerReferences.

use foo_api::capi::Cluster;
use foo_api::names::PAUSED_ANNOTATION;
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
    let references = object.owner_references().iter();
    let mut of_kind =
        references.filter(|owner| owner.kind == kind && group(&owner.api_version) == CLUSTER_API);
    of_kind.find_map(|owner| {
        let found = there.get(&ObjectRef::new(&owner.name).within(&namespace))?;
        (found.meta().uid.as_ref() == Some(&owner.uid)).then_some(found)
    })
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
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
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

    #[test]
    fn an_owner_is_believed_with_its_group_kind_name_and_uid_only() {
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
