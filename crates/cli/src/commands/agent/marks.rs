// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Lists and removes the marks of processes that are guarded agents.

use std::fmt::Write as _;
use std::process::ExitCode;

use serde_json::{Value, json};
use tenterhook_authority::{Action, Agent, Agents};

use crate::ask;
use crate::confirm::{self, ProofArgs};
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{BOLD, DIM, GOOD, tame};

const EXAMPLES: &str = "\
A process that calls a hook is marked as a guarded agent. The process and everything it starts may weaken \
protection only with a code from your phone. If a process was marked by mistake, clear its mark from a terminal \
that it did not start, or with a code. If the process is a harness, its next hook call marks it again.

Examples:
  tenterhook agent list
  tenterhook agent forget 4711";

/// List the processes that are marked as guarded agents
#[derive(Debug, clap::Args)]
pub(crate) struct ListMarksArgs {}

/// Clear the mark of a process that is not an agent
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ForgetArgs {
    /// Id of the process
    pid: i32,
    #[command(flatten)]
    proof: ProofArgs,
}

pub(super) fn list(context: &Context) -> Result<ExitCode, CommandError> {
    let agents = list_marks(context)?;
    if context.terminal.json {
        context.terminal.print_json(&json!({"agents": agents}))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = String::new();
    for Agent { pid, name, harness, .. } in &agents {
        let _ = writeln!(text, "{BOLD}{pid}{BOLD:#}  {}  {DIM}{}{DIM:#}", tame(name), tame(harness));
    }
    if agents.is_empty() {
        text += "no process is marked as an agent\n";
    }
    context.terminal.print(&text)?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn forget(
    context: &Context,
    ForgetArgs { pid, proof }: &ForgetArgs,
) -> Result<ExitCode, CommandError> {
    let Some(agent) = list_marks(context)?.into_iter().find(|agent| agent.pid == *pid) else {
        let error = CommandError::not_found(format!("process {pid} is not marked as an agent"));
        return Err(error.hint("`tenterhook agent list` shows the marks"));
    };
    let path = format!("/v1/authority/agents/{pid}/forget");
    if confirm::ask_daemon(context, Action::AgentForget, &path, json!({}), proof)?.is_none() {
        confirm::require_confirmation(context, Action::AgentForget, json!({"agent": agent}), proof)?;
        Agents::of(context.home()?).forget(*pid)?;
    }
    let name = tame(&agent.name);
    context
        .terminal
        .print(&format!("{GOOD}✓{GOOD:#} process {pid} (`{name}`) is no longer marked as an agent\n"))?;
    Ok(ExitCode::SUCCESS)
}

/// Lists the marks, from the daemon if one is running, else from the files.
fn list_marks(context: &Context) -> Result<Vec<Agent>, CommandError> {
    let home = context.home()?;
    let Some(answer) = ask::get(home, "/v1/authority/agents")? else {
        return Ok(Agents::of(home).list());
    };
    let agents = answer.get("agents").cloned().unwrap_or(Value::Null);
    serde_json::from_value(agents)
        .map_err(|error| CommandError::internal(format!("unexpected answer of the daemon: {error}")))
}
