// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A rule set as bytes, for a hook that finds no daemon. Rules that are compiled into the program are not repeated:
//! a snapshot says which of them are in force.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tenterhook_programs::{OwnTables, Programs};

use super::loading::LoadMode;
use super::set::RuleSet;
use crate::budget::OwnPrices;
use crate::compiled::{CompiledRules, RuleBytes, Segment};

/// Changes when the form below does.
const FORMAT: u32 = 2;

/// What a snapshot says before the compiled form of the rules that are not part of the program.
#[derive(Serialize, Deserialize)]
struct SnapshotForm<'a> {
    format: u32,
    /// The rules of the program: their fingerprint, and which of them are not in force.
    trusted: Option<(u64, Vec<u32>)>,
    monitor: bool,
    digest: u64,
    #[serde(borrow)]
    prices: (&'a str, &'a str),
    has_own: bool,
    /// The programs that the policy describes.
    programs: Option<OwnTables>,
}

impl RuleSet {
    /// Writes the set as bytes that [`RuleSet::from_snapshot`] reads, given what was compiled before. Problems and
    /// warnings are not part of it.
    pub fn to_snapshot(&self, mode: LoadMode<'_>) -> Option<Vec<u8>> {
        let is_trusted = |segment: &&Segment| match mode {
            LoadMode::Trusted(compiled) => Arc::ptr_eq(segment.compiled(), compiled),
            LoadMode::Checked => false,
        };
        let trusted = self.segments.first().filter(is_trusted);
        let own = match (trusted, self.segments.as_slice()) {
            (Some(_), [_]) | (None, []) => None,
            (Some(_), [_, own]) | (None, [own]) => Some(own),
            _ => return None,
        };
        let [name, text] = self.prices.texts();
        let form = SnapshotForm {
            format: FORMAT,
            trusted: trusted.map(|segment| (segment.compiled().fingerprint(), segment.disabled())),
            monitor: trusted.is_some_and(Segment::is_monitored),
            digest: self.digest,
            prices: (name, text),
            has_own: own.is_some(),
            programs: self.programs.as_ref().and_then(Programs::own_tables).cloned(),
        };
        let mut bytes = postcard::to_allocvec(&form).ok()?;
        if let Some(own) = own {
            bytes.extend_from_slice(own.compiled().bytes());
        }
        Some(bytes)
    }

    /// Reads a set that the same program wrote, from here on.
    pub fn from_snapshot(bytes: &Arc<Vec<u8>>, start: usize, mode: LoadMode<'_>) -> Option<Self> {
        let (form, rest) = postcard::take_from_bytes::<SnapshotForm<'_>>(bytes.get(start..)?).ok()?;
        if form.format != FORMAT {
            return None;
        }
        let mut segments = Vec::with_capacity(2);
        if let Some((fingerprint, disabled)) = &form.trusted {
            let LoadMode::Trusted(compiled) = mode else { return None };
            if compiled.fingerprint() != *fingerprint {
                return None;
            }
            let mut segment = Segment::new(Arc::clone(compiled));
            for number in disabled {
                segment.disable(*number);
            }
            if form.monitor {
                segment.set_monitor();
            }
            segments.push(segment);
        }
        if form.has_own {
            let own = RuleBytes::Shared(Arc::clone(bytes), bytes.len() - rest.len());
            segments.push(Segment::new(Arc::new(CompiledRules::open(own)?)));
        } else if !rest.is_empty() {
            return None;
        }
        let prices = OwnPrices::new(form.prices.0, form.prices.1);
        let programs = match form.programs {
            Some(tables) => Some(Programs::with_own_tables(tables)?),
            None => None,
        };
        Some(Self { segments, prices, digest: form.digest, warnings: Vec::new(), programs })
    }
}
