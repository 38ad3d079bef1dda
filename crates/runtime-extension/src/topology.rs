//! What a topology asks of AWS, in one value, whether it was read from patched templates or from a Cluster's variables.

use crate::patches::{CLUSTERS, CONTROL_PLANES, POOLS, pool_name, pool_version};
use crate::variables::network::{self, Network};
use crate::variables::{SUBNETS, images};
use foo_api::cluster::ManagedNetwork;
use foo_api::pool::{Ami, MixedInstances, RolloutStrategy};
use foo_api::shared::NetworkReference;
use foo_api::{FooClusterTemplate, FooControlPlaneTemplate, FooMachinePoolSpec, FooMachinePoolTemplate};
use foo_runtime_sdk::hooks::ValidateTopologyRequest;
use foo_runtime_sdk::variables::{Variable, Variables};
use foo_runtime_sdk::{Failure, Object};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use serde::Deserialize;
use std::collections::BTreeSet;

/// Variable with the role of a control plane on EKS.
const ROLE: &str = "roleARN";
/// Variable with its own subnets.
const CONTROL_PLANE_SUBNETS: &str = "controlPlaneSubnets";

/// The identity of a cluster that names none.
const DEFAULT_IDENTITY: &str = "default";

/// What a topology asks of AWS.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Topology {
    /// `<namespace>/<cluster>`, as in the tag of its groups.
    pub(crate) cluster: String,
    /// Region.
    pub(crate) region: String,
    /// FooClusterIdentity.
    pub(crate) identity: String,
    /// VPC in which tags are searched.
    pub(crate) vpc: Option<String>,
    /// Subnets of the cluster, if its network exists.
    pub(crate) subnets: Vec<NetworkReference>,
    /// The network that the provider creates for it.
    pub(crate) managed: Option<ManagedNetwork>,
    /// Its control plane, if that is one on EKS.
    pub(crate) eks: Option<Eks>,
    /// Its pools.
    pub(crate) pools: Vec<Pool>,
}

/// What a control plane on EKS asks of AWS.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Eks {
    /// Kubernetes version that it is to have.
    pub(crate) version: String,
    /// ARN of its role, of a Cluster that does not exist yet: EKS cannot change the role of one that runs.
    pub(crate) role: Option<String>,
    /// Ids of its own subnets; all of the cluster's if there is none.
    pub(crate) subnets: Vec<String>,
}

/// What a pool asks of AWS.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pool {
    /// Its name in the topology.
    pub(crate) name: String,
    /// Name of its FooMachinePool, if core sends it. A new pool has another one in each computation, until it is
    /// created.
    pub(crate) object: Option<String>,
    /// Desired replicas; 0 where something else than the topology decides on them.
    pub(crate) replicas: u32,
    /// Desired replicas, and what a roll-out adds for a while.
    pub(crate) most: u32,
    /// Images its instances boot from, now or soon.
    pub(crate) images: BTreeSet<String>,
    /// The image that is looked up, if none is named by its id.
    pub(crate) looked_up: Option<LookedUp>,
    /// Instance types, if they are known.
    pub(crate) types: Vec<String>,
    /// How many of the replicas are spot instances.
    pub(crate) spot: u32,
    /// Instance profile of a Cluster that does not exist yet: one that runs is not checked for it.
    pub(crate) profile: Option<String>,
    /// Its own subnets; all of the cluster's if there is none.
    pub(crate) subnets: Vec<NetworkReference>,
}

/// An image that the pool controller looks up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LookedUp {
    /// What it follows from, together with a version and the instance types.
    pub(crate) ami: Ami,
    /// Kubernetes version that the pool has, or begins with. A pool that runs has a record of its image, and needs no
    /// lookup.
    pub(crate) now: Option<String>,
    /// Kubernetes version that it is to reach, if that is another one.
    pub(crate) next: Option<String>,
}

impl Topology {
    /// From templates, all patches applied; `None` if the infrastructure is another provider's.
    ///
    /// # Errors
    ///
    /// When a template of the provider cannot be read.
    pub(crate) fn of_templates(request: &ValidateTopologyRequest) -> Result<Option<Self>, Failure> {
        let items: Vec<_> = request.items.iter().flatten().collect();
        let Some(cluster) = items.iter().find(|item| CLUSTERS.matches(&item.object)) else { return Ok(None) };
        let spec = cluster.object.decode::<FooClusterTemplate>()?.spec.template.spec;
        let managed = spec.network.managed;
        let network = spec.network.existing.unwrap_or_default();
        let builtin = |name: &str| {
            Variables::new(&[], &request.variables).find::<String>(&format!("builtin.cluster.{name}"))
        };
        let control_plane = items.iter().find(|item| CONTROL_PLANES.matches(&item.object));
        let control_plane = control_plane.map(|item| item.object.decode::<FooControlPlaneTemplate>());
        let eks = control_plane.transpose()?.and_then(|found| found.spec.template.spec.eks);
        let version = builtin("topology.version")?.unwrap_or_default();
        let mut pools = Vec::new();
        for item in items.iter().filter(|item| POOLS.matches(&item.object)) {
            let variables = Variables::new(&item.variables, &request.variables);
            let spec = item.object.decode::<FooMachinePoolTemplate>()?.spec.template.spec;
            let replicas = variables.find::<u32>("builtin.machinePool.replicas")?.unwrap_or_default();
            let object = variables.find("builtin.machinePool.infrastructureRef.name")?;
            let looked_up = looked_up(&spec.ami, pool_version(variables)?, &version);
            pools.push(Pool { object, looked_up, ..Pool::of_spec(pool_name(variables), replicas, spec) });
        }
        Ok(Some(Self {
            cluster: format!(
                "{}/{}",
                builtin("namespace")?.unwrap_or_default(),
                builtin("name")?.unwrap_or_default()
            ),
            region: spec.region,
            identity: spec.identity_ref.map_or_else(|| DEFAULT_IDENTITY.to_owned(), |identity| identity.name),
            vpc: network.vpc_id,
            subnets: network.subnets,
            managed,
            eks: eks.map(|eks| Eks { version, role: None, subnets: eks.subnets }),
            pools,
        }))
    }

    /// From the variables of a Cluster, for its version or another one; `None` if it has none of the provider. Which
    /// instance types its pools have is not known: that depends on their templates.
    ///
    /// # Errors
    ///
    /// When a variable is of another type, or there is no image for the version.
    pub(crate) fn of_cluster(cluster: &Object, version: &str) -> Result<Option<Self>, Failure> {
        let of_cluster: Vec<Variable> = listed(cluster, "/spec/topology/variables")?;
        let variables = Variables::new(&[], &of_cluster);
        // Hooks are called for every Cluster: those whose variables only have the same names are of other providers.
        let needed = |name: &str| variables.find::<String>(name).ok().flatten();
        let subnets = variables.find::<Vec<NetworkReference>>(SUBNETS).map(Option::unwrap_or_default);
        let control_plane = needed("kubeconfigSecret").or_else(|| needed("roleARN"));
        let (Some(region), Some(_control_plane), Ok(mut subnets), Ok(network)) =
            (needed("region"), control_plane, subnets, network::network(variables))
        else {
            return Ok(None);
        };
        let managed = match network {
            Network::Existing => None,
            Network::Managed(_) => {
                subnets.clear();
                Some(variables.find::<ManagedNetwork>(network::MANAGED)?.unwrap_or_default())
            }
        };
        let text = |name: &str| -> Result<Option<String>, Failure> {
            Ok(variables.find::<String>(name)?.filter(|text| !text.is_empty()))
        };
        let eks = match variables.find::<String>(ROLE)? {
            None => None,
            role => Some(Eks {
                version: version.to_owned(),
                role,
                subnets: variables.find(CONTROL_PLANE_SUBNETS)?.unwrap_or_default(),
            }),
        };
        let mut pools = Vec::new();
        for pool in listed::<PoolTopology>(cluster, "/spec/topology/workers/machinePools")? {
            let variables = Variables::new(&pool.variables.overrides, &of_cluster);
            let image = images::image(variables, version)
                .map_err(|failure| Failure::new(format!("pool {}: {}", pool.name, failure.message())))?;
            pools.push(Pool {
                name: pool.name,
                replicas: pool.replicas.unwrap_or_default(),
                most: pool.replicas.unwrap_or_default(),
                images: image.into_iter().collect(),
                profile: variables.find("instanceProfile")?,
                subnets: variables.find("poolSubnets")?.unwrap_or_default(),
                ..Pool::default()
            });
        }
        Ok(Some(Self {
            cluster: format!("{}/{}", cluster.namespace(), cluster.name()),
            region,
            identity: text("identity")?.unwrap_or_else(|| DEFAULT_IDENTITY.to_owned()),
            vpc: text("vpcID")?,
            subnets,
            managed,
            eks,
            pools,
        }))
    }
}

impl Pool {
    fn of_spec(name: String, replicas: u32, spec: FooMachinePoolSpec) -> Self {
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
        let several = spec.mixed_instances.into_iter().flat_map(|mixed| mixed.overrides);
        let several = several.map(|one| one.instance_type);
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
            subnets: spec.subnets,
        }
    }
}

fn looked_up(ami: &Ami, now: String, target: &str) -> Option<LookedUp> {
    let next = (now != target && !target.is_empty()).then(|| target.to_owned());
    ami.id.is_none().then(|| LookedUp { ami: ami.clone(), now: Some(now), next })
}

/// How many instances of a pool of several types are spot instances. Those on demand are rounded up (EC2 Auto Scaling
/// API Reference, InstancesDistribution, `OnDemandPercentageAboveBaseCapacity`).
fn spot(mixed: &MixedInstances, replicas: u32) -> u32 {
    let base = u32::try_from(mixed.on_demand_base).unwrap_or_default();
    let percent = u32::try_from(mixed.on_demand_percentage).unwrap_or(100);
    let beyond = replicas.saturating_sub(base);
    beyond.saturating_sub(beyond.saturating_mul(percent).div_ceil(100))
}

/// A number, or a percentage of the replicas, rounded up, as the manager reads it.
fn share(of: &IntOrString, replicas: u32) -> u32 {
    match of {
        IntOrString::Int(number) => u32::try_from(*number).unwrap_or_default(),
        IntOrString::String(text) => {
            let percent: u32 = text.trim_end_matches('%').parse().unwrap_or_default();
            replicas.saturating_mul(percent).div_ceil(100)
        }
    }
}

/// A pool in a Cluster's topology.
#[derive(Debug, Deserialize)]
struct PoolTopology {
    name: String,
    #[serde(default)]
    replicas: Option<u32>,
    #[serde(default)]
    variables: Overrides,
}

/// Its own values of variables.
#[derive(Debug, Default, Deserialize)]
struct Overrides {
    #[serde(default)]
    overrides: Vec<Variable>,
}

fn listed<T: for<'de> Deserialize<'de>>(cluster: &Object, pointer: &str) -> Result<Vec<T>, Failure> {
    let found = cluster.at(pointer).map(Vec::<T>::deserialize).transpose();
    found.map(Option::unwrap_or_default).map_err(|error| {
        Failure::new(format!(
            "the Cluster's {} cannot be read: {error}",
            pointer.trim_start_matches('/').replace('/', ".")
        ))
    })
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

    #[test]
    fn a_cluster_without_the_providers_variables_is_of_another_provider() {
        for variables in [
            json!([{"name": "zone", "value": 1}]),
            json!([
                {"name": "region", "value": {"name": "a"}}, {"name": "subnets", "value": ["subnet-1"]},
                {"name": "kubeconfigSecret", "value": "s"},
            ]),
            json!([{"name": "region", "value": "a"}, {"name": "subnets", "value": [{"id": "subnet-1"}]}]),
        ] {
            let other = Object(json!({"spec": {"topology": {"variables": variables}}}));
            assert_eq!(Topology::of_cluster(&other, "v1.36.3"), Ok(None));
        }
    }

    /// Images of its pools are looked up by the provider, and the class with inline patches has no `networkMode`.
    #[test]
    fn a_cluster_on_eks_is_recognized_and_names_no_images() {
        let cluster = Object(json!({
            "metadata": {"name": "c", "namespace": "n"},
            "spec": {"topology": {
                "variables": [
                    {"name": "region", "value": "eu-central-1"},
                    {"name": "managedNetwork", "value": {"nat": "Single"}}, {"name": "instanceProfile", "value": "nodes"},
                    {"name": "roleARN", "value": "arn:aws:iam::123456789012:role/eks"},
                ],
                "workers": {"machinePools": [{"class": "on-demand", "name": "a", "replicas": 2}]},
            }},
        }));
        let found = Topology::of_cluster(&cluster, "v1.36.3").unwrap().unwrap();
        assert!(found.managed.is_some_and(|network| network.nat.is_some()));
        let pools: Vec<_> = found.pools.iter().map(|pool| (pool.replicas, pool.images.len())).collect();
        assert_eq!(pools, [(2, 0)]);
    }

    #[test]
    fn images_of_the_pool_take_precedence() {
        let cluster = Object(json!({
            "metadata": {"name": "c", "namespace": "n"},
            "spec": {"topology": {
                "variables": [
                    {"name": "region", "value": "eu-central-1"}, {"name": "subnets", "value": [{"id": "subnet-1"}]},
                    {"name": "images", "value": [{"version": "v1.36.3", "id": "ami-1"}]},
                    {"name": "kubeconfigSecret", "value": "external"},
                ],
                "workers": {"machinePools": [
                    {"class": "on-demand", "name": "a", "replicas": 2},
                    {"class": "on-demand", "name": "b", "variables": {"overrides": [
                        {"name": "images", "value": [{"version": "v1.36.3", "id": "ami-2"}]},
                    ]}},
                ]},
            }},
        }));
        let found = Topology::of_cluster(&cluster, "v1.36.3").unwrap().unwrap();
        assert_eq!((found.cluster.as_str(), found.identity.as_str()), ("n/c", "default"));
        let images: Vec<_> =
            found.pools.iter().map(|pool| pool.images.iter().cloned().collect::<Vec<_>>()).collect();
        assert_eq!(images, [["ami-1"], ["ami-2"]]);
        let missing = Topology::of_cluster(&cluster, "v1.37.0").unwrap_err();
        assert_eq!(missing.message(), "pool a: variable images has no image for Kubernetes v1.37.0");
    }
}
