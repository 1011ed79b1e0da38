// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Every known event name of each harness has a row.

use tenterhook_harness::{HARNESSES, to_kebab_case};

use crate::common::{decoded, harness};

/// Event names from the vendors' documentation, the programs' sources and captured payloads.
const NAMES: &[(&str, &str)] = &[
    (
        "claude-code",
        "PreToolUse PostToolUse PostToolUseFailure PostToolBatch PermissionRequest PermissionDenied \
         UserPromptSubmit UserPromptExpansion SessionStart SessionEnd Setup Stop StopFailure SubagentStart \
         SubagentStop PreCompact PostCompact PreModelSwitch PostModelSwitch Notification TeammateIdle \
         TaskCreated TaskCompleted Elicitation ElicitationResult ConfigChange InstructionsLoaded CwdChanged \
         DirectoryAdded FileChanged WorktreeCreate WorktreeRemove MessageDisplay",
    ),
    ("codex", CODEX),
    ("codex-desktop", CODEX),
    (
        "cursor",
        "sessionStart sessionEnd preToolUse postToolUse postToolUseFailure subagentStart subagentStop \
         beforeShellExecution afterShellExecution beforeMCPExecution afterMCPExecution beforeReadFile \
         afterFileEdit beforeSubmitPrompt preCompact stop afterAgentResponse afterAgentThought \
         beforeTabFileRead afterTabFileEdit workspaceOpen",
    ),
    ("gemini", GEMINI),
    ("llxprt", GEMINI),
    (
        "qwen",
        "SessionStart Notification UserPromptSubmit PreToolUse PostToolUse PostToolUseFailure PostToolBatch \
         SubagentStart SubagentStop Stop SessionEnd PermissionRequest PreCompact PostCompact",
    ),
    (
        "opencode",
        "tool.execute.before tool.execute.after permission.ask chat.message chat.params chat.headers \
         experimental.chat.system.transform experimental.chat.messages.transform tool.definition \
         experimental.text.complete experimental.provider.small_model shell.env command.execute.before \
         experimental.session.compacting experimental.compaction.autocontinue config dispose session.created \
         session.updated session.status session.idle session.diff session.error session.compacted \
         session.deleted message.updated message.part.updated message.part.delta file.edited \
         file.watcher.updated permission.asked permission.replied plugin.added catalog.updated \
         integration.updated reference.updated",
    ),
    (
        "pi",
        "project_trust resources_discover mcp_servers_change session_start session_info_changed \
         session_before_switch session_before_fork session_before_compact session_compact \
         session_compact_failed session_shutdown session_before_tree session_tree context context_with_system \
         cache_warming_decision before_provider_request before_provider_headers after_provider_response \
         provider_stream_event before_agent_start agent_start agent_end agent_before_settle agent_settled \
         ui_prompt_start ui_prompt_end turn_start turn_end message_start message_update message_end \
         tool_execution_start tool_execution_update tool_execution_end model_select thinking_level_select \
         tool_call tool_result user_bash input",
    ),
    (
        "cline",
        "TaskStart TaskResume TaskCancel TaskComplete TaskError PreToolUse PostToolUse UserPromptSubmit \
         SessionShutdown PreCompact",
    ),
    (
        "copilot",
        "sessionStart sessionEnd userPromptSubmitted preToolUse permissionRequest preMcpToolCall postToolUse \
         postToolUseFailure agentStop subagentStart subagentStop preCompact notification errorOccurred \
         userPromptTransformed",
    ),
    (
        "vscode",
        "PreToolUse PostToolUse UserPromptSubmit SessionStart Stop SubagentStart SubagentStop PreCompact",
    ),
    (
        "continue",
        "PreToolUse PostToolUse PostToolUseFailure PermissionRequest UserPromptSubmit SessionStart SessionEnd \
         Stop Notification SubagentStart SubagentStop PreCompact",
    ),
];

/// Names that occur only in payloads or in an older registration format.
const OTHER_NAMES: &[(&str, &str, &str)] = &[
    ("cline", "tool_call", "PreToolUse"),
    ("cline", "tool_result", "PostToolUse"),
    ("cline", "agent_start", "TaskStart"),
    ("cline", "agent_resume", "TaskResume"),
    ("cline", "agent_abort", "TaskCancel"),
    ("cline", "agent_end", "TaskComplete"),
    ("cline", "agent_error", "TaskError"),
    ("cline", "prompt_submit", "UserPromptSubmit"),
    ("cline", "session_shutdown", "SessionShutdown"),
    ("copilot", "PreToolUse", "preToolUse"),
    ("copilot", "UserPromptSubmit", "userPromptSubmitted"),
    ("copilot", "user-prompt-submit", "userPromptSubmitted"),
    ("copilot", "Stop", "agentStop"),
];
const CODEX: &str = "PreToolUse PermissionRequest PostToolUse PreCompact PostCompact SessionStart SessionEnd \
     UserPromptSubmit SubagentStart SubagentStop Stop";
const GEMINI: &str = "BeforeTool AfterTool BeforeAgent AfterAgent BeforeModel AfterModel BeforeToolSelection \
     SessionStart SessionEnd PreCompress Notification";

#[test]
fn every_event_name_is_known() {
    assert_eq!(NAMES.len(), HARNESSES.len());
    for (id, names) in NAMES {
        let harness = harness(id);
        let names: Vec<_> = names.split_whitespace().collect();
        for name in &names {
            for form in [*name, &to_kebab_case(name)] {
                assert_eq!(harness.event(form).map(|row| row.native), Some(*name), "{id} {form}");
            }
        }
        assert_eq!(harness.events.len(), names.len(), "{id}");
    }
    for (id, name, native) in OTHER_NAMES {
        assert_eq!(harness(id).event(name).map(|row| row.native), Some(*native), "{id} {name}");
    }
}

#[test]
fn an_event_of_tomorrow_is_recorded_and_goes_on() {
    for harness in HARNESSES {
        let name = harness.keys.event[0];
        let payload = if name.contains('.') {
            serde_json::json!({"hook": "Tomorrow"})
        } else {
            serde_json::json!({ name: "Tomorrow" })
        };
        let call = decoded(harness, "", &payload);
        assert_eq!((call.event.event.name(), call.event.native_event.as_str()), ("other", "Tomorrow"));
        let reply = harness.encode(&call, &tenterhook_event::Outcome::default());
        assert_eq!(reply, harness.neutral("Tomorrow"), "{}", harness.id);
    }
}
