// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reading a native payload: one JSON object of bounded size and depth.

use serde_json::Value;
use tenterhook_event::Native;

/// The largest payload that is read, in bytes.
pub const MAX_PAYLOAD: usize = 32 * 1024 * 1024;

/// The payload cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// There was nothing on standard input.
    #[error("the payload is empty")]
    Empty,
    /// More than [`MAX_PAYLOAD`].
    #[error("the payload is larger than {} MiB", MAX_PAYLOAD / 1024 / 1024)]
    TooLarge,
    /// Not JSON, or nested too deeply.
    #[error("the payload is not JSON: {0}")]
    NotJson(String),
    /// JSON, but not an object.
    #[error("the payload is not a JSON object but {0}")]
    NotObject(&'static str),
    /// Neither the payload nor the command names the event.
    #[error("neither the payload nor the command names the event")]
    Nameless,
    /// A gate was called with a payload that names another event.
    #[error("the payload is about `{named}`, but the hook is wired to `{wired}`")]
    Mismatch {
        /// What the hook is wired to.
        wired: &'static str,
        /// What the payload says.
        named: String,
    },
    /// A field that decides what is judged has the wrong type.
    #[error("the payload's `{field}` is not {expected}")]
    Field {
        /// The field.
        field: &'static str,
        /// What it should have been.
        expected: &'static str,
    },
}

/// Reads the payload and keeps its exact bytes.
pub(crate) fn read(bytes: &[u8]) -> Result<Native, DecodeError> {
    if bytes.len() > MAX_PAYLOAD {
        return Err(DecodeError::TooLarge);
    }
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(DecodeError::Empty);
    }
    match serde_json::from_slice(bytes) {
        Ok(Value::Object(fields)) => Ok(Native { bytes: bytes.to_vec(), fields }),
        Ok(other) => Err(DecodeError::NotObject(kind(&other))),
        Err(error) => Err(DecodeError::NotJson(error.to_string())),
    }
}

fn kind(value: &Value) -> &'static str {
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
        let why = |bytes: &[u8]| read(bytes).unwrap_err().to_string();
        assert_eq!(why(b""), "the payload is empty");
        assert_eq!(why(b" \n"), "the payload is empty");
        assert_eq!(why(b"[1]"), "the payload is not a JSON object but an array");
        assert_eq!(why(b"{\"a\":"), "the payload is not JSON: EOF while parsing a value at line 1 column 5");
        assert_eq!(why(&vec![b' '; MAX_PAYLOAD + 1]), "the payload is larger than 32 MiB");
        let deep = [vec![b'['; 10_000], vec![b']'; 10_000]].concat();
        assert!(why(&deep).contains("recursion limit exceeded"), "{}", why(&deep));
        assert!(why(b"{\"a\":\"\0\"}").contains("control character"), "{}", why(b"{\"a\":\"\0\"}"));
    }

    #[test]
    fn the_bytes_are_kept_as_they_came() {
        let bytes = b"{ \"b\": 1.0,\n \"a\": 12345678901234567890123 }\n";
        assert_eq!(read(bytes).unwrap().bytes, bytes);
    }
}
