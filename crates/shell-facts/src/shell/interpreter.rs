// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Programs that run texts.

use tenterhook_programs::{Language, Parsed, Program, Programs, Role, StandardInput, WordPart};

use super::super::described_command::DescribedCommand;
use super::super::description::word_of;
use super::builtin::is_stdin;
use super::word::{Word, merge};

/// The language of the texts and files that a program runs; `None` if it is not an interpreter.
pub(super) fn language_of(program: &str, programs: &Programs) -> Option<Language> {
    programs.find(program).as_ref().and_then(Program::language)
}

/// What an interpreter is told to run.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Script<'a> {
    /// This text; the words after it are its arguments.
    Text(Word, &'a [Word]),
    /// What comes on standard input.
    Stdin,
    /// A file.
    File(&'a Word),
    /// Something else: a module, a version number.
    Nothing,
}

/// The language of an interpreter and what it is told to run; `None` if the program is not an interpreter or
/// does something else with these words: `bun install`.
pub(super) fn script<'a>(described: &DescribedCommand<'a>) -> Option<(Language, Script<'a>)> {
    let DescribedCommand { program, words, parsed } = described;
    program.language()?;
    let script = code(parsed, words).or_else(|| file(parsed, words)).or_else(|| startup_file(parsed, words));
    let script = script.or_else(|| (parsed.stdin != StandardInput::Data).then_some(Script::Stdin));
    match script {
        Some(script) => Some((parsed.language?, script)),
        None if !parsed.path.is_empty() || !parsed.inner.is_empty() => None,
        None => Some((parsed.language?, Script::Nothing)),
    }
}

/// The text that options or an operand bring; several make one program: `perl -e CODE -e CODE`.
fn code<'a>(parsed: &Parsed<'_, '_>, words: &'a [Word]) -> Option<Script<'a>> {
    let is_code = |role: Role| matches!(role, Role::Code(_) | Role::Shell);
    let options = parsed.options.iter().filter(|option| is_code(option.role) && !option.off);
    // `pwsh -Command rm x`: the words behind it are one text.
    let rest = options.clone().find(|option| option.value.is_none()).and(parsed.inner.last());
    if let Some(inner) = rest {
        let inner = words.get(inner.start..inner.end).unwrap_or_default();
        return Some(Script::Text(join_words(inner, " "), &[]));
    }
    let operand = parsed.operands.iter().find(|operand| is_code(operand.role)).map(|operand| operand.part);
    let parts: Vec<_> = options.filter_map(|option| option.value).chain(operand).collect();
    let last = parts.last()?;
    let texts: Vec<_> = parts.iter().map(|part| word_of(words, *part)).collect();
    let arguments = words.get(last.word + 1..).unwrap_or_default();
    Some(Script::Text(join_words(&texts, "\n"), arguments))
}

/// The file that an option or an operand names.
fn file<'a>(parsed: &Parsed<'_, '_>, words: &'a [Word]) -> Option<Script<'a>> {
    let part = parsed.parts_with_role(Role::Script).next()?;
    let word = words.get(part.word)?;
    if !word.is("-") && !is_stdin(part.text) {
        return Some(Script::File(word));
    }
    // `bash - FILE`: a dash ends the options of a shell.
    let next = words.get(part.word + 1).filter(|_| word.is("-") && parsed.language == Some(Language::Shell));
    Some(next.map_or(Script::Stdin, Script::File))
}

/// `bash --rcfile <(…)` runs what the command prints.
fn startup_file<'a>(parsed: &Parsed<'_, '_>, words: &'a [Word]) -> Option<Script<'a>> {
    let mut files = parsed.parts_with_role(Role::Read);
    files.find_map(|part: WordPart<'_>| words.get(part.word).filter(|word| word.process)).map(Script::File)
}

/// One word with the texts of several.
fn join_words(words: &[Word], separator: &str) -> Word {
    if let [only] = words {
        return only.clone();
    }
    let texts = |text: fn(&Word) -> &str| words.iter().map(text).collect::<Vec<_>>().join(separator);
    let mut all = Word {
        text: texts(|word| &word.text),
        shape: texts(|word| &word.shape),
        dynamic: words.iter().any(|word| word.dynamic),
        pattern: words.iter().any(|word| word.pattern),
        ..Word::default()
    };
    for word in words {
        merge(&mut all.from, &word.from);
    }
    all
}

/// What runs a text, in one language or another.
const RUNS: &[&str] = &[
    "exec(",
    "eval(",
    "eval)(",
    "eval ",
    "system(",
    "iex",
    "invoke-expression",
    "new function(",
    "execfile",
    "execsync(",
    "execv",
    "popen(",
    "._compile(",
    ".runinthiscontext(",
    ".runinnewcontext(",
    ".runincontext(",
    "vm.script(",
    "loadstring(",
    "marshal.loads(",
    "pickle.loads(",
    "runpy.",
    "exec_module(",
    "shell=true",
    "'bash'",
    "\"bash\"",
    "'sh'",
    "\"sh\"",
    "/bin/sh",
    "/bin/bash",
    "source(",
];

/// Whether code in another language gets something from the network and runs it.
pub(super) fn runs_what_it_fetches(code: &str) -> bool {
    const FETCHES: &[&str] = &[
        "urlopen(",
        "requests.get(",
        "urlretrieve(",
        "httpx.get(",
        "fetch(",
        "httpx.",
        "requests.post(",
        "requests.session(",
        "urllib.request.",
        "urllib3",
        "aiohttp",
        "http.client",
        "http.get(",
        "https.get(",
        "https').get(",
        "https\").get(",
        "http').get(",
        "http\").get(",
        "axios",
        "http::tiny",
        "socket.http",
        "url(\"http",
        "url('http",
        "lwp::",
        "net::http",
        "open-uri",
        "uri.open(",
        "file_get_contents('http",
        "file_get_contents(\"http",
        "curl_exec",
        "downloadstring",
        "iwr ",
        "irm ",
        "invoke-webrequest",
        "invoke-restmethod",
    ];
    let code = code.to_ascii_lowercase();
    FETCHES.iter().any(|part| code.contains(part)) && RUNS.iter().any(|part| code.contains(part))
}

/// Whether code in another language runs what comes on standard input.
pub(super) fn runs_its_input(code: &str) -> bool {
    let code = code.to_ascii_lowercase();
    let runs = ["exec(", "eval(", "eval "].iter().any(|part| code.contains(part));
    runs && (code.contains("stdin.read") || code.contains("<stdin>") || code.contains("/dev/stdin"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::description::describe;

    fn words(line: &str) -> Vec<Word> {
        line.split(' ').map(Word::literal).collect()
    }

    fn script_of<'a>(program: &Word, words: &'a [Word]) -> Option<(Language, Script<'a>)> {
        script(&DescribedCommand::new(describe(&program.text)?, words))
    }

    #[test]
    fn an_interpreter_runs_its_input_only_when_told_nothing_else() {
        let stdin = |line: &str| {
            let words = words(line);
            let (program, rest) = words.split_first().unwrap();
            script_of(program, rest).unwrap().1 == Script::Stdin
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
            let (_, found) = script_of(program, rest).unwrap();
            assert_eq!(found, Script::Text(Word::literal("x"), &[]), "{line}");
        }
    }

    #[test]
    fn several_texts_are_one_program() {
        let words = words("-e a -e b");
        let (_, found) = script_of(&Word::literal("perl"), &words).unwrap();
        assert_eq!(found, Script::Text(Word::literal("a\nb"), &[]));
    }

    #[test]
    fn a_sub_command_that_runs_no_code_is_left_to_others() {
        for line in ["bun install", "bun x y", "deno test", "cat x"] {
            let words = words(line);
            let (program, rest) = words.split_first().unwrap();
            assert_eq!(script_of(program, rest), None, "{line}");
        }
    }
}
