// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Everything that passes the gate.

use std::fmt;

/// Something that loosens protection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// Rules only watch.
    Monitor,
    /// Another policy.
    PolicyChange,
    /// A project's file may allow and rewrite.
    PolicyTrust,
    /// A pack or a rule is off.
    RulesDisable,
    /// A pack with exceptions is added.
    RulesAdd,
    /// A pack is as others have it now.
    RulesUpdate,
    /// A pack is gone.
    RulesRemove,
    /// A hook is added: it may allow and rewrite.
    HooksAdd,
    /// A kit of hooks may run, as it is now.
    HooksTrust,
    /// A hook is off or gone.
    HooksRemove,
    /// Somebody has the daemon's own agent work for them.
    AgentSession,
    /// Somebody says yes to what waits.
    Approve,
    /// Leaves are removed.
    LedgerPrune,
    /// Records are removed earlier than before.
    LedgerRetention,
    /// Payloads are erased.
    LedgerErase,
    /// Another key signs from here on.
    KeyRotate,
    /// The key is sealed. This tightens; but a guarded agent could lock its person out.
    KeySeal,
    /// The key lies open.
    KeyUnseal,
    /// Less is recorded.
    LedgerLevel,
    /// Secrets are recorded.
    LedgerKeepRaw,
    /// The daemon ends.
    Stop,
    /// The daemon ends, and another one starts.
    Restart,
    /// A harness is no longer guarded.
    Uninstall,
    /// A process is no longer taken for a guarded agent.
    AgentForget,
    /// Codes are needed from now on. This tightens; but a guarded agent could lock its person out.
    TotpEnroll,
    /// Codes are not needed any more.
    TotpRemove,
}

/// Every action, with what a person types and the record says.
const NAMES: &[(Action, &str)] = &[
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
    /// What a person types, and what the record calls it.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(action, _)| *action == self).map_or("", |(_, name)| name)
    }

    /// The action of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        NAMES.iter().find(|(_, known)| *known == name).map(|(action, _)| *action)
    }

    /// Whether it takes no code where ancestries are not known: without it, the owner of a machine could
    /// neither set up codes nor uninstall.
    pub(crate) fn is_always_for_the_owner(self) -> bool {
        matches!(self, Self::Uninstall | Self::TotpEnroll)
    }

    /// Whether somebody has to show that they are a person.
    pub(crate) fn needs_a_person(self) -> bool {
        !matches!(self, Self::TotpEnroll | Self::KeySeal)
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
