//! The API servers of the clusters of the simulated EKS: who gets in, with which rights, and which instances become
//! their nodes. Needs `hack/tools/bin`.

mod bench;

use anyhow::{Result, ensure};
use bench::{Bench, SOON};
use foo_bootstrap::input::TaintInput;
use foo_bootstrap::{ClusterInput, Family, NodeInput};
use foo_simulator::SigningKey;
use foo_testbed::world::GROUP_LABEL;
use foo_testbed::{Probe, wait_until};
use k8s_openapi::api::core::v1::{Namespace, Node, Pod};
use kube::api::{ListParams, PostParams};
use kube::{Api, Client, Error};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

const POLICY: &str = "arn:aws:eks::aws:cluster-access-policy";

fn key(id: &str) -> SigningKey {
    SigningKey { id: id.to_owned(), secret: "any".to_owned(), session_token: None }
}

/// The status of a request for the namespaces; 200 if it got a response.
async fn status_of(client: &Client) -> Result<u16> {
    code(Api::<Namespace>::all(client.clone()).list(&ListParams::default()).await)
}

fn code<T>(result: Result<T, Error>) -> Result<u16> {
    match result {
        Ok(_) => Ok(200),
        Err(Error::Api(status)) => Ok(status.code),
        Err(other) => Err(other.into()),
    }
}

async fn until_pods_return(client: &Client, namespace: &str, wanted: u16) -> Result<()> {
    let pods: Api<Pod> = Api::namespaced(client.clone(), namespace);
    wait_until(&format!("{wanted} for the pods of {namespace}"), SOON, async || {
        let status = code(pods.list(&ListParams::default()).await)?;
        Ok(Probe::when(status == wanted, || format!("{status}")))
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_access_entry_grants_the_permissions_of_its_policies() -> Result<()> {
    let bench = Bench::new().await?;
    let shown = bench.cluster("main").await?;
    let endpoint = format!("https://127.0.0.1:{}", bench.servers.wait_for("main").await?.port());
    ensure!(shown["endpoint"] == json!(endpoint), "{shown}");

    let creator = bench.client(&shown, &Bench::token(&key("creator"), "main")).await?;
    // EKS applies a policy later than it lists it.
    wait_until("the creator to be allowed", SOON, async || {
        let status = status_of(&creator).await?;
        Ok(Probe::when(status == 200, || format!("{status}")))
    })
    .await?;
    for name in ["team-a", "other"] {
        let namespace = serde_json::from_value(json!({ "metadata": { "name": name } }))?;
        Api::all(creator.clone()).create(&PostParams::default(), &namespace).await.map(|_: Namespace| ())?;
    }
    for (token, why) in [
        // Signatures of sessions are verified although no access key is known.
        (Bench::token(&bench.session("viewers")?, "another"), "SignatureDoesNotMatch"),
        (Bench::token(&key("unmapped"), "main"), "ARN is not mapped"),
        ("k8s-aws-v1.nonsense".to_owned(), "not properly formatted"),
        (
            Bench::token_of(&key("creator"), "main", Duration::from_hours(1)),
            "X-Amz-Date parameter is expired",
        ),
        (bench.token_of_host("https://sts.evil.example", "main"), "unexpected hostname"),
        // Where a client presigns for whose endpoint is overridden.
        (bench.token_of_host(&bench.endpoint(), "main"), "unexpected scheme"),
        (bench.token_of_host("https://sts.us-east-2.amazonaws.com", "main"), "scoped to a valid region"),
    ] {
        assert_eq!(status_of(&bench.client(&shown, &token).await?).await?, 401, "{why}");
        let refused = bench.servers.refused_tokens("main");
        ensure!(refused.last().is_some_and(|last| last.contains(why)), "{why}: {refused:?}");
    }

    let role = "arn:aws:iam::123456789012:role/viewers";
    let entries = "/clusters/main/access-entries";
    bench.eks("POST", entries, json!({ "principalArn": role })).await?;
    let session = bench.session("viewers")?;
    let viewer = bench.client(&shown, &Bench::token(&session, "main")).await?;
    wait_until("the viewer to get access", SOON, async || {
        let status = status_of(&viewer).await?;
        Ok(Probe::when(status == 403, || format!("{status}")))
    })
    .await?;
    let policies = format!("{entries}/{}/access-policies", bench::escaped(role));
    let scope = json!({ "type": "namespace", "namespaces": ["team-*"] });
    let view = format!("{POLICY}/AmazonEKSViewPolicy");
    bench.eks("POST", &policies, json!({ "policyArn": view, "accessScope": scope })).await?;
    until_pods_return(&viewer, "team-a", 200).await?;
    until_pods_return(&viewer, "other", 403).await?;
    bench.eks("DELETE", &format!("{policies}/{}", bench::escaped(&view)), Value::Null).await?;
    until_pods_return(&viewer, "team-a", 403).await?;

    // Another role under the same name is another one.
    bench.put_role("viewers")?;
    let recreated = bench.session("viewers")?;
    bench.remove_role("viewers");
    bench.put_role("viewers")?;
    assert_eq!(status_of(&bench.client(&shown, &Bench::token(&recreated, "main")).await?).await?, 401);

    // AWS's time passes, and not the authenticator's. Not a token of an earlier second: the API server believes for ten
    // seconds the result of a token review.
    let token = Bench::token_of(&session, "main", Duration::from_mins(1));
    bench.passes(Duration::from_mins(20));
    assert_eq!(status_of(&bench.client(&shown, &token).await?).await?, 401);
    let refused = bench.servers.refused_tokens("main");
    ensure!(refused.last().is_some_and(|last| last.contains("Signature expired")), "{refused:?}");
    ensure!(bench.calls_of_sts() == 0, "the account sees calls of EKS's authenticators");

    bench.eks("DELETE", "/clusters/main", Value::Null).await?;
    wait_until("the API server to end", SOON, async || {
        let ended = bench.servers.api("main").is_none() && status_of(&creator).await.is_err();
        Ok(Probe::when(ended, || "it responds".to_owned()))
    })
    .await
}

/// The cluster as EKS shows it.
fn cluster_input(shown: &Value) -> ClusterInput {
    let text = |pointer: &str| shown.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    ClusterInput {
        name: text("/name"),
        endpoint: text("/endpoint"),
        certificate_authority: text("/certificateAuthority/data"),
        service_range: text("/kubernetesNetworkConfig/serviceIpv4Cidr"),
        dns: None,
    }
}

fn rendered(cluster: &ClusterInput, node: &NodeInput) -> Result<Vec<u8>> {
    foo_bootstrap::render(cluster, node).map_err(|refusals| anyhow::anyhow!("{refusals:?}"))
}

/// User data for the cluster as EKS shows it, after a change.
fn user_data(shown: &Value, family: Family, change: impl FnOnce(&mut ClusterInput)) -> Result<Vec<u8>> {
    let mut cluster = cluster_input(shown);
    change(&mut cluster);
    let taint = TaintInput { key: "gpu".into(), value: "yes".into(), effect: "NoSchedule".into() };
    let node = NodeInput {
        family,
        labels: [("team".to_owned(), "a".to_owned())].into(),
        taints: vec![taint],
        ..NodeInput::default()
    };
    rendered(&cluster, &node)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn instances_whose_user_data_is_right_become_nodes_and_others_do_not() -> Result<()> {
    let bench = Bench::new().await?;
    let shown = bench.cluster("main").await?;
    let other = bench.cluster("other").await?;
    let authority = other["certificateAuthority"]["data"].as_str().unwrap_or_default().to_owned();
    let groups = [
        ("al2023", user_data(&shown, Family::AL2023, |_| {})?),
        ("bottlerocket", user_data(&shown, Family::Bottlerocket, |_| {})?),
        ("wrong-authority", user_data(&shown, Family::AL2023, |it| it.certificate_authority = authority)?),
        ("wrong-name", user_data(&shown, Family::AL2023, |it| it.name = "other".to_owned())?),
        ("no-cluster", user_data(&shown, Family::Bottlerocket, |it| it.name = "nowhere".to_owned())?),
    ];
    for (group, data) in &groups {
        bench.group(group, data).await?;
    }
    let refusal = async |group: &str, why: &str| {
        wait_until(&format!("{group} to be refused for: {why}"), SOON, async || {
            let refused = bench.servers.refused_nodes();
            let found = bench.instance_of(group).and_then(|id| refused.get(&id).cloned());
            Ok(Probe::when(found.as_ref().is_some_and(|it| it.contains(why)), || format!("{found:?}")))
        })
        .await
    };
    // No entry lets the role of the instances in yet.
    refusal("al2023", "401").await?;
    for cluster in ["main", "other"] {
        let entry = json!({ "principalArn": "arn:aws:iam::123456789012:role/nodes", "type": "EC2_LINUX" });
        bench.eks("POST", &format!("/clusters/{cluster}/access-entries"), entry).await?;
    }
    let nodes: Api<Node> = Api::all(bench.servers.wait_for("main").await?.client());
    let joined = wait_until("two nodes", SOON, async || {
        let found = nodes.list(&ListParams::default()).await?.items;
        let seen = format!("{} nodes, refused: {:?}", found.len(), bench.servers.refused_nodes());
        Ok(if found.len() == 2 { Probe::Done(found) } else { Probe::NotYet(seen) })
    });
    for node in joined.await? {
        let labels = node.metadata.labels.unwrap_or_default();
        assert_eq!(labels.get("team").map(String::as_str), Some("a"));
        let taints = node.spec.and_then(|spec| spec.taints).unwrap_or_default();
        ensure!(taints.iter().any(|taint| taint.key == "gpu" && taint.effect == "NoSchedule"), "{taints:?}");
        let name = node.metadata.name.unwrap_or_default();
        wait_until(&format!("the kubelet of {name}"), SOON, async || {
            let info = nodes.get(&name).await?.status.and_then(|status| status.node_info);
            let version = info.map(|info| info.kubelet_version);
            Ok(Probe::when(version.as_deref() == Some("v1.33.0"), || format!("{version:?}")))
        })
        .await?;
    }
    refusal("wrong-authority", "certificate").await?;
    refusal("wrong-name", "401").await?;
    refusal("no-cluster", "there is no cluster nowhere").await
}

/// The instances of a group that are nodes.
async fn nodes_of(nodes: &Api<Node>, group: &str) -> Result<BTreeSet<String>> {
    let of_group = ListParams::default().labels(&format!("{GROUP_LABEL}={group}"));
    let found = nodes.list(&of_group).await?.items;
    let id = |node: Node| node.spec?.provider_id?.rsplit('/').next().map(str::to_owned);
    Ok(found.into_iter().filter_map(id).collect())
}

/// The nodes of a group stay these for longer than an instance takes to join.
async fn stay(nodes: &Api<Node>, group: &str, expected: &BTreeSet<String>) -> Result<()> {
    for _ in 0..10 {
        tokio::time::sleep(Duration::from_millis(500)).await;
        let found = nodes_of(nodes, group).await?;
        ensure!(found == *expected, "{found:?} instead of {expected:?}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_instance_in_a_warm_pool_is_a_node_unless_its_user_data_waits() -> Result<()> {
    let bench = Bench::new().await?;
    let shown = bench.cluster("main").await?;
    let entry = json!({ "principalArn": "arn:aws:iam::123456789012:role/nodes", "type": "EC2_LINUX" });
    bench.eks("POST", "/clusters/main/access-entries", entry).await?;
    for (group, join_when_in_service) in [("waits", true), ("joins", false)] {
        let node = NodeInput { join_when_in_service, ..NodeInput::default() };
        bench.group(group, &rendered(&cluster_input(&shown), &node)?).await?;
        bench.warm_pool(group).await?;
    }
    let nodes: Api<Node> = Api::all(bench.servers.wait_for("main").await?.client());
    let until = async |group: &str, wanted: usize, run: usize| {
        wait_until(&format!("{wanted} nodes of {group}"), SOON, async || {
            let (found, running) = (nodes_of(&nodes, group).await?.len(), bench.running_in(group).len());
            Ok(Probe::when((found, running) == (wanted, run), || format!("{found} of {running} instances")))
        })
        .await
    };
    until("joins", 2, 2).await?;
    until("waits", 1, 2).await?;
    let (joined, waiting) = (nodes_of(&nodes, "waits").await?, bench.waiting_in("waits"));
    ensure!(waiting.len() == 1 && joined.is_disjoint(&waiting), "{joined:?} {waiting:?}");
    // Those that do not wait have joined meanwhile, though they were launched later.
    stay(&nodes, "waits", &joined).await?;
    bench.scale_out("waits").await?;
    // Another instance takes the place of the one that enters service.
    until("waits", 2, 3).await?;
    let serving = &joined | &waiting;
    stay(&nodes, "waits", &serving).await?;
    let waiting = bench.waiting_in("waits");
    ensure!(waiting.len() == 1 && serving.is_disjoint(&waiting), "{serving:?} {waiting:?}");
    Ok(())
}
