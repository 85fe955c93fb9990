/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The stage of most named tests: two devices, one client on each with one registered buffer and
 * one CQ, and two QPs that are connected with each other. Side a is device 0.
 */
#ifndef SIM_PAIR_H
#define SIM_PAIR_H

#include "rules.h"
#include "tests/support/wire/cmocka_all.h"
#include "world.h"

#define PAIR_BUFFER  (512u << 10)
#define PAIR_SECONDS 1000000000ull
#define PAIR_ACCESS                                                                                \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |               \
	 IBV_ACCESS_REMOTE_ATOMIC)

struct side {
	struct pair *pair;
	struct side *peer;
	struct vclient c;
	struct vcq cq;
	struct vqp qp;
	struct vmr mr; /* buffer of pair_options.buffer bytes, registered for everything */
	struct uhca_abi_cqe *wc; /* all completions so far, in order */
	unsigned n_wc, wc_room;
};

/* Zero is the default everywhere. */
struct pair_options {
	enum ibv_qp_type type;
	const struct vqp_conn *conn; /* a's; b's has the PSNs mirrored */
	const struct core_config *cfg;
	struct vqp_init init; /* without CQs; srq: of side b */
	uint32_t buffer;
	uint32_t cqe;
	uint32_t srq_wr; /* > 0: b receives from p->srq of that size */
	uint32_t srq_limit;
	bool unconnected; /* QPs stay in RESET */
	uint64_t seed;
};

struct pair {
	struct world *w;
	struct rules rules;
	struct vqp_conn conn;
	struct side a, b;
	struct vsrq srq;
	bool use_srq;
};

/* One work request in terms of offsets into the two buffers. */
struct op {
	uint8_t opcode;
	uint64_t wr_id;
	uint16_t flags; /* UHCA_ABI_SEND_* */
	uint32_t local, length, remote;
	uint32_t imm;
	uint64_t compare_add, swap;
	enum vpost_mode mode;
};

void pair_create(struct pair *p, const struct pair_options *o);

/*
 * Ends the test: checks that the world becomes idle within a second with no timer left, both
 * memories against what is expected, rules and leaks.
 */
void pair_finish(struct pair *p);

/* Rings and completes as the verbs do; each asserts that the post succeeds. */
void side_post(struct side *s, const struct op *op);
void side_queue(struct side *s, const struct op *op); /* without doorbell */
void side_recv(struct side *s, uint64_t wr_id, uint32_t offset, uint32_t length);

/* Signalled requests; local and remote are offsets into the buffers. */
void side_send(struct side *s, uint64_t wr_id, uint32_t local, uint32_t length);
void side_write(struct side *s, uint64_t wr_id, uint32_t local, uint32_t remote, uint32_t length);
void side_read(struct side *s, uint64_t wr_id, uint32_t local, uint32_t remote, uint32_t length);
void side_fetch_add(struct side *s, uint64_t wr_id, uint32_t local, uint32_t remote, uint64_t add);
void side_cmp_swap(struct side *s, const struct op *op); /* opcode and length filled in */

/* Moves what the CQ holds into wc[]. */
void side_poll(struct side *s);

/* Runs the world until n completions in all have come; fails after ten seconds (virtual). */
void side_wait(struct side *s, unsigned n);

/* Runs for the time and asserts that no further completion came. */
void side_quiet(struct side *s, uint64_t ns);

/* Completion i is this one; for receives and successful READs byte_len is compared too. */
void side_expect(struct side *s, unsigned i, uint64_t wr_id, uint8_t status, uint8_t opcode);
void side_expect_len(struct side *s, unsigned i, uint32_t byte_len);

/* Number of async events of the type for the side's QP. */
unsigned side_events(const struct side *s, uint32_t type);

/* Bytes of one buffer are expected at the other. */
void pair_expect_copy(struct side *from, uint32_t from_offset, struct side *to, uint32_t to_offset,
		      uint32_t length);
void side_ignore(struct side *s, uint32_t offset, uint32_t length);

/* An aligned 8-byte number in the buffer; expecting one for atomics. */
uint64_t side_load(struct side *s, uint32_t offset);
void side_store(struct side *s, uint32_t offset, uint64_t value);
void side_expect_u64(struct side *s, uint32_t offset, uint64_t value);

/* Runs until all is idle (limit ten seconds). */
void pair_idle(struct pair *p);

#endif
