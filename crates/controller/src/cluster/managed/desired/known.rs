//! What is known of a network besides its spec.

use foo_api::cluster as api;
use foo_model::Zone;
use foo_model::network::{Parts, Vpc, ZoneInfo};
use foo_network::desired::Connection;
use std::collections::BTreeMap;

/// What is known of a network besides its spec.
#[derive(Clone, Copy, Debug)]
pub(in crate::cluster::managed) struct Known<'a> {
    /// Its id.
    pub(in crate::cluster::managed) id: &'a str,
    /// The FooCluster's present uid.
    pub(in crate::cluster::managed) uid: &'a str,
    /// Whether the FooCluster had the id before this process saw it.
    pub(in crate::cluster::managed) begun_before: bool,
    /// Namespace and name of the Cluster.
    pub(in crate::cluster::managed) cluster: (&'a str, &'a str),
    /// The name that the workload cluster has in AWS, if it is known.
    pub(in crate::cluster::managed) kubernetes_cluster: Option<&'a str>,
    /// Whether nodes can be connected with the cluster security group of EKS at present, and which group that is.
    pub(in crate::cluster::managed) connection: &'a Connection,
    /// AWS region.
    pub(in crate::cluster::managed) region: &'a str,
    /// Id of this management cluster.
    pub(in crate::cluster::managed) installation: &'a str,
    /// Id of the management cluster that gave the network up to this one.
    pub(in crate::cluster::managed) adopt_from: Option<&'a str>,
    /// The account that the credentials belong to, if known.
    pub(in crate::cluster::managed) account: Option<&'a str>,
    /// Zones of the region; empty if they have not been read yet.
    pub(in crate::cluster::managed) zones: &'a BTreeMap<Zone, ZoneInfo>,
    /// What the shared read returned; parts of other networks may be among them.
    pub(in crate::cluster::managed) seen: &'a Parts,
    /// What the status reports of the subnets that there are.
    pub(in crate::cluster::managed) status: Option<&'a api::NetworkStatus>,
    /// The user's VPC, if there is one and it was read.
    pub(in crate::cluster::managed) vpc: Option<&'a Vpc>,
    /// The subnets that this VPC has, those of the provider among them, if they were read.
    pub(in crate::cluster::managed) vpc_subnets: Option<&'a Parts>,
    /// Whether the FooCluster is being deleted and nothing else of the cluster blocks that.
    pub(in crate::cluster::managed) being_deleted: bool,
    /// Whether nothing is to be created, changed or deleted.
    pub(in crate::cluster::managed) paused: bool,
}
