// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Conditions on one operation on one path.

mod verbs;

use serde::{Deserialize, Serialize};
use tenterhook_facts::{ExecLocation, FileEffect, FileOp, PathLocation, ShellOption, UnreadText};

use super::glob::{NameGlobs, PathGlobs};
use super::match_mode::{Check, Explain, MatchFailure, MatchMode, Matched, OPEN_PATTERN};
use super::non_empty::MayBeEmpty;
use super::one_or_more::{OneOrMore, values};
use crate::index::{IndexTerm, NeedList, Rarity};
pub(super) use verbs::may_be_command;
use verbs::{OUTSIDE_PATH_FRAGMENTS, RECURSIVE_OPERATIONS, may_open_for, words_for_operation};

/// Conditions on one operation on one path.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a map of conditions on an effect")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(default, rename = "Effect"))]
pub(crate) struct EffectCondition {
    /// Operation on the path: any of these.
    pub(crate) does: Option<OneOrMore<FileOp>>,
    /// Globs on the path, as in `match.path`. A recursive operation on a directory also applies to the paths below it.
    pub(crate) path: Option<PathGlobs>,
    /// Location of the path: any of these. A path that is known only at run time has the location `unknown`.
    pub(crate) place: Option<OneOrMore<PathLocation>>,
    /// Whether the operation also applies to everything below the path.
    pub(crate) recursive: Option<bool>,
    /// Whether the path must match `path` for certain. If true, a wildcard in the call that may expand to a matching
    /// path is not enough.
    pub(crate) certain: Option<bool>,
    /// Globs on the program or tool that performs the operation; `!` excludes names.
    pub(crate) by: Option<NameGlobs>,
    /// Where the operation is performed: any of these. Default: `here`.
    pub(crate) on: Option<OneOrMore<ExecLocation>>,
    /// Exceptions: the operation must satisfy none of these.
    pub(crate) not: Option<OneOrMore<EffectCondition>>,
}

impl MayBeEmpty for EffectCondition {
    fn is_empty(&self) -> bool {
        let Self { does, path, place, recursive, certain: _, by, on, not: _ } = self;
        does.is_none()
            && path.is_none()
            && place.is_none()
            && recursive.is_none()
            && by.is_none()
            && on.is_none()
    }
}

impl EffectCondition {
    /// Fills in the default of `on`: this machine, or for an exception, the locations of the enclosing condition.
    pub(super) fn fill_in_locations(&mut self, sides: &[ExecLocation]) {
        let Self { does: _, path: _, place: _, recursive: _, certain: _, by: _, on, not } = self;
        let on = on.get_or_insert_with(|| OneOrMore(sides.to_vec()));
        for exception in not.iter_mut().flat_map(|not| &mut not.0) {
            exception.fill_in_locations(&on.0);
        }
    }

    pub(super) fn add_needs(&self, to: &mut NeedList) {
        let Self { does, path, place: _, recursive: _, certain: _, by: _, on: _, not: _ } = self;
        to.add_paths(path.as_ref());
        let does = values(does.as_ref());
        let words: Vec<_> = does.iter().map(|does| IndexTerm::Does(*does)).collect();
        to.add_words(
            Rarity::of_operations(does),
            if words.is_empty() { &[IndexTerm::SomeEffect] } else { &words },
        );
    }

    pub(super) fn check_all(&self, effects: &[FileEffect], mode: MatchMode, explain: Explain) -> Check {
        let counted = || effects.iter().filter(|effect| mode.considers(&effect.path));
        let holds = |effect: &FileEffect| self.check(effect, mode, Explain::Nothing).ok();
        let found = mode.pick(counted(), |effect| holds(effect).is_some());
        if let Some(effect) = found {
            // Prefer a certain effect: it is a better explanation than a possible one.
            let certain = counted().find(|effect| holds(effect).is_some_and(|matched| matched.certain));
            let effect = certain.filter(|_| mode == MatchMode::Any).unwrap_or(effect);
            return self.check(effect, mode, Explain::Reason).map_err(|(_, why)| why);
        }
        Err(explain.failure(|| {
            let failures = effects.iter().filter_map(|effect| self.check(effect, mode, explain).err());
            let nearest = failures.max_by_key(|(met, _)| *met);
            nearest.map_or_else(|| "no file is affected".to_owned(), |(_, why)| why.0)
        }))
    }

    /// Checks one operation. On failure, also returns how many conditions matched before the one that failed.
    fn check(
        &self,
        effect: &FileEffect,
        mode: MatchMode,
        explain: Explain,
    ) -> Result<Matched, (usize, MatchFailure)> {
        let Self { does, path, place, recursive, certain: only_certain, by, on, not } = self;
        let (does, places) = (values(does.as_ref()), values(place.as_ref()));
        let only_certain = *only_certain == Some(true);
        let what = || format!("{} `{}`", describe_operation(effect.does), effect.path.text);
        if !does.is_empty() && !does.contains(&effect.does) {
            return Err((0, explain.failure(|| format!("another operation: {}", what()))));
        }
        if let Some(by) = by
            && !by.matches(&effect.by)
        {
            return Err((
                1,
                explain.failure(|| format!("`{}` is not one of {}", effect.by, by.display_list())),
            ));
        }
        if !values(on.as_ref()).contains(&effect.on) {
            return Err((1, explain.failure(|| format!("{} on another machine or in a container", what()))));
        }
        if recursive.is_some_and(|wanted| wanted != effect.recursive) {
            let how = if effect.recursive { "recursively" } else { "not recursively" };
            return Err((1, explain.failure(|| format!("{} {how}", what()))));
        }
        if !places.is_empty() {
            let mut found = effect.path.places.iter();
            let fits = match mode {
                MatchMode::Any => found.any(|place| places.contains(place)),
                MatchMode::All => found.all(|place| places.contains(place)),
            };
            if !fits {
                return Err((
                    2,
                    explain.failure(|| format!("`{}` points to another place", effect.path.text)),
                ));
            }
        }
        let mut by_glob = String::new();
        let mut is_certain = true;
        if let Some(paths) = path {
            let guard = mode.glob(paths, &effect.path);
            let guard = guard.filter(|guard| guard.certainty.is_certain() || !only_certain);
            is_certain = guard.is_none_or(|guard| guard.certainty.is_certain());
            let glob = guard.map(|guard| guard.glob);
            let glob = glob.or_else(|| {
                // Removing a directory removes everything in it. A recursive read is checked only against the
                // files directly in the directory, not against everything deep below it.
                let near = matches!(effect.does, FileOp::Read | FileOp::Run);
                (mode == MatchMode::Any && effect.reaches_below())
                    .then(|| paths.find_below(&effect.path, near))?
            });
            let glob = glob.ok_or_else(|| {
                (
                    3,
                    explain.failure(|| {
                        format!("`{}` does not match {}", effect.path.text, paths.display_list())
                    }),
                )
            })?;
            by_glob = explain.text(|| format!(" (`{glob}`)"));
        }
        if values(not.as_ref())
            .iter()
            .any(|inner| inner.check(effect, mode.inverse(), Explain::Nothing).is_ok())
        {
            return Err((4, explain.failure(|| format!("an exception holds for {}", what()))));
        }
        let why = explain.text(|| format!("`{}` {}{by_glob}", effect.by, what()));
        Ok(Matched { why, certain: is_certain, doubt: OPEN_PATTERN })
    }

    /// Returns the part of an unparsed text that this condition looks for: a word that is known to do the operation,
    /// together with the path if one is named.
    pub(super) fn match_unparsed(&self, text: &UnreadText) -> Option<String> {
        let Self { does, path, place, recursive, certain: _, by, on: _, not: _ } = self;
        if text.is_opaque {
            return Some("more than can be analysed".to_owned());
        }
        let all = [
            FileOp::Read,
            FileOp::Write,
            FileOp::Append,
            FileOp::Delete,
            FileOp::Move,
            FileOp::Permit,
            FileOp::Run,
        ];
        let does = does.as_ref().map_or(all.as_slice(), |does| &does.0);
        // The last part of `shutil.rmtree` or `fs.rmSync` is the operation.
        let last = |word: &'_ str| word.rsplit('.').next().unwrap_or(word).to_owned();
        let known = |word: &str| {
            let last = last(word);
            let operation = |does: &FileOp| {
                words_for_operation(*does).contains(&last.as_str()) && may_open_for(text, &last, *does)
            };
            does.iter().any(operation)
                && may_be_command(text, &last)
                && by.as_ref().is_none_or(|by| by.matches(&last))
        };
        let word = if *recursive == Some(true) {
            let whole =
                text.words().find(|word| known(word) && RECURSIVE_OPERATIONS.contains(&last(word).as_str()));
            let option = |word: &str| {
                let option = ShellOption::from_word(word);
                option.is_some_and(|option| ["r", "R", "recursive"].iter().any(|wanted| option.is(wanted)))
            };
            whole.or_else(|| text.followed_by(known, option))?
        } else {
            text.words().find(|word| known(word))?
        };
        if let Some(paths) = path {
            let glob = paths.find_mentioned(|part| text.contains(part))?;
            return Some(format!("`{word}` and `{glob}`"));
        }
        let own = |place: &PathLocation| {
            matches!(
                place,
                PathLocation::InsideProject
                    | PathLocation::ProjectRoot
                    | PathLocation::Temp
                    | PathLocation::Unknown
            )
        };
        let anywhere = place.as_ref().is_none_or(|places| places.0.iter().any(own));
        (anywhere || OUTSIDE_PATH_FRAGMENTS.iter().any(|part| text.contains(part)))
            .then(|| format!("`{word}`"))
    }
}

pub(super) fn describe_operation(does: FileOp) -> &'static str {
    match does {
        FileOp::Read => "reads",
        FileOp::Write => "writes",
        FileOp::Append => "appends to",
        FileOp::Delete => "deletes",
        FileOp::Move => "moves",
        FileOp::Permit => "changes the permissions of",
        FileOp::Run => "runs",
    }
}
