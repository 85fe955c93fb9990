/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Our device as the client of each captured conversation of soft-RoCE: it is given the same work,
 * its packets are those of soft-RoCE but for the table of differences, and with the answers that
 * soft-RoCE gave it completes with success and the right data.
 */
#include "emu/core/base/source_port.h"
#include "role.h"
#include "tests/support/wire/cmocka_all.h"

/* Packets and completions of this end in each capture. */
static const struct row {
	const char *name;
	unsigned requests, answers, sends, receives;
	uint32_t flow_label; /* of a connection that was made by a REQ which names one */
} rows[] = {
	{"rc_send", 25, 5, 5, 5, 0},       {"rc_send_v6", 10, 5, 5, 5, 0},
	{"rc_send_bw64", 50, 0, 50, 0, 0}, {"rc_write", 20, 0, 5, 0, 0},
	{"rc_write_64k", 320, 0, 5, 0, 0}, {"rc_read", 5, 0, 5, 0, 0},
	{"rc_read_64k", 5, 0, 5, 0, 0},    {"rc_atomic_fadd", 5, 0, 5, 0, 0},
	{"rc_atomic_cas", 5, 0, 5, 0, 0},  {"uc_send", 15, 0, 5, 5, 0},
	{"ud_send", 5, 0, 5, 5, 0},        {"cm_rping", 6, 12, 6, 6, 0x1ce43},
	{"cm_udaddy", 3, 0, 3, 3, 0},
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

static void add(struct difference_count *sum, const struct difference_count *one)
{
	for (unsigned i = 0; i < DIFFERENCE_COUNT; i++)
		sum->n[i] += one->n[i];
}

static struct difference_count play_all(enum role_pace pace)
{
	struct difference_count sum = {0};

	for (size_t i = 0; i < ROWS; i++) {
		struct role_tally tally = {0};
		struct conversation c;

		conversation_open(&c, rows[i].name, CONVERSATION_TRAFFIC);
		role_play(&c, ROLE_CLIENT, pace, ROLE_WINDOW, &tally);
		conversation_close(&c);
		assert_int_equal(tally.requests, rows[i].requests);
		assert_int_equal(tally.answers + tally.differences.n[DIFFERENCE_COALESCED],
				 rows[i].answers);
		assert_int_equal(tally.sends, rows[i].sends);
		assert_int_equal(tally.receives, rows[i].receives);
		add(&sum, &tally.differences);
	}
	return sum;
}

static void test_one_by_one(void **state)
{
	struct difference_count met = play_all(ROLE_EAGER);

	(void)state;
	assert_int_equal(met.n[DIFFERENCE_COALESCED], 0);
	assert_int_not_equal(met.n[DIFFERENCE_MIGREQ], 0);
	assert_int_equal(met.n[DIFFERENCE_MAD_ACKREQ], 0);
	assert_int_equal(met.n[DIFFERENCE_ACKREQ], 0);
}

/* Bits that mean nothing to a receiver, or nothing in this place, change nothing. */
static void test_ignored_bits(void **state)
{
	(void)state;
	play_all(ROLE_NOISY);
}

/* Requests that soft-RoCE sent in one go are posted with one doorbell. */
static void test_bursts(void **state)
{
	struct difference_count met = play_all(ROLE_BURST);

	(void)state;
	assert_int_not_equal(met.n[DIFFERENCE_MIGREQ], 0);
	assert_int_equal(met.n[DIFFERENCE_MAD_ACKREQ], 0);
	assert_int_equal(met.n[DIFFERENCE_ACKREQ], 0);
}

/* With the default window: where it is full before a message ends, the last packet asks. */
static void test_default_window(void **state)
{
	struct role_tally tally = {0};
	struct conversation c;

	(void)state;
	conversation_open(&c, "rc_write_64k", CONVERSATION_TRAFFIC);
	role_play(&c, ROLE_CLIENT, ROLE_EAGER, 0, &tally);
	conversation_close(&c);
	assert_int_equal(tally.requests, 320);
	assert_int_equal(tally.sends, 5);
	assert_in_range(tally.differences.n[DIFFERENCE_ACKREQ], 1, 5);
}

/*
 * The source ports of soft-RoCE follow from its QP numbers as ours follow from ours: those of a
 * connection from both numbers or its flow label, the same both ways, those of a datagram from the
 * sender's number.
 */
static void check_ports(const struct conversation *c, uint32_t flow_label)
{
	uint32_t qpn[2] = {c->packet[0].pkt.bth.dest_qp, 0};

	for (unsigned i = 0; i < c->n; i++)
		if (!spoken_together(&c->packet[0], &c->packet[i]))
			qpn[1] = c->packet[i].pkt.bth.dest_qp;
	for (unsigned i = 0; i < c->n; i++) {
		const struct spoken *s = &c->packet[i];
		bool datagram = roce_opcode_info(s->pkt.bth.opcode)->headers & ROCE_HDR_DETH;

		assert_int_equal(s->flow.sport,
				 datagram ? source_port_datagram(s->pkt.deth.src_qp)
					  : source_port_connected(qpn[0], qpn[1], flow_label));
	}
}

static void test_source_ports(void **state)
{
	(void)state;
	for (size_t i = 0; i < ROWS; i++) {
		struct conversation c;

		conversation_open(&c, rows[i].name, CONVERSATION_TRAFFIC);
		check_ports(&c, rows[i].flow_label);
		conversation_close(&c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_by_one),   cmocka_unit_test(test_ignored_bits),
		cmocka_unit_test(test_bursts),       cmocka_unit_test(test_default_window),
		cmocka_unit_test(test_source_ports),
	};

	return cmocka_run_group_tests_name("replay_requester", tests, NULL, NULL);
}
