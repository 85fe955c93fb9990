/* SPDX-License-Identifier: BSD-2-Clause */
/* Builds REJ and MRA messages in the name of the peer. */
#include "cm_answer.h"

#include "forge.h"
#include "wire/cm_msg.h"

#define CODE_UNIT 4096u /* ns: a time-out is that times a power of two (12.6.6) */
#define CODE_MAX  31u

static bool parse(const struct fault_packet *p, struct roce_cm_msg *out)
{
	return p->pkt.bth.opcode.v == ROCE_UD_SEND_ONLY && p->pkt.bth.dest_qp == ROCE_GSI_QPN &&
	       p->pkt.payload_len == ROCE_MAD_LENGTH && roce_cm_parse(p->pkt.payload, out);
}

static bool write_out(const struct fault_packet *p, const struct roce_cm_msg *msg,
		      struct fault_packet *out)
{
	fault_answer_begin(p, out);
	out->pkt.bth.opcode.v = ROCE_UD_SEND_ONLY;
	out->pkt.bth.dest_qp = ROCE_GSI_QPN;
	out->pkt.bth.psn = p->pkt.bth.psn;
	out->pkt.deth = (struct roce_deth){.qkey = ROCE_GSI_QKEY, .src_qp = ROCE_GSI_QPN};
	out->pkt.payload = out->text;
	out->pkt.payload_len = ROCE_MAD_LENGTH;
	out->model.qpn = ROCE_GSI_QPN;
	return roce_cm_emit(msg, out->text);
}

/* Which of the two messages that can be answered so; ANSWERED_OTHER: none. Fills in the ids. */
static enum roce_cm_answered answered(const struct roce_cm_msg *m, uint32_t *local,
				      uint32_t *remote)
{
	*local = 0; /* the end that was asked by a REQ has no id yet */
	if (m->attr == ROCE_CM_REQ) {
		*remote = m->req.local_comm_id;
		return ROCE_CM_ANSWERED_REQ;
	}
	if (m->attr != ROCE_CM_REP)
		return ROCE_CM_ANSWERED_OTHER;
	*local = m->rep.remote_comm_id;
	*remote = m->rep.local_comm_id;
	return ROCE_CM_ANSWERED_REP;
}

bool fault_cm_reject(const struct fault_packet *p, uint16_t reason, struct fault_packet *out)
{
	struct roce_cm_msg asked, msg = {.attr = ROCE_CM_REJ};
	enum roce_cm_answered what;

	if (!parse(p, &asked))
		return false;
	msg.tid = asked.tid;
	if (asked.attr == ROCE_CM_SIDR_REQ) {
		msg.attr = ROCE_CM_SIDR_REP;
		msg.sidr_rep.request_id = asked.sidr_req.request_id;
		msg.sidr_rep.service_id = asked.sidr_req.service_id;
		msg.sidr_rep.status = ROCE_CM_SIDR_REJECT;
		return write_out(p, &msg, out);
	}
	what = answered(&asked, &msg.rej.local_comm_id, &msg.rej.remote_comm_id);
	msg.rej.message_rejected = (uint8_t)what;
	msg.rej.reason = reason;
	return what != ROCE_CM_ANSWERED_OTHER && write_out(p, &msg, out);
}

bool fault_cm_mra(const struct fault_packet *p, uint64_t ns, struct fault_packet *out)
{
	struct roce_cm_msg asked, msg = {.attr = ROCE_CM_MRA};
	enum roce_cm_answered what;
	uint8_t code = 0;

	if (!parse(p, &asked))
		return false;
	while (code < CODE_MAX && ((uint64_t)CODE_UNIT << code) < ns)
		code++;
	what = answered(&asked, &msg.mra.local_comm_id, &msg.mra.remote_comm_id);
	msg.tid = asked.tid;
	msg.mra.message_mraed = (uint8_t)what;
	msg.mra.service_timeout = code;
	return what != ROCE_CM_ANSWERED_OTHER && write_out(p, &msg, out);
}
