// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Evaluates the rules on an event: on the call itself, on the files that it runs or writes, and with what earlier calls
//! of the session did.

use std::borrow::Cow;
use std::path::Path;

use serde_json::{Value, json};
use tenterhook_engine::{Judge, RuleJudgement};
use tenterhook_event::{Decision, Event, EventKind, Finding, Origin, Timestamp, ToolCall};
use tenterhook_facts::{EvalEnvironment, Facts, FileOp, LinkMap, SessionFilePaths};
use tenterhook_home::{ProtectionLevel, env};
use tenterhook_policy::{FlaggedFile, PolicyJudgement, RuleSet, SessionFileChange, SessionState};

use crate::allowances::{self, AllowanceStore};
use crate::call_changes::{call_key, session_changes};
use crate::file_access::{FileAccess, FileRights};
use crate::git_hooks;
use crate::mcp_servers::KnownServers;
use crate::profile_lines;
use crate::run_files::{self, FileFindings, RunFiles};
use crate::session_files::OwnPaths;
use crate::session_memory::SessionMemory;
use crate::shell_judge::CallEvaluation;
use crate::undo_call::{CallSnapshots, RestJudgement};
use crate::written_files::{self, WrittenFindings};
use crate::{network_connect, session_files, session_worktrees, shell_certainty, symlinks};

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
    allowances: Option<AllowanceStore>,
    monitor_until: Option<Timestamp>,
    level: ProtectionLevel,
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
        Self {
            set,
            home,
            groups,
            problems,
            memory,
            servers,
            file_rights,
            snapshots: None,
            allowances: None,
            monitor_until: None,
            level: ProtectionLevel::default(),
        }
    }

    /// Takes snapshots instead of asking, where rules permit it.
    pub(crate) fn with_snapshots(self, snapshots: Option<CallSnapshots>) -> Self {
        Self { snapshots, ..self }
    }

    /// Honours the allowances of this store.
    pub(crate) fn with_allowances(self, allowances: Option<AllowanceStore>) -> Self {
        Self { allowances, ..self }
    }

    /// Tells users at the start of a session that monitor mode ends at this time.
    pub(crate) fn with_monitor_limit(self, monitor_until: Option<Timestamp>) -> Self {
        Self { monitor_until, ..self }
    }

    /// Applies this level of protection.
    pub(crate) fn with_level(self, level: ProtectionLevel) -> Self {
        Self { level, ..self }
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
        let own = OwnPaths::collect(facts, state);
        let files = SessionFilePaths { copies: &copies, created: &own.paths };
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
        let has_worktrees = is_before && account.is_none() && session_worktrees::uses_worktrees(&facts);
        let mut worktrees = Vec::new();
        if has_worktrees {
            worktrees = session_worktrees::find_created(&facts, event.cwd.as_deref());
            let own = OwnPaths::collect(&facts, state);
            session_worktrees::remove_own_removals(facts.to_mut(), event.cwd.as_deref(), &own, &worktrees);
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
            judged.delta.files.extend(self.file_changes(event, &facts, state, decision));
        }
        // Events without a session id share one state, and a file that runs may still be denied.
        let is_own = event.harness_session_id.is_some() && facts.run_files.is_empty();
        if is_own {
            judged.delta.files.extend(session_files::find_unconfirmed(state, &call_key(event)));
        }
        if decision < Decision::Ask && is_own {
            let created = session_files::find_created(&facts, state, self.home.as_deref(), account);
            let planned = created.into_iter().chain(worktrees);
            let key = call_key(event);
            let is_new = |path: &String| state.creating.get(path) != Some(&key);
            let changes = planned.filter(is_new).map(|path| SessionFileChange::Creating(path, key.clone()));
            judged.delta.files.extend(changes);
        }
        if decision != Decision::Deny && event.harness_session_id.is_some() {
            judged.delta.files.extend(session_changes(event, &facts, state));
        }
        judged
    }

    /// Returns what later calls of the session need to know about files, if the call runs.
    fn file_changes(
        &self,
        event: &Event,
        facts: &Facts,
        state: &SessionState,
        decision: Decision,
    ) -> Vec<SessionFileChange> {
        let scripts = session_files::find_written_scripts(facts, state).into_iter();
        let mut changes: Vec<_> =
            scripts.map(|(path, origin)| SessionFileChange::Origin(path, origin)).collect();
        let filled = session_files::find_filled(facts, state).into_iter();
        changes.extend(filled.map(SessionFileChange::Filled));
        let is_new = |link: &&(String, String)| state.links.get(&link.0) != Some(&link.1);
        let links = facts.created_links.iter().filter(is_new).cloned();
        changes.extend(links.map(|(path, target)| SessionFileChange::Linked(path, target)));
        let is_sensitive = |path: &str| self.is_sensitive(event, path);
        let mut copies = session_files::find_copies(facts, decision >= Decision::Ask, is_sensitive);
        let replaced = session_files::find_replaced_copies(facts, state, &copies).into_iter();
        changes.extend(replaced.map(SessionFileChange::CopyReplaced));
        copies.extend(session_files::find_environment_copies(facts));
        copies.retain(|(path, original)| state.copies.get(path) != Some(original));
        changes.extend(copies.into_iter().map(|(path, original)| SessionFileChange::Copied(path, original)));
        changes
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

    /// Removes from the facts what a call writes to git hooks and shell profiles, if it needs no question: checks of the
    /// project, and ordinary lines.
    fn leave_out_ordinary_writes(&self, event: &Event, facts: &mut Facts, access: &mut FileAccess) {
        let writes = facts.effects.iter().any(|effect| effect.does == FileOp::Append);
        let names_hooks = git_hooks::names_hooks(facts);
        if event.event != EventKind::PreTool || !(writes || names_hooks) {
            return;
        }
        let written = written_files::written_texts(event, facts, access);
        if names_hooks {
            let hooks = self.with_environment(event, None, |environment| {
                git_hooks::find_checking_hooks(event, facts, &written, environment, &self.set, access)
            });
            git_hooks::remove_hook_effects(facts, &hooks);
        }
        profile_lines::remove_ordinary_additions(facts, &written);
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

    /// Removes the questions that the level does not want. What could be saved is already saved.
    fn remove_unwanted_questions(&self, judged: &mut PolicyJudgement) {
        if self.level == ProtectionLevel::default() {
            return;
        }
        let never_ask = &self.level.rules().never_ask;
        let is_unwanted = |by: &Origin, decision: Decision| {
            let Origin::Rule(id) = by else { return false };
            decision == Decision::Ask && never_ask.iter().any(|name| **name == **id)
        };
        judged.findings.retain(|finding| !is_unwanted(&finding.by, finding.decision));
        for step in judged.steps.iter_mut().filter(|step| is_unwanted(&step.by, step.decision)) {
            step.decision = Decision::None;
            let note = format!("the level is {}", self.level);
            step.note = Some(step.note.take().map_or(note.clone(), |old| format!("{old}; {note}")));
        }
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
        self.judge_with_allowances(event, None)
    }

    fn judge_for_account(&self, event: &Event, account: u32) -> RuleJudgement {
        self.judge_with_allowances(event, Some(account))
    }
}

impl RuleJudge {
    /// Evaluates a call, and allows it if a user did so.
    fn judge_with_allowances(&self, event: &Event, account: Option<u32>) -> RuleJudgement {
        let mut judged = self.judge_in_shell(event, account);
        if let Some(allowances) = &self.allowances {
            allowances::apply(allowances, event, &self.set, &mut judged);
        }
        judged
    }

    /// Evaluates the rules on a call before it runs, without any effect on the state of its session.
    pub(crate) fn evaluate_call(
        &self,
        event: &Event,
        account: Option<u32>,
        state: &SessionState,
    ) -> CallEvaluation {
        let mut access = self.file_rights.access_for(account);
        let other_account = account.filter(|_| matches!(access, FileAccess::Caller(_)));
        let mut facts = self.facts(event, None);
        let written = self.judge_written_files(event, &facts, &mut access);
        self.leave_out_ordinary_writes(event, &mut facts, &mut access);
        let mut judged = self.judge_facts(event, &facts, state, other_account);
        let files = self.read_run_files(event, &facts, state, &mut access);
        let files = self.judge_run_files(event, &facts, files.as_ref(), &judged);
        judged.findings.extend(files.findings.into_iter().chain(written.findings));
        judged.steps.extend(files.steps.into_iter().chain(written.steps));
        self.remove_unwanted_questions(&mut judged);
        CallEvaluation { findings: judged.findings, steps: judged.steps, facts }
    }

    /// Records what a call that has ended has certainly created and assigned.
    fn note_call_end(&self, event: &Event) {
        let succeeded = event.event == EventKind::PostTool;
        if !(succeeded || event.event == EventKind::ToolError) || event.harness_session_id.is_none() {
            return;
        }
        self.memory.update(event, |state| {
            let mut changes = session_files::find_completed(state, &call_key(event), succeeded);
            if succeeded {
                changes.extend(shell_certainty::find_certain(event, state));
            }
            changes
        });
    }

    /// Evaluates all rules on an event. `account` is the account that makes the call, if it is known.
    pub(crate) fn judge_call(&self, event: &Event, account: Option<u32>) -> RuleJudgement {
        self.note_call_end(event);
        let mut access = self.file_rights.access_for(account);
        let other_account = account.filter(|_| matches!(access, FileAccess::Caller(_)));
        if let Some(snapshots) = self.snapshots.as_ref().filter(|_| other_account.is_none()) {
            snapshots.note_call_end(event);
        }
        let (mut observed, mut touched) = (None, None);
        let judged = if self.set.handles(event.event) || self.set.counts_usage_of(event) {
            let mut facts = self.facts(event, None);
            observed = (!facts.links.is_empty()).then(|| json!(facts.links));
            touched = Some(facts.touched());
            let written = self.judge_written_files(event, &facts, &mut access);
            self.leave_out_ordinary_writes(event, &mut facts, &mut access);
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
            self.remove_unwanted_questions(&mut judged);
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
        if let Some(until) = self.monitor_until.filter(|_| event.event == EventKind::SessionStart) {
            let message =
                format!("Tenterhook: monitor mode until {until}: verdicts are only recorded until then");
            findings.push(Finding { message: Some(message), ..Finding::silent(Origin::Engine) });
        }
        RuleJudgement { findings, steps: judged.steps, observed, file_effects: touched }
    }
}
