/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every completion status that this device can give, by its own cause, through the real libibverbs
 * (IBTA vol. 1, 11.6.2): the status at both ends, the vendor error, and what becomes of the QPs.
 * Statuses that cannot occur are listed in docs/reference/statuses.md.
 */
#include "tests/support/verbs/verbs_world.h"
#include "tests/support/wire/cmocka_all.h"

#include "emu/abi/cqe.h"
#include "wire/icrc.h"
#include "wire/packet.h"
#include "wire/syndrome.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- requests ---- */

static struct ibv_sge element(struct world *w, uint32_t length)
{
	return (struct ibv_sge){(uintptr_t)w->memory, length, w->mr->lkey};
}

static void post_recv(struct ibv_qp *qp, struct ibv_sge sge)
{
	struct ibv_recv_wr recv = {.wr_id = 7, .sg_list = &sge, .num_sge = 1}, *bad;

	assert_int_equal(ibv_post_recv(qp, &recv, &bad), 0);
}

static void post(struct ibv_qp *qp, enum ibv_wr_opcode opcode, struct ibv_sge sge)
{
	struct ibv_send_wr send = {.wr_id = 8, .sg_list = &sge, .num_sge = 1, .opcode = opcode};
	struct ibv_send_wr *bad;

	send.wr.rdma.remote_addr = sge.addr;
	send.wr.rdma.rkey = sge.lkey;
	assert_int_equal(ibv_post_send(qp, &send, &bad), 0);
}

/* The next completion is this QP's, with this status and vendor error. */
static void expect(struct world *w, struct ibv_qp *qp, enum ibv_wc_status status, uint32_t found)
{
	struct ibv_wc wc;

	world_poll(w->cq, &wc);
	if (wc.status != status)
		fail_msg("%s instead of %s", ibv_wc_status_str(wc.status),
			 ibv_wc_status_str(status));
	assert_int_equal(wc.qp_num, qp->qp_num);
	assert_int_equal(wc.vendor_err, found);
	assert_int_equal(wc.wr_id, wc.opcode & IBV_WC_RECV ? 7 : 8);
}

/* Completions of two QPs come in any order. */
static void expect_both(struct world *w, struct ibv_qp *qp[2], const enum ibv_wc_status status[2],
			const uint32_t found[2])
{
	struct ibv_wc wc;

	for (unsigned i = 0; i < 2; i++) {
		unsigned k;

		world_poll(w->cq, &wc);
		k = wc.qp_num == qp[1]->qp_num;
		if (wc.status != status[k])
			fail_msg("QP %u: %s instead of %s", k, ibv_wc_status_str(wc.status),
				 ibv_wc_status_str(status[k]));
		assert_int_equal(wc.vendor_err, found[k]);
	}
}

static void expect_state(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	assert_int_equal(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init), 0);
	assert_int_equal(attr.qp_state, state);
}

/* ---- QPs ---- */

static void make_pair(struct world *w, struct ibv_qp *qp[2])
{
	world_qp_pair(w, qp, IBV_QPS_RTS);
}

static void end_pair(struct ibv_qp *qp[2])
{
	assert_int_equal(ibv_destroy_qp(qp[0]), 0);
	assert_int_equal(ibv_destroy_qp(qp[1]), 0);
}

/* From INIT to RTS towards an address, with little patience. */
static void connect_hasty(struct ibv_qp *qp, uint32_t peer, const struct ibv_ah_attr *ah)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_RTR,
				.path_mtu = IBV_MTU_1024,
				.dest_qp_num = peer,
				.max_dest_rd_atomic = 1,
				.min_rnr_timer = 1,
				.ah_attr = *ah};

	assert_int_equal(ibv_modify_qp(qp, &a,
				       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
					       IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
					       IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
			 0);
	a = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
				 .timeout = 14,
				 .retry_cnt = 1,
				 .rnr_retry = 1,
				 .max_rd_atomic = 1};
	assert_int_equal(ibv_modify_qp(qp, &a,
				       IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
					       IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
					       IBV_QP_MAX_QP_RD_ATOMIC),
			 0);
}

static struct ibv_qp *make_hasty(struct world *w, uint32_t peer, const struct ibv_ah_attr *ah)
{
	struct ibv_qp_init_attr init = world_init_attr(w, IBV_QPT_RC);
	struct ibv_qp *qp = ibv_create_qp(w->pd, &init);

	assert_non_null(qp);
	world_connect(qp, 0, IBV_QPS_INIT);
	connect_hasty(qp, peer, ah);
	return qp;
}

/* ---- each status ---- */

static uint32_t by_peer(enum roce_nak_code code)
{
	return UHCA_ABI_FOUND_BY_PEER | (uint32_t)roce_syndrome(ROCE_NAK, (uint8_t)code) << 8;
}

static void test_success(void **state)
{
	struct world *w = *state;
	struct ibv_qp *qp = world_qp(w, NULL);

	post_recv(qp, element(w, 8));
	post(qp, IBV_WR_SEND, element(w, 8));
	expect(w, qp, IBV_WC_SUCCESS, 0);
	expect(w, qp, IBV_WC_SUCCESS, 0);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

/* A message longer than the receive: LOC_LEN_ERR there, REM_INV_REQ_ERR here. */
static void test_too_long(void **state)
{
	const enum ibv_wc_status status[2] = {IBV_WC_REM_INV_REQ_ERR, IBV_WC_LOC_LEN_ERR};
	const uint32_t found[2] = {by_peer(ROCE_NAK_INVALID_REQUEST), UHCA_ABI_FOUND_IN_RECEIVE};
	struct world *w = *state;
	struct ibv_qp *qp[2];

	make_pair(w, qp);
	post_recv(qp[1], element(w, 8));
	post(qp[0], IBV_WR_SEND, element(w, 9));
	expect_both(w, qp, status, found);
	expect_state(qp[0], IBV_QPS_ERR);
	expect_state(qp[1], IBV_QPS_ERR);
	end_pair(qp);
}

/* A datagram longer than the path MTU is not sent; UD goes to SQE, and on from there. */
static void test_datagram_too_long(void **state)
{
	struct world *w = *state;
	struct ibv_qp *qp = world_datagram_qp(w);
	struct ibv_ah_attr ah_attr = world_own_address(w->ctx);
	struct ibv_ah *ah = ibv_create_ah(w->pd, &ah_attr);
	struct ibv_sge sge[2] = {element(w, WORLD_SIZE), element(w, WORLD_SIZE)};
	struct ibv_send_wr send = {.wr_id = 8, .sg_list = sge, .num_sge = 2, .opcode = IBV_WR_SEND};
	struct ibv_qp_attr rts = {.qp_state = IBV_QPS_RTS};
	struct ibv_send_wr *bad;

	assert_non_null(ah);
	send.wr.ud.ah = ah;
	send.wr.ud.remote_qpn = qp->qp_num;
	send.wr.ud.remote_qkey = WORLD_QKEY;
	assert_int_equal(ibv_post_send(qp, &send, &bad), 0);
	expect(w, qp, IBV_WC_LOC_LEN_ERR, UHCA_ABI_FOUND_IN_REQUEST);
	expect_state(qp, IBV_QPS_SQE);
	assert_int_equal(ibv_modify_qp(qp, &rts, IBV_QP_STATE), 0);
	send.num_sge = 0;
	assert_int_equal(ibv_post_send(qp, &send, &bad), 0);
	expect(w, qp, IBV_WC_SUCCESS, 0);
	assert_int_equal(ibv_destroy_ah(ah), 0);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

/* An address handle of another protection domain. */
static void test_bad_operation(void **state)
{
	struct world *w = *state;
	struct ibv_pd *pd = ibv_alloc_pd(w->ctx);
	struct ibv_ah_attr ah_attr = world_own_address(w->ctx);
	struct ibv_send_wr send = {.wr_id = 8, .opcode = IBV_WR_SEND}, *bad;
	struct ibv_qp *qp = world_datagram_qp(w);

	send.wr.ud.ah = ibv_create_ah(pd, &ah_attr);
	assert_non_null(send.wr.ud.ah);
	assert_int_equal(ibv_post_send(qp, &send, &bad), 0);
	expect(w, qp, IBV_WC_LOC_QP_OP_ERR, UHCA_ABI_FOUND_IN_REQUEST);
	assert_int_equal(ibv_destroy_ah(send.wr.ud.ah), 0);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_dealloc_pd(pd), 0);
}

/* Longer than its receive: dropped, the receive waits for one that fits, and the QP lives. */
static void test_datagram_too_long_to_receive(void **state)
{
	struct world *w = *state;
	struct ibv_ah_attr ah_attr = world_own_address(w->ctx);
	struct ibv_qp *qp = world_datagram_qp(w);
	struct ibv_sge to = element(w, 100), from = element(w, 61);
	struct ibv_recv_wr recv = {.wr_id = 9, .sg_list = &to, .num_sge = 1}, *bad_recv;
	struct ibv_send_wr *bad, send = {.wr_id = 8,
					 .opcode = IBV_WR_SEND,
					 .sg_list = &from,
					 .num_sge = 1,
					 .wr.ud = {.ah = ibv_create_ah(w->pd, &ah_attr),
						   .remote_qpn = qp->qp_num,
						   .remote_qkey = WORLD_QKEY}};
	bool received = false;
	struct ibv_wc wc;

	assert_non_null(send.wr.ud.ah);
	assert_int_equal(ibv_post_recv(qp, &recv, &bad_recv), 0);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(ibv_post_send(qp, &send, &bad), 0);
		world_poll(w->cq, &wc);
		assert_int_equal(wc.wr_id, 8);
		assert_int_equal(wc.status, IBV_WC_SUCCESS);
	}
	from.length = 60;
	assert_int_equal(ibv_post_send(qp, &send, &bad), 0);
	for (unsigned i = 0; i < 2; i++) {
		world_poll(w->cq, &wc);
		assert_int_equal(wc.status, IBV_WC_SUCCESS);
		received |= wc.wr_id == 9 && wc.byte_len == 100;
	}
	assert_true(received);
	expect_state(qp, IBV_QPS_RTS);
	assert_int_equal(ibv_destroy_ah(send.wr.ud.ah), 0);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

/*
 * What the transport does not have is posted all the same, with whatever else stands in the
 * request, and completes in its turn.
 */
static void try_opcode(struct world *w, struct ibv_qp *qp, enum ibv_wr_opcode opcode)
{
	struct ibv_sge sge = element(w, 8);
	struct ibv_send_wr *bad, wr = {.wr_id = 8,
				       .opcode = opcode,
				       .sg_list = &sge,
				       .num_sge = 1,
				       .wr.rdma = {.remote_addr = 8, .rkey = 1}};

	assert_int_equal(ibv_post_send(qp, &wr, &bad), 0);
	expect(w, qp, IBV_WC_LOC_QP_OP_ERR, UHCA_ABI_FOUND_IN_REQUEST);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

static void test_bad_opcode(void **state)
{
	static const enum ibv_wr_opcode not_ud[] = {
		IBV_WR_RDMA_WRITE,
		IBV_WR_RDMA_WRITE_WITH_IMM,
		IBV_WR_RDMA_READ,
		IBV_WR_ATOMIC_CMP_AND_SWP,
		IBV_WR_ATOMIC_FETCH_AND_ADD,
		IBV_WR_LOCAL_INV,
		IBV_WR_BIND_MW,
		IBV_WR_SEND_WITH_INV,
		IBV_WR_TSO,
		IBV_WR_DRIVER1,
	};
	struct world *w = *state;
	struct ibv_qp *qp = world_datagram_qp(w);
	struct ibv_send_wr wr = {.opcode = (enum ibv_wr_opcode)31}, *bad;

	for (size_t i = 0; i < sizeof(not_ud) / sizeof(not_ud[0]); i++)
		try_opcode(w, world_datagram_qp(w), not_ud[i]);
	try_opcode(w, world_qp(w, NULL), IBV_WR_TSO);
	try_opcode(w, world_qp(w, NULL), IBV_WR_DRIVER1);
	/* What is no opcode at all is no request. */
	assert_int_equal(ibv_post_send(qp, &wr, &bad), EINVAL);
	wr.opcode = (enum ibv_wr_opcode)14; /* FLUSH: struct ibv_send_wr has no room for it */
	assert_int_equal(ibv_post_send(qp, &wr, &bad), EINVAL);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

/* A key that names nothing; what follows is flushed. */
static void test_bad_key(void **state)
{
	struct world *w = *state;
	struct ibv_qp *qp = world_qp(w, NULL);
	struct ibv_sge sge = element(w, 8);

	sge.lkey ^= 0xff;
	post(qp, IBV_WR_SEND, sge);
	post(qp, IBV_WR_SEND, element(w, 8));
	expect(w, qp, IBV_WC_LOC_PROT_ERR, UHCA_ABI_FOUND_IN_REQUEST);
	expect(w, qp, IBV_WC_WR_FLUSH_ERR, UHCA_ABI_FOUND_IN_FLUSH);
	expect_state(qp, IBV_QPS_ERR);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

/* The region was not registered for windows (10.6.7.2.1). */
static void test_bind(void **state)
{
	struct world *w = *state;
	struct ibv_mw *mw = ibv_alloc_mw(w->pd, IBV_MW_TYPE_1);
	struct ibv_mw_bind bind = {.wr_id = 8,
				   .send_flags = IBV_SEND_SIGNALED,
				   .bind_info = {.mr = w->mr,
						 .addr = (uintptr_t)w->memory,
						 .length = 64,
						 .mw_access_flags = IBV_ACCESS_REMOTE_READ}};
	struct ibv_qp *qp[2];

	assert_non_null(mw);
	make_pair(w, qp);
	assert_int_equal(ibv_bind_mw(qp[0], mw, &bind), 0);
	expect(w, qp[0], IBV_WC_MW_BIND_ERR, UHCA_ABI_FOUND_IN_REQUEST);
	expect_state(qp[0], IBV_QPS_ERR);
	end_pair(qp);
	assert_int_equal(ibv_dealloc_mw(mw), 0);
}

static void test_flush(void **state)
{
	struct world *w = *state;
	struct ibv_qp *qp = world_qp(w, NULL);
	struct ibv_qp_attr error = {.qp_state = IBV_QPS_ERR};

	post_recv(qp, element(w, 8));
	assert_int_equal(ibv_modify_qp(qp, &error, IBV_QP_STATE), 0);
	expect(w, qp, IBV_WC_WR_FLUSH_ERR, UHCA_ABI_FOUND_IN_FLUSH);
	post(qp, IBV_WR_SEND, element(w, 8));
	expect(w, qp, IBV_WC_WR_FLUSH_ERR, UHCA_ABI_FOUND_IN_FLUSH);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

/* A WRITE and a READ to memory that allows neither. */
static void test_remote_access(void **state)
{
	static const enum ibv_wr_opcode opcode[] = {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ};
	struct world *w = *state;
	struct ibv_qp *qp[2];

	for (unsigned i = 0; i < 2; i++) {
		make_pair(w, qp);
		post(qp[0], opcode[i], element(w, 8));
		expect(w, qp[0], IBV_WC_REM_ACCESS_ERR, by_peer(ROCE_NAK_REMOTE_ACCESS));
		expect_state(qp[0], IBV_QPS_ERR);
		expect_state(qp[1], IBV_QPS_ERR);
		end_pair(qp);
	}
}

/* The receiver's memory has gone: its LOC_PROT_ERR, the sender's REM_OP_ERR. */
static void test_remote_operation(void **state)
{
	const enum ibv_wc_status status[2] = {IBV_WC_REM_OP_ERR, IBV_WC_LOC_PROT_ERR};
	const uint32_t found[2] = {by_peer(ROCE_NAK_REMOTE_OPERATIONAL), UHCA_ABI_FOUND_IN_RECEIVE};
	struct world *w = *state;
	struct ibv_qp *qp[2];
	void *gone =
		mmap(NULL, WORLD_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ibv_mr *mr = ibv_reg_mr(w->pd, gone, WORLD_SIZE, IBV_ACCESS_LOCAL_WRITE);

	assert_non_null(mr);
	make_pair(w, qp);
	post_recv(qp[1], (struct ibv_sge){(uintptr_t)gone, WORLD_SIZE, mr->lkey});
	assert_int_equal(munmap(gone, WORLD_SIZE), 0);
	post(qp[0], IBV_WR_SEND, element(w, WORLD_SIZE));
	expect_both(w, qp, status, found);
	end_pair(qp);
	assert_int_equal(ibv_dereg_mr(mr), 0);
}

/* Nobody there. */
static void test_no_answer(void **state)
{
	struct world *w = *state;
	struct ibv_ah_attr ah = world_own_address(w->ctx);
	struct ibv_qp *qp = make_hasty(w, 0xfffffe, &ah);

	post(qp, IBV_WR_SEND, element(w, 8));
	expect(w, qp, IBV_WC_RETRY_EXC_ERR, UHCA_ABI_FOUND_BY_TIMER);
	expect_state(qp, IBV_QPS_ERR);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

/* Somebody there, with nothing posted. */
static void test_not_ready(void **state)
{
	struct world *w = *state;
	struct ibv_ah_attr ah = world_own_address(w->ctx);
	struct ibv_qp *peer = world_qp(w, NULL);
	struct ibv_qp *qp = make_hasty(w, peer->qp_num, &ah);
	struct ibv_qp_attr reset = {.qp_state = IBV_QPS_RESET};

	assert_int_equal(ibv_modify_qp(peer, &reset, IBV_QP_STATE), 0);
	world_connect(peer, qp->qp_num, IBV_QPS_RTS);
	post(qp, IBV_WR_SEND, element(w, 8));
	expect(w, qp, IBV_WC_RNR_RETRY_EXC_ERR, UHCA_ABI_FOUND_BY_RNR);
	expect_state(qp, IBV_QPS_ERR);
	expect_state(peer, IBV_QPS_RTS);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_destroy_qp(peer), 0);
}

/* ---- a peer that speaks nonsense ---- */

struct stranger {
	int fd;
	struct ibv_ah_attr ah;
};

/* A UDP socket at an address of its own where a device might be. */
static void open_stranger(struct stranger *s, struct ibv_context *ctx)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(ROCE_UDP_PORT)};
	unsigned pid = (unsigned)getpid();
	char text[32];

	snprintf(text, sizeof(text), "127.%u.%u.77", 230 + pid / 250 % 20, 1 + pid % 250);
	assert_int_equal(inet_pton(AF_INET, text, &at.sin_addr), 1);
	s->fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	assert_true(s->fd >= 0);
	assert_int_equal(bind(s->fd, (struct sockaddr *)&at, sizeof(at)), 0);
	s->ah = world_own_address(ctx);
	memset(&s->ah.grh.dgid, 0, sizeof(s->ah.grh.dgid));
	s->ah.grh.dgid.raw[10] = s->ah.grh.dgid.raw[11] = 0xff;
	memcpy(s->ah.grh.dgid.raw + 12, &at.sin_addr, 4);
}

/* Waits for a request; tells from where, and its PSN. */
static uint32_t hear(struct stranger *s, struct sockaddr_in *from)
{
	struct timeval limit = {.tv_sec = WORLD_LIMIT};
	socklen_t len = sizeof(*from);
	struct roce_packet packet;
	uint8_t buf[2048];
	ssize_t n;

	setsockopt(s->fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	n = recvfrom(s->fd, buf, sizeof(buf), 0, (struct sockaddr *)from, &len);
	assert_true(n > ROCE_ICRC_LENGTH);
	assert_int_equal(roce_packet_parse(buf, (size_t)n - ROCE_ICRC_LENGTH, &packet),
			 ROCE_PARSE_OK);
	return packet.bth.psn;
}

static void say(struct stranger *s, const struct sockaddr_in *to, const struct roce_packet *packet)
{
	struct roce_flow flow = {.sport = ROCE_UDP_PORT, .dport = ROCE_UDP_PORT};
	struct sockaddr_in at = *to;
	uint8_t buf[2048];
	size_t n = roce_packet_emit(packet, buf, sizeof(buf) - ROCE_ICRC_LENGTH);
	size_t head = roce_header_length(packet->bth.opcode);
	uint32_t icrc;

	assert_true(n > 0);
	flow.src[10] = flow.src[11] = flow.dst[10] = flow.dst[11] = 0xff;
	memcpy(flow.src + 12, s->ah.grh.dgid.raw + 12, 4);
	memcpy(flow.dst + 12, &to->sin_addr, 4);
	icrc = roce_icrc_begin(&flow, 0, n + ROCE_ICRC_LENGTH, buf, head);
	icrc = roce_icrc_update(icrc, buf + head, n - head);
	roce_icrc_store(icrc, buf + n);
	n += ROCE_ICRC_LENGTH;
	at.sin_port = htons(ROCE_UDP_PORT);
	assert_int_equal(sendto(s->fd, buf, n, 0, (struct sockaddr *)&at, sizeof(at)), n);
}

/* A NAK with a code that the specification has reserved, and a READ response of a wrong length. */
static void answer_badly(struct world *w, const struct roce_packet *answer,
			 enum ibv_wr_opcode opcode)
{
	struct roce_packet packet = *answer;
	struct sockaddr_in from;
	struct stranger s;
	struct ibv_qp *qp;

	open_stranger(&s, w->ctx);
	qp = make_hasty(w, 0x123456, &s.ah);
	post(qp, opcode, element(w, 8));
	packet.bth.psn = hear(&s, &from);
	packet.bth.dest_qp = qp->qp_num;
	packet.bth.pkey = 0xffff;
	say(&s, &from, &packet);
	expect(w, qp, IBV_WC_BAD_RESP_ERR, UHCA_ABI_FOUND_IN_RESPONSE);
	expect_state(qp, IBV_QPS_ERR);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	close(s.fd);
}

static void test_bad_response(void **state)
{
	static const uint8_t payload[4];
	struct roce_packet nak = {.bth.opcode.v = ROCE_RC_ACKNOWLEDGE};
	struct roce_packet read = {.bth.opcode.v = ROCE_RC_READ_RESPONSE_ONLY,
				   .payload = payload,
				   .payload_len = sizeof(payload)};

	nak.aeth.syndrome = roce_syndrome(ROCE_NAK, 20);
	answer_badly(*state, &nak, IBV_WR_SEND);
	answer_badly(*state, &read, IBV_WR_RDMA_READ);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_success),
		TEST(test_too_long),
		TEST(test_datagram_too_long),
		TEST(test_bad_opcode),
		TEST(test_datagram_too_long_to_receive),
		TEST(test_bad_operation),
		TEST(test_bad_key),
		TEST(test_bind),
		TEST(test_flush),
		TEST(test_remote_access),
		TEST(test_remote_operation),
		TEST(test_no_answer),
		TEST(test_not_ready),
		TEST(test_bad_response),
	};

	alarm(300); /* a hang is a failure */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
