// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The privileged actions and their names.

use std::fmt;

/// A privileged action: one that weakens protection, or that an agent could misuse to lock out the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// All rules are switched to monitor mode.
    Monitor,
    /// The policy is replaced.
    PolicyChange,
    /// A project's rule file is trusted, so that its rules may allow and rewrite calls.
    PolicyTrust,
    /// A pack or a rule is disabled.
    RulesDisable,
    /// The level of protection is lowered.
    RulesLevel,
    /// A pack with exceptions is added.
    RulesAdd,
    /// A pack is updated from its source.
    RulesUpdate,
    /// A pack is removed.
    RulesRemove,
    /// A hook is added, which may allow and rewrite calls.
    HooksAdd,
    /// A hook package is trusted in its current state.
    HooksTrust,
    /// A hook is disabled or removed.
    HooksRemove,
    /// A session of the daemon's own agent is created.
    AgentSession,
    /// A waiting call is approved.
    Approve,
    /// A call that a rule stopped is allowed.
    Allow,
    /// Records are pruned.
    LedgerPrune,
    /// Retention is shortened.
    LedgerRetention,
    /// Payloads of records are erased.
    LedgerErase,
    /// The signing key is replaced.
    KeyRotate,
    /// The signing key is sealed with a passphrase. This strengthens protection, but a guarded agent could lock out the
    /// user with a passphrase of its own.
    KeySeal,
    /// The passphrase of the signing key is removed.
    KeyUnseal,
    /// The audit level is lowered.
    LedgerLevel,
    /// Secrets are recorded without redaction.
    LedgerKeepRaw,
    /// An undo replaces files that were changed after the call.
    UndoForce,
    /// The daemon stops.
    Stop,
    /// The daemon restarts.
    Restart,
    /// The hooks of a harness are uninstalled.
    Uninstall,
    /// The mark of a guarded agent is removed.
    AgentForget,
    /// Codes of an authenticator app are set up. This strengthens protection, but a guarded agent could lock out the
    /// user with a secret of its own.
    TotpEnroll,
    /// Codes of an authenticator app are no longer required.
    TotpRemove,
    /// The machine joins a fleet, whose policy may then allow and rewrite calls.
    FleetJoin,
    /// The machine joins a fleet, whose policy can then only make verdicts stricter. A guarded agent could report to a fleet
    /// of its own.
    FleetJoinUnconfirmed,
    /// The machine leaves its fleet, whose policy then no longer applies.
    FleetLeave,
    /// A CI runner tells its fleet that it ends. The policy stays in force on it.
    FleetFinish,
}

/// All actions with their names on the command line and in records.
const ACTION_NAMES: &[(Action, &str)] = &[
    (Action::Monitor, "mode monitor"),
    (Action::PolicyChange, "policy change"),
    (Action::PolicyTrust, "policy trust"),
    (Action::RulesDisable, "rules disable"),
    (Action::RulesLevel, "rules level"),
    (Action::RulesAdd, "rules add"),
    (Action::RulesUpdate, "rules update"),
    (Action::RulesRemove, "rules remove"),
    (Action::HooksAdd, "hooks add"),
    (Action::HooksTrust, "hooks trust"),
    (Action::HooksRemove, "hooks remove"),
    (Action::AgentSession, "agent session"),
    (Action::Approve, "approve"),
    (Action::Allow, "allow"),
    (Action::LedgerPrune, "ledger prune"),
    (Action::LedgerRetention, "ledger retention"),
    (Action::LedgerErase, "ledger erase"),
    (Action::KeyRotate, "ledger key rotate"),
    (Action::KeySeal, "ledger key seal"),
    (Action::KeyUnseal, "ledger key unseal"),
    (Action::LedgerLevel, "ledger level"),
    (Action::LedgerKeepRaw, "ledger keep-raw"),
    (Action::UndoForce, "undo force"),
    (Action::Stop, "stop"),
    (Action::Restart, "restart"),
    (Action::Uninstall, "uninstall"),
    (Action::AgentForget, "agent forget"),
    (Action::TotpEnroll, "totp enroll"),
    (Action::TotpRemove, "totp remove"),
    (Action::FleetJoin, "fleet join"),
    (Action::FleetJoinUnconfirmed, "fleet join unconfirmed"),
    (Action::FleetLeave, "fleet leave"),
    (Action::FleetFinish, "fleet finish"),
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

    /// Whether the owner of the state directory may perform the action without a code on platforms that do not report
    /// the ancestors of a process. On these platforms all other actions need a code. Without this exception the owner could neither set up codes nor
    /// uninstall.
    pub(crate) fn is_open_to_owner(self) -> bool {
        matches!(self, Self::Uninstall | Self::TotpEnroll)
    }

    /// Whether a user must confirm the action.
    pub(crate) fn needs_confirmation(self) -> bool {
        !matches!(self, Self::TotpEnroll | Self::KeySeal | Self::FleetJoinUnconfirmed | Self::FleetFinish)
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
