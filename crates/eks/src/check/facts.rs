//! What the responses and the memory say, read without the planner's help.

use crate::{Desired, Memory, Observed, Recorded};
use foo_model::eks::{
    AddonChange, Change, Cluster, ClusterStatus, EntryChange, PodIdentity, Query, QueryResult, TagChange,
    UpdateStatus,
};
use foo_model::names::{TAG_CLUSTER, TAG_CONTROL_PLANE, TAG_INSTALLATION};
use foo_model::network::Tags;
use foo_model::{Adoption, AwsTime, Maintenance};

/// The inputs of a plan.
pub(super) struct Facts<'a> {
    pub(super) desired: &'a Desired,
    observed: &'a Observed,
    /// The newer of status and memory.
    pub(super) recorded: &'a Recorded,
    memory: &'a Memory,
}

/// Whether the tags name this control plane and this management cluster.
pub(super) fn has_our_tags(desired: &Desired, tags: &Tags) -> bool {
    tags.get(TAG_CONTROL_PLANE) == Some(&desired.id)
        && tags.get(TAG_INSTALLATION) == Some(&desired.installation)
}

impl<'a> Facts<'a> {
    pub(super) fn new(
        desired: &'a Desired,
        observed: &'a Observed,
        recorded: &'a Recorded,
        memory: &'a Memory,
    ) -> Self {
        Self { desired, observed, recorded: memory.calls.record.as_ref().unwrap_or(recorded), memory }
    }

    fn response(&self, query: &Query) -> Option<&'a QueryResult> {
        self.observed.reads.get(query).map(|read| &read.response)
    }

    fn done(&self) -> impl Iterator<Item = &'a Change> {
        self.memory.calls.effects.iter().map(|effect| &effect.action.change)
    }

    /// The cluster as the newest read shows it, or the response to the provider's creation of it.
    pub(super) fn cluster(&self) -> Option<&'a Cluster> {
        let mut created =
            self.memory.calls.effects.iter().filter_map(|effect| effect.response.cluster.as_deref());
        let shown = self.response(&Query::Cluster(self.desired.name.clone()));
        if let Some(QueryResult::Cluster(Some(cluster))) = shown {
            Some(cluster)
        } else {
            created.next_back()
        }
    }

    /// The tags of the cluster after our calls.
    fn tags(&self) -> Option<Tags> {
        let mut tags = self.cluster()?.tags.clone();
        for change in self.done() {
            if let Change::Tags { change: TagChange::Tag(new), .. } = change {
                tags.extend(new.clone());
            }
        }
        Some(tags)
    }

    pub(super) fn is_own(&self) -> bool {
        self.tags().is_some_and(|tags| {
            let other = tags.get(TAG_INSTALLATION).is_some_and(|it| *it != self.desired.installation);
            has_our_id(self.desired, &tags) && !other
        })
    }

    /// Whether the cluster may be tagged as the provider's: another management cluster gave it up, or it has no owner, the identity allows its
    /// adoption, and so does the owner of the account.
    pub(super) fn may_adopt(&self) -> bool {
        let Some(tags) = self.tags() else { return false };
        let other = tags.get(TAG_INSTALLATION).filter(|it| **it != self.desired.installation);
        if has_our_id(self.desired, &tags) {
            return other.is_none() || other == self.desired.adopt_from.as_ref();
        }
        let has_owner = tags.contains_key(TAG_CONTROL_PLANE) || other.is_some();
        let consent = tags.get("infrastructure.foo.com/adoptable") == Some(&self.desired.cluster);
        !has_owner && consent && self.desired.adoption == Adoption::Allowed
    }

    pub(super) fn was_adopted(&self) -> bool {
        let by_tag = self.tags().is_some_and(|tags| tags.contains_key("infrastructure.foo.com/adopted"));
        by_tag || self.recorded.adopted
    }

    /// AWS was asked, and shows no cluster of that name.
    pub(super) fn is_absent(&self) -> bool {
        matches!(self.response(&Query::Cluster(self.desired.name.clone())), Some(QueryResult::Cluster(None)))
    }

    /// EKS is not known to carry out an update.
    pub(super) fn is_idle(&self) -> bool {
        let moving = self.cluster().is_some_and(|cluster| {
            !self.is_absent() && !matches!(cluster.status, ClusterStatus::Active | ClusterStatus::Failed)
        });
        !moving
            && self.recorded.update.as_ref().is_none_or(|update| match &update.id {
                Some(id) => self.is_over(id),
                None => self.memory.calls.failures.iter().any(|failure| {
                    failure.action.change.updates_cluster() && !failure.lost && failure.at >= update.since
                }),
            })
    }

    fn is_over(&self, id: &str) -> bool {
        let query = Query::Update { cluster: self.desired.name.clone(), id: id.to_owned(), addon: None };
        let Some(QueryResult::Update(Some(update))) = self.response(&query) else { return false };
        update.status != UpdateStatus::InProgress
    }

    pub(super) fn shows_addon(&self, name: &str) -> bool {
        self.is_listed(&Query::Addons(self.desired.name.clone()), name)
            && matches!(self.response(&self.addon(name)), Some(QueryResult::Addon(Some(_))))
            && !self.done().any(|it| {
                matches!(it, Change::Addon { name: of, change: AddonChange::Delete { .. }, .. } if of == name)
            })
    }

    pub(super) fn shows_entry(&self, principal: &str) -> bool {
        self.is_listed(&Query::AccessEntries(self.desired.name.clone()), principal)
            && matches!(self.response(&self.entry(principal)), Some(QueryResult::AccessEntry(Some(_))))
            && !self.done().any(|it| {
                matches!(it, Change::Entry { principal: of, change: EntryChange::Delete, .. } if of == principal)
            })
    }

    /// Whether a list does not say otherwise.
    fn is_listed(&self, list: &Query, name: &str) -> bool {
        !matches!(self.response(list), Some(QueryResult::Names(names)) if !names.contains(name))
    }

    /// Whether a maintenance window is open for certain.
    pub(super) fn is_in_window(&self) -> bool {
        match self.desired.maintenance {
            Maintenance::Always => true,
            Maintenance::Window { opens, closes } => {
                (opens..closes).contains(&self.observed.now) && self.observed.clocks.proves_ages()
            }
            Maintenance::Unusable(_) => false,
        }
    }

    /// The version that an add-on has, by the newest read of it.
    pub(super) fn addon_version(&self, name: &str) -> Option<&'a str> {
        let Some(QueryResult::Addon(Some(addon))) = self.response(&self.addon(name)) else { return None };
        Some(&addon.version)
    }

    /// Whether a newer Kubernetes version is requested than the cluster is known to run.
    pub(super) fn is_to_be_upgraded(&self) -> bool {
        self.cluster().is_some_and(|cluster| cluster.version < self.desired.version)
    }

    /// EKS was asked, and offers the new version of an add-on for the cluster's Kubernetes version, and not the present one.
    pub(super) fn offers_instead(&self, addon: &str, present: &str, new: &str) -> bool {
        let Some(cluster) = self.cluster() else { return false };
        let query = Query::AddonReleases { addon: addon.to_owned(), kubernetes: cluster.version };
        let Some(QueryResult::AddonReleases(all)) = self.response(&query) else { return false };
        let offers = |version: &str| all.iter().any(|it| it.version == version);
        offers(new) && !offers(present)
    }

    fn addon(&self, name: &str) -> Query {
        Query::Addon { cluster: self.desired.name.clone(), name: name.to_owned() }
    }

    fn entry(&self, principal: &str) -> Query {
        Query::AccessEntry { cluster: self.desired.name.clone(), principal: principal.to_owned() }
    }

    pub(super) fn is_our_addon(&self, name: &str) -> bool {
        let response = self.response(&self.addon(name));
        let shown =
            matches!(response, Some(QueryResult::Addon(Some(it))) if has_our_id(self.desired, &it.tags));
        let created = |it: &Change| matches!(it, Change::Addon { name: of, change: AddonChange::Create(..), .. } if of == name);
        shown || self.done().any(created)
    }

    pub(super) fn is_our_entry(&self, principal: &str) -> bool {
        let response = self.response(&self.entry(principal));
        let shown = matches!(response, Some(QueryResult::AccessEntry(Some(it))) if has_our_id(self.desired, &it.tags));
        shown
            || self.done().any(|it| {
                matches!(it, Change::Entry { principal: of, change: EntryChange::Create(_), .. } if of == principal)
            })
    }

    pub(super) fn is_our_identity(&self, id: &str) -> bool {
        let query = Query::PodIdentity { cluster: self.desired.name.clone(), id: id.to_owned() };
        let is_own = |one: &Vec<PodIdentity>| one.iter().any(|it| has_our_id(self.desired, &it.tags));
        let shown = matches!(self.response(&query), Some(QueryResult::PodIdentities(one)) if is_own(one));
        shown || self.memory.calls.effects.iter().any(|effect| effect.response.id.as_deref() == Some(id))
    }

    fn identity_provider(&self, name: &str) -> Option<&'a QueryResult> {
        let cluster = self.desired.name.clone();
        self.response(&Query::IdentityProvider { cluster, name: name.to_owned() })
    }

    pub(super) fn is_our_identity_provider(&self, name: &str) -> bool {
        let shown = self.identity_provider(name);
        matches!(shown, Some(QueryResult::IdentityProvider(Some(it))) if has_our_id(self.desired, &it.tags))
    }

    /// AWS was asked, and shows no identity provider configuration of that name.
    pub(super) fn lacks_identity_provider(&self, name: &str) -> bool {
        matches!(self.identity_provider(name), Some(QueryResult::IdentityProvider(None)))
    }

    pub(super) fn is_our_provider(&self, arn: &str) -> bool {
        let response = self.response(&Query::OidcProvider(arn.to_owned()));
        let shown = matches!(response, Some(QueryResult::OidcProvider(Some(it))) if has_our_id(self.desired, &it.tags));
        shown || self.memory.calls.effects.iter().any(|effect| effect.response.id.as_deref() == Some(arn))
    }

    /// Whether a role of that ARN exists that is another one than the entry was created for.
    pub(super) fn is_bound_to_former_role(&self, principal: &str) -> bool {
        let roles = self.observed.reads.values().filter_map(|read| match &read.response {
            QueryResult::Role(role) => role.as_ref(),
            QueryResult::InstanceProfile(profile) => profile.as_ref().and_then(|it| it.role.as_ref()),
            _ => None,
        });
        let mut roles = roles.filter(|role| role.arn == principal);
        if let Some(bound) = self.recorded.entry_roles.get(principal) {
            return roles.any(|role| role.unique_id != *bound);
        }
        let entry = self.entry_created(principal);
        roles.any(|role| entry.is_some_and(|entry| entry < role.created))
    }

    /// When EKS created the entry, by the newest read of it.
    fn entry_created(&self, principal: &str) -> Option<AwsTime> {
        let Some(QueryResult::AccessEntry(Some(entry))) = self.response(&self.entry(principal)) else {
            return None;
        };
        entry.created
    }
}

/// The id, and the Cluster; of what is being deleted the Cluster's namespace.
fn has_our_id(desired: &Desired, tags: &Tags) -> bool {
    let namespace = desired.cluster.split('/').next().unwrap_or_default();
    let in_namespace = |it: &String| it.strip_prefix(namespace).is_some_and(|rest| rest.starts_with('/'));
    let cluster = tags
        .get(TAG_CLUSTER)
        .filter(|it| **it == desired.cluster || (desired.being_deleted && in_namespace(it)));
    tags.get(TAG_CONTROL_PLANE) == Some(&desired.id) && cluster.is_some()
}
