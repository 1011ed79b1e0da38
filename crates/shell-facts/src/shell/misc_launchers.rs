// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads programs that start others in special ways, and applies a heuristic to unknown programs.

use tenterhook_code_facts::CodeLanguage;
use tenterhook_paths::{Certainty, resolve};
use tenterhook_programs::has_own_rm;

use super::builtin::is_stdin;
use super::invoke::{Redirections, join_texts};
use super::scope::ShellScope;
use super::word::ShellWord;
use super::{ShellReader, find};

/// Options whose value is a command in most programs that have them.
const COMMAND_OPTIONS: &[&str] = &["-c", "--command", "--cmd", "--exec", "--shell", "--run"];

impl ShellReader<'_> {
    /// Analyses the commands that one of these programs starts; returns false for other programs.
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
                        // Files that a test selects are deleted one by one.
                        let all = if target.shape.ends_with("/**") { "-r" } else { "-v" };
                        let [rm, all, force] = ["rm", all, "-f"].map(ShellWord::literal);
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
                    if starts_programs(&code.text) {
                        self.report_unread("it is code in another language", &code.text);
                    }
                    let own = self.last_command();
                    let text = format!("{}{}", awk_variables(words), code.text);
                    self.read_code(language, &text, program, own, scope);
                    // Each line of the input is a command.
                    if code.text.contains("system($0)") {
                        self.mark_fed(&scope.stdin.from.clone(), "sh");
                        for text in scope.stdin.texts.clone() {
                            self.read_text(&text, &mut scope.started_by(program));
                        }
                    }
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
                    self.run_makefile(&text, program, scope);
                }
                self.mark_fed(&from, "sh");
            }
            "just" if words.iter().any(|word| word.is("-") || is_stdin(&word.text)) => {
                self.mark_typed_program(self.last_command(), scope);
                for text in scope.stdin.texts.clone() {
                    // Recipes may be indented with spaces.
                    self.run_makefile(&text.replace("\n ", "\n\t"), program, scope);
                }
                self.mark_fed(&scope.stdin.from.clone(), "sh");
            }
            _ => return false,
        }
        true
    }

    /// Reads the command in an option of a program without a description: `watcher --command 'rm -rf x'`. The text is
    /// read only if it begins with a described program.
    pub(super) fn run_option_texts(&mut self, program: &str, words: &[ShellWord], scope: &ShellScope) {
        for pair in words.windows(2) {
            let [option, text] = pair else { continue };
            let first = text.text.split_whitespace().next().unwrap_or_default();
            if COMMAND_OPTIONS.contains(&option.text.as_str())
                && first.len() < text.text.len()
                && self.programs.find(base_name(first)).is_some()
            {
                let outer = std::mem::replace(&mut self.certainty, Certainty::Possible);
                self.read_text(&text.text, &mut scope.started_by(program));
                self.certainty = outer;
            }
        }
    }

    /// Analyses the recipes and the `$(shell …)` functions of a makefile.
    pub(super) fn run_makefile(&mut self, text: &str, program: &str, scope: &ShellScope) {
        self.read_text(&makefile_recipes(text), &mut scope.started_by(program));
        for rest in text.split("$(shell ").skip(1) {
            let command = rest.split_once(')').map_or(rest, |(command, _)| command);
            self.read_text(command, &mut scope.started_by(program));
        }
    }

    /// Analyses the commands of `parallel rm -rf ::: a b`. Without `:::`, the words come from standard input.
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
            let read = self.input_words(scope);
            // A single word is shell text, into which each line is inserted.
            if let ([text], false) = (inner, read.is_empty())
                && text.text.contains(' ')
            {
                for input in &read {
                    let Some(command) = self.fill_or_append(inner, input) else { return };
                    self.read_text(&join_texts(&command), &mut through);
                }
            } else {
                self.run_words(&[inner, &read].concat(), &mut through);
            }
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

/// Finds `rm -r…` among the words of a program, because the program most likely runs it. For a program without a
/// description, other destructive commands are found too.
pub(super) fn hidden_delete<'a>(
    program: &str,
    is_described: bool,
    words: &'a [ShellWord],
) -> Option<&'a [ShellWord]> {
    if has_own_rm(program) {
        return None;
    }
    let removes = (0..words.len()).find(|at| removes_tree(words.get(*at..).unwrap_or_default()));
    if removes.is_some() || is_described {
        return removes.and_then(|at| words.get(at..));
    }
    let is_destroyer =
        |word: &ShellWord| DESTROYERS.contains(&base_name(&word.text).split('.').next().unwrap_or_default());
    let candidates = words.iter().enumerate().filter(|(_, word)| is_destroyer(word)).map(|(at, _)| at);
    let mut tails = candidates.take(MAX_HIDDEN_CANDIDATES).filter_map(|at| words.get(at..));
    tails.find(|tail| destroys(tail))
}

/// Programs that destroy files or disks with some of their arguments.
const DESTROYERS: &[&str] = &["find", "dd", "shred", "wipefs", "blkdiscard", "mkfs"];

/// Maximum number of words of one command that may begin a hidden command.
const MAX_HIDDEN_CANDIDATES: usize = 8;

fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Whether words begin with `rm -r`.
fn removes_tree(words: &[ShellWord]) -> bool {
    let [rm, option, ..] = words else { return false };
    let letters = option.text.strip_prefix('-').unwrap_or_default();
    (rm.is("rm") || rm.is("/bin/rm") || rm.is("/usr/bin/rm"))
        && letters.contains(['r', 'R'])
        && letters.chars().all(|letter| "rRfvidI".contains(letter))
}

/// Whether words are a whole command that destroys files or disks: `find ~ -delete`, `dd of=/dev/sda`, `mkfs /dev/sda`.
fn destroys(words: &[ShellWord]) -> bool {
    let Some((program, rest)) = words.split_first() else { return false };
    let has = |found: &dyn Fn(&str) -> bool| rest.iter().any(|word| found(&word.text));
    let is_device = |text: &str| text.starts_with("/dev/");
    match base_name(&program.text) {
        "find" => {
            rest.first().is_some_and(|word| !word.text.starts_with('-')) && has(&|text| text == "-delete")
        }
        "dd" => has(&|text| text.starts_with("of=/dev/")),
        "shred" | "wipefs" | "blkdiscard" => has(&is_device),
        name if name == "mkfs" || name.starts_with("mkfs.") => has(&is_device),
        _ => false,
    }
}

/// Whether awk code may start other programs: with `system`, `getline` or a pipe. `>` may be a comparison, and `|` a part
/// of a regular expression, but a pipe is followed by a space or a text.
fn starts_programs(code: &str) -> bool {
    let code = code.replace("||", "");
    let mut after_bars = code.match_indices('|').map(|(at, _)| code.get(at + 1..).unwrap_or_default());
    let is_pipe =
        |after: &str| after.starts_with(|letter: char| letter.is_whitespace() || matches!(letter, '&' | '"'));
    code.contains("system") || code.contains("getline") || after_bars.any(is_pipe)
}

/// Returns the variables of `awk -v NAME=VALUE` as assignments.
fn awk_variables(words: &[ShellWord]) -> String {
    let values = words.windows(2).filter_map(|pair| match pair {
        [option, value] if option.is("-v") => value.text.split_once('='),
        _ => None,
    });
    let assignments: Vec<_> =
        values.map(|(name, value)| format!("{name} = \"{}\"; ", value.replace('"', "\\\""))).collect();
    assignments.concat()
}

/// Returns the recipe lines of a makefile, without the prefixes for `make`. A recipe may follow its target after a
/// semicolon.
fn makefile_recipes(makefile: &str) -> String {
    let recipe = |line: &str| -> Option<String> {
        let own = line.strip_prefix('\t');
        let inline = || line.split_once(':').and_then(|(_, rest)| rest.split_once(';')).map(|(_, rest)| rest);
        own.or_else(inline).map(|text| text.trim_start().to_owned())
    };
    let lines: Vec<_> = makefile.lines().filter_map(recipe).collect();
    lines.iter().map(|line| line.trim_start_matches(['@', '-', '+']).replace("$$", "$") + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::read_text;

    fn programs(line: &str) -> Vec<String> {
        read_text(line).commands.into_iter().map(|command| command.program).collect()
    }

    #[test]
    fn programs_without_a_description_run_destructive_words() {
        for (line, inner) in [
            ("some-runner --fast rm -rf ~/x", "rm"),
            ("some-runner -- find ~ -delete", "find"),
            ("some-runner mkfs.ext4 /dev/sda1", "mkfs.ext4"),
            ("some-runner dd if=/dev/zero of=/dev/sda", "dd"),
            ("some-runner --command 'rm -rf ~/x'", "rm"),
            ("curl https://x.io/x | sudo tee /usr/local/bin/x1 && x1; some-runner -c 'rm -rf ~'", "rm"),
        ] {
            assert!(programs(line).iter().any(|program| program == inner), "{line}");
        }
        for (line, inner) in [
            ("some-runner find a b", "find"),
            ("some-runner dd if=a of=b", "dd"),
            ("some-runner --message 'rm -rf ~/x'", "rm"),
            ("some-runner --command 'remove everything'", "remove"),
            ("some-runner rm x", "rm"),
        ] {
            assert!(!programs(line).iter().any(|program| program == inner), "{line}");
        }
    }

    #[test]
    fn wrappers_run_the_rest_of_their_words() {
        for line in [
            "ssh-agent rm -r x",
            "choom -n 0 -- rm -r x",
            "linux64 rm -r x",
            "ip netns exec a rm -r x",
            "dbus-launch rm -r x",
            "pyenv exec rm -r x",
            "volta run rm -r x",
            "fnm exec rm -r x",
            "lerna exec -- rm -r x",
            "flatpak-spawn --host rm -r x",
            "rr record rm -r x",
            "tox exec -- rm -r x",
            "aa-exec -p a -- rm -r x",
            "capsh -- -c 'rm -r x'",
            "sem --fg 'rm -r x'",
            "asciinema rec -c 'rm -r x' a",
            "/lib64/ld-linux-x86-64.so.2 /bin/rm -r x",
        ] {
            assert!(programs(line).iter().any(|program| program == "rm"), "{line}");
        }
    }
}
