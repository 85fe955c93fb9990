/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * No more READs and atomics are under way than the initiator's max_rd_atomic; one that exceeds
 * the responder's max_dest_rd_atomic is refused as an invalid request (9.7.4.1.1).
 */
#include "tests/sim/world/pair.h"

#define REQUESTS 24u

static bool is_request(const struct logged *l)
{
	enum roce_operation op = roce_opcode_info(l->pkt.bth.opcode)->operation;

	return op == ROCE_OP_READ_REQ || op == ROCE_OP_FETCH_ADD;
}

static bool is_answer(const struct logged *l)
{
	const struct roce_opcode_info *info = roce_opcode_info(l->pkt.bth.opcode);

	return (info->operation == ROCE_OP_READ_RESP && roce_opcode_is_last(l->pkt.bth.opcode)) ||
	       info->operation == ROCE_OP_ATOMIC_ACK;
}

/* The largest number of requests sent less answers sent. */
static int most_outstanding(const struct pair *p)
{
	int now = 0, most = 0;

	for (unsigned i = 0; i < p->rules.n_log; i++) {
		now += is_request(&p->rules.log[i]);
		now -= is_answer(&p->rules.log[i]);
		most = now > most ? now : most;
	}
	return most;
}

static void run_with_limit(uint8_t limit)
{
	struct vqp_conn conn = vqp_conn_default();
	struct pair p;

	conn.max_rd_atomic = limit;
	conn.max_dest_rd_atomic = 16;
	pair_create(&p, &(struct pair_options){.conn = &conn});
	side_store(&p.b, 0, 0);
	for (unsigned i = 0; i < REQUESTS; i++) {
		if (i % 3 == 2)
			side_fetch_add(&p.a, i, 100000 + 3000 * i, 0, 1);
		else
			side_read(&p.a, i, 100000 + 3000 * i, 3000 * i + 64, 2500);
	}
	for (unsigned i = 0; i < REQUESTS; i++) {
		bool atomic = i % 3 == 2;

		side_expect(&p.a, i, i, UHCA_ABI_WC_SUCCESS,
			    atomic ? UHCA_ABI_WC_FETCH_ADD : UHCA_ABI_WC_RDMA_READ);
		if (atomic)
			side_expect_u64(&p.a, 100000 + 3000 * i, i / 3);
		else
			pair_expect_copy(&p.b, 3000 * i + 64, &p.a, 100000 + 3000 * i, 2500);
	}
	side_expect_u64(&p.b, 0, REQUESTS / 3);
	world_assert(p.w, most_outstanding(&p) == limit);
	pair_finish(&p);
}

static void test_initiator(void **state)
{
	(void)state;
	for (uint8_t limit = 1; limit <= 16; limit++)
		run_with_limit(limit);
}

/* The initiator was told a larger number than the responder keeps resources for. */
static void test_responder(void **state)
{
	struct vqp_conn a = vqp_conn_default(), b = vqp_conn_default();
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){.unconnected = true});
	p.w->interleave = 0; /* the requests arrive together */
	a.max_rd_atomic = 4;
	b.max_dest_rd_atomic = 2;
	b.sq_psn = a.rq_psn;
	b.rq_psn = a.sq_psn;
	world_assert(p.w, vqp_init(&p.a.qp, &a) == 0 && vqp_init(&p.b.qp, &b) == 0);
	world_assert(p.w, vqp_rtr(&p.a.qp, &a, p.b.c.host, p.b.qp.qpn) == 0);
	world_assert(p.w, vqp_rtr(&p.b.qp, &b, p.a.c.host, p.a.qp.qpn) == 0);
	world_assert(p.w, vqp_rts(&p.a.qp, &a) == 0 && vqp_rts(&p.b.qp, &b) == 0);
	side_ignore(&p.a, 100000, 8000);
	for (unsigned i = 0; i < 4; i++)
		side_queue(&p.a, &(struct op){.opcode = UHCA_ABI_WR_RDMA_READ,
					      .wr_id = i,
					      .flags = UHCA_ABI_SEND_SIGNALED,
					      .local = 100000 + 2000 * i,
					      .length = 2000});
	vqp_doorbell(&p.a.qp);
	side_wait(&p.a, 4);
	world_assert(p.w, p.a.wc[3].status == UHCA_ABI_WC_WR_FLUSH_ERR ||
				  p.a.wc[3].status == UHCA_ABI_WC_REM_INV_REQ_ERR);
	world_assert(p.w, vqp_state(&p.b.qp) == IBV_QPS_ERR);
	world_assert(p.w, side_events(&p.b, UHCA_ABI_EVENT_QP_REQ_ERR) == 1);
	pair_finish(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_initiator),
		cmocka_unit_test(test_responder),
	};

	return cmocka_run_group_tests_name("rd_atomic_limit", tests, NULL, NULL);
}
