// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Resolves symbolic links: next to each path as written, adds the path that it leads to.
//!
//! A rule that denies or asks needs one of these paths to match; a rule that allows has to cover both.

use std::collections::BTreeSet;

use tenterhook_event::Event;
use tenterhook_paths::{
    EntryKind, FileOp, LinkMap, PathFact, PathLocation, PathRoots, PathWalk, WalkBudget, WrittenPath,
    resolve, strip_directory,
};
use tenterhook_shell_facts::{
    ExecLocation, FileEffect, SCRATCH_ACT, ShellCommand, UnreadText, names_whole_directory,
};

use super::{EvalEnvironment, Facts};

/// Looks up the symbolic links on the way to the paths of a call; `look` returns what is at a path. The caller passes
/// the result in [`EvalEnvironment::seen`].
pub fn probe_links(
    event: &Event,
    facts: &Facts,
    environment: &EvalEnvironment<'_>,
    look: &mut dyn FnMut(&str) -> EntryKind,
) -> LinkMap {
    if event.tool.is_none() {
        return LinkMap::default();
    }
    let roots = [event.project.as_deref(), event.cwd.as_deref(), environment.home];
    let roots =
        roots.into_iter().flatten().map(|path| PathWalk { path, pattern: false, keep_last_link: false });
    let effects =
        facts.effects.iter().filter(|effect| effect.on == ExecLocation::Here).map(|effect| &effect.path);
    let commands = facts.commands.iter().filter(|command| command.on == ExecLocation::Here);
    let of_commands = commands.flat_map(|command| {
        command
            .operands
            .iter()
            .chain(&command.named)
            .chain(&command.inputs)
            .chain(&command.outputs)
            .chain(&command.error_outputs)
    });
    let ground = PathRoots::new(environment.home, event.project.as_deref());
    let scratch: Vec<PathFact> = facts
        .commands
        .iter()
        .filter(|command| is_scratch(command))
        .filter_map(|command| directory_fact(command, &ground))
        .collect();
    let paths = effects.chain(&facts.paths).chain(of_commands).chain(&scratch);
    LinkMap::probe(roots.chain(paths.filter_map(|path| path.to_walk(false))), look)
}

impl Facts {
    /// Adds the paths that links lead to: links that were found, and links that the call itself creates.
    pub(crate) fn follow(&mut self, seen: Option<&LinkMap>, ground: &PathRoots, places: &[Option<String>]) {
        let mut made = Vec::new();
        for place in places {
            made.extend(links_created(&self.commands, ground, place.as_deref()));
        }
        self.created_links.clone_from(&made);
        let before = seen.cloned().unwrap_or_default();
        self.links.clone_from(&before);
        if before.is_empty() && made.is_empty() {
            return;
        }
        // A link may exist already or be created by an earlier command of the call. Both kinds are followed.
        let after =
            LinkMap { links: before.links.clone().into_iter().chain(made.clone()).collect(), cut: false };
        let both = [&before, &after];
        let links =
            |program: &str| if made.is_empty() || is_link_program(program) { &both[..1] } else { &both[..] };
        let (replaced, steps) = (links_replaced(&self.commands), WalkBudget::default());
        let mut resolved_effects = Vec::new();
        for effect in self.effects.iter_mut().filter(|effect| effect.on == ExecLocation::Here) {
            if is_link_program(&effect.by) && is_or_is_in(&effect.path, &replaced) {
                continue;
            }
            let keep_last_link =
                matches!(effect.does, FileOp::Delete | FileOp::Move) || operates_on_link(&effect.by);
            for path in ground.follow_links(&effect.path, keep_last_link, links(&effect.by), &steps) {
                adopt_project_place(&mut effect.path, &path, made.is_empty());
                let recursive =
                    effect.recursive || effect.does == FileOp::Delete && names_whole_directory(&path);
                resolved_effects.push(FileEffect { path, recursive, ..effect.clone() });
            }
        }
        self.effects.extend(resolved_effects);
        let follow = |list: &mut Vec<PathFact>, keep_last_link: bool, links: &[&LinkMap]| {
            let mut real = Vec::new();
            for path in list.iter_mut() {
                let led = ground.follow_links(path, keep_last_link, links, &steps);
                real.extend(led.into_iter().inspect(|real| adopt_project_place(path, real, made.is_empty())));
            }
            list.extend(real);
        };
        follow(&mut self.paths, false, &both[..1]);
        for command in self.commands.iter_mut().filter(|command| command.on == ExecLocation::Here) {
            let (keep_last_link, links) = (operates_on_link(&command.program), links(&command.program));
            follow(&mut command.operands, keep_last_link, links);
            follow(&mut command.named, keep_last_link, links);
            follow(&mut command.inputs, keep_last_link, links);
            follow(&mut command.outputs, keep_last_link, links);
            follow(&mut command.error_outputs, keep_last_link, links);
            if is_scratch(command)
                && let Some(directory) = directory_fact(command, ground)
                && (ground.follow_links(&directory, false, &both, &steps).iter())
                    .any(|real| real.places != [PathLocation::Temp])
            {
                command.acts.retain(|act| *act != SCRATCH_ACT);
            }
        }
        if before.cut || steps.is_exhausted() {
            let mut unread = UnreadText::new("more paths than can be analysed", "", true, 0);
            unread.is_opaque = true;
            self.unread.push(unread);
            self.unparsed = true;
        }
    }
}

/// Whether a command counts as work in a directory for temporary files.
fn is_scratch(command: &ShellCommand) -> bool {
    command.acts.contains(&SCRATCH_ACT)
}

/// Returns the directory of a command as a path.
fn directory_fact(command: &ShellCommand, ground: &PathRoots) -> Option<PathFact> {
    let directory = command.directory.as_deref()?;
    let found = WrittenPath { text: directory, shape: directory, dynamic: false, pattern: false };
    Some(ground.classify(&found, None))
}

/// Whether a program operates on a link itself, not on its target.
fn operates_on_link(program: &str) -> bool {
    is_link_program(program)
        || matches!(program, "rm" | "rmdir" | "unlink" | "mv" | "readlink" | "git" | "trash")
}

/// Whether a path is one of these paths, or directly inside one of them.
fn is_or_is_in(path: &PathFact, places: &BTreeSet<String>) -> bool {
    let Some(path) = path.resolved.as_deref() else { return false };
    let within = path.rsplit_once('/').map_or("", |(within, _)| within);
    places.contains(path) || places.contains(within)
}

/// Treats a path that certainly leads into the project as inside the project, wherever the link itself is.
fn adopt_project_place(path: &mut PathFact, real: &PathFact, certain: bool) {
    if certain && path.in_project.is_none() && real.in_project.is_some() {
        path.places.clone_from(&real.places);
    }
}

/// Returns the links that commands of the call create, with their targets: `ln -s ~/.ssh x`.
fn links_created(commands: &[ShellCommand], ground: &PathRoots, cwd: Option<&str>) -> Vec<(String, String)> {
    let mut made = Vec::new();
    let mut link = |at: Option<String>, says: &str| {
        // The working directory and its parents exist, so no link is created there.
        let stood = |place: &String| {
            let here = [cwd, ground.project.as_deref(), Some(ground.home.as_str())];
            here.into_iter().flatten().any(|here| strip_directory(here, place).is_some())
        };
        made.extend(at.filter(|place| !stood(place)).map(|place| (place, says.to_owned())));
    };
    let known = |path: &&PathFact| !path.dynamic && !path.pattern && path.resolved.is_some();
    let links =
        |command: &&ShellCommand| command.on == ExecLocation::Here && is_link_program(&command.program);
    for command in commands.iter().filter(links) {
        let soft = command.options.iter().any(|option| option.is("s") || option.is("symbolic"));
        let given = || command.operands.iter().chain(&command.named).filter(known);
        let to = given().find(|path| path.is_not_read).and_then(|path| path.resolved.as_deref());
        for from in given().filter(|path| !path.is_not_read) {
            let name = from.resolved.as_deref().and_then(|path| path.rsplit('/').next()).unwrap_or_default();
            // The target of a symbolic link is relative to the directory of the link.
            let relative = soft && !from.text.starts_with(['/', '~']);
            let says = if relative { Some(from.text.as_str()) } else { from.resolved.as_deref() };
            let says = says.unwrap_or_default();
            // Without a destination, the link is created in the working directory; the destination may also be a directory.
            link(resolve(to.or(cwd), name), says);
            link(to.map(str::to_owned), says);
        }
    }
    made
}

/// Returns the links that replace existing links: `ln -sfn`.
fn links_replaced(commands: &[ShellCommand]) -> BTreeSet<String> {
    const REPLACING_OPTIONS: &[&str] = &["n", "no-dereference", "T", "no-target-directory", "h"];
    let put = |command: &&ShellCommand| {
        is_link_program(&command.program)
            && command.options.iter().any(|option| REPLACING_OPTIONS.iter().any(|name| option.is(name)))
    };
    let to =
        commands.iter().filter(put).flat_map(|command| command.operands.iter().filter(|to| to.is_not_read));
    to.filter_map(|to| to.resolved.clone()).collect()
}

fn is_link_program(program: &str) -> bool {
    matches!(program, "ln" | "gln")
}
