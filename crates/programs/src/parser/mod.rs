// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Parses the words of a command with the description of its program, in a single pass.

mod options;
mod roles;

use std::borrow::Cow;

use crate::format::record::{
    ANY_OPERANDS, CommandRecord, DoubleDashRule, KEY_PLUS, KEY_WORD, NameTable, OperandCase, OperandSlot,
    OptionRecord, OptionSyntax, StandardInput,
};
use crate::format::role::Role;
use crate::parsed_args::{
    CommandWord, InnerCommand, ParsedArgs, ParsedOperand, ParsedOption, Variant, WordSlice,
};
use roles::{assign_roles, first_letter, is_assignment, is_instruction, is_number};

/// Values that turn an option off in any program.
const OFF_VALUES: &[&str] = &["none", "false", "no", "off", "0", "f", "n", "never", ""];

/// Parses the words of a command.
pub(crate) fn parse_words<'w, 'p: 'r, 'r, W: CommandWord>(
    record: &'r CommandRecord<'p>,
    words: &'w [W],
    variant: Variant,
) -> ParsedArgs<'w, 'p> {
    let mut parser = ArgsParser {
        words,
        at: 0,
        variant,
        level: Cow::Borrowed(record),
        outer: Vec::new(),
        command_is_due: !record.commands.is_empty(),
        options_are_over: record.syntax == OptionSyntax::None,
        dashes_at: None,
        operands: Vec::new(),
        case: 0,
        case_options: Vec::new(),
        has_instruction: false,
        is_interactive: false,
        is_batch: false,
        conditional: Vec::new(),
        parsed: ParsedArgs {
            location: record.location,
            stdin: record.stdin,
            default_stdin: record.stdin,
            language: record.language,
            manager: record.manager,
            spec_style: record.spec_style,
            package_verb: record.package_verb,
            runner: record.runner,
            escape: record.escape,
            optionless: record.syntax == OptionSyntax::None,
            ..ParsedArgs::default()
        },
    };
    parser.select_case();
    parser.read_words();
    parser.into_parsed()
}

struct ArgsParser<'w, 'p, 'r, W> {
    words: &'w [W],
    at: usize,
    variant: Variant,
    /// The current program or sub-command.
    level: Cow<'r, CommandRecord<'p>>,
    /// Options of outer levels that apply to sub-commands.
    outer: Vec<NameTable<'p>>,
    command_is_due: bool,
    options_are_over: bool,
    /// Number of operands before `--`.
    dashes_at: Option<usize>,
    operands: Vec<WordSlice<'w>>,
    /// Index of the operand grammar that applies with the options so far.
    case: usize,
    /// Options given so far that operand grammars depend on.
    case_options: Vec<&'p str>,
    /// Whether an option gives the program instructions.
    has_instruction: bool,
    /// Whether an option opens a prompt in any case.
    is_interactive: bool,
    /// Whether an option suppresses the prompt: `git -c core.editor=true rebase -i`.
    is_batch: bool,
    /// Indices of options whose role depends on other options.
    conditional: Vec<(usize, OptionRecord<'p>)>,
    parsed: ParsedArgs<'w, 'p>,
}

impl<'w, 'p: 'r, 'r, W: CommandWord> ArgsParser<'w, 'p, 'r, W> {
    fn read_words(&mut self) {
        if self.level.bundle {
            self.read_bundle();
        }
        while let Some(word) = self.words.get(self.at) {
            let text = word.text();
            self.at = self.at.saturating_add(1);
            if text == "--" && self.dashes_begin_command() {
                self.dashes_at = Some(self.operands.len());
                self.options_are_over = true;
                self.begin_inner(self.at);
                return;
            }
            if text == "--" && self.level.dashes == DoubleDashRule::Skipped {
                continue;
            }
            if self.options_are_over || !self.is_option(text) {
                if self.read_operand(word, text) {
                    return;
                }
            } else if text == "--" {
                self.options_are_over = true;
                self.dashes_at = Some(self.operands.len());
            } else {
                self.parsed.open |= word.may_be_option();
                self.read_option(text);
            }
        }
    }

    fn is_option(&self, text: &'w str) -> bool {
        match self.level.syntax {
            OptionSyntax::None => false,
            OptionSyntax::KeyValue => {
                text.starts_with("--")
                    || text.split_once('=').is_some_and(|(name, _)| self.find(KEY_WORD, name).is_some())
                    || self.find(KEY_WORD, text).is_some()
            }
            _ => {
                text.len() > 1 && text.starts_with('-')
                    || text.len() > 1 && text.starts_with('+') && self.takes_plus(text)
            }
        }
    }

    fn takes_plus(&self, text: &str) -> bool {
        let letter = text.get(1..).unwrap_or_default();
        // `vim +COMMAND`: the option name is empty.
        ["", first_letter(letter), letter].iter().any(|name| self.find(KEY_PLUS, name).is_some())
    }

    /// Reads an operand; true if the remaining words are a command.
    fn read_operand(&mut self, word: &'w W, text: &'w str) -> bool {
        if !self.options_are_over {
            self.parsed.open |= word.may_be_option();
        }
        if self.command_is_due && self.enter_command(text) {
            return false;
        }
        let position = self.at.saturating_sub(1);
        if self.inner_begins_with(text) {
            self.begin_inner(position);
            return true;
        }
        self.operands.push(WordSlice { word: position, offset: 0, text });
        // A sub-command that is not described still has options.
        let takes_options = !self.level.stops || !self.level.commands.is_empty();
        if !takes_options && !self.is_leading(text) {
            self.options_are_over = true;
        }
        false
    }

    fn enter_command(&mut self, text: &str) -> bool {
        self.command_is_due = false;
        let commands = self.level.commands;
        let Some(key) = commands.find(KEY_WORD, text) else { return false };
        let Some(level) = commands.command(key) else { return false };
        self.outer.push(self.level.everywhere);
        self.command_is_due = !level.commands.is_empty();
        self.options_are_over = level.syntax == OptionSyntax::None;
        self.parsed.path.push(level.name);
        let parsed = &mut self.parsed;
        parsed.location = level.location;
        parsed.stdin = level.stdin;
        parsed.default_stdin = level.stdin;
        parsed.language = level.language.or(parsed.language);
        parsed.manager = level.manager;
        parsed.spec_style = level.spec_style;
        parsed.package_verb = level.package_verb;
        parsed.runner = level.runner;
        if !level.escape.is_empty() {
            parsed.escape = level.escape;
        }
        self.level = Cow::Owned(level);
        self.select_case();
        true
    }

    fn current_case(&self) -> Option<&OperandCase<'p>> {
        self.level.operands.get(self.case)
    }

    /// Selects the first operand grammar whose options are present.
    fn select_case(&mut self) {
        let parsed = &self.parsed;
        let applies = |case: &OperandCase<'_>| {
            let given = |names: &&str| names.split('&').all(|name| parsed.has_any(&[name]));
            case.options.is_empty() || case.options.iter().any(given)
        };
        self.case = self.level.operands.iter().position(applies).unwrap_or(usize::MAX);
    }

    /// Selects an earlier operand grammar if this option makes one apply. Only the first option of each name is
    /// considered, so that parsing many options takes no longer than parsing a few.
    fn select_earlier_case(&mut self, option: &ParsedOption<'_, '_>) {
        let cases = self.level.operands.iter().take(self.case);
        let names = cases.flat_map(|case| &case.options).flat_map(|names| names.split('&'));
        let new = names.filter(|name| option.is(name) && !self.case_options.contains(name)).count();
        if new == 0 {
            return;
        }
        let cases = self.level.operands.iter().take(self.case);
        let names = cases.flat_map(|case| &case.options).flat_map(|names| names.split('&'));
        self.case_options.extend(names.filter(|name| option.is(name)));
        let given = |names: &&str| names.split('&').all(|name| self.case_options.contains(&name));
        let applies = |case: &OperandCase<'_>| case.options.iter().any(&given);
        let earlier = self.level.operands.iter().take(self.case).position(applies);
        self.case = earlier.unwrap_or(self.case);
    }

    fn inner_slot(&self) -> Option<(usize, OperandSlot)> {
        let case = self.current_case()?;
        let at = case.slots.iter().position(|slot| slot.inner)?;
        let is_certain = |slot: &&OperandSlot| !matches!(slot.role, Role::Assignment | Role::Number);
        let before = case.slots.iter().take(at).filter(is_certain).count();
        case.slots.get(at).map(|slot| (before, *slot))
    }

    /// Whether a word before the command is an assignment or number that the grammar expects.
    fn is_leading(&self, text: &str) -> bool {
        let takes = |slot: &OperandSlot| match slot.role {
            Role::Assignment => is_assignment(text),
            Role::Number => is_number(text),
            _ => false,
        };
        self.current_case().is_some_and(|case| case.slots.iter().any(takes))
    }

    /// Whether the inner command begins with this operand.
    fn inner_begins_with(&self, text: &str) -> bool {
        if self.level.dashes == DoubleDashRule::OnlyCommand && self.dashes_at.is_none() {
            return false;
        }
        let Some((before, _)) = self.inner_slot() else { return false };
        if self.is_leading(text) {
            return false;
        }
        let own = self.operands.iter().filter(|part| !self.is_leading(part.text));
        own.take(before.saturating_add(1)).count() >= before
    }

    /// Whether this `--` begins the inner command. Only the first `--` does.
    fn dashes_begin_command(&self) -> bool {
        let begins = matches!(self.level.dashes, DoubleDashRule::BeginCommand | DoubleDashRule::OnlyCommand);
        begins && self.dashes_at.is_none() && self.inner_slot().is_some()
    }

    fn begin_inner(&mut self, start: usize) {
        let joined = self.inner_slot().is_some_and(|(_, slot)| slot.role == Role::Shell);
        self.push_inner(start, self.words.len(), joined);
        self.at = self.words.len();
    }

    fn push_inner(&mut self, start: usize, end: usize, joined: bool) {
        if start < end {
            let location = self.level.location;
            self.parsed.inner.push(InnerCommand { start, end, joined, location });
        }
    }

    fn into_parsed(mut self) -> ParsedArgs<'w, 'p> {
        self.apply_conditional_roles();
        let operands = std::mem::take(&mut self.operands);
        // `parted DEVICE print`: a word can select the grammar as well.
        let is_given = |name: &&str| {
            // `*.js` is any word with this suffix, `^inspect` only the first word.
            let is_one = |part: &WordSlice<'_>| match name.strip_prefix('*') {
                Some(end) => part.text.ends_with(end),
                None => part.text == *name,
            };
            match name.strip_prefix('^') {
                Some(first) => operands.first().is_some_and(|part| part.text == first),
                None => !name.starts_with(['-', '+']) && operands.iter().any(is_one),
            }
        };
        let mut earlier = self.level.operands.iter().take(self.case);
        let by_word = earlier.position(|case| case.options.iter().any(&is_given));
        self.case = by_word.unwrap_or(self.case);
        let slots = self.current_case().map(|case| case.slots.as_slice()).unwrap_or_default();
        let mut roles = assign_roles(slots, &operands);
        if let Some(first) = self.dashes_at.filter(|_| self.level.dashes == DoubleDashRule::BeginArguments) {
            for role in roles.iter_mut().skip(first) {
                *role = Role::Text;
            }
        }
        let most = self.level.prompt_operands;
        let operands_tell = most != Some(ANY_OPERANDS)
            && (!self.parsed.inner.is_empty()
                || roles.iter().copied().any(is_instruction)
                || most.is_some_and(|most| operands.len() > usize::from(most)));
        let has_instructions = operands_tell || self.has_instruction;
        let has_inner = |case: &OperandCase<'_>| case.slots.iter().any(|slot| slot.inner);
        self.parsed.wraps =
            self.level.operands.iter().any(has_inner) || self.level.stdin == StandardInput::Shell;
        if !self.is_batch && (self.is_interactive || roles.contains(&Role::Interactive)) {
            self.parsed.stdin = StandardInput::Prompt;
        } else if has_instructions {
            self.parsed.stdin = StandardInput::Data;
        }
        let joined = operands.into_iter().zip(roles).map(|(part, role)| ParsedOperand { role, part });
        self.parsed.operands = joined.collect();
        for role in &self.level.always {
            let written = WordSlice { word: usize::MAX, offset: 0, text: "" };
            let (name, names) = ("", "");
            let (known, off, by_prefix) = (true, false, false);
            let entry =
                ParsedOption { name, names, written, role: *role, value: None, known, off, by_prefix };
            self.parsed.options.push(entry);
        }
        self.parsed
    }

    /// Applies roles that depend on other options: `tar -c -f` writes, `tar -x -f` reads.
    fn apply_conditional_roles(&mut self) {
        let mut known: Vec<(&str, Option<Role>)> = Vec::new();
        for (at, option) in std::mem::take(&mut self.conditional) {
            let found = known.iter().find(|(name, _)| *name == option.canonical).map(|(_, role)| *role);
            let role = found.unwrap_or_else(|| {
                let case = option.cases.iter().find(|case| self.parsed.has_any(case.options.as_slice()));
                let role = case.map(|case| case.role);
                known.push((option.canonical, role));
                role
            });
            if let (Some(role), Some(entry)) = (role, self.parsed.options.get_mut(at)) {
                entry.role = role;
            }
        }
    }
}
