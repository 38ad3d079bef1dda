//! The image of a release in the layout of the Open Container Initiative, built without a container engine
//! (<https://github.com/opencontainers/image-spec/blob/v1.1.1/image-layout.md>).
//!
//! It has no base: two static programs, the certificate authorities that Mozilla trusts, and a user ([`layers`]). The same
//! programs and the same commit give the same bytes. `check` runs the programs that are in it.

mod check;
mod layers;
mod layout;

pub use check::check;

use crate::git;
use crate::targets::linux;
use anyhow::{Context as _, Result, ensure};
pub(crate) use layers::USER;
use layers::{Layer, PROGRAMS, Program};
use layout::{Blob, FOLDER, Layout};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Writes `<out>/image/<version>/`: one image for each Linux platform whose programs are in `out`, and an index of them,
/// whose reference is the version. Returns the folder.
///
/// # Errors
/// There is no platform that has all programs, or one that lacks some.
pub fn write(root: &Path, version: &str, out: &Path) -> Result<PathBuf> {
    let created = created(root);
    let labels = labels(root, version);
    let folder = out.join(FOLDER).join(version);
    let layout = Layout::new(&folder)?;
    let mut images = Vec::new();
    for (target, architecture) in linux() {
        let programs = PROGRAMS.map(|Program { name, path }| {
            let file = out.join(name).join(version).join(format!("{name}-{target}"));
            (path, file)
        });
        let present = programs.iter().filter(|(_, file)| file.exists()).count();
        if present == 0 {
            continue;
        }
        ensure!(
            present == programs.len(),
            "only {present} of the programs of {target} are in {}",
            out.display()
        );
        let mut layers = vec![layers::base()?];
        for (path, file) in &programs {
            let program = std::fs::read(file).with_context(|| format!("reading {}", file.display()))?;
            layers.push(layers::program(path, &program)?);
        }
        images.push(image(&layout, architecture, &layers, &created, &labels)?);
    }
    ensure!(!images.is_empty(), "{} has no programs of {version}", out.display());
    layout.finish(version, &images)?;
    Ok(folder)
}

/// Writes the image of a platform; its entry in the index.
fn image(
    layout: &Layout,
    architecture: &str,
    layers: &[Layer],
    created: &str,
    labels: &Value,
) -> Result<Value> {
    let platform = json!({"architecture": architecture, "os": "linux"});
    let history: Vec<Value> =
        layers.iter().map(|layer| json!({"created": created, "created_by": layer.what})).collect();
    let diffs: Vec<&str> = layers.iter().map(|layer| layer.diff_id.as_str()).collect();
    let config = json!({
        "created": created,
        "architecture": architecture,
        "os": "linux",
        "config": {
            "User": USER,
            "Entrypoint": [format!("/{}", PROGRAMS[0].path)],
            "WorkingDir": "/",
            "Labels": labels,
        },
        "rootfs": {"type": "layers", "diff_ids": diffs},
        "history": history,
    });
    let config = layout.json("application/vnd.oci.image.config.v1+json", &config)?;
    let layers: Vec<Value> = layers
        .iter()
        .map(|layer| {
            Ok(layout.blob("application/vnd.oci.image.layer.v1.tar+gzip", &layer.bytes)?.descriptor())
        })
        .collect::<Result<_>>()?;
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": layout::MANIFEST,
        "config": config.descriptor(),
        "layers": layers,
        "annotations": labels,
    });
    let Blob { media_type, digest, size } = layout.json(layout::MANIFEST, &manifest)?;
    Ok(json!({"mediaType": media_type, "digest": digest, "size": size, "platform": platform}))
}

/// What registries show of an image (<https://github.com/opencontainers/image-spec/blob/v1.1.1/annotations.md>).
fn labels(root: &Path, version: &str) -> Value {
    let mut labels = json!({
        "org.opencontainers.image.title": "cluster-api-provider-foo",
        "org.opencontainers.image.description": "Cluster API provider for AWS Auto Scaling groups: manager and runtime extension",
        "org.opencontainers.image.version": version,
        "org.opencontainers.image.licenses": env!("CARGO_PKG_LICENSE"),
    });
    if let (Some(commit), Some(labels)) = (git(root, &["rev-parse", "HEAD"]), labels.as_object_mut()) {
        labels.insert("org.opencontainers.image.revision".to_owned(), json!(commit));
    }
    labels
}

/// The time of the commit; sources that were unpacked from an archive have none.
fn created(root: &Path) -> String {
    let time = git(root, &["show", "--no-patch", "--format=%cI", "HEAD"]);
    time.unwrap_or_else(|| "1970-01-01T00:00:00Z".to_owned())
}

#[cfg(test)]
mod tests;
