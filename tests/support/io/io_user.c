/* SPDX-License-Identifier: BSD-2-Clause */
#include "io_user.h"

#include "emu/io/base/clock.h"
#include "tests/support/wire/cmocka_all.h"

#include <netinet/in.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ACCESS                                                                                     \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |               \
	 IBV_ACCESS_REMOTE_ATOMIC)

static void *map(int fd, size_t size, int prot)
{
	void *at = mmap(NULL, size, prot, MAP_SHARED, fd, 0);

	assert_true(at != MAP_FAILED);
	return at;
}

/* All pages are there: one that the page worker has to bring may come too late for a test. */
static void reg_memory(struct io_user *u)
{
	struct uhca_cmd_reg_mr in = {.addr = (uintptr_t)u->memory,
				     .length = sizeof(u->memory),
				     .iova = (uintptr_t)u->memory,
				     .pd = u->pd,
				     .access = ACCESS};
	struct uhca_cmd_reg_mr_reply reply;

	memset(u->memory, 0, sizeof(u->memory));
	assert_int_equal(io_test_call(&u->c, UHCA_CMD_REG_MR, &in, sizeof(in)), 0);
	memcpy(&reply, &u->c.reply, sizeof(reply));
	u->mr = reply.handle;
	u->lkey = reply.lkey;
	u->rkey = reply.rkey;
}

void io_user_open(struct io_user *u, struct io_daemon *d, const char *device)
{
	io_test_hello(&u->c, d, device);
	u->dev = io_devices_find(&d->devices, device, strlen(device) + 1);
	u->status = map(u->c.fd[0], sizeof(*u->status), PROT_READ);
	u->bell = map(u->c.fd[1], sizeof(*u->bell), PROT_READ | PROT_WRITE);
	u->event = dup(u->c.fd[2]);
	assert_int_equal(io_test_handle(&u->c, UHCA_CMD_ALLOC_PD, 0, &u->pd), 0);
	reg_memory(u);
}

void io_user_close(struct io_user *u)
{
	munmap(u->status, sizeof(*u->status));
	munmap(u->bell, sizeof(*u->bell));
	close(u->event);
	io_test_disconnect(&u->c);
}

static void unmap_qp(struct io_user_qp *q)
{
	munmap(q->region, q->at.region_size);
	munmap(q->cq_region, q->cq_at.region_size);
}

void io_user_forget(struct io_user *u, struct io_user_qp *q)
{
	unmap_qp(q);
	munmap(u->status, sizeof(*u->status));
	munmap(u->bell, sizeof(*u->bell));
	close(u->event);
	for (unsigned i = 0; i < u->c.n_fds; i++)
		close(u->c.fd[i]);
	close(u->c.sock);
	close(u->c.async);
	close(u->c.mem);
}

static void modify(struct io_user_qp *q, uint32_t mask, const struct uhca_abi_qp_attr *attr)
{
	struct uhca_cmd_modify_qp in = {.handle = q->handle, .attr_mask = mask, .attr = *attr};

	assert_int_equal(io_test_call(&q->u->c, UHCA_CMD_MODIFY_QP, &in, sizeof(in)), 0);
}

static void init(struct io_user_qp *q)
{
	struct uhca_abi_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	uint32_t mask = IBV_QP_STATE | IBV_QP_PORT;

	if (q->type != IBV_QPT_RAW_PACKET)
		mask |= IBV_QP_PKEY_INDEX;
	if (q->type == IBV_QPT_UD)
		mask |= IBV_QP_QKEY;
	if (q->type == IBV_QPT_RC) {
		mask |= IBV_QP_ACCESS_FLAGS;
		attr.qp_access_flags = ACCESS;
	}
	modify(q, mask, &attr);
}

static int raw_socket(void)
{
	return socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW);
}

bool io_user_may_raw(void)
{
	int fd = raw_socket();

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

void io_user_qp_create(struct io_user_qp *q, struct io_user *u, enum ibv_qp_type type)
{
	struct uhca_cmd_create_cq cq = {.cqe = 2 * IO_USER_WR};
	struct uhca_cmd_create_qp qp = {.pd = u->pd,
					.qp_type = type,
					.max_send_wr = IO_USER_WR,
					.max_recv_wr = IO_USER_WR,
					.max_send_sge = 1,
					.max_recv_sge = 1};
	int raw;

	*q = (struct io_user_qp){.u = u, .type = type, .timeout = 17, .retry_cnt = 7};
	assert_int_equal(io_test_call(&u->c, UHCA_CMD_CREATE_CQ, &cq, sizeof(cq)), 0);
	memcpy(&q->cq_at, &u->c.reply, sizeof(q->cq_at));
	q->cq_region = map(u->c.fd[0], q->cq_at.region_size, PROT_READ | PROT_WRITE);
	q->cq = qp.send_cq = qp.recv_cq = q->cq_at.handle;
	raw = type == IBV_QPT_RAW_PACKET ? raw_socket() : -1;
	assert_int_equal(
		io_test_call_fds(&u->c, UHCA_CMD_CREATE_QP, &qp, sizeof(qp), &raw, raw >= 0), 0);
	if (raw >= 0)
		close(raw);
	memcpy(&q->at, &u->c.reply, sizeof(q->at));
	q->region = map(u->c.fd[0], q->at.region_size, PROT_READ | PROT_WRITE);
	q->handle = q->at.handle;
	q->qpn = q->at.qpn;
	q->doorbell = q->at.doorbell;
	init(q);
}

void io_user_qp_connect(struct io_user_qp *q, const struct io_device *to, uint32_t qpn)
{
	struct uhca_abi_qp_attr attr = {.qp_state = IBV_QPS_RTR,
					.path_mtu = IBV_MTU_1024,
					.dest_qp_num = qpn,
					.rq_psn = q->psn,
					.sq_psn = q->psn,
					.max_rd_atomic = 4,
					.max_dest_rd_atomic = 4,
					.timeout = q->timeout,
					.retry_cnt = q->retry_cnt,
					.ah = {.is_global = 1, .port_num = 1, .hop_limit = 64}};
	const uint32_t rtr = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			     IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	const uint32_t rts =
		IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;

	if (to)
		memcpy(attr.ah.dgid, to->id.addresses.a[0].gid, 16);
	modify(q, IBV_QP_STATE | (q->type == IBV_QPT_RC ? rtr : 0), &attr);
	attr.qp_state = IBV_QPS_RTS;
	modify(q,
	       IBV_QP_STATE | (q->type == IBV_QPT_RAW_PACKET ? 0 : IBV_QP_SQ_PSN) |
		       (q->type == IBV_QPT_RC ? rts : 0),
	       &attr);
}

void io_user_add_rule(struct io_user_qp *q)
{
	struct uhca_cmd_create_flow in = {
		.qp = q->handle, .type = IBV_FLOW_ATTR_ALL_DEFAULT, .port = 1};

	assert_int_equal(io_test_call(&q->u->c, UHCA_CMD_CREATE_FLOW, &in, sizeof(in)), 0);
}

void io_user_take_frames(struct io_user_qp *q)
{
	io_user_qp_connect(q, NULL, 0);
	io_user_add_rule(q);
}

void io_user_qp_destroy(struct io_user_qp *q)
{
	assert_int_equal(io_test_handle(&q->u->c, UHCA_CMD_DESTROY_QP, q->handle, NULL), 0);
	assert_int_equal(io_test_handle(&q->u->c, UHCA_CMD_DESTROY_CQ, q->cq, NULL), 0);
	unmap_qp(q);
}

uint32_t io_user_ah(struct io_user *u, const uint8_t dgid[16])
{
	struct uhca_cmd_create_ah in = {.pd = u->pd,
					.attr = {.is_global = 1, .port_num = 1, .hop_limit = 64}};
	struct uhca_cmd_handle_reply reply;

	memcpy(in.attr.dgid, dgid, 16);
	assert_int_equal(io_test_call(&u->c, UHCA_CMD_CREATE_AH, &in, sizeof(in)), 0);
	memcpy(&reply, &u->c.reply, sizeof(reply));
	return reply.handle;
}

static uint8_t *slot(struct io_user_qp *q, const struct uhca_abi_queue_layout *at, uint32_t n)
{
	return (uint8_t *)q->region + at->offset + (size_t)(n & (at->entries - 1)) * at->stride;
}

void io_user_send(struct io_user_qp *q, struct uhca_abi_send_wqe e, uint32_t length)
{
	struct uhca_abi_sge sge = {(uintptr_t)q->u->memory, length, q->u->lkey};
	uint8_t *to = slot(q, &q->at.send, q->send_producer);

	e.flags |= UHCA_ABI_SEND_SIGNALED;
	e.num_sge = 1;
	memcpy(to, &e, sizeof(e));
	memcpy(to + sizeof(e), &sge, sizeof(sge));
	uhca_ring_publish(&q->region->send.producer, ++q->send_producer);
}

void io_user_recv(struct io_user_qp *q, uint64_t wr_id, uint32_t offset, uint32_t length)
{
	struct uhca_abi_recv_wqe e = {.wr_id = wr_id, .num_sge = 1};
	struct uhca_abi_sge sge = {(uintptr_t)q->u->memory + offset, length, q->u->lkey};
	uint8_t *to = slot(q, &q->at.recv, q->recv_producer);

	memcpy(to, &e, sizeof(e));
	memcpy(to + sizeof(e), &sge, sizeof(sge));
	uhca_ring_publish(&q->region->recv.producer, ++q->recv_producer);
}

void io_user_ring(struct io_user_qp *q)
{
	static const uint64_t one = 1;

	uhca_doorbell_set(q->u->bell, q->doorbell);
	uhca_ring_fence();
	if (__atomic_load_n(&q->u->status->need_wakeup, __ATOMIC_RELAXED))
		assert_int_equal(write(q->u->event, &one, sizeof(one)), sizeof(one));
}

bool io_user_poll(struct io_user_qp *q, struct uhca_abi_cqe *out)
{
	const uint8_t *at = (const uint8_t *)q->cq_region + q->cq_at.entries_offset +
			    (size_t)(q->consumer & (q->cq_at.entries - 1)) * q->cq_at.stride;
	const struct uhca_abi_cqe *e = (const void *)at;

	if (uhca_ring_observe(&e->sequence) != q->consumer + 1)
		return false;
	*out = *e;
	uhca_ring_publish(&q->cq_region->ring.consumer, ++q->consumer);
	return true;
}

void io_user_loop_pass(struct io_daemon *d)
{
	const uint64_t now = io_clock_now();

	io_test_loop_pass(d->loop);
	for (unsigned i = 0; i < d->clients.n; i++)
		io_client_doorbells(d->clients.at[i], now);
	for (unsigned i = 0; i < d->devices.n; i++) {
		io_udp_poll(&d->ports[i].udp, now);
		io_device_send(&d->ports[i].dev, now, d->devices.buf, d->devices.cap, 100);
	}
}

struct uhca_abi_cqe io_user_await(struct io_user_qp *q)
{
	uint64_t end = io_clock_now() + IO_TEST_SECONDS * IO_SEC;
	struct uhca_abi_cqe e;

	while (!io_user_poll(q, &e))
		if (io_clock_now() > end || sched_yield() < 0)
			fail_msg("QP %u: nothing completes", q->qpn);
	return e;
}
