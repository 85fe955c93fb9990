/* SPDX-License-Identifier: BSD-2-Clause */
/* What happened to requests, told: texts that were looked at, and which completions are told. */
#include "emu/model/ladder/explain.h"
#include "tests/support/model/capture_samples.h"
#include "tests/support/model/model_file.h"
#include "tests/support/model/model_golden.h"
#include "tests/support/wire/cmocka_all.h"
#include "wire/opcode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *explain(enum sample which, const struct explain_options *o, unsigned told)
{
	struct model s;
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	capture_sample(&s, which);
	assert_int_equal(model_explain(f, &s, o), told);
	model_free(&s);
	assert_int_equal(fclose(f), 0);
	return text;
}

static void test_golden(void **state)
{
	static const struct {
		enum sample capture;
		const char *name;
		unsigned told;
	} one[] = {
		{SAMPLE_LOST_ACK, "explain_lost_ack", 0},
		{SAMPLE_RNR_EXCEEDED, "explain_rnr_exceeded", 1},
		{SAMPLE_REMOTE_ACCESS, "explain_remote_access", 1},
		{SAMPLE_RETRY_EXCEEDED, "explain_retry_exceeded", 1},
		{SAMPLE_LONG, "explain_nothing", 0},
	};
	const struct explain_options all = {.has_wr = false};

	(void)state;
	for (size_t i = 0; i < sizeof(one) / sizeof(one[0]); i++) {
		char *text = explain(one[i].capture, &all, one[i].told);

		for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
			assert_in_range(strcspn(line, "\n"), 0, 100);
		model_golden(one[i].name, text);
		free(text);
	}
}

static void has(enum sample which, const struct explain_options *o, unsigned told,
		const char *words)
{
	char *text = explain(which, o, told);

	if (!strstr(text, words))
		fail_msg("'%s' is not in:\n%s", words, text);
	free(text);
}

static void test_choices(void **state)
{
	(void)state;
	has(SAMPLE_LOST_ACK, &(struct explain_options){.has_wr = true, .wr = 0x2a}, 1,
	    "4 packets were sent, 2 of them again");
	has(SAMPLE_LOST_ACK, &(struct explain_options){.has_wr = true, .wr = 0x2b}, 0,
	    "No completion of wr 0x2b");
	has(SAMPLE_RNR_EXCEEDED, &(struct explain_options){.has_wr = true, .wr = 9}, 1,
	    "SEND wr 0x7 of this QP had failed with RNR_RETRY_EXC_ERR");
	has(SAMPLE_RNR_EXCEEDED, &(struct explain_options){.has_qp = true, .qp = 0x12}, 1,
	    "RNR_RETRY_EXC_ERR (13)");
	has(SAMPLE_RNR_EXCEEDED, &(struct explain_options){.has_qp = true, .qp = 0x99}, 0,
	    "No completion of QP 0x99 is in this capture.");
	has(SAMPLE_ONE_WR, &(struct explain_options){.has_wr = false}, 1,
	    "SEND of 64 bytes, psn 5,");
	has(SAMPLE_ATOMIC_COPY, &(struct explain_options){.has_wr = true, .wr = 3}, 1,
	    "Rule 4 (dup opcode=fetch_add) lost,");
}

static void test_congestion(void **state)
{
	struct model_file f;
	struct model s;
	uint8_t *bytes;
	size_t size, length;
	char *text;
	FILE *out = open_memstream(&text, &length);

	(void)state;
	model_file_begin(&f, false);
	model_file_say(&f, &(struct model_said){.us = 1,
						.opcode = ROCE_RC_SEND_ONLY,
						.length = 4,
						.psn = 9,
						.marked = true});
	model_file_say(&f,
		       &(struct model_said){.us = 5, .from = 1, .opcode = ROCE_CNP, .length = 16});
	bytes = model_file_take(&f, &size);
	assert_int_equal(model_parse(&s, bytes, size), 0);
	model_explain(out, &s, &(struct explain_options){0});
	fclose(out);
	assert_non_null(strstr(text, "\n1 packet marked (CE), 1 congestion notification (CNP).\n"));
	free(text);
	model_free(&s);
}

/* A full queue is flushed: each of its requests is told apart from the cause in one look. */
static void test_many_flushed(void **state)
{
	enum { FLUSHED = 100000 };
	struct model_file f;
	struct model s;
	uint8_t *bytes;
	size_t size, length;
	char *text, words[96];
	FILE *out = open_memstream(&text, &length);

	(void)state;
	model_file_begin(&f, false);
	for (unsigned i = 0; i < FLUSHED; i++) {
		snprintf(
			words, sizeof(words),
			"completion dev=uhca0 qp=0x11 cq=1 opcode=SEND wr=0x%x status=WR_FLUSH_ERR",
			i + 2);
		model_file_record(&f, 1 + i, words);
	}
	model_file_record(&f, FLUSHED + 1,
			  "completion dev=uhca0 qp=0x11 cq=1 opcode=SEND wr=0x1 "
			  "status=RETRY_EXC_ERR");
	bytes = model_file_take(&f, &size);
	assert_int_equal(model_parse(&s, bytes, size), 0);
	alarm(60); /* each anew among all would take some minutes */
	assert_int_equal(model_explain(out, &s, &(struct explain_options){0}), 1);
	alarm(0);
	fclose(out);
	assert_non_null(strstr(text, "\n100000 more requests were flushed"));
	free(text);
	model_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden),
		cmocka_unit_test(test_choices),
		cmocka_unit_test(test_congestion),
		cmocka_unit_test(test_many_flushed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
