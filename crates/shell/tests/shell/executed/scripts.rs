// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Generates shell scripts that run numbered programs. The arguments that each program receives can be predicted.

use crate::generate::ScriptRandom;

pub(super) struct ScriptWriter {
    random: ScriptRandom,
    number: usize,
    documents: Vec<String>,
}

const NAMES: &[&str] = &["v1", "v2", "v3", "empty", "nope"];

pub(super) fn script(seed: u64) -> String {
    let mut writer = ScriptWriter { random: ScriptRandom::new(seed + 1), number: 0, documents: Vec::new() };
    let mut text =
        "v1=abc.tar.gz\nv2='one two  three'\nv3=7\nempty=\nref=v1\nlist=(e1 'e 2' e3)\nset -- p1 'p 2' p3\n"
            .to_owned();
    for _ in 0..=writer.random.below(3) {
        text.push_str(&writer.statement(2));
        text.push('\n');
        text.push_str(&std::mem::take(&mut writer.documents).concat());
    }
    text
}

impl ScriptWriter {
    fn program(&mut self) -> String {
        self.number += 1;
        format!("c{}", self.number)
    }

    fn statement(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.command();
        }
        let inner = depth - 1;
        match self.random.below(22) {
            0 => format!("{}={}", self.random.one_of(&["v1", "v2", "empty"]), self.word()),
            1 => format!("v2+={}", self.word()),
            2 => format!("list{}=({} {})", self.random.one_of(&["", "+"]), self.word(), self.word()),
            3 => format!("set -- {} {}", self.word(), self.word()),
            4 => format!("for v1 in {} {}; do {}; done", self.word(), self.word(), self.statement(inner)),
            5 => format!("f() {{ {}; }}; f {} {}", self.statement(inner), self.word(), self.word()),
            6 => format!("( {}; {} )", self.statement(inner), self.statement(inner)),
            7 => format!("{{ {}; {}; }}", self.statement(inner), self.statement(inner)),
            8 => {
                let test = self.random.one_of(&[
                    "true",
                    "false",
                    "[[ $v3 == 7 ]]",
                    "[[ -z $empty ]]",
                    "(( v3 > 9 ))",
                    "! true",
                ]);
                format!("if {test}; then {}; else {}; fi", self.statement(inner), self.statement(inner))
            }
            9 => {
                let pattern =
                    self.random.one_of(&["a*", "*.gz", "'one two  three'", "[0-9]", "???", "$v3", "*\\ *"]);
                // In the word of a `case`, bash 5.2 inserts the character 0x7F for some empty quoted expansions, such
                // as `"${empty/x/y}"x`. The words here avoid that.
                let word = self.random.one_of(&[
                    "$v1",
                    "\"$v2\"",
                    "$v3",
                    "x$v3",
                    "'a  b'",
                    "\"${v2#* }\"",
                    "$2",
                    "a\\ b",
                ]);
                format!("case {word} in {pattern}) {};; *) {};; esac", self.statement(inner), self.command())
            }
            10 => format!("{} && {} || {}", self.command(), self.command(), self.command()),
            11 => format!("{} | {}", self.command(), self.command()),
            12 => format!("i=0; while (( i < 2 )); do {} $i; (( i++ )); done", self.program()),
            13 => format!("for ((i=3; i>{}; i--)); do {} \"$i\"; done", self.random.below(3), self.program()),
            14 => {
                let pattern = self.random.one_of(&["a*", "*three", "7", "\"$v2\"", "[a-c]*"]);
                let word = self.random.one_of(&["$v1", "\"$v2\"", "$v3", "x${v3}"]);
                format!("[[ {word} {} {pattern} ]] && {}", self.random.one_of(&["==", "!="]), self.command())
            }
            15 => {
                self.number += 1;
                let (number, word) = (self.number, self.word());
                format!("s{number} <<< {word}")
            }
            16 => {
                self.number += 1;
                let number = self.number;
                let (quote, dash) = (self.random.one_of(&["", "'"]), self.random.one_of(&["", "-"]));
                let body = format!("\tx $v1 \\$y ${{v3}} \"q\" $((v3 + 1)) ${{v2#* }}\nE{number}x\n");
                self.documents.push(format!("{body}E{number}\n"));
                format!("s{number} <<{dash}{quote}E{number}{quote}")
            }
            17 => format!("unset {}; {}", self.random.one_of(&["v1", "v2", "list"]), self.command()),
            _ => self.command(),
        }
    }

    fn command(&mut self) -> String {
        let mut text = self.program();
        for _ in 0..self.random.below(4) {
            text.push(' ');
            text.push_str(&self.word());
        }
        text
    }

    fn word(&mut self) -> String {
        let count = [1, 1, 1, 2, 2, 3][self.random.below(6)];
        (0..count).map(|_| self.part()).collect()
    }

    fn name(&mut self) -> &'static str {
        self.random.one_of(NAMES)
    }

    fn part(&mut self) -> String {
        match self.random.below(34) {
            0 => "'a  b'".to_owned(),
            1 => "\"c $v1 d\"".to_owned(),
            2 => format!("${}", self.name()),
            3 => format!("\"${}\"", self.name()),
            4 => format!("${{{}}}", self.name()),
            5 => format!("${{{}{}x y}}", self.name(), self.random.one_of(&[":-", "-", ":+", "+"])),
            6 => format!("\"${{{}:-$v2 'q' \\\"z}}\"", self.name()),
            7 => format!(
                "${{{}{}}}",
                self.name(),
                self.random.one_of(&["%.*", "%%.*", "#*.", "##*.", "% *", "#?", "%[a-z]"])
            ),
            8 => format!(
                "\"${{{}{}}}\"",
                self.name(),
                self.random.one_of(&["/a/B", "//e/E", "/#a/x", "/%z/y", "//[aeiou]", "/.t/"])
            ),
            9 => format!(
                "\"${{{}:{}}}\"",
                self.name(),
                self.random.one_of(&["1", "0:2", "2:3", " -2", " -3:1", "v3-5"])
            ),
            10 => format!("${{#{}}}", self.name()),
            11 => format!("${{{}{}}}", self.name(), self.random.one_of(&["^^", "^", ",,", ",", "~~"])),
            12 => format!(
                "$(({}))",
                self.random.one_of(&[
                    "v3+1", "v3*2-1", "1<<3", "v3>5?1:2", "(v3+1)/3", "-v3%4", "2**5", "!v3", "010+0x10",
                    "nope+1", "v3++", "v3=4"
                ])
            ),
            13 => self.random.one_of(&["$1", "\"$2\"", "$3", "$4", "${2}", "$#"]).to_owned(),
            14 => self.random.one_of(&["$@", "\"$@\"", "$*", "\"$*\"", "x\"$@\"y", "\"a$@b\""]).to_owned(),
            15 => self
                .random
                .one_of(&[
                    "${list[@]}",
                    "\"${list[@]}\"",
                    "\"${list[*]}\"",
                    "${list[1]}",
                    "$list",
                    "${#list[@]}",
                    "\"${list[-1]}\"",
                    "${!list[@]}",
                ])
                .to_owned(),
            16 => self
                .random
                .one_of(&[
                    "${@:2}",
                    "\"${@:1:2}\"",
                    "\"${list[@]:1}\"",
                    "\"${list[@]%?}\"",
                    "\"${list[@]/e/f}\"",
                ])
                .to_owned(),
            17 => "${!ref}".to_owned(),
            18 => self
                .random
                .one_of(&[
                    "{a,b}",
                    "{1..3}",
                    "{a,}x",
                    "{01..03}",
                    "{c..a}",
                    "{a,{b,c}}",
                    "{x}",
                    "{}",
                    "{a,b",
                    "a}",
                    "{'a,b',c}",
                    "$v3{x,y}",
                ])
                .to_owned(),
            19 => self.random.one_of(&["~", "~/x", "x=~/y", "\\~", "\"~\"", "a~", "--o=~/y"]).to_owned(),
            20 => self.random.one_of(&["*", "?.c", "[ab]*", "\\*", "\"*\"", "[!x]", "a[b"]).to_owned(),
            21 => self.random.one_of(&["$'a\\tb'", "$'\\x41\\u00e9'", "$'it\\'s'", "$\"t $v3\""]).to_owned(),
            22 => self
                .random
                .one_of(&["a\\ b", "\\$v1", "\\\\", "\"\\$v1\"", "\"\\x\"", "'\\'", "a\\\nb", "\"a\\\nb\""])
                .to_owned(),
            23 => format!("$({})", self.program()),
            24 => format!("\"`{} $v3`\"", self.program()),
            25 => "''".to_owned(),
            // A `$` before another part could become an expansion.
            26 => self.random.one_of(&["\"$\"", "$%", "$.", "$/", "\"a$\"", "$^"]).to_owned(),
            27 => {
                self.random.one_of(&["é", "-n", "--long=x", "/a/b", "a=b", "a#b", "!", "^", "%"]).to_owned()
            }
            _ => self.random.one_of(&["a", "b1", "x.y", "-f", "w_w"]).to_owned(),
        }
    }
}
