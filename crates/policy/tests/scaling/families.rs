// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Hostile texts. Each family has a function that makes a text of any size.

/// A family of texts: its name, and a function that makes a text of about this many bytes.
pub(crate) type Family = (&'static str, fn(usize) -> String);

/// Repeats a text up to about `size` bytes.
fn many(part: &str, size: usize) -> String {
    part.repeat(size / part.len() + 1)
}

/// Nested brackets of about `size` bytes.
fn nested(open: &str, core: &str, close: &str, size: usize) -> String {
    let times = size / (open.len() + close.len()).max(1) + 1;
    format!("{}{core}{}", open.repeat(times), close.repeat(times))
}

/// Numbered parts of about `size` bytes in total.
fn numbered(size: usize, part: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    for number in 0.. {
        if text.len() >= size {
            break;
        }
        text.push_str(&part(number));
    }
    text
}

/// Wraps a command in base64 repeatedly, as often as the result fits into `size` bytes.
fn encoded(size: usize) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = "rm -rf /".to_owned();
    for _ in 0..50 {
        let mut code = String::new();
        for chunk in text.as_bytes().chunks(3) {
            let bits =
                chunk.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
            for place in 0..4 {
                let letter = LETTERS[usize::try_from(bits >> (18 - 6 * place) & 63).unwrap()];
                code.push(if place <= chunk.len() { char::from(letter) } else { '=' });
            }
        }
        let next = format!("echo {code} | base64 -d | sh");
        if next.len() > size {
            break;
        }
        text = next;
    }
    text
}

/// Shell texts.
pub(crate) const SHELL: &[Family] = &[
    ("pipes", |size| many("a|", size) + "a"),
    ("pipes with blanks", |size| many("cat f | ", size) + "sh"),
    ("and", |size| many("a && ", size) + "a"),
    ("or", |size| many("a || ", size) + "a"),
    ("semicolons", |size| many("a; ", size)),
    ("lines", |size| many("echo hello world\n", size)),
    ("background", |size| many("a & ", size)),
    ("arithmetic", |size| nested("$((", "1", "))", size)),
    ("arithmetic parentheses", |size| format!("echo $(({}", many("(", size))),
    ("old arithmetic", |size| many("$[", size)),
    ("braces open", |size| many("{", size)),
    ("groups", |size| nested("{ ", "a", ";}", size)),
    ("subshells", |size| nested("(", "a", ")", size)),
    ("substitutions", |size| nested("$(", "a", ")", size)),
    ("substitutions in quotes", |size| nested("\"$(", "a", ")\"", size)),
    ("backquotes", |size| many("`a`", size)),
    ("escaped backquotes", |size| many("`a \\`", size)),
    ("process substitutions", |size| nested("cat <(", "a", ")", size)),
    ("parameters nested", |size| nested("${x:-", "a", "}", size)),
    ("parameters patterns", |size| {
        format!("x={}; echo {}", many("a", size / 2), many("${x//a/b}", size / 2))
    }),
    ("arrays", |size| format!("a=({})", many("x ", size))),
    ("arrays appended", |size| format!("a=(x); {} echo \"${{a[@]}}\"", many("a+=(\"${a[@]}\"); ", size))),
    ("arrays nested", |size| many("a=(", size)),
    ("doubling", |size| format!("x=a; {} rm -rf $x", many("x=$x$x; ", size))),
    ("doubling of two", |size| format!("x=a; y=b; {} $x $y", many("x=$x$y; y=$y$x; ", size))),
    ("brace bomb", |size| format!("rm -rf {}", many("{a,b}", size))),
    ("brace bomb nested", |size| format!("echo {}", nested("{a,", "b", "}", size))),
    ("brace ranges", |size| format!("echo {}", many("{1..99999}", size))),
    ("documents", |size| many("cat <<E\nx\nE\n", size)),
    ("documents in a line", |size| {
        let count = size / 12;
        format!("cat {}\n{}", "<<E ".repeat(count), "x\nE\n".repeat(count))
    }),
    ("documents without end", |size| many("cat <<E\n", size)),
    ("document of lines", |size| format!("cat <<E\n{}\nE\n", many("some $x text\n", size))),
    ("document run", |size| format!("bash <<'E'\n{}\nE\n", many("echo a\n", size))),
    ("functions", |size| numbered(size, |n| format!("f{n}() {{ f{}; f{}; }}; ", n + 1, n + 1)) + "f0"),
    ("functions backwards", |size| {
        "f0() { rm x; }; ".to_owned()
            + &numbered(size, |n| format!("f{}() {{ f{n}; f{n}; }}; ", n + 1))
            + "f20"
    }),
    ("function calls", |size| format!("f() {{ a b c; }}; {}", many("f x; ", size))),
    ("function arguments", |size| format!("f() {{ f \"$@\" \"$@\"; }}; f {}", many("a ", size))),
    ("aliases", |size| numbered(size, |n| format!("alias a{n}='a{}'\n", n + 1)) + "a0 x"),
    ("evals", |size| many("eval ", size) + "rm -rf /"),
    ("evals quoted", |size| many("eval \"a $x\"; ", size)),
    ("cases", |size| format!("case $x in {} esac", many("a|b*) c;; ", size))),
    ("case patterns", |size| format!("case $x in {}) c;; esac", many("a|", size))),
    ("cases nested", |size| nested("case x in *) ", "a", ";; esac", size)),
    ("ifs nested", |size| nested("if a; then ", "b", "; fi", size)),
    ("elifs", |size| format!("if a; then b; {} fi", many("elif c; then d; ", size))),
    ("loops nested", |size| nested("for x in a b; do ", "c $x", "; done", size)),
    ("loops of variables", |size| {
        numbered(size, |n| format!("v{n}=a; for w in a b; do v{n}=$v{n}$w; done; "))
    }),
    ("loop words", |size| format!("for x in {}; do rm -r $x; done", many("a ", size))),
    ("while loops", |size| {
        format!("{}a{}", many("while b; do x=$x$x; ", size / 2), many("done; ", size / 2))
    }),
    ("assignments then a use", |size| numbered(size, |n| format!("v{n}=x\n")) + "rm -rf $v0 $v9"),
    ("uses", |size| format!("x=/etc; rm -rf {}", many("$x/$x ", size))),
    ("tests", |size| many("[[ a == b && -f c ]] || ", size) + "d"),
    ("regular expressions", |size| format!("[[ a =~ {} ]]", many("(a|b)+", size))),
    ("sudos", |size| many("sudo ", size) + "rm -rf /"),
    ("wrappers", |size| many("env nice timeout 5 xargs ", size) + "rm -rf /"),
    ("env assignments", |size| format!("env {} rm -rf /", many("A=b ", size))),
    ("xargs", |size| format!("echo {}| xargs -I% echo {}", many("a ", size / 2), many("% ", size / 2))),
    ("xargs of a long word", |size| {
        format!("echo {} | xargs -I% rm {}", many("a", size / 2), many("%", size / 2))
    }),
    ("xargs of xargs", |size| {
        format!("echo {}| {} rm %", many("a ", size / 2), many("xargs -I% ", size / 2))
    }),
    ("parallel", |size| format!("parallel echo {}::: {}", many("{} ", size / 2), many("a ", size / 2))),
    ("find names", |size| {
        format!("find a b c {}-exec echo {}\\;", many("-name a -o ", size / 2), many("{} ", size / 2))
    }),
    ("find of a long place", |size| {
        format!("find {} {}-delete", many("a/", size / 2), many("-name a -o ", size / 2))
    }),
    ("fd", |size| format!("fd x {}-x echo {}", many("a ", size / 2), many("{} ", size / 2))),
    ("finds", |size| format!("find . {}", many("-exec rm {} \\; ", size))),
    ("find parentheses", |size| format!("find . {} rm", many("\\( -name a -o ", size))),
    ("shells in shells", |size| {
        let mut text = "rm -rf /".to_owned();
        while text.len() < size.min(1 << 18) {
            text = format!("bash -c '{}'", text.replace('\'', r"'\''"));
        }
        text
    }),
    ("many shells", |size| many("bash -c 'a b c'; ", size)),
    ("base64 in base64", encoded),
    ("base64 pipes", |size| {
        format!("echo {} {}| sh", many("cm0gLXJm", size / 2), many("| base64 -d ", size / 2))
    }),
    ("argv", |size| format!("rm {}", many("a ", size))),
    ("operands", |size| format!("rm -rf {}", numbered(size, |n| format!("a{n} ")))),
    ("operands far away", |size| format!("cat {}", numbered(size, |n| format!("~/.{n}/x ")))),
    ("operands of many commands", |size| {
        numbered(size, |n| format!("cp {}; ", numbered(1000, |m| format!("{n}/{m} "))))
    }),
    ("operands unknown", |size| format!("cat {}", numbered(size, |n| format!("\"$a/{n}\" ")))),
    ("glob operands", |size| format!("rm {}", numbered(size, |n| format!("*{n}/.e* ")))),
    ("options", |size| format!("rm {}", many("-r ", size))),
    ("one option", |size| format!("rm -{}", many("r", size))),
    ("one word", |size| many("a", size)),
    ("globs", |size| format!("rm -rf {}", many("*/?[a-z]", size))),
    ("globs words", |size| format!("rm -rf {}", many("~/*/.ssh/*a*b*c*/id_* ", size))),
    ("deep path", |size| format!("cat /{}", many("a/", size))),
    ("climbing path", |size| format!("cat {}", many("../", size))),
    ("directories", |size| many("cd a; ", size) + "rm -rf ."),
    ("directories that fail", |size| many("cd a || cd b; ", size) + "rm -rf ."),
    ("redirections", |size| format!("a {}", many("> b ", size))),
    ("redirections of descriptors", |size| format!("a {}", many("2>&1 ", size))),
    ("addresses", |size| format!("curl {}", many("http://a.example:80/x?y=z ", size))),
    ("one address", |size| format!("curl http://{}", many("a.b@", size))),
    ("traps", |size| many("trap 'rm x' EXIT; ", size)),
    ("exports", |size| numbered(size, |n| format!("export v{n}=$v{}; ", n + 1))),
    ("sets", |size| format!("set -- {}; {}", many("a ", size / 2), many("shift; ", size / 2))),
    ("printfs", |size| format!("printf {} | sh", many("'\\x72' ", size))),
    ("escapes", |size| format!("echo $'{}'", many("\\x41\\n", size))),
    ("backslashes", |size| many("\\", size)),
    ("lines joined", |size| many("a \\\n", size)),
    ("single quotes", |size| many("'", size)),
    ("double quotes", |size| many("\"", size)),
    ("comments", |size| many("# a 'b \"c $(d\n", size)),
    ("errors", |size| many("a ) b ; ", size)),
    ("open ifs", |size| many("if ", size)),
    ("NUL", |size| many("a\0b ", size)),
    ("letters of many bytes", |size| many("é😀 ", size)),
    ("writes then runs", |size| numbered(size, |n| format!("echo x > s{n}; ")) + "sh s1; sh s2"),
    ("scripts written and run", |size| numbered(size, |n| format!("echo 'rm a' > s{n}; sh s{n}; "))),
    ("seds", |size| format!("sed -i {} f", many("-e s/a/b/ ", size))),
    ("awk", |size| format!("awk 'BEGIN {{ {} }}' f", many("system(\"a\"); ", size))),
    ("installs", |size| format!("npm install {}", many("a@1 ", size))),
    ("secrets", |size| format!("echo {}", many("ghp_0123456789abcdefghijABCDEFGHIJ456789 ", size))),
    ("nearly secrets", |size| format!("echo {}", many("password=sk-AKIAghp_eyJ.", size))),
];

/// Code, given to a program by an option.
pub(crate) const CODE: &[Family] = &[
    ("calls", |size| many("os.system('a'); ", size)),
    ("calls nested", |size| nested("f(", "1", ")", size)),
    ("calls open", |size| many("open(", size)),
    ("strings added", |size| format!("os.system({}'x')", many("'a' + ", size))),
    ("assigned", |size| numbered(size, |n| format!("v{n} = 'a'\n")) + "os.system(v0)"),
    ("doubled", |size| format!("x = 'a'\n{}os.system(x)", many("x = x + x\n", size))),
    ("brackets", |size| nested("[", "1", "]", size)),
    ("braces", |size| nested("{", "1", "}", size)),
    ("interpolated", |size| nested("f'{", "x", "}'", size)),
    ("templates", |size| nested("`${", "x", "}`", size)),
    ("quotes", |size| many("'", size)),
    ("triple quotes", |size| many("'''", size)),
    ("comments", |size| many("# a ' \"\n", size)),
    ("documents", |size| many("<<E\n", size)),
    ("slashes", |size| many("/", size)),
    ("evals", |size| nested("eval(", "'x'", ")", size)),
    ("commands", |size| many("`rm x`; ", size)),
    ("perl quotes", |size| many("q{", size)),
];
