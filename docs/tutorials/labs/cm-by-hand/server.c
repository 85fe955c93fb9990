/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lab cm-by-hand: the server, complete. Takes one connection on the rdma_cm port that its argument
 * says, sends a word at once, takes one, and ends when the client has gone.
 */
#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORD_SIZE 8u

static char memory[2 * WORD_SIZE]; /* what is sent, what came */

static void must(int failed, const char *what)
{
	if (!failed)
		return;
	perror(what);
	exit(2);
}

static struct ibv_mr *accept_it(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 2, .max_recv_wr = 2, .max_send_sge = 1, .max_recv_sge = 1}};
	struct rdma_conn_param param = {.retry_count = 7, .rnr_retry_count = 7};
	struct ibv_sge sge = {(uintptr_t)memory + WORD_SIZE, WORD_SIZE, 0};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;
	struct ibv_mr *mr;

	must(rdma_create_qp(id, NULL, &attr), "rdma_create_qp");
	mr = ibv_reg_mr(id->pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE);
	must(!mr, "ibv_reg_mr");
	sge.lkey = mr->lkey;
	must(ibv_post_recv(id->qp, &wr, &bad), "ibv_post_recv");
	must(rdma_accept(id, &param), "rdma_accept");
	return mr;
}

static void answer(struct rdma_cm_id *id, const struct ibv_mr *mr)
{
	struct ibv_sge sge = {(uintptr_t)memory, WORD_SIZE, mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_SEND,
				 .send_flags = IBV_SEND_SIGNALED},
			   *bad;

	strcpy(memory, "answer");
	must(ibv_post_send(id->qp, &wr, &bad), "ibv_post_send");
}

int main(int argc, char **argv)
{
	struct sockaddr_in at = {.sin_family = AF_INET};
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *listener, *id = NULL;
	struct ibv_mr *mr = NULL;
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
		if (e->event == RDMA_CM_EVENT_CONNECT_REQUEST)
			mr = accept_it(id = e->id);
		if (e->event == RDMA_CM_EVENT_ESTABLISHED)
			answer(id, mr);
		over = e->event == RDMA_CM_EVENT_DISCONNECTED;
		rdma_ack_cm_event(e);
	}
	printf("the client said %.8s\n", memory + WORD_SIZE);
	rdma_disconnect(id);
	rdma_destroy_qp(id);
	ibv_dereg_mr(mr);
	rdma_destroy_id(id);
	rdma_destroy_id(listener);
	rdma_destroy_event_channel(channel);
	return 0;
}
