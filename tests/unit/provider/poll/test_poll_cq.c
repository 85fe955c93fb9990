/* SPDX-License-Identifier: BSD-2-Clause */
/* ibv_poll_cq: what becomes of ring entries; and what a dead daemon's left work becomes. */
#include "tests/support/provider/provider_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include "provider/poll/arm_cq.h"
#include "provider/poll/poll_cq.h"
#include "provider/post/post_recv.h"
#include "provider/post/post_send.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* In the C library's place. */
static unsigned yields;
static void (*at_yield)(void);

int sched_yield(void)
{
	yields++;
	if (at_yield)
		at_yield();
	return 0;
}

static void test_translate(void **state)
{
	struct fixture *f = fixture_create(IBV_QPT_UD);
	struct uhca_abi_cqe e = {.wr_id = 0x1122334455667788,
				 .qpn = FIXTURE_QPN,
				 .src_qp = 0xabcdef,
				 .byte_len = 140,
				 .imm = 0xdeadbeef,
				 .status = UHCA_ABI_WC_LOC_LEN_ERR,
				 .opcode = UHCA_ABI_WC_RECV,
				 .flags = UHCA_ABI_WC_GRH | UHCA_ABI_WC_WITH_IMM |
					  UHCA_ABI_WC_SOLICITED,
				 .vendor_err = 7,
				 .pkey_index = 3,
				 .slid = 0x44,
				 .sl = 5,
				 .dlid_path_bits = 6};
	struct ibv_wc wc[2];

	(void)state;
	fixture_complete(f, &e);
	assert_int_equal(uhcav_poll_cq(&f->cq.cq, 2, wc), 1);
	assert_int_equal(wc[0].wr_id, e.wr_id);
	assert_int_equal(wc[0].status, IBV_WC_LOC_LEN_ERR);
	assert_int_equal(wc[0].opcode, IBV_WC_RECV);
	assert_int_equal(wc[0].vendor_err, 7);
	assert_int_equal(wc[0].byte_len, 140);
	assert_int_equal(wc[0].imm_data, 0xdeadbeef);
	assert_int_equal(wc[0].qp_num, FIXTURE_QPN);
	assert_int_equal(wc[0].src_qp, 0xabcdef);
	assert_int_equal(wc[0].wc_flags, IBV_WC_GRH | IBV_WC_WITH_IMM);
	assert_int_equal(wc[0].pkey_index, 3);
	assert_int_equal(wc[0].slid, 0x44);
	assert_int_equal(wc[0].sl, 5);
	assert_int_equal(wc[0].dlid_path_bits, 6);
	assert_int_equal(f->cq_page.ring.consumer, 1);
	assert_int_equal(uhcav_poll_cq(&f->cq.cq, 2, wc), 0);
	fixture_destroy(f);
}

/* More than one turn of the ring, in pieces of any size. */
static void test_order(void **state)
{
	struct fixture *f = fixture_create(IBV_QPT_RC);
	struct uhca_abi_cqe e = {.qpn = FIXTURE_QPN};
	struct ibv_wc wc[FIXTURE_CQE];
	uint64_t in = 0, out = 0;

	(void)state;
	f->cq.consumer = f->cq_producer = UINT32_MAX - 20;
	for (unsigned round = 0; round < 50; round++) {
		for (unsigned i = 0; i < 1 + round % FIXTURE_CQE; i++) {
			e.wr_id = in++;
			fixture_complete(f, &e);
		}
		while (out < in) {
			int n = uhcav_poll_cq(&f->cq.cq, 3, wc);
			assert_in_range(n, 1, 3);
			for (int i = 0; i < n; i++)
				assert_int_equal(wc[i].wr_id, out++);
		}
		assert_int_equal(uhcav_poll_cq(&f->cq.cq, 3, wc), 0);
		assert_int_equal(f->cq_page.ring.consumer, f->cq_producer);
	}
	fixture_destroy(f);
}

static void complete_some(struct fixture *f, unsigned n, uint8_t opcode, uint32_t length)
{
	struct uhca_abi_cqe e = {.qpn = FIXTURE_QPN, .opcode = opcode, .byte_len = length};

	while (n-- > 0)
		fixture_complete(f, &e);
}

/* What the device hears of payload that the program is done with: one for each empty poll. */
static void test_handled(void **state)
{
	struct fixture *f = fixture_create(IBV_QPT_RC);
	const uint32_t *handled = &f->cq_page.ring.handled;
	struct uhca_abi_cqe failed = {.qpn = FIXTURE_QPN,
				      .opcode = UHCA_ABI_WC_RECV,
				      .byte_len = 7,
				      .status = UHCA_ABI_WC_LOC_LEN_ERR};
	struct ibv_wc wc[8];

	(void)state;
	assert_int_equal(uhcav_poll_cq(&f->cq.cq, 8, wc), 0);
	assert_int_equal(*handled, 0); /* nothing can be more than handled */
	complete_some(f, 2, UHCA_ABI_WC_RECV, 1);
	complete_some(f, 1, UHCA_ABI_WC_RECV_RDMA_WITH_IMM, 4096);
	/* None of these is payload. */
	complete_some(f, 1, UHCA_ABI_WC_RECV_RDMA_WITH_IMM, 0);
	complete_some(f, 1, UHCA_ABI_WC_SEND, 10);
	fixture_complete(f, &failed);
	assert_int_equal(uhcav_poll_cq(&f->cq.cq, 8, wc), 6);
	assert_int_equal(*handled, 0);
	assert_int_equal(uhcav_poll_cq(&f->cq.cq, 0, wc), 0); /* this one did not look */
	assert_int_equal(*handled, 0);
	for (uint32_t i = 1; i <= 5; i++) {
		assert_int_equal(uhcav_poll_cq(&f->cq.cq, 1, wc), 0);
		assert_int_equal(*handled, i < 3 ? i : 3);
	}
	/* Those of a QP that is gone count on both sides. */
	complete_some(f, 2, UHCA_ABI_WC_RECV, 1);
	uhcav_cq_skip(&f->cq, FIXTURE_QPN, NULL);
	assert_int_equal(uhcav_poll_cq(&f->cq.cq, 1, wc), 0);
	assert_int_equal(uhcav_poll_cq(&f->cq.cq, 1, wc), 0);
	assert_int_equal(*handled, 5);
	fixture_destroy(f);
}

/* The processor is given away when there is nothing to take and nothing left to handle. */
static void test_yields(void **state)
{
	struct fixture *f = fixture_create(IBV_QPT_RC);
	struct ibv_wc wc[8];

	(void)state;
	yields = 0;
	complete_some(f, 2, UHCA_ABI_WC_RECV, 1);
	assert_int_equal(uhcav_poll_cq(&f->cq.cq, 1, wc), 1);
	assert_int_equal(uhcav_poll_cq(&f->cq.cq, 1, wc), 1);
	assert_int_equal(yields, 0);
	assert_int_equal(uhcav_poll_cq(&f->cq.cq, 1, wc), 0);
	assert_int_equal(uhcav_poll_cq(&f->cq.cq, 1, wc), 0);
	assert_int_equal(yields, 0); /* it took them one by one, and is busy with them */
	assert_int_equal(uhcav_poll_cq(&f->cq.cq, 1, wc), 0);
	assert_int_equal(yields, 1);
	complete_some(f, 2, UHCA_ABI_WC_RECV, 1);
	assert_int_equal(uhcav_poll_cq(&f->cq.cq, 8, wc), 2);
	assert_int_equal(yields, 1);
	assert_int_equal(uhcav_poll_cq(&f->cq.cq, 8, wc), 0);
	assert_int_equal(yields, 2);
	fixture_destroy(f);
}

/* Who goes to sleep has handled all; who never polls in vain is not that far behind for ever. */
static void test_handled_at_once(void **state)
{
	struct fixture *f = fixture_create(IBV_QPT_RC);
	const uint32_t *handled = &f->cq_page.ring.handled;
	struct ibv_wc wc;

	(void)state;
	for (uint32_t i = 0; i < UHCA_ABI_UNHANDLED_MAX + 3; i++) {
		complete_some(f, 1, UHCA_ABI_WC_RECV, 1);
		assert_int_equal(uhcav_poll_cq(&f->cq.cq, 1, &wc), 1);
	}
	assert_int_equal(*handled, 3);
	complete_some(f, 1, UHCA_ABI_WC_RECV, 1);
	assert_int_equal(uhcav_req_notify_cq(&f->cq.cq, 0), 0);
	assert_int_equal(*handled, UHCA_ABI_UNHANDLED_MAX + 3);
	assert_int_equal(uhcav_poll_cq(&f->cq.cq, 1, &wc), 1);
	assert_int_equal(*handled, UHCA_ABI_UNHANDLED_MAX + 3);
	fixture_destroy(f);
}

static void test_skip(void **state)
{
	struct fixture *f = fixture_create(IBV_QPT_RC);
	struct uhca_abi_cqe mine = {.wr_id = 1, .qpn = FIXTURE_QPN};
	struct uhca_abi_cqe other = {.qpn = 9, .opcode = UHCA_ABI_WC_RECV};
	struct ibv_wc wc[4];

	(void)state;
	fixture_complete(f, &other);
	fixture_complete(f, &mine);
	fixture_complete(f, &other);
	uhcav_cq_skip(&f->cq, 9, NULL);
	assert_int_equal(uhcav_poll_cq(&f->cq.cq, 4, wc), 1);
	assert_int_equal(wc[0].wr_id, 1);
	assert_int_equal(f->cq_page.ring.consumer, 3);
	fixture_destroy(f);
}

static void post(struct fixture *f, unsigned sends, unsigned recvs)
{
	struct ibv_send_wr send = {.opcode = IBV_WR_RDMA_READ}, *bad_send;
	struct ibv_recv_wr recv = {.wr_id = 0}, *bad_recv;

	for (send.wr_id = 100; send.wr_id < 100 + sends; send.wr_id++)
		assert_int_equal(uhcav_post_send(&f->qp.qp, &send, &bad_send), 0);
	for (recv.wr_id = 200; recv.wr_id < 200 + recvs; recv.wr_id++)
		assert_int_equal(uhcav_post_recv(&f->qp.qp, &recv, &bad_recv), 0);
}

/* Five sends of which two were completed, five receives of which one was completed: 3 + 4 left. */
/* Payload that is to be copied: by us, by the daemon, or by us when the daemon has died there. */
static void test_copy_on_poll(void **state)
{
	struct fixture *f = fixture_create(IBV_QPT_RC);
	struct uhca_abi_copy_on_poll *slots = calloc(UHCA_ABI_COPY_ON_POLL_SLOTS, sizeof(*slots));
	struct uhca_abi_cqe e = {.qpn = FIXTURE_QPN,
				 .opcode = UHCA_ABI_WC_RECV,
				 .flags = UHCA_ABI_WC_COPY_ON_POLL,
				 .byte_len = 5,
				 .copy_on_poll = 3};
	char to[8];
	struct ibv_wc wc;

	(void)state;
	assert_non_null(slots);
	memset(to, '.', sizeof(to));
	f->cq.copies_on_poll = slots;
	slots[3] = (struct uhca_abi_copy_on_poll){
		UHCA_ABI_COPY_ON_POLL_PENDING, 5, (uintptr_t)to, {0}, "hello"};
	fixture_complete(f, &e);
	assert_int_equal(uhcav_poll_cq(&f->cq.cq, 1, &wc), 1);
	assert_int_equal(wc.wc_flags, 0);
	assert_memory_equal(to, "hello...", 8);
	assert_int_equal(slots[3].state, UHCA_ABI_COPY_ON_POLL_DONE);

	memset(to, '.', sizeof(to)); /* done by the daemon; our buffer may be another message's */
	fixture_complete(f, &e);
	assert_int_equal(uhcav_poll_cq(&f->cq.cq, 1, &wc), 1);
	assert_memory_equal(to, "........", 8);

	slots[3].state =
		UHCA_ABI_COPY_ON_POLL_CLIENT; /* left in the middle by whoever took it before */
	fixture_complete(f, &e);
	assert_int_equal(uhcav_poll_cq(&f->cq.cq, 1, &wc), 1);
	assert_memory_equal(to, "hello...", 8);
	assert_int_equal(slots[3].state, UHCA_ABI_COPY_ON_POLL_DONE);
	memset(to, '.', sizeof(to));

	slots[3].state = UHCA_ABI_COPY_ON_POLL_PENDING; /* of a QP that is gone */
	e.flags |= UHCA_ABI_WC_SKIP;
	fixture_complete(f, &e);
	assert_int_equal(uhcav_poll_cq(&f->cq.cq, 1, &wc), 0);
	assert_memory_equal(to, "hello...", 8);
	e.flags = UHCA_ABI_WC_COPY_ON_POLL;

	memset(to, '.', sizeof(to));
	slots[3].state = UHCA_ABI_COPY_ON_POLL_DEVICE;
	f->ctx.life = UHCAV_FATAL;
	fixture_complete(f, &e);
	assert_int_equal(uhcav_poll_cq(&f->cq.cq, 1, &wc), 1);
	assert_memory_equal(to, "hello...", 8);
	f->ctx.life = UHCAV_ALIVE;

	memset(to, '.', sizeof(to)); /* nonsense is no crash */
	slots[3].state = 77;
	fixture_complete(f, &e);
	assert_int_equal(uhcav_poll_cq(&f->cq.cq, 1, &wc), 1);
	assert_memory_equal(to, "........", 8);
	e.copy_on_poll = UHCA_ABI_COPY_ON_POLL_SLOTS;
	fixture_complete(f, &e);
	e.copy_on_poll = 4;
	slots[4] = (struct uhca_abi_copy_on_poll){UHCA_ABI_COPY_ON_POLL_PENDING,
						  UHCA_ABI_COPY_ON_POLL_BYTES + 1,
						  (uintptr_t)to,
						  {0},
						  "hello"};
	fixture_complete(f, &e);
	assert_int_equal(uhcav_poll_cq(&f->cq.cq, 1, &wc), 1);
	assert_int_equal(uhcav_poll_cq(&f->cq.cq, 1, &wc), 1);
	assert_memory_equal(to, "........", 8);
	f->cq.copies_on_poll = NULL;
	free(slots);
	fixture_destroy(f);
}

/*
 * A page that traps: in the middle of the program's copy the daemon wants it in memory too, and
 * stores it while the program waits.
 */
static struct helped {
	struct uhca_abi_copy_on_poll copy_on_poll;
	uint8_t *page;
	unsigned traps, at_yield;
} * helped;

static void on_trap(int sig)
{
	(void)sig;
	if (helped->traps++ || mprotect(helped->page, 4096, PROT_READ | PROT_WRITE) ||
	    !uhca_copy_on_poll_exchange(&helped->copy_on_poll, UHCA_ABI_COPY_ON_POLL_CLIENT,
					UHCA_ABI_COPY_ON_POLL_DEVICE))
		_exit(3);
}

static void store_at_yield(void)
{
	if (yields != helped->at_yield)
		return;
	memset(helped->page, 0xaa, 4096); /* what it finds is the daemon's */
	uhca_copy_on_poll_set(&helped->copy_on_poll, UHCA_ABI_COPY_ON_POLL_CLIENT);
}

static void test_both_copy(void **state)
{
	const struct sigaction trap = {.sa_handler = on_trap};
	struct fixture *f = fixture_create(IBV_QPT_RC);
	struct uhca_abi_cqe e = {
		.qpn = FIXTURE_QPN, .opcode = UHCA_ABI_WC_RECV, .flags = UHCA_ABI_WC_COPY_ON_POLL};
	struct sigaction before;
	struct ibv_wc wc;

	(void)state;
	helped = calloc(1, sizeof(*helped));
	assert_non_null(helped);
	helped->page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(helped->page != MAP_FAILED);
	helped->copy_on_poll.state = UHCA_ABI_COPY_ON_POLL_PENDING;
	helped->copy_on_poll.length = 4096;
	helped->copy_on_poll.addr = (uintptr_t)helped->page;
	memset(helped->copy_on_poll.bytes, 0x55, 4096);
	f->cq.copies_on_poll = &helped->copy_on_poll;
	helped->at_yield = yields + 3;
	at_yield = store_at_yield;
	assert_int_equal(sigaction(SIGSEGV, &trap, &before), 0);
	fixture_complete(f, &e);
	assert_int_equal(uhcav_poll_cq(&f->cq.cq, 1, &wc), 1);
	sigaction(SIGSEGV, &before, NULL);
	at_yield = NULL;
	assert_int_equal(helped->traps, 1);
	assert_int_equal(yields, helped->at_yield);
	assert_int_equal(helped->copy_on_poll.state, UHCA_ABI_COPY_ON_POLL_DONE);
	for (unsigned i = 0; i < 4096; i++)
		assert_int_equal(helped->page[i], 0xaa);
	munmap(helped->page, 4096);
	f->cq.copies_on_poll = NULL;
	free(helped);
	fixture_destroy(f);
}

static void test_flush(void **state)
{
	struct fixture *f = fixture_create(IBV_QPT_RC);
	struct uhca_abi_cqe sent = {.wr_id = 101, .qpn = FIXTURE_QPN, .wqe_index = 1};
	struct uhca_abi_cqe received = {
		.wr_id = 200, .qpn = FIXTURE_QPN, .opcode = UHCA_ABI_WC_RECV};
	uint64_t want[] = {101, 200, 102, 103, 104, 201, 202, 203, 204};
	struct ibv_wc wc[2];
	unsigned got = 0;

	(void)state;
	post(f, 5, 5);
	f->queue.send.consumer = 2;
	f->queue.recv.consumer = 3; /* taken, but not completed: only our count knows */
	fixture_complete(f, &sent);
	fixture_complete(f, &received);
	f->ctx.life = UHCAV_FATAL;
	assert_true(uhcav_cq_pending(&f->cq));
	for (int n; (n = uhcav_poll_cq(&f->cq.cq, 2, wc)) > 0;)
		for (int i = 0; i < n; i++, got++) {
			assert_in_range(got, 0, 8);
			assert_int_equal(wc[i].wr_id, want[got]);
			assert_int_equal(wc[i].qp_num, FIXTURE_QPN);
			assert_int_equal(wc[i].status,
					 got < 2 ? IBV_WC_SUCCESS : IBV_WC_WR_FLUSH_ERR);
		}
	assert_int_equal(got, 9);
	assert_false(uhcav_cq_pending(&f->cq));
	/* A daemon that was only slow is not believed any more. */
	fixture_complete(f, &sent);
	assert_int_equal(uhcav_poll_cq(&f->cq.cq, 2, wc), 0);
	fixture_destroy(f);
}

/* Garbage for an opcode does not make a receive a send: what is flushed later knows the queue. */
static void test_inverted_opcode(void **state)
{
	struct fixture *f = fixture_create(IBV_QPT_RC);
	const struct uhca_abi_cqe received = {.wr_id = 200,
					      .qpn = FIXTURE_QPN,
					      .status = UHCA_ABI_WC_LOC_LEN_ERR,
					      .opcode = UHCA_ABI_WC_SEND,
					      .flags = UHCA_ABI_WC_RECV_INVERTED};
	struct ibv_wc wc[4];

	(void)state;
	post(f, 1, 1);
	f->queue.recv.consumer = 1;
	fixture_complete(f, &received);
	assert_int_equal(uhcav_poll_cq(&f->cq.cq, 4, wc), 1);
	assert_int_equal(wc[0].wr_id, 200);
	assert_int_equal(wc[0].opcode, IBV_WC_SEND);
	assert_int_equal(wc[0].wc_flags, 0);
	f->ctx.life = UHCAV_FATAL;
	assert_int_equal(uhcav_poll_cq(&f->cq.cq, 4, wc), 1); /* the send, and no receive */
	assert_int_equal(wc[0].wr_id, 100);
	fixture_destroy(f);
}

/*
 * The daemon died after it gave the slot of send 1 back and before it completed it: reported when
 * a completion was due, and not when there was none to come.
 */
static void flush_after(bool signaled, bool polled, unsigned want)
{
	struct fixture *f = fixture_create(IBV_QPT_RC);
	struct uhca_abi_cqe sent = {.wr_id = 1, .qpn = FIXTURE_QPN, .wqe_index = 1};
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND}, *bad;
	struct ibv_wc wc[4];

	if (signaled)
		wr.send_flags = IBV_SEND_SIGNALED;
	for (wr.wr_id = 0; wr.wr_id < 3; wr.wr_id++)
		assert_int_equal(uhcav_post_send(&f->qp.qp, &wr, &bad), 0);
	f->queue.send.consumer = 2;
	if (polled) {
		fixture_complete(f, &sent);
		assert_int_equal(uhcav_poll_cq(&f->cq.cq, 1, wc), 1);
	}
	f->ctx.life = UHCAV_FATAL;
	assert_int_equal(uhcav_poll_cq(&f->cq.cq, 4, wc), want);
	assert_int_equal(wc[want - 1].wr_id, 2);
	assert_int_equal(wc[0].wr_id, 3 - want);
	fixture_destroy(f);
}

static void test_flush_between(void **state)
{
	(void)state;
	flush_after(true, true, 1);
	flush_after(true, false, 2);
	flush_after(false, false, 1);
}

/*
 * Behind a CQ that ignores overruns the wr_id of a receive that the device holds survives the reuse
 * of its slot.
 */
static void test_flush_reused_slots(void **state)
{
	struct fixture *f = fixture_create(IBV_QPT_RC);
	struct ibv_wc wc[2 * FIXTURE_WR];

	(void)state;
	f->qp.rq.leaves_when_taken = true;
	post(f, 0, FIXTURE_WR);
	f->queue.recv.consumer = FIXTURE_WR;
	post(f, 0, FIXTURE_WR);
	f->ctx.life = UHCAV_FATAL;
	assert_int_equal(uhcav_poll_cq(&f->cq.cq, 2 * FIXTURE_WR, wc), 2 * FIXTURE_WR);
	for (unsigned i = 0; i < 2 * FIXTURE_WR; i++)
		assert_int_equal(wc[i].wr_id, 200 + i % FIXTURE_WR);
	fixture_destroy(f);
}

/* What a mad or dead daemon left in the shared page must not make us report the impossible. */
static void test_flush_nonsense(void **state)
{
	struct fixture *f = fixture_create(IBV_QPT_RC);
	struct ibv_wc wc[4];

	(void)state;
	post(f, 3, 0);
	f->queue.send.consumer = 1000;
	f->ctx.life = UHCAV_FATAL;
	assert_int_equal(uhcav_poll_cq(&f->cq.cq, 4, wc), 0);
	fixture_destroy(f);
}

static void test_forked(void **state)
{
	struct fixture *f = fixture_create(IBV_QPT_RC);
	struct uhca_abi_cqe e = {.qpn = FIXTURE_QPN};
	struct ibv_wc wc;

	(void)state;
	fixture_complete(f, &e);
	f->ctx.life = UHCAV_FORKED;
	assert_true(uhcav_poll_cq(&f->cq.cq, 1, &wc) < 0);
	assert_int_equal(f->cq_page.ring.consumer, 0);
	assert_int_equal(uhcav_req_notify_cq(&f->cq.cq, 0), EIO);
	assert_int_equal(f->cq_page.arm, 0);
	fixture_destroy(f);
}

static void test_arm(void **state)
{
	struct fixture *f = fixture_create(IBV_QPT_RC);

	(void)state;
	assert_int_equal(uhcav_req_notify_cq(&f->cq.cq, 1), 0);
	assert_int_equal(f->cq_page.arm, UHCA_ABI_ARM_SOLICITED);
	assert_int_equal(uhcav_req_notify_cq(&f->cq.cq, 0), 0);
	assert_int_equal(f->cq_page.arm, UHCA_ABI_ARM_SOLICITED | UHCA_ABI_ARM_NEXT);
	fixture_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_translate),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_handled),
		cmocka_unit_test(test_handled_at_once),
		cmocka_unit_test(test_yields),
		cmocka_unit_test(test_skip),
		cmocka_unit_test(test_copy_on_poll),
		cmocka_unit_test(test_both_copy),
		cmocka_unit_test(test_flush),
		cmocka_unit_test(test_flush_between),
		cmocka_unit_test(test_inverted_opcode),
		cmocka_unit_test(test_flush_reused_slots),
		cmocka_unit_test(test_flush_nonsense),
		cmocka_unit_test(test_forked),
		cmocka_unit_test(test_arm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
