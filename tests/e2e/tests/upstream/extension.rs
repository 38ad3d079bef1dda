//! Our runtime extension before a world's AWS, registered with core for all namespaces: its flavours need it.

use anyhow::{Context as _, Result};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use foo_testbed::world::kinds::condition;
use foo_testbed::{Probe, Process, World, beside_us, free_port, wait_until};
use serde_json::{Value, json};
use std::net::Ipv4Addr;
use std::time::Duration;
use tokio::net::TcpStream;

const PROGRAM: &str = "foo-extension";
const READY: Duration = Duration::from_mins(1);

/// Starts it. Dropping what is returned ends it.
pub(crate) async fn start(world: &World) -> Result<Process> {
    let (port, admin) = (free_port()?, free_port()?);
    let folder = world.rig().folder().join(PROGRAM);
    std::fs::create_dir_all(&folder).with_context(|| format!("creating {}", folder.display()))?;
    let pki = world.api().pki();
    pki.serving(&["127.0.0.1", "localhost"])?.write_to(&folder)?;
    let args = [
        format!("--address=127.0.0.1:{port}"),
        format!("--admin-address=127.0.0.1:{admin}"),
        format!("--certificates={}", folder.display()),
        format!("--aws-endpoint-url={}", world.aws().endpoint()),
    ];
    let nowhere = folder.join("none").display().to_string();
    let env = [
        ("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE"),
        ("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
        ("AWS_EC2_METADATA_DISABLED", "true"),
        ("AWS_CONFIG_FILE", nowhere.as_str()),
        ("AWS_SHARED_CREDENTIALS_FILE", nowhere.as_str()),
    ];
    let process = Process::start(PROGRAM, &beside_us(PROGRAM)?, args, &env, &folder.join("log"))?;
    wait_until("the extension to listen", READY, async || {
        process.check_running()?;
        TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await?;
        Ok(Probe::Done(()))
    })
    .await?;
    world
        .apply(&json!({
            "apiVersion": "runtime.cluster.x-k8s.io/v1beta2", "kind": "ExtensionConfig",
            "metadata": {"name": "foo"},
            "spec": {
                "clientConfig": {"url": format!("https://127.0.0.1:{port}"), "caBundle": BASE64.encode(pki.ca_pem())},
                "settings": {"identities": "default=own"},
            },
        }))
        .await?;
    wait_until("core to know the extension's handlers", READY, async || {
        let read = world.api().kubectl(["get", "extensionconfig", "foo", "--output=json"]).await?;
        let config: Value = serde_json::from_str(&read)?;
        let discovered = condition(&config, "Discovered").is_some_and(|(status, ..)| status == "True");
        // Core writes the handlers a moment after the condition.
        let handlers = config.pointer("/status/handlers").and_then(Value::as_array).map_or(0, Vec::len);
        Ok(Probe::when(discovered && handlers > 0, || read))
    })
    .await?;
    Ok(process)
}
