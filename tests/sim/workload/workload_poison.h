/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests of a random workload that must fail, each with the status that its mistake has, and end
 * its connection: what was posted before them is done, what was posted behind them is flushed, and
 * memory that they name is not touched. Internal to workload*.c.
 */
#ifndef SIM_WORKLOAD_POISON_H
#define SIM_WORKLOAD_POISON_H

struct workload;
struct workload_end;

/* Posts one at a connected reliable end, where there is room for it. */
void workload_poison(struct workload *l, struct workload_end *e);

#endif
