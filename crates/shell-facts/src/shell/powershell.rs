// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads PowerShell: walks its syntax tree and analyses its commands by the descriptions of programs and cmdlets.
//!
//! `tenterhook-powershell` provides the syntax tree. A cmdlet is a program with the option syntax `powershell` in
//! `programs/powershell.yaml`, so rules about programs and effects apply to it. Short names are resolved, variables
//! and paths are evaluated as far as they are known, and objects in a pipeline become the paths of the next cmdlet.

mod cmdlet_output;
mod evaluate_expression;
mod known_values;
mod members;
mod run_cmdlet;
#[cfg(test)]
mod tests;
mod value;

use std::sync::Arc;

use tenterhook_paths::Certainty;
use tenterhook_powershell::{
    CommandElement, PowerShellAssignment, PowerShellBranches, PowerShellExpression, PowerShellPipeline,
    PowerShellScript, PowerShellStage, PowerShellStatement, decode_encoded_command, parse_powershell,
};
use tenterhook_shell::Span;

use super::invoke::Redirections;
use super::scope::ShellScope;
use super::word::merge_sources;
use super::{MAX_TEXT_BYTES, ShellReader};
pub(super) use known_values::{home_directory, provider_path, variable_text};
use members::restore_variable;
use value::{PowerShellScope, PowerShellValue};

impl ShellReader<'_> {
    /// Reads text as a PowerShell script. An encoded command is decoded first.
    pub(super) fn read_powershell(&mut self, text: &str, scope: &mut ShellScope) {
        if text.len() > MAX_TEXT_BYTES {
            return self.report_opaque("longer than 1 MiB", text);
        }
        if !self.spend_steps(1 + text.len() / 8) || !self.enter_level() {
            return;
        }
        let decoded = decode_encoded_command(text);
        let script = parse_powershell(decoded.as_deref().unwrap_or(text));
        let (span, entered) = (self.span, self.texts_entered);
        self.texts_entered += 1;
        let outer = std::mem::take(&mut self.powershell_functions);
        let mut ps = PowerShellScope::default();
        self.walk_powershell(&script, &mut ps, scope);
        self.walk_uncalled_functions(&mut ps, scope);
        self.powershell_functions = outer;
        (self.span, self.texts_entered) = (span, entered);
        self.leave_level();
    }

    /// Walks statements; returns their output.
    fn walk_powershell(
        &mut self,
        script: &PowerShellScript,
        ps: &mut PowerShellScope,
        scope: &mut ShellScope,
    ) -> PowerShellValue {
        let mut output = PowerShellValue::default();
        if !self.enter_level() {
            return output;
        }
        // Functions may be called before their definition is reached.
        for statement in &script.statements {
            if let PowerShellStatement::Function(function) = statement {
                let body = Arc::new(function.body.clone());
                self.powershell_functions.push((Arc::clone(&body), false));
                ps.functions.insert(function.name.clone(), body);
            }
        }
        for statement in &script.statements {
            output.extend(self.walk_powershell_statement(statement, ps, scope));
        }
        self.leave_level();
        output
    }

    /// Walks functions that are not called by name, because another command may call them. They may define further
    /// functions.
    fn walk_uncalled_functions(&mut self, ps: &mut PowerShellScope, scope: &mut ShellScope) {
        let certainty = std::mem::replace(&mut self.certainty, Certainty::Possible);
        let mut next = 0;
        while let Some((body, is_called)) = self.powershell_functions.get(next).cloned() {
            next += 1;
            // Each walk copies the variables and functions.
            if !is_called && self.spend_steps(1 + (ps.vars.len() + ps.functions.len()) / 8) {
                self.walk_powershell(&body, &mut ps.clone(), &mut scope.clone());
            }
        }
        self.certainty = certainty;
    }

    fn walk_powershell_statement(
        &mut self,
        statement: &PowerShellStatement,
        ps: &mut PowerShellScope,
        scope: &mut ShellScope,
    ) -> PowerShellValue {
        if !self.spend_steps(1) {
            return PowerShellValue::default();
        }
        match statement {
            PowerShellStatement::Pipeline(pipeline) => self.walk_powershell_pipeline(pipeline, ps, scope),
            PowerShellStatement::Assignment(assignment) => {
                self.assign_powershell(assignment, ps, scope);
                PowerShellValue::default()
            }
            PowerShellStatement::ForEach(each) => {
                let mut list = self.walk_powershell(&each.list, ps, scope);
                if list.items.is_empty() {
                    list.extend(PowerShellValue::unknown(&format!("${}", each.variable), &[]));
                }
                let outer = ps.vars.insert(each.variable.clone(), list);
                let output = self.walk_powershell(&each.body, ps, scope);
                restore_variable(ps, &each.variable, outer);
                output
            }
            PowerShellStatement::Branches(branches) => self.walk_powershell_branches(branches, ps, scope),
            PowerShellStatement::Function(_) => PowerShellValue::default(),
            PowerShellStatement::TooDeep(text) => {
                self.report_opaque("too large or too deeply nested", text);
                PowerShellValue::default()
            }
            PowerShellStatement::Unparsed(text) => {
                self.report_unread("it is PowerShell that cannot be parsed", text);
                PowerShellValue::default()
            }
        }
    }

    /// Walks all branches. A variable that some branch changes may afterwards have the value from any branch.
    fn walk_powershell_branches(
        &mut self,
        branches: &PowerShellBranches,
        ps: &mut PowerShellScope,
        scope: &mut ShellScope,
    ) -> PowerShellValue {
        let mut output = PowerShellValue::default();
        for condition in &branches.conditions {
            self.walk_powershell(condition, ps, scope);
        }
        if !self.spend_steps((1 + ps.vars.len()) * branches.bodies.len()) {
            return output;
        }
        let before = ps.vars.clone();
        let mut merged = before.clone();
        for body in &branches.bodies {
            ps.vars.clone_from(&before);
            let mut inner = scope.clone();
            output.extend(self.walk_powershell(body, ps, &mut inner));
            // A directory that a branch changes to is kept, because scripts rarely go back.
            scope.cwd = inner.cwd;
            for (name, value) in &ps.vars {
                let old = before.get(name).map(|value| &value.items);
                if old != Some(&value.items) {
                    merged.entry(name.clone()).or_default().extend(value.clone());
                }
            }
        }
        ps.vars = merged;
        output
    }

    fn assign_powershell(
        &mut self,
        assignment: &PowerShellAssignment,
        ps: &mut PowerShellScope,
        scope: &mut ShellScope,
    ) {
        let value = self.walk_powershell_statement(&assignment.value, ps, scope);
        let mut target = &assignment.target;
        while let PowerShellExpression::Cast(_, inner) = target {
            target = inner;
        }
        match target {
            PowerShellExpression::Variable(name) if name == "null" => {}
            PowerShellExpression::Variable(name) => {
                let old = ps.vars.get(name).filter(|_| assignment.appends);
                let value = match old {
                    Some(old) if old.items.len() == 1 && value.items.len() == 1 => {
                        let mut word = old.join("");
                        value::append_word(&mut word, &value.join(""));
                        PowerShellValue { items: vec![word], ..PowerShellValue::default() }
                    }
                    Some(old) => {
                        let mut all = old.clone();
                        all.extend(value);
                        all
                    }
                    None => value,
                };
                ps.vars.insert(name.clone(), value);
            }
            PowerShellExpression::List(items) => {
                for item in items {
                    if let PowerShellExpression::Variable(name) = item {
                        ps.vars.insert(
                            name.clone(),
                            PowerShellValue::unknown(&format!("${name}"), &value.sources()),
                        );
                    }
                }
            }
            other => _ = self.evaluate_powershell(other, ps, scope),
        }
    }

    fn walk_powershell_pipeline(
        &mut self,
        pipeline: &PowerShellPipeline,
        ps: &mut PowerShellScope,
        scope: &mut ShellScope,
    ) -> PowerShellValue {
        let outer = scope.stdin.clone();
        let mut stream = scope.stdin.clone();
        let mut flow = PowerShellValue::default();
        for stage in &pipeline.stages {
            let start = self.commands.len();
            if !self.spend_steps(1 + stream.from.len() / 8) {
                break;
            }
            scope.stdin.clone_from(&stream);
            flow = match stage {
                PowerShellStage::Command(command) => self.run_powershell_command(command, &flow, ps, scope),
                PowerShellStage::Expression(value, redirects) => {
                    let value = self.evaluate_powershell(value, ps, scope);
                    self.redirect_value(&value, redirects, ps, scope);
                    value
                }
            };
            stream.from_terminal = false;
            self.collect_output(start, &mut stream);
            merge_sources(&mut stream.from, &flow.sources());
            if flow.is_known() {
                stream.texts = vec![flow.join("\n").text.into()];
            }
        }
        scope.stdin = outer;
        flow
    }

    /// Adds the effect of writing the value of an expression to a file: `'text' > file`.
    fn redirect_value(
        &mut self,
        value: &PowerShellValue,
        redirects: &[CommandElement],
        ps: &mut PowerShellScope,
        scope: &mut ShellScope,
    ) {
        let mut io = Redirections::default();
        for redirect in redirects {
            if let CommandElement::Redirect { appends, target } = redirect {
                let target = self.evaluate_powershell(target, ps, scope);
                self.open_powershell_redirect(*appends, &target, &mut io, scope);
            }
        }
        if !io.outputs.is_empty() {
            self.add_bare_redirects(&io, &value.items, scope);
        }
    }

    /// Sets the part of the call that the next facts refer to.
    fn enter_span_at(&mut self, start: u32, end: u32) {
        self.enter_span(Span { start, end });
    }
}
