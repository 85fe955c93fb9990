/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For tests that hurt a real daemon by rules and look at what a program sees of it (run below
 * uhca-run --private --devices 2): a verbs_world, the control connection, rules, and a count of
 * the device's objects that must be the same before and after.
 */
#ifndef TESTS_SUPPORT_FAULTY_H
#define TESTS_SUPPORT_FAULTY_H

#include "verbs_world.h"

#include <stdbool.h>
#include <stdint.h>
#include <uhcactl.h>

#define FAULTY_DEADLINE (WORLD_LIMIT * 1000) /* ms */

/* For cmocka: *state becomes a world; afterwards no object may be left that was not there. */
int faulty_setup(void **state);
int faulty_teardown(void **state);

struct uhcactl *faulty_ctl(void);

/* The rule's number; fails the test when it is refused. */
int faulty_add(const char *rule);

/* It has fired so often, exactly; and goes. */
void faulty_end(int rule, uint64_t hits);

/* Objects of this kind in the daemon ("qp", "client", ...). */
unsigned faulty_count(const char *kind);

/* Waits until there are so many. */
void faulty_wait_count(const char *kind, unsigned n);

/* The next asynchronous event of the context, acknowledged; fails when none comes. */
struct ibv_async_event faulty_event(struct ibv_context *ctx);

/* None is there. */
bool faulty_quiet(struct ibv_context *ctx);

/* Milliseconds of a monotonic clock. */
uint64_t faulty_now(void);

#endif
