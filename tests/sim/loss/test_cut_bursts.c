/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages as long as a burst, and a window that has no room for a whole number of them. Where it
 * may grow, it does, though it never stops the QP; where it is wide, what is left of it waits for
 * more; where it is narrow, it is used to its end.
 */
#include "tests/sim/world/pair.h"

#define LENGTH   (64u << 10)
#define MESSAGES 100u

/* What the device has to send, at once to the other; returns how many bursts, of n at the most. */
static unsigned pass_on(struct pair *p, unsigned from, unsigned n, unsigned *short_ones)
{
	struct world_device *d = &p->w->device[from], *to = &p->w->device[!from];
	struct core_burst t;
	unsigned i = 0;

	for (; i < n && core_tx_next(d->host.dev, p->w->now, d->buf, d->cap, &t); i++) {
		*short_ones += t.length > 0 && t.length < LENGTH;
		core_rx(to->host.dev, p->w->now, &t);
	}
	return i;
}

static void start(struct pair *p, uint32_t window, uint32_t most)
{
	struct core_config cfg = world_config();
	struct vqp_conn conn = vqp_conn_default();

	cfg.burst_bytes = LENGTH;
	cfg.window_bytes = window;
	cfg.window_most = most;
	conn.mtu = IBV_MTU_4096;
	pair_create(p, &(struct pair_options){
			       .cfg = &cfg, .conn = &conn, .init.max_send_wr = MESSAGES});
	for (unsigned i = 0; i < MESSAGES; i++)
		side_queue(&p->a, &(struct op){.opcode = UHCA_ABI_WR_RDMA_WRITE,
					       .wr_id = i,
					       .flags = UHCA_ABI_SEND_SIGNALED,
					       .length = LENGTH});
	vqp_doorbell(&p->a.qp);
}

static void finish(struct pair *p)
{
	pair_expect_copy(&p->a, 0, &p->b, 0, LENGTH);
	side_wait(&p->a, MESSAGES);
	pair_finish(p);
}

static void test_bursts_become_whole(void **state)
{
	unsigned bursts = 0, before = 0, after = 0, none = 0, n;
	struct pair p;

	(void)state;
	start(&p, 2 * LENGTH, 8 * LENGTH);
	do {
		n = pass_on(&p, 0, 2, bursts < MESSAGES / 2 ? &before : &after);
		bursts += n;
		/* The answer to the last of them is still on its way. */
		n += pass_on(&p, 1, 1, &none);
	} while (n > 0);
	assert_true(before > 0);
	assert_int_equal(after, 0);
	finish(&p);
}

/* All that may go, then all the answers: how many bursts that took, and how many were short. */
static unsigned bursts_sent(uint32_t window, unsigned *short_ones)
{
	unsigned bursts = 0, none = 0, n;
	struct pair p;

	*short_ones = 0;
	start(&p, window, 0);
	do {
		n = pass_on(&p, 0, MESSAGES, short_ones);
		bursts += n;
	} while (n + pass_on(&p, 1, MESSAGES, &none) > 0);
	finish(&p);
	return bursts;
}

static void test_wide_window(void **state)
{
	unsigned short_ones;

	(void)state;
	assert_int_equal(bursts_sent(9 * LENGTH, &short_ones), MESSAGES);
	assert_int_equal(short_ones, 0);
}

static void test_narrow_window(void **state)
{
	unsigned short_ones;

	(void)state;
	assert_true(bursts_sent(2 * LENGTH + LENGTH * 7 / 8, &short_ones) > MESSAGES);
	assert_true(short_ones > MESSAGES / 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bursts_become_whole),
		cmocka_unit_test(test_wide_window),
		cmocka_unit_test(test_narrow_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
