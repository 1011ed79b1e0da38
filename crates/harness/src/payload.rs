// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Parses a native payload, which is one JSON object of limited size and depth.

use serde_json::Value;
use tenterhook_event::NativePayload;

/// Maximum size of a payload.
pub const MAX_PAYLOAD_BYTES: usize = 32 * 1024 * 1024;

/// Why a payload cannot be decoded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// Standard input was empty.
    #[error("the payload is empty")]
    Empty,
    /// The payload is larger than [`MAX_PAYLOAD_BYTES`].
    #[error("the payload is larger than {} MiB", MAX_PAYLOAD_BYTES / 1024 / 1024)]
    TooLarge,
    /// The payload is invalid JSON, or nested too deeply.
    #[error("the payload is not JSON: {0}")]
    NotJson(String),
    /// The payload is valid JSON but not an object.
    #[error("the payload is not a JSON object but {0}")]
    NotObject(&'static str),
    /// Neither the payload nor the hook command names the event.
    #[error("neither the payload nor the command names the event")]
    NoEventName,
    /// A hook that is registered for a gate received the payload of another event.
    #[error("the payload is for `{named}`, but the hook is registered for `{wired}`")]
    Mismatch {
        /// Native name of the event that the hook is registered for.
        wired: &'static str,
        /// Event name in the payload.
        named: String,
    },
    /// A field that is needed for the decision has the wrong type.
    #[error("the payload's `{field}` is not {expected}")]
    Field {
        /// Name of the field.
        field: &'static str,
        /// JSON type that the field must have.
        expected: &'static str,
    },
}

/// Parses the payload and keeps its exact bytes.
pub(crate) fn parse_payload(bytes: &[u8]) -> Result<NativePayload, DecodeError> {
    if bytes.len() > MAX_PAYLOAD_BYTES {
        return Err(DecodeError::TooLarge);
    }
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(DecodeError::Empty);
    }
    match serde_json::from_slice(bytes) {
        Ok(Value::Object(fields)) => Ok(NativePayload { bytes: bytes.to_vec(), fields }),
        Ok(other) => Err(DecodeError::NotObject(json_type_name(&other))),
        Err(error) => Err(DecodeError::NotJson(error.to_string())),
    }
}

fn json_type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_that_cannot_be_used_says_why() {
        let why = |bytes: &[u8]| parse_payload(bytes).unwrap_err().to_string();
        assert_eq!(why(b""), "the payload is empty");
        assert_eq!(why(b" \n"), "the payload is empty");
        assert_eq!(why(b"[1]"), "the payload is not a JSON object but an array");
        assert_eq!(why(b"{\"a\":"), "the payload is not JSON: EOF while parsing a value at line 1 column 5");
        assert_eq!(why(&vec![b' '; MAX_PAYLOAD_BYTES + 1]), "the payload is larger than 32 MiB");
        let deep = [vec![b'['; 10_000], vec![b']'; 10_000]].concat();
        assert!(why(&deep).contains("recursion limit exceeded"), "{}", why(&deep));
        assert!(why(b"{\"a\":\"\0\"}").contains("control character"), "{}", why(b"{\"a\":\"\0\"}"));
    }

    #[test]
    fn the_bytes_are_kept_as_they_came() {
        let bytes = b"{ \"b\": 1.0,\n \"a\": 12345678901234567890123 }\n";
        assert_eq!(parse_payload(bytes).unwrap().bytes, bytes);
    }
}
