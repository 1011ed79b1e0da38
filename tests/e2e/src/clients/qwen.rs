// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Qwen Code. It asks an OpenAI Chat model.

use serde_json::json;
use tenterhook_model_server::{Delivery, ToolCall};

use crate::client::Client;
use crate::programs;

pub(super) const CLIENT: Client = Client {
    id: "qwen",
    install: &[],
    delivery: Delivery::Whole,
    prepare: |world| {
        let settings = json!({
            "security": {"auth": {"selectedType": "openai"}},
            "privacy": {"usageStatisticsEnabled": false},
            "general": {"disableAutoUpdate": true},
            "mcpServers": world.mcp_servers()?,
        });
        world.write_json(".qwen/settings.json", &settings)
    },
    start: |world, model, prompt| {
        let mut command = world.command(programs::client("qwen")?)?;
        command
            .env("OPENAI_API_KEY", "dummy")
            .env("OPENAI_BASE_URL", format!("{model}/v1"))
            .env("OPENAI_MODEL", "scripted")
            .args(["--approval-mode", "yolo", "-o", "text", "-p", prompt]);
        Ok(command)
    },
    life: &["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"],
    shell: |command| {
        let input = json!({"command": command, "description": "as scripted", "is_background": false});
        ToolCall::new("run_shell_command", input)
    },
    shell_input: |command| json!({"command": command, "is_background": false}),
    shell_in: Some(|directory, command| {
        let input = json!({"command": command, "directory": directory, "is_background": false});
        ToolCall::new("run_shell_command", input)
    }),
    patch: None,
    mcp: |server, tool, arguments| ToolCall::new(format!("mcp__{server}__{tool}"), arguments),
    subagent: Some(|prompt| {
        let input = json!({"description": "sub", "prompt": prompt, "subagent_type": "general-purpose"});
        ToolCall::new("agent", input)
    }),
};
