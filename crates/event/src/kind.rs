// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Kinds of events: the points of an agent's life, whichever harness runs it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The name is no kind of event.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no kind of event")]
pub struct UnknownKind(pub String);

macro_rules! kinds {
    ($($variant:ident $name:literal $doc:literal)*) => {
        /// One point of an agent's life. [`EventKind::ALL`] is the whole table.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub enum EventKind {
            $(#[doc = $doc] #[serde(rename = $name)] $variant,)*
        }

        impl EventKind {
            /// Every kind, in the order of an agent's life.
            pub const ALL: &[EventKind] = &[$(EventKind::$variant),*];

            /// The name on the wire.
            pub fn name(self) -> &'static str {
                match self { $(EventKind::$variant => $name,)* }
            }

            /// One sentence for people.
            pub fn about(self) -> &'static str {
                match self { $(EventKind::$variant => $doc,)* }
            }
        }

        impl FromStr for EventKind {
            type Err = UnknownKind;

            fn from_str(name: &str) -> Result<Self, UnknownKind> {
                match name { $($name => Ok(EventKind::$variant),)* _ => Err(UnknownKind(name.to_owned())) }
            }
        }
    };
}

kinds! {
    SessionStart "session-start" "a session begins, resumes or is cleared"
    SessionEnd "session-end" "a session is over"
    Prompt "prompt" "a person's prompt is about to reach the agent"
    PreModel "pre-model" "a request is about to go to the model"
    PostModel "post-model" "the model has answered"
    ToolSelection "tool-selection" "the tools the model may choose from are being settled"
    PreTool "pre-tool" "a tool is about to run"
    PostTool "post-tool" "a tool has run"
    ToolError "tool-error" "a tool has failed"
    PermissionRequest "permission-request" "the harness is about to ask for permission"
    PermissionGranted "permission-granted" "permission was given"
    PermissionDenied "permission-denied" "permission was refused"
    SubagentStart "subagent-start" "a subagent begins"
    SubagentStop "subagent-stop" "a subagent wants to finish"
    PreCompact "pre-compact" "the context is about to be compacted"
    PostCompact "post-compact" "the context was compacted"
    ContextWarning "context-warning" "the context is nearly full"
    Notification "notification" "the agent tells a person something"
    Stop "stop" "the agent wants to finish its turn"
    Other "other" "anything else the harness reports; `native_event` has its name"
}

impl EventKind {
    /// Whether a tool call is what this kind is about.
    pub fn concerns_tool(self) -> bool {
        matches!(
            self,
            Self::PreTool
                | Self::PostTool
                | Self::ToolError
                | Self::PermissionRequest
                | Self::PermissionGranted
                | Self::PermissionDenied
        )
    }
}

impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_read_back_from_its_name() {
        for kind in EventKind::ALL {
            assert_eq!(kind.name().parse(), Ok(*kind));
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        }
    }
}
