// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads the words of a command by the description of its program. Every word is looked at once.

use std::borrow::Cow;

use crate::format::record::{
    Arity, CommandRecord, Count, Dashes, KEY_ONE_DASH, KEY_PLUS, KEY_TWO_DASHES, KEY_WORD, NameTable,
    OperandCase, OptionRecord, Slot, StandardInput, Syntax,
};
use crate::format::role::Role;
use crate::parsed::{CommandWord, InnerCommand, Parsed, ParsedOperand, ParsedOption, Variant, WordPart};

/// Values that turn an option off, whatever the program.
const OFF_VALUES: &[&str] = &["none", "false", "no", "off", "0", "f", "n", "never", ""];

/// Reads the words of a command.
pub(crate) fn parse_words<'w, 'p: 'r, 'r, W: CommandWord>(
    record: &'r CommandRecord<'p>,
    words: &'w [W],
    variant: Variant,
) -> Parsed<'w, 'p> {
    let mut parser = Parser {
        words,
        at: 0,
        variant,
        level: Cow::Borrowed(record),
        outer: Vec::new(),
        command_is_due: !record.commands.is_empty(),
        options_are_over: record.syntax == Syntax::None,
        dashes_at: None,
        operands: Vec::new(),
        case: 0,
        has_instruction: false,
        conditional: Vec::new(),
        parsed: Parsed {
            location: record.location,
            stdin: record.stdin,
            manager: record.manager,
            package_verb: record.package_verb,
            escape: record.escape,
            ..Parsed::default()
        },
    };
    parser.select_case();
    parser.run();
    parser.finish()
}

struct Parser<'w, 'p, 'r, W> {
    words: &'w [W],
    at: usize,
    variant: Variant,
    /// The program or sub-command that reads the words now.
    level: Cow<'r, CommandRecord<'p>>,
    /// Options of outer levels that count everywhere.
    outer: Vec<NameTable<'p>>,
    command_is_due: bool,
    options_are_over: bool,
    /// Number of operands before `--`.
    dashes_at: Option<usize>,
    operands: Vec<WordPart<'w>>,
    /// Position of the operand grammar that applies with the options so far.
    case: usize,
    /// Whether an option tells an interpreter what to do.
    has_instruction: bool,
    /// Positions of options whose role depends on other options.
    conditional: Vec<(usize, OptionRecord<'p>)>,
    parsed: Parsed<'w, 'p>,
}

impl<'w, 'p: 'r, 'r, W: CommandWord> Parser<'w, 'p, 'r, W> {
    fn run(&mut self) {
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
            Syntax::None => false,
            Syntax::KeyValue => {
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
        self.find(KEY_PLUS, letter).is_some() || self.find(KEY_PLUS, first_letter(letter)).is_some()
    }

    /// Reads an operand; true if the rest of the words is a command.
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
        self.operands.push(WordPart { word: position, offset: 0, text });
        if self.level.stops && !self.is_leading_assignment(text) {
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
        self.options_are_over = level.syntax == Syntax::None;
        self.parsed.path.push(level.name);
        let parsed = &mut self.parsed;
        parsed.location = level.location;
        parsed.stdin = level.stdin;
        parsed.package_verb = level.package_verb;
        if !level.escape.is_empty() {
            parsed.escape = level.escape;
        }
        self.level = Cow::Owned(level);
        self.select_case();
        true
    }

    fn case(&self) -> Option<&OperandCase<'p>> {
        self.level.operands.get(self.case)
    }

    /// Selects the first operand grammar whose options are given.
    fn select_case(&mut self) {
        let parsed = &self.parsed;
        let applies =
            |case: &OperandCase<'_>| case.options.is_empty() || parsed.has_any(case.options.as_slice());
        self.case = self.level.operands.iter().position(applies).unwrap_or(usize::MAX);
    }

    /// An option can only select an earlier grammar, so that no option is looked at twice.
    fn select_earlier_case(&mut self, option: &ParsedOption<'_, '_>) {
        let names = |case: &OperandCase<'_>| case.options.iter().any(|name| option.is(name));
        let earlier = self.level.operands.iter().take(self.case).position(names);
        self.case = earlier.unwrap_or(self.case);
    }

    fn inner_slot(&self) -> Option<(usize, Slot)> {
        let case = self.case()?;
        let at = case.slots.iter().position(|slot| slot.inner)?;
        let before = case.slots.iter().take(at).filter(|slot| slot.role != Role::Assignment).count();
        case.slots.get(at).map(|slot| (before, *slot))
    }

    fn is_leading_assignment(&self, text: &str) -> bool {
        let takes =
            self.case().is_some_and(|case| case.slots.iter().any(|slot| slot.role == Role::Assignment));
        takes && is_assignment(text)
    }

    /// Whether the inner command begins with this operand.
    fn inner_begins_with(&self, text: &str) -> bool {
        if self.level.dashes == Dashes::OnlyCommand && self.dashes_at.is_none() {
            return false;
        }
        let Some((before, _)) = self.inner_slot() else { return false };
        if self.is_leading_assignment(text) {
            return false;
        }
        let own = self.operands.iter().filter(|part| !self.is_leading_assignment(part.text));
        own.take(before.saturating_add(1)).count() >= before
    }

    /// Whether `--` begins the command here; only the first one does.
    fn dashes_begin_command(&self) -> bool {
        self.level.dashes != Dashes::EndOptions && self.dashes_at.is_none() && self.inner_slot().is_some()
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

    /// `tar xf FILE`: the first word is a cluster without its dash.
    fn read_bundle(&mut self) {
        let Some(word) = self.words.first() else { return };
        let text = word.text();
        if !text.is_empty() && !text.starts_with('-') && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
        {
            self.at = 1;
            self.read_bundled_letters(text);
        }
    }

    /// Letters take their values from the words behind, in order.
    fn read_bundled_letters(&mut self, text: &'w str) {
        for (offset, letter) in text.char_indices() {
            let end = offset.saturating_add(letter.len_utf8());
            let name = text.get(offset..end).unwrap_or_default();
            let written = WordPart { word: 0, offset, text: name };
            match self.find(KEY_ONE_DASH, name) {
                Some(option) => self.push_option(&option, written, None),
                None => self.push_unknown(written),
            }
        }
    }

    fn read_option(&mut self, text: &'w str) {
        let position = self.at.saturating_sub(1);
        let written = WordPart { word: position, offset: 0, text };
        match self.level.syntax {
            Syntax::KeyValue => self.read_named(written, KEY_WORD, 0),
            Syntax::Words => self.read_word_option(written),
            _ if text.starts_with("--") => self.read_named(written, KEY_TWO_DASHES, 2),
            _ if text.starts_with('+') => self.read_letters(written, KEY_PLUS),
            _ => {
                let name = text.get(1..).unwrap_or_default();
                let (name, _) = name.split_once('=').unwrap_or((name, ""));
                // Some programs have long names with one dash beside letters.
                if name.chars().nth(1).is_some() && self.find(KEY_ONE_DASH, name).is_some() {
                    self.read_named(written, KEY_ONE_DASH, 1);
                } else {
                    self.read_letters(written, KEY_ONE_DASH);
                }
            }
        }
    }

    /// `-name value`, `--name=value`; both dashes mean the same.
    fn read_word_option(&mut self, written: WordPart<'w>) {
        let text = written.text;
        let dashes = if text.starts_with("--") { 2 } else { 1 };
        let name = text.get(dashes..).unwrap_or_default();
        let (name, _) = name.split_once('=').unwrap_or((name, ""));
        let kind = if self.find(KEY_ONE_DASH, name).is_some() { KEY_ONE_DASH } else { KEY_TWO_DASHES };
        if text.starts_with('+') {
            self.read_letters(written, KEY_PLUS);
        } else {
            self.read_named(written, kind, dashes);
        }
    }

    /// An option that is a whole word, with or without `=value`.
    fn read_named(&mut self, written: WordPart<'w>, kind: u8, dashes: usize) {
        let body = written.text.get(dashes..).unwrap_or_default();
        let (name, value) = match body.split_once('=') {
            Some((name, value)) => {
                let offset = dashes.saturating_add(name.len()).saturating_add(1);
                (name, Some(WordPart { word: written.word, offset, text: value }))
            }
            None => (body, None),
        };
        let end = dashes.saturating_add(name.len());
        let shown = WordPart { text: written.text.get(..end).unwrap_or_default(), ..written };
        match self.find(kind, name).or_else(|| self.find_abbreviation(kind, name)) {
            Some(option) => self.push_option(&option, shown, value),
            None => match name.strip_prefix("no-").and_then(|name| self.find(kind, name)) {
                Some(option) => self.push_negated(&option, shown),
                None => self.push_unknown(written),
            },
        }
    }

    /// `--no-force` takes back `--force`.
    fn push_negated(&mut self, option: &OptionRecord<'p>, written: WordPart<'w>) {
        let (name, names, role) = (option.canonical, option.names, option.role);
        let entry = ParsedOption { name, names, written, role, value: None, known: true, off: true };
        self.parsed.options.push(entry);
    }

    /// A cluster of letters, of which the last may have a value.
    fn read_letters(&mut self, written: WordPart<'w>, kind: u8) {
        let text = written.text;
        for (offset, letter) in text.char_indices().skip(1) {
            let end = offset.saturating_add(letter.len_utf8());
            let name = text.get(offset..end).unwrap_or_default();
            let part = WordPart { offset, text: name, ..written };
            let rest = text.get(end..).unwrap_or_default();
            let Some(option) = self.find(kind, name) else {
                self.push_unknown(part);
                continue;
            };
            let takes_value = !rest.is_empty() && option.arity != Arity::None;
            // `-v=false`, as Go programs take it.
            let is_switch = rest.starts_with('=') && option.arity == Arity::None;
            let offset = if is_switch { end.saturating_add(1) } else { end };
            if takes_value || is_switch {
                let text = text.get(offset..).unwrap_or_default();
                self.push_option(&option, part, Some(WordPart { offset, text, ..written }));
                return;
            }
            self.push_option(&option, part, None);
        }
    }

    fn find(&self, kind: u8, name: &str) -> Option<OptionRecord<'p>> {
        let bsd = (self.variant == Variant::Bsd).then_some(self.level.bsd);
        let own = [self.level.options, self.level.everywhere];
        let mut tables = bsd.into_iter().chain(own).chain(self.outer.iter().rev().copied());
        tables.find_map(|table| table.record(table.find(kind, name)?))
    }

    fn find_abbreviation(&self, kind: u8, name: &str) -> Option<OptionRecord<'p>> {
        if self.level.syntax != Syntax::Gnu || kind != KEY_TWO_DASHES || name.is_empty() {
            return None;
        }
        let own = [self.level.options, self.level.everywhere];
        let mut tables = own.into_iter().chain(self.outer.iter().rev().copied());
        tables.find_map(|table| table.record(table.find_abbreviation(kind, name)?))
    }

    fn push_unknown(&mut self, written: WordPart<'w>) {
        self.parsed.options.push(ParsedOption {
            name: "",
            names: "",
            written,
            role: Role::Text,
            value: None,
            known: false,
            off: false,
        });
    }

    fn push_option(&mut self, option: &OptionRecord<'p>, written: WordPart<'w>, value: Option<WordPart<'w>>) {
        let mut entry = ParsedOption {
            name: option.canonical,
            names: option.names,
            written,
            role: option.role,
            value,
            known: true,
            off: false,
        };
        match option.arity {
            Arity::None | Arity::Optional => {
                let attached = value.map(|part| part.text);
                entry.off =
                    attached.is_some_and(|text| OFF_VALUES.iter().any(|off| text.eq_ignore_ascii_case(off)));
                self.push_entry(option, entry);
            }
            Arity::Required(count) => {
                for number in 0..usize::from(count) {
                    let role = option.more.get(number.wrapping_sub(1)).copied().unwrap_or(option.role);
                    let value = entry.value.take().or_else(|| self.next_word());
                    self.push_entry(option, ParsedOption { role, value, ..entry });
                }
            }
            Arity::Rest => {
                let start = value.map_or(self.at, |part| part.word);
                self.push_entry(option, entry);
                if value.is_none() {
                    self.push_inner(start, self.words.len(), option.role == Role::Shell);
                    self.at = self.words.len();
                }
            }
            Arity::Until => {
                self.push_entry(option, entry);
                let rest = self.words.get(self.at..).unwrap_or_default();
                let ends = |word: &W| matches!(word.text(), ";" | "+" | "\\;");
                let length = rest.iter().position(ends).unwrap_or(rest.len());
                let end = self.at.saturating_add(length);
                self.push_inner(self.at, end, false);
                self.at = end.saturating_add(1);
            }
        }
        self.options_are_over |= option.ends;
    }

    fn push_entry(&mut self, option: &OptionRecord<'p>, mut entry: ParsedOption<'w, 'p>) {
        if let Some(part) = entry.value {
            let prefix = option.prefixes.iter().find(|(prefix, _)| part.text.starts_with(prefix));
            if let Some((prefix, role)) = prefix {
                entry.role = *role;
                let text = part.text.get(prefix.len()..).unwrap_or_default();
                let offset = part.offset.saturating_add(prefix.len());
                entry.value = Some(WordPart { offset, text, ..part });
            }
        }
        if !entry.off {
            // `ssh -o ProxyCommand=…` runs a text too, but does not replace the remote shell.
            self.has_instruction |= is_instruction(option.role) && entry.role == option.role;
            self.select_earlier_case(&entry);
        }
        if !option.cases.is_empty() {
            self.conditional.push((self.parsed.options.len(), option.clone()));
        }
        self.parsed.options.push(entry);
    }

    fn next_word(&mut self) -> Option<WordPart<'w>> {
        let text = self.words.get(self.at)?.text();
        let part = WordPart { word: self.at, offset: 0, text };
        self.at = self.at.saturating_add(1);
        Some(part)
    }

    fn finish(mut self) -> Parsed<'w, 'p> {
        self.apply_conditional_roles();
        let operands = std::mem::take(&mut self.operands);
        let slots = self.case().map(|case| case.slots.as_slice()).unwrap_or_default();
        let roles = assign_roles(slots, &operands);
        let told = !self.parsed.inner.is_empty()
            || roles.iter().copied().any(is_instruction)
            || self.has_instruction
            || self.level.prompt_operands.is_some_and(|most| operands.len() > usize::from(most));
        if told {
            self.parsed.stdin = StandardInput::Data;
        }
        let joined = operands.into_iter().zip(roles).map(|(part, role)| ParsedOperand { role, part });
        self.parsed.operands = joined.collect();
        self.parsed
    }

    /// Some options mean something else beside others: `tar -c -f` writes, `tar -x -f` reads.
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

/// Whether a word with this role tells an interpreter what to do, so that it runs nothing else.
fn is_instruction(role: Role) -> bool {
    matches!(
        role,
        Role::Script | Role::Code(_) | Role::Shell | Role::Command | Role::Module | Role::Info | Role::Batch
    )
}

fn first_letter(text: &str) -> &str {
    text.chars().next().and_then(|letter| text.get(..letter.len_utf8())).unwrap_or_default()
}

/// Whether a word sets a variable: `NAME=value`.
fn is_assignment(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
    })
}

/// Gives every operand the role of its position. Positions behind one that takes any number are counted
/// from the end.
fn assign_roles(slots: &[Slot], operands: &[WordPart<'_>]) -> Vec<Role> {
    let mut roles = vec![Role::Text; operands.len()];
    let mut open = 0..operands.len();
    let mut slots = slots;
    while let Some((slot, rest)) = slots.split_first() {
        if slot.count == Count::Many && slot.role != Role::Assignment {
            break;
        }
        slots = rest;
        let needed = rest.iter().filter(|slot| slot.count == Count::One).count();
        match slot.count {
            Count::Many => {
                while operands.get(open.start).is_some_and(|part| is_assignment(part.text))
                    && open.start < open.end
                {
                    set_role(&mut roles, open.next(), Role::Assignment);
                }
            }
            Count::Optional if open.len() <= needed => {}
            Count::One | Count::Optional => set_role(&mut roles, open.next(), slot.role),
        }
    }
    let Some((many, behind)) = slots.split_first() else { return roles };
    for slot in behind.iter().rev() {
        // `cp a`: the one operand is the source.
        if open.len() > 1 || many.inner {
            set_role(&mut roles, open.next_back(), slot.role);
        }
    }
    // Operands that could begin a command but do not, for want of `--`, have no meaning of their own.
    let role = if many.inner { Role::Text } else { many.role };
    for at in open {
        set_role(&mut roles, Some(at), role);
    }
    roles
}

fn set_role(roles: &mut [Role], at: Option<usize>, role: Role) {
    if let Some(place) = at.and_then(|at| roles.get_mut(at)) {
        *place = role;
    }
}
