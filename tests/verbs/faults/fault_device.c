/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The daemon ends under a program's feet, by a rule (dev.exit) or by SIGKILL: the program sees the
 * same. Its last line says that all was well; run by fault_layers.sh.
 */
#include "tests/support/verbs/faulty.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *how;

static void kill_daemon(void)
{
	char path[512];
	int pid = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/pid", getenv("UHCA_DIR"));
	f = fopen(path, "r");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%d", &pid), 1);
	fclose(f);
	assert_true(pid > 1);
	assert_int_equal(kill(pid, SIGKILL), 0);
}

static void end_daemon(void)
{
	struct uhcactl *ctl = uhcactl_open(NULL, NULL);

	assert_non_null(ctl);
	if (strcmp(how, "exit") == 0)
		assert_true(uhcactl_fault_add(ctl, "dev.exit opcode=send nth=2", NULL) > 0);
	else
		kill_daemon();
	uhcactl_close(ctl);
}

static void send(struct ibv_qp *qp, struct ibv_mr *mr, uint64_t wr_id)
{
	struct ibv_sge sge = {(uintptr_t)mr->addr, 8, mr->lkey};
	struct ibv_recv_wr *bad_recv, recv = {.wr_id = 100 + wr_id, .sg_list = &sge, .num_sge = 1};
	struct ibv_send_wr *bad, wr = {.wr_id = wr_id,
				       .opcode = IBV_WR_SEND,
				       .send_flags = IBV_SEND_SIGNALED,
				       .sg_list = &sge,
				       .num_sge = 1};
	int err = ibv_post_recv(qp, &recv, &bad_recv);

	assert_true(err == 0 || err == EIO);
	err = ibv_post_send(qp, &wr, &bad);
	assert_true(err == 0 || err == EIO);
}

int main(int argc, char **argv)
{
	struct ibv_context *ctx = world_open("uhca0");
	struct world w = {.ctx = ctx};
	struct ibv_qp *qp;
	struct ibv_wc wc;
	unsigned flushed = 0;
	char memory[64] = "";

	how = argc > 1 ? argv[1] : "exit";
	w.pd = ibv_alloc_pd(ctx);
	w.cq = ibv_create_cq(ctx, WORLD_CQE, NULL, NULL, 0);
	w.mr = ibv_reg_mr(w.pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE);
	w.memory = (uint8_t *)memory;
	qp = world_qp(&w, NULL);
	end_daemon();
	/* Work that will never be done, the last of it posted to nobody. */
	for (uint64_t i = 0; i < WORLD_WR; i++)
		send(qp, w.mr, i);
	assert_int_equal(faulty_event(ctx).event_type, IBV_EVENT_DEVICE_FATAL);
	while (ibv_poll_cq(w.cq, 1, &wc) == 1)
		flushed += wc.status == IBV_WC_WR_FLUSH_ERR;
	assert_true(flushed > 0 || strcmp(how, "kill") == 0);
	assert_true(faulty_quiet(ctx));
	assert_null(ibv_alloc_pd(ctx));
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_dereg_mr(w.mr), 0);
	assert_int_equal(ibv_destroy_cq(w.cq), 0);
	assert_int_equal(ibv_dealloc_pd(w.pd), 0);
	assert_int_equal(ibv_close_device(ctx), 0);
	puts("flushed, told once, and everything could be destroyed");
	return 0;
}
