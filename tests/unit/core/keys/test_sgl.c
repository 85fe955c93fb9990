/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scatter/gather lists against a plain copy: random lists over two regions, random pieces of
 * them, read and written; and the refusals: gone key, range, access, list too short.
 */
#include "tests/sim/world/pair.h"

#include "emu/core/keys/sgl.h"
#include "emu/core/qp/qp.h"
#include "tests/support/wire/prng.h"

#define MAX_SGES 8

struct fixture {
	struct pair p;
	struct prng rng;
	struct uhca_abi_sge sge[MAX_SGES];
	struct sgl l;
	uint8_t image[64 << 10];
};

/* Elements that never overlap, some of length zero; image gets the list's content. */
static void random_list(struct fixture *f)
{
	struct side *s = &f->p.a;
	uint32_t at = 0, bytes = 0;

	f->l.n = 1 + prng_below(&f->rng, MAX_SGES);
	for (unsigned i = 0; i < f->l.n; i++) {
		uint32_t len = prng_below(&f->rng, 4) ? prng_below(&f->rng, 6000) : 0;
		at += prng_below(&f->rng, 3000);
		f->sge[i] = (struct uhca_abi_sge){s->mr.addr + at, len, s->mr.lkey};
		if (len)
			memcpy(f->image + bytes, memory_at(&s->c.mem, s->mr.addr + at, len), len);
		at += len;
		bytes += len;
	}
}

static void start(struct fixture *f)
{
	struct qp *qp;

	pair_create(&f->p, &(struct pair_options){0});
	qp = device_find_qp(f->p.a.c.host->dev, f->p.a.qp.qpn);
	f->rng = prng_start("sgl");
	f->l = (struct sgl){qp->dev, qp->pd, f->sge, 0};
}

static void test_read(void **state)
{
	static struct fixture f;
	static uint8_t got[sizeof f.image];

	(void)state;
	start(&f);
	for (int round = 0; round < 300; round++) {
		uint32_t total, offset, length;
		random_list(&f);
		total = (uint32_t)sgl_length(&f.l);
		offset = prng_below(&f.rng, total + 1);
		length = prng_below(&f.rng, total - offset + 1);
		assert_int_equal(sgl_read(&f.l, offset, length, got), 0);
		assert_memory_equal(got, f.image + offset, length);
		assert_int_equal(sgl_read(&f.l, offset, total - offset + 1, got), -EFAULT);
	}
	pair_finish(&f.p);
}

/* Cuts length bytes at src into random iovecs. */
static unsigned random_iov(struct prng *rng, uint8_t *src, uint32_t length, struct iovec *iov)
{
	unsigned n = 0;

	while (length) {
		uint32_t part = n == 7 ? length : 1 + prng_below(rng, length);
		iov[n++] = (struct iovec){src, part};
		src += part;
		length -= part;
	}
	return n;
}

static void test_write(void **state)
{
	static struct fixture f;

	(void)state;
	start(&f);
	for (int round = 0; round < 300; round++) {
		struct iovec iov[8];
		uint32_t total, offset, length;
		uint8_t *fresh = f.image;
		random_list(&f);
		total = (uint32_t)sgl_length(&f.l);
		offset = prng_below(&f.rng, total + 1);
		length = prng_below(&f.rng, total - offset + 1);
		prng_fill(&f.rng, fresh + offset, length);
		assert_int_equal(sgl_write(&f.l, offset, iov,
					   random_iov(&f.rng, fresh + offset, length, iov)),
				 0);
		for (unsigned i = 0, at = 0; i < f.l.n; at += f.sge[i++].length)
			if (f.sge[i].length)
				memory_expect(&f.p.a.c.mem, f.sge[i].addr, fresh + at,
					      f.sge[i].length);
	}
	pair_finish(&f.p);
}

static void test_refusals(void **state)
{
	static struct fixture f;
	struct side *s = &f.p.a;
	struct vmr read_only;
	struct iovec one = {f.image, 1};
	uint8_t byte;

	(void)state;
	start(&f);
	f.l.n = 1;
	assert_int_equal(vclient_reg_mr(&s->c, s->mr.addr, 100, 0, &read_only), 0);
	f.sge[0] = (struct uhca_abi_sge){s->mr.addr, 100, read_only.lkey};
	assert_int_equal(sgl_check(&f.l, 0), MR_OK);
	assert_int_equal(sgl_check(&f.l, MR_LOCAL_WRITE), MR_BAD_ACCESS);
	assert_int_equal(sgl_write(&f.l, 0, &one, 1), -EFAULT);
	f.sge[0].length = 101;
	assert_int_equal(sgl_check(&f.l, 0), MR_BAD_RANGE);
	assert_int_equal(sgl_read(&f.l, 0, 1, &byte), 0);
	assert_int_equal(sgl_read(&f.l, 100, 1, &byte), -EFAULT);
	f.sge[0].lkey ^= 1;
	assert_int_equal(sgl_check(&f.l, 0), MR_BAD_KEY);
	f.sge[0].lkey ^= 1;
	assert_int_equal(vclient_dereg_mr(&s->c, &read_only), 0);
	assert_int_equal(sgl_read(&f.l, 0, 1, &byte), -EFAULT);
	/* An element of no length needs no key. */
	f.sge[0] = (struct uhca_abi_sge){0, 0, 0};
	assert_int_equal(sgl_check(&f.l, MR_LOCAL_WRITE), MR_OK);
	pair_finish(&f.p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_write),
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests_name("sgl", tests, NULL, NULL);
}
