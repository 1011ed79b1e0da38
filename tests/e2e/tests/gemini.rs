// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tests specific to Gemini CLI: which of its hooks fire, in which order, and with which input.

use anyhow::Result;
use serde_json::{Value, json};
use tenterhook_e2e::scenarios::{guarded, shell};
use tenterhook_e2e::{Client, World, clients};
use tenterhook_model_server::{ConversationScript, ModelTurn};

fn gemini() -> Result<&'static Client> {
    clients::find("gemini")
}

/// Recorded events of tool calls, with tool and verdict.
fn tool_events(world: &World) -> Result<Vec<[String; 3]>> {
    let ledger = world.ledger()?;
    let tools = ledger.iter().filter(|leaf| leaf.get("tool").is_some_and(|tool| !tool.is_null()));
    let text =
        |leaf: &Value, path: &str| leaf.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned();
    let row = |leaf| ["/native_event", "/tool/name", "/verdict"].map(|path| text(leaf, path));
    Ok(tools.map(row).collect())
}

// seed: 001-037
#[test]
fn hooks_fire_before_and_after_each_tool_and_a_denied_one_does_not_run() -> Result<()> {
    let world = guarded(gemini()?)?;
    let precious = world.precious()?;
    let _daemon = world.serve()?;
    let delete = format!("rm -r {}", precious.display());
    let script =
        ConversationScript::new().turn(shell(gemini()?, "touch ran.txt")).turn(shell(gemini()?, &delete));
    let session = gemini()?.run(&world, "please go on", script)?;
    assert!(precious.join("thesis.txt").exists() && world.project().join("ran.txt").exists());
    let row = |event, verdict| [event, "run_shell_command", verdict].map(str::to_owned);
    let expected = [row("BeforeTool", "none"), row("AfterTool", "none"), row("BeforeTool", "deny")];
    assert_eq!(tool_events(&world)?, expected, "{session:#?}");

    // Control: without hooks nothing is recorded, and the client deletes the directory.
    let world = World::new()?;
    (gemini()?.prepare)(&world)?;
    let precious = world.precious()?;
    let delete =
        ModelTurn::tool("run_shell_command", json!({"command": format!("rm -r {}", precious.display())}));
    let session = gemini()?.run(&world, "please go on", ConversationScript::new().turn(delete))?;
    assert!(!precious.exists(), "{session:#?}");
    assert!(world.ledger()?.is_empty());
    Ok(())
}
