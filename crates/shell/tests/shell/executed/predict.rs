// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A small interpreter of the tree. It follows assignments, loops and conditions as far as values are known, and
//! records the argument list of every program.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::predicted::PredictedArgs;
use tenterhook_shell::expand::{Expansion, Field, ShellVariable, Variables, expand, expand_value};
use tenterhook_shell::{
    Assignment, AssignmentValue, ChainOperator, Command, Dialect, Literal, Pipeline, RedirectTarget, Script,
    SimpleCommand, Subscript, TreeVisitor, Word, WordPart, parse,
};

/// Returns the argument lists in the order in which the programs run; `None` if an unknown value decides
/// which commands run.
pub(super) fn predict(text: &str) -> Option<Vec<PredictedArgs>> {
    let parsed = parse(text, Dialect::Bash);
    assert!(parsed.is_complete(), "{text}");
    let known = Variables { closed: true, home: Some("/home/u".to_owned()), ..Variables::default() };
    let mut shell = PredictedShell { known, functions: BTreeMap::new(), record: Vec::new(), is_lost: false };
    shell.script(&parsed.script);
    if shell.is_lost { None } else { Some(shell.record) }
}

pub(super) struct PredictedShell {
    pub(super) known: Variables,
    functions: BTreeMap<String, Command>,
    record: Vec<PredictedArgs>,
    /// Whether a condition was unknown.
    pub(super) is_lost: bool,
}

/// Finds the scripts inside words, which run before the command itself.
struct SubstitutionVisitor<'s>(&'s mut PredictedShell);

impl TreeVisitor for SubstitutionVisitor<'_> {
    fn script(&mut self, script: &Script) {
        self.0.subshell(|shell| _ = shell.script(script));
    }
}

impl PredictedShell {
    pub(super) fn subshell(&mut self, run: impl FnOnce(&mut Self)) {
        let before = (self.known.clone(), self.functions.clone());
        run(self);
        (self.known, self.functions) = before;
    }

    pub(super) fn script(&mut self, script: &Script) -> bool {
        let mut holds = true;
        for statement in &script.statements {
            holds = self.pipeline(&statement.first);
            for chained in &statement.rest {
                if holds == (chained.operator == ChainOperator::And) {
                    holds = self.pipeline(&chained.pipeline);
                }
            }
        }
        holds
    }

    fn pipeline(&mut self, pipeline: &Pipeline) -> bool {
        let mut holds = true;
        if let [only] = pipeline.stages.as_slice() {
            holds = self.command(&only.command);
        } else {
            for command in pipeline.commands() {
                self.subshell(|shell| holds = shell.command(command));
            }
        }
        holds != (pipeline.negations % 2 == 1)
    }

    fn command(&mut self, command: &Command) -> bool {
        match command {
            Command::Simple(simple) => self.simple(simple),
            Command::Compound(compound) => self.compound(&compound.kind),
            Command::Function(function) => {
                let name = function.names[0].literal().unwrap().into_owned();
                self.functions.insert(name, function.body.clone());
                true
            }
            other => panic!("{other:?}"),
        }
    }

    pub(super) fn words(&mut self, words: &[Word]) -> Expansion {
        let before = self.record.len();
        for word in words {
            // Brace expansion copies the rest of the word, so commands in the word run once per copy.
            let mut parts = vec![WordPart::Literal(Literal { text: "x".into(), span: word.span })];
            parts.extend(word.parts.iter().filter(|part| matches!(part, WordPart::Brace(_))).cloned());
            let braces = Word { parts: parts.into(), span: word.span };
            let copies = expand(&[braces], &self.known).fields.len();
            for _ in 0..copies {
                SubstitutionVisitor(self).word(word);
            }
        }
        let expansion = expand(words, &self.known);
        // A command in a word sees assignments that earlier parts of the word made. The prediction does not
        // model this order.
        self.is_lost |= self.record.len() > before && !expansion.assigned.is_empty();
        for (name, value) in &expansion.assigned {
            let value = value
                .as_ref()
                .map_or(ShellVariable::Unknown, |value| ShellVariable::Value(Cow::Owned(value.clone())));
            self.known.values.insert(name.clone(), value);
        }
        expansion
    }

    pub(super) fn value(&mut self, word: &Word) -> Option<String> {
        // Assignments inside words (`$((x++))`) are applied when the word is expanded.
        let assigned = self.words(std::slice::from_ref(word)).assigned;
        let mut before = self.known.clone();
        std::mem::swap(&mut before, &mut self.known);
        for (name, _) in &assigned {
            before.values.insert(name.clone(), ShellVariable::Unknown);
        }
        let field = expand_value(&word.parts, if assigned.is_empty() { &self.known } else { &before });
        if assigned.is_empty() {
            self.known = before;
            return field.is_known().then(|| field.render(""));
        }
        for (name, value) in assigned {
            let value = value.map_or(ShellVariable::Unknown, |value| ShellVariable::Value(Cow::Owned(value)));
            self.known.values.insert(name, value);
        }
        None
    }

    fn simple(&mut self, command: &SimpleCommand) -> bool {
        let expansion = self.words(&command.words);
        for assignment in &command.assignments {
            self.assign(assignment);
        }
        let Some(program) = expansion.fields.first().and_then(|field| field.exact().map(Cow::into_owned))
        else {
            return true;
        };
        let arguments =
            || expansion.exact().map(|all| all[1..].iter().map(|text| text.clone().into_owned()).collect());
        if let Some(body) = self.functions.get(&program).cloned() {
            let outer = std::mem::replace(&mut self.known.arguments, arguments_of(&expansion));
            let holds = self.command(&body);
            self.known.arguments = outer;
            return holds;
        }
        match program.as_str() {
            "true" | ":" => return true,
            "false" => return false,
            "set" => {
                let all = arguments_of(&expansion);
                self.known.arguments = all.map(|all| all.into_iter().skip(1).collect());
                return true;
            }
            "unset" => {
                let names: Option<Vec<String>> = arguments();
                for name in names.unwrap() {
                    self.known.values.insert(name, ShellVariable::Unset);
                }
                return true;
            }
            _ => {}
        }
        let count_known = expansion.fields.iter().flat_map(|field| &field.segments).all(|segment| {
            !matches!(segment, tenterhook_shell::expand::FieldSegment::Unknown { splits: true, .. })
        });
        let mut predicted = PredictedArgs { fields: expansion.fields, count_known };
        for redirect in &command.redirects {
            let mut field = match &redirect.target {
                RedirectTarget::Word(word) => match self.value(word) {
                    Some(text) => text_field(&format!("{text}\n")),
                    None => unknown_field(),
                },
                RedirectTarget::HereDocument(document) => {
                    expand_value(&document.body().unwrap().parts, &self.known)
                }
            };
            // The recorder reads its whole input with `read -d ''`, so known input is one text without
            // patterns.
            if field.is_known() {
                field = text_field(&field.render(""));
            }
            predicted.fields.push(field);
        }
        self.record.push(predicted);
        true
    }

    fn assign(&mut self, assignment: &Assignment) {
        let name = assignment.name.to_string();
        let value = match &assignment.value {
            AssignmentValue::Word(word) => {
                let before = match self.known.values.get(&name) {
                    Some(ShellVariable::Value(text)) => Some(text.to_string()),
                    Some(ShellVariable::Unset) | None => Some(String::new()),
                    _ => None,
                };
                let value = self.value(word);
                match (value, before, assignment.appends) {
                    (Some(value), Some(before), true) => {
                        ShellVariable::Value(Cow::Owned(format!("{before}{value}")))
                    }
                    (Some(value), _, false) => ShellVariable::Value(Cow::Owned(value)),
                    _ => ShellVariable::Unknown,
                }
            }
            AssignmentValue::Array(array) => {
                assert!(
                    array.elements.iter().all(|element| !matches!(element.subscript, Some(Subscript::All)))
                );
                let words: Vec<_> = array.elements.iter().map(|element| element.value.clone()).collect();
                let expansion = self.words(&words);
                let before = match self.known.values.get(&name) {
                    Some(ShellVariable::Array(all)) => Some(all.to_vec()),
                    Some(ShellVariable::Value(only)) => Some(vec![only.to_string()]),
                    Some(ShellVariable::Unset) | None => Some(Vec::new()),
                    _ => None,
                };
                let known = expansion.fields.iter().all(Field::is_known);
                let mut all = if assignment.appends { before } else { Some(Vec::new()) };
                if let Some(all) = &mut all {
                    all.extend(expansion.fields.iter().map(|field| field.render("")));
                }
                all.filter(|_| known)
                    .map_or(ShellVariable::Unknown, |all| ShellVariable::Array(Cow::Owned(all)))
            }
        };
        self.known.values.insert(name, value);
    }
}

fn arguments_of(expansion: &Expansion) -> Option<Vec<String>> {
    let known = !expansion.truncated && expansion.fields.iter().all(Field::is_known);
    known.then(|| expansion.fields.iter().skip(1).map(|field| field.render("")).collect())
}

fn text_field(text: &str) -> Field {
    Field { segments: vec![tenterhook_shell::expand::FieldSegment::Text(text.to_owned())] }
}

fn unknown_field() -> Field {
    let span = tenterhook_shell::Span::default();
    Field { segments: vec![tenterhook_shell::expand::FieldSegment::Unknown { span, splits: false }] }
}
