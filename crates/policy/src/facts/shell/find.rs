// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `find`: what it would hand to the commands it runs, and to those it is piped into.

use super::word::Word;

const ROOTS: usize = 8;

/// Tests that leave the starting point itself alone, as a rule.
const NARROWING: &[&str] = &[
    "-name",
    "-iname",
    "-path",
    "-ipath",
    "-wholename",
    "-iwholename",
    "-regex",
    "-iregex",
    "-empty",
    "-newer",
    "-mtime",
    "-mmin",
    "-atime",
    "-ctime",
    "-size",
    "-mindepth",
];

/// The commands that `find` with these words would run.
pub(super) fn commands(words: &[Word]) -> Vec<Vec<Word>> {
    let found = targets(words);
    let mut commands = Vec::new();
    let mut rest = words;
    while let Some((word, after)) = rest.split_first() {
        rest = after;
        match word.text.as_str() {
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let end = after.iter().position(|word| word.is(";") || word.is("+")).unwrap_or(after.len());
                let (inner, behind) = after.split_at_checked(end).unwrap_or((after, &[]));
                rest = behind;
                commands.extend(found.iter().map(|target| replace(inner, target)));
            }
            "-delete" => {
                let remove = ["rm", "-r", "-f"].map(Word::literal);
                commands.extend(found.iter().map(|target| [&remove, std::slice::from_ref(target)].concat()));
            }
            _ => {}
        }
    }
    commands
}

/// What it would find: things below a starting point, or the starting point itself.
pub(super) fn targets(words: &[Word]) -> Vec<Word> {
    let narrowed = words.iter().any(|word| NARROWING.contains(&word.text.as_str()));
    let is_option = |word: &&Word| matches!(word.text.as_str(), "-H" | "-L" | "-P");
    let roots: Vec<_> = words
        .iter()
        .skip_while(is_option)
        .take_while(|word| !word.text.starts_with(['-', '(', '!']))
        .cloned()
        .collect();
    let roots = if roots.is_empty() { vec![Word::literal(".")] } else { roots };
    let mut targets: Vec<_> = roots
        .into_iter()
        .take(ROOTS)
        .map(|mut root| {
            if narrowed {
                root.text.push_str("/…");
                root.shape.push_str("/…");
            }
            root
        })
        .collect();
    if targets.len() == ROOTS {
        targets.push(Word { text: "{}".into(), shape: "*".into(), dynamic: true, ..Word::default() });
    }
    targets
}

/// The words with every `{}` replaced.
pub(super) fn replace(words: &[Word], target: &Word) -> Vec<Word> {
    let put = |word: &Word| {
        if !word.text.contains("{}") {
            return word.clone();
        }
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
