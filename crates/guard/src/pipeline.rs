// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Builds the pipeline of a call. Hooks and rules decide, the engine combines their findings, and the ledger records
//! the outcome.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tenterhook_engine::{Engine, Generation, Hook, HookLimits, Judge, NoRecorder, RuleJudgement, load};
use tenterhook_event::{Decision, Event, EventKind, Finding, HookCall, Origin, Outcome, ToolCall};
use tenterhook_facts::{EvalEnvironment, Facts, LinkMap, SessionFilePaths};
use tenterhook_harness_install::receipt::FileFingerprint;
use tenterhook_policy::{
    FlaggedFile, LoadMode, PolicyJudgement, Problem, RuleNote, RuleSet, SessionFileChange, SessionState,
};

use crate::file_access::{FileAccess, FileRights};
use crate::mcp_servers::KnownServers;
use crate::recorder::{DirectRecorder, LedgerHandle, SpoolRecorder};
use crate::retention::Retention;
use crate::run_files::{self, FileFindings, RunFiles};
use crate::session_files;
use crate::session_memory::{SessionMemory, SessionStateDir};
use crate::snapshot::{self, RuleOrigin};
use crate::symlinks;
use crate::undo_call::CallSnapshots;
use crate::written_files::{self, WrittenFindings};
use tenterhook_error::Failure;
use tenterhook_home::Home;
use tenterhook_home::Mode;
use tenterhook_home::Switches;
use tenterhook_home::env::{self, Env};
use tenterhook_home::hook_files;
use tenterhook_home::hook_packages;
use tenterhook_home::read_file;
use tenterhook_home::trust::ProjectText;
use tenterhook_home::{Sources, WorkDirs};

/// Evaluates calls with the rules and hooks of one configuration.
pub struct CallPipeline {
    engine: Engine,
    rules: Arc<RuleJudge>,
}

/// The rules and hooks of a home, before the engine is built.
pub struct Configuration {
    /// Identifier in records, derived from the text of all rules and hooks.
    pub generation: String,
    /// The rules that apply.
    pub rules: RuleSet,
    /// Whether rules are enforced or only monitored.
    pub mode: Mode,
    /// Sources of the rules.
    pub sources: Sources,
    /// Hooks from the settings and from trusted hook packages.
    pub hooks: Vec<Hook>,
    /// Limits on the number and duration of hooks.
    pub limits: HookLimits,
    /// Defaults for hooks that do not set these values.
    pub defaults: load::HookDefaults,
    /// Entries that cannot be used.
    pub problems: Vec<Problem>,
    /// Entries that can be used but are probably mistakes.
    pub warnings: Vec<Problem>,
    /// Directory with the session state of rules. If there is none, rules keep no state.
    pub sessions: Option<SessionStateDir>,
    /// The MCP servers in the settings of harnesses.
    pub servers: KnownServers,
    /// Whose rights are used to read the files that a call runs.
    pub file_rights: FileRights,
    /// Where snapshots of what a call would lose are stored. If there is none, the user is asked.
    pub snapshots: Option<CallSnapshots>,
}

/// Where decisions are recorded.
pub enum RecordTarget {
    /// In the ledger of a home.
    Ledger(Arc<LedgerHandle>),
    /// In the spool of a home, because no daemon is running.
    Spool {
        /// Home whose spool is used.
        home: Home,
        /// Facts to record: why the hook decides without the daemon, and where its rules come from.
        facts: Value,
        /// Whether the generation has already been recorded.
        is_generation_recorded: bool,
    },
    /// Nowhere: the call is only evaluated, for example by `explain`.
    None,
}

struct RuleJudge {
    set: RuleSet,
    home: Option<String>,
    groups: Vec<String>,
    problems: usize,
    memory: SessionMemory,
    servers: KnownServers,
    file_rights: FileRights,
    snapshots: Option<CallSnapshots>,
}

// === impl Configuration ===

impl Configuration {
    /// Reads the rules and hooks of a home and the rules of the agent's project, and checks every example. Entries
    /// that cannot be used are reported as problems; all other entries apply.
    pub fn read(home: &Home, env: &Env, dirs: &WorkDirs) -> Self {
        Self::read_with(home, env, dirs, LoadMode::Checked)
    }

    /// Reads the configuration like [`Self::read`], but uses the precompiled built-in packs, because a hook
    /// process answers one call and must start fast.
    pub fn read_trusted(home: &Home, env: &Env, dirs: &WorkDirs) -> Self {
        Self::read_with(home, env, dirs, tenterhook_baseline::trusted())
    }

    /// Reads the configuration like [`Self::read_trusted`], with project files that were read before with the
    /// caller's rights.
    pub fn read_with_project(home: &Home, env: &Env, project: Vec<ProjectText>) -> Self {
        let sources = Sources::collect_with_project(home, env, project);
        Self::read_sources(home, env, sources, tenterhook_baseline::trusted())
    }

    fn read_with(home: &Home, env: &Env, dirs: &WorkDirs, mode: LoadMode<'_>) -> Self {
        Self::read_sources(home, env, Sources::collect(home, env, dirs), mode)
    }

    fn read_sources(home: &Home, env: &Env, mut sources: Sources, mode: LoadMode<'_>) -> Self {
        let loaded = sources.load_with(mode);
        let mut problems = std::mem::take(&mut sources.problems);
        problems.extend(loaded.problems);

        let text = read_if_present(&home.settings(), &mut problems);
        let mode = if sources.monitor { Mode::Monitor } else { Mode::Enforce };
        let mut configuration = Self::from_rules(home, env, loaded.rules, mode, text.as_deref(), problems);
        configuration.warnings.splice(0..0, sources.warnings.iter().cloned());
        configuration.sources = sources;
        configuration
    }

    /// Combines rules with the hooks of this settings file.
    pub(crate) fn from_rules(
        home: &Home,
        env: &Env,
        rules: RuleSet,
        mode: Mode,
        text: Option<&str>,
        mut problems: Vec<Problem>,
    ) -> Self {
        let user_home = env.home.as_deref().and_then(Path::to_str);
        let context = load::LoadContext { dir: &home.config, home: user_home, env: &env.all };
        let mut settings = text.map_or_else(load::LoadedHooks::default, |text| {
            load::load_settings(&home.settings().display().to_string(), text, &context)
        });
        let usable = hook_packages::load(home, &mut settings, &context);
        let places = std::mem::take(&mut settings.places);
        let (mut hooks, mut warnings) = (settings.hooks, settings.warnings);
        let switched = read_file::state_file(&home.switches()).ok().flatten();
        let mut defaults = settings.defaults;
        match Switches::read(home) {
            Ok(switches) => {
                switches.apply(&mut hooks);
                defaults.audit = switches.audit.unwrap_or(defaults.audit);
            }
            Err(error) => {
                problems.push(Problem::for_file(&home.switches().display().to_string(), error.message));
            }
        }
        // Records name the configuration that decided: the rules, and the hooks if there are any.
        let mut generation = rules.digest();
        for text in [text, switched.as_deref(), usable.as_deref()].into_iter().flatten() {
            generation += &format!("-{}", FileFingerprint::of(text.as_bytes()).fnv1a);
        }
        warnings.extend(hooks.iter_mut().filter_map(|hook| cap_timeout(hook, home)));
        problems.extend(settings.problems);
        problems.extend(hook_files::find_problems(&hooks, &places, env));
        problems.extend(crate::recorder::LedgerSettings::of(home).1);
        // Invalid YAML is reported above.
        let retention = text.and_then(|_| Retention::read(home).problem);
        problems.extend(retention.filter(|problem| problem.about.is_some()));
        problems.extend(crate::ServiceSettings::of(home).1);
        let limits = HookLimits { call_timeout: MAX_CALL_TIMEOUT, ..defaults.limits.clone() };
        let (sources, sessions) = (Sources::default(), Some(SessionStateDir::new(home.sessions())));
        // The machine's home serves other accounts, whose settings it does not read.
        let servers = match home.machine_run {
            Some(_) => KnownServers::Unknown,
            None => KnownServers::from_settings(env),
        };
        // The machine's home runs as root and must not copy files for accounts that cannot read them.
        let snapshots = home.machine_run.is_none().then(|| CallSnapshots::new(home.undo()));
        Self {
            generation,
            rules,
            mode,
            sources,
            hooks,
            limits,
            defaults,
            problems,
            warnings,
            sessions,
            servers,
            file_rights: FileRights::Process,
            snapshots,
        }
    }
}

impl Configuration {
    /// Returns a description of the configuration, for the record of a new generation.
    pub fn detail(&self) -> Value {
        json!({
            "rules": self.rules.count(),
            "mode": self.mode,
            "hooks": self.hooks.len(),
            "unusable": count_entries(&self.problems),
        })
    }

    /// Returns the configuration of a daemon that serves other accounts: files of a call are read with the rights of
    /// the account that makes the call, and no snapshots are taken.
    #[must_use]
    pub fn for_other_accounts(self) -> Self {
        Self { file_rights: FileRights::Caller, snapshots: None, ..self }
    }

    /// Builds a generation for the caller's engine. Session state is stored.
    pub fn into_generation(self, user_home: Option<&Path>) -> Result<Generation, Failure> {
        let remembered = SessionMemory::read_write(self.sessions);
        let entries = count_entries(&self.problems);
        let rules =
            RuleJudge::new(self.rules, user_home, entries, remembered, self.servers, self.file_rights)
                .with_snapshots(self.snapshots);
        Generation::new(self.generation, self.hooks, self.limits, Arc::new(rules))
            .map_err(|error| Failure::internal(error.to_string()))
    }
}

// === impl CallPipeline ===

impl CallPipeline {
    /// Opens the pipeline of a home for an agent that works in these directories.
    pub fn open(home: &Home, env: &Env, dirs: &WorkDirs, memory: RecordTarget) -> Result<Self, Failure> {
        let configuration = Configuration::read_trusted(home, env, dirs);
        Self::build(configuration, env.home.as_deref(), memory)
    }

    /// Opens the pipeline of a hook that decides without a daemon. `why` is recorded, and `within` limits the
    /// duration. The snapshot is used if it is valid and current; otherwise the files are read.
    pub fn offline(
        home: &Home,
        env: &Env,
        dirs: &WorkDirs,
        why: &str,
        within: Duration,
    ) -> Result<Self, Failure> {
        let (mut configuration, from) = snapshot::load_configuration(home, env, dirs);
        configuration.limits.call_timeout = configuration.limits.call_timeout.min(within);
        let facts = json!({"fallback": why, "rules": from.to_string()});
        let memory = RecordTarget::Spool {
            home: home.clone(),
            facts,
            is_generation_recorded: from == RuleOrigin::Snapshot,
        };
        Self::build(configuration, env.home.as_deref(), memory)
    }

    /// Builds the pipeline of a configuration.
    pub fn build(
        configuration: Configuration,
        user_home: Option<&Path>,
        memory: RecordTarget,
    ) -> Result<Self, Failure> {
        let detail = configuration.detail();
        let Configuration {
            generation,
            rules,
            hooks,
            limits,
            problems,
            sessions,
            servers,
            file_rights,
            snapshots,
            ..
        } = configuration;
        // A call that is only evaluated reads the session state but does not change it, and needs no snapshot.
        let snapshots = snapshots.filter(|_| !matches!(memory, RecordTarget::None));
        let remembered = match &memory {
            RecordTarget::Ledger(_) | RecordTarget::Spool { .. } => SessionMemory::read_write(sessions),
            RecordTarget::None => SessionMemory::read_only(sessions),
        };
        let rules = Arc::new(
            RuleJudge::new(rules, user_home, count_entries(&problems), remembered, servers, file_rights)
                .with_snapshots(snapshots),
        );
        let builder =
            Engine::builder().named(generation).judge(Arc::clone(&rules)).limits(limits).hooks(hooks);
        let engine = match memory {
            RecordTarget::Ledger(ledger) => builder.recorder(DirectRecorder { ledger, detail }),
            RecordTarget::Spool { home, facts, is_generation_recorded } => builder.recorder(SpoolRecorder {
                home,
                detail: (!is_generation_recorded).then_some(detail),
                facts,
            }),
            RecordTarget::None => builder.recorder(NoRecorder),
        };
        let engine = engine.build().map_err(|error| Failure::internal(error.to_string()))?;
        Ok(Self { engine, rules })
    }

    /// Runs one call through hooks and rules.
    pub async fn fire(&self, call: &HookCall) -> Outcome {
        self.engine.fire(call).await
    }

    /// Runs one call like [`Self::fire`], on the calling thread and without a runtime. Returns `None` if a hook has
    /// to run.
    pub fn fire_now(&self, call: &HookCall) -> Option<Outcome> {
        self.engine.fire_now(call)
    }

    /// Returns the engine, for callers that replace its configuration.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Returns whether a rule limits spend.
    pub fn has_budgets(&self) -> bool {
        self.rules.set.has_budgets()
    }

    /// Returns the configuration that applies to the next event.
    pub fn generation(&self) -> Arc<Generation> {
        self.engine.generation()
    }

    /// Returns the facts of an event, and how each rule evaluates them. If `seen` is given, the recorded links are
    /// used instead of the disk.
    pub fn explain(
        &self,
        event: &Event,
        seen: Option<&LinkMap>,
    ) -> (tenterhook_policy::Facts, Vec<RuleNote>) {
        let rules = &self.rules;
        let state = rules.memory.state_of(event, &rules.set);
        let mut facts = rules.facts(event, seen);
        // The files of a past call may have changed since.
        let files = match seen {
            None => rules.read_run_files(event, &facts, &state, &mut rules.file_rights.access_for(None)),
            Some(_) => None,
        };
        if let Some(files) = files {
            facts = rules.with_environment(event, None, |environment| {
                files.facts(event, &facts, files.texts(), environment)
            });
        }
        let facts = rules.with_session_files(event, &facts, seen, &state).into_owned();
        let notes = tenterhook_policy::explain(event, &facts, &state, &rules.set);
        (facts, notes)
    }
}

// === impl RuleJudge ===

impl RuleJudge {
    fn new(
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
    fn with_snapshots(self, snapshots: Option<CallSnapshots>) -> Self {
        Self { snapshots, ..self }
    }

    fn facts(&self, event: &Event, seen: Option<&LinkMap>) -> tenterhook_policy::Facts {
        self.with_environment(event, seen, |environment| symlinks::collect_facts(event, environment))
    }

    /// Calls a function with what is known about the machine and the account.
    fn with_environment<T>(
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
    fn with_session_files<'f>(
        &self,
        event: &Event,
        facts: &'f Facts,
        seen: Option<&LinkMap>,
        state: &SessionState,
    ) -> Cow<'f, Facts> {
        let files = SessionFilePaths { copies: &state.copies, created: &state.created };
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
        let facts = self.with_session_files(event, facts, None, state);
        let mut judged = tenterhook_policy::judge(event, &facts, state, &self.set);
        if event.event != EventKind::PreTool {
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
        judged
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
    fn read_run_files<'s>(
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
    /// needs an answer. Returns the id of the snapshot.
    fn take_snapshot(&self, event: &Event, facts: &Facts, judged: &mut PolicyJudgement) -> Option<String> {
        let snapshots = self.snapshots.as_ref()?;
        let covered = CallSnapshots::cover(event, facts, judged)?;
        let state = self.memory.state_of(event, &self.set);
        let rest = self.judge_facts(event, &covered.rest, &state, None);
        if rest.findings.iter().any(|finding| finding.decision >= Decision::Ask) {
            return None;
        }
        snapshots.replace_questions(event, covered, judged)
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
        self.judge_call(event, None)
    }

    fn judge_for_account(&self, event: &Event, account: u32) -> RuleJudgement {
        self.judge_call(event, Some(account))
    }
}

impl RuleJudge {
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

/// Time limit for all hooks of a call together. Harnesses wait one minute for a reply.
const MAX_CALL_TIMEOUT: Duration = Duration::from_secs(50);

/// Maximum timeout of a hook. Harnesses wait one minute for a reply. A hook that takes longer would be killed before
/// the reply is sent.
pub const MAX_HOOK_TIMEOUT: Duration = Duration::from_secs(45);

fn cap_timeout(hook: &mut Hook, home: &Home) -> Option<Problem> {
    if hook.timeout <= MAX_HOOK_TIMEOUT {
        return None;
    }
    let message = format!(
        "timeout of {:?} reduced to {MAX_HOOK_TIMEOUT:?}, because harnesses do not wait longer",
        hook.timeout
    );
    // The default timeout of a dialect was not chosen by the user, so it causes no warning.
    let is_own_choice = hook.runner.dialect().is_none_or(|dialect| dialect.timeout != hook.timeout);
    hook.timeout = MAX_HOOK_TIMEOUT;
    let source = home.settings().display().to_string();
    is_own_choice.then(|| Problem::for_file(&source, message).about("hook", Some(&hook.id)))
}

/// Returns the number of rules, hooks and files that have problems. One entry may have several problems.
fn count_entries(problems: &[Problem]) -> usize {
    let same = |one: &Problem, other: &Problem| {
        one.about.is_some() && one.source == other.source && one.about == other.about
    };
    let first = |(at, one): &(usize, &Problem)| !problems.iter().take(*at).any(|other| same(one, other));
    problems.iter().enumerate().filter(first).count()
}

/// Reads a file. A missing file is not a problem, but an unreadable file is.
fn read_if_present(path: &Path, problems: &mut Vec<Problem>) -> Option<String> {
    read_file::regular_file(path).unwrap_or_else(|error| {
        problems.push(Problem::for_file(&path.display().to_string(), error.to_string()));
        None
    })
}

#[cfg(test)]
mod run_file_tests;
#[cfg(test)]
mod run_task_tests;
#[cfg(test)]
mod session_file_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod undo_tests;
