/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Multicast groups: the group's GID is the IP address (annex A17), so that joining is a matter of
 * the QP alone (attach_mcast, which librdmacm calls when the event has come).
 */
#include "ucma_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MULTICAST_JOIN 12
#define MULTICAST_QPN  0xffffff
#define UDP_QKEY       0x01234567

void ucma_mcast_destroy(struct ucma_mcast *m)
{
	ucma_event_drop(m->id, m);
	LIST_REMOVE(m, of_file);
	ucma_slot_release(m->id->file->ucma, m->slot);
	free(m);
}

static bool is_group(const struct ucma_addr *a)
{
	return ucma_addr_is_v4(a) ? (a->gid[12] & 0xf0) == 0xe0 : a->gid[0] == 0xff;
}

static void fill(const struct ucma_mcast *m, struct ucma_event *e)
{
	const struct ucma_id *id = m->id;
	const struct io_address_list *own = &id->dev->id.addresses;
	struct rdma_ucm_ud_param ud = {.qp_num = MULTICAST_QPN, .qkey = UDP_QKEY};

	memcpy(ud.ah_attr.grh.dgid, m->group.gid, 16);
	for (unsigned i = 0; i < own->count; i++)
		if (memcmp(own->a[i].gid, id->local_gid, 16) == 0)
			ud.ah_attr.grh.sgid_index = (uint8_t)i;
	ud.ah_attr.grh.hop_limit = 1;
	ud.ah_attr.grh.traffic_class = id->tos;
	ud.ah_attr.dlid = 0xc000;
	ud.ah_attr.is_global = 1;
	ud.ah_attr.port_num = 1;
	memcpy(&e->resp.param, &ud, sizeof(ud));
}

static int join(struct ucma_command *c, uint32_t slot, uint64_t uid, const struct ucma_addr *group)
{
	struct ucma_id *id = ucma_id_find(c->file, slot);
	struct rdma_ucm_create_id_resp resp;
	struct ucma_mcast *m;
	struct ucma_event *e;

	if (!id)
		return -ENOENT;
	if (!id->dev || !is_group(group))
		return -EINVAL;
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	if (ucma_slot_take(c->file->ucma, m, &m->slot) < 0) {
		free(m);
		return -ENOMEM;
	}
	m->is_mcast = true;
	m->uid = uid;
	m->id = id;
	m->group = *group;
	LIST_INSERT_HEAD(&c->file->mcasts, m, of_file);
	e = ucma_event_new(id, MULTICAST_JOIN, 0);
	if (!e) {
		ucma_mcast_destroy(m);
		return -ENOMEM;
	}
	e->mcast = m;
	e->resp.uid = uid;
	e->resp.id = m->slot;
	fill(m, e);
	ucma_event_post(e);
	resp.id = m->slot;
	ucma_respond(c, &resp, sizeof(resp));
	return 0;
}

int ucma_join_ip_mcast(struct ucma_command *c)
{
	const struct rdma_ucm_join_ip_mcast *in = c->in;
	struct ucma_addr group;

	if (ucma_addr_parse(&in->addr, sizeof(in->addr), &group) < 0)
		return -EINVAL;
	return join(c, in->id, in->uid, &group);
}

int ucma_join_mcast(struct ucma_command *c)
{
	const struct rdma_ucm_join_mcast *in = c->in;
	struct ucma_addr group;

	if (in->join_flags >= RDMA_MC_JOIN_FLAG_RESERVED || in->addr_size > sizeof(in->addr) ||
	    ucma_addr_parse(&in->addr, in->addr_size, &group) < 0)
		return -EINVAL;
	return join(c, in->id, in->uid, &group);
}

int ucma_leave_mcast(struct ucma_command *c)
{
	const struct rdma_ucm_destroy_id *in = c->in;
	struct rdma_ucm_destroy_id_resp resp;
	struct ucma_mcast *m;

	LIST_FOREACH(m, &c->file->mcasts, of_file)
	{
		if (m->slot == in->id)
			break;
	}
	if (!m)
		return -ENOENT;
	resp.events_reported = m->events_reported;
	ucma_mcast_destroy(m);
	ucma_respond(c, &resp, sizeof(resp));
	return 0;
}
