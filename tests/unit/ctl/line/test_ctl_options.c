/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command line of uhcactl: options anywhere, the instance found as uhca-run finds it, clear
 * refusals.
 */
#include "emu/ctl/line/options.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct ctl_options o;

/* Words separated by spaces, as after "uhcactl". What it says goes nowhere. */
static int parse(const char *words)
{
	static char text[1024];
	char *argv[64] = {(char *)(uintptr_t) "uhcactl"};
	int argc = 1;
	int saved = dup(STDERR_FILENO);
	int null = open("/dev/null", O_WRONLY);
	char *save;
	int error;

	snprintf(text, sizeof(text), "%s", words);
	for (char *w = strtok_r(text, " ", &save); w; w = strtok_r(NULL, " ", &save))
		argv[argc++] = w;
	dup2(null, STDERR_FILENO);
	error = ctl_options_parse(&o, argc, argv);
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(null);
	return error;
}

static int setup(void **state)
{
	(void)state;
	unsetenv("UHCA_DIR");
	unsetenv("XDG_RUNTIME_DIR");
	setenv("TMPDIR", "/tmp", 1);
	return 0;
}

static void test_words(void **state)
{
	(void)state;
	assert_int_equal(parse("--json show --dir /x qp"), 0);
	assert_int_equal(o.n_words, 2);
	assert_string_equal(o.word[0], "show");
	assert_string_equal(o.word[1], "qp");
	assert_null(o.word[2]);
	assert_true(o.json);
	assert_string_equal(o.dir, "/x");
	assert_int_equal(parse("--help"), 0);
	assert_true(o.about.help && !o.about.man);
	assert_int_equal(parse("--help=man"), 0);
	assert_true(o.about.man);
	assert_int_equal(parse("--version"), 0);
	assert_true(o.about.version);
}

/* Values that their commands judge are kept as they stand. */
static void test_values(void **state)
{
	(void)state;
	assert_int_equal(parse("ladder f --qp 0x11 --width=80 --from 1ms --to=2s --all"), 0);
	assert_string_equal(o.qp, "0x11");
	assert_string_equal(o.width, "80");
	assert_string_equal(o.from, "1ms");
	assert_string_equal(o.to, "2s");
	assert_true(o.all && !o.once);
	assert_int_equal(parse("top --interval 0.5 --once"), 0);
	assert_string_equal(o.interval, "0.5");
	assert_true(o.once && !o.qp);
	assert_int_equal(parse("explain live --wr 7"), 0);
	assert_string_equal(o.wr, "7");
	assert_int_equal(parse("ladder f --qp"), -EINVAL);
}

static void test_where(void **state)
{
	char expected[100];

	(void)state;
	snprintf(expected, sizeof(expected), "/tmp/uhca-%u/default", (unsigned)geteuid());
	assert_int_equal(parse("counters"), 0);
	assert_string_equal(o.dir, expected);
	setenv("XDG_RUNTIME_DIR", "/tmp", 1);
	assert_int_equal(parse("counters --instance=abc"), 0);
	assert_string_equal(o.dir, "/tmp/uhca/abc");
	setenv("UHCA_DIR", "/from/env", 1);
	assert_int_equal(parse("counters"), 0);
	assert_string_equal(o.dir, "/from/env");
	assert_int_equal(parse("counters --instance abc"), 0);
	assert_string_equal(o.dir, "/tmp/uhca/abc");
	assert_int_equal(parse("counters --dir=/d"), 0);
	assert_string_equal(o.dir, "/d");
}

static void test_refusals(void **state)
{
	static const char *const bad[] = {
		"--frob",
		"-x",
		"show --dir",
		"--dir=",
		"--instance ../x",
		"--instance",
		"--instance=.hid",
		"--help=html",
		"show qp --once", /* options of other commands */
		"explain live --width 80",
		"ladder f --wr 7",
		"capture stop --snap 3",
		"fault list --stable",
		"doctor --json",
		"1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17",
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(parse(bad[i]), -EINVAL);
	assert_int_equal(parse("capture --snap 3 start f"), 0);
	assert_int_equal(parse("shw --once"), 0); /* the word is what is wrong */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_words, setup),
		cmocka_unit_test_setup(test_values, setup),
		cmocka_unit_test_setup(test_where, setup),
		cmocka_unit_test_setup(test_refusals, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
