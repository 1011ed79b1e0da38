// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Decides whether a machine replaces the bundle in force.

use std::collections::BTreeSet;
use std::fmt;

use tenterhook_event::Timestamp;
use tenterhook_policy::{Weakening, find_weakenings};

use crate::bundle::Bundle;
use crate::error::BundleError;
use crate::manifest::BundleFileKind;
use crate::rules::built_in_rules;

/// What is in force on a machine.
#[derive(Debug, Clone, Copy)]
pub struct InForce<'a> {
    /// The bundle; `None` if none was accepted, or if it is lost.
    pub bundle: Option<&'a Bundle>,
    /// Newest version that the machine accepted.
    pub newest: u64,
    /// Lowest version that accepted bundles still allow.
    pub minimum: u64,
}

/// A change that weakens protection.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum BundleChange {
    /// Rules or descriptions of programs.
    Rules(Weakening),
    /// The sandbox profile with this name is added, changed or removed.
    Profile(String),
    /// The approver with this name is added, or has another key.
    Approver(String),
    /// Signed answers replace codes.
    ReplacesCode,
    /// The signers or their thresholds differ.
    Signers,
    /// A stale bundle restricts less.
    WhenStale,
    /// The bundle in force is lost, so that the new one cannot be compared with it.
    Lost,
}

/// An update that a machine may carry out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpdatePlan {
    /// The changes that weaken protection.
    pub weakening: Vec<BundleChange>,
    /// Lowest version that accepted bundles allow after the update.
    pub minimum: u64,
}

/// Returns every change from `old` to `new` that weakens protection, sorted. Without an old bundle, `new` is compared
/// with a machine that has only the built-in rules.
pub fn find_changes(
    old: Option<&Bundle>,
    new: &Bundle,
    now: Timestamp,
) -> Result<Vec<BundleChange>, BundleError> {
    let before = old.map_or_else(|| Ok(built_in_rules()), Bundle::load_rules)?;
    let rules = find_weakenings(&before, &new.load_rules()?, now);
    let mut found: Vec<_> = rules.into_iter().map(BundleChange::Rules).collect();
    let profiles = |bundle: &Bundle| -> BTreeSet<(String, String)> {
        let own = bundle.files_of(BundleFileKind::Profile);
        own.map(|(name, text)| (name.to_owned(), text.to_owned())).collect()
    };
    let before = old.map(profiles).unwrap_or_default();
    let differing: BTreeSet<String> =
        profiles(new).symmetric_difference(&before).map(|(name, _)| name.clone()).collect();
    found.extend(differing.into_iter().map(BundleChange::Profile));
    let approvers = old.map(|bundle| bundle.manifest.approvals.keys.as_slice()).unwrap_or_default();
    let added = new.approvers().into_iter().filter(|key| !approvers.contains(&key.to_string()));
    found.extend(added.map(|key| BundleChange::Approver(key.name().to_owned())));
    if new.manifest.approvals.replaces_code && !old.is_some_and(|old| old.manifest.approvals.replaces_code) {
        found.push(BundleChange::ReplacesCode);
    }
    if new.manifest.signers != new.required {
        found.push(BundleChange::Signers);
    }
    if old.is_some_and(|old| new.manifest.when_stale < old.manifest.when_stale) {
        found.push(BundleChange::WhenStale);
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// Checks that a verified bundle may replace the one in force.
pub fn check_update(new: &Bundle, in_force: &InForce<'_>, now: Timestamp) -> Result<UpdatePlan, BundleError> {
    let InForce { bundle, newest, minimum } = *in_force;
    let version = new.manifest.version;
    if version < minimum {
        return Err(BundleError::Withdrawn { version, minimum });
    }
    if version <= newest {
        return Err(BundleError::NotNewer { version, accepted: newest });
    }
    if new.is_stale(now) {
        return Err(BundleError::Expired(new.manifest.not_after));
    }
    let mut weakening = find_changes(bundle, new, now)?;
    if bundle.is_none() && newest > 0 {
        weakening.push(BundleChange::Lost);
    }
    let (given, needed) = (new.signed_by.len(), new.required.weakening_threshold);
    if !weakening.is_empty() && given < needed {
        return Err(BundleError::TooFewSignatures { given, needed, changes: weakening });
    }
    Ok(UpdatePlan { weakening, minimum: minimum.max(new.manifest.min_version) })
}

impl fmt::Display for BundleChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rules(weakening) => weakening.fmt(f),
            Self::Profile(name) => write!(f, "sandbox profile `{name}` differs"),
            Self::Approver(name) => write!(f, "approver `{name}` is added"),
            Self::ReplacesCode => f.write_str("signed answers replace codes"),
            Self::Signers => f.write_str("the signers differ"),
            Self::WhenStale => f.write_str("a stale policy restricts less"),
            Self::Lost => f.write_str("the policy in force is lost, so the change is unknown"),
        }
    }
}
