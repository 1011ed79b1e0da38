// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Splits SQL into statements, without those that a `rollback` undoes.
//!
//! Only quotes, comments and transactions are parsed. If a quote can end in two ways, the text is kept as one
//! statement.

/// An SQL statement.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct SqlStatement {
    /// The statement without comments.
    pub text: String,
    /// The statement without comments and without the content of quoted text.
    pub unquoted: String,
}

/// The effect of a statement on the transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TransactionStep {
    Begins,
    Commits,
    RollsBack,
    /// The statement is part of the current transaction, if any.
    Nothing,
}

/// Differences between database systems.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SqlDialect {
    /// A `rollback` restores dropped tables and deleted rows.
    Transactional,
    /// A `rollback` restores rows only. `#` starts a comment, and so does `--` followed by a space.
    MySql,
    /// A `rollback` is assumed to restore rows only.
    Other,
}

impl SqlDialect {
    /// Returns the dialect of a client program such as `psql`.
    pub fn of(program: &str) -> Self {
        match program {
            "psql" | "pgcli" | "ysqlsh" | "cockroach" | "sqlite3" | "sqlite" | "litecli" | "duckdb" => {
                Self::Transactional
            }
            "mysql" | "mariadb" | "mycli" | "mysqlsh" => Self::MySql,
            _ => Self::Other,
        }
    }

    /// Returns the length of the comment at the start of a text.
    fn comment(self, text: &str) -> Option<usize> {
        let line = || text.find('\n').unwrap_or(text.len());
        if let Some(rest) = text.strip_prefix("--") {
            let blank = rest.is_empty() || rest.starts_with(char::is_whitespace);
            return (self != Self::MySql || blank).then(line);
        }
        if text.starts_with('#') {
            return (self == Self::MySql).then(line);
        }
        // MySQL runs the content of `/*! … */`.
        let block = text.starts_with("/*") && !text.starts_with("/*!");
        block.then(|| text.find("*/").map_or(text.len(), |at| at + 2))
    }
}

/// Returns the statements of a text without those that a `rollback` undoes.
pub fn committed_statements(text: &str, dialect: SqlDialect) -> Vec<SqlStatement> {
    let statements = split_statements(text, dialect);
    let mut kept = Vec::with_capacity(statements.len());
    // Where the open transaction began.
    let mut open: Option<usize> = None;
    for statement in statements {
        match statement.transaction() {
            TransactionStep::Begins => open = open.or(Some(kept.len() + 1)),
            TransactionStep::Commits => open = None,
            TransactionStep::RollsBack => {
                if let Some(start) = open.take() {
                    let mut at = 0;
                    kept.retain(|statement: &SqlStatement| {
                        at += 1;
                        at <= start || dialect != SqlDialect::Transactional && !statement.changes_rows()
                    });
                }
            }
            TransactionStep::Nothing => {}
        }
        kept.push(statement);
    }
    remove_temporary_drops(&mut kept);
    kept
}

/// Removes statements that drop a temporary table which an earlier statement created. A temporary table hides other tables
/// of the same name.
fn remove_temporary_drops(statements: &mut Vec<SqlStatement>) {
    let mut created: Vec<String> = Vec::new();
    statements.retain(|statement| {
        let words: Vec<String> = statement.words().take(8).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["create", "temp" | "temporary", "table", rest @ ..] => {
                let rest = rest.strip_prefix(&["if", "not", "exists"]).unwrap_or(rest);
                let name = rest.first().and_then(|name| name.split('(').next());
                created.extend(name.map(str::to_owned));
                true
            }
            ["drop", "table", "if", "exists", name] | ["drop", "table", name] => {
                let dropped = created.iter().position(|known| known == name);
                dropped.map(|at| created.remove(at)).is_none()
            }
            _ => true,
        }
    });
}

impl SqlStatement {
    fn words(&self) -> impl Iterator<Item = String> {
        self.unquoted.split_whitespace().map(str::to_ascii_lowercase)
    }

    fn transaction(&self) -> TransactionStep {
        let mut words = self.words();
        let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        match (first.as_str(), second.as_str()) {
            ("begin", _) | ("start", "transaction") => TransactionStep::Begins,
            ("commit" | "end", _) => TransactionStep::Commits,
            // `rollback to savepoint` undoes only part of the transaction.
            ("rollback" | "abort", "" | "work" | "transaction" | "tran") => TransactionStep::RollsBack,
            _ => TransactionStep::Nothing,
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

/// Splits a text into statements.
fn split_statements(text: &str, dialect: SqlDialect) -> Vec<SqlStatement> {
    let whole = || vec![SqlStatement { text: text.to_owned(), unquoted: String::new() }];
    // Systems differ in whether `\'` ends a string.
    if text.contains("\\'") || text.contains("\\\"") {
        return whole();
    }
    let mut statements = Vec::new();
    let mut now = SqlStatement::default();
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let after = rest.get(letter.len_utf8()..).unwrap_or_default();
        if let Some(end) = dialect.comment(rest) {
            // Only some systems nest comments.
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

/// Returns the opening `$$` or `$name$` of a quoted string, and the text after it.
fn dollar_quote(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_prefix('$')?;
    let end = inner.find('$')?;
    let name = inner.get(..end)?;
    // `$1` is a parameter.
    let named = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !name.starts_with(|c: char| c.is_ascii_digit());
    let mark = text.get(..end + 2)?;
    named.then(|| (mark, text.get(end + 2..).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remaining(text: &str, dialect: SqlDialect) -> Vec<String> {
        let kept = committed_statements(text, dialect).into_iter();
        kept.map(|one| one.text.trim().to_owned()).collect()
    }

    #[test]
    fn comments_and_undone_statements_are_left_out() {
        assert_eq!(
            remaining("drop table users -- begin rollback", SqlDialect::Transactional),
            ["drop table users"]
        );
        assert_eq!(remaining("drop/**/table users", SqlDialect::Transactional), ["drop table users"]);
        assert_eq!(
            remaining("begin; delete from users; rollback;", SqlDialect::MySql),
            ["begin", "rollback"]
        );
        assert_eq!(
            remaining("begin; drop table x; rollback", SqlDialect::Transactional),
            ["begin", "rollback"]
        );
        assert_eq!(
            remaining("begin; drop table x; rollback", SqlDialect::MySql),
            ["begin", "drop table x", "rollback"]
        );
    }

    #[test]
    fn temporary_tables_of_the_same_text_may_be_dropped() {
        let kept = |text| remaining(text, SqlDialect::Transactional).join(";");
        assert_eq!(kept("create temp table t as select 1; drop table t"), "create temp table t as select 1");
        assert_eq!(
            kept("CREATE TEMPORARY TABLE t(x int); DROP TABLE IF EXISTS t"),
            "CREATE TEMPORARY TABLE t(x int)"
        );
        for text in [
            "create table t as select 1; drop table t",
            "create temp table t(x int); drop table u",
            "create temp table t(x int); drop table t; drop table t",
            "drop table t; create temp table t(x int)",
            "create temp table t(x int); drop table t, users",
        ] {
            assert!(kept(text).contains("drop table"), "{text}");
        }
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
                remaining(text, SqlDialect::Transactional).iter().any(|one| one.contains("drop table x")),
                "{text}"
            );
        }
    }

    #[test]
    fn dialects_differ_in_their_comments() {
        assert_eq!(
            remaining("select 5--3; drop table x", SqlDialect::MySql),
            ["select 5--3", "drop table x"]
        );
        assert_eq!(remaining("update t set a=1 # where", SqlDialect::MySql), ["update t set a=1"]);
        assert_eq!(remaining("select 1 # 2; commit", SqlDialect::Transactional), ["select 1 # 2", "commit"]);
    }

    #[test]
    fn quoted_texts_hold_no_statements_and_an_unclear_one_is_kept_whole() {
        assert_eq!(remaining("select 'a;b', $$c;d$$", SqlDialect::Transactional), ["select 'a;b', $$c;d$$"]);
        assert_eq!(
            remaining(r"begin; select '\'; drop table x; rollback; --'", SqlDialect::Transactional).len(),
            1
        );
        let statement = split_statements("update t set a='where' -- where", SqlDialect::Other).remove(0);
        assert!(!statement.unquoted.contains("where"), "{statement:?}");
    }
}
