/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any messages to the communication manager of a device that is in the middle of connections. It
 * must not crash, tell its owner what cannot be, or keep an end that its owner let go; and it
 * must still take a connection of an honest peer.
 *
 * The input is a list of records: which message (one of those that the devices really sent, so
 * that ids fit, or zeros), where it comes from, and bytes of it that are replaced.
 */
#include "fuzz.h"

#include "emu/core/cm/gsi.h"
#include "emu/core/core_cm.h"
#include "input.h"
#include "tests/sim/world/world.h"
#include "wire/cm_msg.h"

#define SECOND   UINT64_C(1000000000)
#define SERVICE  7u
#define KEPT     16u
#define ENDS     64u
#define PATCHES  8u
#define MESSAGES 64u

struct end {
	struct stage *stage;
	struct cm *cm;
	bool established;
};

struct stage {
	struct world *w;
	uint8_t kept[KEPT][ROCE_MAD_LENGTH]; /* of honest messages to device 0 */
	unsigned n_kept;
	struct end end[ENDS];
	unsigned n_ends;
	struct end *asked; /* to be answered */
	struct end *replied;
	bool leaving; /* nobody listens any more */
};

static struct end *add_end(struct stage *s)
{
	if (s->n_ends == ENDS)
		return NULL;
	s->end[s->n_ends].stage = s;
	return &s->end[s->n_ends++];
}

static int on_request(void *user, struct cm *cm, const struct core_cm_request *req, void **cookie)
{
	struct stage *s = user;
	struct end *end;

	if (req->service_id != SERVICE || s->leaving)
		return -2;
	end = add_end(s);
	if (!end)
		return -12;
	end->cm = cm;
	s->asked = end;
	*cookie = end;
	return 0;
}

static void on_event(void *cookie, const struct core_cm_event *e)
{
	struct end *end = cookie;

	FUZZ_CHECK(end->cm); /* nothing is told to who has gone */
	FUZZ_CHECK(e->type <= CORE_CM_TIMEWAIT_EXIT);
	if (e->type == CORE_CM_REPLIED)
		end->stage->replied = end;
	if (e->type == CORE_CM_ESTABLISHED)
		end->established = true;
}

static const struct core_cm_ops ops = {.request = on_request, .event = on_event};

static enum world_verdict keep(void *arg, struct world_packet *p)
{
	struct stage *s = arg;

	if (p->to == 0 && p->pkt.payload_len == ROCE_MAD_LENGTH && s->n_kept < KEPT)
		memcpy(s->kept[s->n_kept++], p->pkt.payload, ROCE_MAD_LENGTH);
	return WORLD_PASS;
}

static void touch(struct stage *s)
{
	s->w->device[0].host.dirty = s->w->device[1].host.dirty = true;
}

/* The programs go on; two rounds are a connection. */
static void go_on(struct stage *s, unsigned rounds)
{
	struct core_cm_param p = {.qpn = 9, .qkey = 1};

	for (unsigned i = 0; i < rounds; i++) {
		touch(s);
		world_run(s->w, s->w->now + SECOND / 100);
		if (s->asked)
			core_cm_accept(s->asked->cm, &p, s->w->now);
		if (s->replied)
			core_cm_ready(s->replied->cm, &p, s->w->now);
		s->asked = s->replied = NULL;
	}
}

static struct end *call(struct stage *s, unsigned from, uint8_t type, uint32_t qpn)
{
	struct core_cm_param p = {.qpn = qpn, .qp_type = type};
	struct core_cm_path path = {0};
	struct end *end = add_end(s);

	if (!end)
		return NULL;
	memcpy(path.local_gid, s->w->device[from].host.gid[0], 16);
	memcpy(path.remote_gid, s->w->device[1 - from].host.gid[0], 16);
	end->cm = core_cm_create(s->w->device[from].host.dev, end);
	FUZZ_CHECK(end->cm);
	FUZZ_CHECK(core_cm_connect(end->cm, &path, SERVICE, &p, s->w->now) == 0);
	return end;
}

static void inject(struct stage *s, struct fuzz_input *in)
{
	uint8_t mad[ROCE_MAD_LENGTH] = {0};
	uint8_t which = input_u8(in);
	uint8_t from = input_u8(in);
	struct core_burst t = {.head = {.bth = {.opcode = {ROCE_UD_SEND_ONLY},
						.pkey = 0xffff,
						.dest_qp = ROCE_GSI_QPN},
					.deth = {.qkey = ROCE_GSI_QKEY, .src_qp = ROCE_GSI_QPN}},
			       .count = 1,
			       .segment = ROCE_MAD_LENGTH,
			       .length = ROCE_MAD_LENGTH,
			       .n_iov = 1,
			       .iov = {{mad, ROCE_MAD_LENGTH}}};

	if (s->n_kept > 0 && which < 0xf0)
		memcpy(mad, s->kept[which % s->n_kept], sizeof(mad));
	for (unsigned n = input_u8(in) % PATCHES; n > 0; n--) {
		uint8_t at = input_u8(in);

		mad[at] = input_u8(in);
	}
	t.last_opcode = t.head.bth.opcode;
	t.flow.sport = 0xc000;
	t.flow.dport = 4791;
	memcpy(t.flow.src, s->w->device[1].host.gid[from & 1], 16);
	memcpy(t.flow.dst, s->w->device[0].host.gid[from & 1], 16);
	if (from & 2)
		t.flow.src[15] ^= 0x55; /* a stranger */
	if (from & 4)
		t.length = t.segment = t.iov[0].iov_len = input_u8(in);
	t.from_network = true;
	core_rx(s->w->device[0].host.dev, s->w->now, &t);
	touch(s);
	world_run(s->w, s->w->now + (from & 8 ? 2 * SECOND : 1000));
	if (from & 16)
		go_on(s, 1);
}

static void let_go(struct stage *s)
{
	s->leaving = true;
	for (unsigned i = 0; i < s->n_ends; i++) {
		if (s->end[i].cm)
			core_cm_destroy(s->end[i].cm, s->w->now);
		s->end[i].cm = NULL;
	}
	s->asked = s->replied = NULL;
	touch(s);
	world_run(s->w, s->w->now + 200 * SECOND);
	for (unsigned i = 0; i < 2; i++)
		FUZZ_CHECK(core_cm_count(s->w->device[i].host.dev) == 0);
	s->leaving = false;
	s->n_ends = 0;
	memset(s->end, 0, sizeof(s->end));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct stage s;
	struct fuzz_input in = {data, size};
	struct end *honest;

	memset(&s, 0, sizeof(s));
	s.w = world_create(1, 2, NULL);
	s.w->abort_on_failure = true;
	s.w->filter = keep;
	s.w->filter_arg = &s;
	for (unsigned i = 0; i < 2; i++)
		core_cm_set_ops(s.w->device[i].host.dev, &ops, &s);
	call(&s, 0, IBV_QPT_RC, 3);
	go_on(&s, 4);
	call(&s, 1, IBV_QPT_RC, 4);
	go_on(&s, 4);
	call(&s, 1, IBV_QPT_UD, 5);
	call(&s, 0, IBV_QPT_UD, 6);
	for (unsigned i = 0; i < MESSAGES && in.left > 0; i++)
		inject(&s, &in);
	let_go(&s);
	honest = call(&s, 1, IBV_QPT_RC, 0x777);
	go_on(&s, 6);
	FUZZ_CHECK(honest && s.n_ends == 2 && s.end[1].established);
	let_go(&s);
	world_destroy(s.w);
	return 0;
}
