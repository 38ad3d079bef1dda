//! Auto Scaling groups without instances: what AWS refuses, tags, and suspended processes.

use crate::belief::Check::{Holds, Refused};
use crate::belief::Source::{File, Simulator};
use crate::belief::{Belief, Seen};
use crate::scene::{NO_ID, Scene};
use foo_cloud::{Operation as O, Result};
use foo_model::{
    Decrement, GroupChange, GroupName, GroupSettings, ImageId, InstanceId, LaunchTemplateId, NewGroup,
    Process, SubnetId, TemplateVersion,
};
use std::collections::BTreeMap;
use tokio::time::Instant;

/// Most tags of a group (Auto Scaling User Guide, "Tag Auto Scaling groups and instances").
const TAGS: usize = 50;

pub(super) fn beliefs() -> Vec<Belief> {
    let mut all = of_names_and_sizes();
    all.extend(of_templates());
    all.extend(of_changes());
    all.extend(of_tags());
    all.extend(of_processes());
    all.extend(of_members());
    all
}

/// A creation that AWS refuses, although the name is free.
async fn create(scene: &Scene, edit: impl FnOnce(&mut NewGroup)) -> Result<()> {
    let mut spec = scene.group(&scene.new_name())?;
    edit(&mut spec);
    scene.cloud.create_group(&spec).await
}

fn of_names_and_sizes() -> Vec<Belief> {
    const CALLS: &[(O, u32)] = &[(O::CreateAutoScalingGroup, 1)];
    vec![
        Belief::free(
            "groups/name-is-unique",
            "CreateAutoScalingGroup refuses a name that is in use: AlreadyExists",
            Simulator("sizes::a_name_can_be_used_once"),
            CALLS,
            Refused {
                code: "AlreadyExists",
                call: |scene| {
                    Box::pin(async move {
                        let main = scene.place()?.group.clone();
                        create(scene, |spec| spec.name = main).await
                    })
                },
            },
        ),
        Belief::free(
            "groups/no-colon-in-the-name",
            "CreateAutoScalingGroup refuses a name with a colon: ValidationError",
            Simulator("judge::refused_groups"),
            CALLS,
            Refused {
                code: "ValidationError",
                call: |scene| Box::pin(create(scene, |spec| spec.name = format!("{}:", spec.name).into())),
            },
        ),
        Belief::free(
            "groups/desired-within-the-sizes",
            "CreateAutoScalingGroup refuses a desired capacity below the minimum: ValidationError",
            Simulator("sizes::desired_capacity_stays_within_the_bounds"),
            CALLS,
            Refused {
                code: "ValidationError",
                // Should AWS accept it, the clean-up terminates what it launches.
                call: |scene| Box::pin(create(scene, |spec| (spec.min, spec.desired) = (1, Some(0)))),
            },
        ),
        Belief::free(
            "groups/minimum-below-maximum",
            "CreateAutoScalingGroup refuses a minimum above the maximum: ValidationError",
            Simulator("judge::refused_groups"),
            CALLS,
            Refused {
                code: "ValidationError",
                call: |scene| Box::pin(create(scene, |spec| (spec.min, spec.max) = (1, 0))),
            },
        ),
        Belief::free(
            "groups/unknown-subnet",
            "CreateAutoScalingGroup refuses a subnet that does not exist: ValidationError",
            File("crates/simulator-core/src/core/rules/group/operations.rs", "The subnet ID '"),
            CALLS,
            Refused {
                code: "ValidationError",
                call: |scene| {
                    Box::pin(create(scene, |spec| {
                        let unknown = SubnetId::new(format!("subnet-{NO_ID}"));
                        spec.settings = GroupSettings::in_subnets([unknown].into());
                    }))
                },
            },
        ),
    ]
}

fn of_templates() -> Vec<Belief> {
    vec![
        Belief::free(
            "groups/unknown-template",
            "CreateAutoScalingGroup refuses an unknown template with its own code: ValidationError",
            Simulator("judge::refused_groups"),
            &[(O::CreateAutoScalingGroup, 1)],
            Refused {
                code: "ValidationError",
                call: |scene| {
                    Box::pin(create(scene, |spec| {
                        spec.template.0 = LaunchTemplateId::new(format!("lt-{NO_ID}"));
                    }))
                },
            },
        ),
        Belief::free(
            "groups/unknown-version-names-the-template",
            "CreateAutoScalingGroup refuses a version that does not exist, with \"launch template\" in the message",
            File("crates/cloud/src/error.rs", "\"launch template\""),
            &[(O::CreateAutoScalingGroup, 1)],
            Holds(|scene| Box::pin(unknown_version(scene))),
        ),
        Belief::free(
            "groups/template-with-unknown-image",
            "a group cannot refer to a template whose image does not exist: ValidationError",
            Simulator(
                "everyday::a_template_with_impossible_volumes_is_created_with_a_warning_and_cannot_be_used",
            ),
            &[(O::CreateLaunchTemplate, 1), (O::CreateAutoScalingGroup, 1)],
            Refused {
                code: "ValidationError",
                call: |scene| {
                    Box::pin(async move {
                        let image = ImageId::new(format!("ami-{NO_ID}"));
                        let (template, _) = scene.create_template(&scene.new_name(), &image).await?;
                        create(scene, |spec| spec.template.0 = template).await
                    })
                },
            },
        ),
    ]
}

fn of_changes() -> Vec<Belief> {
    vec![
        Belief::free(
            "groups/update-of-unknown",
            "UpdateAutoScalingGroup refuses a group that does not exist: ValidationError",
            Simulator("judge::refused_groups"),
            &[(O::UpdateAutoScalingGroup, 1)],
            Refused {
                code: "ValidationError",
                call: |scene| {
                    Box::pin(async move {
                        let missing: GroupName = scene.name("missing").into();
                        let change = GroupChange { max: Some(2), ..GroupChange::default() };
                        scene.cloud.update_group(&missing, &change).await
                    })
                },
            },
        ),
        Belief::free(
            "groups/bounds-push-desired-capacity",
            "a minimum and maximum of 0 leave a desired capacity of 0",
            Simulator("sizes::bounds_push_desired_capacity"),
            &[
                (O::CreateAutoScalingGroup, 1),
                (O::UpdateAutoScalingGroup, 1),
                (O::DescribeAutoScalingGroups, 1),
            ],
            Holds(|scene| Box::pin(smaller_maximum(scene))),
        ),
        Belief::free(
            "groups/deletion-of-unknown",
            "DeleteAutoScalingGroup refuses a group that does not exist: ValidationError",
            File("crates/simulator-core/src/core/rules/group/operations.rs", "AwsError::no_group(name)"),
            &[(O::DeleteAutoScalingGroup, 1)],
            Refused {
                code: "ValidationError",
                call: |scene| {
                    Box::pin(async move { scene.cloud.delete_group(&scene.name("missing").into()).await })
                },
            },
        ),
        Belief::free(
            "groups/name-is-free-after-the-deletion",
            "the name of a deleted group can be used as soon as DescribeAutoScalingGroups does not show the group",
            Simulator("sizes::a_name_can_be_used_once"),
            &[
                (O::CreateAutoScalingGroup, 2),
                (O::DeleteAutoScalingGroup, 1),
                (O::DescribeAutoScalingGroups, 1),
            ],
            Holds(|scene| Box::pin(name_is_free_again(scene))),
        ),
        Belief::free(
            "warm-pools/deletion-of-none",
            "DeleteWarmPool refuses a group without a warm pool: ValidationError",
            File("crates/cloud/src/lib.rs", "`Invalid` if there is none."),
            &[(O::DeleteWarmPool, 1)],
            Refused {
                code: "ValidationError",
                call: |scene| {
                    Box::pin(async move { scene.cloud.delete_warm_pool(&scene.place()?.group).await })
                },
            },
        ),
    ]
}

fn of_tags() -> Vec<Belief> {
    vec![
        Belief::free(
            "tags/at-most-fifty",
            "a group with more than 50 tags is refused: ValidationError",
            File("crates/simulator-core/src/core/rules/group/tags.rs", "TAG_LIMIT: usize = 50"),
            &[(O::CreateAutoScalingGroup, 1)],
            Refused {
                code: "ValidationError",
                call: |scene| {
                    Box::pin(create(scene, |spec| {
                        let more = (0..TAGS).map(|number| (format!("tag-{number}"), String::new()));
                        spec.tags.extend(more);
                    }))
                },
            },
        ),
        Belief::free(
            "tags/aws-prefix-is-reserved",
            "a tag key that begins with aws: is refused: ValidationError",
            File("crates/simulator-core/src/core/rules/group/tags.rs", "\"aws:\\\" prefix"),
            &[(O::CreateOrUpdateTags, 1)],
            Refused { code: "ValidationError", call: |scene| Box::pin(tag(scene, "aws:probe", "x")) },
        ),
        Belief::free(
            "tags/of-unknown-group",
            "CreateOrUpdateTags refuses a group that does not exist: ValidationError",
            File("crates/simulator-core/src/core/rules/group/tags.rs", "living_group(name)?"),
            &[(O::CreateOrUpdateTags, 1)],
            Refused {
                code: "ValidationError",
                call: |scene| {
                    Box::pin(async move {
                        scene.cloud.tag_group(&scene.name("missing").into(), &scene.tags()).await
                    })
                },
            },
        ),
    ]
}

fn of_processes() -> Vec<Belief> {
    vec![
        Belief::free(
            "processes/suspended-ones-show",
            "DescribeAutoScalingGroups shows suspended processes, with a reason that begins with User suspended",
            Simulator("judge::processes"),
            &[(O::SuspendProcesses, 1), (O::DescribeAutoScalingGroups, 1), (O::ResumeProcesses, 1)],
            Holds(|scene| Box::pin(suspended(scene))),
        ),
        Belief::free(
            "processes/resuming-what-runs",
            "ResumeProcesses accepts a process that is not suspended",
            Simulator("judge::processes"),
            &[(O::ResumeProcesses, 1)],
            Holds(|scene| {
                Box::pin(async move {
                    let group = &scene.place()?.group;
                    scene.cloud.resume_processes(group, &[Process::ScheduledActions]).await?;
                    Ok(Seen::AsBelieved("accepted".to_owned()))
                })
            }),
        ),
    ]
}

fn of_members() -> Vec<Belief> {
    vec![
        Belief::free(
            "instances/termination-of-unknown",
            "TerminateInstanceInAutoScalingGroup refuses an id that is in no group: ValidationError",
            Simulator("termination::repeated_and_unknown_terminations"),
            &[(O::TerminateInstanceInAutoScalingGroup, 1)],
            Refused {
                code: "ValidationError",
                call: |scene| {
                    Box::pin(async move {
                        scene.cloud.terminate_instance(&no_instance(), Decrement::Shrink).await
                    })
                },
            },
        ),
        Belief::free(
            "instances/protection-of-unknown",
            "SetInstanceProtection refuses an id that is not in the group: ValidationError",
            Simulator("judge::single_members"),
            &[(O::SetInstanceProtection, 1)],
            Refused {
                code: "ValidationError",
                call: |scene| {
                    Box::pin(async move {
                        scene.cloud.protect_instances(&scene.place()?.group, &[no_instance()]).await
                    })
                },
            },
        ),
    ]
}

fn no_instance() -> InstanceId {
    InstanceId::new(format!("i-{NO_ID}"))
}

async fn tag(scene: &Scene, key: &str, value: &str) -> Result<()> {
    let tags = BTreeMap::from([(key.to_owned(), value.to_owned())]);
    scene.cloud.tag_group(&scene.place()?.group, &tags).await
}

async fn unknown_version(scene: &Scene) -> Result<Seen> {
    Ok(match create(scene, |spec| spec.template.1 = TemplateVersion(99)).await {
        Ok(()) => Seen::Otherwise("accepted".to_owned()),
        Err(error) if error.is_about_no_usable_template() => Seen::AsBelieved(error.message),
        Err(error) => Seen::unexpected(&error),
    })
}

async fn smaller_maximum(scene: &Scene) -> Result<Seen> {
    let name = scene.create_group().await?;
    let change = GroupChange { max: Some(0), ..GroupChange::default() };
    scene.cloud.update_group(&name, &change).await?;
    let sizes = scene.group_that(&name, |group| group.sizes.max == 0).await?.map(|group| group.sizes);
    let fits = sizes.is_some_and(|sizes| sizes.min == 0 && sizes.desired == 0);
    Ok(Seen::that(fits, format!("{sizes:?}")))
}

async fn name_is_free_again(scene: &Scene) -> Result<Seen> {
    let name = scene.create_group().await?;
    scene.cloud.delete_group(&name).await?;
    let deleted = scene.until(Instant::now(), || async {
        let found = scene.cloud.describe_group(&name).await?;
        Ok(found.is_none())
    });
    if deleted.await?.is_none() {
        return Ok(Seen::Otherwise("the group is still shown".to_owned()));
    }
    let again = scene.group(name.as_str())?;
    scene.cloud.create_group(&again).await?;
    Ok(Seen::AsBelieved("the name was used again".to_owned()))
}

async fn suspended(scene: &Scene) -> Result<Seen> {
    let name = &scene.place()?.group;
    scene.cloud.suspend_processes(name, &[Process::AZRebalance]).await?;
    let found = scene.group_that(name, |group| group.suspended.contains_key(&Process::AZRebalance)).await?;
    scene.cloud.resume_processes(name, &[Process::AZRebalance]).await?;
    let reason = found.and_then(|group| group.suspended.get(&Process::AZRebalance).cloned());
    let fits = reason.as_ref().is_some_and(|reason| reason.starts_with("User suspended"));
    Ok(Seen::that(fits, reason.unwrap_or_else(|| "not suspended".to_owned())))
}
