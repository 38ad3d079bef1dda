//! A network that the provider creates: look, plan, check, publish what is about to be created, act, publish what came of it.
//!
//! Everything is decided by `foo_network::plan`; here its inputs are gathered and its actions sent. Nothing is sent before the
//! status says what it is about to create: after a crash the next manager finds out what became of it.

mod act;
mod desired;
mod identity;
mod looks;
mod record;
pub(super) mod shown;
pub(super) mod state;
mod workload;

use super::clusters::{Clusters, Goal, LOOK_AGAIN};
use super::status::{Found, Said};
use crate::apply::{self, Written};
use crate::clouds::CloudRegion;
use crate::debug;
use crate::harness::Outcome;
use crate::labels::{Controller, Invariant};
use desired::Known;
use foo_api::FooCluster;
use foo_api::cluster::ManagedNetwork;
use foo_api::in_aws::Thing;
use foo_calls::Domain as _;
use foo_calls::report::{Deletion, Status};
use foo_cloud::CloudError;
use foo_model::names::ADOPT_FROM_ANNOTATION;
use foo_model::network::{Kind, Scope};
use foo_model::reason::Class;
use foo_model::{Blocked, Reason, Timestamp, VpcId};
use foo_network::report::{ConditionKind, LookRequest};
use foo_network::{Desired, Network, Observed, Plan};
use kube::{Api, ResourceExt};
use kube_runtime::reflector::ObjectRef;
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
const LOOK_SOON: Duration = Duration::from_secs(10);
/// A pass that gave way goes on.
const GO_ON: Duration = Duration::from_secs(1);
/// No pass follows the one before sooner than this, whatever its plan says.
const SHORTEST: Duration = Duration::from_secs(1);

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
    /// When it began.
    began: Timestamp,
    /// Whether quotas were asked for.
    knows_quotas: bool,
    /// Why AWS could not be looked at, if it could not.
    trouble: Option<CloudError>,
    worked: bool,
}

impl Clusters {
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
            *state = NetworkState::first(cluster, self.context.kubernetes_clock.found().difference);
        }
        let region = match self.usable_region(cluster, goal).await {
            Ok(region) => region,
            Err(blocked) => return self.is_blocked(api, cluster, goal, blocked).await,
        };
        let pass = Pass {
            api,
            cluster,
            managed,
            goal,
            region,
            account: None,
            until: Instant::now() + self.context.settings.pass_deadline,
            taken: BTreeSet::new(),
            began: self.context.clock.now(),
            knows_quotas: false,
            trouble: None,
            worked: false,
        };
        self.keep_id(&pass, &mut state).await?;
        match looks::zones(&pass.region.networks).await {
            Ok(zones) => state.zones = zones,
            Err(error) if state.zones.is_empty() => {
                let blocked = Blocked::new(error.kind.into(), error.to_string());
                return self.is_blocked(api, cluster, goal, blocked).await;
            }
            Err(_) => {}
        }
        if let Err(blocked) = self.learn_name(pass.cluster, pass.goal, &mut state).await {
            return self.is_blocked(api, cluster, goal, blocked).await;
        }
        self.plan_and_act(pass, &mut state).await
    }

    /// Where AWS is called for a network, if its identity allows that.
    async fn usable_region(&self, cluster: &FooCluster, goal: Goal) -> Result<Arc<CloudRegion>, Blocked> {
        let region = self.region(cluster).await?;
        if goal == Goal::Keep {
            self.is_alone(cluster)?;
            let name = cluster.spec.identity_ref.as_ref().map(|reference| reference.name.as_str());
            let limits = self.context.identities.limits(name, &cluster.namespace().unwrap_or_default());
            if let Some(managed) = &cluster.spec.network.managed {
                managed.vpc_id.as_deref().map_or(Ok(()), |vpc| limits.vpc(vpc))?;
                limits.security_groups(desired::named_groups(managed))?;
                let groups = desired::named_groups(managed).map(|id| (Thing::SecurityGroup, id));
                let vpc = managed.vpc_id.iter().map(|vpc| (Thing::Vpc, vpc.as_str()));
                limits.of_neighbours(vpc.chain(groups), &self.context.identities.neighbours(&self.own))?;
            }
            let network = self.networks.network(cluster).unwrap_or_default();
            let mut known = network.subnets.iter().map(|subnet| subnet.id.as_str()).peekable();
            if known.peek().is_none() { limits.new_subnets()? } else { limits.subnets(known)? }
        }
        Ok(region)
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
        Ok(Ended { worked: written == Written::Yes, after: LOOK_AGAIN, gone: false })
    }

    /// Plans and acts for as long as one leads to the other, with the looks that plans ask for in between.
    async fn plan_and_act(
        &self,
        mut pass: Pass<'_>,
        state: &mut NetworkState,
    ) -> Result<Ended, apply::Error> {
        pass.account = pass.region.account().await.ok().map(str::to_owned);
        // Those of an earlier pass tell nothing about the account of now.
        state.quotas = None;
        pass.trouble =
            looks::renew(&state.kinds, &pass.region.networks, self.context.settings.network_period).await;
        let mut done = Vec::new();
        for turn in 0..PLANS {
            let now = self.context.clock.now();
            let observed = state.observed(&pass.region.networks, &self.tagged_cluster(pass.cluster), now);
            let desired = match self.desired(&pass, &observed, state) {
                Ok(desired) => desired,
                Err(blocked) if looks_again(&mut pass, &blocked, &observed, state, now).await => continue,
                Err(blocked) => {
                    return self.is_blocked(pass.api, pass.cluster, pass.goal, blocked).await;
                }
            };
            let plan = foo_network::plan(&desired, &observed, &state.record, &state.memory);
            let plan = self.checked(plan, &desired, &observed, state);
            state.sees(&plan, now);
            let last = turn + 1 == PLANS || self.gives_way(&pass, turn);
            if plan.actions.is_empty() && !last && self.looks(&mut pass, &plan, state, now).await {
                // When the network was first seen being deleted, for instance: looks count from then.
                state.memory.clone_from(&plan.memory);
                continue;
            }
            let ends = plan.actions.is_empty() || last;
            let plan = if last { Network::not_sent(plan, &state.record, &state.memory) } else { plan };
            if ends || plan.record != state.record {
                self.publish_plan(&mut pass, &desired, &observed, &plan, state).await?;
            }
            state.record.clone_from(&plan.record);
            state.memory.clone_from(&plan.memory);
            if ends {
                self.tell(pass.cluster, &done, state).await;
                self.tell_what_is_wrong(&pass, &plan, state).await;
                self.forget_adoption(&pass, &desired, &observed).await?;
                let trouble = pass.trouble.as_ref().map(ToString::to_string);
                let key = debug::Key::of(Controller::Cluster, pass.cluster);
                self.context.debug.planned(key, now, Arc::new(plan.clone()), trouble);
                return Ok(self.ended(&pass, &plan, state, now));
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
            uid: cluster.metadata.uid.as_deref().unwrap_or_default(),
            begun_before: state.begun_before,
            cluster: (&namespace, &name),
            kubernetes_cluster: state.kubernetes_cluster.as_deref(),
            region: &cluster.spec.region,
            installation: &self.installation,
            adopt_from: cluster.annotations().get(ADOPT_FROM_ANNOTATION).map(String::as_str),
            account: pass.account.as_deref(),
            zones: &state.zones,
            seen: &observed.tagged.parts,
            status: status.as_ref(),
            vpc: vpc.as_ref().and_then(|vpc| observed.by_id.parts.vpcs.get(vpc)),
            vpc_subnets: vpc.as_ref().and_then(|vpc| observed.in_vpc.get(vpc)).map(|look| &look.parts),
            being_deleted: pass.goal == Goal::Delete,
            // A pass over what is paused does not come as far as this.
            paused: false,
        };
        desired::desired(pass.managed, &known)
    }

    /// `<namespace>/<name>` of the Cluster, as tags have it.
    fn tagged_cluster(&self, cluster: &FooCluster) -> String {
        format!("{}/{}", cluster.namespace().unwrap_or_default(), self.name_of_cluster(cluster))
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
        plan.refused(&violations, &state.record, &state.memory)
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
        // Paused in the middle, or moved, or taken over by somebody: from here on it is not ours to change. With another
        // spec, what this pass would create may be what the user takes back.
        newest.is_none_or(|newest| {
            newest.metadata.generation != pass.cluster.metadata.generation
                || self.is_left_alone(newest, pass.goal)
        })
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
        let wants_quotas = plan.report.wants_quotas && !pass.knows_quotas;
        if wants_quotas {
            pass.knows_quotas = true;
            state.quotas = Some(looks::quotas(networks).await);
        }
        let mut due = looks::due(&plan.report, networks, now);
        due.retain(|request| pass.taken.insert(request.clone()));
        if due.is_empty() {
            return wants_quotas;
        }
        pass.trouble = looks::take(&due, networks).await.or_else(|| pass.trouble.take());
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
                clock: self.context.kubernetes_clock.found().difference,
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
            self.warn(pass.cluster, Reason::from(error.kind), &error.to_string(), state).await;
        }
        let Some(said) = plan.report.conditions.iter().find(|it| it.kind == ConditionKind::NetworkReady)
        else {
            return;
        };
        let is_wrong = matches!(said.reason.entry().class, Class::NeedsUser | Class::Fault);
        // Failures of actions are told one by one.
        if said.status == Status::False && is_wrong && !pass.worked {
            self.warn(pass.cluster, said.reason, &said.message, state).await;
        }
    }

    fn ended(&self, pass: &Pass<'_>, plan: &Plan, state: &NetworkState, now: Timestamp) -> Ended {
        let gone = pass.goal == Goal::Delete && plan.report.deletion == Deletion::Done;
        let period = self.context.settings.network_period;
        // What could not be looked at is overdue, and an immediate retry would not help.
        let looks = match &pass.trouble {
            Some(_) => Some(LOOK_SOON),
            None => looks::renewal(&state.kinds, &pass.region.networks, period, now),
        };
        let rest = (!plan.actions.is_empty() || is_cut_short(pass, plan, now)).then_some(GO_ON);
        let again = plan.report.again_at.map(|at| now.until(at));
        let name = state.kubernetes_cluster.is_none().then_some(workload::ASK_AGAIN);
        let timers = [again, looks::next(&plan.report, now), looks, rest, name];
        let after = timers.into_iter().flatten().fold(self.context.settings.sync_period, Ord::min);
        Ended { worked: pass.worked, after: after.max(SHORTEST), gone }
    }
}

/// Whether the pass gave way before it took the looks of its last plan: their time has come already, so no timer would bring the
/// next pass.
fn is_cut_short(pass: &Pass<'_>, plan: &Plan, now: Timestamp) -> bool {
    let due = looks::due(&plan.report, &pass.region.networks, now);
    let wants_quotas = plan.report.wants_quotas && !pass.knows_quotas;
    wants_quotas || due.iter().any(|request| !pass.taken.contains(request))
}

/// Looks again at the user's VPC and its subnets, if their ranges keep the network from being planned: they may be others by now, and
/// without a plan nothing asks for them. Once in a pass; whether there is anything new to plan with.
async fn looks_again(
    pass: &mut Pass<'_>,
    blocked: &Blocked,
    observed: &Observed,
    state: &mut NetworkState,
    now: Timestamp,
) -> bool {
    if !matches!(blocked.reason, Reason::RangeUnfit | Reason::RangeTooSmall) {
        return false;
    }
    let Some(vpc) = pass.managed.vpc_id.as_deref().map(VpcId::new) else { return false };
    let subnets = observed.in_vpc.get(&vpc).and_then(|look| look.begun.get(&Kind::Subnet));
    let itself = observed.by_id.begun.get(&Kind::Vpc).and_then(|begun| begun.get(vpc.as_str()));
    let looks = [
        (Kind::Vpc, Scope::Ids([vpc.to_string()].into()), itself),
        (Kind::Subnet, Scope::Vpc(vpc.clone()), subnets),
    ];
    let from = pass.began;
    let older = looks.into_iter().filter(|(.., begun)| begun.is_some_and(|begun| *begun < from));
    let requests: Vec<LookRequest> =
        older.map(|(kind, scope, _)| LookRequest { kind, scope, from }).collect();
    if requests.is_empty() {
        return false;
    }
    state.in_view.add(&requests, now);
    pass.trouble = looks::take(&requests, &pass.region.networks).await.or_else(|| pass.trouble.take());
    pass.trouble.is_none()
}
