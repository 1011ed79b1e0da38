// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Builds the pipeline of a call. Hooks and rules decide, the engine combines their findings, and the ledger records
//! the outcome.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tenterhook_engine::{Engine, Generation, Hook, HookLimits, NoRecorder, load};
use tenterhook_event::{Event, HookCall, Outcome, Timestamp};
use tenterhook_facts::LinkMap;
use tenterhook_harness_install::receipt::FileFingerprint;
use tenterhook_policy::{LoadMode, Problem, RuleNote, RuleSet};

use crate::allowances::AllowanceStore;
use crate::file_access::FileRights;
use crate::mcp_servers::KnownServers;
use crate::recorder::{DirectRecorder, LedgerHandle, SpoolRecorder};
use crate::retention::Retention;
use crate::rule_judge::RuleJudge;
use crate::session_memory::{SessionMemory, SessionStateDir};
use crate::snapshot::{self, RuleOrigin};
use crate::undo_call::{BlockingRunner, CallSnapshots};
use tenterhook_error::Failure;
use tenterhook_home::Home;
use tenterhook_home::Mode;
use tenterhook_home::ProtectionLevel;
use tenterhook_home::Switches;
use tenterhook_home::env::Env;
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
    /// The level of protection.
    pub level: ProtectionLevel,
    /// When monitor mode ends by itself.
    pub monitor_until: Option<Timestamp>,
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
    /// Calls that the user allowed. If there is none, the rules alone decide.
    pub allowances: Option<AllowanceStore>,
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
        configuration.monitor_until = sources.monitor_until;
        configuration.set_level(sources.level);
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
        let (service, service_problems) = crate::ServiceSettings::of(home);
        problems.extend(service_problems);
        let limits = HookLimits { call_timeout: MAX_CALL_TIMEOUT, ..defaults.limits.clone() };
        let (sources, sessions) = (Sources::default(), Some(SessionStateDir::new(home.sessions())));
        // The machine's home serves other accounts, whose settings it does not read.
        let servers = match home.machine_run {
            Some(_) => KnownServers::Unknown,
            None => KnownServers::from_settings(env),
        };
        // The machine's home runs as root and must not copy files for accounts that cannot read them.
        let snapshots = home.machine_run.is_none().then(|| CallSnapshots::new(home.undo(), service.undo));
        Self {
            generation,
            rules,
            mode,
            level: ProtectionLevel::default(),
            monitor_until: None,
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
            allowances: Some(AllowanceStore::of(home)),
        }
    }
}

impl Configuration {
    /// Applies the parts of a level that are not rules. Records name the level, because it changes verdicts.
    pub(crate) fn set_level(&mut self, level: ProtectionLevel) {
        self.level = level;
        if !level.rules().never_ask.is_empty() {
            self.generation += &format!("-{level}");
        }
    }

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

    /// Runs work of snapshots that waits for the disk with this function.
    #[must_use]
    pub fn run_snapshots_with(mut self, run_blocking: BlockingRunner) -> Self {
        self.snapshots = self.snapshots.map(|snapshots| snapshots.with_runner(run_blocking));
        self
    }

    /// Builds a generation for the caller's engine. Session state is stored.
    pub fn into_generation(self, user_home: Option<&Path>) -> Result<Generation, Failure> {
        let remembered = SessionMemory::read_write(self.sessions);
        let entries = count_entries(&self.problems);
        let rules =
            RuleJudge::new(self.rules, user_home, entries, remembered, self.servers, self.file_rights)
                .with_snapshots(self.snapshots)
                .with_allowances(self.allowances)
                .with_monitor_limit(self.monitor_until)
                .with_level(self.level);
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
            allowances,
            monitor_until,
            level,
            ..
        } = configuration;
        // A call that is only evaluated reads the session state but does not change it, needs no snapshot, and uses up
        // no allowance.
        let is_recorded = !matches!(memory, RecordTarget::None);
        let snapshots = snapshots.filter(|_| is_recorded);
        let allowances = allowances.filter(|_| is_recorded);
        let remembered = match &memory {
            RecordTarget::Ledger(_) | RecordTarget::Spool { .. } => SessionMemory::read_write(sessions),
            RecordTarget::None => SessionMemory::read_only(sessions),
        };
        let rules = Arc::new(
            RuleJudge::new(rules, user_home, count_entries(&problems), remembered, servers, file_rights)
                .with_snapshots(snapshots)
                .with_allowances(allowances)
                .with_monitor_limit(monitor_until)
                .with_level(level),
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
mod level_tests;
#[cfg(test)]
mod ordinary_write_tests;
#[cfg(test)]
mod run_file_tests;
#[cfg(test)]
mod run_task_tests;
#[cfg(test)]
mod scratch_repository_tests;
#[cfg(test)]
mod session_file_tests;
#[cfg(test)]
mod session_shell_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod undo_tests;
