// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Determines the files that `find`, `fd` and `git ls-files` pass to commands.

use super::word::ShellWord;

/// Maximum number of starting points. With more, any file may be found.
const MAX_ROOTS: usize = 8;
/// Maximum number of name patterns. With more, any file may be found.
const MAX_NAMES: usize = 64;

/// Placeholder for some of the files in a directory.
const PARTIAL_MATCH: &str = "/…";

/// Tests whose value is a pattern for names.
const NAME_TESTS: &[&str] =
    &["-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex", "-lname"];
/// Other tests that usually exclude most files.
const NARROWING_TESTS: &[&str] = &[
    "-empty",
    "-mtime",
    "-mmin",
    "-atime",
    "-amin",
    "-ctime",
    "-cmin",
    "-size",
    "-perm",
    "-user",
    "-uid",
    "-inum",
    "-samefile",
    "-xtype",
];

/// Returns the commands in `-exec` and similar actions, with `{}` for the files found.
pub(super) fn exec_commands(words: &[ShellWord]) -> Vec<&[ShellWord]> {
    let mut exec_commands = Vec::new();
    let mut rest = words;
    while let Some((word, after)) = rest.split_first() {
        rest = after;
        if matches!(word.text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir") {
            let end = after.iter().position(|word| word.is(";") || word.is("+")).unwrap_or(after.len());
            let (inner, behind) = after.split_at_checked(end).unwrap_or((after, &[]));
            rest = behind;
            exec_commands.push(inner);
        }
    }
    exec_commands
}

/// Returns patterns for the files that `find` finds: some or all files below each starting point.
pub(crate) fn find_targets(words: &[ShellWord]) -> Vec<ShellWord> {
    let is_option = |word: &&ShellWord| matches!(word.text.as_str(), "-H" | "-L" | "-P");
    let roots: Vec<_> = words
        .iter()
        .skip_while(is_option)
        .take_while(|word| !word.text.starts_with(['-', '(', '!']))
        .cloned()
        .collect();
    let tests = words.iter().position(|word| word.text.starts_with(['-', '(', '!']) && !is_option(&word));
    let tests = tests.and_then(|at| words.get(at..)).unwrap_or_default();
    let roots = if roots.is_empty() { vec![ShellWord::literal(".")] } else { roots };
    let found = name_limits(tests);
    let below = |root: &ShellWord| -> Vec<ShellWord> {
        let ends = match &found {
            None => vec!["/**".to_owned()],
            Some(names) => names.iter().map(|name| format!("/**{name}")).collect(),
        };
        let one = |end: String| ShellWord {
            text: format!("{}{end}", root.text.trim_end_matches('/')),
            shape: format!("{}{end}", root.shape.trim_end_matches('/')),
            pattern: true,
            ..root.clone()
        };
        ends.into_iter().map(one).collect()
    };
    let mut find_targets: Vec<_> = roots.iter().take(MAX_ROOTS).flat_map(below).collect();
    if roots.len() > MAX_ROOTS {
        find_targets.push(ShellWord {
            text: "{}".into(),
            shape: "*".into(),
            dynamic: true,
            ..ShellWord::default()
        });
    }
    find_targets
}

/// Returns the name patterns that the tests require; `None` if any file may be found.
fn name_limits(tests: &[ShellWord]) -> Option<Vec<String>> {
    let grouped = tests.iter().any(|word| word.is("("));
    let mut names = Vec::new();
    for side in tests.split(|word| word.is("-o") || word.is("-or")) {
        let acts = side.iter().any(|word| {
            matches!(
                word.text.as_str(),
                "-delete" | "-exec" | "-execdir" | "-ok" | "-okdir" | "-print" | "-print0"
            )
        });
        let acts_elsewhere =
            !acts && tests.iter().any(|word| word.is("-delete") || word.is("-exec") || word.is("-print"));
        match side_names(side) {
            Some(found) => names.extend(found),
            // `-path x -prune`, or an alternative without an action, finds nothing.
            None if !grouped && acts_elsewhere || side.iter().any(|word| word.is("-prune")) => {}
            None => return None,
        }
    }
    Some(names).filter(|names| !names.is_empty() && names.len() <= MAX_NAMES)
}

/// Returns the name patterns that one side of `-o` requires.
fn side_names(side: &[ShellWord]) -> Option<Vec<String>> {
    let (mut narrow, mut has_name) = (None, false);
    let mut negated = false;
    for (at, word) in side.iter().enumerate() {
        let text = word.text.as_str();
        if matches!(text, "-exec" | "-execdir" | "-ok" | "-okdir") {
            break;
        }
        if matches!(text, "!" | "-not") {
            negated = true;
            continue;
        }
        let value = side.get(at + 1);
        if NAME_TESTS.contains(&text) && !negated {
            let value = value.filter(|value| !value.dynamic).map_or("x*", |value| value.text.as_str());
            let is_name = matches!(text, "-name" | "-iname");
            if value.contains(|c: char| c.is_alphanumeric() || matches!(c, '~' | '#')) {
                // A known first character follows a slash, so that the pattern matches whole names.
                let name = match text {
                    _ if is_name && value.starts_with(char::is_alphanumeric) => format!("/{value}"),
                    _ if text.ends_with("name") => value.to_owned(),
                    _ => "/*x*".to_owned(),
                };
                // A file has to pass all tests; a test on its name is more specific than one on its directories.
                if is_name || !has_name {
                    (narrow, has_name) = (Some(name), is_name);
                }
            } else if value.contains(|c| !matches!(c, '*' | '?' | '.' | '[' | ']' | '!' | '^' | '/')) {
                narrow.get_or_insert_with(|| PARTIAL_MATCH.to_owned());
            }
        } else if is_narrowing(text, value) && !negated && narrow.is_none() {
            narrow = Some(PARTIAL_MATCH.to_owned());
        }
        negated = false;
    }
    narrow.map(|name| vec![name])
}

/// Whether a test usually excludes most files. Few files are symbolic links, sockets or pipes.
fn is_narrowing(test: &str, value: Option<&ShellWord>) -> bool {
    let is_rare_type = || value.is_some_and(|value| ["l", "p", "s"].iter().any(|kind| value.is(kind)));
    NARROWING_TESTS.contains(&test) || test.starts_with("-newer") || test == "-type" && is_rare_type()
}

/// Replaces every `{}` in the words by the target.
pub(super) fn replace_placeholder(words: &[ShellWord], target: &ShellWord) -> Vec<ShellWord> {
    let replace_in = |word: &ShellWord| {
        if !word.text.contains("{}") {
            return word.clone();
        }
        // A word may contain `{}` with other text around it.
        ShellWord {
            text: word.text.replace("{}", &target.text),
            shape: word.shape.replace("{}", &target.shape),
            dynamic: word.dynamic || target.dynamic,
            pattern: word.pattern || target.pattern,
            from: [word.from.as_slice(), &target.from].concat(),
            ..word.clone()
        }
    };
    words.iter().map(replace_in).collect()
}

/// Whether `git` with these words lists files.
pub(super) fn lists_files(words: &[ShellWord]) -> bool {
    let lists = words.first().is_some_and(|verb| verb.is("ls-files"))
        || words.first().is_some_and(|verb| verb.is("ls-tree"))
            && words.iter().any(|word| word.is("-r") || word.is("--name-only"));
    lists && words.iter().all(|word| !word.dynamic)
}

/// Returns patterns for the files that `git ls-files` lists.
pub(super) fn listed_files(words: &[ShellWord]) -> Vec<ShellWord> {
    const PARTIAL_LISTS: &[&str] =
        &["-m", "-d", "-o", "-u", "-i", "--modified", "--deleted", "--others", "--unmerged", "--ignored"];
    let named = words.iter().skip(1).filter(|word| !word.text.starts_with('-') && !is_revision(&word.text));
    let named: Vec<ShellWord> = named.cloned().collect();
    let few = words.iter().any(|word| PARTIAL_LISTS.contains(&word.text.as_str()));
    let below =
        |end: &str| ShellWord { text: end.into(), shape: end.into(), pattern: true, ..ShellWord::default() };
    match named.as_slice() {
        [] if few => vec![below("./**/…")],
        [] => vec![below("./**")],
        named => named
            .iter()
            .map(|word| match word.text.as_str() {
                "." | ":/" | "*" => below("./**"),
                text if text.contains(['*', '?', ':']) => below("./**/…"),
                text => below(&format!("{}/**/…", text.trim_end_matches('/'))),
            })
            .collect(),
    }
}

fn is_revision(text: &str) -> bool {
    text.starts_with("HEAD") || matches!(text, "main" | "master")
}

/// Returns the command that `fd` runs for each file.
pub(super) fn fd_command(words: &[ShellWord]) -> Option<&[ShellWord]> {
    let runs = |word: &ShellWord| matches!(word.text.as_str(), "-x" | "-X" | "--exec" | "--exec-batch");
    let at = words.iter().position(runs)?;
    words.get(at + 1..)?.split(|word| word.is(";")).next()
}

/// Returns patterns for the files that `fd PATTERN PATH…` finds.
pub(super) fn fd_targets(words: &[ShellWord]) -> Vec<ShellWord> {
    const VALUE_OPTIONS: &[&str] =
        &["-t", "-e", "-E", "-d", "-S", "-o", "-j", "-c", "--type", "--extension", "--exclude"];
    let mut operands = Vec::new();
    let mut rest = words;
    let mut limited = false;
    while let Some((word, after)) = rest.split_first() {
        rest = after;
        let text = word.text.as_str();
        if matches!(text, "-x" | "-X" | "--exec" | "--exec-batch") {
            break;
        }
        limited |= matches!(text, "-e" | "--extension" | "-S");
        if VALUE_OPTIONS.contains(&text) {
            rest = after.get(1..).unwrap_or_default();
        } else if !text.starts_with('-') {
            operands.push(word.clone());
        }
    }
    let limited =
        limited || operands.first().is_some_and(|pattern| pattern.text.contains(char::is_alphanumeric));
    let end = if limited { "/**/…" } else { "/**" };
    let roots = operands
        .get(1..)
        .filter(|roots| !roots.is_empty())
        .map_or_else(|| vec![ShellWord::literal(".")], <[_]>::to_vec);
    let below = |root: &ShellWord| ShellWord {
        text: format!("{}{end}", root.text),
        shape: format!("{}{end}", root.shape),
        pattern: true,
        ..root.clone()
    };
    roots.iter().map(below).collect()
}
