//! Publishes the result of a pass: status, provider ids and events, each written only if it changed.

pub(super) mod capacity;
pub(super) mod instance_details;
mod max_pods;
pub(super) mod publish;

use super::foo_machine_metadata;
use super::gather::Gathered;
use super::inputs::{
    Inputs, efa, mix, network_interfaces, node_version, observe, replacement_rules, rival_machine_pools,
};
use super::pass::{Observation, Pass};
use super::pools::Pools;
use super::state::PoolState;
use crate::apply::{self, Written};
use crate::clock::kube_time;
use crate::clouds::CloudRegion;
use crate::debug;
use crate::labels::{Controller, Invariant};
use foo_api::{FooMachine, FooMachinePool, conditions};
use foo_model::InstanceId;
use foo_model::{Blocked, EventReason};
use foo_planner::Action;
use foo_planner::action::{PoolAction, ReadAction};
use foo_planner::report::Report;
use futures::{StreamExt, stream};
use kube::{Api, Resource, ResourceExt};
use kube_runtime::reflector::ObjectRef;
use publish::Extra;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Maximum of concurrent FooMachine status writes.
const STATUS_WRITES: usize = 16;

/// A pass that failed because of the API server.
#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    /// A write of the manager failed.
    #[error(transparent)]
    Write(#[from] apply::Error),
    /// A request failed.
    #[error(transparent)]
    Kube(#[from] kube::Error),
}

impl Pools {
    /// Publishes the result of a pass: status, ids, events, and the data of `/debug`.
    pub(super) async fn publish(
        &self,
        key: &ObjectRef<FooMachinePool>,
        inputs: &Inputs<'_>,
        pass: &Pass,
        region: Option<&CloudRegion>,
        state: &mut PoolState,
    ) -> Result<(), Error> {
        let gathered = inputs.gathered;
        let mut written = Written::Unchanged;
        if pass.is_removed() {
            self.forget_group(key, state);
        } else if pass.observation == Observation::Known || gathered.pool.status.is_none() {
            // Otherwise the status of an earlier manager stays: that this one just started proves nothing about
            // the pool.
            written = self.publish_status(gathered, pass, &extra(inputs, state), region).await?;
        }
        self.note_idle(key, pass, written, state);
        self.report_changes(inputs, pass, state).await;
        self.context.debug.planned(
            debug::Key::of(Controller::Pool, gathered.pool.as_ref()),
            self.context.clock.now(),
            Arc::new(pass.plan.clone()),
            pass.failure.as_ref().map(|(_, failure)| failure.to_string()),
        );
        Ok(())
    }

    async fn publish_status(
        &self,
        gathered: &Gathered,
        pass: &Pass,
        extra: &Extra,
        region: Option<&CloudRegion>,
    ) -> Result<Written, Error> {
        let now = kube_time(&self.context.kubernetes_clock);
        let client = &self.context.client;
        let report = &pass.plan.report;
        let recorded = pass.plan.actions.iter().find_map(|action| match action {
            Action::Pool(PoolAction::RecordArn { arn }) => Some(arn.as_str()),
            _ => None,
        });
        let arn = gathered.pool.spec.provider_id.as_deref().or(recorded);
        let paused = gathered.paused_by.is_some();
        if !paused {
            publish::ids(client, gathered, report, arn).await?;
        }
        let pools: Api<FooMachinePool> = Api::namespaced(client.clone(), &gathered.namespace());
        let while_paused =
            if paused { publish::paused_pool_status(&gathered.pool, report, now) } else { None };
        let clock = self.context.kubernetes_clock.found().difference;
        let status =
            while_paused.unwrap_or_else(|| publish::pool_status(&gathered.pool, report, extra, (now, clock)));
        let written = self
            .pool_status
            .apply_if_changed(&pools, gathered.pool.as_ref(), gathered.pool.status.as_ref(), &status)
            .await?;
        if let Some(region) = region {
            self.publish_machines(gathered, report, extra, region, now).await;
        }
        Ok(written)
    }

    /// Counts a pass that keeps doing something without a cause.
    fn note_idle(
        &self,
        key: &ObjectRef<FooMachinePool>,
        pass: &Pass,
        written: Written,
        state: &mut PoolState,
    ) {
        // The observer limits requested reads itself.
        let calls = |action: &Action| !matches!(action, Action::Read(ReadAction::DescribeInstances { .. }));
        let worked = pass.plan.actions.iter().any(calls) || written == Written::Yes;
        if state.idle.ends(worked && pass.is_complete(), self.context.clock.now()) {
            tracing::error!(pool = %key, actions = ?pass.plan.actions, ?written, "the pool does not settle: it keeps writing although nothing changes; please report this");
            self.context.metrics.invariant_violated(Invariant::I10);
        }
    }

    /// Writes metadata and status of each FooMachine that changed. The next pass, caused by a conflict or the
    /// sync period, repeats a failed write.
    async fn publish_machines(
        &self,
        gathered: &Gathered,
        report: &Report,
        extra: &Extra,
        region: &CloudRegion,
        now: jiff::Timestamp,
    ) {
        let Some(group) = extra.group.as_deref().map(Into::into) else { return };
        let since = instance_details::Since { began: extra.started, now: self.context.clock.now() };
        instance_details::want(&region.observer, &group, gathered, report, since);
        let known: BTreeSet<InstanceId> = gathered
            .foo_machines
            .iter()
            .map(|machine| InstanceId::new(machine.spec.instance_id.as_str()))
            .collect();
        region.observer.retain_details(&group, &known);
        let paused = gathered.paused_by.is_some();
        let clock = self.context.kubernetes_clock.found().difference;
        let machines: Api<FooMachine> = Api::namespaced(self.context.client.clone(), &gathered.namespace());
        let mut writes = Vec::new();
        for machine in &gathered.foo_machines {
            let name = machine.name_any();
            let status_of = report.machines.binary_search_by(|status_of| status_of.name.as_str().cmp(&name));
            let status_of = status_of.ok().and_then(|at| report.machines.get(at));
            let outside = report.outside.iter().find(|status_of| status_of.name.as_str() == name);
            let paused = paused || observe::is_paused(machine);
            let status = match (status_of, outside) {
                _ if paused => Some(publish::paused_machine_status(machine, now)),
                (Some(status_of), _) => {
                    let known = region.observer.details(&status_of.instance);
                    let details = known.as_ref().and_then(|(_, word)| word.details());
                    publish::machine_status(machine, status_of, details, (now, clock))
                }
                (None, Some(status_of)) => {
                    let group = extra.group.as_deref().unwrap_or_default();
                    publish::status_outside(machine, status_of, group, now)
                }
                (None, None) => None,
            };
            let repair = Some(machine).filter(|_| !paused);
            let repair =
                repair.and_then(|machine| foo_machine_metadata::repair(machine, gathered, status_of, clock));
            writes.push(self.write_machine(machines.clone(), Arc::clone(machine), repair, status));
        }
        stream::iter(writes).buffer_unordered(STATUS_WRITES).collect::<()>().await;
    }

    async fn write_machine(
        &self,
        machines: Api<FooMachine>,
        machine: Arc<FooMachine>,
        repair: Option<serde_json::Value>,
        status: Option<foo_api::FooMachineStatus>,
    ) {
        if let Some(repair) = repair {
            foo_machine_metadata::keep(&machines, &machine, repair).await;
        }
        let Some(status) = status else { return };
        let written = self
            .machine_status
            .apply_if_changed(&machines, machine.as_ref(), machine.status.as_ref(), &status)
            .await;
        if let Err(error) = written {
            tracing::warn!(machine = machine.name_any(), %error, "could not write the status of a FooMachine");
        }
    }

    /// Publishes events: about actions that were carried out, and about failures when they are new.
    async fn report_changes(&self, inputs: &Inputs<'_>, pass: &Pass, state: &mut PoolState) {
        let gathered = inputs.gathered;
        let object = gathered.pool.object_ref(&());
        if pass.observation == Observation::Stale {
            return;
        }
        let warnings: Vec<Blocked> = rival_machine_pools::warning(gathered)
            .into_iter()
            .chain(node_version::warning(gathered))
            .chain(inputs.image.warning.clone())
            .chain(replacement_rules::windows(&gathered.pool).warning(&inputs.desired.maintenance))
            .chain(inputs.clock_warnings.clone())
            .collect();
        for warning in warnings.iter().filter(|it| !state.reported.warnings.contains(it)) {
            if !is_new(gathered, warning) {
                self.context.events.publish(&object, warning.reason, &warning.message).await;
            }
        }
        state.reported.warnings = warnings;
        let failure = pass.failure.iter().map(|(_, failure)| failure.to_string());
        let refused_warm_pool = state.calls.refused_warm_pool.iter().map(ToString::to_string);
        let failures = failure.chain(refused_warm_pool).collect();
        for event in &pass.plan.report.events {
            self.context.events.publish(&object, event.reason, &event.message).await;
        }
        for failure in state.reported.news(failures) {
            self.context.events.publish(&object, EventReason::ActionFailed, &failure).await;
        }
    }
}

/// Whether the status already shows a warning, as after a restart of the manager.
fn is_new(gathered: &Gathered, warning: &Blocked) -> bool {
    let conditions = gathered.pool.status.as_ref().map(|status| status.conditions.as_slice());
    let ready = conditions::find(conditions.unwrap_or_default(), "Ready");
    ready.is_some_and(|ready| ready.message.contains(&warning.message))
}

/// What the status shows and the planner does not know.
fn extra(inputs: &Inputs<'_>, state: &PoolState) -> Extra {
    let gathered = inputs.gathered;
    let spec = &gathered.pool.spec;
    let types = mix::named_types(spec);
    Extra {
        capacity: inputs
            .instance_types
            .as_ref()
            .ok()
            .and_then(|types| capacity::capacity(types, efa::efa(spec, types).ok()?.map(|it| it.interfaces))),
        max_pods: match &inputs.instance_types {
            Ok(types) => {
                let efa = efa::efa(spec, types).ok().flatten();
                max_pods::max_pods(types, network_interfaces::not_for_pods(spec, efa))
            }
            // It stays while EC2 does not describe the types.
            Err(_) => gathered.pool.status.as_ref().and_then(|status| status.max_pods),
        },
        version: gathered.machine_pool.as_ref().and_then(|pool| pool.spec.template.spec.version.clone()),
        instance_type: types.first().map(|name| name.as_str().to_owned()),
        group: gathered.identity.as_ref().map(|identity| identity.group.as_str().to_owned()),
        started: state.started,
        image: inputs.image.record.clone(),
    }
}
