/* SPDX-License-Identifier: BSD-2-Clause */
/* Regions of pinned memory: registration, their spans, rereg, and what the device says of them. */
#include "tests/support/core/core_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include "emu/core/keys/sgl.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <string.h>

#define ADDR  0x7f0000001000ull
#define SIZE  (256u << 10)
#define LOCAL IBV_ACCESS_LOCAL_WRITE

static uint8_t arena[2 * SIZE];
static const struct core_arena mapped = {.size = sizeof(arena), .window = {arena}};

static struct uhca_cmd_reg_pinned_mr request(struct fixture *f)
{
	struct uhca_cmd_reg_pinned_mr in = {
		.mr = {.addr = ADDR, .iova = ADDR, .length = SIZE, .access = LOCAL},
		.n_extents = 1,
		.extent = {{ADDR + 4096, 65536, SIZE}}};

	assert_int_equal(core_alloc_pd(f->client, &in.mr.pd), 0);
	return in;
}

static struct mr *region(struct fixture *f, uint32_t handle)
{
	struct mr *mr;

	assert_int_equal(mr_find(f->client, handle, &mr), 0);
	return mr;
}

/* The space of the byte at this offset, and where it is. */
static uint32_t space_of(const struct mr *mr, uint64_t offset, uint64_t *at)
{
	struct core_span span;
	uint32_t walked;

	assert_int_equal(mr_spans(mr, mr->iova + offset, 1, &span, 1, &walked), 1);
	*at = span.addr;
	return span.space;
}

static void test_arena(void **state)
{
	struct uhca_cmd_reg_mr_reply out;
	struct uhca_cmd_reg_pinned_mr in;
	struct fixture f;

	(void)state;
	fixture_start(&f, NULL);
	in = request(&f);
	assert_int_equal(core_reg_pinned_mr(f.client, &in, &out), -EINVAL); /* there is none */
	assert_int_equal(core_attach_arena(f.client, &mapped), 0);
	assert_int_equal(core_attach_arena(f.client, &mapped), -EBUSY);
	in.mr.access |= IBV_ACCESS_ON_DEMAND;
	assert_int_equal(core_reg_pinned_mr(f.client, &in, &out), -EINVAL);
	in.mr.access = 1u << 15;
	assert_int_equal(core_reg_pinned_mr(f.client, &in, &out), -EINVAL);
	in.mr.access = LOCAL;
	assert_int_equal(core_reg_pinned_mr(f.client, &in, &out), 0);
	fixture_stop(&f);
}

static void test_spans(void **state)
{
	struct uhca_cmd_rereg_mr rereg = {.flags = IBV_REREG_MR_CHANGE_ACCESS, .access = 0};
	struct uhca_cmd_reg_mr_reply out;
	struct uhca_cmd_reg_pinned_mr in;
	struct fixture f;
	const struct mr *mr;
	uint64_t at;

	(void)state;
	fixture_start(&f, NULL);
	in = request(&f);
	in.mr.iova = 0x5000; /* other addresses than the memory's */
	assert_int_equal(core_attach_arena(f.client, &mapped), 0);
	assert_int_equal(core_reg_pinned_mr(f.client, &in, &out), 0);
	mr = region(&f, out.handle);
	assert_int_equal(space_of(mr, 4095, &at), CORE_SPACE_CLIENT);
	assert_int_equal(at, ADDR + 4095);
	assert_int_equal(space_of(mr, 4096, &at), CORE_SPACE_DEVICE);
	assert_ptr_equal((void *)(uintptr_t)at, arena + SIZE);
	assert_int_equal(space_of(mr, 4096 + 65536, &at), CORE_SPACE_CLIENT);
	assert_true(core_pinned_at(f.client, (uintptr_t)arena + SIZE + 7, &at));
	assert_int_equal(at, ADDR + 4096 + 7);
	assert_false(core_pinned_at(f.other, (uintptr_t)arena + SIZE + 7, &at));
	assert_false(core_pinned_at(f.client, (uintptr_t)arena + SIZE - 1, &at));

	rereg.handle = out.handle; /* the memory stays */
	assert_int_equal(core_rereg_mr(f.client, &rereg, &out), 0);
	assert_int_equal(space_of(mr, 4096, &at), CORE_SPACE_DEVICE);
	rereg.flags = IBV_REREG_MR_CHANGE_TRANSLATION; /* and here it is other memory */
	rereg.addr = rereg.iova = ADDR;
	rereg.length = SIZE;
	assert_int_equal(core_rereg_mr(f.client, &rereg, &out), 0);
	assert_int_equal(space_of(mr, 4096, &at), CORE_SPACE_CLIENT);
	assert_int_equal(at, ADDR + 4096);
	fixture_stop(&f);
}

static const void *map(void *client, const struct core_span *at, const uint8_t dst[16])
{
	(void)client;
	assert_int_equal(at->space, CORE_SPACE_DEVICE);
	return dst[0] ? NULL : (const void *)(uintptr_t)at->addr;
}

/* Payload is taken from where it stands, if all of it stands there. */
static void test_map(void **state)
{
	static const uint8_t here[16], elsewhere[16] = {1};
	struct uhca_cmd_reg_mr_reply out;
	struct uhca_cmd_reg_pinned_mr in;
	struct uhca_abi_sge sge[3] = {{.length = 0}};
	struct fixture f;
	struct sgl l = {.sge = sge, .n = 3};

	(void)state;
	fixture_start(&f, NULL);
	in = request(&f);
	assert_int_equal(core_attach_arena(f.client, &mapped), 0);
	assert_int_equal(core_reg_pinned_mr(f.client, &in, &out), 0);
	l.dev = f.dev;
	l.pd = table_find(&f.dev->pds, in.mr.pd);
	sge[1] = (struct uhca_abi_sge){ADDR, 8192, out.lkey};
	sge[2] = (struct uhca_abi_sge){ADDR + 16384, 1000, out.lkey};
	assert_null(sgl_map(&l, 4096, 1, here)); /* the shell has no such thing */
	f.ops.mem_map = map;
	assert_ptr_equal(sgl_map(&l, 4096, 4096, here), arena + SIZE);
	assert_ptr_equal(sgl_map(&l, 8191, 1, here), arena + SIZE + 4095);
	assert_ptr_equal(sgl_map(&l, 8192, 1000, here), arena + SIZE + 16384 - 4096);
	assert_null(sgl_map(&l, 4096, 1, elsewhere));
	assert_null(sgl_map(&l, 4095, 2, here)); /* borrowed in part */
	assert_null(sgl_map(&l, 8191, 2, here)); /* in two elements */
	assert_null(sgl_map(&l, 8192, 1001, here));
	assert_null(sgl_map(&l, 9192, 1, here)); /* behind the list */
	sge[1].lkey ^= 1;
	assert_null(sgl_map(&l, 4096, 1, here));
	fixture_stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arena),
		cmocka_unit_test(test_spans),
		cmocka_unit_test(test_map),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
