/* SPDX-License-Identifier: BSD-2-Clause */
/* Texts of CM reject reasons (IBTA vol. 1, 12.6.7.2). */
#include "cm_reasons.h"

#include "wire/cm_msg.h"

#define REASONS_END 36

static const char *const reasons[REASONS_END] = {
	[ROCE_CM_REJ_NO_QP] = "no QP available",
	[ROCE_CM_REJ_NO_EEC] = "no end-to-end context available",
	[ROCE_CM_REJ_NO_RESOURCES] = "the other end is short of resources",
	[ROCE_CM_REJ_TIMEOUT] = "the timeout expired",
	[ROCE_CM_REJ_UNSUPPORTED] = "the request is not supported",
	[ROCE_CM_REJ_INVALID_COMM_ID] = "it names no communication of the other end",
	[ROCE_CM_REJ_INVALID_COMM_INSTANCE] = "it names no instance of the communication",
	[ROCE_CM_REJ_INVALID_SERVICE_ID] = "no listener at this service or port",
	[ROCE_CM_REJ_INVALID_TRANSPORT] = "the listener wants another transport",
	[ROCE_CM_REJ_STALE_CONNECTION] = "the QP is still in a connection (stale)",
	[ROCE_CM_REJ_NO_RDC] = "no reliable datagram domain",
	[ROCE_CM_REJ_PRIMARY_GID] = "the GID of the path was not accepted",
	[ROCE_CM_REJ_PRIMARY_LID] = "the LID of the path was not accepted",
	[ROCE_CM_REJ_PRIMARY_SL] = "the service level of the path was not accepted",
	[ROCE_CM_REJ_PRIMARY_TRAFFIC_CLASS] = "the traffic class of the path was not accepted",
	[ROCE_CM_REJ_PRIMARY_HOP_LIMIT] = "the hop limit of the path was not accepted",
	[ROCE_CM_REJ_PRIMARY_PACKET_RATE] = "the packet rate of the path was not accepted",
	[ROCE_CM_REJ_ALTERNATE_GID] = "the GID of the alternate path was not accepted",
	[ROCE_CM_REJ_ALTERNATE_LID] = "the LID of the alternate path was not accepted",
	[ROCE_CM_REJ_ALTERNATE_SL] = "the service level of the alternate path was not accepted",
	[ROCE_CM_REJ_ALTERNATE_TRAFFIC_CLASS] =
		"the traffic class of the alternate path was not accepted",
	[ROCE_CM_REJ_ALTERNATE_HOP_LIMIT] = "the hop limit of the alternate path was not accepted",
	[ROCE_CM_REJ_ALTERNATE_PACKET_RATE] =
		"the packet rate of the alternate path was not accepted",
	[ROCE_CM_REJ_PORT_CM_REDIRECT] = "another port has the connection manager",
	[ROCE_CM_REJ_PORT_REDIRECT] = "use another port (port redirection)",
	[ROCE_CM_REJ_INVALID_MTU] = "the path MTU was not accepted",
	[ROCE_CM_REJ_RESPONDER_RESOURCES] = "too many READs and atomics at a time were wanted",
	[ROCE_CM_REJ_CONSUMER] = "the program at the other end rejected it",
	[ROCE_CM_REJ_RNR_RETRY_COUNT] = "the RNR retry count was not accepted",
	[ROCE_CM_REJ_DUPLICATE_COMM_ID] = "the communication's number is in use",
	[ROCE_CM_REJ_CLASS_VERSION] = "the other end has another version of the protocol",
	[ROCE_CM_REJ_PRIMARY_FLOW_LABEL] = "the flow label of the path was not accepted",
	[ROCE_CM_REJ_ALTERNATE_FLOW_LABEL] =
		"the flow label of the alternate path was not accepted",
	[ROCE_CM_REJ_VENDOR_OPTION] = "an option of the manufacturer was not accepted",
};

const char *model_cm_reason(uint16_t reason)
{
	if (reason >= REASONS_END || !reasons[reason])
		return "a reason unknown to the specification";
	return reasons[reason];
}
