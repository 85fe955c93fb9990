/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Direct verbs of uhca: the memory management that libibverbs has no calls for. Keys without
 * memory, registration through the send queue, non-contiguous layouts, READ with invalidate,
 * masked atomics, low-latency QPs. See uhcadv(7), and a page of section 3 for each family.
 *
 * Link with -luhca -libverbs. All calls work on ordinary objects of libibverbs that belong to a
 * uhca device; on others they fail with EOPNOTSUPP. What a device's profile has not is refused
 * with EOPNOTSUPP, too: uhcadv_query_device tells beforehand.
 *
 * Structs begin with comp_mask, which says what fields beyond those of the first release are
 * there: 0 for now, else EINVAL. Functions return 0 or an errno value, those that return a pointer
 * NULL with errno set, as libibverbs does.
 */
#ifndef UHCADV_H
#define UHCADV_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what there is: uhcadv_query_device(3) ---- */

enum uhcadv_cap {
	UHCADV_CAP_FAST_REG = 1 << 0,   /* uhcadv_alloc_mr, registration with page lists */
	UHCADV_CAP_BLOCK_LIST = 1 << 1, /* registration with blocks of any size and alignment */
	UHCADV_CAP_INTERLEAVED = 1 << 2,
	UHCADV_CAP_SG = 1 << 3,
	UHCADV_CAP_INVALIDATE = 1 << 4,       /* LOCAL_INV and SEND_WITH_INV */
	UHCADV_CAP_INVALIDATE_FENCE = 1 << 5, /* a fenced LOCAL_INV waits for all before it */
	UHCADV_CAP_READ_WITH_INV = 1 << 6,
	UHCADV_CAP_READ_SINK_WRITE = 1 << 7, /* a READ's target must allow remote writes (iWARP) */
	UHCADV_CAP_KEY_BYTE = 1 << 8,        /* the program chooses the low byte of a key */
	UHCADV_CAP_ZERO_BASED = 1 << 9,      /* IBV_ACCESS_ZERO_BASED */
	UHCADV_CAP_MASKED_ATOMICS = 1 << 10, /* of the sizes in masked_atomic_sizes */
	UHCADV_CAP_BLOCK_LOOPBACK = 1 << 11, /* IBV_QP_CREATE_BLOCK_SELF_MCAST_LB */
	UHCADV_CAP_LOW_LATENCY = 1 << 12,    /* UHCADV_QP_LOW_LATENCY */
	UHCADV_CAP_MW_TYPE_1 = 1 << 13,
	UHCADV_CAP_MW_TYPE_2A = 1 << 14,
	UHCADV_CAP_MW_TYPE_2B = 1 << 15,
	UHCADV_CAP_XRC = 1 << 16,
	UHCADV_CAP_SHARED_MEMORY = 1 << 17, /* uhcadv_alloc_shared */
};

#define UHCADV_MAX_DIMS   8u
#define UHCADV_MAX_PIECES 16u

struct uhcadv_device_attr {
	uint64_t comp_mask;           /* 0 */
	uint64_t caps;                /* enum uhcadv_cap */
	uint64_t page_size_cap;       /* page sizes of fast registration: bit s is 1 << s bytes */
	uint64_t max_shared_size;     /* bytes of all shared memory together */
	uint32_t max_list_entries;    /* pages or blocks of one description */
	uint32_t max_pieces;          /* of an interleaved layout */
	uint32_t max_dims;            /* of an interleaved layout */
	uint32_t max_depth;           /* descriptions over descriptions */
	uint32_t masked_atomic_sizes; /* sum of the sizes in bytes: 8, or 4 + 8 + 16 + 32 */
	uint32_t max_low_latency_wr;  /* send requests of a low-latency QP */
	char profile[16];             /* "default", "iwarp-like", ... */
};

/* Is it a device of ours? */
bool uhcadv_is_supported(struct ibv_device *device);

/* Fills in the first attr_size bytes of attr; 0, EINVAL or EOPNOTSUPP (not a uhca device). */
int uhcadv_query_device(struct ibv_context *context, struct uhcadv_device_attr *attr,
			size_t attr_size);

/* ---- queue pairs: uhcadv_create_qp(3) ---- */

enum uhcadv_qp_create_flags {
	/*
	 * A shallow queue (max_low_latency_wr) of inline requests: served before all other QPs, and
	 * its packets and acknowledgements never wait for company.
	 */
	UHCADV_QP_LOW_LATENCY = 1 << 0,
};

/* Operations beyond enum ibv_qp_create_send_ops_flags that the QP can build (uhcadv_wr_post(3)). */
enum uhcadv_qp_send_ops_flags {
	UHCADV_QP_WITH_REG_MR = 1 << 0,
	UHCADV_QP_WITH_REG_INTERLEAVED = 1 << 1,
	UHCADV_QP_WITH_REG_SG = 1 << 2,
	UHCADV_QP_WITH_READ_WITH_INV = 1 << 3,
	/* Both ends must be uhca devices: no standard packet carries these (masked_atomics). */
	UHCADV_QP_WITH_MASKED_CMP_SWP = 1 << 4,
	UHCADV_QP_WITH_MASKED_FETCH_ADD = 1 << 5,
};

struct uhcadv_qp_init_attr {
	uint64_t comp_mask; /* 0 */
	uint64_t send_ops_flags;
	uint32_t create_flags;
	uint32_t max_list_entries; /* the longest list that is posted; 0: what fits anyway */
};

/*
 * ibv_create_qp_ex with more; dv_attr may be NULL. NULL with errno, in addition: EINVAL for a list
 * longer than the device takes, EOPNOTSUPP for operations or flags that the device has not or that
 * are not for QPs of the type: registration is for RC, UC and XRC_SEND, the others are for RC.
 */
struct ibv_qp *uhcadv_create_qp(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr,
				struct uhcadv_qp_init_attr *dv_attr);

/* ---- keys: uhcadv_alloc_mr(3) ---- */

/*
 * A region without memory, in the invalid state: lkey and rkey are the same, nobody may use them
 * until they are described. max_entries: the longest list of pages or blocks it will take. Freed
 * with ibv_dereg_mr, which answers EBUSY while windows are bound to it or other keys describe
 * parts of it; also memory that is part of a description cannot be deregistered.
 */
struct ibv_mr *uhcadv_alloc_mr(struct ibv_pd *pd, uint32_t max_entries);

/* Sets the key byte in lkey and rkey of our struct; the device is not asked. */
static inline void uhcadv_set_key_byte(struct ibv_mr *mr, uint8_t byte)
{
	mr->lkey = mr->rkey = (mr->rkey & 0xffffff00u) | byte;
}

/* What is common to all descriptions. */
struct uhcadv_reg_attr {
	uint64_t comp_mask; /* 0 */
	uint64_t iova;      /* first address of the key; 0: zero based */
	unsigned access;    /* enum ibv_access_flags, no wider than those of the memory described */
	uint8_t key_byte;   /* of the key from now on; mr->lkey and mr->rkey get it */
};

/* A piece of another region of the same protection domain. */
struct uhcadv_block {
	uint64_t addr; /* as that region is addressed */
	uint64_t length;
	uint32_t lkey;
};

/*
 * Pages of 1 << page_shift bytes (12..30), by their addresses in the region lkey; the key begins at
 * byte iova % page size of the first one.
 */
struct uhcadv_page_list {
	uint32_t lkey;
	uint32_t n;
	uint8_t page_shift;
	const uint64_t *page;
	uint64_t length; /* bytes of the key */
};

/*
 * For each combination of the dimensions' indices (count of each, outermost first, the last
 * running fastest), each piece in its order: bytes at addr + sum of index * stride. One column of
 * an M x N matrix of doubles: one dimension of M, one piece of 8 bytes with a stride of 8 N. The
 * key is as long as the product of the counts times the sum of the pieces' bytes.
 */
struct uhcadv_piece {
	uint64_t addr;
	uint64_t bytes;
	uint32_t lkey;
	int64_t stride[UHCADV_MAX_DIMS]; /* bytes from one to the next, per dimension */
};

struct uhcadv_interleaved {
	uint32_t n_dims;
	uint32_t n_pieces;
	uint64_t count[UHCADV_MAX_DIMS];
	const struct uhcadv_piece *piece;
};

/*
 * Describe the key anew, at once: uhcadv_rereg_mr(3). 0; EINVAL for a list that is not right, a
 * piece not inside its region, another protection domain, access wider than the region's, too deep;
 * EBUSY while windows or other descriptions use the key; E2BIG for a list longer than it has room.
 * After a failure the key is as it was.
 */
int uhcadv_rereg_mr_interleaved(struct ibv_mr *mr, const struct uhcadv_reg_attr *attr,
				const struct uhcadv_interleaved *layout);
int uhcadv_rereg_mr_sg(struct ibv_mr *mr, const struct uhcadv_reg_attr *attr,
		       const struct uhcadv_block *block, uint32_t n);

/* ---- shared memory: uhcadv_alloc_shared(3) ---- */

/*
 * Memory of this process that the device has mapped, too: what is registered in it with ibv_reg_mr
 * is copied directly. Page aligned, zeroed. NULL with errno: EOPNOTSUPP, EINVAL, ENOMEM.
 */
void *uhcadv_alloc_shared(struct ibv_context *context, size_t length);

/* What uhcadv_alloc_shared returned; EBUSY while a region is registered in it. */
int uhcadv_free_shared(struct ibv_context *context, void *addr);

/* ---- posting ---- */

/* Operands of 4, 8, 16 or 32 bytes, integers in the byte order of this machine. */
struct uhcadv_masked_cmp_swp {
	uint32_t size;
	const void *compare, *swap;
	/* NULL: all ones. Equal in the bits of compare_mask: the bits of swap_mask are replaced. */
	const void *compare_mask, *swap_mask;
};

struct uhcadv_masked_fetch_add {
	uint32_t size;
	const void *add;
	/* A one marks the highest bit of a field: no carry leaves it. NULL: one field. */
	const void *boundary;
};

enum uhcadv_wr_opcode {
	UHCADV_WR_REG_MR_PAGES,  /* reg.pages */
	UHCADV_WR_REG_MR_BLOCKS, /* reg.block, n_blocks */
	UHCADV_WR_REG_INTERLEAVED,
	UHCADV_WR_REG_SG, /* reg.block, n_blocks */
	UHCADV_WR_READ_WITH_INV,
	UHCADV_WR_MASKED_CMP_SWP,
	UHCADV_WR_MASKED_FETCH_ADD,
};

/*
 * A work request: uhcadv_post_send(3). Lists and operands are copied before the call returns.
 * READ_WITH_INV takes exactly one element, whose L_Key is invalidated when the data is there; the
 * masked atomics put the old value into the elements.
 */
struct uhcadv_send_wr {
	uint64_t comp_mask; /* 0 */
	uint64_t wr_id;
	struct uhcadv_send_wr *next;
	struct ibv_sge *sg_list;
	int num_sge;
	enum uhcadv_wr_opcode opcode;
	unsigned send_flags; /* IBV_SEND_SIGNALED, IBV_SEND_FENCE */
	union {
		struct {
			struct ibv_mr *mr;
			struct uhcadv_reg_attr attr;
			union {
				struct uhcadv_page_list pages;
				struct uhcadv_interleaved interleaved;
				struct {
					const struct uhcadv_block *block;
					uint32_t n_blocks;
				};
			};
		} reg;
		struct {
			uint64_t remote_addr;
			uint32_t rkey;
		} rdma;
		struct {
			uint64_t remote_addr;
			uint32_t rkey;
			union {
				struct uhcadv_masked_cmp_swp cmp_swp;
				struct uhcadv_masked_fetch_add fetch_add;
			};
		} atomic;
	};
};

/*
 * As ibv_post_send, on any QP of a uhca device: 0 or an errno value with *bad_wr the first that was
 * not posted. EINVAL: the QP's state or type, flags, a region of another context, an empty list, a
 * page shift, size or number of operands or elements that cannot be right; EOPNOTSUPP: the device
 * has it not; E2BIG: a list that is longer than any key or this QP (max_list_entries) has room
 * for; ENOMEM: the queue is full; EIO: the device is gone. All else is the device's to say, in the
 * completion.
 */
int uhcadv_post_send(struct ibv_qp *qp, struct uhcadv_send_wr *wr, struct uhcadv_send_wr **bad_wr);

/*
 * Builders that stand between ibv_wr_start and ibv_wr_complete, beside those of libibverbs, for a
 * QP that was created with the flags: uhcadv_wr_post(3). wr_id and wr_flags are taken from the
 * ibv_qp_ex; the setters of elements are libibverbs' (ibv_wr_set_sge). ibv_wr_complete reports
 * the first error, with the values of uhcadv_post_send. A region has its new key byte as soon as
 * the builder returns; after an abort or an error the program sets the old one back.
 */
struct uhcadv_qp_ex {
	uint64_t comp_mask;
	void (*wr_reg_mr_pages)(struct uhcadv_qp_ex *qp, struct ibv_mr *mr,
				const struct uhcadv_reg_attr *attr,
				const struct uhcadv_page_list *pages);
	void (*wr_reg_mr_blocks)(struct uhcadv_qp_ex *qp, struct ibv_mr *mr,
				 const struct uhcadv_reg_attr *attr,
				 const struct uhcadv_block *block, uint32_t n);
	void (*wr_reg_interleaved)(struct uhcadv_qp_ex *qp, struct ibv_mr *mr,
				   const struct uhcadv_reg_attr *attr,
				   const struct uhcadv_interleaved *layout);
	void (*wr_reg_sg)(struct uhcadv_qp_ex *qp, struct ibv_mr *mr,
			  const struct uhcadv_reg_attr *attr, const struct uhcadv_block *block,
			  uint32_t n);
	void (*wr_read_with_inv)(struct uhcadv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr);
	void (*wr_masked_cmp_swp)(struct uhcadv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr,
				  const struct uhcadv_masked_cmp_swp *op);
	void (*wr_masked_fetch_add)(struct uhcadv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr,
				    const struct uhcadv_masked_fetch_add *op);
};

/* NULL with EOPNOTSUPP for a QP that has none of our builders. */
struct uhcadv_qp_ex *uhcadv_qp_ex_from_ibv_qp_ex(struct ibv_qp_ex *qp);

static inline void uhcadv_wr_reg_mr_pages(struct uhcadv_qp_ex *qp, struct ibv_mr *mr,
					  const struct uhcadv_reg_attr *attr,
					  const struct uhcadv_page_list *pages)
{
	qp->wr_reg_mr_pages(qp, mr, attr, pages);
}

static inline void uhcadv_wr_reg_mr_blocks(struct uhcadv_qp_ex *qp, struct ibv_mr *mr,
					   const struct uhcadv_reg_attr *attr,
					   const struct uhcadv_block *block, uint32_t n)
{
	qp->wr_reg_mr_blocks(qp, mr, attr, block, n);
}

static inline void uhcadv_wr_reg_interleaved(struct uhcadv_qp_ex *qp, struct ibv_mr *mr,
					     const struct uhcadv_reg_attr *attr,
					     const struct uhcadv_interleaved *layout)
{
	qp->wr_reg_interleaved(qp, mr, attr, layout);
}

static inline void uhcadv_wr_reg_sg(struct uhcadv_qp_ex *qp, struct ibv_mr *mr,
				    const struct uhcadv_reg_attr *attr,
				    const struct uhcadv_block *block, uint32_t n)
{
	qp->wr_reg_sg(qp, mr, attr, block, n);
}

static inline void uhcadv_wr_read_with_inv(struct uhcadv_qp_ex *qp, uint32_t rkey,
					   uint64_t remote_addr)
{
	qp->wr_read_with_inv(qp, rkey, remote_addr);
}

static inline void uhcadv_wr_masked_cmp_swp(struct uhcadv_qp_ex *qp, uint32_t rkey,
					    uint64_t remote_addr,
					    const struct uhcadv_masked_cmp_swp *op)
{
	qp->wr_masked_cmp_swp(qp, rkey, remote_addr, op);
}

static inline void uhcadv_wr_masked_fetch_add(struct uhcadv_qp_ex *qp, uint32_t rkey,
					      uint64_t remote_addr,
					      const struct uhcadv_masked_fetch_add *op)
{
	qp->wr_masked_fetch_add(qp, rkey, remote_addr, op);
}

/* ---- completions ---- */

/*
 * Opcodes of completions beyond enum ibv_wc_opcode, as ibv_poll_cq and ibv_wc_read_opcode give
 * them. READ_WITH_INV: invalidated_rkey is the key that went, with IBV_WC_WITH_INV.
 */
enum uhcadv_wc_opcode {
	UHCADV_WC_REG_MR = 64,
	UHCADV_WC_REG_INTERLEAVED = 65,
	UHCADV_WC_REG_SG = 66,
	UHCADV_WC_READ_WITH_INV = 67,
	UHCADV_WC_MASKED_CMP_SWP = 68,
	UHCADV_WC_MASKED_FETCH_ADD = 69,
};

/* "SEND", "REG_MR", ...: names of verbs' opcodes and of ours; static text. */
const char *uhcadv_wc_opcode_str(int opcode);

#ifdef __cplusplus
}
#endif

#endif
