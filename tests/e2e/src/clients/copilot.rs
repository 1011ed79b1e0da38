// SPDX-License-Identifier: Apache-2.0 OR MIT

//! GitHub Copilot CLI, offline, with a custom model.

use serde_json::json;
use tenterhook_model_server::ScriptedCall;

use crate::client::{Client, PatchTool, added_file};
use crate::launched;

pub(super) const CLIENT: Client = Client {
    id: "copilot",
    install: &[],
    prepare: |world| {
        let servers = world.mcp_settings(
            |program, args| json!({"type": "local", "command": program, "args": args, "tools": ["*"]}),
        )?;
        world.write_json(".copilot/mcp-config.json", &json!({"mcpServers": servers}))
    },
    start: |world, model, prompt| launched::start("copilot", world, model, prompt),
    life: &["sessionStart", "userPromptSubmitted", "preToolUse", "postToolUse", "agentStop", "sessionEnd"],
    shell: |command| launched::shell("copilot", command),
    shell_input: |command| json!({"command": command, "description": "as rewritten"}),
    shell_in: None,
    patch: Some(PatchTool {
        args: &["--model", "gpt-5.5"],
        call: |file, line| ScriptedCall::new("apply_patch", json!(added_file(file, line))),
    }),
    mcp: |server, tool, arguments| ScriptedCall::new(format!("{server}-{tool}"), arguments),
    subagent: Some(|prompt| {
        let input =
            json!({"name": "sub", "description": "sub", "prompt": prompt, "agent_type": "general-purpose"});
        ScriptedCall::new("task", input)
    }),
};
