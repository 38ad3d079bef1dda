//! What the manifest of an AWSManagedControlPlane of Cluster API Provider AWS says about its EKS cluster: name and region. What it
//! requests of the cluster is not read, since AWS shows what the cluster has.

use crate::plan::files;
use crate::refused::Usage;
use anyhow::{Context as _, Result};
use foo_api::names::CLUSTER_NAME_LABEL;
use foo_api::patterns::{is_eks_name, is_region};
use serde_json::Value;
use std::path::Path;

/// Kind of the manifest.
const KIND: &str = "AWSManagedControlPlane";
/// Its API group.
const GROUP: &str = "controlplane.cluster.x-k8s.io";

/// An EKS cluster by what its manifest says. Other people wrote these values: name and region are valid, the name of the Cluster may
/// be anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// Name of the EKS cluster, `spec.eksClusterName`.
    pub name: String,
    /// The region, `spec.region`.
    pub region: Option<String>,
    /// Name of its Cluster, in the label of Cluster API.
    pub cluster: Option<String>,
}

/// Reads the only AWSManagedControlPlane of a file, or of standard input if its name is `-`.
///
/// # Errors
/// The file cannot be read; or a [`Usage`]: it has none, several, or one without the name of its EKS cluster.
pub fn read(path: &Path) -> Result<Given> {
    let text = files::text(path)?;
    let documents: Vec<Value> =
        serde_saphyr::from_multiple(&text).with_context(|| format!("reading {}", path.display()))?;
    Ok(given(documents)?)
}

fn given(documents: Vec<Value>) -> Result<Given, Usage> {
    let mut found: Vec<Value> =
        documents.into_iter().flat_map(files::items).filter(is_control_plane).collect();
    let (Some(object), true) = (found.pop(), found.is_empty()) else {
        return Err(Usage(format!("--from takes the manifest of one {KIND}.{GROUP}")));
    };
    let text =
        |pointer: &str| object.pointer(pointer).and_then(Value::as_str).filter(|text| !text.is_empty());
    let name = text("/spec/eksClusterName").ok_or_else(|| {
        Usage(format!("the {KIND} has no spec.eksClusterName: its webhook sets it in the management cluster"))
    })?;
    if !is_eks_name(name) {
        return Err(Usage(format!("{name} in spec.eksClusterName is no name of an EKS cluster")));
    }
    let region = text("/spec/region");
    if let Some(region) = region.filter(|region| !is_region(region)) {
        return Err(Usage(format!("{region} in spec.region is no AWS region")));
    }
    let labels = object.pointer("/metadata/labels");
    let cluster = labels.and_then(|labels| labels.get(CLUSTER_NAME_LABEL)).and_then(Value::as_str);
    Ok(Given {
        name: name.to_owned(),
        region: region.map(str::to_owned),
        cluster: cluster.map(str::to_owned),
    })
}

fn is_control_plane(object: &Value) -> bool {
    let text = |field: &str| object.get(field).and_then(Value::as_str).unwrap_or_default();
    let group = text("apiVersion").split_once('/').map_or("", |(group, _)| group);
    (group, text("kind")) == (GROUP, KIND)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `kubectl get awsmanagedcontrolplane prod-control-plane -o yaml` prints it, shortened.
    const MANIFEST: &str = "\
apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: AWSManagedControlPlane
metadata:
  name: prod-control-plane
  namespace: team
  labels: {cluster.x-k8s.io/cluster-name: prod}
spec:
  eksClusterName: team_prod-control-plane
  region: eu-central-1
  roleName: eks
  version: v1.34
";

    fn read_text(text: &str) -> Result<Given, String> {
        given(serde_saphyr::from_multiple(text).unwrap()).map_err(|usage| usage.0)
    }

    #[test]
    fn name_region_and_cluster_are_read_also_from_a_list() {
        let expected = Given {
            name: "team_prod-control-plane".to_owned(),
            region: Some("eu-central-1".to_owned()),
            cluster: Some("prod".to_owned()),
        };
        assert_eq!(read_text(MANIFEST), Ok(expected.clone()));
        let indented = MANIFEST.replace('\n', "\n  ");
        let list = format!("apiVersion: v1\nkind: List\nitems:\n- {indented}");
        assert_eq!(read_text(&list), Ok(expected.clone()));
        let beside = format!("apiVersion: v1\nkind: ConfigMap\n---\n{MANIFEST}");
        assert_eq!(read_text(&beside), Ok(expected));
        let short = MANIFEST.replace("  region: eu-central-1\n", "").replace("labels", "annotations");
        let short = read_text(&short).unwrap();
        assert_eq!((short.region, short.cluster), (None, None));
    }

    #[test]
    fn what_could_be_another_argument_or_names_no_cluster_is_refused() {
        for (from, to, expected) in [
            ("kind: AWS", "kind: Other", "--from takes the manifest of one AWSManagedControlPlane"),
            ("controlplane.cluster.x-k8s.io/", "other.example.com/", "--from takes the manifest of one"),
            ("  eksClusterName: team_prod-control-plane\n", "", "has no spec.eksClusterName"),
            (
                "team_prod-control-plane\n",
                "--no-verify-ssl\n",
                "--no-verify-ssl in spec.eksClusterName is no name",
            ),
            (
                "region: eu-central-1",
                "region: example.com/#",
                "example.com/# in spec.region is no AWS region",
            ),
        ] {
            let text = MANIFEST.replace(from, to);
            assert_ne!(text, MANIFEST, "{from}");
            let refused = read_text(&text).unwrap_err();
            assert!(refused.contains(expected), "{refused}");
        }
        let two = format!("{MANIFEST}---\n{MANIFEST}");
        assert!(read_text(&two).unwrap_err().starts_with("--from takes the manifest of one"));
    }
}
