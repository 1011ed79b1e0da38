// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Authenticates requests over TCP: programs send the token; browsers send a cookie and their page key. Without
//! either, only the dashboard's files, its entry path and `/v1/health` are served.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;

use super::admission::Admission;
use super::http::may_be_hook_call;
use super::{Peer, RequestCheck};
use crate::api::{self, ApiError, Visitor};
use crate::daemon::Daemon;
use tenterhook_dashboard::{self as dashboard, BrowserVisit, PeerAccount};

/// Credentials that requests over TCP are checked against.
pub(crate) struct TcpAccess {
    check: RequestCheck,
    port: u16,
    daemon: Arc<Daemon>,
}

impl TcpAccess {
    /// Creates the check for a listener on this address.
    pub(crate) fn new(address: SocketAddr, daemon: &Arc<Daemon>) -> Self {
        let check = RequestCheck::new(address, &daemon.token);
        Self { check, port: address.port(), daemon: Arc::clone(daemon) }
    }

    pub(super) fn daemon(&self) -> &Arc<Daemon> {
        &self.daemon
    }

    /// Returns the browser session of a request, if it is valid.
    fn find_visit(&self, headers: &HeaderMap) -> Option<BrowserVisit> {
        let key = dashboard::page_key(headers)?;
        let cookies = dashboard::presented_cookies(headers, self.port);
        cookies.into_iter().find_map(|cookie| self.daemon.access.find_visit(cookie, key, Instant::now()))
    }
}

pub(super) async fn authorize(
    State(access): State<Arc<TcpAccess>>,
    request: Request,
    next: Next,
) -> Response {
    let mut response = authenticate(&access, request, next).await;
    dashboard::add_security_headers(response.headers_mut());
    response
}

async fn authenticate(access: &TcpAccess, mut request: Request, next: Next) -> Response {
    let headers = request.headers();
    if let Err((status, why)) = access.check.check_host(headers) {
        return ApiError::new(status, why).into_response();
    }
    let admission = request.extensions().get::<Admission>().cloned().unwrap_or_default();
    if access.check.has_token(headers) {
        admission.grant();
        return next.run(request).await;
    }
    let (path, changes) =
        (request.uri().path().to_owned(), !matches!(*request.method(), Method::GET | Method::HEAD));
    let visit = access.find_visit(headers);
    let own = comes_from_own_page(headers, changes);
    // The caller is unknown until a token or a cookie is checked.
    request.extensions_mut().remove::<Peer>();
    if path == api::ENTRY_PATH && changes && own || !changes && dashboard::is_file_path(&path) {
        return next.run(request).await;
    }
    let Some(visit) = visit else {
        if path == api::HEALTH_PATH {
            return next.run(request).await;
        }
        let hint = "send `Authorization: Bearer <token>`; the token is in `run/token` of the state directory";
        return ApiError::new(StatusCode::UNAUTHORIZED, "the token is missing or wrong")
            .hint(hint)
            .into_response();
    };
    let peer_account = request.extensions().get::<PeerAccount>();
    if peer_account.is_some_and(|peer_account| peer_account.is_refused(&[access.daemon.uid, 0])) {
        tracing::warn!("another account sent a dashboard cookie");
        let why = "this dashboard session belongs to another account of the machine";
        return ApiError::new(StatusCode::FORBIDDEN, why).into_response();
    }
    admission.grant();
    if !own {
        let why = "only the dashboard's own pages may send this request";
        return ApiError::new(StatusCode::FORBIDDEN, why).into_response();
    }
    if is_for_programs(&path) {
        let why = "hooks are called by programs, not by browsers";
        return ApiError::new(StatusCode::FORBIDDEN, why).into_response();
    }
    request.extensions_mut().insert(Peer::Browser);
    request.extensions_mut().insert(Visitor { until: visit.until });
    end_with_visit(next.run(request).await, visit)
}

/// Whether the browser states that the request comes from our own page. Required for requests that change something.
fn comes_from_own_page(headers: &HeaderMap, changes: bool) -> bool {
    // The origin itself was checked before.
    let origin = headers.contains_key(header::ORIGIN);
    let site = headers.get("sec-fetch-site").map(header::HeaderValue::as_bytes);
    (origin || !changes) && site.is_none_or(|site| site == b"same-origin")
}

/// Whether a path is for programs, not for browsers.
fn is_for_programs(path: &str) -> bool {
    !path.starts_with("/v1/") || path == "/v1/events" || may_be_hook_call(path)
}

/// Ends a stream of events when the browser session ends.
fn end_with_visit(response: Response, visit: BrowserVisit) -> Response {
    let kind = response.headers().get(header::CONTENT_TYPE).map(header::HeaderValue::as_bytes);
    if !kind.is_some_and(|kind| kind.starts_with(b"text/event-stream")) {
        return response;
    }
    let (parts, body) = response.into_parts();
    let stream = body.into_data_stream().take_until(Box::pin(visit.wait_end()));
    Response::from_parts(parts, Body::from_stream(stream))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_something_says_which_page_asks() {
        let headers = |pairs: &[(&'static str, &str)]| -> HeaderMap {
            pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
        };
        let origin = ("origin", "http://127.0.0.1:7878");
        assert!(comes_from_own_page(&headers(&[]), false));
        assert!(!comes_from_own_page(&headers(&[]), true));
        assert!(comes_from_own_page(&headers(&[origin]), true));
        assert!(comes_from_own_page(&headers(&[origin, ("sec-fetch-site", "same-origin")]), true));
        for site in ["same-site", "cross-site", "none"] {
            assert!(!comes_from_own_page(&headers(&[origin, ("sec-fetch-site", site)]), true), "{site}");
            assert!(!comes_from_own_page(&headers(&[("sec-fetch-site", site)]), false), "{site}");
        }
    }

    #[test]
    fn browsers_call_no_hooks() {
        for path in [
            "/v1/events",
            "/v1/hooks/claude-code/PreToolUse",
            "/v1/hooks/claude-code/NoSuchEvent",
            "/tenterhook.v1.Hooks/Fire",
        ] {
            assert!(is_for_programs(path), "{path}");
        }
        for path in ["/v1/hooks", "/v1/hooks/mine/disable", "/v1/hooks/codex/test", "/v1/mode"] {
            assert!(!is_for_programs(path), "{path}");
        }
    }
}
