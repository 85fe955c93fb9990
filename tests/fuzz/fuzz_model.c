/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as a capture: read to the end or refused with a reason, and whatever came of it holds
 * together: every index is of something, every text may be printed.
 */
#include "fuzz.h"

#include "emu/model/capture/model.h"

#include <errno.h>
#include <string.h>

static void check_text(const char *text)
{
	for (; text && *text; text++)
		FUZZ_CHECK(*text >= ' ' && *text <= '~');
}

static void check_index(uint32_t i, uint32_t n)
{
	FUZZ_CHECK(i < n || i == MODEL_NONE);
}

static void check_arrow(const struct model *s, const struct model_arrow *a)
{
	FUZZ_CHECK(a->from < s->n_qps && a->to < s->n_qps);
	check_index(a->out, s->n_packets);
	check_index(a->in, s->n_packets);
	FUZZ_CHECK(a->out != MODEL_NONE || a->in != MODEL_NONE);
	check_index(a->message, s->n_messages);
	check_text(model_arrow_dropped(s, a));
	FUZZ_CHECK(a->fate != MODEL_DROPPED || model_arrow_dropped(s, a));
	FUZZ_CHECK((a->fate == MODEL_ARRIVED) <= (a->in != MODEL_NONE));
}

static void check_message(const struct model *s, const struct model_message *m)
{
	FUZZ_CHECK(m->from < s->n_qps && m->to < s->n_qps && m->psns > 0);
	FUZZ_CHECK(m->first_arrow < s->n_arrows && m->last_arrow < s->n_arrows);
	check_index(m->previous, s->n_messages);
	check_index(m->completion, s->n_records);
	check_text(m->op);
}

static void check_record(const struct model *s, const struct model_record *r)
{
	check_index(r->host, s->n_hosts);
	check_index(r->qp, s->n_qps);
	check_index(r->message, s->n_messages);
	FUZZ_CHECK(r->n > 0 && r->kind <= MODEL_OTHER);
	for (unsigned k = 0; k < r->n; k++) {
		check_text(r->word[k].name);
		check_text(r->word[k].value);
	}
}

static void check_whole(const struct model *s)
{
	for (uint32_t i = 0; i < s->n_hosts; i++)
		check_text(s->host[i].name);
	for (uint32_t i = 0; i < s->n_qps; i++) {
		FUZZ_CHECK(s->qp[i].host < s->n_hosts);
		check_index(s->qp[i].peer, s->n_qps);
		check_index(s->qp[i].last_message, s->n_messages);
	}
	for (uint32_t i = 0; i < s->n_packets; i++)
		FUZZ_CHECK(s->packet[i].arrow < s->n_arrows);
	for (uint32_t i = 0; i < s->n_arrows; i++)
		check_arrow(s, &s->arrow[i]);
	for (uint32_t i = 0; i < s->n_messages; i++)
		check_message(s, &s->message[i]);
	for (uint32_t i = 0; i < s->n_records; i++)
		check_record(s, &s->record[i]);
	FUZZ_CHECK(s->n_moments == s->n_packets + s->n_records);
	for (uint32_t i = 1; i < s->n_moments; i++)
		FUZZ_CHECK(s->moment[i - 1].ns <= s->moment[i].ns);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *bytes = malloc(size ? size : 1);
	struct model s;
	int rc;

	FUZZ_CHECK(bytes != NULL);
	if (size)
		memcpy(bytes, data, size);
	rc = model_parse(&s, bytes, size);
	FUZZ_CHECK(rc == 0 || (rc == -EINVAL && s.error[0]));
	check_text(s.error);
	check_whole(&s);
	model_free(&s);
	return 0;
}
