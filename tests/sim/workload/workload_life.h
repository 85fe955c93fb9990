/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connections of a random workload that end while data flows, and begin anew: by way of ERR with
 * every request flushed, by RESET, or with a QP that is destroyed and made again, under another
 * number or the same. Internal to workload*.c.
 */
#ifndef SIM_WORKLOAD_LIFE_H
#define SIM_WORKLOAD_LIFE_H

#include <stdbool.h>

struct workload;
struct workload_end;

/* The end may be taken down once more. */
bool workload_may_restart(const struct workload *l, const struct workload_end *e);

/* Takes the end and its peer down, whatever is under way, and connects them again. */
void workload_restart(struct workload *l, struct workload_end *e);

#endif
