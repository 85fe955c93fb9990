/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that has no reference to libibverbs: it loads the library while it runs, takes each
 * function by name and version (as NCCL does, with the versions that NCCL asks for), posts and
 * polls through the context's own table, and moves data between two RC QPs in NCCL's way: WRITEs,
 * of which the last brings immediate data, and READs. Runs below uhca-run.
 */
#include "tests/support/wire/cmocka_all.h"

#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MEMORY    (1u << 20)
#define DEPTH     64u
#define LIMIT_S   120
#define CHUNKS    16u
#define CHUNK     (MEMORY / CHUNKS)
#define IMMEDIATE 0x6e63636cu
#define RIGHTS                                                                                     \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |               \
	 IBV_ACCESS_RELAXED_ORDERING)

/* What verbs.h has under these names are partly macros. */
static struct {
	int (*fork_init)(void);
	struct ibv_device **(*get_device_list)(int *n);
	void (*free_device_list)(struct ibv_device **list);
	const char *(*get_device_name)(struct ibv_device *dev);
	struct ibv_context *(*open_device)(struct ibv_device *dev);
	int (*close_device)(struct ibv_context *c);
	int (*get_async_event)(struct ibv_context *c, struct ibv_async_event *e);
	void (*ack_async_event)(struct ibv_async_event *e);
	const char *(*event_type_str)(enum ibv_event_type type);
	int (*query_device)(struct ibv_context *c, struct ibv_device_attr *attr);
	int (*query_port)(struct ibv_context *c, uint8_t port, void *attr);
	int (*query_gid)(struct ibv_context *c, uint8_t port, int index, union ibv_gid *gid);
	struct ibv_pd *(*alloc_pd)(struct ibv_context *c);
	int (*dealloc_pd)(struct ibv_pd *pd);
	struct ibv_mr *(*reg_mr)(struct ibv_pd *pd, void *addr, size_t len, int access);
	struct ibv_mr *(*reg_mr_iova2)(struct ibv_pd *pd, void *addr, size_t len, uint64_t iova,
				       unsigned access);
	struct ibv_mr *(*reg_dmabuf_mr)(struct ibv_pd *pd, uint64_t offset, size_t len,
					uint64_t iova, int fd, int access);
	int (*dereg_mr)(struct ibv_mr *mr);
	struct ibv_cq *(*create_cq)(struct ibv_context *c, int cqe, void *arg,
				    struct ibv_comp_channel *channel, int vector);
	int (*destroy_cq)(struct ibv_cq *cq);
	struct ibv_qp *(*create_qp)(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
	int (*modify_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
	int (*query_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
			struct ibv_qp_init_attr *init);
	int (*destroy_qp)(struct ibv_qp *qp);
	int (*query_ece)(struct ibv_qp *qp, struct ibv_ece *ece);
	int (*set_ece)(struct ibv_qp *qp, struct ibv_ece *ece);
} v;

#define FUNCTION(name, version)                                                                    \
	{                                                                                          \
		"ibv_" #name, "IBVERBS_" version, (void **)(void *)&v.name                         \
	}
static const struct {
	const char *name;
	const char *version;
	void **place;
} functions[] = {
	FUNCTION(fork_init, "1.1"),        FUNCTION(get_device_list, "1.1"),
	FUNCTION(free_device_list, "1.1"), FUNCTION(get_device_name, "1.1"),
	FUNCTION(open_device, "1.1"),      FUNCTION(close_device, "1.1"),
	FUNCTION(get_async_event, "1.1"),  FUNCTION(ack_async_event, "1.1"),
	FUNCTION(event_type_str, "1.1"),   FUNCTION(query_device, "1.1"),
	FUNCTION(query_port, "1.1"),       FUNCTION(query_gid, "1.1"),
	FUNCTION(alloc_pd, "1.1"),         FUNCTION(dealloc_pd, "1.1"),
	FUNCTION(reg_mr, "1.1"),           FUNCTION(reg_mr_iova2, "1.8"),
	FUNCTION(reg_dmabuf_mr, "1.12"),   FUNCTION(dereg_mr, "1.1"),
	FUNCTION(create_cq, "1.1"),        FUNCTION(destroy_cq, "1.1"),
	FUNCTION(create_qp, "1.1"),        FUNCTION(modify_qp, "1.1"),
	FUNCTION(query_qp, "1.1"),         FUNCTION(destroy_qp, "1.1"),
	FUNCTION(query_ece, "1.10"),       FUNCTION(set_ece, "1.10"),
};
#undef FUNCTION

struct side {
	uint8_t *memory;
	struct ibv_mr *mr;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
};

static struct ibv_context *context;
static struct ibv_pd *pd;
static union ibv_gid gid;
static struct side a, b;

static int load(void **state)
{
	void *handle;

	(void)state;
	assert_null(dlopen("libibverbs.so.1", RTLD_NOLOAD | RTLD_NOW)); /* we have no reference */
	handle = dlopen("libibverbs.so.1", RTLD_NOW);
	assert_non_null(handle);
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		*functions[i].place = dlvsym(handle, functions[i].name, functions[i].version);
		if (!*functions[i].place)
			fail_msg("no %s@%s", functions[i].name, functions[i].version);
	}
	return 0;
}

static void open_first(void)
{
	int n = 0;
	struct ibv_device **list = v.get_device_list(&n);

	assert_non_null(list);
	assert_int_equal(n, 1);
	assert_string_equal(v.get_device_name(list[0]), "uhca0");
	context = v.open_device(list[0]);
	assert_non_null(context);
	v.free_device_list(list);
}

static void make_side(struct side *s)
{
	struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_RC, .cap = {DEPTH, DEPTH, 1, 1, 0}};

	s->memory = aligned_alloc(65536, MEMORY);
	assert_non_null(s->memory);
	memset(s->memory, 0, MEMORY);
	s->mr = v.reg_mr_iova2(pd, s->memory, MEMORY, (uintptr_t)s->memory, RIGHTS);
	assert_non_null(s->mr);
	s->cq = v.create_cq(context, 2 * DEPTH, NULL, NULL, 0);
	assert_non_null(s->cq);
	attr.send_cq = attr.recv_cq = s->cq;
	s->qp = v.create_qp(pd, &attr);
	assert_non_null(s->qp);
}

static void connect_to(struct side *s, const struct side *peer)
{
	struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT,
				   .port_num = 1,
				   .qp_access_flags =
					   IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ};
	struct ibv_qp_attr rtr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_4096,
		.dest_qp_num = peer->qp->qp_num,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.ah_attr = {.is_global = 1, .port_num = 1, .grh = {.dgid = gid, .hop_limit = 255}}};
	struct ibv_qp_attr rts = {.qp_state = IBV_QPS_RTS,
				  .timeout = 20,
				  .retry_cnt = 7,
				  .rnr_retry = 7,
				  .max_rd_atomic = 1};

	assert_int_equal(
		v.modify_qp(s->qp, &init,
			    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
		0);
	assert_int_equal(v.modify_qp(s->qp, &rtr,
				     IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
					     IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
					     IBV_QP_MIN_RNR_TIMER),
			 0);
	assert_int_equal(v.modify_qp(s->qp, &rts,
				     IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
					     IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
					     IBV_QP_MAX_QP_RD_ATOMIC),
			 0);
}

static int make_pair(void **state)
{
	(void)state;
	open_first();
	assert_int_equal(v.query_gid(context, 1, 0, &gid), 0);
	pd = v.alloc_pd(context);
	assert_non_null(pd);
	make_side(&a);
	make_side(&b);
	connect_to(&a, &b);
	connect_to(&b, &a);
	return 0;
}

static void free_side(struct side *s)
{
	assert_int_equal(v.destroy_qp(s->qp), 0);
	assert_int_equal(v.destroy_cq(s->cq), 0);
	assert_int_equal(v.dereg_mr(s->mr), 0);
	free(s->memory);
}

static int free_pair(void **state)
{
	(void)state;
	free_side(&a);
	free_side(&b);
	assert_int_equal(v.dealloc_pd(pd), 0);
	assert_int_equal(v.close_device(context), 0);
	return 0;
}

static struct ibv_wc next_completion(struct ibv_cq *cq)
{
	time_t end = time(NULL) + LIMIT_S;
	struct ibv_wc wc;
	int n;

	do
		n = context->ops.poll_cq(cq, 1, &wc);
	while (n == 0 && time(NULL) < end);
	assert_int_equal(n, 1);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	return wc;
}

static void post(struct side *from, const struct side *to, unsigned chunk, struct ibv_send_wr wr)
{
	struct ibv_sge sge = {(uintptr_t)from->memory + chunk * CHUNK, CHUNK, from->mr->lkey};
	struct ibv_send_wr *bad;

	wr.sg_list = &sge;
	wr.num_sge = 1;
	wr.wr.rdma.remote_addr = (uintptr_t)to->memory + chunk * CHUNK;
	wr.wr.rdma.rkey = to->mr->rkey;
	assert_int_equal(context->ops.post_send(from->qp, &wr, &bad), 0);
}

static void fill(struct side *s, uint32_t seed)
{
	for (size_t i = 0; i < MEMORY; i += sizeof(seed)) {
		seed = seed * 1664525u + 1013904223u;
		memcpy(s->memory + i, &seed, sizeof(seed));
	}
}

static void test_device(void **state)
{
	struct ibv_device_attr device;
	struct {
		struct ibv_port_attr attr;
		uint8_t guard[64];
	} port;

	(void)state;
	open_first();
	assert_int_equal(v.query_device(context, &device), 0);
	assert_int_equal(device.phys_port_cnt, 1);
	/* This version of the function knows the structure without its newest fields. */
	memset(&port, 0xa5, sizeof(port));
	assert_int_equal(v.query_port(context, 1, &port), 0);
	assert_int_equal(port.attr.state, IBV_PORT_ACTIVE);
	assert_int_equal(port.attr.link_layer, IBV_LINK_LAYER_ETHERNET);
	assert_int_equal(port.attr.port_cap_flags2, 0xa5a5);
	assert_int_equal(port.guard[0], 0xa5);
	assert_string_equal(v.event_type_str(IBV_EVENT_PORT_ACTIVE), "port active");
	assert_int_equal(v.close_device(context), 0);
}

/* All but the last WRITE are silent, and the receiver learns of all by the last one's number. */
static void test_write(void **state)
{
	struct ibv_recv_wr recv = {.wr_id = 7}, *bad;
	struct ibv_wc wc;

	(void)state;
	fill(&a, 1);
	assert_int_equal(context->ops.post_recv(b.qp, &recv, &bad), 0);
	for (unsigned i = 0; i + 1 < CHUNKS; i++)
		post(&a, &b, i, (struct ibv_send_wr){.opcode = IBV_WR_RDMA_WRITE});
	post(&a, &b, CHUNKS - 1,
	     (struct ibv_send_wr){.wr_id = 9,
				  .opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
				  .imm_data = IMMEDIATE,
				  .send_flags = IBV_SEND_SIGNALED});
	wc = next_completion(b.cq);
	assert_int_equal(wc.wr_id, 7);
	assert_int_equal(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
	assert_int_equal(wc.imm_data, IMMEDIATE);
	assert_memory_equal(a.memory, b.memory, MEMORY);
	assert_int_equal(next_completion(a.cq).wr_id, 9);
}

/* NCCL makes WRITEs of a GPU visible by a READ of the same memory. */
static void test_read(void **state)
{
	(void)state;
	fill(&b, 2);
	for (unsigned i = 0; i < CHUNKS; i++) {
		post(&a, &b, i,
		     (struct ibv_send_wr){.wr_id = i,
					  .opcode = IBV_WR_RDMA_READ,
					  .send_flags = IBV_SEND_SIGNALED});
		assert_int_equal(next_completion(a.cq).wr_id, i);
	}
	assert_memory_equal(a.memory, b.memory, MEMORY);
}

static void test_query(void **state)
{
	struct ibv_ece ece = {.vendor_id = 1};
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	(void)state;
	assert_int_equal(v.query_qp(a.qp, &attr, IBV_QP_STATE | IBV_QP_DEST_QPN, &init), 0);
	assert_int_equal(attr.qp_state, IBV_QPS_RTS);
	assert_int_equal(attr.dest_qp_num, b.qp->qp_num);
	assert_int_equal(v.query_ece(a.qp, &ece), 0);
}

/* The thread of NCCL that waits for events of a device: one comes, and it has a name. */
static void test_async_event(void **state)
{
	struct pollfd p = {.fd = context->async_fd, .events = POLLIN};
	struct ibv_sge sge = {(uintptr_t)b.memory, 1, b.mr->lkey};
	struct ibv_send_wr *bad, wr = {.opcode = IBV_WR_RDMA_WRITE,
				       .sg_list = &sge,
				       .num_sge = 1,
				       .send_flags = IBV_SEND_SIGNALED};
	struct ibv_async_event event;

	(void)state;
	/* A WRITE to a key that is not there: the responder's QP breaks (IBTA vol. 1, 9.9.3). */
	wr.wr.rdma.remote_addr = (uintptr_t)a.memory;
	wr.wr.rdma.rkey = a.mr->rkey ^ 0x5a00u;
	assert_int_equal(context->ops.post_send(b.qp, &wr, &bad), 0);
	assert_int_equal(poll(&p, 1, LIMIT_S * 1000), 1);
	assert_int_equal(v.get_async_event(context, &event), 0);
	assert_int_equal(event.event_type, IBV_EVENT_QP_ACCESS_ERR);
	assert_ptr_equal(event.element.qp, a.qp);
	assert_non_null(strstr(v.event_type_str(event.event_type), "access"));
	v.ack_async_event(&event);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_device),
		cmocka_unit_test_setup_teardown(test_write, make_pair, free_pair),
		cmocka_unit_test_setup_teardown(test_read, make_pair, free_pair),
		cmocka_unit_test_setup_teardown(test_query, make_pair, free_pair),
		cmocka_unit_test_setup_teardown(test_async_event, make_pair, free_pair),
	};

	return cmocka_run_group_tests(tests, load, NULL);
}
