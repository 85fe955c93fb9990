/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rdma_cm ids of a daemon, for who looks at it; see ucma.h.
 */
#include "emu/io/capture/captures.h"
#include "ucma_file.h"

#include <stdio.h>

static const char *const state_name[] = {
	[UCMA_IDLE] = "idle",
	[UCMA_BOUND] = "bound",
	[UCMA_ADDR_RESOLVED] = "addr_resolved",
	[UCMA_ROUTE_RESOLVED] = "route_resolved",
	[UCMA_LISTENING] = "listening",
	[UCMA_CONNECTING] = "connected", /* or on its way there */
};

static const char *space_name(uint16_t ps)
{
	switch (ps) {
	case RDMA_PS_TCP:
		return "tcp";
	case RDMA_PS_UDP:
		return "udp";
	case RDMA_PS_IPOIB:
		return "ipoib";
	case RDMA_PS_IB:
		return "ib";
	default:
		return "unknown";
	}
}

/* IPv6 in brackets, as it always is in front of a port. */
static void format(const struct ucma_addr *a, char out[IO_UCMA_TEXT])
{
	char text[IO_ADDRESS_TEXT];

	if (a->family == 0)
		snprintf(out, IO_UCMA_TEXT, "none");
	else if (a->family == AF_IB)
		snprintf(out, IO_UCMA_TEXT, "[%s]:sid=0x%016llx", io_address_format(a->gid, text),
			 (unsigned long long)a->sid);
	else
		snprintf(out, IO_UCMA_TEXT, roce_addr_is_v4(a->gid) ? "%s:%u" : "[%s]:%u",
			 io_address_format(a->gid, text), a->port);
}

/* ---- events that nobody has read ---- */

static const char *event_name(uint32_t event)
{
	static const char *const name[] = {
		"ADDR_RESOLVED",   "ADDR_ERROR",       "ROUTE_RESOLVED", "ROUTE_ERROR",
		"CONNECT_REQUEST", "CONNECT_RESPONSE", "CONNECT_ERROR",  "UNREACHABLE",
		"REJECTED",        "ESTABLISHED",      "DISCONNECTED",   "DEVICE_REMOVAL",
		"MULTICAST_JOIN",  "MULTICAST_ERROR",  "ADDR_CHANGE",    "TIMEWAIT_EXIT"};

	return event < sizeof(name) / sizeof(name[0]) ? name[event] : "another";
}

/* Those that may be read, and the first of them; NULL: there are none. */
static const struct ucma_event *unread(const struct ucma_id *id, unsigned *n, unsigned *held)
{
	const struct ucma_event *e, *first = NULL;

	*n = *held = 0;
	TAILQ_FOREACH(e, &id->events, of_id)
	{
		if (e->held) {
			++*held;
			continue;
		}
		first = first ? first : e;
		++*n;
	}
	return first;
}

/* ---- the table ---- */

static const char *step_of(const struct ucma_id *id)
{
	if (id->request)
		return "request_unread";
	return id->cm ? core_cm_step_name(core_cm_step(id->cm)) : NULL;
}

static void show(const struct ucma_id *id, io_ucma_visitor visit, void *arg)
{
	struct io_ucma_view v = {
		.id = id->slot,
		.device = id->dev ? id->dev->id.name : NULL,
		.space = space_name(id->ps),
		.state = state_name[id->state],
		.port = id->src.family == AF_IB ? 0 : id->src.port,
		.pid = id->file->owner ? id->file->owner->pid : 0,
		.step = step_of(id),
		.qpn = id->cm ? core_cm_qpn(id->cm) : 0,
		.room = id->state == UCMA_LISTENING ? id->backlog : 0,
	};
	unsigned held;
	const struct ucma_event *first = unread(id, &v.unread, &held);

	v.event = first ? event_name(first->resp.event) : NULL;
	format(&id->src, v.src);
	format(&id->dst, v.dst);
	visit(arg, &v);
}

bool io_ucma_visit(const struct io_ucma *u, uint32_t *next, uint32_t numbers, io_ucma_visitor visit,
		   void *arg)
{
	for (; numbers > 0 && *next < u->numbers.used_once; numbers--, (*next)++) {
		const struct ucma_id *id = u->numbers.slot[*next];

		if (id && !id->is_mcast && id->file != u->grave && !id->file->ending)
			show(id, visit, arg);
	}
	return *next < u->numbers.used_once;
}

/* ---- how things stand ---- */

static void stand_id(const struct ucma_file *f, const struct ucma_id *id,
		     const struct io_stand_sink *sink)
{
	unsigned n, held;
	const struct ucma_event *first = unread(id, &n, &held);
	struct io_words w;

	if (n + held == 0)
		return;
	io_words_begin(&w, "stands");
	if (id->dev)
		io_words_text(&w, "dev", id->dev->id.name);
	io_words_number(&w, "cm_id", id->slot);
	if (f->owner)
		io_words_number(&w, "pid", (uint64_t)f->owner->pid);
	io_words_text(&w, "state", state_name[id->state]);
	if (id->src.family != AF_IB)
		io_words_number(&w, "port", id->src.port);
	io_words_number(&w, "unread", n);
	io_words_number(&w, "held", held);
	if (first)
		io_words_text(&w, "event", event_name(first->resp.event));
	sink->put(sink->arg, &w);
}

void io_ucma_stand(void *ucma, const struct io_stand_sink *sink)
{
	const struct io_ucma *u = ucma;
	const struct ucma_file *f;
	const struct ucma_id *id;
	unsigned n = 0;

	TAILQ_FOREACH(f, &u->files, link)
	LIST_FOREACH(id, &f->ids, of_file)
	if (n++ < IO_STAND_MOST)
		stand_id(f, id, sink);
}
