// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Cline's CLI. It asks an OpenAI Chat model. Sessions run in the program that was started, or in a hub in the background,
//! which ends with the test.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, ensure};
use serde_json::json;
use tenterhook_model_server::{Delivery, ToolCall};

use crate::client::{Client, PatchTool, added_file};
use crate::programs;
use crate::world::World;

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
        let mut command = world.command(signed_in(world, model)?)?;
        command.env("CLINE_TELEMETRY_DISABLED", "1").args(ARGS).arg("--json").arg(prompt);
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

/// The model, and every permission.
const ARGS: &[&str] = &["--auto-approve", "true", "-P", "openai-compatible", "-m", "scripted"];

/// The program, after it was told the address of the model, which it keeps in its settings only.
fn signed_in(world: &World, model: &str) -> Result<PathBuf> {
    let program = programs::client("cline")?;
    let mut auth = world.command(&program)?;
    auth.env("CLINE_SESSION_BACKEND_MODE", "local");
    auth.args(["auth", "openai-compatible", "-k", "dummy", "-m", "scripted", "-b", &format!("{model}/v1")]);
    let auth = auth.output()?;
    ensure!(auth.status.success(), "{}", String::from_utf8_lossy(&auth.stderr));
    Ok(program)
}

/// Three sessions in one hub: one before Tenterhook is installed, one after that, in another project, and one that is left
/// to the hub (`--zen`). The last ends when it has made `zen-done.txt`.
pub fn start_in_hub(world: &World, model: &str, prompt: &str) -> Result<Command> {
    let script = r#"
set -e
"$CLIENT" "$@" >&2
"$TENTERHOOK" install cline --yes >&2
cd ../other
"$CLIENT" "$@"
"$CLIENT" --zen "$@"
timeout 30 sh -c 'until test -e zen-done.txt; do sleep 0.1; done'
sleep 1
"#;
    let mut command = world.command("sh")?;
    command
        .env("CLIENT", signed_in(world, model)?)
        .env("TENTERHOOK", programs::tenterhook()?)
        .env("CLINE_TELEMETRY_DISABLED", "1")
        .env("CLINE_SESSION_BACKEND_MODE", "hub")
        .args(["-c", script, "cline"])
        .args(ARGS)
        .arg("--json")
        .arg(prompt);
    Ok(command)
}
