//! IAM through the real SDK: against the simulator's wire, whose responses must equal what its own implementation of the trait
//! says, and at the endpoint of each partition.

use crate::canned::{Canned, Reply, settings};
use crate::proxy::Tunnel;
use foo_cloud::{ErrorKind, Roles};
use foo_cloud_adapter::{AwsCloud, AwsSettings, Proxy, Timeouts};
use foo_model::eks::{InstanceProfile, NewOidcProvider, OidcProvider, Role};
use foo_simulator::{AccessKey, Fault, FaultRule, Handle, SimCloud, SimulatorConfig};
use serde_json::json;

struct World {
    server: Handle,
    wire: AwsCloud,
    direct: SimCloud,
}

impl World {
    async fn start() -> Self {
        let server = Handle::start(SimulatorConfig::stepped()).await.unwrap();
        let settings = AwsSettings { timeouts: Timeouts::default(), ..settings(&server.endpoint()) };
        let wire = AwsCloud::connect(settings).await.unwrap();
        let simulator = server.simulator();
        simulator.put_key(AccessKey {
            id: "AKIAEXAMPLE".to_owned(),
            secret: "example".to_owned(),
            policy: None,
        });
        let direct = simulator.cloud("eu-central-1", "AKIAEXAMPLE");
        Self { server, wire, direct }
    }

    fn put_role(&self, role: serde_json::Value) {
        self.server.simulator().put_role(serde_json::from_value(role).unwrap());
    }

    fn put_profile(&self, profile: serde_json::Value) {
        self.server.simulator().put_instance_profile(serde_json::from_value(profile).unwrap());
    }

    async fn role(&self, name: &str) -> Option<Role> {
        let found = self.wire.role(name).await.unwrap();
        assert_eq!(found, self.direct.role(name).await.unwrap());
        found
    }

    async fn profile(&self, name: &str) -> Option<InstanceProfile> {
        let found = self.wire.instance_profile(name).await.unwrap();
        assert_eq!(found, self.direct.instance_profile(name).await.unwrap());
        found
    }

    async fn provider(&self, arn: &str) -> Option<OidcProvider> {
        let found = self.wire.oidc_provider(arn).await.unwrap();
        assert_eq!(found, self.direct.oidc_provider(arn).await.unwrap());
        found
    }
}

#[tokio::test]
async fn roles_are_read_with_their_path_and_whom_they_trust() {
    let world = World::start().await;
    assert_eq!(world.role("control-plane").await, None);
    let services = ["eks.amazonaws.com", "ec2.amazonaws.com"];
    world.put_role(json!({"name": "control-plane", "path": "/x/", "services": services}));
    let role = world.role("control-plane").await.unwrap();
    assert_eq!(role.arn, "arn:aws:iam::123456789012:role/x/control-plane");
    assert!(role.trusted_services.into_iter().eq(["ec2.amazonaws.com", "eks.amazonaws.com"]));
    assert!(role.unique_id.starts_with("AROA"), "{}", role.unique_id);
    world.server.simulator().remove_role("control-plane");
    assert_eq!(world.role("control-plane").await, None);
    world.put_role(json!({"name": "control-plane", "path": "/x/"}));
    let again = world.role("control-plane").await.unwrap();
    assert_ne!(again.unique_id, role.unique_id);
    assert!(again.created >= role.created, "{again:?} {:?}", role.created);
}

#[tokio::test]
async fn instance_profiles_are_read_with_their_role() {
    let world = World::start().await;
    assert_eq!(world.profile("nodes").await, None);
    world.put_profile(json!({"name": "nodes", "role": null}));
    let empty = world.profile("nodes").await.unwrap();
    assert_eq!(empty.role, None);
    assert_eq!(empty.arn, "arn:aws:iam::123456789012:instance-profile/nodes");
    world.put_role(json!({"name": "of-nodes", "services": ["ec2.amazonaws.com"]}));
    world.put_profile(json!({"name": "nodes", "role": "of-nodes"}));
    let profile = world.profile("nodes").await.unwrap();
    assert_eq!(profile.role, world.role("of-nodes").await);
}

#[tokio::test]
async fn issuers_of_tokens_are_created_once_and_deleted() {
    let world = World::start().await;
    let new = NewOidcProvider {
        url: "https://oidc.eks.eu-central-1.amazonaws.com/id/1".to_owned(),
        client_ids: ["sts.amazonaws.com".to_owned()].into(),
        tags: [("a".to_owned(), "b c".to_owned())].into(),
    };
    let arn = world.wire.create_oidc_provider(&new).await.unwrap();
    assert_eq!(arn, "arn:aws:iam::123456789012:oidc-provider/oidc.eks.eu-central-1.amazonaws.com/id/1");
    let found = world.provider(&arn).await.unwrap();
    assert_eq!(found.url, "oidc.eks.eu-central-1.amazonaws.com/id/1");
    assert_eq!((&found.arn, &found.client_ids, &found.tags), (&arn, &new.client_ids, &new.tags));
    let clouds: [&dyn Roles; 2] = [&world.wire, &world.direct];
    for cloud in clouds {
        assert_eq!(cloud.create_oidc_provider(&new).await.unwrap_err().kind, ErrorKind::AlreadyExists);
    }
    world.wire.delete_oidc_provider(&arn).await.unwrap();
    assert_eq!(world.provider(&arn).await, None);
    world.wire.delete_oidc_provider(&arn).await.unwrap();
    world.direct.delete_oidc_provider(&arn).await.unwrap();
}

/// A call that only reads is repeated; a creation whose response is lost is not.
#[tokio::test]
async fn an_issuer_whose_creation_got_no_response_may_exist() {
    let world = World::start().await;
    world.server.simulator().add_fault(FaultRule {
        times: Some(1),
        ..FaultRule::on("CreateOpenIDConnectProvider", Fault::DroppedAfter)
    });
    let new = NewOidcProvider {
        url: "https://issuer.example/1".to_owned(),
        client_ids: [].into(),
        tags: [].into(),
    };
    let lost = world.wire.create_oidc_provider(&new).await.unwrap_err();
    assert_eq!(lost.kind, ErrorKind::LostResponse, "{lost}");
    assert_eq!(world.server.simulator().calls("CreateOpenIDConnectProvider"), 1);
    assert!(world.provider("arn:aws:iam::123456789012:oidc-provider/issuer.example/1").await.is_some());
}

#[tokio::test]
async fn a_missing_right_is_not_a_missing_profile() {
    let world = World::start().await;
    world.server.simulator().add_fault(FaultRule::on("GetInstanceProfile", Fault::Denied));
    let clouds: [&dyn Roles; 2] = [&world.wire, &world.direct];
    for cloud in clouds {
        assert_eq!(cloud.instance_profile("nodes").await.unwrap_err().kind, ErrorKind::Denied);
    }
}

#[tokio::test]
async fn a_role_whose_trust_policy_is_unreadable_is_an_error() {
    let role = |policy: &str| {
        format!(
            "<GetRoleResponse><GetRoleResult><Role><Path>/</Path><RoleName>r</RoleName><RoleId>AROA1</RoleId>\
             <Arn>arn:aws:iam::1:role/r</Arn><CreateDate>2026-01-01T00:00:00Z</CreateDate>{policy}</Role></GetRoleResult>\
             </GetRoleResponse>"
        )
    };
    for policy in ["", "<AssumeRolePolicyDocument>%7B</AssumeRolePolicyDocument>"] {
        let response = role(policy);
        let server = Canned::always(move || Reply::Xml(200, response.clone())).await;
        let unreadable = server.cloud().await.role("r").await.unwrap_err();
        assert_eq!(unreadable.message, "the response has no usable trust policy");
    }
}

/// IAM has one endpoint in each partition.
#[tokio::test]
async fn iam_is_called_at_the_endpoint_of_the_regions_partition() {
    for (region, host) in [
        ("eu-central-1", "iam.amazonaws.com"),
        ("us-gov-west-1", "iam.us-gov.amazonaws.com"),
        ("cn-north-1", "iam.cn-north-1.amazonaws.com.cn"),
    ] {
        let tunnel = Tunnel::start("407 Proxy Authentication Required").await;
        let proxy = Proxy::Https { url: tunnel.url.clone(), except: String::new() };
        let settings = AwsSettings { region: region.to_owned(), endpoint_url: None, proxy, ..settings("") };
        let cloud = AwsCloud::connect(settings).await.unwrap();
        assert_eq!(cloud.role("r").await.unwrap_err().kind, ErrorKind::Unreachable);
        let asked = tunnel.seen();
        assert!(!asked.is_empty(), "{region}");
        for (line, _) in asked {
            assert_eq!(line, format!("CONNECT {host}:443 HTTP/1.1"), "{region}");
        }
    }
}
