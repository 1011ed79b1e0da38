// SPDX-License-Identifier: Apache-2.0 OR MIT

use super::{left_out, rules};
use crate::{ImportedRules, OpenAgentLockMode, import_openagentlock, import_openagentlock_in_mode};

fn import(gates: &str) -> ImportedRules {
    import_openagentlock("policy.yaml", &format!("version: 1\nmode: enforce\ngates:\n{gates}")).unwrap()
}

#[test]
fn a_gate_becomes_a_rule_with_its_id_and_its_words() {
    let imported = import(
        "  - id: rogue.clean\n    severity: high\n    source: registry\n    match: {tool: Bash, command_regex: \"^make clean\"}\n    evaluate: [{kind: always, action: deny, nudge: \"remove build/ instead\"}]\n",
    );
    let expected = "\
# Made by `tenterhook policy import` from OpenAgentLock's policy.yaml.
# The first matching rule decides; `verdict: none` ends the search without allowing.
version: 1
order: first
rules:
  - id: rogue.clean
    description: Denies every match (gate rogue.clean)
    severity: high
    match:
      tool: Bash
      regex:
        command: ['^make clean']
    verdict: deny
    nudge: remove build/ instead
";
    assert_eq!(imported, ImportedRules { yaml: expected.to_owned(), carried: 1, left_out: Vec::new() });
}

#[test]
fn every_condition_has_its_counterpart() {
    let imported = import(
        r#"  - id: all
    match:
      any_of:
        - {tool: Bash, command_regex: "a", any_command_regex: ["b", "c"]}
        - {tool_prefix: "mcp_", any_path_regex: ["\\.env$"], any_url_regex: ["^http:"]}
        - {tool: Read, path_glob: "**/.ssh/**"}
        - {tool: shell}
        - {path_glob: "/srv/**.pem"}
    evaluate: [{kind: always, action: allow, nudge: "nobody sees it"}]
"#,
    );
    let expected = r"  - id: all
    description: Exempts every match (gate all)
    match:
      any:
        - tool: Bash
          regex:
            command: [a, b, c]
        - tool: mcp_*
          regex:
            path: ['\.env$']
            url: ['^http:']
        - tool: Read
          path: ['**/.ssh/**']
        - tool: '[s]hell'
        - path: ['/srv/**/*.pem']
    verdict: none
";
    assert_eq!(rules(&imported), expected);
    assert_eq!(imported.left_out, []);
}

#[test]
fn two_stars_against_letters_are_more_of_the_name_or_what_is_below() {
    let globs = |theirs: &str| {
        let imported = import(&format!(
            "  - {{id: x, match: {{path_glob: \"{theirs}\"}}, evaluate: [{{kind: always, action: deny}}]}}\n"
        ));
        let lines = imported.yaml.lines().map(str::trim);
        lines.filter_map(|line| line.strip_prefix("path: ")).map(ToOwned::to_owned).collect::<String>()
    };
    assert_eq!(globs("**"), "['**']");
    assert_eq!(globs("**.pem"), "['**/*.pem']");
    assert_eq!(globs("/srv/**/x"), "['/srv/**/x']");
    assert_eq!(globs("/srv/a**/x"), "['/srv/a*/**/x']");
    assert_eq!(globs("/srv/a**"), "['/srv/a*/**', '/srv/a*']");
    assert_eq!(globs("/srv/a**z"), "['/srv/a*/**/*z', '/srv/a*z']");
    assert_eq!(globs("/srv/{a}[b]?*"), "['/srv/?a??b??*']");
    assert!(globs(&"a**".repeat(40)).len() < 64 * 200, "no more than anybody reads");
}

#[test]
fn several_evaluators_are_asked_in_their_order_and_keep_the_gates_reason() {
    let imported = import(
        r#"  - id: sc.pkg
    match: {tool: Bash, command_regex: "^pip "}
    evaluate:
      - {kind: typosquat, reference: "__INLINE__:requests, flask", nudge: "check the spelling"}
      - {kind: allowlist, list: "__INLINE__:requests,flask", on_hit: allow, on_miss: deny}
"#,
    );
    let expected = r#"  - id: sc.pkg
    description: Denies a package whose name is similar to a known one (gate sc.pkg)
    match:
      tool: Bash
      regex:
        command: ['^pip ']
      package:
        near: [requests, flask]
    verdict: deny
    nudge: check the spelling
  - id: sc.pkg/2
    description: Denies packages that are not on its list (gate sc.pkg)
    match:
      tool: Bash
      regex:
        command: ['^pip ']
      any:
        - package:
            name: ['*', '!requests', '!flask']
            from: [registry, index, git, url]
        - regex:
            command: ['(?:\A|[(;|&\s])(?:-i|add|install)\s+(?:-\S*\s+)*[''"]?[@/.\w]']
          not:
            - package:
                from: [registry, index, git, url]
            - regex:
                command:
                  - '(?:\A|[(;|&\s])(?:-i|add|install)\s+(?:-\S*\s+)*[''"]?(?:requests|flask)(?:[^-/.\w]|\z)'
    verdict: deny
    reason: matched rule sc.pkg (deny)
  - id: sc.pkg/3
    description: Exempts the other packages (gate sc.pkg)
    match:
      tool: Bash
      regex:
        command: ['^pip ']
      any:
        - package:
            from: [registry, index, git, url]
        - regex:
            command: ['(?:\A|[(;|&\s])(?:-i|add|install)\s+(?:-\S*\s+)*[''"]?[@/.\w]']
    verdict: none
"#;
    assert_eq!(rules(&imported), expected);
    assert_eq!((imported.carried, imported.left_out.len()), (1, 0));
}

#[test]
fn skip_says_nothing_and_a_list_can_be_one_of_what_is_denied() {
    let verdicts = |hit: &str, miss: &str| {
        let imported = import(&format!(
            "  - id: x\n    match: {{tool: WebFetch}}\n    evaluate: [{{kind: host-allowlist, list: \"__INLINE__:A.org\", on_hit: {hit}, on_miss: {miss}}}]\n"
        ));
        let lines = imported.yaml.lines().map(str::trim);
        let wanted = |line: &&str| ["verdict:", "host:", "not:"].iter().any(|key| line.starts_with(key));
        lines.filter(wanted).map(ToOwned::to_owned).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(verdicts("deny", "skip"), "host: [a.org] verdict: deny");
    assert_eq!(verdicts("deny", "allow"), "host: [a.org] verdict: deny verdict: none");
    assert_eq!(verdicts("skip", "deny"), "host: ['*', '!a.org'] not: verdict: deny");
    assert_eq!(verdicts("deny", "deny"), "verdict: deny");
    assert_eq!(verdicts("allow", "allow"), "verdict: none");
    assert_eq!(verdicts("allow", "skip"), "host: [a.org] verdict: none");
    assert_eq!(verdicts("skip", "allow"), "host: ['*', '!a.org'] not: verdict: none");
    assert_eq!(verdicts("skip", "skip"), "");
}

#[test]
fn whose_mode_it_is_decides_about_reason_and_force() {
    let text = |head: &str, mode: &str| {
        format!(
            "{head}gates:\n  - {{id: g, {mode}match: {{tool: X}}, evaluate: [{{kind: always, action: deny}}]}}\n"
        )
    };
    let said = |daemon, head: &str, mode: &str| {
        let yaml = import_openagentlock_in_mode(daemon, "p.yaml", &text(head, mode)).unwrap().yaml;
        let reason =
            yaml.lines().find_map(|line| line.trim().strip_prefix("reason: ")).map(ToOwned::to_owned);
        (yaml.contains("\nmode: monitor\n"), reason.unwrap_or_default())
    };
    let escalated = "monitor match escalated by daemon firewall mode (rule g)";
    assert_eq!(said(OpenAgentLockMode::Firewall, "mode: enforce\n", ""), (false, String::new()));
    assert_eq!(
        said(OpenAgentLockMode::Firewall, "", ""),
        (false, escalated.to_owned()),
        "no mode is `monitor`"
    );
    assert_eq!(said(OpenAgentLockMode::Firewall, "mode: monitor\n", ""), (false, escalated.to_owned()));
    assert_eq!(
        said(OpenAgentLockMode::Firewall, "mode: monitor\n", "mode: enforce, "),
        (false, String::new())
    );
    assert_eq!(
        said(OpenAgentLockMode::Firewall, "mode: enforce\n", "mode: monitor, "),
        (false, escalated.to_owned())
    );
    let suppressed = "deny suppressed by daemon monitor mode";
    assert_eq!(said(OpenAgentLockMode::Monitor, "mode: enforce\n", ""), (true, suppressed.to_owned()));
    assert_eq!(
        said(OpenAgentLockMode::Monitor, "", ""),
        (true, "'monitor: matched rule g (deny)'".to_owned())
    );
}

#[test]
fn a_repositorys_file_becomes_a_projects_and_can_only_deny() {
    let text = r#"version: 1
gates:
  - {id: repo.no-deploy, match: {tool: Bash, command_regex: "^deploy"}, evaluate: [{kind: always, action: deny}]}
  - {id: repo.open, match: {tool: Bash}, evaluate: [{kind: always, action: allow}]}
  - id: repo.hosts
    match: {tool: WebFetch}
    evaluate: [{kind: host-allowlist, list: "__INLINE__:a.org", on_hit: allow, on_miss: deny}]
"#;
    let imported = import_openagentlock("work/.agentlock.yaml", text).unwrap();
    assert!(!imported.yaml.contains("order:") && !imported.yaml.contains("none"), "{}", imported.yaml);
    assert_eq!(imported.yaml.matches("verdict: deny").count(), 2);
    assert!(!imported.yaml.contains("reason:"), "the repository's file has the mode of the policy it joins");
    assert_eq!(left_out(&imported), ["work/.agentlock.yaml:4:5: gate `repo.open`: it can never deny"]);
}

#[test]
fn everything_that_is_not_converted_is_reported_with_its_position() {
    let text = r#"version: 1
mode: enforce
defaults: {bash: allow}
inherits: [base]
gates:
  - id: off
    disabled: true
    match: {tool: Bash}
    evaluate: [{kind: always, action: deny}]
  - id: pins
    match: {tool_prefix: mcp_}
    evaluate: [{kind: pin-tofu, store: pins.json, on_unknown: deny, on_known: allow, on_changed: deny}]
  - id: lists
    precedence: priority
    priority: 3
    severity: awful
    require_strong: true
    match: {tool: Bash, command_regex: x, colour: red}
    evaluate:
      - {kind: allowlist, list: /etc/pkgs.txt, on_hit: allow, on_miss: deny}
      - {kind: llm, on_hit: deny}
      - {kind: always, action: deny, on_hit: allow}
  - id: lookahead
    match: {tool: Bash, any_command_regex: ["ok", "(?!)"]}
    evaluate: [{kind: always, action: deny}]
  - {id: never, match: {tool: Bash, tool_prefix: mcp_}, evaluate: [{kind: always, action: deny}]}
  - {id: empty, match: {}, evaluate: [{kind: always, action: deny}]}
  - {match: {tool: Bash}}
  - {id: idle, match: {tool: Bash}}
"#;
    let imported = import_openagentlock("p.yaml", text).unwrap();
    assert_eq!(imported.carried, 1);
    assert_eq!(
        left_out(&imported),
        [
            "p.yaml:3:1: `defaults` has no effect in OpenAgentLock",
            "p.yaml:4:1: `inherits`: policies of groups and users",
            "p.yaml:6:5: gate `off`: it is disabled",
            "p.yaml:12:16: gate `pins`: `pin-tofu` compares with values stored in a file, which rules cannot do",
            "p.yaml:10:5: gate `pins`: none of its evaluators can be converted",
            "p.yaml:14:5: gate `lists`: `precedence` selects between gates of the same id in several layers",
            "p.yaml:15:5: gate `lists`: `priority` selects between gates of the same id in several layers",
            "p.yaml:16:15: gate `lists`: unknown `severity`",
            "p.yaml:17:5: gate `lists`: `require_strong` has no effect",
            "p.yaml:18:43: gate `lists`: unknown condition `colour`",
            "p.yaml:20:33: gate `lists`: `list` refers to another file, which is not read",
            "p.yaml:21:9: gate `lists`: unknown kind of evaluator `llm`",
            "p.yaml:22:38: gate `lists`: `on_hit` has no effect in `always`",
            "p.yaml:24:51: gate `lookahead`: a pattern cannot be converted: look-around, including look-ahead and look-behind, is not supported",
            "p.yaml:26:24: gate `never`: the tool `Bash` does not begin with `mcp_`",
            "p.yaml:27:24: gate `empty`: it has no condition",
            "p.yaml:28:5: a gate without an `id`",
            "p.yaml:29:5: gate `idle`: it has no list `evaluate`",
        ]
    );
    assert!(imported.yaml.contains("\n# Not everything could be converted: see lines 3, 4, 6, 12, 10, "));
}

#[test]
fn ids_are_adapted_and_never_taken_from_a_built_in_rule() {
    let ids = |id: &str| {
        let imported = import(&format!(
            "  - {{id: \"{id}\", match: {{tool: X}}, evaluate: [{{kind: always, action: deny}}]}}\n"
        ));
        rules(&imported)
            .lines()
            .filter(|line| line.contains("id: ") || line.contains("reason:"))
            .map(|line| line.trim().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(ids("Rogue Thing"), ["- id: rogue-thing", "reason: matched rule Rogue Thing (deny)"]);
    assert_eq!(ids("remote-code"), ["- id: remote-code/2", "reason: matched rule remote-code (deny)"]);
}

#[test]
fn an_invalid_policy_is_an_error_with_its_position() {
    let error = |text: &str| import_openagentlock("p.yaml", text).unwrap_err().to_string();
    assert_eq!(error("rules: []"), "p.yaml:1:1: the file has no `gates`");
    assert_eq!(error("mode: loud\ngates: []"), "p.yaml:1:7: `mode` must be `enforce` or `monitor`");
    assert_eq!(error("gates: 3"), "p.yaml:1:8: `gates` must be a list");
    assert!(error("gates: [").starts_with("p.yaml:"));
    assert_eq!(import_openagentlock("p.yaml", "gates:\n").unwrap().yaml.lines().last(), Some("rules: []"));
}
