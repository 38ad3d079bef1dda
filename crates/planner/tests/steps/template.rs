use super::NOTHING;
use crate::world::{World, both_architectures, content, pool};
use foo_model::{
    Agreement, Difference, InstancesMix, MixOverride, Reason, SpecHash, TemplateRecord, TemplateVersion,
};
use foo_planner::desired::Wanted;
use foo_planner::report::ConditionKind;
use foo_planner::{LastRead, Plan};

fn condition(plan: &Plan) -> &str {
    let found = plan.report.conditions.iter().find(|it| it.kind == ConditionKind::LaunchTemplateReady);
    found.unwrap().reason.as_str()
}

#[test]
fn it_is_described_once_per_start_and_created_when_it_is_missing() {
    let mut world = pool().of(0).new_world();
    assert_eq!(world.wants(), ["describe template"]);
    world.observe_and_plan();
    assert_eq!(world.wants(), ["add finalizer", "block move", "create template spec=v1 data=d1"]);
    world.settle();
    assert_eq!(world.wants(), NOTHING, "what is known is not asked for again");
    world.restart(0);
    assert_eq!(world.wants(), ["describe template"], "its hook has nothing to delay");
}

#[test]
fn a_foreign_template_is_never_touched() {
    let mut world = pool().of(1).new_world();
    world.cloud.create_template(&std::collections::BTreeMap::new()).unwrap();
    for _ in 0..10 {
        world.step();
    }
    assert_eq!(condition(&world.plan_of(0)), "LaunchTemplateNotOwned");
    assert!(world.cloud.group.is_none());
    world.delete_pool();
    world.settle();
    assert!(world.cloud.template.is_some(), "it survives the pool");
}

#[test]
fn content_that_comes_back_uses_the_version_it_had() {
    let mut world = pool().of(1).running();
    world.desired.template = Wanted::Ready(content("v2", "d1"));
    world.settle();
    world.desired.template = Wanted::Ready(content("v1", "d1"));
    assert_eq!(world.wants(), ["update group version=1"]);
}

#[test]
fn the_image_of_arm64_types_changes_with_the_version_and_is_repaired() {
    let mut world = pool().of(1).new_world();
    world.names_arm64_image("ami-a1");
    world.settle();
    let mix = |world: &World| world.cloud.group.as_ref().unwrap().mix.clone();
    assert_eq!(mix(&world), Some(both_architectures("ami-a1")));
    world.desired.template = Wanted::Ready(content("v2", "d1"));
    world.names_arm64_image("ami-a2");
    assert_eq!(world.wants(), ["create template version spec=v2 data=d1"], "the group waits for the version");
    world.settle();
    assert_eq!(mix(&world), Some(both_architectures("ami-a2")));
    world.cloud.group.as_mut().unwrap().mix = Some(both_architectures("ami-of-another-user"));
    world.cloud.record(world.now);
    assert_eq!(world.wants(), ["update group version=2 arm64=ami-a2"]);
}

#[test]
fn images_that_another_user_sets_are_repaired_while_the_content_before_is_launched() {
    let plain = |name: &str| MixOverride::named(name.into(), None);
    let with = |name: &str, image: &str| MixOverride::named(name.into(), Some(image.into()));
    let both = both_architectures("ami-a1");
    let x86 = InstancesMix { overrides: vec![plain("m7i.large")], ..both.clone() };
    for (spec, set_by_others) in [
        (&x86, vec![with("m7i.large", "ami-x")]),
        (&both, vec![with("m7i.large", "ami-x"), with("m7g.large", "ami-a1")]),
        (&both, vec![plain("m7i.large"), plain("m7g.large")]),
    ] {
        let mut world = pool().of(1).new_world();
        if *spec == both {
            world.names_arm64_image("ami-a1");
        } else {
            world.desired.group.mix = Some(x86.clone());
        }
        world.settle();
        world.fails("v2");
        world.settle();
        world.cloud.group.as_mut().unwrap().mix =
            Some(InstancesMix { overrides: set_by_others.clone(), ..both.clone() });
        world.cloud.record(world.now);
        world.settle();
        assert_eq!(world.cloud.group.as_ref().unwrap().mix.as_ref(), Some(spec), "{set_by_others:?}");
    }
}

#[test]
fn types_of_another_user_without_an_image_are_replaced_by_those_of_the_spec() {
    let mut world = pool().of(1).running();
    world.names_arm64_image("ami-a1");
    world.fails("v2");
    let mut mix = both_architectures("ami-x");
    mix.overrides.remove(0);
    world.cloud.group.as_mut().unwrap().mix = Some(mix.clone());
    world.cloud.record(world.now);
    world.settle();
    mix.overrides = vec![MixOverride::named("m7i.large".into(), None)];
    assert_eq!(world.cloud.group.as_ref().unwrap().mix, Some(mix), "version 1 has no image of arm64");
}

#[test]
fn a_group_that_launches_from_latest_is_pinned_to_a_version() {
    let mut world = pool().of(1).running();
    let group = world.cloud.group.as_mut().unwrap();
    let id = group.template.clone().unwrap().0;
    group.template = Some((id, foo_model::TemplateChoice::Floating("$Latest".to_owned())));
    assert_eq!(world.wants(), ["update group version=1"]);
}

#[test]
fn a_failed_read_is_reported_and_repeated_last() {
    let mut world = pool().of(2).running();
    world.managers[0].template = LastRead::Failed {
        reason: Reason::AccessDenied,
        message: "ec2:DescribeLaunchTemplates is missing".to_owned(),
    };
    world.scale_to(3);
    assert_eq!(world.wants(), ["update group max=3 desired=3", "describe template"], "it holds nothing up");
    let plan = world.plan_of(0);
    assert_eq!(
        (condition(&plan), plan.report.conditions[0].reason.as_str()),
        ("AccessDenied", "AccessDenied")
    );
}

fn with_versions(world: &mut World, count: i64) {
    let template = world.cloud.template.as_mut().unwrap();
    for number in 2..=count {
        template.versions.push(TemplateRecord {
            version: TemplateVersion(number),
            spec_hash: Some(SpecHash::new(if number % 2 == 0 { "odd" } else { "even" })),
            data_hash: Some(SpecHash::new(format!("d{number}"))),
            source_hash: None,
            object: None,
            arm64_image: None,
            is_default: false,
            created: world.aws_clock.remote(world.now),
        });
    }
    world.desired.template = Wanted::Ready(content("now", "d1"));
    world.settle();
}

#[test]
fn versions_are_pruned_rarely_and_only_when_they_are_old() {
    let mut world = pool().of(1).running();
    with_versions(&mut world, 13);
    assert_eq!(world.cloud.template.as_ref().unwrap().versions.len(), 14, "all are young");
    world.wait(15 * 60);
    // 1 is the default and in use, 13 is the last good one, 14 is wanted.
    let versions: Vec<String> = (2..13).map(|version| version.to_string()).collect();
    assert_eq!(world.wants(), [format!("delete template versions {}", versions.join(" "))]);
    world.settle();
    let left: Vec<i64> =
        world.cloud.template.as_ref().unwrap().versions.iter().map(|record| record.version.0).collect();
    assert_eq!(left, [1, 13, 14]);
}

#[test]
fn versions_are_as_old_as_awss_clock_says() {
    for minutes in [-4, 4] {
        let mut world = pool().of(1).running();
        world.aws_clock.difference = Difference::ahead_by(minutes * 60_000);
        let made = world.now;
        with_versions(&mut world, 13);
        world.wait(15 * 60 - 10 - made.until(world.now).as_secs());
        assert_eq!(world.wants(), NOTHING, "{minutes} min");
        world.wait(10);
        assert_eq!(world.wants().len(), 1, "{minutes} min");
    }
}

#[test]
fn without_agreement_of_awss_clock_no_version_is_pruned() {
    for agreement in [Agreement::Unknown, Agreement::Differ] {
        let mut world = pool().of(1).running();
        with_versions(&mut world, 13);
        world.aws_clock.agreement = agreement;
        world.wait(3600);
        assert_eq!(world.wants(), NOTHING, "{agreement:?}");
        world.aws_clock.agreement = Agreement::Agree;
        assert_eq!(world.wants().len(), 1, "{agreement:?}");
    }
}

#[test]
fn ten_versions_too_many_are_not_worth_a_call() {
    let mut world = pool().of(1).running();
    with_versions(&mut world, 12);
    world.wait(15 * 60);
    assert_eq!(world.wants(), NOTHING);
}

#[test]
fn versions_of_others_and_versions_in_use_stay() {
    let mut world = pool().of(1).replaced_by_another_controller().running();
    with_versions(&mut world, 20);
    world.wait(15 * 60);
    let id = world.instances()[0].clone();
    let template = world.cloud.template.as_mut().unwrap();
    template.versions[4].spec_hash = None;
    world.managers[0].template = LastRead::At { at: world.now, seen: world.cloud.template.clone() };
    world.cloud.instance_mut(&id).unwrap().template.as_mut().unwrap().1 = TemplateVersion(7);
    let words = world.wants();
    let pruned: Vec<&str> = words[0].trim_start_matches("delete template versions ").split(' ').collect();
    assert!(!pruned.contains(&"5") && !pruned.contains(&"7") && pruned.contains(&"6"), "{pruned:?}");
}

#[test]
fn a_template_without_our_tags_is_read_again_at_growing_pauses() {
    let mut world = pool().of(1).running();
    let tags = std::mem::take(&mut world.cloud.template.as_mut().unwrap().tags);
    world.restart(0);
    let mut reads = Vec::new();
    let began = world.now;
    for _ in 0..1_200 {
        world.wait(1);
        world.read_group();
        if world
            .pass()
            .actions
            .contains(&foo_planner::Action::Read(foo_planner::action::ReadAction::DescribeLaunchTemplate))
        {
            reads.push(began.until(world.now).as_secs());
        }
    }
    assert!((5..=9).contains(&reads.len()), "{reads:?}");
    assert!(reads[1] - reads[0] <= 11 && reads[3] - reads[2] > reads[2] - reads[1], "{reads:?}");
    assert_eq!(world.plan_of(0).report.conditions[0].reason, Reason::LaunchTemplateNotOwned);
    world.cloud.template.as_mut().unwrap().tags = tags;
    world.wait(600);
    world.settle();
    assert_eq!(world.plan_of(0).report.conditions[0].reason, Reason::Ready);
}
