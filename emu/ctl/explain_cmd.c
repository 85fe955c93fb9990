/* SPDX-License-Identifier: BSD-2-Clause */
/* uhcactl explain: what happened to requests, in sentences. */
#include "../story/explain.h"
#include "commands.h"
#include "story_source.h"

int ctl_explain(const struct ctl_options *o)
{
	struct explain_options e = {.has_qp = o->qp != NULL, .has_wr = o->wr != NULL};
	struct story s;
	uint64_t qp = 0;
	int status;

	if (o->n_words != 2)
		return ctl_usage_error("explain FILE, or explain live");
	if (o->qp && !ctl_story_number(o->qp, 0xffffff, &qp))
		return ctl_usage_error("--qp takes a QP number, such as 0x11");
	if (o->wr && !ctl_story_number(o->wr, UINT64_MAX, &e.wr))
		return ctl_usage_error("--wr takes a request's identifier, such as 0x2a");
	e.qp = (uint32_t)qp;
	status = ctl_story_open(o, &s);
	if (status == 0)
		story_explain(stdout, &s, &e);
	if (status == 0 && s.error[0])
		status = CTL_EXIT_FAILED;
	story_free(&s);
	return status;
}
