//! A token is worth nothing at another EKS cluster: two namespaces, two regions and two accounts, each API server
//! behind the real aws-iam-authenticator, before an STS that verifies every signature.

use super::parts::{
    CONTROL_PLANE_ROLE, SOON_ON_EKS, control_plane, has_access, has_condition, kubeconfig, prepare_iam,
    run_alone, runs,
};
use anyhow::{Context as _, Result, ensure};
use foo_simulator::{AccessKey, SigningKey, Simulator, SimulatorConfig};
use foo_testbed::world::kinds::{self, Kind};
use foo_testbed::world::{Cluster, REGION, manifests};
use foo_testbed::{ClusterServers, KubeletOptions, Probe, World, service_role, wait_until};
use k8s_openapi::api::core::v1::Node;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config, Error};
use serde_json::{Value, json};

const VERSION: &str = "v1.34.0";
/// Another region.
const ELSEWHERE: &str = "us-east-2";
/// Another account.
const THEIR_ACCOUNT: &str = "210987654321";
/// The key of the manager, as the testbed gives it: AWS's own example.
const OWN_KEY: (&str, &str) = ("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY");
/// A key of a user of the other account.
const FOREIGN_KEY: (&str, &str) = ("AKIAFOREIGN", "foreign");
/// The name that two of the EKS clusters have, and a third one asks for.
const PROD: &str = "prod";
/// Where the token of a kubeconfig is.
const TOKEN: &str = "/users/0/user/token";

/// Why an authenticator refused tokens so far.
type Refusals<'a> = &'a dyn Fn() -> Vec<String>;

fn access_key((id, secret): (&str, &str)) -> AccessKey {
    AccessKey { id: id.to_owned(), secret: secret.to_owned(), policy: None }
}

/// The other account, and who may use it.
async fn other_account(world: &World) -> Result<Simulator> {
    let settings = world.aws().region().settings();
    let foreign = Simulator::new(SimulatorConfig {
        account: THEIR_ACCOUNT.to_owned(),
        settings,
        keys: vec![access_key(FOREIGN_KEY)],
        ..SimulatorConfig::scaled(1.0)
    });
    foreign.put_role(service_role(CONTROL_PLANE_ROLE, "eks.amazonaws.com"));
    world.aws().simulator().shares_address_with(&foreign);
    let keys = json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": "foreign-keys", "namespace": "foo-system"},
        "stringData": {"AccessKeyID": FOREIGN_KEY.0, "SecretAccessKey": FOREIGN_KEY.1},
    });
    world.apply(&keys).await?;
    for (name, field, credentials, namespaces) in [
        ("own", "controller", json!({}), ["own", "refused"].as_slice()),
        ("foreign", "secret", json!({"name": "foreign-keys"}), &["foreign"]),
    ] {
        let mut identity = json!({
            "apiVersion": "infrastructure.foo.com/v1alpha1", "kind": "FooClusterIdentity",
            "metadata": {"name": name},
            "spec": {"allowedNamespaces": {"list": namespaces}, "allowedControlPlaneNames": [PROD]},
        });
        foo_e2e::set(&mut identity, &["spec", field], credentials);
        world.apply(&identity).await?;
    }
    Ok(foreign)
}

/// A Cluster in a namespace of its own, in a region and with an identity, on an EKS cluster of this name or of the
/// default one.
async fn begins<'w>(
    world: &'w World,
    namespace: &str,
    region: &str,
    identity: Option<&str>,
    eks: &[(&str, String)],
) -> Result<Cluster<'w>> {
    let cluster = world.no_cluster(namespace).await?;
    world.apply(&manifests::cluster(namespace, namespace)).await?;
    let mut object = control_plane(namespace, VERSION);
    for (field, value) in eks {
        foo_e2e::set(&mut object, &["spec", "eks", field], json!(value));
    }
    world.apply(&object).await?;
    let mut infrastructure = manifests::foo_cluster(namespace, namespace);
    foo_e2e::set(&mut infrastructure, &["spec", "region"], json!(region));
    if let Some(identity) = identity {
        foo_e2e::set(&mut infrastructure, &["spec", "identityRef"], json!({"name": identity}));
    }
    world.apply(&infrastructure).await?;
    Ok(cluster)
}

/// The status of an administrator's request at the API server in a kubeconfig, with another token.
async fn status_with(kubeconfig: &Value, token: &str) -> Result<u16> {
    let mut kubeconfig = kubeconfig.clone();
    *kubeconfig.pointer_mut(TOKEN).context("no token")? = json!(token);
    let kubeconfig = Kubeconfig::from_yaml(&kubeconfig.to_string())?;
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    let nodes: Api<Node> = Api::all(Client::try_from(config)?);
    match nodes.list(&kube::api::ListParams::default()).await {
        Ok(_) => Ok(200),
        Err(Error::Api(status)) => Ok(status.code),
        Err(other) => Err(other.into()),
    }
}

/// The kubeconfig that Cluster API reads, and the token in it.
async fn read(cluster: &Cluster<'_>) -> Result<(Value, String)> {
    let kubeconfig: Value = serde_saphyr::from_str(&kubeconfig(cluster).await?)?;
    let token = kinds::text(&kubeconfig, TOKEN).to_owned();
    Ok((kubeconfig, token))
}

/// One name for one user in two regions is refused to the younger, which gets no token.
async fn the_name_is_refused_to_another_namespace(world: &World) -> Result<()> {
    let name = [("name", PROD.to_owned())];
    let refused = begins(world, "refused", ELSEWHERE, Some("own"), &name).await?;
    has_condition(&refused, "ClusterReady", "it to be refused", |(_, reason, _)| {
        reason == "ClusterNameTaken"
    })
    .await?;
    let secret = kinds::read(world.client(), Kind::Secret, "refused", "refused-kubeconfig").await?;
    ensure!(secret.is_none(), "it has a token for {PROD}");
    let there = world.aws().simulator().region(ELSEWHERE).cluster(PROD);
    ensure!(there.is_none(), "{there:?}");
    refused.delete().await?;
    refused.is_gone(SOON_ON_EKS).await
}

async fn tokens_are_worth_nothing_elsewhere(world: &World) -> Result<()> {
    let (aws, folder) = (world.aws().simulator(), world.rig().folder());
    let foreign = other_account(world).await?;
    let of_folder = |name: &str| folder.join(name);
    let options = KubeletOptions::default;
    let in_other_region =
        ClusterServers::start(aws, ELSEWHERE, &of_folder("eks-elsewhere"), options()).await?;
    let in_other_account =
        ClusterServers::start(&foreign, REGION, &of_folder("eks-foreign"), options()).await?;

    let prod = ("name", PROD.to_owned());
    let role = ("roleARN", format!("arn:aws:iam::{THEIR_ACCOUNT}:role/{CONTROL_PLANE_ROLE}"));
    let one = begins(world, "own", REGION, Some("own"), std::slice::from_ref(&prod)).await?;
    let two = begins(world, "elsewhere", ELSEWHERE, None, &[]).await?;
    let three = begins(world, "foreign", REGION, Some("foreign"), &[prod, role]).await?;
    for cluster in [&one, &two, &three] {
        runs(cluster, VERSION).await?;
        has_access(cluster).await?;
    }
    the_name_is_refused_to_another_namespace(world).await?;

    let name_of_two = aws.region(ELSEWHERE).clusters().into_iter().map(|it| it.name).next();
    let name_of_two = name_of_two.context("no EKS cluster in the other region")?;
    let (first, second, third) = (read(&one).await?, read(&two).await?, read(&three).await?);
    let of_one = || world.cluster_servers().refused_tokens(PROD);
    let of_two = || in_other_region.refused_tokens(&name_of_two);
    let of_three = || in_other_account.refused_tokens(PROD);
    let cases: [(&str, &str, &Value, Refusals<'_>, &str); 6] = [
        ("own, elsewhere", &first.1, &second.0, &of_two, "SignatureDoesNotMatch"),
        ("elsewhere, own", &second.1, &first.0, &of_one, "SignatureDoesNotMatch"),
        // One name in two accounts is signed by two users.
        ("own, foreign", &first.1, &third.0, &of_three, "ARN is not mapped"),
        ("foreign, own", &third.1, &first.0, &of_one, "ARN is not mapped"),
        ("elsewhere, foreign", &second.1, &third.0, &of_three, "SignatureDoesNotMatch"),
        ("foreign, elsewhere", &third.1, &second.0, &of_two, "SignatureDoesNotMatch"),
    ];
    for (case, token, kubeconfig, refusals, why) in cases {
        ensure!(status_with(kubeconfig, token).await? == 401, "{case}: accepted");
        let refused = refusals();
        ensure!(refused.last().is_some_and(|last| last.contains(why)), "{case}: {refused:?}");
    }
    // Only the name counts: a token does not contain the region of its cluster.
    let key = SigningKey { id: OWN_KEY.0.to_owned(), secret: OWN_KEY.1.to_owned(), session_token: None };
    let sts = format!("https://sts.{REGION}.amazonaws.com");
    let token = key.cluster_token(&name_of_two, &sts, REGION, aws.real_time());
    ensure!(status_with(&second.0, &token).await? == 200, "{:?}", of_two());

    for cluster in [&one, &two, &three] {
        cluster.delete().await?;
    }
    for cluster in [&one, &two, &three] {
        cluster.is_gone(SOON_ON_EKS).await?;
    }
    wait_until("these EKS clusters to be deleted", SOON_ON_EKS, async || {
        let own = |name: &String| *name == PROD || *name == name_of_two;
        let regions = [aws.region(REGION), aws.region(ELSEWHERE), foreign.region(REGION)];
        let left: Vec<String> = regions
            .iter()
            .flat_map(foo_simulator::RegionHandle::clusters)
            .map(|it| it.name)
            .filter(own)
            .collect();
        Ok(Probe::when(left.is_empty(), || format!("{left:?}")))
    })
    .await
}

#[test]
fn a_token_gives_no_access_to_a_cluster_of_another_namespace_region_or_account() {
    run_alone(async |world| {
        let aws = world.aws().simulator();
        prepare_iam(world);
        aws.put_key(access_key(OWN_KEY));
        let outcome = tokens_are_worth_nothing_elsewhere(world).await;
        aws.remove_key(OWN_KEY.0);
        outcome
    });
}
