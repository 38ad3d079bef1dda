use super::*;
use crate::sbom;
use std::os::unix::fs::PermissionsExt as _;

const VERSION: &str = "v0.1.0";

/// A release with programs for these targets, which print their names.
fn release(targets: &[&str]) -> tempfile::TempDir {
    let out = tempfile::tempdir().unwrap();
    for Program { name, .. } in PROGRAMS {
        let folder = out.path().join(name).join(VERSION);
        std::fs::create_dir_all(&folder).unwrap();
        for target in targets {
            let program = folder.join(format!("{name}-{target}"));
            std::fs::write(&program, format!("#!/bin/sh\n# {target}\necho {name}\n")).unwrap();
            // The image decides who may run it.
            std::fs::set_permissions(program, std::fs::Permissions::from_mode(0o600)).unwrap();
        }
    }
    out
}

fn all() -> Vec<&'static str> {
    linux().map(|(target, _)| target).collect()
}

fn written(out: &Path) -> Vec<(String, String)> {
    let folder = write(&crate::root(), VERSION, out).unwrap();
    crate::checksums::of(&folder).unwrap()
}

#[test]
fn the_programs_in_the_image_run() {
    let out = release(&all());
    written(out.path());
    let lines = check(VERSION, out.path()).unwrap();
    assert_eq!(lines.len(), all().len(), "{lines:?}");
    let ran = lines.iter().filter(|line| line.ends_with(": foo-manager, foo-extension")).count();
    let own = all().iter().filter(|target| target.starts_with(std::env::consts::ARCH)).count();
    assert_eq!(ran, own, "{lines:?}");
}

#[test]
fn the_same_programs_give_the_same_image() {
    let [one, other] = [release(&all()), release(&all())];
    assert_eq!(written(one.path()), written(other.path()));
    // Nothing of an earlier image stays.
    let manager =
        other.path().join("foo-manager").join(VERSION).join(format!("foo-manager-{}", sbom::TARGET));
    std::fs::write(manager, "another one").unwrap();
    let changed = written(other.path());
    assert_eq!(changed.len(), written(one.path()).len());
    assert_ne!(changed, written(one.path()));
}

#[test]
fn a_platform_without_one_of_the_programs_is_an_error_and_one_without_any_is_left_out() {
    let out = release(&[sbom::TARGET]);
    written(out.path());
    assert_eq!(check(VERSION, out.path()).unwrap().len(), 1);
    std::fs::remove_file(
        out.path().join("foo-extension").join(VERSION).join(format!("foo-extension-{}", sbom::TARGET)),
    )
    .unwrap();
    let error = write(&crate::root(), VERSION, out.path()).unwrap_err().to_string();
    assert!(error.contains("only 1 of the programs"), "{error}");
    let error = write(&crate::root(), "v0.2.0", out.path()).unwrap_err().to_string();
    assert!(error.contains("no programs of v0.2.0"), "{error}");
}

#[test]
fn a_blob_that_was_changed_is_found() {
    let out = release(&[sbom::TARGET]);
    let folder = out.path().join(FOLDER).join(VERSION);
    for (path, _) in written(out.path()).iter().filter(|(path, _)| path.starts_with("blobs/")) {
        let path = folder.join(path);
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, [bytes.as_slice(), b" "].concat()).unwrap();
        let error = check(VERSION, out.path()).unwrap_err().to_string();
        assert!(error.contains("has another digest"), "{error}");
        std::fs::write(&path, bytes).unwrap();
    }
    check(VERSION, out.path()).unwrap();
}
