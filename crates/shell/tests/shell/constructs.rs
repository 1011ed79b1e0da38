// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The tree of each construct, with spans.

use tenterhook_shell::{Dialect, ParseOptions, outline, parse};

/// Returns each text with its tree.
fn trees(options: impl Into<ParseOptions>, texts: &[&str]) -> String {
    let options = options.into();
    let mut all = String::new();
    for text in texts {
        all.push_str(&format!("# {text:?}\n{}\n", outline(&parse(text, options))));
    }
    all
}

#[test]
fn quoting() {
    insta::assert_snapshot!(trees(
        Dialect::Bash,
        &[
            "a 'b c' \"d e\" f\\ g h\"i\"'j'\\k",
            "a \"\\$x \\\\ \\\" \\` \\n\" ''\"\"",
            "a $'b\\tc\\x41\\u00e9\\'' $\"d $e\"",
            "a b\\\nc \"d\\\ne\" 'f\\\ng'",
            "a \\",
            "\\rm x; r\"\"m y",
        ]
    ));
}

#[test]
fn expansions() {
    insta::assert_snapshot!(trees(
        Dialect::Bash,
        &[
            "a $b ${c} $1 $10 ${10} $@ $* $# $? $- $$ $! $0 $_",
            "a $ $% $^ \"$\" src/$a.$b.tsx",
            "a $(b | c) \"$(d \"e\")\" `f` \"`g \\\"h\\\"`\" `i \\`j \\$k\\``",
            "a $((1 + (2))) $[3] $((b) ; c) $((d))",
            "a <(b) >(c d) x=<(e)",
            "a ~ ~/b ~c/d x=~/e y~ \"~\" x=~:~f",
            "a {b,c}{1..3} d{e,{f,g}} {} {h} {i,j {a..c..2} \"{k,l}\" {m,\"n,o\"}",
            "a * ?.c [a-z]* [!x] [[:alpha:]] [ ] [\"b\"c] @(d|e*) !(f) x+(g|h i)",
        ]
    ));
}

#[test]
fn parameters() {
    insta::assert_snapshot!(trees(
        Dialect::Bash,
        &[
            "a ${b-c} ${b:-c d} ${b:=e} ${b:?f} ${b:+\"g h\"} ${b:-$(i)}",
            "a ${b#c} ${b##*/} ${b%.c} ${b%%.*} \"${b%'}'}\"",
            "a ${b/c/d} ${b//c} ${b/#c/d} ${b/%c/d} ${b//\\//_} ${b////x}",
            "a ${b:1} ${b:1:2} ${b: -1} ${b:c?1:2:3}",
            "a ${b^} ${b^^} ${b,} ${b,,[a-c]} ${b~~} ${b@Q}",
            "a ${#b} ${#} ${#@} ${##} ${##x} ${#-} ${!b} ${!b*} ${!b@} ${!#} ${!}",
            "a ${b[0]} ${b[@]} ${b[*]:1} ${#b[@]} ${!b[@]} ${b[$c]} ${b[x y]}",
            "a \"${b:-'c}'}\" \"${b:-\"d\"}\" ${b:-~/c}",
            "a ${} ${+b} ${b c} ${ d; }",
        ]
    ));
}

#[test]
fn redirections() {
    insta::assert_snapshot!(trees(
        Dialect::Bash,
        &[
            "a <b >c >>d >|e <>f 2>g 2>&1 >&h <&3 2>&- &>i &>>j {k}>l 10>m",
            "<a b >c d",
            "a 2 >b a2>c 2\\\n>d",
            "a <<<b <<<\"$c d\"",
            "{ a; } >b 2>&1; if c; then d; fi <e | f",
        ]
    ));
}

#[test]
fn here_documents() {
    insta::assert_snapshot!(trees(
        Dialect::Bash,
        &[
            "a <<E\nb $c `d` $(e)\n\\$f \"g\" \\\"\nE\nh",
            "a <<'E' <<-\\F\n$b\nE\n\tc\n\tF\nd",
            "a <<E \\\n&& b\nc\nE\n",
            "a <<E | b &&\nc\nE\nd",
            "a $(b <<E\nc\nE\n) d",
            "a $(b <<E)\nc\nE\nd",
            "a <<E\nb\\\nE\nE\nc",
            "a <<EOF\nb\nE\\\nOF\nc",
            "a <<-E\n\tb $c\n\t\td\n\tE\ne",
            "a <<E\nb",
            "a <<E",
            "a <<E\n$(b\nE\nc",
        ]
    ));
}

#[test]
fn compound_commands() {
    insta::assert_snapshot!(trees(
        Dialect::Bash,
        &[
            "if a; then b; elif c; then d; else e; fi",
            "while a; do b; done; until c\ndo d\ndone",
            "for a in b \"c d\" *; do e; done; for f; do g; done; for h do i; done; for j in k; { l; }",
            "for ((i=0; i<$(a); i++)); do b; done; for ((;;)) { c; }",
            "select a in b c; do d; done",
            "case $a in b|c*) d;; (e) f;& \"g h\") i;;& *) j\nesac",
            "{ a; b; }; ( c; d ); ( ( e ) ); ((f)); ((g) ; h)",
            "(( a = b + (c) )) && d",
            "[[ -f a && $b == c* || ! ( d =~ ^(e|f g)$ ) && h < i ]]; [[ j ]]; [[ k -nt l ]]; [[ -f m -a n ]]",
            "coproc a b; coproc C { d; }",
        ]
    ));
}

#[test]
fn lists() {
    insta::assert_snapshot!(trees(
        Dialect::Bash,
        &[
            "a; b & c && d || e | f |& g",
            "! a; ! ! b; time c | d; time -p e; time; A=1 time f; ! time g",
            "a &&\n\nb |\n# c\nd",
            "a\\\n&& b",
            "# a\nb # c\nd;#e\nf#g",
        ]
    ));
}

#[test]
fn functions_and_assignments() {
    insta::assert_snapshot!(trees(
        Dialect::Bash,
        &[
            "a() { b; }; c () ( d ); function e { f; }; function g() if h; then i; fi; j-k.l() { m; } >n",
            "a=1 b+=2 c= d=\"e f\" g=$(h) i",
            "a=(b \"c d\" *.e [2]=f [g]+=h\n# i\nj) k+=(l)",
            "a[1]=b a[$(c)]+=d a[ 1 + 2 ]=e; a[1] b",
            "export a=b c={d,e} f=~/g; declare -A h=([i]=j) k; alias l='m n' o=p",
        ]
    ));
}

#[test]
fn text_that_is_not_understood() {
    insta::assert_snapshot!(trees(
        Dialect::Bash,
        &[
            "a\nb ) c\nd",
            "a 'b\nc",
            "if a; then\nb",
            "a; fi; b\nc",
            "a <<E ) b\nc\nE\nd",
            "a `b ) c` d",
            "a && && b\nc",
            "{ a }\nb",
            "a\0b",
            &format!("a\n{}\nb", "(".repeat(60)),
        ]
    ));
}

#[test]
fn posix() {
    insta::assert_snapshot!(trees(
        Dialect::Posix,
        &[
            "a {b,c} $'d' [[ e ]] &>f",
            "a <<<b",
            "a=b c=$((1+2)) ${d%e} ${f:1}",
            "time a; function b; f() { g; }",
        ]
    ));
}

#[test]
fn zsh() {
    insta::assert_snapshot!(trees(
        Dialect::Zsh,
        &[
            "{ a }; for b (c d) e; for f in g; h; for i j in k l; { m }",
            "foreach a (b c)\nd\nend; repeat 3 e; repeat 2 { f }",
            "if [[ a ]] { b } elif (c) { d } else { e }; if (( f )) g; while [[ h ]] { i }",
            "{ a } always { b }; () { c } d e; function f g { h }; i() j",
            "a =b =(c) *(.) **/*.d(om[1]) (e|f)g <1-9> ^h",
            "a $b[1] ${(f)c} ${${d}:h} $e:t ${f:#g} ${=h} $+i $#j ${k:h:t}",
            "a &| b; c &! d; e &; f",
            "a >! b; c >>| d; case e { (f) g ;; h) i ;| }",
        ]
    ));
}

#[test]
fn interactive() {
    let options = |dialect| ParseOptions { dialect, interactive: true };
    insta::assert_snapshot!(trees(options(Dialect::Zsh), &["a # b", "!! && sudo !$ '!c' \"!d\" ! e"]));
    insta::assert_snapshot!(trees(options(Dialect::Bash), &["a # b", "!! && sudo !$ '!c' \"!d\" ! e"]));
}
