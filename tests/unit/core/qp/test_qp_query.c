/* SPDX-License-Identifier: BSD-2-Clause */
/* Query QP: what was set is told, in each state, and PSNs as they stand. */
#include "tests/support/core/core_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include "emu/core/qp/qp.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <string.h>

static struct uhca_cmd_query_qp_reply query(struct fixture *f, const struct fixture_qp *qp)
{
	struct uhca_cmd_query_qp_reply q;

	memset(&q, 0xee, sizeof(q));
	assert_int_equal(core_query_qp(f->client, qp->handle, &q), 0);
	assert_int_equal(q.attr.cur_qp_state, q.attr.qp_state);
	assert_int_equal(q.attr.max_send_wr, 16);
	assert_int_equal(q.attr.max_recv_wr, 16);
	assert_int_equal(q.attr.max_send_sge, 2);
	assert_int_equal(q.attr.max_recv_sge, 2);
	assert_true(q.attr.max_inline_data > 0);
	assert_int_equal(q.attr.path_mig_state, 0);
	return q;
}

static void test_fresh(void **state)
{
	struct fixture f;
	struct fixture_qp qp;
	struct uhca_cmd_query_qp_reply q;

	(void)state;
	fixture_start(&f, NULL);
	qp = fixture_qp(&f, IBV_QPT_RC);
	q = query(&f, &qp);
	assert_int_equal(q.attr.qp_state, IBV_QPS_RESET);
	assert_int_equal(q.attr.path_mtu, 0);
	assert_int_equal(q.sq_sig_all, 0);
	assert_int_equal(q.reserved, 0);
	assert_int_equal(core_query_qp(f.other, qp.handle, &q), -ENOENT);
	assert_int_equal(core_query_qp(f.client, qp.handle + 1, &q), -ENOENT);
	fixture_stop(&f);
}

static void test_connected(void **state)
{
	struct uhca_abi_qp_attr set = fixture_attr(IBV_QPS_RTS);
	struct fixture f;
	struct fixture_qp qp;
	struct uhca_cmd_query_qp_reply q;

	(void)state;
	fixture_start(&f, NULL);
	qp = fixture_qp(&f, IBV_QPT_RC);
	fixture_connect(&f, &qp, IBV_QPT_RC);
	q = query(&f, &qp);
	assert_int_equal(q.attr.qp_state, IBV_QPS_RTS);
	assert_int_equal(q.attr.path_mtu, set.path_mtu);
	assert_int_equal(q.attr.rq_psn, set.rq_psn);
	assert_int_equal(q.attr.sq_psn, set.sq_psn);
	assert_int_equal(q.attr.dest_qp_num, set.dest_qp_num);
	assert_int_equal(q.attr.qp_access_flags, set.qp_access_flags);
	assert_memory_equal(&q.attr.ah, &set.ah, sizeof(set.ah));
	assert_int_equal(q.attr.max_rd_atomic, set.max_rd_atomic);
	assert_int_equal(q.attr.max_dest_rd_atomic, set.max_dest_rd_atomic);
	assert_int_equal(q.attr.min_rnr_timer, set.min_rnr_timer);
	assert_int_equal(q.attr.port_num, 1);
	assert_int_equal(q.attr.timeout, set.timeout);
	assert_int_equal(q.attr.retry_cnt, set.retry_cnt);
	assert_int_equal(q.attr.rnr_retry, set.rnr_retry);
	assert_int_equal(q.attr.sq_draining, 0);
	fixture_stop(&f);
}

static void test_datagram(void **state)
{
	struct fixture f;
	struct fixture_qp qp;
	struct uhca_cmd_query_qp_reply q;

	(void)state;
	fixture_start(&f, NULL);
	qp = fixture_qp(&f, IBV_QPT_UD);
	fixture_connect(&f, &qp, IBV_QPT_UD);
	q = query(&f, &qp);
	assert_int_equal(q.attr.qkey, 0x11111111);
	assert_int_equal(q.attr.sq_psn, 0x654321);
	assert_int_equal(q.attr.rq_psn, 0);
	fixture_stop(&f);
}

/* PSNs move on with the traffic, and stand as they were set before and after it. */
static void test_psns(void **state)
{
	struct uhca_abi_qp_attr a = fixture_attr(IBV_QPS_ERR);
	struct fixture f;
	struct fixture_qp qp;
	struct uhca_cmd_query_qp_reply q;
	struct qp *object;

	(void)state;
	fixture_start(&f, NULL);
	qp = fixture_qp(&f, IBV_QPT_RC);
	fixture_connect(&f, &qp, IBV_QPT_RC);
	object = device_find_qp(f.dev, qp.qpn);
	object->resp.epsn += 5;
	object->req.next_psn += 7;
	q = query(&f, &qp);
	assert_int_equal(q.attr.rq_psn, 0x123456 + 5);
	assert_int_equal(q.attr.sq_psn, 0x654321 + 7);
	assert_int_equal(fixture_modify(&f, qp.handle, &a, IBV_QP_STATE), 0);
	q = query(&f, &qp);
	assert_int_equal(q.attr.qp_state, IBV_QPS_ERR);
	assert_int_equal(q.attr.rq_psn, 0x123456);
	assert_int_equal(q.attr.sq_psn, 0x654321);
	fixture_stop(&f);
}

static void test_draining(void **state)
{
	struct uhca_abi_qp_attr a = fixture_attr(IBV_QPS_SQD);
	struct fixture f;
	struct fixture_qp qp;
	struct qp *object;

	(void)state;
	fixture_start(&f, NULL);
	qp = fixture_qp(&f, IBV_QPT_RC);
	fixture_connect(&f, &qp, IBV_QPT_RC);
	object = device_find_qp(f.dev, qp.qpn);
	object->req.high_psn = object->req.una_psn + 1; /* a packet is out */
	assert_int_equal(fixture_modify(&f, qp.handle, &a, IBV_QP_STATE), 0);
	assert_int_equal(query(&f, &qp).attr.sq_draining, 1);
	object->req.draining = false;
	assert_int_equal(query(&f, &qp).attr.sq_draining, 0);
	fixture_stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fresh),    cmocka_unit_test(test_connected),
		cmocka_unit_test(test_datagram), cmocka_unit_test(test_psns),
		cmocka_unit_test(test_draining),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
