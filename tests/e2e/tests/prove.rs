// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Runs `doctor --prove` on the real clients. It reports *proven* if hooks fire, and *not fired* if the settings keep
//! the client from calling them.

use anyhow::{Context as _, Result};
use fs_err as fs;
use serde_json::Value;
use tenterhook_e2e::scenarios::guarded;
use tenterhook_e2e::{World, clients};

/// Returns the result for one client, after checking that `doctor --prove` did not change the user's files.
fn result(world: &World, id: &str) -> Result<(bool, Value)> {
    let before = world.settings()?;
    let (success, report) = world.prove(id)?;
    assert_eq!(world.settings()?, before, "the proof has changed settings: {report:#}");
    assert!(world.ledger()?.is_empty(), "the proof was recorded in the user's ledger: {report:#}");
    let proof = report.pointer("/harnesses/0").context("no result")?;
    Ok((success, proof.clone()))
}

fn is_proven(id: &str) -> Result<()> {
    let world = guarded(clients::find(id)?)?;
    let (success, proof) = result(&world, id)?;
    assert_eq!(proof.get("result").and_then(Value::as_str), Some("proven"), "{proof:#}");
    let is_timed = proof.get("milliseconds").is_some_and(Value::is_u64);
    assert!(success && is_timed && proof.get("version").is_some_and(Value::is_string), "{proof:#}");
    Ok(())
}

/// Returns the result after applying `change` to a settings file.
fn after(id: &str, file: &str, change: impl Fn(&str) -> String) -> Result<Value> {
    let world = guarded(clients::find(id)?)?;
    let path = world.home().join(file);
    let before = fs::read_to_string(&path)?;
    let changed = change(&before);
    assert_ne!(changed, before);
    fs::write(&path, changed)?;
    let (success, proof) = result(&world, id)?;
    assert!(!success, "{proof:#}");
    Ok(proof)
}

#[test]
fn claude_code() -> Result<()> {
    is_proven("claude-code")
}

#[test]
fn codex() -> Result<()> {
    is_proven("codex")
}

#[test]
fn gemini() -> Result<()> {
    is_proven("gemini")
}

#[test]
fn qwen() -> Result<()> {
    is_proven("qwen")
}

#[test]
fn opencode() -> Result<()> {
    is_proven("opencode")
}

#[test]
fn cline() -> Result<()> {
    is_proven("cline")
}

#[test]
fn copilot() -> Result<()> {
    is_proven("copilot")
}

#[test]
fn pi() -> Result<()> {
    is_proven("pi")
}

mod llxprt {
    use super::*;

    #[test]
    fn llxprt() -> Result<()> {
        is_proven("llxprt")
    }
}

#[test]
fn hooks_that_claude_code_was_told_not_to_run_are_not_fired() -> Result<()> {
    let off = |text: &str| text.replacen('{', "{\"disableAllHooks\": true,", 1);
    let proof = after("claude-code", ".claude/settings.json", off)?;
    assert_eq!(proof["result"], "not-fired", "{proof:#}");
    Ok(())
}

#[test]
fn settings_that_claude_code_ignores_are_not_fired() -> Result<()> {
    let comment = |text: &str| text.replacen('{', "{ // mine\n", 1);
    let proof = after("claude-code", ".claude/settings.json", comment)?;
    assert_eq!(proof["result"], "not-fired", "{proof:#}");
    Ok(())
}

/// Claude Code does not wait for a background hook.
#[test]
fn a_denial_that_claude_code_does_not_wait_for_is_not_obeyed() -> Result<()> {
    let proof = after("claude-code", ".claude/settings.json", |text| {
        let mut settings: Value = serde_json::from_str(text).expect("settings are JSON");
        settings["hooks"]["PreToolUse"][0]["hooks"][0]["async"] = true.into();
        settings.to_string()
    })?;
    assert_eq!(proof["result"], "not-obeyed", "{proof:#}");
    Ok(())
}

#[test]
fn hooks_that_codex_does_not_trust_are_not_fired() -> Result<()> {
    let proof = after("codex", ".codex/config.toml", |text| text.replace("sha256:", "sha256:00"))?;
    assert_eq!(proof["result"], "not-fired", "{proof:#}");
    Ok(())
}

#[test]
fn hooks_that_gemini_has_turned_off_are_not_fired() -> Result<()> {
    let off = |text: &str| text.replacen('{', "{\"hooksConfig\": {\"enabled\": false},", 1);
    let proof = after("gemini", ".gemini/settings.json", off)?;
    assert_eq!(proof["result"], "not-fired", "{proof:#}");
    Ok(())
}

#[test]
fn a_plugin_that_opencode_cannot_load_is_not_fired() -> Result<()> {
    let world = guarded(clients::find("opencode")?)?;
    let plugin = world.home().join(".config/opencode/plugin/tenterhook.js");
    fs::remove_file(plugin).context("no plugin")?;
    let (success, proof) = result(&world, "opencode")?;
    assert!(!success && proof["result"] == "not-fired", "{proof:#}");
    Ok(())
}

#[test]
fn an_extension_that_pi_does_not_find_is_not_fired() -> Result<()> {
    let world = guarded(clients::find("pi")?)?;
    fs::remove_file(world.home().join(".pi/agent/extensions/tenterhook.js")).context("no extension")?;
    let (success, proof) = result(&world, "pi")?;
    assert!(!success && proof["result"] == "not-fired", "{proof:#}");
    Ok(())
}
