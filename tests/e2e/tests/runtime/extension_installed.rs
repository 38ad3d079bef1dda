//! The extension of a release, installed and removed by the real clusterctl before a core that runs. Its own management
//! cluster: it is registered for all namespaces.

use super::extension::ReleasedExtension;
use super::management::{self, EXTENSION_CONFIG, Kind, Management};
use super::served::is_known;
use anyhow::{Result, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use foo_testbed::world::kinds::text;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

const NAMESPACE_KIND: Kind = Kind("", "v1", "Namespace");
pub(crate) const DEPLOYMENT: Kind = Kind("apps", "v1", "Deployment");
pub(crate) const NAMESPACE: &str = "foo-extension-system";

/// Writes a release into a folder; the path of the extension's components.
pub(crate) fn release(folder: &Path, version: &str) -> Result<PathBuf> {
    xtask::release::write(&xtask::root(), version, xtask::release::IMAGE, folder)?;
    let of_version = folder.join("runtime-extension-foo").join(version);
    Ok(of_version.join("runtime-extension-components.yaml"))
}

/// clusterctl's configuration with the extension beside the installed providers; its path.
pub(crate) fn clusterctl_config(management: &Management, folder: &Path, components: &Path) -> Result<String> {
    let config = management.rig().capi()?.clusterctl_config();
    let mut config: Value = serde_json::from_str(&std::fs::read_to_string(config)?)?;
    let extension = json!({"name": "foo", "type": "RuntimeExtensionProvider", "url": components});
    config["providers"].as_array_mut().into_iter().for_each(|providers| providers.push(extension.clone()));
    let path = folder.join("clusterctl.yaml");
    std::fs::write(&path, config.to_string())?;
    Ok(path.display().to_string())
}

/// Waits until the namespace is deleted with which clusterctl tried whether cert-manager is there: clusterctl exits
/// before that.
pub(crate) async fn cert_manager_is_tried(management: &Management) -> Result<()> {
    management.until((NAMESPACE_KIND, "", "cert-manager-test"), "deleted", Value::is_null).await.map(drop)
}

#[test]
fn clusterctl_installs_and_removes_the_extension() {
    foo_e2e::alone(async || {
        let management = Box::pin(management::start()).await?;
        let (capi, api) = (management.rig().capi()?, management.rig().api());
        let folder = tempfile::tempdir()?;
        let components = release(folder.path(), "v0.1.0")?;
        let path = clusterctl_config(&management, folder.path(), &components)?;
        cert_manager_is_tried(&management).await?;
        capi.clusterctl(api, ["init", "--config", &path, "--runtime-extension", "foo:v0.1.0"]).await?;
        let deployment = management.read(DEPLOYMENT, NAMESPACE, "foo-extension").await?;
        ensure!(deployment["spec"]["replicas"] == 2, "{deployment:#}");
        let registered = management.read(EXTENSION_CONFIG, "", "foo").await?;
        ensure!(text(&registered, "/spec/clientConfig/service/namespace") == NAMESPACE, "{registered:#}");

        // No container runs here; a process does, with the settings of the release.
        let process = ReleasedExtension::start(&management).await?;
        let change = json!({
            "metadata": {"annotations": {"runtime.cluster.x-k8s.io/inject-ca-from-secret": null}},
            "spec": {"clientConfig": {
                "service": null, "url": format!("https://127.0.0.1:{}", process.port),
                "caBundle": BASE64.encode(api.pki().ca_pem()),
            }},
        });
        management.patch(EXTENSION_CONFIG, "", "foo", &change).await?;
        let known = is_known(&management, "foo").await?;
        let names = known["status"]["handlers"].to_string();
        for handler in ["variables.foo", "patches.foo", "validation.foo", "upgrade-plan.foo", "preflight.foo"]
        {
            ensure!(names.contains(handler), "{names}");
        }

        // Why the page for users shows what to delete first: clusterctl leaves the registration, and a core that starts
        // would end.
        capi.clusterctl(api, ["delete", "--config", &path, "--runtime-extension", "foo"]).await?;
        management.until((DEPLOYMENT, NAMESPACE, "foo-extension"), "deleted", Value::is_null).await?;
        ensure!(
            !management.read(EXTENSION_CONFIG, "", "foo").await?.is_null(),
            "clusterctl deletes it by itself"
        );
        management.delete(EXTENSION_CONFIG, "", "foo").await?;
        management.until((EXTENSION_CONFIG, "", "foo"), "deleted", Value::is_null).await.map(drop)
    });
}
