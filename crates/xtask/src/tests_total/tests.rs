//! Which tests run in which process, and what the report has of them.

use super::*;

#[test]
fn the_counts_of_all_binaries_are_added() {
    let mut total = Total::default();
    for line in [
        "running 3 tests",
        "test a::b ... ok <0.250s>",
        "test a::c ... FAILED <12.500s>",
        "test a::d ... FAILED",
        "test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
        "test result: ok. 40 passed; 0 failed; 2 ignored; 0 measured; 0 filtered out; finished in 1.25s",
        "test result: what a test printed",
    ] {
        let mut own = Total::default();
        own.read(line);
        total.add(own);
    }
    let failures = vec!["a::c".to_owned(), "a::d".to_owned()];
    let tests = vec![(0.25, "a::b".to_owned()), (12.5, "a::c".to_owned())];
    assert_eq!(total, Total { passed: 42, failed: 1, ignored: 2, failures, tests, ..Total::default() });
}

#[test]
fn the_report_names_programs_and_the_longest_tests() {
    let mut total = Total::default();
    total.programs.insert("a/short".to_owned(), Took { wall: 2, processor: Some(1.6) });
    total.programs.insert("a/long".to_owned(), Took { wall: 30, processor: None });
    total.tests = (0..30_u8).map(|n| (f64::from(n), format!("test_{n}"))).collect();
    let mut out = Vec::new();
    total.report(&mut out).unwrap();
    let out = String::from_utf8(out).unwrap();
    let lines: Vec<&str> = out.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(lines.len(), 1 + 2 + 1 + LONGEST, "{out}");
    assert_eq!(lines[1].split_whitespace().collect::<Vec<_>>(), ["30", "a/long"]);
    assert_eq!(lines[2].split_whitespace().collect::<Vec<_>>(), ["2", "2", "a/short"]);
    assert_eq!(lines[4].split_whitespace().collect::<Vec<_>>(), ["29.0", "test_29"]);
}

#[test]
fn the_processor_time_of_a_program_includes_that_of_its_children() {
    let work = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
    let script = format!("sh -c '{work}'; {work}");
    let (_, took) = listen("", Command::new("sh").args(["-c", &script])).unwrap();
    assert!(took.is_none_or(|seconds| seconds > 0.0), "{took:?}");
}

#[test]
fn a_test_program_is_what_cargo_built_for_tests() {
    let line = |test: bool| {
        format!(
            r#"{{"reason":"compiler-artifact","manifest_path":"/x/tests/e2e/Cargo.toml","target":{{"name":"e2e"}},
                "profile":{{"test":{test}}},"executable":"/x/e2e-1"}}"#
        )
    };
    let found = program(&line(true)).unwrap();
    assert_eq!((found.name.as_str(), found.is_end_to_end(), found.waits()), (END_TO_END_PROGRAM, true, true));
    assert_eq!(program(&line(false)), None);
    assert_eq!(program(r#"{"reason":"build-finished","success":true}"#), None);
}

#[test]
fn each_module_of_the_end_to_end_tests_runs_as_a_program_with_exactly_its_tests() {
    let program = Program {
        name: END_TO_END_PROGRAM.to_owned(),
        folder: END_TO_END.into(),
        executable: "e2e".into(),
        module: None,
    };
    let list = "admission::eks::life::a: test\neks::crashes::b: test\neks::life::c: test\n";
    let modules = program.modules(list).unwrap();
    let names: Vec<&str> = modules.iter().map(|module| module.name.as_str()).collect();
    assert_eq!(names, ["e2e/admission", "e2e/eks"]);
    assert_eq!(modules[1].selection(When::Always), ["--exact", "eks", "eks::life::c"]);
    assert_eq!(modules[1].selection(When::BeforeARelease), ["--exact", "eks", "eks::crashes::b"]);
    assert_eq!(modules[0].selection(When::BeforeARelease), ["--exact", "admission"]);
    assert_eq!(modules[1].within("eks::life::c"), "life::c");
    assert!(program.modules("a: test").is_err());
}

#[test]
fn tests_of_other_programs_are_skipped_or_selected_by_parts_of_their_names() {
    let (name, tests) = BEFORE_A_RELEASE[0];
    let program = Program {
        name: name.to_owned(),
        folder: "controller".into(),
        executable: "suite".into(),
        module: None,
    };
    assert_eq!(program.selection(When::BeforeARelease), tests);
    assert_eq!(program.selection(When::Always)[..2], ["--skip", tests[0]]);
    assert_eq!(program.within("eks::life::c"), "eks::life::c");
}

/// Cargo compiles no other file there (`autotests = false`).
#[test]
fn every_file_of_tests_that_are_one_program_is_a_module_of_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for package in [END_TO_END, "tests/contract"] {
        let folder = root.join(package).join("tests");
        let main = std::fs::read_to_string(folder.join("main.rs")).unwrap();
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_string_lossy();
            let is_module = main.lines().any(|line| line == format!("mod {name};"));
            assert!(is_module || name == "main", "{package}/tests/main.rs does not name {}", path.display());
        }
    }
}

/// Those that match no test would be skipped for nothing, and run never.
#[test]
fn what_only_runs_before_a_release_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (program, selected) in BEFORE_A_RELEASE {
        let (package, name) = program.split_once('/').unwrap();
        let packages = if END_TO_END.ends_with(package) { "tests" } else { "crates" };
        let folder = root.join(packages).join(package).join("tests").join(name);
        for tests in selected {
            let (modules, test) = tests.rsplit_once("::").unwrap_or(("", tests));
            let mut file = folder.clone();
            file.extend(modules.split("::").filter(|module| !module.is_empty()));
            file.set_extension("rs");
            let source = std::fs::read_to_string(file).unwrap();
            let is_test = |before: &str| before.lines().last().is_some_and(|line| line.contains("test"));
            let found = source
                .match_indices(&format!("fn {test}"))
                .any(|(at, _)| is_test(source[..at].trim_end_matches("async ").trim_end()));
            assert!(found, "{program} has no {tests}");
        }
    }
}

#[test]
fn a_command_that_is_killed_is_a_failure() {
    let script = "echo 'test result: ok. 3 passed; 0 failed'; kill -9 $$";
    let (total, _) = listen("", Command::new("sh").args(["-c", script])).unwrap();
    assert_eq!((total.passed, total.failed, total.failures.len()), (3, 1, 1));
}
