// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::process::ExitCode;

use clap::ValueEnum;
use serde_json::{Value, json};
use tenterhook_authority::Action;
use tenterhook_guard::{LedgerHandle, ServiceSettings};
use tenterhook_records::id_reference::{IdCandidate, find_record, select_by_id};
use tenterhook_records::recorded::{JsonField as _, envelope};
use tenterhook_terminal_text::approval_text::{approval_text, arguments_text};

use super::totp;
use crate::ask;
use crate::confirm::{self, ProofArgs};
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{BAD, GOOD};

const EXAMPLES: &str = "\
If a rule asks and the harness has no prompt of its own, the call waits for an approval and is denied if none \
is given in time. Approving needs `approve` typed on a terminal, or a code. Only the call that was shown is \
approved, not one that took its place in the meantime. A guarded agent cannot approve anything without a code.

Examples:
  tenterhook approvals list
  tenterhook approvals approve k7f2m           by short name; a part of the id is enough, too
  tenterhook approvals approve 15              by record number
  tenterhook approvals totp enroll             set up codes
  tenterhook approvals approve k7f2m --for session
  tenterhook approvals deny k7f2m --note 'not on a Friday'
  tenterhook approvals notify                  test the notifications";

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
        /// Short name or record number of the call, its id or a part of it, or `last`
        id: String,
    },
    /// Approve a call
    Approve {
        /// Short name or record number of the call, its id or a part of it, or `last`
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
        /// Short name or record number of the call, its id or a part of it, or `last`
        id: String,
        /// Reason; the agent reads it, and it is recorded
        #[arg(long, value_name = "TEXT")]
        note: Option<String>,
    },
    Totp(totp::Args),
    /// Send a test notification to each target in tenterhook.yaml, and print the results
    Notify,
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
        Command::Notify => test_notifications(context),
        Command::Totp(args) => totp::run(context, args),
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

fn test_notifications(context: &Context) -> Result<ExitCode, CommandError> {
    let results = tenterhook_notify::test_targets(
        &ServiceSettings::of(context.home()?).0.notify,
        &context.env.all,
        std::process::id(),
    );
    if context.terminal.json {
        context.terminal.print_json(&json!({"targets": results}))?;
    } else if results.is_empty() {
        context.terminal.print("no targets; add `notify: [desktop]` to tenterhook.yaml\n")?;
    }
    for result in results.iter().filter(|_| !context.terminal.json) {
        context.terminal.print(&match &result.error {
            None => format!("{GOOD}✓{GOOD:#} {}\n", result.target),
            Some(error) => format!("{BAD}✗{BAD:#} {}: {error}\n", result.target),
        })?;
    }
    Ok(ExitCode::from(u8::from(results.iter().any(|result| result.error.is_some()))))
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

/// Resolves a waiting call by its record number, its short name, its id, a part of it, or `last`. An unknown id is passed on, and the
/// daemon reports it.
fn resolve_id(context: &Context, reference: &str) -> Result<String, CommandError> {
    let answer = ask::get(context.home()?, "/v1/approvals")?.ok_or_else(no_daemon)?;
    let pending = answer.field("pending").as_array().map(Vec::as_slice).unwrap_or_default();
    let name = reference.to_ascii_lowercase();
    let mut named = pending.iter().filter(|approval| approval.field("name") == name.as_str());
    if let (Some(approval), None) = (named.next(), named.next()) {
        return Ok(approval.text("id").unwrap_or_default());
    }
    let mut ids: Vec<_> = pending.iter().filter_map(|approval| approval.field("id").as_str()).collect();
    // Ids sort by time.
    ids.sort_unstable_by(|a, b| b.cmp(a));
    if let Some(id) = id_of_record(context, reference)?.filter(|id| ids.contains(&id.as_str())) {
        return Ok(id);
    }
    let candidates = ids.into_iter().map(|id| {
        let id = id.to_owned();
        IdCandidate { label: id.clone(), item: id.clone(), id }
    });
    Ok(select_by_id(reference, "waiting call", candidates)?.unwrap_or_else(|| reference.to_owned()))
}

/// Id of the event of a record, if the reference is a record number.
fn id_of_record(context: &Context, reference: &str) -> Result<Option<String>, CommandError> {
    if reference.trim_start_matches('#').parse::<u64>().is_err() {
        return Ok(None);
    }
    let record = find_record(&LedgerHandle::of(context.home()?).reader()?, reference)?;
    Ok(record.and_then(|record| Some(envelope(&record).get("id")?.as_str()?.to_owned())))
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
