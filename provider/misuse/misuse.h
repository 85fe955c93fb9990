/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Module "misuse": what is wrong with one call, seen from that call and little else, for the
 * sanitizer: what a request asks (request.c), what a program reads of a completion with an error
 * (completion.c), and queue pairs that leave an SRQ in use (undrained.c).
 *
 * Callers: the sanitizer. Below it: the module "diagnostic". Any thread.
 */
#ifndef UHCAV_MISUSE_H
#define UHCAV_MISUSE_H

#include "opcode_watch.h"
#include "provider/diagnostic/diagnostic.h"

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

/* A GRH, or what stands for it, is in front of each datagram. */
#define UHCAV_GRH_LENGTH 40u

/* A request that is about to be posted. */
struct uhcav_misuse_request {
	struct uhcav_request_name name;
	const struct uhcav_stack *posted;
	uint64_t length; /* of all its elements, or of what is inline */
};

/* A READ or an atomic, of a queue pair that may have none outstanding. */
void uhcav_misuse_read(const struct uhcav_misuse_request *r);

/* An atomic: its remote address, and its length. */
void uhcav_misuse_atomic(const struct uhcav_misuse_request *r, uint64_t remote_addr);

/* A request with inline data, to a QP that was created for so many bytes. */
void uhcav_misuse_inline(const struct uhcav_misuse_request *r, uint32_t asked,
			 const struct uhcav_stack *made);

/* A receive of a queue for datagrams. */
void uhcav_misuse_recv(const struct uhcav_misuse_request *r);

/* The longest receive that the QP of a datagram's target has posted. */
struct uhcav_misuse_receive {
	uint32_t qp_num;
	uint64_t length; /* 0: none is posted */
	const struct uhcav_stack *posted;
};
void uhcav_misuse_datagram(const struct uhcav_misuse_request *r,
			   const struct uhcav_misuse_receive *longest);

/*
 * A completion with an error that is about to be the program's: the fields that say nothing get
 * values that no completion has.
 */
void uhcav_misuse_spoil(struct ibv_wc *wc, bool is_recv);

/*
 * Around what a thread has polled: what follows of the first of these completions that has failed
 * (its opcode is read), until the thread polls again (uhcav_opcode_watch_end).
 */
void uhcav_misuse_handed_out(const struct ibv_wc *wc, int n);

/* In the place of what a new extended CQ reads by. */
void uhcav_misuse_watch_reads(struct ibv_cq_ex *cq);

/* A QP that was destroyed as it was, while its SRQ had receives. Zeroed: none. */
struct uhcav_undrained {
	const struct uhcav_stack *destroyed; /* atomic */
	const struct ibv_cq *cq;             /* where its receives completed */
	uint32_t qp_num;
};
void uhcav_misuse_leave_undrained(struct uhcav_undrained *u, const struct ibv_cq *cq,
				  uint32_t qp_num, struct uhcav_here here);

/* The SRQ is about to go. */
void uhcav_misuse_forget_undrained(struct uhcav_undrained *u);

/* Is there any in the process of which nothing was told? */
bool uhcav_misuse_any_undrained(void);

/* The SRQ, or that CQ, is used on: by this. Tells of it, once. */
void uhcav_misuse_used_on(struct uhcav_undrained *u, uint32_t srq, struct uhcav_here here);

#endif
