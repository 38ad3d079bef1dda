//! Where a control plane can be: its subnets and security groups (EKS User Guide, "View Amazon EKS networking requirements"), and
//! who can reach it.

use crate::core::eks::refusal::invalid;
use crate::core::error::{AwsError, AwsResult};
use crate::core::network::part::Part;
use crate::core::region::Region;
use foo_model::eks::{ConfigUpdate, Placement};
use foo_model::network::{SecurityGroup, Subnet};
use foo_model::{SecurityGroupId, SubnetId, VpcId};
use ipnet::{IpNet, Ipv4Net};
use std::collections::BTreeSet;
use std::net::Ipv4Addr;

/// Zones, by id, in which EKS puts no control plane (EKS User Guide, "Subnet requirements for clusters").
const UNUSABLE: [&str; 3] = ["use1-az3", "usw1-az2", "cac1-az3"];
/// Most additional security groups (EKS Service Quotas: fixed).
const GROUPS: usize = 4;
/// Most ranges of publicAccessCidrs (EKS Service Quotas).
const RANGES: usize = 40;

/// The ranges of Services that EKS chooses from, and the addresses of which the VPC must have none for the first.
const SERVICES: Ipv4Net = Ipv4Net::new_assert(Ipv4Addr::new(10, 100, 0, 0), 16);
const SERVICES_OTHERWISE: Ipv4Net = Ipv4Net::new_assert(Ipv4Addr::new(172, 20, 0, 0), 16);
const TEN: Ipv4Net = Ipv4Net::new_assert(Ipv4Addr::new(10, 0, 0, 0), 8);

/// EKS's words for what EC2 refuses.
fn ec2_says(error: &AwsError) -> AwsError {
    invalid(format!(
        "{} (Service: AmazonEC2; Status Code: {}; Error Code: {})",
        error.message, error.status, error.code
    ))
}

/// Where a control plane is after an update: what the update does not name stays.
pub(super) fn placement_after(present: &Placement, update: &ConfigUpdate) -> Placement {
    let ConfigUpdate::Placement { subnets, security_groups } = update else { return present.clone() };
    Placement {
        subnets: subnets.as_ref().unwrap_or(&present.subnets).clone(),
        security_groups: security_groups.as_ref().unwrap_or(&present.security_groups).clone(),
    }
}

impl Region {
    /// Checks the subnets and security groups of a cluster, and says in which VPC they are.
    pub(super) fn check_placement(&self, placement: &Placement) -> AwsResult<VpcId> {
        let mut found = Vec::new();
        for id in &placement.subnets {
            found.push(self.part::<Subnet>(id).map_err(|error| ec2_says(&error))?);
        }
        if let Some(bad) = found.iter().find(|it| UNUSABLE.contains(&it.zone_id.as_str())) {
            return Err(AwsError::new(
                "UnsupportedAvailabilityZoneException",
                format!(
                    "Cannot create cluster because {}, the targeted availability zone, does not currently have sufficient \
                     capacity to support the cluster. Retry and choose from these availability zones: {}",
                    bad.zone,
                    self.valid_zones().join(", ")
                ),
            ));
        }
        let zones: BTreeSet<_> = found.iter().map(|it| &it.zone).collect();
        if zones.len() < 2 {
            return Err(invalid("Subnets specified must be in at least two different AZs"));
        }
        let vpcs: BTreeSet<&VpcId> = found.iter().map(|it| &it.vpc).collect();
        let Some(vpc) = vpcs.first().filter(|_| vpcs.len() == 1) else {
            return Err(invalid("Subnets specified must belong to the same VPC."));
        };
        self.check_cluster_groups(&placement.security_groups, vpc)?;
        Ok((*vpc).clone())
    }

    fn check_cluster_groups(&self, groups: &BTreeSet<SecurityGroupId>, vpc: &VpcId) -> AwsResult<()> {
        if groups.len() > GROUPS {
            return Err(invalid(format!("At most {GROUPS} security groups can be specified.")));
        }
        for id in groups {
            let group = self.part::<SecurityGroup>(id).map_err(|error| ec2_says(&error))?;
            if group.vpc() != Some(vpc) {
                return Err(invalid(format!("Security group {id} is not in the VPC of the subnets, {vpc}.")));
            }
        }
        Ok(())
    }

    /// Names of the zones in which control planes can be.
    pub fn valid_zones(&self) -> Vec<String> {
        let usable = self.network.zones.iter().filter(|(_, id)| !UNUSABLE.contains(&id.as_str()));
        usable.map(|(zone, _)| zone.to_string()).collect()
    }

    /// The zones of some subnets.
    pub(super) fn subnet_zones(&self, subnets: &BTreeSet<SubnetId>) -> BTreeSet<String> {
        let zone = |id: &SubnetId| self.network.get::<Subnet>(id).map(|it| it.zone.to_string());
        subnets.iter().filter_map(zone).collect()
    }

    /// How many addresses are free in some subnets.
    pub(super) fn free_addresses(&self, subnets: &BTreeSet<SubnetId>) -> u32 {
        let free = |id: &SubnetId| self.network.get::<Subnet>(id).map_or(0, |it| it.free_addresses);
        subnets.iter().map(free).sum()
    }
}

/// Whether an address can be one of the internet's.
fn is_public(address: Ipv4Addr) -> bool {
    !(address.is_private() || address.is_loopback() || address.is_link_local() || address.is_multicast())
}

/// Checks publicAccessCidrs and writes them as EKS does.
pub(super) fn check_ranges(ranges: &BTreeSet<String>) -> AwsResult<BTreeSet<String>> {
    if ranges.len() > RANGES {
        return Err(invalid(format!("The publicAccessCidrs can have at most {RANGES} CIDRs.")));
    }
    let refused =
        |range: &String| invalid(format!("The following CIDRs are invalid in publicAccessCidrs: [{range}]"));
    let read = |range: &String| match range.parse::<IpNet>() {
        Ok(IpNet::V4(net)) if net.prefix_len() == 0 || is_public(net.network()) => {
            Ok(net.trunc().to_string())
        }
        Ok(IpNet::V6(net)) => Ok(net.trunc().to_string()),
        Ok(IpNet::V4(_)) | Err(_) => Err(refused(range)),
    };
    ranges.iter().map(read).collect()
}

/// One way to the endpoint must be open.
pub(super) fn check_endpoint(public: bool, private: bool) -> AwsResult<()> {
    if public || private {
        return Ok(());
    }
    Err(invalid("Private and public endpoint access cannot be false"))
}

/// The range of Services: as it was asked for, or one of the two that EKS chooses, whichever the VPC does not have.
pub(super) fn service_range(asked: Option<&str>, vpc: &[Ipv4Net]) -> AwsResult<Ipv4Net> {
    let overlaps = |range: &Ipv4Net| vpc.iter().any(|it| it.contains(range) || range.contains(it));
    let Some(text) = asked else {
        let in_ten = vpc.iter().any(|it| TEN.contains(it));
        return Ok(if in_ten { SERVICES_OTHERWISE } else { SERVICES });
    };
    let range = text.parse::<Ipv4Net>().ok().map(|range| range.trunc());
    let fits = |range: &Ipv4Net| (12..=24).contains(&range.prefix_len()) && range.network().is_private();
    let Some(range) = range.filter(fits) else {
        return Err(invalid(format!(
            "The specified service CIDR {text} is invalid: it must be within 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16, \
             with a prefix length of 12 to 24."
        )));
    };
    if overlaps(&range) {
        return Err(invalid(format!("The specified service CIDR {text} overlaps with a CIDR of the VPC.")));
    }
    Ok(range)
}
