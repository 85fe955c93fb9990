/* SPDX-License-Identifier: BSD-2-Clause */
/* A network for tests, and what it delivered. */
#include "net_stage.h"

#include <string.h>

static void deliver(void *user, uint32_t host, struct fabric_packet *p, uint64_t now)
{
	struct net_stage *s = user;

	assert_true(s->n < STAGE_MAX);
	s->got[s->n++] = (struct stage_delivery){now, host, p->psn, p->src, p->class, p->ecn};
	fabric_packet_put(s->f, p);
}

static void ready(void *user, uint32_t host, uint64_t now)
{
	struct net_stage *s = user;

	if (!s->left[host])
		return;
	s->left[host]--;
	stage_send(s,
		   (struct stage_packet){.src = host,
					 .dst = s->to[host],
					 .bytes = 1000,
					 .psn = s->left[host],
					 .class = 3},
		   now);
	if (s->left[host])
		fabric_want(s->f, host, 3, now);
}

static void timer(void *user, uint32_t number, uint64_t now)
{
	(void)user;
	(void)number;
	(void)now;
}

static void start(struct net_stage *s)
{
	static const struct fabric_ops ops = {.deliver = deliver, .ready = ready, .timer = timer};
	const struct fabric_start how = {&s->topology, 1, 1, &ops, s};
	struct fabric_error e;

	if (fabric_create(&s->f, &how, &e) < 0)
		fail_msg("no network: %s", e.text);
	s->n = 0;
	memset(s->left, 0, sizeof(s->left));
}

void stage_make(struct net_stage *s, const char *text)
{
	struct fabric_error e;

	fabric_topology_init(&s->topology);
	if (fabric_topology_parse(&s->topology, text, &e) < 0)
		fail_msg("line %u, column %u: %s", e.line, e.column, e.text);
	start(s);
}

void stage_generate(struct net_stage *s, const char *text)
{
	struct fabric_error e;

	fabric_topology_init(&s->topology);
	if (fabric_topology_generate(&s->topology, text, &e) < 0)
		fail_msg("column %u: %s", e.column, e.text);
	start(s);
}

void stage_free(struct net_stage *s)
{
	fabric_destroy(s->f);
	fabric_topology_fini(&s->topology);
}

void stage_send(struct net_stage *s, struct stage_packet what, uint64_t now)
{
	struct fabric_packet *p = fabric_packet_get(s->f);

	assert_non_null(p);
	*p = (struct fabric_packet){.src = what.src,
				    .dst = what.dst,
				    .bytes = what.bytes,
				    .psn = what.psn,
				    .class = what.class,
				    .ecn = what.ecn,
				    .flow = fabric_flow_key(what.src, what.dst, what.sport)};
	fabric_send(s->f, what.src, p, now);
}

void stage_stream(struct net_stage *s, uint32_t src, uint32_t dst, uint32_t n, uint64_t now)
{
	s->left[src] = n;
	s->to[src] = dst;
	fabric_want(s->f, src, 3, now);
}

struct fabric_counters stage_counters(struct net_stage *s)
{
	struct fabric_counters c;

	fabric_count(s->f, 0, &c);
	return c;
}

unsigned stage_got(const struct net_stage *s, uint32_t host, uint32_t src)
{
	unsigned n = 0;

	for (unsigned i = 0; i < s->n; i++)
		n += s->got[i].host == host && (src == UINT32_MAX || s->got[i].src == src);
	return n;
}
