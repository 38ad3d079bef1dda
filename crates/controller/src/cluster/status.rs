//! The status of a FooCluster: its network, its credentials, and what its deletion waits for.

use foo_api::cluster::{FailureDomain, NetworkStatus};
use foo_api::conditions::{self, NewCondition};
use foo_api::shared::Initialization;
use foo_api::{FooCluster, FooClusterStatus};
use foo_cloud::CloudError;
use foo_model::{Blocked, Reason};
use std::collections::BTreeSet;

const CREDENTIALS_READY: &str = "CredentialsReady";
const NETWORK_READY: &str = "NetworkReady";
/// The state of a managed network, as `NetworkReady` shows it.
const AREAS: [&str; 6] =
    ["VPCReady", "SubnetsReady", "RoutesReady", "NATReady", "SecurityGroupsReady", "EndpointsReady"];

/// What a pass found.
pub(super) enum Found {
    /// The network that the user named.
    Network(Box<NetworkStatus>),
    /// The network that the provider creates.
    Managed(Box<Shown>),
    Blocked(Blocked),
}

/// What is shown of a managed network.
#[derive(Clone, Debug)]
pub(super) struct Shown {
    pub(super) network: NetworkStatus,
    pub(super) failure_domains: Vec<FailureDomain>,
    /// `NetworkReady`.
    pub(super) ready: NewCondition,
    /// The conditions under it.
    pub(super) areas: Vec<NewCondition>,
    /// Why AWS could not be read, if it could not.
    pub(super) failure: Option<CloudError>,
}

/// The other inputs of the status.
pub(super) struct Published {
    pub(super) credentials: NewCondition,
    pub(super) paused: bool,
    /// What its deletion waits for, if it is being deleted.
    pub(super) deleting: Option<Blocked>,
}

impl Published {
    pub(super) fn of(credentials: NewCondition) -> Self {
        Self { credentials, paused: false, deleting: None }
    }

    /// The inputs for an object that is not reconciled now.
    pub(super) fn as_before(cluster: &FooCluster) -> Self {
        Self::of(published(cluster, CREDENTIALS_READY).unwrap_or_else(not_yet_used))
    }
}

/// Whether the status reports that the network of this very spec was found.
pub(super) fn is_found(cluster: &FooCluster) -> bool {
    let conditions = cluster.status.as_ref().map(|status| status.conditions.as_slice()).unwrap_or_default();
    conditions.iter().any(|condition| {
        condition.type_ == "NetworkReady"
            && condition.status == "True"
            && condition.observed_generation == cluster.metadata.generation
    })
}

/// The present status, for an object that is paused. `network` is the newest status of the network.
pub(super) fn as_published(cluster: &FooCluster, network: Option<NetworkStatus>) -> Found {
    let condition = published(cluster, NETWORK_READY);
    match (condition, network) {
        (Some(ready), Some(network)) if cluster.spec.network.managed.is_some() => {
            let failure_domains = cluster.status.iter().flat_map(|it| it.failure_domains.clone()).collect();
            let areas = AREAS.iter().filter_map(|kind| published(cluster, kind)).collect();
            Found::Managed(Box::new(Shown { network, failure_domains, ready, areas, failure: None }))
        }
        (Some(condition), Some(network)) if condition.status == "True" => Found::Network(Box::new(network)),
        (condition, _) => Found::Blocked(
            condition
                .and_then(|published| {
                    Some(Blocked::new(Reason::parse(&published.reason)?, published.message))
                })
                .unwrap_or_else(|| Blocked::new(Reason::Paused, "not looked up while paused")),
        ),
    }
}

/// The whole status. `network` is the newest status of the network: the cache may show an older one.
pub(super) fn status(
    cluster: &FooCluster,
    network: Option<NetworkStatus>,
    found: &Found,
    published: &Published,
    now: jiff::Timestamp,
) -> FooClusterStatus {
    let old = cluster.status.clone().unwrap_or_default();
    let condition = network_ready(found);
    let is_provisioned = old.ready == Some(true) || condition.status == "True";
    let (network, failure_domains, areas) = match found {
        Found::Network(network) => (Some(network.as_ref().clone()), failure_domains(network), Vec::new()),
        Found::Managed(shown) => {
            (Some(shown.network.clone()), shown.failure_domains.clone(), shown.areas.clone())
        }
        Found::Blocked(_) => (network, old.failure_domains, not_verified(cluster)),
    };
    let mut conditions =
        vec![wanted("Ready", summary(found, &condition, published)), published.credentials.clone()];
    conditions.push(condition);
    conditions.extend(areas);
    conditions.extend([paused(published), deleting(published)]);
    FooClusterStatus {
        initialization: Some(Initialization { provisioned: Some(is_provisioned) }),
        ready: Some(is_provisioned),
        failure_domains,
        network,
        conditions: conditions::merge(&old.conditions, &conditions, cluster.metadata.generation, now),
    }
}

/// The state of a managed network that nothing can be planned for: what was true when there was a plan may be no
/// longer.
fn not_verified(cluster: &FooCluster) -> Vec<NewCondition> {
    let areas = AREAS.iter().filter(|_| cluster.spec.network.managed.is_some());
    let unknown = || ("Unknown", Reason::NotVerified.as_str(), format!("see condition {NETWORK_READY}"));
    areas.map(|kind| wanted(kind, unknown())).collect()
}

fn network_ready(found: &Found) -> NewCondition {
    match found {
        Found::Network(_) => wanted(NETWORK_READY, ("True", Reason::NetworkFound.as_str(), String::new())),
        Found::Managed(shown) => shown.ready.clone(),
        Found::Blocked(blocked) => {
            wanted(NETWORK_READY, ("False", blocked.reason.as_str(), blocked.message.clone()))
        }
    }
}

fn summary<'a>(
    found: &Found,
    network: &'a NewCondition,
    published: &'a Published,
) -> (&'static str, &'a str, String) {
    let credentials = &published.credentials;
    match (&published.deleting, found) {
        (Some(why), _) => ("False", Reason::Deleting.as_str(), why.message.clone()),
        // A network that exists cannot be used with credentials that AWS refuses.
        (None, Found::Network(_) | Found::Managed(_)) if credentials.status == "False" => {
            ("False", credentials.reason.as_str(), credentials.message.clone())
        }
        (None, _) => (network.status, network.reason.as_str(), network.message.clone()),
    }
}

fn paused(published: &Published) -> NewCondition {
    let (status, reason) =
        if published.paused { ("True", Reason::Paused) } else { ("False", Reason::NotPaused) };
    wanted("Paused", (status, reason.as_str(), String::new()))
}

fn deleting(published: &Published) -> NewCondition {
    let state = match &published.deleting {
        Some(why) => ("True", why.reason.as_str(), why.message.clone()),
        None => ("False", Reason::NotDeleting.as_str(), String::new()),
    };
    wanted("Deleting", state)
}

fn wanted(kind: &str, (status, reason, message): (&'static str, &str, String)) -> NewCondition {
    NewCondition { kind: kind.to_owned(), status, reason: reason.to_owned(), message }
}

/// The condition of the credentials: any response other than a refusal shows that they were accepted. `refusal`
/// is what AWS responded to others with the same credentials.
pub(super) fn credentials(found: &Found, refusal: Option<&CloudError>) -> NewCondition {
    let accepted = || ("True", Reason::Accepted, String::new());
    let of_error = |error: &CloudError| ("False", Reason::from(error.kind), error.to_string());
    let state = match (found, refusal) {
        (Found::Network(_), Some(error)) => of_error(error),
        (Found::Managed(shown), _) => {
            denied(shown).or_else(|| refusal.map(of_error)).unwrap_or_else(|| match &shown.failure {
                Some(error) if Reason::from(error.kind).is_transient() => {
                    ("Unknown", Reason::from(error.kind), error.to_string())
                }
                Some(_) | None => accepted(),
            })
        }
        (Found::Blocked(blocked), _) if blocked.reason.is_about_credentials() => {
            ("False", blocked.reason, blocked.message.clone())
        }
        (Found::Blocked(blocked), _) if blocked.reason.is_transient() => {
            ("Unknown", blocked.reason, blocked.message.clone())
        }
        (Found::Network(_), None) | (Found::Blocked(_), _) => accepted(),
    };
    let (status, reason, message) = state;
    wanted(CREDENTIALS_READY, (status, reason.as_str(), message))
}

/// The problem of a network that could not be read or changed because the credentials are not accepted, or
/// lack a right.
fn denied(shown: &Shown) -> Option<(&'static str, Reason, String)> {
    let failed = shown.failure.iter().map(|error| (Reason::from(error.kind), error.to_string()));
    let unmet = shown.areas.iter().chain([&shown.ready]).filter(|condition| condition.status == "False");
    let unmet = unmet.filter_map(|it| Some((Reason::parse(&it.reason)?, it.message.clone())));
    let (reason, message) = failed.chain(unmet).find(|(reason, _)| reason.is_about_credentials())?;
    Some(("False", reason, message))
}

pub(super) fn not_yet_used() -> NewCondition {
    wanted(
        CREDENTIALS_READY,
        ("Unknown", Reason::NotYetVerified.as_str(), "AWS has not been asked yet".to_owned()),
    )
}

/// A condition of the present status.
fn published(cluster: &FooCluster, kind: &str) -> Option<NewCondition> {
    let conditions = cluster.status.as_ref()?.conditions.iter();
    let condition = conditions.into_iter().find(|condition| condition.type_ == kind)?;
    let status = match condition.status.as_str() {
        "True" => "True",
        "False" => "False",
        _ => "Unknown",
    };
    Some(wanted(kind, (status, &condition.reason, condition.message.clone())))
}

/// One failure domain per zone, sorted. No control plane Machine runs in any of them.
fn failure_domains(network: &NetworkStatus) -> Vec<FailureDomain> {
    let zones: BTreeSet<&String> = network.subnets.iter().map(|subnet| &subnet.zone).collect();
    zones
        .into_iter()
        .map(|zone| FailureDomain { name: zone.clone(), control_plane: false, attributes: None })
        .collect()
}
