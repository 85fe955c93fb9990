/* SPDX-License-Identifier: BSD-2-Clause */
/* How connections begin: requests, answers, refusals, and who may say what (cm.c, cm_receive.c). */
#include "emu/abi/cmd.h"
#include "emu/core/base/device.h"
#include "emu/core/cm/cm.h"
#include "tests/support/core/cm_world.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <string.h>

#define STRANGERS  256
#define SERVICE_ID UINT64_C(0x01061c06)

static void connects(void **state)
{
	struct uhca_abi_qp_attr a, p;
	uint32_t mask;

	(void)state;
	cm_world_call(QPT_RC);
	cm_world_go_on(3);
	assert_true(cm_end_heard(&cm_world.active, CORE_CM_REPLIED));
	assert_int_equal(cm_world.active.data[0], 0xb2);
	assert_int_equal(cm_world.passive.data[MAX_EVENTS - 1], 0xa1);
	assert_true(cm_end_heard(&cm_world.passive, CORE_CM_ESTABLISHED));
	assert_int_equal(cm_world.request.param.responder_resources, 5);
	assert_int_equal(cm_world.request.param.initiator_depth, 3);
	assert_int_equal(cm_world.sent, 3);
	assert_int_equal(core_cm_qp_attr(cm_world.active.cm, 2, &a, &mask), 0);
	assert_int_equal(core_cm_qp_attr(cm_world.passive.cm, 3, &p, &mask), 0);
	assert_int_equal(a.dest_qp_num, 0x222);
	assert_int_equal(a.rq_psn, p.sq_psn);
	assert_int_equal(a.ah.dgid[15], 2);
	assert_int_equal(p.retry_cnt, 6);
	assert_int_equal(p.rnr_retry, 7);
	assert_int_equal(core_cm_qp_attr(cm_world.passive.cm, 2, &p, &mask), 0);
	assert_int_equal(core_cm_qp_attr(cm_world.active.cm, 3, &a, &mask), 0);
	assert_int_equal(p.dest_qp_num, 0x111);
	assert_int_equal(p.rq_psn, a.sq_psn);
	cm_world_end();
}

/* For INIT no peer is needed; what takes a resource is let in where somebody provides for it. */
static void says_what_init_needs(void **state)
{
	const uint32_t state_pkey_port_access = 1u | 16u | 32u | 8u;
	struct cm *idle = core_cm_create(cm_world.dev[0], NULL);
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
	core_cm_destroy(idle, cm_world.now);
	cm_world_call(QPT_RC);
	assert_int_equal(core_cm_qp_attr(cm_world.active.cm, 1, &a, &mask), 0);
	assert_int_equal(a.qp_access_flags, 2 | 4 | 8 | 1 << 8 | 1 << 9);
	cm_world.dev[0]->cfg.features &= ~(uint32_t)UHCA_ABI_HAS_FLUSH;
	assert_int_equal(core_cm_qp_attr(cm_world.active.cm, 1, &a, &mask), 0);
	assert_int_equal(a.qp_access_flags, 2 | 4 | 8);
	cm_world_go_on(3);
	assert_int_equal(core_cm_disconnect(cm_world.active.cm, cm_world.now), 0);
	assert_int_equal(core_cm_qp_attr(cm_world.active.cm, 1, &a, &mask),
			 -EINVAL); /* as ib_cm has it */
	cm_world_end();
}

/* What the caller says of the path is what both QPs are to use. */
static void agrees_on_the_path(void **state)
{
	const struct core_cm_path path = {
		.flow_label = 0x54321, .traffic_class = 0x28, .ack_timeout = 19};
	struct uhca_abi_qp_attr a, p;
	uint32_t mask;

	(void)state;
	cm_world_call_by(path, QPT_RC);
	cm_world_go_on(3);
	assert_int_equal(core_cm_qp_attr(cm_world.active.cm, 2, &a, &mask), 0);
	assert_int_equal(core_cm_qp_attr(cm_world.passive.cm, 2, &p, &mask), 0);
	assert_int_equal(a.ah.flow_label, 0x54321);
	assert_int_equal(p.ah.flow_label, 0x54321);
	assert_int_equal(a.ah.traffic_class, 0x28);
	assert_int_equal(p.ah.traffic_class, 0x28);
	assert_int_equal(a.ah.hop_limit, 64);
	assert_int_equal(p.ah.hop_limit, 64);
	assert_int_equal(a.ah.dgid[15], 2);
	assert_int_equal(p.ah.dgid[15], 1);
	assert_int_equal(core_cm_qp_attr(cm_world.active.cm, 3, &a, &mask), 0);
	assert_int_equal(core_cm_qp_attr(cm_world.passive.cm, 3, &p, &mask), 0);
	assert_int_equal(a.timeout, 19);
	assert_int_equal(p.timeout, 19);
	cm_world_end();
}

/* What a REP says of who accepts: its queue pair, and the vendor of its enhancements. */
static void says_who_accepts(void **state)
{
	(void)state;
	cm_world_call(QPT_RC);
	cm_world_go_on(3);
	assert_int_equal(cm_world.rep.local_qpn, 0x222);
	assert_int_equal(cm_world.rep.local_eecn, 0);
	assert_int_equal(cm_world.rep.srq, 0);
	assert_int_equal(cm_world.rep.vendor_id_high, 0xab);
	assert_int_equal(cm_world.rep.vendor_id_middle, 0xcd);
	assert_int_equal(cm_world.rep.vendor_id_low, 0xef);
	assert_int_equal(cm_world.ece_options, 0x223);
	cm_world_end();
}

/* Who gives up says so with its channel adapter's GUID (12.6.7.2, code 4). */
static void gives_up_by_name(void **state)
{
	static const uint8_t guid[8] = {[7] = 1};

	(void)state;
	cm_world.lose_all = true;
	cm_world_call(QPT_RC);
	cm_world_wait(100 * SECOND);
	assert_true(cm_end_heard(&cm_world.active, CORE_CM_UNREACHABLE));
	assert_int_equal(cm_world.rej.reason, ROCE_CM_REJ_TIMEOUT);
	assert_int_equal(cm_world.rej.info_length, sizeof(guid));
	assert_memory_equal(cm_world.rej.ari, guid, sizeof(guid));
	cm_world_end();
}

/* Annex A14: the receiving end names its QP in the field of end-to-end contexts. */
static void connects_xrc(void **state)
{
	struct uhca_abi_qp_attr a;
	uint32_t mask;

	(void)state;
	cm_world_call(QPT_XRC_SEND);
	cm_world_go_on(3);
	assert_int_equal(cm_world.request.param.qp_type, QPT_XRC_RECV);
	assert_int_equal(cm_world.rep.local_eecn, 0x222);
	assert_int_equal(cm_world.rep.local_qpn, 0);
	assert_int_equal(cm_world.rep.srq, 1);
	assert_int_equal(core_cm_qp_attr(cm_world.active.cm, 2, &a, &mask), 0);
	assert_int_equal(a.dest_qp_num, 0x222);
	cm_world_end();
}

static void rejects(void **state)
{
	static const uint8_t data = 0xc3;
	struct core_cm_param p = cm_world_param(0, QPT_RC, &data);

	(void)state;
	cm_world_call(QPT_RC);
	cm_world_wait(SECOND / 2);
	assert_int_equal(
		core_cm_reject(cm_world.passive.cm, ROCE_CM_REJ_CONSUMER, &p, cm_world.now), 0);
	cm_world_wait(SECOND / 2);
	assert_true(cm_end_heard(&cm_world.active, CORE_CM_REJECTED));
	assert_int_equal(cm_world.active.status[0], ROCE_CM_REJ_CONSUMER);
	assert_int_equal(cm_world.active.data[0], 0xc3);
	cm_world_end();
}

static void nobody_listens(void **state)
{
	(void)state;
	cm_world.listening = false;
	cm_world_call(QPT_RC);
	cm_world_wait(SECOND / 2);
	assert_true(cm_end_heard(&cm_world.active, CORE_CM_REJECTED));
	assert_int_equal(cm_world.active.status[0], ROCE_CM_REJ_INVALID_SERVICE_ID);
	cm_world_end();
}

/* Who has no room now drops the REQ; it comes again, and finds room. */
static void there_is_no_room(void **state)
{
	(void)state;
	cm_world.full = true;
	cm_world_call(QPT_RC);
	cm_world_wait(3 * SECOND);
	assert_int_equal(cm_world.active.n, 0);
	assert_int_equal(cm_world.rej.reason, 0);
	assert_int_equal(core_cm_count(cm_world.dev[1]), 0);
	cm_world.full = false;
	cm_world_go_on(3);
	assert_true(cm_end_heard(&cm_world.passive, CORE_CM_ESTABLISHED));
	cm_world_end();
}

/* It comes 16 times in all. */
static void there_is_never_room(void **state)
{
	(void)state;
	cm_world.full = true;
	cm_world_call(QPT_RC);
	cm_world_wait(60 * SECOND);
	assert_int_equal(cm_world.active.n, 1);
	assert_true(cm_end_heard(&cm_world.active, CORE_CM_UNREACHABLE));
	assert_int_equal(cm_world.active.status[0], -ETIMEDOUT);
	assert_int_equal(cm_world.sent, 16 + 1); /* and the REJ of who gives up */
	cm_world_end();
}

/* A datagram's request is refused: so does the kernel. */
static void there_is_no_room_for_datagrams(void **state)
{
	(void)state;
	cm_world.full = true;
	cm_world_call(QPT_UD);
	cm_world_wait(SECOND / 2);
	assert_true(cm_end_heard(&cm_world.active, CORE_CM_UNREACHABLE));
	assert_int_equal(cm_world.active.status[0], ROCE_CM_SIDR_REJECT);
	cm_world_end();
}

/* What waits is given up for another: its repetition is a new request. */
static void a_request_is_forgotten(void **state)
{
	struct cm *first;

	(void)state;
	cm_world_call(QPT_RC);
	cm_world_wait(SECOND / 2);
	first = cm_world.passive.cm;
	assert_non_null(first);
	core_cm_forget(first, cm_world.now);
	cm_world.passive = (struct cm_end){0};
	assert_int_equal(core_cm_count(cm_world.dev[1]), 0);
	cm_world_go_on(3);
	assert_true(cm_end_heard(&cm_world.passive, CORE_CM_ESTABLISHED));
	assert_false(cm_end_heard(&cm_world.active, CORE_CM_REJECTED));
	cm_world_end();
}

static void nobody_is_there(void **state)
{
	(void)state;
	cm_world.lose_all = true;
	cm_world_call(QPT_RC);
	cm_world_wait(60 * SECOND);
	assert_true(cm_end_heard(&cm_world.active, CORE_CM_UNREACHABLE));
	assert_int_equal(cm_world.active.status[0], -ETIMEDOUT);
	cm_world_end();
}

static void resolves_a_service(void **state)
{
	(void)state;
	cm_world_call(QPT_UD);
	cm_world_go_on(3);
	assert_true(cm_end_heard(&cm_world.active, CORE_CM_ESTABLISHED));
	assert_int_equal(cm_world.active.param.qpn, 0x222);
	assert_int_equal(cm_world.active.param.qkey, 0x1234);
	assert_int_equal(cm_world.sent, 2);
	cm_world_end();
}

static void a_datagram_message_is_lost(void **state)
{
	for (unsigned lost = 0; lost < 2; lost++) {
		if (lost > 0) {
			cm_world_finish(state);
			cm_world_start(state);
		}
		cm_world.lose = lost;
		cm_world_call(QPT_UD);
		cm_world_go_on(5);
		assert_true(cm_end_heard(&cm_world.active, CORE_CM_ESTABLISHED));
		cm_world_end();
	}
}

/* A program that takes its time is waited for. */
static void a_slow_program_is_waited_for(void **state)
{
	(void)state;
	cm_world_call(QPT_RC);
	cm_world_wait(50 * SECOND);
	assert_int_equal(cm_world.active.n, 0);
	cm_world_go_on(3);
	assert_true(cm_end_heard(&cm_world.passive, CORE_CM_ESTABLISHED));
	cm_world_end();
}

/* An MRA may ask for hours; nobody waits that long for a peer that is gone. */
static void page_worker_has_an_end(void **state)
{
	(void)state;
	cm_world.patient = true;
	cm_world_call(QPT_RC);
	cm_world_wait(20 * SECOND);
	assert_int_equal(cm_world.active.n, 0);
	cm_world.lose_all = true;
	cm_world_wait(200 * SECOND);
	assert_true(cm_end_heard(&cm_world.active, CORE_CM_UNREACHABLE));
	cm_world_end();
}

/* Who is not the peer can say what it likes: nobody hears it. */
static void others_are_not_heard(void **state)
{
	static const uint16_t kind[] = {ROCE_CM_REP,  ROCE_CM_RTU,  ROCE_CM_REJ,
					ROCE_CM_DREQ, ROCE_CM_DREP, ROCE_CM_REQ};
	struct core_cm_param none = {.qp_type = QPT_RC};

	for (unsigned i = 0; i < sizeof(kind) / sizeof(kind[0]); i++) {
		if (i > 0)
			assert_int_equal(cm_world_start(state), 0);
		cm_world.spoken = kind[i];
		cm_world.spoken_first = kind[i] == ROCE_CM_REQ;
		cm_world_call(QPT_RC);
		if (kind[i] == ROCE_CM_REJ) {
			cm_world_wait(SECOND / 2);
			assert_int_equal(
				core_cm_reject(cm_world.passive.cm, 28, &none, cm_world.now), 0);
		}
		cm_world_go_on(kind[i] == ROCE_CM_REJ ? 0 : 3);
		assert_int_equal(cm_end_heard(&cm_world.active, CORE_CM_REPLIED),
				 kind[i] != ROCE_CM_REP && kind[i] != ROCE_CM_REJ);
		assert_int_equal(cm_end_heard(&cm_world.passive, CORE_CM_ESTABLISHED),
				 kind[i] != ROCE_CM_REP && kind[i] != ROCE_CM_REJ &&
					 kind[i] != ROCE_CM_RTU);
		assert_int_equal(cm_world.stranger.cm != NULL, kind[i] == ROCE_CM_REQ);
		if (kind[i] == ROCE_CM_DREQ || kind[i] == ROCE_CM_DREP)
			assert_int_equal(core_cm_disconnect(cm_world.active.cm, cm_world.now), 0);
		cm_world_wait(SECOND / 2);
		if (kind[i] == ROCE_CM_DREP)
			assert_int_equal(core_cm_disconnect(cm_world.passive.cm, cm_world.now), 0);
		cm_world_wait(SECOND / 2);
		assert_false(cm_end_heard(&cm_world.active, CORE_CM_REJECTED));
		assert_false(cm_end_heard(&cm_world.active, CORE_CM_DISCONNECTED));
		assert_int_equal(cm_end_heard(&cm_world.passive, CORE_CM_DISCONNECTED),
				 kind[i] == ROCE_CM_DREP);
		if (cm_world.stranger.cm)
			core_cm_destroy(cm_world.stranger.cm, cm_world.now);
		cm_world_end();
		if (i + 1 < sizeof(kind) / sizeof(kind[0]))
			assert_int_equal(cm_world_finish(state), 0);
	}
}

/* 12.9.8.3.1 lets a host end its own connections by asking again, and nobody else's. */
static void others_do_not_end_it(void **state)
{
	uint8_t mad[ROCE_MAD_LENGTH];
	struct core_burst t;
	uint8_t buf[65536];

	(void)state;
	cm_world_call(QPT_RC);
	assert_true(core_tx_next(cm_world.dev[0], cm_world.now, buf, sizeof(buf), &t));
	memcpy(mad, t.iov[0].iov_base, sizeof(mad));
	core_rx(cm_world.dev[1], cm_world.now, &t);
	cm_world_go_on(3);
	assert_true(cm_end_heard(&cm_world.passive, CORE_CM_ESTABLISHED));
	cm_world.spoken = ROCE_CM_REQ;
	cm_world.new_id = 0x12345;
	t.iov[0].iov_base = mad;
	assert_true(cm_world_speak(cm_world.dev[1], &t));
	cm_world_wait(SECOND);
	assert_false(cm_end_heard(&cm_world.passive, CORE_CM_DISCONNECTED));
	assert_false(cm_end_heard(&cm_world.active, CORE_CM_DISCONNECTED));
	assert_non_null(cm_world.stranger.cm); /* it is a request as any other */
	core_cm_destroy(cm_world.stranger.cm, cm_world.now);
	cm_world_end();
}

/* The request in mad as each device of a host sends it: the number is the same, the GUID is not. */
static void speak_as_a_crowd(const struct core_burst *t, const uint8_t mad[ROCE_MAD_LENGTH])
{
	uint8_t own[ROCE_MAD_LENGTH];
	struct core_burst copy = *t;
	struct roce_cm_msg msg;

	assert_true(roce_cm_parse(mad, &msg));
	copy.iov[0].iov_base = own;
	for (unsigned i = 0; i < CROWD; i++) {
		msg.req.local_ca_guid = 1000 + i;
		memcpy(own, mad, sizeof(own));
		assert_true(roce_cm_emit(&msg, own));
		core_rx(cm_world.dev[1], cm_world.now, &copy);
	}
}

/* Of whom a request is, its number and the GUID of its channel adapter say together. */
static void devices_of_one_host_are_told_apart(void **state)
{
	uint8_t mad[ROCE_MAD_LENGTH], buf[65536];
	struct core_burst t;

	(void)state;
	cm_world_call(QPT_RC);
	assert_true(core_tx_next(cm_world.dev[0], cm_world.now, buf, sizeof(buf), &t));
	memcpy(mad, t.iov[0].iov_base, sizeof(mad));
	cm_world.crowded = true;
	speak_as_a_crowd(&t, mad);
	assert_int_equal(cm_world.n_crowd, CROWD);
	speak_as_a_crowd(&t, mad); /* the same once more: on_request would not find room */
	assert_int_equal(cm_world.n_crowd, CROWD);
	for (unsigned i = 0; i < CROWD; i++)
		core_cm_destroy(cm_world.crowd[i], cm_world.now);
	core_cm_destroy(cm_world.active.cm, cm_world.now);
}

static void wrong_calls_are_refused(void **state)
{
	struct core_cm_param none = {0};

	(void)state;
	cm_world.active.cm = core_cm_create(cm_world.dev[0], &cm_world.active);
	assert_int_equal(core_cm_accept(cm_world.active.cm, &none, 0), -EINVAL);
	assert_int_equal(core_cm_ready(cm_world.active.cm, &none, 0), -EINVAL);
	assert_int_equal(core_cm_reject(cm_world.active.cm, 28, &none, 0), -EINVAL);
	assert_int_equal(core_cm_disconnect(cm_world.active.cm, 0), -EINVAL);
	assert_int_equal(core_cm_established(cm_world.active.cm, 0), -EINVAL);
	cm_world_end();
}

/*
 * Numbers and GUIDs that a stranger chose so that each pair has the same exclusive or: they are not
 * in one bucket, of which each message would look at all.
 */
static void chosen_numbers_are_apart(void **state)
{
	struct cm *cm[STRANGERS];
	unsigned buckets = 0;

	(void)state;
	for (uint32_t i = 0; i < STRANGERS; i++) {
		cm[i] = cm_create(cm_world.dev[0], &cm_world.stranger);
		assert_non_null(cm[i]);
		cm[i]->remote_id = i * 977;
		cm[i]->remote_guid = (i * 977) ^ SERVICE_ID;
		cm_add_passive(cm[i]);
	}
	for (unsigned i = 0; i < CM_BUCKETS; i++)
		buckets += !list_empty(&cm_world.dev[0]->cm->passive[i]);
	assert_true(buckets > STRANGERS / 2);
	for (uint32_t i = 0; i < STRANGERS; i++)
		cm_free(cm[i]);
}

/*
 * An owner has as many ends as it leaves to the others; those it has dropped count until they go.
 */
static void an_owner_has_a_share(void **state)
{
	static struct cm *cm[CM_MAX_IDS / 2];
	struct device *dev = cm_world.dev[0];
	struct cm *more;
	unsigned n;

	(void)state;
	for (n = 0; n < CM_MAX_IDS / 2; n++) {
		cm[n] = core_cm_create(dev, NULL);
		assert_non_null(cm[n]);
		if (core_cm_charge(cm[n], 7) < 0)
			break;
	}
	assert_in_range(n, CM_MAX_IDS / 2 - 2, CM_MAX_IDS / 2);
	assert_int_equal(core_cm_charge(cm[0], 7), 0); /* it counts once */
	more = core_cm_create(dev, NULL);
	assert_int_equal(core_cm_charge(more, 7), -ENOMEM);
	assert_int_equal(core_cm_charge(more, 7 + CM_ACCOUNT_BUCKETS), 0);
	core_cm_destroy(more, 0);
	while (n-- > 0)
		core_cm_destroy(cm[n], 0);
	more = core_cm_create(dev, NULL);
	assert_int_equal(core_cm_charge(more, 7), 0);
	core_cm_destroy(more, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(connects, cm_world_start, cm_world_finish),
		cmocka_unit_test_setup_teardown(an_owner_has_a_share, cm_world_start,
						cm_world_finish),
		cmocka_unit_test_setup_teardown(chosen_numbers_are_apart, cm_world_start,
						cm_world_finish),
		cmocka_unit_test_setup_teardown(says_what_init_needs, cm_world_start,
						cm_world_finish),
		cmocka_unit_test_setup_teardown(connects_xrc, cm_world_start, cm_world_finish),
		cmocka_unit_test_setup_teardown(says_who_accepts, cm_world_start, cm_world_finish),
		cmocka_unit_test_setup_teardown(gives_up_by_name, cm_world_start, cm_world_finish),
		cmocka_unit_test_setup_teardown(rejects, cm_world_start, cm_world_finish),
		cmocka_unit_test_setup_teardown(nobody_listens, cm_world_start, cm_world_finish),
		cmocka_unit_test_setup_teardown(there_is_no_room, cm_world_start, cm_world_finish),
		cmocka_unit_test_setup_teardown(there_is_never_room, cm_world_start,
						cm_world_finish),
		cmocka_unit_test_setup_teardown(there_is_no_room_for_datagrams, cm_world_start,
						cm_world_finish),
		cmocka_unit_test_setup_teardown(a_request_is_forgotten, cm_world_start,
						cm_world_finish),
		cmocka_unit_test_setup_teardown(nobody_is_there, cm_world_start, cm_world_finish),
		cmocka_unit_test_setup_teardown(resolves_a_service, cm_world_start,
						cm_world_finish),
		cmocka_unit_test_setup_teardown(a_datagram_message_is_lost, cm_world_start,
						cm_world_finish),
		cmocka_unit_test_setup_teardown(a_slow_program_is_waited_for, cm_world_start,
						cm_world_finish),
		cmocka_unit_test_setup_teardown(page_worker_has_an_end, cm_world_start,
						cm_world_finish),
		cmocka_unit_test_setup_teardown(others_are_not_heard, cm_world_start,
						cm_world_finish),
		cmocka_unit_test_setup_teardown(others_do_not_end_it, cm_world_start,
						cm_world_finish),
		cmocka_unit_test_setup_teardown(devices_of_one_host_are_told_apart, cm_world_start,
						cm_world_finish),
		cmocka_unit_test_setup_teardown(wrong_calls_are_refused, cm_world_start,
						cm_world_finish),
		cmocka_unit_test_setup_teardown(agrees_on_the_path, cm_world_start,
						cm_world_finish),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
