/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Completion counters of libraries since 65 (ibv_create_comp_cntr(3)), on a queue pair that is
 * connected with itself. The structs are spelt out here: the headers of the build may be older.
 * With a library that lacks them it says so. "none": the device has no counters, and says so. Exit
 * status 0 when all that is there is right. Run by comp_cntr.sh and scripts/try/try-release.
 */
#include <dlfcn.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			printf("line %d: not so: %s (errno %d)\n", __LINE__, #condition, errno);   \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

#define VERSION  "IBVERBS_1.18"
#define ACCESS   (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)
#define DEADLINE 120 /* seconds */

struct cntr {
	struct ibv_context *context;
	uint32_t handle;
};

struct init_attr {
	uint32_t comp_mask, type, flags;
};

struct attach_attr {
	uint32_t comp_mask, op_mask;
};

struct caps {
	uint64_t max_value;
	uint32_t max_counters, supported_qp_attach_ops;
};

enum { SEND = 1, RECV = 2, READ = 4, REMOTE_READ = 8, WRITE = 16, REMOTE_WRITE = 32 };
enum { WRS, BYTES };

static int (*query_caps)(struct ibv_context *, struct caps *, size_t);
static struct cntr *(*create)(struct ibv_context *, struct init_attr *);
static int (*destroy)(struct cntr *);
static int (*set)(struct cntr *, uint64_t);
static int (*set_err)(struct cntr *, uint64_t);
static int (*inc)(struct cntr *, uint64_t);
static int (*inc_err)(struct cntr *, uint64_t);
static int (*read_value)(struct cntr *, uint64_t *);
static int (*read_err)(struct cntr *, uint64_t *);
static int (*attach)(struct ibv_qp *, struct cntr *, struct attach_attr *);

static uint8_t memory[8192];

static struct stage {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
} s;

static void find_function(void *function, const char *name)
{
	void *library = dlopen("libibverbs.so.1", RTLD_NOW);

	CHECK(library);
	*(void **)function = dlvsym(library, name, VERSION);
}

static void find_all(void)
{
	find_function(&query_caps, "_ibv_query_comp_cntr_caps");
	find_function(&create, "ibv_create_comp_cntr");
	find_function(&destroy, "ibv_destroy_comp_cntr");
	find_function(&set, "ibv_set_comp_cntr");
	find_function(&set_err, "ibv_set_err_comp_cntr");
	find_function(&inc, "ibv_inc_comp_cntr");
	find_function(&inc_err, "ibv_inc_err_comp_cntr");
	find_function(&read_value, "ibv_read_comp_cntr");
	find_function(&read_err, "ibv_read_err_comp_cntr");
	find_function(&attach, "ibv_qp_attach_comp_cntr");
}

static void open_first(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	CHECK(list && list[0]);
	s.ctx = ibv_open_device(list[0]);
	CHECK(s.ctx);
	ibv_free_device_list(list);
}

static void check_refused(uint32_t comp_mask, uint32_t type, uint32_t flags, int error)
{
	CHECK(!create(s.ctx, &(struct init_attr){comp_mask, type, flags}));
	CHECK(errno == error);
}

/* A device without counters, by its profile. */
static void check_none(void)
{
	struct caps caps;

	CHECK(query_caps(s.ctx, &caps, sizeof(caps)) == EOPNOTSUPP);
	check_refused(0, WRS, 0, EOPNOTSUPP);
}

static struct cntr *counter(uint32_t type, uint32_t ops)
{
	struct cntr *k = create(s.ctx, &(struct init_attr){.type = type});

	CHECK(k && k->context == s.ctx);
	if (ops)
		CHECK(attach(s.qp, k, &(struct attach_attr){.op_mask = ops}) == 0);
	return k;
}

/* Nothing else is looked at meanwhile: who goes by counters does not poll. */
static void expect(struct cntr *k, uint64_t completions, uint64_t errors)
{
	const time_t end = time(NULL) + DEADLINE;
	uint64_t have, failed;

	do {
		sched_yield();
		CHECK(read_value(k, &have) == 0 && read_err(k, &failed) == 0);
	} while ((have != completions || failed != errors) && time(NULL) < end);
	if (have != completions || failed != errors)
		printf("%llu completions, %llu errors\n", (unsigned long long)have,
		       (unsigned long long)failed);
	CHECK(have == completions && failed == errors);
}

static void make_stage(void)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 1, .max_recv_sge = 1},
	};

	s.pd = ibv_alloc_pd(s.ctx);
	CHECK(s.pd);
	s.mr = ibv_reg_mr(s.pd, memory, sizeof(memory), ACCESS);
	s.cq = ibv_create_cq(s.ctx, 64, NULL, NULL, 0);
	CHECK(s.mr && s.cq);
	init.send_cq = init.recv_cq = s.cq;
	s.qp = ibv_create_qp(s.pd, &init);
	CHECK(s.qp);
}

static void make_ready(void)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
				   .qp_access_flags = ACCESS,
				   .port_num = 1,
				   .path_mtu = IBV_MTU_1024,
				   .dest_qp_num = s.qp->qp_num,
				   .ah_attr = {.port_num = 1, .is_global = 1},
				   .timeout = 14,
				   .retry_cnt = 7,
				   .max_rd_atomic = 1,
				   .max_dest_rd_atomic = 1};

	CHECK(ibv_query_gid(s.ctx, 1, 0, &attr.ah_attr.grh.dgid) == 0);
	CHECK(ibv_modify_qp(s.qp, &attr,
			    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) ==
	      0);
	attr.qp_state = IBV_QPS_RTR;
	CHECK(ibv_modify_qp(s.qp, &attr,
			    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				    IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				    IBV_QP_MIN_RNR_TIMER) == 0);
	attr.qp_state = IBV_QPS_RTS;
	CHECK(ibv_modify_qp(s.qp, &attr,
			    IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				    IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC) == 0);
}

/* Unsignalled. */
static void post(enum ibv_wr_opcode opcode, uint32_t length, uint32_t rkey)
{
	struct ibv_sge sge = {(uintptr_t)memory, length, s.mr->lkey};
	struct ibv_send_wr wr = {.opcode = opcode, .sg_list = &sge, .num_sge = 1}, *bad;

	wr.wr.rdma.remote_addr = (uintptr_t)memory + 4096;
	wr.wr.rdma.rkey = rkey;
	CHECK(ibv_post_send(s.qp, &wr, &bad) == 0);
}

static void post_recv(void)
{
	struct ibv_sge sge = {(uintptr_t)memory + 2048, 64, s.mr->lkey};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;

	CHECK(ibv_post_recv(s.qp, &wr, &bad) == 0);
}

static void check_values(struct cntr *k)
{
	CHECK(set(k, 40) == 0 && inc(k, 2) == 0);
	CHECK(set_err(k, 6) == 0 && inc_err(k, 1) == 0);
	expect(k, 42, 7);
	CHECK(set(k, 0) == 0 && set_err(k, 0) == 0);
}

static void check_attaching(struct cntr *k)
{
	CHECK(attach(s.qp, k, &(struct attach_attr){.op_mask = SEND}) == EBUSY);
	CHECK(attach(s.qp, k, &(struct attach_attr){.op_mask = 64}) == EOPNOTSUPP);
	CHECK(attach(s.qp, k, &(struct attach_attr){.op_mask = 0}) == EINVAL);
	CHECK(attach(s.qp, k, &(struct attach_attr){.comp_mask = 1}) == EINVAL);
	CHECK(destroy(k) == EBUSY);
}

/* All in one queue, in order: what the last one counts says that all have. */
static void check_counting(void)
{
	struct cntr *out = counter(WRS, SEND | READ | WRITE), *in = counter(BYTES, RECV);
	struct cntr *remote = counter(WRS, REMOTE_READ | REMOTE_WRITE);

	check_values(out);
	check_attaching(out);
	make_ready();
	CHECK(attach(s.qp, counter(WRS, 0), &(struct attach_attr){.op_mask = SEND}) == EINVAL);
	post_recv();
	memory[0] = 7;
	post(IBV_WR_SEND, 16, 0);
	expect(in, 16, 0);
	CHECK(memory[2048] == 7);
	post(IBV_WR_RDMA_WRITE, 100, s.mr->rkey);
	post(IBV_WR_RDMA_READ, 100, s.mr->rkey);
	expect(out, 3, 0);
	expect(remote, 2, 0);
	CHECK(memory[4096] == 7);
	CHECK(system("\"$UHCA_BUILDDIR/uhcactl\" --json show comp_cntr | grep -q completions") ==
	      0);
	post_recv();
	post(IBV_WR_RDMA_WRITE, 8, s.mr->rkey ^ 0x5500);
	expect(out, 3, 1);
	expect(remote, 2, 1);
	expect(in, 16, 1); /* flushed */
	CHECK(ibv_destroy_qp(s.qp) == 0);
	CHECK(destroy(out) == 0 && destroy(in) == 0 && destroy(remote) == 0);
}

int main(int argc, char **argv)
{
	struct caps caps;

	find_all();
	if (!create) {
		CHECK(!query_caps && !destroy && !attach);
		puts("no ibv_create_comp_cntr");
		return 0;
	}
	open_first();
	if (argc > 1 && strcmp(argv[1], "none") == 0) {
		check_none();
		return 0;
	}
	CHECK(query_caps(s.ctx, &caps, sizeof(caps)) == 0);
	CHECK(caps.max_value == UINT64_MAX && caps.supported_qp_attach_ops == 63);
	CHECK(caps.max_counters > 0);
	check_refused(1, WRS, 0, EINVAL);
	check_refused(0, 2, 0, EINVAL);
	check_refused(0, WRS, 1, EINVAL);
	make_stage();
	check_counting();
	puts("counters are right");
	return 0;
}
