// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Derives the effects of a copy or move on its target. Copying a tree writes everything below the target.

use tenterhook_paths::FileOp::Write;

use super::super::ShellWord;
use super::OperandEffect;

/// How a program copies or moves its sources to a target.
#[derive(Debug, Clone, Copy)]
pub(super) struct CopyMode {
    /// Whether directories are copied with their content.
    pub(super) tree: bool,
    /// Whether a source replaces the target itself, as with `cp -T`.
    pub(super) onto: bool,
    /// Whether `x/` means the content of `x`, as in `rsync`.
    pub(super) slash_is_contents: bool,
}

impl CopyMode {
    /// Returns the effects of copying one source to a target.
    pub(super) fn effects(self, target: &ShellWord, source: &ShellWord) -> Vec<OperandEffect> {
        let at_target = || OperandEffect::new(Write, target);
        if self.onto || self.copies_contents(source) {
            return vec![at_target().recursive(self.tree)];
        }
        let mut effects = vec![at_target()];
        // The target may be a directory; then a path inside it is written.
        if let Some(inside) = path_inside(target, source) {
            effects.push(OperandEffect::new(Write, &inside));
            effects.extend(self.tree.then(|| OperandEffect::new(Write, &inside).recursive(true)));
        }
        effects
    }

    /// Whether the content of the source is copied into the target itself, and not below the name of the source.
    fn copies_contents(self, source: &ShellWord) -> bool {
        let text = source.text.as_str();
        let last = text.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        self.slash_is_contents && text.ends_with('/') || matches!(last, "" | "." | "..")
    }
}

/// Returns the effects of copying several sources to a target. The effect on the target itself is listed once.
pub(super) fn copy_effects(mode: CopyMode, target: &ShellWord, sources: &[&ShellWord]) -> Vec<OperandEffect> {
    let mut effects: Vec<OperandEffect> = Vec::new();
    for effect in sources.iter().flat_map(|source| mode.effects(target, source)) {
        let known = |other: &OperandEffect| other.recursive == effect.recursive && other.path == effect.path;
        if effect.path != *target || !effects.iter().any(known) {
            effects.push(effect);
        }
    }
    effects
}

/// Returns `DIRECTORY/NAME`, with the last component of the source as the name.
fn path_inside(directory: &ShellWord, source: &ShellWord) -> Option<ShellWord> {
    let name = |text: &str| text.trim_end_matches('/').rsplit('/').next().map(str::to_owned);
    let join = |directory: &str, name: String| format!("{}/{name}", directory.trim_end_matches('/'));
    let (text, shape) = (name(&source.text)?, name(&source.shape)?);
    let plain = !matches!(text.as_str(), "" | "." | "..");
    plain.then(|| ShellWord {
        text: join(&directory.text, text),
        shape: join(&directory.shape, shape),
        dynamic: directory.dynamic || source.dynamic,
        pattern: directory.pattern || source.pattern,
        ..directory.clone()
    })
}
