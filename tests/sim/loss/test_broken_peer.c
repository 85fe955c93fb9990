/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A peer that does not keep to the protocol: messages whose packets do not fit together, answers
 * that do not fit their requests. The device refuses them as IBTA 9.7.4.1 and 9.9.2 say, and no
 * byte goes where it should not.
 */
#include "tests/sim/world/pair.h"
#include "wire/syndrome.h"

#define LENGTH 4000u /* four packets */

static void create(struct pair *p, void (*change)(struct world_packet *), const struct rule *which)
{
	struct rule rule = *which;

	pair_create(p, &(struct pair_options){0});
	rule.count = rule.count ? rule.count : 1;
	rule.change = change;
	rules_add(&p->rules, &rule);
}

/* ---- requests ---- */

static void longer_dma(struct world_packet *p)
{
	p->pkt.reth.length += 1000;
}

static void shorter_dma(struct world_packet *p)
{
	p->pkt.reth.length -= 1000;
}

static void first_to_middle(struct world_packet *p)
{
	p->pkt.bth.opcode.v++; /* FIRST and MIDDLE stand beside each other */
}

static void middle_to_first(struct world_packet *p)
{
	p->pkt.bth.opcode.v--;
	p->pkt.reth.length = LENGTH;
}

static void middle_to_only(struct world_packet *p)
{
	p->pkt.bth.opcode.v = ROCE_RC_SEND_ONLY;
}

static void shorter_payload(struct world_packet *p)
{
	p->pkt.payload_len -= 4;
}

static void send_to_write(struct world_packet *p)
{
	p->pkt.bth.opcode.v = ROCE_RC_WRITE_MIDDLE;
}

/* b must refuse a's message; what it received of it before stays within its target. */
static void refuse(bool send, uint32_t position, void (*change)(struct world_packet *))
{
	struct pair p;

	create(&p, change,
	       &(struct rule){.from = 0,
			      .op = send ? ROCE_OP_SEND : ROCE_OP_WRITE,
			      .positions = 1u << position});
	side_ignore(&p.b, 100000, LENGTH);
	side_recv(&p.b, 1, 100000, LENGTH);
	if (send)
		side_send(&p.a, 1, 0, LENGTH);
	else
		side_write(&p.a, 1, 0, 100000, LENGTH);
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_REM_INV_REQ_ERR, 0);
	world_assert(p.w, vqp_state(&p.b.qp) == IBV_QPS_ERR);
	world_assert(p.w, side_events(&p.b, UHCA_ABI_EVENT_QP_REQ_ERR) == 1);
	side_wait(&p.b, 1);
	world_assert(p.w, p.b.wc[0].status == UHCA_ABI_WC_WR_FLUSH_ERR ||
				  p.b.wc[0].status == UHCA_ABI_WC_REM_INV_REQ_ERR);
	pair_finish(&p);
}

static void test_requests(void **state)
{
	(void)state;
	refuse(false, ROCE_POS_FIRST, longer_dma);
	refuse(false, ROCE_POS_FIRST, shorter_dma);
	refuse(false, ROCE_POS_FIRST, first_to_middle);
	refuse(false, ROCE_POS_MIDDLE, middle_to_first);
	refuse(false, ROCE_POS_MIDDLE, middle_to_only);
	refuse(false, ROCE_POS_MIDDLE, shorter_payload);
	refuse(false, ROCE_POS_FIRST, shorter_payload);
	refuse(true, ROCE_POS_FIRST, first_to_middle);
	refuse(true, ROCE_POS_MIDDLE, middle_to_first);
	refuse(true, ROCE_POS_MIDDLE, middle_to_only);
	refuse(true, ROCE_POS_FIRST, shorter_payload);
	refuse(true, ROCE_POS_MIDDLE, shorter_payload);
	refuse(true, ROCE_POS_MIDDLE, send_to_write);
}

/* ---- answers ---- */

/* a's READ gets an answer it cannot use. */
static void bad_answer(uint32_t position, void (*change)(struct world_packet *))
{
	struct pair p;

	create(&p, change,
	       &(struct rule){.from = 1, .op = ROCE_OP_READ_RESP, .positions = 1u << position});
	side_ignore(&p.a, 100000, LENGTH);
	side_read(&p.a, 1, 100000, 0, LENGTH);
	side_read(&p.a, 2, 200000, 0, LENGTH);
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_BAD_RESP_ERR, 0);
	side_expect(&p.a, 1, 2, UHCA_ABI_WC_WR_FLUSH_ERR, 0);
	world_assert(p.w, vqp_state(&p.a.qp) == IBV_QPS_ERR);
	pair_finish(&p);
}

static void test_read_answers(void **state)
{
	(void)state;
	bad_answer(ROCE_POS_FIRST, shorter_payload);
	bad_answer(ROCE_POS_MIDDLE, shorter_payload);
	bad_answer(ROCE_POS_LAST, shorter_payload);
}

static void reserved_nak(struct world_packet *p)
{
	p->pkt.aeth.syndrome = roce_syndrome(ROCE_NAK, 17);
}

static void reserved_kind(struct world_packet *p)
{
	p->pkt.aeth.syndrome = roce_syndrome(ROCE_ACK_RESERVED, 0);
}

static void wrong_msn(struct world_packet *p)
{
	p->pkt.aeth.msn = (p->pkt.aeth.msn + 0x7ffff0) & 0xffffff;
}

/* A NAK with a code that does not exist. */
static void test_reserved_nak(void **state)
{
	struct pair p;

	(void)state;
	create(&p, reserved_nak, &(struct rule){.from = 1, .op = ROCE_OP_ACK});
	side_write(&p.a, 1, 0, 100000, LENGTH);
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_BAD_RESP_ERR, 0);
	pair_expect_copy(&p.a, 0, &p.b, 100000, LENGTH);
	pair_finish(&p);
}

/* An answer that is none of the known kinds says nothing: the request is repeated. */
static void test_reserved_kind(void **state)
{
	struct pair p;

	(void)state;
	create(&p, reserved_kind, &(struct rule){.from = 1, .op = ROCE_OP_ACK});
	side_write(&p.a, 1, 0, 100000, LENGTH);
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
	pair_expect_copy(&p.a, 0, &p.b, 100000, LENGTH);
	pair_finish(&p);
}

/* A wild MSN must not stop the sender for good, whatever credits it seems to give. */
static void test_wrong_msn(void **state)
{
	struct pair p;

	(void)state;
	create(&p, wrong_msn, &(struct rule){.from = 1, .op = ROCE_OP_ACK, .count = 5});
	for (unsigned i = 0; i < 20; i++) {
		side_recv(&p.b, i, 100000, 100);
		side_send(&p.a, i, 0, 100);
	}
	for (unsigned i = 0; i < 20; i++)
		side_expect(&p.a, i, i, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
	pair_expect_copy(&p.a, 0, &p.b, 100000, 100);
	pair_finish(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_requests),     cmocka_unit_test(test_read_answers),
		cmocka_unit_test(test_reserved_nak), cmocka_unit_test(test_reserved_kind),
		cmocka_unit_test(test_wrong_msn),
	};

	return cmocka_run_group_tests_name("broken_peer", tests, NULL, NULL);
}
