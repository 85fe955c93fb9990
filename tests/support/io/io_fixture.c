/* SPDX-License-Identifier: BSD-2-Clause */
#include "io_fixture.h"

#include "marker_page.h"

#include "emu/io/base/clock.h"
#include "emu/io/base/log.h"
#include "emu/io/local/local.h"
#include "tests/support/wire/cmocka_all.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

char *io_test_dir(char *out)
{
	const char *folder =
		getenv("TMPDIR"); /* in a check it is in memory, which is much faster */

	if (!folder || strlen(folder) > 32)
		folder = "/tmp";
	snprintf(out, 64, "%s/uhca-test-XXXXXX", folder);
	assert_non_null(mkdtemp(out));
	return out;
}

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st;
	(void)kind;
	(void)ftw;
	return remove(path);
}

void io_test_remove_dir(const char *dir)
{
	nftw(dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

struct io_address io_test_address(unsigned n)
{
	struct io_address a;
	char text[32];
	unsigned pid = (unsigned)getpid();

	snprintf(text, sizeof(text), "127.%u.%u.%u", 16 + pid / 250 % 200, 1 + pid % 250, n);
	assert_int_equal(io_address_parse(text, &a), 0);
	return a;
}

static void on_tick(struct ev_loop *loop, ev_timer *w, int revents)
{
	(void)loop;
	(void)w;
	(void)revents;
}

bool io_test_run(struct ev_loop *loop, bool (*done)(void *arg), void *arg)
{
	uint64_t end = io_clock_now() + IO_TEST_SECONDS * IO_SEC;
	ev_timer tick; /* done may depend on what no descriptor tells */

	ev_timer_init(&tick, on_tick, 0.005, 0.005);
	ev_timer_start(loop, &tick);
	while (!done(arg) && io_clock_now() < end)
		ev_run(loop, EVRUN_ONCE);
	ev_timer_stop(loop, &tick);
	return done(arg);
}

void io_test_loop_pass(struct ev_loop *loop)
{
	ev_run(loop, EVRUN_NOWAIT);
}

unsigned io_test_open_fds(void)
{
	bool settled = io_reaper_wait(IO_TEST_SECONDS * 1000);
	DIR *dir = opendir("/proc/self/fd");
	unsigned n = 0;

	assert_true(settled);
	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

bool io_test_fds_come_to(unsigned (*count)(void), unsigned n)
{
	for (unsigned i = 0; i < IO_TEST_SECONDS * 200 && count() != n; i++)
		poll(NULL, 0, 5);
	return count() == n;
}

/* ---- what a test program leaves open ---- */

static unsigned open_at_first;

__attribute__((constructor)) static void count_at_first(void)
{
	open_at_first = io_test_open_fds();
}

/* A thread that a daemon did not wait for may still close some. How many there are at last. */
static unsigned fds_fall_to(unsigned most)
{
	uint64_t end = io_clock_now() + IO_TEST_SECONDS * IO_SEC;
	unsigned n = io_test_open_fds();

	while (n > most && io_clock_now() < end) {
		usleep(1000);
		n = io_test_open_fds();
	}
	return n;
}

/* Whatever its tests looked at: a descriptor more than at the start has been forgotten. */
__attribute__((destructor)) static void count_at_last(void)
{
	unsigned n = fds_fall_to(open_at_first);

	if (n <= open_at_first)
		return;
	fprintf(stderr, "%u descriptors are left open\n", n - open_at_first);
	_exit(1);
}

static unsigned polled_by(const char *set, int fd)
{
	char path[64], line[256];
	unsigned n = 0;
	FILE *info;
	int one;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%.16s", set);
	info = fopen(path, "r");
	if (!info)
		return 0; /* closed meanwhile */
	while (fgets(line, sizeof(line), info))
		n += sscanf(line, "tfd: %d", &one) == 1 && one == fd;
	fclose(info);
	return n;
}

unsigned io_test_polled(int fd)
{
	DIR *dir = opendir("/proc/self/fd");
	const struct dirent *e;
	unsigned n = 0;

	assert_non_null(dir);
	while ((e = readdir(dir)))
		n += e->d_name[0] != '.' ? polled_by(e->d_name, fd) : 0;
	closedir(dir);
	return n;
}

/* ---- a daemon ---- */

void io_test_settings(struct io_settings *s, unsigned devices)
{
	*s = (struct io_settings){
		.devices = devices, .ready_fd = -1, .gso = true, .icrc = IO_ICRC_LENIENT};
	for (unsigned i = 0; i < devices; i++) {
		s->addresses[i].count = 1;
		s->addresses[i].a[0] = io_test_address(1 + i);
	}
}

void io_test_daemon_start(struct io_test_daemon *t, const struct io_settings *s)
{
	struct io_instance instance;

	t->fds = io_test_open_fds();
	io_test_dir(t->dir);
	assert_int_equal(io_instance_open(&instance, t->dir, false), 0);
	assert_int_equal(io_daemon_create(&t->d, s, &instance), 0);
}

void io_test_daemon_stop(struct io_test_daemon *t)
{
	io_daemon_destroy(&t->d);
	io_test_remove_dir(t->dir);
	assert_true(fds_fall_to(t->fds) <= t->fds);
}

void io_test_daemon_begin(struct io_test_daemon *t, unsigned devices)
{
	struct io_settings s;

	assert_int_equal(io_log_open(IO_LOG_DEBUG, IO_LOG_FILE, "/dev/null"), 0);
	io_test_settings(&s, devices);
	io_test_daemon_start(t, &s);
}

void io_test_daemon_end(struct io_test_daemon *t)
{
	io_test_daemon_stop(t);
	io_log_close();
}

/* ---- a client of it ---- */

void io_test_connect(struct io_test_client *c, struct io_daemon *d)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};

	*c = (struct io_test_client){.daemon = d, .async = -1, .mem = -1};
	snprintf(un.sun_path, sizeof(un.sun_path), "%.90s/sock", d->instance.dir);
	c->sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	assert_true(c->sock >= 0);
	assert_int_equal(connect(c->sock, (struct sockaddr *)&un, sizeof(un)), 0);
}

static void drop_fds(struct io_test_client *c)
{
	for (unsigned i = 0; i < c->n_fds; i++)
		close(c->fd[i]);
	c->n_fds = 0;
}

void io_test_hang_up(struct io_test_client *c)
{
	drop_fds(c);
	close(c->sock);
	if (c->async >= 0)
		close(c->async);
	if (c->mem >= 0)
		close(c->mem);
	if (c->marker)
		marker_page_unmap(c->marker);
	c->marker = 0;
	io_test_loop_pass(c->daemon->loop);
	io_test_loop_pass(c->daemon->loop);
}

void io_test_disconnect(struct io_test_client *c)
{
	io_test_hang_up(c);
	while (io_clients_bury(&c->daemon->clients))
		;
}

static bool is_readable(void *arg)
{
	struct io_test_client *c = arg;
	struct pollfd p = {.fd = c->sock, .events = POLLIN};

	return poll(&p, 1, 0) != 0;
}

int io_test_send(struct io_test_client *c, const void *msg, size_t len, const int *fd, unsigned n)
{
	struct io_fds fds;
	bool whole;

	drop_fds(c);
	assert_int_equal(io_message_send(c->sock, msg, len, fd, n), 0);
	assert_true(io_test_run(c->daemon->loop, is_readable, c));
	c->reply_len = io_message_receive(c->sock, &c->reply, sizeof(c->reply), &fds, &whole);
	if (c->reply_len <= 0)
		return c->reply_len == 0 ? -ECONNRESET : (int)c->reply_len;
	assert_true(whole);
	assert_true((size_t)c->reply_len >= sizeof(c->reply.h));
	assert_int_equal(c->reply.h.size, c->reply_len);
	c->n_fds = fds.n;
	memcpy(c->fd, fds.fd, sizeof(c->fd));
	return c->reply.h.status;
}

/* "CALL: why", which ends where the message does. */
static void assert_refusal(const struct io_test_client *c)
{
	size_t n = (size_t)c->reply_len - sizeof(c->reply.h);

	assert_true(n > 2 && n <= sizeof(c->reply.refusal.why));
	assert_int_equal(strnlen(c->reply.refusal.why, n), n - 1);
	assert_non_null(strstr(c->reply.refusal.why, ": "));
}

int io_test_call_fds(struct io_test_client *c, uint32_t cmd, void *msg, size_t len, const int *fd,
		     unsigned n)
{
	struct uhca_cmd_request h = {cmd, (uint32_t)len, ++c->sequence, 0};
	int status;

	memcpy(msg, &h, sizeof(h));
	status = io_test_send(c, msg, len, fd, n);
	if (status == -ECONNRESET)
		return status;
	assert_int_equal(c->reply.h.cmd, cmd);
	assert_int_equal(c->reply.h.sequence, c->sequence);
	if (status != 0)
		assert_refusal(c);
	return status;
}

int io_test_call(struct io_test_client *c, uint32_t cmd, void *msg, size_t len)
{
	return io_test_call_fds(c, cmd, msg, len, NULL, 0);
}

int io_test_handle(struct io_test_client *c, uint32_t cmd, uint32_t handle, uint32_t *out)
{
	struct uhca_cmd_handle in = {.handle = handle};
	int status = io_test_call(c, cmd, &in, sizeof(in));
	struct uhca_cmd_handle_reply reply;

	if (status == 0 && out) {
		memcpy(&reply, &c->reply, sizeof(reply));
		*out = reply.handle;
	}
	return status;
}

struct uhca_cmd_hello io_test_hello_request(const char *device)
{
	struct uhca_cmd_hello in = {.magic = UHCA_ABI_MAGIC,
				    .version = UHCA_ABI_VERSION,
				    .program = "test",
				    .pid = (uint32_t)getpid()};

	snprintf(in.device, sizeof(in.device), "%s", device);
	return in;
}

void io_test_hello(struct io_test_client *c, struct io_daemon *d, const char *device)
{
	io_test_hello_with(c, d, device, open("/proc/self/mem", O_RDWR | O_CLOEXEC));
}

void io_test_hello_with(struct io_test_client *c, struct io_daemon *d, const char *device, int mem)
{
	struct uhca_cmd_hello in = io_test_hello_request(device);
	struct uhca_cmd_hello_reply reply;
	int pair[2];
	int fd[2];

	io_test_connect(c, d);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	c->mem = mem;
	assert_true(c->mem >= 0);
	c->async = pair[0];
	fd[0] = c->mem;
	fd[1] = pair[1];
	assert_int_equal(io_test_call_fds(c, UHCA_CMD_HELLO, &in, sizeof(in), fd, 2), 0);
	close(pair[1]);
	assert_int_equal(c->n_fds, 4);
	memcpy(&reply, &c->reply, sizeof(reply));
	if (reply.marker && marker_page_map(reply.marker))
		c->marker = reply.marker;
}

struct uhca_cmd_create_qp_reply io_test_qp(struct io_test_client *c)
{
	struct uhca_cmd_create_cq cq = {.cqe = 4};
	struct uhca_cmd_create_qp qp = {.qp_type = IBV_QPT_UD, .max_send_wr = 1, .max_recv_wr = 1};
	struct uhca_cmd_create_cq_reply cq_reply;
	struct uhca_cmd_create_qp_reply qp_reply;

	assert_int_equal(io_test_handle(c, UHCA_CMD_ALLOC_PD, 0, &qp.pd), 0);
	assert_int_equal(io_test_call(c, UHCA_CMD_CREATE_CQ, &cq, sizeof(cq)), 0);
	memcpy(&cq_reply, &c->reply, sizeof(cq_reply));
	qp.send_cq = qp.recv_cq = cq_reply.handle;
	assert_int_equal(io_test_call(c, UHCA_CMD_CREATE_QP, &qp, sizeof(qp)), 0);
	memcpy(&qp_reply, &c->reply, sizeof(qp_reply));
	return qp_reply;
}
