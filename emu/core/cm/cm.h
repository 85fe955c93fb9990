/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Communication manager (IBTA vol. 1, chapter 12): the ends of connections of one device. cm.c
 * has their life and what the shell asks for, cm_receive.c what messages do, cm_send.c how they
 * are made and repeated, cm_attr.c what follows for the QP.
 */
#ifndef CORE_CM_INTERNAL_H
#define CORE_CM_INTERNAL_H

#include "cm_manager.h"
#include "emu/core/base/base.h"
#include "emu/core/contract/cm.h"
#include "wire/cm_msg.h"

/*
 * Codes: 4.096 us * 2^code. We answer within a second and expect the same, unless the peer's REQ
 * says that it takes longer; a connection's packet is repeated after half a second.
 */
#define CM_RESPONSE_TIMEOUT 18
#define CM_MAX_RETRIES      15
#define CM_ACK_TIMEOUT      17
#define CM_LONGEST_TIMEOUT  31 /* five bits */

/* States of 12.9.7 (active and passive end) and of 12.9.8.3 (datagrams), as far as they differ. */
enum cm_state {
	CM_IDLE,
	CM_REQ_SENT,
	CM_REP_RCVD,
	CM_REQ_RCVD,
	CM_REP_SENT,
	CM_ESTABLISHED,
	CM_DREQ_SENT,
	CM_DREQ_RCVD, /* until the owner answers it, by a disconnect or by its end */
	CM_TIMEWAIT,
	CM_SIDR_REQ_SENT,
	CM_SIDR_REQ_RCVD,
	CM_ANSWERED, /* refused, or SIDR_REP sent: kept for repeated requests */
	CM_CLOSED,   /* refused, or given up */
};

struct cm {
	struct device *dev;
	void *cookie;
	struct cm_account *account; /* whose share it is of; NULL: nobody's */
	bool orphan;                /* nobody owns it: gone when there is nothing left to repeat */
	enum cm_state state;
	uint32_t local_id, remote_id;
	uint64_t remote_guid;
	struct list hash, qpn_hash; /* in cm_manager.passive and by_qpn */
	struct timer timer;
	uint32_t retries;
	uint64_t interval;   /* between repetitions, ns */
	uint8_t max_retries; /* so often a message is repeated */
	bool disconnect;     /* as soon as it is established */
	bool passive;
	bool held; /* in CM_DREQ_RCVD: the owner is not to see the end yet (cm_reader.c) */
	struct {
		uint64_t since;      /* when the DREQ came */
		uint32_t send, recv; /* then, the producer indices of the QP's two CQs */
	} unread;

	uint64_t tid, service_id;
	struct core_cm_path path;
	uint8_t qp_type; /* of our QP */
	uint8_t path_mtu;
	uint32_t local_qpn, remote_qpn;
	/*
	 * 12.7.31: what a REQ or REP announces is where its recipient begins to send. So rq_psn is
	 * ours to choose, and sq_psn is the peer's announcement.
	 */
	uint32_t sq_psn, rq_psn;
	uint8_t responder_resources, initiator_depth;
	uint8_t retry_count, rnr_retry_count;
	bool srq;
	uint8_t mad[ROCE_MAD_LENGTH]; /* sent last, to be repeated */
};

/* cm_send.c */

/*
 * Messages are repeated so often, each time when the peer has not answered for so long (a timeout
 * code). Less than CM_RESPONSE_TIMEOUT is not taken seriously.
 */
void cm_set_pace(struct cm *cm, uint8_t code, uint8_t retries);
/* Sends the message once; with repeat it is kept and sent again until cm_stop or the end. */
void cm_send(struct cm *cm, struct roce_cm_msg *msg);
void cm_send_repeated(struct cm *cm, struct roce_cm_msg *msg, uint64_t now);
void cm_send_again(struct cm *cm);
void cm_stop(struct cm *cm);
/* Its timer runs so many ns from now on. */
void cm_wait(struct cm *cm, uint64_t now, uint64_t time);
/* The peer sent an MRA: the next repetition is so much later (a timeout code). */
void cm_wait_longer(struct cm *cm, uint8_t code, uint64_t now);

void cm_send_dreq(struct cm *cm, uint64_t now);
void cm_send_drep(struct cm *cm);
void cm_send_mra(struct cm *cm, enum roce_cm_answered answered);
void cm_send_rej(struct cm *cm, uint16_t reason, const uint8_t *private_data, uint32_t len);

/* Nobody is there for this message: says so to where it came from. */
void cm_send_stray_rej(struct device *dev, const struct roce_flow *from,
		       const struct roce_cm_msg *msg);
void cm_send_stray_drep(struct device *dev, const struct roce_flow *from,
			const struct roce_cm_msg *msg);

/* cm.c */

/* NULL when there is no memory or no number. */
struct cm *cm_create(struct device *dev, void *cookie);
void cm_free(struct cm *cm);

/* cm_account.c: it is nobody's any more. */
void cm_discharge(struct cm *cm);

/* Tells the owner, if there is one. */
void cm_event(struct cm *cm, const struct core_cm_event *e);
void cm_raise_event(struct cm *cm, enum core_cm_event_type type, int32_t status);

/* No way back from here: an orphan is freed, others wait for their owner to let go. */
void cm_close(struct cm *cm);
void cm_enter_timewait(struct cm *cm, uint64_t now);
/* What was answered is kept for a while: the peer may not have heard it and ask again. */
void cm_keep_answer(struct cm *cm, uint64_t now);

/* What a host says of itself, and where the message came from. */
struct cm_remote {
	uint32_t number; /* its communication id, or its QP */
	uint64_t guid;
	const uint8_t *gid;
};

/* The passive end that the peer names so, by its communication id. */
struct cm *cm_find_passive(struct device *dev, const struct cm_remote *r);
void cm_add_passive(struct cm *cm);
/* The passive end that is, or may be, connected with this QP of the peer. */
struct cm *cm_find_connected(struct device *dev, const struct cm_remote *r);

/* A message of the peer has run out of repetitions, or time-wait is over. */
void cm_expired(struct cm *cm, uint64_t now);

/* cm_reader.c */

#define CM_READER_PAGE_WORKER UINT64_C(100000000) /* ns */

/*
 * A DREQ has come: the owner is told, and its answer awaited. The event is held while what came to
 * its QP before cannot be seen yet (deferred_completion.h) or has not been read, for
 * CM_READER_PAGE_WORKER.
 */
void cm_disconnected(struct cm *cm, uint64_t now);
/* The timer's next look at an owner whose event is held. */
void cm_reader_look(struct cm *cm, uint64_t now);
/* Nothing is held from here on; tells the owner where something was. */
void cm_release(struct cm *cm);

/* cm_receive.c */
void cm_receive(struct device *dev, const struct roce_flow *from, const struct roce_cm_msg *msg);

#endif
