/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Specifications of CDI: every member is one that the published schema has at that place, and of
 * its type; what the schema requires is there; the mounts and variables are those of the instance.
 */
#include "emu/ctl/show/cdi.h"
#include "tests/support/wire/cmocka_all.h"

#include <string.h>

#define DIR     "/run/uhca/alice"
#define LIBRARY "/usr/lib/uhca/libuhca_preload.so"

/* Members of the schema's objects, as far as 0.3.0 has them; those with ! are required. */
static const char *const spec_members[] = {"!cdiVersion", "!kind", "!devices", "containerEdits",
					   NULL};
static const char *const device_members[] = {"!name", "!containerEdits", NULL};
static const char *const edit_members[] = {"env", "deviceNodes", "hooks", "mounts", NULL};
static const char *const mount_members[] = {"!hostPath", "!containerPath", "options", NULL};

static void assert_members(const json_t *object, const char *const *members)
{
	size_t known = 0;

	assert_true(json_is_object(object));
	for (; *members; members++) {
		const char *name = *members + (**members == '!');

		if (json_object_get(object, name))
			known++;
		else
			assert_true(**members != '!');
	}
	assert_int_equal(json_object_size(object), known);
}

static const char *text(const json_t *object, const char *name)
{
	const char *value = json_string_value(json_object_get(object, name));

	assert_non_null(value);
	return value;
}

static void assert_mount(const json_t *mount, const char *folder, const char *access)
{
	const json_t *options = json_object_get(mount, "options");

	assert_members(mount, mount_members);
	assert_string_equal(text(mount, "hostPath"), folder);
	assert_string_equal(text(mount, "containerPath"), folder);
	assert_int_equal(json_array_size(options), 4);
	assert_string_equal(json_string_value(json_array_get(options, 0)), access);
	for (size_t i = 0; i < 4; i++)
		assert_true(json_is_string(json_array_get(options, i)));
}

static void assert_device(const json_t *device, const char *name)
{
	const json_t *edits = json_object_get(device, "containerEdits"), *list;

	assert_members(device, device_members);
	assert_string_equal(text(device, "name"), name);
	assert_members(edits, edit_members);
	list = json_object_get(edits, "env");
	assert_int_equal(json_array_size(list), 2);
	assert_string_equal(json_string_value(json_array_get(list, 0)), "UHCA_DIR=" DIR);
	assert_string_equal(json_string_value(json_array_get(list, 1)), "LD_PRELOAD=" LIBRARY);
	list = json_object_get(edits, "mounts");
	assert_int_equal(json_array_size(list), 2);
	assert_mount(json_array_get(list, 0), DIR, "rw");
	assert_mount(json_array_get(list, 1), "/usr/lib/uhca", "ro");
}

static json_t *specification(const char *name)
{
	json_t *table = json_pack("{s:[s, s], s:[[s, i], [s, i]]}", "columns", "device", "qp",
				  "rows", "uhca0", 1, name, 2);
	json_t *spec;

	assert_non_null(table);
	spec = cdi_specification(DIR, LIBRARY, table);
	json_decref(table);
	return spec;
}

static void test_schema(void **state)
{
	json_t *spec = specification("uhca1");
	const json_t *devices = json_object_get(spec, "devices");

	(void)state;
	assert_members(spec, spec_members);
	assert_string_equal(text(spec, "cdiVersion"), "0.3.0");
	assert_string_equal(text(spec, "kind"), "uhca.io/hca");
	assert_int_equal(json_array_size(devices), 3);
	assert_device(json_array_get(devices, 0), "all");
	assert_device(json_array_get(devices, 1), "uhca0");
	assert_device(json_array_get(devices, 2), "uhca1");
	json_decref(spec);
}

/* Names that the specification does not allow. */
static void test_names(void **state)
{
	static const char *const bad[] = {"", "0uhca", "uhca 1", "uhca-", "uhca/1"};
	json_t *spec = specification("uhca_1.a-b:2");

	(void)state;
	assert_non_null(spec);
	json_decref(spec);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_null(specification(bad[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_schema),
		cmocka_unit_test(test_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
