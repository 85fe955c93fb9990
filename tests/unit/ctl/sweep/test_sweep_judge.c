/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a run shows becomes findings; findings that are one are told once; known ones count for
 * nothing.
 */
#include "emu/ctl/sweep/sweep.h"
#include "emu/ctl/sweep/sweep_text.h"
#include "tests/support/wire/cmocka_all.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HANG                                                                                       \
	"hello 17\nuhca-run: sh did not end within 4 seconds; it waits for:\n"                     \
	"uhca-run: process 12: sh\n"                                                               \
	"uhca-run:   thread 12 (prog) waits in poll\n"                                             \
	"uhca-run:     #0 __poll poll.c:29 (libc.so.6)\n"                                          \
	"uhca-run:     #1 uhcav_wait wait.c:3 (libuhca-rdmav34.so)\n"                              \
	"uhca-run:     #2 main a.c:7 (prog)\n"                                                     \
	"uhca-run:     #3 __libc_start_main@@GLIBC_2.34 libc-start.c:360 (libc.so.6)\n"            \
	"uhca-run:   thread 13 (prog) is running: it computes or polls\n"                          \
	"uhca-run:     #0 monitor monitor.c:85 (libuhca-rdmav34.so)\n"                             \
	"later\n"

static void test_text(void **state)
{
	char *said = sweep_text_said("b 0x12 at 7\nuhca-run: x\n  | warn\na\nb 0x1f at 12\n", NULL);
	char *news = sweep_text_said("b 0x99 at 1\nnew\n", said);
	char *hang = sweep_text_hang(HANG), *none = sweep_text_hang("all is well\n");

	(void)state;
	assert_string_equal(said, "a\nb N at N\n");
	assert_string_equal(news, "new\n");
	assert_string_equal(hang, "(prog)\n  #0 uhcav_wait wait.c:3 (libuhca-rdmav34.so)\n"
				  "  #1 main a.c:7 (prog)\n");
	assert_string_equal(none, "");
	free(said);
	free(news);
	free(hang);
	free(none);
}

/* One run; findings: JSON, one for each line. */
static void judge(struct sweep_result *r, const char *name, int status, const char *output,
		  const char *findings, unsigned matched)
{
	json_t *all = json_array(), *found = json_loads(findings, 0, NULL);
	json_t *record = json_pack("{s:[{s:i}, {s:i}]}", "rules", "matched", matched, "hits", 1);
	struct sweep_evidence e = {.output = strdup(output), .findings = all, .record = record};
	struct sweep_count count = {.what = "create_qp", .client = 1, .n = 2, .program = "prog"};
	struct sweep_good good = {.counts = {.at = &count, .n = 1}};
	char error[128];

	*r = (struct sweep_result){.status = status};
	good.result.said = strdup("hello N\n");
	if (found)
		json_array_append_new(all, found);
	assert_int_equal(sweep_item_parse(name, &r->item, error, sizeof(error)), 0);
	sweep_judge(r, &e, &good);
	free(e.output);
	free(good.result.said);
	json_decref(record);
	json_decref(all);
}

#define CREATE "call/create_qp/1/1/ENOMEM"
#define FOUND_(check, what)                                                                        \
	"{\"check\":\"" check "\",\"what\":\"" what "\",\"program\":\"prog\",\"stacks\":"          \
	"[{\"title\":\"by\",\"frames\":[{\"module\":\"/usr/bin/prog\",\"function\":\"main\","      \
	"\"file\":\"/src/a.c\",\"line\":7}]}]}"

static void expect(const char *name, int status, const char *output, const char *findings,
		   unsigned matched, const char *found)
{
	struct sweep_result r;

	judge(&r, name, status, output, findings, matched);
	assert_true(r.fired);
	assert_int_equal(r.n, *found != '\0');
	if (r.n > 0)
		assert_string_equal(sweep_diagnostic_name(r.diagnostic[0].of), found);
	sweep_result_free(&r);
}

static void test_findings(void **state)
{
	(void)state;
	expect(CREATE, 1, "no QP\n", "", 1, "");
	expect(CREATE, 0, "hello\n", "", 2, "passed");
	expect(CREATE, 0, "hello\n", "", 3, ""); /* it made another one */
	expect("call/destroy_qp/1/1/EBUSY", 0, "", "", 1, "");
	expect("completion/RECV/1/1/LOC_LEN_ERR", 0, "", "", 0, "passed");
	expect("packet/RC_SEND_ONLY/0/1/drop", 1, "", "", 1, "failed");
	expect("packet/UD_SEND_ONLY/0/1/drop", 1, "", "", 1, "");
	expect("device/create_qp/1/1/fatal", 0, "", "", 1, "");
	expect(CREATE, 139, "", "", 1, "crash");
	expect(CREATE, 124, HANG, "", 1, "hang");
	expect(CREATE, 1, "", FOUND_("verb-crashed", "SIGSEGV in ibv_dereg_mr"), 1, "crash");
	expect(CREATE, 0, "", FOUND_("left-at-exit", "a QP is left"), 1, "leak");
	expect("call/destroy_qp/1/1/EBUSY", 0, "", FOUND_("left-at-exit", "a QP is left"), 1, "");
	expect(CREATE, 1, "", FOUND_("object-gone", "a QP that was destroyed"), 1, "misuse");
	expect(CREATE, 1, "", FOUND_("conn-unanswered", "nobody answers"), 1, "");
	expect(CREATE, 1,
	       "==7==ERROR: LeakSanitizer: detected memory leaks\n\n"
	       "Direct leak of 8 bytes\n    #0 0x77 in malloc (libasan.so)\n    #1 0x78 in main "
	       "a.c:9\n\nx\n",
	       "", 1, "leak");
}

static void test_stacks(void **state)
{
	struct sweep_result r;

	(void)state;
	judge(&r, CREATE, 1, "", FOUND_("verb-crashed", "SIGSEGV in ibv_dereg_mr"), 1);
	assert_string_equal(r.diagnostic[0].what, "prog: SIGSEGV in ibv_dereg_mr");
	assert_string_equal(r.diagnostic[0].stack, "  #0 main a.c:7\n");
	sweep_result_free(&r);
}

static void test_written_down(void **state)
{
	struct sweep_result r, again;
	json_t *line;

	(void)state;
	judge(&r, CREATE, 139, "oh\n", FOUND_("verb-crashed", "SIGSEGV"), 1);
	line = sweep_result_pack(&r);
	assert_int_equal(sweep_result_unpack(line, &again), 0);
	assert_int_equal(again.status, 139);
	assert_int_equal(again.n, 1);
	assert_true(again.fired);
	assert_string_equal(again.said, "oh\n");
	assert_string_equal(again.diagnostic[0].stack, r.diagnostic[0].stack);
	json_decref(line);
	sweep_result_free(&r);
	sweep_result_free(&again);
}

/* ---- groups ---- */

static struct sweep_known *known(const char *text)
{
	char path[] = "/tmp/uhca-test-known-XXXXXX";
	int fd = mkstemp(path);
	struct sweep_known *k = NULL;
	int error;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	error = sweep_known_read(path, &k);
	unlink(path);
	if (error == 0)
		return k;
	sweep_known_free(k);
	return NULL;
}

static void test_groups(void **state)
{
	struct sweep_known *k = known("# all\n\ncrash call/create_qp/* main\n");
	struct sweep_groups g;
	struct sweep_result r[5];

	(void)state;
	assert_non_null(k);
	judge(&r[0], CREATE, 0, "", "", 1);
	judge(&r[1], CREATE, 139, "", FOUND_("verb-crashed", "SIGSEGV in ibv_dereg_mr"), 1);
	judge(&r[2], "call/create_qp/1/2/ENOMEM", 139, "",
	      FOUND_("verb-crashed", "SIGSEGV in ibv_dereg_mr"), 1);
	judge(&r[3], "call/reg_mr/1/1/ENOMEM", 1, "oh\n", "", 1);
	judge(&r[4], "call/alloc_pd/1/1/ENOMEM", 1, "oh\n", "", 1);
	assert_int_equal(sweep_groups_make(r, 5, k, &g), 0);
	assert_int_equal(g.n, 2);
	assert_int_equal(g.unknown, 1);
	assert_int_equal(g.at[0].diagnostic->of, SWEEP_CRASH);
	assert_int_equal(g.at[0].n, 2);
	assert_true(g.at[0].known);
	assert_int_equal(g.at[1].diagnostic->of, SWEEP_PASSED);
	assert_false(g.at[1].known);
	assert_int_equal(g.n_words, 1);
	assert_string_equal(g.words[0].said, "oh\n");
	assert_int_equal(g.words[0].n, 2);
	sweep_groups_free(&g);
	sweep_known_free(k);
	for (unsigned i = 0; i < 5; i++)
		sweep_result_free(&r[i]);
}

static void test_wrong_known(void **state)
{
	(void)state;
	assert_null(known("crush *\n"));
	assert_null(known("crash\n"));
	assert_null(known("crash a b c\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),   cmocka_unit_test(test_findings),
		cmocka_unit_test(test_stacks), cmocka_unit_test(test_written_down),
		cmocka_unit_test(test_groups), cmocka_unit_test(test_wrong_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
