/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Why a key does not open what was asked of it, in as much detail as the device has: for who
 * explains a failure (trace.h). Never asked where all is well.
 */
#ifndef CORE_KEY_CAUSE_H
#define CORE_KEY_CAUSE_H

#include "mr.h"
#include "sgl.h"

struct mw;

/* An access of length bytes at addr that needs all the bits of "need". */
struct key_access {
	uint32_t key;
	uint64_t addr, length;
	uint32_t need;
	bool remote; /* the key is an R_Key that a peer named */
};

/*
 * What stands against it just now. MEMORY where nothing does: then what is behind the key could not
 * be reached.
 */
struct uhca_abi_cause key_cause(struct key_user user, const struct key_access *a);

/* The same of the first element of a list that is not right. */
struct uhca_abi_cause sgl_cause(const struct sgl *l, uint32_t need);

/* The keys of a region end now: for KEY_DEAD. The newest DEVICE_DEAD_KEYS are remembered. */
void key_remember(const struct mr *mr);

#endif
