// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The examples of the descriptions, as facts.

use std::path::Path;

use serde_json::json;
use tenterhook_event::{Event, EventId, EventKind, Timestamp, ToolCall};
use tenterhook_programs::read_examples;

use crate::{Does, Facts, Surroundings, facts};

fn facts_of(line: &str) -> Facts {
    let (id, now) = (EventId::from_parts(0, 0), Timestamp::from_unix_ms(0));
    let mut event = Event::new(id, now, "claude-code", EventKind::PreTool, "PreToolUse");
    event.cwd = Some("/home/user/project".into());
    event.tool = Some(ToolCall::new("Bash", json!({ "command": line })));
    facts(&event, &Surroundings { home: Some("/home/user"), ..Surroundings::default() })
}

/// Whether a path, an address or a program is among the facts.
fn is_found(facts: &Facts, role: &str, word: &str) -> bool {
    let has_effect = |does: Does| {
        facts.effects.iter().any(|effect| effect.does == does && effect.path.text.ends_with(word))
    };
    match role {
        "delete" => has_effect(Does::Delete),
        "permit" => has_effect(Does::Permit),
        "append" => has_effect(Does::Append),
        "move" => has_effect(Does::Move),
        "edit" => has_effect(Does::Write) || has_effect(Does::Read) || has_effect(Does::Delete),
        "url" | "download" => facts.urls.iter().any(|url| url.text == word),
        "inner" => facts.commands.iter().any(|command| command.raw == word),
        _ => true,
    }
}

#[test]
fn the_words_of_every_example_are_among_the_facts() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs");
    let mut missing = Vec::new();
    let mut checked = 0;
    for entry in std::fs::read_dir(directory).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        for example in read_examples(&text) {
            let expects = |role: &str| example.expected.iter().any(|(key, _)| key == role);
            // Code of other languages is read elsewhere.
            let is_code = example.line.starts_with("pwsh ");
            if is_code
                || expects("dry-run")
                || expects("variant")
                || expects("info")
                || example.line.contains(" ;")
            {
                continue;
            }
            let facts = facts_of(&example.line);
            for (role, words) in &example.expected {
                let words = words.split(' ').filter(|word| !word.starts_with(['-', '\'', '"']));
                let words = if role == "inner" { words.take(1).collect() } else { words.collect::<Vec<_>>() };
                checked += words.len();
                let absent = words.iter().filter(|word| !word.is_empty() && !is_found(&facts, role, word));
                missing.extend(absent.map(|word| format!("{}: {role} {word}", example.line)));
            }
        }
    }
    assert!(checked > 300, "{checked}");
    assert_eq!(missing.join("\n"), "");
}

#[test]
fn one_description_serves_operands_addresses_and_effects() {
    let line = "curl --quote x.txt --noproxy secret.txt --pinnedpubkey key.pem https://a.test";
    let facts = facts_of(line);
    let command = facts.commands.first().unwrap();
    let operands: Vec<_> = command.operands.iter().map(|path| path.text.as_str()).collect();
    assert_eq!(operands, ["https://a.test"]);
    assert!(command.named.is_empty());
    let hosts: Vec<_> = facts.urls.iter().map(|url| url.host.as_str()).collect();
    assert_eq!(hosts, ["a.test"]);
    assert!(facts.effects.is_empty());
    let kept = facts_of(&format!("{line}/f.tgz -O"));
    assert_eq!(kept.effects.iter().map(|effect| effect.path.text.as_str()).collect::<Vec<_>>(), ["f.tgz"]);
}
