/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For tests of what is done wrong with keys of direct verbs, on a real daemon with two devices: a
 * pair of queue pairs and a key that are meant to suffer, another pair and another key that must
 * never notice, and requests that are right until a test spoils them.
 */
#ifndef TESTS_SUPPORT_KEY_STAND_H
#define TESTS_SUPPORT_KEY_STAND_H

#include "verbs_world.h"

#include <infiniband/uhcadv.h>

#define STAND_PAGE    4096u
#define STAND_PAGES   16u
#define STAND_SIZE    (STAND_PAGES * STAND_PAGE)
#define STAND_ENTRIES 4u  /* of the key under test */
#define STAND_POSTED  16u /* the longest list that the queue pairs take */
#define STAND_WIDE    (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)
#define STAND_ALL     (STAND_WIDE | IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND)

struct side {
	struct ibv_cq *cq;
	struct ibv_qp *qp;
};

struct stand {
	struct world *w;
	uint8_t *memory;
	struct ibv_mr *all, *readable; /* the same memory, with all rights and without writing */
	struct ibv_pd *pd;             /* another one */
	struct ibv_mr *foreign;        /* of that */
	struct ibv_mr *key;            /* what is done wrong is done to it */
	struct ibv_mr *composite;      /* of those that nothing must happen to */
	struct side near, far, by, stander;
	/* Lists of requests that are right until a test spoils them. */
	uint64_t page[STAND_ENTRIES];
	struct uhcadv_block block[STAND_POSTED + 1];
	struct uhcadv_piece piece;
};

/* For cmocka: *state becomes a stand, and everything of it can be destroyed. */
int stand_setup(void **state);
int stand_teardown(void **state);

/* An address in its memory. */
uint64_t stand_at(const struct stand *s, size_t offset);

/* ---- one request, and how it ended ---- */

enum ibv_wc_status stand_status_of(struct side *x);
enum ibv_wc_status stand_post(struct side *x, struct ibv_send_wr *wr);
enum ibv_wc_status stand_post_dv(struct side *x, struct uhcadv_send_wr *wr);
enum ibv_wc_status stand_rdma(struct side *x, enum ibv_wr_opcode opcode, struct ibv_sge sge,
			      uint64_t remote, uint32_t rkey);
enum ibv_wc_status stand_local_inv(struct stand *s, uint32_t key);
void stand_receive(struct side *x, struct ibv_sge sge);

/* From the near side to the far one: what the sender and the receiver are told. */
enum ibv_wc_status stand_send_with_inv(struct stand *s, uint32_t key, enum ibv_wc_status *there);

/* 16 bytes from the near side, at address 0 of the key. */
enum ibv_wc_status stand_write_to_key(struct stand *s, uint32_t rkey);

/* ---- requests that are right: they describe the key, with the next key byte ---- */

struct uhcadv_send_wr stand_pages(struct stand *s);
struct uhcadv_send_wr stand_blocks(struct stand *s);
struct uhcadv_send_wr stand_composite(struct stand *s);
struct uhcadv_send_wr stand_interleaved(struct stand *s);

/* ---- what must be so ---- */

/* The queue pair in RESET, its completions gone. */
void stand_reset(struct side *x);

/* The bystanders move data through their key, both ways. */
void stand_unharmed(struct stand *s);

/* The same; then the near and far side are connected anew. */
void stand_recover(struct stand *s);

/* The key opens its memory, or nothing (and the pair recovers). */
void stand_alive(struct stand *s);
void stand_dead(struct stand *s, uint32_t rkey);

/* The key is described with pages, and alive; or made invalid. */
void stand_describe(struct stand *s);
void stand_invalidate(struct stand *s);

/* The device refuses the description, or to invalidate the key by any way; the pair recovers. */
void stand_refused(struct stand *s, struct uhcadv_send_wr *wr);
void stand_local_inv_refused(struct stand *s, uint32_t key);

#endif
