// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Claude Code.

use serde_json::json;
use tenterhook_model_server::{Delivery, ToolCall};

use crate::client::Client;
use crate::programs;

pub(super) const CLIENT: Client = Client {
    id: "claude-code",
    install: &[],
    delivery: Delivery::Whole,
    prepare: |world| {
        let servers = json!({"mcpServers": world.mcp_servers()?});
        world.write_json(".mcp-servers.json", &servers)
    },
    start: |world, model, prompt| {
        let mut command = world.command(programs::client("claude-code")?)?;
        command
            .env("ANTHROPIC_BASE_URL", model)
            .env("ANTHROPIC_API_KEY", "dummy")
            .env("DISABLE_TELEMETRY", "1")
            .env("DISABLE_AUTOUPDATER", "1")
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            // Without it the client refuses to skip permissions for root, which CI often is.
            .env("IS_SANDBOX", "1")
            .args(["-p", prompt, "--permission-mode", "bypassPermissions"])
            .args(["--output-format", "stream-json", "--verbose", "--include-hook-events"])
            .arg("--mcp-config")
            .arg(world.home().join(".mcp-servers.json"))
            .arg("--debug-file")
            .arg(world.debug_log());
        Ok(command)
    },
    life: &["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"],
    shell: |command| ToolCall::new("Bash", json!({"command": command, "description": "as scripted"})),
    shell_input: |command| json!({"command": command, "description": "as rewritten"}),
    shell_in: None,
    patch: None,
    mcp: |server, tool, arguments| ToolCall::new(format!("mcp__{server}__{tool}"), arguments),
    subagent: Some(|prompt| {
        let input = json!({"description": "sub", "prompt": prompt, "subagent_type": "general-purpose"});
        ToolCall::new("Agent", input)
    }),
};
