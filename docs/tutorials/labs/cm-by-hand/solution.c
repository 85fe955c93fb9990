/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lab cm-by-hand: a client that makes a connection of rdma_cm call by call, sends a word, gets one
 * back, and ends the connection. The server is server.c; its port is in UHCA_PORT.
 */
#include "lab.h"

#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIMEOUT_MS 2000
#define WORD_SIZE  8u /* bytes of a message; the server's begins at the second word */

struct client {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	char memory[2 * WORD_SIZE];
};

/* Fetches the next event, looks whether it is this one, acknowledges it. The rest has it. */
__attribute__((unused)) static bool next_is(struct client *c, enum rdma_cm_event_type wanted);

/*
 * Task 1: from the address to the route. Call rdma_resolve_addr(id, NULL, to, TIMEOUT_MS) and wait
 * by next_is for RDMA_CM_EVENT_ADDR_RESOLVED; then rdma_resolve_route and its event. Return whether
 * both came.
 */
static bool resolve(struct client *c, struct sockaddr *to)
{
	/* Task 1: your code. Until then: (void)c; (void)to; return false; */
	return rdma_resolve_addr(c->id, NULL, to, TIMEOUT_MS) == 0 &&
	       next_is(c, RDMA_CM_EVENT_ADDR_RESOLVED) &&
	       rdma_resolve_route(c->id, TIMEOUT_MS) == 0 &&
	       next_is(c, RDMA_CM_EVENT_ROUTE_RESOLVED);
	/* End of task 1. */
}

/*
 * Task 2: the receive for the answer, then the connection. The server answers as soon as it is
 * connected: post the receive (wr_id 1) for WORD_SIZE bytes at memory + WORD_SIZE first. Then call
 * rdma_connect with param, and wait for RDMA_CM_EVENT_ESTABLISHED. Return whether it came. The
 * queue pair is c->id->qp, the key is c->mr->lkey.
 */
static bool join(struct client *c, struct rdma_conn_param *param)
{
	/* Task 2: your code. Until then: (void)c; (void)param; return false; */
	struct ibv_sge sge = {(uintptr_t)c->memory + WORD_SIZE, WORD_SIZE, c->mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = 1, .sg_list = &sge, .num_sge = 1}, *bad;

	return ibv_post_recv(c->id->qp, &wr, &bad) == 0 && rdma_connect(c->id, param) == 0 &&
	       next_is(c, RDMA_CM_EVENT_ESTABLISHED);
	/* End of task 2. */
}

/*
 * Task 3: the end. Tell the server (rdma_disconnect) and wait for RDMA_CM_EVENT_DISCONNECTED. Then
 * destroy what there is, each thing before that which it uses: the queue pair (rdma_destroy_qp),
 * the region, the completion queue, the protection domain, the id (rdma_destroy_id), the channel.
 */
static void leave(struct client *c)
{
	/* Task 3: your code. Until then: (void)c; */
	rdma_disconnect(c->id);
	next_is(c, RDMA_CM_EVENT_DISCONNECTED);
	rdma_destroy_qp(c->id);
	ibv_dereg_mr(c->mr);
	ibv_destroy_cq(c->cq);
	ibv_dealloc_pd(c->pd);
	rdma_destroy_id(c->id);
	rdma_destroy_event_channel(c->channel);
	/* End of task 3. */
}

/* ---- the rest is complete ---- */

static unsigned events;     /* so many were fetched */
static struct ibv_wc early; /* the answer, which came before the program looked */

/*
 * A program may be slow here, and the server is not: it has the answer under way. So this waits
 * until that has come, or the device had no receive for it.
 */
static void be_slow(struct client *c)
{
	early.wr_id = 0;
	for (unsigned i = 0; i < 200 && lab_counter("rnr_sent") == 0; i++)
		if (ibv_poll_cq(c->cq, 1, &early) == 1)
			return;
	early.status = IBV_WC_RNR_RETRY_EXC_ERR;
}

static bool next_is(struct client *c, enum rdma_cm_event_type wanted)
{
	enum rdma_cm_event_type type;
	struct rdma_cm_event *e;

	if (rdma_get_cm_event(c->channel, &e))
		return false;
	type = e->event;
	printf("%s, status %d\n", rdma_event_str(type), e->status);
	rdma_ack_cm_event(e); /* each event; else rdma_destroy_id waits for ever */
	events++;
	if (type == RDMA_CM_EVENT_ESTABLISHED)
		be_slow(c);
	return lab_check(type == wanted, "the event is %s (%s)", rdma_event_str(wanted),
			 rdma_event_str(type));
}

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(2);
}

/* Between route and connection: the id knows its device now. */
static void make_queues(struct client *c)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 2, .max_recv_wr = 2, .max_send_sge = 1, .max_recv_sge = 1}};

	c->pd = ibv_alloc_pd(c->id->verbs);
	must(c->pd, "ibv_alloc_pd");
	c->cq = ibv_create_cq(c->id->verbs, 4, NULL, NULL, 0);
	must(c->cq, "ibv_create_cq");
	c->mr = ibv_reg_mr(c->pd, c->memory, sizeof(c->memory), IBV_ACCESS_LOCAL_WRITE);
	must(c->mr, "ibv_reg_mr");
	attr.send_cq = attr.recv_cq = c->cq;
	must(rdma_create_qp(c->id, c->pd, &attr) == 0, "rdma_create_qp");
}

/* The answer of the server has come; the client's own word goes out. */
static void talk(struct client *c)
{
	struct lab_end end = {.cq = c->cq, .qp = c->id->qp, .mr = c->mr};
	const char *status;
	struct ibv_wc wc;

	end.memory = (uint8_t *)c->memory;
	if (!lab_check(early.status == IBV_WC_SUCCESS && early.opcode == IBV_WC_RECV,
		       "task 2: a receive was there when the answer came (completion: %s)",
		       ibv_wc_status_str(early.status)))
		return;
	lab_check(early.wr_id == 1, "task 2: the receive's wr_id is 1 (%llu)",
		  (unsigned long long)early.wr_id);
	lab_check(memcmp(c->memory, "\0\0\0\0\0\0\0", WORD_SIZE) == 0 &&
			  strcmp(c->memory + WORD_SIZE, "answer") == 0,
		  "task 2: the answer is in the second word of the memory");
	memcpy(c->memory, "question", WORD_SIZE);
	lab_send(&end, 2, 0, WORD_SIZE);
	status = lab_status(&end, &wc);
	lab_check(wc.status == IBV_WC_SUCCESS && wc.wr_id == 2,
		  "task 2: the word went out (completion: %s)", status);
}

static bool connect_it(struct client *c)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct rdma_conn_param param = {.retry_count = 7, .rnr_retry_count = 0};
	const char *port = getenv("UHCA_PORT");

	to.sin_port = htons((uint16_t)atoi(port ? port : "7471"));
	if (!lab_check(resolve(c, (struct sockaddr *)&to), "task 1: the route is known") ||
	    !lab_check(c->id->verbs && events == 2, "task 1: two events were fetched (%u)", events))
		return false;
	make_queues(c);
	return lab_check(join(c, &param), "task 2: the client is connected") &&
	       lab_check(events == 3, "task 2: one event more was fetched (%u)", events - 2);
}

int main(void)
{
	struct client *c = calloc(1, sizeof(*c));

	must(c, "memory");
	c->channel = rdma_create_event_channel();
	must(c->channel, "rdma_create_event_channel");
	must(rdma_create_id(c->channel, &c->id, NULL, RDMA_PS_TCP) == 0, "rdma_create_id");
	if (connect_it(c)) {
		talk(c);
		leave(c);
		lab_check(events == 4, "task 3: the end of the connection was told (events: %u)",
			  events);
	}
	free(c);
	return lab_result();
}
