// SPDX-License-Identifier: Apache-2.0 OR MIT
// Runs a program repeatedly with the same input, and prints what each run cost according to the kernel:
// processor time in microseconds, page faults, and peak memory in kB.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv) {
    if (argc < 4) return 2;
    for (int times = atoi(argv[1]); times > 0; times--) {
        pid_t child = fork();
        if (child == 0) {
            int in = open(argv[2], O_RDONLY), out = open("/dev/null", O_WRONLY);
            if (in < 0 || out < 0) _exit(127);
            dup2(in, 0), dup2(out, 1), dup2(out, 2);
            execv(argv[3], argv + 3);
            _exit(127);
        }
        int status;
        struct rusage cost;
        if (wait4(child, &status, 0, &cost) != child || !WIFEXITED(status) || WEXITSTATUS(status)) return 1;
        long cpu = (cost.ru_utime.tv_sec + cost.ru_stime.tv_sec) * 1000000L + cost.ru_utime.tv_usec + cost.ru_stime.tv_usec;
        printf("%ld %ld %ld\n", cpu, cost.ru_minflt + cost.ru_majflt, cost.ru_maxrss);
    }
    return 0;
}
