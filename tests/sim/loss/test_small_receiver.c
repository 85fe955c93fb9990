/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A receiver whose socket holds so much and is emptied so fast: the window grows into what is
 * there, and where there is less than the most it may grow to (a peer with a smaller buffer than
 * one's own) hardly anything is lost, and nothing takes longer than with a window that does not
 * grow. The same on a wire that loses packets at random.
 */
#include "tests/sim/world/pair.h"

#include <stdlib.h>

#define LENGTH (8u << 20)
#define WRITE  UHCA_ABI_WR_RDMA_WRITE
#define READ   UHCA_ABI_WR_RDMA_READ
#define RATE   1u /* bytes that the receiver takes in each nanosecond */

/* Of both devices: payload that has come and was not taken yet. */
struct receiver {
	uint64_t room, fill[2], last[2], most;
	uint64_t away; /* > 0: it takes all there is, so many ns apart */
	unsigned lost;
};

static enum world_verdict receive(void *arg, struct world_packet *p)
{
	struct receiver *r = arg;
	uint64_t taken = (p->now - r->last[p->to]) * RATE, *fill = &r->fill[p->to];

	if (r->away)
		taken = p->now / r->away == r->last[p->to] / r->away ? 0 : *fill;
	*fill = taken < *fill ? *fill - taken : 0;
	r->last[p->to] = p->now;
	if (*fill + p->pkt.payload_len > r->room) {
		r->lost++;
		return WORLD_DROP;
	}
	*fill += p->pkt.payload_len;
	r->most = *fill > r->most ? *fill : r->most;
	p->delay = r->away ? r->away - p->now % r->away : *fill / RATE;
	return WORLD_PASS;
}

struct result {
	uint64_t time, most;
	unsigned lost;
};

static struct result move(uint8_t opcode, const struct receiver *kind, uint32_t loss, bool grows)
{
	struct core_config cfg = world_config();
	struct vqp_conn conn = vqp_conn_default();
	struct link link = link_default();
	struct receiver r = *kind;
	struct result result;
	struct pair p;
	uint64_t start;

	/* The reader's own receiver, of which it takes half for itself (io_udp_window). */
	if (opcode == READ && cfg.window_most > kind->room / 2)
		cfg.window_most = (uint32_t)kind->room / 2;
	if (!grows)
		cfg.window_most = 0;
	conn.mtu = IBV_MTU_4096;
	pair_create(&p, &(struct pair_options){.cfg = &cfg, .conn = &conn, .buffer = LENGTH});
	p.w->filter = receive;
	p.w->filter_arg = &r;
	link.loss = loss;
	link.max_losses = 3;
	world_set_links(p.w, &link);
	start = p.w->now;
	side_post(&p.a, &(struct op){.opcode = opcode,
				     .wr_id = 1,
				     .flags = UHCA_ABI_SEND_SIGNALED,
				     .length = LENGTH});
	side_wait(&p.a, 1);
	result = (struct result){p.w->now - start, r.most, r.lost};
	world_assert(p.w, p.a.wc[0].status == UHCA_ABI_WC_SUCCESS);
	if (opcode == READ)
		pair_expect_copy(&p.b, 0, &p.a, 0, LENGTH);
	else
		pair_expect_copy(&p.a, 0, &p.b, 0, LENGTH);
	pair_finish(&p);
	return result;
}

/* There is room: it is used, and none is lost. Without growth it is not. */
static void test_room(void **state)
{
	struct result grown = move(WRITE, &(struct receiver){.room = 1u << 20}, 0, true);
	struct result fixed = move(WRITE, &(struct receiver){.room = 1u << 20}, 0, false);

	(void)state;
	assert_int_equal(grown.lost, 0);
	assert_in_range(grown.most, 500u << 10, 1u << 20);
	assert_in_range(fixed.most, 64u << 10, 128u << 10);
	assert_true(grown.time <= fixed.time);
}

/* Who reads knows his own receiver, and asks for no more than it holds. */
static void test_read(void **state)
{
	static const uint64_t rooms[] = {208u << 10, 1u << 20};

	(void)state;
	for (unsigned i = 0; i < sizeof(rooms) / sizeof(rooms[0]); i++) {
		const struct receiver r = {.room = rooms[i]};
		struct result grown = move(READ, &r, 0, true);
		struct result fixed = move(READ, &r, 0, false);

		assert_int_equal(grown.lost, 0);
		assert_in_range(fixed.most, 64u << 10, 192u << 10);
		assert_in_range(grown.most, i ? 300u << 10 : 64u << 10,
				i ? 600u << 10 : 192u << 10);
		assert_true(grown.time <= fixed.time);
	}
}

/* There is less: what goes beyond is lost, and sent again without a timeout (67 ms here). */
static void test_less_room(void **state)
{
	static const uint64_t rooms[] = {136u << 10, 160u << 10, 208u << 10, 320u << 10,
					 448u << 10};

	(void)state;
	for (unsigned i = 0; i < 2 * sizeof(rooms) / sizeof(rooms[0]); i++) {
		const struct receiver r = {.room = rooms[i / 2], .away = i & 1 ? 100000 : 0};
		struct result grown = move(WRITE, &r, 0, true);
		struct result fixed = move(WRITE, &r, 0, false);

		assert_int_equal(fixed.lost, 0);
		assert_in_range(grown.lost, 1, LENGTH / 4096 / 16);
		assert_true(grown.time <= 3 * fixed.time / 2);
	}
}

static void test_lossy(void **state)
{
	static const uint8_t opcode[] = {WRITE, READ};

	(void)state;
	for (unsigned i = 0; i < 6; i++) {
		const struct receiver r = {.room = 1u << 20};
		uint32_t loss = i < 2 ? 1000 : i < 4 ? 10000 : 100000;
		struct result grown = move(opcode[i % 2], &r, loss, true);
		struct result fixed = move(opcode[i % 2], &r, loss, false);

		assert_true(grown.time <= 2 * fixed.time);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_room),
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_less_room),
		cmocka_unit_test(test_lossy),
	};

	return cmocka_run_group_tests_name("small_receiver", tests, NULL, NULL);
}
