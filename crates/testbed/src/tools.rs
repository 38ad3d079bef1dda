//! Where the programs are that the test bed runs. It does not build them: `hack/tools/build.sh` does.

use anyhow::{Context as _, Result, bail};
use std::path::{Path, PathBuf};

/// The folder with the built programs, known to be complete.
#[derive(Clone, Debug)]
pub struct Tools {
    folder: PathBuf,
}

/// Everything [`Tools::find`] insists on, so that a missing program is reported before anything has started.
const NEEDED: [&str; 10] = [
    "aws-iam-authenticator",
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kubectl",
    "capi-core",
    "capi-kubeadm-bootstrap",
    "clusterctl",
    "capi/core-components.yaml",
    "capi/metadata.yaml",
];

impl Tools {
    /// The folder named by `FOO_TOOLS_BIN`, else `hack/tools/bin` of this project.
    ///
    /// Fails with what to do when a program is missing: a test that cannot run must report it, not pass.
    pub fn find() -> Result<Self> {
        let folder = match std::env::var_os("FOO_TOOLS_BIN") {
            Some(folder) => PathBuf::from(folder),
            None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../hack/tools/bin"),
        };
        let missing: Vec<&str> =
            NEEDED.into_iter().filter(|program| !folder.join(program).exists()).collect();
        if !missing.is_empty() {
            bail!(
                "missing in {}: {}. Build them once with hack/tools/build.sh (about 13 minutes), or point \
                 FOO_TOOLS_BIN at a folder that has them.",
                folder.display(),
                missing.join(", ")
            );
        }
        let folder = folder.canonicalize().with_context(|| format!("resolving {}", folder.display()))?;
        Ok(Self { folder })
    }

    /// Path of one program, for instance `kubectl`.
    pub fn program(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// What `hack/tools/build.sh` took from the Cluster API module: `core-components.yaml`, `metadata.yaml`,
    /// `version`, and its CRDs in `crds/`.
    pub fn capi(&self) -> PathBuf {
        self.folder.join("capi")
    }

    /// Version of Cluster API core, for instance `v1.14.2`.
    pub fn capi_version(&self) -> Result<String> {
        let path = self.capi().join("version");
        let text = std::fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
        Ok(text.trim().to_owned())
    }
}
