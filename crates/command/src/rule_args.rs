// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Loads the rules that `judge`, `scan` and `policy` evaluate: those named on the command line, or the active ones.

use std::path::{Path, PathBuf};

use tenterhook_home::{Home, Sources, WorkDirs, packs};
use tenterhook_policy::{RuleSet, SourceLayer};
use tenterhook_rulebook::Rulebook;

use crate::env::Env;
use crate::error::CommandError;

/// Options that select the rules to evaluate.
#[derive(Debug, Default, clap::Args)]
pub struct RuleArgs {
    /// Also use the rules in this file; may be given more than once
    #[arg(long, value_name = "FILE")]
    pub policy: Vec<PathBuf>,
    /// Do not use the built-in rules
    #[arg(long)]
    pub no_baseline: bool,
    /// Also use these rule packs (see `tenterhook rules list`)
    #[arg(long, value_name = "PACK", value_delimiter = ',')]
    pub packs: Vec<String>,
}

impl RuleArgs {
    /// Whether any option selects rules.
    pub fn is_given(&self) -> bool {
        self.no_baseline || !self.policy.is_empty() || !self.packs.is_empty()
    }

    /// Loads the selected rules, without a state directory.
    pub fn load(&self, home: Option<&Path>) -> Result<Rulebook, CommandError> {
        let mut sources = Sources::default();
        if let Some(name) = self.packs.iter().find(|name| packs::built_in(name).is_none()) {
            let known: Vec<_> = RuleSet::packs().iter().map(|pack| pack.name).collect();
            let error = CommandError::user(format!("unknown rule pack `{name}`"));
            return Err(error.hint(format!("known: {}", known.join(", "))));
        }
        sources.add_built_in_packs(|pack| {
            pack.on_by_default && !self.no_baseline || self.packs.iter().any(|name| name == pack.name)
        });
        sources.texts.extend(Sources::from_files(&self.policy, SourceLayer::User)?.texts);
        Ok(open_rulebook(&sources, home))
    }
}

/// Loads the active rules for an agent in the given directory.
pub fn rules_in_force(home: &Home, env: &Env, place: &WorkDirs) -> Rulebook {
    open_rulebook(&Sources::collect(home, env, place), env.home.as_deref())
}

fn open_rulebook(sources: &Sources, home: Option<&Path>) -> Rulebook {
    let loaded = sources.load();
    Rulebook::new(loaded.rules, loaded.problems, home).with_facts(tenterhook_guard::symlinks::collect_facts)
}
