/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uhcad: reads the options, makes a daemon, runs it. Everything else is in io/.
 */
#include "conf.h"
#include "emu/abi/ctl.h"
#include "emu/io/base/base.h"
#include "emu/io/daemon.h"
#include "emu/io/local/local.h"
#include "emu/io/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#define LOG_LAST_MS 1000 /* for lines that are not written yet when the daemon ends */

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

static void begin_log(void)
{
	int error = io_log_begin();

	if (error < 0)
		io_log(IO_LOG_WARN,
		       "cannot start the log thread: %s; a log reader that stops reading now "
		       "blocks the daemon",
		       strerror(-error));
}

/* A log that cannot be written now is left as it is: nobody waits for it at the end, either. */
static void end_log(void)
{
	io_log_end(LOG_LAST_MS);
	if (!io_log_flush(0))
		return;
	io_log_close();
	io_thread_join_all(LOG_LAST_MS);
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

	io_signals_ignore();
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
		begin_log();
		error = io_loop_run(&daemon);
		io_daemon_destroy(&daemon);
	}
	end_log();
	if (error == -EADDRINUSE)
		return UHCA_EXIT_ADDRESS_TAKEN;
	return error < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

/*
 * Large blocks are given back when they are freed; glibc would raise the bound as it goes. All
 * threads share one arena: malloc_trim(3) gives nothing back of the top of another one.
 */
static void set_up_malloc(void)
{
	mallopt(M_MMAP_THRESHOLD, 64 << 10);
	mallopt(M_ARENA_MAX, 1);
}

int main(int argc, char **argv)
{
	static struct conf c;
	char error[1024];

	set_up_malloc();
	if (getauxval(AT_SECURE)) {
		fputs("uhcad: refuses to run set-user-ID or set-group-ID: start it as the user who "
		      "owns the devices\n",
		      stderr);
		return EXIT_FAILURE;
	}
	if (conf_parse(&c, argc, argv, error, sizeof(error)) < 0) {
		fprintf(stderr, "uhcad: %s\nTry uhcad --help.\n", error);
		return 2;
	}
	if (!options_answer(&conf_page, &c.about)) {
		if (c.io.ready_fd < 0 || fcntl(c.io.ready_fd, F_GETFD) >= 0)
			return run(&c);
		fprintf(stderr, "uhcad: --ready-fd: descriptor %d is not open\n", c.io.ready_fd);
		return 2;
	}
	if (fflush(stdout) == 0)
		return EXIT_SUCCESS;
	perror("uhcad: standard output");
	return EXIT_FAILURE;
}
