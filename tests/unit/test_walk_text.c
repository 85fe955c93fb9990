/* SPDX-License-Identifier: BSD-2-Clause */
/* A walk in words, and as a picture that a reader of XML takes. */
#include "../support/cmocka_all.h"
#include "emu/ctl/walk_svg.h"
#include "emu/ctl/walk_text.h"

#include <stdlib.h>
#include <string.h>

static const char walk_json[] =
	"{\"device\":\"uhca0\",\"program\":\"a<b&c\",\"client\":3,\"key\":439041101,"
	"\"index\":1715004,\"key_byte\":77,\"pd\":7,\"kind\":\"registered "
	"memory\",\"access\":7,\"iova\":65536,\"length\":9000,"
	"\"page_size\":4096,\"page_shift\":12,\"first_offset\":16,\"n_pages\":3,"
	"\"leaf_entries\":0,\"offset\":5000,\"position\":5016,\"entry\":1,\"in_page\":920,"
	"\"byte\":70552,\"shown\":[{\"index\":0,\"page\":65536},{\"index\":1,\"page\":69632},"
	"{\"index\":2,\"page\":73728}]}";

/* What a printer prints; the caller frees it. */
static char *print(void (*printer)(FILE *out, const json_t *walk))
{
	json_error_t error;
	json_t *walk = json_loads(walk_json, 0, &error);
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_true(walk && f);
	printer(f, walk);
	fclose(f);
	json_decref(walk);
	return text;
}

static void has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no '%s' in:\n%s", part, text);
}

static void test_text(void **state)
{
	char *text = print(walk_print_text);

	(void)state;
	has(text, "key 0x1a2b3c4d of uhca0, client 3 (a<b&c)\n");
	has(text, "index      0x1a2b3c");
	has(text, "key byte   0x4d");
	has(text, "access     local read, local write, remote write, remote read\n");
	has(text, "range      9000 bytes from iova 0x10000\n");
	has(text, "pages      3 of 4096 bytes; byte 0 is at 0x10 of page 0\n");
	has(text, "entries    one level\n");
	has(text, "  > [1] 0x11000\n    [2] 0x12000\n");
	has(text, "position   5000 + 0x10 = 0x1398\n");
	has(text, "entry      0x1398 >> 12 = 1\n");
	has(text, "in page    0x398\n  byte       0x11398\n");
	free(text);
}

static void test_svg(void **state)
{
	char *text = print(walk_print_svg);
	unsigned open = 0, closed = 0;

	(void)state;
	assert_memory_equal(text, "<svg ", 5);
	assert_string_equal(text + strlen(text) - 7, "</svg>\n");
	has(text, "a&#60;b&#38;c");
	has(text, "0x1a2b3c");
	has(text, "the byte: 0x11398");
	assert_null(strstr(text, "a<b"));
	for (const char *p = text; (p = strstr(p, "<text")); p++)
		open++;
	for (const char *p = text; (p = strstr(p, "</text>")); p++)
		closed++;
	assert_int_equal(open, closed);
	free(text);
}

static void test_access(void **state)
{
	char out[160];

	(void)state;
	assert_string_equal(walk_access(0, out, sizeof(out)), "local read");
	assert_string_equal(walk_access(1 << 3 | 1 << 5, out, sizeof(out)),
			    "local read, remote atomic, zero based");
	assert_int_equal(strlen(walk_access(UINT64_MAX, out, 20)), 19);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_svg),
		cmocka_unit_test(test_access),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
