// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Signs operators in with a browser: a signed request creates a one-time link, which is exchanged for a cookie and a
//! page key. Without a reverse proxy, this is the way to the dashboard.

use std::time::{Duration, SystemTime};

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, header};
use serde::Deserialize;
use serde_json::{Value, json};
use tenterhook_dashboard::{BrowserKeys, LINK_LIFETIME, SessionCookie, create_link_secret, hash_secret};
use tenterhook_error::Failure;

use super::operator::{OperatorIdentity, OperatorRequest, SAME_ORIGIN_HEADER};
use super::{ApiContext, SharedContext};
use crate::error::FleetError;
use crate::store::{OperatorRole, Store, serialize_time};

/// How long a browser session is valid.
const SESSION_LIFE: Duration = Duration::from_hours(12);

/// A response that also sets a cookie.
type WithCookie = ([(HeaderName, String); 1], Json<Value>);

#[derive(Deserialize)]
struct SignInRequest {
    link: String,
}

/// A time for a response.
#[derive(serde::Serialize)]
struct Rfc3339(#[serde(serialize_with = "serialize_time")] SystemTime);

#[expect(clippy::needless_pass_by_value, reason = "`map_err` passes a value")]
fn failed(error: Failure) -> FleetError {
    FleetError::internal(error.to_string())
}

impl ApiContext {
    /// The cookie of browser sessions. Fleets on one host have different cookies.
    pub(crate) fn session_cookie(&self) -> SessionCookie {
        let digest = hash_secret(&self.fleet());
        let id = digest.get(..8).unwrap_or_default();
        SessionCookie::of_service(&format!("fleet-{id}"), SESSION_LIFE, self.has_https)
    }

    /// Creates a one-time link for an operator. Returns its secret and when it expires.
    pub(crate) async fn create_sign_in_link(
        &self,
        tenant: &str,
        (actor, operator): (&str, &str),
    ) -> Result<(String, SystemTime), FleetError> {
        self.actions.record(tenant, actor, "sign-in-link", json!({ "key": operator })).await?;
        let secret = create_link_secret().map_err(failed)?;
        let expires = self.store.insert_sign_in_link(operator, &secret, LINK_LIFETIME).await?;
        Ok((secret, expires))
    }
}

/// Creates a link for the owner of a key. A browser cannot create one, so a stolen session ends when it expires.
pub(super) async fn create_link(request: OperatorRequest) -> Result<Json<Value>, FleetError> {
    let OperatorIdentity::Key(operator) = &request.identity else {
        return Err(FleetError::forbidden("only a request that is signed with a key creates a link"));
    };
    let actor = (request.actor.as_str(), operator.as_str());
    let (link, expires) = request.context.create_sign_in_link(&request.tenant, actor).await?;
    Ok(Json(json!({ "link": link, "expires": Rfc3339(expires) })))
}

/// Exchanges a link for a cookie and a page key.
pub(super) async fn sign_in(
    State(context): State<SharedContext>,
    headers: HeaderMap,
    body: axum::body::Bytes,
) -> Result<WithCookie, FleetError> {
    // Another site must not sign a browser in: its user would see the fleet of another operator.
    if !headers.contains_key(SAME_ORIGIN_HEADER) {
        return Err(FleetError::forbidden(format!("a sign-in needs the header `{SAME_ORIGIN_HEADER}`")));
    }
    let request: SignInRequest = serde_json::from_slice(&body)
        .map_err(|error| FleetError::invalid(format!("invalid request: {error}")))?;
    let keys = BrowserKeys::generate().map_err(failed)?;
    let mut client = context.store.client().await?;
    let transaction = client.transaction().await?;
    let operator = Store::use_sign_in_link(&transaction, &request.link).await?.ok_or_else(|| {
        FleetError::forbidden("this link was already used or has expired")
            .with_hint("run `tenterhook fleet open` to get a new one")
    })?;
    let expires = Store::insert_browser_session(&transaction, &operator.id, &keys, SESSION_LIFE).await?;
    let actor = format!("{} ({})", operator.name, operator.id);
    let detail = json!({ "role": operator.role, "expires": Rfc3339(expires) });
    context.actions.record(&operator.tenant, &actor, "sign-in", detail).await?;
    transaction.commit().await?;
    let cookie = context.session_cookie().format(&keys.cookie);
    let body = json!({
        "key": keys.key, "operator": operator.name, "role": operator.role, "tenant": operator.tenant,
        "expires": Rfc3339(expires),
    });
    Ok(([(header::SET_COOKIE, cookie)], Json(body)))
}

/// Describes who is signed in.
pub(super) async fn show(request: OperatorRequest) -> Result<Json<Value>, FleetError> {
    request.require(OperatorRole::Viewer)?;
    let (operator, expires) = match &request.identity {
        OperatorIdentity::Browser(session) => (&session.name, Some(Rfc3339(session.expires))),
        OperatorIdentity::Key(_) | OperatorIdentity::Proxy => (&request.actor, None),
    };
    Ok(Json(json!({
        "operator": operator, "role": request.role(), "tenant": request.tenant, "expires": expires,
    })))
}

/// Ends the session of a browser.
pub(super) async fn sign_out(headers: HeaderMap, request: OperatorRequest) -> Result<WithCookie, FleetError> {
    let cookie = request.context.session_cookie();
    if matches!(request.identity, OperatorIdentity::Browser(_)) {
        request.context.actions.record(&request.tenant, &request.actor, "sign-out", json!({})).await?;
        for value in cookie.presented(&headers) {
            request.context.store.end_browser_session(value).await?;
        }
    }
    Ok(([(header::SET_COOKIE, cookie.format(""))], Json(json!({}))))
}
