/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory regions: keys, states, the checks every access passes (IBTA vol. 1, 10.6), and the way
 * from (key, address, length) to the client's memory. The key is the table handle shifted by
 * eight plus a key byte that belongs to the consumer.
 */
#ifndef CORE_MR_H
#define CORE_MR_H

#include "emu/core/memory/memory.h"
#include "indirect.h"

/* Access flags: the values of enum ibv_access_flags. */
enum {
	MR_LOCAL_WRITE = 1 << 0,
	MR_REMOTE_WRITE = 1 << 1,
	MR_REMOTE_READ = 1 << 2,
	MR_REMOTE_ATOMIC = 1 << 3,
	MR_MW_BIND = 1 << 4,
	MR_ZERO_BASED = 1 << 5,
	MR_ON_DEMAND = 1 << 6,
	MR_HUGETLB = 1 << 7, /* a promise of the program; the device needs none */
	MR_FLUSH_GLOBAL = 1 << 8,
	MR_FLUSH_PERSISTENT = 1 << 9, /* as lasting as the program's memory is */
	MR_FLUSH = MR_FLUSH_GLOBAL | MR_FLUSH_PERSISTENT,
	MR_OPTIONAL = 0x3ff << 20, /* RELAXED_ORDERING and others a device may ignore */
};

#define MR_HANDLE_BITS 24 /* of a key; the low eight are the key byte */

struct dm;

/* What stands behind the addresses. */
enum mr_kind {
	MR_KIND_MEMORY,   /* pages of the client that registered it */
	MR_KIND_IMPLICIT, /* the client's whole address space, on demand; addresses are its own */
	MR_KIND_DEVICE,   /* device memory */
	MR_KIND_NULL,     /* nothing: reads give zeroes, writes are dropped */
	MR_KIND_LOST,     /* memory of a client that has ended while others knew the region */
	MR_KIND_INDIRECT, /* pieces of other regions, or nothing yet (indirect.h) */
};

/* What a memory key names; struct object.kind. Both kinds stand in one table. */
enum key_kind { KEY_MR, KEY_MW };

/* Who names a key in a request: the queue that it came to, and the domain in which it works. */
struct key_user {
	const struct device *dev;
	const struct pd *pd; /* NULL: none, no key is right */
	uint32_t qpn;
};

struct mr {
	struct object obj;
	struct pd *pd;
	uint32_t key;  /* the L_Key */
	uint8_t split; /* the bits of the key byte in which the R_Key differs; 0: it does not */
	uint32_t access;
	bool revoked; /* core_inject_revoke: this key opens nothing */
	enum mr_kind kind;
	uint64_t iova;
	uint64_t addr; /* where the region begins: in the client, or (DEVICE) in this process */
	struct dm *dm; /* DEVICE: used by us */
	struct indirect *ind;    /* INDIRECT */
	struct page_array pages; /* length is set for each kind, the pages for MEMORY only */
	struct extents *pinned;  /* MEMORY: what of it is mapped here; NULL: nothing */
	uint32_t borrowed;       /* why not all of it is: enum uhca_abi_borrowed */
	uint32_t hint;           /* of a DMA handle: UHCA_ABI_HINT_* */
};

/*
 * Enters a filled-in region into the PD: gives it a handle and a key. 0 or -ENOMEM. Afterwards
 * mr_destroy frees it with all it has.
 */
int mr_add(struct client *c, struct pd *pd, struct mr *mr);

static inline uint32_t mr_rkey(const struct mr *mr)
{
	return mr->key ^ mr->split;
}

/* What the program is told of a region that was registered. */
static inline void mr_reply(const struct mr *mr, struct uhca_cmd_reg_mr_reply *out)
{
	out->handle = mr->obj.handle;
	out->lkey = mr->key;
	out->rkey = mr_rkey(mr);
}

/* The number is one of the region's two keys. */
static inline bool mr_is_named(const struct mr *mr, uint32_t key)
{
	return key == mr->key || key == mr_rkey(mr);
}

/* Another, unpredictable key byte: the old key is stale. */
void mr_new_key(struct mr *mr);

/* Are these access flags right for a region (ibv_reg_mr(3))? 0, -EINVAL or -EOPNOTSUPP. */
int mr_access_check(struct device *dev, uint32_t access);

/* -EINVAL: [from, from + length) leaves the address space. -ENOMEM: limit client_memory. */
int mr_refuse_wrap(struct device *dev, uint64_t length, uint64_t from);
int mr_refuse_capacity(const struct client *c, uint64_t bytes);

/*
 * Pages for [addr, addr + length): 0, -EINVAL for a range that wraps or is too long, -ENOMEM, also
 * where the client has all the memory that it may have here.
 */
int mr_make_pages(const struct client *c, uint64_t addr, uint64_t length, struct page_array *out);

/*
 * What the region has takes memory of its owner's share, from now on or no longer. Whatever changes
 * what it has, or who owns it, stands between the two.
 */
void mr_charge(const struct mr *mr);
void mr_refund(const struct mr *mr);

/* What core_reg_mr does; *made is the region. */
int mr_register(struct client *c, const struct uhca_cmd_reg_mr *in,
		struct uhca_cmd_reg_mr_reply *out, struct mr **made);

/* The region's pages are others now, or none: what was pinned of the old ones counts no more. */
void mr_forget_extents(struct mr *mr);

/* How many bytes of a client's memory are pinned, and why not all. */
void mr_describe_pinning(const struct mr *mr, struct facts *f);

/* The client that owned the memory has ended; the region stays, without memory behind it. */
void mr_lose(struct mr *mr);

/* A region this client shares in: 0, or -EINVAL for any other handle (a window's, too). */
int mr_find(struct client *c, uint32_t handle, struct mr **out);

/*
 * Unregisters whatever its use count (windows are unbound); for teardown. core_dereg_mr is the
 * polite way.
 */
void mr_destroy(struct mr *mr);

/* What a check found; it says what happened, not where to go. */
enum mr_verdict {
	MR_OK,
	MR_BAD_KEY,    /* no such key, a stale key byte, or a key that is invalid */
	MR_BAD_PD,     /* belongs to another protection domain */
	MR_BAD_ACCESS, /* the region does not allow it */
	MR_BAD_RANGE,  /* not inside the region */
};

/*
 * Looks an L_Key up in the PD's device and checks it for an access of length bytes at addr that
 * needs all the bits of "need" (MR_LOCAL_WRITE, MR_REMOTE_*; 0 is a local read). Checked in the
 * order of the verdicts: key, protection domain, access, range; an access of no bytes is in range
 * anywhere. On MR_OK *out is the region, which is good until the next control verb.
 */
enum mr_verdict mr_check(const struct pd *pd, uint32_t key, uint64_t addr, uint64_t length,
			 uint32_t need, struct mr **out);

/*
 * Spans of [addr, addr + length) of a region that passed mr_check and has memory of its own, or
 * device memory; see page_array_walk for max and *walked.
 */
unsigned mr_spans(const struct mr *mr, uint64_t addr, uint32_t length, struct core_span *out,
		  unsigned max, uint32_t *walked);

extern const struct object_type object_mr;

#endif
