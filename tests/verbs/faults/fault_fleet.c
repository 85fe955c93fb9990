/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What happens to the adapters of a fleet, and what a program sees of it: a link that flaps,
 * addresses that go and come back elsewhere, another MTU, P_Key and speed, adapters that vanish,
 * reset themselves or hang, bytes that are wrong under a right checksum. Run by fault_layers.sh.
 */
#include "tests/support/verbs/faulty.h"
#include "tests/support/wire/cmocka_all.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PORT 1
#define PART 50 /* ms, of the flap */

static void now(const char *action, int devices)
{
	struct uhcactl_error error;

	if (uhcactl_fault_now(faulty_ctl(), action, &error) != devices)
		fail_msg("%s: %s", action, error.text);
}

static void expect(struct ibv_context *ctx, int type)
{
	assert_int_equal(faulty_event(ctx).event_type, type);
}

static struct ibv_port_attr port(struct ibv_context *ctx)
{
	struct ibv_port_attr a;

	assert_int_equal(ibv_query_port(ctx, PORT, &a), 0);
	return a;
}

/* The first line of a file of uhca0's port; false, with errno, when it cannot be read. */
static bool file(const char *name, char line[64])
{
	char path[512];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/sys/class/infiniband/uhca0/ports/1/%s", getenv("UHCA_DIR"),
		 name);
	fd = open(path, O_RDONLY);
	assert_true(fd >= 0);
	n = read(fd, line, 63);
	line[n > 0 ? n : 0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	close(fd);
	return n >= 0;
}

static void expect_file(const char *name, const char *text)
{
	char line[64];

	assert_true(file(name, line));
	assert_string_equal(line, text);
}

/* Sends so many bytes to itself; with status the first completion that is a failure. */
static enum ibv_wc_status send_bytes(struct world *w, struct ibv_qp *qp, uint32_t bytes)
{
	struct ibv_sge out = {(uintptr_t)w->memory, bytes, w->mr->lkey};
	struct ibv_sge in = {(uintptr_t)w->memory + WORLD_SIZE / 2, bytes, w->mr->lkey};
	struct ibv_send_wr send = {.sg_list = &out, .num_sge = 1, .opcode = IBV_WR_SEND}, *bad;
	struct ibv_recv_wr recv = {.sg_list = &in, .num_sge = 1}, *bad_recv;
	enum ibv_wc_status status = IBV_WC_SUCCESS;
	struct ibv_wc wc;

	assert_int_equal(ibv_post_recv(qp, &recv, &bad_recv), 0);
	assert_int_equal(ibv_post_send(qp, &send, &bad), 0);
	for (unsigned i = 0; i < 2; i++) {
		world_poll(w->cq, &wc);
		if (status == IBV_WC_SUCCESS)
			status = wc.status;
	}
	return status;
}

/* ---- the port ---- */

static void test_flap(void **state)
{
	struct world *w = *state;
	union ibv_gid before, after;
	uint64_t begin = faulty_now();

	assert_int_equal(ibv_query_gid(w->ctx, PORT, 0, &before), 0);
	now("port.flap=down:50ms,up:50ms,times:2 dev=uhca0", 1);
	for (unsigned i = 0; i < 2; i++) {
		expect(w->ctx, IBV_EVENT_PORT_ERR);
		expect(w->ctx, IBV_EVENT_PORT_ACTIVE);
	}
	assert_true(faulty_now() - begin >= 3 * PART - 1);
	assert_int_equal(port(w->ctx).state, IBV_PORT_ACTIVE);
	expect_file("state", "4: ACTIVE");
	assert_int_equal(ibv_query_gid(w->ctx, PORT, 0, &after), 0);
	assert_memory_equal(&before, &after, sizeof(before));
	assert_true(faulty_quiet(w->ctx) && faulty_quiet(w->other));
}

static void test_mtu(void **state)
{
	struct world *w = *state;
	struct ibv_qp *old = world_qp(w, NULL), *young;
	struct ibv_qp_init_attr init = world_init_attr(w, IBV_QPT_RC);
	struct ibv_qp_attr rtr = {.qp_state = IBV_QPS_RTR,
				  .path_mtu = IBV_MTU_1024,
				  .max_dest_rd_atomic = 1,
				  .ah_attr = world_own_address(w->ctx)};

	now("port.mtu=600 dev=uhca0", 1);
	assert_int_equal(port(w->ctx).active_mtu, IBV_MTU_512);
	assert_true(faulty_quiet(w->ctx)); /* there is no such event */
	young = ibv_create_qp(w->pd, &init);
	world_connect(young, young->qp_num, IBV_QPS_INIT);
	assert_int_equal(ibv_modify_qp(young, &rtr,
				       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
					       IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
					       IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
			 EINVAL);
	/* What is short arrives, what is long does not: so it looks in the field. */
	assert_int_equal(send_bytes(w, old, 512), IBV_WC_SUCCESS);
	assert_int_equal(send_bytes(w, old, 1024), IBV_WC_RETRY_EXC_ERR);
	now("port.mtu=65536 dev=uhca0", 1);
	assert_int_equal(port(w->ctx).active_mtu, IBV_MTU_4096);
	assert_int_equal(ibv_destroy_qp(young), 0);
	assert_int_equal(ibv_destroy_qp(old), 0);
}

/* Both ends are this device: they stay in one partition, and find themselves alone in none. */
static void test_pkey(void **state)
{
	struct world *w = *state;
	struct ibv_qp *qp = world_qp(w, NULL);
	__be16 pkey;

	now("port.pkey=0x8001 dev=uhca0", 1);
	expect(w->ctx, IBV_EVENT_PKEY_CHANGE);
	assert_int_equal(ibv_query_pkey(w->ctx, PORT, 0, &pkey), 0);
	assert_int_equal(ntohs(pkey), 0x8001);
	world_assert_works(w, qp);
	/* Two limited members do not hear each other. */
	now("port.pkey=0x0001 dev=uhca0", 1);
	expect(w->ctx, IBV_EVENT_PKEY_CHANGE);
	assert_int_equal(send_bytes(w, qp, 8), IBV_WC_RETRY_EXC_ERR);
	now("port.pkey=0xffff dev=uhca0", 1);
	expect(w->ctx, IBV_EVENT_PKEY_CHANGE);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

static void test_speed(void **state)
{
	struct world *w = *state;
	struct ibv_qp *qp = world_qp(w, NULL);
	struct ibv_port_attr a;
	uint64_t begin;

	now("port.speed=400gbit dev=uhca0", 1);
	assert_int_equal(faulty_event(w->ctx).event_type, 20); /* DEVICE_SPEED_CHANGE */
	a = port(w->ctx);
	assert_int_equal(a.active_width, 2);
	assert_int_equal(a.active_speed, 128);
	expect_file("rate", "400 Gb/sec (4X NDR)");
	now("port.speed=800gbit dev=uhca0", 1);
	assert_int_equal(faulty_event(w->ctx).event_type, 20);
	assert_int_equal(port(w->ctx).active_speed, 128); /* XDR has no bit there */
	now("port.speed=800gbit dev=uhca0", 1);
	assert_true(faulty_quiet(w->ctx));
	/* 64 messages of two packets, and their ACKs, are more than a megabit. */
	now("port.speed=100mbit dev=uhca0", 1);
	assert_int_equal(faulty_event(w->ctx).event_type, 20);
	begin = faulty_now();
	for (unsigned i = 0; i < 64; i++)
		world_assert_works(w, qp);
	assert_true(faulty_now() - begin >= 10);
	now("port.speed=100gbit dev=uhca0", 1);
	assert_int_equal(faulty_event(w->ctx).event_type, 20);
	expect_file("rate", "100 Gb/sec (4X EDR)");
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

/* ---- GIDs ---- */

static bool is_empty(struct ibv_context *ctx, int index)
{
	static const union ibv_gid none;
	union ibv_gid gid;

	assert_int_equal(ibv_query_gid(ctx, PORT, index, &gid), 0);
	return memcmp(&gid, &none, sizeof(gid)) == 0;
}

static int first_empty(struct ibv_context *ctx)
{
	int i = 0;

	while (!is_empty(ctx, i))
		i++;
	return i;
}

static void expect_gone(struct ibv_context *ctx, unsigned index)
{
	struct ibv_gid_entry entry;
	char name[32], line[64];

	assert_true(is_empty(ctx, (int)index));
	assert_int_equal(ibv_query_gid_ex(ctx, PORT, index, &entry, 0), ENODATA);
	snprintf(name, sizeof(name), "gids/%u", index);
	expect_file(name, "0000:0000:0000:0000:0000:0000:0000:0000");
	snprintf(name, sizeof(name), "gid_attrs/types/%u", index);
	assert_false(file(name, line));
	assert_int_equal(errno, EINVAL);
}

/* The place of an entry that a QP holds stays empty, and is free when the QP has gone. */
static void test_gid_held(void **state)
{
	struct world *w = *state;
	struct ibv_qp *qp = world_qp(w, NULL);
	struct ibv_ah_attr ah = world_own_address(w->ctx);
	const int free_place = first_empty(w->ctx);
	char text[64];
	union ibv_gid old, back;

	assert_int_equal(ibv_query_gid(w->ctx, PORT, 0, &old), 0);
	now("gid.empty=0 dev=uhca0", 1);
	expect(w->ctx, IBV_EVENT_GID_CHANGE);
	assert_true(faulty_quiet(w->ctx)); /* one entry, one event */
	expect_gone(w->ctx, 0);
	assert_null(ibv_create_ah(w->pd, &ah));
	assert_int_equal(errno, EINVAL);
	assert_int_equal(send_bytes(w, qp, 8), IBV_WC_RETRY_EXC_ERR);
	now("gid.add dev=uhca0", 1);
	expect(w->ctx, IBV_EVENT_GID_CHANGE);
	assert_true(is_empty(w->ctx, 0));
	assert_int_equal(ibv_query_gid(w->ctx, PORT, free_place, &back), 0);
	assert_memory_equal(&old, &back, sizeof(old));
	snprintf(text, sizeof(text), "gid_attrs/types/%d", free_place);
	expect_file(text, "RoCE v2");
	assert_int_equal(ibv_destroy_qp(qp), 0);
	snprintf(text, sizeof(text), "gid.move=%d:0 dev=uhca0", free_place);
	now(text, 1);
	expect(w->ctx, IBV_EVENT_GID_CHANGE);
	expect(w->ctx, IBV_EVENT_GID_CHANGE);
	qp = world_qp(w, NULL);
	world_assert_works(w, qp);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

/* With nobody to hold them they come back to where they were, by themselves. */
static void test_gid_returns(void **state)
{
	struct world *w = *state;
	union ibv_gid old, back;

	assert_int_equal(ibv_query_gid(w->ctx, PORT, 0, &old), 0);
	now("gid.empty=0 time=30ms dev=uhca0", 1);
	expect(w->ctx, IBV_EVENT_GID_CHANGE);
	expect(w->ctx, IBV_EVENT_GID_CHANGE);
	assert_int_equal(ibv_query_gid(w->ctx, PORT, 0, &back), 0);
	assert_memory_equal(&old, &back, sizeof(old));
	assert_true(faulty_quiet(w->ctx) && faulty_quiet(w->other));
}

/* ---- the device ---- */

/* The name of its uverbs; "" when it is in no list. */
static void uverbs_of(const char *name, char out[64])
{
	int n;
	struct ibv_device **list = ibv_get_device_list(&n);

	assert_non_null(list);
	out[0] = '\0';
	for (int i = 0; i < n; i++)
		if (strcmp(ibv_get_device_name(list[i]), name) == 0)
			snprintf(out, 64, "%s", list[i]->dev_name);
	ibv_free_device_list(list);
}

static void wait_for_device(const char *name, char uverbs[64])
{
	uint64_t end = faulty_now() + FAULTY_DEADLINE;

	for (uverbs_of(name, uverbs); !uverbs[0]; uverbs_of(name, uverbs)) {
		assert_true(faulty_now() < end);
		poll(NULL, 0, 2);
	}
}

/* Its link is up, and its first GID is there: what is due after a return comes soon. */
static void wait_for_port(struct ibv_context *ctx)
{
	uint64_t end = faulty_now() + FAULTY_DEADLINE;

	while (port(ctx).state != IBV_PORT_ACTIVE || is_empty(ctx, 0)) {
		assert_true(faulty_now() < end);
		poll(NULL, 0, 2);
	}
}

/* Who had it open has lost it; who opens it later finds it working. */
static void expect_dead_and_back(struct world *w)
{
	struct ibv_context *again;

	assert_null(ibv_alloc_pd(w->other));
	assert_int_equal(errno, EIO);
	again = world_open("uhca1");
	assert_int_equal(ibv_dealloc_pd(ibv_alloc_pd(again)), 0);
	wait_for_port(again);
	assert_int_equal(ibv_close_device(again), 0);
	assert_null(ibv_alloc_pd(w->other));
	assert_true(faulty_quiet(w->ctx));
}

static void test_unplug(void **state)
{
	struct world *w = *state;
	char away[64], after[64];

	now("dev.unplug dev=uhca1", 1);
	expect(w->other, IBV_EVENT_DEVICE_FATAL);
	uverbs_of("uhca1", away);
	assert_string_equal(away, "");
	now("dev.reset dev=uhca1", 1); /* what is not there has no reset */
	uverbs_of("uhca1", away);
	assert_string_equal(away, "");
	now("dev.unplug=1ms dev=uhca0", 1);
	expect(w->ctx, IBV_EVENT_DEVICE_FATAL);
	wait_for_device("uhca0", after);
}

static void test_unplug_and_return(void **state)
{
	struct world *w = *state;
	char before[64], after[64];

	uverbs_of("uhca1", before);
	now("dev.hang time=20ms dev=uhca1", 1); /* of which nothing is left then */
	now("dev.unplug=30ms dev=uhca1", 1);
	expect(w->other, IBV_EVENT_DEVICE_FATAL);
	now("port.flap=down:1ms,up:1ms,times:2 dev=uhca1", 1); /* it may be away, or back */
	now("gid.empty=0 time=1ms dev=uhca1", 1);
	wait_for_device("uhca1", after);
	assert_string_not_equal(before, after);
	expect_dead_and_back(w);
}

static void test_reset(void **state)
{
	struct world *w = *state;
	char before[64], after[64];

	uverbs_of("uhca1", before);
	now("dev.reset=10ms dev=uhca1", 1);
	expect(w->other, IBV_EVENT_DEVICE_FATAL);
	wait_for_device("uhca1", after);
	assert_string_equal(before, after);
	expect_dead_and_back(w);
}

/* Requests are taken and not executed, commands time out; then it all goes on. */
static void test_hang(void **state)
{
	struct world *w = *state;
	struct ibv_qp *qp = world_qp(w, NULL);
	struct ibv_sge sge = {(uintptr_t)w->memory, 8, w->mr->lkey};
	struct ibv_send_wr send = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND}, *bad;
	struct ibv_recv_wr recv = {.sg_list = &sge, .num_sge = 1}, *bad_recv;
	struct ibv_wc wc;

	now("dev.hang time=20ms dev=uhca0", 1);
	assert_int_equal(ibv_post_recv(qp, &recv, &bad_recv), 0);
	assert_int_equal(ibv_post_send(qp, &send, &bad), 0);
	assert_null(ibv_alloc_pd(w->ctx));
	assert_int_equal(errno, ETIMEDOUT);
	assert_int_equal(ibv_poll_cq(w->cq, 1, &wc), 0);
	assert_true(faulty_quiet(w->ctx)); /* nobody says so */
	assert_int_equal(ibv_dealloc_pd(ibv_alloc_pd(w->other)), 0);
	now("dev.hang=1ms time=20ms dev=uhca0", 1);
	for (unsigned i = 0; i < 2; i++) {
		world_poll(w->cq, &wc);
		assert_int_equal(wc.status, IBV_WC_SUCCESS);
	}
	world_assert_works(w, qp);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

/* ---- bytes ---- */

/* The completion is a success, and byte 1500 of the message, in its second packet, is wrong. */
static void test_silent(void **state)
{
	struct world *w = *state;
	struct ibv_qp *qp = world_qp(w, NULL);
	int rule = faulty_add("corrupt=silent:1500 opcode=send nth=1");
	uint64_t bad_icrc;

	memset(w->memory, 0x5a, WORLD_SIZE);
	assert_int_equal(send_bytes(w, qp, 2048), IBV_WC_SUCCESS);
	for (unsigned i = 0; i < 2048; i++)
		assert_int_equal(w->memory[WORLD_SIZE / 2 + i], i == 1500 ? 0x5b : 0x5a);
	assert_int_equal(uhcactl_counter(faulty_ctl(), "uhca0", "bad_icrc", &bad_icrc, NULL), 0);
	assert_int_equal(bad_icrc, 0);
	faulty_end(rule, 1);
	world_assert_works(w, qp);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

/* Where it goes, from which port, with which DSCP. */
static void test_selectors(void **state)
{
	struct world *w = *state;
	struct ibv_qp *qp = world_qp(w, NULL);
	int nowhere = faulty_add("drop to=10.0.0.0/8 opcode=send");
	int other = faulty_add("drop dscp=63 opcode=send");
	int low = faulty_add("drop sport<=1024 opcode=send");
	int here = faulty_add("drop to=10.0.0.0/8,127.0.0.0/8 dscp=0 sport>1024 opcode=send nth=1");

	world_assert_works(w, qp);
	faulty_end(here, 1);
	faulty_end(nowhere, 0);
	faulty_end(other, 0);
	faulty_end(low, 0);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, faulty_setup, faulty_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_flap),
		CASE(test_mtu),
		CASE(test_pkey),
		CASE(test_speed),
		CASE(test_gid_held),
		CASE(test_gid_returns),
		CASE(test_hang),
		CASE(test_silent),
		CASE(test_selectors),
		CASE(test_unplug_and_return),
		CASE(test_reset),
		/* Last: uhca1 stays away. */
		cmocka_unit_test_setup_teardown(test_unplug, faulty_setup, faulty_teardown),
	};

	return cmocka_run_group_tests_name("fault_fleet", tests, NULL, NULL);
}
