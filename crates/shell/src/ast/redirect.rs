// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Defines redirections and here-documents.

use std::sync::{Arc, OnceLock};

use super::{Word, WordPart};
use crate::Span;

/// A redirection with its descriptor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    /// The descriptor before the operator; `None` if the operator's default applies.
    pub descriptor: Option<Descriptor>,
    /// The redirection operator.
    pub operator: RedirectOperator,
    /// The file or text to open.
    pub target: RedirectTarget,
    /// Position in the source, without the body of a here-document.
    pub span: Span,
}

/// The descriptor before a redirection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Descriptor {
    /// `2>`
    Number(u32),
    /// `{name}>`: the shell chooses a number and assigns it.
    Variable(Box<str>),
}

/// Operators of redirections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RedirectOperator {
    /// `<`
    Read,
    /// `>`
    Write,
    /// `>|`, in zsh also `>!`
    Overwrite,
    /// `>>`
    Append,
    /// `<>`
    ReadWrite,
    /// `<&`
    DuplicateInput,
    /// `>&`
    DuplicateOutput,
    /// `&>`: standard output and standard error
    WriteBoth,
    /// `&>>`
    AppendBoth,
    /// `<<<`
    HereString,
    /// `<<`
    HereDocument,
    /// `<<-`
    HereDocumentWithoutTabs,
}

impl RedirectOperator {
    /// Returns the operator as written.
    pub fn text(self) -> &'static str {
        match self {
            Self::Read => "<",
            Self::Write => ">",
            Self::Overwrite => ">|",
            Self::Append => ">>",
            Self::ReadWrite => "<>",
            Self::DuplicateInput => "<&",
            Self::DuplicateOutput => ">&",
            Self::WriteBoth => "&>",
            Self::AppendBoth => "&>>",
            Self::HereString => "<<<",
            Self::HereDocument => "<<",
            Self::HereDocumentWithoutTabs => "<<-",
        }
    }

    /// Whether the target is opened for writing.
    pub fn writes(self) -> bool {
        matches!(
            self,
            Self::Write
                | Self::Overwrite
                | Self::Append
                | Self::ReadWrite
                | Self::DuplicateOutput
                | Self::WriteBoth
                | Self::AppendBoth
        )
    }
}

/// Target of a redirection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RedirectTarget {
    /// A file, a descriptor (`&1`, `-`) or the text of a here-string.
    Word(Word),
    /// Text of a here-document.
    HereDocument(HereDocument),
}

/// A here-document. Its body follows the end of the line and is parsed after the redirection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HereDocument {
    /// The delimiter with quotes removed.
    pub delimiter: Box<str>,
    /// Whether the delimiter is quoted: nothing in the body is expanded.
    pub quoted: bool,
    /// Whether it is `<<-`: tabs at the start of lines are removed.
    pub strips_tabs: bool,
    pub(crate) body: Arc<OnceLock<HereDocumentBody>>,
}

impl HereDocument {
    /// Returns the body; `None` if the text ended in the middle of the command that the here-document belongs to.
    pub fn body(&self) -> Option<&HereDocumentBody> {
        self.body.get()
    }
}

/// The body of a here-document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HereDocumentBody {
    /// The text: literals, and expansions unless the delimiter is quoted.
    pub parts: Vec<WordPart>,
    /// Whether the line with the delimiter was found. Otherwise the shell warns and uses the rest of the text.
    pub closed: bool,
    /// Position in the source, without the line with the delimiter.
    pub span: Span,
}

impl HereDocumentBody {
    /// Returns the text, if nothing in it is expanded.
    pub fn literal(&self) -> Option<String> {
        let mut text = String::with_capacity(self.span.len());
        for part in &self.parts {
            match part {
                WordPart::Literal(literal) => text.push_str(&literal.text),
                WordPart::Escaped(escaped) => text.push(escaped.character),
                _ => return None,
            }
        }
        Some(text)
    }
}
