/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Conversations of Linux soft-RoCE (see README.md): every packet parses, its ICRC is right, what
 * we emit from the parsed values is what Linux sent, the CM messages come in the order of the
 * protocol, and the text of each packet is the committed one.
 */
#include "tests/support/wire/cmocka_all.h"
#include "tests/support/wire/pcap.h"
#include "tests/support/wire/print_cm.h"

#include "wire/cm_msg.h"
#include "wire/cma_hdr.h"
#include "wire/icrc.h"
#include "wire/packet.h"
#include "wire/udpip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CM     32
#define CONNECTION ROCE_CM_REQ, ROCE_CM_REP, ROCE_CM_RTU, ROCE_CM_DREQ, ROCE_CM_DREP

struct capture {
	const char *name;
	unsigned packets;
	enum roce_cm_attr cm[MAX_CM]; /* expected messages, in order; 0 ends the list */
};

static const struct capture captures[] = {
	{"rc_send", 60, {0}},
	{"rc_send_v6", 30, {0}},
	{"rc_send_bw64", 100, {0}},
	{"rc_write", 25, {0}},
	{"rc_write_64k", 325, {0}},
	{"rc_read", 25, {0}},
	{"rc_read_64k", 325, {0}},
	{"rc_atomic_fadd", 10, {0}},
	{"rc_atomic_cas", 10, {0}},
	{"uc_send", 30, {0}},
	{"ud_send", 10, {0}},
	{"cm_rping", 41, {CONNECTION}},
	{"cm_announce", 83, {CONNECTION, CONNECTION, CONNECTION, CONNECTION, CONNECTION}},
	{"cm_udaddy", 8, {ROCE_CM_SIDR_REQ, ROCE_CM_SIDR_REP}},
};
#define CAPTURES (sizeof(captures) / sizeof(captures[0]))

/* One packet of a capture, taken apart as far as it goes. */
struct seen {
	struct roce_flow flow;
	uint16_t ident;
	const uint8_t *bytes; /* BTH .. ICRC */
	size_t len;
	struct roce_packet pkt;
	bool is_cm;
	struct roce_cm_msg cm;
};

static void path_of(const char *name, const char *suffix, char *path, size_t cap)
{
	const char *srcdir = getenv("UHCA_SRCDIR");

	if (!srcdir)
		fail_msg("UHCA_SRCDIR is not set");
	snprintf(path, cap, "%s/tests/golden/captures/%s%s", srcdir, name, suffix);
}

static void check_headers(const uint8_t *ip, size_t len, struct seen *s)
{
	uint8_t again[48];
	size_t payload;
	const size_t n = roce_udpip_parse(ip, len, &s->flow, &s->ident, &payload);

	assert_int_not_equal(n, 0);
	assert_int_equal(n + payload, len);
	assert_int_equal(s->flow.dport, ROCE_UDP_PORT);
	assert_int_equal(roce_udpip_emit(&s->flow, s->ident, payload, again), n);
	assert_memory_equal(again, ip, n);
	s->bytes = ip + n;
	s->len = payload;
}

static void check_icrc(const struct seen *s)
{
	uint8_t stored[ROCE_ICRC_LENGTH];
	uint16_t solved;

	assert_true(roce_icrc_check(&s->flow, s->ident, s->bytes, s->len));
	assert_true(roce_icrc_solve_ident(&s->flow, s->bytes, s->len, &solved));
	assert_int_equal(solved, s->ident);
	roce_icrc_store(
		roce_icrc_begin(&s->flow, s->ident, s->len, s->bytes, s->len - ROCE_ICRC_LENGTH),
		stored);
	assert_memory_equal(stored, s->bytes + s->len - ROCE_ICRC_LENGTH, ROCE_ICRC_LENGTH);
}

static void check_packet(struct seen *s)
{
	const size_t len = s->len - ROCE_ICRC_LENGTH;
	uint8_t again[ROCE_MAX_PACKET_LENGTH];

	assert_int_equal(roce_packet_parse(s->bytes, len, &s->pkt), ROCE_PARSE_OK);
	assert_int_equal(roce_packet_emit(&s->pkt, again, sizeof(again)), len);
	assert_memory_equal(again, s->bytes, len);
}

static void check_cm(struct seen *s)
{
	uint8_t again[ROCE_MAD_LENGTH];

	s->is_cm = s->pkt.bth.dest_qp == ROCE_GSI_QPN;
	if (!s->is_cm)
		return;
	assert_int_equal(s->pkt.deth.qkey, ROCE_GSI_QKEY);
	assert_int_equal(s->pkt.payload_len, ROCE_MAD_LENGTH);
	assert_true(roce_cm_parse(s->pkt.payload, &s->cm));
	assert_true(roce_cm_emit(&s->cm, again));
	assert_memory_equal(again, s->pkt.payload, ROCE_MAD_LENGTH);
}

/* Length of the line; the packet's number is left to the line's place in the file. */
static size_t print_line(const struct seen *s, char *line, size_t cap)
{
	size_t n = print_flow(&s->flow, line, cap);

	line[n++] = ' ';
	n += roce_print_packet(&s->pkt, line + n, cap - n);
	if (s->is_cm) {
		line[n++] = ' ';
		n += print_cm(&s->cm, line + n, cap - n);
	}
	assert_true(n + 1 < cap);
	line[n++] = '\n';
	line[n] = '\0';
	return n;
}

/* Calls each for every packet of the capture and returns how many there were. */
static unsigned walk(const char *name, void (*each)(struct seen *s, void *ctx), void *ctx)
{
	char path[512];
	struct pcap pcap;
	const uint8_t *ip;
	unsigned count = 0;
	size_t len;

	path_of(name, ".pcap", path, sizeof(path));
	assert_int_equal(pcap_open(path, &pcap), 0);
	while (pcap_next(&pcap, &ip, &len)) {
		struct seen s;

		count++;
		memset(&s, 0, sizeof(s));
		check_headers(ip, len, &s);
		check_icrc(&s);
		check_packet(&s);
		check_cm(&s);
		each(&s, ctx);
	}
	assert_false(pcap.error);
	pcap_close(&pcap);
	return count;
}

static void nothing(struct seen *s, void *ctx)
{
	(void)s;
	(void)ctx;
}

static void test_every_packet(void **state)
{
	(void)state;
	for (size_t i = 0; i < CAPTURES; i++)
		assert_int_equal(walk(captures[i].name, nothing, NULL), captures[i].packets);
}

static void compare_line(struct seen *s, void *ctx)
{
	char line[3 * ROCE_PRINT_LENGTH];
	char expected[3 * ROCE_PRINT_LENGTH];

	print_line(s, line, sizeof(line));
	assert_non_null(fgets(expected, sizeof(expected), ctx));
	assert_string_equal(line, expected);
}

static void write_line(struct seen *s, void *ctx)
{
	char line[3 * ROCE_PRINT_LENGTH];

	print_line(s, line, sizeof(line));
	assert_true(fputs(line, ctx) >= 0);
}

static void test_text(void **state)
{
	const bool update = getenv("UHCA_GOLDEN_UPDATE") != NULL;

	(void)state;
	for (size_t i = 0; i < CAPTURES; i++) {
		char path[512];

		path_of(captures[i].name, ".txt", path, sizeof(path));
		FILE *f = fopen(path, update ? "w" : "r");

		assert_non_null(f);
		walk(captures[i].name, update ? write_line : compare_line, f);
		if (!update)
			assert_int_equal(fgetc(f), EOF);
		assert_int_equal(fclose(f), 0);
	}
}

struct sequence {
	const enum roce_cm_attr *expected;
	unsigned at;
};

static void next_in_sequence(struct seen *s, void *ctx)
{
	struct sequence *seq = ctx;

	if (s->is_cm)
		assert_int_equal(s->cm.attr, seq->expected[seq->at++]);
}

static void test_cm_sequences(void **state)
{
	(void)state;
	for (size_t i = 0; i < CAPTURES; i++) {
		struct sequence seq = {.expected = captures[i].cm, .at = 0};

		walk(captures[i].name, next_in_sequence, &seq);
		assert_int_equal(seq.expected[seq.at], 0);
	}
}

/* The messages of cm_rping fit together, and the REQ has the values that tshark shows. */
static void check_rping(struct seen *s, void *ctx)
{
	struct roce_cm_req *req = ctx;
	struct roce_cma_hdr hdr;

	if (!s->is_cm)
		return;
	if (s->cm.attr == ROCE_CM_REQ) {
		*req = s->cm.req;
		assert_true(req->service_id == 0x0000000001061c06 /* TCP 7174 (A11) */);
		assert_int_equal(req->local_qpn, 0x19);
		assert_int_equal(req->starting_psn, 0x0e1505);
		assert_int_equal(req->remote_cm_response_timeout, 20);
		assert_int_equal(req->retry_count, 7);
		assert_int_equal(req->path_mtu, 3);
		assert_int_equal(req->max_cm_retries, 15);
		/* Bytes 1c e4 30 00; tshark 4.0 shows them as label 0x1ce and rate 28. */
		assert_int_equal(req->primary.flow_label, 0x1ce43);
		assert_int_equal(req->primary.packet_rate, 0);
		assert_int_equal(req->primary.hop_limit, 64);
		assert_int_equal(req->primary.local_ack_timeout, 19);
		assert_memory_equal(req->primary.local_gid, s->flow.src, 16);
		assert_memory_equal(req->primary.remote_gid, s->flow.dst, 16);
		assert_true(roce_cma_hdr_parse(req->private_data, &hdr));
		assert_int_equal(hdr.ip_version, 4);
		assert_int_equal(hdr.sport, 0x9223);
		assert_memory_equal(hdr.src, s->flow.src, 16);
		assert_memory_equal(hdr.dst, s->flow.dst, 16);
	} else if (s->cm.attr == ROCE_CM_REP) {
		assert_int_equal(s->cm.rep.remote_comm_id, req->local_comm_id);
	} else if (s->cm.attr == ROCE_CM_RTU) {
		assert_int_equal(s->cm.rtu.local_comm_id, req->local_comm_id);
	}
}

static void test_rping_values(void **state)
{
	struct roce_cm_req req = {0};

	(void)state;
	walk("cm_rping", check_rping, &req);
	assert_int_equal(req.local_qpn, 0x19);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_packet),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_cm_sequences),
		cmocka_unit_test(test_rping_values),
	};

	return cmocka_run_group_tests_name("captures", tests, NULL, NULL);
}
