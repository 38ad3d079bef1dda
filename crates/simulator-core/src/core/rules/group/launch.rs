//! Launches of a group: in the zone with the fewest members, of the first type that has capacity, and what happens if
//! none has.

use super::choose::{Choice, Place};
use super::hooks::Transition;
use super::replace::Outgoing;
use crate::core::catalogue::Boot;
use crate::core::due::Event;
use crate::core::ec2::instances::{Addresses, Ec2Instance, Market};
use crate::core::error::{AwsError, AwsResult};
use crate::core::group::model::{Group, LaunchSource, Member, Trouble};
use crate::core::mishaps::CallOutcome;
use crate::core::region::Region;
use crate::core::rules::activities::ActivityEntry;
use crate::core::time::iso_seconds;
use foo_cloud::InstanceState;
use foo_model::{
    ActivityStatus, GroupName, Health, InstanceId, InstanceType, LifecycleState, Protection, SubnetId,
    Timestamp, Zone,
};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::Arc;

/// The first public address that instances get.
const PUBLIC_BASE: Ipv4Addr = Ipv4Addr::new(3, 120, 0, 0);

/// What all launches of one evaluation have in common.
struct Round {
    group: GroupName,
    source: LaunchSource,
    change: String,
    capacity: u32,
    desired: u32,
}

/// One launch that is possible.
pub(super) struct Recipe {
    pub(super) choice: Choice,
    pub(super) market: Market,
    pub(super) zone: Zone,
    pub(super) subnet: SubnetId,
    /// The Capacity Reservation that it uses.
    pub(super) reserved: Option<String>,
}

/// Why a launch is impossible: the zone, if the cause lies in it, and EC2's error.
pub(super) struct Failure {
    pub(super) zone: Option<Zone>,
    pub(super) error: AwsError,
}

impl Round {
    fn of(group: &Group, now: Timestamp) -> Self {
        let balances = group.members.values().any(|it| it.outgoing == Some(Outgoing::Unbalanced));
        let change = if balances {
            format!(
                "At {} instances were launched to balance instances between the zones of the group, resulting in more \
                 than desired number of instances in the group.",
                iso_seconds(now)
            )
        } else {
            group.change.clone()
        };
        Self {
            group: group.name.clone(),
            source: group.launches().clone(),
            change,
            capacity: group.capacity(),
            desired: group.sizes.desired,
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
    /// Launches `missing` units of capacity; the last instance may exceed them by its weight. The group retries
    /// failed launches later.
    pub(crate) fn launch_missing(&mut self, name: &GroupName, missing: u32) {
        self.launch_into(name, missing, Place::Group);
    }

    /// Launches `missing` units of capacity into the group or its warm pool.
    pub(super) fn launch_into(&mut self, name: &GroupName, missing: u32, place: Place) {
        let Some(group) = self.groups.get(name) else { return };
        let round = Round::of(group, self.now);
        let mut still_missing = missing;
        while still_missing > 0 {
            let Some(zone) = self.pick_zone(name) else {
                return self.wake_after_trouble(name);
            };
            match self.recipe(name, &round.source, &zone, None, place) {
                Ok(recipe) => {
                    still_missing = still_missing.saturating_sub(recipe.choice.weight);
                    self.launch(name, recipe, round.cause(self.now), place);
                }
                Err(failure) => {
                    self.fail_launch(&round, failure);
                    // The next evaluation decides again: another zone may have capacity, or it cancels a rebalancing.
                    return self.wake(name, self.now);
                }
            }
        }
    }

    /// The zone with the fewest members, among those without failed launches; at random between equal ones. With
    /// `balanced-only` the group waits for the smallest zone (Auto Scaling User Guide, "Availability Zone
    /// distribution").
    fn pick_zone(&mut self, name: &GroupName) -> Option<Zone> {
        let group = self.groups.get(name)?;
        let now = self.now;
        let troubled = |zone: Option<Zone>| group.troubles.get(&zone).is_some_and(|it| it.until > now);
        if troubled(None) {
            return None;
        }
        let mut sizes: BTreeMap<&Zone, u32> = group.zones.iter().map(|zone| (zone, 0)).collect();
        let warm = group.warm.values().filter(|member| !member.lifecycle.is_leaving());
        for member in group.members.values().filter(|member| member.lifecycle.is_capacity()).chain(warm) {
            if let Some(size) = sizes.get_mut(&member.zone) {
                *size += member.weight;
            }
        }
        let patient = group.settings.policies.balanced_only;
        let usable = |zone: &Zone| patient || !troubled(Some(zone.clone()));
        sizes.retain(|zone, _| usable(zone));
        let fewest = sizes.values().copied().min()?;
        sizes.retain(|zone, size| *size == fewest && !troubled(Some((*zone).clone())));
        let smallest: Vec<Zone> = sizes.into_keys().cloned().collect();
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

    /// What to launch in a zone, or why nothing can be launched there.
    pub(super) fn recipe(
        &mut self,
        name: &GroupName,
        source: &LaunchSource,
        zone: &Zone,
        subnet: Option<&SubnetId>,
        place: Place,
    ) -> Result<Recipe, Failure> {
        let everywhere = |error: AwsError| Failure { zone: None, error };
        let here = |error: AwsError| Failure { zone: Some(zone.clone()), error };
        let group = self.groups.get(name).ok_or_else(|| everywhere(AwsError::no_group(name)))?;
        let (market, choices) = self.choices(source, group, zone, place).map_err(everywhere)?;
        if let Some(error) = self.launch_fault(name, zone) {
            return Err(here(error));
        }
        let mut refused = None;
        for choice in choices {
            self.check_data(&choice.version.data, choice.image.as_ref(), Some(&choice.instance_type))
                .map_err(everywhere)?;
            let data = &choice.version.data;
            let reserved = self.reservation_for(data, &choice.instance_type, zone, market);
            let reserved = match reserved.and_then(|it| self.check_place(data, zone).map(|()| it)) {
                Ok(reserved) => reserved,
                Err(error) => {
                    refused.get_or_insert_with(|| here(error));
                    continue;
                }
            };
            let has_room = reserved.is_some() || self.has_room(zone, &choice.instance_type);
            if !self.is_available(zone) || !has_room {
                refused.get_or_insert_with(|| {
                    here(self.no_capacity(zone, &choice.instance_type, market, source))
                });
                continue;
            }
            if let Err(error) = self.check_quota(&choice.instance_type, market) {
                refused.get_or_insert_with(|| everywhere(error));
                continue;
            }
            self.check_metadata_tags(name, &choice.version.data).map_err(everywhere)?;
            let subnet = self.pick_subnet(name, zone, subnet).map_err(here)?;
            return Ok(Recipe { choice, market, zone: zone.clone(), subnet, reserved });
        }
        Err(refused.unwrap_or_else(|| everywhere(AwsError::missing("InstanceType"))))
    }

    fn pick_subnet(&mut self, name: &GroupName, zone: &Zone, only: Option<&SubnetId>) -> AwsResult<SubnetId> {
        let free: Vec<SubnetId> = self
            .groups
            .get(name)
            .into_iter()
            .flat_map(|group| &group.subnets)
            .filter_map(|id| self.network.subnets.get(id))
            .filter(|subnet| only.is_none_or(|only| &subnet.id == only))
            .filter(|subnet| &subnet.zone == zone && subnet.free_addresses > 0)
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
    ) -> AwsError {
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
            (Market::Spot, _) => AwsError::new(
                "UnfulfillableCapacity",
                "Could not launch Spot Instances. UnfulfillableCapacity - Unable to fulfill capacity due to your request \
                 configuration. Please adjust your request and try again.",
            ),
            (Market::OnDemand, LaunchSource::Template(_)) => {
                AwsError::new("InsufficientInstanceCapacity", lack)
            }
            (Market::OnDemand, LaunchSource::Mixed(_)) => AwsError::new(
                "InsufficientInstanceCapacity",
                format!("Could not launch On-Demand Instances. InsufficientInstanceCapacity - {lack}"),
            ),
        }
    }

    /// Records a failed launch and when to try again.
    fn fail_launch(&mut self, round: &Round, Failure { zone, error }: Failure) {
        let message = format!("{} Launching EC2 instance failed.", error.message.trim_end());
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
        self.count_failed_launch(&round.group);
        let (now, first, max) = (self.now, self.settings.launch_retry_first, self.settings.launch_retry_max);
        let Some(group) = self.groups.get_mut(&round.group) else { return };
        let trouble = group.troubles.entry(zone).or_insert(Trouble { failures: 0, until: now });
        let wait =
            first.saturating_mul(1_u32.checked_shl(trouble.failures.min(20)).unwrap_or(u32::MAX)).min(max);
        trouble.failures = trouble.failures.saturating_add(1);
        // At least a millisecond: otherwise a group could retry endlessly at one moment of virtual time.
        trouble.until = now.plus(wait.max(std::time::Duration::from_millis(1)));
    }

    pub(super) fn launch(
        &mut self,
        name: &GroupName,
        recipe: Recipe,
        cause: String,
        place: Place,
    ) -> Option<InstanceId> {
        let id = self.chance.instance_id();
        let took = self.chance.around(self.settings.launch, self.settings.spread_percent);
        let fate = self.fate_of_launch(name, &recipe.zone);
        let instance = self.new_instance(&id, name, &recipe, fate)?;
        self.add_instance(instance);
        let what = match place {
            Place::Group => "Launching a new EC2 instance",
            Place::WarmPool => "Launching a new EC2 instance into warm pool",
        };
        let activity = self.begin_activity_of(name, &id, format!("{what}: {id}"), cause);
        let now = self.now;
        if let Some(group) = self.groups.get_mut(name) {
            group.troubles.remove(&Some(recipe.zone.clone()));
            group.troubles.remove(&None);
            group.failing_since = None;
            let member = new_member(id.clone(), recipe, group.new_instances, activity, now);
            match place {
                Place::Group => group.members.insert(id.clone(), member),
                Place::WarmPool => group.warm.insert(id.clone(), member),
            };
        }
        let boot = took.saturating_mul(self.settings.running_after_percent.min(100)) / 100;
        match fate {
            Some(CallOutcome::Dies) => self.due.at(now.plus(boot), Event::Broke(id.clone())),
            Some(CallOutcome::NeverJoins) | None => self.due.at(now.plus(boot), Event::Running(id.clone())),
        }
        self.due.at(now.plus(took), Event::Launched(id.clone(), Some(activity)));
        Some(id)
    }

    fn new_instance(
        &mut self,
        id: &InstanceId,
        name: &GroupName,
        recipe: &Recipe,
        fate: Option<CallOutcome>,
    ) -> Option<Ec2Instance> {
        let Choice { template, version, image, instance_type, .. } = &recipe.choice;
        let data = &version.data;
        let image = image.clone()?;
        let reservation = self.chance.id("r");
        let public_offset = u32::try_from(self.chance.below(1 << 16)).unwrap_or(0);
        let mut tags = self.groups.get(name)?.tags_of_instances(data);
        tags.insert("aws:autoscaling:groupName".to_owned(), name.to_string());
        tags.insert("aws:ec2launchtemplate:id".to_owned(), template.id.to_string());
        tags.insert("aws:ec2launchtemplate:version".to_owned(), version.number.to_string());
        let vpc = self.network.subnets.get(&recipe.subnet)?.vpc.clone();
        let mut security_groups = data.security_groups();
        if security_groups.is_empty() {
            security_groups.extend(self.network.default_group(vpc.as_str()));
        }
        let maps_public = self.network.subnets.get(&recipe.subnet)?.public_ip_on_launch;
        let private = self.network.assign_address(&recipe.subnet)?;
        let public = data
            .public_address()
            .unwrap_or(maps_public)
            .then(|| Ipv4Addr::from(u32::from(PUBLIC_BASE).wrapping_add(public_offset)));
        let mut addresses = Addresses::in_region(&self.name, private, public);
        if data.names_hosts_by_id() {
            addresses.name_by(id);
        }
        let image_info = self.images.get(&image);
        let placed = self.placement_group_of(data).ok().flatten().map(|(name, _)| name.to_owned());
        let boots = if fate == Some(CallOutcome::NeverJoins) { Boot::Fails } else { Boot::Succeeds };
        Some(Ec2Instance {
            id: id.clone(),
            state: InstanceState::Pending,
            instance_type: instance_type.clone(),
            architecture: image_info.map(|image| image.architecture.clone()).unwrap_or_default(),
            image,
            boots,
            subnet: recipe.subnet.clone(),
            vpc: vpc.to_string(),
            zone: recipe.zone.clone(),
            addresses: Some(addresses),
            launched: self.now,
            ended: None,
            template: Some((template.id.clone(), version.number)),
            tags,
            market: recipe.market,
            group: Some(name.clone()),
            security_groups,
            instance_profile: data.instance_profile().map(str::to_owned),
            user_data: data.user_data().map(Arc::from),
            console: None,
            key_name: data.key_name().map(str::to_owned),
            reservation,
            partition: data.document.get_text(&["placement", "partitionNumber"]).map(str::to_owned),
            placement_group: placed,
            capacity_reservation: recipe.reserved.clone(),
            events: Vec::new(),
            reason: None,
        })
    }

    /// Ends a launch: the member waits for its hooks and then is in service, unless its instance was terminated
    /// meanwhile. Does nothing if `activity` is not the one that launches the member now.
    pub(crate) fn finish_launch(&mut self, id: &InstanceId, activity: Option<u64>) {
        let Some(name) = self.group_of(id) else { return };
        let current = self.groups.get(&name).and_then(|group| group.member(id)).map(|it| it.activity);
        if current != Some(activity) {
            return;
        }
        let alive = self.instances.get(id).is_some_and(|instance| instance.state == InstanceState::Running);
        let lifecycle = self.groups.get(&name).and_then(|group| Some(group.member(id)?.lifecycle.clone()));
        match lifecycle {
            Some(LifecycleState::Pending) if alive && self.begin_waits(&name, id, Transition::Launching) => {
                return;
            }
            Some(LifecycleState::Pending | LifecycleState::PendingProceed) => {}
            Some(_) | None => return,
        }
        let now = self.now;
        let Some(group) = self.groups.get_mut(&name) else { return };
        let warm = group.warm.contains_key(id);
        let Some(member) = group.member_mut(id) else { return };
        if warm && alive {
            return self.begin_waiting(&name, id);
        }
        let activity = member.activity.take();
        if alive {
            member.lifecycle = LifecycleState::InService;
            member.serving_since = Some(now);
            self.register_targets(&name, id);
            self.end_activity(&name, activity, ActivityStatus::Successful, None);
            if self.instances.get(id).is_some_and(|instance| self.is_unavailable(&instance.zone)) {
                self.check_health_soon(id);
            }
            self.wake_soon(&name);
        } else {
            self.cancel_launch(&name, id, activity);
        }
    }
}

/// A member that is being launched by this activity.
fn new_member(
    id: InstanceId,
    recipe: Recipe,
    protection: Protection,
    activity: u64,
    launched: Timestamp,
) -> Member {
    let template = recipe.choice.template;
    Member {
        id,
        zone: recipe.zone,
        instance_type: recipe.choice.instance_type,
        lifecycle: LifecycleState::Pending,
        health: Health::Healthy,
        protection,
        template: Some((template.id, template.name, recipe.choice.version.number)),
        market: recipe.market,
        weight: recipe.choice.weight,
        launched,
        serving_since: None,
        outgoing: None,
        rests: None,
        from_warm_pool: false,
        returns: false,
        waits: BTreeMap::new(),
        activity: Some(activity),
        root_volume: None,
    }
}
