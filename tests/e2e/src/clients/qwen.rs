// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Qwen Code. It calls an OpenAI Chat model.

use std::process::Command;

use anyhow::Result;
use fs_err as fs;
use serde_json::json;
use tenterhook_model_server::ScriptedCall;

use crate::client::Client;
use crate::world::World;
use crate::{launched, programs};

pub(super) const CLIENT: Client = Client {
    id: "qwen",
    install: &[],
    prepare: |world| {
        world.write_json(".qwen/settings.json", &json!({"mcpServers": world.mcp_servers()?}))?;
        launched::write_settings("qwen", world, ".qwen")
    },
    start: |world, model, prompt| launched::start("qwen", world, model, prompt),
    life: &["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"],
    shell: |command| launched::shell("qwen", command),
    shell_input: |command| json!({"command": command, "is_background": false}),
    shell_in: Some(|directory, command| {
        let input = json!({"command": command, "directory": directory, "is_background": false});
        ScriptedCall::new("run_shell_command", input)
    }),
    patch: None,
    mcp: |server, tool, arguments| ScriptedCall::new(format!("mcp__{server}__{tool}"), arguments),
    subagent: Some(|prompt| {
        let input = json!({"description": "sub", "prompt": prompt, "subagent_type": "general-purpose"});
        ScriptedCall::new("agent", input)
    }),
};

/// Starts Qwen Code as a program that embeds it does. It then asks for permission before a tool runs. With
/// `-p` it would refuse instead and fire no `PermissionRequest`. Standard input ends after the prompt, so
/// only a hook can grant a permission.
pub fn start_embedded(world: &World, model: &str, prompt: &str) -> Result<Command> {
    let initialize =
        json!({"type": "control_request", "request_id": "1", "request": {"subtype": "initialize"}});
    let message = json!({"role": "user", "content": prompt});
    let user = json!({"type": "user", "session_id": "", "parent_tool_use_id": null, "message": message});
    world.write("qwen-input.jsonl", &format!("{initialize}\n{user}\n"))?;
    let mut command = world.command(programs::client("qwen")?)?;
    command.envs(launched::session("qwen", world, model, prompt)?.env);
    command.args(["--approval-mode", "default", "--input-format", "stream-json", "-o", "stream-json"]);
    command.stdin(fs::File::open(world.home().join("qwen-input.jsonl"))?.into_file());
    Ok(command)
}
