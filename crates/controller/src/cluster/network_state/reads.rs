//! The reads of AWS that the plans of one network requested, taken from the region's shared reads.
//!
//! What a plan requested stays in view for a while: the next plan depends on it, though it requests something else.

use foo_cloud::CloudError;
use foo_cloud::networks::{Freshness, Known, NetworkReads};
use foo_model::names::{TAG_CLUSTER, TAG_NETWORK};
use foo_model::network::{Kind, Parts, Quotas, Scope, Tags, Vpc, ZoneInfo};
use foo_model::{Reason, Timestamp, VpcId, Zone};
use foo_network::observed::{ById, DnsAttributes, KindReads};
use foo_network::report::ReadRequest;
use foo_network::{Observed, Report};
use futures::future::join_all;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// Zones hardly ever change.
const ZONES: Freshness = Freshness::Within(Duration::from_hours(12));
/// The maximum age of quotas while a network waits to be created: a little less than the time between its
/// attempts.
const QUOTAS: Freshness = Freshness::Within(Duration::from_mins(4));
/// Networks whose reads are due within this part of the period are read together.
const TOGETHER: u32 = 10;
/// What no plan requested in this time is no longer read: longer than any plan waits for its next read.
const IN_VIEW: Duration = Duration::from_hours(3);

/// One question to AWS.
type Query = (Kind, Scope);

/// What was asked for, and when last.
#[derive(Clone, Debug, Default)]
pub(in crate::cluster) struct InView(BTreeMap<Query, Timestamp>);

impl InView {
    /// A plan asks for this.
    pub(in crate::cluster) fn add(&mut self, requests: &[ReadRequest], now: Timestamp) {
        for request in requests {
            self.0.insert((request.kind, request.scope.clone()), now);
        }
        self.0.retain(|_, asked| asked.until(now) < IN_VIEW);
    }

    /// The shared reads of these kinds stay in view.
    pub(in crate::cluster) fn keep(&mut self, kinds: &BTreeSet<Kind>, now: Timestamp) {
        self.0.extend(kinds.iter().map(|kind| ((*kind, shared()), now)));
    }

    /// What the newest reads of all of it show, of this network only, and of others of the Cluster. Does not call AWS.
    pub(in crate::cluster) fn observed(
        &self,
        reads: &NetworkReads,
        network: NetworkTags<'_>,
        now: Timestamp,
    ) -> Observed {
        let mut observed = Observed { now, ..Observed::default() };
        for (kind, scope) in self.0.keys() {
            let Some(read) = reads.last(*kind, scope) else { continue };
            match scope {
                Scope::TagKey(_) | Scope::Tag(..) => {
                    let parts = of_network(&read.value, network);
                    add_read(&mut observed.tagged, *kind, read.began, parts);
                }
                Scope::Vpc(vpc) => {
                    let parts = Parts::clone(&read.value);
                    add_read(observed.in_vpc.entry(vpc.clone()).or_default(), *kind, read.began, parts);
                }
                Scope::Ids(_) if *kind == Kind::VpcAttributes => {
                    let known = read.value.vpcs.values().filter_map(|vpc| attributes(vpc, read.began));
                    observed.attributes.extend(known);
                }
                Scope::Ids(ids) => add_ids(&mut observed.by_id, *kind, ids, read.began, &read.value),
            }
        }
        observed
    }
}

/// Renews the shared reads of these kinds, those that are old. Returns the worst failure, if any.
pub(in crate::cluster) async fn renew(
    kinds: &BTreeSet<Kind>,
    reads: &NetworkReads,
    period: Duration,
) -> Option<CloudError> {
    let freshness = Freshness::Within(period.saturating_sub(period / TOGETHER));
    let renewed = kinds.iter().map(async |kind| reads.parts(*kind, &shared(), freshness).await.failure);
    worst(join_all(renewed).await)
}

/// How soon the first of the shared reads of these kinds is to be renewed. Clusters that used the same reads renew them
/// at the same moment, and share the calls.
pub(in crate::cluster) fn renewal(
    kinds: &BTreeSet<Kind>,
    reads: &NetworkReads,
    period: Duration,
    now: Timestamp,
) -> Option<Duration> {
    let began = kinds.iter().filter_map(|kind| reads.last(*kind, &shared())).map(|read| read.began);
    began.min().map(|began| now.until(began.plus(period)))
}

/// What all clusters of a region read together.
fn shared() -> Scope {
    Scope::TagKey(TAG_NETWORK.to_owned())
}

/// The requests whose time has come and that no read satisfies yet.
pub(in crate::cluster) fn due(report: &Report, reads: &NetworkReads, now: Timestamp) -> Vec<ReadRequest> {
    let is_due = |request: &&ReadRequest| request.from <= now && !is_up_to_date(request, reads);
    report.reads.iter().filter(is_due).cloned().collect()
}

/// How soon the first of the requests that have to wait is due.
pub(in crate::cluster) fn next(report: &Report, now: Timestamp) -> Option<Duration> {
    report.reads.iter().filter(|request| request.from > now).map(|request| now.until(request.from)).min()
}

fn is_up_to_date(request: &ReadRequest, reads: &NetworkReads) -> bool {
    reads.last(request.kind, &request.scope).is_some_and(|read| read.began >= request.from)
}

/// Takes these reads, all at the same time. Returns the worst failure, if any.
pub(in crate::cluster) async fn take(requests: &[ReadRequest], reads: &NetworkReads) -> Option<CloudError> {
    let taken = requests.iter().map(async |request| {
        reads.parts(request.kind, &request.scope, Freshness::Since(request.from)).await.failure
    });
    worst(join_all(taken).await)
}

/// Of several failures one that a user can do something about.
fn worst(failures: Vec<Option<CloudError>>) -> Option<CloudError> {
    failures.into_iter().flatten().min_by_key(|error| Reason::from(error.kind).is_transient())
}

/// The region's zones.
///
/// # Errors
/// Why AWS did not return them, if it never did.
pub(in crate::cluster) async fn zones(reads: &NetworkReads) -> Result<BTreeMap<Zone, ZoneInfo>, CloudError> {
    let known = reads.parts(Kind::Zone, &shared(), ZONES).await;
    match known {
        Known { last_read: Some(read), .. } => Ok(read.value.zones.clone()),
        Known { last_read: None, failure } => failure.map_or_else(|| Ok(BTreeMap::new()), Err),
    }
}

/// The quotas; all unknown, if AWS does not return them.
pub(in crate::cluster) async fn quotas(reads: &NetworkReads) -> Quotas {
    let known = reads.quotas(QUOTAS).await;
    if let Some(error) = &known.failure {
        tracing::warn!(%error, "could not read quotas: those that are too small will show as refusals of AWS");
    }
    known.fresh().ok().flatten().map(|read| Quotas::clone(&read.value)).unwrap_or_default()
}

fn attributes(vpc: &Vpc, begun: Timestamp) -> Option<(VpcId, DnsAttributes)> {
    let known = DnsAttributes { begun, support: vpc.dns_support?, hostnames: vpc.dns_hostnames? };
    Some((vpc.id.clone(), known))
}

fn add_read(to: &mut KindReads, kind: Kind, began: Timestamp, parts: Parts) {
    to.begun.insert(kind, began);
    merge(&mut to.parts, parts);
}

/// The newest result about each id counts.
fn add_ids(to: &mut ById, kind: Kind, ids: &BTreeSet<String>, began: Timestamp, found: &Arc<Parts>) {
    let begun = to.begun.entry(kind).or_default();
    let newer: BTreeSet<&String> =
        ids.iter().filter(|id| begun.get(*id).is_none_or(|before| *before <= began)).collect();
    for id in &newer {
        begun.insert((*id).clone(), began);
    }
    retain(&mut to.parts, |id| !newer.iter().any(|newer| newer.as_str() == id));
    let mut parts = Parts::clone(found);
    retain(&mut parts, |id| newer.iter().any(|newer| newer.as_str() == id));
    merge(&mut to.parts, parts);
}

/// The values of the tags of a network: its id, and its Cluster.
type NetworkTags<'a> = (&'a str, &'a str);

/// The parts that carry a tag of this network: few of those that all clusters of the region have.
fn of_network(parts: &Parts, network: NetworkTags<'_>) -> Parts {
    fn some<K: Clone + Ord, V: Clone>(
        all: &BTreeMap<K, V>,
        (network, cluster): NetworkTags<'_>,
        tags: impl Fn(&V) -> &Tags,
    ) -> BTreeMap<K, V> {
        let has = |part: &V, key: &str, value: &str| tags(part).get(key).is_some_and(|tag| tag == value);
        let own = |part: &V| has(part, TAG_NETWORK, network) || has(part, TAG_CLUSTER, cluster);
        all.iter().filter(|(_, part)| own(part)).map(|(id, part)| (id.clone(), part.clone())).collect()
    }
    Parts {
        vpcs: some(&parts.vpcs, network, |it| &it.tags),
        subnets: some(&parts.subnets, network, |it| &it.tags),
        internet_gateways: some(&parts.internet_gateways, network, |it| &it.tags),
        egress_only_gateways: some(&parts.egress_only_gateways, network, |it| &it.tags),
        addresses: some(&parts.addresses, network, |it| &it.tags),
        nat_gateways: some(&parts.nat_gateways, network, |it| &it.tags),
        route_tables: some(&parts.route_tables, network, |it| &it.tags),
        security_groups: some(&parts.security_groups, network, |it| &it.tags),
        endpoints: some(&parts.endpoints, network, |it| &it.tags),
        // Only read by VPC.
        interfaces: BTreeMap::new(),
        load_balancers: BTreeMap::new(),
        target_groups: BTreeMap::new(),
        zones: BTreeMap::new(),
    }
}

fn merge(to: &mut Parts, from: Parts) {
    to.vpcs.extend(from.vpcs);
    to.subnets.extend(from.subnets);
    to.internet_gateways.extend(from.internet_gateways);
    to.egress_only_gateways.extend(from.egress_only_gateways);
    to.addresses.extend(from.addresses);
    to.nat_gateways.extend(from.nat_gateways);
    to.route_tables.extend(from.route_tables);
    to.security_groups.extend(from.security_groups);
    to.endpoints.extend(from.endpoints);
    to.interfaces.extend(from.interfaces);
    to.load_balancers.extend(from.load_balancers);
    to.target_groups.extend(from.target_groups);
    to.zones.extend(from.zones);
}

/// Keeps those parts for whose id this is true. Zones have none and stay.
fn retain(parts: &mut Parts, keeps: impl Fn(&str) -> bool) {
    parts.vpcs.retain(|id, _| keeps(id.as_str()));
    parts.subnets.retain(|id, _| keeps(id.as_str()));
    parts.internet_gateways.retain(|id, _| keeps(id.as_str()));
    parts.egress_only_gateways.retain(|id, _| keeps(id.as_str()));
    parts.addresses.retain(|id, _| keeps(id.as_str()));
    parts.nat_gateways.retain(|id, _| keeps(id.as_str()));
    parts.route_tables.retain(|id, _| keeps(id.as_str()));
    parts.security_groups.retain(|id, _| keeps(id.as_str()));
    parts.endpoints.retain(|id, _| keeps(id.as_str()));
    parts.interfaces.retain(|id, _| keeps(id.as_str()));
    parts.load_balancers.retain(|id, _| keeps(id));
    parts.target_groups.retain(|id, _| keeps(id));
}
