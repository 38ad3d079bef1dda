//! One region: everything in it. What calls and time change there is in [`rules`](crate::core::rules).

use crate::core::catalogue::{self, Image, TypeInfo};
use crate::core::chance::Chance;
use crate::core::due::Due;
use crate::core::ec2::capacity::Capacity;
use crate::core::ec2::instances::Ec2Instance;
use crate::core::ec2::templates::Templates;
use crate::core::ec2::workload_volumes::WorkloadVolume;
use crate::core::eks::Eks;
use crate::core::events::EventLog;
use crate::core::group::activity::ActivityLog;
use crate::core::group::model::Group;
use crate::core::group::model::launch_request::LaunchTokens;
use crate::core::mishaps::Mishaps;
use crate::core::network::Network;
use crate::core::objects::Buckets;
use crate::core::settings::Settings;
use crate::core::sqs::Queues;
use crate::core::sqs::delivery::EventRule;
use crate::core::ssm::Parameters;
use crate::core::targets::TargetRegistry;
use crate::core::versioned::Versioned;
use foo_model::{GroupName, ImageId, InstanceId, InstanceType, Timestamp, Zone};
use std::collections::{BTreeMap, BTreeSet};

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
    /// Placement groups, Capacity Reservations and snapshots.
    pub capacity: Capacity,
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
    /// Instances that are registered with traffic sources.
    pub(crate) targets: TargetRegistry,
    /// Parameters of SSM.
    pub parameters: Parameters,
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
            capacity: Capacity::default(),
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
            targets: TargetRegistry::default(),
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

    /// Everything in it has this time now.
    pub(in crate::core) fn set_now(&mut self, now: Timestamp) {
        self.now = now;
        self.instances.advance(now);
        self.groups.advance(now);
        self.templates.by_id.advance(now);
        self.network.advance(now);
        self.eks.advance(now);
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
