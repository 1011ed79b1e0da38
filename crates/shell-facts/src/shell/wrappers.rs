// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Unwraps wrappers: programs that run another command.

use tenterhook_programs::{Location, Role, StandardInput};

use super::super::described_command::DescribedCommand;
use super::super::description::extract_word;
use super::word::ShellWord;

/// The command that a wrapper runs.
#[derive(Debug, Default)]
pub(super) struct WrappedCommand<'a> {
    /// The words of the command.
    pub(super) inner: &'a [ShellWord],
    /// Shell scripts to run.
    pub(super) texts: Vec<ShellWord>,
    /// Directory that the wrapper changes to first.
    pub(super) working_directory: Option<ShellWord>,
    /// Whether the wrapper starts a shell that reads standard input.
    pub(super) shell: bool,
    /// Whether the words are joined into shell text.
    pub(super) joins: bool,
}

/// Returns the command that a wrapper runs; `None` if the program with this sub-command is not a wrapper.
pub(super) fn unwrap<'a>(described: &DescribedCommand<'a>) -> Option<WrappedCommand<'a>> {
    let DescribedCommand { program, words, parsed } = described;
    if !program.wraps() {
        return None;
    }
    // These programs are read by their own modules.
    let is_special = matches!(parsed.escape, "find" | "parallel");
    let wraps = parsed.wraps || !parsed.inner.is_empty();
    if is_special || !wraps || parsed.location != Location::Here {
        return None;
    }
    // `command -v` looks up a program and runs nothing.
    if parsed.has_role(Role::Info) {
        return Some(WrappedCommand::default());
    }
    let inner = parsed.inner.last();
    let texts = parsed.options.iter().filter(|option| option.role == Role::Shell && !option.off);
    let texts: Vec<_> =
        texts.filter_map(|option| option.value).map(|part| extract_word(words, part)).collect();
    let working_directory = parsed.options.iter().rfind(|option| option.role == Role::Directory);
    Some(WrappedCommand {
        inner: inner.and_then(|inner| words.get(inner.start..inner.end)).unwrap_or_default(),
        shell: inner.is_none() && texts.is_empty() && parsed.stdin == StandardInput::Shell,
        texts,
        working_directory: working_directory
            .and_then(|option| option.value)
            .map(|part| extract_word(words, part)),
        joins: inner.is_some_and(|inner| inner.joined),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::description::describe;

    fn words(line: &str) -> Vec<ShellWord> {
        line.split(' ').map(ShellWord::literal).collect()
    }

    #[test]
    fn wrappers_are_taken_off() {
        let inner = |line: &str| {
            let words = words(line);
            let (program, rest) = words.split_first().unwrap();
            let described = DescribedCommand::new(describe(&program.text)?, rest);
            unwrap(&described).and_then(|wrapped| wrapped.inner.first().map(|word| word.text.clone()))
        };
        for line in [
            "sudo -u root rm",
            "sudo -uroot -E A=1 rm",
            "env -i -u X PATH=/x rm",
            "env - PATH=/x rm",
            "timeout -k 5 10 rm",
            "nice -n 10 rm",
            "nohup -- rm",
            "xargs -0 -I {} rm",
            "uv run rm",
            "direnv exec . rm",
            "runuser -u bob -- rm",
            "chrt -b rm",
            "chrt -b 0 rm",
            "tini -e 143 rm",
            "rlwrap -e x -a rm",
            "nsenter -t 1 -W rm",
            "numactl -P 0 rm",
            "foot -a x rm",
            "envchain aws rm",
            "aws-vault exec -- prod rm",
            "chamber exec a b -- rm",
            "dotenv -c development -- rm",
            "bwrap --dev-bind-try / / --json-status-fd 3 rm",
        ] {
            assert_eq!(inner(line).as_deref(), Some("rm"), "{line}");
        }
        for line in ["command -v rm", "ls rm", "uv pip rm", "su rm"] {
            assert_eq!(inner(line), None, "{line}");
        }
    }

    #[test]
    fn a_text_may_stick_to_its_option() {
        for line in [
            "su -cx",
            "su root --command=x",
            "script -qc x",
            "su - root -c x",
            "nix-shell --run x",
            "newgrp -c x",
            "doppler run --command x",
            "infisical run -c x",
            "gnome-terminal -e x",
        ] {
            let words = words(line);
            let (program, rest) = words.split_first().unwrap();
            let described = DescribedCommand::new(describe(&program.text).unwrap(), rest);
            let texts = unwrap(&described).unwrap().texts;
            assert_eq!(texts.iter().map(|word| word.text.as_str()).collect::<Vec<_>>(), ["x"], "{line}");
        }
    }
}
