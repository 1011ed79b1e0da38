// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Claude Code.

use serde_json::json;
use tenterhook_model_server::ScriptedCall;

use crate::client::Client;
use crate::launched;

pub(super) const CLIENT: Client = Client {
    id: "claude-code",
    install: &[],
    prepare: |world| {
        let servers = json!({"mcpServers": world.mcp_servers()?});
        world.write_json(".mcp-servers.json", &servers)
    },
    start: |world, model, prompt| {
        let mut command = launched::start("claude-code", world, model, prompt)?;
        command
            .args(["--output-format", "stream-json", "--verbose", "--include-hook-events"])
            .arg("--mcp-config")
            .arg(world.home().join(".mcp-servers.json"))
            .arg("--debug-file")
            .arg(world.debug_log());
        Ok(command)
    },
    life: &["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"],
    shell: |command| launched::shell("claude-code", command),
    shell_input: |command| json!({"command": command, "description": "as rewritten"}),
    shell_in: None,
    patch: None,
    mcp: |server, tool, arguments| ScriptedCall::new(format!("mcp__{server}__{tool}"), arguments),
    subagent: Some(|prompt| {
        let input = json!({"description": "sub", "prompt": prompt, "subagent_type": "general-purpose"});
        ScriptedCall::new("Agent", input)
    }),
};
