/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Leaves something of rdma_cm behind when it ends: its argument is "nothing", "id" (an rdma_cm_id,
 * for whose sake librdmacm keeps a protection domain), or "qp" (the queue pair, too).
 */
#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(int failed, const char *what)
{
	if (!failed)
		return;
	perror(what);
	exit(1);
}

int main(int argc, char **argv)
{
	const char *left = argc > 1 ? argv[1] : "nothing";
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1}};
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	must(!channel, "rdma_create_event_channel");
	must(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), "rdma_create_id");
	must(rdma_resolve_addr(id, NULL, (struct sockaddr *)&to, 2000), "rdma_resolve_addr");
	must(rdma_get_cm_event(channel, &event) || event->event != RDMA_CM_EVENT_ADDR_RESOLVED,
	     "RDMA_CM_EVENT_ADDR_RESOLVED");
	rdma_ack_cm_event(event);
	must(rdma_create_qp(id, NULL, &attr), "rdma_create_qp");
	if (!strcmp(left, "qp"))
		return 0;
	rdma_destroy_qp(id);
	if (!strcmp(left, "id"))
		return 0;
	rdma_destroy_id(id);
	rdma_destroy_event_channel(channel);
	return 0;
}
