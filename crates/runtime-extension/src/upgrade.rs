//! Upgrade plans: one minor version after the other for the control plane. Steps of the workers are left to core, which
//! takes the fewest that the skew policy allows (Cluster API v1.14, `ComputeUpgradePlan`: one for every three minor
//! versions).

use crate::checks;
use crate::clouds::Clouds;
use crate::hooks::without_pools;
use crate::settings::Settings;
use crate::topology;
use crate::variables::images::{IMAGES, Image};
use crate::versions::Kubernetes;
use foo_model::eks::{Minor, VersionOffer};
use foo_preflight::topology::Topology;
use foo_preflight::{Account as _, is_offered, not_offered};
use foo_runtime_sdk::hooks::{GenerateUpgradePlanRequest, UpgradePlan};
use foo_runtime_sdk::{Failure, Object};
use serde::Deserialize as _;
use std::ops::Range;

/// A plan from the version of the control plane to the one that is to run. The versions between are the newest of their
/// minor version that the settings or the Cluster's variable `images` name; on EKS, where none is named, the one that
/// EKS runs. If AWS does not show which that is, it is the first of its minor: EKS takes no more than the minor from
/// it.
///
/// # Errors
///
/// When EKS does not offer a version on the way. Elsewhere when no version of a minor version between is known: one
/// that is guessed would be one that the owner of the control plane does not upgrade to, or that no image exists for.
pub(crate) async fn plan(
    clouds: &Clouds,
    request: &GenerateUpgradePlanRequest,
) -> Result<UpgradePlan, Failure> {
    let settings = Settings::of(&request.settings)?;
    let from = Kubernetes::read(&request.from_control_plane_kubernetes_version)?;
    let to = Kubernetes::read(&request.to_kubernetes_version)?;
    if from.text == to.text {
        // Only workers are left.
        return Ok(UpgradePlan::default());
    }
    if from.version.major != to.version.major || to.version.minor < from.version.minor {
        return Err(Failure::new(format!("there is no way from Kubernetes {} to {}", from.text, to.text)));
    }
    let named = named(&settings, &request.cluster)?;
    // Pools do not matter to the control plane, and may have no image for these versions yet.
    let topology = topology::of_cluster(&without_pools(&request.cluster), &to.text)?;
    let on_eks = topology.filter(|topology| topology.eks.is_some());
    let mut control_plane = match &on_eks {
        Some(topology) => steps_on_eks(clouds, &settings, topology, (&from, &to), &named).await?,
        None => steps_elsewhere((&from, &to), &named)?,
    };
    control_plane.push(to.text);
    Ok(UpgradePlan { control_plane, workers: Vec::new() })
}

/// Minor versions after one and before the other.
fn between(from: &Kubernetes, to: &Kubernetes) -> Range<u64> {
    from.version.minor.saturating_add(1)..to.version.minor
}

/// The newest version of a minor that some object names.
fn newest(named: &[Kubernetes], (major, minor): (u64, u64)) -> Option<&Kubernetes> {
    let of_minor = named.iter().filter(|one| one.version.major == major && one.version.minor == minor);
    of_minor.max_by(|a, b| a.version.cmp(&b.version))
}

fn steps_elsewhere(
    (from, to): (&Kubernetes, &Kubernetes),
    named: &[Kubernetes],
) -> Result<Vec<String>, Failure> {
    let major = to.version.major;
    let step = |minor| {
        newest(named, (major, minor)).map(|newest| newest.text.clone()).ok_or_else(|| {
            Failure::new(format!(
                "the upgrade from Kubernetes {} to {} passes through v{major}.{minor}, of which no version is known: name one in \
                 the variable {IMAGES} or in the extension's setting versions",
                from.text, to.text
            ))
        })
    };
    between(from, to).map(step).collect()
}

async fn steps_on_eks(
    clouds: &Clouds,
    settings: &Settings,
    topology: &Topology,
    (from, to): (&Kubernetes, &Kubernetes),
    named: &[Kubernetes],
) -> Result<Vec<String>, Failure> {
    let offers = offers(clouds, settings, topology).await;
    let offers = offers.inspect_err(|why| {
        let cluster = topology.cluster.as_str();
        tracing::warn!(cluster, why, "the upgrade is planned without knowing which versions EKS offers");
    });
    let refused = |minor: u64| {
        let (offers, minor) = (offers.as_ref().ok()?, u16::try_from(minor).ok().map(Minor)?);
        (!is_offered(offers, minor)).then(|| not_offered(offers, minor, &topology.region))
    };
    // A step within a minor version is none for EKS.
    let last = (to.version.minor > from.version.minor).then_some(to.version.minor);
    if let Some(sentence) = between(from, to).chain(last).find_map(refused) {
        return Err(Failure::new(sentence));
    }
    let step = |minor: u64| {
        let offer = offers.iter().flatten().find(|offer| u64::from(offer.version.0) == minor);
        let offered = offer.and_then(|offer| offer.patch.as_ref()).map(|patch| format!("v{patch}"));
        let newest = newest(named, (to.version.major, minor)).map(|newest| newest.text.clone());
        newest.or(offered).unwrap_or_else(|| format!("v{}.{minor}.0", to.version.major))
    };
    Ok(between(from, to).map(step).collect())
}

/// What EKS offers in the Cluster's region, or why that is not known.
async fn offers(
    clouds: &Clouds,
    settings: &Settings,
    topology: &Topology,
) -> Result<Vec<VersionOffer>, String> {
    let aws = checks::connection(clouds, settings, topology).await?;
    aws.eks_versions().await.map_err(|error| error.to_string())
}

/// Versions that the settings and the variable [`IMAGES`] name.
fn named(settings: &Settings, cluster: &Object) -> Result<Vec<Kubernetes>, Failure> {
    let variables = cluster.at("/spec/topology/variables").and_then(|variables| variables.as_array());
    let images = variables
        .into_iter()
        .flatten()
        .find(|variable| variable.get("name").is_some_and(|name| name == IMAGES));
    let images = images.and_then(|variable| variable.get("value")).map(Vec::<Image>::deserialize);
    let images = images.transpose().map_err(|error| Failure::new(format!("variable {IMAGES}: {error}")))?;
    let named = images.unwrap_or_default().into_iter().map(|image| image.version);
    settings.versions.iter().cloned().chain(named).map(|text| Kubernetes::read(&text)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::World;
    use foo_cloud::Clusters as _;
    use foo_model::eks::{Query, QueryResult};
    use foo_simulator_core::{DEFAULT_REGION, Fault, FaultRule};
    use serde_json::{Value, json};
    use std::collections::BTreeMap;

    /// The plan of a Cluster with these images and other variables.
    async fn plan_with(
        world: &World,
        (from, to): (&str, &str),
        versions: &str,
        (images, others): (&[&str], &Value),
    ) -> Result<Vec<String>, String> {
        let images: Vec<_> =
            images.iter().map(|version| json!({"version": version, "id": "ami-1"})).collect();
        let mut variables = vec![json!({"name": "images", "value": images})];
        variables.extend(others.as_array().unwrap().iter().cloned());
        let pools = json!({"machinePools": [{"class": "on-demand", "name": "workers", "replicas": 3}]});
        let request = json!({
            "settings": {"versions": versions, "identities": "default=own"},
            "cluster": {
                "metadata": {"name": "c", "namespace": "n"},
                "spec": {"topology": {"variables": variables, "workers": pools}},
            },
            "fromControlPlaneKubernetesVersion": from, "toKubernetesVersion": to,
        });
        let found = plan(&world.clouds, &serde_json::from_value(request).unwrap())
            .await
            .map_err(|failure| failure.message().to_owned())?;
        assert!(found.workers.is_empty(), "core knows the fewest");
        Ok(found.control_plane)
    }

    async fn plan_of(from: &str, to: &str, versions: &str, images: &[&str]) -> Result<Vec<String>, String> {
        let world = World::new();
        let found = plan_with(&world, (from, to), versions, (images, &json!([]))).await;
        assert_eq!(world.aws.total_calls(), 0, "its control plane is not on EKS");
        found
    }

    async fn plan_on_eks(
        world: &World,
        from: &str,
        to: &str,
        images: &[&str],
    ) -> Result<Vec<String>, String> {
        let variables = json!([
            {"name": "region", "value": DEFAULT_REGION}, {"name": "networkMode", "value": "Managed"},
            {"name": "roleARN", "value": "arn:aws:iam::123456789012:role/control-plane"},
        ]);
        plan_with(world, (from, to), "", (images, &variables)).await
    }

    #[tokio::test]
    async fn an_upgrade_within_a_minor_or_to_the_next_has_one_step() {
        for (from, to) in [("v1.34.1", "v1.34.9"), ("v1.34.1", "v1.35.0"), ("v1.34.1-eks-1", "v1.34.1-eks-2")]
        {
            assert_eq!(plan_of(from, to, "", &[]).await, Ok(vec![to.to_owned()]));
        }
    }

    #[tokio::test]
    async fn no_minor_is_passed_over_and_the_newest_known_version_of_each_is_taken() {
        let known = "v1.35.2-eks-a,v1.36.1,v1.35.10-eks-b,v1.33.0,v1.37.9";
        assert_eq!(
            plan_of("v1.34.1", "v1.37.0", known, &["v1.36.4", "v1.37.0"]).await,
            Ok(["v1.35.10-eks-b", "v1.36.4", "v1.37.0"].map(str::to_owned).to_vec())
        );
    }

    #[tokio::test]
    async fn a_control_plane_that_has_arrived_has_no_step() {
        assert_eq!(plan_of("v1.35.0", "v1.35.0", "", &[]).await, Ok(Vec::new()));
    }

    #[tokio::test]
    async fn nothing_is_guessed() {
        let missing = plan_of("v1.34.1", "v1.36.0", "v1.36.0", &["v1.34.9"]).await.unwrap_err();
        assert!(missing.contains("passes through v1.35, of which no version is known"), "{missing}");
        assert!(plan_of("v1.36.0", "v1.35.0", "", &[]).await.unwrap_err().contains("no way from"));
        assert!(
            plan_of("1.36.0", "v1.37.0", "", &[]).await.unwrap_err().contains("is no Kubernetes version")
        );
        assert!(
            plan_of("v1.36.0", "v1.37.0", "new", &[])
                .await
                .unwrap_err()
                .contains("\"new\" is no Kubernetes version")
        );
    }

    #[tokio::test]
    async fn on_eks_the_versions_between_are_those_that_eks_runs() {
        let world = World::new();
        let offered = patches(&world).await;
        let (first, second) = (&offered["1.33"], &offered["1.34"]);
        let found = plan_on_eks(&world, "v1.32.1", "v1.35.0-eks-a", &[]).await;
        assert_eq!(found, Ok(vec![first.clone(), second.clone(), "v1.35.0-eks-a".to_owned()]));
        let found = plan_on_eks(&world, "v1.32.1", "v1.35.0", &["v1.33.1-eks-b", "v1.35.0"]).await;
        let named = "the image of a version that an object names exists for sure";
        assert_eq!(
            found,
            Ok(vec!["v1.33.1-eks-b".to_owned(), second.clone(), "v1.35.0".to_owned()]),
            "{named}"
        );
        assert_eq!(world.aws.calls("DescribeClusterVersions"), 2, "by the test and by the first plan");
    }

    /// The version that EKS runs, by minor.
    async fn patches(world: &World) -> BTreeMap<String, String> {
        let response = world.aws.cloud(DEFAULT_REGION, "own").describe_eks(&Query::Versions).await;
        let QueryResult::Versions(offers) = response.unwrap() else { panic!("no versions") };
        let patch = |offer: VersionOffer| (offer.version.to_string(), format!("v{}", offer.patch.unwrap()));
        offers.into_iter().map(patch).collect()
    }

    #[tokio::test]
    async fn a_version_that_eks_does_not_offer_is_refused() {
        let world = World::new();
        let why = plan_on_eks(&world, "v1.35.0", "v1.99.0", &[]).await.unwrap_err();
        let message = "EKS does not offer Kubernetes 1.37 in eu-central-1; it offers 1.";
        assert!(why.starts_with(message), "{why}");
        let why = plan_on_eks(&world, "v1.36.0", "v1.37.0", &["v1.37.0"]).await.unwrap_err();
        assert!(why.starts_with(message), "{why}");
        let within = plan_on_eks(&world, "v1.37.0", "v1.37.1", &[]).await;
        assert_eq!(within, Ok(vec!["v1.37.1".to_owned()]), "the minor does not change");
    }

    #[tokio::test(start_paused = true)]
    async fn without_a_response_of_aws_the_steps_are_plain_minors() {
        for fault in [Fault::Denied, Fault::Throttled, Fault::Unreachable, Fault::Hang] {
            let world = World::new();
            world.aws.add_fault(FaultRule::on("DescribeClusterVersions", fault.clone()));
            let found = plan_on_eks(&world, "v1.33.2", "v1.36.0", &["v1.34.7"]).await;
            let plain = ["v1.34.7", "v1.35.0", "v1.36.0"].map(str::to_owned).to_vec();
            assert_eq!(found, Ok(plain), "{fault:?}");
        }
    }
}
