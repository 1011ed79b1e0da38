// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::{Around, Output, Tool, ToolFailed, args, bounded, process, spec};
use crate::provider::ToolSpec;

/// How long a command may take that does not say.
const USUAL: u64 = 120_000;
/// However long it asks for.
const LONGEST: u64 = 600_000;

/// Runs a command in a shell.
pub(super) struct Bash;

impl Tool for Bash {
    fn spec(&self) -> ToolSpec {
        let about =
            "Runs a command with bash, in the working directory. What it leaves running is ended with it.";
        let properties = json!({
            "command": {"type": "string", "description": "The command"},
            "timeout": {"type": "number", "description": "Milliseconds it may take; 120000 unless said, at most 600000"},
            "description": {"type": "string", "description": "What it is for, in five words"},
        });
        spec("Bash", about, &properties, &["command"])
    }

    fn run<'a>(&'a self, args: &'a Value, around: &'a Around) -> BoxFuture<'a, Result<Output, ToolFailed>> {
        Box::pin(run(args, around))
    }
}

async fn run(args: &Value, around: &Around) -> Result<Output, ToolFailed> {
    let command = args::text(args, "command")?;
    let limit = args::number(args, "timeout")?.unwrap_or(USUAL).clamp(1, LONGEST);
    let ran = process::run(&["bash", "-c", command], &around.cwd, Duration::from_millis(limit)).await;
    let ran = ran.map_err(|error| ToolFailed::new(format!("bash could not be started: {error}")))?;
    let Some(ran) = ran else {
        return Err(ToolFailed::new(format!("it was ended: it took longer than {limit} ms")));
    };
    let text = bounded(ran.printed);
    match ran.code {
        Some(0) => Ok(Output { text, exit_code: Some(0) }),
        code => {
            let how = code.map_or_else(|| "ended by a signal".to_owned(), |code| format!("exit code {code}"));
            let message = if text.trim().is_empty() { how } else { format!("{how}\n{text}") };
            Err(ToolFailed { message, exit_code: code })
        }
    }
}
