// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The packs in `/rules`, compiled in. Those that are on by default are in force where nobody has
//! written a policy.

use std::sync::LazyLock;

use crate::source::{Layer, Pack, Source};

macro_rules! files {
    ($($file:literal)*) => {
        /// The lean forms of the files, in the same order.
        const LEAN: &[&str] = &[$(include_str!(concat!("packs/", $file, ".json")),)*];

        const FILES: &[Source<'static>] = &[$(Source {
            name: concat!("rules/", $file),
            text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../rules/", $file)),
            layer: Layer::Baseline,
            trusted: true,
        },)*];
    };
}

// Every file in `/rules`; a test holds the list complete. A new one has an empty lean form until
// `make generate` writes it.
files! {
    "destructive.yaml"
    "remote-code.yaml"
    "credentials.yaml"
    "exfiltration.yaml"
    "version-control.yaml"
    "system.yaml"
    "persistence.yaml"
    "elsewhere.yaml"
    "infrastructure.yaml"
    "databases-destructive.yaml"
    "security.yaml"
    "packages.yaml"
    "self-protection.yaml"
    // Off until somebody wants them.
    "git-strict.yaml"
    "cloud.yaml"
    "databases.yaml"
    "containers.yaml"
    "node.yaml"
    "python.yaml"
    "secrets.yaml"
    "network-allow-list.yaml"
}

/// Every pack.
pub(super) static PACKS: LazyLock<Vec<Pack>> = LazyLock::new(|| FILES.iter().map(pack).collect());

/// The files of the packs that are on by default.
pub(super) static BASELINE: LazyLock<Vec<Source<'static>>> =
    LazyLock::new(|| PACKS.iter().filter(|pack| pack.on_by_default).map(|pack| pack.source).collect());

/// What the first lines of a pack say of it.
fn pack(source: &Source<'static>) -> Pack {
    let header = source.text.lines().take_while(|line| !matches!(*line, "lists:" | "rules:"));
    let value = |key: &str| {
        let line = header.clone().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
        line.map(|value| value.trim().trim_matches(['"', '\'']))
    };
    let stem = source.name.trim_start_matches("rules/").trim_end_matches(".yaml");
    Pack {
        name: value("pack").unwrap_or(stem),
        title: value("title").unwrap_or_default(),
        on_by_default: value("enabled") != Some("false"),
        source: *source,
    }
}

/// The lean form of a pack of ours; `None` for any other text.
pub(crate) fn lean(source: &Source<'_>) -> Option<&'static str> {
    let ours = |(file, _): &(&Source<'_>, &&str)| file.name == source.name && file.text == source.text;
    FILES.iter().zip(LEAN).find(ours).map(|(_, lean)| *lean)
}

/// A pack of ours without its examples, line for line.
///
/// Our packs are written in one way, which a test holds: `examples` is the last key of a rule, four
/// columns in, and everything below it stands deeper.
pub(crate) fn without_examples(text: &str) -> String {
    let mut bare = String::with_capacity(text.len());
    let mut within = false;
    for line in text.lines() {
        let deep = line.starts_with("      ") || line.trim().is_empty();
        within = line == "    examples:" || within && deep;
        if !within {
            bare.push_str(line);
        }
        bare.push('\n');
    }
    bare
}

#[cfg(test)]
mod tests {
    use tenterhook_document::Value;

    use super::*;
    use crate::RuleSet;

    /// Whether some exception looks at the text of a call as it stands.
    fn has_raw_exception(matcher: &crate::compile::Matcher, within: bool) -> bool {
        within && matcher.regex.is_some()
            || matcher.not.iter().any(|inner| has_raw_exception(inner, true))
            || matcher.any.iter().any(|inner| has_raw_exception(inner, within))
    }

    #[test]
    fn no_exception_of_a_pack_is_decided_on_raw_text() {
        let rules = RuleSet::load(FILES).rules;
        let raw = rules.rules().filter(|rule| has_raw_exception(&rule.matcher, false));
        let raw: Vec<_> = raw.map(|rule| rule.id.to_string()).collect();
        assert_eq!(raw, [""; 0], "a comment would make it hold");
    }

    #[test]
    fn a_pack_in_haste_is_the_same_pack() {
        let (whole, hasty) = (RuleSet::load(FILES), RuleSet::load_in_haste(FILES));
        for loaded in [&whole, &hasty] {
            let problems: Vec<_> = loaded.problems.iter().map(ToString::to_string).collect();
            assert_eq!(problems.join("\n"), "");
        }
        let shown = |set: &RuleSet| set.rules().map(|rule| format!("{rule:?}")).collect::<Vec<_>>();
        assert_eq!(shown(&hasty.rules), shown(&whole.rules));
        let tells = |text: &String| text.lines().any(|line| line.starts_with("    examples:"));
        let left = FILES.iter().map(|file| without_examples(file.text)).find(tells);
        assert_eq!(left, None, "nothing of the examples is read");
    }

    #[test]
    fn generated_packs_are_fresh() {
        for (file, lean) in FILES.iter().zip(LEAN) {
            let fresh = crate::load::lean::write::write(file.text);
            let name = file.name.trim_start_matches("rules/");
            #[expect(clippy::disallowed_methods, reason = "`make generate` asks for it")]
            if std::env::var_os("TENTERHOOK_GENERATE").is_some() {
                let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/compile/packs");
                std::fs::write(format!("{folder}/{name}.json"), &fresh).unwrap();
            } else {
                assert!(fresh == *lean, "the lean form of `{}` is stale: run `make generate`", file.name);
            }
        }
    }

    #[test]
    fn a_pack_whose_text_has_changed_is_read_from_its_text() {
        for (file, lean) in FILES.iter().zip(LEAN) {
            assert!(crate::load::lean::read(lean, file.text).is_some(), "{}", file.name);
        }
        let (file, lean) = (FILES.first().unwrap(), LEAN.first().unwrap());
        assert!(crate::load::lean::read(lean, &file.text.replacen("deny", "ask", 1)).is_none());
        let changed = Source { text: "version: 1\nrules: []\n", ..*file };
        assert_eq!(super::lean(&changed), None);
        assert_eq!(RuleSet::load_in_haste(&[changed]).rules.rules().count(), 0);
    }

    #[test]
    fn every_file_of_rules_is_a_pack_and_says_which() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../rules");
        let names =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut there: Vec<_> = names.filter(|name| name != "README.md" && name != "prices.yaml").collect();
        let mut listed: Vec<_> =
            FILES.iter().map(|file| file.name.trim_start_matches("rules/").to_owned()).collect();
        there.sort();
        listed.sort();
        assert_eq!(listed, there);
        let names: std::collections::BTreeSet<_> = PACKS.iter().map(|pack| pack.name).collect();
        assert_eq!(names.len(), PACKS.len(), "no two packs have the same name");
        for pack in PACKS.iter() {
            assert!(!pack.title.is_empty(), "{} has no title", pack.source.name);
            let document = tenterhook_document::parse(pack.source.text).unwrap();
            let off = document.get("enabled").map(|node| &node.value) == Some(&Value::Bool(false));
            assert_eq!(pack.on_by_default, !off, "{}", pack.source.name);
        }
    }
}
