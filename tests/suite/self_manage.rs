// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `self`: shows how the program was installed, verifies that it is the released one, and updates it. `packaging/test`
//! (`make dist-test`) tests updates with real packages.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::context::{CommandOutput, TestContext, repository};

const PROGRAM: &str = env!("CARGO_BIN_EXE_tenterhook");

/// Copies the program to `bin` below a prefix, as a package does.
fn installed(test: &TestContext, prefix: &str, receipt: &str) -> PathBuf {
    test.write(&format!("{prefix}/share/tenterhook/receipt.json"), receipt);
    let program = test.path(prefix).join("bin/tenterhook");
    std::fs::create_dir_all(program.parent().unwrap()).unwrap();
    if std::fs::hard_link(PROGRAM, &program).is_err() {
        std::fs::copy(PROGRAM, &program).unwrap();
    }
    program
}

fn run(test: &TestContext, program: &Path, args: &[&str]) -> CommandOutput {
    test.run_command(test.command(program, args), b"")
}

/// Makes a key with `packaging/assemble` and signs a file with it. `None` if Python or OpenSSL 3 is missing.
fn sign(test: &TestContext, file: &Path) -> Option<String> {
    let script = "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[1]); import signing\n\
                  key = signing.generate(Path(sys.argv[2])); key.sign(Path(sys.argv[3]), 'tenterhook test')\n\
                  print(key.public_base64)";
    let mut python = Command::new("python3");
    python.args(["-B", "-c", script]).arg(repository().join("packaging/assemble"));
    let signed = python.arg(test.path("signing.key")).arg(file).output().ok();
    let key = signed
        .filter(|output| output.status.success())
        .and_then(|output| String::from_utf8(output.stdout).ok());
    if key.is_none() {
        eprintln!("python3 or OpenSSL 3 is missing: signatures of releases are not tested");
    }
    key.map(|key| key.trim().to_owned())
}

fn sha256(path: &Path) -> String {
    let output = Command::new("sha256sum").arg(path).output().unwrap();
    String::from_utf8(output.stdout).unwrap().split(' ').next().unwrap().to_owned()
}

/// Writes a signed manifest that contains this hash for the running program. Returns its path and the public key.
fn manifest(test: &TestContext, hash: &str) -> Option<(PathBuf, String)> {
    let target = test.run(&["self", "info", "--json"]).json()["target"].as_str().unwrap().to_owned();
    let programs = json!({"tenterhook": hash});
    let text = json!({
        "format": 1,
        "version": "0.1.0",
        "targets": {target: {"archive": "x.tar.gz", "programs": programs}},
    });
    let path = test.write("release/manifest.json", &text.to_string());
    let key = sign(test, &path)?;
    Some((path, key))
}

#[test]
fn info_shows_how_the_program_was_installed_and_how_to_upgrade_it() {
    let test = TestContext::new();
    let info = test.run(&["self", "info", "--json"]).json();
    assert_eq!((&info["method"], &info["version"]), (&json!("source"), &json!("0.1.0")));
    let program = installed(&test, "prefix", r#"{"method": "npm"}"#);
    let info = run(&test, &program, &["self", "info", "--json"]).json();
    assert_eq!(info["method"], "npm");
    assert_eq!(info["upgrade"], "npm install --global tenterhook@latest");
    let text = run(&test, &program, &["self", "info"]).stdout;
    assert!(text.contains("installed by npm") && text.contains("built for"), "{text}");
}

#[test]
fn update_refuses_what_a_package_manager_installed_and_names_its_command() {
    for (method, command) in [
        ("npm", "npm install --global tenterhook@latest"),
        ("pip", "pip install --upgrade tenterhook"),
        ("homebrew", "brew upgrade tenterhook"),
        ("deb", "sudo apt install"),
        ("docker", "docker pull"),
    ] {
        let test = TestContext::new();
        let program = installed(&test, "prefix", &json!({"method": method}).to_string());
        let ran = run(&test, &program, &["self", "update", "--from", "/nonexistent"]);
        assert_eq!(ran.exit, 1);
        assert!(ran.stderr.contains(&format!("installed by {method}")), "{}", ran.stderr);
        assert!(ran.stderr.contains(command), "{}", ran.stderr);
    }
}

#[test]
fn update_without_a_release_key_trusts_nothing() {
    let test = TestContext::new();
    let program = installed(&test, "prefix", r#"{"method": "archive"}"#);
    let ran = run(&test, &program, &["self", "update", "--from", "/nonexistent"]);
    assert_eq!(ran.exit, 1);
    // `make dist` compiles a key in; test builds have none.
    assert!(ran.stderr.contains("has no release key"), "{}", ran.stderr);
}

#[test]
fn update_is_refused_to_a_guarded_agent() {
    let test = TestContext::new();
    let program = installed(&test, "prefix", r#"{"method": "archive"}"#);
    // The test process calls a hook, so it is treated as an agent.
    test.run_with(&["hook", "claude-code", "pre-tool-use"], test.bash("ls").as_bytes());
    let ran = run(&test, &program, &["self", "update", "--from", "/nonexistent"]);
    assert_eq!(ran.exit, 1);
    assert!(ran.stderr.contains("guarded agents may not update Tenterhook"), "{}", ran.stderr);
}

#[test]
fn verify_compares_programs_with_a_signed_manifest() {
    let test = TestContext::new();
    let Some((path, key)) = manifest(&test, &sha256(Path::new(PROGRAM))) else { return };
    let verify = |key: &str| {
        test.run(&["self", "verify", "--json", "--manifest", path.to_str().unwrap(), "--key", key])
    };
    let ran = verify(&key);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    assert_eq!(ran.json()["matches"], true);

    // Hook programs that differ from the released ones are detected.
    test.write("home/bin/tenterhook-hook", "#!/bin/sh\nexit 0\n");
    let ran = verify(&key);
    assert_eq!(ran.exit, 1);
    let programs = ran.json()["programs"].as_array().unwrap().clone();
    let problem = |program: &Value| program["problem"].as_str().map(str::to_owned);
    assert_eq!(problem(&programs[0]), None);
    assert_eq!(problem(&programs[1]).unwrap(), "not in the manifest");
}

#[test]
fn verify_refuses_a_changed_program_a_changed_manifest_and_a_foreign_key() {
    let test = TestContext::new();
    let Some((path, key)) = manifest(&test, &"0".repeat(64)) else { return };
    let file = path.to_str().unwrap();
    let ran = test.run(&["self", "verify", "--manifest", file, "--key", &key]);
    assert_eq!(ran.exit, 1);
    assert!(ran.stdout.contains("differs from the release"), "{}", ran.stdout);

    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("0.1.0", "0.1.1")).unwrap();
    let ran = test.run(&["self", "verify", "--manifest", file, "--key", &key]);
    assert_eq!(ran.exit, 1);
    assert!(ran.stderr.contains("signature of manifest.json does not match"), "{}", ran.stderr);

    std::fs::write(&path, text).unwrap();
    let foreign = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";
    let ran = test.run(&["self", "verify", "--manifest", file, "--key", foreign]);
    assert_eq!(ran.exit, 1);
    assert!(ran.stderr.contains("signature of manifest.json does not match"), "{}", ran.stderr);

    let ran = test.run(&["self", "verify"]);
    assert_eq!(ran.exit, 1);
    assert!(ran.stderr.contains("no release manifest beside this program"), "{}", ran.stderr);
}
