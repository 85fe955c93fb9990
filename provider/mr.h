/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory regions (ibv_reg_mr(3)). */
#ifndef UHCAV_MR_H
#define UHCAV_MR_H

#include <infiniband/verbs.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Registers [addr, addr + length) under addresses from iova on. NULL with errno: EFAULT when a
 * part of it is not mapped (or may not be written and LOCAL_WRITE is asked for), EINVAL for a
 * length of 0, a range that wraps and remote write or atomic access without LOCAL_WRITE,
 * EOPNOTSUPP for access flags that are not supported. The library fills in the public fields but
 * keys and handle.
 */
struct ibv_mr *uhcav_reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
			    int access);

/* 0 or an errno value. The argument is libibverbs' wrapper of the region. */
int uhcav_dereg_mr(void *verbs_mr);

#endif
