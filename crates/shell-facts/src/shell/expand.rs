// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Expands words of the syntax tree.

use std::borrow::Cow;

use tenterhook_shell as ast;

use super::ShellReader;
use super::named_code::code_of_file_test;
use super::scope::ShellScope;
use super::walk::SourceText;
use super::word::{ExpandedText, MAX_EXPANSION_BYTES, ShellWord, WordAtom, atoms_of};

/// Maximum number of words in a sequence such as `{1..99}`. The words of a longer sequence count as unknown.
const MAX_SEQUENCE_WORDS: usize = 32;

impl ShellReader<'_> {
    /// Expands a word into the arguments that a shell passes to a program.
    pub(super) fn expand_words(
        &mut self,
        word: &ast::Word,
        src: &SourceText,
        scope: &mut ShellScope,
    ) -> Vec<ShellWord> {
        match word.literal() {
            Some(text) if self.spend_steps(1) => vec![ShellWord::literal(&text)],
            _ => self.expand(&word.parts, src, scope).into_words(),
        }
    }

    /// Expands adjacent word parts into one string.
    pub(super) fn expand(
        &mut self,
        parts: &[ast::WordPart],
        src: &SourceText,
        scope: &mut ShellScope,
    ) -> ExpandedText {
        let mut whole = ExpandedText::default();
        for part in parts {
            if self.refuse_oversized(part) || !self.spend_steps(1) || !self.enter_level() {
                whole.append(ExpandedText::unknown(part.span().text(src), true));
                return whole;
            }
            self.expand_part(part, src, scope, &mut whole);
            self.leave_level();
        }
        whole
    }

    /// Whether a word part is too long to be expanded.
    fn refuse_oversized(&mut self, part: &ast::WordPart) -> bool {
        let is_oversized = part.span().len() > MAX_EXPANSION_BYTES;
        self.exhausted |= is_oversized;
        is_oversized
    }

    fn expand_part(
        &mut self,
        part: &ast::WordPart,
        src: &SourceText,
        scope: &mut ShellScope,
        whole: &mut ExpandedText,
    ) {
        let value = match part {
            ast::WordPart::Literal(literal) | ast::WordPart::ProgramPath(literal) => {
                ExpandedText::literal(&literal.text)
            }
            ast::WordPart::Escaped(escaped) => return whole.atoms.push(WordAtom::Quoted(escaped.character)),
            ast::WordPart::SingleQuoted(literal) => ExpandedText::quoted(&literal.text),
            ast::WordPart::AnsiQuoted(ansi) => ExpandedText::quoted(&ansi.text),
            ast::WordPart::DoubleQuoted(quoted) => self.expand(&quoted.parts, src, scope).in_quotes(),
            ast::WordPart::Tilde(tilde) => expand_tilde(&tilde.user, scope),
            ast::WordPart::Glob(glob) => return self.expand_glob(&glob.kind, src, scope, whole),
            ast::WordPart::Brace(brace) => return self.expand_brace(&brace.kind, src, scope, whole),
            ast::WordPart::Parameter(parameter) => {
                let value = self.expand_parameter(parameter, src, scope);
                self.spend_steps(value.atoms.len() / 4);
                scope.split_by_ifs(value)
            }
            ast::WordPart::Command(command) => self.substitute_command(command, src, scope),
            ast::WordPart::Arithmetic(arithmetic) => {
                self.expand(&arithmetic.expression.parts, src, scope);
                ExpandedText::unknown(arithmetic.span.text(src), true)
            }
            ast::WordPart::Process(process) => {
                let from = self.walk_subshell(&process.script, src, scope);
                ExpandedText { from, is_process: true, ..ExpandedText::unknown(process.span.text(src), true) }
            }
            ast::WordPart::Array(array) => {
                for element in &array.elements {
                    self.expand(&element.value.parts, src, scope);
                }
                ExpandedText::unknown(array.span.text(src), true)
            }
            ast::WordPart::History(literal) => ExpandedText::list(literal.span.text(src)),
            ast::WordPart::Unparsed(unparsed) => {
                self.report_unparsed_node(unparsed);
                ExpandedText::unknown(&unparsed.text, false)
            }
        };
        whole.append(value);
    }

    fn expand_glob(
        &mut self,
        glob: &ast::GlobKind,
        src: &SourceText,
        scope: &mut ShellScope,
        whole: &mut ExpandedText,
    ) {
        match glob {
            ast::GlobKind::Star | ast::GlobKind::NumericRange(_) => whole.atoms.push(WordAtom::Plain('*')),
            ast::GlobKind::Question => whole.atoms.push(WordAtom::Plain('?')),
            ast::GlobKind::Bracket(inner) => whole.append(ExpandedText::literal(&format!("[{inner}]"))),
            ast::GlobKind::BracketStart => whole.atoms.push(WordAtom::Plain('[')),
            // The word is read once for each alternative.
            ast::GlobKind::Extended { operator: '@' | '?', alternatives } => {
                self.expand_alternatives(alternatives, src, scope, whole);
            }
            ast::GlobKind::Extended { alternatives, .. } => {
                for alternative in alternatives {
                    let inner = self.expand(&alternative.parts, src, scope).into_word();
                    if let Some(code) = code_of_file_test(&inner.text) {
                        self.read_text(code, &mut scope.started_by("zsh"));
                    }
                }
                whole.atoms.push(WordAtom::Plain('*'));
            }
        }
    }

    fn expand_brace(
        &mut self,
        brace: &ast::BraceKind,
        src: &SourceText,
        scope: &mut ShellScope,
        whole: &mut ExpandedText,
    ) {
        match brace {
            ast::BraceKind::Alternatives(words) => self.expand_alternatives(words, src, scope, whole),
            ast::BraceKind::Sequence { first, last, step } => {
                match ast::expand::sequence(first, last, step.as_deref()) {
                    Some(all) if all.len() <= MAX_SEQUENCE_WORDS => {
                        let all = all.iter().map(|each| ExpandedText::literal(each));
                        whole.append_alternatives(all);
                    }
                    _ => whole.append(ExpandedText::unknown(&format!("{{{first}..{last}}}"), false)),
                }
            }
        }
    }

    fn expand_alternatives(
        &mut self,
        words: &[ast::Word],
        src: &SourceText,
        scope: &mut ShellScope,
        whole: &mut ExpandedText,
    ) {
        let all: Vec<_> = words.iter().map(|word| self.expand(&word.parts, src, scope)).collect();
        whole.append_alternatives(all.into_iter());
    }
}

/// Returns the home directory that `~user` names.
fn expand_tilde(user: &str, scope: &ShellScope) -> ExpandedText {
    let home = match user {
        "" => Some(Cow::Borrowed(scope.site.roots.home.as_str())),
        "+" => scope.cwd.certain().map(Cow::Borrowed),
        "root" => Some(Cow::Borrowed("/root")),
        user if user.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-') && user != "-" => {
            Some(Cow::Owned(format!("/home/{user}")))
        }
        _ => None,
    };
    match home {
        Some(home) => ExpandedText { atoms: atoms_of(&home, WordAtom::Quoted), ..ExpandedText::default() },
        None => ExpandedText::literal(&format!("~{user}")),
    }
}

/// Resolves the escapes of `$'…'`, `echo -e` and `printf`.
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
