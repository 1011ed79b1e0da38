// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Kinds of events: the points in an agent's run at which hooks and rules apply, for all harnesses.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The error for a string that is not the name of an event kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown event kind `{0}`")]
pub struct UnknownEventKind(pub String);

macro_rules! kinds {
    ($($variant:ident $name:literal $doc:literal)*) => {
        /// A point in an agent's run at which hooks and rules apply. [`EventKind::ALL`] lists all of them.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub enum EventKind {
            $(#[doc = $doc] #[serde(rename = $name)] $variant,)*
        }

        impl EventKind {
            /// All kinds, in the order in which they occur in a session.
            pub const ALL: &[EventKind] = &[$(EventKind::$variant),*];

            /// Returns the name used in configuration, JSON and the API.
            pub fn name(self) -> &'static str {
                match self { $(EventKind::$variant => $name,)* }
            }

            /// Returns a short description for users.
            pub fn description(self) -> &'static str {
                match self { $(EventKind::$variant => $doc,)* }
            }
        }

        impl FromStr for EventKind {
            type Err = UnknownEventKind;

            fn from_str(name: &str) -> Result<Self, UnknownEventKind> {
                match name { $($name => Ok(EventKind::$variant),)* _ => Err(UnknownEventKind(name.to_owned())) }
            }
        }
    };
}

kinds! {
    SessionStart "session-start" "a session begins, resumes or is cleared"
    SessionEnd "session-end" "a session has ended"
    Prompt "prompt" "a user prompt is about to reach the agent"
    PreModel "pre-model" "a request is about to be sent to the model"
    PostModel "post-model" "the model has responded"
    ToolSelection "tool-selection" "the tools that the model may call are being selected"
    PreTool "pre-tool" "a tool is about to run"
    PostTool "post-tool" "a tool has run"
    ToolError "tool-error" "a tool has failed"
    PermissionRequest "permission-request" "the harness is about to ask for permission"
    PermissionGranted "permission-granted" "permission was granted"
    PermissionDenied "permission-denied" "permission was denied"
    SubagentStart "subagent-start" "a subagent starts"
    SubagentStop "subagent-stop" "a subagent wants to finish"
    PreCompact "pre-compact" "the context is about to be compacted"
    PostCompact "post-compact" "the context was compacted"
    ContextWarning "context-warning" "the context is nearly full"
    Notification "notification" "the agent notifies the user"
    Stop "stop" "the agent wants to finish its turn"
    Other "other" "any other event of the harness; `native_event` has its name"
}

impl EventKind {
    /// Returns whether events of this kind are about a tool call.
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
