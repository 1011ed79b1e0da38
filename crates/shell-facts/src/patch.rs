// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Patch texts → the files they touch and the lines they add.
//!
//! Two forms: the one of `apply_patch` (`*** Update File: x`), and diffs as `diff` and `git` write them. Tools
//! read diffs in different ways (how much of a name they strip, which of two names they take), so a file may
//! have aliases: names that another reading would give it.

use std::borrow::Cow;

use tenterhook_paths::Does;

/// What a patch text says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PatchText {
    /// The files that it touches, in order.
    pub files: Vec<PatchFile>,
    /// Added lines that belong to no file.
    pub loose: String,
    /// Whether there were more files than are read.
    pub cut: bool,
}

/// One file of a patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchFile {
    /// Its name.
    pub path: String,
    /// What is done to it.
    pub does: Does,
    /// The lines that are added, without their `+`.
    pub added: String,
    /// Names that another reading of the patch would give it.
    pub aliases: Vec<PatchAlias>,
}

/// Another name of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchAlias {
    /// The name.
    pub path: String,
    /// Whether it is only there to be safe: a rule that allows the file does not have to allow this name.
    pub usual: bool,
}

/// More files than one patch is expected to have.
const MOST_FILES: usize = 2_000;
/// Other readings of one file.
const MOST_ALIASES: usize = 16;

/// The files a patch text names, in order. Linear in the text.
pub fn read_patch(text: &str) -> PatchText {
    let mut patch = Patch::default();
    for line in text.lines() {
        if patch.text.files.len() >= MOST_FILES {
            patch.text.cut = true;
            break;
        }
        if !patch.marker(line) && !patch.header(line) {
            patch.line(line);
        }
    }
    patch.text
}

#[derive(Default)]
struct Patch<'a> {
    text: PatchText,
    /// What a diff calls the file before; `None` for one that is new.
    before: Option<Cow<'a, str>>,
    /// The name in an `Index:` or `diff --git` line, until a file of the patch has it.
    announced: Option<Cow<'a, str>>,
    /// The line before, if it names a file in the middle of other lines.
    unexpected: Option<Cow<'a, str>>,
    /// Lines of the current piece that are still to come: taken away, and added.
    left: (usize, usize),
    /// Whether the text is in the form of `apply_patch`.
    marked: bool,
}

impl<'a> Patch<'a> {
    fn push(&mut self, path: &str, does: Does) {
        let path = path.trim();
        if !path.is_empty() && path != "/dev/null" {
            let (path, aliases) = (path.to_owned(), Vec::new());
            self.text.files.push(PatchFile { path, does, added: String::new(), aliases });
        }
    }

    /// Another name for the last file, or a file if there is none.
    fn alias(&mut self, path: &str, usual: bool) {
        let path = path.trim();
        if path.is_empty() || path == "/dev/null" {
            return;
        }
        let Some(last) = self.text.files.last_mut() else { return self.push(path, Does::Write) };
        if last.path == path || last.aliases.iter().any(|alias| alias.path == path) {
            return;
        }
        if last.aliases.len() >= MOST_ALIASES {
            self.text.cut = true;
        } else {
            last.aliases.push(PatchAlias { path: path.to_owned(), usual });
        }
    }

    /// `*** Add File: x` and its like.
    fn marker(&mut self, line: &str) -> bool {
        let start = line.trim_start();
        let Some(rest) = start.strip_prefix("*** ") else { return false };
        let added = rest.strip_prefix("Add File:").or_else(|| rest.strip_prefix("Update File:"));
        let deleted = rest.strip_prefix("Delete File:");
        let moved = rest.strip_prefix("Move to:");
        let Some(path) = added.or(deleted).or(moved) else {
            // Context diffs have `*** 1,5 ****`.
            return false;
        };
        // Behind a space it may be a line of the file before, which is there if that one has lines at all.
        let has_lines = self.text.files.last().is_some_and(|last| last.does != Does::Delete);
        if start.len() < line.len() && has_lines {
            self.alias(path, true);
            return false;
        }
        if moved.is_some() {
            if let Some(last) = self.text.files.last_mut() {
                last.does = Does::Move;
            }
            self.push(path, Does::Write);
        } else {
            self.push(path, if deleted.is_some() { Does::Delete } else { Does::Write });
        }
        self.marked = true;
        self.left = (0, 0);
        true
    }

    /// The lines of a diff that name files.
    fn header(&mut self, line: &'a str) -> bool {
        if self.marked || self.left != (0, 0) {
            self.unexpected_header(line);
            return false;
        }
        if let Some(name) = line.strip_prefix("--- ") {
            self.before = Some(name_of(name));
        } else if let Some(name) = line.strip_prefix("+++ ") {
            self.named(&name_of(name));
        } else if let Some(name) = line.strip_prefix("rename from ") {
            self.push(&unquoted(name), Does::Move);
        } else if let Some(name) = line.strip_prefix("rename to ").or_else(|| line.strip_prefix("copy to ")) {
            self.push(&unquoted(name), Does::Write);
            self.announced = None;
        } else if let Some(range) = line.strip_prefix("@@ ") {
            self.push_announced(Does::Write);
            self.left = lengths(range);
        } else if let Some(names) = line.strip_prefix("diff --git ") {
            (self.before, self.announced) = git_names(names);
        } else if let Some(name) = line.strip_prefix("Index: ") {
            self.announced = Some(name_of(name));
        } else if line.starts_with("deleted file mode") {
            // Without any lines, as for an empty file, nothing else says so.
            self.push_announced(Does::Delete);
        } else if line.starts_with("new file mode") || line.starts_with("GIT binary patch") {
            self.push_announced(Does::Write);
        } else if line.starts_with("new mode ") {
            self.push_announced(Does::Permit);
        } else {
            return false;
        }
        true
    }

    /// `+++ x`, which is what the patch makes of `--- y`.
    fn named(&mut self, name: &str) {
        let before = self.before.take().unwrap_or_default();
        let announced = self.announced.take();
        if name == "/dev/null" {
            if self.text.files.last().is_none_or(|last| last.path != stripped(&before)) {
                self.push(stripped(&before), Does::Delete);
            }
            return self.aliases(&before, true);
        }
        // A rename has named it already.
        if self.text.files.last().is_none_or(|last| last.path != stripped(name)) {
            self.push(stripped(name), Does::Write);
        }
        let same = before.is_empty() || before == "/dev/null" || stripped(&before) == stripped(name);
        self.aliases(name, same && !name.contains(".."));
        // Which of the two names is patched differs between programs.
        if !same && self.text.files.last().is_some_and(|last| last.path == stripped(name)) {
            let renamed = self.text.files.iter().rev().nth(1).is_some_and(|file| file.does == Does::Move);
            self.alias(stripped(&before), renamed);
        }
        if let Some(announced) = announced {
            self.alias(stripped(&announced), true);
        }
    }

    /// The names of a file with more or less of their beginning, and without a date behind them.
    fn aliases(&mut self, name: &str, usual: bool) {
        if name != stripped(name) {
            self.alias(name, usual);
        } else if let Some((_, rest)) = name.split_once('/').filter(|(first, _)| !first.is_empty()) {
            self.alias(rest, true);
        }
        if let Some((first, _)) = name.split_once(char::is_whitespace) {
            self.alias(stripped(first), true);
        }
    }

    fn push_announced(&mut self, does: Does) {
        let Some(name) = self.announced.take() else { return };
        if self.text.files.last().is_none_or(|last| last.path != stripped(&name)) {
            self.push(stripped(&name), does);
            self.aliases(&name, true);
        }
    }

    /// Names of files where lines of content are expected: a tool that counts in another way, or that does
    /// not know the form around them, takes them for what they look like.
    fn unexpected_header(&mut self, line: &'a str) {
        let before = self.unexpected.take();
        if let Some(name) = line.strip_prefix("--- ") {
            self.unexpected = Some(name_of(name));
        } else if let (Some(name), Some(before)) = (line.strip_prefix("+++ "), before) {
            self.alias(stripped(&name_of(name)), true);
            self.alias(stripped(&before), true);
        }
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
        if let Some(text) = line.strip_prefix('+') {
            let file = self.text.files.last_mut();
            let added = file.map_or(&mut self.text.loose, |file| &mut file.added);
            added.push_str(text);
            added.push('\n');
        }
    }
}

/// The name in a `---` or `+++` line, without the date behind it.
fn name_of(rest: &str) -> Cow<'_, str> {
    unquoted(rest.split('\t').next().unwrap_or(rest))
}

/// The two names in `diff --git a/x b/x`.
fn git_names(names: &str) -> (Option<Cow<'_, str>>, Option<Cow<'_, str>>) {
    let split = names.rsplit_once(" b/").map(|(before, _)| before.len());
    let split = split.or_else(|| names.rfind(" \"b/"));
    match split.and_then(|at| names.split_at_checked(at)) {
        Some((before, after)) => (Some(unquoted(before)), Some(unquoted(after))),
        None => (Some(unquoted(names)), Some(unquoted(names))),
    }
}

/// A name without the quotes that `git` puts around unusual ones, and without the escapes in them.
fn unquoted(name: &str) -> Cow<'_, str> {
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
        let files = read_patch(text).files;
        files.iter().map(|file| format!("{:?} {} {:?}", file.does, file.path, file.added)).collect()
    }

    /// The aliases of all files; those that are only there to be safe in brackets.
    fn aliases(text: &str) -> Vec<String> {
        let show = |alias: PatchAlias| if alias.usual { format!("({})", alias.path) } else { alias.path };
        read_patch(text).files.into_iter().flat_map(|file| file.aliases.into_iter().map(show)).collect()
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
            let _ = read_patch(text);
        }
        assert_eq!(read_patch("hello\n+ world\n").files, []);
    }

    #[test]
    fn a_name_that_can_be_read_in_two_ways_has_both() {
        let usual = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n";
        assert_eq!(
            (short(usual), aliases(usual)),
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
        assert_eq!(short(quoted), ["Write .claude/settings.json \"x\\n\""]);
        let binary = "diff --git a/.git/hooks/x b/.git/hooks/x\nnew file mode 100755\nGIT binary patch\n";
        assert_eq!(short(binary), ["Write .git/hooks/x \"\""]);
        let index = "Index: .envrc\n====\n@@ -0,0 +1 @@\n+x\n";
        assert_eq!(short(index), ["Write .envrc \"x\\n\""]);
        let indented = "*** Begin Patch\n  *** Add File: x\n+a\n*** Delete File: y\n *** Add File: z\n+b\n";
        assert_eq!(short(indented), ["Write x \"a\\n\"", "Delete y \"\"", "Write z \"b\\n\""]);
        let lines: Vec<_> = (0..=MOST_FILES).map(|number| format!("*** Delete File: {number}\n")).collect();
        let many = lines.concat();
        assert!(read_patch(&many).cut);
        assert_eq!(read_patch("@@ -1 +1 @@\n-a\n+secret\n").loose, "secret\n");
    }
}
