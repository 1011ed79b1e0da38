// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Suggestions for misspelt names.

use tenterhook_event::EventKind;

use crate::switches::{PROFILES, Profile};

/// The known name that is most similar to the written name; `None` if no name is similar.
pub(super) fn nearest<'a>(written: &str, words: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let lower = written.to_lowercase().replace(['_', '-'], "");
    words
        .map(|word| (distance(&lower, &word.to_lowercase()), word))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, word)| *distance <= 1 + word.len() / 5)
        .map(|(_, word)| word)
}

/// A hint for an unknown event name: the equivalent of another harness's event name, or the most similar known name.
pub(super) fn event_hint(profile: &Profile, written: &str) -> String {
    let foreign = PROFILES.iter().find_map(|other| Some((other, other.event(written)?)));
    if let Some((other, row)) = foreign
        && row.kind != EventKind::Other
        && let Some(ours) = profile.events.iter().find(|ours| ours.kind == row.kind)
    {
        return format!("`{written}` is the name in {}; use `{}`", other.about, ours.name);
    }
    let names: Vec<&str> = profile.events.iter().map(|row| row.name).collect();
    match nearest(written, names.iter().copied()) {
        Some(name) => format!("did you mean `{name}`?"),
        None => format!("known: {}", names.join(", ")),
    }
}

/// Number of characters that must change to turn one text into the other.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, letter) in one.chars().enumerate() {
        let mut left = at + 1;
        let mut next = vec![left];
        for (pair, against) in row.windows(2).zip(&other) {
            let [diagonal, above] = pair else { continue };
            left = (above + 1).min(left + 1).min(diagonal + usize::from(letter != *against));
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find_profile;

    #[test]
    fn slips_and_foreign_names_are_told_apart() {
        let hint = |profile: &str, name: &str| event_hint(find_profile(profile).unwrap(), name);
        assert_eq!(hint("gemini", "BeforTool"), "did you mean `BeforeTool`?");
        assert_eq!(hint("gemini", "PreToolUse"), "`PreToolUse` is the name in Claude Code; use `BeforeTool`");
        assert_eq!(hint("claude", "PreToolUsed"), "did you mean `PreToolUse`?");
        assert!(hint("claude", "xyz").starts_with("known: "));
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
