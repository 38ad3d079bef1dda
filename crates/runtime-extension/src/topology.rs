//! What a topology asks of AWS, read from patched templates or from a Cluster's variables.

use crate::patches::{CLUSTERS, CONTROL_PLANES, POOLS, pool_name, pool_version};
use crate::variables::network::{self, Network};
use crate::variables::{SUBNETS, images};
use foo_api::cluster::ManagedNetwork;
use foo_api::identity::DEFAULT_IDENTITY;
use foo_api::shared::NetworkReference;
use foo_api::{FooClusterTemplate, FooControlPlaneTemplate, FooMachinePoolTemplate};
use foo_preflight::topology::{Eks, Pool, Topology, looked_up};
use foo_runtime_sdk::hooks::ValidateTopologyRequest;
use foo_runtime_sdk::variables::{Variable, Variables};
use foo_runtime_sdk::{Failure, Object};
use serde::Deserialize;

/// Variable with the role of a control plane on EKS.
const ROLE: &str = "roleARN";
/// Variable with its own subnets.
const CONTROL_PLANE_SUBNETS: &str = "controlPlaneSubnets";

/// From templates, all patches applied; `None` if the infrastructure is another provider's.
///
/// # Errors
///
/// When a template of the provider cannot be read.
pub(crate) fn of_templates(request: &ValidateTopologyRequest) -> Result<Option<Topology>, Failure> {
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
    Ok(Some(Topology {
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
        eks: eks.map(|eks| Eks {
            version,
            role: None,
            subnets: eks.subnets,
            windows: eks.maintenance_windows,
        }),
        pools,
    }))
}

/// From the variables of a Cluster, for its version or another one; `None` if it has none of the provider. Which
/// instance types its pools have is not known: that depends on their templates.
///
/// # Errors
///
/// When a variable is of another type, or there is no image for the version.
pub(crate) fn of_cluster(cluster: &Object, version: &str) -> Result<Option<Topology>, Failure> {
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
            // As those of pools, they are read from the patched templates.
            windows: Vec::new(),
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
    Ok(Some(Topology {
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
            assert_eq!(of_cluster(&other, "v1.36.3"), Ok(None));
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
        let found = of_cluster(&cluster, "v1.36.3").unwrap().unwrap();
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
        let found = of_cluster(&cluster, "v1.36.3").unwrap().unwrap();
        assert_eq!((found.cluster.as_str(), found.identity.as_str()), ("n/c", "default"));
        let images: Vec<_> =
            found.pools.iter().map(|pool| pool.images.iter().cloned().collect::<Vec<_>>()).collect();
        assert_eq!(images, [["ami-1"], ["ami-2"]]);
        let missing = of_cluster(&cluster, "v1.37.0").unwrap_err();
        assert_eq!(missing.message(), "pool a: variable images has no image for Kubernetes v1.37.0");
    }
}
