//! CreateCluster (EKS API Reference).

use super::config::{check_key, check_tier};
use super::place::{check_endpoint, check_ranges, service_range};
use super::tags::check_tags;
use crate::core::eks::MishapOf;
use crate::core::eks::cluster::Cluster;
use crate::core::eks::principals::{Principal, Principals};
use crate::core::eks::refusal::{in_use, invalid, too_many};
use crate::core::eks::step::{ClusterRef, EksStep};
use crate::core::eks::versions::{Offer, offered};
use crate::core::error::AwsResult;
use crate::core::region::Region;
use foo_model::eks::{AuthenticationMode, ClusterStatus, EndpointAccess, Issue, NewCluster, SupportType};
use foo_model::network::Vpc;
use foo_model::{SecurityGroupId, VpcId};
use ipnet::Ipv4Net;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

const ACTION: &str = "CreateCluster";
/// How often EKS looks whether the awaited API server of a cluster runs.
const SERVER_LOOKS: Duration = Duration::from_secs(1);

/// `^[0-9A-Za-z][A-Za-z0-9\-_]*`, 1 to 100 characters.
fn check_name(name: &str) -> AwsResult<()> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let begins = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    if begins && name.len() <= 100 && name.chars().all(plain) {
        return Ok(());
    }
    Err(invalid(format!("The cluster name {name:?} is invalid: it must match ^[0-9A-Za-z][A-Za-z0-9\\-_]*.")))
}

impl Region {
    /// CreateCluster, by the caller with this ARN. The same request with the same token returns the first one's cluster.
    ///
    /// # Errors
    /// EKS refuses the call; nothing is created then.
    pub fn create_cluster(
        &mut self,
        name: &str,
        request: &NewCluster,
        token: Option<&str>,
        caller: &str,
        principals: &Principals,
    ) -> AwsResult<Cluster> {
        check_name(name)?;
        if let Some(id) = self.eks.tokens.made_before(ACTION, name, token, request)?
            && let Some(cluster) = self.eks.cluster(name).filter(|cluster| cluster.id == id)
        {
            return Ok(cluster.clone());
        }
        if self.eks.cluster(name).is_some() {
            return Err(in_use(format!("Cluster already exists with name: {name}")));
        }
        let (mut cluster, offer) = self.checked_cluster(name, request, caller, principals)?;
        cluster.token = token.map(str::to_owned);
        let digits = u32::try_from(self.eks.chance.below(u64::from(u32::MAX))).unwrap_or(0);
        cluster.security_group = self.make_cluster_group(&cluster.vpc, name, digits);
        let groups = cluster.all_groups(&cluster.placement.security_groups);
        if !self.place_control_plane(name, &cluster.placement.subnets, &groups) {
            cluster.health.push(Issue {
                code: "InsufficientFreeAddresses".to_owned(),
                message: "One or more of the subnets associated with your cluster does not have enough available IP \
                          addresses for Amazon EKS to perform cluster management operations."
                    .to_owned(),
                resources: cluster.placement.subnets.iter().map(ToString::to_string).collect(),
            });
        }
        self.eks.tokens.remember(ACTION, name, token, request, &cluster.id);
        let of = cluster.reference();
        self.eks_later(self.settings.eks.create, EksStep::Created(of.clone()));
        self.eks.clusters.insert(name.to_owned(), cluster.clone());
        self.await_end_of_support(&of, &offer);
        Ok(cluster)
    }

    /// The cluster that a request describes, without what EKS makes for it.
    fn checked_cluster(
        &mut self,
        name: &str,
        request: &NewCluster,
        caller: &str,
        principals: &Principals,
    ) -> AwsResult<(Cluster, Offer)> {
        let offer = offered(&self.settings.eks.versions, request.version, self.now)?;
        self.check_cluster_role(&request.role_arn, principals)?;
        let vpc = self.check_placement(&request.placement)?;
        let endpoint = endpoint_of(&request.access)?;
        let service_range = service_range(request.service_ipv4.as_deref(), &self.ranges_of(&vpc))?;
        self.check_zonal_shift(request.zonal_shift)?;
        let scaling_tier = request.scaling_tier.unwrap_or_default();
        check_tier(offer.version, scaling_tier)?;
        check_tags(&request.tags)?;
        request.encryption_key.as_deref().map(check_key).transpose()?;
        let quota = usize::try_from(self.settings.eks.clusters).unwrap_or(usize::MAX);
        if self.eks.clusters.len() >= quota {
            return Err(too_many("Cluster limit exceeded for account."));
        }
        let id = format!("{:016X}{:016X}", self.eks.chance.bits(), self.eks.chance.bits());
        let cluster = Cluster {
            arn: format!("arn:aws:eks:{}:{}:cluster/{name}", self.name, self.account),
            id,
            name: name.to_owned(),
            created: self.now,
            status: ClusterStatus::Creating,
            version: offer.version,
            platform: offer.platform,
            former: None,
            role: request.role_arn.clone(),
            vpc,
            placement: request.placement.clone(),
            security_group: SecurityGroupId::new(""),
            endpoint,
            family: request.ip_family,
            service_range,
            unmanaged: bootstrapped(request.self_managed_addons),
            logs: request.logging.clone(),
            key: request.encryption_key.clone(),
            authentication: request.authentication_mode,
            creator_is_admin: request.creator_is_admin,
            creator: principal_of(caller),
            support: request.upgrade_policy.unwrap_or(SupportType::Extended),
            zonal_shift: request.zonal_shift.unwrap_or(false),
            deletion_protection: request.deletion_protection,
            scaling_tier,
            tags: request.tags.clone(),
            token: None,
            health: Vec::new(),
            updates: Vec::new(),
            entries: BTreeMap::new(),
            addons: BTreeMap::new(),
            pod_identities: BTreeMap::new(),
            identity_provider: None,
            insights: Vec::new(),
            former_insights: None,
            insights_refreshed: None,
            server: None,
        };
        Ok((self.with_creator(cluster, principals), offer))
    }

    /// A cluster with the access entry of its creator, if its authentication mode knows entries.
    fn with_creator(&mut self, mut cluster: Cluster, principals: &Principals) -> Cluster {
        if cluster.authentication != AuthenticationMode::ConfigMap && cluster.creator_is_admin {
            let unique_id = principals.role(&cluster.creator).map(|role| role.unique_id);
            self.add_creator_entry(&mut cluster, unique_id);
        }
        cluster
    }

    /// A region without zonal shift does not know the field.
    pub(super) fn check_zonal_shift(&self, requested: Option<bool>) -> AwsResult<()> {
        if requested.is_some() && !self.settings.eks.zonal_shift {
            return Err(invalid("Enabling zonal shift is not currently supported"));
        }
        Ok(())
    }

    /// Whether EKS can assume a role, as far as it knows.
    fn check_cluster_role(&self, arn: &str, principals: &Principals) -> AwsResult<()> {
        self.role_for("eks.amazonaws.com", arn, principals).map(drop).ok_or_else(|| {
            invalid(format!(
                "Role with arn: {arn}, could not be assumed because it does not exist or the trusted entity is not correct"
            ))
        })
    }

    /// A role that a service can assume and that EKS knows already.
    pub(super) fn role_for(&self, service: &str, arn: &str, principals: &Principals) -> Option<Principal> {
        let trusted = |role: &Principal| role.services.contains("*") || role.services.contains(service);
        self.known_role(arn, principals).filter(trusted)
    }

    /// A role that EKS knows already.
    pub(super) fn known_role(&self, arn: &str, principals: &Principals) -> Option<Principal> {
        let wait = self.settings.eks.roles_appear_after;
        let known = |role: &Principal| role.created.is_none_or(|created| !self.is_younger(created, wait));
        principals.role(arn).filter(known)
    }

    fn ranges_of(&self, vpc: &VpcId) -> Vec<Ipv4Net> {
        self.network
            .get::<Vpc>(vpc)
            .map(|vpc| vpc.cidrs.iter().map(|it| it.range).collect())
            .unwrap_or_default()
    }

    /// CREATING → ACTIVE, or FAILED.
    pub(super) fn cluster_created(&mut self, name: &str) {
        let awaited = |cluster: &&Cluster| self.settings.eks.waits_for_server && cluster.server.is_none();
        if let Some(cluster) = self.eks.cluster(name).filter(awaited) {
            let of = cluster.reference();
            return self.eks_later(SERVER_LOOKS, EksStep::Created(of));
        }
        let issue = self.eks_strikes(MishapOf::Creation, name, None);
        let Some(cluster) = self.eks.clusters.get_mut(&name.to_owned()) else { return };
        if cluster.status != ClusterStatus::Creating {
            return;
        }
        cluster.health.extend(issue);
        let failed = !cluster.health.is_empty();
        cluster.status = if failed { ClusterStatus::Failed } else { ClusterStatus::Active };
    }
}

impl Cluster {
    /// What names only this cluster.
    pub(super) fn reference(&self) -> ClusterRef {
        ClusterRef { name: self.name.clone(), id: self.id.clone() }
    }

    /// All security groups of its control plane.
    pub(super) fn all_groups(&self, additional: &BTreeSet<SecurityGroupId>) -> BTreeSet<SecurityGroupId> {
        additional.iter().cloned().chain([self.security_group.clone()]).collect()
    }
}

/// What EKS puts into a new cluster by default (EKS API Reference, CreateCluster,
/// `bootstrapSelfManagedAddons`).
fn bootstrapped(wanted: bool) -> BTreeSet<String> {
    let names = ["vpc-cni", "kube-proxy", "coredns"].into_iter().filter(|_| wanted);
    names.map(str::to_owned).collect()
}

fn endpoint_of(requested: &EndpointAccess) -> AwsResult<EndpointAccess> {
    let EndpointAccess { public, private, public_cidrs } = requested;
    check_endpoint(*public, *private)?;
    let everywhere = || BTreeSet::from(["0.0.0.0/0".to_owned()]);
    let public_cidrs = if public_cidrs.is_empty() { everywhere() } else { check_ranges(public_cidrs)? };
    Ok(EndpointAccess { public: *public, private: *private, public_cidrs })
}

/// The user or role behind a caller: a session stands for its role.
fn principal_of(caller: &str) -> String {
    let session = caller.strip_prefix("arn:aws:sts::").and_then(|rest| rest.split_once(":assumed-role/"));
    match session.and_then(|(account, rest)| rest.split_once('/').map(|(role, _)| (account, role))) {
        Some((account, role)) => format!("arn:aws:iam::{account}:role/{role}"),
        None => caller.to_owned(),
    }
}
