// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The HTTP API: enrolment of machines, and requests of operators.

mod alert_routes;
mod approval_routes;
mod enrolment;
mod error_response;
mod key_routes;
mod machine_routes;
mod operator;
mod policy_routes;
mod read_routes;
mod sign_in_routes;
mod signature;
mod token_routes;
mod view_routes;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{DefaultBodyLimit, State};
use axum::middleware::map_response;
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};
use tenterhook_dashboard::{DashboardPages, add_security_headers};
use tenterhook_fleet_protocol::{EnrolRequest, LeaveRequest, RenewRequest};

pub use operator::ProxyIdentity;
pub use signature::{OperatorKey, SIGNATURE_HEADER};

use crate::action_log::ActionLog;
use crate::bus::TenantBus;
use crate::error::FleetError;
use crate::files::{MAX_SMALL_FILE_BYTES, read_named};
use crate::keys::FleetKeys;
use crate::revocation::RevocationSender;
use crate::store::Store;

/// Maximum length of a request's body.
const MAX_BODY_BYTES: usize = 2 << 20;

/// Shared values of the handlers.
pub(crate) struct ApiContext {
    pub(crate) store: Store,
    pub(crate) keys: Arc<FleetKeys>,
    pub(crate) actions: ActionLog,
    pub(crate) buses: Vec<TenantBus>,
    /// URLs of NATS that machines receive.
    pub(crate) machine_urls: Vec<String>,
    /// Certificate authority of NATS, in PEM.
    pub(crate) nats_ca: Option<String>,
    /// Life of a machine's credentials.
    pub(crate) credential_life: Duration,
    pub(crate) proxy: Option<ProxyIdentity>,
    /// Whether browsers reach this server over HTTPS.
    pub(crate) has_https: bool,
    pub(crate) revocations: RevocationSender,
}

/// State of every handler.
pub(crate) type SharedContext = Arc<ApiContext>;

impl ApiContext {
    /// Returns the name of this fleet, which requests are bound to: the key of its witness.
    pub(crate) fn fleet(&self) -> String {
        self.keys.witness().public().to_string()
    }
}

/// Builds the router.
pub(crate) fn router(context: SharedContext) -> Router {
    Router::new()
        .route("/v1/health", get(health))
        .route("/v1/info", get(info))
        .route(EnrolRequest::PATH, post(enrolment::enrol))
        .route(RenewRequest::PATH, post(enrolment::renew))
        .route(LeaveRequest::PATH, post(enrolment::leave))
        .route("/v1/tokens", get(token_routes::list).post(token_routes::create))
        .route("/v1/tokens/{id}/revoke", post(token_routes::revoke))
        .route("/v1/keys", get(key_routes::list).post(key_routes::add))
        .route("/v1/keys/{id}/revoke", post(key_routes::revoke))
        .route("/v1/machines", get(read_routes::machines))
        .route("/v1/machines/{name}/revoke", post(machine_routes::revoke))
        .route("/v1/decisions", get(read_routes::decisions))
        .route("/v1/decisions/export", get(read_routes::export))
        .route("/v1/counts", get(read_routes::counts))
        .route("/v1/policy", get(policy_routes::status))
        .route("/v1/policy/signers", post(policy_routes::set_roots))
        .route("/v1/policy/bundles", post(policy_routes::push))
        .route("/v1/policy/bundles/{version}", get(policy_routes::show))
        .route("/v1/policy/rollouts", post(policy_routes::rollout))
        .route("/v1/policy/rollouts/{ring}/halt", post(policy_routes::halt))
        .route("/v1/policy/rings", post(policy_routes::assign_ring))
        .route("/v1/approvals", get(approval_routes::list))
        .route("/v1/approvals/answer", post(approval_routes::answer))
        .route("/v1/approvals/{id}", get(approval_routes::show))
        .route("/v1/alerts", get(alert_routes::list))
        .route("/v1/alerts/{id}/acknowledge", post(alert_routes::acknowledge))
        .route("/v1/sign-in", get(sign_in_routes::show).post(sign_in_routes::sign_in))
        .route("/v1/sign-in/link", post(sign_in_routes::create_link))
        .route("/v1/sign-out", post(sign_in_routes::sign_out))
        .merge(view_routes::router())
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .with_state(context)
        .merge(tenterhook_dashboard::router(DashboardPages::Fleet))
        .layer(map_response(secure_response))
}

/// Adds the security headers that the pages of a daemon have.
async fn secure_response(mut response: Response) -> Response {
    add_security_headers(response.headers_mut());
    response
}

/// Whether this server can work: for load balancers.
async fn health(State(context): State<SharedContext>) -> Result<Json<Value>, FleetError> {
    context.store.client().await?.simple_query("select 1").await?;
    for bus in &context.buses {
        if bus.client.connection_state() != async_nats::connection::State::Connected {
            return Err(FleetError::unavailable(format!(
                "NATS: not connected to the account of `{}`",
                bus.tenant
            )));
        }
    }
    Ok(Json(json!({ "status": "ok", "version": env!("CARGO_PKG_VERSION") })))
}

/// Names the fleet, so that requests can be bound to it.
async fn info(State(context): State<SharedContext>) -> Json<Value> {
    Json(json!({ "fleet": context.fleet(), "version": env!("CARGO_PKG_VERSION") }))
}

/// Reads the certificate authority that machines receive.
pub(crate) fn read_ca(path: Option<&PathBuf>) -> Result<Option<String>, FleetError> {
    path.map(|path| read_named(path, MAX_SMALL_FILE_BYTES)).transpose()
}
