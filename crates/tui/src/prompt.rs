// SPDX-License-Identifier: Apache-2.0 OR MIT

use crate::message::Deed;

/// The longest text that is typed here.
const LONGEST: usize = 400;

/// What a person is typing, below what they look at.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Prompt {
    pub(crate) asks: Asks,
    pub(crate) text: String,
}

/// What for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Asks {
    /// Words that what is shown has to contain.
    Filter,
    /// What an agent is told whose call is denied.
    Note(String),
    /// The name of what loosens protection.
    Word(Deed),
    /// A code.
    Code(Deed),
    /// A plain yes.
    Yes(Deed),
}

impl Prompt {
    pub(crate) fn new(asks: Asks) -> Self {
        Self { asks, text: String::new() }
    }

    pub(crate) fn put(&mut self, letter: char) {
        let plain = !letter.is_control() && !crate::plain::is_invisible(letter);
        if plain && self.text.chars().count() < LONGEST {
            self.text.push(letter);
        }
    }

    /// The question.
    pub(crate) fn question(&self) -> String {
        match &self.asks {
            Asks::Filter => "filter, all words must occur: ".to_owned(),
            Asks::Note(_) => "deny it; the agent reads (may be empty): ".to_owned(),
            Asks::Word(deed) => {
                format!(
                    "This loosens your protection. Type `{}` to go on: ",
                    deed.action().unwrap_or_default()
                )
            }
            Asks::Code(_) => "Code of your authenticator app: ".to_owned(),
            Asks::Yes(Deed::Enforce) => "Let the rules hold again? y / n ".to_owned(),
            Asks::Yes(_) => "Go on? y / n ".to_owned(),
        }
    }
}
