//! A small world for tests: one region with a stepped clock, a template, groups.

use crate::core::catalogue::IMAGE_X86_64;
use crate::core::document::Document;
use crate::core::ec2::launch_data::LaunchData;
use crate::core::ec2::templates::{NewTemplate, NewVersion, TemplateKey};
use crate::core::error::AwsResult;
use crate::core::group::activity::Activity;
use crate::core::group::model::{Group, GroupTag};
use crate::core::network::{PRIVATE_SUBNETS, SECURITY_GROUP};
use crate::core::rules::group::operations::{NewGroup, SettingsChange};
use crate::core::rules::group::source::{SourceSpec, TemplateSpec};
use crate::core::{Region, Settings};
use crate::{RegionHandle, Simulator, SimulatorConfig};
use foo_model::{
    ActivityStatus, GroupName, InstanceId, LaunchTemplateId, LifecycleState, Protection, SubnetId,
    TemplateVersion,
};
use std::collections::BTreeMap;
use std::time::Duration;

pub(super) const REGION: &str = "eu-central-1";

pub(super) struct Scene {
    pub(super) sim: Simulator,
    pub(super) region: RegionHandle,
}

/// A region in which launches take exactly 20 s, terminations 15 s, and groups react at once.
pub(super) fn scene() -> Scene {
    scene_with(|_| {})
}

pub(super) fn scene_with(change: impl FnOnce(&mut Settings)) -> Scene {
    let mut config = SimulatorConfig::stepped();
    config.settings.spread_percent = 0;
    config.settings.reaction = Duration::ZERO;
    change(&mut config.settings);
    let sim = Simulator::new(config);
    let region = sim.region(REGION);
    Scene { sim, region }
}

pub(super) fn name(text: &str) -> GroupName {
    GroupName::from(text)
}

/// Launch data that works.
pub(super) fn data(instance_type: &str) -> LaunchData {
    let groups = Document::List(vec![Document::text(SECURITY_GROUP)]);
    LaunchData::new(
        Document::map()
            .with("imageId", Some(Document::text(IMAGE_X86_64)))
            .with("instanceType", Some(Document::text(instance_type)))
            .with("securityGroupIdSet", Some(groups)),
    )
    .expect("good data")
}

pub(super) fn source(template: &LaunchTemplateId, version: Option<&str>) -> SourceSpec {
    SourceSpec::Template(TemplateSpec {
        key: TemplateKey::Id(template.clone()),
        version: version.map(str::to_owned),
    })
}

impl Scene {
    pub(super) fn with<T>(&self, work: impl FnOnce(&mut Region) -> T) -> T {
        self.region.with(work).expect("the region exists")
    }

    pub(super) fn wait(&self, seconds: u64) -> &Self {
        self.sim.step(Duration::from_secs(seconds));
        self.with(|_| {});
        self
    }

    pub(super) fn template(&self, name: &str, instance_type: &str) -> LaunchTemplateId {
        self.template_of(name, data(instance_type))
    }

    pub(super) fn template_of(&self, name: &str, data: LaunchData) -> LaunchTemplateId {
        self.with(|region| {
            let new = NewTemplate {
                name: name.to_owned(),
                data,
                description: None,
                tags: BTreeMap::new(),
                token: None,
                caller: "arn:test".to_owned(),
            };
            region.create_template(new).expect("a template").id.clone()
        })
    }

    pub(super) fn version(&self, template: &LaunchTemplateId, instance_type: &str) -> TemplateVersion {
        self.with(|region| {
            let new = NewVersion {
                template: TemplateKey::Id(template.clone()),
                data: data(instance_type),
                source: None,
                description: None,
                token: None,
                caller: "arn:test".to_owned(),
            };
            region.create_template_version(new).expect("a version").1.number
        })
    }

    /// The settings of a group `pool`: sizes as (min, desired, max), all private subnets.
    pub(super) fn pool(&self, (min, desired, max): (u32, u32, u32)) -> NewGroup {
        let template = self.template("pool-template", "m7i.large");
        NewGroup {
            name: name("pool"),
            min,
            max,
            desired: Some(desired),
            source: Some(source(&template, Some("1"))),
            subnets: PRIVATE_SUBNETS.map(SubnetId::from).to_vec(),
            new_instances: Protection::Unprotected,
            tags: BTreeMap::<String, GroupTag>::new(),
            traffic_sources: [].into(),
            settings: SettingsChange::default(),
            hooks: Vec::new(),
        }
    }

    pub(super) fn create(&self, new: NewGroup) -> AwsResult<()> {
        self.with(|region| region.create_group(new))
    }

    /// A group `pool` whose instances are all in service.
    pub(super) fn settled_pool(&self, sizes: (u32, u32, u32)) -> &Self {
        self.create(self.pool(sizes)).expect("a group");
        self.wait(21)
    }

    pub(super) fn group(&self) -> Group {
        self.region.group("pool").expect("the group exists")
    }

    pub(super) fn count(&self, state: &LifecycleState) -> usize {
        self.group().members.values().filter(|member| &member.lifecycle == state).count()
    }

    pub(super) fn in_service(&self) -> Vec<InstanceId> {
        let group = self.group();
        let members = group.members.into_values();
        members
            .filter(|member| member.lifecycle == LifecycleState::InService)
            .map(|member| member.id)
            .collect()
    }

    /// The types of all members.
    pub(super) fn types(&self) -> Vec<String> {
        let mut types: Vec<String> =
            self.group().members.values().map(|member| member.instance_type.to_string()).collect();
        types.sort();
        types
    }

    pub(super) fn set_desired(&self, desired: u32) -> AwsResult<()> {
        self.with(|region| {
            region.set_desired_capacity(
                &name("pool"),
                desired,
                crate::core::rules::group::operations::Cooldown::Ignored,
            )
        })
    }

    pub(super) fn activities(&self) -> Vec<Activity> {
        self.region.activities("pool")
    }

    pub(super) fn count_activities(&self, status: ActivityStatus, text: &str) -> usize {
        self.activities().iter().filter(|it| it.status == status && it.description.contains(text)).count()
    }
}

/// The code and message of a refusal.
pub(super) fn refusal<T: std::fmt::Debug>(result: AwsResult<T>) -> (String, String) {
    let error = result.expect_err("refused");
    (error.code, error.message)
}
