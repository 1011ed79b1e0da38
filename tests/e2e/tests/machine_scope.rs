// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Hooks in machine-wide settings. Settings of accounts and projects do not disable them, except in the cases that
//! `install` reports. Each attempt to disable them is run on the real client. The tests also fail if a known bypass no
//! longer works.

use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};
use tenterhook_e2e::scenarios::shell;
use tenterhook_e2e::{Attempt, Session, World, clients};
use tenterhook_model_server::ConversationScript;

/// Text that the model reads when the rule denies the call.
const REASON: &str = "This would delete a whole directory tree outside the project";

/// What happened to a call that a rule denies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Denied,
    Ran,
    /// The call did not run, but not because of the rule.
    Other,
}

/// Number of retries for a client that fails by itself.
const RETRIES: usize = 2;

fn outcome(id: &str, attempt: &Attempt) -> Result<(Outcome, String)> {
    let mut last = run_once(id, attempt)?;
    for _ in 0..RETRIES {
        if last.0 != Outcome::Other {
            break;
        }
        last = run_once(id, attempt)?;
    }
    Ok(last)
}

fn run_once(id: &str, attempt: &Attempt) -> Result<(Outcome, String)> {
    let client = clients::find(id)?;
    let world = World::new()?;
    (client.prepare)(&world)?;
    // The attempt is written after the installation, because `install` would report settings that disable the
    // hooks.
    world.install_for_machine(client)?;
    world.write_attempt(attempt)?;
    let _daemon = world.serve_machine()?;
    let precious = world.precious()?;
    let delete = shell(client, &format!("rm -r {}", precious.display()));
    let session = client.run_on_machine(&world, ConversationScript::new().turn(delete), attempt)?;
    Ok((outcome_of(&precious, &session), format!("{id}, {}: {session:#?}", attempt.name)))
}

fn outcome_of(precious: &Path, session: &Session) -> Outcome {
    let is_told = session.tool_results.iter().any(|result| result.contains(REASON));
    match (precious.exists(), is_told) {
        (false, _) => Outcome::Ran,
        (true, true) => Outcome::Denied,
        (true, false) => Outcome::Other,
    }
}

fn prove(id: &str, held: &[Attempt], bypasses: &[Attempt]) -> Result<()> {
    let nothing = Attempt { name: "nothing", ..Attempt::default() };
    for attempt in std::iter::once(&nothing).chain(held) {
        let (outcome, story) = outcome(id, attempt)?;
        assert_eq!(outcome, Outcome::Denied, "{story}");
    }
    for attempt in bypasses {
        let (outcome, story) = outcome(id, attempt)?;
        assert_eq!(
            outcome,
            Outcome::Ran,
            "this no longer bypasses the hooks, correct the harness's row: {story}"
        );
    }
    Ok(())
}

const fn files(name: &'static str, files: &'static [(&'static str, &'static str)]) -> Attempt {
    Attempt { name, files, args: &[], variables: &[] }
}

const fn flags(name: &'static str, args: &'static [&'static str]) -> Attempt {
    Attempt { name, files: &[], args, variables: &[] }
}

const fn variables(name: &'static str, variables: &'static [(&'static str, &'static str)]) -> Attempt {
    Attempt { name, files: &[], args: &[], variables }
}

#[test]
fn claude_code() -> Result<()> {
    const OFF: &str = r#"{"disableAllHooks": true}"#;
    let held = [
        files("disableAllHooks of the account", &[(".claude/settings.json", OFF)]),
        files(
            "disableAllHooks of the project",
            &[("project/.claude/settings.json", OFF), ("project/.claude/settings.local.json", OFF)],
        ),
        flags("--settings", &["--settings", OFF]),
        flags("--bare", &["--bare"]),
        flags("--safe-mode", &["--safe-mode"]),
        variables("CLAUDE_CODE_SIMPLE", &[("CLAUDE_CODE_SIMPLE", "1")]),
    ];
    prove("claude-code", &held, &[])
}

/// Returns what happens to the call in an organisation with these server-managed settings. Checks that
/// `doctor` reports dropped hooks, based on the settings that the client itself stored.
fn in_organisation(
    settings: fn(&World) -> Result<Option<Value>>,
    is_user_installed: bool,
) -> Result<Outcome> {
    let client = clients::find("claude-code")?;
    let world = World::new()?;
    (client.prepare)(&world)?;
    world.install_for_machine(client)?;
    let settings = settings(&world)?;
    let _daemon = world.serve_machine()?;
    let precious = world.precious()?;
    let delete = shell(client, &format!("rm -r {}", precious.display()));
    if is_user_installed {
        world.tenterhook(&["install", client.id, "--yes"])?;
    }
    let session =
        client.run_in_organisation(&world, ConversationScript::new().turn(delete), settings.as_ref())?;
    let outcome = outcome_of(&precious, &session);
    let [machine, own] = world.broken_on_machine("Claude Code")?;
    let is_dropped = settings.as_ref().is_some_and(|settings| settings.get("hooks").is_none());
    let says = "ignores every file of managed settings";
    assert_eq!(machine.contains(says), is_dropped, "{machine}\n{session:#?}");
    // If the account has its own hooks, it is guarded, so `doctor` reports no problem for the account.
    assert_eq!(own.contains(says), is_dropped && !is_user_installed, "{own}\n{session:#?}");
    Ok(outcome)
}

#[test]
fn claude_code_drops_the_machine_s_hooks_while_there_are_server_managed_settings() -> Result<()> {
    assert_eq!(in_organisation(|_| Ok(None), false)?, Outcome::Denied);
    let unrelated = |_: &World| Ok(Some(json!({"cleanupPeriodDays": 30})));
    assert_eq!(in_organisation(unrelated, false)?, Outcome::Ran, "correct what `doctor` says about it");
    // These are both remedies that `doctor` suggests.
    assert_eq!(in_organisation(unrelated, true)?, Outcome::Denied);
    let ours = |world: &World| Ok(Some(world.machine_settings("claude-code/managed-settings.json")?));
    assert_eq!(in_organisation(ours, false)?, Outcome::Denied);
    Ok(())
}

#[test]
fn codex() -> Result<()> {
    let held = [
        files("features.hooks = false", &[(".codex/config.toml", "\n[features]\nhooks = false\n")]),
        files("hooks of its own", &[(".codex/config.toml", "\n[hooks]\nPreToolUse = []\n")]),
        flags("-c features.hooks=false", &["-c", "features.hooks=false"]),
        flags("--disable hooks", &["--disable", "hooks"]),
    ];
    prove("codex", &held, &[])
}

#[test]
fn copilot() -> Result<()> {
    const OFF: &str = r#"{"disableAllHooks": true}"#;
    let held = [
        files(
            "disableAllHooks of the account",
            &[(".copilot/settings.json", OFF), (".copilot/config.json", OFF)],
        ),
        files("disableAllHooks of the project", &[("project/.github/copilot/settings.json", OFF)]),
    ];
    prove("copilot", &held, &[])
}

#[test]
fn gemini() -> Result<()> {
    const OFF: &str = r#"{"hooksConfig": {"enabled": false}, "hooks": {"BeforeTool": []}}"#;
    const NAMED: &str = r#"{"hooksConfig": {"disabled": ["tenterhook"]}}"#;
    let held = [
        files("hooksConfig.enabled of the account", &[(".gemini/settings.json", OFF)]),
        files("hooksConfig.enabled of the project", &[("project/.gemini/settings.json", OFF)]),
        files("a path in .env", &[("project/.env", "GEMINI_CLI_SYSTEM_SETTINGS_PATH=/nowhere\n")]),
    ];
    let bypasses = [
        files("hooksConfig.disabled of the project", &[("project/.gemini/settings.json", NAMED)]),
        variables("another path", &[("GEMINI_CLI_SYSTEM_SETTINGS_PATH", "/nowhere")]),
    ];
    prove("gemini", &held, &bypasses)
}

#[test]
fn qwen() -> Result<()> {
    const OFF: &str = r#"{"disableAllHooks": true, "env": {"QWEN_CODE_SAFE_MODE": "1"}}"#;
    let held = [
        files("disableAllHooks and env of the account", &[(".qwen/settings.json", OFF)]),
        files("disableAllHooks and env of the project", &[("project/.qwen/settings.json", OFF)]),
    ];
    let bypasses = [
        files("safe mode in .env", &[("project/.env", "QWEN_CODE_SAFE_MODE=1\n")]),
        flags("--bare", &["--bare"]),
        variables("another path", &[("QWEN_CODE_SYSTEM_SETTINGS_PATH", "/nowhere")]),
    ];
    prove("qwen", &held, &bypasses)
}

#[test]
fn opencode() -> Result<()> {
    let held = [files("plugin of the project", &[("project/opencode.json", r#"{"plugin": []}"#)])];
    let bypasses = [flags("--pure", &["--pure"])];
    prove("opencode", &held, &bypasses)
}

mod llxprt {
    use super::*;

    #[test]
    fn llxprt() -> Result<()> {
        const OFF: &str = r#"{"hooksConfig": {"enabled": false, "disabled": ["tenterhook"]},
            "tools": {"enableHooks": false}, "hooks": {"BeforeTool": []}}"#;
        let held = [
            files("switches and hooks of the account", &[(".config/llxprt-code/settings.json", OFF)]),
            files("switches and hooks of the project", &[("project/.llxprt/settings.json", OFF)]),
        ];
        let bypasses =
            [files("another path in .env", &[("project/.env", "LLXPRT_SYSTEM_SETTINGS_PATH=/nowhere\n")])];
        prove("llxprt", &held, &bypasses)
    }
}
