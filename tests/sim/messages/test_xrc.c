/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Extended reliable connections on bad networks: one sender with several QPs, two receiving
 * processes that share a domain, each with SRQs of its own, any QP to any SRQ. A model of its own,
 * because a message of XRC has a destination of its own: every message arrives once, at the SRQ it
 * names, in its QP's order; every byte is held against what it must be.
 */
#include "tests/sim/world/seeds.h"
#include "tests/sim/world/world_faults.h"
#include "tests/support/wire/cmocka_all.h"

#include <stdlib.h>
#include <string.h>

#define QPS    3u
#define SRQS   4u /* the first two are receiver 0's */
#define OPS    120u
#define RECVS  8u
#define SLOT   4096u
#define SLOTS  16u
#define REGION 8192u
#define SECOND 1000000000ull
#define ACCESS                                                                                     \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |               \
	 IBV_ACCESS_REMOTE_ATOMIC)

/* Memory of a receiver: receives of two SRQs, what READs read, then per QP a region and a cell. */
#define RECV_AT(srq, n) ((((srq)&1u) * RECVS + (n)) * SLOT)
#define READ_AT         (2u * RECVS * SLOT)
#define WRITE_AT(q)     (READ_AT + SLOT + (q)*REGION)
#define CELL_AT(q)      (WRITE_AT(QPS) + 8u * (q))
#define MEMORY          (CELL_AT(QPS))

enum kind { SEND, SEND_IMM, WRITE, WRITE_IMM, READ, FETCH_ADD, KINDS };

struct op {
	enum kind kind;
	unsigned srq;
	uint32_t length;
	uint8_t data[SLOT];
};

struct receiver {
	struct vclient c;
	struct vcq cq;
	struct vmr mr;
	uint32_t xrcd;
	struct vsrq srq[2];
	bool gone;
};

struct lane {
	struct vqp send, recv;
	struct op op[OPS];
	unsigned posted, completed;
	unsigned delivered[2]; /* by receiver: the first operation that may arrive there next */
	uint64_t added[2];
};

struct scene {
	struct world *w;
	struct vclient c;
	struct vcq cq;
	struct vmr mr;
	struct receiver r[2];
	struct lane lane[QPS];
	struct prng rng;
};

static const uint64_t file[2] = {1, 2};

#define must(s, rc) world_assert((s)->w, (rc) == 0)

static void post_recv(struct scene *s, unsigned srq, unsigned n)
{
	struct receiver *r = &s->r[srq / 2];
	struct uhca_abi_sge sge = {r->mr.addr + RECV_AT(srq, n), SLOT, r->mr.lkey};
	struct vrecv wr = {.wr_id = srq << 16 | n, .sge = &sge, .num_sge = 1};

	must(s, vsrq_post_recv(&r->srq[srq & 1], &wr));
}

static void open_client(struct scene *s, struct vclient *c, unsigned device, uint64_t size,
			struct vmr *mr, struct vcq *cq)
{
	vclient_open(c, &s->w->device[device].host, device, s->w->seed + (uintptr_t)(c == &s->c));
	must(s, vclient_reg_mr(c, memory_alloc(&c->mem, size, 64), size, ACCESS, mr));
	must(s, vcq_create(c, 1024, 1, cq));
}

static void open_receiver(struct scene *s, unsigned i)
{
	struct receiver *r = &s->r[i];
	uint8_t data[SLOT];

	open_client(s, &r->c, 1, MEMORY, &r->mr, &r->cq);
	must(s, vxrcd_open(&r->c, file, &r->xrcd));
	prng_fill(&s->rng, data, sizeof data);
	memory_store(&r->c.mem, r->mr.addr + READ_AT, data, sizeof data);
	memset(data, 0, sizeof data);
	memory_store(&r->c.mem, r->mr.addr + CELL_AT(0), data, MEMORY - CELL_AT(0));
	for (unsigned k = 0; k < 2; k++)
		must(s, vsrq_create_xrc(&r->c, r->xrcd, &r->cq, RECVS, &r->srq[k]));
	for (unsigned k = 0; k < 2; k++)
		for (unsigned n = 0; n < RECVS; n++)
			post_recv(s, 2 * i + k, n);
}

static void open_lane(struct scene *s, unsigned q)
{
	struct vqp_init send = {.type = IBV_QPT_XRC_SEND, .send_cq = &s->cq, .max_send_wr = SLOTS};
	struct vqp_init recv = {.type = IBV_QPT_XRC_RECV};
	struct receiver *owner = &s->r[q & 1];
	struct vqp_conn conn = vqp_conn_default();

	conn.sq_psn = 0xfffff0 + q; /* wraps on the way */
	recv.xrcd = owner->xrcd;
	must(s, vqp_create(&s->c, &send, &s->lane[q].send));
	must(s, vqp_create(&owner->c, &recv, &s->lane[q].recv));
	vqp_connect(&s->lane[q].send, &s->lane[q].recv, &conn);
}

static struct scene *scene_create(uint64_t seed)
{
	struct scene *s = calloc(1, sizeof *s);

	assert_non_null(s);
	s->w = world_create(seed, 2, NULL);
	s->rng.state = seed * 77 + 5;
	open_client(s, &s->c, 0, QPS * SLOTS * SLOT, &s->mr, &s->cq);
	open_receiver(s, 0);
	open_receiver(s, 1);
	for (unsigned q = 0; q < QPS; q++)
		open_lane(s, q);
	return s;
}

static void close_client(struct scene *s, struct vclient *c)
{
	char why[200];

	if (!memory_verify(&c->mem, why, sizeof why))
		world_fail(s->w, "memory: %s", why);
	vclient_close(c);
}

static void scene_finish(struct scene *s)
{
	world_run_idle(s->w, SECOND);
	close_client(s, &s->c);
	for (unsigned i = 0; i < 2; i++)
		if (!s->r[i].gone)
			close_client(s, &s->r[i].c);
	for (unsigned i = 0; i < 2; i++)
		for (unsigned t = 0; t < CORE_OBJECT_TYPES; t++)
			world_assert(s->w, core_object_count(s->w->device[i].host.dev, t) == 0);
	world_destroy(s->w);
	free(s);
}

/* ---- what is sent ---- */

static const uint8_t opcode[KINDS] = {
	[SEND] = UHCA_ABI_WR_SEND,        [SEND_IMM] = UHCA_ABI_WR_SEND_WITH_IMM,
	[WRITE] = UHCA_ABI_WR_RDMA_WRITE, [WRITE_IMM] = UHCA_ABI_WR_RDMA_WRITE_WITH_IMM,
	[READ] = UHCA_ABI_WR_RDMA_READ,   [FETCH_ADD] = UHCA_ABI_WR_ATOMIC_FETCH_AND_ADD,
};

static bool takes_receive(const struct op *op)
{
	return op->kind == SEND || op->kind == SEND_IMM || op->kind == WRITE_IMM;
}

/* Where in the receiver's memory it works, and what it leaves there and here. */
static uint32_t predict(struct scene *s, unsigned q, struct op *op, uint64_t local)
{
	struct lane *l = &s->lane[q];
	struct receiver *r = &s->r[op->srq / 2];
	uint32_t at = WRITE_AT(q) + prng_below(&s->rng, REGION - op->length + 1);

	switch (op->kind) {
	case SEND:
	case SEND_IMM:
	case KINDS:
		return 0;
	case WRITE:
	case WRITE_IMM:
		memory_expect(&r->c.mem, r->mr.addr + at, op->data, op->length);
		return at;
	case READ:
		memory_expect(&s->c.mem, local, memory_at(&r->c.mem, r->mr.addr + READ_AT, SLOT),
			      op->length);
		return READ_AT;
	case FETCH_ADD:
		memory_expect(&s->c.mem, local, &l->added[op->srq / 2], 8);
		l->added[op->srq / 2]++;
		memory_expect(&r->c.mem, r->mr.addr + CELL_AT(q), &l->added[op->srq / 2], 8);
		return CELL_AT(q);
	}
	return 0;
}

static void post_op(struct scene *s, unsigned q)
{
	struct lane *l = &s->lane[q];
	struct op *op = &l->op[l->posted];
	uint64_t local = s->mr.addr + (q * SLOTS + l->posted % SLOTS) * SLOT;
	struct uhca_abi_sge sge = {local, 0, s->mr.lkey};
	struct vsend wr = {.wr_id = l->posted, .flags = UHCA_ABI_SEND_SIGNALED, .num_sge = 1};
	struct receiver *r;

	op->kind = (enum kind)prng_below(&s->rng, KINDS);
	op->srq = prng_below(&s->rng, SRQS);
	op->length = op->kind == FETCH_ADD ? 8 : prng_range(&s->rng, 1, SLOT);
	r = &s->r[op->srq / 2];
	prng_fill(&s->rng, op->data, op->length);
	memory_store(&s->c.mem, local, op->data, op->length);
	sge.length = op->length;
	wr.sge = &sge;
	wr.opcode = opcode[op->kind];
	wr.imm = l->posted;
	wr.xrc_srqn = r->srq[op->srq & 1].srq_num;
	wr.remote_addr = r->mr.addr + predict(s, q, op, local);
	wr.rkey = r->mr.rkey;
	wr.compare_add = 1;
	must(s, vqp_post_send(&l->send, &wr));
	l->posted++;
}

/* ---- what comes ---- */

static struct lane *lane_of(struct scene *s, uint32_t qpn, bool recv)
{
	for (unsigned q = 0; q < QPS; q++)
		if ((recv ? s->lane[q].recv.qpn : s->lane[q].send.qpn) == qpn)
			return &s->lane[q];
	world_fail(s->w, "a completion of QP 0x%x, which is none", qpn);
}

/* The next message of the lane that this receiver must see. */
static struct op *next_message(struct scene *s, struct lane *l, unsigned receiver)
{
	unsigned *i = &l->delivered[receiver];

	while (*i < l->posted && (l->op[*i].srq / 2 != receiver || !takes_receive(&l->op[*i])))
		++*i;
	world_assert(s->w, *i < l->posted);
	return &l->op[(*i)++];
}

static void received(struct scene *s, unsigned receiver, const struct uhca_abi_cqe *e)
{
	struct lane *l = lane_of(s, e->qpn, true);
	const struct op *op = next_message(s, l, receiver);
	unsigned srq = (unsigned)(e->wr_id >> 16), n = (unsigned)(e->wr_id & 0xffff);
	struct receiver *r = &s->r[receiver];

	world_assert(s->w, e->status == UHCA_ABI_WC_SUCCESS);
	world_assert(s->w, srq == op->srq);
	world_assert(s->w, e->byte_len == op->length);
	world_assert(s->w, e->src_qp == l->send.qpn);
	if (op->kind != SEND)
		world_assert(s->w, e->imm == (uint32_t)(op - l->op));
	if (op->kind != WRITE_IMM)
		memory_expect(&r->c.mem, r->mr.addr + RECV_AT(srq, n), op->data, op->length);
	post_recv(s, srq, n);
}

static void poll_all(struct scene *s)
{
	struct uhca_abi_cqe e;

	while (vcq_poll(&s->cq, &e)) {
		struct lane *l = lane_of(s, e.qpn, false);
		world_assert(s->w, e.status == UHCA_ABI_WC_SUCCESS);
		world_assert(s->w, e.wr_id == l->completed);
		l->completed++;
	}
	for (unsigned i = 0; i < 2; i++)
		while (!s->r[i].gone && vcq_poll(&s->r[i].cq, &e))
			received(s, i, &e);
}

static bool all_done(const struct scene *s)
{
	for (unsigned q = 0; q < QPS; q++)
		if (s->lane[q].completed < OPS)
			return false;
	return true;
}

static void run_traffic(struct scene *s)
{
	while (!all_done(s)) {
		for (unsigned q = 0; q < QPS; q++)
			while (s->lane[q].posted < OPS &&
			       s->lane[q].posted - s->lane[q].completed < SLOTS / 2)
				post_op(s, q);
		world_run(s->w, s->w->now + 100000);
		poll_all(s);
		world_assert(s->w, s->w->now < 100 * SECOND);
	}
	poll_all(s);
	for (unsigned q = 0; q < QPS; q++)
		for (unsigned i = 0; i < OPS; i++)
			if (takes_receive(&s->lane[q].op[i]))
				world_assert(s->w,
					     i < s->lane[q].delivered[s->lane[q].op[i].srq / 2]);
}

static void traffic(uint64_t seed)
{
	struct link link = link_default();
	struct scene *s = scene_create(seed);

	link.loss = seed % 3 * 30000;
	link.duplicate = link.reorder = seed % 2 * 50000;
	link.reorder_delay = 5000;
	link.max_losses = 2;
	world_set_links(s->w, &link);
	run_traffic(s);
	world_assert(s->w, !link.loss || s->w->lost > 0);
	scene_finish(s);
}

static void test_traffic(void **state)
{
	(void)state;
	seeds_each("xrc", 12, traffic);
}

/* Fault rules know XRC: what they take away or answer in the name of a receiving QP is got over. */
static void test_fault_rules(void **state)
{
	static const char *const rules[] = {
		"rnr=1 opcode=xrc.send p=0.1",
		"rnr=1 opcode=xrc.request p=0.05",
		"nak=sequence opcode=xrc.write p=0.05",
		"drop opcode=xrc.ack p=0.1",
		"drop opcode=xrc p=0.02",
		"dup time=20us opcode=xrc.atomic",
		"corrupt=bit opcode=xrc p=0.02",
		"set=credits:0 opcode=xrc.ack",
		"cnp opcode=xrc.request p=0.1",
		"set=bth.version:1 opcode=xrc p=0.01",
	};

	(void)state;
	for (unsigned i = 0; i < sizeof rules / sizeof *rules; i++) {
		struct scene *s = scene_create(seeds_one(i + 1));

		world_rule(s->w, rules[i]);
		run_traffic(s);
		world_rules_check(s->w);
		scene_finish(s);
	}
}

/* ---- refusals ---- */

/* One SEND of lane 0 to this SRQ number; its completion's status. */
static uint8_t send_to(struct scene *s, uint32_t srqn, uint32_t length)
{
	struct uhca_abi_sge sge = {s->mr.addr, length, s->mr.lkey};
	struct vsend wr = {.opcode = UHCA_ABI_WR_SEND,
			   .flags = UHCA_ABI_SEND_SIGNALED,
			   .sge = &sge,
			   .num_sge = 1,
			   .xrc_srqn = srqn};
	struct uhca_abi_cqe e;

	must(s, vqp_post_send(&s->lane[0].send, &wr));
	world_run(s->w, s->w->now + SECOND);
	world_assert(s->w, vcq_poll(&s->cq, &e));
	return e.status;
}

static void test_fault_refusal(void **state)
{
	struct scene *s = scene_create(seeds_one(5));

	(void)state;
	world_rule(s->w, "nak=operational opcode=xrc.send");
	world_assert(s->w, send_to(s, s->r[0].srq[0].srq_num, 3000) == UHCA_ABI_WC_REM_OP_ERR);
	world_assert(s->w, vqp_state(&s->lane[0].recv) == IBV_QPS_RTS); /* it knows of nothing */
	world_rules_check(s->w);
	scene_finish(s);
}

static void expect_invalid(struct scene *s, uint32_t srqn)
{
	world_assert(s->w, send_to(s, srqn, 3000) == UHCA_ABI_WC_REM_INV_REQ_ERR);
	world_assert(s->w, vqp_state(&s->lane[0].recv) == IBV_QPS_ERR);
	world_assert(s->w, vevents_count(&s->r[0].c.async, UHCA_ABI_EVENT_QP_REQ_ERR,
					 &s->lane[0].recv) == 1);
}

static void test_no_such_srq(void **state)
{
	struct scene *s = scene_create(seeds_one(1));

	(void)state;
	expect_invalid(s, s->r[0].srq[0].srq_num ^ 0x800000);
	scene_finish(s);
}

static void test_srq_of_another_domain(void **state)
{
	struct scene *s = scene_create(seeds_one(2));
	struct vsrq foreign;
	uint32_t xrcd;

	(void)state;
	must(s, vxrcd_open(&s->r[0].c, NULL, &xrcd));
	must(s, vsrq_create_xrc(&s->r[0].c, xrcd, &s->r[0].cq, 4, &foreign));
	expect_invalid(s, foreign.srq_num);
	scene_finish(s);
}

/* An SRQ whose ring makes no sense is the responder's failure, not the requester's. */
static void test_srq_in_error(void **state)
{
	struct scene *s = scene_create(seeds_one(3));
	struct vsrq *srq = &s->r[0].srq[0];

	(void)state;
	uhca_ring_publish(&srq->recv.ring->producer, 0x7fffffff);
	world_assert(s->w, send_to(s, srq->srq_num, 100) == UHCA_ABI_WC_REM_OP_ERR);
	world_assert(s->w, vevents_count(&s->r[0].c.async, UHCA_ABI_EVENT_SRQ_ERR, srq) == 1);
	scene_finish(s);
}

static enum world_verdict drop_all(void *arg, struct world_packet *p)
{
	unsigned *left = arg;

	(void)p;
	if (*left == 0)
		return WORLD_DROP;
	--*left;
	return WORLD_PASS;
}

/* The SRQ goes in the middle of a message for which it has given a receive. */
static void test_srq_goes_in_the_middle(void **state)
{
	struct scene *s = scene_create(seeds_one(4));
	struct vsrq *srq = &s->r[0].srq[0];
	unsigned pass = 1;
	struct uhca_abi_sge sge = {s->mr.addr, 3000, s->mr.lkey};
	struct vsend wr = {.opcode = UHCA_ABI_WR_SEND, .sge = &sge, .num_sge = 1};
	struct uhca_abi_cqe e;

	(void)state;
	wr.xrc_srqn = srq->srq_num;
	s->w->filter = drop_all;
	s->w->filter_arg = &pass;
	memory_ignore(&s->r[0].c.mem, s->r[0].mr.addr, RECV_AT(1, 0), true);
	must(s, vqp_post_send(&s->lane[0].send, &wr));
	world_run(s->w, s->w->now + 1000000);
	must(s, vsrq_destroy(srq));
	s->w->filter = NULL;
	world_run(s->w, s->w->now + SECOND);
	world_assert(s->w, vcq_poll(&s->cq, &e));
	world_assert(s->w, e.status == UHCA_ABI_WC_REM_INV_REQ_ERR);
	world_assert(s->w, !vcq_poll(&s->r[0].cq, &e));
	scene_finish(s);
}

/* Who made the receiving QP dies; another who opened it, and its SRQs, go on. */
static void test_creator_dies(void **state)
{
	struct scene *s = scene_create(seeds_one(5));
	struct vqp opened;
	struct uhca_abi_cqe e;
	uint8_t data[100] = {1, 2, 3};

	(void)state;
	must(s, vqp_open(&s->r[1].c, s->r[1].xrcd, s->lane[0].recv.qpn, &opened));
	vclient_close(&s->r[0].c);
	s->r[0].gone = true;
	memory_store(&s->c.mem, s->mr.addr, data, sizeof data);
	world_assert(s->w, send_to(s, s->r[1].srq[0].srq_num, sizeof data) == UHCA_ABI_WC_SUCCESS);
	world_assert(s->w, vcq_poll(&s->r[1].cq, &e));
	world_assert(s->w, e.qpn == opened.qpn && e.byte_len == sizeof data);
	memory_expect(&s->r[1].c.mem, s->r[1].mr.addr, data, sizeof data);
	world_assert(s->w, vevents_count(&s->r[1].c.async, UHCA_ABI_EVENT_COMM_EST, &opened) <= 1);
	scene_finish(s);
}

/* Rights are those of the SRQ's protection domain, whoever made the QP. */
static void test_protection_domain(void **state)
{
	struct scene *s = scene_create(seeds_one(6));
	struct uhca_abi_sge sge = {s->mr.addr, 64, s->mr.lkey};
	struct vsend wr = {.opcode = UHCA_ABI_WR_RDMA_WRITE,
			   .flags = UHCA_ABI_SEND_SIGNALED,
			   .sge = &sge,
			   .num_sge = 1};
	struct uhca_abi_cqe e;

	(void)state;
	wr.remote_addr = s->r[1].mr.addr;
	wr.rkey = s->r[1].mr.rkey;
	wr.xrc_srqn = s->r[0].srq[0].srq_num;
	must(s, vqp_post_send(&s->lane[0].send, &wr));
	world_run(s->w, s->w->now + SECOND);
	world_assert(s->w, vcq_poll(&s->cq, &e));
	world_assert(s->w, e.status == UHCA_ABI_WC_REM_ACCESS_ERR);
	scene_finish(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_traffic),
		cmocka_unit_test(test_fault_rules),
		cmocka_unit_test(test_fault_refusal),
		cmocka_unit_test(test_no_such_srq),
		cmocka_unit_test(test_srq_of_another_domain),
		cmocka_unit_test(test_srq_in_error),
		cmocka_unit_test(test_srq_goes_in_the_middle),
		cmocka_unit_test(test_creator_dies),
		cmocka_unit_test(test_protection_domain),
	};

	return cmocka_run_group_tests_name("xrc", tests, NULL, NULL);
}
