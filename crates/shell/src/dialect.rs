// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Defines shell dialects and parse options.

/// The shell that a script is written for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// POSIX sh as implemented by dash: no arrays, `[[`, `((`, process substitution, `$'…'`, `&>` or brace expansion.
    Posix,
    /// Bash 5 with its default options.
    #[default]
    Bash,
    /// zsh 5 with its default options.
    Zsh,
}

/// Options for parsing a script.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct ParseOptions {
    /// The dialect of the text.
    pub dialect: Dialect,
    /// Whether the text is typed into an interactive shell: `!` is history expansion, and in zsh `#` does not
    /// start a comment.
    pub interactive: bool,
}

impl From<Dialect> for ParseOptions {
    fn from(dialect: Dialect) -> Self {
        Self { dialect, interactive: false }
    }
}

impl Dialect {
    /// Whether `[[ ]]`, arrays, process substitution and other ksh extensions are supported.
    pub fn is_extended(self) -> bool {
        !matches!(self, Self::Posix)
    }

    /// Whether an unquoted `$x` is split into fields.
    pub fn splits_parameters(self) -> bool {
        !matches!(self, Self::Zsh)
    }
}

/// Words that begin or end a command in zsh only.
const ZSH_WORDS: &[&str] = &["repeat", "foreach", "end", "always", "nocorrect", "noglob", "function"];

/// Whether bash and zsh have the same tree for `text`, provided that bash parses it completely.
///
/// The check is one pass over the bytes. If it is in doubt, it returns `false`. Expansion can differ even if
/// the trees are the same: see [`Dialect::splits_parameters`]. [`parse_readings`](crate::parse_readings) uses
/// this check.
pub fn reads_alike(text: &str) -> bool {
    let mut before = b' ';
    // Whether the preceding bytes are `$` and a name.
    let mut in_parameter = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            // These bytes may start syntax that differs in zsh: `=cmd`, `=(…)`, glob qualifiers, `$x[1]`,
            // `{ a }`, `<1-9>`, `;|`, `^x`, `&|`, `!`.
            b'(' | b'{' | b'}' | b'[' | b'^' | b'!' | b'`' | b'\\' => return false,
            b'=' if !(before.is_ascii_alphanumeric() || before == b'_') => return false,
            b'~' | b'<' | b'#' | b'|' | b'$'
                if !text.as_bytes().get(at + 1).is_none_or(|next| is_harmless_after(byte, *next)) =>
            {
                return false;
            }
            b'|' if matches!(before, b'&' | b';') => return false,
            b';' if matches!(before, b'&' | b';' | b'\n') => return false,
            b'*' if before == b'*' => return false,
            // In zsh, `$x:h` applies a modifier to the value.
            b':' if in_parameter => return false,
            _ => {}
        }
        in_parameter = byte == b'$' || (in_parameter && (byte.is_ascii_alphanumeric() || byte == b'_'));
        before = byte;
    }
    !text.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| ZSH_WORDS.contains(&word))
}

fn is_harmless_after(byte: u8, next: u8) -> bool {
    match byte {
        b'~' => matches!(next, b'/' | b' ' | b'\n'),
        b'<' => matches!(next, b' ' | b'/' | b'.'),
        b'|' => matches!(next, b' ' | b'|') || next.is_ascii_alphabetic(),
        b'#' => next != b'#',
        _ => next.is_ascii_alphabetic() || next == b'_',
    }
}
