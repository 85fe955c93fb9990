/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a low-latency QP is worth: round trips of 8-byte inline SENDs between two ordinary QPs and
 * between two low-latency QPs, while 1 MiB WRITEs stream between two other QPs of the same device.
 * The two kinds take turns, block by block, so that a slow moment of the machine does not hit one
 * only; which of them begins changes from turn to turn.
 *
 * A round trip begins at a random moment after the last one: one that began right when the daemon
 * had just done something would be lucky always, or never.
 *
 *   tail_latency [TURNS [ROUND-TRIPS [SEED]]]   (default: 20 turns of 1000 round trips of each)
 *
 * Prints microseconds of a whole round trip. Ends with 0; how fast is for the reader to judge.
 */
#include "tests/verbs/rogues/rig.h"

#include <infiniband/uhcadv.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DEPTH      8u
#define BYTES      8u
#define BULK       (1u << 20)
#define BULK_DEPTH 4u
#define SMALL      (2u * BULK) /* where the small messages are in the buffer */
#define WARM_UP    50u
#define DEADLINE_S 240.0
#define PAUSE_US   200.0

enum { ORDINARY, LOW_LATENCY, KINDS };

static const char *const name[KINDS] = {"ordinary", "low-latency"};

struct kind {
	struct ibv_cq *cq[2];
	struct ibv_qp *qp[2];
	double *us;
	unsigned n;
};

static struct rig rig;
static struct ibv_qp *bulk[2];
static struct ibv_cq *bulk_cq;
static unsigned long long bulk_done;
static unsigned seed;

static struct ibv_cq *new_cq(void)
{
	struct ibv_cq *cq = ibv_create_cq(rig.ctx, 4 * DEPTH, NULL, NULL, 0);

	if (!cq)
		rig_die("ibv_create_cq");
	return cq;
}

static struct ibv_qp *new_qp(struct ibv_cq *cq, uint32_t create_flags)
{
	struct uhcadv_qp_init_attr dv = {.create_flags = create_flags};
	struct ibv_qp_init_attr_ex attr = {.qp_type = IBV_QPT_RC,
					   .send_cq = cq,
					   .recv_cq = cq,
					   .cap = {DEPTH, DEPTH, 1, 1, BYTES},
					   .sq_sig_all = 1,
					   .comp_mask = IBV_QP_INIT_ATTR_PD,
					   .pd = rig.pd};
	struct ibv_qp *qp = uhcadv_create_qp(rig.ctx, &attr, &dv);

	if (!qp)
		rig_die("uhcadv_create_qp");
	return qp;
}

static void post_recv(struct ibv_qp *qp)
{
	if (!rig_post_recv(&rig, qp, SMALL, BYTES))
		rig_die("ibv_post_recv");
}

static void open_kind(struct kind *k, uint32_t create_flags, unsigned samples)
{
	for (unsigned i = 0; i < 2; i++) {
		k->cq[i] = new_cq();
		k->qp[i] = new_qp(k->cq[i], create_flags);
	}
	for (unsigned i = 0; i < 2; i++) {
		rig_connect(&rig, k->qp[i], k->qp[1 - i]->qp_num);
		for (unsigned n = 0; n < DEPTH / 2; n++)
			post_recv(k->qp[i]);
	}
	k->us = calloc(samples, sizeof(*k->us));
	if (!k->us)
		rig_die("memory");
}

static void close_kind(struct kind *k)
{
	for (unsigned i = 0; i < 2; i++)
		if (ibv_destroy_qp(k->qp[i]) || ibv_destroy_cq(k->cq[i]))
			rig_die("cannot destroy");
	free(k->us);
}

/* ---- the stream ---- */

static void bulk_post(void)
{
	struct ibv_sge sge = {(uintptr_t)rig.buf, BULK, rig.mr->lkey};
	struct ibv_send_wr *bad, wr = {.sg_list = &sge,
				       .num_sge = 1,
				       .opcode = IBV_WR_RDMA_WRITE,
				       .send_flags = IBV_SEND_SIGNALED,
				       .wr.rdma = {(uintptr_t)rig.buf + BULK, rig.mr->rkey}};

	if (ibv_post_send(bulk[0], &wr, &bad))
		rig_die("ibv_post_send of the stream");
}

/* Keeps it flowing. */
static void bulk_poll(void)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(bulk_cq, 1, &wc) == 1) {
		if (wc.status)
			rig_die("the stream failed: %s", ibv_wc_status_str(wc.status));
		bulk_done++;
		bulk_post();
	}
}

static void bulk_open(void)
{
	bulk_cq = new_cq();
	for (unsigned i = 0; i < 2; i++)
		bulk[i] = rig_qp(&rig, bulk_cq, NULL);
	if (!bulk[0] || !bulk[1])
		rig_die("queue pairs of the stream");
	for (unsigned i = 0; i < 2; i++)
		rig_connect(&rig, bulk[i], bulk[1 - i]->qp_num);
	for (unsigned i = 0; i < BULK_DEPTH; i++)
		bulk_post();
}

static void bulk_close(void)
{
	if (ibv_destroy_qp(bulk[0]) || ibv_destroy_qp(bulk[1]) || ibv_destroy_cq(bulk_cq))
		rig_die("cannot destroy");
}

/* ---- the round trips ---- */

static void post_small(struct ibv_qp *qp)
{
	struct ibv_sge sge = {(uintptr_t)rig.buf + SMALL + 64, BYTES, 0};
	struct ibv_send_wr *bad, wr = {.sg_list = &sge,
				       .num_sge = 1,
				       .opcode = IBV_WR_SEND,
				       .send_flags = IBV_SEND_INLINE};

	if (ibv_post_send(qp, &wr, &bad))
		rig_die("ibv_post_send");
}

/* One completion of that side; *sends counts those of SENDs. */
static bool take_completion(struct kind *k, unsigned side, unsigned *sends)
{
	struct ibv_wc wc;

	if (ibv_poll_cq(k->cq[side], 1, &wc) != 1)
		return false;
	if (wc.status)
		rig_die("a message failed: %s", ibv_wc_status_str(wc.status));
	*sends += wc.opcode == IBV_WC_SEND;
	return wc.opcode == IBV_WC_RECV;
}

static void wait_recv(struct kind *k, unsigned side, unsigned *sends)
{
	double end = rig_seconds() + DEADLINE_S;

	while (!take_completion(k, side, sends)) {
		bulk_poll();
		if (rig_seconds() > end)
			rig_die("a message is lost");
	}
}

static void pause_at_random(void)
{
	double us = PAUSE_US * rand_r(&seed) / RAND_MAX, end = rig_seconds() + us / 1e6;

	while (rig_seconds() < end)
		bulk_poll();
}

static double round_trip(struct kind *k)
{
	double start = rig_seconds(), us;
	unsigned sends = 0;

	post_small(k->qp[0]);
	wait_recv(k, 1, &sends);
	post_small(k->qp[1]);
	wait_recv(k, 0, &sends);
	us = 1e6 * (rig_seconds() - start);
	while (sends < 2) {
		for (unsigned i = 0; i < 2; i++)
			if (take_completion(k, i, &sends))
				rig_die("a message too many");
		bulk_poll();
		if (rig_seconds() > start + DEADLINE_S)
			rig_die("a SEND does not complete");
	}
	for (unsigned i = 0; i < 2; i++)
		post_recv(k->qp[i]);
	return us;
}

static void run(struct kind *k, unsigned trips)
{
	for (unsigned i = 0; i < WARM_UP; i++)
		round_trip(k);
	for (unsigned i = 0; i < trips; i++) {
		pause_at_random();
		k->us[k->n++] = round_trip(k);
	}
}

/* ---- the table ---- */

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static const struct {
	const char *name;
	double part;
} column[] = {{"p50", 0.5}, {"p99", 0.99}, {"p99.9", 0.999}, {"max", 1}};
#define COLUMNS (sizeof(column) / sizeof(column[0]))

static double quantile(const struct kind *k, double part)
{
	unsigned i = (unsigned)(part * k->n);

	return k->us[i < k->n ? i : k->n - 1];
}

static void print(struct kind kind[KINDS])
{
	printf("| round trip, us |");
	for (unsigned c = 0; c < COLUMNS; c++)
		printf(" %8s |", column[c].name);
	printf("\n|----------------|---------:|---------:|---------:|---------:|\n");
	for (unsigned i = 0; i < KINDS; i++) {
		qsort(kind[i].us, kind[i].n, sizeof(double), compare);
		printf("| %-14s |", name[i]);
		for (unsigned c = 0; c < COLUMNS; c++)
			printf(" %8.1f |", quantile(&kind[i], column[c].part));
		printf("\n");
	}
	printf("| %-14s |", "ratio");
	for (unsigned c = 0; c < COLUMNS; c++)
		printf(" %6.2f x |", quantile(&kind[LOW_LATENCY], column[c].part) /
					     quantile(&kind[ORDINARY], column[c].part));
	printf("\n");
}

static unsigned number(char *const *argv, int argc, int i, unsigned otherwise)
{
	long v = i < argc ? strtol(argv[i], NULL, 10) : (long)otherwise;

	if (v < 1 || v > 1000000)
		rig_die("'%s' is not a number from 1 to 1000000", argv[i]);
	return (unsigned)v;
}

int main(int argc, char **argv)
{
	unsigned turns = number(argv, argc, 1, 20), trips = number(argv, argc, 2, 1000);
	struct kind kind[KINDS] = {0};
	double start;

	rig_open(&rig, 4, SMALL + 4096);
	open_kind(&kind[ORDINARY], 0, turns * trips);
	open_kind(&kind[LOW_LATENCY], UHCADV_QP_LOW_LATENCY, turns * trips);
	bulk_open();
	start = rig_seconds();
	seed = number(argv, argc, 3, 1);
	printf("seed: %u\norder:", seed);
	for (unsigned t = 0; t < turns; t++)
		for (unsigned i = 0; i < KINDS; i++) {
			unsigned which = (t + i) % KINDS;

			printf(" %c", name[which][0]);
			run(&kind[which], trips);
		}
	printf(" (%u round trips each; o: %s, l: %s)\n", trips, name[0], name[1]);
	printf("the stream beside it: %.2f GB/s\n\n",
	       (double)bulk_done * BULK / 1e9 / (rig_seconds() - start));
	print(kind);
	for (unsigned i = 0; i < KINDS; i++)
		close_kind(&kind[i]);
	bulk_close();
	rig_close(&rig);
	return 0;
}
