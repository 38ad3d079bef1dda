//! The same questions through the Rust SDK, as the provider asks them: of the simulator and of moto.

use crate::TARGET;
use anyhow::{Context as _, Result};
use foo_cloud::{Compute, Groups};
use foo_cloud_adapter::{AssumedRole, AwsCloud, AwsSettings, Identity};
use foo_conformance::python;
use foo_model::{
    Decrement, Group, GroupChange, GroupName, GroupSettings, InstanceOptions, LaunchTemplateId,
    MetadataOptions, NewGroup, Process, SubnetId, TemplateContent, TemplateHashes, TemplateVersion, UserData,
};
use foo_simulator::core::catalogue::IMAGE_X86_64;
use foo_simulator::core::network::{PRIVATE_SUBNETS, SECURITY_GROUP};
use foo_simulator::{AccessKey, Handle, Role, Simulator, SimulatorConfig};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Child;

pub(crate) const REGION: &str = "eu-central-1";
const TAG: &str = "infrastructure.foo.com/pool";

/// Where moto's results differ, and why moto is wrong (User Guide and API Reference of Auto Scaling).
const DEVIATIONS: [(&str, &str); 7] = [
    ("create again", "API, CreateAutoScalingGroup: AlreadyExists; moto replaces the group"),
    ("end a foreign instance", "a page of HTML with status 500; API: ValidationError"),
    ("zones", "Guide, Availability Zones: instances are spread; moto puts all of them into the first subnet"),
    ("second version", "moto takes a client token for nothing: a repeated request makes another version"),
    ("activities", "Guide, Verify a scaling activity: moto keeps none"),
    ("delete a group with members", "API, DeleteAutoScalingGroup: ResourceInUse unless ForceDelete"),
    ("delete the group", "follows from the deletion that moto let pass before"),
];

/// An AWS, and what groups need in it.
pub(crate) struct World {
    pub(crate) cloud: AwsCloud,
    place: Place,
    clock: Option<Simulator>,
    /// The result of each step.
    pub(crate) results: BTreeMap<String, String>,
}

#[derive(Deserialize)]
pub(crate) struct Place {
    pub(crate) endpoint: String,
    image: String,
    subnets: Vec<String>,
    security_group: String,
}

/// moto in a process that ends with its standard input.
pub(crate) struct Moto {
    _process: Child,
    pub(crate) place: Option<Place>,
}

impl Moto {
    pub(crate) async fn start() -> Result<Self> {
        let mut command = python::script(TARGET.as_ref(), "serve_moto.py").await?;
        let command =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
        let mut process = command.spawn().context("cannot start moto")?;
        let out = process.stdout.take().context("no output")?;
        let line = BufReader::new(out).lines().next_line().await?.context("moto did not start")?;
        Ok(Self { _process: process, place: Some(serde_json::from_str(&line)?) })
    }
}

impl World {
    pub(crate) async fn new(place: Place, clock: Option<Simulator>) -> Result<Self> {
        let keys = Identity::Keys {
            access_key_id: "judge".to_owned(),
            secret_access_key: "judge".to_owned(),
            session_token: None,
        };
        let cloud = AwsCloud::connect(settings(&place.endpoint, keys, Vec::new())).await?;
        Ok(Self { cloud, place, clock, results: BTreeMap::new() })
    }

    /// The subnets that there are.
    pub(crate) fn subnets(&self) -> BTreeSet<SubnetId> {
        self.place.subnets.iter().map(|id| SubnetId::from(id.as_str())).collect()
    }

    /// Time passes where it does not by itself.
    pub(crate) fn wait(&self, seconds: u64) {
        if let Some(clock) = &self.clock {
            clock.step(Duration::from_secs(seconds));
        }
    }

    /// Records the result of a call: what the caller shows of it, or the kind of its failure.
    pub(crate) fn note(&mut self, step: &str, outcome: foo_cloud::Result<String>) {
        let result = outcome.unwrap_or_else(|error| format!("refused: {:?}", error.kind));
        self.results.insert(step.to_owned(), result);
    }

    async fn group(&self) -> foo_cloud::Result<Option<Group>> {
        Ok(self.cloud.describe_groups(&["pool".into()]).await?.groups.pop())
    }

    async fn read(&mut self, step: &str, pick: impl Fn(&Group) -> String) {
        let found = self.group().await.map(|group| group.as_ref().map_or_else(|| "none".to_owned(), pick));
        self.note(step, found);
    }

    fn content(&self) -> TemplateContent {
        TemplateContent {
            image: self.place.image.as_str().into(),
            arm64_image: None,
            instance_type: Some("m7i.large".into()),
            security_groups: vec![self.place.security_group.as_str().into()],
            instance_profile: None,
            key_name: None,
            volumes: Vec::new(),
            metadata: MetadataOptions::with_tokens(1),
            spot: None,
            options: InstanceOptions::default(),
            user_data: UserData(b"#!/bin/sh\n".to_vec()),
            tags: BTreeMap::new(),
            interface_tags: BTreeMap::new(),
        }
    }

    async fn read_everything(&mut self) -> Result<()> {
        let id = self.templates().await?;
        self.groups(&id).await;
        self.members().await;
        let deleted = self.cloud.delete_group(&pool()).await;
        self.note("delete a group with members", deleted.map(|()| "done".to_owned()));
        for member in self.group().await?.into_iter().flat_map(|group| group.instances) {
            self.cloud.terminate_instance(&member.id, Decrement::Shrink).await?;
        }
        self.wait(120);
        let deleted = self.cloud.delete_group(&pool()).await;
        self.note("delete the group", deleted.map(|()| "done".to_owned()));
        self.wait(120);
        self.read("gone", |_| "there".to_owned()).await;
        let deleted = self.cloud.delete_template(&id).await;
        self.note("delete the template", deleted.map(|()| "done".to_owned()));
        Ok(())
    }

    async fn templates(&mut self) -> Result<LaunchTemplateId> {
        let description = |number: u32| {
            TemplateHashes {
                spec: format!("v1-{number}").into(),
                data: "v1-data".into(),
                source: None,
                object: None,
                arm64_image: None,
            }
            .describe()
        };
        let (content, tags) = (self.content(), tags());
        let made = self.cloud.create_template("pool", &content, &description(1), &tags, "first").await;
        let (id, version) = made.context("no template")?.made;
        self.note("first version", Ok(version.to_string()));
        let again = self.cloud.create_template("pool", &content, &description(9), &tags, "other").await;
        self.note("create the template again", again.map(|made| made.made.1.to_string()));
        let second =
            async || self.cloud.create_template_version(&id, &content, &description(2), "second").await;
        let (one, two) = (second().await, second().await);
        self.note("second version", one.and_then(|one| two.map(|two| format!("{} {}", one.made, two.made))));
        let unknown = self.cloud.describe_template("missing").await;
        self.note("unknown template", unknown.map(|found| found.is_some().to_string()));
        let found = self.cloud.describe_template("pool").await;
        self.note("template", found.map(|found| found.is_some_and(|it| it.id == id).to_string()));
        Ok(id)
    }

    async fn groups(&mut self, id: &LaunchTemplateId) {
        let spec = NewGroup {
            name: "pool".into(),
            min: 0,
            max: 6,
            desired: Some(3),
            template: (id.clone(), TemplateVersion(1)),
            mix: None,
            settings: GroupSettings::in_subnets(self.subnets()),
            traffic_sources: [].into(),
            drain_hook: None,
            hooks: [].into(),
            tags: tags(),
        };
        let created = self.cloud.create_group(&spec).await;
        self.note("create", created.map(|()| "done".to_owned()));
        self.wait(120);
        self.read("sizes", |group| format!("{:?}", group.sizes)).await;
        self.read("tags", |group| format!("{:?}", group.tags)).await;
        self.read("states", |group| {
            format!(
                "{:?}",
                group
                    .instances
                    .iter()
                    .map(|it| (&it.lifecycle, it.health, it.protection))
                    .collect::<Vec<_>>()
            )
        })
        .await;
        self.read("zones", |group| {
            let zones: std::collections::BTreeSet<_> = group.instances.iter().map(|it| &it.zone).collect();
            zones.len().to_string()
        })
        .await;
        self.read("version of members", |group| {
            let versions: std::collections::BTreeSet<_> =
                group.instances.iter().map(|it| it.template.as_ref().map(|(_, version)| *version)).collect();
            format!("{versions:?}")
        })
        .await;
        let newer = NewGroup {
            name: "newer".into(),
            desired: Some(0),
            template: (id.clone(), TemplateVersion(2)),
            ..spec.clone()
        };
        let created = self.cloud.create_group(&newer).await;
        self.note("of the second version", created.map(|()| "done".to_owned()));
        let deleted = self.cloud.delete_group(&newer.name).await;
        self.note("delete an empty group", deleted.map(|()| "done".to_owned()));
        self.wait(30);
        let again = self.cloud.create_group(&spec).await;
        self.note("create again", again.map(|()| "done".to_owned()));
        let tagged = self.cloud.describe_groups_tagged(TAG).await;
        self.note("by tag", tagged.map(|groups| groups.len().to_string()));
        let missing = self.cloud.describe_groups(&["missing".into()]).await;
        self.note("missing", missing.map(|found| found.groups.len().to_string()));
        let suspended = self.cloud.suspend_processes(&pool(), &[Process::AZRebalance]).await;
        self.note("suspend", suspended.map(|()| "done".to_owned()));
        self.read("suspended", |group| format!("{:?}", group.suspended.keys().collect::<Vec<_>>())).await;
        let change = GroupChange { max: Some(8), ..GroupChange::default() };
        let changed = self.cloud.update_group(&pool(), &change).await;
        self.note("another maximum", changed.map(|()| "done".to_owned()));
        self.read("sizes after it", |group| format!("{:?}", group.sizes)).await;
        let missing = self.cloud.update_group(&"missing".into(), &change).await;
        self.note("update missing", missing.map(|()| "done".to_owned()));
    }

    async fn members(&mut self) {
        let foreign = self.cloud.terminate_instance(&"i-00000000000000009".into(), Decrement::Shrink).await;
        self.note("end a foreign instance", foreign.map(|()| "done".to_owned()));
        let first = self
            .group()
            .await
            .ok()
            .flatten()
            .and_then(|group| group.instances.first().map(|it| it.id.clone()));
        let Some(first) = first else { return self.note("a member", Ok("none".to_owned())) };
        let details = self.cloud.describe_instances(std::slice::from_ref(&first)).await;
        self.note(
            "details",
            details.map(|found| {
                format!("{:?}", found.values().map(|it| it.details().map(|it| it.state)).collect::<Vec<_>>())
            }),
        );
        let ended = self.cloud.terminate_instance(&first, Decrement::Shrink).await;
        self.note("end one", ended.map(|()| "done".to_owned()));
        self.wait(60);
        self.read("one less", |group| format!("{} {}", group.sizes.desired, group.instances.len())).await;
        let activities = self.cloud.describe_activities(&pool(), 10).await;
        self.note("activities", activities.map(|found| (!found.is_empty()).to_string()));
    }
}

fn settings(endpoint: &str, identity: Identity, roles: Vec<AssumedRole>) -> AwsSettings {
    AwsSettings { endpoint_url: Some(endpoint.to_owned()), identity, roles, ..AwsSettings::new(REGION) }
}

fn tags() -> BTreeMap<String, String> {
    BTreeMap::from([(TAG.to_owned(), "pool".to_owned())])
}

fn pool() -> GroupName {
    "pool".into()
}

/// The simulator's own.
pub(crate) fn here(endpoint: String) -> Place {
    Place {
        endpoint,
        image: IMAGE_X86_64.to_owned(),
        subnets: PRIVATE_SUBNETS.map(str::to_owned).to_vec(),
        security_group: SECURITY_GROUP.to_owned(),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn moto_differs_through_the_rust_sdk_only_where_it_deviates_from_aws() -> Result<()> {
    let aws = Handle::start(SimulatorConfig::stepped()).await?;
    let mut moto = Moto::start().await?;
    let mut simulated = World::new(here(aws.endpoint()), Some(aws.simulator().clone())).await?;
    let mut of_moto = World::new(moto.place.take().context("no place")?, None).await?;
    simulated.read_everything().await?;
    of_moto.read_everything().await?;
    differ_only_in(&DEVIATIONS, &simulated, &of_moto);
    Ok(())
}

/// moto's results equal the simulator's, except for these steps, where moto is known to be wrong.
pub(crate) fn differ_only_in(deviations: &[(&str, &str)], simulated: &World, of_moto: &World) {
    let known: BTreeMap<&str, &str> = deviations.iter().copied().collect();
    let mut complaints = Vec::new();
    for (step, result) in &simulated.results {
        let other = of_moto.results.get(step);
        match (other == Some(result), known.get(step.as_str())) {
            (true, None) | (false, Some(_)) => {}
            (true, Some(_)) => complaints.push(format!("{step}: no difference any more")),
            (false, None) => complaints.push(format!("{step}: foo-sim {result}, moto {other:?}")),
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    assert_eq!(simulated.results.len(), of_moto.results.len());
    println!(
        "{} results, {} of which moto gives otherwise for a known reason",
        simulated.results.len(),
        known.len()
    );
}

/// The SDK's own provider of credentials, against signatures that are verified: a chain of two roles, and its end.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_rust_sdk_assumes_roles() -> Result<()> {
    let aws = Handle::start(SimulatorConfig::stepped()).await?;
    let sim = aws.simulator();
    sim.put_key(AccessKey { id: "AKIDMANAGER".into(), secret: "secret".into(), policy: None });
    let role = |name: &str, trusts: &str| -> Result<Role> {
        Ok(serde_json::from_value(serde_json::json!({ "name": name, "trusts": [trusts] }))?)
    };
    sim.put_role(role("hub", "AKIDMANAGER")?);
    sim.put_role(role("spoke", "hub")?);
    let assumed = |name: &str| AssumedRole {
        arn: format!("arn:aws:iam::123456789012:role/{name}"),
        session_name: "foo".to_owned(),
        external_id: None,
    };
    let keys = |secret: &str| Identity::Keys {
        access_key_id: "AKIDMANAGER".to_owned(),
        secret_access_key: secret.to_owned(),
        session_token: None,
    };
    let chain = || vec![assumed("hub"), assumed("spoke")];
    let cloud = AwsCloud::connect(settings(&aws.endpoint(), keys("secret"), chain())).await?;
    assert_eq!(cloud.account().await?, "123456789012");
    assert!(cloud.describe_groups(&["pool".into()]).await?.groups.is_empty());
    let callers: Vec<String> = sim.recent_calls().into_iter().map(|call| call.caller).collect();
    assert!(callers.iter().any(|caller| caller.starts_with("ASIA")), "{callers:?}");
    let wrong = AwsCloud::connect(settings(&aws.endpoint(), keys("other"), chain())).await?;
    assert!(wrong.account().await.is_err());
    let not_trusted =
        AwsCloud::connect(settings(&aws.endpoint(), keys("secret"), vec![assumed("spoke")])).await?;
    assert!(not_trusted.account().await.is_err());
    Ok(())
}
