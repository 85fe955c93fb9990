/* SPDX-License-Identifier: BSD-2-Clause */
/* A simulation and its connections: made, opened, closed. See connection.h. */
#include "engine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- what the network tells ---- */

static void deliver(void *user, uint32_t host, struct fabric_packet *k, uint64_t now)
{
	struct sim *s = user;
	struct sim_connection *c = sim_at(s, k->qp);

	(void)host;
	/* It may be for one that was closed, and whose place another one has. */
	if (k->flow != (k->kind == SIM_DATA ? c->key : ~c->key)) {
		fabric_packet_put(s->fabric, k);
		return;
	}
	switch (k->kind) {
	case SIM_DATA:
		receive_data(s, c, k, now);
		break;
	case SIM_CNP:
		s->counters.cnps++;
		cc_cnp(&c->cc, to_ns(now));
		break;
	default:
		acknowledge(s, c, k, now);
		break;
	}
	fabric_packet_put(s->fabric, k);
}

/* Nearly all of it is needed. */
static void fetch(const struct sim_connection *c)
{
	for (size_t at = 0; at < sizeof(*c); at += 64)
		__builtin_prefetch((const char *)c + at);
}

static void soon(void *user, uint32_t host, const struct fabric_packet *k)
{
	const struct sim *s = user;

	if (k)
		fetch(sim_at(s, k->qp));
	else if (s->hosts[host].first_ready)
		fetch(s->hosts[host].first_ready);
}

static void ready(void *user, uint32_t host, uint64_t now)
{
	send_pump(user, host, now);
}

static void timer(void *user, uint32_t number, uint64_t now)
{
	struct sim *s = user;
	const uint32_t host = number / HOST_TIMERS;

	if (host >= s->topology->n_hosts)
		s->ops->timer(s->user, number - s->topology->n_hosts * HOST_TIMERS, now);
	else if (number % HOST_TIMERS == HOST_PACED)
		send_paced(s, host, now);
	else
		acknowledge_timeouts(s, host, now);
}

void sim_timer(struct sim *s, uint32_t number, uint64_t time)
{
	fabric_timer(s->fabric, s->topology->n_hosts * HOST_TIMERS + number, time);
}

const char *sim_host_name(const struct sim *s, uint32_t host)
{
	return s->topology->nodes[s->host_nodes[host]].name;
}

/* ---- life ---- */

static int refuse_link(const struct fabric_topology *t, const struct fabric_link *l,
		       const char *what, struct fabric_error *e)
{
	return fabric_refuse(e, "", "", "%s bytes are longer than the link %s %s takes, %u", what,
			     t->nodes[l->end[0]].name, t->nodes[l->end[1]].name,
			     (unsigned)l->settings.mtu);
}

static int check_sizes(const struct fabric_topology *t, const struct sim_settings *s,
		       struct fabric_error *e)
{
	char data[48], control[48];
	uint64_t most = s->ack_bytes;

	if (!s->echo && s->cnp_bytes > most)
		most = s->cnp_bytes;
	snprintf(data, sizeof(data), "packets of %u + %u", s->mtu, s->header);
	snprintf(control, sizeof(control), "%s of %u", most > s->ack_bytes ? "CNPs" : "ACKs",
		 (unsigned)most);
	for (uint32_t i = 0; i < t->n_links; i++) {
		if (s->mtu + s->header > t->links[i].settings.mtu)
			return refuse_link(t, &t->links[i], data, e);
		if (most > t->links[i].settings.mtu)
			return refuse_link(t, &t->links[i], control, e);
	}
	return 0;
}

int sim_create(struct sim **out, const struct fabric_topology *t, const struct sim_settings *set,
	       uint64_t seed, struct fabric_error *e)
{
	static const struct fabric_ops ops = {
		.deliver = deliver, .ready = ready, .timer = timer, .soon = soon};
	struct fabric_start start = {.topology = t,
				     .seed = seed,
				     .timers = t->n_hosts * HOST_TIMERS + SIM_TIMERS,
				     .ops = &ops};
	struct sim *s = calloc(1, sizeof(*s));
	int status = check_sizes(t, set, e);

	if (!s)
		return -ENOMEM;
	s->topology = t;
	s->settings = *set;
	s->hosts = calloc(t->n_hosts, sizeof(*s->hosts));
	s->host_nodes = calloc(t->n_hosts, sizeof(*s->host_nodes));
	s->path = calloc(fabric_path_max(t), sizeof(*s->path));
	if (status == 0 && (!s->hosts || !s->host_nodes || !s->path))
		status = -ENOMEM;
	for (uint32_t i = 0; i < t->n_nodes && status == 0; i++)
		if (!t->nodes[i].is_switch)
			s->host_nodes[t->nodes[i].index] = i;
	start.user = s;
	if (status == 0)
		status = fabric_create(&s->fabric, &start, e);
	if (status < 0)
		sim_destroy(s);
	else
		*out = s;
	return status;
}

void sim_destroy(struct sim *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		free(sim_at(s, i)->bits);
	for (uint32_t i = 0; i < s->size / SIM_CHUNK; i++)
		free(s->chunks[i]);
	for (uint32_t i = 0; s->hosts && i < s->topology->n_hosts; i++)
		fabric_events_fini(&s->hosts[i].paced);
	free(s->hosts);
	free(s->host_nodes);
	free(s->path);
	free(s->chunks);
	free(s->positions);
	fabric_destroy(s->fabric);
	free(s);
}

/* The arrays that all connections have a place in. Queues of hosts point into one of them. */
static int grow(struct sim *s)
{
	const uint32_t size = s->size ? 2 * s->size : SIM_CHUNK, old = s->size / SIM_CHUNK;
	struct sim_connection **chunks;
	uint32_t *positions;

	if (size > FABRIC_SLOTS_MAX)
		return -ENOMEM;
	chunks = realloc(s->chunks, size / SIM_CHUNK * sizeof(*chunks));
	if (!chunks)
		return -ENOMEM;
	memset(chunks + old, 0, (size / SIM_CHUNK - old) * sizeof(*chunks));
	s->chunks = chunks;
	positions = realloc(s->positions, size * sizeof(*positions));
	if (!positions)
		return -ENOMEM;
	memset(positions + s->size, 0, (size - s->size) * sizeof(*positions));
	s->positions = positions;
	s->size = size;
	for (uint32_t i = 0; i < s->topology->n_hosts; i++)
		s->hosts[i].paced.position = positions;
	return 0;
}

/* For the next connection, unless it is there already. */
static int add_chunk(struct sim *s)
{
	struct sim_connection **chunk = &s->chunks[s->n / SIM_CHUNK];
	const size_t size = SIM_CHUNK * sizeof(**chunk);

	if (*chunk)
		return 0;
	*chunk = aligned_alloc(_Alignof(struct sim_connection), size);
	if (!*chunk)
		return -ENOMEM;
	memset(*chunk, 0, size);
	return 0;
}

static struct sim_connection *allocate(struct sim *s)
{
	struct sim_connection *c = s->unused;

	if (c) {
		s->unused = c->next_ready;
		return c;
	}
	if (s->n == s->size && grow(s) < 0)
		return NULL;
	if (add_chunk(s) < 0)
		return NULL;
	c = sim_at(s, s->n);
	if (s->settings.retransmit == SIM_SELECTIVE) {
		c->bits = calloc(2 * SIM_BITS / 64, sizeof(*c->bits));
		if (!c->bits)
			return NULL;
	}
	c->number = s->n++;
	return c;
}

/* ps of the way there for a full packet, and of the way back for an ACK. */
static uint64_t way(const struct sim *s, const struct sim_connection *c, bool back, uint64_t bytes)
{
	const uint32_t ends[2] = {back ? c->dst : c->src, back ? c->src : c->dst};
	const uint32_t *links = s->path;
	const unsigned n = fabric_path(s->fabric, ends, back ? ~c->key : c->key, s->path,
				       fabric_path_max(s->topology));
	uint64_t time = 0;

	for (unsigned i = 0; i < n; i++) {
		const struct fabric_link_settings *l = &s->topology->links[links[i]].settings;

		time += l->delay + (bytes + l->gap) * UINT64_C(8000000000000) / l->rate;
	}
	return time;
}

/* Each of the host's connections may wait for its rate at once. */
static int reserve_paced(struct sim_host *h)
{
	const uint32_t needed = h->connections + 1, size = h->paced.size;

	return fabric_events_reserve(&h->paced, needed <= size ? size : 2 * needed);
}

struct sim_connection *sim_open(struct sim *s, uint32_t src, uint32_t dst, uint16_t sport,
				uint64_t now)
{
	struct sim_host *h = &s->hosts[src];
	struct sim_connection *c = allocate(s);
	struct sim_connection old;

	if (!c || reserve_paced(h) < 0)
		return NULL;
	h->connections++;
	old = *c;
	/* PSNs go on, so that what is still under way for the place's last owner is too old. */
	*c = (struct sim_connection){.number = old.number,
				     .src = src,
				     .dst = dst,
				     .key = fabric_flow_key(src, dst, sport),
				     .first = old.end,
				     .end = old.end,
				     .una = old.end,
				     .next = old.end,
				     .highest = old.end,
				     .asked = old.end,
				     .sacked = old.end,
				     .expected = old.end,
				     .bits = old.bits};
	if (c->bits)
		memset(c->bits, 0, 2 * SIM_BITS / 8);
	c->cc.line_rate = fabric_host_rate(s->fabric, src);
	c->cc.packet = s->settings.mtu + s->settings.header;
	c->cc.base_rtt =
		to_ns(way(s, c, false, c->cc.packet) + way(s, c, true, s->settings.ack_bytes));
	cc_start(&c->cc, &s->settings.cc, to_ns(now));
	return c;
}

void sim_close(struct sim *s, struct sim_connection *c)
{
	struct sim_host *h = host_of(s, c);

	fabric_events_set(&h->paced, c->number, FABRIC_NEVER);
	c->closed = c->ready; /* then it is closed when its turn comes */
	if (c->ready)
		return;
	h->connections--;
	c->next_ready = s->unused;
	s->unused = c;
}

void sim_message(struct sim *s, struct sim_connection *c, uint64_t bytes, uint64_t now)
{
	c->bytes = bytes;
	c->active = true;
	c->began = now;
	if (!c->delivered && !c->last_done)
		c->first_began = now;
	c->first = c->end;
	c->end = c->first + (uint32_t)((bytes + s->settings.mtu - 1) / s->settings.mtu);
	send_schedule(s, c, now);
	send_pump(s, c->src, now);
}

/*
 * The slowest link sends all packets, the first of those that are equally slow. Before it comes the
 * first packet. Behind it comes the last one, or where a link is as slow, the one before the last,
 * for which the last one waits.
 */
uint64_t sim_ideal(const struct sim *s, const struct sim_connection *c, uint64_t bytes)
{
	const uint64_t mtu = s->settings.mtu, header = s->settings.header;
	const uint64_t packets = (bytes + mtu - 1) / mtu,
		       last = bytes - (packets - 1) * mtu + header;
	const uint64_t first = packets > 1 ? mtu + header : last;
	const uint32_t ends[2] = {c->src, c->dst};
	/* Before the path is looked up: both use the same array. */
	uint64_t time = way(s, c, true, s->settings.ack_bytes);
	const uint32_t *links = s->path;
	const unsigned n =
		fabric_path(s->fabric, ends, c->key, s->path, fabric_path_max(s->topology));
	unsigned slowest = 0;

	for (unsigned i = 1; i < n; i++)
		if (s->topology->links[links[i]].settings.rate <
		    s->topology->links[links[slowest]].settings.rate)
			slowest = i;
	for (unsigned i = 0; i < n; i++) {
		const struct fabric_link_settings *l = &s->topology->links[links[i]].settings;
		const bool waits =
			i < slowest || l->rate == s->topology->links[links[slowest]].settings.rate;
		uint64_t sent = (waits ? first : last) + l->gap;

		if (i == slowest)
			sent = bytes + packets * (header + l->gap);
		time += l->delay +
			(uint64_t)((unsigned __int128)sent * UINT64_C(8000000000000) / l->rate);
	}
	return time;
}
