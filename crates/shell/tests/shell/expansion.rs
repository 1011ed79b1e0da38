// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Expansion of words with known variables.

use std::borrow::Cow;

use tenterhook_shell::expand::{Expansion, ShellVariable, Variables, expand, expand_each};
use tenterhook_shell::{Command, Dialect, Word, parse};

fn words(text: &str, dialect: Dialect) -> Vec<Word> {
    let parsed = parse(text, dialect);
    match &parsed.script.statements[0].first.stages[0].command {
        Command::Simple(command) => command.words.clone(),
        other => panic!("{other:?}"),
    }
}

fn known() -> Variables {
    let mut known = Variables {
        arguments: Some(vec!["one".to_owned(), "two words".to_owned()]),
        home: Some("/home/u".to_owned()),
        ..Variables::default()
    };
    known.set("x", "a b  c");
    known.set("empty", "");
    known.set("path", "/srv/www/index.tar.gz");
    known.set("n", "5");
    known.set("star", "*.c");
    known.set("r", "x");
    let list = vec!["e1".to_owned(), "e 2".to_owned(), "e3".to_owned()];
    known.values.insert("list".to_owned(), ShellVariable::Array(Cow::Owned(list)));
    known.values.insert("unset".to_owned(), ShellVariable::Unset);
    known
}

/// Returns the fields, separated by `|`. `‹?›` is an unknown part. A note is added if the number of fields is
/// unknown.
fn shown(expansion: &Expansion) -> String {
    let fields: Vec<_> = expansion.fields.iter().map(|field| field.render("‹?›")).collect();
    let count = if expansion.has_exact_count() { "" } else { " (count unknown)" };
    format!("{}{count}", fields.join("|"))
}

#[test]
fn words_become_these_fields() {
    let cases = [
        ("a $x b", "a|a|b|c|b"),
        ("\"$x\"y$x", "a b  cya|b|c"),
        ("a$empty\"\" $empty \"$empty\"", "a|"),
        (
            "$path ${path##*/} ${path%.*} ${path%%.*} ${path#/} ${path/www/ftp}",
            "/srv/www/index.tar.gz|index.tar.gz|/srv/www/index.tar|/srv/www/index|srv/www/index.tar.gz|/srv/ftp/index.tar.gz",
        ),
        (
            "${path//w/W} ${path/#\\/srv/S} ${path/%gz/xz} ${path:1:3} ${path: -2} ${path^^} ${#path}",
            "/srv/WWW/index.tar.gz|S/www/index.tar.gz|/srv/www/index.tar.xz|srv|gz|/SRV/WWW/INDEX.TAR.GZ|21",
        ),
        (
            "${unset-d} ${unset:-d e} \"${unset:-d e}\" ${x:+y} ${unset+y}z ${empty-d}q ${empty:-d}",
            "d|d|e|d e|y|z|q|d",
        ),
        ("${unset:=v w} $unset", "v|w|v|w"),
        (
            "$1 \"$2\" $2 $3 $# \"$@\" \"$*\" $*",
            "one|two words|two|words|2|one|two words|one two words|one|two|words",
        ),
        ("a\"$@\"b ${@:2} \"${@:1:1}\"", "aone|two wordsb|two|words|one"),
        (
            "$list ${list[1]} \"${list[1]}\" \"${list[@]}\" ${#list[@]} ${!list[@]} \"${list[*]}\" ${list[-1]} ${list[n-4]}",
            "e1|e|2|e 2|e1|e 2|e3|3|0|1|2|e1 e 2 e3|e3|e|2",
        ),
        (
            "$((n+1)) $((n*2-1)) $((010)) $((0x1f)) $((2#101)) $((n>3?7:8)) $((1<<4|1)) $[n%2] $((-7/2)) $((2**8))",
            "6|9|8|31|5|7|17|1|-3|256",
        ),
        ("$((n++)) $n $((n+=2)) $n", "5|6|8|8"),
        ("~ ~/a x=~/b \"~\" ~root", "/home/u|/home/u/a|x=/home/u/b|~|‹?›"),
        ("{a,b}{1..3} {01..3} {c..a} {,x}y {a} {1..5..2}", "a1|a2|a3|b1|b2|b3|01|02|03|c|b|a|y|xy|{a}|1|3|5"),
        ("$x{y,z} ${x}{y,z}", "‹?›|‹?›|a|b|cy|a|b|cz (count unknown)"),
        ("$star \"$star\" *.d \\*", "*.c|*.c|*.d|* (count unknown)"),
        (
            "${!r} a${other}b \"$other\" $(cmd) \"$(cmd)\" <(cmd)",
            "a|b|c|a‹?›b|‹?›|‹?›|‹?›|‹?› (count unknown)",
        ),
        ("$'a\\tb' a\\ b 'c'\"d\" $\"e\"", "a\tb|a b|cd|e"),
        (
            "${x/b/&} ${other:-d} \"${list[@]/e/f}\" \"${list[@]#e}\"",
            "‹?›|‹?›|f1|f 2|f3|1| 2|3 (count unknown)",
        ),
    ];
    for (text, expected) in cases {
        let expansion = expand(&words(text, Dialect::Bash), &known());
        assert_eq!(shown(&expansion), expected, "{text}");
    }
}

#[test]
fn fields_are_split_at_the_known_separators() {
    let mut known = known();
    known.set("IFS", ":");
    known.set("p", "a:b c::d:");
    assert_eq!(shown(&expand(&words("$p \"$*\"", Dialect::Bash), &known)), "a|b c||d|one:two words");
    known.values.insert("IFS".to_owned(), ShellVariable::OneOf(Cow::Owned(vec![",".to_owned()])));
    assert_eq!(shown(&expand(&words("$p", Dialect::Bash), &known)), "‹?› (count unknown)");
}

#[test]
fn zsh_does_not_split_parameters() {
    let known = Variables { dialect: Dialect::Zsh, ..known() };
    assert_eq!(
        shown(&expand(&words("$x $empty $list ${list[1]} $star", Dialect::Zsh), &known)),
        "a b  c|e1|e 2|e3|e1|*.c"
    );
}

#[test]
fn several_values_give_several_expansions() {
    let mut known = known();
    for name in ["a", "b"] {
        let values = vec![format!("{name}1"), format!("{name}2")];
        known.values.insert(name.to_owned(), ShellVariable::OneOf(Cow::Owned(values)));
    }
    let words = words("$a-$b $a", Dialect::Bash);
    let all: Vec<_> = expand_each(&words, &known).unwrap().iter().map(shown).collect();
    assert_eq!(all, ["a1-b1|a1", "a1-b2|a1", "a2-b1|a2", "a2-b2|a2"]);
    assert_eq!(shown(&expand(&words, &known)), "‹?›-‹?›|‹?› (count unknown)");
}

#[test]
fn too_many_fields_are_unknown() {
    let expansion = expand(&words("{1..9}{1..9}{1..9}{1..9}{1..9} {1..99999}", Dialect::Bash), &known());
    assert_eq!(shown(&expansion), "‹?›|‹?› (count unknown)");
}
