// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The system calls that a sandboxed run may not make.
//!
//! A program for another architecture (32-bit calls on x86-64) is killed, because the filter knows only the numbers of
//! its own. Calls of the x32 ABI have the same architecture but a bit in their number, so they are refused first.

use std::collections::BTreeMap;

use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, sock_filter,
};

use tenterhook_event::SandboxLevel;

/// System calls that are always refused.
const REFUSED: &[libc::c_long] = &[
    // They do not pass through this filter.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // The keys of the user's session.
    libc::SYS_add_key,
    libc::SYS_keyctl,
    libc::SYS_request_key,
    // Mounts. Without capabilities they fail too; a mistake of the kernel would otherwise be enough.
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_pivot_root,
    libc::SYS_setns,
    libc::SYS_umount2,
    // Parts of the kernel that few programs need and that had many errors.
    libc::SYS_bpf,
    libc::SYS_kexec_load,
    libc::SYS_open_by_handle_at,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
];

/// Puts a character into the input of the terminal.
const TIOCSTI: u64 = 0x5412;
/// Pastes the selection of a Linux console.
const TIOCLINUX: u64 = 0x541C;
/// Bit in the number of an x32 system call.
const X32_SYSCALL_BIT: u32 = 0x4000_0000;
/// Bits of the type of a socket, without its flags.
const SOCKET_TYPE_MASK: u64 = 0xf;

/// What the filter depends on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FilterSettings {
    pub(crate) level: SandboxLevel,
    /// Whether the run may use the network of the machine.
    pub(crate) has_host_network: bool,
    /// Whether the run needs Unix sockets to reach the daemon.
    pub(crate) has_hooks: bool,
}

/// Compiles the filter.
pub(crate) fn compile(settings: FilterSettings) -> Result<BpfProgram, BackendError> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        REFUSED.iter().map(|number| (i64_of(*number), Vec::new())).collect();
    // The kernel looks only at the lower 32 bits of an ioctl's number, so only these are compared.
    let ioctl = [TIOCSTI, TIOCLINUX].into_iter().map(|request| rule(&[(1, SeccompCmpOp::Eq, request)]));
    rules.insert(i64_of(libc::SYS_ioctl), ioctl.collect::<Result<_, _>>()?);

    let family = |operator, family: libc::c_int| (0, operator, u64::from(family.unsigned_abs()));
    let mut families = vec![libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
    let mut sockets = Vec::new();
    if settings.level == SandboxLevel::Landlock {
        // Landlock has no rights for Unix sockets by path. `socketpair` stays allowed.
        if !settings.has_hooks {
            families.retain(|family| *family != libc::AF_UNIX);
        }
        // Nor has it rights for UDP.
        if !settings.has_host_network {
            let datagram = u64::from(libc::SOCK_DGRAM.unsigned_abs());
            for inet in [libc::AF_INET, libc::AF_INET6] {
                let of_type = (1, SeccompCmpOp::MaskedEq(SOCKET_TYPE_MASK), datagram);
                sockets.push(rule(&[family(SeccompCmpOp::Eq, inet), of_type])?);
            }
        }
    }
    // Other families, such as AF_VSOCK, are not separated by network namespaces.
    let other: Vec<_> = families.into_iter().map(|known| family(SeccompCmpOp::Ne, known)).collect();
    sockets.push(rule(&other)?);
    rules.insert(i64_of(libc::SYS_socket), sockets);

    let refused = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let filter =
        SeccompFilter::new(rules, SeccompAction::Allow, refused, std::env::consts::ARCH.try_into()?)?;
    let compiled: BpfProgram = filter.try_into()?;
    let mut program = if cfg!(target_arch = "x86_64") { refuse_x32() } else { BpfProgram::new() };
    program.extend(compiled);
    Ok(program)
}

/// Instructions that refuse system calls of the x32 ABI.
fn refuse_x32() -> BpfProgram {
    let refused = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs();
    let code = |bits: u32| u16::try_from(bits).unwrap_or_default();
    vec![
        // The number is the first field of the data.
        sock_filter { code: code(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS), jt: 0, jf: 0, k: 0 },
        sock_filter {
            code: code(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K),
            jt: 0,
            jf: 1,
            k: X32_SYSCALL_BIT,
        },
        sock_filter { code: code(libc::BPF_RET | libc::BPF_K), jt: 0, jf: 0, k: refused },
    ]
}

fn rule(conditions: &[(u8, SeccompCmpOp, u64)]) -> Result<SeccompRule, BackendError> {
    let condition = |(argument, operator, value): &(u8, SeccompCmpOp, u64)| {
        SeccompCondition::new(*argument, SeccompCmpArgLen::Dword, operator.clone(), *value)
    };
    SeccompRule::new(conditions.iter().map(condition).collect::<Result<_, _>>()?)
}

#[expect(clippy::useless_conversion, reason = "the type has 32 bits on some targets")]
fn i64_of(number: libc::c_long) -> i64 {
    number.into()
}
