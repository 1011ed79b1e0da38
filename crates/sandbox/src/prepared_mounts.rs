// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Makes the mounts of a sandbox before `bwrap` starts, in a user and mount namespace of their own.
//!
//! For each mount, `bwrap` reads the table of all mounts, so its time grows with the square of their number. The calls used
//! here change a whole tree of mounts at once. `bwrap` then takes over the prepared tree, in a namespace with fewer rights:
//! nothing in it can be detached or made writable again.
//!
//! If the kernel or a security module refuses any step, `bwrap` makes the same mounts.

use std::ffi::{CStr, CString};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use libc::c_int;

use crate::bubblewrap::SandboxMounts;
use crate::mount_steps::{MountStep, mount_steps};

/// Maximum number of mounts. Each needs an open file, of which processes may usually have 1024.
const MAX_STEPS: usize = 400;
const READ_ONLY: u64 = libc::MOUNT_ATTR_RDONLY;
const NO_SET_ID: u64 = libc::MOUNT_ATTR_NOSUID;
const NO_DEVICES: u64 = libc::MOUNT_ATTR_NODEV;

/// The mounts of a sandbox, ready to be made.
#[derive(Debug)]
pub struct PreparedMounts {
    steps: Vec<PreparedStep>,
    user_map: CString,
    group_map: CString,
}

#[derive(Debug)]
enum PreparedStep {
    Bind(PreparedBind),
    EmptyDirectory { target: CString, options: CString },
    Seal { target: CString },
}

#[derive(Debug)]
struct PreparedBind {
    source: CString,
    target: CString,
    /// Directories in an empty directory that are created for the target.
    parents: Vec<CString>,
    is_in_empty_directory: bool,
    is_writable: bool,
    /// The tree of mounts at the source.
    tree: c_int,
}

impl PreparedMounts {
    /// Prepares the mounts of a sandbox; `None` if there are too many.
    pub fn new(mounts: &SandboxMounts<'_>) -> Option<Self> {
        let (mut steps, other) = mount_steps(mounts);
        steps.extend(other);
        let empty: Vec<_> = steps
            .iter()
            .filter(|step| matches!(step, MountStep::EmptyDirectory { .. }))
            .map(|step| step.target().to_owned())
            .collect();
        let prepared: Option<Vec<_>> = steps.iter().map(|step| PreparedStep::of(step, &empty)).collect();
        let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        Some(Self {
            steps: prepared.filter(|steps| steps.len() <= MAX_STEPS)?,
            user_map: CString::new(format!("{user} {user} 1\n")).ok()?,
            group_map: CString::new(format!("{group} {group} 1\n")).ok()?,
        })
    }

    /// Makes the mounts in a program before it starts. If that fails, the program does not start.
    #[expect(unsafe_code, reason = "mounts of a program are made only by code that runs before it")]
    pub fn make_before(mut self, command: &mut Command) {
        // SAFETY: the closure only makes system calls, which is permitted between fork and exec.
        unsafe {
            command.pre_exec(move || self.make());
        }
    }

    /// Makes the mounts. Allocates no memory.
    fn make(&mut self) -> io::Result<()> {
        enter_namespaces(&self.user_map, &self.group_map)?;
        // All sources come first: a later mount may cover them.
        for step in &mut self.steps {
            if let PreparedStep::Bind(bind) = step {
                bind.open()?;
            }
        }
        set_attributes(libc::AT_FDCWD, c"/", libc::AT_RECURSIVE, READ_ONLY | NO_SET_ID, 0)?;
        // `bwrap` writes to both, and has its own in the sandbox. If this fails, it cannot start.
        for path in [c"/proc", c"/dev"] {
            let _ = set_attributes(libc::AT_FDCWD, path, 0, 0, READ_ONLY);
        }
        for step in &self.steps {
            match step {
                PreparedStep::Bind(bind) => bind.attach()?,
                PreparedStep::EmptyDirectory { target, options } => mount_empty(target, options)?,
                PreparedStep::Seal { target } => {
                    set_attributes(libc::AT_FDCWD, target, libc::AT_SYMLINK_NOFOLLOW, READ_ONLY, 0)?;
                }
            }
        }
        Ok(())
    }
}

impl PreparedStep {
    fn of(step: &MountStep, empty: &[std::path::PathBuf]) -> Option<Self> {
        let target = c_path(step.target())?;
        Some(match step {
            MountStep::Bind { source, is_writable, .. } => {
                let above = empty
                    .iter()
                    .filter(|empty| step.target().starts_with(empty) && step.target() != *empty)
                    .max_by_key(|empty| empty.components().count());
                let parents = step.target().ancestors().skip(1);
                let mut parents: Vec<_> = parents
                    .take_while(|parent| above.is_some_and(|above| parent != above))
                    .map(c_path)
                    .collect::<Option<_>>()?;
                parents.reverse();
                let source = c_path(source)?;
                let (is_in_empty_directory, is_writable) = (above.is_some(), *is_writable);
                Self::Bind(PreparedBind {
                    source,
                    target,
                    parents,
                    is_in_empty_directory,
                    is_writable,
                    tree: -1,
                })
            }
            MountStep::EmptyDirectory { mode, .. } => {
                Self::EmptyDirectory { target, options: CString::new(format!("mode={mode:04o}")).ok()? }
            }
            MountStep::Seal { .. } => Self::Seal { target },
        })
    }
}

impl PreparedBind {
    fn open(&mut self) -> io::Result<()> {
        let flags =
            libc::AT_RECURSIVE.unsigned_abs() | libc::OPEN_TREE_CLONE | libc::O_CLOEXEC.unsigned_abs();
        self.tree = open_tree(&self.source, flags)?;
        let read_only = if self.is_writable { 0 } else { READ_ONLY };
        let recursive = libc::AT_EMPTY_PATH | libc::AT_RECURSIVE;
        set_attributes(self.tree, c"", recursive, read_only | NO_SET_ID | NO_DEVICES, 0)
    }

    fn attach(&self) -> io::Result<()> {
        if self.is_in_empty_directory {
            create_target(self.tree, &self.parents, &self.target)?;
        }
        move_mount(self.tree, &self.target)
    }
}

fn c_path(path: &Path) -> Option<CString> {
    CString::new(path.as_os_str().as_bytes()).ok()
}

fn check(result: libc::c_long) -> io::Result<c_int> {
    let result = c_int::try_from(result).unwrap_or(-1);
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Enters namespaces in which this process may mount. Its account stays the same.
#[expect(unsafe_code, reason = "no safe function enters namespaces without allocating")]
fn enter_namespaces(user_map: &CStr, group_map: &CStr) -> io::Result<()> {
    // SAFETY: the call takes a number.
    check(unsafe { libc::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNS) }.into())?;
    write_file(c"/proc/self/setgroups", c"deny")?;
    write_file(c"/proc/self/uid_map", user_map)?;
    write_file(c"/proc/self/gid_map", group_map)?;
    // Mounts of the machine still appear, and those made here do not appear outside.
    // SAFETY: all pointers are null or lead to strings that live until the call returns.
    let result = unsafe {
        libc::mount(
            std::ptr::null(),
            c"/".as_ptr(),
            std::ptr::null(),
            libc::MS_REC | libc::MS_SLAVE,
            std::ptr::null(),
        )
    };
    check(result.into()).map(drop)
}

#[expect(unsafe_code, reason = "no safe function writes a file without allocating")]
fn write_file(path: &CStr, content: &CStr) -> io::Result<()> {
    // SAFETY: the path is a string that lives until the call returns.
    let file = check(unsafe { libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC) }.into())?;
    let bytes = content.to_bytes();
    // SAFETY: the buffer lives until the call returns, and the length is its length.
    let written = unsafe { libc::write(file, bytes.as_ptr().cast(), bytes.len()) };
    let result = if written < 0 { Err(io::Error::last_os_error()) } else { Ok(()) };
    // SAFETY: the descriptor was opened above and is used by nothing else.
    unsafe { libc::close(file) };
    result
}

#[expect(unsafe_code, reason = "no safe function copies a tree of mounts")]
fn open_tree(path: &CStr, flags: libc::c_uint) -> io::Result<c_int> {
    // SAFETY: the path is a string that lives until the call returns.
    check(unsafe { libc::syscall(libc::SYS_open_tree, libc::AT_FDCWD, path.as_ptr(), flags) })
}

#[expect(unsafe_code, reason = "no safe function changes a tree of mounts")]
fn set_attributes(directory: c_int, path: &CStr, flags: c_int, set: u64, clear: u64) -> io::Result<()> {
    let attributes = libc::mount_attr { attr_set: set, attr_clr: clear, propagation: 0, userns_fd: 0 };
    // SAFETY: both pointers live until the call returns, and the size is that of the value.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            directory,
            path.as_ptr(),
            flags,
            std::ptr::from_ref(&attributes),
            size_of::<libc::mount_attr>(),
        )
    };
    check(result).map(drop)
}

#[expect(unsafe_code, reason = "no safe function attaches a tree of mounts")]
fn move_mount(tree: c_int, target: &CStr) -> io::Result<()> {
    let flags = libc::MOVE_MOUNT_F_EMPTY_PATH;
    // SAFETY: both paths are strings that live until the call returns.
    let result = unsafe {
        libc::syscall(libc::SYS_move_mount, tree, c"".as_ptr(), libc::AT_FDCWD, target.as_ptr(), flags)
    };
    check(result).map(drop)
}

#[expect(unsafe_code, reason = "no safe function mounts without allocating")]
fn mount_empty(target: &CStr, options: &CStr) -> io::Result<()> {
    // SAFETY: all pointers lead to strings that live until the call returns.
    let result = unsafe {
        libc::mount(
            c"tmpfs".as_ptr(),
            target.as_ptr(),
            c"tmpfs".as_ptr(),
            libc::MS_NOSUID | libc::MS_NODEV,
            options.as_ptr().cast(),
        )
    };
    check(result.into()).map(drop)
}

/// Creates the file or directory in an empty directory on which a tree is mounted.
#[expect(unsafe_code, reason = "no safe function creates files without allocating")]
fn create_target(tree: c_int, parents: &[CString], target: &CStr) -> io::Result<()> {
    for parent in parents {
        // What exists is used. If it cannot be created, the mount fails.
        // SAFETY: the path is a string that lives until the call returns.
        let _ = unsafe { libc::mkdir(parent.as_ptr(), 0o755) };
    }
    // SAFETY: a value of zeroes is valid for this type.
    let mut found: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes one value of this type.
    check(unsafe { libc::fstat(tree, std::ptr::from_mut(&mut found)) }.into())?;
    if found.st_mode & libc::S_IFMT == libc::S_IFDIR {
        // SAFETY: as above.
        let _ = unsafe { libc::mkdir(target.as_ptr(), 0o755) };
    } else {
        // An open file would keep the directory from being made read-only.
        // SAFETY: as above.
        let _ = unsafe { libc::mknod(target.as_ptr(), libc::S_IFREG | 0o644, 0) };
    }
    Ok(())
}
