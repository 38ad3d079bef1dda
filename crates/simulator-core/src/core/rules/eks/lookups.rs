//! What Describe and List calls see of clusters: as they were a read lag ago.

use crate::core::eks::cluster::{ApiServer, Cluster, Update};
use crate::core::eks::refusal::{no_cluster, not_found, wrong_state};
use crate::core::error::AwsResult;
use crate::core::region::Region;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use foo_model::eks::{ClusterStatus, IpFamily, UpdateStatus};

impl Region {
    /// Names of the clusters that ListClusters shows.
    pub fn cluster_names(&self) -> Vec<String> {
        let all = self.eks.clusters.seen_after(None);
        all.filter(|(_, cluster)| self.knows_cluster(cluster)).map(|(name, _)| name.clone()).collect()
    }

    /// A cluster, as DescribeCluster sees it.
    ///
    /// # Errors
    /// `ResourceNotFoundException`.
    pub fn cluster_seen(&self, name: &str) -> AwsResult<&Cluster> {
        let seen = self.eks.clusters.seen(&name.to_owned()).filter(|cluster| self.knows_cluster(cluster));
        seen.ok_or_else(|| no_cluster(name))
    }

    /// A cluster that a call is about, as it is now.
    pub(super) fn known_cluster(&self, name: &str) -> AwsResult<&Cluster> {
        let known = self.eks.cluster(name).filter(|cluster| self.knows_cluster(cluster));
        known.ok_or_else(|| no_cluster(name))
    }

    /// A cluster of which something is to be changed that is no update.
    pub(super) fn cluster_to_change(&mut self, name: &str) -> AwsResult<&mut Cluster> {
        let status = self.known_cluster(name)?.status;
        if !matches!(status, ClusterStatus::Active | ClusterStatus::Updating) {
            return Err(not_active(name));
        }
        self.eks.clusters.get_mut(&name.to_owned()).ok_or_else(|| no_cluster(name))
    }

    fn knows_cluster(&self, cluster: &Cluster) -> bool {
        !self.is_younger(cluster.created, self.settings.eks.clusters_appear_after)
    }

    /// An update of a cluster, or of an add-on if that is named.
    ///
    /// # Errors
    /// `ResourceNotFoundException`.
    pub fn update_seen(&self, name: &str, id: &str, addon: Option<&str>) -> AwsResult<&Update> {
        let updates = &self.cluster_seen(name)?.updates;
        let found = updates.iter().find(|update| update.id == id && update.addon() == addon);
        found.ok_or_else(|| not_found(format!("No update found for ID: {id}")))
    }

    /// Ids of the updates of a cluster, or of an add-on if that is named, oldest first.
    ///
    /// # Errors
    /// `ResourceNotFoundException`.
    pub fn updates_seen(&self, name: &str, addon: Option<&str>) -> AwsResult<Vec<String>> {
        let cluster = self.cluster_seen(name)?;
        if let Some(addon) = addon.filter(|addon| !cluster.addons.contains_key(*addon)) {
            return Err(super::addons::no_addon(addon));
        }
        let of = cluster.updates.iter().filter(|update| update.addon() == addon);
        Ok(of.map(|update| update.id.clone()).collect())
    }
}

/// The refusal of a cluster that is being created or deleted, or has failed.
pub(super) fn not_active(name: &str) -> crate::core::error::AwsError {
    wrong_state(format!("Cluster '{name}' is not in ACTIVE status"))
}

/// The authority of the certificates of clusters that no test bed runs.
const AUTHORITY: &str = include_str!("ca.pem");

impl Cluster {
    /// Its endpoint and the authority of its certificate (PEM in base64), once it has been ACTIVE.
    pub fn server(&self, region: &str) -> Option<ApiServer> {
        if self.status == ClusterStatus::Creating || self.status == ClusterStatus::Failed {
            return None;
        }
        Some(self.server.clone().unwrap_or_else(|| ApiServer {
            endpoint: format!("https://{}", self.endpoint_host(region)),
            certificate_authority: STANDARD.encode(AUTHORITY),
        }))
    }

    /// The update of the cluster itself that is in progress.
    pub(crate) fn update_in_progress(&self) -> Option<&Update> {
        self.updates.iter().find(|it| it.status == UpdateStatus::InProgress && it.addon().is_none())
    }

    /// Name of its endpoint.
    fn endpoint_host(&self, region: &str) -> String {
        // The two letters after the id are of the shard that the cluster is in.
        format!("{}.gr7.{region}.eks.amazonaws.com", self.id)
    }

    /// The IPv6 range of Services, which EKS chooses, if the cluster has one.
    pub fn service_ipv6(&self) -> Option<String> {
        let digits = |at: std::ops::Range<usize>| self.id.get(at).unwrap_or("00").to_lowercase();
        (self.family == IpFamily::Ipv6).then(|| format!("fd{}:{}::/108", digits(4..6), digits(0..4)))
    }

    /// Its issuer of tokens of service accounts.
    pub fn issuer(&self, region: &str) -> String {
        format!("https://oidc.eks.{region}.amazonaws.com/id/{}", self.id)
    }
}
