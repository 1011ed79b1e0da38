/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/* A disk that does not answer: whoever looks at a path below a directory `stalled` waits for ever. */

/* Without <sys/stat.h>, whose declaration says that no argument is null: Rust asks with null arguments
   whether there is such a call. */

#define _GNU_SOURCE
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int statx(int directory, const char *path, int flags, unsigned int mask, void *found)
{
	if (path && strstr(path, "/stalled/"))
		for (;;)
			pause();
	return (int)syscall(SYS_statx, directory, path, flags, mask, found);
}
