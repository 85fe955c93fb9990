/* SPDX-License-Identifier: BSD-2-Clause */
/* A fenced request does not start before all READs and atomics ahead of it are complete. */
#include "tests/sim/world/pair.h"

/* Time at which the first packet of this kind was sent by a device. */
static uint64_t sent_at(const struct pair *p, unsigned from, enum roce_operation op)
{
	const struct logged *l = rules_nth(&p->rules, from, op, 0);

	return l ? l->time : UINT64_MAX;
}

/* READ, then the request; true when the request went out before the READ's answer had come. */
static bool overtakes(uint8_t opcode, enum roce_operation wire, uint16_t flags)
{
	struct pair p;
	uint64_t answered, next;

	pair_create(&p, &(struct pair_options){0});
	side_recv(&p.b, 9, 300000, 1000);
	side_read(&p.a, 1, 100000, 0, 5000);
	side_post(&p.a, &(struct op){.opcode = opcode,
				     .wr_id = 2,
				     .flags = flags | UHCA_ABI_SEND_SIGNALED,
				     .local = 200000,
				     .remote = 200000,
				     .length = 8});
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_READ);
	side_wait(&p.a, 2);
	world_assert(p.w, p.a.wc[1].status == UHCA_ABI_WC_SUCCESS);
	pair_expect_copy(&p.b, 0, &p.a, 100000, 5000);
	side_ignore(&p.b, 200000, 8);
	side_ignore(&p.b, 300000, 8);
	side_ignore(&p.a, 200000, 8);
	answered = sent_at(&p, 1, ROCE_OP_READ_RESP) + p.w->link[1][0].delay;
	next = sent_at(&p, 0, wire);
	if (wire == ROCE_OP_READ_REQ)
		next = rules_nth(&p.rules, 0, wire, 1)->time;
	pair_finish(&p);
	return next < answered;
}

static const struct {
	uint8_t opcode;
	enum roce_operation wire;
} requests[] = {
	{UHCA_ABI_WR_SEND, ROCE_OP_SEND},
	{UHCA_ABI_WR_RDMA_WRITE, ROCE_OP_WRITE},
	{UHCA_ABI_WR_RDMA_READ, ROCE_OP_READ_REQ},
	{UHCA_ABI_WR_ATOMIC_FETCH_AND_ADD, ROCE_OP_FETCH_ADD},
};

static void test_without_fence(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++)
		assert_true(overtakes(requests[i].opcode, requests[i].wire, 0));
}

static void test_with_fence(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++)
		assert_false(overtakes(requests[i].opcode, requests[i].wire, UHCA_ABI_SEND_FENCE));
}

/* The fence holds through a loss of the READ's response. */
static void test_fence_and_loss(void **state)
{
	struct pair p;

	(void)state;
	for (unsigned lost = 0; lost < 5; lost++) {
		pair_create(&p, &(struct pair_options){0});
		rules_add(&p.rules, &(struct rule){.from = 1,
						   .op = ROCE_OP_READ_RESP,
						   .skip = lost,
						   .count = 3,
						   .verdict = WORLD_DROP});
		side_read(&p.a, 1, 100000, 0, 5000);
		side_post(&p.a, &(struct op){.opcode = UHCA_ABI_WR_RDMA_WRITE,
					     .wr_id = 2,
					     .flags = UHCA_ABI_SEND_FENCE | UHCA_ABI_SEND_SIGNALED,
					     .local = 200000,
					     .remote = 0,
					     .length = 5000});
		pair_expect_copy(&p.b, 0, &p.a, 100000, 5000); /* the bytes from before */
		pair_expect_copy(&p.a, 200000, &p.b, 0, 5000);
		side_expect(&p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_READ);
		side_expect(&p.a, 1, 2, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
		pair_finish(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_fence),
		cmocka_unit_test(test_with_fence),
		cmocka_unit_test(test_fence_and_loss),
	};

	return cmocka_run_group_tests_name("fence", tests, NULL, NULL);
}
