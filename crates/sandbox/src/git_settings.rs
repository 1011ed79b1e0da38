// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Settings in a git configuration file with which git runs other programs.

/// Sections in which every key can run a program or read another file.
const SECTIONS: &[&str] = &[
    "alias",
    "include",
    "includeif",
    "filter",
    "credential",
    "url",
    "gpg",
    "difftool",
    "mergetool",
    "pager",
    "sendemail",
    "trailer",
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
    ("tar", "command"),
    ("web", "browser"),
    ("instaweb", "browser"),
    ("instaweb", "httpd"),
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
    let mut found = Vec::new();
    let mut section = String::new();
    let mut lines = text.lines().enumerate();
    while let Some((first, line)) = lines.next() {
        let mut last = first;
        let mut line = line.trim_start_matches('\u{feff}').trim().to_owned();
        // A value continues on the next line after a backslash.
        while line.ends_with('\\') {
            line.pop();
            let Some((number, next)) = lines.next() else { break };
            last = number;
            line.push_str(next);
        }
        let mut rest = line.as_str();
        let mut shares_line = false;
        if let Some(header) = rest.strip_prefix('[') {
            let Some((name, after)) = split_header(header) else { continue };
            section = name;
            // A key may follow its section on the same line.
            rest = after.trim();
            shares_line = true;
        }
        if rest.is_empty() || rest.starts_with(['#', ';']) {
            continue;
        }
        let (key, value) = rest.split_once('=').unwrap_or((rest, ""));
        let key = key.trim().to_ascii_lowercase();
        let name = section.split(['.', ' ', '"', '\t']).next().unwrap_or_default().to_ascii_lowercase();
        let runs_program = SECTIONS.contains(&name.as_str())
            || KEYS.iter().any(|(wanted, wanted_key)| *wanted == name && *wanted_key == key);
        if runs_program {
            let text = format!("{section}.{key}={}", value.trim());
            found.push(ProgramSetting { text, lines: (first, last), shares_line });
        }
    }
    found
}

/// Removes the settings that were added since `before`. Returns `None` if nothing else than the old text is safe: a
/// setting was changed or removed, or is on the line of a section.
pub(crate) fn without_added(before: &str, now: &str) -> Option<String> {
    let old = program_settings(before);
    let is_old = |setting: &ProgramSetting| old.iter().any(|old| old.text == setting.text);
    let new = program_settings(now);
    let added: Vec<_> = new.iter().filter(|setting| !is_old(setting)).collect();
    let kept: Vec<_> = new.iter().filter(|setting| is_old(setting)).map(|setting| &setting.text).collect();
    let is_safe = kept.iter().copied().eq(old.iter().map(|setting| &setting.text))
        && !added.iter().any(|setting| setting.shares_line);
    let is_added =
        |number: usize| added.iter().any(|setting| (setting.lines.0..=setting.lines.1).contains(&number));
    let lines =
        now.split_inclusive('\n').enumerate().filter(|(number, _)| !is_added(*number)).map(|(_, line)| line);
    let text: String = lines.collect();
    // What is left must be as before.
    let texts =
        |settings: Vec<ProgramSetting>| settings.into_iter().map(|setting| setting.text).collect::<Vec<_>>();
    (is_safe && texts(program_settings(&text)) == texts(old)).then_some(text)
}

/// Splits `name "sub"] rest`. A bracket may be quoted.
fn split_header(header: &str) -> Option<(String, &str)> {
    let mut quoted = false;
    let mut escaped = false;
    for (at, letter) in header.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => quoted = !quoted,
            ']' if !quoted => return Some((header.get(..at)?.trim().to_owned(), header.get(at + 1..)?)),
            _ => {}
        }
    }
    None
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
                "Alias.a=!sh",
                "filter \"a]b\".clean=x",
                "core.fsmonitor=/tmp/y",
                "remote \"origin\".uploadpack=z",
                "url \"ssh://evil/\".insteadof=https://x/",
            ]
        );
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
