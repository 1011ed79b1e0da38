// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Truncated, repeated, random and deeply nested texts. None may panic, and all are read in linear time.

use tenterhook_test_support::assert_linear_cost;

use super::super::CodeLanguage;
use super::read_code;

const SEEDS: &[&str] = &[
    "import os\nfor r, d, f in os.walk('/'):\n  [os.remove(os.path.join(r, n)) for n in f if n]\nexec(f'{x!r:>{w}}' \"\"\"a\"\"\")",
    "const {a: b} = require('fs'); x => `a${`b${c}`}`; /[/]\\//.test(a) ? {b: 1} : [...c]; for (const f of g) { h(f) }",
    "unlink $_ for <~/*>; my ($a, $b) = @_; print <<A, <<'B';\nx $y @{z}\nA\nq\nB\ns{a}{b}; qw(a b); open(F, \">$x\");",
    "Dir['*'].each do |f| system \"rm #{f}\" end; %w[a b]; <<~E\n  x #{y}\nE\nputs :a ? 1 : {b: 2, :c => 3}",
    "<?php foreach (glob('*') as $k => $f) { unlink(\"{$f}/$k[0]\"); } $x = <<<E\n$y\nE; `ls`; ?> x",
    "--[==[ x ]==] local a = [[b]] .. 'c\\z  d' for _, f in ipairs{1} do os.remove(f) end",
    "BEGIN { while ((\"ls\" | getline x) > 0) print x > \"y\" } /a\\/b/ { print | \"sh\" }",
    "ü\u{1F600}é'\\",
    "\\",
    "%",
    "<<",
    "<<<",
    "$",
    "@{",
    "#{",
    "f'{",
    "`${",
    "s{",
    "qw",
    "[==",
    "(cwd)",
];

/// A deterministic random number generator.
struct XorShift(u64);

impl XorShift {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % 1_000_003).unwrap() % below.max(1)
    }
}

#[test]
fn texts_that_are_cut_off_anywhere() {
    for seed in SEEDS {
        for (at, _) in seed.char_indices() {
            for language in CodeLanguage::all() {
                read_code(language, seed.get(..at).unwrap());
                read_code(language, seed.get(at..).unwrap());
            }
        }
    }
}

#[test]
fn random_texts() {
    let mut random = XorShift(0x1234_5678_9abc_def1);
    let letters: Vec<char> = "abefqxsm{}[]()<>'\"`$@#%&|\\/=-+*.,:;!?~ \n\t01é_".chars().collect();
    let all: Vec<CodeLanguage> = CodeLanguage::all().collect();
    for round in 0..3000 {
        let mut text = String::new();
        for _ in 0..random.next(40) {
            if random.next(4) == 0 {
                let seed: Vec<char> = SEEDS[random.next(SEEDS.len())].chars().collect();
                let from = random.next(seed.len());
                text.extend(seed.iter().skip(from).take(random.next(20)));
            } else {
                text.push(letters[random.next(letters.len())]);
            }
        }
        read_code(all[round % all.len()], &text);
    }
}

#[test]
fn long_texts_take_time_in_proportion() {
    let pieces = [
        "(",
        "[",
        "{",
        "a(",
        "a.",
        "a[",
        "'",
        "\"",
        "`",
        "<<A ",
        "<",
        "/",
        "f'{",
        "`${",
        "\"$x{",
        "#{",
        "a,",
        "a=",
        "a+",
        "x=x+x;",
        "x+='aaaaaaaa'\n",
        "for a in b ",
        "[a for a in ",
        "eval('",
        "eval(x);",
        "q(",
        "s/",
        "%w[",
        "\n",
        "{|x|",
        "=>",
        "a=>",
        "lambda ",
        "if ",
        "not ",
        "-",
        "import a,",
        "from a import b,",
        "const {a}=b;",
        "s=os.system;",
        "os.system('a');",
        "<?",
        "--[[",
        "\\",
        "$a{",
        "@a[",
        "print \"a\" | ",
        "x='a' if b else x\n",
        "Path('a')/",
        "unlink for ",
        "map{",
        "a?b:",
        "${",
        "\"#{\"#{",
        "function(a){",
        "(a)=>{",
        "do |x| ",
        "'a' 'b' ",
        "x = ['a','b']\n",
        "a or ",
        "x = x or 'b'\n",
        " x = y + 'b'\n y = x or y\n",
    ];
    for piece in pieces {
        for language in CodeLanguage::all() {
            assert_linear_cost(&format!("{piece:?} in {language:?}"), |scale| {
                let acts = read_code(language, &piece.repeat(10_000 * scale / piece.len()));
                assert!(acts.len() <= 202);
            });
        }
    }
}
