// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Inserts hooks into the user's `tenterhook.yaml`. The rest of the file is unchanged.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use tenterhook_engine::load;
use tenterhook_harness_install::jsonc::{CreatedContainers, EditedText, SettingsError};
use tenterhook_harness_install::{EditCheckError, InstallWarning, SettingsEditor};

/// A hook as written in the file.
#[derive(Debug)]
pub(crate) struct AdoptedHook {
    pub(crate) id: String,
    /// Keys of the hook, one per line.
    pub(crate) lines: Vec<String>,
}

/// Hooks to insert into the file.
#[derive(Debug)]
pub(crate) struct HookLines {
    /// Name of the file in messages.
    pub(crate) name: String,
    pub(crate) entries: Vec<AdoptedHook>,
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

    fn hook_ids(&self, text: &str) -> BTreeSet<String> {
        self.load(text).hooks.iter().map(|hook| hook.id.to_string()).collect()
    }

    /// Whether the changed text has at most as many problems as the text before the change.
    fn is_as_valid(&self, before: &str, after: &str) -> bool {
        self.load(after).problems.len() <= self.load(before).problems.len()
    }
}

impl SettingsEditor for HookLines {
    fn insert(&self, text: &str, created: &CreatedContainers) -> Result<EditedText, SettingsError> {
        let known = self.hook_ids(text);
        let missing: Vec<_> = self.entries.iter().filter(|entry| !known.contains(&entry.id)).collect();
        let mut created = created.clone();
        if missing.is_empty() {
            return Ok(EditedText { text: text.to_owned(), created });
        }
        let HookInsertPoint { at, indent, head } = find_insert_position(text)?;
        let block: String = missing.iter().map(|entry| format_entry(entry, &indent)).collect();
        let (before, after) = text.split_at_checked(at).unwrap_or((text, ""));
        let text = format!("{before}{head}{block}{after}");
        created.lines.extend([head, block].into_iter().filter(|lines| !lines.is_empty()));
        Ok(EditedText { text, created })
    }

    fn remove(&self, text: &str, created: &CreatedContainers) -> Result<String, SettingsError> {
        let mut text = text.to_owned();
        for lines in created.lines.iter().rev() {
            let without = text.replacen(lines, "", 1);
            // Keeps inserted lines whose removal would make the file invalid: the user may have added hooks below an
            // inserted heading.
            if self.is_as_valid(&text, &without) {
                text = without;
            }
        }
        Ok(text)
    }

    fn contains(&self, text: &str, created: &CreatedContainers) -> Result<bool, SettingsError> {
        Ok(created.lines.iter().any(|lines| text.contains(lines)))
    }

    fn check(&self, before: &str, after: &str) -> Result<(), EditCheckError> {
        let (known, now) = (self.hook_ids(before), self.hook_ids(after));
        let missing = self.entries.iter().map(|entry| &entry.id).chain(&known).find(|id| !now.contains(*id));
        match missing {
            Some(id) => {
                let why = self.load(after).problems.first().map(|problem| format!(": {}", problem.message));
                let why = why.unwrap_or_default();
                Err(EditCheckError::new(format!("hook `{id}` would not be loaded{why}")))
            }
            None if !self.is_as_valid(before, after) => {
                Err(EditCheckError::new("the change would make other settings invalid"))
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
struct HookInsertPoint {
    at: usize,
    indent: String,
    /// Text that must precede the hooks.
    head: String,
}

fn find_insert_position(text: &str) -> Result<HookInsertPoint, SettingsError> {
    let mut lines = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        lines.push((start, line));
        start += line.len();
    }
    let has_content = |line: &str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let key = |line: &str, name: &str| {
        line.trim_start()
            .strip_prefix(name)
            .and_then(|rest| rest.strip_prefix(':'))
            .map(|rest| rest.trim().to_owned())
    };
    let is_open = |rest: &str| rest.is_empty() || rest.starts_with('#');
    let unsupported_form = |number: usize| SettingsError {
        line: number + 1,
        column: 1,
        what: "cannot add a hook to `hooks` in this form: write it as a list, one hook per item".to_owned(),
    };
    let found = lines.iter().position(|(_, line)| line.starts_with("hooks") && key(line, "hooks").is_some());
    let Some(mut number) = found else {
        let head = match text {
            blank if blank.trim().is_empty() => "hooks:\n".to_owned(),
            ends if ends.ends_with('\n') => "\nhooks:\n".to_owned(),
            _ => "\n\nhooks:\n".to_owned(),
        };
        return Ok(HookInsertPoint { at: text.len(), indent: "  ".to_owned(), head });
    };
    loop {
        let (begin, line) = lines.get(number).copied().ok_or_else(|| unsupported_form(number))?;
        if !["hooks", "list"].iter().filter_map(|name| key(line, name)).any(|rest| is_open(&rest)) {
            return Err(unsupported_form(number));
        }
        let after = lines.iter().enumerate().skip(number + 1).find(|(_, (_, line))| has_content(line));
        let end = begin + line.len();
        let empty = HookInsertPoint { at: end, indent: "  ".to_owned(), head: String::new() };
        let Some((next_number, (next, below))) = after else {
            return if line.ends_with('\n') { Ok(empty) } else { Err(unsupported_form(number)) };
        };
        let indent: String = below.chars().take_while(|letter| *letter == ' ').collect();
        if below.trim_start().starts_with("- ") {
            return Ok(HookInsertPoint { at: *next, indent, head: String::new() });
        }
        if indent.is_empty() {
            return Ok(empty);
        }
        // `hooks` is a map here, and the list of hooks is the value of its key `list`.
        let list = lines
            .iter()
            .enumerate()
            .skip(next_number)
            .take_while(|(_, (_, line))| !has_content(line) || line.starts_with(' '));
        let list = list.into_iter().find(|(_, (_, line))| key(line, "list").is_some());
        number = list.map(|(number, _)| number).ok_or_else(|| unsupported_form(next_number))?;
    }
}

fn format_entry(entry: &AdoptedHook, indent: &str) -> String {
    let mut text = String::new();
    for (number, line) in entry.lines.iter().enumerate() {
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
        let entry = AdoptedHook { id: "new".to_owned(), lines: lines.map(str::to_owned).into() };
        HookLines { name: "tenterhook.yaml".to_owned(), entries: vec![entry] }
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
