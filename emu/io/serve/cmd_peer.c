/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Handler of QUERY_PEER (cmd_peer.h): who is at the other end, as far as the same user's. See
 * cmd_handler.h.
 */
#include "clients.h"
#include "cmd_handler.h"
#include "emu/io/port/port.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#define PLACES_MOST 8192u /* of all tables, looked at for a partner */

struct question {
	const struct io_client *asks;
	uint32_t qpn; /* of who asks */
	uint8_t own[16], address[16];
	uint32_t peer_qpn;
	uint8_t status;
	bool is_datagram;
};

static bool is_of_user(const struct question *q, const void *client)
{
	return client && ((const struct io_client *)client)->peer.uid == q->asks->peer.uid;
}

static void describe(const struct io_device *dev, uint32_t qpn, const struct core_qp_look *look,
		     struct uhca_abi_end *out)
{
	out->guid = htobe64(dev->config.node_guid);
	memcpy(out->device, dev->id.name, strnlen(dev->id.name, sizeof(out->device) - 1));
	out->qpn = qpn;
	if (!look)
		return;
	out->qp_type = look->type;
	out->pid = (uint32_t)((const struct io_client *)look->client)->peer.pid;
	out->recvs = look->recvs;
	out->srq = look->srq;
	out->heard = look->heard;
	out->attr = *look->attr;
	out->attr.qp_state = look->state;
	out->attr.cur_qp_state = look->state;
}

static enum uhca_abi_peer find_peer(const struct question *q, const struct io_device *dev,
				    struct uhca_abi_end *out)
{
	struct core_qp_look look;

	if (!dev)
		return UHCA_ABI_PEER_FOREIGN;
	if (!core_look_at_qp(dev->core, q->peer_qpn, &look)) {
		describe(dev, q->peer_qpn, NULL, out);
		return UHCA_ABI_PEER_ABSENT;
	}
	if (!is_of_user(q, look.client))
		return UHCA_ABI_PEER_OTHERS;
	describe(dev, q->peer_qpn, &look, out);
	return UHCA_ABI_PEER_KNOWN;
}

/* A QP of the device that names who asks. */
static uint32_t partner_of(const struct question *q, const struct io_device *dev, uint32_t *places,
			   struct core_qp_look *look)
{
	uint32_t from, next = 0, qpn;

	do {
		from = next;
		qpn = core_find_partner(dev->core, q->qpn, q->own, &next);
		*places += next == UINT32_MAX ? 1 : next - from;
		if (qpn && core_look_at_qp(dev->core, qpn, look) && is_of_user(q, look->client))
			return qpn;
	} while (next != UINT32_MAX && *places < PLACES_MOST);
	return 0;
}

static void find_partner(const struct question *q, struct uhca_cmd_query_peer_reply *out)
{
	const struct io_devices *all = q->asks->all->devices;
	struct core_qp_look look;
	uint32_t places = 0;

	for (unsigned i = 0; !out->partner && i < all->n && places < PLACES_MOST; i++) {
		const struct io_device *dev = all->at[i];
		uint8_t remote[16];

		out->partner = partner_of(q, dev, &places, &look);
		if (!out->partner)
			continue;
		memcpy(out->partner_device, dev->id.name,
		       strnlen(dev->id.name, sizeof(out->partner_device) - 1));
		core_path_ends(dev->core, &look.attr->ah, out->partner_address, remote);
	}
}

/* Does the peer say the same of the connection as who asks? */
static bool names_back(const struct question *q, const struct io_device *dev,
		       const struct uhca_abi_end *peer)
{
	uint8_t local[16], remote[16];

	core_path_ends(dev->core, &peer->attr.ah, local, remote);
	return peer->attr.dest_qp_num == q->qpn && memcmp(remote, q->own, sizeof(q->own)) == 0;
}

/* Nobody tells the sender of a datagram that it was dropped. */
static const struct io_failure *failure_of_peer(const struct question *q,
						const struct io_device *peer)
{
	if (q->is_datagram && !q->status)
		return io_failures_dropped(&peer->failures, q->peer_qpn, q->asks->peer.uid);
	return io_failures_of(&peer->failures, q->peer_qpn, q->asks->peer.uid, q->status);
}

static void find_cause(const struct question *q, const struct io_device *peer,
		       struct uhca_abi_cause *out)
{
	const struct io_failure *f = peer ? failure_of_peer(q, peer) : NULL;

	if (!f)
		f = io_failures_own(&q->asks->dev->failures, q->qpn, q->asks->peer.uid, q->status);
	if (f)
		*out = f->cause;
}

static int read_question(struct cmd *r, const struct core_qp_look *look, struct question *q)
{
	const struct uhca_cmd_query_peer *in = r->msg;

	core_path_ends(r->client->dev->core, &look->attr->ah, q->own, q->address);
	q->peer_qpn = in->ah ? in->qpn : look->peer_qpn;
	return !in->ah || core_ah_address(r->client->core, in->ah, q->address) ? 0 : -ENOENT;
}

int cmd_query_peer(struct cmd *r, struct cmd_reply *rep)
{
	const struct uhca_cmd_query_peer *in = r->msg;
	const struct io_client *c = r->client;
	struct uhca_cmd_query_peer_reply *out = &rep->query_peer;
	struct question q = {.asks = c, .status = (uint8_t)in->status, .is_datagram = in->ah};
	const struct io_device *dev;
	struct core_qp_look look;
	int error;

	q.qpn = core_qp_number(c->core, in->handle);
	if (in->status > UINT8_MAX || (!in->ah && in->qpn))
		return -EINVAL;
	if (!q.qpn || !core_look_at_qp(c->dev->core, q.qpn, &look))
		return io_refuse(-ENOENT, "handle 0x%x is no queue pair of this context",
				 in->handle);
	error = read_question(r, &look, &q);
	if (error < 0)
		return error;
	describe(c->dev, q.qpn, &look, &out->mine);
	if (!in->ah && !q.peer_qpn)
		return 0; /* UHCA_ABI_PEER_NONE */
	dev = io_fabric_find(c->dev->loopback->fabric, q.address);
	out->found = find_peer(&q, dev, &out->peer);
	out->names_back = out->found == UHCA_ABI_PEER_KNOWN && names_back(&q, dev, &out->peer);
	if (!in->ah && !out->names_back)
		find_partner(&q, out);
	find_cause(&q, dev, &out->cause);
	return 0;
}
