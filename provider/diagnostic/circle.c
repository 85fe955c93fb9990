/* SPDX-License-Identifier: BSD-2-Clause */
/* A report that waits for those of other processes. See circle.h. */
#include "circle.h"

#include "diagnostic.h"
#include "reporter.h"

#include <string.h>

bool uhcav_circle_ask(const struct uhcav_line *peers)
{
	static struct uhcav_line line; /* one thread asks */
	char answer[UHCAV_ANSWER];

	line.n = 0;
	uhcav_line_put(&line, "{");
	uhcav_line_put(&line, peers->text);
	uhcav_line_put(&line, "}");
	return uhcav_reporter_ask(line.text, line.n, answer) &&
	       !strcmp(answer, UHCA_SANITIZE_CLOSED);
}

bool uhcav_circle_tell(const struct uhcav_line *peers)
{
	return uhcav_diagnostic_tell_with(peers->text);
}
