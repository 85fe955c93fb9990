/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens output files that a user names, and checks that they were written. */
#include "ctl_file.h"

#include "emu/output/output.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static void complain(const char *who, const char *path, const char *why)
{
	fprintf(stderr, "%s: %s: %s\n", who, path, why);
}

FILE *ctl_file_open(const char *who, const char *path)
{
	int fd;
	FILE *f;

	if (strcmp(path, "-") == 0)
		return stdout;
	fd = output_open(path, 0);
	f = fd < 0 ? NULL : fdopen(fd, "we");
	if (f)
		return f;
	complain(who, path, output_error(fd < 0 ? fd : -errno));
	if (fd >= 0)
		close(fd);
	return NULL;
}

bool ctl_file_close(const char *who, const char *path, FILE *f)
{
	bool bad = fflush(f) != 0 || ferror(f);
	int error = bad ? errno : 0;

	if (f != stdout && fclose(f) != 0 && !bad) {
		bad = true;
		error = errno;
	}
	if (bad)
		complain(who, path, strerror(error ? error : EIO));
	return !bad;
}
