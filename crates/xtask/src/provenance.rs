//! A statement of what a release was built from: in-toto's Statement v1 with SLSA's provenance v1 as predicate.
//!
//! It names the commit, every crate of Cargo.lock with its checksum, the toolchain, and the parameters of `make
//! release`. It is not signed, and names the builder that the person who runs it sets: the signer of the checksums
//! vouches for both (docs/operations/release.md). No time and no random number: the same sources give the same bytes.

use crate::targets::PLATFORMS;
use crate::{checksums, git, graph, sbom, yaml};
use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Folder in a release, beside those of the programs.
pub const FOLDER: &str = "provenance";
const NAME: &str = "provenance.intoto.json";
/// Documentation of the fields below.
const BUILD_TYPE: &str = "urn:cluster-api-provider-foo:make-release:v1";
/// The builder id of an unknown machine.
const BUILDER: &str = "urn:cluster-api-provider-foo:builder:unknown";
/// The variable with which a build service identifies itself, as a URI.
const BUILDER_VARIABLE: &str = "FOO_BUILDER_ID";

/// Writes the statement on one version of a release, and returns its path.
pub fn write(root: &Path, version: &str, image: &str, out: &Path) -> Result<PathBuf> {
    let subjects = subjects(out, version)?;
    let folder = out.join(FOLDER).join(version);
    std::fs::create_dir_all(&folder).with_context(|| format!("creating {}", folder.display()))?;
    let builder = std::env::var(BUILDER_VARIABLE).ok().filter(|id| !id.is_empty());
    let statement = json!({
        "_type": "https://in-toto.io/Statement/v1",
        "subject": subjects,
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": BUILD_TYPE,
                "externalParameters": {"version": version, "image": image, "targets": targets_of(out, version)},
                "internalParameters": {"toolchain": toolchain(root)?},
                "resolvedDependencies": materials(root)?,
            },
            "runDetails": {"builder": {"id": builder.as_deref().unwrap_or(BUILDER)}},
        },
    });
    let path = folder.join(NAME);
    save(&path, &statement)?;
    Ok(path)
}

/// Updates every statement of a release with the present files of its version: programs are added after it.
pub fn complete(out: &Path) -> Result<()> {
    let Ok(versions) = std::fs::read_dir(out.join(FOLDER)) else { return Ok(()) };
    for version in versions {
        let version = version.context("listing the statements of provenance")?;
        let path = version.path().join(NAME);
        let text = std::fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
        let mut statement: Value = serde_json::from_str(&text).context("no statement of provenance")?;
        let name = version.file_name();
        let name = name.to_str().context("a version that is not UTF-8")?;
        let subject = statement.pointer_mut("/subject").context("a statement about nothing")?;
        *subject = json!(subjects(out, name)?);
        let targets = "/predicate/buildDefinition/externalParameters/targets";
        *statement.pointer_mut(targets).context("no targets")? = json!(targets_of(out, name));
        save(&path, &statement)?;
    }
    Ok(())
}

/// The targets whose manager is in a release.
fn targets_of(out: &Path, version: &str) -> Vec<&'static str> {
    let folder = out.join("foo-manager").join(version);
    let targets = PLATFORMS.into_iter().map(|(target, ..)| target);
    targets.filter(|target| folder.join(format!("foo-manager-{target}")).exists()).collect()
}

fn save(path: &Path, statement: &Value) -> Result<()> {
    let mut text =
        serde_json::to_string_pretty(&yaml::canonical(statement)).context("writing the statement")?;
    text.push('\n');
    std::fs::write(path, text).with_context(|| format!("writing {}", path.display()))
}

/// Every file of a version, by its path in the release; not the statement itself.
fn subjects(out: &Path, version: &str) -> Result<Vec<Value>> {
    let statement = format!("{FOLDER}/{version}/{NAME}");
    let files = checksums::of(out)?;
    let of_version = files.into_iter().filter(|(path, _)| path.split('/').nth(1) == Some(version));
    let subjects: Vec<Value> = of_version
        .filter(|(path, _)| *path != statement)
        .map(|(path, sum)| json!({"name": path, "digest": {"sha256": sum}}))
        .collect();
    ensure!(!subjects.is_empty(), "{} has nothing of {version}", out.display());
    Ok(subjects)
}

fn toolchain(root: &Path) -> Result<String> {
    let text =
        std::fs::read_to_string(root.join("rust-toolchain.toml")).context("reading rust-toolchain.toml")?;
    let file: toml::Table = toml::from_str(&text).context("reading rust-toolchain.toml")?;
    let channel = file.get("toolchain").and_then(|toolchain| toolchain.get("channel")?.as_str());
    Ok(channel.context("rust-toolchain.toml names no channel")?.to_owned())
}

/// The commit, and every crate of Cargo.lock that comes from elsewhere.
fn materials(root: &Path) -> Result<Vec<Value>> {
    let mut materials = vec![sources(root)];
    for (package, source) in graph::sources(root)? {
        let (name, version) = package.split_once(' ').context("a package without version")?;
        let checksum = source.checksum.with_context(|| format!("Cargo.lock has no checksum of {package}"))?;
        materials.push(json!({"uri": sbom::purl(name, version), "digest": {"sha256": checksum}}));
    }
    Ok(materials)
}

/// The commit, and whether files differ from it. Sources that were unpacked from an archive have none.
fn sources(root: &Path) -> Value {
    let commit = git(root, &["rev-parse", "HEAD"]);
    let changed =
        git(root, &["status", "--porcelain", "--untracked-files=no"]).is_none_or(|status| !status.is_empty());
    let mut sources = json!({"name": "sources", "annotations": {"differsFromCommit": changed}});
    if let (Some(commit), Some(fields)) = (commit, sources.as_object_mut()) {
        fields.insert("digest".to_owned(), json!({"gitCommit": commit}));
    }
    sources
}

#[cfg(test)]
mod tests {
    use super::*;

    fn release() -> tempfile::TempDir {
        let out = tempfile::tempdir().unwrap();
        for folder in ["foo-manager/v0.1.0", "foo-manager/v0.2.0"] {
            std::fs::create_dir_all(out.path().join(folder)).unwrap();
            std::fs::write(out.path().join(folder).join("program"), "abc").unwrap();
        }
        out
    }

    fn read(path: &Path) -> Value {
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    }

    #[test]
    fn the_statement_covers_the_files_of_its_version_and_names_what_they_were_made_from() {
        let out = release();
        let root = crate::root();
        let path = write(&root, "v0.1.0", "registry/image", out.path()).unwrap();
        let statement = read(&path);
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(
            statement["subject"],
            json!([{"name": "foo-manager/v0.1.0/program", "digest": {"sha256": abc}}])
        );
        let build = &statement["predicate"]["buildDefinition"];
        assert_eq!(build["externalParameters"]["version"], "v0.1.0");
        assert!(build["internalParameters"]["toolchain"].as_str().unwrap().starts_with("1."));
        let materials = build["resolvedDependencies"].as_array().unwrap();
        assert_eq!(materials[0]["digest"]["gitCommit"].as_str().unwrap().len(), 40);
        assert_eq!(materials.len(), graph::sources(&root).unwrap().len() + 1);
        let tokio = materials.iter().find(|it| it["uri"].as_str().is_some_and(|uri| uri.contains("/tokio@")));
        assert_eq!(tokio.unwrap()["digest"]["sha256"].as_str().unwrap().len(), 64);
    }

    #[test]
    fn what_comes_later_is_taken_in_and_nothing_of_another_version() {
        let out = release();
        let path = write(&crate::root(), "v0.1.0", "image", out.path()).unwrap();
        let program = "foo-manager/v0.1.0/foo-manager-aarch64-unknown-linux-musl";
        std::fs::write(out.path().join(program), "").unwrap();
        complete(out.path()).unwrap();
        let statement = read(&path);
        let names: Vec<&str> =
            statement["subject"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
        assert_eq!(names, [program, "foo-manager/v0.1.0/program"]);
        let targets = &statement["predicate"]["buildDefinition"]["externalParameters"]["targets"];
        assert_eq!(targets, &json!(["aarch64-unknown-linux-musl"]));
        let first = std::fs::read(&path).unwrap();
        complete(out.path()).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), first);
    }

    #[test]
    fn a_release_of_nothing_has_no_statement() {
        let out = tempfile::tempdir().unwrap();
        assert!(write(&crate::root(), "v0.1.0", "image", out.path()).is_err());
        complete(out.path()).unwrap();
    }
}
