// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Runs Codex CLI without a user. Codex calls an OpenAI Responses model.

use std::ffi::OsString;

use serde_json::json;

use super::install;
use crate::launch::{ClientInvocation, ClientLaunch, ToolRequest};

pub(super) const LAUNCH: ClientLaunch = ClientLaunch {
    hook_keys: &[&["hooks"]],
    hook_tables: &[&["features"], &["hooks", "state"]],
    relocated: install::relocated_trust,
    ..ClientLaunch::new(
        |site, prompt| {
            // Codex chooses the tools that it offers by the model's name.
            let settings = [
                ("model", json!("gpt-5.5")),
                ("model_provider", json!("scripted")),
                ("approval_policy", json!("never")),
                ("sandbox_mode", json!("danger-full-access")),
                ("model_providers.scripted.name", json!("scripted")),
                ("model_providers.scripted.base_url", json!(format!("{}/v1", site.model))),
                ("model_providers.scripted.wire_api", json!("responses")),
                ("model_providers.scripted.env_key", json!("SCRIPTED_KEY")),
                ("model_providers.scripted.supports_websockets", json!(false)),
                ("model_providers.scripted.request_max_retries", json!(0)),
                ("model_providers.scripted.stream_max_retries", json!(0)),
            ];
            let mut args: Vec<OsString> = ["exec", "--json", "--skip-git-repo-check"].map(Into::into).into();
            for (key, value) in settings {
                args.extend(["-c".into(), format!("{key}={value}").into()]);
            }
            args.extend(["-C".into(), site.project.into(), prompt.into()]);
            ClientInvocation::new(args)
                .env("CODEX_HOME", site.home.join(".codex"))
                .env("SCRIPTED_KEY", "dummy")
        },
        |command| ToolRequest { name: "exec_command", input: json!({"cmd": command}) },
    )
};
