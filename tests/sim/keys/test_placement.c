/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory placement (IBTA annex A19): ATOMIC WRITE and FLUSH, their answers lost and their requests
 * doubled, in order with their neighbours, and what is refused.
 */
#include "tests/sim/world/pair.h"

/* Access flags; in later releases of libibverbs. */
enum { FLUSH_GLOBAL = 1 << 8, FLUSH_PERSISTENT = 1 << 9 };
enum { TO_GLOBAL = 1, TO_PERSISTENCE = 2, RANGE = 0, REGION = 1 };

#define WRITES 20u

static void atomic_write(struct side *s, uint64_t wr_id, uint32_t local, uint32_t remote,
			 enum vpost_mode mode)
{
	side_post(s, &(struct op){.opcode = UHCA_ABI_WR_ATOMIC_WRITE,
				  .wr_id = wr_id,
				  .flags = UHCA_ABI_SEND_SIGNALED,
				  .local = local,
				  .length = 8,
				  .remote = remote,
				  .mode = mode});
}

/* Many writes of growing numbers to one place: the last one stays. */
static void count_up(struct pair *p, enum vpost_mode mode)
{
	for (unsigned i = 0; i < WRITES; i++) {
		side_store(&p->a, 8 * i, 1000 + i);
		atomic_write(&p->a, i, 8 * i, 64, mode);
	}
	for (unsigned i = 0; i < WRITES; i++)
		side_expect(&p->a, i, i, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_ATOMIC_WRITE);
	side_expect_u64(&p->b, 64, 1000 + WRITES - 1);
	pair_idle(p);
}

static void test_atomic_write(void **state)
{
	static const enum vpost_mode modes[] = {VPOST_PLAIN, VPOST_INLINE, VPOST_GATHERED};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct pair p;

		pair_create(&p, &(struct pair_options){0});
		count_up(&p, modes[i]);
		pair_finish(&p);
	}
}

static void test_hurt(void **state)
{
	static const struct rule rules[] = {
		{.from = 0, .op = ROCE_OP_ATOMIC_WRITE, .verdict = WORLD_DUPLICATE},
		{.from = 0,
		 .op = ROCE_OP_ATOMIC_WRITE,
		 .skip = 2,
		 .count = 1,
		 .verdict = WORLD_DROP},
		{.from = 1, .op = ROCE_OP_READ_RESP, .skip = 3, .count = 2, .verdict = WORLD_DROP},
		{.from = 1, .op = ROCE_OP_READ_RESP, .verdict = WORLD_DUPLICATE},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		struct pair p;

		pair_create(&p, &(struct pair_options){0});
		rules_add(&p.rules, &rules[i]);
		count_up(&p, VPOST_INLINE);
		pair_finish(&p);
	}
}

/* A write that was answered is not done again when its duplicate comes after a later write. */
static void test_executed_once(void **state)
{
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	rules_add(&p.rules,
		  &(struct rule){
			  .from = 1, .op = ROCE_OP_READ_RESP, .count = 2, .verdict = WORLD_DROP});
	side_store(&p.a, 0, 1);
	side_store(&p.a, 8, 2);
	atomic_write(&p.a, 0, 0, 64, VPOST_INLINE);
	atomic_write(&p.a, 1, 8, 64, VPOST_INLINE);
	side_expect(&p.a, 0, 0, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_ATOMIC_WRITE);
	side_expect(&p.a, 1, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_ATOMIC_WRITE);
	side_expect_u64(&p.b, 64, 2);
	pair_finish(&p);
}

static void post_flush(struct pair *p, const struct vmr *mr, const struct vsend *how)
{
	struct vsend wr = *how;

	wr.opcode = UHCA_ABI_WR_FLUSH;
	wr.flags = UHCA_ABI_SEND_SIGNALED;
	wr.remote_addr += mr->addr;
	wr.rkey = mr->rkey;
	world_assert(p->w, vqp_post_send(&p->a.qp, &wr) == 0);
}

/* Side b has a region that may be flushed; its QP's flags are "access". */
static void flush_pair(struct pair *p, uint32_t access, struct vmr *mr)
{
	struct vqp_conn conn = vqp_conn_default();

	conn.access = access;
	pair_create(p, &(struct pair_options){.conn = &conn});
	world_assert(p->w, vclient_reg_mr_pd(&p->b.c, p->b.c.pd, &p->b.mr,
					     PAIR_ACCESS | FLUSH_GLOBAL, mr) == 0);
}

static void test_flush(void **state)
{
	struct vmr mr;
	struct pair p;

	(void)state;
	flush_pair(&p, PAIR_ACCESS | FLUSH_GLOBAL, &mr);
	rules_add(&p.rules, &(struct rule){.from = 1,
					   .op = ROCE_OP_READ_RESP,
					   .skip = 1,
					   .count = 1,
					   .verdict = WORLD_DROP});
	side_write(&p.a, 0, 0, 0, 50000);
	pair_expect_copy(&p.a, 0, &p.b, 0, 50000);
	post_flush(&p, &mr,
		   &(struct vsend){.wr_id = 1, .flush_length = 50000, .flush_type = TO_GLOBAL});
	post_flush(&p, &mr,
		   &(struct vsend){.wr_id = 2,
				   .remote_addr = PAIR_BUFFER,
				   .flush_length = 1u << 30,
				   .flush_type = TO_GLOBAL,
				   .flush_level = REGION});
	post_flush(&p, &mr, &(struct vsend){.wr_id = 3, .flush_type = TO_GLOBAL});
	side_write(&p.a, 4, 0, 60000, 100);
	pair_expect_copy(&p.a, 0, &p.b, 60000, 100);
	side_expect(&p.a, 0, 0, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
	for (unsigned i = 1; i <= 3; i++)
		side_expect(&p.a, i, i, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_FLUSH);
	side_expect(&p.a, 4, 4, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
	pair_finish(&p);
}

/* Memory that may be flushed to persistence is as lasting as the program has made it. */
static void test_flush_persistent(void **state)
{
	const uint32_t all = PAIR_ACCESS | FLUSH_GLOBAL | FLUSH_PERSISTENT;
	struct vmr lasting, mr;
	struct pair p;

	(void)state;
	flush_pair(&p, all, &mr);
	world_assert(p.w, vclient_reg_mr_pd(&p.b.c, p.b.c.pd, &p.b.mr, all, &lasting) == 0);
	side_write(&p.a, 0, 0, 0, 9000);
	pair_expect_copy(&p.a, 0, &p.b, 0, 9000);
	post_flush(&p, &lasting,
		   &(struct vsend){.wr_id = 1, .flush_length = 9000, .flush_type = TO_PERSISTENCE});
	post_flush(&p, &lasting,
		   &(struct vsend){.wr_id = 2,
				   .flush_type = TO_GLOBAL | TO_PERSISTENCE,
				   .flush_level = REGION});
	post_flush(&p, &mr, &(struct vsend){.wr_id = 3, .flush_type = TO_PERSISTENCE});
	side_expect(&p.a, 0, 0, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
	side_expect(&p.a, 1, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_FLUSH);
	side_expect(&p.a, 2, 2, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_FLUSH);
	side_expect(&p.a, 3, 3, UHCA_ABI_WC_REM_ACCESS_ERR, 0); /* a right of the other region */
	pair_finish(&p);
}

/* What a program was to copy when it polls (abi/copy_on_poll.h) is in its memory behind a FLUSH. */
static void test_flush_copied_on_poll(void **state)
{
	struct vmr mr;
	struct pair p;

	(void)state;
	flush_pair(&p, PAIR_ACCESS | FLUSH_GLOBAL, &mr);
	p.b.cq.page->ring.takes_copies_on_poll = 1;
	side_recv(&p.b, 1, 1000, 64);
	side_send(&p.a, 1, 0, 64);
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
	pair_expect_copy(&p.a, 0, &p.b, 1000, 64);
	assert_memory_not_equal(memory_at(&p.b.c.mem, mr.addr + 1000, 64),
				memory_at(&p.a.c.mem, p.a.mr.addr, 64), 64);
	post_flush(&p, &mr, &(struct vsend){.wr_id = 2, .flush_type = TO_GLOBAL});
	side_expect(&p.a, 1, 2, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_FLUSH);
	assert_memory_equal(memory_at(&p.b.c.mem, mr.addr + 1000, 64),
			    memory_at(&p.a.c.mem, p.a.mr.addr, 64), 64);
	side_expect(&p.b, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
	pair_finish(&p);
}

/* The oldest copy on poll of b, in the middle of the program's copy. */
static struct uhca_abi_copy_on_poll *begin_copy(struct pair *p)
{
	struct uhca_abi_copy_on_poll *o = p->b.cq.copies_on_poll;

	assert_true(uhca_copy_on_poll_exchange(o, UHCA_ABI_COPY_ON_POLL_PENDING,
					       UHCA_ABI_COPY_ON_POLL_CLIENT));
	return o;
}

/*
 * Its program was put aside there: what comes next is lost for no QP, not even an unreliable one.
 */
static void test_copying(void **state)
{
	static const enum ibv_qp_type types[] = {IBV_QPT_RC, IBV_QPT_UC};

	(void)state;
	for (unsigned t = 0; t < 2; t++) {
		struct uhca_abi_copy_on_poll *o;
		struct pair p;

		pair_create(&p, &(struct pair_options){.type = types[t]});
		p.b.cq.page->ring.takes_copies_on_poll = 1;
		side_recv(&p.b, 1, 0, 64);
		side_recv(&p.b, 2, 8192, 5000);
		side_send(&p.a, 1, 0, 64);
		side_expect(&p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
		side_quiet(&p.a, 100000);
		o = begin_copy(&p);
		side_send(&p.a, 2, 8192, 5000);
		side_expect(&p.a, 1, 2, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
		side_quiet(&p.a, 100000);
		pair_expect_copy(&p.a, 0, &p.b, 0, 64);
		pair_expect_copy(&p.a, 8192, &p.b, 8192, 5000);
		assert_memory_equal(memory_at(&p.b.c.mem, p.b.mr.addr + 8192, 5000),
				    memory_at(&p.a.c.mem, p.a.mr.addr + 8192, 5000), 5000);
		assert_memory_equal(memory_at(&p.b.c.mem, p.b.mr.addr, 64),
				    memory_at(&p.a.c.mem, p.a.mr.addr, 64), 64);
		uhca_copy_on_poll_set(o, UHCA_ABI_COPY_ON_POLL_DONE);
		for (unsigned i = 0; i < 2; i++)
			side_expect(&p.b, i, 1 + i, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
		pair_finish(&p);
	}
}

/* A WRITE to where it copies comes when it has: the end of its copy must not undo it. */
static void test_write_waits(void **state)
{
	struct uhca_abi_copy_on_poll *o;
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	p.b.cq.page->ring.takes_copies_on_poll = 1;
	side_recv(&p.b, 1, 0, 64);
	side_send(&p.a, 1, 0, 64);
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
	o = begin_copy(&p);
	side_write(&p.a, 2, 5000, 40, 8);
	side_quiet(&p.a, 1000000);
	assert_memory_not_equal(memory_at(&p.b.c.mem, p.b.mr.addr + 40, 8),
				memory_at(&p.a.c.mem, p.a.mr.addr + 5000, 8), 8);
	uhca_copy_on_poll_set(o, UHCA_ABI_COPY_ON_POLL_DONE);
	side_expect(&p.a, 1, 2, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
	pair_expect_copy(&p.a, 0, &p.b, 0, 64);
	pair_expect_copy(&p.a, 5000, &p.b, 40, 8);
	side_expect(&p.b, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
	pair_finish(&p);
}

struct refusal {
	struct vsend wr;
	uint32_t access; /* of b's QP */
	bool plain;      /* the region that may not be flushed */
	uint8_t status;
};

static void refuse_flush(const struct refusal *r)
{
	struct vmr mr;
	struct pair p;

	flush_pair(&p, r->access, &mr);
	post_flush(&p, r->plain ? &p.b.mr : &mr, &r->wr);
	side_expect(&p.a, 0, r->wr.wr_id, r->status, 0);
	pair_finish(&p);
}

static void test_flush_refused(void **state)
{
	const uint32_t all = PAIR_ACCESS | FLUSH_GLOBAL;
	const struct refusal cases[] = {
		{{.flush_length = 8, .flush_type = TO_GLOBAL},
		 PAIR_ACCESS,
		 false,
		 UHCA_ABI_WC_REM_INV_REQ_ERR},
		{{.flush_length = 8, .flush_type = TO_PERSISTENCE},
		 all,
		 false,
		 UHCA_ABI_WC_REM_INV_REQ_ERR},
		{{.flush_length = 8}, all, false, UHCA_ABI_WC_REM_INV_REQ_ERR},
		{{.flush_length = 8, .flush_type = TO_GLOBAL, .flush_level = 2},
		 all,
		 false,
		 UHCA_ABI_WC_REM_INV_REQ_ERR},
		{{.flush_length = 8, .flush_type = TO_GLOBAL},
		 all,
		 true,
		 UHCA_ABI_WC_REM_ACCESS_ERR},
		{{.remote_addr = PAIR_BUFFER - 7, .flush_length = 8, .flush_type = TO_GLOBAL},
		 all,
		 false,
		 UHCA_ABI_WC_REM_ACCESS_ERR},
		{{.flush_length = 0x80000001ull, .flush_type = TO_GLOBAL},
		 all,
		 false,
		 UHCA_ABI_WC_LOC_LEN_ERR},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		refuse_flush(&cases[i]);
}

/* b's QP is told what it may; a writes 8 bytes to "remote". */
static void refuse_write(uint32_t access, uint32_t remote, uint32_t length, uint8_t status)
{
	struct vqp_conn conn = vqp_conn_default();
	struct pair p;

	conn.access = access;
	pair_create(&p, &(struct pair_options){.conn = &conn});
	side_post(&p.a, &(struct op){.opcode = UHCA_ABI_WR_ATOMIC_WRITE,
				     .flags = UHCA_ABI_SEND_SIGNALED,
				     .length = length,
				     .remote = remote});
	side_expect(&p.a, 0, 0, status, 0);
	pair_finish(&p);
}

static void test_atomic_write_refused(void **state)
{
	(void)state;
	refuse_write(PAIR_ACCESS, 4, 8, UHCA_ABI_WC_REM_INV_REQ_ERR);
	refuse_write(IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_REMOTE_READ, 0, 8,
		     UHCA_ABI_WC_REM_INV_REQ_ERR);
	refuse_write(PAIR_ACCESS, PAIR_BUFFER, 8, UHCA_ABI_WC_REM_ACCESS_ERR);
	refuse_write(PAIR_ACCESS, 0, 7, UHCA_ABI_WC_LOC_LEN_ERR);
	refuse_write(PAIR_ACCESS, 0, 16, UHCA_ABI_WC_LOC_LEN_ERR);
	refuse_write(PAIR_ACCESS, 0, 0, UHCA_ABI_WC_LOC_LEN_ERR);
}

/* A device without the feature knows the opcode as little as one of before annex A19. */
static void test_feature_off(void **state)
{
	struct core_config cfg;
	struct pair p;

	(void)state;
	core_config_default(&cfg);
	cfg.features &= ~(uint32_t)(UHCA_ABI_HAS_ATOMIC_WRITE | UHCA_ABI_HAS_FLUSH);
	pair_create(&p, &(struct pair_options){.cfg = &cfg});
	atomic_write(&p.a, 1, 0, 0, VPOST_PLAIN);
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_LOC_QP_OP_ERR, 0);
	pair_finish(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_atomic_write),
		cmocka_unit_test(test_hurt),
		cmocka_unit_test(test_executed_once),
		cmocka_unit_test(test_flush),
		cmocka_unit_test(test_flush_persistent),
		cmocka_unit_test(test_copying),
		cmocka_unit_test(test_write_waits),
		cmocka_unit_test(test_flush_copied_on_poll),
		cmocka_unit_test(test_flush_refused),
		cmocka_unit_test(test_atomic_write_refused),
		cmocka_unit_test(test_feature_off),
	};

	return cmocka_run_group_tests_name("placement", tests, NULL, NULL);
}
