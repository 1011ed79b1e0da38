// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Parses option spellings as in help texts: `-o, --output FILE`, `--color[=WHEN]`, `-exec COMMAND... ;`.

use super::record::Arity;

/// An option spelling that cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SpellingError {
    #[error("option without a name")]
    NoName,
    #[error("option `{option}` must start with its name")]
    NameNotFirst { option: String },
    #[error("`{word}` in option `{option}` is neither a name nor a VALUE")]
    UnknownWord { word: String, option: String },
    #[error("`{word}` is not the name of an option")]
    NotName { word: String },
}

/// Names and arity of an option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OptionSpelling {
    /// Names as written, with their dashes.
    pub names: Vec<String>,
    /// Number of values.
    pub arity: Arity,
}

impl OptionSpelling {
    /// Parses the spelling of an option.
    pub(crate) fn parse(text: &str) -> Result<Self, SpellingError> {
        let mut names = Vec::new();
        let mut arity = Arity::None;
        let mut values = 0_u8;
        for token in text.split([',', ' ']).filter(|token| !token.is_empty()) {
            if is_name(token) {
                let (name, attached) = split_attached(token);
                names.push(name.to_owned());
                values = 0;
                match attached {
                    AttachedValue::None => {}
                    AttachedValue::Required => {
                        values = 1;
                        arity = Arity::Required(1);
                    }
                    AttachedValue::Optional => arity = Arity::Optional,
                    AttachedValue::Number => arity = Arity::Number,
                }
            } else if names.is_empty() {
                return Err(SpellingError::NameNotFirst { option: text.to_owned() });
            } else if token == ";" || token == "+" {
                arity = Arity::Until;
            } else if token.ends_with("...") {
                arity = Arity::Rest;
            } else if !is_value_name(token) {
                return Err(SpellingError::UnknownWord { word: token.to_owned(), option: text.to_owned() });
            } else if !matches!(arity, Arity::Optional | Arity::Number) {
                values = values.saturating_add(1);
                arity = Arity::Required(values);
            }
        }
        if names.is_empty() {
            return Err(SpellingError::NoName);
        }
        Ok(Self { names, arity })
    }

    /// Parses names of an option without a value: `-f`, `--force`, `if=`.
    pub(crate) fn parse_name(text: &str, arity: Arity) -> Result<Self, SpellingError> {
        let names: Vec<_> = text.split(' ').filter(|name| !name.is_empty()).map(str::to_owned).collect();
        if let Some(name) = names.iter().find(|name| !is_name(name)) {
            return Err(SpellingError::NotName { word: name.clone() });
        }
        if names.is_empty() {
            return Err(SpellingError::NoName);
        }
        Ok(Self { names, arity })
    }
}

fn is_name(token: &str) -> bool {
    token.len() > 1
        && (token.starts_with(['-', '+'])
            || token.split_once('=').is_some_and(|(name, _)| !name.is_empty() && !name.starts_with('[')))
}

/// Whether a word is the name of a value, written in capitals or angle brackets: `FILE`, `<file>`, `NAME`.
fn is_value_name(token: &str) -> bool {
    token.starts_with('<') && token.ends_with('>') || !token.chars().any(|letter| letter.is_ascii_lowercase())
}

enum AttachedValue {
    None,
    Required,
    Optional,
    Number,
}

fn split_attached(token: &str) -> (&str, AttachedValue) {
    if let Some((name, value)) = token.split_once('[').filter(|(name, _)| name.len() > 1 || *name == "+") {
        let is_number = matches!(value, "N]" | "=N]");
        return (name, if is_number { AttachedValue::Number } else { AttachedValue::Optional });
    }
    match token.split_once('=') {
        Some((name, value)) if !value.is_empty() => (name, AttachedValue::Required),
        // `if=` of programs that write options without dashes.
        Some((name, _)) => (name, AttachedValue::None),
        None => (token, AttachedValue::None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_as_help_texts_spell_them() {
        let read = |text: &str| {
            let spelling = OptionSpelling::parse(text).unwrap();
            (spelling.names.join(" "), spelling.arity)
        };
        for (text, names, arity) in [
            ("-v, --verbose", "-v --verbose", Arity::None),
            ("-o, --output FILE", "-o --output", Arity::Required(1)),
            ("-o, --output <file>", "-o --output", Arity::Required(1)),
            ("-o FILE, --output=FILE", "-o --output", Arity::Required(1)),
            ("-i[SUFFIX], --in-place[=SUFFIX]", "-i --in-place", Arity::Optional),
            ("-U[N], --unified[=N]", "-U --unified", Arity::Number),
            ("--arg NAME VALUE", "--arg", Arity::Required(2)),
            ("-exec COMMAND... ;", "-exec", Arity::Until),
            ("-c, --command COMMAND...", "-c --command", Arity::Rest),
            ("if=FILE", "if", Arity::Required(1)),
            ("-?", "-?", Arity::None),
        ] {
            assert_eq!(read(text), (names.to_owned(), arity), "{text}");
        }
        for text in ["", "output", "-o file", "FILE -o"] {
            assert!(OptionSpelling::parse(text).is_err(), "{text}");
        }
    }
}
