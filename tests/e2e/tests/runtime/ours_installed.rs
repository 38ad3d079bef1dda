//! The extension of a release, installed and removed by the real clusterctl before a core that runs. Its own stage: it is
//! registered for all namespaces.

use crate::ours::Ours;
use crate::served::is_known;
use crate::stage::{self, EXTENSION_CONFIG, Kind};
use anyhow::ensure;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use foo_testbed::world::kinds::text;
use serde_json::{Value, json};

const NAMESPACE_KIND: Kind = Kind("", "v1", "Namespace");
const DEPLOYMENT: Kind = Kind("apps", "v1", "Deployment");
const NAMESPACE: &str = "foo-extension-system";

#[test]
fn clusterctl_installs_and_removes_our_extension() {
    foo_e2e::alone(async || {
        let stage = Box::pin(stage::start()).await?;
        let (capi, api) = (stage.rig().capi()?, stage.rig().api());
        let folder = tempfile::tempdir()?;
        xtask::release::write(&xtask::root(), "v0.1.0", xtask::release::IMAGE, folder.path())?;
        let components = folder.path().join("runtime-extension-foo/v0.1.0/runtime-extension-components.yaml");
        let mut config: Value = serde_json::from_str(&std::fs::read_to_string(capi.clusterctl_config())?)?;
        let ours = json!({"name": "foo", "type": "RuntimeExtensionProvider", "url": components});
        config["providers"].as_array_mut().into_iter().for_each(|providers| providers.push(ours.clone()));
        let path = folder.path().join("clusterctl.yaml");
        std::fs::write(&path, config.to_string())?;
        let path = path.display().to_string();

        // With it clusterctl tries whether cert-manager is there, and leaves before it is deleted.
        stage.until((NAMESPACE_KIND, "", "cert-manager-test"), "gone", Value::is_null).await?;
        capi.clusterctl(api, ["init", "--config", &path, "--runtime-extension", "foo:v0.1.0"]).await?;
        let deployment = stage.read(DEPLOYMENT, NAMESPACE, "foo-extension").await?;
        ensure!(deployment["spec"]["replicas"] == 2, "{deployment:#}");
        let registered = stage.read(EXTENSION_CONFIG, "", "foo").await?;
        ensure!(text(&registered, "/spec/clientConfig/service/namespace") == NAMESPACE, "{registered:#}");

        // No container runs here; a process does, with the settings of the release.
        let process = Ours::start(&stage).await?;
        let change = json!({
            "metadata": {"annotations": {"runtime.cluster.x-k8s.io/inject-ca-from-secret": null}},
            "spec": {"clientConfig": {
                "service": null, "url": format!("https://127.0.0.1:{}", process.port),
                "caBundle": BASE64.encode(api.pki().ca_pem()),
            }},
        });
        stage.patch(EXTENSION_CONFIG, "", "foo", &change).await?;
        let known = is_known(&stage, "foo").await?;
        let names = known["status"]["handlers"].to_string();
        for handler in ["variables.foo", "patches.foo", "validation.foo", "upgrade-plan.foo", "preflight.foo"]
        {
            ensure!(names.contains(handler), "{names}");
        }

        // Why the page for users says what to delete first: clusterctl leaves the registration, and a core that starts would end.
        capi.clusterctl(api, ["delete", "--config", &path, "--runtime-extension", "foo"]).await?;
        stage.until((DEPLOYMENT, NAMESPACE, "foo-extension"), "gone", Value::is_null).await?;
        ensure!(!stage.read(EXTENSION_CONFIG, "", "foo").await?.is_null(), "clusterctl deletes it by itself");
        stage.delete(EXTENSION_CONFIG, "", "foo").await?;
        stage.until((EXTENSION_CONFIG, "", "foo"), "gone", Value::is_null).await.map(drop)
    });
}
