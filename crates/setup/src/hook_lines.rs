// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Inserts hooks into the user's `tenterhook.yaml`, which is otherwise unchanged.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use tenterhook_engine::load;
use tenterhook_harness_install::jsonc::{CreatedContainers, EditedText, SettingsError};
use tenterhook_harness_install::{EditCheckError, InstallWarning, SettingsEditor};

/// One hook, as written.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) id: String,
    /// Keys of the hook, one per line.
    pub(crate) lines: Vec<String>,
}

/// Hooks that belong in the file.
#[derive(Debug)]
pub(crate) struct HookLines {
    /// Name of the file in messages.
    pub(crate) name: String,
    pub(crate) items: Vec<Item>,
}

impl HookLines {
    fn load(&self, text: &str) -> load::LoadedHooks {
        let env = BTreeMap::new();
        load::load_settings(
            &self.name,
            text,
            &load::LoadContext { dir: Path::new("/"), home: None, env: &env },
        )
    }

    fn ids(&self, text: &str) -> BTreeSet<String> {
        self.load(text).hooks.iter().map(|hook| hook.id.to_string()).collect()
    }

    /// Whether the changed text is as usable as before.
    fn is_as_good(&self, before: &str, after: &str) -> bool {
        self.load(after).problems.len() <= self.load(before).problems.len()
    }
}

impl SettingsEditor for HookLines {
    fn insert(&self, text: &str, created: &CreatedContainers) -> Result<EditedText, SettingsError> {
        let known = self.ids(text);
        let missing: Vec<_> = self.items.iter().filter(|item| !known.contains(&item.id)).collect();
        let mut created = created.clone();
        if missing.is_empty() {
            return Ok(EditedText { text: text.to_owned(), created });
        }
        let Slot { at, indent, head } = slot(text)?;
        let block: String = missing.iter().map(|item| written(item, &indent)).collect();
        let (before, after) = text.split_at_checked(at).unwrap_or((text, ""));
        let text = format!("{before}{head}{block}{after}");
        created.lines.extend([head, block].into_iter().filter(|lines| !lines.is_empty()));
        Ok(EditedText { text, created })
    }

    fn remove(&self, text: &str, created: &CreatedContainers) -> Result<String, SettingsError> {
        let mut text = text.to_owned();
        for lines in created.lines.iter().rev() {
            let without = text.replacen(lines, "", 1);
            // A heading under which the user added something is kept.
            if self.is_as_good(&text, &without) {
                text = without;
            }
        }
        Ok(text)
    }

    fn contains(&self, text: &str, created: &CreatedContainers) -> Result<bool, SettingsError> {
        Ok(created.lines.iter().any(|lines| text.contains(lines)))
    }

    fn check(&self, before: &str, after: &str) -> Result<(), EditCheckError> {
        let (known, now) = (self.ids(before), self.ids(after));
        let missing = self.items.iter().map(|item| &item.id).chain(&known).find(|id| !now.contains(*id));
        match missing {
            Some(id) => {
                let why = self.load(after).problems.first().map(|problem| format!(": {}", problem.message));
                let why = why.unwrap_or_default();
                Err(EditCheckError::new(format!("the hook `{id}` would not be in force{why}")))
            }
            None if !self.is_as_good(before, after) => {
                Err(EditCheckError::new("something in it could not be used any more"))
            }
            None => Ok(()),
        }
    }

    fn is_empty_after_removal(&self, text: &str) -> bool {
        text.trim().is_empty()
    }

    fn required_texts(&self) -> Vec<String> {
        Vec::new()
    }

    fn warnings(&self, _text: &str) -> Result<Vec<InstallWarning>, SettingsError> {
        Ok(Vec::new())
    }
}

/// Position at which hooks are inserted.
struct Slot {
    at: usize,
    indent: String,
    /// Text that must precede them.
    head: String,
}

fn slot(text: &str) -> Result<Slot, SettingsError> {
    let mut lines = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        lines.push((start, line));
        start += line.len();
    }
    let is_said = |line: &str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let key = |line: &str, name: &str| {
        line.trim_start()
            .strip_prefix(name)
            .and_then(|rest| rest.strip_prefix(':'))
            .map(|rest| rest.trim().to_owned())
    };
    let is_open = |rest: &str| rest.is_empty() || rest.starts_with('#');
    let flaw = |number: usize| SettingsError {
        line: number + 1,
        column: 1,
        what: "`hooks` has a form to which no hook can be added: write it as a list, one hook per item"
            .to_owned(),
    };
    let found = lines.iter().position(|(_, line)| line.starts_with("hooks") && key(line, "hooks").is_some());
    let Some(mut number) = found else {
        let head = match text {
            blank if blank.trim().is_empty() => "hooks:\n".to_owned(),
            ends if ends.ends_with('\n') => "\nhooks:\n".to_owned(),
            _ => "\n\nhooks:\n".to_owned(),
        };
        return Ok(Slot { at: text.len(), indent: "  ".to_owned(), head });
    };
    loop {
        let (begin, line) = lines.get(number).copied().ok_or_else(|| flaw(number))?;
        if !["hooks", "list"].iter().filter_map(|name| key(line, name)).any(|rest| is_open(&rest)) {
            return Err(flaw(number));
        }
        let after = lines.iter().enumerate().skip(number + 1).find(|(_, (_, line))| is_said(line));
        let end = begin + line.len();
        let empty = Slot { at: end, indent: "  ".to_owned(), head: String::new() };
        let Some((next_number, (next, below))) = after else {
            return if line.ends_with('\n') { Ok(empty) } else { Err(flaw(number)) };
        };
        let indent: String = below.chars().take_while(|letter| *letter == ' ').collect();
        if below.trim_start().starts_with("- ") {
            return Ok(Slot { at: *next, indent, head: String::new() });
        }
        if indent.is_empty() {
            return Ok(empty);
        }
        // In a map, the list is one of its keys.
        let list = lines
            .iter()
            .enumerate()
            .skip(next_number)
            .take_while(|(_, (_, line))| !is_said(line) || line.starts_with(' '));
        let list = list.into_iter().find(|(_, (_, line))| key(line, "list").is_some());
        number = list.map(|(number, _)| number).ok_or_else(|| flaw(next_number))?;
    }
}

fn written(item: &Item, indent: &str) -> String {
    let mut text = String::new();
    for (number, line) in item.lines.iter().enumerate() {
        let lead = if number == 0 { "- " } else { "  " };
        text += &format!("{indent}{lead}{line}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hooks() -> HookLines {
        let lines = ["id: new", "on: PreToolUse", "match: \"Bash\"", "command: \"x\""];
        let item = Item { id: "new".to_owned(), lines: lines.map(str::to_owned).into() };
        HookLines { name: "tenterhook.yaml".to_owned(), items: vec![item] }
    }

    const OLD: &str = "- id: old   # mine\n    on: stop\n    command: y\n";

    #[test]
    fn hooks_go_in_and_out_without_a_trace() {
        for text in [
            String::new(),
            "# mine\ndaemon:\n  autostart: true".to_owned(),
            format!("hooks:\n  {OLD}"),
            format!("hooks: # all\n\n  # first\n  {OLD}\ndaemon: {{autostart: true}}\n"),
            format!("hooks:\n  enabled: true\n  list:\n  {OLD}"),
            "hooks:\ndaemon: {autostart: true}\n".to_owned(),
        ] {
            let edited = hooks().insert(&text, &CreatedContainers::default()).unwrap();
            hooks().check(&text, &edited.text).unwrap_or_else(|why| panic!("{why}\n{}", edited.text));
            assert_eq!(hooks().insert(&edited.text, &edited.created).unwrap(), edited, "twice is once");
            assert!(hooks().contains(&edited.text, &edited.created).unwrap());
            assert_eq!(hooks().remove(&edited.text, &edited.created).unwrap(), text);
        }
    }

    #[test]
    fn a_list_on_one_line_is_left_alone() {
        for text in ["hooks: []\n", "x: 1\nhooks: {list: []}\n"] {
            assert!(hooks().insert(text, &CreatedContainers::default()).is_err(), "{text}");
        }
    }

    #[test]
    fn a_heading_that_others_use_by_now_stays() {
        let edited = hooks().insert("", &CreatedContainers::default()).unwrap();
        let more = format!("{}  {OLD}", edited.text);
        assert_eq!(hooks().remove(&more, &edited.created).unwrap(), format!("hooks:\n  {OLD}"));
    }
}
