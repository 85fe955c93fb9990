/* SPDX-License-Identifier: BSD-2-Clause */
#include "real_daemon.h"

#include "tests/support/wire/cmocka_all.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void run_daemon(int ready)
{
	const char *pin = getenv("UHCA_PIN"); /* scripts/check --pin */
	char path[1024], number[16];

	snprintf(path, sizeof(path), "%s/uhcad", getenv("UHCA_BUILDDIR"));
	snprintf(number, sizeof(number), "%d", ready);
	unsetenv("LD_PRELOAD");
	execl(path, "uhcad", "--dir", getenv("UHCA_DIR"), "--no-wire", "--ready-fd", number,
	      "--stderr", "--log-level", "warn", "--pin", pin ? pin : "off", (char *)NULL);
	perror(path);
	_exit(127);
}

pid_t real_daemon_start(void)
{
	char line[8] = {0};
	int ready[2];
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		close(ready[0]);
		run_daemon(ready[1]);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], line, sizeof(line)), 6);
	assert_memory_equal(line, "ready\n", 6);
	close(ready[0]);
	return pid;
}

void real_daemon_stop(pid_t pid, int sig)
{
	int status;

	assert_int_equal(kill(pid, sig), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (sig == SIGTERM)
		assert_int_equal(status, 0);
}
