//! FooPlans about networks: what the manager foresees is what then happens, and a plan changes nothing.

use super::accidents::private_default;
use super::{managed, small, tagged};
use crate::eks::control_plane;
use crate::plans::{as_json, settings};
use crate::support::{CLUSTER, World, objects};
use foo_api::FooCluster;
use foo_api::cluster::{ManagedNetwork, NatMode, Network, Zones};
use foo_api::plan::{CallsPlan, FooPlanStatus, Outcome};
use foo_model::names::{ADOPT_FROM_ANNOTATION, NETWORK_ID_ANNOTATION, TAG_INSTALLATION};
use foo_model::network::{Change, Destination, Peer, Protocol, RouteTarget, Rule};
use foo_simulator_core::DEFAULT_REGION;
use kube::ResourceExt;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

impl World {
    /// The FooCluster with a changed network, as a dry run shows it.
    fn planned_network(&self, change: impl FnOnce(&mut ManagedNetwork)) -> Value {
        let mut object = self.network_cluster();
        change(object.spec.network.managed.as_mut().unwrap());
        as_json(&object)
    }
}

fn plan_of(status: FooPlanStatus) -> CallsPlan {
    assert_eq!((status.error, status.pool, status.control_plane), (None, None, None));
    status.network.expect("a plan for a network")
}

fn fields(plan: &CallsPlan) -> Vec<&str> {
    plan.changes.iter().map(|change| change.field.as_str()).collect()
}

fn edit(network: &mut ManagedNetwork) {
    network.zones = Some(Zones { count: Some(3), names: None });
    network.nat = Some(NatMode::PerZone);
    network.tags = [("team".to_owned(), "blue".to_owned())].into();
}

const READS: [&str; 4] = ["Describe", "Get", "List", "Search"];

/// Calls that change something, by their operation.
fn writes(world: &World) -> BTreeMap<String, u64> {
    let calls = world.aws.call_counts();
    let writes = calls.into_iter().filter(|((_, name), _)| !READS.iter().any(|it| name.starts_with(it)));
    let mut counts = BTreeMap::new();
    for ((_, name), count) in writes {
        *counts.entry(name).or_default() += count.calls;
    }
    counts
}

#[tokio::test(start_paused = true)]
async fn an_edit_is_planned_as_it_then_happens() {
    let world = World::of_network(small()).await;
    world.waits(Duration::from_mins(30)).await;
    let plan = plan_of(world.plans(vec![world.planned_network(edit)]).await);
    // What is created has no settings to compare; that is in the calls.
    let new_nat = ("routes.0.0.0.0/0", Some("\"a new one\""));
    let routes: Vec<_> =
        settings(&plan.settings).into_iter().filter(|it| it.0.starts_with("routes")).collect();
    assert!(routes.iter().all(|it| (it.0, it.1) == new_nat) && routes.len() == 1, "{:#?}", plan.settings);
    let resources: Vec<&str> = plan.settings.iter().map(|it| it.resource.as_str()).collect();
    assert!(!resources.iter().any(|it| it.contains("planned-")), "{resources:?}");
    let changed = fields(&plan);
    for field in ["nat", "tags.team"] {
        assert!(changed.contains(&field), "{changed:?}");
    }
    assert!(changed.iter().any(|it| it.starts_with("subnets.public/eu-central-1c.")), "{changed:?}");
    assert!(!changed.iter().any(|it| it.contains("eu-central-1a")), "{changed:?}");
    assert_eq!((plan.outcome, plan.remaining.len()), (Outcome::Settled, 0), "{plan:#?}");
    assert!(plan.seconds >= 120, "a NAT gateway takes two minutes: {}", plan.seconds);
    assert!(plan.calls[0].why.contains('/'), "the part is named: {:?}", plan.calls[0]);

    world.forgets();
    world.edits_network(edit);
    world.until("there are six subnets", || world.network_status().subnets.len() == 6).await;
    world.network_gets_ready().await;
    world.waits(Duration::from_mins(30)).await;
    let mut planned = BTreeMap::new();
    for call in &plan.calls {
        *planned.entry(call.operation.clone()).or_default() += 1;
    }
    assert_eq!(writes(&world), planned);
}

#[tokio::test(start_paused = true)]
async fn a_plan_changes_nothing_and_an_unchanged_network_needs_nothing() {
    let world = World::of_network(small()).await;
    world.waits(Duration::from_mins(30)).await;
    let (object, parts) = (world.network_cluster(), tagged(&world.region));
    world.forgets();
    plan_of(world.plans(vec![world.planned_network(edit)]).await);
    let plan = plan_of(world.plans(vec![world.planned_network(|_| {})]).await);
    assert_eq!((plan.outcome, plan.seconds, plan.aws_calls), (Outcome::Settled, 0, 0), "{plan:#?}");
    assert_eq!((plan.changes.len(), plan.notes.len()), (0, 0), "{plan:#?}");
    world.waits(Duration::from_mins(30)).await;
    assert_eq!(writes(&world), BTreeMap::new());
    assert_eq!(world.network_cluster(), object);
    assert_eq!(tagged(&world.region), parts);
}

/// While EC2 refuses what the manager would do about it.
#[tokio::test(start_paused = true)]
async fn what_another_user_changed_in_the_network_is_shown_with_both_values() {
    let world = World::of_network(small()).await;
    let refusal = world.refuses_changes_of_the_manager();
    let (table, Some(RouteTarget::NatGateway(nat))) = private_default(&world) else { panic!("no route") };
    let parts = tagged(&world.region);
    let group = parts.security_groups.keys().next().unwrap().clone();
    let ssh = Rule {
        protocol: Protocol::Tcp(22, 22),
        peer: Peer::V4("0.0.0.0/0".parse().unwrap()),
        description: "by hand".to_owned(),
    };
    let gateway = parts.internet_gateways.keys().next().unwrap();
    let destination = Destination::V4("0.0.0.0/0".parse().unwrap());
    let tags = [("Name".to_owned(), "another".to_owned())].into();
    for change in [
        Change::ReplaceRoute {
            table: table.clone(),
            destination,
            target: RouteTarget::InternetGateway(gateway.clone()),
        },
        Change::AuthorizeSecurityGroupIngress { group: group.clone(), rules: [ssh].into() },
        Change::CreateTags { ids: [group.to_string()].into(), tags },
    ] {
        foo_cloud::Networks::change_network(&world.another_user(), &change).await.unwrap();
    }
    world.waits(Duration::from_mins(30)).await;
    let plan = plan_of(world.plans(vec![world.planned_network(|_| {})]).await);
    let (nat, gateway) = (format!("\"{nat}\""), format!("\"{gateway}\""));
    let expected = [
        ("routes.0.0.0.0/0", Some(nat.as_str()), Some(gateway.as_str())),
        ("ingress.tcp 22 0.0.0.0/0", None, Some("\"by hand\"")),
        ("tags.Name", Some("\"c-security-group-node\""), Some("\"another\"")),
    ];
    assert_eq!(settings(&plan.settings), expected, "{plan:#?}");
    assert_eq!(plan.settings[1].resource, format!("security-group/node {group}"));
    world.aws.remove_fault(refusal);
    world.waits(Duration::from_hours(1)).await;
    let plan = plan_of(world.plans(vec![world.planned_network(|_| {})]).await);
    assert_eq!((plan.settings.len(), plan.calls.len()), (0, 0), "{plan:#?}");
}

#[tokio::test(start_paused = true)]
async fn a_paused_network_is_planned_without_calls() {
    let world = World::of_network(small()).await;
    world.pauses_network(true);
    world.waits(Duration::from_secs(5)).await;
    let plan = plan_of(world.plans(vec![world.planned_network(edit)]).await);
    assert_eq!((plan.outcome, plan.aws_calls), (Outcome::Settled, 0), "{plan:#?}");
    assert!(plan.notes.iter().any(|note| note.contains("paused")), "{:?}", plan.notes);
    assert!(fields(&plan).contains(&"nat"), "{:?}", plan.changes);
}

#[tokio::test(start_paused = true)]
async fn questions_without_a_plan_say_why() {
    let world = World::of_network(small()).await;
    let with = |pointer: &str, value: Value| {
        let mut object = world.planned_network(|_| {});
        *object.pointer_mut(pointer).unwrap() = value;
        object
    };
    let mut existing = world.network_cluster();
    existing.spec.network = Network { managed: None, ..existing.spec.network };
    let elsewhere = |network: &mut ManagedNetwork| network.vpc_id = Some("vpc-0123456789abcdef0".to_owned());
    let mut identified = world.network_cluster();
    identified.spec.identity_ref = Some(objects::identity_reference("of-others"));
    let public = |network: &mut ManagedNetwork| network.secondary_cidrs = vec!["8.8.8.0/24".to_owned()];
    for (objects, expected) in [
        (vec![with("/metadata/name", json!("none"))], "there is no FooCluster none in namespace default"),
        (vec![with("/spec/region", json!("us-east-1"))], "the region and the identity of the present"),
        (vec![as_json(&identified)], "the region and the identity of the present"),
        (vec![as_json(&existing)], "networks that the provider creates"),
        (vec![world.planned_network(public)], "RangeUnfit"),
        (vec![world.planned_network(elsewhere)], "the VPC of the present"),
        (
            vec![as_json(&world.network_cluster()), as_json(&control_plane("other", "v1.34.0", json!({})))],
            "which does not fit",
        ),
        (
            vec![as_json(&world.network_cluster()), as_json(&objects::machine_pool("p", 1))],
            "has FooCluster (infrastructure.foo.com/v1alpha1), which does not fit",
        ),
    ] {
        let status = world.plans(objects).await;
        let error = status.error.unwrap_or_default();
        assert!(error.contains(expected), "{error}");
        assert_eq!(status.network, None);
    }
}

#[tokio::test(start_paused = true)]
async fn a_paused_network_is_planned_by_a_manager_that_never_had_a_pass_over_it() {
    let mut world = World::of_network(small()).await;
    world.pauses_network(true);
    world.waits(Duration::from_secs(5)).await;
    world.kills_the_manager();
    world.starts_the_manager();
    world.waits(Duration::from_secs(30)).await;
    let plan = plan_of(world.plans(vec![world.planned_network(edit)]).await);
    assert!(fields(&plan).contains(&"nat") && plan.aws_calls == 0, "{plan:#?}");
}

/// Whoever writes a FooPlan by hand claims whatever they like: the plan is about their own network all the same, which
/// another management cluster's is not.
#[tokio::test(start_paused = true)]
async fn a_forged_plan_shows_nothing_of_another_network() {
    let world = World::of_network(small()).await;
    let mut forged: FooCluster = managed(small());
    forged.metadata.name = Some(CLUSTER.to_owned());
    for (name, value) in
        [(NETWORK_ID_ANNOTATION, "of-another"), (ADOPT_FROM_ANNOTATION, "another-installation")]
    {
        forged.annotations_mut().insert(name.to_owned(), value.to_owned());
    }
    let plan = plan_of(world.plans(vec![as_json(&forged)]).await);
    assert_eq!((plan.outcome, plan.aws_calls, plan.changes.len()), (Outcome::Settled, 0, 0), "{plan:#?}");
    let vpc = world.network_status().vpc_id;
    let tags = [(TAG_INSTALLATION.to_owned(), "another-installation".to_owned())].into();
    let change = Change::CreateTags { ids: [vpc].into(), tags };
    let person = world.aws.cloud(DEFAULT_REGION, "person");
    foo_cloud::Networks::change_network(&person, &change).await.unwrap();
    let elsewhere = || world.network_state("NetworkReady").0.contains("NetworkOfAnotherInstallation");
    world.until("it is seen", elsewhere).await;
    let managed = forged.spec.network.managed.as_mut().unwrap();
    edit(managed);
    let plan = plan_of(world.plans(vec![as_json(&forged)]).await);
    assert_eq!((plan.outcome, plan.aws_calls), (Outcome::Waiting, 0), "{plan:#?}");
}
