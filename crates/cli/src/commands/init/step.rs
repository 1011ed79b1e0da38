// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Trait of an `init` step, and the values that steps and the command exchange.

use std::path::Path;

use serde_json::{Value, json};
use tenterhook_home::Home;

use super::progress::{FinishedStep, InitProgress};
use crate::context::Context;
use crate::error::CommandError;
use crate::setup::CliHost;

/// A step of `init`.
pub(super) trait InitStep: Sync {
    /// Name of the step, for `--only` and `--skip`.
    fn name(&self) -> &'static str;

    /// Title of the step's screen.
    fn title(&self) -> &'static str;

    /// Looks at the machine. Changes nothing.
    fn plan(&self, site: &InitSite<'_>) -> Result<StepPlan, CommandError>;

    /// Carries out what the user chose.
    fn apply(&self, site: &InitSite<'_>, chosen: &[UserChoice]) -> Result<StepReport, CommandError>;
}

/// Context of one `init` run.
pub(super) struct InitSite<'a> {
    pub(super) context: &'a Context,
    pub(super) home: &'a Home,
    /// Whether a user answers questions on a terminal.
    pub(super) is_interactive: bool,
}

/// What a step found, and what the user can choose.
#[derive(Debug, Default)]
pub(super) struct StepPlan {
    /// Lines that describe what was found.
    pub(super) found: Vec<String>,
    /// Question above the choices.
    pub(super) question: &'static str,
    pub(super) choices: Vec<StepChoice>,
    /// Whether exactly one item is chosen.
    pub(super) is_single: bool,
    /// Whether nothing is left to do, independent of earlier choices.
    pub(super) is_finished: bool,
}

/// One item that the user can choose.
#[derive(Debug)]
pub(super) struct StepChoice {
    pub(super) id: &'static str,
    pub(super) label: String,
    /// Text in a weaker style after the label.
    pub(super) note: String,
    /// Whether the item is installed already.
    pub(super) is_done: bool,
    /// Whether the item is marked at first, and chosen with `--yes`.
    pub(super) is_default: bool,
    /// Question for a text that the item needs.
    pub(super) input: Option<&'static str>,
}

/// An item that the user chose.
#[derive(Debug)]
pub(super) struct UserChoice {
    pub(super) id: &'static str,
    /// Text that the user typed, if the item needs one.
    pub(super) text: String,
}

/// Result of a step.
#[derive(Debug, Default)]
pub(super) struct StepReport {
    /// Lines for the user.
    pub(super) lines: Vec<String>,
    /// What was done, for `--json`.
    pub(super) detail: Value,
    /// Errors of parts of the step. The other parts were carried out.
    pub(super) failures: Vec<CommandError>,
}

impl<'a> InitSite<'a> {
    /// A path for users, with `~` for the home directory.
    pub(super) fn abbreviate_home(&self, path: &Path) -> String {
        let below = self.context.env.home.as_deref().and_then(|home| path.strip_prefix(home).ok());
        below.map_or_else(|| path.display().to_string(), |below| format!("~/{}", below.display()))
    }

    /// Access to the settings of harnesses.
    pub(super) fn host(&self) -> CliHost<'a> {
        CliHost { context: self.context, home: self.home }
    }
}

impl StepPlan {
    /// Whether the step is finished: nothing is left to do, or the machine is still as the user chose it earlier. A
    /// new item, such as an agent that was installed since, was not offered yet.
    pub(super) fn is_finished_with(&self, name: &str, progress: &InitProgress) -> bool {
        let is_as_chosen = |step: &FinishedStep| {
            self.choices.iter().all(|choice| {
                choice.is_done || !step.chosen.contains(choice.id) && step.offered.contains(choice.id)
            })
        };
        self.is_finished || progress.finished_step(name).is_some_and(is_as_chosen)
    }

    /// Choices that the user can make: one of all, or any that are not real yet.
    pub(super) fn open_choices(&self) -> Vec<&StepChoice> {
        self.choices.iter().filter(|choice| self.is_single || !choice.is_done).collect()
    }

    /// The plan for `--json`.
    pub(super) fn to_json(&self) -> Value {
        let choice = |choice: &StepChoice| json!({"id": choice.id, "label": choice.label, "done": choice.is_done, "default": choice.is_default});
        json!({"choices": self.choices.iter().map(choice).collect::<Vec<_>>(), "one_of": self.is_single})
    }
}

impl StepChoice {
    /// An item that needs no text.
    pub(super) fn new(id: &'static str, label: impl Into<String>) -> Self {
        let (label, note) = (label.into(), String::new());
        Self { id, label, note, is_done: false, is_default: false, input: None }
    }
}

impl StepReport {
    /// A report of one line.
    pub(super) fn line(line: impl Into<String>) -> Self {
        Self { lines: vec![line.into()], ..Self::default() }
    }

    /// The same report with a detail for `--json`.
    pub(super) fn with_detail(self, detail: Value) -> Self {
        Self { detail, ..self }
    }
}
