//! The program as a process: its exit status, and what it prints whatever `RUST_BACKTRACE` is.

use std::process::Command;

/// Runs it with a kubeconfig whose API server refuses connections. Exit status, standard output, standard error.
fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    let kubeconfig = format!("{}/tests/printed/unreachable.kubeconfig", env!("CARGO_MANIFEST_DIR"));
    let ran = Command::new(env!("CARGO_BIN_EXE_kubectl-foo"))
        .args(arguments)
        .env("RUST_BACKTRACE", "full")
        .env("KUBECONFIG", kubeconfig)
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (ran.status.code(), text(ran.stdout), text(ran.stderr))
}

#[test]
fn a_failure_is_one_line_without_backtrace() {
    for arguments in [
        &["explain", "foomp", "workers"][..],
        &["status", "--watch"],
        &["rollout", "pause", "foomp/a"],
        &["diff"],
        &["status", "-o", "wide"],
    ] {
        let (status, output, errors) = run(arguments);
        assert_eq!((status, output.as_str()), (Some(1), ""), "{errors}");
        assert!(errors.starts_with("error: could not list ") && errors.lines().count() == 1, "{errors}");
        assert!(errors.contains("in namespace team: ") && errors.contains("refused"), "{errors}");
    }
    let (status, _, errors) = run(&["status", "--context", "missing"]);
    assert_eq!((status, errors.lines().count()), (Some(1), 1), "{errors}");
}

#[test]
fn wrong_arguments_have_a_status_of_their_own() {
    for arguments in
        [&["explain", "pod/x"][..], &["explain", "-A", "workers"], &["bogus"], &["status", "--bogus"], &[]]
    {
        let (status, output, errors) = run(arguments);
        assert_eq!((status, output.as_str()), (Some(2), ""), "{arguments:?}: {errors}");
        assert!(!errors.contains("backtrace") && !errors.is_empty(), "{errors}");
    }
    // Their output has no further columns.
    for narrow in [
        &["explain"][..],
        &["plan"],
        &["diff"],
        &["support-bundle"],
        &["rollout", "pause", "workers"],
        &["completion", "bash"],
    ] {
        let (status, output, errors) = run(&[narrow, &["-o", "wide"]].concat());
        assert_eq!((status, output.as_str()), (Some(2), ""), "{narrow:?}: {errors}");
        assert!(errors.contains("wide") || errors.contains("-o"), "{errors}");
    }
    let (_, _, errors) = run(&["explain", "a\u{1b}[2J/x"]);
    assert!(errors.contains("a^[[2J is none of"), "{errors}");
    let (_, _, errors) = run(&["status", "--a\u{1b}[2J"]);
    assert!(!errors.contains('\u{1b}'), "{errors}");
}

#[test]
fn what_needs_no_cluster_works_without_one() {
    let (status, output, _) = run(&["--version"]);
    assert_eq!(status, Some(0));
    assert!(output.starts_with("kubectl foo "), "{output}");
    let (status, output, _) = run(&["completion", "zsh"]);
    assert_eq!(status, Some(0));
    assert!(output.contains("source <(kubectl completion zsh)"), "{output}");
    assert_eq!(run(&["__complete", "rollout", "pa"]).1, "pause\tStop roll-outs\n:4\n");
    // A cluster that cannot be reached has no candidates.
    assert_eq!(run(&["__complete", "status", ""]), (Some(0), ":4\n".to_owned(), String::new()));
}
