// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Serves the files of the dashboard. They are embedded in release builds; debug builds read them from disk.

use std::borrow::Cow;

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use crate::sha256_hex;

/// Every file of `web/dist` at build time.
#[cfg(not(debug_assertions))]
const FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/dashboard.rs"));

/// Path prefix of files that never change, because their names contain a hash of their content.
const ASSET_PREFIX: &str = "/assets/";

/// The pages that a server offers at `/`. All pages share their assets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DashboardPages {
    /// The pages of a daemon.
    Machine,
    /// The pages of a fleet server.
    Fleet,
}

impl DashboardPages {
    /// Name of the file that is served at `/`.
    fn index(self) -> &'static str {
        match self {
            Self::Machine => "index.html",
            Self::Fleet => "fleet.html",
        }
    }

    /// Commands that show the same in a terminal.
    fn commands(self) -> [&'static str; 3] {
        match self {
            Self::Machine => ["tenterhook status", "tenterhook ledger", "tenterhook approvals"],
            Self::Fleet => {
                ["tenterhook fleet machines", "tenterhook fleet decisions", "tenterhook fleet alerts"]
            }
        }
    }

    /// The page that is served if the program was built without the dashboard.
    fn missing_page(self) -> String {
        let commands = self.commands().map(|command| format!("<code>{command}</code>")).join(", ");
        format!(
            "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Tenterhook</title>\
             <h1>This build has no dashboard</h1><p>The files of <code>web/dist</code> were missing at build time. \
             Run <code>make build</code> to build them; this needs Node.js 20 or newer.</p>\
             <p>The command line shows the same: {commands}.</p>"
        )
    }
}

/// Routes of all files. The dashboard's pages have no routes: they are in the URL's fragment, which browsers do not
/// send.
pub fn router(pages: DashboardPages) -> Router {
    let serve = move |request: Request| async move { serve_file(pages, &request) };
    Router::new().route("/", get(serve)).route("/favicon.svg", get(serve)).route("/assets/{name}", get(serve))
}

/// Whether a path belongs to a file.
pub fn is_file_path(path: &str) -> bool {
    path == "/" || path == "/favicon.svg" || path.starts_with(ASSET_PREFIX)
}

fn serve_file(pages: DashboardPages, request: &Request) -> Response {
    let path = request.uri().path();
    let name = if path == "/" { pages.index() } else { path.trim_start_matches('/') };
    let Some(bytes) = read_file(name) else {
        return match path {
            "/" => ([(header::CONTENT_TYPE, content_type(name))], pages.missing_page()).into_response(),
            _ => (StatusCode::NOT_FOUND, "file not found").into_response(),
        };
    };
    let tag = format!("\"{}\"", sha256_hex(&bytes).get(..32).unwrap_or_default());
    let mut response = if header_list_contains(request.headers(), header::IF_NONE_MATCH, &tag) {
        StatusCode::NOT_MODIFIED.into_response()
    } else if header_list_contains(request.headers(), header::ACCEPT_ENCODING, "gzip")
        && let Some(packed) = read_file(&format!("{name}.gz"))
    {
        ([(header::CONTENT_ENCODING, "gzip")], packed).into_response()
    } else {
        bytes.into_response()
    };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type(name)));
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    let keep =
        if path.starts_with(ASSET_PREFIX) { "public, max-age=31536000, immutable" } else { "no-cache" };
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(keep));
    if let Ok(tag) = tag.parse() {
        headers.insert(header::ETAG, tag);
    }
    response
}

/// Whether a comma-separated header contains a value.
fn header_list_contains(headers: &HeaderMap, name: header::HeaderName, wanted: &str) -> bool {
    let lists = headers.get_all(name).into_iter().filter_map(|value| value.to_str().ok());
    lists.flat_map(|list| list.split(',')).any(|one| {
        let (one, how) = one.split_once(';').unwrap_or((one, ""));
        one.trim() == wanted && how.trim() != "q=0"
    })
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("woff2") => "font/woff2",
        _ => "application/octet-stream",
    }
}

#[cfg(not(debug_assertions))]
fn read_file(name: &str) -> Option<Cow<'static, [u8]>> {
    FILES.iter().find(|(known, _)| *known == name).map(|(_, bytes)| Cow::Borrowed(*bytes))
}

#[cfg(debug_assertions)]
fn read_file(name: &str) -> Option<Cow<'static, [u8]>> {
    // The name is untrusted input: hidden files and path traversal are refused.
    let plain = name.split('/').all(|part| !part.starts_with('.') && !part.contains('\\'));
    let dist = concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/dist/");
    if plain { std::fs::read(format!("{dist}{name}")).ok().map(Cow::Owned) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_in_a_header_names_what_is_accepted() {
        let accepts = |value: &'static str| {
            let headers = HeaderMap::from_iter([(header::ACCEPT_ENCODING, HeaderValue::from_static(value))]);
            header_list_contains(&headers, header::ACCEPT_ENCODING, "gzip")
        };
        assert!(accepts("gzip") && accepts("br, gzip;q=0.5") && accepts("deflate,gzip"));
        assert!(!accepts("br") && !accepts("gzip;q=0") && !accepts("xgzip"));
    }

    #[test]
    fn only_plain_names_are_read() {
        for name in ["../package.json", "assets/../../package.json", ".gitkeep", "assets/.hidden"] {
            assert!(read_file(name).is_none(), "{name}");
        }
    }
}
