/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A random workload: devices, links, QPs of all types, and requests of all kinds, all drawn from
 * one seed, run against the model until everything has come. What the seed may choose can be
 * narrowed, which is how a failing seed becomes a regression test.
 */
#ifndef SIM_WORKLOAD_H
#define SIM_WORKLOAD_H

#include <stdbool.h>
#include <stdint.h>

struct workload_limits {
	uint32_t max_loss;     /* parts per million */
	uint32_t max_messages; /* per QP */
	bool no_duplicates, no_reorder;
	bool rc_only;
	bool may_restart; /* connections end while data flows, and begin anew */
	bool may_give_up; /* no bound on losses: RETRY_EXC_ERR is a legal end of a QP */
};

/* Up to 20 % loss, 24 messages per QP, all services. */
struct workload_limits workload_default(void);

/* Fails the running test (world_fail) when anything differs from the model. */
void workload_run(uint64_t seed, const struct workload_limits *limits);

#endif
