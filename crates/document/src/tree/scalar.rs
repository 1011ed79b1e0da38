// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Determines the type of a scalar: by its tag, or by its content if it is a plain scalar without a tag.

use std::borrow::Cow;

use granit_parser::{ScalarStyle, Tag};

use super::Value;

/// An invalid scalar, or an unsupported tag.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum ScalarError {
    #[error("expected `true` or `false`")]
    NotBoolean,
    #[error("`{0}` is not a whole number")]
    NotWhole(String),
    #[error("`{0}` is not a number")]
    NotNumber(String),
    #[error("value `{0}` is not a finite number")]
    NotFinite(String),
    #[error("unsupported tag `{0}`")]
    UnsupportedTag(String),
}

/// Parses a scalar.
pub(super) fn parse_scalar(
    text: Cow<'_, str>,
    style: ScalarStyle,
    tag: Option<&Tag>,
) -> Result<Value, ScalarError> {
    let plain = style == ScalarStyle::Plain;
    match tag.and_then(tag_kind) {
        Some("null") => Ok(Value::Null),
        Some("bool") => parse_bool(&text).map(Value::Bool).ok_or(ScalarError::NotBoolean),
        Some("int") => parse_integer(&text).ok_or_else(|| ScalarError::NotWhole(text.into_owned())),
        Some("float") => parse_float(&text)?.ok_or_else(|| ScalarError::NotNumber(text.into_owned())),
        Some("str" | "") => Ok(Value::Text(text.into_owned())),
        Some(_) => Err(unsupported(tag)),
        None if plain => parse_plain(text),
        None => Ok(Value::Text(text.into_owned())),
    }
}

/// Checks that a list or map may have this tag.
pub(super) fn check_tag(tag: Option<&Tag>, collection: &str) -> Result<(), ScalarError> {
    match tag.and_then(tag_kind) {
        None | Some("") => Ok(()),
        Some(kind) if kind == collection => Ok(()),
        Some(_) => Err(unsupported(tag)),
    }
}

/// Whether a scalar is the key `<<`, which merges a map.
pub(super) fn is_merge_key(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> bool {
    let wanted =
        tag.map_or(style == ScalarStyle::Plain, |tag| tag.handle() != "!" && tag.suffix() == "merge");
    text == "<<" && wanted
}

fn unsupported(tag: Option<&Tag>) -> ScalarError {
    ScalarError::UnsupportedTag(tag.map(Tag::original).unwrap_or_default())
}

/// Returns the name of a tag that determines the type. The non-specific tag `!` has an empty name. Tags of other
/// programs, such as `!Ref`, are ignored.
fn tag_kind(tag: &Tag) -> Option<&str> {
    const CORE_TAGS: &[&str] =
        &["null", "bool", "int", "float", "str", "seq", "map", "binary", "timestamp", "time", ""];
    let name = match tag.core_suffix() {
        Some(name) => name,
        None if tag.handle() == "!" || tag.handle().starts_with("tag:yaml.org,") => tag.suffix(),
        None if tag.handle().is_empty() && tag.suffix() == "!" => "",
        None => return None,
    };
    CORE_TAGS.iter().find(|known| **known == name).copied()
}

/// Parses a scalar without tag and quotes. `y` and `n` are not booleans, because rules use them as option letters.
fn parse_plain(text: Cow<'_, str>) -> Result<Value, ScalarError> {
    let value = match text.as_bytes().first() {
        None => Some(Value::Null),
        Some(b'0'..=b'9' | b'+' | b'-' | b'.') => match parse_integer(&text) {
            Some(number) => Some(number),
            None => parse_float(&text)?,
        },
        Some(b'~') if text.len() == 1 => Some(Value::Null),
        Some(b'n' | b'N') if text.eq_ignore_ascii_case("null") => Some(Value::Null),
        Some(b't' | b'T' | b'f' | b'F') => parse_bool(&text).map(Value::Bool),
        _ => None,
    };
    Ok(value.unwrap_or_else(|| Value::Text(text.into_owned())))
}

fn parse_bool(text: &str) -> Option<bool> {
    if text.eq_ignore_ascii_case("true") {
        return Some(true);
    }
    text.eq_ignore_ascii_case("false").then_some(false)
}

/// Parses an integer. An integer that is too large makes only its entry invalid, not the whole file.
#[expect(clippy::cast_precision_loss, reason = "a caller that needs a whole number rejects it")]
fn parse_integer(text: &str) -> Option<Value> {
    let (negative, rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (radix, digits) = match rest.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, rest.get(2..)?),
        [b'0', b'o' | b'O', ..] => (8, rest.get(2..)?),
        [b'0', b'b' | b'B', ..] => (2, rest.get(2..)?),
        // A number with a leading zero stays a string, because YAML versions differ in how they read `007`.
        [b'0', _, ..] => return None,
        _ => (10, rest),
    };
    let joined = !digits.starts_with('_') && !digits.ends_with('_') && !digits.contains("__");
    if !joined || digits.starts_with(['+', '-']) {
        return None;
    }
    let digits =
        if digits.contains('_') { Cow::Owned(digits.replace('_', "")) } else { Cow::Borrowed(digits) };
    let size = u64::from_str_radix(&digits, radix).ok()?;
    if negative {
        return 0_i64.checked_sub_unsigned(size).map(Value::Whole);
    }
    Some(i64::try_from(size).map_or(Value::Real(size as f64), Value::Whole))
}

fn parse_float(text: &str) -> Result<Option<Value>, ScalarError> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let endless = [".inf", ".nan"].iter().any(|name| unsigned.eq_ignore_ascii_case(name));
    // Rust would also parse the words `inf` and `nan` as numbers.
    let number =
        unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.').then(|| text.parse::<f64>().ok());
    match number.flatten() {
        Some(number) if number.is_finite() => Ok(Some(Value::Real(number))),
        None if !endless => Ok(None),
        _ => Err(ScalarError::NotFinite(text.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_say_what_a_bare_scalar_is() {
        let read = |text: &'static str| parse_plain(Cow::Borrowed(text)).unwrap();
        for null in ["", "~", "null", "Null", "NULL"] {
            assert_eq!(read(null), Value::Null, "{null}");
        }
        assert_eq!((read("true"), read("False")), (Value::Bool(true), Value::Bool(false)));
        let numbers =
            [("0", 0), ("-0", 0), ("+7", 7), ("-12", -12), ("0x1f", 31), ("-0o17", -15), ("1_000", 1000)];
        for (text, number) in numbers {
            assert_eq!(read(text), Value::Whole(number), "{text}");
        }
        assert_eq!(read("-9223372036854775808"), Value::Whole(i64::MIN));
        assert_eq!(read("18446744073709551615"), Value::Real(18_446_744_073_709_551_615.0));
        assert_eq!(
            (read("1.5"), read("-.5e1"), read("012")),
            (Value::Real(1.5), Value::Real(-5.0), Value::Real(12.0))
        );
        for text in [
            "y", "n", "on", "no", "-", "+", ".", "--1", "1__0", "_1", "0x", "inf", "-inf", "nan", "1.2.3",
            "...",
        ] {
            assert_eq!(read(text), Value::Text(text.to_owned()), "{text}");
        }
        for text in [".inf", "-.INF", ".nan", "1e999"] {
            assert!(parse_plain(Cow::Borrowed(text)).is_err(), "{text}");
        }
    }
}
