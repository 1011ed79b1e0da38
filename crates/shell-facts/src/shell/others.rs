// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Programs that start others in ways of their own, and a net for those nobody has heard of.

use tenterhook_code_facts::Language;
use tenterhook_paths::resolve;

use super::builtin::is_stdin;
use super::invoke::{Redirections, joined};
use super::scope::Scope;
use super::word::Word;
use super::{Reader, find};

/// Programs whose `rm -r` is a word, a verb of their own, or happens on another machine.
const OWN_RM: &[&str] = &[
    "echo",
    "printf",
    "git",
    "npm",
    "yarn",
    "pnpm",
    "bun",
    "docker",
    "podman",
    "nerdctl",
    "kubectl",
    "oc",
    "ssh",
    "mosh",
    "adb",
    "aws",
    "gsutil",
    "gcloud",
    "az",
    "s3cmd",
    "mc",
    "hdfs",
    "hadoop",
    "svn",
    "hg",
    "jj",
    "bzr",
    "p4",
    "dvc",
    "rclone",
    "gh",
    "glab",
    "fly",
    "heroku",
    "vagrant",
    "multipass",
    "lxc",
    "incus",
    "ipfs",
    "grep",
    "egrep",
    "fgrep",
    "rg",
    "ag",
    "ack",
    "sed",
    "awk",
    "gawk",
    "man",
    "tldr",
    "which",
    "whereis",
    "type",
    "hash",
    "alias",
    "unalias",
    "cat",
    "test",
    "[",
    "make",
    "just",
    "task",
    "history",
    "explainshell",
    "apropos",
    "whatis",
    "info",
    "help",
    "tee",
    "jq",
    "expr",
    "set",
];

impl Reader<'_> {
    /// What a program starts in a way of its own; false if it is none of those.
    pub(super) fn other(&mut self, program: &str, words: &[Word], scope: &mut Scope) -> bool {
        match program {
            "find" => {
                let (found, io, inner) =
                    (find::targets(words), Redirections::default(), scope.through(program));
                for command in find::commands(words) {
                    self.run_each(command, &found, &io, &inner);
                }
                // It does this itself, and has told so.
                let outer = std::mem::replace(&mut self.quiet, true);
                if words.iter().any(|word| word.is("-delete")) {
                    for target in found {
                        let [rm, all, force] = ["rm", "-r", "-f"].map(Word::literal);
                        self.invoke(&[rm, all, force, target], &mut inner.clone());
                    }
                }
                self.quiet = outer;
            }
            "fd" | "fdfind" => {
                let Some(inner) = find::fd_command(words) else { return true };
                for target in find::fd_targets(words) {
                    let Some(command) = self.ended(inner, &target) else { break };
                    self.invoke(&command, &mut scope.through(program));
                }
            }
            "parallel" => self.parallel(words, scope),
            "git" => {
                let mut after = words.iter().skip_while(|word| !word.is("foreach"));
                if words.iter().any(|word| word.is("submodule")) && after.next().is_some() {
                    let text: Vec<_> = after.filter(|word| !word.is("--recursive")).cloned().collect();
                    self.text(&joined(&text), &mut scope.through(program));
                }
            }
            // What it prints may be run by a shell, and `system` runs it at once.
            "awk" | "gawk" | "mawk" | "nawk" => {
                let does = |word: &&Word| word.text.contains("system") || word.text.contains(['|', '>', '<']);
                let code = words.iter().find(does);
                if let (Some(code), Some(language)) = (code, Language::named("awk")) {
                    self.pass_over("it is code in another language", &code.text);
                    let own = self.commands.len().checked_sub(1);
                    self.code(language, &code.text, program, own, scope);
                }
            }
            "make" | "gmake" => {
                let file = words.iter().skip_while(|word| !word.text.starts_with("-f")).nth(1);
                let (from, texts) = match file {
                    _ if words.iter().any(|word| {
                        word.is("-") || word.is("-f-") || is_stdin(word.text.trim_start_matches("-f"))
                    }) =>
                    {
                        self.mark_typed_program(self.commands.len().checked_sub(1), scope);
                        (scope.stdin.from.clone(), scope.stdin.texts.clone())
                    }
                    Some(file) => {
                        let path = resolve(scope.cwd.main(), &file.text).unwrap_or_default();
                        let from = self.writers(&path, scope);
                        self.mark_if_typed(self.commands.len().checked_sub(1), &from);
                        let texts = self.texts_of(&from);
                        (from, texts)
                    }
                    None => Default::default(),
                };
                for text in texts {
                    self.pass_over("it is a makefile", &text);
                    self.text(&recipes(&text), &mut scope.through(program));
                }
                self.feed(&from, "sh");
            }
            _ => return false,
        }
        true
    }

    /// `parallel rm -rf ::: a b`, or with what comes on standard input.
    fn parallel(&mut self, words: &[Word], scope: &Scope) {
        let start = words.iter().position(|word| !word.text.starts_with('-')).unwrap_or(words.len());
        let rest = words.get(start..).unwrap_or_default();
        let end = rest.iter().position(|word| word.text.starts_with(":::")).unwrap_or(rest.len());
        let (inner, inputs) = rest.split_at_checked(end).unwrap_or((rest, &[]));
        let mut through = scope.through("parallel");
        if inputs.is_empty() {
            if inner.is_empty() {
                self.mark_typed_program(self.commands.len().checked_sub(1), scope);
            }
            self.typed_arguments(inner, scope);
            self.invoke(&[inner, &self.inputs(scope)].concat(), &mut through);
        }
        for input in inputs.iter().filter(|word| !word.text.starts_with(":::")) {
            let Some(command) = self.ended(inner, input) else { return };
            // It hands each line to a shell: a single word is a text.
            match command.as_slice() {
                [text, ..] if text.text.contains(' ') => self.text(&joined(&command), &mut through),
                _ => self.invoke(&command, &mut through),
            }
        }
    }
}

/// `rm -r…` among the words of a program that is not known: most likely it runs them.
pub(super) fn hidden_delete<'a>(program: &str, words: &'a [Word]) -> Option<&'a [Word]> {
    let removes = |pair: &[Word]| match pair {
        [rm, option] => {
            let letters = option.text.strip_prefix('-').unwrap_or_default();
            (rm.is("rm") || rm.is("/bin/rm") || rm.is("/usr/bin/rm"))
                && letters.contains(['r', 'R'])
                && letters.chars().all(|letter| "rRfvidI".contains(letter))
        }
        _ => false,
    };
    let at = words.windows(2).position(removes)?;
    if OWN_RM.contains(&program) {
        return None;
    }
    words.get(at..)
}
/// The commands of a makefile, without what `make` itself reads of them.
fn recipes(makefile: &str) -> String {
    let lines = makefile.lines().filter_map(|line| line.strip_prefix('\t'));
    lines.map(|line| line.trim_start_matches(['@', '-', '+']).replace("$$", "$") + "\n").collect()
}
