// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::process::ExitCode;

use serde_json::{Value, json};
use tenterhook_authority::Action;
use tenterhook_harness::{HARNESSES, Harness};
use tenterhook_harness_install::HarnessClient as _;
use tenterhook_harness_install::SettingsScope;
use tenterhook_harness_install::receipt::InstallOptions;
use tenterhook_setup::install::{Proposal, keep_status_line};
use tenterhook_setup::{adopt, wiring};

use super::install_flow::{ChangeArgs, print_json_report, proposal_json, propose};
use crate::confirm::{self, ProofArgs};
use crate::context::Context;
use crate::error::CommandError;
use crate::read_input;
use crate::sandbox_launchers;
use crate::setup::CliHost;
use crate::terminal::{BOLD, GOOD};

const EXAMPLES: &str = "\
The harness's settings are restored byte for byte, and the launchers of `install --sandbox` are removed. If they were edited since the installation, only \
Tenterhook's entries are removed. Adopted hooks move back. The ledger stays.

Examples:
  tenterhook uninstall claude-code
  tenterhook uninstall --all
  tenterhook uninstall claude-code --yes --code-file code.txt";

/// Remove Tenterhook's hooks from harnesses
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    change: ChangeArgs,
    #[command(flatten)]
    proof: ProofArgs,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let home = context.home()?;
    let host = CliHost { context, home };
    let setup = host.setup();
    let mut proposals = Vec::new();
    let mut adopted = Vec::new();
    for harness in select_harnesses(context, args)? {
        if adopt::is_adopted(home, harness) {
            adopted.push(harness);
        }
        for asked in select_scopes(context, args, harness)? {
            let options = InstallOptions { http: false, ..asked.clone() };
            let request = wiring::install_request(&setup, harness, &options)?;
            let plan = wiring::installer(harness)?.plan_uninstall(&request, &home.receipts());
            proposals.push(Proposal { harness, asked, plan: plan.map_err(CommandError::from)? });
        }
    }
    let done = propose(context, &args.change, &proposals, "uninstall")?;
    let mut unsandboxed = Vec::new();
    if done {
        let changed: Vec<_> = proposals.iter().filter(|proposal| !proposal.plan.is_noop()).collect();
        // One confirmation covers all harnesses.
        if let [first, rest @ ..] = changed.as_slice() {
            let mut detail = json!({"harness": first.harness.id, "settings": first.plan.settings()});
            if let (Some(detail), false) = (detail.as_object_mut(), rest.is_empty()) {
                let more: Vec<_> = rest
                    .iter()
                    .map(|other| json!({"harness": other.harness.id, "settings": other.plan.settings()}))
                    .collect();
                detail.insert("and".to_owned(), Value::from(more));
            }
            confirm::require_confirmation(context, Action::Uninstall, detail, &args.proof)?;
        }
        let harnesses: Vec<_> = proposals.iter().map(|proposal| proposal.harness).collect();
        for Proposal { harness, plan, .. } in &proposals {
            plan.apply().map_err(CommandError::from)?;
            keep_status_line(home, harness.id, None)?;
        }
        unsandboxed = sandbox_launchers::remove(context, home, &harnesses)?;
        // Adopted hooks are moved back to their harness's settings.
        for harness in &adopted {
            adopt::plan_return(&setup, harness)?.apply().map_err(CommandError::from)?;
        }
    }
    if context.terminal.json {
        let more = |plan: &Proposal| json!({"home": home.state, "restored": done && plan.plan.restores()});
        let reports = proposals.iter().map(|proposal| proposal_json(proposal, done, more(proposal)));
        print_json_report(context, &args.change, reports.collect())?;
    } else if done {
        let mut text = String::new();
        for Proposal { harness, plan, .. } in proposals.iter().filter(|proposal| !proposal.plan.is_noop()) {
            let what =
                if plan.restores() { "has its original settings again" } else { "is no longer guarded" };
            text += &format!("{GOOD}✓{GOOD:#} {BOLD}{}{BOLD:#} {what}\n", harness.title);
        }
        for program in unsandboxed {
            text += &format!("{GOOD}✓{GOOD:#} `{program}` starts without a sandbox again\n");
        }
        context.terminal.print(&text)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the named harnesses, or all that are installed if none is named.
fn select_harnesses(context: &Context, args: &Args) -> Result<Vec<&'static Harness>, CommandError> {
    if !args.change.harnesses.is_empty() {
        return args.change.harnesses.iter().map(|id| read_input::parse_harness(id)).collect();
    }
    let home = context.home()?;
    let mut installed: Vec<&'static Harness> = Vec::new();
    for harness in HARNESSES {
        let Some(installer) = harness.installer() else { continue };
        let known = installed.iter().any(|other| other.id == installer.wired_as);
        if !known && !wiring::installed_options(home, installer).is_empty() {
            installed.push(harness);
        }
    }
    match (args.change.all, installed.is_empty()) {
        (true, false) => Ok(installed),
        (_, true) => Err(CommandError::user("no hooks are installed from this state directory")),
        (false, false) => {
            let names: Vec<_> = installed.iter().map(|harness| harness.id).collect();
            Err(CommandError::user("no harness named")
                .hint(format!("name them, or use `--all`; installed: {}", names.join(", "))))
        }
    }
}

/// Returns the given scope, or every installed scope if none is given.
fn select_scopes(
    context: &Context,
    args: &Args,
    harness: &'static Harness,
) -> Result<Vec<InstallOptions>, CommandError> {
    let installed = wiring::installed_options(context.home()?, wiring::installer(harness)?);
    let Some(name) = args.change.scope else {
        let scope = context.home()?.machine().map_or_else(SettingsScope::default, SettingsScope::Machine);
        let unwired = InstallOptions { scope, ..InstallOptions::default() };
        return Ok(if installed.is_empty() { vec![unwired] } else { installed });
    };
    let scope = name.scope()?;
    let known = installed.into_iter().find(|asked| asked.scope == scope);
    Ok(vec![known.unwrap_or(InstallOptions { scope, ..InstallOptions::default() })])
}
