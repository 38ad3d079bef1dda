//! vCPUs of the pools' instances against the quotas of the account, each family's and market's own.
//!
//! Of a pool of several types the smallest counts, and none if their quotas differ, or if the types are chosen by their
//! attributes: only what cannot be is refused.
//! Instances of other clusters are not counted.

use crate::account::Account;
use crate::report::{Report, pools};
use crate::topology::{Pool, Topology};
use foo_cloud::{InstanceTypeInfo, VcpuQuota};
use foo_model::InstanceType;
use futures::future::join_all;
use std::collections::{BTreeMap, BTreeSet};

/// What the pools together want of one quota.
#[derive(Debug, Default, PartialEq, Eq)]
struct Wanted<'a> {
    vcpus: u64,
    pools: BTreeSet<&'a str>,
}

/// A quota that pools together pass.
#[derive(Debug)]
pub(crate) struct Passed<'a> {
    /// The sentence about it.
    pub(crate) finding: String,
    /// Names of the pools that count against it.
    pub(crate) pools: BTreeSet<&'a str>,
}

/// The quotas that the pools together pass.
pub(crate) async fn check<'a>(
    aws: &dyn Account,
    topology: &'a Topology,
    types: &BTreeMap<&str, InstanceTypeInfo>,
    report: &mut Report,
) -> Vec<Passed<'a>> {
    let wanted = wanted(topology, types);
    let results = join_all(wanted.keys().map(async |quota| aws.vcpu_quota(*quota).await)).await;
    let mut passed = Vec::new();
    for ((quota, wanted), result) in wanted.into_iter().zip(results) {
        let what = format!("the quota {}", quota.code());
        let quota_value = report.result(&what, result).flatten();
        let finding = quota_value.and_then(|most| passes(quota, &wanted, most));
        passed.extend(finding.map(|finding| Passed { finding, pools: wanted.pools }));
    }
    passed
}

fn passes(quota: VcpuQuota, wanted: &Wanted<'_>, most: u32) -> Option<String> {
    (wanted.vcpus > u64::from(most)).then(|| {
        format!(
            "{}: {} vCPUs are requested, and the account's quota {} ({}) is {most}",
            pools(&wanted.pools),
            wanted.vcpus,
            quota.code(),
            quota.name()
        )
    })
}

fn wanted<'a>(
    topology: &'a Topology,
    types: &BTreeMap<&str, InstanceTypeInfo>,
) -> BTreeMap<VcpuQuota, Wanted<'a>> {
    let mut all: BTreeMap<VcpuQuota, Wanted<'a>> = BTreeMap::new();
    for pool in &topology.pools {
        let Some(each) = smallest(pool, types) else { continue };
        let on_demand = (pool.replicas.saturating_sub(pool.spot), one_quota(pool, VcpuQuota::on_demand));
        let spot = (pool.spot, one_quota(pool, VcpuQuota::spot));
        for (instances, quota) in [on_demand, spot] {
            if let Some(quota) = quota.filter(|_| instances > 0) {
                let wanted = all.entry(quota).or_default();
                let vcpus = u64::from(each).saturating_mul(u64::from(instances));
                wanted.vcpus = wanted.vcpus.saturating_add(vcpus);
                wanted.pools.insert(pool.name.as_str());
            }
        }
    }
    all
}

/// The quota of all of a pool's types, if they share one.
fn one_quota(pool: &Pool, of: fn(&InstanceType) -> Option<VcpuQuota>) -> Option<VcpuQuota> {
    let quotas: Option<BTreeSet<VcpuQuota>> =
        pool.types.iter().map(|name| of(&InstanceType::new(name.as_str()))).collect();
    let mut quotas = quotas?;
    let first = quotas.pop_first();
    first.filter(|_| quotas.is_empty())
}

/// vCPUs of the pool's smallest type; `None` if one is unknown.
fn smallest(pool: &Pool, types: &BTreeMap<&str, InstanceTypeInfo>) -> Option<u32> {
    let each = pool.types.iter().map(|name| types.get(name.as_str()).map(|info| info.vcpus));
    each.collect::<Option<Vec<_>>>()?.into_iter().min()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn topology(pools: &[(&str, u32, u32, &[&str])]) -> Topology {
        let pool = |(name, replicas, spot, types): &(&str, u32, u32, &[&str])| Pool {
            name: (*name).to_owned(),
            replicas: *replicas,
            spot: *spot,
            types: types.iter().map(|name| (*name).to_owned()).collect(),
            ..Pool::default()
        };
        Topology { pools: pools.iter().map(pool).collect(), ..Topology::default() }
    }

    fn found(pools: &[(&str, u32, u32, &[&str])]) -> Vec<(&'static str, u64)> {
        let known =
            [("m7i.large", 2), ("m7i.xlarge", 4), ("g6.xlarge", 4), ("p5.48xlarge", 192), ("mac2.metal", 8)];
        let info = |(name, vcpus): (&'static str, u32)| {
            let info = InstanceTypeInfo {
                instance_type: InstanceType::new(name),
                vcpus,
                memory_mib: 1,
                nvidia_gpus: 0,
                neuron_devices: 0,
                architecture: "x86_64".to_owned(),
                network_cards: 1,
                efa_interfaces: 0,
                bandwidth_weightings: BTreeSet::new(),
                addresses: None,
                interfaces_per_card: BTreeMap::new(),
            };
            (name, info)
        };
        let types = known.into_iter().map(info).collect();
        let topology = topology(pools);
        wanted(&topology, &types).into_iter().map(|(quota, wanted)| (quota.code(), wanted.vcpus)).collect()
    }

    #[test]
    fn each_family_and_market_has_its_own_sum() {
        let pools: [(&str, u32, u32, &[&str]); 4] = [
            ("a", 3, 0, &["m7i.large"]),
            ("b", 4, 3, &["m7i.xlarge", "m7i.large"]),
            ("gpu", 2, 0, &["g6.xlarge"]),
            ("big", 1, 1, &["p5.48xlarge"]),
        ];
        let expected = [("L-1216C47A", 8), ("L-DB2E81BA", 8), ("L-34B43A08", 6), ("L-C4BD4855", 192)];
        assert_eq!(found(&pools), expected);
    }

    #[test]
    fn ambiguous_types_count_in_no_quota() {
        assert_eq!(found(&[("a", 3, 0, &["m7i.large", "g6.xlarge"])]), []);
        assert_eq!(found(&[("a", 3, 0, &["mac2.metal"])]), []);
        assert_eq!(found(&[("a", 3, 0, &["m99.large"])]), [], "it is refused for another reason");
        assert_eq!(found(&[("a", 0, 0, &["m7i.large"])]), []);
    }
}
