// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Runs hooks exactly as their harness does. It reads the harness's own settings, and plans, runs and aggregates the
//! hooks by the harness's profile.
//!
//! A [`ProfileStage`] holds the settings of one profile and fires events with them. It does not guard an agent. It
//! shows what a harness would do.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tenterhook_document::Problem;
use tenterhook_engine::http_post::{self, HttpPost, HttpPostFailure};
use tenterhook_engine::process::{self, ProcessEnd, ProcessSpec};
use tenterhook_error::Failure;
use tenterhook_event::{Event, HookCall, NativePayload, ToolCall};
use tenterhook_harness::dialect::{
    self, A3sMatcher, EventMatcher, HookDialect, HookExit, HookTimeError, Mismatch, RawHookResult,
};
use tenterhook_profile::{
    AggregatedResult, ConfiguredHook, HookKind, HookPlan, HookResult, ProblemLevel, Profile, ProfileSettings,
    SettingsLayer, SettingsProblem,
};

const MAX_OUTPUT_BYTES: usize = 1024 * 1024;
/// Maximum length of an output in a trace.
const MAX_EXCERPT_CHARS: usize = 400;

/// A profile with its settings, ready to fire events.
pub struct ProfileStage {
    /// The profile itself.
    pub profile: &'static Profile,
    dialect: &'static HookDialect,
    /// Parsed settings of the profile.
    pub settings: ProfileSettings,
    home: Option<String>,
    env: BTreeMap<String, String>,
}

/// The result of one event.
pub struct ProfileEventResult {
    /// The profile's name of the event.
    pub event: &'static str,
    /// Which hooks ran, and why the others did not.
    pub plan: HookPlan,
    /// The aggregated result.
    pub aggregated: AggregatedResult,
    /// Result of each hook, in order.
    pub trace: Vec<Value>,
}

// === impl ProfileStage ===

impl ProfileStage {
    /// Reads the settings of a profile. `home` and `env` belong to the user for whom the hooks run.
    pub fn new(
        name: &str,
        layers: &[SettingsLayer<'_>],
        home: Option<&Path>,
        env: BTreeMap<String, String>,
    ) -> Result<Self, Failure> {
        let (profile, dialect) = find_profile(name)?;
        let mut settings = tenterhook_profile::read_settings(profile, layers);
        report_invalid_matchers(dialect, &mut settings);
        let home = home.and_then(Path::to_str).map(ToOwned::to_owned);
        Ok(Self { profile, dialect, settings, home, env })
    }

    /// Problems in the settings with this severity.
    pub fn problems(&self, level: ProblemLevel) -> impl Iterator<Item = &SettingsProblem> {
        self.settings.problems.iter().filter(move |finding| finding.level == level)
    }

    /// The profile's name of an event, or an error that lists the known events.
    pub fn event(&self, name: &str) -> Result<&'static str, Failure> {
        self.profile.event(name).map(|row| row.name).ok_or_else(|| {
            let known: Vec<_> = self.profile.events.iter().map(|row| row.name).collect();
            Failure::user(format!("unknown event `{name}` of profile {}", self.profile.name))
                .hint(format!("known: {}", known.join(", ")))
        })
    }

    /// Which hooks would run, and why the others would not.
    pub fn plan(&self, event: &'static str, input: &Value, base: &Event) -> (HookPlan, HookCall) {
        let call = self.to_hook_call(event, input, base);
        let mut mismatch =
            |entry: &ConfiguredHook| self.matches(entry, &call.event).err().map(|Mismatch(reason)| reason);
        (tenterhook_profile::plan_hooks(self.profile, &self.settings, event, &mut mismatch), call)
    }

    /// Fires an event: plans, runs and aggregates its hooks.
    pub async fn fire(&self, event: &'static str, input: &Value, base: &Event) -> ProfileEventResult {
        let (plan, call) = self.plan(event, input, base);
        let entries: Vec<&ConfiguredHook> =
            plan.entries().filter_map(|at| self.settings.entries.get(at)).collect();
        let results = if plan.sequential {
            self.run_in_sequence(event, &entries, input, base).await
        } else {
            let running = entries.iter().map(|entry| self.run_hook(event, entry, &call));
            futures_util::future::join_all(running).await
        };
        let trace =
            entries.iter().zip(&results).map(|(entry, result)| result_to_json(entry, result)).collect();
        let aggregated = tenterhook_profile::aggregate(self.profile, event, &results);
        ProfileEventResult { event, plan, aggregated, trace }
    }

    async fn run_in_sequence(
        &self,
        event: &'static str,
        entries: &[&ConfiguredHook],
        input: &Value,
        base: &Event,
    ) -> Vec<HookResult> {
        let mut input = input.clone();
        let mut results = Vec::with_capacity(entries.len());
        for entry in entries {
            let result = self.run_hook(event, entry, &self.to_hook_call(event, &input, base)).await;
            if let Some(output) = result.output.as_ref().filter(|_| result.success) {
                input = tenterhook_profile::next_input(self.profile, event, &input, output);
            }
            results.push(result);
        }
        results
    }

    async fn run_hook(&self, event: &'static str, entry: &ConfiguredHook, call: &HookCall) -> HookResult {
        let started = Instant::now();
        let mut result = match entry.kind {
            HookKind::Command => self.run_command_hook(entry, call).await,
            HookKind::Http => self.run_http_hook(entry, call).await,
            HookKind::Plugin => HookResult::failed("Command hook missing command"),
            kind => HookResult::failed(format!("`{}` hooks are not run here", kind.word())),
        };
        result.duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        tenterhook_profile::effective_result(self.profile, event, entry, result)
    }

    async fn run_command_hook(&self, entry: &ConfiguredHook, call: &HookCall) -> HookResult {
        let time_limit = match self.time_limit(entry) {
            Ok(time_limit) => time_limit,
            Err(error) => return HookResult::failed(error.to_string()),
        };
        let spec = self.process_spec(entry, call, time_limit);
        if entry.is_async {
            return match process::start_detached(&spec) {
                Ok(()) => HookResult { success: true, ..HookResult::default() },
                Err(error) => HookResult::failed(error.to_string()),
            };
        }
        match process::run(&spec).await {
            ProcessEnd::Exited(exited) => self.read(call, &exited),
            ProcessEnd::TimedOut(exited) => HookResult {
                stdout: text(&exited.stdout),
                stderr: text(&exited.stderr),
                ..HookResult::failed(format!("Hook timed out after {}ms", time_limit.as_millis()))
            },
            ProcessEnd::Detached(_) => HookResult { success: true, ..HookResult::default() },
            ProcessEnd::Failed(why) => HookResult::failed(why),
        }
    }

    async fn run_http_hook(&self, entry: &ConfiguredHook, call: &HookCall) -> HookResult {
        let time_limit = match self.time_limit(entry) {
            Ok(time_limit) => time_limit,
            Err(error) => return HookResult::failed(error.to_string()),
        };
        let headers = entry.headers.iter();
        let request = HttpPost {
            url: entry.url.clone().unwrap_or_default(),
            headers: headers
                .map(|(name, value)| (name.clone(), self.interpolate(value, &entry.allowed_env)))
                .collect(),
            body: call.native.as_ref().map(|native| native.bytes.clone()).unwrap_or_default(),
            timeout: time_limit,
            max_response_bytes: MAX_OUTPUT_BYTES,
        };
        match http_post::fetch_body(request).await {
            Ok(body) if body.trim_ascii().is_empty() => HookResult { success: true, ..HookResult::default() },
            Ok(body) if body.trim_ascii().starts_with(b"{") => {
                self.read(call, &HookExit { code: Some(0), stdout: body, stderr: Vec::new() })
            }
            Ok(_) => HookResult::failed("the response is not a JSON object"),
            Err(HttpPostFailure::TimedOut) => {
                HookResult::failed(format!("Hook timed out after {}ms", time_limit.as_millis()))
            }
            Err(HttpPostFailure::Failed(why)) => HookResult::failed(why),
        }
    }

    /// Expands the environment variables that the entry allows. As in the harness, other variables become empty.
    fn interpolate(&self, text: &str, allowed: &[String]) -> String {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('$') {
            filled.push_str(before);
            let bare = after.strip_prefix('{').unwrap_or(after);
            let end = bare
                .find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'))
                .unwrap_or(bare.len());
            let (name, after) = bare.split_at_checked(end).unwrap_or((bare, ""));
            if allowed.iter().any(|allowed| allowed == name) {
                filled.push_str(self.env.get(name).map_or("", String::as_str));
            }
            rest = after.strip_prefix('}').unwrap_or(after);
        }
        filled + rest
    }

    fn read(&self, call: &HookCall, exited: &HookExit) -> HookResult {
        let event = &call.event.native_event;
        let RawHookResult { success, exit_code, output, .. } = dialect::read_at(self.dialect, event, exited);
        HookResult {
            success,
            output,
            error: None,
            exit_code,
            stdout: text(&exited.stdout),
            stderr: text(&exited.stderr),
            duration_ms: 0,
        }
    }

    fn time_limit(&self, entry: &ConfiguredHook) -> Result<Duration, HookTimeError> {
        let configured = entry.timeout.or(self.settings.limits.default_timeout);
        configured.map_or(Ok(self.dialect.timeout), |number| self.dialect.duration(number))
    }

    fn process_spec(&self, entry: &ConfiguredHook, call: &HookCall, time_limit: Duration) -> ProcessSpec {
        let command = entry.command.as_deref().unwrap_or_default();
        let home = self.home.as_deref();
        let argv = if let Some(args) = &entry.args {
            let program = dialect::expand_home(command, home).into_owned();
            std::iter::once(program).chain(args.iter().cloned()).collect()
        } else {
            let shell = self.dialect.shell().iter().map(|word| (*word).to_owned());
            shell.chain([self.dialect.expand(command, &call.event, home)]).collect()
        };
        let given = self.dialect.env(&call.event).into_iter().map(|(name, value)| (name.to_owned(), value));
        let own = entry.env.iter().map(|(name, value)| (name.clone(), value.clone()));
        let cwd = call.event.cwd.as_deref().map(PathBuf::from).filter(|dir| dir.is_dir());
        ProcessSpec {
            argv,
            env: given.chain(own).collect(),
            dir: cwd.unwrap_or_else(|| PathBuf::from("/")),
            stdin: call.native.as_ref().map(|native| native.bytes.clone()).unwrap_or_default(),
            timeout: time_limit,
            max_output_bytes: MAX_OUTPUT_BYTES,
            detaches: self.dialect.detaches(),
        }
    }

    fn matches(&self, entry: &ConfiguredHook, event: &Event) -> Result<(), Mismatch> {
        let (matcher, _) = parse_matcher(self.dialect, entry).map_err(|failure| Mismatch(failure.message))?;
        matcher.admits(event)?;
        let Some(rule) = &entry.condition_if else { return Ok(()) };
        let rule = dialect::permission_rule(rule).map_err(|error| Mismatch(error.to_string()))?;
        rule.admits(event)
    }

    /// Converts the input to an event, which matchers and variables use. The hook itself receives the unchanged
    /// input.
    fn to_hook_call(&self, name: &'static str, input: &Value, base: &Event) -> HookCall {
        let kind = self.profile.event(name).map_or(base.event, |row| row.kind);
        let mut event = Event { event: kind, native_event: name.to_owned(), ..base.clone() };
        let text_field =
            |keys: &[&str]| keys.iter().find_map(|key| input.get(key)?.as_str().map(ToOwned::to_owned));
        event.harness_session_id = text_field(&["session_id", "sessionId"]);
        event.cwd = text_field(&["cwd"])
            .or_else(|| input.pointer("/context/workingDirectory")?.as_str().map(ToOwned::to_owned));
        event.project = base.project.clone().or_else(|| event.cwd.clone());
        event.agent.kind = text_field(&["agent_type"]);
        event.detail.cause = text_field(&["source", "reason", "trigger", "notification_type"]);
        event.detail.prompt = text_field(&["prompt"]);
        if let Some(tool) = text_field(&["tool_name", "tool"]) {
            let args = input.get("tool_input").or_else(|| input.get("args")).cloned().unwrap_or(json!({}));
            event.tool = Some(ToolCall::new(&tool, args));
        }
        let fields = input.as_object().cloned().unwrap_or_default();
        let bytes = serde_json::to_vec(input).unwrap_or_default();
        HookCall { event, native: Some(NativePayload { bytes, fields }) }
    }
}

/// The profile with this name and its dialect, or an error that lists the known profiles.
pub fn find_profile(name: &str) -> Result<(&'static Profile, &'static HookDialect), Failure> {
    let found = tenterhook_profile::find_profile(name).zip(dialect::find(name));
    found.ok_or_else(|| {
        let known: Vec<_> = tenterhook_profile::PROFILES.iter().map(|profile| profile.name).collect();
        Failure::user(format!("unknown profile `{name}`")).hint(format!("known: {}", known.join(", ")))
    })
}

/// An entry's matcher, and a warning about it.
fn parse_matcher(
    dialect: &HookDialect,
    entry: &ConfiguredHook,
) -> Result<(EventMatcher, Option<String>), Failure> {
    match &entry.matcher {
        None => Ok((EventMatcher::all(), None)),
        Some(Value::String(text)) => Ok(dialect.matcher(Some(text))),
        Some(parts) => {
            let parts: A3sMatcher = serde_json::from_value(parts.clone())
                .map_err(|error| Failure::user(format!("invalid matcher: {error}")))?;
            Ok((EventMatcher::a3s(&parts).map_err(|error| Failure::user(error.to_string()))?, None))
        }
    }
}

/// Reports every matcher and `if` that cannot be parsed. Without a report, the hook would silently never run.
fn report_invalid_matchers(dialect: &HookDialect, settings: &mut ProfileSettings) {
    let mut found = Vec::new();
    for entry in &settings.entries {
        let mut note = |level, message: String| {
            let problem = Problem::new(&entry.file, entry.place, message).about("hook", Some(entry.label()));
            found.push(SettingsProblem { level, problem });
        };
        match parse_matcher(dialect, entry) {
            Ok((_, warning)) => warning.into_iter().for_each(|why| note(ProblemLevel::Warning, why)),
            Err(failure) => note(ProblemLevel::Error, failure.message),
        }
        if let Some(Err(error)) = entry.condition_if.as_deref().map(dialect::permission_rule) {
            note(ProblemLevel::Error, error.to_string());
        }
    }
    settings.problems.extend(found);
}

// === impl ProfileEventResult ===

impl ProfileEventResult {
    /// The complete result, as `--json` shows it: the aggregated result of LLxprt's hook documentation (seed 002 in
    /// `docs/seeds.md`) and details.
    pub fn to_json(&self, stage: &ProfileStage) -> Value {
        let (decision, flow) =
            tenterhook_profile::interpret_output(stage.profile, self.event, &self.aggregated);
        let plan: Vec<_> = self.plan.steps.iter().map(|step| step_to_json(stage, step)).collect();
        let mut answer = serde_json::to_value(&self.aggregated).unwrap_or_default();
        let more = json!({
            "processed": tenterhook_profile::process_result(stage.profile, self.aggregated.clone()),
            "decision": decision,
            "flow": flow,
            "plan": plan,
            "sequential": self.plan.sequential,
            "trace": self.trace,
        });
        if let (Some(answer), Value::Object(more)) = (answer.as_object_mut(), more) {
            answer.extend(more);
        }
        answer
    }
}

/// One configured hook, whether it matched and why.
fn step_to_json(stage: &ProfileStage, step: &tenterhook_profile::PlannedHook) -> Value {
    let entry = stage.settings.entries.get(step.entry);
    json!({
        "hook": entry.map(ConfiguredHook::label),
        "event": entry.map(|entry| &entry.event),
        "file": entry.map(|entry| &entry.file),
        "line": entry.map(|entry| entry.place.line),
        "matched": step.matched,
        "why": step.why,
    })
}

fn result_to_json(entry: &ConfiguredHook, result: &HookResult) -> Value {
    json!({
        "hook": entry.label(),
        "success": result.success,
        "exitCode": result.exit_code,
        "durationMs": result.duration_ms,
        "error": result.error,
        "stdout": excerpt(&result.stdout),
        "stderr": excerpt(&result.stderr),
        "output": result.output,
    })
}

fn excerpt(text: &str) -> String {
    let mut cut: String = text.chars().take(MAX_EXCERPT_CHARS).collect();
    if cut.len() < text.len() {
        cut.push('…');
    }
    cut
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
