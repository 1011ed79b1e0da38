// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Mistakes that are refused, each where it stands.

use super::*;

/// What is wrong with a rule, if one thing is.
fn wrong(rule: &str) -> String {
    let loaded = user(&format!("version: 1\nlists: {{known: [a]}}\nrules:\n- {{id: x, {rule}}}\n"));
    let [problem] = loaded.problems.as_slice() else { panic!("{rule}: {:?}", loaded.problems) };
    assert_eq!(loaded.rules.rules().count(), 0, "{rule}");
    problem.to_string()
}

#[test]
fn a_mistake_is_refused_where_it_stands() {
    let table = [
        ("match: {effect: {}}, verdict: deny", "4:19: rule `x`: it has no condition"),
        ("match: {path: []}, verdict: deny", "4:25: rule `x`: an empty list matches nothing"),
        (
            "match: {regex: {command: ['a', '(b']}}, verdict: deny",
            "4:42: rule `x`: `(b` is no regular expression: unclosed group",
        ),
        (
            "match: {regex: {command: 'a{900}{900}'}}, verdict: deny",
            "4:36: rule `x`: `a{900}{900}` is no regular expression: compiled regex exceeds size limit of 1048576 bytes.",
        ),
        (
            "match: {host: 'https://x.org/y'}, verdict: deny",
            "4:25: rule `x`: `https://x.org/y` is an address, not a host; write `x.org`",
        ),
        (
            "match: {host: ['x.org:443']}, verdict: deny",
            "4:26: rule `x`: `x.org:443` has a port, which stands apart: `url: {host: x.org, port: 443}`",
        ),
        (
            "match: {host: x.org, url: {host: y.org}}, verdict: deny",
            "4:3: rule `x`: `host` and `url.host` are the same; one is enough",
        ),
        (
            "match: {path: '@knwon'}, verdict: deny",
            "4:25: rule `x`: there is no list `knwon`; did you mean `@known`?",
        ),
        (
            "match: {effect: {dose: read}}, verdict: deny",
            "4:28: rule `x`: no such key here: `dose`; did you mean `does`?",
        ),
        (
            "match: {effect: {does: raed}}, verdict: deny",
            "4:34: rule `x`: no such word here: `raed`; did you mean `read`?",
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
            "4:66: rule `x`: `soon` is no length of time (a number and `s`, `m`, `h` or `d`)",
        ),
        (
            "match: {tool: shell}, verdict: deny, expires: tomorrow",
            "4:48: rule `x`: `tomorrow` is no day or moment (`2026-12-31`, `2026-12-31T18:00:00Z`)",
        ),
        (
            "match: {tool: shell}, verdict: deny, label: Big Words",
            "4:55: rule `x`: `Big Words` is no label (small letters, digits, `-`, `.`, `_`, `/`; at most 64)",
        ),
        (
            "match: {tool: shell}, verdict: deny, rewrite: {set: {a: 1}}",
            "4:3: rule `x`: `rewrite` goes with `verdict: allow` or `verdict: none`",
        ),
        (
            "match: {tool: shell}, verdict: none, rewrite: {}",
            "4:3: rule `x`: `rewrite` changes nothing: it needs `set` or `command`",
        ),
        (
            "match: {tool: shell}, verdict: none",
            "4:3: rule `x`: a rule with `verdict: none` needs a `label` or a `rewrite`, else it does nothing",
        ),
        (
            "match: {tool: shell}, verdict: deny, overrides: [y]",
            "4:3: rule `x`: only a rule with `verdict: allow` has `overrides`",
        ),
        (
            "match: {tool: shell}, verdict: allow, overrides: [y]",
            "4:3: rule `x`: a rule with `overrides` must say narrowly what it allows: with `shell`, `effect`, `path`, \
             `url`, `host`, `mcp`, `package` or `regex`",
        ),
        ("match: {path: a}, verdict: allow, overrides: x", "4:3: rule `x`: a rule cannot override itself"),
        (
            "match: {path: a}, verdict: allow, unparsed: deny",
            "4:3: rule `x`: `unparsed` is for rules that ask or deny",
        ),
        (
            "match: {tool: shell, not: {}}, verdict: deny",
            "4:3: rule `x`: what stands in `not` has no condition, so the rule could never match",
        ),
        (
            "match: {regex: {prompt: a}}, verdict: deny",
            "4:3: rule `x`: it looks at prompts, which these events do not have; say `event: prompt`",
        ),
        (
            "match: {event: stop, shell: {program: a}}, verdict: deny",
            "4:3: rule `x`: it looks at a tool call, which `stop` events do not have",
        ),
        (
            "match: {tool: ['!Bash']}, verdict: deny",
            "4:19: rule `x`: a list of tools must name at least one to match",
        ),
    ];
    let found: Vec<_> = table.iter().map(|(rule, _)| wrong(rule)).collect();
    let expected: Vec<_> = table.iter().map(|(_, message)| format!("rules.yaml:{message}")).collect();
    let differ: Vec<_> =
        found.iter().zip(&expected).filter(|(found, expected)| !found.starts_with(*expected)).collect();
    assert!(differ.is_empty(), "{differ:#?}");
}

#[test]
fn every_mistake_of_a_rule_is_reported_at_once() {
    let loaded = user(
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
        "rules.yaml:4:30: rule `Bad Id`: `(b` is no regular expression",
        "rules.yaml:4:43: rule `Bad Id`: `x.org:443` has a port",
        "rules.yaml:4:56: rule `Bad Id`: no such key here: `shel`; did you mean `shell`?",
        "rules.yaml:5:5: rule `Bad Id`: no such key here: `verdikt`; did you mean `verdict`?",
        "rules.yaml:6:5: rule `Bad Id`: column 5: the condition is a field of the event, never true or false",
        "rules.yaml:7:5: rule `worse`: only a rule of the organisation can be `locked`",
        "rules.yaml:7:5: rule `worse`: a rule with `verdict: none` needs a `label` or a `rewrite`",
        "rules.yaml:7:5: rule `worse`: `limit.count` must be from 1 to 1000",
        "rules.yaml:8:13: rule `worse`: a list of tools must name at least one to match",
    ];
    assert_eq!(problems.len(), starts.len(), "{problems:#?}");
    for (problem, start) in problems.iter().zip(starts) {
        assert!(problem.starts_with(start), "{problem}\n{start}");
    }
}

#[test]
fn what_is_probably_not_meant_is_warned_about_and_stands() {
    let loaded = user(
        "version: 1
rules:
  - {id: wide, match: {tool: shell}, verdict: allow}
  - {id: lost, match: {path: a}, verdict: allow, overrides: [nobody]}
",
    );
    assert_eq!(loaded.problems, []);
    let warnings: Vec<_> =
        loaded.rules.warnings(Timestamp::from_unix_ms(0)).iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        [
            "rules.yaml:3: rule `wide`: it allows whatever the tool would do: say what, with `shell`, `effect`, `path`, \
             `host`, …",
            "rules.yaml:4: rule `lost`: it overrides `nobody`, which is no rule in force",
        ]
    );
    assert_eq!(loaded.rules.rules().count(), 2);
}

#[test]
fn what_a_file_says_of_itself_is_checked_too() {
    let loaded = user(
        "version: 1\npack: x\ntitle: [a]\nenabled: maybe\norder: last\nlist: {}\nlists: {A: [b], c: d}\nrules: []\n",
    );
    let problems: Vec<_> = loaded.problems.iter().map(ToString::to_string).collect();
    assert_eq!(problems.len(), 6, "{problems:#?}");
    assert_eq!(loaded.problems[0].hint.as_deref(), Some("did you mean `lists`?"));
}
