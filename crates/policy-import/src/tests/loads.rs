// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Imported rule files can be loaded.

use crate::{OpenAgentLockMode, import_claude_permissions, import_openagentlock_in_mode};
use tenterhook_policy::{RuleSet, RuleSource, SourceLayer};

const GATES: &str = r#"
version: 1
gates:
  - id: a
    severity: critical
    match:
      any_of:
        - {tool: "It's: a \"tool\" #1", command_regex: "it's \\Q[x]\\E"}
        - {tool: shell, any_command_regex: ["${X}", "[[]", "\\t→"]}
        - {tool_prefix: "mcp_", any_path_regex: ["\\.env$"], any_url_regex: ["^http:"]}
        - {path_glob: "**"}
        - {path_glob: "**/{a}/[b]!**"}
    evaluate:
      - {kind: typosquat, reference: "__INLINE__:requests,@scope/x, *"}
      - {kind: allowlist, list: "__INLINE__:requests,a+b", on_hit: allow, on_miss: deny, nudge: "two\nlines: and 'quotes'"}
      - {kind: host-allowlist, list: "__INLINE__:A.org,*.b.org", on_hit: deny, on_miss: skip}
      - {kind: always, action: deny}
  - {id: b, match: {tool: X}, evaluate: [{kind: allowlist, list: "__INLINE__:", on_hit: deny, on_miss: deny}]}
  - {id: c, match: {tool: X}, evaluate: [{kind: host-allowlist, list: "__INLINE__:", on_hit: skip, on_miss: allow}]}
  - {id: d, match: {tool: X, command_regex: x}, evaluate: [{kind: allowlist, list: "__INLINE__:p", on_hit: skip, on_miss: deny}]}
  - {id: "Ä b/../c", match: {tool: X}, evaluate: [{kind: always, action: allow}]}
"#;

const PERMISSIONS: &[&str] = &[
    "Bash",
    "Bash(npm run test:*)",
    "Bash(echo \"it's: [a] {b}\" #c *)",
    "Bash(* --help)",
    "Bash(curl http*://x)",
    "Bash(./gradlew build)",
    "Read",
    "Read(./.env)",
    "Read(~/.ssh/**)",
    "Read(//etc/{a,b}/**)",
    "Read(**)",
    "Read(/)",
    "Edit(/src/**)",
    "Edit(*.lock)",
    "Write(docs/*.md)",
    "WebFetch",
    "WebFetch(domain:example.com)",
    "WebFetch(domain:*)",
    "WebSearch",
    "mcp__github",
    "mcp__github__*",
    "mcp__github__get_*",
    "mcp__*",
    "Task(Explore)",
    "Agent",
    "Skill(review \"x\":*)",
    "NotebookEdit(x.ipynb)",
];

/// Returns the problems of a file that is loaded together with the built-in rules.
fn problems(text: &str, layer: SourceLayer, trusted: bool) -> Vec<String> {
    let mut sources = RuleSet::baseline_sources().to_vec();
    sources.push(RuleSource { name: "imported.yaml", text, layer, trusted });
    RuleSet::load(&sources).problems.iter().map(ToString::to_string).collect()
}

#[test]
fn gates_load_in_every_mode() {
    for daemon in [OpenAgentLockMode::Firewall, OpenAgentLockMode::Monitor] {
        let imported = import_openagentlock_in_mode(daemon, "policy.yaml", GATES).unwrap();
        assert_eq!((imported.carried, imported.left_out.len()), (5, 0));
        assert_eq!(problems(&imported.yaml, SourceLayer::User, true), [""; 0], "{}", imported.yaml);
    }
}

#[test]
fn a_repositorys_gates_load_for_an_untrusted_project() {
    let plain = GATES.replace(", nudge: \"two\\nlines: and 'quotes'\"", "");
    let imported =
        import_openagentlock_in_mode(OpenAgentLockMode::Firewall, ".agentlock.yaml", &plain).unwrap();
    assert_eq!(imported.carried, 3);
    assert_eq!(problems(&imported.yaml, SourceLayer::Project, false), [""; 0], "{}", imported.yaml);
}

#[test]
fn all_permissions_load() {
    let settings = serde_json::json!({
        "permissions": {"deny": PERMISSIONS, "ask": PERMISSIONS, "allow": PERMISSIONS}
    });
    let imported = import_claude_permissions("settings.json", &settings.to_string()).unwrap();
    assert_eq!((imported.carried, imported.left_out.len()), (3 * PERMISSIONS.len(), 0));
    assert_eq!(problems(&imported.yaml, SourceLayer::User, true), [""; 0], "{}", imported.yaml);
}
