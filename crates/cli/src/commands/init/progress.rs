// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Stores the finished steps, so that `init` can be continued.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use tenterhook_home::{Home, call_meta, state_file, write_atomic};

use crate::error::CommandError;

/// Version of the file's format.
const VERSION: u32 = 1;

/// What the user chose in the finished steps.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct InitProgress {
    v: u32,
    steps: BTreeMap<String, FinishedStep>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct FinishedStep {
    at: String,
    /// Ids of the chosen items.
    pub(super) chosen: BTreeSet<String>,
    /// Ids of all items that could be chosen.
    pub(super) offered: BTreeSet<String>,
}

impl InitProgress {
    /// Reads the file. A file that is missing, damaged or newer counts as empty, because every step looks at the
    /// machine too.
    pub(super) fn read(home: &Home) -> Self {
        let text = state_file(&home.init_progress()).ok().flatten().unwrap_or_default();
        let read: Option<Self> = serde_json::from_str(&text).ok();
        read.filter(|progress| progress.v == VERSION).unwrap_or_default()
    }

    /// What the user chose in a finished step.
    pub(super) fn finished_step(&self, step: &str) -> Option<&FinishedStep> {
        self.steps.get(step)
    }

    /// Stores a finished step.
    pub(super) fn finish(
        &mut self,
        home: &Home,
        step: &str,
        chosen: BTreeSet<String>,
        offered: BTreeSet<String>,
    ) -> Result<(), CommandError> {
        self.v = VERSION;
        let at = call_meta::now().to_string();
        self.steps.insert(step.to_owned(), FinishedStep { at, chosen, offered });
        home.create()?;
        let text = serde_json::to_vec_pretty(self)
            .map_err(|error| CommandError::internal(format!("progress cannot be stored: {error}")))?;
        write_atomic(&home.init_progress(), &text, 0o600)
    }
}
