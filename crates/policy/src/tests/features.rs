// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Limits, labels, expiry, exceptions, order, rewrites and CEL conditions of rules.

use tenterhook_event::Modification;

use super::*;

fn at(line: &str, ms: u64) -> Event {
    let mut event = bash(line);
    event.ts = Timestamp::from_unix_ms(ms);
    event
}

/// Returns every step, as `rule status decision`.
fn steps(judgement: &PolicyJudgement) -> Vec<String> {
    let status = |step: &tenterhook_event::TraceEntry| serde_json::to_value(step.status).unwrap();
    let step = |step: &tenterhook_event::TraceEntry| {
        format!("{} {} {}", step.by, status(step).as_str().unwrap(), step.decision)
    };
    judgement.steps.iter().map(step).collect()
}

#[test]
fn a_limited_rule_applies_after_its_limit_is_exceeded() {
    let rules = load_valid(
        "version: 1
rules:
  - {id: often, match: {shell: {program: curl}}, verdict: deny, limit: {count: 2, window: 1m}}
",
    );
    assert!(rules.is_stateful(EventKind::PreTool) && !rules.is_stateful(EventKind::Stop));
    let mut state = SessionState::default();
    let call = |ms: u64, state: &mut SessionState| {
        let judgement = judge_event(&at("curl x", ms), state, &rules);
        state.apply(&judgement.delta);
        (judgement.findings.len(), judgement.steps[0].status)
    };
    assert_eq!(call(0, &mut state), (0, TraceStatus::Skipped));
    assert_eq!(call(10_000, &mut state), (0, TraceStatus::Skipped));
    assert_eq!(call(20_000, &mut state), (1, TraceStatus::Matched));
    assert_eq!(call(30_000, &mut state), (1, TraceStatus::Matched));
    assert_eq!(call(200_000, &mut state), (0, TraceStatus::Skipped), "the window has gone by");
    assert_eq!(state.matched["often"].len(), 2, "no more is kept than is needed");
    let other = judge_event(&at("ls", 0), &state, &rules);
    assert!(other.delta.is_empty(), "what does not match is not counted");
}

#[test]
fn a_label_put_on_by_one_rule_is_seen_by_another_at_the_next_event() {
    let rules = load_valid(
        "version: 1
rules:
  - {id: sees, match: {shell: {program: cat, reads: '~/.netrc'}}, verdict: none, label: [read-secret]}
  - {id: stops, match: {label: read-secret, shell: {program: curl}}, verdict: deny}
",
    );
    let mut state = SessionState::default();
    let first = judge_event(&bash("cat ~/.netrc; curl x"), &state, &rules);
    assert_eq!(
        (first.findings.len(), first.delta.labels.as_slice()),
        (0, ["read-secret".to_owned()].as_slice())
    );
    state.apply(&first.delta);
    let next = judge_event(&bash("curl x"), &state, &rules);
    assert_eq!(steps(&next), ["rule:stops matched deny"]);
    assert!(
        judge_event(&bash("cat ~/.netrc"), &state, &rules).delta.is_empty(),
        "it carries the label already"
    );
}

#[test]
fn an_expired_rule_is_passed_over_and_warned_about() {
    let rules = load_valid(
        "version: 1
rules:
  - {id: day, match: {shell: {program: ls}}, verdict: deny, expires: 2026-12-31}
  - {id: moment, match: {shell: {program: ls}}, verdict: ask, expires: '2027-01-01T12:00:00+01:00'}
",
    );
    let ms = |text: &str| text.parse::<Timestamp>().unwrap().unix_ms();
    let before = judge_event(&at("ls", ms("2026-12-30T23:59:59Z")), &SessionState::default(), &rules);
    assert_eq!(steps(&before), ["rule:day matched deny", "rule:moment matched ask"]);
    let between = judge_event(&at("ls", ms("2026-12-31T00:00:00Z")), &SessionState::default(), &rules);
    assert_eq!(steps(&between), ["rule:day expired deny", "rule:moment matched ask"]);
    assert_eq!(between.findings.len(), 1);
    let warned =
        |now: &str| rules.warnings(now.parse().unwrap()).iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(warned("2026-12-30T00:00:00Z"), [""; 0]);
    assert_eq!(
        warned("2027-01-01T00:00:00Z"),
        ["rules.yaml:3: rule `day`: it expired on 2026-12-31T00:00:00.000Z and is ignored"]
    );
}

#[test]
fn an_exception_sets_aside_what_it_names_and_nothing_else() {
    let rules = load_valid(
        "version: 1
rules:
  - {id: no-rm, match: {shell: {program: rm}}, verdict: deny, label: removes}
  - {id: no-sudo, match: {shell: {program: sudo}}, verdict: ask}
  - {id: scratch, match: {shell: {program: rm, operand: {path: '/srv/scratch/**'}}}, verdict: allow, overrides: no-rm}
",
    );
    let state = SessionState::default();
    let judgement = judge_event(&bash("rm -r /srv/scratch/a"), &state, &rules);
    assert_eq!(steps(&judgement), ["rule:no-rm overridden deny", "rule:scratch matched allow"]);
    assert_eq!(judgement.findings.len(), 1);
    assert_eq!(judgement.delta.labels, ["removes"], "it still happened");
    for line in ["rm -r /srv/scratch/a /etc", "rm /srv/scratch/a; rm x", "rm /srv/scratch/$X"] {
        let judgement = judge_event(&bash(line), &state, &rules);
        assert_eq!(steps(&judgement), ["rule:no-rm matched deny"], "{line}");
    }
    let note = explain(&bash("rm /srv/scratch/a"), &facts(&bash("rm /srv/scratch/a"), &HOME), &state, &rules);
    assert_eq!((note[0].matched, note[0].counts), (true, false));
    assert_eq!(note[0].why, "`rm`; overridden by rule `scratch`");
}

#[test]
fn an_exception_to_an_exception_leaves_the_rule_in_force() {
    let rules = load_valid(
        "version: 1
rules:
  - {id: no, match: {shell: {program: x}}, verdict: deny}
  - {id: yes, match: {shell: {program: x}}, verdict: allow, overrides: no}
  - {id: over, match: {shell: {program: x, words: [b]}}, verdict: allow, overrides: yes}
",
    );
    let state = SessionState::default();
    assert_eq!(
        steps(&judge_event(&bash("x a"), &state, &rules)),
        ["rule:no overridden deny", "rule:yes matched allow"]
    );
    assert_eq!(
        steps(&judge_event(&bash("x b"), &state, &rules)),
        ["rule:no matched deny", "rule:yes overridden allow", "rule:over matched allow"]
    );
}

#[test]
fn in_a_file_where_the_first_decides_later_rules_are_passed_over() {
    let first = "version: 1
order: first
rules:
  - {id: watch, mode: monitor, match: {shell: {program: git}}, verdict: deny}
  - {id: mark, match: {shell: {program: git}}, verdict: none, label: git}
  - {id: read, match: {shell: {program: git, first: [log, status]}}, verdict: allow}
  - {id: rest, match: {shell: {program: git}}, verdict: deny}
";
    let second = "version: 1\nrules:\n  - {id: other, match: {shell: {program: git}}, verdict: ask}\n";
    let source = |name, text| RuleSource { name, text, layer: SourceLayer::User, trusted: true };
    let loaded = RuleSet::load(&[source("a.yaml", first), source("b.yaml", second)]);
    assert_eq!(loaded.problems, []);
    assert_eq!(
        steps(&judge_event(&bash("git log"), &SessionState::default(), &loaded.rules)),
        [
            "rule:watch monitored deny",
            "rule:mark matched none",
            "rule:read matched allow",
            "rule:rest skipped deny",
            "rule:other matched ask",
        ]
    );
    let event = bash("git log");
    let notes = explain(&event, &facts(&event, &HOME), &SessionState::default(), &loaded.rules);
    assert_eq!(notes[3].why, "`git`; rule `read` comes first in its file");
    assert_eq!(notes[0].why, "`git`; monitored only");
    assert_eq!(
        steps(&judge_event(&bash("git push"), &SessionState::default(), &loaded.rules)),
        [
            "rule:watch monitored deny",
            "rule:mark matched none",
            "rule:rest matched deny",
            "rule:other matched ask"
        ]
    );
}

#[test]
fn a_rewrite_changes_the_call_unless_the_rule_only_watches() {
    let text = "version: 1
rules:
  - id: slow
    match: {shell: {program: npm}}
    verdict: none
    rewrite: {set: {timeout: 1000}, command: 'timeout 5 bash -c {command}'}
";
    let judgement = judge_event(&bash("npm test | cat"), &SessionState::default(), &load_valid(text));
    let [finding] = judgement.findings.as_slice() else { panic!("{judgement:?}") };
    assert_eq!(finding.decision, Decision::None);
    let [Modification::ToolInput { value, .. }] = finding.modifications.as_slice() else { panic!() };
    assert_eq!(value, &json!({"timeout": 1000, "command": "timeout 5 bash -c 'npm test | cat'"}));
    let watched = text.replace("    verdict", "    mode: monitor\n    verdict");
    let judgement = judge_event(&bash("npm test"), &SessionState::default(), &load_valid(&watched));
    assert_eq!(
        (judgement.findings.len(), steps(&judgement)),
        (0, vec!["rule:slow monitored none".to_owned()])
    );
}

#[test]
fn a_condition_in_cel_decides_and_one_that_cannot_be_answered_holds() {
    let rules = load_valid(
        "version: 1
rules:
  - {id: cel, match: {tool: shell}, when: 'tool.args.command.contains(\"deploy\")', verdict: deny}
  - {id: broken, match: {tool: shell}, when: 'tool.args.nothing == \"x\"', verdict: ask}
  - {id: vouch, match: {shell: {program: make}}, when: 'tool.args.nothing == \"x\"', verdict: allow}
",
    );
    let judgement = judge_event(&bash("make deploy"), &SessionState::default(), &rules);
    assert_eq!(steps(&judgement), ["rule:cel matched deny", "rule:broken matched ask"]);
    let note = judgement.steps[1].note.as_deref().unwrap();
    assert!(note.contains("cannot be evaluated") && note.ends_with("counts as true"), "{note}");
    assert_eq!(
        steps(&judge_event(&bash("make test"), &SessionState::default(), &rules)),
        ["rule:broken matched ask"]
    );
}

#[test]
fn named_lists_stand_for_their_globs() {
    let rules = load_valid(
        "version: 1
lists:
  keys: ['~/.ssh/id_*', '~/.netrc', '!**/*.pub']
  more: ['@keys', /etc/shadow]
  safe: [ls, cat]
rules:
  - {id: list, match: {shell: {program: ['*', '!@safe'], path: ['@more']}}, verdict: deny}
  - {id: single, match: {tool: read, path: '@keys'}, verdict: deny}
  - {id: scope, match: {package: {name: '@scope/*'}}, verdict: ask}
",
    );
    let said = |line: &str| findings_of(&bash(line), &rules);
    assert_eq!(said("less ~/.ssh/id_rsa"), ["rule:list deny"]);
    assert_eq!(said("less /etc/shadow"), ["rule:list deny"]);
    assert_eq!(said("cat ~/.ssh/id_rsa"), [""; 0]);
    assert_eq!(said("less ~/.ssh/id_rsa.pub"), [""; 0]);
}
