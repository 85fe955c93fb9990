/* SPDX-License-Identifier: BSD-2-Clause */
/* See numa.h. Each node has an equal share of the host's memory. */
#include "numa.h"

#include "cpus.h"

#include <stdio.h>
#include <sys/sysinfo.h>

#define NEAR 10 /* distances as the ACPI table of them has them */
#define FAR  21

static void put_memory(struct sysfs_tree *t, const struct machine *m, int node)
{
	struct sysinfo host = {.mem_unit = 1};
	unsigned long long total, left;

	sysinfo(&host);
	total = (unsigned long long)host.totalram * host.mem_unit / 1024 / m->n_nodes;
	left = (unsigned long long)host.freeram * host.mem_unit / 1024 / m->n_nodes;
	sysfs_write(t, "meminfo",
		    "Node %d MemTotal:       %llu kB\nNode %d MemFree:        %llu kB\n"
		    "Node %d MemUsed:        %llu kB",
		    node, total, node, left, node, total - left);
}

static void put_distances(struct sysfs_tree *t, const struct machine *m, unsigned of)
{
	char text[MACHINE_NODES * 3 + 1];
	size_t n = 0;

	for (unsigned i = 0; i < m->n_nodes; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%d", i ? " " : "",
				      i == of ? NEAR : FAR);
	sysfs_write(t, "distance", "%s", text);
}

static void put_node(struct sysfs_tree *t, const struct machine *m, unsigned i,
		     const struct io_cpus *all)
{
	char text[IO_CPUS_TEXT];
	struct io_cpus own;

	io_cpus_of_node(m, m->node[i].number, &own);
	sysfs_base(t, "sys/devices/system/node/node%d", m->node[i].number);
	sysfs_write(t, "cpulist", "%s", io_cpus_list(&own, text));
	sysfs_write(t, "cpumap", "%s", io_cpus_mask(&own, all, text));
	put_memory(t, m, m->node[i].number);
	put_distances(t, m, i);
}

/* The numbers of nodes are a list as those of processors are. */
static void put_lists(struct sysfs_tree *t, const struct machine *m)
{
	static const char *const names[] = {"online", "possible", "has_cpu", "has_memory",
					    "has_normal_memory"};
	struct io_cpus nodes = {{0}};
	char text[IO_CPUS_TEXT];

	for (unsigned i = 0; i < m->n_nodes; i++)
		nodes.word[m->node[i].number / 32] |= 1u << m->node[i].number % 32;
	sysfs_base(t, "sys/devices/system/node");
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		sysfs_write(t, names[i], "%s", io_cpus_list(&nodes, text));
}

void sysfs_numa_make(struct sysfs_tree *t, const struct machine *m)
{
	struct io_cpus all;

	io_cpus_all(m, &all);
	for (unsigned i = 0; i < m->n_nodes; i++)
		put_node(t, m, i, &all);
	if (m->n_nodes > 0)
		put_lists(t, m);
}
