/* SPDX-License-Identifier: BSD-2-Clause */
/* Modify QP through the control verb: transitions, values, and what follows from them. */
#include "tests/support/core/core_fixture.h"
#include "tests/support/core/qp_table.h"
#include "tests/support/wire/cmocka_all.h"

#include "emu/core/base/source_port.h"
#include "emu/core/qp/qp.h"

#include <errno.h>
#include <string.h>

static const uint32_t types[] = {IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD};

struct subject {
	struct fixture f;
	struct fixture_qp handles;
	struct qp *qp;
	uint32_t type;
};

/* A QP of the type in the state. SQE is the device's to enter. */
static void start(struct subject *s, uint32_t type, enum qp_state state)
{
	fixture_start(&s->f, NULL);
	s->type = type;
	s->handles = fixture_qp(&s->f, type);
	s->qp = table_find(&s->f.dev->qps, s->handles.handle);
	for (uint32_t to = IBV_QPS_INIT; to <= state && to <= IBV_QPS_SQD; to++) {
		const struct qp_rule *r = qp_rule_find(type, to - 1, to);
		struct uhca_abi_qp_attr a = fixture_attr(to);
		assert_int_equal(
			fixture_modify(&s->f, s->handles.handle, &a, r->required | IBV_QP_STATE),
			0);
		if (to == IBV_QPS_RTS && state == QPS_SQE)
			break;
	}
	if (state == QPS_SQE || state == QPS_ERR)
		qp_set_state(s->qp, state);
	assert_int_equal(s->qp->state, state);
}

static void finish(struct subject *s)
{
	fixture_qp_destroy(&s->f, &s->handles);
	fixture_stop(&s->f);
}

/* A modify that must fail with err and leave everything as it was. */
static void refuse(struct subject *s, const struct uhca_abi_qp_attr *a, uint32_t mask, int err)
{
	struct uhca_abi_qp_attr attr = s->qp->attr;
	struct roce_flow flow = s->qp->flow;
	enum qp_state state = s->qp->state;
	unsigned traces = s->f.traces;

	assert_int_equal(fixture_modify(&s->f, s->handles.handle, a, mask), err);
	assert_int_equal(s->qp->state, state);
	assert_memory_equal(&s->qp->attr, &attr, sizeof(attr));
	assert_memory_equal(&s->qp->flow, &flow, sizeof(flow));
	assert_int_equal(s->f.traces, traces);
}

static int modify(struct subject *s, const struct uhca_abi_qp_attr *a, uint32_t mask)
{
	return fixture_modify(&s->f, s->handles.handle, a, mask);
}

/* ---- every transition ---- */

/* With each mask in turn: fewer than required, more than allowed, exactly right. */
static void try_transition(uint32_t type, enum qp_state from, uint32_t to)
{
	const struct qp_rule *r = qp_rule_find(type, (enum ibv_qp_state)from, to);
	struct uhca_abi_qp_attr a = fixture_attr(to);
	uint32_t required = r ? r->required : 0, optional = r ? r->optional : 0;
	struct subject s;

	a.cur_qp_state = from;
	start(&s, type, from);
	for (unsigned bit = 1; bit < QP_RULE_BITS; bit++) {
		uint32_t one = 1u << bit;
		if (required & one)
			refuse(&s, &a, (required & ~one) | IBV_QP_STATE, -EINVAL);
		else if (!(optional & one))
			refuse(&s, &a, required | one | IBV_QP_STATE, -EINVAL);
	}
	if (!r) {
		refuse(&s, &a, IBV_QP_STATE, -EINVAL);
	} else {
		optional &= ~(uint32_t)IBV_QP_ALT_PATH; /* legal, but not offered */
		assert_int_equal(modify(&s, &a, required | optional | IBV_QP_STATE), 0);
		assert_int_equal(s.qp->state, to);
		assert_int_equal(s.qp->page->recv_doorbell, to == QPS_ERR);
	}
	finish(&s);
}

static void test_transitions(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++)
		for (uint32_t from = 0; from < QPS_COUNT; from++)
			for (uint32_t to = 0; to < QPS_COUNT; to++)
				try_transition(types[i], (enum qp_state)from, to);
}

/* Without IBV_QP_STATE the state stays and only attributes change. */
static void test_without_state(void **state)
{
	struct uhca_abi_qp_attr a = fixture_attr(99);
	struct subject s;

	(void)state;
	start(&s, IBV_QPT_RC, QPS_RTS);
	a.min_rnr_timer = 3;
	assert_int_equal(modify(&s, &a, IBV_QP_MIN_RNR_TIMER), 0);
	assert_int_equal(s.qp->attr.min_rnr_timer, 3);
	assert_int_equal(s.qp->state, QPS_RTS);
	refuse(&s, &a, IBV_QP_TIMEOUT, -EINVAL);
	finish(&s);
	start(&s, IBV_QPT_RC, QPS_RTR);
	refuse(&s, &a, IBV_QP_MIN_RNR_TIMER, -EINVAL); /* RTR to RTR is no transition */
	finish(&s);
}

static void test_wrong_states(void **state)
{
	static const uint32_t nonsense[] = {QPS_COUNT, 8, 1000, UINT32_MAX};
	struct subject s;

	(void)state;
	start(&s, IBV_QPT_UD, QPS_RTS);
	for (unsigned i = 0; i < 4; i++) {
		struct uhca_abi_qp_attr a = fixture_attr(nonsense[i]);
		refuse(&s, &a, IBV_QP_STATE, -EINVAL);
	}
	for (uint32_t current = 0; current < 10; current++) {
		struct uhca_abi_qp_attr a = fixture_attr(IBV_QPS_RTS);
		a.cur_qp_state = current;
		if (current == QPS_RTS)
			assert_int_equal(modify(&s, &a, IBV_QP_STATE | IBV_QP_CUR_STATE), 0);
		else
			refuse(&s, &a, IBV_QP_STATE | IBV_QP_CUR_STATE, -EINVAL);
	}
	finish(&s);
}

static void test_handles(void **state)
{
	struct uhca_cmd_modify_qp in = {.attr_mask = IBV_QP_STATE, .attr.qp_state = IBV_QPS_ERR};
	struct subject s;

	(void)state;
	start(&s, IBV_QPT_RC, QPS_RTS);
	in.handle = s.handles.handle;
	assert_int_equal(core_modify_qp(s.f.other, &in, 0), -ENOENT);
	in.handle++;
	assert_int_equal(core_modify_qp(s.f.client, &in, 0), -ENOENT);
	assert_int_equal(s.qp->state, QPS_RTS);
	finish(&s);
}

/* ---- values ---- */

#define INIT_RC (IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)
#define RTR_RC                                                                                     \
	(IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |            \
	 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)
#define RTS_RC                                                                                     \
	(IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |     \
	 IBV_QP_MAX_QP_RD_ATOMIC)

static void test_init_values(void **state)
{
	struct uhca_abi_qp_attr a;
	struct subject s;

	(void)state;
	start(&s, IBV_QPT_RC, QPS_RESET);
	a = fixture_attr(IBV_QPS_INIT);
	a.port_num = 0;
	refuse(&s, &a, INIT_RC, -EINVAL);
	a.port_num = 2;
	refuse(&s, &a, INIT_RC, -EINVAL);
	a = fixture_attr(IBV_QPS_INIT);
	a.pkey_index = 1;
	refuse(&s, &a, INIT_RC, -EINVAL);
	a = fixture_attr(IBV_QPS_INIT);
	a.qp_access_flags = 1u << 15;
	refuse(&s, &a, INIT_RC, -EINVAL);
	a.qp_access_flags = 0;
	assert_int_equal(modify(&s, &a, INIT_RC), 0);
	finish(&s);
}

/* No packet longer than the network carries (ibv_port_attr.active_mtu). */
static void test_active_mtu(void **state)
{
	struct uhca_abi_qp_attr a = fixture_attr(IBV_QPS_RTR);
	struct subject s;

	(void)state;
	start(&s, IBV_QPT_RC, QPS_INIT);
	s.f.dev->cfg.active_mtu = IBV_MTU_1024;
	a.path_mtu = IBV_MTU_2048;
	refuse(&s, &a, RTR_RC, -EINVAL);
	a.path_mtu = IBV_MTU_1024;
	assert_int_equal(modify(&s, &a, RTR_RC), 0);
	a = fixture_attr(IBV_QPS_RESET);
	assert_int_equal(modify(&s, &a, IBV_QP_STATE), 0);
	assert_int_equal(s.qp->mtu, 1024);
	finish(&s);
}

static void test_rtr_values(void **state)
{
	struct uhca_abi_qp_attr a;
	struct subject s;

	(void)state;
	start(&s, IBV_QPT_RC, QPS_INIT);
	for (uint32_t mtu = 0; mtu < 256; mtu = mtu == 0 ? 6 : mtu * 2) {
		a = fixture_attr(IBV_QPS_RTR);
		a.path_mtu = mtu;
		refuse(&s, &a, RTR_RC, -EINVAL);
	}
	a = fixture_attr(IBV_QPS_RTR);
	a.dest_qp_num = 0x1000000;
	refuse(&s, &a, RTR_RC, -EINVAL);
	a = fixture_attr(IBV_QPS_RTR);
	a.min_rnr_timer = 32;
	refuse(&s, &a, RTR_RC, -EINVAL);
	a = fixture_attr(IBV_QPS_RTR);
	a.max_dest_rd_atomic = 129;
	refuse(&s, &a, RTR_RC, -EINVAL);
	a = fixture_attr(IBV_QPS_RTR);
	a.ah.sgid_index = 9; /* empty */
	refuse(&s, &a, RTR_RC, -EINVAL);
	a = fixture_attr(IBV_QPS_RTR);
	a.ah.is_global = 0;
	refuse(&s, &a, RTR_RC, -EINVAL);
	a = fixture_attr(IBV_QPS_RTR);
	refuse(&s, &a, RTR_RC | IBV_QP_ALT_PATH, -EOPNOTSUPP);
	a.max_dest_rd_atomic = 128;
	a.min_rnr_timer = 31;
	a.dest_qp_num = 0xffffff;
	assert_int_equal(modify(&s, &a, RTR_RC), 0);
	finish(&s);
}

static void test_rts_values(void **state)
{
	struct uhca_abi_qp_attr a;
	struct subject s;

	(void)state;
	start(&s, IBV_QPT_RC, QPS_RTR);
	a = fixture_attr(IBV_QPS_RTS);
	a.timeout = 32;
	refuse(&s, &a, RTS_RC, -EINVAL);
	a = fixture_attr(IBV_QPS_RTS);
	a.retry_cnt = 8;
	refuse(&s, &a, RTS_RC, -EINVAL);
	a = fixture_attr(IBV_QPS_RTS);
	a.rnr_retry = 8;
	refuse(&s, &a, RTS_RC, -EINVAL);
	a = fixture_attr(IBV_QPS_RTS);
	a.max_rd_atomic = 129;
	refuse(&s, &a, RTS_RC, -EINVAL);
	a = fixture_attr(IBV_QPS_RTS);
	a.path_mig_state = 1; /* REARM: there is nowhere to migrate to */
	refuse(&s, &a, RTS_RC | IBV_QP_PATH_MIG_STATE, -EOPNOTSUPP);
	a.path_mig_state = 0;
	a.timeout = 31;
	a.max_rd_atomic = 128;
	assert_int_equal(modify(&s, &a, RTS_RC | IBV_QP_PATH_MIG_STATE), 0);
	finish(&s);
}

static uint32_t queried_limit(struct subject *s)
{
	struct uhca_cmd_query_qp_reply out;

	assert_int_equal(core_query_qp(s->f.client, s->handles.handle, &out), 0);
	return out.attr.rate_limit;
}

/* From RTR on, of every type; a reset ends it. */
static void test_rate_limit(void **state)
{
	struct uhca_abi_qp_attr a = fixture_attr(IBV_QPS_RTS);
	struct subject s;

	(void)state;
	start(&s, IBV_QPT_RC, QPS_RTR);
	a.rate_limit = 100000001;
	refuse(&s, &a, RTS_RC | IBV_QP_RATE_LIMIT, -EINVAL);
	a.rate_limit = 5000;
	assert_int_equal(modify(&s, &a, RTS_RC | IBV_QP_RATE_LIMIT), 0);
	assert_int_equal(queried_limit(&s), 5000);
	a.rate_limit = 0;
	assert_int_equal(modify(&s, &a, IBV_QP_RATE_LIMIT), 0);
	assert_int_equal(queried_limit(&s), 0);
	a.rate_limit = 100000000;
	assert_int_equal(modify(&s, &a, IBV_QP_RATE_LIMIT), 0);
	a = fixture_attr(IBV_QPS_RESET);
	assert_int_equal(modify(&s, &a, IBV_QP_STATE), 0);
	assert_int_equal(queried_limit(&s), 0);
	finish(&s);
	start(&s, IBV_QPT_UD, QPS_INIT);
	a = fixture_attr(IBV_QPS_RTR);
	refuse(&s, &a, IBV_QP_STATE | IBV_QP_RATE_LIMIT, -EINVAL);
	finish(&s);
	start(&s, IBV_QPT_RC, QPS_RTR);
	s.f.dev->cfg.no_pacing = true;
	a = fixture_attr(IBV_QPS_RTS);
	refuse(&s, &a, RTS_RC | IBV_QP_RATE_LIMIT, -EOPNOTSUPP);
	finish(&s);
}

/* PSNs have 24 bits; what is above is cut off. */
static void test_psn_mask(void **state)
{
	struct uhca_abi_qp_attr a = fixture_attr(IBV_QPS_RTR);
	struct subject s;

	(void)state;
	start(&s, IBV_QPT_RC, QPS_INIT);
	a.rq_psn = 0xff123456;
	assert_int_equal(modify(&s, &a, RTR_RC), 0);
	assert_int_equal(s.qp->attr.rq_psn, 0x123456);
	assert_int_equal(s.qp->resp.epsn, 0x123456);
	a = fixture_attr(IBV_QPS_RTS);
	a.sq_psn = 0xee654321;
	assert_int_equal(modify(&s, &a, RTS_RC), 0);
	assert_int_equal(s.qp->attr.sq_psn, 0x654321);
	assert_int_equal(s.qp->req.next_psn, 0x654321);
	finish(&s);
}

/* ---- what follows ---- */

static void test_flow_and_mtu(void **state)
{
	struct uhca_abi_qp_attr a = fixture_attr(IBV_QPS_RTR);
	struct subject s;

	(void)state;
	for (uint32_t mtu = IBV_MTU_256; mtu <= IBV_MTU_4096; mtu++) {
		start(&s, IBV_QPT_RC, QPS_INIT);
		a.path_mtu = mtu;
		a.ah.traffic_class = 0x68;
		assert_int_equal(modify(&s, &a, RTR_RC), 0);
		assert_int_equal(s.qp->mtu, 128u << mtu);
		assert_memory_equal(s.qp->flow.src, s.f.cfg.gid[FIXTURE_GID_V4], 16);
		assert_memory_equal(s.qp->flow.dst, a.ah.dgid, 16);
		assert_int_equal(s.qp->flow.tclass, 0x68);
		assert_int_equal(s.qp->flow.dport, 4791);
		assert_int_equal(s.qp->flow.sport, source_port_connected(s.qp->qpn, 0x1234, 0));
		finish(&s);
	}
}

static void test_replay(void **state)
{
	struct uhca_abi_qp_attr a = fixture_attr(IBV_QPS_SQD);
	const struct replay_entry *kept;
	struct subject s;

	(void)state;
	start(&s, IBV_QPT_RC, QPS_SQD);
	assert_int_equal(s.qp->resp.replay.size, 8);
	kept = s.qp->resp.replay.entry;
	assert_int_equal(modify(&s, &a, IBV_QP_MAX_DEST_RD_ATOMIC), 0);
	assert_ptr_equal(s.qp->resp.replay.entry, kept);
	a.max_dest_rd_atomic = 2;
	assert_int_equal(modify(&s, &a, IBV_QP_MAX_DEST_RD_ATOMIC), 0);
	assert_int_equal(s.qp->resp.replay.size, 2);
	a.qp_state = IBV_QPS_RESET;
	assert_int_equal(modify(&s, &a, IBV_QP_STATE), 0);
	assert_int_equal(s.qp->resp.replay.size, 0);
	finish(&s);
}

/* RESET forgets everything that was set, and the way up can be gone again. */
static void test_reset(void **state)
{
	struct uhca_abi_qp_attr a = fixture_attr(IBV_QPS_RESET), none = {0};
	struct subject s;
	uint16_t sport;

	(void)state;
	start(&s, IBV_QPT_RC, QPS_RTS);
	sport = s.qp->flow.sport;
	s.qp->comm_established = true;
	assert_int_equal(modify(&s, &a, IBV_QP_STATE), 0);
	assert_memory_equal(&s.qp->attr, &none, sizeof(none));
	assert_false(s.qp->comm_established);
	fixture_connect(&s.f, &s.handles, IBV_QPT_RC);
	assert_int_equal(s.qp->flow.sport, sport);
	finish(&s);
}

static void test_sqd_notify(void **state)
{
	struct uhca_abi_qp_attr a = fixture_attr(IBV_QPS_SQD);
	struct subject s;

	(void)state;
	start(&s, IBV_QPT_RC, QPS_RTS);
	a.en_sqd_async_notify = 1;
	assert_int_equal(modify(&s, &a, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY), 0);
	assert_int_equal(s.f.async, 1); /* nothing is under way: drained at once */
	assert_int_equal(s.f.async_event[0].event.type, UHCA_ABI_EVENT_SQ_DRAINED);
	assert_int_equal(s.f.async_event[0].event.element, 0x9b);
	/* The wish holds for this drain only. */
	a.qp_state = IBV_QPS_RTS;
	assert_int_equal(modify(&s, &a, IBV_QP_STATE), 0);
	a.qp_state = IBV_QPS_SQD;
	assert_int_equal(modify(&s, &a, IBV_QP_STATE), 0);
	assert_int_equal(s.f.async, 1);
	assert_int_equal(s.qp->attr.en_sqd_async_notify, 0);
	finish(&s);
}

static void test_set_state(void **state)
{
	struct subject s;

	(void)state;
	start(&s, IBV_QPT_RC, QPS_RTS);
	qp_set_state(s.qp, QPS_ERR);
	assert_int_equal(s.f.trace.point, CORE_TRACE_QP_STATE);
	assert_int_equal(s.f.trace.qpn, s.qp->qpn);
	assert_int_equal(s.f.trace.a, QPS_RTS);
	assert_int_equal(s.f.trace.b, QPS_ERR);
	assert_int_equal(s.qp->page->recv_doorbell, 1);
	qp_set_state(s.qp, QPS_RESET);
	assert_int_equal(s.qp->page->recv_doorbell, 0);
	finish(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_transitions),  cmocka_unit_test(test_without_state),
		cmocka_unit_test(test_wrong_states), cmocka_unit_test(test_handles),
		cmocka_unit_test(test_init_values),  cmocka_unit_test(test_rtr_values),
		cmocka_unit_test(test_rts_values),   cmocka_unit_test(test_rate_limit),
		cmocka_unit_test(test_psn_mask),     cmocka_unit_test(test_flow_and_mtu),
		cmocka_unit_test(test_replay),       cmocka_unit_test(test_active_mtu),
		cmocka_unit_test(test_reset),        cmocka_unit_test(test_sqd_notify),
		cmocka_unit_test(test_set_state),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
