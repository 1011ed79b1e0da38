// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Programs that run commands on other machines, in containers and in other roots.

mod table;

use std::sync::Arc;

use super::super::effect::Side;
use super::super::known::known;
use super::super::path::resolve;
use super::Reader;
use super::invoke::joined;
use super::scope::Scope;
use super::side::Where;
use super::word::Word;
use table::{FAR, Far, Host};

/// Every path is looked for in every one of them.
const MOST_MOUNTS: usize = 64;

/// What is sent elsewhere.
#[derive(Default)]
struct Sent {
    /// The words of the command.
    inner: Vec<Word>,
    /// Texts for a shell there.
    texts: Vec<Word>,
    goes: Option<Word>,
    host: Option<String>,
    /// Directories of this side: inside and outside.
    mounts: Vec<(Word, Word)>,
}

impl Reader {
    /// What a program runs elsewhere; false if it is no such program, or does nothing of the kind now.
    pub(super) fn far(&mut self, program: &str, words: &[Word], scope: &Scope) -> bool {
        if !known!(FAR, names).may_have(program) {
            return false;
        }
        let mut rows = FAR.iter().filter(|row| row.names.contains(&program));
        let Some((row, rest)) = rows.find_map(|row| Some((row, behind_verbs(row, words)?))) else {
            return false;
        };
        let sent = row.sent(rest);
        let mut inner = self.beyond(row, program, &sent, scope);
        let own = words.get(..words.len().saturating_sub(sent.inner.len())).unwrap_or_default();
        inner.stdin.typed &= forwards_input(row, program, own);
        let told_nothing = sent.inner.is_empty() && sent.texts.is_empty();
        // Without a command, an image runs what it was made for: a shell, as a rule.
        let shows_image = row.on == Side::Container && row.operands > 0;
        if told_nothing
            && (row.shell && !row.only_behind_dashes || shows_image)
            && !opens_no_shell(row, program, &sent, own)
        {
            self.mark_typed_program(self.commands.len().checked_sub(1), &inner);
        }
        let stdin_is_script = row.shell && told_nothing;
        if stdin_is_script {
            self.feed(&scope.stdin.from.clone(), "sh");
            for text in std::mem::take(&mut inner.stdin.texts) {
                self.text(&text, &mut inner.clone());
            }
        }
        for text in &sent.texts {
            self.feed(&text.from, "sh");
            self.text(&text.text, &mut inner.clone());
        }
        if sent.inner.is_empty() {
        } else if row.joins {
            self.text(&joined(&sent.inner), &mut inner);
        } else {
            self.invoke(&sent.inner, &mut inner);
        }
        true
    }

    /// The scope on the other side.
    fn beyond(&self, row: &Far, program: &str, sent: &Sent, scope: &Scope) -> Scope {
        let cwd = scope.cwd.main();
        let known = |word: &Word| (!word.dynamic).then(|| resolve(cwd, &word.shape)).flatten();
        let mut mounts: Vec<(String, String)> = sent
            .mounts
            .iter()
            .take(MOST_MOUNTS)
            .filter_map(|(inside, outside)| Some((resolve(None, &inside.shape)?, known(outside)?)))
            .collect();
        let goes =
            sent.goes.as_ref().and_then(|word| (!word.dynamic).then(|| resolve(None, &word.shape)).flatten());
        let (place, cwd) = match row.host {
            Host::Root => {
                let root = sent.host.as_deref().and_then(|root| resolve(cwd, root));
                mounts.extend(root.map(|root| ("/".to_owned(), root)));
                (Arc::new(Where::beyond(&scope.place, Side::Container, None, mounts)), Some("/".to_owned()))
            }
            Host::First if row.on == Side::Container => {
                (Arc::new(Where::beyond(&scope.place, row.on, None, mounts)), goes)
            }
            Host::First | Host::None => {
                let host = sent.host.clone().filter(|_| row.on == Side::Remote);
                (Arc::new(Where::beyond(&scope.place, row.on, host, mounts)), goes)
            }
        };
        scope.through(program).moved(place, cwd)
    }
}

/// Whether what is typed here reaches the program on the other side.
fn forwards_input(row: &Far, program: &str, own: &[Word]) -> bool {
    let long = |names: &[&str]| own.iter().any(|word| names.contains(&word.text.as_str()));
    match program {
        "ssh" | "autossh" | "slogin" | "hpnssh" | "tsh" => !row.has_flag(own, "n"),
        "docker" | "podman" | "nerdctl" | "finch" | "kubectl" | "oc" | "k"
            if !row.verbs.contains(&"compose") && !row.verbs.contains(&"rsh") =>
        {
            row.has_flag(own, "i")
                || long(&["--interactive", "--stdin", "--interactive=true", "--stdin=true"])
        }
        _ => true,
    }
}

/// Whether no shell is opened although no command is given: a tunnel, a question, a place that has none.
fn opens_no_shell(row: &Far, program: &str, sent: &Sent, own: &[Word]) -> bool {
    /// They serve repositories and give nobody a shell.
    const FORGES: &[&str] =
        &["github.com", "ssh.github.com", "gitlab.com", "altssh.gitlab.com", "bitbucket.org", "codeberg.org"];
    if !matches!(program, "ssh" | "autossh" | "slogin" | "hpnssh" | "tsh") {
        return own.iter().any(|word| matches!(word.text.as_str(), "--help" | "--version"));
    }
    let forge = sent.host.as_deref().is_some_and(|host| FORGES.contains(&host));
    let asks = |word: &Word| ["-O", "-Q", "-W"].iter().any(|option| word.text.starts_with(option));
    forge || row.has_flag(own, "NGV") || own.iter().any(asks)
}

/// What stands behind the verbs of a row, if they are there; options may stand before and between.
fn behind_verbs<'a>(row: &Far, words: &'a [Word]) -> Option<&'a [Word]> {
    let mut rest = words;
    for verb in row.verbs {
        loop {
            let (word, after) = rest.split_first()?;
            rest = after;
            if verb.split('|').any(|verb| word.is(verb)) {
                break;
            }
            if !word.text.starts_with('-') {
                return None;
            }
            if row.takes_value(&word.text) {
                rest = rest.get(1..).unwrap_or_default();
            }
        }
    }
    Some(rest)
}

impl Far {
    /// Whether an option word takes the next word for its value.
    fn takes_value(&self, text: &str) -> bool {
        if let Some(long) = text.strip_prefix("--") {
            return !long.contains('=') && self.long_values.contains(&long);
        }
        let letters = text.trim_start_matches('-');
        let at = letters.find(|letter| self.values.contains(letter));
        at.is_some_and(|at| at + 1 == letters.len())
    }

    /// Whether one of these letters is given as an option that takes no value.
    fn has_flag(&self, words: &[Word], wanted: &str) -> bool {
        let options = words.iter().filter_map(|word| word.text.strip_prefix('-'));
        options.filter(|text| !text.starts_with('-')).any(|text| {
            let mut letters = text.chars().take_while(|letter| !self.values.contains(*letter));
            letters.any(|letter| wanted.contains(letter))
        })
    }

    fn sent(&self, words: &[Word]) -> Sent {
        let mut sent = Sent::default();
        let mut operands = self.operands;
        let mut rest = words;
        // Behind `--` there is only the command, whatever was still to come.
        while let Some((word, after)) = rest.split_first() {
            let text = word.text.as_str();
            if word.is("--") {
                if operands > 0 && !self.dashes_end_operands {
                    rest = after;
                    continue;
                }
                sent.inner.extend_from_slice(after);
                return sent;
            }
            // Behind a named program and its image all words are the program's.
            let options_are_over = operands == 0 && !sent.inner.is_empty();
            if text.len() > 1 && text.starts_with('-') && !word.opens && !options_are_over {
                rest = self.option(word, after, &mut sent);
            } else if operands > 0 {
                if operands == self.operands && self.host != Host::None {
                    sent.host = Some(host_of(text).to_owned()).filter(|_| !word.dynamic);
                }
                operands -= 1;
                rest = after;
            } else if self.only_behind_dashes {
                rest = after;
            } else {
                sent.inner.extend_from_slice(rest);
                return sent;
            }
        }
        sent
    }

    /// Takes one option, with its value; returns what is left.
    fn option<'a>(&self, word: &Word, after: &'a [Word], sent: &mut Sent) -> &'a [Word] {
        let text = word.text.as_str();
        let (name, value, rest) = if let Some(long) = text.strip_prefix("--") {
            match long.split_once('=') {
                Some((name, _)) => (name, Some(word.tail(name.len() + 3)), after),
                None if self.long_values.contains(&long) => {
                    (long, after.first().cloned(), after.get(1..).unwrap_or_default())
                }
                None => return after,
            }
        } else {
            let letters = text.char_indices().skip(1);
            let Some((at, letter)) = letters.into_iter().find(|(_, letter)| self.values.contains(*letter))
            else {
                return after;
            };
            let end = at + letter.len_utf8();
            let name = text.get(at..end).unwrap_or_default();
            if end < text.len() {
                (name, Some(word.tail(end)), after)
            } else {
                (name, after.first().cloned(), after.get(1..).unwrap_or_default())
            }
        };
        let Some(value) = value else { return rest };
        if self.texts.contains(&name) {
            sent.texts.push(value);
        } else if self.goes.contains(&name) {
            sent.goes = Some(value);
        } else if self.roots.contains(&name) {
            sent.host = Some(value.text);
        } else if self.mounts.contains(&name) {
            sent.mounts.extend(mount(&value));
        } else if self.entry.contains(&name) {
            sent.inner.insert(0, value);
        }
        rest
    }
}

/// `ada@host:22` without what is not the host.
fn host_of(text: &str) -> &str {
    let text = text.strip_prefix("ssh://").unwrap_or(text);
    let host = text.rsplit_once('@').map_or(text, |(_, host)| host);
    if host.starts_with('/') || host.starts_with('.') { host } else { host.split(':').next().unwrap_or(host) }
}

/// `OUTSIDE:INSIDE[:ro]`, or `type=bind,source=OUTSIDE,target=INSIDE`.
fn mount(value: &Word) -> Option<(Word, Word)> {
    let part = |text: &str| {
        let dynamic = value.dynamic && !value.shape.contains(text);
        Word { dynamic, ..Word::literal(text) }
    };
    if value.text.contains("target=") || value.text.contains("dst=") || value.text.contains("destination=") {
        let key = |names: &[&str]| {
            value.text.split(',').find_map(|pair| {
                let (key, value) = pair.split_once('=')?;
                names.contains(&key).then_some(value)
            })
        };
        let inside = key(&["target", "dst", "destination"])?;
        let outside = key(&["source", "src"])?;
        return Some((part(inside), part(outside)));
    }
    let mut parts = value.text.split(':');
    let (outside, inside) = (parts.next()?, parts.next()?);
    // A name without a slash is a volume, no directory.
    let is_path = outside.starts_with(['/', '.', '~', '$']);
    is_path.then(|| (part(inside), part(outside)))
}
