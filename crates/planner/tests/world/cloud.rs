//! The group, its instances and the template, as AWS has them and as it shows them.

use foo_model::group::GroupStatus;
use foo_model::hook::HookConfig;
use foo_model::names::{TAG_ADOPTABLE, TAG_CLUSTER, TAG_POOL};
use foo_model::{
    AwsTime, Decrement, DeletionProtection, FoundReservation, Group, GroupChange, GroupName, GroupSettings,
    Health, HookName, Instance, InstanceId, InstanceType, LaunchTemplate, LaunchTemplateId, LifecycleHook,
    LifecycleState, NewGroup, Notifications, ObjectPlace, Process, Protection, Sizes, SpecHash,
    TargetGroupArn, TargetHealth, TargetState, Targets, TemplateChoice, TemplateHashes, TemplateRecord,
    TemplateVersion, Timestamp, TrafficSource, Transition, WarmPool, WarmPoolSettings, Zone,
};
use foo_planner::Desired;
use foo_planner::observed::LastRead;
use std::collections::{BTreeMap, BTreeSet};

/// Name of the group.
pub(crate) const NAME: &str = "ns-prod-workers";

/// The hash of user data that join the cluster at once.
pub(crate) const JOINING: &str = "joins";

/// Whether AWS has capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Launches {
    Work,
    Fail,
}

/// The launch template version that an instance was launched from.
pub(crate) type Version = Option<(LaunchTemplateId, TemplateVersion)>;

/// What AWS says no with.
pub(crate) type ErrorCode = &'static str;

pub(crate) struct Cloud {
    pub(crate) group: Option<Group>,
    pub(crate) template: Option<LaunchTemplate>,
    pub(crate) launches: Launches,
    /// User data in S3, and when it was written.
    pub(crate) objects: BTreeMap<ObjectPlace, Timestamp>,
    /// What is known of objects instead of what there is.
    pub(crate) list_fails: Option<LastRead<BTreeSet<String>>>,
    /// Our terminating hook.
    pub(crate) hook: Option<HookConfig>,
    /// All other hooks; terminating ones delay what waits for the first one, too.
    pub(crate) other_hooks: BTreeMap<HookName, LifecycleHook>,
    /// What the group reports to topics.
    pub(crate) notifications: Notifications,
    /// Instances whose wait for our hook is completed, and that wait for others.
    pub(crate) held: BTreeSet<InstanceId>,
    /// Instances outside the group that live: detached.
    pub(crate) detached: BTreeSet<InstanceId>,
    /// Members that are dead in EC2: the group holds them for their hook all the same.
    pub(crate) dead: BTreeSet<InstanceId>,
    /// Instances that EC2 does not know until that moment, dead or alive: its reads trail what it did.
    pub(crate) hidden: BTreeMap<InstanceId, Timestamp>,
    /// Instances that are not healthy in any target group; all others of the group are.
    pub(crate) ailing: BTreeMap<InstanceId, TargetState>,
    /// What is known of targets instead of what there is.
    pub(crate) targets_fail: Option<LastRead<BTreeMap<TargetGroupArn, Targets>>>,
    /// The reservation of the pool's Capacity Block, as far as it was read.
    pub(crate) capacity_block: Option<FoundReservation>,
    /// AWS refuses to launch from any template but the one it has.
    pub(crate) refuses_templates: bool,
    /// The instances of the warm pool, as the launch template versions that they have.
    pub(crate) warm: Vec<Version>,
    /// Instances on their way out of the warm pool, which wait for our hook.
    pub(crate) leaving_warm_pool: BTreeSet<InstanceId>,
    /// Those that have left it: no other instance gets their ids.
    pub(crate) left_warm_pool: BTreeSet<InstanceId>,
    /// Launch template versions of instances that were launched into the warm pool although they join the cluster.
    pub(crate) joined: Vec<Version>,
    /// AWS does not get to the end of the deletion of a warm pool.
    pub(crate) keeps_warm_pool: bool,
    /// What AWS refuses to create or change a warm pool with.
    pub(crate) refuses_warm_pool: Option<ErrorCode>,
    /// What AWS says no to the deletion of a warm pool with.
    pub(crate) refuses_warm_pool_deletion: Option<ErrorCode>,
    /// Instances that AWS's scale-in took: nothing may ever appear here while all are protected.
    pub(crate) scaled_in: Vec<InstanceId>,
    /// How many calls that write got a response.
    pub(crate) writes: u32,
    /// How many instances ever launched.
    pub(crate) launched: u32,
    history: Vec<(Timestamp, Option<Group>)>,
    generation: u32,
}

impl Cloud {
    pub(crate) fn new(now: Timestamp) -> Self {
        Self {
            group: None,
            template: None,
            launches: Launches::Work,
            objects: BTreeMap::new(),
            list_fails: None,
            hook: None,
            other_hooks: BTreeMap::new(),
            notifications: Notifications::new(),
            held: BTreeSet::new(),
            detached: BTreeSet::new(),
            dead: BTreeSet::new(),
            hidden: BTreeMap::new(),
            ailing: BTreeMap::new(),
            targets_fail: None,
            capacity_block: None,
            refuses_templates: false,
            warm: Vec::new(),
            leaving_warm_pool: BTreeSet::new(),
            left_warm_pool: BTreeSet::new(),
            joined: Vec::new(),
            keeps_warm_pool: false,
            refuses_warm_pool: None,
            refuses_warm_pool_deletion: None,
            scaled_in: Vec::new(),
            writes: 0,
            launched: 0,
            history: vec![(now, None)],
            generation: 0,
        }
    }

    /// What a read of a replica shows that has seen everything up to `upto`, and how far back in
    /// history that is; never further back than `at_least`.
    pub(crate) fn shown(&self, upto: Timestamp, at_least: usize) -> (usize, Option<Group>) {
        let index = self.history.iter().rposition(|(at, _)| *at <= upto).unwrap_or(0).max(at_least);
        (index, self.history[index].1.clone())
    }

    /// Records what is true now for later reads.
    pub(crate) fn record(&mut self, now: Timestamp) {
        if self.history.last().is_none_or(|(_, group)| *group != self.group) {
            self.history.push((now, self.group.clone()));
        }
    }

    pub(crate) fn alive(&self) -> BTreeSet<InstanceId> {
        let members =
            self.group.iter().flat_map(|group| &group.instances).map(|instance| instance.id.clone());
        members.chain(self.detached.iter().cloned()).filter(|id| !self.dead.contains(id)).collect()
    }

    pub(crate) fn sizes(&self) -> Sizes {
        self.group.as_ref().map_or(Sizes { min: 0, max: 0, desired: 0 }, |group| group.sizes)
    }

    pub(crate) fn existing(&self) -> u32 {
        self.group.as_ref().map_or(0, capacity)
    }

    pub(crate) fn instance_mut(&mut self, id: &InstanceId) -> Option<&mut Instance> {
        self.group.as_mut()?.instances.iter_mut().find(|instance| instance.id == *id)
    }

    pub(crate) fn lifecycle(&self, id: &InstanceId) -> Option<LifecycleState> {
        Some(self.group.as_ref()?.instance(id)?.lifecycle.clone())
    }

    /// Everything that AWS does by itself, one step each.
    pub(crate) fn work(&mut self, now: Timestamp) {
        self.end_leaving(now);
        self.put_in_service(now);
        self.launch(now);
        self.scale_in(now);
        self.fit_warm_pool(now);
        if self.group.as_ref().is_some_and(|group| group.status == GroupStatus::Deleting) {
            self.group = None;
        }
        self.record(now);
    }

    /// Whether AWS has something left to do.
    pub(crate) fn moves(&self) -> bool {
        let Some(group) = &self.group else { return false };
        let lacking = capacity(group) < group.sizes.desired && self.launches == Launches::Work;
        let on_the_way = |instance: &Instance| {
            matches!(instance.lifecycle, LifecycleState::Pending | LifecycleState::Terminating)
        };
        let warms = group.warm_pool.is_some_and(|pool| {
            let ends = pool.deleting && !self.keeps_warm_pool;
            ends || (!pool.deleting && self.warm.len() != warm_size(group, pool.settings))
        });
        let leaves = group.status == GroupStatus::Deleting;
        lacking || warms || leaves || group.instances.iter().any(on_the_way)
    }

    /// Launches one instance if one is lacking.
    pub(crate) fn launch(&mut self, now: Timestamp) {
        let Some(group) = &mut self.group else { return };
        let lacking = capacity(group) < group.sizes.desired;
        let suspended = group.suspended.contains_key(&Process::Launch);
        if !lacking || suspended || group.status == GroupStatus::Deleting || self.launches == Launches::Fail {
            return;
        }
        self.launched += 1;
        let number = self.launched;
        let zones = ["eu-1a", "eu-1b", "eu-1c"];
        // Those that wait come first.
        let is_open = group.warm_pool.is_some_and(|pool| !pool.deleting) && !self.warm.is_empty();
        let template = if is_open { self.warm.remove(0) } else { version_of(group) };
        group.instances.push(Instance {
            id: InstanceId::new(format!("i-{number:08x}")),
            zone: Zone::new(zones[usize::try_from(number).unwrap() % zones.len()]),
            instance_type: InstanceType::new("m7i.large"),
            lifecycle: LifecycleState::Pending,
            health: Health::Healthy,
            protection: group.settings.new_instances,
            template,
        });
        self.record(now);
    }

    /// Fills the warm pool, or empties one that is being deleted.
    pub(crate) fn fit_warm_pool(&mut self, now: Timestamp) {
        let Some(group) = &mut self.group else { return };
        let Some(pool) = group.warm_pool else { return };
        if pool.deleting && !self.keeps_warm_pool {
            self.warm.clear();
            self.leaving_warm_pool.clear();
            group.warm_pool = None;
        } else if !pool.deleting {
            let (there, version) = (self.warm.len(), version_of(group));
            self.warm.resize(warm_size(group, pool.settings), version.clone());
            if self.warm.len() > there && joins(self.template.as_ref(), version.as_ref()) {
                self.joined.push(version);
            }
            let size = u32::try_from(self.warm.len()).unwrap();
            group.warm_pool = Some(WarmPool { size, ..pool });
        }
        self.record(now);
    }

    /// Whether the warm pool is full, and all its instances have the version that the group launches from.
    pub(crate) fn warms_its_version(&self) -> bool {
        let Some(group) = &self.group else { return true };
        let size = group.warm_pool.map_or(0, |pool| warm_size(group, pool.settings));
        let version = version_of(group);
        self.warm.len() == size && self.warm.iter().all(|it| *it == version)
    }

    pub(crate) fn put_warm_pool(
        &mut self,
        settings: WarmPoolSettings,
        now: Timestamp,
    ) -> Result<(), ErrorCode> {
        if let Some(code) = self.refuses_warm_pool {
            return Err(code);
        }
        let group = self.group.as_mut().ok_or("NotFound")?;
        if group.warm_pool.is_some_and(|pool| pool.deleting) {
            return Err("ScalingActivityInProgress");
        }
        let size = group.warm_pool.map_or(0, |pool| pool.size);
        group.warm_pool = Some(WarmPool { settings, deleting: false, size });
        self.record(now);
        Ok(())
    }

    /// The controller takes one that does not exist for deleted.
    pub(crate) fn delete_warm_pool(&mut self, now: Timestamp) -> Result<(), ErrorCode> {
        if let Some(code) = self.refuses_warm_pool_deletion {
            return Err(code);
        }
        if let Some(pool) = &mut self.group.as_mut().ok_or("NotFound")?.warm_pool {
            pool.deleting = true;
        }
        self.record(now);
        Ok(())
    }

    pub(crate) fn put_in_service(&mut self, now: Timestamp) {
        for instance in self.group.iter_mut().flat_map(|group| &mut group.instances) {
            if instance.lifecycle == LifecycleState::Pending {
                instance.lifecycle = LifecycleState::InService;
            }
        }
        self.record(now);
    }

    pub(crate) fn end_leaving(&mut self, now: Timestamp) {
        if let Some(group) = &mut self.group {
            group.instances.retain(|instance| instance.lifecycle != LifecycleState::Terminating);
        }
        self.record(now);
    }

    /// AWS's own scale-in: takes what is unprotected while there is more than desired.
    pub(crate) fn scale_in(&mut self, now: Timestamp) {
        let Some(group) = &mut self.group else { return };
        let surplus = capacity(group).saturating_sub(group.sizes.desired);
        for _ in 0..surplus {
            let victim = group.instances.iter_mut().find(|instance| {
                instance.lifecycle.is_capacity() && instance.protection == Protection::Unprotected
            });
            if let Some(victim) = victim {
                victim.lifecycle = leaving(self.hook);
                self.scaled_in.push(victim.id.clone());
            }
        }
        self.record(now);
    }

    /// An instance dies in EC2.
    pub(crate) fn kill(&mut self, id: &InstanceId, now: Timestamp) {
        if let Some(group) = &mut self.group {
            group.instances.retain(|instance| instance.id != *id);
        }
        self.detached.remove(id);
        self.record(now);
    }

    /// EC2 does not know an instance for so long; once only.
    pub(crate) fn hide(&mut self, id: &InstanceId, now: Timestamp, seconds: u64) {
        let until = now.plus(std::time::Duration::from_secs(seconds));
        self.hidden.entry(id.clone()).or_insert(until);
    }

    /// An instance dies in EC2 and the group notices: it ends what is dead already, through the hook.
    pub(crate) fn fail_health_check(&mut self, id: &InstanceId, now: Timestamp) {
        self.dead.insert(id.clone());
        self.terminate_by_aws(id, now);
    }

    /// A user deletes the group with all its instances.
    pub(crate) fn delete_by_force(&mut self, now: Timestamp) {
        self.group = None;
        self.record(now);
    }

    pub(crate) fn create_group(&mut self, new: &NewGroup, now: Timestamp) -> Result<(), ErrorCode> {
        if self.group.is_some() {
            return Err("AlreadyExists");
        }
        self.generation += 1;
        let NewGroup {
            name,
            min,
            max,
            desired,
            template,
            mix,
            settings,
            traffic_sources,
            drain_hook,
            hooks,
            tags,
        } = new.clone();
        (self.hook, self.other_hooks) = (drain_hook, hooks);
        self.notifications.clear();
        self.warm.clear();
        self.group = Some(Group {
            arn: format!("arn:aws:autoscaling:eu-1:1:autoScalingGroup:{}:{name}", self.generation),
            name,
            sizes: Sizes { min, max, desired: desired.unwrap_or(min) },
            template: Some((template.0, TemplateChoice::Version(template.1))),
            mix,
            settings,
            traffic_sources,
            suspended: BTreeMap::new(),
            tags,
            status: GroupStatus::Active,
            deletion_protection: DeletionProtection::None,
            warm_pool: None,
            instances: Vec::new(),
        });
        self.record(now);
        Ok(())
    }

    pub(crate) fn update_group(&mut self, change: &GroupChange, now: Timestamp) -> Result<(), ErrorCode> {
        let GroupChange { min, max, desired, template, settings } = change;
        if template.is_some() && self.refuses_templates {
            return Err("ValidationError: an instance refresh with a desired configuration exists");
        }
        let group = self.group.as_mut().ok_or("NotFound")?;
        let min = min.unwrap_or(group.sizes.min);
        let max = max.unwrap_or(group.sizes.max);
        if min > max {
            return Err("ValidationError: min above max");
        }
        if desired.is_some_and(|desired| desired > max || desired < min) {
            return Err("ValidationError: desired out of bounds");
        }
        let desired = desired.unwrap_or(group.sizes.desired).clamp(min, max);
        group.sizes = Sizes { min, max, desired };
        if let Some((id, version, mix)) = template {
            group.template = Some((id.clone(), TemplateChoice::Version(*version)));
            group.mix.clone_from(mix);
        }
        settings.apply_to(&mut group.settings);
        self.record(now);
        Ok(())
    }

    pub(crate) fn terminate(
        &mut self,
        id: &InstanceId,
        decrement: Decrement,
        now: Timestamp,
    ) -> Result<(), ErrorCode> {
        let group = self.group.as_mut().ok_or("NotFound")?;
        let Sizes { min, desired, .. } = group.sizes;
        let instance = group
            .instances
            .iter_mut()
            .find(|instance| instance.id == *id)
            .ok_or("ValidationError: not found")?;
        if instance.lifecycle.is_leaving() {
            return Ok(());
        }
        // An instance with an activity in progress cannot be terminated.
        if matches!(instance.lifecycle, LifecycleState::Pending) {
            return Err("ScalingActivityInProgress");
        }
        if decrement == Decrement::Shrink {
            if desired <= min {
                return Err("ValidationError: desired is at min");
            }
            group.sizes.desired = desired - 1;
        }
        instance.lifecycle = leaving(self.hook);
        self.record(now);
        Ok(())
    }

    /// AWS ends an instance for a reason of its own and, since it has the right to, launches another.
    pub(crate) fn terminate_by_aws(&mut self, id: &InstanceId, now: Timestamp) {
        let next = leaving(self.hook);
        if let Some(instance) = self.instance_mut(id).filter(|instance| !instance.lifecycle.is_leaving()) {
            instance.lifecycle = next;
        }
        self.record(now);
    }

    pub(crate) fn complete_hook(&mut self, id: &InstanceId, now: Timestamp) -> Result<(), ErrorCode> {
        let others = self.other_hooks.values().any(|hook| hook.transition == Transition::Terminating);
        let is_held = self.held.contains(id);
        if self.leaving_warm_pool.remove(id) {
            self.left_warm_pool.insert(id.clone());
            return Ok(());
        }
        // It ended with its warm pool; the controller takes this for done.
        let Some(instance) = self.instance_mut(id) else { return Ok(()) };
        if instance.lifecycle != LifecycleState::TerminatingWait {
            return Err("ValidationError: no active lifecycle action");
        }
        if is_held {
            // The controller takes this for done.
            return Ok(());
        }
        if others {
            self.held.insert(id.clone());
            return Ok(());
        }
        instance.lifecycle = LifecycleState::Terminating;
        self.record(now);
        Ok(())
    }

    /// The other hooks of an instance are completed.
    pub(crate) fn complete_others(&mut self, id: &InstanceId, now: Timestamp) {
        assert!(self.held.remove(id), "{id} waits for our hook");
        if let Some(instance) = self.instance_mut(id) {
            instance.lifecycle = LifecycleState::Terminating;
        }
        self.record(now);
    }

    /// Deletes our hook: what waits for it continues.
    pub(crate) fn delete_hook(&mut self, now: Timestamp) -> Result<(), ErrorCode> {
        self.hook.take().ok_or("ValidationError: no such hook")?;
        for instance in self.group.iter_mut().flat_map(|group| &mut group.instances) {
            if instance.lifecycle == LifecycleState::TerminatingWait {
                instance.lifecycle = LifecycleState::Terminating;
            }
        }
        self.writes += 1;
        self.record(now);
        Ok(())
    }

    pub(crate) fn record_heartbeat(&self, id: &InstanceId) -> Result<(), ErrorCode> {
        let waits = self.lifecycle(id) == Some(LifecycleState::TerminatingWait);
        if waits { Ok(()) } else { Err("ValidationError: no active lifecycle action") }
    }

    pub(crate) fn protect(&mut self, ids: &[InstanceId], now: Timestamp) -> Result<(), ErrorCode> {
        for id in ids {
            let instance = self.instance_mut(id).ok_or("ValidationError: not found")?;
            if instance.lifecycle != LifecycleState::InService {
                return Err("ValidationError: not in service");
            }
            instance.protection = Protection::Protected;
        }
        self.record(now);
        Ok(())
    }

    pub(crate) fn delete_group(&mut self, now: Timestamp) -> Result<(), ErrorCode> {
        let group = self.group.as_mut().ok_or("NotFound")?;
        if !group.instances.is_empty() || group.warm_pool.is_some() {
            return Err("ResourceInUse");
        }
        group.status = GroupStatus::Deleting;
        self.record(now);
        Ok(())
    }

    pub(crate) fn tag_group(
        &mut self,
        tags: &BTreeMap<String, String>,
        now: Timestamp,
    ) -> Result<(), ErrorCode> {
        self.group.as_mut().ok_or("NotFound")?.tags.extend(tags.clone());
        self.record(now);
        Ok(())
    }

    pub(crate) fn suspend(&mut self, processes: &BTreeSet<Process>, now: Timestamp) -> Result<(), ErrorCode> {
        self.group
            .as_mut()
            .ok_or("NotFound")?
            .suspended
            .extend(processes.iter().map(|it| (*it, "User suspended".to_owned())));
        self.record(now);
        Ok(())
    }

    pub(crate) fn resume(&mut self, processes: &BTreeSet<Process>, now: Timestamp) -> Result<(), ErrorCode> {
        let group = self.group.as_mut().ok_or("NotFound")?;
        group.suspended.retain(|process, _| !processes.contains(process));
        self.record(now);
        Ok(())
    }

    pub(crate) fn attach(
        &mut self,
        sources: &BTreeSet<TrafficSource>,
        now: Timestamp,
    ) -> Result<(), ErrorCode> {
        self.group.as_mut().ok_or("NotFound")?.traffic_sources.extend(sources.iter().cloned());
        self.record(now);
        Ok(())
    }

    pub(crate) fn detach(
        &mut self,
        sources: &BTreeSet<TrafficSource>,
        now: Timestamp,
    ) -> Result<(), ErrorCode> {
        let group = self.group.as_mut().ok_or("NotFound")?;
        group.traffic_sources.retain(|source| !sources.contains(source));
        self.record(now);
        Ok(())
    }

    /// What a read of the desired target groups returns.
    pub(crate) fn target_health(
        &self,
        desired: &Desired,
        now: Timestamp,
    ) -> LastRead<BTreeMap<TargetGroupArn, Targets>> {
        if !desired.asks_for_target_health() {
            return LastRead::Unknown;
        }
        if let Some(failure) = &self.targets_fail {
            return failure.clone();
        }
        let of = |arn: &TargetGroupArn| {
            let source = TrafficSource::TargetGroup(arn.clone());
            let group = self.group.iter().filter(|group| group.traffic_sources.contains(&source));
            let members = group.flat_map(|group| &group.instances);
            let serving = members.filter(|it| it.lifecycle == LifecycleState::InService);
            let health = |id: &InstanceId| self.ailing.get(id).copied().unwrap_or(TargetState::Healthy);
            serving.map(|it| (it.id.clone(), TargetHealth::new(health(&it.id)))).collect()
        };
        let groups = desired.group.target_groups.iter().flatten();
        LastRead::At { at: now, seen: groups.map(|arn| (arn.clone(), of(arn))).collect() }
    }

    pub(crate) fn create_template(&mut self, tags: &BTreeMap<String, String>) -> Result<(), ErrorCode> {
        if self.template.is_some() {
            return Err("AlreadyExists");
        }
        self.template = Some(LaunchTemplate {
            id: LaunchTemplateId::new("lt-1"),
            name: NAME.to_owned(),
            tags: tags.clone(),
            versions: Vec::new(),
        });
        Ok(())
    }

    pub(crate) fn add_version(&mut self, hashes: &TemplateHashes, now: Timestamp) -> Result<(), ErrorCode> {
        let template = self.template.as_mut().ok_or("NotFound")?;
        let last = template.versions.last().map_or(0, |record| record.version.0);
        let created = AwsTime::from_millis(now.0);
        let record = TemplateRecord::new(TemplateVersion(last + 1), Some(hashes.clone()), last == 0, created);
        template.versions.push(record);
        Ok(())
    }
}

/// A group of the name with another owner's tags.
pub(crate) fn foreign_group(now: Timestamp, cloud: &mut Cloud, namespace: &str) {
    cloud.group = Some(Group {
        name: GroupName::new(NAME),
        arn: "arn:other".to_owned(),
        sizes: Sizes { min: 1, max: 4, desired: 1 },
        template: None,
        mix: None,
        settings: GroupSettings {
            new_instances: Protection::Unprotected,
            ..GroupSettings::in_subnets(BTreeSet::new())
        },
        traffic_sources: BTreeSet::new(),
        suspended: BTreeMap::new(),
        tags: BTreeMap::from([
            (TAG_CLUSTER.to_owned(), format!("{namespace}/prod")),
            (TAG_POOL.to_owned(), "workers".to_owned()),
        ]),
        status: GroupStatus::Active,
        deletion_protection: DeletionProtection::None,
        warm_pool: None,
        instances: Vec::new(),
    });
    cloud.record(now);
}

/// A group of the name that another tool created and the owner of the account lets the pool adopt: with instances of a launch template
/// of its own, none of which is protected.
pub(crate) fn unowned_group(now: Timestamp, cloud: &mut Cloud, instances: u32) {
    foreign_group(now, cloud, "other");
    let group = cloud.group.as_mut().unwrap();
    let template = LaunchTemplateId::new("lt-others");
    "arn:unowned".clone_into(&mut group.arn);
    group.sizes = Sizes { min: 1, max: instances + 2, desired: instances };
    group.template = Some((template.clone(), TemplateChoice::Floating("$Latest".to_owned())));
    group.tags = BTreeMap::from([(TAG_ADOPTABLE.to_owned(), "ns/workers".to_owned())]);
    group.instances = (1..=instances)
        .map(|number| Instance {
            id: InstanceId::new(format!("i-{number:08x}")),
            zone: Zone::new("eu-1a"),
            instance_type: InstanceType::new("m5.large"),
            lifecycle: LifecycleState::InService,
            health: Health::Healthy,
            protection: Protection::Unprotected,
            template: Some((template.clone(), TemplateVersion(7))),
        })
        .collect();
    cloud.launched = instances;
    cloud.record(now);
}

/// What a group launches from.
fn version_of(group: &Group) -> Version {
    group.template.as_ref().and_then(|(id, choice)| match choice {
        TemplateChoice::Version(version) => Some((id.clone(), *version)),
        TemplateChoice::Floating(_) => None,
    })
}

/// Whether instances of a version join the cluster as soon as they run.
fn joins(template: Option<&LaunchTemplate>, version: Option<&(LaunchTemplateId, TemplateVersion)>) -> bool {
    let Some((template, (id, version))) = template.zip(version) else { return false };
    let record = template.versions.iter().find(|record| template.id == *id && record.version == *version);
    record.is_some_and(|record| record.data_hash == Some(SpecHash::new(JOINING)))
}

/// How many instances a warm pool gets (Auto Scaling API Reference, PutWarmPool).
fn warm_size(group: &Group, settings: WarmPoolSettings) -> usize {
    let prepared = settings.max_prepared.unwrap_or(group.sizes.max);
    let size = prepared.saturating_sub(group.sizes.desired).max(settings.min_size);
    usize::try_from(size).unwrap()
}

/// Where an instance goes that is ended.
fn leaving(hook: Option<HookConfig>) -> LifecycleState {
    if hook.is_some() { LifecycleState::TerminatingWait } else { LifecycleState::Terminating }
}

fn capacity(group: &Group) -> u32 {
    let capacity = group.instances.iter().filter(|instance| instance.lifecycle.is_capacity());
    u32::try_from(capacity.count()).unwrap()
}
