// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A session that is projected live equals the session that is rebuilt from the ledger.
//!
//! Generated events are recorded and applied as in the daemon: identifiers are redacted when the event is decoded, the
//! record is sealed, and an event whose record has no content is applied without content. Then all sessions are rebuilt
//! from the ledger, at once and one by one.
//!
//! A rebuilt session may differ in two cases only: payloads were erased ([`RecordedRun::erase`]), or secrets
//! were replaced and long texts were cut ([`is_as_recorded`]).

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use tenterhook_event::{Attributed, DecidedCall, Flow, HookCall, Origin, Outcome, TraceEntry, TraceStatus};
use tenterhook_ledger::{Durability, Ledger, LedgerEntry, LedgerOptions, Reader};
use tenterhook_records::{redact_identifiers, secrets};

use super::*;

/// Larger payloads are recorded by hash only. Some generated texts are longer than this.
const MAX_PAYLOAD_BYTES: usize = 4096;
/// Texts up to this length are never cut: the shortest limit is 1024 bytes, and a control character takes six
/// bytes in JSON.
const LONGEST_UNCUT_BYTES: usize = 170;
/// Number of event sequences per test.
const CASES: u32 = 48;
/// Time at which sessions are compared.
const NOW_MS: u64 = 2_000_000;

/// A generated event and its outcome.
#[derive(Debug, Clone)]
struct GeneratedEvent {
    session: usize,
    /// Time after the previous event; negative for events that arrive late.
    after_ms: i64,
    action: GeneratedAction,
    agent: Option<&'static str>,
    model: Option<String>,
    cwd: Option<String>,
    with_id: bool,
    outcome: Outcome,
}

/// The kind and content of a generated event.
#[derive(Debug, Clone)]
enum GeneratedAction {
    Plain(EventKind),
    Prompt(String),
    End(Option<String>),
    Call(ToolCall),
    Result { of: Index, output: Value },
    Failed { of: Index, kind: EventKind, error: Option<String> },
    Answer(Value),
    Usage(u64),
}

/// The kind of generated texts.
#[derive(Debug, Clone, Copy, PartialEq)]
enum TextSource {
    /// Texts that the ledger records unchanged, or by hash only.
    Kept,
    /// Texts of which some contain a secret or exceed the limit of their field.
    Changed,
}

const TOKEN: &str = concat!("ghp_", "a1B2c3D4e5F6a1B2c3D4e5F6a1B2c3D4e5F6");
const OTHER_TOKEN: &str = concat!("AKIA", "Q3EGRZ7LWQ2NFKXT");

fn text(texts: TextSource) -> BoxedStrategy<String> {
    let word = select(vec!["", "ls", "one\ntwo\nthree\n", "x\ny\n", "déjà vu\n", "make test", "\u{1}\"\\"]);
    let large = (1200_usize..3000).prop_map(|words| "word\n".repeat(words));
    let kept = prop_oneof![8 => word.prop_map(str::to_owned), 1 => large];
    if texts == TextSource::Kept {
        return kept.boxed();
    }
    let secret = (select(vec![TOKEN, OTHER_TOKEN]), select(vec!["", "\n", " and more\n"]));
    let secret = secret.prop_map(|(token, after)| format!("use {token}{after}"));
    // A nudge is cut at 1024 bytes, a reason at 4096.
    let long = (300_usize..700, select(vec!["a long\n", "€ long\n", "\u{1}\u{1}\u{1}\u{1}"]));
    let long = long.prop_map(|(words, text)| text.repeat(words));
    prop_oneof![4 => kept, 2 => secret, 1 => long].boxed()
}

fn identifier(texts: TextSource) -> BoxedStrategy<String> {
    let short = select(vec!["opus", "haiku"]).prop_map(str::to_owned);
    if texts == TextSource::Kept {
        return short.boxed();
    }
    let secret = Just(format!("model-{TOKEN}"));
    let long = (1_usize..3000).prop_map(|bytes| "m".repeat(bytes));
    let escaped = (1_usize..600).prop_map(|chars| "\"\u{1}".repeat(chars));
    prop_oneof![4 => short, 1 => secret, 1 => long, 1 => escaped].boxed()
}

fn path(texts: TextSource) -> impl Strategy<Value = String> {
    let mut paths =
        ["/work/a.rs", "/work/b.rs", "c.rs", "/etc/hosts", "/home/ada/notes"].map(str::to_owned).to_vec();
    if texts == TextSource::Changed {
        paths.push(format!("/work/{TOKEN}"));
    }
    select(paths)
}

fn cwd(texts: TextSource) -> impl Strategy<Value = String> {
    let mut directories = vec!["/work".to_owned(), "/work/deep".to_owned()];
    if texts == TextSource::Changed {
        directories.push(format!("/work/{}", "directory/".repeat(500)));
        directories.push(format!("/work/{OTHER_TOKEN}"));
    }
    select(directories)
}

fn tool(texts: TextSource) -> BoxedStrategy<ToolCall> {
    let text = || text(texts);
    let todo = (text(), select(vec!["pending", "in_progress", "done"]))
        .prop_map(|(content, status)| json!({"content": content, "status": status}));
    prop_oneof![
        2 => path(texts).prop_map(|path| ToolCall::new("Read", json!({"file_path": path}))),
        3 => (path(texts), text()).prop_map(|(path, content)| {
            ToolCall::new("Write", json!({"file_path": path, "content": content}))
        }),
        3 => (path(texts), text(), text()).prop_map(|(path, old, new)| {
            ToolCall::new("Edit", json!({"file_path": path, "old_string": old, "new_string": new}))
        }),
        2 => (path(texts), text()).prop_map(|(path, text)| {
            let patch = format!("*** Begin Patch\n*** Update File: {path}\n+{text}\n*** End Patch\n");
            ToolCall::new("apply_patch", json!({"input": patch}))
        }),
        2 => (path(TextSource::Kept), path(TextSource::Kept)).prop_map(|(from, to)| {
            ToolCall::new("Bash", json!({"command": format!("cat {from} > {to} && rm -f {from}")}))
        }),
        2 => text().prop_map(|text| ToolCall::new("Bash", json!({"command": text}))),
        1 => vec(todo, 0..4).prop_map(|todos| ToolCall::new("TodoWrite", json!({"todos": todos}))),
        1 => text().prop_map(|subject| ToolCall::new("TaskCreate", json!({"subject": subject}))),
        1 => Just(ToolCall::new("TaskUpdate", json!({"taskId": "1", "status": "completed"}))),
        1 => Just(ToolCall::new("Task", json!({"prompt": "look"}))),
        1 => path(texts).prop_map(|path| ToolCall::new("mcp__files__move", json!({"path": path}))),
        1 => Just(ToolCall::new("Bash", json!({}))),
    ]
    .boxed()
}

fn output(texts: TextSource) -> BoxedStrategy<Value> {
    let text = || text(texts);
    prop_oneof![
        Just(Value::Null),
        text().prop_map(Value::String),
        select(vec![0, 1]).prop_map(|code| json!({"exitCode": code})),
        (text(), any::<bool>())
            .prop_map(|(before, user)| json!({"originalFile": before, "userModified": user})),
        (text(), text()).prop_map(
            |(before, after)| json!({"returnDisplay": {"originalContent": before, "newContent": after}})
        ),
        text().prop_map(
            |text| json!({"file": {"content": text, "startLine": 1, "numLines": 3, "totalLines": 3}})
        ),
        Just(json!({"structuredPatch": [{"lines": ["+a", "-b", " c"]}]})),
        Just(json!({"task": {"id": "7"}})),
        Just(json!({"agentId": "reviewer", "totalTokens": 12})),
    ]
    .boxed()
}

fn action(texts: TextSource) -> BoxedStrategy<GeneratedAction> {
    let plain = select(vec![
        EventKind::SessionStart,
        EventKind::Stop,
        EventKind::SubagentStart,
        EventKind::SubagentStop,
        EventKind::PermissionRequest,
        EventKind::Notification,
        EventKind::Other,
    ]);
    let failed = select(vec![
        EventKind::ToolError,
        EventKind::PermissionDenied,
        EventKind::PermissionRequest,
        EventKind::PermissionGranted,
    ]);
    let error = prop_oneof![Just("File has been modified since read".to_owned()), text(texts)];
    prop_oneof![
        2 => plain.prop_map(GeneratedAction::Plain),
        2 => text(texts).prop_map(GeneratedAction::Prompt),
        1 => proptest::option::of(text(texts)).prop_map(GeneratedAction::End),
        8 => tool(texts).prop_map(GeneratedAction::Call),
        6 => (any::<Index>(), output(texts)).prop_map(|(of, output)| GeneratedAction::Result { of, output }),
        4 => (any::<Index>(), failed, proptest::option::of(error))
            .prop_map(|(of, kind, error)| GeneratedAction::Failed { of, kind, error }),
        1 => (0_u64..5000).prop_map(|tokens| {
            let usage = json!({"input_tokens": tokens, "output_tokens": 7, "context_window_size": 200_000});
            GeneratedAction::Answer(json!({"model": "opus", "usage": usage}))
        }),
        1 => (0_u64..9).prop_map(GeneratedAction::Usage),
    ]
    .boxed()
}

fn outcome(texts: TextSource) -> BoxedStrategy<Outcome> {
    let by = select(vec![
        Origin::Rule("a-rule".into()),
        Origin::Rule("b-rule".into()),
        Origin::Hook("check".into()),
        Origin::Engine,
    ]);
    let decision = prop_oneof![
        4 => Just(Decision::None),
        2 => Just(Decision::Allow),
        1 => Just(Decision::Ask),
        1 => Just(Decision::Defer),
        3 => Just(Decision::Deny),
    ];
    let nudge =
        prop_oneof![Just("use `make test`".to_owned()), Just("Read the file first".to_owned()), text(texts)];
    let flow = prop_oneof![
        9 => Just(Flow::Go),
        1 => proptest::option::of(text(texts)).prop_map(|reason| Flow::Stop { reason }),
    ];
    let input =
        prop_oneof![4 => Just(None), 1 => path(texts).prop_map(|path| Some(json!({"file_path": path})))];
    (by, decision, vec(text(texts), 0..3), vec(nudge, 0..4), flow, input)
        .prop_map(|(by, decision, reasons, nudges, flow, tool_input)| {
            let said = |value| Attributed { by: by.clone(), value };
            let step = TraceEntry {
                by: by.clone(),
                status: TraceStatus::Ran,
                decision,
                took_us: 3,
                note: Some("noted".into()),
            };
            let mut outcome = Outcome { decision, flow, tool_input, trace: vec![step], ..Outcome::default() };
            // An outcome without a decision has no reasons.
            if decision != Decision::None {
                outcome.reasons = reasons.into_iter().map(said).collect();
            }
            if decision == Decision::Deny {
                outcome.nudges = nudges.into_iter().map(said).collect();
            }
            outcome
        })
        .boxed()
}

fn events(texts: TextSource) -> impl Strategy<Value = Vec<GeneratedEvent>> {
    let one = (
        0..3_usize,
        prop_oneof![9 => 0..3000_i64, 1 => -5000..0_i64],
        action(texts),
        proptest::option::weighted(0.3, select(vec!["reviewer", "writer"])),
        proptest::option::weighted(0.3, identifier(texts)),
        proptest::option::weighted(0.8, cwd(texts)),
        any::<bool>(),
        outcome(texts),
    );
    let one = one.prop_map(|(session, after_ms, action, agent, model, cwd, with_id, outcome)| {
        GeneratedEvent { session, after_ms, action, agent, model, cwd, with_id, outcome }
    });
    vec(one, 1..40)
}

/// Builds calls with ids and times, in the order in which they are recorded.
fn calls(events: &[GeneratedEvent]) -> Vec<(HookCall, Outcome)> {
    let sessions = [("claude-code", "a"), ("claude-code", "b"), ("codex", "a")];
    let mut ms = 1_000_000_u64;
    let mut before: Vec<Event> = Vec::new();
    let mut calls = Vec::new();
    for (number, one) in (1_u64..).zip(events) {
        ms = ms.saturating_add_signed(one.after_ms);
        let (harness, session) = sessions[one.session];
        let called = |of: &Index| {
            let calls: Vec<_> =
                before.iter().filter(|call| call.harness_session_id.as_deref() == Some(session)).collect();
            (!calls.is_empty()).then(|| (*of.get(&calls)).clone())
        };
        let mut event = event(session, ms, EventKind::Other);
        event.source = harness.to_owned();
        (event.agent.id, event.agent.model) = (one.agent.map(ToOwned::to_owned), one.model.clone());
        event.cwd.clone_from(&one.cwd);
        event.turn_id = one.with_id.then(|| format!("turn-{}", number / 5));
        let same_call = |event: &mut Event, of: &Index| {
            if let Some(call) = called(of) {
                (event.tool, event.tool_use_id) = (call.tool, call.tool_use_id);
            }
        };
        match &one.action {
            GeneratedAction::Plain(kind) => event.event = *kind,
            GeneratedAction::Prompt(text) => {
                event.event = EventKind::Prompt;
                event.detail.prompt = Some(text.clone());
            }
            GeneratedAction::End(cause) => {
                event.event = EventKind::SessionEnd;
                event.detail.cause.clone_from(cause);
            }
            GeneratedAction::Call(tool) => {
                (event.event, event.tool) = (EventKind::PreTool, Some(tool.clone()));
                event.tool_use_id = one.with_id.then(|| format!("call-{number}"));
            }
            GeneratedAction::Result { of, output } => {
                event.event = EventKind::PostTool;
                same_call(&mut event, of);
                event.detail.tool_output = (!output.is_null()).then(|| output.clone());
                event.detail.duration_ms = Some(number);
            }
            GeneratedAction::Failed { of, kind, error } => {
                event.event = *kind;
                same_call(&mut event, of);
                event.detail.error.clone_from(error);
            }
            GeneratedAction::Answer(answer) => {
                event.event = EventKind::PostModel;
                event.detail.model_response = Some(answer.clone());
            }
            GeneratedAction::Usage(answers) => {
                event.event = EventKind::Stop;
                let input_tokens = answers * 10;
                let usage = TranscriptUsage { answers: *answers, input_tokens, ..TranscriptUsage::default() };
                event.detail.usage = Some(usage);
            }
        }
        event.native_event = event.event.name().to_owned();
        event.id = EventId::from_parts(ms, number.into());
        if event.event == EventKind::PreTool {
            before.push(event.clone());
        }
        calls.push((HookCall { event, native: None }, one.outcome.clone()));
    }
    calls
}

/// A ledger, the sessions of the daemon that writes it, and the recorded calls.
struct RecordedRun {
    dir: tempfile::TempDir,
    ledger: Ledger,
    projector: Arc<SessionProjector>,
    calls: Vec<RecordedCall>,
}

/// A call that was recorded and applied.
struct RecordedCall {
    call: HookCall,
    outcome: Outcome,
    seq: u64,
    gone: Option<MissingContent>,
}

impl RecordedCall {
    fn apply(&self, projector: &SessionProjector, gone: Option<MissingContent>) {
        let decided = decided(&self.call, &self.outcome);
        let decided = DecidedEvent::now(&decided, self.seq);
        let update = &mut SessionUpdate::default();
        match gone {
            Some(gone) => {
                projector.apply(&RecordedEvent::without_content(&decided, gone).as_decided(), update)
            }
            None => projector.apply(&decided, update),
        };
    }
}

fn new_projector() -> Arc<SessionProjector> {
    SessionProjector::new(Some("/home/ada".to_owned()), Arc::default())
}

fn decided<'a>(call: &'a HookCall, outcome: &'a Outcome) -> DecidedCall<'a> {
    DecidedCall { call, outcome, generation: "g1", took_us: 1, facts: None, file_effects: None }
}

impl RecordedRun {
    /// Records and applies calls as the daemon does.
    fn new(calls: Vec<(HookCall, Outcome)>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let defaults = LedgerOptions::new(|| 1);
        let options =
            LedgerOptions { max_payload: MAX_PAYLOAD_BYTES, durability: Durability::Relaxed, ..defaults };
        let ledger = Ledger::open(dir.path(), options).unwrap().ledger;
        let mut run = Self { dir, ledger, projector: new_projector(), calls: Vec::new() };
        for (mut call, outcome) in calls {
            let sealing = run.ledger.sealing();
            redact_identifiers(&mut call.event, &sealing.key);
            run.projector.fill_from_session(&mut call.event);
            let sealed = LedgerEntry::decision(&decided(&call, &outcome), &secrets).seal(sealing).unwrap();
            let gone = sealed.is_payload_too_large().then_some(MissingContent::TooLarge);
            let seq = run.ledger.append(sealed).unwrap().seq();
            let call = RecordedCall { call, outcome, seq, gone };
            call.apply(&run.projector, gone);
            run.calls.push(call);
        }
        // After the checkpoint, readers see every record.
        run.ledger.checkpoint().unwrap();
        run
    }

    /// Rebuilds all sessions from the ledger.
    fn rebuild_all(&self) -> Arc<SessionProjector> {
        let projector = new_projector();
        projector.rebuild(|| Reader::open(self.dir.path()), RebuildPool::new(1)).unwrap();
        projector
    }

    /// Reloads the sessions from the ledger one by one.
    fn reload_each(&self) -> Arc<SessionProjector> {
        let (projector, reader) = (new_projector(), Reader::open(self.dir.path()).unwrap());
        for key in self.calls.iter().filter_map(|call| SessionKey::of(&call.call.event)) {
            projector.reload(&key, &reader, |_| ()).unwrap();
        }
        projector
    }

    /// Erases the content of some calls. Returns the sessions of a daemon that never had this content.
    fn erase(&self, which: &[Index]) -> Arc<SessionProjector> {
        let mut erased = BTreeSet::new();
        for index in which {
            let seq = index.get(&self.calls).seq;
            self.ledger.erase(seq, seq, "ada", "a test", &secrets).unwrap();
            erased.insert(seq);
        }
        let reader = Reader::open(self.dir.path()).unwrap();
        let projector = new_projector();
        for call in &self.calls {
            let has_payload = || reader.get(call.seq).unwrap().unwrap().payload.is_some();
            let gone = erased.contains(&call.seq) && has_payload();
            call.apply(&projector, if gone { Some(MissingContent::Erased) } else { call.gone });
        }
        projector
    }
}

/// All sessions as JSON.
fn session_values(projector: &SessionProjector) -> Value {
    let now = Timestamp::from_unix_ms(NOW_MS);
    let all = SessionFilter { limit: 100, ..SessionFilter::default() };
    let mut seen: Vec<Value> = Vec::new();
    for summary in projector.list(&all, now).sessions {
        let key = SessionKey { harness: summary.harness.clone(), id: summary.id.clone() };
        let session = projector.with_session(
            &key,
            |view| json!({"whole": view.details(now), "files": view.files(), "todos": view.todos()}),
        );
        seen.push(session.unwrap());
    }
    seen.into()
}

/// Lists the differences between live and rebuilt sessions, with their position.
fn differences(at: &str, live: &Value, recorded: &Value) -> Vec<String> {
    match (live, recorded) {
        (Value::Object(live), Value::Object(recorded)) => {
            let keys: BTreeSet<&String> = live.keys().chain(recorded.keys()).collect();
            let get = |fields: &serde_json::Map<String, Value>, key: &str| {
                fields.get(key).cloned().unwrap_or_default()
            };
            keys.iter()
                .flat_map(|key| differences(&format!("{at}/{key}"), &get(live, key), &get(recorded, key)))
                .collect()
        }
        (Value::Array(live), Value::Array(recorded)) if live.len() == recorded.len() => {
            // Files are sorted by path. A secret in a path changes the order, so both lists are sorted again.
            let sorted = |list: &[Value]| {
                let mut list = list.to_vec();
                if at.ends_with("/touched") {
                    list.sort_by_key(|file| without_secrets(file["path"].as_str().unwrap_or_default()));
                }
                list
            };
            let pairs = sorted(live).into_iter().zip(sorted(recorded)).enumerate();
            pairs
                .flat_map(|(number, (live, recorded))| {
                    differences(&format!("{at}/{number}"), &live, &recorded)
                })
                .collect()
        }
        (Value::String(live), Value::String(recorded)) if is_as_recorded(live, recorded) => Vec::new(),
        _ if live == recorded => Vec::new(),
        _ => vec![format!("{at}: {live} was recorded as {recorded}")],
    }
}

/// Whether `recorded` is a valid recorded form of `live`: equal except for redaction marks. A text that exceeds the
/// limit of its field must be cut; then both ends must be equal.
fn is_as_recorded(live: &str, recorded: &str) -> bool {
    let (live, recorded) = (without_secrets(live), without_secrets(recorded));
    let cut =
        recorded.split_once("[[cut:").and_then(|(kept, rest)| Some((kept, rest.split_once(" bytes]]")?.1)));
    match cut {
        Some((kept, end)) => {
            live.len() > LONGEST_UNCUT_BYTES && live.starts_with(kept) && live.ends_with(end)
        }
        None => live == recorded,
    }
}

/// Replaces each secret and each redaction mark with one placeholder, so that texts can be compared.
fn without_secrets(text: &str) -> String {
    sanitize(text, 100_000)
}

fn assert_same(live: &SessionProjector, rebuilt: &SessionProjector) -> Result<(), TestCaseError> {
    let found = differences("", &session_values(live), &session_values(rebuilt));
    prop_assert!(found.is_empty(), "{:#?}", found);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]

    /// The texts are recorded unchanged; payloads that are too large are recorded by hash only.
    #[test]
    fn live_sessions_are_those_of_the_ledger(events in events(TextSource::Kept)) {
        let run = RecordedRun::new(calls(&events));
        assert_same(&run.projector, &run.rebuild_all())?;
        assert_same(&run.projector, &run.reload_each())?;
    }

    #[test]
    fn after_an_erasure_sessions_are_those_of_a_daemon_that_never_had_the_content(
        events in events(TextSource::Kept),
        which in vec(any::<Index>(), 1..6),
    ) {
        let run = RecordedRun::new(calls(&events));
        let expected = run.erase(&which);
        assert_same(&expected, &run.rebuild_all())?;
        assert_same(&expected, &run.reload_each())?;
    }

    #[test]
    fn secrets_and_long_texts_look_the_same_live_and_rebuilt(events in events(TextSource::Changed)) {
        let run = RecordedRun::new(calls(&events));
        assert_same(&run.projector, &run.rebuild_all())?;
        assert_same(&run.projector, &run.reload_each())?;
    }
}
