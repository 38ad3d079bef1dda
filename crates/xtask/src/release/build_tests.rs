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

/// Signs the checksums in a folder with that key, and returns what the script prints.
fn sign(folder: &Path, key: Option<&str>) -> String {
    let mut script = std::process::Command::new(crate::root().join("hack/sign.sh"));
    script.arg(folder).env_remove("FOO_SIGNING_KEY_FILE").env_remove("FOO_SIGNING_KEY");
    let run = script.envs(key.map(|key| ("FOO_SIGNING_KEY", key))).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    String::from_utf8(run.stdout).unwrap()
}

fn openssl(arguments: &[&str], folder: &Path) -> (bool, String) {
    let run = std::process::Command::new("openssl").args(arguments).current_dir(folder).output().unwrap();
    (run.status.success(), String::from_utf8_lossy(&run.stdout).into_owned())
}

#[test]
fn checksums_are_signed_with_the_key_of_the_environment_and_not_without_one() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("file"), "content").unwrap();
    checksums::write(folder).unwrap();
    let sums = read(folder, checksums::NAME).unwrap();
    assert!(sign(folder, None).contains("is not signed"));
    assert!(!folder.join("SHA256SUMS.sig").exists());
    for algorithm in [["EC", "ec_paramgen_curve:P-256"], ["RSA", "rsa_keygen_bits:2048"]] {
        let generate = ["genpkey", "-algorithm", algorithm[0], "-pkeyopt", algorithm[1]];
        let (_, key) = openssl(&generate, folder);
        let printed = sign(folder, Some(&key));
        assert!(printed.contains("is signed") && !printed.contains("PRIVATE"), "{printed}");
        let decode = ["base64", "-d", "-A", "-in", "SHA256SUMS.sig", "-out", "signature"];
        assert!(openssl(&decode, folder).0);
        let verify =
            ["dgst", "-sha256", "-verify", "SHA256SUMS.pub", "-signature", "signature", checksums::NAME];
        assert!(openssl(&verify, folder).0, "{algorithm:?}");
        std::fs::write(folder.join(checksums::NAME), format!("{sums}more\n")).unwrap();
        assert!(!openssl(&verify, folder).0, "it is signed, whatever it is");
        std::fs::write(folder.join(checksums::NAME), &sums).unwrap();
    }
    std::fs::remove_file(folder.join("signature")).unwrap();
    checksums::write(folder).unwrap();
    assert_eq!(read(folder, checksums::NAME).unwrap(), sums, "a signature is not among what it signs");
    sign(folder, None);
    assert!(!folder.join("SHA256SUMS.sig").exists(), "that of an earlier release");
}

/// Workflows run what a maintainer runs, by actions that cannot change.
#[test]
fn workflows_run_targets_that_there_are() {
    let root = crate::root();
    let makefile = read(&root, "Makefile").unwrap();
    let targets: Vec<&str> = makefile
        .lines()
        .filter(|line| !line.starts_with(['\t', '#', ' ']) && !line.contains(":="))
        .filter_map(|line| Some(line.split_once(':')?.0))
        .collect();
    let mut runs = 0;
    for file in ["check.yaml", "release.yaml"] {
        let text = read(&root, &format!(".github/workflows/{file}")).unwrap();
        let workflow = yaml::parse(&text).unwrap().remove(0);
        assert!(workflow["permissions"]["contents"] == "read", "{file}: rights are given to single jobs");
        for job in workflow["jobs"].as_object().unwrap().values() {
            assert!(job["timeout-minutes"].is_u64(), "{file}: a job without a deadline");
            let matrix = job["strategy"]["matrix"]["include"].as_array().into_iter().flatten();
            let chosen = matrix.filter_map(|it| it["make"].as_str()).map(|it| format!("make {it}"));
            let steps = job["steps"].as_array().unwrap();
            let run = steps.iter().filter_map(|step| step["run"].as_str()).map(str::to_owned);
            // A package manager installs make itself.
            for command in run.chain(chosen).filter(|it| !it.contains("brew install")) {
                let words: Vec<&str> = command.split_whitespace().collect();
                let made =
                    words.windows(2).filter(|it| it[0] == "make" && it[1].starts_with(char::is_alphabetic));
                for target in made.map(|it| it[1]) {
                    assert!(targets.contains(&target), "{file}: make has no {target}");
                    runs += 1;
                }
                for script in words.iter().filter(|it| it.starts_with('.') || it.starts_with("hack/")) {
                    assert!(root.join(script).exists(), "{file}: there is no {script}");
                    runs += 1;
                }
            }
            for action in steps.iter().filter_map(|step| step["uses"].as_str()) {
                let (_, commit) = action.split_once('@').unwrap();
                let is_commit = commit.len() == 40 && commit.chars().all(|c| c.is_ascii_hexdigit());
                assert!(is_commit, "{file}: {action} names no commit");
            }
        }
    }
    assert!(runs >= 5, "{runs}");
}
