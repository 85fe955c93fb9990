/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Long bursts of services without a window pause behind a burst for which a receiver has room; what
 * comes more slowly by itself never does, nor do RC and XRC. In a pause nobody else waits, nor does
 * who cannot.
 */
#include "tests/sim/world/pair.h"

#include "emu/core/send/send.h"

#define LONG  65536u
#define PAUSE (2u * 2u * (LONG + 64u * 64u)) /* behind two of them, in packets of 1 KiB */

/* ---- when there is one ---- */

static void begin(struct pair *p, enum ibv_qp_type type)
{
	pair_create(p, &(struct pair_options){.type = type, .buffer = 1u << 20});
	p->w->lossy = true;
}

static struct device *sender(const struct pair *p)
{
	return p->w->device[0].host.dev;
}

/* A burst of length bytes in packets of 1 KiB left; is there a pause at that time? */
static bool left(const struct pair *p, enum roce_service service, uint32_t length, uint64_t now)
{
	struct core_burst t = {.length = length, .count = (length + 1023) / 1024};

	assert_true(roce_opcode_find(service, ROCE_OP_SEND, ROCE_POS_ONLY, false, false,
				     &t.head.bth.opcode));
	core_tick(sender(p), now);
	core_tx_left(sender(p), &t, now);
	return send_pace_rests(sender(p));
}

static void test_windows(void **state)
{
	const enum roce_service service[] = {ROCE_SVC_RC, ROCE_SVC_XRC};
	struct pair p;

	(void)state;
	begin(&p, IBV_QPT_RC);
	for (unsigned i = 0; i < 200; i++)
		assert_false(left(&p, service[i % 2], LONG, p.w->now));
	pair_finish(&p);
}

/* However often it looks: bytes of headers and payload, two nanoseconds each. */
static void test_bursts(void **state)
{
	struct pair p;
	uint64_t now;

	(void)state;
	begin(&p, IBV_QPT_UC);
	now = p.w->now;
	for (unsigned i = 0; i < 100; i++) {
		assert_false(left(&p, ROCE_SVC_UC, LONG, now));
		assert_true(left(&p, ROCE_SVC_UC, LONG, now + 10));
		core_tick(sender(&p), now + PAUSE - 1);
		assert_true(send_pace_rests(sender(&p)));
		core_tick(sender(&p), now + PAUSE);
		assert_false(send_pace_rests(sender(&p)));
		now += PAUSE;
	}
	pair_finish(&p);
}

static void test_little_room(void **state)
{
	struct core_config cfg = world_config();
	struct pair p;

	(void)state;
	cfg.window_bytes = 5 * 4096;
	pair_create(&p, &(struct pair_options){.type = IBV_QPT_UD, .cfg = &cfg});
	for (unsigned i = 0; i < 4; i++)
		assert_false(left(&p, ROCE_SVC_UD, 4096, p.w->now));
	assert_true(left(&p, ROCE_SVC_UD, 4096, p.w->now));
	pair_finish(&p);
}

/* Short messages, and long ones of who has other things to do, are slower than that. */
static void test_slow(void **state)
{
	const struct {
		uint32_t length;
		uint64_t every;
	} slow[] = {{8, 150}, {4096, 8800}, {LONG, 140000}};

	(void)state;
	for (unsigned k = 0; k < 3; k++) {
		struct pair p;

		begin(&p, IBV_QPT_UD);
		for (uint64_t i = 0; i < 10000; i++)
			assert_false(left(&p, ROCE_SVC_UD, slow[k].length,
					  p.w->now + i * slow[k].every));
		pair_finish(&p);
	}
}

/* ---- who waits ---- */

/* Five WRITEs of UC: two go, the others have to wait. */
static void write_five(struct pair *p)
{
	for (uint32_t i = 0; i < 5; i++)
		side_write(&p->a, i, i * LONG, i * LONG, LONG);
}

/* So many of them have left by now. */
static void expect_left(struct pair *p, unsigned n)
{
	world_pump(p->w);
	side_poll(&p->a);
	assert_int_equal(p->a.n_wc, n);
}

static void expect_all(struct pair *p)
{
	for (unsigned i = 0; i < 5; i++)
		side_expect(&p->a, i, i, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
	pair_expect_copy(&p->a, 0, &p->b, 0, 5 * LONG);
}

/* They go on by themselves, when the time has come, and in order. */
static void test_waits(void **state)
{
	struct pair p;
	uint64_t start;

	(void)state;
	begin(&p, IBV_QPT_UC);
	start = p.w->now;
	write_five(&p);
	expect_left(&p, 2);
	assert_int_equal(core_next_deadline(sender(&p)), start + PAUSE);
	world_run(p.w, start + PAUSE - 1);
	expect_left(&p, 2);
	world_run(p.w, start + PAUSE);
	expect_left(&p, 4);
	side_wait(&p.a, 5);
	assert_in_range(p.w->now, start + 2 * PAUSE, start + 2 * PAUSE + 1000);
	expect_all(&p);
	pair_finish(&p);
}

/* Inside a daemon there is room for all. */
static void test_inside(void **state)
{
	struct pair p;

	(void)state;
	begin(&p, IBV_QPT_UC);
	p.w->lossy = false;
	write_five(&p);
	expect_left(&p, 5);
	expect_all(&p);
	pair_finish(&p);
}

/* What stays in the shell does not wait for what has left: the device knows by the address. */
static bool stays;

static bool does_stay(void *user, const uint8_t dst[16])
{
	(void)user, (void)dst;
	return stays;
}

static void send_datagram(struct pair *p, uint32_t ah)
{
	struct uhca_abi_sge sge = {p->a.mr.addr, 64, p->a.mr.lkey};
	struct vsend wr = {.opcode = UHCA_ABI_WR_SEND,
			   .flags = UHCA_ABI_SEND_SIGNALED,
			   .sge = &sge,
			   .num_sge = 1,
			   .ah = ah,
			   .remote_qpn = p->b.qp.qpn,
			   .remote_qkey = p->conn.qkey};

	assert_int_equal(vqp_post_send(&p->a.qp, &wr), 0);
}

static void stay_behind_a_pause(enum ibv_qp_type type)
{
	bool ud = type == IBV_QPT_UD;
	uint32_t ah = 0, grh = ud ? 40 : 0;
	struct pair p;

	begin(&p, type);
	assert_int_equal(vclient_create_ah(&p.a.c, p.b.c.host, 0, &ah), 0);
	p.w->ops.stays = does_stay;
	p.w->lossy = false;
	stays = false;
	assert_false(left(&p, ROCE_SVC_UD, LONG, p.w->now));
	assert_true(left(&p, ROCE_SVC_UD, LONG, p.w->now));
	for (uint32_t i = 0; i < 2; i++) {
		side_recv(&p.b, 100 + i, i * 1024, 1024);
		if (ud)
			side_ignore(&p.b, i * 1024, 40);
		pair_expect_copy(&p.a, 0, &p.b, i * 1024 + grh, 64);
	}
	for (unsigned i = 0; i < 2; i++) {
		if (ud)
			send_datagram(&p, ah);
		else
			side_send(&p.a, i, 0, 64);
		expect_left(&p, i ? 2 : 0);
		stays = true; /* the next bell has all of it looked at anew */
	}
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(p.a.wc[i].status, UHCA_ABI_WC_SUCCESS);
	assert_int_equal(core_destroy_ah(p.a.c.core, ah), 0);
	pair_finish(&p);
}

static void test_stays(void **state)
{
	(void)state;
	stay_behind_a_pause(IBV_QPT_UC);
	stay_behind_a_pause(IBV_QPT_UD);
}

/* A reliable QP beside it. */
static void test_others_go_on(void **state)
{
	struct vqp_init init = {.type = IBV_QPT_RC};
	struct uhca_abi_sge sge;
	struct vsend wr = {.wr_id = 77, .opcode = UHCA_ABI_WR_RDMA_WRITE, .num_sge = 1};
	struct vqp a, b;
	struct pair p;
	uint64_t start;

	(void)state;
	begin(&p, IBV_QPT_UC);
	init.send_cq = init.recv_cq = &p.a.cq;
	assert_int_equal(vqp_create(&p.a.c, &init, &a), 0);
	init.send_cq = init.recv_cq = &p.b.cq;
	assert_int_equal(vqp_create(&p.b.c, &init, &b), 0);
	vqp_connect(&a, &b, &p.conn);
	start = p.w->now;
	write_five(&p);
	expect_left(&p, 2);
	sge = (struct uhca_abi_sge){p.a.mr.addr + 8 * LONG, LONG, p.a.mr.lkey};
	wr.flags = UHCA_ABI_SEND_SIGNALED;
	wr.sge = &sge;
	wr.remote_addr = p.b.mr.addr + 8 * LONG;
	wr.rkey = p.b.mr.rkey;
	assert_int_equal(vqp_post_send(&a, &wr), 0);
	side_wait(&p.a, 3);
	assert_int_equal(p.a.wc[2].wr_id, 77);
	assert_int_equal(p.a.wc[2].status, UHCA_ABI_WC_SUCCESS);
	assert_true(p.w->now < start + PAUSE);
	pair_expect_copy(&p.a, 8 * LONG, &p.b, 8 * LONG, LONG);
	side_wait(&p.a, 6);
	pair_expect_copy(&p.a, 0, &p.b, 0, 5 * LONG);
	pair_finish(&p);
}

/* Another program of the first device, with a QP that waits, too. */
struct other {
	struct vclient c;
	struct vcq cq;
	struct vqp qp, peer;
};

static void other_waits(struct pair *p, struct other *o)
{
	struct vqp_init init = {.type = IBV_QPT_UC};
	struct vsend wr = {.opcode = UHCA_ABI_WR_SEND};

	vclient_open(&o->c, &p->w->device[0].host, 7, p->w->seed + 7);
	assert_int_equal(vcq_create(&o->c, 16, 1, &o->cq), 0);
	init.send_cq = init.recv_cq = &o->cq;
	assert_int_equal(vqp_create(&o->c, &init, &o->qp), 0);
	init.send_cq = init.recv_cq = &p->b.cq;
	assert_int_equal(vqp_create(&p->b.c, &init, &o->peer), 0);
	vqp_connect(&o->qp, &o->peer, &p->conn);
	assert_int_equal(vqp_post_send(&o->qp, &wr), 0);
	world_pump(p->w);
}

/* Who is about to end a QP sends what it has at once (core_tx_next_of); others still wait. */
static void test_last_words(void **state)
{
	struct other other;
	struct core_burst t;
	struct pair p;
	unsigned n = 0;

	(void)state;
	begin(&p, IBV_QPT_UC);
	write_five(&p);
	expect_left(&p, 2);
	other_waits(&p, &other);
	while (core_tx_next_of(p.a.c.core, p.w->now, p.w->device[0].buf, p.w->device[0].cap, &t)) {
		world_send(p.w, 0, &t);
		core_tx_left(sender(&p), &t, p.w->now);
		n++;
	}
	assert_int_equal(n, 3);
	assert_true(send_pace_rests(sender(&p)));
	assert_false(list_empty(&device_find_qp(sender(&p), other.qp.qpn)->pace_link));
	vclient_close(&other.c);
	side_wait(&p.a, 5);
	expect_all(&p);
	pair_finish(&p);
}

/* A QP that waits may be reset, fail, or go. */
static void test_gone(void **state)
{
	const enum ibv_qp_state to[] = {IBV_QPS_RESET, IBV_QPS_ERR};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct pair p;

		begin(&p, IBV_QPT_UC);
		write_five(&p);
		expect_left(&p, 2);
		assert_int_equal(vqp_to_state(&p.a.qp, to[i]), 0);
		if (to[i] == IBV_QPS_RESET)
			assert_true(core_next_deadline(sender(&p)) == UINT64_MAX);
		side_quiet(&p.a, PAIR_SECONDS);
		assert_int_equal(p.a.n_wc, to[i] == IBV_QPS_RESET ? 2 : 5);
		for (unsigned k = 2; k < p.a.n_wc; k++)
			assert_int_equal(p.a.wc[k].status, UHCA_ABI_WC_WR_FLUSH_ERR);
		pair_expect_copy(&p.a, 0, &p.b, 0, 2 * LONG);
		pair_finish(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_windows),     cmocka_unit_test(test_bursts),
		cmocka_unit_test(test_little_room), cmocka_unit_test(test_slow),
		cmocka_unit_test(test_waits),       cmocka_unit_test(test_inside),
		cmocka_unit_test(test_stays),       cmocka_unit_test(test_others_go_on),
		cmocka_unit_test(test_last_words),  cmocka_unit_test(test_gone),
	};

	return cmocka_run_group_tests_name("send_pace", tests, NULL, NULL);
}
