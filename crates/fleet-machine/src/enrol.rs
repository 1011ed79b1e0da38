// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Joins and leaves a fleet.

use std::path::PathBuf;

use tenterhook_fleet_protocol::{
    ENROLMENT_VERSION, EnrolRequest, EnrolResponse, InstanceId, LeaveAnswer, LeaveRequest,
    MachineCredentials, MachineId, NkeyKind, NkeyPair, RenewRequest,
};
use tenterhook_fleet_state::{FleetDir, FleetEnrolment, FleetStateError, StoredCredentials};
use tenterhook_ledger::VerifierKey;

use crate::host;
use crate::ledger_source::{LedgerSource, SourceError};
use crate::server_client::{ServerClient, ServerError};

/// What a machine needs to join a fleet.
#[derive(Debug, Clone)]
pub struct JoinOptions {
    /// The state directory.
    pub state: PathBuf,
    /// URL of the fleet server.
    pub server: String,
    /// Certificate authority of the fleet server, in PEM.
    pub server_ca: Option<String>,
    /// The enrolment token.
    pub token: String,
    /// Version of Tenterhook.
    pub version: String,
    /// The program that the daemon starts as the connector.
    pub program: PathBuf,
    /// Whether the machine is a CI runner, which uploads its records before it leaves.
    pub ephemeral: bool,
}

/// Error for a machine that cannot join or leave a fleet.
#[derive(Debug, thiserror::Error)]
pub enum EnrolError {
    /// The files about the fleet cannot be read or written.
    #[error(transparent)]
    State(#[from] FleetStateError),
    /// The server is not reachable or refused the request.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// The ledger cannot be read.
    #[error(transparent)]
    Ledger(#[from] SourceError),
    /// The server answered with something that this machine does not accept.
    #[error("the response of the fleet server is not accepted: {0}")]
    Response(&'static str),
    /// No random numbers are available.
    #[error("no random numbers for a key: {0}")]
    Random(#[from] getrandom::Error),
}

/// Joins a fleet: makes the machine's key, proves its possession to the server and stores the membership.
pub fn join(options: &JoinOptions) -> Result<FleetEnrolment, EnrolError> {
    let fleet = FleetDir::of_state(&options.state);
    if let Some(current) = fleet.enrolment()? {
        return Err(FleetStateError::Enrolled(current.server).into());
    }
    let server = ServerClient::new(&options.server, options.server_ca.as_deref())?;
    let (mut seed, mut instance_seed) = ([0; 32], [0; 16]);
    getrandom::fill(&mut seed)?;
    getrandom::fill(&mut instance_seed)?;
    let key = NkeyPair::from_seed(NkeyKind::User, &seed);
    let instance_seed = InstanceId(instance_seed);
    let mut source = LedgerSource::new(&options.state);
    let identity = source.identity()?;
    let request = EnrolRequest {
        v: ENROLMENT_VERSION,
        token: options.token.clone(),
        machine_key: key.public(),
        instance: host::instance(instance_seed),
        host: host::host_name(),
        version: options.version.clone(),
        origin: identity.key.name().to_owned(),
        ledger_key: identity.key.to_string(),
        checkpoint: identity.note,
        time: host::now(),
        proof: String::new(),
    };
    let response: EnrolResponse = server.post(EnrolRequest::PATH, &request.signed(&key))?;
    if response.machine != MachineId::of_key(&key.public()) {
        return Err(EnrolError::Response("it names another machine"));
    }
    if response.witness.parse::<VerifierKey>().is_err() {
        return Err(EnrolError::Response("the key of the witness is invalid"));
    }
    if response.policy_keys.iter().any(|key| key.parse::<VerifierKey>().is_err()) {
        return Err(EnrolError::Response("a key of the policy is invalid"));
    }
    check_credentials(&response.credentials)?;
    let enrolment = FleetEnrolment {
        v: ENROLMENT_VERSION,
        server: server.url().to_owned(),
        server_ca: options.server_ca.clone(),
        machine: response.machine,
        tenant: response.tenant,
        instance_seed,
        origin: identity.key.name().to_owned(),
        witness: response.witness,
        policy_keys: response.policy_keys,
        policy_threshold: response.policy_threshold,
        joined: host::now(),
        ephemeral: options.ephemeral,
        program: options.program.clone(),
    };
    let credentials = StoredCredentials { received: host::now(), credentials: response.credentials };
    fleet.store_enrolment(&key, &credentials, &enrolment)?;
    Ok(enrolment)
}

/// Tells the server that this CI runner ends. The membership and the policy stay until the runner is gone.
pub fn finish(fleet: &FleetDir) -> Result<(), EnrolError> {
    let enrolment = fleet.enrolment()?.ok_or(FleetStateError::NotEnrolled)?;
    let server = ServerClient::new(&enrolment.server, enrolment.server_ca.as_deref())?;
    let request = LeaveRequest::new(&fleet.machine_key()?, host::now());
    server.post::<_, LeaveAnswer>(LeaveRequest::PATH, &request)?;
    Ok(())
}

/// Leaves the fleet. The membership is removed even if the server is not reachable; its error is returned then.
pub fn leave(fleet: &FleetDir) -> Result<Option<ServerError>, EnrolError> {
    let enrolment = fleet.enrolment()?.ok_or(FleetStateError::NotEnrolled)?;
    let told =
        fleet.machine_key().map_err(|error| ServerError::Response(error.to_string())).and_then(|key| {
            let server = ServerClient::new(&enrolment.server, enrolment.server_ca.as_deref())?;
            server.post::<_, LeaveAnswer>(LeaveRequest::PATH, &LeaveRequest::new(&key, host::now()))
        });
    fleet.remove_enrolment()?;
    Ok(told.err())
}

/// Asks for new credentials and stores them.
pub(crate) fn renew(
    fleet: &FleetDir,
    enrolment: &FleetEnrolment,
    key: &NkeyPair,
) -> Result<StoredCredentials, EnrolError> {
    let server = ServerClient::new(&enrolment.server, enrolment.server_ca.as_deref())?;
    let request = RenewRequest::new(key, host::instance(enrolment.instance_seed), host::now());
    let credentials: MachineCredentials = server.post(RenewRequest::PATH, &request)?;
    check_credentials(&credentials)?;
    let stored = StoredCredentials { received: host::now(), credentials };
    fleet.store_credentials(&stored)?;
    Ok(stored)
}

fn check_credentials(credentials: &MachineCredentials) -> Result<(), EnrolError> {
    if credentials.nats.is_empty() || credentials.nats.len() > 32 {
        return Err(EnrolError::Response("it names no message bus"));
    }
    if credentials.expires <= credentials.issued {
        return Err(EnrolError::Response("the credentials have expired"));
    }
    Ok(())
}
