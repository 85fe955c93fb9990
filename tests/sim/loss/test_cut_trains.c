/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages as long as a train, and answers that come just in time: the window never stops the QP,
 * but what is under way leaves too little of it for a whole train. It grows then as well, so that
 * trains are whole.
 */
#include "tests/sim/world/pair.h"

#define LENGTH   (64u << 10)
#define MESSAGES 100u

/* What the device has to send, at once to the other; returns how many trains, of n at the most. */
static unsigned pass_on(struct pair *p, unsigned from, unsigned n, unsigned *short_ones)
{
	struct world_device *d = &p->w->device[from], *to = &p->w->device[!from];
	struct core_train t;
	unsigned i = 0;

	for (; i < n && core_tx_next(d->host.dev, p->w->now, d->buf, d->cap, &t); i++) {
		*short_ones += t.length > 0 && t.length < LENGTH;
		core_rx(to->host.dev, p->w->now, &t);
	}
	return i;
}

static void test_trains_become_whole(void **state)
{
	struct core_config cfg = world_config();
	struct vqp_conn conn = vqp_conn_default();
	unsigned trains = 0, before = 0, after = 0, none = 0, n;
	struct pair p;

	(void)state;
	cfg.train_bytes = LENGTH;
	conn.mtu = IBV_MTU_4096;
	pair_create(&p, &(struct pair_options){
				.cfg = &cfg, .conn = &conn, .init.max_send_wr = MESSAGES});
	for (unsigned i = 0; i < MESSAGES; i++)
		side_queue(&p.a, &(struct op){.opcode = UHCA_ABI_WR_RDMA_WRITE,
					      .wr_id = i,
					      .flags = UHCA_ABI_SEND_SIGNALED,
					      .length = LENGTH});
	vqp_doorbell(&p.a.qp);
	do {
		n = pass_on(&p, 0, 2, trains < MESSAGES / 2 ? &before : &after);
		trains += n;
		/* The answer to the last of them is still on its way. */
		n += pass_on(&p, 1, 1, &none);
	} while (n > 0);
	assert_true(before > 0);
	assert_int_equal(after, 0);
	pair_expect_copy(&p.a, 0, &p.b, 0, LENGTH);
	side_wait(&p.a, MESSAGES);
	pair_finish(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_trains_become_whole)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
