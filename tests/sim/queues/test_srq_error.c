/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that breaks the ring of its SRQ: one SRQ_ERR, no receive is taken from it any more, and
 * whoever sends to its QPs finds nobody ready (IBTA vol. 1, 10.2.9).
 */
#include "tests/sim/world/pair.h"

static void test_broken_ring(void **state)
{
	struct vqp_conn conn = vqp_conn_default();
	struct uhca_abi_queue *page;
	struct pair p;

	(void)state;
	conn.rnr_retry = 1;
	pair_create(&p, &(struct pair_options){.srq_wr = 32, .conn = &conn});
	side_recv(&p.b, 0, 100000, 100);
	side_send(&p.a, 0, 0, 100);
	side_expect(&p.a, 0, 0, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
	side_expect(&p.b, 0, 0, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
	pair_expect_copy(&p.a, 0, &p.b, 100000, 100);
	page = p.srq.region.base;
	page->recv.producer += 1000;
	side_send(&p.a, 1, 0, 100);
	side_expect(&p.a, 1, 1, UHCA_ABI_WC_RNR_RETRY_EXC_ERR, UHCA_ABI_WC_SEND);
	world_assert(p.w, vevents_count(&p.b.c.async, UHCA_ABI_EVENT_SRQ_ERR, &p.srq) == 1);
	pair_finish(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_broken_ring),
	};

	return cmocka_run_group_tests_name("srq_error", tests, NULL, NULL);
}
