/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A daemon that cannot be made: of every kind of system call that its start makes, the first one
 * fails, then the second, and so on. Each time the failure is what io_daemon_create answers, and
 * nothing is left: no descriptor, no mapping, no file of the instance; no memory, which the
 * sanitizers see to. Of calls that are made by the hundred, one a file, some are tried. Then a
 * daemon that runs, and cannot serve a program: the same, one program after the other.
 */
#include "emu/io/base/clock.h"
#include "emu/io/base/log.h"
#include "emu/io/loop.h"
#include "tests/support/io/io_user.h"
#include "tests/support/io/ucma_client.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>

#define FAILURE EDQUOT /* nothing here fails like this by itself */

/* ---- system calls (ld --wrap) ---- */

enum call {
	OPEN,
	OPENAT,
	MKDIRAT,
	SYMLINKAT,
	SOCKET,
	BIND,
	LISTEN,
	CHMOD,
	MEMFD_CREATE,
	FTRUNCATE,
	MMAP,
	TIMERFD_CREATE,
	EPOLL_CREATE,
	PWRITE,
	GETRANDOM,
	CALLOC,
	ALIGNED_ALLOC,
	MALLOC,
	REALLOC,
	EVENTFD,
	EPOLL_CTL,
	CALLS,
};

static enum call failing;
static int with;         /* this errno */
static unsigned fail_at; /* 1: the next one; 0: none */
static unsigned made[CALLS];

static bool fails(enum call call)
{
	made[call]++;
	if (call != failing || fail_at == 0 || --fail_at > 0)
		return false;
	errno = with;
	return true;
}

/* A call like the real one, which may be told to fail; its arguments in brackets. */
#define WRAP(call, result, failed, name, parameters, arguments)                                    \
	result __real_##name parameters;                                                           \
	result __wrap_##name parameters;                                                           \
	result __wrap_##name parameters                                                            \
	{                                                                                          \
		return fails(call) ? (failed) : __real_##name arguments;                           \
	}

WRAP(OPEN, int, -1, open, (const char *path, int flags, mode_t mode), (path, flags, mode))
WRAP(OPENAT, int, -1, openat, (int dir, const char *path, int flags, mode_t mode),
     (dir, path, flags, mode))
WRAP(MKDIRAT, int, -1, mkdirat, (int dir, const char *path, mode_t mode), (dir, path, mode))
WRAP(SYMLINKAT, int, -1, symlinkat, (const char *target, int dir, const char *path),
     (target, dir, path))
WRAP(SOCKET, int, -1, socket, (int family, int type, int protocol), (family, type, protocol))
WRAP(BIND, int, -1, bind, (int fd, const struct sockaddr *at, socklen_t len), (fd, at, len))
WRAP(LISTEN, int, -1, listen, (int fd, int backlog), (fd, backlog))
WRAP(CHMOD, int, -1, chmod, (const char *path, mode_t mode), (path, mode))
WRAP(MEMFD_CREATE, int, -1, memfd_create, (const char *name, unsigned flags), (name, flags))
WRAP(FTRUNCATE, int, -1, ftruncate, (int fd, off_t size), (fd, size))
WRAP(MMAP, void *, MAP_FAILED, mmap, (void *at, size_t n, int prot, int flags, int fd, off_t from),
     (at, n, prot, flags, fd, from))
WRAP(TIMERFD_CREATE, int, -1, timerfd_create, (int clock, int flags), (clock, flags))
WRAP(EPOLL_CREATE, int, -1, epoll_create1, (int flags), (flags))
WRAP(PWRITE, ssize_t, -1, pwrite, (int fd, const void *from, size_t n, off_t at), (fd, from, n, at))
WRAP(GETRANDOM, ssize_t, -1, getrandom, (void *to, size_t n, unsigned flags), (to, n, flags))
WRAP(CALLOC, void *, NULL, calloc, (size_t n, size_t size), (n, size))
WRAP(MALLOC, void *, NULL, malloc, (size_t n), (n))
WRAP(REALLOC, void *, NULL, realloc, (void *p, size_t n), (p, n))
WRAP(EVENTFD, int, -1, eventfd, (unsigned n, int flags), (n, flags))
WRAP(EPOLL_CTL, int, -1, epoll_ctl, (int set, int op, int fd, struct epoll_event *e),
     (set, op, fd, e))
WRAP(ALIGNED_ALLOC, void *, NULL, aligned_alloc, (size_t align, size_t size), (align, size))

/* ---- */

static char dir[64];   /* of the instance */
static char lines[80]; /* the log */

static int setup(void **state)
{
	(void)state;
	io_log_echo_errors(false);
	strcpy(lines, "/tmp/uhca-test-log-XXXXXX");
	close(mkstemp(lines));
	return io_log_open(IO_LOG_ERROR, IO_LOG_FILE, lines);
}

static int teardown(void **state)
{
	(void)state;
	io_log_close();
	return unlink(lines);
}

static bool logged(const char *words)
{
	char text[8192];
	FILE *f = fopen(lines, "r");
	size_t n;

	assert_non_null(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = '\0';
	return strstr(text, words) != NULL;
}

/* Mappings that clients could share. */
static unsigned shared_mappings(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[1024];
	unsigned n = 0;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		n += strstr(line, "/memfd:uhca") != NULL;
	fclose(f);
	return n;
}

/* What io_daemon_create answers while the n-th of these calls (0: none) fails. */
static int create(struct io_daemon *d, const struct io_settings *s, enum call call, unsigned n)
{
	struct io_instance instance;
	int error;

	io_test_dir(dir);
	assert_int_equal(io_instance_open(&instance, dir, false), 0);
	memset(made, 0, sizeof(made));
	failing = call;
	fail_at = n;
	error = io_daemon_create(d, s, &instance);
	fail_at = 0;
	return error;
}

/* With nothing in it: what the daemon made has gone. */
/* The thread that closes an instance may be late: a daemon waits for it a second. */
static void remove_dir(void)
{
	int error = rmdir(dir);

	for (unsigned i = 0; i < IO_TEST_SECONDS * 200 && error; i++) {
		usleep(5000);
		error = rmdir(dir);
	}
	assert_int_equal(error, 0);
}

struct row {
	const char *name;
	enum call call;
	int error;
	unsigned most; /* so many are tried */
	/* Bit n: without the n-th the daemon works, if not as well. */
	uint32_t spare;
};

static const struct row rows[] = {
	{"open", OPEN, FAILURE, 100, 7u << 4}, /* the listeners' reserve */
	{"openat", OPENAT, FAILURE, 4, 0},
	{"mkdirat", MKDIRAT, FAILURE, 4, 0},
	{"symlinkat", SYMLINKAT, FAILURE, 4, 0},
	{"socket", SOCKET, FAILURE, 100, 1u << 1}, /* asks for an interface's MTU */
	{"bind", BIND, FAILURE, 100, 0},
	{"listen", LISTEN, FAILURE, 100, 0},
	{"chmod", CHMOD, FAILURE, 100, 0},
	{"memfd_create", MEMFD_CREATE, FAILURE, 100, 0},
	{"ftruncate", FTRUNCATE, FAILURE, 100, 0},
	{"mmap", MMAP, FAILURE, 100, 1u << 1}, /* the flight recorder's */
	{"epoll_create1", EPOLL_CREATE, FAILURE, 100, 0},
	{"pwrite", PWRITE, EIO, 3, 0},
	{"calloc", CALLOC, ENOMEM, 100, 1u << 11}, /* which rules have been told */
	{"aligned_alloc", ALIGNED_ALLOC, ENOMEM, 100, 0},
};

static void fail_one(const struct io_settings *s, const struct row *r, unsigned n)
{
	unsigned fds = io_test_open_fds();
	struct io_daemon d;
	int error;

	with = r->error;
	error = create(&d, s, r->call, n);
	if (error != (n < 32 && r->spare & 1u << n ? 0 : -r->error))
		fail_msg("%s number %u fails: %d", r->name, n, error);
	if (error == 0)
		io_daemon_destroy(&d);
	remove_dir();
	if (!io_test_fds_come_to(io_test_open_fds, fds) || shared_mappings() > 0)
		fail_msg("%s number %u fails: %u descriptors, %u mappings are left", r->name, n,
			 io_test_open_fds() - fds, shared_mappings());
}

static void test_failures(void **state)
{
	unsigned fds, all[CALLS];
	struct io_settings s;
	struct io_daemon d;

	(void)state;
	io_test_settings(&s, 1);
	fds = io_test_open_fds();
	assert_int_equal(create(&d, &s, OPEN, 0), 0);
	memcpy(all, made, sizeof(all));
	io_daemon_destroy(&d);
	remove_dir();
	assert_true(io_test_fds_come_to(io_test_open_fds, fds));
	assert_int_equal(shared_mappings(), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unsigned n = all[rows[i].call];
		unsigned step = n > rows[i].most ? n / rows[i].most : 1;

		assert_true(n > 0);
		for (unsigned k = 1; k <= n; k += step)
			fail_one(&s, &rows[i], k);
	}
}

/* Where no random number is to be had, the time tells this daemon from the one before. */
static void test_epoch(void **state)
{
	const uint64_t before = io_clock_wall();
	const struct uhca_abi_status *status;
	struct io_settings s;
	struct io_daemon d;

	(void)state;
	with = ENOSYS;
	io_test_settings(&s, 1);
	assert_int_equal(create(&d, &s, GETRANDOM, 1), 0);
	status = d.status.base;
	assert_in_range(status->epoch, before, io_clock_wall());
	assert_int_equal(status->region.magic, UHCA_ABI_MAGIC);
	assert_int_equal(status->region.version, UHCA_ABI_VERSION);
	assert_int_equal(status->region.kind, UHCA_ABI_REGION_STATUS);
	assert_int_equal(status->region.size, d.status.size);
	io_daemon_destroy(&d);
	remove_dir();
}

/* The daemon takes as many descriptors as it may; where they end all the same, that is said. */
static void test_descriptors(void **state)
{
	struct rlimit old, now;
	struct io_settings s;
	struct io_daemon d;
	char words[128];

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	now = (struct rlimit){.rlim_cur = 64, .rlim_max = old.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &now), 0);
	io_test_settings(&s, 1);
	with = EMFILE;
	assert_int_equal(create(&d, &s, OPEN, 3), -EMFILE);
	remove_dir();
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &now), 0);
	assert_int_equal(now.rlim_cur, old.rlim_max);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	snprintf(words, sizeof(words),
		 "cannot create device uhca0: Too many open files: the limit is %llu descriptors",
		 (unsigned long long)old.rlim_max);
	assert_true(logged(words));
	with = EDQUOT;
	assert_int_equal(create(&d, &s, OPEN, 3), -EDQUOT);
	remove_dir();
	assert_true(logged("cannot create device uhca0: Disk quota exceeded\n"));
}

static void test_same_address(void **state)
{
	struct io_settings s;
	struct io_daemon d;
	char text[IO_ADDRESS_TEXT], words[128];

	(void)state;
	io_test_settings(&s, 2);
	s.addresses[1] = s.addresses[0];
	assert_int_equal(create(&d, &s, OPEN, 0), -EINVAL);
	remove_dir();
	snprintf(words, sizeof(words), "two devices cannot share the address %s",
		 io_address_format(s.addresses[0].a[0].gid, text));
	assert_true(logged(words));
}

/* All rules of the command line are in force, or there is no daemon. */
static void test_rules(void **state)
{
	struct io_settings s;
	struct io_daemon d;

	(void)state;
	io_test_settings(&s, 1);
	s.n_faults = 2;
	s.faults[0].text = "drop nth=1";
	s.faults[1].text = "drop nth=2";
	assert_int_equal(create(&d, &s, OPEN, 0), 0);
	assert_int_equal(fault_plan_count(d.faults.plan), 2);
	io_daemon_destroy(&d);
	remove_dir();
	s.faults[1].text = "drop nth=x";
	assert_int_equal(create(&d, &s, OPEN, 0), -EINVAL);
	remove_dir();
	assert_true(logged("--fault 'drop nth=x': column 10: "));
}

/* Whatever clients of all kinds have open when it ends, they notice, and nothing is left. */
static void test_ends_while_used(void **state)
{
	const unsigned fds = io_test_open_fds();
	struct uhca_cmd_mcast group = {.gid = {[10] = 0xff, 0xff, 239, 1, 2, 3}};
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	int ctl = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	static struct io_user u;
	struct ucma_client cm;
	struct io_settings s;
	struct io_user_qp q;
	struct io_daemon d;
	char byte;

	(void)state;
	io_test_settings(&s, 2);
	assert_int_equal(create(&d, &s, OPEN, 0), 0);
	io_user_open(&u, &d, "uhca1");
	io_user_qp_create(&q, &u, IBV_QPT_UD);
	group.qp = q.handle;
	assert_int_equal(io_test_call(&u.c, UHCA_CMD_ATTACH_MCAST, &group, sizeof(group)), 0);
	ucma_client_open(&cm, &d);
	ucma_client_create(&cm, RDMA_PS_TCP, 1);
	snprintf(un.sun_path, sizeof(un.sun_path), "%.90s/ctl", dir);
	assert_int_equal(connect(ctl, (struct sockaddr *)&un, sizeof(un)), 0);
	io_test_loop_pass(d.loop);
	assert_int_equal(d.ctl.n_sessions, 1);
	io_daemon_destroy(&d);
	remove_dir();
	assert_int_equal(recv(ctl, &byte, 1, MSG_DONTWAIT), 0);
	assert_int_equal(recv(cm.sock, &byte, 1, MSG_DONTWAIT), 0);
	assert_int_equal(recv(u.c.sock, &byte, 1, MSG_DONTWAIT), 0);
	close(ctl);
	close(cm.sock);
	io_user_forget(&u, &q);
	assert_true(io_test_fds_come_to(io_test_open_fds, fds));
	assert_int_equal(shared_mappings(), 0);
}

/* ---- a daemon that runs, and cannot serve ---- */

/* The calls of a program up to the first that fails. */
static int use_verbs(struct io_test_client *c)
{
	struct uhca_cmd_hello hello = io_test_hello_request("uhca0");
	struct uhca_cmd_handle channel = {.handle = 0};
	struct uhca_cmd_create_cq cq = {.cqe = 4};
	struct uhca_cmd_create_qp qp = {.qp_type = IBV_QPT_RC, .max_send_wr = 1, .max_recv_wr = 1};
	struct uhca_cmd_create_cq_reply reply;
	int pair[2], fd[2], status;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	c->mem = fd[0] = __real_open("/proc/self/mem", O_RDWR | O_CLOEXEC, 0);
	c->async = pair[0];
	fd[1] = pair[1];
	status = io_test_call_fds(c, UHCA_CMD_HELLO, &hello, sizeof(hello), fd, 2);
	if (status == 0)
		status = io_test_call_fds(c, UHCA_CMD_CREATE_CHANNEL, &channel, sizeof(channel),
					  &pair[1], 1);
	close(pair[1]);
	if (status == 0)
		status = io_test_handle(c, UHCA_CMD_ALLOC_PD, 0, &qp.pd);
	if (status == 0)
		status = io_test_call(c, UHCA_CMD_CREATE_CQ, &cq, sizeof(cq));
	if (status < 0)
		return status;
	memcpy(&reply, &c->reply, sizeof(reply));
	qp.send_cq = qp.recv_cq = reply.handle;
	return io_test_call(c, UHCA_CMD_CREATE_QP, &qp, sizeof(qp));
}

static int use_cm(struct ucma_client *c)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	struct rdma_ucm_create_id create = {.uid = 1, .ps = RDMA_PS_TCP};
	struct rdma_ucm_resolve_ip resolve = {.dst_addr = ucma_client_address(c->daemon, 0, 7471)};
	struct rdma_ucm_create_id_resp resp;
	int status;

	snprintf(un.sun_path, sizeof(un.sun_path), "%.90s/" UHCA_UCMA_SOCKET, dir);
	assert_int_equal(connect(c->sock, (struct sockaddr *)&un, sizeof(un)), 0);
	status = ucma_client_call(c, UHCA_UCMA_HELLO, NULL, 0, c->sock);
	if (status == 0)
		status = ucma_client_call(c, RDMA_USER_CM_CMD_CREATE_ID, &create, sizeof(create),
					  -1);
	if (status < 0)
		return status;
	memcpy(&resp, c->reply.response, sizeof(resp));
	resolve.id = resp.id;
	return ucma_client_call(c, RDMA_USER_CM_CMD_RESOLVE_IP, &resolve, sizeof(resolve), -1);
}

/* A program comes and goes, while the n-th of these calls fails (0: none). 0: it got all. */
static int serve(struct io_daemon *d, enum call call, unsigned n)
{
	struct ucma_client cm = {.daemon = d};
	struct io_test_client c;
	int status;

	memset(made, 0, sizeof(made));
	io_test_connect(&c, d);
	cm.sock = __real_socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	failing = call;
	fail_at = n;
	status = use_verbs(&c);
	if (status == 0)
		status = use_cm(&cm);
	fail_at = 0;
	ucma_client_close(&cm);
	io_test_disconnect(&c);
	for (unsigned i = 0; i < 100 && d->clients.n > 0; i++)
		io_test_loop_pass(d->loop);
	return status;
}

static void serve_without(struct io_daemon *d, const char *name, enum call call, unsigned n)
{
	const unsigned fds = io_test_open_fds(), mappings = shared_mappings();
	uint32_t left = 0;

	serve(d, call, n);
	for (unsigned i = 0; i < CORE_OBJECT_TYPES; i++)
		left += core_object_count(d->ports[0].dev.core, (enum core_object_type)i);
	if (d->clients.n > 0 || d->ucma.n_files > 0 || left > 0 || io_test_open_fds() != fds ||
	    shared_mappings() != mappings)
		fail_msg("%s number %u fails: %u clients, %u opens, %u objects, %u descriptors, "
			 "%u mappings are left",
			 name, n, d->clients.n, d->ucma.n_files, left, io_test_open_fds() - fds,
			 shared_mappings() - mappings);
	if (serve(d, CALLS, 0) != 0)
		fail_msg("%s number %u fails: the next program is not served", name, n);
}

/* Of what serving a program takes, each call fails once: it is told, and nothing is left of it. */
static void test_cannot_serve(void **state)
{
	static const struct {
		const char *name;
		enum call call;
	} calls[] = {
		{"memfd_create", MEMFD_CREATE},
		{"ftruncate", FTRUNCATE},
		{"mmap", MMAP},
		{"calloc", CALLOC},
		{"malloc", MALLOC},
		{"realloc", REALLOC},
		{"eventfd", EVENTFD},
		{"epoll_ctl", EPOLL_CTL},
	};
	unsigned all[CALLS];
	struct io_settings s;
	struct io_daemon d;

	(void)state;
	io_test_settings(&s, 1);
	assert_int_equal(create(&d, &s, OPEN, 0), 0);
	with = ENOSPC;
	assert_int_equal(serve(&d, CALLS, 0), 0);
	memcpy(all, made, sizeof(all));
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		assert_true(all[calls[i].call] > 0);
		for (unsigned n = 1; n <= all[calls[i].call]; n++)
			serve_without(&d, calls[i].name, calls[i].call, n);
	}
	io_daemon_destroy(&d);
	remove_dir();
}

static void test_no_timer(void **state)
{
	struct io_settings s;
	struct io_daemon d;

	(void)state;
	io_test_settings(&s, 1);
	assert_int_equal(create(&d, &s, OPEN, 0), 0);
	with = FAILURE;
	failing = TIMERFD_CREATE;
	fail_at = 1;
	d.stop = true; /* what runs all the same ends at once */
	assert_int_equal(io_loop_run(&d), -FAILURE);
	assert_int_equal(io_loop_run(&d), 0);
	io_daemon_destroy(&d);
	remove_dir();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_failures),        TEST(test_epoch),        TEST(test_descriptors),
		TEST(test_same_address),    TEST(test_no_timer),     TEST(test_rules),
		TEST(test_ends_while_used), TEST(test_cannot_serve),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
