// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What is written can be loaded, whatever it was made of.

use crate::{Daemon, claude_permissions, openagentlock_under};
use tenterhook_policy::{Layer, RuleSet, Source};

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

/// Loads a file together with our own rules.
fn problems(text: &str, layer: Layer, trusted: bool) -> Vec<String> {
    let mut sources = RuleSet::baseline_sources().to_vec();
    sources.push(Source { name: "imported.yaml", text, layer, trusted });
    RuleSet::load(&sources).problems.iter().map(ToString::to_string).collect()
}

#[test]
fn gates_load_in_every_mode() {
    for daemon in [Daemon::Firewall, Daemon::Monitor] {
        let imported = openagentlock_under(daemon, "policy.yaml", GATES).unwrap();
        assert_eq!((imported.carried, imported.left_out.len()), (5, 0));
        assert_eq!(problems(&imported.yaml, Layer::User, true), [""; 0], "{}", imported.yaml);
    }
}

#[test]
fn a_repositorys_gates_load_for_a_project_that_nobody_trusts_yet() {
    let plain = GATES.replace(", nudge: \"two\\nlines: and 'quotes'\"", "");
    let imported = openagentlock_under(Daemon::Firewall, ".agentlock.yaml", &plain).unwrap();
    assert_eq!(imported.carried, 3);
    assert_eq!(problems(&imported.yaml, Layer::Project, false), [""; 0], "{}", imported.yaml);
}

#[test]
fn permissions_load_whatever_they_say() {
    let settings = serde_json::json!({
        "permissions": {"deny": PERMISSIONS, "ask": PERMISSIONS, "allow": PERMISSIONS}
    });
    let imported = claude_permissions("settings.json", &settings.to_string()).unwrap();
    assert_eq!((imported.carried, imported.left_out.len()), (3 * PERMISSIONS.len(), 0));
    assert_eq!(problems(&imported.yaml, Layer::User, true), [""; 0], "{}", imported.yaml);
}
