//! What the checks share: the cloud, names that no other run has, and, from the second stage on, a VPC with a subnet, a launch
//! template and an Auto Scaling group that never has an instance. All of these are free of charge.

use crate::journal::Journal;
use foo_cloud::{Cloud, CloudError, ErrorKind, Operation as O, Result};
use foo_model::hook::LifecycleHook;
use foo_model::network::{Change, Kind, Parts, Scope, Tags};
use foo_model::{
    Group, GroupName, GroupSettings, HookName, ImageId, InstanceOptions, LaunchTemplateId, MetadataOptions,
    NewGroup, SubnetId, TemplateContent, TemplateVersion, Timestamp, UserData, VpcId, Zone,
};
use ipnet::Ipv4Net;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::net::Ipv4Addr;
use std::str::FromStr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::time::Instant;

/// Key of the tag that everything has that a run creates. Its value is the run.
pub const TAG: &str = "infrastructure.foo.com/probe";

/// The parameter that names Amazon Linux 2023 (Amazon Linux User Guide, "Launching the latest AL2023 AMI").
pub(crate) const IMAGE_PARAMETER: &str =
    "/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-x86_64";

/// An id of each kind that does not exist: they are random, and this one is not.
pub(crate) const NO_ID: &str = "00000000000000009";

/// The range of the VPC.
pub(crate) const VPC_RANGE: (Ipv4Addr, u8) = (Ipv4Addr::new(10, 77, 0, 0), 24);
/// The range of its subnet.
pub(crate) const SUBNET_RANGE: (Ipv4Addr, u8) = (Ipv4Addr::new(10, 77, 0, 0), 28);

/// A run of the probe: lower-case letters and digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunId(String);

impl RunId {
    /// The run that begins at that moment.
    pub fn at(now: Timestamp) -> Self {
        Self(format!("{:x}", now.0))
    }
}

impl FromStr for RunId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fits = !text.is_empty() && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
        fits.then(|| Self(text.to_owned())).ok_or_else(|| format!("{text:?} is no run"))
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How fast the probe reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Between two reads that wait for a change to show.
    pub poll: Duration,
    /// How long a change may take to show; after that it counts as not shown.
    pub patience: Duration,
    /// Between two rounds of the clean-up.
    pub round: Duration,
}

impl Default for Pace {
    /// For AWS, whose limit is 100 tokens and about ten calls per second for Auto Scaling.
    fn default() -> Self {
        Self {
            poll: Duration::from_millis(200),
            patience: Duration::from_mins(1),
            round: Duration::from_secs(5),
        }
    }
}

/// What a run works with.
pub struct Scene {
    /// The account and region.
    pub(crate) cloud: Arc<dyn Cloud>,
    pub(crate) run: RunId,
    pub(crate) pace: Pace,
    pub(crate) journal: Journal,
    place: OnceLock<Place>,
    names: AtomicU32,
}

/// What the second stage begins with.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) image: ImageId,
    pub(crate) zone: Zone,
    pub(crate) vpc: VpcId,
    pub(crate) subnet: SubnetId,
    pub(crate) template: LaunchTemplateId,
    pub(crate) group: GroupName,
}

impl Scene {
    /// A run in the account and region of `cloud`, which `journal` records.
    pub fn new(cloud: Arc<dyn Cloud>, run: RunId, pace: Pace, journal: Journal) -> Self {
        Self { cloud, run, pace, journal, place: OnceLock::new(), names: AtomicU32::new(0) }
    }

    /// What was prepared.
    pub(crate) fn place(&self) -> Result<&Place> {
        self.place
            .get()
            .ok_or_else(|| nothing(O::CreateAutoScalingGroup, "the second stage was not prepared"))
    }

    /// A name of this run.
    pub(crate) fn name(&self, what: &str) -> String {
        format!("foo-probe-{}-{what}", self.run)
    }

    /// A name that this run has not used.
    pub(crate) fn new_name(&self) -> String {
        self.name(&self.names.fetch_add(1, Ordering::Relaxed).to_string())
    }

    /// The tag of everything that this run creates.
    pub(crate) fn tags(&self) -> Tags {
        BTreeMap::from([(TAG.to_owned(), self.run.to_string())])
    }

    /// What templates contain.
    pub(crate) fn content(image: &ImageId) -> TemplateContent {
        TemplateContent {
            image: image.clone(),
            arm64_image: None,
            instance_type: Some("m7i.large".into()),
            security_groups: Vec::new(),
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

    /// Creates a template with this image, and returns EC2's warning.
    pub(crate) async fn create_template(
        &self,
        name: &str,
        image: &ImageId,
    ) -> Result<(LaunchTemplateId, Option<String>)> {
        let content = Self::content(image);
        let made = self.cloud.create_template(name, &content, "probe", &self.tags(), name).await?;
        Ok((made.made.0, made.warning))
    }

    /// A group without instances in the prepared subnet, launched from the prepared template.
    pub(crate) fn group(&self, name: &str) -> Result<NewGroup> {
        let Place { subnet, template, .. } = self.place()?;
        Ok(self.group_of(name, template, subnet))
    }

    fn group_of(&self, name: &str, template: &LaunchTemplateId, subnet: &SubnetId) -> NewGroup {
        NewGroup {
            name: name.into(),
            min: 0,
            max: 1,
            desired: Some(0),
            template: (template.clone(), TemplateVersion(1)),
            mix: None,
            settings: GroupSettings::in_subnets([subnet.clone()].into()),
            traffic_sources: [].into(),
            drain_hook: None,
            hooks: BTreeMap::<HookName, LifecycleHook>::new(),
            tags: self.tags(),
        }
    }

    /// Creates another group without instances.
    pub(crate) async fn create_group(&self) -> Result<GroupName> {
        let spec = self.group(&self.new_name())?;
        self.cloud.create_group(&spec).await?;
        Ok(spec.name)
    }

    /// Reads until `shows` finds what it waits for. Returns how long that took since `since`; `None` if it is not found within the
    /// patience.
    pub(crate) async fn until<F>(&self, since: Instant, shows: impl Fn() -> F) -> Result<Option<Duration>>
    where
        F: Future<Output = Result<bool>>,
    {
        self.journal.waits(true);
        let found = self.read_until(since, shows).await;
        self.journal.waits(false);
        found
    }

    async fn read_until<F>(&self, since: Instant, shows: impl Fn() -> F) -> Result<Option<Duration>>
    where
        F: Future<Output = Result<bool>>,
    {
        while !shows().await? {
            if since.elapsed() > self.pace.patience {
                return Ok(None);
            }
            tokio::time::sleep(self.pace.poll).await;
        }
        Ok(Some(since.elapsed()))
    }

    /// The group as soon as `shows` finds in it what it waits for; `None` if it does not within the patience.
    pub(crate) async fn group_that(
        &self,
        name: &GroupName,
        shows: impl Fn(&Group) -> bool,
    ) -> Result<Option<Group>> {
        let shown = RefCell::new(None);
        self.until(Instant::now(), || async {
            let found = self.cloud.describe_group(name).await?.filter(&shows);
            let fits = found.is_some();
            shown.replace(found);
            Ok(fits)
        })
        .await?;
        Ok(shown.into_inner())
    }

    /// Creates what the second stage needs.
    pub(crate) async fn prepare(&self) -> Result<()> {
        self.journal.begin("prepare");
        let image = self.cloud.parameter(IMAGE_PARAMETER).await?;
        let image = image.ok_or_else(|| nothing(O::GetParameter, "there is no image of Amazon Linux"))?;
        let image: ImageId = image.into();
        let zones = self.cloud.describe_network(Kind::Zone, &Scope::Ids([].into())).await?.zones;
        let zone = zones.into_values().find(|zone| zone.available && zone.is_availability_zone);
        let zone = zone.ok_or_else(|| nothing(O::DescribeAvailabilityZones, "no zone is available"))?.name;
        let vpc = self.create_vpc().await?;
        let subnet = self.create_subnet(&vpc, &zone).await?;
        let (template, _) = self.create_template(&self.name("main"), &image).await?;
        let spec = self.group_of(&self.name("main"), &template, &subnet);
        self.cloud.create_group(&spec).await?;
        let place = Place { image, zone, vpc, subnet, template, group: spec.name };
        self.until(Instant::now(), || async {
            Ok(self.cloud.describe_group(&place.group).await?.is_some()
                && self.cloud.describe_template(&self.name("main")).await?.is_some())
        })
        .await?
        .ok_or_else(|| nothing(O::DescribeAutoScalingGroups, "the group or the template does not show"))?;
        self.place.get_or_init(|| place);
        Ok(())
    }

    async fn create_vpc(&self) -> Result<VpcId> {
        let change = Change::CreateVpc { cidr: range(VPC_RANGE)?, ipv6: false, tags: self.tags() };
        let vpc = first(O::CreateVpc, self.cloud.change_network(&change).await?.vpcs)?;
        let only = only(vpc.as_str());
        let shown = self.until(Instant::now(), || async {
            let found = self.cloud.describe_network(Kind::Vpc, &only).await?;
            Ok(found.vpcs.values().any(|vpc| vpc.available))
        });
        shown.await?.ok_or_else(|| nothing(O::DescribeVpcs, "the VPC does not become available"))?;
        Ok(vpc)
    }

    async fn create_subnet(&self, vpc: &VpcId, zone: &Zone) -> Result<SubnetId> {
        let (vpc, zone, tags) = (vpc.clone(), zone.clone(), self.tags());
        let change = Change::CreateSubnet { vpc, zone, cidr: range(SUBNET_RANGE)?, ipv6: None, tags };
        let subnet = first(O::CreateSubnet, self.cloud.change_network(&change).await?.subnets)?;
        let only = only(subnet.as_str());
        let shown = self.until(Instant::now(), || async {
            let found: Parts = self.cloud.describe_network(Kind::Subnet, &only).await?;
            Ok(found.subnets.values().any(|subnet| subnet.state == "available"))
        });
        shown.await?.ok_or_else(|| nothing(O::DescribeSubnets, "the subnet does not become available"))?;
        Ok(subnet)
    }
}

/// The scope of one id.
pub(crate) fn only(id: &str) -> Scope {
    Scope::Ids([id.to_owned()].into())
}

/// A range of addresses.
pub(crate) fn range((address, length): (Ipv4Addr, u8)) -> Result<Ipv4Net> {
    Ipv4Net::new(address, length).map_err(|_| nothing(O::CreateVpc, "the range is not one"))
}

fn first<K, V>(creation: O, made: BTreeMap<K, V>) -> Result<K> {
    made.into_keys().next().ok_or_else(|| nothing(creation, "the response shows nothing that was created"))
}

/// Something that a check needs is missing in the response of a call: not a refusal, so nothing follows from it.
pub(crate) fn nothing(operation: O, what: &str) -> CloudError {
    CloudError::new(operation, ErrorKind::Internal, None, what)
}
