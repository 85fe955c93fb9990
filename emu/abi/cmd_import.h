/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Control messages that share a context's objects with another process (ibv_import_device(3)),
 * and the file that stands for a context. See cmd_header.h for the protocol.
 */
#ifndef UHCA_ABI_CMD_IMPORT_H
#define UHCA_ABI_CMD_IMPORT_H

#include "cmd_header.h"

#define UHCA_ABI_TOKEN_SIZE 16

/*
 * ibv_context.cmd_fd is a small memory file that names the context. A process of the same user that
 * has it may import the context's objects.
 */
#define UHCA_ABI_CONTEXT_MAGIC "uhca context 1\n"
#define UHCA_ABI_CONTEXT_NAME  "uhca-context" /* of the memory file */

struct uhca_abi_context_file {
	char magic[16];
	char device[32]; /* terminated */
	uint8_t token[UHCA_ABI_TOKEN_SIZE];
};
static_assert(sizeof(struct uhca_abi_context_file) == 64, "context file");

/* EXPORT: struct uhca_cmd_handle, naming nothing. The token is the same at each call. */
struct uhca_cmd_export_reply {
	struct uhca_cmd_reply h;
	uint8_t token[UHCA_ABI_TOKEN_SIZE];
};
static_assert(sizeof(struct uhca_cmd_export_reply) == 32, "export reply");

/*
 * IMPORT of a context, right after HELLO, joins the context that the token names: from then on
 * the protection domains, regions and device memory of either can be named by both. IMPORT of
 * one of those tells about it; a reply about device memory carries its descriptor.
 */
enum {
	UHCA_ABI_IMPORT_CONTEXT = 0, /* token; handle is 0 */
	UHCA_ABI_IMPORT_PD = 1,      /* handle; the token is all zero, also below */
	UHCA_ABI_IMPORT_MR = 2,
	UHCA_ABI_IMPORT_DM = 3,
};

struct uhca_cmd_import {
	struct uhca_cmd_request h;
	uint32_t type;
	uint32_t handle;
	uint8_t token[UHCA_ABI_TOKEN_SIZE];
};
static_assert(sizeof(struct uhca_cmd_import) == 40, "import");

struct uhca_cmd_import_reply {
	struct uhca_cmd_reply h;
	uint32_t lkey; /* MR */
	uint32_t rkey;
	uint64_t iova;
	uint64_t length;      /* MR, DM */
	uint64_t region_size; /* DM */
};
static_assert(sizeof(struct uhca_cmd_import_reply) == 48, "import reply");

#endif
