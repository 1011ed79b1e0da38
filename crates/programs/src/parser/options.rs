// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Parses options and their values.

use super::roles::is_instruction;
use super::{ArgsParser, OFF_VALUES};
use crate::format::record::{
    Arity, KEY_ONE_DASH, KEY_PLUS, KEY_TWO_DASHES, KEY_WORD, OptionRecord, OptionSyntax,
};
use crate::format::role::Role;
use crate::parsed_args::{CommandWord, ParsedOption, Variant, WordSlice};

impl<'w, 'p: 'r, 'r, W: CommandWord> ArgsParser<'w, 'p, 'r, W> {
    /// Reads `tar xf FILE`, where the first word is a cluster without a dash.
    pub(super) fn read_bundle(&mut self) {
        let Some(word) = self.words.first() else { return };
        let text = word.text();
        if !text.is_empty() && !text.starts_with('-') && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
        {
            self.at = 1;
            self.parsed.bundled = true;
            self.read_bundled_letters(text);
        }
    }

    /// Reads letters that take their values from the following words, in order.
    pub(super) fn read_bundled_letters(&mut self, text: &'w str) {
        for (offset, letter) in text.char_indices() {
            let end = offset.saturating_add(letter.len_utf8());
            let name = text.get(offset..end).unwrap_or_default();
            let written = WordSlice { word: 0, offset, text: name };
            match self.find(KEY_ONE_DASH, name) {
                Some(option) => self.push_option(&option, written, None),
                None => self.push_unknown(written, None),
            }
        }
    }

    pub(super) fn read_option(&mut self, text: &'w str) {
        let position = self.at.saturating_sub(1);
        let written = WordSlice { word: position, offset: 0, text };
        match self.level.syntax {
            OptionSyntax::KeyValue => self.read_named(written, KEY_WORD, 0),
            OptionSyntax::Words => self.read_word_option(written),
            OptionSyntax::PowerShell => self.read_powershell_option(written),
            _ if text.starts_with("--") => self.read_named(written, KEY_TWO_DASHES, 2),
            _ if text.starts_with('+') => match self.find(KEY_PLUS, "") {
                Some(option) => {
                    let value = WordSlice { offset: 1, text: text.get(1..).unwrap_or_default(), ..written };
                    let shown = WordSlice { text: text.get(..1).unwrap_or_default(), ..written };
                    self.push_option(&option, shown, Some(value));
                }
                None => self.read_letters(written, KEY_PLUS),
            },
            _ => {
                let name = text.get(1..).unwrap_or_default();
                let (name, _) = name.split_once('=').unwrap_or((name, ""));
                // Some programs have long names with one dash as well as letters.
                if name.chars().nth(1).is_some() && self.find(KEY_ONE_DASH, name).is_some() {
                    self.read_named(written, KEY_ONE_DASH, 1);
                } else {
                    self.read_letters(written, KEY_ONE_DASH);
                }
            }
        }
    }

    /// Reads `-name value` or `--name=value`, with one dash or two.
    pub(super) fn read_word_option(&mut self, written: WordSlice<'w>) {
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

    /// Reads `-NoProfile`, `-nop` or `--command`: PowerShell accepts any prefix of a name and ignores case.
    pub(super) fn read_powershell_option(&mut self, written: WordSlice<'w>) {
        let name = written.text.trim_start_matches('-').to_ascii_lowercase();
        let exact = self.find(KEY_ONE_DASH, &name);
        let table = self.level.options;
        let found = exact.or_else(|| table.record(table.find_abbreviation(KEY_ONE_DASH, &name)?));
        match found.filter(|_| !name.is_empty()) {
            Some(option) => self.push_option(&option, written, None),
            None => self.push_unknown(written, None),
        }
    }

    /// Reads an option that is a whole word, with or without `=value`.
    pub(super) fn read_named(&mut self, written: WordSlice<'w>, kind: u8, dashes: usize) {
        let body = written.text.get(dashes..).unwrap_or_default();
        let (name, value) = match body.split_once('=') {
            Some((name, value)) => {
                let offset = dashes.saturating_add(name.len()).saturating_add(1);
                (name, Some(WordSlice { word: written.word, offset, text: value }))
            }
            None => (body, None),
        };
        let end = dashes.saturating_add(name.len());
        let shown = WordSlice { text: written.text.get(..end).unwrap_or_default(), ..written };
        match self.find(kind, name).or_else(|| self.find_abbreviation(kind, name)) {
            Some(option) => self.push_option(&option, shown, value),
            None => match name.strip_prefix("no-").and_then(|name| self.find(kind, name)) {
                Some(option) => self.push_negated(&option, shown),
                None => self.push_unknown(shown, value),
            },
        }
    }

    /// Reads `--no-force`, which turns `--force` off.
    pub(super) fn push_negated(&mut self, option: &OptionRecord<'p>, written: WordSlice<'w>) {
        let (name, names, role) = (option.canonical, option.names, option.role);
        let entry = ParsedOption {
            name,
            names,
            written,
            role,
            value: None,
            known: true,
            off: true,
            by_prefix: false,
        };
        self.parsed.options.push(entry);
    }

    /// Reads a cluster of letters, of which the last may have a value.
    pub(super) fn read_letters(&mut self, written: WordSlice<'w>, kind: u8) {
        let text = written.text;
        let certain = self.words.get(written.word).map_or(0, |word| word.certain_text().len());
        let mut letters = text.char_indices().skip(1).take_while(|(offset, _)| *offset < certain);
        while let Some((offset, letter)) = letters.next() {
            let end = offset.saturating_add(letter.len_utf8());
            let name = text.get(offset..end).unwrap_or_default();
            let part = WordSlice { offset, text: name, ..written };
            let rest = text.get(end..).unwrap_or_default();
            let Some(option) = self.find(kind, name) else {
                self.push_unknown(part, None);
                continue;
            };
            if option.arity == Arity::Number {
                let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
                let value =
                    WordSlice { offset: end, text: rest.get(..digits).unwrap_or_default(), ..written };
                self.push_option(&option, part, (digits > 0).then_some(value));
                if let Some(last) = digits.checked_sub(1) {
                    let _ = letters.nth(last);
                }
                continue;
            }
            let takes_value = !rest.is_empty() && option.arity != Arity::None;
            // `-v=false`, as in Go programs.
            let is_switch = rest.starts_with('=') && option.arity == Arity::None;
            let offset = if is_switch { end.saturating_add(1) } else { end };
            if takes_value || is_switch {
                let text = text.get(offset..).unwrap_or_default();
                self.push_option(&option, part, Some(WordSlice { offset, text, ..written }));
                return;
            }
            self.push_option(&option, part, None);
        }
    }

    pub(super) fn find(&self, kind: u8, name: &str) -> Option<OptionRecord<'p>> {
        let own = [self.level.options, self.level.everywhere];
        let own = own.into_iter().chain(self.outer.iter().rev().copied());
        // An option that exists only in the other variant is parsed with the description of that variant.
        let (first, last) = match self.variant {
            Variant::Bsd => (Some(self.level.bsd), None),
            Variant::Gnu => (None, Some(self.level.bsd)),
        };
        let mut tables = first.into_iter().chain(own).chain(last);
        tables.find_map(|table| table.record(table.find(kind, name)?))
    }

    pub(super) fn find_abbreviation(&self, kind: u8, name: &str) -> Option<OptionRecord<'p>> {
        if self.level.syntax != OptionSyntax::Gnu || kind != KEY_TWO_DASHES || name.is_empty() {
            return None;
        }
        let own = [self.level.options, self.level.everywhere];
        let mut tables = own.into_iter().chain(self.outer.iter().rev().copied());
        tables.find_map(|table| table.record(table.find_abbreviation(kind, name)?))
    }

    pub(super) fn push_unknown(&mut self, written: WordSlice<'w>, value: Option<WordSlice<'w>>) {
        self.parsed.options.push(ParsedOption {
            name: "",
            names: "",
            written,
            role: Role::Text,
            value,
            known: false,
            off: false,
            by_prefix: false,
        });
    }

    pub(super) fn push_option(
        &mut self,
        option: &OptionRecord<'p>,
        written: WordSlice<'w>,
        value: Option<WordSlice<'w>>,
    ) {
        let mut entry = ParsedOption {
            name: option.canonical,
            names: option.names,
            written,
            role: option.role,
            value,
            known: true,
            off: false,
            by_prefix: false,
        };
        match option.arity {
            Arity::None | Arity::Optional | Arity::Number => {
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

    pub(super) fn push_entry(&mut self, option: &OptionRecord<'p>, mut entry: ParsedOption<'w, 'p>) {
        if let Some(part) = entry.value {
            // Names of settings are compared without regard to case, as ssh does.
            let begins = |prefix: &str| {
                part.text.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
            };
            let prefix = option.prefixes.iter().find(|(prefix, _)| begins(prefix));
            if let Some((_, role)) = option.words.iter().find(|(word, _)| *word == part.text) {
                entry.role = *role;
            } else if let Some((prefix, role)) = prefix {
                entry.role = *role;
                entry.by_prefix = true;
                let text = part.text.get(prefix.len()..).unwrap_or_default();
                let offset = part.offset.saturating_add(prefix.len());
                entry.value = Some(WordSlice { offset, text, ..part });
            }
        }
        if !entry.off {
            // `ssh -o ProxyCommand=…` runs a string too, but ssh still starts the remote shell, so this is
            // not an instruction. A module is an instruction if it ends the options: `python -m` runs it,
            // `ruby -r` only loads it.
            let is_told = is_instruction(option.role) && entry.role == option.role
                || option.role == Role::Module && option.ends
                || entry.role == Role::Batch;
            self.has_instruction |= option.tells.unwrap_or(is_told);
            self.is_interactive |= entry.role == Role::Interactive;
            self.is_batch |= entry.role == Role::Batch;
            self.select_earlier_case(&entry);
        }
        if !option.cases.is_empty() {
            self.conditional.push((self.parsed.options.len(), option.clone()));
        }
        self.parsed.options.push(entry);
    }

    pub(super) fn next_word(&mut self) -> Option<WordSlice<'w>> {
        let text = self.words.get(self.at)?.text();
        let part = WordSlice { word: self.at, offset: 0, text };
        self.at = self.at.saturating_add(1);
        Some(part)
    }
}
