//! Tokens of clusters: what authenticators (kubernetes-sigs/aws-iam-authenticator) read from STS and EC2, and which
//! callers they accept.
//! What the authenticator itself takes and refuses is not judged here: the test bed runs it.

use super::scene::{NODES, World, world, world_with};
use crate::core::catalogue::IMAGE_X86_64;
use crate::core::document::Document;
use crate::core::ec2::launch_data::LaunchData;
use crate::core::network::SECURITY_GROUP;
use crate::core::rules::eks::AccessMapping;
use crate::core::rules::group::operations::NewGroup;
use crate::core::rules::group::source::SourceSpec;
use crate::iam::roles::Role;
use crate::tests::scene::{REGION, source};
use crate::wire::sigv4::SignedRequest;
use crate::wire::{WireResponse, of_eks};
use crate::{AccessKey, Fault, FaultRule, SigningKey, Simulator, SimulatorConfig};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use foo_model::Timestamp;
use foo_model::eks::ClusterStatus;
use http::{HeaderMap, HeaderValue, Method};
use serde_json::{Value, json};
use std::time::Duration;

const NOW: Timestamp = Timestamp(1_767_225_600_000);
const STS: &str = "https://sts.eu-central-1.amazonaws.com";
const PEOPLE: &str = "arn:aws:iam::123456789012:role/people/admins";

fn key(id: &str) -> SigningKey {
    SigningKey { id: id.to_owned(), secret: format!("secret of {id}"), session_token: None }
}

/// The cluster `main`, with access entries for the user `alice` and for the role `admins`, which has a path.
fn stage() -> World {
    let world = world();
    let sim = &world.0.sim;
    for id in ["alice", "bob"] {
        sim.put_key(AccessKey { id: id.to_owned(), secret: format!("secret of {id}"), policy: None });
    }
    for (name, path) in [("cluster", "/"), ("nodes", "/"), ("admins", "/people/")] {
        sim.put_role(role(json!({ "name": name, "path": path, "trusts": ["*"] })));
    }
    world.active(json!({}));
    add_entry(
        &world,
        &json!({ "principalArn": "arn:aws:iam::123456789012:user/alice", "kubernetesGroups": ["dev"] }),
    );
    add_entry(&world, &json!({ "principalArn": PEOPLE }));
    world
}

fn role(body: Value) -> Role {
    serde_json::from_value(body).expect("a role")
}

fn add_entry(world: &World, body: &Value) {
    world.try_entry(body.clone()).expect("an entry");
}

/// STS's response to the authenticator of a cluster that got a token.
pub(super) fn sts_at(sim: &Simulator, cluster: &str, token: &str, now: Timestamp) -> (u16, Value) {
    let encoded = token.strip_prefix("k8s-aws-v1.").expect("its prefix");
    let url = String::from_utf8(URL_SAFE_NO_PAD.decode(encoded).expect("base64")).expect("text");
    sts_of_url(sim, cluster, &url, now)
}

fn sts_of_url(sim: &Simulator, cluster: &str, url: &str, now: Timestamp) -> (u16, Value) {
    let (host, query) = url.strip_prefix("https://").and_then(|rest| rest.split_once("/?")).expect("a URL");
    let mut headers = HeaderMap::new();
    for (name, value) in [("host", host), ("x-k8s-aws-id", cluster), ("accept", "application/json")] {
        headers.insert(name, HeaderValue::from_str(value).expect("a header"));
    }
    let (method, path, body) = (&Method::GET, "/", b"".as_slice());
    let request = SignedRequest { method, path, query, headers: &headers, body, received: now };
    match of_eks::respond(&sim.world, &request) {
        WireResponse::Json { status, body, .. } => (status, serde_json::from_str(&body).expect("JSON")),
        other => panic!("{other:?}"),
    }
}

/// ARN and UserId of who signed a token for the cluster `main`.
fn signed_by(world: &World, token: &str) -> [String; 2] {
    let (status, body) = sts_at(&world.0.sim, "main", token, NOW);
    assert_eq!(status, 200, "{body}");
    let result = &body["GetCallerIdentityResponse"]["GetCallerIdentityResult"];
    ["Arn", "UserId"].map(|name| result[name].as_str().expect("text").to_owned())
}

/// Why STS refuses it.
fn refused(world: &World, token: &str) -> String {
    let (status, body) = sts_at(&world.0.sim, "main", token, NOW);
    assert_ne!(status, 200, "{body}");
    body["Error"].to_string()
}

fn mapping(world: &World, principal: &str) -> Option<AccessMapping> {
    let all = world.0.sim.access_mappings(REGION, "main");
    all.into_iter().find(|it| it.principal == principal)
}

/// A launch template whose instances have an instance profile, and user data.
fn with_profile(world: &World, profile: &str) -> SourceSpec {
    let profile = Document::map().with("name", Some(Document::text(profile)));
    let groups = Document::List(vec![Document::text(SECURITY_GROUP)]);
    let document = Document::map()
        .with("imageId", Some(Document::text(IMAGE_X86_64)))
        .with("instanceType", Some(Document::text("m7i.large")))
        .with("securityGroupIdSet", Some(groups))
        .with("userData", Some(Document::text("Zm9v")))
        .with("iamInstanceProfile", Some(profile));
    let data = LaunchData::new(document).expect("good data");
    source(&world.0.template_of("with-profile", data), None)
}

#[test]
fn an_entry_lets_a_user_in_by_name_and_a_role_by_its_unique_id_whatever_its_path() {
    let world = stage();
    let alice = mapping(&world, "arn:aws:iam::123456789012:user/alice").expect("has access");
    let [arn, user_id] = signed_by(&world, &key("alice").cluster_token("main", STS, REGION, NOW));
    assert_eq!((alice.principal, alice.user_id, alice.groups), (arn, user_id, vec!["dev".to_owned()]));
    let people = mapping(&world, PEOPLE).expect("has access");
    let session = world.0.sim.role_session("admins", "carol@example.com", NOW).expect("a role");
    let [arn, user_id] = signed_by(&world, &session.cluster_token("main", STS, REGION, NOW));
    assert_eq!(arn, "arn:aws:sts::123456789012:assumed-role/admins/carol@example.com");
    assert_eq!(user_id, format!("{}:carol@example.com", people.user_id));
    assert_eq!(people.username, "arn:aws:sts::123456789012:assumed-role/admins/{{SessionName}}");
    assert_eq!(mapping(&world, "arn:aws:iam::123456789012:user/bob"), None);
}

#[test]
fn a_role_created_again_under_its_name_is_another_one() {
    let world = stage();
    let sim = &world.0.sim;
    let user_id = || {
        let session = sim.role_session("admins", "x1", NOW).expect("a role");
        signed_by(&world, &session.cluster_token("main", STS, REGION, NOW))[1].clone()
    };
    let is_let_in = || mapping(&world, PEOPLE).is_some_and(|it| user_id() == format!("{}:x1", it.user_id));
    assert!(is_let_in());
    sim.remove_role("admins");
    sim.put_role(role(json!({ "name": "admins", "path": "/people/" })));
    assert!(!is_let_in());
}

#[test]
fn without_entries_only_the_creator_has_access() {
    let world = world();
    world.active(json!({ "accessConfig": { "authenticationMode": "CONFIG_MAP" } }));
    let all = world.0.sim.access_mappings(REGION, "main");
    let [creator] = all.as_slice() else { panic!("{all:?}") };
    assert_eq!(creator.groups, ["system:masters"]);
    assert!(creator.principal.ends_with(&format!("/{}", creator.user_id)), "{creator:?}");
    assert_eq!(world.0.sim.access_mappings(REGION, "other"), []);
}

#[test]
fn sts_takes_a_token_for_one_cluster_and_for_fifteen_minutes() {
    let world = stage();
    let alice = key("alice");
    let token = alice.cluster_token("main", STS, REGION, NOW);
    assert!(
        refused(&world, &alice.cluster_token("other", STS, REGION, NOW)).contains("SignatureDoesNotMatch")
    );
    let after = |minutes| sts_at(&world.0.sim, "main", &token, NOW.plus(Duration::from_mins(minutes)));
    assert_eq!(after(15).0, 200, "still valid, whatever X-Amz-Expires says");
    let (status, body) = after(16);
    assert!(status == 403 && body.to_string().contains("expired"), "{body}");
    let tomorrow = NOW.plus(Duration::from_hours(24));
    refused(&world, &alice.cluster_token("main", STS, REGION, tomorrow));
    let foreign_account = key("mallory").cluster_token("main", STS, REGION, NOW);
    assert!(refused(&world, &foreign_account).contains("InvalidClientTokenId"));
    let forged = SigningKey { secret: "another".to_owned(), ..alice };
    assert!(
        refused(&world, &forged.cluster_token("main", STS, REGION, NOW)).contains("SignatureDoesNotMatch")
    );
}

#[test]
fn a_session_signs_until_it_is_over_and_with_its_session_token_only() {
    let world = stage();
    let session = world.0.sim.role_session("admins", "carol", NOW).expect("a role");
    let later = NOW.plus(Duration::from_hours(2));
    let token = session.cluster_token("main", STS, REGION, later);
    let (_, body) = sts_at(&world.0.sim, "main", &token, later);
    assert!(body.to_string().contains("ExpiredToken"), "{body}");
    let without = SigningKey { session_token: None, ..session };
    assert!(
        refused(&world, &without.cluster_token("main", STS, REGION, NOW)).contains("InvalidClientTokenId")
    );
}

#[test]
fn each_host_of_sts_takes_what_is_signed_for_its_region() {
    let world = stage();
    let alice = key("alice");
    for (sts, region) in [
        ("https://sts.amazonaws.com", "us-east-1"),
        ("https://sts.us-west-2.amazonaws.com", "us-west-2"),
        ("https://sts-fips.us-east-2.amazonaws.com", "us-east-2"),
    ] {
        signed_by(&world, &alice.cluster_token("main", sts, region, NOW));
        let elsewhere = alice.cluster_token("main", sts, REGION, NOW);
        assert!(refused(&world, &elsewhere).contains("scoped to a valid region"), "{sts}");
    }
}

/// The account neither sees these calls nor limits them.
#[test]
fn calls_of_eks_are_not_counted_and_meet_no_faults() {
    let world = stage();
    let sim = &world.0.sim;
    sim.add_fault(FaultRule::on("GetCallerIdentity", Fault::Throttled));
    let before = sim.total_calls();
    signed_by(&world, &key("alice").cluster_token("main", STS, REGION, NOW));
    refused(&world, &key("alice").cluster_token("other", STS, REGION, NOW));
    assert_eq!(sim.total_calls(), before);
    let token = key("alice").cluster_token("main", STS, REGION, NOW);
    let url = String::from_utf8(URL_SAFE_NO_PAD.decode(&token[11..]).expect("base64")).expect("text");
    let (status, body) = sts_of_url(sim, "main", &url.replace("GetCallerIdentity", "AssumeRole"), NOW);
    assert!(status == 403 && body.to_string().contains("SignatureDoesNotMatch"), "{body}");
}

#[test]
fn an_instance_is_a_node_by_the_entry_of_the_role_in_its_profile() {
    let world = stage();
    add_entry(&world, &json!({ "principalArn": NODES, "type": "EC2_LINUX" }));
    let sim = &world.0.sim;
    sim.put_instance_profile(
        serde_json::from_value(json!({ "name": "pool", "role": "nodes" })).expect("a profile"),
    );
    world
        .0
        .create(NewGroup { source: Some(with_profile(&world, "pool")), ..world.0.pool((0, 1, 1)) })
        .expect("a group");
    world.wait(21);
    let id = world.0.region.in_service_instances().first().expect("it runs").id.clone();
    assert_eq!(world.0.region.in_service_instances()[0].user_data.as_deref(), Some("Zm9v"));
    let credentials = sim.instance_credentials(REGION, &id, NOW).expect("its role exists");
    let [_, user_id] = signed_by(&world, &credentials.cluster_token("main", STS, REGION, NOW));
    let nodes = mapping(&world, NODES).expect("has access");
    assert_eq!(user_id, format!("{}:{id}", nodes.user_id));
    assert_eq!(
        (nodes.username.as_str(), nodes.groups),
        ("system:node:{{EC2PrivateDNSName}}", vec!["system:nodes".to_owned()])
    );
    // The authenticator asks EC2 for that name, with credentials of EKS.
    let name = world.0.region.instance(&id).and_then(|it| it.addresses).expect("it runs").private_dns;
    let authorization = format!("AWS4-HMAC-SHA256 Credential=EKS/20260101/{REGION}/ec2/aws4_request");
    let mut headers = HeaderMap::new();
    headers.insert("authorization", HeaderValue::from_str(&authorization).expect("a header"));
    let body = format!("Action=DescribeInstances&Version=2016-11-15&InstanceId.1={id}");
    let body = body.as_bytes();
    let (method, path, query) = (&Method::POST, "/", "");
    let asked = SignedRequest { method, path, query, headers: &headers, body, received: NOW };
    let WireResponse::Xml { status: 200, body, .. } = of_eks::respond(&sim.world, &asked) else {
        panic!("no response")
    };
    assert!(body.contains(&format!("<privateDnsName>{name}</privateDnsName>")), "{body}");
    let asked =
        SignedRequest { body: b"Action=TerminateInstances&Version=2016-11-15&InstanceId.1=i-1", ..asked };
    let WireResponse::Xml { status: 403, .. } = of_eks::respond(&sim.world, &asked) else {
        panic!("not refused")
    };
}

#[test]
fn accounts_of_one_address_respond_to_their_own_keys() {
    let own = stage().0.sim;
    let foreign_account =
        Simulator::new(SimulatorConfig { account: "210987654321".to_owned(), ..SimulatorConfig::stepped() });
    foreign_account.put_key(AccessKey { id: "zoe".to_owned(), secret: "s".to_owned(), policy: None });
    let account = |sim: &Simulator, caller| sim.account_of(caller).world.config.account.clone();
    assert_eq!(account(&own, "zoe"), "123456789012");
    own.shares_address_with(&foreign_account);
    assert_eq!(
        (account(&own, "zoe"), account(&own, "alice")),
        ("210987654321".into(), "123456789012".into())
    );
    assert_eq!(
        (account(&foreign_account, "zoe"), account(&foreign_account, "alice")),
        ("210987654321".into(), "123456789012".into())
    );
    assert_eq!(account(&foreign_account, "missing"), "210987654321");
}

#[test]
fn a_cluster_that_waits_for_its_server_shows_no_endpoint_before() {
    let world = world_with(|settings| settings.eks.waits_for_server = true);
    world.try_create(json!({})).expect("created");
    world.wait(3_600);
    assert_eq!(world.main().status, ClusterStatus::Creating);
    let server = json!({ "endpoint": "https://127.0.0.1:6443", "certificateAuthority": "Zm9v" });
    let server = serde_json::from_value(server).expect("a server");
    world.0.region.set_cluster_server("main", Some(server)).expect("there is one");
    world.wait(2);
    assert_eq!(world.main().status, ClusterStatus::Active);
}
