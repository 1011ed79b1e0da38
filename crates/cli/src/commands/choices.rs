// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Asks the user to choose from a numbered list.

use std::collections::BTreeSet;
use std::io::{BufRead as _, Write as _};

use crate::error::CommandError;
use crate::terminal::{BOLD, DIM, Terminal, tame};

/// A numbered list from which the user chooses.
pub(super) struct ChoiceList {
    /// Question above the list; may be empty.
    pub(super) question: String,
    /// Rows of the list: a label, and a note in a weaker style.
    pub(super) rows: Vec<(String, String)>,
    /// Lines below the list.
    pub(super) footer: String,
    /// Whether exactly one row is chosen.
    pub(super) is_single: bool,
    /// Whether the list may be left with `skip` or `quit`.
    pub(super) can_leave: bool,
}

/// Answer of the user.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ChoiceAnswer {
    /// Indices of the chosen rows.
    Chosen(BTreeSet<usize>),
    /// The user typed `skip`.
    Skip,
    /// The user typed `quit`, or the input ended.
    Quit,
}

impl ChoiceList {
    /// Shows the list until the user accepts it. `selected` are the rows that are marked first.
    pub(super) fn ask(
        &self,
        terminal: Terminal,
        mut selected: BTreeSet<usize>,
    ) -> Result<ChoiceAnswer, CommandError> {
        loop {
            terminal.stderr().write_all(self.text(&selected).as_bytes())?;
            let Some(line) = read_line()? else { return Ok(ChoiceAnswer::Quit) };
            let words: Vec<_> =
                line.split([' ', ',']).map(str::trim).filter(|word| !word.is_empty()).collect();
            match words.as_slice() {
                [] => return Ok(ChoiceAnswer::Chosen(selected)),
                ["s" | "skip"] if self.can_leave => return Ok(ChoiceAnswer::Skip),
                ["q" | "quit"] if self.can_leave => return Ok(ChoiceAnswer::Quit),
                words => words.iter().for_each(|word| self.toggle(&mut selected, word)),
            }
        }
    }

    fn text(&self, selected: &BTreeSet<usize>) -> String {
        let mut text = String::new();
        if !self.question.is_empty() {
            text += &format!("{}\n", self.question);
        }
        for (index, (label, note)) in self.rows.iter().enumerate() {
            let mark = match (selected.contains(&index), self.is_single) {
                (true, true) => "(•)",
                (false, true) => "( )",
                (true, false) => "[x]",
                (false, false) => "[ ]",
            };
            text += &format!(
                "  {mark} {BOLD}{:>2}{BOLD:#} {}{DIM}{}{DIM:#}\n",
                index + 1,
                tame(label),
                tame(note)
            );
        }
        text += &self.footer;
        text += match (self.is_single, self.can_leave) {
            (true, false) => "Press Enter to continue with the marked one, or type a number: ",
            (true, true) => "Enter: continue. Number: choose. `s`: skip this step. `q`: stop here. ",
            (false, true) => {
                "Enter: continue with the marked ones. Numbers, `all`, `none`: change the marks.\n\
                 `s`: skip this step. `q`: stop here. "
            }
            (false, false) => {
                "Press Enter to continue with the marked ones, or type numbers, `all` or `none` to change the marks: "
            }
        };
        text
    }

    /// Applies one typed word to the selection; an unknown word is ignored.
    fn toggle(&self, selected: &mut BTreeSet<usize>, word: &str) {
        match (word, word.parse::<usize>()) {
            ("all", _) if !self.is_single => *selected = (0..self.rows.len()).collect(),
            ("none", _) if !self.is_single => selected.clear(),
            (_, Ok(number)) if (1..=self.rows.len()).contains(&number) => {
                if self.is_single {
                    *selected = BTreeSet::from([number - 1]);
                } else if !selected.remove(&(number - 1)) {
                    selected.insert(number - 1);
                }
            }
            _ => {}
        }
    }
}

/// Reads one line of standard input; `None` at its end.
pub(super) fn read_line() -> Result<Option<String>, CommandError> {
    let mut line = String::new();
    Ok((std::io::stdin().lock().read_line(&mut line)? > 0).then(|| line.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_change_the_selection() {
        let rows = vec![(String::new(), String::new()); 3];
        let (question, footer) = (String::new(), String::new());
        let mut list = ChoiceList { question, rows, footer, is_single: false, can_leave: false };
        let mut selected = BTreeSet::from([0]);
        for (word, expected) in [
            ("2", vec![0, 1]),
            ("1", vec![1]),
            ("9", vec![1]),
            ("x", vec![1]),
            ("all", vec![0, 1, 2]),
            ("none", vec![]),
        ] {
            list.toggle(&mut selected, word);
            assert_eq!(selected.iter().copied().collect::<Vec<_>>(), expected, "{word}");
        }
        list.is_single = true;
        for (word, expected) in [("2", 1), ("1", 0), ("all", 0), ("none", 0), ("1", 0)] {
            list.toggle(&mut selected, word);
            assert_eq!(selected, BTreeSet::from([expected]), "{word}");
        }
    }
}
