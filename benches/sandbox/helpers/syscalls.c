// SPDX-License-Identifier: Apache-2.0 OR MIT
// System calls that filters on the usual entry points do not see: io_uring operations, the 32-bit entry (int 0x80) and
// x32 numbers. Usage: syscalls ENTRY ACTION ARGUMENT [PORT]; exit code 0 if the calls succeeded, otherwise the error number.
//   ENTRY   uring | i386 | x32 | plain
//   ACTION  write PATH | read PATH | unix PATH | tcp ADDRESS PORT | kill PID
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

static const char MARK[] = "PWNED\n";
static char *low; // Memory below 4 GiB, for arguments of 32-bit calls.

static long call32(long number, long a, long b, long c, long d) {
    long result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(a), "c"(b), "d"(c), "S"(d)
                     : "memory", "r8", "r9", "r10", "r11");
    if (result < 0) { errno = -result; return -1; }
    return result;
}

struct ring { int fd; struct io_uring_params p; char *sq, *cq; struct io_uring_sqe *sqes; };

static int open_ring(struct ring *r) {
    memset(r, 0, sizeof *r);
    r->fd = syscall(SYS_io_uring_setup, 4, &r->p);
    if (r->fd < 0) return -1;
    size_t sq = r->p.sq_off.array + r->p.sq_entries * sizeof(unsigned);
    size_t cq = r->p.cq_off.cqes + r->p.cq_entries * sizeof(struct io_uring_cqe);
    r->sq = mmap(0, sq, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, IORING_OFF_SQ_RING);
    r->cq = mmap(0, cq, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, IORING_OFF_CQ_RING);
    r->sqes = mmap(0, r->p.sq_entries * sizeof *r->sqes, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, IORING_OFF_SQES);
    return r->sq == MAP_FAILED || r->cq == MAP_FAILED || r->sqes == MAP_FAILED ? -1 : 0;
}

static long submit(struct ring *r, struct io_uring_sqe entry) {
    unsigned *tail = (unsigned *)(r->sq + r->p.sq_off.tail), mask = *(unsigned *)(r->sq + r->p.sq_off.ring_mask);
    unsigned slot = *tail & mask;
    r->sqes[slot] = entry;
    ((unsigned *)(r->sq + r->p.sq_off.array))[slot] = slot;
    __atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
    if (syscall(SYS_io_uring_enter, r->fd, 1, 1, IORING_ENTER_GETEVENTS, 0, 0) < 0) return -1;
    unsigned *head = (unsigned *)(r->cq + r->p.cq_off.head), cmask = *(unsigned *)(r->cq + r->p.cq_off.ring_mask);
    int result = ((struct io_uring_cqe *)(r->cq + r->p.cq_off.cqes))[*head & cmask].res;
    __atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
    if (result < 0) { errno = -result; return -1; }
    return result;
}

// Each function makes one call through the selected entry.
enum entry { PLAIN, URING, I386, X32 };
static enum entry entry;
static struct ring ring;

static long x32(long number, long a, long b, long c, long d) { return syscall(number | 0x40000000, a, b, c, d); }

static long do_open(const char *path, int flags) {
    if (entry == I386) { strcpy(low, path); return call32(295, AT_FDCWD, (long)low, flags, 0); }
    if (entry == X32) return x32(SYS_openat, AT_FDCWD, (long)path, flags, 0);
    if (entry == PLAIN) return open(path, flags);
    struct io_uring_sqe e = {.opcode = IORING_OP_OPENAT, .fd = AT_FDCWD, .addr = (unsigned long)path, .open_flags = flags};
    return submit(&ring, e);
}

static long do_write(int fd, const char *bytes, size_t length) {
    if (entry == I386) { memcpy(low, bytes, length); return call32(4, fd, (long)low, length, 0); }
    if (entry == X32) return x32(SYS_write, fd, (long)bytes, length, 0);
    if (entry == PLAIN) return write(fd, bytes, length);
    struct io_uring_sqe e = {.opcode = IORING_OP_WRITE, .fd = fd, .addr = (unsigned long)bytes, .len = length};
    return submit(&ring, e);
}

static long do_read(int fd, char *bytes, size_t length) {
    if (entry == I386) { long n = call32(3, fd, (long)low, length, 0); if (n > 0) memcpy(bytes, low, n); return n; }
    if (entry == X32) return x32(SYS_read, fd, (long)bytes, length, 0);
    if (entry == PLAIN) return read(fd, bytes, length);
    struct io_uring_sqe e = {.opcode = IORING_OP_READ, .fd = fd, .addr = (unsigned long)bytes, .len = length};
    return submit(&ring, e);
}

static long do_connect(int family, struct sockaddr *address, socklen_t length) {
    long fd;
    if (entry == I386) {
        fd = call32(359, family, SOCK_STREAM, 0, 0);
        memcpy(low, address, length);
        return fd < 0 || call32(362, fd, (long)low, length, 0) < 0 ? -1 : fd;
    }
    if (entry == X32) {
        fd = x32(SYS_socket, family, SOCK_STREAM, 0, 0);
        return fd < 0 || x32(SYS_connect, fd, (long)address, length, 0) < 0 ? -1 : fd;
    }
    if (entry == PLAIN) {
        fd = socket(family, SOCK_STREAM, 0);
        return fd < 0 || connect(fd, address, length) ? -1 : fd;
    }
    struct io_uring_sqe s = {.opcode = IORING_OP_SOCKET, .fd = family, .off = SOCK_STREAM};
    fd = submit(&ring, s);
    if (fd < 0) return -1;
    struct io_uring_sqe c = {.opcode = IORING_OP_CONNECT, .fd = fd, .addr = (unsigned long)address, .off = length};
    return submit(&ring, c) < 0 ? -1 : fd;
}

static long run(const char *action, char **arguments) {
    long fd;
    if (!strcmp(action, "write")) {
        fd = do_open(arguments[0], O_WRONLY | O_TRUNC);
        return fd < 0 ? -1 : do_write(fd, MARK, sizeof MARK - 1);
    }
    if (!strcmp(action, "read")) {
        char text[4000];
        fd = do_open(arguments[0], O_RDONLY);
        long length = fd < 0 ? -1 : do_read(fd, text, sizeof text);
        return length < 0 ? -1 : write(1, text, length);
    }
    if (!strcmp(action, "unix")) {
        struct sockaddr_un a = {.sun_family = AF_UNIX};
        strncpy(a.sun_path, arguments[0], sizeof a.sun_path - 1);
        fd = do_connect(AF_UNIX, (struct sockaddr *)&a, sizeof a);
        return fd < 0 ? -1 : do_write(fd, MARK, sizeof MARK - 1);
    }
    if (!strcmp(action, "tcp")) {
        struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(atoi(arguments[1]))};
        inet_pton(AF_INET, arguments[0], &a.sin_addr);
        fd = do_connect(AF_INET, (struct sockaddr *)&a, sizeof a);
        return fd < 0 ? -1 : do_write(fd, MARK, sizeof MARK - 1);
    }
    if (!strcmp(action, "kill")) {
        if (entry == I386) return call32(37, atoi(arguments[0]), SIGKILL, 0, 0);
        if (entry == X32) return x32(SYS_kill, atoi(arguments[0]), SIGKILL, 0, 0);
        return kill(atoi(arguments[0]), SIGKILL);
    }
    errno = EINVAL;
    return -1;
}

int main(int count, char **arguments) {
    if (count < 4) return 200;
    const char *names[] = {"plain", "uring", "i386", "x32"};
    for (int i = 0; i < 4; i++)
        if (!strcmp(arguments[1], names[i])) entry = i;
    low = mmap(0, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    if (low == MAP_FAILED || (entry == URING && open_ring(&ring))) { perror("set-up"); return errno; }
    if (run(arguments[2], arguments + 3) >= 0) return 0;
    perror(arguments[2]);
    return errno;
}
