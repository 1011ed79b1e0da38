// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Applies assignments to variables and arrays, and the assignments of `declare`, `local` and `export`.

use tenterhook_shell as ast;

use super::ShellReader;
use super::scope::ShellScope;
use super::walk::SourceText;
use super::word::{ExpandedText, ShellWord};

impl ShellReader<'_> {
    pub(super) fn assign(&mut self, assignment: &ast::Assignment, src: &SourceText, scope: &mut ShellScope) {
        let name = &*assignment.name;
        match (&assignment.value, &assignment.subscript) {
            (ast::AssignmentValue::Array(array), _) => {
                self.assign_array(name, array, assignment.appends, src, scope);
            }
            (ast::AssignmentValue::Word(word), None) => {
                let value = self.expand(&word.parts, src, scope).into_value();
                self.assign_value(name, value, assignment.appends, scope);
            }
            (ast::AssignmentValue::Word(word), Some(subscript)) => {
                let value = self.expand(&word.parts, src, scope).into_value();
                self.assign_element(name, subscript, value, src, scope);
            }
        }
    }

    fn assign_value(&mut self, name: &str, mut value: ExpandedText, appends: bool, scope: &mut ShellScope) {
        if appends {
            let mut whole =
                scope.get(name).unwrap_or_else(|| ExpandedText::unknown(&format!("${name}"), false));
            whole.append(value);
            value = whole;
        }
        let word = value.clone().into_word();
        self.run_hook_variable(name, &word, scope);
        self.run_element_value(name, &word, scope);
        scope.set(name, value);
    }

    fn assign_element(
        &mut self,
        name: &str,
        subscript: &ast::Subscript,
        value: ExpandedText,
        src: &SourceText,
        scope: &mut ShellScope,
    ) {
        match self.subscript_key(subscript, src, scope) {
            Some(key) => scope.set(&format!("{name}[{key}]"), value.clone()),
            None => scope.forget_keys(name),
        }
        // The index does not matter; the value is kept as one of the elements.
        if scope.list_elements(name).is_empty() && scope.get(name).is_none_or(|value| value.atoms.is_empty())
        {
            scope.set_list(name, &[], false);
        }
        scope.set_list(name, &[value.into_word()], true);
    }

    fn assign_array(
        &mut self,
        name: &str,
        array: &ast::ArrayLiteral,
        appends: bool,
        src: &SourceText,
        scope: &mut ShellScope,
    ) {
        let mut words = Vec::new();
        let mut keyed = Vec::new();
        for element in &array.elements {
            let Some(subscript) = &element.subscript else {
                words.extend(self.expand_words(&element.value, src, scope));
                continue;
            };
            let value = self.expand(&element.value.parts, src, scope).into_word();
            if let Some(key) = self.subscript_key(subscript, src, scope) {
                keyed.push((format!("{name}[{key}]"), value.to_value()));
            }
            words.push(value);
        }
        scope.set_list(name, &words, appends);
        for (name, value) in keyed {
            scope.set(&name, value);
        }
    }

    /// Returns the key in `[key]`, if it is known. Commands inside the key run.
    fn subscript_key(
        &mut self,
        subscript: &ast::Subscript,
        src: &SourceText,
        scope: &mut ShellScope,
    ) -> Option<String> {
        let ast::Subscript::Index(index) = subscript else { return None };
        let key = self.expand(&index.parts, src, scope).into_word();
        let key = key.text.trim_matches(['"', '\'']);
        let is_plain = !key.is_empty() && !key.contains(['$', '`', '"', '\'', '\\', '[']);
        is_plain.then(|| key.to_owned())
    }

    /// Applies the words of `declare`, `typeset`, `local`, `export` or `readonly`.
    pub(super) fn declare(
        &mut self,
        keyword: &str,
        words: &[ast::Word],
        src: &SourceText,
        scope: &mut ShellScope,
    ) {
        let mut is_reference = false;
        for word in words {
            let Some(declared) = DeclaredVariable::new(word) else {
                let words = self.expand_words(word, src, scope);
                is_reference |=
                    words.iter().any(|word| word.text.starts_with('-') && word.text.contains('n'));
                for word in words {
                    self.mark_fed(&word.from, keyword);
                    declare_word(keyword, &word, scope);
                }
                continue;
            };
            let DeclaredVariable { name, appends, .. } = declared;
            if keyword != "export" && keyword != "readonly" {
                scope.localize(name);
            }
            if let [ast::WordPart::Array(array)] = declared.rest {
                self.assign_array(name, array, appends, src, scope);
            } else {
                let mut value = ExpandedText::literal(declared.start);
                value.append(self.expand(declared.rest, src, scope));
                self.assign_value(name, value.into_value(), appends, scope);
            }
            if keyword == "export" {
                scope.export(name);
            }
            if is_reference {
                scope.forget(declared.start, &[]);
                scope.forget(name, &[]);
            }
        }
    }
}

/// `NAME=value` as a word of `declare`.
struct DeclaredVariable<'w> {
    name: &'w str,
    appends: bool,
    /// The literal text after `=`.
    start: &'w str,
    /// The word parts after that text.
    rest: &'w [ast::WordPart],
}

impl<'w> DeclaredVariable<'w> {
    fn new(word: &'w ast::Word) -> Option<Self> {
        let (ast::WordPart::Literal(first), rest) = word.parts.split_first()? else { return None };
        let (name, start) = first.text.split_once('=')?;
        let (name, appends) = name.strip_suffix('+').map_or((name, false), |name| (name, true));
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        (!name.is_empty() && name.chars().all(is_name)).then_some(Self { name, appends, start, rest })
    }
}

/// Applies `local NAME`, `export NAME`, or `declare "NAME=value"`, where the parser sees a quoted word instead of an
/// assignment.
fn declare_word(keyword: &str, word: &ShellWord, scope: &mut ShellScope) {
    if word.text.starts_with('-') || word.text.contains('=') {
        return declare_words(std::slice::from_ref(word), scope);
    }
    match keyword {
        "local" => {
            scope.localize(&word.text);
            scope.set(&word.text, ExpandedText::default());
        }
        "export" => scope.export(&word.text),
        _ => {}
    }
}

/// Applies assignments given as plain words: `declare "NAME=value"`, `builtin export NAME=value`.
pub(super) fn declare_words(words: &[ShellWord], scope: &mut ShellScope) {
    for word in words {
        if let Some((name, value)) = word.text.split_once('=') {
            if word.dynamic {
                scope.forget(name, &word.from);
            } else {
                scope.set(name, ExpandedText::literal(value));
            }
        }
    }
}
