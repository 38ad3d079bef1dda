//! Carries actions out, one by one, and returns the result of each.
//!
//! Nothing is decided here: an action is complete. If an action requires something of the live objects (a
//! Machine is still marked, the replicas were not raised meanwhile), it is read again just before; if that
//! is no longer true, the action is refused and the next pass plans again.

use super::cordon::{self, Cordon};
use super::objects;
use crate::client::Workloads;
use crate::pool::foo_machine_metadata;
use crate::pool::inputs::observe;
use crate::pool::output::publish;
use crate::pool::pass::ActionFailure;
use crate::pool::recently_created;
use foo_api::capi::{Cluster, Machine, MachinePool};
use foo_api::shared::unsigned;
use foo_api::{FooMachine, FooMachinePool, names};
use foo_cloud::observer::Observer;
use foo_cloud::{Cloud, CloudError, ErrorKind, Made, VersionCopy};
use foo_model::EventReason;
use foo_model::hook::{DRAIN_HOOK, HookConfig, Hooks};
use foo_model::names::{
    ADOPT_FROM_ANNOTATION, ADOPTED_ANNOTATION, APPLIED_ANNOTATION, QUARANTINE_ANNOTATION,
};
use foo_model::{
    DeletionTimeouts, GroupName, HookName, InstanceId, LaunchTemplate, LaunchTemplateId, MachineName,
    Process, SpecHash, TemplateVersion, Timestamp, Uid, Zone,
};
use foo_planner::action::{
    GroupAction, HookAction, InstanceAction, MachineAction, NodeAction, PoolAction, ReadAction,
    TemplateAction,
};
use foo_planner::desired::Identity;
use foo_planner::report::{Event, EventTrigger};
use foo_planner::{Action, Precondition};
use kube::api::{DeleteParams, Patch, PatchParams, PostParams, Preconditions};
use kube::core::PartialObjectMeta;
use kube::{Api, Client, Resource, ResourceExt};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Arc;

/// What carrying out an action needs.
pub(in crate::pool) struct Executor<'a> {
    /// Kubernetes.
    pub(in crate::pool) client: &'a Client,
    /// AWS.
    pub(in crate::pool) cloud: &'a dyn Cloud,
    /// The shared observer, whose views become void after a change.
    pub(in crate::pool) observer: &'a Observer,
    /// The account of the calls, if this plan creates the first resource and the account is known.
    pub(in crate::pool) account: Option<&'a str>,
    /// The pool of the plan.
    pub(in crate::pool) pool: &'a FooMachinePool,
    /// Its names.
    pub(in crate::pool) identity: &'a Identity,
    /// Name of its MachinePool.
    pub(in crate::pool) machine_pool: Option<&'a str>,
    /// Its Cluster.
    pub(in crate::pool) cluster: Option<&'a Cluster>,
    /// Its Machines.
    pub(in crate::pool) machines: &'a [Arc<Machine>],
    /// For clients of workload clusters.
    pub(in crate::pool) workloads: &'a Workloads,
}

/// The result of an action.
pub(in crate::pool) enum Done {
    /// It was carried out.
    Carried,
    /// The launch template was created, with this first version.
    TemplateMade(Made<(LaunchTemplateId, TemplateVersion)>),
    /// A version of the launch template was created.
    VersionMade(Made<TemplateVersion>),
    /// AWS cannot do it yet, because another operation on the instance or the group is in progress; nothing was done.
    NotYet,
    /// AWS would not terminate it together with others, or terminated only some of them; the next observation
    /// shows which.
    NotTogether,
    /// The launch template was read.
    Template(Option<LaunchTemplate>),
    /// Our lifecycle hook was created or deleted.
    Hook(Option<HookConfig>),
    /// All lifecycle hooks were read.
    Hooks(Hooks),
    /// A precondition is no longer met; nothing was done.
    PreconditionFailed(&'static str),
    /// Some Nodes were cordoned, others perhaps not.
    Cordoned(Vec<(Cordon, cordon::CordonResult)>),
}

impl Done {
    /// EC2's warning about what it created, as an event.
    pub(in crate::pool) fn warning(&self) -> Option<Event> {
        let warning = match self {
            Self::TemplateMade(made) => made.warning.as_ref()?,
            Self::VersionMade(made) => made.warning.as_ref()?,
            _ => return None,
        };
        Some(Event {
            reason: EventReason::LaunchTemplateWarning,
            message: format!("EC2 created the launch template and warns: {warning}"),
            about: EventTrigger::Nothing,
        })
    }
}

impl Executor<'_> {
    /// Carries out one action.
    pub(in crate::pool) async fn carry_out(
        &self,
        action: &Action,
        now: Timestamp,
    ) -> Result<Done, ActionFailure> {
        match action {
            Action::Pool(action) => self.write_pool(action).await,
            Action::Read(action) => Ok(self.read(action, now).await?),
            Action::Object(action) => {
                objects::change(self.cloud, self.identity, action).await?;
                Ok(Done::Carried)
            }
            Action::Template(action) => Ok(self.change_template(action, now).await?),
            Action::Group(action) => Ok(self.change_group(action).await?),
            Action::Instance(action) => self.change_instances(action).await,
            Action::Hook(action) => self.serve_hook(action).await,
            Action::Machine(action) => self.write_machine(action).await,
            Action::Node(NodeAction::CordonNodes { nodes }) => Ok(Done::Cordoned(self.cordon(nodes).await)),
        }
    }

    async fn write_pool(&self, action: &PoolAction) -> Result<Done, ActionFailure> {
        match action {
            PoolAction::AddFinalizer => self.set_finalizer(true).await?,
            PoolAction::RemoveFinalizer => self.set_finalizer(false).await?,
            PoolAction::BlockMove => self.annotate(names::BLOCK_MOVE_ANNOTATION, Some("")).await?,
            PoolAction::UnblockMove => self.annotate(names::BLOCK_MOVE_ANNOTATION, None).await?,
            PoolAction::ForgetAdoption => self.annotate(ADOPT_FROM_ANNOTATION, None).await?,
            PoolAction::RecordAdoption => self.annotate(ADOPTED_ANNOTATION, Some("true")).await?,
            PoolAction::ForgetAdopted => self.annotate(ADOPTED_ANNOTATION, None).await?,
            PoolAction::RecordArn { arn } => self.record_arn(arn).await?,
            PoolAction::Quarantine { records } => {
                self.annotate(QUARANTINE_ANNOTATION, observe::quarantine_text(records).as_deref()).await?;
            }
            PoolAction::RecordApplied { applied } => {
                self.annotate(APPLIED_ANNOTATION, observe::applied_text(applied).as_deref()).await?;
            }
            PoolAction::PublishReplicas { replicas } => self.publish_replicas(*replicas).await?,
        }
        Ok(Done::Carried)
    }

    async fn read(&self, action: &ReadAction, now: Timestamp) -> Result<Done, CloudError> {
        match action {
            ReadAction::DescribeLaunchTemplate => {
                Ok(Done::Template(self.cloud.describe_template(&self.identity.template).await?))
            }
            ReadAction::DescribeLifecycleHook { group } => {
                Ok(Done::Hooks(self.cloud.describe_hooks(group).await?))
            }
            ReadAction::DescribeInstances { ids } => {
                self.observer.request_details(&self.identity.group, ids, Some(now));
                Ok(Done::Carried)
            }
        }
    }

    async fn change_template(&self, action: &TemplateAction, now: Timestamp) -> Result<Done, CloudError> {
        match action {
            TemplateAction::CreateTemplate { name, content, hashes, tags } => {
                let text = hashes.describe();
                let token = self.token((name, &text, tags, &content.tags), now);
                let made = self.cloud.create_template(name, content, &text, tags, &token).await?;
                return Ok(Done::TemplateMade(made));
            }
            TemplateAction::CreateTemplateVersion { id, content, hashes } => {
                let text = hashes.describe();
                let token = self.token((id.as_str(), &text, &content.tags), now);
                let made = self.cloud.create_template_version(id, content, &text, &token).await?;
                return Ok(Done::VersionMade(made));
            }
            TemplateAction::CopyTemplateVersion { id, from, user_data, tags, hashes } => {
                let copy = VersionCopy { from: *from, user_data, tags };
                let text = hashes.describe();
                let token = self.token((id.as_str(), from.0, &text, tags), now);
                let made = self.cloud.copy_template_version(id, copy, &text, &token).await?;
                return Ok(Done::VersionMade(made));
            }
            TemplateAction::DeleteTemplateVersions { id, versions } => {
                self.cloud.delete_template_versions(id, versions).await?;
            }
            TemplateAction::DeleteTemplate { id } => self.cloud.delete_template(id).await?,
        }
        Ok(Done::Carried)
    }

    async fn change_group(&self, action: &GroupAction) -> Result<Done, CloudError> {
        match action {
            GroupAction::CreateGroup(group) => self.cloud.create_group(group).await?,
            GroupAction::UpdateGroup { name, change, .. } => self.cloud.update_group(name, change).await?,
            GroupAction::AdoptGroup { name, tags, desired } => {
                return self.adopt_group(name, tags, *desired).await;
            }
            GroupAction::TagGroup { name, tags } => self.cloud.tag_group(name, tags).await?,
            GroupAction::SuspendProcesses { name, processes } => {
                let processes: Vec<Process> = processes.iter().copied().collect();
                self.cloud.suspend_processes(name, &processes).await?;
            }
            GroupAction::ResumeProcesses { name, processes } => {
                let processes: Vec<Process> = processes.iter().copied().collect();
                self.cloud.resume_processes(name, &processes).await?;
            }
            GroupAction::AttachTrafficSources { name, sources } => {
                self.cloud.attach_traffic_sources(name, sources).await?;
            }
            GroupAction::DetachTrafficSources { name, sources } => {
                self.cloud.detach_traffic_sources(name, sources).await?;
            }
            GroupAction::PutNotifications { name, topic, types } => {
                self.cloud.put_notifications(name, topic, types).await?;
            }
            GroupAction::DeleteNotifications { name, topic } => {
                self.cloud.delete_notifications(name, topic).await?;
            }
            GroupAction::PutWarmPool { name, settings } => self.cloud.put_warm_pool(name, settings).await?,
            GroupAction::DeleteWarmPool { name, .. } => return self.delete_warm_pool(name).await,
            GroupAction::DeleteGroup { name } => self.cloud.delete_group(name).await?,
        }
        Ok(Done::Carried)
    }

    /// Another management cluster may have adopted the group since it was observed, and whoever scaled it may have done so.
    async fn adopt_group(
        &self,
        name: &GroupName,
        tags: &BTreeMap<String, String>,
        desired: u32,
    ) -> Result<Done, CloudError> {
        let group = self.cloud.describe_group(name).await?;
        if !group.is_some_and(|group| self.identity.may_adopt(&group.tags) && group.sizes.desired == desired)
        {
            return Ok(Done::PreconditionFailed("the group has changed since it was observed"));
        }
        self.cloud.tag_group(name, tags).await?;
        Ok(Done::Carried)
    }

    async fn delete_warm_pool(&self, group: &GroupName) -> Result<Done, CloudError> {
        match self.cloud.delete_warm_pool(group).await {
            // Its instances are moving (Auto Scaling API Reference, DeleteWarmPool: ScalingActivityInProgress).
            Err(error) if error.kind == ErrorKind::InUse => Ok(Done::NotYet),
            // It does not exist, or AWS refuses for another reason: the launch template waits for the deletion.
            Err(error) if error.kind == ErrorKind::Invalid => {
                let warm_pool = self.cloud.describe_group(group).await?.and_then(|group| group.warm_pool);
                let is_there = warm_pool.is_some_and(|pool| !pool.deleting);
                if is_there { Err(error) } else { Ok(Done::Carried) }
            }
            other => other.map(|()| Done::Carried),
        }
    }

    async fn change_instances(&self, action: &InstanceAction) -> Result<Done, ActionFailure> {
        match action {
            InstanceAction::ProtectInstances { name, ids } => self.cloud.protect_instances(name, ids).await?,
            InstanceAction::TerminateInstance { id, decrement, .. } => {
                if self.has_living_machine(id).await? {
                    return Ok(Done::PreconditionFailed("its Machine is not being deleted"));
                }
                match self.cloud.terminate_instance(id, *decrement).await {
                    // Launching, or entering standby (Auto Scaling API Reference, ScalingActivityInProgress).
                    Err(error) if error.kind == ErrorKind::InUse => return Ok(Done::NotYet),
                    other => other?,
                }
            }
        }
        Ok(Done::Carried)
    }

    async fn delete_hook(&self, group: &GroupName, name: &HookName) -> Result<(), CloudError> {
        match self.cloud.delete_hook(group, name).await {
            // It does not exist, or AWS refuses for another reason: then the record of it stays.
            Err(error) if error.kind == ErrorKind::Invalid => {
                if self.cloud.describe_hooks(group).await?.has(name) { Err(error) } else { Ok(()) }
            }
            other => other,
        }
    }

    async fn serve_hook(&self, action: &HookAction) -> Result<Done, ActionFailure> {
        match action {
            HookAction::PutLifecycleHook { group, terms } => {
                self.cloud.put_hook(group, &DRAIN_HOOK.into(), &(*terms).into(), None).await?;
                return Ok(Done::Hook(Some(*terms)));
            }
            HookAction::DeleteLifecycleHook { group } => {
                self.delete_hook(group, &DRAIN_HOOK.into()).await?;
                return Ok(Done::Hook(None));
            }
            HookAction::PutOtherHook { group, name, hook, before } => {
                self.cloud.put_hook(group, name, hook, before.as_ref()).await?;
            }
            HookAction::DeleteOtherHook { group, name } => self.delete_hook(group, name).await?,
            HookAction::RecordHeartbeat { group, id } => {
                still_waited(self.cloud.record_heartbeat(group, id).await)?;
            }
            HookAction::CompleteLifecycleAction { group, id, .. } => {
                if self.has_living_machine(id).await? {
                    return Ok(Done::PreconditionFailed("its Machine is not being deleted"));
                }
                still_waited(self.cloud.complete_drain_hook(group, id).await)?;
            }
        }
        Ok(Done::Carried)
    }

    async fn write_machine(&self, action: &MachineAction) -> Result<Done, ActionFailure> {
        match action {
            MachineAction::CreateFooMachine { name, instance, zone, spec_hash } => {
                self.create_foo_machine(name, instance, zone, spec_hash.as_ref()).await?;
            }
            MachineAction::DeleteFooMachine { name, uid, .. } => {
                return self.delete_foo_machine(name, uid).await;
            }
            MachineAction::ReleaseFooMachine { name, uid } => self.release_foo_machine(name, uid).await?,
            MachineAction::DeleteMachine { name, uid, only_if, .. } => {
                return self.delete_machine(name, uid, *only_if).await;
            }
            MachineAction::ExcludeFromDraining { name, uid } => self.exclude_from_draining(name, uid).await?,
            MachineAction::PauseMachine { name, uid } => {
                self.pause(name, uid, names::PAUSED_FOR_RETENTION).await?;
            }
            MachineAction::ResumeMachine { name, uid } => return self.resume_machine(name, uid).await,
            MachineAction::RetainInstance { name, foo_machine, machine } => {
                return self.retain_instance(name, foo_machine.as_ref(), machine.as_ref()).await;
            }
            MachineAction::SetMachineTimeouts { name, uid, timeouts } => {
                self.set_timeouts(name, uid, *timeouts).await?;
            }
        }
        Ok(Done::Carried)
    }

    fn token(&self, what: impl Hash, now: Timestamp) -> String {
        recently_created::token(&self.pool.uid().unwrap_or_default(), what, now)
    }

    async fn set_finalizer(&self, wanted: bool) -> Result<(), ActionFailure> {
        let pools: Api<FooMachinePool> = Api::namespaced(self.client.clone(), &self.identity.namespace);
        let mut finalizers: Vec<String> = self.pool.finalizers().to_vec();
        finalizers.retain(|finalizer| finalizer != names::POOL_FINALIZER);
        if wanted {
            finalizers.push(names::POOL_FINALIZER.to_owned());
        }
        // A merge patch replaces the whole list; with the resourceVersion it never removes another
        // controller's finalizer.
        let mut patch = json!({"metadata": {
            "resourceVersion": self.pool.resource_version(), "uid": self.pool.uid(), "finalizers": finalizers
        }});
        if wanted && let Some(metadata) = patch.get_mut("metadata").and_then(Value::as_object_mut) {
            let mut annotations = json!({ names::GROUP_NAME_ANNOTATION: self.identity.group.as_str() });
            if let (Some(account), Some(annotations)) = (self.account, annotations.as_object_mut()) {
                annotations.insert(names::ACCOUNT_ANNOTATION.to_owned(), json!(account));
            }
            metadata.insert("annotations".to_owned(), annotations);
        }
        match pools.patch(&self.identity.pool, &PatchParams::default(), &Patch::Merge(patch)).await {
            Err(error) if !wanted && is_not_found(&error) => Ok(()),
            other => Ok(other.map(drop)?),
        }
    }

    /// Sets or removes an annotation of the pool.
    async fn annotate(&self, annotation: &str, value: Option<&str>) -> Result<(), ActionFailure> {
        let pools: Api<FooMachinePool> = Api::namespaced(self.client.clone(), &self.identity.namespace);
        let patch = json!({"metadata": {
            "uid": self.pool.uid(), "annotations": {annotation: value}
        }});
        pools.patch(&self.identity.pool, &PatchParams::default(), &Patch::Merge(patch)).await?;
        Ok(())
    }

    async fn record_arn(&self, arn: &str) -> Result<(), ActionFailure> {
        let pools: Api<FooMachinePool> = Api::namespaced(self.client.clone(), &self.identity.namespace);
        // Together with the list: an apply without one of the manager's fields would remove it.
        let list = self.pool.spec.provider_id_list.clone().unwrap_or_default();
        let apply = publish::spec_apply(self.pool, Some(arn), &list);
        pools
            .patch(
                &self.identity.pool,
                &PatchParams::apply(names::managers::POOL_SPEC).force(),
                &Patch::Apply(apply),
            )
            .await?;
        Ok(())
    }

    async fn create_foo_machine(
        &self,
        name: &MachineName,
        instance: &InstanceId,
        zone: &Zone,
        spec_hash: Option<&SpecHash>,
    ) -> Result<(), ActionFailure> {
        let machines: Api<FooMachine> = Api::namespaced(self.client.clone(), &self.identity.namespace);
        let mut machine = FooMachine::new(
            name.as_str(),
            foo_api::FooMachineSpec {
                provider_id: instance.provider_id(zone),
                instance_id: instance.as_str().to_owned(),
            },
        );
        let machine_pool = self.machine_pool.unwrap_or(&self.identity.pool);
        machine.metadata.labels =
            Some(foo_machine_metadata::labels(self.pool, &self.identity.cluster, machine_pool));
        if let Some(hash) = spec_hash {
            let hash = (names::SPEC_HASH_ANNOTATION.to_owned(), hash.as_str().to_owned());
            machine.metadata.annotations = Some([hash].into());
        }
        machine.metadata.finalizers = Some(vec![names::MACHINE_FINALIZER.to_owned()]);
        machine.metadata.owner_references = Some(foo_machine_metadata::owners(self.pool, self.cluster));
        match machines.create(&PostParams::default(), &machine).await {
            // The name contains the instance id, so the FooMachine is this pool's; the cache is outdated.
            Err(kube::Error::Api(status)) if status.code == 409 => Ok(()),
            other => Ok(other.map(drop)?),
        }
    }

    /// Whether the instance has a Machine that is not being deleted, read live: the cache may have lost it.
    pub(in crate::pool) async fn has_living_machine(&self, id: &InstanceId) -> Result<bool, ActionFailure> {
        let name = foo_model::names::machine_name(&self.identity.pool, id);
        Ok(self
            .live_machine(&name)
            .await?
            .is_some_and(|machine| machine.metadata.deletion_timestamp.is_none()))
    }

    /// A Machine's metadata, read live.
    async fn live_machine(
        &self,
        name: &MachineName,
    ) -> Result<Option<PartialObjectMeta<Machine>>, ActionFailure> {
        let machines: Api<Machine> = Api::namespaced(self.client.clone(), &self.identity.namespace);
        Ok(machines.get_metadata_opt(name.as_str()).await?)
    }

    async fn delete_foo_machine(&self, name: &MachineName, uid: &Uid) -> Result<Done, ActionFailure> {
        if self.live_machine(name).await?.is_some() {
            return Ok(Done::PreconditionFailed("it has a Machine after all"));
        }
        let foo_machines: Api<FooMachine> = Api::namespaced(self.client.clone(), &self.identity.namespace);
        ignore_not_found(foo_machines.delete(name.as_str(), &with_uid(uid, None)).await.map(drop))?;
        Ok(Done::Carried)
    }

    async fn release_foo_machine(&self, name: &MachineName, uid: &Uid) -> Result<(), ActionFailure> {
        let machines: Api<FooMachine> = Api::namespaced(self.client.clone(), &self.identity.namespace);
        let Some(live) = machines.get_metadata_opt(name.as_str()).await? else { return Ok(()) };
        if live.uid().as_deref() != Some(uid.as_str()) {
            return Ok(());
        }
        without_finalizer(&machines, &live, names::MACHINE_FINALIZER).await
    }

    /// Deletes a Machine after reading it again: the autoscaler marks a Machine and lowers the desired
    /// replicas in two writes, and removes the mark if the second fails. The deletion has the read version as
    /// precondition.
    async fn delete_machine(
        &self,
        name: &MachineName,
        uid: &Uid,
        only_if: Precondition,
    ) -> Result<Done, ActionFailure> {
        let machines: Api<Machine> = Api::namespaced(self.client.clone(), &self.identity.namespace);
        let Some(live) = machines.get_opt(name.as_str()).await? else { return Ok(Done::Carried) };
        if live.uid().as_deref() != Some(uid.as_str()) || live.metadata.deletion_timestamp.is_some() {
            return Ok(Done::Carried);
        }
        let bound = match only_if {
            Precondition::SameUid => None,
            Precondition::StillMarkedForDeletion { replicas: target } => {
                if !live.annotations().contains_key(names::DELETE_MACHINE_ANNOTATION) {
                    return Ok(Done::PreconditionFailed("its mark for deletion was removed"));
                }
                if let Some(why) = self.target_exceeds(target).await? {
                    return Ok(Done::PreconditionFailed(why));
                }
                live.resource_version()
            }
            Precondition::ReplicasAtMost { replicas: target } => {
                if let Some(why) = self.target_exceeds(target).await? {
                    return Ok(Done::PreconditionFailed(why));
                }
                None
            }
        };
        ignore_not_found(machines.delete(name.as_str(), &with_uid(uid, bound)).await.map(drop))?;
        Ok(Done::Carried)
    }

    /// Whether MachinePool.spec.replicas, read live, requests more than `target`, and the reason to refuse
    /// then. Without a MachinePool no replicas are desired.
    async fn target_exceeds(&self, target: u32) -> Result<Option<&'static str>, ActionFailure> {
        let Some(name) = self.machine_pool else { return Ok(None) };
        let pools: Api<MachinePool> = Api::namespaced(self.client.clone(), &self.identity.namespace);
        let Some(live) = pools.get_opt(name).await? else { return Ok(None) };
        Ok(match live.spec.replicas.map(unsigned) {
            None => Some("the MachinePool has no spec.replicas"),
            Some(live) if live > target => Some("replicas were raised meanwhile"),
            Some(_) => None,
        })
    }

    async fn cordon(&self, nodes: &BTreeMap<InstanceId, MachineName>) -> Vec<(Cordon, cordon::CordonResult)> {
        let node_of = |name: &MachineName| {
            let is_it = |machine: &&Arc<Machine>| machine.metadata.name.as_deref() == Some(name.as_str());
            let machine = self.machines.iter().find(is_it)?;
            machine.status.as_ref()?.node_ref.as_ref().map(|node| node.name.clone())
        };
        let cordons = nodes.iter().map(|(instance, machine)| Cordon {
            instance: instance.clone(),
            machine: machine.clone(),
            node: node_of(machine),
        });
        let cluster = (self.identity.namespace.as_str(), self.identity.cluster.as_str());
        cordon::cordon(self.client, self.workloads, cluster, cordons.collect()).await
    }

    /// Sets annotations of a Machine, all that the field manager has on it.
    async fn annotate_machine(
        &self,
        name: &MachineName,
        uid: &Uid,
        manager: &str,
        annotations: Value,
    ) -> Result<(), ActionFailure> {
        let apply = json!({
            "apiVersion": Machine::api_version(&()), "kind": Machine::kind(&()),
            "metadata": {"name": name.as_str(), "uid": uid.as_str(), "annotations": annotations}
        });
        self.apply_to_machine(name, manager, apply).await
    }

    async fn exclude_from_draining(&self, name: &MachineName, uid: &Uid) -> Result<(), ActionFailure> {
        let excluded = json!({names::EXCLUDE_DRAINING_ANNOTATION: "the instance is terminated"});
        self.annotate_machine(name, uid, names::managers::MACHINE_DRAIN, excluded).await
    }

    /// Sets the annotation that pauses a Machine to one of the provider's values.
    async fn pause(&self, name: &MachineName, uid: &Uid, value: &str) -> Result<(), ActionFailure> {
        let paused = json!({names::PAUSED_ANNOTATION: value});
        self.annotate_machine(name, uid, names::managers::MACHINE_PAUSE, paused).await
    }

    /// Removes a Machine and then its FooMachine without effect on Node and instance. The Machine is marked, deleted, and only then
    /// loses Cluster API's finalizer: Cluster API leaves a paused Machine alone, but adds its finalizer again to one that is not
    /// being deleted.
    async fn retain_instance(
        &self,
        name: &MachineName,
        foo_machine: Option<&Uid>,
        machine: Option<&Uid>,
    ) -> Result<Done, ActionFailure> {
        let live = self.live_machine(name).await?;
        if live.as_ref().and_then(ResourceExt::uid).as_deref() != machine.map(Uid::as_str) {
            return Ok(Done::PreconditionFailed("another Machine has its name"));
        }
        if let (Some(live), Some(uid)) = (live, machine) {
            let reason = live.annotations().get(names::PAUSED_ANNOTATION).map(String::as_str);
            let is_deleting = live.metadata.deletion_timestamp.is_some();
            match reason {
                Some(names::PAUSED_FOR_REMOVAL) => {}
                Some(names::PAUSED_FOR_RETENTION) if !is_deleting => {
                    self.pause(name, uid, names::PAUSED_FOR_REMOVAL).await?;
                }
                _ => return Ok(Done::PreconditionFailed("its Machine is not paused, or is being deleted")),
            }
            let machines: Api<Machine> = Api::namespaced(self.client.clone(), &self.identity.namespace);
            ignore_not_found(machines.delete(name.as_str(), &with_uid(uid, None)).await.map(drop))?;
            let deleted = self.live_machine(name).await?;
            if let Some(deleted) = deleted.filter(|deleted| deleted.uid().as_deref() == Some(uid.as_str())) {
                without_finalizer(&machines, &deleted, names::CAPI_MACHINE_FINALIZER).await?;
            }
        }
        if let Some(uid) = foo_machine {
            self.release_foo_machine(name, uid).await?;
            let foo_machines: Api<FooMachine> =
                Api::namespaced(self.client.clone(), &self.identity.namespace);
            ignore_not_found(foo_machines.delete(name.as_str(), &with_uid(uid, None)).await.map(drop))?;
        }
        Ok(Done::Carried)
    }

    /// Removes the provider's annotation that pauses a Machine, whoever owns the field.
    async fn resume_machine(&self, name: &MachineName, uid: &Uid) -> Result<Done, ActionFailure> {
        let Some(live) = self.live_machine(name).await? else { return Ok(Done::Carried) };
        let reason = live.annotations().get(names::PAUSED_ANNOTATION).map(String::as_str);
        if !matches!(reason, Some(names::PAUSED_FOR_RETENTION | names::PAUSED_FOR_REMOVAL)) {
            return Ok(Done::Carried);
        }
        let patch = json!({"metadata": {
            "resourceVersion": live.resource_version(), "uid": uid.as_str(),
            "annotations": {names::PAUSED_ANNOTATION: null}
        }});
        let machines: Api<Machine> = Api::namespaced(self.client.clone(), &self.identity.namespace);
        let patched =
            machines.patch_metadata(name.as_str(), &PatchParams::default(), &Patch::Merge(patch)).await;
        ignore_not_found(patched.map(drop))?;
        Ok(Done::Carried)
    }

    async fn set_timeouts(
        &self,
        name: &MachineName,
        uid: &Uid,
        timeouts: DeletionTimeouts,
    ) -> Result<(), ActionFailure> {
        let deletion = foo_api::capi::MachineDeletion {
            node_drain_timeout_seconds: timeouts.node_drain.and_then(|s| i32::try_from(s.0).ok()),
            node_volume_detach_timeout_seconds: timeouts
                .node_volume_detach
                .and_then(|s| i32::try_from(s.0).ok()),
            node_deletion_timeout_seconds: timeouts.node_deletion.and_then(|s| i32::try_from(s.0).ok()),
        };
        let apply = json!({
            "apiVersion": Machine::api_version(&()), "kind": Machine::kind(&()),
            "metadata": {"name": name.as_str(), "uid": uid.as_str()},
            "spec": {"deletion": deletion}
        });
        self.apply_to_machine(name, names::managers::MACHINE_TIMEOUTS, apply).await
    }

    async fn apply_to_machine(
        &self,
        name: &MachineName,
        manager: &str,
        apply: serde_json::Value,
    ) -> Result<(), ActionFailure> {
        let machines: Api<Machine> = Api::namespaced(self.client.clone(), &self.identity.namespace);
        let applied =
            machines.patch(name.as_str(), &PatchParams::apply(manager).force(), &Patch::Apply(apply)).await;
        ignore_not_found(applied.map(drop))
    }

    async fn publish_replicas(&self, replicas: u32) -> Result<(), ActionFailure> {
        let Some(name) = self.machine_pool else { return Ok(()) };
        let pools: Api<MachinePool> = Api::namespaced(self.client.clone(), &self.identity.namespace);
        // A merge patch, not an apply: the field stays the user's when the annotation is removed.
        let patch = json!({"spec": {"replicas": replicas}});
        pools
            .patch(
                name,
                &PatchParams {
                    field_manager: Some(names::managers::REPLICAS.into()),
                    ..PatchParams::default()
                },
                &Patch::Merge(patch),
            )
            .await?;
        Ok(())
    }
}

/// An instance that does not wait for our hook, because its wait just ended or is for another hook, needs no
/// action: the next observation shows that.
fn still_waited(result: Result<(), CloudError>) -> Result<(), CloudError> {
    match result {
        Err(error) if error.kind == ErrorKind::Invalid => {
            tracing::debug!(%error, "the instance is not waiting for the lifecycle hook");
            Ok(())
        }
        other => other,
    }
}

/// Removes a finalizer. The version that was read is a precondition: a merge patch replaces the whole list.
async fn without_finalizer<K>(
    objects: &Api<K>,
    live: &PartialObjectMeta<K>,
    finalizer: &str,
) -> Result<(), ActionFailure>
where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + Debug,
{
    let left: Vec<&String> = live.finalizers().iter().filter(|held| *held != finalizer).collect();
    let patch = json!({"metadata": {
        "resourceVersion": live.resource_version(), "uid": live.uid(), "finalizers": left
    }});
    let name = live.name_any();
    ignore_not_found(
        objects.patch_metadata(&name, &PatchParams::default(), &Patch::Merge(patch)).await.map(drop),
    )
}

fn with_uid(uid: &Uid, resource_version: Option<String>) -> DeleteParams {
    DeleteParams {
        preconditions: Some(Preconditions { uid: Some(uid.as_str().to_owned()), resource_version }),
        ..DeleteParams::default()
    }
}

fn is_not_found(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 404)
}

fn ignore_not_found(result: Result<(), kube::Error>) -> Result<(), ActionFailure> {
    match result {
        Err(error) if is_not_found(&error) => Ok(()),
        other => Ok(other?),
    }
}
