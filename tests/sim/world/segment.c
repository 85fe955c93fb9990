/* SPDX-License-Identifier: BSD-2-Clause */
/* An Ethernet segment between the devices of a pair, for raw packet QPs. */
#include "segment.h"

#include "wire/bytes.h"
#include "wire/frame.h"

#include <string.h>

#define RECEIVES 16u

struct segment_frame segment_udp(void)
{
	return (struct segment_frame){
		.dst = {2, 0, 0, 0, 0, 2},
		.src = {2, 0, 0, 0, 0, 1},
		.src_ip = 0x0a000001,
		.dst_ip = 0x0a000002,
		.protocol = 17,
		.src_port = 1000,
		.dst_port = 2000,
	};
}

static uint8_t *put_ip(const struct segment_frame *f, uint8_t *p)
{
	if (f->ipv6) {
		p[0] = 0x60;
		p[6] = f->protocol;
		p[7] = 64;
		roce_store_be32(p + 20, f->src_ip);
		roce_store_be32(p + 36, f->dst_ip);
		return p + 40;
	}
	p[0] = 0x45;
	p[8] = 64;
	p[9] = f->protocol;
	roce_store_be32(p + 12, f->src_ip);
	roce_store_be32(p + 16, f->dst_ip);
	return p + 20;
}

void segment_bytes(const struct segment_frame *f, uint8_t fill, uint8_t *out)
{
	uint8_t *p = out + 12;

	for (unsigned i = 0; i < SEGMENT_FRAME; i++)
		out[i] = i < 90 ? 0 : (uint8_t)(fill + i);
	memcpy(out, f->dst, 6);
	memcpy(out + 6, f->src, 6);
	if (f->vlan) {
		roce_store_be16(p, 0x8100);
		roce_store_be16(p + 2, f->vlan);
		p += 4;
	}
	roce_store_be16(p, f->ipv6 ? 0x86dd : 0x0800);
	p = put_ip(f, p + 2);
	roce_store_be16(p, f->src_port);
	roce_store_be16(p + 2, f->dst_port);
}

void segment_activate(struct vqp *qp)
{
	struct uhca_abi_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};

	assert_int_equal(vqp_modify(qp, IBV_QP_STATE | IBV_QP_PORT, &attr), 0);
	attr.qp_state = IBV_QPS_RTR;
	assert_int_equal(vqp_modify(qp, IBV_QP_STATE, &attr), 0);
	attr.qp_state = IBV_QPS_RTS;
	assert_int_equal(vqp_modify(qp, IBV_QP_STATE, &attr), 0);
}

static void post_receives(struct side *s)
{
	for (unsigned i = 0; i < RECEIVES; i++)
		side_recv(s, i, 65536 + 1024 * i, 1024);
}

void segment_create(struct pair *p)
{
	pair_create(p, &(struct pair_options){.type = IBV_QPT_RAW_PACKET,
					      .unconnected = true,
					      .init = {.max_inline_data = SEGMENT_FRAME}});
	segment_activate(&p->a.qp);
	segment_activate(&p->b.qp);
	post_receives(&p->a);
	post_receives(&p->b);
}

static bool run_one(struct pair *p, struct side *from)
{
	uint8_t buf[ROCE_FRAME_MAX];
	struct core_frame frame;
	uint64_t now = *from->c.host->now;

	if (!core_frame_next(from->c.host->dev, now, buf, sizeof(buf), &frame))
		return false;
	core_rx_frame(p->a.c.host->dev, now, &frame);
	core_rx_frame(p->b.c.host->dev, now, &frame);
	return true;
}

unsigned segment_run(struct pair *p)
{
	unsigned n = 0;

	while (run_one(p, &p->a) || run_one(p, &p->b))
		n++;
	side_poll(&p->a);
	side_poll(&p->b);
	return n;
}

void segment_send(struct side *s, const struct segment_frame *f, uint64_t wr_id)
{
	uint8_t *at = memory_at(&s->c.mem, s->mr.addr, SEGMENT_FRAME);

	segment_bytes(f, (uint8_t)wr_id, at);
	side_ignore(s, 0, SEGMENT_FRAME);
	side_send(s, wr_id, 0, SEGMENT_FRAME);
	assert_int_equal(segment_run(s->pair), 1);
}

int segment_rule(struct side *s, const struct uhca_cmd_create_flow *in, uint32_t *handle)
{
	struct uhca_cmd_create_flow copy = *in;

	copy.qp = s->qp.handle;
	return core_create_flow(s->c.core, &copy, handle);
}

struct uhca_cmd_create_flow segment_request(uint32_t type, uint16_t priority, uint32_t spec)
{
	return (struct uhca_cmd_create_flow){
		.type = type,
		.priority = priority,
		.port = 1,
		.n_specs = spec != 0,
		.spec[0].type = spec,
	};
}
