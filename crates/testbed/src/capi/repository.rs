//! The local repositories that clusterctl installs from, and its configuration.

use crate::Tools;
use anyhow::{Context as _, Result};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// A kind of Cluster API provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProviderKind {
    /// Cluster API itself.
    Core,
    /// `infrastructure-<name>`.
    Infrastructure,
    /// `control-plane-<name>`.
    ControlPlane,
    /// `bootstrap-<name>`.
    Bootstrap,
    /// `runtime-extension-<name>`.
    RuntimeExtension,
}

impl ProviderKind {
    fn config_type(self) -> &'static str {
        match self {
            Self::Core => "CoreProvider",
            Self::Infrastructure => "InfrastructureProvider",
            Self::ControlPlane => "ControlPlaneProvider",
            Self::Bootstrap => "BootstrapProvider",
            Self::RuntimeExtension => "RuntimeExtensionProvider",
        }
    }

    fn init_flag(self) -> &'static str {
        match self {
            Self::Core => "--core",
            Self::Infrastructure => "--infrastructure",
            Self::ControlPlane => "--control-plane",
            Self::Bootstrap => "--bootstrap",
            Self::RuntimeExtension => "--runtime-extension",
        }
    }

    fn components_file(self) -> &'static str {
        match self {
            Self::Core => "core-components.yaml",
            Self::Infrastructure => "infrastructure-components.yaml",
            Self::ControlPlane => "control-plane-components.yaml",
            Self::Bootstrap => "bootstrap-components.yaml",
            Self::RuntimeExtension => "runtime-extension-components.yaml",
        }
    }
}

/// A provider that clusterctl installs from a folder on disk.
#[derive(Clone, Debug)]
pub struct Provider {
    /// Name as a user gives it to clusterctl, for instance `foo`.
    pub name: String,
    /// What it provides.
    pub kind: ProviderKind,
    /// Version to install, for instance `v0.1.0`.
    pub version: String,
    /// Folder that holds one folder per version, each with `metadata.yaml` and the components. clusterctl insists
    /// that its last part is the provider's label, for instance `infrastructure-foo`.
    pub folder: PathBuf,
}

impl Provider {
    fn init_value(&self) -> String {
        format!("{}:{}", self.name, self.version)
    }

    fn config(&self) -> Value {
        let url = self.folder.join(&self.version).join(self.kind.components_file());
        json!({"name": self.name, "type": self.kind.config_type(), "url": url})
    }
}

/// What is installed beside Cluster API core, and how core runs.
#[derive(Clone, Debug)]
pub struct CapiOptions {
    /// Providers to install with core, from their release folders.
    pub providers: Vec<Provider>,
    /// Cluster API's kubeadm bootstrap provider is installed, too, and its manager runs.
    pub kubeadm_bootstrap: bool,
    /// Value of the managers' `--feature-gates`.
    pub feature_gates: String,
    /// Variables of provider templates (`${NAME}` in components and cluster templates).
    pub variables: Vec<(String, String)>,
}

impl Default for CapiOptions {
    fn default() -> Self {
        Self {
            providers: Vec::new(),
            kubeadm_bootstrap: false,
            feature_gates: "MachinePool=true,ClusterTopology=true,RuntimeSDK=true".to_owned(),
            variables: Vec::new(),
        }
    }
}

/// Creates core's repository below `folder` from what `hack/tools/build.sh` left.
pub(super) fn core(tools: &Tools, folder: &Path) -> Result<Provider> {
    of_cluster_api(tools, folder, "cluster-api", "cluster-api", ProviderKind::Core)
}

/// The same for Cluster API's kubeadm bootstrap provider.
pub(super) fn kubeadm_bootstrap(tools: &Tools, folder: &Path) -> Result<Provider> {
    of_cluster_api(tools, folder, "kubeadm", "bootstrap-kubeadm", ProviderKind::Bootstrap)
}

fn of_cluster_api(
    tools: &Tools,
    folder: &Path,
    name: &str,
    label: &str,
    kind: ProviderKind,
) -> Result<Provider> {
    let version = tools.capi_version()?;
    let repository = folder.join("repository").join(label);
    let release = repository.join(&version);
    std::fs::create_dir_all(&release).with_context(|| format!("creating {}", release.display()))?;
    for file in [kind.components_file(), "metadata.yaml"] {
        std::fs::copy(tools.capi().join(file), release.join(file))
            .with_context(|| format!("copying {file}"))?;
    }
    Ok(Provider { name: name.to_owned(), kind, version, folder: repository })
}

/// clusterctl's configuration file (JSON is YAML).
pub(super) fn config(core: &Provider, options: &CapiOptions) -> String {
    let mut config = Map::new();
    let providers: Vec<Value> =
        std::iter::once(core).chain(&options.providers).map(Provider::config).collect();
    config.insert("providers".to_owned(), Value::Array(providers));
    for (name, value) in &options.variables {
        config.insert(name.clone(), Value::String(value.clone()));
    }
    for gate in ["CLUSTER_TOPOLOGY", "EXP_RUNTIME_SDK", "EXP_MACHINE_POOL"] {
        config.entry(gate).or_insert_with(|| Value::String("true".to_owned()));
    }
    format!("{:#}", Value::Object(config))
}

pub(super) fn init_args(core: &Provider, providers: &[Provider]) -> Vec<String> {
    let mut args = vec!["init".to_owned(), "--core".to_owned(), core.init_value()];
    for kind in [ProviderKind::Bootstrap, ProviderKind::ControlPlane, ProviderKind::Infrastructure] {
        let values: Vec<String> =
            providers.iter().filter(|provider| provider.kind == kind).map(Provider::init_value).collect();
        // "-" keeps clusterctl from installing the kubeadm providers, its default, from the internet.
        let value = if values.is_empty() { "-".to_owned() } else { values.join(",") };
        args.extend([kind.init_flag().to_owned(), value]);
    }
    for provider in providers.iter().filter(|provider| provider.kind == ProviderKind::RuntimeExtension) {
        args.extend([provider.kind.init_flag().to_owned(), provider.init_value()]);
    }
    args
}

/// clusterctl installs cert-manager unless its kinds can be created. Core's components contain one of each.
pub(super) fn cert_manager_stub() -> String {
    let stub = |kind: &str| {
        let singular = kind.to_lowercase();
        json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": format!("{singular}s.cert-manager.io")},
            "spec": {
                "group": "cert-manager.io",
                "scope": "Namespaced",
                "names": {
                    "kind": kind, "singular": singular,
                    "plural": format!("{singular}s"), "listKind": format!("{kind}List"),
                },
                "versions": [{
                    "name": "v1", "served": true, "storage": true,
                    "schema": {"openAPIV3Schema": {
                        "type": "object", "x-kubernetes-preserve-unknown-fields": true,
                    }},
                }],
            },
        })
    };
    format!("{}\n---\n{}\n", stub("Issuer"), stub("Certificate"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_other_providers_nothing_else_is_installed() {
        let core = Provider {
            name: "cluster-api".into(),
            kind: ProviderKind::Core,
            version: "v1.2.3".into(),
            folder: "/repository/cluster-api".into(),
        };
        let foo = Provider {
            name: "foo".into(),
            kind: ProviderKind::Infrastructure,
            version: "v0.1.0".into(),
            folder: "/release/infrastructure-foo".into(),
        };
        let check = |providers: &[Provider], expected: &str| {
            assert_eq!(init_args(&core, providers).join(" "), expected);
        };
        check(&[], "init --core cluster-api:v1.2.3 --bootstrap - --control-plane - --infrastructure -");
        check(
            std::slice::from_ref(&foo),
            "init --core cluster-api:v1.2.3 --bootstrap - --control-plane - --infrastructure foo:v0.1.0",
        );
        let kubeadm = Provider {
            name: "kubeadm".into(),
            kind: ProviderKind::Bootstrap,
            version: "v1.2.3".into(),
            ..core.clone()
        };
        check(
            &[kubeadm],
            "init --core cluster-api:v1.2.3 --bootstrap kubeadm:v1.2.3 --control-plane - --infrastructure -",
        );
        let options = CapiOptions { providers: vec![foo], ..CapiOptions::default() };
        let config: Value = serde_json::from_str(&config(&core, &options)).unwrap();
        assert_eq!(
            config["providers"][1]["url"],
            "/release/infrastructure-foo/v0.1.0/infrastructure-components.yaml"
        );
        assert_eq!(config["CLUSTER_TOPOLOGY"], "true");
    }
}
