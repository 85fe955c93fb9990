/* SPDX-License-Identifier: BSD-2-Clause */
/* Extended CQs through libibverbs on the fake daemon: creation, polling, fields, clocks. */
#include "tests/support/provider/verbs_fixture.h"
#include "tests/support/provider/with_preload.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#define ALL_FIELDS                                                                                 \
	(IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |                             \
	 IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)

static struct ibv_cq_ex *create(struct verbs_fixture *f, uint32_t flags)
{
	struct ibv_cq_init_attr_ex attr = {.cqe = 16,
					   .cq_context = f,
					   .wc_flags = ALL_FIELDS,
					   .comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
					   .flags = flags};
	struct ibv_cq_ex *cq = ibv_create_cq_ex(f->context, &attr);

	assert_non_null(cq);
	assert_ptr_equal(cq->cq_context, f);
	return cq;
}

static uint64_t now_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void test_fields(void **state)
{
	struct verbs_fixture *f = *state;
	struct ibv_cq_ex *cq = create(f, 0);
	struct ibv_poll_cq_attr attr = {0};
	uint64_t at = now_ns(CLOCK_MONOTONIC) - 5000000;
	struct uhca_abi_cqe e = {.wr_id = 0x1122334455667788,
				 .qpn = 0x1234,
				 .src_qp = 0x5678,
				 .byte_len = 99,
				 .imm = 0xdeadbeef,
				 .opcode = UHCA_ABI_WC_RECV,
				 .flags = UHCA_ABI_WC_WITH_IMM | UHCA_ABI_WC_GRH |
					  UHCA_ABI_WC_SOLICITED,
				 .vendor_err = 7,
				 .timestamp = at,
				 .slid = 3,
				 .sl = 4,
				 .dlid_path_bits = 5};
	int64_t off;

	assert_int_equal(ibv_start_poll(cq, &attr), ENOENT);
	fake_complete(fake_newest(&f->daemon, UHCA_ABI_REGION_CQ), &e);
	assert_int_equal(ibv_start_poll(cq, &attr), 0);
	assert_int_equal(cq->wr_id, e.wr_id);
	assert_int_equal(cq->status, IBV_WC_SUCCESS);
	assert_int_equal(ibv_wc_read_opcode(cq), IBV_WC_RECV);
	assert_int_equal(ibv_wc_read_vendor_err(cq), 7);
	assert_int_equal(ibv_wc_read_byte_len(cq), 99);
	assert_int_equal(ibv_wc_read_imm_data(cq), 0xdeadbeef);
	assert_int_equal(ibv_wc_read_invalidated_rkey(cq), 0xdeadbeef);
	assert_int_equal(ibv_wc_read_qp_num(cq), 0x1234);
	assert_int_equal(ibv_wc_read_src_qp(cq), 0x5678);
	assert_int_equal(ibv_wc_read_wc_flags(cq), IBV_WC_WITH_IMM | IBV_WC_GRH);
	assert_int_equal(ibv_wc_read_slid(cq), 3);
	assert_int_equal(ibv_wc_read_sl(cq), 4);
	assert_int_equal(ibv_wc_read_dlid_path_bits(cq), 5);
	assert_int_equal(ibv_wc_read_completion_ts(cq), at);
	/* The wall clock of 5 ms ago; the clocks may be set while we look. */
	off = (int64_t)(now_ns(CLOCK_REALTIME) - ibv_wc_read_completion_wallclock_ns(cq));
	assert_true(off >= 5000000 - 1000000 && off < 5000000000);
	assert_int_equal(ibv_next_poll(cq), ENOENT);
	ibv_end_poll(cq);
	assert_int_equal(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
}

/* The wall clock runs as the device's does: what lies between the two is one number for the CQ. */
static void test_wall_clock(void **state)
{
	struct verbs_fixture *f = *state;
	struct ibv_cq_ex *cq = create(f, 0);
	struct ibv_poll_cq_attr attr = {0};
	uint64_t at = now_ns(CLOCK_MONOTONIC), between = 0;

	for (uint64_t i = 0; i < 1000; i++) {
		struct uhca_abi_cqe e = {.wr_id = i, .timestamp = at + i / 2};
		uint64_t now;

		fake_complete(fake_newest(&f->daemon, UHCA_ABI_REGION_CQ), &e);
		assert_int_equal(ibv_start_poll(cq, &attr), 0);
		assert_int_equal(ibv_wc_read_completion_ts(cq), at + i / 2);
		now = ibv_wc_read_completion_wallclock_ns(cq) - (at + i / 2);
		assert_true(i == 0 || now == between);
		between = now;
		ibv_end_poll(cq);
	}
	assert_int_equal(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
}

/* The entry that is read is not given back before the next is asked for. */
static void test_order(void **state)
{
	struct verbs_fixture *f = *state;
	struct ibv_cq_ex *cq = create(f, IBV_CREATE_CQ_ATTR_SINGLE_THREADED);
	struct fake_queue *q = fake_newest(&f->daemon, UHCA_ABI_REGION_CQ);
	struct uhca_abi_cq *page = (void *)q->base;
	struct ibv_poll_cq_attr attr = {0};
	struct ibv_wc wc;

	for (uint64_t i = 0; i < 4; i++) {
		struct uhca_abi_cqe e = {.wr_id = i,
					 .flags = i == 2 ? UHCA_ABI_WC_SKIP : 0,
					 .status = i == 3 ? IBV_WC_WR_FLUSH_ERR : 0};
		fake_complete(q, &e);
	}
	assert_int_equal(ibv_start_poll(cq, &attr), 0);
	assert_int_equal(cq->wr_id, 0);
	assert_int_equal(page->ring.consumer, 0);
	ibv_end_poll(cq);
	assert_int_equal(page->ring.consumer, 1);
	assert_int_equal(ibv_start_poll(cq, &attr), 0);
	assert_int_equal(cq->wr_id, 1);
	assert_int_equal(ibv_next_poll(cq), 0);
	assert_int_equal(cq->wr_id, 3); /* one was its QP's who is gone */
	assert_int_equal(cq->status, IBV_WC_WR_FLUSH_ERR);
	assert_int_equal(ibv_next_poll(cq), ENOENT);
	ibv_end_poll(cq);
	assert_int_equal(page->ring.consumer, 4);
	/* The plain way works on the same CQ. */
	fake_complete(q, &(struct uhca_abi_cqe){.wr_id = 9});
	assert_int_equal(ibv_poll_cq(ibv_cq_ex_to_cq(cq), 1, &wc), 1);
	assert_int_equal(wc.wr_id, 9);
	attr.comp_mask = 1;
	assert_int_equal(ibv_start_poll(cq, &attr), EINVAL);
	assert_int_equal(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
}

/* The device is told who came back for more, and with resizing where the count stands. */
static void test_handled(void **state)
{
	struct verbs_fixture *f = *state;
	struct ibv_cq_ex *cq = create(f, 0);
	struct fake_queue *q = fake_newest(&f->daemon, UHCA_ABI_REGION_CQ);
	struct uhca_abi_cq *page = (void *)q->base;
	struct uhca_abi_cqe e = {.opcode = UHCA_ABI_WC_RECV, .byte_len = 1};
	struct ibv_poll_cq_attr attr = {0};

	assert_int_equal(page->ring.reports_handled, 1);
	for (unsigned i = 0; i < 3; i++)
		fake_complete(q, &e);
	assert_int_equal(ibv_start_poll(cq, &attr), 0);
	assert_int_equal(ibv_next_poll(cq), 0);
	assert_int_equal(ibv_next_poll(cq), 0);
	assert_int_equal(page->ring.handled, 0);
	assert_int_equal(ibv_next_poll(cq), ENOENT);
	ibv_end_poll(cq);
	assert_int_equal(page->ring.handled, 1);
	assert_int_equal(ibv_start_poll(cq, &attr), ENOENT);
	assert_int_equal(page->ring.handled, 2);
	assert_int_equal(ibv_resize_cq(ibv_cq_ex_to_cq(cq), 100), 0);
	page = (void *)fake_newest(&f->daemon, UHCA_ABI_REGION_CQ)->base;
	assert_int_equal(page->ring.handled, 2);
	assert_int_equal(page->ring.reports_handled, 1);
	assert_int_equal(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
}

/* Two turns of the ring while nobody looks: what is left is the last turn, whole. */
static void test_ignore_overrun(void **state)
{
	struct verbs_fixture *f = *state;
	struct ibv_cq_ex *cq = create(f, IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN);
	struct fake_queue *q = fake_newest(&f->daemon, UHCA_ABI_REGION_CQ);
	const struct uhca_cmd_create_cq *sent = (void *)f->daemon.last[UHCA_CMD_CREATE_CQ];
	struct uhca_abi_cq *page = (void *)q->base;
	struct ibv_poll_cq_attr attr = {0};
	struct ibv_wc wc[4];
	uint64_t expect = 24;

	assert_int_equal(sent->flags, UHCA_ABI_CQ_IGNORE_OVERRUN);
	for (uint64_t i = 0; i < 40; i++) {
		fake_complete(q, &(struct uhca_abi_cqe){.wr_id = i});
		page->ring.producer = (uint32_t)i + 1;
	}
	assert_int_equal(ibv_poll_cq(ibv_cq_ex_to_cq(cq), 4, wc), 4);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(wc[i].wr_id, expect++);
	assert_int_equal(ibv_start_poll(cq, &attr), 0);
	do {
		assert_int_equal(cq->wr_id, expect++);
	} while (!ibv_next_poll(cq));
	ibv_end_poll(cq);
	assert_int_equal(expect, 40);
	assert_int_equal(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
}

static void refuse(struct verbs_fixture *f, struct ibv_cq_init_attr_ex attr, int err)
{
	unsigned calls = f->daemon.calls[UHCA_CMD_CREATE_CQ];

	errno = 0;
	assert_null(ibv_create_cq_ex(f->context, &attr));
	assert_int_equal(errno, err);
	assert_int_equal(f->daemon.calls[UHCA_CMD_CREATE_CQ], calls);
}

static void test_refused(void **state)
{
	struct verbs_fixture *f = *state;
	struct ibv_cq_init_attr_ex attr = {.cqe = 16};

	attr.wc_flags = IBV_WC_EX_WITH_CVLAN;
	refuse(f, attr, EOPNOTSUPP);
	attr.wc_flags = IBV_WC_EX_WITH_TM_INFO;
	refuse(f, attr, EOPNOTSUPP);
	attr.wc_flags = 0;
	attr.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
	attr.flags = 4;
	refuse(f, attr, EOPNOTSUPP);
	attr.comp_mask = 4;
	refuse(f, attr, EOPNOTSUPP);
	attr.comp_mask = IBV_CQ_INIT_ATTR_MASK_PD;
	attr.parent_domain = f->pd; /* not a parent */
	refuse(f, attr, EINVAL);
	attr.comp_mask = 0;
	attr.cqe = 0;
	refuse(f, attr, EINVAL);
	attr.cqe = UINT32_MAX;
	refuse(f, attr, EINVAL);
	attr.cqe = 1;
	attr.comp_vector = 1000;
	refuse(f, attr, EINVAL);
}

static void test_clock(void **state)
{
	struct verbs_fixture *f = *state;
	struct ibv_values_ex v = {.comp_mask = IBV_VALUES_MASK_RAW_CLOCK};
	uint64_t before = now_ns(CLOCK_MONOTONIC);

	assert_int_equal(ibv_query_rt_values_ex(f->context, &v), 0);
	assert_int_equal(v.comp_mask, IBV_VALUES_MASK_RAW_CLOCK);
	assert_int_equal(v.raw_clock.tv_sec, 0);
	assert_in_range((uint64_t)v.raw_clock.tv_nsec, before, now_ns(CLOCK_MONOTONIC));
	v.comp_mask = 2;
	assert_int_equal(ibv_query_rt_values_ex(f->context, &v), EOPNOTSUPP);
}

/* The daemon dies: first what it completed, then a flush of what it did not. */
static void test_dead(void **state)
{
	struct verbs_fixture *f = *state;
	struct ibv_cq_ex *cq = create(f, 0);
	struct fake_queue *q = fake_newest(&f->daemon, UHCA_ABI_REGION_CQ);
	struct ibv_qp_init_attr init = {.send_cq = ibv_cq_ex_to_cq(cq),
					.recv_cq = ibv_cq_ex_to_cq(cq),
					.qp_type = IBV_QPT_RC,
					.cap = {4, 4, 1, 1, 0}};
	struct ibv_qp *qp = ibv_create_qp(f->pd, &init);
	struct ibv_recv_wr wr = {.wr_id = 77}, *bad;
	struct ibv_poll_cq_attr attr = {0};
	struct ibv_async_event event;

	assert_non_null(qp);
	verbs_fixture_modify(qp, IBV_QPS_RTS);
	assert_int_equal(ibv_post_recv(qp, &wr, &bad), 0);
	fake_complete(q, &(struct uhca_abi_cqe){.wr_id = 1, .qpn = 0xffff});
	fake_daemon_die(&f->daemon);
	assert_int_equal(ibv_get_async_event(f->context, &event), 0);
	assert_int_equal(event.event_type, IBV_EVENT_DEVICE_FATAL);
	ibv_ack_async_event(&event);
	assert_int_equal(ibv_start_poll(cq, &attr), 0);
	assert_int_equal(cq->wr_id, 1);
	assert_int_equal(ibv_next_poll(cq), 0);
	assert_int_equal(cq->wr_id, 77);
	assert_int_equal(cq->status, IBV_WC_WR_FLUSH_ERR);
	assert_int_equal(ibv_wc_read_qp_num(cq), qp->qp_num);
	assert_int_equal(ibv_next_poll(cq), ENOENT);
	ibv_end_poll(cq);
	assert_int_equal(ibv_resize_cq(ibv_cq_ex_to_cq(cq), 100), EIO);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
}

int main(int argc, char **argv)
{
#define TEST(name)                                                                                 \
	cmocka_unit_test_setup_teardown(name, verbs_fixture_setup, verbs_fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_fields),  TEST(test_wall_clock),     TEST(test_order),
		TEST(test_handled), TEST(test_ignore_overrun), TEST(test_refused),
		TEST(test_clock),   TEST(test_dead),
	};

	(void)argc;
	with_preload(argv, 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
