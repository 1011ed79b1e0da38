// SPDX-License-Identifier: Apache-2.0 OR MIT

//! All rules that are in force together.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::baseline::{self, PACKS};
use crate::rule::Rule;
use crate::source::Source;
use crate::{examples, load};
use tenterhook_document::Problem;
use tenterhook_event::EventKind;

/// All rules that are in force together: compiled, immutable, cheap to share in an [`Arc`].
#[derive(Debug)]
pub struct RuleSet {
    rules: Vec<Rule>,
    digest: u64,
}

/// What came of loading: the rules that stand, and what was refused.
#[derive(Debug)]
pub struct Loaded {
    /// The rules that stand.
    pub rules: RuleSet,
    /// What was refused, and why.
    pub problems: Vec<Problem>,
}

impl RuleSet {
    /// Loads rule files and tries every example. Never fails as a whole: a broken rule is refused
    /// alone, the rest stands.
    pub fn load(sources: &[Source<'_>]) -> Loaded {
        let mut problems = Vec::new();
        let mut rules: Vec<Rule> = Vec::new();
        let mut taken: BTreeMap<Arc<str>, String> = BTreeMap::new();
        for source in sources {
            let Some(file) = load::read(source, &mut problems) else { continue };
            for (spot, wire) in &file.rules {
                let problem = |message: String, hint: &str| {
                    Problem::new(source.name, *spot, message).about("rule", Some(&wire.id)).hint(hint)
                };
                if let Some(first) = taken.get(wire.id.as_str()) {
                    let message = format!("the id is taken by the rule at {first}");
                    problems.push(problem(message, "give this rule another id; it is not in force"));
                    continue;
                }
                match super::rule(wire, file.mode, *spot, source) {
                    Err(message) => {
                        problems.push(problem(message, "this rule is not in force; the others are"));
                    }
                    Ok(rule) => {
                        let failures = examples::check(&rule, &wire.examples);
                        if failures.is_empty() {
                            taken.insert(Arc::clone(&rule.id), format!("{}:{}", source.name, spot.line));
                            rules.push(rule);
                        }
                        let hint = "mend the rule or the example; the rule is not in force";
                        problems.extend(failures.into_iter().map(|message| problem(message, hint)));
                    }
                }
            }
        }
        Loaded { rules: Self { rules, digest: digest(sources) }, problems }
    }

    /// The same, but the examples of the packs compiled in are not even read: they cannot have
    /// changed since a test of ours tried them, and they are most of the text.
    pub fn load_in_haste(sources: &[Source<'_>]) -> Loaded {
        let bare: Vec<String> = sources.iter().map(baseline::without_examples).collect();
        let lighter = sources.iter().zip(&bare).map(|(source, text)| Source { text, ..*source });
        let mut loaded = Self::load(&lighter.collect::<Vec<_>>());
        loaded.rules.digest = digest(sources);
        loaded
    }

    /// The packs compiled in.
    pub fn baseline() -> Loaded {
        Self::load(PACKS)
    }

    /// The texts of the packs compiled in.
    pub fn baseline_sources() -> &'static [Source<'static>] {
        PACKS
    }

    /// An id of the texts the rules were loaded from: the same for the same texts, everywhere.
    pub fn digest(&self) -> String {
        format!("{:016x}", self.digest)
    }

    /// Whether any rule looks at events of this kind; if not, there is no need to look for facts.
    pub fn concerns(&self, kind: EventKind) -> bool {
        self.rules.iter().any(|rule| rule.matcher.concerns_kind(kind))
    }

    /// The rules, in order.
    pub fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter()
    }
}

/// FNV-1a: stable across versions and machines, which the standard hashers do not promise.
fn digest(sources: &[Source<'_>]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |bytes: &[u8]| {
        for byte in bytes {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for source in sources {
        // 0xff is in no UTF-8 text, so no two lists of sources run together into the same bytes.
        for part in [source.layer.name(), source.name, source.text] {
            add(part.as_bytes());
            add(&[0xff]);
        }
    }
    hash
}
