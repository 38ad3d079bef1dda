//! Subnets: those of the cluster exist and are in one VPC, those of pools are among them.

use crate::account::Account;
use crate::addresses::Demand;
use crate::report::{Report, by_what, pools};
use crate::topology::{Pool, Topology};
use foo_api::shared::NetworkReference;
use foo_cloud::{NetworkQuery, SubnetInfo};
use foo_model::Zone;
use futures::future::join_all;
use std::collections::{BTreeMap, BTreeSet};

/// What was found of a network.
#[derive(Debug, Default)]
pub(crate) struct Network {
    /// VPC of the cluster's subnets, if they are in one.
    pub(crate) vpc: Option<String>,
    /// Free IPv4 addresses by subnet of the cluster.
    pub(crate) free: BTreeMap<String, u32>,
    /// Zones of the cluster's subnets, if all of these are known.
    pub(crate) zones: Option<BTreeSet<Zone>>,
    /// Subnets of each pool that has its own, by the pool's name.
    own: BTreeMap<String, BTreeSet<String>>,
    /// Whether every subnet is known and one of the cluster's: otherwise nothing can be reported of free addresses.
    complete: bool,
}

impl Network {
    /// How many addresses each pool needs, and of which subnets; nothing if not all subnets are known.
    pub(crate) fn demands(&self, topology: &Topology) -> Vec<Demand> {
        if !self.complete {
            return Vec::new();
        }
        let all: BTreeSet<String> = self.free.keys().cloned().collect();
        let demand = |pool: &Pool| Demand {
            pool: pool.name.clone(),
            replicas: pool.replicas,
            most: pool.most,
            // Which zones a pool is restricted to is not in the request: all of them.
            subnets: self.own.get(&pool.name).unwrap_or(&all).clone(),
        };
        topology.pools.iter().map(demand).collect()
    }
}

pub(crate) async fn check(aws: &dyn Account, topology: &Topology, report: &mut Report) -> Network {
    let vpc = topology.vpc.as_deref();
    let own = by_what(
        topology
            .pools
            .iter()
            .flat_map(|pool| pool.subnets.iter().map(|subnet| (query(vpc, subnet), pool.name.as_str()))),
    );
    let of_cluster: BTreeSet<NetworkQuery> =
        topology.subnets.iter().map(|subnet| query(vpc, subnet)).collect();
    let (of_cluster_results, own_results) = tokio::join!(
        join_all(of_cluster.iter().map(async |query| aws.subnets(query).await)),
        join_all(own.keys().map(async |query| aws.subnets(query).await)),
    );
    let mut found: BTreeMap<String, SubnetInfo> = BTreeMap::new();
    let mut network = Network { complete: !of_cluster.is_empty(), ..Network::default() };
    for (query, result) in of_cluster.iter().zip(of_cluster_results) {
        let subnets = some(report, &described(query, &topology.region), result);
        network.complete &= subnets.is_some();
        found.extend(subnets.into_iter().flatten().map(|subnet| (subnet.id.as_str().to_owned(), subnet)));
    }
    network.vpc = one_vpc(topology, &found, report);
    network.free = found.iter().map(|(id, subnet)| (id.clone(), subnet.free_addresses)).collect();
    network.zones = network.complete.then(|| found.values().map(|subnet| subnet.zone.clone()).collect());
    // Without all of the cluster's subnets, one that is missing among them proves nothing.
    let known = network.complete;
    for ((query, names), result) in own.iter().zip(own_results) {
        let what = format!("{}: {}", pools(names), described(query, &topology.region));
        let subnets = some(report, &what, result);
        network.complete &= subnets.is_some();
        for subnet in subnets.into_iter().flatten() {
            if known && !found.contains_key(subnet.id.as_str()) {
                report.finds(format!("{}: subnet {} is not one of the cluster's", pools(names), subnet.id));
                network.complete = false;
            }
            for name in names {
                network.own.entry((*name).to_owned()).or_default().insert(subnet.id.as_str().to_owned());
            }
        }
    }
    network
}

/// Subnets; tags that match none are a finding, too.
fn some(
    report: &mut Report,
    what: &str,
    result: foo_cloud::Result<Vec<SubnetInfo>>,
) -> Option<Vec<SubnetInfo>> {
    let subnets = report.result(what, result)?;
    if subnets.is_empty() {
        report.finds(format!("{what} does not exist"));
        return None;
    }
    Some(subnets)
}

fn one_vpc(topology: &Topology, found: &BTreeMap<String, SubnetInfo>, report: &mut Report) -> Option<String> {
    let mut vpc = topology.vpc.clone();
    for (id, subnet) in found {
        match &vpc {
            None => vpc = Some(subnet.vpc.clone()),
            Some(vpc) if *vpc == subnet.vpc => {}
            Some(vpc) => report.finds(format!("subnet {id} is in VPC {}, not in {vpc}", subnet.vpc)),
        }
    }
    vpc
}

fn query(vpc: Option<&str>, reference: &NetworkReference) -> NetworkQuery {
    match &reference.id {
        Some(id) => NetworkQuery::Ids(vec![id.clone()]),
        None => NetworkQuery::Tags {
            vpc: vpc.map(str::to_owned),
            tags: reference.tags.clone().unwrap_or_default(),
        },
    }
}

fn described(query: &NetworkQuery, region: &str) -> String {
    match query {
        NetworkQuery::Ids(ids) => format!("subnet {} in {region}", ids.join(", ")),
        NetworkQuery::Tags { vpc, tags } => {
            let tags: Vec<String> = tags.iter().map(|(key, value)| format!("{key}={value}")).collect();
            let within = vpc.as_ref().map_or_else(|| region.to_owned(), |vpc| format!("VPC {vpc}"));
            format!("a subnet with the tags {} in {within}", tags.join(", "))
        }
    }
}
