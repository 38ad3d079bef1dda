//! A Cluster is created, patched, refused, upgraded by two minors and deleted; at every step that core lets an
//! extension block, it blocks once.

use super::book::{BLOCKED, Book, RETRY, Step};
use super::management::{CLUSTER, MACHINE, MACHINE_DEPLOYMENT, Management, on_management};
use super::provider::{TEST_CONTROL_PLANE, TEST_MACHINE};
use super::served::{Served, handlers, register};
use super::topology::{self, VERSION};
use anyhow::{Context as _, Result, ensure};
use foo_e2e::version_is_accepted;
use foo_runtime_sdk::hooks::{
    AfterClusterUpgrade, AfterControlPlaneInitialized, AfterControlPlaneInitializedRequest,
    AfterControlPlaneUpgrade, AfterWorkersUpgrade, BeforeClusterCreate, BeforeClusterDelete,
    BeforeClusterUpgrade, BeforeControlPlaneUpgrade, BeforeWorkersUpgrade, CATALOGUE, DiscoverVariables,
    DiscoverVariablesRequest, GeneratePatches, GeneratePatchesRequest, GeneratePatchesResponseItem,
    GenerateUpgradePlan, GenerateUpgradePlanRequest, Hook as _, UpgradePlan, ValidateTopology,
    ValidateTopologyRequest, VariableDefinition, VariableSchema,
};
use foo_runtime_sdk::metrics::CallOutcome;
use foo_runtime_sdk::variables::Variables;
use foo_runtime_sdk::{Extension, Failure, Handler, Selector, patch};
use foo_testbed::world::SOON;
use foo_testbed::world::kinds::{condition, text};
use foo_testbed::{Probe, wait_until};
use serde_json::{Value, json};
use std::time::Instant;

/// Namespace, Cluster and ExtensionConfig.
const NAME: &str = "life";
const NEXT: &str = "v1.35.4";
const LAST: &str = "v1.36.3";
/// Of an upgrade that has to wait for the one before.
const BEYOND: &str = "v1.36.4";
const VERSIONS: [&str; 3] = [VERSION, NEXT, LAST];

const NOT_YET: &str = "the registry has not taken the Cluster yet";
const FORBIDDEN: &str = "the flavour forbidden is not allowed here";

/// Hooks that core calls for MachineDeployments and kubeadm control planes only: `in_place`.
const IN_PLACE: [&str; 3] = ["CanUpdateMachine", "CanUpdateMachineSet", "UpdateMachine"];
/// Hooks that core calls at every computation of a topology.
const REPEATED: [&str; 4] =
    ["GeneratePatches", "ValidateTopology", "DiscoverVariables", "GenerateUpgradePlan"];

/// Each step of the upgrade in order: the hook, the version that it is about, and the versions of control plane and
/// workers while it blocks.
const UPGRADE: [(&str, &str, &str, &str); 10] = [
    ("BeforeClusterUpgrade", LAST, VERSION, VERSION),
    ("BeforeControlPlaneUpgrade", NEXT, VERSION, VERSION),
    ("AfterControlPlaneUpgrade", NEXT, NEXT, VERSION),
    ("BeforeWorkersUpgrade", NEXT, NEXT, VERSION),
    ("AfterWorkersUpgrade", NEXT, NEXT, NEXT),
    ("BeforeControlPlaneUpgrade", LAST, NEXT, NEXT),
    ("AfterControlPlaneUpgrade", LAST, LAST, NEXT),
    ("BeforeWorkersUpgrade", LAST, LAST, NEXT),
    ("AfterWorkersUpgrade", LAST, LAST, LAST),
    ("AfterClusterUpgrade", LAST, LAST, LAST),
];

/// An extension with a handler for every hook of a Cluster's life.
fn extension(book: &Book) -> Result<Extension> {
    let noted = || book.clone();
    let (variables, patches, validate, plan, initialized) = (noted(), noted(), noted(), noted(), noted());
    Ok(Extension::new([
        book.holding(BeforeClusterCreate),
        book.holding(BeforeClusterUpgrade),
        book.holding(BeforeControlPlaneUpgrade),
        book.holding(AfterControlPlaneUpgrade),
        book.holding(BeforeWorkersUpgrade),
        book.holding(AfterWorkersUpgrade),
        book.holding(AfterClusterUpgrade),
        book.holding(BeforeClusterDelete),
        Handler::new(AfterControlPlaneInitialized, "initialized", move |request| {
            std::future::ready(welcome(&initialized, &request))
        }),
        Handler::new(DiscoverVariables, "variables", move |request: DiscoverVariablesRequest| {
            variables.note("DiscoverVariables", &request);
            std::future::ready(Ok(vec![flavour()]))
        }),
        Handler::new(GeneratePatches, "patches", move |request| {
            patches.note("GeneratePatches", &request);
            std::future::ready(flavoured(&request))
        }),
        Handler::new(ValidateTopology, "validate", move |request| {
            validate.note("ValidateTopology", &request);
            std::future::ready(allowed(&request))
        }),
        Handler::new(GenerateUpgradePlan, "plan", move |request| {
            plan.note("GenerateUpgradePlan", &request);
            std::future::ready(Ok(every_minor(&request)))
        }),
    ])?)
}

/// Refuses until the test lets it.
fn welcome(book: &Book, request: &AfterControlPlaneInitializedRequest) -> Result<(), Failure> {
    book.note("AfterControlPlaneInitialized", request);
    let known = request.cluster.annotation("runtime.test/registered").is_some();
    if known { Ok(()) } else { Err(Failure::new(NOT_YET)) }
}

fn flavour() -> VariableDefinition {
    VariableDefinition {
        name: "flavour".to_owned(),
        required: Some(true),
        schema: VariableSchema { open_api_v3_schema: json!({"type": "string", "minLength": 1}) },
        ..VariableDefinition::default()
    }
}

/// Writes the variable, the settings and builtins into the templates of control plane and machines.
fn flavoured(request: &GeneratePatchesRequest) -> Result<Vec<GeneratePatchesResponseItem>, Failure> {
    let kinds = ["TestControlPlaneTemplate", "TestMachineTemplate"];
    let own = kinds.map(|kind| Selector::of("test.foo.com", kind));
    let mut patches = Vec::new();
    for item in request.items.iter().flatten().filter(|item| own.iter().any(|it| it.matches(&item.object))) {
        let variables = Variables::new(&item.variables, &request.variables);
        let builtins = variables.builtins()?;
        let mut wanted = item.object.clone();
        let spec = wanted.0.pointer_mut("/spec/template/spec").and_then(Value::as_object_mut);
        let spec = spec.ok_or_else(|| Failure::new("a template has no spec.template.spec"))?;
        spec.insert("flavour".to_owned(), variables.get("flavour")?);
        for setting in ["palette", "paper"] {
            spec.insert(setting.to_owned(), request.settings.get(setting).into());
        }
        spec.insert("cluster".to_owned(), builtins.cluster.map(|cluster| cluster.name).into());
        spec.insert(
            "workers".to_owned(),
            builtins.machine_deployment.map(|workers| workers.topology_name).into(),
        );
        patches.extend(patch::between(&item.object, &wanted)?.map(|patch| item.patched(patch)));
    }
    Ok(patches)
}

/// Refuses one flavour, which it sees in the patched templates only.
fn allowed(request: &ValidateTopologyRequest) -> Result<(), Failure> {
    let mut flavours =
        request.items.iter().flatten().filter_map(|item| item.object.at("/spec/template/spec/flavour"));
    if flavours.any(|flavour| flavour == "forbidden") { Err(Failure::new(FORBIDDEN)) } else { Ok(()) }
}

/// Every minor for the workers, too, though core would be content with the last one.
fn every_minor(request: &GenerateUpgradePlanRequest) -> UpgradePlan {
    let after = |from: &str| {
        let at = VERSIONS.iter().position(|version| *version == from);
        let rest = at.map_or(&[][..], |at| VERSIONS.get(at + 1..).unwrap_or_default());
        rest.iter().map(|&version| version.to_owned()).collect()
    };
    UpgradePlan {
        control_plane: after(&request.from_control_plane_kubernetes_version),
        workers: after(&request.from_workers_kubernetes_version),
    }
}

#[test]
fn core_calls_every_hook_in_the_life_of_a_cluster() {
    on_management(async |management| {
        let book = Book::default();
        let served = Served::start(management, extension(&book)?).await?;
        let registered = register(management, NAME, served.port).await?;
        ensure!(handlers(&registered).len() == 13, "{registered:#}");
        Box::pin(variables_are_discovered(management)).await?;
        Box::pin(creation_waits(management, &book)).await?;
        Box::pin(the_control_plane_is_welcomed(management, &book)).await?;
        Box::pin(objects_are_patched(management)).await?;
        Box::pin(a_topology_is_refused(management)).await?;
        let waited = Box::pin(an_upgrade_waits_at_every_step(management, &book)).await?;
        Box::pin(deletion_waits(management, &book)).await?;
        all_was_asked(&book, &served, waited)
    });
}

async fn variables_are_discovered(management: &Management) -> Result<()> {
    let external = json!({
        "discoverVariablesExtension": format!("variables.{NAME}"),
        "generatePatchesExtension": format!("patches.{NAME}"),
        "validateTopologyExtension": format!("validate.{NAME}"),
        "settings": {"paper": "of the ClusterClass"},
    });
    topology::class(management, NAME, |class| {
        class["spec"]["patches"] = json!([{"name": "flavours", "external": external}]);
        class["spec"]["upgrade"] =
            json!({"external": {"generateUpgradePlanExtension": format!("plan.{NAME}")}});
    })
    .await?;
    let class = topology::with_variables(management, NAME, topology::CLASS).await?;
    let variables = class.pointer("/status/variables").context("no variables")?;
    let definition = variables.pointer("/0/definitions/0").context("no definition")?;
    ensure!(text(definition, "/from") == "flavours", "{variables:#}");
    ensure!(definition.pointer("/required") == Some(&json!(true)), "{variables:#}");
    ensure!(text(definition, "/schema/openAPIV3Schema/type") == "string", "{variables:#}");
    Ok(())
}

/// However often core has reason to read the Cluster meanwhile, it calls no earlier than it was asked to.
async fn creation_waits(management: &Management, book: &Book) -> Result<()> {
    topology::cluster(management, NAME, NAME, |cluster| {
        cluster["spec"]["topology"]["variables"] = json!([{"name": "flavour", "value": "large"}]);
        cluster["spec"]["topology"]["workers"] = json!({"machineDeployments": [{
            "class": "workers", "name": "md", "replicas": 1,
            "variables": {"overrides": [{"name": "flavour", "value": "small"}]},
        }]});
    })
    .await?;
    let blocked = topology::has_condition(management, NAME, NAME, &["BeforeClusterCreate", BLOCKED]).await?;
    ensure!(!topology::is_created(&blocked), "{blocked:#}");
    let (since, before) = (Instant::now(), book.of("BeforeClusterCreate").len());
    for touch in 0.. {
        if since.elapsed() > RETRY * 3 {
            break;
        }
        management.touch(CLUSTER, NAME, NAME, &touch.to_string()).await?;
    }
    let calls = u64::try_from(book.of("BeforeClusterCreate").len() - before)?;
    let most = since.elapsed().as_secs() / RETRY.as_secs() + 1;
    ensure!((1..=most).contains(&calls), "{calls} calls where at most {most} were asked for");
    ensure!(management.list(TEST_CONTROL_PLANE, NAME).await?.is_empty(), "made before it may be");
    book.open("BeforeClusterCreate", "");
    Ok(())
}

/// The hook cannot block; but it is called until it succeeds, and changes wait for that.
async fn the_control_plane_is_welcomed(management: &Management, book: &Book) -> Result<()> {
    topology::has_condition(management, NAME, NAME, &["AfterControlPlaneInitialized", NOT_YET]).await?;
    management.patch(CLUSTER, NAME, NAME, &with_flavour("early")).await?;
    let before = book.of("AfterControlPlaneInitialized").len();
    wait_until("calls after the change", SOON, async || {
        let calls = book.of("AfterControlPlaneInitialized").len() - before;
        Ok(Probe::when(calls >= 2, || format!("{calls} calls")))
    })
    .await?;
    ensure!(control_plane_flavour(management).await? == "large", "a change did not wait for the hook");
    management.patch(CLUSTER, NAME, NAME, &with_flavour("large")).await?;
    let registered = json!({"metadata": {"annotations": {"runtime.test/registered": ""}}});
    management.patch(CLUSTER, NAME, NAME, &registered).await?;
    topology::is_reconciled(management, NAME, NAME).await?;
    // Core's own cache may not have the end of the hook yet: then the pass that the change causes calls it once more.
    wait_until("the calls to end", SOON, async || {
        let calls = book.of("AfterControlPlaneInitialized").len();
        management.touch(CLUSTER, NAME, NAME, &format!("initialized-{calls}")).await?;
        tokio::time::sleep(RETRY).await;
        let now = book.of("AfterControlPlaneInitialized").len();
        Ok(Probe::when(now == calls, || format!("{now} calls, {calls} before the last change")))
    })
    .await?;
    Ok(())
}

async fn objects_are_patched(management: &Management) -> Result<()> {
    let machines = wait_until("a machine", SOON, async || {
        let machines = management.list(TEST_MACHINE, NAME).await?;
        Ok(if machines.is_empty() { Probe::NotYet("none".to_owned()) } else { Probe::Done(machines) })
    })
    .await?;
    let control_planes = management.list(TEST_CONTROL_PLANE, NAME).await?;
    for (objects, flavour, workers) in
        [(&control_planes, "large", json!(null)), (&machines, "small", json!("md"))]
    {
        let spec = objects.first().and_then(|object| object.get("spec")).context("no spec")?;
        let expected = [
            ("size", json!("small")),
            ("flavour", json!(flavour)),
            ("palette", json!("of the ExtensionConfig")),
            ("paper", json!("of the ClusterClass")),
            ("cluster", json!(NAME)),
        ];
        for (field, value) in expected {
            ensure!(spec.get(field) == Some(&value), "{field} is not {value}: {spec:#}");
        }
        ensure!(spec.get("workers").unwrap_or(&Value::Null) == &workers, "{spec:#}");
    }
    Ok(())
}

/// Nothing of a refused topology is written; the one before stays.
async fn a_topology_is_refused(management: &Management) -> Result<()> {
    management.patch(CLUSTER, NAME, NAME, &with_flavour("forbidden")).await?;
    topology::has_condition(management, NAME, NAME, &[FORBIDDEN]).await?;
    ensure!(control_plane_flavour(management).await? == "large", "written although it was refused");
    management.patch(CLUSTER, NAME, NAME, &with_flavour("medium")).await?;
    topology::is_reconciled(management, NAME, NAME).await?;
    wait_until("the allowed flavour", SOON, async || {
        let flavour = control_plane_flavour(management).await?;
        Ok(Probe::when(flavour == "medium", || flavour))
    })
    .await
}

fn with_flavour(flavour: &str) -> Value {
    json!({"spec": {"topology": {"variables": [{"name": "flavour", "value": flavour}]}}})
}

async fn control_plane_flavour(management: &Management) -> Result<String> {
    let control_planes = management.list(TEST_CONTROL_PLANE, NAME).await?;
    Ok(control_planes.first().map(|it| text(it, "/spec/flavour").to_owned()).unwrap_or_default())
}

/// Whether core waited at every step. At a busy API server Cluster API v1.14 can forget a hook: it notes in the
/// annotation `pending-hooks` that the hook is due, and its next patch of the Cluster, computed before, takes the note
/// away. Then the workers are upgraded with the control plane; no response of an extension prevents it.
async fn an_upgrade_waits_at_every_step(management: &Management, book: &Book) -> Result<bool> {
    let mut waited = true;
    let version = json!({"spec": {"topology": {"version": LAST}}});
    version_is_accepted(SOON, async || management.patch(CLUSTER, NAME, NAME, &version).await).await?;
    for (hook, version, control_plane, workers) in UPGRADE {
        let blocking = format!("Following hooks are blocking upgrade: {hook}: {BLOCKED}");
        topology::has_condition(
            management,
            NAME,
            NAME,
            &[&format!("Cluster is upgrading to {LAST}"), &blocking],
        )
        .await?;
        wait_until("the call about this version", SOON, async || {
            let asked = book.of(hook).iter().any(|call| call.step.1 == version);
            Ok(Probe::when(asked, || format!("{:?}", book.of(hook))))
        })
        .await?;
        let control_planes = management.list(TEST_CONTROL_PLANE, NAME).await?;
        let deployments = management.list(MACHINE_DEPLOYMENT, NAME).await?;
        let found = (
            control_planes.first().map(|it| text(it, "/spec/version")),
            deployments.first().map(|it| text(it, "/spec/template/spec/version")),
        );
        if hook == AfterControlPlaneUpgrade::NAME && found == (Some(version), Some(version)) {
            println!("core forgot that {hook} is due: the rest of the upgrade is not checked");
            for (hook, version, ..) in UPGRADE {
                book.open(hook, version);
            }
            waited = false;
            break;
        }
        ensure!(found == (Some(control_plane), Some(workers)), "{found:?} at {hook} {version}");
        if hook == AfterClusterUpgrade::NAME {
            let beyond = json!({"spec": {"topology": {"version": BEYOND}}});
            let refused = management.patch(CLUSTER, NAME, NAME, &beyond).await.err();
            let refused = format!("{:#}", refused.context("the next upgrade did not wait")?);
            ensure!(refused.contains("\"AfterClusterUpgrade\" hook is still blocking"), "{refused}");
        }
        book.open(hook, version);
    }
    topology::is_reconciled(management, NAME, NAME).await?;
    for machine in management.list(MACHINE, NAME).await? {
        ensure!(text(&machine, "/spec/version") == LAST, "{machine:#}");
    }
    Ok(waited)
}

async fn deletion_waits(management: &Management, book: &Book) -> Result<()> {
    management.delete(CLUSTER, NAME, NAME).await?;
    let blocking = format!("Following hooks are blocking delete: BeforeClusterDelete: {BLOCKED}");
    topology::has_condition(management, NAME, NAME, &["Cluster is deleting", &blocking]).await?;
    let deployments = management.list(MACHINE_DEPLOYMENT, NAME).await?;
    let untouched = deployments.iter().all(|it| it.pointer("/metadata/deletionTimestamp").is_none());
    ensure!(untouched && deployments.len() == 1, "{deployments:#?}");
    book.open("BeforeClusterDelete", "");
    management.until((CLUSTER, NAME, NAME), "deleted", Value::is_null).await.map(drop)
}

fn all_was_asked(book: &Book, served: &Served, waited: bool) -> Result<()> {
    for row in CATALOGUE.iter().filter(|row| !IN_PLACE.contains(&row.name)) {
        let (calls, responded_at) =
            (book.of(row.name).len(), served.metrics.calls(row.name, CallOutcome::Success));
        ensure!(responded_at > 0, "{} was not called", row.name);
        ensure!(row.name == "Discovery" || calls > 0, "{} was not noted", row.name);
        let blocked = served.metrics.calls(row.name, CallOutcome::Retry);
        // What core forgot, it does not wait for.
        let forgotten = !waited && UPGRADE.iter().any(|(hook, ..)| *hook == row.name);
        ensure!(forgotten || (blocked > 0) == row.blocking, "{} blocked {blocked} times", row.name);
        for broken in [CallOutcome::Late, CallOutcome::Panic, CallOutcome::Refused] {
            ensure!(served.metrics.calls(row.name, broken) == 0, "{}: {broken:?}", row.name);
        }
    }
    let life = [("BeforeClusterCreate", ""), ("AfterControlPlaneInitialized", "")];
    let upgrade = UPGRADE.map(|(hook, version, ..)| (hook, version));
    let expected = life.into_iter().chain(upgrade).chain([("BeforeClusterDelete", "")]);
    let expected: Vec<Step> = expected.map(|(hook, version)| (hook, version.to_owned())).collect();
    let steps = book.steps_without(&REPEATED);
    ensure!(!waited || steps == expected, "{steps:?}");
    let asked = book.of("BeforeClusterUpgrade").first().map(|call| call.request.clone()).unwrap_or_default();
    let remaining = json!([{"version": NEXT}, {"version": LAST}]);
    ensure!(text(&asked, "/fromKubernetesVersion") == VERSION, "{asked:#}");
    ensure!(asked.get("controlPlaneUpgrades") == Some(&remaining), "{asked:#}");
    ensure!(asked.get("workersUpgrades") == Some(&remaining), "{asked:#}");
    let cluster = asked.get("cluster").context("no Cluster")?;
    ensure!(
        text(cluster, "/metadata/name") == NAME && condition(cluster, "Available").is_none(),
        "{asked:#}"
    );
    book.check_waits()
}
