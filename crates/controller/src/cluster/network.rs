//! From the references in a FooCluster's spec to the network they name.

use crate::lookup::{describe, failed, query};
use foo_api::cluster::{ExistingNetwork, NetworkStatus, SubnetStatus};
use foo_cloud::SubnetInfo;
use foo_cloud::lookups::{Asking, Lookups};
use foo_model::{Blocked, Reason};
use std::collections::BTreeMap;

/// The network, or the problem that makes it unusable.
pub(super) async fn find(
    network: &ExistingNetwork,
    lookups: &Lookups,
    asking: Asking,
) -> Result<NetworkStatus, Blocked> {
    let subnets = subnets(network, lookups, asking).await?;
    let vpc_id = one_vpc(network, subnets.values())?;
    let mut groups = std::collections::BTreeSet::new();
    for reference in &network.security_groups {
        let what = describe("security group", reference);
        let found = lookups
            .security_groups(&query(reference, Some(&vpc_id)), asking)
            .await
            .map_err(|error| failed(Reason::SecurityGroupNotFound, &what, &error))?;
        if found.is_empty() {
            return Err(Blocked::new(
                Reason::SecurityGroupNotFound,
                format!("{what} does not exist in VPC {vpc_id}"),
            ));
        }
        if let Some(other) = found.iter().find(|group| group.vpc != vpc_id) {
            let message = format!("{what} is in VPC {}, the subnets are in {vpc_id}", other.vpc);
            return Err(Blocked::new(Reason::SecurityGroupOutsideVpc, message));
        }
        groups.extend(found.into_iter().map(|group| group.id.as_str().to_owned()));
    }
    let subnets = subnets
        .into_values()
        .map(|subnet| SubnetStatus {
            id: subnet.id.as_str().to_owned(),
            zone: subnet.zone.as_str().to_owned(),
            public: subnet.public,
            name: None,
            cidr: None,
            ipv6_cidr: None,
        })
        .collect();
    let security_groups = groups.into_iter().collect();
    Ok(NetworkStatus { vpc_id, subnets, security_groups, ..NetworkStatus::default() })
}

async fn subnets(
    network: &ExistingNetwork,
    lookups: &Lookups,
    asking: Asking,
) -> Result<BTreeMap<String, SubnetInfo>, Blocked> {
    let mut all = BTreeMap::new();
    for reference in &network.subnets {
        let what = describe("subnet", reference);
        let found = lookups
            .subnets(&query(reference, network.vpc_id.as_deref()), asking)
            .await
            .map_err(|error| failed(Reason::SubnetNotFound, &what, &error))?;
        if found.is_empty() {
            return Err(Blocked::new(Reason::SubnetNotFound, format!("{what} does not exist")));
        }
        all.extend(found.into_iter().map(|subnet| (subnet.id.as_str().to_owned(), subnet)));
    }
    Ok(all)
}

fn one_vpc<'a>(
    network: &ExistingNetwork,
    subnets: impl Iterator<Item = &'a SubnetInfo>,
) -> Result<String, Blocked> {
    let mut vpc = network.vpc_id.clone();
    for subnet in subnets {
        match &vpc {
            None => vpc = Some(subnet.vpc.clone()),
            Some(vpc) if *vpc == subnet.vpc => {}
            Some(vpc) => {
                let message = format!("subnet {} is in VPC {}, not in {vpc}", subnet.id, subnet.vpc);
                return Err(Blocked::new(Reason::SubnetsInMultipleVpcs, message));
            }
        }
    }
    vpc.ok_or_else(|| Blocked::new(Reason::SubnetNotFound, "the FooCluster names no subnet"))
}
