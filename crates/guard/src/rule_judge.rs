// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Evaluates the rules on an event: on the call itself, on the files that it runs or writes, and with what earlier calls
//! of the session did.

use std::borrow::Cow;
use std::path::Path;

use serde_json::{Value, json};
use tenterhook_engine::{Judge, RuleJudgement};
use tenterhook_event::{Decision, Event, EventKind, Finding, Origin, ToolCall};
use tenterhook_facts::{EvalEnvironment, Facts, LinkMap, SessionFilePaths};
use tenterhook_home::env;
use tenterhook_policy::{FlaggedFile, PolicyJudgement, RuleSet, SessionFileChange, SessionState, TreeOrigin};

use crate::file_access::{FileAccess, FileRights};
use crate::mcp_servers::KnownServers;
use crate::run_files::{self, FileFindings, RunFiles};
use crate::session_memory::SessionMemory;
use crate::undo_call::{CallSnapshots, RestJudgement};
use crate::written_files::{self, WrittenFindings};
use crate::{network_connect, session_branches, session_files, session_shell, session_trees, symlinks};

/// Evaluates the rules of one configuration, with the state of the session and the files that a call runs.
pub(crate) struct RuleJudge {
    pub(crate) set: RuleSet,
    home: Option<String>,
    groups: Vec<String>,
    problems: usize,
    pub(crate) memory: SessionMemory,
    servers: KnownServers,
    pub(crate) file_rights: FileRights,
    snapshots: Option<CallSnapshots>,
}

// === impl RuleJudge ===

impl RuleJudge {
    pub(crate) fn new(
        set: RuleSet,
        user_home: Option<&Path>,
        problems: usize,
        memory: SessionMemory,
        servers: KnownServers,
        file_rights: FileRights,
    ) -> Self {
        let home = user_home.and_then(Path::to_str).map(ToOwned::to_owned);
        let groups = if set.uses_groups() { env::current_groups() } else { Vec::new() };
        Self { set, home, groups, problems, memory, servers, file_rights, snapshots: None }
    }

    /// Takes snapshots instead of asking, where rules permit it.
    pub(crate) fn with_snapshots(self, snapshots: Option<CallSnapshots>) -> Self {
        Self { snapshots, ..self }
    }

    pub(crate) fn facts(&self, event: &Event, seen: Option<&LinkMap>) -> tenterhook_policy::Facts {
        self.with_environment(event, seen, |environment| symlinks::collect_facts(event, environment))
    }

    /// Calls a function with what is known about the machine and the account.
    pub(crate) fn with_environment<T>(
        &self,
        event: &Event,
        seen: Option<&LinkMap>,
        then: impl FnOnce(&EvalEnvironment<'_>) -> T,
    ) -> T {
        let groups: Vec<_> = self.groups.iter().map(String::as_str).collect();
        let servers = self.servers.for_event(event);
        // The event names the user account that runs the agent.
        let context = EvalEnvironment {
            home: self.home.as_deref(),
            groups: &groups,
            seen,
            servers: servers.as_ref(),
            programs: self.set.programs(),
            ..EvalEnvironment::default()
        };
        then(&context)
    }

    /// Adjusts the facts by what the session did with files before this call.
    pub(crate) fn with_session_files<'f>(
        &self,
        event: &Event,
        facts: &'f Facts,
        seen: Option<&LinkMap>,
        state: &SessionState,
    ) -> Cow<'f, Facts> {
        let dumps = session_files::find_environment_copies(facts);
        let copies = session_files::relevant_copies(facts, &state.copies, dumps);
        let files = SessionFilePaths { copies: &copies, created: &state.created };
        let mut facts = Cow::Borrowed(facts);
        if !state.links.is_empty() && seen.is_none() {
            facts = Cow::Owned(self.with_environment(event, None, |environment| {
                symlinks::collect_facts_with_links(event, environment, &state.links)
            }));
        }
        if !files.is_empty() {
            self.with_environment(event, None, |environment| {
                facts.to_mut().apply_session_files(event, environment, files);
            });
        }
        facts
    }

    /// Evaluates the rules on the facts of a call, and finds what later calls of the session depend on.
    fn judge_facts(
        &self,
        event: &Event,
        facts: &Facts,
        state: &SessionState,
        account: Option<u32>,
    ) -> PolicyJudgement {
        let mut facts = self.with_session_files(event, facts, None, state);
        let is_before = event.event == EventKind::PreTool;
        let has_git = is_before && account.is_none() && session_branches::uses_branches(&facts);
        let branches =
            if has_git { session_branches::find_created(&facts, event.cwd.as_deref()) } else { Vec::new() };
        if has_git && !(branches.is_empty() && state.branches.is_empty()) {
            session_branches::remove_own_deletions(facts.to_mut(), event.cwd.as_deref(), state, &branches);
        }
        let mut judged = tenterhook_policy::judge(event, &facts, state, &self.set);
        if !is_before {
            return judged;
        }
        let decision = judged.findings.iter().map(|finding| finding.decision).max().unwrap_or_default();
        if !state.flagged.is_empty() {
            let flagged = written_files::judge_flagged_files(&facts, state);
            judged.findings.extend(flagged.findings);
            judged.steps.extend(flagged.steps);
        }
        if decision != Decision::Deny {
            let changes = &mut judged.delta.files;
            let scripts = session_files::find_written_scripts(&facts, state).into_iter();
            changes.extend(scripts.map(|(path, origin)| SessionFileChange::Origin(path, origin)));
            let filled = session_files::find_filled(&facts, state).into_iter();
            changes.extend(filled.map(SessionFileChange::Filled));
            let is_new = |link: &&(String, String)| state.links.get(&link.0) != Some(&link.1);
            let links = facts.created_links.iter().filter(is_new).cloned();
            changes.extend(links.map(|(path, target)| SessionFileChange::Linked(path, target)));
            let is_sensitive = |path: &str| self.is_sensitive(event, path);
            let mut copies = session_files::find_copies(&facts, decision == Decision::Ask, is_sensitive);
            let replaced = session_files::find_replaced_copies(&facts, state, &copies).into_iter();
            changes.extend(replaced.map(SessionFileChange::CopyReplaced));
            copies.extend(session_files::find_environment_copies(&facts));
            copies.retain(|(path, original)| state.copies.get(path) != Some(original));
            changes
                .extend(copies.into_iter().map(|(path, original)| SessionFileChange::Copied(path, original)));
        }
        // Events without a session id share one state, and a file that runs may still be denied.
        let is_own = event.harness_session_id.is_some() && facts.run_files.is_empty();
        if decision < Decision::Ask && is_own {
            let created = session_files::find_created(&facts, state, self.home.as_deref(), account);
            judged.delta.files.extend(created.into_iter().map(SessionFileChange::Created));
        }
        if decision != Decision::Deny && event.harness_session_id.is_some() {
            self.add_session_changes(event, &facts, state, branches, &mut judged);
        }
        judged
    }

    /// Adds what later calls of the session need to know about the shell, branches and directories.
    fn add_session_changes(
        &self,
        event: &Event,
        facts: &Facts,
        state: &SessionState,
        branches: Vec<String>,
        judged: &mut PolicyJudgement,
    ) {
        let changes = &mut judged.delta.files;
        let statements = session_shell::find_statements(event).into_iter();
        changes.extend(
            statements.filter(|statement| !state.shell.contains(statement)).map(SessionFileChange::Shell),
        );
        let branches = branches.into_iter().filter(|path| !state.branches.contains(path));
        changes.extend(branches.map(SessionFileChange::Branched));
        let trees = session_trees::find_trees(facts, state, event.cwd.as_deref()).into_iter();
        let is_new = |(path, origin): &(String, TreeOrigin)| state.trees.get(path) != Some(origin);
        changes.extend(trees.filter(is_new).map(|(path, origin)| SessionFileChange::Fetched(path, origin)));
    }

    /// Whether the rules deny reading this file or ask about it.
    fn is_sensitive(&self, event: &Event, path: &str) -> bool {
        let tool = ToolCall::new("Read", json!({ "file_path": path }));
        let read = Event { tool: Some(tool), ..event.clone() };
        let facts =
            self.with_environment(&read, None, |environment| tenterhook_facts::facts(&read, environment));
        let judged = tenterhook_policy::judge(&read, &facts, &SessionState::default(), &self.set);
        judged.findings.iter().any(|finding| finding.decision >= Decision::Ask)
    }

    /// Returns the findings about files that the call writes and that run later.
    fn judge_written_files(&self, event: &Event, facts: &Facts, access: &mut FileAccess) -> WrittenFindings {
        if event.event != EventKind::PreTool {
            return WrittenFindings::default();
        }
        self.with_environment(event, None, |environment| {
            written_files::judge_written_files(event, facts, environment, &self.set, access)
        })
    }

    /// Reads the files that a call would run.
    pub(crate) fn read_run_files<'s>(
        &self,
        event: &Event,
        facts: &Facts,
        state: &'s SessionState,
        access: &mut FileAccess,
    ) -> Option<RunFiles<'s>> {
        let is_wanted = access.is_allowed() && !facts.run_files.is_empty();
        is_wanted.then(|| {
            self.with_environment(event, None, |environment| {
                RunFiles::collect(event, facts, environment, state, access)
            })
        })
    }

    /// Returns the findings that the files of a call add to the judgement of the call.
    fn judge_run_files(
        &self,
        event: &Event,
        facts: &Facts,
        files: Option<&RunFiles<'_>>,
        base: &PolicyJudgement,
    ) -> FileFindings {
        let Some(files) = files else { return FileFindings::default() };
        self.with_environment(event, None, |environment| {
            run_files::judge_run_files(files, event, facts, environment, &self.set, base)
        })
    }

    /// Saves what a call would lose instead of asking about it, if the rules permit that and nothing else about the call
    /// needs an answer. Calls that no rule asks about are saved if a rule wants that. Returns the id of the snapshot.
    fn take_snapshot(&self, event: &Event, facts: &Facts, judged: &mut PolicyJudgement) -> Option<String> {
        let snapshots = self.snapshots.as_ref().filter(|_| !judged.undoable.is_empty())?;
        let state = self.memory.state_of(event, &self.set);
        let parts = CallSnapshots::find_parts(event, facts, judged, &state)?;
        let is_asked = judged.findings.iter().any(|finding| finding.decision >= Decision::Ask);
        let needed = parts.select_needed(is_asked, |rest| {
            let judged = self.judge_facts(event, rest, &state, None);
            let asks = judged.findings.iter().any(|finding| finding.decision >= Decision::Ask);
            RestJudgement { asks, is_undoable: !judged.undoable.is_empty() }
        })?;
        snapshots.replace_questions(event, &needed, judged)
    }

    /// Reports files that changed between the evaluation of a call and its end. The rules are evaluated before the file
    /// runs, and the file may be replaced in between.
    fn report_changed_files(&self, event: &Event, access: &mut FileAccess) -> Option<Finding> {
        let runs_commands = event.tool.as_ref().is_some_and(|tool| !tool.commands().is_empty());
        if event.event != EventKind::PostTool || !access.is_allowed() || !runs_commands {
            return None;
        }
        let before = self.memory.run_hashes(event);
        if before.is_empty() {
            return None;
        }
        let (facts, state) = (self.facts(event, None), SessionState::default());
        let files = self.read_run_files(event, &facts, &state, access)?;
        let is_changed = |(path, hash): &(&str, &str)| before.get(*path).is_some_and(|known| known != hash);
        let changed: Vec<_> =
            files.hashes().filter(is_changed).map(|(path, _)| format!("`{path}`")).collect();
        if changed.is_empty() {
            return None;
        }
        let message = format!(
            "Tenterhook: {} changed while this call ran; the rules were evaluated on the earlier content",
            changed.join(", ")
        );
        Some(Finding { message: Some(message), ..Finding::silent(Origin::Engine) })
    }
}

impl Judge for RuleJudge {
    fn judge(&self, event: &Event) -> RuleJudgement {
        self.judge_in_shell(event, None)
    }

    fn judge_for_account(&self, event: &Event, account: u32) -> RuleJudgement {
        self.judge_in_shell(event, Some(account))
    }
}

impl RuleJudge {
    /// Evaluates a call together with the statements of earlier calls that it uses.
    fn judge_in_shell(&self, event: &Event, account: Option<u32>) -> RuleJudgement {
        let state = session_shell::may_use_statements(event).then(|| self.memory.shell_state(event));
        let Some(with) = state.and_then(|state| session_shell::with_statements(event, &state)) else {
            return self.judge_call(event, account);
        };
        let mut judged = self.judge_call(&with.event, account);
        if judged.findings.iter().any(|finding| !finding.modifications.is_empty()) {
            // A rewrite would contain the statements.
            return self.judge_call(event, account);
        }
        let plain = |event: &Event| {
            let facts = self.facts(event, None);
            tenterhook_policy::judge(event, &facts, &SessionState::default(), &self.set).findings
        };
        let (before, alone) = (plain(&with.statements), plain(event));
        let is_same = |one: &Finding, other: &Finding| one.by == other.by && one.decision == other.decision;
        // The statements were evaluated when they ran.
        judged.findings.retain(|finding| {
            !before.iter().any(|other| is_same(finding, other))
                || alone.iter().any(|other| is_same(finding, other))
        });
        if !with.is_safe_in_new_shell {
            let is_missing = |finding: &Finding| !judged.findings.iter().any(|other| is_same(finding, other));
            let missing: Vec<_> = alone.into_iter().filter(is_missing).collect();
            judged.findings.extend(missing);
        }
        judged
    }

    /// Evaluates all rules on an event. `account` is the account that makes the call, if it is known.
    fn judge_call(&self, event: &Event, account: Option<u32>) -> RuleJudgement {
        let mut access = self.file_rights.access_for(account);
        let other_account = account.filter(|_| matches!(access, FileAccess::Caller(_)));
        if let Some(snapshots) = self.snapshots.as_ref().filter(|_| other_account.is_none()) {
            snapshots.note_call_end(event);
        }
        let (mut observed, mut touched) = (None, None);
        let judged = if self.set.handles(event.event) || self.set.counts_usage_of(event) {
            let facts = self.facts(event, None);
            observed = (!facts.links.is_empty()).then(|| json!(facts.links));
            touched = Some(facts.touched());
            let written = self.judge_written_files(event, &facts, &mut access);
            let runs_files = event.event == EventKind::PreTool && !facts.run_files.is_empty();
            let before = runs_files.then(|| self.memory.state_of(event, &self.set));
            let files =
                before.as_ref().and_then(|state| self.read_run_files(event, &facts, state, &mut access));
            let judge = |state: &SessionState| {
                let mut judged = self.judge_facts(event, &facts, state, other_account);
                let hashes = files.iter().flat_map(RunFiles::hashes);
                let new =
                    hashes.filter(|(path, hash)| state.run_hashes.get(*path).is_none_or(|old| old != hash));
                let run =
                    |(path, hash): (&str, &str)| SessionFileChange::Run(path.to_owned(), hash.to_owned());
                judged.delta.files.extend(new.map(run));
                let is_new = |file: &&(String, FlaggedFile)| state.flagged.get(&file.0) != Some(&file.1);
                let flagged = written.flagged.iter().filter(is_new).cloned();
                judged.delta.files.extend(flagged.map(|(path, file)| SessionFileChange::Flagged(path, file)));
                judged
            };
            let mut judged = self.memory.judge(event, &self.set, judge);
            let files = self.judge_run_files(event, &facts, files.as_ref(), &judged);
            let mut from_files = files.findings.iter().chain(&written.findings);
            let snapshot = match from_files.any(|finding| finding.decision >= Decision::Ask) {
                true => None,
                false if other_account.is_some() => None,
                false => self.take_snapshot(event, &facts, &mut judged),
            };
            judged.findings.extend(files.findings);
            judged.steps.extend(files.steps);
            judged.findings.extend(written.findings);
            judged.steps.extend(written.steps);
            for (key, value) in [("files", files.observed), ("snapshot", snapshot.map(Value::from))] {
                if let Some(value) = value {
                    let all = observed.get_or_insert_with(|| json!({}));
                    all.as_object_mut().map(|all| all.insert(key.to_owned(), value));
                }
            }
            judged
        } else {
            PolicyJudgement::default()
        };
        let mut findings = judged.findings;
        findings.extend(network_connect::refuse_inner_address(event, &findings));
        findings.extend(self.report_changed_files(event, &mut access));
        if event.event == EventKind::SessionStart && self.problems > 0 {
            // Users who do not run `tenterhook check` must still learn that a rule does not apply.
            let message = format!(
                "Tenterhook: {} of your rules or hooks cannot be used; run `tenterhook check`",
                self.problems
            );
            findings.push(Finding { message: Some(message), ..Finding::silent(Origin::Engine) });
        }
        RuleJudgement { findings, steps: judged.steps, observed, file_effects: touched }
    }
}
