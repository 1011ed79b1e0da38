// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Programs that read files, or edit them in place when told to.

use super::super::Word;
use super::Does::{self, Delete, Read, Write};
use super::given::{Given, Touch};

fn each(does: Does, words: &[&Word], from: usize) -> Vec<Touch> {
    words.iter().skip(from).map(|word| Touch::new(does, word)).collect()
}

pub(super) fn sed(given: &Given<'_>) -> Vec<Touch> {
    let script = usize::from(!given.has(&["e", "f", "expression", "file"]));
    let edits = given.has(&["i", "in-place"])
        // `-i.bak`, `-i ''`: the letters behind it are a suffix.
        || given.words.iter().any(|word| word.text.starts_with("-i") || word.is("-I"));
    let scripts = given
        .options
        .iter()
        .filter_map(|option| option.value.as_ref())
        .chain(given.operands.first().copied());
    // Nothing is left of a file from which every line is taken.
    if edits && scripts.into_iter().any(|word| takes_every_line(&word.text)) {
        return each(Delete, &given.operands, script);
    }
    each(if edits { Write } else { Read }, &given.operands, script)
}

fn takes_every_line(script: &str) -> bool {
    let script: String = script.chars().filter(|c| !c.is_whitespace() && *c != ';').collect();
    matches!(
        script.as_str(),
        "d" | "1,$d"
            | "0,$d"
            | "/./d"
            | "/.*/d"
            | "/^/d"
            | "/$/d"
            | "Q"
            | "1Q"
            | "s/.*//"
            | "s/.*//g"
            | "s/.//g"
            | "1,$!p"
    )
}

/// `perl -pi -e '…' FILES`, `ruby -i -pe '…' FILES`: what stands behind the code.
pub(super) fn in_place(given: &Given<'_>) -> Vec<Touch> {
    let (mut edits, mut goes_through, mut code, mut prints_all) = (false, false, false, false);
    let mut rest = given.words;
    while let Some((word, after)) = rest.split_first() {
        let Some(letters) = word.text.strip_prefix('-').filter(|letters| !letters.starts_with('-')) else {
            break;
        };
        rest = after;
        for letter in letters.chars() {
            match letter {
                'i' => edits = true,
                'p' => (goes_through, prints_all) = (true, true),
                'n' => goes_through = true,
                'e' | 'E' => code = true,
                _ => {}
            }
            // What follows belongs to these.
            if matches!(letter, 'i' | 'M' | 'm' | 'I' | 'F' | 'e' | 'E') {
                prints_all |= letter == 'i' && letters.contains('p');
                if letter == 'i' && letters.ends_with(['e', 'E']) && letters.len() < 6 {
                    code = true;
                }
                break;
            }
        }
        if letters.ends_with(['e', 'E']) && code {
            rest = rest.get(1..).unwrap_or_default();
        }
    }
    if !code || !(edits || goes_through) {
        return Vec::new();
    }
    // Without a word that prints, nothing is left.
    let prints = |word: &Word| {
        let text = word.text.as_str();
        !text.starts_with('-')
            && ["print", "say", "puts", "write", "$<", "system", "open"]
                .iter()
                .any(|verb| text.contains(verb))
    };
    let empties = edits && !prints_all && !given.words.iter().any(prints);
    let does = match edits {
        true if empties => Delete,
        true => Write,
        false => Read,
    };
    rest.iter().filter(|word| !word.is("--")).map(|word| Touch::new(does, word)).collect()
}

pub(super) fn awk(given: &Given<'_>) -> Vec<Touch> {
    let edits = given.words.windows(2).any(|pair| {
        matches!(pair, [option, value] if (option.is("-i") || option.is("--include")) && value.is("inplace"))
    }) || given.words.iter().any(|word| word.is("-iinplace"));
    let script = given.words.iter().position(|word| word.is("-f") || word.is("--file"));
    let script = script.and_then(|at| given.words.get(at + 1));
    let mut touches: Vec<_> = script.map(|word| Touch::new(Read, word)).into_iter().collect();
    let operands = given.operands.iter().copied().filter(|word| !word.is("inplace") && Some(*word) != script);
    let operands = operands.skip(usize::from(script.is_none()));
    // `NAME=value` among the files sets a variable.
    let rest: Vec<&Word> = operands.filter(|word| !is_assignment(&word.text)).collect();
    touches.extend(each(if edits { Write } else { Read }, &rest, 0));
    touches
}

fn is_assignment(text: &str) -> bool {
    let name = text.split_once('=').map(|(name, _)| name);
    name.is_some_and(|name| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_'))
}

/// An editor is opened to write.
pub(super) fn editor(given: &Given<'_>) -> Vec<Touch> {
    let mut files = Vec::new();
    let mut rest = given.words;
    while let Some((word, after)) = rest.split_first() {
        rest = after;
        let text = word.text.as_str();
        // The last letter of `-sc CMD` takes the next word.
        let takes = matches!(text, "--cmd" | "--eval")
            || text.starts_with('-') && text.ends_with(['c', 'u', 'S', 'T']);
        if takes {
            rest = after.get(1..).unwrap_or_default();
        } else if !text.starts_with(['-', '+']) {
            files.push(Touch::new(Write, word));
        }
    }
    files
}

pub(super) fn yq(given: &Given<'_>) -> Vec<Touch> {
    let does = if given.has(&["i", "inplace", "in-place"]) { Write } else { Read };
    let mut operands = given.operands.clone();
    if operands.first().is_some_and(|word| matches!(word.text.as_str(), "e" | "eval" | "ea" | "eval-all")) {
        operands.remove(0);
    }
    each(does, &operands, 1)
}

/// Editors of settings: they write only with a verb or an option that says so.
pub(super) fn settings(given: &Given<'_>) -> Vec<Touch> {
    const VERBS: &[&str] = &[
        "--set", "--del", "--merge", "put", "delete", "set", "rm", "write", "-I", "-replace", "-remove",
        "-insert", "-c",
    ];
    let writes = given.words.iter().any(|word| VERBS.contains(&word.text.as_str()));
    let does = if writes { Write } else { Read };
    given.operands.iter().filter(|word| word.text.contains('/')).map(|word| Touch::new(does, word)).collect()
}
