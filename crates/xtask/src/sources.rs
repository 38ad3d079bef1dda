//! What the parts of a release are made from, and where they are written to.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use std::path::Path;

/// A file of the repository.
pub(crate) fn read(root: &Path, path: &str) -> Result<String> {
    std::fs::read_to_string(root.join(path)).with_context(|| format!("reading {path}"))
}

/// Labels an object as a part of a provider, as clusterctl does.
pub(crate) fn label(object: &mut Value, provider: &str) {
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    let labels = metadata.entry("labels").or_insert_with(|| json!({}));
    if let Some(labels) = labels.as_object_mut() {
        labels.insert("cluster.x-k8s.io/provider".to_owned(), json!(provider));
    }
}

/// What an earlier run left there is not part of this release: checksums would vouch for it.
pub(crate) fn emptied(folder: &Path) -> Result<()> {
    if folder.exists() {
        std::fs::remove_dir_all(folder).with_context(|| format!("emptying {}", folder.display()))?;
    }
    Ok(())
}
