// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The packs in `/rules`, compiled in: what is in force where nobody has written a policy.

use crate::source::{Layer, Source};

macro_rules! packs {
    ($($file:literal)*) => {
        pub(super) const PACKS: &[Source<'static>] = &[$(Source {
            name: concat!("rules/", $file),
            text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../rules/", $file)),
            layer: Layer::Baseline,
        },)*];
    };
}

packs! {
    "destructive.yaml"
    "remote-code.yaml"
    "credentials.yaml"
}

/// A pack of ours without its examples, line for line; any other text as it is.
///
/// Our packs are written in one way, which a test holds: `examples` is the last key of a rule, four
/// columns in, and everything below it stands deeper.
pub(super) fn without_examples(source: &Source<'_>) -> String {
    if source.layer != Layer::Baseline {
        return source.text.to_owned();
    }
    let mut bare = String::with_capacity(source.text.len());
    let mut within = false;
    for line in source.text.lines() {
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
    use super::*;
    use crate::RuleSet;

    #[test]
    fn a_pack_in_haste_is_the_same_pack() {
        let (whole, hasty) = (RuleSet::load(PACKS), RuleSet::load_in_haste(PACKS));
        assert_eq!(hasty.problems, []);
        assert_eq!(format!("{:?}", hasty.rules), format!("{:?}", whole.rules));
        let left = PACKS.iter().map(without_examples).find(|text| text.contains("examples"));
        assert_eq!(left, None, "nothing of the examples is read");
    }
}
