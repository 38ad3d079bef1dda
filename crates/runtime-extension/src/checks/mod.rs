//! What AWS would refuse of a topology, found out before anything of it is created. Reads only.
//!
//! A finding is a sentence that is the same as long as the topology and what is wrong with it are: no counts of
//! addresses, no ids of requests. A call without a response is no finding (docs/decisions/0017-extension-and-aws.md).
//!
//! A new check is a file here; docs/extensions/foo.md lists them under "What is checked in AWS".

mod addresses;
pub(crate) mod eks;
mod images;
mod looked_up;
mod managed;
mod network;
mod profiles;
mod report;
mod vcpus;

use crate::clouds::{Clouds, Connected};
use crate::settings::Settings;
use crate::topology::{Pool, Topology};
use foo_model::names::{TAG_CLUSTER, TAG_POOL};
use images::Found;
use network::Network;
use report::Report;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// How long AWS has to respond, well within the time that core waits for a handler.
pub(crate) const DEADLINE: Duration = Duration::from_secs(5);

/// The connection for a topology, or why there is none.
pub(crate) async fn connection(
    clouds: &Clouds,
    settings: &Settings,
    topology: &Topology,
) -> Result<Arc<Connected>, String> {
    let Some(access) = settings.access(&topology.identity) else {
        return Err(format!("the extension's setting identities does not name {}", topology.identity));
    };
    if !is_region(&topology.region) {
        return Err(format!("{:?} is no AWS region", topology.region));
    }
    clouds.get(access, &topology.region).await.map_err(|error| format!("{error:#}"))
}

/// The region becomes part of host names.
fn is_region(region: &str) -> bool {
    (1..=32).contains(&region.len())
        && region.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

/// Mistakes of a topology by itself, and what AWS reports of it within [`DEADLINE`].
pub(crate) async fn check(clouds: &Clouds, settings: &Settings, topology: &Topology) -> Report {
    let (mut report, mut of_images) = (Report::default(), Report::default());
    match connection(clouds, settings, topology).await {
        Ok(aws) => {
            let asked = everything(&aws, topology, &mut report, &mut of_images);
            let asked = tokio::time::timeout(DEADLINE, asked).await;
            if asked.is_err() {
                report.lacks(format!("AWS did not respond within {} s", DEADLINE.as_secs()));
            }
        }
        Err(why) => report.lacks(why),
    }
    report.takes(of_images);
    managed::read(topology, &mut report);
    report
}

/// What is found so far stays in the reports if this is cut off. Images take up to three calls, one after the other, in
/// which the others do not wait.
async fn everything(aws: &Connected, topology: &Topology, report: &mut Report, of_images: &mut Report) {
    let (Found { types, of_new_pools }, network) =
        tokio::join!(images::check(aws, topology, of_images), around(aws, topology, report));
    let vcpus = vcpus::check(aws, topology, &types, report).await;
    let demands = network.demands(topology);
    let fits = vcpus.is_empty() && addresses::shortages(&demands, &network.free, &[]).is_empty();
    if fits && of_new_pools.is_empty() {
        return;
    }
    // Only now is it worth a call: what runs already has its addresses and its vCPUs.
    if let Some(groups) = groups_of(aws, topology, report).await {
        for shortage in addresses::shortages(&demands, &network.free, &groups) {
            report.finds(shortage);
        }
        for passed in vcpus.into_iter().filter(|passed| grow(topology, &passed.pools, &groups)) {
            report.finds(passed.finding);
        }
        let new = |(_, name): &(String, &str)| !runs(topology, name, &groups);
        looked_up::report_missing(of_new_pools.into_iter().filter(new), report);
    }
}

/// What pools are in: network and control plane, and their instance profiles.
async fn around(aws: &Connected, topology: &Topology, report: &mut Report) -> Network {
    let network = network::check(aws, topology, report).await;
    profiles::check(aws, topology, report).await;
    managed::check(aws, topology, report).await;
    eks::check(aws, topology, &network, report).await;
    network
}

/// Whether these pools together are to have more instances than run in their groups. Where the request does not show
/// which FooMachinePools they are, every group of the Cluster may belong to them.
fn grow(topology: &Topology, names: &BTreeSet<&str>, groups: &[addresses::Group]) -> bool {
    let pools: Vec<&Pool> = topology.pools.iter().filter(|pool| names.contains(pool.name.as_str())).collect();
    let objects: Option<BTreeSet<&str>> = pools.iter().map(|pool| pool.object.as_deref()).collect();
    let of_pools = |group: &&addresses::Group| {
        objects.as_ref().is_none_or(|objects| group.pool.as_deref().is_none_or(|pool| objects.contains(pool)))
    };
    let there: usize = groups.iter().filter(of_pools).map(|group| group.instances).sum();
    let wanted: u64 = pools.iter().map(|pool| u64::from(pool.replicas)).sum();
    wanted > u64::try_from(there).unwrap_or(u64::MAX)
}

/// Whether a pool has a group already. Where the request does not show which FooMachinePool it is, any group of the
/// Cluster may be its.
fn runs(topology: &Topology, name: &str, groups: &[addresses::Group]) -> bool {
    let object = topology.pools.iter().find(|pool| pool.name == name).and_then(|pool| pool.object.as_deref());
    groups.iter().any(|group| object.is_none() || group.pool.as_deref() == object)
}

/// The VPC of a Cluster, if AWS returns it: that of its subnets, or of the network that the provider created for it.
pub(crate) async fn vpc_of(aws: &Connected, topology: &Topology) -> Option<String> {
    match &topology.managed {
        Some(network) => managed::vpc_of(aws, topology, network).await,
        None => network::check(aws, topology, &mut Report::default()).await.vpc,
    }
}

/// The Cluster's groups: in which subnets, and how many instances.
async fn groups_of(
    aws: &Connected,
    topology: &Topology,
    report: &mut Report,
) -> Option<Vec<addresses::Group>> {
    let groups = report.result("Auto Scaling groups", aws.cloud.describe_groups_tagged(TAG_CLUSTER).await)?;
    let own = groups.into_iter().filter(|group| group.tags.get(TAG_CLUSTER) == Some(&topology.cluster));
    let groups = own.map(|group| addresses::Group {
        pool: group.tags.get(TAG_POOL).cloned(),
        subnets: group.settings.subnets.iter().map(|subnet| subnet.as_str().to_owned()).collect(),
        instances: group.instances.len(),
    });
    Some(groups.collect())
}

#[cfg(test)]
mod tests;
