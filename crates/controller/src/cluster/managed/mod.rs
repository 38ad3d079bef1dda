//! A network that the provider creates: look, plan, check, publish what is about to be created, act, publish what came of it.
//!
//! Everything is decided by `foo_network::plan`; here its inputs are gathered and its actions sent. Nothing is sent before the
//! status says what it is about to create: after a crash the next manager finds out what became of it.

mod act;
mod desired;
mod looks;
mod record;
mod shown;
mod state;

pub(super) use shown::Shown;
pub(super) use state::States;

use super::status::Found;
use super::{Clusters, Said};
use crate::apply::{self, Written};
use crate::clouds::CloudRegion;
use crate::harness::Outcome;
use crate::metrics::Invariant;
use desired::Known;
use foo_api::FooCluster;
use foo_api::cluster::ManagedNetwork;
use foo_cloud::CloudError;
use foo_model::names::{ADOPT_FROM_ANNOTATION, NETWORK_ID_ANNOTATION, TAG_INSTALLATION};
use foo_model::reason::Class;
use foo_model::{Reason, Timestamp, VpcId};
use foo_network::report::{ConditionKind, Deletion, LookRequest, Status};
use foo_network::{Desired, Observed, Plan};
use foo_planner::desired::Blocked;
use kube::api::{Patch, PatchParams};
use kube::{Api, ResourceExt};
use kube_runtime::reflector::ObjectRef;
use serde_json::json;
use shown::View;
use state::NetworkState;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Plans in one pass: what each of them creates is what the next one needs. The longest way from nothing to a network, or back,
/// is a third of this.
const PLANS: usize = 40;
/// With more calls of the account waiting than this, a pass does not go on to its next plan.
const LONGEST_BACKLOG: Duration = Duration::from_secs(5);
/// After a look that failed: the shared looks have a back-off of their own.
const LOOK_AGAIN: Duration = Duration::from_secs(10);
/// A pass that gave way goes on.
const GO_ON: Duration = Duration::from_secs(1);
/// No pass follows the one before sooner than this, whatever its plan says.
const SHORTEST: Duration = Duration::from_millis(200);

/// What is wanted of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goal {
    /// That it is as the spec says.
    Keep,
    /// That it goes.
    Delete,
}

/// What a pass over a network came to.
pub(super) struct Ended {
    /// Whether anything was written or sent.
    pub(super) worked: bool,
    /// When there is the next.
    pub(super) after: Duration,
    /// Whether nothing of it is left, or it is to be left alone.
    pub(super) gone: bool,
}

impl Ended {
    /// What the harness is told.
    pub(super) fn outcome(&self) -> Outcome {
        let next = crate::queue::Action::requeue(self.after);
        if self.worked { Outcome::worked(next) } else { Outcome::settled(next) }
    }
}

/// One pass.
struct Pass<'a> {
    api: &'a Api<FooCluster>,
    cluster: &'a FooCluster,
    managed: &'a ManagedNetwork,
    goal: Goal,
    region: Arc<CloudRegion>,
    /// The account that AWS is called for, if known.
    account: Option<String>,
    /// No plan is begun after this moment.
    until: Instant,
    /// Looks that were taken; none is taken twice.
    taken: BTreeSet<LookRequest>,
    /// Why AWS could not be looked at, if it could not.
    trouble: Option<CloudError>,
    worked: bool,
}

impl Clusters {
    /// Whether anything of the network of this FooCluster may be in AWS.
    pub(super) fn may_have_network(&self, cluster: &FooCluster) -> bool {
        let network = self.networks.network(cluster);
        cluster.spec.network.managed.is_some()
            && (cluster.annotations().contains_key(NETWORK_ID_ANNOTATION)
                || network.is_some_and(|network| network.id.is_some()))
    }

    /// One pass over the network of a FooCluster.
    pub(super) async fn network_pass(
        &self,
        api: &Api<FooCluster>,
        cluster: &FooCluster,
        managed: &ManagedNetwork,
        goal: Goal,
    ) -> Result<Ended, apply::Error> {
        self.networks.forget_vanished(&self.own);
        let slot = self.networks.of(&ObjectRef::from_obj(cluster));
        let mut state = slot.lock().await;
        if !state.is_of(cluster) {
            *state = NetworkState::first(cluster);
        }
        let region = match self.usable_region(cluster, goal, &state).await {
            Ok(region) => region,
            Err(blocked) => return self.is_blocked(api, cluster, goal, blocked).await,
        };
        let until = Instant::now() + self.context.settings.pass_deadline;
        let (account, taken, trouble) = (None, BTreeSet::new(), None);
        let pass =
            Pass { api, cluster, managed, goal, region, account, until, taken, trouble, worked: false };
        self.keep_id(&pass, &mut state).await?;
        match looks::zones(&pass.region.networks).await {
            Ok(zones) => state.zones = zones,
            Err(error) if state.zones.is_empty() => {
                let blocked = Blocked::new(error.kind.into(), error.to_string());
                return self.is_blocked(api, cluster, goal, blocked).await;
            }
            Err(_) => {}
        }
        self.plan_and_act(pass, &mut state).await
    }

    /// Where AWS is called for a network, if its identity allows that.
    async fn usable_region(
        &self,
        cluster: &FooCluster,
        goal: Goal,
        state: &NetworkState,
    ) -> Result<Arc<CloudRegion>, Blocked> {
        let region = self.region(cluster).await?;
        if goal == Goal::Keep {
            self.is_alone(cluster, &state.id)?;
            let name = cluster.spec.identity_ref.as_ref().map(|reference| reference.name.as_str());
            let limits = self.context.identities.limits(name);
            let network = self.networks.network(cluster).unwrap_or_default();
            let mut known = network.subnets.iter().map(|subnet| subnet.id.as_str()).peekable();
            if known.peek().is_none() { limits.new_subnets()? } else { limits.subnets(known)? }
        }
        Ok(region)
    }

    /// A copy of a FooCluster that was made with its annotations names the network of the other one.
    fn is_alone(&self, cluster: &FooCluster, id: &str) -> Result<(), Blocked> {
        if cluster.uid().as_deref() == Some(id) {
            return Ok(());
        }
        let rank = |it: &FooCluster| {
            (it.uid().as_deref() != Some(id), it.creation_timestamp(), it.namespace(), it.name_any())
        };
        let other = self.own.state_filter(|other| {
            other.uid() != cluster.uid()
                && other.annotations().get(NETWORK_ID_ANNOTATION).is_some_and(|other| other == id)
                && rank(other) < rank(cluster)
        });
        let Some(other) = other.first() else { return Ok(()) };
        let message = format!(
            "the annotation {NETWORK_ID_ANNOTATION} names network {id} of FooCluster {}/{}; this is a copy of that FooCluster",
            other.namespace().unwrap_or_default(),
            other.name_any()
        );
        Err(Blocked::new(Reason::NetworkOfAnotherCluster, message))
    }

    /// The network's id is on the FooCluster before anything is created: whoever has the object then knows what is its.
    async fn keep_id(&self, pass: &Pass<'_>, state: &mut NetworkState) -> Result<(), kube::Error> {
        let there = pass.cluster.annotations().get(NETWORK_ID_ANNOTATION) == Some(&state.id);
        if !there && !state.id_written && pass.goal == Goal::Keep {
            self.annotate(pass, &json!({ NETWORK_ID_ANNOTATION: state.id })).await?;
        }
        // The cache may show the annotation only later; when it has shown it and then does not, somebody took it away.
        state.id_written = !there;
        Ok(())
    }

    /// Says why nothing can be done.
    async fn is_blocked(
        &self,
        api: &Api<FooCluster>,
        cluster: &FooCluster,
        goal: Goal,
        blocked: Blocked,
    ) -> Result<Ended, apply::Error> {
        let found = Found::Blocked(blocked.clone());
        let deleting = (goal == Goal::Delete).then_some(blocked);
        let said = Said { deleting, ..Said::of(super::status::credentials(&found, None)) };
        let written = self.publish(api, cluster, &found, said).await?;
        Ok(Ended { worked: written == Written::Yes, after: super::LOOK_AGAIN, gone: false })
    }

    /// Plans and acts for as long as one leads to the other, with the looks that plans ask for in between.
    async fn plan_and_act(
        &self,
        mut pass: Pass<'_>,
        state: &mut NetworkState,
    ) -> Result<Ended, apply::Error> {
        pass.account = pass.region.account().await.ok().map(str::to_owned);
        let mut done = Vec::new();
        for turn in 0..PLANS {
            let now = self.context.clock.now();
            let observed = state.observed(&pass.region.networks, now);
            let desired = match self.desired(&pass, &observed, state) {
                Ok(desired) => desired,
                Err(blocked) => {
                    return self.is_blocked(pass.api, pass.cluster, pass.goal, blocked).await;
                }
            };
            let plan = foo_network::plan(&desired, &observed, &state.record, &state.memory);
            let plan = self.checked(plan, &desired, &observed, state);
            state.in_view.add(&plan.report.looks, now);
            let last = turn + 1 == PLANS || self.gives_way(&pass, turn);
            if plan.actions.is_empty() && !last && self.looks(&mut pass, &plan, state, now).await {
                continue;
            }
            let ends = plan.actions.is_empty() || last;
            if ends || plan.record != state.record {
                self.publish_plan(&mut pass, &desired, &observed, &plan, state).await?;
            }
            state.record.clone_from(&plan.record);
            state.memory.clone_from(&plan.memory);
            if ends {
                self.tell(pass.cluster, &done, state).await;
                self.tell_what_is_wrong(&pass, &plan, state).await;
                self.forget_adoption(&pass, &observed).await?;
                return Ok(self.ended(&pass, &plan, now));
            }
            pass.worked = true;
            done.append(&mut self.act(&plan.actions, &pass.region, state).await);
        }
        Ok(Ended { worked: true, after: GO_ON, gone: false })
    }

    /// What the network is to be, as far as the spec and what is known of AWS tell.
    fn desired(
        &self,
        pass: &Pass<'_>,
        observed: &Observed,
        state: &NetworkState,
    ) -> Result<Desired, Blocked> {
        let cluster = pass.cluster;
        let status = self.networks.network(cluster);
        let (namespace, name) = (cluster.namespace().unwrap_or_default(), self.name_of_cluster(cluster));
        let vpc = pass.managed.vpc_id.as_deref().map(VpcId::new);
        let known = Known {
            id: &state.id,
            begun_before: state.begun_before,
            cluster: (&namespace, &name),
            region: &cluster.spec.region,
            installation: &self.installation,
            adopt_from: cluster.annotations().get(ADOPT_FROM_ANNOTATION).map(String::as_str),
            account: pass.account.as_deref(),
            zones: &state.zones,
            seen: &observed.tagged.parts,
            status: status.as_ref(),
            vpc: vpc.and_then(|vpc| observed.by_id.parts.vpcs.get(&vpc)),
            being_deleted: pass.goal == Goal::Delete,
            // A pass over what is paused does not come as far as this.
            paused: false,
        };
        desired::desired(pass.managed, &known)
    }

    /// Name of the Cluster that owns this object.
    fn name_of_cluster(&self, cluster: &FooCluster) -> String {
        let labelled = || cluster.labels().get(foo_api::names::CLUSTER_NAME_LABEL).cloned();
        let owner = self.owner(cluster).map(|owner| owner.name_any());
        owner.or_else(labelled).unwrap_or_else(|| cluster.name_any())
    }

    /// The plan, if it breaks no invariant; otherwise one that does nothing and says why.
    fn checked(&self, plan: Plan, desired: &Desired, observed: &Observed, state: &NetworkState) -> Plan {
        let violations = foo_network::violations(desired, observed, &state.record, &state.memory, &plan);
        if violations.is_empty() {
            return plan;
        }
        for violation in &violations {
            tracing::error!(network = desired.network_id, %violation, "a plan is not carried out: it breaks an invariant; please report this");
            self.context.metrics.invariant_violated(Invariant::I12);
        }
        shown::refused(plan, &violations, &state.record, &state.memory)
    }

    /// Whether no further plan is carried out in this pass.
    fn gives_way(&self, pass: &Pass<'_>, turn: usize) -> bool {
        let cluster = pass.cluster.name_any();
        if Instant::now() >= pass.until {
            tracing::warn!(cluster, "the reconcile takes long; the rest is planned again");
            return true;
        }
        if turn > 0 && pass.region.backlog() > LONGEST_BACKLOG {
            tracing::debug!(
                cluster,
                "the rate limit of the AWS account is used up; the rest is planned again"
            );
            return true;
        }
        let newest = self.own.get(&ObjectRef::from_obj(pass.cluster));
        let newest = newest.as_deref().filter(|newest| newest.uid() == pass.cluster.uid());
        // Paused in the middle, or moved, or taken over by somebody: from here on it is not ours to change.
        newest.is_none_or(|newest| self.is_left_alone(newest, pass.goal))
    }

    /// Takes the looks that a plan asks for, as far as they are due; whether there is anything new to plan with.
    async fn looks(
        &self,
        pass: &mut Pass<'_>,
        plan: &Plan,
        state: &mut NetworkState,
        now: Timestamp,
    ) -> bool {
        let networks = &pass.region.networks;
        let wants_quotas = plan.report.wants_quotas && state.quotas.is_none();
        if wants_quotas {
            state.quotas = Some(looks::quotas(networks).await);
        }
        let mut due = looks::due(&plan.report, networks, now);
        due.retain(|request| pass.taken.insert(request.clone()));
        if due.is_empty() {
            return wants_quotas;
        }
        pass.trouble = looks::take(&due, networks).await;
        true
    }

    async fn publish_plan(
        &self,
        pass: &mut Pass<'_>,
        desired: &Desired,
        observed: &Observed,
        plan: &Plan,
        state: &NetworkState,
    ) -> Result<(), apply::Error> {
        let trouble = pass.trouble.clone();
        let deleting = (pass.goal == Goal::Delete).then(|| shown::deleting(plan, trouble.as_ref()));
        let shown = shown::shown(
            &View {
                desired,
                observed,
                plan,
                zones: &state.zones,
                before: self.networks.network(pass.cluster),
            },
            trouble,
        );
        let found = Found::Managed(Box::new(shown));
        let refusal = pass.region.observer.refusal().map(|(_, error)| error);
        let said = Said { deleting, ..Said::of(super::status::credentials(&found, refusal.as_ref())) };
        let written = self.publish(pass.api, pass.cluster, &found, said).await?;
        pass.worked |= written == Written::Yes;
        Ok(())
    }

    /// What only a person can change, besides the failures that are told already: quotas, rights to look, the spec.
    async fn tell_what_is_wrong(&self, pass: &Pass<'_>, plan: &Plan, state: &mut NetworkState) {
        if let Some(error) = pass.trouble.as_ref().filter(|error| !Reason::from(error.kind).is_transient()) {
            self.warn(pass.cluster, Reason::from(error.kind).as_str(), &error.to_string(), state).await;
        }
        let Some(said) = plan.report.conditions.iter().find(|it| it.kind == ConditionKind::NetworkReady)
        else {
            return;
        };
        let is_wrong = matches!(said.reason.entry().class, Class::NeedsUser | Class::Fault);
        // Failures of actions are told one by one.
        if said.status == Status::False && is_wrong && !pass.worked {
            self.warn(pass.cluster, said.reason.as_str(), &said.message, state).await;
        }
    }

    /// Takes the permission to adopt away once the network is this management cluster's: two that had each other's would take the
    /// network from each other for ever.
    async fn forget_adoption(&self, pass: &Pass<'_>, observed: &Observed) -> Result<(), kube::Error> {
        let mut vpcs = observed.tagged.parts.vpcs.values();
        let is_ours =
            vpcs.any(|vpc| vpc.tags.get(TAG_INSTALLATION).is_some_and(|tag| *tag == *self.installation));
        if is_ours && pass.cluster.annotations().contains_key(ADOPT_FROM_ANNOTATION) {
            let annotations = json!({ ADOPT_FROM_ANNOTATION: serde_json::Value::Null });
            self.annotate(pass, &annotations).await?;
        }
        Ok(())
    }

    async fn annotate(&self, pass: &Pass<'_>, annotations: &serde_json::Value) -> Result<(), kube::Error> {
        let metadata = json!({ "uid": pass.cluster.uid(), "annotations": annotations });
        let patch = Patch::Merge(json!({ "metadata": metadata }));
        let manager = foo_api::names::managers::CLUSTER_NETWORK.to_owned();
        let params = PatchParams { field_manager: Some(manager), ..PatchParams::default() };
        pass.api.patch_metadata(&pass.cluster.name_any(), &params, &patch).await.map(drop)
    }

    fn ended(&self, pass: &Pass<'_>, plan: &Plan, now: Timestamp) -> Ended {
        let gone = pass.goal == Goal::Delete && plan.report.deletion == Deletion::Done;
        let unseen = pass.trouble.as_ref().map(|_| LOOK_AGAIN);
        let rest = (!plan.actions.is_empty()).then_some(GO_ON);
        let timers =
            [plan.report.again_at.map(|at| now.until(at)), looks::next(&plan.report, now), unseen, rest];
        let after = timers.into_iter().flatten().fold(self.context.settings.sync_period, Ord::min);
        Ended { worked: pass.worked, after: after.max(SHORTEST), gone }
    }
}
