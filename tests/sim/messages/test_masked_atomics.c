/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Masked atomics between two devices: all sizes, what is returned and what stays, requests doubled
 * and answers lost, neighbours and fence, and what is refused on either side.
 */
#include "tests/sim/world/pair.h"

#include "tests/sim/world/seeds.h"

#include <string.h>

#define ROUNDS 20u
#define MIXED  10u
#define LOCAL  100000u

/* A request in terms of the operands' bytes, in host order. */
struct masked {
	uint64_t wr_id;
	bool cas;
	uint32_t size;
	const void *operands;
	uint32_t bytes; /* of them; 0: as many as there are */
	uint32_t local, length, remote;
	uint16_t flags;
	enum vpost_mode mode;
	uint32_t rkey, lkey; /* 0: of the buffers */
};

static void post(struct side *s, const struct masked *m)
{
	struct uhca_abi_sge sge = {s->mr.addr + m->local, m->length ? m->length : m->size,
				   m->lkey ? m->lkey : s->mr.lkey};
	struct vsend wr = {
		.wr_id = m->wr_id,
		.opcode = m->cas ? UHCA_ABI_WR_MASKED_CMP_SWP : UHCA_ABI_WR_MASKED_FETCH_ADD,
		.flags = m->flags | UHCA_ABI_SEND_SIGNALED,
		.mode = m->mode,
		.sge = &sge,
		.num_sge = 1,
		.remote_addr = s->peer->mr.addr + m->remote,
		.rkey = m->rkey ? m->rkey : s->peer->mr.rkey,
		.masked = {m->operands, m->bytes ? m->bytes : m->size * (m->cas ? 4 : 2), m->size}};

	world_assert(s->pair->w, vqp_post_send(&s->qp, &wr) == 0);
}

/* a adds to a field of 8 bits and to one of 24 + 32, the bits 0..7 and 8..63 of an integer. */
static void add_to_fields(struct pair *p, unsigned i, uint64_t *value)
{
	const uint64_t operands[2] = {0x1ff, 0x80}; /* 0xff to the one, 1 to the other */

	post(&p->a, &(struct masked){.wr_id = i,
				     .size = 8,
				     .operands = operands,
				     .local = LOCAL + 8 * i,
				     .remote = 64});
	side_expect_u64(&p->a, LOCAL + 8 * i, *value);
	*value = ((*value + 0x100) & ~0xffull) | ((*value + 0xff) & 0xff);
}

/* n additions to a number that begins with 5. */
static void count(struct pair *p, unsigned n)
{
	uint64_t value = 5;

	side_store(&p->b, 64, value);
	for (unsigned i = 0; i < n; i++)
		add_to_fields(p, i, &value);
	for (unsigned i = 0; i < n; i++) {
		side_expect(&p->a, i, i, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_MASKED_FETCH_ADD);
		side_expect_len(&p->a, i, 8);
	}
	side_expect_u64(&p->b, 64, value);
	pair_idle(p);
}

static void test_fetch_and_add(void **state)
{
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	count(&p, 50);
	world_assert(p.w, rules_nth(&p.rules, 1, ROCE_OP_READ_RESP, 0)->pkt.bth.opcode.v ==
				  ROCE_RC_READ_RESPONSE_ONLY);
	pair_finish(&p);
}

/*
 * Compare the first and the last byte, swap the last, for each size. Bytes in memory, so the
 * order of the host does not matter: masks and values are built byte by byte too.
 */
static void swap_last_byte(struct pair *p, uint32_t size, bool match, unsigned i)
{
	uint8_t operands[4][32] = {{0}}, packed[128], old[32];
	uint64_t at = p->b.mr.addr + 4096;

	memcpy(old, memory_at(&p->b.c.mem, at, size), size);
	operands[0][0] = match ? old[0] : (uint8_t)(old[0] ^ 0x10);
	operands[0][size - 1] = old[size - 1];
	operands[0][1] = (uint8_t)~old[1]; /* not looked at */
	operands[1][size - 1] = (uint8_t)(old[size - 1] ^ 0xff);
	operands[1][1] = (uint8_t)~old[1]; /* not stored */
	operands[2][0] = operands[2][size - 1] = operands[3][size - 1] = 0xff;
	for (unsigned k = 0; k < 4; k++)
		memcpy(packed + (size_t)k * size, operands[k], size);
	post(&p->a, &(struct masked){.wr_id = i,
				     .cas = true,
				     .size = size,
				     .operands = packed,
				     .local = LOCAL + 3,
				     .remote = 4096});
	side_expect(&p->a, i, i, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_MASKED_CMP_SWP);
	side_expect_len(&p->a, i, size);
	memory_expect(&p->a.c.mem, p->a.mr.addr + LOCAL + 3, old, size);
	if (match)
		old[size - 1] ^= 0xff;
	memory_expect(&p->b.c.mem, at, old, size);
}

static void test_compare_and_swap(void **state)
{
	struct pair p;
	unsigned i = 0;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	for (uint32_t size = 4; size <= 32; size *= 2)
		for (unsigned k = 0; k < 4; k++, i++)
			swap_last_byte(&p, size, k & 1, i);
	pair_finish(&p);
}

/* The old value goes to as many elements as there are. */
static void test_elements(void **state)
{
	const uint64_t operands[8] = {0};
	struct uhca_abi_sge sge[3];
	struct vsend wr = {.opcode = UHCA_ABI_WR_MASKED_FETCH_ADD,
			   .flags = UHCA_ABI_SEND_SIGNALED,
			   .sge = sge,
			   .num_sge = 3,
			   .masked = {operands, 64, 32}};
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	sge[0] = (struct uhca_abi_sge){p.a.mr.addr + 1, 7, p.a.mr.lkey};
	sge[1] = (struct uhca_abi_sge){p.a.mr.addr + 100, 0, 0};
	sge[2] = (struct uhca_abi_sge){p.a.mr.addr + 200, 25, p.a.mr.lkey};
	wr.remote_addr = p.b.mr.addr + 32;
	wr.rkey = p.b.mr.rkey;
	pair_expect_copy(&p.b, 32, &p.a, 1, 7);
	pair_expect_copy(&p.b, 39, &p.a, 200, 25);
	world_assert(p.w, vqp_post_send(&p.a.qp, &wr) == 0);
	side_expect(&p.a, 0, 0, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_MASKED_FETCH_ADD);
	pair_finish(&p);
}

static void test_hurt(void **state)
{
	static const struct rule rules[] = {
		{.from = 0, .op = ROCE_OP_MASKED_FETCH_ADD, .verdict = WORLD_DUPLICATE},
		{.from = 0,
		 .op = ROCE_OP_MASKED_FETCH_ADD,
		 .skip = 2,
		 .count = 1,
		 .verdict = WORLD_DROP},
		{.from = 1, .op = ROCE_OP_READ_RESP, .skip = 3, .count = 2, .verdict = WORLD_DROP},
		{.from = 1, .op = ROCE_OP_READ_RESP, .verdict = WORLD_DUPLICATE},
		{.from = 0,
		 .op = ROCE_OP_MASKED_FETCH_ADD,
		 .skip = 1,
		 .count = 3,
		 .verdict = WORLD_PASS,
		 .delay = 20000},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		struct pair p;

		pair_create(&p, &(struct pair_options){0});
		rules_add(&p.rules, &rules[i]);
		count(&p, ROUNDS);
		if (i == 0)
			world_assert(p.w,
				     core_counters(p.w->device[1].host.dev)->duplicates == ROUNDS);
		pair_finish(&p);
	}
}

/* A swap that succeeded must not be tried again against the value it left. */
static void test_executed_once(void **state)
{
	const uint64_t swap[4] = {5, 6, 0xff, 0xff};
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	rules_add(&p.rules,
		  &(struct rule){
			  .from = 1, .op = ROCE_OP_READ_RESP, .count = 2, .verdict = WORLD_DROP});
	side_store(&p.b, 0, 0x1105);
	post(&p.a, &(struct masked){
			   .wr_id = 1, .cas = true, .size = 8, .operands = swap, .local = LOCAL});
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_MASKED_CMP_SWP);
	side_expect_u64(&p.a, LOCAL, 0x1105);
	side_expect_u64(&p.b, 0, 0x1106);
	pair_finish(&p);
}

/* Everything that may happen on a link, among READs, WRITEs and ordinary atomics, with fences. */
static void mixed(uint64_t seed)
{
	static const struct link hurt = {.delay = 1000,
					 .reorder_delay = 5000,
					 .loss = 60000,
					 .duplicate = 60000,
					 .reorder = 60000,
					 .split = 500000,
					 .wire = 500000,
					 .max_losses = 4};
	uint64_t value = 5;
	struct pair p;

	pair_create(&p, &(struct pair_options){.seed = seed});
	world_set_links(p.w, &hurt);
	side_store(&p.b, 64, value);
	side_store(&p.b, 128, 1);
	for (unsigned i = 0; i < 6 * MIXED; i += 6) {
		add_to_fields(&p, i, &value);
		side_read(&p.a, i + 1, 200000 + 500 * i, 5000, 2500);
		side_fetch_add(&p.a, i + 2, LOCAL + 8 * (i + 2), 128, 1);
		side_expect_u64(&p.a, LOCAL + 8 * (i + 2), 1 + i / 6);
		pair_expect_copy(&p.b, 5000, &p.a, 200000 + 500 * i, 2500);
		add_to_fields(&p, i + 3, &value);
		/* Reads the sum of what is before it; what follows waits, it might read again. */
		side_post(&p.a, &(struct op){.opcode = UHCA_ABI_WR_RDMA_READ,
					     .wr_id = i + 4,
					     .flags = UHCA_ABI_SEND_FENCE | UHCA_ABI_SEND_SIGNALED,
					     .local = LOCAL + 8 * (i + 4),
					     .length = 8,
					     .remote = 64});
		side_expect_u64(&p.a, LOCAL + 8 * (i + 4), value);
		side_post(&p.a, &(struct op){.opcode = UHCA_ABI_WR_RDMA_WRITE,
					     .wr_id = i + 5,
					     .flags = UHCA_ABI_SEND_FENCE | UHCA_ABI_SEND_SIGNALED,
					     .length = 3000,
					     .remote = 300000});
	}
	pair_expect_copy(&p.a, 0, &p.b, 300000, 3000);
	side_wait(&p.a, 6 * MIXED);
	for (unsigned i = 0; i < 6 * MIXED; i++)
		world_assert(p.w, p.a.wc[i].wr_id == i && p.a.wc[i].status == UHCA_ABI_WC_SUCCESS);
	side_expect_u64(&p.b, 64, value);
	side_expect_u64(&p.b, 128, 1 + MIXED);
	pair_finish(&p);
}

static void test_mixed(void **state)
{
	(void)state;
	seeds_each("masked atomics", 10, mixed);
}

/* A fenced request waits for the value; max_rd_atomic counts it. */
static void test_order(void **state)
{
	struct vqp_conn conn = vqp_conn_default();
	const uint64_t nothing[2] = {0};
	const struct logged *answer, *write, *second;
	struct pair p;

	(void)state;
	conn.max_rd_atomic = 1;
	pair_create(&p, &(struct pair_options){.conn = &conn});
	for (unsigned i = 0; i < 2; i++) {
		post(&p.a,
		     &(struct masked){.wr_id = i, .size = 8, .operands = nothing, .local = LOCAL});
	}
	side_post(&p.a, &(struct op){.opcode = UHCA_ABI_WR_RDMA_WRITE,
				     .wr_id = 2,
				     .flags = UHCA_ABI_SEND_FENCE | UHCA_ABI_SEND_SIGNALED,
				     .remote = 200000,
				     .length = 8});
	pair_expect_copy(&p.b, 0, &p.a, LOCAL, 8);
	pair_expect_copy(&p.a, 0, &p.b, 200000, 8);
	side_expect(&p.a, 2, 2, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
	answer = rules_nth(&p.rules, 1, ROCE_OP_READ_RESP, 0);
	second = rules_nth(&p.rules, 0, ROCE_OP_MASKED_FETCH_ADD, 1);
	world_assert(p.w, second->time >= answer->time + p.w->link[1][0].delay);
	answer = rules_nth(&p.rules, 1, ROCE_OP_READ_RESP, 1);
	write = rules_nth(&p.rules, 0, ROCE_OP_WRITE, 0);
	world_assert(p.w, write->time >= answer->time + p.w->link[1][0].delay);
	pair_finish(&p);
}

/* ---- what is refused ---- */

static const uint64_t zeros[16];

static void refuse(const struct pair_options *o, const struct masked *m, uint8_t status)
{
	struct masked asked = *m;
	struct pair p;

	asked.wr_id = 7;
	asked.operands = zeros;
	pair_create(&p, o);
	post(&p.a, &asked);
	side_expect(&p.a, 0, 7, status, 0);
	pair_finish(&p);
}

static void test_refused_locally(void **state)
{
	static const struct {
		struct masked m;
		uint8_t status;
	} cases[] = {
		{{.size = 0, .length = 8, .bytes = 16}, UHCA_ABI_WC_LOC_QP_OP_ERR},
		{{.size = 2, .length = 2}, UHCA_ABI_WC_LOC_QP_OP_ERR},
		{{.size = 12, .length = 12}, UHCA_ABI_WC_LOC_QP_OP_ERR},
		{{.size = 64, .length = 64, .bytes = 128}, UHCA_ABI_WC_LOC_QP_OP_ERR},
		{{.size = UINT32_MAX, .length = 8, .bytes = 16}, UHCA_ABI_WC_LOC_QP_OP_ERR},
		{{.size = 8, .bytes = 32}, UHCA_ABI_WC_LOC_QP_OP_ERR},
		{{.size = 8, .cas = true, .bytes = 16}, UHCA_ABI_WC_LOC_QP_OP_ERR},
		{{.size = 8, .bytes = 15}, UHCA_ABI_WC_LOC_QP_OP_ERR},
		{{.size = 16, .mode = VPOST_INLINE, .length = 32}, UHCA_ABI_WC_LOC_QP_OP_ERR},
		{{.size = 16, .mode = VPOST_GATHERED, .length = 32}, UHCA_ABI_WC_LOC_QP_OP_ERR},
		{{.size = 8, .length = 7}, UHCA_ABI_WC_LOC_LEN_ERR},
		{{.size = 8, .length = 16}, UHCA_ABI_WC_LOC_LEN_ERR},
		{{.size = 8, .lkey = 0x77}, UHCA_ABI_WC_LOC_PROT_ERR},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		refuse(&(struct pair_options){0}, &cases[i].m, cases[i].status);
	refuse(&(struct pair_options){.type = IBV_QPT_UC}, &(struct masked){.size = 8},
	       UHCA_ABI_WC_LOC_QP_OP_ERR);
}

/* The elements take the value: they must allow it. */
static void test_read_only_element(void **state)
{
	struct vmr mr;
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	world_assert(p.w, vclient_reg_mr_pd(&p.a.c, p.a.c.pd, &p.a.mr, 0, &mr) == 0);
	post(&p.a, &(struct masked){.wr_id = 1, .size = 8, .operands = zeros, .lkey = mr.lkey});
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_LOC_PROT_ERR, 0);
	pair_finish(&p);
}

static void test_refused_by_peer(void **state)
{
	struct vqp_conn conn = vqp_conn_default();
	struct pair_options o = {0};

	(void)state;
	for (uint32_t size = 4; size <= 32; size *= 2) {
		refuse(&o, &(struct masked){.size = size, .remote = size / 2},
		       UHCA_ABI_WC_REM_INV_REQ_ERR);
		refuse(&o, &(struct masked){.size = size, .cas = true, .remote = 2},
		       UHCA_ABI_WC_REM_INV_REQ_ERR);
		refuse(&o, &(struct masked){.size = size, .remote = PAIR_BUFFER},
		       UHCA_ABI_WC_REM_ACCESS_ERR);
	}
	refuse(&o, &(struct masked){.size = 8, .rkey = 0x77}, UHCA_ABI_WC_REM_ACCESS_ERR);
	conn.access = PAIR_ACCESS & ~IBV_ACCESS_REMOTE_ATOMIC;
	o.conn = &conn;
	refuse(&o, &(struct masked){.size = 8}, UHCA_ABI_WC_REM_INV_REQ_ERR);
}

/* The QP allows it, the region does not. */
static void test_region_without_right(void **state)
{
	struct vmr mr;
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	world_assert(p.w, vclient_reg_mr_pd(&p.b.c, p.b.c.pd, &p.b.mr,
					    PAIR_ACCESS & ~IBV_ACCESS_REMOTE_ATOMIC, &mr) == 0);
	post(&p.a, &(struct masked){.wr_id = 1, .size = 8, .operands = zeros, .rkey = mr.rkey});
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_REM_ACCESS_ERR, 0);
	world_assert(p.w, side_events(&p.b, IBV_EVENT_QP_ACCESS_ERR) == 1);
	pair_finish(&p);
}

static void test_feature_off(void **state)
{
	struct core_config cfg;
	struct pair p;

	(void)state;
	core_config_default(&cfg);
	cfg.features &= ~(uint32_t)UHCA_ABI_HAS_MASKED_ATOMIC_SIZES;
	pair_create(&p, &(struct pair_options){.cfg = &cfg});
	count(&p, 1);
	pair_finish(&p);
	refuse(&(struct pair_options){.cfg = &cfg}, &(struct masked){.size = 16},
	       UHCA_ABI_WC_LOC_QP_OP_ERR);
	cfg.features &= ~(uint32_t)UHCA_ABI_HAS_MASKED_ATOMICS;
	refuse(&(struct pair_options){.cfg = &cfg}, &(struct masked){.size = 8},
	       UHCA_ABI_WC_LOC_QP_OP_ERR);
}

static uint32_t bad_length;

static void change_request(struct world_packet *p)
{
	p->pkt.reth.length = bad_length;
}

static void change_answer(struct world_packet *p)
{
	p->pkt.payload_len = 4;
}

/* Requests that no device of ours sends, and an answer that is too short. */
static void test_strange_packets(void **state)
{
	static const uint32_t lengths[] = {0, 1, 4, 16, 64, UINT32_MAX};

	(void)state;
	for (unsigned i = 0; i <= 6; i++) {
		struct pair p;

		pair_create(&p, &(struct pair_options){0});
		bad_length = i < 6 ? lengths[i] : 8;
		rules_add(&p.rules,
			  &(struct rule){.from = i < 6 ? 0 : 1,
					 .op = i < 6 ? ROCE_OP_MASKED_FETCH_ADD : ROCE_OP_READ_RESP,
					 .verdict = WORLD_PASS,
					 .change = i < 6 ? change_request : change_answer});
		post(&p.a, &(struct masked){.wr_id = 1, .size = 8, .operands = zeros});
		side_expect(&p.a, 0, 1,
			    i < 6 ? UHCA_ABI_WC_REM_INV_REQ_ERR : UHCA_ABI_WC_BAD_RESP_ERR, 0);
		pair_finish(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fetch_and_add),
		cmocka_unit_test(test_compare_and_swap),
		cmocka_unit_test(test_elements),
		cmocka_unit_test(test_hurt),
		cmocka_unit_test(test_executed_once),
		cmocka_unit_test(test_mixed),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_refused_locally),
		cmocka_unit_test(test_read_only_element),
		cmocka_unit_test(test_refused_by_peer),
		cmocka_unit_test(test_region_without_right),
		cmocka_unit_test(test_feature_off),
		cmocka_unit_test(test_strange_packets),
	};

	return cmocka_run_group_tests_name("masked_atomics", tests, NULL, NULL);
}
