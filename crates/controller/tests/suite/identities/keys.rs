//! Keys in Secrets: missing, rotated, refused, of another account.

use super::{AT_ONCE, BAD_KEY, KEY, OTHER_KEY, only, with_keys};
use crate::support::{MANAGER, World, objects};
use foo_api::identity::secret_keys;
use foo_apiserver_fake::{Fault as ApiFault, Verb};
use foo_simulator_core::{Fault, FaultRule};
use std::time::Duration;

#[tokio::test(start_paused = true)]
async fn missing_keys_of_a_secret_are_reported_and_noticed_when_added() {
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
    assert_eq!(world.server.resource_version(), version, "it had no visible effect");
    let clouds = world.clouds();
    assert_eq!(clouds.len(), 1, "the old cloud is dropped: {clouds:?}");
    pool.is_of(2);
    assert_eq!((pool.instances(), world.aws_writes()), (instances, 0));
    pool.scales_to(3);
    world.settles().await;
    pool.is_of(3);
}

#[tokio::test(start_paused = true)]
async fn a_key_that_aws_refuses_is_reported_and_a_valid_one_used_at_once() {
    let world = World::with_keys().await;
    let pool = world.pool("p").of(2).await;
    world.refuses(BAD_KEY);
    world.rotates("prod", BAD_KEY);
    world.settles().await;
    let reported = [world.cluster_condition("CredentialsReady"), pool.condition("CredentialsReady")];
    for condition in reported {
        assert_eq!((condition.status.as_str(), condition.reason.as_str()), ("False", "CredentialsInvalid"));
        assert!(condition.message.contains("InvalidClientTokenId"), "{}", condition.message);
    }
    assert_eq!(pool.machines().len(), 2, "nothing counts as deleted");
    pool.scales_to(3);
    world.waits(Duration::from_mins(30)).await;
    world.rotates("prod", OTHER_KEY);
    world.soon("the target is followed", || pool.group().unwrap().sizes.desired == 3).await;
    world.settles().await;
    pool.is_of(3);
    assert_eq!(pool.state_of("CredentialsReady"), "True");
    assert_eq!(world.cluster_condition("CredentialsReady").status, "True");
}

#[tokio::test(start_paused = true)]
async fn a_key_that_becomes_valid_later_is_retried() {
    let world = World::with_identity();
    let refusal = Fault::Error { code: "InvalidClientTokenId".into(), status: 403, message: "No.".into() };
    let rule = world.aws.add_fault(FaultRule::on_everything(refusal).for_caller(KEY));
    world.has(&objects::keys("prod", KEY));
    world.has(&with_keys("prod"));
    let pool = world.pool("p").begins_with(1);
    world.waits(Duration::from_mins(30)).await;
    assert_eq!(world.cluster_condition("CredentialsReady").reason, "CredentialsInvalid");
    world.aws.remove_fault(rule);
    world.waits(Duration::from_mins(7)).await;
    world.settles().await;
    pool.is_of(1);
}

#[tokio::test(start_paused = true)]
async fn every_user_of_a_revoked_key_reports_it_until_it_is_valid_again() {
    let world = World::with_keys().await;
    let pool = world.pool("p").of(1).await;
    let refusal = Fault::Error { code: "InvalidClientTokenId".into(), status: 403, message: "No.".into() };
    let rule = world.aws.add_fault(FaultRule::on_everything(refusal).for_caller(KEY));
    world.waits(Duration::from_mins(15)).await;
    for condition in [world.cluster_condition("CredentialsReady"), pool.condition("CredentialsReady")] {
        assert_eq!((condition.status.as_str(), condition.reason.as_str()), ("False", "CredentialsInvalid"));
    }
    assert_eq!(world.cluster_condition("NetworkReady").status, "True", "the network is known nevertheless");
    world.aws.remove_fault(rule);
    world.waits(Duration::from_mins(3)).await;
    for condition in [world.cluster_condition("CredentialsReady"), pool.condition("CredentialsReady")] {
        assert_eq!((condition.status.as_str(), condition.reason.as_str()), ("True", "Accepted"));
    }
}

#[tokio::test(start_paused = true)]
async fn with_a_key_of_another_account_nothing_is_deleted_until_it_is_exchanged_again() {
    let mut world = World::with_keys().await;
    world.kills_the_manager();
    let foreign = world.another_account();
    world.starts_the_manager_with_key_of(OTHER_KEY, &foreign);
    let pool = world.pool("p").of(2).await;
    let instances = pool.instances();
    world.rotates("prod", OTHER_KEY);
    world.waits(Duration::from_mins(15)).await;
    assert_eq!(pool.state_of("CredentialsReady"), "False WrongAccount");
    assert_eq!((pool.machines().len(), pool.foo_machines().len()), (2, 2));
    assert!(pool.machines().iter().all(|machine| machine.metadata.deletion_timestamp.is_none()));
    let asked = foreign.call_counts().into_keys().filter(|(_, action)| !action.starts_with("Describe"));
    assert_eq!(asked.map(|(_, action)| action).collect::<Vec<_>>(), ["GetCallerIdentity"], "no write");
    foreign.reset_calls();
    world.waits(Duration::from_mins(30)).await;
    assert!(foreign.total_calls() <= 30, "read more often than an idle pool: {:?}", foreign.call_counts());
    world.rotates("prod", KEY);
    world.soon("its own account is seen again", || pool.state_of("CredentialsReady") == "True").await;
    world.settles().await;
    pool.is_of(2);
    assert_eq!(pool.instances(), instances);
}

#[tokio::test(start_paused = true)]
async fn a_pool_started_in_one_account_is_not_created_in_another() {
    let mut world = World::with_keys().await;
    world.kills_the_manager();
    let foreign = world.another_account();
    world.starts_the_manager_with_key_of(OTHER_KEY, &foreign);
    let denied = world.aws.add_fault(FaultRule::on("CreateAutoScalingGroup", Fault::Denied));
    let pool = world.pool("p").begins_with(2);
    world.waits(Duration::from_mins(2)).await;
    assert_eq!(pool.object().spec.provider_id, None, "there is no group yet, only a launch template");
    world.rotates("prod", OTHER_KEY);
    world.waits(Duration::from_mins(10)).await;
    assert_eq!(pool.state_of("CredentialsReady"), "False WrongAccount");
    let made = foreign.call_counts().into_keys().filter(|(_, action)| action.starts_with("Create"));
    assert_eq!(made.count(), 0);
    world.rotates("prod", KEY);
    world.aws.remove_fault(denied);
    world.settles().await;
    pool.is_of(2);
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
    assert_eq!(pool.state_of("Ready"), "True");
    world.server.heal();
    world.waits(Duration::from_secs(30)).await;
    world.forgets();
    world.waits(Duration::from_mins(2)).await;
    assert_eq!(world.callers(), only(OTHER_KEY));
}
