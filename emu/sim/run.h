/* SPDX-License-Identifier: BSD-2-Clause */
/* One simulation: the parts put together, run, and reported. */
#ifndef SIM_RUN_H
#define SIM_RUN_H

#include "options.h"

#include "emu/sim/report/report.h"

/* Makes the network that the options name. 0, -EINVAL (said in error) or -ENOMEM. */
int run_topology(struct fabric_topology *t, const struct sim_options *o, char *error, size_t cap);

/*
 * Simulates. flows, series: where to write the lines for messages and samples, opened for appending
 * and emptied when the run begins; NULL: nowhere. The report, which the caller frees by
 * json_decref, or NULL, with a line in error.
 */
json_t *run_simulation(const struct sim_options *o, FILE *flows, FILE *series, char *error,
		       size_t cap);

#endif
