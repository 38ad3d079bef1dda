//! The forecast of one pool.

use super::differences::{Facts, View, differences};
use super::in_aws::settings;
use super::question::Question;
use super::result::{Durations, Present, result};
use crate::clouds::CloudRegion;
use crate::plans::{copied, in_words};
use crate::pool::gather::Gathered;
use crate::pool::inputs::aws::Aws;
use crate::pool::pools::{LONGEST_BACKLOG, Pools};
use crate::pool::reads::Read;
use crate::pool::state::PoolState;
use crate::responders::Computes;
use foo_api::FooMachinePool;
use foo_api::capi::MachinePool;
use foo_api::names::CLUSTER_NAME_LABEL;
use foo_api::plan::PoolPlan;
use foo_model::names::TAG_ADOPTABLE;
use foo_model::operation::Priority;
use foo_model::{Adoption, Group, GroupName, LaunchTemplate};
use foo_planner::desired::{Goal, Size};
use foo_planner::forecast::LARGEST_POOL;
use foo_planner::{Desired, LastRead, Memory, Observed};
use k8s_openapi::api::core::v1::Secret;
use kube::core::PartialObjectMeta;
use kube::{Api, ResourceExt};
use kube_runtime::reflector::ObjectRef;
use std::sync::Arc;

/// What a pass would begin with.
struct Inputs {
    desired: Desired,
    observed: Observed,
}

impl Pools {
    /// What the manager would do for the pool in question.
    pub(super) async fn foresee_pool(
        &self,
        question: &Question,
        computes: &Computes,
    ) -> Result<PoolPlan, String> {
        let key = ObjectRef::from_obj(question.planned.as_ref());
        let (state, memory) = match &question.present {
            Some(present) => self.copy_of_state(&key, present).await?,
            None => (PoolState::default().for_plan(), Memory::default()),
        };
        let machine_pool = question.machine_pool.clone();
        let mut planned = self.caches.gather_with(Arc::clone(&question.planned), machine_pool);
        let planned_facts = Facts::of(&planned);
        let now = question.present.as_ref().map(|present| self.caches.gather(Arc::clone(present)));
        let now = now.map(|gathered| (Facts::of(&gathered), gathered));
        self.check_secret(&planned, &planned_facts, now.as_ref().map(|(facts, _)| facts)).await?;
        let now = match now {
            Some((facts, gathered)) => {
                Some((facts, self.inputs_for_plan(&key, gathered, state.for_plan()).await?))
            }
            None => None,
        };
        let is_new = question.present.is_none();
        let mut state = state;
        let assumes_data = is_new && assume_bootstrap_data(&mut planned, &mut state);
        // The spec may have changed: earlier results of lookups do not suffice.
        state.asked_generation = None;
        let mut inputs = self.inputs_for_plan(&key, planned, state).await?;
        if is_new && inputs.desired.adoption == Adoption::NotAllowed {
            return Err(
                "the FooClusterIdentity does not allow that the pool adopts a group (allowAdoption); without an identityRef it is the \
                 one named \"default\""
                    .to_owned(),
            );
        }
        if is_new {
            assume_nothing_exists(&mut inputs.observed);
        } else if !matches!(inputs.observed.group, LastRead::At { .. }) {
            return Err(match &inputs.observed.group {
                LastRead::Failed { message, .. } => {
                    format!("the Auto Scaling group cannot be read: {message}")
                }
                LastRead::Unknown | LastRead::At { .. } => {
                    "the Auto Scaling group has not been read yet; try again in a minute".to_owned()
                }
            });
        }
        if let Some(Some(group)) = inputs.observed.group.seen()
            && !inputs.desired.identity.owns(&group.tags)
            && !(inputs.desired.adoption == Adoption::Allowed
                && inputs.desired.identity.may_adopt(&group.tags))
        {
            let why = "the Auto Scaling group of that name does not belong to this pool";
            if is_new && inputs.desired.adoption.is_requested() {
                let adopter = inputs.desired.identity.adoptable_by();
                return Err(format!(
                    "{why}, and does not have the tag {TAG_ADOPTABLE}={adopter}, by which the owner of the AWS account lets it adopt the group"
                ));
            }
            return Err(why.to_owned());
        }
        if size_of(&inputs.desired) > LARGEST_POOL {
            return Err(format!("plans are about pools of at most {LARGEST_POOL} instances"));
        }
        let durations = Durations::of(question.durations, &inputs.observed);
        let Inputs { desired, observed } = inputs;
        let steps = durations.for_forecast();
        let (desired, observed, forecast) = computes
            .result(move || {
                let forecast = foo_planner::forecast(&desired, &observed, &memory, &steps);
                (desired, observed, forecast)
            })
            .await?;
        let present = now.as_ref().map(|(facts, inputs)| View { facts, desired: &inputs.desired });
        let planned = View { facts: &planned_facts, desired: &desired };
        let changes = differences(present.as_ref(), &planned);
        let counts = Present::of(&observed);
        let mut notes = Vec::new();
        if is_new {
            let exists = matches!(observed.group.seen(), Some(Some(_)));
            let adopts = "the pool is new, and adopts an Auto Scaling group that exists";
            let creates = "the pool is new: nothing with its name is expected in AWS";
            notes.push(if exists { adopts } else { creates });
        }
        if assumes_data {
            notes.push(
                "the bootstrap data does not exist yet: planned as if the bootstrap provider had written it",
            );
        }
        let differences = (changes, settings(&observed, &forecast));
        Ok(result(&question.planned.name_any(), differences, &forecast, counts, &durations, &notes))
    }

    /// A copy of what is remembered of an existing pool, once no pass over it is under way.
    async fn copy_of_state(
        &self,
        key: &ObjectRef<FooMachinePool>,
        present: &FooMachinePool,
    ) -> Result<(PoolState, Memory), String> {
        let state = self.states.of(key);
        let copy = |state: &PoolState| {
            let is_known = state.uid == present.uid() && state.started.is_some();
            is_known.then(|| (state.for_plan(), state.memory.clone()))
        };
        let copied = copied(Some(state), "pool", copy).await?;
        copied.ok_or_else(|| "the manager has not reconciled the pool yet; try again in a minute".to_owned())
    }

    async fn inputs_for_plan(
        &self,
        key: &ObjectRef<FooMachinePool>,
        mut gathered: Gathered,
        mut state: PoolState,
    ) -> Result<Inputs, String> {
        let region = self.region(self.access(&gathered)).await;
        let image = self.image(key, &mut gathered, &region, &mut state).await;
        let aws = self.aws(key, &gathered, &region, &mut state);
        match &aws {
            Aws::Usable(..) => {}
            Aws::Unknown => {
                return Err(
                    "the pool has no Cluster with a FooCluster yet, so its region is not known".to_owned()
                );
            }
            Aws::Unusable(blocked) => return Err(in_words(blocked)),
        }
        let known = region.as_ref().ok().and_then(Option::as_deref);
        if known.is_some_and(|region| region.backlog(Priority::Read) > LONGEST_BACKLOG) {
            return Err("calls of the account wait already; try again in a minute".to_owned());
        }
        // For the version of the control plane, which holds new content back; a settled pool does not need the template.
        if state.reads.template.is_none()
            && let Some(region) = known
            && let Some(identity) = &gathered.identity
        {
            let may_exist = gathered.pool.spec.provider_id.is_some() || gathered.pool.spec.adopt;
            let value =
                if may_exist { self.template_for_plan(region, &identity.template).await? } else { None };
            state.reads.template = Some(Read { at: self.context.clock.now(), value });
        }
        let inputs = self.inputs(key, &gathered, known, aws, image, &mut state).await;
        let (desired, mut observed) = (inputs.desired, inputs.observed);
        if let Some(mismatch) = inputs.account_mismatch {
            return Err(in_words(&mismatch));
        }
        // A new pool is not observed yet, and the group may exist.
        if desired.adoption == Adoption::Allowed
            && matches!(observed.group, LastRead::Unknown)
            && let Some(region) = known
        {
            let seen = self.group_for_plan(region, &desired.identity.group).await?;
            observed.group = LastRead::At { at: observed.now, seen };
        }
        if desired.goal == Goal::Run
            && matches!(observed.group, LastRead::At { seen: Some(_), .. })
            && !matches!(observed.template, LastRead::At { .. })
            && let Some(template) = state.reads.template
        {
            observed.template = LastRead::At { at: template.at, seen: template.value };
        }
        Ok(Inputs { desired, observed })
    }

    /// The group that a new pool would adopt.
    async fn group_for_plan(&self, region: &CloudRegion, name: &GroupName) -> Result<Option<Group>, String> {
        let read = region.cloud.describe_group(name).await;
        read.map_err(|error| format!("the Auto Scaling group cannot be read: {error}"))
    }

    /// The launch template: a pass over a settled pool does not need it.
    async fn template_for_plan(
        &self,
        region: &CloudRegion,
        name: &str,
    ) -> Result<Option<LaunchTemplate>, String> {
        let read = region.cloud.describe_template(name).await;
        read.map_err(|error| format!("the launch template cannot be read: {error}"))
    }

    /// Whoever may create a FooPlan need not be allowed to read Secrets, and messages about user data may quote it. So only
    /// a Secret of the pool's Cluster is read for a plan, or the one that the pool has.
    async fn check_secret(
        &self,
        planned: &Gathered,
        facts: &Facts,
        present: Option<&Facts>,
    ) -> Result<(), String> {
        let Some(name) = &facts.secret else { return Ok(()) };
        if present.is_some_and(|present| present.secret.as_ref() == Some(name)) {
            return Ok(());
        }
        let cluster = planned.identity.as_ref().map(|identity| identity.cluster.as_str());
        let is_of_cluster = |secret: &PartialObjectMeta<Secret>| {
            cluster.is_some() && secret.labels().get(CLUSTER_NAME_LABEL).map(String::as_str) == cluster
        };
        let cached = self.caches.secrets.get(&ObjectRef::new(name).within(&planned.namespace()));
        if cached.is_some_and(|secret| is_of_cluster(&secret)) {
            return Ok(());
        }
        // Whoever asks may have created the Secret a moment ago.
        let secrets: Api<Secret> = Api::namespaced(self.context.client.clone(), &planned.namespace());
        let read = secrets.get_metadata_opt(name).await;
        if read
            .map_err(|error| format!("Secret {name} cannot be read: {error}"))?
            .is_some_and(|it| is_of_cluster(&it))
        {
            return Ok(());
        }
        Err(format!(
            "Secret {name} does not have the label {CLUSTER_NAME_LABEL} of the pool's Cluster, so it is not read for a plan"
        ))
    }
}

/// A bootstrap provider writes the data of a new pool once its MachinePool exists: without it the plan would be that the pool
/// waits. Whether that is so here.
fn assume_bootstrap_data(planned: &mut Gathered, state: &mut PoolState) -> bool {
    let Some(machine_pool) = &planned.machine_pool else { return false };
    let bootstrap = &machine_pool.spec.template.spec.bootstrap;
    if bootstrap.data_secret_name.is_some() || bootstrap.config_ref.is_none() {
        return false;
    }
    let mut assumed = MachinePool::clone(machine_pool);
    // Its provider's data would be compared with the image.
    assumed.spec.template.spec.bootstrap.config_ref = None;
    planned.machine_pool = Some(Arc::new(assumed));
    state.assumes_bootstrap_data = true;
    true
}

/// A new pool begins with nothing; whether AWS has a group of its name is not asked.
fn assume_nothing_exists(observed: &mut Observed) {
    let at = observed.now;
    if !matches!(observed.group, LastRead::At { .. }) {
        observed.group = LastRead::At { at, seen: None };
    }
    if !matches!(observed.template, LastRead::At { .. }) {
        observed.template = LastRead::At { at, seen: None };
    }
    if !matches!(observed.stored, LastRead::At { .. }) {
        observed.stored = LastRead::At { at, seen: std::collections::BTreeSet::default() };
    }
}

/// How many instances the pool would have.
fn size_of(desired: &Desired) -> u32 {
    match desired.size {
        Size::Unknown => 0,
        Size::Replicas { wanted, ceiling } => wanted.min(ceiling.unwrap_or(u32::MAX)),
        Size::External { min, .. } => min,
    }
}
