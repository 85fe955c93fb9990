/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The layout that daemon and clients share, number by number: what a change here breaks is every
 * client that was built before it. The values are those of the ABI version named; a new version
 * changes them on purpose.
 */
#include "tests/support/wire/cmocka_all.h"

#include "emu/abi/cmd.h"
#include "emu/abi/copy_on_poll.h"
#include "emu/abi/cqe.h"
#include "emu/abi/event.h"
#include "emu/abi/region.h"
#include "emu/abi/wqe.h"

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define SIZE(type, size)            assert_int_equal(sizeof(struct type), size)
#define OFFSET(type, field, offset) assert_int_equal(offsetof(struct type, field), offset)

static void test_version(void **state)
{
	(void)state;
	assert_int_equal(UHCA_ABI_VERSION, 6);
	assert_memory_equal(&(uint32_t){UHCA_ABI_MAGIC}, "uhca", 4);
}

static void test_regions(void **state)
{
	(void)state;
	SIZE(uhca_abi_ring, 256);
	OFFSET(uhca_abi_ring, producer, 0);
	OFFSET(uhca_abi_ring, consumer, 128);
	OFFSET(uhca_abi_ring, handled, 132);
	OFFSET(uhca_abi_ring, reports_handled, 136);
	OFFSET(uhca_abi_ring, takes_copies_on_poll, 140);
	SIZE(uhca_abi_region, 24);
	OFFSET(uhca_abi_region, magic, 0);
	OFFSET(uhca_abi_region, version, 4);
	OFFSET(uhca_abi_region, kind, 8);
	OFFSET(uhca_abi_region, size, 16);
	SIZE(uhca_abi_status, 4096);
	OFFSET(uhca_abi_status, post_faults, 64);
	OFFSET(uhca_abi_status, need_wakeup, 128);
	OFFSET(uhca_abi_status, epoch, 136);
	SIZE(uhca_abi_doorbell, 45056);
	OFFSET(uhca_abi_doorbell, summary, 128);
	OFFSET(uhca_abi_doorbell, word, 640);
	OFFSET(uhca_abi_doorbell, tickets, 33408);
	OFFSET(uhca_abi_doorbell, order, 33536);
	SIZE(uhca_abi_queue, 4096);
	OFFSET(uhca_abi_queue, recv_doorbell, 24);
	OFFSET(uhca_abi_queue, send, 128);
	OFFSET(uhca_abi_queue, recv, 384);
	SIZE(uhca_abi_cq, 4096);
	OFFSET(uhca_abi_cq, event_index, 32);
	OFFSET(uhca_abi_cq, notify_unread, 36);
	OFFSET(uhca_abi_cq, arm, 128);
	OFFSET(uhca_abi_cq, ring, 256);
}

static void test_entries(void **state)
{
	(void)state;
	SIZE(uhca_abi_sge, 16);
	OFFSET(uhca_abi_sge, lkey, 12);
	SIZE(uhca_abi_send_wqe, 64);
	OFFSET(uhca_abi_send_wqe, opcode, 8);
	OFFSET(uhca_abi_send_wqe, num_sge, 9);
	OFFSET(uhca_abi_send_wqe, flags, 10);
	OFFSET(uhca_abi_send_wqe, imm, 12);
	OFFSET(uhca_abi_send_wqe, inline_length, 16);
	OFFSET(uhca_abi_send_wqe, xrc_srqn, 20);
	OFFSET(uhca_abi_send_wqe, rdma.remote_addr, 32);
	OFFSET(uhca_abi_send_wqe, rdma.rkey, 40);
	OFFSET(uhca_abi_send_wqe, atomic.compare_add, 40);
	OFFSET(uhca_abi_send_wqe, atomic.swap, 48);
	OFFSET(uhca_abi_send_wqe, atomic.rkey, 56);
	OFFSET(uhca_abi_send_wqe, bind.mr_lkey, 48);
	OFFSET(uhca_abi_send_wqe, bind.access, 60);
	OFFSET(uhca_abi_send_wqe, flush.rkey, 48);
	OFFSET(uhca_abi_send_wqe, flush.type, 52);
	OFFSET(uhca_abi_send_wqe, ud.ah, 32);
	OFFSET(uhca_abi_send_wqe, ud.remote_qpn, 36);
	OFFSET(uhca_abi_send_wqe, ud.remote_qkey, 40);
	SIZE(uhca_abi_recv_wqe, 16);
	OFFSET(uhca_abi_recv_wqe, num_sge, 8);
	SIZE(uhca_abi_cqe, 64);
	OFFSET(uhca_abi_cqe, qpn, 8);
	OFFSET(uhca_abi_cqe, byte_len, 16);
	OFFSET(uhca_abi_cqe, imm, 20);
	OFFSET(uhca_abi_cqe, status, 24);
	OFFSET(uhca_abi_cqe, opcode, 25);
	OFFSET(uhca_abi_cqe, flags, 26);
	OFFSET(uhca_abi_cqe, copy_on_poll, 32);
	OFFSET(uhca_abi_cqe, timestamp, 40);
	SIZE(uhca_abi_copy_on_poll, 4160);
	OFFSET(uhca_abi_copy_on_poll, length, 4);
	OFFSET(uhca_abi_copy_on_poll, addr, 8);
	OFFSET(uhca_abi_copy_on_poll, bytes, 64);
	OFFSET(uhca_abi_cqe, wqe_index, 56);
	OFFSET(uhca_abi_cqe, sequence, 60);
	assert_int_equal(UHCA_ABI_SEND_STRIDE(0), 64);
	assert_int_equal(UHCA_ABI_SEND_STRIDE(1), 128);
	assert_int_equal(UHCA_ABI_SEND_STRIDE(4), 128);
	assert_int_equal(UHCA_ABI_SEND_STRIDE(5), 192);
	assert_int_equal(UHCA_ABI_RECV_STRIDE(0), 32);
	assert_int_equal(UHCA_ABI_RECV_STRIDE(1), 32);
	assert_int_equal(UHCA_ABI_RECV_STRIDE(2), 64);
}

static void test_messages(void **state)
{
	(void)state;
	SIZE(uhca_cmd_request, 16);
	SIZE(uhca_cmd_reply, 16);
	OFFSET(uhca_cmd_reply, status, 12);
	SIZE(uhca_cmd_hello, 96);
	OFFSET(uhca_cmd_hello, device, 24);
	OFFSET(uhca_cmd_hello, pid, 88);
	SIZE(uhca_cmd_hello_reply, 40);
	SIZE(uhca_cmd_handle, 24);
	SIZE(uhca_cmd_handle_reply, 24);
	SIZE(uhca_cmd_device_attr, 416);
	SIZE(uhca_cmd_port_attr, 76);
	SIZE(uhca_cmd_gid_reply, 32);
	SIZE(uhca_cmd_reg_mr, 56);
	OFFSET(uhca_cmd_reg_mr, borrowed, 48);
	SIZE(uhca_cmd_reg_mr_reply, 32);
	SIZE(uhca_cmd_create_cq, 40);
	SIZE(uhca_cmd_create_cq_reply, 56);
	SIZE(uhca_cmd_create_qp, 136);
	SIZE(uhca_abi_queue_layout, 32);
	SIZE(uhca_cmd_create_qp_reply, 120);
	SIZE(uhca_abi_ah_attr, 32);
	SIZE(uhca_abi_qp_attr, 144);
	SIZE(uhca_cmd_modify_qp, 168);
	SIZE(uhca_cmd_query_qp_reply, 168);
	SIZE(uhca_cmd_create_srq, 64);
	SIZE(uhca_cmd_create_srq_reply, 72);
	SIZE(uhca_cmd_modify_srq, 32);
	SIZE(uhca_cmd_query_srq_reply, 32);
	SIZE(uhca_cmd_create_ah, 56);
	SIZE(uhca_cmd_mcast, 40);
	SIZE(uhca_cmd_alloc_mw, 24);
	SIZE(uhca_cmd_alloc_mw_reply, 24);
	SIZE(uhca_cmd_rereg_mr, 56);
	SIZE(uhca_cmd_advise_mr, 1056);
	SIZE(uhca_cmd_alloc_dm, 32);
	SIZE(uhca_cmd_alloc_dm_reply, 32);
	SIZE(uhca_cmd_reg_dm_mr, 48);
	SIZE(uhca_cmd_reg_shared_mr, 56);
	SIZE(uhca_cmd_attach_arena, 24);
	SIZE(uhca_abi_extent, 24);
	SIZE(uhca_cmd_reg_pinned_mr, 832);
	OFFSET(uhca_cmd_reg_pinned_mr, extent, 64);
	SIZE(uhca_cmd_alloc_key, 24);
	SIZE(uhca_cmd_describe_key, 12344);
	SIZE(uhca_abi_layout, 32);
	SIZE(uhca_abi_block, 24);
	SIZE(uhca_abi_piece, 88);
	SIZE(uhca_cmd_open_xrcd, 24);
	SIZE(uhca_cmd_open_qp, 40);
	SIZE(uhca_cmd_open_qp_reply, 32);
	SIZE(uhca_cmd_resize_cq, 24);
	SIZE(uhca_cmd_modify_cq, 24);
	SIZE(uhca_abi_comp_event, 8);
	SIZE(uhca_abi_async_event, 16);
}

/* Numbers that travel untranslated are those of verbs. */
static void test_numbers(void **state)
{
	(void)state;
	assert_int_equal(UHCA_ABI_WR_SEND_WITH_IMM, IBV_WR_SEND_WITH_IMM);
	assert_int_equal(UHCA_ABI_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE);
	assert_int_equal(UHCA_ABI_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_WRITE_WITH_IMM);
	assert_int_equal(UHCA_ABI_WR_RDMA_READ, IBV_WR_RDMA_READ);
	assert_int_equal(UHCA_ABI_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_CMP_AND_SWP);
	assert_int_equal(UHCA_ABI_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_ATOMIC_FETCH_AND_ADD);
	assert_int_equal(UHCA_ABI_WR_LOCAL_INV, IBV_WR_LOCAL_INV);
	assert_int_equal(UHCA_ABI_WR_BIND_MW, IBV_WR_BIND_MW);
	assert_int_equal(UHCA_ABI_WR_SEND_WITH_INV, IBV_WR_SEND_WITH_INV);
	assert_int_equal(UHCA_ABI_WC_SUCCESS, IBV_WC_SUCCESS);
	assert_int_equal(UHCA_ABI_WC_WR_FLUSH_ERR, IBV_WC_WR_FLUSH_ERR);
	assert_int_equal(UHCA_ABI_WC_RNR_RETRY_EXC_ERR, IBV_WC_RNR_RETRY_EXC_ERR);
	assert_int_equal(UHCA_ABI_WC_GENERAL_ERR, IBV_WC_GENERAL_ERR);
	assert_int_equal(UHCA_ABI_WC_RDMA_READ, IBV_WC_RDMA_READ);
	assert_int_equal(UHCA_ABI_WC_FETCH_ADD, IBV_WC_FETCH_ADD);
	assert_int_equal(UHCA_ABI_WC_RECV, IBV_WC_RECV);
	assert_int_equal(UHCA_ABI_WC_RECV_RDMA_WITH_IMM, IBV_WC_RECV_RDMA_WITH_IMM);
	assert_int_equal(UHCA_ABI_WC_GRH, IBV_WC_GRH);
	assert_int_equal(UHCA_ABI_WC_WITH_IMM, IBV_WC_WITH_IMM);
	assert_int_equal(UHCA_ABI_WC_WITH_INV, IBV_WC_WITH_INV);
	assert_int_equal(UHCA_ABI_EVENT_QP_LAST_WQE_REACHED, IBV_EVENT_QP_LAST_WQE_REACHED);
	assert_int_equal(UHCA_ABI_EVENT_SRQ_LIMIT_REACHED, IBV_EVENT_SRQ_LIMIT_REACHED);
	assert_int_equal(UHCA_ABI_EVENT_DEVICE_FATAL, IBV_EVENT_DEVICE_FATAL);
	assert_int_equal(UHCA_ABI_EVENT_GID_CHANGE, IBV_EVENT_GID_CHANGE);
}

/* Each header compiles alone, as C and as C++ (our public headers will include them). */
static void compile(const char *language, const char *header)
{
	const char *source = getenv("UHCA_SRCDIR"), *cc = getenv("CC");
	char command[1024];

	assert_non_null(source);
	snprintf(command, sizeof(command),
		 "echo '#include \"%s\"' | %s -x %s -Wall -Wextra -Werror -fsyntax-only "
		 "-I'%s/emu/abi' -",
		 header, cc ? cc : "cc", language, source);
	assert_int_equal(system(command), 0);
}

static void test_headers(void **state)
{
	static const char *const headers[] = {"cmd.h",    "cqe.h",  "event.h", "layout.h",
					      "region.h", "ring.h", "wqe.h"};
	bool cxx = system("echo 'int x;' | ${CC:-cc} -x c++ -fsyntax-only - 2>/dev/null") == 0;

	(void)state;
	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
		compile("c", headers[i]);
		if (cxx)
			compile("c++", headers[i]);
	}
	if (!cxx)
		print_message("# no C++ compiler: C++ not checked\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_version), cmocka_unit_test(test_regions),
		cmocka_unit_test(test_entries), cmocka_unit_test(test_messages),
		cmocka_unit_test(test_numbers), cmocka_unit_test(test_headers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
