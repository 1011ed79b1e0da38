// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Description files of the policy → the programs that commands are read by.

use tenterhook_document::Problem;
use tenterhook_programs::{Programs, Trust, UserFile};

use crate::source::{Layer, Source};

/// The programs that the policy describes, beside the built-in ones.
#[derive(Debug, Default)]
pub(super) struct PolicyPrograms {
    /// By all files; `None` if there are none.
    pub(super) all: Option<Programs>,
    /// By all files but those of projects; `None` if that is the same.
    without_projects: Option<Programs>,
}

impl PolicyPrograms {
    pub(super) fn load(sources: &[Source<'_>]) -> (Self, Vec<Problem>) {
        if sources.is_empty() {
            return (Self::default(), Vec::new());
        }
        let files: Vec<_> = sources.iter().map(user_file).collect();
        let loaded = Programs::with_user_files(&files);
        let others = sources.iter().filter(|source| source.layer != Layer::Project);
        let others: Vec<_> = others.map(user_file).collect();
        let without_projects =
            (others.len() < files.len()).then(|| Programs::with_user_files(&others).programs);
        (Self { all: Some(loaded.programs), without_projects }, loaded.problems)
    }

    /// The programs that examples of rules of this layer are read by. A project's file must not decide
    /// whether rules of other layers are in force.
    pub(super) fn for_examples(&self, layer: Layer) -> Option<&Programs> {
        if layer == Layer::Project {
            return self.all.as_ref();
        }
        self.without_projects.as_ref().or(self.all.as_ref())
    }
}

/// Only the organisation may replace what is known of a program: all rules depend on the facts that a description
/// gives, and locked rules must hold whatever the layers below write.
fn user_file<'a>(source: &Source<'a>) -> UserFile<'a> {
    let may_replace = source.layer == Layer::Organisation && source.trusted;
    UserFile {
        source: source.name,
        text: source.text,
        trust: if may_replace { Trust::Trusted } else { Trust::AddsOnly },
        layer: match source.layer {
            Layer::Baseline => 0,
            Layer::Organisation => 1,
            Layer::User => 2,
            Layer::Project => 3,
        },
    }
}
