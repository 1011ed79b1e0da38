// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads Dockerfiles: the `RUN` commands, which run in the image.

use super::{CommandText, FileName, RunLocation, quote_word};

pub(crate) fn matches_name(name: &FileName<'_>) -> bool {
    let stem = name.file.split('.').next().unwrap_or_default();
    matches!(stem, "Dockerfile" | "Containerfile") || matches!(name.ending, "Dockerfile" | "dockerfile")
}

pub(crate) fn read(text: &str) -> Vec<CommandText> {
    let escape = if text.lines().take(3).any(|line| line.replace(' ', "").eq_ignore_ascii_case("#escape=`")) {
        '`'
    } else {
        '\\'
    };
    let mut pieces = Vec::new();
    let mut lines = text.lines().enumerate().map(|(at, line)| (at + 1, line));
    while let Some((number, line)) = lines.next() {
        let Some(rest) = run_arguments(line) else { continue };
        let mut piece =
            CommandText { text: String::new(), lines: Vec::new(), location: RunLocation::Container };
        let mut part = Some((number, rest));
        while let Some((number, line)) = part {
            let trimmed = line.trim_end();
            let open = trimmed.strip_suffix(escape);
            // A comment between continued lines is not part of the command.
            let comment = !piece.lines.is_empty() && trimmed.trim_start().starts_with('#');
            if !comment {
                let own = open.map_or_else(|| trimmed.to_owned(), |own| format!("{own}\\"));
                piece.append(&CommandText::from_line(number, own));
            }
            part = if open.is_some() || comment { lines.next() } else { None };
        }
        drop_flags(&mut piece);
        for end in heredoc_delimiters(&piece.text) {
            for (number, line) in lines.by_ref() {
                piece.append(&CommandText::from_line(number, line.to_owned()));
                if line.trim_start_matches('\t') == end {
                    break;
                }
            }
        }
        if let Some(argv) =
            serde_json::from_str::<Vec<String>>(&piece.text).ok().filter(|argv| !argv.is_empty())
        {
            piece.text = argv.iter().map(|word| quote_word(word)).collect::<Vec<_>>().join(" ");
        }
        pieces.push(heredoc_script(&piece).unwrap_or(piece));
    }
    pieces
}

/// Returns the text after `RUN` or `ONBUILD RUN`.
fn run_arguments(line: &str) -> Option<&str> {
    let word = |line: &'_ str, name: &str| {
        let head = line.get(..name.len())?;
        let tail = line.get(name.len()..)?;
        (head.eq_ignore_ascii_case(name) && tail.starts_with([' ', '\t'])).then_some(name.len())
    };
    let mut rest = line.trim_start();
    if let Some(length) = word(rest, "ONBUILD") {
        rest = rest.get(length..)?.trim_start();
    }
    let length = word(rest, "RUN")?;
    Some(rest.get(length..)?.trim_start())
}

/// Removes the flags of `RUN`, such as `--mount=…`.
fn drop_flags(piece: &mut CommandText) {
    let mut rest = piece.text.as_str();
    let own = loop {
        let start = rest.trim_start_matches([' ', '\t', '\\', '\n']);
        if !start.starts_with("--") {
            break start;
        }
        rest = start.find(char::is_whitespace).and_then(|at| start.get(at..)).unwrap_or_default();
    };
    let before = piece.text.len() - own.len();
    let passed = piece.text.bytes().take(before).filter(|byte| *byte == b'\n').count();
    piece.lines.drain(..passed.min(piece.lines.len()));
    piece.text = own.to_owned();
}

/// Returns the delimiters of the here-documents that a text opens.
fn heredoc_delimiters(text: &str) -> Vec<String> {
    let opened = text.split("<<").skip(1).filter(|part| !part.starts_with('<')).filter_map(|part| {
        let part = part.trim_start_matches('-').trim_start();
        let end: String =
            part.chars().take_while(|c| !c.is_whitespace() && !";|&<>()".contains(*c)).collect();
        let end = end.replace(['\'', '"', '\\'], "");
        // `1 << 2` does not open a here-document.
        end.starts_with(|c: char| c.is_alphabetic() || c == '_').then_some(end)
    });
    opened.collect()
}

/// Returns the script of `RUN <<EOF`, which is the here-document.
fn heredoc_script(piece: &CommandText) -> Option<CommandText> {
    let first = piece.text.lines().next()?.trim();
    let alone = first.starts_with("<<") && first.split_whitespace().count() == 1;
    let body: Vec<_> = piece.text.lines().skip(1).collect();
    let body = body.split_last().map(|(_, body)| body.join("\n"))?;
    let lines = piece.lines.iter().skip(1).copied().collect();
    alone.then_some(CommandText { text: body, lines, location: piece.location })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<(usize, String)> {
        read(text).into_iter().map(|piece| (piece.file_line(0), piece.text)).collect()
    }

    #[test]
    fn run_is_read_in_all_its_forms() {
        let text = "FROM x\nRUN --mount=type=cache,target=/c \\\n  a && \\\n  # no\n  b\nrun [\"c\", \"d e\"]\nRUN <<EOF\nf\ng\nEOF\n\
                    ONBUILD RUN h\nRUN cat <<E > x\ny\nE\nCOPY . .\n";
        assert_eq!(
            texts(text),
            [
                (3, "a && \\\n  b".to_owned()),
                (6, "'c' 'd e'".to_owned()),
                (8, "f\ng".to_owned()),
                (11, "h".to_owned()),
                (12, "cat <<E > x\ny\nE".to_owned()),
            ]
        );
    }

    #[test]
    fn lines_of_a_long_run_are_known() {
        let piece = read("FROM x\nRUN a && \\\n  # no\n  b\n").remove(0);
        assert_eq!(piece.lines, [2, 4]);
    }
}
