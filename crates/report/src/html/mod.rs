// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Parts of HTML reports. Each report is one file without scripts or network requests.

pub mod chart;

const STYLE: &str = include_str!("style.css");

/// Renders the start of a page, up to the line below the heading.
pub fn page_head(title: &str, about: &str, made: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>Tenterhook: {}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <h1>{title}</h1>\n<p class=\"about\">{}<br>made {made} by Tenterhook {}</p>\n",
        lower_first(title),
        escape(about),
        env!("CARGO_PKG_VERSION")
    )
}

/// Escapes text for HTML. Commands and paths in a report are chosen by agents.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}
