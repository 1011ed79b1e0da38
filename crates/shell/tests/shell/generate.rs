// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Generates scripts with every construct of the shell grammar. Programs and words are numbered, so that each can be
//! identified. None of these programs is described in `programs/`. The tests of `crates/facts` use this file too.

/// A deterministic random number generator.
pub(crate) struct ScriptRandom(u64);

/// Generates scripts; the same seed gives the same script.
pub(crate) struct ScriptGenerator {
    random: ScriptRandom,
    number: usize,
    /// Here-documents whose text follows at the end of the line.
    documents: Vec<String>,
}

/// Generates one script.
pub(crate) fn script(seed: u64) -> String {
    let mut writer =
        ScriptGenerator { random: ScriptRandom::new(seed + 1), number: 0, documents: Vec::new() };
    let mut text = String::new();
    // Most scripts are small, so that differences are easy to see.
    let (lines, depth) = [(1, 0), (1, 1), (1, 1), (3, 1), (1, 2)][writer.random.below(5)];
    for _ in 0..lines {
        text.push_str(&writer.list(depth));
        text.push_str(&writer.newline());
    }
    text
}

impl ScriptRandom {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from((self.0 >> 11) % end as u64).unwrap()
    }

    pub(crate) fn one_of(&mut self, choices: &[&'static str]) -> &'static str {
        choices[self.below(choices.len())]
    }
}

impl ScriptGenerator {
    fn next(&mut self, letter: char) -> String {
        self.number += 1;
        format!("{letter}{}", self.number)
    }

    /// Ends a line, with the bodies of its here-documents.
    fn newline(&mut self) -> String {
        format!("\n{}", std::mem::take(&mut self.documents).concat())
    }

    /// Returns a separator between two commands. If the bodies of here-documents are pending, it is the end
    /// of the line.
    fn border(&mut self) -> String {
        if self.documents.is_empty() && self.random.below(3) != 0 { "; ".to_owned() } else { self.newline() }
    }

    fn list(&mut self, depth: usize) -> String {
        let mut text = self.pipeline(depth);
        for _ in 0..self.random.below(3) {
            let joint = match self.random.below(5) {
                _ if !self.documents.is_empty() => self.newline(),
                0 => " && ".to_owned(),
                1 => " || ".to_owned(),
                2 => " & ".to_owned(),
                _ => self.border(),
            };
            text.push_str(&joint);
            text.push_str(&self.pipeline(depth));
        }
        text
    }

    fn pipeline(&mut self, depth: usize) -> String {
        if self.random.below(12) == 0 {
            return format!("! {}", self.simple(depth));
        }
        let mut text = self.command(depth);
        for _ in 0..self.random.below(5).saturating_sub(2) {
            if self.documents.is_empty() {
                text.push_str(self.random.one_of(&[" | ", "|", " |& ", " |\n"]));
                text.push_str(&self.command(depth));
            }
        }
        text
    }

    fn command(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.simple(0);
        }
        let inner = depth - 1;
        let text = match self.random.below(16) {
            0 => {
                let list = self.list(inner);
                let end = if self.documents.is_empty() { " ".to_owned() } else { self.newline() };
                format!("( {list}{end})")
            }
            1 => {
                let list = self.list(inner);
                format!("{{ {list}{}}}", self.end())
            }
            2 => {
                let test = self.list(0);
                let after = self.newline();
                let then = self.list(inner);
                let last = self.newline();
                let other = if self.random.below(2) == 0 {
                    format!("else {}{}", self.list(inner), self.newline())
                } else {
                    String::new()
                };
                format!("if {test}{after}then {then}{last}{other}fi")
            }
            3 => {
                let (first, words) = (self.word(0), self.words(inner));
                let body = self.list(inner);
                format!("for v in {first}{words}; do {body}{}done", self.end())
            }
            4 => {
                let keyword = self.random.one_of(&["while", "until"]);
                let test = self.simple(0);
                let end = self.end();
                let body = self.list(inner);
                format!("{keyword} {test}{end}do {body}{}done", self.end())
            }
            5 => {
                let (word, first) = (self.word(0), self.list(inner));
                let (open, after) = (self.random.one_of(&["", "("]), self.newline());
                let second = self.list(inner);
                format!("case {word} in {open}a|b*) {first}{after};; *) {second}{}esac", self.newline())
            }
            6 => {
                let name = self.next('f');
                let body = self.list(inner);
                let head = if self.random.below(2) == 0 {
                    format!("{name}() ")
                } else {
                    format!("function {name} ")
                };
                return format!("{head}{{ {body}{}}}", self.end());
            }
            7 => format!("[[ -n {} && a == b* ]]", self.word(0)),
            8 => format!("(( i{} + 1 ))", self.random.one_of(&["", "++", " << 2", " > 3 ? 1 : 2"])),
            9 => {
                let body = self.list(inner);
                format!("for ((i=0; i<3; i++)); do {body}{}done", self.end())
            }
            _ => return self.simple(inner),
        };
        match self.random.below(4) {
            0 => format!("{text} > {}", self.next('r')),
            1 => format!("{text} 2>&1"),
            _ => text,
        }
    }

    /// Returns a separator before a closing keyword.
    fn end(&mut self) -> String {
        if self.documents.is_empty() && self.random.below(2) == 0 { "; ".to_owned() } else { self.newline() }
    }

    fn simple(&mut self, depth: usize) -> String {
        let mut text = String::new();
        match self.random.below(10) {
            0 => text.push_str(&format!("x{}={} ", self.random.one_of(&["", "+"]), self.word(depth))),
            // Bash 5.2 cannot parse some quoted words in an array inside a substitution, so this array has a
            // fixed form.
            1 => return format!("a=({} \"$x\" *.c )", self.next('w')),
            2 if self.documents.is_empty() => text.push_str(&format!("<{} ", self.next('r'))),
            _ => {}
        }
        text.push_str(&self.program());
        text.push_str(&self.words(depth));
        text.push_str(&self.redirections());
        text
    }

    fn program(&mut self) -> String {
        let name = self.next('p');
        match self.random.below(8) {
            0 => format!("\"{name}\""),
            1 => format!("\\{name}"),
            2 => format!("/usr/bin/{name}"),
            3 => format!("'{}'{}", &name[..1], &name[1..]),
            _ => name,
        }
    }

    fn words(&mut self, depth: usize) -> String {
        let words: Vec<_> = (0..self.random.below(4)).map(|_| self.word(depth)).collect();
        words.iter().flat_map(|word| [" ", word]).collect()
    }

    fn word(&mut self, depth: usize) -> String {
        let name = self.next('w');
        match self.random.below(if depth == 0 { 14 } else { 18 }) {
            0 => format!("'{name} ; | \" $x'"),
            1 => format!("\"{name} ' ; )\""),
            2 => format!("{name}\\ \\\"x"),
            3 => format!("\"{name} $x ${{y:-z}}\""),
            4 => "$x".to_owned(),
            5 => format!("${{{name}}}"),
            6 => format!("--{name}={name}"),
            7 => format!("{name}\"$x\"'y'"),
            8 => format!("$(( 1 + {} ))", self.random.below(9)),
            9 => format!("{name}.*"),
            10 => format!("\"\\\"{name}\\$\""),
            14 => format!("$({})", self.alone(depth)),
            15 => format!("\"{name} $({})\"", self.alone(depth)),
            16 => format!("<({})", self.alone(depth)),
            17 => format!("${{x:-$({})}}", self.simple_alone()),
            _ => name,
        }
    }

    /// Returns a list of commands that ends with the bodies of its own here-documents.
    fn alone(&mut self, depth: usize) -> String {
        let outer = std::mem::take(&mut self.documents);
        let list = self.list(depth - 1);
        let end = if self.documents.is_empty() { String::new() } else { self.newline() };
        self.documents = outer;
        format!("{list}{end}")
    }

    fn simple_alone(&mut self) -> String {
        let (program, word) = (self.next('p'), self.next('w'));
        format!("{program} {word}")
    }

    fn redirections(&mut self) -> String {
        if self.random.below(5) != 0 {
            return String::new();
        }
        let file = self.next('r');
        match self.random.below(9) {
            0 => format!(" > {file}"),
            1 => format!(" >>{file}"),
            2 => format!(" < {file}"),
            3 => format!(" 2>&1 >| '{file}'"),
            4 => format!(" &> {file}"),
            5 => " 2>&1".to_owned(),
            6 => format!(" <<< \"{file}\""),
            _ => {
                let (dash, tab) = if self.random.below(3) == 0 { ("-", "\t") } else { ("", "") };
                let quote = self.random.one_of(&["", "'", "\""]);
                self.documents.push(format!("{tab}text ' \" ( of {file}\n{tab}{file}\n"));
                format!(" <<{dash}{quote}{file}{quote}")
            }
        }
    }
}
