//! `cargo xtask release`: the folder that `clusterctl init` installs from.
//!
//! Three providers, one manager: the infrastructure provider runs the pool and cluster controllers, the control-plane
//! provider the control-plane controller, the bootstrap provider that of FooNodeConfigs, each with its own Deployment,
//! ServiceAccount and the rights it needs. The fourth is the runtime extension.
//! Everything comes from the files in deploy/; the same version gives the same bytes. No kubectl and no kustomize.

mod components;
mod entries;
mod extension;

use crate::sources::{emptied, read};
use crate::{chart, checksums, provenance, sbom, yaml};
use anyhow::{Context as _, Result, bail, ensure};
use components::components;
use entries::{ENTRIES, METADATA};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Where released images are, unless said otherwise.
pub const IMAGE: &str = "registry.foo.com/cluster-api-provider-foo";

/// Writes what clusterctl installs ([`write()`]), the SBOMs of the programs in `<out>/<program>/<version>/`, the statement
/// of provenance, and the checksums of everything in `out`. Returns the paths of all files written.
pub fn write_all(root: &Path, version: &str, image: &str, out: &Path) -> Result<Vec<PathBuf>> {
    let mut written = write(root, version, image, out)?;
    for program in sbom::PROGRAMS {
        let (_, name) = program;
        let folder = out.join(name).join(version);
        emptied(&folder)?;
        std::fs::create_dir_all(&folder).with_context(|| format!("creating {}", folder.display()))?;
        let path = folder.join(format!("{name}.cdx.json"));
        std::fs::write(&path, sbom::document(root, program, version)?)
            .with_context(|| format!("writing {}", path.display()))?;
        written.push(path);
    }
    written.push(chart::write(root, version, image, out)?);
    written.push(provenance::write(root, version, image, out)?);
    written.push(checksums::write(out)?);
    Ok(written)
}

/// Writes `<out>/<provider>/<version>/…` for all four providers and returns the paths of all files.
pub fn write(root: &Path, version: &str, image: &str, out: &Path) -> Result<Vec<PathBuf>> {
    check_version(root, version)?;
    let mut written = Vec::new();
    for entry in &ENTRIES {
        let folder = out.join(entry.label).join(version);
        emptied(&folder)?;
        std::fs::create_dir_all(&folder).with_context(|| format!("creating {}", folder.display()))?;
        let mut files = vec![(entry.components.to_owned(), components(root, entry, version, image)?)];
        for (name, parts) in [METADATA].iter().chain(entry.templates) {
            let parts: Vec<String> = parts
                .iter()
                .map(|part| read(root, &format!("deploy/clusterctl/{part}")))
                .collect::<Result<_>>()?;
            files.push(((*name).to_owned(), parts.join("---\n")));
        }
        written.extend(written_to(&folder, files)?);
    }
    let folder = out.join(extension::LABEL).join(version);
    emptied(&folder)?;
    std::fs::create_dir_all(&folder).with_context(|| format!("creating {}", folder.display()))?;
    let files = [
        (extension::COMPONENTS.to_owned(), extension::components(root, version, image)?),
        (METADATA.0.to_owned(), read(root, "deploy/clusterctl/metadata.yaml")?),
    ];
    written.extend(written_to(&folder, files)?);
    Ok(written)
}

/// Writes files into a folder; their paths.
fn written_to(folder: &Path, files: impl IntoIterator<Item = (String, String)>) -> Result<Vec<PathBuf>> {
    let write = |(name, text): (String, String)| {
        let path = folder.join(name);
        std::fs::write(&path, text).with_context(|| format!("writing {}", path.display()))?;
        Ok(path)
    };
    files.into_iter().map(write).collect()
}

/// clusterctl wants a semantic version with a `v`, of a series that metadata.yaml names.
fn check_version(root: &Path, version: &str) -> Result<()> {
    let numbers = version.strip_prefix('v').and_then(|rest| {
        let core = rest.split(['-', '+']).next()?;
        let numbers: Vec<u64> = core.split('.').map(|part| part.parse().ok()).collect::<Option<_>>()?;
        <[u64; 3]>::try_from(numbers).ok()
    });
    let Some([major, minor, _]) = numbers else {
        bail!("{version:?} is no version like v0.1.0");
    };
    let metadata = yaml::parse(&read(root, "deploy/clusterctl/metadata.yaml")?)?;
    let series = metadata.iter().filter_map(|m| m.get("releaseSeries")?.as_array()).flatten();
    let field = |series: &Value, name: &str| series.get(name).and_then(Value::as_u64);
    ensure!(
        series.into_iter().any(|s| field(s, "major") == Some(major) && field(s, "minor") == Some(minor)),
        "deploy/clusterctl/metadata.yaml has no release series {major}.{minor}"
    );
    Ok(())
}

#[cfg(test)]
mod build_tests;
#[cfg(test)]
mod tests;
