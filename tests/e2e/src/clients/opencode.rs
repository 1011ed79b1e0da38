// SPDX-License-Identifier: Apache-2.0 OR MIT

//! OpenCode. It calls an OpenAI Chat model, and its hooks are functions of a plugin.

use serde_json::{Map, json};
use tenterhook_model_server::ScriptedCall;

use crate::client::{Client, PatchTool, added_file};
use crate::launched;

pub(super) const CLIENT: Client = Client {
    id: "opencode",
    install: &[],
    prepare: |world| {
        let servers = world.mcp_commands()?.into_iter().map(|(name, words)| {
            (name.to_owned(), json!({"type": "local", "command": words, "enabled": true}))
        });
        let servers: Map<_, _> = servers.collect();
        let settings = json!({"$schema": "https://opencode.ai/config.json", "mcp": servers});
        world.write_json(".config/opencode/opencode.json", &settings)
    },
    start: |world, model, prompt| launched::start("opencode", world, model, prompt),
    life: &[
        "session.created",
        "chat.message",
        "chat.params",
        "tool.execute.before",
        "tool.execute.after",
        "experimental.text.complete",
        "session.idle",
    ],
    shell: |command| launched::shell("opencode", command),
    shell_input: |command| json!({"command": command, "description": "as rewritten"}),
    shell_in: Some(|directory, command| {
        let input = json!({"command": command, "workdir": directory, "description": "as scripted"});
        ScriptedCall::new("bash", input)
    }),
    patch: Some(PatchTool {
        args: &["--model", "scripted/gpt-scripted"],
        call: |file, line| ScriptedCall::new("apply_patch", json!({"patchText": added_file(file, line)})),
    }),
    mcp: |server, tool, arguments| ScriptedCall::new(format!("{server}_{tool}"), arguments),
    subagent: Some(|prompt| {
        let input = json!({"description": "sub", "prompt": prompt, "subagent_type": "general"});
        ScriptedCall::new("task", input)
    }),
};
