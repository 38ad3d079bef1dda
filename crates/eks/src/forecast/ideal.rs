//! An EKS in which every call succeeds, as far as the planner observes it.

use crate::action::Action;
use crate::desired::Desired;
use crate::memory::Effect;
use crate::observed::{CompletedRead, Observed};
use crate::recorded::{Recorded, UpdateKind};
use crate::situation::{Overlay, Situation};
use crate::steps::identity_provider;
use crate::steps::oidc::provider_arn;
use crate::{Eks, Report};
use foo_calls::forecast::{Counts, Works};
use foo_model::eks::{
    AddonChange, AddonStatus, AuthenticationMode, Change, Changed, Cluster, ClusterChange, ClusterStatus,
    ConfigUpdate, IdentityProvider, IdentityProviderStatus, NewAddon, NewCluster, NewIdentityProvider,
    OidcChange, PodIdentity, PodIdentityChange, Query, QueryResult, SupportType, Update, UpdateStatus,
};
use foo_model::{Aws, Comparison, Timestamp};
use std::collections::BTreeMap;
use std::time::Duration;

/// How long EKS creates a cluster. An assumption, like all of these: EKS documents none of them.
pub const CREATION: Duration = Duration::from_mins(10);
/// How long EKS updates the version of a control plane.
pub const VERSION_UPDATE: Duration = Duration::from_mins(10);
/// How long EKS changes the configuration of a cluster.
pub const CONFIG_UPDATE: Duration = Duration::from_mins(5);
/// How long EKS creates, updates or deletes an add-on.
pub const ADDON: Duration = Duration::from_mins(2);
/// How long EKS deletes a cluster that it could not create.
pub const DELETION: Duration = Duration::from_mins(5);
/// How long EKS works out the insights.
const REFRESH: Duration = Duration::from_mins(1);

/// Something that EKS is working on, and then is done.
#[derive(Clone, Debug)]
pub(super) enum Work {
    CreateCluster,
    DeleteCluster,
    /// An update of the cluster, by its id, and what it changes.
    Update(String, Option<ClusterChange>),
    /// An update that another user began.
    ForeignUpdate,
    Addon(String),
    Refresh,
}

/// EKS, and what reads of it show.
pub(super) struct Ideal<'a> {
    desired: &'a Desired,
    aws_clock: Comparison<Aws>,
    truth: BTreeMap<Query, QueryResult>,
    works: Works<Work>,
    /// Whether the cluster is created in the forecast: nothing that belongs to it can be read in AWS.
    is_new: bool,
    /// Whether the cluster began without access entries: EKS refuses reads of them until it allows them.
    has_no_entries: bool,
    ids: u32,
}

impl<'a> Ideal<'a> {
    /// EKS as it is observed, with what it is working on.
    pub(super) fn new(situation: &Situation<'a>) -> Self {
        let desired = situation.desired;
        // Reads with the effects of calls that they do not show yet.
        let truth = situation.shown.clone();
        let works = Works::new(situation.now);
        let aws_clock = situation.observed.aws_clock;
        let mut ideal =
            Self { desired, aws_clock, truth, works, is_new: false, has_no_entries: false, ids: 0 };
        ideal.has_no_entries =
            ideal.cluster().is_some_and(|it| it.authentication_mode == AuthenticationMode::ConfigMap);
        ideal.update_lists(situation);
        ideal.resume(situation.now, &situation.record);
        ideal
    }

    /// Lists show what newer reads of what they list show.
    fn update_lists(&mut self, situation: &Situation<'_>) {
        let mut changes = Vec::new();
        for (query, result) in &self.truth {
            let (list, name, exists) = match (query, result) {
                (Query::Addon { cluster, name }, QueryResult::Addon(shown)) => {
                    (Query::Addons(cluster.clone()), name, shown.is_some())
                }
                (Query::AccessEntry { cluster, principal }, QueryResult::AccessEntry(shown)) => {
                    (Query::AccessEntries(cluster.clone()), principal, shown.is_some())
                }
                _ => continue,
            };
            if situation.touched(query) >= situation.touched(&list) {
                changes.push((list, name.clone(), exists));
            }
        }
        for (list, name, exists) in changes {
            let Some(QueryResult::Names(names)) = self.truth.get_mut(&list) else { continue };
            if exists {
                names.insert(name);
            } else {
                names.remove(&name);
            }
        }
    }

    fn query(&self) -> Query {
        Query::Cluster(self.desired.name.clone())
    }

    fn cluster(&mut self) -> Option<&mut Cluster> {
        let query = self.query();
        match self.truth.get_mut(&query) {
            Some(QueryResult::Cluster(cluster)) => cluster.as_deref_mut(),
            _ => None,
        }
    }

    /// What EKS is working on already takes as long as if it began now.
    fn resume(&mut self, now: Timestamp, recorded: &Recorded) {
        let mut works = Vec::new();
        for (query, result) in &self.truth {
            match (query, result) {
                (Query::Cluster(_), QueryResult::Cluster(Some(cluster))) => match cluster.status {
                    ClusterStatus::Pending | ClusterStatus::Creating => {
                        works.push((CREATION, Work::CreateCluster));
                    }
                    ClusterStatus::Deleting => works.push((DELETION, Work::DeleteCluster)),
                    ClusterStatus::Updating if recorded.update.is_none() => {
                        works.push((CONFIG_UPDATE, Work::ForeignUpdate));
                    }
                    ClusterStatus::Updating | ClusterStatus::Active | ClusterStatus::Failed => {}
                },
                (Query::Addon { name, .. }, QueryResult::Addon(Some(addon))) if addon.status.is_moving() => {
                    works.push((ADDON, Work::Addon(name.clone())));
                }
                (Query::InsightsRefresh(_), QueryResult::InsightsRefresh(Some(it))) if !it.is_over => {
                    works.push((REFRESH, Work::Refresh));
                }
                _ => {}
            }
        }
        if let Some(update) = &recorded.update {
            let change = self.requested(update.kind, recorded);
            let takes = if update.kind == UpdateKind::Version { VERSION_UPDATE } else { CONFIG_UPDATE };
            for id in self.updates_in_progress(update.id.as_ref()) {
                self.set_update(&id, UpdateStatus::InProgress);
                works.push((takes, Work::Update(id, change.clone())));
            }
        }
        for (takes, work) in works {
            let counts = counts(&work);
            self.works.begin(now, takes, work, counts);
        }
    }

    /// The update of this id, unless it is known to be over; without an id, as after a lost response, those in progress.
    fn updates_in_progress(&self, id: Option<&String>) -> Vec<String> {
        let shown = self.truth.iter().filter_map(|(query, result)| match (query, result) {
            (Query::Update { id, addon: None, .. }, QueryResult::Update(Some(update))) => {
                Some((id, update.status == UpdateStatus::InProgress))
            }
            _ => None,
        });
        let shown: BTreeMap<&String, bool> = shown.collect();
        match id {
            Some(id) if shown.get(id).copied().unwrap_or(true) => vec![id.clone()],
            Some(_) => Vec::new(),
            None => shown.into_iter().filter(|(_, moves)| *moves).map(|(id, _)| id.clone()).collect(),
        }
    }

    /// What an update under way is assumed to change: what is requested.
    fn requested(&mut self, kind: UpdateKind, recorded: &Recorded) -> Option<ClusterChange> {
        let desired = self.desired;
        let config = |update| Some(ClusterChange::UpdateConfig(update));
        let placement = desired.placement.clone();
        match kind {
            UpdateKind::Version => {
                let version = self.cluster()?.version.next();
                Some(ClusterChange::UpdateVersion { version, force: false })
            }
            UpdateKind::Access => config(ConfigUpdate::Access(desired.access.clone())),
            UpdateKind::Subnets => config(ConfigUpdate::Placement {
                subnets: placement.map(|it| it.subnets),
                security_groups: None,
            }),
            UpdateKind::SecurityGroups => config(ConfigUpdate::Placement {
                subnets: None,
                security_groups: placement.map(|it| it.security_groups),
            }),
            UpdateKind::Logging => config(ConfigUpdate::Logging(desired.logging.clone())),
            UpdateKind::AuthenticationMode => {
                let mode = match self.cluster()?.authentication_mode {
                    AuthenticationMode::ConfigMap => AuthenticationMode::ApiAndConfigMap,
                    AuthenticationMode::ApiAndConfigMap | AuthenticationMode::Api => AuthenticationMode::Api,
                };
                config(ConfigUpdate::AuthenticationMode(mode))
            }
            UpdateKind::UpgradePolicy => config(ConfigUpdate::UpgradePolicy(desired.upgrade_policy?)),
            UpdateKind::ZonalShift => config(ConfigUpdate::ZonalShift(desired.zonal_shift)),
            UpdateKind::DeletionProtection => {
                config(ConfigUpdate::DeletionProtection(desired.deletion_protection))
            }
            UpdateKind::Encryption => Some(ClusterChange::Encrypt(desired.encryption_key.clone()?)),
            UpdateKind::ScalingTier => config(ConfigUpdate::ScalingTier(desired.scaling_tier?)),
            UpdateKind::AssociateIdentityProvider => {
                let new = identity_provider::new(desired, desired.identity_provider.as_ref()?);
                Some(ClusterChange::AssociateIdentityProvider(Box::new(new)))
            }
            UpdateKind::DisassociateIdentityProvider => {
                Some(ClusterChange::DisassociateIdentityProvider(recorded.identity_provider.clone()?))
            }
        }
    }

    /// All that is known, as if it were read at this moment.
    pub(super) fn reads_of(&self, begun: Timestamp) -> impl Iterator<Item = (Query, CompletedRead)> {
        let read = move |response: &QueryResult| CompletedRead { begun, response: response.clone() };
        self.truth.iter().map(move |(query, response)| (query.clone(), read(response)))
    }

    /// The response to a query; `None` if only AWS knows it.
    fn response_to(&self, query: &Query) -> Option<QueryResult> {
        let known = self.truth.get(query).cloned();
        let is_empty = match query {
            Query::AccessEntries(_) | Query::AccessEntry { .. } | Query::AccessPolicies { .. } => {
                self.is_new || self.has_no_entries
            }
            // Its ARN is one of a new issuer.
            Query::OidcProvider(_) => self.is_new,
            _ => self.is_new && query.cluster().is_some(),
        };
        known.or_else(|| is_empty.then(|| query.nothing()))
    }

    fn response(&mut self, change: &Change) -> Changed {
        self.ids += 1;
        let id = format!("planned-{}", self.ids);
        let mut response = Changed::default();
        match change {
            Change::Cluster { change: ClusterChange::Create(new), .. } => {
                self.is_new = true;
                self.truth.retain(|query, _| query.cluster().is_none());
                response.cluster = Some(Box::new(created(self.desired, new)));
            }
            _ if change.updates_cluster() => {
                self.set_update(&id, UpdateStatus::InProgress);
                response.update = Some(update(&id, UpdateStatus::InProgress));
            }
            Change::PodIdentity { change: PodIdentityChange::Create(_), .. } => response.id = Some(id),
            Change::Oidc(OidcChange::Create(new)) => {
                let account = self.cluster().and_then(|it| it.arn.split(':').nth(4).map(str::to_owned));
                response.id =
                    Some(provider_arn(&self.desired.partition, &account.unwrap_or_default(), &new.url));
            }
            Change::Cluster { .. }
            | Change::Addon { .. }
            | Change::Entry { .. }
            | Change::PodIdentity { .. }
            | Change::Tags { .. }
            | Change::Oidc(_) => {}
        }
        response
    }

    /// What EKS then works on, and for how long.
    fn begin(&mut self, change: &Change, response: &Changed) -> Option<(Duration, Work)> {
        match change {
            Change::Cluster { change, .. } => match change {
                ClusterChange::Create(_) => Some((CREATION, Work::CreateCluster)),
                ClusterChange::Delete => Some((DELETION, Work::DeleteCluster)),
                ClusterChange::RefreshInsights => Some((REFRESH, Work::Refresh)),
                ClusterChange::UpdateVersion { .. }
                | ClusterChange::UpdateConfig(_)
                | ClusterChange::Encrypt(_)
                | ClusterChange::AssociateIdentityProvider(_)
                | ClusterChange::DisassociateIdentityProvider(_) => {
                    let is_version = matches!(change, ClusterChange::UpdateVersion { .. });
                    let takes = if is_version { VERSION_UPDATE } else { CONFIG_UPDATE };
                    let id = response.update.as_ref().map(|it| it.id.clone()).unwrap_or_default();
                    Some((takes, Work::Update(id, Some(change.clone()))))
                }
            },
            Change::Addon { name, change, .. } => {
                if let AddonChange::Create(new, _) | AddonChange::Update(new) = change {
                    self.bind_pods(name, new);
                }
                Some((ADDON, Work::Addon(name.clone())))
            }
            Change::Entry { .. } | Change::PodIdentity { .. } | Change::Tags { .. } | Change::Oidc(_) => None,
        }
    }

    /// An add-on brings pod identity associations of its own.
    fn bind_pods(&mut self, name: &str, new: &NewAddon) {
        let Some(roles) = &new.pod_identities else { return };
        let cluster = self.desired.name.clone();
        let query = Query::Addon { cluster: cluster.clone(), name: name.to_owned() };
        let Some(QueryResult::Addon(Some(addon))) = self.truth.get_mut(&query) else { return };
        if addon.arn.is_empty() {
            addon.arn = format!("planned-addon/{name}");
        }
        let owner = addon.arn.clone();
        let ids: BTreeMap<String, &String> =
            roles.iter().map(|(account, role)| (format!("planned-{name}-{account}"), role)).collect();
        addon.pod_identities = ids.keys().cloned().collect();
        let bound = roles.iter().zip(ids.keys()).map(|((account, role), id)| PodIdentity {
            id: id.clone(),
            arn: id.clone(),
            namespace: String::new(),
            service_account: account.clone(),
            role_arn: Some(role.clone()),
            owner_arn: Some(owner.clone()),
            tags: BTreeMap::default(),
        });
        let bound: Vec<PodIdentity> = bound.collect();
        let list = Query::PodIdentities(cluster.clone());
        let all = self.truth.entry(list.clone()).or_insert_with(|| list.nothing());
        if let QueryResult::PodIdentities(all) = all {
            all.retain(|it| it.owner_arn.as_deref() != Some(&owner));
            all.extend(bound.iter().cloned());
        }
        for one in bound {
            let query = Query::PodIdentity { cluster: cluster.clone(), id: one.id.clone() };
            self.truth.insert(query, QueryResult::PodIdentities(vec![one]));
        }
    }

    fn set_update(&mut self, id: &str, status: UpdateStatus) {
        let query = Query::Update { cluster: self.desired.name.clone(), id: id.to_owned(), addon: None };
        self.truth.insert(query, QueryResult::Update(Some(update(id, status))));
    }

    /// What an update that is done has changed of the identity provider.
    fn set_identity_provider(&mut self, change: &ClusterChange) {
        let (name, shown) = match change {
            ClusterChange::AssociateIdentityProvider(new) => {
                let NewIdentityProvider { name, settings, tags } = new.as_ref().clone();
                let (arn, status) = (String::new(), IdentityProviderStatus::Active);
                (name.clone(), Some(Box::new(IdentityProvider { name, arn, status, settings, tags })))
            }
            ClusterChange::DisassociateIdentityProvider(name) => (name.clone(), None),
            ClusterChange::Create(_)
            | ClusterChange::UpdateVersion { .. }
            | ClusterChange::UpdateConfig(_)
            | ClusterChange::Encrypt(_)
            | ClusterChange::RefreshInsights
            | ClusterChange::Delete => return,
        };
        let cluster = self.desired.name.clone();
        if let Some(QueryResult::Names(names)) =
            self.truth.get_mut(&Query::IdentityProviders(cluster.clone()))
        {
            if shown.is_some() {
                names.insert(name.clone());
            } else {
                names.remove(&name);
            }
        }
        self.truth.insert(Query::IdentityProvider { cluster, name }, QueryResult::IdentityProvider(shown));
    }

    fn finish_addon(&mut self, name: &str) {
        let cluster = self.desired.name.clone();
        let query = Query::Addon { cluster: cluster.clone(), name: name.to_owned() };
        let Some(QueryResult::Addon(shown)) = self.truth.get_mut(&query) else { return };
        let Some(addon) = shown.as_deref_mut() else { return };
        if addon.status != AddonStatus::Deleting {
            addon.status = AddonStatus::Active;
            return;
        }
        *shown = None;
        if let Some(QueryResult::Names(names)) = self.truth.get_mut(&Query::Addons(cluster)) {
            names.remove(name);
        }
    }
}

impl foo_calls::forecast::Ideal for Ideal<'_> {
    type Domain = Eks;
    type Read = Query;
    type Work = Work;
    type Contents = BTreeMap<Query, QueryResult>;

    fn contents(&self) -> Self::Contents {
        self.truth.clone()
    }

    fn carry_out(&mut self, action: &Action, now: Timestamp) -> Changed {
        let response = self.response(&action.change);
        let unread = Observed { aws_clock: self.aws_clock, ..Observed::default() };
        let effect = Effect { action: action.clone(), response: response.clone(), at: now };
        Overlay { observed: &unread, shown: &mut self.truth }.apply(&effect);
        if let Some((takes, work)) = self.begin(&action.change, &response) {
            let counts = counts(&work);
            self.works.begin(now, takes, work, counts);
        }
        response
    }

    fn works(&mut self) -> &mut Works<Work> {
        &mut self.works
    }

    fn finish(&mut self, work: Work) {
        match work {
            Work::CreateCluster | Work::ForeignUpdate => {
                if let Some(cluster) = self.cluster() {
                    cluster.status = ClusterStatus::Active;
                }
            }
            Work::DeleteCluster => {
                let query = self.query();
                self.truth.insert(query, QueryResult::Cluster(None));
            }
            Work::Update(id, change) => {
                self.set_update(&id, UpdateStatus::Successful);
                if let Some(change) = &change {
                    self.set_identity_provider(change);
                }
                if let Some(cluster) = self.cluster() {
                    cluster.status = ClusterStatus::Active;
                    if let Some(change) = change {
                        apply(change, cluster);
                    }
                }
            }
            Work::Addon(name) => self.finish_addon(&name),
            Work::Refresh => {
                let query = Query::InsightsRefresh(self.desired.name.clone());
                if let Some(QueryResult::InsightsRefresh(Some(refresh))) = self.truth.get_mut(&query) {
                    refresh.is_over = true;
                }
            }
        }
    }

    /// None until a maintenance window opens: those of an idle cluster show nothing new here, and a window may be days away.
    fn reads(report: &Report, observed: &Observed) -> Vec<(Query, Timestamp)> {
        if report.awaits_window {
            return Vec::new();
        }
        let answerable = report.reads.iter().filter(|read| !observed.failed.contains_key(&read.query));
        answerable.map(|read| (read.query.clone(), read.from)).collect()
    }

    fn read(&self, query: &Query, begun: Timestamp, observed: &mut Observed) -> bool {
        let response = self.response_to(query);
        let known = response.is_some();
        let read = response.map(|response| (query.clone(), CompletedRead { begun, response }));
        observed.reads.extend(read);
        known
    }

    fn set_now(observed: &mut Observed, now: Timestamp) {
        observed.now = now;
    }

    fn again_at(report: &Report) -> Option<Timestamp> {
        report.again_at
    }

    fn is_settled(report: &Report) -> bool {
        report.settled
    }

    /// That EKS works out its insights again changes nothing of the cluster.
    fn is_step(action: &Action) -> bool {
        !matches!(action.change, Change::Cluster { change: ClusterChange::RefreshInsights, .. })
    }
}

/// That EKS works out its insights again changes nothing of the cluster.
fn counts(work: &Work) -> Counts {
    if matches!(work, Work::Refresh) { Counts::No } else { Counts::Yes }
}

fn update(id: &str, status: UpdateStatus) -> Update {
    Update { id: id.to_owned(), kind: None, status, errors: Vec::new(), created: None }
}

/// What an update that is done has changed.
fn apply(change: ClusterChange, cluster: &mut Cluster) {
    match change {
        ClusterChange::UpdateVersion { version, .. } => cluster.version = version,
        ClusterChange::Encrypt(key) => cluster.encryption_key = Some(key),
        ClusterChange::UpdateConfig(update) => match update {
            ConfigUpdate::Access(access) => cluster.access = access,
            ConfigUpdate::Placement { subnets, security_groups } => {
                let placement = &mut cluster.placement;
                placement.subnets = subnets.unwrap_or_else(|| std::mem::take(&mut placement.subnets));
                placement.security_groups =
                    security_groups.unwrap_or_else(|| std::mem::take(&mut placement.security_groups));
            }
            ConfigUpdate::Logging(logging) => cluster.logging = logging,
            ConfigUpdate::AuthenticationMode(mode) => cluster.authentication_mode = mode,
            ConfigUpdate::UpgradePolicy(policy) => cluster.upgrade_policy = policy,
            ConfigUpdate::ZonalShift(is_on) => cluster.zonal_shift = is_on,
            ConfigUpdate::DeletionProtection(is_on) => cluster.deletion_protection = is_on,
            ConfigUpdate::ScalingTier(tier) => cluster.scaling_tier = Some(tier),
        },
        ClusterChange::Create(_)
        | ClusterChange::AssociateIdentityProvider(_)
        | ClusterChange::DisassociateIdentityProvider(_)
        | ClusterChange::RefreshInsights
        | ClusterChange::Delete => {}
    }
}

/// A new cluster, as EKS shows it.
fn created(desired: &Desired, new: &NewCluster) -> Cluster {
    let NewCluster {
        version,
        role_arn,
        placement,
        access,
        service_ipv4,
        ip_family,
        authentication_mode,
        creator_is_admin: _,
        self_managed_addons: _,
        logging,
        encryption_key,
        upgrade_policy,
        zonal_shift,
        deletion_protection,
        scaling_tier,
        tags,
    } = new.clone();
    let (name, region, partition) = (&desired.name, &desired.region, &desired.partition);
    let account = desired.account.as_deref().unwrap_or_default();
    Cluster {
        name: name.clone(),
        arn: format!("arn:{partition}:eks:{region}:{account}:cluster/{name}"),
        status: ClusterStatus::Creating,
        version: version.unwrap_or(desired.version),
        platform_version: None,
        created: None,
        endpoint: None,
        certificate_authority: None,
        role_arn,
        vpc: None,
        placement,
        cluster_security_group: None,
        access,
        service_ipv4,
        service_ipv6: None,
        ip_family,
        oidc_issuer: Some(format!("https://oidc.eks.{region}.amazonaws.com/id/planned")),
        authentication_mode,
        logging,
        encryption_key,
        upgrade_policy: upgrade_policy.unwrap_or(SupportType::Extended),
        zonal_shift: zonal_shift.unwrap_or_default(),
        deletion_protection,
        scaling_tier: Some(scaling_tier.unwrap_or_default()),
        auto_mode: false,
        tags,
        health: Vec::new(),
    }
}
