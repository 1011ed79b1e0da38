// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Cline's CLI. It calls an OpenAI Chat model. Sessions run in the started program or in a background process
//! (the hub), which ends with the test.

use std::process::Command;

use anyhow::Result;
use serde_json::json;
use tenterhook_model_server::ScriptedCall;

use crate::client::{Client, PatchTool, added_file};
use crate::world::World;
use crate::{launched, programs};

pub(super) const CLIENT: Client = Client {
    id: "cline",
    install: &[],
    prepare: |world| {
        world.write_json(
            ".cline/data/settings/cline_mcp_settings.json",
            &json!({"mcpServers": world.mcp_servers()?}),
        )
    },
    start: |world, model, prompt| launched::start("cline", world, model, prompt),
    life: &["TaskStart", "PreToolUse", "PostToolUse", "TaskComplete"],
    shell: |command| launched::shell("cline", command),
    shell_input: |command| json!({"commands": [command]}),
    shell_in: None,
    patch: Some(PatchTool {
        args: &["-m", "gpt-scripted"],
        call: |file, line| ScriptedCall::new("apply_patch", json!({"input": added_file(file, line)})),
    }),
    mcp: |server, tool, arguments| ScriptedCall::new(format!("{server}__{tool}"), arguments),
    subagent: Some(|prompt| {
        ScriptedCall::new("spawn_agent", json!({"systemPrompt": "you are a helper", "task": prompt}))
    }),
};

/// Runs three sessions in one hub: one before Tenterhook is installed, one afterwards in another project, and
/// one that is handed over to the hub (`--zen`). The last session ends after it has created `zen-done.txt`.
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
    let session = launched::session("cline", world, model, prompt)?;
    let mut command = world.command("sh")?;
    command
        .envs(session.env)
        .env("CLIENT", programs::client("cline")?)
        .env("TENTERHOOK", programs::tenterhook()?)
        .env("CLINE_SESSION_BACKEND_MODE", "hub")
        .args(["-c", script, "cline"])
        .args(session.args);
    Ok(command)
}
