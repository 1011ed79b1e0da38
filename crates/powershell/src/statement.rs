// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Parses statements and pipelines.

use crate::ast::{
    CommandElement, ForEachStatement, FunctionStatement, PowerShellAssignment, PowerShellBranches,
    PowerShellExpression, PowerShellPipeline, PowerShellScript, PowerShellStage, PowerShellStatement,
};
use crate::scan::{ScriptParser, is_double_quote, is_name_char, is_single_quote};

/// Assignment operators, longest first.
const ASSIGNMENTS: &[&str] = &["??=", "+=", "-=", "*=", "/=", "%=", "="];
/// Keywords that only control the flow of the script; the value or block after them is parsed.
const TRANSPARENT_KEYWORDS: &[&str] = &["return", "throw", "exit", "break", "continue"];
/// Keywords of statements that consist of conditions in brackets and bodies in braces.
const BLOCK_KEYWORDS: &[&str] = &[
    "if",
    "elseif",
    "else",
    "while",
    "do",
    "until",
    "for",
    "switch",
    "try",
    "catch",
    "finally",
    "trap",
    "begin",
    "process",
    "end",
    "clean",
    "dynamicparam",
    "data",
    "parallel",
    "sequence",
    "inlinescript",
];

impl ScriptParser<'_> {
    /// Parses statements up to a closing bracket or the end of the text.
    pub(crate) fn parse_script(&mut self) -> PowerShellScript {
        let mut script = PowerShellScript::default();
        if !self.enter() {
            script.statements.push(PowerShellStatement::TooDeep(self.take_rest()));
            return script;
        }
        loop {
            self.skip_blanks();
            match self.peek() {
                None | Some('}' | ')' | ']') => break,
                Some(';' | ',') => {
                    self.next_char();
                    continue;
                }
                _ => {}
            }
            if self.skip_text("&&") || self.skip_text("||") {
                continue;
            }
            let before = self.at;
            if self.skip_keyword("param") {
                script.parameters = self.read_parameter_names();
                continue;
            }
            if let Some(statement) = self.parse_statement() {
                script.statements.push(statement);
            }
            if self.at == before {
                let start = self.at;
                self.next_char();
                self.skip_line();
                let text = self.text_between(start, self.at).to_owned();
                script.statements.push(PowerShellStatement::Unparsed(text));
            }
        }
        self.leave();
        script
    }

    /// Parses statements after an opening bracket, and skips the closing one.
    pub(crate) fn parse_enclosed(&mut self, close: char) -> PowerShellScript {
        let script = self.parse_script();
        if self.peek() == Some(close) {
            self.next_char();
        }
        script
    }

    /// Skips a keyword, if it comes next as a whole word.
    fn skip_keyword(&mut self, keyword: &str) -> bool {
        let rest = self.rest();
        let is_keyword = rest.get(..keyword.len()).is_some_and(|word| word.eq_ignore_ascii_case(keyword))
            && !rest.get(keyword.len()..).is_some_and(|after| {
                after.starts_with(|c: char| is_name_char(c) || matches!(c, '-' | '.' | '\\' | '/'))
            });
        if is_keyword {
            self.at += keyword.len();
        }
        is_keyword
    }

    /// Parses one statement. `None` if there is none.
    pub(crate) fn parse_statement(&mut self) -> Option<PowerShellStatement> {
        for keyword in ["function", "filter", "workflow", "configuration"] {
            if self.skip_keyword(keyword) {
                return Some(self.parse_function());
            }
        }
        for keyword in ["class", "enum", "using"] {
            if self.skip_keyword(keyword) {
                self.take_while(|c| !matches!(c, '{' | '\n'));
                if self.skip_text("{") {
                    let bodies = vec![self.parse_enclosed('}')];
                    return Some(PowerShellStatement::Branches(PowerShellBranches {
                        bodies,
                        ..PowerShellBranches::default()
                    }));
                }
                return Some(PowerShellStatement::Branches(PowerShellBranches::default()));
            }
        }
        let start = self.at;
        if self.skip_keyword("foreach") {
            self.skip_spaces();
            if self.peek() == Some('(') {
                return Some(self.parse_foreach());
            }
            self.at = start;
        }
        for keyword in BLOCK_KEYWORDS {
            if self.skip_keyword(keyword) {
                let mut branches = PowerShellBranches::default();
                if self.parse_branches(&mut branches) {
                    return Some(PowerShellStatement::Branches(branches));
                }
                self.at = start;
            }
        }
        for keyword in TRANSPARENT_KEYWORDS {
            if self.skip_keyword(keyword) {
                self.skip_spaces();
                return if self.at_command_end() { Some(empty_statement()) } else { self.parse_statement() };
            }
        }
        self.parse_pipeline_or_assignment()
    }

    /// Parses the conditions and bodies of a statement, and of the keywords that continue it. Returns false if there is
    /// no body: the word is then the name of a command.
    fn parse_branches(&mut self, branches: &mut PowerShellBranches) -> bool {
        let mut has_body = false;
        loop {
            self.skip_spaces();
            // Options of `switch` and labels of loops.
            while self.peek() == Some('-') && !has_body {
                self.take_while(|c| is_name_char(c) || c == '-');
                self.skip_spaces();
            }
            if self.peek() == Some('(') {
                self.next_char();
                branches.conditions.push(self.parse_enclosed(')'));
                self.skip_blanks();
            }
            // `catch [System.Exception]`
            while self.peek() == Some('[') {
                self.take_while(|c| c != ']');
                self.next_char();
                self.skip_spaces();
                self.skip_text(",");
                self.skip_spaces();
            }
            if self.peek() != Some('{') {
                // `do { … } until (…)` ends with a condition.
                return has_body || !branches.conditions.is_empty();
            }
            self.next_char();
            branches.bodies.push(self.parse_enclosed('}'));
            has_body = true;
            let before = self.at;
            self.skip_blanks();
            let continues = ["elseif", "else", "catch", "finally", "until", "while"]
                .into_iter()
                .any(|keyword| self.skip_keyword(keyword));
            if !continues {
                self.at = before;
                return true;
            }
        }
    }

    fn parse_foreach(&mut self) -> PowerShellStatement {
        self.next_char();
        self.skip_blanks();
        let variable = match self.read_variable_or_statements() {
            Some(PowerShellExpression::Variable(name)) => name,
            _ => String::new(),
        };
        self.skip_blanks();
        self.skip_keyword("in");
        let list = self.parse_enclosed(')');
        self.skip_blanks();
        let body = if self.skip_text("{") { self.parse_enclosed('}') } else { PowerShellScript::default() };
        PowerShellStatement::ForEach(ForEachStatement { variable, list, body })
    }

    fn parse_function(&mut self) -> PowerShellStatement {
        self.skip_blanks();
        let name = self.take_while(|c| is_name_char(c) || matches!(c, '-' | ':' | '.'));
        let name = name.rsplit(':').next().unwrap_or_default().to_lowercase();
        self.skip_blanks();
        let mut parameters = Vec::new();
        if self.peek() == Some('(') {
            parameters = self.read_parameter_names();
            self.skip_blanks();
        }
        let mut body =
            if self.skip_text("{") { self.parse_enclosed('}') } else { PowerShellScript::default() };
        if body.parameters.is_empty() {
            body.parameters = parameters;
        }
        PowerShellStatement::Function(FunctionStatement { name, body })
    }

    /// Reads the names of the parameters in `( … )`, in lower case. Types, attributes and default values are skipped.
    fn read_parameter_names(&mut self) -> Vec<String> {
        self.skip_blanks();
        let mut names = Vec::new();
        if !self.skip_text("(") {
            return names;
        }
        let mut open = 1_usize;
        let mut expects_name = true;
        while let Some(letter) = self.peek() {
            match letter {
                '\'' | '"' => {
                    self.read_string();
                    continue;
                }
                '$' if open == 1 && expects_name => {
                    if let Some(PowerShellExpression::Variable(name)) = self.read_variable_or_statements() {
                        names.push(name);
                        expects_name = false;
                        continue;
                    }
                }
                '(' | '[' | '{' => open += 1,
                ')' | ']' | '}' => open -= 1,
                ',' if open == 1 => expects_name = true,
                _ => {}
            }
            self.next_char();
            if open == 0 {
                break;
            }
        }
        names
    }

    fn parse_pipeline_or_assignment(&mut self) -> Option<PowerShellStatement> {
        let first = if self.begins_expression() {
            let value = self.parse_expression();
            self.skip_spaces();
            let rest = self.rest();
            let sign = ASSIGNMENTS.iter().find(|sign| rest.starts_with(**sign));
            if let Some(sign) = sign.filter(|sign| **sign != "=" || !rest.starts_with("==")) {
                self.at += sign.len();
                self.skip_blanks();
                let assigned = self.parse_statement().unwrap_or_else(empty_statement);
                return Some(PowerShellStatement::Assignment(PowerShellAssignment {
                    target: value,
                    appends: *sign == "+=",
                    value: Box::new(assigned),
                }));
            }
            PowerShellStage::Expression(value, self.read_expression_redirects())
        } else {
            PowerShellStage::Command(self.parse_command()?)
        };
        let mut stages = vec![first];
        while self.skip_pipe() {
            self.skip_blanks();
            let before = self.at;
            let stage = if self.begins_expression() {
                let value = self.parse_expression();
                Some(PowerShellStage::Expression(value, self.read_expression_redirects()))
            } else {
                self.parse_command().map(PowerShellStage::Command)
            };
            stages.extend(stage);
            if self.at == before {
                break;
            }
        }
        // A trailing `&` starts a background job.
        self.skip_spaces();
        if self.peek() == Some('&') && self.peek_second() != Some('&') {
            self.next_char();
        }
        Some(PowerShellStatement::Pipeline(PowerShellPipeline { stages }))
    }

    fn read_expression_redirects(&mut self) -> Vec<CommandElement> {
        let mut redirects = Vec::new();
        loop {
            self.skip_spaces();
            match self.read_redirect() {
                Some(redirect) => redirects.extend(redirect),
                None => return redirects,
            }
        }
    }

    /// Skips `|`, which may be at the start of the next line.
    fn skip_pipe(&mut self) -> bool {
        let before = self.at;
        self.skip_blanks();
        let is_pipe = self.peek() == Some('|') && self.peek_second() != Some('|');
        if is_pipe {
            self.next_char();
        } else {
            self.at = before;
        }
        is_pipe
    }

    /// Whether an expression begins here, rather than a command.
    fn begins_expression(&self) -> bool {
        let second = self.peek_second();
        match self.peek() {
            Some('$' | '(' | '[' | '{' | '!' | ',') => true,
            Some('@') => second.is_some_and(|c| is_name_char(c) || matches!(c, '(' | '{' | '"' | '\'')),
            Some(letter) if is_single_quote(letter) || is_double_quote(letter) => true,
            Some('+' | '-') => {
                second.is_some_and(|c| c.is_ascii_digit() || matches!(c, '$' | '(' | '+' | '-'))
                    || self.rest().get(..4).is_some_and(|word| word.eq_ignore_ascii_case("-not"))
                    || self.rest().get(..5).is_some_and(|word| word.eq_ignore_ascii_case("-join"))
            }
            Some(letter) if letter.is_ascii_digit() => {
                // `7z x a.zip` is a command.
                let word = self.rest().split(|c: char| c.is_whitespace() || ";|)},".contains(c)).next();
                word.is_some_and(|word| {
                    word.chars().all(|c| c.is_ascii_digit() || ".+-*/kmgbxKMGBX".contains(c))
                })
            }
            _ => false,
        }
    }
}

fn empty_statement() -> PowerShellStatement {
    PowerShellStatement::Pipeline(PowerShellPipeline::default())
}
