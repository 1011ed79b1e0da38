// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads patches: the files they change and the lines they add.
//!
//! Two formats are supported: the `apply_patch` format (`*** Update File: x`), and diffs as written by `diff` and
//! `git`. Tools interpret diffs differently: they strip different parts of a name, or choose another of two names. A
//! file may therefore have aliases, which are the names that other interpretations give it.

use std::borrow::Cow;

use tenterhook_paths::FileOp;

/// The content of a patch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PatchText {
    /// The changed files, in order.
    pub files: Vec<PatchFile>,
    /// Added lines outside any file.
    pub loose: String,
    /// Whether the patch has more files than the limit.
    pub cut: bool,
}

/// A file of a patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchFile {
    /// Name of the file.
    pub path: String,
    /// Operation on the file.
    pub does: FileOp,
    /// Added lines, without their `+`.
    pub added: String,
    /// Names that other interpretations of the patch give the file.
    pub aliases: Vec<PatchAlias>,
}

/// An alternative name of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchAlias {
    /// The alternative name.
    pub path: String,
    /// Whether the alias is only a precaution. A rule that allows the file does not have to allow a precautionary
    /// name.
    pub usual: bool,
}

/// Maximum number of files read from one patch.
const MAX_PATCH_FILES: usize = 2_000;
const MAX_ALIASES_PER_FILE: usize = 16;

/// Reads a patch in either format, in time linear in its length.
pub fn read_patch(text: &str) -> PatchText {
    let mut patch = PatchReader::default();
    for line in text.lines() {
        if patch.text.files.len() >= MAX_PATCH_FILES {
            patch.text.cut = true;
            break;
        }
        if !patch.read_marker(line) && !patch.read_header(line) {
            patch.read_content_line(line);
        }
    }
    patch.text
}

#[derive(Default)]
struct PatchReader<'a> {
    text: PatchText,
    /// Name of the file before the change, from a `---` line; `None` if there was no such line.
    old_name: Option<Cow<'a, str>>,
    /// Name in an `Index:` or `diff --git` line that has not been assigned to a file yet.
    announced_name: Option<Cow<'a, str>>,
    /// Name in the previous line, if that line is a header inside a hunk.
    header_in_hunk: Option<Cow<'a, str>>,
    /// Number of removed and added lines that remain in the current hunk.
    hunk_lines_left: (usize, usize),
    /// Whether the patch is in the format of `apply_patch`.
    is_apply_patch: bool,
}

impl<'a> PatchReader<'a> {
    fn push(&mut self, path: &str, does: FileOp) {
        let path = path.trim();
        if !path.is_empty() && path != "/dev/null" {
            let (path, aliases) = (path.to_owned(), Vec::new());
            self.text.files.push(PatchFile { path, does, added: String::new(), aliases });
        }
    }

    /// Adds an alias to the last file, or a new file if there is none.
    fn add_alias(&mut self, path: &str, usual: bool) {
        let path = path.trim();
        if path.is_empty() || path == "/dev/null" {
            return;
        }
        let Some(last) = self.text.files.last_mut() else { return self.push(path, FileOp::Write) };
        if last.path == path || last.aliases.iter().any(|alias| alias.path == path) {
            return;
        }
        if last.aliases.len() >= MAX_ALIASES_PER_FILE {
            self.text.cut = true;
        } else {
            last.aliases.push(PatchAlias { path: path.to_owned(), usual });
        }
    }

    /// Reads `*** Add File: x` and similar markers; false for other lines.
    fn read_marker(&mut self, line: &str) -> bool {
        let start = line.trim_start();
        let Some(rest) = start.strip_prefix("*** ") else { return false };
        let added = rest.strip_prefix("Add File:").or_else(|| rest.strip_prefix("Update File:"));
        let deleted = rest.strip_prefix("Delete File:");
        let moved = rest.strip_prefix("Move to:");
        let Some(path) = added.or(deleted).or(moved) else {
            // Context diffs have `*** 1,5 ****`.
            return false;
        };
        // An indented marker may be a context line of the previous file, unless that file is deleted and has no
        // lines.
        let has_lines = self.text.files.last().is_some_and(|last| last.does != FileOp::Delete);
        if start.len() < line.len() && has_lines {
            self.add_alias(path, true);
            return false;
        }
        if moved.is_some() {
            if let Some(last) = self.text.files.last_mut() {
                last.does = FileOp::Move;
            }
            self.push(path, FileOp::Write);
        } else {
            self.push(path, if deleted.is_some() { FileOp::Delete } else { FileOp::Write });
        }
        self.is_apply_patch = true;
        self.hunk_lines_left = (0, 0);
        true
    }

    /// Reads the header lines of a diff; false for other lines.
    fn read_header(&mut self, line: &'a str) -> bool {
        if self.is_apply_patch || self.hunk_lines_left != (0, 0) {
            self.unexpected_header(line);
            return false;
        }
        if let Some(name) = line.strip_prefix("--- ") {
            self.old_name = Some(header_name(name));
        } else if let Some(name) = line.strip_prefix("+++ ") {
            self.read_new_name(&header_name(name));
        } else if let Some(name) = line.strip_prefix("rename from ") {
            self.push(&unquote_name(name), FileOp::Move);
        } else if let Some(name) = line.strip_prefix("rename to ").or_else(|| line.strip_prefix("copy to ")) {
            self.push(&unquote_name(name), FileOp::Write);
            self.announced_name = None;
        } else if let Some(range) = line.strip_prefix("@@ ") {
            self.push_announced(FileOp::Write);
            self.hunk_lines_left = hunk_lengths(range);
        } else if let Some(names) = line.strip_prefix("diff --git ") {
            (self.old_name, self.announced_name) = git_names(names);
        } else if let Some(name) = line.strip_prefix("Index: ") {
            self.announced_name = Some(header_name(name));
        } else if line.starts_with("deleted file mode") {
            // For an empty file this is the only line about the deletion.
            self.push_announced(FileOp::Delete);
        } else if line.starts_with("new file mode") || line.starts_with("GIT binary patch") {
            self.push_announced(FileOp::Write);
        } else if line.starts_with("new mode ") {
            self.push_announced(FileOp::Permit);
        } else {
            return false;
        }
        true
    }

    /// Reads `+++ x`, the name after the change.
    fn read_new_name(&mut self, name: &str) {
        let before = self.old_name.take().unwrap_or_default();
        let announced = self.announced_name.take();
        if name == "/dev/null" {
            if self.text.files.last().is_none_or(|last| last.path != strip_side_prefix(&before)) {
                self.push(strip_side_prefix(&before), FileOp::Delete);
            }
            return self.add_name_variants(&before, true);
        }
        // A rename header has already added the file.
        if self.text.files.last().is_none_or(|last| last.path != strip_side_prefix(name)) {
            self.push(strip_side_prefix(name), FileOp::Write);
        }
        let same = before.is_empty()
            || before == "/dev/null"
            || strip_side_prefix(&before) == strip_side_prefix(name);
        self.add_name_variants(name, same && !name.contains(".."));
        // Programs differ in which of these names they patch.
        if !same && self.text.files.last().is_some_and(|last| last.path == strip_side_prefix(name)) {
            let renamed = self.text.files.iter().rev().nth(1).is_some_and(|file| file.does == FileOp::Move);
            self.add_alias(strip_side_prefix(&before), renamed);
        }
        if let Some(announced) = announced {
            self.add_alias(strip_side_prefix(&announced), true);
        }
    }

    /// Adds the names of a file with more or fewer leading components, and without a trailing date.
    fn add_name_variants(&mut self, name: &str, usual: bool) {
        if name != strip_side_prefix(name) {
            self.add_alias(name, usual);
        } else if let Some((_, rest)) = name.split_once('/').filter(|(first, _)| !first.is_empty()) {
            self.add_alias(rest, true);
        }
        if let Some((first, _)) = name.split_once(char::is_whitespace) {
            self.add_alias(strip_side_prefix(first), true);
        }
    }

    fn push_announced(&mut self, does: FileOp) {
        let Some(name) = self.announced_name.take() else { return };
        if self.text.files.last().is_none_or(|last| last.path != strip_side_prefix(&name)) {
            self.push(strip_side_prefix(&name), does);
            self.add_name_variants(&name, true);
        }
    }

    /// Reads file names inside a hunk. A tool that counts lines differently, or does not know the surrounding format,
    /// treats them as headers.
    fn unexpected_header(&mut self, line: &'a str) {
        let before = self.header_in_hunk.take();
        if let Some(name) = line.strip_prefix("--- ") {
            self.header_in_hunk = Some(header_name(name));
        } else if let (Some(name), Some(before)) = (line.strip_prefix("+++ "), before) {
            self.add_alias(strip_side_prefix(&header_name(name)), true);
            self.add_alias(strip_side_prefix(&before), true);
        }
    }

    /// Reads a line of content.
    fn read_content_line(&mut self, line: &str) {
        let (taken, added) = &mut self.hunk_lines_left;
        match line.as_bytes().first() {
            Some(b'+') => *added = added.saturating_sub(1),
            Some(b'-') => *taken = taken.saturating_sub(1),
            Some(b'\\') => {}
            _ => (*taken, *added) = (taken.saturating_sub(1), added.saturating_sub(1)),
        }
        if let Some(text) = line.strip_prefix('+') {
            let file = self.text.files.last_mut();
            let added = file.map_or(&mut self.text.loose, |file| &mut file.added);
            added.push_str(text);
            added.push('\n');
        }
    }
}

/// Returns the name in a `---` or `+++` line, without the date.
fn header_name(rest: &str) -> Cow<'_, str> {
    unquote_name(rest.split('\t').next().unwrap_or(rest))
}

/// Returns the two names in `diff --git a/x b/x`.
fn git_names(names: &str) -> (Option<Cow<'_, str>>, Option<Cow<'_, str>>) {
    let split = names.rsplit_once(" b/").map(|(before, _)| before.len());
    let split = split.or_else(|| names.rfind(" \"b/"));
    match split.and_then(|at| names.split_at_checked(at)) {
        Some((before, after)) => (Some(unquote_name(before)), Some(unquote_name(after))),
        None => (Some(unquote_name(names)), Some(unquote_name(names))),
    }
}

/// Removes the quotes and escapes that `git` uses for unusual names.
fn unquote_name(name: &str) -> Cow<'_, str> {
    let name = name.trim();
    let Some(inner) = name.strip_prefix('"') else { return Cow::Borrowed(name) };
    let inner = inner.strip_suffix('"').unwrap_or(inner);
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner.bytes().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next() {
            Some(b'n') => bytes.push(b'\n'),
            Some(b't') => bytes.push(b'\t'),
            Some(b'r') => bytes.push(b'\r'),
            Some(digit @ b'0'..=b'7') => {
                let mut value = u32::from(digit - b'0');
                for _ in 0..2 {
                    if let Some(next) = rest.next_if(|next| matches!(next, b'0'..=b'7')) {
                        value = value * 8 + u32::from(next - b'0');
                    }
                }
                bytes.push(u8::try_from(value & 0xff).unwrap_or_default());
            }
            Some(other) => bytes.push(other),
            None => {}
        }
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}

/// Removes the `a/` or `b/` prefix of `git`.
fn strip_side_prefix(name: &str) -> &str {
    name.strip_prefix("a/").or_else(|| name.strip_prefix("b/")).unwrap_or(name)
}

/// Returns the number of removed and added lines in `-1,5 +1,7 @@`.
fn hunk_lengths(range: &str) -> (usize, usize) {
    let mut sides = range.split(' ').map(|side| match side.split_once(',') {
        Some((_, length)) => length.parse().unwrap_or(0),
        None => 1,
    });
    (sides.next().unwrap_or(0), sides.next().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summarize(text: &str) -> Vec<String> {
        let files = read_patch(text).files;
        files.iter().map(|file| format!("{:?} {} {:?}", file.does, file.path, file.added)).collect()
    }

    /// Returns the aliases of all files; precautionary ones in parentheses.
    fn aliases(text: &str) -> Vec<String> {
        let show = |alias: PatchAlias| if alias.usual { format!("({})", alias.path) } else { alias.path };
        read_patch(text).files.into_iter().flat_map(|file| file.aliases.into_iter().map(show)).collect()
    }

    #[test]
    fn the_form_of_apply_patch_is_read() {
        let text = "*** Begin Patch\n*** Add File: a.txt\n+one\n+two\n*** Update File: b.txt\n*** Move to: c.txt\n\
                    @@ fn x\n-old\n+new\n context\n*** Delete File: d.txt\n*** End Patch\n";
        assert_eq!(
            summarize(text),
            [
                "Write a.txt \"one\\ntwo\\n\"",
                "Move b.txt \"\"",
                "Write c.txt \"new\\n\"",
                "Delete d.txt \"\""
            ]
        );
    }

    #[test]
    fn diffs_are_read() {
        let text = "diff --git a/x.rs b/x.rs\nindex 1..2 100644\n--- a/x.rs\n+++ b/x.rs\n@@ -1,2 +1,3 @@\n a\n+b\n--- c\n+++ d\n";
        // Inside a hunk, lines that look like headers are content.
        assert_eq!(summarize(text), ["Write x.rs \"b\\n++ d\\n\""]);
        let gone = "--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n";
        assert_eq!(summarize(gone), ["Delete x \"\""]);
        let new = "--- /dev/null\n+++ b/dir/new\t2026-01-01\n@@ -0,0 +1 @@\n+x\n";
        assert_eq!(summarize(new), ["Write dir/new \"x\\n\""]);
        let renamed = "diff --git a/x b/y\nsimilarity index 90%\nrename from x\nrename to y\n--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n";
        assert_eq!(summarize(renamed), ["Move x \"\"", "Write y \"b\\n\""]);
        let empty = "diff --git a/x b/x\ndeleted file mode 100644\n";
        assert_eq!(summarize(empty), ["Delete x \"\""]);
    }

    #[test]
    fn any_text_is_no_patch_and_no_panic() {
        for text in
            ["", "*** ", "+++ ", "--- \n+++ ", "@@ -,+ @@", "*** Move to: x", "diff --git ", "rename to "]
        {
            let _ = read_patch(text);
        }
        assert_eq!(read_patch("hello\n+ world\n").files, []);
    }

    #[test]
    fn a_name_that_can_be_read_in_two_ways_has_both() {
        let usual = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n";
        assert_eq!(
            (summarize(usual), aliases(usual)),
            (vec!["Write x \"b\\n\"".to_owned()], vec!["(b/x)".to_owned()])
        );
        let upwards = "--- a/../../x\n+++ b/../../x\n@@ -1 +1 @@\n-a\n+b\n";
        assert_eq!(aliases(upwards), ["b/../../x"]);
        let other = "--- a/.claude/settings.json\n+++ b/notes\n@@ -1 +1 @@\n-a\n+b\n";
        assert_eq!(aliases(other), ["b/notes", ".claude/settings.json"]);
        let deeper = "--- src/.git/hooks/pre-commit\n+++ src/.git/hooks/pre-commit\n@@ -1 +1 @@\n-a\n+b\n";
        assert_eq!(aliases(deeper), ["(.git/hooks/pre-commit)"]);
    }

    #[test]
    fn no_file_hides_behind_counts_forms_quotes_or_many_others() {
        let counted = "--- a/x\n+++ b/x\n@@ -1,900 +1,900 @@\n-a\n+b\n--- a/.git/config\n+++ b/.git/config\n";
        assert!(aliases(counted).contains(&"(.git/config)".to_owned()), "{:?}", aliases(counted));
        let mixed = "*** Begin Patch\n*** Add File: x\n+a\n--- /dev/null\n+++ b/.git/hooks/pre-commit\n@@ -0,0 +1 @@\n";
        assert!(aliases(mixed).contains(&"(.git/hooks/pre-commit)".to_owned()), "{:?}", aliases(mixed));
        let quoted = "--- /dev/null\n+++ \"b/.cl\\141ude/settings.json\"\n@@ -0,0 +1 @@\n+x\n";
        assert_eq!(summarize(quoted), ["Write .claude/settings.json \"x\\n\""]);
        let binary = "diff --git a/.git/hooks/x b/.git/hooks/x\nnew file mode 100755\nGIT binary patch\n";
        assert_eq!(summarize(binary), ["Write .git/hooks/x \"\""]);
        let index = "Index: .envrc\n====\n@@ -0,0 +1 @@\n+x\n";
        assert_eq!(summarize(index), ["Write .envrc \"x\\n\""]);
        let indented = "*** Begin Patch\n  *** Add File: x\n+a\n*** Delete File: y\n *** Add File: z\n+b\n";
        assert_eq!(summarize(indented), ["Write x \"a\\n\"", "Delete y \"\"", "Write z \"b\\n\""]);
        let lines: Vec<_> =
            (0..=MAX_PATCH_FILES).map(|number| format!("*** Delete File: {number}\n")).collect();
        let many = lines.concat();
        assert!(read_patch(&many).cut);
        assert_eq!(read_patch("@@ -1 +1 @@\n-a\n+secret\n").loose, "secret\n");
    }
}
