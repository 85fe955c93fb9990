/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * On-demand regions: memory that comes and goes under traffic. What is there when it is accessed
 * is used, whenever it came. What is not there is an error of the one whose memory it is: a
 * remote operational error to the requester (the key was right: IBTA 9.9.3), a local protection
 * error for a work request of one's own.
 */
#include "tests/sim/world/pair.h"
#include "wire/syndrome.h"

#define SIZE   300000u
#define ODP    (PAIR_ACCESS | IBV_ACCESS_ON_DEMAND)
#define ATOMIC UHCA_ABI_WR_ATOMIC_FETCH_AND_ADD

struct room {
	struct pair p;
	struct vmr mr; /* b's, on demand */
};

/* Registered explicitly while the memory is away, or implicitly. */
static void start(struct room *r, bool implicit)
{
	uint64_t va;

	pair_create(&r->p, &(struct pair_options){0});
	va = memory_map(&r->p.b.c.mem, SIZE);
	memory_unmap(&r->p.b.c.mem, va);
	world_assert(r->p.w, vclient_reg_mr(&r->p.b.c, implicit ? 0 : va,
					    implicit ? UINT64_MAX : SIZE, ODP, &r->mr) == 0);
	r->mr.addr = va;
}

static void post(struct room *r, uint64_t id, uint8_t opcode, uint32_t offset, uint32_t length)
{
	struct uhca_abi_sge sge = {r->p.a.mr.addr, length, r->p.a.mr.lkey};
	struct vsend wr = {.wr_id = id,
			   .opcode = opcode,
			   .flags = UHCA_ABI_SEND_SIGNALED,
			   .sge = &sge,
			   .num_sge = 1,
			   .remote_addr = r->mr.addr + offset,
			   .rkey = r->mr.rkey};

	world_assert(r->p.w, vqp_post_send(&r->p.a.qp, &wr) == 0);
}

/* The bytes of a's buffer are expected in b's memory. */
static void expect_written(struct room *r, uint32_t offset, uint32_t length)
{
	memory_expect(&r->p.b.c.mem, r->mr.addr + offset,
		      memory_at(&r->p.a.c.mem, r->p.a.mr.addr, length), length);
}

static void come(struct room *r)
{
	memory_map_at(&r->p.b.c.mem, r->mr.addr, SIZE);
}

static void go(struct room *r)
{
	memory_unmap(&r->p.b.c.mem, r->mr.addr);
}

static void use(bool implicit)
{
	struct room r;

	start(&r, implicit);
	for (unsigned i = 0; i < 3; i++) {
		come(&r);
		expect_written(&r, 1000 * i, SIZE / 2);
		post(&r, i, UHCA_ABI_WR_RDMA_WRITE, 1000 * i, SIZE / 2);
		side_expect(&r.p.a, i, i, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
		world_assert(r.p.w,
			     !memcmp(memory_at(&r.p.b.c.mem, r.mr.addr + 1000 * i, SIZE / 2),
				     memory_at(&r.p.a.c.mem, r.p.a.mr.addr, SIZE / 2), SIZE / 2));
		go(&r);
	}
	pair_finish(&r.p);
}

static void test_comes_and_goes(void **state)
{
	(void)state;
	use(false);
	use(true);
}

static unsigned naks(const struct pair *p, uint8_t code)
{
	const struct logged *l;
	unsigned n = 0;

	for (unsigned i = 0; (l = rules_nth(&p->rules, 1, ROCE_OP_ACK, i)); i++)
		n += roce_syndrome_kind(l->pkt.aeth.syndrome) == ROCE_NAK &&
		     roce_syndrome_value(l->pkt.aeth.syndrome) == code;
	return n;
}

static void test_remote_fault(void **state)
{
	static const struct {
		uint8_t opcode;
		uint32_t length;
	} cases[] = {
		{UHCA_ABI_WR_RDMA_WRITE, 10},
		{UHCA_ABI_WR_RDMA_WRITE, SIZE},
		{UHCA_ABI_WR_RDMA_READ, 10},
		{UHCA_ABI_WR_RDMA_READ, 60000},
		{ATOMIC, 8},
		{UHCA_ABI_WR_ATOMIC_WRITE, 8},
	};

	(void)state;
	for (unsigned i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
		struct room r;
		start(&r, i & 1);
		post(&r, 1, cases[i / 2].opcode, 0, cases[i / 2].length);
		side_expect(&r.p.a, 0, 1, UHCA_ABI_WC_REM_OP_ERR, 0);
		world_assert(r.p.w, naks(&r.p, ROCE_NAK_REMOTE_OPERATIONAL) == 1);
		world_assert(r.p.w, vqp_state(&r.p.b.qp) == IBV_QPS_ERR);
		pair_finish(&r.p);
	}
}

/* It goes in the middle of a long message: the rest is refused, and nothing strays. */
static void test_goes_under_way(void **state)
{
	struct room r;

	(void)state;
	start(&r, false);
	come(&r);
	memory_ignore(&r.p.b.c.mem, r.mr.addr, SIZE, true);
	post(&r, 1, UHCA_ABI_WR_RDMA_WRITE, 0, SIZE);
	while (!memory_at(&r.p.b.c.mem, r.mr.addr, 1) ||
	       memcmp(memory_at(&r.p.b.c.mem, r.mr.addr, 4096),
		      memory_at(&r.p.a.c.mem, r.p.a.mr.addr, 4096), 4096))
		world_run(r.p.w, r.p.w->now + 100);
	side_poll(&r.p.a);
	world_assert(r.p.w, r.p.a.n_wc == 0);
	go(&r);
	side_expect(&r.p.a, 0, 1, UHCA_ABI_WC_REM_OP_ERR, 0);
	pair_finish(&r.p);
}

static void test_local_fault(void **state)
{
	struct room r;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		start(&r, i);
		struct uhca_abi_sge sge = {r.mr.addr, 5000, r.mr.lkey};
		struct vsend wr = {.wr_id = 1,
				   .opcode = UHCA_ABI_WR_SEND,
				   .flags = UHCA_ABI_SEND_SIGNALED,
				   .sge = &sge,
				   .num_sge = 1};
		world_assert(r.p.w, vqp_post_send(&r.p.b.qp, &wr) == 0);
		side_expect(&r.p.b, 0, 1, UHCA_ABI_WC_LOC_PROT_ERR, 0);
		pair_finish(&r.p);
	}
}

/*
 * A receive in memory that is missing; and a short one in memory that is there is stored by the
 * device, not from the completion entry by a program that would fault where it polls.
 */
static void test_receive(void **state)
{
	struct room r;

	(void)state;
	for (unsigned there = 0; there < 2; there++) {
		start(&r, false);
		struct uhca_abi_sge sge = {r.mr.addr, 100, r.mr.lkey};
		struct vrecv wr = {5, &sge, 1};
		if (there) {
			come(&r);
			expect_written(&r, 0, 100);
		}
		world_assert(r.p.w, vqp_post_recv(&r.p.b.qp, &wr) == 0);
		post(&r, 1, UHCA_ABI_WR_SEND, 0, 100);
		side_expect(&r.p.a, 0, 1, there ? UHCA_ABI_WC_SUCCESS : UHCA_ABI_WC_REM_OP_ERR,
			    UHCA_ABI_WC_SEND);
		side_expect(&r.p.b, 0, 5, there ? UHCA_ABI_WC_SUCCESS : UHCA_ABI_WC_LOC_PROT_ERR,
			    there ? UHCA_ABI_WC_RECV : 0);
		pair_finish(&r.p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_comes_and_goes), cmocka_unit_test(test_remote_fault),
		cmocka_unit_test(test_goes_under_way), cmocka_unit_test(test_local_fault),
		cmocka_unit_test(test_receive),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
