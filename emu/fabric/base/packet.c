/* SPDX-License-Identifier: BSD-2-Clause */
/* The store of packets: see packet.h. */
#include "packet.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#define FIRST_CHUNK 1024u
#define LINE        64u

static_assert(sizeof(struct fabric_packet) == LINE, "a line of the cache");

struct fabric_chunk {
	struct fabric_chunk *next;
	_Alignas(LINE) struct fabric_packet packet[];
};

void fabric_store_init(struct fabric_store *s)
{
	*s = (struct fabric_store){0};
}

void fabric_store_fini(struct fabric_store *s)
{
	while (s->chunks) {
		struct fabric_chunk *c = s->chunks;

		s->chunks = c->next;
		free(c);
	}
}

int fabric_store_grow(struct fabric_store *s)
{
	const uint32_t n = s->total ? s->total : FIRST_CHUNK;
	struct fabric_chunk *c = aligned_alloc(LINE, sizeof(*c) + n * sizeof(c->packet[0]));

	if (!c)
		return -ENOMEM;
	c->next = s->chunks;
	s->chunks = c;
	s->total += n;
	for (uint32_t i = n; i-- > 0;)
		fabric_store_put(s, &c->packet[i]);
	return 0;
}
