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
    libc::SYS_kexec_file_load,
    libc::SYS_kexec_load,
    libc::SYS_open_by_handle_at,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    // Only root may use them. A run of root without namespaces would otherwise depend on its capabilities alone.
    libc::SYS_acct,
    libc::SYS_delete_module,
    libc::SYS_finit_module,
    libc::SYS_init_module,
    libc::SYS_reboot,
    libc::SYS_swapoff,
    libc::SYS_swapon,
];

/// Puts a character into the input of the terminal.
const TIOCSTI: u64 = 0x5412;
/// Pastes the selection of a Linux console.
const TIOCLINUX: u64 = 0x541C;
/// Bit in the number of an x32 system call.
const X32_SYSCALL_BIT: u32 = 0x4000_0000;
/// Bits of the type of a socket, without its flags.
const SOCKET_TYPE_MASK: u64 = 0xf;

/// Calls that change another process of the account, by the number of the process: 0 is the calling one. In a process
/// namespace, a run sees no other processes.
const PROCESS_CALLS: &[libc::c_long] = &[libc::SYS_prlimit64];
/// Calls that create namespaces, whose first argument has the flags.
const NAMESPACE_CALLS: &[libc::c_long] = &[libc::SYS_clone, libc::SYS_unshare];

/// Types of Unix sockets that can send to a path without a connection. A raw Unix socket is a datagram socket.
const UNIX_DATAGRAM_TYPES: &[libc::c_int] = &[libc::SOCK_DGRAM, libc::SOCK_RAW];
/// Types of internet sockets other than streams.
const OTHER_INET_TYPES: &[libc::c_int] =
    &[libc::SOCK_DGRAM, libc::SOCK_RAW, libc::SOCK_RDM, libc::SOCK_SEQPACKET, SOCK_DCCP, SOCK_PACKET];
/// Type of DCCP sockets.
const SOCK_DCCP: libc::c_int = 6;
/// Obsolete type of packet sockets.
const SOCK_PACKET: libc::c_int = 10;

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
    let of_type =
        |kind: libc::c_int| (1, SeccompCmpOp::MaskedEq(SOCKET_TYPE_MASK), u64::from(kind.unsigned_abs()));
    let mut families = vec![libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
    let mut sockets = Vec::new();
    if settings.level == SandboxLevel::Landlock {
        // Landlock has no rights for Unix sockets by path. Hooks connect to a stream socket.
        if !settings.has_hooks {
            families.retain(|family| *family != libc::AF_UNIX);
        }
        let mut pairs = Vec::new();
        for kind in UNIX_DATAGRAM_TYPES {
            sockets.push(rule(&[family(SeccompCmpOp::Eq, libc::AF_UNIX), of_type(*kind)])?);
            // One end of a pair of datagram sockets can send to any path.
            pairs.push(rule(&[of_type(*kind)])?);
        }
        rules.insert(i64_of(libc::SYS_socketpair), pairs);
        for call in PROCESS_CALLS {
            rules.insert(i64_of(*call), vec![rule(&[(0, SeccompCmpOp::Ne, 0)])?]);
        }
        // Bubblewrap forbids user namespaces, in which a process has capabilities, by a limit of its own namespace.
        let user = u64::from(libc::CLONE_NEWUSER.unsigned_abs());
        for call in NAMESPACE_CALLS {
            rules.insert(i64_of(*call), vec![rule(&[(0, SeccompCmpOp::MaskedEq(user), user)])?]);
        }
        // Nor has it rights for protocols other than TCP.
        if !settings.has_host_network {
            for inet in [libc::AF_INET, libc::AF_INET6].map(|inet| family(SeccompCmpOp::Eq, inet)) {
                for kind in OTHER_INET_TYPES {
                    sockets.push(rule(&[inet.clone(), of_type(*kind)])?);
                }
                let protocols = [libc::IPPROTO_IP, libc::IPPROTO_TCP]
                    .map(|protocol| (2, SeccompCmpOp::Ne, u64::from(protocol.unsigned_abs())));
                sockets.push(rule(&[&[inet], protocols.as_slice()].concat())?);
            }
            // TCP Fast Open connects without `connect`, whose right Landlock checks.
            let fast_open = u64::from(libc::MSG_FASTOPEN.unsigned_abs());
            for (call, argument) in [(libc::SYS_sendto, 3), (libc::SYS_sendmsg, 2), (libc::SYS_sendmmsg, 3)] {
                let opens = rule(&[(argument, SeccompCmpOp::MaskedEq(fast_open), fast_open)])?;
                rules.insert(i64_of(call), vec![opens]);
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
    if settings.level == SandboxLevel::Landlock {
        // Its flags are in memory, where a filter cannot read them. Programs then use `clone`.
        program.extend(refuse_as_unknown(libc::BPF_JEQ, u32::try_from(libc::SYS_clone3).unwrap_or_default()));
    }
    program.extend(compiled);
    Ok(program)
}

/// Instructions that refuse system calls of the x32 ABI.
fn refuse_x32() -> BpfProgram {
    refuse_as_unknown(libc::BPF_JGE, X32_SYSCALL_BIT)
}

/// Instructions that refuse system calls whose number compares with this one, as if the kernel did not know them.
fn refuse_as_unknown(comparison: u32, number: u32) -> BpfProgram {
    let refused = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs();
    let code = |bits: u32| u16::try_from(bits).unwrap_or_default();
    vec![
        // The number is the first field of the data.
        sock_filter { code: code(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS), jt: 0, jf: 0, k: 0 },
        sock_filter { code: code(libc::BPF_JMP | comparison | libc::BPF_K), jt: 0, jf: 1, k: number },
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
