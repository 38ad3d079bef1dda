//! Cluster API's own end-to-end specs, unchanged, with the provider: `hack/tools/capi-specs` runs one at a time, with
//! what a provider brings. The management cluster's API server is the workload cluster of all.
//!
//! A few are run with all other tests; `make conformance` runs all (`FOO_SPECS=whole`) and prints which specs of
//! Cluster API are not among them, and why. Part of a name in `FOO_SPECS` selects those that have it.

mod extension;

use anyhow::{Context as _, Result, ensure};
use foo_e2e::{SharedWorld, set};
use foo_simulator::core::catalogue::IMAGE_X86_64_NEWER;
use foo_testbed::world::network::ids;
use foo_testbed::world::{IMAGE, PoolName, RELEASE, WorldOptions, manifests};
use foo_testbed::{Probe, Process, World, story, wait_until};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

/// Those that a change of this repository broke before, or that would show it first.
const SHORT: [&str; 2] = ["QuickStartSpec with resilience checks", "MachinePoolSpec, flavour default"];
/// Kubernetes version of the Nodes of one image, and of those of the other.
const VERSION: &str = "v1.36.2";
const UPGRADE: &str = manifests::VERSION;
/// Version of control planes in EKS, as kubelets of its images spell it.
const EKS_VERSION: &str = "v1.34.2-eks-113cf36";
/// A NAT gateway takes this long, instead of minutes.
const NAT_GATEWAY: Duration = Duration::from_secs(3);
/// Name of the Cluster of our ClusterClass whose Machines join by kubeadm.
const TOPOLOGY: &str = "topology";
/// For one spec. The steps of a spec have five minutes each.
const DEADLINE: Duration = Duration::from_mins(20);

static WORLD: SharedWorld = SharedWorld::new(module_path!(), options);

#[test]
fn the_end_to_end_specs_of_cluster_api_pass() {
    WORLD.run(async |world| {
        let program = world.api().tools().program("capi-specs");
        ensure!(program.exists(), "there is no {}: run hack/tools/build.sh", program.display());
        let all = foo_testbed::run(&program, [""; 0], &[], "").await?.stdout;
        every_flavour_is_run(&all)?;
        // It fails if Cluster API has a spec that is neither run nor left out with a reason.
        let left_out = foo_testbed::run(&program, ["--left-out"], &[], "").await?.stdout;
        let wanted = std::env::var("FOO_SPECS").ok();
        let is_wanted = |spec: &str| match wanted.as_deref() {
            None => SHORT.contains(&spec),
            Some("whole") => true,
            Some(part) => spec.contains(part),
        };
        let specs: Vec<String> = all.lines().filter(|spec| is_wanted(spec)).map(str::to_owned).collect();
        let enough = if wanted.is_none() { SHORT.len() } else { 1 };
        ensure!(specs.len() >= enough, "{} knows other specs: {all}", program.display());

        if wanted.as_deref() == Some("whole") {
            println!("Specs of Cluster API that are not run:");
            left_out.lines().for_each(|line| println!("  {line}"));
        }
        prepare(world)?;
        let needs_extension = specs.iter().any(|spec| spec.contains("extension"));
        let _extension = if needs_extension { Some(extension::start(world).await?) } else { None };
        let (specs, failed) = (Mutex::new(specs.into_iter()), Mutex::new(Vec::new()));
        let next = || specs.lock().unwrap().next();
        // Two at once: the components share two processors on small machines.
        let player = async || {
            while let Some(spec) = next() {
                let outcomes = run_spec(world, &program, &spec).await;
                for outcome in outcomes.unwrap_or_else(|error| vec![SpecOutcome::failed(&spec, &error)]) {
                    println!("{outcome}");
                    if !outcome.passed {
                        failed.lock().unwrap().push(outcome.to_string());
                    }
                }
            }
        };
        tokio::join!(player(), player());
        let failed = failed.into_inner().unwrap();
        ensure!(failed.is_empty(), "{}\nlogs: {}", failed.join("\n"), specs_folder(world).display());
        nothing_is_left(world)
    });
}

/// Each cluster template of the release is the flavour of a spec.
fn every_flavour_is_run(specs: &str) -> Result<()> {
    let release = tempfile::tempdir()?;
    xtask::release::write(&xtask::root(), RELEASE, xtask::release::IMAGE, release.path())?;
    let mut flavours = Vec::new();
    for file in std::fs::read_dir(release.path().join("infrastructure-foo").join(RELEASE))? {
        let file = file?.file_name().to_string_lossy().into_owned();
        let flavour = file.strip_prefix("cluster-template").and_then(|it| it.strip_suffix(".yaml"));
        // clusterctl's name for the template without one.
        flavours.extend(flavour.map(|it| it.strip_prefix('-').unwrap_or("default").to_owned()));
    }
    ensure!(flavours.len() >= 8, "the release has other files: {flavours:?}");
    for flavour in flavours {
        let of_flavour = format!("flavour {flavour}");
        let mut parts = specs.lines().flat_map(|spec| spec.split(", "));
        ensure!(parts.any(|part| part == of_flavour), "no spec is run with the flavour {flavour}: {specs}");
    }
    Ok(())
}

fn options() -> WorldOptions {
    let kubelet_versions =
        [(IMAGE, VERSION), (IMAGE_X86_64_NEWER, UPGRADE)].map(|(a, b)| (a.to_owned(), b.to_owned()));
    let kubelet_versions = kubelet_versions.into();
    WorldOptions { kubeadm_bootstrap: true, kubelet_versions, ..WorldOptions::default() }
}

/// What is in the AWS account: roles and images for EKS, and NAT gateways that do not take minutes.
fn prepare(world: &World) -> Result<()> {
    foo_testbed::prepare_eks(world.aws().simulator());
    foo_testbed::publish_images(world.aws().region(), &[EKS_VERSION])?;
    world.aws().region().change_settings(|settings| {
        settings.nat_gateway_create = NAT_GATEWAY;
        settings.nat_gateway_delete = NAT_GATEWAY;
    })?;
    Ok(())
}

/// What came out of a spec, or of one of the checks within it.
#[derive(Debug)]
struct SpecOutcome {
    name: String,
    passed: bool,
    seconds: f64,
    message: String,
}

impl SpecOutcome {
    fn read(line: &str) -> Result<Self> {
        let value: Value = serde_json::from_str(line).with_context(|| format!("a result: {line}"))?;
        let of = |key: &str| value.get(key).unwrap_or(&Value::Null);
        let text = |key: &str| of(key).as_str().unwrap_or_default().to_owned();
        Ok(Self {
            name: text("name"),
            passed: of("passed") == &Value::Bool(true),
            seconds: of("seconds").as_f64().unwrap_or_default(),
            message: text("message"),
        })
    }

    fn failed(name: &str, error: &anyhow::Error) -> Self {
        Self { name: name.to_owned(), passed: false, seconds: 0.0, message: format!("{error:#}") }
    }
}

impl std::fmt::Display for SpecOutcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { name, passed, seconds, message } = self;
        let result = if *passed { "passed" } else { "FAILED" };
        write!(f, "{result} {seconds:4.0} s  {name}")?;
        // Gomega's can be hundreds of lines; they begin with what is wrong.
        message.lines().take(12).try_for_each(|line| write!(f, "\n    {line}"))
    }
}

fn specs_folder(world: &World) -> PathBuf {
    world.rig().folder().join("specs")
}

/// Plays one spec to its end. The program ends with us, and when its time is up.
async fn run_spec(world: &World, program: &Path, spec: &str) -> Result<Vec<SpecOutcome>> {
    let folder = specs_folder(world).join(spec.replace([' ', ','], "-"));
    // Its temporary files are removed with the folder.
    let temporary = folder.join("tmp");
    std::fs::create_dir_all(&temporary).with_context(|| format!("creating {}", folder.display()))?;
    let (secrets, results, log) = (folder.join("secrets.yaml"), folder.join("results"), folder.join("log"));
    std::fs::write(&secrets, objects(world))?;
    let version = if is_on_eks(spec) { EKS_VERSION } else { VERSION };
    let flag = |name: &str, value: &Path| format!("--{name}={}", value.display());
    let args = [
        format!("--spec={spec}"),
        flag("kubeconfig", &world.api().kubeconfig_path()),
        flag("clusterctl-config", &clusterctl_config(world, spec, &folder)?),
        flag("artifacts", &folder.join("artifacts")),
        flag("secrets", &secrets),
        flag("results", &results),
        format!("--topology-cluster={TOPOLOGY}"),
        format!("--kubernetes-version={version}"),
        format!("--upgrade-version={UPGRADE}"),
        format!("--upgrade-image={IMAGE_X86_64_NEWER}"),
    ];
    let (home, temporary) = (folder.join("xdg").display().to_string(), temporary.display().to_string());
    let env = [
        // It uses clusterctl's library, which would check for newer versions on the internet.
        ("CLUSTERCTL_DISABLE_VERSIONCHECK", "true"),
        ("GOPROXY", "off"),
        ("XDG_CONFIG_HOME", home.as_str()),
        ("TMPDIR", temporary.as_str()),
    ];
    let process = Process::start(spec, program, args, &env, &log)?;
    let ended = wait_until("the spec to end", DEADLINE, async || {
        Ok(Probe::when(!process.is_running(), || process.log_tail()))
    });
    ended.await?;
    let found = std::fs::read_to_string(&results).unwrap_or_default();
    let outcomes: Vec<SpecOutcome> = found.lines().map(SpecOutcome::read).collect::<Result<_>>()?;
    // It writes the line of the whole spec last.
    ensure!(outcomes.last().is_some_and(|last| last.name == spec), "no result\n{}", process.log_tail());
    Ok(outcomes)
}

fn is_on_eks(spec: &str) -> bool {
    spec.contains("flavour eks")
}

/// The world's own configuration with what the flavour needs. Each spec has its own, because they change it.
fn clusterctl_config(world: &World, spec: &str, folder: &Path) -> Result<PathBuf> {
    let path = folder.join("clusterctl.yaml");
    let text = std::fs::read_to_string(world.rig().capi()?.clusterctl_config())
        .context("reading clusterctl's configuration")?;
    let mut config: Value = serde_saphyr::from_str(&text)?;
    set(&mut config, &["FOO_IMAGES"], format!("[{{version: {VERSION}, id: {IMAGE}}}]").into());
    set(&mut config, &["FOO_ZONE_COUNT"], "2".into());
    if is_on_eks(spec) {
        set(&mut config, &["FOO_INSTANCE_PROFILE"], foo_testbed::NODE_ROLE.into());
    }
    std::fs::write(&path, config.to_string()).context("writing clusterctl's configuration")?;
    Ok(path)
}

/// The Secrets that the world's variables name. A spec puts them into its own namespace.
fn objects(world: &World) -> String {
    let pool = PoolName {
        namespace: String::new(),
        cluster: story::CLUSTER.to_owned(),
        pool: String::new(),
        machine_pool: String::new(),
    };
    let kubeconfig = manifests::kubeconfig_secret("", story::CLUSTER, world.api().kubeconfig());
    let bootstrap = manifests::bootstrap_secret(&pool);
    let authority = manifests::authority_secret("", TOPOLOGY, world.api().pki().ca_pem());
    format!("{kubeconfig}\n---\n{bootstrap}\n---\n{authority}")
}

/// Every spec has deleted its cluster.
fn nothing_is_left(world: &World) -> Result<()> {
    let region = world.aws().region();
    let groups: Vec<String> = region.groups().iter().map(|group| group.name.to_string()).collect();
    let templates: Vec<String> = region.templates().iter().map(|template| template.name.clone()).collect();
    let clusters: Vec<String> = region.clusters().iter().map(|cluster| cluster.name.clone()).collect();
    let networks = ids(&world.aws().networks()?);
    ensure!(
        [&groups, &templates, &clusters, &networks].iter().all(|left| left.is_empty()),
        "left in AWS: {groups:?} {templates:?} {clusters:?} {networks:?}"
    );
    Ok(())
}
