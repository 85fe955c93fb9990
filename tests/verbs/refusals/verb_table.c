/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints the tables of docs/reference/verbs.md: each operation, flag and object is asked of the
 * device through libibverbs, for each type of queue pair. "yes", or the name of the errno value.
 * Queue pairs of the type RAW_PACKET need CAP_NET_RAW. The order of rows is that of the page.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WITH_FLUSH (1u << 11) /* newer than the oldest headers */

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_srq *srq;
static struct ibv_xrcd *xrcd;
static char memory[4096] __attribute__((aligned(4096)));

static const enum ibv_qp_type types[] = {IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD, IBV_QPT_XRC_SEND,
					 IBV_QPT_RAW_PACKET};
#define TYPES (sizeof(types) / sizeof(types[0]))

static void *must(void *object, const char *what)
{
	if (!object) {
		fprintf(stderr, "verb_table: %s: %s\n", what, strerror(errno));
		exit(1);
	}
	return object;
}

/* "yes" for 0, or the name of the errno value. */
static const char *answer(int err)
{
	return err ? strerrorname_np(err) : "yes";
}

static struct ibv_qp_init_attr_ex attr_of(enum ibv_qp_type type)
{
	return (struct ibv_qp_init_attr_ex){.qp_type = type,
					    .send_cq = cq,
					    .recv_cq = type == IBV_QPT_XRC_SEND ? NULL : cq,
					    .cap = {4, type != IBV_QPT_XRC_SEND ? 4 : 0, 1, 1, 0},
					    .comp_mask = IBV_QP_INIT_ATTR_PD,
					    .pd = pd};
}

/* 0 or the errno value of the creation, which is undone. */
static int try_qp(struct ibv_qp_init_attr_ex *attr)
{
	struct ibv_qp *qp = ibv_create_qp_ex(ctx, attr);

	if (!qp)
		return errno;
	ibv_destroy_qp(qp);
	return 0;
}

static void head(const char *first)
{
	printf("| %s | RC | UC | UD | XRC | RAW |\n|---|---|---|---|---|---|\n", first);
}

static void operation(const char *call, const char *opcode, uint64_t flag)
{
	struct ibv_qp_init_attr_ex attr;
	int err[TYPES];

	for (size_t i = 0; i < TYPES; i++) {
		attr = attr_of(types[i]);
		attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
		attr.send_ops_flags = flag;
		err[i] = try_qp(&attr);
	}
	if (err[0] && flag == WITH_FLUSH)
		return; /* the library is older than the call */
	printf("| `%s`, `%s` |", call, opcode);
	for (size_t i = 0; i < TYPES; i++)
		printf(" %s |", answer(err[i]));
	printf("\n");
}

#define OPERATION(call, opcode)                                                                    \
	operation("ibv_wr_" #call, "IBV_WR_" #opcode, IBV_QP_EX_WITH_##opcode)

static void operations(void)
{
	head("operation");
	OPERATION(send, SEND);
	OPERATION(send_imm, SEND_WITH_IMM);
	OPERATION(send_inv, SEND_WITH_INV);
	OPERATION(rdma_write, RDMA_WRITE);
	OPERATION(rdma_write_imm, RDMA_WRITE_WITH_IMM);
	OPERATION(rdma_read, RDMA_READ);
	OPERATION(atomic_cmp_swp, ATOMIC_CMP_AND_SWP);
	OPERATION(atomic_fetch_add, ATOMIC_FETCH_AND_ADD);
	OPERATION(atomic_write, ATOMIC_WRITE);
	operation("ibv_wr_flush", "IBV_WR_FLUSH", WITH_FLUSH);
	OPERATION(bind_mw, BIND_MW);
	OPERATION(local_inv, LOCAL_INV);
	operation("ibv_wr_send_tso", "IBV_WR_TSO", IBV_QP_EX_WITH_TSO);
	printf("\n");
}

/* ---- attributes of ibv_create_qp_ex ---- */

enum attribute { PLAIN, WITH_SRQ, INLINE };

static void set(struct ibv_qp_init_attr_ex *attr, enum attribute what)
{
	if (what == WITH_SRQ)
		attr->srq = srq;
	else if (what == INLINE)
		attr->cap.max_inline_data = 64;
}

static void attribute(const char *name, enum attribute what, uint32_t create_flags)
{
	printf("| `%s` |", name);
	for (size_t i = 0; i < TYPES; i++) {
		struct ibv_qp_init_attr_ex attr = attr_of(types[i]);

		set(&attr, what);
		if (create_flags) {
			attr.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS;
			attr.create_flags = create_flags;
		}
		printf(" %s |", answer(try_qp(&attr)));
	}
	printf("\n");
}

#define CREATE_FLAG(name) attribute("IBV_QP_CREATE_" #name, PLAIN, IBV_QP_CREATE_##name)

static void attributes(void)
{
	head("attribute");
	attribute("ibv_create_qp", PLAIN, 0);
	attribute("srq", WITH_SRQ, 0);
	attribute("max_inline_data", INLINE, 0);
	CREATE_FLAG(BLOCK_SELF_MCAST_LB);
	CREATE_FLAG(SCATTER_FCS);
	CREATE_FLAG(CVLAN_STRIPPING);
	CREATE_FLAG(SOURCE_QPN);
	CREATE_FLAG(PCI_WRITE_END_PADDING);
	printf("\n");
}

/* ---- access flags ---- */

static void access_flag(const char *name, unsigned flag)
{
	const unsigned needs = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
	unsigned access = flag | (flag & needs ? IBV_ACCESS_LOCAL_WRITE : 0);
	struct ibv_mr *mr = ibv_reg_mr(pd, memory, sizeof(memory), (int)access);

	printf("| `IBV_ACCESS_%s` | %s |\n", name, answer(mr ? 0 : errno));
	if (mr)
		ibv_dereg_mr(mr);
}

#define ACCESS(name) access_flag(#name, IBV_ACCESS_##name)

static void access_flags(void)
{
	printf("| flag of ibv_reg_mr | |\n|---|---|\n");
	ACCESS(LOCAL_WRITE);
	ACCESS(REMOTE_WRITE);
	ACCESS(REMOTE_READ);
	ACCESS(REMOTE_ATOMIC);
	ACCESS(MW_BIND);
	ACCESS(ZERO_BASED);
	ACCESS(ON_DEMAND);
	ACCESS(HUGETLB);
	ACCESS(RELAXED_ORDERING);
	printf("\n");
}

/* ---- extended completion queues ---- */

static void wc_flag(const char *name, uint64_t flag)
{
	struct ibv_cq_init_attr_ex attr = {.cqe = 4, .wc_flags = flag};
	struct ibv_cq_ex *ex = ibv_create_cq_ex(ctx, &attr);

	printf("| `IBV_WC_EX_WITH_%s` | %s |\n", name, answer(ex ? 0 : errno));
	if (ex)
		ibv_destroy_cq(ibv_cq_ex_to_cq(ex));
}

#define WC(name) wc_flag(#name, IBV_WC_EX_WITH_##name)

static void wc_flags(void)
{
	printf("| flag of ibv_create_cq_ex | |\n|---|---|\n");
	WC(BYTE_LEN);
	WC(IMM);
	WC(QP_NUM);
	WC(SRC_QP);
	WC(SLID);
	WC(SL);
	WC(DLID_PATH_BITS);
	WC(COMPLETION_TIMESTAMP);
	WC(COMPLETION_TIMESTAMP_WALLCLOCK);
	WC(CVLAN);
	WC(FLOW_TAG);
	WC(TM_INFO);
	printf("\n");
}

int main(void)
{
	struct ibv_srq_init_attr srq_attr = {.attr = {.max_wr = 4, .max_sge = 1}};
	struct ibv_xrcd_init_attr xrcd_attr = {.comp_mask = 3, .fd = -1, .oflags = 0100};
	struct ibv_device **list = must(ibv_get_device_list(NULL), "no devices");

	ctx = must(ibv_open_device(must(list[0], "no device")), "ibv_open_device");
	pd = must(ibv_alloc_pd(ctx), "ibv_alloc_pd");
	cq = must(ibv_create_cq(ctx, 16, NULL, NULL, 0), "ibv_create_cq");
	srq = must(ibv_create_srq(pd, &srq_attr), "ibv_create_srq");
	xrcd = must(ibv_open_xrcd(ctx, &xrcd_attr), "ibv_open_xrcd");
	operations();
	attributes();
	access_flags();
	wc_flags();
	ibv_close_xrcd(xrcd);
	ibv_destroy_srq(srq);
	ibv_destroy_cq(cq);
	ibv_dealloc_pd(pd);
	ibv_close_device(ctx);
	ibv_free_device_list(list);
	return 0;
}
