//! Questions about one object of a domain that consists of calls of AWS.

use super::objects::{check, insert, is_of, not_planned, parse};
use foo_api::plan::FooPlan;
use foo_model::names::{
    ADOPT_FROM_ANNOTATION, ADOPTED_ANNOTATION, APPLIED_ANNOTATION, CONTROL_PLANE_ID_ANNOTATION,
    EKS_NAME_ANNOTATION, NETWORK_ID_ANNOTATION,
};
use kube::{Resource, ResourceExt};
use kube_runtime::reflector::{ObjectRef, Store};
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::sync::Arc;

/// An object, as it is and as it is planned.
pub(crate) struct Changed<K> {
    /// As it is.
    pub(crate) present: Arc<K>,
    /// As it is planned. What users do not decide is as it is.
    pub(crate) planned: Arc<K>,
}

impl<K> Changed<K>
where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + 'static,
{
    /// What a FooPlan asks about an object of this kind, or why there can be no plan. `None`: the object may be one of
    /// another manager, which this one does not see (`is_filtered`).
    ///
    /// The content of a FooPlan is not validated: its author could claim another object's identity, and with it what is
    /// known of what another tenant has. `trusted` makes the planned object from what is asked and what is present.
    pub(crate) fn of(
        plan: &FooPlan,
        present: &Store<K>,
        is_filtered: bool,
        trusted: impl FnOnce(K, &K) -> Result<K, String>,
    ) -> Result<Option<Self>, String> {
        let namespace = plan.namespace().unwrap_or_default();
        let mut planned = None;
        for object in &plan.spec.objects {
            check(object, &namespace)?;
            if !is_of::<K>(object) {
                return Err(not_planned(object));
            }
            insert(&mut planned, parse::<K>(object, &namespace)?)?;
        }
        let Some(planned) = planned else { return Ok(None) };
        let (kind, name) = (K::kind(&()), planned.name_any());
        let Some(present) = present.get(&ObjectRef::new(&name).within(&namespace)) else {
            if is_filtered {
                return Ok(None);
            }
            return Err(format!(
                "there is no {kind} {name} in namespace {namespace}; one is planned only once it and its Cluster exist"
            ));
        };
        if present.meta().deletion_timestamp.is_some() {
            return Err(format!("{kind} {name} is being deleted"));
        }
        let planned = Arc::new(trusted(planned, &present)?);
        Ok(Some(Self { present, planned }))
    }
}

/// Annotations that only the provider, or whoever may move clusters (`deploy/policy/adoption.yaml`), sets: they show what an
/// object has in AWS, and what it may take over.
const NOT_OF_USERS: [&str; 6] = [
    ADOPT_FROM_ANNOTATION,
    ADOPTED_ANNOTATION,
    APPLIED_ANNOTATION,
    CONTROL_PLANE_ID_ANNOTATION,
    EKS_NAME_ANNOTATION,
    NETWORK_ID_ANNOTATION,
];

/// The annotations of a planned object; those that users do not set are as they are.
pub(crate) fn trusted_annotations(
    planned: Option<BTreeMap<String, String>>,
    present: Option<&impl ResourceExt>,
) -> BTreeMap<String, String> {
    let mut annotations = planned.unwrap_or_default();
    for name in NOT_OF_USERS {
        match present.and_then(|present| present.annotations().get(name)) {
            Some(value) => drop(annotations.insert(name.to_owned(), value.clone())),
            None => drop(annotations.remove(name)),
        }
    }
    annotations
}
