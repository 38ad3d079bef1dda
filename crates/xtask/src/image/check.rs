//! Unpacks an image and runs its programs.

use super::layers::PROGRAMS;
use super::layout::{FOLDER, INDEX, MANIFEST, digest_of, path_of};
use anyhow::{Context as _, Result, ensure};
use flate2::read::GzDecoder;
use serde_json::Value;
use std::io::Read as _;
use std::path::Path;
use std::process::Command;
use tar::Archive;

/// Unpacks the images of a release in `out`, and runs the programs of those for this machine's architecture with
/// `--version`. Returns a line for each image.
///
/// # Errors
/// A blob is not there, or is another one than its digest says; a program is not there, or fails.
pub fn check(version: &str, out: &Path) -> Result<Vec<String>> {
    let folder = out.join(FOLDER).join(version);
    let index = std::fs::read(folder.join("index.json")).context("reading index.json")?;
    let index: Value = serde_json::from_slice(&index).context("index.json is no JSON")?;
    let mut lines = Vec::new();
    for entry in entries(&index, "/manifests")? {
        let images = document(&folder, entry, INDEX)?;
        for image in entries(&images, "/manifests")? {
            lines.push(check_image(&folder, image)?);
        }
    }
    ensure!(!lines.is_empty(), "{} has no image", folder.display());
    Ok(lines)
}

fn check_image(folder: &Path, image: &Value) -> Result<String> {
    let manifest = document(folder, image, MANIFEST)?;
    let config = blob(folder, manifest.get("config").context("no config")?)?;
    let config: Value = serde_json::from_slice(&config).context("the config is no JSON")?;
    let architecture = text(&config, "/architecture")?;
    ensure!(text(image, "/platform/architecture")? == architecture, "the index names another architecture");
    let unpacked = tempfile::tempdir().context("making a folder")?;
    let diffs = entries(&config, "/rootfs/diff_ids")?;
    let layers = entries(&manifest, "/layers")?;
    ensure!(diffs.len() == layers.len(), "the config is of other layers");
    for (layer, diff) in layers.iter().zip(diffs) {
        let mut archive = Vec::new();
        let compressed = blob(folder, layer)?;
        GzDecoder::new(compressed.as_slice()).read_to_end(&mut archive).context("unpacking a layer")?;
        ensure!(
            Some(digest_of(&archive).as_str()) == diff.as_str(),
            "a layer is another one than the config says"
        );
        let mut archive = Archive::new(archive.as_slice());
        archive.set_preserve_permissions(true);
        archive.unpack(unpacked.path()).context("unpacking a layer")?;
    }
    let digest = text(image, "/digest")?;
    if architecture != own_architecture() {
        return Ok(format!("{digest} {architecture}: unpacked, and not run on this machine"));
    }
    let mut versions = Vec::new();
    for program in PROGRAMS {
        let run = Command::new(unpacked.path().join(program.path)).arg("--version").env_clear().output();
        let run = run.with_context(|| format!("running /{}", program.path))?;
        ensure!(
            run.status.success(),
            "/{} --version failed: {}",
            program.path,
            String::from_utf8_lossy(&run.stderr)
        );
        versions.push(String::from_utf8_lossy(&run.stdout).trim().to_owned());
    }
    Ok(format!("{digest} {architecture}: {}", versions.join(", ")))
}

/// This machine's architecture, as images name it.
fn own_architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

/// The document that a descriptor leads to, if it is of this type.
fn document(folder: &Path, descriptor: &Value, media_type: &str) -> Result<Value> {
    ensure!(text(descriptor, "/mediaType")? == media_type, "{descriptor} is no {media_type}");
    let document: Value = serde_json::from_slice(&blob(folder, descriptor)?).context("a blob is no JSON")?;
    ensure!(text(&document, "/mediaType")? == media_type, "{descriptor} leads to something else");
    Ok(document)
}

/// The bytes that a descriptor leads to.
fn blob(folder: &Path, descriptor: &Value) -> Result<Vec<u8>> {
    let digest = text(descriptor, "/digest")?;
    let path = path_of(folder, digest)?;
    let bytes = std::fs::read(&path).with_context(|| format!("reading {}", path.display()))?;
    ensure!(digest_of(&bytes) == digest, "{} has another digest", path.display());
    ensure!(
        descriptor["size"].as_u64() == u64::try_from(bytes.len()).ok(),
        "{} has another size",
        path.display()
    );
    Ok(bytes)
}

fn entries<'a>(value: &'a Value, pointer: &str) -> Result<&'a Vec<Value>> {
    value.pointer(pointer).and_then(Value::as_array).with_context(|| format!("no {pointer}"))
}

fn text<'a>(value: &'a Value, pointer: &str) -> Result<&'a str> {
    value.pointer(pointer).and_then(Value::as_str).with_context(|| format!("no {pointer}"))
}
