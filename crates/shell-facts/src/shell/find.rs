// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `find`: what it would hand to the commands it runs, and to those it is piped into.

use super::word::Word;

/// More starting points, or more names, are any.
const ROOTS: usize = 8;
const NAMES: usize = 64;

/// Tests whose value names what is found.
const NAMING: &[&str] =
    &["-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex", "-lname"];
/// Other tests that leave most things alone, as a rule.
const NARROWING: &[&str] = &[
    "-empty",
    "-newer",
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

/// The commands that `find` with these words would run, with `{}` for what it finds.
pub(super) fn commands(words: &[Word]) -> Vec<&[Word]> {
    let mut commands = Vec::new();
    let mut rest = words;
    while let Some((word, after)) = rest.split_first() {
        rest = after;
        if matches!(word.text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir") {
            let end = after.iter().position(|word| word.is(";") || word.is("+")).unwrap_or(after.len());
            let (inner, behind) = after.split_at_checked(end).unwrap_or((after, &[]));
            rest = behind;
            commands.push(inner);
        }
    }
    commands
}

/// What it would find, as patterns: some things below a starting point, or all of them.
pub(crate) fn targets(words: &[Word]) -> Vec<Word> {
    let is_option = |word: &&Word| matches!(word.text.as_str(), "-H" | "-L" | "-P");
    let roots: Vec<_> = words
        .iter()
        .skip_while(is_option)
        .take_while(|word| !word.text.starts_with(['-', '(', '!']))
        .cloned()
        .collect();
    let tests = words.iter().position(|word| word.text.starts_with(['-', '(', '!']) && !is_option(&word));
    let tests = tests.and_then(|at| words.get(at..)).unwrap_or_default();
    let roots = if roots.is_empty() { vec![Word::literal(".")] } else { roots };
    let found = narrowed(tests);
    let below = |root: &Word| -> Vec<Word> {
        let ends = match &found {
            None => vec!["/**".to_owned()],
            Some(names) => names.iter().map(|name| format!("/**{name}")).collect(),
        };
        let one = |end: String| Word {
            text: format!("{}{end}", root.text.trim_end_matches('/')),
            shape: format!("{}{end}", root.shape.trim_end_matches('/')),
            pattern: true,
            ..root.clone()
        };
        ends.into_iter().map(one).collect()
    };
    let mut targets: Vec<_> = roots.iter().take(ROOTS).flat_map(below).collect();
    if roots.len() > ROOTS {
        targets.push(Word { text: "{}".into(), shape: "*".into(), dynamic: true, ..Word::default() });
    }
    targets
}

/// The names it is limited to; `None` when it may find anything.
fn narrowed(tests: &[Word]) -> Option<Vec<String>> {
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
        match names_of(side) {
            Some(found) => names.extend(found),
            // `-path x -prune` and what has no action of its own does nothing.
            None if !grouped && acts_elsewhere || side.iter().any(|word| word.is("-prune")) => {}
            None => return None,
        }
    }
    Some(names).filter(|names| !names.is_empty() && names.len() <= NAMES)
}

/// What one side of `-o` is limited to.
fn names_of(side: &[Word]) -> Option<Vec<String>> {
    let mut narrow = None;
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
        if NAMING.contains(&text) && !negated {
            let value = value.filter(|value| !value.dynamic).map_or("x*", |value| value.text.as_str());
            if value.contains(|c: char| c.is_alphanumeric() || matches!(c, '~' | '#')) {
                // A name that is known from its first letter on begins behind a slash.
                let name = match text {
                    "-name" | "-iname" if value.starts_with(char::is_alphanumeric) => format!("/{value}"),
                    _ if text.ends_with("name") => value.to_owned(),
                    _ => "/*x*".to_owned(),
                };
                narrow = Some(name);
            }
        } else if NARROWING.contains(&text) && !negated && narrow.is_none() {
            narrow = Some("/…".to_owned());
        }
        negated = false;
    }
    narrow.map(|name| vec![name])
}

/// The words with every `{}` replaced.
pub(super) fn replace(words: &[Word], target: &Word) -> Vec<Word> {
    let put = |word: &Word| {
        if !word.text.contains("{}") {
            return word.clone();
        }
        // `{}` alone is what was found; in a longer word its letters are.
        Word {
            text: word.text.replace("{}", &target.text),
            shape: word.shape.replace("{}", &target.shape),
            dynamic: word.dynamic || target.dynamic,
            pattern: word.pattern || target.pattern,
            from: [word.from.as_slice(), &target.from].concat(),
            ..word.clone()
        }
    };
    words.iter().map(put).collect()
}

/// Whether `git` with these words prints the files it knows.
pub(super) fn lists_files(words: &[Word]) -> bool {
    let lists = words.first().is_some_and(|verb| verb.is("ls-files"))
        || words.first().is_some_and(|verb| verb.is("ls-tree"))
            && words.iter().any(|word| word.is("-r") || word.is("--name-only"));
    lists && words.iter().all(|word| !word.dynamic)
}

/// What it prints, as patterns: those of a kind, or all of them.
pub(super) fn listed_files(words: &[Word]) -> Vec<Word> {
    const SOME: &[&str] =
        &["-m", "-d", "-o", "-u", "-i", "--modified", "--deleted", "--others", "--unmerged", "--ignored"];
    let named = words.iter().skip(1).filter(|word| !word.text.starts_with('-') && !is_revision(&word.text));
    let named: Vec<Word> = named.cloned().collect();
    let few = words.iter().any(|word| SOME.contains(&word.text.as_str()));
    let below = |end: &str| Word { text: end.into(), shape: end.into(), pattern: true, ..Word::default() };
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

/// The command that `fd` with these words would run.
pub(super) fn fd_command(words: &[Word]) -> Option<&[Word]> {
    let runs = |word: &Word| matches!(word.text.as_str(), "-x" | "-X" | "--exec" | "--exec-batch");
    let at = words.iter().position(runs)?;
    words.get(at + 1..)?.split(|word| word.is(";")).next()
}

/// What `fd PATTERN PATH…` would find.
pub(super) fn fd_targets(words: &[Word]) -> Vec<Word> {
    const VALUES: &[&str] =
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
        if VALUES.contains(&text) {
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
        .map_or_else(|| vec![Word::literal(".")], <[_]>::to_vec);
    let below = |root: &Word| Word {
        text: format!("{}{end}", root.text),
        shape: format!("{}{end}", root.shape),
        pattern: true,
        ..root.clone()
    };
    roots.iter().map(below).collect()
}
