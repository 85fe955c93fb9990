/* SPDX-License-Identifier: BSD-2-Clause */
/* Queue pairs: what can be made, how its memory is laid out, its numbers, its end. */
#include "tests/support/core/core_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include "emu/core/qp/qp.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <string.h>

struct made {
	struct uhca_cmd_create_qp_reply r;
	struct core_ring ring;
	struct qp *qp;
};

static struct uhca_cmd_create_qp request(struct fixture *f)
{
	struct uhca_cmd_create_qp in = {
		.cookie = 0x77,
		.pd = fixture_pd(f),
		.qp_type = IBV_QPT_RC,
		.max_send_wr = 10,
		.max_recv_wr = 20,
		.max_send_sge = 2,
		.max_recv_sge = 3,
		.max_inline_data = 100,
	};
	in.send_cq = in.recv_cq = fixture_cq(f, 10);
	return in;
}

static int create(struct fixture *f, const struct uhca_cmd_create_qp *in, struct made *m)
{
	uint32_t before = core_object_count(f->dev, CORE_OBJECT_QP);
	unsigned rings = f->rings;
	int err = core_create_qp(f->client, in, &m->r, &m->ring);

	assert_int_equal(core_object_count(f->dev, CORE_OBJECT_QP), before + !err);
	assert_int_equal(f->dev->qpns.used, f->dev->qps.used);
	assert_int_equal(f->rings, rings + !err);
	m->qp = err ? NULL : table_find(&f->dev->qps, m->r.handle);
	return err;
}

static void small(struct core_config *cfg)
{
	cfg->limits.max_qp = 3;
	cfg->limits.max_qp_wr = 100;
	cfg->limits.max_sge = 5;
	cfg->limits.max_inline_data = 200;
}

/* Parts lie behind one another, inside the region, as the reply says. */
static void check_layout(const struct made *m)
{
	const struct uhca_abi_queue_layout *s = &m->r.send, *r = &m->r.recv;
	const struct uhca_abi_region *header = m->ring.base;
	uint64_t send_end = s->offset + (uint64_t)s->entries * s->stride;
	uint64_t recv_end = r->offset + (uint64_t)r->entries * r->stride;
	uint64_t data_end = s->data_offset + (uint64_t)s->entries * s->data_stride;

	assert_int_equal(header->magic, UHCA_ABI_MAGIC);
	assert_int_equal(header->kind, UHCA_ABI_REGION_QP);
	assert_int_equal(m->r.region_size, m->ring.size);
	assert_int_equal(s->offset, 4096);
	assert_true(s->offset % 64 == 0 && r->offset % 32 == 0 && s->data_offset % 64 == 0);
	assert_true(send_end <= r->offset);
	assert_true(recv_end <= s->data_offset);
	assert_true(data_end <= m->ring.size);
	assert_ptr_equal(m->qp->req.sq.slots, (uint8_t *)m->ring.base + s->offset);
	assert_ptr_equal(m->qp->req.sq.data, (uint8_t *)m->ring.base + s->data_offset);
	assert_ptr_equal(m->qp->rq.slots, (uint8_t *)m->ring.base + r->offset);
	memset((uint8_t *)m->ring.base + 4096, 0xaa, m->ring.size - 4096); /* ASan looks */
}

static void test_create(void **state)
{
	struct fixture f;
	struct uhca_cmd_create_qp in;
	struct made m;

	(void)state;
	fixture_start(&f, NULL);
	in = request(&f);
	assert_int_equal(create(&f, &in, &m), 0);
	check_layout(&m);
	assert_int_equal(m.r.max_send_wr, 16);
	assert_int_equal(m.r.max_recv_wr, 32);
	assert_int_equal(m.r.max_send_sge, 2);
	assert_int_equal(m.r.max_recv_sge, 3);
	assert_true(m.r.max_inline_data >= 100);
	assert_true(m.r.max_inline_data <= m.r.send.data_stride);
	assert_int_equal(m.r.send.stride, UHCA_ABI_SEND_STRIDE(2));
	assert_int_equal(m.r.recv.stride, UHCA_ABI_RECV_STRIDE(3));
	assert_int_equal(m.qp->state, QPS_RESET);
	assert_int_equal(m.r.doorbell, 0);
	assert_true(m.r.qpn > 1 && m.r.qpn < 0xffffff);
	assert_ptr_equal(device_find_qp(f.dev, m.r.qpn), m.qp);
	assert_int_equal(m.qp->flow.dport, 4791);
	assert_true(m.qp->flow.sport >= 0xc000);
	assert_int_equal(m.qp->mtu, 4096);
	fixture_stop(&f);
}

static void test_no_queues(void **state)
{
	struct fixture f;
	struct uhca_cmd_create_qp in;
	struct made m;

	(void)state;
	fixture_start(&f, NULL);
	in = request(&f);
	in.max_send_wr = in.max_recv_wr = in.max_send_sge = in.max_recv_sge = 0;
	in.max_inline_data = 0;
	assert_int_equal(create(&f, &in, &m), 0);
	assert_int_equal(m.r.send.entries, 0);
	assert_int_equal(m.r.recv.entries, 0);
	assert_int_equal(m.r.max_send_wr, 0);
	assert_int_equal(m.r.max_recv_wr, 0);
	check_layout(&m);
	fixture_stop(&f);
}

static void test_limits(void **state)
{
	struct fixture f;
	struct uhca_cmd_create_qp in, ok;
	struct made m;

	(void)state;
	fixture_start(&f, small);
	ok = request(&f);
	in = ok;
	in.max_send_wr = 101;
	assert_int_equal(create(&f, &in, &m), -EINVAL);
	in = ok;
	in.max_recv_wr = 101;
	assert_int_equal(create(&f, &in, &m), -EINVAL);
	in = ok;
	in.max_send_sge = 6;
	assert_int_equal(create(&f, &in, &m), -EINVAL);
	in = ok;
	in.max_recv_sge = 6;
	assert_int_equal(create(&f, &in, &m), -EINVAL);
	in = ok;
	in.max_inline_data = 201;
	assert_int_equal(create(&f, &in, &m), -EINVAL);
	in = ok;
	in.max_send_wr = in.max_recv_wr = 100;
	in.max_send_sge = in.max_recv_sge = 5;
	in.max_inline_data = 200;
	assert_int_equal(create(&f, &in, &m), 0);
	assert_int_equal(m.r.max_send_wr, 100); /* 128 slots, but no more is promised */
	assert_int_equal(m.r.max_inline_data, 200);
	check_layout(&m);
	assert_int_equal(create(&f, &ok, &m), 0);
	assert_int_equal(create(&f, &ok, &m), 0);
	assert_int_equal(create(&f, &ok, &m), -ENOMEM); /* max_qp */
	fixture_stop(&f);
}

static void test_refusals(void **state)
{
	static const uint32_t optional[] = {IBV_QPT_RAW_PACKET, IBV_QPT_XRC_SEND, IBV_QPT_XRC_RECV};
	struct fixture f;
	struct uhca_cmd_create_qp in, ok;
	uint32_t features;
	struct made m;

	(void)state;
	fixture_start(&f, NULL);
	in = ok = request(&f);
	features = f.dev->cfg.features;
	f.dev->cfg.features = 0;
	for (unsigned i = 0; i < sizeof(optional) / sizeof(optional[0]); i++) {
		in.qp_type = optional[i];
		assert_int_equal(create(&f, &in, &m), -EOPNOTSUPP);
	}
	f.dev->cfg.features = features;
	in.qp_type = 5;
	assert_int_equal(create(&f, &in, &m), -EINVAL);
	in = ok;
	in.create_flags = IBV_QP_CREATE_BLOCK_SELF_MCAST_LB;
	assert_int_equal(create(&f, &in, &m), -EOPNOTSUPP);
	in = ok;
	in.pd++;
	assert_int_equal(create(&f, &in, &m), -ENOENT);
	in = ok;
	in.send_cq++;
	assert_int_equal(create(&f, &in, &m), -ENOENT);
	in = ok;
	in.recv_cq = 0;
	assert_int_equal(create(&f, &in, &m), -ENOENT);
	in = ok;
	in.srq = 12345;
	assert_int_equal(create(&f, &in, &m), -ENOENT);
	f.fail_ring = 1;
	assert_int_equal(create(&f, &ok, &m), -ENOMEM);
	assert_int_equal(core_create_qp(f.other, &ok, &m.r, &m.ring), -ENOENT);
	/* Nothing that was refused holds on to anything. */
	assert_int_equal(core_destroy_cq(f.client, ok.send_cq), 0);
	assert_int_equal(core_dealloc_pd(f.client, ok.pd), 0);
	fixture_stop(&f);
}

/* What a flag is good for, and that a profile may lack it. */
static void test_create_flags(void **state)
{
	static const struct {
		uint32_t flags, type, missing; /* features */
		int result;
	} row[] = {
		{QP_CREATE_BLOCK_SELF_MCAST_LB, QPT_UD, 0, 0},
		{QP_CREATE_BLOCK_SELF_MCAST_LB, QPT_RC, 0, -EOPNOTSUPP},
		{QP_CREATE_BLOCK_SELF_MCAST_LB, QPT_UD, UHCA_ABI_HAS_MCAST, -EOPNOTSUPP},
		{QP_CREATE_BLOCK_SELF_MCAST_LB, QPT_UD, UHCA_ABI_HAS_BLOCK_LOOPBACK, -EOPNOTSUPP},
		{UHCA_ABI_QP_LOW_LATENCY, QPT_RC, 0, 0},
		{UHCA_ABI_QP_LOW_LATENCY, QPT_UC, 0, 0},
		{UHCA_ABI_QP_LOW_LATENCY, QPT_UD, 0, 0},
		{UHCA_ABI_QP_LOW_LATENCY | QP_CREATE_BLOCK_SELF_MCAST_LB, QPT_UD, 0, 0},
		{UHCA_ABI_QP_LOW_LATENCY, QPT_XRC_SEND, 0, -EOPNOTSUPP},
		{UHCA_ABI_QP_LOW_LATENCY, QPT_RAW_PACKET, 0, -EOPNOTSUPP},
		{UHCA_ABI_QP_LOW_LATENCY, QPT_RC, UHCA_ABI_HAS_LOW_LATENCY, -EOPNOTSUPP},
		{UHCA_ABI_QP_LOW_LATENCY | 1, QPT_RC, 0, -EOPNOTSUPP},
		{1u << 30, QPT_UD, 0, -EOPNOTSUPP},
	};
	struct uhca_cmd_create_qp in;
	struct fixture f;
	uint32_t features;
	struct made m;

	(void)state;
	fixture_start(&f, NULL);
	features = f.dev->cfg.features;
	in = request(&f);
	for (unsigned i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		f.dev->cfg.features = features & ~row[i].missing;
		in.create_flags = row[i].flags;
		in.qp_type = row[i].type;
		assert_int_equal(create(&f, &in, &m), row[i].result);
	}
	fixture_stop(&f);
}

/* Its queue is shallow, whatever the slots are rounded up to. */
static void test_low_latency_depth(void **state)
{
	struct uhca_cmd_create_qp in;
	struct fixture f;
	struct made m;

	(void)state;
	fixture_start(&f, NULL);
	f.dev->cfg.limits.max_low_latency_wr = 10;
	in = request(&f);
	in.create_flags = UHCA_ABI_QP_LOW_LATENCY;
	in.max_send_wr = 11;
	assert_int_equal(create(&f, &in, &m), -EINVAL);
	in.max_send_wr = 10;
	assert_int_equal(create(&f, &in, &m), 0);
	assert_int_equal(m.r.max_send_wr, 10);
	qp_kick(m.qp);
	assert_true(list_empty(&f.dev->tx_ready));
	assert_false(list_empty(&f.dev->tx_urgent));
	assert_int_equal(core_destroy_qp(f.client, m.r.handle), 0);
	assert_true(list_empty(&f.dev->tx_urgent));
	fixture_stop(&f);
}

static uint32_t gather_limit;

static void set_gather(struct core_config *cfg)
{
	cfg->gather_limit = gather_limit;
}

/*
 * Bytes per slot that the provider may fill: the inline data asked for, or what the budget has, and
 * at least the eight bytes of an ATOMIC WRITE.
 */
static void test_data_stride(void **state)
{
	static const struct {
		uint32_t gather, wr, inline_data, stride;
	} row[] = {
		{0, 16, 0, 64},       {0, 16, 1, 64},
		{0, 16, 65, 128},     {63, 16, 0, 64},
		{64, 16, 0, 64},      {4096, 64, 0, 4096},
		{4096, 65, 0, 2048},  {4096, 128, 0, 2048},
		{4096, 16384, 0, 64}, {4096, 16384, 1024, 1024},
		{3000, 1, 0, 2048},   {4096, 0, 0, 64},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct fixture f;
		struct uhca_cmd_create_qp in;
		struct made m;
		gather_limit = row[i].gather;
		fixture_start(&f, set_gather);
		in = request(&f);
		in.max_send_wr = row[i].wr;
		in.max_inline_data = row[i].inline_data;
		assert_int_equal(create(&f, &in, &m), 0);
		assert_int_equal(m.r.send.data_stride, row[i].stride);
		assert_true(m.r.max_inline_data >= row[i].inline_data);
		assert_true(m.r.max_inline_data <= row[i].stride);
		check_layout(&m);
		fixture_stop(&f);
	}
}

static void test_srq(void **state)
{
	struct fixture f;
	struct uhca_cmd_create_qp in;
	struct made m;

	(void)state;
	fixture_start(&f, NULL);
	in = request(&f);
	in.srq = fixture_srq(&f, in.pd);
	in.max_recv_wr = UINT32_MAX; /* means nothing with an SRQ */
	in.max_recv_sge = UINT32_MAX;
	assert_int_equal(create(&f, &in, &m), 0);
	assert_int_equal(m.r.recv.entries, 0);
	assert_int_equal(m.r.max_recv_wr, 0);
	assert_int_equal(m.r.max_recv_sge, 0);
	check_layout(&m);
	assert_int_equal(core_destroy_srq(f.client, in.srq), -EBUSY);
	assert_int_equal(core_destroy_qp(f.client, m.r.handle), 0);
	assert_int_equal(core_destroy_srq(f.client, in.srq), 0);
	fixture_stop(&f);
}

static void test_destroy(void **state)
{
	struct fixture f;
	struct uhca_cmd_create_qp in;
	struct made m;
	uint32_t qpn;

	(void)state;
	fixture_start(&f, NULL);
	in = request(&f);
	in.recv_cq = fixture_cq(&f, 10);
	assert_int_equal(create(&f, &in, &m), 0);
	assert_int_equal(core_destroy_cq(f.client, in.send_cq), -EBUSY);
	assert_int_equal(core_destroy_cq(f.client, in.recv_cq), -EBUSY);
	assert_int_equal(core_dealloc_pd(f.client, in.pd), -EBUSY);
	assert_int_equal(core_destroy_qp(f.other, m.r.handle), -ENOENT);
	m.qp->obj.refs = 1;
	assert_int_equal(core_destroy_qp(f.client, m.r.handle), -EBUSY);
	m.qp->obj.refs = 0;
	qp_kick(m.qp);
	qpn = m.r.qpn;
	assert_int_equal(core_destroy_qp(f.client, m.r.handle), 0);
	assert_null(device_find_qp(f.dev, qpn));
	assert_true(list_empty(&f.dev->tx_ready));
	assert_int_equal(core_destroy_qp(f.client, m.r.handle), -ENOENT);
	assert_int_equal(core_destroy_cq(f.client, in.send_cq), 0);
	assert_int_equal(core_destroy_cq(f.client, in.recv_cq), 0);
	assert_int_equal(core_dealloc_pd(f.client, in.pd), 0);
	assert_int_equal(f.rings, 0);
	fixture_stop(&f);
}

/* A QP with its timer running goes without leaving it in the heap. */
static void test_destroy_with_timer(void **state)
{
	struct fixture f;
	struct fixture_qp qp;

	(void)state;
	fixture_start(&f, NULL);
	qp = fixture_qp(&f, IBV_QPT_RC);
	fixture_connect(&f, &qp, IBV_QPT_RC);
	timer_set(&f.dev->timers, &device_find_qp(f.dev, qp.qpn)->req.timer, 500);
	assert_int_equal(core_next_deadline(f.dev), 500);
	fixture_qp_destroy(&f, &qp);
	assert_true(core_next_deadline(f.dev) == UINT64_MAX);
	core_tick(f.dev, 1000);
	fixture_stop(&f);
}

/* The number of a QP that is gone does not come back soon. */
static void test_numbers(void **state)
{
	struct fixture f;
	struct uhca_cmd_create_qp in;
	struct made m;
	uint32_t seen[1000];

	(void)state;
	fixture_start(&f, NULL);
	in = request(&f);
	for (unsigned i = 0; i < 1000; i++) {
		assert_int_equal(create(&f, &in, &m), 0);
		for (unsigned k = 0; k < i; k++)
			assert_int_not_equal(seen[k], m.r.qpn);
		seen[i] = m.r.qpn;
		assert_int_equal(core_destroy_qp(f.client, m.r.handle), 0);
	}
	fixture_stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_create),       cmocka_unit_test(test_no_queues),
		cmocka_unit_test(test_limits),       cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_create_flags), cmocka_unit_test(test_low_latency_depth),
		cmocka_unit_test(test_data_stride),  cmocka_unit_test(test_srq),
		cmocka_unit_test(test_destroy),      cmocka_unit_test(test_destroy_with_timer),
		cmocka_unit_test(test_numbers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
