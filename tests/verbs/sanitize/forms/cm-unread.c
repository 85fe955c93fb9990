/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A connection of rdma_cm ends, and its other end polls for a message instead of reading the event.
 *
 * Found by: cm-unread
 */
#include "tests/verbs/sanitize/pair.h"

#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define MESSAGE 64

static struct rdma_cm_id *endpoint(const char *port, int flags)
{
	struct rdma_addrinfo hints = {.ai_flags = flags, .ai_port_space = RDMA_PS_TCP}, *found;
	struct ibv_qp_init_attr attr = {.cap = {1, 1, 1, 1, 0}};
	struct rdma_cm_id *id;

	pair_must(!rdma_getaddrinfo("127.0.0.1", port, &hints, &found), "an address");
	pair_must(!rdma_create_ep(&id, found, NULL, &attr), "an endpoint");
	rdma_freeaddrinfo(found);
	return id;
}

static int serve(int told)
{
	struct rdma_cm_id *listener = endpoint("0", RAI_PASSIVE), *id;
	uint16_t port = ntohs(rdma_get_src_port(listener));

	pair_must(!rdma_listen(listener, 1), "rdma_listen");
	pair_must(write(told, &port, sizeof(port)) == sizeof(port), "telling the port");
	pair_must(!rdma_get_request(listener, &id) && !rdma_accept(id, NULL), "a connection");
	rdma_destroy_ep(id); /* which ends the connection */
	rdma_destroy_ep(listener);
	return 0;
}

static struct rdma_cm_id *connect_to(int told)
{
	char port[8];
	uint16_t number;

	pair_must(read(told, &number, sizeof(number)) == sizeof(number), "hearing the port");
	snprintf(port, sizeof(port), "%u", number);
	return endpoint(port, 0);
}

static void await_end(struct rdma_cm_id *id)
{
	struct rdma_cm_event *event;

	pair_must(!rdma_get_cm_event(id->channel, &event) &&
			  event->event == RDMA_CM_EVENT_DISCONNECTED,
		  "the event");
	rdma_ack_cm_event(event);
	pair_must(!rdma_disconnect(id), "rdma_disconnect");
}

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	static char message[MESSAGE];
	struct rdma_cm_id *id;
	struct ibv_mr *mr;
	struct ibv_wc wc;
	int told[2];

	pair_must(!pipe(told), "a pipe");
	if (!fork())
		return serve(told[1]);
	id = connect_to(told[0]);
	mr = rdma_reg_msgs(id, message, MESSAGE);
	pair_must(mr && !rdma_post_recv(id, NULL, message, MESSAGE, mr), "a receive");
	pair_must(!rdma_connect(id, NULL), "rdma_connect");
	if (mended)
		await_end(id);
	while (!ibv_poll_cq(id->recv_cq, 1, &wc)) /* <- */
		;
	wait(NULL);
	rdma_dereg_mr(mr);
	rdma_destroy_ep(id);
	return 0;
}
