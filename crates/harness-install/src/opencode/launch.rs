// SPDX-License-Identifier: Apache-2.0 OR MIT
//! How OpenCode is run without a user. It calls an OpenAI Chat model. The hooks are a plugin, so none of the user's
//! settings affect them.

use serde_json::json;

use crate::launch::{ClientInvocation, ClientLaunch, LaunchSite, ToolRequest};

pub(super) const LAUNCH: ClientLaunch = ClientLaunch::new(
    |site, prompt| {
        ClientInvocation::new(["run", prompt])
            .env("OPENCODE_CONFIG_CONTENT", config(site))
            .env("OPENCODE_DISABLE_AUTOUPDATE", "true")
            .env("OPENCODE_DISABLE_MODELS_FETCH", "true")
            // When OpenCode has plugins, it first looks for its own package in this registry. The plugin does not
            // need the package, and nothing listens at this address.
            .env("npm_config_registry", "http://127.0.0.1:9/")
            .env("npm_config_fetch_retries", "0")
    },
    |command| ToolRequest { name: "bash", input: json!({"command": command, "description": "as scripted"}) },
);

fn config(site: &LaunchSite<'_>) -> String {
    let model =
        json!({"name": "Scripted", "tool_call": true, "limit": {"context": 100_000, "output": 4_000}});
    let config = json!({
        "model": "scripted/scripted",
        "small_model": "scripted/scripted",
        "share": "disabled",
        "autoupdate": false,
        "provider": {"scripted": {
            "npm": "@ai-sdk/openai-compatible",
            "name": "Scripted",
            "options": {"baseURL": format!("{}/v1", site.model), "apiKey": "dummy"},
            "models": {"scripted": model, "gpt-scripted": model},
        }},
        "permission": {"*": "allow"},
    });
    config.to_string()
}
