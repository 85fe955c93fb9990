/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lab connection: a client of rdma_cm. Its first request for a connection is rejected; it asks
 * again and is connected. The server is server.c; its port is in UHCA_PORT.
 */
#include "lab.h"

#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME  "ada"
#define TRIES 3

/*
 * Task 1: a try to connect ended with this event. Should the client try again? Not when it is
 * connected, and not on errors that trying again does not cure; but a server that rejects now may
 * take the next request.
 */
static bool try_again(enum rdma_cm_event_type event)
{
	/* Task 1: your code. Until then: (void)event; return false; */
	return event == RDMA_CM_EVENT_REJECTED;
	/* End of task 1. */
}

/*
 * Task 2: what goes with the request, so that the server knows who calls: param->private_data and
 * param->private_data_len, for NAME with its NUL byte.
 */
static void introduce(struct rdma_conn_param *param)
{
	/* Task 2: your code. Until then: (void)param; */
	param->private_data = NAME;
	param->private_data_len = sizeof(NAME);
	/* End of task 2. */
}

/* ---- the rest is complete ---- */

/*
 * Waits for an event. Copies the private data that came with it to text, as far as there is room.
 */
static enum rdma_cm_event_type next_event(struct rdma_event_channel *channel, char *text,
					  size_t size)
{
	enum rdma_cm_event_type type;
	struct rdma_cm_event *e;

	if (rdma_get_cm_event(channel, &e)) {
		perror("rdma_get_cm_event");
		exit(2);
	}
	type = e->event;
	if (type == RDMA_CM_EVENT_ESTABLISHED && e->param.conn.private_data)
		snprintf(text, size, "%.*s", (int)e->param.conn.private_data_len,
			 (const char *)e->param.conn.private_data);
	printf("%s, status %d\n", rdma_event_str(type), e->status);
	rdma_ack_cm_event(e); /* each event; else rdma_destroy_id waits for ever */
	return type;
}

/* From the address to the queue pair. The event that stopped it, or ROUTE_RESOLVED. */
static enum rdma_cm_event_type prepare(struct rdma_cm_id *id)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1}};
	const char *port = getenv("UHCA_PORT");
	enum rdma_cm_event_type type = RDMA_CM_EVENT_ADDR_ERROR;

	to.sin_port = htons((uint16_t)atoi(port ? port : "7471"));
	if (rdma_resolve_addr(id, NULL, (struct sockaddr *)&to, 2000) == 0)
		type = next_event(id->channel, NULL, 0);
	if (type == RDMA_CM_EVENT_ADDR_RESOLVED && rdma_resolve_route(id, 2000) == 0)
		type = next_event(id->channel, NULL, 0);
	if (type == RDMA_CM_EVENT_ROUTE_RESOLVED && rdma_create_qp(id, NULL, &attr))
		type = RDMA_CM_EVENT_CONNECT_ERROR;
	return type;
}

/*
 * One try, with an id of its own: one that was rejected cannot be connected any more. What the
 * server answers is put into hello.
 */
static enum rdma_cm_event_type connect_once(struct rdma_event_channel *channel,
					    struct rdma_conn_param *param, char hello[64])
{
	enum rdma_cm_event_type type;
	struct rdma_cm_id *id;

	if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP))
		return RDMA_CM_EVENT_CONNECT_ERROR;
	type = prepare(id);
	if (type == RDMA_CM_EVENT_ROUTE_RESOLVED && rdma_connect(id, param) == 0)
		type = next_event(channel, hello, 64);
	if (type == RDMA_CM_EVENT_ESTABLISHED) {
		rdma_disconnect(id);
		lab_check(next_event(channel, NULL, 0) == RDMA_CM_EVENT_DISCONNECTED,
			  "the connection was ended");
	}
	if (id->qp)
		rdma_destroy_qp(id);
	rdma_destroy_id(id);
	return type;
}

/* What a variable of a function that has returned held is overwritten, as by any other call. */
static void use_stack(void)
{
	volatile char room[4096];

	for (size_t i = 0; i < sizeof(room); i++)
		room[i] = '?';
}

static bool is_introduced(const struct rdma_conn_param *param)
{
	const char *data = param->private_data;
	unsigned length = param->private_data_len;
	char seen[sizeof(NAME)] = "";

	if (!lab_check(length == sizeof(NAME),
		       "task 2: %zu bytes go with the request: the name and its NUL byte (%u)",
		       sizeof(NAME), length))
		return false;
	for (unsigned i = 0; data && i + 1 < length; i++)
		seen[i] = data[i] >= ' ' && data[i] <= '~' ? data[i] : '?';
	return lab_check(data && memcmp(data, NAME, sizeof(NAME)) == 0,
			 "task 2: they are the name, also when the function has returned (%s)",
			 seen);
}

/* (No answer, RDMA_CM_EVENT_UNREACHABLE, may be worth another try or not.) */
static void judge_tries(void)
{
	static const enum rdma_cm_event_type final[] = {
		RDMA_CM_EVENT_ESTABLISHED,    RDMA_CM_EVENT_ADDR_ERROR,
		RDMA_CM_EVENT_ROUTE_ERROR,    RDMA_CM_EVENT_CONNECT_ERROR,
		RDMA_CM_EVENT_DEVICE_REMOVAL, RDMA_CM_EVENT_DISCONNECTED};

	for (size_t i = 0; i < sizeof(final) / sizeof(final[0]); i++)
		if (try_again(final[i]))
			lab_check(false, "task 1: there is no other try after %s",
				  rdma_event_str(final[i]));
	lab_check(try_again(RDMA_CM_EVENT_REJECTED), "task 1: there is one after a reject");
}

int main(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_conn_param param = {.retry_count = 7, .rnr_retry_count = 7};
	enum rdma_cm_event_type type;
	unsigned tries = 0;
	char hello[64] = "";

	introduce(&param);
	use_stack();
	do {
		type = connect_once(channel, &param, hello);
		tries++;
	} while (try_again(type) && tries < TRIES);
	lab_check(type == RDMA_CM_EVENT_ESTABLISHED, "task 1: connected after %u tries (%s)", tries,
		  rdma_event_str(type));
	judge_tries();
	if (is_introduced(&param))
		lab_check(strcmp(hello, "hello " NAME) == 0, "task 2: the server greets %s (%s)",
			  NAME, hello);
	rdma_destroy_event_channel(channel);
	return lab_result();
}
