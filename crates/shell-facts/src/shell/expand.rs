// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Words of the syntax tree → what they stand for.

use std::borrow::Cow;

use tenterhook_shell as ast;

use super::Reader;
use super::scope::Scope;
use super::walk::Source;
use super::word::{Atom, Expansion, MAX_EXPANSION_BYTES, Word, atoms_of};

/// A longer sequence such as `{1..99}` is not known.
const MAX_SEQUENCE: usize = 32;

impl Reader<'_> {
    /// The arguments that a shell makes of a word.
    pub(super) fn words(&mut self, word: &ast::Word, src: &Source, scope: &mut Scope) -> Vec<Word> {
        match word.literal() {
            Some(text) if self.spend(1) => vec![Word::literal(&text)],
            _ => self.expand(&word.parts, src, scope).into_words(),
        }
    }

    /// What parts side by side stand for.
    pub(super) fn expand(&mut self, parts: &[ast::WordPart], src: &Source, scope: &mut Scope) -> Expansion {
        let mut whole = Expansion::default();
        for part in parts {
            if self.refuse_oversized(part) || !self.spend(1) || !self.enter() {
                whole.append(Expansion::unknown(part.span().text(src), true));
                return whole;
            }
            self.expand_part(part, src, scope, &mut whole);
            self.leave();
        }
        whole
    }

    /// Whether the source of a part is too long to be expanded.
    fn refuse_oversized(&mut self, part: &ast::WordPart) -> bool {
        let is_oversized = part.span().len() > MAX_EXPANSION_BYTES;
        self.exhausted |= is_oversized;
        is_oversized
    }

    fn expand_part(&mut self, part: &ast::WordPart, src: &Source, scope: &mut Scope, whole: &mut Expansion) {
        let value = match part {
            ast::WordPart::Literal(literal) | ast::WordPart::ProgramPath(literal) => {
                Expansion::literal(&literal.text)
            }
            ast::WordPart::Escaped(escaped) => return whole.atoms.push(Atom::Quoted(escaped.character)),
            ast::WordPart::SingleQuoted(literal) => Expansion::quoted(&literal.text),
            ast::WordPart::AnsiQuoted(ansi) => Expansion::quoted(&ansi.text),
            ast::WordPart::DoubleQuoted(quoted) => self.expand(&quoted.parts, src, scope).in_quotes(),
            ast::WordPart::Tilde(tilde) => expand_tilde(&tilde.user, scope),
            ast::WordPart::Glob(glob) => return self.expand_glob(&glob.kind, src, scope, whole),
            ast::WordPart::Brace(brace) => return self.expand_brace(&brace.kind, src, scope, whole),
            ast::WordPart::Parameter(parameter) => {
                let value = self.parameter(parameter, src, scope);
                self.spend(value.atoms.len() / 4);
                scope.separated(value)
            }
            ast::WordPart::Command(command) => self.substitute(command, src, scope),
            ast::WordPart::Arithmetic(arithmetic) => {
                self.expand(&arithmetic.expression.parts, src, scope);
                Expansion::unknown(arithmetic.span.text(src), true)
            }
            ast::WordPart::Process(process) => {
                let from = self.walk_subshell(&process.script, src, scope);
                Expansion { from, process: true, ..Expansion::unknown(process.span.text(src), true) }
            }
            ast::WordPart::Array(array) => {
                for element in &array.elements {
                    self.expand(&element.value.parts, src, scope);
                }
                Expansion::unknown(array.span.text(src), true)
            }
            ast::WordPart::History(literal) => Expansion::list(literal.span.text(src)),
            ast::WordPart::Unparsed(unparsed) => {
                self.give_up_on(unparsed);
                Expansion::unknown(&unparsed.text, false)
            }
        };
        whole.append(value);
    }

    fn expand_glob(&mut self, glob: &ast::GlobKind, src: &Source, scope: &mut Scope, whole: &mut Expansion) {
        match glob {
            ast::GlobKind::Star | ast::GlobKind::NumericRange(_) => whole.atoms.push(Atom::Plain('*')),
            ast::GlobKind::Question => whole.atoms.push(Atom::Plain('?')),
            ast::GlobKind::Bracket(inner) => whole.append(Expansion::literal(&format!("[{inner}]"))),
            ast::GlobKind::BracketStart => whole.atoms.push(Atom::Plain('[')),
            // One of the alternatives, or none of them; what else fits is left to the pattern.
            ast::GlobKind::Extended { operator: '@' | '?', alternatives } => {
                self.expand_alternatives(alternatives, src, scope, whole);
            }
            ast::GlobKind::Extended { alternatives, .. } => {
                for alternative in alternatives {
                    self.expand(&alternative.parts, src, scope);
                }
                whole.atoms.push(Atom::Plain('*'));
            }
        }
    }

    fn expand_brace(
        &mut self,
        brace: &ast::BraceKind,
        src: &Source,
        scope: &mut Scope,
        whole: &mut Expansion,
    ) {
        match brace {
            ast::BraceKind::Alternatives(words) => self.expand_alternatives(words, src, scope, whole),
            ast::BraceKind::Sequence { first, last, step } => {
                match ast::expand::sequence(first, last, step.as_deref()) {
                    Some(all) if all.len() <= MAX_SEQUENCE => {
                        let all = all.iter().map(|each| Expansion::literal(each));
                        whole.append_alternatives(all);
                    }
                    _ => whole.append(Expansion::unknown(&format!("{{{first}..{last}}}"), false)),
                }
            }
        }
    }

    fn expand_alternatives(
        &mut self,
        words: &[ast::Word],
        src: &Source,
        scope: &mut Scope,
        whole: &mut Expansion,
    ) {
        let all: Vec<_> = words.iter().map(|word| self.expand(&word.parts, src, scope)).collect();
        whole.append_alternatives(all.into_iter());
    }
}

/// The directory that `~user` stands for.
fn expand_tilde(user: &str, scope: &Scope) -> Expansion {
    let home = match user {
        "" => Some(Cow::Borrowed(scope.place.ground.home.as_str())),
        "+" => scope.cwd.known().map(Cow::Borrowed),
        "root" => Some(Cow::Borrowed("/root")),
        user if user.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-') && user != "-" => {
            Some(Cow::Owned(format!("/home/{user}")))
        }
        _ => None,
    };
    match home {
        Some(home) => Expansion { atoms: atoms_of(&home, Atom::Quoted), ..Expansion::default() },
        None => Expansion::literal(&format!("~{user}")),
    }
}

/// The escapes of `$'…'`, `echo -e` and `printf`.
pub(super) fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            out.push(letter);
            continue;
        }
        let Some(next) = letters.next() else { break };
        let mut number = |base: u32, most: usize, start: u32| {
            let mut value = start;
            for _ in 0..most {
                let Some(digit) = letters.peek().and_then(|letter| letter.to_digit(base)) else { break };
                value = value.saturating_mul(base).saturating_add(digit);
                letters.next();
            }
            char::from_u32(value)
        };
        match next {
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            'x' => out.extend(number(16, 2, 0)),
            'u' => out.extend(number(16, 4, 0)),
            'U' => out.extend(number(16, 8, 0)),
            digit @ '0'..='7' => out.extend(number(8, 2, digit.to_digit(8).unwrap_or(0))),
            'a' | 'b' | 'e' | 'E' | 'f' | 'v' => out.push('\u{7f}'),
            other => out.push(other),
        }
    }
    out
}
