/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scale N SECONDS: many queue pairs. Makes N of them (N even), connects them in pairs, looks
 * whether the daemon sleeps with them for so many seconds, sends a message over each, and destroys
 * them. Prints times and the daemon's memory.
 *
 * scale limit: makes as many as the device says it has; one more must fail with ENOMEM, and when
 * one is destroyed there is room for one. All of them work.
 */
#include "rig.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SLOT 64u /* bytes for each QP: half to send, half to receive */

static struct rig rig;
static struct ibv_qp **qps;

static void make(unsigned n)
{
	double begin = rig_seconds(), longest = 0;

	qps = calloc(n, sizeof(struct ibv_qp *));
	for (unsigned i = 0; i < n; i++) {
		double at = rig_seconds(), took;

		qps[i] = rig_qp(&rig, NULL, NULL);
		if (!qps[i])
			rig_die("QP %u of %u", i, n);
		took = rig_seconds() - at;
		longest = took > longest ? took : longest;
	}
	printf("create: %u QPs, %.1f us each, longest %.1f us\n", n,
	       (rig_seconds() - begin) / n * 1e6, longest * 1e6);
}

static void destroy(unsigned n)
{
	double begin = rig_seconds();

	for (unsigned i = 0; i < n; i++)
		if (ibv_destroy_qp(qps[i]))
			rig_die("QP %u cannot be destroyed", i);
	printf("destroy: %.1f us each\n", (rig_seconds() - begin) / n * 1e6);
	free(qps);
}

static void connect_all(unsigned n)
{
	double begin = rig_seconds();

	for (unsigned i = 0; i < n; i++)
		rig_connect(&rig, qps[i], qps[i ^ 1]->qp_num);
	printf("connect: %.1f us each\n", (rig_seconds() - begin) / n * 1e6);
}

static void show_memory(const char *when, const struct rig_daemon *from, unsigned n)
{
	struct rig_daemon d;

	rig_daemon(&d);
	printf("%s: the daemon has %ld KiB of its own and %ld KiB shared, %ld descriptors, %ld "
	       "regions",
	       when, d.anonymous_kb, d.shared_kb, d.fds, d.regions);
	if (from)
		printf("; per QP %.1f and %.1f KiB",
		       (double)(d.anonymous_kb - from->anonymous_kb) / n,
		       (double)(d.shared_kb - from->shared_kb) / n);
	printf("\n");
}

/* Nothing was run for 300 ms: what the daemon had to finish is finished. */
static bool rests(void *arg)
{
	double *since = arg;
	static unsigned long long last;
	struct rig_daemon now;

	rig_daemon(&now);
	if (now.run_ns != last) {
		last = now.run_ns;
		*since = rig_seconds();
	}
	return rig_seconds() - *since > 0.3;
}

#define IDLE_NS 2000000ull /* in a second: less than any polling takes */

static void expect_idle(unsigned seconds)
{
	struct rig_daemon before, after;
	double since = rig_seconds();

	if (!rig_until(rests, &since, 120))
		rig_die("the daemon does not come to rest");
	rig_daemon(&before);
	sleep(seconds); /* what is measured is this time */
	rig_daemon(&after);
	printf("idle: %ld ticks, %llu ns in %u s\n", after.ticks - before.ticks,
	       after.run_ns - before.run_ns, seconds);
	/* A tick is charged to whoever runs when it comes: one short wake-up may have it. */
	if (after.run_ns ? after.run_ns - before.run_ns >= seconds * IDLE_NS
			 : after.ticks != before.ticks)
		rig_die("an idle daemon uses the processor");
}

static void fill(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		memset(rig.buf + (size_t)i * SLOT, (int)(i * 7 + 1) & 0xff, SLOT / 2);
		memset(rig.buf + (size_t)i * SLOT + SLOT / 2, 0, SLOT / 2);
	}
}

static void exchange(unsigned n)
{
	double begin = rig_seconds();

	fill(n);
	for (unsigned i = 0; i < n; i++)
		if (!rig_post_recv(&rig, qps[i], i * SLOT + SLOT / 2, SLOT / 2))
			rig_die("receive on QP %u", i);
	for (unsigned i = 0; i < n; i++)
		if (!rig_post_send(&rig, qps[i], i * SLOT, SLOT / 2))
			rig_die("send on QP %u", i);
	rig_expect(&rig, 2 * n, 120);
	for (unsigned i = 0; i < n; i++)
		if (memcmp(rig.buf + (size_t)i * SLOT + SLOT / 2, rig.buf + (size_t)(i ^ 1) * SLOT,
			   SLOT / 2) != 0)
			rig_die("QP %u received something else", i);
	printf("traffic: %u messages, %.1f us each\n", n, (rig_seconds() - begin) / n * 1e6);
}

static int many(unsigned n, unsigned seconds)
{
	struct rig_daemon before;

	if (n < 2 || n % 2)
		rig_die("an even number, please");
	rig_open(&rig, (int)(2 * n), (size_t)n * SLOT);
	rig_daemon(&before);
	show_memory("before", NULL, n);
	make(n);
	connect_all(n);
	show_memory("connected", &before, n);
	expect_idle(seconds);
	exchange(n);
	show_memory("used", &before, n);
	expect_idle(1);
	destroy(n);
	show_memory("after", NULL, n);
	rig_close(&rig);
	return 0;
}

static unsigned limit_of_device(void)
{
	struct ibv_device_attr attr;

	rig_open(&rig, 16, 4096);
	if (ibv_query_device(rig.ctx, &attr))
		rig_die("ibv_query_device");
	rig_close(&rig);
	return (unsigned)attr.max_qp;
}

static int to_the_limit(void)
{
	unsigned n = limit_of_device();

	rig_open(&rig, (int)(2 * n), (size_t)n * SLOT);
	make(n);
	show_memory("at the limit", NULL, n);
	errno = 0;
	if (rig_qp(&rig, NULL, NULL))
		rig_die("QP %u of %u was made", n + 1, n);
	if (errno != ENOMEM)
		rig_die("one more than %u fails, but not with ENOMEM", n);
	if (ibv_destroy_qp(qps[n / 2]))
		rig_die("ibv_destroy_qp");
	qps[n / 2] = rig_qp(&rig, NULL, NULL);
	if (!qps[n / 2])
		rig_die("no room again");
	connect_all(n);
	exchange(n);
	destroy(n);
	rig_close(&rig);
	return 0;
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 2 && strcmp(argv[1], "limit") == 0)
		return to_the_limit();
	if (argc == 3)
		return many((unsigned)atoi(argv[1]), (unsigned)atoi(argv[2]));
	fprintf(stderr, "usage: scale N SECONDS | scale limit\n");
	return 2;
}
