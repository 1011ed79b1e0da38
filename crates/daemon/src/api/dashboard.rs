// SPDX-License-Identifier: Apache-2.0 OR MIT

//! How a browser is let in: a one-time link from the socket becomes a cookie and a key of the page.

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

/// Exchanges a one-time link for a cookie, so it needs no other proof.
pub(crate) const ENTRY: &str = "/v1/dashboard";

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get(ENTRY, "getDashboard", show).about("Time until which this browser has access."),
        Route::post(ENTRY, "openDashboard", enter).about(
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

/// A response that sets a cookie.
type WithCookie<T> = ([(HeaderName, String); 1], Json<T>);

/// A browser is here: let in by a cookie and the key of a page.
#[derive(Debug, Clone)]
pub(crate) struct Visitor {
    pub(crate) until: Instant,
}

async fn show(visitor: Option<Extension<Visitor>>) -> Result<Json<DashboardAccess>, ApiError> {
    let Some(Extension(Visitor { until })) = visitor else {
        return Err(ApiError::forbidden("this is asked by browsers that were let in")
            .hint("`tenterhook dashboard` lets one in"));
    };
    Ok(Json(DashboardAccess { until: at(until) }))
}

async fn link(
    State(daemon): State<Arc<Daemon>>,
    Extension(peer): Extension<Peer>,
) -> Result<Json<DashboardLink>, ApiError> {
    let Peer::Local { .. } = peer else {
        return Err(ApiError::forbidden("a link is given over the socket only")
            .hint("run `tenterhook dashboard` in a terminal of this machine"));
    };
    let Some(address) = daemon.listen.get() else {
        return Err(ApiError::conflict("the daemon does not listen over TCP")
            .hint("`tenterhook restart --listen 127.0.0.1:7878` makes it listen"));
    };
    // A browser can deny and tighten, and with a code weaken protection: so each link is recorded.
    let caller = tokio::task::block_in_place(|| daemon.caller(peer));
    let by = caller.to_json();
    let refused = caller.refusal("dashboard");
    let (what, detail) = match &refused {
        Some(refused) => ("refused", json!({"action": "dashboard", "why": refused.why, "authority": by})),
        None => ("dashboard", json!({"authority": by})),
    };
    if let Err(why) = daemon.change(what, caller.uid, detail, Vec::new()).await {
        let why = format!("no link is given, because that cannot be recorded: {why}");
        return Err(ApiError::internal(why).hint("make room for the ledger"));
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
    // Behind `#` nothing is sent to a server, nor kept in its log.
    let url = format!("http://{host}/#link={secret}");
    Ok(Json(DashboardLink { url, until: at(now + dashboard::LINK_LIFETIME) }))
}

async fn enter(
    State(daemon): State<Arc<Daemon>>,
    neighbour: Option<Extension<PeerAccount>>,
    RequestBody(DashboardEntry { link }): RequestBody<DashboardEntry>,
) -> Result<WithCookie<DashboardKey>, ApiError> {
    let hint = "`tenterhook dashboard` makes a new one";
    let Some(address) = daemon.listen.get() else {
        return Err(ApiError::forbidden("browsers come over TCP").hint(hint));
    };
    if neighbour.is_some_and(|Extension(neighbour)| neighbour.is_refused(&[daemon.uid, 0])) {
        tracing::warn!("another account tried to use a dashboard link");
        return Err(ApiError::forbidden("this link is for another account of the machine"));
    }
    let Some(entry) = daemon.access.redeem_link(&link, Instant::now())? else {
        return Err(ApiError::forbidden("this link was used already, or is too old").hint(hint));
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

/// A moment of the clock that only counts up, as one of the calendar.
fn at(moment: Instant) -> Timestamp {
    let left = moment.saturating_duration_since(Instant::now());
    let ms = call_meta::now_ms().saturating_add(u64::try_from(left.as_millis()).unwrap_or(u64::MAX));
    Timestamp::from_unix_ms(ms)
}
