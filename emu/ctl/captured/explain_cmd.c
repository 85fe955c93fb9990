/* SPDX-License-Identifier: BSD-2-Clause */
/* uhcactl explain: what happened to requests, in sentences. */
#include "captured.h"
#include "emu/ctl/line/line.h"
#include "emu/ctl/show/show.h"
#include "emu/model/ladder/ladders.h"
#include "model_source.h"

#include <stdlib.h>

/* What is said of a completion in one sentence; NULL: no memory. */
static json_t *sentence_of(const struct model *s, const struct model_record *r)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	json_t *sentence;

	if (!out)
		return NULL;
	model_explain_shortly(out, s, r);
	fclose(out);
	sentence = json_string(text);
	free(text);
	return sentence;
}

static json_t *word_of(const struct model_record *r, const char *name)
{
	const char *value = model_word(r, name);

	return value ? json_string(value) : json_null();
}

static int print_json(const struct model *s, const struct explain_options *e)
{
	json_t *all = json_array();

	for (uint32_t i = 0; i < s->n_records; i++) {
		const struct model_record *r = &s->record[i];

		if (!model_explain_wants(s, r, e))
			continue;
		json_array_append_new(
			all, json_pack("{s:I, s:o, s:o, s:o, s:o, s:o, s:o}", "ns",
				       (json_int_t)(r->ns - s->began), "device", word_of(r, "dev"),
				       "qp", word_of(r, "qp"), "wr", word_of(r, "wr"), "opcode",
				       word_of(r, "opcode"), "status", word_of(r, "status"), "text",
				       sentence_of(s, r)));
	}
	return ctl_print_json(all) ? 0 : CTL_EXIT_FAILED;
}

int ctl_explain(const struct ctl_options *o)
{
	struct explain_options e = {.has_qp = o->qp != NULL, .has_wr = o->wr != NULL};
	struct model s;
	uint64_t qp = 0;
	int status;

	if (o->n_words != 2)
		return ctl_expected("explain FILE, or explain live");
	if (o->qp && !ctl_model_number(o->qp, 0xffffff, &qp))
		return ctl_usage_error("--qp needs a QP number, such as 0x11");
	if (o->wr && !ctl_model_number(o->wr, UINT64_MAX, &e.wr))
		return ctl_usage_error("--wr needs a wr_id, such as 0x2a");
	e.qp = (uint32_t)qp;
	status = ctl_model_open(o, &s);
	if (status == 0 && e.has_qp)
		status = ctl_model_has_qp(o, &s, e.qp);
	if (status == 0 && o->json)
		status = print_json(&s, &e);
	else if (status == 0)
		model_explain(stdout, &s, &e);
	if (status == 0 && s.error[0])
		status = CTL_EXIT_FAILED;
	model_free(&s);
	return status;
}
