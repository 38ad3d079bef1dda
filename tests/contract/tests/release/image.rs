//! A real registry takes the image of a release, and what it gives back runs.

use super::{VERSION, printed, tool};
use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A registry that keeps images in memory, until this is dropped.
struct Registry {
    process: Child,
    address: String,
}

impl Registry {
    fn start() -> Result<Self> {
        let mut process = tool("crane")
            .args(["registry", "serve", "--address", "127.0.0.1:0"])
            .stderr(Stdio::piped())
            .spawn()
            .context("starting the registry")?;
        let mut log = BufReader::new(process.stderr.take().context("no log")?).lines();
        let mut registry = Self { process, address: String::new() };
        let port = log.find_map(|line| Some(line.ok()?.split_once("serving on port ")?.1.to_owned()));
        registry.address = format!("127.0.0.1:{}", port.context("the registry does not serve")?);
        // It ends when its log cannot be written.
        std::thread::spawn(move || log.for_each(drop));
        Ok(registry)
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        let _ended = self.process.kill();
        let _status = self.process.wait();
    }
}

fn crane(arguments: &[&str]) -> Result<String> {
    Ok(printed(tool("crane").args(arguments))?.trim().to_owned())
}

/// Programs that print what they are, in place of those of a release.
fn programs(out: &Path) -> Result<()> {
    for name in ["foo-manager", "foo-extension"] {
        let folder = out.join(name).join(VERSION);
        std::fs::create_dir_all(&folder)?;
        for architecture in ["x86_64", "aarch64"] {
            let program = folder.join(format!("{name}-{architecture}-unknown-linux-musl"));
            std::fs::write(program, format!("#!/bin/sh\necho {name} for {architecture}\n"))?;
        }
    }
    Ok(())
}

#[test]
fn a_registry_takes_the_image_and_what_it_gives_back_runs() -> Result<()> {
    let out = tempfile::tempdir()?;
    programs(out.path())?;
    let layout = xtask::image::write(&xtask::root(), VERSION, out.path())?;
    let registry = Registry::start()?;
    let image = format!("{}/cluster-api-provider-foo:{VERSION}", registry.address);
    crane(&["push", &layout.display().to_string(), &image])?;
    let index: Value = serde_json::from_slice(&std::fs::read(layout.join("index.json"))?)?;
    assert_eq!(crane(&["digest", &image])?, index["manifests"][0]["digest"]);

    for (platform, architecture) in [("linux/amd64", "x86_64"), ("linux/arm64", "aarch64")] {
        crane(&["validate", "--platform", platform, "--remote", &image])?;
        let config: Value = serde_json::from_str(&crane(&["config", "--platform", platform, &image])?)?;
        assert_eq!(config["config"]["User"], "65532:65532");
        assert_eq!(config["config"]["Entrypoint"][0], "/manager");
        let folder = tempfile::tempdir()?;
        let archive = folder.path().join("files.tar").display().to_string();
        crane(&["export", "--platform", platform, &image, &archive])?;
        printed(Command::new("tar").args(["-xf", &archive]).current_dir(folder.path()))?;
        for (path, name) in [("manager", "foo-manager"), ("extension", "foo-extension")] {
            let text = printed(&mut Command::new(folder.path().join(path)))?;
            assert_eq!(text, format!("{name} for {architecture}\n"));
        }
        let authorities = std::fs::read_to_string(folder.path().join("etc/ssl/certs/ca-certificates.crt"))?;
        let certificates = authorities.matches("-----BEGIN CERTIFICATE-----").count();
        ensure!(certificates > 50, "{certificates} certificate authorities");
    }
    Ok(())
}
