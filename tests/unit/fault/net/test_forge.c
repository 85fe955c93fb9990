/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets made up in the name of the other end, and what is known of responders. */
#include "emu/fault/net/cm_answer.h"
#include "emu/fault/net/forge.h"
#include "emu/fault/net/responders.h"
#include "tests/support/wire/cmocka_all.h"
#include "wire/cm_msg.h"
#include "wire/syndrome.h"

#include <string.h>

static void make(struct fault_packet *p, uint8_t opcode, uint32_t psn)
{
	memset(p, 0, sizeof *p);
	p->dir = FAULT_TX;
	p->model.rule = 9;
	p->pkt.bth = (struct roce_bth){
		.opcode.v = opcode, .pkey = 0xffff, .dest_qp = 0x22, .psn = psn, .ackreq = true};
	p->flow =
		(struct roce_flow){.sport = 0xc123, .dport = 4791, .tclass = 0x63, .hop_limit = 7};
	p->flow.src[15] = 1;
	p->flow.dst[15] = 2;
}

static void expect_back(const struct fault_packet *out)
{
	assert_int_equal(out->dir, FAULT_RX);
	assert_int_equal(out->flow.src[15], 2);
	assert_int_equal(out->flow.dst[15], 1);
	assert_int_equal(out->flow.sport, 0xc123);
	assert_int_equal(out->flow.dport, 4791);
	assert_int_equal(out->flow.tclass, 0x60);
	assert_int_equal(out->model.rule, 9);
	assert_int_equal(out->pkt.bth.pkey, 0xffff);
}

static void test_answer(void **state)
{
	const struct fault_responder who = {.msn = 3};
	unsigned answered = 0;

	(void)state;
	for (unsigned op = 0; op < 256; op++) {
		const struct roce_opcode_info *info = roce_opcode_info((roce_opcode){(uint8_t)op});
		struct fault_packet p, out;

		make(&p, (uint8_t)op, 77);
		if (!fault_answer(&p, 0x11, 0x22, &who, &out))
			continue;
		answered++;
		assert_true(info->service == ROCE_SVC_RC || info->service == ROCE_SVC_XRC);
		expect_back(&out);
		assert_int_equal(out.pkt.bth.opcode.v, info->service == ROCE_SVC_RC
							       ? ROCE_RC_ACKNOWLEDGE
							       : ROCE_XRC_ACKNOWLEDGE);
		assert_int_equal(out.pkt.bth.dest_qp, 0x11);
		assert_int_equal(out.pkt.bth.psn, 77);
		assert_int_equal(out.pkt.aeth.syndrome, 0x22);
		assert_int_equal(out.pkt.aeth.msn, 3);
		assert_int_equal(out.model.qpn, 0x22);
	}
	assert_true(answered > 30);
}

static void test_cnp(void **state)
{
	struct fault_packet p, out;

	(void)state;
	make(&p, ROCE_RC_ACKNOWLEDGE, 5);
	assert_true(fault_answer_cnp(&p, 0x11, &out));
	assert_int_equal(out.flow.tclass, 48 << 2);
	out.flow.tclass = 0x60;
	expect_back(&out);
	assert_false(out.pkt.bth.migreq);
	assert_int_equal(out.pkt.bth.opcode.v, ROCE_CNP);
	assert_true(out.pkt.bth.becn);
	assert_int_equal(out.pkt.bth.dest_qp, 0x11);
	assert_int_equal(out.pkt.bth.psn, 0);
	assert_int_equal(out.pkt.payload_len, 16);
	for (unsigned i = 0; i < 16; i++)
		assert_int_equal(out.pkt.payload[i], 0);
	make(&p, ROCE_CNP, 5); /* two ends would go on for ever */
	assert_false(fault_answer_cnp(&p, 0x11, &out));
	make(&p, ROCE_UD_SEND_ONLY, 5);
	p.flow.dst[0] = 0xff;
	assert_false(fault_answer_cnp(&p, 0x11, &out));
	make(&p, ROCE_UD_SEND_ONLY, 5);
	p.pkt.bth.dest_qp = ROCE_GSI_QPN;
	assert_false(fault_answer_cnp(&p, 0x11, &out));
}

/* ---- connections ---- */

static uint8_t mad[ROCE_MAD_LENGTH];

static void make_cm(struct fault_packet *p, const struct roce_cm_msg *msg)
{
	make(p, ROCE_UD_SEND_ONLY, 5);
	assert_true(roce_cm_emit(msg, mad));
	p->pkt.bth.dest_qp = ROCE_GSI_QPN;
	p->pkt.payload = mad;
	p->pkt.payload_len = sizeof mad;
}

static void parse(const struct fault_packet *p, struct roce_cm_msg *out)
{
	expect_back(p);
	assert_int_equal(p->pkt.bth.dest_qp, ROCE_GSI_QPN);
	assert_int_equal(p->pkt.deth.qkey, ROCE_GSI_QKEY);
	assert_int_equal(p->pkt.deth.src_qp, ROCE_GSI_QPN);
	assert_true(roce_cm_parse(p->pkt.payload, out));
	assert_int_equal(out->tid, 0x1234567890);
}

static void test_reject(void **state)
{
	struct roce_cm_msg msg = {.tid = 0x1234567890, .attr = ROCE_CM_REQ}, got;
	struct fault_packet p, out;

	(void)state;
	msg.req.local_comm_id = 0xa;
	make_cm(&p, &msg);
	assert_true(fault_cm_reject(&p, ROCE_CM_REJ_CONSUMER, &out));
	parse(&out, &got);
	assert_int_equal(got.attr, ROCE_CM_REJ);
	assert_int_equal(got.rej.remote_comm_id, 0xa);
	assert_int_equal(got.rej.message_rejected, ROCE_CM_ANSWERED_REQ);
	assert_int_equal(got.rej.reason, ROCE_CM_REJ_CONSUMER);
	msg = (struct roce_cm_msg){.tid = msg.tid, .attr = ROCE_CM_REP};
	msg.rep.local_comm_id = 0xb;
	msg.rep.remote_comm_id = 0xa;
	make_cm(&p, &msg);
	assert_true(fault_cm_reject(&p, 3, &out));
	parse(&out, &got);
	assert_int_equal(got.rej.local_comm_id, 0xa);
	assert_int_equal(got.rej.remote_comm_id, 0xb);
	assert_int_equal(got.rej.message_rejected, ROCE_CM_ANSWERED_REP);
	msg = (struct roce_cm_msg){.tid = msg.tid, .attr = ROCE_CM_SIDR_REQ};
	msg.sidr_req.request_id = 0xc;
	make_cm(&p, &msg);
	assert_true(fault_cm_reject(&p, 3, &out));
	parse(&out, &got);
	assert_int_equal(got.attr, ROCE_CM_SIDR_REP);
	assert_int_equal(got.sidr_rep.request_id, 0xc);
	assert_int_equal(got.sidr_rep.status, ROCE_CM_SIDR_REJECT);
	msg = (struct roce_cm_msg){.tid = msg.tid, .attr = ROCE_CM_RTU};
	make_cm(&p, &msg);
	assert_false(fault_cm_reject(&p, 3, &out));
	assert_false(fault_cm_mra(&p, 3, &out));
	p.pkt.payload_len = 255;
	assert_false(fault_cm_reject(&p, 3, &out));
}

static void test_mra(void **state)
{
	struct roce_cm_msg msg = {.tid = 0x1234567890, .attr = ROCE_CM_REQ}, got;
	struct fault_packet p, out;

	(void)state;
	msg.req.local_comm_id = 0xa;
	make_cm(&p, &msg);
	assert_true(fault_cm_mra(&p, 1000000000, &out));
	parse(&out, &got);
	assert_int_equal(got.attr, ROCE_CM_MRA);
	assert_int_equal(got.mra.remote_comm_id, 0xa);
	assert_int_equal(got.mra.message_mraed, ROCE_CM_ANSWERED_REQ);
	assert_int_equal(got.mra.service_timeout, 18); /* 1.07 s */
	assert_true(fault_cm_mra(&p, 4096, &out));
	parse(&out, &got);
	assert_int_equal(got.mra.service_timeout, 0);
	assert_true(fault_cm_mra(&p, UINT64_MAX, &out));
	parse(&out, &got);
	assert_int_equal(got.mra.service_timeout, 31);
}

/* ---- responders ---- */

static void test_responders(void **state)
{
	static struct fault_responders r;
	struct fault_responder *e;
	struct fault_packet p;

	(void)state;
	make(&p, ROCE_RC_ACKNOWLEDGE, 5);
	p.pkt.aeth = (struct roce_aeth){roce_syndrome(ROCE_ACK, 4), 99};
	fault_responders_hear(&r, &p);
	e = fault_responders_find(&r, p.flow.src, 0x22);
	assert_int_equal(e->msn, 99);
	assert_int_equal(e->credits, 4);
	p.pkt.aeth = (struct roce_aeth){roce_syndrome(ROCE_NAK, 0), 100};
	fault_responders_hear(&r, &p);
	assert_int_equal(e->msn, 100);
	assert_int_equal(e->credits, 4);
	e = fault_responders_find(&r, p.flow.src, 0x23);
	assert_int_equal(e->msn, 0);
	assert_int_equal(e->credits, ROCE_CREDITS_UNLIMITED);
	make(&p, ROCE_RC_SEND_ONLY, 5);
	fault_responders_hear(&r, &p);
	for (uint32_t qpn = 1; qpn < 2000; qpn++)
		fault_responders_find(&r, p.flow.src, qpn);
	assert_int_equal(fault_responders_find(&r, p.flow.src, 1999)->requester, 1999);
}

/* What stands behind a refused request goes with it, until that one comes again, or time passes. */
static void test_refused(void **state)
{
	static struct fault_responders r;
	struct fault_packet p, next;

	(void)state;
	make(&p, ROCE_RC_SEND_FIRST, 0xffffff);
	make(&next, ROCE_RC_SEND_MIDDLE, 0);
	assert_int_equal(fault_responders_refused(&r, &next, 0x11, 10), 0);
	fault_responders_refuse(&r, fault_responders_find(&r, p.flow.dst, 0x11), &p, 10);
	assert_int_equal(fault_responders_refused(&r, &next, 0x11, 20), 9);
	assert_int_equal(fault_responders_refused(&r, &next, 0x12, 20), 0);
	assert_int_equal(fault_responders_refused(&r, &p, 0x11, 30), 0);
	assert_int_equal(fault_responders_refused(&r, &next, 0x11, 40), 0);
	fault_responders_refuse(&r, fault_responders_find(&r, p.flow.dst, 0x11), &p, 50);
	assert_int_equal(fault_responders_refused(&r, &next, 0x11, 60), 9);
	assert_int_equal(fault_responders_refused(&r, &next, 0x11, 10000000), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answer),     cmocka_unit_test(test_cnp),
		cmocka_unit_test(test_reject),     cmocka_unit_test(test_mra),
		cmocka_unit_test(test_responders), cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests_name("forge", tests, NULL, NULL);
}
