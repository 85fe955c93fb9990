/* SPDX-License-Identifier: BSD-2-Clause */
/* Resizing: what waits is in the new ring, in order, with its data; what is refused. */
#include "tests/support/core/core_fixture.h"
#include "tests/support/wire/cmocka_all.h"
#include "tests/support/wire/prng.h"

#include "emu/core/queues/cq.h"

#include <errno.h>
#include <string.h>

struct consumer {
	struct uhca_abi_cq *page;
	uint8_t *slots;
	uint32_t entries, stride, index, handle;
	struct cq *cq;
};

static void take_ring(struct fixture *f, const struct uhca_cmd_create_cq_reply *out,
		      const struct core_ring *ring, struct consumer *c)
{
	c->page = ring->base;
	c->slots = (uint8_t *)ring->base + out->entries_offset;
	c->entries = out->entries;
	c->stride = out->stride;
	c->handle = out->handle;
	c->cq = table_find(&f->dev->cqs, out->handle);
	assert_int_equal(out->cqe, c->cq->cqe);
	assert_true(out->entries_offset + (uint64_t)out->entries * out->stride <= ring->size);
}

static struct consumer open_cq(struct fixture *f, uint32_t cqe)
{
	struct uhca_cmd_create_cq in = {.cqe = cqe};
	struct uhca_cmd_create_cq_reply out;
	struct core_ring ring;
	struct consumer c = {.index = 0};

	assert_int_equal(core_create_cq(f->client, &in, &out, &ring), 0);
	take_ring(f, &out, &ring, &c);
	return c;
}

static int resize(struct fixture *f, struct consumer *c, uint32_t cqe)
{
	struct uhca_cmd_resize_cq in = {.handle = c->handle, .cqe = cqe};
	struct uhca_cmd_create_cq_reply out;
	struct core_ring ring;
	unsigned rings = f->rings;
	int err = core_resize_cq(f->client, &in, &out, &ring);

	assert_int_equal(f->rings, rings); /* one for one, or none at all */
	if (!err)
		take_ring(f, &out, &ring, c);
	return err;
}

static const struct uhca_abi_cqe *poll(struct consumer *c)
{
	const struct uhca_abi_cqe *e =
		(const void *)(c->slots + (size_t)(c->index & (c->entries - 1)) * c->stride);

	if (e->sequence != c->index + 1)
		return NULL;
	uhca_ring_publish(&c->page->ring.consumer, ++c->index);
	return e;
}

static void push(struct consumer *c, uint64_t wr_id)
{
	struct uhca_abi_cqe e = {.wr_id = wr_id};

	assert_true(cq_push(c->cq, &e));
}

/* Random pushes, polls and resizes from some index on: each completion once, in order. */
static void walk(uint32_t start)
{
	struct prng rng = prng_start("test_cq_resize");
	struct fixture f;
	struct consumer c;
	uint64_t pushed = 0, polled = 0;

	fixture_start(&f, NULL);
	c = open_cq(&f, 16);
	c.index = c.cq->producer = c.cq->consumer = c.page->ring.consumer = start;
	assert_int_equal(resize(&f, &c, 16), 0); /* entries are made to look old */
	for (unsigned i = 0; i < 2000; i++) {
		uint32_t n = prng_below(&rng, 12);
		const struct uhca_abi_cqe *e;

		while (n-- > 0 && pushed - polled < c.cq->cqe)
			push(&c, pushed++);
		for (n = prng_below(&rng, 12); n > 0 && (e = poll(&c)); n--)
			assert_int_equal(e->wr_id, polled++);
		if (prng_below(&rng, 4) == 0) {
			uint32_t cqe = 1 + prng_below(&rng, 100);
			assert_int_equal(resize(&f, &c, cqe), pushed - polled > cqe ? -EINVAL : 0);
			assert_true(c.cq->cqe >= pushed - polled);
		}
	}
	while (poll(&c))
		polled++;
	assert_int_equal(pushed, polled);
	fixture_stop(&f);
}

static void test_walk(void **state)
{
	(void)state;
	walk(0);
	walk(0xfffffff0u); /* the index wraps: a zeroed slot must not look valid */
	walk(0xffffffffu);
}

/* What had its event has had it. */
static void test_event_index(void **state)
{
	struct fixture f;
	struct consumer c;

	(void)state;
	fixture_start(&f, NULL);
	c = open_cq(&f, 16);
	push(&c, 1);
	push(&c, 2);
	c.cq->event_index = 1;
	assert_int_equal(resize(&f, &c, 20), 0);
	assert_int_equal(c.page->event_index, 1);
	assert_int_equal(c.page->notify_unread, 1);
	fixture_stop(&f);
}

/* A CQ that is full to its last slot is not broken: it may grow. */
static void test_full(void **state)
{
	const struct uhca_abi_cqe *e;
	struct fixture f;
	struct consumer c;

	(void)state;
	fixture_start(&f, NULL);
	c = open_cq(&f, 16);
	assert_int_equal(c.entries, 16);
	for (unsigned i = 0; i < 16; i++)
		push(&c, i);
	assert_int_equal(resize(&f, &c, 20), 0);
	push(&c, 16);
	for (unsigned i = 0; i < 17; i++) {
		e = poll(&c);
		assert_non_null(e);
		assert_int_equal(e->wr_id, i);
	}
	fixture_stop(&f);
}

static void small(struct core_config *cfg)
{
	cfg->limits.max_cqe = 100;
}

static void test_refused(void **state)
{
	struct fixture f;
	struct consumer c;

	(void)state;
	fixture_start(&f, small);
	c = open_cq(&f, 16);
	assert_int_equal(resize(&f, &c, 0), -EINVAL);
	assert_int_equal(resize(&f, &c, 101), -EINVAL);
	f.fail_ring = 1;
	assert_int_equal(resize(&f, &c, 50), -ENOMEM);
	assert_int_equal(c.cq->cqe, 16);
	push(&c, 1);
	push(&c, 2);
	assert_int_equal(resize(&f, &c, 1), -EINVAL);
	assert_int_equal(resize(&f, &c, 2), 0);
	assert_int_equal(c.cq->cqe, 16);
	assert_int_equal(resize(&f, &c, 100), 0);
	assert_int_equal(c.cq->cqe, 100);
	/* A consumer index that makes no sense. */
	c.page->ring.consumer = 0x80000000u;
	assert_int_equal(resize(&f, &c, 100), -EINVAL);
	c.handle = 0xffff;
	assert_int_equal(resize(&f, &c, 10), -ENOENT);
	fixture_stop(&f);
}

static void without(struct core_config *cfg)
{
	cfg->features &= ~(uint32_t)UHCA_ABI_HAS_RESIZE_CQ;
}

static void test_feature_off(void **state)
{
	struct fixture f;
	struct consumer c;

	(void)state;
	fixture_start(&f, without);
	c = open_cq(&f, 16);
	assert_int_equal(resize(&f, &c, 20), -EOPNOTSUPP);
	fixture_stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_walk),        cmocka_unit_test(test_full),
		cmocka_unit_test(test_refused),     cmocka_unit_test(test_feature_off),
		cmocka_unit_test(test_event_index),
	};

	return cmocka_run_group_tests_name("cq_resize", tests, NULL, NULL);
}
