//! The manifest by which Krew, kubectl's manager of plugins, installs `kubectl foo`
//! (<https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest>).

use crate::checksums;
use crate::targets::PLATFORMS;
use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Where the folder of a release is published, unless said otherwise.
pub const URL: &str = "https://downloads.foo.com/cluster-api-provider-foo";

/// Krew names a plugin as users do, without `kubectl-`, and its manifest after it.
const NAME: &str = "foo";
/// The program, and how the names of its archives begin.
const PROGRAM: &str = "kubectl-foo";

/// Writes `<out>/kubectl-foo/<version>/foo.yaml` about the archives `kubectl-foo-<target>.tar.gz` beside it, and returns
/// its path. `url` is where `out` is published.
///
/// # Errors
/// There is no archive, or `url` is not one of https.
pub fn write(version: &str, out: &Path, url: &str) -> Result<PathBuf> {
    ensure!(url.starts_with("https://"), "Krew downloads by https only, not from {url}");
    let folder = out.join(PROGRAM).join(version);
    let files = checksums::of(&folder)?;
    let platform = |(target, os, arch): (&str, &str, &str)| {
        let archive = format!("{PROGRAM}-{target}.tar.gz");
        let (_, sum) = files.iter().find(|(path, _)| *path == archive)?;
        Some(json!({
            "selector": {"matchLabels": {"os": os, "arch": arch}},
            "uri": format!("{}/{PROGRAM}/{version}/{archive}", url.trim_end_matches('/')),
            "sha256": sum,
            "files": [{"from": PROGRAM, "to": "."}, {"from": "LICENSE", "to": "."}],
            "bin": PROGRAM,
        }))
    };
    let platforms: Vec<Value> = PLATFORMS.into_iter().filter_map(platform).collect();
    ensure!(!platforms.is_empty(), "{} has no archive of {PROGRAM}", folder.display());
    let manifest = json!({
        "apiVersion": "krew.googlecontainertools.github.com/v1alpha2",
        "kind": "Plugin",
        "metadata": {"name": NAME},
        "spec": {
            "version": version,
            "homepage": url,
            "shortDescription": "Show Cluster API clusters on AWS, and what they wait for",
            "description": "\
Shows control planes, networks and pools of Machines in Auto Scaling groups as a tree, why
something is not ready, which Pods and budgets delay a drain, and how far a roll-out is.
Works with cluster-api-provider-foo, from the objects in the management cluster.",
            "caveats": "\
For completion of its arguments, link kubectl_complete-foo to kubectl-foo on the PATH:
  ln -s kubectl-foo \"$(dirname \"$(command -v kubectl-foo)\")/kubectl_complete-foo\"",
            "platforms": platforms,
        },
    });
    let path = folder.join(format!("{NAME}.yaml"));
    std::fs::write(&path, serde_saphyr::to_string(&manifest)?)
        .with_context(|| format!("writing {}", path.display()))?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manifest_names_each_archive_with_its_checksum() {
        let out = tempfile::tempdir().unwrap();
        let folder = out.path().join("kubectl-foo/v0.1.0");
        std::fs::create_dir_all(&folder).unwrap();
        assert!(write("v0.1.0", out.path(), URL).unwrap_err().to_string().contains("no archive"));
        for target in ["x86_64-unknown-linux-musl", "aarch64-apple-darwin"] {
            std::fs::write(folder.join(format!("kubectl-foo-{target}.tar.gz")), "abc").unwrap();
        }
        assert!(
            write("v0.1.0", out.path(), "http://foo.com").unwrap_err().to_string().contains("https only")
        );
        let path = write("v0.1.0", out.path(), "https://foo.com/releases/").unwrap();
        assert!(path.ends_with("kubectl-foo/v0.1.0/foo.yaml"));
        let manifest: Value = serde_saphyr::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        assert_eq!(
            (&manifest["metadata"]["name"], &manifest["spec"]["version"]),
            (&json!("foo"), &json!("v0.1.0"))
        );
        let platforms = manifest["spec"]["platforms"].as_array().unwrap();
        let labels: Vec<&Value> = platforms.iter().map(|it| &it["selector"]["matchLabels"]).collect();
        assert_eq!(
            labels,
            [&json!({"os": "linux", "arch": "amd64"}), &json!({"os": "darwin", "arch": "arm64"})]
        );
        assert_eq!(
            platforms[0]["uri"],
            "https://foo.com/releases/kubectl-foo/v0.1.0/kubectl-foo-x86_64-unknown-linux-musl.tar.gz"
        );
        // Test vector of FIPS 180-4.
        let sum = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert!(platforms.iter().all(|it| it["sha256"] == sum && it["bin"] == "kubectl-foo"));
    }
}
