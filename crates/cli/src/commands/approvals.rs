// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::fmt::Write as _;
use std::process::ExitCode;

use clap::ValueEnum;
use serde_json::{Value, json};
use tenterhook_authority::Action;
use tenterhook_records::id_reference::{IdCandidate, select_by_id};
use tenterhook_records::recorded::JsonField as _;

use crate::ask;
use crate::confirm::{self, ProofArgs};
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{BOLD, DIM, GOOD, WARN, tame};

const EXAMPLES: &str = "\
If a rule asks and the harness has no prompt of its own, the call waits for an approval and is denied if none \
is given in time. Approving needs `approve` typed on a terminal, or a code. Only the call that was shown is \
approved, not one that took its place in the meantime. A guarded agent cannot approve anything without a code.

Examples:
  tenterhook approvals list
  tenterhook approvals approve 4RRF            a part of the id is enough
  tenterhook approvals approve 4RRF --for session
  tenterhook approvals deny 4RRF --note 'not on a Friday'";

/// List and answer calls that wait for an approval
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List waiting calls
    List,
    /// Show one waiting call with all its arguments
    Show {
        /// Id of the call or a part of it, or `last`
        id: String,
    },
    /// Approve a call
    Approve {
        /// Id of the call or a part of it, or `last`
        id: String,
        /// What the approval covers
        #[arg(long = "for", value_name = "SCOPE", default_value = "once")]
        scope: ApprovalScopeArg,
        /// Reason; it is recorded
        #[arg(long, value_name = "TEXT")]
        note: Option<String>,
        #[command(flatten)]
        proof: ProofArgs,
    },
    /// Deny a call
    Deny {
        /// Id of the call or a part of it, or `last`
        id: String,
        /// Reason; the agent reads it, and it is recorded
        #[arg(long, value_name = "TEXT")]
        note: Option<String>,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ApprovalScopeArg {
    /// Only this call
    Once,
    /// Every call that the same rules ask about in this session
    Session,
    /// Exactly this call, permanently: adds an exception to your policy.yaml
    Rule,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    match &args.command {
        Command::List => list_approvals(context),
        Command::Show { id } => show_approval(context, id),
        Command::Approve { id, scope, note, proof } => {
            // The call is fetched first, so that an unknown id is reported without asking for proof.
            let approval = get_approval(context, id)?;
            if !context.terminal.json {
                context.terminal.eprint(&(approval_text(&approval) + &arguments_text(&approval)))?;
            }
            let proof = confirm::collect_proof(context, Action::Approve, proof)?;
            let scope = scope.to_possible_value().map(|value| value.get_name().to_owned());
            // The digest ensures that the approved call is the one that was shown.
            let (id, digest) = (approval.field("id").as_str().unwrap_or_default(), approval.field("digest"));
            let body =
                json!({"answer": "approve", "digest": digest, "for": scope, "note": note, "proof": proof});
            send_answer(context, id, &body)
        }
        Command::Deny { id, note } => {
            send_answer(context, &resolve_id(context, id)?, &json!({"answer": "deny", "note": note}))
        }
    }
}

fn list_approvals(context: &Context) -> Result<ExitCode, CommandError> {
    let Some(answer) = ask::get(context.home()?, "/v1/approvals")? else {
        if context.terminal.json {
            context.terminal.print_json(&json!({"pending": []}))?;
        } else {
            context.terminal.print(
                "no daemon is running, so no call waits for an approval; start one with `tenterhook start`\n",
            )?;
        }
        return Ok(ExitCode::SUCCESS);
    };
    if context.terminal.json {
        context.terminal.print_json(&answer)?;
        return Ok(ExitCode::SUCCESS);
    }
    let approvals = answer.field("pending").as_array().map(Vec::as_slice).unwrap_or_default();
    if approvals.is_empty() {
        context.terminal.print("no call waits for an approval\n")?;
    }
    for approval in approvals {
        context.terminal.print(&approval_text(approval))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn show_approval(context: &Context, id: &str) -> Result<ExitCode, CommandError> {
    let approval = get_approval(context, id)?;
    if context.terminal.json {
        context.terminal.print_json(&approval)?;
        return Ok(ExitCode::SUCCESS);
    }
    context.terminal.print(&(approval_text(&approval) + &arguments_text(&approval)))?;
    Ok(ExitCode::SUCCESS)
}

fn send_answer(context: &Context, id: &str, body: &Value) -> Result<ExitCode, CommandError> {
    let home = context.home()?;
    let done = ask::request(home, "POST", &approval_path(id), Some(body))?.ok_or_else(no_daemon)?;
    if context.terminal.json {
        context.terminal.print_json(&done)?;
        return Ok(ExitCode::SUCCESS);
    }
    let what = match (done.field("answer").as_str(), done.field("for").as_str(), done.field("rule").as_str())
    {
        (Some("deny"), ..) => "denied".to_owned(),
        (_, Some("session"), _) => {
            "approved, with all calls that these rules ask about in this session".to_owned()
        }
        (_, _, Some(rule)) => {
            format!("approved permanently by rule `{rule}` in `{}`", home.policy().display())
        }
        _ => "approved".to_owned(),
    };
    context.terminal.print(&format!("{GOOD}✓{GOOD:#} {what}\n"))?;
    Ok(ExitCode::SUCCESS)
}

fn get_approval(context: &Context, reference: &str) -> Result<Value, CommandError> {
    let path = approval_path(&resolve_id(context, reference)?);
    ask::get(context.home()?, &path)?.ok_or_else(no_daemon)
}

/// Resolves a waiting call by its id, a part of it, or `last`. An unknown id is passed on, and the daemon reports it.
fn resolve_id(context: &Context, reference: &str) -> Result<String, CommandError> {
    let answer = ask::get(context.home()?, "/v1/approvals")?.ok_or_else(no_daemon)?;
    let pending = answer.field("pending").as_array().map(Vec::as_slice).unwrap_or_default();
    let mut ids: Vec<_> = pending.iter().filter_map(|approval| approval.field("id").as_str()).collect();
    // Ids sort by time.
    ids.sort_unstable_by(|a, b| b.cmp(a));
    let candidates = ids.into_iter().map(|id| {
        let id = id.to_owned();
        IdCandidate { label: id.clone(), item: id.clone(), id }
    });
    Ok(select_by_id(reference, "waiting call", candidates)?.unwrap_or_else(|| reference.to_owned()))
}

fn no_daemon() -> CommandError {
    CommandError::not_found("no daemon is running, so no call waits for an approval")
        .hint("start one with `tenterhook start`; without it calls that need an approval are denied")
}

/// Returns the API path of an approval. Ids have only letters and digits; other characters are dropped.
fn approval_path(id: &str) -> String {
    let id: String = id.chars().filter(char::is_ascii_alphanumeric).collect();
    format!("/v1/approvals/{id}")
}

/// Formats a waiting call. Agents choose most of these strings, so control characters are removed.
fn approval_text(approval: &Value) -> String {
    let part = |key: &str| tame(approval.field(key).as_str().unwrap_or_default());
    let mut text = format!(
        "{BOLD}{}{BOLD:#}  {} {}  {DIM}until {}{DIM:#}\n  {WARN}{}{WARN:#}\n",
        part("id"),
        part("source"),
        part("tool"),
        part("until"),
        part("wants"),
    );
    for reason in approval.field("reasons").as_array().into_iter().flatten() {
        let (by, reason) = (reason.field("by"), reason.field("said"));
        let plain = |value: &Value| tame(value.as_str().unwrap_or_default());
        let _ = writeln!(text, "  {DIM}{}{DIM:#} {}", plain(by), plain(reason));
    }
    if let Some(cwd) = approval.field("cwd").as_str() {
        let _ = writeln!(text, "  {DIM}in{DIM:#} {}", tame(cwd));
    }
    text
}

/// Formats all arguments of the call.
fn arguments_text(approval: &Value) -> String {
    let mut text = String::new();
    if !approval.field("args").is_null() {
        let args = serde_json::to_string_pretty(approval.field("args")).unwrap_or_default();
        for line in args.lines() {
            let _ = writeln!(text, "  {DIM}│{DIM:#} {}", tame(line));
        }
    }
    text
}
