// SPDX-License-Identifier: Apache-2.0 OR MIT

//! LLxprt Code, run from its source. It asks an OpenAI Chat model.

use serde_json::json;
use tenterhook_model_server::{Delivery, ToolCall};

use crate::client::{Client, PatchTool};
use crate::programs;

/// Where it keeps its settings.
const CONFIG: &str = ".config/llxprt-code";

pub(super) const CLIENT: Client = Client {
    id: "llxprt",
    install: &[],
    // It fails at random when several events of a stream arrive at once.
    delivery: Delivery::Paced { pause_ms: 30 },
    prepare: |world| {
        let settings = json!({
            "telemetry": {"enabled": false},
            "privacy": {"usageStatisticsEnabled": false},
            "mcpServers": world.mcp_servers()?,
        });
        world.write_json(&format!("{CONFIG}/settings.json"), &settings)?;
        let subagent = json!({
            "name": "helper", "profile": "scripted", "systemPrompt": "You are a helper.",
            "createdAt": "2026-08-20T00:00:00.000Z", "updatedAt": "2026-08-20T00:00:00.000Z",
        });
        world.write_json(&format!("{CONFIG}/subagents/helper.json"), &subagent)
    },
    start: |world, model, prompt| {
        let model = format!("{model}/v1");
        // A subagent has a model of its own, which is named in a file.
        let profile = json!({
            "version": 1, "provider": "openai", "model": "scripted", "modelParams": {},
            "ephemeralSettings": {"base-url": model, "auth-key": "dummy"},
        });
        world.write_json(&format!("{CONFIG}/profiles/scripted.json"), &profile)?;
        let mut command = world.command(programs::client("llxprt")?)?;
        // Without `--yolo` it has no shell when nobody sits there.
        command.args(["--provider", "openai", "--baseurl", &model, "--key", "dummy", "-m", "scripted"]);
        command.args(["--yolo", "-p", prompt]);
        Ok(command)
    },
    life: &[
        "SessionStart",
        "BeforeAgent",
        "BeforeToolSelection",
        "BeforeModel",
        "AfterModel",
        "BeforeTool",
        "AfterTool",
        "AfterAgent",
        "SessionEnd",
    ],
    shell: |command| {
        ToolCall::new("run_shell_command", json!({"command": command, "description": "as scripted"}))
    },
    shell_input: |command| json!({"command": command, "description": "as rewritten"}),
    shell_in: Some(|directory, command| {
        ToolCall::new("run_shell_command", json!({"command": command, "dir_path": directory}))
    }),
    patch: Some(PatchTool {
        args: &[],
        call: |file, line| {
            let name = file.file_name().unwrap_or_default().display();
            let patch = format!("--- /dev/null\n+++ b/{name}\n@@ -0,0 +1,1 @@\n+{line}\n");
            ToolCall::new("apply_patch", json!({"absolute_path": file, "patch_content": patch}))
        },
    }),
    mcp: |server, tool, arguments| ToolCall::new(format!("mcp__{server}__{tool}"), arguments),
    subagent: Some(|prompt| ToolCall::new("task", json!({"subagent_name": "helper", "goal_prompt": prompt}))),
};
