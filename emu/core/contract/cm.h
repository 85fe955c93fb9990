/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connection management as the shell sees it: one struct cm is one end of one connection, or of
 * one service id resolution (IBTA vol. 1, chapter 12). The same contract as core.h: no I/O, time
 * as argument, messages leave by core_tx_next, deadlines by core_next_deadline.
 *
 * "Responder resources" and "initiator depth" are always those of the end that is spoken to: in
 * an event, what the peer's message leaves to us.
 */
#ifndef CORE_CONTRACT_CM_H
#define CORE_CONTRACT_CM_H

#include <stdbool.h>
#include <stdint.h>

struct device;
struct cm;
struct uhca_abi_qp_attr;

enum core_cm_event_type {
	CORE_CM_REPLIED,     /* REP: core_cm_ready or core_cm_reject is to follow */
	CORE_CM_ESTABLISHED, /* RTU; of a datagram: the service is there, see qpn and qkey */
	CORE_CM_REJECTED,    /* status: the reason of the REJ */
	CORE_CM_UNREACHABLE, /* status: -ETIMEDOUT, or the status of the SIDR_REP */
	/*
	 * status: 0, or -ETIMEDOUT when the peer does not answer. Either the peer has answered our
	 * DREQ, or it has sent one, which core_cm_disconnect or core_cm_destroy answers.
	 */
	CORE_CM_DISCONNECTED,
	CORE_CM_TIMEWAIT_EXIT,
	CORE_CM_RELEASED, /* the DISCONNECTED that was held may be shown */
};

/* What both ends tell each other. private_data: as much of it as the message has room for. */
struct core_cm_param {
	uint32_t qpn;
	uint32_t qkey;   /* datagrams only */
	uint8_t qp_type; /* enum ibv_qp_type */
	uint8_t responder_resources;
	uint8_t initiator_depth;
	uint8_t flow_control;
	uint8_t retry_count;
	uint8_t rnr_retry_count;
	uint8_t srq;
	uint8_t private_len;
	uint32_t ece_vendor; /* 24 bits; what the vendor's devices offer each other besides */
	uint32_t ece_options;
	const uint8_t *private_data;
};

struct core_cm_event {
	enum core_cm_event_type type;
	int32_t status;
	/* DISCONNECTED: not to be shown, nor what comes behind it, before CORE_CM_RELEASED. */
	bool held;
	struct core_cm_param param;
};

struct core_cm_request {
	uint64_t service_id;
	uint8_t local_gid[16]; /* to which the request came */
	uint8_t remote_gid[16];
	struct core_cm_param param;
};

struct core_cm_path {
	uint8_t local_gid[16]; /* one of the device's */
	uint8_t remote_gid[16];
	uint32_t flow_label; /* 20 bits; 0: the source port follows from the QP numbers */
	uint8_t traffic_class;
	uint8_t ack_timeout; /* code of the QP's local ACK timeout; 0: the usual */
};

/*
 * What the device asks of its surroundings. Called synchronously; must not call back about the cm
 * that it is called for.
 */
struct core_cm_ops {
	/*
	 * A peer asks. 0: somebody will answer, *cookie gets its events. -ENOENT: nobody listens;
	 * -EINVAL: not for this kind of QP; -ENOMEM: no room now, so that a REQ is dropped, to be
	 * repeated by its sender (a SIDR_REQ is refused); anything else: no resources. Then cm is
	 * gone.
	 */
	int (*request)(void *user, struct cm *cm, const struct core_cm_request *req, void **cookie);
	void (*event)(void *cookie, const struct core_cm_event *event);
};

/* Without ops every request is refused. The ops must outlive the device. */
void core_cm_set_ops(struct device *dev, const struct core_cm_ops *ops, void *user);

/* An idle end; its events go to cookie. NULL when there is no memory or no number left. */
struct cm *core_cm_create(struct device *dev, void *cookie);

/*
 * The end counts as one of this owner's until it is forgotten, which may be some time behind
 * core_cm_destroy. An owner has as many of the device's ends as it leaves to the others. 0, or
 * -ENOMEM: it has its share. May be called by core_cm_ops.request for the end that it is about.
 */
int core_cm_charge(struct cm *cm, uint32_t owner);

/*
 * The owner is gone: no event follows. A connection is disconnected, a request answered with a
 * reject; what remains to be said is repeated and then forgotten without him.
 */
void core_cm_destroy(struct cm *cm, uint64_t now);

/*
 * The owner has no room for a request that it has not answered: a REQ is forgotten without a word,
 * and is a new one when it is repeated; else as core_cm_destroy. No event follows.
 */
void core_cm_forget(struct cm *cm, uint64_t now);

/*
 * Sends REQ, or SIDR_REQ for qp_type UD. 0; -EINVAL: not idle, the path's local GID is not the
 * device's, too much private data (92 and 216 bytes).
 */
int core_cm_connect(struct cm *cm, const struct core_cm_path *path, uint64_t service_id,
		    const struct core_cm_param *param, uint64_t now);

/* Answers a request with REP, or SIDR_REP. 0; -EINVAL: there is none, too much private data. */
int core_cm_accept(struct cm *cm, const struct core_cm_param *param, uint64_t now);

/* Answers CORE_CM_REPLIED with RTU; only private_data of param counts. 0 or -EINVAL. */
int core_cm_ready(struct cm *cm, const struct core_cm_param *param, uint64_t now);

/*
 * Refuses a request or a reply. reason: enum roce_cm_reject_reason (for datagrams it becomes
 * "rejected"). 0 or -EINVAL.
 */
int core_cm_reject(struct cm *cm, uint16_t reason, const struct core_cm_param *param, uint64_t now);

/*
 * Sends DREQ where there is a connection, and DREP where the peer has sent DREQ. 0 also when there
 * is nothing to end yet or any more; -EINVAL: idle.
 */
int core_cm_disconnect(struct cm *cm, uint64_t now);

/* A message of the peer arrived before its RTU (COMM_EST): that will do. 0 or -EINVAL. */
int core_cm_established(struct cm *cm, uint64_t now);

/*
 * Attributes with which to bring the QP to a state (IBV_QPS_INIT, RTR, RTS), and their mask. 0;
 * -EINVAL: the connection is not that far.
 */
int core_cm_qp_attr(struct cm *cm, uint32_t state, struct uhca_abi_qp_attr *attr, uint32_t *mask);

/* How far an end is, for who looks at it: the names of core_cm_step_name. */
enum core_cm_step {
	CORE_CM_STEP_IDLE,
	CORE_CM_STEP_REQUEST_SENT,
	CORE_CM_STEP_REQUEST_RECEIVED, /* to be accepted or rejected */
	CORE_CM_STEP_REPLY_SENT,
	CORE_CM_STEP_REPLY_RECEIVED, /* to be answered by RTU: core_cm_ready */
	CORE_CM_STEP_ESTABLISHED,
	CORE_CM_STEP_END_SENT,
	CORE_CM_STEP_END_RECEIVED, /* to be answered by core_cm_disconnect */
	CORE_CM_STEP_TIMEWAIT,     /* its end is told by itself */
	CORE_CM_STEP_OVER,
	CORE_CM_STEPS
};
enum core_cm_step core_cm_step(const struct cm *cm);
const char *core_cm_step_name(enum core_cm_step step);

/* The number of its own queue pair, as it told the peer; 0: it has told none. */
uint32_t core_cm_qpn(const struct cm *cm);

/* Bytes of memory that an end takes, for who counts them. */
uint64_t core_cm_bytes(void);

/* Ends that are kept, those nobody owns any more included. */
uint32_t core_cm_count(const struct device *dev);

#endif
