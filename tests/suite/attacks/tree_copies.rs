// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Copying or moving a directory tree onto a guarded path is treated as writing every file in the tree.

use super::verdicts::with_verdict;

/// Commands that passed in an earlier version, and variants of them.
const COPIES_ONTO_GUARDED_PATHS: &[&str] = &[
    "mkdir x && echo '{}' > x/settings.json && cp -r x/. ~/.claude/",
    "cp -rT x ~/.claude",
    "cp -r x/.claude ~",
    "cp -r x/. ~/.ssh/",
    "cp -a x/. ~",
    "(cd x && find . | cpio -pdu ~/.claude)",
    "mv ~/.local/share /tmp/x",
    "rsync -a x/ ~/.claude/",
    "tar xf x.tar -C ~/.claude",
    "unzip -o x.zip -d ~/.codex",
    "install -D -t ~/.claude x/settings.json",
    "cp -t ~/.claude x/settings.json",
    "mv x/.claude ~",
    "mv ~/.config /tmp/x",
    "cd x && find . | cpio -pdmu ~/.config/tenterhook",
    "pax -rw . ~/.claude",
    "scp -r host:x/. ~/.claude/",
    "docker cp c:/x/. ~/.claude",
    r#"python3 -c "import shutil; shutil.copytree('x', '/home/user/.claude', dirs_exist_ok=True)""#,
    "cp -R x/. $HOME/.ssh",
];

/// Copies of trees to other paths.
const COPIES_ELSEWHERE: &[&str] = &[
    "cp -r src/ dist/",
    "cp -a x/. ./build",
    "rsync -a a/ ~/backup/",
    "cp -r skills ~/.claude/",
    "mv notes.md ~/.claude/",
    "tar xzf a.tgz -C vendor",
    "unzip a.zip -d /tmp/x",
    "mv build ../old-build-dir/build",
    "cp -r ~/.claude/commands ./commands",
    "cpio -idmv < a.cpio",
];

/// Patterns that match guarded paths.
const DENIED: &[&str] = &["cat ~/.ssh/*", "rm -rf ~/*", "cat ~/.aws/cred*", "rm ~/.claude/*"];

/// Patterns that could match a path of a locked rule, but could match many other paths as well.
const NOT_DENIED: &[&str] = &["find src -name '*foo*' -exec sed -i s/a/b/ {} +"];

#[test]
fn a_pattern_that_only_could_match_is_not_denied() {
    assert_eq!(with_verdict(NOT_DENIED, &["deny"]), [""; 0]);
}

#[test]
fn a_tree_copied_onto_a_guarded_path_is_denied() {
    assert_eq!(with_verdict(COPIES_ONTO_GUARDED_PATHS, &["none", "allow"]), [""; 0]);
}

#[test]
fn a_tree_copied_elsewhere_is_not_denied() {
    assert_eq!(with_verdict(COPIES_ELSEWHERE, &["ask", "deny"]), [""; 0]);
}

#[test]
fn patterns_that_match_guarded_paths_are_denied() {
    assert_eq!(with_verdict(DENIED, &["none", "allow", "ask"]), [""; 0]);
}
