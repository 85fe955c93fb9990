/* SPDX-License-Identifier: BSD-2-Clause */
/* Processors of nodes, as sysfs has them. */
#include "cpus.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has(const struct io_cpus *c, unsigned i)
{
	return c->word[i / 32] >> i % 32 & 1;
}

static void add(struct io_cpus *c, unsigned i)
{
	c->word[i / 32] |= 1u << i % 32;
}

void io_cpus_parse(const char *list, struct io_cpus *out)
{
	memset(out, 0, sizeof(*out));
	while (*list >= '0' && *list <= '9') {
		char *end;
		unsigned long first = strtoul(list, &end, 10), last = first;

		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		for (; first <= last && first < IO_CPUS_MOST; first++)
			add(out, (unsigned)first);
		list = *end == ',' ? end + 1 : end;
	}
}

const char *io_cpus_list(const struct io_cpus *c, char out[IO_CPUS_TEXT])
{
	size_t n = 0;

	out[0] = '\0';
	for (unsigned i = 0; i < IO_CPUS_MOST && n < IO_CPUS_TEXT; i++) {
		unsigned last = i;

		if (!has(c, i))
			continue;
		while (last + 1 < IO_CPUS_MOST && has(c, last + 1))
			last++;
		n += (size_t)snprintf(out + n, IO_CPUS_TEXT - n, last > i ? "%s%u-%u" : "%s%u",
				      n ? "," : "", i, last);
		i = last;
	}
	return out;
}

const char *io_cpus_mask(const struct io_cpus *c, const struct io_cpus *wide,
			 char out[IO_CPUS_TEXT])
{
	unsigned words = IO_CPUS_MOST / 32;
	size_t n = 0;

	while (words > 1 && !wide->word[words - 1] && !c->word[words - 1])
		words--;
	while (words-- > 0)
		n += (size_t)snprintf(out + n, IO_CPUS_TEXT - n, "%08x%s", c->word[words],
				      words ? "," : "");
	return out;
}

void io_cpus_online(struct io_cpus *out)
{
	FILE *f = fopen("/sys/devices/system/cpu/online", "re");
	char text[256] = "";

	if (!f || !fgets(text, sizeof(text), f))
		text[0] = '\0';
	if (f)
		fclose(f);
	io_cpus_parse(text[0] ? text : "0", out);
}

/* Number "place" of so many shares, which follow each other. */
static void share(unsigned place, unsigned shares, struct io_cpus *out)
{
	struct io_cpus online;
	unsigned n = 0, k = 0;

	io_cpus_online(&online);
	memset(out, 0, sizeof(*out));
	for (unsigned i = 0; i < IO_CPUS_MOST; i++)
		n += has(&online, i);
	for (unsigned i = 0; i < IO_CPUS_MOST; i++)
		if (has(&online, i) && k++ * shares / n == place)
			add(out, i);
}

void io_cpus_of_node(const struct machine *m, int node, struct io_cpus *out)
{
	for (unsigned i = 0; i < m->n_nodes; i++) {
		if (m->node[i].number != node)
			continue;
		if (m->node[i].cpus[0])
			io_cpus_parse(m->node[i].cpus, out);
		else
			share(i, m->n_nodes, out);
		return;
	}
	io_cpus_online(out);
}

void io_cpus_all(const struct machine *m, struct io_cpus *out)
{
	struct io_cpus one;

	io_cpus_online(out);
	for (unsigned i = 0; i < m->n_nodes; i++) {
		io_cpus_of_node(m, m->node[i].number, &one);
		for (unsigned w = 0; w < IO_CPUS_MOST / 32; w++)
			out->word[w] |= one.word[w];
	}
}
