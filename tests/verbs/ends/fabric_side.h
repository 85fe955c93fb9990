/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One side of a pair of processes that talk by libfabric over verbs: an initiator, and a target
 * whose memory ("the window") both have mapped, so that the initiator can look at what came.
 * Whatever should not fail ends the process with a line that says where.
 */
#ifndef TESTS_VERBS_FABRIC_SIDE_H
#define TESTS_VERBS_FABRIC_SIDE_H

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_rma.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Wait sets are deprecated since libfabric 2.0; programs for 1.x ask for them there, too. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#define FABRIC_VERSION FI_VERSION(1, 17)
#define WINDOW_SIZE    (2u << 20)
#define LOCAL_SIZE     (2u << 20)
#define RECEIVES       16
#define RECEIVE_SIZE   64
#define SECONDS        120 /* of every wait */

struct side;

struct plan {
	const char *address;
	enum fi_ep_type type; /* FI_EP_MSG, or FI_EP_RDM by ofi_rxm */
	enum fi_wait_obj wait;
	bool unregistered; /* local buffers are libfabric's affair: no FI_MR_LOCAL */
	bool quiet;        /* no completion by default */
	uint8_t *window;
	void (*post_receives)(struct side *s); /* of the target, before it can be written to */
};

struct side {
	const struct plan *plan;
	int control; /* to the other side */
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_eq *eq;
	struct fid_pep *pep;
	struct fid_ep *ep;
	struct fid_cq *tx, *rx;
	struct fid_av *av;
	struct fid_wait *set;            /* of tx, for FI_WAIT_SET */
	struct fid_cntr *reads, *writes; /* NULL: libfabric has none for this endpoint */
	int cntr_error;
	fi_addr_t peer;
	uint8_t *local;
	struct fid_mr *local_mr, *window_mr;
	void *desc; /* of local; NULL when unregistered */
	uint64_t remote_addr, remote_key;
	struct fi_context2 context[RECEIVES + 1];
};

/* How libfabric names the endpoint types of a plan. */
const char *fabric_name(const struct plan *p);

/* Prints a row of the table of docs/reference/libfabric.md. flags may be NULL. */
void fabric_row(const char *call, const char *flags, const struct plan *p, const char *what);

/* The same for what libfabric answered with an error number. */
void fabric_refused(const char *call, const char *flags, const struct plan *p, int error);

/* What a program asks fi_getinfo for, for a plan. The caller frees it. */
struct fi_info *fabric_hints(const struct plan *p);

/* Connects; first the target, then the initiator, joined by the control sockets. */
void fabric_target(struct side *s);
void fabric_initiator(struct side *s);
void fabric_close(struct side *s);

/* Posts receive number i of RECEIVES again, into the first bytes of local memory. */
void fabric_post_receive(struct side *s, unsigned i);

/* All RECEIVES of them. */
void fabric_post_receives(struct side *s);

/* The next completion, waited for in the way of the plan. flags: those it must have one of. */
struct fi_cq_data_entry fabric_wait(struct side *s, struct fid_cq *cq, uint64_t flags);

/* Registers memory for all there is; each registration asks for a key of its own. */
void fabric_register(struct side *s, void *memory, size_t len, struct fid_mr **mr);

/* Exactly len bytes by the control socket. */
void control_put(struct side *s, const void *data, size_t len);
void control_get(struct side *s, void *data, size_t len);

double fabric_seconds(void);

#define need(condition)                                                                            \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			printf("%s:%d: %s\n", __FILE__, __LINE__, #condition);                     \
			fflush(stdout);                                                            \
			_Exit(1);                                                                  \
		}                                                                                  \
	} while (0)

/* A call of libfabric that must return 0. */
#define works(call)                                                                                \
	do {                                                                                       \
		long result_ = (long)(call);                                                       \
		if (result_ != 0) {                                                                \
			printf("%s:%d: %s returned %ld (%s)\n", __FILE__, __LINE__, #call,         \
			       result_, fi_strerror((int)-result_));                               \
			fflush(stdout);                                                            \
			_Exit(1);                                                                  \
		}                                                                                  \
	} while (0)

#endif
