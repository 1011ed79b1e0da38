// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The files about a fleet. All are private to the account that owns the state directory.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tenterhook_files::{FileClass, open_state_for_writing, read_text};
use tenterhook_fleet_protocol::{InstanceId, MachineCredentials, MachineId, NkeyPair};

/// Maximum length of a file about the fleet.
const MAX_STATE_FILE_BYTES: u64 = 1 << 20;
/// Version of the files.
const STATE_VERSION: u32 = 1;

/// The directory with the files about a fleet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetDir(PathBuf);

/// Membership of a machine in a fleet. It changes only when the machine joins or leaves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FleetEnrolment {
    /// Version of the file.
    pub v: u32,
    /// URL of the fleet server.
    pub server: String,
    /// Certificate authority of the fleet server, in PEM; without it, the public ones are used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_ca: Option<String>,
    /// Id of the machine.
    pub machine: MachineId,
    /// Name of the tenant.
    pub tenant: String,
    /// Random number from which the id of this copy of the machine is derived, in hexadecimal.
    pub instance_seed: InstanceId,
    /// Origin of the ledger when the machine joined.
    pub origin: String,
    /// Verifier key of the witness.
    pub witness: String,
    /// Root keys that sign policy bundles.
    #[serde(default)]
    pub policy_keys: Vec<String>,
    /// Number of root keys that must sign a bundle.
    #[serde(default)]
    pub policy_threshold: u32,
    /// Time of joining, in Unix seconds.
    pub joined: u64,
    /// Whether the machine is a CI runner, which uploads its records before it leaves.
    #[serde(default)]
    pub ephemeral: bool,
    /// The program that joined, which the daemon starts as the connector.
    pub program: PathBuf,
}

/// Credentials of the message bus, with the time at which they were received.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredCredentials {
    /// Time of receipt by this machine's clock, in Unix seconds.
    pub received: u64,
    /// The credentials as the server sent them.
    pub credentials: MachineCredentials,
}

/// Error for a file about the fleet that cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FleetStateError {
    /// The file cannot be read or written.
    #[error("`{}`: {source}", path.display())]
    Io {
        /// Path of this file.
        path: PathBuf,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// The file is invalid.
    #[error("`{}` is invalid: {why}", path.display())]
    Form {
        /// Path of this file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The machine is not enrolled.
    #[error("this machine is not part of a fleet")]
    NotEnrolled,
    /// The machine is already enrolled.
    #[error("this machine is already part of the fleet at `{0}`")]
    Enrolled(String),
    /// Another connector is running.
    #[error("another connector of this state directory is running")]
    Locked,
}

impl FleetDir {
    /// Returns the directory of a state directory.
    pub fn of_state(state: &Path) -> Self {
        Self(state.join("fleet"))
    }

    /// Returns the path of the directory.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Returns the path of a file in the directory.
    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Whether the machine is part of a fleet.
    pub fn is_enrolled(&self) -> bool {
        self.file(ENROLMENT_FILE).symlink_metadata().is_ok()
    }

    /// Reads the enrolment; `None` if the machine is not part of a fleet.
    pub fn enrolment(&self) -> Result<Option<FleetEnrolment>, FleetStateError> {
        let Some(enrolment) = self.read_json::<FleetEnrolment>(ENROLMENT_FILE)? else { return Ok(None) };
        if enrolment.v == STATE_VERSION {
            return Ok(Some(enrolment));
        }
        let why = format!("unknown version {}", enrolment.v);
        Err(FleetStateError::Form { path: self.file(ENROLMENT_FILE), why })
    }

    /// Stores a new membership: the key first and the enrolment last, because the enrolment starts the connector.
    pub fn store_enrolment(
        &self,
        key: &NkeyPair,
        credentials: &StoredCredentials,
        enrolment: &FleetEnrolment,
    ) -> Result<(), FleetStateError> {
        if let Some(current) = self.enrolment()? {
            return Err(FleetStateError::Enrolled(current.server));
        }
        self.create()?;
        self.write(KEY_FILE, format!("{}\n", key.seed_text()).as_bytes())?;
        self.write_json(CREDENTIALS_FILE, credentials)?;
        self.write_json(ENROLMENT_FILE, &FleetEnrolment { v: STATE_VERSION, ..enrolment.clone() })
    }

    /// Removes the membership: the enrolment first, which ends the connector. The caller removes the policy.
    pub fn remove_enrolment(&self) -> Result<(), FleetStateError> {
        for name in
            [ENROLMENT_FILE, KEY_FILE, CREDENTIALS_FILE, CURSOR_FILE, COSIGNED_FILE, REPORT_FILE, CA_FILE]
        {
            let path = self.file(name);
            match std::fs::remove_file(&path) {
                Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                    return Err(FleetStateError::Io { path, source });
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Reads the machine's key, which only its owner may be able to read.
    pub fn machine_key(&self) -> Result<NkeyPair, FleetStateError> {
        let path = self.file(KEY_FILE);
        let text = self.read_text(KEY_FILE)?.ok_or(FleetStateError::NotEnrolled)?;
        let mode = path.symlink_metadata().map(|metadata| metadata.permissions().mode() & 0o777);
        let mode = mode.map_err(|source| FleetStateError::Io { path: path.clone(), source })?;
        if mode & 0o077 != 0 {
            let why = format!("readable by other users: its mode is {mode:o}, but must be 600");
            return Err(FleetStateError::Form { path, why });
        }
        NkeyPair::parse_seed(&text).map_err(|error| FleetStateError::Form { path, why: error.to_string() })
    }

    /// Reads the credentials of the message bus.
    pub fn credentials(&self) -> Result<Option<StoredCredentials>, FleetStateError> {
        self.read_json(CREDENTIALS_FILE)
    }

    /// Stores new credentials.
    pub fn store_credentials(&self, credentials: &StoredCredentials) -> Result<(), FleetStateError> {
        self.write_json(CREDENTIALS_FILE, credentials)
    }

    /// Stores the certificate authority of the message bus. Returns the path of the file.
    pub fn store_nats_ca(&self, pem: &str) -> Result<PathBuf, FleetStateError> {
        self.write(CA_FILE, pem.as_bytes())?;
        Ok(self.file(CA_FILE))
    }

    /// Locks the directory for one connector, until the file is dropped.
    pub fn lock(&self) -> Result<File, FleetStateError> {
        let path = self.file(LOCK_FILE);
        let io = |source| FleetStateError::Io { path: path.clone(), source };
        let file = open_state_for_writing(&path, OpenOptions::new().write(true)).map_err(io)?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(TryLockError::WouldBlock) => Err(FleetStateError::Locked),
            Err(TryLockError::Error(source)) => Err(io(source)),
        }
    }

    /// Creates the directory, private to its owner.
    pub fn create(&self) -> Result<(), FleetStateError> {
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.0);
        made.map_err(|source| FleetStateError::Io { path: self.0.clone(), source })
    }

    pub(crate) fn read_text(&self, name: &str) -> Result<Option<String>, FleetStateError> {
        let path = self.file(name);
        read_text(&path, FileClass::State, MAX_STATE_FILE_BYTES)
            .map_err(|source| FleetStateError::Io { path, source })
    }

    pub(crate) fn read_json<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, FleetStateError> {
        let Some(text) = self.read_text(name)? else { return Ok(None) };
        let form = |error: serde_json::Error| FleetStateError::Form {
            path: self.file(name),
            why: error.to_string(),
        };
        serde_json::from_str(&text).map(Some).map_err(form)
    }

    pub(crate) fn write_json<T: Serialize>(&self, name: &str, value: &T) -> Result<(), FleetStateError> {
        let form = |error: serde_json::Error| FleetStateError::Form {
            path: self.file(name),
            why: error.to_string(),
        };
        let mut text = serde_json::to_vec_pretty(value).map_err(form)?;
        text.push(b'\n');
        self.write(name, &text)
    }

    /// Replaces a file atomically.
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> Result<(), FleetStateError> {
        let path = self.file(name);
        let write = || {
            let mut file = tempfile::NamedTempFile::new_in(&self.0)?;
            file.write_all(bytes)?;
            file.as_file().sync_all()?;
            file.persist(&path)?;
            Ok(())
        };
        write().map_err(|source: std::io::Error| FleetStateError::Io { path: path.clone(), source })
    }
}

/// The enrolment; the machine is part of a fleet if it exists.
const ENROLMENT_FILE: &str = "enrolment.json";
/// The machine's secret key.
const KEY_FILE: &str = "machine.key";
/// Credentials of the message bus.
const CREDENTIALS_FILE: &str = "credentials.json";
/// Certificate authority of the message bus.
const CA_FILE: &str = "nats-ca.pem";
/// Locked by the running connector.
const LOCK_FILE: &str = "connector.lock";
/// How far records were uploaded.
pub(crate) const CURSOR_FILE: &str = "upload.json";
/// The last checkpoint that the witness cosigned.
pub(crate) const COSIGNED_FILE: &str = "cosigned.checkpoint";
/// What the connector is doing.
pub(crate) const REPORT_FILE: &str = "connector.json";

#[cfg(test)]
pub(crate) mod tests {
    use tenterhook_fleet_protocol::{Mailbox, NkeyKind};

    use super::*;

    pub(crate) fn enrol(dir: &FleetDir, witness: &str) -> NkeyPair {
        let key = NkeyPair::from_seed(NkeyKind::User, &[1; 32]);
        let credentials = MachineCredentials {
            nats: vec!["nats://127.0.0.1:1".into()],
            nats_ca: None,
            user_jwt: "jwt".into(),
            issued: 0,
            expires: 100,
            ring: "all".parse().unwrap(),
            mailbox: Mailbox::derive(
                &NkeyPair::from_seed(NkeyKind::Account, &[2; 32]),
                &MachineId::of_key(&key.public()),
            ),
            collects: vec![],
        };
        let enrolment = FleetEnrolment {
            v: STATE_VERSION,
            server: "https://fleet.example".into(),
            server_ca: None,
            machine: MachineId::of_key(&key.public()),
            tenant: "acme".into(),
            instance_seed: InstanceId([3; 16]),
            origin: "host/ledger".into(),
            witness: witness.into(),
            policy_keys: vec![],
            policy_threshold: 0,
            joined: 1,
            ephemeral: false,
            program: "/usr/bin/tenterhook-fleet".into(),
        };
        dir.store_enrolment(&key, &StoredCredentials { received: 1, credentials }, &enrolment).unwrap();
        key
    }

    #[test]
    fn a_membership_is_stored_in_private_files_and_removed() {
        let state = tempfile::tempdir().unwrap();
        let dir = FleetDir::of_state(state.path());
        assert!(!dir.is_enrolled());
        assert!(matches!(dir.machine_key(), Err(FleetStateError::NotEnrolled)));
        let key = enrol(&dir, "w");
        assert_eq!(dir.machine_key().unwrap().public(), key.public());
        for entry in std::fs::read_dir(dir.path()).unwrap() {
            let entry = entry.unwrap();
            assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{:?}", entry.path());
        }
        let mode = dir.path().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        dir.remove_enrolment().unwrap();
        assert!(!dir.is_enrolled() && std::fs::read_dir(dir.path()).unwrap().next().is_none());
        dir.remove_enrolment().unwrap();
    }

    #[test]
    fn a_second_membership_and_a_key_that_others_can_read_are_refused() {
        let state = tempfile::tempdir().unwrap();
        let dir = FleetDir::of_state(state.path());
        let key = enrol(&dir, "w");
        let (credentials, enrolment) =
            (dir.credentials().unwrap().unwrap(), dir.enrolment().unwrap().unwrap());
        let refused = dir.store_enrolment(&key, &credentials, &enrolment);
        assert!(matches!(refused, Err(FleetStateError::Enrolled(_))));
        std::fs::set_permissions(dir.file(KEY_FILE), std::fs::Permissions::from_mode(0o644)).unwrap();
        assert!(dir.machine_key().unwrap_err().to_string().contains("readable by other users"));
    }

    #[test]
    fn only_one_connector_has_the_lock() {
        let state = tempfile::tempdir().unwrap();
        let dir = FleetDir::of_state(state.path());
        dir.create().unwrap();
        let held = dir.lock().unwrap();
        assert!(matches!(dir.lock(), Err(FleetStateError::Locked)));
        drop(held);
        assert!(dir.lock().is_ok());
    }
}
