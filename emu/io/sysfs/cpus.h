/* SPDX-License-Identifier: BSD-2-Clause */
/* Sets of processors, in the two forms that sysfs has for them. */
#ifndef IO_CPUS_H
#define IO_CPUS_H

#include "emu/machine/machine.h"

#include <stdint.h>

#define IO_CPUS_MOST 1024

struct io_cpus {
	uint32_t word[IO_CPUS_MOST / 32];
};

/* The list "0-51,104-155"; what is beyond the most is left out. */
void io_cpus_parse(const char *list, struct io_cpus *out);

/* "0-51,104-155", and "00000000,000fffff,ffffffff" in as many words as "wide" needs. */
#define IO_CPUS_TEXT 512
const char *io_cpus_list(const struct io_cpus *c, char out[IO_CPUS_TEXT]);
const char *io_cpus_mask(const struct io_cpus *c, const struct io_cpus *wide,
			 char out[IO_CPUS_TEXT]);

/* Those of the host that are online. */
void io_cpus_online(struct io_cpus *out);

/* Those of a node of the machine: as described, or its share of those online; with no node all. */
void io_cpus_of_node(const struct machine *m, int node, struct io_cpus *out);

/* All of all nodes and those online: how wide a mask is. */
void io_cpus_all(const struct machine *m, struct io_cpus *out);

#endif
