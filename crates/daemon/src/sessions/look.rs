// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Which files a command or patch touches: a thread reads it as the policy does, after the answer.

use std::sync::Weak;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use tenterhook_event::Event;
use tenterhook_policy::{Does, Effect, Side, Surroundings};

use super::{Key, Projector};

/// How many calls may wait to be looked at; of others the files are not known.
const WAITING: usize = 256;
/// Longer calls are not looked at, in bytes: they wait in memory.
const LONGEST: usize = 64 * 1024;

/// The thread, from outside.
pub(super) struct Looker(SyncSender<(Key, Event)>);

impl Looker {
    pub(super) fn start(projector: Weak<Projector>, person: Option<String>) -> Option<Self> {
        let (sender, calls) = sync_channel(WAITING);
        let work = move || look(&projector, person.as_deref(), &calls);
        std::thread::Builder::new().name("sessions".into()).spawn(work).ok()?;
        Some(Self(sender))
    }

    /// Takes a call, if there is room.
    pub(super) fn ask(&self, key: &Key, event: &Event) -> bool {
        let short = |tool: &tenterhook_event::ToolCall| {
            let texts = tool.patches().iter().map(|text| text.len()).sum::<usize>();
            texts + tool.gist().len() <= LONGEST
        };
        if !event.tool.as_ref().is_some_and(short) {
            return false;
        }
        self.0.try_send((key.clone(), event.clone())).is_ok()
    }
}

/// Ends when the projector does.
fn look(projector: &Weak<Projector>, person: Option<&str>, calls: &Receiver<(Key, Event)>) {
    while let Ok((key, event)) = calls.recv() {
        let around = Surroundings { home: person, ..Surroundings::default() };
        let facts = tenterhook_policy::facts(&event, &around);
        let Some(projector) = projector.upgrade() else { return };
        projector.with(&key, event.ts, |session| {
            for Effect { does, path, on, .. } in &facts.effects {
                if *on != Side::Here || path.dynamic {
                    continue;
                }
                let place = path.resolved.as_deref().unwrap_or(&path.text);
                session.files.touch(place, |touched| match does {
                    Does::Read | Does::Run => touched.reads += 1,
                    Does::Write | Does::Append | Does::Permit => touched.writes += 1,
                    Does::Delete | Does::Move => touched.deletes += 1,
                });
            }
        });
    }
}
