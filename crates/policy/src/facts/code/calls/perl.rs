// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Perl. Functions of modules stand here without their module.

use super::super::super::Does::{Append, Delete, Move, Permit, Read, Run, Write};
use super::Deed::{All, AllTrees, Chdir, Connect, Eval, Open, PerlOpen, Shell, ShellOrWords, Socket, Touch};
use super::Gives::{Content, Fetched};
use super::{Row, gives, row};

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    gives("HTTP.Tiny.new().get", &[Connect(0)], Fetched),
    gives("HTTP.Tiny.new().head", &[Connect(0)], Fetched),
    gives("HTTP.Tiny.new().mirror", &[Connect(0), Touch(Write, 1)], Fetched),
    gives("HTTP.Tiny.new().post", &[Connect(0)], Fetched),
    gives("IO.Socket.INET.new", &[Socket(0)], Fetched),
    gives("IO.Socket.IP.new", &[Socket(0)], Fetched),
    gives("IO.Socket.SSL.new", &[Socket(0)], Fetched),
    gives("LWP.UserAgent.new().get", &[Connect(0)], Fetched),
    gives("LWP.UserAgent.new().head", &[Connect(0)], Fetched),
    gives("LWP.UserAgent.new().mirror", &[Connect(0), Touch(Write, 1)], Fetched),
    gives("LWP.UserAgent.new().post", &[Connect(0)], Fetched),
    row("append_file", &[Touch(Append, 0)]),
    row("chdir", &[Chdir(0)]),
    row("chmod", &[All(Permit, 1)]),
    row("chown", &[All(Permit, 2)]),
    gives("connect", &[Socket(1)], Fetched),
    row("copy", &[Touch(Read, 0), Touch(Write, 1)]),
    row("cp", &[Touch(Read, 0), Touch(Write, 1)]),
    row("do", &[Touch(Run, 0)]),
    row("eval", &[Eval(0)]),
    row("exec", &[ShellOrWords]),
    gives("get", &[Connect(0)], Fetched),
    gives("getprint", &[Connect(0)], Fetched),
    gives("getstore", &[Connect(0), Touch(Write, 1)], Fetched),
    gives("head", &[Connect(0)], Fetched),
    row("link", &[Touch(Write, 1)]),
    gives("mirror", &[Connect(0), Touch(Write, 1)], Fetched),
    row("move", &[Touch(Move, 0), Touch(Write, 1)]),
    row("mv", &[Touch(Move, 0), Touch(Write, 1)]),
    row("open", &[PerlOpen]),
    row("qx", &[Shell(0)]),
    gives("read_file", &[Touch(Read, 0)], Content(0)),
    row("remove_tree", &[AllTrees(Delete, 0)]),
    row("rename", &[Touch(Move, 0), Touch(Write, 1)]),
    row("rmdir", &[Touch(Delete, 0)]),
    row("rmtree", &[AllTrees(Delete, 0)]),
    gives("slurp", &[Touch(Read, 0)], Content(0)),
    row("symlink", &[Touch(Write, 1)]),
    row("sysopen", &[Open(1, 2)]),
    row("system", &[ShellOrWords]),
    row("truncate", &[Touch(Write, 0)]),
    row("unlink", &[All(Delete, 0)]),
    row("write_file", &[Touch(Write, 0)]),
];
