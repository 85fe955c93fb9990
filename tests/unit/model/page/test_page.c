/* SPDX-License-Identifier: BSD-2-Clause */
/* The page of a report: whole for any capture, and nothing in a capture becomes markup. */
#include "emu/model/ladder/markup.h"
#include "emu/model/page/page.h"
#include "tests/support/model/model_file.h"
#include "tests/support/wire/cmocka_all.h"
#include "wire/opcode.h"

#include <stdlib.h>
#include <string.h>

/* A rule whose name would end a script, an attribute and a tag. */
#define HOSTILE_AS_WORD                                                                            \
	"rule=1 fault=\"</script><img src=x onerror=alert(1)>'\\\" drop\" dropped=\"rule\""

static char *print_text(void (*print)(FILE *out, const char *text), const char *text)
{
	char *out = NULL;
	size_t size;
	FILE *f = open_memstream(&out, &size);

	assert_non_null(f);
	print(f, text);
	assert_int_equal(fclose(f), 0);
	return out;
}

static void expect_text(void (*print)(FILE *out, const char *text), const char *text,
			const char *want)
{
	char *got = print_text(print, text);

	assert_string_equal(got, want);
	free(got);
}

static void test_escaping(void **state)
{
	(void)state;
	expect_text(markup_text, "a<b>&\"c'", "a&#60;b&#62;&#38;&#34;c&#39;");
	expect_text(markup_text, "a\x01\xff z\n", "a?? z\n");
	expect_text(markup_text, NULL, "");
	expect_text(markup_json, "a</script>", "\"a\\u003c/script\\u003e\"");
	expect_text(markup_json, "\"\\'&\n\x80", "\"\\u0022\\u005c\\u0027\\u0026\\u000a\\u0080\"");
	expect_text(markup_json, NULL, "null");
}

static char *make_page(struct model *s, const char *name)
{
	char *page = NULL;
	size_t size;
	FILE *f = open_memstream(&page, &size);

	assert_non_null(f);
	assert_int_equal(model_page(f, s, name), 0);
	assert_int_equal(fclose(f), 0);
	return page;
}

/* The page of a file, cut to at most so many bytes. */
static char *page_of(struct model_file *f, size_t most)
{
	struct model s;
	size_t size;
	uint8_t *bytes = model_file_take(f, &size);
	char *page;

	assert_int_equal(model_parse(&s, bytes, size < most ? size : most), 0);
	page = make_page(&s, "run.pcapng");
	model_free(&s);
	return page;
}

static unsigned count(const char *page, const char *what)
{
	unsigned n = 0;

	while ((page = strstr(page, what)) != NULL) {
		n++;
		page += strlen(what);
	}
	return n;
}

/* Each part is there once, no line of the template is left, nothing outside is asked for. */
static void check_page(const char *page)
{
	assert_memory_equal(page, "<!DOCTYPE html>", 15);
	assert_int_equal(count(page, "</html>\n"), 1);
	assert_int_equal(count(page, "<script"), 4); /* three of data, and the page's own */
	assert_int_equal(count(page, "</script"), 4);
	assert_int_equal(count(page, "<style"), 2); /* the page's, the ladder's */
	assert_int_equal(count(page, "script-src 'sha256-"), 1);
	assert_int_equal(count(page, "innerHTML"), 0);
	assert_int_equal(count(page, "\n@"), count(page, "\n@media") + count(page, "\n@container"));
	assert_int_equal(count(page, "http://"), 0);
	assert_int_equal(count(page, "https://"), 0);
}

static void say_lost_ack(struct model_file *f, const char *comment)
{
	model_file_begin(f, false);
	model_file_say(f, &(struct model_said){10, 0, ROCE_RC_SEND_ONLY, 100, 64,
					       .comment = "wr=0x2a qp=0x11 op=SEND part=1/1"});
	model_file_say(f, &(struct model_said){15, 1, ROCE_RC_ACKNOWLEDGE, 100, .syndrome = 0x1f,
					       .msn = 1, .seen = SEEN_OUT, .comment = comment});
	model_file_record(f, 500,
			  "completion dev=uhca0 qp=0x11 cq=0x1 wr=0x2a status=RETRY_EXC_ERR "
			  "opcode=SEND length=0 vendor=0");
}

static void test_lost_ack(void **state)
{
	struct model_file f;
	char *page;

	(void)state;
	say_lost_ack(&f, "qp=0x12 rule=1 fault=\"drop nth=1\" dropped=\"rule\"");
	page = page_of(&f, SIZE_MAX);
	check_page(page);
	assert_non_null(strstr(page, "2 packets between 2 queue pairs of uhca0 and uhca1"));
	assert_non_null(strstr(page, "SEND wr 0x2a of uhca0 QP 0x11 ended with RETRY_EXC_ERR at "));
	assert_non_null(strstr(
		page, "but 1 answer was lost; rule 1 (drop nth=1) lost, changed or made 1 of "
		      "these packets."));
	assert_non_null(strstr(page, "<li>1 packet was lost on the way.</li>"));
	assert_non_null(strstr(page, "\"text\":\"1 packet was lost on the way.\"}"));
	assert_non_null(strstr(page, ",\"why\":[{\"record\":0,\"arrow\":"));
	assert_non_null(strstr(page, ",\"arrows_in_all\":2,"));
	assert_non_null(strstr(page, "\"ACK psn 100, msn 1\",\"lost; rule 1: drop nth=1\""));
	assert_non_null(strstr(page, "<svg "));
	free(page);
}

static void test_hostile_words(void **state)
{
	struct model_file f;
	struct model s = {.began = 0};
	char *page;

	(void)state;
	say_lost_ack(&f, HOSTILE_AS_WORD);
	model_file_record(&f, 600, "note text=\"</noscript></pre><script>alert(2)</script>\"");
	model_file_record(&f, 700,
			  "completion dev=<b>\" qp=0x11 cq=1 wr='<i> status=</ul><u> opcode=<s>");
	page = page_of(&f, SIZE_MAX);
	check_page(page);
	assert_int_equal(count(page, "<img"), 0);
	assert_int_equal(count(page, "</noscript"), 1);
	assert_int_equal(count(page, "</pre"), 1);
	assert_int_equal(count(page, "<b>") + count(page, "<i>") + count(page, "<s>"), 0);
	assert_true(count(page, "&#60;/script&#62;") > 0);
	assert_true(count(page, "\\u003c/script\\u003e") > 0);
	free(page);
	page = make_page(&s, "</title><script>");
	check_page(page);
	free(page);
}

static void test_empty(void **state)
{
	struct model_file f;
	char *page;

	(void)state;
	model_file_begin(&f, false);
	page = page_of(&f, SIZE_MAX);
	check_page(page);
	assert_non_null(strstr(page, "0 packets between 0 queue pairs"));
	assert_non_null(strstr(page, "\"arrows\":[]"));
	free(page);
}

static uint32_t u32_at(const uint8_t *at)
{
	return (uint32_t)(at[0] | at[1] << 8 | at[2] << 16) | (uint32_t)at[3] << 24;
}

static double f64_at(const uint8_t *at)
{
	uint64_t bits = u32_at(at) | (uint64_t)u32_at(at + 4) << 32;
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

/* What a browser reads as typed arrays (page_columns.h). */
static void test_columns(void **state)
{
	uint8_t row[PAGE_ARROW_BYTES];
	struct model_file f;
	struct model s;
	uint8_t *bytes;
	size_t size;

	(void)state;
	say_lost_ack(&f, "qp=0x12 rule=1 fault=\"drop nth=1\" dropped=\"rule\"");
	bytes = model_file_take(&f, &size);
	assert_int_equal(model_parse(&s, bytes, size), 0);
	page_arrow_row(&s, 0, row);
	assert_true(f64_at(row) == 0 && f64_at(row + 8) >= 0);
	assert_int_equal(u32_at(row + 28), 100);
	assert_int_equal(u32_at(row + 32), 64);
	assert_int_equal(row[40], ROCE_RC_SEND_ONLY);
	assert_int_equal(row[44], 255);
	page_arrow_row(&s, 1, row);
	assert_true(f64_at(row) > 0 && f64_at(row + 8) == -1);
	assert_int_equal(u32_at(row + 36), 1);
	assert_int_equal(row[41], MODEL_DROPPED);
	assert_int_equal(row[42], PAGE_ARROW_ANSWER);
	assert_int_equal(u32_at(row + 44), 0x1f | 1 << 8);
	page_record_row(&s, 0, row);
	assert_true(f64_at(row) > 0);
	assert_int_equal(row[20], MODEL_COMPLETION);
	assert_int_equal(row[21], PAGE_RECORD_TROUBLE | PAGE_RECORD_SHOWN);
	assert_int_equal(row[22], 12); /* IBV_WC_RETRY_EXC_ERR */
	assert_int_equal(row[23], 255);
	model_free(&s);
}

/* Cut at each byte: what is there is shown, and why there is no more. */
static void test_truncated(void **state)
{
	struct model_file f;
	struct model s;
	size_t size;
	uint8_t *bytes;
	char *page;

	(void)state;
	say_lost_ack(&f, "qp=0x12");
	bytes = model_file_take(&f, &size);
	for (size_t n = size / 2; n < size; n += 3) {
		uint8_t *part = malloc(n);

		assert_non_null(part);
		memcpy(part, bytes, n);
		if (model_parse(&s, part, n) == 0) {
			page = make_page(&s, "cut");
			check_page(page);
			assert_int_equal(count(page, ">The capture is broken: "), s.error[0] != 0);
			free(page);
		}
		model_free(&s);
	}
	free(bytes);
}

/* What tcpdump writes: packets, and nothing of what devices know. */
static void test_classic_pcap(void **state)
{
	const char *root = getenv("UHCA_SRCDIR");
	char path[4096];
	struct model s;
	char *page;

	(void)state;
	assert_non_null(root);
	snprintf(path, sizeof(path), "%s/tests/golden/captures/rc_write_64k.pcap", root);
	assert_int_equal(model_read(&s, path), 0);
	assert_true(s.n_arrows > 0 && s.n_records == 0);
	page = make_page(&s, "rc_write_64k.pcap");
	check_page(page);
	assert_non_null(
		strstr(page, "Each packet was sent once; the capture does not show its arrival."));
	assert_non_null(strstr(page, "The capture has no records of a device"));
	free(page);
	model_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_escaping),      cmocka_unit_test(test_lost_ack),
		cmocka_unit_test(test_hostile_words), cmocka_unit_test(test_empty),
		cmocka_unit_test(test_columns),       cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_classic_pcap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
