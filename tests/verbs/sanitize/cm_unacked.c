/* SPDX-License-Identifier: BSD-2-Clause */
/* Ends an rdma_cm_id while it holds an event of it; with an argument when it has acknowledged. */
#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>

static void must(int failed, const char *what)
{
	if (!failed)
		return;
	perror(what);
	exit(1);
}

int main(int argc, char **argv)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1}};

	(void)argv;
	must(!channel || rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), "rdma_create_id");
	must(rdma_resolve_addr(id, NULL, (struct sockaddr *)&to, 2000), "rdma_resolve_addr");
	must(rdma_get_cm_event(channel, &event), "rdma_get_cm_event");
	must(rdma_create_qp(id, NULL, &attr), "rdma_create_qp");
	rdma_destroy_qp(id);
	if (argc > 1)
		rdma_ack_cm_event(event);
	rdma_destroy_id(id);
	rdma_destroy_event_channel(channel);
	return 0;
}
