// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Programs that run commands on other machines, in containers and in other roots.

use std::sync::Arc;

use tenterhook_paths::resolve;
use tenterhook_programs::{Location, Parsed, Role, StandardInput};

use super::super::described_command::DescribedCommand;
use super::super::description::word_of;
use super::super::effect::Side;
use super::Reader;
use super::invoke::joined;
use super::scope::Scope;
use super::side::Where;
use super::word::Word;

/// Every path is looked for in every one of them.
const MOST_MOUNTS: usize = 64;

/// What is sent elsewhere.
#[derive(Default)]
struct Sent {
    /// The words of the command.
    inner: Vec<Word>,
    /// Whether they are one text for a shell.
    joins: bool,
    /// Texts for a shell there.
    texts: Vec<Word>,
    /// Directory the command starts in.
    goes: Option<Word>,
    host: Option<String>,
    /// Directory that becomes the root.
    root: Option<String>,
    /// Directories of this side: inside and outside.
    mounts: Vec<(Word, Word)>,
}

impl Reader<'_> {
    /// Reads what a program runs elsewhere; false if it does nothing of the kind.
    pub(super) fn run_elsewhere(
        &mut self,
        described: &DescribedCommand<'_>,
        program: &str,
        scope: &Scope,
    ) -> bool {
        let DescribedCommand { program: description, words, parsed } = described;
        if !description.leaves() {
            return false;
        }
        let sent = Sent::new(parsed, words);
        if parsed.location == Location::Here || !parsed.wraps && sent.texts.is_empty() {
            return false;
        }
        let mut inner = Self::beyond(parsed, program, &sent, scope);
        inner.stdin.typed &= forwards_input(parsed, program);
        let told_nothing = sent.inner.is_empty() && sent.texts.is_empty();
        let opens_shell = parsed.stdin == StandardInput::Shell;
        // Without a command, an image runs what it was made for: a shell, as a rule.
        let shows_image = parsed.location == Location::Container
            && !parsed.operands.is_empty()
            && !parsed.has_role(Role::Info);
        if told_nothing && (opens_shell && !is_forge(&sent) || shows_image) {
            self.mark_typed_program(self.commands.len().checked_sub(1), &inner);
        }
        if told_nothing && opens_shell {
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
        } else if sent.joins {
            self.text(&joined(&sent.inner), &mut inner);
        } else {
            self.invoke(&sent.inner, &mut inner);
        }
        true
    }

    /// The scope on the other side.
    fn beyond(parsed: &Parsed<'_, '_>, program: &str, sent: &Sent, scope: &Scope) -> Scope {
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
        let (place, cwd) = if parsed.location == Location::Root {
            let root = sent.root.as_deref().and_then(|root| resolve(cwd, root));
            mounts.extend(root.map(|root| ("/".to_owned(), root)));
            (Where::beyond(&scope.place, Side::Container, None, mounts), Some("/".to_owned()))
        } else if parsed.location == Location::Remote {
            (Where::beyond(&scope.place, Side::Remote, sent.host.clone(), mounts), goes)
        } else {
            (Where::beyond(&scope.place, Side::Container, None, mounts), goes)
        };
        scope.through(program).moved(Arc::new(place), cwd)
    }
}

// === impl Sent ===

impl Sent {
    fn new(parsed: &Parsed<'_, '_>, words: &[Word]) -> Self {
        let mut sent = Self::default();
        if let Some(inner) = parsed.inner.last() {
            sent.inner.extend_from_slice(words.get(inner.start..inner.end).unwrap_or_default());
            sent.joins = inner.joined;
        }
        for option in parsed.options.iter().filter(|option| !option.off && !option.by_prefix) {
            let Some(value) = option.value.map(|part| word_of(words, part)) else { continue };
            match option.role {
                Role::Shell | Role::Command => sent.texts.push(value),
                Role::RemotePath => sent.goes = Some(value),
                Role::Root => sent.root = Some(value.text),
                Role::Mount => sent.mounts.extend(mount(&value)),
                // `docker run --entrypoint rm IMAGE -rf x`: the words are its arguments.
                Role::Program if parsed.location == Location::Container => sent.inner.insert(0, value),
                _ => {}
            }
        }
        let operands = parsed.operands.iter().map(|operand| (operand.role, word_of(words, operand.part)));
        for (role, word) in operands {
            match role {
                Role::Root => sent.root = Some(word.text),
                Role::Shell | Role::Command => sent.texts.push(word),
                Role::Host | Role::Text if sent.host.is_none() && !word.dynamic => {
                    sent.host = Some(host_of(&word.text).to_owned());
                }
                _ => {}
            }
        }
        sent
    }
}

/// Whether what is typed here reaches the program on the other side.
fn forwards_input(parsed: &Parsed<'_, '_>, program: &str) -> bool {
    let is_compose = parsed.path.first() == Some(&"compose");
    match program {
        "ssh" | "autossh" | "slogin" | "hpnssh" | "tsh" => !parsed.has_any(&["-n"]),
        "docker" | "podman" | "nerdctl" | "finch" if !is_compose => parsed.has_any(&["-i", "--interactive"]),
        "kubectl" | "oc" | "k" if parsed.path.first() != Some(&"rsh") => parsed.has_any(&["-i", "--stdin"]),
        _ => true,
    }
}

/// Whether the host serves repositories and gives nobody a shell.
fn is_forge(sent: &Sent) -> bool {
    const FORGES: &[&str] =
        &["github.com", "ssh.github.com", "gitlab.com", "altssh.gitlab.com", "bitbucket.org", "codeberg.org"];
    sent.host.as_deref().is_some_and(|host| FORGES.contains(&host))
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
