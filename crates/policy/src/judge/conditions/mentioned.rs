// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What an unread text mentions of the things a rule looks for.
//!
//! All that can be said of such a text is which words it has, so a rule is suspicious when all that
//! it looks for is there in some form.

use super::{Case, Sense, Tell};
use crate::compile::{Effect, Matcher, Package, Shell, Url};
use crate::facts::{Does, Place, ShellOption, Unread};

impl Matcher {
    /// What an unread text mentions of the things this looks for, if it mentions enough of them.
    pub(crate) fn mentioned(&self, case: Case<'_>, text: &Unread) -> Option<String> {
        self.concerns(case, Tell::Nothing).ok()?;
        let mut found = None;
        if let Some(shell) = &self.shell {
            found = Some(shell.mentioned(text)?);
        }
        if let Some(effect) = &self.effect {
            let what = effect.mentioned(text)?;
            found.get_or_insert(what);
        }
        if let Some(paths) = &self.paths {
            let glob = paths.mentioned(|part| text.contains(part))?;
            found.get_or_insert_with(|| format!("`{glob}`"));
        }
        if let Some(url) = &self.url {
            let what = url.mentioned(text)?;
            found.get_or_insert(what);
        }
        if let Some(package) = &self.package {
            let what = package.mentioned(text)?;
            found.get_or_insert(what);
        }
        // These are about the call as it stands, read or not.
        if let Some(mcp) = &self.mcp {
            mcp.check(case.facts, Sense::Guards, Tell::Nothing).ok()?;
        }
        if let Some(patterns) = &self.regex {
            patterns.check(case, Sense::Guards, Tell::Nothing).ok()?;
        }
        if let Some(kinds) = &self.secret {
            case.facts.secrets.iter().find(|secret| kinds.matches(secret.kind))?;
        }
        if !self.any.is_empty() {
            let inner = self.any.iter().find_map(|matcher| matcher.mentioned(case, text))?;
            found.get_or_insert(inner);
        }
        let excepted = |inner: &Matcher| inner.check(case, Sense::Vouches, Tell::Nothing).is_ok();
        found.filter(|_| !self.not.iter().any(excepted))
    }
}

impl Shell {
    fn mentioned(&self, text: &Unread) -> Option<String> {
        if text.whole {
            return Some("more than can be read".to_owned());
        }
        // A name alone says little in a language where it may be anything.
        if text.seen && (self.options.is_empty() || !text.may_run) {
            return None;
        }
        let mut found = None;
        if let Some(program) = &self.program {
            let options = |word: &str| {
                let option = ShellOption::from_word(word);
                option.is_some_and(|option| self.options.iter().any(|wanted| option.is(wanted)))
            };
            // In code of another language, `rm` may be anything; next to `-r` it is a command.
            let word = if self.options.is_empty() {
                text.words().find(|word| program.matches(word))
            } else {
                text.followed_by(|word| program.matches(word), options)
            };
            found = Some(format!("`{}`", word?));
        }
        // What a command does beyond its words is not in the words.
        if self.acts.is_some() || self.env.is_some() {
            return None;
        }
        for patterns in [&self.text, &self.sql] {
            if !patterns.is_empty() && !patterns.iter().any(|pattern| pattern.is_match(text.text())) {
                return None;
            }
        }
        for names in [&self.via, &self.first].into_iter().flatten() {
            text.words().find(|word| names.matches(word))?;
        }
        for names in [&self.pipes_into, &self.ends_in].into_iter().flatten() {
            let word = text.words().find(|word| names.matches(word))?;
            found.get_or_insert_with(|| format!("`{word}`"));
        }
        for wanted in &self.words {
            text.words().find(|word| wanted.matches(word))?;
        }
        for paths in [&self.operand, &self.path, &self.reads, &self.input, &self.output].into_iter().flatten()
        {
            let glob = paths.mentioned(|part| text.contains(part))?;
            found = Some(format!("`{glob}`"));
        }
        found
    }
}

impl Effect {
    /// Some word that is known to do it, together with the path, as far as one is named.
    fn mentioned(&self, text: &Unread) -> Option<String> {
        if text.whole {
            return Some("more than can be read".to_owned());
        }
        if text.seen {
            return None;
        }
        let all = [Does::Read, Does::Write, Does::Append, Does::Delete, Does::Move, Does::Permit, Does::Run];
        let does = if self.does.is_empty() { all.as_slice() } else { &self.does };
        // `shutil.rmtree`, `fs.rmSync`: the last name is what is done.
        let last = |word: &'_ str| word.rsplit('.').next().unwrap_or(word).to_owned();
        let known = |word: &str| {
            let last = last(word);
            does.iter().any(|does| doers(*does).contains(&last.as_str()))
                && self.by.as_ref().is_none_or(|by| by.matches(&last))
        };
        let word = if self.recursive == Some(true) {
            let whole = text.words().find(|word| known(word) && WHOLE.contains(&last(word).as_str()));
            let option = |word: &str| {
                let option = ShellOption::from_word(word);
                option.is_some_and(|option| ["r", "R", "recursive"].iter().any(|wanted| option.is(wanted)))
            };
            whole.or_else(|| text.followed_by(known, option))?
        } else {
            text.words().find(|word| known(word))?
        };
        if let Some(paths) = &self.path {
            let glob = paths.mentioned(|part| text.contains(part))?;
            return Some(format!("`{word}` and `{glob}`"));
        }
        let own = |place: &Place| {
            matches!(place, Place::InsideProject | Place::ProjectRoot | Place::Temp | Place::Unknown)
        };
        let anywhere = self.places.is_empty() || self.places.iter().any(own);
        (anywhere || FAR.iter().any(|part| text.contains(part))).then(|| format!("`{word}`"))
    }
}

impl Url {
    fn mentioned(&self, text: &Unread) -> Option<String> {
        if text.whole {
            return Some("more than can be read".to_owned());
        }
        let hosts = self.host.as_ref()?;
        if let Some(host) = hosts.names().mentioned(|part| text.contains(part)) {
            return Some(format!("`{host}`"));
        }
        (hosts.is_any() && text.contains("://")).then(|| "an address".to_owned())
    }
}

impl Package {
    fn mentioned(&self, text: &Unread) -> Option<String> {
        if text.whole {
            return Some("more than can be read".to_owned());
        }
        let manager = match &self.manager {
            Some(managers) => text.words().find(|word| managers.matches(word))?,
            None => text.words().find(|word| MANAGERS.contains(word))?,
        };
        if let Some(names) = &self.name {
            text.words().find(|word| names.matches(word))?;
        }
        Some(format!("`{manager}`"))
    }
}

/// What a path that is not the agent's own looks like, without its quotes.
const FAR: &[&str] = &[
    " /",
    "(/",
    "=/",
    ",/",
    "[/",
    ":/",
    "~",
    "..",
    "$",
    "HOME",
    "home(",
    "homedir",
    "expanduser",
    "os.sep",
    "ROOT",
];

/// Names that take everything below, without an option for it.
const WHOLE: &[&str] = &[
    "rmtree",
    "remove_tree",
    "rm_rf",
    "rm_r",
    "remove_entry_secure",
    "rimraf",
    "deltree",
    "copytree",
    "fullcopy",
];

const MANAGERS: &[&str] = &[
    "npm", "npx", "pnpm", "yarn", "bun", "bunx", "pip", "pip3", "pipx", "uv", "uvx", "poetry", "cargo",
    "gem", "go", "apt", "apt-get", "brew", "dnf", "yum", "apk", "pacman", "composer", "conda",
];

/// Programs, and functions of common languages, that are known to do it.
fn doers(does: Does) -> &'static [&'static str] {
    match does {
        Does::Read => &[
            "cat",
            "head",
            "tail",
            "less",
            "more",
            "open",
            "fopen",
            "read",
            "readFile",
            "readFileSync",
            "read_text",
            "read_bytes",
            "readlines",
            "slurp",
            "file_get_contents",
            "createReadStream",
            "cp",
            "copy",
            "copyfile",
            "copyFile",
            "copyFileSync",
            "base64",
            "xxd",
            "strings",
            "grep",
            "awk",
            "sed",
            "tar",
            "zip",
            "scp",
            "rsync",
        ],
        Does::Write => &[
            "write",
            "writeFile",
            "writeFileSync",
            "write_text",
            "write_bytes",
            "open",
            "fopen",
            "file_put_contents",
            "createWriteStream",
            "cp",
            "copy",
            "copyfile",
            "copy2",
            "copyFile",
            "copyFileSync",
            "copytree",
            "tee",
            "dd",
            "install",
            "sed",
            "truncate",
            "ln",
            "symlink",
            "symlinkSync",
            "dump",
            "rsync",
            "tar",
            "unzip",
            "mkfs",
        ],
        Does::Append => {
            &["append", "appendFile", "appendFileSync", "open", "fopen", "tee", "file_put_contents"]
        }
        Does::Delete => &[
            "rm",
            "rmdir",
            "unlink",
            "unlinkSync",
            "rmSync",
            "rmdirSync",
            "rmtree",
            "remove",
            "removedirs",
            "remove_tree",
            "rm_rf",
            "rm_r",
            "rm_f",
            "remove_entry_secure",
            "shred",
            "rimraf",
            "delete",
            "del",
            "deltree",
            "Remove-Item",
            "erase",
            "truncate",
            "wipe",
            "srm",
        ],
        Does::Move => &["mv", "move", "rename", "renameSync", "renames", "replace", "Move-Item"],
        Does::Permit => &[
            "chmod",
            "chown",
            "chgrp",
            "chattr",
            "setfacl",
            "chmodSync",
            "chownSync",
            "lchown",
            "fchmod",
            "icacls",
            "setxattr",
            "xattr",
        ],
        Does::Run => &[
            "bash",
            "sh",
            "zsh",
            "dash",
            "source",
            "system",
            "exec",
            "execSync",
            "execFile",
            "execFileSync",
            "execv",
            "execvp",
            "execve",
            "spawn",
            "spawnSync",
            "popen",
            "Popen",
            "run",
            "call",
            "check_call",
            "check_output",
            "passthru",
            "shell_exec",
            "eval",
        ],
    }
}
