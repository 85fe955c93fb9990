/* SPDX-License-Identifier: BSD-2-Clause */
/* See daemon_user.h: what a program does by shared memory. */
#include "daemon_user.h"

#include <sys/socket.h>

/* A send entry with what stands behind it and beside it. */
struct request {
	struct uhca_abi_send_wqe e;
	struct uhca_abi_sge sge[2];
	uint64_t data[64];
};

static uint32_t key_of(struct daemon_user *u, struct fuzz_input *in, bool remote)
{
	const uint8_t n = input_u8(in);
	const struct daemon_object *o = daemon_user_object(u, n & 32 ? ABI_MW : ABI_MR, n & 31);

	if (n & 128)
		return input_u32(in);
	return !o ? 0 : remote ? o->number : o->lkey;
}

static void fill_sges(struct daemon_user *u, struct request *r, struct fuzz_input *in)
{
	const uint8_t how = input_u8(in);

	r->e.num_sge = 1 + (how & 1);
	for (unsigned i = 0; i < r->e.num_sge; i++)
		r->sge[i] = (struct uhca_abi_sge){daemon_user_address(in),
						  how & 2 ? input_u16(in) : input_u8(in),
						  key_of(u, in, false)};
	if (how & 4)
		r->e.num_sge = input_u8(in);
}

static void fill_ud(struct daemon_user *u, struct daemon_user *peer, struct request *r,
		    struct fuzz_input *in)
{
	const struct daemon_object *ah = daemon_user_object(u, ABI_AH, input_u8(in));
	const struct daemon_object *to = daemon_user_object(peer, ABI_QP, input_u8(in));

	r->e.ud.ah = ah ? ah->handle : 0;
	r->e.ud.remote_qpn = to ? to->number : 1;
	r->e.ud.remote_qkey = DAEMON_USER_QKEY;
}

/* Of keys: a window is bound, a key described, either is made invalid. */
static void fill_local(struct daemon_user *u, struct request *r, struct fuzz_input *in)
{
	const struct daemon_object *window = daemon_user_object(u, ABI_MW, input_u8(in));
	const struct daemon_object *key = daemon_user_object(u, ABI_MR, input_u8(in));
	const uint8_t how = input_u8(in);
	struct uhca_abi_block *block = (void *)r->data;

	switch (r->e.opcode) {
	case UHCA_ABI_WR_LOCAL_INV:
	case UHCA_ABI_WR_SEND_WITH_INV:
		r->e.imm = how & 1 && window ? window->number : key ? key->number : 0;
		break;
	case UHCA_ABI_WR_BIND_MW:
		r->e.bind.addr = daemon_user_address(in);
		r->e.bind.length = 1 + input_u8(in);
		r->e.bind.mr_lkey = key ? key->lkey : 0;
		r->e.bind.mw_rkey = window ? window->number : 0;
		r->e.bind.new_rkey = r->e.bind.mw_rkey ^ (how & 3);
		r->e.bind.access = 2;
		break;
	case UHCA_ABI_WR_REG_MR:
	case UHCA_ABI_WR_REG_SG:
		r->e.reg = (struct uhca_abi_layout){.key = key ? key->lkey ^ (how & 1) : 0,
						    .access = 7,
						    .n = 1 + (how >> 1 & 1)};
		r->e.inline_length = r->e.reg.n * sizeof(*block);
		for (unsigned i = 0; i < r->e.reg.n; i++)
			block[i] = (struct uhca_abi_block){daemon_user_address(in), 1 + how,
							   key_of(u, in, false), 0};
		break;
	default:
		break;
	}
}

static void fill_remote(struct daemon_user *u, struct daemon_user *peer, struct request *r,
			struct fuzz_input *in)
{
	const uint64_t at = daemon_user_address(in);
	const uint32_t rkey = key_of(peer, in, true);
	const struct daemon_object *srq = daemon_user_object(peer, ABI_SRQ, input_u8(in));
	const bool masked = r->e.opcode == UHCA_ABI_WR_MASKED_CMP_SWP ||
			    r->e.opcode == UHCA_ABI_WR_MASKED_FETCH_ADD;

	r->e.xrc_srqn = srq ? srq->number : 0;
	if (r->e.opcode == UHCA_ABI_WR_ATOMIC_CMP_AND_SWP ||
	    r->e.opcode == UHCA_ABI_WR_ATOMIC_FETCH_AND_ADD) {
		r->e.atomic.remote_addr = at & ~7ull;
		r->e.atomic.rkey = rkey;
		r->e.atomic.compare_add = input_u8(in);
		r->sge[0].length = 8;
	} else {
		r->e.rdma.remote_addr = at;
		r->e.rdma.rkey = rkey;
	}
	if (r->e.opcode == UHCA_ABI_WR_FLUSH)
		r->e.flush.length = input_u8(in);
	if (masked) {
		const uint32_t size = 4u << (input_u8(in) & 3);

		r->e.masked.size = size;
		r->e.inline_length = size * (r->e.opcode == UHCA_ABI_WR_MASKED_CMP_SWP ? 4 : 2);
		r->sge[0].length = size;
	}
	fill_local(u, r, in);
}

/* Up to three numbers anywhere in it. */
static void change(struct request *r, struct fuzz_input *in)
{
	const uint8_t how = input_u8(in);

	if (how < 208)
		return;
	for (unsigned n = how % 4; n > 0; n--) {
		const size_t at = input_u8(in) % (sizeof(r->e) + sizeof(r->sge) - 4);
		const uint32_t value = how & 4 ? input_u32(in) : input_u8(in);

		memcpy((uint8_t *)r + at, &value, sizeof(value));
	}
}

static void put_request(struct daemon_object *q, const struct request *r)
{
	const uint32_t slot = q->sent & (q->send.entries - 1);
	uint8_t *at = (uint8_t *)q->region + q->send.offset + (size_t)slot * q->send.stride;
	const size_t data =
		q->send.data_stride < sizeof(r->data) ? q->send.data_stride : sizeof(r->data);
	const size_t room = q->send.stride - sizeof(r->e);

	memcpy(at, &r->e, sizeof(r->e));
	memcpy(at + sizeof(r->e), r->sge, room < sizeof(r->sge) ? room : sizeof(r->sge));
	memcpy((uint8_t *)q->region + q->send.data_offset + (size_t)slot * q->send.data_stride,
	       r->data, data);
	uhca_ring_publish(&((struct uhca_abi_queue *)q->region)->send.producer, ++q->sent);
}

void daemon_user_post_send(struct daemon_user *u, struct daemon_user *peer, struct fuzz_input *in)
{
	struct daemon_object *q = daemon_user_object(u, ABI_QP, input_u8(in));
	struct request r = {.e = {0}};

	if (!q || !q->region || q->send.entries == 0)
		return;
	r.e.wr_id = q->sent;
	r.e.opcode = input_u8(in) % (UHCA_ABI_WR_COUNT + 1);
	r.e.flags = UHCA_ABI_SEND_SIGNALED ^ (input_u8(in) & 31);
	fill_sges(u, &r, in);
	if (r.e.flags & (UHCA_ABI_SEND_INLINE | UHCA_ABI_SEND_GATHERED))
		r.e.inline_length = input_u8(in) & 63;
	if (q->type == IBV_QPT_UD)
		fill_ud(u, peer, &r, in);
	else
		fill_remote(u, peer, &r, in);
	change(&r, in);
	put_request(q, &r);
}

void daemon_user_post_recv(struct daemon_user *u, struct fuzz_input *in)
{
	static const enum abi_kind kinds[] = {ABI_QP, ABI_SRQ, ABI_WQ, ABI_QP};
	struct daemon_object *q = daemon_user_object(u, kinds[input_u8(in) & 3], input_u8(in));
	const uint8_t how = input_u8(in);
	struct uhca_abi_recv_wqe e = {.num_sge = 1};
	struct uhca_abi_sge sge;
	uint8_t *at;

	if (!q || !q->region || q->recv.entries == 0 || q->recv.stride < sizeof(e) + sizeof(sge))
		return;
	sge = (struct uhca_abi_sge){daemon_user_address(in), how & 1 ? input_u16(in) : 2048u,
				    key_of(u, in, false)};
	e.wr_id = q->received;
	if (how & 128)
		e.num_sge = input_u8(in);
	at = (uint8_t *)q->region + q->recv.offset +
	     (size_t)(q->received & (q->recv.entries - 1)) * q->recv.stride;
	memcpy(at, &e, sizeof(e));
	memcpy(at + sizeof(e), &sge, sizeof(sge));
	uhca_ring_publish(&((struct uhca_abi_queue *)q->region)->recv.producer, ++q->received);
}

void daemon_user_ring(struct daemon_user *u, struct fuzz_input *in)
{
	const uint8_t n = input_u8(in);
	const struct daemon_object *q;

	if (n & 128) {
		uhca_doorbell_set(u->bell, input_u32(in) % UHCA_ABI_DOORBELL_MAX);
		return;
	}
	for (unsigned i = 0; i < u->n; i++) {
		q = &u->o[i];
		if (q->kind == ABI_QP && q->send.entries + q->recv.entries > 0)
			uhca_doorbell_set(u->bell, q->doorbell);
	}
	if (n & 1)
		uhca_doorbell_set_active(u->bell, u->active_doorbells);
}

static void poll_cq(struct uhca_abi_cq *cq, uint8_t how)
{
	if (how & 1)
		uhca_ring_publish(&cq->ring.consumer, uhca_ring_observe(&cq->ring.producer));
	if (how & 6)
		__atomic_fetch_or(&cq->arm, how >> 1 & 3, __ATOMIC_RELEASE);
	if (how & 8) {
		uhca_ring_publish(&cq->ring.reports_handled, 1);
		uhca_ring_publish(&cq->ring.takes_copies_on_poll, 1);
		uhca_ring_publish(&cq->ring.handled, uhca_ring_observe(&cq->ring.producer));
	}
}

/* And what waits in the channels that the daemon fills. */
void daemon_user_poll(struct daemon_user *u, struct fuzz_input *in)
{
	const uint8_t how = input_u8(in);
	uint8_t record[256];

	for (unsigned i = 0; i < u->n; i++)
		if (u->o[i].kind == ABI_CQ && u->o[i].region)
			poll_cq(u->o[i].region, how);
	if (how & 16)
		while (recv(u->c.async, record, sizeof(record), MSG_DONTWAIT) > 0)
			;
}

void daemon_user_scribble(struct daemon_user *u, struct fuzz_input *in)
{
	struct daemon_object *o = u->n ? &u->o[input_u8(in) % u->n] : NULL;
	uint64_t at = input_u32(in);
	size_t n = 1 + (input_u8(in) & 31);

	if (!o || !o->region)
		return;
	at %= o->region_size;
	input_bytes(in, (uint8_t *)o->region + at,
		    n < o->region_size - at ? n : o->region_size - at);
}
