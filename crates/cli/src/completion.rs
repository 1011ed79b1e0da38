// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Completes words for shells. The script of a shell calls the program with the words of the line.

use std::ffi::OsString;

use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use clap_complete::env::{CompleteEnv, Shells};
use tenterhook_api::CallSnapshotQuery;
use tenterhook_guard::{LedgerHandle, SavedCalls};
use tenterhook_harness::HARNESSES;
use tenterhook_home::templates::TEMPLATES;
use tenterhook_home::{Sources, WorkDirs};
use tenterhook_ledger::{Filter, LeafKind, StoredRecord};
use tenterhook_ledger_commands::sessions;
use tenterhook_policy::RuleSet;
use tenterhook_profile::PROFILES;
use tenterhook_report::RecordRow;

use tenterhook_records::id_reference::short_name;
use tenterhook_records::recorded::envelope;

use crate::args::command_tree;
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::Terminal;

/// Variable that names the shell in a call for completions.
const SHELL_VARIABLE: &str = "TENTERHOOK_COMPLETE";

/// Maximum number of sessions and records that are offered.
const MAX_RECENT: u16 = 50;

/// Lists the words that fit an argument.
type CandidateList = fn() -> Vec<CompletionCandidate>;

/// Words that fit an argument, by the name of its value in the help.
const CANDIDATES: &[(&str, CandidateList)] = &[
    ("CALL", stopped_calls),
    ("HARNESS", harness_names),
    ("PACK", pack_names),
    ("PROFILE", profile_names),
    ("RECORD", record_numbers),
    ("RULE", rule_ids),
    ("PACK|RULE", rule_and_pack_names),
    ("SESSION", session_ids),
    ("SNAPSHOT|RECORD", snapshots),
    ("TEMPLATE", template_names),
];

/// Answers a call of a completion script and ends the process; returns for every other call.
///
/// A script passes `--` as the first word. Calls with other words never reach the completion code, so that a variable
/// in an agent's environment cannot change what `hook` does.
pub(crate) fn answer_completion_call(words: &[OsString]) {
    if words.get(1).is_some_and(|word| word == "--") {
        CompleteEnv::with_factory(completing_tree).var(SHELL_VARIABLE).complete();
    }
}

/// Returns the script that makes a shell call this program for completions.
pub(crate) fn registration_script(shell: &str) -> Result<String, CommandError> {
    let shells = Shells::builtins();
    let completer = shells
        .completer(shell)
        .ok_or_else(|| CommandError::user(format!("no completions for the shell `{shell}`")))?;
    let mut script = Vec::new();
    completer.write_registration(SHELL_VARIABLE, "tenterhook", "tenterhook", "tenterhook", &mut script)?;
    Ok(String::from_utf8_lossy(&script).into_owned())
}

/// Returns the command tree with the words that fit each argument.
fn completing_tree() -> clap::Command {
    add_candidates(command_tree())
}

fn add_candidates(command: clap::Command) -> clap::Command {
    command
        .mut_args(|arg| {
            let name = arg.get_value_names().and_then(|names| names.first()).map(ToString::to_string);
            let found = name.and_then(|name| CANDIDATES.iter().find(|(value, _)| *value == name));
            match found {
                Some((_, candidates)) => arg.add(ArgValueCandidates::new(*candidates)),
                None => arg,
            }
        })
        .mut_subcommands(add_candidates)
}

/// Returns a context for the default state directory; a `--home` on the line is not known here.
fn default_context() -> Context {
    Context::new(None, false, Terminal::new(clap::ColorChoice::Never, false))
}

fn harness_names() -> Vec<CompletionCandidate> {
    HARNESSES.iter().map(|harness| candidate(harness.id, harness.title)).collect()
}

fn profile_names() -> Vec<CompletionCandidate> {
    PROFILES.iter().map(|profile| CompletionCandidate::new(profile.name)).collect()
}

fn template_names() -> Vec<CompletionCandidate> {
    TEMPLATES.iter().map(|template| candidate(template.name, &template.title())).collect()
}

fn pack_names() -> Vec<CompletionCandidate> {
    RuleSet::packs().iter().map(|pack| candidate(pack.name, pack.title)).collect()
}

fn rule_ids() -> Vec<CompletionCandidate> {
    let context = default_context();
    let Ok(home) = context.home() else { return Vec::new() };
    let mut sources = Sources::collect(home, &context.env, &WorkDirs::at(std::env::current_dir().ok()));
    let present: Vec<_> = sources.texts.iter().filter_map(|text| text.pack.clone()).collect();
    sources.add_built_in_packs(|pack| !present.iter().any(|name| name == pack.name));
    sources.all_rules().rules().map(|rule| candidate(rule.id(), rule.description())).collect()
}

fn rule_and_pack_names() -> Vec<CompletionCandidate> {
    pack_names().into_iter().chain(rule_ids()).collect()
}

fn session_ids() -> Vec<CompletionCandidate> {
    let recent = sessions::recent_sessions(&default_context(), MAX_RECENT).unwrap_or_default();
    let ids =
        recent.iter().map(|session| candidate(&session.id, session.title.as_deref().unwrap_or_default()));
    std::iter::once(candidate("last", "the newest session")).chain(ids).collect()
}

fn recent_decisions() -> Vec<StoredRecord> {
    let context = default_context();
    let decisions = Filter { kind: Some(LeafKind::Decision), ..Filter::default() };
    let reader = context.home().and_then(|home| LedgerHandle::of(home).reader());
    let found = reader.ok().and_then(|reader| reader.query(&decisions, u64::from(MAX_RECENT)).ok());
    found.map(|found| found.records).unwrap_or_default()
}

fn record_numbers() -> Vec<CompletionCandidate> {
    let records = recent_decisions();
    let numbers =
        records.iter().map(|record| candidate(&record.seq.to_string(), &RecordRow::from_record(record).what));
    std::iter::once(candidate("last", "the latest decision")).chain(numbers).collect()
}

/// Short names of calls that a rule stopped.
fn stopped_calls() -> Vec<CompletionCandidate> {
    let named = recent_decisions().into_iter().filter_map(|record| {
        Some(candidate(&short_name(&envelope(&record))?, &RecordRow::from_record(&record).what))
    });
    std::iter::once(candidate("last", "the latest stopped call")).chain(named).collect()
}

fn snapshots() -> Vec<CompletionCandidate> {
    let saved = default_context().home().ok().and_then(|home| SavedCalls::open(home).ok().flatten());
    let found = saved.and_then(|saved| saved.list(&CallSnapshotQuery::default()).ok()).unwrap_or_default();
    let ids = found.iter().map(|snapshot| candidate(&snapshot.id, &snapshot.reason));
    let words = [candidate("last", "the latest saved call"), candidate("list", "list what can be undone")];
    words.into_iter().chain(ids).collect()
}

fn candidate(word: &str, help: &str) -> CompletionCandidate {
    let help = crate::terminal::tame(help);
    CompletionCandidate::new(word).help((!help.is_empty()).then(|| help.into()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn collect_value_names(command: &clap::Command, names: &mut BTreeSet<String>) {
        let values = command.get_arguments().filter_map(clap::Arg::get_value_names).flatten();
        names.extend(values.map(ToString::to_string));
        command.get_subcommands().for_each(|below| collect_value_names(below, names));
    }

    #[test]
    fn every_completed_value_name_is_used_by_a_command() {
        let mut names = BTreeSet::new();
        collect_value_names(&command_tree(), &mut names);
        for (name, _) in CANDIDATES {
            assert!(names.contains(*name), "no argument is called `{name}`");
        }
    }
}
