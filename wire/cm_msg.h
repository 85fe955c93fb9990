/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages of the communication manager (IBTA vol. 1, 12.6 to 12.11): one value struct per
 * message, every field of it, and a parse and an emit for the whole MAD. Messages of automatic
 * path migration (LAP, APR) are not here: RoCE has no alternate path to load.
 *
 * Field names are the specification's. "Local" and "remote" are said by the sender of a message.
 * Timeouts are codes: 4.096 us * 2^code. Reserved bits go out as 0 and are ignored on receipt.
 */
#ifndef ROCE_CM_MSG_H
#define ROCE_CM_MSG_H

#include "mad.h"

#include <stdbool.h>
#include <stdint.h>

/* Attribute ids. */
enum roce_cm_attr {
	ROCE_CM_REQ = 0x0010,
	ROCE_CM_MRA = 0x0011,
	ROCE_CM_REJ = 0x0012,
	ROCE_CM_REP = 0x0013,
	ROCE_CM_RTU = 0x0014,
	ROCE_CM_DREQ = 0x0015,
	ROCE_CM_DREP = 0x0016,
	ROCE_CM_SIDR_REQ = 0x0017,
	ROCE_CM_SIDR_REP = 0x0018,
};

/* Sizes of the private data, and of additional information, in bytes. */
#define ROCE_CM_REQ_PRIVATE      92
#define ROCE_CM_MRA_PRIVATE      222
#define ROCE_CM_REJ_ARI          72
#define ROCE_CM_REJ_PRIVATE      148
#define ROCE_CM_REP_PRIVATE      196
#define ROCE_CM_RTU_PRIVATE      224
#define ROCE_CM_DREQ_PRIVATE     220
#define ROCE_CM_DREP_PRIVATE     224
#define ROCE_CM_SIDR_REQ_PRIVATE 216
#define ROCE_CM_SIDR_REP_INFO    72
#define ROCE_CM_SIDR_REP_PRIVATE 136

/* Transport service type of a REQ; 3 says that the extended type tells (annex A14). */
enum roce_cm_transport {
	ROCE_CM_TRANSPORT_RC = 0,
	ROCE_CM_TRANSPORT_UC = 1,
	ROCE_CM_TRANSPORT_RD = 2,
	ROCE_CM_TRANSPORT_EXTENDED = 3,
};

/* Extended transport type. */
#define ROCE_CM_EXTENDED_XRC 1

/* The message that a MRA or a REJ answers. */
enum roce_cm_answered {
	ROCE_CM_ANSWERED_REQ = 0,
	ROCE_CM_ANSWERED_REP = 1,
	ROCE_CM_ANSWERED_OTHER = 2, /* MRA: LAP; REJ: no message */
};

/* Reasons of a REJ (12.6.7.2). */
enum roce_cm_reject_reason {
	ROCE_CM_REJ_NO_QP = 1,
	ROCE_CM_REJ_NO_EEC = 2,
	ROCE_CM_REJ_NO_RESOURCES = 3,
	ROCE_CM_REJ_TIMEOUT = 4,
	ROCE_CM_REJ_UNSUPPORTED = 5,
	ROCE_CM_REJ_INVALID_COMM_ID = 6,
	ROCE_CM_REJ_INVALID_COMM_INSTANCE = 7,
	ROCE_CM_REJ_INVALID_SERVICE_ID = 8,
	ROCE_CM_REJ_INVALID_TRANSPORT = 9,
	ROCE_CM_REJ_STALE_CONNECTION = 10,
	ROCE_CM_REJ_NO_RDC = 11,
	ROCE_CM_REJ_PRIMARY_GID = 12,
	ROCE_CM_REJ_PRIMARY_LID = 13,
	ROCE_CM_REJ_PRIMARY_SL = 14,
	ROCE_CM_REJ_PRIMARY_TRAFFIC_CLASS = 15,
	ROCE_CM_REJ_PRIMARY_HOP_LIMIT = 16,
	ROCE_CM_REJ_PRIMARY_PACKET_RATE = 17,
	ROCE_CM_REJ_ALTERNATE_GID = 18,
	ROCE_CM_REJ_ALTERNATE_LID = 19,
	ROCE_CM_REJ_ALTERNATE_SL = 20,
	ROCE_CM_REJ_ALTERNATE_TRAFFIC_CLASS = 21,
	ROCE_CM_REJ_ALTERNATE_HOP_LIMIT = 22,
	ROCE_CM_REJ_ALTERNATE_PACKET_RATE = 23,
	ROCE_CM_REJ_PORT_CM_REDIRECT = 24,
	ROCE_CM_REJ_PORT_REDIRECT = 25,
	ROCE_CM_REJ_INVALID_MTU = 26,
	ROCE_CM_REJ_RESPONDER_RESOURCES = 27,
	ROCE_CM_REJ_CONSUMER = 28,
	ROCE_CM_REJ_RNR_RETRY_COUNT = 29,
	ROCE_CM_REJ_DUPLICATE_COMM_ID = 30,
	ROCE_CM_REJ_CLASS_VERSION = 31,
	ROCE_CM_REJ_PRIMARY_FLOW_LABEL = 32,
	ROCE_CM_REJ_ALTERNATE_FLOW_LABEL = 33,
	ROCE_CM_REJ_VENDOR_OPTION = 35,
};

/* Status of a SIDR_REP (12.11.2). */
enum roce_cm_sidr_status {
	ROCE_CM_SIDR_VALID = 0,
	ROCE_CM_SIDR_UNSUPPORTED_SERVICE = 1,
	ROCE_CM_SIDR_REJECT = 2,
	ROCE_CM_SIDR_NO_QP = 3,
	ROCE_CM_SIDR_REDIRECT = 4,
	ROCE_CM_SIDR_UNSUPPORTED_VERSION = 5,
};

/* One of the two paths of a REQ. */
struct roce_cm_path {
	uint16_t local_lid; /* 0xffff on RoCE */
	uint16_t remote_lid;
	uint8_t local_gid[16];
	uint8_t remote_gid[16];
	uint32_t flow_label; /* 20 bits */
	uint8_t packet_rate; /* 6 bits */
	uint8_t traffic_class;
	uint8_t hop_limit;
	uint8_t sl; /* 4 bits */
	bool subnet_local;
	uint8_t local_ack_timeout; /* 5 bits */
};

/* Request for communication. */
struct roce_cm_req {
	uint32_t local_comm_id;
	uint32_t vendor_id; /* 24 bits: whose enhancements (ECE) attr_mod offers */
	uint64_t service_id;
	uint64_t local_ca_guid;
	uint32_t local_qkey;
	uint32_t local_qpn; /* 24 bits */
	uint8_t responder_resources;
	uint32_t local_eecn; /* 24 bits */
	uint8_t initiator_depth;
	uint32_t remote_eecn;               /* 24 bits */
	uint8_t remote_cm_response_timeout; /* 5 bits */
	uint8_t transport;                  /* enum roce_cm_transport */
	bool flow_control;                  /* the sender's send queue obeys credits */
	uint32_t starting_psn;              /* 24 bits */
	uint8_t local_cm_response_timeout;  /* 5 bits */
	uint8_t retry_count;                /* 3 bits */
	uint16_t pkey;
	uint8_t path_mtu; /* 4 bits: 1 is 256 bytes ... 5 is 4096 */
	bool rdc_exists;
	uint8_t rnr_retry_count; /* 3 bits */
	uint8_t max_cm_retries;  /* 4 bits */
	bool srq;
	uint8_t extended_transport; /* 3 bits */
	struct roce_cm_path primary;
	struct roce_cm_path alternate;
	uint8_t private_data[ROCE_CM_REQ_PRIVATE];
};

/* Message receipt acknowledgement: "I am at it, wait". */
struct roce_cm_mra {
	uint32_t local_comm_id;
	uint32_t remote_comm_id;
	uint8_t message_mraed;   /* enum roce_cm_answered */
	uint8_t service_timeout; /* 5 bits */
	uint8_t private_data[ROCE_CM_MRA_PRIVATE];
};

/* Reject. */
struct roce_cm_rej {
	uint32_t local_comm_id;
	uint32_t remote_comm_id;
	uint8_t message_rejected; /* enum roce_cm_answered */
	uint8_t info_length;      /* 7 bits: bytes of ari that count */
	uint16_t reason;          /* enum roce_cm_reject_reason */
	uint8_t ari[ROCE_CM_REJ_ARI];
	uint8_t private_data[ROCE_CM_REJ_PRIVATE];
};

/* Reply to a request. */
struct roce_cm_rep {
	uint32_t local_comm_id;
	uint32_t remote_comm_id;
	uint32_t local_qkey;
	uint32_t local_qpn; /* 24 bits */
	uint8_t vendor_id_high;
	uint32_t local_eecn; /* 24 bits */
	uint8_t vendor_id_middle;
	uint32_t starting_psn; /* 24 bits */
	uint8_t vendor_id_low;
	uint8_t responder_resources;
	uint8_t initiator_depth;
	uint8_t target_ack_delay;  /* 5 bits */
	uint8_t failover_accepted; /* 2 bits */
	bool flow_control;
	uint8_t rnr_retry_count; /* 3 bits */
	bool srq;
	uint64_t local_ca_guid;
	uint8_t private_data[ROCE_CM_REP_PRIVATE];
};

/* Ready to use. */
struct roce_cm_rtu {
	uint32_t local_comm_id;
	uint32_t remote_comm_id;
	uint8_t private_data[ROCE_CM_RTU_PRIVATE];
};

/* Request for disconnection. */
struct roce_cm_dreq {
	uint32_t local_comm_id;
	uint32_t remote_comm_id;
	uint32_t remote_qpn; /* 24 bits: QP or EE context of the receiver */
	uint8_t private_data[ROCE_CM_DREQ_PRIVATE];
};

/* Reply to a request for disconnection. */
struct roce_cm_drep {
	uint32_t local_comm_id;
	uint32_t remote_comm_id;
	uint8_t private_data[ROCE_CM_DREP_PRIVATE];
};

/* Service id resolution request. */
struct roce_cm_sidr_req {
	uint32_t request_id;
	uint16_t pkey;
	uint64_t service_id;
	uint8_t private_data[ROCE_CM_SIDR_REQ_PRIVATE];
};

/* Service id resolution response. */
struct roce_cm_sidr_rep {
	uint32_t request_id;
	uint8_t status;      /* enum roce_cm_sidr_status */
	uint8_t info_length; /* bytes of info that count */
	uint32_t qpn;        /* 24 bits */
	uint64_t service_id;
	uint32_t qkey;
	uint8_t info[ROCE_CM_SIDR_REP_INFO];
	uint8_t private_data[ROCE_CM_SIDR_REP_PRIVATE];
};

struct roce_cm_msg {
	uint64_t tid;
	uint32_t attr_mod;      /* REQ and REP: the vendor's options of ECE; else 0 */
	enum roce_cm_attr attr; /* tells which member is meant */
	union {
		struct roce_cm_req req;
		struct roce_cm_mra mra;
		struct roce_cm_rej rej;
		struct roce_cm_rep rep;
		struct roce_cm_rtu rtu;
		struct roce_cm_dreq dreq;
		struct roce_cm_drep drep;
		struct roce_cm_sidr_req sidr_req;
		struct roce_cm_sidr_rep sidr_rep;
	};
};

/*
 * Reads a whole MAD. Returns false, and leaves *out unspecified, when it is not a message of the
 * list above: other class or version, other method than Send, other attribute. Bytes of *out that
 * do not belong to the message are zero.
 */
bool roce_cm_parse(const uint8_t mad[ROCE_MAD_LENGTH], struct roce_cm_msg *out);

/*
 * Writes a whole MAD: header (Send of class CM, status 0) and body; fields wider than their place
 * on the wire are masked. Returns false, and writes nothing, when msg->attr is none of the list.
 */
bool roce_cm_emit(const struct roce_cm_msg *msg, uint8_t mad[ROCE_MAD_LENGTH]);

/* "REQ", "SIDR_REP", ...; NULL for an attribute that is none of the list. Static text. */
const char *roce_cm_name(uint16_t attr_id);

#endif
