//! One pass over an EKS cluster: `foo_eks::plan` decides, [`crate::calls`] drives. Here its inputs are gathered, and
//! its status is written.

use super::act;
use super::api_server::ApiServer;
use super::control_planes::{EksControlPlanes, Place};
use super::desired::{self, Known};
use super::identity::{self, OwnPrincipal, own_principal};
use super::kubeconfig::Server;
use super::reads;
use super::shown::{self, Facts};
use super::state::EksState;
use super::windows::{self, windows};
use crate::apply::{self, Written};
use crate::calls::{
    self, CONTINUE, Driver, Ended, Goal, Progress, Purpose, READ_SOON, ReadOnly, Sent, Turn, Warned,
};
use crate::clock::kube_time;
use crate::clock_warnings;
use crate::identities::Limits;
use crate::labels::Controller;
use crate::warnings;
use foo_api::FooControlPlane;
use foo_api::control_plane::Eks as Spec;
use foo_api::control_plane::eks::Addon;
use foo_api::in_aws::Thing;
use foo_calls::Process;
use foo_calls::report::Status;
use foo_cloud::{Cloud, CloudError};
use foo_eks::report::{Condition, ConditionKind, ReadRequest};
use foo_eks::{Action, Desired, Eks, Observed, Plan};
use foo_model::eks::Changed;
use foo_model::names::{ADOPT_FROM_ANNOTATION, TAG_INSTALLATION};
use foo_model::reason::Class;
use foo_model::{Blocked, EventReason, Reason, Timestamp};
use kube::{Resource, ResourceExt};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// Retry interval when planning is blocked.
const TRY_AGAIN: Duration = Duration::from_mins(1);

/// One pass.
pub(super) struct Pass<'a> {
    control_planes: &'a EksControlPlanes,
    eks: &'a Spec,
    place: Place,
    scope: calls::Pass<'a, FooControlPlane>,
    /// Which user or role calls AWS, if known.
    own_principal: Option<OwnPrincipal>,
    /// Reads that were taken; none is taken twice.
    taken: BTreeSet<ReadRequest>,
    /// When kubeconfig or API server need a pass.
    upkeep: Option<Duration>,
    progress: Progress,
}

impl Driver for Pass<'_> {
    type Domain = Eks;
    type Object = FooControlPlane;
    type State = EksState;
    type Reads = Vec<ReadRequest>;

    /// EKS's limits are of the whole account.
    const AT_ONCE: usize = 4;
    const WHAT: &'static str = "an EKS cluster";
    const CONTROLLER: Controller = Controller::Eks;
    /// EKS's responses take long, and the status reports which one is waited for.
    const READ_ONLY: ReadOnly = ReadOnly::Published;

    fn pass(&self) -> &calls::Pass<'_, FooControlPlane> {
        &self.scope
    }

    fn is_left_alone(&self, newest: &FooControlPlane) -> bool {
        self.control_planes.is_left_alone(newest, self.scope.goal)
    }

    fn progress(&mut self) -> &mut Progress {
        &mut self.progress
    }

    fn process(state: &mut EksState) -> &mut Process<Eks> {
        &mut state.process
    }

    fn warned(state: &mut EksState) -> &mut Warned {
        &mut state.warned
    }

    fn observed(&self, state: &EksState, now: Timestamp) -> Observed {
        let clocks = self.scope.context.kubernetes_clock.found().agreement;
        state.reads.observed(now, clocks, self.scope.region.clock())
    }

    fn desired(&self, observed: &Observed, state: &EksState) -> Result<Desired, Blocked> {
        let (control_planes, control_plane) = (self.control_planes, self.scope.object);
        let namespace = control_plane.namespace().unwrap_or_default();
        let cluster = control_planes.name_of_cluster(control_plane);
        let status = self.place.foo_cluster.as_ref().and_then(|it| it.status.as_ref());
        let ready = status.filter(|status| status.ready == Some(true));
        let name = control_planes.name_in_eks(control_plane).unwrap_or_default();
        let limits = control_planes.context.identities.limits(self.place.identity.as_deref(), &namespace);
        let known = Known {
            id: &state.identity.id,
            uid: control_plane.metadata.uid.as_deref().unwrap_or_default(),
            begun_before: state.identity.begun_before,
            name: &name,
            cluster: (&namespace, &cluster),
            installation: &control_planes.installation,
            adopt_from: control_plane.annotations().get(ADOPT_FROM_ANNOTATION).map(String::as_str),
            adoption_allowed: limits.allow_adoption(),
            neighbours: control_planes.neighbours(control_plane),
            region: &self.place.region,
            account: self.scope.account.as_deref(),
            own_principal: self.own_principal.as_ref().map(|it| it.arn.as_str()),
            own_principal_is_guessed: self.own_principal.as_ref().is_some_and(|it| it.is_guessed),
            network: ready.and_then(|status| status.network.as_ref()),
            node_profiles: control_planes.node_profiles(control_plane, &self.place),
            nodes_settled: control_planes.nodes_settled(control_plane),
            oldest_kubelet: control_planes.oldest_kubelet(control_plane),
            maintenance: windows(control_plane, self.eks).maintenance(observed.now),
            being_deleted: self.scope.goal == Goal::Delete,
            deletion_confirmed: !control_planes.is_unconfirmed(control_plane, self.eks),
        };
        desired::desired(&control_plane.spec.version, self.eks, &known)
    }

    async fn blocked(&mut self, blocked: Blocked, state: &mut EksState) -> Result<Ended, apply::Error> {
        self.control_planes.is_blocked(self.scope.object, self.scope.goal, blocked, state).await
    }

    fn notes(&self, plan: &Plan, state: &mut EksState, now: Timestamp) {
        state.reads.request(&plan.report.reads, now);
    }

    fn due(&self, plan: &Plan, now: Timestamp) -> Option<Vec<ReadRequest>> {
        let mut due = reads::due(&plan.report.reads, now);
        due.retain(|request| !self.taken.contains(request));
        (!due.is_empty()).then_some(due)
    }

    async fn take(&mut self, reads: Vec<ReadRequest>, state: &mut EksState, now: Timestamp) {
        let failure = state.reads.take(&reads, &self.scope.region.clusters, now).await;
        self.progress.failure = failure.or_else(|| self.progress.failure.take());
        self.taken.extend(reads);
    }

    async fn publish(&mut self, turn: &Turn<'_, Eks>, state: &mut EksState) -> Result<(), apply::Error> {
        self.publish_with(ApiServer::default(), turn.plan, state).await
    }

    /// With it the result of the controller's own checks of the API server is published.
    async fn conclude(&mut self, turn: &Turn<'_, Eks>, state: &mut EksState) -> Result<(), apply::Error> {
        state.process.accept(turn.plan);
        if let Some(newest) = self.scope.newest().filter(|_| self.scope.goal == Goal::Keep) {
            self.control_planes.keep_adopted(&newest, turn.plan.record.adopted).await?;
        }
        let cluster = turn.plan.report.cluster.as_ref();
        let server = cluster.and_then(|cluster| Server::of(cluster, &self.scope.region.key.region));
        let known = match self.scope.goal {
            Goal::Keep => {
                self.control_planes
                    .keep_api_server(self.scope.object, server, &self.scope.region, state)
                    .await?
            }
            // Nodes and pools are deleted: it is no longer needed.
            Goal::Delete => ApiServer::default(),
        };
        self.progress.worked |= known.worked;
        self.upkeep = self.control_planes.next_upkeep(state, &known, turn.now);
        self.publish_with(known, turn.plan, state).await
    }

    async fn send(cloud: Arc<dyn Cloud>, action: &Action) -> Result<Changed, CloudError> {
        cloud.change_eks(&action.change, action.token.as_deref()).await
    }

    fn named(action: &Action) -> String {
        act::in_words(action)
    }

    fn events(&self, sent: &[Sent<Action>]) -> Vec<(EventReason, String)> {
        act::events(sent)
    }

    fn is_amiss(condition: &Condition, _worked: bool) -> bool {
        match condition.kind {
            ConditionKind::ClusterReady | ConditionKind::Upgrading | ConditionKind::AccessReady => {
                condition.status == Status::False
            }
            // An event about windows that cannot be used comes with the warning of `Ready`.
            ConditionKind::AddonsReady => {
                condition.status == Status::False && condition.reason != Reason::MaintenanceWindowsUnusable
            }
            ConditionKind::Deleting => condition.status == Status::True,
        }
    }

    async fn forget_adoption(&self, turn: &Turn<'_, Eks>) -> Result<(), kube::Error> {
        let cluster = turn.plan.report.cluster.as_ref();
        let installation = cluster.and_then(|it| it.tags.get(TAG_INSTALLATION));
        if installation.is_some_and(|id| **id == *self.control_planes.installation) {
            let api = self.control_planes.api(self.scope.object);
            identity::annotations(&api, self.scope.object).forget_adoption().await?;
        }
        Ok(())
    }

    fn timers(&self, turn: &Turn<'_, Eks>, _state: &EksState) -> Vec<Duration> {
        let Turn { plan, now, .. } = *turn;
        let failure = self.progress.failure.as_ref().map(|_| READ_SOON);
        let again = plan.report.again_at.map(|at| now.until(at));
        let rest = turn.is_last.then_some(CONTINUE);
        let timers = [again, reads::next(&plan.report.reads, now), failure, rest, self.upkeep];
        timers.into_iter().flatten().collect()
    }
}

impl Pass<'_> {
    async fn publish_with(
        &mut self,
        known: ApiServer,
        plan: &Plan,
        state: &mut EksState,
    ) -> Result<(), apply::Error> {
        // What is about to be done is published before it counts as recorded.
        let initialized = state.process.record.initialized;
        let before = std::mem::replace(&mut state.process.record, plan.record.clone());
        state.process.record.initialized |= initialized;
        let facts = Facts { plan: Some(plan), ..Facts::default() };
        match self.control_planes.publish(self.scope.object, facts, known, state).await {
            Ok(written) => {
                self.progress.worked |= written == Written::Yes;
                Ok(())
            }
            Err(error) => {
                state.process.record = before;
                Err(error)
            }
        }
    }
}

impl EksControlPlanes {
    /// One pass over the EKS cluster of a FooControlPlane.
    pub(super) async fn eks_pass(
        &self,
        control_plane: &FooControlPlane,
        eks: &Spec,
        goal: Goal,
        state: &mut EksState,
    ) -> Result<Ended, apply::Error> {
        let pass = match self.begin(control_plane, eks, goal, Purpose::Pass).await {
            Ok(pass) => pass,
            Err(blocked) => return self.is_blocked(control_plane, goal, blocked, state).await,
        };
        self.keep_id(control_plane, goal, state).await?;
        calls::run(pass, state).await
    }

    /// Finds out where AWS is called for a cluster, and whether its identity allows that.
    pub(super) async fn begin<'a>(
        &'a self,
        control_plane: &'a FooControlPlane,
        eks: &'a Spec,
        goal: Goal,
        purpose: Purpose,
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
        let region = self.region(control_plane, &credentials, &place.region, purpose).await?;
        let own_principal = own_principal(&region, &credentials).await;
        if goal == Goal::Keep {
            let own = own_principal.as_ref().map(|it| it.arn.as_str());
            self.is_alone_with(control_plane, own).await?;
        }
        let account = region.account().await.ok().map(str::to_owned);
        Ok(Pass {
            control_planes: self,
            eks,
            own_principal,
            place,
            scope: calls::Pass {
                context: &self.context,
                object: control_plane,
                own: &self.own,
                goal,
                region,
                account,
            },
            taken: BTreeSet::new(),
            upkeep: None,
            progress: Progress::begin(&self.context),
        })
    }

    /// Reports why nothing can be done.
    async fn is_blocked(
        &self,
        control_plane: &FooControlPlane,
        goal: Goal,
        blocked: Blocked,
        state: &mut EksState,
    ) -> Result<Ended, apply::Error> {
        let known = match blocked.reason {
            // Limits of the identity are about what is newly used. They do not end the access to a cluster that runs,
            // which drains need.
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
            state.warned.warn(&self.context, control_plane, blocked.reason, &blocked.message).await;
        }
        Ok(Ended { worked: written == Written::Yes, after: TRY_AGAIN, gone: false })
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
        let facts = Facts { name, kubeconfig: known.kubeconfig, api_server: known.version, clock, ..facts };
        let now = kube_time(&self.context.kubernetes_clock);
        let before = state.status(control_plane);
        let mut status = shown::status(control_plane, &before, &facts, &state.process.record, now);
        let region = self.place(control_plane).ok().map(|place| place.region);
        let mut warnings = clock_warnings::of(&self.context, region.as_deref());
        warnings.extend(windows::warning(control_plane, self.context.clock.now()));
        warnings::add_to_ready(&mut status.conditions, &warnings);
        let written = self.write(control_plane, status, state).await?;
        let object = control_plane.object_ref(&());
        warnings::publish_new(&self.context, &object, &before.conditions, &warnings).await;
        Ok(written)
    }
}

/// Whether the identity allows everything that a spec names in AWS.
fn named(eks: &Spec, limits: &Limits) -> Result<(), Blocked> {
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
