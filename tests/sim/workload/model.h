/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What must be observed, worked out without the device under test: every posted request and
 * receive is recorded here, every completion is held against them, and at the end the memory of
 * all clients against the image they must have left.
 *
 *   RC  each message exactly once, in order, bytes right; completions in order, one for each
 *       signalled request; WRITE before a later SEND is visible when the SEND's receive
 *       completes; READ data is there when its completion is; atomics in some serial order.
 *   XRC as RC, and in order at each SRQ; an SRQ's limit raises one event for each arming.
 *   UC  messages whole or absent, in order; a WRITE leaves each byte old or new.
 *   UD  messages whole or absent; 40 bytes of GRH in front.
 *
 * A request that must fail does, with its status; what stands before it is done, what stands behind
 * it is flushed once. When a connection has ended nothing of it happens any more (model_life.c).
 *
 * Work request ids are the model's. Rules for the workload: a region of remote memory belongs to
 * one direction of one QP, except the cells of atomics, and receives that are settled
 * (model_order.c); what stores to bytes that an earlier READ may still be reading is fenced (IBTA
 * vol. 1, 10.8.3.3).
 */
#ifndef SIM_MODEL_H
#define SIM_MODEL_H

#include "tests/sim/world/world.h"

#define MODEL_MAX_SGE    8
#define MODEL_MAX_PIECES 256
#define MODEL_MAX_LIVES  8

/* Where bytes stand in a client's memory, in their order; the keys here mean nothing. */
struct model_place {
	uint32_t n;
	struct uhca_abi_sge piece[MODEL_MAX_PIECES];
};

/* Statuses of what is outstanding when the peer has gone or the QP is stopped. */
#define MODEL_STOPPED                                                                              \
	(1u << UHCA_ABI_WC_WR_FLUSH_ERR | 1u << UHCA_ABI_WC_RETRY_EXC_ERR |                        \
	 1u << UHCA_ABI_WC_RNR_RETRY_EXC_ERR)

/* Statuses of a receive whose message must fail. */
#define MODEL_REFUSED                                                                              \
	(1u << UHCA_ABI_WC_LOC_LEN_ERR | 1u << UHCA_ABI_WC_LOC_ACCESS_ERR |                        \
	 1u << UHCA_ABI_WC_REM_INV_REQ_ERR)

/* A posted send request. */
struct model_send {
	struct vsend wr;
	uint32_t length;
	uint8_t *data; /* SEND, WRITE: payload; READ: what it must bring */
	bool signaled;
	bool delivered;            /* its receive completed at the peer */
	struct model_qp *to;       /* UD */
	struct model_recvs *recvs; /* XRC: of the SRQ that it names */
	struct memory *mem;        /* where "there" is */
	struct model_cell *cell;   /* atomics */
	uint64_t returned;
	uint32_t fate;           /* not 0: it must fail with one of these, bits 1 << status */
	uint32_t inv_key;        /* READ with Invalidate: of its element */
	struct model_place here; /* of the elements; long, and the last, as these are not cleared */
	struct model_place there; /* of the remote address: WRITE, READ */
};

struct model_recv {
	uint32_t room;
	bool done;
	bool landed;      /* a message is known to fill it */
	bool shared;      /* the peer may reach the memory */
	unsigned touched; /* requests of the peer up to this one store there; 0: none */
	const struct model_qp *reader; /* reads there: what is stored must wait */
	unsigned read_by;
	struct model_place at; /* the last, as above */
};

/* Receives of one QP or of an SRQ. */
struct model_recvs {
	struct model *m;
	struct vqp *qp; /* one of them */
	struct model_qp *owner;
	struct vsrq *srq;
	unsigned index;
	struct model_recv *list;
	unsigned n, room, done;
	unsigned base;   /* the first of the present connection; not an SRQ's */
	bool scribbled;  /* UC: a message that was given up may have left bytes */
	uint32_t limit;  /* of an SRQ, armed; 0: it is not */
	uint32_t looked; /* taken from it when the limit was looked at */
	unsigned limit_events;
	bool xrc;   /* completions name QPs of other clients, too */
	bool lossy; /* an SRQ: a QP that was reset may have taken some with it */
};

struct model_qp {
	struct model *m;
	struct vqp *qp;
	unsigned index;
	struct model_qp *peer; /* connected types */
	struct model_recvs *recvs;
	bool sig_all;
	struct model_send *send;
	unsigned n_send, room;
	unsigned completed; /* sends before this one are known to be complete */
	unsigned delivered; /* the next that may be delivered at the peer */
	unsigned last_fence;
	unsigned base;  /* the first of the present connection */
	bool failed;    /* a completion in error came: */
	unsigned good;  /* the first that did not succeed */
	bool doomed;    /* a request must fail: receives are flushed */
	bool stopped;   /* by its consumer or its peer: the first error may be a flush */
	unsigned n_was; /* numbers it had before it was made anew */
	uint32_t was[MODEL_MAX_LIVES];
	uint32_t may_fail; /* bits 1 << status that a run allows */
};

/* A 64-bit number that atomics work on. */
struct model_cell {
	struct vclient *c;
	uint64_t va;
	uint64_t initial;
	bool uncertain; /* an atomic on it may or may not have been executed */
};

struct model {
	struct world *w;
	struct model_qp **qp;
	unsigned n_qps;
	struct model_recvs **recvs;
	unsigned n_recvs;
	struct model_cell *cell;
	unsigned n_cells;
	bool loses;      /* answers get lost or overtaken, and a QP in ERR gives none again */
	bool duplicates; /* the links duplicate or reorder: UC and UD may show it */
	bool lossless;   /* UC, UD: nothing may be missing */
	uint64_t completions;
};

void model_construct(struct model *m, struct world *w);
void model_destruct(struct model *m);

/* QPs stay where they are until model_destruct. srq: of model_add_srq, or NULL. */
struct model_qp *model_add_qp(struct model *m, struct vqp *qp, struct model_recvs *srq);
struct model_recvs *model_add_srq(struct model *m, struct vsrq *srq);
void model_connect(struct model_qp *a, struct model_qp *b);

/* Room for n cells in all must be given once, before the first model_add_cell. */
void model_reserve_cells(struct model *m, unsigned n);
struct model_cell *model_add_cell(struct model *m, struct vclient *c, uint64_t va);

/* What the model cannot read off a request. NULL or 0: as the request says. */
struct model_more {
	struct model_qp *to;             /* the destination of a datagram */
	struct model_recvs *recvs;       /* of the SRQ that an XRC request names */
	struct model_cell *cell;         /* of an atomic */
	const struct model_place *here;  /* elements through indirect memory keys */
	const struct model_place *there; /* the same of the remote address */
	bool settled;                    /* the elements hold what is expected, not what is there */
	uint32_t fate;                   /* bits 1 << status, of what must fail; with "there" */
};

/*
 * Posts and records; wr_id, and FENCE where the rule above needs it, are filled in. Returns what
 * the post returned.
 */
int model_post_send(struct model_qp *q, struct vsend *wr, const struct model_more *more);
int model_post_recv(struct model_recvs *r, const struct uhca_abi_sge *sge, uint32_t n,
		    const struct model_place *at, bool shared);

/* Arms the limit of an SRQ (0: no more); has every event come that was due, and no other? */
void model_arm_limit(struct model_recvs *r, uint32_t limit);
void model_look_at_limit(struct model_recvs *r);

/* ---- the end of a connection, and the next one (model_life.c) ---- */

/* From now on the QP may fail with anything that a QP without peer fails with. */
void model_stopped(struct model_qp *q);

/* A request that was posted must fail, and take both ends down. */
void model_doomed(struct model_qp *q);

/* All of its completions were polled, and it is in ERR: fails the test when one is missing. */
void model_drained(struct model_qp *q);

/* The same of both ends: what q was told of success must have arrived. */
void model_drained_both(struct model_qp *q);

/*
 * Nothing of the QP will happen any more, nor of its peer: it is reset or gone, and its completions
 * are polled or thrown away. What is posted from now on belongs to the next connection.
 */
void model_ended(struct model_qp *q);

/* It was made anew, with another number perhaps; packets with the old one may still come. */
void model_renamed(struct model_qp *q, uint32_t old_qpn);

/* Messages of q that use up a receive at the peer. */
unsigned model_needs_recvs(const struct model_qp *q);

/* A completion that was polled by the client. */
void model_completion(struct model *m, struct vclient *c, const struct uhca_abi_cqe *e);

/* All is idle: nothing may be missing, and all memory must be as expected. */
void model_finish(struct model *m);

bool model_is_send(uint8_t opcode);
bool model_is_write(uint8_t opcode);
bool model_is_read(uint8_t opcode);
bool model_is_atomic(uint8_t opcode);

/*
 * Receives that the peer may reach (model_order.c). Settled: what it stores there is complete, and
 * others may read it, if they say so first; locked: until they have.
 */
bool model_recv_settled(const struct model_recvs *rs, const struct model_recv *r);
bool model_recv_locked(const struct model_recv *r);
void model_recv_read(struct model_recv *r, const struct model_qp *by);

/* ---- between model.c, model_check.c and model_atomic.c ---- */

/* The first n bytes of a place, or what is expected there, into buf. */
void model_load(struct memory *m, const struct model_place *at, void *buf, uint32_t n);
void model_load_expected(struct memory *m, const struct model_place *at, void *buf, uint32_t n);
void model_expect(struct memory *m, const struct model_place *at, const void *bytes, uint32_t n);
void model_ignore(struct memory *m, const struct model_place *at);
/* What stands there is what is expected from now on. */
void model_accept(struct memory *m, const struct model_place *at);
/* Request i of q has succeeded. */
void model_retire(struct model_qp *q, unsigned i);
/* What an SRQ has given to a QP that failed may never complete. */
void model_lost_with(struct model_qp *q);
bool model_is_reliable(const struct model_qp *q);
bool model_has_number(const struct model_qp *q, uint32_t qpn);

/* Do the bytes stand there, behind the first "skip"? */
bool model_holds(struct memory *m, const struct model_place *at, uint32_t skip, const void *bytes,
		 uint32_t n);
bool model_overlap(const struct model_place *a, const struct model_place *b);

/* Does the request store in the peer's memory? */
bool model_modifies(const struct model_send *s);

/* Where request i, a message, will stand when its receive is known already; or when it is now. */
void model_land(struct model_qp *q, struct model_send *s, unsigned i);
void model_land_late(struct model_recvs *rs, unsigned k);
void model_foresee_atomic(struct memory *there, struct model_send *s);

/* The peer's memory holds the message, or what later requests stored over it. */
bool model_holds_or_later(const struct model_qp *q, const struct model_send *s);

bool model_consumes_recv(const struct model_send *s);
void model_check_cells(struct model *m);

#endif
