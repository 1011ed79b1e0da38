// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Cline's CLI. It asks an OpenAI Chat model. A person's sessions run in a hub in the background, which would outlive
//! the test: here each runs in the program that was started.

use anyhow::ensure;
use serde_json::json;
use tenterhook_model_server::{Delivery, ToolCall};

use crate::client::{Client, PatchTool, added_file};
use crate::programs;

pub(super) const CLIENT: Client = Client {
    id: "cline",
    install: &[],
    delivery: Delivery::Whole,
    prepare: |world| {
        world.write_json(
            ".cline/data/settings/cline_mcp_settings.json",
            &json!({"mcpServers": world.mcp_servers()?}),
        )
    },
    start: |world, model, prompt| {
        let program = programs::client("cline")?;
        // The address is kept in its settings only.
        let mut signed_in = world.command(&program)?;
        signed_in.env("CLINE_SESSION_BACKEND_MODE", "local");
        signed_in.args([
            "auth",
            "openai-compatible",
            "-k",
            "dummy",
            "-m",
            "scripted",
            "-b",
            &format!("{model}/v1"),
        ]);
        let signed_in = signed_in.output()?;
        ensure!(signed_in.status.success(), "{}", String::from_utf8_lossy(&signed_in.stderr));
        let mut command = world.command(&program)?;
        command.env("CLINE_TELEMETRY_DISABLED", "1").args([
            "--json",
            "--auto-approve",
            "true",
            "-P",
            "openai-compatible",
            "-m",
            "scripted",
            prompt,
        ]);
        Ok(command)
    },
    life: &["TaskStart", "PreToolUse", "PostToolUse", "TaskComplete"],
    shell: |command| ToolCall::new("run_commands", json!({"commands": [command]})),
    shell_input: |command| json!({"commands": [command]}),
    shell_in: None,
    patch: Some(PatchTool {
        args: &["-m", "gpt-scripted"],
        call: |file, line| ToolCall::new("apply_patch", json!({"input": added_file(file, line)})),
    }),
    mcp: |server, tool, arguments| ToolCall::new(format!("{server}__{tool}"), arguments),
    subagent: Some(|prompt| {
        ToolCall::new("spawn_agent", json!({"systemPrompt": "you are a helper", "task": prompt}))
    }),
};
