/* SPDX-License-Identifier: BSD-2-Clause */
/* The only reader of client rings: order, wrap, and every lie a ring can tell. */
#include "tests/support/wire/cmocka_all.h"

#include "emu/core/queues/wqe_fetch.h"

#include <string.h>

#define ENTRIES 4u
#define SGES    3u

static struct {
	struct uhca_abi_queue page;
	uint8_t slots[ENTRIES * 128];
	uint8_t data[ENTRIES * 64];
} shared;

static struct send_queue send_queue(void)
{
	memset(&shared, 0, sizeof shared);
	return (struct send_queue){.entries = ENTRIES,
				   .stride = UHCA_ABI_SEND_STRIDE(SGES),
				   .max_sge = SGES,
				   .data_stride = 64,
				   .page = &shared.page,
				   .slots = shared.slots,
				   .data = shared.data};
}

static struct recv_queue recv_queue(void)
{
	memset(&shared, 0, sizeof shared);
	return (struct recv_queue){.entries = ENTRIES,
				   .stride = UHCA_ABI_RECV_STRIDE(SGES),
				   .max_sge = SGES,
				   .page = &shared.page,
				   .slots = shared.slots};
}

static void post_send(const struct send_queue *sq, uint64_t wr_id, uint8_t sges)
{
	uint32_t p = shared.page.send.producer;
	uint8_t *slot = shared.slots + (p % ENTRIES) * sq->stride;
	struct uhca_abi_send_wqe w = {.wr_id = wr_id, .num_sge = sges};
	struct uhca_abi_sge s = {.addr = wr_id + 1, .length = 2, .lkey = 3};

	memcpy(slot, &w, sizeof w);
	for (uint8_t i = 0; i < sges && i < SGES; i++)
		memcpy(slot + sizeof w + i * sizeof s, &s, sizeof s);
	shared.page.send.producer = p + 1;
}

static void test_send_order(void **state)
{
	struct send_queue sq = send_queue();
	struct uhca_abi_send_wqe w;
	struct uhca_abi_sge sge[SGES];

	(void)state;
	for (uint64_t i = 0; i < 11; i++) {
		assert_int_equal(send_fetch(&sq, &w, sge), FETCH_EMPTY);
		assert_false(send_pending(&sq));
		post_send(&sq, i, 2);
		assert_true(send_pending(&sq));
		assert_int_equal(send_fetch(&sq, &w, sge), FETCH_OK);
		assert_int_equal(w.wr_id, i);
		assert_int_equal(sge[1].addr, i + 1);
		assert_ptr_equal(send_data(&sq, (uint32_t)i), shared.data + (i % ENTRIES) * 64);
		send_retire(&sq, sq.head);
		assert_int_equal(shared.page.send.consumer, i + 1);
	}
}

static void test_send_lies(void **state)
{
	struct send_queue sq = send_queue();
	struct uhca_abi_send_wqe w, *slot = (struct uhca_abi_send_wqe *)shared.slots;
	struct uhca_abi_sge sge[SGES];

	(void)state;
	post_send(&sq, 1, SGES + 1);
	assert_int_equal(send_fetch(&sq, &w, sge), FETCH_BROKEN);
	assert_int_equal(sq.head, 0);
	slot->num_sge = 0;
	slot->inline_length = 65;
	assert_int_equal(send_fetch(&sq, &w, sge), FETCH_BROKEN);
	slot->inline_length = 64;
	assert_int_equal(send_fetch(&sq, &w, sge), FETCH_OK);
	shared.page.send.producer = 1 + ENTRIES + 1; /* nothing is wrong with the entries */
	assert_int_equal(send_fetch(&sq, &w, sge), FETCH_BROKEN);
	shared.page.send.producer = 0;
	assert_int_equal(send_fetch(&sq, &w, sge), FETCH_BROKEN);
	shared.page.send.producer = 1 + ENTRIES;
	assert_int_equal(send_fetch(&sq, &w, sge), FETCH_OK);
}

/*
 * What was seen is taken whatever the client says of it later; then its index is looked at again.
 */
static void test_send_seen(void **state)
{
	struct send_queue sq = send_queue();
	struct uhca_abi_send_wqe w;
	struct uhca_abi_sge sge[SGES];

	(void)state;
	for (uint64_t i = 0; i < 3; i++)
		post_send(&sq, i, 1);
	assert_int_equal(send_fetch(&sq, &w, sge), FETCH_OK);
	shared.page.send.producer = 1;
	for (uint64_t i = 1; i < 3; i++) {
		assert_true(send_pending(&sq));
		assert_int_equal(send_fetch(&sq, &w, sge), FETCH_OK);
		assert_int_equal(w.wr_id, i);
	}
	assert_int_equal(send_fetch(&sq, &w, sge), FETCH_BROKEN);
	shared.page.send.producer = 5;
	assert_int_equal(send_fetch(&sq, &w, sge), FETCH_OK);
	send_drop(&sq);
	assert_int_equal(sq.head, 5);
	assert_int_equal(shared.page.send.consumer, 5);
	assert_false(send_pending(&sq));
	assert_int_equal(send_fetch(&sq, &w, sge), FETCH_EMPTY);
}

static void test_recv_seen(void **state)
{
	struct recv_queue rq = recv_queue();
	struct recv_wr wr;

	(void)state;
	shared.page.recv.producer = 2;
	assert_int_equal(recv_fetch(&rq, &wr), FETCH_OK);
	shared.page.recv.producer = 0;
	assert_int_equal(recv_fetch(&rq, &wr), FETCH_OK);
	assert_int_equal(recv_fetch(&rq, &wr), FETCH_BROKEN);
	shared.page.recv.producer = 4;
	assert_int_equal(recv_peek(&rq, &wr), FETCH_OK);
	recv_drop(&rq);
	assert_int_equal(rq.consumer, 4);
	assert_int_equal(shared.page.recv.consumer, 4);
	assert_int_equal(recv_peek(&rq, &wr), FETCH_EMPTY);
}

/* Looking ahead takes nothing, and sees no more than there is. */
static void test_peek(void **state)
{
	struct send_queue sq = send_queue();
	struct uhca_abi_send_wqe w;
	struct uhca_abi_sge sge[SGES];

	(void)state;
	for (uint64_t i = 0; i < 11; i++) {
		uint32_t at = sq.head;

		assert_int_equal(send_peek(&sq, at, &w), FETCH_EMPTY);
		post_send(&sq, i, 2);
		post_send(&sq, 100 + i, 2);
		assert_int_equal(send_peek(&sq, at, &w), FETCH_OK);
		assert_int_equal(w.wr_id, i);
		assert_int_equal(send_peek(&sq, at + 1, &w), FETCH_OK);
		assert_int_equal(w.wr_id, 100 + i);
		assert_int_equal(send_peek(&sq, at + 2, &w), FETCH_EMPTY);
		assert_int_equal(send_peek(&sq, at - 1, &w), FETCH_EMPTY);
		assert_int_equal(sq.head, at);
		assert_int_equal(send_fetch(&sq, &w, sge), FETCH_OK);
		assert_int_equal(send_fetch(&sq, &w, sge), FETCH_OK);
	}
	shared.page.send.producer = sq.head + ENTRIES + 1;
	assert_int_equal(send_peek(&sq, sq.head, &w), FETCH_BROKEN);
}

static void test_recv(void **state)
{
	struct recv_queue rq = recv_queue();
	struct uhca_abi_recv_wqe *slot = (struct uhca_abi_recv_wqe *)shared.slots;
	struct recv_wr wr;

	(void)state;
	assert_int_equal(recv_fetch(&rq, &wr), FETCH_EMPTY);
	slot->wr_id = 77;
	slot->num_sge = 1;
	shared.page.recv.producer = 3;
	assert_int_equal(recv_available(&rq), 3);
	assert_int_equal(recv_fetch(&rq, &wr), FETCH_OK);
	assert_int_equal(wr.wr_id, 77);
	assert_int_equal(shared.page.recv.consumer, 1);
	assert_int_equal(recv_available(&rq), 2);
	shared.page.recv.producer = 3 + ENTRIES + 1;
	assert_int_equal(recv_available(&rq), 0);
	assert_int_equal(recv_fetch(&rq, &wr), FETCH_OK);
	assert_int_equal(recv_fetch(&rq, &wr), FETCH_OK);
	assert_int_equal(recv_fetch(&rq, &wr), FETCH_BROKEN);
}

static void test_recv_lies(void **state)
{
	struct recv_queue rq = recv_queue();
	struct uhca_abi_recv_wqe *slot = (struct uhca_abi_recv_wqe *)shared.slots;
	struct recv_wr wr;

	(void)state;
	slot->num_sge = SGES + 1;
	shared.page.recv.producer = 1;
	assert_int_equal(recv_fetch(&rq, &wr), FETCH_BROKEN);
	assert_int_equal(rq.consumer, 0);
	rq.entries = 0;
	assert_int_equal(recv_fetch(&rq, &wr), FETCH_EMPTY);
	assert_int_equal(recv_available(&rq), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_send_order), cmocka_unit_test(test_send_lies),
		cmocka_unit_test(test_peek),       cmocka_unit_test(test_recv),
		cmocka_unit_test(test_recv_lies),  cmocka_unit_test(test_send_seen),
		cmocka_unit_test(test_recv_seen),
	};

	return cmocka_run_group_tests_name("wqe_fetch", tests, NULL, NULL);
}
