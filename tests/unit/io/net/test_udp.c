/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The UDP box of two devices on two addresses: bursts of every kind go across as they are; a full
 * socket keeps the burst and loses nothing; a kernel without segmentation is noticed; a port that
 * is taken, or an address that is not there, is an error; garbage on the port is counted.
 *
 * sendmmsg is wrapped at link time, so that it can refuse.
 */
#include "emu/io/base/clock.h"
#include "emu/io/base/log.h"
#include "emu/io/net/udp.h"
#include "emu/io/net/udp_socket.h"
#include "tests/support/io/burst_gen.h"
#include "tests/support/io/io_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- a kernel that refuses ---- */

static struct {
	int error;         /* of the next calls */
	unsigned times;    /* so many */
	unsigned messages; /* how many messages a call takes; 0: as many as there are */
	bool no_segments;  /* EIO for each call whose first message is a segmented send */
	unsigned calls;
} kernel;

int __real_sendmmsg(int fd, struct mmsghdr *msg, unsigned n, int flags);
int __wrap_sendmmsg(int fd, struct mmsghdr *msg, unsigned n, int flags);
ssize_t __real_sendmsg(int fd, const struct msghdr *msg, int flags);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *msg, int flags);

/* Does it, a call that begins with this message? */
static bool refuses(const struct msghdr *msg)
{
	kernel.calls++;
	if (kernel.no_segments && msg->msg_controllen > 0) {
		errno = EIO;
		return true;
	}
	if (kernel.times == 0)
		return false;
	kernel.times--;
	errno = kernel.error;
	return true;
}

int __wrap_sendmmsg(int fd, struct mmsghdr *msg, unsigned n, int flags)
{
	if (refuses(&msg[0].msg_hdr))
		return -1;
	if (kernel.messages > 0 && n > kernel.messages)
		n = kernel.messages;
	return __real_sendmmsg(fd, msg, n, flags);
}

ssize_t __wrap_sendmsg(int fd, const struct msghdr *msg, int flags)
{
	return refuses(msg) ? -1 : __real_sendmsg(fd, msg, flags);
}

/* ---- two devices ---- */

/* A box that stands for a device: keeps what arrives, put together to messages. */
struct end {
	struct netif netif;
	struct io_udp udp;
	struct io_identity id;
	uint8_t blocked;
	uint32_t packets;
	uint32_t bytes;
	uint8_t data[1 << 20];
	struct core_burst first; /* burst that arrived first */
	struct core_burst last;
	const struct core_burst *left; /* told to have */
	unsigned refused;              /* what came and was no packet for it */
};

struct fixture {
	struct ev_loop *loop;
	struct io_settings settings;
	struct end *end[2];
	uint32_t expected; /* packets */
	unsigned fds;      /* open before */
};

static struct prng rng;
static uint8_t payload[65536];

static void end_receive(struct netif *n, const struct core_burst *t, uint64_t now)
{
	struct end *e = (struct end *)n;

	(void)now;
	assert_in_range(e->bytes + t->length, 0, sizeof(e->data));
	burst_gen_gather(t, e->data + e->bytes);
	if (e->packets == 0)
		e->first = *t;
	e->last = *t;
	e->packets += t->count;
	e->bytes += t->length;
}

/* Told with all that is known of it, for captures. */
static void end_lost(struct netif *n, const struct netif_lost *l)
{
	struct end *e = (struct end *)n;

	if (l->burst) /* one that could not be sent */
		return;
	assert_memory_equal(l->flow->dst, e->id.addresses.a[0].gid, 16);
	assert_non_null(l->bytes);
	assert_non_null(l->why);
	e->refused++;
}

static void end_left(struct netif *n, const struct core_burst *t, uint64_t now)
{
	struct end *e = (struct end *)n;

	(void)now;
	e->left = t;
}

static const struct netif_ops end_ops = {
	.receive = end_receive, .lost = end_lost, .left = end_left};

static struct end *open_end(struct fixture *f, unsigned i)
{
	struct end *e = calloc(1, sizeof(*e));

	assert_non_null(e);
	e->netif.ops = &end_ops;
	e->id = (struct io_identity){.index = i, .addresses = f->settings.addresses[i]};
	snprintf(e->id.name, sizeof(e->id.name), "uhca%u", i);
	assert_int_equal(io_udp_open(&e->udp, f->loop, &f->settings, &e->id), 0);
	e->udp.blocked = &e->blocked;
	netif_stack(&e->netif, &e->udp.netif);
	return e;
}

static int setup(void **state)
{
	static struct fixture f;

	memset(&kernel, 0, sizeof(kernel));
	f = (struct fixture){.fds = io_test_open_fds()};
	f.loop = ev_loop_new(EVFLAG_AUTO);
	io_test_settings(&f.settings, 2);
	f.settings.addresses[0].count = 2; /* the first device has two */
	f.settings.addresses[0].a[1] = io_test_address(8);
	for (unsigned i = 0; i < 2; i++)
		f.end[i] = open_end(&f, i);
	*state = &f;
	io_log_echo_errors(false);
	return io_log_open(IO_LOG_DEBUG, IO_LOG_FILE, "/dev/null");
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	for (unsigned i = 0; i < 2; i++) {
		io_udp_close(&f->end[i]->udp);
		io_udp_close(&f->end[i]->udp);
		free(f->end[i]);
	}
	ev_loop_destroy(f->loop);
	io_log_close();
	assert_int_equal(io_test_open_fds(), f->fds);
	return 0;
}

static struct roce_flow flow_to(const struct fixture *f, unsigned from)
{
	return burst_gen_flow(f->settings.addresses[from].a[0].gid,
			      f->settings.addresses[1 - from].a[0].gid, 0xc0de);
}

static struct core_burst message(const struct fixture *f, uint32_t mtu, uint32_t length)
{
	struct core_burst t;

	burst_gen_message(&rng, &burst_gen_messages[5], mtu, length, payload, &t);
	t.flow = flow_to(f, 0);
	return t;
}

static void send_from(struct fixture *f, unsigned from, const struct core_burst *t)
{
	f->expected += t->count;
	f->end[from]->left = NULL;
	netif_send(&f->end[from]->udp.netif, t, io_clock_now());
	assert_ptr_equal(f->end[from]->left, t);
	netif_flush(&f->end[from]->udp.netif);
}

static bool has_all(void *arg)
{
	struct fixture *f = arg;

	for (unsigned i = 0; i < 2; i++)
		io_udp_poll(&f->end[i]->udp, io_clock_now());
	return f->end[0]->packets + f->end[1]->packets >= f->expected;
}

static void expect_all(struct fixture *f)
{
	assert_true(io_test_run(f->loop, has_all, f));
	assert_int_equal(f->end[0]->packets + f->end[1]->packets, f->expected);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(f->end[i]->udp.rx.counters.bad_icrc, 0);
		assert_int_equal(f->end[i]->udp.rx.counters.malformed, 0);
	}
}

static void test_both_ways(void **state)
{
	struct fixture *f = *state;

	for (unsigned op = 0; op < 256; op++) {
		for (unsigned from = 0; from < 2 && burst_gen_exists(op); from++) {
			struct roce_flow flow = flow_to(f, from);
			struct core_burst t;

			burst_gen_single(&rng, (roce_opcode){(uint8_t)op}, &flow, &t);
			send_from(f, from, &t);
			expect_all(f);
		}
	}
}

static void test_message_is_one_burst(void **state)
{
	struct fixture *f = *state;
	struct core_burst t = message(f, 4096, 65536);
	const struct core_burst *got = &f->end[1]->first;

	send_from(f, 0, &t);
	expect_all(f);
	assert_int_equal(got->count, t.count);
	assert_int_equal(got->length, t.length);
	assert_int_equal(got->flow.sport, 0xc0de);
	assert_memory_equal(got->flow.src, t.flow.src, 16);
	assert_memory_equal(got->flow.dst, t.flow.dst, 16);
	assert_memory_equal(f->end[1]->data, payload, t.length);
	assert_in_range(f->end[1]->udp.rx.counters.buffers, 1, 4);
}

static void test_without_gso(void **state)
{
	struct fixture *f = *state;
	struct core_burst t = message(f, 1024, 20000);

	f->end[0]->udp.port[0].gso = false;
	send_from(f, 0, &t);
	expect_all(f);
	assert_memory_equal(f->end[1]->data, payload, t.length);
}

/* A kernel, or a way to the peer, that cannot segment: seen once, then left alone. */
static void test_segments_refused(void **state)
{
	struct fixture *f = *state;
	struct core_burst t = message(f, 1024, 20000);

	kernel.no_segments = true;
	send_from(f, 0, &t);
	expect_all(f);
	assert_memory_equal(f->end[1]->data, payload, t.length);
	assert_false(f->end[0]->udp.port[0].gso);
	kernel.calls = 0;
	send_from(f, 0, &t);
	expect_all(f);
	assert_int_equal(kernel.calls, 1);
}

/* The kernel takes one message at a time. */
static void test_partial_sends(void **state)
{
	struct fixture *f = *state;
	struct core_burst t = message(f, 256, 40000);

	kernel.messages = 1;
	send_from(f, 0, &t);
	expect_all(f);
	assert_memory_equal(f->end[1]->data, payload, t.length);
}

static void full_socket(struct fixture *f, int error)
{
	struct core_burst t = message(f, 256, 60000);
	uint8_t original[60000];

	memset(f->end[1]->data, 0, sizeof(f->end[1]->data));
	memcpy(original, payload, sizeof(original));
	kernel.messages = 1;
	kernel.error = error;
	kernel.times = 3;
	send_from(f, 0, &t);
	assert_true(f->end[0]->blocked);
	assert_int_equal(f->end[0]->udp.counters.tx_full, 1);
	/* The burst is not valid after the call: neither are its bytes. */
	memset(payload, 0xdd, sizeof(payload));
	memset(&t, 0xdd, sizeof(t));
	expect_all(f);
	assert_false(f->end[0]->blocked);
	assert_memory_equal(f->end[1]->data, original, sizeof(original));
	assert_int_equal(f->end[0]->udp.counters.tx_errors, 0);
}

static void test_full_socket(void **state)
{
	full_socket(*state, EAGAIN);
}

static void test_no_buffers(void **state)
{
	full_socket(*state, ENOBUFS);
}

static void test_cannot_send(void **state)
{
	struct fixture *f = *state;
	struct core_burst t = message(f, 1024, 10000);

	kernel.error = ENETUNREACH;
	kernel.times = 1;
	netif_send(&f->end[0]->udp.netif, &t, 1);
	assert_int_equal(f->end[0]->udp.counters.tx_errors, t.count);
	assert_false(f->end[0]->blocked);
	/* from an address that is not the device's */
	t.flow.src[15] ^= 0x40;
	netif_send(&f->end[0]->udp.netif, &t, 1);
	assert_int_equal(f->end[0]->udp.counters.tx_errors, 2 * t.count);
}

static bool has_dropped(void *arg)
{
	struct fixture *f = arg;
	const struct io_udp_rx_counters *c = &f->end[1]->udp.rx.counters;

	return c->bad_icrc + c->malformed >= f->expected;
}

static int stranger(void)
{
	struct io_address a = io_test_address(9);

	return io_udp_socket_open_flow(&a, 0xc000);
}

static void send_junk(const struct fixture *f, int fd)
{
	union io_sockaddr sa;
	socklen_t len = io_address_to_sockaddr(&f->settings.addresses[1].a[0], ROCE_UDP_PORT, &sa);
	uint8_t junk[3000];
	size_t n = prng_below(&rng, sizeof(junk));

	prng_fill(&rng, junk, n);
	assert_int_equal(sendto(fd, junk, n, 0, &sa.any, len), n);
}

static void test_garbage(void **state)
{
	struct fixture *f = *state;
	int fd = stranger();

	for (; f->expected < 100; f->expected++) {
		send_junk(f, fd);
		io_test_loop_pass(f->loop);
	}
	assert_true(io_test_run(f->loop, has_dropped, f));
	assert_int_equal(f->end[1]->packets, 0);
	assert_int_equal(f->end[1]->refused, f->expected);
	close(fd);
}

/* All that is there is taken in one go, however many there are, and however hot the socket is. */
static void test_drain(void **state)
{
	struct fixture *f = *state;
	int fd = stranger();

	for (; f->expected < 100; f->expected++)
		send_junk(f, fd);
	assert_true(io_udp_drain(&f->end[1]->udp, 1));
	assert_true(has_dropped(f));
	assert_false(io_udp_drain(&f->end[1]->udp, 1));
	close(fd);
}

/* But no more than a receive buffer holds: who sends without end keeps nobody here. */
static void test_drain_of_a_flood(void **state)
{
	struct fixture *f = *state;
	const struct io_udp_rx_counters *c = &f->end[1]->udp.rx.counters;
	int fd = stranger();

	f->end[1]->udp.port[0].rcvbuf = 2048;
	for (; f->expected < 100; f->expected++)
		send_junk(f, fd);
	assert_true(io_udp_drain(&f->end[1]->udp, 1));
	assert_in_range(c->bad_icrc + c->malformed, 1, 8);
	assert_true(io_udp_drain(&f->end[1]->udp, 1));
	assert_in_range(c->bad_icrc + c->malformed, 2, 16);
	close(fd);
}

/*
 * A packet that a rule broke really leaves, alone, with a wrong ICRC; its neighbours do not mind.
 */
static void test_bad_icrc(void **state)
{
	struct fixture *f = *state;
	struct io_udp *to = &f->end[1]->udp;

	for (unsigned i = 0; i < 30; i++) {
		struct core_burst t = message(f, 1024, i % 2 ? 100 : 1000);

		t.model.bad_icrc = i % 3 == 1;
		netif_send(&f->end[0]->udp.netif, &t, io_clock_now());
		f->expected += t.count;
	}
	netif_flush(&f->end[0]->udp.netif);
	f->expected = 20;
	assert_true(io_test_run(f->loop, has_all, f));
	f->expected = 10;
	assert_true(io_test_run(f->loop, has_dropped, f));
	assert_int_equal(to->rx.counters.bad_icrc, 10);
	assert_int_equal(to->rx.counters.malformed, 0);
	assert_int_equal(f->end[1]->packets, 20);
}

static void test_hot_sockets(void **state)
{
	struct fixture *f = *state;
	struct io_udp_port *p = &f->end[1]->udp.port[0];
	struct core_burst t = message(f, 1024, 2048);

	/* nothing has come or gone: no system call, nothing found */
	send_from(f, 0, &t);
	assert_false(io_udp_poll(&f->end[1]->udp, io_clock_now()));
	assert_int_equal(f->end[1]->packets, 0);
	/* the loop finds it, and from then on the socket is looked at, for a while */
	expect_all(f);
	send_from(f, 0, &t);
	assert_false(io_udp_poll(&f->end[1]->udp, p->hot_until));
	assert_true(io_udp_poll(&f->end[1]->udp, p->hot_until - 1));
	expect_all(f);
}

static void test_window(void **state)
{
	struct fixture *f = *state;
	struct io_udp *u = &f->end[0]->udp;

	assert_int_equal(io_udp_window(u), u->rcvbuf / 4);
	u->rcvbuf = 100;
	assert_int_equal(io_udp_window(u), 4096);
}

static void test_cannot_open(void **state)
{
	struct fixture *f = *state;
	struct io_identity id = f->end[0]->id;
	struct io_udp u;
	unsigned fds = io_test_open_fds();

	assert_int_equal(io_udp_open(&u, f->loop, &f->settings, &id), -EADDRINUSE);
	id.addresses.a[0] = io_test_address(7);
	id.addresses.count = 2; /* the second is not there, and the first is given back */
	io_address_parse("203.0.113.254", &id.addresses.a[1]);
	assert_int_equal(io_udp_open(&u, f->loop, &f->settings, &id), -EADDRNOTAVAIL);
	assert_int_equal(io_test_open_fds(), fds);
}

static void test_no_wire(void **state)
{
	struct fixture *f = *state;
	struct io_settings s = f->settings;
	struct io_udp u;

	s.wire = IO_WIRE_NEVER;
	assert_int_equal(io_udp_open(&u, f->loop, &s, &f->end[0]->id), 0);
	assert_int_equal(u.n_sockets, 0);
	assert_int_equal(io_udp_window(&u), 0);
	assert_false(io_udp_poll(&u, 1));
	assert_false(io_udp_drain(&u, 1));
	io_udp_close(&u);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

/* Short packets of one flow leave in one send and arrive whole; another flow gets its own. */
static void test_company(void **state)
{
	struct fixture *f = *state;
	struct core_burst t = message(f, 1024, 8);
	struct io_udp *u = &f->end[0]->udp;

	for (unsigned i = 0; i < 3 * IO_UDP_BATCH_PACKETS + 5; i++) {
		t.flow.sport = i % 50 < 48 ? 0xc0de : 0xc0df;
		f->expected++;
		netif_send(&u->netif, &t, io_clock_now());
	}
	assert_true(u->bundle->n_packets > 0);
	netif_flush(&u->netif);
	assert_int_equal(u->bundle->n_packets, 0);
	assert_int_equal(u->counters.tx_packets, f->expected);
	expect_all(f);
	assert_true(f->end[1]->udp.rx.counters.buffers < f->expected);
}

/* Only what has the same header leaves together: each arrives with its own. */
static void test_company_is_alike(void **state)
{
	struct fixture *f = *state;
	struct core_burst t = message(f, 1024, 8);
	struct io_udp *u = &f->end[0]->udp;

	for (unsigned i = 0; i < 4; i++) {
		t.flow.tclass = i & 1 ? 0x28 : 0x48;
		t.flow.hop_limit = i & 2 ? 17 : 18;
		kernel.calls = 0;
		netif_send(&u->netif, &t, io_clock_now());
		assert_int_equal(kernel.calls, i > 0); /* the one before had to go */
		netif_send(&u->netif, &t, io_clock_now());
		assert_int_equal(kernel.calls, i > 0);
		f->expected += 2;
	}
	netif_flush(&u->netif);
	expect_all(f);
	assert_int_equal(f->end[1]->first.flow.tclass, 0x48);
	assert_int_equal(f->end[1]->first.flow.hop_limit, 18);
	assert_int_equal(f->end[1]->last.flow.tclass, 0x28);
	assert_int_equal(f->end[1]->last.flow.hop_limit, 17);
}

/* Of packets that the kernel refuses those are lost; the rest, and what comes later, is not. */
static void test_company_is_lost(void **state)
{
	struct fixture *f = *state;
	struct core_burst t = message(f, 1024, 8);
	struct io_udp *u = &f->end[0]->udp;

	kernel.error = ENETUNREACH;
	kernel.times = 1;
	netif_send(&u->netif, &t, io_clock_now());
	netif_send(&u->netif, &t, io_clock_now());
	netif_flush(&u->netif);
	assert_int_equal(u->counters.tx_errors, 2);
	assert_int_equal(u->counters.tx_packets, 0);
	assert_int_equal(u->bundle->n_packets, 0);
	assert_false(f->end[0]->blocked);
	send_from(f, 0, &t);
	expect_all(f);
	assert_int_equal(u->counters.tx_errors, 2);
}

/* A socket that is full keeps them until it is not, for which the device can wait. */
static void test_company_waits(void **state)
{
	struct fixture *f = *state;
	struct core_burst t = message(f, 1024, 8), large = message(f, 1024, 5000);
	struct io_udp *u = &f->end[0]->udp;

	kernel.error = EAGAIN;
	kernel.times = 3;
	send_from(f, 0, &t);
	assert_true(f->end[0]->blocked);
	assert_int_equal(u->counters.tx_full, 1);
	assert_false(io_udp_wait(u, IO_MSEC)); /* writable, and still full */
	assert_true(f->end[0]->blocked);
	large.flow.sport = 0xc0df;
	send_from(f, 0, &large); /* waits behind it, for another socket */
	assert_int_equal(f->end[1]->packets, 0);
	assert_true(io_udp_wait(u, IO_MSEC));
	assert_false(f->end[0]->blocked);
	expect_all(f);
	assert_int_equal(u->counters.tx_packets, f->expected);
	assert_int_equal(u->counters.tx_errors, 0);
}

/* Each address of a device has its socket, from which its packets leave, and to which they come. */
static void test_second_address(void **state)
{
	struct fixture *f = *state;
	const uint8_t *own = f->settings.addresses[0].a[1].gid;
	struct core_burst t = message(f, 1024, 8);

	assert_int_equal(f->end[0]->udp.n_sockets, 2);
	memcpy(t.flow.src, own, 16);
	send_from(f, 0, &t);
	expect_all(f);
	assert_memory_equal(f->end[1]->last.flow.src, own, 16);
	t.flow = flow_to(f, 1);
	memcpy(t.flow.dst, own, 16);
	send_from(f, 1, &t);
	expect_all(f);
	assert_int_equal(f->end[0]->packets, 1);
	assert_memory_equal(f->end[0]->last.flow.dst, own, 16);
	for (unsigned i = 0; i < 2; i++) { /* both are looked at while they are hot */
		t = message(f, 1024, 8);
		t.flow = flow_to(f, 1);
		if (i)
			memcpy(t.flow.dst, own, 16);
		send_from(f, 1, &t);
		expect_all(f);
		send_from(f, 1, &t);
		for (unsigned k = 0; k < 2; k++) /* a socket that was emptied is left out once */
			io_udp_poll(&f->end[0]->udp, f->end[0]->udp.port[i].hot_until - 1);
		assert_int_equal(f->end[0]->packets + f->end[1]->packets, f->expected);
	}
}

/* Who looks into the log is told what is wrong with the way. */
static void test_warnings(void **state)
{
	char path[] = "/tmp/uhca-test-log-XXXXXX", text[4096];
	struct fixture *f = *state;
	struct core_burst t = message(f, 1024, 10000);
	struct io_udp_rx *rx = &f->end[1]->udp.rx;
	struct io_address stranger = io_test_address(9);
	int log = mkstemp(path), fd = io_udp_socket_open_flow(&stranger, 0xc000);
	union io_sockaddr sa;
	socklen_t len = io_address_to_sockaddr(&f->settings.addresses[1].a[0], ROCE_UDP_PORT, &sa);
	ssize_t n;

	assert_true(log >= 0 && fd >= 0);
	assert_int_equal(io_log_open(IO_LOG_WARN, IO_LOG_FILE, path), 0);
	kernel.error = ENETUNREACH;
	kernel.times = 1;
	netif_send(&f->end[0]->udp.netif, &t, 1);
	kernel.error = EMSGSIZE;
	kernel.times = 1;
	netif_send(&f->end[0]->udp.netif, &t, 1);
	kernel.error = EINVAL;
	kernel.times = 2; /* of segments, too, it may be */
	memcpy(t.flow.dst, (const uint8_t[16]){[10] = 0xff, [11] = 0xff, 192, 0, 2, 7}, 16);
	netif_send(&f->end[0]->udp.netif, &t, 1);
	kernel.times = 0;
	f->expected = 1;
	assert_int_equal(sendto(fd, "nonsense that is no packet", 26, 0, &sa.any, len), 26);
	assert_true(io_test_run(f->loop, has_dropped, f));
	assert_null(rx->why);
	n = pread(log, text, sizeof(text) - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	assert_non_null(strstr(text, "uhca0: cannot send to 127."));
	assert_non_null(strstr(text, "Network is unreachable (0 more)"));
	assert_non_null(strstr(text, "uhca0: packets with 1024 bytes of payload exceed the MTU"));
	assert_non_null(strstr(text, "uhca0: a loopback address cannot reach 192.0.2.7;"));
	assert_non_null(strstr(text, "uhca1: dropped a packet from 127."));
	close(fd);
	close(log);
	unlink(path);
}

/* Messages of one long packet, too: 16 in at most three sends, whatever they hold. */
static void test_long_company(void **state)
{
	struct fixture *f = *state;
	struct core_burst t = message(f, 4096, 4096);
	struct io_udp *u = &f->end[0]->udp;

	assert_int_equal(t.count, 1);
	for (unsigned i = 0; i < 16; i++) {
		f->expected++;
		netif_send(&u->netif, &t, io_clock_now());
	}
	netif_flush(&u->netif);
	assert_int_equal(u->counters.tx_packets, 16);
	expect_all(f);
	assert_in_range(f->end[1]->udp.rx.counters.buffers, 1, 3);
}

/* An urgent burst leaves at once, before what is being gathered. */
static void test_urgent(void **state)
{
	struct fixture *f = *state;
	struct core_burst t = message(f, 1024, 8);
	struct io_udp *u = &f->end[0]->udp;

	f->expected = 3;
	t.urgent = false;
	netif_send(&u->netif, &t, io_clock_now());
	netif_send(&u->netif, &t, io_clock_now());
	assert_int_equal(u->counters.tx_packets, 0);
	t.urgent = true;
	netif_send(&u->netif, &t, io_clock_now());
	assert_int_equal(u->counters.tx_packets, 1);
	assert_int_equal(u->bundle->n_packets, 2);
	netif_flush(&u->netif);
	assert_int_equal(u->counters.tx_packets, 3);
	expect_all(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_warnings), /* first: what is said is limited by the second */
		TEST(test_company_is_alike), TEST(test_company_is_lost),
		TEST(test_company_waits),    TEST(test_second_address),
		TEST(test_both_ways),        TEST(test_message_is_one_burst),
		TEST(test_without_gso),      TEST(test_segments_refused),
		TEST(test_partial_sends),    TEST(test_full_socket),
		TEST(test_no_buffers),       TEST(test_cannot_send),
		TEST(test_garbage),          TEST(test_drain),
		TEST(test_drain_of_a_flood), TEST(test_hot_sockets),
		TEST(test_window),           TEST(test_cannot_open),
		TEST(test_no_wire),          TEST(test_company),
		TEST(test_urgent),           TEST(test_bad_icrc),
		TEST(test_long_company),
	};

	rng = prng_start("test_udp");
	prng_fill(&rng, payload, sizeof(payload));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
