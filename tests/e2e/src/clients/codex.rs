// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Codex CLI. It asks an OpenAI Responses model, and its tools come in groups.

use std::fmt::Write as _;

use anyhow::Context as _;
use serde_json::json;
use tenterhook_model_server::{Delivery, ToolCall};

use crate::client::{Client, PatchTool, added_file};
use crate::programs;

pub(super) const CLIENT: Client = Client {
    id: "codex",
    install: &["--trust"],
    delivery: Delivery::Whole,
    prepare: |world| {
        // The model's name decides which tools there are.
        let mut config = String::from(
            "# A comment of the person's.\nmodel = \"gpt-5.5\"\nmodel_provider = \"scripted\"\n\
             approval_policy = \"never\"\nsandbox_mode = \"danger-full-access\"\n\n\
             [model_providers.scripted]\nname = \"scripted\"\nbase_url = \"http://127.0.0.1:9/v1\"\n\
             wire_api = \"responses\"\nenv_key = \"SCRIPTED_KEY\"\nsupports_websockets = false\n\
             request_max_retries = 0\nstream_max_retries = 0\n",
        );
        for (name, words) in world.mcp_commands()? {
            let (program, args) = words.split_first().context("no program")?;
            write!(config, "\n[mcp_servers.{name}]\ncommand = {}\nargs = {}\n", json!(program), json!(args))?;
        }
        world.write(".codex/config.toml", &config)
    },
    start: |world, model, prompt| {
        let mut command = world.command(programs::client("codex")?)?;
        command
            .env("CODEX_HOME", world.home().join(".codex"))
            .env("SCRIPTED_KEY", "dummy")
            .args(["exec", "--json", "--skip-git-repo-check"])
            .args(["-c", &format!("model_providers.scripted.base_url=\"{model}/v1\"")])
            .arg("-C")
            .arg(world.project())
            .arg(prompt);
        Ok(command)
    },
    life: &["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"],
    shell: |command| ToolCall::new("exec_command", json!({"cmd": command})),
    shell_input: |command| json!({"command": command}),
    shell_in: Some(|directory, command| {
        ToolCall::new("exec_command", json!({"cmd": command, "workdir": directory}))
    }),
    patch: Some(PatchTool {
        args: &[],
        call: |file, line| ToolCall::new("apply_patch", json!(added_file(file, line))),
    }),
    // It writes names with letters, digits and `_` only.
    mcp: |server, tool, arguments| {
        ToolCall::new(tool, arguments).under(format!("mcp__{}", server.replace('-', "_")))
    },
    subagent: Some(|prompt| ToolCall::new("spawn_agent", json!({"message": prompt})).under("multi_agent_v1")),
};
