// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::Value;
use tenterhook_api::Approval;
use tenterhook_command::terminal::{BOLD, DIM, Terminal, WARN, tame};
use tenterhook_error::Failure;
use tenterhook_fleet_protocol::{AnswerDecision, ApprovalRequest, call_digest};

use super::table::print_rows;
use super::token::path_segment;
use crate::api_client::{ApiClient, ServerArgs};
use crate::environment::FleetContext;
use crate::signing_key::PersonalKey;

/// How long an answer is valid. A call waits at most ten minutes.
const ANSWER_LIFE_SECONDS: u64 = 600;

const EXAMPLES: &str = "\
The call is fetched and shown here, and the answer is signed here: neither the server nor a chat can approve a call.
Your key must be an approver's in the policy bundle of the machine that asks.

Examples:
  tenterhook fleet approve                                list calls that wait
  tenterhook fleet approve 7QZ3 --sign olga.key
  tenterhook fleet approve 7QZ3 --sign olga.key --deny";

/// Answer a call that waits for an approval on another machine
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Id of the approval, or the end of it; without it, waiting calls are listed
    id: Option<String>,
    /// File with your key; it signs the answer
    #[arg(long = "sign", value_name = "FILE", requires = "id")]
    signing_key: Option<PathBuf>,
    /// Deny the call
    #[arg(long, requires = "id")]
    deny: bool,
    /// Answer without a question
    #[arg(long, short = 'y', requires = "id")]
    yes: bool,
    #[command(flatten)]
    server: ServerArgs,
}

pub(super) fn run(context: &FleetContext, args: &Args) -> Result<ExitCode, Failure> {
    let client = ApiClient::open(context, &args.server)?;
    let Some(id) = &args.id else {
        let response = client.get("/v1/approvals", &[])?;
        let columns = [
            ("approval", "approval"),
            ("host", "host"),
            ("asked", "asked"),
            ("expires", "expires"),
            ("machine", "machine"),
        ];
        print_rows(context.terminal, &response, "approvals", &columns, "no call waits for an approval")?;
        return Ok(ExitCode::SUCCESS);
    };
    let response = client.get(&format!("/v1/approvals/{}", path_segment(id)?), &[])?;
    let row = response.get("approval").cloned().unwrap_or_default();
    let text = |key: &str| row.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let call = text("call");
    let approval: Approval = serde_json::from_str(&call).map_err(|error| {
        Failure::user(format!("the call cannot be shown, so it is not answered: {error}"))
    })?;
    // What is shown must be what is signed: every field of the text is read, and none is left out.
    if approval.call_text() != call || approval.id.to_string() != text("approval") {
        return Err(Failure::denied(
            "the call on the server has parts that are not shown; it is not answered",
        ));
    }
    let host = text("host");
    if !context.terminal.json {
        context.terminal.print(&render(&approval, &host, &call))?;
    }
    let Some(path) = &args.signing_key else {
        if context.terminal.json {
            context.terminal.print_json(&response)?;
        }
        return Ok(ExitCode::SUCCESS);
    };
    let key = PersonalKey::load(path)?.approver()?;
    let decision = if args.deny { AnswerDecision::Deny } else { AnswerDecision::Allow };
    let question = if args.deny { "Deny this call?" } else { "Approve this call?" };
    if !args.yes {
        if !Terminal::is_interactive() {
            let error =
                Failure::user("`fleet approve` needs confirmation, but standard input is not a terminal");
            return Err(error.hint("read the call, then use `--yes` to confirm"));
        }
        if !prompt_yes_no(context.terminal, question)? {
            return Ok(ExitCode::FAILURE);
        }
    }
    let machine = text("machine").parse().map_err(|_| Failure::internal("invalid machine id"))?;
    let request = ApprovalRequest { machine, approval: text("approval"), call, expires: 0, closed: false };
    let not_after = tenterhook_home::call_meta::now_ms() / 1000 + ANSWER_LIFE_SECONDS;
    let answer = key.answer(&request, decision, not_after);
    let body = serde_json::to_value(&answer).map_err(|error| Failure::internal(error.to_string()))?;
    let response = client.post("/v1/approvals/answer", &body)?;
    if context.terminal.json {
        context.terminal.print_json(&response)?;
    } else {
        context.terminal.print("sent; the machine verifies the signature\n")?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Asks a question until it is answered with yes or no.
fn prompt_yes_no(terminal: Terminal, question: &str) -> Result<bool, Failure> {
    terminal.eprint(&format!("{question} [y/N] "))?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Formats a call with all of its arguments.
fn render(approval: &Approval, host: &str, call: &str) -> String {
    let mut text = format!("{BOLD}{}{BOLD:#}\n", visible(&approval.wants));
    let mut line = |name: &str, value: Option<&str>| {
        if let Some(value) = value {
            let _ = writeln!(text, "  {DIM}{name:<9}{DIM:#} {}", visible(value));
        }
    };
    line("host", Some(host));
    line("user", approval.user.as_deref());
    line("harness", Some(&approval.source));
    line("event", Some(&approval.event));
    line("tool", approval.tool.as_deref());
    line("directory", approval.cwd.as_deref());
    line("session", approval.session.as_deref());
    line("asked", Some(&approval.since.to_string()));
    line("expires", Some(&approval.until.to_string()));
    let args = serde_json::to_string_pretty(&approval.args).unwrap_or_default();
    for part in args.lines() {
        let _ = writeln!(text, "  {}", visible(part));
    }
    for reason in &approval.reasons {
        let _ =
            writeln!(text, "  {WARN}{}{WARN:#} {}", visible(&reason.by.to_string()), visible(&reason.value));
    }
    let _ = writeln!(text, "  {DIM}digest    {}{DIM:#}", call_digest(call));
    text
}

/// Shows characters that a terminal would hide or reorder, such as bidirectional marks, as their code.
fn visible(text: &str) -> String {
    let is_hidden = |c: char| {
        c.is_control()
            || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
    };
    let shown: String = text
        .chars()
        .map(|c| if is_hidden(c) { format!("\\u{{{:x}}}", u32::from(c)) } else { c.to_string() })
        .collect();
    tame(&shown).clone()
}

#[cfg(test)]
mod tests {
    use super::visible;

    #[test]
    fn hidden_characters_are_shown() {
        assert_eq!(visible("rm a\u{202e}b\u{1b}[2K\u{200b}"), "rm a\\u{202e}b\\u{1b}[2K\\u{200b}");
        assert_eq!(visible("größe"), "größe");
    }
}
