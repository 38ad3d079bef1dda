//! Whose something in AWS is: its id on the object, and the permission to take it over from another management cluster.

use super::pass::Goal;
use foo_model::names::ADOPT_FROM_ANNOTATION;
use kube::api::{Patch, PatchParams};
use kube::{Api, Resource, ResourceExt};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::fmt::Debug;

/// The id that what belongs to an object has in AWS.
#[derive(Clone, Debug, Default)]
pub(crate) struct Identity {
    /// Uid of the object that this is about.
    uid: Option<String>,
    /// The id.
    pub(crate) id: String,
    /// Whether it was written onto the object, and the cache may not show that yet.
    pub(crate) id_written: bool,
    /// Whether the object had the id before this process saw it.
    pub(crate) begun_before: bool,
}

impl Identity {
    /// What this process knows of an object when it sees it first: the id that was given to it before, or its uid.
    pub(crate) fn first(object: &impl ResourceExt, given: Option<String>) -> Self {
        Self {
            uid: object.uid(),
            begun_before: given.is_some(),
            id: given.or_else(|| object.uid()).unwrap_or_default(),
            id_written: false,
        }
    }

    /// Whether it is of this very object, and not of another one that had its name.
    pub(crate) fn is_of(&self, object: &impl ResourceExt) -> bool {
        self.uid.is_some() && self.uid == object.uid()
    }

    /// Whether a user gave the object another id: that of something that exists (a restore).
    pub(crate) fn differs_from(&self, annotation: &str, object: &impl ResourceExt) -> bool {
        object.annotations().get(annotation).is_some_and(|id| *id != self.id)
    }
}

/// The annotations of an object that show which object owns something in AWS.
pub(crate) struct Annotations<'a, K> {
    pub(crate) api: &'a Api<K>,
    pub(crate) object: &'a K,
    /// The field manager.
    pub(crate) manager: &'static str,
}

impl<K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned> Annotations<'_, K> {
    /// The id, and what else names it, is on the object before anything is created: a manager that has the object then
    /// knows what is its.
    pub(crate) async fn keep_id(
        &self,
        names: &[(&str, &str)],
        goal: Goal,
        identity: &mut Identity,
    ) -> Result<(), kube::Error> {
        let annotations = self.object.annotations();
        let there = names.iter().all(|(key, value)| annotations.get(*key).is_some_and(|it| it == value));
        if !there && !identity.id_written && goal == Goal::Keep {
            let names = names.iter().map(|(key, value)| ((*key).to_owned(), Value::from(*value)));
            self.write(names.collect()).await?;
        }
        // The cache may show the annotation only later; when it has shown it and then does not, a user removed it.
        identity.id_written = !there;
        Ok(())
    }

    /// The annotation has this value, or is not on the object, as far as the cache shows.
    pub(crate) async fn keep(&self, annotation: &str, value: Option<&str>) -> Result<(), kube::Error> {
        if self.object.annotations().get(annotation).map(String::as_str) != value {
            self.write(json!({ annotation: value })).await?;
        }
        Ok(())
    }

    /// Takes the permission to adopt away once what it is about is this management cluster's: two that had each other's
    /// would take it from each other for ever.
    pub(crate) async fn forget_adoption(&self) -> Result<(), kube::Error> {
        if self.object.annotations().contains_key(ADOPT_FROM_ANNOTATION) {
            self.write(json!({ ADOPT_FROM_ANNOTATION: Value::Null })).await?;
        }
        Ok(())
    }

    async fn write(&self, annotations: Value) -> Result<(), kube::Error> {
        let metadata = json!({ "uid": self.object.uid(), "annotations": annotations });
        let patch = Patch::Merge(json!({ "metadata": metadata }));
        let params = PatchParams { field_manager: Some(self.manager.to_owned()), ..PatchParams::default() };
        self.api.patch_metadata(&self.object.name_any(), &params, &patch).await.map(drop)
    }
}
