/* SPDX-License-Identifier: BSD-2-Clause */
/* Completion queues: layout, wrap, overrun, arming; the client's end is played by hand. */
#include "tests/support/core/core_fixture.h"
#include "tests/support/wire/cmocka_all.h"
#include "tests/support/wire/prng.h"

#include "emu/core/queues/cq.h"

#include <errno.h>
#include <string.h>

#define CHANNEL 7u
#define COOKIE  0xabcdef0123ull

/* ---- the client's end ---- */

struct consumer {
	struct uhca_abi_cq *page;
	uint8_t *slots;
	uint32_t entries, stride, index, handle;
	struct cq *cq;
};

static struct consumer open_cq(struct fixture *f, uint32_t cqe, uint32_t channel)
{
	struct uhca_cmd_create_cq in = {.cqe = cqe, .channel = channel, .cookie = COOKIE};
	struct uhca_cmd_create_cq_reply out;
	struct core_ring ring;

	assert_int_equal(core_create_cq(f->client, &in, &out, &ring), 0);
	assert_int_equal(out.entries_offset, 4096);
	assert_int_equal(out.region_size, ring.size);
	assert_true(4096 + (uint64_t)out.entries * out.stride <= ring.size);
	return (struct consumer){
		ring.base,  (uint8_t *)ring.base + out.entries_offset, out.entries, out.stride, 0,
		out.handle, table_find(&f->dev->cqs, out.handle)};
}

static const struct uhca_abi_cqe *poll(struct consumer *c)
{
	const struct uhca_abi_cqe *e =
		(const void *)(c->slots + (size_t)(c->index & (c->entries - 1)) * c->stride);

	if (e->sequence != c->index + 1)
		return NULL;
	c->index++;
	return e;
}

static void publish_handled(struct consumer *c)
{
	uhca_ring_publish(&c->page->ring.consumer, c->index);
}

static bool push(struct consumer *c, uint64_t wr_id, uint8_t status, uint16_t flags)
{
	struct uhca_abi_cqe e;

	memset(&e, 0xee, sizeof(e)); /* sequence and timestamp are not taken from here */
	e.wr_id = wr_id;
	e.status = status;
	e.flags = flags;
	return cq_push(c->cq, &e);
}

/* ---- */

static void test_header(void **state)
{
	struct fixture f;
	struct consumer c;

	(void)state;
	fixture_start(&f, NULL);
	c = open_cq(&f, 10, 0);
	assert_int_equal(c.page->region.magic, UHCA_ABI_MAGIC);
	assert_int_equal(c.page->region.version, UHCA_ABI_VERSION);
	assert_int_equal(c.page->region.kind, UHCA_ABI_REGION_CQ);
	assert_int_equal(c.page->region.size, c.cq->ring.size);
	assert_int_equal(c.entries, 16);
	assert_int_equal(c.cq->cqe, 16);
	assert_null(poll(&c));
	fixture_stop(&f);
}

static int try_create(struct fixture *f, struct uhca_cmd_create_cq in)
{
	struct uhca_cmd_create_cq_reply out;
	struct core_ring ring;
	uint32_t before = core_object_count(f->dev, CORE_OBJECT_CQ);
	unsigned rings = f->rings;
	int err = core_create_cq(f->client, &in, &out, &ring);

	assert_int_equal(core_object_count(f->dev, CORE_OBJECT_CQ), before + !err);
	assert_int_equal(f->rings, rings + !err);
	return err;
}

static void two_cqs(struct core_config *cfg)
{
	cfg->limits.max_cq = 2;
	cfg->limits.max_cqe = 100;
}

static void test_create(void **state)
{
	struct fixture f;

	(void)state;
	fixture_start(&f, two_cqs);
	assert_int_equal(try_create(&f, (struct uhca_cmd_create_cq){.cqe = 0}), -EINVAL);
	assert_int_equal(try_create(&f, (struct uhca_cmd_create_cq){.cqe = 101}), -EINVAL);
	assert_int_equal(try_create(&f, (struct uhca_cmd_create_cq){.cqe = UINT32_MAX}), -EINVAL);
	assert_int_equal(try_create(&f, (struct uhca_cmd_create_cq){.cqe = 1, .comp_vector = 1}),
			 -EINVAL);
	assert_int_equal(try_create(&f, (struct uhca_cmd_create_cq){.cqe = 1, .flags = 4}),
			 -EINVAL);
	assert_int_equal(try_create(&f, (struct uhca_cmd_create_cq){.cqe = 1, .flags = 2}),
			 -EINVAL);
	f.fail_ring = 1;
	assert_int_equal(try_create(&f, (struct uhca_cmd_create_cq){.cqe = 1}), -ENOMEM);
	assert_int_equal(try_create(&f, (struct uhca_cmd_create_cq){.cqe = 100}), 0);
	assert_int_equal(try_create(&f, (struct uhca_cmd_create_cq){.cqe = 1, .flags = 1}), 0);
	assert_int_equal(try_create(&f, (struct uhca_cmd_create_cq){.cqe = 1}), -ENOMEM);
	fixture_stop(&f);
}

static void test_destroy(void **state)
{
	struct fixture f;
	struct consumer c;

	(void)state;
	fixture_start(&f, NULL);
	c = open_cq(&f, 8, CHANNEL);
	assert_int_equal(core_destroy_cq(f.other, c.handle), -ENOENT);
	c.cq->obj.refs = 1;
	assert_int_equal(core_destroy_cq(f.client, c.handle), -EBUSY);
	assert_true(push(&c, 1, 0, 0));
	c.cq->obj.refs = 0;
	assert_int_equal(f.purges, 0);
	assert_int_equal(core_destroy_cq(f.client, c.handle), 0);
	assert_int_equal(f.purges, 1);
	assert_int_equal(f.purged.channel, CHANNEL);
	assert_int_equal(f.purged.cookie, COOKIE);
	assert_ptr_equal(f.purged.client, &f.client_cookie);
	assert_int_equal(core_destroy_cq(f.client, c.handle), -ENOENT);
	assert_int_equal(f.rings, 0);
	fixture_stop(&f);
}

static void test_push(void **state)
{
	struct fixture f;
	struct consumer c;
	struct uhca_abi_cqe e;
	const struct uhca_abi_cqe *got;

	(void)state;
	fixture_start(&f, NULL);
	c = open_cq(&f, 8, 0);
	core_tick(f.dev, 12345);
	memset(&e, 0x5c, sizeof(e));
	assert_true(cq_push(c.cq, &e));
	assert_int_equal(c.page->ring.producer, 1);
	got = poll(&c);
	assert_non_null(got);
	assert_int_equal(got->timestamp, 12345);
	assert_int_equal(got->sequence, 1);
	e.timestamp = got->timestamp;
	e.sequence = got->sequence;
	assert_memory_equal(got, &e, sizeof(e));
	assert_null(poll(&c));
	fixture_stop(&f);
}

/* Random bursts up to full, from just before the index wraps. */
static void test_wrap(void **state)
{
	struct prng r = prng_start("test_cq");
	struct fixture f;
	struct consumer c;
	uint64_t pushed = 0, taken = 0;

	(void)state;
	fixture_start(&f, NULL);
	c = open_cq(&f, 16, 0);
	c.index = c.cq->producer = c.cq->consumer = UINT32_MAX - 50;
	publish_handled(&c);
	for (int i = 0; i < 200; i++) {
		for (uint32_t n = prng_below(&r, 17); n > 0 && pushed - taken < 16; n--)
			assert_true(push(&c, pushed++, 0, 0));
		for (uint32_t n = prng_below(&r, 17); n > 0 && pushed > taken; n--) {
			const struct uhca_abi_cqe *e = poll(&c);
			assert_non_null(e);
			assert_int_equal(e->wr_id, taken);
			taken++;
		}
		publish_handled(&c);
	}
	assert_true(pushed > 100);
	assert_int_equal(f.async, 0);
	fixture_stop(&f);
}

static void test_overrun(void **state)
{
	struct fixture f;
	struct consumer c;

	(void)state;
	fixture_start(&f, two_cqs);
	c = open_cq(&f, 100, 0); /* 128 slots, but 100 is what was promised */
	assert_int_equal(c.cq->cqe, 100);
	for (uint64_t i = 0; i < 100; i++)
		assert_true(push(&c, i, 0, 0));
	assert_int_equal(f.async, 0);
	assert_false(push(&c, 100, 0, 0));
	assert_false(push(&c, 101, 0, 0));
	assert_int_equal(f.async, 1);
	assert_int_equal(f.async_event[0].event.type, UHCA_ABI_EVENT_CQ_ERR);
	assert_int_equal(f.async_event[0].event.element, COOKIE);
	assert_ptr_equal(f.async_event[0].client, &f.client_cookie);
	for (uint64_t i = 0; i < 100; i++)
		assert_int_equal(poll(&c)->wr_id, i);
	assert_null(poll(&c));
	/* It stays broken. */
	publish_handled(&c);
	assert_false(push(&c, 102, 0, 0));
	assert_int_equal(f.async, 1);
	fixture_stop(&f);
}

/* An index that cannot be: nothing that was not taken is overwritten. */
static void test_lying_consumer(void **state)
{
	static const uint32_t lie[] = {17, 1000, 0x80000000u, UINT32_MAX};

	(void)state;
	for (unsigned i = 0; i < sizeof(lie) / sizeof(lie[0]); i++) {
		struct fixture f;
		struct consumer c;
		fixture_start(&f, NULL);
		c = open_cq(&f, 16, 0);
		c.page->ring.consumer = lie[i];
		for (uint64_t k = 0; k < 16; k++)
			assert_true(push(&c, k, 0, 0));
		assert_false(push(&c, 16, 0, 0));
		for (uint64_t k = 0; k < 16; k++)
			assert_int_equal(poll(&c)->wr_id, k);
		fixture_stop(&f);
	}
}

/* The client's index is looked at only when the ring seems full. */
static void test_lazy_look(void **state)
{
	struct fixture f;
	struct consumer c;

	(void)state;
	fixture_start(&f, NULL);
	c = open_cq(&f, 4, 0);
	for (uint64_t i = 0; i < 4; i++) {
		assert_true(push(&c, i, 0, 0));
		assert_non_null(poll(&c));
		publish_handled(&c);
		assert_int_equal(c.cq->consumer, 0);
	}
	assert_true(push(&c, 4, 0, 0));
	assert_int_equal(c.cq->consumer, 4);
	fixture_stop(&f);
}

/* What was armed x what completes: does the channel hear of it, is the arm word taken? */
static void test_arming(void **state)
{
	enum { PLAIN, SOLICITED, ERROR, KINDS };
	static const bool fires[4][KINDS] = {
		[0] = {false, false, false},
		[UHCA_ABI_ARM_SOLICITED] = {false, true, true},
		[UHCA_ABI_ARM_NEXT] = {true, true, true},
		[UHCA_ABI_ARM_SOLICITED | UHCA_ABI_ARM_NEXT] = {true, true, true},
	};
	struct fixture f;
	struct consumer c;

	(void)state;
	fixture_start(&f, NULL);
	c = open_cq(&f, 64, CHANNEL);
	for (uint32_t arm = 0; arm < 4; arm++)
		for (int kind = 0; kind < KINDS; kind++) {
			f.comp = 0;
			c.page->arm = arm;
			assert_true(push(&c, 0, kind == ERROR ? UHCA_ABI_WC_WR_FLUSH_ERR : 0,
					 kind == SOLICITED ? UHCA_ABI_WC_SOLICITED : 0));
			assert_int_equal(f.comp, fires[arm][kind]);
			assert_int_equal(c.page->arm, fires[arm][kind] ? 0 : arm);
		}
	fixture_stop(&f);
}

/* One arm, one event, for the right channel and with the entry in place already. */
static void test_one_event(void **state)
{
	struct fixture f;
	struct consumer c;

	(void)state;
	fixture_start(&f, NULL);
	c = open_cq(&f, 64, CHANNEL);
	c.page->arm = UHCA_ABI_ARM_NEXT;
	for (int i = 0; i < 3; i++)
		assert_true(push(&c, 0, 0, 0));
	assert_int_equal(f.comp, 1);
	assert_int_equal(f.comp_event[0].channel, CHANNEL);
	assert_int_equal(f.comp_event[0].cookie, COOKIE);
	assert_ptr_equal(f.comp_event[0].client, &f.client_cookie);
	c.page->arm = UHCA_ABI_ARM_NEXT;
	assert_true(push(&c, 0, 0, 0));
	assert_int_equal(f.comp, 2);
	fixture_stop(&f);
}

/* Who wants to hear of all completions does, and who wants those that fail, of those. */
static void test_traced(void **state)
{
	struct fixture f;
	struct consumer c;

	(void)state;
	fixture_start(&f, NULL);
	c = open_cq(&f, 64, 0);
	core_hooks_set(f.dev, CORE_HOOK_ERRORS);
	assert_true(push(&c, 0, 0, UHCA_ABI_WC_SUCCESS));
	assert_int_equal(f.traces, 0);
	core_hooks_set(f.dev, 1u << CORE_TRACE_CQE);
	assert_true(push(&c, 0, 0, UHCA_ABI_WC_SUCCESS));
	assert_int_equal(f.traces, 1);
	assert_int_equal(f.trace.point, CORE_TRACE_CQE);
	assert_int_equal(f.trace.a, UHCA_ABI_WC_SUCCESS);
	fixture_stop(&f);
}

/* An event without a completion, of a CQ that is armed and of no other. */
static void test_injected_event(void **state)
{
	struct fixture f;
	struct consumer c;

	(void)state;
	fixture_start(&f, NULL);
	c = open_cq(&f, 64, CHANNEL);
	assert_int_equal(core_inject_cq_notify(f.dev, c.handle), 0);
	assert_int_equal(f.comp, 0);
	c.page->arm = UHCA_ABI_ARM_NEXT;
	assert_int_equal(core_inject_cq_notify(f.dev, c.handle), 0);
	assert_int_equal(f.comp, 1);
	assert_int_equal(c.page->arm, 0);
	assert_null(poll(&c));
	c.page->arm = UHCA_ABI_ARM_NEXT; /* the completion has its own */
	assert_true(push(&c, 0, 0, 0));
	assert_int_equal(f.comp, 2);
	assert_int_equal(core_inject_cq_notify(f.dev, c.handle + 1), -ENOENT);
	fixture_stop(&f);
}

/* Told of entries that are unread: an event if it is armed and they had none. */
static void test_unread(void **state)
{
	struct fixture f;
	struct consumer c;

	(void)state;
	fixture_start(&f, NULL);
	c = open_cq(&f, 64, CHANNEL);
	assert_int_equal(c.page->notify_unread, 1);
	assert_true(push(&c, 0, 0, 0));
	assert_int_equal(core_notify_cq(f.client, c.handle), 0); /* not armed */
	assert_int_equal(f.comp, 0);
	c.page->arm = UHCA_ABI_ARM_NEXT;
	assert_int_equal(core_notify_cq(f.other, c.handle), -ENOENT);
	assert_int_equal(core_notify_cq(f.client, c.handle), 0);
	assert_int_equal(f.comp, 1);
	assert_int_equal(c.page->arm, 0);
	assert_int_equal(c.page->event_index, 1);
	c.page->arm = UHCA_ABI_ARM_NEXT; /* it had its event */
	assert_int_equal(core_notify_cq(f.client, c.handle), 0);
	assert_int_equal(f.comp, 1);
	assert_true(push(&c, 0, 0, 0)); /* so has this one, by coming */
	assert_int_equal(f.comp, 2);
	assert_int_equal(c.page->event_index, 2);
	assert_true(push(&c, 0, 0, 0)); /* and this one none, but it is taken */
	while (poll(&c))
		publish_handled(&c);
	c.page->arm = UHCA_ABI_ARM_NEXT;
	assert_int_equal(core_notify_cq(f.client, c.handle), 0);
	assert_int_equal(f.comp, 2);
	assert_int_equal(c.page->arm, UHCA_ABI_ARM_NEXT);
	fixture_stop(&f);
}

/* Indices that wrap: what was announced stays so, what comes does not count as old. */
static void test_unread_wraps(void **state)
{
	struct fixture f;
	struct consumer c;

	(void)state;
	fixture_start(&f, NULL);
	c = open_cq(&f, 64, CHANNEL);
	c.index = c.cq->producer = c.cq->consumer = c.cq->event_index = UINT32_MAX - 1;
	publish_handled(&c);
	for (unsigned i = 1; i <= 4; i++) {
		assert_true(push(&c, 0, 0, 0));
		c.page->arm = UHCA_ABI_ARM_NEXT;
		assert_int_equal(core_notify_cq(f.client, c.handle), 0);
		assert_int_equal(f.comp, i);
		c.page->arm = UHCA_ABI_ARM_NEXT;
		assert_int_equal(core_notify_cq(f.client, c.handle), 0);
		assert_int_equal(f.comp, i);
		c.page->arm = 0;
	}
	assert_int_equal(c.page->event_index, 2);
	fixture_stop(&f);
}

static void strict(struct core_config *cfg)
{
	cfg->strict_arming = true;
}

static void test_strict(void **state)
{
	struct fixture f;
	struct consumer c;

	(void)state;
	fixture_start(&f, strict);
	c = open_cq(&f, 64, CHANNEL);
	assert_int_equal(c.page->notify_unread, 0);
	assert_true(push(&c, 0, 0, 0));
	c.page->arm = UHCA_ABI_ARM_NEXT;
	assert_int_equal(core_notify_cq(f.client, c.handle), -EOPNOTSUPP);
	assert_int_equal(f.comp, 0);
	assert_true(push(&c, 0, 0, 0));
	assert_int_equal(f.comp, 1);
	fixture_stop(&f);
}

static void test_no_channel(void **state)
{
	struct fixture f;
	struct consumer c;

	(void)state;
	fixture_start(&f, NULL);
	c = open_cq(&f, 64, 0);
	c.page->arm = UHCA_ABI_ARM_NEXT;
	assert_true(push(&c, 0, 0, 0));
	assert_int_equal(f.comp, 0);
	assert_int_equal(core_destroy_cq(f.client, c.handle), 0);
	assert_int_equal(f.purges, 0);
	fixture_stop(&f);
}

/* What uhcactl counters and the debug log tell of completions; one that is lost is none. */
static void test_counted(void **state)
{
	struct fixture f;
	struct consumer c;

	(void)state;
	fixture_start(&f, NULL);
	c = open_cq(&f, 2, 0);
	assert_true(push(&c, 0, UHCA_ABI_WC_SUCCESS, 0));
	assert_true(push(&c, 0, UHCA_ABI_WC_WR_FLUSH_ERR, 0));
	assert_int_equal(f.trace.point, CORE_TRACE_CQE);
	assert_int_equal(f.trace.a, UHCA_ABI_WC_WR_FLUSH_ERR);
	assert_false(push(&c, 0, UHCA_ABI_WC_SUCCESS, 0));
	assert_int_equal(core_counters(f.dev)->completions, 2);
	assert_int_equal(core_counters(f.dev)->errors, 1);
	fixture_stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_header),         cmocka_unit_test(test_create),
		cmocka_unit_test(test_destroy),        cmocka_unit_test(test_push),
		cmocka_unit_test(test_wrap),           cmocka_unit_test(test_overrun),
		cmocka_unit_test(test_lying_consumer), cmocka_unit_test(test_lazy_look),
		cmocka_unit_test(test_arming),         cmocka_unit_test(test_one_event),
		cmocka_unit_test(test_traced),         cmocka_unit_test(test_no_channel),
		cmocka_unit_test(test_counted),        cmocka_unit_test(test_unread),
		cmocka_unit_test(test_injected_event), cmocka_unit_test(test_strict),
		cmocka_unit_test(test_unread_wraps),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
