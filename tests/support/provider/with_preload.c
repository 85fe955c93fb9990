/* SPDX-License-Identifier: BSD-2-Clause */
#include "with_preload.h"

#include "fake_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MARK "UHCA_TEST_STARTED_AGAIN"

static void prepend_preload(const char *library)
{
	const char *old = getenv("LD_PRELOAD");
	char list[2048];

	snprintf(list, sizeof(list), "%s%s%s", library, old && *old ? ":" : "", old ? old : "");
	setenv("LD_PRELOAD", list, 1);
}

static void append(const char *variable, const char *option)
{
	const char *old = getenv(variable);
	char options[512];

	snprintf(options, sizeof(options), "%s%s%s", old ? old : "", old && *old ? ":" : "",
		 option);
	setenv(variable, options, 1);
}

/* A program built with AddressSanitizer refuses to start behind a preloaded library. */
static void set_sanitizer_options(void)
{
	append("ASAN_OPTIONS", "verify_asan_link_order=0");
}

static pid_t owner;

static void clean_up(void)
{
	if (getpid() == owner)
		fake_tree_remove(getenv("UHCA_DIR"));
}

void with_preload(char **argv, int preload)
{
	const char *build = getenv("UHCA_BUILDDIR");
	char path[1024], dir[128];

	if (getenv(MARK)) {
		owner = getpid();
		atexit(clean_up);
		return;
	}
	if (!build) {
		fprintf(stderr, "UHCA_BUILDDIR is not set: run this by make check\n");
		exit(99);
	}
	snprintf(path, sizeof(path), "%s/provider/.libs/libuhca", build);
	setenv("RDMAV_DRIVERS", path, 1);
	setenv("UHCA_PROVIDER", path, 1);
	setenv(MARK, "1", 1);
	/* The preload library looks at this once, when the program starts. */
	snprintf(dir, sizeof(dir), "%s/uhca-test-XXXXXX",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	if (!mkdtemp(dir)) {
		perror("mkdtemp");
		exit(99);
	}
	setenv("UHCA_DIR", dir, 1);
	snprintf(path, sizeof(path), "%s/provider/.libs/libuhca_preload.so", build);
	set_sanitizer_options();
	if (preload)
		prepend_preload(path);
	execv(argv[0], argv); /* not /proc/self/exe, which is valgrind under valgrind */
	perror("execv");
	exit(99);
}
