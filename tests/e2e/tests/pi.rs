// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tests specific to pi.

use anyhow::Result;
use fs_err as fs;
use serde_json::{Value, json};
use tenterhook_e2e::scenarios::{guarded, hooked};
use tenterhook_e2e::{Client, clients};
use tenterhook_model_server::{ConversationScript, ModelTurn, ScriptedCall};

fn pi() -> Result<&'static Client> {
    clients::find("pi")
}

#[test]
fn a_refused_prompt_shows_its_reason() -> Result<()> {
    let reason = "The harbour master says no.";
    let world = hooked(pi()?, "prompt", &format!("cat >/dev/null\necho '{reason}' >&2\nexit 2"))?;
    let _daemon = world.serve()?;
    let session = pi()?.run(&world, "please go on", ConversationScript::new())?;
    assert!(!session.model_read("please go on"), "{session:#?}");
    assert!(session.stderr.contains(reason), "{session:#?}");
    Ok(())
}

/// A `codemode` script calls tools itself. Each of these calls is evaluated on its own, regardless of the
/// script's text.
#[test]
fn a_command_in_a_script_is_judged() -> Result<()> {
    let world = guarded(pi()?)?;
    let precious = world.precious()?;
    let _daemon = world.serve()?;
    let code = format!(
        "const line = ['r', 'm'].join('') + ' -rf {}'; const all = await Promise.allSettled(\
         [tools.bash({{command: line}}), tools.bash({{command: 'touch beside.txt'}})]); text(all)",
        precious.display()
    );
    let script =
        ConversationScript::new().turn(ModelTurn::from(ScriptedCall::new("codemode", json!({"code": code}))));
    let session = pi()?.run_with(&world, "please go on", script, &["--tools", "+codemode"])?;
    assert!(precious.join("thesis.txt").exists(), "{session:#?}");
    assert!(world.project().join("beside.txt").exists(), "{session:#?}");
    let denied = |leaf: &Value| leaf["verdict"] == "deny" && leaf["native_event"] == "tool_call";
    assert_eq!(world.ledger()?.iter().filter(|leaf| denied(leaf)).count(), 1, "{session:#?}");
    Ok(())
}

#[test]
fn the_agent_cannot_remove_its_extension() -> Result<()> {
    let world = guarded(pi()?)?;
    let _daemon = world.serve()?;
    let extension = world.home().join(".pi/agent/extensions/tenterhook.js");
    let settings = world.home().join(".pi/agent/settings.json");
    let calls = [
        (pi()?.shell)(&format!("rm {}", extension.display())),
        ScriptedCall::new("write", json!({"path": extension, "content": "export default () => {}"})),
        ScriptedCall::new(
            "edit",
            json!({"path": extension, "edits": [{"oldText": "tool_call", "newText": "x"}]}),
        ),
        ScriptedCall::new("write", json!({"path": settings, "content": "{\"extensions\": [\"!*\"]}"})),
    ];
    let count = calls.len();
    let script =
        calls.into_iter().fold(ConversationScript::new(), |script, call| script.turn(ModelTurn::from(call)));
    let before = fs::read(&extension)?;
    let session = pi()?.run(&world, "please go on", script)?;
    assert_eq!(fs::read(&extension)?, before, "{session:#?}");
    assert!(!settings.exists(), "{session:#?}");
    assert_eq!(session.tool_results.len(), count, "{session:#?}");
    assert!(session.tool_results.iter().all(|result| result.contains("→ Suggested: ")), "{session:#?}");
    Ok(())
}

/// The user's settings can disable the extension, which `doctor` reports. Project settings cannot.
#[test]
fn settings_that_switch_the_extension_off_are_found_by_doctor() -> Result<()> {
    let world = guarded(pi()?)?;
    let ran = |settings: &str, name: &str| -> Result<bool> {
        let file = world.home().join(settings);
        world.write_json(settings, &json!({"extensions": ["!*"]}))?;
        let precious = world.precious()?;
        let command = format!("rm -rf {}", precious.display());
        pi()?.run(&world, name, ConversationScript::new().turn(ModelTurn::from((pi()?.shell)(&command))))?;
        fs::rename(&file, file.with_extension("off"))?;
        Ok(!precious.join("thesis.txt").exists())
    };
    assert!(!ran("project/.pi/settings.json", "of the project")?);
    assert!(ran(".pi/agent/settings.json", "of the user")?, "the trap itself");
    world.write_json(".pi/agent/settings.json", &json!({"extensions": ["!*"]}))?;
    let report = world.doctor()?;
    assert!(report.contains("pi does not load the extension"), "{report}");
    Ok(())
}
