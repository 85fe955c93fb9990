/* SPDX-License-Identifier: BSD-2-Clause */
#include "cm_world.h"

#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <string.h>

#define SERVICE  UINT64_C(0x01061c06)
#define STRANGER 9 /* end of its address */

struct cm_world cm_world;

static void fill_random(void *user, void *buf, size_t len)
{
	uint8_t *p = buf;

	(void)user;
	for (size_t i = 0; i < len; i++) {
		cm_world.seed = cm_world.seed * 1103515245u + 12345u;
		p[i] = (uint8_t)(cm_world.seed >> 16);
	}
}

static int on_request(void *user, struct cm *cm, const struct core_cm_request *req, void **cookie)
{
	assert_ptr_equal(user, &cm_world);
	if (!cm_world.listening)
		return -ENOENT;
	if (cm_world.full)
		return -ENOMEM;
	if (cm_world.crowded) {
		assert_true(cm_world.n_crowd < CROWD);
		cm_world.crowd[cm_world.n_crowd++] = cm;
		*cookie = &cm_world.stranger;
		return 0;
	}
	if (req->remote_gid[15] == STRANGER) {
		cm_world.stranger.cm = cm;
		*cookie = &cm_world.stranger;
		return 0;
	}
	assert_null(cm_world.passive.cm); /* no request comes twice */
	cm_world.passive.cm = cm;
	cm_world.request = *req;
	cm_world.passive.data[MAX_EVENTS - 1] = req->param.private_data[0];
	*cookie = &cm_world.passive;
	return 0;
}

static void on_event(void *cookie, const struct core_cm_event *e)
{
	struct cm_end *end = cookie;

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

int cm_world_start(void **state)
{
	(void)state;
	memset(&cm_world, 0, sizeof(cm_world));
	cm_world.lose = UINT32_MAX;
	cm_world.listening = true;
	cm_world.seed = 1;
	for (unsigned i = 0; i < 2; i++) {
		struct core_config cfg;

		core_config_default(&cfg);
		cfg.node_guid = i + 1;
		set_gid(cfg.gid[0], (uint8_t)(i + 1));
		cm_world.dev[i] = core_create(&ops, NULL, &cfg);
		assert_non_null(cm_world.dev[i]);
		core_cm_set_ops(cm_world.dev[i], &cm_ops, &cm_world);
	}
	return 0;
}

int cm_world_finish(void **state)
{
	(void)state;
	core_destroy(cm_world.dev[0]);
	core_destroy(cm_world.dev[1]);
	return 0;
}

static void ask_for_hours(struct core_burst *t)
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

static void note_answer(const struct core_burst *t)
{
	struct roce_cm_msg msg;

	if (!roce_cm_parse(t->iov[0].iov_base, &msg))
		return;
	if (msg.attr == ROCE_CM_REJ)
		cm_world.rej = msg.rej;
	if (msg.attr != ROCE_CM_REP)
		return;
	cm_world.rep = msg.rep;
	cm_world.ece_options = msg.attr_mod;
}

bool cm_world_speak(struct device *to, const struct core_burst *t)
{
	static uint8_t mad[ROCE_MAD_LENGTH];
	struct core_burst copy = *t;
	struct roce_cm_msg msg;

	if (!cm_world.spoken || !roce_cm_parse(t->iov[0].iov_base, &msg) ||
	    msg.attr != cm_world.spoken)
		return false;
	memcpy(mad, t->iov[0].iov_base, sizeof(mad));
	if (cm_world.new_id) {
		msg.req.local_comm_id = cm_world.new_id;
		assert_true(roce_cm_emit(&msg, mad));
	}
	set_gid(copy.flow.src, STRANGER);
	copy.iov[0].iov_base = mad;
	core_rx(to, cm_world.now, &copy);
	return true;
}

void cm_world_deliver(void)
{
	static uint8_t buf[65536];
	bool any = true;

	while (any) {
		any = false;
		for (unsigned i = 0; i < 2; i++) {
			struct core_burst t;

			if (!core_tx_next(cm_world.dev[i], cm_world.now, buf, sizeof(buf), &t))
				continue;
			any = true;
			if (cm_world.patient)
				ask_for_hours(&t);
			note_answer(&t);
			if (t.flow.dst[15] == STRANGER)
				continue;
			if (cm_world_speak(cm_world.dev[1 - i], &t) && !cm_world.spoken_first)
				continue;
			if (cm_world.sent++ != cm_world.lose && !cm_world.lose_all)
				core_rx(cm_world.dev[1 - i], cm_world.now, &t);
		}
	}
}

void cm_world_wait(uint64_t ns)
{
	uint64_t end = cm_world.now + ns;

	for (;;) {
		uint64_t a = core_next_deadline(cm_world.dev[0]);
		uint64_t b = core_next_deadline(cm_world.dev[1]);
		uint64_t next = a < b ? a : b;

		cm_world_deliver();
		if (next > end)
			break;
		cm_world.now = next;
		core_tick(cm_world.dev[0], cm_world.now);
		core_tick(cm_world.dev[1], cm_world.now);
		cm_world_deliver();
	}
	cm_world.now = end;
}

struct core_cm_param cm_world_param(uint32_t qpn, uint8_t type, const uint8_t *data)
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

void cm_world_call_by(struct core_cm_path path, uint8_t type)
{
	static const uint8_t data = 0xa1;
	struct core_cm_param p = cm_world_param(0x111, type, &data);

	set_gid(path.local_gid, 1);
	set_gid(path.remote_gid, 2);
	cm_world.active.cm = core_cm_create(cm_world.dev[0], &cm_world.active);
	assert_non_null(cm_world.active.cm);
	assert_int_equal(core_cm_connect(cm_world.active.cm, &path, SERVICE, &p, cm_world.now), 0);
}

void cm_world_call(uint8_t type)
{
	cm_world_call_by((struct core_cm_path){0}, type);
}

void cm_world_go_on(unsigned seconds)
{
	static const uint8_t data = 0xb2;
	static bool accepted;
	unsigned seen = 0;

	accepted = false;
	for (unsigned i = 0; i < seconds; i++) {
		cm_world_wait(SECOND);
		if (cm_world.passive.cm && !accepted) {
			struct core_cm_param p =
				cm_world_param(0x222, cm_world.request.param.qp_type, &data);

			assert_int_equal(core_cm_accept(cm_world.passive.cm, &p, cm_world.now), 0);
			accepted = true;
		}
		while (seen < cm_world.active.n)
			if (cm_world.active.type[seen++] == CORE_CM_REPLIED)
				assert_int_equal(core_cm_ready(cm_world.active.cm,
							       &(struct core_cm_param){0},
							       cm_world.now),
						 0);
	}
}

bool cm_end_heard(const struct cm_end *end, enum core_cm_event_type type)
{
	unsigned n = 0;

	for (unsigned i = 0; i < end->n; i++)
		n += end->type[i] == type;
	assert_true(n <= 1);
	return n == 1;
}

void cm_world_end(void)
{
	core_cm_destroy(cm_world.active.cm, cm_world.now);
	if (cm_world.passive.cm)
		core_cm_destroy(cm_world.passive.cm, cm_world.now);
	cm_world_wait(200 * SECOND);
	assert_int_equal(core_cm_count(cm_world.dev[0]), 0);
	assert_int_equal(core_cm_count(cm_world.dev[1]), 0);
	assert_true(core_next_deadline(cm_world.dev[0]) == UINT64_MAX);
}
