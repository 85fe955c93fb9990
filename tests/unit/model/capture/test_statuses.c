/* SPDX-License-Identifier: BSD-2-Clause */
/* Every status and vendor error of emu/abi/cqe.h has its words, and docs/reference/statuses.md
 * names it. */
#include "emu/abi/cqe.h"
#include "emu/model/capture/statuses.h"
#include "tests/support/wire/cmocka_all.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char text[65536];

static void load(const char *name)
{
	const char *srcdir = getenv("UHCA_SRCDIR");
	char path[4096];
	FILE *f;

	if (!srcdir)
		fail_msg("UHCA_SRCDIR is not set");
	snprintf(path, sizeof(path), "%s/%s", srcdir, name);
	f = fopen(path, "r");
	assert_non_null(f);
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
}

/* The header itself says which there are, so that none is forgotten here. */
static void test_statuses(void **state)
{
	unsigned n = 0;

	(void)state;
	load("emu/abi/cqe.h");
	for (const char *p = text; (p = strstr(p, "UHCA_ABI_WC_")) != NULL; n++) {
		const struct model_status *s;
		unsigned value;
		char name[40];

		assert_int_equal(sscanf(p, "UHCA_ABI_WC_%39[A-Z_] = %u,", name, &value), 2);
		s = model_status_find(name);
		assert_non_null(s);
		assert_int_equal(s->value, value);
		assert_ptr_equal(model_status_at((uint8_t)value), s);
		assert_true(strlen(s->meaning) > 10 && strlen(s->check) > 10);
		assert_true(isdigit((unsigned char)s->clause[0]));
		p += strlen("UHCA_ABI_WC_");
		if (strcmp(name, "GENERAL_ERR") == 0)
			break;
	}
	assert_int_equal(n, UHCA_ABI_WC_GENERAL_ERR);
	assert_null(model_status_find("NO_SUCH_ERR"));
	assert_null(model_status_find(NULL));
	assert_null(model_status_at(99));
}

static void test_docs(void **state)
{
	(void)state;
	load("docs/reference/statuses.md");
	for (unsigned i = 0; i <= UHCA_ABI_WC_GENERAL_ERR; i++)
		assert_non_null(strstr(text, model_status_at((uint8_t)i)->name));
}

static void test_vendor_errors(void **state)
{
	char buf[128];

	(void)state;
	assert_string_equal(model_vendor_error(0, buf, sizeof(buf)), "");
	for (uint32_t i = 1; i <= UHCA_ABI_FOUND_DEVICE_GONE; i++) {
		model_vendor_error(i, buf, sizeof(buf));
		assert_null(strstr(buf, "no vendor error"));
	}
	assert_string_equal(
		model_vendor_error(UHCA_ABI_FOUND_BY_PEER | 0x62 << 8, buf, sizeof(buf)),
		"by the peer, which sent a NAK: NAK remote access error");
	assert_string_equal(model_vendor_error(0x99, buf, sizeof(buf)),
			    "no vendor error of this device");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_statuses),
		cmocka_unit_test(test_docs),
		cmocka_unit_test(test_vendor_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
