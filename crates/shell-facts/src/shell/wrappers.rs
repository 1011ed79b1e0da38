// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Programs that run other programs.

use tenterhook_programs::{Location, Role, StandardInput};

use super::super::described_command::DescribedCommand;
use super::super::description::word_of;
use super::word::Word;

/// What a wrapper would run.
#[derive(Debug, Default)]
pub(super) struct Wrapped<'a> {
    /// The words of the command.
    pub(super) inner: &'a [Word],
    /// Texts for a shell.
    pub(super) texts: Vec<Word>,
    /// Where it goes first.
    pub(super) goes: Option<Word>,
    /// Whether it starts a shell on standard input.
    pub(super) shell: bool,
    /// Whether the words are one text for a shell.
    pub(super) joins: bool,
}

/// What a wrapper would run; `None` if the program, with this sub-command, is not a wrapper.
pub(super) fn unwrap<'a>(described: &DescribedCommand<'a>) -> Option<Wrapped<'a>> {
    let DescribedCommand { program, words, parsed } = described;
    if !program.wraps() {
        return None;
    }
    // These take more from their words than a command.
    let is_special = matches!(parsed.escape, "find" | "parallel");
    let wraps = parsed.wraps || !parsed.inner.is_empty();
    if is_special || !wraps || parsed.location != Location::Here {
        return None;
    }
    // `command -v` looks a program up; it runs nothing.
    if parsed.has_role(Role::Info) {
        return Some(Wrapped::default());
    }
    let inner = parsed.inner.last();
    let texts = parsed.options.iter().filter(|option| option.role == Role::Shell && !option.off);
    let texts: Vec<_> = texts.filter_map(|option| option.value).map(|part| word_of(words, part)).collect();
    let goes = parsed.options.iter().rfind(|option| option.role == Role::Directory);
    Some(Wrapped {
        inner: inner.and_then(|inner| words.get(inner.start..inner.end)).unwrap_or_default(),
        shell: inner.is_none() && texts.is_empty() && parsed.stdin == StandardInput::Shell,
        texts,
        goes: goes.and_then(|option| option.value).map(|part| word_of(words, part)),
        joins: inner.is_some_and(|inner| inner.joined),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::description::describe;

    fn words(line: &str) -> Vec<Word> {
        line.split(' ').map(Word::literal).collect()
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
