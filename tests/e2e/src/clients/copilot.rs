// SPDX-License-Identifier: Apache-2.0 OR MIT

//! GitHub Copilot CLI, offline, with a model of one's own.

use serde_json::json;
use tenterhook_model_server::{Delivery, ToolCall};

use crate::client::{Client, PatchTool, added_file};
use crate::programs;

pub(super) const CLIENT: Client = Client {
    id: "copilot",
    install: &[],
    delivery: Delivery::Whole,
    prepare: |world| {
        let servers = world.mcp_settings(
            |program, args| json!({"type": "local", "command": program, "args": args, "tools": ["*"]}),
        )?;
        world.write_json(".copilot/mcp-config.json", &json!({"mcpServers": servers}))
    },
    start: |world, model, prompt| {
        let mut command = world.command(programs::client("copilot")?)?;
        command
            .env("COPILOT_OFFLINE", "true")
            .env("COPILOT_AUTO_UPDATE", "false")
            .env("COPILOT_PROVIDER_BASE_URL", format!("{model}/v1"))
            .env("COPILOT_PROVIDER_API_KEY", "dummy")
            .env("COPILOT_MODEL", "scripted")
            .args(["-p", prompt, "--allow-all-tools", "--allow-all-paths", "--trust-folder"]);
        Ok(command)
    },
    life: &["sessionStart", "userPromptSubmitted", "preToolUse", "postToolUse", "agentStop", "sessionEnd"],
    shell: |command| ToolCall::new("bash", json!({"command": command, "description": "as scripted"})),
    shell_input: |command| json!({"command": command, "description": "as rewritten"}),
    shell_in: None,
    patch: Some(PatchTool {
        args: &["--model", "gpt-5.5"],
        call: |file, line| ToolCall::new("apply_patch", json!(added_file(file, line))),
    }),
    mcp: |server, tool, arguments| ToolCall::new(format!("{server}-{tool}"), arguments),
    subagent: Some(|prompt| {
        let input =
            json!({"name": "sub", "description": "sub", "prompt": prompt, "agent_type": "general-purpose"});
        ToolCall::new("task", input)
    }),
};
