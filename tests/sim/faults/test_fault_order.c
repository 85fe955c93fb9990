/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What rules hold back for a time keeps its order, also where the devices of a daemon hand their
 * bursts to each other at once and on one call stack: whatever the number of devices and QPs, a
 * line that is late, slow or still for a while costs no NAK, no repetition and no timeout.
 */
#include "tests/sim/world/pair.h"
#include "tests/sim/world/seeds.h"
#include "tests/sim/world/world_faults.h"

#include <stdlib.h>

#define DEVICES_MAX 3u
#define LINES       5u /* QPs from each device to each other and to itself */
#define ROUNDS      4u
#define LENGTH      9000u
#define LINES_MAX   (LINES * DEVICES_MAX * DEVICES_MAX)
#define PER_LINE    (ROUNDS * 3u)

struct line {
	struct vqp from, to;
	unsigned source, sink;
};

struct fabric {
	struct world *w;
	unsigned n_devices, n_lines;
	struct vclient c[DEVICES_MAX];
	struct vcq cq[DEVICES_MAX];
	struct vmr mr[DEVICES_MAX];
	struct line line[LINES_MAX];
	unsigned done;
};

static void create_line(struct fabric *f, unsigned source, unsigned sink)
{
	struct line *l = &f->line[f->n_lines++];
	struct vqp_conn conn = vqp_conn_default();
	struct vqp_init init = {.max_send_wr = PER_LINE, .max_recv_wr = PER_LINE};

	l->source = source;
	l->sink = sink;
	conn.timeout = 22; /* 17 s: what is merely late is not sent again */
	init.send_cq = init.recv_cq = &f->cq[source];
	world_assert(f->w, vqp_create(&f->c[source], &init, &l->from) == 0);
	init.send_cq = init.recv_cq = &f->cq[sink];
	world_assert(f->w, vqp_create(&f->c[sink], &init, &l->to) == 0);
	vqp_connect(&l->from, &l->to, &conn);
}

static void create(struct fabric *f, unsigned n_devices)
{
	struct link link = link_default();

	*f = (struct fabric){.n_devices = n_devices};
	f->w = world_create(seeds_one(0), n_devices, NULL);
	link.split = 0;
	link.immediate = 1000000;
	world_set_links(f->w, &link);
	for (unsigned i = 0; i < n_devices; i++) {
		struct vclient *c = &f->c[i];

		vclient_open(c, &f->w->device[i].host, i, f->w->seed + i);
		world_assert(f->w, vclient_reg_mr(c, memory_alloc(&c->mem, 2 * LENGTH, 64),
						  2 * LENGTH, PAIR_ACCESS, &f->mr[i]) == 0);
		world_assert(f->w, vcq_create(c, 2 * LINES_MAX * PER_LINE, 1, &f->cq[i]) == 0);
	}
	for (unsigned i = 0; i < n_devices * n_devices; i++)
		for (unsigned k = 0; k < LINES; k++)
			create_line(f, i / n_devices, i % n_devices);
}

/* Everything is read from the first half of a buffer and goes to the second half. */
static void post(struct fabric *f, struct line *l, uint8_t opcode)
{
	const struct vmr *here = &f->mr[l->source], *there = &f->mr[l->sink];
	const bool read = opcode == UHCA_ABI_WR_RDMA_READ;
	struct uhca_abi_sge sge = {here->addr + (read ? LENGTH : 0), LENGTH, here->lkey};
	struct uhca_abi_sge sink = {there->addr + LENGTH, LENGTH, there->lkey};
	struct vsend wr = {.opcode = opcode,
			   .flags = UHCA_ABI_SEND_SIGNALED,
			   .sge = &sge,
			   .num_sge = 1,
			   .remote_addr = there->addr + (read ? 0 : LENGTH),
			   .rkey = there->rkey};

	if (opcode == UHCA_ABI_WR_SEND)
		world_assert(f->w, vqp_post_recv(&l->to,
						 &(struct vrecv){.sge = &sink, .num_sge = 1}) == 0);
	world_assert(f->w, vqp_post_send(&l->from, &wr) == 0);
}

static void poll_all(struct fabric *f)
{
	struct uhca_abi_cqe wc;

	for (unsigned i = 0; i < f->n_devices; i++)
		while (vcq_poll(&f->cq[i], &wc)) {
			world_assert(f->w, wc.status == UHCA_ABI_WC_SUCCESS);
			f->done++;
		}
}

static bool all_done(void *arg)
{
	struct fabric *f = arg;

	poll_all(f);
	return f->done == f->n_lines * (PER_LINE + ROUNDS);
}

static void check_counters(struct fabric *f)
{
	for (unsigned i = 0; i < f->n_devices; i++) {
		const struct core_counters *c = core_counters(f->w->device[i].host.dev);
		const struct fault_net_counters *n = fault_net_counters(world_net(f->w, i));

		world_assert(f->w, c->naks_sent == 0 && c->naks_received == 0);
		world_assert(f->w, c->retransmits == 0 && c->timeouts == 0);
		world_assert(f->w, c->duplicates == 0);
		world_assert(f->w, n->full == 0 && n->dropped == 0);
	}
}

static void destroy(struct fabric *f)
{
	world_rules_check(f->w);
	for (unsigned i = 0; i < f->n_devices; i++) {
		world_assert(f->w, f->c[i].mem.strays == 0);
		vclient_close(&f->c[i]);
	}
	world_destroy(f->w);
	free(f);
}

/* Rounds begin at odd moments, while packets of the rounds before are late. */
static void run(unsigned n_devices, const char *const *rules)
{
	static const uint8_t opcodes[] = {UHCA_ABI_WR_RDMA_WRITE, UHCA_ABI_WR_SEND,
					  UHCA_ABI_WR_RDMA_READ};
	struct fabric *f = malloc(sizeof *f);

	assert_non_null(f);
	create(f, n_devices);
	for (; *rules; rules++)
		world_rule(f->w, *rules);
	for (unsigned r = 0; r < ROUNDS; r++) {
		for (unsigned k = 0; k < sizeof opcodes; k++)
			for (unsigned i = 0; i < f->n_lines; i++)
				post(f, &f->line[i], opcodes[(i + k) % sizeof opcodes]);
		world_run(f->w, f->w->now + prng_below(&f->w->rng, 3000000));
	}
	world_assert(f->w, world_run_until(f->w, all_done, f, 60 * PAIR_SECONDS));
	world_run_idle(f->w, 60 * PAIR_SECONDS);
	check_counters(f);
	destroy(f);
}

#define RULES_(...) ((const char *const[]){__VA_ARGS__, NULL})

static void with_each_number_of_devices(const char *const *rules)
{
	for (unsigned n = 1; n <= DEVICES_MAX; n++)
		run(n, rules);
}

static void test_delay(void **state)
{
	(void)state;
	with_each_number_of_devices(RULES_("delay=8ms"));
	with_each_number_of_devices(RULES_("delay=1us"));
	with_each_number_of_devices(RULES_("delay=2ms dir=both"));
	with_each_number_of_devices(RULES_("delay=3ms dir=rx"));
	with_each_number_of_devices(RULES_("delay=2ms dir=tx", "delay=2ms dir=rx"));
	with_each_number_of_devices(RULES_("delay=1ms", "delay=1ms dev=uhca0 dir=both"));
}

static void test_jitter(void **state)
{
	(void)state;
	with_each_number_of_devices(RULES_("delay=300us jitter=500us"));
	with_each_number_of_devices(RULES_("delay=1us jitter=40us dir=both"));
}

static void test_rate(void **state)
{
	(void)state;
	with_each_number_of_devices(RULES_("rate=1gbit"));
	with_each_number_of_devices(RULES_("rate=10gbit dir=both"));
	with_each_number_of_devices(RULES_("delay=1ms", "rate=1gbit dir=both"));
	with_each_number_of_devices(RULES_("rate=40gbit dir=rx", "delay=5us dir=tx"));
}

static void test_pause(void **state)
{
	(void)state;
	with_each_number_of_devices(RULES_("pause=5ms skip=30"));
	with_each_number_of_devices(RULES_("pause=5ms skip=7 dir=both", "delay=1ms dir=both"));
	with_each_number_of_devices(RULES_("pause=5ms opcode=write nth=5,30"));
	with_each_number_of_devices(RULES_("pause=300us every=40 times=4"));
	with_each_number_of_devices(RULES_("pause=300us opcode=read every=7 dir=rx"));
	with_each_number_of_devices(RULES_("pause=2ms every=5ms"));
	with_each_number_of_devices(RULES_("pause=300us every=1ms dir=both", "delay=50us"));
	with_each_number_of_devices(RULES_("pause=1ms p=2%", "rate=10gbit"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_delay),
		cmocka_unit_test(test_jitter),
		cmocka_unit_test(test_rate),
		cmocka_unit_test(test_pause),
	};

	return cmocka_run_group_tests_name("fault_order", tests, NULL, NULL);
}
