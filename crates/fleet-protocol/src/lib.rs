// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Messages between machines and the fleet server. This crate performs no IO.
//!
//! Everything that is decoded here comes from another machine: each decoder limits lengths before it allocates, and
//! refuses input that has more than one reading.

mod answer;
mod base32;
#[cfg(feature = "batch")]
mod batch;
#[cfg(feature = "batch")]
mod bytes_reader;
mod cosign;
mod enrolment;
mod machine_id;
mod mailbox;
mod messages;
mod nats_jwt;
mod nkey;
mod subject;

pub use answer::{AnswerDecision, AnswerError, ApproverKey, SignedAnswer, call_digest};
#[cfg(feature = "batch")]
pub use batch::{
    BatchError, BatchRecord, MAX_BATCH_BYTES, MAX_BATCH_RECORDS, MAX_RAW_BYTES, MessageId, UploadBatch,
};
pub use cosign::{CosignError, CosignKey, check_cosigned};
pub use enrolment::{
    ENROLMENT_VERSION, EnrolRequest, EnrolResponse, LeaveAnswer, LeaveRequest, MachineCredentials,
    PossessionError, RenewRequest,
};
pub use machine_id::{InstanceId, MachineId, ParseMachineIdError, Partition};
pub use mailbox::{Mailbox, ParseMailboxError};
pub use messages::{
    ApprovalRequest, BacktestCounts, BundleReport, CosignMessage, FleetMessage, HarnessReport,
    MAX_MESSAGE_BYTES, MachineCommand, MachineStatus, MessageError, PolicyPointer, RefusedBundle,
};
pub use nats_jwt::{
    AccountRole, JwtError, NatsPermissions, account_jwt, machine_permissions, operator_jwt, user_jwt,
};
pub use nkey::{NkeyKind, NkeyPair, NkeyPublic, ParseNkeyError};
pub use subject::{ParseRingError, Ring, StreamName, Subject};
