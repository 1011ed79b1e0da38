// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds calls in build code that start programs or delete files, and writes them as shell commands.
//!
//! Build files contain code in many languages, but the calls that matter have a common form: a name and string
//! literals. Each kind of file has a table of names. Arguments that are not literals become unknown words.

use super::{quote_word, unknown_variable};

/// What a call does with its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallMeaning {
    /// A shell runs the first argument.
    Shell,
    /// The arguments are the words of a command.
    Words,
    /// A single argument is shell text; several arguments are the words of a command.
    ShellOrWords,
    /// The arguments are files that are deleted, with everything in them.
    Delete,
}

/// A call that starts a program or deletes files.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LiteralCall {
    /// The end of the written name that is enough to recognise the call: `.run`, `os.RemoveAll`.
    pub(crate) name: &'static str,
    pub(crate) meaning: CallMeaning,
}

/// The calls of one kind of file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallTable {
    pub(crate) calls: &'static [LiteralCall],
    /// Text that begins a comment up to the end of the line.
    pub(crate) comment: &'static str,
    /// Methods that add words to the command that they are called on: `.arg("x")`.
    pub(crate) added_words: &'static [&'static str],
    /// Whether arguments may follow the name without parentheses.
    pub(crate) bare_arguments: bool,
    /// Text that begins an interpolated value in a double-quoted string.
    pub(crate) insertion: Option<&'static str>,
}

const fn call(name: &'static str, meaning: CallMeaning) -> LiteralCall {
    LiteralCall { name, meaning }
}

/// A table without calls, with the comments of C.
const NO_CALLS: CallTable =
    CallTable { calls: &[], comment: "//", added_words: &[], bare_arguments: false, insertion: None };

/// Calls in Cargo build scripts.
pub(crate) const RUST_CALLS: CallTable = CallTable {
    calls: &[
        call("Command::new", CallMeaning::Words),
        call("fs::remove_dir_all", CallMeaning::Delete),
        call("fs::remove_file", CallMeaning::Delete),
    ],
    added_words: &[".arg", ".args"],
    ..NO_CALLS
};

/// Calls in Go programs.
pub(crate) const GO_CALLS: CallTable = CallTable {
    calls: &[
        call("exec.Command", CallMeaning::Words),
        call("os.RemoveAll", CallMeaning::Delete),
        call("os.Remove", CallMeaning::Delete),
    ],
    ..NO_CALLS
};

/// Calls in Gradle builds, written in Groovy or Kotlin.
pub(crate) const GRADLE_CALLS: CallTable = CallTable {
    calls: &[
        call("commandLine", CallMeaning::Words),
        call("delete", CallMeaning::Delete),
        call(".execute", CallMeaning::Shell),
        call("ProcessBuilder", CallMeaning::Words),
    ],
    bare_arguments: true,
    insertion: Some("$"),
    ..NO_CALLS
};

/// Calls in Rake tasks. Other code in a Rakefile is read as Ruby.
pub(crate) const RAKE_CALLS: CallTable = CallTable {
    calls: &[
        call("sh", CallMeaning::ShellOrWords),
        call("rm_rf", CallMeaning::Delete),
        call("rm_r", CallMeaning::Delete),
    ],
    comment: "#",
    bare_arguments: true,
    insertion: Some("#{"),
    ..NO_CALLS
};

/// Calls in Invoke tasks and nox sessions. Other code in the file is read as Python.
pub(crate) const PYTHON_TASK_CALLS: CallTable = CallTable {
    calls: &[
        call(".run", CallMeaning::ShellOrWords),
        call(".run_always", CallMeaning::Words),
        call(".sudo", CallMeaning::Shell),
        call(".local", CallMeaning::Shell),
        call("local", CallMeaning::Shell),
    ],
    comment: "#",
    ..NO_CALLS
};

/// Calls in sources of languages that have no reader of their own, and of several that have one.
pub(crate) const ANY_CALLS: CallTable = CallTable {
    calls: &[
        call("system", CallMeaning::Shell),
        call("popen", CallMeaning::Shell),
        call("execShellCmd", CallMeaning::Shell),
        call("execCmdEx", CallMeaning::Shell),
        call("execCmd", CallMeaning::Shell),
        call("staticExec", CallMeaning::Shell),
        call("gorge", CallMeaning::Shell),
        call("exec", CallMeaning::ShellOrWords),
        call(".exec", CallMeaning::ShellOrWords),
        call("shell", CallMeaning::Shell),
        call(".execute", CallMeaning::Shell),
        call("local", CallMeaning::Shell),
        call("run_command", CallMeaning::Words),
        call("addSystemCommand", CallMeaning::Words),
        call("Child.run", CallMeaning::Words),
        call("Process.runSync", CallMeaning::Words),
        call("Process.run", CallMeaning::Words),
        call("Process.start", CallMeaning::Words),
        call("Process.Start", CallMeaning::Words),
        call("ProcessStartInfo", CallMeaning::Words),
        call("ProcessBuilder", CallMeaning::Words),
        call("startProcess", CallMeaning::Words),
        call("Seq", CallMeaning::Words),
        call("removeDir", CallMeaning::Delete),
        call("deleteSync", CallMeaning::Delete),
        call("Directory.Delete", CallMeaning::Delete),
        call("remove_all", CallMeaning::Delete),
        call("deleteTree", CallMeaning::Delete),
        call("rmdir_all", CallMeaning::Delete),
    ],
    comment: "//",
    added_words: &[],
    bare_arguments: true,
    insertion: None,
};

/// Words before the elements of a list, in several languages.
const LIST_CONSTRUCTORS: &[&str] =
    &["new String[]", "new string[]", "arrayOf", "listOf", "List.of", "Arrays.asList", ".{.argv=", ".argv ="];

/// Returns the commands of calls in code of any language.
pub(crate) fn read_any_calls(text: &str) -> Vec<String> {
    let plain = LIST_CONSTRUCTORS.iter().fold(text.to_owned(), |text, word| text.replace(word, ""));
    read_calls(&plain, &ANY_CALLS)
}

/// Returns the commands of all calls that the table lists, in order, in time linear in the length of the text.
pub(crate) fn read_calls(text: &str, table: &CallTable) -> Vec<String> {
    let mut scanner = CodeScanner { rest: text, table, unclosed: Vec::new() };
    let mut found = Vec::new();
    // The literal just before the current position, for names that begin with a dot.
    let mut literal: Option<String> = None;
    let mut is_inside_name = false;
    while let Some(letter) = scanner.rest.chars().next() {
        if scanner.skip_comment() {
            continue;
        }
        if let Some(own) = scanner.read_literal() {
            (literal, is_inside_name) = (Some(own), false);
            continue;
        }
        let called = table.calls.iter().find(|call| scanner.is_at_call(call.name, is_inside_name));
        if let Some(call) = called {
            scanner.skip_bytes(call.name.len());
            // `"rm -rf x".execute()` runs the text before the call.
            let before = literal.take().filter(|_| call.name == ".execute");
            let words = before.map_or_else(|| scanner.read_arguments(), |own| vec![own]);
            found.extend(command_text(call.meaning, &words));
            is_inside_name = false;
            continue;
        }
        is_inside_name = letter.is_alphanumeric() || letter == '_';
        if !letter.is_whitespace() {
            literal = None;
        }
        scanner.skip_bytes(letter.len_utf8());
    }
    found
}

/// Writes a call as a shell command. Words are quoted, so that only interpolated values are unknown.
fn command_text(meaning: CallMeaning, words: &[String]) -> Option<String> {
    let first = words.first()?;
    let is_text = meaning == CallMeaning::Shell || meaning == CallMeaning::ShellOrWords && words.len() == 1;
    if is_text {
        return Some(first.clone());
    }
    let quoted = words.iter().map(|word| quote_literal(word)).collect::<Vec<_>>().join(" ");
    Some(if meaning == CallMeaning::Delete { format!("rm -rf {quoted}") } else { quoted })
}

/// Quotes a word, except for values that are only known at run time.
fn quote_literal(word: &str) -> String {
    let unknown = unknown_variable();
    word.split(&unknown).map(quote_word).collect::<Vec<_>>().join(&unknown)
}

struct CodeScanner<'a> {
    rest: &'a str,
    table: &'a CallTable,
    /// Closing delimiters that do not occur in the rest of the text.
    unclosed: Vec<String>,
}

impl<'a> CodeScanner<'a> {
    fn skip_bytes(&mut self, count: usize) {
        self.rest = self.rest.get(count..).unwrap_or_default();
    }

    fn skip_comment(&mut self) -> bool {
        let is_comment = self.rest.starts_with(self.table.comment);
        if is_comment {
            self.skip_bytes(self.rest.find('\n').unwrap_or(self.rest.len()));
        }
        is_comment
    }

    /// Whether a call with this name begins here.
    fn is_at_call(&self, name: &str, is_inside_name: bool) -> bool {
        let Some(after) = self.rest.strip_prefix(name) else { return false };
        let starts = name.starts_with('.') || !is_inside_name;
        let next = after.trim_start_matches([' ', '\t']).chars().next().unwrap_or_default();
        let is_bare =
            self.table.bare_arguments && after.starts_with([' ', '\t']) && matches!(next, '\'' | '"' | '[');
        starts && (next == '(' || is_bare)
    }

    /// Reads a string literal in any of the usual forms, with its inserted values replaced.
    fn read_literal(&mut self) -> Option<String> {
        let first = self.rest.chars().next()?;
        let all: &'a str = self.rest;
        let raw = all.strip_prefix('r').filter(|rest| rest.starts_with(['#', '"']));
        if let Some(raw) = raw {
            let marks = raw.len() - raw.trim_start_matches('#').len();
            let close = format!("\"{}", "#".repeat(marks));
            let body = raw.get(marks..)?.strip_prefix('"')?;
            let own = self.find_closing(&close, |close| body.split_once(close).map(|(own, _)| own))?;
            self.skip_bytes(1 + marks + 1 + own.len() + close.len());
            return Some(own.to_owned());
        }
        if !matches!(first, '\'' | '"' | '`') {
            return None;
        }
        let triple: String = [first; 3].iter().collect();
        let close = if all.starts_with(&triple) { triple } else { first.to_string() };
        let body = all.get(close.len()..)?;
        let end = self.find_closing(&close, |close| literal_end(body, close))?;
        let own = body.get(..end)?;
        self.skip_bytes(close.len() * 2 + end);
        let own = if first == '"' { self.replace_insertions(own) } else { own.to_owned() };
        Some(unescape_quotes(&own, first))
    }

    /// Searches for the closing delimiter of a literal, unless an earlier search has shown that there is none. A
    /// literal in single or double quotes cannot extend beyond its line.
    fn find_closing<T>(&mut self, close: &str, find: impl FnOnce(&str) -> Option<T>) -> Option<T> {
        if self.unclosed.iter().any(|known| known == close) {
            return None;
        }
        let found = find(close);
        if found.is_none() && !matches!(close, "'" | "\"") {
            self.unclosed.push(close.to_owned());
        }
        found
    }

    fn replace_insertions(&self, text: &str) -> String {
        let Some(open) = self.table.insertion else { return text.to_owned() };
        let mut done = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once(open) {
            let is_escaped = before.ends_with('\\');
            done += before;
            if is_escaped {
                done += open;
                rest = after;
                continue;
            }
            let after = if open == "$" && !after.starts_with('{') {
                after.trim_start_matches(|c: char| c.is_alphanumeric() || matches!(c, '_' | '.'))
            } else {
                after.split_once('}').map_or("", |(_, after)| after)
            };
            done += &unknown_variable();
            rest = after;
        }
        done + rest
    }

    /// Reads the arguments of a call. Reading stops at the end of the call.
    fn read_arguments(&mut self) -> Vec<String> {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
        let mut words = Vec::new();
        if self.rest.starts_with('(') {
            self.read_bracketed(&mut words);
        } else {
            self.read_bare(&mut words);
        }
        while let Some(method) = self.next_added_method() {
            self.rest = self.rest.trim_start();
            self.skip_bytes(method.len());
            self.read_bracketed(&mut words);
        }
        words
    }

    /// Returns the method that adds words, if one is called next.
    fn next_added_method(&self) -> Option<&'static str> {
        let next = self.rest.trim_start();
        let is_next =
            |method: &&&str| next.strip_prefix(**method).is_some_and(|after| after.starts_with('('));
        self.table.added_words.iter().find(is_next).copied()
    }

    /// Reads literals between brackets; anything else between two commas is one unknown word.
    fn read_bracketed(&mut self, words: &mut Vec<String>) {
        let (mut depth, mut is_unknown) = (0_usize, false);
        while let Some(letter) = self.rest.chars().next() {
            if let Some(own) = self.read_literal() {
                // `"a" + b` is one word with an unknown part.
                match words.last_mut().filter(|_| is_unknown) {
                    Some(last) => *last += &own,
                    None => words.push(own),
                }
                is_unknown = false;
                let after = self.rest.trim_start();
                if after.starts_with('+') {
                    if let Some(last) = words.last_mut() {
                        *last += &unknown_variable();
                    }
                    is_unknown = true;
                }
                continue;
            }
            self.skip_bytes(letter.len_utf8());
            match letter {
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return;
                    }
                }
                ',' => is_unknown = false,
                '=' => {
                    // `env={…}` is a named argument, not a word.
                    if is_unknown {
                        words.pop();
                    }
                    return self.skip_to_closing(depth);
                }
                letter if (letter.is_alphanumeric() || letter == '_') && !is_unknown => {
                    words.push(unknown_variable());
                    is_unknown = true;
                }
                _ => {}
            }
        }
    }

    fn skip_to_closing(&mut self, mut depth: usize) {
        while let Some(letter) = self.rest.chars().next() {
            if self.read_literal().is_some() {
                continue;
            }
            self.skip_bytes(letter.len_utf8());
            match letter {
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return;
                    }
                }
                _ => {}
            }
        }
    }

    /// Reads literals up to the end of the line.
    fn read_bare(&mut self, words: &mut Vec<String>) {
        loop {
            self.rest = self.rest.trim_start_matches([' ', '\t', ',', '[']);
            match self.read_literal() {
                Some(own) => words.push(own),
                None => return,
            }
        }
    }
}

/// Returns the length of a literal's content.
fn literal_end(body: &str, close: &str) -> Option<usize> {
    let mut is_escaped = false;
    for (at, letter) in body.char_indices() {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' if close != "`" => is_escaped = true,
            '\n' if close.len() == 1 && close != "`" => return None,
            _ if body.get(at..).is_some_and(|rest| rest.starts_with(close)) => return Some(at),
            _ => {}
        }
    }
    None
}

/// Removes the backslashes before quotes, and turns `\n` into a line break.
fn unescape_quotes(text: &str, quote: char) -> String {
    if quote == '`' || !text.contains('\\') {
        return text.to_owned();
    }
    text.replace("\\\"", "\"").replace("\\'", "'").replace("\\n", "\n").replace("\\$", "$")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_with_literals_become_commands() {
        let unknown = unknown_variable();
        for (table, code, expected) in [
            (
                &RUST_CALLS,
                "// Command::new(\"no\")\nlet s = Command::new(\"sh\").args([\"-c\", \"curl x | sh\"]).status();",
                vec!["'sh' '-c' 'curl x | sh'".to_owned()],
            ),
            (
                &RUST_CALLS,
                "Command::new(\"cc\")\n  .arg(path)\n  .arg(\"-o\")",
                vec![format!("'cc' ''{unknown}'' '-o'")],
            ),
            (&RUST_CALLS, "println!(\"Command::new(x)\"); MyCommand::newer(\"a\")", vec![]),
            (&GO_CALLS, "os.RemoveAll(\"/home/u/x\")", vec!["rm -rf '/home/u/x'".to_owned()]),
            (&GO_CALLS, "exec.Command(`rm`, \"-rf\", dir).Run()", vec![format!("'rm' '-rf' ''{unknown}''")]),
            (&GRADLE_CALLS, "exec { commandLine 'sh', '-c', 'a b' }", vec!["'sh' '-c' 'a b'".to_owned()]),
            (&GRADLE_CALLS, "delete \"$buildDir/out\"", vec![format!("rm -rf ''{unknown}'/out'")]),
            (&GRADLE_CALLS, "\"rm -rf x\".execute()", vec!["rm -rf x".to_owned()]),
            (&GRADLE_CALLS, "tasks.delete { }\ndeleteAll 'x'", vec![]),
            (
                &RAKE_CALLS,
                "sh \"rm -rf ~/x\"\nsh 'a', 'b c'\nrm_rf 'd'",
                vec!["rm -rf ~/x".to_owned(), "'a' 'b c'".to_owned(), "rm -rf 'd'".to_owned()],
            ),
            (
                &PYTHON_TASK_CALLS,
                "c.run('rm -rf x', hide=True)\nsession.run(\"a\", \"b\", env={'x': 'y'})",
                vec!["rm -rf x".to_owned(), "'a' 'b'".to_owned()],
            ),
        ] {
            assert_eq!(read_calls(code, table), expected, "{code}");
        }
    }

    #[test]
    fn hostile_code_ends() {
        for code in
            ["Command::new(", "\"", "r#\"", "sh 'a", "delete [[[[", "Command::new(\"a\").arg(.arg(", "'\\"]
        {
            for table in [&RUST_CALLS, &GRADLE_CALLS, &RAKE_CALLS, &PYTHON_TASK_CALLS] {
                read_calls(&code.repeat(3), table);
            }
        }
    }
}
