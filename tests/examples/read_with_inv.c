/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * READ with invalidate, and what else an iWARP device does differently. Run it on a device of the
 * profile "default" and on one of "iwarp-like": each line says what the device allows, and what it
 * answers to what it does not. Whether that is what uhcadv_query_device promised is checked.
 *
 * In iWARP the answer to a READ arrives as a write of the peer: what it fills must allow remote
 * writes, and is then open to the peer for other writes, too. READ with invalidate closes it in the
 * same moment in which the data is there. InfiniBand has no such rule; the operation is useful
 * there as well, to take back a key that a peer knows.
 *
 * Whatever is refused in a queue costs that queue pair, so there are several.
 */
#include "rig.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE   4096u
#define PAGES  3u
#define LENGTH (PAGES * PAGE - 100)
#define QPS    16u

struct place {
	uint64_t addr;
	uint32_t rkey;
};

struct reader {
	struct end *e;
	struct ibv_qp *qp[QPS];
	unsigned at; /* the queue pair in use; those before it are lost */
	uint8_t *memory;
	struct ibv_mr *open, *closed, *key; /* with and without remote writes; described anew */
	struct place source;
	int max_read_sge;
};

static uint8_t source_byte(size_t i)
{
	return (uint8_t)(i * 7 + i / 256 + 3);
}

static bool can(const struct reader *r, uint64_t cap)
{
	return r->e->attr.caps & cap;
}

/* One line; "expected" is what the device said of itself. */
static void print_result(const char *what, bool expected, int refusal, int got, const char *word)
{
	if (got != (expected ? 0 : refusal))
		rig_die("%s: %s, and should be %s", what, word, expected ? "allowed" : "refused");
	printf("%s: %s%s: verified\n", what, got ? "refused, " : "allowed", got ? word : "");
}

static void print_status(const char *what, bool expected, int refusal, struct ibv_wc wc)
{
	print_result(what, expected, refusal, wc.status, ibv_wc_status_str(wc.status));
}

static void print_errno(const char *what, bool expected, int refusal, int err)
{
	print_result(what, expected, refusal, err, strerror(err));
}

/* The next completion. A failed one has cost the queue pair: the next one is used from now on. */
static struct ibv_wc finish(struct reader *r)
{
	struct ibv_wc wc = rig_poll(r->e);

	if (wc.status != IBV_WC_SUCCESS && ++r->at == QPS)
		rig_die("all queue pairs are lost");
	return wc;
}

/*
 * The peer's refusal may get lost, and is not said again: its queue pair is in error then, and
 * drops what comes. Whoever wants to hear the reason asks by another queue pair.
 */
static bool no_answer(struct ibv_wc wc)
{
	return wc.status == IBV_WC_RETRY_EXC_ERR;
}

static struct ibv_wc fast_register(struct reader *r, int access, uint8_t key_byte)
{
	/* Pages in another order than they have in memory. */
	uint64_t start = (uintptr_t)r->memory;
	const uint64_t page[PAGES] = {start + 2 * PAGE, start, start + PAGE};
	struct uhcadv_send_wr wr = {.opcode = UHCADV_WR_REG_MR_PAGES,
				    .send_flags = IBV_SEND_SIGNALED};

	wr.reg.mr = r->key;
	wr.reg.attr.access = (unsigned)access;
	wr.reg.attr.key_byte = key_byte;
	wr.reg.pages = (struct uhcadv_page_list){.lkey = r->open->lkey,
						 .n = PAGES,
						 .page_shift = 12,
						 .page = page,
						 .length = LENGTH};
	rig_post_dv(r->qp[r->at], &wr);
	return finish(r);
}

/* With the byte it has; that is legal everywhere. */
static void register_again(struct reader *r, int access)
{
	struct ibv_wc wc = fast_register(r, access, (uint8_t)r->key->rkey);

	if (wc.status != IBV_WC_SUCCESS || wc.opcode != (enum ibv_wc_opcode)UHCADV_WC_REG_MR)
		rig_die("fast registration: %s", ibv_wc_status_str(wc.status));
}

static void invalidate(struct reader *r)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_LOCAL_INV,
				 .send_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE,
				 .invalidate_rkey = r->key->rkey};

	rig_post(r->qp[r->at], &wr);
	if (finish(r).status != IBV_WC_SUCCESS)
		rig_die("the key cannot be invalidated");
}

static struct ibv_wc read_with_inv(struct reader *r)
{
	struct ibv_sge sge = {0, LENGTH, r->key->lkey};
	struct uhcadv_send_wr wr = {.opcode = UHCADV_WR_READ_WITH_INV,
				    .sg_list = &sge,
				    .num_sge = 1,
				    .send_flags = IBV_SEND_SIGNALED,
				    .rdma = {r->source.addr, r->source.rkey}};

	memset(r->memory, 0, PAGES * PAGE);
	rig_post_dv(r->qp[r->at], &wr);
	return finish(r);
}

static struct ibv_wc plain_read(struct reader *r, const struct ibv_mr *mr, int elements)
{
	struct ibv_sge sge[2] = {{(uintptr_t)r->memory, 64, mr->lkey},
				 {(uintptr_t)r->memory + 256, 64, mr->lkey}};
	struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_READ,
				 .sg_list = sge,
				 .num_sge = elements,
				 .send_flags = IBV_SEND_SIGNALED,
				 .wr.rdma = {r->source.addr, r->source.rkey}};

	rig_post(r->qp[r->at], &wr);
	return finish(r);
}

/* ---- the rule of the sink ---- */

static void check_data(const struct reader *r)
{
	static const unsigned order[PAGES] = {2, 0, 1};

	for (size_t i = 0; i < LENGTH; i++)
		if (r->memory[order[i / PAGE] * PAGE + i % PAGE] != source_byte(i))
			rig_die("byte %zu of what was read is wrong", i);
}

static void sinks(struct reader *r)
{
	const bool rule = can(r, UHCADV_CAP_READ_SINK_WRITE);
	struct ibv_wc wc;

	print_status("READ, region without remote write", !rule, IBV_WC_LOC_PROT_ERR,
		     plain_read(r, r->closed, 1));
	print_status("READ, region with remote write", true, 0, plain_read(r, r->open, 1));
	register_again(r, IBV_ACCESS_LOCAL_WRITE);
	wc = read_with_inv(r);
	print_status("READ with invalidate, key without remote write", !rule, IBV_WC_LOC_PROT_ERR,
		     wc);
	if (wc.status != IBV_WC_SUCCESS)
		invalidate(r); /* what was refused left the key as it was */
	print_status("READ into two elements", r->max_read_sge > 1, IBV_WC_LOC_QP_OP_ERR,
		     plain_read(r, r->open, 2));
}

/* The reader tells the source its key; the source tries it, and says what came of it. */
static void ask_peer(struct reader *r)
{
	struct place mine = {0, r->key->rkey}, answer;

	rig_swap(r->e, 0, &mine, &answer, sizeof(mine));
	rig_swap(r->e, 0, &mine, &answer, sizeof(mine));
	if (answer.rkey != IBV_WC_REM_ACCESS_ERR)
		rig_die("a WRITE of the peer with the dead key: %s",
			ibv_wc_status_str((enum ibv_wc_status)answer.rkey));
	printf("dead for the peer: verified\n");
}

static void dies(struct reader *r)
{
	struct ibv_wc wc;

	register_again(r, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	wc = read_with_inv(r);
	if (wc.status == IBV_WC_SUCCESS &&
	    (wc.opcode != (enum ibv_wc_opcode)UHCADV_WC_READ_WITH_INV ||
	     !(wc.wc_flags & IBV_WC_WITH_INV) || wc.invalidated_rkey != r->key->rkey))
		rig_die("the completion does not tell that the key went");
	print_status("READ with invalidate, key with remote write", true, 0, wc);
	check_data(r);
	ask_peer(r);
	print_status("READ with invalidate, dead key", false, IBV_WC_LOC_PROT_ERR,
		     read_with_inv(r));
	/* It can be registered again, and lives again. */
	register_again(r, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	print_status("READ with invalidate, registered again", true, 0, read_with_inv(r));
	check_data(r);
}

/* ---- what else is missing ---- */

static void key_byte(struct reader *r)
{
	uint32_t before = r->key->rkey;
	struct ibv_wc wc = fast_register(r, IBV_ACCESS_LOCAL_WRITE, (uint8_t)(r->key->rkey + 1));

	print_status("another key byte", can(r, UHCADV_CAP_KEY_BYTE), IBV_WC_MW_BIND_ERR, wc);
	if (wc.status == IBV_WC_SUCCESS)
		invalidate(r);
	else
		uhcadv_set_key_byte(r->key, (uint8_t)before); /* our struct had the new one */
}

static void layouts(struct reader *r)
{
	struct uhcadv_reg_attr attr = {.key_byte = (uint8_t)r->key->rkey};
	struct uhcadv_block block[2] = {{(uintptr_t)r->memory + 5, 10, r->open->lkey},
					{(uintptr_t)r->memory + 50, 10, r->open->lkey}};
	struct uhcadv_piece piece = {(uintptr_t)r->memory, 8, r->open->lkey, {64}};
	struct uhcadv_interleaved layout = {
		.n_dims = 1, .n_pieces = 1, .count = {16}, .piece = &piece};

	print_errno("interleaved layout", can(r, UHCADV_CAP_INTERLEAVED), EOPNOTSUPP,
		    uhcadv_rereg_mr_interleaved(r->key, &attr, &layout));
	print_errno("composite", can(r, UHCADV_CAP_SG), EOPNOTSUPP,
		    uhcadv_rereg_mr_sg(r->key, &attr, block, 2));
}

static void atomics(struct reader *r)
{
	const uint64_t one = 1;
	struct ibv_sge sge = {(uintptr_t)r->memory, 8, r->open->lkey};
	struct uhcadv_send_wr *bad, wr = {.opcode = UHCADV_WR_MASKED_FETCH_ADD,
					  .sg_list = &sge,
					  .num_sge = 1,
					  .send_flags = IBV_SEND_SIGNALED,
					  .atomic = {.remote_addr = r->source.addr,
						     .rkey = r->source.rkey,
						     .fetch_add = {.size = 8, .add = &one}}};
	struct ibv_wc wc;
	int err = uhcadv_post_send(r->qp[r->at], &wr, &bad);

	print_errno("masked atomics", can(r, UHCADV_CAP_MASKED_ATOMICS), EOPNOTSUPP, err);
	if (err)
		return;
	/* The source does not allow atomics: it is only about the operation. */
	for (wc = finish(r); no_answer(wc); wc = finish(r))
		if (uhcadv_post_send(r->qp[r->at], &wr, &bad))
			rig_die("the atomic cannot be posted again");
	print_status("masked atomic without the right", false, IBV_WC_REM_ACCESS_ERR, wc);
}

/* ---- both ends ---- */

static void make_qps(struct end *e, struct ibv_qp *qp[QPS])
{
	for (unsigned i = 0; i < QPS; i++) {
		qp[i] = rig_qp(e);
		rig_connect(e, qp[i], !e->who);
	}
}

static void reader(struct end *e)
{
	struct reader r = {.e = e, .memory = rig_memory(PAGES * PAGE)};
	struct ibv_device_attr attr;
	struct place none = {0};

	make_qps(e, r.qp);
	if (ibv_query_device(e->context, &attr))
		rig_die("ibv_query_device");
	r.max_read_sge = attr.max_sge_rd;
	r.open = rig_reg(e, r.memory, PAGES * PAGE,
			 IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	r.closed = rig_reg(e, r.memory, PAGES * PAGE, IBV_ACCESS_LOCAL_WRITE);
	r.key = rig_key(e, PAGES);
	rig_swap(e, 0, &none, &r.source, sizeof(none));
	printf("profile %s\n", e->attr.profile);
	sinks(&r);
	dies(&r);
	key_byte(&r);
	layouts(&r);
	atomics(&r);
	rig_meet(e, 0);
	for (unsigned i = 0; i < QPS; i++)
		rig_free_qp(r.qp[i]);
	rig_free_mr(r.key);
	rig_free_mr(r.closed);
	rig_free_mr(r.open);
	free(r.memory);
}

/* By the queue pairs that the reader would use last. */
static struct ibv_wc write_with(struct end *e, struct ibv_qp *qp[QPS], struct ibv_send_wr *wr)
{
	unsigned at = QPS;
	struct ibv_wc wc;

	do {
		rig_post(qp[--at], wr);
		wc = rig_poll(e);
	} while (no_answer(wc) && at > QPS / 2);
	return wc;
}

/* The memory that is read, and one WRITE with a key that should be dead. */
static void source(struct end *e)
{
	uint8_t *memory = rig_memory(LENGTH);
	struct ibv_mr *mr;
	struct ibv_qp *qp[QPS];
	struct place mine, theirs;
	struct ibv_sge sge = {(uintptr_t)memory, 64, 0};
	struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .send_flags = IBV_SEND_SIGNALED};

	for (size_t i = 0; i < LENGTH; i++)
		memory[i] = source_byte(i);
	mr = rig_reg(e, memory, LENGTH, IBV_ACCESS_REMOTE_READ);
	make_qps(e, qp);
	mine = (struct place){(uintptr_t)memory, mr->rkey};
	rig_swap(e, 1, &mine, &theirs, sizeof(mine));
	rig_swap(e, 1, &mine, &theirs, sizeof(mine));
	sge.lkey = mr->lkey;
	wr.wr.rdma.rkey = theirs.rkey;
	mine.rkey = write_with(e, qp, &wr).status;
	rig_swap(e, 1, &mine, &theirs, sizeof(mine));
	rig_meet(e, 1);
	for (unsigned i = 0; i < QPS; i++)
		rig_free_qp(qp[i]);
	rig_free_mr(mr);
	free(memory);
}

static void part(struct end *e)
{
	if (!(e->attr.caps & UHCADV_CAP_READ_WITH_INV))
		rig_die("this device has no READ with invalidate");
	if (e->who)
		reader(e);
	else
		source(e);
}

int main(int argc, char **argv)
{
	struct rig_options o = {.text = "READ with invalidate, and the differences between "
					"InfiniBand and iWARP devices around it.",
				.rounds = 1,
				.seed = 1};

	rig_options(&o, argc, argv);
	return rig_run(&o, 2, part);
}
