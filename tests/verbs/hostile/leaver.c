/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * leaver N: registers N regions, makes N keys, each described by pieces of one of them, and ends
 * without a word: what it had is as much work to free as one client can make.
 */
#include "tests/verbs/rogues/rig.h"

#include <infiniband/uhcadv.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PIECES 128u
#define BYTES  64u

static struct rig rig;

static void describe(struct ibv_mr *key, const struct ibv_mr *mr)
{
	const struct uhcadv_reg_attr attr = {.access = IBV_ACCESS_LOCAL_WRITE,
					     .key_byte = (uint8_t)key->rkey};
	struct uhcadv_block block[PIECES];

	for (unsigned i = 0; i < PIECES; i++)
		block[i] = (struct uhcadv_block){
			.addr = (uintptr_t)rig.buf, .length = BYTES, .lkey = mr->lkey};
	if (uhcadv_rereg_mr_sg(key, &attr, block, PIECES))
		rig_die("uhcadv_rereg_mr_sg");
}

int main(int argc, char **argv)
{
	unsigned n = argc == 2 ? (unsigned)atoi(argv[1]) : 0;
	struct ibv_mr **mr = calloc(n, sizeof(struct ibv_mr *));

	if (!mr || n == 0)
		rig_die("usage: leaver N");
	rig_open(&rig, 64, 4096);
	for (unsigned i = 0; i < n; i++)
		if (!(mr[i] = ibv_reg_mr(rig.pd, rig.buf, BYTES, IBV_ACCESS_LOCAL_WRITE)))
			rig_die("ibv_reg_mr, number %u", i);
	for (unsigned i = 0; i < n; i++) {
		struct ibv_mr *key = uhcadv_alloc_mr(rig.pd, PIECES);

		if (!key)
			rig_die("uhcadv_alloc_mr, number %u", i);
		describe(key, mr[i]);
	}
	_exit(0);
}
