// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reports the steps of a running session to an observer.

use serde::Serialize;
use serde_json::Value;

use crate::provider::ModelUsage;

/// Receives the activity of a session.
pub trait ActivityObserver: Send + Sync {
    /// Handles one activity. `subagent` is the type of the subagent that caused the activity, if any.
    fn observe(&self, subagent: Option<&str>, activity: AgentActivity);
}

/// One step of a session, for observers.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum AgentActivity {
    /// A session started.
    SessionStart {
        /// Id of the session.
        session: String,
        /// Name of the model.
        model: String,
    },
    /// A session ended.
    SessionEnd {
        /// Why the session ended, such as `exit`.
        reason: String,
        /// Number of tokens used by the session.
        #[serde(serialize_with = "serialize_usage")]
        usage: ModelUsage,
        /// Cost in US dollars; `None` if the prices are not known.
        #[serde(skip_serializing_if = "Option::is_none")]
        cost: Option<f64>,
    },
    /// The user submitted a prompt.
    Prompt {
        /// Text of the prompt.
        text: String,
    },
    /// A piece of a reply arrived. Hooks have not seen the reply yet.
    Delta {
        /// Text of the piece.
        text: String,
    },
    /// The model replied. The reply is complete, and hooks have run.
    Said {
        /// Text of the reply.
        text: String,
        /// Whether a hook replaced or changed the reply.
        replaced: bool,
    },
    /// The model requested a tool call.
    Tool {
        /// Id of the tool call.
        id: String,
        /// Name of the tool.
        tool: String,
        /// Arguments of the call as the model requested them.
        args: Value,
    },
    /// A hook or rule rewrote the arguments of a tool call.
    Rewritten {
        /// Id of the tool call.
        id: String,
        /// Name of the tool.
        tool: String,
        /// The rewritten arguments.
        args: Value,
    },
    /// A tool call was denied.
    Denied {
        /// Id of the tool call.
        id: String,
        /// Name of the tool.
        tool: String,
        /// Reason for the denial.
        reason: String,
        /// Suggestion of what the agent could do instead.
        #[serde(skip_serializing_if = "Option::is_none")]
        nudge: Option<String>,
        /// Id of the rule that denied the call; `None` if a hook denied it.
        #[serde(skip_serializing_if = "Option::is_none")]
        rule: Option<String>,
    },
    /// A tool ran.
    Result {
        /// Id of the tool call.
        id: String,
        /// Name of the tool.
        tool: String,
        /// Whether the tool succeeded.
        success: bool,
        /// Output of the tool; empty if a hook suppressed it.
        output: String,
        /// Run time in milliseconds.
        duration_ms: u64,
        /// Whether a hook suppressed the output.
        suppressed: bool,
    },
    /// A failed tool will run again because a hook asked for a retry.
    Retry {
        /// Id of the tool call.
        id: String,
        /// Name of the tool.
        tool: String,
        /// Number of the attempt that failed.
        attempt: u32,
        /// Delay before the next attempt, in milliseconds.
        delay_ms: u64,
    },
    /// A message to the user from a hook or rule.
    Message {
        /// Text of the message.
        text: String,
    },
    /// A notification to the user from the agent.
    Notification {
        /// Text of the notification.
        text: String,
    },
    /// The context is nearly full.
    ContextWarning {
        /// Number of tokens in the context.
        tokens: u64,
        /// Size of the context window in tokens.
        window: u64,
    },
    /// The conversation was replaced by a summary.
    Compacted {
        /// Number of tokens in the context before the compaction.
        before: u64,
        /// Number of tokens in the context after the compaction.
        after: u64,
        /// Text of the summary.
        summary: String,
    },
    /// A subagent started.
    SubagentStart {
        /// Type of the subagent.
        kind: String,
        /// Task given to the subagent.
        task: String,
    },
    /// A subagent finished.
    SubagentStop {
        /// Type of the subagent.
        kind: String,
    },
    /// A hook prevented the agent from stopping.
    NotFinished {
        /// Reason given by the hook.
        reason: String,
    },
}

/// Ignores all activity.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoObserver;

impl ActivityObserver for NoObserver {
    fn observe(&self, _: Option<&str>, _: AgentActivity) {}
}

fn serialize_usage<S: serde::Serializer>(usage: &ModelUsage, serializer: S) -> Result<S::Ok, S::Error> {
    crate::event_draft::usage_json(usage).serialize(serializer)
}
