//! Follows a page of the documentation as a reader would: every block of shell (```` ```sh ````) is run, in order, with
//! the real programs against a rig. What cannot be run here is no `sh` block.
//!
//! ```no_run
//! # async fn example(rig: &foo_testbed::Rig) -> anyhow::Result<()> {
//! let reader = foo_e2e::document::Reader::of(rig).await?;
//! reader.follow("docs/operations/install.md", "With clusterctl").await?;
//! # Ok(()) }
//! ```

use anyhow::{Context as _, Result, ensure};
use foo_testbed::world::SOON;
use foo_testbed::{Printed, Probe, Rig, World, run, wait_until};
use serde_json::Value;
use std::fmt::Write as _;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A user with a shell, in a checkout of this repository, who has the rig's API server and programs.
#[derive(Debug)]
pub struct Reader<'r> {
    rig: &'r Rig,
    folder: TempDir,
}

/// The real clusterctl, with one more provider in the file that `--config` names.
const CLUSTERCTL: &str = r#"#!/usr/bin/env bash
arguments=()
for argument; do
    if [ "${previous:-}" = --config ]; then
        cat "$argument" "$READER/.core" >"$READER/.clusterctl.yaml"
        argument=$READER/.clusterctl.yaml
    fi
    arguments+=("$argument")
    previous=$argument
done
exec REAL "${arguments[@]}"
"#;

/// One block of shell.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Block {
    /// Line of its first command.
    line: usize,
    text: String,
}

impl<'r> Reader<'r> {
    /// The checkout is a folder of links, so that files of a page (`dist`, configuration) are created there.
    pub async fn of(rig: &'r Rig) -> Result<Self> {
        let folder = tempfile::tempdir().context("making a folder")?;
        for entry in std::fs::read_dir(root()).context("listing the repository")? {
            let entry = entry?;
            if entry.file_name() != "dist" {
                std::os::unix::fs::symlink(entry.path(), folder.path().join(entry.file_name()))?;
            }
        }
        // A test has no network: Cluster API's own release is added to the reader's
        // configuration of clusterctl, which ends with its list of providers.
        if let Ok(capi) = rig.capi() {
            // The rig's own `clusterctl init` tried cert-manager out in a namespace. While that one is being deleted, a
            // second init takes cert-manager for missing, and would install it.
            wait_until("the trial of cert-manager to be over", SOON, async || {
                let namespace =
                    ["get", "namespace", "cert-manager-test", "--ignore-not-found", "--output=name"];
                let left = rig.api().kubectl(namespace).await?;
                Ok(Probe::when(left.is_empty(), || left))
            })
            .await?;
            let programs = folder.path().join(".bin");
            std::fs::create_dir(&programs)?;
            let config = std::fs::read_to_string(capi.clusterctl_config())?;
            let config: Value =
                serde_json::from_str(&config).context("the rig's configuration of clusterctl")?;
            let core = config.pointer("/providers/0").context("no core provider")?;
            std::fs::write(folder.path().join(".core"), format!("- {core}\n"))?;
            let real = rig.api().tools().program("clusterctl");
            let wrapper = programs.join("clusterctl");
            std::fs::write(&wrapper, CLUSTERCTL.replace("REAL", &real.display().to_string()))?;
            std::fs::set_permissions(&wrapper, Permissions::from_mode(0o755))?;
        }
        Ok(Self { rig, folder })
    }

    /// The same with the `clusterctl.yaml` of docs/operations/install.md: a reader who has the release that a world was
    /// installed from.
    pub async fn of_release(world: &'r World) -> Result<Self> {
        let reader = Self::of(world.rig()).await?;
        let release = world.rig().folder().join("release");
        let mut config = "providers:\n".to_owned();
        for (kind, label, file) in [
            ("InfrastructureProvider", "infrastructure-foo", "infrastructure-components.yaml"),
            ("ControlPlaneProvider", "control-plane-foo", "control-plane-components.yaml"),
            ("BootstrapProvider", "bootstrap-foo", "bootstrap-components.yaml"),
        ] {
            let url = release.join(label).join(foo_testbed::world::RELEASE).join(file);
            writeln!(config, "- name: foo\n  type: {kind}\n  url: {}", url.display())?;
        }
        std::fs::write(reader.folder().join("clusterctl.yaml"), config)?;
        Ok(reader)
    }

    /// Where the reader is.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Runs the blocks of one section, its subsections included; what they export and the functions they define hold
    /// for later sections too. Returns all they printed. An error if there is no such section, or nothing to run in it.
    pub async fn follow(&self, page: &str, heading: &str) -> Result<String> {
        let text = std::fs::read_to_string(root().join(page)).with_context(|| format!("reading {page}"))?;
        let blocks = blocks(&text, heading);
        ensure!(!blocks.is_empty(), "{page} has nothing to run under {heading:?}");
        let mut printed = String::new();
        for Block { line, text } in blocks {
            let output = self.run(&text).await.with_context(|| format!("{page}:{line}"))?;
            printed.push_str(&output.stdout);
        }
        Ok(printed)
    }

    /// Runs some shell as [`Reader::follow`] does: what a page leaves to its reader.
    pub async fn run(&self, script: &str) -> Result<Printed> {
        let script = format!(
            "cd \"$READER\"\n[ ! -e .exports ] || . ./.exports\n{script}\n{{ export -p; declare -f; }} >.exports\n"
        );
        let programs = self.rig.api().tools().program("");
        let wrappers = self.folder.path().join(".bin");
        let inherited = std::env::var("PATH").unwrap_or_default();
        let path = format!("{}:{}:{inherited}", wrappers.display(), programs.display());
        let kubeconfig = self.rig.api().kubeconfig_path();
        let home = self.folder.path().join(".home");
        let (kubeconfig, home) = (kubeconfig.to_string_lossy(), home.to_string_lossy());
        let folder = self.folder.path().to_string_lossy();
        let env = [
            ("READER", folder.as_ref()),
            ("PATH", path.as_str()),
            ("KUBECONFIG", kubeconfig.as_ref()),
            ("XDG_CONFIG_HOME", home.as_ref()),
            // clusterctl would check for newer versions on the internet; make would build what the tests were built
            // with.
            ("CLUSTERCTL_DISABLE_VERSIONCHECK", "true"),
            ("GOPROXY", "off"),
            ("MAKEFLAGS", "build_xtask=true"),
        ];
        run(Path::new("bash"), ["-euo", "pipefail", "-c", &script], &env, "").await
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The blocks of shell below a heading, up to the next one of its level or above.
fn blocks(page: &str, heading: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut level = None;
    // Within a fenced block: whether it is one to run.
    let mut fence: Option<bool> = None;
    for (index, line) in page.lines().enumerate() {
        if let Some(language) = line.strip_prefix("```") {
            fence = if fence.is_some() { None } else { Some(language == "sh" && level.is_some()) };
            if fence == Some(true) {
                blocks.push(Block { line: index + 2, text: String::new() });
            }
        } else if fence == Some(true) {
            if let Some(block) = blocks.last_mut() {
                block.text.push_str(line);
                block.text.push('\n');
            }
        } else if fence.is_none() && line.starts_with('#') {
            let depth = line.chars().take_while(|&c| c == '#').count();
            if line.trim_start_matches('#').trim() == heading {
                level = Some(depth);
            } else if level.is_some_and(|level| depth <= level) {
                level = None;
            }
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_shell_of_the_section_and_its_subsections_is_run() {
        let page = "# Page\n```sh\nzero\n```\n## One\n```sh\n# no heading\none\n```\n```yaml\nno: shell\n```\n\
                    ### Deeper\n```sh\ntwo\nthree\n```\n## Two\n```sh\nfour\n```\n";
        let found = blocks(page, "One");
        let texts: Vec<(usize, &str)> = found.iter().map(|it| (it.line, it.text.as_str())).collect();
        assert_eq!(texts, [(7, "# no heading\none\n"), (15, "two\nthree\n")]);
        assert_eq!(blocks(page, "Page").len(), 4);
        assert_eq!(blocks(page, "Three"), []);
    }
}
