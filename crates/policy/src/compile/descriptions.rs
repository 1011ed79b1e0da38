// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Loads the policy's descriptions of programs.

use tenterhook_document::Problem;
use tenterhook_programs::{DescriptionTrust, Programs, UserProgramSource};

use crate::source::{RuleSource, SourceLayer};

/// The programs that the policy describes, in addition to the built-in ones.
#[derive(Debug, Default)]
pub(super) struct PolicyPrograms {
    /// Programs from all files; `None` if there are no files.
    pub(super) all: Option<Programs>,
    /// Programs from all files except project files; `None` if there are no project files.
    without_projects: Option<Programs>,
}

impl PolicyPrograms {
    pub(super) fn load(sources: &[RuleSource<'_>]) -> (Self, Vec<Problem>) {
        if sources.is_empty() {
            return (Self::default(), Vec::new());
        }
        let files: Vec<_> = sources.iter().map(user_file).collect();
        let loaded = Programs::with_user_files(&files);
        let others = sources.iter().filter(|source| source.layer != SourceLayer::Project);
        let others: Vec<_> = others.map(user_file).collect();
        let without_projects =
            (others.len() < files.len()).then(|| Programs::with_user_files(&others).programs);
        (Self { all: Some(loaded.programs), without_projects }, loaded.problems)
    }

    /// Returns the programs with which examples of rules of this layer are evaluated. A project's file must not
    /// decide whether rules of other layers are active.
    pub(super) fn for_examples(&self, layer: SourceLayer) -> Option<&Programs> {
        if layer == SourceLayer::Project {
            return self.all.as_ref();
        }
        self.without_projects.as_ref().or(self.all.as_ref())
    }
}

/// Creates the source of one program file. Only the organisation may replace a built-in description, because all
/// rules depend on the facts that descriptions give, and locked rules must apply regardless of later layers.
fn user_file<'a>(source: &RuleSource<'a>) -> UserProgramSource<'a> {
    let may_replace = source.layer == SourceLayer::Organisation && source.trusted;
    UserProgramSource {
        source: source.name,
        text: source.text,
        trust: if may_replace { DescriptionTrust::Trusted } else { DescriptionTrust::AddsOnly },
        layer: match source.layer {
            SourceLayer::Baseline => 0,
            SourceLayer::Organisation => 1,
            SourceLayer::User => 2,
            SourceLayer::Project => 3,
        },
    }
}
