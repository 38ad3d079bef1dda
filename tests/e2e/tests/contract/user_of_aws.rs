//! Who runs commands of the plugin that read from AWS.

use anyhow::Result;
use foo_conformance::python;
use foo_testbed::world::World;

/// A user with the AWS CLI and credentials for the simulated AWS.
pub(crate) struct UserOfAws {
    path: String,
    endpoint: String,
    nowhere: String,
}

impl UserOfAws {
    pub(crate) async fn of(world: &World) -> Result<Self> {
        let programs = python::programs(env!("CARGO_TARGET_TMPDIR").as_ref()).await?;
        Ok(Self {
            path: format!("{}:{}", programs.display(), std::env::var("PATH").unwrap_or_default()),
            endpoint: world.aws().endpoint(),
            nowhere: world.rig().folder().join("no-such-file").display().to_string(),
        })
    }

    /// Nothing of the user who runs the tests is found.
    pub(crate) fn env(&self) -> [(&str, &str); 7] {
        [
            ("PATH", &self.path),
            ("AWS_ENDPOINT_URL", &self.endpoint),
            ("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE"),
            ("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
            ("AWS_CONFIG_FILE", &self.nowhere),
            ("AWS_SHARED_CREDENTIALS_FILE", &self.nowhere),
            ("AWS_EC2_METADATA_DISABLED", "true"),
        ]
    }
}
