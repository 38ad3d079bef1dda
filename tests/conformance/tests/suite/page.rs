//! The simulator's web page in headless Chromium.

use crate::TARGET;
use anyhow::{Context as _, Result};
use foo_conformance::python::{self, run};
use foo_simulator::{Handle, SimulatorConfig};
use std::path::PathBuf;

/// Names that Chromium goes by.
const BROWSERS: &[&str] = &["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
/// Another program, if those are not it.
const BROWSER_VARIABLE: &str = "FOO_CHROMIUM";
/// Where screenshots of the page are wanted, if anywhere.
const SCREENSHOT_VARIABLE: &str = "FOO_SCREENSHOT";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_shows_what_happens() -> Result<()> {
    let aws = Handle::start(SimulatorConfig::stepped()).await?;
    let mut command = python::script(TARGET.as_ref(), "page.py").await?;
    command.arg(browser()?).arg(aws.endpoint());
    if let Some(path) = std::env::var_os(SCREENSHOT_VARIABLE) {
        command.arg(path);
    }
    run(&mut command).await.context("the page is not as it should be")
}

fn browser() -> Result<PathBuf> {
    if let Some(program) = std::env::var_os(BROWSER_VARIABLE) {
        return Ok(program.into());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .flat_map(|folder| BROWSERS.iter().map(move |name| folder.join(name)))
        .find(|program| program.is_file());
    found.with_context(|| {
        format!("there is no Chromium: `make browser` installs Debian's, {BROWSER_VARIABLE} names another")
    })
}
