/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * registration: what making and ending a region costs a program, for the benchmark's table.
 *
 *   registration BYTES [touched] [warm]
 *
 * Prints the medians of ibv_reg_mr and of ibv_dereg_mr in microseconds. Each region is of memory
 * of its own that was not touched before, or was; with "warm" it is the same memory each time, as
 * a program that registers its buffer anew for each transfer has it, and the first time does not
 * count.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define MOST 101
#define FEW  5
#define BIG  (64ul << 20) /* from here on few are enough */

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void die(const char *what)
{
	fprintf(stderr, "registration: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *v, int n)
{
	qsort(v, (size_t)n, sizeof(*v), compare);
	return v[n / 2];
}

static struct ibv_pd *open_pd(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = list && *list ? ibv_open_device(*list) : NULL;
	struct ibv_pd *pd = ctx ? ibv_alloc_pd(ctx) : NULL;

	if (!pd)
		die("no device");
	return pd;
}

static void *new_memory(size_t bytes, bool touched)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die("memory");
	if (touched)
		memset(p, 7, bytes);
	return p;
}

/* One region of the memory; what both calls took. */
static void once(struct ibv_pd *pd, void *p, size_t bytes, double took[2])
{
	double begin = now_us();
	struct ibv_mr *mr = ibv_reg_mr(pd, p, bytes, IBV_ACCESS_LOCAL_WRITE);

	took[0] = now_us() - begin;
	if (!mr)
		die("ibv_reg_mr");
	begin = now_us();
	if (ibv_dereg_mr(mr))
		die("ibv_dereg_mr");
	took[1] = now_us() - begin;
}

int main(int argc, char **argv)
{
	size_t bytes = argc > 1 ? strtoull(argv[1], NULL, 0) : 0;
	int n = bytes < BIG ? MOST : FEW;
	bool touched = false, warm = false;
	double reg[MOST], dereg[MOST], took[2];
	struct ibv_pd *pd;
	void *p = NULL;

	for (int i = 2; i < argc; i++) {
		touched |= !strcmp(argv[i], "touched");
		warm |= !strcmp(argv[i], "warm");
	}
	if (!bytes)
		die("BYTES [touched] [warm]");
	pd = open_pd();
	for (int i = warm ? -1 : 0; i < n; i++) {
		if (!p)
			p = new_memory(bytes, touched);
		once(pd, p, bytes, took);
		if (i >= 0) {
			reg[i] = took[0];
			dereg[i] = took[1];
		}
		if (!warm) {
			munmap(p, bytes);
			p = NULL;
		}
	}
	printf("%.1f %.1f\n", median(reg, n), median(dereg, n));
	return 0;
}
