//! What Clusters ask of AWS, from their objects.

use crate::access::{Reads, meant};
use crate::capi::Cluster;
use anyhow::Result;
use foo_api::capi::{ContractReference, MachinePool};
use foo_api::control_plane::Eks as EksSpec;
use foo_api::identity::DEFAULT_IDENTITY;
use foo_api::shared::NetworkReference;
use foo_api::{FooCluster, FooControlPlane, FooMachinePool};
use foo_preflight::topology::{Eks, LookedUp, Pool, Topology, looked_up};
use kube::{Resource, ResourceExt as _};

/// What was read of Clusters.
#[derive(Clone, Debug, Default)]
pub(super) struct Objects {
    /// Those that are asked for.
    pub clusters: Vec<Cluster>,
    /// Their networks.
    pub foo_clusters: Vec<FooCluster>,
    /// Their control planes.
    pub control_planes: Vec<FooControlPlane>,
    /// MachinePools.
    pub machine_pools: Vec<MachinePool>,
    /// FooMachinePools.
    pub pools: Vec<FooMachinePool>,
}

/// Lists each kind once.
///
/// # Errors
/// A Cluster does not exist, or a right is missing.
pub(super) async fn read(reads: &Reads<'_>, names: &[String]) -> Result<Objects> {
    let (clusters, foo_clusters, control_planes, machine_pools, pools) = tokio::try_join!(
        reads.list(None),
        reads.list(None),
        reads.list_if_served(),
        reads.list(None),
        reads.list(None),
    )?;
    let clusters = meant(clusters, reads.namespace, names)?;
    Ok(Objects { clusters, foo_clusters, control_planes, machine_pools, pools })
}

/// What each Cluster of this provider asks of AWS; with a version as if the Cluster were to get that one.
pub(super) fn topologies(objects: &Objects, version: Option<&str>) -> Vec<Topology> {
    objects.clusters.iter().filter_map(|cluster| topology(objects, cluster, version)).collect()
}

/// The object that a reference names, in the namespace of its Cluster.
fn referenced<'a, K: Resource<DynamicType = ()>>(
    all: &'a [K],
    namespace: Option<&str>,
    reference: Option<&ContractReference>,
) -> Option<&'a K> {
    let reference = reference.filter(|it| it.kind == K::kind(&()))?;
    all.iter().find(|it| it.meta().namespace.as_deref() == namespace && it.name_any() == reference.name)
}

fn topology(objects: &Objects, cluster: &Cluster, version: Option<&str>) -> Option<Topology> {
    let namespace = cluster.meta().namespace.as_deref();
    let Cluster { spec, .. } = cluster;
    let foo_cluster = referenced(&objects.foo_clusters, namespace, spec.infrastructure_ref.as_ref())?;
    let control_plane = referenced(&objects.control_planes, namespace, spec.control_plane_ref.as_ref());
    let eks = control_plane.and_then(|it| Some((it, it.spec.eks.as_ref()?)));
    let network = foo_cluster.spec.network.existing.clone().unwrap_or_default();
    // Of a network that the provider created, the subnets that exist: their free addresses count.
    let status = foo_cluster.status.as_ref().and_then(|status| status.network.as_ref());
    let created = status
        .into_iter()
        .flat_map(|it| &it.subnets)
        .map(|it| NetworkReference { id: Some(it.id.clone()), ..NetworkReference::default() });
    let managed = foo_cluster.spec.network.managed.clone();
    let subnets = if managed.is_some() { created.collect() } else { network.subnets };
    let target = version.or_else(|| control_plane.map(|it| it.spec.version.as_str())).unwrap_or_default();
    let identity = foo_cluster.spec.identity_ref.as_ref();
    Some(Topology {
        cluster: format!("{}/{}", namespace.unwrap_or_default(), cluster.name_any()),
        region: foo_cluster.spec.region.clone(),
        identity: identity.map_or(DEFAULT_IDENTITY, |identity| identity.name.as_str()).to_owned(),
        vpc: network.vpc_id,
        subnets,
        managed,
        eks: eks.map(|(object, eks)| Eks {
            version: target.to_owned(),
            // EKS has checked the role of a cluster that exists.
            role: object.status.as_ref().is_none_or(|it| it.eks.is_none()).then(|| eks.role_arn.clone()),
            subnets: eks.subnets.clone(),
        }),
        pools: machine_pools(objects, cluster)
            .filter_map(|it| pool(objects, namespace, it, target))
            .collect(),
    })
}

fn machine_pools<'a>(objects: &'a Objects, cluster: &Cluster) -> impl Iterator<Item = &'a MachinePool> {
    let (namespace, name) = (cluster.namespace(), cluster.name_any());
    objects.machine_pools.iter().filter(move |it| it.namespace() == namespace && it.spec.cluster_name == name)
}

/// What a pool asks of AWS, and its present version by itself: images are looked up for the one that the Cluster has or is to get.
fn pool(
    objects: &Objects,
    namespace: Option<&str>,
    machine_pool: &MachinePool,
    target: &str,
) -> Option<Pool> {
    let template = &machine_pool.spec.template.spec;
    let found = referenced(&objects.pools, namespace, Some(&template.infrastructure_ref))?;
    let replicas = machine_pool.spec.replicas.and_then(|it| u32::try_from(it).ok()).unwrap_or_default();
    let version = template.version.clone().unwrap_or_else(|| target.to_owned());
    Some(Pool {
        object: Some(found.name_any()),
        looked_up: looked_up(&found.spec.ami, version, target),
        profile: found.spec.iam_instance_profile.clone(),
        ..Pool::of_spec(machine_pool.name_any(), replicas, found.spec.clone())
    })
}

/// The spec of a Cluster's control plane on EKS.
pub(super) fn eks<'a>(objects: &'a Objects, topology: &Topology) -> Option<&'a EksSpec> {
    let cluster = objects
        .clusters
        .iter()
        .find(|it| format!("{}/{}", it.namespace().unwrap_or_default(), it.name_any()) == topology.cluster)?;
    let namespace = cluster.meta().namespace.as_deref();
    referenced(&objects.control_planes, namespace, cluster.spec.control_plane_ref.as_ref())?.spec.eks.as_ref()
}

/// Whether the image is from an SSM parameter.
pub(super) fn reads_parameter(image: &LookedUp) -> bool {
    image.ami.ssm_parameter.is_some() || image.ami.recommended.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::de::DeserializeOwned;
    use serde_json::{Value, json};

    fn object<K: Resource<DynamicType = ()> + DeserializeOwned>(spec: &Value, name: &str) -> K {
        let (version, kind) = (K::api_version(&()), K::kind(&()));
        let metadata = json!({"name": name, "namespace": "team"});
        serde_json::from_value(
            json!({"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}),
        )
        .unwrap()
    }

    /// A Cluster on EKS with one pool, which looks up its image.
    fn objects(network: &Value) -> Objects {
        let reference = |kind: &str| json!({"apiGroup": "x", "kind": kind, "name": "prod"});
        let cluster = json!({
            "infrastructureRef": reference("FooCluster"), "controlPlaneRef": reference("FooControlPlane"),
        });
        let role = "arn:aws:iam::123456789012:role/eks";
        let control_plane = json!({"version": "v1.36.0", "eks": {"roleARN": role}});
        let template = json!({"version": "v1.35.2", "infrastructureRef": reference("FooMachinePool")});
        let pool = json!({
            "ami": {"recommended": {"family": "AL2023"}}, "instanceType": "m7i.large", "iamInstanceProfile": "nodes",
        });
        Objects {
            clusters: vec![object(&cluster, "prod")],
            foo_clusters: vec![object(&json!({"region": "eu-central-1", "network": network}), "prod")],
            control_planes: vec![object(&control_plane, "prod")],
            machine_pools: vec![
                object(
                    &json!({"clusterName": "prod", "replicas": 3, "template": {"spec": template}}),
                    "workers",
                ),
                object(
                    &json!({"clusterName": "other", "replicas": 9, "template": {"spec": template}}),
                    "others",
                ),
            ],
            pools: vec![object(&pool, "prod")],
        }
    }

    #[test]
    fn a_cluster_asks_for_its_own_pools_and_the_version_that_it_is_to_get() {
        let objects = objects(&json!({"existing": {"vpcID": "vpc-1", "subnets": [{"id": "subnet-1"}]}}));
        let [found] = <[Topology; 1]>::try_from(topologies(&objects, None)).unwrap();
        assert_eq!((found.cluster.as_str(), found.identity.as_str()), ("team/prod", "default"));
        assert_eq!(
            (found.vpc.as_deref(), found.subnets.len(), found.managed.is_some()),
            (Some("vpc-1"), 1, false)
        );
        let eks = found.eks.as_ref().unwrap();
        assert_eq!((eks.version.as_str(), eks.role.is_some()), ("v1.36.0", true));
        let [pool] = found.pools.as_slice() else { panic!("{:?}", found.pools) };
        assert_eq!((pool.name.as_str(), pool.replicas, pool.most), ("workers", 3, 4));
        let image = pool.looked_up.as_ref().unwrap();
        assert_eq!((image.now.as_deref(), image.next.as_deref()), (Some("v1.35.2"), Some("v1.36.0")));
        assert!(reads_parameter(image));
        let [upgraded] = <[Topology; 1]>::try_from(topologies(&objects, Some("v1.37.0"))).unwrap();
        assert_eq!(upgraded.eks.unwrap().version, "v1.37.0");
        assert_eq!(upgraded.pools[0].looked_up.as_ref().unwrap().next.as_deref(), Some("v1.37.0"));
    }

    #[test]
    fn subnets_of_a_managed_network_are_those_that_exist() {
        let mut objects = objects(&json!({"managed": {}}));
        let of = |objects: &Objects| topologies(objects, None).pop().unwrap();
        assert!(of(&objects).subnets.is_empty() && of(&objects).managed.is_some());
        let subnets = json!([{"id": "subnet-7", "zone": "eu-central-1a", "public": false}]);
        objects.foo_clusters[0].status =
            Some(serde_json::from_value(json!({"network": {"vpcID": "vpc-1", "subnets": subnets}})).unwrap());
        assert_eq!(of(&objects).subnets[0].id.as_deref(), Some("subnet-7"));
        objects.clusters[0].spec.infrastructure_ref.as_mut().unwrap().kind = "AWSCluster".to_owned();
        assert!(topologies(&objects, None).is_empty(), "it is of another provider");
    }
}
