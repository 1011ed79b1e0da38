// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Who sends a request: the owner of a key, or a user that a reverse proxy has verified.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{ConnectInfo, FromRequest, Request};
use axum::http::{HeaderMap, HeaderValue, Method};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::DeserializeOwned;
use tenterhook_dashboard::page_key;

use super::signature::{MAX_CLOCK_SKEW_SECONDS, SIGNATURE_HEADER, SignatureHeader, SignedParts};
use super::{MAX_BODY_BYTES, SharedContext};
use crate::error::FleetError;
use crate::store::{OperatorRole, SessionOperator};

/// Header that a browser sends only if a page of the same origin made the request. A user of a proxy and a browser that
/// is signed in need it for every change: otherwise another site could make the change with the user's cookie.
pub(super) const SAME_ORIGIN_HEADER: &str = "x-tenterhook-fleet";

/// Maximum number of cookies of one request that are looked up in the database.
const MAX_CHECKED_COOKIES: usize = 8;

/// Users that a reverse proxy has verified.
#[derive(Debug, Clone)]
pub struct ProxyIdentity {
    /// Header in which the proxy names the user. The proxy must remove it from what it receives.
    pub header: String,
    /// Addresses of the proxy. The header is ignored from every other address.
    pub addresses: Vec<IpAddr>,
    /// Tenant of these users.
    pub tenant: String,
    /// Roles by user.
    pub roles: BTreeMap<String, OperatorRole>,
}

/// How an operator was identified.
pub(super) enum OperatorIdentity {
    /// The request is signed with the key that has this id.
    Key(String),
    /// A browser that signed in with a one-time link.
    Browser(SessionOperator),
    /// A reverse proxy verified the user.
    Proxy,
}

/// A request of an operator whose identity was checked.
pub(super) struct OperatorRequest {
    pub(super) context: SharedContext,
    pub(super) identity: OperatorIdentity,
    pub(super) tenant: String,
    /// Name of the operator with the id of the key, for records.
    pub(super) actor: String,
    role: OperatorRole,
    pub(super) query: Option<String>,
    body: Bytes,
}

impl OperatorRequest {
    /// Returns the role of the operator.
    pub(super) fn role(&self) -> OperatorRole {
        self.role
    }

    /// Checks that the operator has at least this role. A browser that signed in with a link may only read: every change
    /// that no page offers needs a signed request, so a stolen session cannot add keys or publish policy.
    pub(super) fn require(&self, role: OperatorRole) -> Result<(), FleetError> {
        self.require_on_pages(role)?;
        if role > OperatorRole::Viewer && matches!(self.identity, OperatorIdentity::Browser(_)) {
            return Err(FleetError::forbidden("a browser may not do this")
                .with_hint("use the command line, which signs requests with your key"));
        }
        Ok(())
    }

    /// Checks the role for a change that the pages offer.
    pub(super) fn require_on_pages(&self, role: OperatorRole) -> Result<(), FleetError> {
        if self.role >= role {
            return Ok(());
        }
        let message =
            format!("this needs the role `{role}`, and `{}` has the role `{}`", self.actor, self.role);
        Err(FleetError::forbidden(message))
    }

    /// Reads the body.
    pub(super) fn json<T: DeserializeOwned>(&self) -> Result<T, FleetError> {
        serde_json::from_slice(&self.body)
            .map_err(|error| FleetError::invalid(format!("invalid request: {error}")))
    }

    /// Reads the parameters of the query.
    pub(super) fn parameters<T: DeserializeOwned>(&self) -> Result<T, FleetError> {
        let text = self.query.as_deref().unwrap_or_default();
        let uri = format!("/?{text}").parse().map_err(|_| FleetError::invalid("invalid parameters"))?;
        let query = axum::extract::Query::try_from_uri(&uri);
        query
            .map(|query| query.0)
            .map_err(|error| FleetError::invalid(format!("invalid parameters: {error}")))
    }
}

impl FromRequest<SharedContext> for OperatorRequest {
    type Rejection = FleetError;

    async fn from_request(request: Request, context: &SharedContext) -> Result<Self, FleetError> {
        let (parts, body) = request.into_parts();
        let too_large = |_| FleetError::invalid("the request is too large, or was cut");
        let body = axum::body::to_bytes(body, MAX_BODY_BYTES).await.map_err(too_large)?;
        let query = parts.uri.query().map(ToOwned::to_owned);
        let address = parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|info| info.0.ip());
        let (identity, tenant, actor, role) =
            if let Some((tenant, user, role)) = proxy_user(context, &parts.headers, address) {
                (OperatorIdentity::Proxy, tenant, user, role)
            } else if parts.headers.contains_key(SIGNATURE_HEADER) {
                let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
                let fleet = context.fleet();
                let signed = SignedParts { fleet: &fleet, method: parts.method.as_str(), path, body: &body };
                check_signature(context, &parts.headers, &signed).await?
            } else {
                let session = find_session(context, &parts.headers).await?;
                let actor = format!("{} ({}, browser)", session.name, session.id);
                let (tenant, role) = (session.tenant.clone(), session.role);
                (OperatorIdentity::Browser(session), tenant, actor, role)
            };
        if !matches!(identity, OperatorIdentity::Key(_)) {
            check_own_page(&parts.method, &parts.headers)?;
        }
        Ok(Self { context: context.clone(), identity, tenant, actor, role, query, body })
    }
}

/// Checks that a request of a browser comes from our own pages.
fn check_own_page(method: &Method, headers: &HeaderMap) -> Result<(), FleetError> {
    let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
    if site.is_some_and(|site| site != b"same-origin") {
        return Err(FleetError::forbidden("only the pages of this server may send this request"));
    }
    let is_read = matches!(*method, Method::GET | Method::HEAD);
    if is_read || headers.contains_key(SAME_ORIGIN_HEADER) {
        return Ok(());
    }
    Err(FleetError::forbidden(format!("a change needs the header `{SAME_ORIGIN_HEADER}`"))
        .with_hint("pages of other sites cannot send it; any value will do"))
}

/// Finds the session of a browser by its cookie and its page key. The cookie alone is not sufficient, because browsers
/// send it to every port of the host.
async fn find_session(context: &SharedContext, headers: &HeaderMap) -> Result<SessionOperator, FleetError> {
    if let Some(key) = page_key(headers) {
        let cookie = context.session_cookie();
        for value in cookie.presented(headers).into_iter().take(MAX_CHECKED_COOKIES) {
            if let Some(session) = context.store.find_browser_session(value, key).await? {
                return Ok(session);
            }
        }
    }
    Err(FleetError::forbidden("the request is neither signed with a key nor of a browser that is signed in")
        .with_hint("run `tenterhook fleet open` to sign a browser in"))
}

/// Returns tenant, user and role if a trusted proxy names a user.
fn proxy_user(
    context: &SharedContext,
    headers: &HeaderMap,
    address: Option<IpAddr>,
) -> Option<(String, String, OperatorRole)> {
    let proxy = context.proxy.as_ref()?;
    if !proxy.addresses.contains(&address?) {
        return None;
    }
    // Two values would mean that the proxy passed on a header that it received.
    let mut values = headers.get_all(&proxy.header).iter();
    let user = values.next()?.to_str().ok()?;
    if values.next().is_some() {
        return None;
    }
    let role = proxy.roles.get(user)?;
    Some((proxy.tenant.clone(), user.to_owned(), *role))
}

async fn check_signature(
    context: &SharedContext,
    headers: &HeaderMap,
    signed: &SignedParts<'_>,
) -> Result<(OperatorIdentity, String, String, OperatorRole), FleetError> {
    let refuse = || {
        FleetError::forbidden("the request is not signed with the key of an operator of this fleet")
            .with_hint("check the key file and the clock of this computer")
    };
    let header = headers.get(SIGNATURE_HEADER).and_then(|value| value.to_str().ok());
    let header = header.and_then(SignatureHeader::parse).ok_or_else(refuse)?;
    let (tenant, operator) = context.store.find_operator(&header.operator).await?.ok_or_else(refuse)?;
    let key =
        STANDARD.decode(&operator.public_key).ok().and_then(|key| key.try_into().ok()).ok_or_else(refuse)?;
    if !header.is_valid(&key, signed) {
        return Err(refuse());
    }
    let life = Duration::from_secs(2 * MAX_CLOCK_SKEW_SECONDS + 60);
    if !context.store.use_nonce(&operator.id, &header.nonce, life).await? {
        return Err(FleetError::forbidden("the request was sent before"));
    }
    let actor = format!("{} ({})", operator.name, operator.id);
    Ok((OperatorIdentity::Key(operator.id), tenant, actor, operator.role))
}
