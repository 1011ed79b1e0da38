// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Notifies users about calls that wait for an approval, are asked about or are denied, as the settings require.

use std::sync::{Mutex, PoisonError};

use arc_swap::ArcSwap;
use tenterhook_api::Approval;
use tenterhook_event::{Decision, HookCall, Outcome};
use tenterhook_guard::ServiceSettings;
use tenterhook_home::{Env, Home};
use tenterhook_notify::{
    DeliveryContext, HeadlessAsk, Notice, NoticeKind, Notifier, NotifySettings, find_terminal,
};

use crate::listen::Peer;

/// The targets of the settings. A changed file replaces them.
pub(crate) struct Notifications {
    notifier: ArcSwap<Notifier>,
    settings: ArcSwap<NotifySettings>,
    context: DeliveryContext,
    change_lock: Mutex<()>,
}

impl Notifications {
    pub(crate) fn new(home: &Home, env: &Env) -> Self {
        let notifications = Self {
            notifier: ArcSwap::default(),
            settings: ArcSwap::default(),
            context: DeliveryContext::from_variables(&env.all),
            change_lock: Mutex::default(),
        };
        notifications.reload(home);
        notifications
    }

    /// Reads the settings again. Unchanged targets keep their threads.
    pub(crate) fn reload(&self, home: &Home) {
        let _changing = self.change_lock.lock().unwrap_or_else(PoisonError::into_inner);
        let settings = ServiceSettings::of(home).0.notify;
        if self.settings.load().targets != settings.targets {
            let next = Notifier::start(&settings, &self.context, &self.notifier.load());
            self.notifier.store(next.into());
        }
        self.settings.store(settings.into());
    }

    /// What happens to an ask of a run without a prompt.
    pub(crate) fn headless(&self) -> HeadlessAsk {
        self.settings.load().headless
    }

    /// Describes a call that starts to wait; `None` if no target wants to know.
    pub(crate) fn waiting_notice(
        &self,
        peer: Peer,
        approval: &Approval,
        rule: Option<&str>,
        seconds_left: u64,
    ) -> Option<Notice> {
        let kind = self.wanted(NoticeKind::Approval)?;
        let notice = Notice::new(kind, &approval.source, &approval.id.to_string());
        let mut notice = notice.with_call(approval.tool.as_deref(), &approval.wants, rule);
        notice.seconds_left = Some(seconds_left);
        notice.terminal = terminal_of(peer);
        Some(notice)
    }

    /// Reports a call that was denied, or that the harness asks the user about.
    pub(crate) fn report_outcome(&self, peer: Peer, call: &HookCall, outcome: &Outcome) {
        match outcome.decision {
            Decision::Ask => self.report(NoticeKind::Asked, peer, call, outcome),
            _ => self.report_denied(peer, call, outcome),
        }
    }

    /// Reports a call that was denied.
    pub(crate) fn report_denied(&self, peer: Peer, call: &HookCall, outcome: &Outcome) {
        if outcome.decision == Decision::Deny {
            self.report(NoticeKind::Denied, peer, call, outcome);
        }
    }

    fn report(&self, kind: NoticeKind, peer: Peer, call: &HookCall, outcome: &Outcome) {
        let Some(kind) = self.wanted(kind) else { return };
        let event = &call.event;
        let summary = match (&event.tool, &event.detail.prompt) {
            (Some(tool), _) => tool.gist(),
            (None, Some(prompt)) => prompt.into(),
            (None, None) => (&event.native_event).into(),
        };
        let tool = event.tool.as_ref().map(|tool| tool.name.as_str());
        let notice = Notice::new(kind, &event.source, &event.id.to_string());
        let mut notice = notice.with_call(tool, &summary, outcome.deciding_rule());
        notice.terminal = terminal_of(peer);
        self.send(Some(notice));
    }

    /// Queues a notice. Never waits for its delivery.
    pub(crate) fn send(&self, notice: Option<Notice>) {
        if let Some(notice) = notice {
            self.notifier.load().notify(&notice);
        }
    }

    pub(crate) fn dropped(&self) -> u64 {
        self.notifier.load().dropped()
    }

    pub(crate) fn failed(&self) -> u64 {
        self.notifier.load().failed()
    }

    fn wanted(&self, kind: NoticeKind) -> Option<NoticeKind> {
        self.notifier.load().wants(kind).then_some(kind)
    }
}

/// Terminal in which the caller runs. The hook process waits for its answer, so it is still running.
fn terminal_of(peer: Peer) -> Option<std::path::PathBuf> {
    let Peer::Local { pid: Some(pid), .. } = peer else { return None };
    find_terminal(pid)
}
