/* SPDX-License-Identifier: BSD-2-Clause */
/* Steering: each specification, priorities, default rules, sniffers, actions, and refusals. */
#include "tests/sim/world/segment.h"

#include <errno.h>
#include <string.h>

enum { NORMAL, ALL_DEFAULT, MC_DEFAULT, SNIFFER };

#define DONT_TRAP (1u << 1)
#define EGRESS    (1u << 2)

static uint32_t rule(struct side *s, const struct uhca_cmd_create_flow *in)
{
	uint32_t handle = 0;

	assert_int_equal(segment_rule(s, in, &handle), 0);
	return handle;
}

/* Sends the frame from a; who got it? Bit 0: a, bit 1: b. */
static unsigned who(struct pair *p, const struct segment_frame *f)
{
	unsigned a = p->a.n_wc, b = p->b.n_wc;

	segment_send(&p->a, f, 1);
	a = p->a.n_wc - a;
	b = p->b.n_wc - b;
	assert_true(a >= 1 && a <= 2 && b <= 1);
	return (a - 1) | b << 1;
}

static void finish(struct pair *p)
{
	side_ignore(&p->a, 65536, 16 * 1024);
	side_ignore(&p->b, 65536, 16 * 1024);
	pair_finish(p);
}

/*
 * A rule whose specification has value and mask at the offset matches, and one bit more does not.
 */
static void check_spec(uint32_t type, unsigned at, const void *value, unsigned n, bool ipv6)
{
	struct uhca_cmd_create_flow in = segment_request(NORMAL, 0, type);
	struct segment_frame f = segment_udp();
	struct pair p;
	uint32_t handle;

	f.ipv6 = ipv6;
	if (type == 0x40)
		f.protocol = 6;
	segment_create(&p);
	memcpy(in.spec[0].value + at, value, n);
	memset(in.spec[0].mask + at, 0xff, n);
	handle = rule(&p.b, &in);
	assert_int_equal(who(&p, &f), 2);
	assert_int_equal(core_destroy_flow(p.b.c.core, handle), 0);
	assert_int_equal(who(&p, &f), 0);
	in.spec[0].value[at] ^= 1;
	handle = rule(&p.b, &in);
	assert_int_equal(who(&p, &f), 0);
	in.spec[0].mask[at] ^= 1; /* that bit does not matter */
	rule(&p.b, &in);
	assert_int_equal(who(&p, &f), 2);
	finish(&p);
}

static void test_specs(void **state)
{
	(void)state;
	check_spec(0x20, 0, "\2\0\0\0\0\2", 6, false);
	check_spec(0x20, 12, "\x08", 2, false);
	check_spec(0x30, 0, "\x0a\0\0\1", 4, false);
	check_spec(0x31, 12, "\x0a\0\0\1", 4, true);
	check_spec(0x32, 8, "\x11", 1, false);
	check_spec(0x40, 0, "\x07\xd0\x03\xe8", 4, false);
	check_spec(0x41, 0, "\x07\xd0", 2, true);
}

/* A layer that the frame does not have never matches, not even with an empty mask. */
static void test_missing_layer(void **state)
{
	static const uint32_t other[] = {0x31, 0x40, 0x50, 0x51};
	struct segment_frame f = segment_udp();
	struct pair p;

	(void)state;
	segment_create(&p);
	for (unsigned i = 0; i < 4; i++) {
		struct uhca_cmd_create_flow in = segment_request(NORMAL, 0, other[i]);
		rule(&p.b, &in);
	}
	assert_int_equal(who(&p, &f), 0);
	finish(&p);
}

static void test_priority(void **state)
{
	struct uhca_cmd_create_flow low = segment_request(NORMAL, 7, 0x20);
	struct uhca_cmd_create_flow high = segment_request(NORMAL, 3, 0x20);
	struct segment_frame f = segment_udp();
	uint32_t first;
	struct pair p;

	(void)state;
	segment_create(&p);
	rule(&p.a, &low);
	rule(&p.b, &low);
	/* Rules of one device compete; each device has its own. */
	assert_int_equal(who(&p, &f), 3);
	core_destroy_flow(p.b.c.core, rule(&p.b, &high));
	high.n_specs = 2;
	high.spec[1].type = 0x1001; /* drop */
	first = rule(&p.a, &high);
	assert_int_equal(who(&p, &f), 2);
	assert_int_equal(core_destroy_flow(p.a.c.core, first), 0);
	assert_int_equal(who(&p, &f), 3);
	finish(&p);
}

/* Two QPs of one device: a's own and another, by DONT_TRAP and by equal priority. */
static void test_several(void **state)
{
	struct uhca_cmd_create_flow in = segment_request(NORMAL, 3, 0x20);
	struct segment_frame f = segment_udp();
	struct vqp second;
	struct vqp_init init = {.type = IBV_QPT_RAW_PACKET};
	uint32_t handle;
	struct pair p;

	(void)state;
	segment_create(&p);
	init.send_cq = init.recv_cq = &p.b.cq;
	assert_int_equal(vqp_create(&p.b.c, &init, &second), 0);
	segment_activate(&second);
	in.flags = DONT_TRAP;
	rule(&p.b, &in);
	rule(&p.b, &in); /* twice, and yet it gets one copy */
	in.flags = 0;
	in.priority = 4;
	in.qp = second.handle;
	assert_int_equal(core_create_flow(p.b.c.core, &in, &handle), 0);
	assert_int_equal(who(&p, &f), 2);
	/* The second QP has no receive: that it was given the frame shows. */
	assert_int_equal(core_counters(p.b.c.host->dev)->drops[CORE_DROP_NO_RECV], 1);
	assert_int_equal(vqp_destroy(&second), -EBUSY);
	assert_int_equal(core_destroy_flow(p.b.c.core, handle), 0);
	assert_int_equal(vqp_destroy(&second), 0);
	finish(&p);
}

static void test_defaults(void **state)
{
	struct uhca_cmd_create_flow all = segment_request(ALL_DEFAULT, 0, 0);
	struct uhca_cmd_create_flow mc = segment_request(MC_DEFAULT, 0, 0);
	struct uhca_cmd_create_flow sniffer = segment_request(SNIFFER, 0, 0);
	struct uhca_cmd_create_flow one = segment_request(NORMAL, 9, 0x1001);
	struct segment_frame f = segment_udp(), multi = segment_udp();
	struct pair p;

	(void)state;
	multi.dst[0] = 1;
	segment_create(&p);
	rule(&p.b, &mc);
	assert_int_equal(who(&p, &f), 0);
	assert_int_equal(who(&p, &multi), 2);
	rule(&p.a, &all);
	assert_int_equal(who(&p, &f), 1);
	assert_int_equal(who(&p, &multi), 3);
	rule(&p.b, &one); /* drops whatever comes, even before the defaults are asked */
	assert_int_equal(who(&p, &multi), 1);
	rule(&p.b, &sniffer);
	assert_int_equal(who(&p, &f), 3);
	finish(&p);
}

static void test_tag(void **state)
{
	struct uhca_cmd_create_flow in = segment_request(NORMAL, 0, 0x1000);
	struct segment_frame f = segment_udp();
	uint32_t tag = 0xabcdef;
	struct pair p;

	(void)state;
	segment_create(&p);
	memcpy(in.spec[0].value, &tag, 4);
	rule(&p.b, &in);
	assert_int_equal(who(&p, &f), 2);
	assert_int_equal(p.b.wc[0].wqe_index, tag);
	finish(&p);
}

static int try(struct pair *p, uint32_t qp, const struct uhca_cmd_create_flow *in)
{
	struct uhca_cmd_create_flow copy = *in;
	uint32_t handle;

	copy.qp = qp;
	return core_create_flow(p->a.c.core, &copy, &handle);
}

static void test_refusals(void **state)
{
	static const uint32_t absent[] = {0x34, 0x60, 0x120, 0x1002, 0x1003};
	const struct uhca_cmd_create_flow ok = segment_request(NORMAL, 0, 0x20);
	struct uhca_cmd_create_flow in = ok;
	uint32_t qp;
	struct pair p;

	(void)state;
	segment_create(&p);
	qp = p.a.qp.handle;
	for (unsigned i = 0; i < 5; i++) {
		in = segment_request(NORMAL, 0, absent[i]);
		assert_int_equal(try(&p, qp, &in), -EOPNOTSUPP);
	}
	in = ok, in.port = 2;
	assert_int_equal(try(&p, qp, &in), -EINVAL);
	in = ok, in.type = 4;
	assert_int_equal(try(&p, qp, &in), -EINVAL);
	in = ok, in.flags = 1;
	assert_int_equal(try(&p, qp, &in), -EINVAL);
	in = ok, in.flags = EGRESS;
	assert_int_equal(try(&p, qp, &in), -EOPNOTSUPP);
	in = ok, in.n_specs = UHCA_ABI_FLOW_SPECS + 1;
	assert_int_equal(try(&p, qp, &in), -EINVAL);
	in = ok, in.spec[0].reserved = 1;
	assert_int_equal(try(&p, qp, &in), -EINVAL);
	in = segment_request(SNIFFER, 0, 0x20);
	assert_int_equal(try(&p, qp, &in), -EINVAL);
	in = segment_request(ALL_DEFAULT, 0, 0), in.flags = DONT_TRAP;
	assert_int_equal(try(&p, qp, &in), -EINVAL);
	in = segment_request(NORMAL, 0, 0x1001), in.flags = DONT_TRAP;
	assert_int_equal(try(&p, qp, &in), -EINVAL);
	assert_int_equal(try(&p, qp + 1, &ok), -ENOENT);
	assert_int_equal(core_destroy_flow(p.a.c.core, 77), -ENOENT);
	finish(&p);
}

static void test_wrong_qp(void **state)
{
	const struct uhca_cmd_create_flow ok = segment_request(NORMAL, 0, 0x20);
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){.type = IBV_QPT_UD});
	assert_int_equal(try(&p, p.a.qp.handle, &ok), -EOPNOTSUPP);
	pair_finish(&p);
	pair_create(&p, &(struct pair_options){0});
	assert_int_equal(try(&p, p.a.qp.handle, &ok), -EINVAL);
	pair_finish(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_specs),    cmocka_unit_test(test_missing_layer),
		cmocka_unit_test(test_priority), cmocka_unit_test(test_several),
		cmocka_unit_test(test_defaults), cmocka_unit_test(test_tag),
		cmocka_unit_test(test_refusals), cmocka_unit_test(test_wrong_qp),
	};

	return cmocka_run_group_tests_name("flow", tests, NULL, NULL);
}
