// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Splits a call into parts that a snapshot can cover, and selects the parts that have to be saved.

use std::collections::HashSet;
use std::path::Path;

use tenterhook_event::{Event, ToolClass};
use tenterhook_facts::{Facts, FileEffect, ShellCommand};
use tenterhook_undo::{FileTarget, GitCallKind, GitTarget, TargetChange};

use super::file_effects::{edits_in_place, is_destructive, is_file_program, is_passive, read_file_target};
use super::git_commands::{may_change_repository, read_target};
use super::{find_project, is_system_program};

/// Maximum number of parts of a call that is saved. The rules are evaluated once for each.
const MAX_PARTS: usize = 32;

/// Maximum number of facts that are evaluated to select parts: the number of parts times the number of commands and
/// effects. Evaluating this many takes about 50 ms.
const MAX_EVALUATED_FACTS: usize = 12_000;

/// A command or an effect of a call, and what has to be saved so that it can be undone.
#[derive(Debug, Clone, Default)]
pub(crate) struct CoverablePart {
    pub(super) git: Vec<GitTarget>,
    pub(super) files: Vec<FileTarget>,
    /// Positions of the covered commands in the facts.
    commands: Vec<usize>,
    /// Positions of the covered effects in the facts.
    effects: Vec<usize>,
}

/// Verdict of the rules on the rest of a call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RestJudgement {
    /// Whether the user has to be asked.
    pub(crate) asks: bool,
    /// Whether a rule wants a snapshot.
    pub(crate) is_undoable: bool,
}

/// The parts of a call that a snapshot can cover.
#[derive(Debug)]
pub(crate) struct CoverableCall<'f> {
    facts: &'f Facts,
    parts: Vec<CoverablePart>,
}

// === impl CoverableCall ===

impl<'f> CoverableCall<'f> {
    /// Finds the parts of a call that a snapshot can cover. Git commands are not covered if the shell may direct git to
    /// another repository.
    pub(super) fn find(event: &Event, facts: &'f Facts, may_be_redirected: bool) -> Option<Self> {
        let project = Path::new(find_project(event)?);
        let mut parts = Vec::new();
        if !may_be_redirected {
            parts.extend(find_git_parts(facts)?);
        }
        let covers_patterns = event.tool.as_ref().is_some_and(|tool| tool.class == ToolClass::Shell);
        add_file_parts(facts, project, covers_patterns, &mut parts);
        (!parts.is_empty() && parts.len() <= MAX_PARTS).then_some(Self { facts, parts })
    }

    /// Returns the parts that have to be saved; `None` if the rules still ask if all parts are removed. `is_asked` is
    /// whether the rules ask about the call. `judge` evaluates the rules on a part of the facts.
    pub(crate) fn select_needed(
        &self,
        is_asked: bool,
        mut judge: impl FnMut(&Facts) -> RestJudgement,
    ) -> Option<Vec<CoverablePart>> {
        let facts = self.facts.commands.len() + self.facts.effects.len();
        if self.parts.len() > 1 && self.parts.len().saturating_mul(facts) > MAX_EVALUATED_FACTS {
            return None;
        }
        let all: HashSet<usize> = (0..self.parts.len()).collect();
        if is_asked && judge(&self.without(&all)).asks {
            return None;
        }
        let mut is_needed = |removed: &HashSet<usize>| {
            let rest = judge(&self.without(removed));
            rest.asks || rest.is_undoable
        };
        let is_single = all.len() == 1;
        let needed: HashSet<usize> = (0..self.parts.len())
            .filter(|part| {
                let others = all.iter().copied().filter(|other| other != part).collect();
                is_single || is_needed(&others)
            })
            .collect();
        // A rule may need several parts to match.
        let needed = if is_asked && !is_single && is_needed(&needed) { all } else { needed };
        let selected = self.parts.iter().enumerate().filter(|(part, _)| needed.contains(part));
        let selected: Vec<_> = selected.map(|(_, part)| part.clone()).collect();
        (!selected.is_empty()).then_some(selected)
    }

    /// Returns the facts of the call without some parts.
    fn without(&self, parts: &HashSet<usize>) -> Facts {
        let removed = || parts.iter().filter_map(|part| self.parts.get(*part));
        let commands: HashSet<usize> = removed().flat_map(|part| part.commands.iter().copied()).collect();
        let effects: HashSet<usize> = removed().flat_map(|part| part.effects.iter().copied()).collect();
        let mut rest = self.facts.clone();
        let mut number = 0..;
        rest.commands.retain(|_| number.next().is_none_or(|number| !commands.contains(&number)));
        let mut number = 0..;
        rest.effects.retain(|_| number.next().is_none_or(|number| !effects.contains(&number)));
        rest
    }
}

/// Finds the git commands that a snapshot covers, one part for each place in the text. Returns `None` if one run of a
/// repeated command is unknown.
fn find_git_parts(facts: &Facts) -> Option<Vec<CoverablePart>> {
    let mut parts: Vec<(_, CoverablePart)> = Vec::new();
    let is_git = |command: &&ShellCommand| command.program == "git";
    let changes = facts.commands.iter().filter(|command| may_change_repository(command)).count();
    for (number, command) in facts.commands.iter().enumerate() {
        let Some(target) = read_target(command) else { continue };
        let known = parts.iter_mut().find(|(span, part)| *span == command.span && part.git.contains(&target));
        if let Some((_, part)) = known {
            part.commands.push(number);
        } else {
            let part =
                CoverablePart { git: vec![target], commands: vec![number], ..CoverablePart::default() };
            parts.push((command.span, part));
        }
    }
    // The text of a loop runs several times. If one of its runs is not known completely, the question stays.
    let is_covered = |span| parts.iter().any(|(known, _)| *known == span);
    let mut unknown = facts.commands.iter().filter(is_git).filter(|command| read_target(command).is_none());
    if unknown.any(|command| is_covered(command.span)) {
        return None;
    }
    for (span, part) in &mut parts {
        let effects = facts.effects.iter().enumerate();
        let own = effects.filter(|(_, effect)| effect.span == *span && effect.by == "git");
        part.effects = own.map(|(number, _)| number).collect();
        // An earlier command may move uncommitted work into a stash that this command drops.
        let moved = part.git.iter().filter(|target| changes > 1 && target.kind != GitCallKind::Reset);
        let moved: Vec<_> =
            moved.map(|target| GitTarget { kind: GitCallKind::Reset, ..target.clone() }).collect();
        part.git.extend(moved);
    }
    Some(parts.into_iter().map(|(_, part)| part).collect())
}

/// Adds the effects on files that a snapshot covers.
fn add_file_parts(facts: &Facts, project: &Path, covers_patterns: bool, parts: &mut Vec<CoverablePart>) {
    let is_passive = facts.commands.iter().all(is_passive);
    let by_git: HashSet<usize> = parts.iter().flat_map(|part| part.effects.iter().copied()).collect();
    let first = parts.len();
    for (number, effect) in facts.effects.iter().enumerate() {
        if !is_destructive(effect) || by_git.contains(&number) || (effect.path.pattern && !covers_patterns) {
            continue;
        }
        let mut causes = facts.commands.iter().filter(|command| {
            command.span.is_some() && command.span == effect.span && command.program == effect.by
        });
        if !causes.all(is_system_program) {
            continue;
        }
        let Some(mut target) = read_file_target(effect, project) else { continue };
        if target.change == TargetChange::Overwrite
            && facts.commands.iter().any(|command| edits_in_place(command, effect))
        {
            target.change = TargetChange::Replace;
        }
        if !is_passive {
            // A program may write to the file before it is deleted, and a hard link would show that.
            target.change = target.change.max(TargetChange::Replace);
        }
        let known = parts.iter_mut().skip(first).find(|part| {
            let same = part.effects.first().and_then(|known| facts.effects.get(*known));
            same.is_some_and(|known| known.span == effect.span && known.by == effect.by)
        });
        if let Some(part) = known {
            part.files.push(target);
            part.effects.push(number);
        } else {
            let (files, effects) = (vec![target], vec![number]);
            parts.push(CoverablePart { files, effects, ..CoverablePart::default() });
        }
    }
    for part in parts.iter_mut().skip(first) {
        let Some(span) =
            part.effects.first().and_then(|known| facts.effects.get(*known)).map(|known| known.span)
        else {
            continue;
        };
        let is_known = |(number, effect): (usize, &FileEffect)| {
            effect.span != span || !is_destructive(effect) || part.effects.contains(&number)
        };
        let at_span = |command: &&ShellCommand| command.span.is_some() && command.span == span;
        // A command is covered if all its effects are.
        if facts.effects.iter().enumerate().all(is_known)
            && facts.commands.iter().filter(at_span).all(is_file_program)
        {
            let commands = facts.commands.iter().enumerate();
            part.commands =
                commands.filter(|(_, command)| at_span(command)).map(|(number, _)| number).collect();
        }
    }
}
