/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an id knows of its path: query_route, and query with its three options. Path records are
 * those of an IBTA subnet administrator (vol. 1, 15.2.5.16) with what RoCE leaves of them.
 */
#include "ucma_file.h"

#include "emu/io/base/base.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#define PORT      1
#define PKEY      0xffff
#define HOP_LIMIT 64
#define EXACTLY   2  /* selector */
#define LIFE_TIME 16 /* code, 0.27 s */
#define RATE_100  16 /* enum ibv_rate: 100 Gb/s */

static void fill_route(const struct ucma_id *id, struct ib_user_path_rec *p)
{
	memcpy(p->sgid, id->local_gid, 16);
	memcpy(p->dgid, id->remote_gid, 16);
	p->reversible = 1;
	p->mtu = id->dev->config.active_mtu;
	p->pkey = htobe16(PKEY);
	p->hop_limit = HOP_LIMIT;
	p->traffic_class = id->tos;
	p->numb_path = 1;
	p->mtu_selector = p->rate_selector = p->packet_life_time_selector = EXACTLY;
	p->rate = RATE_100;
	p->packet_life_time = LIFE_TIME;
}

static bool has_route(const struct ucma_id *id)
{
	return id->dev && (id->state == UCMA_ROUTE_RESOLVED || id->state == UCMA_CONNECTING);
}

/* The old form has room for IPv4 and IPv6 only. */
static void emit_ip(const struct ucma_addr *a, struct sockaddr_in6 *out)
{
	uint8_t whole[128] = {0};

	ucma_addr_emit(a, whole);
	memcpy(out, whole, sizeof(*out));
}

int ucma_query_route(struct ucma_command *c)
{
	const struct ucma_id *id = c->id;
	struct rdma_ucm_query_route_resp resp = {.ibdev_index = UINT32_MAX};

	emit_ip(&id->src, &resp.src_addr);
	emit_ip(&id->dst, &resp.dst_addr);
	if (id->dev) {
		resp.node_guid = htobe64(id->dev->id.guid);
		resp.port_num = PORT;
	}
	/* Where the address is known the GIDs are, too: librdmacm asks between the two. */
	if (id->dev && id->state >= UCMA_ADDR_RESOLVED && id->state != UCMA_LISTENING) {
		resp.num_paths = has_route(id) ? 1 : 0;
		fill_route(id, &resp.ib_route[0]);
	} else if (id->dev) {
		memcpy(resp.ib_route[0].sgid, id->local_gid, 16);
		resp.ib_route[0].pkey = htobe16(PKEY);
	}
	ucma_respond(c, &resp, sizeof(resp));
	return 0;
}

static void fill_device(const struct ucma_id *id, struct rdma_ucm_query_addr_resp *r)
{
	r->ibdev_index = UINT32_MAX;
	if (!id->dev)
		return;
	r->node_guid = htobe64(id->dev->id.guid);
	r->port_num = PORT;
	r->pkey = PKEY;
}

static int query_addr(struct ucma_command *c, const struct ucma_id *id)
{
	struct rdma_ucm_query_addr_resp resp = {0};

	fill_device(id, &resp);
	resp.src_size = ucma_addr_emit(&id->src, &resp.src_addr);
	resp.dst_size = ucma_addr_emit(&id->dst, &resp.dst_addr);
	ucma_respond(c, &resp, sizeof(resp));
	return 0;
}

static int query_gid(struct ucma_command *c, const struct ucma_id *id)
{
	struct rdma_ucm_query_addr_resp resp = {0};
	struct ucma_addr src = id->src;
	struct ucma_addr dst = id->dst;

	fill_device(id, &resp);
	if (id->dev)
		memcpy(src.gid, id->local_gid, 16);
	if (id->dev && dst.family)
		memcpy(dst.gid, id->remote_gid, 16);
	resp.src_size = ucma_addr_emit_ib(&src, ucma_service_id(id, &id->src), &resp.src_addr);
	resp.dst_size = ucma_addr_emit_ib(&dst, ucma_service_id(id, &id->dst), &resp.dst_addr);
	ucma_respond(c, &resp, sizeof(resp));
	return 0;
}

/* 64 bytes as on an InfiniBand wire. */
static void pack_path(const struct ucma_id *id, uint8_t *p)
{
	memcpy(p + 8, id->remote_gid, 16);
	memcpy(p + 24, id->local_gid, 16);
	p[47] = HOP_LIMIT;
	p[48] = id->tos;
	p[49] = 0x80 | 1; /* reversible, one path */
	p[50] = p[51] = 0xff;
	p[54] = (uint8_t)(EXACTLY << 6 | id->dev->config.active_mtu);
	p[55] = EXACTLY << 6 | RATE_100;
	p[56] = EXACTLY << 6 | LIFE_TIME;
}

static int query_path(struct ucma_command *c, const struct ucma_id *id)
{
	struct {
		struct rdma_ucm_query_path_resp head;
		struct ib_path_rec_data path;
	} resp = {.head = {0}};

	if (has_route(id)) {
		resp.head.num_paths = 1;
		resp.path.flags = IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL;
		pack_path(id, (uint8_t *)resp.path.path_rec);
	}
	ucma_respond(c, &resp, resp.head.num_paths ? sizeof(resp) : sizeof(resp.head));
	return 0;
}

int ucma_query(struct ucma_command *c)
{
	const struct rdma_ucm_query *in = c->in;
	const struct ucma_id *id = c->id;

	switch (in->option) {
	case RDMA_USER_CM_QUERY_ADDR:
		return query_addr(c, id);
	case RDMA_USER_CM_QUERY_PATH:
		return query_path(c, id);
	case RDMA_USER_CM_QUERY_GID:
		return query_gid(c, id);
	default:
		return io_refuse(-ENOSYS, "option %u is unknown", in->option);
	}
}
