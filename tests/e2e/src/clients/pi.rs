// SPDX-License-Identifier: Apache-2.0 OR MIT

//! pi. It calls an OpenAI Responses model, and its hooks are functions of an extension.

use serde_json::json;
use tenterhook_model_server::ScriptedCall;

use crate::client::Client;
use crate::launched;

pub(super) const CLIENT: Client = Client {
    id: "pi",
    install: &[],
    prepare: |world| {
        // Without this setting, only scripts can use the tools of a server.
        let servers = world
            .mcp_settings(|program, args| json!({"command": program, "args": args, "exposure": "direct"}))?;
        world.write_json(".pi/agent/mcp.json", &json!({"mcpServers": servers}))
    },
    start: |world, model, prompt| launched::start("pi", world, model, prompt),
    life: &[
        "session_start",
        "input",
        "before_provider_request",
        "message_end",
        "tool_call",
        "tool_result",
        "agent_before_settle",
        "session_shutdown",
    ],
    shell: |command| launched::shell("pi", command),
    shell_input: |command| json!({"command": command}),
    shell_in: None,
    patch: None,
    // Server names contain only letters, digits and `_`.
    mcp: |server, tool, arguments| {
        ScriptedCall::new(format!("mcp__{}__{tool}", server.replace('-', "_")), arguments)
    },
    subagent: None,
};
