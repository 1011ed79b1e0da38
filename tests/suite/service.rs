// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The daemon as a service: systemd and launchd accept the written files. The tests start no service, because the
//! service manager belongs to the machine.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::context::TestContext;

const ODD_HOME_NAME: &str = "a home & it's \"100%\" $HOME";

fn can(program: &str, args: &[&str]) -> bool {
    let can = Command::new(program).args(args).output().is_ok_and(|ran| ran.status.success());
    if !can {
        tenterhook_test_support::skip_test(&format!("needs `{program}`"));
    }
    can
}

#[test]
fn systemd_reads_the_unit_without_a_complaint() {
    let test = TestContext::new();
    let home = test.path(ODD_HOME_NAME);
    let unit = test.run(&[
        "--home",
        home.to_str().unwrap(),
        "service",
        "print",
        "--manager",
        "systemd",
        "--relaxed",
    ]);
    assert_eq!(unit.exit, 0, "{}", unit.stderr);
    let start = unit.stdout.lines().find(|line| line.starts_with("ExecStart=")).unwrap();
    assert!(start.ends_with(r#""serve" "--log" "json" "--relaxed""#), "{start}");
    assert!(start.contains(r#""--home" "[DIR]/a home & it's \"100%%\" $$HOME""#), "{start}");
    if !can("systemd-analyze", &["--version"]) {
        return;
    }
    let check = |text: &str| {
        let file = test.write("units/tenterhook.service", text);
        let mut command = test.command(Path::new("/usr/bin/env"), &["systemd-analyze", "verify", "--user"]);
        command.arg(file).env("XDG_RUNTIME_DIR", test.path("work"));
        let ran = test.run_command(command, b"");
        (ran.exit, ran.stderr)
    };
    let whole = unit.stdout.replace("[DIR]", test.path("").to_str().unwrap().trim_end_matches('/'));
    assert_eq!(check(&whole), (0, String::new()), "{whole}");
    let (_, broken) = check(&whole.replace("on-failure", "sometimes"));
    assert!(broken.contains("Failed to parse"), "the file is parsed: {broken}");
}

#[test]
fn the_property_list_is_valid_and_equivalent() {
    let test = TestContext::new();
    let home = test.path(ODD_HOME_NAME);
    let list = test.run(&["--home", home.to_str().unwrap(), "service", "print", "--manager", "launchd"]);
    assert_eq!(list.exit, 0, "{}", list.stderr);
    if !can("python3", &["--version"]) {
        return;
    }
    let script = "import plistlib, json, sys; print(json.dumps(plistlib.load(sys.stdin.buffer)))";
    let file = std::fs::File::open(test.write("list.plist", &list.stdout)).unwrap();
    let ran = Command::new("python3").args(["-c", script]).stdin(file).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let read: Value = serde_json::from_slice(&ran.stdout).unwrap();
    let words: Vec<_> = read["ProgramArguments"].as_array().unwrap().iter().skip(1).collect();
    let home = format!("[DIR]/{ODD_HOME_NAME}");
    assert_eq!(words, [&json!("--home"), &json!(home), &json!("serve"), &json!("--log"), &json!("json")]);
    assert_eq!((&read["RunAtLoad"], &read["KeepAlive"]["SuccessfulExit"]), (&json!(true), &json!(false)));
}

#[test]
fn a_service_is_written_once_recorded_and_removed_only_by_a_user() {
    let test = TestContext::new();
    let installed = test.run(&["service", "install", "--no-start", "--json"]).json();
    let file = test.path("person/.config/systemd/user/tenterhook.service");
    assert_eq!(installed["file"], "[DIR]/person/.config/systemd/user/tenterhook.service");
    assert_eq!(
        installed["commands"][1],
        json!(["systemctl", "--user", "enable", "--now", "tenterhook.service"])
    );
    assert_eq!(std::fs::read_to_string(&file).unwrap(), {
        let printed = test.run(&["service", "print"]).stdout;
        printed.replace("[DIR]", test.path("").to_str().unwrap().trim_end_matches('/'))
    });
    let again = test.run(&["service", "install", "--no-start"]);
    assert!(again.stdout.contains("systemctl --user daemon-reload"), "{}", again.stdout);
    let written = test.records().into_iter().filter(|leaf| leaf["what"] == "service install").count();
    assert_eq!(written, 1);
    let ran = test.run(&["service", "uninstall"]);
    assert_eq!((ran.exit, file.exists()), (1, true), "{}", ran.stderr);
    let ran = test.run_on_terminal(&["service", "uninstall"]);
    assert_eq!((ran.exit, file.exists()), (0, false), "{}", ran.stderr);
    assert_eq!(test.run(&["service", "uninstall"]).exit, 2);
}
