// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Gives browsers access: a one-time link, requested over the socket, is exchanged for a cookie and a page key.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, header};
use axum::{Extension, Json};
use serde_json::json;
use tenterhook_api::{DashboardAccess, DashboardEntry, DashboardKey, DashboardLink, EmptyResponse};
use tenterhook_dashboard::{self as dashboard, PeerAccount};
use tenterhook_event::Timestamp;
use tenterhook_home::call_meta;

use super::error::ApiError;
use super::extract::RequestBody;
use super::route::Route;
use crate::daemon::Daemon;
use crate::listen::Peer;

/// Path that exchanges a one-time link for a cookie. It needs no other credentials.
pub(crate) const ENTRY_PATH: &str = "/v1/dashboard";

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get(ENTRY_PATH, "getDashboard", show).about("Time until which this browser has access."),
        Route::post(ENTRY_PATH, "openDashboard", enter).about(
            "Uses a one-time link: the response sets a cookie and contains the key that the page sends with it.",
        ),
        Route::post("/v1/dashboard/link", "linkDashboard", link)
            .about(
                "A link that admits one browser, once, within a minute. Over the socket only, and not for agents; the \
                 request is recorded.",
            )
            .errors(&[409]),
        Route::post("/v1/dashboard/leave", "leaveDashboard", leave).about("Ends the access of this browser."),
    ]
}

/// Response type that also sets a cookie.
type WithCookie<T> = ([(HeaderName, String); 1], Json<T>);

/// Marks a request from a browser with a valid cookie and page key.
#[derive(Debug, Clone)]
pub(crate) struct Visitor {
    pub(crate) until: Instant,
}

async fn show(visitor: Option<Extension<Visitor>>) -> Result<Json<DashboardAccess>, ApiError> {
    let Some(Extension(Visitor { until })) = visitor else {
        return Err(ApiError::forbidden("only browsers with a dashboard session have this resource")
            .hint("run `tenterhook dashboard` to open the dashboard"));
    };
    Ok(Json(DashboardAccess { until: to_timestamp(until) }))
}

async fn link(
    State(daemon): State<Arc<Daemon>>,
    Extension(peer): Extension<Peer>,
) -> Result<Json<DashboardLink>, ApiError> {
    let Peer::Local { .. } = peer else {
        return Err(ApiError::forbidden("dashboard links are created over the Unix socket only")
            .hint("run `tenterhook dashboard` in a terminal on this machine"));
    };
    let Some(address) = daemon.listen.get() else {
        return Err(ApiError::conflict("the daemon does not listen over TCP")
            .hint("run `tenterhook daemon restart --listen 127.0.0.1:7878`"));
    };
    // A browser can change protection (weakening it needs a code), so each link is recorded.
    let caller = tokio::task::block_in_place(|| daemon.caller(peer));
    let by = caller.to_json();
    let refused = caller.refusal("dashboard");
    let (what, detail) = match &refused {
        Some(refused) => ("refused", json!({"action": "dashboard", "why": refused.why, "authority": by})),
        None => ("dashboard", json!({"authority": by})),
    };
    if let Err(why) = daemon.record_change(what, caller.uid, detail, Vec::new()).await {
        let why = format!("no link was created, because it could not be recorded: {why}");
        return Err(ApiError::internal(why).hint("free disk space for the ledger"));
    }
    if let Some(refused) = refused {
        return Err(refused.into());
    }
    let now = Instant::now();
    let secret = daemon.access.create_link(now)?;
    let host = if address.ip().is_unspecified() {
        format!("127.0.0.1:{}", address.port())
    } else {
        address.to_string()
    };
    // Browsers do not send the part after `#`, so the secret does not appear in any server log.
    let url = format!("http://{host}/#link={secret}");
    Ok(Json(DashboardLink { url, until: to_timestamp(now + dashboard::LINK_LIFETIME) }))
}

async fn enter(
    State(daemon): State<Arc<Daemon>>,
    peer_account: Option<Extension<PeerAccount>>,
    RequestBody(DashboardEntry { link }): RequestBody<DashboardEntry>,
) -> Result<WithCookie<DashboardKey>, ApiError> {
    let hint = "run `tenterhook dashboard` to get a new one";
    let Some(address) = daemon.listen.get() else {
        return Err(ApiError::forbidden("a link can be used over TCP only").hint(hint));
    };
    if peer_account.is_some_and(|Extension(peer_account)| peer_account.is_refused(&[daemon.uid, 0])) {
        tracing::warn!("another account tried to use a dashboard link");
        return Err(ApiError::forbidden("this link belongs to another account of the machine"));
    }
    let Some(entry) = daemon.access.redeem_link(&link, Instant::now())? else {
        return Err(ApiError::forbidden("this link was already used or has expired").hint(hint));
    };
    let cookie = dashboard::session_cookie(address.port(), &entry.cookie);
    Ok(([(header::SET_COOKIE, cookie)], Json(DashboardKey { key: entry.key })))
}

async fn leave(State(daemon): State<Arc<Daemon>>, headers: HeaderMap) -> WithCookie<EmptyResponse> {
    let port = daemon.listen.get().map_or(0, std::net::SocketAddr::port);
    for cookie in dashboard::presented_cookies(&headers, port) {
        daemon.access.end_visit(cookie, Instant::now());
    }
    ([(header::SET_COOKIE, dashboard::session_cookie(port, ""))], Json(EmptyResponse {}))
}

/// Converts an instant of the monotonic clock to calendar time.
fn to_timestamp(moment: Instant) -> Timestamp {
    let left = moment.saturating_duration_since(Instant::now());
    let ms = call_meta::now_ms().saturating_add(u64::try_from(left.as_millis()).unwrap_or(u64::MAX));
    Timestamp::from_unix_ms(ms)
}
