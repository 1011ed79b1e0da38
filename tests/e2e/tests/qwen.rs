// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Qwen Code's own: what its answers do that look like Claude Code's.

use anyhow::Result;
use serde_json::json;
use tenterhook_e2e::scenarios::{hooked, printing, shell};
use tenterhook_e2e::{Client, clients};
use tenterhook_model_server::Script;

const CONTEXT: &str = "The harbour master is called Odalys.";

fn qwen() -> Result<&'static Client> {
    clients::find("qwen")
}

#[test]
fn what_a_hook_says_at_the_start_reaches_the_model() -> Result<()> {
    let output =
        json!({"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": CONTEXT}});
    let world = hooked(qwen()?, "session-start", &printing(&output))?;
    let _daemon = world.serve()?;
    let session = qwen()?.run(&world, "go", Script::new())?;
    assert!(session.model_read(CONTEXT), "{session:#?}");
    Ok(())
}

#[test]
fn a_hook_that_ends_the_turn_before_a_tool_keeps_the_tool_from_running() -> Result<()> {
    let output = json!({"continue": false, "stopReason": CONTEXT});
    let world = hooked(qwen()?, "pre-tool", &printing(&output))?;
    let _daemon = world.serve()?;
    let session = qwen()?.run(&world, "go", Script::new().turn(shell(qwen()?, "touch ran.txt")))?;
    assert!(!world.project().join("ran.txt").exists(), "{session:#?}");
    Ok(())
}
