// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tests the build step of `make run` with a fake cargo.

use std::os::unix::fs::{PermissionsExt, symlink};

use crate::context::{CommandOutput, TestContext, repository};

/// Prints three crates, finishes two of them, and fails with a message.
const FAILING_CARGO: &str = r#"#!/bin/sh
case $1 in
    tree) printf 'alpha v1.0.0\nbeta-core v1.0.0 (/src/beta-core)\nbeta-core v1.0.0\ngamma v1.0.0\n' ;;
    build)
        echo "$*" > "$(dirname "$0")/arguments"
        for crate in alpha beta-core; do
            echo "   Compiling $crate v1.0.0" >&2
            sleep "$CRATE_SECONDS"
            echo '{"reason":"compiler-artifact","package_id":"registry#'$crate'@1.0.0","target":{"kind":["lib"]},"fresh":false}'
        done
        echo 'error: could not compile `gamma`' >&2
        exit 101
        ;;
esac
"#;

/// Runs the script where npm is not installed.
fn run_quick_build(test: &TestContext, report_seconds: &str, crate_seconds: &str) -> CommandOutput {
    let programs = test.path("programs");
    std::fs::create_dir(&programs).unwrap();
    for name in ["sh", "dirname", "sed", "tr", "sort", "sleep", "date"] {
        symlink(std::path::Path::new("/usr/bin").join(name), programs.join(name)).unwrap();
    }
    let cargo = test.write("programs/cargo", FAILING_CARGO);
    std::fs::set_permissions(&cargo, std::fs::Permissions::from_mode(0o755)).unwrap();
    let script = repository().join("packaging/quick-build.sh");
    let mut command = test.command("/bin/sh".as_ref(), &[script.to_str().unwrap(), "/elsewhere"]);
    command.env("PATH", programs).env("REPORT_SECONDS", report_seconds).env("CRATE_SECONDS", crate_seconds);
    test.run_command(command, b"")
}

#[test]
fn the_build_of_make_run_reports_progress_errors_and_a_missing_npm() {
    let test = TestContext::new();
    let ran = run_quick_build(&test, "1", "4");
    assert_eq!(ran.exit, 101, "the exit code is cargo's");
    for part in [
        "npm is not installed: the dashboard is left out\n",
        "building 1 of 3 crates, estimating time left: alpha",
        "building 2 of 3 crates, less than a minute left: beta_core",
        "error: could not compile `gamma`\n",
    ] {
        assert!(ran.stderr.contains(part), "`{part}` is not in\n{}", ran.stderr);
    }
    assert!(!ran.stderr.contains('\r') && !ran.stderr.contains("reason"), "{}", ran.stderr);
    let arguments = std::fs::read_to_string(test.path("programs/arguments")).unwrap();
    assert!(arguments.contains("--profile quick --locked") && arguments.contains("--target-dir /elsewhere"));
}

#[test]
fn the_build_of_make_run_is_quiet_without_a_terminal() {
    let test = TestContext::new();
    let ran = run_quick_build(&test, "30", "0");
    assert!(!ran.stderr.contains("building"), "one line every 30 seconds:\n{}", ran.stderr);
}
