// SPDX-License-Identifier: Apache-2.0 OR MIT

//! OpenCode. It asks an OpenAI Chat model, and its hooks are functions of a plugin.

use serde_json::{Map, json};
use tenterhook_model_server::{Delivery, ToolCall};

use crate::client::{Client, PatchTool, added_file};
use crate::programs;

pub(super) const CLIENT: Client = Client {
    id: "opencode",
    install: &[],
    delivery: Delivery::Whole,
    prepare: |world| {
        let servers = world.mcp_commands()?.into_iter().map(|(name, words)| {
            (name.to_owned(), json!({"type": "local", "command": words, "enabled": true}))
        });
        let servers: Map<_, _> = servers.collect();
        let model = json!({
            "name": "Scripted", "tool_call": true, "limit": {"context": 100_000, "output": 4_000},
        });
        let settings = json!({
            "$schema": "https://opencode.ai/config.json",
            "model": "scripted/scripted",
            "small_model": "scripted/scripted",
            "share": "disabled",
            "autoupdate": false,
            "provider": {"scripted": {
                "npm": "@ai-sdk/openai-compatible",
                "name": "Scripted",
                "options": {"baseURL": "{env:SCRIPTED_URL}/v1", "apiKey": "dummy"},
                "models": {"scripted": model, "gpt-scripted": model},
            }},
            "permission": {"*": "allow"},
            "mcp": servers,
        });
        world.write_json(".config/opencode/opencode.json", &settings)
    },
    start: |world, model, prompt| {
        let mut command = world.command(programs::client("opencode")?)?;
        command
            .env("SCRIPTED_URL", model)
            .env("OPENCODE_DISABLE_AUTOUPDATE", "true")
            .env("OPENCODE_DISABLE_MODELS_FETCH", "true")
            // Where there are plugins it looks for a package of its own first; ours needs none, and nothing answers there.
            .env("npm_config_registry", "http://127.0.0.1:9/")
            .env("npm_config_fetch_retries", "0")
            .args(["run", prompt]);
        Ok(command)
    },
    life: &[
        "session.created",
        "chat.message",
        "chat.params",
        "tool.execute.before",
        "tool.execute.after",
        "experimental.text.complete",
        "session.idle",
    ],
    shell: |command| ToolCall::new("bash", json!({"command": command, "description": "as scripted"})),
    shell_input: |command| json!({"command": command, "description": "as rewritten"}),
    shell_in: Some(|directory, command| {
        let input = json!({"command": command, "workdir": directory, "description": "as scripted"});
        ToolCall::new("bash", input)
    }),
    patch: Some(PatchTool {
        args: &["--model", "scripted/gpt-scripted"],
        call: |file, line| ToolCall::new("apply_patch", json!({"patchText": added_file(file, line)})),
    }),
    mcp: |server, tool, arguments| ToolCall::new(format!("{server}_{tool}"), arguments),
    subagent: Some(|prompt| {
        let input = json!({"description": "sub", "prompt": prompt, "subagent_type": "general"});
        ToolCall::new("task", input)
    }),
};
