//! A control plane on EKS: EKS offers its version, its subnets are in two zones, and EKS may use its role.
//!
//! Only what EKS would refuse for sure. A cluster that runs may have a version that EKS does not offer any more, and
//! has its role.

use crate::account::Account;
use crate::network::Network;
use crate::report::Report;
use crate::topology::{Eks, Topology};
use foo_cloud::{NetworkQuery, SubnetInfo};
use foo_model::Zone;
use foo_model::eks::{Minor, Support, VersionOffer};
use futures::future::join_all;
use std::collections::BTreeSet;

/// Who has to be trusted by the role (EKS User Guide, "Amazon EKS cluster IAM role").
const EKS: &str = "eks.amazonaws.com";
/// Every principal.
const ANY_SERVICE: &str = "*";

pub(crate) async fn check(aws: &dyn Account, topology: &Topology, network: &Network, report: &mut Report) {
    let Some(eks) = &topology.eks else { return };
    version(aws, topology, eks, report).await;
    zones(aws, topology, eks, network, report).await;
    role(aws, eks, report).await;
}

async fn version(aws: &dyn Account, topology: &Topology, eks: &Eks, report: &mut Report) {
    let Some(minor) = Minor::of(&eks.version) else { return };
    let Some(offers) = report.result("the Kubernetes versions of EKS", aws.eks_versions().await) else {
        return;
    };
    let oldest = offers.iter().map(|offer| offer.version).min();
    // A cluster that runs keeps a version that is not offered any more, and can still be changed.
    let fits = if eks.role.is_some() {
        is_offered(&offers, minor)
    } else {
        oldest.is_none_or(|oldest| minor < oldest) || offers.iter().any(|offer| offer.version == minor)
    };
    if !fits {
        report.finds(not_offered(&offers, minor, &topology.region));
    }
}

/// Whether EKS creates clusters of this version or updates them to it.
pub fn is_offered(offers: &[VersionOffer], minor: Minor) -> bool {
    offers.iter().any(|offer| offer.version == minor && offer.support != Support::Unsupported)
}

/// The sentence about a version that EKS does not offer.
pub fn not_offered(offers: &[VersionOffer], minor: Minor, region: &str) -> String {
    let usable = offers.iter().filter(|offer| offer.support != Support::Unsupported);
    let versions: BTreeSet<Minor> = usable.map(|offer| offer.version).collect();
    let versions: Vec<String> = versions.iter().map(ToString::to_string).collect();
    format!("EKS does not offer Kubernetes {minor} in {region}; it offers {}", versions.join(", "))
}

/// Subnets of one zone (EKS User Guide, "View Amazon EKS networking requirements for VPC and subnets": at least two, in
/// different zones). Which of the cluster's are taken by default, a control plane decides; if all are in one zone it
/// has no choice.
async fn zones(aws: &dyn Account, topology: &Topology, eks: &Eks, network: &Network, report: &mut Report) {
    let zones = if eks.subnets.is_empty() {
        network.zones.clone()
    } else {
        let queries: Vec<_> = eks.subnets.iter().map(|id| NetworkQuery::Ids(vec![id.clone()])).collect();
        let results = join_all(queries.iter().map(async |query| aws.subnets(query).await)).await;
        let mut found: Vec<SubnetInfo> = Vec::new();
        for (id, result) in eks.subnets.iter().zip(results) {
            let what = format!("the control plane: subnet {id} in {}", topology.region);
            // Where one that is not known is, is not known either.
            let Some(subnets) = report.result(&what, result) else { return };
            found.extend(subnets);
        }
        Some(found.into_iter().map(|subnet| subnet.zone).collect())
    };
    let Some(zones) = zones else { return };
    if let Some(finding) = zones.first().filter(|_| zones.len() == 1).map(too_few) {
        report.finds(finding);
    }
}

/// The sentence about subnets of one zone.
pub(crate) fn too_few(zone: &Zone) -> String {
    format!("the control plane: EKS needs subnets in two zones, and all of its subnets are in {zone}")
}

async fn role(aws: &dyn Account, eks: &Eks, report: &mut Report) {
    let Some(arn) = &eks.role else { return };
    let name = arn.rsplit('/').next().unwrap_or_default();
    let what = format!("the control plane: role {arn}");
    match report.result(&what, aws.role(name).await) {
        // Roles are named by the end of their ARN in IAM; the rest is the path and the account.
        Some(found) if found.as_ref().is_none_or(|role| role.arn != *arn) => {
            report.finds(format!("{what} does not exist"));
        }
        Some(Some(role)) if !role.trusted_services.iter().any(|one| one == EKS || one == ANY_SERVICE) => {
            report.finds(format!("{what} does not trust {EKS}"));
        }
        Some(_) | None => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_that_eks_no_longer_supports_are_not_offered() {
        let offer = |(minor, support)| VersionOffer {
            version: Minor(minor),
            patch: None,
            default: false,
            support,
            standard_ends: None,
            extended_ends: None,
        };
        let offers =
            [(36, Support::StandardSupport), (34, Support::ExtendedSupport), (33, Support::Unsupported)];
        let offers = offers.map(offer);
        let offered = |minor| is_offered(&offers, Minor(minor));
        assert_eq!([33, 34, 35, 36].map(offered), [false, true, false, true]);
        let expected = "EKS does not offer Kubernetes 1.33 in eu-central-1; it offers 1.34, 1.36";
        assert_eq!(not_offered(&offers, Minor(33), "eu-central-1"), expected);
    }
}
