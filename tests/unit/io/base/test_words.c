/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines of words: what is quoted, what is escaped, and what happens at the end of the room.
 */
#include "emu/io/base/words.h"
#include "tests/support/wire/cmocka_all.h"

#include <string.h>

static void test_words(void **state)
{
	struct io_words w;

	(void)state;
	io_words_begin(&w, "state");
	io_words_text(&w, "dev", "uhca0");
	io_words_hex(&w, "qp", 0x1f);
	io_words_number(&w, "n", UINT64_MAX);
	assert_string_equal(w.text, "state dev=uhca0 qp=0x1f n=18446744073709551615");
	assert_int_equal(w.used, strlen(w.text));
	io_words_begin(&w, "");
	io_words_number(&w, "try", 0);
	io_words_hex(&w, "a", UINT64_MAX);
	io_words_hex(&w, "b", 0);
	io_words_part(&w, "c", UINT32_MAX, 10);
	assert_string_equal(w.text, "try=0 a=0xffffffffffffffff b=0x0 c=4294967295/10");
}

static void test_quotes(void **state)
{
	struct io_words w;

	(void)state;
	io_words_begin(&w, "");
	io_words_text(&w, "a", "");
	io_words_text(&w, "b", "two words");
	io_words_text(&w, "c", "say \"x\\y\"");
	io_words_text(&w, "d", "p=q");
	assert_string_equal(w.text, "a=\"\" b=\"two words\" c=\"say \\\"x\\\\y\\\"\" d=\"p=q\"");
	io_words_begin(&w, "");
	io_words_text(&w, "e", "a\nb\xc3\xa4\x1b~\x7f");
	assert_string_equal(w.text, "e=\"a?b???~?\"");
}

/* A word that does not fit is left out whole; a shorter one after it still fits. */
static void test_room(void **state)
{
	char value[UHCA_MODEL_MAX], longer[UHCA_MODEL_MAX + 10];
	struct io_words w;

	(void)state;
	memset(value, 'x', sizeof(value));
	value[sizeof(value) - 1] = '\0';
	io_words_begin(&w, "note");
	io_words_text(&w, "long", value);
	assert_string_equal(w.text, "note");
	for (unsigned len = UHCA_MODEL_MAX - 20; len < UHCA_MODEL_MAX; len++) {
		value[len] = '\0';
		io_words_begin(&w, "note");
		io_words_text(&w, "v", value);
		io_words_text(&w, "q", "\"");
		assert_int_equal(w.used, strlen(w.text));
		assert_in_range(w.used, 4, UHCA_MODEL_MAX - 1);
		assert_true(w.used == 4 || w.text[5] == 'v' || w.text[5] == 'q');
		value[len] = len + 1 < UHCA_MODEL_MAX ? 'x' : '\0';
	}
	io_words_begin(&w, value);
	assert_int_equal(w.used, UHCA_MODEL_MAX - 1);
	value[UHCA_MODEL_MAX - 8] = '\0'; /* nor is a number that does not fit cut */
	io_words_begin(&w, value);
	io_words_number(&w, "n", 123456);
	io_words_hex(&w, "h", 0x12345);
	io_words_part(&w, "p", 12, 345);
	assert_string_equal(w.text, value);
	io_words_number(&w, "n", 1234);
	assert_int_equal(w.used, UHCA_MODEL_MAX - 1);
	memset(longer, 'y', sizeof(longer)); /* the kind itself is cut */
	longer[sizeof(longer) - 1] = '\0';
	io_words_begin(&w, longer);
	assert_int_equal(w.used, UHCA_MODEL_MAX - 1);
	assert_int_equal(strlen(w.text), w.used);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_quotes),
		cmocka_unit_test(test_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
