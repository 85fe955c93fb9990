/* SPDX-License-Identifier: BSD-2-Clause */
/* QP1: which packets are a MAD for the device (13.5.3.3), and what goes out for one. */
#include "tests/support/core/core_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include "emu/core/base/device.h"
#include "emu/core/cm/gsi.h"
#include "wire/cm_msg.h"

#include <string.h>

static uint8_t mad[ROCE_MAD_LENGTH];

/* A DREQ for an end that is not there: the device answers it with a DREP (12.9.8.3). */
static struct core_burst good(const struct fixture *f)
{
	const struct roce_cm_msg msg = {
		.attr = ROCE_CM_DREQ, .tid = 77, .dreq = {.local_comm_id = 1, .remote_comm_id = 2}};
	struct core_burst t = {.head = {.bth = {.opcode = {ROCE_UD_SEND_ONLY},
						.pkey = 0xffff,
						.dest_qp = ROCE_GSI_QPN},
					.deth = {.qkey = ROCE_GSI_QKEY, .src_qp = ROCE_GSI_QPN}},
			       .count = 1,
			       .segment = ROCE_MAD_LENGTH,
			       .length = ROCE_MAD_LENGTH,
			       .n_iov = 2,
			       .iov = {{mad, 100}, {mad + 100, ROCE_MAD_LENGTH - 100}}};

	assert_true(roce_cm_emit(&msg, mad));
	memcpy(t.flow.dst, f->cfg.gid[FIXTURE_GID_V4], 16);
	memcpy(t.flow.src, f->cfg.gid[FIXTURE_GID_V4], 16);
	t.flow.src[15] ^= 3;
	t.last_opcode = t.head.bth.opcode;
	return t;
}

static void test_answer(void **state)
{
	static uint8_t buf[65536];
	struct core_burst t, out;
	struct roce_cm_msg msg;
	struct fixture f;

	(void)state;
	fixture_start(&f, NULL);
	t = good(&f);
	for (uint32_t psn = 0; psn < 3; psn++) {
		core_rx(f.dev, 0, &t);
		assert_true(core_tx_next(f.dev, 0, buf, sizeof(buf), &out));
		assert_int_equal(out.head.bth.dest_qp, ROCE_GSI_QPN);
		assert_int_equal(out.head.bth.psn, psn);
		assert_int_equal(out.head.deth.qkey, ROCE_GSI_QKEY);
		assert_int_equal(out.length, ROCE_MAD_LENGTH);
		assert_memory_equal(out.flow.dst, t.flow.src, 16);
		assert_memory_equal(out.flow.src, t.flow.dst, 16);
		assert_true(roce_cm_parse(out.iov[0].iov_base, &msg));
		assert_int_equal(msg.attr, ROCE_CM_DREP);
		assert_int_equal(msg.tid, 77);
		assert_false(core_tx_next(f.dev, 0, buf, sizeof(buf), &out));
	}
	fixture_stop(&f);
}

enum wrong { OPCODE, PKEY, QKEY, LENGTH, COUNT, ADDRESS, CLASS, METHOD, ATTRIBUTE, WRONGS };

static void spoil(struct core_burst *t, enum wrong what)
{
	if (what == OPCODE)
		t->head.bth.opcode.v = t->last_opcode.v = ROCE_RC_SEND_ONLY;
	else if (what == PKEY)
		t->head.bth.pkey = 0x1234;
	else if (what == QKEY)
		t->head.deth.qkey = 1;
	else if (what == LENGTH)
		t->length = t->segment = 100, t->n_iov = 1;
	else if (what == COUNT)
		t->count = 2, t->segment = ROCE_MAD_LENGTH / 2;
	else if (what == ADDRESS)
		t->flow.dst[15] ^= 0x40;
	else if (what == CLASS)
		mad[1] = 3;
	else if (what == METHOD)
		mad[3] = 1;
	else
		mad[17] = 0x7f;
}

/* Each is dropped without an answer, and counted. */
static void test_no_mad(void **state)
{
	static uint8_t buf[65536];

	(void)state;
	for (enum wrong what = OPCODE; what < WRONGS; what++) {
		struct core_burst t, out;
		uint64_t drops = 0;
		struct fixture f;

		fixture_start(&f, NULL);
		t = good(&f);
		spoil(&t, what);
		core_rx(f.dev, 0, &t);
		assert_false(core_tx_next(f.dev, 0, buf, sizeof(buf), &out));
		for (unsigned i = 0; i < CORE_DROP_COUNT; i++)
			drops += f.dev->counters.drops[i];
		assert_int_equal(drops, t.count);
		fixture_stop(&f);
	}
}

/* The queue is bounded: what does not fit is lost, as any datagram may be. */
static void test_full_queue(void **state)
{
	static uint8_t buf[65536];
	struct core_burst t, out;
	struct fixture f;
	unsigned n = 0;

	(void)state;
	fixture_start(&f, NULL);
	t = good(&f);
	for (unsigned i = 0; i < GSI_MAX + 10; i++)
		core_rx(f.dev, 0, &t);
	while (core_tx_next(f.dev, 0, buf, sizeof(buf), &out))
		n++;
	assert_int_equal(n, GSI_MAX);
	fixture_stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answer),
		cmocka_unit_test(test_no_mad),
		cmocka_unit_test(test_full_queue),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
