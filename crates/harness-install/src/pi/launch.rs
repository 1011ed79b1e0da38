// SPDX-License-Identifier: Apache-2.0 OR MIT
//! How pi is run without a user. It calls an OpenAI Responses model; of its providers, the one for Azure takes its address
//! from the environment. Our hooks are an extension, so that none of the user's settings are needed.

use serde_json::json;

use crate::launch::{Invocation, Launch, ToolRequest};

pub(super) const LAUNCH: Launch = Launch::new(
    |site, prompt| {
        Invocation::new(["-p", "--approve", "--model", "azure/gpt-5.4", prompt])
            .env("AZURE_OPENAI_BASE_URL", format!("{}/v1", site.model))
            .env("AZURE_OPENAI_API_KEY", "dummy")
            .env("PI_OFFLINE", "1")
            .env("PI_TELEMETRY", "0")
    },
    |command| ToolRequest { name: "bash", input: json!({"command": command}) },
);
