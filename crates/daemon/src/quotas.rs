// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Limits what callers use at the same time. Each limit is divided between accounts, so that one account cannot cause
//! another account's calls to be refused. Waiting approvals are also divided between the programs of an account.

use std::sync::Arc;

use rustix::process::{Resource, getrlimit};

use crate::daemon::Daemon;
use crate::listen::Peer;
use crate::shares::{Share, Shares};

/// Maximum number of running calls; further calls are evaluated by the hook process itself.
const MAX_CALLS: usize = 8192;
/// Maximum number of Unix socket connections served by the runtime.
const MAX_UNIX_CONNECTIONS: usize = 8192;
/// Maximum size in memory of all large hook calls and request bodies together.
const MAX_QUESTION_BYTES: usize = 256 * 1024 * 1024;
/// Maximum number of calls that wait for an approval.
const MAX_APPROVALS: usize = 1024;
/// Maximum number of waiting approvals of all programs together.
const MAX_PROGRAM_APPROVALS: usize = 512;
/// Number of open files reserved for uses other than calls and connections.
const RESERVED_DESCRIPTORS: usize = 256;

/// A program: the account and, where the kernel reports it, the agent process.
type ProgramKey = (u32, Option<i32>);

/// All quotas of a daemon.
pub(crate) struct Quotas {
    calls: Arc<Shares<u32>>,
    connections: Arc<Shares<u32>>,
    bytes: Arc<Shares<u32>>,
    approvals: Arc<Shares<u32>>,
    program_approvals: Arc<Shares<ProgramKey>>,
}

/// Counts a call that waits for an approval.
pub(crate) struct ApprovalSlot {
    _account: Share<u32>,
    _program: Share<ProgramKey>,
}

impl Quotas {
    /// Creates quotas that fit the limit on open files: each call and each connection needs one. One account never
    /// uses more than half of a quota; several accounts together may use all of it.
    pub(crate) fn new(many_accounts: bool) -> Self {
        let files = getrlimit(Resource::Nofile).current.map_or(usize::MAX, |files| {
            usize::try_from(files).unwrap_or(usize::MAX).saturating_sub(RESERVED_DESCRIPTORS)
        });
        let files = if many_accounts { files / 2 } else { files };
        Self {
            calls: Shares::new(MAX_CALLS.min(files)),
            connections: Shares::new(MAX_UNIX_CONNECTIONS.min(files)),
            bytes: Shares::new(MAX_QUESTION_BYTES),
            approvals: Shares::new(MAX_APPROVALS),
            program_approvals: Shares::new(MAX_PROGRAM_APPROVALS),
        }
    }

    pub(crate) fn calls_under_way(&self) -> usize {
        self.calls.in_use()
    }
}

impl Daemon {
    /// Returns the account that a caller's use counts against; for callers with a token, the daemon's account.
    pub(crate) fn account_of(&self, peer: Peer) -> u32 {
        peer.uid().unwrap_or(self.uid)
    }

    /// Counts a call, unless the account has used up its share.
    pub(crate) fn begin_call(&self, peer: Peer) -> Option<Share<u32>> {
        let (share, calls) = self.quotas.calls.try_take_counted(self.account_of(peer), 1)?;
        self.bursts.note_calls(calls);
        Some(share)
    }

    /// Counts a connection to the socket.
    pub(crate) fn begin_connection(&self, peer: Peer) -> Option<Share<u32>> {
        self.quotas.connections.try_take(self.account_of(peer), 1)
    }

    pub(crate) fn reserve_bytes(&self, peer: Peer, bytes: usize) -> Option<Share<u32>> {
        self.bursts.note_request(bytes);
        self.quotas.bytes.try_take(self.account_of(peer), bytes)
    }

    /// Counts a call that waits for an approval.
    pub(crate) fn begin_waiting(&self, peer: Peer, agent: Option<i32>) -> Option<ApprovalSlot> {
        let uid = self.account_of(peer);
        Some(ApprovalSlot {
            _account: self.quotas.approvals.try_take(uid, 1)?,
            _program: self.quotas.program_approvals.try_take((uid, agent), 1)?,
        })
    }
}
