// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Rules are described in words.

use crate::{RuleSource, SourceLayer, rule_pages};

const RULES: &str = r#"
version: 1
rules:
  - id: no-wipe
    match:
      any:
        - shell: { program: [rm], option: [r, recursive], operand: { place: [home, root] }, not: { option: [n, dry-run] } }
        - effect: { does: [delete, move], path: ["~/.ssh/**"], recursive: true, not: [{ by: [git] }, { path: ["~/.ssh/x"] }] }
        - url: { host: ["*.evil.org"], port: [80] }
    verdict: deny
    examples:
      deny: ["rm -r ~"]
      allow: [{ tool: Read, args: { file_path: a } }, "echo `x`"]
  - id: quiet
    match: { tool: [shell], shell: { program: [make], on: [remote] }, not: { shell: { first: [test] } } }
    verdict: ask
    unparsed: ignore
"#;

#[test]
fn a_page_names_every_condition_and_what_uncertainty_means() {
    let source = RuleSource { name: "policy.yaml", text: RULES, layer: SourceLayer::User, trusted: true };
    let pages = rule_pages(&source);
    let ids: Vec<_> = pages.iter().map(|page| page.id.as_str()).collect();
    assert_eq!(ids, ["no-wipe", "quiet"]);
    assert_eq!(
        pages[0].matches,
        [
            "a command with the program `rm`, with the option `-r`, `--recursive`, with an operand (a home directory, \
             or the root directory), except with the option `-n`, `--dry-run`",
            "the call deletes or moves `~/.ssh/**`, with everything below it, except by `git`, except `~/.ssh/x`",
            "the call connects to an address of the host `*.evil.org` with the port `80`",
        ]
    );
    assert_eq!(
        pages[0].certainty,
        [
            "A path or host that only possibly matches is asked about instead of denied.",
            "A part of the call that was not understood and mentions what the rule looks for: ask.",
        ]
    );
    assert_eq!(pages[0].dangerous, ["`rm -r ~`"]);
    assert_eq!(pages[0].harmless, [r#"`Read {"file_path":"a"}`"#, "`` echo `x` ``"]);
    assert_eq!(
        pages[1].matches,
        ["the tool is `shell`; a command with the program `make`, on another machine; \
             not if a command with the subcommand `test`"]
    );
    assert_eq!(pages[1].certainty, ["A part of the call that was not understood is ignored."]);
    let titles: Vec<_> =
        pages[0].sections(1).into_iter().map(|(title, lines)| (title, lines.len())).collect();
    let expected = [
        ("Matches, if one of these is true", 3),
        ("If the match is not certain", 2),
        ("Dangerous examples", 1),
        ("Harmless examples", 2),
    ];
    assert_eq!(titles, expected);
}

#[test]
fn every_built_in_rule_has_a_page() {
    for pack in crate::RuleSet::packs() {
        for page in rule_pages(&pack.source) {
            assert!(!page.matches.is_empty() && page.matches.iter().all(|line| !line.is_empty()), "{page:?}");
            assert!(!page.dangerous.is_empty() || !page.harmless.is_empty(), "{}", page.id);
        }
    }
}
