// SPDX-License-Identifier: Apache-2.0 OR MIT
// A process outside of the sandbox, in the place of the daemon. It has a secret in memory, in its environment and in
// an open memory file, the policy open for writing, and the state directory as working directory.
// Usage: victim POLICY STATE_DIRECTORY [TOKEN]; the secret is read from standard input.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static char secret[128];
static volatile char canary[32] = "canary";

int main(int count, char **arguments) {
    if (count < 3 || !fgets(secret, sizeof secret, stdin)) return 2;
    int policy = open(arguments[1], O_RDWR);
    int memory_file = memfd_create("secret", 0);
    if (policy < 0 || memory_file < 0 || chdir(arguments[2])) return 3;
    if (write(memory_file, secret, strlen(secret)) < 0) return 4;
    printf("%lu %lu %d %d\n", (unsigned long)secret, (unsigned long)canary, policy, memory_file);
    fflush(stdout);
    for (;;) pause();
}
