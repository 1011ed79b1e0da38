// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Text that bash and zsh accept is parsed completely, and most text that they reject is not.

use tenterhook_shell::{Dialect, parse};

use crate::{corpus, shells};

/// Difficult texts that bash accepts.
const HARD_TEXTS: &[&str] = &[
    "echo $",
    "echo $^ $% $=",
    "A=1 time ./x",
    "echo \"a ` echo b\" \"c ` d\"",
    "cat src/$a.$b.tsx",
    "cat <<E \\\n&& b\ntext\nE\n",
    "( cat <<E\ntext\nE\n) && b",
    "cat <<E &&\ntext\nE\nb",
    "echo $(cat <<E)\ntext\nE\nb",
    "i\\\nf a; then b; fi",
    "a &\\\n& b",
    "echo $\\\n{x}",
    "a=(b\nc # d )\n[2]=e)",
    "case a in b) c;& d) e;;& (f) g\nesac",
    "echo $(case a in b) c;; esac)",
    "((a); b); echo $((a); b)",
    "for ((;;)) { a; }",
    "for x in a; { b; }",
    "coproc N ( a ); coproc b c",
    "function f (( 1 )); function g( ) ( a )",
    "a-b.c() { x; }; \"d\"() { x; }",
    "[[ a =~ (b|c)d ]] && [[ a < b ]] && [[ a\n&& b ]]",
    "{fd}>x echo 2>&- 3<&0 >&a &>>b <>c >|d",
    "echo \"${x:-\"a b\"}\" ${x:-'}'} \"${x#'}'}\"",
    "!(echo hi)",
    "a | time b; ! ! c; time; !",
    "time -p -- a",
    "time -f %e -o out rm x; a | time -v b",
    "#a\nb;#c\n(d)#e",
    "export a=(b c); declare -A m=([k]=v); local x=(1)",
    "echo `echo \\`echo a\\`` \"`echo \"a b\"`\"",
    "echo ${ x; } ${} ${x:} ${+x}",
    "echo $[1+2] $'a\\'b' $\"c\"",
    "a[ 1 + 2 ]=3; a[$(b)]=c",
    "x=<(a) b >(c)",
    "select x in a b; do c; done; until a; do b; done",
    "f() if a; then b; fi\nf() for x in a; do b; done",
    "{ a; } 2>&1 | { b; } &",
    "while read x; do a; done < <(b)",
    "cat <<\\E <<'F' <<-\"G\"\n$a\nE\n`b`\nF\n\tc\n\tG\nd",
    "cat <<E\na\\\nE\nE\nb",
    "if a; then b; fi; [[ -f a ]] && c || d &",
    "echo {a,b}{1..3} a{b,c",
    "echo ${a[b} \"${c[d[@]}\" ]",
];

#[test]
fn bash_accepts_and_so_do_we() {
    let mut texts: Vec<String> = HARD_TEXTS.iter().map(|text| (*text).to_owned()).collect();
    let hard = texts.len();
    texts.extend(corpus::commands());
    texts.extend(corpus::generated());
    let Some(accepted) = shells::accepts("bash", &texts) else { return };
    assert!(
        accepted[..hard].iter().all(|is_accepted| *is_accepted),
        "bash refuses: {:?}",
        refused(&texts, &accepted[..hard])
    );
    let mut lost = Vec::new();
    let mut lenient = Vec::new();
    for (text, is_accepted) in texts.iter().zip(&accepted) {
        let parsed = parse(text, Dialect::Bash);
        match (is_accepted, parsed.is_complete()) {
            (true, false) => lost.push(text),
            (false, true) => lenient.push(text),
            _ => {}
        }
    }
    assert!(lost.is_empty(), "bash accepts {} texts that are not parsed: {lost:#?}", lost.len());
    eprintln!("{} texts; {} refused by bash and parsed here", texts.len(), lenient.len());
    assert!(
        lenient.len() * 200 < texts.len(),
        "bash refuses {} texts that are parsed: {lenient:#?}",
        lenient.len()
    );
}

fn refused<'t>(texts: &'t [String], accepted: &[bool]) -> Vec<&'t String> {
    texts.iter().zip(accepted).filter(|(_, is_accepted)| !**is_accepted).map(|(text, _)| text).collect()
}

/// Texts that only zsh accepts.
const ZSH_TEXTS: &[&str] = &[
    "{ echo a }",
    "for x (a b) echo $x",
    "for x in a b; echo $x",
    "for k v in a b c d; do echo $k; done",
    "foreach x (a b)\necho $x\nend",
    "repeat 3 echo a",
    "repeat 3 { echo a }",
    "if [[ a ]] { echo b } elif (true) { c } else { d }",
    "if (( 1 )) echo a",
    "while (( 0 )) { a }",
    "{ a } always { b }",
    "() { echo $1 } a b",
    "function { a }",
    "function f g { a }",
    "f() echo a",
    "a &| b; c &! d",
    "a &; b",
    "echo =ls =(a) <(b)",
    "echo *(.) **/*.c(om[1]) (a|b)* <1-9>",
    "echo $x[1] ${(f)x} ${${x}:h} $x:t ${x:#a} ${=x} $+x $#x",
    "case a { (b) c ;; }",
    "case a in b) c ;| d) e ;; esac",
    "a >! b; c >>| d; e &>! f",
    "if a; then fi; () { }",
    "a |& b",
    "in a",
];

#[test]
fn zsh_accepts_and_so_do_we() {
    let mut texts: Vec<String> = ZSH_TEXTS.iter().map(|text| (*text).to_owned()).collect();
    let hard = texts.len();
    texts.extend(corpus::commands());
    let Some(accepted) = shells::accepts("zsh", &texts) else { return };
    assert!(
        accepted[..hard].iter().all(|is_accepted| *is_accepted),
        "zsh refuses: {:?}",
        refused(&texts, &accepted[..hard])
    );
    let lost: Vec<_> = texts
        .iter()
        .zip(&accepted)
        .filter(|(text, is_accepted)| **is_accepted && !parse(text, Dialect::Zsh).is_complete())
        .map(|(text, _)| text)
        .collect();
    assert!(lost.is_empty(), "zsh accepts {} texts that are not parsed: {lost:#?}", lost.len());
}

#[test]
fn texts_that_are_read_alike_have_the_same_tree_in_bash_and_zsh() {
    let mut alike = 0;
    let texts = corpus::commands();
    for text in &texts {
        if tenterhook_shell::reads_alike(text) && parse(text, Dialect::Bash).is_complete() {
            alike += 1;
            assert_eq!(parse(text, Dialect::Bash), parse(text, Dialect::Zsh), "{text:?}");
        }
    }
    eprintln!("{alike} of {} texts of the corpus are certainly read alike", texts.len());
    assert!(alike * 3 > texts.len(), "only {alike}");
}
