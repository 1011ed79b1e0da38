// SPDX-License-Identifier: Apache-2.0 OR MIT

//! LLxprt Code, run from its source. It calls an OpenAI Chat model.

use serde_json::json;
use tenterhook_model_server::ScriptedCall;

use crate::client::{Client, PatchTool};
use crate::launched;

/// Directory of its settings.
const CONFIG: &str = ".config/llxprt-code";

pub(super) const CLIENT: Client = Client {
    id: "llxprt",
    install: &[],
    prepare: |world| {
        let settings = json!({"mcpServers": world.mcp_servers()?});
        world.write_json(&format!("{CONFIG}/settings.json"), &settings)?;
        launched::write_settings("llxprt", world, CONFIG)?;
        let subagent = json!({
            "name": "helper", "profile": "scripted", "systemPrompt": "You are a helper.",
            "createdAt": "2026-08-20T00:00:00.000Z", "updatedAt": "2026-08-20T00:00:00.000Z",
        });
        world.write_json(&format!("{CONFIG}/subagents/helper.json"), &subagent)
    },
    start: |world, model, prompt| {
        // A subagent has its own model, which is named in a file.
        let profile = json!({
            "version": 1, "provider": "openai", "model": "scripted", "modelParams": {},
            "ephemeralSettings": {"base-url": format!("{model}/v1"), "auth-key": "dummy"},
        });
        world.write_json(&format!("{CONFIG}/profiles/scripted.json"), &profile)?;
        launched::start("llxprt", world, model, prompt)
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
    shell: |command| launched::shell("llxprt", command),
    shell_input: |command| json!({"command": command, "description": "as rewritten"}),
    shell_in: Some(|directory, command| {
        ScriptedCall::new("run_shell_command", json!({"command": command, "dir_path": directory}))
    }),
    patch: Some(PatchTool {
        args: &[],
        call: |file, line| {
            let name = file.file_name().unwrap_or_default().display();
            let patch = format!("--- /dev/null\n+++ b/{name}\n@@ -0,0 +1,1 @@\n+{line}\n");
            ScriptedCall::new("apply_patch", json!({"absolute_path": file, "patch_content": patch}))
        },
    }),
    mcp: |server, tool, arguments| ScriptedCall::new(format!("mcp__{server}__{tool}"), arguments),
    subagent: Some(|prompt| {
        ScriptedCall::new("task", json!({"subagent_name": "helper", "goal_prompt": prompt}))
    }),
};
