// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Paths that lead through links: beside what their letters say stands the place they lead to.
//!
//! A rule that guards looks at both, and one is enough; a rule that vouches has to cover both.

use std::collections::BTreeSet;

use tenterhook_event::Event;
use tenterhook_paths::{Does, Ground, PathFact, Seen, Sight, Steps, Way, below, resolve};
use tenterhook_shell_facts::{Effect, ShellCommand, Side, Unread, takes_all};

use super::{Facts, Surroundings};

/// Looks at what is on the way to the paths of a call: `look` says what is at a place. The result is
/// for [`Surroundings::seen`].
pub fn look(
    event: &Event,
    facts: &Facts,
    around: &Surroundings<'_>,
    look: &mut dyn FnMut(&str) -> Sight,
) -> Seen {
    if event.tool.is_none() {
        return Seen::default();
    }
    let roots = [event.project.as_deref(), event.cwd.as_deref(), around.home];
    let roots = roots.into_iter().flatten().map(|path| Way { path, pattern: false, itself: false });
    let effects = facts.effects.iter().filter(|effect| effect.on == Side::Here).map(|effect| &effect.path);
    let commands = facts.commands.iter().filter(|command| command.on == Side::Here);
    let of_commands = commands.flat_map(|command| {
        command.operands.iter().chain(&command.named).chain(&command.inputs).chain(&command.outputs)
    });
    let paths = effects.chain(&facts.paths).chain(of_commands);
    Seen::look(roots.chain(paths.filter_map(|path| path.way(false))), look)
}

impl Facts {
    /// Adds where the paths really lead, by the links that were seen and those the call itself makes.
    pub(crate) fn follow(&mut self, seen: Option<&Seen>, ground: &Ground, places: &[Option<String>]) {
        let mut made = Vec::new();
        for place in places {
            made.extend(links_made(&self.commands, ground, place.as_deref()));
        }
        let before = seen.cloned().unwrap_or_default();
        self.links.clone_from(&before);
        if before.is_empty() && made.is_empty() {
            return;
        }
        // A link may be there already, or be made anew: either counts. What makes it comes before it.
        let after =
            Seen { links: before.links.clone().into_iter().chain(made.clone()).collect(), cut: false };
        let both = [&before, &after];
        let links = |program: &str| if made.is_empty() || is_link(program) { &both[..1] } else { &both[..] };
        let (replaced, steps) = (replaced(&self.commands), Steps::default());
        let mut twins = Vec::new();
        for effect in self.effects.iter_mut().filter(|effect| effect.on == Side::Here) {
            if is_link(&effect.by) && is_or_is_in(&effect.path, &replaced) {
                continue;
            }
            let itself = matches!(effect.does, Does::Delete | Does::Move) || takes_links(&effect.by);
            for path in ground.follow(&effect.path, itself, links(&effect.by), &steps) {
                bring_home(&mut effect.path, &path, made.is_empty());
                let recursive = effect.recursive || effect.does == Does::Delete && takes_all(&path);
                twins.push(Effect { path, recursive, ..effect.clone() });
            }
        }
        self.effects.extend(twins);
        let follow = |list: &mut Vec<PathFact>, itself: bool, links: &[&Seen]| {
            let mut real = Vec::new();
            for path in list.iter_mut() {
                let led = ground.follow(path, itself, links, &steps);
                real.extend(led.into_iter().inspect(|real| bring_home(path, real, made.is_empty())));
            }
            list.extend(real);
        };
        follow(&mut self.paths, false, &both[..1]);
        for command in self.commands.iter_mut().filter(|command| command.on == Side::Here) {
            let (itself, links) = (takes_links(&command.program), links(&command.program));
            follow(&mut command.operands, itself, links);
            follow(&mut command.named, itself, links);
            follow(&mut command.inputs, itself, links);
            follow(&mut command.outputs, itself, links);
        }
        if before.cut || steps.are_spent() {
            let mut unread = Unread::new("it names more paths than are looked at", "", true, 0);
            unread.whole = true;
            self.unread.push(unread);
            self.unparsed = true;
        }
    }
}

/// Programs that take a link for itself, not for what it leads to.
fn takes_links(program: &str) -> bool {
    is_link(program) || matches!(program, "rm" | "rmdir" | "unlink" | "mv" | "readlink" | "git" | "trash")
}

/// Whether a path is one of these places, or directly in one.
fn is_or_is_in(path: &PathFact, places: &BTreeSet<String>) -> bool {
    let Some(path) = path.resolved.as_deref() else { return false };
    let within = path.rsplit_once('/').map_or("", |(within, _)| within);
    places.contains(path) || places.contains(within)
}

/// What leads into the project is not outside of it, whatever its letters say, if it is certain that
/// it leads there.
fn bring_home(path: &mut PathFact, real: &PathFact, certain: bool) {
    if certain && path.in_project.is_none() && real.in_project.is_some() {
        path.places.clone_from(&real.places);
    }
}

/// The links that commands of the call make, with what they will say: `ln -s ~/.ssh x`.
fn links_made(commands: &[ShellCommand], ground: &Ground, cwd: Option<&str>) -> Vec<(String, String)> {
    let mut made = Vec::new();
    let mut link = |at: Option<String>, says: &str| {
        // A directory that is stood in is none that is made.
        let stood = |place: &String| {
            let here = [cwd, ground.project.as_deref(), Some(ground.home.as_str())];
            here.into_iter().flatten().any(|here| below(here, place).is_some())
        };
        made.extend(at.filter(|place| !stood(place)).map(|place| (place, says.to_owned())));
    };
    let known = |path: &&PathFact| !path.dynamic && !path.pattern && path.resolved.is_some();
    let links = |command: &&ShellCommand| command.on == Side::Here && is_link(&command.program);
    for command in commands.iter().filter(links) {
        let soft = command.options.iter().any(|option| option.is("s") || option.is("symbolic"));
        let given = || command.operands.iter().chain(&command.named).filter(known);
        let to = given().find(|path| path.spared).and_then(|path| path.resolved.as_deref());
        for from in given().filter(|path| !path.spared) {
            let name = from.resolved.as_deref().and_then(|path| path.rsplit('/').next()).unwrap_or_default();
            // What a soft link says is read from where the link is.
            let relative = soft && !from.text.starts_with(['/', '~']);
            let says = if relative { Some(from.text.as_str()) } else { from.resolved.as_deref() };
            let says = says.unwrap_or_default();
            // Without a place it comes here; and the place may be a directory.
            link(resolve(to.or(cwd), name), says);
            link(to.map(str::to_owned), says);
        }
    }
    made
}

/// The links that are put in the place of others: `ln -sfn`.
fn replaced(commands: &[ShellCommand]) -> BTreeSet<String> {
    const WAYS: &[&str] = &["n", "no-dereference", "T", "no-target-directory", "h"];
    let put = |command: &&ShellCommand| {
        is_link(&command.program)
            && command.options.iter().any(|option| WAYS.iter().any(|name| option.is(name)))
    };
    let to = commands.iter().filter(put).flat_map(|command| command.operands.iter().filter(|to| to.spared));
    to.filter_map(|to| to.resolved.clone()).collect()
}

fn is_link(program: &str) -> bool {
    matches!(program, "ln" | "gln")
}
