//! What AWS would refuse of a Cluster, found out before anything of it is created or changed. Reads only.
//!
//! * [`topology`]: what a Cluster asks of AWS;
//! * [`Account`]: what is read from AWS. The runtime extension reads with its own credentials and a cache, `kubectl foo preflight` with
//!   those of its user;
//! * [`check`] compares them, in one file per subject; [`Report`] has what it found.
//!
//! A finding is a sentence that is the same as long as the topology and what is wrong with it are: no counts of
//! addresses, no ids of requests. A call without a response is no finding (docs/decisions/0017-extension-and-aws.md).
//!
//! A new check is a file here; docs/extensions/foo.md lists them under "What is checked in AWS".

mod account;
mod addresses;
mod eks;
mod images;
mod looked_up;
mod managed;
mod network;
mod profiles;
mod report;
pub mod topology;
mod vcpus;
mod windows;

pub use account::{Account, Group};
pub use eks::{is_offered, not_offered};
pub use report::Report;

use images::Found;
use network::Network;
use std::collections::BTreeSet;
use std::time::Duration;
use topology::{Pool, Topology};

/// Mistakes of a topology by itself, and what AWS reports of it within that time; without an account, `Err` has why there is none.
pub async fn check(account: Result<&dyn Account, String>, topology: &Topology, within: Duration) -> Report {
    let (mut report, mut of_images) = (Report::default(), Report::default());
    match account {
        Ok(account) => {
            let asked = everything(account, topology, &mut report, &mut of_images);
            if tokio::time::timeout(within, asked).await.is_err() {
                report.lacks(format!("AWS did not respond within {} s", within.as_secs()));
            }
        }
        Err(why) => report.lacks(why),
    }
    report.takes(of_images);
    managed::read(topology, &mut report);
    windows::read(topology, &mut report);
    report
}

/// The VPC of a Cluster's existing subnets, if they are in one and AWS returns it.
pub async fn vpc(account: &dyn Account, topology: &Topology) -> Option<String> {
    network::check(account, topology, &mut Report::default()).await.vpc
}

/// What is found so far stays in the reports if this is cut off. Images take up to three calls, one after the other, in
/// which the others do not wait.
async fn everything(aws: &dyn Account, topology: &Topology, report: &mut Report, of_images: &mut Report) {
    let (Found { types, of_new_pools }, network) =
        tokio::join!(images::check(aws, topology, of_images), around(aws, topology, report));
    let vcpus = vcpus::check(aws, topology, &types, report).await;
    let demands = network.demands(topology);
    let fits = vcpus.is_empty() && addresses::shortages(&demands, &network.free, &[]).is_empty();
    if fits && of_new_pools.is_empty() {
        return;
    }
    // Only now is it worth a call: what runs already has its addresses and its vCPUs.
    let groups = aws.groups(&topology.cluster).await;
    if let Some(groups) = report.result("Auto Scaling groups", groups) {
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
async fn around(aws: &dyn Account, topology: &Topology, report: &mut Report) -> Network {
    let network = network::check(aws, topology, report).await;
    profiles::check(aws, topology, report).await;
    managed::check(aws, topology, report).await;
    eks::check(aws, topology, &network, report).await;
    network
}

/// Whether these pools together are to have more instances than run in their groups. Where the request does not show
/// which FooMachinePools they are, every group of the Cluster may belong to them.
fn grow(topology: &Topology, names: &BTreeSet<&str>, groups: &[Group]) -> bool {
    let pools: Vec<&Pool> = topology.pools.iter().filter(|pool| names.contains(pool.name.as_str())).collect();
    let objects: Option<BTreeSet<&str>> = pools.iter().map(|pool| pool.object.as_deref()).collect();
    let of_pools = |group: &&Group| {
        objects.as_ref().is_none_or(|objects| group.pool.as_deref().is_none_or(|pool| objects.contains(pool)))
    };
    let there: usize = groups.iter().filter(of_pools).map(|group| group.instances).sum();
    let wanted: u64 = pools.iter().map(|pool| u64::from(pool.replicas)).sum();
    wanted > u64::try_from(there).unwrap_or(u64::MAX)
}

/// Whether a pool has a group already. Where the request does not show which FooMachinePool it is, any group of the
/// Cluster may be its.
fn runs(topology: &Topology, name: &str, groups: &[Group]) -> bool {
    let object = topology.pools.iter().find(|pool| pool.name == name).and_then(|pool| pool.object.as_deref());
    groups.iter().any(|group| object.is_none() || group.pool.as_deref() == object)
}
