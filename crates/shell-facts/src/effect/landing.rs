// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Where copies land: a tree that is copied or moved onto a place writes everything in it.

use tenterhook_paths::Does::Write;

use super::super::Word;
use super::Touch;

/// How a program puts its sources at a target.
#[derive(Debug, Clone, Copy)]
pub(super) struct Landing {
    /// Whether directories are taken with all that is in them.
    pub(super) tree: bool,
    /// Whether a source takes the target's own place, as with `cp -T`.
    pub(super) onto: bool,
    /// Whether `x/` stands for what is in `x`, as for `rsync`.
    pub(super) slash_is_contents: bool,
}

impl Landing {
    /// What putting a source at a target writes.
    pub(super) fn touches(self, target: &Word, source: &Word) -> Vec<Touch> {
        let at_target = || Touch::new(Write, target);
        if self.onto || self.takes_contents(source) {
            return vec![at_target().deep(self.tree)];
        }
        let mut touches = vec![at_target()];
        // The target may be a directory, and then it is this that is written.
        if let Some(inside) = inside(target, source) {
            touches.push(Touch::new(Write, &inside));
            touches.extend(self.tree.then(|| Touch::new(Write, &inside).deep(true)));
        }
        touches
    }

    /// Whether what is in the source lands at the target itself, not below the source's name.
    fn takes_contents(self, source: &Word) -> bool {
        let text = source.text.as_str();
        let last = text.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        self.slash_is_contents && text.ends_with('/') || matches!(last, "" | "." | "..")
    }
}

/// What putting several sources at a target writes; the target itself is named once.
pub(super) fn land(landing: Landing, target: &Word, sources: &[&Word]) -> Vec<Touch> {
    let mut touches: Vec<Touch> = Vec::new();
    for touch in sources.iter().flat_map(|source| landing.touches(target, source)) {
        let known = |other: &Touch| other.deep == touch.deep && other.path == touch.path;
        if touch.path != *target || !touches.iter().any(known) {
            touches.push(touch);
        }
    }
    touches
}

/// `DIRECTORY/NAME`, where the name is the last part of what is copied there.
fn inside(directory: &Word, source: &Word) -> Option<Word> {
    let name = |text: &str| text.trim_end_matches('/').rsplit('/').next().map(str::to_owned);
    let join = |directory: &str, name: String| format!("{}/{name}", directory.trim_end_matches('/'));
    let (text, shape) = (name(&source.text)?, name(&source.shape)?);
    let plain = !matches!(text.as_str(), "" | "." | "..");
    plain.then(|| Word {
        text: join(&directory.text, text),
        shape: join(&directory.shape, shape),
        dynamic: directory.dynamic || source.dynamic,
        pattern: directory.pattern || source.pattern,
        ..directory.clone()
    })
}
