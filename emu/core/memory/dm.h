/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Device memory (ibv_alloc_dm(3)): memory of the device itself that clients register and name in
 * work requests like their own. It is shared with the client that made it, so that copying to and
 * from it needs no command. All of one device's counts against limits.max_dm_size.
 */
#ifndef CORE_DM_H
#define CORE_DM_H

#include "emu/core/base/base.h"

/* A client cannot make the device keep more pieces than this, of both kinds, however short. */
#define DM_MAX_PIECES 1024u

struct dm {
	struct object obj; /* refs: the regions registered in it */
	bool shared;       /* the program uses it at ordinary addresses */
	uint64_t length;
	uint8_t *base; /* its first byte, behind the header of the shared region */
	struct core_ring ring;
};

/* One user less: the region that stood in it is gone. */
void dm_put(struct dm *dm);

extern const struct object_type object_dm;

#endif
