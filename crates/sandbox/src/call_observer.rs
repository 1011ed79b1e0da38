// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Observes the calls of a run that open or change files, so that refused ones can be reported.
//!
//! The run installs a filter with which the kernel holds such a call until the supervisor has read its arguments. The
//! supervisor always lets the call continue: mounts, Landlock and the other filter decide about it, not this one. So a
//! program that changes its arguments meanwhile changes only what is reported.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, FromRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use nix::sys::uio::{RemoteIoVec, process_vm_readv};
use nix::unistd::Pid;
use rustix::event::{PollFd, PollFlags, poll};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};
use serde::{Deserialize, Serialize};

/// Maximum length of a path, as in the kernel.
const MAX_PATH_BYTES: usize = 4096;
/// Size of a page, or a divisor of it.
const PAGE_BYTES: usize = 4096;
/// Flag of a listener: the supervisor runs on the processor of the held call at once. Since Linux 6.6.
const SYNCHRONOUS_WAKE_UP: u64 = 1;
/// Bits of the flags of `open` with which a file may be changed.
const WRITE_FLAGS: &[libc::c_int] = &[libc::O_WRONLY, libc::O_RDWR, libc::O_CREAT, libc::O_TRUNC];

/// Which calls are observed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ObservedCalls {
    /// Calls that change files. Builds make few of them, so this costs little.
    Changes,
    /// Also calls that read files.
    All,
}

/// What a call does with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PathOperation {
    /// Opens a file to read it.
    Read,
    /// Opens a file to write it, and creates it if it does not exist.
    Write,
    /// Creates a directory, link or special file.
    Create,
    /// Removes a name.
    Remove,
    /// Changes mode, owner, length or times.
    Change,
}

impl PathOperation {
    /// Returns the name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Create => "create",
            Self::Remove => "remove",
            Self::Change => "change",
        }
    }
}

/// A call that was observed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservedCall {
    /// What the call does.
    pub operation: PathOperation,
    /// The path, absolute and without `..`. Links are not followed.
    pub path: PathBuf,
}

/// A path argument of a system call: its operation, the argument with the directory's descriptor, and that with the path.
type PathArgument = (PathOperation, Option<usize>, usize);

/// A system call whose paths are observed.
struct SystemCallRow {
    number: libc::c_long,
    paths: &'static [PathArgument],
    /// The argument with the flags of `open`.
    open_flags: Option<usize>,
}

const fn row(number: libc::c_long, paths: &'static [PathArgument]) -> SystemCallRow {
    SystemCallRow { number, paths, open_flags: None }
}

const CALLS: &[SystemCallRow] = &[
    SystemCallRow {
        number: libc::SYS_openat,
        paths: &[(PathOperation::Write, Some(0), 1)],
        open_flags: Some(2),
    },
    row(libc::SYS_mkdirat, &[(PathOperation::Create, Some(0), 1)]),
    row(libc::SYS_mknodat, &[(PathOperation::Create, Some(0), 1)]),
    row(libc::SYS_symlinkat, &[(PathOperation::Create, Some(1), 2)]),
    row(libc::SYS_linkat, &[(PathOperation::Create, Some(2), 3)]),
    row(libc::SYS_unlinkat, &[(PathOperation::Remove, Some(0), 1)]),
    row(libc::SYS_renameat2, &[(PathOperation::Remove, Some(0), 1), (PathOperation::Write, Some(2), 3)]),
    row(libc::SYS_fchmodat, &[(PathOperation::Change, Some(0), 1)]),
    row(libc::SYS_fchownat, &[(PathOperation::Change, Some(0), 1)]),
    row(libc::SYS_truncate, &[(PathOperation::Change, None, 0)]),
];

/// Calls that newer architectures do not have.
#[cfg(target_arch = "x86_64")]
const OLD_CALLS: &[SystemCallRow] = &[
    SystemCallRow { number: libc::SYS_open, paths: &[(PathOperation::Write, None, 0)], open_flags: Some(1) },
    row(libc::SYS_creat, &[(PathOperation::Write, None, 0)]),
    row(libc::SYS_mkdir, &[(PathOperation::Create, None, 0)]),
    row(libc::SYS_mknod, &[(PathOperation::Create, None, 0)]),
    row(libc::SYS_symlink, &[(PathOperation::Create, None, 1)]),
    row(libc::SYS_link, &[(PathOperation::Create, None, 1)]),
    row(libc::SYS_unlink, &[(PathOperation::Remove, None, 0)]),
    row(libc::SYS_rmdir, &[(PathOperation::Remove, None, 0)]),
    row(libc::SYS_rename, &[(PathOperation::Remove, None, 0), (PathOperation::Write, None, 1)]),
    row(libc::SYS_renameat, &[(PathOperation::Remove, Some(0), 1), (PathOperation::Write, Some(2), 3)]),
    row(libc::SYS_chmod, &[(PathOperation::Change, None, 0)]),
    row(libc::SYS_chown, &[(PathOperation::Change, None, 0)]),
];
#[cfg(not(target_arch = "x86_64"))]
const OLD_CALLS: &[SystemCallRow] = &[];

fn call_rows() -> impl Iterator<Item = &'static SystemCallRow> {
    CALLS.iter().chain(OLD_CALLS)
}

/// Why calls cannot be observed.
#[derive(Debug, thiserror::Error)]
pub enum ObserverError {
    /// The filter cannot be compiled.
    #[error(transparent)]
    Filter(#[from] seccompiler::BackendError),
    /// The kernel does not accept the filter.
    #[error(transparent)]
    Kernel(#[from] io::Error),
}

/// Installs the filter in this process and its children. The kernel must know `no_new_privs` for this process. Returns
/// the descriptor from which the supervisor reads.
pub(crate) fn install(calls: ObservedCalls) -> Result<OwnedFd, ObserverError> {
    let mut program = compile(calls)?;
    // Since Linux 5.19, a signal does not restart a call that the supervisor has read.
    let killable = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
    match install_program(&mut program, killable) {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
            Ok(install_program(&mut program, libc::SECCOMP_FILTER_FLAG_NEW_LISTENER)?)
        }
        installed => Ok(installed?),
    }
}

/// Compiles the filter. `seccompiler` has no action for observed calls, so another action is replaced.
fn compile(calls: ObservedCalls) -> Result<BpfProgram, seccompiler::BackendError> {
    let mut rules = BTreeMap::new();
    for row in call_rows() {
        let mut conditions = Vec::new();
        if let Some(flags) = row.open_flags.filter(|_| calls == ObservedCalls::Changes) {
            let argument = u8::try_from(flags).unwrap_or_default();
            for flag in WRITE_FLAGS {
                let bits = u64::from(flag.unsigned_abs());
                let condition = SeccompCondition::new(
                    argument,
                    SeccompCmpArgLen::Dword,
                    SeccompCmpOp::MaskedEq(bits),
                    bits,
                )?;
                conditions.push(SeccompRule::new(vec![condition])?);
            }
        }
        rules.insert(row.number, conditions);
    }
    let filter = SeccompFilter::new(
        rules,
        SeccompAction::Allow,
        SeccompAction::Log,
        std::env::consts::ARCH.try_into()?,
    )?;
    let mut program: BpfProgram = filter.try_into()?;
    let action = libc::BPF_RET | libc::BPF_K;
    for instruction in &mut program {
        if u32::from(instruction.code) == action && instruction.k == libc::SECCOMP_RET_LOG {
            instruction.k = libc::SECCOMP_RET_USER_NOTIF;
        }
    }
    Ok(program)
}

#[expect(unsafe_code, reason = "no safe function installs a filter whose calls another process reads")]
fn install_program(program: &mut BpfProgram, flags: libc::c_ulong) -> io::Result<OwnedFd> {
    let mut program: Vec<libc::sock_filter> = program
        .iter()
        .map(|instruction| libc::sock_filter {
            code: instruction.code,
            jt: instruction.jt,
            jf: instruction.jf,
            k: instruction.k,
        })
        .collect();
    let length = u16::try_from(program.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    let program = libc::sock_fprog { len: length, filter: program.as_mut_ptr() };
    // SAFETY: `program` points to `len` instructions that live until the call has returned; the kernel copies them.
    let listener = unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::c_ulong::from(libc::SECCOMP_SET_MODE_FILTER),
            flags,
            std::ptr::from_ref(&program),
        )
    };
    let listener = i32::try_from(listener).unwrap_or(-1);
    if listener < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: with this flag, the call returns a new descriptor that nothing else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(listener) })
}

/// Reads the observed calls of a run, in its supervisor.
#[derive(Debug)]
pub struct CallObserver(OwnedFd);

impl CallObserver {
    /// An observer for the descriptor that a run passed.
    pub fn new(listener: OwnedFd) -> Self {
        wake_up_synchronously(&listener);
        Self(listener)
    }

    /// Waits for the next call and lets it continue. Returns `None` when no process of the run is left.
    pub fn next_calls(&self) -> io::Result<Option<Vec<ObservedCall>>> {
        loop {
            let mut polled = [PollFd::new(&self.0, PollFlags::IN)];
            match poll(&mut polled, None) {
                Err(rustix::io::Errno::INTR) => continue,
                other => other?,
            };
            let [polled] = polled;
            if !polled.revents().contains(PollFlags::IN) {
                return Ok(None);
            }
            // A call that was interrupted meanwhile is not there any more.
            let Some(call) = receive(&self.0)? else { continue };
            let observed = decode(&call);
            // The process may have ended and another one may have its id.
            let is_current = is_valid(&self.0, call.id);
            let_continue(&self.0, call.id)?;
            if is_current {
                return Ok(Some(observed));
            }
        }
    }
}

#[expect(unsafe_code, reason = "no safe function sets flags of a listener")]
fn wake_up_synchronously(listener: &impl AsFd) {
    let descriptor = listener.as_fd().as_raw_fd();
    // SAFETY: the kernel takes a number. Older kernels refuse the call, which only makes held calls slower.
    let _ = unsafe { libc::ioctl(descriptor, libc::SECCOMP_IOCTL_NOTIF_SET_FLAGS, SYNCHRONOUS_WAKE_UP) };
}

#[expect(unsafe_code, reason = "no safe function reads a held call")]
fn receive(listener: &impl AsFd) -> io::Result<Option<libc::seccomp_notif>> {
    let data = libc::seccomp_data { nr: 0, arch: 0, instruction_pointer: 0, args: [0; 6] };
    let mut call = libc::seccomp_notif { id: 0, pid: 0, flags: 0, data };
    let descriptor = listener.as_fd().as_raw_fd();
    // SAFETY: the kernel writes one value of this type, and expects that it is zero before.
    let result =
        unsafe { libc::ioctl(descriptor, libc::SECCOMP_IOCTL_NOTIF_RECV, std::ptr::from_mut(&mut call)) };
    if result == 0 {
        return Ok(Some(call));
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        Some(libc::ENOENT | libc::EINTR) => Ok(None),
        _ => Err(error),
    }
}

#[expect(unsafe_code, reason = "no safe function asks whether a call is still held")]
fn is_valid(listener: &impl AsFd, id: u64) -> bool {
    let descriptor = listener.as_fd().as_raw_fd();
    // SAFETY: the kernel reads one number.
    let result =
        unsafe { libc::ioctl(descriptor, libc::SECCOMP_IOCTL_NOTIF_ID_VALID, std::ptr::from_ref(&id)) };
    result == 0
}

#[expect(unsafe_code, reason = "no safe function lets a held call continue")]
fn let_continue(listener: &impl AsFd, id: u64) -> io::Result<()> {
    let flags = u32::try_from(libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE).unwrap_or_default();
    let mut reply = libc::seccomp_notif_resp { id, val: 0, error: 0, flags };
    let descriptor = listener.as_fd().as_raw_fd();
    // SAFETY: the kernel reads one value of this type.
    let result =
        unsafe { libc::ioctl(descriptor, libc::SECCOMP_IOCTL_NOTIF_SEND, std::ptr::from_mut(&mut reply)) };
    let error = io::Error::last_os_error();
    // The call was interrupted meanwhile.
    if result == 0 || error.raw_os_error() == Some(libc::ENOENT) { Ok(()) } else { Err(error) }
}

/// Reads the paths of a held call from the memory of its process.
fn decode(call: &libc::seccomp_notif) -> Vec<ObservedCall> {
    let Some(row) = call_rows().find(|row| row.number == libc::c_long::from(call.data.nr)) else {
        return Vec::new();
    };
    let argument = |at: usize| call.data.args.get(at).copied().unwrap_or_default();
    let mut observed = Vec::new();
    for (operation, directory, path) in row.paths {
        let writes = row.open_flags.is_none_or(|at| {
            // The lower half holds the flags.
            let flags = argument(at) & u64::from(u32::MAX);
            WRITE_FLAGS.iter().any(|flag| flags & u64::from(flag.unsigned_abs()) != 0)
        });
        let operation = if writes { *operation } else { PathOperation::Read };
        let Some(path) = read_path(call.pid, argument(*path)) else { continue };
        let base = directory.map_or(libc::AT_FDCWD, |at| descriptor_of(argument(at)));
        if let Some(path) = absolute(call.pid, base, &path) {
            observed.push(ObservedCall { operation, path });
        }
    }
    observed
}

/// A descriptor is the lower half of an argument, with a sign.
fn descriptor_of(argument: u64) -> i32 {
    let [a, b, c, d, ..] = argument.to_le_bytes();
    i32::from_le_bytes([a, b, c, d])
}

/// Reads a path from the memory of a process.
fn read_path(pid: u32, address: u64) -> Option<PathBuf> {
    let (pid, start) = (Pid::from_raw(i32::try_from(pid).ok()?), usize::try_from(address).ok()?);
    let mut bytes = vec![0; MAX_PATH_BYTES];
    // A part that crosses into a page that is not mapped would not be read at all.
    let in_first_page = PAGE_BYTES - start % PAGE_BYTES;
    let first = RemoteIoVec { base: start, len: in_first_page.min(MAX_PATH_BYTES) };
    let second = RemoteIoVec { base: start.checked_add(first.len)?, len: MAX_PATH_BYTES - first.len };
    let remote: &[RemoteIoVec] = if second.len == 0 { &[first] } else { &[first, second] };
    let length = process_vm_readv(pid, &mut [io::IoSliceMut::new(&mut bytes)], remote).ok()?;
    let end = bytes.iter().take(length).position(|byte| *byte == 0).filter(|end| *end > 0)?;
    Some(PathBuf::from(std::ffi::OsStr::from_bytes(bytes.get(..end)?)))
}

fn absolute(pid: u32, base: i32, path: &Path) -> Option<PathBuf> {
    if path.is_absolute() {
        return Some(without_dots(path));
    }
    let base = match base {
        libc::AT_FDCWD => format!("/proc/{pid}/cwd"),
        descriptor => format!("/proc/{pid}/fd/{descriptor}"),
    };
    let base = std::fs::read_link(base).ok().filter(|base| base.is_absolute())?;
    Some(without_dots(&base.join(path)))
}

fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_calls_that_may_write_are_held_unless_all_are_observed() {
        let changes = compile(ObservedCalls::Changes).unwrap();
        let all = compile(ObservedCalls::All).unwrap();
        let held = |program: &BpfProgram| {
            program.iter().filter(|instruction| instruction.k == libc::SECCOMP_RET_USER_NOTIF).count()
        };
        assert!(held(&changes) > CALLS.len() && held(&all) >= CALLS.len());
        assert!(changes.len() > all.len(), "flags are compared");
        assert!(changes.iter().all(|instruction| instruction.k != libc::SECCOMP_RET_LOG));
    }

    #[test]
    fn paths_are_made_absolute_without_links() {
        let own = std::process::id();
        assert_eq!(without_dots(Path::new("/a/./b/../c")), Path::new("/a/c"));
        assert_eq!(without_dots(Path::new("/../../etc")), Path::new("/etc"));
        let here = std::env::current_dir().unwrap();
        assert_eq!(absolute(own, libc::AT_FDCWD, Path::new("x")).unwrap(), here.join("x"));
        assert_eq!(absolute(own, 9999, Path::new("x")), None);
        assert_eq!(descriptor_of(u64::from(u32::MAX) - 99), libc::AT_FDCWD);
    }
}
