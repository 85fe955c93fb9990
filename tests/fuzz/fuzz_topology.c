/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any text as a network, and as the name of a generated one: it is taken, or refused with a line
 * and a column that are in it. What is taken is printed and read again as the same, and if it is
 * small packets go through it.
 */
#include "fuzz.h"

#include "emu/fabric/net/fabric.h"

#include <errno.h>
#include <string.h>

/* A short text may ask for 250000 nodes. */
const unsigned long fuzz_runs = 3000;

#define HOSTS_MAX 64u

static struct fabric *net;

static void deliver(void *user, uint32_t host, struct fabric_packet *p, uint64_t now)
{
	(void)user;
	(void)now;
	FUZZ_CHECK(p->dst == host);
	fabric_packet_put(net, p);
}

static void ready(void *user, uint32_t host, uint64_t now)
{
	(void)user;
	(void)host;
	(void)now;
}

static void timer(void *user, uint32_t number, uint64_t now)
{
	(void)user;
	(void)number;
	(void)now;
}

static void send_packets(const struct fabric_topology *t)
{
	static const struct fabric_ops ops = {.deliver = deliver, .ready = ready, .timer = timer};
	const struct fabric_start how = {t, 1, 0, &ops, NULL};
	struct fabric_counters c;
	struct fabric_error e;
	uint64_t sent = 0;

	if (t->n_hosts > HOSTS_MAX || t->n_nodes > 2 * HOSTS_MAX ||
	    fabric_create(&net, &how, &e) < 0)
		return;
	for (uint32_t i = 0; i < 4 * t->n_hosts; i++, sent++) {
		struct fabric_packet *p = fabric_packet_get(net);

		*p = (struct fabric_packet){.src = i % t->n_hosts,
					    .dst = (i + 1) % t->n_hosts,
					    .bytes = 64 + i,
					    .class = i % FABRIC_CLASSES,
					    .ecn = FABRIC_ECT};
		fabric_send(net, p->src, p, 0);
	}
	fabric_run(net, FABRIC_NEVER - 1);
	fabric_count(net, 0, &c);
	for (unsigned d = 0; d < FABRIC_DROPS; d++)
		sent -= c.dropped[d];
	FUZZ_CHECK(sent == c.delivered);
	fabric_destroy(net);
}

static char *printed(const struct fabric_topology *t)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	FUZZ_CHECK(out);
	fabric_topology_print(t, out);
	FUZZ_CHECK(fclose(out) == 0);
	return text;
}

static void check_again(const struct fabric_topology *t)
{
	struct fabric_topology again;
	struct fabric_error e;
	char *first, *second;

	if (t->n_links > 4096)
		return;
	first = printed(t);
	fabric_topology_init(&again);
	FUZZ_CHECK(fabric_topology_parse(&again, first, &e) == 0);
	second = printed(&again);
	FUZZ_CHECK(strcmp(first, second) == 0);
	free(first);
	free(second);
	fabric_topology_fini(&again);
}

static void check_error(const char *text, const struct fabric_error *e)
{
	const char *line = text;

	FUZZ_CHECK(e->text[0] && memchr(e->text, '\0', sizeof(e->text)));
	for (unsigned i = 1; i < e->line; i++) {
		line = strchr(line, '\n');
		FUZZ_CHECK(line);
		line++;
	}
	FUZZ_CHECK(e->column >= 1 && e->column <= strlen(line) + 1);
}

static void check_text(const char *text, bool generator)
{
	struct fabric_topology t;
	struct fabric_error e;
	int status;

	memset(&e, 'x', sizeof(e));
	fabric_topology_init(&t);
	status = generator ? fabric_topology_generate(&t, text, &e)
			   : fabric_topology_parse(&t, text, &e);
	FUZZ_CHECK(status == 0 || status == -EINVAL);
	if (status == 0) {
		check_again(&t);
		send_packets(&t);
	} else {
		check_error(text, &e);
	}
	fabric_topology_fini(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	FUZZ_CHECK(text);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	check_text(text, false);
	check_text(text, true);
	free(text);
	return 0;
}
