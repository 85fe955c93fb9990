/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uhcactl port, device, limit and event: what befalls a device. Which events there are is the
 * daemon's business.
 */
#include "emu/abi/ctl.h"
#include "emu/ctl/lib/lib.h"
#include "emu/ctl/line/line.h"
#include "live.h"

#include <inttypes.h>
#include <string.h>

/* device may be NULL. */
static int order(const struct ctl_options *o, json_t *request, const char *device,
		 void (*say)(const json_t *result))
{
	if (device)
		json_object_set_new(request, UHCA_CTL_DEVICE, json_string(device));
	return ctl_order(o, request, NULL, say);
}

static void say_port(const json_t *result)
{
	printf("%s: port %s\n", ctl_text_in(result, UHCA_CTL_DEVICE),
	       json_is_true(json_object_get(result, UHCA_CTL_UP)) ? "up" : "down");
}

static void say_fatal(const json_t *result)
{
	json_int_t n = ctl_number_in(result, UHCA_CTL_CLIENTS);

	printf("%s: fatal error, to %" JSON_INTEGER_FORMAT " client%s\n",
	       ctl_text_in(result, UHCA_CTL_DEVICE), n, n == 1 ? "" : "s");
}

static void say_nothing(const json_t *result)
{
	(void)result;
}

int ctl_port(const struct ctl_options *o)
{
	if (o->n_words < 2 || o->n_words > 3)
		return ctl_expected("port down [DEVICE], or port up [DEVICE]");
	return order(o, ctl_command("port", o->word[1]), o->word[2], say_port);
}

int ctl_device(const struct ctl_options *o)
{
	static const char *const commands[] = {"fatal", NULL};

	if (o->n_words < 2 || o->n_words > 3)
		return ctl_expected("device fatal [DEVICE]");
	if (strcmp(o->word[1], commands[0]) != 0)
		return ctl_no_such("command of device", o->word[1], words_at, commands);
	return order(o, ctl_command("device", o->word[1]), o->word[2], say_fatal);
}

/* limit NAME=N [DEVICE] */
int ctl_limit(const struct ctl_options *o)
{
	const char *equals = o->n_words > 1 ? strchr(o->word[1], '=') : NULL;
	uint64_t n;

	if (!equals || equals == o->word[1] || o->n_words > 3)
		return ctl_expected("limit NAME=N [DEVICE]");
	if (!ctl_number(equals + 1, 0, INT64_MAX, &n))
		return ctl_usage_error("limit needs a number after =");
	return order(o,
		     json_pack("{s:s, s:s%, s:I}", UHCA_CTL_CMD, "limit", UHCA_CTL_NAME, o->word[1],
			       (size_t)(equals - o->word[1]), UHCA_CTL_VALUE, (json_int_t)n),
		     o->word[2], say_nothing);
}

int ctl_event(const struct ctl_options *o)
{
	unsigned n = (unsigned)o->n_words;
	bool of_object = n > 2 && strchr(o->word[n - 1], '=');
	json_t *request;

	n -= of_object;
	if (n < 2 || n > 3)
		return ctl_expected("event [DEVICE] NAME [qp=N|cq=N|srq=N|wq=N]");
	request = json_pack("{s:s, s:s}", UHCA_CTL_CMD, "event", UHCA_CTL_NAME, o->word[n - 1]);
	if (of_object)
		json_object_set_new(request, UHCA_CTL_OF, json_string(o->word[n]));
	return order(o, request, n == 3 ? o->word[1] : NULL, say_nothing);
}
