/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Multicast groups: the group's GID is the IP address (annex A17), so that joining is a matter of
 * the QP alone (attach_mcast, which librdmacm calls when the event has come).
 */
#include "ucma_file.h"

#include "emu/io/base/base.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MULTICAST_JOIN 12
#define MULTICAST_QPN  0xffffff

void ucma_mcast_destroy(struct ucma_mcast *m)
{
	ucma_event_drop(m->id, m);
	LIST_REMOVE(m, of_id);
	m->id->n_mcasts--;
	m->id->owner->memory -= sizeof(*m);
	ucma_number_release(m->id->owner, m->slot);
	free(m);
}

static void fill(const struct ucma_mcast *m, struct ucma_event *e)
{
	const struct ucma_id *id = m->id;
	struct rdma_ucm_ud_param ud = {.qp_num = MULTICAST_QPN, .qkey = UDP_QKEY};
	struct uhca_abi_ah_attr way = {0};

	core_path_address(id->dev->core, id->local_gid, m->group.gid, &way);
	memcpy(ud.ah_attr.grh.dgid, m->group.gid, 16);
	ud.ah_attr.grh.sgid_index = way.sgid_index;
	ud.ah_attr.grh.hop_limit = 1;
	ud.ah_attr.grh.traffic_class = id->tos;
	ud.ah_attr.dlid = 0xc000;
	ud.ah_attr.is_global = 1;
	ud.ah_attr.port_num = way.port_num;
	memcpy(&e->resp.param, &ud, sizeof(ud));
}

static struct ucma_mcast *create(struct ucma_id *id, uint64_t uid, const struct ucma_addr *group)
{
	struct ucma_mcast *m = NULL;

	if (id->n_mcasts < UCMA_JOINS &&
	    ucma_owner_has_room(id->owner, sizeof(*m) + sizeof(struct ucma_event)))
		m = calloc(1, sizeof(*m));
	if (!m)
		return NULL;
	if (ucma_number_take(id->owner, m, &m->slot) < 0) {
		free(m);
		return NULL;
	}
	m->is_mcast = true;
	m->uid = uid;
	m->id = id;
	m->group = *group;
	LIST_INIT(&m->events);
	LIST_INSERT_HEAD(&id->mcasts, m, of_id);
	id->n_mcasts++;
	id->owner->memory += sizeof(*m);
	return m;
}

static int join(struct ucma_command *c, uint32_t slot, uint64_t uid, const struct ucma_addr *group)
{
	struct ucma_id *id = ucma_id_find(c->file, slot);
	struct rdma_ucm_create_id_resp resp;
	struct ucma_mcast *m;
	struct ucma_event *e;

	if (!id)
		return ucma_no_id();
	if (!id->dev)
		return ucma_wrong_state(id, "it has no device to join with");
	if (!roce_addr_is_group(group->gid))
		return io_refuse(-EINVAL, "addr is not a multicast address");
	m = create(id, uid, group);
	if (!m)
		return io_refuse(-ENOMEM,
				 "the id has %u joins, or the process has reached its share of "
				 "memory (limit client_memory)",
				 id->n_mcasts);
	e = ucma_event_new(id, MULTICAST_JOIN, 0);
	if (!e) {
		ucma_mcast_destroy(m);
		return -ENOMEM; /* of the system */
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
		return io_refuse(-EINVAL, "addr is not a complete address of AF_INET or AF_INET6");
	return join(c, in->id, in->uid, &group);
}

int ucma_join_mcast(struct ucma_command *c)
{
	const struct rdma_ucm_join_mcast *in = c->in;
	struct ucma_addr group;

	if (in->join_flags >= RDMA_MC_JOIN_FLAG_RESERVED || in->addr_size > sizeof(in->addr) ||
	    ucma_addr_parse(&in->addr, in->addr_size, &group) < 0)
		return io_refuse(-EINVAL, "join_flags %u or addr is invalid", in->join_flags);
	return join(c, in->id, in->uid, &group);
}

int ucma_leave_mcast(struct ucma_command *c)
{
	const struct rdma_ucm_destroy_id *in = c->in;
	struct rdma_ucm_destroy_id_resp resp;
	struct ucma_mcast *m = ucma_number_find(c->file->ucma, in->id);

	if (!m || !m->is_mcast || m->id->file != c->file)
		return io_refuse(-ENOENT, "the event channel has no join with this number");
	resp.events_reported = m->events_reported;
	ucma_mcast_destroy(m);
	ucma_respond(c, &resp, sizeof(resp));
	return 0;
}
