// SPDX-License-Identifier: Apache-2.0 OR MIT
// When preloaded, this library shifts the clock of a program by the number of seconds in the file
// $CLOCK_STEP.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t id, struct timespec *ts) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(id, ts);
    const char *path = getenv("CLOCK_STEP");
    if (result == 0 && id == CLOCK_REALTIME && path) {
        char text[32] = {0};
        int file = open(path, O_RDONLY | O_CLOEXEC);
        if (file >= 0) {
            if (read(file, text, sizeof text - 1) > 0) ts->tv_sec += atol(text);
            close(file);
        }
    }
    return result;
}
