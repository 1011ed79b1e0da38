// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Writes readable YAML.

/// Maximum width of a list on one line.
const MAX_LIST_WIDTH: usize = 90;
/// Words that at least one version of YAML does not read as a string.
const RESERVED_WORDS: &[&str] = &["true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf"];

/// Characters besides letters and digits that need no quotes: inside a list, and in a value on its own line.
const PLAIN_IN_LIST: &str = "_./()- `";
const PLAIN_ON_LINE: &str = "_./()- `*~,:;'+=!";

/// A value to write.
#[derive(Debug, Clone, PartialEq)]
pub enum Tree<K = &'static str> {
    /// A string, quoted if necessary.
    Text(String),
    /// A number, `true` or `false`, written without quotes.
    Bare(String),
    /// A list, on one line if it is short.
    List(Vec<Tree<K>>),
    /// A map, one entry per line.
    Map(Map<K>),
}

/// Entries of a map, in the order in which they are written.
pub type Map<K = &'static str> = Vec<(K, Tree<K>)>;

impl<K: AsRef<str>> Tree<K> {
    /// Creates a string.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Creates a list of strings.
    pub fn texts<T: Into<String>>(texts: impl IntoIterator<Item = T>) -> Self {
        Self::List(texts.into_iter().map(Self::text).collect())
    }

    /// Writes the entries of a map, one per line.
    pub fn write(map: &Map<K>, depth: usize, out: &mut String) {
        for (key, value) in map {
            out.push_str(&" ".repeat(depth));
            out.push_str(key.as_ref());
            out.push(':');
            value.write_value(depth, out);
        }
    }

    fn write_value(&self, depth: usize, out: &mut String) {
        match self {
            Self::Map(map) if !map.is_empty() => {
                out.push('\n');
                Self::write(map, depth + 2, out);
            }
            Self::List(items) if self.to_flow().is_none_or(|flow| flow.len() + depth > MAX_LIST_WIDTH) => {
                out.push('\n');
                for item in items {
                    item.write_item(depth + 2, out);
                }
            }
            Self::Text(text) => out.push_str(&format!(" {}\n", write_scalar(text, PLAIN_ON_LINE))),
            short => {
                out.push(' ');
                out.push_str(&short.to_flow().unwrap_or_else(|| "{}".to_owned()));
                out.push('\n');
            }
        }
    }

    fn write_item(&self, depth: usize, out: &mut String) {
        let indent = " ".repeat(depth);
        if let Self::Map(map) = self {
            let mut block = String::new();
            Self::write(map, depth + 2, &mut block);
            out.push_str(&indent);
            out.push_str("- ");
            out.push_str(block.trim_start());
        } else {
            let flow = self.to_flow().unwrap_or_default();
            out.push_str(&format!("{indent}- {flow}\n"));
        }
    }

    /// Formats the value on one line, unless it contains a map.
    fn to_flow(&self) -> Option<String> {
        match self {
            Self::Text(text) => Some(write_scalar(text, PLAIN_IN_LIST)),
            Self::Bare(text) => Some(text.clone()),
            Self::List(items) => {
                let items: Vec<_> = items.iter().map(Self::to_flow).collect::<Option<_>>()?;
                Some(format!("[{}]", items.join(", ")))
            }
            Self::Map(_) => None,
        }
    }
}

/// Writes a string without quotes if possible. If not, it is written in single quotes, in which backslashes need no
/// escapes.
fn write_scalar(text: &str, letters: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || letters.contains(letter);
    let bare = text.starts_with(|first: char| first.is_ascii_alphabetic())
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && text.chars().all(plain)
        && !RESERVED_WORDS.contains(&text.to_ascii_lowercase().as_str());
    if bare {
        return text.to_owned();
    }
    if text.chars().any(char::is_control) || text.contains(['\u{2028}', '\u{2029}', '\u{feff}']) {
        return double_quoted(text);
    }
    format!("'{}'", text.replace('\'', "''"))
}

fn double_quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\u{2028}' | '\u{2029}' | '\u{feff}' => quoted.push_str(&format!("\\u{:04x}", u32::from(letter))),
            letter if letter.is_control() => quoted.push_str(&format!("\\u{:04x}", u32::from(letter))),
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_comes_back_as_it_was() {
        for text in [
            "plain",
            "two words",
            "",
            " ",
            "yes",
            "a:",
            "it's a, b: c",
            "a *b ~c:d",
            "Null",
            "1",
            "-x",
            "a: b",
            "a #b",
            "it's",
            r"^a\s\b'$",
            "tab\there",
            "line\nline",
            "\u{1}",
            "→",
            "\u{2028}",
            "{a}",
            "[a]",
            "*",
            "!x",
            "a,b",
            "a\\\"b\r",
        ] {
            let mut yaml = String::new();
            Tree::<&str>::write(&vec![("k", Tree::texts([text])), ("one", Tree::text(text))], 0, &mut yaml);
            let read = crate::parse(&yaml).unwrap();
            assert_eq!(read.get("one").unwrap().text(), Some(text), "{yaml}");
            let crate::Value::List(list) = &read.get("k").unwrap().value else { panic!() };
            assert_eq!(list[0].text(), Some(text), "{yaml}");
        }
    }

    #[test]
    fn what_is_long_or_deep_is_written_in_lines() {
        let inner = Tree::Map(vec![("tool", Tree::text("Bash")), ("path", Tree::texts(["/x/**"]))]);
        let long: Vec<String> = (0..12).map(|n| format!("package-{n}")).collect();
        let mut yaml = String::new();
        let map = vec![("any", Tree::List(vec![inner])), ("name", Tree::texts(long))];
        Tree::write(&map, 2, &mut yaml);
        assert!(
            yaml.starts_with("  any:\n    - tool: Bash\n      path: ['/x/**']\n  name:\n    - package-0\n")
        );
        assert!(yaml.ends_with("    - package-11\n"));
    }
}
