/* SPDX-License-Identifier: BSD-2-Clause */
/* Starts uhcad of the build as a process, and stops it with the test. */
#include "uhcad_process.h"

#include "io_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void become_daemon(const struct uhcad_process *d, int ready, char *const *extra)
{
	char program[4096];
	char number[16];
	char *argv[32];
	unsigned n = 0;

	/* a test that fails leaves nobody behind */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	snprintf(program, sizeof(program), "%s/uhcad", getenv("UHCA_BUILDDIR"));
	snprintf(number, sizeof(number), "%d", ready);
	argv[n++] = program;
	argv[n++] = (char *)(uintptr_t) "--dir";
	argv[n++] = (char *)(uintptr_t)d->dir;
	argv[n++] = (char *)(uintptr_t) "--ready-fd";
	argv[n++] = number;
	argv[n++] = (char *)(uintptr_t) "--addr";
	argv[n++] = (char *)(uintptr_t)d->address;
	while (*extra)
		argv[n++] = *extra++;
	argv[n] = NULL;
	dup2(d->said, STDOUT_FILENO);
	dup2(d->said, STDERR_FILENO);
	execv(program, argv);
	_exit(99);
}

void uhcad_spawn_saying(struct uhcad_process *d, char *const *extra)
{
	int ready[2];

	assert_non_null(getenv("UHCA_BUILDDIR"));
	assert_int_equal(pipe(ready), 0);
	fcntl(ready[0], F_SETFD, FD_CLOEXEC);
	io_address_format(io_test_address(1).gid, d->address);
	d->pid = fork();
	if (d->pid == 0)
		become_daemon(d, ready[1], extra);
	close(ready[1]);
	d->ready = ready[0];
}

void uhcad_spawn(struct uhcad_process *d, char *const *extra)
{
	d->said = open("/tmp", O_TMPFILE | O_RDWR, 0600);
	assert_true(d->said >= 0);
	uhcad_spawn_saying(d, extra);
}

const char *uhcad_wait_ready(struct uhcad_process *d)
{
	static char line[64];
	struct pollfd p = {.fd = d->ready, .events = POLLIN};
	size_t len = 0;
	ssize_t n;

	do {
		assert_int_equal(poll(&p, 1, 1000 * IO_TEST_SECONDS), 1);
		n = read(d->ready, line + len, sizeof(line) - 1 - len);
		len += n > 0 ? (size_t)n : 0;
	} while (n > 0);
	line[len] = '\0';
	close(d->ready);
	return line;
}

void uhcad_start(struct uhcad_process *d, char *const *extra)
{
	io_test_dir(d->dir);
	uhcad_spawn(d, extra);
	assert_string_equal(uhcad_wait_ready(d), "ready\n");
}

int uhcad_wait_end(struct uhcad_process *d, struct rusage *used)
{
	int fd = (int)syscall(SYS_pidfd_open, d->pid, 0);
	struct pollfd p = {.fd = fd, .events = POLLIN};
	int status;

	assert_int_equal(poll(&p, 1, 1000 * IO_TEST_SECONDS), 1);
	close(fd);
	assert_int_equal(wait4(d->pid, &status, 0, used), d->pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool uhcad_has(const struct uhcad_process *d, const char *name)
{
	char path[128];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", d->dir, name);
	return lstat(path, &st) == 0;
}

void uhcad_clean(struct uhcad_process *d)
{
	close(d->said);
	io_test_remove_dir(d->dir);
}

const char *uhcad_said(struct uhcad_process *d)
{
	static char text[8192];
	ssize_t n = pread(d->said, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	return text;
}
