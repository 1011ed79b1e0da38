// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Conditions on one thing that would be done to one path.

use super::{Check, Held, OPEN_PATTERN, Sense, Tell};
use crate::compile::Effect as Wanted;
use crate::facts::{Does, Effect};

impl Wanted {
    pub(super) fn check_all(&self, effects: &[Effect], sense: Sense, locked: bool, tell: Tell) -> Check {
        let counted = || effects.iter().filter(|effect| sense.looks_at(&effect.path));
        let holds = |effect: &Effect| self.check(effect, sense, locked, Tell::Nothing).ok();
        let found = sense.pick(counted(), |effect| holds(effect).is_some());
        if let Some(effect) = found {
            // One that is certain says more than one that may be.
            let certain = counted().find(|effect| holds(effect).is_some_and(|held| held.sure));
            let effect = certain.filter(|_| sense == Sense::Guards).unwrap_or(effect);
            return self.check(effect, sense, locked, Tell::Why).map_err(|(_, why)| why);
        }
        Err(tell.say(|| {
            let failures = effects.iter().filter_map(|effect| self.check(effect, sense, locked, tell).err());
            let nearest = failures.max_by_key(|(met, _)| *met);
            nearest.map_or_else(|| "nothing would be done to a file".to_owned(), |(_, why)| why)
        }))
    }

    /// What holds, in words; on failure also how many conditions held before.
    fn check(
        &self,
        effect: &Effect,
        sense: Sense,
        locked: bool,
        tell: Tell,
    ) -> Result<Held, (usize, String)> {
        let what = || format!("{} `{}`", doing(effect.does), effect.path.text);
        if !self.does.is_empty() && !self.does.contains(&effect.does) {
            return Err((0, tell.say(|| format!("nothing is done but {}", what()))));
        }
        if let Some(by) = &self.by
            && !by.matches(&effect.by)
        {
            return Err((1, tell.say(|| format!("`{}` does it, which is none of {}", effect.by, by.list()))));
        }
        if !self.on.contains(&effect.on) {
            return Err((1, tell.say(|| format!("{} happens elsewhere", what()))));
        }
        if self.recursive.is_some_and(|wanted| wanted != effect.recursive) {
            let how = if effect.recursive { "with all below it" } else { "alone" };
            return Err((1, tell.say(|| format!("{} happens {how}", what()))));
        }
        if !self.places.is_empty() {
            let mut places = effect.path.places.iter();
            let fits = match sense {
                Sense::Guards => places.any(|place| self.places.contains(place)),
                Sense::Vouches => places.all(|place| self.places.contains(place)),
            };
            if !fits {
                return Err((
                    2,
                    tell.say(|| format!("`{}` does not point where the rule looks", effect.path.text)),
                ));
            }
        }
        let mut by_glob = String::new();
        let mut sure = true;
        if let Some(paths) = &self.path {
            let glob = if (locked || self.certain) && sense == Sense::Guards {
                let found = paths.matching_for_certain(&effect.path);
                let found = found.filter(|(_, certain)| *certain || !self.certain);
                sure = found.is_none_or(|(_, certain)| certain);
                found.map(|(glob, _)| glob)
            } else {
                sense.glob(paths, &effect.path)
            };
            let glob = glob.or_else(|| {
                // Who removes a directory removes what is in it. Who reads one from top to bottom reads
                // it, too, but is not after everything that lies somewhere deep below.
                let near = matches!(effect.does, Does::Read | Does::Run);
                (sense == Sense::Guards && effect.reaches_below()).then(|| paths.below(&effect.path, near))?
            });
            let glob = glob.ok_or_else(|| {
                (3, tell.say(|| format!("`{}` is none of {}", effect.path.text, paths.list())))
            })?;
            by_glob = tell.say(|| format!(" (`{glob}`)"));
        }
        if self.not.iter().any(|inner| inner.check(effect, sense.other(), locked, Tell::Nothing).is_ok()) {
            return Err((4, tell.say(|| format!("an exception holds for {}", what()))));
        }
        let why = tell.say(|| {
            format!("`{}` {}{by_glob}", effect.by, doing(effect.does) + " `" + &effect.path.text + "`")
        });
        Ok(Held { why, sure, doubt: OPEN_PATTERN })
    }
}

fn doing(does: Does) -> String {
    let word = match does {
        Does::Read => "reads",
        Does::Write => "writes",
        Does::Append => "appends to",
        Does::Delete => "deletes",
        Does::Move => "moves",
        Does::Permit => "changes who may use",
        Does::Run => "runs",
    };
    word.to_owned()
}
