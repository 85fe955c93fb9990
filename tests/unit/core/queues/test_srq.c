/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared receive queues: sizes, the limit event, errors, life. */
#include "tests/support/core/core_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include "emu/core/queues/srq.h"

#include <errno.h>

#define COOKIE 0x1122334455ull

static void limits(struct core_config *cfg)
{
	cfg->limits.max_srq = 3;
	cfg->limits.max_srq_wr = 100;
	cfg->limits.max_srq_sge = 5;
}

static struct uhca_cmd_create_srq request(uint32_t pd)
{
	return (struct uhca_cmd_create_srq){
		.cookie = COOKIE, .pd = pd, .max_wr = 10, .max_sge = 3, .srq_limit = 99};
}

static int create(struct fixture *f, const struct uhca_cmd_create_srq *in,
		  struct uhca_cmd_create_srq_reply *out)
{
	struct core_ring ring;
	uint32_t before = core_object_count(f->dev, CORE_OBJECT_SRQ);
	unsigned rings = f->rings;
	int err = core_create_srq(f->client, in, out, &ring);

	assert_int_equal(core_object_count(f->dev, CORE_OBJECT_SRQ), before + !err);
	assert_int_equal(f->rings, rings + !err);
	if (!err) {
		const struct uhca_abi_queue_layout *l = &out->recv;
		const struct uhca_abi_region *header = ring.base;
		assert_int_equal(header->kind, UHCA_ABI_REGION_SRQ);
		assert_int_equal(out->region_size, ring.size);
		assert_true(l->offset + (uint64_t)l->entries * l->stride <= ring.size);
	}
	return err;
}

static void test_create(void **state)
{
	struct fixture f;
	struct uhca_cmd_create_srq in;
	struct uhca_cmd_create_srq_reply out;

	(void)state;
	fixture_start(&f, limits);
	in = request(fixture_pd(&f));
	assert_int_equal(create(&f, &in, &out), 0);
	assert_int_equal(out.max_wr, 16);
	assert_int_equal(out.max_sge, 3);
	assert_int_equal(out.recv.entries, 16);
	assert_int_equal(out.recv.stride, UHCA_ABI_RECV_STRIDE(3));
	assert_int_equal(out.recv.offset, 4096);
	in.max_wr = 100; /* 128 slots, but no more than the limit is promised */
	in.max_sge = 0;
	assert_int_equal(create(&f, &in, &out), 0);
	assert_int_equal(out.max_wr, 100);
	assert_int_equal(out.max_sge, 1);
	assert_int_equal(out.recv.entries, 128);
	assert_int_equal(create(&f, &in, &out), 0);
	assert_int_equal(create(&f, &in, &out), -ENOMEM); /* max_srq */
	fixture_stop(&f);
}

static void test_create_refusals(void **state)
{
	struct fixture f;
	struct uhca_cmd_create_srq in, ok;
	struct uhca_cmd_create_srq_reply out;

	(void)state;
	fixture_start(&f, limits);
	in = ok = request(fixture_pd(&f));
	in.pd++;
	assert_int_equal(create(&f, &in, &out), -ENOENT);
	in = ok;
	in.max_wr = 0;
	assert_int_equal(create(&f, &in, &out), -EINVAL);
	in.max_wr = 101;
	assert_int_equal(create(&f, &in, &out), -EINVAL);
	in = ok;
	in.max_sge = 6;
	assert_int_equal(create(&f, &in, &out), -EINVAL);
	in = ok;
	in.srq_type = 1; /* XRC, without a domain */
	assert_int_equal(create(&f, &in, &out), -ENOENT);
	in.srq_type = 2; /* tag matching */
	assert_int_equal(create(&f, &in, &out), -EOPNOTSUPP);
	in.srq_type = 3;
	assert_int_equal(create(&f, &in, &out), -EINVAL);
	f.fail_ring = 1;
	assert_int_equal(create(&f, &ok, &out), -ENOMEM);
	assert_int_equal(core_dealloc_pd(f.client, ok.pd), 0);
	fixture_stop(&f);
}

static int modify(struct fixture *f, uint32_t handle, uint32_t mask, uint32_t limit)
{
	struct uhca_cmd_modify_srq in = {
		.handle = handle, .attr_mask = mask, .max_wr = 32, .srq_limit = limit};
	return core_modify_srq(f->client, &in);
}

static uint32_t queried_limit(struct fixture *f, uint32_t handle)
{
	struct uhca_cmd_query_srq_reply q;
	assert_int_equal(core_query_srq(f->client, handle, &q), 0);
	assert_int_equal(q.max_wr, 16);
	assert_int_equal(q.max_sge, 1);
	return q.srq_limit;
}

static void test_modify(void **state)
{
	struct fixture f;
	struct uhca_cmd_query_srq_reply q;
	uint32_t srq;

	(void)state;
	fixture_start(&f, NULL);
	srq = fixture_srq(&f, fixture_pd(&f));
	assert_int_equal(queried_limit(&f, srq), 0);
	assert_int_equal(modify(&f, srq, 2, 16), 0);
	assert_int_equal(queried_limit(&f, srq), 16);
	assert_int_equal(modify(&f, srq, 2, 17), -EINVAL);
	assert_int_equal(modify(&f, srq, 1, 5), -EINVAL); /* core_resize_srq */
	assert_int_equal(modify(&f, srq, 3, 5), -EINVAL);
	assert_int_equal(modify(&f, srq, 4, 5), -EINVAL);
	assert_int_equal(modify(&f, srq, 0, 5), 0);
	assert_int_equal(queried_limit(&f, srq), 16);
	assert_int_equal(modify(&f, srq, 2, 0), 0);
	assert_int_equal(queried_limit(&f, srq), 0);
	assert_int_equal(modify(&f, srq + 1, 2, 5), -ENOENT);
	assert_int_equal(core_query_srq(f.other, srq, &q), -ENOENT);
	fixture_stop(&f);
}

/* The event comes once, when fewer than the limit remain; arming it again arms it again. */
static void test_limit_event(void **state)
{
	struct fixture f;
	struct srq *srq;
	uint32_t handle;

	(void)state;
	fixture_start(&f, NULL);
	handle = fixture_srq(&f, fixture_pd(&f));
	srq = table_find(&f.dev->srqs, handle);
	srq->rq.page->recv.producer = 5;
	srq_check_limit(srq);
	assert_int_equal(f.async, 0); /* not armed */
	assert_int_equal(modify(&f, handle, 2, 5), 0);
	srq_check_limit(srq);
	assert_int_equal(f.async, 0);
	srq->rq.consumer = 1;
	srq_check_limit(srq);
	srq_check_limit(srq);
	assert_int_equal(f.async, 1);
	assert_int_equal(f.async_event[0].event.type, UHCA_ABI_EVENT_SRQ_LIMIT_REACHED);
	assert_int_equal(f.async_event[0].event.element, 0x5a);
	assert_int_equal(queried_limit(&f, handle), 0);
	assert_int_equal(modify(&f, handle, 2, 4), 0);
	srq_check_limit(srq);
	assert_int_equal(f.async, 1);
	srq->rq.consumer = 2;
	srq_check_limit(srq);
	assert_int_equal(f.async, 2);
	fixture_stop(&f);
}

static void any_order(struct core_config *cfg)
{
	cfg->any_srq_order = true;
}

/* Legal chaos: requests in any order, and only then. */
static void test_any_order(void **state)
{
	struct fixture f;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		fixture_start(&f, i ? any_order : NULL);
		const struct srq *srq = table_find(&f.dev->srqs, fixture_srq(&f, fixture_pd(&f)));
		assert_int_equal(srq->rq.reorder != NULL, i);
		fixture_stop(&f);
	}
}

static void test_fail(void **state)
{
	struct fixture f;
	struct srq *srq;

	(void)state;
	fixture_start(&f, NULL);
	srq = table_find(&f.dev->srqs, fixture_srq(&f, fixture_pd(&f)));
	srq_fail(srq);
	srq_fail(srq);
	assert_true(srq->error);
	assert_int_equal(f.async, 1);
	assert_int_equal(f.async_event[0].event.type, UHCA_ABI_EVENT_SRQ_ERR);
	fixture_stop(&f);
}

static void test_destroy(void **state)
{
	struct fixture f;
	struct srq *srq;
	uint32_t pd, handle;

	(void)state;
	fixture_start(&f, NULL);
	pd = fixture_pd(&f);
	handle = fixture_srq(&f, pd);
	srq = table_find(&f.dev->srqs, handle);
	assert_int_equal(core_destroy_srq(f.other, handle), -ENOENT);
	srq->obj.refs = 1;
	assert_int_equal(core_destroy_srq(f.client, handle), -EBUSY);
	srq->obj.refs = 0;
	assert_int_equal(core_destroy_srq(f.client, handle), 0);
	assert_int_equal(core_destroy_srq(f.client, handle), -ENOENT);
	assert_int_equal(f.rings, 0);
	assert_int_equal(core_dealloc_pd(f.client, pd), 0);
	fixture_stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_create),    cmocka_unit_test(test_create_refusals),
		cmocka_unit_test(test_modify),    cmocka_unit_test(test_limit_event),
		cmocka_unit_test(test_fail),      cmocka_unit_test(test_destroy),
		cmocka_unit_test(test_any_order),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
