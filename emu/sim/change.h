/* SPDX-License-Identifier: BSD-2-Clause */
/* What goes wrong during a simulation (failure.h), at its time: "2ms down leaf0 spine1". */
#ifndef SIM_CHANGE_H
#define SIM_CHANGE_H

#include "emu/fabric/failure/failure.h"
#include "emu/sim/host/host.h"

#define SIM_CHANGES_MAX 64u

struct change {
	uint64_t time; /* ps */
	struct fabric_failure failure;
};

/* Reads one. 0 or -EINVAL, said in e. */
int change_read(struct change *c, const char *text, const struct fabric_topology *t,
		struct fabric_error *e);

/* In the order of time. */
void change_sort(struct change *c, unsigned n);

/* It happens. True: routes have to be made again. */
bool change_apply(const struct change *c, struct sim *s, uint64_t now);

#endif
