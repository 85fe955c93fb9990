/* SPDX-License-Identifier: BSD-2-Clause */
/* Faults of the device's own: each leaves the states, flushes and events that a real one leaves. */
#include "tests/support/core/core_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include "emu/core/base/async_event.h"
#include "emu/core/base/device.h"
#include "emu/core/keys/mr.h"
#include "emu/core/qp/qp.h"
#include "emu/core/queues/wq.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <string.h>

static void expect_event(const struct fixture *f, unsigned i, uint32_t type)
{
	assert_true(i < f->async);
	assert_int_equal(f->async_event[i].event.type, type);
}

static void test_events(void **state)
{
	static const uint32_t of_qp[] = {
		UHCA_ABI_EVENT_QP_FATAL,      UHCA_ABI_EVENT_QP_REQ_ERR,
		UHCA_ABI_EVENT_QP_ACCESS_ERR, UHCA_ABI_EVENT_COMM_EST,
		UHCA_ABI_EVENT_SQ_DRAINED,    UHCA_ABI_EVENT_PATH_MIG,
		UHCA_ABI_EVENT_PATH_MIG_ERR,  UHCA_ABI_EVENT_QP_LAST_WQE_REACHED};
	struct fixture_qp qp;
	struct fixture f;
	uint32_t srq;

	(void)state;
	fixture_start(&f, NULL);
	qp = fixture_qp(&f, QPT_RC);
	srq = fixture_srq(&f, qp.pd);
	for (unsigned i = 0; i < 8; i++) {
		assert_int_equal(
			core_inject_event(f.dev, of_qp[i], &(struct core_event_of){.qpn = qp.qpn}),
			0);
		expect_event(&f, i, of_qp[i]);
		assert_int_equal(
			core_inject_event(f.dev, of_qp[i], &(struct core_event_of){.qpn = qp.cq}),
			-ENOENT);
	}
	assert_int_equal(device_find_qp(f.dev, qp.qpn)->state, QPS_RESET);
	assert_int_equal(core_inject_event(f.dev, UHCA_ABI_EVENT_CQ_ERR,
					   &(struct core_event_of){.cq = qp.cq}),
			 0);
	expect_event(&f, 8, UHCA_ABI_EVENT_CQ_ERR);
	assert_int_equal(core_inject_event(f.dev, UHCA_ABI_EVENT_SRQ_ERR,
					   &(struct core_event_of){.srq = srq}),
			 0);
	assert_int_equal(core_inject_event(f.dev, UHCA_ABI_EVENT_SRQ_LIMIT_REACHED,
					   &(struct core_event_of){.srq = srq}),
			 0);
	expect_event(&f, 10, UHCA_ABI_EVENT_SRQ_LIMIT_REACHED);
	assert_int_equal(
		core_inject_event(f.dev, UHCA_ABI_EVENT_CQ_ERR, &(struct core_event_of){.cq = 77}),
		-ENOENT);
	assert_int_equal(core_inject_event(f.dev, UHCA_ABI_EVENT_SRQ_ERR,
					   &(struct core_event_of){.srq = 77}),
			 -ENOENT);
	assert_int_equal(core_inject_event(f.dev, UHCA_ABI_EVENT_WQ_FATAL,
					   &(struct core_event_of){.wq = 77}),
			 -ENOENT);
	assert_int_equal(core_destroy_srq(f.client, srq), 0);
	fixture_qp_destroy(&f, &qp);
	fixture_stop(&f);
}

static void test_event_of_wq(void **state)
{
	struct uhca_cmd_create_wq in = {.cookie = 0x4711, .max_wr = 4, .max_sge = 1};
	struct uhca_cmd_create_srq_reply out;
	struct core_ring ring;
	struct fixture f;

	(void)state;
	fixture_start(&f, NULL);
	in.pd = fixture_pd(&f);
	in.cq = fixture_cq(&f, 4);
	assert_int_equal(core_create_wq(f.client, &in, &out, &ring), 0);
	assert_int_equal(core_inject_event(f.dev, UHCA_ABI_EVENT_WQ_FATAL,
					   &(struct core_event_of){.wq = out.handle}),
			 0);
	assert_int_equal(f.async, 1);
	expect_event(&f, 0, UHCA_ABI_EVENT_WQ_FATAL);
	assert_int_equal(f.async_event[0].event.element, 0x4711);
	assert_int_equal(core_destroy_wq(f.client, out.handle), 0);
	fixture_stop(&f);
}

/* Each client hears those of port and device. */
static void test_events_of_all(void **state)
{
	static const uint32_t types[] = {
		UHCA_ABI_EVENT_DEVICE_FATAL, UHCA_ABI_EVENT_PORT_ACTIVE,
		UHCA_ABI_EVENT_PORT_ERR,     UHCA_ABI_EVENT_LID_CHANGE,
		UHCA_ABI_EVENT_PKEY_CHANGE,  UHCA_ABI_EVENT_SM_CHANGE,
		UHCA_ABI_EVENT_GID_CHANGE,   UHCA_ABI_EVENT_CLIENT_REREGISTER};
	struct fixture f;

	(void)state;
	fixture_start(&f, NULL);
	for (unsigned i = 0; i < 8; i++) {
		assert_int_equal(core_inject_event(f.dev, types[i], &(struct core_event_of){0}), 0);
		assert_int_equal(f.async, 2 * i + 2);
		expect_event(&f, 2 * i, types[i]);
		expect_event(&f, 2 * i + 1, types[i]);
	}
	assert_int_equal(core_inject_event(f.dev, UHCA_ABI_EVENT_DEVICE_SPEED_CHANGE + 1,
					   &(struct core_event_of){0}),
			 -EINVAL);
	assert_int_equal(core_inject_event(f.dev, UINT32_MAX, &(struct core_event_of){0}), -EINVAL);
	fixture_stop(&f);
}

static void test_qp_error(void **state)
{
	struct fixture_qp qp;
	struct fixture f;

	(void)state;
	fixture_start(&f, NULL);
	qp = fixture_qp(&f, QPT_RC);
	assert_int_equal(core_inject_qp_error(f.dev, qp.qpn, 0), -EINVAL); /* RESET */
	fixture_connect(&f, &qp, QPT_RC);
	assert_int_equal(core_inject_qp_error(f.dev, qp.qpn + 1, 0), -ENOENT);
	assert_int_equal(core_inject_qp_error(f.dev, qp.qpn, 0), 0);
	assert_int_equal(device_find_qp(f.dev, qp.qpn)->state, QPS_ERR);
	expect_event(&f, 0, UHCA_ABI_EVENT_QP_FATAL);
	assert_int_equal(core_inject_qp_error(f.dev, qp.qpn, 0), 0); /* it is there already */
	assert_int_equal(f.async, 1);
	fixture_qp_destroy(&f, &qp);
	fixture_stop(&f);
}

static void test_completions(void **state)
{
	struct uhca_abi_cqe e = {.wr_id = 7, .status = UHCA_ABI_WC_SUCCESS};
	struct fixture_qp qp;
	struct fixture f;

	(void)state;
	fixture_start(&f, NULL);
	qp = fixture_qp(&f, QPT_RC);
	fixture_connect(&f, &qp, QPT_RC);
	e.qpn = qp.qpn;
	assert_int_equal(core_inject_completion(f.dev, qp.cq + 1, &e, 5), -ENOENT);
	assert_int_equal(core_inject_completion(f.dev, qp.cq, &e, 5), 0);
	assert_int_equal(core_counters(f.dev)->completions, 1);
	assert_int_equal(core_inject_cq_overrun(f.dev, qp.cq + 1), -ENOENT);
	assert_int_equal(core_inject_cq_overrun(f.dev, qp.cq), 0);
	assert_int_equal(core_inject_cq_overrun(f.dev, qp.cq), 0);
	assert_int_equal(f.async, 1);
	expect_event(&f, 0, UHCA_ABI_EVENT_CQ_ERR);
	assert_int_equal(device_find_qp(f.dev, qp.qpn)->state, QPS_RTS);
	assert_int_equal(core_inject_completion(f.dev, qp.cq, &e, 6), 0);
	assert_int_equal(core_counters(f.dev)->completions, 1);
	assert_int_equal(device_find_qp(f.dev, qp.qpn)->state, QPS_ERR);
	expect_event(&f, 1, UHCA_ABI_EVENT_QP_FATAL);
	fixture_qp_destroy(&f, &qp);
	fixture_stop(&f);
}

#define ALL (MR_LOCAL_WRITE | MR_REMOTE_WRITE | MR_REMOTE_READ)

static enum mr_verdict check(struct fixture *f, uint32_t pd, uint32_t key)
{
	struct mr *mr;

	return mr_check(table_find(&f->dev->pds, pd), key, 0x10000, 4, MR_LOCAL_WRITE, &mr);
}

/* The object stays and is destroyed as ever. */
static void test_revoke(void **state)
{
	struct fixture f;
	uint32_t pd, key;

	(void)state;
	fixture_start(&f, NULL);
	pd = fixture_pd(&f);
	key = fixture_mr(&f, pd, 0x10000, 8192, ALL);
	assert_int_equal(core_inject_revoke(f.dev, key ^ 1), -ENOENT);
	assert_int_equal(check(&f, pd, key), MR_OK);
	assert_int_equal(core_inject_revoke(f.dev, key), 0);
	assert_int_equal(check(&f, pd, key), MR_BAD_KEY);
	assert_int_equal(core_inject_revoke(f.dev, key), 0);
	assert_int_equal(core_dealloc_pd(f.client, pd), -EBUSY);
	assert_int_equal(core_dereg_mr(f.client, key >> 8), 0);
	assert_int_equal(core_inject_revoke(f.dev, key), -ENOENT);
	assert_int_equal(core_dealloc_pd(f.client, pd), 0);
	fixture_stop(&f);
}

static void test_revoke_window(void **state)
{
	struct uhca_cmd_alloc_mw ask = {.type = 1};
	struct uhca_cmd_alloc_mw_reply mw;
	struct fixture f;

	(void)state;
	fixture_start(&f, NULL);
	ask.pd = fixture_pd(&f);
	assert_int_equal(core_alloc_mw(f.client, &ask, &mw), 0);
	assert_int_equal(core_inject_revoke(f.dev, mw.rkey), 0);
	assert_int_equal(core_inject_revoke(f.dev, mw.rkey ^ 1), -ENOENT);
	assert_int_equal(core_dealloc_mw(f.client, mw.handle), 0);
	fixture_stop(&f);
}

static void test_key_reuse(void **state)
{
	struct fixture f;
	uint32_t pd, first, second, third;

	(void)state;
	fixture_start(&f, NULL);
	pd = fixture_pd(&f);
	first = fixture_mr(&f, pd, 0x10000, 4096, ALL);
	assert_int_equal(core_dereg_mr(f.client, first >> 8), 0);
	second = fixture_mr(&f, pd, 0x10000, 4096, ALL);
	assert_int_not_equal(first, second);
	core_inject_key_reuse(f.dev, true);
	third = fixture_mr(&f, pd, 0x20000, 4096, ALL); /* the slot of "first" is in use */
	assert_int_not_equal(third, first);
	assert_int_equal(core_dereg_mr(f.client, second >> 8), 0);
	assert_int_equal(check(&f, pd, second), MR_BAD_KEY);
	assert_int_equal(fixture_mr(&f, pd, 0x30000, 4096, ALL), second);
	assert_int_equal(check(&f, pd, second), MR_BAD_RANGE);
	core_inject_key_reuse(f.dev, false);
	assert_int_equal(core_dereg_mr(f.client, second >> 8), 0);
	assert_int_not_equal(fixture_mr(&f, pd, 0x30000, 4096, ALL), second);
	fixture_stop(&f);
}

/* Neither key opens anything in the other's place. */
static void test_key_split(void **state)
{
	struct uhca_cmd_reg_mr reg = {.addr = 0x10000,
				      .iova = 0x10000,
				      .length = 4096,
				      .access = MR_LOCAL_WRITE | MR_REMOTE_WRITE};
	struct uhca_cmd_reg_mr_reply mr;
	struct key_user user = {0};
	uint64_t at = 0x10000;
	struct fixture f;
	struct mr *found;

	(void)state;
	fixture_start(&f, NULL);
	reg.pd = fixture_pd(&f);
	core_inject_key_split(f.dev, true);
	assert_int_equal(core_reg_mr(f.client, &reg, &mr), 0);
	assert_int_not_equal(mr.lkey, mr.rkey);
	user.dev = f.dev;
	user.pd = table_find(&f.dev->pds, reg.pd);
	assert_int_equal(remote_check(user, mr.rkey, &at, 8, MR_REMOTE_WRITE, &found), MR_OK);
	assert_int_equal(remote_check(user, mr.lkey, &at, 8, MR_REMOTE_WRITE, &found), MR_BAD_KEY);
	assert_int_equal(mr_check(user.pd, mr.lkey, at, 8, MR_LOCAL_WRITE, &found), MR_OK);
	assert_int_equal(mr_check(user.pd, mr.rkey, at, 8, MR_LOCAL_WRITE, &found), MR_BAD_KEY);
	assert_int_equal(core_inject_revoke(f.dev, mr.rkey), 0);
	assert_int_equal(remote_check(user, mr.rkey, &at, 8, MR_REMOTE_WRITE, &found), MR_BAD_KEY);
	core_inject_key_split(f.dev, false);
	assert_int_equal(core_reg_mr(f.client, &reg, &mr), 0);
	assert_int_equal(mr.lkey, mr.rkey);
	fixture_stop(&f);
}

static void test_limits(void **state)
{
	struct uhca_cmd_reg_mr reg = {.addr = 0x10000, .iova = 0x10000, .length = 4096};
	struct uhca_cmd_reg_mr_reply mr;
	struct uhca_cmd_device_attr attr;
	struct fixture f;
	uint32_t pd;

	(void)state;
	fixture_start(&f, NULL);
	pd = reg.pd = fixture_pd(&f);
	assert_int_equal(core_inject_limit(f.dev, "max_nothing", 1), -EINVAL);
	assert_int_equal(core_inject_limit(f.dev, "max_pd", 0), -ERANGE);
	assert_int_equal(core_inject_limit(f.dev, "max_pd", 5000), -ERANGE);
	assert_int_equal(core_inject_limit(f.dev, "max_pd", 1), 0);
	assert_int_equal(core_alloc_pd(f.client, &pd), -ENOMEM);
	assert_int_equal(core_inject_limit(f.dev, "max_pd", 2), 0);
	assert_int_equal(core_alloc_pd(f.client, &pd), 0);
	assert_int_equal(core_inject_limit(f.dev, "max_mr", 1), 0);
	assert_int_equal(core_reg_mr(f.client, &reg, &mr), 0);
	assert_int_equal(core_reg_mr(f.client, &reg, &mr), -ENOMEM);
	assert_int_equal(core_inject_limit(f.dev, "max_mr_size", 4095), 0);
	assert_int_equal(core_inject_limit(f.dev, "max_mr", 16), 0);
	assert_int_equal(core_reg_mr(f.client, &reg, &mr), -EINVAL);
	assert_int_equal(core_query_device(f.client, &attr), 0);
	assert_int_equal(attr.max_pd, 2);
	fixture_stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events),      cmocka_unit_test(test_events_of_all),
		cmocka_unit_test(test_qp_error),    cmocka_unit_test(test_completions),
		cmocka_unit_test(test_revoke),      cmocka_unit_test(test_revoke_window),
		cmocka_unit_test(test_event_of_wq), cmocka_unit_test(test_key_reuse),
		cmocka_unit_test(test_key_split),   cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests_name("inject", tests, NULL, NULL);
}
