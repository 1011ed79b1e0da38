// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Parses commands again with descriptions of programs that the policy adds.
//!
//! The guarded agent may be able to write a project's descriptions, so these must not remove anything. All commands
//! are first parsed without the added descriptions, and those results are final. The added descriptions only append
//! commands and effects. An earlier command is changed by appending a changed copy of it.

use tenterhook_code_facts::CodeLanguage;
use tenterhook_paths::Certainty;
use tenterhook_programs::{Location, Role};

use super::super::described_command::DescribedCommand;
use super::super::description::{DescriptionSource, extract_word};
use super::super::{TextSpan, effect};
use super::command::{ShellCommand, program_name};
use super::invoke::{Redirections, join_texts};
use super::scope::ShellScope;
use super::word::ShellWord;
use super::wrappers::unwrap;
use super::{MAX_COMMANDS, ShellReader};

/// A command to be parsed again with the description of a policy layer.
pub(super) struct AddedReading {
    layer: usize,
    words: Vec<ShellWord>,
    io: Redirections,
    scope: ShellScope,
    certainty: Certainty,
    span: Option<TextSpan>,
    /// Whether the command only repeats the effects of another one.
    skips_effects: bool,
}

impl ShellReader<'_> {
    /// Queues a command for each policy layer that describes its program.
    pub(super) fn note_additions(
        &mut self,
        program: &str,
        words: &[ShellWord],
        io: &Redirections,
        scope: &ShellScope,
    ) {
        for layer in 0..self.programs.count_additions() {
            if self.programs.find_addition(layer, program).is_none() {
                continue;
            }
            // These steps are counted separately, so that the first pass does not depend on added descriptions.
            let cost = words.len() + scope.size();
            let Some(left) = self.addition_steps.checked_sub(cost) else {
                self.skipped_additions.push(join_texts(words));
                self.addition_steps = 0;
                continue;
            };
            self.addition_steps = left;
            self.additions.push(AddedReading {
                layer,
                words: words.to_vec(),
                io: io.for_started_command(),
                scope: scope.clone(),
                certainty: self.certainty,
                span: self.span,
                skips_effects: self.skips_effects,
            });
        }
    }

    /// Parses the queued commands with the policy's descriptions, and then the commands that they start.
    pub(super) fn read_additions(&mut self) {
        self.exhausted = false;
        while !self.additions.is_empty() {
            for reading in std::mem::take(&mut self.additions) {
                if self.exhausted {
                    self.skipped_additions.push(join_texts(&reading.words));
                    continue;
                }
                self.first_writable = self.commands.len();
                (self.certainty, self.span, self.skips_effects) =
                    (reading.certainty, reading.span, reading.skips_effects);
                // Texts inside the command have no span of their own in the call.
                self.texts_entered = 1;
                self.read_addition(&reading);
                self.texts_entered = 0;
                self.walk_defined();
                self.keep_copies();
                if self.exhausted {
                    self.skipped_additions.push(join_texts(&reading.words));
                }
            }
        }
        if !self.skipped_additions.is_empty() {
            let text = std::mem::take(&mut self.skipped_additions).join("\n");
            self.report_opaque("too large or too deeply nested", &text);
        }
    }

    fn read_addition(&mut self, reading: &AddedReading) {
        let AddedReading { layer, words, io, scope, .. } = reading;
        let Some((first, rest)) = words.split_first() else { return };
        let program = program_name(&first.text);
        let programs = self.programs;
        let Some(described) = programs.find_addition(*layer, program) else { return };
        let described = DescribedCommand::new(described, rest);
        if !self.spend_steps(words.len() * 10) || !self.enter_level() {
            return;
        }
        let (roots, cwd) = (&scope.site.roots, &scope.cwd);
        let command =
            ShellCommand::from_description(first, rest, program.to_owned(), Some(&described), roots, cwd);
        let command =
            ShellCommand { description: DescriptionSource::Added(*layer), ..command.at_scope(scope) };
        if self.push_command(command, io) {
            if !self.skips_effects {
                for requested in effect::program_effects(&described) {
                    self.add_operand_effect(&requested, program, scope);
                }
            }
            self.start_described(&described, program, io, scope);
        }
        self.leave_level();
    }

    /// Reads the commands and code that a command starts according to its description.
    fn start_described(
        &mut self,
        described: &DescribedCommand<'_>,
        program: &str,
        io: &Redirections,
        scope: &ShellScope,
    ) {
        self.read_codes(described, program, scope);
        self.launch_texts(described, program, scope);
        if self.run_elsewhere(described, program, scope) {
            return;
        }
        if let Some(wrapped) = unwrap(described) {
            self.run_wrapped(program, described.words, &wrapped, io, scope);
        }
    }

    /// Reads code in other languages among the words.
    fn read_codes(&mut self, described: &DescribedCommand<'_>, program: &str, scope: &ShellScope) {
        let DescribedCommand { words, parsed, .. } = described;
        if parsed.location != Location::Here {
            return;
        }
        let own = self.last_command();
        let options = parsed.options.iter().filter(|option| !option.off);
        let values = options.filter_map(|option| Some((option.role, option.value?)));
        let operands = parsed.operands.iter().map(|operand| (operand.role, operand.part));
        for (role, part) in values.chain(operands) {
            let Role::Code(language) = role else { continue };
            let code = extract_word(words, part);
            match CodeLanguage::from_name(language.name()) {
                Some(language) => {
                    self.read_code(language, &code.text, program, own, scope);
                }
                None => self.report_unread("it is code in another language", &code.text),
            }
        }
    }

    /// Returns the command at this index, or a copy of it if the command is final.
    pub(super) fn writable_command(&mut self, index: usize) -> Option<&mut ShellCommand> {
        if index >= self.first_writable {
            return self.commands.get_mut(index);
        }
        let known = self.changed_copies.iter().position(|(of, _)| *of == index);
        let at = known.unwrap_or(self.changed_copies.len());
        if known.is_none() {
            self.changed_copies.push((index, self.commands.get(index)?.clone()));
        }
        self.changed_copies.get_mut(at).map(|(_, copy)| copy)
    }

    /// Appends the changed copies to the commands.
    fn keep_copies(&mut self) {
        let room = MAX_COMMANDS.saturating_sub(self.commands.len());
        self.exhausted |= self.changed_copies.len() > room;
        self.commands.extend(self.changed_copies.drain(..).take(room).map(|(_, copy)| copy));
    }
}
