// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What the programs have to know about harnesses. Generated from the table in `crates/harness` by
//! `make generate`; a test fails when this file is stale.

/// The largest payload, in bytes.
pub const MAX_PAYLOAD: usize = 32 * 1024 * 1024;

/// Harness, and the variable in which it tells its hooks the project's root.
pub(crate) const PROJECT_VARIABLES: &[(&str, &str)] = &[
    ("claude-code", "CLAUDE_PROJECT_DIR"),
    ("cursor", "CURSOR_PROJECT_DIR"),
    ("gemini", "GEMINI_PROJECT_DIR"),
    ("llxprt", "LLXPRT_PROJECT_DIR"),
    ("qwen", "QWEN_PROJECT_DIR"),
    ("copilot", "COPILOT_PROJECT_DIR"),
];

/// Harness, event and what the harness reads when no rule or hook matches. An empty name stands for every other event.
#[rustfmt::skip]
pub(crate) const NEUTRAL_REPLIES: &[(&str, &str, &str)] = &[
    ("cursor", "workspace-open", ""),
    ("cursor", "session-start", ""),
    ("cursor", "before-submit-prompt", "{\"continue\":true}\n"),
    ("cursor", "pre-tool-use", "{\"permission\":\"allow\"}\n"),
    ("cursor", "before-shell-execution", "{\"permission\":\"allow\"}\n"),
    ("cursor", "before-mcp-execution", "{\"permission\":\"allow\"}\n"),
    ("cursor", "before-read-file", "{\"permission\":\"allow\"}\n"),
    ("cursor", "before-tab-file-read", "{\"permission\":\"allow\"}\n"),
    ("cursor", "post-tool-use", ""),
    ("cursor", "post-tool-use-failure", ""),
    ("cursor", "after-shell-execution", ""),
    ("cursor", "after-mcp-execution", ""),
    ("cursor", "after-file-edit", ""),
    ("cursor", "after-tab-file-edit", ""),
    ("cursor", "subagent-start", "{\"permission\":\"allow\"}\n"),
    ("cursor", "subagent-stop", ""),
    ("cursor", "pre-compact", ""),
    ("cursor", "after-agent-response", ""),
    ("cursor", "after-agent-thought", ""),
    ("cursor", "stop", ""),
    ("cursor", "session-end", ""),
    ("cursor", "", "{\"permission\":\"allow\"}\n"),
];
