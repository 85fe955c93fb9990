/* SPDX-License-Identifier: BSD-2-Clause */
/* Executes atomics at the responder, once for each request (IBTA vol. 1, 9.4.5). */
#include "atomic.h"

#include "emu/core/keys/keys.h"

#include <errno.h>

/* See atomic.h. */
static int result_store(const struct device *dev, struct mr *mr, uint64_t va,
			const struct iovec *iov)
{
	int err = sgl_write_mr(dev, mr, va, iov, 1);

	return err == -ESRCH ? -EFAULT : err;
}

int atomic_execute(const struct device *dev, struct mr *mr, const struct roce_atomiceth *h,
		   bool cas, uint64_t *original)
{
	uint64_t value;
	struct iovec iov = {&value, sizeof value};
	int err = sgl_read_mr(dev, mr, h->va, sizeof *original, original);

	if (err)
		return err;
	if (cas && *original != h->compare)
		return 0;
	value = cas ? h->swap_add : *original + h->swap_add;
	return result_store(dev, mr, h->va, &iov);
}

int masked_execute(const struct device *dev, struct mr *mr, uint64_t va,
		   const struct masked_atomic *m, struct masked_int *original)
{
	uint8_t bytes[MASKED_MAX];
	struct iovec iov = {bytes, m->size};
	struct masked_int value;
	int err = sgl_read_mr(dev, mr, va, m->size, bytes);

	if (err)
		return err;
	masked_load(bytes, m->size, original);
	value = *original;
	if (!masked_compute(m, &value))
		return 0;
	masked_store(&value, m->size, bytes);
	return result_store(dev, mr, va, &iov);
}
