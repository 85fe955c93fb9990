/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lab connection: the server, complete. Takes one connection on the rdma_cm port that its argument
 * says, greets who called by the name in its private data, and ends when the client has gone.
 */
#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(int failed, const char *what)
{
	if (!failed)
		return;
	perror(what);
	exit(2);
}

/* The answer is "hello NAME". */
static void answer(struct rdma_cm_id *id, const struct rdma_conn_param *asked)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1}};
	struct rdma_conn_param param = {.retry_count = 7, .rnr_retry_count = 7};
	char name[32] = "", hello[48];

	if (asked->private_data)
		snprintf(name, sizeof(name), "%.*s", (int)asked->private_data_len,
			 (const char *)asked->private_data);
	must(rdma_create_qp(id, NULL, &attr), "rdma_create_qp");
	snprintf(hello, sizeof(hello), "hello %s", name);
	param.private_data = hello;
	param.private_data_len = (uint8_t)(strlen(hello) + 1);
	must(rdma_accept(id, &param), "rdma_accept");
	printf("request of %s\n", name);
}

int main(int argc, char **argv)
{
	struct sockaddr_in at = {.sin_family = AF_INET};
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *listener, *id = NULL;
	struct rdma_cm_event *e;
	bool over = false;

	at.sin_port = htons((uint16_t)(argc > 1 ? atoi(argv[1]) : 7471));
	setvbuf(stdout, NULL, _IOLBF, 0);
	must(!channel, "rdma_create_event_channel");
	must(rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP), "rdma_create_id");
	must(rdma_bind_addr(listener, (struct sockaddr *)&at), "rdma_bind_addr");
	must(rdma_listen(listener, 4), "rdma_listen");
	while (!over) {
		must(rdma_get_cm_event(channel, &e), "rdma_get_cm_event");
		printf("%s\n", rdma_event_str(e->event));
		if (e->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
			id = e->id;
			answer(id, &e->param.conn);
		}
		over = e->event == RDMA_CM_EVENT_DISCONNECTED;
		rdma_ack_cm_event(e);
	}
	rdma_disconnect(id);
	rdma_destroy_qp(id);
	rdma_destroy_id(id);
	rdma_destroy_id(listener);
	rdma_destroy_event_channel(channel);
	return 0;
}
