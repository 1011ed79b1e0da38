// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Gemini CLI.

use serde_json::json;
use tenterhook_model_server::ScriptedCall;

use crate::client::Client;
use crate::launched;

pub(super) const CLIENT: Client = Client {
    id: "gemini",
    install: &[],
    prepare: |world| {
        world.write_json(".gemini/settings.json", &json!({"mcpServers": world.mcp_servers()?}))?;
        launched::write_settings("gemini", world, ".gemini")
    },
    start: |world, model, prompt| launched::start("gemini", world, model, prompt),
    life: &[
        "SessionStart",
        "BeforeAgent",
        "BeforeModel",
        "BeforeToolSelection",
        "AfterModel",
        "BeforeTool",
        "AfterTool",
        "AfterAgent",
        "SessionEnd",
    ],
    shell: |command| launched::shell("gemini", command),
    shell_input: |command| json!({"command": command}),
    shell_in: Some(|directory, command| {
        ScriptedCall::new("run_shell_command", json!({"command": command, "dir_path": directory}))
    }),
    patch: None,
    mcp: |server, tool, arguments| ScriptedCall::new(format!("mcp_{server}_{tool}"), arguments),
    subagent: Some(|prompt| {
        ScriptedCall::new("invoke_agent", json!({"agent_name": "generalist", "prompt": prompt}))
    }),
};
