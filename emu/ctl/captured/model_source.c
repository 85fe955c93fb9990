/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads a capture file, or asks the daemon for its flight recorder, into a model. */
#include "model_source.h"

#include "emu/abi/ctl.h"
#include "emu/ctl/lib/lib.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int read_file(const char *path, struct model *s, const char *name)
{
	if (model_read(s, path) == 0)
		return 0;
	fprintf(stderr, "uhcactl: %s: %s\n", name, s->error);
	return CTL_EXIT_FAILED;
}

/* The daemon writes to a file; one that nobody else can put something into. */
static int dump(const struct ctl_options *o, const char *path, struct model *s)
{
	json_t *facts;
	int status = ctl_request(o->dir,
				 json_pack("{s:s, s:s, s:s}", UHCA_CTL_CMD, "capture",
					   UHCA_CTL_ACTION, "dump", UHCA_CTL_FILE, path),
				 &facts);

	json_decref(facts);
	if (status == 0)
		status = read_file(path, s, "data from the daemon");
	unlink(path);
	return status;
}

/* ---- programs of QPs ---- */

static json_t *get_table(const struct ctl_options *o, const char *what)
{
	json_t *table = NULL;

	if (ctl_request(o->dir, ctl_command_show(what), &table) != 0)
		return NULL;
	return table;
}

static void set_program(struct model *s, const char *device, uint32_t number, const char *program)
{
	for (uint32_t i = 0; i < s->n_qps; i++) {
		struct model_qp *q = &s->qp[i];

		if (q->number == number && strcmp(s->host[q->host].name, device) == 0)
			snprintf(q->program, sizeof(q->program), "%s", program);
	}
}

static void set_programs(const struct ctl_options *o, struct model *s)
{
	json_t *qps = get_table(o, "qp");
	json_t *clients = get_table(o, "client");

	for (size_t i = 0; i < ctl_rows(qps); i++) {
		size_t client = ctl_row_with(clients, "client", ctl_cell_number(qps, i, "client"));

		set_program(s, ctl_cell_text(qps, i, "device"),
			    (uint32_t)ctl_cell_number(qps, i, "qpn"),
			    ctl_cell_text(clients, client, "program"));
	}
	json_decref(qps);
	json_decref(clients);
}

/* ---- for commands ---- */

static int open_live(const struct ctl_options *o, struct model *s)
{
	const char *tmp = getenv("TMPDIR");
	char folder[PATH_MAX];
	char path[PATH_MAX + 16];
	int status;

	snprintf(folder, sizeof(folder), "%s/uhcactl-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(folder)) {
		fprintf(stderr, "uhcactl: %s: %s\n", folder, strerror(errno));
		return CTL_EXIT_FAILED;
	}
	snprintf(path, sizeof(path), "%s/dump.pcapng", folder);
	status = dump(o, path, s);
	rmdir(folder);
	if (status == 0)
		set_programs(o, s);
	return status;
}

int ctl_model_open(const struct ctl_options *o, struct model *s)
{
	*s = (struct model){0};
	if (strcmp(o->word[1], CTL_MODEL_LIVE) == 0)
		return open_live(o, s);
	return read_file(o->word[1], s, o->word[1]);
}

static const char *number_at(const void *table, unsigned i)
{
	static char text[16][16];
	const struct model *s = table;

	if (i >= s->n_qps)
		return NULL;
	snprintf(text[i % 16], sizeof(text[0]), "0x%x", s->qp[i].number);
	return text[i % 16];
}

int ctl_model_has_qp(const struct ctl_options *o, const struct model *s, uint32_t number)
{
	char text[1024], word[16];

	for (uint32_t i = 0; i < s->n_qps; i++)
		if (s->qp[i].number == number)
			return 0;
	snprintf(word, sizeof(word), "0x%x", number);
	fprintf(stderr, "uhcactl: %s: %s\n", o->word[1],
		words_refuse(text, sizeof(text), "QP", word, number_at, s));
	return CTL_EXIT_FAILED;
}

bool ctl_model_number(const char *text, uint64_t max, uint64_t *out)
{
	return model_words_number(text, out) && *out <= max;
}

bool ctl_model_time(const char *text, uint64_t *ns)
{
	static const struct {
		const char *name;
		double ns;
	} unit[] = {{"", 1e6}, {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
	double value;
	char *end;

	if ((*text < '0' || *text > '9') && *text != '.')
		return false;
	value = strtod(text, &end);
	for (size_t i = 0; i < sizeof(unit) / sizeof(unit[0]); i++) {
		if (strcmp(end, unit[i].name) == 0 && value * unit[i].ns < 1e18) {
			*ns = (uint64_t)(value * unit[i].ns + 0.5);
			return true;
		}
	}
	return false;
}
