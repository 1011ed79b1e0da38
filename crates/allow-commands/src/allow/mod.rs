// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `allow`: lets a call run that a rule denied or asked about.

mod stopped_call;

use std::process::ExitCode;

use serde_json::{Value, json};
use tenterhook_authority::Action;
use tenterhook_event::Decision;
use tenterhook_guard::rule_draft::{exception_rule, policy_still_stops};
use tenterhook_guard::{Allowance, AllowanceScope, AllowanceStore, ONCE_LIFETIME};
use tenterhook_home::env::Env;
use tenterhook_home::packs::PackList;
use tenterhook_home::{Home, append_rule, call_meta, make_private_dir, regular_file, write_atomic};
use tenterhook_policy::rule_yaml;
use tenterhook_records::recorded::JsonField as _;
use tenterhook_terminal_text::approval_text::{approval_text, arguments_text};

use self::stopped_call::StoppedDecision;
use crate::ask;
use crate::confirm::{self, ProofArgs};
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{BOLD, DIM, GOOD, WARN};

const EXAMPLES: &str = "\
After a rule denied a call or asked about it, lets the call run when the agent tries again. Each stopped call has a \
short name such as `k7f2m`: `approvals list`, `ledger query`, notifications and the dashboard show it. Needs `allow` \
typed on a terminal, or a code. A guarded agent cannot allow anything without a code. Locked rules and hooks cannot \
be overruled.

Examples:
  tenterhook allow last                  once, within ten minutes
  tenterhook allow k7f2m --session       what these rules stop, in this session
  tenterhook allow 15 --here             exactly this call in this directory, from now on
  tenterhook allow last --rule           turn the rules off";

/// Let a call run that a rule stopped
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The stopped call: `last`, its short name, its record number, or a part of its id
    #[arg(value_name = "CALL")]
    call: String,
    #[command(flatten)]
    scope: ScopeArgs,
    #[command(flatten)]
    proof: ProofArgs,
}

#[derive(Debug, clap::Args)]
#[group(multiple = false)]
struct ScopeArgs {
    /// Exactly this call, once, within ten minutes (default)
    #[arg(long)]
    once: bool,
    /// All calls of this session that the same rules stop
    #[arg(long)]
    session: bool,
    /// Exactly this call in this directory, from now on: adds an exception to your policy.yaml
    #[arg(long)]
    here: bool,
    /// Turn the rules off that stopped the call
    #[arg(long)]
    rule: bool,
}

/// Runs `allow`.
pub fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let stopped = StoppedDecision::find(context.home()?, &context.env, &args.call)?;
    let scope = &args.scope;
    if !scope.rule
        && let Some(waiting) = find_waiting_call(context, &stopped)?
    {
        return approve_waiting_call(context, &waiting, scope, &args.proof);
    }
    if scope.rule {
        turn_off_rules(context, &stopped, &args.proof)
    } else if scope.here {
        add_exception(context, &stopped, &args.proof)
    } else {
        let lasting = if scope.session { AllowanceScope::Session } else { AllowanceScope::Once };
        add_allowance(context, &stopped, lasting, &args.proof)
    }
}

/// Allows a recorded call to run once. `confirm` confirms the privileged action with these details.
pub fn allow_once(
    home: &Home,
    env: &Env,
    call: &str,
    confirm: impl FnOnce(Value) -> Result<(), CommandError>,
) -> Result<(), CommandError> {
    let stopped = StoppedDecision::find(home, env, call)?;
    require_allowable(&stopped, AllowanceScope::Once)?;
    store_allowance(home, &stopped, AllowanceScope::Once, confirm)
}

/// Fails if a later call cannot be compared with this one, or belongs to no session.
fn require_allowable(stopped: &StoppedDecision, scope: AllowanceScope) -> Result<(), CommandError> {
    match scope {
        AllowanceScope::Once => stopped.require_whole_call(),
        AllowanceScope::Session if stopped.describe()?.session.is_none() => {
            Err(CommandError::user("the call belongs to no session").hint("allow it once: `--once`"))
        }
        AllowanceScope::Session => Ok(()),
    }
}

/// Stores that a call is allowed, after it is confirmed.
fn store_allowance(
    home: &Home,
    stopped: &StoppedDecision,
    scope: AllowanceScope,
    confirm: impl FnOnce(Value) -> Result<(), CommandError>,
) -> Result<(), CommandError> {
    let (event, call) = (&stopped.recorded.event, stopped.describe()?);
    let detail = json!({
        "of": event.id, "record": stopped.seq, "for": scope, "rules": stopped.rules, "call": call.digest,
        "session": call.session.filter(|_| scope == AllowanceScope::Session),
    });
    confirm(detail)?;
    // The time starts after the user has confirmed.
    let now = call_meta::now_ms();
    AllowanceStore::of(home).add(Allowance::new(&call, event.id, scope, now), now)
}

/// Allows the call once, or its rules for the session.
fn add_allowance(
    context: &Context,
    stopped: &StoppedDecision,
    scope: AllowanceScope,
    proof: &ProofArgs,
) -> Result<ExitCode, CommandError> {
    require_allowable(stopped, scope)?;
    print_call(context, stopped)?;
    store_allowance(context.home()?, stopped, scope, |detail| {
        confirm::require_confirmation(context, Action::Allow, detail, proof)
    })?;
    let minutes = ONCE_LIFETIME.as_secs() / 60;
    let text = match scope {
        AllowanceScope::Once => format!(
            "allowed once: this call may run once within {minutes} minutes\n{DIM}tell the agent to try again{DIM:#}"
        ),
        AllowanceScope::Session => format!(
            "allowed in this session: {} {} stop calls of this session any more\n{DIM}tell the agent to try again{DIM:#}",
            list_rules(&stopped.rules),
            if stopped.rules.len() == 1 { "does not" } else { "do not" }
        ),
    };
    report(context, stopped, json!({"for": scope}), &text)
}

/// Adds an exception for exactly this call in its directory to the user's policy.
fn add_exception(
    context: &Context,
    stopped: &StoppedDecision,
    proof: &ProofArgs,
) -> Result<ExitCode, CommandError> {
    stopped.require_whole_call()?;
    let home = context.home()?;
    let rules: Vec<&str> = stopped.rules.iter().map(String::as_str).collect();
    let rule = exception_rule(&stopped.recorded, stopped.seq, &rules)?;
    let id = rule.text("id").unwrap_or_default();
    let path = home.policy();
    let name = path.display().to_string();
    let before = regular_file(&path)?.unwrap_or_default();
    let after = append_rule(&name, &before, &rule_yaml(&rule), &id)?;
    if policy_still_stops(home, &context.env, &stopped.recorded.event, &after) {
        return Err(CommandError::user(
            "the call would still be stopped with an exception: parts of it cannot be analysed",
        )
        .hint("allow it once: `--once`"));
    }
    print_call(context, stopped)?;
    let detail = json!({
        "of": stopped.recorded.event.id, "record": stopped.seq, "for": "here", "rules": stopped.rules,
        "exception": {"id": id, "file": path},
    });
    confirm::require_confirmation(context, Action::Allow, detail, proof)?;
    if regular_file(&path)?.unwrap_or_default() != before {
        return Err(changed_meanwhile(&name));
    }
    make_private_dir(&home.config)?;
    write_atomic(&path, after.as_bytes(), 0o600)?;
    let text = format!("allowed here: rule `{id}` in `{name}`");
    report(context, stopped, json!({"for": "here", "rule": id, "file": path}), &text)
}

/// Turns off the rules that stopped the call.
fn turn_off_rules(
    context: &Context,
    stopped: &StoppedDecision,
    proof: &ProofArgs,
) -> Result<ExitCode, CommandError> {
    let home = context.home()?;
    let before = PackList::read_for_update(home)?;
    let mut list = before.clone();
    for rule in &stopped.rules {
        list.disable(rule);
    }
    print_call(context, stopped)?;
    let detail = json!({
        "of": stopped.recorded.event.id, "record": stopped.seq, "for": "rule", "rules": stopped.rules,
        "disabled": list.disabled,
    });
    confirm::require_confirmation(context, Action::Allow, detail, proof)?;
    if PackList::read_for_update(home)? != before {
        return Err(changed_meanwhile(&home.pack_list().display().to_string()));
    }
    list.write(home)?;
    let text = format!(
        "{} turned off\n{DIM}turn a rule on again: `tenterhook rules enable {}`{DIM:#}",
        list_rules(&stopped.rules),
        stopped.rules.first().map_or("", String::as_str)
    );
    report(context, stopped, json!({"for": "rule"}), &text)
}

/// The same call, if it waits for an approval right now.
fn find_waiting_call(context: &Context, stopped: &StoppedDecision) -> Result<Option<Value>, CommandError> {
    if stopped.recorded.outcome.decision != Decision::Ask {
        return Ok(None);
    }
    let Some(answer) = ask::get(context.home()?, "/v1/approvals")? else { return Ok(None) };
    let id = json!(stopped.recorded.event.id);
    let mut pending = answer.field("pending").as_array().into_iter().flatten();
    Ok(pending.find(|approval| *approval.field("id") == id).cloned())
}

/// Approves a call that waits. The digest ensures that the approved call is the one that was shown.
fn approve_waiting_call(
    context: &Context,
    waiting: &Value,
    scope: &ScopeArgs,
    proof: &ProofArgs,
) -> Result<ExitCode, CommandError> {
    if !context.terminal.json {
        context.terminal.eprint(&(approval_text(waiting) + &arguments_text(waiting)))?;
    }
    let proof = confirm::collect_proof(context, Action::Approve, proof)?;
    let lasting = match (scope.session, scope.here) {
        (true, _) => "session",
        (_, true) => "rule",
        _ => "once",
    };
    let body =
        json!({"answer": "approve", "digest": waiting.field("digest"), "for": lasting, "proof": proof});
    let path = format!("/v1/approvals/{}", waiting.text("id").unwrap_or_default());
    let gone = || CommandError::not_found("the call does not wait any more").hint("run the command again");
    let done = ask::request(context.home()?, "POST", &path, Some(&body))?.ok_or_else(gone)?;
    if context.terminal.json {
        context.terminal.print_json(&done)?;
    } else {
        context.terminal.print(&format!("{GOOD}✓{GOOD:#} the waiting call was approved\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Error for a file that was changed while the user confirmed. What would be written is based on its old content.
fn changed_meanwhile(file: &str) -> CommandError {
    CommandError::conflict(format!("`{file}` was changed in the meantime")).hint("run the command again")
}

/// Shows the call before the user confirms.
fn print_call(context: &Context, stopped: &StoppedDecision) -> Result<(), CommandError> {
    if context.terminal.json {
        return Ok(());
    }
    let event = &stopped.recorded.event;
    let reasons: Vec<Value> = stopped
        .rules
        .iter()
        .map(|rule| {
            let text = stopped.active.rules.rule(rule).and_then(|rule| rule.reason()).unwrap_or_default();
            json!({"by": format!("rule:{rule}"), "said": text})
        })
        .collect();
    let tool = event.tool.as_ref();
    let call = json!({
        "id": event.id, "name": event.id.short_name(), "source": event.source,
        "tool": tool.map(|tool| &tool.name), "cwd": event.cwd, "reasons": reasons,
        "wants": tool.map(|tool| tool.gist()).or_else(|| event.detail.prompt.as_deref().map(Into::into)),
        "args": tool.map(|tool| &tool.args),
    });
    context.terminal.eprint(&(approval_text(&call) + &arguments_text(&call)))
}

fn report(
    context: &Context,
    stopped: &StoppedDecision,
    mut done: Value,
    text: &str,
) -> Result<ExitCode, CommandError> {
    if context.terminal.json {
        if let Some(done) = done.as_object_mut() {
            done.insert("of".to_owned(), json!(stopped.recorded.event.id));
            done.insert("rules".to_owned(), json!(stopped.rules));
        }
        context.terminal.print_json(&json!({"allowed": done}))?;
        return Ok(ExitCode::SUCCESS);
    }
    context.terminal.print(&format!(
        "{GOOD}✓{GOOD:#} {text}\n{WARN}{BOLD}This weakens your protection.{BOLD:#}{WARN:#}\n"
    ))?;
    Ok(ExitCode::SUCCESS)
}

fn list_rules(rules: &[String]) -> String {
    let names: Vec<_> = rules.iter().map(|rule| format!("`{rule}`")).collect();
    format!("{} {}", if rules.len() == 1 { "rule" } else { "rules" }, names.join(", "))
}
