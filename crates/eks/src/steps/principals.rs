//! The principals that get access, and whether their roles exist. EKS binds an entry to the unique id of its role.

use crate::draft::{Draft, Weight};
use crate::report::ConditionKind;
use crate::situation::Situation;
use crate::timing::MISSING;
use foo_model::eks::{AccessPolicy, AccessScope, EntryKind, Query, QueryResult, Role};
use foo_model::{AwsTime, Reason};
use std::collections::{BTreeMap, BTreeSet};

const KIND: ConditionKind = ConditionKind::AccessReady;

/// An entry that is to exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) kind: EntryKind,
    pub(crate) username: Option<String>,
    pub(crate) groups: BTreeSet<String>,
    /// `None`: an entry of this type has none.
    pub(crate) policies: Option<BTreeSet<AccessPolicy>>,
    /// Whether other policies are taken off.
    pub(crate) only_these: bool,
    /// Whether pools have this role, whose instances an entry of this type gives no access.
    pub(crate) contested: bool,
    pub(crate) identity: Identity,
}

/// What is known of a principal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Identity {
    /// AWS is being asked.
    Unknown,
    /// A role that does not exist.
    Missing,
    /// A role: its unique id, and when it was created.
    Role { unique_id: String, created: AwsTime },
    /// A user, or a role of another account: IAM cannot be asked.
    Elsewhere,
}

impl Identity {
    fn of(role: &Role) -> Self {
        Self::Role { unique_id: role.unique_id.clone(), created: role.created }
    }
}

/// The principals that get access, and whether that list is complete.
pub(crate) struct Principals {
    pub(crate) wanted: BTreeMap<String, Wanted>,
    /// Whether the role behind every instance profile is known.
    pub(crate) nodes_known: bool,
}

pub(crate) fn principals(situation: &Situation<'_>, draft: &mut Draft) -> Principals {
    let desired = situation.desired;
    let mut wanted = BTreeMap::new();
    for (principal, entry) in &desired.entries {
        let identity = identity(situation, draft, principal);
        let standard = entry.kind == EntryKind::Standard;
        let policies = (standard || !entry.policies.is_empty()).then(|| one_scope_each(&entry.policies));
        let entry = Wanted {
            kind: entry.kind,
            username: entry.username.clone(),
            groups: entry.groups.clone(),
            policies,
            only_these: true,
            contested: false,
            identity,
        };
        wanted.insert(principal.clone(), entry);
    }
    if let Some(own) = &desired.own_principal {
        let identity = identity(situation, draft, own);
        let entry = wanted.entry(own.clone()).or_insert_with(|| plain(EntryKind::Standard, identity));
        let policies = entry.policies.get_or_insert_default();
        policies.insert(administrator(&desired.partition));
        *policies = one_scope_each(policies);
    }
    let nodes_known = nodes(situation, draft, &mut wanted);
    Principals { wanted, nodes_known }
}

fn plain(kind: EntryKind, identity: Identity) -> Wanted {
    let (groups, only_these) = (BTreeSet::new(), false);
    Wanted { kind, username: None, groups, policies: None, only_these, contested: false, identity }
}

/// EKS keeps one scope of each policy (EKS API Reference, "AssociateAccessPolicy"): the widest, so that two are not rewritten in turn.
fn one_scope_each(policies: &BTreeSet<AccessPolicy>) -> BTreeSet<AccessPolicy> {
    let mut scopes: BTreeMap<&str, AccessScope> = BTreeMap::new();
    for AccessPolicy { arn, scope } in policies {
        let wider = match (scopes.remove(arn.as_str()), scope) {
            (Some(AccessScope::Namespaces(some)), AccessScope::Namespaces(more)) => {
                AccessScope::Namespaces(some.union(more).cloned().collect())
            }
            (Some(AccessScope::Cluster), _) | (_, AccessScope::Cluster) => AccessScope::Cluster,
            (None, AccessScope::Namespaces(some)) => AccessScope::Namespaces(some.clone()),
        };
        scopes.insert(arn, wider);
    }
    scopes.into_iter().map(|(arn, scope)| AccessPolicy { arn: arn.to_owned(), scope }).collect()
}

/// The policy that lets us do everything in the cluster.
pub(crate) fn administrator(partition: &str) -> AccessPolicy {
    let arn = format!("arn:{partition}:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy");
    AccessPolicy { arn, scope: AccessScope::Cluster }
}

/// The roles of the pools' instances.
fn nodes(situation: &Situation<'_>, draft: &mut Draft, wanted: &mut BTreeMap<String, Wanted>) -> bool {
    let mut known = true;
    for name in &situation.desired.node_profiles {
        let query = Query::InstanceProfile(name.clone());
        let Some(QueryResult::InstanceProfile(response)) = draft.read(situation, KIND, &query) else {
            known = false;
            continue;
        };
        match response.as_ref().map(|profile| &profile.role) {
            Some(Some(role)) => {
                let identity = Identity::of(role);
                let entry =
                    wanted.entry(role.arn.clone()).or_insert_with(|| plain(EntryKind::Ec2Linux, identity));
                if !lets_instances_in(entry.kind) {
                    entry.contested = true;
                    known = false;
                    say_contested(draft, &role.arn, name, entry.kind);
                }
            }
            other => {
                known = false;
                let what = if other.is_some() { "has no role" } else { "does not exist" };
                let message = format!("the instance profile {name} {what}");
                missing(situation, draft, &query, message);
            }
        }
    }
    known
}

fn lets_instances_in(kind: EntryKind) -> bool {
    match kind {
        EntryKind::Ec2Linux | EntryKind::Ec2Windows | EntryKind::Ec2 => true,
        EntryKind::Standard | EntryKind::FargateLinux | EntryKind::HybridLinux | EntryKind::HyperpodLinux => {
            false
        }
    }
}

/// A role has one entry, of one type. The one that exists stays: without it either the nodes or the others would be locked out.
fn say_contested(draft: &mut Draft, role: &str, profile: &str, kind: EntryKind) {
    let kind: &str = kind.into();
    let message = format!(
        "the role {role} of the instance profile {profile} needs an entry of type EC2_LINUX, and is to have one of type \
         {kind}: instances need a role of their own"
    );
    draft.note(KIND, Weight::Failed, Reason::AccessDiffers, message);
}

/// What IAM knows of a principal.
fn identity(situation: &Situation<'_>, draft: &mut Draft, principal: &str) -> Identity {
    let Some(name) = role_name(situation, principal) else { return Identity::Elsewhere };
    let query = Query::Role(name);
    // Without the right to read roles, entries are made all the same.
    if situation.observed.failed.contains_key(&query) && !situation.shown.contains_key(&query) {
        draft.read(situation, KIND, &query);
        return Identity::Elsewhere;
    }
    match draft.read(situation, KIND, &query) {
        // IAM's names are unique whatever their case, and the path is part of the ARN.
        Some(QueryResult::Role(Some(role))) if role.arn == principal => Identity::of(role),
        Some(QueryResult::Role(_)) => {
            missing(situation, draft, &query, format!("the role {principal} does not exist"));
            Identity::Missing
        }
        _ => Identity::Unknown,
    }
}

fn missing(situation: &Situation<'_>, draft: &mut Draft, query: &Query, message: String) {
    draft.note(KIND, Weight::Failed, Reason::PrincipalNotFound, message);
    draft.request_read(query, situation.touched(query).plus(MISSING));
}

/// The name of a role of the cluster's account.
fn role_name(situation: &Situation<'_>, principal: &str) -> Option<String> {
    let mut parts = principal.splitn(6, ':').skip(4);
    let account = parts.next()?;
    let path = parts.next()?.strip_prefix("role/")?;
    let own = situation.account().is_none_or(|it| it == account);
    own.then(|| path.rsplit('/').next().unwrap_or(path).to_owned())
}
