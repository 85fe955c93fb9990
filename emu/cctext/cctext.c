/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads and lists congestion controls. See cctext.h. */
#include "cctext.h"

#include "emu/words/words.h"

#include <errno.h>
#include <string.h>

#define MORE_MAX 8u /* keys of a caller */

static const char *control_at(const void *table, unsigned i)
{
	(void)table;
	return cc_at(i) ? cc_at(i)->name : NULL;
}

static enum fabric_unit unit_of(const struct cc_param *p)
{
	static const enum fabric_unit units[] = {FABRIC_COUNT, FABRIC_RATE, FABRIC_BYTES,
						 FABRIC_TIME, FABRIC_RATIO};

	return units[p->unit];
}

/* Times are picoseconds in the network, and nanoseconds in a control. */
static uint64_t scale_of(const struct cc_param *p)
{
	return p->unit == CC_TIME ? CCTEXT_NS : 1;
}

static int read_params(struct cc_settings *s, const char *text, const struct fabric_spec_key *more,
		       struct fabric_error *e)
{
	const struct cc_param *p = s->ops->params;
	struct fabric_spec_key keys[CC_PARAMS_MAX + MORE_MAX + 1] = {0};
	unsigned n = 0;

	for (; p && p[n].name; n++) {
		s->value[n] *= scale_of(&p[n]);
		keys[n] = (struct fabric_spec_key){p[n].name, unit_of(&p[n]),
						   p[n].min * scale_of(&p[n]),
						   p[n].max * scale_of(&p[n]), &s->value[n]};
	}
	for (unsigned i = 0; more && more[i].name; i++)
		keys[n + i] = more[i];
	if (fabric_spec_read(text, keys, e) < 0)
		return -EINVAL;
	while (n-- > 0)
		s->value[n] /= scale_of(&p[n]);
	return 0;
}

int cctext_read(struct cc_settings *s, const char *text, const struct fabric_spec_key *more,
		struct fabric_error *e)
{
	const size_t length = fabric_spec_name(text);
	char word[64], said[300];

	for (unsigned i = 0; cc_at(i); i++)
		if (strlen(cc_at(i)->name) == length && memcmp(cc_at(i)->name, text, length) == 0) {
			cc_settings_init(s, cc_at(i));
			return read_params(s, text, more, e);
		}
	snprintf(word, sizeof(word), "%.*s", (int)length, text);
	return fabric_refuse(
		e, text, text, "%s",
		words_refuse(said, sizeof(said), "congestion control", word, control_at, NULL));
}

void cctext_list(FILE *out)
{
	char text[64];

	for (unsigned i = 0; cc_at(i); i++) {
		const struct cc_param *p = cc_at(i)->params;

		fprintf(out, "%s: %s\n", cc_at(i)->name, cc_at(i)->help);
		for (; p && p->name; p++)
			fprintf(out, "  %-12s %-10s %s\n", p->name,
				fabric_quantity_text(p->usual * scale_of(p), unit_of(p), text,
						     sizeof(text)),
				p->help);
	}
}
