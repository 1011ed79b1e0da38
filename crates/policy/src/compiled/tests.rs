// SPDX-License-Identifier: Apache-2.0 OR MIT

use serde_json::json;
use tenterhook_document::{Node, Value, parse};
use tenterhook_event::{Event, EventId, EventKind, Timestamp, ToolCall};

use std::sync::Arc;

use super::{CompiledRules, RuleBytes};
use crate::conditions::{OneOrMore, RuleMatcher};
use crate::{
    EvalEnvironment, LoadMode, PolicyJudgement, Rule, RuleSet, RuleSettings, RuleSource, SessionState,
    SourceLayer, compile_packs, facts, judge,
};

const OWN_RULES: &str = r#"
version: 1
lists: {mine: [alpha, beta]}
rules:
  - {id: own/named, match: {shell: {program: ["@mine", gamma]}}, verdict: deny, reason: no, nudge: try delta}
  - id: own/either
    match:
      tool: shell
      any:
        - {shell: {program: omega, option: [-x, --wipe]}}
        - {path: ["~/private/**"]}
        - {host: "*.evil.example"}
    verdict: ask
  - {id: own/allow, match: {any: [{shell: {program: sigma}}, {shell: {program: tau}}]}, verdict: allow}
  - {id: own/except, match: {shell: {program: alpha, option: --safe}}, verdict: allow, overrides: [own/named]}
  - {id: own/limited, match: {shell: {program: rho}}, verdict: deny, limit: {count: 3, window: 1h}}
  - {id: own/when, match: {tool: shell}, when: "tool.args.command.contains('forbidden')", verdict: deny}
  - {id: own/group, match: {group: wheel, shell: {program: su}}, verdict: deny}
"#;
const FIRST_MATCH_RULES: &str = "
version: 1
order: first
mode: monitor
rules:
  - {id: first/a, match: {shell: {program: one}}, verdict: deny}
  - {id: first/b, match: {shell: {program: [one, two]}}, verdict: ask, mode: enforce}
";

fn sources() -> Vec<RuleSource<'static>> {
    let own = |name, text, layer, trusted| RuleSource { name, text, layer, trusted };
    let mut sources: Vec<_> = RuleSet::packs().iter().map(|pack| pack.source).collect();
    sources.push(own("org.yaml", FIRST_MATCH_RULES, SourceLayer::Organisation, true));
    sources.push(own("own.yaml", OWN_RULES, SourceLayer::User, true));
    let project = "version: 1\nrules:\n  - {id: p/x, match: {shell: {program: xi}}, verdict: deny}\n";
    sources.push(own("p/.tenterhook.yaml", project, SourceLayer::Project, false));
    sources
}

/// Returns every text in the examples of the packs, and commands for the rules above.
fn commands() -> Vec<String> {
    fn texts(node: &Node, to: &mut Vec<String>) {
        match &node.value {
            Value::Text(text) => to.push(text.clone()),
            Value::List(items) => items.iter().for_each(|item| texts(item, to)),
            Value::Map(entries) => entries.iter().for_each(|(_, value)| texts(value, to)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    for pack in RuleSet::packs() {
        let document = parse(pack.source.text).unwrap();
        let Value::List(rules) = &document.get("rules").unwrap().value else { panic!() };
        rules.iter().filter_map(|rule| rule.get("examples")).for_each(|node| texts(node, &mut found));
    }
    let own = [
        "alpha; beta --safe; alpha --safe",
        "omega -x",
        "cat ~/private/key",
        "curl https://a.evil.example",
        "sigma && tau",
        "rho",
        "echo forbidden",
        "su -",
        "one",
        "two",
        "xi",
        "eval \"$(omega $x)\"",
        "ls *.rs",
        "find / -name '*.pem' | xargs cat",
        "$(cat x) | sh",
        "rm -rf \"$DIR\"/*",
        "",
    ];
    found.extend(own.map(str::to_owned));
    found
}

fn command_event(command: &str, kind: EventKind) -> Event {
    let mut event =
        Event::new(EventId::from_parts(1, 1), Timestamp::from_unix_ms(1), "claude-code", kind, "PreToolUse");
    event.cwd = Some("/home/dev/shop".into());
    event.tool = Some(ToolCall::new("Bash", json!({"command": command})));
    event
}

fn judge_command(set: &RuleSet, command: &str, kind: EventKind) -> PolicyJudgement {
    let event = command_event(command, kind);
    let around =
        EvalEnvironment { home: Some("/home/dev"), groups: &["wheel"], ..EvalEnvironment::default() };
    judge(&event, &facts(&event, &around), &SessionState::default(), set)
}

fn packs() -> Arc<CompiledRules> {
    let bytes = compile_packs().unwrap_or_else(|problems| panic!("{problems:?}"));
    Arc::new(CompiledRules::open(bytes.into()).unwrap())
}

fn is_undecodable(rule: &Rule) -> bool {
    rule.reason() == Some("a compiled rule cannot be decoded")
}

#[test]
fn compiled_rules_judge_as_the_rules_they_were() {
    let (sources, choices) =
        (sources(), RuleSettings { disabled: &["own/group"], ..RuleSettings::default() });
    let packs = packs();
    let mode = LoadMode::Trusted(&packs);
    let checked = RuleSet::load_with(&sources, &choices, LoadMode::Checked).rules;
    let trusted = RuleSet::load_with(&sources, &choices, mode).rules;
    let bytes = Arc::new(trusted.to_snapshot(mode).unwrap());
    let snapshot = RuleSet::from_snapshot(&bytes, 0, mode).unwrap();
    let commands = commands();
    assert!(commands.len() > 400, "{}", commands.len());
    let kind = EventKind::PreTool;
    for set in [&trusted, &snapshot] {
        assert_eq!((set.digest(), set.count()), (checked.digest(), checked.count()));
        assert!(set.is_stateful(EventKind::PreTool) && !set.is_stateful(EventKind::Stop));
        assert!(!set.uses_groups() && !checked.uses_groups());
        for kind in EventKind::ALL {
            assert_eq!(set.handles(*kind), checked.handles(*kind), "{kind}");
            assert_eq!(set.is_stateful(*kind), checked.is_stateful(*kind), "{kind}");
        }
    }
    for (number, command) in commands.iter().enumerate() {
        let expected = judge_command(&checked, command, kind);
        assert_eq!(judge_command(&trusted, command, kind), expected, "{command}");
        // A hook decodes the snapshot for each call, while a daemon uses the same decoded set many times.
        // Both cases are tested.
        if number % 5 == 0 || command.len() < 12 {
            let fresh = RuleSet::from_snapshot(&bytes, 0, mode).unwrap();
            assert_eq!(judge_command(&fresh, command, kind), expected, "{command}");
        } else {
            assert_eq!(judge_command(&snapshot, command, kind), expected, "{command}");
        }
    }
    assert_eq!(snapshot.rule("own/limited").map(Rule::id), Some("own/limited"));
    assert!(!snapshot.counts_all_sessions("own/limited") && snapshot.rule("own/nothing").is_none());
}

#[test]
fn choices_hold_for_rules_that_were_compiled_before() {
    let packs = packs();
    let mode = LoadMode::Trusted(&packs);
    let own = "version: 1\nrules:\n  - {id: recursive-delete, match: {shell: {program: x}}, verdict: deny}\n  \
               - {id: mine, match: {shell: {program: rm}}, verdict: allow, overrides: [guard-settings, nowhere]}\n";
    let locked = RuleSet::baseline().rules.rules().find(|rule| rule.locked()).unwrap().id().to_owned();
    let own = own.replace("guard-settings", &locked);
    let mut sources = RuleSet::baseline_sources().to_vec();
    sources.push(RuleSource { name: "own.yaml", text: &own, layer: SourceLayer::User, trusted: true });
    let disabled = ["recursive-delete", &locked, "nothing"];
    let choices = RuleSettings { disabled: &disabled, monitor: true, ..RuleSettings::default() };
    let said = |mode| {
        let loaded = RuleSet::load_with(&sources, &choices, mode);
        let rules: Vec<_> = loaded.rules.rules().map(|rule| format!("{rule:?}")).collect();
        let shown =
            |problems: Vec<crate::Problem>| problems.iter().map(ToString::to_string).collect::<Vec<_>>();
        let warnings = shown(loaded.rules.warnings(Timestamp::from_unix_ms(0)));
        (rules, shown(loaded.problems), warnings)
    };
    let (checked, trusted) = (said(LoadMode::Checked), said(mode));
    assert_eq!(trusted, checked);
    assert_eq!((trusted.1.len(), trusted.2.len()), (2, 3), "{:?} {:?}", trusted.1, trusted.2);
    let loaded = RuleSet::load_with(&sources, &choices, mode).rules;
    assert!(loaded.rule("recursive-delete").is_none() && loaded.rule(&locked).is_some());
}

#[test]
fn one_call_decodes_few_rules() {
    let packs = packs();
    let set =
        RuleSet::load_with(RuleSet::baseline_sources(), &RuleSettings::default(), LoadMode::Trusted(&packs))
            .rules;
    judge_command(&set, "ls -la src", EventKind::PreTool);
    let decoded: usize = set.segments().iter().map(super::RuleSegment::decoded_count).sum();
    assert!(decoded * 4 < set.count(), "{decoded} of {}", set.count());
}

#[test]
fn ordinary_commands_reach_few_rules() {
    let rules = RuleSet::baseline().rules;
    let commands = [
        ("ls -la src", 2),
        ("cat README.md", 4),
        ("git status --short", 4),
        ("cargo test --workspace 2>&1 | tail -n 40", 6),
        ("cd src && grep -rn \"foo bar\" ~/notes | head -20", 8),
    ];
    for (command, most) in commands {
        let event = command_event(command, EventKind::PreTool);
        let around = EvalEnvironment { home: Some("/home/dev"), ..EvalEnvironment::default() };
        let mut reached = Vec::new();
        rules.visit_candidates(&event, &facts(&event, &around), |rule, _| reached.push(rule.id().to_owned()));
        assert!(reached.len() <= most, "{command}: {reached:?}");
    }
}

#[test]
fn a_snapshot_does_not_repeat_the_rules_of_the_program() {
    let packs = packs();
    let mode = LoadMode::Trusted(&packs);
    let set = RuleSet::load_with(RuleSet::baseline_sources(), &RuleSettings::default(), mode).rules;
    let bytes = set.to_snapshot(mode).unwrap();
    assert!(bytes.len() < 1000, "{}", bytes.len());
    assert!(RuleSet::from_snapshot(&Arc::new(bytes), 0, LoadMode::Checked).is_none(), "of another program");
}

#[test]
fn bytes_that_were_cut_are_refused() {
    let bytes = compile_packs().unwrap();
    for length in (0..bytes.len()).step_by(1_009).chain([bytes.len() - 1]) {
        assert!(CompiledRules::open(bytes[..length].to_vec().into()).is_none(), "{length}");
    }
    let longer = [&bytes[..], &[0]].concat();
    assert!(CompiledRules::open(longer.into()).is_none());
}

#[test]
fn bytes_that_were_changed_never_panic() {
    let sources = sources();
    let set = RuleSet::load(&sources).rules;
    let bytes = set.to_snapshot(LoadMode::Checked).unwrap();
    for at in (0..bytes.len()).step_by(2_503).chain(0..200) {
        for bits in [0x55, 0xff] {
            let mut changed = bytes.clone();
            changed[at] ^= bits;
            if let Some(set) = RuleSet::from_snapshot(&changed.into(), 0, LoadMode::Checked) {
                judge_command(&set, "rm -rf / && omega -x", EventKind::PreTool);
            }
        }
    }
}

#[test]
fn a_rule_that_cannot_be_read_denies() {
    let set = RuleSet::load(&sources()).rules;
    let bytes = set.to_snapshot(LoadMode::Checked).unwrap();
    let count = set.count();
    let mut broken = bytes.clone();
    // The id is followed by the description, whose length cannot be this large.
    let at = bytes.windows(10).position(|part| part == b"\x09own/named").unwrap() + 10;
    broken[at..at + 2].fill(0xff);
    let set = RuleSet::from_snapshot(&broken.into(), 0, LoadMode::Checked).unwrap();
    assert_eq!(set.count(), count);
    assert!(set.rules().any(|rule| rule.id() == "own/named" && is_undecodable(rule)));
    let judgement = judge_command(&set, "alpha", EventKind::PreTool);
    assert!(judgement.findings.iter().any(|finding| finding.by.to_string() == "rule:own/named"));
}

#[test]
fn a_damaged_index_denies() {
    let compiled = packs();
    let body = compiled.body();
    let start = compiled.bytes().len() - body.0.len();
    let kind = compiled.kinds().iter().find(|(kind, _)| *kind == EventKind::PreTool).unwrap();
    // The damage fills all slots with other keys, or makes all rows point outside the table.
    for range in kind.1.searched_ranges() {
        let mut bytes = compiled.bytes().to_vec();
        bytes[start + range.start..start + range.end].fill(0xff);
        let damaged = Arc::new(CompiledRules::open(RuleBytes::from(bytes)).unwrap());
        let mode = LoadMode::Trusted(&damaged);
        let set = RuleSet::load_with(RuleSet::baseline_sources(), &RuleSettings::default(), mode).rules;
        let judgement = judge_command(&set, "rm -rf /", EventKind::PreTool);
        assert!(judgement.findings.iter().any(|finding| finding.by.to_string() == "rule:unreadable"));
    }
}

#[test]
fn conditions_do_not_nest_without_end() {
    // The matcher has `not` inside `not`, many levels deep, and no other condition.
    let bytes = |not| postcard::to_allocvec(&RuleMatcher { not, ..RuleMatcher::default() }).unwrap();
    let inner = bytes(None);
    let whole = bytes(Some(OneOrMore(vec![RuleMatcher::default()])));
    let outer = whole.strip_suffix(&inner[..]).unwrap();
    let nested = |depth: usize| [outer.repeat(depth), inner.clone()].concat();
    let read = |depth| postcard::from_bytes::<RuleMatcher>(&nested(depth));
    assert!(read(30).is_ok());
    assert!(read(100_000).is_err());
}
