// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Matches shell patterns against text.

use crate::limits::MAX_EXPANSION_STEPS;

/// A compiled pattern.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShellPattern {
    items: Vec<PatternPart>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum PatternPart {
    Letter(char),
    Any,
    One,
    Class { negated: bool, members: Vec<ClassMember> },
    Group { operator: char, alternatives: Vec<ShellPattern> },
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum ClassMember {
    Range(char, char),
    Named(String),
}

/// The step limit of a match was reached, so the result is unknown.
pub(super) struct MatchExhausted;

impl ShellPattern {
    /// Appends literal text.
    pub fn push_literal(&mut self, text: &str) {
        self.items.extend(text.chars().map(PatternPart::Letter));
    }

    /// Appends pattern text: `*`, `?`, `[…]`, and backslash before a character.
    pub fn push_pattern(&mut self, text: &str) {
        let mut rest = text.chars();
        while let Some(letter) = rest.next() {
            match letter {
                '*' => self.push_any(),
                '?' => self.items.push(PatternPart::One),
                '\\' => self.items.push(PatternPart::Letter(rest.next().unwrap_or('\\'))),
                '[' => match bracket(rest.as_str()) {
                    Some((item, after)) => {
                        self.items.push(item);
                        rest = after.chars();
                    }
                    None => self.items.push(PatternPart::Letter('[')),
                },
                letter => self.items.push(PatternPart::Letter(letter)),
            }
        }
    }

    /// Appends an extended pattern such as `?(…)`.
    pub fn push_group(&mut self, operator: char, alternatives: Vec<Self>) {
        self.items.push(PatternPart::Group { operator, alternatives });
    }

    fn push_any(&mut self) {
        if self.items.last() != Some(&PatternPart::Any) {
            self.items.push(PatternPart::Any);
        }
    }

    /// Whether the pattern matches the whole text; `None` if matching takes too long.
    pub fn matches(&self, text: &str) -> Option<bool> {
        let letters: Vec<char> = text.chars().collect();
        let mut budget = MAX_EXPANSION_STEPS;
        self.matches_letters(&letters, &mut budget).ok()
    }

    fn matches_letters(&self, letters: &[char], budget: &mut usize) -> Result<bool, MatchExhausted> {
        let mut ends = MatchEnds { pattern: self, letters, budget };
        let found = ends.all_ends(0)?;
        Ok(found.last() == Some(&letters.len()))
    }

    /// Returns the length of the shortest or longest matching prefix of `letters`.
    pub(super) fn prefix(
        &self,
        letters: &[char],
        longest: bool,
        budget: &mut usize,
    ) -> Result<Option<usize>, MatchExhausted> {
        let mut ends = MatchEnds { pattern: self, letters, budget };
        let found = ends.all_ends(0)?;
        Ok(if longest { found.last().copied() } else { found.first().copied() })
    }

    /// Returns the start of the shortest or longest matching suffix of `letters`.
    pub(super) fn suffix(
        &self,
        letters: &[char],
        longest: bool,
        budget: &mut usize,
    ) -> Result<Option<usize>, MatchExhausted> {
        let count = letters.len();
        let try_at = |start: usize, budget: &mut usize| {
            self.matches_letters(letters.get(start..).unwrap_or_default(), budget)
        };
        if longest {
            for start in 0..=count {
                if try_at(start, budget)? {
                    return Ok(Some(start));
                }
            }
        } else {
            for start in (0..=count).rev() {
                if try_at(start, budget)? {
                    return Ok(Some(start));
                }
            }
        }
        Ok(None)
    }
}

/// Finds the ends of matches by advancing a set of positions through the pattern, without backtracking.
struct MatchEnds<'p> {
    pattern: &'p ShellPattern,
    letters: &'p [char],
    budget: &'p mut usize,
}

impl MatchEnds<'_> {
    /// Returns all ends of matches that start at `start`, ascending.
    fn all_ends(&mut self, start: usize) -> Result<Vec<usize>, MatchExhausted> {
        let mut positions = vec![start];
        for item in &self.pattern.items {
            positions = self.after(item, &positions)?;
            if positions.is_empty() {
                break;
            }
        }
        Ok(positions)
    }

    fn after(&mut self, item: &PatternPart, positions: &[usize]) -> Result<Vec<usize>, MatchExhausted> {
        let mut next = Vec::new();
        match item {
            PatternPart::Any => {
                if let Some(first) = positions.first() {
                    self.spend(self.letters.len().saturating_sub(*first) + 1)?;
                    next.extend(*first..=self.letters.len());
                }
            }
            PatternPart::Group { operator, alternatives } => {
                for position in positions {
                    next.extend(self.group_ends(*operator, alternatives, *position)?);
                }
                next.sort_unstable();
                next.dedup();
            }
            single => {
                self.spend(positions.len())?;
                for position in positions {
                    if self.letters.get(*position).is_some_and(|letter| fits(single, *letter)) {
                        next.push(position + 1);
                    }
                }
            }
        }
        Ok(next)
    }

    fn group_ends(
        &mut self,
        operator: char,
        alternatives: &[ShellPattern],
        start: usize,
    ) -> Result<Vec<usize>, MatchExhausted> {
        let once = |start: usize, budget: &mut usize| -> Result<Vec<usize>, MatchExhausted> {
            let mut found = Vec::new();
            for pattern in alternatives {
                *budget = budget.checked_sub(1).ok_or(MatchExhausted)?;
                found.extend(MatchEnds { pattern, letters: self.letters, budget }.all_ends(start)?);
            }
            Ok(found)
        };
        let mut ends = once(start, self.budget)?;
        match operator {
            '?' => ends.push(start),
            '!' => {
                self.spend(self.letters.len() + 1)?;
                let all = start..=self.letters.len();
                return Ok(all.filter(|end| !ends.contains(end)).collect());
            }
            '*' | '+' => {
                let mut at = 0;
                while let Some(from) = ends.get(at).copied() {
                    at += 1;
                    for end in once(from, self.budget)? {
                        if !ends.contains(&end) {
                            ends.push(end);
                        }
                    }
                }
                if operator == '*' {
                    ends.push(start);
                }
            }
            _ => {}
        }
        Ok(ends)
    }

    fn spend(&mut self, steps: usize) -> Result<(), MatchExhausted> {
        *self.budget = self.budget.checked_sub(steps).ok_or(MatchExhausted)?;
        Ok(())
    }
}

fn fits(item: &PatternPart, letter: char) -> bool {
    match item {
        PatternPart::Letter(wanted) => *wanted == letter,
        PatternPart::One => true,
        PatternPart::Class { negated, members } => {
            let is_member = members.iter().any(|member| match member {
                ClassMember::Range(first, last) => (*first..=*last).contains(&letter),
                ClassMember::Named(name) => is_in_class(name, letter),
            });
            is_member != *negated
        }
        PatternPart::Any | PatternPart::Group { .. } => false,
    }
}

fn is_in_class(name: &str, letter: char) -> bool {
    match name {
        "alpha" => letter.is_alphabetic(),
        "digit" => letter.is_ascii_digit(),
        "alnum" => letter.is_alphanumeric(),
        "upper" => letter.is_uppercase(),
        "lower" => letter.is_lowercase(),
        "space" => letter.is_whitespace(),
        "blank" => matches!(letter, ' ' | '\t'),
        "punct" => letter.is_ascii_punctuation(),
        "xdigit" => letter.is_ascii_hexdigit(),
        "cntrl" => letter.is_control(),
        "graph" => letter.is_ascii_graphic(),
        "print" => letter.is_ascii_graphic() || letter == ' ',
        "word" => letter.is_alphanumeric() || letter == '_',
        _ => false,
    }
}

/// Returns the bracket expression that starts after `[`, and the text after it.
fn bracket(text: &str) -> Option<(PatternPart, &str)> {
    let (negated, mut rest) = match text.strip_prefix(['!', '^']) {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let mut members = Vec::new();
    loop {
        let mut letters = rest.chars();
        let letter = letters.next()?;
        if letter == ']' && !members.is_empty() {
            return Some((PatternPart::Class { negated, members }, letters.as_str()));
        }
        if let Some((name, after)) = rest.strip_prefix("[:").and_then(|rest| rest.split_once(":]")) {
            members.push(ClassMember::Named(name.to_owned()));
            rest = after;
            continue;
        }
        let letter = if letter == '\\' { letters.next()? } else { letter };
        rest = letters.as_str();
        let range = rest.strip_prefix('-').filter(|after| !after.starts_with(']') && !after.is_empty());
        match range.and_then(|after| after.chars().next().map(|last| (last, after))) {
            Some((last, after)) => {
                members.push(ClassMember::Range(letter, last));
                rest = after.get(last.len_utf8()..).unwrap_or_default();
            }
            None => members.push(ClassMember::Range(letter, letter)),
        }
    }
}
