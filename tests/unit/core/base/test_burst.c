/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bursts: a burst expanded to packets and put together again is the same burst, for each length,
 * MTU and operation; what does not continue a message is never appended.
 */
#include "tests/support/wire/cmocka_all.h"

#include "emu/core/core.h"
#include "wire/psn.h"

#include <string.h>

static uint8_t payload[65536];

static struct core_burst make(uint8_t first, uint8_t last, uint32_t mtu, uint32_t length)
{
	struct core_burst t;

	memset(&t, 0, sizeof t);
	t.head.bth.opcode.v = first;
	t.last_opcode.v = last;
	t.head.bth.pkey = 0xffff;
	t.head.bth.dest_qp = 0x123;
	t.head.bth.psn = 0xfffffe;
	t.head.reth = (struct roce_reth){0x1000, 0x77, length};
	t.count = length ? (length + mtu - 1) / mtu : 1;
	t.segment = t.count > 1 ? mtu : length;
	t.length = length;
	t.last_ackreq = true;
	t.n_iov = length ? 1 : 0;
	t.iov[0] = (struct iovec){payload, length};
	t.flow.dport = ROCE_UDP_PORT;
	return t;
}

static void rebuild(const struct core_burst *t, struct core_burst *out)
{
	for (uint32_t i = 0; i < t->count; i++) {
		struct roce_packet p;
		uint32_t offset;
		core_burst_packet(t, i, &p, &offset);
		assert_int_equal(p.bth.psn, psn_add(t->head.bth.psn, i));
		assert_int_equal(p.bth.pad, roce_pad(p.payload_len));
		p.payload = payload + offset;
		if (i == 0)
			core_burst_start(out, &p, &t->flow);
		else
			assert_true(core_burst_append(out, &p, &t->flow));
	}
}

static void check_round_trip(uint8_t first, uint8_t last, uint32_t mtu, uint32_t length)
{
	struct core_burst t = make(first, last, mtu, length), back;

	rebuild(&t, &back);
	assert_int_equal(back.count, t.count);
	assert_int_equal(back.length, t.length);
	assert_int_equal(back.segment, t.segment);
	assert_int_equal(back.last_opcode.v, t.last_opcode.v);
	assert_int_equal(back.head.bth.opcode.v, t.head.bth.opcode.v);
	assert_int_equal(back.n_iov, length ? t.count : 0);
	for (uint32_t k = 0, at = 0; k < back.n_iov; at += (uint32_t)back.iov[k++].iov_len)
		assert_ptr_equal(back.iov[k].iov_base, payload + at);
	assert_true(back.last_ackreq);
	assert_int_equal(back.head.bth.ackreq, t.count == 1);
}

static void test_round_trip(void **state)
{
	static const uint32_t mtus[] = {256, 1024, 4096};

	(void)state;
	for (unsigned m = 0; m < 3; m++) {
		uint32_t mtu = mtus[m];
		check_round_trip(ROCE_RC_SEND_ONLY, ROCE_RC_SEND_ONLY, mtu, 0);
		check_round_trip(ROCE_RC_SEND_ONLY, ROCE_RC_SEND_ONLY, mtu, 1);
		check_round_trip(ROCE_RC_WRITE_ONLY_IMM, ROCE_RC_WRITE_ONLY_IMM, mtu, mtu);
		check_round_trip(ROCE_RC_SEND_FIRST, ROCE_RC_SEND_LAST, mtu, mtu + 1);
		check_round_trip(ROCE_RC_SEND_FIRST, ROCE_RC_SEND_MIDDLE, mtu, 4 * mtu);
		check_round_trip(ROCE_RC_WRITE_FIRST, ROCE_RC_WRITE_LAST_IMM, mtu, 15 * mtu + 3);
		check_round_trip(ROCE_RC_WRITE_MIDDLE, ROCE_RC_WRITE_LAST, mtu, 9 * mtu);
		check_round_trip(ROCE_UC_SEND_FIRST, ROCE_UC_SEND_LAST, mtu, 2 * mtu);
		check_round_trip(ROCE_RC_READ_RESPONSE_FIRST, ROCE_RC_READ_RESPONSE_LAST, mtu,
				 7 * mtu + 9);
	}
}

static void test_opcodes_inside(void **state)
{
	struct core_burst t = make(ROCE_RC_WRITE_FIRST, ROCE_RC_WRITE_LAST, 1024, 3000);
	static const uint8_t expect[] = {ROCE_RC_WRITE_FIRST, ROCE_RC_WRITE_MIDDLE,
					 ROCE_RC_WRITE_LAST};

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		struct roce_packet p;
		uint32_t offset;
		core_burst_packet(&t, i, &p, &offset);
		assert_int_equal(p.bth.opcode.v, expect[i]);
		assert_int_equal(offset, i * 1024);
		assert_int_equal(p.payload_len, i < 2 ? 1024 : 952);
		assert_int_equal(p.bth.ackreq, i == 2);
	}
}

/* One field of the second packet is wrong at a time: none may be appended. */
static void test_refusals(void **state)
{
	struct core_burst t = make(ROCE_RC_SEND_FIRST, ROCE_RC_SEND_LAST, 256, 512), one;
	struct roce_packet p, q;
	struct roce_flow other;
	uint32_t offset;

	(void)state;
	core_burst_packet(&t, 0, &p, &offset);
	core_burst_start(&one, &p, &t.flow);
	core_burst_packet(&t, 1, &p, &offset);
	p.payload = payload;
	q = p;
	q.bth.psn = psn_add(q.bth.psn, 1);
	assert_false(core_burst_append(&one, &q, &t.flow));
	q = p;
	q.bth.dest_qp++;
	assert_false(core_burst_append(&one, &q, &t.flow));
	q = p;
	q.bth.opcode.v = ROCE_RC_WRITE_LAST;
	assert_false(core_burst_append(&one, &q, &t.flow));
	q = p;
	q.bth.opcode.v = ROCE_RC_SEND_ONLY;
	assert_false(core_burst_append(&one, &q, &t.flow));
	q = p;
	q.payload_len = 257;
	assert_false(core_burst_append(&one, &q, &t.flow));
	other = t.flow;
	other.sport++;
	assert_false(core_burst_append(&one, &p, &other));
	assert_int_equal(one.count, 1);
	assert_true(core_burst_append(&one, &p, &t.flow));
	/* Behind a LAST, and behind an AckReq, nothing follows. */
	assert_false(core_burst_append(&one, &p, &t.flow));
}

static void test_full(void **state)
{
	struct core_burst t = make(ROCE_RC_SEND_FIRST, ROCE_RC_SEND_MIDDLE, 256, 65536), one;
	struct roce_packet p;
	uint32_t offset, n = 1;

	(void)state;
	core_burst_packet(&t, 0, &p, &offset);
	p.payload = payload;
	core_burst_start(&one, &p, &t.flow);
	for (;; n++) {
		core_burst_packet(&t, n, &p, &offset);
		p.payload = payload + offset;
		if (!core_burst_append(&one, &p, &t.flow))
			break;
	}
	assert_int_equal(n, CORE_BURST_IOV);
	assert_int_equal(one.length, CORE_BURST_IOV * 256);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_opcodes_inside),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests_name("burst", tests, NULL, NULL);
}
