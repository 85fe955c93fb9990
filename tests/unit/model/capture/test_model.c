/* SPDX-License-Identifier: BSD-2-Clause */
/* A capture put together: ends, arrows, messages, completions. */
#include "emu/model/capture/model.h"
#include "tests/support/model/model_file.h"
#include "tests/support/wire/cmocka_all.h"
#include "wire/opcode.h"
#include "wire/syndrome.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void open_model(struct model *s, struct model_file *f)
{
	size_t size;
	uint8_t *bytes = model_file_take(f, &size);

	assert_int_equal(model_parse(s, bytes, size), 0);
	assert_string_equal(s->error, "");
}

/* A WRITE of two packets, its ACK lost, sent again, acknowledged, completed. */
static void record_lost_ack(struct model_file *f)
{
	model_file_say(f,
		       &(struct model_said){10, 0, ROCE_RC_WRITE_FIRST, 100, 1024,
					    .comment = "wr=0x2a qp=0x11 op=RDMA_WRITE part=1/2"});
	model_file_say(f,
		       &(struct model_said){11, 0, ROCE_RC_WRITE_LAST, 101, 500,
					    .comment = "wr=0x2a qp=0x11 op=RDMA_WRITE part=2/2"});
	model_file_say(f, &(struct model_said){
				  15, 1, ROCE_RC_ACKNOWLEDGE, 101, .syndrome = 0x1f, .msn = 1,
				  .seen = SEEN_OUT,
				  .comment = "qp=0x12 rule=1 fault=\"drop opcode=rc.ack nth=1\" "
					     "dropped=\"rule\""});
	model_file_record(f, 500, "retry dev=uhca0 qp=0x11 psn=100 why=timeout left=6");
	model_file_say(
		f, &(struct model_said){501, 0, ROCE_RC_WRITE_FIRST, 100, 1024,
					.comment = "wr=0x2a qp=0x11 op=RDMA_WRITE part=1/2 try=1"});
	model_file_say(
		f, &(struct model_said){502, 0, ROCE_RC_WRITE_LAST, 101, 500,
					.comment = "wr=0x2a qp=0x11 op=RDMA_WRITE part=2/2 try=1"});
	model_file_say(f, &(struct model_said){510, 1, ROCE_RC_ACKNOWLEDGE, 101, .syndrome = 0x1f,
					       .msn = 1, .comment = "qp=0x12"});
	model_file_record(f, 512,
			  "completion dev=uhca0 qp=0x11 cq=0x1 wr=0x2a status=SUCCESS "
			  "opcode=RDMA_WRITE length=1524 vendor=0");
}

static void test_lost_ack(void **state)
{
	struct model_file f;
	struct model s;
	const char *text;
	char name[64];

	(void)state;
	for (unsigned swapped = 0; swapped < 2; swapped++) {
		model_file_begin(&f, swapped);
		record_lost_ack(&f);
		open_model(&s, &f);
		assert_int_equal(s.n_qps, 2);
		assert_int_equal(s.n_arrows, 6);
		assert_int_equal(s.n_messages, 1);
		assert_string_equal(model_qp_name(&s, s.arrow[0].from, name, sizeof(name)),
				    "uhca0 QP 0x11");
		assert_int_equal(s.qp[s.arrow[0].from].peer, s.arrow[0].to);
		assert_int_equal(s.arrow[0].fate, MODEL_ARRIVED);
		assert_int_equal(s.arrow[0].arrived - s.arrow[0].sent, 1000);
		assert_int_equal(s.arrow[2].fate, MODEL_DROPPED);
		assert_string_equal(model_arrow_dropped(&s, &s.arrow[2]), "rule");
		assert_int_equal(model_arrow_rule(&s, &s.arrow[2], &text), 1);
		assert_string_equal(text, "drop opcode=rc.ack nth=1");
		assert_int_equal(s.arrow[3].tries, 1);
		assert_int_equal(s.arrow[5].message, 0);
		assert_int_equal(s.message[0].psns, 2);
		assert_int_equal(s.message[0].bytes, 1524);
		assert_int_equal(s.message[0].tries, 1);
		assert_int_equal(s.message[0].answered, MODEL_FILE_BEGAN + 510000);
		assert_int_equal(s.message[0].completion, 1);
		assert_int_equal(s.record[1].message, 0);
		assert_int_equal(s.record[0].kind, MODEL_RETRY);
		assert_int_equal(model_number(&s.record[0], "left"), 6);
		model_free(&s);
	}
}

/* The first of two packets that look alike is lost where nobody sees it: the wire's fault. */
static void test_missing(void **state)
{
	struct model_file f;
	struct model s;

	(void)state;
	model_file_begin(&f, false);
	model_file_say(&f, &(struct model_said){1, 0, ROCE_RC_SEND_ONLY, 7, 8, .seen = SEEN_OUT});
	model_file_say(&f, &(struct model_said){9, 0, ROCE_RC_SEND_ONLY, .psn = 8, .length = 8});
	model_file_say(&f, &(struct model_said){12, 1, ROCE_RC_ACKNOWLEDGE, 6,
						.syndrome = roce_syndrome(ROCE_NAK, 0)});
	open_model(&s, &f);
	assert_int_equal(s.arrow[0].fate, MODEL_MISSING);
	assert_int_equal(s.arrow[1].fate, MODEL_ARRIVED);
	assert_int_equal(s.arrow[2].fate, MODEL_ARRIVED);
	model_free(&s);
}

/* Made twice by the network: one sent, two arrived. One that the receiver did not want. */
static void test_copy_and_refused(void **state)
{
	struct model_file f;
	struct model s;

	(void)state;
	model_file_begin(&f, false);
	model_file_say(&f, &(struct model_said){1, 0, ROCE_RC_FETCH_ADD, .psn = 7});
	model_file_say(&f, &(struct model_said){3, 0, ROCE_RC_FETCH_ADD, 7, .seen = SEEN_IN});
	model_file_say(&f, &(struct model_said){5, 0, ROCE_RC_SEND_ONLY, 8, 4,
						.in_comment = "dropped=bad_icrc"});
	open_model(&s, &f);
	assert_int_equal(s.n_arrows, 3);
	assert_false(s.arrow[0].copy);
	assert_true(s.arrow[1].copy);
	assert_int_equal(s.arrow[1].message, s.arrow[0].message);
	assert_int_equal(s.arrow[2].fate, MODEL_REFUSED);
	assert_string_equal(model_arrow_dropped(&s, &s.arrow[2]), "bad_icrc");
	model_free(&s);
}

/* What a rule took away at the receiver's port is lost, and did not arrive. */
static void test_dropped_at_the_port(void **state)
{
	struct model_file f;
	struct model s;

	(void)state;
	model_file_begin(&f, false);
	model_file_say(&f, &(struct model_said){1, 0, ROCE_RC_SEND_ONLY, 8, 4,
						.in_comment = "rule=1 fault=drop dropped=rule"});
	model_file_say(&f, &(struct model_said){5, 0, ROCE_RC_SEND_ONLY, 9, 4,
						.in_comment = "dropped=step"});
	open_model(&s, &f);
	assert_int_equal(s.n_arrows, 2);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(s.arrow[i].fate, MODEL_DROPPED);
		assert_int_equal(s.arrow[i].arrived, 0);
		assert_int_not_equal(s.arrow[i].in, MODEL_NONE);
	}
	model_free(&s);
}

/* A READ of two packets whose first is lost: the second tells it. */
static void test_implied_nak(void **state)
{
	struct model_file f;
	struct model s;

	(void)state;
	model_file_begin(&f, false);
	model_file_say(&f, &(struct model_said){1, 0, ROCE_RC_READ_REQUEST, 7, 2000,
						.comment = "wr=1 qp=0x11 op=RDMA_READ"});
	model_file_say(&f, &(struct model_said){3, 1, ROCE_RC_READ_RESPONSE_FIRST, 7, 1024,
						.syndrome = 0x1f, .seen = SEEN_OUT,
						.comment = "dropped=\"rule\" rule=2"});
	model_file_say(&f, &(struct model_said){4, 1, ROCE_RC_READ_RESPONSE_LAST, 8, 976,
						.syndrome = 0x1f});
	model_file_say(&f, &(struct model_said){9, 0, ROCE_RC_READ_REQUEST, 7, 2000,
						.comment = "wr=1 qp=0x11 op=RDMA_READ try=1"});
	model_file_say(&f, &(struct model_said){10, 1, ROCE_RC_READ_RESPONSE_FIRST, 7, 1024,
						.syndrome = 0x1f});
	model_file_say(&f, &(struct model_said){11, 1, ROCE_RC_READ_RESPONSE_LAST, 8, 976,
						.syndrome = 0x1f});
	open_model(&s, &f);
	assert_int_equal(s.n_messages, 1);
	assert_false(s.arrow[1].implied_nak);
	assert_true(s.arrow[2].implied_nak);
	assert_false(s.arrow[4].implied_nak);
	assert_false(s.arrow[5].implied_nak);
	assert_int_equal(s.message[0].answered, MODEL_FILE_BEGAN + 11000);
	model_free(&s);
}

/* An ACK of a later request while a READ is open. */
static void test_implied_nak_by_ack(void **state)
{
	struct model_file f;
	struct model s;

	(void)state;
	model_file_begin(&f, false);
	model_file_say(&f, &(struct model_said){1, 0, ROCE_RC_READ_REQUEST, 7, 100,
						.comment = "wr=1 qp=0x11"});
	model_file_say(&f, &(struct model_said){2, 0, ROCE_RC_SEND_ONLY, 8, 10,
						.comment = "wr=2 qp=0x11"});
	model_file_say(&f, &(struct model_said){4, 1, ROCE_RC_ACKNOWLEDGE, 8, .syndrome = 0x1f});
	open_model(&s, &f);
	assert_int_equal(s.n_messages, 2);
	assert_true(s.arrow[2].implied_nak);
	assert_int_equal(s.message[0].answered, 0);
	model_free(&s);
}

/* States at a time, and texts that nobody may send to a terminal. */
static void test_records(void **state)
{
	struct model_file f;
	struct model s;

	(void)state;
	model_file_begin(&f, false);
	model_file_record(&f, 1, "state dev=uhca0 qp=0x11 from=INIT to=RTR");
	model_file_record(&f, 2, "state dev=uhca0 qp=0x11 from=RTR to=RTS");
	model_file_record(&f, 3, "note dev=uhca1 text=\"a \\\"b\\\" \x1b[2J\" odd =x");
	model_file_record(&f, 4, "");
	open_model(&s, &f);
	assert_int_equal(s.n_records, 3);
	assert_int_equal(s.record[1].kind, MODEL_STATE);
	assert_string_equal(model_word(&s.record[1], "to"), "RTS");
	assert_string_equal(model_word(&s.record[2], "text"), "a \"b\" ?[2J");
	assert_null(model_word(&s.record[2], "odd"));
	assert_int_equal(s.record[2].qp, MODEL_NONE);
	model_free(&s);
}

/* The first record of a flight recorder: bytes that it has lost, packets that it had. */
static void test_forgotten(void **state)
{
	static const struct {
		const char *record;
		bool forgotten;
	} one[] = {
		{"recorder packets=1 lost=0", false},
		{"recorder packets=1 lost=4096", true},
		{"recorder packets=2 lost=0", true},
		{"note dev=uhca0 lost=1", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(one) / sizeof(one[0]); i++) {
		struct model_file f;
		struct model s = {0};

		model_file_begin(&f, false);
		model_file_record(&f, 1, one[i].record);
		model_file_say(
			&f, &(struct model_said){2, 0, ROCE_RC_SEND_ONLY, 7, 8, .seen = SEEN_OUT});
		open_model(&s, &f);
		assert_int_equal(model_has_forgotten(&s), one[i].forgotten);
		model_free(&s);
	}
}

/* What Linux said: no comments, no directions, one interface without a name. */
static void test_golden(void **state)
{
	static const struct {
		const char *name;
		unsigned ends;
	} file[] = {{"rc_send", 2},        {"rc_write", 2},    {"rc_read", 2},
		    {"rc_atomic_fadd", 2}, {"rc_read_64k", 2}, {"rc_send_v6", 2},
		    {"rc_write_64k", 2}};
	const char *srcdir = getenv("UHCA_SRCDIR");
	struct model s;
	char path[512];

	(void)state;
	if (!srcdir)
		fail_msg("UHCA_SRCDIR is not set");
	for (size_t i = 0; i < sizeof(file) / sizeof(file[0]); i++) {
		snprintf(path, sizeof(path), "%s/tests/golden/captures/%s.pcap", srcdir,
			 file[i].name);
		assert_int_equal(model_read(&s, path), 0);
		assert_string_equal(s.error, "");
		assert_true(s.n_arrows > 2);
		for (uint32_t k = 0; k < s.n_arrows; k++) {
			assert_int_equal(s.arrow[k].fate, MODEL_SEEN);
			assert_int_not_equal(s.arrow[k].message, MODEL_NONE);
			assert_int_equal(s.arrow[k].tries, 0);
			assert_false(s.arrow[k].implied_nak);
		}
		for (uint32_t k = 0; k < s.n_qps; k++)
			assert_int_not_equal(s.qp[k].number, MODEL_NONE);
		assert_int_equal(s.n_qps, file[i].ends);
		model_free(&s);
	}
}

static void test_unreadable(void **state)
{
	struct model s;

	(void)state;
	assert_int_equal(model_read(&s, "/nonexistent/file"), -ENOENT);
	assert_string_equal(s.error, "No such file or directory");
	model_free(&s);
	assert_int_equal(model_read(&s, "/dev/null"), -EINVAL);
	assert_string_equal(s.error, "byte 0: the file is empty");
	model_free(&s);
	assert_int_equal(model_read(&s, "/"), -EISDIR);
	model_free(&s);
}

/* What stands before the break is there. */
static void test_broken_end(void **state)
{
	struct model_file f;
	struct model s;
	uint8_t *bytes;
	size_t size;

	(void)state;
	model_file_begin(&f, false);
	record_lost_ack(&f);
	bytes = model_file_take(&f, &size);
	assert_int_equal(model_parse(&s, bytes, size - 3), 0);
	assert_non_null(strstr(s.error, "the file ends within a block"));
	assert_int_equal(s.n_arrows, 6);
	assert_int_equal(s.n_records, 1);
	model_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lost_ack),         cmocka_unit_test(test_missing),
		cmocka_unit_test(test_copy_and_refused), cmocka_unit_test(test_dropped_at_the_port),
		cmocka_unit_test(test_implied_nak),      cmocka_unit_test(test_implied_nak_by_ack),
		cmocka_unit_test(test_records),          cmocka_unit_test(test_forgotten),
		cmocka_unit_test(test_golden),           cmocka_unit_test(test_unreadable),
		cmocka_unit_test(test_broken_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
