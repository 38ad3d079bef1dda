//! Images and instance types: they exist, and fit each other. Images that pools look up are looked up in the same way.

use crate::account::Account;
use crate::looked_up::{self, Images, Resolved};
use crate::report::{Report, by_what, pools};
use crate::topology::{Pool, Topology};
use foo_cloud::{ImageInfo, InstanceTypeInfo};
use foo_model::{ImageId, InstanceType};
use futures::future::join_all;
use std::collections::{BTreeMap, BTreeSet};

/// What was found out.
#[derive(Debug, Default)]
pub(crate) struct Found<'a> {
    /// The types that AWS has.
    pub(crate) types: BTreeMap<&'a str, InstanceTypeInfo>,
    /// Problems of images that pools look up for the version that they have: sentences, each with its pool. Only pools
    /// that are new need them.
    pub(crate) of_new_pools: Vec<(String, &'a str)>,
}

/// What is found.
pub(crate) async fn check<'a>(aws: &dyn Account, topology: &'a Topology, report: &mut Report) -> Found<'a> {
    let types = types(aws, topology, report).await;
    let Resolved { mut images, of_new_pools } = looked_up::check(aws, topology, &types, report).await;
    let named = topology
        .pools
        .iter()
        .flat_map(|pool| pool.images.iter().map(|image| (image.as_str(), pool.name.as_str())));
    let known_images = known(aws, &topology.region, by_what(named), report).await;
    let of_pools = topology.pools.iter().map(|pool| {
        let named = pool.images.iter().filter_map(|id| known_images.get(id.as_str()).cloned());
        let named = named.map(|template| Images { template, arm64: None });
        let looked_up = images.remove(pool.name.as_str()).unwrap_or_default();
        (pool, looked_up.into_iter().chain(named).collect())
    });
    architectures(of_pools, &types, report);
    Found { types, of_new_pools }
}

async fn types<'a>(
    aws: &dyn Account,
    topology: &'a Topology,
    report: &mut Report,
) -> BTreeMap<&'a str, InstanceTypeInfo> {
    let named = topology
        .pools
        .iter()
        .flat_map(|pool| pool.types.iter().map(|name| (name.as_str(), pool.name.as_str())));
    let named = by_what(named);
    let results = named.keys().map(async |name| aws.instance_type(&InstanceType::new(*name)).await);
    let mut known = BTreeMap::new();
    for ((name, names), result) in named.iter().zip(join_all(results).await) {
        let what = format!("{}: instance type {name} in {}", pools(names), topology.region);
        known.extend(report.result(&what, result).map(|found| (*name, found)));
    }
    known
}

/// Images by their ids.
async fn known<'a>(
    aws: &dyn Account,
    region: &str,
    named: BTreeMap<&'a str, BTreeSet<&str>>,
    report: &mut Report,
) -> BTreeMap<&'a str, ImageInfo> {
    let results = join_all(named.keys().map(async |id| aws.image(&ImageId::new(*id)).await)).await;
    let mut known = BTreeMap::new();
    for ((id, names), result) in named.into_iter().zip(results) {
        let Some(found) = report.result(&format!("{}: image {id} in {region}", pools(&names)), result) else {
            continue;
        };
        if !found.available {
            report.finds(format!("{}: image {id} cannot be launched", pools(&names)));
        }
        known.insert(id, found);
    }
    known
}

fn architectures<'a>(
    of_pools: impl Iterator<Item = (&'a Pool, Vec<Images>)>,
    types: &BTreeMap<&str, InstanceTypeInfo>,
    report: &mut Report,
) {
    let pairs = of_pools.flat_map(|(pool, images)| {
        images.into_iter().flat_map(move |images| {
            let named = pool.types.iter().filter_map(|name| types.get(name.as_str()));
            let named = named.map(|one| (one.instance_type.as_str(), one.architecture.as_str()));
            let described = pool.described.iter().map(|one| (looked_up::DESCRIBED, one.architecture));
            let all = named.chain(described).map(|(name, runs)| (name, runs, images.of(runs)));
            let others = all.filter(|(_, runs, image)| *runs != image.architecture);
            let findings = others.map(|(name, runs, image)| {
                let finding = format!(
                    "image {} is for {}, instance type {name} is {runs}",
                    image.id, image.architecture
                );
                (finding, pool.name.as_str())
            });
            findings.collect::<Vec<_>>()
        })
    });
    for (finding, names) in by_what(pairs) {
        report.finds(format!("{}: {finding}", pools(&names)));
    }
}
