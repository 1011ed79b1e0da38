// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads commands that a program finds under a name: functions of a library, scripts that are stored for later, and
//! code in patterns.

use tenterhook_programs::find_command_library;

use super::ShellReader;
use super::scope::ShellScope;
use super::word::ShellWord;

impl ShellReader<'_> {
    /// Analyses `ruby -run -e rm -- -r x`, `perl -MExtUtils::Command -e rm_rf x` and `npm pkg set scripts.x=TEXT`.
    pub(super) fn run_named_code(&mut self, program: &str, words: &[ShellWord], scope: &ShellScope) {
        if let Some(library) = find_command_library(program) {
            let texts: Vec<_> = words.iter().map(|word| word.text.as_str()).collect();
            if let Some((start, count)) = library.find_command(&texts) {
                let start = start.iter().map(|word| ShellWord::literal(word));
                let command: Vec<_> = start.chain(words.iter().skip(count).cloned()).collect();
                self.run_words(&command, &mut scope.started_by(program));
            }
        }
        // A script is judged when it is stored, because a later call runs it by its name.
        let stores = matches!(program, "npm" | "pnpm")
            && words.windows(2).any(|pair| matches!(pair, [pkg, set] if pkg.is("pkg") && set.is("set")));
        let script = |word: &ShellWord| {
            let value = word.text.strip_prefix("scripts.")?.split_once('=')?.1;
            stores.then(|| value.to_owned())
        };
        for text in words.iter().filter_map(script) {
            self.read_text(&text, &mut scope.started_by(program));
        }
    }
}

/// Returns the code in a pattern of zsh that a test of each file runs: `e:'CODE':` in `*(e:'CODE':)`.
pub(super) fn code_of_file_test(qualifiers: &str) -> Option<&str> {
    let (flags, rest) = qualifiers.split_once('e')?;
    if !flags.chars().all(|flag| ".@/=p*%rwxRWXDNsStTUGn^-".contains(flag)) {
        return None;
    }
    let mut letters = rest.chars();
    let close = match letters.next()? {
        ':' => ':',
        '{' => '}',
        '[' => ']',
        '<' => '>',
        _ => return None,
    };
    let code = letters.as_str();
    Some(code.split_once(close).map_or(code, |(code, _)| code))
}

#[cfg(test)]
mod tests {
    use super::super::tests::read_text;

    fn runs(line: &str, inner: &str) -> bool {
        let (program, word) = inner.split_once(' ').unwrap();
        let has = |words: &[super::ShellWord]| words.iter().any(|found| found.text == word);
        read_text(line).commands.iter().any(|command| command.program == program && has(&command.words))
    }

    #[test]
    fn commands_behind_a_name_are_found() {
        for (line, inner) in [
            ("ruby -run -e rm -- -r -f x", "rm x"),
            ("npm pkg set scripts.x='rm -rf x'", "rm x"),
            ("echo *(e:'rm -rf x':)", "rm x"),
            ("echo *(.e{'rm x'})", "rm x"),
            ("RM -rf x", "rm x"),
            ("just -f - <<< $'x:\\n rm y'", "rm y"),
            ("jq -nr '\"rm -r\" + \"f x\"' | sh", "rm x"),
            ("uv run - <<< 'import os; os.system(\"rm x\")'", "rm x"),
            ("echo a | xargs -Ic curl c", "curl a"),
        ] {
            assert!(runs(line, inner), "{line}");
        }
        for (line, inner) in [
            ("npm pkg set config.x='rm -rf x'", "rm x"),
            ("npm pkg get scripts.x='rm -rf x'", "rm x"),
            ("echo +(e-rm) *(a|e)", "rm x"),
            ("jq -r '\"rm -rf x\"' | sh", "rm x"),
        ] {
            assert!(!runs(line, inner), "{line}");
        }
    }
}
