// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The privileged actions.

use std::fmt;

/// An action that weakens protection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// Rules are monitored only.
    Monitor,
    /// The policy is replaced.
    PolicyChange,
    /// A project's file is trusted, so that it may allow and rewrite.
    PolicyTrust,
    /// A pack or a rule is disabled.
    RulesDisable,
    /// A pack with exceptions is added.
    RulesAdd,
    /// A pack is updated from its source.
    RulesUpdate,
    /// A pack is removed.
    RulesRemove,
    /// A hook is added, which may allow and rewrite.
    HooksAdd,
    /// A hook package is trusted, as it is now.
    HooksTrust,
    /// A hook is disabled or removed.
    HooksRemove,
    /// A session of the daemon's own agent is created.
    AgentSession,
    /// A waiting call is approved.
    Approve,
    /// Records are pruned.
    LedgerPrune,
    /// Retention is shortened.
    LedgerRetention,
    /// Payloads are erased.
    LedgerErase,
    /// The signing key is replaced.
    KeyRotate,
    /// The key is sealed. This strengthens protection, but a guarded agent could lock out the user.
    KeySeal,
    /// The passphrase of the key is removed.
    KeyUnseal,
    /// The audit level is lowered.
    LedgerLevel,
    /// Secrets are recorded unredacted.
    LedgerKeepRaw,
    /// The daemon stops.
    Stop,
    /// The daemon restarts.
    Restart,
    /// The hooks of a harness are uninstalled.
    Uninstall,
    /// The mark of a guarded agent is removed.
    AgentForget,
    /// Codes become necessary. This strengthens protection, but a guarded agent could lock out the user.
    TotpEnroll,
    /// Codes are no longer necessary.
    TotpRemove,
}

/// All actions with their names on the command line and in records.
const ACTION_NAMES: &[(Action, &str)] = &[
    (Action::Monitor, "mode monitor"),
    (Action::PolicyChange, "policy change"),
    (Action::PolicyTrust, "policy trust"),
    (Action::RulesDisable, "rules disable"),
    (Action::RulesAdd, "rules add"),
    (Action::RulesUpdate, "rules update"),
    (Action::RulesRemove, "rules remove"),
    (Action::HooksAdd, "hooks add"),
    (Action::HooksTrust, "hooks trust"),
    (Action::HooksRemove, "hooks remove"),
    (Action::AgentSession, "agent session"),
    (Action::Approve, "approve"),
    (Action::LedgerPrune, "ledger prune"),
    (Action::LedgerRetention, "ledger retention"),
    (Action::LedgerErase, "ledger erase"),
    (Action::KeyRotate, "ledger key rotate"),
    (Action::KeySeal, "ledger key seal"),
    (Action::KeyUnseal, "ledger key unseal"),
    (Action::LedgerLevel, "ledger level"),
    (Action::LedgerKeepRaw, "ledger keep-raw"),
    (Action::Stop, "stop"),
    (Action::Restart, "restart"),
    (Action::Uninstall, "uninstall"),
    (Action::AgentForget, "agent forget"),
    (Action::TotpEnroll, "totp enroll"),
    (Action::TotpRemove, "totp remove"),
];

impl Action {
    /// Name on the command line and in records.
    pub fn name(self) -> &'static str {
        ACTION_NAMES.iter().find(|(action, _)| *action == self).map_or("", |(_, name)| name)
    }

    /// Finds an action by its name.
    pub fn from_name(name: &str) -> Option<Self> {
        ACTION_NAMES.iter().find(|(_, known)| *known == name).map(|(action, _)| *action)
    }

    /// Whether the owner needs no code on platforms without ancestries: otherwise the owner of a machine could
    /// neither set up codes nor uninstall.
    pub(crate) fn is_open_to_owner(self) -> bool {
        matches!(self, Self::Uninstall | Self::TotpEnroll)
    }

    /// Whether a user must confirm the action.
    pub(crate) fn needs_confirmation(self) -> bool {
        !matches!(self, Self::TotpEnroll | Self::KeySeal)
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
