// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Translates JavaScript regular expressions into the syntax of the regex engine.

use fancy_regex::{Regex, RegexBuilder};

/// Maximum length of a pattern.
const MAX_PATTERN_BYTES: usize = 4096;
/// Maximum number of steps for one search. After that, the search is abandoned.
const MAX_MATCH_STEPS: usize = 100_000;
/// Maximum size of a compiled pattern.
const MAX_COMPILED_BYTES: usize = 1 << 20;

/// Why a regular expression cannot be compiled.
#[derive(Debug, thiserror::Error)]
pub enum PatternError {
    /// The pattern is longer than [`MAX_PATTERN_BYTES`].
    #[error("longer than {MAX_PATTERN_BYTES} bytes")]
    TooLong,
    /// The pattern starts with `*` or `+`.
    #[error("nothing to repeat")]
    NothingToRepeat,
    /// The pattern has a `(?` group that JavaScript does not support.
    #[error("invalid group")]
    InvalidGroup,
    /// A character set is not closed.
    #[error("a `[` without its `]`")]
    UnclosedSet,
    /// The pattern ends with a backslash.
    #[error("trailing backslash")]
    TrailingBackslash,
    /// The regex engine rejected the pattern.
    #[error("{message}")]
    Syntax {
        /// Last line of the engine's message. The other lines refer to the translated pattern.
        message: String,
        /// The engine's full error.
        #[source]
        source: Box<fancy_regex::Error>,
    },
}

/// A compiled pattern: unanchored and case-sensitive.
#[derive(Debug, Clone)]
pub(super) struct HookPattern(Regex);

/// Result of a search. If several searches are combined, the greatest result applies. So a definite match takes
/// precedence over an abandoned search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PatternHit {
    No,
    /// The search took too long.
    GaveUp,
    Yes,
}

impl From<bool> for PatternHit {
    fn from(found: bool) -> Self {
        if found { Self::Yes } else { Self::No }
    }
}

impl HookPattern {
    /// Compiles a pattern written in the syntax of `new RegExp(text)`.
    pub(super) fn javascript(text: &str) -> Result<Self, PatternError> {
        if text.len() > MAX_PATTERN_BYTES {
            return Err(PatternError::TooLong);
        }
        Self::plain(&translate(text)?)
    }

    /// Compiles a pattern written in the engine's own syntax.
    pub(super) fn plain(text: &str) -> Result<Self, PatternError> {
        // Translation adds at most a few characters per character.
        if text.len() > 16 * MAX_PATTERN_BYTES {
            return Err(PatternError::TooLong);
        }
        let mut builder = RegexBuilder::new(text);
        builder
            .backtrack_limit(MAX_MATCH_STEPS)
            .delegate_size_limit(MAX_COMPILED_BYTES)
            .delegate_dfa_size_limit(MAX_COMPILED_BYTES);
        let short = |error: fancy_regex::Error| {
            let message = error.to_string().lines().last().unwrap_or_default().trim().to_owned();
            PatternError::Syntax { message, source: Box::new(error) }
        };
        builder.build().map(Self).map_err(short)
    }

    pub(super) fn find(&self, text: &str) -> PatternHit {
        self.0.is_match(text).map_or(PatternHit::GaveUp, PatternHit::from)
    }
}

/// Translates JavaScript syntax that has a different meaning in the engine.
fn translate(text: &str) -> Result<String, PatternError> {
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    let mut in_class = false;
    let mut repeated = false;
    while let Some(letter) = rest.chars().next() {
        let after = rest.strip_prefix(letter).unwrap_or_default();
        let repeats = !in_class && matches!(letter, '*' | '+');
        if repeats && repeated {
            return Err(PatternError::NothingToRepeat);
        }
        repeated = repeats || (!in_class && letter == '}') || (repeated && letter == '?');
        rest = after;
        match letter {
            '\\' => rest = escape(after, in_class, &mut out)?,
            '[' if in_class => out.push_str("\\["),
            '[' => match (after.strip_prefix("^]"), after.strip_prefix(']')) {
                (Some(after), _) => {
                    out.push_str("(?s:.)");
                    rest = after;
                }
                (None, Some(after)) => {
                    out.push_str("(?!)");
                    rest = after;
                }
                (None, None) => {
                    in_class = true;
                    out.push('[');
                    rest = after.strip_prefix('^').inspect(|_| out.push('^')).unwrap_or(after);
                }
            },
            ']' if in_class => {
                in_class = false;
                out.push(']');
            }
            // These characters are set operators in the engine and literals in JavaScript.
            '&' | '~' if in_class => {
                out.push('\\');
                out.push(letter);
            }
            '{' if !in_class && !is_count(after) => out.push_str("\\{"),
            '(' if !in_class && after.starts_with('?') && !is_group(after) => {
                return Err(PatternError::InvalidGroup);
            }
            letter => out.push(letter),
        }
    }
    if in_class { Err(PatternError::UnclosedSet) } else { Ok(out) }
}

/// Translates an escape sequence and returns the remaining text.
fn escape<'a>(text: &'a str, in_class: bool, out: &mut String) -> Result<&'a str, PatternError> {
    let letter = text.chars().next().ok_or(PatternError::TrailingBackslash)?;
    let after = text.strip_prefix(letter).unwrap_or_default();
    let ascii = |inside: &str, negated: bool| match (in_class, negated) {
        (true, false) => inside.to_owned(),
        (_, true) => format!("[^{inside}]"),
        (false, false) => format!("[{inside}]"),
    };
    match letter {
        'd' => out.push_str(&ascii("0-9", false)),
        'D' => out.push_str(&ascii("0-9", true)),
        'w' => out.push_str(&ascii("0-9A-Za-z_", false)),
        'W' => out.push_str(&ascii("0-9A-Za-z_", true)),
        'b' if in_class => out.push_str("\\x08"),
        'v' => out.push_str("\\x0B"),
        'f' => out.push_str("\\x0C"),
        '0' => out.push_str("\\x00"),
        'u' | 'x' => {
            let count = if letter == 'u' { 4 } else { 2 };
            let digits: String = after.chars().take(count).collect();
            if digits.len() == count && digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                out.push_str(&format!("\\x{{{digits}}}"));
                return Ok(after.get(count..).unwrap_or_default());
            }
            out.push(letter);
        }
        's' | 'S' | 'B' | 'b' | 't' | 'n' | 'r' | 'k' | '1'..='9' => {
            out.push('\\');
            out.push(letter);
        }
        // Other characters are literals.
        letter if letter.is_alphanumeric() || "_/\"'`<>@:;%=!, ".contains(letter) => out.push(letter),
        letter => {
            out.push('\\');
            out.push(letter);
        }
    }
    Ok(after)
}

/// Returns whether the text starts with `2}`, `2,}` or `2,3}`.
fn is_count(text: &str) -> bool {
    let Some((inside, _)) = text.split_once('}') else { return false };
    let (least, most) = inside.split_once(',').unwrap_or((inside, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    !least.is_empty() && digits(least) && digits(most)
}

/// Returns whether JavaScript allows the text after `(`: `?:`, `?=`, `?!`, `?<…`, or flags with a colon.
fn is_group(text: &str) -> bool {
    let inside = text.strip_prefix('?').unwrap_or_default();
    let flags = inside.trim_start_matches(['i', 'm', 's', '-']);
    inside.starts_with([':', '=', '!', '<']) || (flags.len() < inside.len() && flags.starts_with(':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finds(pattern: &str, text: &str) -> bool {
        HookPattern::javascript(pattern).unwrap_or_else(|why| panic!("{pattern}: {why}")).find(text)
            == PatternHit::Yes
    }

    #[test]
    fn patterns_mean_what_they_mean_in_javascript() {
        for (pattern, hit, miss) in [
            (r"^\d+$", "12", "१२"),
            (r"^\w+$", "a_1", "é"),
            (r"^[\w-]+$", "a-1", "a b"),
            (r"a\/b", "a/b", "ab"),
            (r"(?<x>a)\k<x>", "aa", "ab"),
            (r"^(?!Bash)", "Edit", "Bash"),
            (r"(?<=mcp__)git", "mcp__git", "git"),
            (r"(.)\1", "xx", "xy"),
            (r"^[^]$", "\n", ""),
            (r"^a{b$", "a{b", "ab"),
            (r"^a{2}$", "aa", "a"),
            (r"[[]", "[", "x"),
            (r"[a&&b]", "&", "c"),
            (r"^\x41\u0042$", "AB", "x"),
            (r"^\z$", "z", ""),
            (r"mcp__.*__write", "mcp__fs__write_file", "mcp__fs__read"),
            (r"^\-\@$", "-@", "x"),
        ] {
            assert!(finds(pattern, hit), "{pattern} on {hit:?}");
            assert!(!finds(pattern, miss), "{pattern} on {miss:?}");
        }
        assert!(!finds("[]", "anything"));
        assert!(finds("write_*", "overwrite"));
    }

    #[test]
    fn what_javascript_refuses_is_refused() {
        for pattern in ["[broken", "(", "*x", "a**", "a++", "(?i)x", "(?>x)", "(?#x)", "a\\", "(?P<n>x)"] {
            assert!(HookPattern::javascript(pattern).is_err(), "{pattern}");
        }
    }

    #[test]
    fn a_pattern_that_would_take_for_ever_is_given_up() {
        let pattern = HookPattern::javascript("^(?:(?:a|b|ab)(?!z))*(?<=z)").unwrap();
        assert_eq!(pattern.find(&"ab".repeat(64)), PatternHit::GaveUp);
        assert!(HookPattern::javascript(&"(a{1000}){1000}".repeat(4)).is_err());
        assert!(HookPattern::javascript(&"(".repeat(5000)).is_err());
        assert!(HookPattern::javascript(&format!("{}{}", "(".repeat(2000), ")".repeat(2000))).is_err());
    }
}
