// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `undo`: restores what calls of agents discarded.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::json;
use tenterhook_authority::Action;
use tenterhook_daemon_control::gate::caller_standing;
use tenterhook_guard::{LedgerHandle, ServiceSettings};
use tenterhook_home::{Home, call_meta};
use tenterhook_records::id_reference::{IdCandidate, find_record, is_latest, select_by_id};
use tenterhook_records::recorded::RecordedDecision;
use tenterhook_undo::{
    RestorePlan, SnapshotFilter, SnapshotManifest, UndoError, UndoSelection, UndoStore, format_plan,
    format_report,
};

use crate::confirm::{self, ProofArgs};
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{DIM, Terminal};
use crate::undo_list;

const EXAMPLES: &str = "\
Before an agent discards uncommitted work, cleans a repository, drops a stash or deletes a branch, Tenterhook saves \
what the call would lose and lets the call run. This command restores it. Files that changed after the call are left \
as they are unless `--force` is given; they are saved first, so that a restore can be undone too.

Examples:
  tenterhook undo list
  tenterhook undo last --dry-run
  tenterhook undo last --path src/main.rs
  tenterhook undo 15                       the call of this record
  tenterhook undo --session last           all calls of the latest session";

/// Restore what an agent's call discarded
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// What to undo: `last`, a record number or id, or a snapshot id or a part of it; `list` lists the snapshots
    #[arg(value_name = "SNAPSHOT|RECORD", required_unless_present = "session", conflicts_with = "session")]
    target: Option<String>,
    /// Undo all calls of this session that were saved, the latest first: its id, a part of it, or `last`
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// Restore only this file or directory
    #[arg(long = "path", value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Print what would be restored, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Also replace files that changed after the call; they are saved first
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    proof: ProofArgs,
}

/// Runs `undo`.
pub fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let home = context.home()?;
    let store = UndoStore::open(&home.undo(), ServiceSettings::of(home).0.undo)
        .map_err(|error| to_command_error(&error))?;
    if args.target.as_deref() == Some("list") {
        return list(context, &store);
    }
    let snapshots =
        store.select(&selection(home, &store, args)?).map_err(|error| to_command_error(&error))?;
    let paths: Vec<PathBuf> = args.paths.iter().map(|path| absolute(path)).collect::<Result<_, _>>()?;
    let mut results = Vec::new();
    let mut left = 0;
    for snapshot in &snapshots {
        let plan = store.plan_restore(&snapshot.id, &paths).map_err(|error| to_command_error(&error))?;
        if args.dry_run {
            left += if args.force { 0 } else { plan.count_conflicts() };
            results.push(json!({"snapshot": snapshot.id, "plan": plan}));
            print_plan(context, &plan)?;
            continue;
        }
        if args.force && plan.count_conflicts() > 0 {
            refuse_guarded_agent(context, &plan, &args.proof)?;
        }
        let report = store
            .restore(&plan, args.force, call_meta::now_ms())
            .map_err(|error| to_command_error(&error))?;
        let detail = json!({
            "snapshot": snapshot.id, "restored": report.restored.len(), "left": report.left.len(),
            "saved": report.saved, "force": args.force,
        });
        LedgerHandle::of(home).record_change("undo", detail)?;
        left += report.left.len();
        if !context.terminal.json {
            context.terminal.print(&format_report(&report, snapshot.project.as_path()))?;
        }
        results.push(json!({"snapshot": snapshot.id, "report": report}));
    }
    if context.terminal.json {
        context.terminal.print_json(&json!({"dry_run": args.dry_run, "snapshots": results}))?;
    } else if left > 0 && !args.force {
        context.terminal.print(&format!(
            "{DIM}{left} changed after the call and not restored; compare them, then use `--force`{DIM:#}\n"
        ))?;
    }
    Ok(if left > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Lets a guarded agent replace newer work only with a code of the user. The user needs no confirmation beyond `--force`,
/// because the replaced files are saved first.
fn refuse_guarded_agent(
    context: &Context,
    plan: &RestorePlan,
    proof: &ProofArgs,
) -> Result<(), CommandError> {
    let (_, is_guarded) = caller_standing(context.home()?, Action::UndoForce)?;
    if !is_guarded {
        return Ok(());
    }
    let detail = json!({"snapshot": plan.snapshot.id, "changed_after_the_call": plan.count_conflicts()});
    confirm::require_confirmation(context, Action::UndoForce, detail, proof)
}

fn list(context: &Context, store: &UndoStore) -> Result<ExitCode, CommandError> {
    let snapshots = list_snapshots(store, &SnapshotFilter::default())?;
    if context.terminal.json {
        context.terminal.print_json(&json!({"snapshots": snapshots}))?;
    } else if snapshots.is_empty() {
        context.terminal.print("no snapshots; nothing has been discarded by a guarded agent yet\n")?;
    } else {
        let calls = undo_list::CallNames::of(&LedgerHandle::of(context.home()?));
        let layout = Terminal::table_layout();
        context.terminal.print(&undo_list::table(&snapshots, &calls, layout, call_meta::now_ms()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn print_plan(context: &Context, plan: &RestorePlan) -> Result<(), CommandError> {
    if context.terminal.json { Ok(()) } else { context.terminal.print(&format_plan(plan)) }
}

/// Returns what to undo: a snapshot by its id or a part of it, or the snapshot of a record.
fn selection(home: &Home, store: &UndoStore, args: &Args) -> Result<UndoSelection, CommandError> {
    let target = match (&args.session, &args.target) {
        (Some(session), _) => return find_session(store, session).map(UndoSelection::Session),
        (None, Some(target)) if is_latest(target) => return Ok(UndoSelection::Last),
        (None, target) => target.clone().unwrap_or_default(),
    };
    let of_event = |id: &str| {
        list_snapshots(
            store,
            &SnapshotFilter { id_or_event: Some(id.to_owned()), ..SnapshotFilter::default() },
        )
    };
    if !of_event(&target)?.is_empty() {
        return Ok(UndoSelection::IdOrEvent(target));
    }
    // The ids of snapshots contain hyphens, and the names of records do not.
    if target.contains('-') {
        let candidates = list_snapshots(store, &SnapshotFilter::default())?
            .into_iter()
            .map(|found| IdCandidate { label: found.id.clone(), item: found.id.clone(), id: found.id });
        let found = select_by_id(&target, "snapshot", candidates)?;
        return found
            .map(UndoSelection::IdOrEvent)
            .ok_or_else(|| nothing_saved(format!("unknown snapshot `{target}`")));
    }
    let record = LedgerHandle::of(home).reader().map(|reader| find_record(&reader, &target));
    let Ok(Some(record)) = record.and_then(|found| found) else {
        return Err(nothing_saved(format!("no snapshot or record `{target}`")));
    };
    let event = RecordedDecision::from_record(&record)?.event.id.to_string();
    if of_event(&event)?.is_empty() {
        return Err(nothing_saved(format!("nothing was saved for the call of record {}", record.seq)));
    }
    Ok(UndoSelection::IdOrEvent(event))
}

/// Returns the id of the session with snapshots that the text names.
fn find_session(store: &UndoStore, reference: &str) -> Result<String, CommandError> {
    let mut sessions: Vec<String> = Vec::new();
    for snapshot in list_snapshots(store, &SnapshotFilter::default())? {
        sessions.extend(snapshot.session.filter(|session| !sessions.contains(session)));
    }
    let candidates = sessions.into_iter().map(|id| IdCandidate { label: id.clone(), item: id.clone(), id });
    select_by_id(reference, "session", candidates)?
        .ok_or_else(|| nothing_saved(format!("nothing was saved in session `{reference}`")))
}

fn list_snapshots(store: &UndoStore, filter: &SnapshotFilter) -> Result<Vec<SnapshotManifest>, CommandError> {
    store.list(filter).map_err(|error| to_command_error(&error))
}

fn absolute(path: &Path) -> Result<PathBuf, CommandError> {
    std::path::absolute(path).map_err(|error| CommandError::user(format!("`{}`: {error}", path.display())))
}

fn nothing_saved(message: impl Into<String>) -> CommandError {
    CommandError::user(message).hint("`tenterhook undo list` lists what can be undone")
}

fn to_command_error(error: &UndoError) -> CommandError {
    match error {
        UndoError::UnknownSnapshot(name) if is_latest(name) => nothing_saved("nothing to undo"),
        UndoError::UnknownSnapshot(_) => nothing_saved(error.to_string()),
        _ => CommandError::user(error.to_string()),
    }
}
