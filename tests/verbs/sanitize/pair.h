/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the programs of the sanitizer's checks share, so that the mistake stands out: a device and
 * two connected queue pairs with memory, in one process. What cannot be done ends the program with
 * status 2.
 */
#ifndef PAIR_H
#define PAIR_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#define PAIR_MEMORY 65536
#define PAIR_DEPTH  16 /* requests of each queue */

struct pair {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel; /* of b's completion queue */
	struct end {
		struct ibv_cq *cq;
		struct ibv_qp *qp;
		struct ibv_mr *mr; /* of all its memory, open for everything */
		char *memory;
	} a, b;
	struct ibv_td *td; /* of pair_domain, and the domain; NULL: they were not asked for */
	struct ibv_pd *of_one;
};

void pair_open(struct pair *p);
void pair_close(struct pair *p);

/* Receives, or posts an operation of which this is the local part: offset and length in memory. */
void pair_recv(struct end *e, uint64_t wr_id, uint32_t offset, uint32_t length);
void pair_post(struct end *e, enum ibv_wr_opcode opcode, unsigned flags, uint32_t offset,
	       uint32_t length);

/*
 * The same; what ibv_post_send returns. WRITEs and READs go to this offset of the other's memory.
 */
int pair_try(struct end *e, enum ibv_wr_opcode opcode, unsigned flags, uint32_t offset,
	     uint32_t length);

/* One whose local part is elsewhere in e's region. */
void pair_post_at(struct end *e, enum ibv_wr_opcode opcode, unsigned flags, void *at,
		  uint32_t length);

/* Another queue pair: connects it. */
void pair_connect(struct pair *p, struct ibv_qp *qp, struct ibv_qp *peer);

/* The same with values of one's own; and an end's queue pair again, which is reset before. */
struct pair_link {
	uint32_t sq_psn, rq_psn;
	uint8_t timeout, retry_cnt, rnr_retry, min_rnr_timer;
};
void pair_connect_as(struct pair *p, struct ibv_qp *qp, struct ibv_qp *peer, struct pair_link how);
void pair_reconnect(struct pair *p, struct end *e, struct pair_link how);

/* Another queue pair for ibv_wr_*, in the domain and on a's completion queue: not connected. */
struct ibv_qp *pair_extended(struct pair *p, struct ibv_pd *pd);

/* Its queue pair is as new. */
void pair_reset(struct end *e);

/* A UD queue pair on a's completion queue that can send, Q_Key 1; and an address handle to itself.
 */
struct ibv_qp *pair_datagram(struct pair *p);
void pair_datagrams(struct ibv_qp *qp); /* moves another one there */
struct ibv_ah *pair_address(struct pair *p);

/* A parent domain with a thread domain: what is in it is used by one thread at a time. */
struct ibv_pd *pair_domain(struct pair *p);

/* The next completion's status. */
enum ibv_wc_status pair_wait(struct end *e);

/* Is the program to do it right (known/): its argument is "mended"? */
bool pair_mended(int argc, char **argv);

/* Ends the program when ok is false. */
void pair_must(int ok, const char *what);

#endif
