// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Budgets: counted at every answer of a model, warned of once, and used up at the next gate.

use tenterhook_event::{DayUsage, Flow, Tokens, TranscriptUsage};

use super::*;

const DAY: u64 = 24 * 60 * 60 * 1000;

fn moment(kind: EventKind, ms: u64) -> Event {
    let mut event = bash("ls");
    event.event = kind;
    event.ts = Timestamp::from_unix_ms(ms);
    if kind != EventKind::PreTool {
        event.tool = None;
    }
    event
}

/// An answer of a model that read so many million tokens.
fn answer(model: &str, millions: u64, ms: u64) -> Event {
    let mut event = moment(EventKind::PostModel, ms);
    event.agent.model = Some(model.to_owned());
    let usage = json!({"input_tokens": millions * 1_000_000, "output_tokens": 0});
    event.detail.model_response = Some(json!({"text": "", "usage": usage}));
    event
}

/// One session by itself, with the day that all sessions share.
#[derive(Default)]
struct Memory {
    own: SessionState,
    together: SessionState,
}

impl Memory {
    fn judge(&mut self, event: &Event, rules: &RuleSet) -> Judgement {
        let state = SessionState { today: self.together.today, ..self.own.clone() };
        let judgement = ruled(event, &state, rules);
        self.own.apply(&judgement.delta);
        self.together.apply(&judgement.delta);
        judgement
    }

    /// What is said at a gate: the decision, and the words.
    fn gate(&mut self, kind: EventKind, ms: u64, rules: &RuleSet) -> String {
        let judgement = self.judge(&moment(kind, ms), rules);
        let said = judgement.findings.iter().map(|finding| {
            let stops = if finding.flow == Flow::Go { "" } else { " and stop" };
            let words = finding.reason.as_ref().or(finding.message.as_ref()).unwrap();
            assert!(finding.reason.is_some() || finding.context == finding.message);
            format!("{}{stops}: {words}", finding.decision)
        });
        said.collect::<Vec<_>>().join("\n")
    }
}

const SESSION: &str = "version: 1
rules:
  - id: budget
    match: {}
    verdict: deny
    reason: enough for one session
    limit: {cost: 10.00, warn: 8, per: session}
";

#[test]
fn a_session_is_warned_once_and_then_stopped_at_every_gate() {
    let rules = good(SESSION);
    assert!(rules.concerns(EventKind::PostModel) && rules.is_stateful(EventKind::PostModel));
    let mut memory = Memory::default();
    let spend = |memory: &mut Memory, millions| {
        let judgement = memory.judge(&answer("claude-sonnet-4-5-20250929", millions, 0), &rules);
        assert_eq!(judgement.findings, [], "an answer is counted, not judged");
    };
    assert_eq!(memory.gate(EventKind::PreModel, 0, &rules), "");
    spend(&mut memory, 2);
    assert_eq!(memory.gate(EventKind::PreTool, 0, &rules), "", "$6 are within");
    spend(&mut memory, 1);
    let warning = "none: this session has cost $9.00 of a budget of $10.00 (rule budget)";
    assert_eq!(memory.gate(EventKind::PreModel, 0, &rules), warning);
    assert_eq!(memory.gate(EventKind::PreModel, 0, &rules), "", "it is said once");
    spend(&mut memory, 1);
    let over = "deny and stop: enough for one session (this session has cost $12.00 of a budget of $10.00)";
    for gate in [EventKind::Prompt, EventKind::PreModel, EventKind::PreTool, EventKind::PreTool] {
        assert_eq!(memory.gate(gate, 0, &rules), over);
    }
    assert_eq!(memory.gate(EventKind::Stop, 0, &rules), "", "what ends by itself may end");
    let mut other = Memory { together: memory.together, ..Memory::default() };
    assert_eq!(other.gate(EventKind::PreModel, 0, &rules), "", "another session has its own");
}

#[test]
fn a_day_counts_all_sessions_and_begins_anew() {
    let rules = good(
        "version: 1
rules:
  - {id: daily, match: {event: prompt}, verdict: ask, limit: {tokens: 5000000, warn: 3000000, per: day}}
",
    );
    let mut one = Memory::default();
    one.judge(&answer("whatever", 3, 1000), &rules);
    let mut two = Memory { together: one.together.clone(), ..Memory::default() };
    two.judge(&answer("else", 1, 2000), &rules);
    let warning = "none: today's sessions have used 4000000 of a budget of 5000000 tokens (rule daily)";
    assert_eq!(two.gate(EventKind::Prompt, 3000, &rules), warning);
    two.judge(&answer("else", 1, 2000), &rules);
    let over = "ask: today's sessions have used 5000000 of a budget of 5000000 tokens";
    assert_eq!(two.gate(EventKind::Prompt, DAY - 1, &rules), over);
    assert_eq!(two.gate(EventKind::PreModel, DAY - 1, &rules), "", "the rule is about prompts");
    assert_eq!(two.gate(EventKind::Prompt, DAY, &rules), "", "a new day");
    two.judge(&answer("else", 4, DAY), &rules);
    assert!(two.gate(EventKind::Prompt, DAY, &rules).starts_with("none: "), "and warned of anew");
    two.judge(&answer("else", 1, DAY - 1), &rules);
    assert!(two.gate(EventKind::Prompt, DAY, &rules).starts_with("ask: "), "a late answer starts no new day");
}

#[test]
fn tokens_without_a_price_are_said_to_be_missing() {
    let rules = good(SESSION);
    let mut memory = Memory::default();
    memory.judge(&answer("nobody-knows", 7, 0), &rules);
    let missing = "none: this session has cost $0.00 of a budget of $10.00, without 7000000 tokens of models \
                   whose price is not known (rule budget)";
    assert_eq!(memory.gate(EventKind::PreModel, 0, &rules), missing);
    assert_eq!(memory.gate(EventKind::PreModel, 0, &rules), "");
    assert_eq!(memory.own.spent.tokens, Tokens { input: 7_000_000, ..Tokens::default() }.total());
}

#[test]
fn a_rule_that_only_watches_warns_nobody() {
    let rules = good(&SESSION.replace("    verdict", "    mode: monitor\n    verdict"));
    let mut memory = Memory::default();
    for millions in [3, 9] {
        memory.judge(&answer("claude-sonnet-4-5", millions, 0), &rules);
        assert_eq!(memory.gate(EventKind::PreModel, 0, &rules), "");
    }
    let judgement = memory.judge(&moment(EventKind::PreModel, 0), &rules);
    assert_eq!((judgement.steps[0].status, judgement.steps[0].decision), (Status::Monitored, Decision::Deny));
}

#[test]
fn nothing_is_counted_where_there_is_no_budget() {
    let rules = good("version: 1\nrules:\n  - {id: x, match: {shell: {program: rm}}, verdict: deny}\n");
    assert!(!rules.concerns(EventKind::PostModel));
    assert!(ruled(&answer("claude-sonnet-4-5", 1, 0), &SessionState::default(), &rules).delta.is_empty());
}

#[test]
fn own_prices_count_also_in_a_snapshot() {
    let sources = [Source { name: "rules.yaml", text: SESSION, layer: Layer::User, trusted: true }];
    let own = "version: 1\nprices:\n  - {model: mine, input: 11, output: 0}\n  - {model: x}\n";
    let choices = Choices { prices: Some(("prices.yaml", own)), ..Choices::default() };
    let loaded = RuleSet::load_with(&sources, &choices, LoadMode::Checked);
    let problems: Vec<_> = loaded.problems.iter().map(ToString::to_string).collect();
    assert_eq!(problems, ["prices.yaml:4:5: missing field `input`"]);
    assert_ne!(loaded.rules.digest(), RuleSet::load(&sources).rules.digest(), "another generation");
    let bytes = Arc::new(loaded.rules.to_snapshot(LoadMode::Checked).unwrap());
    for rules in [loaded.rules, RuleSet::from_snapshot(&bytes, 0, LoadMode::Checked).unwrap()] {
        let mut memory = Memory::default();
        memory.judge(&answer("mine", 1, 0), &rules);
        assert!(memory.gate(EventKind::PreTool, 0, &rules).contains("cost $11.00 of a budget of $10.00"));
    }
}

#[test]
fn a_budget_that_makes_no_sense_is_refused() {
    let refused = |limit: &str| {
        let verdict = if limit.contains("allow") { "allow" } else { "deny" };
        let limit = limit.trim_end_matches(" allow");
        let text =
            format!("version: 1\nrules:\n  - {{id: x, match: {{}}, verdict: {verdict}, limit: {limit}}}\n");
        let problems: Vec<_> = user(&text).problems.iter().map(ToString::to_string).collect();
        problems.join("; ")
    };
    let said: Vec<_> = [
        "{}",
        "{cost: 1, tokens: 5}",
        "{cost: 0}",
        "{cost: 5, warn: 5}",
        "{cost: 5, warn: -1}",
        "{cost: 5, window: 1h}",
        "{cost: 5, per: rule}",
        "{cost: 5} allow",
        "{tokens: 0}",
        "{tokens: 10, warn: 2.5}",
        "{count: 5}",
        "{count: 5, window: 1h, per: day}",
        "{count: 5, window: 1h, warn: 3}",
        "{count: 5, window: 1h, unknown: warn}",
        "{cost: 5, unknown: never}",
        "{cost: 5, per: month}",
    ]
    .iter()
    .map(|limit| refused(limit))
    .collect();
    insta::assert_snapshot!(said.join("\n"));
}

/// A gate at which the transcript reports these totals: tokens, and those of today.
fn reporting(kind: EventKind, ms: u64, tokens: u64, today: u64) -> Event {
    let mut event = moment(kind, ms);
    let usage = TranscriptUsage {
        input_tokens: tokens,
        cost_microusd: tokens,
        today: Some(DayUsage { day: ms / DAY, tokens: today, cost_microusd: today, unpriced_tokens: 0 }),
        ..TranscriptUsage::default()
    };
    event.detail.usage = Some(usage);
    event
}

const TOKENS: &str = "version: 1
rules:
  - {id: session, match: {}, verdict: deny, limit: {tokens: 1000, warn: 800}}
  - {id: day, match: {event: prompt}, verdict: ask, limit: {tokens: 1500, per: day}}
";

#[test]
fn totals_of_a_transcript_count_at_the_event_that_brings_them_and_never_fall() {
    let rules = good(TOKENS);
    let mut memory = Memory::default();
    let said = |judgement: &Judgement| -> Vec<String> {
        judgement.findings.iter().map(|finding| finding.by.to_string()).collect()
    };
    // Usage at an event that no rule looks at is counted all the same.
    let after = reporting(EventKind::PostTool, 0, 500, 500);
    assert!(rules.counts_usage_of(&after));
    memory.judge(&after, &rules);
    memory.judge(&after, &rules);
    assert_eq!(memory.own.spent.tokens, 500, "the same totals count once");
    let gate = |tokens, today| reporting(EventKind::PreTool, 0, tokens, today);
    assert_eq!(said(&memory.judge(&gate(700, 700), &rules)), [""; 0]);
    let warned = memory.judge(&gate(900, 900), &rules);
    assert_eq!(
        (said(&warned), warned.findings[0].decision),
        (vec!["rule:session".to_owned()], Decision::None)
    );
    // A transcript that was cut reports less: nothing is taken back.
    memory.judge(&gate(0, 0), &rules);
    assert_eq!(memory.own.spent.tokens, 900);
    let over = memory.judge(&gate(1000, 1000), &rules);
    assert_eq!((said(&over), over.findings[0].decision), (vec!["rule:session".to_owned()], Decision::Deny));
    assert_eq!(memory.gate(EventKind::Stop, 0, &rules), "");
}

#[test]
fn a_day_counts_only_what_its_transcripts_report_for_it() {
    let rules = good(TOKENS);
    let mut resumed = Memory::default();
    // Most of this session was yesterday.
    resumed.judge(&reporting(EventKind::SessionStart, DAY, 950, 50), &rules);
    assert_eq!(resumed.own.spent.tokens, 950);
    assert_eq!(resumed.together.today.unwrap().spent.tokens, 50);
    let mut other = Memory { together: resumed.together.clone(), ..Memory::default() };
    let asked = other.judge(&reporting(EventKind::Prompt, DAY, 1450, 1450), &rules);
    let rules_said: Vec<_> = asked.findings.iter().map(|finding| finding.by.to_string()).collect();
    assert_eq!(rules_said, ["rule:session", "rule:day"]);
    assert_eq!(other.together.today.unwrap().spent.tokens, 1500);
    let tomorrow = other.judge(&reporting(EventKind::Prompt, 2 * DAY, 1460, 10), &rules);
    assert_eq!(tomorrow.findings.len(), 1, "only the session is used up: {:?}", tomorrow.findings);
    assert_eq!(other.own.spent.tokens, 1460);
}

#[test]
fn usage_that_cannot_be_read_is_not_zero() {
    let strict = good(TOKENS);
    let lenient = good(&TOKENS.replace("warn: 800}", "warn: 800, unknown: warn}"));
    let mut event = moment(EventKind::PreTool, 0);
    let unknown = Some("`t.jsonl` is a symbolic link".to_owned());
    event.detail.usage = Some(TranscriptUsage { unknown, ..TranscriptUsage::default() });
    let mut memory = Memory::default();
    let words = "this session has used 0 of a budget of 1000 tokens; what else was used is unknown: \
                 `t.jsonl` is a symbolic link";
    for _ in 0..2 {
        let judgement = memory.judge(&event, &strict);
        assert_eq!(judgement.findings.len(), 1);
        assert_eq!(judgement.findings[0].decision, Decision::Deny);
        assert_eq!(judgement.findings[0].reason.as_deref(), Some(words));
    }
    let judgement = memory.judge(&event, &lenient);
    assert_eq!((judgement.findings.len(), judgement.findings[0].decision), (1, Decision::None));
    assert!(judgement.findings[0].message.as_deref().unwrap().contains("is a symbolic link"));
    assert_eq!(memory.judge(&event, &lenient).findings, [], "it is said once");
    assert_eq!(serde_json::to_value(&event.detail).unwrap(), json!({}), "a record has the reason only");
}
