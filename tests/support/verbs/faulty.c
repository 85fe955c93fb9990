/* SPDX-License-Identifier: BSD-2-Clause */
#include "faulty.h"

#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct uhcactl *ctl;
static struct uhcactl_error error;

static const char *const kinds[] = {"client", "pd", "mr", "mw", "cq", "qp", "srq", "ah"};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))
static unsigned before[KINDS];

struct uhcactl *faulty_ctl(void)
{
	return ctl;
}

unsigned faulty_count(const char *kind)
{
	char command[512], line[512];
	unsigned n = 0;
	FILE *f;

	snprintf(command, sizeof(command), "'%s/uhcactl' show %s", getenv("UHCA_BUILDDIR"), kind);
	f = popen(command, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		n++;
	assert_int_equal(pclose(f), 0);
	return n ? n - 1 : 0; /* the headline */
}

uint64_t faulty_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

void faulty_wait_count(const char *kind, unsigned n)
{
	uint64_t end = faulty_now() + FAULTY_DEADLINE;

	while (faulty_count(kind) != n)
		if (faulty_now() > end)
			fail_msg("%u of %s, not %u", faulty_count(kind), kind, n);
}

int faulty_setup(void **state)
{
	ctl = uhcactl_open(NULL, &error);
	if (!ctl)
		fail_msg("%s", error.text);
	for (unsigned i = 0; i < KINDS; i++)
		before[i] = faulty_count(kinds[i]);
	return world_setup(state);
}

int faulty_teardown(void **state)
{
	assert_true(uhcactl_fault_clear(ctl, NULL) >= 0);
	assert_int_equal(world_teardown(state), 0);
	for (unsigned i = 0; i < KINDS; i++)
		faulty_wait_count(kinds[i], before[i]);
	uhcactl_close(ctl);
	return 0;
}

int faulty_add(const char *rule)
{
	int number = uhcactl_fault_add(ctl, rule, &error);

	if (number <= 0)
		fail_msg("%s: column %u: %s", rule, error.column, error.text);
	return number;
}

void faulty_end(int rule, uint64_t hits)
{
	if (uhcactl_fault_wait(ctl, rule, hits, FAULTY_DEADLINE, &error) < 0)
		fail_msg("rule %d: %s", rule, error.text);
	assert_int_equal(uhcactl_fault_hits(ctl, rule, NULL), hits);
	assert_true(uhcactl_fault_remove(ctl, rule, &error) >= 0);
}

struct ibv_async_event faulty_event(struct ibv_context *ctx)
{
	struct pollfd p = {.fd = ctx->async_fd, .events = POLLIN};
	struct ibv_async_event e;

	assert_int_equal(poll(&p, 1, FAULTY_DEADLINE), 1);
	assert_int_equal(ibv_get_async_event(ctx, &e), 0);
	ibv_ack_async_event(&e);
	return e;
}

bool faulty_quiet(struct ibv_context *ctx)
{
	struct pollfd p = {.fd = ctx->async_fd, .events = POLLIN};

	return poll(&p, 1, 0) == 0;
}
