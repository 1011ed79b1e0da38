// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The session as the daemon sees it.

use serde_json::Value;

use crate::ask;
use crate::commands::sessions;
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::DIM;

/// The latest session of a home.
pub(super) fn latest(context: &Context) -> Result<String, CommandError> {
    let home = context.home()?;
    let none = || CommandError::failed("the demo's daemon knows of no session");
    let list = ask::get(home, "/v1/sessions")?.ok_or_else(none)?;
    let id = list.pointer("/sessions/0/id").and_then(Value::as_str).ok_or_else(none)?;
    let session = ask::get(home, &format!("/v1/sessions/{id}"))?.ok_or_else(none)?;
    Ok(format!("\n{DIM}── what the daemon saw ──{DIM:#}\n\n{}", sessions::panel(&session)))
}
