/* SPDX-License-Identifier: BSD-2-Clause */
/* The registry: by address, by key, who stands on whom, and keys of regions that are gone. */
#include "provider/sanitize/object.h"

#include "tests/support/wire/cmocka_all.h"

#include <unistd.h>

static struct ibv_context context, other;

static struct uhcav_object region(const void *self, uint32_t lkey, const void *pd)
{
	return (struct uhcav_object){.kind = UHCAV_KIND_MR,
				     .self = self,
				     .number = lkey,
				     .pid = getpid(),
				     .context = &context,
				     .uses = {pd},
				     .mr = {.lkey = lkey}};
}

static void test_life(void **state)
{
	int self = 0, pd = 0;
	struct uhcav_object o = region(&self, 0x11, &pd), found;
	char words[UHCAV_OBJECT_WORDS];

	(void)state;
	assert_false(uhcav_object_find(&self, &found));
	uhcav_object_add(&o);
	assert_true(uhcav_object_find(&self, &found));
	assert_true(uhcav_object_by_key(&context, 0x11, &found));
	assert_false(uhcav_object_by_key(&other, 0x11, &found));
	assert_int_equal(uhcav_object_users(&pd, &found, 1), 1);
	assert_int_equal(uhcav_object_users(&self, &found, 1), 0);
	assert_string_equal(uhcav_object_words(&found, words), "memory region 0x11");
	assert_true(uhcav_object_take(&self, &found));
	assert_false(uhcav_object_take(&self, &found));
	assert_false(uhcav_object_by_key(&context, 0x11, &found));
}

/* The youngest region of a key counts, and a living one more than any that is gone. */
static void test_graves(void **state)
{
	static const uintptr_t pcs[] = {1, 2};
	const struct uhcav_stack *gone = uhcav_stack_keep(pcs, 2);
	int self[3000];
	struct uhcav_object o, found;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		o = region(&self[i], 0x22, NULL);
		uhcav_object_bury(&o, gone);
		assert_true(uhcav_object_by_key(&context, 0x22, &found));
		assert_ptr_equal(found.self, &self[i]);
		assert_ptr_equal(found.gone, gone);
	}
	o = region(&self[2], 0x22, NULL);
	uhcav_object_add(&o);
	assert_true(uhcav_object_by_key(&context, 0x22, &found));
	assert_null(found.gone);
	assert_true(uhcav_object_take(&self[2], &found));
	for (unsigned i = 3; i < 3000; i++) {
		o = region(&self[i], 0x1000 + i, NULL);
		uhcav_object_bury(&o, gone);
	}
	assert_false(uhcav_object_by_key(&context, 0x22, &found)); /* forgotten */
	assert_true(uhcav_object_by_key(&context, 0x1000 + 2999, &found));
}

/* An R_Key may be another number than the L_Key. */
static void test_rkey(void **state)
{
	static const uintptr_t pcs[] = {1, 2};
	const struct uhcav_stack *gone = uhcav_stack_keep(pcs, 2);
	int self[2];
	struct uhcav_object o = region(&self[0], 0x91, NULL), found;

	(void)state;
	o.mr.rkey = 0x92;
	uhcav_object_bury(&o, gone);
	assert_true(uhcav_object_by_rkey(&context, 0x92, &found));
	assert_ptr_equal(found.gone, gone);
	assert_false(uhcav_object_by_rkey(&context, 0x91, &found));
	assert_false(uhcav_object_by_rkey(&other, 0x92, &found));
	o.self = &self[1];
	uhcav_object_add(&o);
	assert_true(uhcav_object_by_rkey(&context, 0x92, &found));
	assert_ptr_equal(found.self, &self[1]);
	assert_null(found.gone);
	assert_true(uhcav_object_take(&self[1], &found));
}

/* A window is known by what stands above the key byte: a bind changes that byte. */
static void test_window(void **state)
{
	int self = 0;
	struct uhcav_object o = region(&self, 0x4500, NULL), found;

	(void)state;
	uhcav_object_add(&o);
	assert_false(uhcav_object_window(&context, 0x4500, &found)); /* a region */
	assert_true(uhcav_object_take(&self, &found));
	o.kind = UHCAV_KIND_MW;
	uhcav_object_add(&o);
	assert_true(uhcav_object_window(&context, 0x4577, &found));
	assert_ptr_equal(found.self, &self);
	assert_false(uhcav_object_window(&context, 0x4600, &found));
	assert_false(uhcav_object_window(&other, 0x4500, &found));
	assert_true(uhcav_object_take(&self, &found));
	assert_false(uhcav_object_window(&context, 0x4500, &found));
}

static void note(struct uhcav_object *o, void *arg)
{
	const void **seen = *(const void ***)arg;

	*seen++ = o->self;
	*(const void ***)arg = seen;
}

static void test_each(void **state)
{
	int self[3];
	const void *seen[4] = {0}, **at = seen;
	struct uhcav_object o;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		o = region(&self[i], i, NULL);
		o.pid = i == 1 ? getppid() : getpid(); /* of another process: before a fork */
		uhcav_object_add(&o);
	}
	uhcav_object_each(note, &at);
	assert_ptr_equal(seen[0], &self[0]);
	assert_ptr_equal(seen[1], &self[2]);
	assert_null(seen[2]);
	for (unsigned i = 0; i < 3; i++)
		assert_true(uhcav_object_take(&self[i], &o));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_life), cmocka_unit_test(test_graves),
		cmocka_unit_test(test_rkey), cmocka_unit_test(test_window),
		cmocka_unit_test(test_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
