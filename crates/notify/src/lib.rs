// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Notifies users about calls that wait for an approval, and about denied calls if they chose that.
//!
//! [`NotifySettings`] is read from `tenterhook.yaml`. A [`Notice`] is formatted for each kind of target and contains no
//! secrets. [`Notifier`] delivers notices from threads of its own, so that no call waits for a delivery.

mod deliver;
mod notice;
mod notifier;
mod settings;
mod target_message;
mod terminal;
#[cfg(test)]
mod tests;

pub use deliver::{DeliveryContext, DeliveryError, TargetResult, deliver, test_targets};
pub use notice::{Notice, NoticeKind};
pub use notifier::Notifier;
pub use settings::{
    AppendTargetsError, HeadlessAsk, NotifySettings, NotifyTarget, TargetKind, append_targets,
};
pub use terminal::find_terminal;
