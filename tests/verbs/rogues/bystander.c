/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bystander FILE: sends itself messages of every length up to 8 KiB, 200 a second, and
 * looks at what arrives, while others misbehave towards the daemon. FILE always says how many came,
 * and how long the longest was under way (us). A wrong byte, or a message that takes longer than
 * BYSTANDER_LIMIT seconds, ends it with status 1; SIGTERM ends it with 0.
 */
#include "rig.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BYSTANDER_LIMIT 20
#define LONGEST         8192u

static volatile sig_atomic_t ended;

static void end(int number)
{
	(void)number;
	ended = 1;
}

static uint8_t byte_of(unsigned round, uint32_t i)
{
	return (uint8_t)(round * 31 + i * 7 + (i >> 8));
}

/* One message from one half of the memory to the other. Returns seconds. */
static double pass(struct rig *rig, struct ibv_qp *const qp[2], unsigned round)
{
	const uint32_t length = 1 + round * 37 % LONGEST;
	double begin;

	for (uint32_t i = 0; i < length; i++)
		rig->buf[i] = byte_of(round, i);
	memset(rig->buf + LONGEST, 0x55, LONGEST);
	begin = rig_seconds();
	if (!rig_post_recv(rig, qp[1], LONGEST, LONGEST) || !rig_post_send(rig, qp[0], 0, length))
		rig_die("message %u cannot be posted", round);
	rig_expect(rig, 2, BYSTANDER_LIMIT);
	begin = rig_seconds() - begin;
	for (uint32_t i = 0; i < LONGEST; i++)
		if (rig->buf[LONGEST + i] != (i < length ? byte_of(round, i) : 0x55))
			rig_die("message %u: byte %u of %u is wrong", round, i, length);
	return begin;
}

static void tell(FILE *out, unsigned n, double longest)
{
	rewind(out);
	fprintf(out, "%10u %12.0f\n", n, longest * 1e6);
	fflush(out);
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = end};
	FILE *out = argc == 2 ? fopen(argv[1], "w") : NULL;
	double longest = 0, told = 0;
	struct ibv_qp *qp[2];
	struct rig rig;
	unsigned n = 0;

	if (!out)
		rig_die("usage: bystander FILE");
	sigaction(SIGTERM, &action, NULL);
	rig_open(&rig, 16, 2 * LONGEST);
	for (unsigned i = 0; i < 2; i++)
		qp[i] = rig_qp(&rig, NULL, NULL);
	if (!qp[0] || !qp[1])
		rig_die("no queue pair");
	rig_connect(&rig, qp[0], qp[1]->qp_num);
	rig_connect(&rig, qp[1], qp[0]->qp_num);
	while (!ended) {
		double took = pass(&rig, qp, n++);

		if (took > longest || rig_seconds() > told + 0.1) {
			longest = took > longest ? took : longest;
			told = rig_seconds();
			tell(out, n, longest);
		}
		usleep(5000);
	}
	tell(out, n, longest);
	ibv_destroy_qp(qp[0]);
	ibv_destroy_qp(qp[1]);
	rig_close(&rig);
	return fclose(out) != 0;
}
