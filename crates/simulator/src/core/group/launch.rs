//! How a group launches: the zone with fewest members, the first type that is to be had, and what happens if none is.

use super::hooks::Transition;
use super::model::{Group, LaunchSource, Member, MixedPolicy, TemplateRef, Trouble};
use crate::core::due::Event;
use crate::core::ec2::instances::{Addresses, Ec2Instance, Market};
use crate::core::ec2::templates::Version;
use crate::core::error::{AwsError, AwsResult};
use crate::core::region::{ActivityEntry, Region};
use crate::core::time::iso_seconds;
use foo_cloud::InstanceState;
use foo_cloud::model::{
    ActivityStatus, GroupName, Health, InstanceId, InstanceType, LifecycleState, SubnetId, Timestamp, Zone,
};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::Arc;

/// Where public addresses begin.
const PUBLIC_BASE: Ipv4Addr = Ipv4Addr::new(3, 120, 0, 0);

/// What all launches of one evaluation share.
struct Round {
    group: GroupName,
    source: LaunchSource,
    change: String,
    capacity: u32,
    desired: u32,
    /// Members that count as capacity, by zone.
    zones: BTreeMap<Zone, u32>,
    /// Those of them that are on demand.
    on_demand: u32,
}

/// Something that could be launched: the template, the version it means now, the type.
type Choice = (TemplateRef, Arc<Version>, InstanceType);

/// One launch that can go ahead.
struct Recipe {
    template: TemplateRef,
    version: Arc<Version>,
    instance_type: InstanceType,
    market: Market,
    subnet: SubnetId,
}

impl Round {
    fn of(group: &Group) -> Self {
        let mut zones: BTreeMap<Zone, u32> = group.zones.iter().map(|zone| (zone.clone(), 0)).collect();
        let mut on_demand = 0;
        for member in group.members.values().filter(|member| member.lifecycle.is_capacity()) {
            *zones.entry(member.zone.clone()).or_default() += 1;
            on_demand += u32::from(member.market == Market::OnDemand);
        }
        Self {
            group: group.name.clone(),
            source: group.source.clone(),
            change: group.change.clone(),
            capacity: group.capacity(),
            desired: group.sizes.desired,
            zones,
            on_demand,
        }
    }

    fn cause(&self, now: Timestamp) -> String {
        format!(
            "{}  At {} an instance was started in response to a difference between desired and actual capacity, \
             increasing the capacity from {} to {}.",
            self.change,
            iso_seconds(now),
            self.capacity,
            self.desired
        )
    }
}

impl Region {
    /// Launches up to `missing` instances. What cannot be launched now is tried again later.
    pub(crate) fn launch_missing(&mut self, name: &GroupName, missing: u32) {
        let Some(group) = self.groups.get(name) else { return };
        let mut round = Round::of(group);
        let mut left = missing;
        while left > 0 {
            let Some(zone) = self.pick_zone(&round) else {
                return self.wake_after_trouble(name);
            };
            match self.recipe(&round, &zone) {
                Ok(recipe) => {
                    self.launch(&mut round, &zone, recipe);
                    left -= 1;
                }
                Err(failure) => self.fail_launch(&round, failure),
            }
        }
    }

    /// The zone with fewest members of those without trouble; chance decides between equals.
    fn pick_zone(&mut self, round: &Round) -> Option<Zone> {
        let group = self.groups.get(&round.group)?;
        let now = self.now;
        let troubled = |zone: Option<Zone>| group.troubles.get(&zone).is_some_and(|it| it.until > now);
        if troubled(None) {
            return None;
        }
        let usable: Vec<(&Zone, u32)> = group
            .zones
            .iter()
            .filter(|zone| !troubled(Some((*zone).clone())))
            .map(|zone| (zone, round.zones.get(zone).copied().unwrap_or(0)))
            .collect();
        let fewest = usable.iter().map(|(_, members)| *members).min()?;
        let smallest: Vec<Zone> = usable
            .iter()
            .filter(|(_, members)| *members == fewest)
            .map(|(zone, _)| (*zone).clone())
            .collect();
        self.chance.pick(&smallest).cloned()
    }

    fn wake_after_trouble(&mut self, name: &GroupName) {
        let now = self.now;
        let next = self.groups.get(name).and_then(|group| {
            group.troubles.values().map(|trouble| trouble.until).filter(|at| *at > now).min()
        });
        if let Some(next) = next {
            self.wake(name, next);
        }
    }

    /// What to launch in a zone, or why nothing can be: the zone to blame, if it is one, and AWS's words.
    fn recipe(&mut self, round: &Round, zone: &Zone) -> Result<Recipe, (Option<Zone>, String)> {
        let everywhere = |error: AwsError| (None, error.message);
        let here = |message: String| (Some(zone.clone()), message);
        let (market, choices) = self.choices(round).map_err(everywhere)?;
        let mut no_room = None;
        for (template, version, instance_type) in choices {
            self.check_data(&version.data, Some(&instance_type)).map_err(everywhere)?;
            if self.has_room(zone, &instance_type) {
                let subnet = self.pick_subnet(&round.group, zone).map_err(|error| here(error.message))?;
                return Ok(Recipe { template, version, instance_type, market, subnet });
            }
            no_room.get_or_insert(instance_type);
        }
        match no_room {
            Some(instance_type) => Err(here(self.no_capacity(zone, &instance_type, market, &round.source))),
            None => Err(everywhere(AwsError::missing("InstanceType"))),
        }
    }

    /// The market of the next instance and what could be launched, best first.
    fn choices(&self, round: &Round) -> AwsResult<(Market, Vec<Choice>)> {
        match &round.source {
            LaunchSource::Template(template) => {
                let version = self.template_version(template)?;
                let instance_type =
                    version.data.instance_type().ok_or_else(|| AwsError::missing("InstanceType"))?;
                let market = if version.data.is_spot() { Market::Spot } else { Market::OnDemand };
                Ok((market, vec![(template.clone(), version, instance_type)]))
            }
            LaunchSource::Mixed(policy) => {
                let base = self.template_version(&policy.template)?;
                let market = market_of_next(policy, round);
                if policy.overrides.is_empty() {
                    let instance_type =
                        base.data.instance_type().ok_or_else(|| AwsError::missing("InstanceType"))?;
                    return Ok((market, vec![(policy.template.clone(), base, instance_type)]));
                }
                let mut choices = Vec::new();
                for choice in &policy.overrides {
                    let Some(instance_type) = choice.instance_type.clone() else { continue };
                    let (template, version) = match &choice.template {
                        Some(template) => (template.clone(), self.template_version(template)?),
                        None => (policy.template.clone(), Arc::clone(&base)),
                    };
                    choices.push((template, version, instance_type));
                }
                Ok((market, choices))
            }
        }
    }

    fn pick_subnet(&mut self, name: &GroupName, zone: &Zone) -> AwsResult<SubnetId> {
        let free: Vec<SubnetId> = self
            .groups
            .get(name)
            .into_iter()
            .flat_map(|group| &group.subnets)
            .filter_map(|id| self.network.subnets.get(id))
            .filter(|subnet| &subnet.zone == zone && subnet.free() > 0)
            .map(|subnet| subnet.id.clone())
            .collect();
        self.chance.pick(&free).cloned().ok_or_else(|| {
            AwsError::new(
                "InsufficientFreeAddressesInSubnet",
                format!(
                    "There are not enough free addresses in the subnets of {zone} to satisfy the request."
                ),
            )
        })
    }

    /// EC2's words for a lack of capacity (EC2 User Guide, "Insufficient instance capacity").
    fn no_capacity(
        &self,
        zone: &Zone,
        instance_type: &InstanceType,
        market: Market,
        source: &LaunchSource,
    ) -> String {
        let others: Vec<String> =
            self.zones_with_room(instance_type).iter().map(ToString::to_string).collect();
        let hint = if others.is_empty() {
            String::new()
        } else {
            format!(
                " You can currently get {instance_type} capacity by not specifying an Availability Zone in your \
                 request or choosing {}.",
                others.join(", ")
            )
        };
        let lack = format!(
            "We currently do not have sufficient {instance_type} capacity in the Availability Zone you requested \
             ({zone}). Our system will be working on provisioning additional capacity.{hint}"
        );
        match (market, source) {
            (Market::Spot, _) => "Could not launch Spot Instances. UnfulfillableCapacity - Unable to fulfill capacity \
                                  due to your request configuration. Please adjust your request and try again."
                .to_owned(),
            (Market::OnDemand, LaunchSource::Template(_)) => lack,
            (Market::OnDemand, LaunchSource::Mixed(_)) => {
                format!("Could not launch On-Demand Instances. InsufficientInstanceCapacity - {lack}")
            }
        }
    }

    /// Records a failed launch and when to try again.
    fn fail_launch(&mut self, round: &Round, (zone, message): (Option<Zone>, String)) {
        let message = format!("{} Launching EC2 instance failed.", message.trim_end());
        let details =
            zone.as_ref().map(|zone| format!(r#"{{"Availability Zone":"{zone}"}}"#)).unwrap_or_default();
        let entry = ActivityEntry {
            description: format!("Launching a new EC2 instance.  Status Reason: {message}"),
            cause: round.cause(self.now),
            status: ActivityStatus::Failed,
            message: Some(message),
            details,
        };
        self.begin_activity(&round.group, entry);
        let (now, first, max) = (self.now, self.settings.launch_retry_first, self.settings.launch_retry_max);
        let Some(group) = self.groups.get_mut(&round.group) else { return };
        let trouble = group.troubles.entry(zone).or_insert(Trouble { failures: 0, until: now });
        let wait =
            first.saturating_mul(1_u32.checked_shl(trouble.failures.min(20)).unwrap_or(u32::MAX)).min(max);
        trouble.failures = trouble.failures.saturating_add(1);
        // Never at once: a group must not try for ever within one moment.
        trouble.until = now.plus(wait.max(std::time::Duration::from_millis(1)));
    }

    fn launch(&mut self, round: &mut Round, zone: &Zone, recipe: Recipe) {
        let id = self.chance.instance_id();
        let took = self.chance.around(self.settings.launch, self.settings.spread_percent);
        let Some(instance) = self.new_instance(&id, round, zone, &recipe) else { return };
        self.add_instance(instance);
        let details = self.details_of(&id);
        let activity = self.begin_activity(
            &round.group,
            ActivityEntry {
                description: format!("Launching a new EC2 instance: {id}"),
                cause: round.cause(self.now),
                status: ActivityStatus::InProgress,
                message: None,
                details,
            },
        );
        let now = self.now;
        if let Some(group) = self.groups.get_mut(&round.group) {
            group.troubles.remove(&Some(zone.clone()));
            group.troubles.remove(&None);
            let member = Member {
                id: id.clone(),
                zone: zone.clone(),
                instance_type: recipe.instance_type,
                lifecycle: LifecycleState::Pending,
                health: Health::Healthy,
                protection: group.new_instances,
                template: Some((recipe.template.id, recipe.template.name, recipe.version.number)),
                market: recipe.market,
                launched: now,
                at_risk: false,
                waits: BTreeMap::new(),
                activity: Some(activity),
            };
            group.members.insert(id.clone(), member);
        }
        *round.zones.entry(zone.clone()).or_default() += 1;
        round.on_demand += u32::from(recipe.market == Market::OnDemand);
        let boot = took.saturating_mul(self.settings.running_after_percent.min(100)) / 100;
        self.due.at(now.plus(boot), Event::Running(id.clone()));
        self.due.at(now.plus(took), Event::Launched(id));
    }

    fn new_instance(
        &mut self,
        id: &InstanceId,
        round: &Round,
        zone: &Zone,
        recipe: &Recipe,
    ) -> Option<Ec2Instance> {
        let data = &recipe.version.data;
        let image = data.image()?;
        let reservation = self.chance.id("r");
        let public_offset = u32::try_from(self.chance.below(1 << 16)).unwrap_or(0);
        let mut tags = data.tags_for("instance");
        let group = self.groups.get(&round.group)?;
        // A tag of the group wins over one of the template (Auto Scaling User Guide, "Tag Auto Scaling groups").
        let propagated = group.tags.iter().filter(|(_, tag)| tag.propagate);
        tags.extend(propagated.map(|(key, tag)| (key.clone(), tag.value.clone())));
        tags.insert("aws:autoscaling:groupName".to_owned(), round.group.to_string());
        tags.insert("aws:ec2launchtemplate:id".to_owned(), recipe.template.id.to_string());
        tags.insert("aws:ec2launchtemplate:version".to_owned(), recipe.version.number.to_string());
        let subnet = self.network.subnets.get_mut(&recipe.subnet)?;
        let private = subnet.take_address()?;
        let public = data
            .public_address()
            .unwrap_or(subnet.public)
            .then(|| Ipv4Addr::from(u32::from(PUBLIC_BASE).wrapping_add(public_offset)));
        Some(Ec2Instance {
            id: id.clone(),
            state: InstanceState::Pending,
            instance_type: recipe.instance_type.clone(),
            architecture: self.images.get(&image).map(|image| image.architecture.clone()).unwrap_or_default(),
            image,
            subnet: subnet.id.clone(),
            vpc: subnet.vpc.clone(),
            zone: zone.clone(),
            addresses: Some(Addresses::in_region(&self.name, private, public)),
            launched: self.now,
            ended: None,
            template: Some((recipe.template.id.clone(), recipe.version.number)),
            tags,
            market: recipe.market,
            group: Some(round.group.clone()),
            security_groups: data.security_groups(),
            instance_profile: data.instance_profile().map(str::to_owned),
            key_name: data.key_name().map(str::to_owned),
            reservation,
            reason: None,
        })
    }

    /// The launch is over: the member waits for its hooks, then is in service, unless its instance died meanwhile.
    pub(crate) fn finish_launch(&mut self, id: &InstanceId) {
        let Some(name) = self.group_of(id) else { return };
        let alive = self.instances.get(id).is_some_and(|instance| instance.state == InstanceState::Running);
        let lifecycle =
            self.groups.get(&name).and_then(|group| Some(group.members.get(id)?.lifecycle.clone()));
        match lifecycle {
            Some(LifecycleState::Pending) if alive && self.begin_waits(&name, id, Transition::Launching) => {
                return;
            }
            Some(LifecycleState::Pending | LifecycleState::PendingProceed) => {}
            Some(_) | None => return,
        }
        let Some(group) = self.groups.get_mut(&name) else { return };
        let Some(member) = group.members.get_mut(id) else { return };
        let activity = member.activity.take();
        if alive {
            member.lifecycle = LifecycleState::InService;
            let replaces = group.members.values().any(|member| group.is_surplus(member));
            self.end_activity(&name, activity, ActivityStatus::Successful, None);
            if replaces {
                self.wake_soon(&name);
            }
        } else {
            self.call_off_launch(&name, id, activity);
        }
    }
}

/// On demand up to the base, then by percentage (Auto Scaling User Guide, "Auto Scaling groups with multiple instance
/// types and purchase options"); a share that is no whole number is rounded up in favour of on demand.
fn market_of_next(policy: &MixedPolicy, round: &Round) -> Market {
    let above = u64::from(round.desired.saturating_sub(policy.on_demand_base));
    let share = (above * u64::from(policy.on_demand_percentage)).div_ceil(100);
    if u64::from(round.on_demand) < u64::from(policy.on_demand_base) + share {
        Market::OnDemand
    } else {
        Market::Spot
    }
}
