// SPDX-License-Identifier: Apache-2.0 OR MIT

//! LLxprt Code's `llm_request_boundary`, which tells where the pending messages of a rewritten request begin.

use serde_json::Value;

/// The boundary in a hook's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Boundary {
    /// The output has no boundary.
    Absent,
    /// A valid boundary.
    Valid {
        /// Index of the first pending message.
        start: u64,
        /// Number of pending messages.
        count: Option<u64>,
        /// What to do if the boundary does not match the messages.
        on_invalid: OnInvalid,
    },
    /// A malformed boundary. It is not treated as absent, because the hook intended to set one.
    Malformed {
        /// What to do about the malformed boundary.
        on_invalid: OnInvalid,
    },
}

/// What to do about an invalid boundary.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OnInvalid {
    /// Skip the compression.
    #[default]
    SkipCompression,
    /// Fail the request.
    Throw,
}

impl Boundary {
    /// Reads the value of `llm_request_boundary`. A `null` is a present value and therefore malformed.
    pub fn read(value: Option<&Value>) -> Self {
        let Some(value) = value else { return Self::Absent };
        let on_invalid = match value.get("onInvalidBoundary").and_then(Value::as_str) {
            Some("throw") => OnInvalid::Throw,
            _ => OnInvalid::SkipCompression,
        };
        match Self::well_formed(value) {
            Some((start, count)) => Self::Valid { start, count, on_invalid },
            None => Self::Malformed { on_invalid },
        }
    }

    /// Whether the boundary matches this number of messages: the pending messages must extend to the end.
    pub fn fits(&self, messages: u64) -> bool {
        match *self {
            Self::Valid { start, count: Some(count), .. } => start.checked_add(count) == Some(messages),
            Self::Valid { start, count: None, .. } => start <= messages,
            Self::Absent | Self::Malformed { .. } => false,
        }
    }

    fn well_formed(value: &Value) -> Option<(u64, Option<u64>)> {
        let whole = Value::as_u64;
        let fields = value.as_object()?;
        let version = fields.get("version").is_none_or(|version| version.as_u64() == Some(1));
        let policy = fields
            .get("onInvalidBoundary")
            .is_none_or(|policy| policy == "skip-compression" || policy == "throw");
        if !(version && policy) {
            return None;
        }
        let start = whole(fields.get("pendingMessageStartIndex")?)?;
        match fields.get("pendingMessageCount") {
            None => Some((start, None)),
            Some(count) => Some((start, Some(whole(count)?))),
        }
    }
}
