//! Upgrade plans: one minor version after the other for the control plane. Steps of the workers are left to core, which takes
//! the fewest that the skew policy allows (Cluster API v1.14, `ComputeUpgradePlan`: one for every three minor versions).

use crate::settings::Settings;
use crate::variables::images::{IMAGES, Image};
use crate::versions::Kubernetes;
use foo_runtime_sdk::hooks::{GenerateUpgradePlanRequest, UpgradePlan};
use foo_runtime_sdk::{Failure, Object};
use serde::Deserialize as _;

/// A plan from the version of the control plane to the one that is to run. The versions between are the newest of their minor
/// version that the settings or the Cluster's variable `images` name.
///
/// # Errors
///
/// When no version of a minor version between is known: one that is guessed would be one that the owner of the control
/// plane does not upgrade to, or that no image exists for.
pub(crate) fn plan(request: &GenerateUpgradePlanRequest) -> Result<UpgradePlan, Failure> {
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
    let offered = offered(&settings, &request.cluster)?;
    let mut control_plane = Vec::new();
    for minor in from.version.minor.saturating_add(1)..to.version.minor {
        let of_minor =
            offered.iter().filter(|one| one.version.major == to.version.major && one.version.minor == minor);
        let newest = of_minor.max_by(|a, b| a.version.cmp(&b.version)).ok_or_else(|| {
            Failure::new(format!(
                "the upgrade from Kubernetes {} to {} passes through v{}.{minor}, of which no version is known: name one in \
                 the variable {IMAGES} or in the extension's setting versions",
                from.text, to.text, to.version.major
            ))
        })?;
        control_plane.push(newest.text.clone());
    }
    control_plane.push(to.text);
    Ok(UpgradePlan { control_plane, workers: Vec::new() })
}

fn offered(settings: &Settings, cluster: &Object) -> Result<Vec<Kubernetes>, Failure> {
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
    use serde_json::json;

    fn plan_of(from: &str, to: &str, settings: &str, images: &[&str]) -> Result<Vec<String>, String> {
        let images: Vec<_> =
            images.iter().map(|version| json!({"version": version, "id": "ami-1"})).collect();
        let request = json!({
            "settings": {"versions": settings},
            "cluster": {"spec": {"topology": {"variables": [{"name": "images", "value": images}]}}},
            "fromControlPlaneKubernetesVersion": from, "toKubernetesVersion": to,
        });
        let found = plan(&serde_json::from_value(request).unwrap())
            .map_err(|failure| failure.message().to_owned())?;
        assert!(found.workers.is_empty(), "core knows the fewest");
        Ok(found.control_plane)
    }

    #[test]
    fn an_upgrade_within_a_minor_or_to_the_next_has_one_step() {
        for (from, to) in [("v1.34.1", "v1.34.9"), ("v1.34.1", "v1.35.0"), ("v1.34.1-eks-1", "v1.34.1-eks-2")]
        {
            assert_eq!(plan_of(from, to, "", &[]), Ok(vec![to.to_owned()]));
        }
    }

    #[test]
    fn no_minor_is_passed_over_and_the_newest_known_version_of_each_is_taken() {
        let known = "v1.35.2-eks-a,v1.36.1,v1.35.10-eks-b,v1.33.0,v1.37.9";
        assert_eq!(
            plan_of("v1.34.1", "v1.37.0", known, &["v1.36.4", "v1.37.0"]),
            Ok(["v1.35.10-eks-b", "v1.36.4", "v1.37.0"].map(str::to_owned).to_vec())
        );
    }

    #[test]
    fn a_control_plane_that_has_arrived_has_no_step() {
        assert_eq!(plan_of("v1.35.0", "v1.35.0", "", &[]), Ok(Vec::new()));
    }

    #[test]
    fn nothing_is_guessed() {
        let missing = plan_of("v1.34.1", "v1.36.0", "v1.36.0", &["v1.34.9"]).unwrap_err();
        assert!(missing.contains("passes through v1.35, of which no version is known"), "{missing}");
        assert!(plan_of("v1.36.0", "v1.35.0", "", &[]).unwrap_err().contains("no way from"));
        assert!(plan_of("1.36.0", "v1.37.0", "", &[]).unwrap_err().contains("is no Kubernetes version"));
        assert!(
            plan_of("v1.36.0", "v1.37.0", "new", &[])
                .unwrap_err()
                .contains("\"new\" is no Kubernetes version")
        );
    }
}
