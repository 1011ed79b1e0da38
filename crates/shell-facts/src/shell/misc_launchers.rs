// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads programs that start others in special ways, and applies a heuristic to unknown programs.

use tenterhook_code_facts::CodeLanguage;
use tenterhook_paths::resolve;

use super::builtin::is_stdin;
use super::invoke::{Redirections, join_texts};
use super::scope::ShellScope;
use super::word::ShellWord;
use super::{ShellReader, find};

/// Programs for which `rm -r` is plain text, their own sub-command, or a command on another machine.
const PROGRAMS_WITH_OWN_RM: &[&str] = &[
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

impl ShellReader<'_> {
    /// Runs the commands that one of these programs starts; returns false for other programs.
    pub(super) fn run_misc_launcher(
        &mut self,
        program: &str,
        words: &[ShellWord],
        scope: &mut ShellScope,
    ) -> bool {
        match program {
            "find" => {
                let (found, io, inner) =
                    (find::find_targets(words), Redirections::default(), scope.started_by(program));
                for command in find::exec_commands(words) {
                    self.run_each(command, &found, &io, &inner);
                }
                // `find` deletes the files itself, and its effects were added before.
                let outer = std::mem::replace(&mut self.skips_effects, true);
                if words.iter().any(|word| word.is("-delete")) {
                    for target in found {
                        let [rm, all, force] = ["rm", "-r", "-f"].map(ShellWord::literal);
                        self.run_words(&[rm, all, force, target], &mut inner.clone());
                    }
                }
                self.skips_effects = outer;
            }
            "fd" | "fdfind" => {
                let Some(inner) = find::fd_command(words) else { return true };
                for target in find::fd_targets(words) {
                    let Some(command) = self.fill_or_append(inner, &target) else { break };
                    self.run_words(&command, &mut scope.started_by(program));
                }
            }
            "parallel" => self.run_parallel(words, scope),
            "cmd" => self.run_cmd_words(words, scope),
            "git" => {
                let mut after = words.iter().skip_while(|word| !word.is("foreach"));
                if words.iter().any(|word| word.is("submodule")) && after.next().is_some() {
                    let text: Vec<_> = after.filter(|word| !word.is("--recursive")).cloned().collect();
                    self.read_text(&join_texts(&text), &mut scope.started_by(program));
                }
            }
            // The output of awk may be run by a shell, and `system` runs commands directly.
            "awk" | "gawk" | "mawk" | "nawk" => {
                let does =
                    |word: &&ShellWord| word.text.contains("system") || word.text.contains(['|', '>', '<']);
                let code = words.iter().find(does);
                if let (Some(code), Some(language)) = (code, CodeLanguage::from_name("awk")) {
                    self.report_unread("it is code in another language", &code.text);
                    let own = self.last_command();
                    self.read_code(language, &code.text, program, own, scope);
                }
            }
            "make" | "gmake" => {
                let file = words.iter().skip_while(|word| !word.text.starts_with("-f")).nth(1);
                let (from, texts) = match file {
                    _ if words.iter().any(|word| {
                        word.is("-") || word.is("-f-") || is_stdin(word.text.trim_start_matches("-f"))
                    }) =>
                    {
                        self.mark_typed_program(self.last_command(), scope);
                        (scope.stdin.from.clone(), scope.stdin.texts.clone())
                    }
                    Some(file) => {
                        let path = resolve(scope.cwd.expected(), &file.text).unwrap_or_default();
                        let from = self.find_writers(&path, scope);
                        self.mark_if_typed(self.last_command(), &from);
                        let texts = self.printed_by(&from);
                        (from, texts)
                    }
                    None => Default::default(),
                };
                for text in texts {
                    self.report_unread("it is a makefile", &text);
                    self.read_text(&makefile_recipes(&text), &mut scope.started_by(program));
                }
                self.mark_fed(&from, "sh");
            }
            _ => return false,
        }
        true
    }

    /// Runs the commands of `parallel rm -rf ::: a b`, or with the words on standard input.
    fn run_parallel(&mut self, words: &[ShellWord], scope: &ShellScope) {
        let start = words.iter().position(|word| !word.text.starts_with('-')).unwrap_or(words.len());
        let rest = words.get(start..).unwrap_or_default();
        let end = rest.iter().position(|word| word.text.starts_with(":::")).unwrap_or(rest.len());
        let (inner, inputs) = rest.split_at_checked(end).unwrap_or((rest, &[]));
        let mut through = scope.started_by("parallel");
        if inputs.is_empty() {
            if inner.is_empty() {
                self.mark_typed_program(self.last_command(), scope);
            }
            self.mark_typed_arguments(inner, scope);
            self.run_words(&[inner, &self.input_words(scope)].concat(), &mut through);
        }
        for input in inputs.iter().filter(|word| !word.text.starts_with(":::")) {
            let Some(command) = self.fill_or_append(inner, input) else { return };
            // `parallel` passes each line to a shell, so a single word may be a whole command.
            match command.as_slice() {
                [text, ..] if text.text.contains(' ') => self.read_text(&join_texts(&command), &mut through),
                _ => self.run_words(&command, &mut through),
            }
        }
    }
}

/// Finds `rm -r…` among the words of an unknown program, which most likely runs it.
pub(super) fn hidden_delete<'a>(program: &str, words: &'a [ShellWord]) -> Option<&'a [ShellWord]> {
    let removes = |pair: &[ShellWord]| match pair {
        [rm, option] => {
            let letters = option.text.strip_prefix('-').unwrap_or_default();
            (rm.is("rm") || rm.is("/bin/rm") || rm.is("/usr/bin/rm"))
                && letters.contains(['r', 'R'])
                && letters.chars().all(|letter| "rRfvidI".contains(letter))
        }
        _ => false,
    };
    let at = words.windows(2).position(removes)?;
    if PROGRAMS_WITH_OWN_RM.contains(&program) {
        return None;
    }
    words.get(at..)
}
/// Returns the recipe lines of a makefile, without the prefixes for `make`.
fn makefile_recipes(makefile: &str) -> String {
    let lines = makefile.lines().filter_map(|line| line.strip_prefix('\t'));
    lines.map(|line| line.trim_start_matches(['@', '-', '+']).replace("$$", "$") + "\n").collect()
}
