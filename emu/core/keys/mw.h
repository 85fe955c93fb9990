/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory windows (IBTA vol. 1, 10.6.7.2): a key of its own for a part of a region, with rights of
 * its own, given and taken away by work requests instead of by control verbs.
 *
 *   type 1   bound by ibv_bind_mw, rebound at will; usable from any QP of its protection domain.
 *   type 2A  bound once, to the QP whose queue did it: the QP number is all that is checked.
 *   type 2B  likewise; QP number and protection domain are checked.
 *
 * A type 2 window must be invalidated (invalidate.h) before it is bound again. Windows stand in
 * the table of regions, so that one look-up tells what a key is. A bound window counts as a use
 * of its region, one of type 2A also as a use of its QP: its number must not get another owner
 * while the number alone opens the window.
 */
#ifndef CORE_MW_H
#define CORE_MW_H

#include "emu/abi/wqe.h"
#include "mr.h"

struct mw {
	struct object obj; /* kind: KEY_MW */
	struct pd *pd;
	uint32_t key;
	uint8_t type;  /* enum ibv_mw_type: 1 or 2 */
	bool by_qpn;   /* type 2A */
	struct mr *mr; /* NULL: bound to nothing, the key opens nothing */
	uint32_t access;
	uint64_t addr, length; /* in addresses of the region */
	uint32_t qpn;          /* type 2: bound to this QP */
};

/*
 * Executes a bind request of the queue (C10-72 to C10-75 and 10.6.7.2). False, nothing changed,
 * when the rules forbid it.
 */
bool mw_bind(struct key_user user, const struct uhca_abi_send_wqe *wqe);

/* The window opens nothing any more; harmless when it is not bound. */
void mw_unbind(struct mw *mw);

/* Whether a type 2 window is bound to this QP, as its subtype sees it. */
bool mw_bound_to(const struct mw *mw, struct key_user user);

/* Unbinds every window of the region: it goes away whatever its uses. */
void mw_unbind_all(struct mr *mr);

/*
 * mr_check for a request that came to the QP: the key is a region's or a window's. On MR_OK *mr is
 * the region and *addr the address in it, which differs from the one given for a zero based
 * window. A window that is bound to nothing or to another QP is MR_BAD_KEY.
 */
enum mr_verdict remote_check(struct key_user user, uint32_t key, uint64_t *addr, uint64_t length,
			     uint32_t need, struct mr **mr);

extern const struct object_type object_mw;

#endif
