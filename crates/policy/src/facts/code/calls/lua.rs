// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Lua.

use super::super::super::Does::{Delete, Move, Read, Run, Write};
use super::Deed::{Chdir, Connect, Eval, Open, Shell, Socket, Touch};
use super::Gives::{Content, Fetched};
use super::{Row, gives, row};

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("dofile", &[Touch(Run, 0)]),
    gives("io.input", &[Touch(Read, 0)], Content(0)),
    gives("io.lines", &[Touch(Read, 0)], Content(0)),
    gives("io.open", &[Open(0, 1)], Content(0)),
    row("io.output", &[Touch(Write, 0)]),
    row("io.popen", &[Shell(0)]),
    row("lfs.chdir", &[Chdir(0)]),
    row("lfs.rmdir", &[Touch(Delete, 0)]),
    row("load", &[Eval(0)]),
    row("loadfile", &[Touch(Run, 0)]),
    row("loadstring", &[Eval(0)]),
    row("os.execute", &[Shell(0)]),
    row("os.remove", &[Touch(Delete, 0)]),
    row("os.rename", &[Touch(Move, 0), Touch(Write, 1)]),
    gives("socket.connect", &[Socket(0)], Fetched),
    gives("socket.http.request", &[Connect(0)], Fetched),
    gives("socket.tcp().connect", &[Socket(0)], Fetched),
    gives("socket.tcp().receive", &[], Fetched),
    gives("ssl.https.request", &[Connect(0)], Fetched),
];
