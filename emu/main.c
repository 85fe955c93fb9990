/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uhcad: reads the options, makes a daemon, runs it. Everything else is in io/.
 */
#include "conf.h"
#include "emu/io/base/base.h"
#include "emu/io/daemon.h"
#include "emu/io/local/local.h"
#include "emu/io/loop.h"

#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* The log's default place exists only once the instance does. */
static int open_log(const struct conf *c, const struct io_instance *instance)
{
	char path[PATH_MAX];
	const char *file = c->log_file;
	int error;

	if (!*file)
		file = io_instance_file(instance, "log", path);
	error = io_log_open(c->log_level, c->log_target, file);
	if (error < 0)
		fprintf(stderr, "uhcad: cannot write the log %s: %s\n", file, strerror(-error));
	return error;
}

/* Who started it with a descriptor is told by that; else a service manager, where there is one. */
static void say_ready(const struct io_daemon *d)
{
	static const char line[] = "ready\n";
	int fd = d->settings.ready_fd, error;

	io_log(IO_LOG_INFO, "uhcad %s: process %d serves %u device%s in %s", UHCA_VERSION,
	       (int)getpid(), d->devices.n, d->devices.n == 1 ? "" : "s", d->instance.dir);
	if (fd < 0) {
		error = io_notify("READY=1");
		if (error < 0)
			io_log(IO_LOG_WARN, "NOTIFY_SOCKET: %s", strerror(-error));
		return;
	}
	if (write(fd, line, sizeof(line) - 1) < 0)
		io_log(IO_LOG_WARN, "--ready-fd %d: %s", fd, strerror(errno));
	close(fd);
}

static int run(const struct conf *c)
{
	static struct io_daemon daemon;
	static struct io_instance instance;
	int error;

	signal(SIGXFSZ, SIG_IGN); /* a capture may find out that it is too long; write(2) tells */
	error = io_instance_open(&instance, c->io.dir, c->io.trust_parents);
	if (error < 0)
		return EXIT_FAILURE;
	error = open_log(c, &instance);
	if (error < 0)
		io_instance_close(&instance);
	else
		error = io_daemon_create(&daemon, &c->io, &instance);
	if (error == 0) {
		if (c->chaos[0])
			io_log(IO_LOG_INFO, "chaos: %s", c->chaos);
		io_daemon_confine(&daemon);
		say_ready(&daemon);
		io_log_echo_errors(false);
		error = io_loop_run(&daemon);
		io_daemon_destroy(&daemon);
	}
	io_log_close();
	return error < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	static struct conf c;
	char error[512];

	/* What is large is given back when it is freed; glibc would raise the bound as it goes. */
	mallopt(M_MMAP_THRESHOLD, 64 << 10);
	if (getauxval(AT_SECURE)) {
		fputs("uhcad: refuses to run with privileges of another user\n", stderr);
		return EXIT_FAILURE;
	}
	if (conf_parse(&c, argc, argv, error, sizeof(error)) < 0) {
		fprintf(stderr, "uhcad: %s\nTry uhcad --help.\n", error);
		return 2;
	}
	if (c.help)
		(c.help_man ? conf_print_man : conf_print_help)(stdout);
	else if (c.version)
		puts("uhcad " UHCA_VERSION);
	else
		return run(&c);
	return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
