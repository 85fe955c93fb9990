/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes connections in which all that a REQ and a REP announce shows in the packets that follow;
 * cm_announce.pcap was captured while two Linux machines ran it. No value can be taken for another
 * without being seen (those of READs are powers of two, to which soft-RoCE rounds them up). One
 * connection after the other:
 *
 *	0  each end sends a message of several packets: PSNs, QP numbers, MTU
 *	1  the client sends to a QP without receives: RNR retries of the REP
 *	2  the server does: RNR retries of the REQ
 *	3  the client reads from a QP that is gone: responder resources of the REP, retries, ACK
 *	   timeout
 *	4  the server does: responder resources, retries and ACK timeout of the REQ
 *
 *	announce		the server
 *	announce ADDRESS	the client
 */
#include <arpa/inet.h>
#include <errno.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PORT        7499
#define PHASES      5
#define READS       16
#define MESSAGE     2500
#define ACK_TIMEOUT 17
#define ANY         0 /* key of what is gone */

enum phase { TALK, CLIENT_TOO_EARLY, SERVER_TOO_EARLY, CLIENT_TO_NOBODY, SERVER_TO_NOBODY };

static char data[2][4096];

static void must(int ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "announce: %s: %s\n", what, strerror(errno));
	exit(1);
}

static enum ibv_wc_status finish(struct rdma_cm_id *id, int receive)
{
	struct ibv_cq *cq = receive ? id->recv_cq : id->send_cq;
	struct ibv_wc wc;
	int n;

	do
		n = ibv_poll_cq(cq, 1, &wc);
	while (n == 0);
	must(n == 1, "ibv_poll_cq");
	return wc.status;
}

/* QPs that are made before and do nothing give the two ends different QP numbers. */
static void make_qp(struct rdma_cm_id *id, unsigned spare)
{
	struct ibv_qp_init_attr attr = {.cap = {.max_send_wr = READS,
						.max_recv_wr = 1,
						.max_send_sge = 1,
						.max_recv_sge = 1},
					.sq_sig_all = 1,
					.qp_type = IBV_QPT_RC};
	struct ibv_qp_init_attr other;
	struct ibv_cq *cq = ibv_create_cq(id->verbs, 1, NULL, NULL, 0);
	struct ibv_pd *pd = ibv_alloc_pd(id->verbs);

	must(cq && pd, "resources");
	for (unsigned i = 0; i < spare; i++) {
		other = attr;
		other.send_cq = other.recv_cq = cq;
		must(ibv_create_qp(pd, &other) != NULL, "ibv_create_qp");
	}
	must(rdma_create_qp(id, NULL, &attr) == 0, "rdma_create_qp");
}

static void talk(struct rdma_cm_id *id, struct ibv_mr *mr, int speak_first)
{
	if (speak_first) {
		must(rdma_post_send(id, NULL, data[0], MESSAGE, mr, 0) == 0, "post");
		must(finish(id, 0) == IBV_WC_SUCCESS, "send");
	}
	must(finish(id, 1) == IBV_WC_SUCCESS, "receive");
	if (!speak_first) {
		must(rdma_post_send(id, NULL, data[0], MESSAGE, mr, 0) == 0, "post");
		must(finish(id, 0) == IBV_WC_SUCCESS, "send");
	}
}

static void send_too_early(struct rdma_cm_id *id, struct ibv_mr *mr)
{
	must(rdma_post_send(id, NULL, data[0], 100, mr, 0) == 0, "post");
	must(finish(id, 0) == IBV_WC_RNR_RETRY_EXC_ERR, "RNR retries");
}

static void read_from_nobody(struct rdma_cm_id *id, struct ibv_mr *mr)
{
	sleep(1); /* until it is gone */
	for (unsigned i = 0; i < READS; i++)
		must(rdma_post_read(id, NULL, data[0], 8, mr, 0, 0x1000, ANY) == 0, "post");
	must(finish(id, 0) == IBV_WC_RETRY_EXC_ERR, "retries");
}

static void act(struct rdma_cm_id *id, struct ibv_mr *mr, enum phase p, int client)
{
	if (p == TALK)
		talk(id, mr, client);
	else if (p == (client ? CLIENT_TOO_EARLY : SERVER_TOO_EARLY))
		send_too_early(id, mr);
	else if (p == (client ? CLIENT_TO_NOBODY : SERVER_TO_NOBODY))
		read_from_nobody(id, mr);
	else if (p == (client ? SERVER_TO_NOBODY : CLIENT_TO_NOBODY))
		rdma_destroy_qp(id);
}

/* Who has something to do ends the connection; the other one waits for it. */
static void end(struct rdma_cm_id *id, enum phase p, int client)
{
	int mine = client ? p == TALK || p == CLIENT_TOO_EARLY || p == CLIENT_TO_NOBODY
			  : p == SERVER_TOO_EARLY || p == SERVER_TO_NOBODY;
	struct rdma_cm_event *e;
	enum rdma_cm_event_type type;

	if (mine) {
		must(rdma_disconnect(id) == 0, "rdma_disconnect");
		return;
	}
	do {
		must(rdma_get_cm_event(id->channel, &e) == 0, "rdma_get_cm_event");
		type = e->event;
		rdma_ack_cm_event(e);
	} while (type != RDMA_CM_EVENT_DISCONNECTED);
	rdma_disconnect(id);
}

static struct ibv_mr *prepare(struct rdma_cm_id *id, enum phase p)
{
	struct ibv_mr *mr = rdma_reg_msgs(id, data, sizeof(data));

	must(mr != NULL, "rdma_reg_msgs");
	if (p == TALK)
		must(rdma_post_recv(id, NULL, data[1], sizeof(data[1]), mr) == 0, "receive");
	return mr;
}

static void client(const char *address, enum phase p)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(PORT)};
	struct rdma_conn_param param = {.private_data = &p,
					.private_data_len = sizeof(p),
					.responder_resources = 2,
					.initiator_depth = 8,
					.retry_count = 3,
					.rnr_retry_count = 1};
	uint8_t timeout = ACK_TIMEOUT;
	struct rdma_cm_id *id;
	struct ibv_mr *mr;

	must(inet_pton(AF_INET, address, &to.sin_addr) == 1, address);
	must(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP) == 0, "rdma_create_id");
	must(rdma_resolve_addr(id, NULL, (struct sockaddr *)&to, 5000) == 0, "address");
	must(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout, 1) == 0,
	     "ACK timeout");
	must(rdma_resolve_route(id, 5000) == 0, "route");
	make_qp(id, 2);
	mr = prepare(id, p);
	must(rdma_connect(id, &param) == 0, "rdma_connect");
	act(id, mr, p, 1);
	end(id, p, 1);
}

static void server(struct rdma_cm_id *listener)
{
	struct rdma_conn_param param = {.responder_resources = RDMA_MAX_RESP_RES,
					.initiator_depth = RDMA_MAX_INIT_DEPTH,
					.rnr_retry_count = 2};
	struct rdma_cm_id *id;
	struct ibv_mr *mr;
	enum phase p;

	must(rdma_get_request(listener, &id) == 0, "rdma_get_request");
	memcpy(&p, id->event->param.conn.private_data, sizeof(p));
	make_qp(id, 5);
	mr = prepare(id, p);
	must(rdma_accept(id, &param) == 0, "rdma_accept");
	act(id, mr, p, 0);
	end(id, p, 0);
}

int main(int argc, char **argv)
{
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(PORT)};
	struct rdma_cm_id *listener;

	for (enum phase p = TALK; argc > 1 && p < PHASES; p++)
		client(argv[1], p);
	if (argc > 1)
		return 0;
	must(rdma_create_id(NULL, &listener, NULL, RDMA_PS_TCP) == 0, "rdma_create_id");
	must(rdma_bind_addr(listener, (struct sockaddr *)&any) == 0, "rdma_bind_addr");
	must(rdma_listen(listener, PHASES) == 0, "rdma_listen");
	for (unsigned i = 0; i < PHASES; i++)
		server(listener);
	return 0;
}
