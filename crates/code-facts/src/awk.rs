// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads awk code: commands and files follow `|`, `>` and `<`, and commands are arguments of `system`.

use tenterhook_paths::FileOp;

use super::lex::{self, TextPart, TokenKind};
use super::reader::{CodeReader, TokenCursor};
use super::value::{CodeValue, ValueKind, ValueOrigin};
use super::{CodeEffect, CodeLanguage};

pub(super) fn read(language: CodeLanguage, text: &str) -> Vec<CodeEffect> {
    let mut reader = CodeReader::new(language, text.len());
    let tokens = lex::tokens(language, text);
    let pairs = lex::pairs(&tokens);
    let mut code = TokenCursor { tokens: &tokens, pairs: &pairs, at: 0, end: tokens.len() };
    while let Some(token) = code.peek() {
        let before = code.at;
        match (token.kind, token.text) {
            (TokenKind::Word, "system") if code.sign_ahead(1, "(") => {
                code.at += 2;
                let text = read_value(&mut reader, &mut code);
                reader.run_shell_text(&text);
            }
            (TokenKind::Word, "print" | "printf") => {
                code.at += 1;
                read_print(&mut reader, &mut code);
            }
            (TokenKind::Word, "getline") => {
                code.at += 1;
                let name = code.word_ahead(0).map(str::to_owned);
                code.at += usize::from(name.is_some());
                if code.eat("<") {
                    let path = read_value(&mut reader, &mut code);
                    add_file_effect(&mut reader, FileOp::Read, &path);
                }
            }
            (TokenKind::Word, name) if code.sign_ahead(1, "=") => {
                code.at += 2;
                let text = read_value(&mut reader, &mut code);
                read_getline(&mut reader, &mut code, &text);
                reader.set_nested(name, text, false);
            }
            (TokenKind::Text | TokenKind::Word, _) => {
                let text = read_value(&mut reader, &mut code);
                read_getline(&mut reader, &mut code, &text);
            }
            _ => {}
        }
        code.at += usize::from(code.at == before);
    }
    reader.finish()
}

/// Reads `"cmd" | getline x`.
fn read_getline(reader: &mut CodeReader, code: &mut TokenCursor<'_>, text: &CodeValue) {
    if (code.is_sign("|") || code.is_sign("|&")) && code.word_ahead(1) == Some("getline")
        || code.is_sign("|") && code.sign_ahead(1, "&") && code.word_ahead(2) == Some("getline")
    {
        code.at += if code.sign_ahead(1, "&") { 3 } else { 2 };
        let socket = is_socket(text);
        run_command(reader, text);
        // The output of the command is stored in a variable.
        if let Some(name) = code.word_ahead(0) {
            let from = if socket { ValueOrigin::Network } else { ValueOrigin::Here };
            reader.set_variable(name, CodeValue::from(from));
            code.at += 1;
        }
    }
}

/// Reads a `print` statement and its target.
fn read_print(reader: &mut CodeReader, code: &mut TokenCursor<'_>) {
    let mut depth = 0usize;
    while let Some(token) = code.peek() {
        match (token.kind, token.text) {
            (TokenKind::Newline, _) | (TokenKind::Sign, ";" | "}") => return,
            (TokenKind::Sign, "(") => depth += 1,
            (TokenKind::Sign, ")") => depth = depth.saturating_sub(1),
            (TokenKind::Word, "system") if code.sign_ahead(1, "(") => return,
            (TokenKind::Sign, sign @ (">" | ">>")) if depth == 0 => {
                let does = if sign == ">" { FileOp::Write } else { FileOp::Append };
                code.at += 1;
                let path = read_value(reader, code);
                return add_file_effect(reader, does, &path);
            }
            (TokenKind::Sign, "|") => {
                code.at += 1;
                code.eat("&");
                if code.is_word("getline") {
                    return;
                }
                let text = read_value(reader, code);
                return run_command(reader, &text);
            }
            // `"cmd" | getline` may be part of the statement.
            (TokenKind::Text, _) if depth == 0 => {
                let text = read_value(reader, code);
                read_getline(reader, code, &text);
                continue;
            }
            _ => {}
        }
        code.at += 1;
    }
}

/// Records a command, or a connection if the text is a socket path.
fn run_command(reader: &mut CodeReader, text: &CodeValue) {
    if is_socket(text) {
        return add_connection(reader, text);
    }
    // The command comes from the network.
    if text.from == ValueOrigin::Network {
        reader.shell = true;
    }
    reader.run_shell_text(text);
}

fn add_file_effect(reader: &mut CodeReader, does: FileOp, path: &CodeValue) {
    if is_socket(path) {
        return add_connection(reader, path);
    }
    if !path.shape.starts_with("/dev/std") && path.shape != "-" {
        reader.add_file_effect(does, path, false);
    }
}

fn is_socket(text: &CodeValue) -> bool {
    text.each().iter().any(|one| one.is_text() && one.shape.starts_with("/inet"))
}

/// Records a connection to `/inet/tcp/0/host/port`.
fn add_connection(reader: &mut CodeReader, text: &CodeValue) {
    reader.socket = true;
    let mut places = text.shape.split('/').skip(4);
    let host = places.next().filter(|host| !host.is_empty()).unwrap_or("*");
    let port = places.next().map_or_else(String::new, |port| format!(":{port}"));
    let to = CodeValue { known: text.known, ..CodeValue::text(format!("tcp://{host}{port}")) };
    reader.push_effect(CodeEffect::Connect(to.argument()));
}

/// Reads adjacent texts and names, which awk concatenates.
fn read_value(reader: &mut CodeReader, code: &mut TokenCursor<'_>) -> CodeValue {
    let mut out: Option<CodeValue> = None;
    // A parenthesized text.
    let open = code.eat("(");
    while let Some(token) = code.peek() {
        let next = match token.kind {
            TokenKind::Text => match token.parts.as_slice() {
                [TextPart::Text(text)] => CodeValue::text(text.as_str()),
                _ => CodeValue::unknown(),
            },
            TokenKind::Number => CodeValue { kind: ValueKind::Number, ..CodeValue::text(token.text) },
            TokenKind::Word
                if matches!(
                    token.text,
                    "getline" | "print" | "printf" | "if" | "while" | "for" | "in" | "else"
                ) =>
            {
                break;
            }
            TokenKind::Word if token.text == "ENVIRON" && code.sign_ahead(1, "[") => {
                let home = code.ahead(2).is_some_and(|key| key.text == "\"HOME\"");
                code.at = code.pairs.get(code.at + 1).copied().unwrap_or(code.end).min(code.end);
                if home { CodeValue::text("~") } else { CodeValue::unknown() }
            }
            // The value of a function call or array element is unknown.
            TokenKind::Word if code.sign_ahead(1, "(") || code.sign_ahead(1, "[") => {
                code.at = code.pairs.get(code.at + 1).copied().unwrap_or(code.end).min(code.end);
                CodeValue::unknown()
            }
            TokenKind::Word => reader.variable(token.text).unwrap_or_default(),
            _ => break,
        };
        code.at += 1;
        out = Some(match out {
            None => next,
            Some(before) if reader.spend_budget(before.weight()) => before.concat(next),
            Some(_) => CodeValue::unknown(),
        });
    }
    if open {
        code.eat(")");
    }
    out.unwrap_or_default()
}
