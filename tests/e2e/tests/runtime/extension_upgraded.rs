//! The extension of a release, replaced by that of the next one by the real clusterctl before a core that runs. Its own
//! management cluster: it is registered for all namespaces.

use super::extension::ReleasedExtension;
use super::extension_installed::{DEPLOYMENT, NAMESPACE, cert_manager_is_tried, clusterctl_config, release};
use super::failures::ready;
use super::management::{self, EXTENSION_CONFIG, Management};
use super::served::{Served, handlers, is_known};
use anyhow::{Context as _, Result, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use foo_testbed::world::kinds::text;
use serde_json::{Value, json};
use std::path::Path;

const VERSION: &str = "/metadata/annotations/infrastructure.foo.com~1extension-version";
const IMAGE: &str = "/spec/template/spec/containers/0/image";
const EARLIER: &str = "v0.1.0";
const NEXT: &str = "v0.1.1";

/// No container runs here: lets the release's ExtensionConfig name a process on this host instead of the Service.
fn registered_at(management: &Management, components: &Path, port: u16) -> Result<()> {
    let mut objects = xtask::yaml::parse(&std::fs::read_to_string(components)?)?;
    let config = objects.iter_mut().find(|object| object["kind"] == "ExtensionConfig");
    let config = config.context("the release has no ExtensionConfig")?;
    config["spec"]["clientConfig"] = json!({
        "url": format!("https://127.0.0.1:{port}"),
        "caBundle": BASE64.encode(management.rig().api().pki().ca_pem()),
    });
    let annotations = config["metadata"]["annotations"].as_object_mut().context("no annotations")?;
    annotations.remove("runtime.cluster.x-k8s.io/inject-ca-from-secret").context("no Secret is named")?;
    Ok(std::fs::write(components, xtask::yaml::documents(&objects)?)?)
}

async fn image(management: &Management) -> Result<String> {
    let deployment = management.read(DEPLOYMENT, NAMESPACE, "foo-extension").await?;
    Ok(text(&deployment, IMAGE).to_owned())
}

/// Both versions listen at the same address, as pods behind one Service: nothing of the registration but its annotation
/// changes, and that causes core to discover the handlers.
#[test]
fn clusterctl_upgrades_the_extension_and_core_knows_the_handlers_of_the_next_version() {
    foo_e2e::alone(async || {
        let management = Box::pin(management::start()).await?;
        let (capi, api) = (management.rig().capi()?, management.rig().api());
        let earlier = Served::start(&management, ready("of-earlier")?).await?;
        let port = earlier.port;
        let folder = tempfile::tempdir()?;
        let components = release(folder.path(), EARLIER)?;
        registered_at(&management, &components, port)?;
        registered_at(&management, &release(folder.path(), NEXT)?, port)?;
        let path = clusterctl_config(&management, folder.path(), &components)?;
        cert_manager_is_tried(&management).await?;
        let version = format!("foo:{EARLIER}");
        capi.clusterctl(api, ["init", "--config", &path, "--runtime-extension", &version]).await?;
        let config = is_known(&management, "foo").await?;
        ensure!(handlers(&config) == ["of-earlier.foo"], "{config:#}");
        ensure!(
            text(&config, VERSION) == EARLIER && image(&management).await?.ends_with(EARLIER),
            "{config:#}"
        );
        // What a user sets, beside what the release sets, and against it.
        let settings = json!({"spec": {"settings": {"preflight": "true", "checks": "Warn"}}});
        management.patch(EXTENSION_CONFIG, "", "foo", &settings).await?;

        // clusterctl scales the Deployment to zero before it writes the new one.
        earlier.stop().await?;
        let version = format!("{NAMESPACE}/foo:{NEXT}");
        capi.clusterctl(api, ["upgrade", "apply", "--config", &path, "--runtime-extension", &version])
            .await?;
        ensure!(image(&management).await?.ends_with(NEXT), "{}", image(&management).await?);
        let _extension = ReleasedExtension::start_at(&management, port).await?;
        let config = management
            .until((EXTENSION_CONFIG, "", "foo"), "with the handlers of the next version", |config| {
                handlers(config).contains(&"variables.foo")
            })
            .await?;
        ensure!(!handlers(&config).contains(&"of-earlier.foo"), "{config:#}");
        ensure!(text(&config, VERSION) == NEXT, "{config:#}");
        let kept = json!({"preflight": "true", "checks": "Enforce", "identities": "default=own"});
        ensure!(config["spec"]["settings"] == kept, "{config:#}");

        management.delete(EXTENSION_CONFIG, "", "foo").await?;
        management.until((EXTENSION_CONFIG, "", "foo"), "deleted", Value::is_null).await.map(drop)
    });
}
