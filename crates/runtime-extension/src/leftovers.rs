//! What workloads leave in AWS: load balancers that controllers in the workload cluster made. With the Cluster gone nobody deletes
//! them, and a VPC with a load balancer in it cannot be deleted.
//!
//! Not volumes: the cloud traits have no call that lists them.

use crate::checks::{self, DEADLINE};
use crate::clouds::Clouds;
use crate::settings::Settings;
use crate::topology::Topology;
use foo_model::VpcId;
use foo_model::network::{Kind, LoadBalancer, Scope};

/// Tags by which a load balancer belongs to a cluster: the cloud provider's has the name in its key (Kubernetes, "Cloud
/// Provider AWS", cluster tagging), that of the AWS Load Balancer Controller in its value (its documentation, "Resource
/// tags").
const OF_CLOUD_PROVIDER: &str = "kubernetes.io/cluster/";
const OF_CONTROLLER: &str = "elbv2.k8s.aws/cluster";

/// A sentence about what is left, if anything, or why that is not known.
pub(crate) async fn look(
    clouds: &Clouds,
    settings: &Settings,
    topology: &Topology,
    cluster: &str,
) -> Result<Option<String>, String> {
    let aws = checks::connection(clouds, settings, topology).await?;
    let asking = async {
        let vpc = checks::vpc_of(&aws, topology).await.ok_or("the VPC of the Cluster is not known")?;
        let scope = Scope::Vpc(VpcId::from(vpc));
        let parts = aws.cloud.describe_network(Kind::LoadBalancer, &scope).await;
        let parts = parts.map_err(|error| error.to_string())?;
        Ok(left(cluster, parts.load_balancers.values()))
    };
    tokio::time::timeout(DEADLINE, asking).await.map_err(|_late| "AWS did not answer in time".to_owned())?
}

fn left<'a>(cluster: &str, all: impl Iterator<Item = &'a LoadBalancer>) -> Option<String> {
    let key = format!("{OF_CLOUD_PROVIDER}{cluster}");
    let of_cluster = |one: &&LoadBalancer| {
        one.tags.contains_key(&key) || one.tags.get(OF_CONTROLLER).is_some_and(|name| name == cluster)
    };
    let mut names: Vec<&str> = all.filter(of_cluster).map(|one| one.name.as_str()).collect();
    names.sort_unstable();
    (!names.is_empty()).then(|| {
        format!(
            "workloads of the Cluster left load balancers in AWS: {}; delete their Services",
            names.join(", ")
        )
    })
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
        ];
        assert_eq!(
            left("c", all.iter()),
            Some(
                "workloads of the Cluster left load balancers in AWS: api, web; delete their Services"
                    .to_owned()
            )
        );
        assert_eq!(left("d", all.iter()), None);
    }
}
