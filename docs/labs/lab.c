/* SPDX-License-Identifier: BSD-2-Clause */
#include "lab.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DEADLINE_S 2

const struct lab_knobs lab_patient = {
	.timeout = 14, .retry_cnt = 7, .rnr_retry = 7, .min_rnr_timer = 1};

static bool all_ok = true;
static uint32_t first_psn; /* of the next connection: packets of an earlier one do not fit */

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "lab: %s: %s\n", what, strerror(errno));
	exit(2);
}

/* ---- objects ---- */

void lab_open(struct lab *l)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	setvbuf(stdout, NULL, _IOLBF, 0);
	must(list && list[0], "there is no RDMA device; run it with scripts/lab or uhca-run");
	l->ctx = ibv_open_device(list[0]);
	must(l->ctx != NULL, "ibv_open_device");
	ibv_free_device_list(list);
	l->pd = ibv_alloc_pd(l->ctx);
	must(l->pd != NULL, "ibv_alloc_pd");
	must(ibv_query_gid(l->ctx, 1, 0, &l->gid) == 0, "ibv_query_gid");
}

void lab_close(struct lab *l)
{
	must(ibv_dealloc_pd(l->pd) == 0, "ibv_dealloc_pd");
	must(ibv_close_device(l->ctx) == 0, "ibv_close_device");
}

void lab_end_open(struct lab *l, struct lab_end *e, int access)
{
	struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_RC,
					.cap = {.max_send_wr = LAB_DEPTH,
						.max_recv_wr = LAB_DEPTH,
						.max_send_sge = 1,
						.max_recv_sge = 1}};

	e->memory = aligned_alloc(4096, LAB_MEMORY);
	must(e->memory != NULL, "memory");
	memset(e->memory, 0, LAB_MEMORY);
	e->mr = ibv_reg_mr(l->pd, e->memory, LAB_MEMORY, access);
	must(e->mr != NULL, "ibv_reg_mr");
	e->cq = ibv_create_cq(l->ctx, 2 * LAB_DEPTH, NULL, NULL, 0);
	must(e->cq != NULL, "ibv_create_cq");
	attr.send_cq = attr.recv_cq = e->cq;
	e->qp = ibv_create_qp(l->pd, &attr);
	must(e->qp != NULL, "ibv_create_qp");
}

void lab_end_close(struct lab_end *e)
{
	must(ibv_destroy_qp(e->qp) == 0, "ibv_destroy_qp");
	must(ibv_destroy_cq(e->cq) == 0, "ibv_destroy_cq");
	must(ibv_dereg_mr(e->mr) == 0, "ibv_dereg_mr");
	free(e->memory);
}

/* ---- connection: the states of a queue pair (IBTA vol. 1, 10.3.1) ---- */

static void to_init(struct ibv_qp *qp)
{
	struct ibv_qp_attr reset = {.qp_state = IBV_QPS_RESET};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
				   .port_num = 1,
				   .qp_access_flags = IBV_ACCESS_REMOTE_WRITE |
						      IBV_ACCESS_REMOTE_READ |
						      IBV_ACCESS_REMOTE_ATOMIC};

	errno = ibv_modify_qp(qp, &reset, IBV_QP_STATE);
	must(errno == 0, "a queue pair cannot go to RESET");
	errno = ibv_modify_qp(qp, &attr,
			      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	must(errno == 0, "a queue pair cannot go to INIT");
}

/* It may receive from now on: it knows who is at the other end. */
static void to_rtr(struct lab *l, struct ibv_qp *qp, uint32_t peer, const struct lab_knobs *k)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR,
				   .path_mtu = IBV_MTU_1024,
				   .dest_qp_num = peer,
				   .rq_psn = first_psn,
				   .max_dest_rd_atomic = 4,
				   .min_rnr_timer = k->min_rnr_timer,
				   .ah_attr = {.is_global = 1,
					       .port_num = 1,
					       .grh = {.dgid = l->gid, .hop_limit = 64}}};

	errno = ibv_modify_qp(qp, &attr,
			      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				      IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				      IBV_QP_MIN_RNR_TIMER);
	must(errno == 0, "a queue pair cannot go to RTR");
}

static void to_rts(struct ibv_qp *qp, const struct lab_knobs *k)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS,
				   .timeout = k->timeout,
				   .retry_cnt = k->retry_cnt,
				   .rnr_retry = k->rnr_retry,
				   .max_rd_atomic = 4,
				   .sq_psn = first_psn};

	errno = ibv_modify_qp(qp, &attr,
			      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				      IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
	must(errno == 0, "a queue pair cannot go to RTS");
}

/* What is left of an earlier connection. */
static void empty(struct ibv_cq *cq)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(cq, 1, &wc) > 0)
		;
}

void lab_connect(struct lab *l, struct lab_end *a, struct lab_end *b, const struct lab_knobs *k)
{
	to_init(a->qp);
	if (b != a)
		to_init(b->qp);
	empty(a->cq);
	empty(b->cq);
	to_rtr(l, a->qp, b->qp->qp_num, k);
	if (b != a)
		to_rtr(l, b->qp, a->qp->qp_num, k);
	to_rts(a->qp, k);
	if (b != a)
		to_rts(b->qp, k);
	first_psn += 0x1000;
}

/* ---- work ---- */

struct ibv_sge lab_part(const struct lab_end *e, uint32_t offset, uint32_t length)
{
	return (struct ibv_sge){(uintptr_t)e->memory + offset, length, e->mr->lkey};
}

void lab_recv(struct lab_end *e, uint64_t wr_id, uint32_t offset, uint32_t length)
{
	struct ibv_sge sge = lab_part(e, offset, length);
	struct ibv_recv_wr wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1}, *bad;

	errno = ibv_post_recv(e->qp, &wr, &bad);
	must(errno == 0, "ibv_post_recv");
}

void lab_post(struct lab_end *e, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	errno = ibv_post_send(e->qp, wr, &bad);
	must(errno == 0, "ibv_post_send");
}

void lab_send(struct lab_end *e, uint64_t wr_id, uint32_t offset, uint32_t length)
{
	struct ibv_sge sge = lab_part(e, offset, length);
	struct ibv_send_wr wr = {.wr_id = wr_id,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_SEND,
				 .send_flags = IBV_SEND_SIGNALED};

	lab_post(e, &wr);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

bool lab_wait(struct lab_end *e, struct ibv_wc *wc)
{
	double end = now() + DEADLINE_S;
	int n;

	wc->status = IBV_WC_GENERAL_ERR;
	do {
		n = ibv_poll_cq(e->cq, 1, wc);
		must(n >= 0, "ibv_poll_cq");
	} while (n == 0 && now() < end);
	return n == 1;
}

const char *lab_status(struct lab_end *e, struct ibv_wc *wc)
{
	return lab_wait(e, wc) ? ibv_wc_status_str(wc->status) : "nothing";
}

uint64_t lab_counter(const char *name)
{
	FILE *f = popen("uhcactl counters", "r");
	char line[512], word[64];
	uint64_t sum = 0;
	bool found = false;

	must(f != NULL, "uhcactl counters");
	while (fgets(line, sizeof(line), f)) {
		int at = 0, next = 0;
		unsigned long long n;

		if (sscanf(line, "%63s%n", word, &at) != 1 || strcmp(word, name) != 0)
			continue;
		found = true;
		for (; sscanf(line + at, "%llu%n", &n, &next) == 1; at += next)
			sum += n;
	}
	pclose(f);
	must(found, "uhcactl counters has no such counter");
	return sum;
}

/* ---- judgement ---- */

bool lab_check(bool ok, const char *format, ...)
{
	va_list ap;

	printf("%s: ", ok ? "ok" : "not yet");
	va_start(ap, format);
	vprintf(format, ap);
	va_end(ap);
	putchar('\n');
	all_ok &= ok;
	return ok;
}

int lab_result(void)
{
	return all_ok ? 0 : 1;
}
