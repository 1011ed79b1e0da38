// SPDX-License-Identifier: Apache-2.0 OR MIT

//! LLxprt Code's `llm_request_boundary`: where the pending messages of a rewritten request begin.

use serde_json::Value;

/// What a hook said about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Boundary {
    /// Nothing.
    Absent,
    /// Something that can be read.
    Valid {
        /// The first pending message.
        start: u64,
        /// How many there are.
        count: Option<u64>,
        /// What to do if it does not fit the messages.
        on_invalid: OnInvalid,
    },
    /// Something that cannot: not the same as nothing, the hook wanted a say.
    Malformed {
        /// What to do about it.
        on_invalid: OnInvalid,
    },
}

/// What to do about a boundary that does not fit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OnInvalid {
    /// Leave the compression out.
    #[default]
    SkipCompression,
    /// Fail.
    Throw,
}

impl Boundary {
    /// Reads the value under the key; a key with `null` is there, and malformed.
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

    /// Whether it fits this many messages: what is pending has to reach to the end.
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
