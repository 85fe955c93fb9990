/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The protocol of connections (IBTA vol. 1, 12.9 and 12.11) between two devices whose programs
 * only go on: each message lost once, lost each time, and duplicated, at both sides, must end in
 * the events that the specification and the rdma_cm manual promise. What an end hears is
 * written as a word: R replied, E established, J rejected, U unreachable, D disconnected, T
 * time-wait exit, each with its status if that is not 0.
 */
#include "emu/core/core_cm.h"
#include "tests/sim/world/seeds.h"
#include "tests/sim/world/world.h"
#include "tests/support/wire/cmocka_all.h"
#include "wire/cm_msg.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SECOND  UINT64_C(1000000000)
#define MS      UINT64_C(1000000)
#define SERVICE UINT64_C(0x01061c06)
#define HEARD   64
#define PATIENT                                                                                    \
	30 /* seconds a slow program takes: many repetitions, and less than what MRA asks          \
	    */

enum script {
	CONNECT,         /* the active end disconnects a minute later */
	HASTY,           /* it does so at once */
	BOTH_DISCONNECT, /* at one instant */
	PASSIVE_REFUSES,
	ACTIVE_REFUSES,
	PASSIVE_SLOW,
	ACTIVE_SLOW,
	NOBODY_LISTENS,
	BACKLOG_FULL,
	WRONG_KIND,
	LISTENER_GOES,
	DATAGRAM,
	DATAGRAM_REFUSED,
	DATAGRAM_NOBODY,
};

struct end {
	struct stage *stage;
	struct cm *cm;
	char heard[HEARD];
	bool todo; /* an answer is due at "at" */
	uint64_t at;
	bool connected;
	bool ended;   /* the answer that is due is one to DISCONNECTED */
	uint8_t data; /* first byte of the private data of the last event */
};

struct stage {
	struct world *w;
	enum script script;
	uint16_t attr; /* what is hit, from which device; 0: nothing */
	unsigned from;
	enum world_verdict verdict;
	bool always; /* or the first one only */
	unsigned seen;
	struct end active, passive;
	struct core_cm_request request;
	bool leaving;
};

static void mark(struct end *end, uint64_t delay)
{
	end->todo = true;
	end->at = end->stage->w->now + delay;
}

static int on_request(void *user, struct cm *cm, const struct core_cm_request *req, void **cookie)
{
	struct stage *s = user;

	if (s->script == NOBODY_LISTENS || s->script == DATAGRAM_NOBODY)
		return -ENOENT;
	if (s->script == BACKLOG_FULL)
		return -ENOMEM;
	if (s->script == WRONG_KIND)
		return -EINVAL;
	world_assert(s->w, !s->passive.cm); /* no request comes twice */
	s->passive.cm = cm;
	s->request = *req;
	s->passive.data = req->param.private_data[0];
	*cookie = &s->passive;
	mark(&s->passive, s->script == PASSIVE_SLOW ? PATIENT * SECOND : 0);
	return 0;
}

static void on_event(void *cookie, const struct core_cm_event *e)
{
	static const char letters[] = "REJUDT";
	struct end *end = cookie;
	size_t at = strlen(end->heard);
	size_t room = sizeof(end->heard) - at;

	if (e->status)
		snprintf(end->heard + at, room, "%c%d ", letters[e->type], e->status);
	else
		snprintf(end->heard + at, room, "%c ", letters[e->type]);
	if (e->param.private_data)
		end->data = e->param.private_data[0];
	if (e->type == CORE_CM_REPLIED)
		mark(end, end->stage->script == ACTIVE_SLOW ? PATIENT * SECOND : 0);
	if (e->type == CORE_CM_ESTABLISHED)
		end->connected = true;
	if (e->type == CORE_CM_DISCONNECTED) {
		end->ended = true;
		mark(end, 0);
	}
}

static const struct core_cm_ops ops = {.request = on_request, .event = on_event};

static enum world_verdict hit(void *arg, struct world_packet *p)
{
	struct stage *s = arg;
	struct roce_cm_msg msg;

	if (p->pkt.payload_len != ROCE_MAD_LENGTH || !roce_cm_parse(p->pkt.payload, &msg) ||
	    msg.attr != s->attr || p->from != s->from)
		return WORLD_PASS;
	return s->seen++ == 0 || s->always ? s->verdict : WORLD_PASS;
}

static bool is_datagram(const struct stage *s)
{
	return s->script == DATAGRAM || s->script == DATAGRAM_REFUSED ||
	       s->script == DATAGRAM_NOBODY;
}

static struct core_cm_param param(const struct stage *s, uint32_t qpn, const uint8_t *data)
{
	return (struct core_cm_param){.qpn = qpn,
				      .qkey = 0x1234,
				      .qp_type = is_datagram(s) ? IBV_QPT_UD : IBV_QPT_RC,
				      .responder_resources = 3,
				      .initiator_depth = 5,
				      .retry_count = 6,
				      .ece_vendor = 0xabcdef,
				      .ece_options = qpn,
				      .private_len = 1,
				      .private_data = data};
}

static struct cm *call(struct stage *s, struct end *end, uint32_t qpn)
{
	static const uint8_t data = 0xa1;
	struct vhost *host = &s->w->device[0].host;
	struct core_cm_param p = param(s, qpn, &data);
	struct core_cm_path path = {0};

	memcpy(path.local_gid, host->gid[0], 16);
	memcpy(path.remote_gid, s->w->device[1].host.gid[0], 16);
	end->cm = core_cm_create(host->dev, end);
	world_assert(s->w, end->cm);
	world_assert(s->w, core_cm_connect(end->cm, &path, SERVICE, &p, s->w->now) == 0);
	host->dirty = true;
	return end->cm;
}

static void start(struct stage *s, const struct stage *how, uint64_t seed)
{
	*s = *how;
	s->w = world_create(seed, 2, NULL);
	s->active.stage = s->passive.stage = s;
	s->w->filter = hit;
	s->w->filter_arg = s;
	for (unsigned i = 0; i < 2; i++)
		core_cm_set_ops(s->w->device[i].host.dev, &ops, s);
	call(s, &s->active, 0x111);
}

/* ---- the programs ---- */

static void touch(struct stage *s)
{
	s->w->device[0].host.dirty = s->w->device[1].host.dirty = true;
}

static void passive_answers(struct stage *s)
{
	static const uint8_t data = 0xb2;
	struct core_cm_param p = param(s, 0x222, &data);
	uint64_t now = s->w->now;

	if (s->script == LISTENER_GOES) {
		core_cm_destroy(s->passive.cm, now);
		s->passive.cm = NULL;
	} else if (s->script == PASSIVE_REFUSES || s->script == DATAGRAM_REFUSED) {
		core_cm_reject(s->passive.cm, ROCE_CM_REJ_CONSUMER, &p, now);
	} else {
		core_cm_accept(s->passive.cm, &p, now); /* too late is refused */
	}
}

static void active_goes_on(struct stage *s)
{
	static const uint8_t data = 0xc3;
	struct core_cm_param p = param(s, 0, &data);
	uint64_t now = s->w->now;

	if (s->script == ACTIVE_REFUSES) {
		core_cm_reject(s->active.cm, ROCE_CM_REJ_CONSUMER, &p, now);
		return;
	}
	s->active.connected = core_cm_ready(s->active.cm, &p, now) == 0;
	if (s->active.connected && !s->leaving) {
		s->leaving = true;
		mark(&s->active, s->script == HASTY ? 0 : 60 * SECOND);
	}
}

static void act(struct stage *s, struct end *end)
{
	if (!end->todo || end->at > s->w->now)
		return;
	end->todo = false;
	if (end->ended) {
		core_cm_disconnect(end->cm, s->w->now);
	} else if (end == &s->passive) {
		passive_answers(s);
	} else if (!s->leaving) {
		active_goes_on(s);
	} else {
		core_cm_disconnect(s->active.cm, s->w->now);
		if (s->script == BOTH_DISCONNECT)
			core_cm_disconnect(s->passive.cm, s->w->now);
	}
	touch(s);
}

static void go_on(struct stage *s, uint64_t time)
{
	uint64_t end = s->w->now + time;

	while (s->w->now < end) {
		act(s, &s->active);
		act(s, &s->passive);
		world_run(s->w, s->w->now + 10 * MS);
	}
}

/* All goes, in time, whatever was lost: no end, no timer is left. */
static void finish(struct stage *s)
{
	s->verdict = WORLD_PASS;
	if (s->active.cm)
		core_cm_destroy(s->active.cm, s->w->now);
	if (s->passive.cm)
		core_cm_destroy(s->passive.cm, s->w->now);
	touch(s);
	world_run(s->w, s->w->now + 100 * SECOND);
	for (unsigned i = 0; i < 2; i++) {
		world_assert(s->w, core_cm_count(s->w->device[i].host.dev) == 0);
		world_assert(s->w, core_next_deadline(s->w->device[i].host.dev) == UINT64_MAX);
	}
	world_destroy(s->w);
}

static void expect(struct stage *s, const char *who, const struct end *end, const char *heard)
{
	if (strcmp(end->heard, heard) != 0)
		world_fail(
			s->w,
			"script %u, %s from %u, verdict %u%s: the %s end heard \"%s\", not \"%s\"",
			s->script, s->attr ? roce_cm_name(s->attr) : "nothing", s->from, s->verdict,
			s->always ? " always" : "", who, end->heard, heard);
}

/* ---- the table ---- */

struct row {
	enum script script;
	uint16_t attr;
	unsigned from;
	const char *once_active, *once_passive;     /* lost once, or duplicated */
	const char *always_active, *always_passive; /* lost each time */
};

/* clang-format off */
static const struct row rows[] = {
	{CONNECT, ROCE_CM_REQ, 0,  "R D T ", "E D T ",  "U-110 ", ""},
	{CONNECT, ROCE_CM_REP, 1,  "R D T ", "E D T ",  "U-110 ", "J4 "},
	{CONNECT, ROCE_CM_RTU, 0,  "R D T ", "E D T ",  "R J4 T ", "U-110 "},
	{CONNECT, ROCE_CM_DREQ, 0, "R D T ", "E D T ",  "R D-110 T ", "E "},
	{CONNECT, ROCE_CM_DREP, 1, "R D T ", "E D T ",  "R D-110 T ", "E D T "},
	/* The DREQ says what the RTU would have said. */
	{HASTY, ROCE_CM_RTU, 0,    "R D T ", "E D T ",  "R D T ", "E D T "},
	{HASTY, ROCE_CM_DREQ, 0,   "R D T ", "E D T ",  "R D-110 T ", "E "},
	{BOTH_DISCONNECT, ROCE_CM_DREQ, 0, "R D T ", "E D T ",  "R D T ", "E D T "},
	{BOTH_DISCONNECT, ROCE_CM_DREQ, 1, "R D T ", "E D T ",  "R D T ", "E D T "},
	{BOTH_DISCONNECT, ROCE_CM_DREP, 0, "R D T ", "E D T ",  "R D T ", "E D T "},
	{BOTH_DISCONNECT, ROCE_CM_DREP, 1, "R D T ", "E D T ",  "R D T ", "E D T "},
	{PASSIVE_REFUSES, ROCE_CM_REQ, 0, "J28 ", "",   "U-110 ", ""},
	{PASSIVE_REFUSES, ROCE_CM_REJ, 1, "J28 ", "",   "U-110 ", ""},
	{ACTIVE_REFUSES, ROCE_CM_REP, 1,  "R ", "J28 ", "U-110 ", "J4 "},
	{ACTIVE_REFUSES, ROCE_CM_REJ, 0,  "R ", "J28 ", "R ", "U-110 "},
	/* Patience: without the MRA the other end gives up, and says so. */
	{PASSIVE_SLOW, ROCE_CM_MRA, 1, "R D T ", "E D T ", "U-110 ", "J4 "},
	{ACTIVE_SLOW, ROCE_CM_MRA, 0,  "R D T ", "E D T ", "R J4 ", "U-110 "},
	{NOBODY_LISTENS, ROCE_CM_REJ, 1, "J8 ", "",     "U-110 ", ""},
	{BACKLOG_FULL, ROCE_CM_REQ, 0,   "U-110 ", "",  "U-110 ", ""},
	{WRONG_KIND, ROCE_CM_REJ, 1,     "J9 ", "",     "U-110 ", ""},
	{LISTENER_GOES, ROCE_CM_REJ, 1,  "J28 ", "",    "U-110 ", ""},
	{DATAGRAM, ROCE_CM_SIDR_REQ, 0,  "E ", "",      "U-110 ", ""},
	{DATAGRAM, ROCE_CM_SIDR_REP, 1,  "E ", "",      "U-110 ", ""},
	{DATAGRAM_REFUSED, ROCE_CM_SIDR_REP, 1, "U2 ", "", "U-110 ", ""},
	{DATAGRAM_NOBODY, ROCE_CM_SIDR_REP, 1,  "U1 ", "", "U-110 ", ""},
};
/* clang-format on */

static void run(const struct row *r, enum world_verdict verdict, bool always)
{
	const struct stage how = {.script = r->script,
				  .attr = r->attr,
				  .from = r->from,
				  .verdict = verdict,
				  .always = always};
	struct stage s;

	start(&s, &how, seeds_one(0));
	go_on(&s, 120 * SECOND);
	world_assert(s.w, s.seen > 0); /* there was something to hit */
	expect(&s, "active", &s.active, always ? r->always_active : r->once_active);
	expect(&s, "passive", &s.passive, always ? r->always_passive : r->once_passive);
	finish(&s);
}

static void test_lost_once(void **state)
{
	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		run(&rows[i], WORLD_DROP, false);
}

static void test_lost_always(void **state)
{
	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		run(&rows[i], WORLD_DROP, true);
}

static void test_duplicated(void **state)
{
	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		run(&rows[i], WORLD_DUPLICATE, false);
}

/* ---- what the table does not say ---- */

/* Private data and enhancements get through, with each kind of answer. */
static void test_what_is_carried(void **state)
{
	struct stage s;

	(void)state;
	start(&s, &(struct stage){.script = CONNECT}, seeds_one(0));
	go_on(&s, SECOND);
	assert_int_equal(s.request.param.ece_vendor, 0xabcdef);
	assert_int_equal(s.request.param.ece_options, 0x111);
	assert_int_equal(s.active.data, 0xb2);
	assert_int_equal(s.passive.data, 0xc3);
	finish(&s);
	start(&s, &(struct stage){.script = PASSIVE_REFUSES}, seeds_one(0));
	go_on(&s, SECOND);
	assert_int_equal(s.active.data, 0xb2);
	finish(&s);
	start(&s, &(struct stage){.script = DATAGRAM_REFUSED}, seeds_one(0));
	go_on(&s, SECOND);
	assert_int_equal(s.passive.data, 0xa1);
	finish(&s);
}

/* Nothing ends before the time-wait is over, an end that nobody owns included. */
static void test_timewait(void **state)
{
	struct stage s;

	(void)state;
	start(&s, &(struct stage){.script = HASTY}, seeds_one(0));
	go_on(&s, 500 * MS);
	expect(&s, "active", &s.active, "R D ");
	expect(&s, "passive", &s.passive, "E D ");
	core_cm_destroy(s.passive.cm, s.w->now);
	s.passive.cm = NULL;
	assert_int_equal(core_cm_count(s.w->device[1].host.dev), 1);
	go_on(&s, 2 * SECOND);
	assert_int_equal(core_cm_count(s.w->device[1].host.dev), 0);
	expect(&s, "active", &s.active, "R D T ");
	expect(&s, "passive", &s.passive, "E D ");
	finish(&s);
}

/* 12.9.8.3.1: the peer forgot a connection and asks again with the same QP. */
static void test_stale_connection(void **state)
{
	struct stage s;
	struct end again = {.stage = &s};

	(void)state;
	start(&s, &(struct stage){.script = CONNECT}, seeds_one(0));
	go_on(&s, SECOND);
	s.w->link[0][1].down = true; /* nobody hears that the program went */
	core_cm_destroy(s.active.cm, s.w->now);
	s.active = (struct end){.stage = &s};
	touch(&s);
	go_on(&s, 100 * SECOND);
	s.w->link[0][1].down = false;
	expect(&s, "passive", &s.passive, "E ");
	call(&s, &again, 0x111);
	go_on(&s, 5 * SECOND);
	expect(&s, "second", &again, "J10 ");
	expect(&s, "passive", &s.passive, "E D T ");
	core_cm_destroy(again.cm, s.w->now);
	core_cm_destroy(s.passive.cm, s.w->now);
	s.passive = (struct end){.stage = &s};
	call(&s, &s.active, 0x111); /* now it will do */
	go_on(&s, SECOND);
	expect(&s, "third", &s.active, "R ");
	finish(&s);
}

/* The peer is there no more: a program learns so from its own disconnect. */
static void test_silence(void **state)
{
	struct stage s;

	(void)state;
	start(&s, &(struct stage){.script = CONNECT}, seeds_one(0));
	go_on(&s, SECOND);
	s.w->link[1][0].down = s.w->link[0][1].down = true;
	go_on(&s, 120 * SECOND);
	expect(&s, "active", &s.active, "R D-110 T ");
	expect(&s, "passive", &s.passive, "E ");
	finish(&s);
}

/* A peer with a pace of its own: what its REQ says of it is overwritten, and it never confirms. */
struct slow_peer {
	uint8_t timeout, retries;
	unsigned reps; /* that came, and when */
	uint64_t first, last;
	uint8_t mad[ROCE_MAD_LENGTH];
};

static enum world_verdict speak_slowly(void *arg, struct world_packet *p)
{
	struct slow_peer *peer = arg;
	struct roce_cm_msg msg;

	if (p->pkt.payload_len != ROCE_MAD_LENGTH || !roce_cm_parse(p->pkt.payload, &msg))
		return WORLD_PASS;
	if (msg.attr == ROCE_CM_REQ) {
		msg.req.local_cm_response_timeout = peer->timeout;
		msg.req.max_cm_retries = peer->retries;
		roce_cm_emit(&msg, peer->mad);
		p->pkt.payload = peer->mad;
	}
	if (msg.attr == ROCE_CM_REP) {
		peer->first = peer->reps++ ? peer->first : p->now;
		peer->last = p->now;
	}
	return msg.attr == ROCE_CM_RTU || msg.attr == ROCE_CM_DREQ ? WORLD_DROP : WORLD_PASS;
}

/*
 * 12.9.8.5: the passive end waits for an answer as long as the REQ said that its sender may take,
 * and repeats its REP as often as it said.
 */
static void test_pace_of_the_peer(void **state)
{
	const struct {
		uint8_t timeout, retries, taken; /* the code that counts */
	} paces[] = {{20, 3, 20}, {18, 15, 18}, {0, 15, 18}, {31, 1, 24}, {19, 0, 19}};

	(void)state;
	for (unsigned i = 0; i < sizeof(paces) / sizeof(paces[0]); i++) {
		struct slow_peer peer = {.timeout = paces[i].timeout, .retries = paces[i].retries};
		uint64_t interval = UINT64_C(4096) << paces[i].taken;
		struct stage s;

		start(&s, &(struct stage){.script = CONNECT}, seeds_one(0));
		s.w->filter = speak_slowly;
		s.w->filter_arg = &peer;
		go_on(&s, interval / 2 + paces[i].retries * interval);
		expect(&s, "passive", &s.passive, "");
		go_on(&s, interval);
		expect(&s, "passive", &s.passive, "U-110 ");
		assert_int_equal(peer.reps, paces[i].retries + 1);
		assert_true(peer.last - peer.first >= paces[i].retries * interval);
		assert_true(peer.last - peer.first < paces[i].retries * interval + 100 * MS);
		finish(&s);
	}
}

/* Its first REJ is lost, and the peer asks again after 6.4 s, as Linux does. */
static enum world_verdict ask_rarely(void *arg, struct world_packet *p)
{
	struct stage *s = arg;
	struct roce_cm_msg msg;

	if (p->pkt.payload_len != ROCE_MAD_LENGTH || !roce_cm_parse(p->pkt.payload, &msg))
		return WORLD_PASS;
	if (msg.attr == ROCE_CM_REJ)
		return s->seen++ == 0 ? WORLD_DROP : WORLD_PASS;
	return s->seen && p->now < 6400 * MS ? WORLD_DROP : WORLD_PASS;
}

/* The program hears of a request once, however late it is repeated (on_request). */
static void test_answer_is_kept(void **state)
{
	struct stage s;

	(void)state;
	start(&s, &(struct stage){.script = PASSIVE_REFUSES}, seeds_one(0));
	s.w->filter = ask_rarely;
	go_on(&s, 6 * SECOND);
	expect(&s, "active", &s.active, "");
	go_on(&s, 2 * SECOND);
	expect(&s, "active", &s.active, "J28 ");
	finish(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lost_once),      cmocka_unit_test(test_lost_always),
		cmocka_unit_test(test_duplicated),     cmocka_unit_test(test_what_is_carried),
		cmocka_unit_test(test_timewait),       cmocka_unit_test(test_stale_connection),
		cmocka_unit_test(test_silence),        cmocka_unit_test(test_pace_of_the_peer),
		cmocka_unit_test(test_answer_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
