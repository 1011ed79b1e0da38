// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Settings in a git configuration file with which git runs other programs.

mod config_lines;

use std::collections::HashSet;

use config_lines::{ConfigLine, parse};

/// Sections in which every key can run a program or read another file.
const SECTIONS: &[&str] = &[
    "alias",
    "include",
    "includeif",
    "filter",
    "credential",
    "url",
    "gpg",
    "hook",
    "difftool",
    "mergetool",
    "pager",
    "sendemail",
    "trailer",
    "tig",
    "annex",
    "instaweb",
    "guitool",
    "man",
    "browser",
    "remote-helper",
];
/// Keys that can run a program, with their section.
const KEYS: &[(&str, &str)] = &[
    ("core", "hookspath"),
    ("core", "fsmonitor"),
    ("core", "sshcommand"),
    ("core", "editor"),
    ("core", "pager"),
    ("core", "askpass"),
    ("core", "gitproxy"),
    ("core", "worktree"),
    ("core", "attributesfile"),
    ("core", "alternaterefscommand"),
    ("diff", "external"),
    ("diff", "command"),
    ("diff", "textconv"),
    ("merge", "driver"),
    ("merge", "tool"),
    ("diff", "tool"),
    ("sequence", "editor"),
    ("interactive", "difffilter"),
    ("uploadpack", "packobjectshook"),
    ("remote", "uploadpack"),
    ("remote", "receivepack"),
    ("remote", "vcs"),
    ("remote", "proxy"),
    ("submodule", "update"),
    ("http", "proxy"),
    ("http", "sslverify"),
    ("http", "cookiefile"),
    ("init", "templatedir"),
    ("protocol", "allow"),
    ("protocol", "ext"),
    ("extensions", "worktreeconfig"),
    ("gc", "recentobjectshook"),
    ("http", "curloptresolve"),
    ("http", "sslcainfo"),
    ("imap", "tunnel"),
    ("lfs", "clean"),
    ("lfs", "path"),
    ("lfs", "smudge"),
    ("lfs", "standalonetransferagent"),
    ("svn", "authorsprog"),
    ("tar", "command"),
    ("web", "browser"),
    ("merge", "guitool"),
    ("diff", "guitool"),
    ("http", "sslcapath"),
    ("delta", "pager"),
    ("gitflow", "hooks"),
];

/// A setting in a configuration file that can run a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProgramSetting {
    /// `section.key=value`.
    pub(crate) text: String,
    /// First and last line, counted from 0.
    lines: (usize, usize),
    /// Whether the header of a section is on the same line.
    shares_line: bool,
}

/// Returns the settings that can run a program, in order.
pub(crate) fn program_settings(text: &str) -> Vec<ProgramSetting> {
    let lines = parse(text);
    let runs_program = |line: &ConfigLine| {
        let name = line.section.split('.').next().unwrap_or_default();
        SECTIONS.contains(&name)
            || KEYS.iter().any(|(wanted, wanted_key)| *wanted == name && *wanted_key == line.key)
    };
    let mut found: Vec<_> = lines
        .settings
        .iter()
        .filter(|line| runs_program(line))
        .map(|line| ProgramSetting {
            text: format!("{}.{}={}", line.section, line.key, line.value),
            lines: line.lines,
            shares_line: line.shares_line,
        })
        .collect();
    if let Some(number) = lines.invalid {
        // Git reads no such file, but another version of git may.
        let text = "a line that is not valid".to_owned();
        found.push(ProgramSetting { text, lines: (number, number), shares_line: true });
    }
    found
}

/// Removes the settings that were added since `before`. Returns `None` if nothing else than the old text is safe: a
/// setting was changed or removed, or is on the line of a section.
pub(crate) fn without_added(before: &str, now: &str) -> Option<String> {
    let old = program_settings(before);
    let known: HashSet<_> = old.iter().map(|setting| setting.text.as_str()).collect();
    let new = program_settings(now);
    let (kept, added): (Vec<_>, Vec<_>) =
        new.iter().partition(|setting| known.contains(setting.text.as_str()));
    let is_safe = kept.iter().map(|setting| &setting.text).eq(old.iter().map(|setting| &setting.text))
        && !added.iter().any(|setting| setting.shares_line);
    let removed: HashSet<_> = added.iter().flat_map(|setting| setting.lines.0..=setting.lines.1).collect();
    let lines = now.split_inclusive('\n').enumerate().filter(|(number, _)| !removed.contains(number));
    let text: String = lines.map(|(_, line)| line).collect();
    // What is left must be as before.
    let texts =
        |settings: Vec<ProgramSetting>| settings.into_iter().map(|setting| setting.text).collect::<Vec<_>>();
    (is_safe && texts(program_settings(&text)) == texts(old)).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_run_programs_are_found_in_every_spelling() {
        let text = "[core]\n\tbare = false\n\tHooksPath = /tmp/x\n[Alias] a = !sh\n[filter \"a]b\"]\n clean = x\n\
            [core] fsmonitor = \\\n /tmp/y\n[remote \"origin\"]\n url = git@x\n uploadpack = z\n[branch \"main\"]\n remote = origin\n\
            [url \"ssh://evil/\"]\n insteadOf = https://x/\n; [alias] b = c\n";
        let found = program_settings(text);
        let found: Vec<_> = found.iter().map(|setting| setting.text.as_str()).collect();
        assert_eq!(
            found,
            [
                "core.hookspath=/tmp/x",
                "alias.a=!sh",
                "filter.a]b.clean=x",
                "core.fsmonitor=/tmp/y",
                "remote.origin.uploadpack=z",
                "url.ssh://evil/.insteadof=https://x/",
            ]
        );
    }

    #[test]
    fn settings_after_a_comment_a_backslash_or_a_second_header_are_found() {
        for text in [
            "[core]\n# \\\nfsmonitor = ./x\n",
            "[core]\nbare = false # \\\nfsmonitor = ./x\n",
            "[core]\na = b\\\\\nfsmonitor = ./x\n",
            "[branch \"m\"][core] fsmonitor = ./x\n",
            "[core]\r\n\tfsmonitor = ./x\r\n",
            "\u{feff}[core] fsmonitor = \"./x\" ; comment",
            "[core]\na = \"b ; c\\\n\"\nfsmonitor = ./x",
        ] {
            let found = program_settings(text);
            let found: Vec<_> = found.iter().map(|setting| setting.text.as_str()).collect();
            assert_eq!(found, ["core.fsmonitor=./x"], "{text:?}");
        }
        assert_eq!(program_settings("[core]\nfsmonitor = \"x\n").len(), 1, "an invalid line is not ignored");
    }

    #[test]
    fn many_added_settings_are_removed_in_a_moment() {
        let added = "a\n".repeat(200_000);
        let began = std::time::Instant::now();
        assert_eq!(without_added("[core]\n", &format!("[alias]\n{added}")).as_deref(), Some("[alias]\n"));
        assert!(began.elapsed() < std::time::Duration::from_secs(20), "{:?}", began.elapsed());
    }

    #[test]
    fn added_settings_are_removed_and_ordinary_changes_stay() {
        let before = "[core]\n\tbare = false\n[alias]\n\tst = status\n";
        let now = "[core]\n\tbare = false\n\tpager = evil\n[alias]\n\tst = status\n\tx = !sh\n[branch \"main\"]\n\tremote = origin\n";
        let wanted = "[core]\n\tbare = false\n[alias]\n\tst = status\n[branch \"main\"]\n\tremote = origin\n";
        assert_eq!(without_added(before, now).as_deref(), Some(wanted));
        assert_eq!(without_added(before, "[alias]\n\tst = !sh\n"), None);
        assert_eq!(without_added(before, "[core] pager = x\n[alias]\n\tst = status\n"), None);
    }

    #[test]
    fn ordinary_settings_are_not_found() {
        let text = "[core]\n\trepositoryformatversion = 0\n[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n\
            [remote \"origin\"]\n\turl = /x\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[user]\n\tname = A\n";
        assert!(program_settings(text).is_empty());
    }
}
