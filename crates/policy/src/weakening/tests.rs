// SPDX-License-Identifier: Apache-2.0 OR MIT

use proptest::prelude::*;

use super::*;
use crate::source::{RuleSettings, RuleSource, SourceLayer};
use crate::{LoadMode, SessionState};

const NOW: u64 = 1_800_000_000_000;

fn rules_of(text: &str) -> RuleSet {
    rules_and_programs(text, "")
}

fn rules_and_programs(text: &str, programs: &str) -> RuleSet {
    let text = format!("version: 1\nrules:\n{text}\n");
    let layer = SourceLayer::Organisation;
    let sources = [RuleSource { name: "7/rules.yaml", text: &text, layer, trusted: true }];
    let programs = [RuleSource { name: "programs.yaml", text: programs, layer, trusted: true }];
    let described = if programs[0].text.is_empty() { &programs[..0] } else { &programs[..] };
    let settings = RuleSettings { programs: described, ..RuleSettings::default() };
    let loaded = RuleSet::load_with(&sources, &settings, LoadMode::Checked);
    assert!(loaded.problems.is_empty(), "{text}: {:?}", loaded.problems);
    loaded.rules
}

fn weakened(old: &str, new: &str) -> Vec<String> {
    let found = find_weakenings(&rules_of(old), &rules_of(new), Timestamp::from_unix_ms(NOW));
    found.iter().map(ToString::to_string).collect()
}

const DENY: &str = "  - {id: a, match: {shell: {program: [x, y]}}, verdict: deny}";

#[test]
fn a_rule_that_denies_or_asks_may_be_added_and_not_removed() {
    assert!(weakened("  []", "  []").is_empty());
    assert!(weakened("  []", DENY).is_empty());
    assert_eq!(weakened(DENY, "  []"), ["rule `a` is removed"]);
    assert!(weakened(DENY, DENY).is_empty());
}

#[test]
fn an_exception_may_be_removed_and_not_added() {
    let allow = "  - {id: a, match: {shell: {program: x}}, verdict: allow}";
    assert_eq!(weakened("  []", allow), ["rule `a` is an exception"]);
    assert!(weakened(allow, "  []").is_empty());
    let overriding = "  - {id: a, match: {shell: {program: x}}, verdict: allow, overrides: [b]}";
    assert_eq!(weakened(allow, overriding), ["rule `a` overrides further rules"]);
    assert!(weakened(overriding, allow).is_empty());
}

#[test]
fn a_change_is_weaker_unless_it_can_only_be_stricter() {
    let a = |match_: &str, rest: &str| format!("  - {{id: a, match: {match_}, {rest}}}");
    let base = a("{shell: {program: [x, y], not: {option: [n]}}}", "verdict: ask");
    let stricter = [
        a("{shell: {program: [x, y], not: {option: [n]}}}", "verdict: deny"),
        a("{shell: {program: [x, y], not: {option: [n]}}}", "verdict: ask, locked: true, severity: low"),
        a("{shell: {program: [x, y, z], not: {option: [n]}}}", "verdict: ask, reason: because, nudge: do"),
        a("{shell: {program: [x, y]}}", "verdict: ask"),
        a("{shell: {program: [x, y], not: {option: [n]}}}", "verdict: ask, unparsed: deny"),
        a("{shell: {program: [x, y], not: {option: [n]}}}", "verdict: ask, project_scripts: true"),
        a("{shell: {program: [x, y], not: {option: [n]}}}", "verdict: ask, label: seen"),
    ];
    for stricter in &stricter {
        assert_eq!(weakened(&base, stricter), Vec::<String>::new(), "{stricter}");
        assert!(
            !weakened(stricter, &base).is_empty()
                || stricter.contains("reason") && weakened(stricter, &base).is_empty(),
            "{stricter}"
        );
    }
    let weaker = [
        (a("{shell: {program: [x], not: {option: [n]}}}", "verdict: ask"), "conditions"),
        (a("{shell: {program: [x, y], not: {option: [n, m]}}}", "verdict: ask"), "conditions"),
        (a("{shell: {program: [x, y, '!x'], not: {option: [n]}}}", "verdict: ask"), "conditions"),
        (a("{shell: {program: [x, y], words: [z], not: {option: [n]}}}", "verdict: ask"), "conditions"),
        (a("{tool: shell}", "verdict: ask"), "conditions"),
        (a("{shell: {program: [x, y], not: {option: [n]}}}", "verdict: ask, mode: monitor"), "monitored"),
        (a("{shell: {program: [x, y], not: {option: [n]}}}", "verdict: ask, expires: 2099-01-01"), "time"),
        (a("{shell: {program: [x, y], not: {option: [n]}}}", "verdict: ask, unparsed: ignore"), "effects"),
        (a("{shell: {program: [x, y], not: {option: [n]}}}", "verdict: ask, when: 'false'"), "effects"),
        (a("{shell: {program: [x, y], not: {option: [n]}}}", "verdict: ask, on_match: snapshot"), "effects"),
        (
            a(
                "{shell: {program: [x, y], not: {option: [n]}}}",
                "verdict: ask, limit: {count: 1, window: 1h}",
            ),
            "effects",
        ),
        (
            a("{shell: {program: [x, y], not: {option: [n]}}}", "verdict: ask, build_machines: false"),
            "effects",
        ),
        (a("{shell: {program: [x, y], not: {option: [n]}}}", "verdict: allow"), "verdict"),
    ];
    for (weaker, word) in &weaker {
        let found = weakened(&base, weaker);
        assert!(found.iter().any(|text| text.contains(word)), "{weaker}: {found:?}");
    }
}

#[test]
fn an_exception_may_become_narrower() {
    let wide = "  - {id: a, match: {effect: {does: [delete], path: ['/a/**', '/b/**']}}, verdict: allow}";
    let narrow = "  - {id: a, match: {effect: {does: [delete], path: ['/a/**']}}, verdict: allow}";
    assert!(weakened(wide, narrow).is_empty());
    assert_eq!(weakened(narrow, wide), ["rule `a` has other conditions, which may be less strict"]);
    let ends = "  - {id: a, match: {effect: {does: [delete], path: ['/a/**']}}, verdict: allow, expires: 2099-01-01}";
    assert!(weakened(narrow, ends).is_empty());
    assert_eq!(weakened(ends, narrow), ["rule `a` applies for another time"]);
    let over = ends.replace("2099", "2001");
    assert_eq!(weakened(&over, ends), ["rule `a` is an exception"], "it had expired");
    assert_eq!(weakened(&DENY.replace("deny}", "deny, expires: 2001-01-01}"), "  []"), Vec::<String>::new());
}

#[test]
fn a_label_that_permits_something_is_weaker() {
    let permits = "  - {id: p, match: {tool: shell, not: {label: ok}}, verdict: deny}";
    let marks = "  - {id: m, match: {shell: {program: x}}, verdict: none, label: ok}";
    assert!(weakened("  []", marks).is_empty());
    let both = format!("{permits}\n{marks}");
    assert_eq!(weakened(permits, &both), ["rule `m` sets a label that another rule treats as an exception"]);
    assert_eq!(weakened(marks, "  []"), ["rule `m` is removed"]);
}

#[test]
fn a_rule_that_changes_calls_is_weaker() {
    let rewrites =
        "  - {id: r, match: {shell: {program: x}}, verdict: none, rewrite: {command: 'y {command}'}}";
    assert_eq!(weakened("  []", rewrites), ["rule `r` changes calls"]);
}

#[test]
fn the_order_of_a_file_with_first_match_counts() {
    let file = |ids: &[&str]| {
        let rule = |id: &&str| format!("  - {{id: {id}, match: {{shell: {{program: x}}}}, verdict: ask}}\n");
        let rules = ids.iter().map(rule).collect::<Vec<_>>().concat();
        let text = format!("version: 1\norder: first\nrules:\n{rules}");
        let source =
            RuleSource { name: "7/f.yaml", text: &text, layer: SourceLayer::Organisation, trusted: true };
        RuleSet::load(&[source]).rules
    };
    let now = Timestamp::from_unix_ms(NOW);
    assert!(find_weakenings(&file(&["a", "b"]), &file(&["a", "b"]), now).is_empty());
    let found = find_weakenings(&file(&["a", "b"]), &file(&["b", "a"]), now);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].to_string(), "file `f.yaml` has its rules in another order");
}

#[test]
fn descriptions_may_be_added_and_not_replaced_or_changed() {
    let found = |old: &str, new: &str| -> Vec<String> {
        let (old, new) = (rules_and_programs(DENY, old), rules_and_programs(DENY, new));
        let found = find_weakenings(&old, &new, Timestamp::from_unix_ms(NOW));
        found.iter().map(ToString::to_string).collect()
    };
    let acme = "acme:\n  operands: delete...\n";
    assert!(found("", acme).is_empty());
    assert!(found(acme, acme).is_empty());
    assert!(found(acme, &format!("{acme}other:\n  operands: delete...\n")).is_empty());
    assert_eq!(found(acme, ""), ["description of `acme` is removed"]);
    assert_eq!(found(acme, "acme:\n  operands: read...\n"), ["description of `acme` differs"]);
    assert_eq!(
        found("", "rm:\n  replaces: true\n  operands: delete...\n"),
        ["description of `rm` replaces a built-in description"]
    );
}

/// Programs of generated rules.
const PROGRAMS: &[&str] = &["alpha", "beta", "gamma", "delta"];

fn any_rules() -> impl Strategy<Value = String> {
    let programs = proptest::sample::subsequence(PROGRAMS, 1..=PROGRAMS.len());
    let except = proptest::option::of(proptest::sample::select(PROGRAMS));
    let verdict = proptest::sample::select(&["allow", "ask", "deny"][..]);
    let extra = proptest::sample::select(&["", ", mode: monitor", ", locked: true", ", unparsed: deny"][..]);
    let rule = (programs, except, verdict, extra, any::<bool>()).prop_map(
        |(programs, except, verdict, extra, not)| {
            let mut programs: Vec<String> = programs.iter().map(|name| (*name).to_owned()).collect();
            programs.extend(except.map(|name| format!("'!{name}'")));
            let not = if not { ", not: {option: [n]}" } else { "" };
            let extra = if verdict == "allow" && extra.contains("unparsed") { "" } else { extra };
            format!(
                "match: {{shell: {{program: [{}]{not}}}}}, verdict: {verdict}{extra}",
                programs.join(", ")
            )
        },
    );
    proptest::collection::vec(proptest::option::of(rule), 3).prop_map(|rules| {
        let rules: String = (0..)
            .zip(rules)
            .filter_map(|(number, rule)| Some(format!("  - {{id: r{number}, {}}}\n", rule?)))
            .collect();
        if rules.is_empty() { "  []".to_owned() } else { rules }
    })
}

fn decide(rules: &RuleSet, command: &str) -> Decision {
    use tenterhook_event::{Event, EventId, EventKind, ToolCall};
    let (id, ts) = (EventId::from_parts(1, 2), Timestamp::from_unix_ms(NOW));
    let mut event = Event::new(id, ts, "claude-code", EventKind::PreTool, "PreToolUse");
    event.cwd = Some("/home/u/p".to_owned());
    event.tool = Some(ToolCall::new("Bash", serde_json::json!({"command": command})));
    let facts = crate::facts(&event, &crate::EvalEnvironment::default());
    let findings = crate::judge(&event, &facts, &SessionState::default(), rules).findings;
    findings.iter().map(|finding| finding.decision).max().unwrap_or_default()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// The promise itself: if no weakening is reported, no call gets a less strict verdict.
    #[test]
    fn a_change_without_a_weakening_makes_no_call_less_strict(old in any_rules(), new in any_rules()) {
        let (old, new) = (rules_of(&old), rules_of(&new));
        if find_weakenings(&old, &new, Timestamp::from_unix_ms(NOW)).is_empty() {
            for program in PROGRAMS {
                for command in [format!("{program} a"), format!("{program} -n a"), format!("{program} $(")] {
                    let (before, after) = (decide(&old, &command), decide(&new, &command));
                    // An exception that is gone leaves the decision to the harness.
                    let is_weaker = after < before && !(before == Decision::Allow && after == Decision::None);
                    prop_assert!(!is_weaker, "{command}: {before} then {after}");
                }
            }
        }
    }

    #[test]
    fn rules_do_not_weaken_themselves(rules in any_rules()) {
        let found = find_weakenings(&rules_of(&rules), &rules_of(&rules), Timestamp::from_unix_ms(NOW));
        prop_assert!(found.is_empty());
    }
}
