/* SPDX-License-Identifier: BSD-2-Clause */
/* Step mode as programs see it: nothing moves until a person lets it, and what is let go counts. */
#include "tests/sim/world/pair.h"
#include "tests/sim/world/world_faults.h"

#define LENGTH 3000u

static void release_all(struct pair *p, unsigned device)
{
	struct fault_waiting w;

	while (fault_net_waiting(world_net(p->w, device), &w, 1))
		world_assert(p->w,
			     fault_net_release(world_net(p->w, device), w.number, p->w->now) == 0);
}

/* As uhcactl step does it, to both ends. */
static void freeze(struct pair *p, bool on)
{
	for (unsigned i = 0; i < 2; i++)
		core_freeze(p->w->device[i].host.dev, on, p->w->now);
	for (unsigned i = 0; i < 2; i++)
		fault_net_freeze(world_net(p->w, i), on, p->w->now);
}

static uint64_t sent_again(const struct pair *p, unsigned device)
{
	return core_counters(p->w->device[device].host.dev)->retransmits;
}

/* Has it been sent again just at this time? */
static void expect_again(struct pair *p, uint64_t at)
{
	world_run(p->w, at - 1);
	world_assert(p->w, sent_again(p, 0) == 0);
	world_run(p->w, at);
	world_assert(p->w, sent_again(p, 0) == 1);
}

static void start(struct pair *p, uint8_t timeout)
{
	struct vqp_conn conn = vqp_conn_default();

	conn.timeout = timeout;
	pair_create(p, &(struct pair_options){.conn = &conn});
	world_faults(p->w, 1);
	side_recv(&p->b, 2, 100000, LENGTH);
}

static void expect_one(struct pair *p)
{
	side_expect(&p->a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
	side_expect(&p->b, 0, 2, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
	pair_expect_copy(&p->a, 0, &p->b, 100000, LENGTH);
}

/* One packet after the other, as long as it takes: a time-out of 0 never comes. */
static void test_step_by_step(void **state)
{
	struct fault_waiting w[8];
	struct pair p;

	(void)state;
	start(&p, 0);
	fault_net_freeze(world_net(p.w, 0), true, p.w->now);
	side_send(&p.a, 1, 0, LENGTH);
	side_quiet(&p.a, 60 * PAIR_SECONDS);
	side_quiet(&p.b, 0);
	world_assert(p.w, fault_net_waiting(world_net(p.w, 0), w, 8) == 3);
	for (unsigned i = 0; i < 2; i++) {
		fault_net_release(world_net(p.w, 0), w[i].number, p.w->now);
		side_quiet(&p.b, PAIR_SECONDS);
	}
	fault_net_release(world_net(p.w, 0), w[2].number, p.w->now);
	side_wait(&p.b, 1);
	side_quiet(&p.a, PAIR_SECONDS); /* the ACK stands still in turn: it is for this device */
	release_all(&p, 0);
	expect_one(&p);
	fault_net_freeze(world_net(p.w, 0), false, p.w->now);
	pair_finish(&p);
}

#define TIMEOUT (4096ull << 14)

/* However long it takes, nothing is sent again, and nothing fails. */
static void test_clock_stands(void **state)
{
	struct fault_waiting w[8];
	struct pair p;

	(void)state;
	start(&p, 14);
	freeze(&p, true);
	side_send(&p.a, 1, 0, LENGTH);
	side_quiet(&p.a, 60 * PAIR_SECONDS);
	world_assert(p.w, fault_net_waiting(world_net(p.w, 0), w, 8) == 3);
	for (unsigned turn = 0; turn < 4; turn++) {
		release_all(&p, turn % 2);
		world_run(p.w, p.w->now + 60 * PAIR_SECONDS);
	}
	release_all(&p, 0);
	expect_one(&p);
	freeze(&p, false);
	world_assert(p.w, sent_again(&p, 0) == 0);
	pair_finish(&p);
}

/* What began before is over so much later; what began meanwhile has its whole time left. */
static void test_later(void **state, bool before)
{
	struct fault_waiting w[8];
	struct pair p;
	uint64_t sent;

	(void)state;
	start(&p, 14);
	world_rule(p.w, "drop device=uhca0 dir=tx opcode=send nth=1..3");
	sent = p.w->now;
	if (before)
		side_send(&p.a, 1, 0, LENGTH);
	world_run(p.w, sent + TIMEOUT / 4);
	freeze(&p, true);
	if (!before)
		side_send(&p.a, 1, 0, LENGTH);
	world_run(p.w, sent + 60 * PAIR_SECONDS);
	world_assert(p.w, sent_again(&p, 0) == 0);
	world_assert(p.w, fault_net_waiting(world_net(p.w, 0), w, 8) == 0);
	freeze(&p, false);
	expect_again(&p, p.w->now + (before ? TIMEOUT * 3 / 4 : TIMEOUT));
	expect_one(&p);
	pair_finish(&p);
}

static void test_begun_before(void **state)
{
	test_later(state, true);
}

static void test_begun_meanwhile(void **state)
{
	test_later(state, false);
}

/* What a person drops is lost: the time-out brings it again. */
static void test_dropped_by_hand(void **state)
{
	struct fault_waiting w[8];
	struct pair p;

	(void)state;
	start(&p, 14);
	fault_net_freeze(world_net(p.w, 0), true, p.w->now);
	side_send(&p.a, 1, 0, LENGTH);
	world_run(p.w, p.w->now + 1000);
	world_assert(p.w, fault_net_waiting(world_net(p.w, 0), w, 8) == 3);
	fault_net_drop(world_net(p.w, 0), w[1].number, p.w->now);
	fault_net_freeze(world_net(p.w, 0), false, p.w->now);
	expect_one(&p);
	world_assert(p.w, core_counters(p.w->device[1].host.dev)->naks_sent == 1);
	pair_finish(&p);
}

static void test_changed_by_hand(void **state)
{
	static const uint8_t changed = 0x5a;
	struct fault_waiting w[8];
	struct pair p;

	(void)state;
	start(&p, 14);
	fault_net_freeze(world_net(p.w, 0), true, p.w->now);
	side_send(&p.a, 1, 0, LENGTH);
	world_run(p.w, p.w->now + 1000);
	fault_net_waiting(world_net(p.w, 0), w, 8);
	world_assert(p.w,
		     fault_net_change(world_net(p.w, 0), w[1].number, "payload:5", changed) == 0);
	fault_net_freeze(world_net(p.w, 0), false, p.w->now);
	expect_one(&p);
	memory_expect(&p.b.c.mem, p.b.mr.addr + 100000 + 1024 + 5, &changed, 1);
	pair_finish(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_step_by_step),    cmocka_unit_test(test_clock_stands),
		cmocka_unit_test(test_begun_before),    cmocka_unit_test(test_begun_meanwhile),
		cmocka_unit_test(test_dropped_by_hand), cmocka_unit_test(test_changed_by_hand),
	};

	return cmocka_run_group_tests_name("fault_held", tests, NULL, NULL);
}
