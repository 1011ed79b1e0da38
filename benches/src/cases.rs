// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The cases that are measured in-process.

use std::hint::black_box;
use std::rc::Rc;

use tenterhook_engine::{Engine, Hook, RegisterError, response};
use tenterhook_event::{EventId, EventKind, HookCall, Timestamp};
use tenterhook_harness::{CallMeta, DecodeError, Harness, find_harness};
use tenterhook_policy::{EvalEnvironment, RuleSet, RuleSettings, SessionState};
use tenterhook_when::When;

use crate::measure::{BenchCase, MedianLimit};
use crate::rules;

pub(crate) const PAYLOAD: &[u8] =
    br#"{"session_id":"89917c00-1a49-493b-9066-28df723315f3","transcript_path":"/home/dev/t.jsonl",
"cwd":"/home/dev/work","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash",
"tool_input":{"command":"cargo test --workspace 2>&1 | tail -n 40","description":"Run the tests"},
"tool_use_id":"toolu_01"}"#;

#[derive(Debug)]
pub(crate) struct SetupError(pub(crate) String);

impl std::fmt::Display for SetupError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the benches cannot be set up: {}", self.0)
    }
}

impl From<RegisterError> for SetupError {
    fn from(error: RegisterError) -> Self {
        Self(error.to_string())
    }
}

impl From<DecodeError> for SetupError {
    fn from(error: DecodeError) -> Self {
        Self(error.to_string())
    }
}

impl From<std::io::Error> for SetupError {
    fn from(error: std::io::Error) -> Self {
        Self(error.to_string())
    }
}

/// The call that all cases use.
pub(crate) fn call() -> Result<HookCall, SetupError> {
    Ok(claude()?.decode(&bench_call_meta(), PAYLOAD)?)
}

fn claude() -> Result<&'static Harness, SetupError> {
    find_harness("claude-code").ok_or_else(|| SetupError("no such harness".into()))
}

pub(crate) fn all() -> Result<Vec<BenchCase>, SetupError> {
    let call = Rc::new(call()?);
    let one_of_fifty = Engine::builder().hooks(hooks_on_all_kinds(50));
    Ok(vec![
        fire(
            "engine: fire, no hook matching",
            MedianLimit::Ns(2_000.0),
            engine(EventKind::Stop, 10)?,
            &call,
        )?,
        fire(
            "engine: fire, ten in-process hooks",
            MedianLimit::Ns(20_000.0),
            engine(EventKind::PreTool, 10)?,
            &call,
        )?,
        fire("engine: fire, one hook", MedianLimit::None, engine(EventKind::PreTool, 1)?, &call)?,
        fire(
            "engine: fire, 50 hooks, one matching",
            MedianLimit::Times(3.0, "engine: fire, one hook"),
            one_of_fifty.build()?,
            &call,
        )?,
        when(&call)?,
        decode(claude()?),
        judge("policy: facts and judge, plain words and a pipe", MedianLimit::None, &call)?,
        judge(
            "policy: facts and judge, ordinary command",
            MedianLimit::Ns(12_000.0),
            &ordinary_call(&call)?,
        )?,
        load(),
    ]
    .into_iter()
    .chain(rules::cases()?)
    .collect())
}

fn bench_call_meta() -> CallMeta {
    CallMeta::new(EventId::from_parts(0, 0), Timestamp::from_unix_ms(0), "pre-tool-use")
}

/// An engine with this many hooks for one kind of event.
fn engine(kind: EventKind, hooks: usize) -> Result<Engine, RegisterError> {
    let mut builder = Engine::builder();
    for _ in 0..hooks {
        builder = builder.on(kind).run(|_| async { response::none() });
    }
    builder.build()
}

/// The maximum number of hooks, ten for each kind of event; one of them matches the tool of the call.
fn hooks_on_all_kinds(hooks: usize) -> Vec<Hook> {
    let kinds = [
        EventKind::PreTool,
        EventKind::PostTool,
        EventKind::Stop,
        EventKind::Prompt,
        EventKind::Notification,
    ];
    let kinds = kinds.iter().cycle().take(hooks).enumerate();
    kinds
        .map(|(number, kind)| {
            let tool = if number == 0 { "Bash" } else { "Write|Edit" };
            Hook::on(&format!("hook-{number}"), *kind).matching(tool).run(|_| async { response::none() })
        })
        .collect()
}

fn when(call: &Rc<HookCall>) -> Result<BenchCase, SetupError> {
    let text = "tool.class == \"shell\" && tool.args.command.contains(\"deploy\")";
    let when = When::compile(text).map_err(|error| SetupError(error.to_string()))?;
    let call = Rc::clone(call);
    let run = Box::new(move || {
        drop(black_box(when.holds(black_box(&call.event))));
    });
    Ok(BenchCase { name: "when: one condition", limit: MedianLimit::Ns(5_000.0), run })
}

fn fire(
    name: &'static str,
    limit: MedianLimit,
    engine: Engine,
    call: &Rc<HookCall>,
) -> Result<BenchCase, SetupError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let call = Rc::clone(call);
    let run = Box::new(move || {
        black_box(runtime.block_on(engine.fire(black_box(&call))));
    });
    Ok(BenchCase { name, limit, run })
}

fn decode(claude: &'static Harness) -> BenchCase {
    let door = bench_call_meta();
    let run = Box::new(move || {
        drop(black_box(claude.decode(&door, black_box(PAYLOAD))));
    });
    BenchCase { name: "harness: decode one Claude Code payload", limit: MedianLimit::None, run }
}

fn load() -> BenchCase {
    let run = Box::new(|| {
        let (sources, trusted) = (RuleSet::baseline_sources(), tenterhook_baseline::trusted());
        black_box(RuleSet::load_with(sources, &RuleSettings::default(), trusted));
    });
    BenchCase { name: "policy: load the rules compiled in", limit: MedianLimit::Ns(1_000_000.0), run }
}

/// A call with quotes, `~` and a pipe.
fn ordinary_call(call: &HookCall) -> Result<Rc<HookCall>, SetupError> {
    let payload = std::str::from_utf8(PAYLOAD).map_err(|error| SetupError(error.to_string()))?;
    let command = r#"cd src && grep -rn \"foo bar\" ~/notes | head -20"#;
    let payload = payload.replace("cargo test --workspace 2>&1 | tail -n 40", command);
    let ordinary = claude()?.decode(&bench_call_meta(), payload.as_bytes())?;
    if ordinary.event.tool == call.event.tool {
        return Err(SetupError("the command of the payload was not replaced".to_owned()));
    }
    Ok(Rc::new(ordinary))
}

fn judge(name: &'static str, limit: MedianLimit, call: &Rc<HookCall>) -> Result<BenchCase, SetupError> {
    let loaded = RuleSet::baseline();
    if let Some(problem) = loaded.problems.first() {
        return Err(SetupError(problem.to_string()));
    }
    let call = Rc::clone(call);
    let run = Box::new(move || {
        let facts = tenterhook_policy::facts(
            &call.event,
            &EvalEnvironment { home: Some("/home/dev"), ..EvalEnvironment::default() },
        );
        black_box(tenterhook_policy::judge(&call.event, &facts, &SessionState::default(), &loaded.rules));
    });
    Ok(BenchCase { name, limit, run })
}
