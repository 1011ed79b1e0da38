// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reading what the model calls a tool with. What does not fit is said so that it can be put right.

use std::path::PathBuf;

use serde_json::Value;

use super::{Around, ToolFailed};

/// A text that has to be there.
pub(super) fn text<'a>(args: &'a Value, key: &str) -> Result<&'a str, ToolFailed> {
    maybe_text(args, key)?.ok_or_else(|| ToolFailed::new(format!("`{key}` is missing")))
}

/// A text that may be there.
pub(super) fn maybe_text<'a>(args: &'a Value, key: &str) -> Result<Option<&'a str>, ToolFailed> {
    match args.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(ToolFailed::new(format!("`{key}` is {other}; it should be a text"))),
    }
}

/// A whole number that may be there.
pub(super) fn number(args: &Value, key: &str) -> Result<Option<u64>, ToolFailed> {
    match args.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_u64() {
            Some(number) => Ok(Some(number)),
            None => Err(ToolFailed::new(format!("`{key}` is {value}; it should be a whole number"))),
        },
    }
}

/// Yes or no; no unless said.
pub(super) fn flag(args: &Value, key: &str) -> Result<bool, ToolFailed> {
    match args.get(key) {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(flag)) => Ok(*flag),
        Some(other) => Err(ToolFailed::new(format!("`{key}` is {other}; it should be true or false"))),
    }
}

/// A path, from where the agent works.
pub(super) fn path(args: &Value, key: &str, around: &Around) -> Result<PathBuf, ToolFailed> {
    text(args, key).map(|path| around.cwd.join(path))
}

/// A directory to look in; where the agent works unless said.
pub(super) fn dir(args: &Value, around: &Around) -> Result<PathBuf, ToolFailed> {
    Ok(maybe_text(args, "path")?.map_or_else(|| around.cwd.clone(), |path| around.cwd.join(path)))
}
