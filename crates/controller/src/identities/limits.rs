//! Limits of an identity: instance profiles, regions, subnets. An absent list allows everything, except for names of EKS clusters: those
//! of a namespace begin with it.
//!
//! They apply when something new is used. Existing instances keep running.

use foo_api::FooClusterIdentitySpec;
use foo_api::identity::DEFAULT_IDENTITY;
use foo_model::Reason;
use foo_planner::desired::Blocked;
use std::collections::BTreeSet;

/// The limits of one identity.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Its name, for messages.
    identity: String,
    profiles: Option<Vec<String>>,
    regions: Option<BTreeSet<String>>,
    subnets: Option<BTreeSet<String>>,
    control_plane_names: Vec<String>,
    adoption: bool,
}

impl Limits {
    /// The limits in a spec.
    pub(super) fn of(name: &str, spec: &FooClusterIdentitySpec) -> Self {
        let set = |list: &Option<Vec<String>>| list.as_ref().map(|list| list.iter().cloned().collect());
        Self {
            identity: name.to_owned(),
            profiles: spec.allowed_instance_profiles.clone(),
            regions: set(&spec.allowed_regions),
            subnets: set(&spec.allowed_subnets),
            control_plane_names: spec.allowed_control_plane_names.clone().unwrap_or_default(),
            adoption: spec.allow_adoption,
        }
    }

    /// Whether a FooCluster in this region may use it.
    pub(super) fn region(&self, region: &str) -> Result<(), Blocked> {
        let allowed = self.regions.as_ref().is_none_or(|regions| regions.contains(region));
        self.check(allowed, Reason::IdentityNotAllowed, || format!("region {region:?}"))
    }

    /// Whether control planes may adopt EKS clusters. Without an identity nobody allows it.
    pub(crate) fn allow_adoption(&self) -> bool {
        self.adoption
    }

    /// Whether instances may get this instance profile.
    pub(crate) fn profile(&self, profile: &str) -> Result<(), Blocked> {
        let allowed =
            self.profiles.as_ref().is_none_or(|profiles| profiles.iter().any(|rule| fits(rule, profile)));
        self.check(allowed, Reason::InstanceProfileNotAllowed, || format!("instance profile {profile:?}"))
    }

    /// Whether the EKS cluster of a FooControlPlane in this namespace may have this name.
    pub(crate) fn control_plane_name(&self, namespace: &str, name: &str) -> Result<(), Blocked> {
        let own = format!("{namespace}_");
        if name.starts_with(&own) || self.control_plane_names.iter().any(|rule| fits(rule, name)) {
            return Ok(());
        }
        let identity = if self.identity.is_empty() { DEFAULT_IDENTITY } else { &self.identity };
        let message = format!(
            "the name of the EKS cluster, {name}, must begin with {own:?}, or with what allowedControlPlaneNames of FooClusterIdentity \
             {identity} allows"
        );
        Err(Blocked::new(Reason::ControlPlaneNameNotAllowed, message))
    }

    /// Whether pools may launch into all of these subnets.
    pub(crate) fn subnets<'a>(&self, mut subnets: impl Iterator<Item = &'a str>) -> Result<(), Blocked> {
        let Some(allowed) = &self.subnets else { return Ok(()) };
        match subnets.find(|subnet| !allowed.contains(*subnet)) {
            None => Ok(()),
            Some(other) => self.check(false, Reason::SubnetNotAllowed, || format!("subnet {other:?}")),
        }
    }

    /// Whether pools may launch into subnets that the provider is about to create, whose ids nobody knows yet.
    pub(crate) fn new_subnets(&self) -> Result<(), Blocked> {
        self.check(self.subnets.is_none(), Reason::SubnetNotAllowed, || {
            "subnets that the provider creates: it lists allowedSubnets".to_owned()
        })
    }

    fn check(&self, allowed: bool, reason: Reason, what: impl Fn() -> String) -> Result<(), Blocked> {
        if allowed {
            return Ok(());
        }
        let message = format!("FooClusterIdentity {} does not allow {}", self.identity, what());
        Err(Blocked::new(reason, message))
    }
}

/// Whether a name fits a rule, at the end of which a `*` stands for any text.
fn fits(rule: &str, name: &str) -> bool {
    match rule.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix),
        None => rule == name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn limits(fields: &Value) -> Limits {
        let mut spec = json!({"controller": {}});
        spec.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        Limits::of("team", &serde_json::from_value(spec).unwrap())
    }

    #[test]
    fn absent_lists_allow_everything() {
        let all = limits(&json!({}));
        assert!(all.profile("admin").is_ok() && all.region("eu-central-1").is_ok());
        assert!(all.subnets(["subnet-1"].into_iter()).is_ok());
    }

    #[test]
    fn adoption_is_allowed_in_words_only() {
        assert!(!Limits::default().allow_adoption());
        assert!(!limits(&json!({})).allow_adoption());
        assert!(limits(&json!({"allowAdoption": true})).allow_adoption());
    }

    #[test]
    fn an_instance_profile_is_allowed_by_its_name_or_by_how_it_begins() {
        let some = limits(&json!({"allowedInstanceProfiles": ["workers", "team-a-*"]}));
        for good in ["workers", "team-a-", "team-a-gpu"] {
            assert_eq!(some.profile(good), Ok(()), "{good}");
        }
        for bad in ["workers2", "team-b", "team-a", "admin", "*"] {
            let blocked = some.profile(bad).unwrap_err();
            assert_eq!(blocked.reason, Reason::InstanceProfileNotAllowed);
            assert!(
                blocked
                    .message
                    .contains(&format!("FooClusterIdentity team does not allow instance profile {bad:?}"))
            );
        }
        assert!(limits(&json!({"allowedInstanceProfiles": []})).profile("any").is_err());
        assert!(limits(&json!({"allowedInstanceProfiles": ["*"]})).profile("any").is_ok());
    }

    #[test]
    fn the_name_of_an_eks_cluster_begins_with_its_namespace_unless_it_is_listed() {
        let none = limits(&json!({}));
        let some = limits(&json!({"allowedControlPlaneNames": ["prod", "shared-*"]}));
        for good in ["team-a_blue", "team-a_"] {
            assert_eq!(none.control_plane_name("team-a", good), Ok(()), "{good}");
            assert_eq!(some.control_plane_name("team-a", good), Ok(()), "{good}");
        }
        for listed in ["prod", "shared-1"] {
            assert_eq!(some.control_plane_name("team-a", listed), Ok(()), "{listed}");
            let blocked = none.control_plane_name("team-a", listed).unwrap_err();
            assert_eq!(blocked.reason, Reason::ControlPlaneNameNotAllowed);
        }
        for bad in ["team-b_blue", "team-a", "team-ab_blue", "prod2"] {
            assert!(some.control_plane_name("team-a", bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn new_subnets_are_allowed_where_all_are() {
        assert_eq!(limits(&json!({})).new_subnets(), Ok(()));
        let blocked = limits(&json!({"allowedSubnets": ["subnet-1"]})).new_subnets().unwrap_err();
        assert_eq!(blocked.reason, Reason::SubnetNotAllowed);
        assert!(blocked.message.contains("subnets that the provider creates"), "{}", blocked.message);
    }

    #[test]
    fn every_subnet_must_be_allowed() {
        let some = limits(&json!({"allowedSubnets": ["subnet-1", "subnet-2"]}));
        assert_eq!(some.subnets(["subnet-2", "subnet-1"].into_iter()), Ok(()));
        let blocked = some.subnets(["subnet-1", "subnet-3"].into_iter()).unwrap_err();
        assert_eq!(blocked.reason, Reason::SubnetNotAllowed);
        assert!(blocked.message.contains("\"subnet-3\""), "{}", blocked.message);
    }
}
