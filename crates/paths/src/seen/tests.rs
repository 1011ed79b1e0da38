// SPDX-License-Identifier: Apache-2.0 OR MIT

use super::*;

/// A disk of links only.
fn disk(links: &[(&str, &str)]) -> impl FnMut(&str) -> Sight {
    let links: BTreeMap<String, String> =
        links.iter().map(|(at, says)| ((*at).to_owned(), (*says).to_owned())).collect();
    move |place| links.get(place).map_or(Sight::Other, |says| Sight::Link(says.clone()))
}

fn way(path: &str) -> Way<'_> {
    Way { path, pattern: false, itself: false }
}

/// Where a way leads, by what was seen of it.
fn end(way: Way<'_>, links: &[(&str, &str)]) -> Option<String> {
    Seen::look([Way { itself: false, ..way }], &mut disk(links)).end(way, &Steps::default())
}

#[test]
fn a_way_leads_where_a_system_would_go() {
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
        assert_eq!(end(way(path), &links).as_deref(), Some(expected), "{path}");
    }
}

#[test]
fn a_link_may_be_meant_itself_and_a_pattern_is_not_looked_through() {
    let links = [("/p/link", "/etc"), ("/p/*", "/etc"), ("/p/d", "/q")];
    let itself = |path| Way { itself: true, ..way(path) };
    assert_eq!(end(itself("/p/link"), &links).as_deref(), Some("/p/link"));
    assert_eq!(end(itself("/p/link/"), &links).as_deref(), Some("/etc"));
    assert_eq!(end(itself("/p/d/link"), &links).as_deref(), Some("/q/link"));
    let pattern = |path| Way { pattern: true, ..way(path) };
    assert_eq!(end(pattern("/p/*"), &links).as_deref(), Some("/p/*"));
    assert_eq!(end(pattern("/p/link/*/x"), &links).as_deref(), Some("/etc/*/x"));
    assert_eq!(end(way("/p/*"), &links).as_deref(), Some("/etc"));
}

#[test]
fn a_circle_leads_nowhere_and_ends() {
    assert_eq!(end(way("/p/a/x"), &[("/p/a", "b"), ("/p/b", "a")]), None);
    assert_eq!(end(way("/p/a"), &[("/p/a", "a/a/a/a")]), None);
    // Forty in a row are still followed.
    let chain: Vec<_> = (0..41).map(|n| (format!("/{n}"), format!("/{}", n + 1))).collect();
    let chain: Vec<_> = chain.iter().map(|(at, says)| (at.as_str(), says.as_str())).collect();
    assert_eq!(end(way("/1"), &chain).as_deref(), Some("/41"));
    assert_eq!(end(way("/0"), &chain), None);
}

#[test]
fn every_place_is_looked_at_once_and_nothing_below_what_is_not_there() {
    let mut looks = Vec::new();
    let seen = Seen::look(["/a/b/c", "/a/b/d/e", "/a/b/d/f", "/proc/self/cwd"].map(way), &mut |place| {
        looks.push(place.to_owned());
        if place == "/a/b/d" { Sight::Nothing } else { Sight::Other }
    });
    assert!(seen.is_empty());
    assert_eq!(looks, ["/a", "/a/b", "/a/b/c", "/a/b/d"]);
}

#[test]
fn there_is_an_end_to_looking_and_it_is_said() {
    let paths: Vec<_> = (0..5000).map(|n| format!("/p/{n}")).collect();
    let mut looks = 0;
    let seen = Seen::look(paths.iter().map(|path| way(path)), &mut |_| {
        looks += 1;
        Sight::Other
    });
    assert!(seen.cut && !seen.is_empty());
    assert_eq!(looks, MOST_LOOKS);
}

#[test]
fn links_that_say_much_are_not_gone_through_for_ever() {
    let long = "x/../".repeat(800) + "b";
    let paths: Vec<_> = (0..1000).map(|n| format!("/p/a/{n}")).collect();
    let seen = Seen::look(paths.iter().map(|path| way(path)), &mut disk(&[("/p/a", &long)]));
    assert!(seen.cut);
    let steps = Steps::default();
    let ends = paths.iter().filter(|path| seen.end(way(path), &steps).is_some()).count();
    assert!(steps.are_spent() && ends < 100, "{ends}");
}

#[test]
fn what_was_seen_is_read_back_as_it_was_written() {
    let seen = Seen::look([way("/p/link")], &mut disk(&[("/p/link", "/etc")]));
    let text = serde_json::to_string(&seen).unwrap();
    assert_eq!(text, r#"{"links":{"/p/link":"/etc"}}"#);
    assert_eq!(serde_json::from_str::<Seen>(&text).unwrap(), seen);
}
