//! Whether nodes can be connected with the cluster security group of EKS at present, and which group that is: the
//! FooControlPlane shows it.
//!
//! Each pass over the network reads the FooControlPlane. Timers bring further passes only while a change is near.

use super::desired::is_connected;
use crate::cluster::clusters::Clusters;
use crate::cluster::network_state::NetworkState;
use crate::workload_name::{control_plane_of, read_control_plane};
use foo_api::cluster::ManagedNetwork;
use foo_api::{FooCluster, FooControlPlane};
use foo_model::SecurityGroupId;
use foo_model::eks::ClusterStatus;
use foo_network::desired::Connection;
use kube::ResourceExt;
use std::time::Duration;

/// How soon a FooControlPlane is read again while EKS creates the cluster, which takes minutes, and while reads of AWS
/// do not show the group that it names: after a restore that group may be of an earlier cluster.
const WHILE_CREATED: Duration = Duration::from_secs(30);

/// How soon one is read again whose EKS cluster may be deleted at any moment: the rules are to be revoked while EKS
/// deletes it, which takes minutes as well.
const WHILE_DELETED: Duration = Duration::from_secs(10);

impl Clusters {
    /// Learns it, if the spec requests a connection. While the FooControlPlane cannot be read, what is known stays.
    pub(super) async fn learn_connection(
        &self,
        cluster: &FooCluster,
        managed: &ManagedNetwork,
        state: &mut NetworkState,
    ) {
        state.connection_again = None;
        let Some(owner) = self.owner(cluster).filter(|_| is_connected(managed)) else { return };
        if control_plane_of(&owner).is_none() {
            state.connection = Connection::WithoutEks;
            return;
        }
        let object = match read_control_plane(&self.context.client, &owner).await {
            Ok(object) => object,
            Err(error) => {
                let name = cluster.name_any();
                tracing::warn!(%error, cluster = name, "could not read the FooControlPlane for its security group");
                state.connection_again = Some(WHILE_CREATED);
                return;
            }
        };
        state.connection = object.as_ref().map_or(Connection::Awaited, possible);
        let times = [Some(&owner.metadata), object.as_ref().map(|object| &object.metadata)];
        let is_ending = times.into_iter().flatten().any(|it| it.deletion_timestamp.is_some());
        state.connection_again = again(state, object.as_ref(), is_ending);
    }
}

/// How soon the FooControlPlane is read again.
fn again(state: &NetworkState, object: Option<&FooControlPlane>, is_ending: bool) -> Option<Duration> {
    match &state.connection {
        Connection::Awaited => object.is_some_and(is_being_created).then_some(WHILE_CREATED),
        Connection::With(_) if is_ending => Some(WHILE_DELETED),
        Connection::With(id) => (!state.process.record.cluster_groups.contains(id)).then_some(WHILE_CREATED),
        Connection::Separate | Connection::WithoutEks | Connection::Ended => None,
    }
}

fn is_being_created(object: &FooControlPlane) -> bool {
    let creating: &'static str = ClusterStatus::Creating.into();
    let eks = object.status.as_ref().and_then(|status| status.eks.as_ref());
    eks.is_some_and(|eks| eks.status.as_deref() == Some(creating))
}

/// The connection that a FooControlPlane allows.
fn possible(object: &FooControlPlane) -> Connection {
    if object.spec.eks.is_none() {
        return Connection::WithoutEks;
    }
    let Some(eks) = object.status.as_ref().and_then(|status| status.eks.as_ref()) else {
        return Connection::Awaited;
    };
    let deleting: &'static str = ClusterStatus::Deleting.into();
    match &eks.cluster_security_group {
        _ if eks.status.as_deref() == Some(deleting) => Connection::Ended,
        Some(id) => Connection::With(SecurityGroupId::new(id)),
        None => Connection::Awaited,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn object(spec: &Value, status: &Value) -> FooControlPlane {
        let object = json!({
            "apiVersion": "controlplane.foo.com/v1alpha1", "kind": "FooControlPlane",
            "metadata": { "name": "blue", "namespace": "team-a" }, "spec": spec, "status": status,
        });
        serde_json::from_value(object).unwrap()
    }

    fn of(spec: &Value, status: &Value) -> Connection {
        possible(&object(spec, status))
    }

    #[test]
    fn the_group_is_that_of_the_status_until_eks_deletes_the_cluster() {
        let eks = json!({ "version": "v1.34.0", "eks": { "roleARN": "arn:aws:iam::123456789012:role/eks" } });
        let with = Connection::With(SecurityGroupId::new("sg-1"));
        let shown =
            |status: &str| of(&eks, &json!({ "eks": { "status": status, "clusterSecurityGroup": "sg-1" } }));
        assert_eq!(shown("CREATING"), with);
        assert_eq!(shown("ACTIVE"), with);
        assert_eq!(shown("DELETING"), Connection::Ended);
        assert_eq!(of(&eks, &json!({})), Connection::Awaited);
        assert_eq!(of(&eks, &json!({ "eks": { "status": "CREATING" } })), Connection::Awaited);
        assert_eq!(of(&json!({ "version": "v1.34.0" }), &json!({})), Connection::WithoutEks);
    }

    #[test]
    fn the_control_plane_is_read_again_soon_only_while_a_change_is_near() {
        let eks = json!({ "version": "v1.34.0", "eks": { "roleARN": "arn:aws:iam::123456789012:role/eks" } });
        let in_status = |status: &str| object(&eks, &json!({ "eks": { "status": status } }));
        let mut state = NetworkState::default();
        assert_eq!(again(&state, None, false), None, "it may never be created");
        assert_eq!(again(&state, Some(&object(&eks, &json!({}))), false), None, "it may be refused for ever");
        assert_eq!(again(&state, Some(&in_status("CREATING")), false), Some(WHILE_CREATED));
        assert_eq!(again(&state, Some(&in_status("FAILED")), false), None);
        let group = SecurityGroupId::new("sg-1");
        state.connection = Connection::With(group.clone());
        let active = in_status("ACTIVE");
        assert_eq!(again(&state, Some(&active), false), Some(WHILE_CREATED), "AWS does not show the group");
        state.process.record.cluster_groups.insert(group);
        assert_eq!(again(&state, Some(&active), false), None);
        assert_eq!(again(&state, Some(&active), true), Some(WHILE_DELETED));
        state.connection = Connection::Ended;
        assert_eq!(again(&state, Some(&active), true), None);
    }
}
