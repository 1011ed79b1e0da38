// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Commands of programs that the policy describes, read once more by those descriptions.
//!
//! A project's descriptions can be written by the agent that is guarded, so they must not take anything away.
//! Everything is therefore read without them first, and nothing of that is changed any more: these readings
//! append commands and effects. Where one would change a command that was read before, it changes a copy.

use tenterhook_code_facts::Language;
use tenterhook_paths::Certainty;
use tenterhook_programs::{Location, Role};

use super::super::described_command::DescribedCommand;
use super::super::description::{DescriptionSource, word_of};
use super::super::{TextSpan, effect};
use super::command::{ShellCommand, program_name};
use super::invoke::{Redirections, joined};
use super::scope::Scope;
use super::word::Word;
use super::wrappers::unwrap;
use super::{MOST_COMMANDS, Reader};

/// A command to be read once more.
pub(super) struct AddedReading {
    layer: usize,
    words: Vec<Word>,
    io: Redirections,
    scope: Scope,
    certainty: Certainty,
    span: Option<TextSpan>,
    /// Whether the command only stands for what another does.
    quiet: bool,
}

impl Reader<'_> {
    /// Remembers a command for each layer of the policy that describes its program.
    pub(super) fn note_additions(&mut self, program: &str, words: &[Word], io: &Redirections, scope: &Scope) {
        for layer in 0..self.programs.count_additions() {
            if self.programs.find_addition(layer, program).is_none() {
                continue;
            }
            // Steps of their own: what is read without the descriptions must not depend on them.
            let cost = words.len() + scope.size();
            let Some(left) = self.addition_steps.checked_sub(cost) else {
                self.left_out.push(joined(words));
                self.addition_steps = 0;
                continue;
            };
            self.addition_steps = left;
            self.additions.push(AddedReading {
                layer,
                words: words.to_vec(),
                io: io.inherited(),
                scope: scope.clone(),
                certainty: self.certainty,
                span: self.span,
                quiet: self.quiet,
            });
        }
    }

    /// Reads the remembered commands by the descriptions of the policy, and what those start in turn.
    pub(super) fn read_additions(&mut self) {
        self.exhausted = false;
        while !self.additions.is_empty() {
            for reading in std::mem::take(&mut self.additions) {
                if self.exhausted {
                    self.left_out.push(joined(&reading.words));
                    continue;
                }
                self.first_writable = self.commands.len();
                (self.certainty, self.span, self.quiet) = (reading.certainty, reading.span, reading.quiet);
                // Texts inside the command have no place of their own in the call.
                self.texts_entered = 1;
                self.read_addition(&reading);
                self.texts_entered = 0;
                self.walk_defined();
                self.keep_copies();
                if self.exhausted {
                    self.left_out.push(joined(&reading.words));
                }
            }
        }
        if !self.left_out.is_empty() {
            let text = std::mem::take(&mut self.left_out).join("\n");
            self.leave_unread("too large or too deeply nested", &text);
        }
    }

    fn read_addition(&mut self, reading: &AddedReading) {
        let AddedReading { layer, words, io, scope, .. } = reading;
        let Some((first, rest)) = words.split_first() else { return };
        let program = program_name(&first.text);
        let programs = self.programs;
        let Some(described) = programs.find_addition(*layer, program) else { return };
        let described = DescribedCommand::new(described, rest);
        if !self.spend(words.len() * 10) || !self.enter() {
            return;
        }
        let (ground, cwd) = (&scope.place.ground, &scope.cwd);
        let command = ShellCommand::described(first, rest, program.to_owned(), Some(&described), ground, cwd);
        let command = ShellCommand { description: DescriptionSource::Added(*layer), ..command.placed(scope) };
        if self.push(command, io) {
            if !self.quiet {
                for touch in effect::touches(&described) {
                    self.touched(&touch, program, scope);
                }
            }
            self.start_described(&described, program, io, scope);
        }
        self.leave();
    }

    /// What the command starts, by the description.
    fn start_described(
        &mut self,
        described: &DescribedCommand<'_>,
        program: &str,
        io: &Redirections,
        scope: &Scope,
    ) {
        self.run_codes(described, program, scope);
        self.launch_texts(described, program, scope);
        if self.run_elsewhere(described, program, scope) {
            return;
        }
        if let Some(wrapped) = unwrap(described) {
            self.unwrapped(program, described.words, &wrapped, io, scope);
        }
    }

    /// Code in other languages among the words.
    fn run_codes(&mut self, described: &DescribedCommand<'_>, program: &str, scope: &Scope) {
        let DescribedCommand { words, parsed, .. } = described;
        if parsed.location != Location::Here {
            return;
        }
        let own = self.commands.len().checked_sub(1);
        let options = parsed.options.iter().filter(|option| !option.off);
        let values = options.filter_map(|option| Some((option.role, option.value?)));
        let operands = parsed.operands.iter().map(|operand| (operand.role, operand.part));
        for (role, part) in values.chain(operands) {
            let Role::Code(language) = role else { continue };
            let code = word_of(words, part);
            match Language::named(language.name()) {
                Some(language) => {
                    self.look_over(&code.text);
                    self.code(language, &code.text, program, own, scope);
                }
                None => self.pass_over("it is code in another language", &code.text),
            }
        }
    }

    /// The command of this index, for changes; a copy of it if it was read before.
    pub(super) fn writable(&mut self, index: usize) -> Option<&mut ShellCommand> {
        if index >= self.first_writable {
            return self.commands.get_mut(index);
        }
        let known = self.copies.iter().position(|(of, _)| *of == index);
        let at = known.unwrap_or(self.copies.len());
        if known.is_none() {
            self.copies.push((index, self.commands.get(index)?.clone()));
        }
        self.copies.get_mut(at).map(|(_, copy)| copy)
    }

    /// Adds the copies that were changed to the commands.
    fn keep_copies(&mut self) {
        let room = MOST_COMMANDS.saturating_sub(self.commands.len());
        self.exhausted |= self.copies.len() > room;
        self.commands.extend(self.copies.drain(..).take(room).map(|(_, copy)| copy));
    }
}
