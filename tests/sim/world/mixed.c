/* SPDX-License-Identifier: BSD-2-Clause */
/* See mixed.h. A round owns 32 KiB of both buffers, and the counter at its start. */
#include "mixed.h"

#define ROUND 32768u

/* Lengths that are no multiple of any MTU, over several packets of MTU 1024. */
#define SEND_LENGTH  3001u
#define WRITE_LENGTH 5003u
#define READ_LENGTH  4999u

/* Places within a round. */
enum {
	COUNTER = 0,
	RESULTS = 64,
	SENT = 1000,
	WRITTEN = 5000,
	WRITTEN_IMM = 11000,
	READ = 17000,
	RECEIVED = 24000,
};

static void post_round(struct pair *p, unsigned i)
{
	uint32_t at = i * ROUND;

	side_send(&p->a, 10 * i, at + SENT, SEND_LENGTH);
	side_write(&p->a, 10 * i + 1, at + WRITTEN, at + WRITTEN, WRITE_LENGTH);
	side_read(&p->a, 10 * i + 2, at + READ, at + READ, READ_LENGTH);
	side_fetch_add(&p->a, 10 * i + 3, at + RESULTS, at + COUNTER, 7 + i);
	side_post(&p->a, &(struct op){.opcode = UHCA_ABI_WR_RDMA_WRITE_WITH_IMM,
				      .wr_id = 10 * i + 4,
				      .flags = UHCA_ABI_SEND_SIGNALED,
				      .local = at + WRITTEN_IMM,
				      .remote = at + WRITTEN_IMM,
				      .length = WRITE_LENGTH,
				      .imm = 0x01020304 + i});
	side_cmp_swap(&p->a, &(struct op){.wr_id = 10 * i + 5,
					  .local = at + RESULTS + 8,
					  .remote = at + COUNTER,
					  .compare_add = 100 + 7 + i,
					  .swap = 1000 + i});
	side_read(&p->a, 10 * i + 6, at + RESULTS + 16, at + COUNTER, 8);
}

void mixed_post(struct pair *p, unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++) {
		side_recv(&p->b, 2 * i, i * ROUND + RECEIVED, 4000);
		side_recv(&p->b, 2 * i + 1, i * ROUND + RECEIVED + 4000, 100);
		side_store(&p->b, i * ROUND + COUNTER, 100);
	}
	for (unsigned i = 0; i < rounds; i++)
		post_round(p, i);
}

static void expect_round(struct pair *p, unsigned i)
{
	uint32_t at = i * ROUND;

	pair_expect_copy(&p->a, at + SENT, &p->b, at + RECEIVED, SEND_LENGTH);
	pair_expect_copy(&p->a, at + WRITTEN, &p->b, at + WRITTEN, WRITE_LENGTH);
	pair_expect_copy(&p->a, at + WRITTEN_IMM, &p->b, at + WRITTEN_IMM, WRITE_LENGTH);
	pair_expect_copy(&p->b, at + READ, &p->a, at + READ, READ_LENGTH);
	side_expect_u64(&p->a, at + RESULTS, 100);
	side_expect_u64(&p->a, at + RESULTS + 8, 100 + 7 + i);
	side_expect_u64(&p->a, at + RESULTS + 16, 1000 + i);
	side_expect_u64(&p->b, at + COUNTER, 1000 + i);
}

void mixed_check(struct pair *p, unsigned rounds)
{
	static const uint8_t opcode[MIXED_REQUESTS] = {
		UHCA_ABI_WC_SEND,      UHCA_ABI_WC_RDMA_WRITE, UHCA_ABI_WC_RDMA_READ,
		UHCA_ABI_WC_FETCH_ADD, UHCA_ABI_WC_RDMA_WRITE, UHCA_ABI_WC_COMP_SWAP,
		UHCA_ABI_WC_RDMA_READ,
	};

	for (unsigned i = 0; i < rounds; i++) {
		for (unsigned k = 0; k < MIXED_REQUESTS; k++)
			side_expect(&p->a, i * MIXED_REQUESTS + k, 10 * i + k, UHCA_ABI_WC_SUCCESS,
				    opcode[k]);
		side_expect(&p->b, 2 * i, 2 * i, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
		side_expect_len(&p->b, 2 * i, SEND_LENGTH);
		side_expect(&p->b, 2 * i + 1, 2 * i + 1, UHCA_ABI_WC_SUCCESS,
			    UHCA_ABI_WC_RECV_RDMA_WITH_IMM);
		side_expect_len(&p->b, 2 * i + 1, WRITE_LENGTH);
		world_assert(p->w, p->b.wc[2 * i + 1].imm == 0x01020304 + i);
		expect_round(p, i);
	}
	pair_idle(p);
	side_poll(&p->a);
	side_poll(&p->b);
	world_assert(p->w, p->a.n_wc == rounds * MIXED_REQUESTS);
	world_assert(p->w, p->b.n_wc == rounds * MIXED_RECVS);
	world_assert(p->w, vqp_send_used(&p->a.qp) == 0);
}
