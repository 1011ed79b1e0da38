// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Awk: commands and files stand behind `|`, `>` and `<`, and in `system`.

use tenterhook_paths::Does;

use super::lex::{self, Kind as Token, Part};
use super::reader::{Code, Reader};
use super::value::{From, Kind, Value};
use super::{Act, Language};

pub(super) fn read(language: Language, text: &str) -> Vec<Act> {
    let mut reader = Reader::new(language, text.len());
    let tokens = lex::tokens(language, text);
    let pairs = lex::pairs(&tokens);
    let mut code = Code { tokens: &tokens, pairs: &pairs, at: 0, end: tokens.len() };
    while let Some(token) = code.peek() {
        let before = code.at;
        match (token.kind, token.text) {
            (Token::Word, "system") if code.sign_ahead(1, "(") => {
                code.at += 2;
                let text = value(&mut reader, &mut code);
                reader.shell_text(&text);
            }
            (Token::Word, "print" | "printf") => {
                code.at += 1;
                print(&mut reader, &mut code);
            }
            (Token::Word, "getline") => {
                code.at += 1;
                let name = code.word_ahead(0).map(str::to_owned);
                code.at += usize::from(name.is_some());
                if code.eat("<") {
                    let path = value(&mut reader, &mut code);
                    touch(&mut reader, Does::Read, &path);
                }
            }
            (Token::Word, name) if code.sign_ahead(1, "=") => {
                code.at += 2;
                let text = value(&mut reader, &mut code);
                piped(&mut reader, &mut code, &text);
                reader.set_nested(name, text, false);
            }
            (Token::Text | Token::Word, _) => {
                let text = value(&mut reader, &mut code);
                piped(&mut reader, &mut code, &text);
            }
            _ => {}
        }
        code.at += usize::from(code.at == before);
    }
    reader.finish()
}

/// `"cmd" | getline x`
fn piped(reader: &mut Reader, code: &mut Code<'_>, text: &Value) {
    if (code.is_sign("|") || code.is_sign("|&")) && code.word_ahead(1) == Some("getline")
        || code.is_sign("|") && code.sign_ahead(1, "&") && code.word_ahead(2) == Some("getline")
    {
        code.at += if code.sign_ahead(1, "&") { 3 } else { 2 };
        let socket = is_socket(text);
        command(reader, text);
        // What is read from it has its place in a variable.
        if let Some(name) = code.word_ahead(0) {
            let from = if socket { From::Network } else { From::Here };
            reader.set(name, Value::from(from));
            code.at += 1;
        }
    }
}

/// What is printed, and where to.
fn print(reader: &mut Reader, code: &mut Code<'_>) {
    let mut depth = 0usize;
    while let Some(token) = code.peek() {
        match (token.kind, token.text) {
            (Token::Newline, _) | (Token::Sign, ";" | "}") => return,
            (Token::Sign, "(") => depth += 1,
            (Token::Sign, ")") => depth = depth.saturating_sub(1),
            (Token::Word, "system") if code.sign_ahead(1, "(") => return,
            (Token::Sign, sign @ (">" | ">>")) if depth == 0 => {
                let does = if sign == ">" { Does::Write } else { Does::Append };
                code.at += 1;
                let path = value(reader, code);
                return touch(reader, does, &path);
            }
            (Token::Sign, "|") => {
                code.at += 1;
                code.eat("&");
                if code.is_word("getline") {
                    return;
                }
                let text = value(reader, code);
                return command(reader, &text);
            }
            // `print "x" | "sh"`: a text and then `getline` is a command.
            (Token::Text, _) if depth == 0 => {
                let text = value(reader, code);
                piped(reader, code, &text);
                continue;
            }
            _ => {}
        }
        code.at += 1;
    }
}

/// A command, or a socket in the place of one.
fn command(reader: &mut Reader, text: &Value) {
    if is_socket(text) {
        return connect(reader, text);
    }
    // What a socket said is run.
    if text.from == From::Network {
        reader.shell = true;
    }
    reader.shell_text(text);
}

fn touch(reader: &mut Reader, does: Does, path: &Value) {
    if is_socket(path) {
        return connect(reader, path);
    }
    if !path.shape.starts_with("/dev/std") && path.shape != "-" {
        reader.touch(does, path, false);
    }
}

fn is_socket(text: &Value) -> bool {
    text.each().iter().any(|one| one.is_text() && one.shape.starts_with("/inet"))
}

/// `/inet/tcp/0/host/port`
fn connect(reader: &mut Reader, text: &Value) {
    reader.socket = true;
    let mut places = text.shape.split('/').skip(4);
    let host = places.next().filter(|host| !host.is_empty()).unwrap_or("*");
    let port = places.next().map_or_else(String::new, |port| format!(":{port}"));
    let to = Value { known: text.known, ..Value::text(format!("tcp://{host}{port}")) };
    reader.act(Act::Connect(to.argument()));
}

/// Texts and names side by side are one text.
fn value(reader: &mut Reader, code: &mut Code<'_>) -> Value {
    let mut out: Option<Value> = None;
    // A bracket around one text.
    let open = code.eat("(");
    while let Some(token) = code.peek() {
        let next = match token.kind {
            Token::Text => match token.parts.as_slice() {
                [Part::Text(text)] => Value::text(text.as_str()),
                _ => Value::unknown(),
            },
            Token::Number => Value { kind: Kind::Number, ..Value::text(token.text) },
            Token::Word
                if matches!(
                    token.text,
                    "getline" | "print" | "printf" | "if" | "while" | "for" | "in" | "else"
                ) =>
            {
                break;
            }
            Token::Word if token.text == "ENVIRON" && code.sign_ahead(1, "[") => {
                let home = code.ahead(2).is_some_and(|key| key.text == "\"HOME\"");
                code.at = code.pairs.get(code.at + 1).copied().unwrap_or(code.end).min(code.end);
                if home { Value::text("~") } else { Value::unknown() }
            }
            // A function or an element: not known.
            Token::Word if code.sign_ahead(1, "(") || code.sign_ahead(1, "[") => {
                code.at = code.pairs.get(code.at + 1).copied().unwrap_or(code.end).min(code.end);
                Value::unknown()
            }
            Token::Word => reader.variable(token.text).unwrap_or_default(),
            _ => break,
        };
        code.at += 1;
        out = Some(match out {
            None => next,
            Some(before) if reader.spend(before.weight()) => before.concat(next),
            Some(_) => Value::unknown(),
        });
    }
    if open {
        code.eat(")");
    }
    out.unwrap_or_default()
}
