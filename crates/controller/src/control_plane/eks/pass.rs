//! One pass over an EKS cluster: look, plan, check, publish what is about to be done, act, publish what came of it.
//!
//! Everything about the cluster is decided by `foo_eks::plan`; here its inputs are gathered and its actions sent. Nothing is sent before
//! the status says what is about to be done: after a crash the next manager finds out what became of it.

use super::api_server::ApiServer;
use super::control_planes::{EksControlPlanes, Goal, Place};
use super::desired::{self, Known};
use super::identity::{OwnPrincipal, own_principal};
use super::kubeconfig::Server;
use super::looks;
use super::shown::{self, Facts};
use super::state::EksState;
use crate::apply::{self, Written};
use crate::clock::kube_time;
use crate::clouds::CloudRegion;
use crate::debug;
use crate::harness::Outcome;
use crate::identities::Limits;
use crate::labels::{Controller, Invariant};
use foo_api::FooControlPlane;
use foo_api::control_plane::Eks;
use foo_api::control_plane::eks::Addon;
use foo_api::in_aws::Thing;
use foo_calls::Domain as _;
use foo_calls::report::{Deletion, Status};
use foo_cloud::CloudError;
use foo_eks::report::{ConditionKind, LookRequest};
use foo_eks::{Desired, Observed, Plan};
use foo_model::names::ADOPT_FROM_ANNOTATION;
use foo_model::reason::Class;
use foo_model::{Blocked, Reason, Timestamp};
use kube::ResourceExt;
use kube_runtime::reflector::ObjectRef;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Plans in one pass: what each of them looks at or does is what the next one needs.
const PLANS: usize = 40;
/// With more calls of the account waiting than this, a pass does not go on to its next plan.
const LONGEST_BACKLOG: Duration = Duration::from_secs(5);
/// After a look that failed: the planner asks again with growing pauses of its own.
const LOOK_SOON: Duration = Duration::from_secs(10);
/// How soon what nobody could plan is tried again.
const TRY_AGAIN: Duration = Duration::from_mins(1);
/// A pass that gave way goes on.
const GO_ON: Duration = Duration::from_secs(1);
/// No pass follows the one before sooner than this, whatever its plan says.
const SHORTEST: Duration = Duration::from_secs(1);

/// What a pass over an EKS cluster came to.
pub(super) struct Ended {
    /// Whether anything was written or sent.
    worked: bool,
    /// When there is the next.
    after: Duration,
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
    control_plane: &'a FooControlPlane,
    eks: &'a Eks,
    goal: Goal,
    place: Place,
    region: Arc<CloudRegion>,
    /// The account that AWS is called for, if known.
    account: Option<String>,
    /// Which user or role calls AWS, if known.
    own_principal: Option<OwnPrincipal>,
    /// No plan is begun after this moment.
    until: Instant,
    /// Looks that were taken; none is taken twice.
    taken: BTreeSet<LookRequest>,
    /// Why AWS could not be looked at, if it could not.
    trouble: Option<CloudError>,
    worked: bool,
}

impl EksControlPlanes {
    /// One pass over the EKS cluster of a FooControlPlane.
    pub(super) async fn eks_pass(
        &self,
        control_plane: &FooControlPlane,
        eks: &Eks,
        goal: Goal,
        state: &mut EksState,
    ) -> Result<Ended, apply::Error> {
        let pass = match self.begin(control_plane, eks, goal).await {
            Ok(pass) => pass,
            Err(blocked) => return self.is_blocked(control_plane, goal, blocked, state).await,
        };
        self.keep_id(control_plane, goal, state).await?;
        self.plan_and_act(pass, state).await
    }

    /// Finds out where AWS is called for a cluster, and whether its identity allows that.
    async fn begin<'a>(
        &self,
        control_plane: &'a FooControlPlane,
        eks: &'a Eks,
        goal: Goal,
    ) -> Result<Pass<'a>, Blocked> {
        let place = self.place(control_plane)?;
        let credentials = self.credentials(control_plane, &place)?;
        if goal == Goal::Keep {
            self.may_have_its_name(control_plane, &place, &credentials)?;
            let namespace = control_plane.namespace().unwrap_or_default();
            let limits = self.context.identities.limits(place.identity.as_deref(), &namespace);
            named(eks, &limits)?;
            let subnets = eks.subnets.iter().map(|id| (Thing::Subnet, id.as_str()));
            let groups = eks.security_groups.iter().map(|id| (Thing::SecurityGroup, id.as_str()));
            let neighbours = self.context.identities.neighbours(&self.foo_clusters);
            limits.of_neighbours(subnets.chain(groups), &neighbours)?;
        }
        let region = self.region(control_plane, &credentials, &place.region).await?;
        let own_principal = own_principal(&region, &credentials).await;
        if goal == Goal::Keep {
            let own = own_principal.as_ref().map(|it| it.arn.as_str());
            self.is_alone_with(control_plane, own).await?;
        }
        Ok(Pass {
            control_plane,
            eks,
            goal,
            account: region.account().await.ok().map(str::to_owned),
            own_principal,
            place,
            region,
            until: Instant::now() + self.context.settings.pass_deadline,
            taken: BTreeSet::new(),
            trouble: None,
            worked: false,
        })
    }

    /// Says why nothing can be done.
    async fn is_blocked(
        &self,
        control_plane: &FooControlPlane,
        goal: Goal,
        blocked: Blocked,
        state: &mut EksState,
    ) -> Result<Ended, apply::Error> {
        let known = match blocked.reason {
            // Limits of the identity are about what is used anew. They do not end the access to a cluster that runs, which drains need.
            Reason::RoleNotAllowed
            | Reason::KmsKeyNotAllowed
            | Reason::SecurityGroupNotAllowed
            | Reason::SubnetNotAllowed => self.keep_for_drains(control_plane, state).await,
            _ => self.watch_api_server(control_plane, &blocked, state).await?,
        };
        let facts = Facts {
            deleting: (goal == Goal::Delete).then(|| blocked.clone()),
            blocked: Some(blocked.clone()),
            ..Facts::default()
        };
        let written = self.publish(control_plane, facts, known, state).await?;
        if blocked.reason.entry().class != Class::Waiting {
            self.warn(control_plane, blocked.reason, &blocked.message, state).await;
        }
        Ok(Ended { worked: written == Written::Yes, after: TRY_AGAIN, gone: false })
    }

    /// Plans and acts for as long as one leads to the other, with the looks that plans ask for in between.
    async fn plan_and_act(&self, mut pass: Pass<'_>, state: &mut EksState) -> Result<Ended, apply::Error> {
        let mut done = Vec::new();
        for turn in 0..PLANS {
            let now = self.context.clock.now();
            let observed = state.looks.observed(now, pass.region.clock());
            let desired = match self.desired(&pass, state) {
                Ok(desired) => desired,
                Err(blocked) => {
                    return self.is_blocked(pass.control_plane, pass.goal, blocked, state).await;
                }
            };
            let plan = self.checked(&desired, &observed, state);
            state.looks.request(&plan.report.looks, now);
            let last = turn + 1 == PLANS || self.gives_way(&pass, turn);
            let due = if last { Vec::new() } else { pass.due(&plan, now) };
            let acts = !last && !plan.actions.is_empty();
            let ends = !acts && due.is_empty();
            let plan = if last { foo_eks::Eks::not_sent(plan, &state.record, &state.memory) } else { plan };
            if !ends && plan.record != state.record {
                self.publish_plan(&mut pass, &plan, ApiServer::default(), state).await?;
            }
            state.record.clone_from(&plan.record);
            state.memory.clone_from(&plan.memory);
            if ends {
                return self.finish(pass, &plan, &done, (last, now), state).await;
            }
            if acts {
                pass.worked = true;
                done.append(&mut self.act(&plan.actions, &pass.region, state).await);
            } else {
                pass.trouble = state.looks.take(&due, &pass.region.clusters, now).await.or(pass.trouble);
                pass.taken.extend(due);
            }
        }
        Ok(Ended { worked: true, after: GO_ON, gone: false })
    }

    /// After the last plan: the API server, the status, events, and when there is the next pass.
    async fn finish(
        &self,
        mut pass: Pass<'_>,
        plan: &Plan,
        done: &[super::act::Done],
        (last, now): (bool, Timestamp),
        state: &mut EksState,
    ) -> Result<Ended, apply::Error> {
        let control_plane = pass.control_plane;
        let gone = pass.goal == Goal::Delete && plan.report.deletion == Deletion::Done;
        let server =
            plan.report.cluster.as_ref().and_then(|cluster| Server::of(cluster, &pass.region.key.region));
        let known = match pass.goal {
            Goal::Keep => self.keep_api_server(control_plane, server, &pass.region, state).await?,
            // Nodes and pools are gone: nobody needs it any more.
            Goal::Delete => ApiServer::default(),
        };
        pass.worked |= known.worked;
        let upkeep = self.next_upkeep(state, &known, now);
        self.publish_plan(&mut pass, plan, known, state).await?;
        self.tell(control_plane, done, state).await;
        self.tell_what_is_wrong(&pass, plan, state).await;
        self.forget_adoption(control_plane, plan).await?;
        let failure = pass.trouble.as_ref().map(ToString::to_string);
        let key = debug::Key::of(Controller::Eks, control_plane);
        self.context.debug.planned(key, now, Arc::new(plan.clone()), failure);
        let trouble = pass.trouble.as_ref().map(|_| LOOK_SOON);
        let again = plan.report.again_at.map(|at| now.until(at));
        let rest = last.then_some(GO_ON);
        let timers = [again, looks::next(&plan.report.looks, now), trouble, rest, upkeep];
        let after = timers.into_iter().flatten().fold(self.context.settings.sync_period, Ord::min);
        Ok(Ended { worked: pass.worked, after: after.max(SHORTEST), gone })
    }

    /// What the cluster is to be, as far as the spec and what is known of Kubernetes tell.
    fn desired(&self, pass: &Pass<'_>, state: &EksState) -> Result<Desired, Blocked> {
        let control_plane = pass.control_plane;
        let namespace = control_plane.namespace().unwrap_or_default();
        let cluster = self.name_of_cluster(control_plane);
        let status = pass.place.foo_cluster.as_ref().and_then(|it| it.status.as_ref());
        let ready = status.filter(|status| status.ready == Some(true));
        let name = self.name_in_eks(control_plane).unwrap_or_default();
        let known = Known {
            id: &state.id,
            uid: control_plane.metadata.uid.as_deref().unwrap_or_default(),
            begun_before: state.begun_before,
            name: &name,
            cluster: (&namespace, &cluster),
            installation: &self.installation,
            adopt_from: control_plane.annotations().get(ADOPT_FROM_ANNOTATION).map(String::as_str),
            adoption_allowed: self
                .context
                .identities
                .limits(pass.place.identity.as_deref(), &namespace)
                .allow_adoption(),
            neighbours: self.neighbours(control_plane),
            region: &pass.place.region,
            account: pass.account.as_deref(),
            own_principal: pass.own_principal.as_ref().map(|it| it.arn.as_str()),
            own_principal_is_guessed: pass.own_principal.as_ref().is_some_and(|it| it.is_guessed),
            network: ready.and_then(|status| status.network.as_ref()),
            node_profiles: self.node_profiles(control_plane, &pass.place),
            nodes_settled: self.nodes_settled(control_plane),
            oldest_kubelet: self.oldest_kubelet(control_plane),
            being_deleted: pass.goal == Goal::Delete,
            deletion_confirmed: !self.is_unconfirmed(control_plane, pass.eks),
        };
        desired::desired(&control_plane.spec.version, pass.eks, &known)
    }

    /// The plan, if it breaks no invariant; otherwise one that does nothing and says why.
    fn checked(&self, desired: &Desired, observed: &Observed, state: &EksState) -> Plan {
        let plan = foo_eks::plan(desired, observed, &state.record, &state.memory);
        let violations = foo_eks::violations(desired, observed, &state.record, &state.memory, &plan);
        if violations.is_empty() {
            return plan;
        }
        for violation in &violations {
            tracing::error!(cluster = desired.name, %violation, "a plan is not carried out: it breaks an invariant; please report this");
            self.context.metrics.invariant_violated(Invariant::I12);
        }
        plan.refused(&violations, &state.record, &state.memory)
    }

    /// Whether no further plan is carried out in this pass.
    fn gives_way(&self, pass: &Pass<'_>, turn: usize) -> bool {
        let name = pass.control_plane.name_any();
        if Instant::now() >= pass.until {
            tracing::warn!(name, "the reconcile takes long; the rest is planned again");
            return true;
        }
        if turn > 0 && pass.region.backlog() > LONGEST_BACKLOG {
            tracing::debug!(name, "the rate limit of the AWS account is used up; the rest is planned again");
            return true;
        }
        let newest = self.own.get(&ObjectRef::from_obj(pass.control_plane));
        let newest = newest.as_deref().filter(|newest| newest.uid() == pass.control_plane.uid());
        // Paused in the middle, or moved: from here on it is not ours to change. With another spec, what this pass would do may be
        // what the user takes back. The generation changes when the pass itself publishes the endpoint, with which it ends.
        newest.is_none_or(|newest| {
            newest.metadata.generation != pass.control_plane.metadata.generation
                || self.is_left_alone(newest, pass.goal)
        })
    }

    async fn publish_plan(
        &self,
        pass: &mut Pass<'_>,
        plan: &Plan,
        known: ApiServer,
        state: &mut EksState,
    ) -> Result<(), apply::Error> {
        // What is about to be done is published before it counts as recorded.
        let initialized = state.record.initialized;
        let before = std::mem::replace(&mut state.record, plan.record.clone());
        state.record.initialized |= initialized;
        let facts = Facts { plan: Some(plan), ..Facts::default() };
        match self.publish(pass.control_plane, facts, known, state).await {
            Ok(written) => {
                pass.worked |= written == Written::Yes;
                Ok(())
            }
            Err(error) => {
                state.record = before;
                Err(error)
            }
        }
    }

    /// Writes what a pass found out.
    pub(super) async fn publish(
        &self,
        control_plane: &FooControlPlane,
        facts: Facts<'_>,
        known: ApiServer,
        state: &mut EksState,
    ) -> Result<Written, apply::Error> {
        let name = self.name_in_eks(control_plane).unwrap_or_default();
        let clock = self.context.kubernetes_clock.found().difference;
        let facts = Facts { name, kubeconfig: known.kubeconfig, api_server: known.answer, clock, ..facts };
        let now = kube_time(&self.context.kubernetes_clock);
        let status = shown::status(control_plane, &state.status(control_plane), &facts, &state.record, now);
        self.write(control_plane, status, state).await
    }

    /// What only a person can change, besides the failures that are told already: rights to look, the spec.
    async fn tell_what_is_wrong(&self, pass: &Pass<'_>, plan: &Plan, state: &mut EksState) {
        if let Some(error) = pass.trouble.as_ref().filter(|error| !Reason::from(error.kind).is_transient()) {
            self.warn(pass.control_plane, Reason::from(error.kind), &error.to_string(), state).await;
        }
        for said in &plan.report.conditions {
            let holds_back = match said.kind {
                ConditionKind::ClusterReady
                | ConditionKind::Upgrading
                | ConditionKind::AddonsReady
                | ConditionKind::AccessReady => said.status == Status::False,
                ConditionKind::Deleting => said.status == Status::True,
            };
            let is_wrong = matches!(said.reason.entry().class, Class::NeedsUser | Class::Fault);
            if holds_back && is_wrong {
                self.warn(pass.control_plane, said.reason, &said.message, state).await;
            }
        }
    }
}

/// Whether the identity allows everything that a spec names in AWS.
fn named(eks: &Eks, limits: &Limits) -> Result<(), Blocked> {
    let of_addon = |addon: &'_ Addon| -> Vec<String> {
        let of_pods = addon.pod_identities.iter().flatten().map(|it| it.role_arn.clone());
        addon.service_account_role_arn.iter().cloned().chain(of_pods).collect()
    };
    let of_pods = eks.pod_identity_associations.iter().map(|it| it.role_arn.clone());
    let roles = eks.addons.iter().flat_map(of_addon).chain(of_pods).chain([eks.role_arn.clone()]);
    for role in roles.collect::<BTreeSet<String>>() {
        limits.role(&role)?;
    }
    if let Some(encryption) = &eks.encryption {
        limits.kms_key(&encryption.kms_key_arn)?;
    }
    limits.subnets(eks.subnets.iter().map(String::as_str))?;
    limits.security_groups(eks.security_groups.iter().map(String::as_str))
}

impl Pass<'_> {
    /// The looks that a plan asks for, as far as they are due and were not taken in this pass.
    fn due(&self, plan: &Plan, now: Timestamp) -> Vec<LookRequest> {
        let mut due = looks::due(&plan.report.looks, now);
        due.retain(|request| !self.taken.contains(request));
        due
    }
}
