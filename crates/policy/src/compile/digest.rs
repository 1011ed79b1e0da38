// SPDX-License-Identifier: Apache-2.0 OR MIT

//! An id of what a rule set was loaded from.

use crate::compiled::text_digest;
use crate::fnv;
use crate::source::{Choices, Source};

/// A hash of texts and choices: the same for the same ones, everywhere.
#[derive(Debug)]
pub(super) struct SetDigest(u64);

impl Default for SetDigest {
    fn default() -> Self {
        Self(fnv::START)
    }
}

impl SetDigest {
    pub(super) fn value(&self) -> u64 {
        self.0
    }

    /// Adds a source, whose text has this digest.
    pub(super) fn add_source(&mut self, source: &Source<'_>, digest: u64) {
        for part in [source.layer.name(), source.name, &format!("{digest:016x}")] {
            self.add(part);
        }
        if source.is_suspect() {
            self.add("untrusted");
        }
    }

    /// Adds what was chosen about the rules.
    pub(super) fn add_choices(&mut self, choices: &Choices<'_>) {
        let Choices { disabled, monitor, prices, programs } = choices;
        for id in *disabled {
            self.add("disabled");
            self.add(id);
        }
        if *monitor {
            self.add("monitor");
        }
        if let Some((_, prices)) = prices {
            self.add("prices");
            self.add(prices);
        }
        for source in *programs {
            self.add("programs");
            self.add_source(source, text_digest(source.text));
        }
    }

    fn add(&mut self, text: &str) {
        // 0xff is in no UTF-8 text, so no two lists run together into the same bytes.
        self.0 = fnv::hash(fnv::hash(self.0, text.as_bytes()), &[0xff]);
    }
}
