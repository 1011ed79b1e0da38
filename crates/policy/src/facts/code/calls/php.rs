// SPDX-License-Identifier: Apache-2.0 OR MIT

//! PHP. Names are in small letters.

use super::super::super::Does::{Delete, Move, Permit, Read, Run, Write};
use super::Deed::{Chdir, Connect, Eval, Open, Program, Shell, Socket, Touch, Words};
use super::Gives::{Content, Fetched, Own};
use super::{Row, gives, row};

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("assert", &[Eval(0)]),
    row("chdir", &[Chdir(0)]),
    row("chgrp", &[Touch(Permit, 0)]),
    row("chmod", &[Touch(Permit, 0)]),
    row("chown", &[Touch(Permit, 0)]),
    row("copy", &[Touch(Read, 0), Touch(Write, 1)]),
    row("create_function", &[Eval(0)]),
    gives("curl_exec", &[], Fetched),
    gives("curl_init", &[Connect(0)], Own),
    row("eval", &[Eval(0)]),
    row("exec", &[Shell(0)]),
    gives("file", &[Touch(Read, 0)], Content(0)),
    gives("file_get_contents", &[Touch(Read, 0)], Content(0)),
    row("file_put_contents", &[Touch(Write, 0)]),
    gives("fopen", &[Open(0, 1)], Content(0)),
    gives("fsockopen", &[Socket(0)], Fetched),
    gives("highlight_file", &[Touch(Read, 0)], Content(0)),
    row("include", &[Touch(Run, 0)]),
    row("include_once", &[Touch(Run, 0)]),
    row("link", &[Touch(Write, 1)]),
    row("move_uploaded_file", &[Touch(Move, 0), Touch(Write, 1)]),
    gives("parse_ini_file", &[Touch(Read, 0)], Content(0)),
    row("passthru", &[Shell(0)]),
    row("pcntl_exec", &[Words(0)]),
    gives("pfsockopen", &[Socket(0)], Fetched),
    row("popen", &[Shell(0)]),
    row("proc_open", &[Program]),
    gives("readfile", &[Touch(Read, 0)], Content(0)),
    row("rename", &[Touch(Move, 0), Touch(Write, 1)]),
    row("require", &[Touch(Run, 0)]),
    row("require_once", &[Touch(Run, 0)]),
    row("rmdir", &[Touch(Delete, 0)]),
    row("shell_exec", &[Shell(0)]),
    gives("show_source", &[Touch(Read, 0)], Content(0)),
    gives("stream_socket_client", &[Connect(0)], Fetched),
    row("symlink", &[Touch(Write, 1)]),
    row("system", &[Shell(0)]),
    row("touch", &[Touch(Write, 0)]),
    row("unlink", &[Touch(Delete, 0)]),
];
