/* SPDX-License-Identifier: BSD-2-Clause */
/* Copies on poll: who copies, when the device does, and programs that lie about it. */
#include "tests/support/core/core_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include "emu/core/base/device.h"
#include "emu/core/memory/copy_on_poll.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SIZE 65536u

static uint8_t memory[SIZE], bytes[UHCA_ABI_COPY_ON_POLL_BYTES + 1];
static unsigned stores;
static int refuses; /* what a store says */

struct rig {
	struct fixture f;
	struct uhca_abi_copy_on_poll *slots;
	struct copy_on_poll_ring ring;
};

static int store(void *client, const struct core_span *to, unsigned n, const struct iovec *from,
		 unsigned n_from)
{
	(void)client;
	assert_int_equal(n, 1);
	assert_int_equal(n_from, 1);
	assert_int_equal(to->space, CORE_SPACE_CLIENT);
	stores++;
	if (!refuses)
		memcpy(memory + to->addr, from->iov_base, to->length);
	return refuses;
}

static void start(struct rig *r)
{
	fixture_start(&r->f, NULL);
	r->f.ops.mem_write = store;
	r->slots = calloc(UHCA_ABI_COPY_ON_POLL_SLOTS, sizeof(*r->slots));
	assert_non_null(r->slots);
	copy_on_poll_ring_construct(&r->ring, r->f.client, r->slots);
	memset(memory, 0, SIZE);
	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(1 + i % 251);
	stores = 0;
	refuses = 0;
}

static void finish(struct rig *r)
{
	copy_on_poll_ring_end(&r->ring);
	fixture_stop(&r->f);
	free(r->slots);
}

static bool put_payload(struct rig *r, uint64_t addr, uint32_t length, uint32_t *slot)
{
	struct iovec iov[] = {{bytes, length / 3}, {bytes + length / 3, length - length / 3}};

	return copy_on_poll_put(&r->ring, addr, iov, 2, slot);
}

/* The program takes what the completion names. */
static void take_slot(struct rig *r, uint32_t slot)
{
	struct uhca_abi_copy_on_poll *o = &r->slots[slot];

	assert_true(uhca_copy_on_poll_exchange(o, UHCA_ABI_COPY_ON_POLL_PENDING,
					       UHCA_ABI_COPY_ON_POLL_CLIENT));
	memcpy(memory + o->addr, o->bytes, o->length);
	assert_true(uhca_copy_on_poll_exchange(o, UHCA_ABI_COPY_ON_POLL_CLIENT,
					       UHCA_ABI_COPY_ON_POLL_DONE));
}

static bool is_there(uint64_t addr, uint32_t length)
{
	return memcmp(memory + addr, bytes, length) == 0;
}

/* Taken by the program: the device stores nothing, and slots come again. */
static void test_taken(void **state)
{
	struct rig r;
	uint32_t slot;

	(void)state;
	start(&r);
	for (unsigned i = 0; i < 3 * UHCA_ABI_COPY_ON_POLL_SLOTS; i++) {
		assert_true(put_payload(&r, 100, 40 + i, &slot));
		assert_int_equal(slot, 0); /* as nothing else waits */
		take_slot(&r, slot);
		assert_true(is_there(100, 40 + i));
	}
	copies_on_poll_settle(r.f.dev);
	assert_true(list_empty(&r.f.dev->copies_on_poll));
	assert_int_equal(stores, 0);
	finish(&r);
}

/* The device wants memory first: all are there, in their order, and the program finds it done. */
static void test_settled(void **state)
{
	struct rig r;
	uint32_t slot[3];

	(void)state;
	start(&r);
	assert_true(put_payload(&r, 0, 100, &slot[0]));
	assert_true(put_payload(&r, 200, 4096, &slot[1]));
	assert_true(put_payload(&r, 8192, 1, &slot[2]));
	take_slot(&r, slot[1]);
	copies_on_poll_settle(r.f.dev);
	assert_int_equal(stores, 2);
	assert_true(is_there(0, 100) && is_there(200, 4096) && is_there(8192, 1));
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(uhca_copy_on_poll_state(&r.slots[slot[i]]),
				 UHCA_ABI_COPY_ON_POLL_DONE);
	copies_on_poll_settle(r.f.dev);
	assert_int_equal(stores, 2);
	finish(&r);
}

static void test_room(void **state)
{
	struct rig r;
	uint32_t slot;

	(void)state;
	start(&r);
	assert_false(put_payload(&r, 0, UHCA_ABI_COPY_ON_POLL_BYTES + 1, &slot));
	assert_true(put_payload(&r, 0, UHCA_ABI_COPY_ON_POLL_BYTES, &slot));
	for (unsigned i = 1; i < UHCA_ABI_COPY_ON_POLL_SLOTS; i++)
		assert_true(put_payload(&r, 0, 8, &slot));
	assert_false(put_payload(&r, 0, 8, &slot));
	take_slot(&r, 1); /* not the oldest */
	assert_false(put_payload(&r, 0, 8, &slot));
	take_slot(&r, 0);
	assert_true(put_payload(&r, 0, 8, &slot));
	assert_int_equal(slot, 0);
	assert_true(put_payload(&r, 0, 8, &slot));
	assert_int_equal(slot, 1);
	copy_on_poll_ring_construct(&r.ring, r.f.client, NULL);
	list_init(&r.f.dev->copies_on_poll);
	assert_false(put_payload(&r, 0, 8, &slot));
	finish(&r);
}

/* Whoever does not poll finds it in memory a little later. */
static void test_time(void **state)
{
	struct rig r;
	uint32_t slot;

	(void)state;
	start(&r);
	assert_int_equal(core_next_deadline(r.f.dev), UINT64_MAX);
	assert_true(put_payload(&r, 0, 100, &slot));
	assert_int_equal(core_next_deadline(r.f.dev), 1000000);
	core_tick(r.f.dev, 999999);
	assert_false(is_there(0, 100));
	core_tick(r.f.dev, 1000000);
	assert_true(is_there(0, 100));
	assert_int_equal(core_next_deadline(r.f.dev), UINT64_MAX);
	assert_true(put_payload(&r, 0, 100, &slot));
	take_slot(&r, slot);
	core_tick(r.f.dev, 2000000);
	assert_int_equal(stores, 1);
	assert_true(put_payload(&r, 300, 100, &slot));
	core_hurry(r.f.dev); /* before a sleep */
	assert_true(is_there(300, 100));
	finish(&r);
}

/* The program takes it and has not copied yet. */
static void begin(struct rig *r, uint32_t slot)
{
	assert_true(uhca_copy_on_poll_exchange(&r->slots[slot], UHCA_ABI_COPY_ON_POLL_PENDING,
					       UHCA_ABI_COPY_ON_POLL_CLIENT));
}

/*
 * It copies, and nobody waits for it: the same bytes are in memory at once. What it copies from
 * stays as it is until it is done, and no later copy is held up or lost by that.
 */
static void test_copying(void **state)
{
	struct rig r;
	uint32_t slot, other, next;

	(void)state;
	start(&r);
	assert_true(put_payload(&r, 0, 100, &slot));
	assert_true(put_payload(&r, 200, 100, &other));
	begin(&r, slot);
	copies_on_poll_settle(r.f.dev);
	assert_int_equal(stores, 2);
	assert_true(is_there(0, 100) && is_there(200, 100));
	assert_int_equal(uhca_copy_on_poll_state(&r.slots[slot]), UHCA_ABI_COPY_ON_POLL_CLIENT);
	assert_int_equal(uhca_copy_on_poll_state(&r.slots[other]), UHCA_ABI_COPY_ON_POLL_DONE);
	copies_on_poll_settle(r.f.dev);
	assert_int_equal(stores, 2);
	assert_int_equal(core_next_deadline(r.f.dev), UINT64_MAX);
	for (unsigned i = 2; i < UHCA_ABI_COPY_ON_POLL_SLOTS; i++) {
		assert_true(put_payload(&r, 400, 8, &next));
		assert_int_not_equal(next, slot);
		assert_int_equal(core_next_deadline(r.f.dev), r.f.dev->now + 1000000);
		core_tick(r.f.dev, r.f.dev->now + 1000000);
		assert_int_equal(stores, 1 + i);
	}
	assert_false(put_payload(&r, 400, 8, &next));
	assert_int_equal(r.slots[slot].addr, 0);
	assert_int_equal(r.slots[slot].length, 100);
	assert_true(uhca_copy_on_poll_exchange(&r.slots[slot], UHCA_ABI_COPY_ON_POLL_CLIENT,
					       UHCA_ABI_COPY_ON_POLL_DONE));
	assert_true(put_payload(&r, 400, 8, &next));
	take_slot(&r, next);
	copies_on_poll_settle(r.f.dev);
	assert_true(list_empty(&r.f.dev->copies_on_poll));
	finish(&r);
}

/* What it still copies to takes no WRITE: its copy, of what was before, could come after that. */
static void test_collide(void **state)
{
	const struct core_span last = {.addr = 1099, .length = 1, .space = CORE_SPACE_CLIENT};
	const struct core_span first = {.addr = 900, .length = 101, .space = CORE_SPACE_CLIENT};
	const struct core_span beside[] = {
		{.addr = 900, .length = 100, .space = CORE_SPACE_CLIENT},
		{.addr = 1100, .length = 100, .space = CORE_SPACE_CLIENT},
		{.addr = 1000, .length = 100, .space = CORE_SPACE_DEVICE}};
	const struct core_span second[] = {beside[0], last};
	struct rig r;
	uint32_t slot, other;

	(void)state;
	start(&r);
	assert_true(put_payload(&r, 2000, 100, &other));
	assert_true(put_payload(&r, 1000, 100, &slot));
	begin(&r, other);
	begin(&r, slot);
	copies_on_poll_settle(r.f.dev);
	assert_true(copies_on_poll_collide(r.f.client, &last, 1));
	assert_true(copies_on_poll_collide(r.f.client, &first, 1));
	assert_true(copies_on_poll_collide(r.f.client, second, 2));
	assert_false(copies_on_poll_collide(r.f.client, beside, 3));
	uhca_copy_on_poll_set(&r.slots[slot], UHCA_ABI_COPY_ON_POLL_DONE);
	assert_false(copies_on_poll_collide(r.f.client, &last, 1));
	uhca_copy_on_poll_set(&r.slots[other], UHCA_ABI_COPY_ON_POLL_DONE);
	finish(&r);
}

/*
 * Memory that does not answer keeps nobody, and its program has the bytes; that is gone loses them.
 */
static void test_refused(void **state)
{
	struct rig r;
	uint32_t slot, other;

	(void)state;
	start(&r);
	assert_true(put_payload(&r, 0, 100, &slot));
	assert_true(put_payload(&r, 0, 100, &other));
	begin(&r, other);
	refuses = -ESRCH;
	copies_on_poll_settle(r.f.dev);
	assert_int_equal(uhca_copy_on_poll_state(&r.slots[slot]), UHCA_ABI_COPY_ON_POLL_PENDING);
	core_tick(r.f.dev, 1000000);
	assert_int_equal(stores, 2);
	assert_int_equal(core_next_deadline(r.f.dev), 101000000);
	take_slot(&r, slot);
	copies_on_poll_settle(r.f.dev);
	assert_int_equal(stores, 3);
	assert_int_equal(uhca_copy_on_poll_state(&r.slots[other]), UHCA_ABI_COPY_ON_POLL_CLIENT);
	uhca_copy_on_poll_set(&r.slots[other], UHCA_ABI_COPY_ON_POLL_DONE);
	assert_true(put_payload(&r, 0, 100, &slot));
	refuses = -EFAULT;
	copies_on_poll_settle(r.f.dev);
	assert_int_equal(uhca_copy_on_poll_state(&r.slots[slot]), UHCA_ABI_COPY_ON_POLL_DONE);
	assert_true(list_empty(&r.f.dev->copies_on_poll));
	finish(&r);
}

/* A program writes to its slots what it likes: it is believed where it harms itself alone. */
static void test_lies(void **state)
{
	struct rig r;
	uint32_t slot;

	(void)state;
	start(&r);
	assert_true(put_payload(&r, 0, 100, &slot));
	r.slots[slot].addr = SIZE * 2;
	r.slots[slot].length = UINT32_MAX;
	copies_on_poll_settle(r.f.dev);
	assert_true(is_there(0, 100));
	assert_true(put_payload(&r, 300, 100, &slot));
	r.slots[slot].state = 77;
	copies_on_poll_settle(r.f.dev);
	assert_false(is_there(300, 100));
	assert_int_equal(r.ring.n, 1);
	r.slots[slot].state = UHCA_ABI_COPY_ON_POLL_PENDING; /* once is enough */
	copies_on_poll_settle(r.f.dev);
	assert_int_equal(stores, 1);
	assert_int_equal(core_next_deadline(r.f.dev), UINT64_MAX);
	finish(&r);
}

/*
 * A program's accesses look at its queues that have copies waiting: they are few, and nobody else's
 * accesses look at those that need nothing of the device. What is taken makes room for another
 * queue.
 */
static void test_many_queues(void **state)
{
	static struct copy_on_poll_ring ring[COPY_ON_POLL_RINGS + 1];
	struct uhca_abi_copy_on_poll *slots =
		calloc((COPY_ON_POLL_RINGS + 1) * UHCA_ABI_COPY_ON_POLL_SLOTS, sizeof(*slots));
	const struct iovec iov = {bytes, 8};
	struct rig r;
	uint32_t slot;

	(void)state;
	start(&r);
	assert_non_null(slots);
	for (unsigned i = 0; i <= COPY_ON_POLL_RINGS; i++)
		copy_on_poll_ring_construct(&ring[i], r.f.client,
					    slots + i * UHCA_ABI_COPY_ON_POLL_SLOTS);
	for (unsigned i = 0; i < COPY_ON_POLL_RINGS; i++)
		assert_true(copy_on_poll_put(&ring[i], 8 * i, &iov, 1, &slot));
	assert_false(copy_on_poll_put(&ring[COPY_ON_POLL_RINGS], 0, &iov, 1, &slot));
	for (unsigned i = 0; i < COPY_ON_POLL_RINGS; i++) /* the program is about to take them */
		assert_true(uhca_copy_on_poll_exchange(&slots[i * UHCA_ABI_COPY_ON_POLL_SLOTS],
						       UHCA_ABI_COPY_ON_POLL_PENDING,
						       UHCA_ABI_COPY_ON_POLL_CLIENT));
	copies_on_poll_settle(r.f.dev);
	assert_true(list_empty(&r.f.dev->copies_on_poll));
	assert_int_equal(copies_on_poll_due(r.f.dev), UINT64_MAX);
	assert_false(copy_on_poll_put(&ring[COPY_ON_POLL_RINGS], 0, &iov, 1, &slot));
	assert_true(uhca_copy_on_poll_exchange(&slots[5 * UHCA_ABI_COPY_ON_POLL_SLOTS],
					       UHCA_ABI_COPY_ON_POLL_CLIENT,
					       UHCA_ABI_COPY_ON_POLL_DONE));
	assert_true(copy_on_poll_put(&ring[COPY_ON_POLL_RINGS], 0, &iov, 1, &slot));
	for (unsigned i = 0; i <= COPY_ON_POLL_RINGS; i++)
		copy_on_poll_ring_end(&ring[i]);
	assert_int_equal(r.f.client->n_copies_on_poll, 0);
	finish(&r);
	free(slots);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_taken),       cmocka_unit_test(test_settled),
		cmocka_unit_test(test_room),        cmocka_unit_test(test_time),
		cmocka_unit_test(test_copying),     cmocka_unit_test(test_refused),
		cmocka_unit_test(test_lies),        cmocka_unit_test(test_collide),
		cmocka_unit_test(test_many_queues),
	};

	return cmocka_run_group_tests_name("copy_on_poll", tests, NULL, NULL);
}
