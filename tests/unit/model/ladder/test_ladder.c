/* SPDX-License-Identifier: BSD-2-Clause */
/* Ladders in letters and as SVG: what they say, that they keep to their width, whatever comes. */
#include "emu/model/ladder/ladder.h"
#include "emu/model/ladder/ladder_svg.h"
#include "emu/model/ladder/ladder_text.h"
#include "tests/support/model/capture_samples.h"
#include "tests/support/model/model_file.h"
#include "tests/support/model/model_golden.h"
#include "tests/support/wire/cmocka_all.h"
#include "tests/support/wire/prng.h"
#include "wire/opcode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A ladder in letters; the caller frees it. */
static char *print(const struct model *s, const struct ladder_options *options,
		   const struct ladder_style *style)
{
	struct ladder_options o = *options;
	struct ladder l;
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	if (o.lanes == 0)
		o.lanes = ladder_lanes_for(style->width);
	assert_int_equal(ladder_make(&l, s, &o), 0);
	ladder_print_head(f, &l, style);
	ladder_print_rows(f, &l, style, 0, l.n_rows);
	ladder_print_foot(f, &l);
	ladder_free(&l);
	assert_int_equal(fclose(f), 0);
	return text;
}

static char *print_svg(const struct model *s)
{
	const struct ladder_options o = {.lanes = 0};
	struct ladder l;
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	assert_int_equal(ladder_make(&l, s, &o), 0);
	ladder_print_svg(f, &l, NULL);
	ladder_free(&l);
	assert_int_equal(fclose(f), 0);
	return text;
}

static void test_golden(void **state)
{
	static const char *const name[SAMPLES] = {
		[SAMPLE_LOST_ACK] = "ladder_lost_ack",
		[SAMPLE_RNR] = "ladder_rnr",
		[SAMPLE_RNR_EXCEEDED] = "ladder_rnr_exceeded",
		[SAMPLE_LOST_RESPONSE] = "ladder_lost_response",
		[SAMPLE_ATOMIC_COPY] = "ladder_atomic_copy",
		[SAMPLE_REMOTE_ACCESS] = "ladder_remote_access",
		[SAMPLE_RETRY_EXCEEDED] = "ladder_retry_exceeded",
		[SAMPLE_OVERTAKEN] = "ladder_overtaken",
		[SAMPLE_LONG] = "ladder_long",
		[SAMPLE_ONE_WR] = "ladder_one_wr",
	};
	const struct ladder_options o = {.lanes = 0};

	(void)state;
	for (unsigned i = 0; i < SAMPLES; i++) {
		struct ladder_style style = {.width = 110, .utf8 = i % 2 == 0};
		struct model s;
		char *text;

		capture_sample(&s, (enum sample)i);
		text = print(&s, &o, &style);
		model_golden(name[i], text);
		free(text);
		model_free(&s);
	}
}

/* Columns of a line: bytes that do not continue a letter. */
static size_t columns(const char *line, size_t bytes)
{
	size_t n = 0;

	for (size_t i = 0; i < bytes; i++)
		n += ((unsigned char)line[i] & 0xc0) != 0x80;
	return n;
}

static void test_widths(void **state)
{
	static const unsigned width[] = {LADDER_WIDTH_MIN, 61, 80, 99, 132, 200, LADDER_WIDTH_MAX};
	const struct ladder_options o = {.lanes = 0};

	(void)state;
	for (unsigned t = 0; t < SAMPLES; t++) {
		struct model s;

		capture_sample(&s, (enum sample)t);
		for (size_t i = 0; i < sizeof(width) / sizeof(width[0]); i++) {
			struct ladder_style style = {.width = width[i], .utf8 = t % 2};
			char *text = print(&s, &o, &style);

			for (char *line = text; *line; line += strcspn(line, "\n") + 1)
				assert_in_range(columns(line, strcspn(line, "\n")), 0, width[i]);
			free(text);
		}
		model_free(&s);
	}
}

/* In ASCII nothing else is printed, and colours only where asked for. */
static void test_ascii(void **state)
{
	const struct ladder_options o = {.lanes = 0};
	struct ladder_style style = {.width = 100};
	struct model s;
	char *text;

	(void)state;
	capture_sample(&s, SAMPLE_LOST_ACK);
	text = print(&s, &o, &style);
	for (const char *p = text; *p; p++)
		assert_true(*p == '\n' || (*p >= ' ' && *p <= '~'));
	free(text);
	style.colours = true;
	text = print(&s, &o, &style);
	assert_non_null(strstr(text, "\x1b[1;31m"));
	free(text);
	model_free(&s);
}

static unsigned rows_with(const struct model *s, const struct ladder_options *o)
{
	struct ladder l;
	unsigned n;

	assert_int_equal(ladder_make(&l, s, o), 0);
	n = l.n_rows;
	ladder_free(&l);
	return n;
}

static void test_choices(void **state)
{
	struct model s;

	(void)state;
	capture_sample(&s, SAMPLE_LONG);
	assert_int_equal(rows_with(&s, &(struct ladder_options){.all = false}), 6);
	assert_int_equal(rows_with(&s, &(struct ladder_options){.all = true}), 42);
	assert_int_equal(rows_with(&s, &(struct ladder_options){.has_qp = true, .qp = 0x12}), 6);
	assert_int_equal(rows_with(&s, &(struct ladder_options){.has_qp = true, .qp = 0x13}), 0);
	assert_int_equal(rows_with(&s, &(struct ladder_options){.from = 50000}), 2);
	assert_int_equal(rows_with(&s, &(struct ladder_options){.to = 1}), 1);
	model_free(&s);
}

/* More QPs than there is room for; lanes of before keep their places. */
static void test_lanes(void **state)
{
	const struct ladder_options narrow = {.lanes = 4};
	struct ladder_options o = narrow;
	struct model_file f;
	struct ladder l, next;
	struct model s;
	uint8_t *bytes;
	size_t size;

	(void)state;
	model_file_begin(&f, false);
	for (unsigned i = 0; i < 50; i++)
		model_file_say(&f, &(struct model_said){.us = i,
							.opcode = ROCE_UD_SEND_ONLY,
							.length = 4,
							.qp = {100 + i, 200 + i}});
	bytes = model_file_take(&f, &size);
	assert_int_equal(model_parse(&s, bytes, size), 0);
	assert_int_equal(ladder_make(&l, &s, &narrow), 0);
	assert_int_equal(l.n_lanes, 4);
	assert_int_equal(l.hidden, 96);
	assert_int_equal(l.n_rows, 2);
	o.before = l.lane;
	o.n_before = l.n_lanes;
	o.from = 40000;
	assert_int_equal(ladder_make(&next, &s, &o), 0);
	assert_int_equal(next.n_lanes, 4);
	assert_int_equal(next.lane[0].number, l.lane[0].number);
	ladder_free(&l);
	ladder_free(&next);
	model_free(&s);
}

/*
 * What a label loses when an arrow is short: its explanation, then its details, never half of one.
 */
static void test_short_labels(void **state)
{
	static const struct {
		unsigned width;
		const char *is, *is_not;
	} cases[] = {
		{200, "reason 28: the program says no", "zzz"},
		{110, " CM REJ, reason 28 ", "reason 28:"},
		{92, " CM REJ ", "reason"},
	};
	struct model_arrow arrow = {.fate = MODEL_ARRIVED};
	const struct model s = {.arrow = &arrow, .n_arrows = 1};
	struct ladder_row row = {.kind = LADDER_ARROW,
				 .record = MODEL_NONE,
				 .other = MODEL_NONE,
				 .to = 1,
				 .count = 1,
				 .label = "CM REJ, reason 28: the program says no"};
	struct ladder l = {.model = &s, .row = &row, .n_rows = 1, .n_lanes = 3};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct ladder_style style = {.width = cases[i].width};
		char *text = NULL;
		size_t size;
		FILE *f = open_memstream(&text, &size);

		assert_non_null(f);
		ladder_print_rows(f, &l, &style, 0, 1);
		assert_int_equal(fclose(f), 0);
		if (!strstr(text, cases[i].is) || strstr(text, cases[i].is_not))
			fail_msg("width %u: %s", cases[i].width, text);
		free(text);
	}
}

/* Of more QPs than there are lanes the busiest are drawn, and the head says so. */
static void test_busiest(void **state)
{
	const struct ladder_options narrow = {.lanes = 2};
	const struct ladder_style style = {.width = 100};
	struct model_file f;
	struct ladder l;
	struct model s;
	uint8_t *bytes;
	size_t size;
	char *text;

	(void)state;
	model_file_begin(&f, false);
	for (unsigned i = 0; i < 9; i++)
		model_file_say(&f, &(struct model_said){
					   .us = i,
					   .opcode = ROCE_UD_SEND_ONLY,
					   .length = 4,
					   .psn = i,
					   .qp = {i < 5 ? 100 + i : 150, i < 5 ? 200 + i : 250}});
	bytes = model_file_take(&f, &size);
	assert_int_equal(model_parse(&s, bytes, size), 0);
	assert_int_equal(ladder_make(&l, &s, &narrow), 0);
	assert_int_equal(l.n_lanes, 2);
	assert_true(l.lane[0].number == 150 || l.lane[0].number == 250);
	assert_true(l.lane[1].number == 150 || l.lane[1].number == 250);
	assert_int_equal(l.hidden, 10);
	ladder_free(&l);
	text = print(&s, &narrow, &style);
	assert_non_null(
		strstr(text, "The 2 QPs with the most packets are drawn; 10 more have no room"));
	assert_true(strstr(text, "The 2 QPs") < strstr(text, "QP 0x"));
	free(text);
	model_free(&s);
}

/* A mark that the network made; a CNP, without its PSN, which says nothing. */
static void test_notification(void **state)
{
	const struct ladder_style style = {.width = 160};
	struct model_file f;
	struct model s;
	uint8_t *bytes;
	size_t size;
	char *text;

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
	text = print(&s, &(struct ladder_options){0}, &style);
	assert_non_null(strstr(text, "SEND_ONLY CE psn 9"));
	assert_non_null(strstr(text, "CNP"));
	assert_null(strstr(text, "notif")); /* there is no room for its explanation */
	assert_null(strstr(text, "psn 0"));
	free(text);
	model_free(&s);
}

/* A picture that a reader of XML takes: no bare &, each tag closed; foreign words are no tags. */
static void test_svg(void **state)
{
	(void)state;
	for (unsigned i = 0; i < SAMPLES; i++) {
		struct model s;
		char *text;
		int depth = 0;

		capture_sample(&s, (enum sample)i);
		snprintf(s.host[0].name, sizeof(s.host[0].name), "<b>&");
		text = print_svg(&s);
		assert_null(strstr(text, "<b>"));
		assert_non_null(strstr(text, "&#60;b&#62;&#38;"));
		for (const char *p = text; *p; p++) {
			if (*p == '<' && p[1] != '!')
				depth += p[1] == '/' ? -1 : 1;
			if (*p == '/' && p[1] == '>')
				depth--;
			assert_true(*p != '&' || p[1] == '#');
		}
		assert_int_equal(depth, 0);
		free(text);
		model_free(&s);
	}
}

/* Whatever bytes turn over in a capture, a ladder comes of what is left. */
static void test_garbage(void **state)
{
	const struct ladder_options o = {.lanes = 0};
	const struct ladder_style style = {.width = 90};
	struct prng random = prng_start("ladder");

	(void)state;
	for (unsigned round = 0; round < 300; round++) {
		struct model s;
		size_t size;
		uint8_t *bytes = capture_sample_bytes((enum sample)(round % SAMPLES), &size);

		for (unsigned i = 0; i < 8; i++)
			bytes[prng_below(&random, (uint32_t)size)] =
				(uint8_t)prng_below(&random, 256);
		if (model_parse(&s, bytes, size) == 0) {
			free(print(&s, &o, &style));
			free(print_svg(&s));
		}
		model_free(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden),       cmocka_unit_test(test_widths),
		cmocka_unit_test(test_short_labels), cmocka_unit_test(test_ascii),
		cmocka_unit_test(test_choices),      cmocka_unit_test(test_lanes),
		cmocka_unit_test(test_busiest),      cmocka_unit_test(test_svg),
		cmocka_unit_test(test_garbage),      cmocka_unit_test(test_notification),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
