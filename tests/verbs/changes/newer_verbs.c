/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What newer libibverbs ask: ibv_query_port_speed and the speed that stands in active_speed_ex only
 * (62), ibv_reg_mr_ex and ibv_alloc_dmah (59). The structs are spelt out here: the headers of the
 * build may be older. With a library that lacks them it says so, and checks that it lacks them.
 * Exit status 0 when all that is there is right. Run by newer_verbs.sh and scripts/try/try-release.
 */
#include <dlfcn.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			printf("line %d: not so: %s (errno %d)\n", __LINE__, #condition, errno);   \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

#define SPEED_EX_AT 52 /* active_speed_ex, behind what v44 has */

struct dmah;

struct dmah_attr {
	uint32_t comp_mask, cpu_id;
	uint8_t ph, memory;
};

struct mr_attr {
	size_t length;
	int access;
	uint64_t comp_mask, iova;
	void *addr;
	int fd;
	uint64_t fd_offset;
	struct dmah *dmah;
	void *buf;
};

enum { IOVA = 1, ADDR = 2, FD = 4, FD_OFFSET = 8, DMAH = 16, BUF = 32 };

static int (*query_port_speed)(struct ibv_context *, uint32_t, uint64_t *);
static int (*query_port)(struct ibv_context *, uint8_t, struct ibv_port_attr *);
static struct ibv_mr *(*reg_mr_ex)(struct ibv_pd *, struct mr_attr *);
static struct dmah *(*alloc_dmah)(struct ibv_context *, struct dmah_attr *);
static int (*dealloc_dmah)(struct dmah *);

static void find_function(void *function, const char *name, const char *version)
{
	void *library = dlopen("libibverbs.so.1", RTLD_NOW);

	CHECK(library);
	*(void **)function = version ? dlvsym(library, name, version) : dlsym(library, name);
}

static struct ibv_context *open_first(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx;

	CHECK(list && list[0]);
	ctx = ibv_open_device(list[0]);
	CHECK(ctx);
	ibv_free_device_list(list);
	return ctx;
}

/* The daemon was started with this speed in units of 0.1 Gb/s. */
static void check_speed(struct ibv_context *ctx, uint64_t expected)
{
	uint64_t speed = 0;

	if (!query_port_speed) {
		puts("no ibv_query_port_speed");
		return;
	}
	CHECK(query_port_speed(ctx, 1, &speed) == 0);
	printf("speed %llu\n", (unsigned long long)speed);
	CHECK(speed == expected);
	CHECK(query_port_speed(ctx, 2, &speed) == EINVAL);
}

/* XDR, whose bit is the ninth. The library gives the provider a struct of its own size. */
static void check_speed_ex(struct ibv_context *ctx)
{
	union {
		struct ibv_port_attr attr;
		uint8_t bytes[128];
	} u;
	struct verbs_context *v = verbs_get_ctx_op(ctx, query_port);
	uint32_t ex;

	memset(&u, 0, sizeof(u));
	CHECK(v && v->query_port(ctx, 1, &u.attr, SPEED_EX_AT + 4) == 0);
	memcpy(&ex, u.bytes + SPEED_EX_AT, sizeof(ex));
	printf("active_speed %u, active_speed_ex %u\n", u.attr.active_speed, ex);
	CHECK(u.attr.active_speed == 128);
	CHECK(ex == (query_port_speed ? 256 : 0));
}

static void refuse(struct ibv_pd *pd, struct mr_attr attr, int error)
{
	CHECK(!reg_mr_ex(pd, &attr));
	CHECK(errno == error);
}

static void check_regions(struct ibv_context *ctx)
{
	static char memory[8192];
	struct dmah_attr hint = {.comp_mask = 7, .cpu_id = 3, .ph = 2, .memory = 1};
	struct mr_attr attr = {.length = 4096,
			       .access = IBV_ACCESS_LOCAL_WRITE,
			       .comp_mask = ADDR,
			       .addr = memory};
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	struct ibv_mr *mr, *other;
	struct dmah *dmah;

	CHECK(pd);
	if (!reg_mr_ex) {
		puts("no ibv_reg_mr_ex");
		CHECK(ibv_dealloc_pd(pd) == 0);
		return;
	}
	dmah = alloc_dmah(ctx, &hint);
	CHECK(dmah);
	mr = reg_mr_ex(pd, &attr);
	CHECK(mr && mr->lkey && mr->addr == memory && mr->length == 4096 && mr->pd == pd);
	attr.comp_mask = ADDR | IOVA | DMAH;
	attr.iova = 0x10000;
	attr.dmah = dmah;
	other = reg_mr_ex(pd, &attr);
	CHECK(other);
	CHECK(system("\"$UHCA_BUILDDIR/uhcactl\" --json show mr | grep -q dmah_cpu") == 0);
	CHECK(dealloc_dmah(dmah) == EBUSY);
	refuse(pd, (struct mr_attr){.length = 1, .comp_mask = 0}, EINVAL);
	refuse(pd, (struct mr_attr){.length = 1, .comp_mask = ADDR | DMAH, .addr = memory}, EINVAL);
	refuse(pd, (struct mr_attr){.length = 1, .comp_mask = FD | IOVA, .fd = 0}, EINVAL);
	refuse(pd, (struct mr_attr){.length = 1, .comp_mask = ADDR | 1 << 9, .addr = memory},
	       EOPNOTSUPP);
	hint.ph = 4;
	CHECK(!alloc_dmah(ctx, &hint) && errno == EINVAL);
	CHECK(ibv_dereg_mr(mr) == 0 && ibv_dereg_mr(other) == 0);
	CHECK(dealloc_dmah(dmah) == 0);
	CHECK(ibv_dealloc_pd(pd) == 0);
	puts("regions are right");
}

int main(int argc, char **argv)
{
	struct ibv_context *ctx;

	find_function(&query_port_speed, "ibv_query_port_speed", "IBVERBS_1.16");
	find_function(&query_port, "ibv_query_port", NULL);
	find_function(&reg_mr_ex, "ibv_reg_mr_ex", "IBVERBS_1.15");
	find_function(&alloc_dmah, "ibv_alloc_dmah", "IBVERBS_1.15");
	find_function(&dealloc_dmah, "ibv_dealloc_dmah", "IBVERBS_1.15");
	ctx = open_first();
	check_speed(ctx, argc > 1 ? strtoull(argv[1], NULL, 10) : 1000);
	if (argc > 1)
		check_speed_ex(ctx);
	check_regions(ctx);
	CHECK(ibv_close_device(ctx) == 0);
	return 0;
}
