//! The inputs of a plan: everything that a pass reads, in the planner's nouns.
//!
//! [`super::gather`] takes the pool's objects from the caches; the rest of this folder reads from Kubernetes and
//! AWS, once per pass. What an action changes or creates (the group, the launch template, the hook) is
//! observed again for each plan, without a call. Only the control plane's version is read when the launch
//! template is known, so perhaps only for the second plan.

pub(super) mod account;
pub(super) mod aws;
pub(super) mod bandwidth;
pub(super) mod bootstrap_secret;
mod capacity_block;
pub(super) mod clock;
mod confirmations;
pub(super) mod content;
pub(super) mod desired;
pub(super) mod efa;
pub(super) mod hooks;
pub(super) mod image;
pub(super) mod launch_failures;
pub(super) mod mix;
pub(super) mod network_interfaces;
pub(super) mod node_version;
mod notifications;
pub(super) mod observe;
mod overlay;
pub(super) mod replacement_rules;
pub(super) mod rival_machine_pools;
pub(super) mod stored;
mod target_health;
pub(super) mod termination_causes;
mod traffic;
pub(super) mod version_skew;
mod warm_pool;
mod workload_name;

use super::failure_report;
use super::gather::Gathered;
use super::identity;
use super::pools::Pools;
use super::reads::SecretContent;
use super::state::{PoolState, Tenure, Watching};
use crate::backoff::jittered;
use crate::clouds::{CloudRegion, GroupKey};
use aws::Aws;
use desired::{BootstrapData, LookedUp};
use foo_api::FooMachinePool;
use foo_cloud::lookups::Asking;
use foo_cloud::{Freshness as Age, InstanceTypeInfo};
use foo_model::hook::HookConfig;
use foo_model::{Blocked, Notifications, Reason};
use foo_model::{Comparison, FooMachine, Group, InstanceId, LaunchTemplate, Timestamp};
use foo_planner::Observed;
use foo_planner::desired::{Desired, Goal, Identity, Wanted};
use foo_planner::observed::{Ec2State, Finalizer, LastRead};
use image::Image;
use kube_runtime::reflector::ObjectRef;
use std::collections::BTreeMap;
use std::sync::Arc;
use version_skew::ControlPlane;

/// The inputs of the plans of one pass.
pub(super) struct Inputs<'a> {
    /// What Kubernetes knows.
    pub(super) gathered: &'a Gathered,
    /// Whether the pass can use AWS.
    pub(super) aws: Aws<'a>,
    /// The desired state.
    pub(super) desired: Desired,
    /// The observed state.
    pub(super) observed: Observed,
    /// Whether the group was observed after our last change of it.
    pub(super) freshness: Freshness,
    /// Facts about the pool's instance types.
    pub(super) instance_types: Result<Vec<InstanceTypeInfo>, Blocked>,
    /// The image.
    pub(super) image: Image,
    /// Why the account of the credentials is not the pool's, or why that is unknown.
    pub(super) account_mismatch: Option<Blocked>,
    /// What is known of the control plane's version.
    pub(super) control_plane: ControlPlane,
    /// That the manager's clock differs from the API server's, or from AWS's.
    pub(super) clock_warnings: Vec<Blocked>,
}

/// The age of the observation of the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Freshness {
    /// Newer than our last change of the group.
    Fresh,
    /// Older than that, or missing.
    Stale,
}

/// AWS's messages about failures, for users.
#[derive(Clone, Default)]
struct Messages {
    launch_failure: Option<String>,
    termination_causes: BTreeMap<InstanceId, String>,
}

/// What was observed of the pool in AWS.
struct View {
    group: LastRead<Option<Group>>,
    template: LastRead<Option<LaunchTemplate>>,
    hook: LastRead<Option<HookConfig>>,
    ec2_states: BTreeMap<InstanceId, Ec2State>,
}

impl Pools {
    /// Reads the inputs of the plans of a pass.
    pub(super) async fn inputs<'a>(
        &self,
        key: &ObjectRef<FooMachinePool>,
        gathered: &'a Gathered,
        region: Option<&CloudRegion>,
        aws: Aws<'a>,
        image: Image,
        state: &mut PoolState,
    ) -> Inputs<'a> {
        let instance_types = self.instance_types(gathered, region, state).await;
        let mut control_plane = ControlPlane::default();
        let (desired, account_mismatch, messages) = match &aws {
            Aws::Usable(region, identity) => {
                let limits = self.context.identities.limits(gathered.identity_ref(), &identity.namespace);
                let neighbours = self.context.identities.neighbours(&self.caches.foo_clusters);
                let known = LookedUp {
                    limits: &limits,
                    neighbours: &neighbours,
                    types: &instance_types,
                    image: &image,
                    workload_name: None,
                    region: &region.key.region,
                };
                let mut desired = self.desired(key, gathered, region, identity, known, state).await;
                self.watch_if_begun(key, gathered, &desired, region, state);
                desired.warnings.extend(self.read_stored(key, region, &desired, state).await);
                desired
                    .warnings
                    .extend(target_health::read(region, &desired, state, self.context.clock.now()).await);
                let applied = state.unconfirmed.applied(observe::applied(gathered));
                let now = self.context.clock.now();
                desired.warnings.extend(
                    notifications::read(region, &desired, &applied, state, now, self.settled_from).await,
                );
                desired.warnings.extend(capacity_block::read(region, &desired, &limits, state, now).await);
                capacity_block::keep_zone(&mut desired, gathered, &state.reads.capacity_block.read);
                let mismatch = account::mismatch(gathered, region, &identity.group).await;
                let messages = self.messages(gathered, region, identity, state).await;
                self.hold_back(gathered, &mut desired, &mut control_plane, state).await;
                (desired, mismatch, messages)
            }
            Aws::Unknown => (desired::without_aws(gathered, None), None, Messages::default()),
            Aws::Unusable(because) => {
                (desired::without_aws(gathered, Some(because)), None, Messages::default())
            }
        };
        let kubernetes_warning = clock::kubernetes_warning(&self.context.kubernetes_clock.found());
        let aws_warning = region.and_then(|region| clock::aws_warning(&region.clock(), &region.key.region));
        let clock_warnings: Vec<Blocked> = kubernetes_warning.into_iter().chain(aws_warning).collect();
        let mut desired = desired;
        desired.warnings.extend(clock_warnings.clone());
        let windows = replacement_rules::windows(&gathered.pool);
        desired.maintenance = windows.maintenance(self.context.clock.now());
        desired.warnings.extend(windows.warning(&desired.maintenance));
        let observed = self.observed(gathered, &aws, &desired, account_mismatch.as_ref(), messages, state);
        let freshness = freshness(&observed, state);
        Inputs {
            gathered,
            aws,
            desired,
            observed,
            freshness,
            instance_types,
            image,
            account_mismatch,
            control_plane,
            clock_warnings,
        }
    }

    /// Observes again what an action changed or created.
    pub(super) async fn read_again(&self, inputs: &mut Inputs<'_>, state: &mut PoolState) {
        self.hold_back(inputs.gathered, &mut inputs.desired, &mut inputs.control_plane, state).await;
        let messages = Messages {
            launch_failure: inputs.observed.launch_failure.take(),
            termination_causes: std::mem::take(&mut inputs.observed.termination_causes),
        };
        let mismatch = inputs.account_mismatch.as_ref();
        inputs.observed =
            self.observed(inputs.gathered, &inputs.aws, &inputs.desired, mismatch, messages, state);
        inputs.freshness = freshness(&inputs.observed, state);
    }

    /// Facts about the pool's instance types; a pool that nothing is done for needs them, too, because its
    /// status shows them.
    async fn instance_types(
        &self,
        gathered: &Gathered,
        region: Option<&CloudRegion>,
        state: &PoolState,
    ) -> Result<Vec<InstanceTypeInfo>, Blocked> {
        let Some(region) = region else {
            return Err(Blocked::new(Reason::WaitingForClusterInfrastructure, "the region is not known yet"));
        };
        desired::instance_types(&gathered.pool.spec, &region.lookups, asking(state, gathered)).await
    }

    async fn desired(
        &self,
        key: &ObjectRef<FooMachinePool>,
        gathered: &Gathered,
        region: &CloudRegion,
        identity: &Identity,
        known: LookedUp<'_>,
        state: &mut PoolState,
    ) -> Desired {
        let name = match gathered.goal {
            Goal::Run => {
                let client = &self.context.client;
                workload_name::workload_name(client, gathered, &identity.cluster, &mut state.reads).await
            }
            Goal::Remove | Goal::Retain | Goal::Orphan => Err(Blocked::new(Reason::Deleting, "")),
        };
        let known = LookedUp { workload_name: name.as_deref().ok(), ..known };
        let data = match gathered.goal {
            Goal::Run if state.assumes_bootstrap_data => {
                BootstrapData::Found(SecretContent { user_data: Vec::new(), waits_in_warm_pool: true })
            }
            Goal::Run => {
                let period = jittered(self.context.settings.sync_period, key);
                let (client, secrets) = (&self.context.client, &self.caches.secrets);
                let now = self.context.clock.now();
                bootstrap_secret::bootstrap_data(client, secrets, gathered, &mut state.reads, now, period)
                    .await
            }
            Goal::Remove | Goal::Retain | Goal::Orphan => {
                BootstrapData::Missing(Blocked::new(Reason::Deleting, ""))
            }
        };
        let data = match (&name, data) {
            (Err(blocked), BootstrapData::Found(_)) => BootstrapData::Missing(blocked.clone()),
            (_, data) => data,
        };
        let asking = asking(state, gathered);
        let mut desired = desired::desired(identity, gathered, data, known, &region.lookups, asking).await;
        failure_report::place(&mut desired, &region.key.region);
        desired
    }

    /// Lists the pool's user data in S3, if it keeps any there. Deleted objects are not reported, so the list is
    /// renewed at the pace of idle passes, and soon before instances are launched. Of a pool that cannot launch
    /// anything it is not needed, and its bucket may be one that the pool must not name. Returns what keeps it from
    /// being listed, if a user can change that.
    async fn read_stored(
        &self,
        key: &ObjectRef<FooMachinePool>,
        region: &CloudRegion,
        desired: &Desired,
        state: &mut PoolState,
    ) -> Option<Blocked> {
        let launches = matches!(desired.template, Wanted::Ready(_));
        let Some(storage) = desired.group.storage.as_ref().filter(|_| launches) else {
            state.reads.stored = LastRead::Unknown;
            return None;
        };
        let group = region.observer.view(&desired.identity.group);
        let within = if stored::launches_soon(desired, group.as_ref(), &state.memory) {
            stored::BEFORE_LAUNCHES
        } else {
            jittered(self.context.settings.sync_period, key)
        };
        let read = stored::read(region, storage, &desired.identity, Age::Within(within)).await;
        let wrong = read.as_ref().err().filter(|error| !Reason::from(error.kind).is_transient());
        let wrong = wrong.map(|error| Blocked::new(error.kind.into(), error.to_string()));
        state.reads.stored = read.unwrap_or_else(|error| observe::failed(&error));
        wrong
    }

    /// Watches the group as soon as anything of the pool can exist.
    fn watch_if_begun(
        &self,
        key: &ObjectRef<FooMachinePool>,
        gathered: &Gathered,
        desired: &Desired,
        region: &Arc<CloudRegion>,
        state: &mut PoolState,
    ) {
        let can_exist = observe::finalizer(gathered) == Finalizer::Present
            || desired.missing.is_empty()
            || gathered.pool.spec.provider_id.is_some()
            || !gathered.foo_machines.is_empty();
        if can_exist {
            self.watch_group(key, &desired.identity, region, state);
        }
    }

    async fn messages(
        &self,
        gathered: &Gathered,
        region: &CloudRegion,
        identity: &Identity,
        state: &mut PoolState,
    ) -> Messages {
        let (group, now) = (&identity.group, self.context.clock.now());
        let short_since = state.memory.short_since;
        Messages {
            launch_failure: launch_failures::last_message(region, group, short_since, &mut state.reads, now)
                .await,
            termination_causes: termination_causes::of_waiting(region, group, gathered, &mut state.reads)
                .await,
        }
    }

    async fn hold_back(
        &self,
        gathered: &Gathered,
        desired: &mut Desired,
        control_plane: &mut ControlPlane,
        state: &PoolState,
    ) {
        let template = state.reads.template.as_ref();
        version_skew::hold_back(&self.context.client, gathered, desired, template, control_plane).await;
    }

    /// When the hook of the pool is read for the first time, if the pool is idle.
    fn confirmed_from(&self, pool: &FooMachinePool) -> Timestamp {
        let started = self.settled_from.minus(self.context.settings.settle_time);
        confirmations::confirmed_from(started, self.caches.pools.len(), pool.metadata.uid.as_deref())
    }

    fn observed(
        &self,
        gathered: &Gathered,
        aws: &Aws<'_>,
        desired: &Desired,
        mismatch: Option<&Blocked>,
        messages: Messages,
        state: &mut PoolState,
    ) -> Observed {
        let now = self.context.clock.now();
        let Comparison { difference, agreement } = self.context.kubernetes_clock.found();
        let foo_machines = observe::foo_machines(gathered, difference);
        let view = match (aws, mismatch) {
            (Aws::Usable(..), Some(doubt)) => untrusted(doubt),
            (Aws::Usable(region, identity), None) => {
                seen(gathered, (region, identity), desired, &foo_machines, state)
            }
            (Aws::Unknown, _) => unknown(gathered, desired, now),
            (Aws::Unusable(because), _) => {
                View { template: LastRead::Unknown, hook: LastRead::Unknown, ..untrusted(because) }
            }
        };
        let signals = match aws {
            Aws::Usable(region, identity) if state.tenure == Tenure::Own => {
                self.context.announcements.signals(&GroupKey::of(&region.key, &identity.group))
            }
            Aws::Usable(..) | Aws::Unknown | Aws::Unusable(_) => BTreeMap::new(),
        };
        Observed {
            now,
            clocks: agreement,
            aws_clock: aws.clock(),
            group: view.group,
            template: view.template,
            stored: state.reads.stored.clone(),
            hook: view.hook,
            other_hooks: state.reads.other_hooks.clone(),
            target_health: match mismatch {
                None => state.reads.target_health.clone(),
                Some(doubt) => observe::untrusted(doubt),
            },
            notifications: match mismatch {
                None => state.reads.notifications.clone(),
                Some(doubt) => observe::untrusted(doubt),
            },
            capacity_block: match mismatch {
                None => state.reads.capacity_block.read.clone(),
                Some(doubt) => observe::untrusted(doubt),
            },
            ec2_states: view.ec2_states,
            signals,
            machines: observe::machines(gathered, difference),
            foo_machines,
            finalizer: state.unconfirmed.finalizer(observe::finalizer(gathered)),
            move_block: state.unconfirmed.moves(observe::moves(gathered)),
            quarantine: observe::quarantine(gathered),
            recorded_arn: gathered.pool.spec.provider_id.clone(),
            recorded_adoption: identity::was_adopted(&gathered.pool),
            applied: state.unconfirmed.applied(observe::applied(gathered)),
            size_decisions_from: self.settled_from,
            confirmed_from: self.confirmed_from(&gathered.pool),
            launch_failure: messages.launch_failure,
            termination_causes: messages.termination_causes,
        }
    }
}

/// What the observer and earlier reads show of the pool.
fn seen(
    gathered: &Gathered,
    (region, identity): (&CloudRegion, &Identity),
    desired: &Desired,
    foo_machines: &[FooMachine],
    state: &mut PoolState,
) -> View {
    let is_made = gathered.pool.spec.provider_id.is_some();
    let from_list = is_made && !state.reads.template_is_own && !has_failed(gathered);
    // The manager has just started: one list of all templates comes in a moment. Until then nothing follows from the
    // group either.
    let group = if from_list && region.observer.lists_templates_first() {
        LastRead::Unknown
    } else {
        observe::group(&region.observer, &region.key.region, &identity.group)
    };
    // Until the group of an existing pool was observed, its account is unknown: what is read of a template is
    // neither trusted nor changed.
    let template =
        if matches!(group, LastRead::Unknown) && matches!(state.watching, Watching::Here(..)) && is_made {
            observe::untrusted(&Blocked::new(
                Reason::NotYetObserved,
                "the Auto Scaling group has not been read yet",
            ))
        } else if from_list {
            observe::idle_template(&region.observer, desired, &group)
        } else {
            observe::template(&region.observer, identity, state.reads.template.as_ref())
        };
    if let LastRead::At { seen: None, at } = group {
        // The known hook belonged to a deleted group; a newer group has its own.
        state.reads.hook = state.reads.hook.filter(|known| known.at > at);
        // So do its topics.
        if state.reads.notifications.seen_at().is_none_or(|known| known <= at) {
            state.reads.notifications = LastRead::At { at, seen: Notifications::new() };
        }
    }
    let hook =
        state.reads.hook.map_or(LastRead::Unknown, |known| LastRead::At { at: known.at, seen: known.value });
    View { ec2_states: observe::ec2_states(&region.observer, &group, foo_machines), group, template, hook }
}

/// Whether content failed in a roll-out: what to go back to is among the former versions.
fn has_failed(gathered: &Gathered) -> bool {
    !observe::quarantine(gathered).is_empty()
}

/// Observations with credentials of another account do not concern the pool.
fn untrusted(doubt: &Blocked) -> View {
    View {
        group: observe::untrusted(doubt),
        template: observe::untrusted(doubt),
        hook: observe::untrusted(doubt),
        ec2_states: BTreeMap::new(),
    }
}

/// Without a FooCluster no group was ever created: a FooCluster waits for its pools before it is deleted. Of
/// any other pool nothing is known.
fn unknown(gathered: &Gathered, desired: &Desired, now: Timestamp) -> View {
    let never_began = gathered.pool.spec.provider_id.is_none() && gathered.foo_cluster.is_none();
    let (group, template) = if desired.goal == Goal::Remove && never_began {
        (LastRead::At { at: now, seen: None }, LastRead::At { at: now, seen: None })
    } else {
        (LastRead::Unknown, LastRead::Unknown)
    };
    View { group, template, hook: LastRead::Unknown, ec2_states: BTreeMap::new() }
}

fn freshness(observed: &Observed, state: &PoolState) -> Freshness {
    if observed.group.seen_at() > state.memory.ledger.changed_at {
        Freshness::Fresh
    } else {
        Freshness::Stale
    }
}

/// A changed spec requires current results about what it names; otherwise earlier responses suffice.
fn asking(state: &PoolState, gathered: &Gathered) -> Asking {
    if state.asked_generation == gathered.pool.metadata.generation { Asking::Again } else { Asking::New }
}
