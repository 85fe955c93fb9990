/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A daemon for tests of the provider: a thread that answers the control socket with canned
 * replies, makes the shared regions, and lets the test play the device on them. It moves no data
 * and checks nothing of what a real device checks; it can be told to fail a command, to answer
 * nonsense, to fall silent and to die.
 *
 * The test thread may look at everything after the call that made it has returned.
 */
#ifndef TESTS_SUPPORT_FAKE_DAEMON_H
#define TESTS_SUPPORT_FAKE_DAEMON_H

#include "emu/abi/cmd.h"
#include "emu/abi/cqe.h"
#include "emu/abi/event.h"
#include "emu/abi/region.h"
#include "emu/abi/wqe.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAKE_MAX_OBJECTS 64
#define FAKE_QPN         0x11u /* of the first QP; the next has the next */
#define FAKE_DATA_STRIDE 256u
#define FAKE_CQE_STRIDE  192u
#define FAKE_MAX_SGE     4u
#define FAKE_TOKEN       "sixteen letters!" /* of every context */
#define FAKE_RKEY_BYTE   1u                 /* by which the remote key differs from the local one */
#define FAKE_KEPT        1088u              /* bytes of a request */
#define FAKE_OPEN_STATE  2u                 /* of a QP that is opened */

/* One QP, CQ or SRQ, as the device sees it. */
struct fake_queue {
	uint32_t handle; /* 0: free */
	uint32_t kind;   /* UHCA_ABI_REGION_* */
	uint64_t cookie;
	uint8_t *base;
	size_t size;
	struct uhca_abi_queue_layout send, recv; /* QP, SRQ */
	uint32_t entries, producer;              /* CQ */
	uint32_t channel;
	uint32_t qpn;
};

enum fake_mood {
	FAKE_ANSWERS,
	FAKE_SILENT,       /* reads requests and does not reply */
	FAKE_WRONG_SIZE,   /* replies with one byte less than it should */
	FAKE_WRONG_NUMBER, /* replies to another request */
	FAKE_NO_FD,        /* leaves the descriptors out */
	FAKE_SHORT_FILE,   /* regions are a byte shorter than the reply says */
};

struct fake_daemon {
	pthread_t thread;
	int listen_fd, stop_fd[2];
	int client[8];
	unsigned n_clients;

	/* Settings: change them while no call is under way. */
	enum fake_mood mood;
	int fail[UHCA_CMD_COUNT]; /* -errno to answer a command with */
	uint32_t spoilt; /* replies to this command go through spoil before they are sent */
	void (*spoil)(void *reply);
	unsigned good_regions; /* so many come as they should, before those that are not to: */
	void (*damage)(struct uhca_abi_region *region);
	uint32_t gather_limit;
	uint32_t features;                     /* UHCA_ABI_HAS_* */
	uint32_t max_list_entries;             /* and what goes with it */
	struct uhca_cmd_query_peer_reply peer; /* what it says of the other end */

	/* What happened. */
	unsigned calls[UHCA_CMD_COUNT];
	_Alignas(8) uint8_t last[UHCA_CMD_COUNT][FAKE_KEPT]; /* the last request of each kind */
	int async_fd, mem_fd;                                /* of the last HELLO */
	int event_fd;
	struct uhca_abi_status *status;
	struct uhca_abi_doorbell *doorbell;
	struct uhca_abi_active_doorbells *active_doorbells;
	struct fake_queue queue[FAKE_MAX_OBJECTS];
	int channel_fd[FAKE_MAX_OBJECTS]; /* by handle */
	uint32_t next_handle, next_qpn;
};

/* Starts, in the directory $UHCA_DIR (with_preload.h makes it). Ends the test if it cannot. */
void fake_daemon_start(struct fake_daemon *d);

/* Closes all sockets, as the end of the process would. */
void fake_daemon_die(struct fake_daemon *d);

/* Ends it, if it lives, and frees what it made. */
void fake_daemon_stop(struct fake_daemon *d);

/* Waits until so many clients are connected: the end of one is noticed when its turn comes. */
void fake_await_clients(struct fake_daemon *d, unsigned n);

/* The newest queue of a kind; NULL when there is none. */
struct fake_queue *fake_newest(struct fake_daemon *d, uint32_t kind);

/* The device completes: the entry, with its sequence set, goes into the ring. */
void fake_complete(struct fake_queue *cq, const struct uhca_abi_cqe *e);

/* The device raises a completion event of the CQ, armed or not. */
void fake_comp_event(struct fake_daemon *d, const struct fake_queue *cq);

/* The device raises an async event. */
void fake_async_event(struct fake_daemon *d, uint64_t element, uint32_t type);

static inline struct uhca_abi_send_wqe *fake_send_slot(const struct fake_queue *q, uint32_t i)
{
	return (void *)(q->base + q->send.offset + (i & (q->send.entries - 1)) * q->send.stride);
}

static inline uint8_t *fake_send_data(const struct fake_queue *q, uint32_t i)
{
	return q->base + q->send.data_offset + (i & (q->send.entries - 1)) * q->send.data_stride;
}

static inline struct uhca_abi_recv_wqe *fake_recv_slot(const struct fake_queue *q, uint32_t i)
{
	return (void *)(q->base + q->recv.offset + (i & (q->recv.entries - 1)) * q->recv.stride);
}

static inline struct uhca_abi_queue *fake_page(const struct fake_queue *q)
{
	return (void *)q->base;
}

#endif
