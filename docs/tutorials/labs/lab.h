/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the labs share, so that a lesson's own verbs stand out in its program: a device, queue pairs
 * with memory, two of them connected, waiting with a deadline, and the judgement. A program of a
 * lab has both ends of its connections in one process; their packets go through the device all
 * the same. What cannot be done at all ends the program with a message and status 2. A program that
 * crashes, or that has not ended after ten seconds, says where it was when scripts/lab runs it.
 */
#ifndef LAB_H
#define LAB_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#define LAB_DEPTH  64    /* work requests of each queue */
#define LAB_MEMORY 65536 /* bytes of each end */

struct lab {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	union ibv_gid gid;
};

/* One end of a connection: a queue pair, its completion queue, its memory. */
struct lab_end {
	struct ibv_qp *qp;
	struct ibv_cq *cq;
	struct ibv_mr *mr; /* of all the memory */
	uint8_t *memory;   /* begins at a page; zeros */
};

/* Attributes of a queue pair that say how long a requester is patient. */
struct lab_knobs {
	uint8_t timeout;       /* 4.096 us * 2^timeout until a request is sent again */
	uint8_t retry_cnt;     /* so often, at most 7 */
	uint8_t rnr_retry;     /* so often after an RNR NAK; 7: for ever */
	uint8_t min_rnr_timer; /* code of the time that this end's RNR NAK asks for */
};

extern const struct lab_knobs lab_patient; /* those that serve in most programs */

/* Opens the first device, or device number n (from 0). */
void lab_open(struct lab *l);
void lab_open_device(struct lab *l, unsigned n);
void lab_close(struct lab *l);

/* access: IBV_ACCESS_* of the memory. */
void lab_end_open(struct lab *l, struct lab_end *e, int access);
void lab_end_close(struct lab_end *e);

/*
 * Connects two queue pairs, new ones or such as have failed before: RESET, INIT, RTR, RTS. a and b
 * may be the same: a queue pair can be connected to itself.
 */
void lab_connect(struct lab *l, struct lab_end *a, struct lab_end *b, const struct lab_knobs *k);

/*
 * The same for two ends on two devices, and patient; their packets carry this flow label (20 bits;
 * 0: the devices choose) and traffic class.
 */
void lab_connect_apart(struct lab *la, struct lab_end *a, struct lab *lb, struct lab_end *b,
		       uint32_t flow_label, uint8_t traffic_class);

/* The part of the end's memory that a work request is about. */
struct ibv_sge lab_part(const struct lab_end *e, uint32_t offset, uint32_t length);

/* Posts; the completion has this wr_id. */
void lab_recv(struct lab_end *e, uint64_t wr_id, uint32_t offset, uint32_t length);
void lab_send(struct lab_end *e, uint64_t wr_id, uint32_t offset, uint32_t length);

/* Posts one request. When the provider refuses it, the program ends and says so. */
void lab_post(struct lab_end *e, struct ibv_send_wr *wr);

/* The next completion. false when none came in two seconds; wc->status is GENERAL_ERR then. */
bool lab_wait(struct lab_end *e, struct ibv_wc *wc);

/* No completion comes in a moment, or is there unpolled. (If so, it is polled.) */
bool lab_is_quiet(struct lab_end *e);

/* lab_wait, and the status's name: "nothing" where none came. */
const char *lab_status(struct lab_end *e, struct ibv_wc *wc);

/* A number of "uhcactl counters", the sum over the devices. */
uint64_t lab_counter(const char *name);

/* The same of each device, from the first on. 0 for one that there is not. */
void lab_counters(const char *name, uint64_t *each, unsigned devices);

/* Prints a line that says what is so, or "not yet: " and that. Returns ok. */
__attribute__((format(printf, 2, 3))) bool lab_check(bool ok, const char *format, ...);

/* The program's exit status: 0 when each lab_check was true, 1 when not. */
int lab_result(void);

#endif
