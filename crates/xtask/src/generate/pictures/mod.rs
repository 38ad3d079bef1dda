//! docs/images: the pictures of the documentation, as SVG.
//!
//! * [`subjects`]: what the diagrams show, in a few lines each;
//! * [`boxes`], [`sequence`]: the two kinds of diagrams;
//! * [`screen`]: a terminal with a golden file of the kubectl plugin;
//! * [`grid`]: the layout of a dashboard;
//! * [`plot`]: measured values, for pages that a benchmark writes; none of them is in docs/images;
//! * [`canvas`]: what they are drawn on. It refuses pictures in which something overlaps or does not fit.

mod boxes;
mod canvas;
mod grid;
mod plot;
mod screen;
mod sequence;
mod subjects;
#[cfg(test)]
mod tests;

pub use plot::{Axis, Join, Line, Mark, Plot, Scale, short};

use super::{Generated, dashboards};
use anyhow::{Context as _, Result};
use std::path::Path;
use subjects::{flows, machine, parts};

pub(super) const FOLDER: &str = "docs/images";
/// What `kubectl foo status` prints, by its own tests.
const STATUS: &str = include_str!("../../../../kubectl-foo/tests/golden/status-rolling.txt");

pub(super) fn files() -> Result<Vec<Generated>> {
    let diagrams = [
        ("components", parts::components()?),
        ("machine", machine::life()?),
        ("pass", flows::pass()?),
        ("roll-out", flows::roll_out()?),
        ("drain", flows::drain()?),
        ("drain-by-aws", flows::drain_by_aws()?),
        ("takeover", flows::takeover()?),
        ("status-watch", status_watch()?),
    ];
    let mut files: Vec<Generated> = diagrams.map(|(name, text)| file(name, text)).into();
    for dashboard in dashboards::files()? {
        let path = Path::new(&dashboard.path);
        if path.extension().is_some_and(|it| it == "json") {
            let name = path.file_stem().and_then(|it| it.to_str()).context("a dashboard without a name")?;
            files.push(file(&format!("dashboard-{name}"), grid::drawn(&dashboard.text)?));
        }
    }
    Ok(files)
}

fn file(name: &str, text: String) -> Generated {
    Generated { path: format!("{FOLDER}/{name}.svg"), text }
}

fn status_watch() -> Result<String> {
    screen::drawn(
        "kubectl foo status --watch",
        "The output of the plugin during a roll-out: the Cluster, its control plane, network and pool as a tree, each with \
         its condition, since when, and what is under way; below the pool the Machines that are drained, outdated or new.",
        "kubectl foo status --watch",
        STATUS,
    )
}
