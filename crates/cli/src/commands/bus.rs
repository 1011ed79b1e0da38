// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::process::ExitCode;
use std::sync::Arc;

use tenterhook_event::Event;
use tenterhook_harness::MAX_PAYLOAD_BYTES;
use tenterhook_profile::bus;
use tenterhook_profile_run::ProfileStage;
use tenterhook_rulebook::read_line_bounded;

use crate::context::Context;
use crate::error::CommandError;
use crate::profile_settings::{SettingsFile, open_profile};
use crate::run_until_signal::run_until_signal;

const EXAMPLES: &str = "\
Reads one JSON object per line from standard input, and prints one reply per line when it is ready:
  {\"type\":\"HOOK_EXECUTION_REQUEST\",\"payload\":
    {\"correlationId\":\"c-1\",\"eventName\":\"BeforeTool\",\"input\":{…}}}
  {\"type\":\"HOOK_EXECUTION_RESPONSE\",\"payload\":
    {\"correlationId\":\"c-1\",\"success\":true,\"output\":{…}}}
Ends when standard input is closed and every request is answered.

Examples:
  tenterhook bus --settings ~/.llxprt/settings.json
  tenterhook bus --profile gemini \\
    --settings user=~/.gemini/settings.json --settings .gemini/settings.json";

/// Maximum number of requests processed at the same time; each hook is a process with three pipes.
const MAX_CONCURRENT_REQUESTS: usize = 64;

/// Serve LLxprt's hook message bus on standard input and output
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Profile: llxprt, llxprt-2026-08, gemini, claude, a3s
    #[arg(long, default_value = "llxprt")]
    profile: String,
    /// Settings file, with its source if it is not the project's: user=, project=, local=, system=, extension=
    #[arg(long, value_name = "[SOURCE=]FILE")]
    settings: Vec<SettingsFile>,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let stage = Arc::new(open_profile(&args.profile, &args.settings, &context.env)?);
    super::fire::report_problems(context, &stage)?;
    let base = super::fire::profile_event(&args.profile)?;
    run_until_signal(serve_requests(context, &stage, &base))?;
    Ok(ExitCode::SUCCESS)
}

async fn serve_requests(
    context: &Context,
    stage: &Arc<ProfileStage>,
    base: &Event,
) -> Result<(), CommandError> {
    // The channel has room for one line, so a fast sender waits.
    let (send, mut lines) = tokio::sync::mpsc::channel(1);
    std::thread::spawn(move || {
        let (mut input, mut line) = (std::io::stdin().lock(), Vec::new());
        // Invalid UTF-8 or an oversized line counts as an unreadable request, not as the end of the input.
        while read_line_bounded(&mut input, &mut line, MAX_PAYLOAD_BYTES).is_ok_and(|more| more) {
            if send.blocking_send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                return;
            }
        }
    });
    // Requests run concurrently, so a slow hook does not delay the next request.
    let mut running = tokio::task::JoinSet::new();
    loop {
        tokio::select! {
            line = lines.recv(), if running.len() < MAX_CONCURRENT_REQUESTS => match line {
                Some(line) if line.trim().is_empty() => {}
                Some(line) => {
                    let (stage, base) = (Arc::clone(stage), base.clone());
                    running.spawn(async move { answer_request(&stage, &base, &line).await });
                }
                None => break,
            },
            Some(done) = running.join_next() => if !print_reply(context, done)? {
                return Ok(());
            },
        }
    }
    while let Some(done) = running.join_next().await {
        if !print_reply(context, done)? {
            return Ok(());
        }
    }
    Ok(())
}

async fn answer_request(stage: &ProfileStage, base: &Event, line: &str) -> serde_json::Value {
    let mut new_id = || tenterhook_event::EventId::from_parts(0, random_id()).to_string();
    match bus::parse_request(stage.profile, line, &mut new_id) {
        Ok(request) => {
            let fired = stage.fire(request.event, &request.input, base).await;
            request.to_response(fired.aggregated).to_message()
        }
        Err(response) => response.to_message(),
    }
}

/// Prints a reply. Returns false if standard output is closed.
fn print_reply(
    context: &Context,
    done: Result<serde_json::Value, tokio::task::JoinError>,
) -> Result<bool, CommandError> {
    let message = done.map_err(|error| CommandError::internal(error.to_string()))?;
    match context.terminal.write_reply(format!("{message}\n").as_bytes(), b"") {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(false),
        written => Ok(written.map(|()| true)?),
    }
}

/// Creates an id for a request without one. Without a source of randomness the id is not unique.
fn random_id() -> u128 {
    let mut bytes = [0; 16];
    let _ = getrandom::fill(&mut bytes);
    u128::from_ne_bytes(bytes)
}
