//! `cargo xtask tidy`: what no compiler checks.
//!
//! Each check is a function from a file to sentences; only [`check`] reads the disk.

use crate::files::{self, File};
use crate::links::{headings, leads_to, targets};
use anyhow::{Result, bail};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Longest file that still is read in one sitting, in lines; longer ones are mentioned, not refused.
const LONG: usize = 600;

/// Words that stand for work that was not done. Spelled in two parts so that this file does not contain them.
const UNFINISHED: [&str; 5] = [
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("todo", "!("),
    concat!("unimplemented", "!("),
    concat!("#[ig", "nore"),
];

/// Prefixes of paths that exist only on one machine.
const MACHINE_PATHS: [&str; 4] =
    [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/ho", "me/"), concat!("/Us", "ers/")];

/// Fails with every finding; warnings are printed only.
pub fn check(root: &Path) -> Result<()> {
    let files = files::read(root)?;
    let mut findings = Vec::new();
    for file in &files {
        findings.extend(unfinished(file));
        findings.extend(machine_paths(file));
        findings.extend(spaces(file));
        findings.extend(links(file, &|path| root.join(path).exists()));
        findings.extend(lints(file));
        findings.extend(steps(file));
        findings.extend(deciders(file));
        findings.extend(crate::words::findings(&file.path, &file.text)?);
        findings.extend(crate::spelling::findings(file));
        if let Some(warning) = long(file) {
            println!("warning: {warning}");
        }
    }
    findings.extend(anchors(&files));
    let code: Vec<(&str, &str)> = files
        .iter()
        .filter(|file| crate::is_rust(&file.path) || file.path.ends_with("Cargo.toml"))
        .map(|file| (file.path.as_str(), file.text.as_str()))
        .collect();
    findings.extend(crate::unused::findings(&code)?);
    findings.extend(circles(&code)?);
    findings.extend(toolchains(&files));
    if findings.is_empty() {
        println!("{} files are tidy", files.len());
        return Ok(());
    }
    bail!("not tidy:\n  {}", findings.join("\n  "))
}

/// Files and modules of one crate that need each other.
fn circles(code: &[(&str, &str)]) -> Result<Vec<String>> {
    let crates = code.iter().filter_map(|(path, _)| path.strip_suffix("/Cargo.toml"));
    let mut findings = Vec::new();
    for name in crates {
        let folder = format!("{name}/src");
        let rust = || code.iter().copied().filter(|(path, _)| crate::is_rust(path));
        findings.extend(crate::imports::module_circles(&folder, rust())?.iter().map(ToString::to_string));
        findings.extend(crate::imports::circles(&folder, rust())?.iter().map(ToString::to_string));
    }
    Ok(findings)
}

fn unfinished(file: &File) -> Vec<String> {
    if !file.is_code() {
        return Vec::new();
    }
    let found = file.lines().flat_map(|(number, line)| {
        UNFINISHED.iter().filter(move |word| line.contains(**word)).map(move |word| (number, word))
    });
    found.map(|(number, word)| format!("{}:{number}: {word}", file.path)).collect()
}

fn machine_paths(file: &File) -> Vec<String> {
    let mut findings = Vec::new();
    for (number, line) in file.lines() {
        for start in MACHINE_PATHS {
            // `./home/` or `x/work/` are parts of other paths.
            let absolute = line.match_indices(start).any(|(at, _)| {
                !line
                    .get(..at)
                    .and_then(|before| before.chars().last())
                    .is_some_and(|c| c.is_alphanumeric() || "._-}/".contains(c))
            });
            if absolute {
                findings.push(format!("{}:{number}: a path of one machine ({start}…)", file.path));
            }
        }
    }
    findings
}

fn spaces(file: &File) -> Vec<String> {
    let mut findings: Vec<String> = file
        .lines()
        .filter(|(_, line)| line.trim_end() != *line)
        .map(|(number, _)| format!("{}:{number}: trailing space", file.path))
        .collect();
    if !file.text.is_empty() && !file.text.ends_with('\n') {
        findings.push(format!("{}: no newline at the end", file.path));
    }
    findings
}

fn long(file: &File) -> Option<String> {
    let lines = file.text.lines().count();
    (file.ends_with(&["rs", "sh"]) && lines > LONG).then(|| format!("{} has {lines} lines", file.path))
}

/// Relative links of Markdown files.
fn links(file: &File, exists: &dyn Fn(&Path) -> bool) -> Vec<String> {
    targets(file)
        .into_iter()
        .map(|(number, target)| (number, target.split('#').next().unwrap_or_default()))
        .filter(|(_, path)| !path.is_empty() && !exists(Path::new(&leads_to(file, path))))
        .map(|(number, path)| format!("{}:{number}: link to {path}, which is not there", file.path))
        .collect()
}

/// Anchors of links between Markdown files: each is a heading there.
fn anchors(files: &[File]) -> Vec<String> {
    let pages: BTreeMap<&str, BTreeSet<String>> = files
        .iter()
        .filter(|file| file.ends_with(&["md"]))
        .map(|file| (file.path.as_str(), headings(file)))
        .collect();
    let mut findings = Vec::new();
    for file in files {
        for (number, target) in targets(file) {
            let Some((path, anchor)) = target.split_once('#') else { continue };
            let there = pages.get(leads_to(file, path).as_str());
            if there.is_some_and(|headings| !headings.contains(anchor)) {
                findings
                    .push(format!("{}:{number}: link to {target}, but there is no such heading", file.path));
            }
        }
    }
    findings
}

/// Every crate takes the workspace's lints.
fn lints(file: &File) -> Vec<String> {
    if !file.path.ends_with("/Cargo.toml") {
        return Vec::new();
    }
    let inherits = toml::from_str::<toml::Table>(&file.text)
        .ok()
        .and_then(|manifest| manifest.get("lints")?.get("workspace")?.as_bool());
    if inherits == Some(true) {
        Vec::new()
    } else {
        vec![format!("{}: no [lints] workspace = true", file.path)]
    }
}

/// Only the manager depends on the planner: for nouns there is the crate `model`.
fn deciders(file: &File) -> Option<String> {
    let others = file.ends_with(&["toml"]) && file.path.contains('/');
    let decides =
        ["crates/planner/", "crates/controller/"].iter().any(|folder| file.path.starts_with(folder));
    let depends = file.text.lines().any(|line| line.starts_with("foo-planner"));
    (others && !decides && depends)
        .then(|| format!("{}: depends on foo-planner; nouns are in foo-model", file.path))
}

/// In the planner only `plan.rs` calls the steps: facts do not depend on decisions.
fn steps(file: &File) -> Vec<String> {
    let planner = file.path.strip_prefix("crates/planner/src/").filter(|path| crate::is_rust(path));
    if planner.is_none_or(|path| path == "plan.rs" || path.starts_with("steps/")) {
        return Vec::new();
    }
    let asks = file.lines().filter(|(_, line)| line.contains("crate::steps"));
    asks.map(|(number, _)| format!("{}:{number}: only plan.rs asks the steps", file.path)).collect()
}

/// The image is built with the toolchain that everything is tested with.
fn toolchains(files: &[File]) -> Vec<String> {
    let find = |path: &str| files.iter().find(|file| file.path == path);
    let (Some(pin), Some(image)) = (find("rust-toolchain.toml"), find("Dockerfile")) else {
        return Vec::new();
    };
    let channel = toml::from_str::<toml::Table>(&pin.text)
        .ok()
        .and_then(|pin| Some(pin.get("toolchain")?.get("channel")?.as_str()?.to_owned()));
    match channel {
        Some(version) if image.text.contains(&format!("rust:{version}-")) => Vec::new(),
        version => {
            vec![format!("Dockerfile: not built with the pinned toolchain {}", version.unwrap_or_default())]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> File {
        File { path: path.into(), text: text.into() }
    }

    #[test]
    fn unfinished_work_is_found_in_code_and_not_in_prose() {
        let text = format!("fine\n// {} later\n", UNFINISHED[0]);
        assert_eq!(unfinished(&file("a/b.rs", &text)).len(), 1);
        assert_eq!(unfinished(&file("Makefile", &text)).len(), 1);
        assert!(unfinished(&file("docs/a.md", &text)).is_empty());
    }

    #[test]
    fn paths_of_one_machine_are_found_and_parts_of_other_paths_are_not() {
        let check = |line: String, expected: usize| {
            assert_eq!(machine_paths(&file("a", &line)).len(), expected, "{line}");
        };
        check(format!("cd {}main\n", MACHINE_PATHS[0]), 1);
        check(format!("\"{}.cargo\"\n", MACHINE_PATHS[1]), 1);
        check(format!("dir{}x ${{A}}{}x\n", MACHINE_PATHS[0], MACHINE_PATHS[1]), 0);
    }

    #[test]
    fn trailing_spaces_and_missing_newlines_are_found() {
        assert_eq!(spaces(&file("a", "x \ny\n")).len(), 1);
        assert_eq!(spaces(&file("a", "x")).len(), 1);
        assert!(spaces(&file("a", "x\n\ny\n")).is_empty());
    }

    #[test]
    fn links_are_relative_to_their_file() {
        let exists = |path: &Path| path == Path::new("docs/b.md");
        let text =
            "[a](b.md#x) [`b`](c.md) [c](https://example.com) [d](#here) `[a](-)?`\n```\n[e](f.md)\n```\n";
        assert_eq!(
            links(&file("docs/a.md", text), &exists),
            ["docs/a.md:1: link to c.md, which is not there"]
        );
    }

    #[test]
    fn anchors_are_headings_of_the_page_they_lead_to() {
        let files = [
            file("docs/a.md", "# A page\n[a](#a-page) [b](../b.md#what-it-costs) [c](../b.md#gone)\n"),
            file("b.md", "## What it `costs`?\n```\n# Gone\n```\n"),
        ];
        assert_eq!(anchors(&files), ["docs/a.md:2: link to ../b.md#gone, but there is no such heading"]);
    }

    #[test]
    fn crates_inherit_the_lints() {
        assert!(lints(&file("crates/a/Cargo.toml", "[lints]\nworkspace = true\n")).is_empty());
        assert_eq!(lints(&file("crates/a/Cargo.toml", "[package]\n")).len(), 1);
        assert!(lints(&file("Cargo.toml", "")).is_empty());
    }

    #[test]
    fn only_the_plan_asks_the_steps() {
        let asks = "use crate::steps::group;\n";
        let found = |path: &str| steps(&file(path, asks)).len();
        assert_eq!(found("crates/planner/src/situation/rollout.rs"), 1);
        assert_eq!(found("crates/planner/src/plan.rs") + found("crates/planner/src/steps/size.rs"), 0);
    }

    #[test]
    fn only_the_manager_depends_on_the_planner() {
        let depends =
            |path: &str| deciders(&file(path, "[dependencies]\nfoo-planner.workspace = true\n")).is_some();
        assert!(depends("crates/simulator/Cargo.toml"));
        assert!(!depends("crates/controller/Cargo.toml") && !depends("Cargo.toml"));
    }

    #[test]
    fn the_image_is_built_with_the_pinned_toolchain() {
        let pin = || file("rust-toolchain.toml", "[toolchain]\nchannel = \"1.2.3\"\n");
        assert!(toolchains(&[pin(), file("Dockerfile", "FROM rust:1.2.3-alpine\n")]).is_empty());
        assert_eq!(toolchains(&[pin(), file("Dockerfile", "FROM rust:1.2.4-alpine\n")]).len(), 1);
    }
}
