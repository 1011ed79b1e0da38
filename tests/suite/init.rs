// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `init`: sets Tenterhook up, in scripts and on a terminal.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};

use rustix::termios::{Winsize, tcsetwinsize};
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr as _;

use crate::audit::home_with_transcripts;
use crate::context::{CommandOutput, TestContext};
use crate::terminal_user::{terminal, until};

const PROGRAM: &str = env!("CARGO_BIN_EXE_tenterhook");
const ROWS: usize = 24;
const COLUMNS: usize = 80;

/// A user with Claude Code and Codex, and with bash as the login shell.
fn user_with_agents() -> TestContext {
    let test = TestContext::new();
    test.write("person/.claude/settings.json", "{\"model\": \"opus\"}\n");
    test.write("person/.codex/config.toml", "model = \"x\"\n");
    test.write("person/.bashrc", "alias ll='ls -l'");
    test
}

fn command(test: &TestContext, args: &[&str]) -> Command {
    let mut command = test.command(Path::new(PROGRAM), &[&["init"], args].concat());
    command.env("SHELL", "/bin/bash").env("TENTERHOOK_LISTEN", "none");
    command
}

fn init(test: &TestContext, args: &[&str]) -> CommandOutput {
    test.run_command(command(test, args), b"")
}

/// Results of the steps, by name.
fn results(report: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let steps = report["steps"].as_array().unwrap().iter();
    steps.map(|step| (text(&step["step"]), text(&step["result"]))).collect()
}

fn stop_daemon(test: &TestContext) {
    assert_eq!(test.run_on_terminal(&["stop"]).exit, 0);
}

#[test]
fn without_a_terminal_the_plan_is_printed_and_nothing_changes() {
    let test = user_with_agents();
    let before = std::fs::read_to_string(test.path("person/.claude/settings.json")).unwrap();
    let ran = init(&test, &[]);
    assert_eq!(ran.exit, 2);
    assert!(ran.stdout.contains("[x] Claude Code  ~/.claude/settings.json\n"), "{}", ran.stdout);
    assert!(ran.stdout.contains("export PATH="), "the line is shown: {}", ran.stdout);
    assert!(ran.stderr.contains("hint: make the marked choices with `--yes`"), "{}", ran.stderr);
    let dry = init(&test, &["--dry-run"]);
    assert_eq!((dry.exit, &dry.stdout), (0, &ran.stdout));
    let json = init(&test, &["--dry-run", "--json", "--skip", "shell,daemon"]).json();
    let planned = |name: &str| (name.to_owned(), "planned".to_owned());
    assert_eq!(results(&json), ["audit", "agents", "mode", "notify"].map(planned));
    assert_eq!(std::fs::read_to_string(test.path("person/.claude/settings.json")).unwrap(), before);
    assert!(std::fs::read_dir(test.home()).unwrap().next().is_none());
}

#[test]
fn yes_makes_the_marked_choices_and_a_second_call_changes_nothing() {
    let test = user_with_agents();
    let ran = init(&test, &["--yes", "--json"]);
    assert_eq!(ran.exit, 0, "{}{}", ran.stdout, ran.stderr);
    let report = ran.json();
    let with = |result: &str| {
        ["audit", "agents", "daemon", "shell", "mode", "notify"]
            .map(|name| (name.to_owned(), result.to_owned()))
    };
    assert_eq!(results(&report), with("done"));
    assert_eq!(report["steps"][1]["detail"], json!({"guarded": ["claude-code", "codex"]}));
    assert_eq!(report["steps"][2]["detail"], json!({"how": "background"}));
    assert_eq!(
        report["steps"][4]["detail"],
        json!({"mode": "enforce", "level": "standard", "changed": false})
    );
    assert_eq!(test.run(&["status"]).exit, 0, "the daemon runs");
    let detected = test.run(&["detect", "--json"]).json();
    let wired = |id: &str| {
        let harnesses = detected["harnesses"].as_array().unwrap();
        harnesses.iter().find(|one| one["harness"] == id).unwrap()["wired"].clone()
    };
    assert_eq!(
        (wired("claude-code"), wired("codex")),
        (json!("yes"), json!("yes")),
        "Codex trusts the hooks"
    );
    let profile = std::fs::read_to_string(test.path("person/.bashrc")).unwrap();
    assert!(
        profile.starts_with("alias ll='ls -l'\n\n# added by `tenterhook init`\nexport PATH="),
        "{profile}"
    );
    let line = profile.lines().last().unwrap();
    assert!(
        line.starts_with("export PATH=\"$PATH\":") && line.contains("/bin"),
        "appended, and not a build directory: {line}"
    );
    assert!(!line.contains(Path::new(PROGRAM).parent().unwrap().to_str().unwrap()), "{line}");
    assert!(test.home().join("bin/tenterhook").exists());
    assert!(test.path("person/.local/share/bash-completion/completions/tenterhook").exists());
    assert!(!test.home().join("tenterhook.yaml").exists(), "notifications are off");

    let again = init(&test, &["--yes", "--json"]);
    assert_eq!(results(&again.json()), with("finished"), "{}", again.stderr);
    assert_eq!(init(&test, &["--yes", "--only", "shell,notify"]).exit, 0);
    assert_eq!(std::fs::read_to_string(test.path("person/.bashrc")).unwrap(), profile, "never twice");
    stop_daemon(&test);
}

#[test]
fn finished_steps_are_compared_with_the_machine() {
    let test = user_with_agents();
    assert_eq!(init(&test, &["--yes", "--only", "agents,mode,shell"]).exit, 0);
    let result = |name: &str| {
        let steps = results(&init(&test, &["--dry-run", "--json"]).json());
        steps.into_iter().find(|(step, _)| step == name).unwrap().1
    };
    assert_eq!(["agents", "mode", "shell"].map(result), ["finished"; 3].map(ToOwned::to_owned));
    // Each of these changes undoes a finished step.
    std::fs::write(test.path("person/.claude/settings.json"), "{}\n").unwrap();
    std::fs::write(test.path("person/.bashrc"), "").unwrap();
    assert_eq!(test.run_on_terminal(&["mode", "monitor"]).exit, 0);
    assert_eq!(["agents", "mode", "shell"].map(result), ["planned"; 3].map(ToOwned::to_owned));
    // A damaged file with the progress counts as none.
    std::fs::write(test.home().join("init.json"), "{").unwrap();
    assert_eq!(result("notify"), "planned");
    assert_eq!(init(&test, &["--yes", "--only", "agents"]).exit, 0);
    assert_eq!(result("agents"), "finished");
}

#[test]
fn a_step_that_fails_does_not_stop_the_others() {
    let test = user_with_agents();
    std::fs::write(test.path("person/.claude/settings.json"), "{\"hooks\": ").unwrap();
    let ran = init(&test, &["--yes", "--json", "--skip", "daemon,shell"]);
    assert_eq!(ran.exit, 1);
    let report = ran.json();
    let expected = [("audit", "done"), ("agents", "failed"), ("mode", "done"), ("notify", "done")];
    assert_eq!(results(&report), expected.map(|(name, result)| (name.to_owned(), result.to_owned())));
    assert_eq!(report["steps"][1]["detail"], json!({"guarded": ["codex"]}), "{report:#}");
    let message = report["steps"][1]["errors"][0]["message"].as_str().unwrap();
    assert!(message.contains("settings.json` line 1"), "{message}");
}

#[test]
fn a_guarded_agent_may_not_run_it() {
    let test = user_with_agents();
    // The hook marks the process that called it, this test, as an agent.
    test.run_with(&["hook", "claude-code", "PreToolUse"], test.bash("ls").as_bytes());
    let ran = init(&test, &["--yes"]);
    assert_eq!(ran.exit, 1);
    assert!(ran.stderr.contains("guarded agents may not set Tenterhook up"), "{}", ran.stderr);
    assert_eq!(init(&test, &["--dry-run"]).exit, 0);
}

#[test]
fn a_half_written_completion_file_is_repaired_and_a_profile_need_not_be_text() {
    let test = user_with_agents();
    let completions = "person/.local/share/bash-completion/completions/tenterhook";
    test.write(completions, "_tenterhook() {");
    std::fs::write(test.path("person/.bashrc"), b"alias x='\xff'").unwrap();
    let ran = init(&test, &["--yes", "--only", "shell"]);
    assert_eq!(ran.exit, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(std::fs::read_to_string(test.path(completions)).unwrap().len() > 100);
    let profile = std::fs::read(test.path("person/.bashrc")).unwrap();
    assert!(profile.starts_with(b"alias x='\xff'\n\n# added by `tenterhook init`\nexport PATH="));
    assert_eq!(init(&test, &["--yes", "--only", "shell"]).exit, 0);
    assert_eq!(std::fs::read(test.path("person/.bashrc")).unwrap(), profile, "never twice");
}

#[test]
fn unknown_steps_are_refused() {
    let test = TestContext::new();
    let ran = init(&test, &["--only", "agent"]);
    assert_eq!(ran.exit, 2);
    assert!(
        ran.stderr.contains("possible values: audit, agents, daemon, shell, mode, notify"),
        "{}",
        ran.stderr
    );
    assert_eq!(init(&test, &["--only", "mode", "--skip", "audit"]).exit, 2);
}

#[test]
fn zsh_and_fish_get_their_own_files() {
    for (shell, file, expected) in [
        ("zsh", "person/.zshrc", "source <(tenterhook self completions zsh)\n"),
        ("fish", "person/.config/fish/conf.d/tenterhook.fish", "fish_add_path "),
        ("fish", "person/.config/fish/completions/tenterhook.fish", "tenterhook"),
    ] {
        let test = TestContext::new();
        let mut command = command(&test, &["--yes", "--only", "shell"]);
        command.env("SHELL", format!("/usr/bin/{shell}"));
        let ran = test.run_command(command, b"");
        assert_eq!(ran.exit, 0, "{}", ran.stderr);
        let text = std::fs::read_to_string(test.path(file)).unwrap();
        assert!(text.contains(expected), "{shell}: {text}");
    }
}

/// `init` on a terminal of 80 columns and 24 rows.
struct Conversation {
    child: Child,
    keyboard: File,
    shown: Arc<Mutex<String>>,
    /// Position up to which the text was read.
    read: usize,
}

impl Conversation {
    fn start(test: &TestContext, args: &[&str]) -> Self {
        let (master, slave) = terminal();
        let (ws_row, ws_col) = (u16::try_from(ROWS).unwrap(), u16::try_from(COLUMNS).unwrap());
        tcsetwinsize(&slave, Winsize { ws_row, ws_col, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        let program = command(test, args);
        let mut command = Command::new("/usr/bin/setsid");
        command.args(["--ctty", "--wait"]).arg(program.get_program()).args(program.get_args()).env_clear();
        command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.env("NO_COLOR", "1").current_dir(test.path("work"));
        let outputs = [slave.try_clone().unwrap(), slave.try_clone().unwrap()];
        let [stdout, stderr] = outputs;
        let child = command.stdin(slave).stdout(stdout).stderr(stderr).spawn().unwrap();
        drop(command);
        let shown = Arc::new(Mutex::new(String::new()));
        let (text, mut reader) = (Arc::clone(&shown), master.try_clone().unwrap());
        std::thread::spawn(move || {
            let mut room = [0; 4096];
            while let Ok(count @ 1..) = reader.read(&mut room) {
                text.lock().unwrap().push_str(&String::from_utf8_lossy(&room[..count]));
            }
        });
        Self { child, keyboard: master, shown, read: 0 }
    }

    /// Waits until the terminal shows a text, and returns what it has shown since the last call.
    fn expect(&mut self, text: &str) -> String {
        let shown = until(&format!("the terminal shows `{text}`"), || {
            let shown = self.shown.lock().unwrap();
            shown.get(self.read..)?.contains(text).then(|| shown.clone())
        });
        // A progress line is written again and again; only its last text stays visible.
        let last_writing = |line: &str| {
            let line = line.trim_end_matches('\r');
            line.rsplit('\r').next().unwrap_or_default().to_owned()
        };
        let new = shown.get(self.read..).unwrap_or_default();
        let new: Vec<_> = new.split('\n').map(last_writing).collect();
        let new = new.join("\n");
        self.read = shown.len();
        new
    }

    fn type_text(&mut self, text: &str) {
        self.keyboard.write_all(text.as_bytes()).unwrap();
    }

    fn exit(&mut self) -> i32 {
        self.child.wait().unwrap().code().unwrap()
    }
}

#[test]
fn on_a_terminal_each_step_is_one_screen() {
    let test = home_with_transcripts();
    // The fixtures are older than the audited period.
    let transcript = test.path("person/.claude/projects");
    let line = json!({
        "type": "assistant", "sessionId": "s-9", "cwd": "/srv/shop",
        "timestamp": tenterhook_home::call_meta::now().to_string(),
        "message": {"role": "assistant", "model": "m", "content": [
            {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "rm -rf /home/dev/thesis"}}]},
    });
    std::fs::create_dir_all(transcript.join("-srv-shop")).unwrap();
    std::fs::write(transcript.join("-srv-shop/s-9.jsonl"), format!("{line}\n")).unwrap();
    test.write("person/.codex/config.toml", "model = \"x\"\n");

    let mut user = Conversation::start(&test, &[]);
    let mut screens = vec![user.expect("Enter: continue.")];
    assert!(screens[0].contains("Step 1 of 6: what your agents did"), "{}", screens[0]);
    assert!(
        screens[0].contains("denied") && screens[0].contains("rm -rf /home/dev/thesis"),
        "{}",
        screens[0]
    );
    user.type_text("\n");
    screens.push(user.expect("`q`: stop here. "));
    assert!(screens[1].contains("[x]  1 Claude Code"), "{}", screens[1]);
    user.type_text("none\n");
    screens.push(user.expect("`q`: stop here. "));
    assert!(screens[2].contains("[ ]  1 Claude Code"), "{}", screens[2]);
    user.type_text("1\n");
    user.expect("`q`: stop here. ");
    user.type_text("\n");
    let installed = user.expect("`q`: stop here. ");
    assert!(installed.contains("✓ Claude Code is guarded from its next session on"), "{installed}");
    assert!(installed.contains("Step 3 of 6: start the daemon"), "{installed}");
    // The user stops here and continues later.
    user.type_text("q\n");
    user.expect("`tenterhook init` continues.");
    assert_eq!(user.exit(), 0);
    assert!(!test.path("person/.codex/hooks.json").exists(), "only the chosen agent is guarded");

    let mut user = Conversation::start(&test, &[]);
    let daemon = user.expect("`q`: stop here. ");
    assert!(daemon.contains("Step 3 of 6"), "the first two steps are finished: {daemon}");
    user.type_text("2\n");
    user.expect("(•)  2 not at all");
    user.type_text("\n");
    screens.push(user.expect("`q`: stop here. "));
    user.type_text("s\n");
    let mode = user.expect("`q`: stop here. ");
    assert!(mode.contains("(•)  1 stop calls and ask"), "{mode}");
    screens.push(mode);
    user.type_text("5\n");
    user.expect("`q`: stop here. ");
    user.type_text("\n");
    user.expect("Type `mode monitor` to continue: ");
    user.type_text("mode monitor\n");
    screens.push(user.expect("`q`: stop here. "));
    user.type_text("5\n");
    user.expect("`q`: stop here. ");
    user.type_text("\n");
    user.expect("Address of the topic");
    user.type_text("https://ntfy.sh/topic\n");
    let end = user.expect("notify: done");
    assert!(end.contains("– shell: skipped; `tenterhook init --only shell`"), "{end}");
    assert_eq!(user.exit(), 0);
    assert_eq!(
        std::fs::read_to_string(test.home().join("tenterhook.yaml")).unwrap(),
        "notify:\n  - ntfy: \"https://ntfy.sh/topic\"\n"
    );
    assert_eq!(test.run(&["mode", "--json"]).json()["mode"], "monitor");
    assert!(!test.path("person/.bashrc").exists(), "a skipped step changes nothing");
    for screen in &screens {
        assert!(screen.trim().lines().count() <= ROWS, "{screen}");
        assert!(!screen.contains('\u{1b}'), "NO_COLOR: {screen:?}");
        for line in screen.lines() {
            assert!(line.trim_end().width() <= COLUMNS, "{line}");
        }
    }
}

#[test]
fn the_level_of_the_rules_is_chosen_too() {
    let test = user_with_agents();
    let level = || test.run(&["rules", "level", "--json"]).json()["level"].clone();
    let mut user = Conversation::start(&test, &["--only", "mode"]);
    let screen = user.expect("`q`: stop here. ");
    assert!(screen.contains("(•)  1 stop calls and ask, as the rules say  standard"), "{screen}");
    user.type_text("3\n");
    user.expect("`q`: stop here. ");
    user.type_text("\n");
    user.expect("mode: enforce, level: strict");
    assert_eq!((user.exit(), level()), (0, json!("strict")));

    // A lower level needs a confirmation.
    std::fs::remove_file(test.home().join("init.json")).unwrap();
    let mut user = Conversation::start(&test, &["--only", "mode"]);
    let screen = user.expect("`q`: stop here. ");
    assert!(screen.contains("(•)  3 ask more"), "the current level is marked: {screen}");
    user.type_text("2\n");
    user.expect("`q`: stop here. ");
    user.type_text("\n");
    user.expect("Type `rules level` to continue: ");
    user.type_text("rules level\n");
    user.expect("mode: enforce, level: relaxed");
    assert_eq!((user.exit(), level()), (0, json!("relaxed")));
}

#[test]
fn ctrl_c_leaves_what_is_finished_and_says_how_to_continue() {
    let test = user_with_agents();
    let mut user = Conversation::start(&test, &["--skip", "audit"]);
    user.expect("`q`: stop here. ");
    user.type_text("\n");
    user.expect("start the daemon");
    user.type_text("\u{3}");
    user.expect("`tenterhook init` continues.");
    assert_eq!(user.exit(), 130);
    let progress: Value =
        serde_json::from_str(&std::fs::read_to_string(test.home().join("init.json")).unwrap()).unwrap();
    assert_eq!(progress["steps"]["agents"]["chosen"], json!(["claude-code", "codex"]));
    assert_eq!(results(&init(&test, &["--dry-run", "--json"]).json())[1].1, "finished");
}
