// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::process::ExitCode;

use serde_json::{Value, json};
use tenterhook_fleet_commands::{fleet_json, fleet_text};
use tenterhook_home::{FleetPolicy, Home, call_meta};

use crate::ask;
use tenterhook_sandbox::probe::available_level;

use crate::commands::run::{describe_available_level, undo_interrupted};
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{DIM, GOOD, WARN, tame};
use tenterhook_setup::versions::{self, PROGRAM_VERSION, ProgramVersion};

const EXAMPLES: &str = "\
Exit code 0: the daemon runs. 1: no daemon runs; hooks evaluate the rules in-process.

Examples:
  tenterhook status
  tenterhook status --json";

/// Show whether the daemon runs, and its state
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {}

pub(in crate::commands) fn run(context: &Context, _args: &Args) -> Result<ExitCode, CommandError> {
    let home = context.home()?;
    undo_interrupted(context, home)?;
    let terminal = context.terminal;
    let policy = FleetPolicy::load(home);
    let policy_json = policy.as_ref().map(|policy| policy.to_json(home));
    let policy_text = policy.map(|policy| policy_text(&policy, home)).unwrap_or_default();
    let Some(health) = ask::get(home, "/v1/health")? else {
        if terminal.json {
            let sandbox = available_level();
            let versions = versions::to_json(home, None);
            let mut answer = json!({"running": false, "versions": versions, "sandbox": sandbox, "fleet": fleet_json(home)});
            insert_policy(&mut answer, policy_json);
            terminal.print_json(&answer)?;
        } else {
            terminal.print(&format!(
                "{WARN}no daemon is running{WARN:#}: hooks evaluate the rules in-process, and decisions wait in the spool\n\
                 {DIM}start one with `tenterhook start`{DIM:#}\n{}  sandbox     {}\n{}{policy_text}",
                versions_text(home, None),
                describe_available_level().1,
                fleet_text(home)
            ))?;
        }
        return Ok(ExitCode::FAILURE);
    };
    if terminal.json {
        let versions = versions::to_json(home, Some(&health));
        let mut answer = json!({"running": true, "socket": home.socket(), "versions": versions, "sandbox": available_level(), "fleet": fleet_json(home)});
        if let (Some(answer), Value::Object(health)) = (answer.as_object_mut(), health) {
            answer.extend(health);
        }
        insert_policy(&mut answer, policy_json);
        terminal.print_json(&answer)?;
        return Ok(ExitCode::SUCCESS);
    }
    let text = |key: &str| match health.get(key) {
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None => "?".to_owned(),
    };
    let mut report = format!(
        "{GOOD}the daemon is running{GOOD:#} (process {}, version {})\n  socket      {}\n  listens on  {}\n  mode        {}\n  generation  {}\n  answered    {}\n  sandbox     {}\n",
        text("pid"),
        text("version"),
        home.socket().display(),
        match health.get("listen") {
            Some(Value::String(address)) => format!("http://{address}"),
            _ => "the socket only".to_owned(),
        },
        text("mode"),
        text("generation"),
        text("answered"),
        describe_available_level().1,
    );
    report += &(versions_text(home, Some(&health)) + &fleet_text(home) + &policy_text);
    for run in health.get("runs").and_then(Value::as_array).into_iter().flatten() {
        let part = |key: &str| run.get(key).and_then(Value::as_str).unwrap_or_default();
        let pid = run.get("init_pid").and_then(Value::as_i64).unwrap_or_default();
        let command = tame(part("command"));
        report += &format!("  sandboxed   `{command}` ({}, process {pid})\n", part("level"));
    }
    for (key, what) in
        [("stale", "cannot be read; the previous version is active"), ("problems", "is not active")]
    {
        for problem in health.get(key).and_then(Value::as_array).into_iter().flatten() {
            let part = |key: &str| problem.get(key).and_then(Value::as_str).unwrap_or_default();
            report += &format!("{WARN}warning{WARN:#}: {} {what}: {}\n", part("source"), part("message"));
        }
    }
    let system = if home.machine().is_some() { " --system" } else { "" };
    for lost in health.get("unwired").and_then(Value::as_array).into_iter().flatten() {
        let part = |key: &str| lost.get(key).and_then(Value::as_str).unwrap_or_default();
        report += &format!(
            "{WARN}warning{WARN:#}: {} is not guarded any more: its hooks were removed from `{}`; \
                 `tenterhook install {}{system}` restores them\n",
            part("harness"),
            part("settings"),
            part("harness")
        );
    }
    if let Some(text) = undelivered_text(&health) {
        report += &format!("{WARN}warning{WARN:#}: {text}\n");
    }
    if health.get("mode").and_then(Value::as_str) == Some("monitor") {
        let until = health.get("mode_until").and_then(Value::as_str);
        let until = until.map(|until| format!(" until {until}")).unwrap_or_default();
        let text = format!(
            "monitor mode{until}: verdicts are only recorded; `tenterhook mode enforce` enforces them"
        );
        report += &format!("{WARN}warning{WARN:#}: {text}\n");
    }
    if let Some(waiting) = health.get("pending").and_then(Value::as_u64).filter(|waiting| *waiting > 0) {
        report += &format!(
            "{WARN}warning{WARN:#}: {waiting} waiting for an approval; see `tenterhook approvals list`\n"
        );
    }
    terminal.print(&report)?;
    Ok(ExitCode::SUCCESS)
}

fn insert_policy(answer: &mut Value, policy: Option<Value>) {
    if let (Some(answer), Some(policy)) = (answer.as_object_mut(), policy) {
        answer.insert("fleet_policy".to_owned(), policy);
    }
}

/// Formats the policy of the fleet, with the bundles that were refused.
fn policy_text(policy: &FleetPolicy, home: &Home) -> String {
    let mut text = format!("  policy      {}\n", tame(&policy.summary(home, call_meta::now())));
    for problem in &policy.problems {
        text += &format!("{WARN}warning{WARN:#}: {}\n", tame(&problem.to_string()));
    }
    text
}

/// Describes calls whose hook program ended before the daemon's answer arrived, if there are any.
pub(in crate::commands) fn undelivered_text(health: &Value) -> Option<String> {
    let undelivered = health.get("undelivered")?;
    let number = |key: &str| undelivered.get(key).and_then(Value::as_u64).unwrap_or_default();
    let (count, ran) = (number("count"), number("ran"));
    let last = undelivered.get("recent")?.as_array()?.first()?;
    let part = |key: &str| last.get(key).and_then(Value::as_str).unwrap_or_default();
    let mut text = format!(
        "{count} hook {} ended before the daemon's answer arrived (last: {} {} `{}`, {}): killed, or cancelled by the client",
        if count == 1 { "program" } else { "programs" },
        part("harness"),
        part("event"),
        part("tool"),
        part("ts"),
    );
    if ran > 0 {
        text += &format!("; the client ran {ran} of these tools without an answer");
    }
    Some(text)
}

/// Formats the versions of this program, the installed hooks and the hooks that called, with advice if they differ.
fn versions_text(home: &Home, health: Option<&Value>) -> String {
    let hooks = versions::of_hook_programs(home);
    let daemon = health.and_then(|health| health.get("version")?.as_str()).map(ProgramVersion::new);
    let mut text = format!(
        "  versions    program {PROGRAM_VERSION}, hooks {}, daemon {}\n",
        hooks.as_ref().map_or("not installed", |found| found.version.as_str()),
        daemon.as_ref().map_or("not running", |found| found.version.as_str()),
    );
    let callers = health.and_then(|health| health.get("hook_versions")?.as_array());
    let caller = |row: &Value| {
        Some(format!("{} ({} calls)", row.get("version")?.as_str()?, row.get("calls")?.as_u64()?))
    };
    let callers: Vec<_> = callers.into_iter().flatten().filter_map(caller).collect();
    if !callers.is_empty() {
        text += &format!("  called by   hooks {}\n", callers.join(", "));
    }
    if let Some(advice) = versions::advice(hooks.as_ref(), daemon.as_ref()) {
        text += &format!("{WARN}warning{WARN:#}: {advice}\n");
    }
    text
}
