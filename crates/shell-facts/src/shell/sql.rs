// SPDX-License-Identifier: Apache-2.0 OR MIT

//! SQL in the words and on the standard input of a command, statement by statement.
//!
//! Only what tells statements apart is read: quotes, comments, and where a transaction begins and
//! ends. A statement that a `rollback` undoes is left out. Where a quote may end in two ways, the text
//! is kept as one statement, with everything in it.

use super::command::ShellCommand;

/// One SQL statement.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct SqlStatement {
    /// Without its comments.
    pub text: String,
    /// Without the contents of quoted texts, too.
    pub unquoted: String,
}

/// What a statement means for the transaction it is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Transaction {
    Begins,
    Commits,
    RollsBack,
    /// It belongs to the transaction, if there is one.
    Nothing,
}

impl ShellCommand {
    /// The SQL statements it is given, as far as they are known.
    pub fn statements(&self) -> Vec<SqlStatement> {
        let dialect = Dialect::of(&self.program);
        self.texts().flat_map(|text| kept(split(text, dialect), dialect)).collect()
    }
}

/// What differs between systems.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dialect {
    /// A `rollback` brings back dropped tables as well as deleted rows.
    Transactional,
    /// A `rollback` brings back rows only; `#` starts a comment, and so does `-- ` with its blank.
    MySql,
    /// A `rollback` brings back rows only, as far as is known.
    Other,
}

impl Dialect {
    fn of(program: &str) -> Self {
        match program {
            "psql" | "pgcli" | "ysqlsh" | "cockroach" | "sqlite3" | "sqlite" | "litecli" | "duckdb" => {
                Self::Transactional
            }
            "mysql" | "mariadb" | "mycli" | "mysqlsh" => Self::MySql,
            _ => Self::Other,
        }
    }

    /// The comment that a text starts with, without its end; how long it is.
    fn comment(self, text: &str) -> Option<usize> {
        let line = || text.find('\n').unwrap_or(text.len());
        if let Some(rest) = text.strip_prefix("--") {
            let blank = rest.is_empty() || rest.starts_with(char::is_whitespace);
            return (self != Self::MySql || blank).then(line);
        }
        if text.starts_with('#') {
            return (self == Self::MySql).then(line);
        }
        // MySQL runs what is in `/*! … */`.
        let block = text.starts_with("/*") && !text.starts_with("/*!");
        block.then(|| text.find("*/").map_or(text.len(), |at| at + 2))
    }
}

/// The statements that no `rollback` undoes.
fn kept(statements: Vec<SqlStatement>, dialect: Dialect) -> Vec<SqlStatement> {
    let mut kept = Vec::with_capacity(statements.len());
    // Where the transaction that is open began.
    let mut open: Option<usize> = None;
    for statement in statements {
        match statement.transaction() {
            Transaction::Begins => open = open.or(Some(kept.len() + 1)),
            Transaction::Commits => open = None,
            Transaction::RollsBack => {
                if let Some(start) = open.take() {
                    let mut at = 0;
                    kept.retain(|statement: &SqlStatement| {
                        at += 1;
                        at <= start || dialect != Dialect::Transactional && !statement.changes_rows()
                    });
                }
            }
            Transaction::Nothing => {}
        }
        kept.push(statement);
    }
    kept
}

impl SqlStatement {
    fn words(&self) -> impl Iterator<Item = String> {
        self.unquoted.split_whitespace().map(str::to_ascii_lowercase)
    }

    fn transaction(&self) -> Transaction {
        let mut words = self.words();
        let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        match (first.as_str(), second.as_str()) {
            ("begin", _) | ("start", "transaction") => Transaction::Begins,
            ("commit" | "end", _) => Transaction::Commits,
            // `rollback to savepoint` undoes only a part.
            ("rollback" | "abort", "" | "work" | "transaction" | "tran") => Transaction::RollsBack,
            _ => Transaction::Nothing,
        }
    }

    fn changes_rows(&self) -> bool {
        let first = self.words().next().unwrap_or_default();
        matches!(first.as_str(), "delete" | "update" | "insert" | "replace" | "merge")
    }

    fn push(&mut self, letter: char) {
        self.text.push(letter);
        self.unquoted.push(letter);
    }
}

/// The statements of a text.
fn split(text: &str, dialect: Dialect) -> Vec<SqlStatement> {
    let whole = || vec![SqlStatement { text: text.to_owned(), unquoted: String::new() }];
    // Whether `\'` ends a text differs between systems, and so does what is behind it.
    if text.contains("\\'") || text.contains("\\\"") {
        return whole();
    }
    let mut statements = Vec::new();
    let mut now = SqlStatement::default();
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let after = rest.get(letter.len_utf8()..).unwrap_or_default();
        if let Some(end) = dialect.comment(rest) {
            // Some systems nest comments, and others do not.
            if rest.get(2..end).is_some_and(|body| body.contains("/*")) {
                return whole();
            }
            now.push(' ');
            rest = rest.get(end..).unwrap_or_default();
        } else if matches!(letter, '\'' | '"' | '`') {
            let end = after.find(letter).map_or(after.len(), |at| at + 1);
            now.push(letter);
            now.text.push_str(after.get(..end).unwrap_or_default());
            rest = after.get(end..).unwrap_or_default();
        } else if let Some((mark, body)) = dollar_quote(rest) {
            let end = body.find(mark).map_or(body.len(), |at| at + mark.len());
            now.text.push_str(mark);
            now.text.push_str(body.get(..end).unwrap_or_default());
            rest = body.get(end..).unwrap_or_default();
        } else {
            if letter == ';' {
                statements.push(std::mem::take(&mut now));
            } else {
                now.push(letter);
            }
            rest = after;
        }
    }
    statements.push(now);
    statements.retain(|statement| !statement.text.trim().is_empty());
    statements
}

/// `$$` or `$name$` at the start of a text, and what is behind it.
fn dollar_quote(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_prefix('$')?;
    let end = inner.find('$')?;
    let name = inner.get(..end)?;
    // `$1` is an argument.
    let named = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !name.starts_with(|c: char| c.is_ascii_digit());
    let mark = text.get(..end + 2)?;
    named.then(|| (mark, text.get(end + 2..).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(text: &str, dialect: Dialect) -> Vec<String> {
        let kept = kept(split(text, dialect), dialect).into_iter();
        kept.map(|one| one.text.trim().to_owned()).collect()
    }

    #[test]
    fn comments_and_undone_statements_are_left_out() {
        assert_eq!(left("drop table users -- begin rollback", Dialect::Transactional), ["drop table users"]);
        assert_eq!(left("drop/**/table users", Dialect::Transactional), ["drop table users"]);
        assert_eq!(left("begin; delete from users; rollback;", Dialect::MySql), ["begin", "rollback"]);
        assert_eq!(left("begin; drop table x; rollback", Dialect::Transactional), ["begin", "rollback"]);
        assert_eq!(
            left("begin; drop table x; rollback", Dialect::MySql),
            ["begin", "drop table x", "rollback"]
        );
    }

    #[test]
    fn only_what_the_transaction_holds_is_undone() {
        for text in [
            "begin; rollback; drop table x;",
            "drop table x; begin; rollback",
            "begin; drop table x; commit; begin; rollback",
            "begin; drop table x; end; rollback",
            "select 'begin;'; drop table x; select 'rollback'",
            "begin; savepoint a; drop table x; rollback to savepoint b; commit",
            "begin; drop table x; select ';rollback;'",
            "begin; drop table x; -- ; rollback",
            "begin; drop table x; /* /* */ rollback; */ commit",
        ] {
            assert!(
                left(text, Dialect::Transactional).iter().any(|one| one.contains("drop table x")),
                "{text}"
            );
        }
    }

    #[test]
    fn dialects_differ_in_their_comments() {
        assert_eq!(left("select 5--3; drop table x", Dialect::MySql), ["select 5--3", "drop table x"]);
        assert_eq!(left("update t set a=1 # where", Dialect::MySql), ["update t set a=1"]);
        assert_eq!(left("select 1 # 2; commit", Dialect::Transactional), ["select 1 # 2", "commit"]);
    }

    #[test]
    fn quoted_texts_hold_no_statements_and_an_unclear_one_is_kept_whole() {
        assert_eq!(left("select 'a;b', $$c;d$$", Dialect::Transactional), ["select 'a;b', $$c;d$$"]);
        assert_eq!(left(r"begin; select '\'; drop table x; rollback; --'", Dialect::Transactional).len(), 1);
        let statement = split("update t set a='where' -- where", Dialect::Other).remove(0);
        assert!(!statement.unquoted.contains("where"), "{statement:?}");
    }
}
