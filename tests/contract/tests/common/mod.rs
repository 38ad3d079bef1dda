//! Where upstream's files are.

use std::path::{Path, PathBuf};

/// The folder with the tools: `FOO_TOOLS_BIN`, else `hack/tools/bin` of this repository.
pub(crate) fn tools() -> PathBuf {
    let folder = std::env::var_os("FOO_TOOLS_BIN")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../hack/tools/bin"), PathBuf::from);
    assert!(
        folder.join("capi/crds").exists(),
        "{} has no capi/crds: build the test tools once with hack/tools/build.sh (about 8 minutes), or set FOO_TOOLS_BIN",
        folder.display()
    );
    folder
}
