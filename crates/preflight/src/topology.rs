//! What a Cluster asks of AWS, in one value, wherever that was read.

use foo_api::FooMachinePoolSpec;
use foo_api::cluster::ManagedNetwork;
use foo_api::maintenance::MaintenanceWindow;
use foo_api::pool::{Ami, InstanceRequirements, MixedInstances, RolloutStrategy, SmallestInstance};
use foo_api::shared::{NetworkReference, unsigned};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use std::collections::BTreeSet;

/// What a Cluster asks of AWS.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topology {
    /// `<namespace>/<cluster>`, as in the tag of its groups.
    pub cluster: String,
    /// Region.
    pub region: String,
    /// FooClusterIdentity.
    pub identity: String,
    /// VPC in which tags are searched.
    pub vpc: Option<String>,
    /// Subnets of the cluster, if its network exists.
    pub subnets: Vec<NetworkReference>,
    /// The network that the provider creates for it.
    pub managed: Option<ManagedNetwork>,
    /// Its control plane, if that is one on EKS.
    pub eks: Option<Eks>,
    /// Its pools.
    pub pools: Vec<Pool>,
}

/// What a control plane on EKS asks of AWS.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Eks {
    /// Kubernetes version that it is to have.
    pub version: String,
    /// ARN of its role, of a Cluster that does not exist yet: EKS cannot change the role of one that runs.
    pub role: Option<String>,
    /// Ids of its own subnets; all of the cluster's if there is none.
    pub subnets: Vec<String>,
    /// When the provider may update its add-ons.
    pub windows: Vec<MaintenanceWindow>,
}

/// What a pool asks of AWS.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pool {
    /// Its name in the topology.
    pub name: String,
    /// Name of its FooMachinePool, if core sends it. A new pool has another one in each computation, until it is
    /// created.
    pub object: Option<String>,
    /// Desired replicas; 0 where something else than the topology decides on them.
    pub replicas: u32,
    /// Desired replicas, and what a roll-out adds for a while.
    pub most: u32,
    /// Images its instances boot from, now or soon.
    pub images: BTreeSet<String>,
    /// The image that is looked up, if none is named by its id.
    pub looked_up: Option<LookedUp>,
    /// Instance types, if they are known by their names.
    pub types: Vec<String>,
    /// What the instance types have at least that are chosen by their attributes.
    pub described: Vec<SmallestInstance>,
    /// How many of the replicas are spot instances.
    pub spot: u32,
    /// Instance profile of a Cluster that does not exist yet: one that runs is not checked for it.
    pub profile: Option<String>,
    /// Its own subnets; all of the cluster's if there is none.
    pub subnets: Vec<NetworkReference>,
    /// When the provider may replace its instances.
    pub windows: Vec<MaintenanceWindow>,
}

/// An image that the pool controller looks up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LookedUp {
    /// What it follows from, together with a version and the instance types.
    pub ami: Ami,
    /// Kubernetes version that the pool has, or begins with. A pool that runs has a record of its image, and needs no
    /// lookup.
    pub now: Option<String>,
    /// Kubernetes version that it is to reach, if that is another one.
    pub next: Option<String>,
}

impl Pool {
    /// From the spec of a pool with that many replicas. Its image is not looked up yet.
    pub fn of_spec(name: String, replicas: u32, spec: FooMachinePoolSpec) -> Self {
        let surge = match spec.rollout.strategy {
            RolloutStrategy::OnDelete => 0,
            RolloutStrategy::RollingUpdate => share(&spec.rollout.max_surge, replicas),
        };
        let limit = spec.max_size.and_then(|limit| u32::try_from(limit).ok()).unwrap_or(u32::MAX);
        let replicas = replicas.min(limit);
        let spot = match &spec.mixed_instances {
            Some(mixed) => spot(mixed, replicas),
            None if spec.spot.is_some() => replicas,
            None => 0,
        };
        let mixed = spec.mixed_instances.as_ref();
        let several: Vec<_> =
            mixed.iter().flat_map(|mixed| mixed.instance_types().map(str::to_owned)).collect();
        let requirements = mixed.iter().flat_map(|mixed| mixed.requirements());
        let described = requirements.map(InstanceRequirements::smallest).collect();
        Self {
            name,
            object: None,
            profile: None,
            looked_up: None,
            replicas,
            most: if replicas == 0 { 0 } else { replicas.saturating_add(surge).min(limit) },
            images: spec.ami.id.into_iter().collect(),
            spot,
            types: spec.instance_type.into_iter().chain(several).collect(),
            described,
            subnets: spec.subnets,
            windows: spec.maintenance_windows,
        }
    }
}

/// The image that a pool looks up, if its spec names none: for the version that it has, and for the one that it is to reach.
pub fn looked_up(ami: &Ami, now: String, target: &str) -> Option<LookedUp> {
    let next = (now != target && !target.is_empty()).then(|| target.to_owned());
    ami.id.is_none().then(|| LookedUp { ami: ami.clone(), now: Some(now), next })
}

/// How many instances of a pool of several types are spot instances. Those on demand are rounded up (EC2 Auto Scaling
/// API Reference, InstancesDistribution, `OnDemandPercentageAboveBaseCapacity`).
fn spot(mixed: &MixedInstances, replicas: u32) -> u32 {
    let base = unsigned(mixed.on_demand_base);
    let percent = u32::try_from(mixed.on_demand_percentage).unwrap_or(100);
    let beyond = replicas.saturating_sub(base);
    beyond.saturating_sub(beyond.saturating_mul(percent).div_ceil(100))
}

/// A number, or a percentage of the replicas, rounded up, as the manager reads it.
fn share(of: &IntOrString, replicas: u32) -> u32 {
    match of {
        IntOrString::Int(number) => unsigned(*number),
        IntOrString::String(text) => {
            let percent: u32 = text.trim_end_matches('%').parse().unwrap_or_default();
            replicas.saturating_mul(percent).div_ceil(100)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_surge_is_a_number_or_a_share_rounded_up() {
        assert_eq!(share(&IntOrString::Int(3), 10), 3);
        assert_eq!(share(&IntOrString::String("25%".to_owned()), 10), 3);
        assert_eq!(share(&IntOrString::String("0%".to_owned()), 10), 0);
    }

    #[test]
    fn a_pool_asks_for_its_replicas_and_its_surge_up_to_its_maximum() {
        let pool = |spec: serde_json::Value, replicas: u32| {
            let pool = Pool::of_spec("a".to_owned(), replicas, serde_json::from_value(spec).unwrap());
            (pool.replicas, pool.most)
        };
        let ami = json!({"id": "ami-1"});
        assert_eq!(pool(json!({"ami": ami}), 10), (10, 11));
        assert_eq!(pool(json!({"ami": ami, "maxSize": 5}), 10), (5, 5));
        assert_eq!(pool(json!({"ami": ami, "rollout": {"strategy": "OnDelete"}}), 10), (10, 10));
        assert_eq!(pool(json!({"ami": ami, "rollout": {"maxSurge": "50%"}}), 3), (3, 5));
        assert_eq!(pool(json!({"ami": ami}), 0), (0, 0), "something else decides on the replicas");
    }
}
