// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Mistakes are refused and reported at their position.

use super::*;

/// Returns the problem with a rule that has exactly one mistake.
fn only_problem(rule: &str) -> String {
    let loaded = load_user(&format!("version: 1\nlists: {{known: [a]}}\nrules:\n- {{id: x, {rule}}}\n"));
    let [problem] = loaded.problems.as_slice() else { panic!("{rule}: {:?}", loaded.problems) };
    assert_eq!(loaded.rules.rules().count(), 0, "{rule}");
    problem.to_string()
}

#[test]
fn a_mistake_is_reported_at_its_position() {
    let table = [
        ("match: {effect: {}}, verdict: deny", "4:19: rule `x`: no condition is given"),
        ("match: {path: []}, verdict: deny", "4:25: rule `x`: an empty list matches nothing"),
        (
            "match: {regex: {command: ['a', '(b']}}, verdict: deny",
            "4:42: rule `x`: invalid regular expression `(b`: unclosed group",
        ),
        (
            "match: {regex: {command: 'a{900}{900}'}}, verdict: deny",
            "4:36: rule `x`: invalid regular expression `a{900}{900}`: compiled regex exceeds size limit of 1048576 bytes.",
        ),
        (
            "match: {host: 'https://x.org/y'}, verdict: deny",
            "4:25: rule `x`: `https://x.org/y` is an address, not a host; use `x.org`",
        ),
        (
            "match: {host: ['x.org:443']}, verdict: deny",
            "4:26: rule `x`: `x.org:443` has a port; use `url: {host: x.org, port: 443}`",
        ),
        (
            "match: {host: x.org, url: {host: y.org}}, verdict: deny",
            "4:3: rule `x`: `host` and `url.host` are both given; keep one of them",
        ),
        (
            "match: {path: '@knwon'}, verdict: deny",
            "4:25: rule `x`: unknown list `knwon`; did you mean `@known`?",
        ),
        (
            "match: {effect: {dose: read}}, verdict: deny",
            "4:28: rule `x`: unknown key `dose`; did you mean `does`?",
        ),
        (
            "match: {effect: {does: raed}}, verdict: deny",
            "4:34: rule `x`: unknown value `raed`; did you mean `read`?",
        ),
        (
            "match: {tool: shell}, when: 'tool.nmae == 1', verdict: deny",
            "4:33: rule `x`: column 1: `tool` has no field `nmae`",
        ),
        (
            "match: {tool: shell}, verdict: deny, locked: true",
            "4:3: rule `x`: only a rule of the organisation can be `locked`",
        ),
        (
            "match: {tool: shell}, verdict: deny, limit: {count: 0, window: 1h}",
            "4:3: rule `x`: `limit.count` must be from 1 to 1000",
        ),
        (
            "match: {tool: shell}, verdict: deny, limit: {count: 1, window: soon}",
            "4:66: rule `x`: invalid time window `soon` (use a number and `s`, `m`, `h` or `d`)",
        ),
        (
            "match: {tool: shell}, verdict: deny, expires: tomorrow",
            "4:48: rule `x`: invalid date or time `tomorrow` (use `2026-12-31` or `2026-12-31T18:00:00Z`)",
        ),
        (
            "match: {tool: shell}, verdict: deny, label: Big Words",
            "4:55: rule `x`: invalid label `Big Words` (use lower-case letters, digits, `-`, `.`, `_`, `/`; at most 64)",
        ),
        (
            "match: {tool: shell}, verdict: deny, rewrite: {set: {a: 1}}",
            "4:3: rule `x`: `rewrite` requires `verdict: allow` or `verdict: none`",
        ),
        (
            "match: {tool: shell}, verdict: none, rewrite: {}",
            "4:3: rule `x`: `rewrite` needs `set` or `command`; otherwise it has no effect",
        ),
        (
            "match: {tool: shell}, verdict: none",
            "4:3: rule `x`: a rule with `verdict: none` needs a `label`, a `rewrite` or `on_match`; otherwise it has no effect",
        ),
        (
            "match: {tool: shell}, verdict: deny, overrides: [y]",
            "4:3: rule `x`: `overrides` requires `verdict: allow`",
        ),
        (
            "match: {tool: shell}, verdict: allow, overrides: [y]",
            "4:3: rule `x`: a rule with `overrides` must say what it allows, with `shell`, `effect`, `path`, \
             `url`, `host`, `mcp`, `package` or `regex`",
        ),
        ("match: {path: a}, verdict: allow, overrides: x", "4:3: rule `x`: a rule cannot override itself"),
        (
            "match: {path: a}, verdict: allow, unparsed: deny",
            "4:3: rule `x`: `unparsed` requires `verdict: ask` or `verdict: deny`",
        ),
        (
            "match: {tool: shell, not: {}}, verdict: deny",
            "4:3: rule `x`: an entry of `not` has no condition, so the rule could never match",
        ),
        (
            "match: {regex: {prompt: a}}, verdict: deny",
            "4:3: rule `x`: a condition on prompts needs `event: prompt`",
        ),
        (
            "match: {event: stop, shell: {program: a}}, verdict: deny",
            "4:3: rule `x`: a condition on a tool call cannot match: `stop` events have none",
        ),
        ("match: {tool: ['!Bash']}, verdict: deny", "4:19: rule `x`: the list of tools has only exclusions"),
    ];
    let found: Vec<_> = table.iter().map(|(rule, _)| only_problem(rule)).collect();
    let expected: Vec<_> = table.iter().map(|(_, message)| format!("rules.yaml:{message}")).collect();
    let differ: Vec<_> =
        found.iter().zip(&expected).filter(|(found, expected)| !found.starts_with(*expected)).collect();
    assert!(differ.is_empty(), "{differ:#?}");
}

#[test]
fn every_mistake_of_a_rule_is_reported_at_once() {
    let loaded = load_user(
        "version: 1
rules:
  - id: Bad Id
    match: {regex: {command: '(b'}, host: 'x.org:443', shel: {program: ls}}
    verdikt: deny
    when: tool.name
  - id: worse
    match: {tool: ['!Bash']}
    verdict: none
    locked: true
    limit: {count: 0, window: 1h}
",
    );
    let problems: Vec<_> = loaded.problems.iter().map(ToString::to_string).collect();
    let starts = [
        "rules.yaml:4:30: rule `Bad Id`: invalid regular expression `(b`",
        "rules.yaml:4:43: rule `Bad Id`: `x.org:443` has a port",
        "rules.yaml:4:56: rule `Bad Id`: unknown key `shel`; did you mean `shell`?",
        "rules.yaml:5:5: rule `Bad Id`: unknown key `verdikt`; did you mean `verdict`?",
        "rules.yaml:6:5: rule `Bad Id`: column 5: the condition is a field of the event, never true or false",
        "rules.yaml:7:5: rule `worse`: only a rule of the organisation can be `locked`",
        "rules.yaml:7:5: rule `worse`: a rule with `verdict: none` needs a `label`, a `rewrite` or `on_match`",
        "rules.yaml:7:5: rule `worse`: `limit.count` must be from 1 to 1000",
        "rules.yaml:8:13: rule `worse`: the list of tools has only exclusions",
    ];
    assert_eq!(problems.len(), starts.len(), "{problems:#?}");
    for (problem, start) in problems.iter().zip(starts) {
        assert!(problem.starts_with(start), "{problem}\n{start}");
    }
}

#[test]
fn a_probable_mistake_is_only_warned_about() {
    let loaded = load_user(
        "version: 1
rules:
  - {id: wide, match: {tool: shell}, verdict: allow}
  - {id: lost, match: {path: a}, verdict: allow, overrides: [gone]}
",
    );
    assert_eq!(loaded.problems, []);
    let warnings: Vec<_> =
        loaded.rules.warnings(Timestamp::from_unix_ms(0)).iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        [
            "rules.yaml:3: rule `wide`: it allows anything that the tool does; add a condition such as `shell`, `effect`, \
             `path` or `host`",
            "rules.yaml:4: rule `lost`: it overrides `gone`, but no such rule is active",
        ]
    );
    assert_eq!(loaded.rules.rules().count(), 2);
}

#[test]
fn the_keys_of_a_file_are_checked_too() {
    let loaded = load_user(
        "version: 1\npack: x\ntitle: [a]\nenabled: maybe\norder: last\nlist: {}\nlists: {A: [b], c: d}\nrules: []\n",
    );
    let problems: Vec<_> = loaded.problems.iter().map(ToString::to_string).collect();
    assert_eq!(problems.len(), 6, "{problems:#?}");
    assert_eq!(loaded.problems[0].hint.as_deref(), Some("did you mean `lists`?"));
}
