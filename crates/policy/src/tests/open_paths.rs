// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Rules on paths that contain a pattern or a part that is known only at run time.

use super::*;

const GUARD: &str = r#"
version: 1
rules:
  - id: guard
    match: { effect: { does: read, path: ["~/.aws/credentials", "~/.ssh/**", "**/.env", "**/*.pem", "/tmp/krb5cc_*", "/etc/shadow", "~/.kube/config", "/etc/wireguard/*.conf"] } }
    verdict: deny
"#;

#[track_caller]
fn assert_decisions(rules: &str, table: &[(&str, &str)]) {
    let rules = load_valid(rules);
    for (expected, command) in table {
        assert_eq!(findings_of(&bash(command), &rules).join(", "), *expected, "{command}");
    }
}

#[test]
fn a_pattern_is_denied_only_if_it_names_guarded_files_for_certain() {
    const DENY: &str = "rule:guard deny";
    const ASK: &str = "rule:guard ask";
    const NONE: &str = "";
    assert_decisions(
        GUARD,
        &[
            // Every path that the word can become is guarded.
            (DENY, "cat ~/.ssh/$KEY"),
            (DENY, "cat ~/.ssh/*"),
            (DENY, "cat $x.pem"),
            (DENY, "cat src/*.pem"),
            // The directory is guarded, and the pattern matches guarded files in it.
            (DENY, "cat ~/.aws/*"),
            (DENY, "cat ~/.aws/cred*"),
            // Only the location of the directory is unknown.
            (DENY, "cat $DIR/.aws/credentials"),
            (DENY, "cat /home/*/.aws/credentials"),
            (DENY, "find / -name credentials -path '*.aws*' -exec cat {} +"),
            // The path is one unknown file in a guarded directory.
            (ASK, "cat ~/.aws/$FILE"),
            // The pattern contains the guarded name, begins like it, or spells most of it.
            (ASK, "cat .env*"),
            (ASK, "cat /etc/sh?dow"),
            (ASK, "cat /etc/*"),
            // The pattern may match the guarded directory.
            (ASK, "cat ~/.s*/*"),
            (ASK, "cat ~/.ss?/i?_rsa"),
            (ASK, "cat ~/.[s]sh/*"),
            (ASK, "cat ~/.*/*"),
            // The pattern could match a guarded path, but it could match many other paths as well.
            (NONE, "cat README*"),
            (NONE, "tail -5 /tmp/$NAME.log"),
            (NONE, "cat /tmp/*"),
            (NONE, "cat $FILE"),
            (NONE, "find /etc -name '*.conf' -exec cat {} +"),
            (NONE, "find . -name '*foo*' -exec cat {} +"),
            (NONE, "find $DIR -name '*.txt' -exec cat {} +"),
            (NONE, "cat config/*.yml"),
            (NONE, "cat packages/*/*"),
        ],
    );
}

#[test]
fn a_walk_from_the_root_is_not_covered_by_a_rule_that_allows_the_home_directory() {
    let rules = r#"
version: 1
rules:
  - id: home
    match: { effect: { does: read, path: ["~/**"] } }
    verdict: allow
"#;
    assert_decisions(
        rules,
        &[("rule:home allow", "cat ~/notes.txt"), ("", "find / -name notes.txt -exec cat {} +")],
    );
}
