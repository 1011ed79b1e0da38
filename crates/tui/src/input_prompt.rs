// SPDX-License-Identifier: Apache-2.0 OR MIT

use crate::message::{ShownSnapshot, UserAction};

/// Maximum length of the input, in characters.
const MAX_INPUT_CHARS: usize = 400;

/// Input line at the bottom of the screen.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct InputPrompt {
    pub(crate) purpose: PromptPurpose,
    pub(crate) text: String,
}

/// Purpose of the input.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum PromptPurpose {
    /// A filter: words that the listed rows must contain.
    Filter,
    /// A command of the command line.
    Command,
    /// A message to the agent whose call is denied; contains the approval id.
    Note(String),
    /// The name of a privileged action, typed to confirm the action.
    Word(UserAction),
    /// A code from an authenticator app.
    Code(UserAction),
    /// A yes or no answer.
    Yes(UserAction),
}

impl InputPrompt {
    pub(crate) fn new(purpose: PromptPurpose) -> Self {
        Self { purpose, text: String::new() }
    }

    pub(crate) fn push_char(&mut self, c: char) {
        let plain = !c.is_control() && !crate::plain::is_invisible(c);
        if plain && self.text.chars().count() < MAX_INPUT_CHARS {
            self.text.push(c);
        }
    }

    /// Returns the text before the input.
    pub(crate) fn question(&self) -> String {
        match &self.purpose {
            PromptPurpose::Filter => "filter (all words must occur): ".to_owned(),
            PromptPurpose::Command => ":".to_owned(),
            PromptPurpose::Note(_) => "deny; message for the agent (optional): ".to_owned(),
            PromptPurpose::Word(action) => {
                format!(
                    "This weakens protection. Type `{}` to confirm: ",
                    action.privileged_action().unwrap_or_default()
                )
            }
            PromptPurpose::Code(_) => "Code from your authenticator app: ".to_owned(),
            PromptPurpose::Yes(UserAction::Enforce) => "Switch to enforce mode? y / n ".to_owned(),
            PromptPurpose::Yes(UserAction::AddRule(shown)) => {
                format!("Add the rule `{}` to your policy? y / n ", crate::plain::single_line(&shown.id))
            }
            PromptPurpose::Yes(UserAction::Restore(shown)) => restore_question(shown),
            PromptPurpose::Yes(_) => "Continue? y / n ".to_owned(),
        }
    }
}

fn restore_question(shown: &ShownSnapshot) -> String {
    let ShownSnapshot { reason, restorable, conflicts, .. } = shown;
    let kept = match conflicts {
        0 => String::new(),
        conflicts => format!(" ({conflicts} changed since and stay)"),
    };
    format!("Restore {restorable} items that a call lost ({reason})?{kept} y / n ")
}
