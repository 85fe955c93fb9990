/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A shared receive queue becomes larger or smaller: what is posted moves, in its order; what fails.
 */
#include "tests/support/core/core_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include "emu/core/queues/srq.h"
#include "emu/core/queues/wqe_fetch.h"

#include <errno.h>
#include <string.h>

#define MAX_WR 1u /* enum ibv_srq_attr_mask */
#define LIMIT  2u

static void limits(struct core_config *cfg)
{
	cfg->limits.max_srq_wr = 100;
}

static void in_any_order(struct core_config *cfg)
{
	limits(cfg);
	cfg->any_srq_order = true;
}

static void without(struct core_config *cfg)
{
	limits(cfg);
	cfg->no_srq_resize = true;
}

static struct srq *make(struct fixture *f, uint32_t max_wr)
{
	struct uhca_cmd_create_srq in = {.pd = fixture_pd(f), .max_wr = max_wr, .max_sge = 1};
	struct uhca_cmd_create_srq_reply out;
	struct core_ring ring;

	assert_int_equal(core_create_srq(f->client, &in, &out, &ring), 0);
	return table_find(&f->dev->srqs, out.handle);
}

/* As the library posts: the device's view of the ring is the shared memory. */
static void post(struct srq *srq, uint64_t first, uint32_t n)
{
	uint32_t at = srq->rq.page->recv.producer;

	for (uint32_t i = 0; i < n; i++, at++) {
		struct uhca_abi_recv_wqe wqe = {.wr_id = first + i};
		uint8_t *slots = (uint8_t *)srq->ring.base + 4096;

		memcpy(slots + (size_t)(at & (srq->rq.entries - 1)) * srq->rq.stride, &wqe,
		       sizeof(wqe));
	}
	uhca_ring_publish(&srq->rq.page->recv.producer, at);
}

static uint64_t take_request(struct srq *srq)
{
	struct recv_wr wr;

	assert_int_equal(recv_fetch(&srq->rq, &wr), FETCH_OK);
	return wr.wr_id;
}

static int resize(struct fixture *f, const struct srq *srq, uint32_t mask, uint32_t max_wr,
		  uint32_t limit)
{
	struct uhca_cmd_modify_srq in = {
		.handle = srq->obj.handle, .attr_mask = mask, .max_wr = max_wr, .srq_limit = limit};
	struct uhca_cmd_create_srq_reply out;
	struct core_ring ring;
	unsigned rings = f->rings;
	int err = core_resize_srq(f->client, &in, &out, &ring);

	assert_int_equal(f->rings, rings); /* the old one has gone */
	if (err)
		return err;
	assert_ptr_equal(ring.base, srq->ring.base);
	assert_int_equal(out.handle, srq->obj.handle);
	assert_int_equal(out.max_wr, srq->rq.max_wr);
	assert_true(out.max_wr >= max_wr && out.recv.entries >= out.max_wr);
	return 0;
}

static void test_moves(void **state)
{
	static const uint32_t sizes[] = {64, 100, 8, 5, 33};
	struct fixture f;
	struct srq *srq;
	uint64_t posted = 0, taken = 0;

	(void)state;
	fixture_start(&f, limits);
	srq = make(&f, 8);
	/* Indices that wrap are moved as others. */
	srq->rq.consumer = srq->rq.seen = UINT32_MAX - 2;
	srq->rq.page->recv.producer = srq->rq.page->recv.consumer = UINT32_MAX - 2;
	srq_abandon(srq);
	for (unsigned round = 0; round < sizeof(sizes) / sizeof(sizes[0]); round++) {
		post(srq, posted, 5);
		posted += 5;
		assert_int_equal(take_request(srq), taken++);
		assert_int_equal(take_request(srq), taken++);
		assert_int_equal(resize(&f, srq, MAX_WR, sizes[round], 0), 0);
		assert_int_equal(recv_available(&srq->rq), posted - taken);
		assert_int_equal(srq->rq.page->recv.abandoned, 1);
		while (taken < posted)
			assert_int_equal(take_request(srq), taken++);
	}
	fixture_stop(&f);
}

/* Requests that any order has read from the ring are not lost, and come once. */
static void test_reorder(void **state)
{
	uint32_t seen = 0;
	struct fixture f;
	struct srq *srq;

	(void)state;
	fixture_start(&f, in_any_order);
	srq = make(&f, 16);
	post(srq, 0, 12);
	for (unsigned i = 0; i < 5; i++)
		seen |= 1u << take_request(srq);
	assert_int_equal(resize(&f, srq, MAX_WR, 40, 0), 0);
	post(srq, 12, 10);
	for (unsigned i = 0; i < 17; i++)
		seen |= 1u << take_request(srq);
	assert_int_equal(seen, (1u << 22) - 1);
	fixture_stop(&f);
}

static void test_refused(void **state)
{
	struct fixture f;
	struct srq *srq;

	(void)state;
	fixture_start(&f, limits);
	srq = make(&f, 16);
	post(srq, 0, 9);
	assert_int_equal(resize(&f, srq, MAX_WR | LIMIT, 16, 12), 0);
	assert_int_equal(srq->limit, 12);
	assert_int_equal(resize(&f, srq, MAX_WR, 0, 0), -EINVAL);
	assert_int_equal(resize(&f, srq, MAX_WR, 101, 0), -EINVAL);
	assert_int_equal(resize(&f, srq, MAX_WR, 8, 0), -EINVAL);
	assert_non_null(
		strstr(core_refusal(f.dev), "max_wr 8 is too small: 9 requests are posted"));
	assert_int_equal(resize(&f, srq, MAX_WR, 11, 0), -EINVAL);
	assert_non_null(strstr(core_refusal(f.dev), "max_wr 11 is below the SRQ's srq_limit, 12"));
	assert_int_equal(resize(&f, srq, MAX_WR | LIMIT, 16, 17), -EINVAL);
	assert_int_equal(resize(&f, srq, MAX_WR | 0x80, 16, 0), -EINVAL);
	f.fail_ring = 1;
	assert_int_equal(resize(&f, srq, MAX_WR, 64, 0), -ENOMEM);
	srq->rq.page->recv.producer += 100; /* nonsense */
	assert_int_equal(resize(&f, srq, MAX_WR, 100, 0), -EINVAL);
	srq->rq.page->recv.producer -= 100;
	assert_int_equal(srq->rq.max_wr, 16);
	for (uint64_t i = 0; i < 9; i++)
		assert_int_equal(take_request(srq), i);
	fixture_stop(&f);
}

static void test_profiles(void **state)
{
	struct uhca_cmd_device_attr attr;
	struct fixture f;
	struct srq *srq;

	(void)state;
	fixture_start(&f, without);
	srq = make(&f, 16);
	assert_int_equal(resize(&f, srq, MAX_WR, 32, 0), -EOPNOTSUPP);
	assert_int_equal(core_query_device(f.client, &attr), 0);
	assert_false(attr.device_cap_flags & 1u << 13);
	fixture_stop(&f);
	fixture_start(&f, limits);
	assert_int_equal(core_query_device(f.client, &attr), 0);
	assert_true(attr.device_cap_flags & 1u << 13); /* IBV_DEVICE_SRQ_RESIZE */
	fixture_stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_moves),
		cmocka_unit_test(test_reorder),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_profiles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
