//! How long changes take to show (EC2 Developer Guide, "Eventual consistency in the Amazon EC2 API").
//!
//! The manager waits for its own changes to show before it decides on sizes: a delay that is longer than believed
//! makes it act on the past.

use crate::belief::Source::File;
use crate::belief::{Belief, Calls, Check, Step};
use crate::scene::{Scene, TAG};
use foo_cloud::{Operation as O, Result};
use foo_model::hook::HookConfig;
use foo_model::{GroupChange, HookName, TemplateVersion};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::Instant;

/// "A few seconds", and the call itself.
const FEW_SECONDS: Duration = Duration::from_secs(10);

type Round = Step<Option<Duration>>;

fn delay(id: &'static str, rule: &'static str, calls: Calls, round: Round) -> Belief {
    let source = File("crates/planner/src/memory.rs", "reads trail its writes by a few seconds");
    Belief::free(id, rule, source, calls, Check::Shows { within: FEW_SECONDS, round })
}

pub(super) fn beliefs() -> Vec<Belief> {
    let mut all = of_groups();
    all.extend(of_templates());
    all
}

fn of_groups() -> Vec<Belief> {
    vec![
        delay(
            "delays/new-group-by-name",
            "a new group shows by its name within a few seconds",
            &[(O::CreateAutoScalingGroup, 1), (O::DescribeAutoScalingGroups, 1)],
            |scene| Box::pin(group_by_name(scene)),
        ),
        delay(
            "delays/new-group-by-tag",
            "a new group shows by the key of its tag within a few seconds",
            &[(O::CreateAutoScalingGroup, 1), (O::DescribeAutoScalingGroups, 1)],
            |scene| Box::pin(group_by_tag(scene)),
        ),
        delay(
            "delays/new-size-of-a-group",
            "another maximum size shows within a few seconds",
            &[(O::UpdateAutoScalingGroup, 1), (O::DescribeAutoScalingGroups, 1)],
            |scene| Box::pin(group_size(scene)),
        ),
        delay(
            "delays/new-tag-of-a-group",
            "another tag of a group shows within a few seconds",
            &[(O::CreateOrUpdateTags, 1), (O::DescribeAutoScalingGroups, 1)],
            |scene| Box::pin(group_tag(scene)),
        ),
        delay(
            "delays/new-hook",
            "a new lifecycle hook shows within a few seconds",
            &[(O::PutLifecycleHook, 1), (O::DescribeLifecycleHooks, 1), (O::DeleteLifecycleHook, 1)],
            |scene| Box::pin(hook(scene)),
        ),
    ]
}

fn of_templates() -> Vec<Belief> {
    vec![
        delay(
            "delays/new-template-by-name",
            "a new launch template shows by its name within a few seconds",
            &[
                (O::CreateLaunchTemplate, 1),
                (O::DescribeLaunchTemplates, 1),
                (O::DescribeLaunchTemplateVersions, 1),
            ],
            |scene| Box::pin(template_by_name(scene)),
        ),
        delay(
            "delays/new-template-by-tag",
            "a new launch template shows by the key of its tag within a few seconds",
            &[(O::CreateLaunchTemplate, 1), (O::DescribeLaunchTemplates, 1)],
            |scene| Box::pin(template_by_tag(scene)),
        ),
        delay(
            "delays/new-version-in-reads",
            "a new version of a launch template shows within a few seconds",
            &[
                (O::CreateLaunchTemplateVersion, 1),
                (O::DescribeLaunchTemplates, 1),
                (O::DescribeLaunchTemplateVersions, 1),
            ],
            |scene| Box::pin(version_in_reads(scene)),
        ),
        delay(
            "delays/new-version-can-be-used",
            "Auto Scaling finds a new version of a template within a few seconds",
            &[(O::CreateLaunchTemplateVersion, 1), (O::UpdateAutoScalingGroup, 2)],
            |scene| Box::pin(usable_version(scene)),
        ),
    ]
}

async fn group_by_name(scene: &Scene) -> Result<Option<Duration>> {
    let name = scene.create_group().await?;
    scene
        .until(Instant::now(), || async {
            let found = scene.cloud.describe_group(&name).await?;
            Ok(found.is_some())
        })
        .await
}

async fn group_by_tag(scene: &Scene) -> Result<Option<Duration>> {
    let name = scene.create_group().await?;
    scene
        .until(Instant::now(), || async {
            let found = scene.cloud.describe_groups_tagged(TAG).await?;
            Ok(found.iter().any(|group| group.name == name))
        })
        .await
}

/// Between 1 and 2: no instance follows from it.
async fn group_size(scene: &Scene) -> Result<Option<Duration>> {
    let name = &scene.place()?.group;
    let before = scene.cloud.describe_group(name).await?.map_or(1, |group| group.sizes.max);
    let max = if before == 1 { 2 } else { 1 };
    let change = GroupChange { max: Some(max), ..GroupChange::default() };
    scene.cloud.update_group(name, &change).await?;
    scene
        .until(Instant::now(), || async {
            let found = scene.cloud.describe_group(name).await?;
            Ok(found.is_some_and(|group| group.sizes.max == max))
        })
        .await
}

async fn group_tag(scene: &Scene) -> Result<Option<Duration>> {
    let (name, value) = (&scene.place()?.group, scene.new_name());
    let tags = BTreeMap::from([("round".to_owned(), value.clone())]);
    scene.cloud.tag_group(name, &tags).await?;
    scene
        .until(Instant::now(), || async {
            let found = scene.cloud.describe_group(name).await?;
            Ok(found.is_some_and(|group| group.tags.get("round") == Some(&value)))
        })
        .await
}

async fn hook(scene: &Scene) -> Result<Option<Duration>> {
    let (group, name) = (&scene.place()?.group, HookName::new(scene.new_name()));
    scene.cloud.put_hook(group, &name, &HookConfig::DRAIN.into(), None).await?;
    let shown = scene.until(Instant::now(), || async {
        let hooks = scene.cloud.describe_hooks(group).await?;
        Ok(hooks.has(&name))
    });
    let shown = shown.await?;
    scene.cloud.delete_hook(group, &name).await?;
    Ok(shown)
}

async fn template_by_name(scene: &Scene) -> Result<Option<Duration>> {
    let name = scene.new_name();
    scene.create_template(&name, &scene.place()?.image).await?;
    scene
        .until(Instant::now(), || async {
            let found = scene.cloud.describe_template(&name).await?;
            Ok(found.is_some())
        })
        .await
}

async fn template_by_tag(scene: &Scene) -> Result<Option<Duration>> {
    let (id, _) = scene.create_template(&scene.new_name(), &scene.place()?.image).await?;
    scene
        .until(Instant::now(), || async {
            let found = scene.cloud.describe_templates_tagged(TAG).await?;
            Ok(found.iter().any(|template| template.id == id))
        })
        .await
}

async fn new_version(scene: &Scene) -> Result<TemplateVersion> {
    let place = scene.place()?;
    let content = Scene::content(&place.image);
    let token = scene.new_name();
    Ok(scene.cloud.create_template_version(&place.template, &content, "probe", &token).await?.made)
}

async fn version_in_reads(scene: &Scene) -> Result<Option<Duration>> {
    let (version, name) = (new_version(scene).await?, scene.name("main"));
    scene
        .until(Instant::now(), || async {
            let found = scene.cloud.describe_template(&name).await?;
            Ok(found.is_some_and(|it| it.versions.iter().any(|record| record.version == version)))
        })
        .await
}

async fn usable_version(scene: &Scene) -> Result<Option<Duration>> {
    let version = new_version(scene).await?;
    let place = scene.place()?;
    let to = |version| GroupChange {
        template: Some((place.template.clone(), version, None)),
        ..GroupChange::default()
    };
    let used = scene.until(Instant::now(), || async {
        match scene.cloud.update_group(&place.group, &to(version)).await {
            Err(error) if error.is_about_no_usable_template() => Ok(false),
            result => result.map(|()| true),
        }
    });
    let used = used.await?;
    scene.cloud.update_group(&place.group, &to(TemplateVersion(1))).await?;
    Ok(used)
}
