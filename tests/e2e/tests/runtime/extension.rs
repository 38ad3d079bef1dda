//! Our own extension as a process, before a simulated AWS, and its registration with core.

use super::management::Management;
use super::served::{certify, extension_config, is_known};
use anyhow::{Context as _, Result, ensure};
use foo_simulator::{AccessKey, Handle, InstanceProfile, SimulatorConfig};
use foo_testbed::{Probe, Process, beside_us, free_port, wait_until};
use serde_json::{Value, json};
use std::net::Ipv4Addr;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;
use tokio::net::TcpStream;

const PROGRAM: &str = "foo-extension";
const READY: Duration = Duration::from_secs(20);

/// Its credentials, which have the rights of the release and no others.
const KEY: (&str, &str) = ("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY");
const POLICY: &str = include_str!("../../../../docs/reference/iam-extension-policy.json");

/// One process of the extension. Dropping it ends it.
pub(crate) struct ReleasedExtension {
    pub(crate) aws: Handle,
    pub(crate) port: u16,
    process: Process,
    _folder: TempDir,
}

impl ReleasedExtension {
    /// Starts it; a management cluster has the provider's kinds from then on.
    pub(crate) async fn start(management: &Management) -> Result<Self> {
        Self::start_at(management, free_port()?).await
    }

    /// The same, for calls at this port.
    pub(crate) async fn start_at(management: &Management, port: u16) -> Result<Self> {
        let deploy = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy");
        let rights = std::fs::read_to_string(deploy.join("rbac/aggregated_role.yaml"))?;
        management.rig().api().apply(&rights).await?;
        let crds = deploy.join("crd");
        for entry in std::fs::read_dir(&crds).with_context(|| format!("listing {}", crds.display()))? {
            let path = entry?.path();
            if path.file_name().is_some_and(|name| name != "kustomization.yaml") {
                management.rig().api().apply(&std::fs::read_to_string(&path)?).await?;
            }
        }
        let aws = Handle::start(SimulatorConfig::scaled(1.0)).await.context("starting the simulated AWS")?;
        let policy = Some(serde_json::from_str(POLICY)?);
        aws.simulator().put_key(AccessKey { id: KEY.0.to_owned(), secret: KEY.1.to_owned(), policy });
        let (folder, admin) = (tempfile::tempdir()?, free_port()?);
        certify(management.rig().api().pki(), &folder)?;
        let nowhere = folder.path().join("none").display().to_string();
        let endpoint = aws.endpoint();
        let args = [
            format!("--address=127.0.0.1:{port}"),
            format!("--admin-address=127.0.0.1:{admin}"),
            format!("--certificates={}", folder.path().display()),
            format!("--aws-endpoint-url={endpoint}"),
        ];
        let env = [
            ("AWS_ACCESS_KEY_ID", KEY.0),
            ("AWS_SECRET_ACCESS_KEY", KEY.1),
            ("AWS_EC2_METADATA_DISABLED", "true"),
            ("AWS_CONFIG_FILE", nowhere.as_str()),
            ("AWS_SHARED_CREDENTIALS_FILE", nowhere.as_str()),
        ];
        // Where it is kept after a failure.
        let log = management.rig().folder().join(format!("{PROGRAM}-{port}.log"));
        let process = Process::start(PROGRAM, &beside_us(PROGRAM)?, args, &env, &log)?;
        wait_until("the extension to listen", READY, async || {
            process.check_running()?;
            TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await?;
            Ok(Probe::Done(()))
        })
        .await?;
        Ok(Self { aws, port, process, _folder: folder })
    }

    /// Creates an instance profile with a role.
    pub(crate) fn put_instance_profile(&self, name: &str) -> Result<()> {
        let aws = self.aws.simulator();
        aws.put_role(serde_json::from_value(json!({"name": name, "services": ["ec2.amazonaws.com"]}))?);
        aws.put_instance_profile(InstanceProfile { name: name.to_owned(), role: Some(name.to_owned()) });
        Ok(())
    }

    /// Fails if AWS refused a call: its policy allows all that it calls.
    pub(crate) fn was_allowed_everything(&self) -> Result<()> {
        let calls = self.aws.simulator().recent_calls();
        ensure!(!calls.is_empty(), "AWS was not called");
        let refused: Vec<String> = calls
            .iter()
            .filter(|call| {
                ["AccessDenied", "UnauthorizedOperation"].iter().any(|code| call.outcome.starts_with(code))
            })
            .map(|call| format!("{} {}", call.action, call.outcome))
            .collect();
        ensure!(refused.is_empty(), "{refused:?}");
        Ok(())
    }

    /// Registers it for the namespace of the same name, with these settings beside the credentials.
    pub(crate) async fn register(&self, management: &Management, name: &str, settings: &Value) -> Result<()> {
        self.process.check_running()?;
        let mut config = extension_config(management, name, self.port);
        config["spec"]["settings"] = json!({"identities": "default=own"});
        for (key, value) in settings.as_object().into_iter().flatten() {
            config["spec"]["settings"][key] = value.clone();
        }
        management.apply(&config).await?;
        is_known(management, name).await.map(drop)
    }
}
