// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Cost of evaluation as the number of rules grows.

use std::fmt::Write as _;
use std::hint::black_box;

use serde_json::json;
use tenterhook_event::{Event, EventId, EventKind, Timestamp, ToolCall};
use tenterhook_policy::{EvalEnvironment, Facts, RuleSet, RuleSource, SessionState, SourceLayer};

use crate::cases::SetupError;
use crate::measure::{BenchCase, MedianLimit};

const LINE: &str =
    "cargo test --workspace 2>&1 | tail -n 40 && git -C /srv/app7 status && curl https://api.host7.org/v1";

/// Generates a rule of one kind from its number.
type Sort = fn(usize) -> String;

fn by_program(number: usize) -> String {
    format!("shell: {{program: [tool{number}], words: [apply]}}")
}

fn by_path(number: usize) -> String {
    format!("path: ['/srv/app{number}/**', '~/vault{number}/*.key']")
}

fn by_host(number: usize) -> String {
    format!("host: ['*.host{number}.net', bad{number}.org]")
}

fn by_effect(number: usize) -> String {
    format!("effect: {{does: [write, delete], path: ['/data/set{number}/**', 'gen{number}/*']}}")
}

fn mixed(number: usize) -> String {
    let sorts: [Sort; 4] = [by_program, by_path, by_host, by_effect];
    sorts.get(number % sorts.len()).map(|sort| sort(number)).unwrap_or_default()
}

/// Measures evaluation alone; the facts are derived beforehand.
pub(crate) fn cases() -> Result<Vec<BenchCase>, SetupError> {
    let mut cases = vec![judging(
        "policy: judge alone, a line of four commands",
        MedianLimit::Ns(50_000.0),
        RuleSet::baseline().rules,
    )];
    let sorts: [(Sort, &str, &str); 5] = [
        (by_program, "policy: judge, 100 rules on programs", "policy: judge, 10,000 rules on programs"),
        (by_path, "policy: judge, 100 rules on paths", "policy: judge, 10,000 rules on paths"),
        (by_host, "policy: judge, 100 rules on hosts", "policy: judge, 10,000 rules on hosts"),
        (by_effect, "policy: judge, 100 rules on effects", "policy: judge, 10,000 rules on effects"),
        (mixed, "policy: judge, 100 rules, mixed", "policy: judge, 10,000 rules, mixed"),
    ];
    for (sort, few, many) in sorts {
        cases.push(judging(few, MedianLimit::None, rules(100, sort)?));
        cases.push(judging(many, MedianLimit::Times(2.0, few), rules(10_000, sort)?));
    }
    cases.extend(hostile());
    Ok(cases)
}

/// Measures facts and evaluation of some hostile calls. `crates/policy/tests/scaling` tests all kinds of
/// hostile calls.
fn hostile() -> [BenchCase; 4] {
    let many = |part: &str, size: usize| part.repeat(size / part.len());
    let argvs: Vec<_> = (0..1048).map(|n| numbered("rm", 100, &format!("x{n}/"))).collect();
    let calls = [
        ("policy: 60 kB of hostile shell", "Bash", json!({ "command": many("eval eval x=$x$x; ", 60_000) })),
        (
            "policy: 1 MB of hostile code",
            "shell",
            json!({ "command": ["python3", "-c", many("eval(f'{x}', [y]); ", 1 << 20)] }),
        ),
        ("policy: 1 MB of words", "shell", json!({ "command": numbered("rm", 170_000, "a") })),
        ("policy: 1 MB of commands", "run_commands", json!({ "commands": argvs })),
    ];
    calls.map(|(name, tool, args)| {
        let mut event = event();
        event.tool = Some(ToolCall::new(tool, args));
        let (rules, state) = (RuleSet::baseline().rules, SessionState::default());
        let run = Box::new(move || {
            let facts = facts(black_box(&event));
            black_box(tenterhook_policy::judge(&event, &facts, &state, &rules));
        });
        BenchCase { name, limit: MedianLimit::Ns(200e6), run }
    })
}

/// A command with many different words.
fn numbered(program: &str, many: usize, start: &str) -> Vec<String> {
    std::iter::once(program.to_owned()).chain((0..many).map(|n| format!("{start}{n}"))).collect()
}

fn judging(name: &'static str, limit: MedianLimit, rules: RuleSet) -> BenchCase {
    let event = event();
    let facts = facts(&event);
    let state = SessionState::default();
    let run = Box::new(move || {
        black_box(tenterhook_policy::judge(black_box(&event), &facts, &state, &rules));
    });
    BenchCase { name, limit, run }
}

fn rules(many: usize, sort: Sort) -> Result<RuleSet, SetupError> {
    let mut text = "version: 1\nrules:\n".to_owned();
    for number in 0..many {
        // No rule with a number this high matches the line.
        let _ = writeln!(text, "- {{id: r{number}, match: {{{}}}, verdict: deny}}", sort(number + 1000));
    }
    let loaded =
        RuleSet::load(&[RuleSource { name: "many", text: &text, layer: SourceLayer::User, trusted: true }]);
    match loaded.problems.first() {
        Some(problem) => Err(SetupError(problem.to_string())),
        None => Ok(loaded.rules),
    }
}

fn event() -> Event {
    let (id, now) = (EventId::from_parts(0, 0), Timestamp::from_unix_ms(0));
    let mut event = Event::new(id, now, "claude-code", EventKind::PreTool, "PreToolUse");
    event.cwd = Some("/home/dev/work".to_owned());
    event.tool = Some(ToolCall::new("Bash", json!({ "command": LINE })));
    event
}

fn facts(event: &Event) -> Facts {
    tenterhook_policy::facts(
        event,
        &EvalEnvironment { home: Some("/home/dev"), ..EvalEnvironment::default() },
    )
}
