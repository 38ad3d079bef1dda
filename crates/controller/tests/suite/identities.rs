//! As whom AWS is called: what identities allow, what their Secrets say, and what becomes of pools while neither does.

use crate::support::{CLUSTER, MANAGER, NS, Pool, World, objects};
use foo_api::identity::{AllowedNamespaces, secret_keys};
use foo_api::names::WATCH_LABEL;
use foo_api::{FooCluster, FooClusterIdentity};
use foo_apiserver_fake::{Fault as ApiFault, Verb};
use foo_simulator::{Fault, FaultRule};
use k8s_openapi::api::core::v1::{Namespace, Secret};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::ResourceExt as _;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::time::Instant;

const KEY: &str = "AKIAFIRST";
const OTHER_KEY: &str = "AKIASECOND";
const BAD_KEY: &str = "AKIABAD";
/// From a change in Kubernetes to what follows from it.
const AT_ONCE: Duration = Duration::from_secs(10);

/// An identity for everybody, with the keys of a Secret of the same name.
fn with_keys(name: &str) -> FooClusterIdentity {
    objects::identity(name, json!({"allowedNamespaces": {}, "secret": {"name": name}}))
}

fn only(caller: &str) -> BTreeSet<String> {
    [caller.to_owned()].into()
}

impl World {
    /// A cluster that names the identity `prod`, nothing else but our manager.
    fn with_identity() -> Self {
        let world = Self::empty();
        world.has(&objects::cluster());
        let mut cluster = objects::foo_cluster();
        cluster.spec.identity_ref = Some(objects::identity_reference("prod"));
        world.has(&cluster);
        world
    }

    /// The same with the identity and its Secret, at rest.
    async fn with_keys() -> Self {
        let world = Self::with_identity();
        world.has(&objects::keys("prod", KEY));
        world.has(&with_keys("prod"));
        world.settles().await;
        world
    }

    fn foo_cluster(&self) -> FooCluster {
        self.server.get(NS, CLUSTER).expect("the FooCluster is gone")
    }

    fn says_of_cluster(&self, kind: &str) -> Condition {
        let conditions = self.foo_cluster().status.unwrap_or_default().conditions;
        conditions.into_iter().find(|condition| condition.type_ == kind).expect("no such condition")
    }

    fn identity(&self, name: &str) -> FooClusterIdentity {
        self.server.get("", name).expect("the identity is gone")
    }

    fn edits_identity(&self, name: &str, change: impl FnOnce(&mut FooClusterIdentity)) {
        self.server.edit("", name, change).unwrap();
    }

    /// Somebody rotates the key in a Secret.
    fn rotates(&self, name: &str, id: &str) {
        let fresh = objects::keys(name, id);
        self.server.edit(NS, name, |secret: &mut Secret| secret.data = fresh.data).unwrap();
    }

    fn refuses(&self, caller: &str) {
        let refusal = Fault::Error {
            code: "InvalidClientTokenId".to_owned(),
            status: 403,
            message: "The security token included in the request is invalid.".to_owned(),
        };
        self.aws.add_fault(FaultRule::on_everything(refusal).for_caller(caller));
    }

    /// Waits until this is so, which must not take long.
    async fn soon(&self, what: &str, is_so: impl Fn() -> bool) {
        let began = Instant::now();
        self.until(what, is_so).await;
        assert!(began.elapsed() <= AT_ONCE, "{what}: {:?}\n{}", began.elapsed(), self.in_words());
    }

    /// The FooCluster and the pool say this of their credentials, AWS has not been asked anything, and nothing is written
    /// while nothing changes.
    async fn is_without_credentials(&self, pool: &Pool<'_>, reason: &str, words: &str) {
        self.settles().await;
        let version = self.server.resource_version();
        self.forgets();
        self.waits(Duration::from_mins(20)).await;
        assert_eq!(self.callers(), BTreeSet::new());
        assert_eq!(self.server.resource_version(), version, "status churn");
        let said = [self.says_of_cluster("CredentialsReady"), pool.condition("CredentialsReady")];
        for condition in said {
            assert_eq!((condition.status.as_str(), condition.reason.as_str()), ("False", reason));
            assert!(condition.message.contains(words), "{}", condition.message);
        }
        assert_eq!(self.says_of_cluster("Ready").reason, reason);
        assert_eq!(pool.condition("LaunchTemplateReady").reason, reason, "no second cause is invented");
    }
}

#[tokio::test(start_paused = true)]
async fn a_cluster_and_its_pools_are_looked_after_as_its_identity_says() {
    let world = World::with_keys().await;
    let pool = world.pool("p").of(2).await;
    pool.is_of(2);
    assert_eq!(pool.says("CredentialsReady"), "True");
    let said = world.says_of_cluster("CredentialsReady");
    assert_eq!((said.status.as_str(), said.reason.as_str()), ("True", "Accepted"));
    assert_eq!(world.callers(), only(KEY), "nobody else called");
    let clouds = world.clouds();
    assert_eq!(clouds.len(), 1, "the cluster and the pool share one: {clouds:?}");
    assert!(!clouds[0].contains("hush"));
    pool.is_deleted();
    world.settles().await;
    pool.left_nothing();
    assert_eq!(world.callers(), only(KEY));
}

#[tokio::test(start_paused = true)]
async fn a_role_is_assumed_through_its_sources() {
    let world = World::with_identity();
    world.has(&objects::keys("base", KEY));
    world.has(&objects::identity("base", json!({"secret": {"name": "base"}})));
    let role = |name: &str, source: &str| {
        let arn = format!("arn:aws:iam::123456789012:role/{name}");
        json!({"arn": arn, "source": {"name": source}})
    };
    world.has(&objects::identity("jump", json!({"role": role("jump", "base")})));
    world.has(&objects::identity("prod", json!({"allowedNamespaces": {}, "role": role("pools", "jump")})));
    world.settles().await;
    world.pool("p").of(1).await.is_of(1);
    assert_eq!(world.callers(), only("arn:aws:iam::123456789012:role/pools"));
    let clouds = world.clouds();
    let chain = "AKIAFIRST > arn:aws:iam::123456789012:role/jump > arn:aws:iam::123456789012:role/pools #";
    assert!(clouds[0].starts_with(chain), "{clouds:?}");
}

#[tokio::test(start_paused = true)]
async fn an_identity_that_does_not_exist_is_named_and_its_coming_is_noticed() {
    let world = World::with_identity();
    let pool = world.pool("p").begins_with(1);
    let words = "FooClusterIdentity prod does not exist";
    world.is_without_credentials(&pool, "IdentityNotFound", words).await;
    world.has(&objects::identity("prod", json!({"allowedNamespaces": {}, "controller": {}})));
    world.soon("AWS is asked", || !world.callers().is_empty()).await;
    world.settles().await;
    pool.is_of(1);
    assert_eq!(world.callers(), only(MANAGER));
}

#[tokio::test(start_paused = true)]
async fn a_circle_of_sources_is_named() {
    let world = World::with_identity();
    let role = |source: &str| {
        let arn = "arn:aws:iam::123456789012:role/x";
        json!({"allowedNamespaces": {}, "role": {"arn": arn, "source": {"name": source}}})
    };
    world.has(&objects::identity("prod", role("jump")));
    world.has(&objects::identity("jump", role("prod")));
    let pool = world.pool("p").begins_with(1);
    let words = "its source identities form a circle: prod > jump > prod";
    world.is_without_credentials(&pool, "IdentityInvalid", words).await;
    let said = &world.identity("jump").status.unwrap().conditions[0];
    assert_eq!((said.status.as_str(), said.reason.as_str()), ("False", "IdentityInvalid"));
}

#[tokio::test(start_paused = true)]
async fn a_namespace_that_is_not_allowed_gets_nothing_until_its_labels_say_otherwise() {
    let world = World::with_identity();
    let mut namespace = Namespace::default();
    namespace.metadata.name = Some(NS.to_owned());
    world.has(&namespace);
    let gold = json!({"selector": {"matchLabels": {"tier": "gold"}}});
    world.has(&objects::identity("prod", json!({"allowedNamespaces": gold, "controller": {}})));
    let pool = world.pool("p").begins_with(1);
    let words = "FooClusterIdentity prod does not allow use from namespace default";
    world.is_without_credentials(&pool, "IdentityNotAllowed", words).await;
    let label = |namespace: &mut Namespace| {
        namespace.labels_mut().insert("tier".to_owned(), "gold".to_owned());
    };
    world.server.edit("", NS, label).unwrap();
    world.soon("AWS is asked", || !world.callers().is_empty()).await;
    world.settles().await;
    pool.is_of(1);
}

#[tokio::test(start_paused = true)]
async fn without_allowed_namespaces_an_identity_is_for_nobody() {
    let world = World::with_identity();
    world.has(&objects::identity("prod", json!({"controller": {}})));
    let pool = world.pool("p").begins_with(1);
    world
        .is_without_credentials(&pool, "IdentityNotAllowed", "does not allow use from namespace default")
        .await;
    let said = &world.identity("prod").status.unwrap().conditions[0];
    assert!(said.message.contains("no namespace may use it"), "{said:?}");
}

#[tokio::test(start_paused = true)]
async fn the_default_identity_is_for_clusters_that_name_none() {
    let world = World::new().await;
    let pool = world.pool("p").of(1).await;
    assert_eq!(world.callers(), only(MANAGER), "without it they use the manager's own credentials");
    let elsewhere = json!({"list": ["elsewhere"]});
    world.has(&objects::identity("default", json!({"allowedNamespaces": elsewhere, "controller": {}})));
    let words =
        "FooClusterIdentity default, which is the default of FooClusters without identityRef, does not allow";
    world.is_without_credentials(&pool, "IdentityNotAllowed", words).await;
    assert_eq!(pool.instances().len(), 1, "what runs keeps running");
    world.edits_identity("default", |identity| {
        identity.spec.allowed_namespaces = Some(AllowedNamespaces::default());
    });
    world.settles().await;
    pool.is_of(1);
}

#[tokio::test(start_paused = true)]
async fn an_identity_stays_until_no_cluster_uses_it() {
    let world = World::with_keys().await;
    let pool = world.pool("p").of(1).await;
    world.server.delete::<FooClusterIdentity>("", "prod").unwrap();
    world.settles().await;
    let said = world.identity("prod").status.unwrap().conditions;
    let deleting = said.iter().find(|condition| condition.type_ == "Deleting").expect("not said");
    assert_eq!((deleting.status.as_str(), deleting.reason.as_str()), ("True", "InUse"));
    let users =
        format!("in use by FooClusters, delete them or set another identityRef there: {NS}/{CLUSTER}");
    assert_eq!(deleting.message, users);
    pool.scales_to(2);
    world.settles().await;
    pool.is_of(2);
    pool.is_deleted();
    world.server.delete::<FooCluster>(NS, CLUSTER).unwrap();
    world.until("the cluster goes", || world.server.get::<FooCluster>(NS, CLUSTER).is_none()).await;
    world.soon("the identity goes", || world.server.get::<FooClusterIdentity>("", "prod").is_none()).await;
    assert!(pool.group().is_none(), "and its group went before it");
}

#[tokio::test(start_paused = true)]
async fn of_two_installations_one_writes_to_an_identity() {
    let mut world = World::with_keys().await;
    world.restarts_the_manager_for("team");
    world.has(&objects::keys("other", OTHER_KEY));
    let mut labelled = with_keys("other");
    labelled.labels_mut().insert(WATCH_LABEL.to_owned(), "team".to_owned());
    world.has(&labelled);
    world.has(&with_keys("theirs"));
    world.settles().await;
    let ready = |name: &str| world.identity(name).status.map(|status| status.conditions[0].status.clone());
    assert_eq!((ready("other"), ready("theirs")), (Some("True".to_owned()), None));
    assert!(world.identity("prod").finalizers().len() == 1, "it is used, whoever writes its status");
    world.edits_identity("prod", |identity| identity.spec.allowed_namespaces = None);
    world.settles().await;
    let said = &world.identity("prod").status.unwrap().conditions[0];
    assert_eq!(said.message, "", "what the other one has to say of it is not said by this one");
    assert!(world.identity("prod").finalizers().is_empty(), "nobody may use it any more");
}

#[tokio::test(start_paused = true)]
async fn an_identity_that_nobody_uses_any_more_is_let_go_by_the_next_manager() {
    let mut world = World::with_keys().await;
    world.kills_the_manager();
    world.server.delete::<FooClusterIdentity>("", "prod").unwrap();
    world.server.edit(NS, CLUSTER, |cluster: &mut FooCluster| cluster.metadata.finalizers = None).unwrap();
    world.server.delete::<FooCluster>(NS, CLUSTER).unwrap();
    assert!(world.server.get::<FooClusterIdentity>("", "prod").is_some());
    // There is no FooCluster left whose change could wake it, and that is known last.
    let slow = ApiFault::status(500).on(Verb::List).kind("FooCluster").client(MANAGER).times(3);
    world.server.inject(slow);
    world.starts_the_manager();
    world.until("the identity goes", || world.server.get::<FooClusterIdentity>("", "prod").is_none()).await;
}

#[tokio::test(start_paused = true)]
async fn sources_and_the_default_are_used_too_and_let_go_at_once() {
    let world = World::with_identity();
    let through_jump = json!({"arn": "arn:aws:iam::123456789012:role/x", "source": {"name": "jump"}});
    world.has(&objects::identity("prod", json!({"allowedNamespaces": {}, "role": through_jump})));
    world.has(&objects::identity("jump", json!({"controller": {}})));
    world.has(&objects::identity("default", json!({"allowedNamespaces": {}, "controller": {}})));
    world.settles().await;
    let held = |name: &str| !world.identity(name).finalizers().is_empty();
    assert_eq!(["prod", "jump", "default"].map(held), [true, true, false]);
    world.server.delete::<FooClusterIdentity>("", "jump").unwrap();
    world.server.edit(NS, CLUSTER, |cluster: &mut FooCluster| cluster.spec.identity_ref = None).unwrap();
    world.soon("the source goes", || world.server.get::<FooClusterIdentity>("", "jump").is_none()).await;
    assert_eq!(["prod", "default"].map(held), [false, true]);
}

#[tokio::test(start_paused = true)]
async fn what_a_secret_lacks_is_named_and_noticed_when_it_comes() {
    let world = World::with_identity();
    world.has(&with_keys("prod"));
    let pool = world.pool("p").begins_with(1);
    let words = "FooClusterIdentity prod: Secret default/prod does not exist";
    world.is_without_credentials(&pool, "IdentitySecretNotFound", words).await;
    let mut half = objects::keys("prod", KEY);
    half.data.as_mut().unwrap().remove(secret_keys::SECRET_ACCESS_KEY);
    world.has(&half);
    let words = "Secret default/prod has no text under the key SecretAccessKey";
    world.is_without_credentials(&pool, "IdentitySecretInvalid", words).await;
    world.rotates("prod", KEY);
    world.soon("AWS is asked", || !world.callers().is_empty()).await;
    world.settles().await;
    pool.is_of(1);
}

#[tokio::test(start_paused = true)]
async fn a_rotated_key_is_in_use_at_once_and_the_old_one_never_again() {
    let world = World::with_keys().await;
    let pool = world.pool("p").of(2).await;
    let instances = pool.instances();
    world.rotates("prod", OTHER_KEY);
    world.soon("the new key is used", || world.callers().contains(OTHER_KEY)).await;
    world.waits(AT_ONCE).await;
    world.forgets();
    let version = world.server.resource_version();
    world.waits(Duration::from_mins(10)).await;
    assert_eq!(world.callers(), only(OTHER_KEY));
    assert_eq!(world.server.resource_version(), version, "nothing came of it for anybody to see");
    let clouds = world.clouds();
    assert_eq!(clouds.len(), 1, "the old cloud is gone: {clouds:?}");
    pool.is_of(2);
    assert_eq!((pool.instances(), world.aws_writes()), (instances, 0));
    pool.scales_to(3);
    world.settles().await;
    pool.is_of(3);
}

#[tokio::test(start_paused = true)]
async fn a_key_that_aws_refuses_is_named_and_a_good_one_helps_at_once() {
    let world = World::with_keys().await;
    let pool = world.pool("p").of(2).await;
    world.refuses(BAD_KEY);
    world.rotates("prod", BAD_KEY);
    world.settles().await;
    let said = [world.says_of_cluster("CredentialsReady"), pool.condition("CredentialsReady")];
    for condition in said {
        assert_eq!((condition.status.as_str(), condition.reason.as_str()), ("False", "CredentialsInvalid"));
        assert!(condition.message.contains("InvalidClientTokenId"), "{}", condition.message);
    }
    assert_eq!(pool.machines().len(), 2, "nothing is thought to be gone");
    pool.scales_to(3);
    world.waits(Duration::from_mins(30)).await;
    world.rotates("prod", OTHER_KEY);
    world.soon("the wish is followed", || pool.group().unwrap().sizes.desired == 3).await;
    world.settles().await;
    pool.is_of(3);
    assert_eq!(pool.says("CredentialsReady"), "True");
    assert_eq!(world.says_of_cluster("CredentialsReady").status, "True");
}

#[tokio::test(start_paused = true)]
async fn a_key_that_becomes_good_later_is_tried_again_by_itself() {
    let world = World::with_identity();
    let refusal = Fault::Error { code: "InvalidClientTokenId".into(), status: 403, message: "No.".into() };
    let rule = world.aws.add_fault(FaultRule::on_everything(refusal).for_caller(KEY));
    world.has(&objects::keys("prod", KEY));
    world.has(&with_keys("prod"));
    let pool = world.pool("p").begins_with(1);
    world.waits(Duration::from_mins(30)).await;
    assert_eq!(world.says_of_cluster("CredentialsReady").reason, "CredentialsInvalid");
    world.aws.remove_fault(rule);
    world.waits(Duration::from_mins(7)).await;
    world.settles().await;
    pool.is_of(1);
}

#[tokio::test(start_paused = true)]
async fn a_key_that_is_revoked_is_told_of_by_everybody_until_it_is_good_again() {
    let world = World::with_keys().await;
    let pool = world.pool("p").of(1).await;
    let refusal = Fault::Error { code: "InvalidClientTokenId".into(), status: 403, message: "No.".into() };
    let rule = world.aws.add_fault(FaultRule::on_everything(refusal).for_caller(KEY));
    world.waits(Duration::from_mins(15)).await;
    for condition in [world.says_of_cluster("CredentialsReady"), pool.condition("CredentialsReady")] {
        assert_eq!((condition.status.as_str(), condition.reason.as_str()), ("False", "CredentialsInvalid"));
    }
    assert_eq!(world.says_of_cluster("NetworkReady").status, "True", "the network is known all the same");
    world.aws.remove_fault(rule);
    world.waits(Duration::from_mins(3)).await;
    for condition in [world.says_of_cluster("CredentialsReady"), pool.condition("CredentialsReady")] {
        assert_eq!((condition.status.as_str(), condition.reason.as_str()), ("True", "Accepted"));
    }
}

#[tokio::test(start_paused = true)]
async fn with_a_key_of_another_account_nothing_is_deleted_until_it_is_exchanged_again() {
    let mut world = World::with_keys().await;
    world.kills_the_manager();
    let stranger = world.another_account();
    world.starts_the_manager_with_key_of(OTHER_KEY, &stranger);
    let pool = world.pool("p").of(2).await;
    let instances = pool.instances();
    world.rotates("prod", OTHER_KEY);
    world.waits(Duration::from_mins(15)).await;
    assert_eq!(pool.says("CredentialsReady"), "False WrongAccount");
    assert_eq!((pool.machines().len(), pool.foo_machines().len()), (2, 2));
    assert!(pool.machines().iter().all(|machine| machine.metadata.deletion_timestamp.is_none()));
    let asked = stranger.call_counts().into_keys().filter(|(_, action)| !action.starts_with("Describe"));
    assert_eq!(asked.map(|(_, action)| action).collect::<Vec<_>>(), ["GetCallerIdentity"], "no write");
    stranger.reset_calls();
    world.waits(Duration::from_mins(30)).await;
    assert!(
        stranger.total_calls() <= 30,
        "looked at more closely than a pool at rest: {:?}",
        stranger.call_counts()
    );
    world.rotates("prod", KEY);
    world.soon("its own account is seen again", || pool.says("CredentialsReady") == "True").await;
    world.settles().await;
    pool.is_of(2);
    assert_eq!(pool.instances(), instances);
}

#[tokio::test(start_paused = true)]
async fn a_pool_that_was_begun_in_one_account_is_not_made_in_another() {
    let mut world = World::with_keys().await;
    world.kills_the_manager();
    let stranger = world.another_account();
    world.starts_the_manager_with_key_of(OTHER_KEY, &stranger);
    let denied = world.aws.add_fault(FaultRule::on("CreateAutoScalingGroup", Fault::Denied));
    let pool = world.pool("p").begins_with(2);
    world.waits(Duration::from_mins(2)).await;
    assert_eq!(pool.object().spec.provider_id, None, "there is no group yet, only a launch template");
    world.rotates("prod", OTHER_KEY);
    world.waits(Duration::from_mins(10)).await;
    assert_eq!(pool.says("CredentialsReady"), "False WrongAccount");
    let made = stranger.call_counts().into_keys().filter(|(_, action)| action.starts_with("Create"));
    assert_eq!(made.count(), 0);
    world.rotates("prod", KEY);
    world.aws.remove_fault(denied);
    world.settles().await;
    pool.is_of(2);
}

#[tokio::test(start_paused = true)]
async fn a_cluster_can_turn_to_another_identity() {
    let world = World::with_keys().await;
    let pool = world.pool("p").of(2).await;
    let instances = pool.instances();
    world.has(&objects::keys("other", OTHER_KEY));
    world.has(&with_keys("other"));
    world.settles().await;
    world.drains_take(Duration::from_mins(2));
    pool.scales_to(1);
    world.waits(Duration::from_secs(30)).await;
    let turn = |cluster: &mut FooCluster| {
        cluster.spec.identity_ref = Some(objects::identity_reference("other"));
    };
    world.server.edit(NS, CLUSTER, turn).unwrap();
    world.soon("the other key is used", || world.callers().contains(OTHER_KEY)).await;
    world.waits(AT_ONCE).await;
    world.forgets();
    world.settles().await;
    pool.is_of(1);
    assert!(instances.contains(&pool.instances()[0]));
    assert_eq!(world.callers(), only(OTHER_KEY));
}

#[tokio::test(start_paused = true)]
async fn without_credentials_nothing_is_asked_and_what_runs_keeps_running() {
    let world = World::with_keys().await;
    let pool = world.pool("p").of(2).await;
    world.edits_identity("prod", |identity| identity.spec.allowed_namespaces = None);
    world
        .is_without_credentials(&pool, "IdentityNotAllowed", "does not allow use from namespace default")
        .await;
    assert_eq!(world.clouds(), Vec::<String>::new(), "no observer is left");
    assert_eq!((pool.instances().len(), pool.machines().len()), (2, 2));
    assert_eq!(pool.object().spec.provider_id_list.unwrap().len(), 2);
    pool.is_deleted();
    world.waits(Duration::from_mins(10)).await;
    assert_eq!(pool.says("Deleting"), "True");
    assert_eq!(pool.condition("Deleting").reason, "IdentityNotAllowed", "it says what it waits for");
    assert_eq!(pool.instances().len(), 2);
    world.edits_identity("prod", |identity| {
        identity.spec.allowed_namespaces = Some(AllowedNamespaces::default());
    });
    world.settles().await;
    pool.left_nothing();
}

#[tokio::test(start_paused = true)]
async fn clusters_with_the_same_keys_share_one_observer_and_the_last_to_go_ends_it() {
    let world = World::with_keys().await;
    // Another identity with the same content.
    world.has(&objects::identity("twin", json!({"allowedNamespaces": {}, "secret": {"name": "prod"}})));
    let (cluster, foo_cluster) = objects::another_cluster("d", Some("twin"));
    world.has(&cluster);
    world.has(&foo_cluster);
    world.settles().await;
    assert!(world.server.get::<FooCluster>(NS, "d").unwrap().status.unwrap().ready == Some(true));
    assert_eq!(world.clouds().len(), 1, "{:?}", world.clouds());
    for name in ["d", CLUSTER] {
        world.server.delete::<foo_api::capi::Cluster>(NS, name).unwrap();
        world.server.delete::<FooCluster>(NS, name).unwrap();
        world.settles().await;
        assert_eq!(world.clouds().len(), usize::from(name == "d"), "{:?}", world.clouds());
    }
    world.forgets();
    world.waits(Duration::from_hours(2)).await;
    assert_eq!(world.callers(), BTreeSet::new());
}

#[tokio::test(start_paused = true)]
async fn a_secret_belongs_to_the_identities_that_name_it() {
    let world = World::with_keys().await;
    let owners = |name: &str| -> Vec<String> {
        let secret = world.server.get::<Secret>(NS, name).unwrap();
        secret.owner_references().iter().map(|owner| format!("{} {}", owner.kind, owner.name)).collect()
    };
    assert_eq!(owners("prod"), ["FooClusterIdentity prod"]);
    let said = &world.identity("prod").status.unwrap().conditions[0];
    assert_eq!(
        (said.type_.as_str(), said.status.as_str(), said.reason.as_str()),
        ("Ready", "True", "Complete")
    );
    world.has(&with_keys("other"));
    world.edits_identity("other", |it| it.spec.secret.as_mut().unwrap().name = "prod".to_owned());
    world.settles().await;
    assert_eq!(owners("prod"), ["FooClusterIdentity prod", "FooClusterIdentity other"]);
    world.has(&objects::keys("fresh", OTHER_KEY));
    world.edits_identity("prod", |it| it.spec.secret.as_mut().unwrap().name = "fresh".to_owned());
    world.settles().await;
    assert_eq!(
        (owners("prod"), owners("fresh")),
        (vec!["FooClusterIdentity other".to_owned()], vec!["FooClusterIdentity prod".to_owned()],)
    );
    assert_eq!(world.server.get::<Secret>(NS, "prod").unwrap().data, objects::keys("prod", KEY).data);
}

#[tokio::test(start_paused = true)]
async fn while_the_api_server_does_not_give_a_secret_the_known_keys_stay_in_use() {
    let world = World::with_keys().await;
    let pool = world.pool("p").of(1).await;
    let secrets = |fault: ApiFault| fault.on(Verb::Get).kind("Secret").client(MANAGER).always();
    world.server.inject(secrets(ApiFault::unavailable()));
    world.rotates("prod", OTHER_KEY);
    world.forgets();
    world.waits(Duration::from_mins(5)).await;
    assert_eq!(world.callers(), only(KEY));
    assert_eq!(pool.says("Ready"), "True");
    world.server.heal();
    world.waits(Duration::from_secs(30)).await;
    world.forgets();
    world.waits(Duration::from_mins(2)).await;
    assert_eq!(world.callers(), only(OTHER_KEY));
}

#[tokio::test(start_paused = true)]
async fn identities_cost_nothing_while_nothing_changes() {
    let mut world = World::with_keys().await;
    let pool = world.pool("p").of(1).await;
    let silence = async |world: &World| {
        world.settles().await;
        let version = world.server.resource_version();
        world.forgets();
        world.waits(Duration::from_mins(30)).await;
        let live = world.requests().which(|one| matches!(one.verb, Verb::Get | Verb::List));
        assert_eq!((live.count(), world.requests().writes().count()), (0, 0), "{live:?}");
        assert_eq!(world.server.resource_version(), version);
    };
    silence(&world).await;
    pool.is_of(1);
    let version = world.server.resource_version();
    world.kills_the_manager();
    world.starts_the_manager();
    world.waits(Duration::from_mins(1)).await;
    assert_eq!(world.server.resource_version(), version, "a restart writes nothing");
    silence(&world).await;
    let spec: Value = serde_json::to_value(world.identity("prod").spec).unwrap();
    assert_eq!(spec, json!({"allowedNamespaces": {}, "secret": {"name": "prod"}}));
}

#[tokio::test(start_paused = true)]
async fn a_manager_that_may_not_list_identities_says_so_and_calls_nobody() {
    let mut world = World::new().await;
    world.pool("p").of(1).await;
    world.kills_the_manager();
    let lists = ApiFault::status(403).on(Verb::List).kind("FooClusterIdentity").client(MANAGER).always();
    world.server.inject(lists);
    world.forgets();
    world.starts_the_manager();
    world.waits(Duration::from_mins(5)).await;
    assert_eq!(world.pool("p").says("CredentialsReady"), "False IdentityNotYetKnown");
    assert_eq!(world.aws.total_calls(), 0);
    world.server.heal();
    world.waits(Duration::from_mins(2)).await;
    assert_eq!(world.pool("p").says("CredentialsReady"), "True");
}

#[tokio::test(start_paused = true)]
async fn secrets_that_are_never_read_to_the_end_hold_up_nobody_for_ever_and_are_noticed() {
    let world = World::with_identity();
    let names = ["a", "b", "c", "d", "prod"];
    let hangs =
        ApiFault::delay(Duration::from_hours(1)).on(Verb::Get).kind("Secret").client(MANAGER).always();
    let hangs = world.server.inject(hangs);
    for name in names {
        world.has(&objects::keys(name, KEY));
        world.has(&with_keys(name));
    }
    let given_up =
        || world.metrics().exposition().unwrap().contains("foo_task_restarts_total{task=\"identities\"}");
    // Each read is given up after a minute, all of them after four.
    world.waits(Duration::from_mins(3)).await;
    assert!(!given_up() && world.metrics().tasks().are_well());
    world.until("a look is given up", given_up).await;
    assert!(!world.metrics().tasks().are_well());
    assert_eq!(world.metrics().tasks().stands_still(), None);
    world.server.withdraw(&hangs);
    world.settles().await;
    assert_eq!(world.says_of_cluster("CredentialsReady").status, "True");
    assert!(world.metrics().tasks().are_well());
}
