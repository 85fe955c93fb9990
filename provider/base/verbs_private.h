/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parts of libibverbs' private provider ABI that we touch: layouts only, no functions.
 * Independently written from facts that hold for rdma-core v33 ... v65; what differs between
 * those releases is found out at run time (driver.c) instead of being compiled in. Objects that
 * the library hands to us or takes from us carry slack behind the fields named here, because
 * newer libraries have more.
 */
#ifndef UHCAV_VERBS_PRIVATE_H
#define UHCAV_VERBS_PRIVATE_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

/* One line of the table that says which devices are ours. */
enum { UHCAV_MATCH_END = 0, UHCAV_MATCH_MODALIAS = 2 };

struct uhcav_match {
	void *driver_data;
	union {
		const char *modalias;
		uint64_t driver_id;
	} u;
	uint16_t vendor;
	uint16_t device;
	uint8_t kind;
};

/* What a provider registers. */
struct uhcav_device_ops {
	const char *name;
	uint32_t match_min_abi;
	uint32_t match_max_abi;
	const struct uhcav_match *match_table;
	const void *static_providers;
	bool (*match_device)(void *sysfs_dev);
	void *(*alloc_context)(struct ibv_device *dev, int cmd_fd, void *private_data);
	void *(*import_context)(struct ibv_device *dev, int cmd_fd);
	void *(*alloc_device)(void *sysfs_dev);
	void (*uninit_device)(void *device);
};

#define UHCAV_CORE_SUPPORT_OPTIONAL_MR_ACCESS 1u

/* A device: the public part first, then the library's. */
struct uhcav_device {
	struct ibv_device device;
	const void *ops;
	int refcount;
	void *list_next;
	void *list_prev;
	void *sysfs;
	uint64_t core_support;
	uint8_t slack[256];
	struct uhcav_device *next; /* ours, in driver.c */
};

/* A memory region: the library reads mr_type and access in ibv_dereg_mr and ibv_rereg_mr. */
struct uhcav_verbs_mr {
	struct ibv_mr mr;
	int mr_type; /* 0: an ordinary one */
	int access;
};

#endif
