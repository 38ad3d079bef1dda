//! What in AWS has the provider's tags and belongs to no object of this management cluster: [`read`] reads tags and objects,
//! `owner` decides, `text` prints.
//!
//! Read are Auto Scaling groups, everything of EC2 that has tags, and EKS clusters. Not OIDC providers, and not user data in S3.

mod owner;
mod text;

pub use owner::{Objects, Orphan, Orphans, Resource, orphans};
pub use text::text;

use crate::access::{Listed, Reads};
use crate::aws::{Aws, refusal};
use crate::refused::{Request, refused};
use anyhow::{Result, anyhow};
use foo_api::names::INSTALLATION_NAMESPACE;
use foo_api::{FooCluster, FooControlPlane};
use foo_model::names::{TAG_CLUSTER, TAG_CONTROL_PLANE, TAG_INSTALLATION, TAG_NETWORK, TAG_POOL, TAG_PREFIX};
use futures::{StreamExt as _, TryStreamExt as _};
use k8s_openapi::api::core::v1::Namespace;
use kube::{Api, Client};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// EKS clusters that are read at the same time.
const AT_A_TIME: usize = 4;
/// States in which an instance is not ended; ended ones keep their tags for an hour (EC2 User Guide, "Instance lifecycle").
const LIVE_INSTANCES: &str = "Name=instance-state-name,Values=pending,running,stopping,stopped,shutting-down";
/// The same of NAT gateways (VPC User Guide, "NAT gateways").
const LIVE_GATEWAYS: &str = "Name=state,Values=pending,available,deleting,failed";
/// EKS's code for a cluster that does not exist.
const NO_CLUSTER: &str = "ResourceNotFoundException";

/// Orphans, and what could not be read.
#[derive(Debug, Default)]
pub struct Found {
    /// What belongs to nothing.
    pub orphans: Orphans,
    /// What could not be read.
    pub warnings: Vec<String>,
}

/// Reads AWS in these regions, or those of all FooClusters, and then objects in all namespaces: whatever was created meanwhile has
/// its object.
///
/// # Errors
/// A right is missing, AWS cannot be reached, or an object cannot be decoded: it may have what would be called an orphan.
pub async fn read(client: &Client, regions: &[String], profile: Option<&str>) -> Result<Found> {
    let installation = installation(client).await?;
    let regions: BTreeSet<String> = if regions.is_empty() {
        list(client).await?.iter().map(|cluster: &FooCluster| cluster.spec.region.clone()).collect()
    } else {
        regions.iter().cloned().collect()
    };
    if regions.is_empty() {
        return Err(anyhow!("there is no FooCluster: name the regions with --region"));
    }
    let mut resources = Vec::new();
    for region in &regions {
        let aws = Aws::new(region.as_str(), profile.map(str::to_owned));
        resources.extend(of_region(&aws).await?);
    }
    let mut warnings = Vec::new();
    let control_planes = if resources.iter().any(|it| it.tags.contains_key(TAG_CONTROL_PLANE)) {
        let listed = list::<FooControlPlane>(client).await;
        listed.map_err(|error| warnings.push(format!("EKS clusters are left out: {error:#}"))).ok()
    } else {
        Some(Vec::new())
    };
    if control_planes.is_none() {
        resources.retain(|it| !it.tags.contains_key(TAG_CONTROL_PLANE));
    }
    let objects = Objects {
        installation,
        pools: list(client).await?,
        control_planes: control_planes.unwrap_or_default(),
        clusters: list(client).await?,
    };
    let orphans = Orphans { regions: regions.into_iter().collect(), ..orphans(&resources, &objects) };
    Ok(Found { orphans, warnings })
}

/// All objects of a kind. One that cannot be decoded is an error here.
async fn list<K: Listed>(client: &Client) -> Result<Vec<K>> {
    let reads = Reads::new(client, None);
    let listed = reads.list(None).await?;
    match reads.warnings().into_iter().next() {
        None => Ok(listed),
        Some(undecodable) => Err(anyhow!(undecodable)),
    }
}

/// The id of this management cluster.
async fn installation(client: &Client) -> Result<String> {
    let request = Request { verb: "get", resource: "namespaces", namespace: None };
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let read =
        namespaces.get_metadata(INSTALLATION_NAMESPACE).await.map_err(|error| refused(request, error))?;
    read.metadata.uid.ok_or_else(|| anyhow!("namespace {INSTALLATION_NAMESPACE} has no uid"))
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Tagged {
    tags: Vec<Tag>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Tag {
    key: String,
    value: Option<String>,
    resource_id: String,
    resource_type: String,
}

#[derive(Deserialize)]
struct Clusters {
    clusters: Vec<String>,
}

#[derive(Deserialize)]
struct Described {
    cluster: Cluster,
}

#[derive(Deserialize)]
struct Cluster {
    name: String,
    #[serde(default)]
    tags: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Instances {
    reservations: Vec<Reservation>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Reservation {
    instances: Vec<Instance>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Instance {
    instance_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Gateways {
    nat_gateways: Vec<Gateway>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Gateway {
    nat_gateway_id: String,
}

/// Everything in a region that has a tag of the provider.
async fn of_region(aws: &Aws) -> Result<Vec<Resource>> {
    let of_ec2 = format!("Name=key,Values={TAG_PREFIX}*");
    let of_groups = format!("Name=key,Values={TAG_CLUSTER},{TAG_POOL},{TAG_INSTALLATION}");
    let tag_key = format!("Name=tag-key,Values={TAG_POOL}");
    let gateway_key = format!("Name=tag-key,Values={TAG_NETWORK}");
    let (ec2, groups, clusters, instances, gateways) = tokio::try_join!(
        read_tags(aws, ["ec2", "describe-tags", "--filters", &of_ec2]),
        read_tags(aws, ["autoscaling", "describe-tags", "--filters", &of_groups]),
        of_eks(aws),
        aws_instances(aws, &tag_key),
        aws_gateways(aws, &gateway_key),
    )?;
    let is_live = |resource: &Resource| match resource.kind.as_str() {
        "instance" => instances.contains(&resource.id),
        "natgateway" => gateways.contains(&resource.id),
        _ => true,
    };
    let live = ec2.into_iter().filter(is_live);
    Ok(groups.into_iter().chain(clusters).chain(live).collect())
}

async fn aws_instances(aws: &Aws, tag_key: &str) -> Result<BTreeSet<String>> {
    let read: Instances =
        aws.read(&["ec2", "describe-instances", "--filters", tag_key, LIVE_INSTANCES]).await?;
    let all = read.reservations.into_iter().flat_map(|it| it.instances);
    Ok(all.map(|it| it.instance_id).collect())
}

async fn aws_gateways(aws: &Aws, tag_key: &str) -> Result<BTreeSet<String>> {
    let read: Gateways =
        aws.read(&["ec2", "describe-nat-gateways", "--filter", tag_key, LIVE_GATEWAYS]).await?;
    Ok(read.nat_gateways.into_iter().map(|it| it.nat_gateway_id).collect())
}

async fn read_tags(aws: &Aws, command: [&str; 4]) -> Result<Vec<Resource>> {
    let read: Tagged = aws.read(&command).await?;
    let mut resources: BTreeMap<(String, String), BTreeMap<String, String>> = BTreeMap::new();
    for tag in read.tags {
        let tags = resources.entry((tag.resource_type, tag.resource_id)).or_default();
        tags.insert(tag.key, tag.value.unwrap_or_default());
    }
    let region = aws.region().to_owned();
    let resource = |((kind, id), tags)| Resource { region: region.clone(), kind, id, tags };
    Ok(resources.into_iter().map(resource).collect())
}

async fn of_eks(aws: &Aws) -> Result<Vec<Resource>> {
    let listed: Clusters = aws.read(&["eks", "list-clusters"]).await?;
    let described = futures::stream::iter(listed.clusters).map(async |name| {
        match aws.read::<Described>(&["eks", "describe-cluster", "--name", &name]).await {
            Ok(read) => anyhow::Ok(Some(read.cluster)),
            // It was deleted since it was listed.
            Err(error) if refusal(&error.to_string()).is_some_and(|(code, _)| code == NO_CLUSTER) => Ok(None),
            Err(error) => Err(error),
        }
    });
    let clusters: Vec<Option<Cluster>> = described.buffered(AT_A_TIME).try_collect().await?;
    let clusters = clusters.into_iter().flatten();
    let own = clusters.filter(|it| it.tags.keys().any(|key| key.starts_with(TAG_PREFIX)));
    let resource = |cluster: Cluster| Resource {
        region: aws.region().to_owned(),
        kind: "eks-cluster".to_owned(),
        id: cluster.name,
        tags: cluster.tags,
    };
    Ok(own.map(resource).collect())
}
