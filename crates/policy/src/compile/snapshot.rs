// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Serializes a rule set for hooks that find no daemon. Rules that are compiled into the program are not repeated: a
//! snapshot stores which of them are active.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tenterhook_programs::{Programs, UserProgramTables};

use super::loading::LoadMode;
use super::set::RuleSet;
use crate::budget::UserPrices;
use crate::compiled::{CompiledRules, RuleBytes, RuleSegment};

/// Format version, incremented when the struct below changes.
const SNAPSHOT_FORMAT: u32 = 2;

/// Header of a snapshot. The compiled form of the user's rules follows it.
#[derive(Serialize, Deserialize)]
struct SnapshotForm<'a> {
    format: u32,
    /// Fingerprint of the rules that are compiled into the program, and the numbers of those that are not active.
    trusted: Option<(u64, Vec<u32>)>,
    monitor: bool,
    digest: u64,
    #[serde(borrow)]
    prices: (&'a str, &'a str),
    has_own: bool,
    /// Programs that the policy describes.
    programs: Option<UserProgramTables>,
}

impl RuleSet {
    /// Serializes the set for [`RuleSet::from_snapshot`], which needs the same compiled rules. Problems and warnings
    /// are left out.
    pub fn to_snapshot(&self, mode: LoadMode<'_>) -> Option<Vec<u8>> {
        let is_trusted = |segment: &&RuleSegment| match mode {
            LoadMode::Trusted(compiled) => Arc::ptr_eq(segment.compiled(), compiled),
            LoadMode::Checked => false,
        };
        let trusted = self.segments.first().filter(is_trusted);
        let own = match (trusted, self.segments.as_slice()) {
            (Some(_), [_]) | (None, []) => None,
            (Some(_), [_, own]) | (None, [own]) => Some(own),
            _ => return None,
        };
        let [name, text] = self.prices.source_texts();
        let form = SnapshotForm {
            format: SNAPSHOT_FORMAT,
            trusted: trusted.map(|segment| (segment.compiled().fingerprint(), segment.disabled())),
            monitor: trusted.is_some_and(RuleSegment::is_monitored),
            digest: self.digest,
            prices: (name, text),
            has_own: own.is_some(),
            programs: self.programs.as_ref().and_then(Programs::user_tables).cloned(),
        };
        let mut bytes = postcard::to_allocvec(&form).ok()?;
        if let Some(own) = own {
            bytes.extend_from_slice(own.compiled().bytes());
        }
        Some(bytes)
    }

    /// Reads a set that the same version of the program wrote, starting at byte `start`.
    pub fn from_snapshot(bytes: &Arc<Vec<u8>>, start: usize, mode: LoadMode<'_>) -> Option<Self> {
        let (form, rest) = postcard::take_from_bytes::<SnapshotForm<'_>>(bytes.get(start..)?).ok()?;
        if form.format != SNAPSHOT_FORMAT {
            return None;
        }
        let mut segments = Vec::with_capacity(2);
        if let Some((fingerprint, disabled)) = &form.trusted {
            let LoadMode::Trusted(compiled) = mode else { return None };
            if compiled.fingerprint() != *fingerprint {
                return None;
            }
            let mut segment = RuleSegment::new(Arc::clone(compiled));
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
            segments.push(RuleSegment::new(Arc::new(CompiledRules::open(own)?)));
        } else if !rest.is_empty() {
            return None;
        }
        let prices = UserPrices::new(form.prices.0, form.prices.1);
        let programs = match form.programs {
            Some(tables) => Some(Programs::with_user_tables(tables)?),
            None => None,
        };
        Some(Self { segments, prices, digest: form.digest, warnings: Vec::new(), programs })
    }
}
