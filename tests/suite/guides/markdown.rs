// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Parses a page of documentation: its commands, their output, and the files that the reader writes.

/// One fenced block.
pub(super) struct Block<'a> {
    /// Line of the opening fence, from 1.
    pub(super) line: usize,
    /// Text after the opening fence: `sh`, `console`, `yaml`.
    pub(super) language: &'a str,
    pub(super) text: String,
    /// Whether only blank lines separate this block from the previous one.
    is_adjacent: bool,
}

/// One step of a reader who follows a page.
#[derive(Debug, PartialEq)]
pub(super) enum Step {
    /// Runs a command; `output` is what the page shows, if anything.
    Command { line: usize, text: String, output: Option<String> },
    /// Writes a block to a file.
    File { path: String, text: String },
}

pub(super) fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut found: Vec<Block<'_>> = Vec::new();
    let mut open = false;
    let mut text_since = true;
    for (number, line) in page.lines().enumerate() {
        if let Some(language) = line.strip_prefix("```") {
            open = !open;
            if open {
                let block =
                    Block { line: number + 1, language, text: String::new(), is_adjacent: !text_since };
                found.push(block);
            }
            text_since = false;
        } else if open {
            let block = found.last_mut().unwrap();
            block.text.push_str(line);
            block.text.push('\n');
        } else {
            text_since |= !line.trim().is_empty();
        }
    }
    assert!(!open, "a block is not closed");
    found
}

/// The steps of a page. `files` lists the blocks that are written to a file; each block is identified by the beginning of its text.
pub(super) fn steps(page: &str, files: &[(&str, &str)]) -> Vec<Step> {
    let mut steps = Vec::new();
    for block in blocks(page) {
        if let Some((_, path)) = files.iter().find(|(start, _)| block.text.starts_with(start)) {
            steps.push(Step::File { path: (*path).to_owned(), text: block.text });
        } else if block.language == "console" {
            steps.extend(console(&block));
        } else if block.language == "sh" {
            assert!(!block.text.starts_with("#!"), "line {}: no file is named for this script", block.line);
            let commands = commands(&block.text).into_iter();
            steps.extend(commands.map(|(offset, text)| Step::Command {
                line: block.line + offset,
                text,
                output: None,
            }));
        } else if block.language == "text"
            && block.is_adjacent
            && let Some(Step::Command { output, .. }) = steps.last_mut()
        {
            *output = Some(block.text);
        }
    }
    steps
}

/// The commands of a shell block, without comments. Each command has its line number in the block, counted from 1.
pub(super) fn commands(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let (mut command, mut begun, mut quote, mut line) = (String::new(), 1, None, 1);
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match (quote, character) {
            (None, '#') if command.is_empty() || command.ends_with(char::is_whitespace) => {
                while characters.next_if(|next| *next != '\n').is_some() {}
                continue;
            }
            (None, '\n') => {
                let whole = std::mem::take(&mut command);
                if !whole.trim().is_empty() {
                    found.push((begun, whole.trim().to_owned()));
                }
                line += 1;
                begun = line;
                continue;
            }
            (None, '\'' | '"') => quote = Some(character),
            (Some(open), _) if open == character => quote = None,
            _ => {}
        }
        command.push(character);
        if character == '\\' && quote != Some('\'') {
            let escaped = characters.next().unwrap_or_default();
            line += usize::from(escaped == '\n');
            command.push(escaped);
        }
        line += usize::from(character == '\n');
    }
    assert!(quote.is_none() && command.trim().is_empty(), "a command does not end:\n{text}");
    found
}

/// Steps of a block with `$ command` lines, each followed by its output.
fn console(block: &Block<'_>) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for (offset, row) in block.text.lines().enumerate() {
        let line = block.line + offset + 1;
        if let Some(text) = row.strip_prefix("$ ") {
            let text = commands(&format!("{text}\n")).into_iter().map(|(_, text)| text).collect();
            steps.push(Step::Command { line, text, output: None });
        } else if let Some(Step::Command { output, .. }) = steps.last_mut() {
            let output = output.get_or_insert_default();
            output.push_str(row);
            output.push('\n');
        }
    }
    steps
}

#[test]
fn a_page_becomes_steps() {
    let page = "# Page\n\n```sh\necho 'it''s # no comment'   # it's a comment\n\necho a \\\n  b\n```\n\n```text\na b\n```\n\
                Then:\n\n```yaml\nversion: 1\n```\n\n```console\n$ ls\nx\n$ pwd   # here\n```\n\nAn example:\n\n```text\nz\n```\n";
    let command = |line, text: &str, output: Option<&str>| Step::Command {
        line,
        text: text.to_owned(),
        output: output.map(ToOwned::to_owned),
    };
    let file = Step::File { path: "~/p.yaml".to_owned(), text: "version: 1\n".to_owned() };
    assert_eq!(
        steps(page, &[("version: 1", "~/p.yaml")]),
        [
            command(4, "echo 'it''s # no comment'", None),
            command(6, "echo a \\\n  b", Some("a b\n")),
            file,
            command(20, "ls", Some("x\n")),
            command(22, "pwd", None),
        ]
    );
}
