/* SPDX-License-Identifier: BSD-2-Clause */
/* How far an end of a connection is, in few words: the states of 12.9.7 by what they wait for. */
#include "cm.h"

enum core_cm_step core_cm_step(const struct cm *cm)
{
	static const enum core_cm_step steps[] = {
		[CM_IDLE] = CORE_CM_STEP_IDLE,
		[CM_REQ_SENT] = CORE_CM_STEP_REQUEST_SENT,
		[CM_REP_RCVD] = CORE_CM_STEP_REPLY_RECEIVED,
		[CM_REQ_RCVD] = CORE_CM_STEP_REQUEST_RECEIVED,
		[CM_REP_SENT] = CORE_CM_STEP_REPLY_SENT,
		[CM_ESTABLISHED] = CORE_CM_STEP_ESTABLISHED,
		[CM_DREQ_SENT] = CORE_CM_STEP_END_SENT,
		[CM_DREQ_RCVD] = CORE_CM_STEP_END_RECEIVED,
		[CM_TIMEWAIT] = CORE_CM_STEP_TIMEWAIT,
		[CM_SIDR_REQ_SENT] = CORE_CM_STEP_REQUEST_SENT,
		[CM_SIDR_REQ_RCVD] = CORE_CM_STEP_REQUEST_RECEIVED,
		[CM_ANSWERED] = CORE_CM_STEP_OVER,
		[CM_CLOSED] = CORE_CM_STEP_OVER,
	};

	return steps[cm->state];
}

const char *core_cm_step_name(enum core_cm_step step)
{
	static const char *const names[CORE_CM_STEPS] = {
		[CORE_CM_STEP_IDLE] = "idle",
		[CORE_CM_STEP_REQUEST_SENT] = "request_sent",
		[CORE_CM_STEP_REQUEST_RECEIVED] = "request_received",
		[CORE_CM_STEP_REPLY_SENT] = "reply_sent",
		[CORE_CM_STEP_REPLY_RECEIVED] = "reply_received",
		[CORE_CM_STEP_ESTABLISHED] = "established",
		[CORE_CM_STEP_END_SENT] = "end_sent",
		[CORE_CM_STEP_END_RECEIVED] = "end_received",
		[CORE_CM_STEP_TIMEWAIT] = "timewait",
		[CORE_CM_STEP_OVER] = "over",
	};

	return names[step];
}

uint32_t core_cm_qpn(const struct cm *cm)
{
	return cm->local_qpn;
}
