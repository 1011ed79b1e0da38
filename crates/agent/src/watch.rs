// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What somebody who looks on sees, as it happens.

use serde::Serialize;
use serde_json::Value;

use crate::provider::Usage;

/// Looks on.
pub trait Watch: Send + Sync {
    /// Something happened; `subagent` is the type of the subagent it happened in, if it was one.
    fn see(&self, subagent: Option<&str>, moment: Moment);
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum Moment {
    /// A session begins.
    SessionStart {
        /// Its id.
        session: String,
        /// The model.
        model: String,
    },
    /// A session is over.
    SessionEnd {
        /// Why.
        reason: String,
        /// What it cost, in tokens.
        #[serde(serialize_with = "tokens")]
        usage: Usage,
        /// The same in dollars, where that is known.
        #[serde(skip_serializing_if = "Option::is_none")]
        cost: Option<f64>,
    },
    /// The person asked for something.
    Prompt {
        /// What.
        text: String,
    },
    /// A piece of an answer arrived; hooks have not seen it yet.
    Delta {
        /// More words.
        text: String,
    },
    /// The model said something, and this is what counts.
    Said {
        /// What.
        text: String,
        /// Whether a hook put it in place of something else.
        replaced: bool,
    },
    /// The model wants a tool.
    Tool {
        /// The id of the call.
        id: String,
        /// The tool.
        tool: String,
        /// With what.
        args: Value,
    },
    /// The tool will run with something else.
    Rewritten {
        /// The id of the call.
        id: String,
        /// The tool.
        tool: String,
        /// With what.
        args: Value,
    },
    /// The tool does not run.
    Denied {
        /// The id of the call.
        id: String,
        /// The tool.
        tool: String,
        /// Why.
        reason: String,
        /// What the agent could do instead.
        #[serde(skip_serializing_if = "Option::is_none")]
        nudge: Option<String>,
        /// The rule that said so, if it was one.
        #[serde(skip_serializing_if = "Option::is_none")]
        rule: Option<String>,
    },
    /// The tool ran.
    Result {
        /// The id of the call.
        id: String,
        /// The tool.
        tool: String,
        /// Whether it worked.
        success: bool,
        /// What it returned; empty if it is to be kept from the person's eyes.
        output: String,
        /// How long it took, in milliseconds.
        duration_ms: u64,
        /// Whether the output is kept back.
        suppressed: bool,
    },
    /// The tool is tried again, because a hook said so.
    Retry {
        /// The id of the call.
        id: String,
        /// The tool.
        tool: String,
        /// After which attempt.
        attempt: u32,
        /// When.
        delay_ms: u64,
    },
    /// A hook or rule tells the person something.
    Message {
        /// What.
        text: String,
    },
    /// The agent tells the person something.
    Notification {
        /// What.
        text: String,
    },
    /// The context is nearly full.
    ContextWarning {
        /// How full, in tokens.
        tokens: u64,
        /// How much fits.
        window: u64,
    },
    /// The conversation was summarised.
    Compacted {
        /// How full it was, in tokens.
        before: u64,
        /// How full it is.
        after: u64,
        /// What is left.
        summary: String,
    },
    /// A subagent begins.
    SubagentStart {
        /// Its type.
        kind: String,
        /// What it is to do.
        task: String,
    },
    /// A subagent is done.
    SubagentStop {
        /// Its type.
        kind: String,
    },
    /// The agent wanted to finish, and somebody said: not yet.
    NotFinished {
        /// Why.
        reason: String,
    },
}

/// Nobody looks on.
#[derive(Debug, Clone, Copy, Default)]
pub struct NobodyWatches;

impl Watch for NobodyWatches {
    fn see(&self, _: Option<&str>, _: Moment) {}
}

fn tokens<S: serde::Serializer>(usage: &Usage, serializer: S) -> Result<S::Ok, S::Error> {
    crate::tell::usage(usage).serialize(serializer)
}
