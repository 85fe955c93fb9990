/* SPDX-License-Identifier: BSD-2-Clause */
/* The bottom box: sends and receives bursts through one UDP socket for each address. */
#include "udp.h"

#include "emu/io/base/base.h"
#include "port_owner.h"
#include "udp_socket.h"
#include "wire/packet.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define RX_BUFFERS  8
#define RX_BYTES    65536
#define HOT         (1 * IO_MSEC)
#define BURST_BYTES 65536
/* A datagram takes at least so much of a receive buffer, beside its payload. */
#define OVERHEAD    512

/* ---- receiving ---- */

static void deliver(void *arg, const struct core_burst *t)
{
	struct io_udp *u = arg;

	netif_receive(u->netif.above, t, u->now);
}

static void refuse(void *arg, const struct roce_flow *flow, const uint8_t *p, size_t len,
		   const char *why)
{
	const struct io_udp *u = arg;

	netif_report_lost(&u->netif,
			  &(struct netif_lost){.flow = flow, .bytes = p, .len = len, .why = why});
}

static void say_dropped(struct io_udp *u, const struct roce_flow *flow)
{
	static struct io_log_limit limit;
	char from[IO_ADDRESS_TEXT];
	uint32_t held;

	if (io_log_limit(&limit, 5, u->now, &held))
		io_log(IO_LOG_WARN, "%s: dropped a packet from %s: %s (%u more)", u->name,
		       io_address_format(flow->src, from), u->rx.why, held);
	u->rx.why = NULL;
}

static void count_overflow(struct io_udp_port *p, const struct io_udp_ancillary *a)
{
	static struct io_log_limit limit;
	uint32_t held;

	if (!a->overflow_valid || a->overflow == p->overflow)
		return;
	p->udp->rx.counters.overflow += a->overflow - p->overflow;
	p->overflow = a->overflow;
	if (io_log_limit(&limit, 1, p->udp->now, &held))
		io_log(IO_LOG_WARN, "%s: the receive buffer of %zu bytes overflowed, %llu lost",
		       p->udp->name, p->udp->rcvbuf,
		       (unsigned long long)p->udp->rx.counters.overflow);
}

static void take_buffer(struct io_udp_port *p, struct mmsghdr *m)
{
	const union io_sockaddr *from = m->msg_hdr.msg_name;
	struct io_udp_ancillary a;
	struct roce_flow flow;

	/* Flows are compared as bytes. */
	memset(&flow, 0, sizeof(flow));
	io_udp_socket_ancillary(&m->msg_hdr, &a);
	count_overflow(p, &a);
	io_address_from_sockaddr(from, flow.src);
	memcpy(flow.dst, p->address.gid, 16);
	flow.sport = ntohs(from->any.sa_family == AF_INET ? from->v4.sin_port : from->v6.sin6_port);
	flow.dport = ROCE_UDP_PORT;
	flow.tclass = a.tclass;
	flow.hop_limit = a.hop_limit;
	io_udp_rx_buffer(&p->udp->rx, &flow, m->msg_hdr.msg_iov->iov_base, m->msg_len, a.segment);
	if (p->udp->rx.why)
		say_dropped(p->udp, &flow);
}

/* One recvmmsg. What it took of the receive buffer, in bytes, or less; 0: nothing had come. */
static size_t receive(struct io_udp_port *p)
{
	struct io_udp *u = p->udp;
	struct mmsghdr m[RX_BUFFERS];
	struct iovec iov[RX_BUFFERS];
	union io_sockaddr from[RX_BUFFERS];
	_Alignas(struct cmsghdr) char control[RX_BUFFERS][IO_UDP_CONTROL];
	size_t taken = 0;
	int n;

	for (unsigned i = 0; i < RX_BUFFERS; i++) {
		iov[i] = (struct iovec){u->rx_memory + (size_t)i * RX_BYTES, RX_BYTES};
		m[i].msg_hdr = (struct msghdr){.msg_name = &from[i],
					       .msg_namelen = sizeof(from[i]),
					       .msg_iov = &iov[i],
					       .msg_iovlen = 1,
					       .msg_control = control[i],
					       .msg_controllen = IO_UDP_CONTROL};
	}
	do
		n = recvmmsg(p->fd, m, RX_BUFFERS, MSG_DONTWAIT, NULL);
	while (n < 0 && io_udp_errors_were(p->fd, &u->errors, errno));
	if (n <= 0)
		return 0;
	p->hot_until = u->now + HOT;
	p->drained = n < RX_BUFFERS;
	for (int i = 0; i < n; i++) {
		take_buffer(p, &m[i]);
		taken += m[i].msg_len + OVERHEAD;
	}
	io_udp_rx_flush(&u->rx);
	return taken;
}

static void on_readable(struct ev_loop *loop, ev_io *w, int revents)
{
	struct io_udp_port *p = w->data;

	(void)loop;
	(void)revents;
	p->udp->now = io_clock_now();
	/* Errors of the socket wake us, too, for as long as they are there. */
	if (!receive(p))
		io_udp_errors_take(p->fd, &p->udp->errors);
}

/* A socket that was just emptied is left out once: who got its packets is to answer first. */
static bool worth_a_look(struct io_udp_port *p)
{
	bool drained = p->drained;

	p->drained = false;
	return !drained && p->udp->now < p->hot_until;
}

bool io_udp_poll(struct io_udp *u, uint64_t now)
{
	bool work = false;

	u->now = now;
	for (unsigned i = 0; i < u->n_sockets; i++)
		if (worth_a_look(&u->port[i]))
			work |= receive(&u->port[i]) > 0;
	return work;
}

static bool drain(struct io_udp_port *p)
{
	size_t taken = 0, more;

	do
		taken += more = receive(p);
	while (more > 0 && !p->drained && taken < p->rcvbuf);
	return taken > 0;
}

bool io_udp_drain(struct io_udp *u, uint64_t now)
{
	bool work = false;

	u->now = now;
	for (unsigned i = 0; i < u->n_sockets; i++)
		work |= drain(&u->port[i]);
	return work;
}

/* ---- sending ---- */

/* Linux says EINVAL of segments that are too long, and of a source that may not leave the host. */
static bool stays_here(const struct roce_flow *flow)
{
	return io_address_is_loopback(flow->src) && !io_address_is_loopback(flow->dst);
}

static void say_error(struct io_udp *u, const struct roce_flow *flow, uint32_t segment, int error)
{
	static struct io_log_limit limit;
	char to[IO_ADDRESS_TEXT];
	uint32_t held;

	if (!io_log_limit(&limit, 3, io_clock_now(), &held))
		return;
	io_address_format(flow->dst, to);
	if (error == EINVAL && stays_here(flow))
		io_log(IO_LOG_WARN,
		       "%s: a loopback address cannot reach %s; give the device an interface's "
		       "addresses with uhca-run --netdev (%u more)",
		       u->name, to, held);
	else if (error == EMSGSIZE || error == EINVAL)
		io_log(IO_LOG_WARN,
		       "%s: packets with %u bytes of payload exceed the MTU of the path to %s; use "
		       "a smaller path MTU (%u more)",
		       u->name, segment, to, held);
	else
		io_log(IO_LOG_WARN, "%s: cannot send to %s: %s (%u more)", u->name, to,
		       strerror(error), held);
}

static void say_not_sent(struct io_udp *u, const struct io_udp_tx *tx, int error)
{
	u->counters.tx_errors += tx->burst->count - tx->next;
	say_error(u, &tx->burst->flow, tx->burst->segment, error);
}

static void say_lost(struct io_udp *u, struct io_udp_batch *b, int error)
{
	uint32_t segment = b->segment[b->sent];

	u->counters.tx_errors += io_udp_batch_skip(b);
	say_error(u, &b->flow, segment, error);
}

static void set_blocked(struct io_udp *u, bool blocked)
{
	if (!u->blocked)
		return;
	*u->blocked &= (uint8_t)~IO_BLOCK_WIRE;
	*u->blocked |= blocked ? IO_BLOCK_WIRE : 0;
}

static void wait_for_socket(struct io_udp *u, int fd)
{
	u->counters.tx_full++;
	set_blocked(u, true);
	ev_io_stop(u->loop, &u->writable);
	ev_io_set(&u->writable, fd, EV_WRITE);
	ev_io_start(u->loop, &u->writable);
}

/* Keeps the rest of a burst, which is only valid during the call, until the socket takes it. */
static void stall(struct io_udp *u, const struct io_udp_tx *tx)
{
	uint8_t *p = u->stalled_payload;

	u->stalled_burst = *tx->burst;
	for (unsigned i = 0; i < tx->burst->n_iov; i++) {
		memcpy(p, tx->burst->iov[i].iov_base, tx->burst->iov[i].iov_len);
		p += tx->burst->iov[i].iov_len;
	}
	u->stalled_burst.iov[0] = (struct iovec){u->stalled_payload, tx->burst->length};
	u->stalled_burst.n_iov = tx->burst->length ? 1 : 0;
	u->stalled = *tx;
	u->stalled.burst = &u->stalled_burst;
	wait_for_socket(u, tx->fd);
}

static struct io_udp_port *port_of(struct io_udp *u, const uint8_t src[16])
{
	for (unsigned i = 0; i < u->n_sockets; i++)
		if (memcmp(u->port[i].address.gid, src, 16) == 0)
			return &u->port[i];
	return NULL;
}

/* True when the burst is done with, sent or not; false when the socket is full. */
static bool carry_on(struct io_udp *u, struct io_udp_tx *tx)
{
	for (;;) {
		int error = 0;

		switch (io_udp_tx_run(tx, &u->counters.tx_packets, &error)) {
		case IO_UDP_TX_DONE:
			return true;
		case IO_UDP_TX_FULL:
			return false;
		case IO_UDP_TX_NO_GSO:
			tx->gso = false;
			continue;
		case IO_UDP_TX_ERROR:
			say_not_sent(u, tx, error);
			return true;
		}
	}
}

/* ---- short packets in company ---- */

/* True when the bundle is empty again; false when its socket is full. */
static bool flush_bundle(struct io_udp *u)
{
	struct io_udp_batch *b = u->bundle;
	int error = 0;

	while (b->n_packets > 0) {
		switch (io_udp_batch_send(b, &u->counters.tx_packets, &error)) {
		case IO_UDP_TX_DONE:
			b->n_packets = 0;
			break;
		case IO_UDP_TX_FULL:
			return false;
		case IO_UDP_TX_NO_GSO:
			io_udp_batch_split(b);
			break;
		case IO_UDP_TX_ERROR:
			say_lost(u, b, error);
			break;
		}
	}
	return true;
}

static bool fits_bundle(const struct io_udp *u, const struct io_udp_tx *tx)
{
	const struct io_udp_batch *b = u->bundle;

	return b->n_packets == 0 ||
	       (!io_udp_batch_full(b, tx->burst->length) && b->fd == tx->fd &&
		memcmp(b->flow.dst, tx->burst->flow.dst, sizeof(b->flow.dst)) == 0 &&
		b->flow.tclass == tx->burst->flow.tclass &&
		b->flow.hop_limit == tx->burst->flow.hop_limit);
}

static void add_to_bundle(struct io_udp *u, const struct io_udp_tx *tx)
{
	const struct core_burst *t = tx->burst;
	struct roce_flow flow = t->flow;
	struct roce_packet pkt;
	uint32_t offset;

	flow.sport = tx->sport;
	if (u->bundle->n_packets == 0)
		io_udp_batch_begin(u->bundle, tx->fd, &flow, &tx->dst, tx->gso);
	u->bundle->errors = tx->errors;
	core_burst_packet(t, 0, &pkt, &offset);
	io_udp_batch_copy(u->bundle, &pkt, t->iov, t->n_iov);
}

static void udp_flush(struct netif *n)
{
	struct io_udp *u = (struct io_udp *)n;

	if (u->bundle && !flush_bundle(u))
		wait_for_socket(u, u->bundle->fd);
}

/* True when the burst went into the bundle. A wrong ICRC is for one burst alone. */
static bool send_in_company(struct io_udp *u, const struct io_udp_tx *tx)
{
	if (tx->burst->model.bad_icrc || tx->burst->count > 1 ||
	    tx->burst->length > IO_UDP_BATCH_COPY)
		return false;
	if (!fits_bundle(u, tx) && !flush_bundle(u))
		return false;
	add_to_bundle(u, tx);
	return true;
}

static void udp_send(struct netif *n, const struct core_burst *t, uint64_t now)
{
	struct io_udp *u = (struct io_udp *)n;
	struct io_udp_port *p = port_of(u, t->flow.src);
	struct io_udp_tx tx = {.burst = t, .sport = t->flow.sport, .errors = &u->errors};

	if (!p) {
		u->counters.tx_errors += t->count;
		return;
	}
	memcpy(tx.dst.gid, t->flow.dst, 16);
	tx.dst.scope = p->address.scope;
	tx.gso = p->gso;
	tx.fd = io_udp_flows_get(&p->flows, &tx.sport, now);
	p->hot_until = now + HOT;
	netif_report_left(&u->netif, t, now);
	if (!t->urgent && send_in_company(u, &tx))
		return;
	/* What came first goes first, or waits with it; none of it is of an urgent burst's QP. */
	if ((!t->urgent && !flush_bundle(u)) || !carry_on(u, &tx))
		stall(u, &tx);
	else if (p->gso && !tx.gso && tx.next == t->count) {
		p->gso = false;
		io_log(IO_LOG_INFO,
		       "%s: UDP segmentation offload does not work on the path to the peer",
		       u->name);
	}
}

static void on_writable(struct ev_loop *loop, ev_io *w, int revents)
{
	struct io_udp *u = w->data;

	(void)revents;
	if (!flush_bundle(u) || (u->stalled.burst && !carry_on(u, &u->stalled)))
		return;
	u->stalled.burst = NULL;
	ev_io_stop(loop, w);
	set_blocked(u, false);
}

bool io_udp_wait(struct io_udp *u, uint64_t ns)
{
	struct pollfd p = {.fd = u->writable.fd, .events = POLLOUT};
	struct timespec limit = {.tv_nsec = (long)ns};

	if (ppoll(&p, 1, &limit, NULL) > 0)
		on_writable(u->loop, &u->writable, EV_WRITE);
	return !(*u->blocked & IO_BLOCK_WIRE);
}

/* Nothing is below that could hand up anything. */
static const struct netif_ops udp_ops = {.send = udp_send, .flush = udp_flush};

/* ---- opening ---- */

static void say_taken(const struct io_udp *u, const struct io_address *a, const char *text)
{
	struct io_port_owner owner;

	if (!io_port_owner_find(a, ROCE_UDP_PORT, &owner))
		owner = (struct io_port_owner){.name = "another daemon or soft-RoCE"};
	io_log(IO_LOG_ERROR, "%s: UDP port %d of %s is in use by %s%s (--no-wire)", u->name,
	       ROCE_UDP_PORT, text, owner.name,
	       owner.everywhere ? ", at all addresses: stop it, use a private network namespace "
				  "(unshare -n), or open no UDP socket"
				: ": stop it, give the device another address (--addr), or open no "
				  "UDP socket");
}

static int say_cannot_open(const struct io_udp *u, const struct io_address *a, int error)
{
	char text[IO_ADDRESS_TEXT];

	io_address_format(a->gid, text);
	if (error == -EADDRINUSE)
		say_taken(u, a, text);
	else if (error == -EADDRNOTAVAIL)
		io_log(IO_LOG_ERROR, "%s: this machine has no address %s", u->name, text);
	else
		io_log(IO_LOG_ERROR, "%s: cannot open UDP port %d of %s: %s", u->name,
		       ROCE_UDP_PORT, text, strerror(-error));
	return error;
}

static int open_port(struct io_udp *u, struct io_udp_port *p, const struct io_address *a, bool gso)
{
	size_t rcvbuf = 0;
	int fd = io_udp_socket_open(a, gso, &rcvbuf);

	if (fd < 0)
		return say_cannot_open(u, a, fd);
	*p = (struct io_udp_port){.udp = u, .address = *a, .fd = fd, .rcvbuf = rcvbuf, .gso = gso};
	io_udp_flows_init(&p->flows, a, fd);
	if (u->n_sockets == 0 || rcvbuf < u->rcvbuf)
		u->rcvbuf = rcvbuf;
	ev_io_init(&p->readable, on_readable, fd, EV_READ);
	p->readable.data = p;
	ev_io_start(u->loop, &p->readable);
	u->n_sockets++;
	return 0;
}

static int allocate(struct io_udp *u, unsigned n)
{
	u->port = calloc(n, sizeof(*u->port));
	u->rx_memory = aligned_alloc(4096, (size_t)RX_BUFFERS * RX_BYTES);
	u->stalled_payload = malloc(BURST_BYTES);
	u->bundle = calloc(1, sizeof(*u->bundle));
	return u->port && u->rx_memory && u->stalled_payload && u->bundle ? 0 : -ENOMEM;
}

/* ---- multicast groups ---- */

/* An address of the device from which the group can be reached, or NULL. */
static const struct io_udp_port *port_for_group(const struct io_udp *u, const uint8_t gid[16])
{
	for (unsigned i = 0; i < u->n_sockets; i++)
		if (roce_addr_is_v4(u->port[i].address.gid) == roce_addr_is_v4(gid))
			return &u->port[i];
	return NULL;
}

static void say_not_joined(const struct io_udp *u, const uint8_t gid[16], int error)
{
	char text[IO_ADDRESS_TEXT];

	io_log(IO_LOG_WARN, "%s: cannot join the multicast group %s: %s", u->name,
	       io_address_format(gid, text), strerror(-error));
}

int io_udp_join(struct io_udp *u, const uint8_t gid[16])
{
	const struct io_udp_port *from = port_for_group(u, gid);
	struct io_udp_group *g;

	if (!from)
		return 0;
	g = calloc(1, sizeof(*g));
	if (!g)
		return -ENOMEM;
	g->port = (struct io_udp_port){.udp = u, .address.scope = from->address.scope};
	memcpy(g->port.address.gid, gid, 16);
	g->port.fd = io_udp_socket_open_group(&g->port.address, &from->address, from->gso);
	if (g->port.fd < 0) {
		int error = g->port.fd;

		say_not_joined(u, gid, error);
		free(g);
		return error;
	}
	ev_io_init(&g->port.readable, on_readable, g->port.fd, EV_READ);
	g->port.readable.data = &g->port;
	ev_io_start(u->loop, &g->port.readable);
	g->next = u->groups;
	u->groups = g;
	return 0;
}

static void close_group(struct io_udp *u, struct io_udp_group **at)
{
	struct io_udp_group *g = *at;

	*at = g->next;
	ev_io_stop(u->loop, &g->port.readable);
	close(g->port.fd);
	free(g);
}

void io_udp_leave(struct io_udp *u, const uint8_t gid[16])
{
	struct io_udp_group **at = &u->groups;

	while (*at && memcmp((*at)->port.address.gid, gid, 16) != 0)
		at = &(*at)->next;
	if (*at)
		close_group(u, at);
}

int io_udp_open(struct io_udp *u, struct ev_loop *loop, const struct io_settings *settings,
		const struct io_identity *id)
{
	int error;

	*u = (struct io_udp){.netif.ops = &udp_ops, .loop = loop};
	memcpy(u->name, id->name, sizeof(u->name));
	if (settings->wire == IO_WIRE_NEVER)
		return 0;
	io_udp_rx_init(&u->rx, settings->icrc, deliver, u);
	u->rx.refuse = refuse;
	ev_io_init(&u->writable, on_writable, -1, EV_WRITE);
	u->writable.data = u;
	error = allocate(u, id->addresses.count);
	for (unsigned i = 0; i < id->addresses.count && error == 0; i++)
		if (!id->addresses.a[i].inside)
			error = open_port(u, &u->port[u->n_sockets], &id->addresses.a[i],
					  settings->gso);
	if (error < 0)
		io_udp_close(u);
	return error;
}

void io_udp_close(struct io_udp *u)
{
	if (!u->loop)
		return;
	ev_io_stop(u->loop, &u->writable);
	while (u->groups)
		close_group(u, &u->groups);
	for (unsigned i = 0; i < u->n_sockets; i++) {
		ev_io_stop(u->loop, &u->port[i].readable);
		io_udp_flows_close(&u->port[i].flows);
		close(u->port[i].fd);
	}
	free(u->port);
	free(u->rx_memory);
	free(u->stalled_payload);
	free(u->bundle);
	*u = (struct io_udp){.loop = NULL};
}

/*
 * The kernel counts twice the bytes it was asked for, because a packet costs more than its
 * payload. A quarter of that count is half the payload that fits: room for a second sender.
 */
uint32_t io_udp_window(const struct io_udp *u)
{
	size_t window = u->rcvbuf / 4;

	if (u->n_sockets == 0)
		return 0;
	if (window < ROCE_MAX_MTU)
		return ROCE_MAX_MTU;
	return window > UINT32_MAX ? UINT32_MAX : (uint32_t)window;
}
