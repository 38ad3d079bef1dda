//! What workloads leave in AWS: load balancers and volumes that controllers in the workload cluster created. Without
//! the Cluster no controller deletes them; they cost money, and a VPC with a load balancer in it cannot be deleted.

use crate::checks::{self, DEADLINE};
use crate::clouds::{Clouds, Connected};
use crate::settings::Settings;
use foo_cloud::VolumeInfo;
use foo_model::VpcId;
use foo_model::names::TAG_CLUSTER;
use foo_model::network::{Kind, LoadBalancer, Scope};
use foo_preflight::topology::Topology;
use foo_runtime_sdk::Object;
use std::collections::BTreeSet;

/// Tags by which something belongs to a cluster: the cloud provider's has the name in its key (Kubernetes, "Cloud
/// Provider AWS", cluster tagging; the EBS CSI driver's too, with `--k8s-tag-cluster-id`), that of the AWS Load
/// Balancer Controller in its value (its documentation, "Resource tags").
const OF_CLOUD_PROVIDER: &str = "kubernetes.io/cluster/";
const OF_CONTROLLER: &str = "elbv2.k8s.aws/cluster";

/// Names of each kind in one sentence; more would not be read.
const MOST: usize = 8;

/// What was found out.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Leftovers {
    /// A sentence about what is left, if anything.
    pub(crate) left: Option<String>,
    /// What could not be found out, and why.
    pub(crate) unanswered: Vec<String>,
}

/// Finds what is left of a Cluster.
pub(crate) async fn find(
    clouds: &Clouds,
    settings: &Settings,
    topology: &Topology,
    cluster: &Object,
) -> Leftovers {
    let aws = match checks::connection(clouds, settings, topology).await {
        Ok(aws) => aws,
        Err(why) => return Leftovers { left: None, unanswered: vec![why] },
    };
    let mut unanswered = Vec::new();
    let mut names = BTreeSet::from([cluster.name().to_owned()]);
    // What follows needs its own time.
    let (groups, network) = tokio::join!(
        tokio::time::timeout(DEADLINE / 2, names_of_groups(&aws, topology)),
        tokio::time::timeout(DEADLINE / 2, names_of_network(&aws, topology)),
    );
    let mut in_eks = BTreeSet::new();
    for (result, what) in [(groups, "its groups"), (network, "its network")] {
        let result = result.unwrap_or_else(|_late| Err("AWS did not respond in time".to_owned()));
        match result {
            Ok(tagged) => in_eks.extend(tagged),
            Err(why) => unanswered.push(format!("names of the cluster in tags of {what}: {why}")),
        }
    }
    if topology.eks.is_some() && in_eks.is_empty() && unanswered.is_empty() {
        // Without pools, in an existing network.
        unanswered.push("the name of the EKS cluster: no group and no network has it in a tag".to_owned());
    }
    names.extend(in_eks);
    // Two deadlines, so that one that is late does not hide what the other found.
    let (balancers, volumes) = tokio::join!(
        tokio::time::timeout(DEADLINE, load_balancers(&aws, topology, &names)),
        tokio::time::timeout(DEADLINE, volumes(&aws, &names)),
    );
    let mut found = |result: Result<Result<Vec<String>, String>, _>, what: &str| {
        let late: Result<Vec<String>, String> = Err("AWS did not respond in time".to_owned());
        result.unwrap_or(late).unwrap_or_else(|why| {
            unanswered.push(format!("{what}: {why}"));
            Vec::new()
        })
    };
    let (balancers, volumes) = (found(balancers, "load balancers"), found(volumes, "volumes"));
    Leftovers { left: sentence(balancers, volumes), unanswered }
}

/// The names that the provider tagged the Cluster's groups with: the one at EKS, whatever it is.
async fn names_of_groups(aws: &Connected, topology: &Topology) -> Result<BTreeSet<String>, String> {
    let groups = aws.cloud.describe_groups_tagged(TAG_CLUSTER).await.map_err(|error| error.to_string())?;
    let own = groups.iter().filter(|group| group.tags.get(TAG_CLUSTER) == Some(&topology.cluster));
    let keys = own.flat_map(|group| group.tags.keys());
    Ok(keys.filter_map(|key| key.strip_prefix(OF_CLOUD_PROVIDER)).map(str::to_owned).collect())
}

/// The names that the provider tagged the Cluster's own VPC with, also when it has no pools.
async fn names_of_network(aws: &Connected, topology: &Topology) -> Result<BTreeSet<String>, String> {
    let scope = Scope::Tag(TAG_CLUSTER.to_owned(), topology.cluster.clone());
    let parts = aws.cloud.describe_network(Kind::Vpc, &scope).await.map_err(|error| error.to_string())?;
    let keys = parts.vpcs.values().flat_map(|vpc| vpc.tags.keys());
    Ok(keys.filter_map(|key| key.strip_prefix(OF_CLOUD_PROVIDER)).map(str::to_owned).collect())
}

async fn load_balancers(
    aws: &Connected,
    topology: &Topology,
    names: &BTreeSet<String>,
) -> Result<Vec<String>, String> {
    let vpc = checks::vpc_of(aws, topology).await.ok_or("the VPC of the Cluster is not known")?;
    let scope = Scope::Vpc(VpcId::from(vpc));
    let parts = aws.cloud.describe_network(Kind::LoadBalancer, &scope).await;
    let parts = parts.map_err(|error| error.to_string())?;
    Ok(of_cluster(names, parts.load_balancers.values()))
}

fn of_cluster<'a>(names: &BTreeSet<String>, all: impl Iterator<Item = &'a LoadBalancer>) -> Vec<String> {
    let of_cluster = |one: &&LoadBalancer| {
        let mut owners = one.tags.keys().filter_map(|key| key.strip_prefix(OF_CLOUD_PROVIDER));
        owners.any(|name| names.contains(name))
            || one.tags.get(OF_CONTROLLER).is_some_and(|name| names.contains(name))
    };
    all.filter(of_cluster).map(|one| one.name.clone()).collect()
}

/// Volumes that stay when the instances are terminated. Those of nodes have the tag, too, where users gave it to the
/// pool.
async fn volumes(aws: &Connected, names: &BTreeSet<String>) -> Result<Vec<String>, String> {
    let stay = |volume: &VolumeInfo| !volume.goes_with_instance;
    let mut found = BTreeSet::new();
    for name in names {
        let tagged = aws.cloud.describe_volumes_tagged(&format!("{OF_CLOUD_PROVIDER}{name}")).await;
        let tagged = tagged.map_err(|error| error.to_string())?;
        found.extend(tagged.into_iter().filter(stay).map(|volume| volume.id));
    }
    Ok(found.into_iter().collect())
}

fn sentence(balancers: Vec<String>, volumes: Vec<String>) -> Option<String> {
    let (mut parts, mut objects) = (Vec::new(), Vec::new());
    for (names, what, object) in
        [(balancers, "load balancers", "Services"), (volumes, "volumes", "PersistentVolumeClaims")]
    {
        if !names.is_empty() {
            parts.push(format!("{what} {}", listed(names)));
            objects.push(object);
        }
    }
    (!parts.is_empty()).then(|| {
        let (parts, objects) = (parts.join("; "), objects.join(" and "));
        format!("workloads of the Cluster left in AWS: {parts}; delete their {objects}")
    })
}

fn listed(mut names: Vec<String>) -> String {
    names.sort_unstable();
    let more = names.len().saturating_sub(MOST);
    names.truncate(MOST);
    let shown = names.join(", ");
    if more == 0 { shown } else { format!("{shown} and {more} more") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foo_model::network::LoadBalancerKind;

    #[test]
    fn load_balancers_of_the_cluster_are_named_and_no_others() {
        let one = |name: &str, key: &str, value: &str| LoadBalancer {
            name: name.to_owned(),
            arn: None,
            kind: LoadBalancerKind::Network,
            vpc: VpcId::new("vpc-1"),
            groups: std::collections::BTreeSet::new(),
            tags: [(key.to_owned(), value.to_owned())].into(),
        };
        let all = [
            one("web", "kubernetes.io/cluster/c", "owned"),
            one("api", "elbv2.k8s.aws/cluster", "c"),
            one("other", "kubernetes.io/cluster/c2", "owned"),
            one("by-hand", "elbv2.k8s.aws/cluster", "c2"),
            one("at-eks", "elbv2.k8s.aws/cluster", "n_c"),
        ];
        let of = |names: &[&str]| {
            let names = names.iter().map(|name| (*name).to_owned()).collect();
            of_cluster(&names, all.iter())
        };
        assert_eq!(of(&["c"]), ["web", "api"]);
        assert_eq!(of(&["c", "n_c"]), ["web", "api", "at-eks"]);
        assert_eq!(of(&["d"]), Vec::<String>::new());
    }

    #[test]
    fn the_message_names_leftovers_in_order_and_how_to_delete_them() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(sentence(Vec::new(), Vec::new()), None);
        assert_eq!(
            sentence(names(&["web", "api"]), Vec::new()).unwrap(),
            "workloads of the Cluster left in AWS: load balancers api, web; delete their Services"
        );
        assert_eq!(
            sentence(names(&["web"]), names(&["vol-1"])).unwrap(),
            "workloads of the Cluster left in AWS: load balancers web; volumes vol-1; \
             delete their Services and PersistentVolumeClaims"
        );
        let many = (10..20).map(|number| format!("vol-{number}")).collect();
        let many = sentence(Vec::new(), many).unwrap();
        assert!(many.ends_with("vol-17 and 2 more; delete their PersistentVolumeClaims"), "{many}");
    }
}
