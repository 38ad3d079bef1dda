//! One pass over a network: what the driver of calls needs of it.

use super::act;
use super::desired::{self, Known};
use super::identity;
use super::shown::{self, View};
use super::workload;
use crate::apply::{self, Written};
use crate::calls::{self, CONTINUE, Driver, Ended, Goal, Progress, READ_SOON, ReadOnly, Sent, Turn, Warned};
use crate::cluster::clusters::Clusters;
use crate::cluster::network_state::{NetworkState, reads};
use crate::cluster::status::{Found, Published, credentials};
use crate::labels::Controller;
use foo_api::cluster::ManagedNetwork;
use foo_api::{FooCluster, conditions};
use foo_calls::Process;
use foo_calls::report::Status;
use foo_cloud::{Cloud, CloudError};
use foo_model::names::ADOPT_FROM_ANNOTATION;
use foo_model::network::{Kind, Parts, Scope};
use foo_model::{Blocked, EventReason, Reason, Timestamp, VpcId};
use foo_network::report::{Condition, ConditionKind, NAMESAKE, ReadRequest};
use foo_network::{Action, Desired, Network, Observed, Plan};
use kube::{Api, ResourceExt};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// One pass.
pub(super) struct Pass<'a> {
    pub(super) clusters: &'a Clusters,
    pub(super) api: &'a Api<FooCluster>,
    pub(super) managed: &'a ManagedNetwork,
    pub(super) scope: calls::Pass<'a, FooCluster>,
    /// Reads that were taken; none is taken twice.
    pub(super) taken: BTreeSet<ReadRequest>,
    /// When it began.
    pub(super) began: Timestamp,
    /// Whether quotas were asked for.
    pub(super) knows_quotas: bool,
    pub(super) progress: Progress,
}

/// What a plan needs to know.
pub(super) struct Reads {
    reads: Vec<ReadRequest>,
    quotas: bool,
}

impl Driver for Pass<'_> {
    type Domain = Network;
    type Object = FooCluster;
    type State = NetworkState;
    type Reads = Reads;

    /// What EC2 lets one account do at once (EC2 Developer Guide, "Request throttling for the Amazon EC2 API") is left
    /// to others as well.
    const AT_ONCE: usize = 10;
    const WHAT: &'static str = "a network";
    const CONTROLLER: Controller = Controller::Cluster;
    /// Many plans of a network only read, one after the other.
    const READ_ONLY: ReadOnly = ReadOnly::Remembered;

    fn pass(&self) -> &calls::Pass<'_, FooCluster> {
        &self.scope
    }

    fn is_left_alone(&self, newest: &FooCluster) -> bool {
        self.clusters.is_left_alone(newest, self.scope.goal)
    }

    fn progress(&mut self) -> &mut Progress {
        &mut self.progress
    }

    fn process(state: &mut NetworkState) -> &mut Process<Network> {
        &mut state.process
    }

    fn warned(state: &mut NetworkState) -> &mut Warned {
        &mut state.warned
    }

    fn observed(&self, state: &NetworkState, now: Timestamp) -> Observed {
        state.observed(&self.scope.region.networks, &self.clusters.tagged_cluster(self.scope.object), now)
    }

    fn desired(&self, observed: &Observed, state: &NetworkState) -> Result<Desired, Blocked> {
        let (clusters, cluster) = (self.clusters, self.scope.object);
        let status = clusters.networks.network(cluster);
        let namespace = cluster.namespace().unwrap_or_default();
        let name = clusters.name_of_cluster(cluster);
        let vpc = self.managed.vpc_id.as_deref().map(VpcId::new);
        let known = Known {
            id: &state.identity.id,
            uid: cluster.metadata.uid.as_deref().unwrap_or_default(),
            begun_before: state.identity.begun_before,
            cluster: (&namespace, &name),
            kubernetes_cluster: state.kubernetes_cluster.as_deref(),
            connection: &state.connection,
            region: &cluster.spec.region,
            installation: &clusters.installation,
            adopt_from: cluster.annotations().get(ADOPT_FROM_ANNOTATION).map(String::as_str),
            account: self.scope.account.as_deref(),
            zones: &state.zones,
            seen: &observed.tagged.parts,
            status: status.as_ref(),
            vpc: vpc.as_ref().and_then(|vpc| observed.by_id.parts.vpcs.get(vpc)),
            vpc_subnets: vpc.as_ref().and_then(|vpc| observed.in_vpc.get(vpc)).map(|read| &read.parts),
            being_deleted: self.scope.goal == Goal::Delete,
            // A pass over what is paused does not come as far as this.
            paused: false,
        };
        desired::desired(self.managed, &known)
    }

    /// Reads the user's VPC and its subnets again, if their ranges keep the network from being planned: they may be
    /// others by now, and without a plan nothing asks for them. Once in a pass.
    async fn read_again(
        &mut self,
        blocked: &Blocked,
        observed: &Observed,
        state: &mut NetworkState,
        now: Timestamp,
    ) -> bool {
        if !matches!(blocked.reason, Reason::RangeUnfit | Reason::RangeTooSmall) {
            return false;
        }
        let Some(vpc) = self.managed.vpc_id.as_deref().map(VpcId::new) else { return false };
        let subnets = observed.in_vpc.get(&vpc).and_then(|read| read.begun.get(&Kind::Subnet));
        let itself = observed.by_id.begun.get(&Kind::Vpc).and_then(|begun| begun.get(vpc.as_str()));
        let reads = [
            (Kind::Vpc, Scope::Ids([vpc.to_string()].into()), itself),
            (Kind::Subnet, Scope::Vpc(vpc.clone()), subnets),
        ];
        let from = self.began;
        let older = reads.into_iter().filter(|(.., begun)| begun.is_some_and(|begun| *begun < from));
        let requests: Vec<ReadRequest> =
            older.map(|(kind, scope, _)| ReadRequest { kind, scope, from }).collect();
        if requests.is_empty() {
            return false;
        }
        state.in_view.add(&requests, now);
        self.read(&requests).await;
        self.progress.failure.is_none()
    }

    async fn blocked(&mut self, blocked: Blocked, _state: &mut NetworkState) -> Result<Ended, apply::Error> {
        self.clusters.is_blocked(self.api, self.scope.object, self.scope.goal, blocked).await
    }

    fn notes(&self, plan: &Plan, state: &mut NetworkState, now: Timestamp) {
        state.sees(plan, now);
    }

    fn due(&self, plan: &Plan, now: Timestamp) -> Option<Reads> {
        let quotas = plan.report.wants_quotas && !self.knows_quotas;
        let mut reads = reads::due(&plan.report, &self.scope.region.networks, now);
        reads.retain(|request| !self.taken.contains(request));
        (quotas || !reads.is_empty()).then_some(Reads { reads, quotas })
    }

    async fn take(&mut self, reads: Reads, state: &mut NetworkState, _now: Timestamp) {
        if reads.quotas {
            self.knows_quotas = true;
            state.quotas = Some(reads::quotas(&self.scope.region.networks).await);
        }
        if !reads.reads.is_empty() {
            self.read(&reads.reads).await;
            self.taken.extend(reads.reads);
        }
    }

    async fn publish(
        &mut self,
        turn: &Turn<'_, Network>,
        state: &mut NetworkState,
    ) -> Result<(), apply::Error> {
        // Before the status has it: a pass that ends between the two sends the event again, and none forgets it.
        self.warn_of_namesake(turn.plan, state).await;
        let (clusters, failure) = (self.clusters, self.progress.failure.clone());
        let deleting =
            (self.scope.goal == Goal::Delete).then(|| shown::deleting(turn.plan, failure.as_ref()));
        let shown = shown::shown(
            &View {
                desired: turn.desired,
                observed: turn.observed,
                plan: turn.plan,
                zones: &state.zones,
                before: clusters.networks.network(self.scope.object),
                clock: clusters.context.kubernetes_clock.found().difference,
            },
            failure,
        );
        let found = Found::Managed(Box::new(shown));
        let refusal = self.scope.region.observer.refusal().map(|(_, error)| error);
        let published = Published { deleting, ..Published::of(credentials(&found, refusal.as_ref())) };
        let written = clusters.publish(self.api, self.scope.object, &found, published).await?;
        self.progress.worked |= written == Written::Yes;
        Ok(())
    }

    async fn conclude(
        &mut self,
        turn: &Turn<'_, Network>,
        state: &mut NetworkState,
    ) -> Result<(), apply::Error> {
        self.publish(turn, state).await?;
        state.process.accept(turn.plan);
        Ok(())
    }

    async fn send(cloud: Arc<dyn Cloud>, action: &Action) -> Result<Parts, CloudError> {
        cloud.change_network(&action.change).await
    }

    fn named(action: &Action) -> String {
        action.role.to_string()
    }

    fn events(&self, sent: &[Sent<Action>]) -> Vec<(EventReason, String)> {
        let was_ready = self.scope.object.status.as_ref().is_some_and(|status| status.ready == Some(true));
        act::events(sent, was_ready)
    }

    fn is_amiss(condition: &Condition, worked: bool) -> bool {
        condition.kind == ConditionKind::NetworkReady && condition.status == Status::False && !worked
    }

    async fn forget_adoption(&self, turn: &Turn<'_, Network>) -> Result<(), kube::Error> {
        let installations = foo_network::installations(turn.desired, turn.observed);
        if installations.len() == 1 && installations.contains(&*self.clusters.installation) {
            identity::annotations(self.api, self.scope.object).forget_adoption().await?;
        }
        Ok(())
    }

    fn timers(&self, turn: &Turn<'_, Network>, state: &NetworkState) -> Vec<Duration> {
        let Turn { plan, now, .. } = *turn;
        let period = self.clusters.context.settings.network_period;
        // What could not be read is overdue, and an immediate retry would not help.
        let reads = match &self.progress.failure {
            Some(_) => Some(READ_SOON),
            None => reads::renewal(&state.kinds, &self.scope.region.networks, period, now),
        };
        // A pass that gave way did not take the reads of its last plan: no timer brings them.
        let rest = (!plan.actions.is_empty() || self.due(plan, now).is_some()).then_some(CONTINUE);
        let again = plan.report.again_at.map(|at| now.until(at));
        let name = state.kubernetes_cluster.is_none().then_some(workload::ASK_AGAIN);
        let reads_of_plan = reads::next(&plan.report, now);
        [again, reads_of_plan, reads, rest, name, state.connection_again].into_iter().flatten().collect()
    }
}

impl Pass<'_> {
    /// An event when `NetworkReady` reports for the first time that another management cluster has a network for a
    /// Cluster of this name.
    async fn warn_of_namesake(&self, plan: &Plan, state: &mut NetworkState) {
        let kind: &'static str = ConditionKind::NetworkReady.into();
        let before = self.scope.object.status.as_ref().map(|it| it.conditions.as_slice()).unwrap_or_default();
        let is_known = conditions::find(before, kind).is_some_and(|it| it.message.contains(NAMESAKE));
        if plan.report.namesake && !is_known {
            state
                .warned
                .warn(&self.clusters.context, self.scope.object, EventReason::NetworkElsewhere, NAMESAKE)
                .await;
        }
    }

    async fn read(&mut self, requests: &[ReadRequest]) {
        let failure = reads::take(requests, &self.scope.region.networks).await;
        self.progress.failure = failure.or_else(|| self.progress.failure.take());
    }
}
