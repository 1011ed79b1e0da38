// SPDX-License-Identifier: Apache-2.0 OR MIT

use super::*;

/// Probes a file system in which only these links exist.
fn probe_links(links: &[(&str, &str)]) -> impl FnMut(&str) -> EntryKind {
    let links: BTreeMap<String, String> =
        links.iter().map(|(at, says)| ((*at).to_owned(), (*says).to_owned())).collect();
    move |place| links.get(place).map_or(EntryKind::Other, |says| EntryKind::Link(says.clone()))
}

fn walk_to(path: &str) -> PathWalk<'_> {
    PathWalk { path, pattern: false, keep_last_link: false }
}

/// Returns the path that a walk ends at.
fn walk_end(walk: PathWalk<'_>, links: &[(&str, &str)]) -> Option<String> {
    LinkMap::probe([PathWalk { keep_last_link: false, ..walk }], &mut probe_links(links))
        .end(walk, &WalkBudget::default())
}

#[test]
fn a_path_leads_where_a_system_would_go() {
    let links =
        [("/p/link", "/home/a/.ssh"), ("/p/in", "src"), ("/p/src/up", "../../etc"), ("/p/far", "link/x")];
    let table = [
        ("/p/plain//./x/", "/p/plain/x"),
        ("/", "/"),
        ("/p/link", "/home/a/.ssh"),
        ("/p/link/id_rsa", "/home/a/.ssh/id_rsa"),
        ("/p/link/../x", "/home/a/x"),
        ("/p/in/a", "/p/src/a"),
        ("/p/in/up/passwd", "/etc/passwd"),
        ("/p/far/y", "/home/a/.ssh/x/y"),
        ("/../../p/in", "/p/src"),
    ];
    for (path, expected) in table {
        assert_eq!(walk_end(walk_to(path), &links).as_deref(), Some(expected), "{path}");
    }
}

#[test]
fn a_link_may_be_meant_itself_and_a_pattern_is_not_looked_through() {
    let links = [("/p/link", "/etc"), ("/p/*", "/etc"), ("/p/d", "/q")];
    let keep_last_link = |path| PathWalk { keep_last_link: true, ..walk_to(path) };
    assert_eq!(walk_end(keep_last_link("/p/link"), &links).as_deref(), Some("/p/link"));
    assert_eq!(walk_end(keep_last_link("/p/link/"), &links).as_deref(), Some("/etc"));
    assert_eq!(walk_end(keep_last_link("/p/d/link"), &links).as_deref(), Some("/q/link"));
    let pattern = |path| PathWalk { pattern: true, ..walk_to(path) };
    assert_eq!(walk_end(pattern("/p/*"), &links).as_deref(), Some("/p/*"));
    assert_eq!(walk_end(pattern("/p/link/*/x"), &links).as_deref(), Some("/etc/*/x"));
    assert_eq!(walk_end(walk_to("/p/*"), &links).as_deref(), Some("/etc"));
}

#[test]
fn a_circle_leads_nowhere_and_ends() {
    assert_eq!(walk_end(walk_to("/p/a/x"), &[("/p/a", "b"), ("/p/b", "a")]), None);
    assert_eq!(walk_end(walk_to("/p/a"), &[("/p/a", "a/a/a/a")]), None);
    // A chain of forty links is still followed.
    let chain: Vec<_> = (0..41).map(|n| (format!("/{n}"), format!("/{}", n + 1))).collect();
    let chain: Vec<_> = chain.iter().map(|(at, says)| (at.as_str(), says.as_str())).collect();
    assert_eq!(walk_end(walk_to("/1"), &chain).as_deref(), Some("/41"));
    assert_eq!(walk_end(walk_to("/0"), &chain), None);
}

#[test]
fn every_place_is_looked_at_once_and_nothing_below_what_is_not_there() {
    let mut looks = Vec::new();
    let seen =
        LinkMap::probe(["/a/b/c", "/a/b/d/e", "/a/b/d/f", "/proc/self/cwd"].map(walk_to), &mut |place| {
            looks.push(place.to_owned());
            if place == "/a/b/d" { EntryKind::Missing } else { EntryKind::Other }
        });
    assert!(seen.is_empty());
    assert_eq!(looks, ["/a", "/a/b", "/a/b/c", "/a/b/d"]);
}

#[test]
fn link_resolution_is_bounded_and_reports_the_limit() {
    let paths: Vec<_> = (0..5000).map(|n| format!("/p/{n}")).collect();
    let mut looks = 0;
    let seen = LinkMap::probe(paths.iter().map(|path| walk_to(path)), &mut |_| {
        looks += 1;
        EntryKind::Other
    });
    assert!(seen.cut && !seen.is_empty());
    assert_eq!(looks, MAX_PROBES);
}

#[test]
fn links_that_say_much_are_not_gone_through_for_ever() {
    let long = "x/../".repeat(800) + "b";
    let paths: Vec<_> = (0..1000).map(|n| format!("/p/a/{n}")).collect();
    let seen = LinkMap::probe(paths.iter().map(|path| walk_to(path)), &mut probe_links(&[("/p/a", &long)]));
    assert!(seen.cut);
    let steps = WalkBudget::default();
    let ends = paths.iter().filter(|path| seen.end(walk_to(path), &steps).is_some()).count();
    assert!(steps.is_exhausted() && ends < 100, "{ends}");
}

#[test]
fn what_was_seen_is_read_back_as_it_was_written() {
    let seen = LinkMap::probe([walk_to("/p/link")], &mut probe_links(&[("/p/link", "/etc")]));
    let text = serde_json::to_string(&seen).unwrap();
    assert_eq!(text, r#"{"links":{"/p/link":"/etc"}}"#);
    assert_eq!(serde_json::from_str::<LinkMap>(&text).unwrap(), seen);
}
