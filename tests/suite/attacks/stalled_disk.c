/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/* A disk that does not answer: whoever looks at a path below a directory `stalled` waits for ever. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef int (*statx_function)(int, const char *, int, unsigned int, struct statx *);

int statx(int directory, const char *path, int flags, unsigned int mask, struct statx *found)
{
	statx_function real = (statx_function)dlsym(RTLD_NEXT, "statx");

	if (path && strstr(path, "/stalled/"))
		for (;;)
			pause();
	return real(directory, path, flags, mask, found);
}
