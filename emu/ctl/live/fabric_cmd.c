/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uhcactl fabric: links and switches of the modelled network fail, and work again. What can fail is
 * the model's business.
 */
#include "emu/abi/ctl.h"
#include "emu/ctl/lib/lib.h"
#include "emu/ctl/line/line.h"
#include "emu/ctl/show/show.h"
#include "live.h"

#include <string.h>

#define TEXT_MAX 256

int ctl_fabric(const struct ctl_options *o)
{
	char text[TEXT_MAX] = "";
	json_t *state = NULL;
	size_t used = 0;
	int status;

	if (o->n_words < 3)
		return ctl_expected(
			"fabric down|up NODE [NODE], fabric loss NODE NODE RATIO, fabric rate NODE "
			"NODE RATE, fabric delay NODE NODE TIME, or fabric pause|resume HOST");
	for (int i = 1; i < o->n_words && used < sizeof(text); i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", i > 1 ? " " : "",
					 o->word[i]);
	if (used >= sizeof(text))
		return ctl_usage_error("fabric: the names are too long");
	status = ctl_request(o->dir,
			     json_pack("{s:s, s:s, s:s}", UHCA_CTL_CMD, "fabric", UHCA_CTL_ACTION,
				       "fail", UHCA_CTL_TEXT, text),
			     &state);
	if (status == 0 && o->json)
		return ctl_print_json(state) ? 0 : CTL_EXIT_FAILED;
	if (status == 0)
		printf("network: %s\n", text);
	json_decref(state);
	return status;
}
