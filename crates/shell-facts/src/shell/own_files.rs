// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Remembers files whose content a script has just written itself. Reading such a file reveals nothing new. A write may
//! fail (`set -C`, a file that is read-only), so only later commands of the same `&&` chain rely on it.

use std::sync::Arc;

use tenterhook_paths::{FileOp, PathFact};

use super::super::effect::FileEffect;
use super::command::ShellCommand;
use super::invoke::Redirections;
use super::scope::ShellScope;

/// Maximum number of files that are remembered.
const MAX_OWN_FILES: usize = 16;

impl ShellScope {
    /// Whether the content of a file was written by an earlier command of the script.
    pub(super) fn is_own_file(&self, path: &PathFact) -> bool {
        let known = path.resolved.as_ref().filter(|_| !path.dynamic && !path.pattern);
        known.is_some_and(|path| self.own_files.contains(path))
    }

    /// Marks the paths of a command that read only text of the script.
    pub(super) fn mark_own_files(&self, command: &mut ShellCommand) {
        if self.own_files.is_empty() {
            return;
        }
        for path in command.operands.iter_mut().chain(&mut command.named).chain(&mut command.inputs) {
            path.is_not_read |= self.is_own_file(path);
        }
    }

    /// Forgets files that these effects may change.
    pub(super) fn forget_changed_files(&mut self, effects: &[FileEffect]) {
        if self.own_files.is_empty() {
            return;
        }
        for effect in effects.iter().filter(|effect| !matches!(effect.does, FileOp::Read | FileOp::Run)) {
            let known = effect.path.resolved.as_ref().filter(|_| !effect.recursive && !effect.path.pattern);
            let files = Arc::make_mut(&mut self.own_files);
            match known {
                Some(path) => files.retain(|file| file != path),
                None => files.clear(),
            }
        }
    }

    /// Remembers the file of `echo TEXT > FILE` or `cat > FILE <<EOF`, if the text is known.
    pub(super) fn remember_written_file(&mut self, command: &ShellCommand, io: &Redirections) {
        let [(FileOp::Write, path)] = io.touched.as_slice() else { return };
        let is_copy = command.program == "cat" && !(command.words.is_empty() && command.inputs.is_empty());
        let prints = matches!(command.program.as_str(), "cat" | "echo" | "printf") && !is_copy;
        let text = match command.printed.as_slice() {
            [only] if prints => only,
            _ => return,
        };
        let Some(file) = path.resolved.clone().filter(|_| !path.dynamic && !path.pattern) else { return };
        if !text.contains(['$', '`']) && self.own_files.len() < MAX_OWN_FILES {
            Arc::make_mut(&mut self.own_files).push(file);
        }
    }
}
