/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parser of all programs' command lines: each kind of option, abbreviations, refusals that name
 * option and value, and what --help and --help=man print of the same rows.
 */
#include "emu/help/options.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct into {
	bool flag;
	int number;
	unsigned choice;
	char text[8];
	const char *word;
	const char *set;
	struct options_about about;
};

static int set(void *into, const struct option_row *row, const char *argument, char *error,
	       size_t cap)
{
	if (argument && strcmp(argument, "bad") == 0) {
		snprintf(error, cap, "bad as ever");
		return -EINVAL;
	}
	((struct into *)into)->set = argument ? argument : row->name;
	return 0;
}

static const char *const colours[] = {"red", "green", NULL};

#define FIELD_(f) OPTION_FIELD(struct into, f)

static const struct option_row rows[] = {
	{.help = "First group"},
	{"--flag", NULL, "A flag.", OPTION_FLAG, FIELD_(flag), .min = 1},
	{"--flagon", NULL, "Another.", OPTION_FLAG, FIELD_(flag), .min = 1},
	{"--number", "N", "A number.", OPTION_NUMBER, FIELD_(number), .min = -3, .max = 3},
	{.help = "Second group"},
	{"--colour", "NAME", "A choice.", OPTION_CHOICE, FIELD_(choice), .choices = colours},
	{"--text", "TEXT", "A copy.", OPTION_TEXT, FIELD_(text), .max = 7},
	{"--word", "WORD", "A pointer.", OPTION_WORD, FIELD_(word), .letter = 'w', .min = 1},
	{"--setter", "[=X]", "Words that are so many that they do not fit beside the name of it.",
	 .set = set},
	OPTIONS_ABOUT(struct into),
	{0},
};
static const struct option_row commands[] = {
	{.help = "Commands"},
	{"frob THE-THING", .help = "Frobs."},
	{"frob|bend THE-OTHER-THING", .help = "Does the other."},
	{"frob NO-ROOM-TO-THE-TEXT", .help = "Begins below."},
	{0}};
static const struct options_page page = {.program = "x",
					 .version = "1",
					 .usage = "Usage\n",
					 .commands = commands,
					 .rows = rows,
					 .end = "End\n"};

static struct into into;
static char error[256];

static int take_options(const char *first, const char *second)
{
	char *const argv[] = {(char *)(uintptr_t)first, (char *)(uintptr_t)second, NULL};

	error[0] = '\0';
	return options_take(rows, &into, argv, error, sizeof(error));
}

static void test_kinds(void **state)
{
	(void)state;
	assert_int_equal(take_options("--flag", NULL), 1);
	assert_true(into.flag);
	assert_int_equal(take_options("--number", "-3"), 2);
	assert_int_equal(into.number, -3);
	assert_int_equal(take_options("--number=2", "x"), 1);
	assert_int_equal(into.number, 2);
	assert_int_equal(take_options("--colour", "green"), 2);
	assert_int_equal(into.choice, 1);
	assert_int_equal(take_options("--text=seven77", NULL), 1);
	assert_string_equal(into.text, "seven77");
	assert_int_equal(take_options("-w", "there"), 2);
	assert_string_equal(into.word, "there");
	assert_int_equal(take_options("--setter", "x"), 1);
	assert_string_equal(into.set, "--setter");
	assert_int_equal(take_options("--setter=", "x"), 1);
	assert_string_equal(into.set, "");
	assert_int_equal(take_options("--help=man", NULL), 1);
	assert_true(into.about.help && into.about.man);
	assert_int_equal(take_options("--version", NULL), 1);
	assert_true(into.about.version);
}

static void test_no_options(void **state)
{
	(void)state;
	assert_int_equal(take_options("--", NULL), 0);
	assert_int_equal(take_options("-", NULL), 0);
	assert_int_equal(take_options("word", NULL), 0);
	assert_int_equal(take_options("", NULL), 0);
}

static void test_abbreviations(void **state)
{
	(void)state;
	into.flag = false;
	assert_int_equal(take_options("--flag", NULL), 1); /* its name, though another begins so */
	assert_int_equal(take_options("--flago", NULL), 1);
	assert_int_equal(take_options("--col=red", NULL), 1);
	assert_int_equal(into.choice, 0);
}

static void refused(const char *first, const char *second, const char *message)
{
	assert_int_equal(take_options(first, second), -EINVAL);
	assert_string_equal(error, message);
}

static void test_refusals(void **state)
{
	(void)state;
	refused("--fla", NULL, "unknown option --fla: did you mean '--flag' or '--flagon'?");
	refused("--nubmer=3", NULL, "unknown option --nubmer: did you mean '--number'?");
	refused("--quite-another", NULL, "unknown option --quite-another");
	refused("-x", NULL, "unknown option -x");
	refused("--frob", NULL, "unknown option --frob"); /* a command is none */
	refused("--flag=1", NULL, "--flag takes no argument");
	refused("--number", NULL, "--number needs an argument (N)");
	refused("--number=4", NULL, "--number: '4' is not a number from -3 to 3");
	refused("--number=3x", NULL, "--number: '3x' is not a number from -3 to 3");
	refused("--number=", NULL, "--number: '' is not a number from -3 to 3");
	refused("--colour=gren", NULL,
		"--colour: unknown value 'gren': did you mean 'green'? Known: red, "
		"green");
	refused("--text=eight888", NULL, "--text: must have 1 to 7 characters");
	refused("--text=", NULL, "--text: must have 1 to 7 characters");
	refused("--word=", NULL, "--word: must not be empty");
	refused("--set=bad", NULL, "--setter: bad as ever");
	refused("--help=html", NULL, "--help: 'html' is not 'man'");
}

static void prints(bool man, const char *expected)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	options_print(&page, man, f);
	assert_int_equal(fclose(f), 0);
	assert_string_equal(text, expected);
	free(text);
}

static void test_texts(void **state)
{
	(void)state;
	prints(false,
	       "Usage\n"
	       "\nCommands:\n"
	       "  frob THE-THING          Frobs.\n"
	       "  frob|bend THE-OTHER-THING\n"
	       "                          Does the other.\n"
	       "  frob NO-ROOM-TO-THE-TEXT\n"
	       "                          Begins below.\n"
	       "\nFirst group:\n"
	       "  --flag                  A flag.\n"
	       "  --flagon                Another.\n"
	       "  --number N              A number.\n"
	       "\nSecond group:\n"
	       "  --colour NAME           A choice.\n"
	       "  --text TEXT             A copy.\n"
	       "  -w WORD, --word WORD    A pointer.\n"
	       "  --setter[=X]            Words that are so many that they do not fit beside the\n"
	       "                          name of it.\n"
	       "  --version               Prints the version.\n"
	       "  --help[=man]            Prints this text; with =man, as source of a man page.\n"
	       "End\n");
	prints(true, ".SH COMMANDS\n.SS Commands\n.TP\n.B frob THE\\-THING\nFrobs.\n"
		     ".TP\n.B frob|bend THE\\-OTHER\\-THING\nDoes the other.\n"
		     ".TP\n.B frob NO\\-ROOM\\-TO\\-THE\\-TEXT\nBegins below.\n"
		     ".SH OPTIONS\n.SS First group\n.TP\n.B \\-\\-flag\nA flag.\n"
		     ".TP\n.B \\-\\-flagon\nAnother.\n.TP\n.B \\-\\-number N\nA number.\n"
		     ".SS Second group\n.TP\n.B \\-\\-colour NAME\nA choice.\n"
		     ".TP\n.B \\-\\-text TEXT\nA copy.\n"
		     ".TP\n.B \\-w WORD, \\-\\-word WORD\nA pointer.\n.TP\n.B \\-\\-setter[=X]\n"
		     "Words that are so many that they do not fit beside the name of it.\n"
		     ".TP\n.B \\-\\-version\nPrints the version.\n.TP\n.B \\-\\-help[=man]\n"
		     "Prints this text; with =man, as source of a man page.\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),         cmocka_unit_test(test_no_options),
		cmocka_unit_test(test_abbreviations), cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
