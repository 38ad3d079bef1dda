//! User data in S3: written before the version that fetches it, read by the pool's role alone, deleted with what
//! fetches it.

use crate::support::{NS, Pool, World};
use foo_api::FooMachinePoolSpec;
use foo_api::pool::{UserDataBucket, UserDataStorage};
use foo_model::object::TAG_READER;
use foo_simulator_core::core::objects::Object;
use foo_simulator_core::{Fault, FaultRule, Service};
use std::collections::BTreeMap;
use std::time::Duration;

const BUCKET: &str = "nodes";
const ROLE: &str = "workers.nodes.infrastructure.foo.com";

fn in_s3(spec: &mut FooMachinePoolSpec) {
    spec.iam_instance_profile = Some(ROLE.to_owned());
    spec.user_data_storage = Some(UserDataStorage {
        s3: UserDataBucket { bucket: BUCKET.to_owned(), prefix: Some("clusters".to_owned()) },
    });
}

fn large(token: u32) -> Vec<u8> {
    format!("#cloud-config\nwrite_files:\n- path: /token\n  content: {token}\n#{}\n", "x".repeat(100_000))
        .into_bytes()
}

async fn world() -> World {
    let world = World::new().await;
    world
        .region
        .with(|region| region.create_bucket(BUCKET).reader_tag = Some(TAG_READER.to_owned()))
        .unwrap();
    world
}

fn objects(world: &World) -> BTreeMap<String, Object> {
    world.region.with(|region| region.create_bucket(BUCKET).objects.clone()).unwrap()
}

/// What the keys of a pool begin with; its name has nothing that is written otherwise in a key.
fn folder(pool: &Pool<'_>) -> String {
    let group = pool.group_name().replace('/', "!2F");
    format!("clusters/foo-user-data/{NS}/{group}/")
}

/// A pool whose bootstrap data are too long for EC2.
async fn running(world: &World) -> Pool<'_> {
    let pool = world.pool("p").with(in_s3).begins_with(0);
    pool.bootstraps_with(&large(1));
    pool.scales_to(2);
    world.settles().await;
    pool
}

/// What an instance of the pool would fetch, as the role of its profile.
fn fetched(world: &World, role: &str) -> Vec<Vec<u8>> {
    let account = world.region.with(|region| region.account.clone()).unwrap();
    let arn = format!("arn:aws:iam::{account}:role/{role}");
    let keys: Vec<String> = objects(world).into_keys().collect();
    let fetch =
        |key: &String| world.region.with(|region| region.object_for(BUCKET, key, Some(&arn))).unwrap();
    keys.iter().filter_map(|key| fetch(key).ok()).collect()
}

#[tokio::test(start_paused = true)]
async fn instances_fetch_what_is_too_long_for_ec2_and_only_their_role_may() {
    let world = world().await;
    let pool = running(&world).await;
    pool.is_of(2);
    assert!(fetched(&world, ROLE).contains(&large(1)));
    assert_eq!(fetched(&world, "others"), Vec::<Vec<u8>>::new());
    let folder = folder(&pool);
    assert!(objects(&world).keys().all(|key| key.starts_with(&folder)), "{:?}", objects(&world).keys());
}

#[tokio::test(start_paused = true)]
async fn idle_pools_of_a_namespace_cost_s3_one_list_in_ten_minutes() {
    let world = world().await;
    for name in ["p-1", "p-2", "p-3", "p-4", "p-5"] {
        world.pool(name).with(in_s3).of(1).await;
    }
    world.settles().await;
    world.forgets();
    world.waits(Duration::from_hours(1)).await;
    let calls = world.aws.call_counts();
    let of_s3 = calls.iter().filter(|((service, _), _)| *service == Service::S3);
    let (lists, others): (Vec<_>, Vec<_>) =
        of_s3.partition(|((_, operation), _)| operation.contains("ListObjects"));
    assert!(others.is_empty(), "{others:?}");
    let lists: u64 = lists.iter().map(|(_, count)| count.calls).sum();
    assert!((3..=8).contains(&lists), "{lists} lists in an hour, for five pools");
}

/// Once it deleted the user data of `prod/web`, which is below `prod` as a path.
#[tokio::test(start_paused = true)]
async fn a_pool_deletes_nothing_of_a_pool_whose_group_name_continues_its_own() {
    let world = world().await;
    let named = |group: &'static str| {
        move |spec: &mut FooMachinePoolSpec| {
            in_s3(spec);
            spec.group_name = Some(group.to_owned());
        }
    };
    let prod = world.pool("prod").with(named("prod")).of(1).await;
    let web = world.pool("web").with(named("prod/web")).of(1).await;
    let folder = folder(&web);
    let of_web: Vec<String> = objects(&world).into_keys().filter(|key| key.starts_with(&folder)).collect();
    assert!(!of_web.is_empty() && of_web.len() < objects(&world).len(), "{:?}", objects(&world).keys());
    prod.is_deleted();
    world.settles().await;
    prod.left_nothing();
    assert_eq!(objects(&world).into_keys().collect::<Vec<_>>(), of_web);
    web.scales_to(2);
    world.settles().await;
    web.is_of(2);
}

/// What the provider did not write there is not the provider's, wherever it is.
#[tokio::test(start_paused = true)]
async fn objects_of_others_in_the_folder_of_a_pool_stay() {
    let world = world().await;
    let pool = running(&world).await;
    let foreign = format!("{}notes.txt", folder(&pool));
    let copied = objects(&world).into_values().next().unwrap();
    world.region.with(|region| region.create_bucket(BUCKET).objects.insert(foreign.clone(), copied)).unwrap();
    pool.is_deleted();
    world.settles().await;
    pool.left_nothing();
    assert_eq!(objects(&world).into_keys().collect::<Vec<_>>(), [foreign]);
}

fn empties_the_bucket(world: &World) {
    world.region.with(|region| region.create_bucket(BUCKET).objects.clear()).unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_deleted_object_is_restored_while_idle() {
    let world = world().await;
    let pool = running(&world).await;
    let before: Vec<String> = objects(&world).into_keys().collect();
    empties_the_bucket(&world);
    world.waits(Duration::from_mins(25)).await;
    assert_eq!(objects(&world).into_keys().collect::<Vec<_>>(), before);
    assert!(fetched(&world, ROLE).contains(&large(1)), "with the tag that controls who reads it");
    assert_eq!(world.notes("UserDataRestored").len(), 1);
    assert_eq!(pool.state_of("LaunchTemplateReady"), "True");
}

#[tokio::test(start_paused = true)]
async fn a_deleted_object_is_restored_before_an_instance_is_launched() {
    let world = world().await;
    let pool = running(&world).await;
    world.waits(Duration::from_mins(2)).await;
    empties_the_bucket(&world);
    pool.scales_to(3);
    world.settles().await;
    pool.is_of(3);
    assert!(fetched(&world, ROLE).contains(&large(1)));
}

#[tokio::test(start_paused = true)]
async fn while_an_object_is_missing_nothing_is_launched_and_a_condition_reports_it() {
    let world = world().await;
    let pool = running(&world).await;
    world.waits(Duration::from_mins(2)).await;
    empties_the_bucket(&world);
    let denied = world.aws.add_fault(FaultRule::on("PutObject", Fault::Denied));
    pool.scales_to(3);
    world.waits(Duration::from_mins(5)).await;
    let condition = pool.condition("LaunchTemplateReady");
    assert!(condition.message.contains("s3:PutObject"), "{}", world.summary());
    assert_eq!(pool.instances().len(), 2);
    world.aws.remove_fault(denied);
    world.waits(Duration::from_mins(7)).await;
    world.settles().await;
    pool.is_of(3);
    assert!(fetched(&world, ROLE).contains(&large(1)));
}

#[tokio::test(start_paused = true)]
async fn a_bucket_that_may_not_be_listed_is_named_and_delays_nothing() {
    let world = world().await;
    world.aws.add_fault(FaultRule::on("ListObjectsV2", Fault::Denied));
    let pool = running(&world).await;
    pool.is_of(2);
    assert!(pool.condition("Ready").message.contains("the IAM action s3:List"), "{}", world.summary());
}

#[tokio::test(start_paused = true)]
async fn a_new_token_is_a_new_object_and_replaces_nothing() {
    let world = world().await;
    let pool = running(&world).await;
    let (before, stored) = (pool.instances(), objects(&world).len());
    pool.bootstraps_with(&large(2));
    world.settles().await;
    assert_eq!((pool.instances(), objects(&world).len()), (before, stored + 1));
    assert!(fetched(&world, ROLE).contains(&large(1)), "a rollback finds it");
    pool.edits(|spec| spec.user_data_storage = None);
    pool.bootstraps_with(b"#cloud-config\n");
    world.settles().await;
    pool.is_of(2);
}

#[tokio::test(start_paused = true)]
async fn a_deleted_pool_leaves_no_object_and_others_stay() {
    let world = world().await;
    let (first, second) = (running(&world).await, world.pool("p-2").with(in_s3).of(1).await);
    let folder = folder(&second);
    let others: Vec<String> = objects(&world).into_keys().filter(|key| key.starts_with(&folder)).collect();
    assert!(!others.is_empty() && others.len() < objects(&world).len());
    first.is_deleted();
    world.settles().await;
    first.left_nothing();
    assert_eq!(objects(&world).into_keys().collect::<Vec<_>>(), others);
}

#[tokio::test(start_paused = true)]
async fn a_missing_bucket_is_reported_and_the_pool_continues_when_it_exists() {
    let world = World::new().await;
    let pool = world.pool("p").with(in_s3).begins_with(1);
    world.waits(Duration::from_mins(5)).await;
    assert_eq!(pool.state_of("LaunchTemplateReady"), "False NotFound");
    assert!(pool.condition("LaunchTemplateReady").message.contains("NoSuchBucket"));
    world.region.with(|region| region.create_bucket(BUCKET).objects.len()).unwrap();
    world.waits(Duration::from_mins(7)).await;
    world.settles().await;
    pool.is_of(1);
}

#[tokio::test(start_paused = true)]
async fn a_denied_write_names_the_action_and_a_lost_response_is_harmless() {
    let world = world().await;
    let denied = world.aws.add_fault(FaultRule::on("PutObject", Fault::Denied));
    let pool = world.pool("p").with(in_s3).begins_with(1);
    world.waits(Duration::from_mins(5)).await;
    assert!(pool.condition("Ready").message.contains("the IAM action s3:PutObject is missing"));
    assert!(pool.instances().is_empty());
    world.aws.remove_fault(denied);
    world.aws.add_fault(FaultRule::on("PutObject", Fault::DroppedAfter).times(1));
    world.waits(Duration::from_mins(7)).await;
    world.settles().await;
    pool.is_of(1);
}

#[tokio::test(start_paused = true)]
async fn a_deletion_waits_until_the_objects_can_be_deleted() {
    let world = world().await;
    let pool = running(&world).await;
    let denied = world.aws.add_fault(FaultRule::on("DeleteObject", Fault::Denied));
    pool.is_deleted();
    world.waits(Duration::from_mins(10)).await;
    assert!(pool.condition("Ready").message.contains("s3:DeleteObject"), "{}", world.summary());
    assert!(!objects(&world).is_empty());
    world.aws.remove_fault(denied);
    world.waits(Duration::from_mins(7)).await;
    world.settles().await;
    pool.left_nothing();
    assert!(objects(&world).is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_kill_between_object_and_version_leaves_nothing_behind() {
    let mut world = world().await;
    world.aws.add_fault(FaultRule::on("CreateLaunchTemplate", Fault::Denied));
    let pool = world.pool("p").with(in_s3).begins_with(1);
    let name = pool.group_name();
    world.waits(Duration::from_mins(2)).await;
    assert_eq!(objects(&world).len(), 1);
    pool.is_deleted();
    world.kills_the_manager();
    world.starts_the_manager();
    world.settles().await;
    assert!(objects(&world).is_empty(), "{name}");
}

#[tokio::test(start_paused = true)]
async fn user_data_that_cannot_be_fetched_are_reported() {
    let world = world().await;
    let pool = world.pool("p").with(in_s3).begins_with(1);
    pool.bootstraps_with(b"[settings.kubernetes]\n");
    world.settles().await;
    assert_eq!(pool.state_of("LaunchTemplateReady"), "False UserDataNotStorable");
    pool.edits(|spec| spec.iam_instance_profile = None);
    world.settles().await;
    assert_eq!(pool.state_of("LaunchTemplateReady"), "False NodeRoleUnusable");
}
