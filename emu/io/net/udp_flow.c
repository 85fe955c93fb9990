/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See udp_flow.h. A port has WAYS places where it may stand, so that a look-up touches one or
 * two cache lines however many flows there are.
 */
#include "udp_flow.h"

#include "emu/io/base/base.h"
#include "udp_socket.h"
#include "wire/packet.h"

#include <unistd.h>

#define WAYS 8
#define IDLE (1 * IO_SEC) /* younger flows are not thrown out */

_Static_assert(IO_UDP_FLOWS % WAYS == 0, "whole sets");

void io_udp_flows_init(struct io_udp_flows *f, const struct io_address *a, int fallback)
{
	f->address = *a;
	f->fallback = fallback;
	f->count = 0;
	for (unsigned i = 0; i < IO_UDP_FLOWS; i++)
		f->slot[i] = (struct io_udp_flow){.fd = -1};
}

static void drop(struct io_udp_flows *f, struct io_udp_flow *s)
{
	if (s->fd < 0)
		return;
	if (s->fd != f->fallback)
		close(s->fd);
	s->fd = -1;
	f->count--;
}

void io_udp_flows_close(struct io_udp_flows *f)
{
	for (unsigned i = 0; i < IO_UDP_FLOWS; i++)
		drop(f, &f->slot[i]);
}

/* The set in which the port may stand. */
static struct io_udp_flow *set_of(struct io_udp_flows *f, uint16_t port)
{
	uint32_t h = port * 0x9e3779b1u >> 16;

	return &f->slot[h % (IO_UDP_FLOWS / WAYS) * WAYS];
}

/* A free place, or that of the flow that was idle longest, or NULL when all are young. */
static struct io_udp_flow *make_room(struct io_udp_flows *f, struct io_udp_flow *set, uint64_t now)
{
	struct io_udp_flow *oldest = &set[0];

	for (unsigned i = 0; i < WAYS; i++) {
		if (set[i].fd < 0)
			return &set[i];
		if (set[i].used < oldest->used)
			oldest = &set[i];
	}
	if (now - oldest->used < IDLE)
		return NULL;
	drop(f, oldest);
	return oldest;
}

/* NULL when there is no room. */
static struct io_udp_flow *open_flow(struct io_udp_flows *f, uint16_t port, uint64_t now)
{
	struct io_udp_flow *s = make_room(f, set_of(f, port), now);

	if (!s)
		return NULL;
	*s = (struct io_udp_flow){.port = port, .bound = port, .used = now};
	s->fd = port == ROCE_UDP_PORT ? -1 : io_udp_socket_open_flow(&f->address, port);
	if (s->fd < 0) {
		s->fd = f->fallback;
		s->bound = ROCE_UDP_PORT;
	}
	f->count++;
	return s;
}

static struct io_udp_flow *find_flow(struct io_udp_flows *f, uint16_t port)
{
	struct io_udp_flow *set = set_of(f, port);

	for (unsigned i = 0; i < WAYS; i++)
		if (set[i].fd >= 0 && set[i].port == port)
			return &set[i];
	return NULL;
}

int io_udp_flows_get(struct io_udp_flows *f, uint16_t *port, uint64_t now)
{
	struct io_udp_flow *s = find_flow(f, *port);

	if (!s)
		s = open_flow(f, *port, now);
	if (!s) {
		*port = ROCE_UDP_PORT;
		return f->fallback;
	}
	s->used = now;
	*port = s->bound;
	return s->fd;
}
