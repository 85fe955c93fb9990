/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lab rc-write: bytes go into the memory of another program, which does nothing for it; then it is
 * told that they are there. One of the packets is lost on the way.
 */
#include "lab.h"

#include <arpa/inet.h>

#define LENGTH 10000u /* ten packets at a path MTU of 1024 bytes */

/*
 * Task 1: posts one RDMA WRITE of LENGTH bytes from the beginning of here's memory to the beginning
 * of there's. The request names the place at the other end itself: wr.rdma.remote_addr, and
 * wr.rdma.rkey, the key that there's memory was registered with. Set wr_id to 1, ask for a
 * completion (IBV_SEND_SIGNALED), hand it to lab_post, return true.
 */
static bool post_write(struct lab_end *here, const struct lab_end *there)
{
	struct ibv_sge sge = lab_part(here, 0, LENGTH);
	struct ibv_send_wr wr = {.wr_id = 1, .sg_list = &sge, .num_sge = 1};

	/* Task 1: your code. Until then: (void)there; (void)wr; return false; */
	wr.opcode = IBV_WR_RDMA_WRITE;
	wr.send_flags = IBV_SEND_SIGNALED;
	wr.wr.rdma.remote_addr = (uintptr_t)there->memory;
	wr.wr.rdma.rkey = there->mr->rkey;
	lab_post(here, &wr);
	return true;
	/* End of task 1. */
}

/*
 * Task 2: nobody told the other end that it has new bytes. Posts an RDMA WRITE with immediate data
 * and no bytes (num_sge 0), wr_id 2, of which the other end gets a completion: the four bytes of
 * imm_data, here LENGTH in network byte order (htonl). Return true.
 */
static bool post_notice(struct lab_end *here, const struct lab_end *there)
{
	/* Task 2: your code. Until then: (void)here; (void)there; return false; */
	struct ibv_send_wr wr = {.wr_id = 2};

	wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
	wr.send_flags = IBV_SEND_SIGNALED;
	wr.imm_data = htonl(LENGTH);
	wr.wr.rdma.remote_addr = (uintptr_t)there->memory;
	wr.wr.rdma.rkey = there->mr->rkey;
	lab_post(here, &wr);
	return true;
	/* End of task 2. */
}

/* ---- the rest is complete ---- */

static bool write_bytes(struct lab_end *here, struct lab_end *there)
{
	const char *status;
	struct ibv_wc wc;
	unsigned same = 0;

	for (unsigned i = 0; i < LAB_MEMORY; i++)
		here->memory[i] = (uint8_t)(i % 251 + 1);
	if (!lab_check(post_write(here, there), "task 1: an RDMA WRITE was posted"))
		return false;
	status = lab_status(here, &wc);
	if (!lab_check(wc.status == IBV_WC_SUCCESS,
		       "task 1: the requester was told that it is done (completion: %s)", status))
		return false;
	lab_check(wc.opcode == IBV_WC_RDMA_WRITE, "task 1: and that it is an RDMA WRITE");
	lab_check(wc.wr_id == 1, "task 1: and by its wr_id, which is 1 (%llu)",
		  (unsigned long long)wc.wr_id);
	lab_check(lab_is_quiet(here), "task 1: and once");
	while (same < LAB_MEMORY && there->memory[same] == here->memory[same])
		same++;
	if (!lab_check(same >= LENGTH, "task 1: %u bytes are in the other end's memory (%u)",
		       LENGTH, same))
		return false;
	return lab_check(there->memory[LENGTH] == 0, "task 1: and not one more");
}

static void notify(struct lab_end *here, struct lab_end *there)
{
	const char *status;
	struct ibv_wc wc;

	lab_check(lab_is_quiet(there), "the other end was not told anything by the WRITE");
	if (!lab_check(post_notice(here, there), "task 2: a notice was posted"))
		return;
	status = lab_status(there, &wc);
	if (!lab_check(wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM,
		       "task 2: the other end was told by a WRITE with immediate data (%s)",
		       status))
		return;
	lab_check(ntohl(wc.imm_data) == LENGTH,
		  "task 2: the other end knows that %u bytes have come (%u)", LENGTH,
		  ntohl(wc.imm_data));
	lab_check(wc.byte_len == 0, "task 2: no bytes came with the notice (%u)", wc.byte_len);
	status = lab_status(here, &wc);
	lab_check(wc.status == IBV_WC_SUCCESS,
		  "task 2: the requester was told that it is done (%s)", status);
	lab_check(wc.status != IBV_WC_SUCCESS || wc.wr_id == 2,
		  "task 2: and by its wr_id, which is 2 (%llu)", (unsigned long long)wc.wr_id);
	lab_check(lab_is_quiet(here) && lab_is_quiet(there), "task 2: and each of them once");
}

int main(void)
{
	struct lab lab;
	struct lab_end here, there;

	lab_open(&lab);
	lab_end_open(&lab, &here, IBV_ACCESS_LOCAL_WRITE);
	lab_end_open(&lab, &there, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	lab_connect(&lab, &here, &there, &lab_patient);
	for (unsigned i = 0; i < 2; i++) /* immediate data takes a receive, as a SEND does */
		lab_recv(&there, 9, 0, 0);
	if (write_bytes(&here, &there))
		notify(&here, &there);
	lab_end_close(&here);
	lab_end_close(&there);
	lab_close(&lab);
	return lab_result();
}
