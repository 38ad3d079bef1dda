//! What the cluster controller has between passes, and what every pass needs: the cloud, the owner, the status.

use super::network_state::Networks;
use super::status::{self, Found, Published};
use crate::Context;
use crate::apply::{self, StatusWriter};
use crate::calls::{Goal, Purpose};
use crate::clock::kube_time;
use crate::clock_warnings;
use crate::clouds::{CloudKey, CloudRegion};
use crate::credentials::Credentials;
use crate::owners;
use crate::warnings;
use foo_api::capi::Cluster;
use foo_api::{FooCluster, FooMachinePool, names};
use foo_model::{Blocked, Reason};
use kube::{Api, Resource, ResourceExt};
use kube_runtime::reflector::{ObjectRef, Store};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// How soon a network that could not be found is looked up again.
pub(super) const READ_AGAIN: Duration = Duration::from_mins(1);

/// The cluster controller's own state.
pub(super) struct Clusters {
    pub(super) context: Context,
    /// Which management cluster this is.
    pub(super) installation: Arc<str>,
    /// What is remembered of networks that the provider creates.
    pub(super) networks: Networks,
    pub(super) own: Store<FooCluster>,
    pub(super) owners: Store<Cluster>,
    pub(super) pools: Store<FooMachinePool>,
    pub(super) status: StatusWriter,
    /// Until when this process believes what an earlier one found, and with which credentials it began to.
    pub(super) believed: Mutex<HashMap<ObjectRef<FooCluster>, (Instant, CloudKey)>>,
    /// The cloud of each cluster, kept in being by this.
    pub(super) regions: Mutex<HashMap<ObjectRef<FooCluster>, Arc<CloudRegion>>>,
}

impl Clusters {
    pub(super) fn credentials(&self, cluster: &FooCluster) -> Result<Arc<Credentials>, Blocked> {
        let name = cluster.spec.identity_ref.as_ref().map(|reference| reference.name.as_str());
        let namespace = cluster.namespace().unwrap_or_default();
        self.context.identities.credentials(name, &namespace, &cluster.spec.region)
    }

    /// The cluster's cloud, or why AWS may not be called for it. It is released when the cluster uses another.
    pub(super) async fn region(
        &self,
        cluster: &FooCluster,
        purpose: Purpose,
    ) -> Result<Arc<CloudRegion>, Blocked> {
        let key = ObjectRef::from_obj(cluster);
        let region = match self.credentials(cluster) {
            Ok(credentials) => {
                let connected = self.context.clouds.get(&credentials, &cluster.spec.region).await;
                connected.map_err(|error| Blocked::new(Reason::CredentialsInvalid, error.to_string()))
            }
            Err(blocked) => Err(blocked),
        };
        if purpose == Purpose::Plan {
            return region;
        }
        let mut regions = self.regions.lock().unwrap_or_else(PoisonError::into_inner);
        // Those that were deleted without a pass.
        regions.retain(|key, _| self.own.get(key).is_some());
        match &region {
            Ok(region) => drop(regions.insert(key, Arc::clone(region))),
            Err(_) => drop(regions.remove(&key)),
        }
        region
    }

    /// Whether the network of this object must not be changed at present: it is paused, was moved, is managed by
    /// others, or the goal is no longer the same.
    pub(super) fn is_left_alone(&self, cluster: &FooCluster, goal: Goal) -> bool {
        let annotations = cluster.annotations();
        let is_deleted = cluster.metadata.deletion_timestamp.is_some();
        annotations.contains_key(names::MANAGED_BY_ANNOTATION) && !is_deleted
            || annotations.contains_key(names::DELETE_FOR_MOVE_ANNOTATION)
            || owners::is_paused(cluster, self.owner(cluster).as_deref())
            || is_deleted != (goal == Goal::Delete)
    }

    pub(super) fn as_published(&self, cluster: &FooCluster) -> Found {
        status::as_published(cluster, self.networks.network(cluster))
    }

    pub(super) fn forget(&self, cluster: &FooCluster) {
        let key = ObjectRef::from_obj(cluster);
        self.networks.forget(&key);
        self.regions.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
        self.believed.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
    }

    /// The Cluster that owns this object; core sets the reference.
    pub(super) fn owner(&self, cluster: &FooCluster) -> Option<Arc<Cluster>> {
        owners::of_kind(cluster, "Cluster", &self.owners)
    }

    pub(super) async fn publish(
        &self,
        api: &Api<FooCluster>,
        cluster: &FooCluster,
        found: &Found,
        published: Published,
    ) -> Result<apply::Written, apply::Error> {
        let now = kube_time(&self.context.kubernetes_clock);
        let reports = published.deleting.is_none();
        let mut status = status::status(cluster, self.networks.network(cluster), found, &published, now);
        let warnings = clock_warnings::of(&self.context, Some(&cluster.spec.region));
        warnings::add_to_ready(&mut status.conditions, &warnings);
        let written = self.status.apply_if_changed(api, cluster, cluster.status.as_ref(), &status).await?;
        if let Found::Managed(shown) = found {
            self.networks.note(cluster, &shown.network);
        }
        if let (apply::Written::Yes, Found::Blocked(blocked), true) = (written, found, reports) {
            let object = cluster.object_ref(&());
            self.context.events.publish(&object, blocked.reason, &blocked.message).await;
        }
        let old = cluster.status.as_ref().map(|status| status.conditions.as_slice()).unwrap_or_default();
        warnings::publish_new(&self.context, &cluster.object_ref(&()), old, &warnings).await;
        Ok(written)
    }
}
