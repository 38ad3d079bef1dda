//! The kinds a server knows. What is not here is met with 404, as by a real server.

use crate::schema::whole_object;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::{ClusterResourceScope, api};
use kube::Resource;
use serde_json::Value;
use std::any::TypeId;
use std::sync::{Arc, LazyLock};

/// One served kind.
#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "facts about a kind, each on its own, as discovery lists them"
)]
#[expect(clippy::struct_field_names, reason = "a kind's kind is what Kubernetes calls it")]
pub(crate) struct Kind {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) kind: String,
    pub(crate) plural: String,
    pub(crate) namespaced: bool,
    /// Whether `status` is written through its own subresource only.
    pub(crate) status: bool,
    /// Whether there is a `scale` subresource over `spec.replicas`.
    pub(crate) scale: bool,
    /// Whether `metadata.generation` counts changes of the spec.
    pub(crate) generation: bool,
    /// Whether a PUT may come without resourceVersion.
    pub(crate) unconditional_put: bool,
    /// Whether the kind is part of Kubernetes: strategic merge patches work, items of lists come without their kind.
    pub(crate) built_in: bool,
    /// Schema of the whole object.
    pub(crate) schema: Value,
}

impl Kind {
    pub(crate) fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }

    /// `plural.group`, as in messages.
    pub(crate) fn resource(&self) -> String {
        if self.group.is_empty() { self.plural.clone() } else { format!("{}.{}", self.plural, self.group) }
    }

    fn of<K: Resource<DynamicType = ()>>() -> Self
    where
        K::Scope: 'static,
    {
        Self {
            group: K::group(&()).into_owned(),
            version: K::version(&()).into_owned(),
            kind: K::kind(&()).into_owned(),
            plural: K::plural(&()).into_owned(),
            namespaced: TypeId::of::<K::Scope>() != TypeId::of::<ClusterResourceScope>(),
            status: false,
            scale: false,
            generation: false,
            unconditional_put: true,
            built_in: true,
            schema: whole_object(None),
        }
    }
}

/// The kinds of one server, found by path.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kinds(Vec<Arc<Kind>>);

impl Kinds {
    /// Kubernetes' kinds that a provider meets, Cluster API's that we read, and our own.
    pub(crate) fn usual() -> Self {
        static USUAL: LazyLock<Kinds> = LazyLock::new(Kinds::make_usual);
        USUAL.clone()
    }

    fn make_usual() -> Self {
        let mut kinds = Self::default();
        let with_status = |kind: Kind| Kind { status: true, ..kind };
        let custom = |kind: Kind| Kind {
            status: true,
            generation: true,
            unconditional_put: false,
            built_in: false,
            ..kind
        };
        kinds.add(with_status(Kind::of::<api::core::v1::Namespace>()));
        kinds.add(with_status(Kind::of::<api::core::v1::Node>()));
        kinds.add(with_status(Kind::of::<api::core::v1::Pod>()));
        kinds.add(Kind::of::<api::core::v1::Secret>());
        kinds.add(Kind::of::<api::core::v1::ConfigMap>());
        kinds.add(Kind::of::<api::core::v1::ServiceAccount>());
        kinds.add(Kind::of::<api::core::v1::Event>());
        kinds.add(Kind::of::<api::events::v1::Event>());
        kinds.add(Kind { unconditional_put: false, ..Kind::of::<api::coordination::v1::Lease>() });
        kinds.add(Kind { unconditional_put: false, ..with_status(Kind::of::<CustomResourceDefinition>()) });
        kinds.add(custom(Kind::of::<foo_api::capi::Cluster>()));
        kinds.add(custom(Kind::of::<foo_api::capi::Machine>()));
        kinds.add(Kind { scale: true, ..custom(Kind::of::<foo_api::capi::MachinePool>()) });
        for crd in foo_api::crds() {
            kinds.add_crd(&crd);
        }
        kinds
    }

    /// Adds a kind, or replaces the one that was served under the same path.
    pub(crate) fn add(&mut self, kind: Kind) {
        self.0.retain(|old| {
            (&old.group, &old.version, &old.plural) != (&kind.group, &kind.version, &kind.plural)
        });
        self.0.push(Arc::new(kind));
    }

    /// Adds every served version of a CRD.
    pub(crate) fn add_crd(&mut self, crd: &CustomResourceDefinition) {
        for version in crd.spec.versions.iter().filter(|version| version.served) {
            let schema = version
                .schema
                .as_ref()
                .and_then(|schema| schema.open_api_v3_schema.as_ref())
                .and_then(|schema| serde_json::to_value(schema).ok());
            let subresources = version.subresources.as_ref();
            self.add(Kind {
                group: crd.spec.group.clone(),
                version: version.name.clone(),
                kind: crd.spec.names.kind.clone(),
                plural: crd.spec.names.plural.clone(),
                namespaced: crd.spec.scope == "Namespaced",
                status: subresources.is_some_and(|subresources| subresources.status.is_some()),
                scale: subresources.is_some_and(|subresources| subresources.scale.is_some()),
                generation: true,
                unconditional_put: false,
                built_in: false,
                schema: whole_object(schema),
            });
        }
    }

    pub(crate) fn find(&self, group: &str, version: &str, plural: &str) -> Option<Arc<Kind>> {
        self.0
            .iter()
            .find(|kind| kind.group == group && kind.version == version && kind.plural == plural)
            .map(Arc::clone)
    }

    pub(crate) fn of_version<'a>(
        &'a self,
        group: &'a str,
        version: &'a str,
    ) -> impl Iterator<Item = &'a Kind> {
        self.0.iter().map(Arc::as_ref).filter(move |kind| kind.group == group && kind.version == version)
    }
}
