//! Updates of clusters: one at a time, with an id, over after a while (EKS API Reference, Update).

use super::lookups::not_active;
use super::place::placement_after;
use crate::core::eks::MishapOf;
use crate::core::eks::cluster::{Change, Cluster, Update};
use crate::core::eks::refusal::in_use;
use crate::core::eks::step::EksStep;
use crate::core::error::AwsResult;
use crate::core::region::Region;
use foo_model::SubnetId;
use foo_model::eks::{
    AuthenticationMode, ClusterStatus, ConfigUpdate, Issue, Placement, UpdateStatus, UpdateType,
};
use std::collections::BTreeSet;
use std::time::Duration;

/// Addresses that an update of the version or of the subnets needs (EKS User Guide, "Update existing cluster to new Kubernetes
/// version": up to five).
const ADDRESSES: u32 = 5;

/// An update that is about to begin.
pub(super) struct NewUpdate {
    pub(super) kind: UpdateType,
    pub(super) params: Vec<(&'static str, String)>,
    pub(super) change: Change,
    pub(super) takes: Duration,
}

impl Region {
    /// Whether an update of this type can begin.
    pub(super) fn check_free(&self, name: &str, kind: UpdateType) -> AwsResult<&Cluster> {
        let cluster = self.known_cluster(name)?;
        if cluster.update_in_progress().is_some() {
            let kind: &str = kind.into();
            return Err(in_use(format!(
                "Cannot {kind} because cluster {name} currently has update in progress"
            )));
        }
        if cluster.status == ClusterStatus::Active { Ok(cluster) } else { Err(not_active(name)) }
    }

    /// Begins an update. For a moment the cluster still reads ACTIVE.
    pub(super) fn begin_update(&mut self, name: &str, new: NewUpdate) -> AwsResult<Update> {
        let of = self.check_free(name, new.kind)?.reference();
        let update = self.new_update(new.kind, new.params, new.change);
        self.eks_later(
            self.settings.eks.update_shows_after,
            EksStep::UpdateShows(of.clone(), update.id.clone()),
        );
        self.eks_later(new.takes, EksStep::UpdateOver(of, update.id.clone()));
        if let Some(cluster) = self.eks.clusters.get_mut(&name.to_owned()) {
            cluster.updates.push(update.clone());
        }
        Ok(update)
    }

    /// An update that begins now.
    pub(super) fn new_update(
        &mut self,
        kind: UpdateType,
        params: Vec<(&'static str, String)>,
        change: Change,
    ) -> Update {
        Update {
            id: self.eks.chance.uuid(),
            kind,
            status: UpdateStatus::InProgress,
            params,
            created: self.now,
            errors: Vec::new(),
            change,
        }
    }

    pub(super) fn update_shows(&mut self, name: &str, id: &str) {
        let Some(cluster) = self.eks.clusters.get_mut(&name.to_owned()) else { return };
        if cluster.update_in_progress().is_some_and(|update| update.id == id) {
            cluster.status = ClusterStatus::Updating;
        }
    }

    /// An update is over: what it changes is so from now on, or it has failed.
    pub(super) fn update_over(&mut self, name: &str, id: &str) {
        let updates = self.eks.cluster(name).map(|cluster| cluster.updates.clone()).unwrap_or_default();
        let Some(update) = updates.into_iter().find(|it| it.id == id) else { return };
        let addon = update.addon().map(str::to_owned);
        let what = if addon.is_some() { MishapOf::AddonUpdate } else { MishapOf::Update };
        let issue = match self.eks_strikes(what, name, addon.as_deref()) {
            Some(issue) => Some(issue),
            None => self.make_change(name, &update.change),
        };
        if let Some(addon) = &addon {
            self.addon_update_over(name, addon, issue.as_ref());
        }
        let Some(cluster) = self.eks.clusters.get_mut(&name.to_owned()) else { return };
        if issue.is_some() {
            cluster.provider_update_failed(&update.change);
        }
        if addon.is_none() && cluster.status == ClusterStatus::Updating {
            cluster.status = ClusterStatus::Active;
        }
        if let Some(update) = cluster.updates.iter_mut().find(|it| it.id == id) {
            update.status = if issue.is_some() { UpdateStatus::Failed } else { UpdateStatus::Successful };
            update.errors.extend(issue);
        }
    }

    /// Changes a cluster, or says why it cannot be changed.
    fn make_change(&mut self, name: &str, change: &Change) -> Option<Issue> {
        let cluster = self.eks.cluster(name)?.clone();
        if matches!(change, Change::Version(_) | Change::Forced(_) | Change::Rollback(_)) {
            let subnets = &cluster.placement.subnets;
            if self.free_addresses(subnets) < ADDRESSES {
                return Some(no_addresses("InsufficientFreeAddresses", subnets));
            }
        }
        if let Change::Config(update @ ConfigUpdate::Placement { .. }) = change {
            let Placement { subnets, security_groups } = placement_after(&cluster.placement, update);
            if !self.place_control_plane(name, &subnets, &cluster.all_groups(&security_groups)) {
                return Some(no_addresses("IpNotAvailable", &subnets));
            }
        }
        let changed = self.changed(cluster, change);
        self.eks.clusters.insert(name.to_owned(), changed);
        None
    }

    fn changed(&mut self, mut cluster: Cluster, change: &Change) -> Cluster {
        match change {
            Change::Version(version) => {
                cluster.former = Some((cluster.version, self.now));
                self.run_version(&mut cluster, *version);
            }
            Change::Forced(version) | Change::Rollback(version) => {
                cluster.former = None;
                self.run_version(&mut cluster, *version);
            }
            Change::Config(update) => self.configured(&mut cluster, update),
            Change::Key(key) => cluster.key = Some(key.clone()),
            Change::AssociateIdentityProvider => cluster.provider_is_active(),
            Change::DisassociateIdentityProvider => cluster.identity_provider = None,
            Change::Addon(name, spec) => {
                if let Some(addon) = cluster.addons.get_mut(name) {
                    addon.spec = spec.as_ref().clone();
                }
            }
        }
        cluster
    }

    fn configured(&mut self, cluster: &mut Cluster, update: &ConfigUpdate) {
        match update {
            ConfigUpdate::Access(endpoint) => cluster.endpoint = endpoint.clone(),
            ConfigUpdate::Placement { .. } => cluster.placement = placement_after(&cluster.placement, update),
            ConfigUpdate::Logging(logs) => cluster.logs.clone_from(logs),
            ConfigUpdate::AuthenticationMode(mode) => {
                let first = cluster.authentication == AuthenticationMode::ConfigMap;
                cluster.authentication = *mode;
                if first && cluster.creator_is_admin {
                    self.add_creator_entry(cluster, None);
                }
            }
            ConfigUpdate::UpgradePolicy(support) => cluster.support = *support,
            ConfigUpdate::ZonalShift(enabled) => cluster.zonal_shift = *enabled,
            ConfigUpdate::DeletionProtection(enabled) => cluster.deletion_protection = *enabled,
            ConfigUpdate::ScalingTier(tier) => cluster.scaling_tier = *tier,
        }
    }
}

fn no_addresses(code: &str, subnets: &BTreeSet<SubnetId>) -> Issue {
    Issue {
        code: code.to_owned(),
        message: "One or more subnets provided does not have enough free IP addresses.".to_owned(),
        resources: subnets.iter().map(ToString::to_string).collect(),
    }
}
