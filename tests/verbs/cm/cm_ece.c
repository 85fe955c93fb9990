/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two ends that librdmacm connects agree by ECE on what both devices have (12.6, the vendor's ID
 * and options of REQ and REP): "cm_ece yes" expects masked atomics, and uses one; "cm_ece no" finds
 * that they are not offered and cannot be posted, though the device has them. The server is this
 * program once more, below the daemon of UHCA_PEER_DIR. Run by cm_ece.sh. An alarm ends a program
 * that hangs.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/uhcadv.h>
#include <rdma/rdma_cma.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEADLINE_S 240
#define ACCESS     (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)

struct target {
	uint64_t address;
	uint32_t rkey;
};

static void check_(int ok, const char *what, int line)
{
	if (ok)
		return;
	fprintf(stderr, "cm_ece.c:%d: %s: %s\n", line, what, strerror(errno));
	exit(1);
}
#define CHECK(cond) check_(!!(cond), #cond, __LINE__)

/* The event that is expected next; to be acknowledged. */
static struct rdma_cm_event *take_event(struct rdma_event_channel *channel,
					enum rdma_cm_event_type type)
{
	struct rdma_cm_event *e;

	CHECK(rdma_get_cm_event(channel, &e) == 0);
	if (e->event != type)
		fprintf(stderr, "%s instead of %s\n", rdma_event_str(e->event),
			rdma_event_str(type));
	CHECK(e->event == type);
	return e;
}

static void drop(struct rdma_event_channel *channel, enum rdma_cm_event_type type)
{
	CHECK(rdma_ack_cm_event(take_event(channel, type)) == 0);
}

static void make_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_RC,
					.cap = {.max_send_wr = 4,
						.max_recv_wr = 4,
						.max_send_sge = 1,
						.max_recv_sge = 1,
						.max_inline_data = 128}};

	CHECK(rdma_create_qp(id, NULL, &attr) == 0);
}

/* Nothing but the masked atomics is there to agree on. */
static void expect_options(struct ibv_qp *qp, int masked)
{
	struct ibv_ece ece = {0};

	CHECK(ibv_query_ece(qp, &ece) == 0);
	CHECK(ece.vendor_id != 0);
	CHECK((ece.options != 0) == masked);
}

static struct ibv_mr *reg(struct rdma_cm_id *id, uint64_t *value)
{
	struct ibv_mr *mr = ibv_reg_mr(id->pd, value, sizeof(*value), ACCESS);

	CHECK(mr);
	return mr;
}

/* ---- the peer ---- */

static void serve(int out, int masked)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct sockaddr_in at = {.sin_family = AF_INET};
	struct rdma_conn_param param = {.responder_resources = 1, .rnr_retry_count = 7};
	uint64_t value = 0x1100;
	struct rdma_cm_id *listener, *id;
	struct rdma_cm_event *e;
	struct target target;
	struct ibv_mr *mr;

	CHECK(channel && inet_pton(AF_INET, getenv("UHCA_PEER_ADDRESS"), &at.sin_addr) == 1);
	CHECK(rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP) == 0);
	CHECK(rdma_bind_addr(listener, (struct sockaddr *)&at) == 0);
	CHECK(rdma_listen(listener, 1) == 0);
	at.sin_port = rdma_get_src_port(listener);
	CHECK(write(out, &at, sizeof(at)) == sizeof(at));
	e = take_event(channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	id = e->id;
	make_qp(id);
	mr = reg(id, &value);
	target = (struct target){(uintptr_t)&value, mr->rkey};
	param.private_data = &target;
	param.private_data_len = sizeof(target);
	CHECK(rdma_accept(id, &param) == 0);
	CHECK(rdma_ack_cm_event(e) == 0);
	expect_options(id->qp, masked);
	drop(channel, RDMA_CM_EVENT_ESTABLISHED);
	drop(channel, RDMA_CM_EVENT_DISCONNECTED);
	CHECK(value == (masked ? 0x2200 : 0x1100));
	rdma_destroy_qp(id);
	CHECK(ibv_dereg_mr(mr) == 0);
	CHECK(rdma_destroy_id(id) == 0);
	CHECK(rdma_destroy_id(listener) == 0);
	rdma_destroy_event_channel(channel);
}

static pid_t start_server(int out, const char *expected)
{
	char fd[16];
	pid_t child = fork();

	CHECK(child >= 0);
	if (child > 0)
		return child;
	snprintf(fd, sizeof(fd), "%d", out);
	CHECK(setenv("UHCA_DIR", getenv("UHCA_PEER_DIR"), 1) == 0);
	execl("/proc/self/exe", "cm_ece", expected, fd, (char *)NULL);
	_exit(1);
}

/* ---- */

static void add(struct rdma_cm_id *id, const struct target *to, int masked)
{
	static const uint64_t amount = 0x1100;
	uint64_t old = 0;
	struct ibv_mr *mr = reg(id, &old);
	struct ibv_sge sge = {(uintptr_t)&old, sizeof(old), mr->lkey};
	struct uhcadv_send_wr *bad, wr = {.opcode = UHCADV_WR_MASKED_FETCH_ADD,
					  .send_flags = IBV_SEND_SIGNALED,
					  .sg_list = &sge,
					  .num_sge = 1};
	struct ibv_wc wc;
	int n = 0;

	wr.atomic.remote_addr = to->address;
	wr.atomic.rkey = to->rkey;
	wr.atomic.fetch_add = (struct uhcadv_masked_fetch_add){sizeof(amount), &amount, NULL};
	CHECK(uhcadv_post_send(id->qp, &wr, &bad) == (masked ? 0 : EOPNOTSUPP));
	while (masked && n == 0)
		n = ibv_poll_cq(id->send_cq, 1, &wc);
	CHECK(!masked || (n == 1 && wc.status == IBV_WC_SUCCESS && old == 0x1100));
	CHECK(ibv_dereg_mr(mr) == 0);
}

static struct rdma_cm_id *call(struct rdma_event_channel *channel, struct sockaddr_in *to,
			       struct target *target)
{
	struct rdma_conn_param param = {
		.initiator_depth = 1, .retry_count = 7, .rnr_retry_count = 7};
	struct rdma_cm_event *e;
	struct rdma_cm_id *id;

	CHECK(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) == 0);
	CHECK(rdma_resolve_addr(id, NULL, (struct sockaddr *)to, 2000) == 0);
	drop(channel, RDMA_CM_EVENT_ADDR_RESOLVED);
	CHECK(rdma_resolve_route(id, 2000) == 0);
	drop(channel, RDMA_CM_EVENT_ROUTE_RESOLVED);
	make_qp(id);
	expect_options(id->qp, 1); /* it has them, and has not heard of the peer */
	CHECK(rdma_connect(id, &param) == 0);
	e = take_event(channel, RDMA_CM_EVENT_ESTABLISHED);
	CHECK(e->param.conn.private_data_len >= sizeof(*target));
	memcpy(target, e->param.conn.private_data, sizeof(*target));
	CHECK(rdma_ack_cm_event(e) == 0);
	return id;
}

static void run(const char *expected, int masked)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct target target;
	struct sockaddr_in at;
	struct rdma_cm_id *id;
	int pair[2], status;
	pid_t server;

	CHECK(channel && pipe(pair) == 0);
	server = start_server(pair[1], expected);
	CHECK(read(pair[0], &at, sizeof(at)) == sizeof(at));
	id = call(channel, &at, &target);
	expect_options(id->qp, masked);
	add(id, &target, masked);
	CHECK(rdma_disconnect(id) == 0);
	drop(channel, RDMA_CM_EVENT_DISCONNECTED);
	rdma_destroy_qp(id);
	CHECK(rdma_destroy_id(id) == 0);
	rdma_destroy_event_channel(channel);
	CHECK(waitpid(server, &status, 0) == server && status == 0);
}

int main(int argc, char **argv)
{
	int masked = argc > 1 && strcmp(argv[1], "yes") == 0;

	alarm(DEADLINE_S);
	if (argc > 2)
		serve(atoi(argv[2]), masked);
	else if (argc > 1)
		run(argv[1], masked);
	return argc > 1 ? 0 : 2;
}
