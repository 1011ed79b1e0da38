// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Conditions on one thing that would be done to one path.

mod verbs;

use serde::{Deserialize, Serialize};
use tenterhook_facts::{Does, Effect, Place, ShellOption, Side, Unread};

use super::given::MayBeEmpty;
use super::glob::{NameGlobs, PathGlobs};
use super::match_mode::{Check, Explain, MatchMode, Matched, OPEN_PATTERN};
use super::one_or_more::{OneOrMore, values};
use crate::index::{NeedList, Rarity, Word};
use verbs::{FAR_PATHS, RECURSIVE_WORDS, words_that_do};

/// Conditions on one thing that would be done to one path.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a map of conditions on an effect")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(default, rename = "Effect"))]
pub(crate) struct EffectCondition {
    /// What is done: any of these.
    pub(crate) does: Option<OneOrMore<Does>>,
    /// Globs on the path it is done to, as in `path` above. What is done to a directory with all that
    /// is below it is done to the paths below it, too.
    pub(crate) path: Option<PathGlobs>,
    /// Where that path points: any of these. A path that is only known when it runs is at `unknown`.
    pub(crate) place: Option<OneOrMore<Place>>,
    /// Whether it is done to everything below the path, too.
    pub(crate) recursive: Option<bool>,
    /// Whether the path has to be one of `path` for certain: a pattern that may stand for it is not enough.
    pub(crate) certain: Option<bool>,
    /// Globs on the program or tool that does it; `!` takes names away.
    pub(crate) by: Option<NameGlobs>,
    /// Where it is done: any of these. Default: `here`.
    pub(crate) on: Option<OneOrMore<Side>>,
    /// The same effect satisfies none of these.
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
    /// Fills in where it is done: on this machine, or for an exception where the condition around it is.
    pub(super) fn fill_in_sides(&mut self, sides: &[Side]) {
        let Self { does: _, path: _, place: _, recursive: _, certain: _, by: _, on, not } = self;
        let on = on.get_or_insert_with(|| OneOrMore(sides.to_vec()));
        for exception in not.iter_mut().flat_map(|not| &mut not.0) {
            exception.fill_in_sides(&on.0);
        }
    }

    pub(super) fn add_needs(&self, to: &mut NeedList) {
        let Self { does, path, place: _, recursive: _, certain: _, by: _, on: _, not: _ } = self;
        to.add_paths(path.as_ref());
        let does: Vec<_> = values(does.as_ref()).iter().map(|does| Word::Does(*does)).collect();
        to.add_words(Rarity::Often, if does.is_empty() { &[Word::SomeEffect] } else { &does });
    }

    pub(super) fn check_all(
        &self,
        effects: &[Effect],
        mode: MatchMode,
        locked: bool,
        explain: Explain,
    ) -> Check {
        let counted = || effects.iter().filter(|effect| mode.looks_at(&effect.path));
        let holds = |effect: &Effect| self.check(effect, mode, locked, Explain::Nothing).ok();
        let found = mode.pick(counted(), |effect| holds(effect).is_some());
        if let Some(effect) = found {
            // A certain effect says more than a possible one.
            let certain = counted().find(|effect| holds(effect).is_some_and(|held| held.certain));
            let effect = certain.filter(|_| mode == MatchMode::Any).unwrap_or(effect);
            return self.check(effect, mode, locked, Explain::Reason).map_err(|(_, why)| why);
        }
        Err(explain.with(|| {
            let failures =
                effects.iter().filter_map(|effect| self.check(effect, mode, locked, explain).err());
            let nearest = failures.max_by_key(|(met, _)| *met);
            nearest.map_or_else(|| "nothing would be done to a file".to_owned(), |(_, why)| why)
        }))
    }

    /// What holds, in words; on failure also how many conditions held before.
    fn check(
        &self,
        effect: &Effect,
        mode: MatchMode,
        locked: bool,
        explain: Explain,
    ) -> Result<Matched, (usize, String)> {
        let Self { does, path, place, recursive, certain: only_certain, by, on, not } = self;
        let (does, places) = (values(does.as_ref()), values(place.as_ref()));
        let only_certain = *only_certain == Some(true);
        let what = || format!("{} `{}`", verb(effect.does), effect.path.text);
        if !does.is_empty() && !does.contains(&effect.does) {
            return Err((0, explain.with(|| format!("nothing is done but {}", what()))));
        }
        if let Some(by) = by
            && !by.matches(&effect.by)
        {
            return Err((
                1,
                explain.with(|| format!("`{}` does it, which is none of {}", effect.by, by.list())),
            ));
        }
        if !values(on.as_ref()).contains(&effect.on) {
            return Err((1, explain.with(|| format!("{} happens elsewhere", what()))));
        }
        if recursive.is_some_and(|wanted| wanted != effect.recursive) {
            let how = if effect.recursive { "with all below it" } else { "alone" };
            return Err((1, explain.with(|| format!("{} happens {how}", what()))));
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
                    explain.with(|| format!("`{}` does not point where the rule looks", effect.path.text)),
                ));
            }
        }
        let mut by_glob = String::new();
        let mut is_certain = true;
        if let Some(paths) = path {
            let glob = if (locked || only_certain) && mode == MatchMode::Any {
                let found = paths.matching_for_certain(&effect.path);
                let found = found.filter(|(_, certain)| *certain || !only_certain);
                is_certain = found.is_none_or(|(_, certain)| certain);
                found.map(|(glob, _)| glob)
            } else {
                mode.glob(paths, &effect.path)
            };
            let glob = glob.or_else(|| {
                // Who removes a directory removes what is in it. Who reads one from top to bottom reads
                // it, too, but is not after everything that lies somewhere deep below.
                let near = matches!(effect.does, Does::Read | Does::Run);
                (mode == MatchMode::Any && effect.reaches_below()).then(|| paths.below(&effect.path, near))?
            });
            let glob = glob.ok_or_else(|| {
                (3, explain.with(|| format!("`{}` is none of {}", effect.path.text, paths.list())))
            })?;
            by_glob = explain.with(|| format!(" (`{glob}`)"));
        }
        if values(not.as_ref())
            .iter()
            .any(|inner| inner.check(effect, mode.other(), locked, Explain::Nothing).is_ok())
        {
            return Err((4, explain.with(|| format!("an exception holds for {}", what()))));
        }
        let why = explain.with(|| format!("`{}` {}{by_glob}", effect.by, what()));
        Ok(Matched { why, certain: is_certain, doubt: OPEN_PATTERN })
    }

    /// What an unread text mentions of it: some word that is known to do it, together with the path, as far
    /// as one is named.
    pub(super) fn match_unparsed(&self, text: &Unread) -> Option<String> {
        let Self { does, path, place, recursive, certain: _, by, on: _, not: _ } = self;
        if text.whole {
            return Some("more than can be read".to_owned());
        }
        if text.seen {
            return None;
        }
        let all = [Does::Read, Does::Write, Does::Append, Does::Delete, Does::Move, Does::Permit, Does::Run];
        let does = does.as_ref().map_or(all.as_slice(), |does| &does.0);
        // `shutil.rmtree`, `fs.rmSync`: the last name is what is done.
        let last = |word: &'_ str| word.rsplit('.').next().unwrap_or(word).to_owned();
        let known = |word: &str| {
            let last = last(word);
            does.iter().any(|does| words_that_do(*does).contains(&last.as_str()))
                && by.as_ref().is_none_or(|by| by.matches(&last))
        };
        let word = if *recursive == Some(true) {
            let whole =
                text.words().find(|word| known(word) && RECURSIVE_WORDS.contains(&last(word).as_str()));
            let option = |word: &str| {
                let option = ShellOption::from_word(word);
                option.is_some_and(|option| ["r", "R", "recursive"].iter().any(|wanted| option.is(wanted)))
            };
            whole.or_else(|| text.followed_by(known, option))?
        } else {
            text.words().find(|word| known(word))?
        };
        if let Some(paths) = path {
            let glob = paths.mentioned(|part| text.contains(part))?;
            return Some(format!("`{word}` and `{glob}`"));
        }
        let own = |place: &Place| {
            matches!(place, Place::InsideProject | Place::ProjectRoot | Place::Temp | Place::Unknown)
        };
        let anywhere = place.as_ref().is_none_or(|places| places.0.iter().any(own));
        (anywhere || FAR_PATHS.iter().any(|part| text.contains(part))).then(|| format!("`{word}`"))
    }
}

fn verb(does: Does) -> &'static str {
    match does {
        Does::Read => "reads",
        Does::Write => "writes",
        Does::Append => "appends to",
        Does::Delete => "deletes",
        Does::Move => "moves",
        Does::Permit => "changes who may use",
        Does::Run => "runs",
    }
}
