/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Handlers that share a context between processes (cmd_import.h). The token is as unpredictable
 * as the system's random numbers; it opens a context only to processes of the same user. Members
 * of a group have one token, so that the context stays importable while one of them lives.
 */
#include "clients.h"
#include "cmd_handler.h"

#include "emu/io/base/base.h"

#include <errno.h>
#include <string.h>

static const uint8_t no_token[UHCA_ABI_TOKEN_SIZE];

static bool has_token(const struct io_client *c)
{
	return memcmp(c->token, no_token, sizeof(no_token)) != 0;
}

int cmd_export(struct cmd *r, struct cmd_reply *rep)
{
	struct io_client *c = r->client;

	if (!has_token(c))
		io_random(c->token, sizeof(c->token));
	memcpy(rep->export.token, c->token, sizeof(c->token));
	return 0;
}

/* No early end: how long a wrong token takes tells nothing about the right one. */
static bool same_token(const uint8_t *a, const uint8_t *b)
{
	uint8_t difference = 0;

	for (unsigned i = 0; i < UHCA_ABI_TOKEN_SIZE; i++)
		difference |= a[i] ^ b[i];
	return difference == 0;
}

static struct io_client *find_exporter(struct io_client *c, const uint8_t *token)
{
	for (unsigned i = 0; i < c->all->n; i++) {
		struct io_client *other = c->all->at[i];
		if (other != c && other->core && has_token(other) &&
		    same_token(other->token, token))
			return other;
	}
	return NULL;
}

static int import_context(struct io_client *c, const struct uhca_cmd_import *in)
{
	struct io_client *exporter = find_exporter(c, in->token);
	int error;

	if (in->handle != 0 || has_token(c))
		return -EINVAL;
	if (!exporter || exporter->dev != c->dev)
		return io_refuse(-ENODEV, "no open context of this device has this token");
	if (exporter->peer.uid != c->peer.uid)
		return io_refuse(-EACCES, "the context belongs to another user");
	error = core_client_join(c->core, exporter->core);
	if (error < 0)
		return error;
	memcpy(c->token, exporter->token, sizeof(c->token));
	io_log(IO_LOG_INFO, "client %u: shares the objects of client %u", c->id, exporter->id);
	return 0;
}

static int import_dm(struct cmd *r, uint32_t handle, struct cmd_reply *rep)
{
	struct core_ring ring;
	int error = core_import_dm(r->client->core, handle, &rep->import, &ring);

	if (error == 0)
		cmd_reply_dm(rep, &ring);
	return error;
}

int cmd_import(struct cmd *r, struct cmd_reply *rep)
{
	const struct uhca_cmd_import *in = r->msg;
	struct io_client *c = r->client;

	if (in->type == UHCA_ABI_IMPORT_CONTEXT)
		return import_context(c, in);
	if (memcmp(in->token, no_token, sizeof(no_token)))
		return -EINVAL;
	if (in->type == UHCA_ABI_IMPORT_PD)
		return core_import_pd(c->core, in->handle);
	if (in->type == UHCA_ABI_IMPORT_MR)
		return core_import_mr(c->core, in->handle, &rep->import);
	return in->type == UHCA_ABI_IMPORT_DM ? import_dm(r, in->handle, rep) : -EINVAL;
}
