/* SPDX-License-Identifier: BSD-2-Clause */
/* The hash against the published verification values of RSS, and which fields go into it. */
#include "tests/sim/world/segment.h"

#include "emu/core/queues/rss.h"

#include <errno.h>

/* Key and addresses of the RSS verification suite that adapters are tested with. */
static const uint8_t key[40] = {
	0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3,
	0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3,
	0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
};

static void test_known_values(void **state)
{
	static const uint8_t v4[12] = {66, 9, 149, 187, 161, 142, 100, 80, 0x0a, 0xea, 0x06, 0xe6};
	static const uint8_t v6[36] = {
		0x3f, 0xfe, 0x25, 0x01, 0x02, 0x00, 0x1f,     0xff, [15] = 7, 0x3f, 0xfe,
		0x25, 0x01, 0x02, 0x00, 0x00, 0x03, [31] = 1, 0x0a, 0xea,     0x06, 0xe6};

	(void)state;
	assert_int_equal(rss_toeplitz(key, v4, 8), 0x323e8fc2);
	assert_int_equal(rss_toeplitz(key, v4, 12), 0x51ccc178);
	assert_int_equal(rss_toeplitz(key, v6, 32), 0x2cc18cd5);
	assert_int_equal(rss_toeplitz(key, v6, 36), 0x40207d3d);
	assert_int_equal(rss_toeplitz(key, v4, 0), 0);
}

#define WQS 4u

struct spread {
	struct pair p;
	uint32_t pd, wq[WQS], wqn[WQS], table, qp, flow;
	struct uhca_abi_queue *page[WQS];
};

static void make_wq(struct spread *s, unsigned i)
{
	struct uhca_cmd_create_wq in = {
		.pd = s->p.b.c.pd, .cq = s->p.b.cq.handle, .max_wr = 16, .max_sge = 1};
	struct uhca_cmd_create_srq_reply out;
	struct uhca_cmd_modify_wq ready = {.attr_mask = 1, .wq_state = 1};
	struct core_ring ring;

	assert_int_equal(core_create_wq(s->p.b.c.core, &in, &out, &ring), 0);
	s->wq[i] = ready.handle = out.handle;
	s->wqn[i] = out.srq_num;
	s->page[i] = ring.base;
	assert_int_equal(core_modify_wq(s->p.b.c.core, &ready, 0), 0);
	for (unsigned k = 0; k < 16; k++) {
		uint8_t *slot = (uint8_t *)ring.base + out.recv.offset + k * out.recv.stride;
		struct uhca_abi_recv_wqe wqe = {.wr_id = k, .num_sge = 1};
		struct uhca_abi_sge sge = {s->p.b.mr.addr + 65536, 1024, s->p.b.mr.lkey};
		memcpy(slot, &wqe, sizeof(wqe));
		memcpy(slot + sizeof(wqe), &sge, sizeof(sge));
	}
	uhca_ring_publish(&s->page[i]->recv.producer, 16);
}

static struct uhca_cmd_create_qp qp_request(const struct spread *s, uint64_t fields)
{
	struct uhca_cmd_create_qp in = {.pd = s->p.b.c.pd,
					.qp_type = IBV_QPT_RAW_PACKET,
					.rwq_ind_table = s->table,
					.rx_hash_fields = fields,
					.rx_hash_function = 1,
					.rx_hash_key_len = 40};

	memcpy(in.rx_hash_key, key, sizeof(key));
	return in;
}

static void start(struct spread *s, uint64_t fields)
{
	struct uhca_cmd_create_rwq_ind_table table = {.log_size = 2};
	struct uhca_cmd_create_flow all = segment_request(1, 0, 0);
	struct uhca_cmd_create_qp_reply reply;
	struct uhca_cmd_create_qp in;
	struct core_ring ring;

	segment_create(&s->p);
	for (unsigned i = 0; i < WQS; i++) {
		make_wq(s, i);
		table.wq[i] = s->wq[i];
	}
	assert_int_equal(core_create_rwq_ind_table(s->p.b.c.core, &table, &s->table), 0);
	in = qp_request(s, fields);
	assert_int_equal(core_create_qp(s->p.b.c.core, &in, &reply, &ring), 0);
	s->qp = all.qp = reply.handle;
	assert_int_equal(core_create_flow(s->p.b.c.core, &all, &s->flow), 0);
}

/* Everything goes, users before what they use, and not earlier. */
static void finish(struct spread *s)
{
	struct client *c = s->p.b.c.core;

	assert_int_equal(core_destroy_qp(c, s->qp), -EBUSY);
	assert_int_equal(core_destroy_flow(c, s->flow), 0);
	assert_int_equal(core_destroy_rwq_ind_table(c, s->table), -EBUSY);
	assert_int_equal(core_destroy_qp(c, s->qp), 0);
	assert_int_equal(core_destroy_wq(c, s->wq[0]), -EBUSY);
	assert_int_equal(core_destroy_rwq_ind_table(c, s->table), 0);
	for (unsigned i = 0; i < WQS; i++)
		assert_int_equal(core_destroy_wq(c, s->wq[i]), 0);
	side_ignore(&s->p.b, 65536, 1024);
	pair_finish(&s->p);
}

/* Which queue takes the frame? */
static unsigned which(struct spread *s, const struct segment_frame *f)
{
	unsigned n = s->p.b.n_wc;

	segment_send(&s->p.a, f, 1);
	assert_int_equal(s->p.b.n_wc, n + 1);
	for (unsigned i = 0; i < WQS; i++)
		if (s->p.b.wc[n].qpn == s->wqn[i])
			return i;
	fail();
	return 0;
}

static void test_fields(void **state)
{
	struct segment_frame f = segment_udp();
	struct spread s;

	(void)state;
	f.src_ip = 0x420995bb;
	f.dst_ip = 0xa18e6450;
	f.src_port = 2794;
	f.dst_port = 1766;
	start(&s, 3); /* IPv4 addresses */
	assert_int_equal(which(&s, &f), 0x323e8fc2 & 3);
	f.src_port++;
	assert_int_equal(which(&s, &f), 0x323e8fc2 & 3);
	f.ipv6 = true; /* none of the fields */
	assert_int_equal(which(&s, &f), 0);
	finish(&s);
	f.ipv6 = false;
	f.src_port--;
	start(&s, 3 | 0xc0); /* and UDP ports */
	assert_int_equal(which(&s, &f), 0x51ccc178 & 3);
	f.protocol = 6; /* TCP has ports, too, but was not asked for */
	assert_int_equal(which(&s, &f), 0x323e8fc2 & 3);
	finish(&s);
}

static int try(struct spread *s, const struct uhca_cmd_create_qp *in)
{
	struct uhca_cmd_create_qp_reply reply;
	struct core_ring ring;

	return core_create_qp(s->p.b.c.core, in, &reply, &ring);
}

static void test_refusals(void **state)
{
	struct uhca_cmd_create_qp ok, in;
	struct uhca_cmd_modify_qp modify = {.attr_mask = IBV_QP_STATE | IBV_QP_PORT};
	struct spread s;

	(void)state;
	start(&s, 3);
	ok = qp_request(&s, 3);
	in = ok, in.rx_hash_fields = 0x100;
	assert_int_equal(try(&s, &in), -EOPNOTSUPP);
	in = ok, in.rx_hash_function = 2;
	assert_int_equal(try(&s, &in), -EOPNOTSUPP);
	in = ok, in.rx_hash_key_len = 39;
	assert_int_equal(try(&s, &in), -EINVAL);
	in = ok, in.qp_type = IBV_QPT_UD;
	assert_int_equal(try(&s, &in), -EOPNOTSUPP);
	in = ok, in.max_send_wr = 1;
	assert_int_equal(try(&s, &in), -EINVAL);
	in = ok, in.rwq_ind_table = 99;
	assert_int_equal(try(&s, &in), -ENOENT);
	modify.handle = s.qp;
	modify.attr.qp_state = IBV_QPS_INIT;
	modify.attr.port_num = 1;
	assert_int_equal(core_modify_qp(s.p.b.c.core, &modify, 0), -EOPNOTSUPP);
	finish(&s);
}

/* The client dies with all of it. */
static void test_death(void **state)
{
	struct spread s;

	(void)state;
	start(&s, 3);
	pair_finish(&s.p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_values),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_death),
	};

	return cmocka_run_group_tests_name("rss", tests, NULL, NULL);
}
