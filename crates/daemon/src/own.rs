// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Our own program as a command: what it does to harnesses and what it writes as reports is one thing, whether a
//! person types it or a page asks for it.

use std::process::{Command, Stdio};
use std::sync::Arc;

use serde::de::DeserializeOwned;
use tenterhook_error::Failure;
use tenterhook_home::Home;

use crate::daemon::Daemon;

/// Runs a command of this very program in the home of the daemon.
pub(crate) async fn run(daemon: &Arc<Daemon>, args: Vec<String>) -> Result<Vec<u8>, Failure> {
    if args.iter().any(|arg| arg.contains('\0')) {
        return Err(Failure::user("a text with a NUL character cannot be used here"));
    }
    let home = daemon.home.clone();
    let ran = tokio::task::spawn_blocking(move || {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(place(&home)).args(&args).stdin(Stdio::null()).output()
    });
    let ran = ran.await.map_err(|error| Failure::internal(error.to_string()))??;
    // A harness that is wired but does not heed it yet ends with 1 and still says all there is.
    if ran.status.success() || (ran.status.code() == Some(1) && !ran.stdout.is_empty()) {
        return Ok(ran.stdout);
    }
    let said = String::from_utf8_lossy(&ran.stderr);
    let line = |start: &str| said.lines().find_map(|line| line.strip_prefix(start)).map(ToOwned::to_owned);
    let failure = Failure::user(line("error: ").unwrap_or_else(|| "the command failed".to_owned()));
    Err(match line("hint: ") {
        Some(hint) => failure.hint(hint),
        None => failure,
    })
}

/// The same for a command that answers in JSON.
pub(crate) async fn json<T: DeserializeOwned>(daemon: &Arc<Daemon>, args: &[&str]) -> Result<T, Failure> {
    let args = args.iter().copied().chain(["--json"]).map(ToOwned::to_owned).collect();
    let said = run(daemon, args).await?;
    serde_json::from_slice(&said)
        .map_err(|error| Failure::internal(format!("the answer cannot be read: {error}")))
}

/// How a command finds this home.
fn place(home: &Home) -> Vec<String> {
    if home.public.is_some() {
        return vec!["--system".to_owned()];
    }
    // State and settings apart are where the environment, which it shares with us, has them.
    if home.state == home.config {
        vec!["--home".to_owned(), home.state.display().to_string()]
    } else {
        Vec::new()
    }
}
