/* SPDX-License-Identifier: BSD-2-Clause */
/* Reports calls that the library refuses: to the daemon's log and to the sanitizer. */
#include "refuse.h"

#include "provider/diagnostic/diagnostic.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static __thread char why[UHCA_ABI_REASON];

/* Under no lock: a few more or less do not matter. */
static bool may_report(struct uhcav_context *ctx)
{
	struct timespec t;
	uint32_t now;

	if (!__atomic_load_n(&ctx->status->hears, __ATOMIC_RELAXED) ||
	    uhcav_life(ctx) != UHCAV_ALIVE)
		return false;
	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	now = (uint32_t)t.tv_sec;
	if (__atomic_exchange_n(&ctx->refused_in, now, __ATOMIC_RELAXED) != now)
		__atomic_store_n(&ctx->refused, 0, __ATOMIC_RELAXED);
	return __atomic_fetch_add(&ctx->refused, 1, __ATOMIC_RELAXED) < UHCAV_REFUSED_MOST;
}

/* As uhcav_post_fault, no call of the context: what a dead one does takes locks. */
static void report(struct uhcav_context *ctx, const struct uhcav_post *post, int err)
{
	struct uhca_cmd_refused ask = {.error = (uint32_t)err,
				       .qpn = post->qpn,
				       .wr_id = post->wr_id,
				       .state = post->state};
	struct uhcav_call call = UHCAV_CALL_PLAIN(UHCA_CMD_REFUSED, &ask);
	int saved = errno;
	char text[UHCA_ABI_REFUSAL];

	snprintf(ask.verb, sizeof(ask.verb), "%s", post->verb);
	memcpy(ask.why, why, sizeof(ask.why));
	if (may_report(ctx))
		uhcav_rpc_call(&ctx->rpc, &call);
	snprintf(text, sizeof(text), "%s: %s", post->verb, why);
	/* Calls of uhcadv.h have their whole name already. */
	uhcav_diagnostic_refused(strncmp(text, "uhcadv_", 7) == 0 ? "" : "ibv_", text, err);
	errno = saved;
}

static int say(int err, const char *words, va_list arguments)
{
	vsnprintf(why, sizeof(why), words, arguments);
	return err;
}

int uhcav_because(int err, const char *words, ...)
{
	va_list arguments;

	va_start(arguments, words);
	say(err, words, arguments);
	va_end(arguments);
	return err;
}

int uhcav_refused(struct uhcav_context *ctx, const char *verb, int err)
{
	report(ctx, &(struct uhcav_post){.verb = verb}, err < 0 ? -err : err);
	return err;
}

int uhcav_refuse(struct uhcav_context *ctx, const char *verb, int err, const char *words, ...)
{
	va_list arguments;

	va_start(arguments, words);
	say(err, words, arguments);
	va_end(arguments);
	return uhcav_refused(ctx, verb, err);
}

int uhcav_post_refused(struct uhcav_context *ctx, const struct uhcav_post *post, int err)
{
	if (err && err != ENOMEM && err != EIO)
		report(ctx, post, err);
	return err;
}
