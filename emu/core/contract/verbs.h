/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The HCA as pure state machines, as core.h offers it: the control verbs, the data path.
 *
 * Contract:
 *  - No I/O, no clock, no threads, no globals. Time comes in as an argument (nanoseconds of any
 *    monotonic clock), packets come in as bursts, deadlines go out as return values. What the
 *    device needs from outside it asks of struct core_ops (ops.h).
 *  - Single-threaded by contract: one device and all its clients are touched by one thread at a
 *    time. Any number of devices can live in one process.
 *  - Protocol of use, after each event (packet, doorbell, expired deadline, control verb):
 *      1. call core_rx, core_doorbell, core_tick or the verb;
 *      2. call core_tx_next until it returns false, and deliver each burst;
 *      3. ask core_next_deadline and call core_tick when it has come.
 *  - Control verbs return 0 or -errno (errno values as in the libibverbs man pages) and leave
 *    every object untouched when they fail: -ENOENT for a handle that names nothing of the client.
 */
#ifndef CORE_VERBS_H
#define CORE_VERBS_H

#include "burst.h"
#include "emu/abi/cmd.h"
#include "emu/abi/cqe.h"
#include "emu/abi/event.h"
#include "emu/core/contract/config.h"
#include "ops.h"
#include "port.h"
#include "trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct device;
struct client;

/* ---- a device ---- */

/*
 * NULL when cfg is not valid or memory is short. The ops must outlive the device; cfg is copied.
 */
struct device *core_create(const struct core_ops *ops, void *user, const struct core_config *cfg);
void core_destroy(struct device *dev);

/* One process's opened context. NULL when memory is short. */
struct client *core_client_create(struct device *dev, void *cookie);

/*
 * The process closed its context or died: frees all it owned, whatever the order, as if each QP
 * had gone to the error state; peers find out by their own timeouts. Rings are freed.
 */
void core_client_destroy(struct client *c);

/* ---- control verbs: cmd.h tells what the fields mean ---- */

/*
 * Why the last control verb or call of the communication manager was refused: words without an end,
 * "" when nothing was said since core_forget_refusal. Valid until the next call into the device.
 */
const char *core_refusal(const struct device *dev);
void core_forget_refusal(struct device *dev);

int core_query_device(struct client *c, struct uhca_cmd_device_attr *out);
int core_query_port(struct client *c, uint32_t port, struct uhca_cmd_port_attr *out);
/* Of port 1. */
int core_query_gid(struct client *c, uint32_t index, uint8_t gid[16]);

/*
 * How the device reaches "remote" (an address or a group) from its address "local": GID index and
 * port, and the GID, or on InfiniBand the LID. Other fields are left alone.
 */
void core_path_address(const struct device *dev, const uint8_t local[16], const uint8_t remote[16],
		       struct uhca_abi_ah_attr *out);

/* The addresses of both ends of such a path. */
void core_path_ends(const struct device *dev, const struct uhca_abi_ah_attr *attr,
		    uint8_t local[16], uint8_t remote[16]);

int core_alloc_pd(struct client *c, uint32_t *handle);
int core_dealloc_pd(struct client *c, uint32_t handle);
int core_reg_mr(struct client *c, const struct uhca_cmd_reg_mr *in,
		struct uhca_cmd_reg_mr_reply *out);
int core_dereg_mr(struct client *c, uint32_t handle);
int core_create_cq(struct client *c, const struct uhca_cmd_create_cq *in,
		   struct uhca_cmd_create_cq_reply *out, struct core_ring *ring);
int core_destroy_cq(struct client *c, uint32_t handle);
int core_create_qp(struct client *c, const struct uhca_cmd_create_qp *in,
		   struct uhca_cmd_create_qp_reply *out, struct core_ring *ring);
int core_modify_qp(struct client *c, const struct uhca_cmd_modify_qp *in, uint64_t now);
int core_query_qp(struct client *c, uint32_t handle, struct uhca_cmd_query_qp_reply *out);
int core_destroy_qp(struct client *c, uint32_t handle);
int core_create_srq(struct client *c, const struct uhca_cmd_create_srq *in,
		    struct uhca_cmd_create_srq_reply *out, struct core_ring *ring);
int core_modify_srq(struct client *c, const struct uhca_cmd_modify_srq *in);
int core_resize_srq(struct client *c, const struct uhca_cmd_modify_srq *in,
		    struct uhca_cmd_create_srq_reply *out, struct core_ring *ring);
int core_query_srq(struct client *c, uint32_t handle, struct uhca_cmd_query_srq_reply *out);
int core_destroy_srq(struct client *c, uint32_t handle);
int core_create_ah(struct client *c, const struct uhca_cmd_create_ah *in, uint32_t *handle);
int core_destroy_ah(struct client *c, uint32_t handle);

/*
 * Completion counters: -EOPNOTSUPP without them (max_comp_cntr 0), for operations that the device
 * does not know and for QPs that cannot count; -EBUSY for an operation that has a counter.
 */
int core_create_comp_cntr(struct client *c, const struct uhca_cmd_create_comp_cntr *in,
			  struct uhca_cmd_create_comp_cntr_reply *out, struct core_ring *ring);
int core_destroy_comp_cntr(struct client *c, uint32_t handle);
/* add: the value is added, else it is set. */
int core_modify_comp_cntr(struct client *c, const struct uhca_cmd_modify_comp_cntr *in, bool add);
int core_attach_comp_cntr(struct client *c, const struct uhca_cmd_attach_comp_cntr *in);

int core_resize_cq(struct client *c, const struct uhca_cmd_resize_cq *in,
		   struct uhca_cmd_create_cq_reply *out, struct core_ring *ring);
int core_modify_cq(struct client *c, const struct uhca_cmd_modify_cq *in);
int core_notify_cq(struct client *c, uint32_t handle);
int core_alloc_mw(struct client *c, const struct uhca_cmd_alloc_mw *in,
		  struct uhca_cmd_alloc_mw_reply *out);
int core_dealloc_mw(struct client *c, uint32_t handle);
int core_rereg_mr(struct client *c, const struct uhca_cmd_rereg_mr *in,
		  struct uhca_cmd_reg_mr_reply *out);
int core_alloc_null_mr(struct client *c, uint32_t pd, struct uhca_cmd_reg_mr_reply *out);
int core_advise_mr(struct client *c, const struct uhca_cmd_advise_mr *in);
int core_alloc_dm(struct client *c, const struct uhca_cmd_alloc_dm *in,
		  struct uhca_cmd_alloc_dm_reply *out, struct core_ring *ring);
int core_free_dm(struct client *c, uint32_t handle);
int core_reg_dm_mr(struct client *c, const struct uhca_cmd_reg_dm_mr *in,
		   struct uhca_cmd_reg_mr_reply *out);
int core_reg_shared_mr(struct client *c, const struct uhca_cmd_reg_shared_mr *in,
		       struct uhca_cmd_reg_mr_reply *out);
/*
 * Memory of the client of which windows are mapped here: the n-th has the bytes from n times
 * CORE_ARENA_WINDOW on. One that is mapped stays so until the client's end.
 */
#define CORE_ARENA_WINDOW  (UINT64_C(1) << 34)
#define CORE_ARENA_WINDOWS 64u
struct core_arena {
	uint64_t size;
	uint8_t *window[CORE_ARENA_WINDOWS]; /* NULL: not mapped */
};
/* The arena is the caller's until the client's end. -EBUSY: there is one. */
int core_attach_arena(struct client *c, const struct core_arena *arena);
/*
 * As core_reg_mr; also -EINVAL for extents that are not right (cmd_memory.h) or in no window that
 * is mapped, and -ENOSPC when they are in too many.
 */
int core_reg_pinned_mr(struct client *c, const struct uhca_cmd_reg_pinned_mr *in,
		       struct uhca_cmd_reg_mr_reply *out);
/* Which address the client has for this byte of its arena; false: none. Looks at all regions. */
bool core_pinned_at(const struct client *c, uint64_t at, uint64_t *addr);
int core_alloc_key(struct client *c, const struct uhca_cmd_alloc_key *in,
		   struct uhca_cmd_reg_mr_reply *out);
/*
 * 0; -EINVAL (no such key, a list that is not right, a piece outside its region or of another
 * domain, access wider than the region's, too deep), -EBUSY (windows or descriptions use the key),
 * -E2BIG (no room for so long a list), -EOPNOTSUPP. The key is as it was after a failure.
 */
int core_describe_key(struct client *c, const struct uhca_cmd_describe_key *in);
/*
 * c, fresh from core_client_create, shares from now on what other shares, and other with c:
 * protection domains, regions and device memory; all of these can be named by either. 0, -ENOMEM,
 * or -EINVAL when c has joined already or is of another device.
 */
int core_client_join(struct client *c, struct client *other);
/* What a shared object is: 0, or -ENOENT for a handle of no member. */
int core_import_pd(struct client *c, uint32_t handle);
int core_import_mr(struct client *c, uint32_t handle, struct uhca_cmd_import_reply *out);
int core_import_dm(struct client *c, uint32_t handle, struct uhca_cmd_import_reply *out,
		   struct core_ring *ring);
/* file names the domain (its inode, as two numbers the shell chose); NULL: a private one. */
int core_open_xrcd(struct client *c, const struct uhca_cmd_open_xrcd *in, const uint64_t file[2],
		   uint32_t *handle);
int core_close_xrcd(struct client *c, uint32_t handle);
int core_open_qp(struct client *c, const struct uhca_cmd_open_qp *in,
		 struct uhca_cmd_open_qp_reply *out, struct core_ring *ring);
int core_create_wq(struct client *c, const struct uhca_cmd_create_wq *in,
		   struct uhca_cmd_create_srq_reply *out, struct core_ring *ring);
int core_modify_wq(struct client *c, const struct uhca_cmd_modify_wq *in, uint64_t now);
int core_destroy_wq(struct client *c, uint32_t handle);
int core_create_rwq_ind_table(struct client *c, const struct uhca_cmd_create_rwq_ind_table *in,
			      uint32_t *handle);
int core_destroy_rwq_ind_table(struct client *c, uint32_t handle);
int core_create_flow(struct client *c, const struct uhca_cmd_create_flow *in, uint32_t *handle);
int core_destroy_flow(struct client *c, uint32_t handle);
int core_attach_mcast(struct client *c, const struct uhca_cmd_mcast *in);
int core_detach_mcast(struct client *c, const struct uhca_cmd_mcast *in);

/* How many QPs of the device get a copy of a datagram to this group; gid is canonical. */
uint32_t core_mcast_members(const struct device *dev, const uint8_t gid[16]);

/* ---- the data path ---- */

/* New work was posted: the client's bit "doorbell" was set. Unknown numbers are ignored. */
void core_doorbell(struct client *c, uint32_t doorbell, uint64_t now);

/*
 * The next burst to send, round robin over the QPs that have work (of bursts of one packet each
 * sends up to 16 in its turn); those of low latency go first, but for one burst of the others
 * after each 16 packets of theirs. buf (cap bytes, at least config.burst_bytes) takes the payload
 * unless it stands in shared memory already. The burst and what it points to are valid until the
 * next call into this device, so deliver it first; it may be handed to core_rx of another device,
 * or of this same device, as it is.
 * Returns false when nothing is to be sent now.
 */
bool core_tx_next(struct device *dev, uint64_t now, uint8_t *buf, size_t cap,
		  struct core_burst *out);

/*
 * The burst, which stays valid, left by a network that has no more room than config.window_bytes.
 * UC and UD, whose packets nobody acknowledges, pause behind so many bytes; others go on.
 */
void core_tx_left(struct device *dev, const struct core_burst *t, uint64_t now);

/*
 * The same as core_tx_next of one client's QPs only, in the order in which they were rung. It does
 * not wait for the end of a pause.
 */
bool core_tx_next_of(struct client *c, uint64_t now, uint8_t *buf, size_t cap,
		     struct core_burst *out);

/* A burst arrived. The payload is only read during the call. */
void core_rx(struct device *dev, uint64_t now, const struct core_burst *t);

/* An Ethernet frame of a raw packet QP, without checksum. */
struct core_frame {
	const uint8_t *bytes;
	uint32_t length;
};

/*
 * The next frame to send, in buf (cap bytes, at least ROCE_FRAME_MAX for the longest), round robin
 * over the raw packet QPs that have one; hand it to core_rx_frame of every device of the network,
 * this one included. False when there is none.
 */
bool core_frame_next(struct device *dev, uint64_t now, uint8_t *buf, size_t cap,
		     struct core_frame *out);

/*
 * A frame arrived: it goes where the steering rules say (ibv_create_flow(3)), or is dropped.
 * Returns how much work that was: 1 for each rule of the device, 16 for each copy of the frame.
 */
unsigned core_rx_frame(struct device *dev, uint64_t now, const struct core_frame *frame);

/* Runs what is due at "now". */
void core_tick(struct device *dev, uint64_t now);

/*
 * Stops the clock by which the device waits for the network, or lets it go on: meanwhile nothing is
 * sent again, no RNR wait ends, and no connection manager repeats itself or gives up; afterwards
 * all of it comes so much later, also what was begun meanwhile. Completions, their events and
 * ACKs go on, and time stamps are of the time that is. Again: nothing happens.
 */
void core_freeze(struct device *dev, bool on, uint64_t now);

/* So much of the time that has passed does not count for that clock: the caller did not run. */
void core_skip(struct device *dev, uint64_t time);

/*
 * The network's time has gone on by so much (ns) since the last call; before the first one it was
 * now / config.congestion.scale. That clock, and that of rates and congestion control, follow. From
 * here on they go on at their scale until the next call.
 */
void core_network_passed(struct device *dev, uint64_t now, uint64_t passed);

/*
 * How far the network's time has to go on, from that of the last core_network_passed, until
 * core_tick has something to do by it: ns; UINT64_MAX: never.
 */
uint64_t core_network_due(const struct device *dev);

/*
 * Programs of dev, which is new, and of "other" may share memory: before one of the two devices
 * looks at it, what programs of both were to copy there (abi/copy_on_poll.h) is there. It holds for
 * all devices with which either shares it already, until core_destroy.
 */
void core_share_memory(struct device *dev, struct device *other);

/*
 * The shell is about to sleep: what waits for company (config.ack_delay_ns) waits no longer. True
 * when there is something to send now.
 */
bool core_hurry(struct device *dev);

/* Earliest time at which core_tick has something to do; UINT64_MAX when there is none. */
uint64_t core_next_deadline(const struct device *dev);

/* ---- looking at it (uhcactl show, tests) ---- */

/* The number of the client's QP, the key of its region or window, by handle; 0: there is none. */
uint32_t core_qp_number(const struct client *c, uint32_t handle);
uint32_t core_key_of(const struct client *c, uint32_t handle);

enum core_object_type {
	CORE_OBJECT_PD,
	CORE_OBJECT_MR,
	CORE_OBJECT_CQ,
	CORE_OBJECT_QP,
	CORE_OBJECT_SRQ,
	CORE_OBJECT_AH,
	CORE_OBJECT_MW,
	CORE_OBJECT_XRCD,
	CORE_OBJECT_DM,
	CORE_OBJECT_WQ,
	CORE_OBJECT_IND_TABLE,
	CORE_OBJECT_FLOW,
	CORE_OBJECT_COMP_CNTR,
	CORE_OBJECT_TYPES
};

/* One object as a flat list of facts; the caller prints them. */
struct core_fact {
	const char *name; /* "qpn", "state", ... */
	const char *text; /* static text, or NULL: number */
	uint64_t number;
	bool hex;
};

#define CORE_MAX_FACTS 48

/* A visit of all objects of a type, in parts. */
struct core_visit {
	enum core_object_type type;
	const void *client; /* only what this one has; NULL: of all */
	uint32_t next;      /* place in the table; 0 at first */
	uint32_t met;       /* objects so far */
};

/*
 * Calls visit (NULL: nothing; they are counted) for each such object in the next places of the
 * table. The facts live for the call. False: those were the last. What is made or destroyed between
 * two parts is met or not.
 */
bool core_visit(struct device *dev, struct core_visit *v, uint32_t places,
		void (*visit)(void *arg, void *client, const struct core_fact *facts, unsigned n),
		void *arg);

/* What belongs to a QP; 0 where there is none. */
struct core_qp_look {
	uint32_t peer_qpn;                   /* of connected types */
	uint32_t pd, srq, send_cq, recv_cq;  /* handles */
	uint32_t write_key;                  /* of the RDMA WRITE that is arriving */
	bool responds;                       /* it takes requests of RC or XRC ... */
	uint32_t expected_psn;               /* ... and this is the next of them */
	uint32_t type;                       /* enum ibv_qp_type */
	uint32_t recvs;                      /* receive requests that wait */
	uint64_t heard;                      /* packets that it has taken */
	const struct uhca_abi_qp_attr *attr; /* as modify set it; valid until the next verb */
	const struct roce_flow *flow;        /* of connected types: that of its packets; the same */
	uint32_t state;                      /* enum ibv_qp_state */
	void *client;
};

/* False: the device has no such QP. */
bool core_look_at_qp(const struct device *dev, uint32_t qpn, struct core_qp_look *out);

/*
 * A QP that was told of that peer, by number and address, from place "next" of the table on; 0:
 * none in the next places. Looks at a part of the table: next is UINT32_MAX when it is at the end.
 */
uint32_t core_find_partner(const struct device *dev, uint32_t peer_qpn, const uint8_t peer[16],
			   uint32_t *next);

/* Where the client's address handle leads; false: it has no such handle. */
bool core_ah_address(struct client *c, uint32_t handle, uint8_t address[16]);

/* "pd", "mr", ...: static text. */
const char *core_object_name(enum core_object_type type);

/* Number of objects of a type. */
uint32_t core_object_count(const struct device *dev, enum core_object_type type);

struct core_counters {
	uint64_t tx_packets, tx_bytes, rx_packets, rx_bytes;
	uint64_t drops[CORE_DROP_COUNT];
	uint64_t naks_sent, naks_received, rnr_sent, rnr_received;
	uint64_t cnps_received, cnps_handled; /* of these a control has heard */
	uint64_t ecn_marked, cnps_sent;       /* packets that came with a mark; what was answered */
	uint64_t link_downed;
	uint64_t timeouts, retransmits, duplicates, completions, errors;
	/* Of what fails, as adapters count it. */
	uint64_t sequence_naks;                     /* that a requester got */
	uint64_t implied_naks;                      /* responses that it missed */
	uint64_t sequence_errors;                   /* requests that came out of order */
	uint64_t invalid_request_naks, access_naks; /* that a requester got */
	uint64_t retries_exceeded, rnr_exceeded;    /* requests that ended so */
	uint64_t send_errors, send_flushes;         /* failed requests, and those of them that */
	uint64_t receive_errors, receive_flushes;   /* an earlier failure of the QP flushed */
	uint64_t receive_lengths;                   /* receives that were too short */
	uint64_t write_requests, read_requests, atomic_requests; /* counts_requests */
};

const struct core_counters *core_counters(const struct device *dev);

/* "no_qp", "state", ...: the name of a drop reason, static text. */
const char *core_drop_name(enum core_drop d);

#endif
