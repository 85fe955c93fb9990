/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parts of a random workload: nodes (a device with one client), and ends (a QP with the
 * remote memory it works on), plain or through indirect memory keys. Internal to workload*.c.
 */
#ifndef SIM_WORKLOAD_MAKE_H
#define SIM_WORKLOAD_MAKE_H

#include "model.h"
#include "workload.h"
#include "workload_inbox.h"
#include "workload_key.h"
#include "workload_window.h"
#include "workload_xrc.h"

#define WORKLOAD_NODES 3
#define WORKLOAD_CQS   2
#define WORKLOAD_ENDS  14
#define WORKLOAD_CELLS 2

#define WORKLOAD_MAX_BYTES  12288u      /* of a message */
#define WORKLOAD_SEND_BYTES (3u << 20)  /* when these are used up a node posts no more */
#define WORKLOAD_BYTES      (30u << 20) /* local buffers of a node: seed 6818 takes 12 MiB */
#define WORKLOAD_KEY_BYTES  (2u << 20)  /* the same, behind a key that stays */

struct workload_node {
	struct vclient c;
	struct vcq cq[WORKLOAD_CQS];
	struct vmr mr;           /* local buffers: one large region */
	uint64_t used;           /* bytes of it given out */
	struct workload_key key; /* made at the start; for sends and receives alike */
	uint64_t key_used;       /* bytes of it given out */
	struct vmr cells_mr;
	struct vmr cells_key; /* the cells in the opposite order */
	struct model_cell *cell[WORKLOAD_CELLS];
	bool use_srq;
	struct vsrq srq;
	struct model_recvs *srq_recvs;
	struct workload_xrc xrc;
};

/* One QP. */
struct workload_end {
	struct workload_node *node;
	struct vqp qp;
	struct model_qp *model;
	struct workload_end *peer; /* NULL: UD */
	struct vqp_init init;      /* how it is made, and connected, again */
	struct vqp_conn conn;
	unsigned lives;     /* that have ended */
	uint32_t mtu;       /* bytes */
	uint32_t max_bytes; /* of one message */
	unsigned to_post;
	uint32_t ah[WORKLOAD_NODES];
	struct workload_node *target; /* whose cells and region requests work on */
	struct vmr xrc_region[WORKLOAD_NODES];
	struct vmr region;             /* at the peer, ours alone */
	struct workload_key there;     /* valid: WRITEs and READs go through it */
	struct workload_window window; /* the same; RC */
	struct workload_inbox inbox;
	struct workload_key key; /* of this end, made anew through its queue */
	uint32_t region_used;    /* UC: its WRITEs never overlap */
};

struct workload {
	struct world *w;
	struct model model;
	struct prng rng;
	struct workload_limits limits;
	struct workload_node node[WORKLOAD_NODES];
	unsigned n_nodes;
	struct workload_end end[WORKLOAD_ENDS];
	unsigned n_ends;
	bool lives;   /* connections end and begin anew */
	bool lazy;    /* completions are polled seldom */
	bool inboxes; /* receives are where the peer may reach them */
	bool windows; /* ends have windows */
};

void workload_make(struct workload *l, uint64_t seed);
void workload_unmake(struct workload *l);

/* Local bytes that nothing else uses; 0 when the first "limit" bytes have been given out. */
uint64_t workload_take(struct workload *l, struct workload_node *n, uint32_t length,
		       uint64_t limit);

/* Posts one random request when there is one left and room for it. */
void workload_post(struct workload *l, struct workload_end *end);

/* Every completion there is goes to the model. */
void workload_poll(struct workload *l);

/* Posts up to n receives to an SRQ of the node, as far as it should have more. */
void workload_fill_srq(struct workload *l, struct workload_node *n, struct model_recvs *r,
		       uint32_t count);

/* Posts up to n receives, as far as messages of the peers still need some. */
void workload_post_recvs(struct workload *l, struct workload_end *end, uint32_t n);

#endif
