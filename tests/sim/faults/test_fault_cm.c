/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rules for messages of the connection manager: what both programs hear of it. Both ends go on at
 * once; what one hears is written as a word: R replied, E established, J rejected, U unreachable, D
 * disconnected, T time-wait exit, each with its status if that is not 0.
 */
#include "emu/core/core_cm.h"
#include "tests/sim/world/seeds.h"
#include "tests/sim/world/world_faults.h"
#include "tests/support/wire/cmocka_all.h"
#include "wire/cm_msg.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SECOND  UINT64_C(1000000000)
#define STEP    UINT64_C(10000000)
#define SERVICE UINT64_C(0x01061c06)

struct end {
	struct stage *stage;
	struct cm *cm;
	char heard[64];
	bool todo;
	bool ended;   /* the peer waits for the answer to its DREQ */
	uint8_t data; /* first byte of the private data of the last event */
};

struct stage {
	struct world *w;
	uint8_t qp_type;
	struct end active, passive;
};

static int on_request(void *user, struct cm *cm, const struct core_cm_request *req, void **cookie)
{
	struct stage *s = user;

	if (s->passive.cm)
		return -ENOENT; /* one is enough; a second shows in what is heard */
	s->passive.cm = cm;
	s->passive.data = req->param.private_data[0];
	s->passive.todo = true;
	*cookie = &s->passive;
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
		end->todo = true;
	if (e->type == CORE_CM_DISCONNECTED)
		end->ended = true;
}

static const struct core_cm_ops ops = {.request = on_request, .event = on_event};

static struct core_cm_param param(const struct stage *s, uint32_t qpn, const uint8_t *data)
{
	return (struct core_cm_param){.qpn = qpn,
				      .qkey = 0x1234,
				      .qp_type = s->qp_type,
				      .responder_resources = 3,
				      .initiator_depth = 5,
				      .retry_count = 6,
				      .private_len = 1,
				      .private_data = data};
}

static void start(struct stage *s, uint8_t qp_type)
{
	*s = (struct stage){.qp_type = qp_type};
	s->w = world_create(seeds_one(0), 2, NULL);
	s->active.stage = s->passive.stage = s;
	world_faults(s->w, s->w->seed);
	for (unsigned i = 0; i < 2; i++)
		core_cm_set_ops(s->w->device[i].host.dev, &ops, s);
}

static void call(struct stage *s)
{
	static const uint8_t data = 0xa1;
	struct vhost *host = &s->w->device[0].host;
	struct core_cm_param p = param(s, 0x111, &data);
	struct core_cm_path path = {0};

	memcpy(path.local_gid, host->gid[0], 16);
	memcpy(path.remote_gid, s->w->device[1].host.gid[0], 16);
	s->active.cm = core_cm_create(host->dev, &s->active);
	world_assert(s->w, s->active.cm);
	world_assert(s->w, core_cm_connect(s->active.cm, &path, SERVICE, &p, s->w->now) == 0);
	host->dirty = true;
}

static void act(struct stage *s)
{
	static const uint8_t rep = 0xb2, rtu = 0xc3;
	struct core_cm_param accept = param(s, 0x222, &rep), ready = param(s, 0, &rtu);

	if (s->passive.todo)
		core_cm_accept(s->passive.cm, &accept, s->w->now);
	if (s->active.todo)
		core_cm_ready(s->active.cm, &ready, s->w->now);
	if (s->passive.ended)
		core_cm_disconnect(s->passive.cm, s->w->now);
	if (s->active.todo || s->passive.todo || s->passive.ended)
		s->w->device[0].host.dirty = s->w->device[1].host.dirty = true;
	s->active.todo = s->passive.todo = s->passive.ended = false;
}

static void go_on(struct stage *s, uint64_t time)
{
	for (uint64_t end = s->w->now + time; s->w->now < end;) {
		act(s);
		world_run(s->w, s->w->now + STEP);
	}
}

static void expect(struct stage *s, const char *active, const char *passive)
{
	if (strcmp(s->active.heard, active) != 0)
		world_fail(s->w, "the active end heard \"%s\", not \"%s\"", s->active.heard,
			   active);
	if (strcmp(s->passive.heard, passive) != 0)
		world_fail(s->w, "the passive end heard \"%s\", not \"%s\"", s->passive.heard,
			   passive);
}

/* All goes, in time: no end, no timer, no packet is left. */
static void finish(struct stage *s)
{
	world_rules_check(s->w);
	if (s->active.cm)
		core_cm_destroy(s->active.cm, s->w->now);
	if (s->passive.cm)
		core_cm_destroy(s->passive.cm, s->w->now);
	s->w->device[0].host.dirty = s->w->device[1].host.dirty = true;
	world_run(s->w, s->w->now + 100 * SECOND);
	for (unsigned i = 0; i < 2; i++) {
		world_assert(s->w, core_cm_count(s->w->device[i].host.dev) == 0);
		world_assert(s->w, core_next_deadline(s->w->device[i].host.dev) == UINT64_MAX);
	}
	world_destroy(s->w);
}

struct row {
	const char *rule;
	const char *active, *passive;
};

/* clang-format off */
static const struct row connect_rows[] = {
	{"lost-req: drop cm=REQ nth=1",         "R ",     "E "},
	{"drop cm=REQ",                         "U-110 ", ""},
	{"drop cm=REQ dir=rx",                  "U-110 ", ""},
	{"dup cm=REQ",                          "R ",     "E "},
	{"dup=3 time=5s cm=REQ",                "R ",     "E "},
	{"drop cm=REP nth=1",                   "R ",     "E "},
	{"drop cm=REP",                         "U-110 ", "J4 "},
	{"dup-rep: dup cm=REP",                 "R ",     "E "},
	{"dup time=2s cm=REP",                  "R ",     "E "},
	{"drop cm=RTU nth=1",                   "R ",     "E "},
	{"drop cm=RTU",                         "R J4 T ", "U-110 "},
	{"dup cm=RTU",                          "R ",     "E "},
	{"drop opcode=cm first=2",              "R ",     "E "},
	{"delay=9s cm=REP",                     "R ",     "E "},
	{"corrupt=icrc opcode=cm nth=1..3",     "R ",     "E "},
	{"reject: cm.reject=consumer",          "J28 ",   ""},
	{"cm.reject=no_resources",              "J3 ",    ""},
	{"cm.reject=invalid_service_id",        "J8 ",    ""},
	{"cm.reject=stale dir=tx",              "J10 ",   ""},
	{"cm.reject=invalid_mtu times=1",       "J26 ",   ""},
	{"cm.reject=1000",                      "J1000 ", ""},
	/* In the name of the active end, which has heard nothing, and asks again. */
	{"cm.reject=consumer cm=REP",           "J8 ",    "J28 "},
	{"cm.mra=1s",                           "R ",     "E "},
	{"cm.mra cm=REQ,REP",                   "R ",     "E "},
	{NULL, NULL, NULL},
};

static const struct row datagram_rows[] = {
	{"drop cm=SIDR_REQ nth=1",              "E ",     ""},
	{"drop cm=SIDR_REQ",                    "U-110 ", ""},
	{"dup cm=SIDR_REQ",                     "E ",     ""},
	{"drop cm=SIDR_REP nth=1",              "E ",     ""},
	{"drop cm=SIDR_REP",                    "U-110 ", ""},
	{"dup cm=SIDR_REP",                     "E ",     ""},
	{NULL, NULL, NULL},
};
/* clang-format on */

static void run_all(const struct row *r, uint8_t qp_type)
{
	for (; r->rule; r++) {
		struct stage s;

		start(&s, qp_type);
		world_rule(s.w, r->rule);
		call(&s);
		go_on(&s, 120 * SECOND);
		expect(&s, r->active, r->passive);
		finish(&s);
	}
}

static void test_connections(void **state)
{
	(void)state;
	run_all(connect_rows, IBV_QPT_RC);
}

static void test_datagrams(void **state)
{
	(void)state;
	run_all(datagram_rows, IBV_QPT_UD);
}

/* After an MRA the active end does not repeat the message that is lost behind it. */
static void test_mra(void **state)
{
	uint64_t repeated[2];

	(void)state;
	for (unsigned asked = 0; asked < 2; asked++) {
		struct stage s;

		start(&s, IBV_QPT_RC);
		if (asked)
			world_rule(s.w, "cm.mra=60s dir=tx nth=1");
		world_rule(s.w, "lost: drop cm=REQ");
		call(&s);
		go_on(&s, 60 * SECOND);
		repeated[asked] = world_rule_entry(s.w, "lost")->hits;
		finish(&s);
	}
	assert_true(repeated[0] > 3);
	assert_int_equal(repeated[1], 1);
}

static void test_private_data(void **state)
{
	struct stage s;

	(void)state;
	start(&s, IBV_QPT_RC);
	world_rule(s.w, "set=cm.private:0:0x77 cm=REQ");
	world_rule(s.w, "set=cm.private:0:+1 cm=REP");
	call(&s);
	go_on(&s, SECOND / 2);
	expect(&s, "R ", "E ");
	assert_int_equal(s.active.data, 0xb3);
	finish(&s);
	start(&s, IBV_QPT_RC);
	world_rule(s.w, "set=cm.private:0:0x77 cm=REQ");
	world_rule(s.w, "drop cm=REP");
	call(&s);
	go_on(&s, SECOND / 2);
	assert_int_equal(s.passive.data, 0x77);
	finish(&s);
}

/* The other end is gone, as far as the one that leaves can tell. */
static void test_disconnect(void **state)
{
	static const struct row rows[] = {
		{"drop cm=DREQ nth=1", "R D T ", "E D T "},
		{"drop cm=DREQ", "R D-110 T ", "E "},
		{"dup cm=DREQ", "R D T ", "E D T "},
		{"drop cm=DREP nth=1", "R D T ", "E D T "},
		{"drop cm=DREP", "R D-110 T ", "E D T "},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct stage s;

		start(&s, IBV_QPT_RC);
		world_rule(s.w, rows[i].rule);
		call(&s);
		go_on(&s, SECOND);
		expect(&s, "R ", "E ");
		core_cm_disconnect(s.active.cm, s.w->now);
		s.w->device[0].host.dirty = true;
		go_on(&s, 120 * SECOND);
		expect(&s, rows[i].active, rows[i].passive);
		finish(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_connections), cmocka_unit_test(test_datagrams),
		cmocka_unit_test(test_mra),         cmocka_unit_test(test_private_data),
		cmocka_unit_test(test_disconnect),
	};

	return cmocka_run_group_tests_name("fault_cm", tests, NULL, NULL);
}
