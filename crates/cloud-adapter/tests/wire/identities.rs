//! The identity that calls AWS: keys, and chains of roles, before a simulator that knows keys, trust policies and sessions.

use crate::canned::settings;
use foo_cloud::{CloudError, ErrorKind, Groups};
use foo_cloud_adapter::{AssumedRole, AwsCloud, AwsSettings, Identity, Timeouts};
use foo_simulator::{AccessKey, Handle, Role, SimulatorConfig};
use serde_json::{Value, json};

const KEY: &str = "AKIABASE";

/// A simulator that knows one key, and who may assume the roles `jump` and `pools`.
struct World {
    server: Handle,
}

impl World {
    async fn start() -> Self {
        let server = Handle::start(SimulatorConfig::stepped()).await.unwrap();
        let world = Self { server };
        world.knows_key("secret");
        world.has_role(json!({"name": "jump", "trusts": [KEY]}));
        world.has_role(json!({"name": "pools", "trusts": ["jump"], "external_id": "of-this-cluster"}));
        world
    }

    fn knows_key(&self, secret: &str) {
        let key = AccessKey { id: KEY.to_owned(), secret: secret.to_owned(), policy: None };
        self.server.simulator().put_key(key);
    }

    fn has_role(&self, role: Value) {
        self.server.simulator().put_role(serde_json::from_value::<Role>(role).unwrap());
    }

    async fn cloud(&self, secret: &str, roles: Vec<AssumedRole>) -> AwsCloud {
        let identity = Identity::Keys {
            access_key_id: KEY.to_owned(),
            secret_access_key: secret.to_owned(),
            session_token: None,
        };
        let settings = AwsSettings {
            identity,
            roles,
            timeouts: Timeouts::default(),
            ..settings(&self.server.endpoint())
        };
        AwsCloud::connect(settings).await.unwrap()
    }

    /// Through `jump` to `pools`.
    async fn chained(&self) -> AwsCloud {
        self.cloud("secret", vec![role("jump", None), role("pools", Some("of-this-cluster"))]).await
    }

    /// How often a role was assumed since this was asked last.
    fn assumed(&self) -> u64 {
        let count = self.server.simulator().calls("AssumeRole");
        self.server.simulator().reset_calls();
        count
    }
}

fn role(name: &str, external_id: Option<&str>) -> AssumedRole {
    AssumedRole {
        arn: arn(name),
        external_id: external_id.map(str::to_owned),
        session_name: "foo-manager".into(),
    }
}

fn arn(name: &str) -> String {
    format!("arn:aws:iam::123456789012:role/{name}")
}

async fn look(cloud: &AwsCloud) -> Result<(), CloudError> {
    cloud.describe_groups(&["g".into()]).await.map(drop)
}

/// The call fails for its credentials, in these words, and in the same words the next time.
async fn is_refused(cloud: &AwsCloud, words: &[&str]) {
    let error = look(cloud).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Credentials, "{error}");
    for word in words {
        assert!(error.to_string().contains(word), "{word}: {error}");
    }
    assert_eq!(look(cloud).await, Err(error));
}

#[tokio::test]
async fn a_chain_of_two_roles_is_assumed_once_and_remembered() {
    let world = World::start().await;
    let cloud = world.chained().await;
    assert_eq!(world.assumed(), 0, "connecting makes no call");
    for _ in 0..3 {
        look(&cloud).await.unwrap();
    }
    let callers = world.server.simulator().call_counts_by_caller();
    let of_look: Vec<&String> = callers
        .keys()
        .filter(|(_, _, action)| action == "DescribeAutoScalingGroups")
        .map(|(caller, _, _)| caller)
        .collect();
    assert!(of_look.len() == 1 && of_look[0].starts_with("ASIA"), "{callers:?}");
    assert_eq!(world.assumed(), 2);
    // Every service uses the same session.
    foo_cloud::Compute::describe_subnets(&cloud, &foo_cloud::NetworkQuery::Ids(vec!["subnet-1".into()]))
        .await
        .unwrap_err();
    assert_eq!(world.assumed(), 0);
}

#[tokio::test]
async fn a_role_that_does_not_trust_us_is_named() {
    let world = World::start().await;
    let denied = ["AccessDenied", "sts:AssumeRole"];
    let without_id = world.cloud("secret", vec![role("jump", None), role("pools", None)]).await;
    is_refused(&without_id, &[&denied[..], &[&arn("pools")]].concat()).await;
    let wrong_id = world.cloud("secret", vec![role("jump", None), role("pools", Some("of-another"))]).await;
    is_refused(&wrong_id, &[&denied[..], &[&arn("pools")]].concat()).await;
    let directly = world.cloud("secret", vec![role("pools", Some("of-this-cluster"))]).await;
    is_refused(&directly, &[&denied[..], &[&arn("pools")]].concat()).await;
    // In a longer chain it is the first that is refused.
    let first = world.cloud("secret", vec![role("missing", None), role("jump", None)]).await;
    is_refused(
        &first,
        &[&denied[..], &["role arn:aws:iam::123456789012:role/missing cannot be assumed"]].concat(),
    )
    .await;
}

#[tokio::test]
async fn a_key_that_aws_does_not_know_is_named_and_tried_again() {
    let world = World::start().await;
    world.server.simulator().put_key(AccessKey {
        id: "AKIAOTHER".to_owned(),
        secret: "other".to_owned(),
        policy: None,
    });
    world.server.simulator().remove_key(KEY);
    let (plain, chained) = (world.cloud("secret", Vec::new()).await, world.chained().await);
    is_refused(&plain, &["InvalidClientTokenId"]).await;
    is_refused(
        &chained,
        &["InvalidClientTokenId", "role arn:aws:iam::123456789012:role/jump cannot be assumed"],
    )
    .await;
    world.knows_key("secret");
    look(&plain).await.unwrap();
    look(&chained).await.unwrap();
    is_refused(&world.cloud("wrong", Vec::new()).await, &["SignatureDoesNotMatch"]).await;
}

#[tokio::test]
async fn a_session_is_renewed_before_it_ends_and_so_is_the_one_it_was_made_with() {
    let world = World::start().await;
    // The SDK takes a session that ends within ten seconds for one that has ended.
    world.has_role(json!({"name": "jump", "trusts": [KEY], "session_seconds": 5}));
    let of_pools = |seconds: u64| json!({"name": "pools", "trusts": ["jump"], "external_id": "of-this-cluster", "session_seconds": seconds});
    world.has_role(of_pools(5));
    let cloud = world.chained().await;
    look(&cloud).await.unwrap();
    assert_eq!(world.assumed(), 2);
    look(&cloud).await.unwrap();
    assert_eq!(world.assumed(), 2, "both are assumed again");
    world.has_role(of_pools(3_600));
    look(&cloud).await.unwrap();
    world.assumed();
    look(&cloud).await.unwrap();
    assert_eq!(world.assumed(), 0, "a short session before it does not matter while this one lasts");
}

#[tokio::test]
async fn a_session_that_was_revoked_is_not_used_until_it_would_have_ended() {
    let world = World::start().await;
    let cloud = world.chained().await;
    look(&cloud).await.unwrap();
    world.assumed();
    assert!(world.server.simulator().expire_sessions() > 0);
    let error = look(&cloud).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Credentials, "{error}");
    look(&cloud).await.unwrap();
    assert_eq!(world.assumed(), 2);
    // Not again and again: a call that is refused for another reason would be, whatever the session.
    world.server.simulator().expire_sessions();
    look(&cloud).await.unwrap_err();
    look(&cloud).await.unwrap_err();
    assert_eq!(world.assumed(), 0);
}
