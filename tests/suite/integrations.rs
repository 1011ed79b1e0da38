// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The GitHub Action, the pre-commit hooks, the plugin for Claude Code and the hooks of a repository.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tenterhook_document::{Node, Value as Yaml, parse};
use tenterhook_test_support::skip_test;

use crate::context::{CommandOutput, TestContext, repository};

const PROGRAM: &str = env!("CARGO_BIN_EXE_tenterhook");
const DENIED_SCRIPT: &str = "#!/bin/sh\nrm -rf /\n";
const CASES: &str = "cases:\n  - {name: root, command: rm -rf /, expect: deny}\n";

fn read_yaml(name: &str) -> Node {
    let text = std::fs::read_to_string(repository().join(name)).unwrap();
    parse(&text).map_err(|(_, message)| message).unwrap()
}

fn text<'n>(node: &'n Node, key: &str) -> &'n str {
    node.get(key).and_then(Node::text).unwrap_or_default()
}

fn items(node: &Node) -> &[Node] {
    let Yaml::List(items) = &node.value else { panic!("not a list") };
    items
}

fn entries(node: &Node) -> impl Iterator<Item = (&str, &Node)> {
    let Yaml::Map(entries) = &node.value else { panic!("not a map") };
    entries.iter().map(|(key, value)| (key.text().unwrap(), value))
}

/// Makes `tenterhook` available on the PATH of a test. Returns the PATH.
fn path_with_program(test: &TestContext) -> String {
    let directory = test.path("bin");
    std::fs::create_dir_all(&directory).unwrap();
    std::os::unix::fs::symlink(PROGRAM, directory.join("tenterhook")).unwrap();
    format!("{}:/usr/bin:/bin", directory.display())
}

/// Runs the steps of the action as GitHub does, until one fails. Returns the output of the last one.
fn run_action(test: &TestContext, given: &[(&str, &str)]) -> CommandOutput {
    let action = read_yaml("action.yml");
    let mut values: BTreeMap<String, String> = BTreeMap::new();
    values.insert("github.action_path".to_owned(), repository().display().to_string());
    for (name, input) in entries(action.get("inputs").unwrap()) {
        let given = given.iter().find(|(key, _)| *key == name).map(|(_, value)| *value);
        values.insert(format!("inputs.{name}"), given.unwrap_or(text(input, "default")).to_owned());
    }
    assert!(given.iter().all(|(name, _)| values.contains_key(&format!("inputs.{name}"))));
    let path = std::fs::read_link(test.path("bin/tenterhook")).map(|_| test.path("bin")).unwrap();
    let mut last = None;
    for step in items(action.get("runs").unwrap().get("steps").unwrap()) {
        let run = text(step, "run");
        assert!(!run.contains("${{"), "inputs must not be part of a script: {run}");
        let mut command = test.command(Path::new("bash"), &["-e", "-c", run]);
        command.env("PATH", format!("{}:/usr/bin:/bin", path.display()));
        for (name, value) in entries(step.get("env").unwrap()) {
            let key = value.text().unwrap().trim_start_matches("${{ ").trim_end_matches(" }}");
            command.env(name, values.get(key).unwrap_or_else(|| panic!("unknown value {key}")));
        }
        let ran = test.run_command(command, b"");
        let failed = ran.exit != 0;
        last = Some(ran);
        if failed {
            break;
        }
    }
    last.unwrap()
}

#[test]
fn the_action_scans_writes_sarif_and_tests_rules() {
    let test = TestContext::new();
    path_with_program(&test);
    test.write("work/deploy.sh", "#!/bin/sh\nls\n");
    test.write("work/with space.sh", "#!/bin/sh\nls\n");
    test.write("work/cases.yaml", CASES);
    let ran = run_action(&test, &[("policy-tests", "cases.yaml\n")]);
    assert_eq!(ran.exit, 0, "{}{}", ran.stdout, ran.stderr);
    let sarif: Value =
        serde_json::from_slice(&std::fs::read(test.path("work/tenterhook.sarif")).unwrap()).unwrap();
    assert_eq!(
        (&sarif["version"], sarif["runs"][0]["results"].as_array().unwrap().len()),
        (&"2.1.0".into(), 0)
    );

    test.write("work/with space.sh", DENIED_SCRIPT);
    let ran = run_action(&test, &[("paths", "deploy.sh\nwith space.sh\n"), ("sarif-file", "x.sarif")]);
    assert_eq!(ran.exit, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("with space.sh"), "{}", ran.stdout);
    let sarif: Value = serde_json::from_slice(&std::fs::read(test.path("work/x.sarif")).unwrap()).unwrap();
    assert_eq!(sarif["runs"][0]["results"].as_array().unwrap().len(), 1, "{sarif}");
    assert_eq!(run_action(&test, &[("fail-on", "never")]).exit, 0);

    test.write("work/cases.yaml", &CASES.replace("deny", "allow"));
    let ran = run_action(&test, &[("paths", ""), ("policy-tests", "cases.yaml")]);
    assert_eq!(ran.exit, 1, "{}{}", ran.stdout, ran.stderr);
    // A line of an input is a file name, even if it looks like an option or a command.
    let ran = run_action(&test, &[("paths", "--help\n$(touch owned)")]);
    assert_ne!(ran.exit, 0);
    assert!(!test.path("work/owned").exists());
}

#[test]
fn the_pre_commit_hooks_call_commands_that_exist() {
    let test = TestContext::new();
    let path = path_with_program(&test);
    test.write("work/bad.sh", DENIED_SCRIPT);
    test.write("work/good.sh", "#!/bin/sh\nls\n");
    test.write("work/rules.tenterhook-test.yaml", CASES);
    let hooks = read_yaml(".pre-commit-hooks.yaml");
    let ids: Vec<_> = items(&hooks).iter().map(|hook| text(hook, "id")).collect();
    assert_eq!(ids, ["tenterhook-scan", "tenterhook-policy-test"]);
    for (hook, file, exit) in [(0, "good.sh", 0), (0, "bad.sh", 1), (1, "rules.tenterhook-test.yaml", 0)] {
        let entry = text(&items(&hooks)[hook], "entry");
        let mut words = entry.split(' ');
        let program = repository().join(words.next().unwrap());
        assert!(program.metadata().unwrap().permissions().mode() & 0o111 != 0, "{entry}");
        let args: Vec<_> = words.chain([file]).collect();
        let mut command = test.command(&program, &args);
        command.env("PATH", &path);
        let ran = test.run_command(command, b"");
        assert_eq!(ran.exit, exit, "{entry} {file}: {}{}", ran.stdout, ran.stderr);
    }
    let ran =
        test.run_command(test.command(&repository().join("packaging/pre-commit.sh"), &["scan", "."]), b"");
    assert!(
        ran.exit == 1 && ran.stderr.contains("the program tenterhook is not installed"),
        "{}",
        ran.stderr
    );
}

/// Runs pre-commit itself on a throw-away repository with the hooks of this checkout.
#[test]
fn pre_commit_runs_the_hooks() {
    let test = TestContext::new();
    let path = path_with_program(&test);
    let found = Command::new("pre-commit").arg("--version").output();
    if !found.is_ok_and(|output| output.status.success()) {
        skip_test("pre-commit is not installed");
        return;
    }
    // The hooks are copied, because pre-commit clones the repository and would miss changes that are not committed.
    let hooks = test.path("hooks");
    std::fs::create_dir_all(hooks.join("packaging")).unwrap();
    for name in [".pre-commit-hooks.yaml", "packaging/pre-commit.sh"] {
        std::fs::copy(repository().join(name), hooks.join(name)).unwrap();
    }
    test.write("work/bad.sh", DENIED_SCRIPT);
    test.write("work/rules.tenterhook-test.yaml", CASES);
    let search = format!("{path}:{}", std::env::var("PATH").unwrap());
    let run = |directory: &str, words: &[&str]| {
        let mut command = test.command(Path::new("env"), words);
        command.env("PATH", &search).current_dir(test.path(directory));
        test.run_command(command, b"")
    };
    for directory in ["hooks", "work"] {
        assert_eq!(run(directory, &["git", "init", "--quiet"]).exit, 0);
        assert_eq!(run(directory, &["git", "add", "."]).exit, 0);
        let commit = ["git", "-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-qm", "x"];
        assert_eq!(run(directory, &commit).exit, 0);
    }
    let hooks = hooks.to_str().unwrap();
    let ran = run("work", &["pre-commit", "try-repo", hooks, "--all-files", "--verbose"]);
    assert!(
        ran.stdout.contains("tenterhook-scan") && ran.stdout.contains("bad.sh"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    assert_eq!(ran.exit, 1, "{}", ran.stdout);
    let ran = run("work", &["pre-commit", "try-repo", hooks, "tenterhook-policy-test", "--all-files"]);
    assert_eq!(ran.exit, 0, "{}{}", ran.stdout, ran.stderr);
}

/// Runs the command of a hook as Claude Code does, with a shell.
fn run_hook(test: &TestContext, command: &str, path: &str, payload: &str) -> CommandOutput {
    let mut shell = test.command(Path::new("/bin/sh"), &["-c", command]);
    shell.env("PATH", path).env("CLAUDE_PROJECT_DIR", test.path("work"));
    shell.env("CLAUDE_PLUGIN_ROOT", repository().join("packaging/claude-code-plugin"));
    test.run_command(shell, payload.as_bytes())
}

fn assert_guards(test: &TestContext, hooks: &Value) {
    let of = |event: &str| hooks[event][0]["hooks"][0]["command"].as_str().unwrap().to_owned();
    let (guard, watch) = (of("PreToolUse"), of("SessionStart"));
    let path = path_with_program(test);
    let denied = run_hook(test, &guard, &path, &test.bash("rm -rf /"));
    assert_eq!(denied.json()["hookSpecificOutput"]["permissionDecision"], "deny", "{}", denied.stderr);
    assert_eq!(run_hook(test, &guard, &path, &test.bash("ls")).exit, 0);
    // Without the program, guarded calls are refused and other events are only reported.
    std::fs::remove_file(test.path("bin/tenterhook")).unwrap();
    let refused = run_hook(test, &guard, &path, &test.bash("ls"));
    assert_eq!((refused.exit, refused.stdout.as_str()), (2, ""));
    assert!(refused.stderr.contains("the program is not installed"), "{}", refused.stderr);
    assert_eq!(run_hook(test, &watch, &path, "{}").exit, 1);
    // npm puts the program into node_modules.
    test.write("work/node_modules/.bin/tenterhook", &format!("#!/bin/sh\nexec {PROGRAM} \"$@\"\n"));
    let program = test.path("work/node_modules/.bin/tenterhook");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let denied = run_hook(test, &guard, &path, &test.bash("rm -rf /"));
    assert_eq!(denied.json()["hookSpecificOutput"]["permissionDecision"], "deny", "{}", denied.stderr);
    // A program that cannot be run refuses, too.
    test.write("work/node_modules/.bin/tenterhook", "#!/nonexistent/interpreter\n");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(run_hook(test, &guard, &path, &test.bash("ls")).exit, 2);
}

#[test]
fn the_plugin_guards_and_fails_closed() {
    let text =
        std::fs::read_to_string(repository().join("packaging/claude-code-plugin/hooks/hooks.json")).unwrap();
    let hooks: Value = serde_json::from_str(&text).unwrap();
    assert_guards(&TestContext::new(), &hooks["hooks"]);
}

#[test]
fn hooks_of_a_repository_guard_and_fail_closed() {
    let test = TestContext::new();
    test.write("work/.git/HEAD", "ref: refs/heads/main\n");
    test.write("work/.claude/settings.json", "{\n  \"model\": \"x\"\n}\n");
    let ran = test.run(&["install", "claude-code", "--project", "--dry-run"]);
    assert!(ran.exit == 0 && !test.path("work/.tenterhook").exists(), "{}", ran.stderr);
    let ran = test.run(&["install", "claude-code", "--project"]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    assert!(
        ran.stdout.starts_with("[DIR]/work/.tenterhook/hook.sh: hooks for Claude Code\n"),
        "{}",
        ran.stdout
    );
    let settings = std::fs::read_to_string(test.path("work/.claude/settings.json")).unwrap();
    assert!(
        !settings.contains(test.path("home").to_str().unwrap()),
        "the settings name no directory of a machine"
    );
    let settings: Value = serde_json::from_str(&settings).unwrap();
    assert_eq!(settings["model"], "x");
    let again = test.run(&["install", "claude-code", "--project"]);
    assert!(again.stdout.contains("settings.json: unchanged"), "{}", again.stdout);
    assert_guards(&test, &settings["hooks"]);

    std::fs::remove_dir_all(test.path("work/.tenterhook")).unwrap();
    std::os::unix::fs::symlink(test.path("person"), test.path("work/.tenterhook")).unwrap();
    let ran = test.run(&["install", "claude-code", "--project"]);
    assert!(ran.exit != 0 && ran.stderr.contains("is a symbolic link"), "{}", ran.stderr);
    assert!(test.run(&["install", "codex", "--project"]).exit != 0);
}
