// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The road, put together: policy judges, the ledger records, the engine folds.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tenterhook_engine::{Engine, Generation, Hook, HookLimits, Judge, NoRecorder, RuleJudgement, load};
use tenterhook_event::{Event, EventKind, Finding, HookCall, Origin, Outcome};
use tenterhook_facts::{EvalEnvironment, LinkMap};
use tenterhook_harness_install::receipt::FileFingerprint;
use tenterhook_policy::{LoadMode, Problem, RuleNote, RuleSet, SessionState};

use crate::recorder::{Book, BookRecorder, SpoolRecorder};
use crate::retention::Retention;
use crate::servers::KnownServers;
use crate::sessions::{SessionMemory, Sessions};
use crate::snapshot::{self, RulesFrom};
use crate::symlinks;
use tenterhook_error::Failure;
use tenterhook_home::Home;
use tenterhook_home::Mode;
use tenterhook_home::Switches;
use tenterhook_home::env::{self, Env};
use tenterhook_home::hook_files;
use tenterhook_home::kits;
use tenterhook_home::read_file;
use tenterhook_home::trust::ProjectText;
use tenterhook_home::{Place, Sources};

/// Everything that decides about an event.
pub struct Road {
    engine: Engine,
    rules: Arc<Rules>,
}

/// What the rules and hooks are made of, before the engine is built.
pub struct Configuration {
    /// What records call all of it: the same for the same texts.
    pub generation: String,
    /// The rules.
    pub rules: RuleSet,
    /// Whether the rules hold.
    pub mode: Mode,
    /// Where the rules come from.
    pub sources: Sources,
    /// The hooks.
    pub hooks: Vec<Hook>,
    /// How much there may be of everything.
    pub limits: HookLimits,
    /// What holds for hooks that do not say otherwise.
    pub defaults: load::HookDefaults,
    /// What cannot be used.
    pub problems: Vec<Problem>,
    /// What can be used but is probably not meant so.
    pub warnings: Vec<Problem>,
    /// Where rules keep what they remember of sessions; without it they remember nothing.
    pub sessions: Option<Sessions>,
    /// The MCP servers in the settings of harnesses.
    pub servers: KnownServers,
}

/// Where decisions go.
pub enum Memory {
    /// Into the ledger of a home.
    Ledger(Arc<Book>),
    /// Into the spool of a home: nobody can record just now.
    Spool {
        /// Whose spool.
        home: Home,
        /// Why the hook decides by itself, and by what.
        facts: Value,
        /// Whether what the generation consists of is recorded already.
        known: bool,
    },
    /// Nowhere: a question, not an event.
    None,
}

struct Rules {
    set: RuleSet,
    home: Option<String>,
    groups: Vec<String>,
    problems: usize,
    memory: SessionMemory,
    servers: KnownServers,
}

// === impl Configuration ===

impl Configuration {
    /// Reads the rules and hooks of a home, and the rules of the project an agent works on, and tries
    /// every example. What cannot be used is a problem; the rest stands.
    pub fn read(home: &Home, env: &Env, place: &Place) -> Self {
        Self::read_with(home, env, place, LoadMode::Checked)
    }

    /// The same, with the packs of the program in their compiled form: for a single call every millisecond counts.
    pub fn read_trusted(home: &Home, env: &Env, place: &Place) -> Self {
        Self::read_with(home, env, place, tenterhook_baseline::trusted())
    }

    /// The same where the project's files were read before, with the rights of a caller.
    pub fn read_with_project(home: &Home, env: &Env, project: Vec<ProjectText>) -> Self {
        let sources = Sources::in_force_with(home, env, project);
        Self::read_sources(home, env, sources, tenterhook_baseline::trusted())
    }

    fn read_with(home: &Home, env: &Env, place: &Place, mode: LoadMode<'_>) -> Self {
        Self::read_sources(home, env, Sources::in_force(home, env, place), mode)
    }

    fn read_sources(home: &Home, env: &Env, mut sources: Sources, mode: LoadMode<'_>) -> Self {
        let loaded = sources.load_with(mode);
        let mut problems = std::mem::take(&mut sources.problems);
        problems.extend(loaded.problems);

        let text = read_optional(&home.settings(), &mut problems);
        let mode = if sources.monitor { Mode::Monitor } else { Mode::Enforce };
        let mut configuration = Self::of(home, env, loaded.rules, mode, text.as_deref(), problems);
        configuration.warnings.splice(0..0, sources.warnings.iter().cloned());
        configuration.sources = sources;
        configuration
    }

    /// Rules, and the hooks of this settings file.
    pub(crate) fn of(
        home: &Home,
        env: &Env,
        rules: RuleSet,
        mode: Mode,
        text: Option<&str>,
        mut problems: Vec<Problem>,
    ) -> Self {
        let person = env.home.as_deref().and_then(Path::to_str);
        let around = load::LoadContext { dir: &home.config, home: person, env: &env.all };
        let mut settings = text.map_or_else(load::LoadedHooks::default, |text| {
            load::load_settings(&home.settings().display().to_string(), text, &around)
        });
        let usable = kits::load(home, &mut settings, &around);
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
                problems.push(Problem::whole(&home.switches().display().to_string(), error.message));
            }
        }
        // Records name what decided: the rules, and the hooks where there are any.
        let mut generation = rules.digest();
        for text in [text, switched.as_deref(), usable.as_deref()].into_iter().flatten() {
            generation += &format!("-{}", FileFingerprint::of(text.as_bytes()).fnv1a);
        }
        warnings.extend(hooks.iter_mut().filter_map(|hook| cap(hook, home)));
        problems.extend(settings.problems);
        problems.extend(hook_files::problems(&hooks, &places, env));
        problems.extend(crate::recorder::Settings::of(home).1);
        // A file that is not YAML is reported above.
        let retention = text.and_then(|_| Retention::read(home).problem);
        problems.extend(retention.filter(|problem| problem.about.is_some()));
        problems.extend(crate::Settled::of(home).1);
        let limits = HookLimits { call_timeout: LONGEST_CALL, ..defaults.limits.clone() };
        let (sources, sessions) = (Sources::default(), Some(Sessions::new(home.sessions())));
        // A home of the machine serves accounts whose settings it does not read.
        let servers = match home.public {
            Some(_) => KnownServers::Unknown,
            None => KnownServers::of_settings(env),
        };
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
        }
    }
}

impl Configuration {
    /// What it is made of, for the leaf of a generation that was not seen before.
    pub fn detail(&self) -> Value {
        json!({
            "rules": self.rules.count(),
            "mode": self.mode,
            "hooks": self.hooks.len(),
            "unusable": count_entries(&self.problems),
        })
    }

    /// Makes a generation of it, for whoever has an engine or a daemon of their own. What happens is
    /// remembered.
    pub fn into_generation(self, person: Option<&Path>) -> Result<Generation, Failure> {
        let remembered = SessionMemory::keeping(self.sessions);
        let entries = count_entries(&self.problems);
        let rules = Rules::new(self.rules, person, entries, remembered, self.servers);
        Generation::new(self.generation, self.hooks, self.limits, Arc::new(rules))
            .map_err(|error| Failure::internal(error.to_string()))
    }
}

// === impl Road ===

impl Road {
    /// The road of a home, for an agent that works in a place.
    pub fn open(home: &Home, env: &Env, place: &Place, memory: Memory) -> Result<Self, Failure> {
        let configuration = Configuration::read_trusted(home, env, place);
        Self::build(configuration, env.home.as_deref(), memory)
    }

    /// The road of a hook that has to decide by itself within this time, and why: by the snapshot, if there
    /// is one that can be trusted and is not too old, else by the files themselves.
    pub fn by_itself(
        home: &Home,
        env: &Env,
        place: &Place,
        why: &str,
        within: Duration,
    ) -> Result<Self, Failure> {
        let (mut configuration, from) = snapshot::configuration(home, env, place);
        configuration.limits.call_timeout = configuration.limits.call_timeout.min(within);
        let facts = json!({"fallback": why, "rules": from.to_string()});
        let memory = Memory::Spool { home: home.clone(), facts, known: from == RulesFrom::Snapshot };
        Self::build(configuration, env.home.as_deref(), memory)
    }

    /// The road of a configuration.
    pub fn build(
        configuration: Configuration,
        person: Option<&Path>,
        memory: Memory,
    ) -> Result<Self, Failure> {
        let detail = configuration.detail();
        let Configuration { generation, rules, hooks, limits, problems, sessions, servers, .. } =
            configuration;
        // A question is answered by what is remembered, and leaves nothing behind.
        let remembered = match &memory {
            Memory::Ledger(_) | Memory::Spool { .. } => SessionMemory::keeping(sessions),
            Memory::None => SessionMemory::looking(sessions),
        };
        let rules = Arc::new(Rules::new(rules, person, count_entries(&problems), remembered, servers));
        let builder =
            Engine::builder().named(generation).judge(Arc::clone(&rules)).limits(limits).hooks(hooks);
        let engine = match memory {
            Memory::Ledger(book) => builder.recorder(BookRecorder { book, detail }),
            Memory::Spool { home, facts, known } => {
                builder.recorder(SpoolRecorder { home, detail: (!known).then_some(detail), facts })
            }
            Memory::None => builder.recorder(NoRecorder),
        };
        let engine = engine.build().map_err(|error| Failure::internal(error.to_string()))?;
        Ok(Self { engine, rules })
    }

    /// Takes one call down the road.
    pub async fn fire(&self, call: &HookCall) -> Outcome {
        self.engine.fire(call).await
    }

    /// Like [`Self::fire`], on the calling thread and without a runtime. `None` if a hook has to run.
    pub fn fire_now(&self, call: &HookCall) -> Option<Outcome> {
        self.engine.fire_now(call)
    }

    /// The engine, for whoever exchanges its configuration.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Whether some rule limits what may be spent.
    pub fn has_budgets(&self) -> bool {
        self.rules.set.has_budgets()
    }

    /// The configuration an event would see now.
    pub fn generation(&self) -> Arc<Generation> {
        self.engine.generation()
    }

    /// What the rules see of an event, and what each of them makes of it.
    /// With `seen` it is judged by what was seen then, not by the disk of today.
    pub fn explain(
        &self,
        event: &Event,
        seen: Option<&LinkMap>,
    ) -> (tenterhook_policy::Facts, Vec<RuleNote>) {
        let rules = &self.rules;
        let (facts, state) = (rules.facts(event, seen), rules.memory.look(event, &rules.set));
        let notes = tenterhook_policy::explain(event, &facts, &state, &rules.set);
        (facts, notes)
    }
}

// === impl Rules ===

impl Rules {
    fn new(
        set: RuleSet,
        person: Option<&Path>,
        problems: usize,
        memory: SessionMemory,
        servers: KnownServers,
    ) -> Self {
        let home = person.and_then(Path::to_str).map(ToOwned::to_owned);
        let groups = if set.uses_groups() { env::groups() } else { Vec::new() };
        Self { set, home, groups, problems, memory, servers }
    }

    fn facts(&self, event: &Event, seen: Option<&LinkMap>) -> tenterhook_policy::Facts {
        let groups: Vec<_> = self.groups.iter().map(String::as_str).collect();
        let servers = self.servers.for_event(event);
        // Who runs the agent comes with the event.
        let around = EvalEnvironment {
            home: self.home.as_deref(),
            groups: &groups,
            seen,
            servers: servers.as_ref(),
            programs: self.set.programs(),
            ..EvalEnvironment::default()
        };
        symlinks::facts(event, &around)
    }
}

impl Judge for Rules {
    fn judge(&self, event: &Event) -> RuleJudgement {
        let (mut observed, mut touched) = (None, None);
        let judged = if self.set.handles(event.event) || self.set.counts_usage_of(event) {
            let facts = self.facts(event, None);
            observed = (!facts.links.is_empty()).then(|| json!(facts.links));
            touched = Some(facts.touched());
            let judge = |state: &SessionState| tenterhook_policy::judge(event, &facts, state, &self.set);
            self.memory.judge(event, &self.set, judge)
        } else {
            tenterhook_policy::PolicyJudgement::default()
        };
        let mut findings = judged.findings;
        if event.event == EventKind::SessionStart && self.problems > 0 {
            // A person who does not look at `check` still has to learn that a rule is not in force.
            let message = format!(
                "Tenterhook: {} of your rules or hooks cannot be used; run `tenterhook check`",
                self.problems
            );
            findings.push(Finding { message: Some(message), ..Finding::silent(Origin::Engine) });
        }
        RuleJudgement { findings, steps: judged.steps, observed, file_effects: touched }
    }
}

/// Harnesses wait a minute for us; all hooks of a call together get less.
const LONGEST_CALL: Duration = Duration::from_secs(50);

/// Harnesses wait a minute for us. A hook that may take longer would be cut off together with our
/// answer, so it gets less.
pub const LONGEST_HOOK: Duration = Duration::from_secs(45);

fn cap(hook: &mut Hook, home: &Home) -> Option<Problem> {
    if hook.timeout <= LONGEST_HOOK {
        return None;
    }
    let message = format!(
        "it may take {:?}, but harnesses do not wait that long: it gets {LONGEST_HOOK:?}",
        hook.timeout
    );
    // A dialect's own default is not the person's doing.
    let said = hook.runner.dialect().is_none_or(|dialect| dialect.timeout != hook.timeout);
    hook.timeout = LONGEST_HOOK;
    let source = home.settings().display().to_string();
    said.then(|| Problem::whole(&source, message).about("hook", Some(&hook.id)))
}

/// How many rules, hooks and files the problems are about: one entry may have several.
fn count_entries(problems: &[Problem]) -> usize {
    let same = |one: &Problem, other: &Problem| {
        one.about.is_some() && one.source == other.source && one.about == other.about
    };
    let first = |(at, one): &(usize, &Problem)| !problems.iter().take(*at).any(|other| same(one, other));
    problems.iter().enumerate().filter(first).count()
}

/// A file that is not there is no problem; one that cannot be read is.
fn read_optional(path: &Path, problems: &mut Vec<Problem>) -> Option<String> {
    read_file::regular_file(path).unwrap_or_else(|error| {
        problems.push(Problem::whole(&path.display().to_string(), error.to_string()));
        None
    })
}

#[cfg(test)]
mod tests;
