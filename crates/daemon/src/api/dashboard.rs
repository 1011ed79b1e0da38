// SPDX-License-Identifier: Apache-2.0 OR MIT

//! How a browser is let in: a one-time link from the socket becomes a cookie and a key of the page.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::on;
use axum::{Extension, Json};
use serde::Deserialize;
use serde_json::{Value, json};
use tenterhook_event::Timestamp;
use tenterhook_home::door;

use super::route::{Gives, Route, Takes};
use super::{failed, refuse};
use crate::daemon::Daemon;
use crate::dashboard::{self, Neighbour};
use crate::listen::Peer;

/// Where a link is exchanged; whoever does so has nothing else to show yet.
pub(crate) const ENTRY: &str = "/v1/dashboard";

pub(super) const ROUTES: &[Route] = &[
    Route::get(ENTRY, "getDashboard", |method| on(method, show))
        .about("Until when this browser may look.")
        .gives(Gives::Json("Dashboard"))
        .refuses(&[403]),
    Route::post(ENTRY, "openDashboard", |method| on(method, enter))
        .about("Uses a one-time link up: the answer sets a cookie and has the key that the page shows with it.")
        .takes(Takes::Json("DashboardEntry"))
        .gives(Gives::Json("DashboardKey"))
        .refuses(&[400, 403]),
    Route::post("/v1/dashboard/link", "linkDashboard", |method| on(method, link))
        .about("A link that lets one browser in, once, within a minute. Over the socket only, and not for agents; a leaf says who asked.")
        .gives(Gives::Json("DashboardLink"))
        .refuses(&[403, 409]),
    Route::post("/v1/dashboard/leave", "leaveDashboard", |method| on(method, leave))
        .about("This browser may not look any more.")
        .gives(Gives::Json("Anything")),
];

/// A browser is here: let in by a cookie and the key of a page.
#[derive(Debug, Clone)]
pub(crate) struct Visitor {
    pub(crate) until: Instant,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Shown {
    link: String,
}

async fn show(visitor: Option<Extension<Visitor>>) -> Response {
    let Some(Extension(Visitor { until })) = visitor else {
        let why = "this is asked by browsers that were let in";
        return refuse(StatusCode::FORBIDDEN, why, Some("`tenterhook dashboard` lets one in"));
    };
    Json(json!({"until": at(until)})).into_response()
}

async fn link(State(daemon): State<Arc<Daemon>>, Extension(peer): Extension<Peer>) -> Response {
    let Peer::Local { .. } = peer else {
        let hint = "run `tenterhook dashboard` in a terminal of this machine";
        return refuse(StatusCode::FORBIDDEN, "a link is given over the socket only", Some(hint));
    };
    let Some(address) = daemon.listen.get() else {
        let hint = "`tenterhook restart --listen 127.0.0.1:7878` makes it listen";
        return refuse(StatusCode::CONFLICT, "the daemon does not listen over TCP", Some(hint));
    };
    // Whoever looks can deny and tighten, and whoever also has a code can loosen: so it is on record.
    let caller = tokio::task::block_in_place(|| daemon.caller(peer));
    let by = caller.to_json();
    let refused = caller.refusal("dashboard");
    let (what, detail) = match &refused {
        Some(refused) => ("refused", json!({"action": "dashboard", "why": refused.why, "authority": by})),
        None => ("dashboard", json!({"authority": by})),
    };
    if let Err(why) = daemon.change(what, caller.uid, detail, Vec::new()).await {
        let why = format!("no link is given, because that cannot be recorded: {why}");
        return refuse(StatusCode::INTERNAL_SERVER_ERROR, &why, Some("make room for the ledger"));
    }
    if let Some(refused) = &refused {
        return refuse(StatusCode::FORBIDDEN, &refused.why, Some(&refused.hint));
    }
    let now = Instant::now();
    match daemon.access.link(now) {
        Ok(secret) => {
            let host = if address.ip().is_unspecified() {
                format!("127.0.0.1:{}", address.port())
            } else {
                address.to_string()
            };
            let until = at(now + crate::dashboard::LINK);
            // Behind `#` nothing is sent to a server, nor kept in its log.
            Json(json!({"url": format!("http://{host}/#link={secret}"), "until": until})).into_response()
        }
        Err(failure) => failed(&failure),
    }
}

async fn enter(
    State(daemon): State<Arc<Daemon>>,
    neighbour: Option<Extension<Neighbour>>,
    Json(Shown { link }): Json<Shown>,
) -> Response {
    let hint = "`tenterhook dashboard` makes a new one";
    let Some(address) = daemon.listen.get() else {
        return refuse(StatusCode::FORBIDDEN, "browsers come over TCP", Some(hint));
    };
    if neighbour.is_some_and(|Extension(neighbour)| neighbour.is_refused(&[daemon.uid, 0])) {
        tracing::warn!("another account tried to use a dashboard link");
        return refuse(StatusCode::FORBIDDEN, "this link is for another account of the machine", None);
    }
    match daemon.access.enter(&link, Instant::now()) {
        Ok(Some(entry)) => {
            let cookie = dashboard::cookie(address.port(), &entry.cookie);
            ([(header::SET_COOKIE, cookie)], Json(json!({"key": entry.key}))).into_response()
        }
        Ok(None) => refuse(StatusCode::FORBIDDEN, "this link was used already, or is too old", Some(hint)),
        Err(failure) => failed(&failure),
    }
}

async fn leave(State(daemon): State<Arc<Daemon>>, headers: HeaderMap) -> Response {
    let port = daemon.listen.get().map_or(0, std::net::SocketAddr::port);
    for cookie in dashboard::presented(&headers, port) {
        daemon.access.leave(cookie, Instant::now());
    }
    ([(header::SET_COOKIE, dashboard::cookie(port, ""))], Json(json!({}))).into_response()
}

/// A moment of the clock that only counts up, as one of the calendar.
fn at(moment: Instant) -> Value {
    let left = moment.saturating_duration_since(Instant::now());
    let ms = door::now_ms().saturating_add(u64::try_from(left.as_millis()).unwrap_or(u64::MAX));
    json!(Timestamp::from_unix_ms(ms))
}
