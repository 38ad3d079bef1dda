//! Keys in Secrets: missing, rotated, refused, of another account.

use super::{AT_ONCE, BAD_KEY, KEY, OTHER_KEY, only, with_keys};
use crate::support::{MANAGER, World, objects};
use foo_api::identity::secret_keys;
use foo_apiserver_fake::{Fault as ApiFault, Verb};
use foo_simulator_core::{Fault, FaultRule};
use std::time::Duration;

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
    world.soon("the target is followed", || pool.group().unwrap().sizes.desired == 3).await;
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
