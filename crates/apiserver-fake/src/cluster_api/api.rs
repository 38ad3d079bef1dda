//! The few kinds of writes that core sends.

use crate::cluster_api::core::Core;
use crate::cluster_api::world::{KindName, is_deleting, title};
use kube::ResourceExt;
use kube::api::{Api, DeleteParams, Patch, PatchParams, Preconditions};
use kube::core::DynamicObject;
use serde_json::{Value, json};

/// How an owner is to stand in an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ownership {
    Controller,
    Plain,
}

/// What an object's metadata shall have beside what it has.
#[derive(Default)]
pub(crate) struct Wanted<'a> {
    pub(crate) finalizer: Option<&'a str>,
    pub(crate) owner: Option<(&'a DynamicObject, Ownership)>,
    pub(crate) cluster: Option<&'a str>,
}

impl Core {
    pub(crate) fn api(&self, object: &DynamicObject) -> Option<Api<DynamicObject>> {
        let kind = KindName::of(object)?;
        let namespace = object.namespace()?;
        Some(Api::namespaced_with(self.client.clone(), &namespace, &kind.resource()))
    }

    /// Adds what is missing; no write if nothing is.
    pub(crate) async fn ensure(&self, object: &DynamicObject, wanted: Wanted<'_>) -> kube::Result<()> {
        let mut metadata = json!({});
        if let Some(finalizer) = wanted.finalizer.filter(|wanted| !has_finalizer(object, wanted)) {
            let mut all = object.finalizers().to_vec();
            all.push(finalizer.to_owned());
            crate::json::set(&mut metadata, &["finalizers"], json!(all));
        }
        if let Some((owner, ownership)) = wanted.owner {
            let uid = owner.uid().unwrap_or_default();
            let mut all = object.owner_references().to_vec();
            let other = all.iter().find(|entry| entry.controller == Some(true) && entry.uid != uid);
            if let (Some(other), Ownership::Controller) = (other, ownership) {
                let message =
                    format!("{} is already controlled by {} {}", title(object), other.kind, other.name);
                return Err(kube::Error::Service(message.into()));
            }
            let wanted = reference(owner, ownership);
            if let Some(wanted) = wanted.filter(|wanted| !all.contains(wanted)) {
                all.retain(|entry| entry.uid != uid);
                all.push(wanted);
                crate::json::set(&mut metadata, &["ownerReferences"], json!(all));
            }
        }
        if let Some(cluster) = wanted.cluster {
            let label = "cluster.x-k8s.io/cluster-name";
            if object.labels().get(label).map(String::as_str) != Some(cluster) {
                crate::json::set(&mut metadata, &["labels", label], json!(cluster));
            }
        }
        if metadata == json!({}) {
            return Ok(());
        }
        crate::json::set(&mut metadata, &["resourceVersion"], json!(object.resource_version()));
        self.merge(object, &json!({ "metadata": metadata })).await
    }

    pub(crate) async fn merge(&self, object: &DynamicObject, patch: &Value) -> kube::Result<()> {
        if let Some(api) = self.api(object) {
            api.patch(&object.name_any(), &manager(), &Patch::Merge(patch)).await?;
        }
        Ok(())
    }

    /// Writes fields of a status, if they are not so already.
    pub(crate) async fn merge_status(&self, object: &DynamicObject, status: &Value) -> kube::Result<()> {
        let live = object.data.get("status").cloned().unwrap_or_else(|| json!({}));
        let mut new = live.clone();
        json_patch::merge(&mut new, status);
        if new == live {
            return Ok(());
        }
        if let Some(api) = self.api(object) {
            let patch = json!({ "status": status });
            api.patch_status(&object.name_any(), &manager(), &Patch::Merge(&patch)).await?;
        }
        Ok(())
    }

    /// Deletes exactly this object, unless it is being deleted already; fine if it does not exist.
    pub(crate) async fn delete(&self, object: &DynamicObject) -> kube::Result<()> {
        if is_deleting(object) {
            return Ok(());
        }
        let Some(api) = self.api(object) else { return Ok(()) };
        let only = Preconditions { uid: object.uid(), resource_version: None };
        match api.delete(&object.name_any(), &DeleteParams::background().preconditions(only)).await {
            Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
            result => result.map(drop),
        }
    }

    /// Removes a finalizer; fine if the object does not exist.
    pub(crate) async fn release(&self, object: &DynamicObject, finalizer: &str) -> kube::Result<()> {
        if !has_finalizer(object, finalizer) {
            return Ok(());
        }
        let rest: Vec<&String> = object.finalizers().iter().filter(|present| *present != finalizer).collect();
        let metadata = json!({ "finalizers": rest, "resourceVersion": object.resource_version() });
        match self.merge(object, &json!({ "metadata": metadata })).await {
            Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
            result => result,
        }
    }
}

pub(crate) fn has_finalizer(object: &DynamicObject, finalizer: &str) -> bool {
    object.finalizers().iter().any(|present| present == finalizer)
}

fn manager() -> PatchParams {
    PatchParams { field_manager: Some("manager".to_owned()), ..PatchParams::default() }
}

type OwnerReference = k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;

fn reference(owner: &DynamicObject, ownership: Ownership) -> Option<OwnerReference> {
    let types = owner.types.as_ref()?;
    let controller = (ownership == Ownership::Controller).then_some(true);
    Some(OwnerReference {
        api_version: types.api_version.clone(),
        kind: types.kind.clone(),
        name: owner.name_any(),
        uid: owner.uid()?,
        controller,
        block_owner_deletion: controller,
    })
}
