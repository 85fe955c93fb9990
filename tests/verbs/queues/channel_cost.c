/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * channel_cost [CQS]: what CQs with a completion channel of their own cost, by the number of them:
 * microseconds of each call, and of the daemon's processor time for all four, when 256 are made and
 * destroyed and when CQS are (4096 unless said otherwise, or what the device and the limit of
 * descriptors allow, which it says), and the ratio. Those few are done as often as it takes to make
 * as many of them, so that a slow moment of the machine hits both alike.
 *
 * A channel is two descriptors of the program, whose limit is raised as far as it goes, and one of
 * the daemon. Prints a table and ends with 0; how fast is for the reader to judge.
 */
#include "tests/verbs/rogues/rig.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define MANY  4096u /* what one client can have (IO_CHANNELS_MAX) */
#define FEW   256u
#define SPARE 256u /* descriptors for all else */

enum { MAKE_CHANNEL, MAKE_CQ, DESTROY_CQ, DESTROY_CHANNEL, DAEMON, COSTS };

static const char *const name[COSTS] = {"ibv_create_comp_channel", "ibv_create_cq",
					"ibv_destroy_cq", "ibv_destroy_comp_channel",
					"the daemon, for all four"};

struct cost {
	double us[COSTS]; /* of all */
	unsigned n;
};

struct pair {
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
};

static double lap(double *since)
{
	double now = rig_seconds(), us = (now - *since) * 1e6;

	*since = now;
	return us;
}

static void make(struct rig *r, struct pair *p, struct cost *cost)
{
	double t = rig_seconds();

	p->channel = ibv_create_comp_channel(r->ctx);
	cost->us[MAKE_CHANNEL] += lap(&t);
	if (!p->channel)
		rig_die("no channel after %u", cost->n);
	p->cq = ibv_create_cq(r->ctx, 1, NULL, p->channel, 0);
	cost->us[MAKE_CQ] += lap(&t);
	if (!p->cq)
		rig_die("no CQ after %u", cost->n);
	cost->n++;
}

static void destroy(const struct pair *p, struct cost *cost)
{
	double t = rig_seconds();
	int error = ibv_destroy_cq(p->cq);

	cost->us[DESTROY_CQ] += lap(&t);
	if (!error)
		error = ibv_destroy_comp_channel(p->channel);
	cost->us[DESTROY_CHANNEL] += lap(&t);
	if (error)
		rig_die("cannot destroy: %s", strerror(error));
}

/* A channel ends by a close(2), and who makes the next one finds out and cleans up. */
static void clean_up(struct rig *r, struct cost *cost)
{
	double t = rig_seconds();
	struct ibv_comp_channel *next = ibv_create_comp_channel(r->ctx);

	cost->us[DESTROY_CHANNEL] += lap(&t);
	if (!next || ibv_destroy_comp_channel(next))
		rig_die("no channel, or it cannot be destroyed");
}

/* All of them are made before the first is destroyed. */
static void make_and_destroy(struct rig *r, struct pair *p, unsigned n, struct cost *cost)
{
	struct rig_daemon before, after;

	rig_daemon(&before);
	for (unsigned i = 0; i < n; i++)
		make(r, &p[i], cost);
	for (unsigned i = 0; i < n; i++)
		destroy(&p[i], cost);
	clean_up(r, cost);
	rig_daemon(&after);
	cost->us[DAEMON] += (double)(after.run_ns - before.run_ns) / 1e3;
}

static unsigned at_most(unsigned n, unsigned long long limit, const char *what)
{
	if (n <= limit)
		return n;
	printf("%llu CQs instead of %u: %s\n", limit, n, what);
	return (unsigned)limit;
}

/* What the device and the limits allow. */
static unsigned fit(struct rig *r, unsigned asked)
{
	struct ibv_device_attr device;
	struct rlimit fds;

	if (getrlimit(RLIMIT_NOFILE, &fds))
		rig_die("getrlimit");
	fds.rlim_cur = fds.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &fds) || ibv_query_device(r->ctx, &device))
		rig_die("setrlimit or ibv_query_device");
	if (fds.rlim_max < SPARE + 4)
		rig_die("%llu descriptors are too few", (unsigned long long)fds.rlim_max);
	asked = at_most(asked, (unsigned)device.max_cq - 1, "the device has no more");
	return at_most(asked, (fds.rlim_max - SPARE) / 2,
		       "the hard limit of descriptors (ulimit -Hn)");
}

static void print_table(unsigned few, const struct cost *a, unsigned many, const struct cost *b)
{
	printf("| us of each | of %u | of %u | ratio |\n|---|---:|---:|---:|\n", few, many);
	for (unsigned i = 0; i < COSTS; i++) {
		double x = a->us[i] / a->n, y = b->us[i] / b->n;

		printf("| %s | %.1f | %.1f | %.2f |\n", name[i], x, y, x > 0 ? y / x : 0);
	}
}

int main(int argc, char **argv)
{
	unsigned asked = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : MANY, many, few;
	struct cost a = {.n = 0}, b = {.n = 0};
	struct pair *p;
	struct rig r;

	if (asked < 2)
		rig_die("usage: channel_cost [CQS], 2 at least");
	rig_open(&r, 1, 4096);
	many = fit(&r, asked);
	few = many < FEW ? many : FEW;
	p = calloc(many, sizeof(*p));
	if (!p)
		rig_die("no memory");
	while (a.n < many)
		make_and_destroy(&r, p, few, &a);
	make_and_destroy(&r, p, many, &b);
	print_table(few, &a, many, &b);
	free(p);
	rig_close(&r);
	return 0;
}
