// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Walks the syntax tree of a script in execution order.

use std::sync::Arc;

use tenterhook_code_facts::SYNTAX_NOT_UNDERSTOOD;
use tenterhook_shell as ast;

use super::super::TextSpan;
use super::ShellReader;
use super::invoke::Redirections;
use super::scope::{InputStream, ShellScope};

/// The text of a script. Spans are positions in it, and functions that the script defines keep a reference to it.
pub(super) type SourceText = Arc<str>;

/// The body of a function.
#[derive(Debug)]
pub(super) struct FunctionBody {
    source: SourceText,
    command: ast::Command,
    /// The body as written.
    pub(super) text: String,
    /// Whether spans refer to the text of the call, and not to a nested text.
    is_outermost: bool,
}

impl FunctionBody {
    /// Creates the body of an alias for a command: `alias x='rm -rf'`.
    pub(super) fn starting(command: &str) -> Self {
        Self::parse(format!("{command} \"$@\""))
    }

    /// Creates a body from a part of a script that is walked again later.
    pub(super) fn from_command(command: ast::Command, source: &SourceText) -> Self {
        let text = command.span().text(source).to_owned();
        Self { source: Arc::clone(source), command, text, is_outermost: false }
    }

    /// Parses a body that is given as text, such as the value of an alias.
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

impl ShellReader<'_> {
    pub(super) fn walk_script(&mut self, script: &ast::Script, src: &SourceText, scope: &mut ShellScope) {
        if !self.enter_level() {
            return;
        }
        for statement in &script.statements {
            // A background command runs in its own process, so its changes are dropped.
            if statement.is_background() {
                if self.spend_steps(scope.size()) {
                    self.walk_chain(statement, src, &mut scope.clone());
                }
            } else {
                self.walk_chain(statement, src, scope);
            }
        }
        self.leave_level();
    }

    pub(super) fn walk_pipeline(
        &mut self,
        pipeline: &ast::Pipeline,
        src: &SourceText,
        scope: &mut ShellScope,
    ) {
        if let [only] = pipeline.stages.as_slice() {
            return self.walk_command(&only.command, src, scope);
        }
        // Every stage receives the output that all earlier stages may have printed.
        let mut stream = scope.stdin.clone();
        for stage in &pipeline.stages {
            let start = self.commands.len();
            if !self.spend_steps(scope.size() + stream.from.len() / 8) {
                return;
            }
            self.walk_command(&stage.command, src, &mut scope.with_stdin(&stream));
            // A pipe is not a terminal, unless the previous stage passes on typed text.
            stream.from_terminal = false;
            self.collect_output(start, &mut stream);
        }
    }

    pub(super) fn walk_command(&mut self, command: &ast::Command, src: &SourceText, scope: &mut ShellScope) {
        if !self.spend_steps(1) || !self.enter_level() {
            return;
        }
        match command {
            ast::Command::Simple(simple) => self.walk_simple_command(simple, src, scope),
            ast::Command::Compound(compound) if compound.redirects.is_empty() => {
                self.walk_compound(&compound.kind, src, scope);
            }
            ast::Command::Compound(compound) => {
                self.with_redirects(&compound.redirects, src, scope, |reader, io, scope| {
                    reader.walk_compound(&compound.kind, src, scope);
                    reader.enter_span(compound.span);
                    reader.add_bare_redirects(io, &[], scope);
                });
            }
            ast::Command::Function(function) => self.define_function(function, src, scope),
            ast::Command::Coprocess(coprocess) => {
                if self.spend_steps(scope.size()) {
                    self.walk_command(&coprocess.command, src, &mut scope.clone());
                    self.add_sink(coprocess.command.clone(), false, src, scope);
                }
            }
            ast::Command::Unparsed(unparsed) => self.report_unparsed_node(unparsed),
        }
        self.leave_level();
    }

    /// Sets the part of the call that the next facts refer to. Nested texts have no span of their own.
    pub(super) fn enter_span(&mut self, span: ast::Span) {
        if let Some(TextSpan { text, .. }) = self.span
            && self.texts_entered <= 1
        {
            self.span = Some(TextSpan { text, start: span.start, end: span.end });
        }
    }

    /// Reports text that the parser did not understand.
    pub(super) fn report_unparsed_node(&mut self, unparsed: &ast::UnparsedText) {
        if unparsed.reason.is_limit() {
            self.report_opaque("too large or too deeply nested", &unparsed.text);
        } else if self.reports_syntax {
            self.report_unparsed(SYNTAX_NOT_UNDERSTOOD, &unparsed.text);
        }
    }

    /// Walks a script in a copy of the scope; returns the indices of its commands.
    pub(super) fn walk_subshell(
        &mut self,
        script: &ast::Script,
        src: &SourceText,
        scope: &ShellScope,
    ) -> Vec<usize> {
        let start = self.commands.len();
        if self.spend_steps(scope.size()) {
            self.walk_script(script, src, &mut scope.clone());
        }
        (start..self.commands.len()).collect()
    }

    /// Opens redirections, walks the command they belong to, and reads `>(…)` with its output.
    pub(super) fn with_redirects(
        &mut self,
        redirects: &[ast::Redirect],
        src: &SourceText,
        scope: &mut ShellScope,
        walk: impl FnOnce(&mut Self, &Redirections, &mut ShellScope),
    ) {
        let outer = scope.stdin.clone();
        let mut io = Redirections::default();
        for redirect in redirects {
            self.open_redirect(redirect, src, &mut io, scope);
        }
        let start = self.commands.len();
        walk(self, &io, scope);
        let mut printed = InputStream::default();
        self.collect_output(start, &mut printed);
        scope.stdin = outer;
        for redirect in redirects {
            self.run_output_process(redirect, src, &printed, scope);
        }
    }

    /// Adds the output of the commands since `start` to a stream.
    pub(super) fn collect_output(&self, start: usize, stream: &mut InputStream) {
        for (index, command) in self.commands.iter().enumerate().skip(start) {
            stream.from.push(index);
            stream.from_terminal |= command.from_terminal;
            for text in &command.printed {
                if !stream.texts.contains(text) {
                    stream.texts.push(Arc::clone(text));
                }
            }
        }
    }

    /// Defines a function. Its body is walked where it is called, in that scope.
    fn define_function(
        &mut self,
        function: &ast::FunctionDefinition,
        src: &SourceText,
        scope: &mut ShellScope,
    ) {
        // An anonymous zsh function runs immediately.
        if function.names.is_empty() {
            let mut arguments = Vec::new();
            for word in &function.arguments {
                arguments.extend(self.expand_words(word, src, scope));
            }
            let mut inner = scope.enter_function("", &arguments);
            self.walk_command(&function.body, src, &mut inner);
            return scope.leave_function(inner);
        }
        let body = Arc::new(FunctionBody {
            source: Arc::clone(src),
            command: function.body.clone(),
            text: function.body.span().text(src).to_owned(),
            is_outermost: self.texts_entered <= 1,
        });
        // Each definition copies the function table, which earlier scopes still share.
        if !self.spend_steps(scope.size() + body.text.len() / 16) {
            return;
        }
        self.defined_functions.push((Arc::clone(&body), scope.clone()));
        for name in &function.names {
            let name = name.literal().unwrap_or_else(|| name.span.text(src).into());
            scope.add_function(&name, Arc::clone(&body));
        }
    }

    /// Walks the body of a function.
    pub(super) fn walk_function(&mut self, body: &FunctionBody, scope: &mut ShellScope) {
        // No further command would be kept, so the body is not walked.
        self.exhausted |= self.commands.len() >= super::MAX_COMMANDS;
        let (span, entered) = (self.span, self.texts_entered);
        self.texts_entered += usize::from(!body.is_outermost);
        self.with_exit_traps(scope, |reader, scope| reader.walk_command(&body.command, &body.source, scope));
        (self.span, self.texts_entered) = (span, entered);
    }
}
