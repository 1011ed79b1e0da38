// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Determines the language of an interpreter and the source of the code that it runs.

use tenterhook_programs::{Language, ParsedArgs, Program, Programs, Role, StandardInput, WordSlice};

use super::super::described_command::DescribedCommand;
use super::super::description::extract_word;
use super::builtin::is_stdin;
use super::word::{ShellWord, merge_sources};

/// Returns the language that a program interprets; `None` if it is not an interpreter.
pub(super) fn language_of(program: &str, programs: &Programs) -> Option<Language> {
    programs.find(program).as_ref().and_then(Program::language)
}

/// The source of the code that an interpreter runs.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ScriptSource<'a> {
    /// Code among the words, and its arguments.
    Text(ShellWord, &'a [ShellWord]),
    /// Code on standard input.
    Stdin,
    /// A script file.
    File(&'a ShellWord),
    /// No code: a module is run, or a version is printed.
    Nothing,
}

/// Returns the language of an interpreter and the source of its code. `None` if the program is not an interpreter, or
/// runs no code with these words: `bun install`.
pub(super) fn script_source<'a>(described: &DescribedCommand<'a>) -> Option<(Language, ScriptSource<'a>)> {
    let DescribedCommand { program, words, parsed } = described;
    program.language()?;
    let script = embedded_code(parsed, words)
        .or_else(|| script_file(parsed, words))
        .or_else(|| startup_file(parsed, words));
    let script = script.or_else(|| (parsed.stdin != StandardInput::Data).then_some(ScriptSource::Stdin));
    match script {
        Some(script) => Some((parsed.language?, script)),
        None if !parsed.path.is_empty() || !parsed.inner.is_empty() => None,
        None => Some((parsed.language?, ScriptSource::Nothing)),
    }
}

/// Returns code in options or an operand. Several options form one program: `perl -e CODE -e CODE`.
fn embedded_code<'a>(parsed: &ParsedArgs<'_, '_>, words: &'a [ShellWord]) -> Option<ScriptSource<'a>> {
    let is_code = |role: Role| matches!(role, Role::Code(_) | Role::Shell);
    let options = parsed.options.iter().filter(|option| is_code(option.role) && !option.off);
    // `pwsh -Command rm x`: the words after the option form one string.
    let rest = options.clone().find(|option| option.value.is_none()).and(parsed.inner.last());
    if let Some(inner) = rest {
        let inner = words.get(inner.start..inner.end).unwrap_or_default();
        return Some(ScriptSource::Text(join_words(inner, " "), &[]));
    }
    let operand = parsed.operands.iter().find(|operand| is_code(operand.role)).map(|operand| operand.part);
    let parts: Vec<_> = options.filter_map(|option| option.value).chain(operand).collect();
    let last = parts.last()?;
    let texts: Vec<_> = parts.iter().map(|part| extract_word(words, *part)).collect();
    let arguments = words.get(last.word + 1..).unwrap_or_default();
    Some(ScriptSource::Text(join_words(&texts, "\n"), arguments))
}

/// Returns the script file that an option or operand names.
fn script_file<'a>(parsed: &ParsedArgs<'_, '_>, words: &'a [ShellWord]) -> Option<ScriptSource<'a>> {
    let part = parsed.parts_with_role(Role::Script).next()?;
    let word = words.get(part.word)?;
    if !word.is("-") && !is_stdin(part.text) {
        return Some(ScriptSource::File(word));
    }
    // `bash - FILE`: a dash ends the options.
    let next = words.get(part.word + 1).filter(|_| word.is("-") && parsed.language == Some(Language::Shell));
    Some(next.map_or(ScriptSource::Stdin, ScriptSource::File))
}

/// Returns the output of a command used as startup file: `bash --rcfile <(…)`.
fn startup_file<'a>(parsed: &ParsedArgs<'_, '_>, words: &'a [ShellWord]) -> Option<ScriptSource<'a>> {
    let mut files = parsed.parts_with_role(Role::Read);
    files
        .find_map(|part: WordSlice<'_>| words.get(part.word).filter(|word| word.is_process))
        .map(ScriptSource::File)
}

/// Joins the texts of several words into one.
fn join_words(words: &[ShellWord], separator: &str) -> ShellWord {
    if let [only] = words {
        return only.clone();
    }
    let texts = |text: fn(&ShellWord) -> &str| words.iter().map(text).collect::<Vec<_>>().join(separator);
    let mut all = ShellWord {
        text: texts(|word| &word.text),
        shape: texts(|word| &word.shape),
        dynamic: words.iter().any(|word| word.dynamic),
        pattern: words.iter().any(|word| word.pattern),
        ..ShellWord::default()
    };
    for word in words {
        merge_sources(&mut all.from, &word.from);
    }
    all
}

/// Whether code runs its standard input.
pub(super) fn runs_its_input(code: &str) -> bool {
    let code = code.to_ascii_lowercase();
    let runs = ["exec(", "eval(", "eval "].iter().any(|part| code.contains(part));
    runs && (code.contains("stdin.read") || code.contains("<stdin>") || code.contains("/dev/stdin"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::description::describe;

    fn words(line: &str) -> Vec<ShellWord> {
        line.split(' ').map(ShellWord::literal).collect()
    }

    fn parse_script<'a>(program: &ShellWord, words: &'a [ShellWord]) -> Option<(Language, ScriptSource<'a>)> {
        script_source(&DescribedCommand::new(describe(&program.text)?, words))
    }

    #[test]
    fn an_interpreter_runs_its_input_only_when_told_nothing_else() {
        let stdin = |line: &str| {
            let words = words(line);
            let (program, rest) = words.split_first().unwrap();
            parse_script(program, rest).unwrap().1 == ScriptSource::Stdin
        };
        for line in [
            "sh",
            "bash -",
            "bash -s -- a",
            "bash -eux -o pipefail",
            "bash --rcfile x",
            "python3.12 -",
            "python -u",
            "python -i",
            "node",
            "node -r x",
            "ruby -rjson",
            "perl -MJSON",
            "lua -l x",
            "php -- --install-dir=bin",
            "deno repl",
            "deno run -",
            "irb -r json",
        ] {
            assert!(stdin(line), "{line}");
        }
        for line in [
            "sh x.sh",
            "bash - x.sh",
            "bash -c x",
            "bash -c",
            "bash -lc x",
            "python3 -m json.tool",
            "python -c x",
            "python -V",
            "node -e x",
            "node --test",
            "node -v",
            "perl -ne x",
            "perl -MJSON -e x",
            "php -S localhost:8000",
            "php -f x.php",
        ] {
            assert!(!stdin(line), "{line}");
        }
    }

    #[test]
    fn code_is_found_behind_more_options_and_in_the_same_word() {
        for line in [
            "bash -c -e x",
            "bash -c -- x",
            "python3 -cx",
            "node --eval=x",
            "node -p x",
            "perl -MFile::Path -e x",
            "php -rx",
            "deno eval x",
            "pwsh -NoP -Comm x",
            "powershell -c x",
            "tcsh -fc x",
            "julia --eval=x",
        ] {
            let words = words(line);
            let (program, rest) = words.split_first().unwrap();
            let (_, found) = parse_script(program, rest).unwrap();
            assert_eq!(found, ScriptSource::Text(ShellWord::literal("x"), &[]), "{line}");
        }
    }

    #[test]
    fn several_texts_are_one_program() {
        let words = words("-e a -e b");
        let (_, found) = parse_script(&ShellWord::literal("perl"), &words).unwrap();
        assert_eq!(found, ScriptSource::Text(ShellWord::literal("a\nb"), &[]));
    }

    #[test]
    fn a_sub_command_that_runs_no_code_is_left_to_others() {
        for line in ["bun install", "bun x y", "deno test", "cat x"] {
            let words = words(line);
            let (program, rest) = words.split_first().unwrap();
            assert_eq!(parse_script(program, rest), None, "{line}");
        }
    }
}
