//! What the tests of EKS share.

use anyhow::{Context as _, Result, ensure};
use base64::Engine as _;
use foo_cloud::Clusters as _;
use foo_e2e::Worlds;
use foo_model::eks::{
    AuthenticationMode, Change, ClusterChange, ClusterStatus, EndpointAccess, IpFamily, Minor, NewCluster,
    Placement, SupportType,
};
use foo_model::names::TAG_CLUSTER;
use foo_model::network::Tags;
use foo_simulator::core::eks::cluster::Cluster as Simulated;
use foo_testbed::world::kinds::{self, Kind, condition, read, text, until_condition};
use foo_testbed::world::{Cluster, Pool, REGION, SUBNETS, WorldOptions, manifests};
use foo_testbed::{Probe, World, wait_until};
use kube::config::{KubeConfigOptions, Kubeconfig};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

/// The tests disturb each other: the settings of the simulated AWS are the region's.
static WORLDS: Worlds<2> = Worlds::new(module_path!());

/// Runs a test in a world that no other caller uses meanwhile. It has to leave no EKS cluster there: a later test would find it.
pub(crate) fn run_alone(test: impl AsyncFnOnce(&'static World) -> Result<()>) {
    WORLDS.run(WorldOptions::default(), async |world| {
        // One that failed has left some.
        let before = remaining(world);
        test(world).await?;
        let left: Vec<String> = remaining(world).difference(&before).cloned().collect();
        ensure!(left.is_empty(), "the test left EKS clusters: {left:?}");
        Ok(())
    });
}

/// The EKS clusters of a world that are not being deleted.
fn remaining(world: &World) -> BTreeSet<String> {
    let aws = world.aws().simulator();
    let regions = aws.region_names().into_iter().map(|name| aws.region(&name));
    let clusters = regions.flat_map(|region| region.clusters());
    clusters.filter(|it| it.status != ClusterStatus::Deleting).map(|it| it.name).collect()
}

/// A control plane takes minutes on AWS, and seconds here, most of them for its API server to start.
pub(crate) const SOON_ON_EKS: Duration = Duration::from_mins(5);

pub(crate) use foo_testbed::{CONTROL_PLANE_ROLE, NODE_ROLE};

/// ARN of a role in the simulated account.
pub(crate) fn role_arn(role: &str) -> String {
    format!("arn:aws:iam::{}:role/{role}", foo_simulator::DEFAULT_ACCOUNT)
}

/// What an administrator of the account prepares for EKS.
pub(crate) fn prepare_iam(world: &World) {
    foo_testbed::prepare_eks(world.aws().simulator());
}

/// What a user writes for a Cluster on EKS in a network of its own, all at once: not waited for.
pub(crate) async fn cluster<'w>(world: &'w World, name: &str, version: &str) -> Result<Cluster<'w>> {
    cluster_with(world, name, version, |_| {}).await
}

/// The same with changes to the FooControlPlane.
pub(crate) async fn cluster_with<'w>(
    world: &'w World,
    name: &str,
    version: &str,
    change: impl FnOnce(&mut Value),
) -> Result<Cluster<'w>> {
    apply(world, name, version, &foo_cluster(name), change).await
}

/// The same in the network that is there.
pub(crate) async fn cluster_in_existing_network<'w>(
    world: &'w World,
    name: &str,
    version: &str,
    change: impl FnOnce(&mut Value),
) -> Result<Cluster<'w>> {
    apply(world, name, version, &manifests::foo_cluster(name, name), change).await
}

/// The same, with the credentials of a FooClusterIdentity.
pub(crate) async fn cluster_with_identity<'w>(
    world: &'w World,
    name: &str,
    version: &str,
    identity: &str,
    change: impl FnOnce(&mut Value),
) -> Result<Cluster<'w>> {
    let mut foo_cluster = manifests::foo_cluster(name, name);
    foo_e2e::set(&mut foo_cluster, &["spec", "identityRef"], json!({"name": identity}));
    apply(world, name, version, &foo_cluster, change).await
}

async fn apply<'w>(
    world: &'w World,
    name: &str,
    version: &str,
    foo_cluster: &Value,
    change: impl FnOnce(&mut Value),
) -> Result<Cluster<'w>> {
    prepare_iam(world);
    let cluster = world.no_cluster(name).await?;
    world.apply(&manifests::cluster(name, name)).await?;
    let mut control_plane = control_plane(name, version);
    change(&mut control_plane);
    world.apply(&control_plane).await?;
    world.apply(foo_cluster).await?;
    Ok(cluster)
}

/// Its FooControlPlane.
pub(crate) fn control_plane(name: &str, version: &str) -> Value {
    json!({
        "apiVersion": "controlplane.foo.com/v1alpha1", "kind": "FooControlPlane",
        "metadata": {"name": name, "namespace": name},
        "spec": {
            "version": version,
            "eks": {
                "roleARN": role_arn(CONTROL_PLANE_ROLE),
                "addons": [{"name": "vpc-cni"}, {"name": "kube-proxy"}, {"name": "coredns"}],
            },
        },
    })
}

fn foo_cluster(name: &str) -> Value {
    json!({
        "apiVersion": "infrastructure.foo.com/v1alpha1", "kind": "FooCluster",
        "metadata": {"name": name, "namespace": name},
        "spec": {"region": REGION, "network": {"managed": {"zones": {"count": 2}, "egress": "None"}}},
    })
}

/// A pool whose Nodes join with a FooNodeConfig.
pub(crate) async fn pool<'w>(
    cluster: &Cluster<'w>,
    name: &str,
    version: &str,
    replicas: u32,
    node_config: Value,
) -> Result<Pool<'w>> {
    pool_with(cluster, name, version, (replicas, node_config), |_| {}).await
}

/// The same with changes to the spec of the FooMachinePool.
pub(crate) async fn pool_with<'w>(
    cluster: &Cluster<'w>,
    name: &str,
    version: &str,
    (replicas, node_config): (u32, Value),
    change: impl FnOnce(&mut Value),
) -> Result<Pool<'w>> {
    let [machine_pool, mut foo_machine_pool, config] =
        pool_objects(cluster, name, version, replicas, &node_config)?;
    change(foo_machine_pool.pointer_mut("/spec").context("no spec")?);
    // Users apply a file in any order.
    for object in [&machine_pool, &foo_machine_pool, &config] {
        cluster.world().apply(object).await?;
    }
    Ok(cluster.existing_pool(name))
}

/// The objects of such a pool: MachinePool, FooMachinePool, FooNodeConfig.
pub(crate) fn pool_objects(
    cluster: &Cluster<'_>,
    name: &str,
    version: &str,
    replicas: u32,
    node_config: &Value,
) -> Result<[Value; 3]> {
    let config = json!({
        "apiVersion": "bootstrap.foo.com/v1alpha1", "kind": "FooNodeConfig",
        "metadata": {"name": name, "namespace": cluster.namespace()},
        "spec": node_config,
    });
    let names = cluster.pool_name(name);
    let mut machine_pool = manifests::machine_pool(&names, replicas);
    let reference = json!({"apiGroup": "bootstrap.foo.com", "kind": "FooNodeConfig", "name": name});
    let template = machine_pool.pointer_mut("/spec/template/spec").context("no template")?;
    template["bootstrap"] = json!({"configRef": reference});
    template["version"] = json!(version);
    let mut foo_machine_pool = manifests::foo_machine_pool(&names);
    let spec = foo_machine_pool.pointer_mut("/spec").context("no spec")?;
    spec["iamInstanceProfile"] = json!(NODE_ROLE);
    Ok([machine_pool, foo_machine_pool, config])
}

/// A cluster in EKS that a user made by hand; and a Cluster that names it.
pub(crate) async fn foreign<'w>(world: &'w World, name: &str) -> Result<Cluster<'w>> {
    create_by_hand(world, name).await?;
    cluster_with(world, name, "v1.34.0", |object| names_by_hand(object, name)).await
}

/// Names the cluster in EKS that a test made by hand.
pub(crate) fn names_by_hand(control_plane: &mut Value, name: &str) {
    foo_e2e::set(control_plane, &["spec", "eks", "name"], json!(name_by_hand(name)));
}

/// A cluster in EKS that a user made by hand.
pub(crate) async fn create_by_hand(world: &World, name: &str) -> Result<()> {
    prepare_iam(world);
    let new = NewCluster {
        version: Some(Minor(34)),
        role_arn: role_arn(CONTROL_PLANE_ROLE),
        placement: Placement {
            subnets: SUBNETS.iter().map(|id| (*id).into()).collect(),
            security_groups: BTreeSet::new(),
        },
        access: EndpointAccess { public: true, private: true, public_cidrs: BTreeSet::new() },
        service_ipv4: None,
        ip_family: IpFamily::Ipv4,
        authentication_mode: AuthenticationMode::Api,
        creator_is_admin: true,
        self_managed_addons: true,
        logging: BTreeSet::new(),
        encryption_key: None,
        upgrade_policy: Some(SupportType::Extended),
        zonal_shift: None,
        deletion_protection: false,
        scaling_tier: None,
        tags: Tags::new(),
    };
    let change =
        Change::Cluster { cluster: name_by_hand(name), change: ClusterChange::Create(Box::new(new)) };
    let token = format!("by hand {name}");
    changed_by_hand(world, &change, Some(&token)).await
}

/// Deletes the cluster that a test made by hand. EKS refuses that while the cluster is CREATING.
pub(crate) async fn delete_by_hand(world: &World, name: &str) -> Result<()> {
    let change = Change::Cluster { cluster: name_by_hand(name), change: ClusterChange::Delete };
    wait_until("EKS to accept the deletion", SOON_ON_EKS, async || {
        Ok(match changed_by_hand(world, &change, None).await {
            Ok(()) => Probe::Done(()),
            Err(refused) => Probe::NotYet(format!("{refused:#}")),
        })
    })
    .await
}

async fn changed_by_hand(world: &World, change: &Change, token: Option<&str>) -> Result<()> {
    world.aws().simulator().cloud(REGION, "another-user").change_eks(change, token).await?;
    Ok(())
}

/// The cluster in the simulated EKS.
pub(crate) fn simulated(cluster: &Cluster<'_>) -> Option<Simulated> {
    cluster.world().aws().region().cluster(&eks_name(cluster))
}

/// The name of its EKS cluster: by the provider's tag, or the one that a test made by hand.
pub(crate) fn eks_name(cluster: &Cluster<'_>) -> String {
    let of = format!("{}/{}", cluster.namespace(), cluster.name());
    let clusters = cluster.world().aws().region().clusters();
    let own = clusters.into_iter().find(|it| it.tags.get(TAG_CLUSTER) == Some(&of));
    own.map_or_else(|| name_by_hand(cluster.name()), |it| it.name)
}

/// The name of clusters that a test creates by hand.
pub(crate) fn name_by_hand(name: &str) -> String {
    format!("{name}_{name}")
}

/// Waits until the API server of a Cluster runs, and has the world find its Nodes there.
pub(crate) async fn has_its_server(cluster: &Cluster<'_>) -> Result<()> {
    let world = cluster.world();
    wait_until("the cluster in EKS", SOON_ON_EKS, async || {
        Ok(Probe::when(simulated(cluster).is_some(), || "there is none".to_owned()))
    })
    .await?;
    let server = world.cluster_servers().wait_for(&eks_name(cluster)).await?;
    world.finds_nodes_on(cluster.name(), &server);
    Ok(())
}

/// The only FooControlPlane of a Cluster's namespace: the topology controller gives it a name of its own.
async fn control_plane_of(cluster: &Cluster<'_>) -> Result<Value> {
    let found = kinds::list(cluster.world().client(), Kind::FooControlPlane, cluster.namespace(), "").await?;
    found.into_iter().next().context("no FooControlPlane")
}

/// Waits until a condition of the FooControlPlane matches.
pub(crate) async fn has_condition(
    cluster: &Cluster<'_>,
    kind: &str,
    what: &str,
    is_so: impl Fn((&str, &str, &str)) -> bool,
) -> Result<Value> {
    until_condition(what, SOON_ON_EKS, async || control_plane_of(cluster).await, kind, is_so).await
}

/// Waits until the control plane responds and runs a version.
pub(crate) async fn runs(cluster: &Cluster<'_>, version: &str) -> Result<Value> {
    wait_until(&format!("{} to run {version}", cluster.name()), SOON_ON_EKS, async || {
        let object = control_plane_of(cluster).await?;
        let available = condition(&object, "Available").is_some_and(|(status, ..)| status == "True");
        let is_it = object.pointer("/status/version").and_then(Value::as_str) == Some(version);
        Ok(if available && is_it {
            Probe::Done(object)
        } else {
            Probe::NotYet(object.pointer("/status").map_or_else(String::new, Value::to_string))
        })
    })
    .await
}

/// The kubeconfig that Cluster API reads.
pub(crate) async fn kubeconfig(cluster: &Cluster<'_>) -> Result<String> {
    let (secret, _) = kubeconfig_secret(cluster).await?;
    let bytes = base64::engine::general_purpose::STANDARD.decode(text(&secret, "/data/value"))?;
    Ok(String::from_utf8(bytes)?)
}

/// The Secret that it is in, and when the token in it ends.
pub(crate) async fn kubeconfig_secret(cluster: &Cluster<'_>) -> Result<(Value, jiff::Timestamp)> {
    let name = format!("{}-kubeconfig", cluster.name());
    let found = read(cluster.world().client(), Kind::Secret, cluster.namespace(), &name).await?;
    let secret = found.with_context(|| format!("no Secret {name}"))?;
    let annotations = secret.pointer("/metadata/annotations").context("no annotations")?;
    let ends = annotations.get("infrastructure.foo.com/token-expires").and_then(Value::as_str);
    let ends = ends.context("it does not have the expiry of its token")?.parse()?;
    Ok((secret, ends))
}

/// Asks the API server something that only an administrator may, with the kubeconfig that Cluster API reads.
pub(crate) async fn has_access(cluster: &Cluster<'_>) -> Result<()> {
    let kubeconfig = Kubeconfig::from_yaml(&kubeconfig(cluster).await?)?;
    let config = kube::Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    let nodes: kube::Api<k8s_openapi::api::core::v1::Node> = kube::Api::all(kube::Client::try_from(config)?);
    nodes.list(&kube::api::ListParams::default()).await?;
    Ok(())
}

/// Deletes the Cluster and waits until nothing is left of it, here and in AWS.
pub(crate) async fn is_deleted(cluster: &Cluster<'_>) -> Result<()> {
    cluster.delete().await?;
    cluster.is_gone(SOON_ON_EKS).await?;
    ensure!(simulated(cluster).is_none(), "the EKS cluster is left");
    let network = cluster.world().aws().network(cluster.namespace(), cluster.name())?;
    let left = foo_testbed::world::network::ids(&network);
    ensure!(left.is_empty(), "left in AWS: {left:?}");
    Ok(())
}
