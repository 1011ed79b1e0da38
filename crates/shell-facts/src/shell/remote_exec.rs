// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads commands that programs run on other machines, in containers and below other root directories.

use std::sync::Arc;

use tenterhook_paths::{expand_tilde, resolve};
use tenterhook_programs::{Location, ParsedArgs, Role, StandardInput};

use super::super::described_command::DescribedCommand;
use super::super::description::extract_word;
use super::super::effect::ExecLocation;
use super::ShellReader;
use super::exec_site::ExecSite;
use super::invoke::join_texts;
use super::scope::ShellScope;
use super::word::ShellWord;

/// Maximum number of mounts of one container. Every path is compared with each mount.
const MAX_MOUNTS: usize = 64;

/// A command that is run elsewhere.
#[derive(Default)]
struct RemoteCommand {
    /// The words of the command.
    inner: Vec<ShellWord>,
    /// Whether the words are joined into shell text.
    joins: bool,
    /// Shell scripts to run there.
    texts: Vec<ShellWord>,
    /// Directory the command starts in.
    working_directory: Option<ShellWord>,
    host: Option<String>,
    /// Directory that becomes the root directory.
    root: Option<String>,
    /// Mounted directories: paths inside and outside.
    mounts: Vec<(ShellWord, ShellWord)>,
}

impl ShellReader<'_> {
    /// Reads the commands that a program runs elsewhere; returns false if there are none.
    pub(super) fn run_elsewhere(
        &mut self,
        described: &DescribedCommand<'_>,
        program: &str,
        scope: &ShellScope,
    ) -> bool {
        let DescribedCommand { program: description, words, parsed } = described;
        if !description.leaves() {
            return false;
        }
        let command = RemoteCommand::new(parsed, words);
        if parsed.location == Location::Here || !parsed.wraps && command.texts.is_empty() {
            return false;
        }
        let mut inner = Self::elsewhere_scope(parsed, program, &command, scope);
        inner.stdin.from_terminal &= forwards_input(parsed, program);
        let has_no_command = command.inner.is_empty() && command.texts.is_empty();
        let opens_shell = parsed.stdin == StandardInput::Shell;
        // Without a command, a container runs the default command of its image, usually a shell.
        let runs_image_default = parsed.location == Location::Container
            && !parsed.operands.is_empty()
            && !parsed.has_role(Role::Info);
        if has_no_command && (opens_shell && !is_forge(&command) || runs_image_default) {
            self.mark_typed_program(self.last_command(), &inner);
        }
        if has_no_command && opens_shell {
            self.mark_fed(&scope.stdin.from.clone(), "sh");
            for text in std::mem::take(&mut inner.stdin.texts) {
                self.read_text(&text, &mut inner.clone());
            }
        }
        for text in &command.texts {
            self.mark_fed(&text.from, "sh");
            self.read_text(&text.text, &mut inner.clone());
        }
        if command.inner.is_empty() {
        } else if command.joins {
            self.read_text(&join_texts(&command.inner), &mut inner);
        } else {
            self.run_words(&command.inner, &mut inner);
        }
        true
    }

    /// Returns the scope of the commands that run elsewhere.
    fn elsewhere_scope(
        parsed: &ParsedArgs<'_, '_>,
        program: &str,
        command: &RemoteCommand,
        scope: &ShellScope,
    ) -> ShellScope {
        let cwd = scope.cwd.expected();
        let home = &scope.site.roots.home;
        let known = |word: &ShellWord| {
            let whole = expand_tilde(&word.shape, home);
            (!word.dynamic).then(|| resolve(cwd, whole.as_deref().unwrap_or(&word.shape))).flatten()
        };
        let mut mounts: Vec<(String, String)> = command
            .mounts
            .iter()
            .take(MAX_MOUNTS)
            .filter_map(|(inside, outside)| Some((resolve(None, &inside.shape)?, known(outside)?)))
            .collect();
        let working_directory = command
            .working_directory
            .as_ref()
            .and_then(|word| (!word.dynamic).then(|| resolve(None, &word.shape)).flatten());
        let (site, cwd) = if parsed.location == Location::Root {
            let root = command.root.as_deref().and_then(|root| resolve(cwd, root));
            mounts.extend(root.map(|root| ("/".to_owned(), root)));
            (ExecSite::nested(&scope.site, ExecLocation::Container, None, mounts), Some("/".to_owned()))
        } else if parsed.location == Location::Remote {
            (
                ExecSite::nested(&scope.site, ExecLocation::Remote, command.host.clone(), mounts),
                working_directory,
            )
        } else {
            (ExecSite::nested(&scope.site, ExecLocation::Container, None, mounts), working_directory)
        };
        scope.started_by(program).at_site(Arc::new(site), cwd)
    }
}

// === impl RemoteCommand ===

impl RemoteCommand {
    fn new(parsed: &ParsedArgs<'_, '_>, words: &[ShellWord]) -> Self {
        let mut command = Self::default();
        if let Some(inner) = parsed.inner.last() {
            command.inner.extend_from_slice(words.get(inner.start..inner.end).unwrap_or_default());
            command.joins = inner.joined;
        }
        for option in parsed.options.iter().filter(|option| !option.off && !option.by_prefix) {
            let Some(value) = option.value.map(|part| extract_word(words, part)) else { continue };
            match option.role {
                Role::Shell | Role::Command => command.texts.push(value),
                Role::RemotePath => command.working_directory = Some(value),
                Role::Root => command.root = Some(value.text),
                Role::Mount => command.mounts.extend(parse_mount(&value)),
                // `docker run --entrypoint rm IMAGE -rf x`: the words are arguments of the entry point.
                Role::Program if parsed.location == Location::Container => command.inner.insert(0, value),
                _ => {}
            }
        }
        let operands =
            parsed.operands.iter().map(|operand| (operand.role, extract_word(words, operand.part)));
        for (role, word) in operands {
            match role {
                Role::Root => command.root = Some(word.text),
                Role::Shell | Role::Command => command.texts.push(word),
                Role::Host | Role::Text if command.host.is_none() && !word.dynamic => {
                    command.host = Some(host_name(&word.text).to_owned());
                }
                _ => {}
            }
        }
        command
    }
}

/// Whether text typed into the local terminal reaches the remote program.
fn forwards_input(parsed: &ParsedArgs<'_, '_>, program: &str) -> bool {
    let is_compose = parsed.path.first() == Some(&"compose");
    match program {
        "ssh" | "autossh" | "slogin" | "hpnssh" | "tsh" => !parsed.has_any(&["-n"]),
        "docker" | "podman" | "nerdctl" | "finch" if !is_compose => parsed.has_any(&["-i", "--interactive"]),
        "kubectl" | "oc" | "k" if parsed.path.first() != Some(&"rsh") => parsed.has_any(&["-i", "--stdin"]),
        _ => true,
    }
}

/// Whether the host is a code host that offers no shell.
fn is_forge(command: &RemoteCommand) -> bool {
    const FORGES: &[&str] =
        &["github.com", "ssh.github.com", "gitlab.com", "altssh.gitlab.com", "bitbucket.org", "codeberg.org"];
    command.host.as_deref().is_some_and(|host| FORGES.contains(&host))
}

/// Returns the host in `ada@host:22`.
fn host_name(text: &str) -> &str {
    let text = text.strip_prefix("ssh://").unwrap_or(text);
    let host = text.rsplit_once('@').map_or(text, |(_, host)| host);
    if host.starts_with('/') || host.starts_with('.') { host } else { host.split(':').next().unwrap_or(host) }
}

/// Parses `OUTSIDE:INSIDE[:ro]` or `type=bind,source=OUTSIDE,target=INSIDE`; returns the paths inside and outside.
fn parse_mount(value: &ShellWord) -> Option<(ShellWord, ShellWord)> {
    let part = |text: &str| {
        let dynamic = value.dynamic && !value.shape.contains(text);
        ShellWord { dynamic, ..ShellWord::literal(text) }
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
    // A name without a slash is a volume, not a directory.
    let is_path = outside.starts_with(['/', '.', '~', '$']);
    is_path.then(|| (part(inside), part(outside)))
}
