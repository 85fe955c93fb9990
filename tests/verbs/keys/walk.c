/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uhcactl show mr KEY on keys of every shape that a real program holds: the byte it says is the
 * one at that place of the layout, in this program's memory. Runs below uhca-run. With a folder as
 * argument it leaves the pictures there.
 */
#include "tests/support/verbs/verbs_pair.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <infiniband/uhcadv.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROWS   8u
#define ROW    1000u /* bytes of a row of the matrix */
#define PAGE   4096u
#define RIGHTS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_MW_BIND)

static const char *folder;

static FILE *ask(uint32_t key, uint64_t offset, const char *options)
{
	char command[4400];

	snprintf(command, sizeof(command), "'%s/uhcactl' %s show mr %#" PRIx32 " --offset %" PRIu64,
		 getenv("UHCA_BUILDDIR"), options, key, offset);
	return popen(command, "r");
}

static json_t *walk(uint32_t key, uint64_t offset)
{
	FILE *f = ask(key, offset, "--json");
	json_error_t error;
	json_t *walk;

	assert_non_null(f);
	walk = json_loadf(f, 0, &error);
	if (!walk)
		fail_msg("no walk of %#" PRIx32 " at %" PRIu64 ": %s", key, offset, error.text);
	assert_int_equal(pclose(f), 0);
	assert_int_equal(json_integer_value(json_object_get(walk, "client")) > 0, true);
	return walk;
}

/* The byte at an offset of the key is the one at "at"; the way has so many descriptions. */
static void check(uint32_t key, uint64_t offset, const void *at, unsigned steps)
{
	json_t *w = walk(key, offset);
	const json_t *byte = json_object_get(w, "byte");

	assert_int_equal(json_array_size(json_object_get(w, "steps")), steps);
	assert_non_null(byte);
	assert_int_equal(json_integer_value(byte), (uintptr_t)at);
	json_decref(w);
}

/* The words hold "part". */
static void check_words(uint32_t key, uint64_t offset, const char *part)
{
	FILE *f = ask(key, offset, "");
	char words[8192];
	size_t n;

	assert_non_null(f);
	n = fread(words, 1, sizeof(words) - 1, f);
	words[n] = 0;
	assert_int_equal(pclose(f), 0);
	if (!strstr(words, part))
		fail_msg("no '%s' in:\n%s", part, words);
}

static void draw(uint32_t key, uint64_t offset, const char *name)
{
	char options[4200];
	FILE *f;

	if (!folder)
		return;
	snprintf(options, sizeof(options), "--svg '%s/%s.svg'", folder, name);
	f = ask(key, offset, options);
	assert_int_equal(pclose(f), 0);
}

/* ---- keys ---- */

static struct ibv_mr *new_key(struct verbs_pair *p)
{
	struct ibv_mr *mr = uhcadv_alloc_mr(p->pd, 8);

	assert_non_null(mr);
	return mr;
}

/* Two cells of every second row, row by row: 4 x 2 cells of 8 bytes. */
static struct ibv_mr *column(struct verbs_pair *p)
{
	const struct uhcadv_piece piece = {.addr = (uintptr_t)p->a.memory + 24,
					   .bytes = 8,
					   .lkey = p->a.mr->lkey,
					   .stride = {2 * ROW, 40}};
	const struct uhcadv_interleaved layout = {
		.n_dims = 2, .n_pieces = 1, .count = {ROWS / 2, 2}, .piece = &piece};
	const struct uhcadv_reg_attr attr = {.access = IBV_ACCESS_LOCAL_WRITE, .key_byte = 0x5a};
	struct ibv_mr *mr = new_key(p);

	assert_int_equal(uhcadv_rereg_mr_interleaved(mr, &attr, &layout), 0);
	return mr;
}

static const uint8_t *cell(const struct verbs_pair *p, unsigned i, unsigned j)
{
	return p->a.memory + 24 + i * 2u * ROW + j * 40u;
}

static void test_column(void **state)
{
	struct verbs_pair *p = verbs_pair_create(IBV_QPT_RC, 0);
	struct ibv_mr *mr = column(p);

	(void)state;
	assert_int_equal(mr->rkey & 0xff, 0x5a);
	for (unsigned i = 0; i < ROWS; i++)
		check(mr->rkey, i * 8u + i, cell(p, i / 2, i % 2) + i, 1);
	check_words(mr->rkey, 29, "index      1 of 4 in dimension 0, times 2000 bytes\n");
	draw(mr->rkey, 29, "interleaved");
	assert_int_equal(ibv_dereg_mr(mr), 0);
	verbs_pair_destroy(p);
}

/* A header, a part of the column, and a part of any memory of the program. */
static void test_composite(void **state)
{
	static uint8_t elsewhere[64];
	struct verbs_pair *p = verbs_pair_create(IBV_QPT_RC, 0);
	struct ibv_mr *inner = column(p), *mr = new_key(p);
	struct ibv_mr *all = ibv_reg_mr(p->pd, NULL, SIZE_MAX, IBV_ACCESS_ON_DEMAND);
	struct uhcadv_block block[] = {
		{.addr = (uintptr_t)p->a.memory + 5, .length = 16, .lkey = p->a.mr->lkey},
		{.addr = 12, .length = 20, .lkey = inner->lkey},
		{.addr = (uintptr_t)elsewhere, .length = 64},
	};
	const struct uhcadv_reg_attr attr = {.iova = 0x1000};

	(void)state;
	assert_non_null(all);
	block[2].lkey = all->lkey;
	assert_int_equal(uhcadv_rereg_mr_sg(mr, &attr, block, 3), 0);
	check(mr->rkey, 0, p->a.memory + 5, 1);
	check(mr->rkey, 15, p->a.memory + 20, 1);
	check(mr->rkey, 16, cell(p, 0, 1) + 4, 2);
	check(mr->rkey, 35, cell(p, 1, 1) + 7, 2);
	check(mr->rkey, 36, elsewhere, 1);
	check(mr->rkey, 99, elsewhere + 63, 1);
	check_words(mr->rkey, 16, "shape      sg; pieces, one after another: 3; depth 2\n");
	draw(mr->rkey, 16, "composite");
	assert_int_equal(ibv_dereg_mr(inner), EBUSY);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_int_equal(ibv_dereg_mr(inner), 0);
	assert_int_equal(ibv_dereg_mr(all), 0);
	verbs_pair_destroy(p);
}

static void post(struct verbs_pair *p, struct uhcadv_send_wr *wr)
{
	struct uhcadv_send_wr *bad;

	wr->send_flags = IBV_SEND_SIGNALED;
	assert_int_equal(uhcadv_post_send(p->a.qp, wr, &bad), 0);
	assert_int_equal(verbs_pair_poll(p->a.cq).status, IBV_WC_SUCCESS);
}

/* A region that windows may be bound to parts of, over all of a's memory. */
static struct ibv_mr *bindable(struct verbs_pair *p)
{
	struct ibv_mr *mr = ibv_reg_mr(p->pd, p->a.memory, PAIR_MEMORY, RIGHTS);

	assert_non_null(mr);
	return mr;
}

static void test_pages(void **state)
{
	struct verbs_pair *p = verbs_pair_create(IBV_QPT_RC, 0);
	uintptr_t first = ((uintptr_t)p->a.memory + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
	const uint64_t page[] = {first + 3 * PAGE, first, first + 7 * PAGE};
	struct ibv_mr *mr = new_key(p);
	struct uhcadv_send_wr wr = {.opcode = UHCADV_WR_REG_MR_PAGES,
				    .reg = {.mr = mr,
					    .attr = {.iova = 0x7000100, .key_byte = 3},
					    .pages = {.lkey = p->a.mr->lkey,
						      .n = 3,
						      .page_shift = 12,
						      .page = page,
						      .length = 2 * PAGE + 50}}};

	(void)state;
	post(p, &wr);
	check(mr->rkey, 0, (void *)(uintptr_t)(page[0] + 0x100), 1);
	check(mr->rkey, PAGE - 0x100, (void *)(uintptr_t)page[1], 1);
	check(mr->rkey, 2 * PAGE + 49, (void *)(uintptr_t)(page[2] + 0x100 + 49), 1);
	check_words(mr->rkey, 5000, "page       0x1488 >> 12 = 1\n");
	draw(mr->rkey, 5000, "pages");
	assert_int_equal(ibv_dereg_mr(mr), 0);
	verbs_pair_destroy(p);
}

/* Blocks, and a window on a part of them; then the key is invalid. */
static void test_blocks(void **state)
{
	struct verbs_pair *p = verbs_pair_create(IBV_QPT_RC, 0);
	struct ibv_mr *below = bindable(p), *mr = new_key(p);
	struct ibv_mw *mw = ibv_alloc_mw(p->pd, IBV_MW_TYPE_1);
	const struct uhcadv_block block[] = {
		{.addr = (uintptr_t)p->a.memory + 5000, .length = 100, .lkey = below->lkey},
		{.addr = (uintptr_t)p->a.memory + 77, .length = 300, .lkey = below->lkey}};
	struct uhcadv_send_wr wr = {
		.opcode = UHCADV_WR_REG_MR_BLOCKS,
		.reg = {.mr = mr, .attr = {.access = RIGHTS}, .block = block, .n_blocks = 2}};
	struct ibv_mw_bind bind = {.send_flags = IBV_SEND_SIGNALED,
				   .bind_info = {.mr = mr,
						 .addr = 90,
						 .length = 40,
						 .mw_access_flags = IBV_ACCESS_REMOTE_READ}};
	struct ibv_send_wr *bad,
		inv = {.opcode = IBV_WR_LOCAL_INV, .send_flags = IBV_SEND_SIGNALED};

	(void)state;
	assert_non_null(mw);
	post(p, &wr);
	check(mr->rkey, 99, p->a.memory + 5099, 1);
	check(mr->rkey, 100, p->a.memory + 77, 1);
	assert_int_equal(ibv_bind_mw(p->a.qp, mw, &bind), 0);
	assert_int_equal(verbs_pair_poll(p->a.cq).status, IBV_WC_SUCCESS);
	check(mw->rkey, 9, p->a.memory + 5099, 1);
	check(mw->rkey, 10, p->a.memory + 77, 1);
	check_words(mw->rkey, 10, "window     40 bytes from byte 90 of the region of key 0x");
	draw(mw->rkey, 10, "window");
	assert_int_equal(ibv_dealloc_mw(mw), 0);
	inv.invalidate_rkey = mr->rkey;
	assert_int_equal(ibv_post_send(p->a.qp, &inv, &bad), 0);
	assert_int_equal(verbs_pair_poll(p->a.cq).status, IBV_WC_SUCCESS);
	check_words(mr->rkey, 0, "pages      none: nothing: the key is invalid\n");
	draw(mr->rkey, 0, "invalid");
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_int_equal(ibv_dereg_mr(below), 0);
	verbs_pair_destroy(p);
}

/* Device memory and the null region have no byte in the program, and say so. */
static void test_elsewhere(void **state)
{
	struct verbs_pair *p = verbs_pair_create(IBV_QPT_RC, 0);
	struct ibv_alloc_dm_attr attr = {.length = 256};
	struct ibv_dm *dm = ibv_alloc_dm(p->context, &attr);
	struct ibv_mr *on_dm =
		ibv_reg_dm_mr(p->pd, dm, 0, 256, IBV_ACCESS_ZERO_BASED | IBV_ACCESS_LOCAL_WRITE);
	struct ibv_mr *null = ibv_alloc_null_mr(p->pd), *mr = new_key(p);
	const struct uhcadv_reg_attr reg = {0};
	json_t *w;

	(void)state;
	assert_true(on_dm && null);
	const struct uhcadv_block block[] = {{.addr = 10, .length = 20, .lkey = on_dm->lkey},
					     {.addr = 10, .length = 20, .lkey = null->lkey}};
	assert_int_equal(uhcadv_rereg_mr_sg(mr, &reg, block, 2), 0);
	check_words(mr->rkey, 5, "pages      none: device memory\noffset 15 of the region");
	check_words(mr->rkey, 25, "pages      none: nothing\n");
	w = walk(mr->rkey, 5);
	assert_null(json_object_get(w, "byte"));
	json_decref(w);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_int_equal(ibv_dereg_mr(null), 0);
	assert_int_equal(ibv_dereg_mr(on_dm), 0);
	assert_int_equal(ibv_free_dm(dm), 0);
	verbs_pair_destroy(p);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_column),    cmocka_unit_test(test_composite),
		cmocka_unit_test(test_pages),     cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_elsewhere),
	};

	/* uhcactl is a program of its own: what preloading made of this one is not for it. */
	unsetenv("LD_PRELOAD");
	folder = argc > 1 ? argv[1] : NULL;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
