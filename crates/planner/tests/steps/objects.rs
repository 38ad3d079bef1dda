//! User data in S3.

use super::NOTHING;
use crate::world::{World, content, pool};
use foo_model::{ObjectPlace, Reason, Storage, StoredUserData, TemplateChoice, UserData};
use foo_planner::Plan;
use foo_planner::desired::{Size, Template, Wanted};
use foo_planner::observed::LastRead;
use foo_planner::report::ConditionKind;

fn storage(bucket: &str) -> Storage {
    Storage { bucket: bucket.to_owned(), prefix: String::new() }
}

fn place(bucket: &str, data: &str) -> ObjectPlace {
    ObjectPlace { storage: storage(bucket), name: data.repeat(32) }
}

/// Content whose user data is an object; `data` has two digits.
fn stored(bucket: &str, spec: &str, data: &str) -> Template {
    let object = StoredUserData {
        place: place(bucket, data),
        user_data: UserData(data.as_bytes().to_vec()),
        reader: "arn:aws:iam::1:role/r".to_owned(),
    };
    Template { object: Some(Box::new(object)), ..content(spec, data) }
}

fn wants(world: &mut World, bucket: &str, spec: &str, data: &str) {
    world.desired.group.storage = Some(storage(bucket));
    world.desired.template = Wanted::Ready(stored(bucket, spec, data));
}

fn new_world() -> World {
    let mut world = pool().of(1).new_world();
    wants(&mut world, "nodes", "v1", "01");
    world
}

fn there(world: &World) -> Vec<ObjectPlace> {
    world.cloud.objects.keys().cloned().collect()
}

#[test]
fn an_object_precedes_the_version_that_fetches_it() {
    let mut world = new_world();
    world.observe_and_plan();
    let store = format!("store {}", place("nodes", "01"));
    assert_eq!(
        world.wants(),
        ["add finalizer", "block move", store.as_str(), "create template spec=v1 data=01"]
    );
    world.settle();
    assert_eq!(world.wants(), NOTHING, "an idle pool sends nothing to S3");
    let versions = &world.cloud.template.as_ref().unwrap().versions;
    assert_eq!(versions[0].object, Some(place("nodes", "01")));
    wants(&mut world, "nodes", "v1", "02");
    let store = format!("store {}", place("nodes", "02"));
    assert_eq!(world.wants(), [store.as_str(), "create template version spec=v1 data=02"]);
    world.settle();
    assert_eq!(there(&world).len(), 2, "a rollback finds the first one");
}

#[test]
fn objects_go_with_the_versions_that_fetch_them() {
    let mut world = new_world();
    world.settle();
    for number in 2..=14 {
        wants(&mut world, "nodes", "v1", &format!("{number:02}"));
        world.settle();
    }
    wants(&mut world, "nodes", "v2", "02");
    world.settle();
    assert_eq!(there(&world).len(), 14);
    world.wait(16 * 60);
    assert!(world.wants()[0].starts_with("delete objects in nodes but"), "{:?}", world.wants());
    assert!(world.wants()[1].starts_with("delete template versions"), "{:?}", world.wants());
    world.settle();
    let template = world.cloud.template.clone().unwrap();
    let mut fetched: Vec<ObjectPlace> =
        template.versions.iter().filter_map(|version| version.object.clone()).collect();
    fetched.sort();
    fetched.dedup();
    assert_eq!(there(&world), fetched, "02 stays: another version fetches it");
    assert!(fetched.contains(&place("nodes", "02")));
}

#[test]
fn unknown_objects_are_deleted_when_they_are_old() {
    let mut world = new_world();
    world.settle();
    let (old, now) = (place("nodes", "aa"), world.now);
    world.cloud.objects.insert(old.clone(), now);
    for number in 2..=14 {
        wants(&mut world, "nodes", "v1", &format!("{number:02}"));
        world.settle();
    }
    world.wait(16 * 60);
    let (young, now) = (place("nodes", "bb"), world.now);
    world.cloud.objects.insert(young.clone(), now);
    world.settle();
    assert!(!there(&world).contains(&old) && there(&world).contains(&young));
}

#[test]
fn a_deleted_pool_leaves_no_object_in_any_bucket() {
    let mut world = new_world();
    world.settle();
    wants(&mut world, "others", "v2", "02");
    world.settle();
    assert_eq!(there(&world).len(), 2);
    world.delete_pool();
    world.settle();
    assert_eq!(there(&world), []);
    assert!(world.cloud.template.is_none());
}

#[test]
fn an_object_without_any_version_goes_with_the_pool() {
    let mut world = new_world();
    world.observe_and_plan();
    let now = world.now;
    world.cloud.objects.insert(place("nodes", "01"), now);
    world.kube.finalizer = foo_planner::observed::Finalizer::Present;
    world.delete_pool();
    world.settle();
    assert_eq!(there(&world), []);
}

#[test]
fn a_pool_that_never_stored_anything_asks_nothing_of_s3() {
    let mut world = pool().of(1).running();
    world.delete_pool();
    let mut asked = Vec::new();
    for _ in 0..50 {
        asked.extend(world.wants());
        world.step();
    }
    assert!(!asked.iter().any(|action| action.contains("objects")), "{asked:?}");
}

#[test]
fn an_object_that_was_deleted_is_written_again() {
    let mut world = new_world();
    world.settle();
    world.cloud.objects.clear();
    let store = format!("store {}", place("nodes", "01"));
    assert_eq!(world.wants(), [store.as_str()]);
    let plan = world.plan_of(0);
    assert_eq!(condition(&plan).0, Reason::UserDataMissing);
    assert!(
        condition(&plan).1.contains(&format!("object {}", place("nodes", "01"))),
        "{:?}",
        condition(&plan)
    );
    world.settle();
    assert_eq!(there(&world), [place("nodes", "01")]);
    assert_eq!(condition(&world.plan_of(0)).0, Reason::VersionReady);
    assert_eq!(world.wants(), NOTHING);
}

#[test]
fn nothing_is_launched_before_its_user_data_is_there() {
    let mut world = new_world();
    world.settle();
    world.cloud.objects.clear();
    world.desired.size = Size::Replicas { wanted: 3, ceiling: None };
    assert_eq!(world.wants(), [format!("store {}", place("nodes", "01"))]);
    world.settle();
    assert_eq!(world.cloud.group.as_ref().unwrap().instances.len(), 3);
}

#[test]
fn user_data_of_an_earlier_secret_cannot_be_written_again_and_the_condition_says_so() {
    let mut world = new_world();
    world.settle();
    // The content of before is gone: the same version is wanted, with another object in mind.
    let Wanted::Ready(template) = &mut world.desired.template else { unreachable!() };
    template.object.as_mut().unwrap().place = place("nodes", "07");
    world.cloud.objects.clear();
    assert_eq!(world.wants(), NOTHING);
    let plan = world.plan_of(0);
    let (reason, message) = condition(&plan);
    assert_eq!(reason, Reason::UserDataMissing);
    assert!(message.contains("the pool no longer has this user data"), "{message}");
}

/// A description has 255 characters.
#[test]
fn a_rollback_keeps_its_user_data_if_no_version_can_record_their_place_beside_the_image_of_arm64() {
    for (image, written) in [("0".repeat(20), 2), ("0".repeat(200), 0)] {
        let mut world = pool().of(1).new_world();
        world.names_arm64_image(&image);
        world.settle();
        world.fails("v2");
        wants(&mut world, "nodes", "v2", "02");
        assert_eq!(world.wants().len(), written, "an object and a copy that fetches it, or neither");
        world.settle();
        let Some((_, TemplateChoice::Version(version))) = world.cloud.group.as_ref().unwrap().template else {
            unreachable!()
        };
        let versions = &world.cloud.template.as_ref().unwrap().versions;
        assert_eq!((versions.len(), Some(version)), (1 + written / 2, versions.last().map(|it| it.version)));
    }
}

#[test]
fn a_list_from_before_a_write_does_not_show_it_missing() {
    let mut world = new_world();
    let (at, seen) = (world.now, std::collections::BTreeSet::new());
    world.cloud.list_fails = Some(LastRead::At { at, seen });
    world.settle();
    assert_eq!(condition(&world.plan_of(0)).0, Reason::VersionReady);
    assert_eq!(world.wants(), NOTHING);
}

#[test]
fn a_bucket_that_cannot_be_listed_holds_nothing_up() {
    let mut world = new_world();
    let failed = LastRead::Failed { reason: Reason::AccessDenied, message: "denied".to_owned() };
    world.cloud.list_fails = Some(failed);
    world.settle();
    world.desired.size = Size::Replicas { wanted: 2, ceiling: None };
    world.settle();
    assert_eq!(world.cloud.group.as_ref().unwrap().instances.len(), 2);
}

fn condition(plan: &Plan) -> (Reason, String) {
    let is_it = |it: &&foo_planner::report::Condition| it.kind == ConditionKind::LaunchTemplateReady;
    let it = plan.report.conditions.iter().find(is_it).unwrap();
    (it.reason, it.message.clone())
}
