// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Converts a pattern for Go's `regexp` to a pattern for Rust's `regex`.
//!
//! Both syntaxes are closely related. Differences are rewritten; a pattern that cannot be rewritten is refused. One
//! difference remains: in Go, `\b`, `\w`, `\d` and `\s` match ASCII only.

use std::iter::Peekable;
use std::str::Chars;

/// A pattern that cannot be converted.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(super) enum Re2Error {
    #[error("it ends in a backslash")]
    TrailingBackslash,
    #[error("`\\C` matches a byte, which is not supported in text")]
    Byte,
    #[error("it has a `[` without its `]`")]
    UnclosedClass,
    #[error("{message}")]
    Syntax { message: String, source: regex::Error },
}

/// Converts a pattern to the equivalent pattern for Rust's `regex`.
pub(super) fn convert_regex(pattern: &str) -> Result<String, Re2Error> {
    let out = rewrite_pattern(pattern)?;
    match regex::Regex::new(&out) {
        Ok(_) => Ok(out),
        Err(source) => {
            let text = source.to_string();
            let message = text.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
            Err(Re2Error::Syntax { message, source })
        }
    }
}

fn rewrite_pattern(pattern: &str) -> Result<String, Re2Error> {
    let mut out = String::with_capacity(pattern.len());
    let mut rest = pattern.chars().peekable();
    while let Some(letter) = rest.next() {
        match letter {
            '\\' => rewrite_escape(&mut rest, &mut out)?,
            '[' => rewrite_class(&mut rest, &mut out)?,
            // In Go, a `{` that does not start a repetition is literal.
            '{' if !is_repetition(rest.clone()) => out.push_str("\\{"),
            letter => out.push(letter),
        }
    }
    Ok(out)
}

/// Converts an escape sequence, outside or inside a class.
fn rewrite_escape(rest: &mut Peekable<Chars<'_>>, out: &mut String) -> Result<(), Re2Error> {
    match rest.next() {
        None => return Err(Re2Error::TrailingBackslash),
        Some('Q') => {
            let text: String = rest.collect();
            let (quoted, after) = text.split_once("\\E").unwrap_or((&text, ""));
            out.push_str(&regex::escape(quoted));
            out.push_str(&rewrite_pattern(after)?);
        }
        Some('C') => return Err(Re2Error::Byte),
        Some(digit @ '0'..='7') => {
            let mut code = u32::from(digit) - u32::from('0');
            for _ in 0..2 {
                let Some(next) = rest.next_if(|next| ('0'..='7').contains(next)) else { break };
                code = code * 8 + u32::from(next) - u32::from('0');
            }
            out.push_str(&format!("\\x{{{code:x}}}"));
        }
        // In Rust, `\<` and `\>` are word boundaries, so the backslash is dropped.
        Some(letter @ ('<' | '>')) => out.push(letter),
        Some(letter) => out.extend(['\\', letter]),
    }
    Ok(())
}

/// Converts a character class. In Go, a `[` inside a class is literal, and so is a repeated `&`, `-` or `~`.
fn rewrite_class(rest: &mut Peekable<Chars<'_>>, out: &mut String) -> Result<(), Re2Error> {
    out.push('[');
    if rest.next_if_eq(&'^').is_some() {
        out.push('^');
    }
    if rest.next_if_eq(&']').is_some() {
        out.push_str("\\]");
    }
    while let Some(letter) = rest.next() {
        match letter {
            ']' => {
                out.push(']');
                return Ok(());
            }
            '\\' => rewrite_escape(rest, out)?,
            '[' if rest.peek() == Some(&':') => {
                let text: String = rest.clone().collect();
                let named = text.split_once(":]").filter(|(name, _)| !name.contains(']'));
                let Some((name, _)) = named else {
                    out.push_str("\\[");
                    continue;
                };
                out.push('[');
                out.push_str(name);
                out.push_str(":]");
                for _ in 0..name.chars().count() + 2 {
                    rest.next();
                }
            }
            '[' | '&' | '~' => out.extend(['\\', letter]),
            '-' if out.ends_with('-') => out.push_str("\\-"),
            letter => out.push(letter),
        }
    }
    Err(Re2Error::UnclosedClass)
}

/// Whether a `{` starts `{n}`, `{n,}` or `{n,m}`.
fn is_repetition(rest: Peekable<Chars<'_>>) -> bool {
    let text: String = rest.take_while(|letter| *letter != '}').take(16).collect();
    let (least, most) = text.split_once(',').unwrap_or((&text, ""));
    let number = |text: &str| text.chars().all(|letter| letter.is_ascii_digit());
    !least.is_empty() && number(least) && number(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_syntax_is_kept() {
        for pattern in [
            r"^(pip|npm) install\s",
            r"\brm\s+-rf?\b",
            "(?i)drop{2,3}",
            "[[:alpha:]_-]+$",
            r"[^\s/]+",
            "a{2}b{1,}",
        ] {
            assert_eq!(convert_regex(pattern).as_deref(), Ok(pattern));
        }
    }

    #[test]
    fn different_syntax_is_rewritten() {
        for (theirs, ours, text) in [
            (r"\Qa.b[\E+", r"a\.b\[+", "a.b[["),
            ("${HOME}", r"$\{HOME}", ""),
            ("[[]x", r"[\[]x", "[x"),
            ("[a&&b]", r"[a\&\&b]", "&"),
            ("[+--]", r"[+-\-]", ","),
            (r"\<b\>", "<b>", "<b>"),
            (r"\101", r"\x{41}", "A"),
            ("[]a]", r"[\]a]", "]"),
            ("{,3}", r"\{,3}", "{,3}"),
        ] {
            let pattern = convert_regex(theirs).unwrap();
            assert_eq!(pattern, ours);
            assert!(text.is_empty() || regex::Regex::new(&pattern).unwrap().is_match(text), "{theirs}");
        }
    }

    #[test]
    fn unsupported_syntax_is_refused_with_a_reason() {
        for pattern in [r"\C", "(?=x)", "(", "[a", "\\", r"(a)\8"] {
            assert!(convert_regex(pattern).is_err(), "{pattern}");
        }
        assert_eq!(
            convert_regex("(?!x)").unwrap_err().to_string(),
            "look-around, including look-ahead and look-behind, is not supported"
        );
    }
}
