// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Gemini CLI.

use serde_json::json;
use tenterhook_model_server::{Delivery, ToolCall};

use crate::client::Client;
use crate::programs;

pub(super) const CLIENT: Client = Client {
    id: "gemini",
    install: &[],
    delivery: Delivery::Whole,
    prepare: |world| {
        let settings = json!({
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "telemetry": {"enabled": false},
            "privacy": {"usageStatisticsEnabled": false},
            "general": {"disableAutoUpdate": true},
            "mcpServers": world.mcp_servers()?,
        });
        world.write_json(".gemini/settings.json", &settings)
    },
    start: |world, model, prompt| {
        let mut command = world.command(programs::client("gemini")?)?;
        command
            .env("GEMINI_API_KEY", "dummy")
            .env("GOOGLE_GEMINI_BASE_URL", model)
            .env("GEMINI_CLI_TRUST_WORKSPACE", "true")
            // Else it starts itself anew, and what we started is no longer what works.
            .env("GEMINI_CLI_NO_RELAUNCH", "true")
            .args(["-m", "gemini-2.5-flash", "--approval-mode", "yolo", "-o", "text", "-p", prompt]);
        Ok(command)
    },
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
    shell: |command| {
        ToolCall::new("run_shell_command", json!({"command": command, "description": "as scripted"}))
    },
    shell_input: |command| json!({"command": command}),
    shell_in: Some(|directory, command| {
        ToolCall::new("run_shell_command", json!({"command": command, "dir_path": directory}))
    }),
    patch: None,
    mcp: |server, tool, arguments| ToolCall::new(format!("mcp_{server}_{tool}"), arguments),
    subagent: Some(|prompt| {
        ToolCall::new("invoke_agent", json!({"agent_name": "generalist", "prompt": prompt}))
    }),
};
