// SPDX-License-Identifier: Apache-2.0 OR MIT

use serde_json::json;
use tenterhook_document::{Node, Value, parse};
use tenterhook_event::{Event, EventId, EventKind, Timestamp, ToolCall};

use super::*;
use crate::{Judgement, SessionState, Surroundings, facts, judge};

const OWN: &str = r#"
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
const FIRST: &str = "
version: 1
order: first
mode: monitor
rules:
  - {id: first/a, match: {shell: {program: one}}, verdict: deny}
  - {id: first/b, match: {shell: {program: [one, two]}}, verdict: ask, mode: enforce}
";

fn sources() -> Vec<Source<'static>> {
    let own = |name, text, layer, trusted| Source { name, text, layer, trusted };
    let mut sources: Vec<_> = RuleSet::packs().iter().map(|pack| pack.source).collect();
    sources.push(own("org.yaml", FIRST, Layer::Organisation, true));
    sources.push(own("own.yaml", OWN, Layer::User, true));
    let project = "version: 1\nrules:\n  - {id: p/x, match: {shell: {program: xi}}, verdict: deny}\n";
    sources.push(own("p/.tenterhook.yaml", project, Layer::Project, false));
    sources
}

/// Every text anywhere in the examples of the packs, and some of our own.
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

fn judged(set: &RuleSet, command: &str, kind: EventKind) -> Judgement {
    let mut event =
        Event::new(EventId::from_parts(1, 1), Timestamp::from_unix_ms(1), "claude-code", kind, "PreToolUse");
    event.cwd = Some("/home/dev/shop".into());
    event.tool = Some(ToolCall::new("Bash", json!({"command": command})));
    let around = Surroundings { home: Some("/home/dev"), groups: &["wheel"], ..Surroundings::default() };
    judge(&event, &facts(&event, &around), &SessionState::default(), set)
}

#[test]
fn pressed_rules_judge_as_the_rules_they_were() {
    let (sources, choices) = (sources(), Choices { disabled: &["own/group"], ..Choices::default() });
    let set = RuleSet::load_in_haste_with(&sources, &choices).rules;
    let bytes = Arc::new(RuleSet::press(&sources, &choices).unwrap());
    let pressed = RuleSet::from_pressed(&bytes, 0).unwrap();
    assert_eq!((pressed.digest(), pressed.count()), (set.digest(), set.count()));
    assert!(pressed.is_stateful(EventKind::PreTool) && !pressed.is_stateful(EventKind::Stop));
    assert_eq!((pressed.asks_for_groups(), set.asks_for_groups()), (false, false));
    let commands = commands();
    assert!(commands.len() > 400, "{}", commands.len());
    let kind = EventKind::PreTool;
    for (number, command) in commands.iter().enumerate() {
        let expected = judged(&set, command, kind);
        // As a hook sees it: read anew for one call. And as a set that was asked before.
        if number % 5 == 0 || command.len() < 12 {
            let fresh = RuleSet::from_pressed(&bytes, 0).unwrap();
            assert_eq!(judged(&fresh, command, kind), expected, "{command}");
        } else {
            assert_eq!(judged(&pressed, command, kind), expected, "{command}");
        }
    }
    assert_eq!(pressed.rule("own/limited").map(Rule::id), Some("own/limited"));
    assert!(!pressed.counts_together("own/limited") && pressed.rule("own/nothing").is_none());
}

#[test]
fn one_call_compiles_few_rules() {
    let bytes = RuleSet::press(RuleSet::baseline_sources(), &Choices::default()).unwrap();
    let set = RuleSet::from_pressed(&bytes.into(), 0).unwrap();
    judged(&set, "ls -la src", EventKind::PreTool);
    let Rules::Pressed(slots) = &set.rules else { panic!() };
    let whole = slots.iter().filter(|slot| slot.whole.get().is_some()).count();
    assert!(whole * 4 < slots.len(), "{whole} of {}", slots.len());
}

#[test]
fn bytes_that_were_cut_or_changed_never_panic_and_open_nothing() {
    let sources = sources();
    let bytes = RuleSet::press(&sources, &Choices::default()).unwrap();
    for length in (0..bytes.len()).step_by(19_997) {
        if let Some(set) = RuleSet::from_pressed(&bytes[..length].to_vec().into(), 0) {
            judged(&set, "rm -rf /", EventKind::PreTool);
        }
    }
    for at in (0..bytes.len()).step_by(9_973) {
        let mut changed = bytes.clone();
        changed[at] ^= 0x55;
        if let Some(set) = RuleSet::from_pressed(&changed.into(), 0) {
            judged(&set, "rm -rf / && omega -x", EventKind::PreTool);
        }
    }
    let text = std::str::from_utf8(&bytes).map_or_else(|_| bytes.clone(), |text| text.as_bytes().to_vec());
    let at = text.windows(12).position(|part| part == b"\"verdict\":\"d").unwrap();
    let mut broken = text;
    broken[at] = b'!';
    let set = RuleSet::from_pressed(&broken.into(), 0).unwrap();
    assert!(set.rules().any(|rule| rule.reason() == Some("a rule of the snapshot cannot be read")));
}
