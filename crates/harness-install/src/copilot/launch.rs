// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Runs GitHub Copilot CLI without a user: offline, with the caller's model.

use serde_json::json;

use crate::launch::{ClientInvocation, ClientLaunch, ToolRequest};

pub(super) const LAUNCH: ClientLaunch = ClientLaunch {
    hook_keys: &[&["version"], &["hooks"], &["disableAllHooks"]],
    ..ClientLaunch::new(
        |site, prompt| {
            ClientInvocation::new(["-p", prompt, "--allow-all-tools", "--allow-all-paths", "--trust-folder"])
                .env("COPILOT_OFFLINE", "true")
                .env("COPILOT_AUTO_UPDATE", "false")
                .env("COPILOT_PROVIDER_BASE_URL", format!("{}/v1", site.model))
                .env("COPILOT_PROVIDER_API_KEY", "dummy")
                .env("COPILOT_MODEL", "scripted")
        },
        |command| ToolRequest {
            name: "bash",
            input: json!({"command": command, "description": "as scripted"}),
        },
    )
};
