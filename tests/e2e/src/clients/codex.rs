// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Codex CLI. It calls an OpenAI Responses model, and its tools are grouped.

use std::fmt::Write as _;

use anyhow::Context as _;
use serde_json::json;
use tenterhook_model_server::ScriptedCall;

use crate::client::{Client, PatchTool, added_file};
use crate::launched;

pub(super) const CLIENT: Client = Client {
    id: "codex",
    install: &["--trust"],
    prepare: |world| {
        let mut config = String::from("# A comment of the user's.\nmodel_verbosity = \"low\"\n");
        for (name, words) in world.mcp_commands()? {
            let (program, args) = words.split_first().context("no program")?;
            write!(config, "\n[mcp_servers.{name}]\ncommand = {}\nargs = {}\n", json!(program), json!(args))?;
        }
        world.write(".codex/config.toml", &config)
    },
    start: |world, model, prompt| launched::start("codex", world, model, prompt),
    life: &["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"],
    shell: |command| launched::shell("codex", command),
    shell_input: |command| json!({"command": command}),
    shell_in: Some(|directory, command| {
        ScriptedCall::new("exec_command", json!({"cmd": command, "workdir": directory}))
    }),
    patch: Some(PatchTool {
        args: &[],
        call: |file, line| ScriptedCall::new("apply_patch", json!(added_file(file, line))),
    }),
    // Server names contain only letters, digits and `_`.
    mcp: |server, tool, arguments| {
        ScriptedCall::new(tool, arguments).in_namespace(format!("mcp__{}", server.replace('-', "_")))
    },
    subagent: Some(|prompt| {
        ScriptedCall::new("spawn_agent", json!({"message": prompt})).in_namespace("multi_agent_v1")
    }),
};
