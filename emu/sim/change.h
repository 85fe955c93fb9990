/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What goes wrong during a simulation, at its time: "2ms down leaf0 spine1", "3ms up leaf0 spine1",
 * "2ms down spine1", "1ms loss h0 leaf0 1%", "1ms pause h3", "2ms resume h3".
 */
#ifndef SIM_CHANGE_H
#define SIM_CHANGE_H

#include "emu/sim/host/host.h"

#define SIM_CHANGES_MAX 64u

enum change_what { CHANGE_DOWN, CHANGE_UP, CHANGE_LOSS, CHANGE_PAUSE, CHANGE_RESUME };

struct change {
	uint64_t time; /* ps */
	enum change_what what;
	uint32_t node;
	uint32_t link; /* UINT32_MAX: the node itself */
	uint64_t loss;
};

/* Reads one. 0 or -EINVAL, said in e. */
int change_read(struct change *c, const char *text, const struct fabric_topology *t,
		struct fabric_error *e);

/* In the order of time. */
void change_sort(struct change *c, unsigned n);

/* It happens. True: routes have to be made again. */
bool change_apply(const struct change *c, struct sim *s, uint64_t now);

#endif
