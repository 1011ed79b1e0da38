// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Patch texts → the files they touch and the lines they add.
//!
//! Two forms: the one of `apply_patch` (`*** Update File: x`), and diffs as `diff` and `git` write them.

use super::Does;

/// One file of a patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PatchFile {
    pub(crate) path: String,
    pub(crate) does: Does,
    /// The lines that are added, without their `+`.
    pub(crate) added: String,
}

/// More files than anybody patches at once.
const MOST_FILES: usize = 2_000;

/// The files a patch text names, in order. Linear in the text.
pub(crate) fn read(text: &str) -> Vec<PatchFile> {
    let mut patch = Patch::default();
    for line in text.lines() {
        if patch.files.len() >= MOST_FILES {
            break;
        }
        if !patch.marker(line) && !patch.header(line) {
            patch.line(line);
        }
    }
    patch.files
}

#[derive(Default)]
struct Patch<'a> {
    files: Vec<PatchFile>,
    /// What a diff calls the file before; `None` for one that is new.
    before: Option<&'a str>,
    /// Lines of the current piece that are still to come: taken away, and added.
    left: (usize, usize),
    /// Whether the text is in the form of `apply_patch`.
    marked: bool,
}

impl<'a> Patch<'a> {
    fn push(&mut self, path: &str, does: Does) {
        let path = path.trim();
        if !path.is_empty() && path != "/dev/null" {
            self.files.push(PatchFile { path: path.to_owned(), does, added: String::new() });
        }
    }

    /// `*** Add File: x` and its like.
    fn marker(&mut self, line: &str) -> bool {
        let Some(rest) = line.strip_prefix("*** ") else { return false };
        // Context diffs have `*** 1,5 ****`.
        if let Some(path) = rest.strip_prefix("Add File: ").or_else(|| rest.strip_prefix("Update File: ")) {
            self.push(path, Does::Write);
        } else if let Some(path) = rest.strip_prefix("Delete File: ") {
            self.push(path, Does::Delete);
        } else if let Some(path) = rest.strip_prefix("Move to: ") {
            if let Some(last) = self.files.last_mut() {
                last.does = Does::Move;
            }
            self.push(path, Does::Write);
        } else {
            return false;
        }
        self.marked = true;
        self.left = (0, 0);
        true
    }

    /// The lines of a diff that name files.
    fn header(&mut self, line: &'a str) -> bool {
        if self.marked || self.left != (0, 0) {
            return false;
        }
        if let Some(name) = line.strip_prefix("--- ") {
            self.before = Some(name_of(name));
        } else if let Some(name) = line.strip_prefix("+++ ") {
            let before = self.before.take();
            match (name_of(name), before) {
                ("/dev/null", Some(before)) => self.push(stripped(before), Does::Delete),
                (name, _) => {
                    let name = stripped(name);
                    // A rename has named it already.
                    if self.files.last().is_none_or(|last| last.path != name) {
                        self.push(name, Does::Write);
                    }
                }
            }
        } else if let Some(name) = line.strip_prefix("rename from ") {
            self.push(name, Does::Move);
        } else if let Some(name) = line.strip_prefix("rename to ").or_else(|| line.strip_prefix("copy to ")) {
            self.push(name, Does::Write);
        } else if let Some(range) = line.strip_prefix("@@ ") {
            self.left = lengths(range);
        } else if let Some(names) = line.strip_prefix("diff --git ") {
            self.before = names.split(" b/").next();
        } else if line.starts_with("deleted file mode") {
            // Without any lines, as for an empty file, nothing else says so.
            if let Some(name) = self.before.map(|name| stripped(name).to_owned())
                && self.files.last().is_none_or(|last| last.path != name)
            {
                self.push(&name, Does::Delete);
            }
        } else {
            return false;
        }
        true
    }

    /// A line of content.
    fn line(&mut self, line: &str) {
        let (taken, added) = &mut self.left;
        match line.as_bytes().first() {
            Some(b'+') => *added = added.saturating_sub(1),
            Some(b'-') => *taken = taken.saturating_sub(1),
            Some(b'\\') => {}
            _ => (*taken, *added) = (taken.saturating_sub(1), added.saturating_sub(1)),
        }
        if let (Some(text), Some(file)) = (line.strip_prefix('+'), self.files.last_mut()) {
            file.added.push_str(text);
            file.added.push('\n');
        }
    }
}

/// The name in a `---` or `+++` line, without the date behind it.
fn name_of(rest: &str) -> &str {
    rest.split('\t').next().unwrap_or(rest).trim().trim_matches('"')
}

/// Without the `a/` or `b/` of `git`.
fn stripped(name: &str) -> &str {
    name.strip_prefix("a/").or_else(|| name.strip_prefix("b/")).unwrap_or(name)
}

/// `-1,5 +1,7 @@`: how many lines there are of each side.
fn lengths(range: &str) -> (usize, usize) {
    let mut sides = range.split(' ').map(|side| match side.split_once(',') {
        Some((_, length)) => length.parse().unwrap_or(0),
        None => 1,
    });
    (sides.next().unwrap_or(0), sides.next().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn short(text: &str) -> Vec<String> {
        read(text).iter().map(|file| format!("{:?} {} {:?}", file.does, file.path, file.added)).collect()
    }

    #[test]
    fn the_form_of_apply_patch_is_read() {
        let text = "*** Begin Patch\n*** Add File: a.txt\n+one\n+two\n*** Update File: b.txt\n*** Move to: c.txt\n\
                    @@ fn x\n-old\n+new\n context\n*** Delete File: d.txt\n*** End Patch\n";
        assert_eq!(
            short(text),
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
        // Lines that look like headers are content as long as the piece lasts.
        assert_eq!(short(text), ["Write x.rs \"b\\n++ d\\n\""]);
        let gone = "--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n";
        assert_eq!(short(gone), ["Delete x \"\""]);
        let new = "--- /dev/null\n+++ b/dir/new\t2026-01-01\n@@ -0,0 +1 @@\n+x\n";
        assert_eq!(short(new), ["Write dir/new \"x\\n\""]);
        let renamed = "diff --git a/x b/y\nsimilarity index 90%\nrename from x\nrename to y\n--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n";
        assert_eq!(short(renamed), ["Move x \"\"", "Write y \"b\\n\""]);
        let empty = "diff --git a/x b/x\ndeleted file mode 100644\n";
        assert_eq!(short(empty), ["Delete x \"\""]);
    }

    #[test]
    fn any_text_is_no_patch_and_no_panic() {
        for text in
            ["", "*** ", "+++ ", "--- \n+++ ", "@@ -,+ @@", "*** Move to: x", "diff --git ", "rename to "]
        {
            let _ = read(text);
        }
        assert_eq!(read("hello\n+ world\n"), []);
    }
}
