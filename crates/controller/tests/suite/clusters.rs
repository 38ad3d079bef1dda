//! FooClusters: what they publish, which they do not change, and their deletion.

use crate::support::{CLUSTER, NS, Pool, World, objects};
use foo_api::FooCluster;
use foo_api::names::MANAGED_BY_ANNOTATION;
use foo_model::SubnetId;
use foo_simulator_core::core::network::PRIVATE_SUBNETS;
use foo_simulator_core::{Fault, FaultRule};
use kube::ResourceExt;
use std::collections::BTreeSet;
use std::time::Duration;

impl World {
    fn infrastructure(&self) -> FooCluster {
        self.server.get(NS, CLUSTER).unwrap()
    }

    /// `status reason` of a condition of the FooCluster, and its message.
    fn cluster_state(&self, kind: &str) -> (String, String) {
        let conditions = self.infrastructure().status.unwrap_or_default().conditions;
        let condition = conditions.into_iter().find(|condition| condition.type_ == kind).unwrap();
        (format!("{} {}", condition.status, condition.reason), condition.message)
    }
}

impl Pool<'_> {
    fn subnets(&self) -> BTreeSet<SubnetId> {
        self.group().unwrap().subnets.iter().cloned().collect()
    }
}

#[tokio::test(start_paused = true)]
async fn a_cluster_of_another_owner_is_not_changed() {
    let world = World::empty();
    world.has(&objects::cluster());
    let mut managed = objects::foo_cluster();
    managed.annotations_mut().insert(MANAGED_BY_ANNOTATION.to_owned(), "terraform".to_owned());
    world.has(&managed);
    world.waits(Duration::from_mins(15)).await;
    let cluster = world.infrastructure();
    assert!(cluster.status.is_none() && cluster.finalizers().is_empty());
    assert_eq!(world.aws.total_calls(), 0);
    world
        .server
        .edit(NS, CLUSTER, |it: &mut FooCluster| drop(it.annotations_mut().remove(MANAGED_BY_ANNOTATION)))
        .unwrap();
    world.settles().await;
    assert_eq!(world.cluster_state("Ready").0, "True NetworkFound");
}

/// Cluster API chooses among them and shows them.
#[tokio::test(start_paused = true)]
async fn its_failure_domains_are_the_zones_of_its_subnets() {
    let world = World::new().await;
    let status = world.infrastructure().status.unwrap();
    let zones: BTreeSet<String> =
        status.network.unwrap().subnets.into_iter().map(|subnet| subnet.zone).collect();
    assert!(zones.len() > 1, "{zones:?}");
    let named: Vec<(String, bool)> =
        status.failure_domains.into_iter().map(|domain| (domain.name, domain.control_plane)).collect();
    assert_eq!(named, zones.into_iter().map(|zone| (zone, false)).collect::<Vec<_>>());
}

/// A user who serves the API server at an endpoint of the FooCluster writes it there; it is never touched.
#[tokio::test(start_paused = true)]
async fn the_control_plane_endpoint_stays_as_the_user_wrote_it() {
    let world = World::new().await;
    assert_eq!(world.infrastructure().spec.control_plane_endpoint, None);
    let endpoint = foo_api::shared::ApiEndpoint { host: "api.example.com".to_owned(), port: 443 };
    let set = |cluster: &mut FooCluster| cluster.spec.control_plane_endpoint = Some(endpoint.clone());
    world.server.edit(NS, CLUSTER, set).unwrap();
    world.settles().await;
    assert_eq!(world.infrastructure().spec.control_plane_endpoint, Some(endpoint));
}

#[tokio::test(start_paused = true)]
async fn failure_domains_of_a_machine_pool_choose_its_subnets() {
    let world = World::new().await;
    let network = world.infrastructure().status.unwrap().network.unwrap();
    let zone = network.subnets[0].zone.clone();
    let there: BTreeSet<SubnetId> = network
        .subnets
        .iter()
        .filter(|subnet| subnet.zone == zone)
        .map(|subnet| SubnetId::new(subnet.id.as_str()))
        .collect();
    assert!(there.len() < network.subnets.len());
    let pool = world.pool("p").begins_with(1);
    pool.edits_machine_pool(|machine_pool| machine_pool.spec.failure_domains = vec![zone.clone()]);
    world.settles().await;
    assert_eq!(pool.subnets(), there);
    // None named: all private ones.
    pool.edits_machine_pool(|machine_pool| machine_pool.spec.failure_domains.clear());
    world.settles().await;
    assert_eq!(pool.subnets(), PRIVATE_SUBNETS.map(SubnetId::new).into());
    pool.edits_machine_pool(|machine_pool| machine_pool.spec.failure_domains = vec!["mars-1a".to_owned()]);
    world.settles().await;
    let condition = pool.condition("Ready");
    assert_eq!(condition.reason, "NoSubnetInFailureDomain");
    assert!(condition.message.contains("mars-1a"), "{}", condition.message);
    assert_eq!(pool.subnets(), PRIVATE_SUBNETS.map(SubnetId::new).into(), "what is there stays");
}

#[tokio::test(start_paused = true)]
async fn a_cluster_under_deletion_reports_what_it_waits_for() {
    let world = World::new().await;
    let pool = world.pool("p").of(1).await;
    assert_eq!(world.cluster_state("Deleting").0, "False NotDeleting");
    world.server.delete::<FooCluster>(NS, CLUSTER).unwrap();
    world.settles().await;
    let (deleting, message) = world.cluster_state("Deleting");
    assert_eq!(deleting, "True WaitingForPools");
    assert!(message.ends_with("to be deleted: p"), "{message}");
    assert_eq!(world.cluster_state("Ready"), ("False Deleting".to_owned(), message));
    assert_eq!(world.cluster_state("NetworkReady").0, "True NetworkFound");
    pool.is_deleted();
    world.until("it is deleted", || world.server.get::<FooCluster>(NS, CLUSTER).is_none()).await;
}

#[tokio::test(start_paused = true)]
async fn a_cluster_whose_credentials_are_refused_is_not_ready() {
    let world = World::new().await;
    let pool = world.pool("p").of(1).await;
    assert_eq!(world.cluster_state("Ready").0, "True NetworkFound");
    let revoked = Fault::Error {
        code: "InvalidClientTokenId".to_owned(),
        status: 403,
        message: "The security token included in the request is invalid.".to_owned(),
    };
    let rule = world.aws.add_fault(FaultRule::on_everything(revoked));
    world.waits(Duration::from_mins(30)).await;
    for kind in ["CredentialsReady", "Ready"] {
        assert_eq!(world.cluster_state(kind).0, "False CredentialsInvalid", "{kind}");
    }
    assert_eq!(world.infrastructure().status.unwrap().ready, Some(true), "what was provisioned stays so");
    world.aws.remove_fault(rule);
    world.waits(Duration::from_mins(30)).await;
    world.settles().await;
    assert_eq!(world.cluster_state("Ready").0, "True NetworkFound");
    pool.is_of(1);
}
