// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Detects endless loops that fill the machine with processes or files.

use tenterhook_shell as ast;

/// Whether every round starts a background process and none waits.
pub(super) fn starts_processes_endlessly(body: &ast::Script, src: &str) -> bool {
    let starts = |statement: &ast::Statement| {
        let is_subshell = |command: &ast::Command| {
            matches!(command, ast::Command::Compound(compound)
                if matches!(&compound.kind, ast::Compound::Subshell(inner)
                    if inner.statements.iter().any(ast::Statement::is_background)))
        };
        statement.is_background() || statement.pipelines().flat_map(ast::Pipeline::commands).any(is_subshell)
    };
    let pauses = |statement: &ast::Statement| {
        let text = statement.span.text(src);
        !statement.is_background()
            && ["wait", "sleep", "read ", "inotifywait"].iter().any(|word| text.starts_with(word))
    };
    body.statements.iter().any(starts) && !body.statements.iter().any(pauses)
}

/// Whether every round creates files, and none pauses or ends the loop.
pub(super) fn creates_files_endlessly(body: &ast::Script, src: &str) -> bool {
    let text = body.span.text(src);
    let mut words = text.split(|c: char| c.is_whitespace() || matches!(c, ';' | '(' | ')' | '{' | '}' | '`'));
    let ends = |word: &str| {
        matches!(
            word,
            "break" | "exit" | "return" | "sleep" | "wait" | "read" | "inotifywait" | "kill" | "usleep"
        )
    };
    if words.clone().any(ends) {
        return false;
    }
    let makes = |word: &str| {
        matches!(word, "mkdir" | "touch" | "mktemp" | "dd" | "fallocate" | "truncate" | "mkfifo" | "cp")
    };
    let prints = |word: &str| matches!(word, "echo" | "printf" | "cat" | "head" | "yes" | "date");
    let is_kept = text.contains('>') && !text.contains("/dev/null") && !text.contains(">&");
    words.any(|word| makes(word) || is_kept && prints(word))
}
