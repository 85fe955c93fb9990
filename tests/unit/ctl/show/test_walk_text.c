/* SPDX-License-Identifier: BSD-2-Clause */
/* A walk in words, and as a picture that a reader of XML takes. */
#include "emu/ctl/show/walk_svg.h"
#include "emu/ctl/show/walk_text.h"
#include "tests/support/wire/cmocka_all.h"

#include <stdlib.h>
#include <string.h>

static const char flat[] =
	"{\"device\":\"uhca0\",\"program\":\"a<b&c\",\"client\":3,\"key\":439041101,"
	"\"index\":1715004,\"key_byte\":77,\"pd\":7,\"access\":7,\"offset\":5000,\"steps\":[],"
	"\"region_key\":439041101,\"region_offset\":5000,\"kind\":\"registered memory\","
	"\"iova\":65536,\"length\":9000,"
	"\"page_size\":4096,\"page_shift\":12,\"first_offset\":16,\"n_pages\":3,"
	"\"leaf_entries\":0,\"position\":5016,\"entry\":1,\"in_page\":920,"
	"\"byte\":70552,\"shown\":[{\"index\":0,\"page\":65536},{\"index\":1,\"page\":69632},"
	"{\"index\":2,\"page\":73728}]}";

/* A composite whose second block is a column; the column's memory has no pages. */
static const char nested[] =
	"{\"device\":\"uhca0\",\"program\":\"prog\",\"client\":3,\"key\":2567,"
	"\"index\":10,\"key_byte\":7,\"pd\":7,\"access\":1,\"offset\":77,\"steps\":["
	"{\"key\":2567,\"shape\":\"sg\",\"depth\":2,\"access\":1,\"iova\":0,\"length\":96,"
	"\"offset\":77,\"n\":2,\"entry\":1,\"in_entry\":13,\"child_key\":2817,"
	"\"child_addr\":13,\"part\":3,\"shown\":["
	"{\"index\":0,\"addr\":4096,\"bytes\":64,\"key\":3072},"
	"{\"index\":1,\"addr\":0,\"bytes\":32,\"key\":2817}]},"
	"{\"key\":2817,\"shape\":\"interleaved\",\"depth\":1,\"access\":1,\"iova\":0,"
	"\"length\":32,\"offset\":13,\"n\":1,\"entry\":0,\"in_entry\":5,\"round\":8,"
	"\"repeat\":1,\"dims\":[{\"count\":2,\"index\":0,\"stride\":-4096},"
	"{\"count\":2,\"index\":1,\"stride\":40}],\"child_key\":3072,\"child_addr\":8237,"
	"\"part\":3,\"shown\":[{\"index\":0,\"addr\":8192,\"bytes\":8,\"key\":3072}]}],"
	"\"region_key\":3072,\"region_offset\":8237,\"kind\":\"the whole address space, on "
	"demand\",\"iova\":0,\"length\":1048576,\"page_size\":0,\"page_shift\":0,"
	"\"first_offset\":0,\"n_pages\":0,\"leaf_entries\":0,\"position\":0,\"entry\":0,"
	"\"in_page\":0,\"byte\":8237,\"shown\":[]}";

/* A key without description. */
static const char invalid[] =
	"{\"device\":\"uhca0\",\"program\":\"prog\",\"client\":3,\"key\":2560,\"index\":10,"
	"\"key_byte\":0,\"pd\":7,\"access\":7,\"invalid\":true,\"offset\":0,\"steps\":[],\"region_"
	"key\":2560,"
	"\"region_offset\":0,\"kind\":\"nothing: the key is invalid\",\"iova\":0,\"length\":0,"
	"\"n_pages\":0,\"shown\":[]}";

/* A window on a key of pages in registered memory. */
static const char pages[] =
	"{\"device\":\"uhca0\",\"program\":\"prog\",\"client\":3,\"key\":2561,\"index\":10,"
	"\"key_byte\":1,\"pd\":7,\"access\":1,\"offset\":4096,\"window_of\":2562,"
	"\"window_offset\":100,\"window_length\":5000,\"steps\":["
	"{\"key\":2562,\"shape\":\"pages\",\"depth\":1,\"access\":1,\"iova\":291,"
	"\"length\":9000,\"offset\":4196,\"n\":3,\"entry\":1,\"in_entry\":391,"
	"\"page_shift\":12,\"first_offset\":291,\"child_key\":3072,\"child_addr\":70023,"
	"\"part\":3705,\"shown\":[{\"index\":0,\"addr\":81920,\"bytes\":4096,\"key\":3072},"
	"{\"index\":1,\"addr\":69632,\"bytes\":4096,\"key\":3072},"
	"{\"index\":2,\"addr\":77824,\"bytes\":4096,\"key\":3072}]}],"
	"\"region_key\":3072,\"region_offset\":4487,\"kind\":\"registered memory\","
	"\"iova\":65536,\"length\":90000,\"page_size\":4096,\"page_shift\":12,"
	"\"first_offset\":0,\"n_pages\":22,\"leaf_entries\":0,\"position\":4487,\"entry\":1,"
	"\"in_page\":391,\"byte\":70023,\"shown\":[{\"index\":0,\"page\":65536},"
	"{\"index\":1,\"page\":69632},{\"index\":21,\"page\":151552}]}";

/* What a printer prints; the caller frees it. */
static char *print(void (*printer)(FILE *out, const json_t *walk), const char *walk_json)
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
	char *text = print(walk_print_text, flat);

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

static void test_text_nested(void **state)
{
	char *text = print(walk_print_text, nested);

	(void)state;
	has(text, "key 0x00000a07 of uhca0, client 3 (prog)\n");
	has(text, "range      96 bytes from iova 0x0\n");
	has(text, "shape      sg; pieces, one after another: 2; depth 2\n");
	has(text, "    [0] 64 bytes at 0x1000 of key 0x00000c00\n"
		  "  > [1] 32 bytes at 0x0 of key 0x00000b01\n");
	has(text, "piece      [1], byte 0xd of it\n"
		  "  address    0xd of key 0x00000b01, where 3 bytes are contiguous\n"
		  "key 0x00000b01\n");
	has(text, "shape      interleaved; pieces in each round: 1; depth 1\n");
	has(text, "round      13 / 8 = 1, byte 5 of it\n"
		  "  index      0 of 2 in dimension 0, times -4096 bytes\n"
		  "  index      1 of 2 in dimension 1, times 40 bytes\n"
		  "  piece      [0], byte 0x5 of it\n");
	has(text, "key 0x00000c00, the region\n");
	has(text, "pages      none: the whole address space, on demand\n");
	has(text, "byte       0x202d\n");
	free(text);
}

static void test_text_pages(void **state)
{
	char *text = print(walk_print_text, pages);

	(void)state;
	has(text, "window     5000 bytes from byte 100 of the region of key 0x00000a02\n");
	has(text, "shape      pages; pages: 3; depth 1\n");
	has(text, "  > [1] 4096 bytes at 0x11000 of key 0x00000c00\n");
	has(text, "position   4196 + 0x123 = 0x1187\n  page       0x1187 >> 12 = 1\n");
	has(text, "key 0x00000c00, the region\n");
	has(text, "    ...\n    [21] 0x25000\n");
	has(text, "byte       0x11187\n");
	free(text);
	text = print(walk_print_text, invalid);
	has(text, "access     none, the key is invalid\n");
	has(text, "pages      none: nothing: the key is invalid\n");
	assert_null(strstr(text, "offset"));
	free(text);
}

static void check_svg(const char *walk, const char *const *parts)
{
	char *text = print(walk_print_svg, walk);
	unsigned open = 0, closed = 0;

	assert_memory_equal(text, "<svg ", 5);
	assert_string_equal(text + strlen(text) - 7, "</svg>\n");
	for (; *parts; parts++)
		has(text, *parts);
	assert_null(strstr(text, "a<b"));
	for (const char *p = text; (p = strstr(p, "<text")); p++)
		open++;
	for (const char *p = text; (p = strstr(p, "</text>")); p++)
		closed++;
	assert_int_equal(open, closed);
	free(text);
}

static void test_svg(void **state)
{
	(void)state;
	check_svg(flat, (const char *const[]){"a&#60;b&#38;c", "0x1a2b3c", "the byte: 0x11398",
					      "2. The region", "3. The page array", NULL});
	check_svg(nested, (const char *const[]){"2. Key 0x00000a07: composite",
						"3. Key 0x00000b01: interleaved", "4. The region",
						"the byte: 0x202d", "x -4096 bytes", NULL});
	check_svg(pages, (const char *const[]){"2. Key 0x00000a02: pages", "= page 1",
					       "a window: 5000", "5. Memory of prog", NULL});
	check_svg(invalid, (const char *const[]){"nothing: the key is invalid",
						 "nothing while it is invalid", NULL});
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
		cmocka_unit_test(test_text),       cmocka_unit_test(test_text_nested),
		cmocka_unit_test(test_text_pages), cmocka_unit_test(test_svg),
		cmocka_unit_test(test_access),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
