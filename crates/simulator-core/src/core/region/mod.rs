//! One region: everything in it, and how time passes there.

use crate::core::catalogue::{self, Image, TypeInfo};
use crate::core::chance::Chance;
use crate::core::due::{Due, Event};
use crate::core::ec2::instances::Ec2Instance;
use crate::core::ec2::templates::Templates;
use crate::core::ec2::workload_volumes::WorkloadVolume;
use crate::core::eks::Eks;
use crate::core::events::EventLog;
use crate::core::group::activity::{Activity, ActivityLog};
use crate::core::group::launch_instances::LaunchTokens;
use crate::core::group::model::Group;
use crate::core::mishaps::Mishaps;
use crate::core::network::Network;
use crate::core::objects::Buckets;
use crate::core::settings::Settings;
use crate::core::sqs::Queues;
use crate::core::sqs::delivery::EventRule;
use crate::core::ssm::Parameters;
use crate::core::versioned::Versioned;
use foo_cloud::InstanceState;
use foo_model::{ActivityStatus, GroupName, ImageId, InstanceId, InstanceType, Timestamp, Zone};
use std::collections::{BTreeMap, BTreeSet};

mod mishaps;
mod networks;
mod tags;

/// A region of an account.
#[derive(Clone, Debug)]
pub struct Region {
    /// Its name.
    pub name: String,
    /// The account.
    pub account: String,
    /// Delays, limits and assumptions of the simulation.
    pub settings: Settings,
    /// VPCs, subnets, security groups.
    pub network: Network,
    /// Clusters of EKS.
    pub eks: Eks,
    /// Images.
    pub images: BTreeMap<ImageId, Image>,
    /// Instance types.
    pub types: BTreeMap<InstanceType, TypeInfo>,
    /// Launch templates.
    pub templates: Templates,
    /// Volumes that workloads made, by id.
    pub volumes: BTreeMap<String, WorkloadVolume>,
    /// Buckets of S3.
    pub buckets: Buckets,
    /// Capacity of a zone for a type, in instances; no entry means unlimited.
    pub(crate) limits: BTreeMap<(Zone, InstanceType), u32>,
    /// Instances of a type in a zone that are not terminated.
    pub(crate) alive: BTreeMap<(Zone, InstanceType), u32>,
    pub(crate) mishaps: Mishaps,
    pub(crate) launch_tokens: LaunchTokens,
    /// Instances, terminated ones included until EC2 forgets them.
    pub instances: Versioned<InstanceId, Ec2Instance>,
    pub(crate) groups: Versioned<GroupName, Group>,
    /// By group; the activities of a deleted group can still be read.
    pub activities: BTreeMap<GroupName, ActivityLog>,
    pub(crate) due: Due,
    pub(crate) chance: Chance,
    pub(crate) events: EventLog,
    /// Queues of SQS.
    pub queues: Queues,
    pub(crate) parameters: Parameters,
    pub(crate) event_rules: Vec<EventRule>,
    /// Number of the last event that the event rules have seen.
    pub(crate) routed: u64,
    pub(crate) delivery_chance: Chance,
    pub(crate) read_chance: Chance,
    pub(crate) network_chance: Chance,
    pub(crate) now: Timestamp,
    serial: u64,
}

impl Region {
    /// A region with the default network, images and types.
    pub fn new(name: &str, account: &str, seed: u64, settings: Settings, now: Timestamp) -> Self {
        let lag = settings.read_lag;
        Self {
            name: name.to_owned(),
            account: account.to_owned(),
            network: Network::default_of(name, account, lag),
            eks: Eks::new(name, seed, lag),
            images: catalogue::default_images(account),
            types: catalogue::default_types(),
            templates: Templates::new(lag),
            volumes: BTreeMap::new(),
            buckets: Buckets::new(),
            limits: BTreeMap::new(),
            alive: BTreeMap::new(),
            mishaps: Mishaps::default(),
            launch_tokens: LaunchTokens::default(),
            instances: Versioned::new(lag),
            groups: Versioned::new(lag),
            activities: BTreeMap::new(),
            due: Due::default(),
            chance: Chance::new(seed, name),
            events: EventLog::new(seed, name),
            queues: Queues::default(),
            parameters: Parameters::public(name, now),
            event_rules: Vec::new(),
            routed: 0,
            delivery_chance: Chance::new(seed, &format!("delivery of {name}")),
            read_chance: Chance::new(seed, &format!("reads of {name}")),
            network_chance: Chance::new(seed, &format!("network of {name}")),
            now,
            serial: 0,
            settings,
        }
    }

    /// The time until which everything that was due has been carried out.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// When the next scheduled event is due.
    pub fn next_due(&self) -> Option<Timestamp> {
        self.due.next()
    }

    /// Carries out everything that is due until `now`, in order, each at its own time. Time never goes backwards.
    pub fn advance(&mut self, now: Timestamp) {
        let target = self.now.max(now);
        self.route_events();
        while let Some((when, event)) = self.due.take(target) {
            self.set_now(self.now.max(when));
            self.happen(event);
            self.route_events();
        }
        self.set_now(target);
    }

    fn set_now(&mut self, now: Timestamp) {
        self.now = now;
        self.instances.advance(now);
        self.groups.advance(now);
        self.templates.by_id.advance(now);
        self.network.advance(now);
        self.eks.advance(now);
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Running(id) => self.start_running(&id),
            Event::Launched(id, activity) => self.finish_launch(&id, activity),
            Event::Ended(id) => self.end_instance(&id),
            Event::Left(id) => self.finish_termination(&id),
            Event::Forgotten(id) => self.forget_instance(&id),
            Event::HealthCheck(id) => self.check_health(&id),
            Event::Broke(id) => self.break_launch(&id),
            Event::Stopped(id) => self.stop_instance(&id),
            Event::Interrupted(id) => self.finish_interruption(&id),
            Event::HookExpired(id, token) => self.expire_wait(&id, &token),
            Event::StoodBy(id) => self.finish_standby(&id),
            Event::Detached(id) => self.finish_detach(&id),
            Event::Delivered(queue, body) => self.deliver(&queue, body),
            Event::Evaluate(name) => self.evaluate(&name),
            Event::Network(step) => self.networking().complete_step(step),
            Event::Eks(step) => self.take_eks_step(step),
            Event::GroupGone(name, serial) => self.remove_group(&name, serial),
        }
    }

    /// A serial number that was never used in this region.
    pub fn next_serial(&mut self) -> u64 {
        self.serial += 1;
        self.serial
    }

    /// A group, as it is now.
    pub fn group(&self, name: &GroupName) -> Option<&Group> {
        self.groups.get(name)
    }

    /// All groups, as they are now.
    pub fn groups(&self) -> impl Iterator<Item = &Group> {
        self.groups.iter().map(|(_, group)| group)
    }

    /// An instance, as it is now.
    pub fn instance(&self, id: &InstanceId) -> Option<&Ec2Instance> {
        self.instances.get(id)
    }

    /// All instances, terminated ones included, as they are now.
    pub fn instances(&self) -> impl Iterator<Item = &Ec2Instance> {
        self.instances.iter().map(|(_, instance)| instance)
    }

    /// How many instances there are, terminated ones included.
    pub fn instance_count(&self) -> usize {
        self.instances.len()
    }

    /// The activities of a group.
    pub fn activity_log(&self, group: &GroupName) -> Option<&ActivityLog> {
        self.activities.get(group)
    }

    /// Sets the capacity of a zone for a type, in instances; `None` removes the limit. Running instances stay.
    pub fn set_capacity_limit(&mut self, zone: Zone, instance_type: InstanceType, limit: Option<u32>) {
        match limit {
            Some(limit) => self.limits.insert((zone, instance_type), limit),
            None => self.limits.remove(&(zone, instance_type)),
        };
    }

    /// The limits that are set.
    pub fn capacity_limits(&self) -> &BTreeMap<(Zone, InstanceType), u32> {
        &self.limits
    }

    /// Puts a new instance into EC2.
    pub(crate) fn add_instance(&mut self, instance: Ec2Instance) {
        *self.alive.entry((instance.zone.clone(), instance.instance_type.clone())).or_default() += 1;
        self.network.add_instance_interface(&instance);
        self.networking().guard_node(&instance);
        let id = instance.id.clone();
        self.instances.insert(id.clone(), instance);
        self.publish_state(&id, InstanceState::Pending);
    }

    fn start_running(&mut self, id: &InstanceId) {
        if let Some(instance) = self.instances.get_mut(id)
            && instance.state == InstanceState::Pending
        {
            instance.state = InstanceState::Running;
            self.publish_state(id, InstanceState::Running);
        }
    }

    /// Terminates an instance that a rule makes fail during its launch.
    fn break_launch(&mut self, id: &InstanceId) {
        self.shut_down(id, ("Server.InternalError", "Server.InternalError: Internal error on launch"));
    }

    fn stop_instance(&mut self, id: &InstanceId) {
        if let Some(instance) = self.instances.get_mut(id)
            && instance.state == InstanceState::Stopping
        {
            instance.state = InstanceState::Stopped;
            self.publish_state(id, InstanceState::Stopped);
        }
        self.finish_waiting(id);
    }

    /// Begins to shut an instance down, and returns when it will be terminated. If it is shutting down already, that
    /// time stays.
    pub(crate) fn shut_down(&mut self, id: &InstanceId, reason: (&str, &str)) -> Option<Timestamp> {
        let instance = self.instances.get_mut(id)?;
        if !instance.state.is_alive() {
            return instance.ended;
        }
        let took = self.chance.around(self.settings.terminate, self.settings.spread_percent);
        let when = self.now.plus(took);
        instance.state = InstanceState::ShuttingDown;
        instance.reason = Some((reason.0.to_owned(), reason.1.to_owned()));
        // The planned time, so that a second request finds it; `end_instance` overwrites it with the actual one.
        instance.ended = Some(when);
        self.due.at(when, Event::Ended(id.clone()));
        self.publish_state(id, InstanceState::ShuttingDown);
        Some(when)
    }

    fn end_instance(&mut self, id: &InstanceId) {
        let Some(instance) = self.instances.get_mut(id) else { return };
        instance.state = InstanceState::Terminated;
        instance.ended = Some(self.now);
        instance.security_groups = Vec::new();
        let key = (instance.zone.clone(), instance.instance_type.clone());
        instance.addresses = None;
        if let Some(alive) = self.alive.get_mut(&key) {
            *alive = alive.saturating_sub(1);
        }
        self.network.remove_instance_interface(id);
        self.publish_state(id, InstanceState::Terminated);
        self.due.at(self.now.plus(self.settings.terminated_visible), Event::Forgotten(id.clone()));
    }

    /// EC2 stops showing a terminated instance, unless it is still a member of its group: one that was terminated in
    /// standby is.
    fn forget_instance(&mut self, id: &InstanceId) {
        if self.group_of(id).is_some() {
            self.due.at(self.now.plus(self.settings.terminated_visible), Event::Forgotten(id.clone()));
        } else {
            self.instances.remove(id);
        }
    }

    /// EC2's TerminateInstances for one instance, whoever the caller is. Its group notices at the next health check
    /// (Auto Scaling User Guide, "Health checks for instances in an Auto Scaling group").
    pub fn terminate_in_ec2(&mut self, id: &InstanceId, reason: (&str, &str)) {
        let Some(instance) = self.instances.get(id) else { return };
        let (alive, member) = (instance.state.is_alive(), instance.group.is_some());
        self.shut_down(id, reason);
        if alive && member {
            self.check_health_soon(id);
        }
    }

    /// Schedules a check of an instance by its group within the period of the health checks.
    pub(crate) fn check_health_soon(&mut self, id: &InstanceId) {
        let period = u64::try_from(self.settings.health_check.as_millis()).unwrap_or(u64::MAX);
        let wait = std::time::Duration::from_millis(self.chance.below(period).saturating_add(1));
        self.due.at(self.now.plus(wait), Event::HealthCheck(id.clone()));
    }

    /// Records a new activity of a group and returns its serial number.
    pub(crate) fn begin_activity(&mut self, group: &GroupName, entry: ActivityEntry) -> u64 {
        let serial = self.next_serial();
        let group_arn = self.groups.get(group).map(|group| group.arn.clone()).unwrap_or_default();
        let over = entry.status != ActivityStatus::InProgress;
        let activity = Activity {
            id: self.chance.uuid(),
            group: group.clone(),
            group_arn,
            description: entry.description,
            cause: entry.cause,
            status: entry.status,
            status_message: entry.message,
            started: self.now,
            ended: over.then_some(self.now),
            progress: if over { 100 } else { 30 },
            details: entry.details,
        };
        self.publish_activity(&activity);
        self.activities.entry(group.clone()).or_default().add(serial, activity);
        serial
    }

    /// Records a new activity in progress about an instance of a group, and returns its serial number.
    pub(crate) fn begin_activity_of(
        &mut self,
        group: &GroupName,
        id: &InstanceId,
        description: String,
        cause: String,
    ) -> u64 {
        let details = self.details_of(id);
        let status = ActivityStatus::InProgress;
        self.begin_activity(group, ActivityEntry { description, cause, status, message: None, details })
    }

    /// Ends an activity; a successful one starts the group's cooldown.
    pub(crate) fn end_activity(
        &mut self,
        group: &GroupName,
        serial: Option<u64>,
        status: ActivityStatus,
        message: Option<String>,
    ) {
        let now = self.now;
        let ended = match (serial, self.activities.get_mut(group)) {
            (Some(serial), Some(log)) => log.finish(serial, now, status, message).cloned(),
            _ => None,
        };
        if let Some(ended) = ended {
            self.publish_activity(&ended);
        }
        if status == ActivityStatus::Successful
            && let Some(group) = self.groups.get_mut(group)
        {
            group.cooldown_until = now.plus(group.settings.cooldown);
        }
    }

    /// Zones that have capacity for an instance type at this moment.
    pub(crate) fn zones_with_room(&self, instance_type: &InstanceType) -> BTreeSet<Zone> {
        let zones = self.network.zones.keys();
        zones.filter(|zone| self.is_available(zone) && self.has_room(zone, instance_type)).cloned().collect()
    }

    pub(crate) fn has_room(&self, zone: &Zone, instance_type: &InstanceType) -> bool {
        self.room(zone, instance_type) > 0
    }

    /// Capacity that a zone has left for a type, in instances.
    pub(crate) fn room(&self, zone: &Zone, instance_type: &InstanceType) -> u32 {
        let key = (zone.clone(), instance_type.clone());
        let alive = self.alive.get(&key).copied().unwrap_or(0);
        self.limits.get(&key).map_or(u32::MAX, |limit| limit.saturating_sub(alive))
    }
}

/// The texts and the status of a new activity.
pub(crate) struct ActivityEntry {
    pub(crate) description: String,
    pub(crate) cause: String,
    pub(crate) status: ActivityStatus,
    pub(crate) message: Option<String>,
    pub(crate) details: String,
}
