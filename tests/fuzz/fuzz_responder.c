/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any sequence of packets at QPs of all services that are in the middle of their work. The device
 * must not crash, answer for ever, complete a request twice or touch memory that its client did
 * not register; and it must still do its work for the QP that no packet was aimed at.
 *
 * The input is a list of records: a control byte, then what it asks for. Packets may have their
 * destination, PSN, key and address replaced by ones that mean something, so that they get past
 * the first checks.
 */
#include "fuzz.h"

#include "input.h"
#include "tests/sim/world/pair.h"
#include "wire/psn.h"

#define SIZE  16384u
#define SENDS 6u

enum { TARGET_RC, TARGET_UC, TARGET_UD, TARGETS };

struct stage {
	struct world *w;
	struct vclient c, peer, other;
	struct vcq cq, other_cq;
	struct vqp qp[TARGETS], other_qp;
	struct vmr mr;
	uint32_t window; /* key of one that is bound to the RC QP */
	struct vqp_conn conn;
	unsigned completions;
	uint64_t posted;
};

/* What a fuzzer asks of the fabric must hold, or the input is a finding. */
#define MUST(cond) FUZZ_CHECK(cond)

static void make_qp(struct stage *s, unsigned i, enum ibv_qp_type type)
{
	struct vqp_init init = {.type = type, .send_cq = &s->cq, .recv_cq = &s->cq};

	MUST(vqp_create(&s->c, &init, &s->qp[i]) == 0);
	MUST(vqp_init(&s->qp[i], &s->conn) == 0);
	MUST(vqp_rtr(&s->qp[i], &s->conn, &s->w->device[1].host, 0x123456) == 0);
	MUST(vqp_rts(&s->qp[i], &s->conn) == 0);
}

static void make_other(struct stage *s)
{
	struct vqp_init init = {.send_cq = &s->other_cq, .recv_cq = &s->other_cq};
	struct vqp_conn conn = vqp_conn_default();

	vclient_open(&s->other, &s->w->device[0].host, 1, 2);
	MUST(vcq_create(&s->other, 16, 0, &s->other_cq) == 0);
	MUST(vqp_create(&s->other, &init, &s->other_qp) == 0);
	conn.rq_psn = conn.sq_psn;
	vqp_connect(&s->other_qp, &s->other_qp, &conn);
}

/* Half of the memory, for everything. */
static void bind_window(struct stage *s)
{
	struct vsend wr = {.opcode = UHCA_ABI_WR_BIND_MW};
	struct vmw w;

	MUST(vclient_alloc_mw(&s->c, s->c.pd, 2, &w) == 0);
	wr.bind.addr = s->mr.addr;
	wr.bind.length = SIZE / 2;
	wr.bind.mr_lkey = s->mr.lkey;
	wr.bind.mw_rkey = w.rkey;
	wr.bind.new_rkey = s->window = w.rkey ^ 1;
	wr.bind.access =
		IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
	MUST(vqp_post_send(&s->qp[TARGET_RC], &wr) == 0);
	world_pump(s->w);
}

static void create(struct stage *s)
{
	memset(s, 0, sizeof *s);
	s->w = world_create(1, 2, NULL);
	s->w->abort_on_failure = true;
	s->w->link[0][1].down = true; /* nobody lives at the peer's address */
	s->conn = vqp_conn_default();
	s->conn.timeout = 10;
	s->conn.retry_cnt = 2;
	vclient_open(&s->c, &s->w->device[0].host, 0, 1);
	MUST(vclient_reg_mr(&s->c, memory_map(&s->c.mem, SIZE), SIZE,
			    PAIR_ACCESS | IBV_ACCESS_MW_BIND, &s->mr) == 0);
	MUST(vcq_create(&s->c, 1024, 0, &s->cq) == 0);
	make_qp(s, TARGET_RC, IBV_QPT_RC);
	make_qp(s, TARGET_UC, IBV_QPT_UC);
	make_qp(s, TARGET_UD, IBV_QPT_UD);
	bind_window(s);
	make_other(s);
}

/* ---- what an input may ask for ---- */

static void inject(struct stage *s, struct fuzz_input *in)
{
	uint8_t bytes[300], fix = input_u8(in);
	struct vqp *qp = &s->qp[fix % TARGETS];
	size_t n = input_u8(in) + 12u;
	struct roce_flow flow = {.sport = 0xc000, .dport = ROCE_UDP_PORT};
	struct roce_packet pkt;
	struct core_burst t;

	input_bytes(in, bytes, n);
	if (roce_packet_parse(bytes, n, &pkt) != ROCE_PARSE_OK)
		return;
	memcpy(flow.src, s->w->device[1].host.gid[0], 16);
	memcpy(flow.dst, s->w->device[0].host.gid[0], 16);
	if (fix & 4)
		pkt.bth.dest_qp = qp->qpn;
	if (fix & 8) /* near the numbers that matter: of the responder, or of the requester */
		pkt.bth.psn =
			psn_add(fix & 128 ? s->conn.sq_psn : s->conn.rq_psn, pkt.bth.psn & 31);
	if (fix & 16)
		pkt.reth.rkey = pkt.atomiceth.rkey = pkt.ieth = fix & 128 ? s->window : s->mr.rkey;
	if (fix & 32) {
		pkt.reth.va = s->mr.addr + pkt.reth.va % SIZE;
		pkt.atomiceth.va = s->mr.addr + pkt.atomiceth.va % SIZE;
	}
	if (fix & 64)
		pkt.bth.pkey = 0xffff;
	pkt.deth.qkey = fix & 16 ? s->conn.qkey : pkt.deth.qkey;
	core_burst_start(&t, &pkt, &flow);
	world_deliver(s->w, 0, &t);
}

static void post_recv(struct stage *s, struct fuzz_input *in)
{
	struct vqp *qp = &s->qp[input_u8(in) % TARGETS];
	struct uhca_abi_sge sge = {s->mr.addr + input_u16(in) % SIZE, input_u16(in), s->mr.lkey};

	if (vqp_post_recv(qp, &(struct vrecv){1, &sge, 1}) == 0)
		s->posted++;
}

/* Requests that nobody answers but the input. */
static void post_send(struct stage *s, struct fuzz_input *in)
{
	struct vqp *qp = &s->qp[input_u8(in) % TARGETS];
	struct uhca_abi_sge sge = {s->mr.addr, input_u16(in) % SIZE, s->mr.lkey};
	static const uint64_t operands[16];
	struct vsend wr = {.opcode = input_u8(in) % UHCA_ABI_WR_COUNT,
			   .flags = UHCA_ABI_SEND_SIGNALED,
			   .sge = &sge,
			   .num_sge = 1,
			   .masked = {operands, 0, sge.length}};

	wr.masked.bytes = sge.length * (wr.opcode == UHCA_ABI_WR_MASKED_CMP_SWP ? 4 : 2);
	if (wr.masked.bytes > sizeof(operands))
		wr.masked.bytes = 0;
	if (wr.opcode == UHCA_ABI_WR_READ_WITH_INV)
		sge.lkey = s->window;
	if (vqp_post_send(qp, &wr) == 0)
		s->posted++;
}

static void poll(struct stage *s)
{
	struct uhca_abi_cqe e;

	while (vcq_poll(&s->cq, &e))
		MUST(++s->completions <= s->posted);
}

static void step(struct stage *s, struct fuzz_input *in)
{
	uint8_t op = input_u8(in);

	switch (op % 8) {
	case 0:
		post_recv(s, in);
		break;
	case 1:
		post_send(s, in);
		break;
	case 2:
		world_run(s->w, s->w->now + input_u16(in) * 100ull);
		break;
	case 3:
		world_pump(s->w);
		break;
	default:
		inject(s, in);
		break;
	}
	poll(s);
}

/* ---- what must hold at the end ---- */

static void check_other(struct stage *s)
{
	struct vsend wr = {.wr_id = 9, .opcode = UHCA_ABI_WR_SEND, .flags = UHCA_ABI_SEND_SIGNALED};
	struct uhca_abi_cqe e;
	unsigned n = 0;

	MUST(vqp_post_recv(&s->other_qp, &(struct vrecv){8, NULL, 0}) == 0);
	MUST(vqp_post_send(&s->other_qp, &wr) == 0);
	world_run(s->w, s->w->now + 1000000000);
	while (vcq_poll(&s->other_cq, &e))
		n += e.status == UHCA_ABI_WC_SUCCESS;
	MUST(n == 2);
}

static void destroy(struct stage *s)
{
	vclient_close(&s->c);
	vclient_close(&s->other);
	world_destroy(s->w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	struct stage s;

	create(&s);
	while (in.left)
		step(&s, &in);
	check_other(&s);
	poll(&s);
	if (s.c.mem.strays)
		fprintf(stderr, "%s\n", s.c.mem.stray);
	MUST(s.c.mem.strays == 0 && s.other.mem.strays == 0);
	destroy(&s);
	return 0;
}
