/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See print_cm.h. The product prints packets; flows and CM messages are printed for the captures of
 * tests only.
 */
#include "print_cm.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* Where the text goes; len counts what did not fit as well. */
struct text {
	char *buf;
	size_t cap;
	size_t len;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *t, const char *format, ...)
{
	const size_t used = t->len < t->cap ? t->len : t->cap;
	va_list ap;

	va_start(ap, format);
	t->len += (size_t)vsnprintf(t->buf + used, t->cap - used, format, ap);
	va_end(ap);
}

static void add_address(struct text *t, const uint8_t addr[16])
{
	char text[INET6_ADDRSTRLEN];

	if (roce_addr_is_v4(addr))
		inet_ntop(AF_INET, addr + 12, text, sizeof(text));
	else
		inet_ntop(AF_INET6, addr, text, sizeof(text));
	add(t, "%s", text);
}

static void add_endpoint(struct text *t, const uint8_t addr[16], unsigned port)
{
	const bool v4 = roce_addr_is_v4(addr);

	add(t, "%s", v4 ? "" : "[");
	add_address(t, addr);
	add(t, v4 ? ":%u" : "]:%u", port);
}

size_t print_flow(const struct roce_flow *f, char *buf, size_t cap)
{
	struct text t = {buf, cap, 0};

	add_endpoint(&t, f->src, f->sport);
	add(&t, " > ");
	add_endpoint(&t, f->dst, f->dport);
	if (f->tclass)
		add(&t, " tclass=0x%02x", (unsigned)f->tclass);
	if (f->flow_label)
		add(&t, " label=0x%05x", (unsigned)f->flow_label);
	return t.len;
}

static void add_req(struct text *t, const struct roce_cm_req *req)
{
	add(t, " local=0x%08x service=0x%016" PRIx64 " guid=0x%016" PRIx64 " qp=0x%06x psn=%u",
	    req->local_comm_id, req->service_id, req->local_ca_guid, req->local_qpn,
	    req->starting_psn);
	add(t, " transport=%u resources=%u depth=%u retry=%u rnr=%u mtu=%u srq=%u", req->transport,
	    req->responder_resources, req->initiator_depth, req->retry_count, req->rnr_retry_count,
	    req->path_mtu, req->srq);
	add(t, " pkey=0x%04x from=", req->pkey);
	add_address(t, req->primary.local_gid);
	add(t, " to=");
	add_address(t, req->primary.remote_gid);
}

/* The receiving end of XRC has its number in the other field. */
static void add_rep(struct text *t, const struct roce_cm_rep *rep)
{
	add(t, " local=0x%08x remote=0x%08x guid=0x%016" PRIx64 " qp=0x%06x psn=%u",
	    rep->local_comm_id, rep->remote_comm_id, rep->local_ca_guid,
	    rep->local_qpn ? rep->local_qpn : rep->local_eecn, rep->starting_psn);
	add(t, " resources=%u depth=%u rnr=%u srq=%u", rep->responder_resources,
	    rep->initiator_depth, rep->rnr_retry_count, rep->srq);
}

static void add_ids(struct text *t, uint32_t local, uint32_t remote)
{
	add(t, " local=0x%08x remote=0x%08x", local, remote);
}

static void add_body(struct text *t, const struct roce_cm_msg *msg)
{
	switch (msg->attr) {
	case ROCE_CM_REQ:
		add_req(t, &msg->req);
		break;
	case ROCE_CM_MRA:
		add_ids(t, msg->mra.local_comm_id, msg->mra.remote_comm_id);
		add(t, " mraed=%u timeout=%u", msg->mra.message_mraed, msg->mra.service_timeout);
		break;
	case ROCE_CM_REJ:
		add_ids(t, msg->rej.local_comm_id, msg->rej.remote_comm_id);
		add(t, " rejected=%u reason=%u", msg->rej.message_rejected, msg->rej.reason);
		break;
	case ROCE_CM_REP:
		add_rep(t, &msg->rep);
		break;
	case ROCE_CM_RTU:
		add_ids(t, msg->rtu.local_comm_id, msg->rtu.remote_comm_id);
		break;
	case ROCE_CM_DREQ:
		add_ids(t, msg->dreq.local_comm_id, msg->dreq.remote_comm_id);
		add(t, " remote_qp=0x%06x", msg->dreq.remote_qpn);
		break;
	case ROCE_CM_DREP:
		add_ids(t, msg->drep.local_comm_id, msg->drep.remote_comm_id);
		break;
	case ROCE_CM_SIDR_REQ:
		add(t, " request=0x%08x service=0x%016" PRIx64 " pkey=0x%04x",
		    msg->sidr_req.request_id, msg->sidr_req.service_id, msg->sidr_req.pkey);
		break;
	case ROCE_CM_SIDR_REP:
		add(t, " request=0x%08x status=%u service=0x%016" PRIx64 " qp=0x%06x qkey=0x%08x",
		    msg->sidr_rep.request_id, msg->sidr_rep.status, msg->sidr_rep.service_id,
		    msg->sidr_rep.qpn, msg->sidr_rep.qkey);
		break;
	}
}

size_t print_cm(const struct roce_cm_msg *msg, char *buf, size_t cap)
{
	const char *name = roce_cm_name((uint16_t)msg->attr);
	struct text t = {buf, cap, 0};

	if (name) {
		add(&t, "CM %s tid=0x%016" PRIx64, name, msg->tid);
		add_body(&t, msg);
	} else {
		add(&t, "CM attribute 0x%04x", (unsigned)(uint16_t)msg->attr);
	}
	return t.len;
}
