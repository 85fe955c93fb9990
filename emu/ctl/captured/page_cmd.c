/* SPDX-License-Identifier: BSD-2-Clause */
/* uhcactl page, and its other name report: a capture as one HTML file. */
#include "captured.h"
#include "emu/ctl/lib/lib.h"
#include "emu/ctl/line/line.h"
#include "emu/model/page/page.h"
#include "model_source.h"

#include <string.h>

/* How the capture is called in the page: without the folders it lies in, which tell nothing. */
static const char *short_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static int write_page(const char *file, const struct model *s, const char *name, bool json)
{
	FILE *out = ctl_file_open("uhcactl", file);
	int error;

	if (!out)
		return CTL_EXIT_FAILED;
	error = json ? model_page_json(out, s) : model_page(out, s, name);
	if (error < 0)
		fprintf(stderr, "uhcactl: %s: %s\n", file, strerror(-error));
	return ctl_file_close("uhcactl", file, out) && error == 0 ? 0 : CTL_EXIT_FAILED;
}

int ctl_report(const struct ctl_options *o)
{
	struct model s;
	int status;

	if (o->n_words != 2)
		return ctl_expected("page FILE -o PAGE, or page live -o PAGE");
	if (!o->output && !o->json)
		return ctl_usage_error(
			"page needs -o PAGE, the file to write; uhcactl serve needs none");
	status = ctl_model_open(o, &s);
	if (status == 0)
		status = write_page(o->output ? o->output : "-", &s, short_name(o->word[1]),
				    o->json);
	/* The page says so, too, and shows what stands before that. */
	if (status == 0 && s.error[0]) {
		fprintf(stderr, "uhcactl: the capture is broken: %s\n", s.error);
		status = CTL_EXIT_FAILED;
	}
	model_free(&s);
	return status;
}
