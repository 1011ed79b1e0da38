// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads the arguments of a tool call. Errors name the argument and the expected type, so that the model can retry.

use std::path::PathBuf;

use serde_json::Value;

use super::{ToolContext, ToolFailure};

/// Reads a required string.
pub(super) fn required_text<'a>(args: &'a Value, key: &str) -> Result<&'a str, ToolFailure> {
    optional_text(args, key)?.ok_or_else(|| ToolFailure::new(format!("`{key}` is missing")))
}

/// Reads an optional string.
pub(super) fn optional_text<'a>(args: &'a Value, key: &str) -> Result<Option<&'a str>, ToolFailure> {
    match args.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(ToolFailure::new(format!("`{key}` must be a string, not {other}"))),
    }
}

/// Reads an optional whole number.
pub(super) fn optional_number(args: &Value, key: &str) -> Result<Option<u64>, ToolFailure> {
    match args.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_u64() {
            Some(number) => Ok(Some(number)),
            None => Err(ToolFailure::new(format!("`{key}` must be a whole number, not {value}"))),
        },
    }
}

/// Reads an optional boolean; the default is false.
pub(super) fn optional_flag(args: &Value, key: &str) -> Result<bool, ToolFailure> {
    match args.get(key) {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(flag)) => Ok(*flag),
        Some(other) => Err(ToolFailure::new(format!("`{key}` must be true or false, not {other}"))),
    }
}

/// Reads a required path, relative to the working directory.
pub(super) fn required_path(args: &Value, key: &str, context: &ToolContext) -> Result<PathBuf, ToolFailure> {
    required_text(args, key).map(|path| context.cwd.join(path))
}

/// Reads the optional `path` to search in; the default is the working directory.
pub(super) fn search_dir(args: &Value, context: &ToolContext) -> Result<PathBuf, ToolFailure> {
    Ok(optional_text(args, "path")?.map_or_else(|| context.cwd.clone(), |path| context.cwd.join(path)))
}
