// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Identifies the sources and settings that a rule set was loaded from.

use crate::compiled::text_digest;
use crate::fnv;
use crate::source::{RuleSettings, RuleSource};

/// A hash of sources and settings, equal on every machine.
#[derive(Debug)]
pub(super) struct SetDigest(u64);

impl Default for SetDigest {
    fn default() -> Self {
        Self(fnv::OFFSET_BASIS)
    }
}

impl SetDigest {
    pub(super) fn value(&self) -> u64 {
        self.0
    }

    /// Adds a source whose text has this digest.
    pub(super) fn add_source(&mut self, source: &RuleSource<'_>, digest: u64) {
        for part in [source.layer.name(), source.name, &format!("{digest:016x}")] {
            self.add(part);
        }
        if source.is_untrusted() {
            self.add("untrusted");
        }
    }

    /// Adds the settings that apply to rules as a whole.
    pub(super) fn add_settings(&mut self, settings: &RuleSettings<'_>) {
        let RuleSettings { disabled, monitor, prices, programs } = settings;
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
        // 0xff does not occur in UTF-8, so two different lists never hash the same bytes.
        self.0 = fnv::extend_hash(fnv::extend_hash(self.0, text.as_bytes()), &[0xff]);
    }
}
