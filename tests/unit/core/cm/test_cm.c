/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connection manager: two devices, a link that loses what a test wants lost, and virtual time.
 */
#include "emu/abi/cmd.h"
#include "emu/core/base/device.h"
#include "emu/core/core.h"
#include "emu/core/core_cm.h"
#include "tests/support/wire/cmocka_all.h"
#include "wire/cm_msg.h"

#include <errno.h>
#include <string.h>

#define QPT_XRC_SEND 9
#define QPT_XRC_RECV 10
#define SECOND       UINT64_C(1000000000)
#define SERVICE      UINT64_C(0x01061c06)
#define QPT_RC       2
#define QPT_UD       4
#define MAX_EVENTS   8
#define STRANGER     9    /* end of its address */
#define CROWD        1500 /* devices of one host: some share each bucket of a table */

struct end {
	struct cm *cm;
	unsigned n;
	enum core_cm_event_type type[MAX_EVENTS];
	int32_t status[MAX_EVENTS];
	uint8_t data[MAX_EVENTS];   /* first byte of the private data */
	struct core_cm_param param; /* of the last event */
};

struct world {
	struct device *dev[2];
	uint64_t now;
	unsigned sent; /* messages, in both directions */
	unsigned lose; /* this one; UINT32_MAX: none */
	bool lose_all;
	bool patient; /* every MRA asks for the longest time there is, 2.4 hours */
	bool listening;
	uint32_t seed;
	struct end active, passive;
	struct core_cm_request request;
	struct roce_cm_rep rep; /* the last one */
	struct roce_cm_rej rej;
	uint32_t ece_options; /* of the REP */
	/* Messages of this kind are said by somebody else: from another address, word for word. */
	uint16_t spoken;
	bool spoken_first; /* and by whom they are from, behind it */
	uint32_t new_id;   /* of a spoken REQ; 0: as it was */
	struct end stranger;
	struct cm *crowd[CROWD];
	unsigned n_crowd;
	bool crowded; /* every request is one of the crowd */
};

static struct world w;

static void fill_random(void *user, void *buf, size_t len)
{
	uint8_t *p = buf;

	(void)user;
	for (size_t i = 0; i < len; i++) {
		w.seed = w.seed * 1103515245u + 12345u;
		p[i] = (uint8_t)(w.seed >> 16);
	}
}

static int on_request(void *user, struct cm *cm, const struct core_cm_request *req, void **cookie)
{
	assert_ptr_equal(user, &w);
	if (!w.listening)
		return -ENOENT;
	if (w.crowded) {
		assert_true(w.n_crowd < CROWD);
		w.crowd[w.n_crowd++] = cm;
		*cookie = &w.stranger;
		return 0;
	}
	if (req->remote_gid[15] == STRANGER) {
		w.stranger.cm = cm;
		*cookie = &w.stranger;
		return 0;
	}
	assert_null(w.passive.cm); /* no request comes twice */
	w.passive.cm = cm;
	w.request = *req;
	w.passive.data[MAX_EVENTS - 1] = req->param.private_data[0];
	*cookie = &w.passive;
	return 0;
}

static void on_event(void *cookie, const struct core_cm_event *e)
{
	struct end *end = cookie;

	assert_true(end->n < MAX_EVENTS);
	end->type[end->n] = e->type;
	end->status[end->n] = e->status;
	end->data[end->n] = e->param.private_data ? e->param.private_data[0] : 0;
	end->param = e->param;
	end->n++;
}

static const struct core_ops ops = {.random = fill_random};
static const struct core_cm_ops cm_ops = {.request = on_request, .event = on_event};

static void set_gid(uint8_t gid[16], uint8_t last)
{
	static const uint8_t prefix[16] = {[10] = 0xff, [11] = 0xff, [12] = 10};

	memcpy(gid, prefix, 16);
	gid[15] = last;
}

static int start(void **state)
{
	(void)state;
	memset(&w, 0, sizeof(w));
	w.lose = UINT32_MAX;
	w.listening = true;
	w.seed = 1;
	for (unsigned i = 0; i < 2; i++) {
		struct core_config cfg;

		core_config_default(&cfg);
		cfg.node_guid = i + 1;
		set_gid(cfg.gid[0], (uint8_t)(i + 1));
		w.dev[i] = core_create(&ops, NULL, &cfg);
		assert_non_null(w.dev[i]);
		core_cm_set_ops(w.dev[i], &cm_ops, &w);
	}
	return 0;
}

static int finish(void **state)
{
	(void)state;
	core_destroy(w.dev[0]);
	core_destroy(w.dev[1]);
	return 0;
}

static void ask_for_hours(struct core_train *t)
{
	struct roce_cm_msg msg;
	uint8_t mad[ROCE_MAD_LENGTH];

	assert_int_equal(t->length, sizeof(mad));
	memcpy(mad, t->iov[0].iov_base, sizeof(mad));
	if (!roce_cm_parse(mad, &msg) || msg.attr != ROCE_CM_MRA)
		return;
	msg.mra.service_timeout = 31;
	assert_true(roce_cm_emit(&msg, mad));
	memcpy(t->iov[0].iov_base, mad, sizeof(mad));
}

static void note_answer(const struct core_train *t)
{
	struct roce_cm_msg msg;

	if (!roce_cm_parse(t->iov[0].iov_base, &msg))
		return;
	if (msg.attr == ROCE_CM_REJ)
		w.rej = msg.rej;
	if (msg.attr != ROCE_CM_REP)
		return;
	w.rep = msg.rep;
	w.ece_options = msg.attr_mod;
}

/* The train as the stranger sends it. False when it is not of the kind that it speaks. */
static bool speak(struct device *to, const struct core_train *t)
{
	static uint8_t mad[ROCE_MAD_LENGTH];
	struct core_train copy = *t;
	struct roce_cm_msg msg;

	if (!w.spoken || !roce_cm_parse(t->iov[0].iov_base, &msg) || msg.attr != w.spoken)
		return false;
	memcpy(mad, t->iov[0].iov_base, sizeof(mad));
	if (w.new_id) {
		msg.req.local_comm_id = w.new_id;
		assert_true(roce_cm_emit(&msg, mad));
	}
	set_gid(copy.flow.src, STRANGER);
	copy.iov[0].iov_base = mad;
	core_rx(to, w.now, &copy);
	return true;
}

/* Delivers what either device has to send, until there is nothing. */
static void deliver(void)
{
	static uint8_t buf[65536];
	bool any = true;

	while (any) {
		any = false;
		for (unsigned i = 0; i < 2; i++) {
			struct core_train t;

			if (!core_tx_next(w.dev[i], w.now, buf, sizeof(buf), &t))
				continue;
			any = true;
			if (w.patient)
				ask_for_hours(&t);
			note_answer(&t);
			if (t.flow.dst[15] == STRANGER)
				continue;
			if (speak(w.dev[1 - i], &t) && !w.spoken_first)
				continue;
			if (w.sent++ != w.lose && !w.lose_all)
				core_rx(w.dev[1 - i], w.now, &t);
		}
	}
}

static void wait_for(uint64_t ns)
{
	uint64_t end = w.now + ns;

	for (;;) {
		uint64_t a = core_next_deadline(w.dev[0]);
		uint64_t b = core_next_deadline(w.dev[1]);
		uint64_t next = a < b ? a : b;

		deliver();
		if (next > end)
			break;
		w.now = next;
		core_tick(w.dev[0], w.now);
		core_tick(w.dev[1], w.now);
		deliver();
	}
	w.now = end;
}

static struct core_cm_param param(uint32_t qpn, uint8_t type, const uint8_t *data)
{
	return (struct core_cm_param){.qpn = qpn,
				      .qkey = 0x1234,
				      .qp_type = type,
				      .responder_resources = 3,
				      .initiator_depth = 5,
				      .retry_count = 6,
				      .rnr_retry_count = 7,
				      .ece_vendor = 0xabcdef,
				      .ece_options = qpn + 1,
				      .private_len = 1,
				      .private_data = data};
}

static void call_by(struct core_cm_path path, uint8_t type)
{
	static const uint8_t data = 0xa1;
	struct core_cm_param p = param(0x111, type, &data);

	set_gid(path.local_gid, 1);
	set_gid(path.remote_gid, 2);
	w.active.cm = core_cm_create(w.dev[0], &w.active);
	assert_non_null(w.active.cm);
	assert_int_equal(core_cm_connect(w.active.cm, &path, SERVICE, &p, w.now), 0);
}

static void call(uint8_t type)
{
	call_by((struct core_cm_path){0}, type);
}

/* The programs at both ends, as far as they only go on; one second at a time. */
static void go_on(unsigned seconds)
{
	static const uint8_t data = 0xb2;
	static bool accepted;
	unsigned seen = 0;

	accepted = false;
	for (unsigned i = 0; i < seconds; i++) {
		wait_for(SECOND);
		if (w.passive.cm && !accepted) {
			struct core_cm_param p = param(0x222, w.request.param.qp_type, &data);

			assert_int_equal(core_cm_accept(w.passive.cm, &p, w.now), 0);
			accepted = true;
		}
		while (seen < w.active.n)
			if (w.active.type[seen++] == CORE_CM_REPLIED)
				assert_int_equal(core_cm_ready(w.active.cm,
							       &(struct core_cm_param){0}, w.now),
						 0);
	}
}

static bool heard(const struct end *end, enum core_cm_event_type type)
{
	unsigned n = 0;

	for (unsigned i = 0; i < end->n; i++)
		n += end->type[i] == type;
	assert_true(n <= 1);
	return n == 1;
}

static void end_both(void)
{
	core_cm_destroy(w.active.cm, w.now);
	if (w.passive.cm)
		core_cm_destroy(w.passive.cm, w.now);
	wait_for(200 * SECOND);
	assert_int_equal(core_cm_count(w.dev[0]), 0);
	assert_int_equal(core_cm_count(w.dev[1]), 0);
	assert_true(core_next_deadline(w.dev[0]) == UINT64_MAX);
}

static void connects(void **state)
{
	struct uhca_abi_qp_attr a, p;
	uint32_t mask;

	(void)state;
	call(QPT_RC);
	go_on(3);
	assert_true(heard(&w.active, CORE_CM_REPLIED));
	assert_int_equal(w.active.data[0], 0xb2);
	assert_int_equal(w.passive.data[MAX_EVENTS - 1], 0xa1);
	assert_true(heard(&w.passive, CORE_CM_ESTABLISHED));
	assert_int_equal(w.request.param.responder_resources, 5);
	assert_int_equal(w.request.param.initiator_depth, 3);
	assert_int_equal(w.sent, 3);
	assert_int_equal(core_cm_qp_attr(w.active.cm, 2, &a, &mask), 0);
	assert_int_equal(core_cm_qp_attr(w.passive.cm, 3, &p, &mask), 0);
	assert_int_equal(a.dest_qp_num, 0x222);
	assert_int_equal(a.rq_psn, p.sq_psn);
	assert_int_equal(a.ah.dgid[15], 2);
	assert_int_equal(p.retry_cnt, 6);
	assert_int_equal(p.rnr_retry, 7);
	assert_int_equal(core_cm_qp_attr(w.passive.cm, 2, &p, &mask), 0);
	assert_int_equal(core_cm_qp_attr(w.active.cm, 3, &a, &mask), 0);
	assert_int_equal(p.dest_qp_num, 0x111);
	assert_int_equal(p.rq_psn, a.sq_psn);
	end_both();
}

/* For INIT no peer is needed; what takes a resource is let in where somebody provides for it. */
static void says_what_init_needs(void **state)
{
	const uint32_t state_pkey_port_access = 1u | 16u | 32u | 8u;
	struct cm *idle = core_cm_create(w.dev[0], NULL);
	struct uhca_abi_qp_attr a;
	uint32_t mask;

	(void)state;
	assert_non_null(idle);
	assert_int_equal(core_cm_qp_attr(idle, 1, &a, &mask), 0);
	assert_int_equal(mask, state_pkey_port_access);
	assert_int_equal(a.qp_state, 1);
	assert_int_equal(a.port_num, 1);
	assert_int_equal(a.qp_access_flags, 2);
	assert_int_equal(core_cm_qp_attr(idle, 2, &a, &mask), -EINVAL);
	core_cm_destroy(idle, w.now);
	call(QPT_RC);
	assert_int_equal(core_cm_qp_attr(w.active.cm, 1, &a, &mask), 0);
	assert_int_equal(a.qp_access_flags, 2 | 4 | 8 | 1 << 8 | 1 << 9);
	w.dev[0]->cfg.features &= ~(uint32_t)UHCA_ABI_HAS_FLUSH;
	assert_int_equal(core_cm_qp_attr(w.active.cm, 1, &a, &mask), 0);
	assert_int_equal(a.qp_access_flags, 2 | 4 | 8);
	go_on(3);
	assert_int_equal(core_cm_disconnect(w.active.cm, w.now), 0);
	assert_int_equal(core_cm_qp_attr(w.active.cm, 1, &a, &mask), -EINVAL); /* as ib_cm has it */
	end_both();
}

/* What the caller says of the path is what both QPs are to use. */
static void agrees_on_the_path(void **state)
{
	const struct core_cm_path path = {
		.flow_label = 0x54321, .traffic_class = 0x28, .ack_timeout = 19};
	struct uhca_abi_qp_attr a, p;
	uint32_t mask;

	(void)state;
	call_by(path, QPT_RC);
	go_on(3);
	assert_int_equal(core_cm_qp_attr(w.active.cm, 2, &a, &mask), 0);
	assert_int_equal(core_cm_qp_attr(w.passive.cm, 2, &p, &mask), 0);
	assert_int_equal(a.ah.flow_label, 0x54321);
	assert_int_equal(p.ah.flow_label, 0x54321);
	assert_int_equal(a.ah.traffic_class, 0x28);
	assert_int_equal(p.ah.traffic_class, 0x28);
	assert_int_equal(a.ah.hop_limit, 64);
	assert_int_equal(p.ah.hop_limit, 64);
	assert_int_equal(a.ah.dgid[15], 2);
	assert_int_equal(p.ah.dgid[15], 1);
	assert_int_equal(core_cm_qp_attr(w.active.cm, 3, &a, &mask), 0);
	assert_int_equal(core_cm_qp_attr(w.passive.cm, 3, &p, &mask), 0);
	assert_int_equal(a.timeout, 19);
	assert_int_equal(p.timeout, 19);
	end_both();
}

/* An end that wants to go before the RTU has come goes when it knows that the other is there. */
static void disconnects_early(void **state)
{
	static const uint8_t data = 0xb2;
	struct core_cm_param p = param(0x222, QPT_RC, &data);

	(void)state;
	call(QPT_RC);
	wait_for(SECOND / 2);
	assert_int_equal(core_cm_established(w.passive.cm, w.now), -EINVAL); /* it was asked only */
	assert_int_equal(core_cm_accept(w.passive.cm, &p, w.now), 0);
	wait_for(SECOND / 2);
	assert_true(heard(&w.active, CORE_CM_REPLIED));
	assert_int_equal(core_cm_disconnect(w.passive.cm, w.now), 0);
	w.lose_all = true; /* the RTU */
	assert_int_equal(core_cm_ready(w.active.cm, &(struct core_cm_param){0}, w.now), 0);
	deliver();
	w.lose_all = false;
	assert_false(heard(&w.passive, CORE_CM_ESTABLISHED));
	assert_false(heard(&w.active, CORE_CM_DISCONNECTED));
	/* A message of the QP came: the other end must have been ready (12.9.8.5). */
	assert_int_equal(core_cm_established(w.passive.cm, w.now), 0);
	assert_true(heard(&w.passive, CORE_CM_ESTABLISHED));
	wait_for(SECOND / 2);
	assert_true(heard(&w.active, CORE_CM_DISCONNECTED));
	assert_true(heard(&w.passive, CORE_CM_DISCONNECTED));
	end_both();
}

/* What a REP says of who accepts: its queue pair, and the vendor of its enhancements. */
static void says_who_accepts(void **state)
{
	(void)state;
	call(QPT_RC);
	go_on(3);
	assert_int_equal(w.rep.local_qpn, 0x222);
	assert_int_equal(w.rep.local_eecn, 0);
	assert_int_equal(w.rep.srq, 0);
	assert_int_equal(w.rep.vendor_id_high, 0xab);
	assert_int_equal(w.rep.vendor_id_middle, 0xcd);
	assert_int_equal(w.rep.vendor_id_low, 0xef);
	assert_int_equal(w.ece_options, 0x223);
	end_both();
}

/* Who gives up says so with its channel adapter's GUID (12.6.7.2, code 4). */
static void gives_up_by_name(void **state)
{
	static const uint8_t guid[8] = {[7] = 1};

	(void)state;
	w.lose_all = true;
	call(QPT_RC);
	wait_for(100 * SECOND);
	assert_true(heard(&w.active, CORE_CM_UNREACHABLE));
	assert_int_equal(w.rej.reason, ROCE_CM_REJ_TIMEOUT);
	assert_int_equal(w.rej.info_length, sizeof(guid));
	assert_memory_equal(w.rej.ari, guid, sizeof(guid));
	end_both();
}

/* Annex A14: the receiving end names its QP in the field of end-to-end contexts. */
static void connects_xrc(void **state)
{
	struct uhca_abi_qp_attr a;
	uint32_t mask;

	(void)state;
	call(QPT_XRC_SEND);
	go_on(3);
	assert_int_equal(w.request.param.qp_type, QPT_XRC_RECV);
	assert_int_equal(w.rep.local_eecn, 0x222);
	assert_int_equal(w.rep.local_qpn, 0);
	assert_int_equal(w.rep.srq, 1);
	assert_int_equal(core_cm_qp_attr(w.active.cm, 2, &a, &mask), 0);
	assert_int_equal(a.dest_qp_num, 0x222);
	end_both();
}

static void disconnects(void **state)
{
	(void)state;
	call(QPT_RC);
	go_on(3);
	assert_int_equal(core_cm_disconnect(w.passive.cm, w.now), 0);
	wait_for(SECOND / 2);
	assert_true(heard(&w.active, CORE_CM_DISCONNECTED));
	assert_true(heard(&w.passive, CORE_CM_DISCONNECTED));
	assert_int_equal(core_cm_disconnect(w.active.cm, w.now), 0);
	wait_for(5 * SECOND);
	assert_true(heard(&w.active, CORE_CM_TIMEWAIT_EXIT));
	assert_true(heard(&w.passive, CORE_CM_TIMEWAIT_EXIT));
	end_both();
}

static void rejects(void **state)
{
	static const uint8_t data = 0xc3;
	struct core_cm_param p = param(0, QPT_RC, &data);

	(void)state;
	call(QPT_RC);
	wait_for(SECOND / 2);
	assert_int_equal(core_cm_reject(w.passive.cm, ROCE_CM_REJ_CONSUMER, &p, w.now), 0);
	wait_for(SECOND / 2);
	assert_true(heard(&w.active, CORE_CM_REJECTED));
	assert_int_equal(w.active.status[0], ROCE_CM_REJ_CONSUMER);
	assert_int_equal(w.active.data[0], 0xc3);
	end_both();
}

static void nobody_listens(void **state)
{
	(void)state;
	w.listening = false;
	call(QPT_RC);
	wait_for(SECOND / 2);
	assert_true(heard(&w.active, CORE_CM_REJECTED));
	assert_int_equal(w.active.status[0], ROCE_CM_REJ_INVALID_SERVICE_ID);
	end_both();
}

static void nobody_is_there(void **state)
{
	(void)state;
	w.lose_all = true;
	call(QPT_RC);
	wait_for(60 * SECOND);
	assert_true(heard(&w.active, CORE_CM_UNREACHABLE));
	assert_int_equal(w.active.status[0], -ETIMEDOUT);
	end_both();
}

static void resolves_a_service(void **state)
{
	(void)state;
	call(QPT_UD);
	go_on(3);
	assert_true(heard(&w.active, CORE_CM_ESTABLISHED));
	assert_int_equal(w.active.param.qpn, 0x222);
	assert_int_equal(w.active.param.qkey, 0x1234);
	assert_int_equal(w.sent, 2);
	end_both();
}

/* Each message lost once: nothing is lost but time. */
static void one_message_is_lost(void **state)
{
	for (unsigned lost = 0; lost < 5; lost++) {
		if (lost > 0) {
			finish(state);
			start(state);
		}
		w.lose = lost;
		call(QPT_RC);
		go_on(8);
		assert_true(heard(&w.active, CORE_CM_REPLIED));
		assert_true(heard(&w.passive, CORE_CM_ESTABLISHED));
		assert_int_equal(core_cm_disconnect(w.active.cm, w.now), 0);
		wait_for(10 * SECOND);
		assert_true(heard(&w.active, CORE_CM_DISCONNECTED));
		assert_true(heard(&w.passive, CORE_CM_DISCONNECTED));
		end_both();
	}
}

static void a_datagram_message_is_lost(void **state)
{
	for (unsigned lost = 0; lost < 2; lost++) {
		if (lost > 0) {
			finish(state);
			start(state);
		}
		w.lose = lost;
		call(QPT_UD);
		go_on(5);
		assert_true(heard(&w.active, CORE_CM_ESTABLISHED));
		end_both();
	}
}

/* A program that takes its time is waited for. */
static void a_slow_program_is_waited_for(void **state)
{
	(void)state;
	call(QPT_RC);
	wait_for(50 * SECOND);
	assert_int_equal(w.active.n, 0);
	go_on(3);
	assert_true(heard(&w.passive, CORE_CM_ESTABLISHED));
	end_both();
}

/* An MRA may ask for hours; nobody waits that long for a peer that is gone. */
static void patience_has_an_end(void **state)
{
	(void)state;
	w.patient = true;
	call(QPT_RC);
	wait_for(20 * SECOND);
	assert_int_equal(w.active.n, 0);
	w.lose_all = true;
	wait_for(200 * SECOND);
	assert_true(heard(&w.active, CORE_CM_UNREACHABLE));
	end_both();
}

static void the_peer_vanishes(void **state)
{
	(void)state;
	call(QPT_RC);
	go_on(3);
	w.lose_all = true;
	assert_int_equal(core_cm_disconnect(w.active.cm, w.now), 0);
	wait_for(60 * SECOND);
	assert_true(heard(&w.active, CORE_CM_DISCONNECTED));
	assert_int_equal(w.active.status[w.active.n - 2], -ETIMEDOUT);
	end_both();
}

/* Who is not the peer can say what it likes: nobody hears it. */
static void others_are_not_heard(void **state)
{
	static const uint16_t kind[] = {ROCE_CM_REP,  ROCE_CM_RTU,  ROCE_CM_REJ,
					ROCE_CM_DREQ, ROCE_CM_DREP, ROCE_CM_REQ};
	struct core_cm_param none = {.qp_type = QPT_RC};

	for (unsigned i = 0; i < sizeof(kind) / sizeof(kind[0]); i++) {
		if (i > 0)
			assert_int_equal(start(state), 0);
		w.spoken = kind[i];
		w.spoken_first = kind[i] == ROCE_CM_REQ;
		call(QPT_RC);
		if (kind[i] == ROCE_CM_REJ) {
			wait_for(SECOND / 2);
			assert_int_equal(core_cm_reject(w.passive.cm, 28, &none, w.now), 0);
		}
		go_on(kind[i] == ROCE_CM_REJ ? 0 : 3);
		assert_int_equal(heard(&w.active, CORE_CM_REPLIED),
				 kind[i] != ROCE_CM_REP && kind[i] != ROCE_CM_REJ);
		assert_int_equal(heard(&w.passive, CORE_CM_ESTABLISHED),
				 kind[i] != ROCE_CM_REP && kind[i] != ROCE_CM_REJ &&
					 kind[i] != ROCE_CM_RTU);
		assert_int_equal(w.stranger.cm != NULL, kind[i] == ROCE_CM_REQ);
		if (kind[i] == ROCE_CM_DREQ || kind[i] == ROCE_CM_DREP)
			assert_int_equal(core_cm_disconnect(w.active.cm, w.now), 0);
		wait_for(SECOND / 2);
		assert_false(heard(&w.active, CORE_CM_REJECTED));
		assert_false(heard(&w.active, CORE_CM_DISCONNECTED));
		assert_int_equal(heard(&w.passive, CORE_CM_DISCONNECTED), kind[i] == ROCE_CM_DREP);
		if (w.stranger.cm)
			core_cm_destroy(w.stranger.cm, w.now);
		end_both();
		if (i + 1 < sizeof(kind) / sizeof(kind[0]))
			assert_int_equal(finish(state), 0);
	}
}

/* 12.9.8.3.1 lets a host end its own connections by asking again, and nobody else's. */
static void others_do_not_end_it(void **state)
{
	uint8_t mad[ROCE_MAD_LENGTH];
	struct core_train t;
	uint8_t buf[65536];

	(void)state;
	call(QPT_RC);
	assert_true(core_tx_next(w.dev[0], w.now, buf, sizeof(buf), &t));
	memcpy(mad, t.iov[0].iov_base, sizeof(mad));
	core_rx(w.dev[1], w.now, &t);
	go_on(3);
	assert_true(heard(&w.passive, CORE_CM_ESTABLISHED));
	w.spoken = ROCE_CM_REQ;
	w.new_id = 0x12345;
	t.iov[0].iov_base = mad;
	assert_true(speak(w.dev[1], &t));
	wait_for(SECOND);
	assert_false(heard(&w.passive, CORE_CM_DISCONNECTED));
	assert_false(heard(&w.active, CORE_CM_DISCONNECTED));
	assert_non_null(w.stranger.cm); /* it is a request as any other */
	core_cm_destroy(w.stranger.cm, w.now);
	end_both();
}

/* The request in mad as each device of a host sends it: the number is the same, the GUID is not. */
static void speak_as_a_crowd(const struct core_train *t, const uint8_t mad[ROCE_MAD_LENGTH])
{
	uint8_t own[ROCE_MAD_LENGTH];
	struct core_train copy = *t;
	struct roce_cm_msg msg;

	assert_true(roce_cm_parse(mad, &msg));
	copy.iov[0].iov_base = own;
	for (unsigned i = 0; i < CROWD; i++) {
		msg.req.local_ca_guid = 1000 + i;
		memcpy(own, mad, sizeof(own));
		assert_true(roce_cm_emit(&msg, own));
		core_rx(w.dev[1], w.now, &copy);
	}
}

/* Of whom a request is, its number and the GUID of its channel adapter say together. */
static void devices_of_one_host_are_told_apart(void **state)
{
	uint8_t mad[ROCE_MAD_LENGTH], buf[65536];
	struct core_train t;

	(void)state;
	call(QPT_RC);
	assert_true(core_tx_next(w.dev[0], w.now, buf, sizeof(buf), &t));
	memcpy(mad, t.iov[0].iov_base, sizeof(mad));
	w.crowded = true;
	speak_as_a_crowd(&t, mad);
	assert_int_equal(w.n_crowd, CROWD);
	speak_as_a_crowd(&t, mad); /* the same once more: on_request would not find room */
	assert_int_equal(w.n_crowd, CROWD);
	for (unsigned i = 0; i < CROWD; i++)
		core_cm_destroy(w.crowd[i], w.now);
	core_cm_destroy(w.active.cm, w.now);
}

static void wrong_calls_are_refused(void **state)
{
	struct core_cm_param none = {0};

	(void)state;
	w.active.cm = core_cm_create(w.dev[0], &w.active);
	assert_int_equal(core_cm_accept(w.active.cm, &none, 0), -EINVAL);
	assert_int_equal(core_cm_ready(w.active.cm, &none, 0), -EINVAL);
	assert_int_equal(core_cm_reject(w.active.cm, 28, &none, 0), -EINVAL);
	assert_int_equal(core_cm_disconnect(w.active.cm, 0), -EINVAL);
	assert_int_equal(core_cm_established(w.active.cm, 0), -EINVAL);
	end_both();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(connects, start, finish),
		cmocka_unit_test_setup_teardown(says_what_init_needs, start, finish),
		cmocka_unit_test_setup_teardown(connects_xrc, start, finish),
		cmocka_unit_test_setup_teardown(says_who_accepts, start, finish),
		cmocka_unit_test_setup_teardown(gives_up_by_name, start, finish),
		cmocka_unit_test_setup_teardown(disconnects, start, finish),
		cmocka_unit_test_setup_teardown(rejects, start, finish),
		cmocka_unit_test_setup_teardown(nobody_listens, start, finish),
		cmocka_unit_test_setup_teardown(nobody_is_there, start, finish),
		cmocka_unit_test_setup_teardown(resolves_a_service, start, finish),
		cmocka_unit_test_setup_teardown(one_message_is_lost, start, finish),
		cmocka_unit_test_setup_teardown(a_datagram_message_is_lost, start, finish),
		cmocka_unit_test_setup_teardown(a_slow_program_is_waited_for, start, finish),
		cmocka_unit_test_setup_teardown(patience_has_an_end, start, finish),
		cmocka_unit_test_setup_teardown(the_peer_vanishes, start, finish),
		cmocka_unit_test_setup_teardown(others_are_not_heard, start, finish),
		cmocka_unit_test_setup_teardown(others_do_not_end_it, start, finish),
		cmocka_unit_test_setup_teardown(devices_of_one_host_are_told_apart, start, finish),
		cmocka_unit_test_setup_teardown(wrong_calls_are_refused, start, finish),
		cmocka_unit_test_setup_teardown(agrees_on_the_path, start, finish),
		cmocka_unit_test_setup_teardown(disconnects_early, start, finish),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
