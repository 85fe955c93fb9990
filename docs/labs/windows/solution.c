/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lab windows: a memory window of type 2 opens a part of a region for a while. First there opens
 * one, here reads through it, there closes it. Then a queue pair that is connected to itself reads
 * through a window of its own and closes it right behind the READ, in the same send queue. The READ
 * takes its time: the invalidate must wait for it.
 */
#include "lab.h"

#include <string.h>

#define START  4096u /* the window's part of the region */
#define LENGTH 3000u
#define INTO   16384u /* where a READ puts what it gets */

/*
 * Task 1: posts the binding, wr_id 1: an IBV_WR_BIND_MW of the window mw, whose new key is key. In
 * wr.bind_mw: mw, rkey, and bind_info: mr, addr, length, mw_access_flags: LENGTH bytes at START of
 * e's memory may be read by the peer.
 */
static bool post_bind(struct lab_end *e, struct ibv_mw *mw, uint32_t key)
{
	struct ibv_send_wr wr = {.wr_id = 1, .send_flags = IBV_SEND_SIGNALED};

	wr.opcode = IBV_WR_BIND_MW;
	wr.bind_mw.mw = mw;
	wr.bind_mw.rkey = key;
	wr.bind_mw.bind_info.mr = e->mr;
	wr.bind_mw.bind_info.addr = (uintptr_t)e->memory + START;
	wr.bind_mw.bind_info.length = LENGTH;
	wr.bind_mw.bind_info.mw_access_flags = IBV_ACCESS_REMOTE_READ;
	lab_post(e, &wr);
	return true;
}

/*
 * Task 2: the flags of the IBV_WR_LOCAL_INV that closes the window. It must be signaled, and it
 * must not begin before the READ in front of it has its answer.
 */
static unsigned invalidate_flags(void)
{
	return IBV_SEND_SIGNALED | IBV_SEND_FENCE;
}

/* ---- the rest is complete ---- */

static struct ibv_mw *open_window(struct lab *l, struct lab_end *e, uint32_t *key)
{
	struct ibv_mw *mw = ibv_alloc_mw(l->pd, IBV_MW_TYPE_2);
	struct ibv_wc wc;

	if (!lab_check(mw != NULL, "there is a memory window"))
		return NULL;
	*key = ibv_inc_rkey(mw->rkey); /* the owner chooses the last byte */
	if (!lab_check(post_bind(e, mw, *key), "task 1: the binding was posted") ||
	    !lab_check(lab_status(e, &wc)[0] == 's', "task 1: the window was bound")) {
		ibv_dealloc_mw(mw);
		return NULL;
	}
	return mw;
}

static void post_read(struct lab_end *here, struct lab_end *there, uint64_t wr_id, uint32_t key)
{
	struct ibv_sge sge = lab_part(here, INTO, LENGTH);
	struct ibv_send_wr wr = {.wr_id = wr_id,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_RDMA_READ,
				 .send_flags = IBV_SEND_SIGNALED,
				 .wr.rdma = {(uintptr_t)there->memory + START, key}};

	memset(there->memory + START, (int)wr_id, LENGTH);
	lab_post(here, &wr);
}

static void post_close(struct lab_end *e, uint64_t wr_id, uint32_t key)
{
	struct ibv_send_wr wr = {.wr_id = wr_id,
				 .opcode = IBV_WR_LOCAL_INV,
				 .send_flags = invalidate_flags(),
				 .invalidate_rkey = key};

	lab_post(e, &wr);
}

static bool two_ends(struct lab *l, struct lab_end *here, struct lab_end *there)
{
	uint32_t key;
	struct ibv_mw *mw = open_window(l, there, &key);
	const char *status;
	struct ibv_wc wc;

	if (!mw)
		return false;
	post_read(here, there, 2, key);
	lab_check(lab_status(here, &wc)[0] == 's', "the peer can read through the window");
	lab_check(here->memory[INTO] == 2 && here->memory[INTO + LENGTH - 1] == 2,
		  "and gets what is behind it");
	post_close(there, 3, key);
	lab_check(lab_status(there, &wc)[0] == 's', "the window was closed");
	post_read(here, there, 4, key);
	status = lab_status(here, &wc);
	lab_check(wc.status == IBV_WC_REM_ACCESS_ERR,
		  "a READ through the closed window is refused (completion: %s)", status);
	return ibv_dealloc_mw(mw) == 0;
}

static void one_queue(struct lab *l, struct lab_end *e)
{
	uint32_t key;
	struct ibv_mw *mw = open_window(l, e, &key);
	const char *status;
	struct ibv_wc wc;

	if (!mw)
		return;
	post_read(e, e, 5, key);
	post_close(e, 6, key);
	status = lab_status(e, &wc);
	if (lab_check(wc.status == IBV_WC_SUCCESS && e->memory[INTO] == 5,
		      "task 2: the READ is done before the window is closed (completion: %s)",
		      status))
		lab_check(lab_status(e, &wc)[0] == 's', "the window was closed behind it");
	ibv_dealloc_mw(mw);
}

int main(void)
{
	struct lab lab;
	struct lab_end here, there;

	lab_open(&lab);
	lab_end_open(&lab, &here, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	lab_end_open(&lab, &there, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	lab_connect(&lab, &here, &there, &lab_patient);
	if (two_ends(&lab, &here, &there)) {
		lab_connect(&lab, &here, &here, &lab_patient);
		one_queue(&lab, &here);
	}
	lab_end_close(&here);
	lab_end_close(&there);
	lab_close(&lab);
	return lab_result();
}
