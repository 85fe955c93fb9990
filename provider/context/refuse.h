/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A call that the library refuses by itself, and why: told to the daemon, for its log and, of
 * posts, for captures, and to the sanitizer. What the daemon refuses it has told itself; of that
 * only the sanitizer hears (uhcav_context_call). A queue that is full is no such call.
 */
#ifndef UHCAV_REFUSE_H
#define UHCAV_REFUSE_H

#include "device.h"
#include "emu/abi/cmd_fault.h"

#define UHCAV_REFUSED_MOST 100 /* told of one context in a second: a program may try for ever */

/*
 * The verb ("create_qp") is refused for this reason (printf(3)), with the attribute's name, its
 * value and what it should be. Returns err, an errno value or its negative. Keeps errno.
 */
int uhcav_refuse(struct uhcav_context *ctx, const char *verb, int err, const char *words, ...)
	__attribute__((format(printf, 4, 5)));

/*
 * The same in two steps, where locks are held or the verb is not known: the thread remembers why,
 * and tells of it later. uhcav_because returns err; without it nothing is known.
 */
int uhcav_because(int err, const char *words, ...) __attribute__((format(printf, 2, 3)));

/* Tells why the thread's call of this verb fails with err, as uhcav_because knows. Returns err. */
int uhcav_refused(struct uhcav_context *ctx, const char *verb, int err);

/* A post to this QP, by its number; qpn and the rest are 0 for SRQs and WQs. */
struct uhcav_post {
	const char *verb; /* "post_send" */
	uint32_t qpn;
	uint32_t state; /* enum ibv_qp_state as the library knows it */
	uint64_t wr_id;
};

/* Tells of it when err is an errno value but ENOMEM (a full queue). Returns err. Keeps errno. */
int uhcav_post_refused(struct uhcav_context *ctx, const struct uhcav_post *post, int err);

#endif
