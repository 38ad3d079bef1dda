//! How the programs and the image of a release are built. Nothing is built here: make says what it would run.

use super::tests::{objects, of_kind};
use super::*;

/// The instructions of the Dockerfile: a keyword and what it says.
fn instructions() -> Vec<(String, String)> {
    let text = read(&crate::root(), "Dockerfile").unwrap();
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    let lines = lines.join("\n").replace("\\\n", " ");
    lines.lines().filter_map(|line| line.split_once(' ')).map(|(a, b)| (a.to_owned(), b.to_owned())).collect()
}

/// What such a keyword says last: that is what holds for the image.
fn said_last(keyword: &str) -> String {
    let said = instructions().into_iter().rfind(|(name, _)| name == keyword);
    said.unwrap_or_else(|| panic!("the Dockerfile has no {keyword}")).1
}

/// The lines that a command would have make run. They are printed only: nothing is built.
fn dry_run(command: &str) -> Vec<String> {
    let mut shell = std::process::Command::new("bash");
    let run = shell.args(["-c", command]).current_dir(crate::root()).env("MAKEFLAGS", "n").output().unwrap();
    assert!(run.status.success(), "{command}: {}", String::from_utf8_lossy(&run.stderr));
    String::from_utf8(run.stdout).unwrap().lines().map(str::to_owned).collect()
}

/// Those of them that compile a program in its released form.
fn released_builds(command: &str) -> Vec<String> {
    dry_run(command)
        .into_iter()
        .filter(|line| line.contains("cargo build") && line.contains("--release"))
        .collect()
}

/// The image can be built only where there is a container engine. So what its build would run is asked of make.
#[test]
fn the_image_has_the_programs_of_a_release() {
    let run = instructions()
        .into_iter()
        .find_map(|(name, commands)| (name == "RUN" && commands.starts_with("make ")).then_some(commands))
        .unwrap();
    let compile = run.split(" && ").next().unwrap();
    let in_image = released_builds(compile);
    assert_eq!(in_image.len(), 2, "manager and extension: {in_image:#?}");
    let machine = format!("{}-unknown-linux-musl", std::env::consts::ARCH);
    let in_release = released_builds("make release");
    for build in in_image {
        assert!(build.contains(&format!("--target {machine} ")), "{build}");
        let build = build.replace(&machine, sbom::TARGET);
        assert!(in_release.contains(&build), "{build}\n{in_release:#?}");
    }
    for program in ["foo-manager", "foo-extension"] {
        let placed = format!("/{program}-{}", sbom::TARGET);
        let installs = dry_run("make release").join(" ").replace("$program", program);
        assert!(installs.contains(&placed), "the SBOM is of another program: {installs}");
    }
}

#[test]
fn the_image_runs_as_the_user_whom_the_deployments_name() {
    for entry in &ENTRIES {
        let objects = objects(entry);
        let security = &of_kind(&objects, "Deployment")[0]["spec"]["template"]["spec"]["securityContext"];
        let user = format!("{}:{}", security["runAsUser"], security["runAsGroup"]);
        assert_eq!((said_last("USER"), crate::image::USER), (user.clone(), user.as_str()));
    }
}

/// A tag may lead to other bytes tomorrow.
#[test]
fn the_image_is_built_from_bases_that_cannot_change() {
    let bases: Vec<String> =
        instructions().into_iter().filter_map(|(name, base)| (name == "FROM").then_some(base)).collect();
    assert!(!bases.is_empty());
    for base in bases {
        let digest =
            base.split_once("@sha256:").and_then(|(_, rest)| rest.split(' ').next()).unwrap_or_default();
        assert!(digest.len() == 64 && digest.chars().all(|c| c.is_ascii_hexdigit()), "{base}");
    }
}

#[test]
fn programs_of_a_release_are_built_from_the_lock_file_and_without_paths_of_the_machine() {
    let root = crate::root();
    let builds = released_builds("make release");
    assert_eq!(builds.len(), 3, "{builds:#?}");
    for build in builds {
        for wanted in ["--locked", "--release", "--remap-path-prefix="] {
            assert!(build.contains(wanted), "{wanted}: {build}");
        }
        for folder in [
            format!("{}=/src", root.canonicalize().unwrap().display()),
            "=/cargo".to_owned(),
            "=/rust".to_owned(),
        ] {
            assert!(build.contains(&folder), "{folder}: {build}");
        }
    }
    let workspace: toml::Table = toml::from_str(&read(&root, "Cargo.toml").unwrap()).unwrap();
    assert_eq!(workspace["profile"]["release"]["overflow-checks"].as_bool(), Some(true));
}

/// Krew unpacks the archive that the manifest names: the program has to be in it by its own name.
#[test]
fn the_archive_for_krew_has_the_program_and_the_license_and_the_same_bytes_every_time() {
    let lines = dry_run("make release");
    let place =
        |what: &str| lines.iter().position(|line| line.contains(what)).unwrap_or_else(|| panic!("no {what}"));
    assert!(place("tar --create") < place("xtask krew") && place("xtask krew") < place("xtask checksums"));
    // Make prints a command as it is written, in several lines.
    let lines = lines.join("\n").replace("\\\n", " ");
    let pack = lines.lines().find(|line| line.contains("tar --create")).unwrap().trim_start_matches('@');
    let packed = |mode: u32| {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let release = folder.path().join("dist/kubectl-foo/v0.1.0");
        std::fs::create_dir_all(&release).unwrap();
        let program = release.join(format!("kubectl-foo-{}", sbom::TARGET));
        std::fs::write(&program, "a program").unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(mode)).unwrap();
        let bash = |command: &str, folder: &Path| {
            let run = std::process::Command::new("bash")
                .args(["-c", command])
                .current_dir(folder)
                .output()
                .unwrap();
            assert!(run.status.success(), "{command}: {}", String::from_utf8_lossy(&run.stderr));
            String::from_utf8(run.stdout).unwrap()
        };
        bash(pack, folder.path());
        let archive = format!("{}.tar.gz", program.display());
        assert_eq!(bash(&format!("tar --list --file={archive}"), folder.path()), "kubectl-foo\nLICENSE\n");
        let listed = bash(&format!("tar --list --verbose --file={archive}"), folder.path());
        assert!(listed.starts_with("-rwxr-xr-x 0/0"), "{listed}");
        std::fs::read(archive).unwrap()
    };
    assert!(packed(0o755) == packed(0o700), "it depends on the machine");
}
