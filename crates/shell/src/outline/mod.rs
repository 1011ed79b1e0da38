// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Formats a tree in readable form, for tests and debugging.

mod text;

use text::{assignment_text, parts_text, test_text, word_text};

use crate::ast::{
    Assignment, AssignmentValue, CaseTerminator, ChainOperator, Command, Compound, Descriptor,
    ParameterOperator, ParsedScript, Pipeline, Redirect, RedirectTarget, Script, Statement, Terminator,
    WordPart,
};

/// Formats the tree as indented lines: one node per line with its span, and the parts of words in brackets.
///
/// ```
/// use tenterhook_shell::{Dialect, outline, parse};
///
/// let parsed = parse("echo \"$x\" > out", Dialect::Bash);
/// assert_eq!(
///     outline(&parsed),
///     "0..15 simple echo \"${x}\"\n  10..15 redirect > out\n"
/// );
/// ```
pub fn outline(parsed: &ParsedScript) -> String {
    let mut outline = OutlineWriter { text: String::new(), depth: 0 };
    outline.script(&parsed.script);
    for comment in &parsed.comments {
        outline.line(comment.span, &format!("comment {:?}", comment.text));
    }
    outline.text
}

struct OutlineWriter {
    text: String,
    depth: usize,
}

impl OutlineWriter {
    fn line(&mut self, span: crate::Span, text: &str) {
        for _ in 0..self.depth {
            self.text.push_str("  ");
        }
        self.text.push_str(&format!("{}..{} {text}\n", span.start, span.end));
    }

    fn nested(&mut self, write: impl FnOnce(&mut Self)) {
        self.depth += 1;
        write(self);
        self.depth -= 1;
    }

    fn labelled(&mut self, label: &str, script: &Script) {
        self.line(script.span, label);
        self.nested(|outline| outline.script(script));
    }

    fn script(&mut self, script: &Script) {
        for statement in &script.statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Statement) {
        let is_plain =
            matches!(statement.terminator, Terminator::End | Terminator::Newline | Terminator::Semicolon);
        if statement.rest.is_empty() && is_plain {
            return self.pipeline(&statement.first);
        }
        let background = if is_plain { "" } else { " in background" };
        self.line(statement.span, &format!("statement{background}"));
        self.nested(|outline| {
            outline.pipeline(&statement.first);
            for chained in &statement.rest {
                let operator = if chained.operator == ChainOperator::And { "&&" } else { "||" };
                outline.line(chained.pipeline.span, operator);
                outline.nested(|outline| outline.pipeline(&chained.pipeline));
            }
        });
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        let is_plain = pipeline.negations == 0 && !pipeline.timed;
        match pipeline.stages.as_slice() {
            [only] if is_plain => self.command(&only.command),
            stages => {
                let mut label = String::from("pipeline");
                if pipeline.timed {
                    label.push_str(" timed");
                }
                label.push_str(&" !".repeat(usize::try_from(pipeline.negations).unwrap_or_default()));
                self.line(pipeline.span, &label);
                self.nested(|outline| {
                    for stage in stages {
                        outline.command(&stage.command);
                        if stage.pipes_stderr {
                            outline.line(stage.command.span(), "|&");
                        }
                    }
                });
            }
        }
    }

    fn command(&mut self, command: &Command) {
        match command {
            Command::Simple(simple) => {
                let mut label = String::from("simple");
                for assignment in &simple.assignments {
                    label.push(' ');
                    label.push_str(&assignment_text(assignment));
                }
                for word in &simple.words {
                    label.push(' ');
                    label.push_str(&word_text(word));
                }
                self.line(simple.span, &label);
                self.nested(|outline| {
                    for word in &simple.words {
                        outline.scripts_in(&word.parts);
                    }
                    for assignment in &simple.assignments {
                        outline.scripts_of_assignment(assignment);
                    }
                    outline.redirects(&simple.redirects);
                });
            }
            Command::Compound(compound) => {
                self.compound(&compound.kind, compound.span);
                self.nested(|outline| outline.redirects(&compound.redirects));
            }
            Command::Function(function) => {
                let names: Vec<_> = function.names.iter().chain(&function.arguments).map(word_text).collect();
                self.line(function.span, &format!("function {}", names.join(" ")));
                self.nested(|outline| outline.command(&function.body));
            }
            Command::Coprocess(coprocess) => {
                self.line(
                    coprocess.span,
                    &format!("coproc {}", coprocess.name.as_deref().unwrap_or_default()),
                );
                self.nested(|outline| outline.command(&coprocess.command));
            }
            Command::Unparsed(unparsed) => {
                self.line(unparsed.span, &format!("unparsed: {} at {}", unparsed.reason, unparsed.at));
            }
        }
    }

    fn redirects(&mut self, redirects: &[Redirect]) {
        for redirect in redirects {
            let descriptor = match &redirect.descriptor {
                None => String::new(),
                Some(Descriptor::Number(number)) => number.to_string(),
                Some(Descriptor::Variable(name)) => format!("{{{name}}}"),
            };
            let operator = redirect.operator.text();
            match &redirect.target {
                RedirectTarget::Word(word) => {
                    self.line(redirect.span, &format!("redirect {descriptor}{operator} {}", word_text(word)));
                    self.nested(|outline| outline.scripts_in(&word.parts));
                }
                RedirectTarget::HereDocument(document) => {
                    let quoted = if document.quoted { " quoted" } else { "" };
                    let label = format!("redirect {descriptor}{operator} {}{quoted}", document.delimiter);
                    self.line(redirect.span, &label);
                    let Some(body) = document.body() else { continue };
                    self.nested(|outline| {
                        let closed = if body.closed { "" } else { " unclosed" };
                        outline.line(body.span, &format!("body{closed} {:?}", parts_text(&body.parts)));
                        outline.scripts_in(&body.parts);
                    });
                }
            }
        }
    }

    fn compound(&mut self, compound: &Compound, span: crate::Span) {
        match compound {
            Compound::Group(script) => self.labelled_at(span, "group", script),
            Compound::Subshell(script) => self.labelled_at(span, "subshell", script),
            Compound::If(command) => {
                self.line(span, "if");
                self.nested(|outline| {
                    for branch in &command.branches {
                        outline.labelled("condition", &branch.condition);
                        outline.labelled("then", &branch.body);
                    }
                    if let Some(script) = &command.otherwise {
                        outline.labelled("else", script);
                    }
                });
            }
            Compound::While(each) => {
                self.line(span, if each.until { "until" } else { "while" });
                self.nested(|outline| {
                    outline.labelled("condition", &each.condition);
                    outline.labelled("do", &each.body);
                });
            }
            Compound::For(each) | Compound::Select(each) => {
                let name = if matches!(compound, Compound::For(_)) { "for" } else { "select" };
                let words: Vec<_> = each.words.iter().flatten().map(word_text).collect();
                let words =
                    if each.words.is_some() { format!(" in {}", words.join(" ")) } else { String::new() };
                self.line(span, &format!("{name} {}{words}", each.variables.join(" ")));
                self.nested(|outline| {
                    each.words.iter().flatten().for_each(|word| outline.scripts_in(&word.parts));
                    outline.labelled("do", &each.body);
                });
            }
            Compound::ArithmeticFor(each) => {
                let parts: Vec<_> = each.expressions.iter().map(|each| parts_text(&each.parts)).collect();
                self.line(span, &format!("for (({}))", parts.join(";")));
                self.nested(|outline| outline.labelled("do", &each.body));
            }
            Compound::Case(command) => {
                self.line(span, &format!("case {}", word_text(&command.subject)));
                self.nested(|outline| {
                    for item in &command.items {
                        let patterns: Vec<_> = item.patterns.iter().map(word_text).collect();
                        let end = match item.terminator {
                            CaseTerminator::Break => "",
                            CaseTerminator::FallThrough => " ;&",
                            CaseTerminator::Continue => " ;;&",
                        };
                        outline.labelled(&format!("item {}{end}", patterns.join(" | ")), &item.body);
                    }
                });
            }
            Compound::Arithmetic(expression) => {
                self.line(span, &format!("arithmetic {}", parts_text(&expression.parts)));
            }
            Compound::Test(expression) => self.line(span, &format!("test {}", test_text(expression))),
            Compound::Repeat(each) => {
                self.labelled_at(span, &format!("repeat {}", word_text(&each.count)), &each.body);
            }
            Compound::Always { body, always } => {
                self.labelled_at(span, "group", body);
                self.labelled("always", always);
            }
        }
    }

    fn labelled_at(&mut self, span: crate::Span, label: &str, script: &Script) {
        self.line(span, label);
        self.nested(|outline| outline.script(script));
    }

    fn scripts_of_assignment(&mut self, assignment: &Assignment) {
        match &assignment.value {
            AssignmentValue::Word(word) => self.scripts_in(&word.parts),
            AssignmentValue::Array(array) => {
                array.elements.iter().for_each(|element| self.scripts_in(&element.value.parts));
            }
        }
    }

    /// Writes the scripts in the parts of a word.
    fn scripts_in(&mut self, parts: &[WordPart]) {
        for part in parts {
            match part {
                WordPart::DoubleQuoted(quoted) => self.scripts_in(&quoted.parts),
                WordPart::Command(command) => self.labelled_at(command.span, "command", &command.script),
                WordPart::Process(process) => self.labelled_at(process.span, "process", &process.script),
                WordPart::Arithmetic(arithmetic) => self.scripts_in(&arithmetic.expression.parts),
                WordPart::Parameter(parameter) => {
                    if let ParameterOperator::Default { word, .. } | ParameterOperator::Other(word) =
                        &parameter.operator
                    {
                        self.scripts_in(&word.parts);
                    }
                }
                WordPart::Array(array) => {
                    array.elements.iter().for_each(|element| self.scripts_in(&element.value.parts));
                }
                WordPart::Unparsed(unparsed) => {
                    self.line(unparsed.span, &format!("unparsed: {} at {}", unparsed.reason, unparsed.at));
                }
                _ => {}
            }
        }
    }
}
