//! Tokens of clusters: whom the authenticator lets in, and as whom (kubernetes-sigs/aws-iam-authenticator, `pkg/token`).

use super::scene::{World, request, world};
use crate::core::catalogue::IMAGE_X86_64;
use crate::core::document::Document;
use crate::core::ec2::launch_data::LaunchData;
use crate::core::eks::cluster::ClusterStatus;
use crate::core::group::operations::NewGroup;
use crate::core::group::source::SourceSpec;
use crate::core::network::SECURITY_GROUP;
use crate::iam::roles::Role;
use crate::tests::scene::{REGION, source};
use crate::{AccessKey, ClusterUser, SigningKey, Simulator, StsHosts, TokenRefusal};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use foo_model::Timestamp;
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
    let principals = world.principals();
    world
        .with(|region| region.create_access_entry("main", &request(body.clone()), &principals))
        .expect("an entry");
}

fn review_at(sim: &Simulator, token: &str, now: Timestamp) -> Result<ClusterUser, TokenRefusal> {
    sim.review_token(REGION, "main", token, &StsHosts { simulator: Some("127.0.0.1:4566") }, now)
}

fn review(world: &World, token: &str) -> Result<ClusterUser, TokenRefusal> {
    review_at(&world.0.sim, token, NOW)
}

fn refused(world: &World, token: &str) -> String {
    review(world, token).expect_err("refused").to_string()
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

/// A token made of any URL.
fn token_of(url: &str) -> String {
    format!("k8s-aws-v1.{}", URL_SAFE_NO_PAD.encode(url))
}

fn url_of(token: &str) -> String {
    let encoded = token.strip_prefix("k8s-aws-v1.").expect("its prefix");
    String::from_utf8(URL_SAFE_NO_PAD.decode(encoded).expect("base64")).expect("text")
}

#[test]
fn a_user_with_an_entry_is_let_in_with_its_groups() {
    let world = stage();
    let user = review(&world, &key("alice").cluster_token("main", STS, REGION, NOW)).expect("let in");
    assert_eq!(user.username, "arn:aws:iam::123456789012:user/alice");
    assert_eq!(user.groups, ["dev"]);
    assert_eq!(user.uid, "aws-iam-authenticator:123456789012:alice");
    assert_eq!(user.extra["accessKeyId"], "alice");
    let message = refused(&world, &key("bob").cluster_token("main", STS, REGION, NOW));
    assert_eq!(message, "arn:aws:iam::123456789012:user/bob is not mapped");
}

#[test]
fn a_session_is_let_in_by_the_entry_of_its_role_whatever_its_path() {
    let world = stage();
    let session = world.0.sim.role_session("admins", "carol@example.com", NOW).expect("a role");
    let token = session.cluster_token("main", STS, REGION, NOW);
    let user = review(&world, &token).expect("let in");
    assert_eq!(user.username, "arn:aws:sts::123456789012:assumed-role/admins/carol-example.com");
    assert_eq!(user.principal, PEOPLE);
    assert_eq!(user.extra["sessionName"], "carol@example.com");
    let later = NOW.plus(Duration::from_hours(2));
    let token = session.cluster_token("main", STS, REGION, later);
    let refusal = review_at(&world.0.sim, &token, later).expect_err("the session is over");
    assert!(refusal.to_string().contains("ExpiredToken"), "{refusal}");
    let without = SigningKey { session_token: None, ..session };
    assert!(
        refused(&world, &without.cluster_token("main", STS, REGION, NOW)).contains("InvalidClientTokenId")
    );
}

#[test]
fn a_role_made_anew_under_the_same_name_is_another_one() {
    let world = stage();
    let sim = &world.0.sim;
    let token =
        || sim.role_session("admins", "x1", NOW).expect("a role").cluster_token("main", STS, REGION, NOW);
    review(&world, &token()).expect("let in");
    sim.remove_role("admins");
    sim.put_role(role(json!({ "name": "admins", "path": "/people/" })));
    assert!(refused(&world, &token()).ends_with("is not mapped"));
}

#[test]
fn a_token_is_for_one_cluster_and_for_fifteen_minutes() {
    let world = stage();
    let alice = key("alice");
    let token = alice.cluster_token("main", STS, REGION, NOW);
    assert!(
        refused(&world, &alice.cluster_token("other", STS, REGION, NOW)).contains("SignatureDoesNotMatch")
    );
    let after = |minutes| review_at(&world.0.sim, &token, NOW.plus(Duration::from_mins(minutes)));
    after(15).expect("still valid, whatever X-Amz-Expires says");
    assert!(after(16).expect_err("over").to_string().contains("X-Amz-Date parameter is expired"));
    let tomorrow = NOW.plus(Duration::from_hours(24));
    let early = alice.cluster_token("main", STS, REGION, tomorrow);
    assert!(review(&world, &early).is_err());
    let stranger = key("mallory").cluster_token("main", STS, REGION, NOW);
    assert!(refused(&world, &stranger).contains("InvalidClientTokenId"));
    let forged = SigningKey { secret: "another".to_owned(), ..alice };
    assert!(
        refused(&world, &forged.cluster_token("main", STS, REGION, NOW)).contains("SignatureDoesNotMatch")
    );
}

#[test]
fn only_what_the_authenticator_would_send_to_sts_is_taken() {
    let world = stage();
    let alice = key("alice");
    let good = url_of(&alice.cluster_token("main", STS, REGION, NOW));
    review(&world, &token_of(&good)).expect("good");
    for (other, why) in [
        (good.replace("https://", "http://"), "unexpected scheme"),
        (good.replace("sts.eu-central-1.amazonaws.com", "sts.evil.example"), "unexpected hostname"),
        (
            good.replace("sts.eu-central-1.", "sts.eu-west-1."),
            "Credential should be scoped to a valid region",
        ),
        (good.replace(".com/?", ".com/x?"), "unexpected path"),
        (good.replace("GetCallerIdentity", "AssumeRole"), "unexpected action"),
        (format!("{good}&Extra=1"), "non-whitelisted query parameter"),
        (format!("{good}&action=GetCallerIdentity"), "duplicate query parameter"),
        (good.replace("host%3Bx-k8s-aws-id", "host"), "did not sign the x-k8s-aws-id header"),
        (good.replace("Expires=60", "Expires=901"), "invalid X-Amz-Expires"),
        (good.replace("Expires=60", "Expires=59"), "SignatureDoesNotMatch"),
        (good.replace("%2Fsts%2F", "%2Fec2%2F"), "correct service"),
        ("nonsense".to_owned(), "not properly formatted"),
    ] {
        assert_ne!(other, good, "{why}");
        let message = refused(&world, &token_of(&other));
        assert!(message.contains(why), "{why}: {message}");
    }
    assert!(refused(&world, "k8s-aws-v1.%").contains("not properly formatted"));
    assert!(refused(&world, &format!("k8s-aws-v1.{}", "A".repeat(5_000))).contains("too large"));
    assert!(refused(&world, "eyJhbGciOiJSUzI1NiJ9").contains("prefix"));
}

#[test]
fn hosts_of_sts_and_the_simulator_itself_are_taken() {
    let world = stage();
    let alice = key("alice");
    for (sts, region) in [
        ("https://sts.amazonaws.com", "us-east-1"),
        ("https://sts.us-west-2.amazonaws.com", "us-west-2"),
        ("http://127.0.0.1:4566", REGION),
    ] {
        review(&world, &alice.cluster_token("main", sts, region, NOW)).expect(sts);
    }
    let other_port = alice.cluster_token("main", "http://127.0.0.1:4567", REGION, NOW);
    assert!(refused(&world, &other_port).contains("unexpected scheme"));
}

#[test]
fn an_instance_is_a_node_by_the_entry_of_the_role_in_its_profile() {
    let world = stage();
    add_entry(&world, &json!({ "principalArn": super::scene::NODES, "type": "EC2_LINUX" }));
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
    let user = review(&world, &credentials.cluster_token("main", STS, REGION, NOW)).expect("let in");
    let node = world.0.region.instance(&id).and_then(|it| it.addresses).expect("it runs").private_dns;
    assert_eq!(user.username, format!("system:node:{node}"));
    assert_eq!(user.groups, ["system:nodes"]);
    let other = sim.role_session("nodes", "i-0123456789abcdef0", NOW).expect("a role");
    assert!(refused(&world, &other.cluster_token("main", STS, REGION, NOW)).ends_with("is not mapped"));
}

#[test]
fn a_cluster_that_waits_for_its_server_shows_no_endpoint_before() {
    let world = super::scene::world_with(|settings| settings.eks.waits_for_server = true);
    world.try_create(json!({})).expect("created");
    world.wait(3_600);
    assert_eq!(world.main().status, ClusterStatus::Creating);
    let server = json!({ "endpoint": "https://127.0.0.1:6443", "certificateAuthority": "Zm9v" });
    let server = serde_json::from_value(server).expect("a server");
    world.0.region.set_cluster_server("main", Some(server)).expect("there is one");
    world.wait(2);
    assert_eq!(world.main().status, ClusterStatus::Active);
}
