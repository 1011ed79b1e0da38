// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `run`: guards one run of an agent. The clients are scripts that store their arguments and environment; the real
//! clients are in `tests/e2e`.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::context::{CommandOutput, TestContext};
use crate::terminal_user::until;

const PROGRAM: &str = env!("CARGO_BIN_EXE_tenterhook");

/// Stores arguments, variables and the settings files that the arguments and variables name, then prints its input.
const CLIENT: &str = r#"#!/bin/sh
for argument in "$@"; do printf '%s\0' "$argument"; done >"$HOME/arguments"
env >"$HOME/variables"
for file in "$2" "$QWEN_CODE_SYSTEM_SETTINGS_PATH"; do
    case $file in /*) cp "$file" "$HOME/run-settings.json"; stat -c %a "$file" "$(dirname "$file")" >"$HOME/modes" ;; esac
done
cat
echo "an error" >&2
exit 7
"#;

fn client(test: &TestContext, name: &str, script: &str) -> PathBuf {
    let path = test.write(&format!("bin/{name}"), script);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn command(test: &TestContext, args: &[&str]) -> Command {
    let mut command = test.command(Path::new(PROGRAM), args);
    command.env("PATH", format!("{}:/usr/bin:/bin", test.path("bin").display()));
    command
}

fn run(test: &TestContext, args: &[&str]) -> CommandOutput {
    test.run_command(command(test, args), b"from the input\n")
}

/// Arguments that the client received.
fn arguments(test: &TestContext) -> Vec<String> {
    let text = std::fs::read_to_string(test.path("person/arguments")).unwrap();
    text.split_terminator('\0').map(|argument| test.normalize(argument)).collect()
}

fn run_settings(test: &TestContext) -> Value {
    serde_json::from_str(&std::fs::read_to_string(test.path("person/run-settings.json")).unwrap()).unwrap()
}

/// Directories of runs that still exist.
fn run_directories(test: &TestContext) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(test.home().join("guarded-runs")).into_iter().flatten();
    entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect()
}

#[test]
fn claude_gets_the_hooks_in_a_settings_file_and_everything_else_is_passed_through() {
    let test = TestContext::new();
    client(&test, "claude", CLIENT);
    let ran = run(&test, &["run", "claude", "-p", "a b", "--json", "--", "setting"]);
    assert_eq!((ran.exit, ran.stdout.as_str()), (7, "from the input\n"));
    assert_eq!(ran.stderr, "an error\n");
    let arguments = arguments(&test);
    assert_eq!(arguments[0], "--settings");
    assert_eq!(arguments[2..], ["-p", "a b", "--json", "--", "setting"]);
    let hooks = &run_settings(&test)["hooks"];
    let handler = &hooks["PreToolUse"][0]["hooks"][0];
    let hook_program = test.home().join("bin/tenterhook-hook");
    assert_eq!(handler["command"], format!("'{}' claude-code pre-tool-use", hook_program.display()));
    assert_eq!(handler["onFailure"], "block");
    assert!(hook_program.exists());
    assert!(run_settings(&test)["statusLine"].is_null(), "the user's status line stays");
    let modes = std::fs::read_to_string(test.path("person/modes")).unwrap();
    assert_eq!(modes, "600\n700\n");

    assert!(run_directories(&test).is_empty(), "the settings of the run are removed");
    assert!(!test.path("person/.claude").exists(), "the user's settings are not touched");
}

#[test]
fn the_hook_of_a_run_denies_and_records() {
    let test = TestContext::new();
    client(&test, "claude", CLIENT);
    run(&test, &["run", "claude"]);
    let settings = run_settings(&test);
    let hook = settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"].as_str().unwrap();
    let ran =
        test.run_command(test.command(Path::new("/bin/sh"), &["-c", hook]), test.bash("rm -rf /").as_bytes());
    assert_eq!(ran.json()["hookSpecificOutput"]["permissionDecision"], "deny", "{}", ran.stderr);
    assert_eq!(test.decisions().len(), 1);
}

#[test]
fn codex_gets_the_hooks_and_their_trust_on_the_command_line() {
    let test = TestContext::new();
    client(&test, "codex", CLIENT);
    assert_eq!(run(&test, &["run", "codex", "exec", "-c", "model=x", "go"]).exit, 7);
    let arguments = arguments(&test);
    assert_eq!(arguments[..2], ["-c", "features.hooks=true"]);
    assert_eq!(arguments[arguments.len() - 4..], ["exec", "-c", "model=x", "go"]);
    let pre_tool = arguments.iter().find(|argument| argument.starts_with("hooks.PreToolUse=")).unwrap();
    assert_eq!(
        pre_tool,
        "hooks.PreToolUse=[{ matcher = \"*\", hooks = [{ type = \"command\", command = \
         \"'[DIR]/home/bin/tenterhook-hook' codex pre-tool-use || exit 2\", timeout = 60 }] }]"
    );
    let trust = arguments.iter().find(|argument| argument.starts_with("hooks.state=")).unwrap();
    assert!(
        trust.contains("\"/<session-flags>/config.toml:pre_tool_use:0:0\" = { trusted_hash = \"sha256:"),
        "{trust}"
    );
    assert!(!test.path("person/.codex").exists());
}

#[test]
fn qwen_gets_a_copy_of_the_machine_s_settings_with_the_hooks() {
    let test = TestContext::new();
    client(&test, "qwen", CLIENT);
    let machine = test.write("machine.json", "{\n  // the company's\n  \"model\": {\"name\": \"x\"}\n}\n");
    let mut command = command(&test, &["run", "qwen", "-p", "go"]);
    command.env("QWEN_CODE_SYSTEM_SETTINGS_PATH", &machine);
    assert_eq!(test.run_command(command, b"").exit, 7);
    assert_eq!(arguments(&test), ["-p", "go"]);
    let text = std::fs::read_to_string(test.path("person/run-settings.json")).unwrap();
    assert!(
        text.contains("// the company's") && text.contains("tenterhook-hook' qwen pre-tool-use || exit 2"),
        "{text}"
    );
    assert!(text.contains("\"disableAllHooks\": false"), "{text}");
    assert_eq!(std::fs::read_to_string(&machine).unwrap().matches("hooks").count(), 0);
}

#[test]
fn opencode_gets_a_plugin_besides_the_settings_in_its_variable() {
    let test = TestContext::new();
    let keep = CLIENT.replace("cat\n", "cp \"$(ls -d \"$TENTERHOOK_HOME\"/guarded-runs/*/opencode/tenterhook.js)\" \"$HOME/plugin.js\"\ncat\n");
    client(&test, "opencode", &keep);
    let mut command = command(&test, &["run", "opencode", "run", "go"]);
    command.env("OPENCODE_CONFIG_CONTENT", "{\"model\": \"a/b\", \"plugin\": [\"mine\"]}");
    assert_eq!(test.run_command(command, b"").exit, 7);
    assert_eq!(arguments(&test), ["run", "go"]);
    let variables = std::fs::read_to_string(test.path("person/variables")).unwrap();
    let line = variables.lines().find_map(|line| line.strip_prefix("OPENCODE_CONFIG_CONTENT=")).unwrap();
    let config: Value = serde_json::from_str(line).unwrap();
    assert_eq!((&config["model"], &config["plugin"][0]), (&json!("a/b"), &json!("mine")));
    let plugin = config["plugin"][1].as_str().unwrap();
    assert!(plugin.starts_with("file:///") && plugin.ends_with("/opencode/tenterhook.js"), "{plugin}");
    let text = std::fs::read_to_string(test.path("person/plugin.js")).unwrap();
    assert!(text.contains(test.home().join("bin/tenterhook-hook").to_str().unwrap()));
}

#[test]
fn a_run_that_the_settings_guard_gets_no_second_hooks() {
    let test = TestContext::new();
    client(&test, "claude", CLIENT);
    assert_eq!(test.run(&["install", "claude-code", "--yes"]).exit, 0);
    let ran = run(&test, &["run", "claude", "-p", "x"]);
    assert_eq!(arguments(&test), ["-p", "x"]);
    assert_eq!(
        ran.stderr,
        "Claude Code: already guarded by its settings (user), so nothing is added to this run\nan error\n"
    );
    let plan = test.run(&["run", "--dry-run", "--json", "claude"]).json();
    assert_eq!((&plan["guarded_by_settings"], &plan["args"]), (&json!("user"), &json!([])));

    // Hooks that were removed from the settings guard nothing.
    std::fs::write(test.path("person/.claude/settings.json"), "{}\n").unwrap();
    run(&test, &["run", "claude", "-p", "x"]);
    assert_eq!(arguments(&test)[0], "--settings");
}

#[test]
fn options_and_variables_are_checked_before_the_settings_are_trusted() {
    let test = TestContext::new();
    client(&test, "claude", CLIENT);
    assert_eq!(test.run(&["install", "claude-code", "--yes"]).exit, 0);
    for args in [&["--bare"][..], &["--settings", "{\"disableAllHooks\":true}"], &["--safe-mode", "-p", "x"]]
    {
        let ran = run(&test, &[&["run", "claude"][..], args].concat());
        assert_eq!(ran.exit, 2, "{args:?}: {}", ran.stderr);
        assert!(!test.path("person/arguments").exists(), "{args:?} ran");
    }
    let mut with_variable = command(&test, &["run", "claude", "-p", "x"]);
    with_variable.env("CLAUDE_CODE_SIMPLE", "1");
    assert_eq!(test.run_command(with_variable, b"").exit, 2);
    assert!(!test.path("person/arguments").exists());
    // With the hooks in the settings, a session in the background is guarded.
    assert_eq!(run(&test, &["run", "claude", "--bg", "x"]).exit, 7);
    assert_eq!(arguments(&test), ["--bg", "x"]);
    // The user's settings may not be read, so the run gets hooks of its own.
    assert_eq!(run(&test, &["run", "claude", "--setting-sources", "project"]).exit, 7);
    assert_eq!(arguments(&test)[0], "--settings");
}

#[test]
fn an_agent_without_run_settings_is_refused_if_it_may_read_other_settings() {
    let test = TestContext::new();
    client(&test, "cline", CLIENT);
    let installed = test.run(&["install", "cline", "--yes"]);
    assert_eq!(installed.exit, 0, "{}", installed.stderr);
    assert_eq!(run(&test, &["run", "cline", "x"]).exit, 7);
    let ran = run(&test, &["run", "cline", "--data-dir", "/tmp/x", "y"]);
    assert_eq!(ran.exit, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("it may not read the settings that guard it"), "{}", ran.stderr);
    assert_eq!(arguments(&test), ["x"]);
}

/// Measured on Claude Code 2.1.325: with these variables in `env` of one of these files, hooks of `--settings` do not run.
#[test]
fn variables_in_the_user_s_settings_that_turn_hooks_off_are_reported() {
    for (file, variable) in
        [(".claude/settings.json", "CLAUDE_CODE_SIMPLE"), (".claude.json", "CLAUDE_CODE_SAFE_MODE")]
    {
        let test = TestContext::new();
        client(&test, "claude", CLIENT);
        test.write(&format!("person/{file}"), &format!("{{\"env\": {{\"{variable}\": \"1\"}}}}\n"));
        let ran = run(&test, &["run", "claude", "-p", "x"]);
        assert_eq!(ran.exit, 1, "{file}: {}", ran.stderr);
        assert!(ran.stderr.contains(&format!("`env.{variable}` is set")), "{}", ran.stderr);
        assert!(!test.path("person/arguments").exists());
        let installed = test.run(&["install", "claude-code", "--yes"]);
        let shown = format!("{}{}", installed.stdout, installed.stderr);
        assert!(shown.contains(&format!("`env.{variable}` is set")), "{shown}");
        let checked = test.run(&["doctor"]);
        assert!(checked.stdout.contains(&format!("`env.{variable}` is set")), "{}", checked.stdout);
    }
    let test = TestContext::new();
    client(&test, "claude", CLIENT);
    test.write("person/.claude/settings.json", "{\"env\": {\"CLAUDE_CODE_SIMPLE\": \"0\"}}\n");
    assert_eq!(run(&test, &["run", "claude", "-p", "x"]).exit, 7);
}

#[test]
fn hooks_of_a_project_do_not_guard_an_agent_that_starts_in_another_directory() {
    let test = TestContext::new();
    client(&test, "opencode", CLIENT);
    std::fs::create_dir_all(test.path("work/.git")).unwrap();
    std::fs::create_dir_all(test.path("work/inner")).unwrap();
    let installed = test.run(&["install", "opencode", "--scope", "project", "--yes"]);
    assert_eq!(installed.exit, 0, "{}", installed.stderr);
    let plan = |args: &[&str]| {
        let ran = run(&test, &[&["run", "--dry-run", "--json", "opencode"][..], args].concat());
        assert_eq!(ran.exit, 0, "{args:?}: {}", ran.stderr);
        let plan = ran.json();
        assert_ne!(plan["guarded_by_settings"].is_null(), plan["variables"] == json!({}), "{plan}");
        !plan["guarded_by_settings"].is_null()
    };
    let other = test.path("person");
    let other = other.to_str().unwrap();
    assert!(plan(&[]) && plan(&["inner"]), "in the project");
    for args in [
        &[other][..],
        &["../person"],
        &["run", "--dir", other, "x"],
        &["run", &format!("--dir={other}"), "x"],
    ] {
        assert!(!plan(args), "{args:?}");
    }
}

#[test]
fn hooks_of_another_project_do_not_guard_this_one() {
    let test = TestContext::new();
    client(&test, "claude", CLIENT);
    std::fs::create_dir_all(test.path("work/.git")).unwrap();
    assert_eq!(test.run(&["install", "claude-code", "--scope", "project", "--yes"]).exit, 0);
    run(&test, &["run", "claude", "-p", "x"]);
    assert_eq!(arguments(&test), ["-p", "x"], "in the project its hooks guard the run");
    let mut elsewhere = command(&test, &["run", "claude", "-p", "x"]);
    elsewhere.current_dir(test.path("person"));
    test.run_command(elsewhere, b"");
    assert_eq!(arguments(&test)[0], "--settings");
}

#[test]
fn what_would_turn_the_hooks_off_is_refused() {
    let test = TestContext::new();
    for (agent, args, message) in [
        ("claude", &["--bare"][..], "cannot guard a run of Claude Code with `--bare`"),
        ("claude", &["--settings={}"], "cannot guard a run of Claude Code with `--settings`"),
        ("codex", &["-c", "features.hooks=false"], "cannot guard a run of Codex CLI with `-c`"),
        (
            "claude",
            &["--append-system-prompt", "--", "--bare"],
            "cannot guard a run of Claude Code with `--bare`",
        ),
        ("claude", &["--bg", "x"], "cannot guard a run of Claude Code with `--bg`"),
        ("codex", &["-c", "features = {hooks=false}"], "cannot guard a run of Codex CLI with `-c`"),
        ("codex", &["-c", "features\t={hooks=false}"], "cannot guard a run of Codex CLI with `-c`"),
        ("codex", &["--remote", "ws://127.0.0.1:1"], "cannot guard a run of Codex CLI with `--remote`"),
        ("opencode", &["attach", "http://127.0.0.1:1"], "cannot guard a run of OpenCode with `attach`"),
        ("qwen", &["--safeMode"], "cannot guard a run of Qwen Code with `--safe-mode`"),
        ("qwen", &["--safe-mode"], "cannot guard a run of Qwen Code with `--safe-mode`"),
        ("opencode", &["--pure"], "cannot guard a run of OpenCode with `--pure`"),
        ("gemini", &[], "cannot guard one run of Gemini CLI: it skips a settings file"),
        ("copilot", &[], "cannot guard one run of GitHub Copilot CLI: it reads hooks only"),
        ("cn", &[], "unknown harness `cn`"),
    ] {
        client(&test, agent, CLIENT);
        let ran = run(&test, &[&["run", agent][..], args].concat());
        assert_eq!(ran.exit, 2, "{agent} {args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(message), "{agent} {args:?}: {}", ran.stderr);
        assert!(!test.path("person/arguments").exists(), "{agent} {args:?} ran");
    }
    let mut command = command(&test, &["run", "qwen", "-p", "x"]);
    command.env("QWEN_CODE_SAFE_MODE", "1");
    let ran = test.run_command(command, b"");
    assert_eq!(ran.exit, 2);
    assert!(ran.stderr.contains("hint: unset `QWEN_CODE_SAFE_MODE`"), "{}", ran.stderr);

    // The user's own settings turn hooks off for every run.
    test.write("person/.claude/settings.json", "{\"disableAllHooks\": true}\n");
    let ran = run(&test, &["run", "claude", "-p", "x"]);
    assert_eq!(ran.exit, 1);
    assert!(ran.stderr.contains("`disableAllHooks` is true"), "{}", ran.stderr);
    assert!(run_directories(&test).is_empty());
}

#[test]
fn a_missing_agent_is_reported_and_a_path_names_one() {
    let test = TestContext::new();
    let ran = run(&test, &["run", "claude"]);
    assert_eq!(ran.exit, 127);
    assert!(ran.stderr.contains("error: `claude` was not found"), "{}", ran.stderr);
    assert!(run_directories(&test).is_empty());
    let path = client(&test, "elsewhere/claude", CLIENT);
    assert_eq!(run(&test, &["run", path.to_str().unwrap(), "-p", "x"]).exit, 7);
    assert_eq!(arguments(&test)[2..], ["-p", "x"]);
    assert_eq!(test.run(&["run"]).exit, 2);
    let unknown = test.run(&["run", "vim"]);
    assert_eq!(unknown.exit, 2, "{}", unknown.stderr);
}

#[test]
fn a_dry_run_shows_the_additions_and_leaves_nothing() {
    let test = TestContext::new();
    let ran = test.run(&["run", "--dry-run", "claude", "-p", "x"]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    assert!(ran.stdout.starts_with("runs `claude` (Claude Code)\nargument  --settings\n"), "{}", ran.stdout);
    assert!(run_directories(&test).is_empty());
}

/// A client that waits, and ends with 9 when it gets SIGTERM.
const WAITING_CLIENT: &str =
    "#!/bin/sh\ntrap 'exit 9' TERM\necho $$ >\"$HOME/pid\"\nwhile :; do sleep 0.05; done\n";

#[test]
fn signals_reach_the_agent_and_its_end_is_the_exit_code() {
    let test = TestContext::new();
    client(&test, "claude", WAITING_CLIENT);
    let start = || {
        drop(std::fs::remove_file(test.path("person/pid")));
        let child = command(&test, &["run", "claude"]).stdin(Stdio::null()).spawn().unwrap();
        let agent = until("the agent runs", || {
            let text = std::fs::read_to_string(test.path("person/pid")).ok()?;
            text.trim().parse().ok().and_then(Pid::from_raw)
        });
        (child, agent)
    };
    let (mut child, _) = start();
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(9), "SIGTERM reached the agent");
    assert!(run_directories(&test).is_empty());

    let (mut child, agent) = start();
    kill_process(agent, Signal::KILL).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(128 + 9));

    // While the agent lives, its settings stay, even if the process that made them was killed.
    let (mut child, agent) = start();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(run_directories(&test).len(), 1);
    client(&test, "codex", CLIENT);
    run(&test, &["run", "codex", "--version"]);
    let left = run_directories(&test);
    assert_eq!(left.len(), 1, "the settings of a running agent stay");
    kill_process(agent, Signal::KILL).unwrap();
    until("the next run removes them", || {
        run(&test, &["run", "codex", "--version"]);
        run_directories(&test).is_empty().then_some(())
    });
}

#[test]
fn the_input_of_a_pipe_reaches_the_agent() {
    let test = TestContext::new();
    client(&test, "claude", "#!/bin/sh\nwc -c\n");
    let mut child =
        command(&test, &["run", "claude"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(&vec![b'x'; 1 << 20]).unwrap();
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), (1 << 20).to_string());
}
