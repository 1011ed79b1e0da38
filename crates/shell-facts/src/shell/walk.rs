// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Walks the syntax tree of a script in the order in which it runs.

use std::sync::Arc;

use tenterhook_shell as ast;

use super::super::TextSpan;
use super::Reader;
use super::invoke::Redirections;
use super::scope::{Scope, Stream};
use super::unread;

/// The text that spans refer to; shared with the functions it defines.
pub(super) type Source = Arc<str>;

/// The body of a function.
#[derive(Debug)]
pub(super) struct FunctionBody {
    source: Source,
    command: ast::Command,
    /// The body as written.
    pub(super) text: String,
    /// Whether its spans refer to the text of the call, not to a text inside it.
    is_outermost: bool,
}

impl FunctionBody {
    /// A body that is given as text, such as the value of an alias.
    pub(super) fn parse(text: String) -> Self {
        let script = ast::parse(&text, ast::Dialect::Bash).script;
        let span = script.span;
        let kind = ast::Compound::Group(script);
        let compound = ast::CompoundCommand { kind, redirects: Vec::new(), span };
        Self {
            source: text.as_str().into(),
            command: ast::Command::Compound(Box::new(compound)),
            text,
            is_outermost: false,
        }
    }
}

impl Reader<'_> {
    pub(super) fn walk_script(&mut self, script: &ast::Script, src: &Source, scope: &mut Scope) {
        if !self.enter() {
            return;
        }
        for statement in &script.statements {
            // The shell starts another process for it: what it changes is not changed here.
            if statement.is_background() {
                if self.spend(scope.size()) {
                    self.walk_chain(statement, src, &mut scope.clone());
                }
            } else {
                self.walk_chain(statement, src, scope);
            }
        }
        self.leave();
    }

    pub(super) fn walk_pipeline(&mut self, pipeline: &ast::Pipeline, src: &Source, scope: &mut Scope) {
        if let [only] = pipeline.stages.as_slice() {
            return self.walk_command(&only.command, src, scope);
        }
        // Every stage gets what all stages before it may have printed.
        let mut stream = scope.stdin.clone();
        for stage in &pipeline.stages {
            let start = self.commands.len();
            if !self.spend(scope.size() + stream.from.len() / 8) {
                return;
            }
            self.walk_command(&stage.command, src, &mut scope.fed(&stream));
            // Behind a pipe there is no terminal, unless the stage before passes on what is typed.
            stream.typed = false;
            self.flow(start, &mut stream);
        }
    }

    pub(super) fn walk_command(&mut self, command: &ast::Command, src: &Source, scope: &mut Scope) {
        if !self.spend(1) || !self.enter() {
            return;
        }
        match command {
            ast::Command::Simple(simple) => self.walk_simple_command(simple, src, scope),
            ast::Command::Compound(compound) if compound.redirects.is_empty() => {
                self.walk_compound(&compound.kind, src, scope);
            }
            ast::Command::Compound(compound) => {
                self.redirected(&compound.redirects, src, scope, |reader, io, scope| {
                    reader.walk_compound(&compound.kind, src, scope);
                    reader.enter_span(compound.span);
                    reader.bare(io, &[], scope);
                });
            }
            ast::Command::Function(function) => self.define_function(function, src, scope),
            ast::Command::Coprocess(coprocess) => {
                if self.spend(scope.size()) {
                    self.walk_command(&coprocess.command, src, &mut scope.clone());
                }
            }
            ast::Command::Unparsed(unparsed) => self.give_up_on(unparsed),
        }
        self.leave();
    }

    /// What is read from here on comes from this part of the call. Texts inside texts have no place of their own.
    pub(super) fn enter_span(&mut self, span: ast::Span) {
        if let Some(TextSpan { text, .. }) = self.span
            && self.texts_entered <= 1
        {
            self.span = Some(TextSpan { text, start: span.start, end: span.end });
        }
    }

    /// Text that the parser did not understand.
    pub(super) fn give_up_on(&mut self, unparsed: &ast::Unparsed) {
        if unparsed.reason.is_limit() {
            self.leave_unread("too large or too deeply nested", &unparsed.text);
        } else if self.reports_syntax {
            self.give_up(unread::SYNTAX, &unparsed.text);
        }
    }

    /// Walks a script in a copy of the scope; returns the commands found, by their index.
    pub(super) fn walk_subshell(&mut self, script: &ast::Script, src: &Source, scope: &Scope) -> Vec<usize> {
        let start = self.commands.len();
        if self.spend(scope.size()) {
            self.walk_script(script, src, &mut scope.clone());
        }
        (start..self.commands.len()).collect()
    }

    /// Opens the redirections, walks what they belong to, and runs `>(…)` on what that prints.
    pub(super) fn redirected(
        &mut self,
        redirects: &[ast::Redirect],
        src: &Source,
        scope: &mut Scope,
        walk: impl FnOnce(&mut Self, &Redirections, &mut Scope),
    ) {
        let outer = scope.stdin.clone();
        let mut io = Redirections::default();
        for redirect in redirects {
            self.open_redirect(redirect, src, &mut io, scope);
        }
        let start = self.commands.len();
        walk(self, &io, scope);
        let mut printed = Stream::default();
        self.flow(start, &mut printed);
        scope.stdin = outer;
        for redirect in redirects {
            self.run_output_process(redirect, src, &printed, scope);
        }
    }

    /// Adds what the commands since `start` print.
    pub(super) fn flow(&self, start: usize, stream: &mut Stream) {
        for (index, command) in self.commands.iter().enumerate().skip(start) {
            stream.from.push(index);
            stream.typed |= command.typed;
            for text in &command.said {
                if !stream.texts.contains(text) {
                    stream.texts.push(Arc::clone(text));
                }
            }
        }
    }

    /// A function's body is walked where it is called, with what is known there.
    fn define_function(&mut self, function: &ast::FunctionDefinition, src: &Source, scope: &mut Scope) {
        // An anonymous function of zsh runs at once.
        if function.names.is_empty() {
            let mut arguments = Vec::new();
            for word in &function.arguments {
                arguments.extend(self.words(word, src, scope));
            }
            let mut inner = scope.call("", &arguments);
            self.walk_command(&function.body, src, &mut inner);
            return scope.returned(inner);
        }
        let body = Arc::new(FunctionBody {
            source: Arc::clone(src),
            command: function.body.clone(),
            text: function.body.span().text(src).to_owned(),
            is_outermost: self.texts_entered <= 1,
        });
        // Each definition copies the table of functions, which the scopes before it still share.
        if !self.spend(scope.size() + body.text.len() / 16) {
            return;
        }
        self.defined.push((Arc::clone(&body), scope.clone()));
        for name in &function.names {
            let name = name.literal().unwrap_or_else(|| name.span.text(src).into());
            scope.define(&name, Arc::clone(&body));
        }
    }

    /// Walks the body of a function.
    pub(super) fn walk_function(&mut self, body: &FunctionBody, scope: &mut Scope) {
        // When no more commands are kept, there is nothing to find either.
        self.exhausted |= self.commands.len() >= super::MOST_COMMANDS;
        let (span, entered) = (self.span, self.texts_entered);
        self.texts_entered += usize::from(!body.is_outermost);
        self.with_exit_traps(scope, |reader, scope| reader.walk_command(&body.command, &body.source, scope));
        (self.span, self.texts_entered) = (span, entered);
    }
}
