//! Limits of an identity: which regions, roles, subnets and so on objects that use it may name. What there is a limit
//! for, and what an absent list means, is in the table of [`foo_api::in_aws`].
//!
//! They apply when something new is used. Existing instances keep running.

use foo_api::FooClusterIdentitySpec;
use foo_api::identity::DEFAULT_IDENTITY;
use foo_api::in_aws::{Absent, Limit, NAMESPACE, ROWS, Thing, is_about};
use foo_model::{Blocked, Reason};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The lists of one identity.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lists {
    /// Its name, for messages.
    identity: String,
    by_thing: BTreeMap<Thing, Vec<String>>,
    users: Users,
    adoption: bool,
}

/// Who may use an identity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Users {
    /// Exactly one namespace, which its spec names.
    One,
    /// Several namespaces, or whichever have certain labels.
    #[default]
    Several,
}

/// What the teams of several namespaces expect of each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Trust {
    /// Namespaces belong to teams that trust each other.
    #[default]
    Each,
    /// Namespaces belong to different teams (`--require-identity`).
    None,
}

/// The limits of one identity for one namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    lists: Arc<Lists>,
    namespace: String,
    trust: Trust,
}

impl Lists {
    /// The lists in a spec.
    pub(crate) fn of(name: &str, spec: &FooClusterIdentitySpec) -> Self {
        let things = ROWS.iter().map(|row| row.thing);
        let lists = things.filter_map(|thing| Some((thing, spec.allowed(thing)?.to_vec())));
        let rule = spec.allowed_namespaces.as_ref();
        let named = rule.filter(|rule| rule.selector.is_none()).and_then(|rule| rule.list.as_deref());
        Self {
            identity: name.to_owned(),
            by_thing: lists.collect(),
            adoption: spec.allow_adoption,
            users: if matches!(named, Some([_])) { Users::One } else { Users::Several },
        }
    }
}

impl Limits {
    pub(super) fn new(lists: Arc<Lists>, namespace: &str, trust: Trust) -> Self {
        Self { lists, namespace: namespace.to_owned(), trust }
    }

    /// Whether a FooCluster in this region may use it.
    pub(super) fn region(&self, region: &str) -> Result<(), Blocked> {
        self.check(Thing::Region, region, Reason::IdentityNotAllowed, "region")
    }

    /// Whether control planes may adopt EKS clusters, and pools groups. Without an identity it is not allowed.
    pub(crate) fn allow_adoption(&self) -> bool {
        self.lists.adoption
    }

    /// Whether the EKS cluster of a FooControlPlane may have this name.
    pub(crate) fn control_plane_name(&self, name: &str) -> Result<(), Blocked> {
        let own = format!("{}_", self.namespace);
        if name.starts_with(&own) || self.lists(Thing::ControlPlane, name) {
            return Ok(());
        }
        let identity = match self.lists.identity.as_str() {
            "" => DEFAULT_IDENTITY,
            named => named,
        };
        let message = format!(
            "the name of the EKS cluster, {name}, must begin with {own:?}, or with what allowedControlPlaneNames of FooClusterIdentity \
             {identity} allows"
        );
        Err(Blocked::new(Reason::ControlPlaneNameNotAllowed, message))
    }

    /// Whether instances may get this instance profile.
    pub(crate) fn profile(&self, profile: &str) -> Result<(), Blocked> {
        self.check(Thing::InstanceProfile, profile, Reason::InstanceProfileNotAllowed, "instance profile")
    }

    /// Whether EKS, an add-on, pods or a lifecycle hook may get this role.
    pub(crate) fn role(&self, arn: &str) -> Result<(), Blocked> {
        self.check(Thing::Role, arn, Reason::RoleNotAllowed, "role")
    }

    /// Whether FooClusters may have their networks in this VPC.
    pub(crate) fn vpc(&self, id: &str) -> Result<(), Blocked> {
        self.check(Thing::Vpc, id, Reason::VpcNotAllowed, "VPC")
    }

    /// Whether instances or control planes may be in all of these security groups, or rules name them.
    pub(crate) fn security_groups<'a>(&self, ids: impl IntoIterator<Item = &'a str>) -> Result<(), Blocked> {
        let mut ids = ids.into_iter();
        let reason = Reason::SecurityGroupNotAllowed;
        ids.try_for_each(|id| self.check(Thing::SecurityGroup, id, reason, "security group"))
    }

    /// Whether something may be encrypted with this key.
    pub(crate) fn kms_key(&self, key: &str) -> Result<(), Blocked> {
        self.check(Thing::KmsKey, key, Reason::KmsKeyNotAllowed, "KMS key")
    }

    /// Whether instances may get this key pair.
    pub(crate) fn key_pair(&self, name: &str) -> Result<(), Blocked> {
        self.check(Thing::KeyPair, name, Reason::KeyPairNotAllowed, "key pair")
    }

    /// Whether pools may be attached to this Classic Load Balancer. The list of target groups has its name.
    pub(crate) fn classic_load_balancer(&self, name: &str) -> Result<(), Blocked> {
        self.check(Thing::TargetGroup, name, Reason::TargetGroupNotAllowed, "Classic Load Balancer")
    }

    /// Whether pools may be attached to this target group.
    pub(crate) fn target_group(&self, arn: &str) -> Result<(), Blocked> {
        self.check(Thing::TargetGroup, arn, Reason::TargetGroupNotAllowed, "target group")
    }

    /// Whether EC2 Auto Scaling may send messages about pools to this topic or queue.
    pub(crate) fn notification_target(&self, arn: &str) -> Result<(), Blocked> {
        let reason = Reason::NotificationTargetNotAllowed;
        self.check(Thing::NotificationTarget, arn, reason, "notification target")
    }

    /// Whether pools may keep user data in this bucket.
    pub(crate) fn bucket(&self, name: &str) -> Result<(), Blocked> {
        self.check(Thing::Bucket, name, Reason::BucketNotAllowed, "bucket")
    }

    /// Whether pools may launch into this placement group, reservation or resource group, or use this license configuration.
    pub(crate) fn capacity(&self, name: &str) -> Result<(), Blocked> {
        self.check(Thing::Capacity, name, Reason::CapacityNotAllowed, "capacity")
    }

    /// Whether pools may create volumes from this snapshot.
    pub(crate) fn snapshot(&self, id: &str) -> Result<(), Blocked> {
        self.check(Thing::Snapshot, id, Reason::SnapshotNotAllowed, "snapshot")
    }

    /// Whether pools may launch into all of these subnets.
    pub(crate) fn subnets<'a>(&self, ids: impl IntoIterator<Item = &'a str>) -> Result<(), Blocked> {
        let mut ids = ids.into_iter();
        ids.try_for_each(|id| self.check(Thing::Subnet, id, Reason::SubnetNotAllowed, "subnet"))
    }

    /// Whether pools may launch into subnets that the provider is about to create, whose ids are unknown yet.
    pub(crate) fn new_subnets(&self) -> Result<(), Blocked> {
        if !self.lists.by_thing.contains_key(&Thing::Subnet) {
            return Ok(());
        }
        let what = "subnets that the provider creates: it lists allowedSubnets";
        Err(self.refused(Reason::SubnetNotAllowed, what))
    }

    /// The namespace that they are for.
    pub(super) fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Whether a list names this.
    pub(super) fn lists(&self, thing: Thing, name: &str) -> bool {
        let list = self.lists.by_thing.get(&thing);
        list.is_some_and(|list| list.iter().any(|entry| is_about(entry, &self.namespace, name)))
    }

    fn check(&self, thing: Thing, name: &str, reason: Reason, what: &str) -> Result<(), Blocked> {
        if !self.lists.by_thing.contains_key(&thing) {
            return match (self.trust, self.lists.users, thing.absent()) {
                (Trust::None, Users::Several, Absent::NoneIfShared) => {
                    Err(self.unlisted(thing, name, reason, what))
                }
                // Those of others are in `neighbours`.
                (
                    Trust::Each | Trust::None,
                    Users::One | Users::Several,
                    Absent::Any | Absent::NotOfOthers | Absent::OwnNames | Absent::NoneIfShared,
                ) => Ok(()),
            };
        }
        if self.lists(thing, name) {
            return Ok(());
        }
        Err(self.refused(reason, &format!("{what} {name:?}")))
    }

    fn unlisted(&self, thing: Thing, name: &str, reason: Reason, what: &str) -> Blocked {
        let field = match thing.row().map(|row| row.limit) {
            Some(Limit::Listed { field, .. }) => field,
            Some(Limit::Open { .. }) | None => "a list",
        };
        let why = format!(
            "{what} {name:?}: several namespaces may use it, and the manager runs with --require-identity, so it has to list what each may \
             name ({field}, in which {NAMESPACE} stands for the namespace)"
        );
        self.refused(reason, &why)
    }

    fn refused(&self, reason: Reason, what: &str) -> Blocked {
        Blocked::new(reason, format!("FooClusterIdentity {} does not allow {what}", self.lists.identity))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn limits(fields: &Value) -> Limits {
        let mut spec = json!({"controller": {}});
        spec.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let lists = Lists::of("team", &serde_json::from_value(spec).unwrap());
        Limits::new(Arc::new(lists), "team-a", Trust::Each)
    }

    /// Every limit with a name that has nothing to do with the namespace.
    fn all(limits: &Limits) -> BTreeMap<&'static str, Result<(), Blocked>> {
        BTreeMap::from([
            ("allowedRegions", limits.region("eu-central-1")),
            ("allowedInstanceProfiles", limits.profile("admin")),
            ("allowedRoles", limits.role("arn:aws:iam::1:role/admin")),
            ("allowedVPCs", limits.vpc("vpc-1")),
            ("allowedSubnets", limits.subnets(["subnet-1"])),
            ("allowedSecurityGroups", limits.security_groups(["sg-1"])),
            ("allowedKMSKeys", limits.kms_key("alias/admin")),
            ("allowedKeyPairs", limits.key_pair("admin")),
            (
                "allowedTargetGroups",
                limits.target_group("arn:aws:elasticloadbalancing:eu:1:targetgroup/web/1"),
            ),
            ("allowedNotificationTargets", limits.notification_target("arn:aws:sns:eu:1:admin")),
            ("allowedBuckets", limits.bucket("admin")),
            ("allowedCapacity", limits.capacity("admin")),
            ("allowedSnapshots", limits.snapshot("snap-1")),
        ])
    }

    #[test]
    fn each_list_of_the_table_is_enforced() {
        let listed = |row: &foo_api::in_aws::Row| match row.limit {
            Limit::Listed { field, .. } => Some(field),
            Limit::Open { .. } => None,
        };
        let fields = ROWS.iter().filter_map(listed);
        // A test of its own has the names of EKS clusters: without a list they are limited, too.
        let fields: Vec<&str> = fields.filter(|field| *field != "allowedControlPlaneNames").collect();
        assert_eq!(all(&limits(&json!({}))).len(), fields.len(), "one check for each list");
        for field in fields {
            let results = all(&limits(&json!({ field: ["other"] })));
            for (checked, result) in results {
                assert_eq!(result.is_err(), checked == field, "{field}: {checked} {result:?}");
            }
        }
    }

    #[test]
    fn an_entry_can_have_the_namespace_so_that_one_identity_serves_several() {
        let some = limits(
            &json!({"allowedRoles": ["arn:aws:iam::1:role/{namespace}/*"], "allowedBuckets": ["data-{namespace}"]}),
        );
        assert_eq!(some.role("arn:aws:iam::1:role/team-a/pods"), Ok(()));
        let blocked = some.role("arn:aws:iam::1:role/team-b/pods").unwrap_err();
        assert_eq!(blocked.reason, Reason::RoleNotAllowed);
        assert_eq!((some.bucket("data-team-a"), some.bucket("data-team-b").is_err()), (Ok(()), true));
    }

    #[test]
    fn where_teams_do_not_trust_each_other_a_shared_identity_has_to_list_roles() {
        let of = |namespaces: Value, trust| {
            let mut spec = json!({"controller": {}});
            spec["allowedNamespaces"] = namespaces;
            let lists = Lists::of("team", &serde_json::from_value(spec).unwrap());
            let refused = all(&Limits::new(Arc::new(lists), "team-a", trust));
            refused.into_iter().filter(|(_, result)| result.is_err()).collect::<Vec<_>>()
        };
        assert_eq!(of(json!({"list": ["team-a"]}), Trust::None), []);
        let labels = json!({"list": ["team-a"], "selector": {"matchLabels": {"a": "b"}}});
        for several in [json!({}), json!({"list": ["team-a", "team-b"]}), labels] {
            assert_eq!(of(several.clone(), Trust::Each), []);
            let refused = of(several, Trust::None);
            let fields: Vec<_> = refused.iter().map(|(field, _)| *field).collect();
            assert_eq!(
                fields,
                [
                    "allowedInstanceProfiles",
                    "allowedNotificationTargets",
                    "allowedRoles",
                    "allowedSnapshots",
                    "allowedTargetGroups"
                ]
            );
            let message = &refused[2].1.as_ref().unwrap_err().message;
            assert!(message.contains("it has to list") && message.contains("allowedRoles"), "{message}");
        }
    }

    #[test]
    fn absent_lists_allow_everything() {
        let all = limits(&json!({}));
        assert!(all.profile("admin").is_ok() && all.region("eu-central-1").is_ok());
        assert!(all.subnets(["subnet-1"]).is_ok());
    }

    #[test]
    fn adoption_is_allowed_explicitly_only() {
        assert!(!Limits::default().allow_adoption());
        assert!(!limits(&json!({})).allow_adoption());
        assert!(limits(&json!({"allowAdoption": true})).allow_adoption());
    }

    #[test]
    fn the_name_of_an_eks_cluster_begins_with_its_namespace_unless_it_is_listed() {
        let none = limits(&json!({}));
        let some = limits(&json!({"allowedControlPlaneNames": ["prod", "shared-*"]}));
        for good in ["team-a_blue", "team-a_"] {
            assert_eq!(none.control_plane_name(good), Ok(()), "{good}");
            assert_eq!(some.control_plane_name(good), Ok(()), "{good}");
        }
        for listed in ["prod", "shared-1"] {
            assert_eq!(some.control_plane_name(listed), Ok(()), "{listed}");
            let blocked = none.control_plane_name(listed).unwrap_err();
            assert_eq!(blocked.reason, Reason::ControlPlaneNameNotAllowed);
        }
        for bad in ["team-b_blue", "team-a", "team-ab_blue", "prod2"] {
            assert!(some.control_plane_name(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn an_instance_profile_is_allowed_by_its_name_or_prefix() {
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
    fn new_subnets_are_allowed_where_all_are() {
        assert_eq!(limits(&json!({})).new_subnets(), Ok(()));
        let blocked = limits(&json!({"allowedSubnets": ["subnet-1"]})).new_subnets().unwrap_err();
        assert_eq!(blocked.reason, Reason::SubnetNotAllowed);
        assert!(blocked.message.contains("subnets that the provider creates"), "{}", blocked.message);
    }

    #[test]
    fn every_subnet_must_be_allowed() {
        let some = limits(&json!({"allowedSubnets": ["subnet-1", "subnet-2"]}));
        assert_eq!(some.subnets(["subnet-2", "subnet-1"]), Ok(()));
        let blocked = some.subnets(["subnet-1", "subnet-3"]).unwrap_err();
        assert_eq!(blocked.reason, Reason::SubnetNotAllowed);
        assert!(blocked.message.contains("\"subnet-3\""), "{}", blocked.message);
    }
}
