//! What Clusters ask of AWS, from their objects.

use super::rights::{Feature, Needs, Network};
use crate::access::{Reads, meant};
use crate::capi::Cluster;
use anyhow::Result;
use foo_api::capi::{ContractReference, MachinePool, MachinePoolSpec};
use foo_api::cluster::{ClusterSecurityGroup, Leftovers, NetworkStatus, SubnetStatus};
use foo_api::identity::DEFAULT_IDENTITY;
use foo_api::shared::NetworkReference;
use foo_api::{FooCluster, FooControlPlane, FooMachinePool};
use foo_preflight::topology::{Eks, Pool, Topology, looked_up};
use kube::{Resource, ResourceExt as _};
use std::collections::BTreeSet;

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
pub(super) fn topologies<'a>(objects: &'a Objects, version: Option<&str>) -> Vec<(&'a Cluster, Topology)> {
    let one = |cluster: &'a Cluster| Some((cluster, topology(objects, cluster, version)?));
    objects.clusters.iter().filter_map(one).collect()
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
    let foo_cluster = foo_cluster(objects, cluster)?;
    let control_plane = referenced(&objects.control_planes, namespace, spec.control_plane_ref.as_ref());
    let eks = control_plane.and_then(|it| Some((it, it.spec.eks.as_ref()?)));
    let existing = foo_cluster.spec.network.existing.clone().unwrap_or_default();
    let managed = foo_cluster.spec.network.managed.clone();
    let network = network(foo_cluster);
    let subnets = if managed.is_some() {
        network.iter().flat_map(|it| &it.subnets).map(reference).collect()
    } else {
        existing.subnets.clone()
    };
    let target = version.or_else(|| control_plane.map(|it| it.spec.version.as_str())).unwrap_or_default();
    let identity = foo_cluster.spec.identity_ref.as_ref();
    Some(Topology {
        cluster: name_of(cluster),
        region: foo_cluster.spec.region.clone(),
        identity: identity.map_or(DEFAULT_IDENTITY, |identity| identity.name.as_str()).to_owned(),
        vpc: vpc(foo_cluster),
        subnets,
        managed,
        eks: eks.map(|(object, eks)| Eks {
            version: target.to_owned(),
            // EKS has checked the role of a cluster that exists.
            role: object.status.as_ref().is_none_or(|it| it.eks.is_none()).then(|| eks.role_arn.clone()),
            subnets: eks.subnets.clone(),
            windows: eks.maintenance_windows.clone(),
        }),
        pools: machine_pools(objects, cluster)
            .filter_map(|it| Some(pool(it, foo_machine_pool(objects, it)?, network, target)))
            .collect(),
    })
}

/// `<namespace>/<name>`.
pub(super) fn name_of(cluster: &Cluster) -> String {
    format!("{}/{}", cluster.namespace().unwrap_or_default(), cluster.name_any())
}

fn foo_cluster<'a>(objects: &'a Objects, cluster: &Cluster) -> Option<&'a FooCluster> {
    let namespace = cluster.meta().namespace.as_deref();
    referenced(&objects.foo_clusters, namespace, cluster.spec.infrastructure_ref.as_ref())
}

fn network(foo_cluster: &FooCluster) -> Option<&NetworkStatus> {
    foo_cluster.status.as_ref().and_then(|status| status.network.as_ref())
}

/// The VPC: of the network that the manager found or created, or the one that the spec names.
fn vpc(foo_cluster: &FooCluster) -> Option<String> {
    let found = network(foo_cluster).map(|it| it.vpc_id.clone()).filter(|id| !id.is_empty());
    let spec = &foo_cluster.spec.network;
    let existing = || spec.existing.as_ref().and_then(|it| it.vpc_id.clone());
    found.or_else(existing).or_else(|| spec.managed.as_ref().and_then(|it| it.vpc_id.clone()))
}

fn reference(subnet: &SubnetStatus) -> NetworkReference {
    NetworkReference { id: Some(subnet.id.clone()), ..NetworkReference::default() }
}

fn machine_pools<'a>(objects: &'a Objects, cluster: &Cluster) -> impl Iterator<Item = &'a MachinePool> {
    let (namespace, name) = (cluster.namespace(), cluster.name_any());
    objects.machine_pools.iter().filter(move |it| it.namespace() == namespace && it.spec.cluster_name == name)
}

fn foo_machine_pool<'a>(objects: &'a Objects, machine_pool: &MachinePool) -> Option<&'a FooMachinePool> {
    let reference = &machine_pool.spec.template.spec.infrastructure_ref;
    referenced(&objects.pools, machine_pool.meta().namespace.as_deref(), Some(reference))
}

/// What a pool asks of AWS. Images are looked up for the version that it has and the one that the Cluster has or is to get.
fn pool(
    machine_pool: &MachinePool,
    pool: &FooMachinePool,
    network: Option<&NetworkStatus>,
    target: &str,
) -> Pool {
    let MachinePoolSpec { replicas, template, failure_domains, .. } = &machine_pool.spec;
    let replicas = replicas.and_then(|it| u32::try_from(it).ok()).unwrap_or_default();
    let version = template.spec.version.clone().unwrap_or_else(|| target.to_owned());
    let mut asked = Pool::of_spec(machine_pool.name_any(), replicas, pool.spec.clone());
    if let Some(network) = network.filter(|_| asked.subnets.is_empty()) {
        asked.subnets = network.default_subnets(failure_domains).into_iter().map(reference).collect();
    }
    Pool {
        object: Some(pool.name_any()),
        looked_up: looked_up(&pool.spec.ami, version, target),
        profile: pool.spec.iam_instance_profile.clone(),
        ..asked
    }
}

/// What the objects themselves show: sentences about what goes wrong, and about what is not known.
pub(super) fn of_objects(objects: &Objects, cluster: &Cluster) -> (Vec<String>, Vec<String>) {
    let (mut problems, mut unknown) = (Vec::new(), Vec::new());
    for machine_pool in machine_pools(objects, cluster) {
        let (name, reference) =
            (machine_pool.name_any(), &machine_pool.spec.template.spec.infrastructure_ref);
        if reference.kind == FooMachinePool::kind(&()) && foo_machine_pool(objects, machine_pool).is_none() {
            unknown.push(format!("pool {name}: FooMachinePool {} is not there", reference.name));
        }
        if let Some((reported, wanted)) = machine_pool.version_spelled_otherwise() {
            problems.push(format!(
                "pool {name}: its images report Kubernetes version {reported}, and the topology requests {wanted}: Cluster API refuses \
                 every other version until spec.topology.version of the Cluster is {reported}"
            ));
        }
    }
    (problems, unknown)
}

/// What of the published policies a Cluster needs, and its names. Roles of Nodes are read from AWS.
pub(super) fn needs(objects: &Objects, cluster: &Cluster, node_roles: BTreeSet<String>) -> Needs {
    let namespace = cluster.meta().namespace.as_deref();
    let control_plane =
        referenced(&objects.control_planes, namespace, cluster.spec.control_plane_ref.as_ref());
    let foo_cluster = foo_cluster(objects, cluster);
    let mut needs = Needs {
        cluster: name_of(cluster),
        region: foo_cluster.map(|it| it.spec.region.clone()).unwrap_or_default(),
        vpc: foo_cluster.and_then(vpc),
        node_roles,
        ..Needs::default()
    };
    if let Some(managed) = foo_cluster.and_then(|it| it.spec.network.managed.as_ref()) {
        needs.network = if managed.vpc_id.is_some() { Network::InGivenVpc } else { Network::Created };
        needs.features.extend((!managed.endpoints.is_empty()).then_some(Feature::Endpoints));
        needs
            .features
            .extend((managed.deletion.leftovers == Leftovers::Delete).then_some(Feature::Leftovers));
        let groups = managed.security_groups.as_ref().map(|groups| groups.cluster_security_group);
        let is_connected = groups == Some(ClusterSecurityGroup::Connected);
        needs.features.extend(is_connected.then_some(Feature::ConnectedNodes));
    }
    if let Some((object, eks)) = control_plane.and_then(|it| Some((it, it.spec.eks.as_ref()?))) {
        let status = object.status.as_ref().and_then(|it| it.eks.as_ref());
        needs.features.insert(Feature::Eks);
        needs.features.extend(eks.oidc_provider.then_some(Feature::Issuer));
        needs.features.extend(eks.adopt.then_some(Feature::Adoption));
        needs.eks_cluster = status.and_then(|it| it.name.clone()).or_else(|| eks.name.clone());
        needs.control_plane_role = Some(eks.role_arn.clone());
        let of_pods = eks.pod_identity_associations.iter().map(|it| it.role_arn.clone());
        let of_addons = eks.addons.iter().filter_map(|it| it.service_account_role_arn.clone());
        let identities = eks.addons.iter().flat_map(|it| it.pod_identities.iter().flatten());
        needs.pod_roles = of_pods.chain(of_addons).chain(identities.map(|it| it.role_arn.clone())).collect();
    }
    for pool in machine_pools(objects, cluster).filter_map(|it| foo_machine_pool(objects, it)) {
        let (spec, status) = (&pool.spec, pool.status.as_ref());
        let group = status.and_then(|it| it.auto_scaling_group.as_ref()).map(|it| it.name.clone());
        needs.groups.extend(group.or_else(|| spec.group_name.clone()));
        needs.profiles.extend(spec.iam_instance_profile.clone());
        needs.key_pairs.extend(spec.ssh_key_name.clone());
        needs.hook_roles.extend(spec.lifecycle_hooks.iter().filter_map(|it| it.role_arn.clone()));
        needs.buckets.extend(spec.user_data_storage.as_ref().map(|it| it.s3.bucket.clone()));
        needs.features.extend(spec.adopt.then_some(Feature::Adoption));
        let written = spec.ami.ssm_parameter.clone();
        let is_public = written.as_ref().is_some_and(|it| it.starts_with("/aws/service/"));
        let public = is_public || spec.ami.recommended.is_some();
        needs.features.extend(public.then_some(Feature::PublicParameters));
        // Of an ARN the name; placeholders stand for any text.
        needs
            .parameters
            .extend(written.filter(|it| !is_public && !it.starts_with("arn:") && !it.contains('{')));
    }
    needs
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

    fn only(objects: &Objects, version: Option<&str>) -> Topology {
        let [(_, found)] = <[_; 1]>::try_from(topologies(objects, version)).unwrap();
        found
    }

    #[test]
    fn what_the_objects_show_by_themselves_is_reported() {
        let mut objects = objects(&json!({"managed": {}}));
        let of = |objects: &Objects| of_objects(objects, &objects.clusters[0]);
        assert_eq!(of(&objects), (Vec::new(), Vec::new()));
        let label = ("topology.cluster.x-k8s.io/owned".to_owned(), String::new());
        objects.machine_pools[0].metadata.labels = Some([label].into());
        let status = json!({"versions": [{"version": "v1.35.2-eks-0a1b"}]});
        objects.machine_pools[0].status = Some(serde_json::from_value(status).unwrap());
        assert!(
            of(&objects).0[0]
                .starts_with("pool workers: its images report Kubernetes version v1.35.2-eks-0a1b")
        );
        objects.pools.clear();
        assert_eq!(of(&objects).1, ["pool workers: FooMachinePool prod is not there"]);
    }

    #[test]
    fn rights_follow_from_what_the_objects_use() {
        let mut objects = objects(&json!({"managed": {
            "vpcID": "vpc-1", "deletion": {"leftovers": "Delete"},
            "securityGroups": {"clusterSecurityGroup": "Connected"},
        }}));
        let status = json!({"autoScalingGroup": {"name": "team-prod-workers", "desiredCapacity": 1, "minSize": 0, "maxSize": 1}});
        objects.pools[0].status = Some(serde_json::from_value(status).unwrap());
        let found = needs(&objects, &objects.clusters[0], BTreeSet::new());
        assert_eq!((found.network, found.vpc.as_deref()), (Network::InGivenVpc, Some("vpc-1")));
        let features = BTreeSet::from([
            Feature::Eks,
            Feature::PublicParameters,
            Feature::Leftovers,
            Feature::ConnectedNodes,
        ]);
        assert_eq!(found.features, features);
        let only = |name: &str| BTreeSet::from([name.to_owned()]);
        assert_eq!((found.groups, found.profiles), (only("team-prod-workers"), only("nodes")));
        assert!(found.control_plane_role.is_some() && found.pod_roles.is_empty());
    }

    #[test]
    fn a_cluster_asks_for_its_own_pools_and_the_version_that_it_is_to_get() {
        let objects = objects(&json!({"existing": {"vpcID": "vpc-1", "subnets": [{"id": "subnet-1"}]}}));
        let found = only(&objects, None);
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
        let upgraded = only(&objects, Some("v1.37.0"));
        assert_eq!(upgraded.eks.unwrap().version, "v1.37.0");
        assert_eq!(upgraded.pools[0].looked_up.as_ref().unwrap().next.as_deref(), Some("v1.37.0"));
    }

    #[test]
    fn subnets_of_a_managed_network_are_those_that_exist() {
        let mut objects = objects(&json!({"managed": {}}));
        let first = only(&objects, None);
        assert!(first.subnets.is_empty() && first.managed.is_some());
        let subnet = |id: &str, zone: &str, public: bool| json!({"id": id, "zone": zone, "public": public});
        let subnets =
            [subnet("subnet-6", "a", true), subnet("subnet-7", "a", false), subnet("subnet-8", "b", false)];
        objects.foo_clusters[0].status =
            Some(serde_json::from_value(json!({"network": {"vpcID": "vpc-1", "subnets": subnets}})).unwrap());
        let ids = |all: &[NetworkReference]| all.iter().filter_map(|it| it.id.clone()).collect::<Vec<_>>();
        let found = only(&objects, None);
        assert_eq!((found.vpc.as_deref(), found.subnets.len()), (Some("vpc-1"), 3));
        assert_eq!(ids(&found.pools[0].subnets), ["subnet-7", "subnet-8"], "private ones");
        objects.machine_pools[0].spec.failure_domains = vec!["b".to_owned()];
        assert_eq!(ids(&only(&objects, None).pools[0].subnets), ["subnet-8"]);
        objects.clusters[0].spec.infrastructure_ref.as_mut().unwrap().kind = "AWSCluster".to_owned();
        assert!(topologies(&objects, None).is_empty(), "it is of another provider");
    }
}
