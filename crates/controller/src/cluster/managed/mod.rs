//! A network that the provider creates: `foo_network::plan` decides, [`crate::calls`] drives. Here its inputs are
//! gathered, and its status is written. [`plans`] responds to what users ask would follow from a change.

mod act;
mod connection;
mod desired;
mod identity;
mod pass;
mod plans;
mod shown;
mod workload;

use super::clusters::{Clusters, READ_AGAIN};
use super::network_state::{NetworkState, reads};
use super::status::{Found, Published};
use crate::apply::{self, Written};
use crate::calls::{self, Ended, Goal, Progress, Purpose};
use crate::clouds::CloudRegion;
use foo_api::FooCluster;
use foo_api::cluster::ManagedNetwork;
use foo_api::in_aws::Thing;
use foo_model::Blocked;
use kube::{Api, ResourceExt};
use kube_runtime::reflector::ObjectRef;
use pass::Pass;
use std::collections::BTreeSet;
use std::sync::Arc;

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
        let region = match self.usable_region(cluster, goal, Purpose::Pass).await {
            Ok(region) => region,
            Err(blocked) => return self.is_blocked(api, cluster, goal, blocked).await,
        };
        let (began, mut progress) = (self.context.clock.now(), Progress::begin(&self.context));
        self.keep_id(api, cluster, goal, &mut state).await?;
        match reads::zones(&region.networks).await {
            Ok(zones) => state.zones = zones,
            Err(error) if state.zones.is_empty() => {
                let blocked = Blocked::new(error.kind.into(), error.to_string());
                return self.is_blocked(api, cluster, goal, blocked).await;
            }
            Err(_) => {}
        }
        if let Err(blocked) = self.learn_name(cluster, goal, &mut state).await {
            return self.is_blocked(api, cluster, goal, blocked).await;
        }
        self.learn_connection(cluster, managed, &mut state).await;
        let account = region.account().await.ok().map(str::to_owned);
        // Those of an earlier pass may be of another account.
        state.quotas = None;
        let period = self.context.settings.network_period;
        progress.failure = reads::renew(&state.kinds, &region.networks, period).await;
        let pass = Pass {
            clusters: self,
            api,
            managed,
            scope: calls::Pass {
                context: &self.context,
                object: cluster,
                own: &self.own,
                goal,
                region,
                account,
            },
            taken: BTreeSet::new(),
            began,
            knows_quotas: false,
            progress,
        };
        calls::run(pass, &mut state).await
    }

    /// Where AWS is called for a network, if its identity allows that.
    async fn usable_region(
        &self,
        cluster: &FooCluster,
        goal: Goal,
        purpose: Purpose,
    ) -> Result<Arc<CloudRegion>, Blocked> {
        let region = self.region(cluster, purpose).await?;
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
            let mut known = network.all_subnets().map(|subnet| subnet.id.as_str()).peekable();
            if known.peek().is_none() { limits.new_subnets()? } else { limits.subnets(known)? }
        }
        Ok(region)
    }

    /// Reports why nothing can be done.
    async fn is_blocked(
        &self,
        api: &Api<FooCluster>,
        cluster: &FooCluster,
        goal: Goal,
        blocked: Blocked,
    ) -> Result<Ended, apply::Error> {
        let found = Found::Blocked(blocked.clone());
        let deleting = (goal == Goal::Delete).then_some(blocked);
        let published = Published { deleting, ..Published::of(super::status::credentials(&found, None)) };
        let written = self.publish(api, cluster, &found, published).await?;
        Ok(Ended { worked: written == Written::Yes, after: READ_AGAIN, gone: false })
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
}
