/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Surroundings for tests of the shell: temporary directories, addresses that no other test uses,
 * a libev loop that runs until a condition holds, and a daemon in this process with a client
 * that speaks cmd.h to it. A program of which this is a part fails when it ends with more
 * descriptors than it began with.
 */
#ifndef TESTS_SUPPORT_IO_FIXTURE_H
#define TESTS_SUPPORT_IO_FIXTURE_H

#include "emu/io/daemon.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No condition of a test takes longer, even under valgrind on a loaded machine. */
#define IO_TEST_SECONDS 20

/* A fresh directory, mode 0700. Returns out (64 bytes at least). */
char *io_test_dir(char *out);

/* Removes it with everything in it. */
void io_test_remove_dir(const char *dir);

/*
 * The n-th loopback address of this process, 127.a.b.n: a and b depend on the process, so that
 * tests that run at the same time do not meet.
 */
struct io_address io_test_address(unsigned n);

/* Runs the loop until done(arg), for IO_TEST_SECONDS at most. False when it did not come true. */
bool io_test_run(struct ev_loop *loop, bool (*done)(void *arg), void *arg);

/* Runs what is ready in the loop. */
void io_test_loop_pass(struct ev_loop *loop);

/* Descriptors this process has open. */
unsigned io_test_open_fds(void);

/* Does "count" of them come to n? A thread that writes counters may still be at a file. */
bool io_test_fds_come_to(unsigned (*count)(void), unsigned n);

/* How many epoll sets of this process have that number, closed or not. */
unsigned io_test_polled(int fd);

/* ---- a daemon ---- */

struct io_test_daemon {
	struct io_daemon d;
	char dir[64];
	unsigned fds; /* open before it started */
};

/* Devices on this process's addresses; change the settings before io_test_daemon_start. */
void io_test_settings(struct io_settings *s, unsigned devices);
void io_test_daemon_start(struct io_test_daemon *t, const struct io_settings *s);

/*
 * Fails the test when more descriptors are open than before the start: clients close theirs first.
 */
void io_test_daemon_stop(struct io_test_daemon *t);

/* The same with a log that goes nowhere, which begins and ends with the daemon; stock settings. */
void io_test_daemon_begin(struct io_test_daemon *t, unsigned devices);
void io_test_daemon_end(struct io_test_daemon *t);

/* ---- a client of it ---- */

struct io_test_client {
	struct io_daemon *daemon;
	int sock;
	int async;                /* our end */
	int mem;                  /* our /proc/self/mem */
	uint64_t marker;          /* our marker page, or 0 */
	int fd[UHCA_ABI_MAX_FDS]; /* of the last reply */
	unsigned n_fds;
	uint32_t sequence;
	union {
		struct uhca_cmd_reply h;
		uint64_t aligned;
		uint8_t bytes[UHCA_ABI_MAX_MESSAGE];
		struct uhca_cmd_refusal refusal;
	} reply; /* the last one */
	ssize_t reply_len;
};

void io_test_connect(struct io_test_client *c, struct io_daemon *d);

/* Connects and says HELLO to the device; fails the test when it is refused. */
void io_test_hello(struct io_test_client *c, struct io_daemon *d, const char *device);
/* The same with this descriptor as its memory; takes it over. */
void io_test_hello_with(struct io_test_client *c, struct io_daemon *d, const char *device, int mem);
/*
 * It is gone for the daemon, which ends what it had bit by bit (io_clients_bury); and until that is
 * done.
 */
void io_test_hang_up(struct io_test_client *c);
void io_test_disconnect(struct io_test_client *c);

/*
 * Sends len bytes as they are with descriptors, lets the daemon work, and receives the reply.
 * Returns its status, or -ECONNRESET when the daemon disconnected instead.
 */
int io_test_send(struct io_test_client *c, const void *msg, size_t len, const int *fd, unsigned n);

/* The same for a well-formed request: fills in its header. */
int io_test_call(struct io_test_client *c, uint32_t cmd, void *msg, size_t len);
int io_test_call_fds(struct io_test_client *c, uint32_t cmd, void *msg, size_t len, const int *fd,
		     unsigned n);

/* A command that names one object, or none. *out is the reply's handle where it has one. */
int io_test_handle(struct io_test_client *c, uint32_t cmd, uint32_t handle, uint32_t *out);

/* Makes a UD QP, and what it needs: it has a doorbell. */
struct uhca_cmd_create_qp_reply io_test_qp(struct io_test_client *c);

/* A request for a HELLO that is right. */
struct uhca_cmd_hello io_test_hello_request(const char *device);

#endif
