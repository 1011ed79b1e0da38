// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Budgets: spend is counted at every model response, warned about once, and enforced at the next gate (an event that a
//! rule can deny).

use tenterhook_event::{DayUsage, Flow, TokenCounts, TranscriptUsage};

use super::*;

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

fn event_at(kind: EventKind, ms: u64) -> Event {
    let mut event = bash("ls");
    event.event = kind;
    event.ts = Timestamp::from_unix_ms(ms);
    if kind != EventKind::PreTool {
        event.tool = None;
    }
    event
}

/// Creates a response of a model that read `millions` million tokens.
fn model_response(model: &str, millions: u64, ms: u64) -> Event {
    let mut event = event_at(EventKind::PostModel, ms);
    event.agent.model = Some(model.to_owned());
    let usage = json!({"input_tokens": millions * 1_000_000, "output_tokens": 0});
    event.detail.model_response = Some(json!({"text": "", "usage": usage}));
    event
}

/// The state of one session, and the daily spend that all sessions share.
#[derive(Default)]
struct BudgetSession {
    own: SessionState,
    together: SessionState,
}

impl BudgetSession {
    fn judge(&mut self, event: &Event, rules: &RuleSet) -> PolicyJudgement {
        let state = SessionState { today: self.together.today, ..self.own.clone() };
        let judgement = judge_event(event, &state, rules);
        self.own.apply(&judgement.delta);
        self.together.apply(&judgement.delta);
        judgement
    }

    /// Returns the decision and message at a gate.
    fn gate(&mut self, kind: EventKind, ms: u64, rules: &RuleSet) -> String {
        let judgement = self.judge(&event_at(kind, ms), rules);
        let said = judgement.findings.iter().map(|finding| {
            let stops = if finding.flow == Flow::Go { "" } else { " and stop" };
            let words = finding.reason.as_ref().or(finding.message.as_ref()).unwrap();
            assert!(finding.reason.is_some() || finding.context == finding.message);
            format!("{}{stops}: {words}", finding.decision)
        });
        said.collect::<Vec<_>>().join("\n")
    }
}

const SESSION_BUDGET: &str = "version: 1
rules:
  - id: budget
    match: {}
    verdict: deny
    reason: enough for one session
    limit: {cost: 10.00, warn: 8, per: session}
";

#[test]
fn a_session_is_warned_once_and_then_stopped_at_every_gate() {
    let rules = load_valid(SESSION_BUDGET);
    assert!(rules.handles(EventKind::PostModel) && rules.is_stateful(EventKind::PostModel));
    let mut session = BudgetSession::default();
    let spend = |session: &mut BudgetSession, millions| {
        let judgement = session.judge(&model_response("claude-sonnet-4-5-20250929", millions, 0), &rules);
        assert_eq!(judgement.findings, [], "a response is counted, not denied");
    };
    assert_eq!(session.gate(EventKind::PreModel, 0, &rules), "");
    spend(&mut session, 2);
    assert_eq!(session.gate(EventKind::PreTool, 0, &rules), "", "$6 are within");
    spend(&mut session, 1);
    let warning = "none: this session has cost $9.00 of a budget of $10.00 (rule budget)";
    assert_eq!(session.gate(EventKind::PreModel, 0, &rules), warning);
    assert_eq!(session.gate(EventKind::PreModel, 0, &rules), "", "the warning is shown once");
    spend(&mut session, 1);
    let over = "deny and stop: enough for one session (this session has cost $12.00 of a budget of $10.00)";
    for gate in [EventKind::Prompt, EventKind::PreModel, EventKind::PreTool, EventKind::PreTool] {
        assert_eq!(session.gate(gate, 0, &rules), over);
    }
    assert_eq!(session.gate(EventKind::Stop, 0, &rules), "", "what ends by itself may end");
    let mut other = BudgetSession { together: session.together, ..BudgetSession::default() };
    assert_eq!(other.gate(EventKind::PreModel, 0, &rules), "", "another session has its own");
}

#[test]
fn a_day_counts_all_sessions_and_starts_at_zero() {
    let rules = load_valid(
        "version: 1
rules:
  - {id: daily, match: {event: prompt}, verdict: ask, limit: {tokens: 5000000, warn: 3000000, per: day}}
",
    );
    let mut one = BudgetSession::default();
    one.judge(&model_response("some-model", 3, 1000), &rules);
    let mut two = BudgetSession { together: one.together.clone(), ..BudgetSession::default() };
    two.judge(&model_response("else", 1, 2000), &rules);
    let warning = "none: today's sessions have used 4000000 of a budget of 5000000 tokens (rule daily)";
    assert_eq!(two.gate(EventKind::Prompt, 3000, &rules), warning);
    two.judge(&model_response("else", 1, 2000), &rules);
    let over = "ask: today's sessions have used 5000000 of a budget of 5000000 tokens";
    assert_eq!(two.gate(EventKind::Prompt, DAY_MS - 1, &rules), over);
    assert_eq!(two.gate(EventKind::PreModel, DAY_MS - 1, &rules), "", "the rule is about prompts");
    assert_eq!(two.gate(EventKind::Prompt, DAY_MS, &rules), "", "a new day");
    two.judge(&model_response("else", 4, DAY_MS), &rules);
    assert!(
        two.gate(EventKind::Prompt, DAY_MS, &rules).starts_with("none: "),
        "and the warning is shown again"
    );
    two.judge(&model_response("else", 1, DAY_MS - 1), &rules);
    assert!(
        two.gate(EventKind::Prompt, DAY_MS, &rules).starts_with("ask: "),
        "a late answer starts no new day"
    );
}

#[test]
fn tokens_without_a_price_are_reported() {
    let rules = load_valid(SESSION_BUDGET);
    let mut session = BudgetSession::default();
    session.judge(&model_response("unknown-model", 7, 0), &rules);
    let missing = "none: this session has cost $0.00 of a budget of $10.00, not counting 7000000 tokens of models \
                   without a known price (rule budget)";
    assert_eq!(session.gate(EventKind::PreModel, 0, &rules), missing);
    assert_eq!(session.gate(EventKind::PreModel, 0, &rules), "");
    assert_eq!(session.own.spent.tokens, TokenCounts { input: 7_000_000, ..TokenCounts::default() }.total());
}

#[test]
fn a_monitored_budget_shows_no_warning() {
    let rules = load_valid(&SESSION_BUDGET.replace("    verdict", "    mode: monitor\n    verdict"));
    let mut session = BudgetSession::default();
    for millions in [3, 9] {
        session.judge(&model_response("claude-sonnet-4-5", millions, 0), &rules);
        assert_eq!(session.gate(EventKind::PreModel, 0, &rules), "");
    }
    let judgement = session.judge(&event_at(EventKind::PreModel, 0), &rules);
    assert_eq!(
        (judgement.steps[0].status, judgement.steps[0].decision),
        (TraceStatus::Monitored, Decision::Deny)
    );
}

#[test]
fn nothing_is_counted_where_there_is_no_budget() {
    let rules = load_valid("version: 1\nrules:\n  - {id: x, match: {shell: {program: rm}}, verdict: deny}\n");
    assert!(!rules.handles(EventKind::PostModel));
    assert!(
        judge_event(&model_response("claude-sonnet-4-5", 1, 0), &SessionState::default(), &rules)
            .delta
            .is_empty()
    );
}

#[test]
fn own_prices_count_also_in_a_snapshot() {
    let sources =
        [RuleSource { name: "rules.yaml", text: SESSION_BUDGET, layer: SourceLayer::User, trusted: true }];
    let own = "version: 1\nprices:\n  - {model: mine, input: 11, output: 0}\n  - {model: x}\n";
    let choices = RuleSettings { prices: Some(("prices.yaml", own)), ..RuleSettings::default() };
    let loaded = RuleSet::load_with(&sources, &choices, LoadMode::Checked);
    let problems: Vec<_> = loaded.problems.iter().map(ToString::to_string).collect();
    assert_eq!(problems, ["prices.yaml:4:5: missing field `input`"]);
    assert_ne!(loaded.rules.digest(), RuleSet::load(&sources).rules.digest(), "another generation");
    let bytes = Arc::new(loaded.rules.to_snapshot(LoadMode::Checked).unwrap());
    for rules in [loaded.rules, RuleSet::from_snapshot(&bytes, 0, LoadMode::Checked).unwrap()] {
        let mut session = BudgetSession::default();
        session.judge(&model_response("mine", 1, 0), &rules);
        assert!(session.gate(EventKind::PreTool, 0, &rules).contains("cost $11.00 of a budget of $10.00"));
    }
}

#[test]
fn a_budget_that_makes_no_sense_is_refused() {
    let refused = |limit: &str| {
        let verdict = if limit.contains("allow") { "allow" } else { "deny" };
        let limit = limit.trim_end_matches(" allow");
        let text =
            format!("version: 1\nrules:\n  - {{id: x, match: {{}}, verdict: {verdict}, limit: {limit}}}\n");
        let problems: Vec<_> = load_user(&text).problems.iter().map(ToString::to_string).collect();
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

/// Creates an event with which the transcript reports these totals: all tokens, and the tokens of today.
fn reporting(kind: EventKind, ms: u64, tokens: u64, today: u64) -> Event {
    let mut event = event_at(kind, ms);
    let usage = TranscriptUsage {
        input_tokens: tokens,
        cost_microusd: tokens,
        today: Some(DayUsage { day: ms / DAY_MS, tokens: today, cost_microusd: today, unpriced_tokens: 0 }),
        ..TranscriptUsage::default()
    };
    event.detail.usage = Some(usage);
    event
}

const TOKEN_BUDGETS: &str = "version: 1
rules:
  - {id: session, match: {}, verdict: deny, limit: {tokens: 1000, warn: 800}}
  - {id: day, match: {event: prompt}, verdict: ask, limit: {tokens: 1500, per: day}}
";

#[test]
fn totals_of_a_transcript_count_at_the_event_that_brings_them_and_never_fall() {
    let rules = load_valid(TOKEN_BUDGETS);
    let mut session = BudgetSession::default();
    let rule_names = |judgement: &PolicyJudgement| -> Vec<String> {
        judgement.findings.iter().map(|finding| finding.by.to_string()).collect()
    };
    // Usage is counted even at an event that no rule handles.
    let after = reporting(EventKind::PostTool, 0, 500, 500);
    assert!(rules.counts_usage_of(&after));
    session.judge(&after, &rules);
    session.judge(&after, &rules);
    assert_eq!(session.own.spent.tokens, 500, "the same totals count once");
    let gate = |tokens, today| reporting(EventKind::PreTool, 0, tokens, today);
    assert_eq!(rule_names(&session.judge(&gate(700, 700), &rules)), [""; 0]);
    let warned = session.judge(&gate(900, 900), &rules);
    assert_eq!(
        (rule_names(&warned), warned.findings[0].decision),
        (vec!["rule:session".to_owned()], Decision::None)
    );
    // A truncated transcript reports less; the totals do not fall.
    session.judge(&gate(0, 0), &rules);
    assert_eq!(session.own.spent.tokens, 900);
    let over = session.judge(&gate(1000, 1000), &rules);
    assert_eq!(
        (rule_names(&over), over.findings[0].decision),
        (vec!["rule:session".to_owned()], Decision::Deny)
    );
    assert_eq!(session.gate(EventKind::Stop, 0, &rules), "");
}

#[test]
fn a_day_counts_only_what_its_transcripts_report_for_it() {
    let rules = load_valid(TOKEN_BUDGETS);
    let mut resumed = BudgetSession::default();
    // Most of this session happened yesterday.
    resumed.judge(&reporting(EventKind::SessionStart, DAY_MS, 950, 50), &rules);
    assert_eq!(resumed.own.spent.tokens, 950);
    assert_eq!(resumed.together.today.unwrap().spent.tokens, 50);
    let mut other = BudgetSession { together: resumed.together.clone(), ..BudgetSession::default() };
    let asked = other.judge(&reporting(EventKind::Prompt, DAY_MS, 1450, 1450), &rules);
    let rules_said: Vec<_> = asked.findings.iter().map(|finding| finding.by.to_string()).collect();
    assert_eq!(rules_said, ["rule:session", "rule:day"]);
    assert_eq!(other.together.today.unwrap().spent.tokens, 1500);
    let tomorrow = other.judge(&reporting(EventKind::Prompt, 2 * DAY_MS, 1460, 10), &rules);
    assert_eq!(tomorrow.findings.len(), 1, "only the session is used up: {:?}", tomorrow.findings);
    assert_eq!(other.own.spent.tokens, 1460);
}

#[test]
fn usage_that_cannot_be_read_is_not_zero() {
    let strict = load_valid(TOKEN_BUDGETS);
    let lenient = load_valid(&TOKEN_BUDGETS.replace("warn: 800}", "warn: 800, unknown: warn}"));
    let mut event = event_at(EventKind::PreTool, 0);
    let unknown = Some("`t.jsonl` is a symbolic link".to_owned());
    event.detail.usage = Some(TranscriptUsage { unknown, ..TranscriptUsage::default() });
    let mut session = BudgetSession::default();
    let words = "this session has used 0 of a budget of 1000 tokens; further usage is unknown: \
                 `t.jsonl` is a symbolic link";
    for _ in 0..2 {
        let judgement = session.judge(&event, &strict);
        assert_eq!(judgement.findings.len(), 1);
        assert_eq!(judgement.findings[0].decision, Decision::Deny);
        assert_eq!(judgement.findings[0].reason.as_deref(), Some(words));
    }
    let judgement = session.judge(&event, &lenient);
    assert_eq!((judgement.findings.len(), judgement.findings[0].decision), (1, Decision::None));
    assert!(judgement.findings[0].message.as_deref().unwrap().contains("is a symbolic link"));
    assert_eq!(session.judge(&event, &lenient).findings, [], "the warning is shown once");
    assert_eq!(serde_json::to_value(&event.detail).unwrap(), json!({}), "a record has the reason only");
}
