/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The requests below /api/ (server.h); openapi.json tells what each takes and gives. All that is
 * asked for by place in the model names the model's generation: places change with it.
 */
#include "api_file.h"
#include "emu/abi/ctl.h"
#include "emu/ctl/lib/lib.h"
#include "emu/model/ladder/ladders.h"
#include "emu/model/page/page.h"
#include "server.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MAX    20000u /* of one answer */
#define DETAILS_MAX 512u
#define JSON        "application/json"

/* What answers a request; not each looks at all of it. */
#define HANDLER(name)                                                                              \
	struct answer name(__attribute__((unused)) struct server *s,                               \
			   __attribute__((unused)) struct MHD_Connection *c,                       \
			   __attribute__((unused)) const char *body)

/* ---- answers ---- */

struct writer {
	FILE *file;
	struct answer answer;
};

static bool begin(struct writer *w, const char *type)
{
	w->answer = (struct answer){.status = MHD_HTTP_OK, .type = type};
	w->file = open_memstream(&w->answer.text, &w->answer.length);
	return w->file;
}

static struct answer end(struct writer *w)
{
	if (fclose(w->file) != 0) {
		free(w->answer.text);
		w->answer.text = NULL;
	}
	return w->answer;
}

static struct answer no_memory(void)
{
	return (struct answer){.status = MHD_HTTP_INTERNAL_SERVER_ERROR, .type = JSON};
}

struct answer answer_lines(const char *type, const char *const *line)
{
	struct writer w;

	if (!begin(&w, type))
		return no_memory();
	for (; *line; line++)
		fputs(*line, w.file);
	return end(&w);
}

/* Takes the text over, from malloc; NULL: no memory. */
static struct answer answer_text(unsigned status, const char *type, char *text)
{
	return (struct answer){
		.status = status, .type = type, .text = text, .length = text ? strlen(text) : 0};
}

/* Takes the value over. */
static struct answer answer_json(unsigned status, json_t *value)
{
	char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);

	json_decref(value);
	return answer_text(status, JSON, text);
}

struct answer api_error(unsigned status, const char *text)
{
	return answer_json(status, json_pack("{s:s}", UHCA_CTL_ERROR, text));
}

/* ---- what a request says ---- */

static const char *argument(struct MHD_Connection *c, const char *name)
{
	return MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, name);
}

static bool number(const char *text, uint64_t *out)
{
	return text && ctl_number(text, 10, UINT64_MAX, out);
}

/* Which list of the model, and is it the model that the page means? 0, or a status. */
struct list {
	const char *name;
	uint32_t n;
	void (*detail)(FILE *out, const struct model *m, uint32_t index);
	void (*row)(const struct model *m, uint32_t index, uint8_t *out);
	unsigned row_bytes;
};

static struct answer find_list(struct server *s, struct MHD_Connection *c, struct list *out)
{
	const struct model *m = &s->source.watch.model;
	const struct list lists[] = {
		{"arrows", m->n_arrows, page_data_arrow, page_arrow_row, PAGE_ARROW_BYTES},
		{"records", m->n_records, page_data_record, page_record_row, PAGE_RECORD_BYTES},
		{"messages", m->n_messages, page_data_message, NULL, 0},
	};
	const char *of = argument(c, "of");
	uint64_t generation;

	if (!number(argument(c, "generation"), &generation))
		return api_error(MHD_HTTP_BAD_REQUEST, "generation must be a number");
	if (generation != s->source.watch.generation)
		return api_error(MHD_HTTP_CONFLICT, "there is a newer generation: see head");
	for (unsigned i = 0; of && i < sizeof(lists) / sizeof(lists[0]); i++) {
		if (strcmp(lists[i].name, of) != 0)
			continue;
		*out = lists[i];
		return (struct answer){.status = 0};
	}
	return api_error(MHD_HTTP_BAD_REQUEST, "of must be arrows, records or messages");
}

/* ---- the model ---- */

static HANDLER(head)
{
	struct writer w;

	if (!begin(&w, JSON))
		return no_memory();
	page_data_head(w.file, &s->source.watch.model);
	fprintf(w.file,
		",\"generation\":%" PRIu64 ",\"live\":%s,\"read_only\":%s,\"lab\":%s,\"name\":",
		s->source.watch.generation, s->source.live ? "true" : "false",
		s->options.read_only ? "true" : "false", s->lab.name ? "true" : "false");
	markup_json(w.file, s->source.name);
	fputs("}\n", w.file);
	return end(&w);
}

static HANDLER(columns)
{
	struct list list;
	struct answer a = find_list(s, c, &list);
	uint8_t row[PAGE_ARROW_BYTES];
	struct writer w;
	uint64_t from;

	if (a.status)
		return a;
	if (!list.row || !number(argument(c, "from"), &from))
		return api_error(MHD_HTTP_BAD_REQUEST,
				 "columns needs of=arrows or of=records, and the number from");
	if (!begin(&w, "application/octet-stream"))
		return no_memory();
	for (uint64_t i = from; i < list.n && i - from < ROWS_MAX; i++) {
		list.row(&s->source.watch.model, (uint32_t)i, row);
		fwrite(row, 1, list.row_bytes, w.file);
	}
	return end(&w);
}

/* "3,7,10-19": the next range. False: there is none, or it is not one. */
static bool next_range(const char **at, uint64_t *first, uint64_t *last)
{
	char *rest;

	if (**at < '0' || **at > '9')
		return false;
	*first = *last = strtoull(*at, &rest, 10);
	if (*rest == '-')
		*last = strtoull(rest + 1, &rest, 10);
	if (*rest && *rest != ',')
		return false;
	*at = *rest ? rest + 1 : rest;
	return true;
}

/* How many, or -1: that is no list of places, or too long. */
static int print_details(FILE *out, const struct model *m, const struct list *list, const char *at)
{
	uint64_t first, last;
	unsigned n = 0;

	while (*at) {
		if (!next_range(&at, &first, &last) || last >= list->n || last < first ||
		    last - first >= DETAILS_MAX)
			return -1;
		for (uint64_t i = first; i <= last; i++) {
			if (n++ == DETAILS_MAX)
				return -1;
			fputs(n > 1 ? ",\n" : "", out);
			list->detail(out, m, (uint32_t)i);
		}
	}
	return (int)n;
}

static HANDLER(details)
{
	const char *at = argument(c, "i");
	struct list list;
	struct answer a = find_list(s, c, &list);
	struct writer w;
	int n;

	if (a.status)
		return a;
	if (!begin(&w, JSON))
		return no_memory();
	fputc('[', w.file);
	n = print_details(w.file, &s->source.watch.model, &list, at ? at : "");
	fputs("]\n", w.file);
	a = end(&w);
	if (n >= 0)
		return a;
	free(a.text);
	return api_error(MHD_HTTP_BAD_REQUEST,
			 "i must be places of the list such as 3,7,10-19, at most 512 of them");
}

static HANDLER(explanation)
{
	const struct explain_options all = {.has_qp = false};
	struct writer w;

	if (!begin(&w, "text/plain; charset=utf-8"))
		return no_memory();
	model_explain(w.file, &s->source.watch.model, &all);
	return end(&w);
}

static HANDLER(ladder)
{
	struct ladder_options o = {.has_qp = false};
	struct ladder l;
	struct writer w;
	uint64_t qp = 0;

	if (argument(c, "qp") && (!number(argument(c, "qp"), &qp) || qp > 0xffffff))
		return api_error(MHD_HTTP_BAD_REQUEST, "qp must be the number of a queue pair");
	if ((argument(c, "from") && !number(argument(c, "from"), &o.from)) ||
	    (argument(c, "to") && !number(argument(c, "to"), &o.to)))
		return api_error(MHD_HTTP_BAD_REQUEST, "from and to must be nanoseconds");
	o.has_qp = argument(c, "qp") != NULL;
	o.qp = (uint32_t)qp;
	if (!begin(&w, "image/svg+xml"))
		return no_memory();
	if (ladder_make(&l, &s->source.watch.model, &o) == 0)
		ladder_print_svg(w.file, &l, NULL);
	ladder_free(&l);
	return end(&w);
}

/* ---- the daemon ---- */

static HANDLER(state)
{
	return answer_text(MHD_HTTP_OK, JSON, strdup(s->source.state ? s->source.state : "null"));
}

static struct answer refused(const struct ctl_failure *f)
{
	json_t *o = json_pack("{s:s}", UHCA_CTL_ERROR, f->text);

	if (f->column)
		json_object_set_new(o, UHCA_CTL_COLUMN, json_integer(f->column));
	return answer_json(f->status == CTL_EXIT_NO_PEER ? MHD_HTTP_SERVICE_UNAVAILABLE : 422, o);
}

/* {"request": {...}, "scenario": TEXT} */
static struct answer perform(struct server *s, json_t *request, const char *statement)
{
	const char *why = acts_refuse(request, s->options.read_only);
	struct acts none = {.n = 0};
	struct ctl_failure f;
	json_t *result;

	if (!s->source.live)
		why = "this page shows a capture: there is no device to ask";
	if (why)
		return api_error(MHD_HTTP_FORBIDDEN, why);
	if (statement && (why = acts_note(&none, statement)) != NULL)
		return api_error(MHD_HTTP_BAD_REQUEST, why);
	acts_end(&none);
	if (ctl_exchange(s->source.from.dir, json_incref(request), &result, &f) != 0)
		return refused(&f);
	if (statement)
		acts_note(&s->acts, statement);
	s->source.watch.looked = 0; /* pages are told at once */
	return answer_json(MHD_HTTP_OK, json_pack("{s:o}", UHCA_CTL_RESULT, result));
}

static HANDLER(act)
{
	json_t *all = json_loads(body, JSON_REJECT_DUPLICATES, NULL);
	json_t *request = json_object_get(all, "request");
	const json_t *statement = json_object_get(all, "scenario");
	struct answer a;

	if (!json_is_object(request) || (statement && !json_is_string(statement)))
		a = api_error(MHD_HTTP_BAD_REQUEST,
			      "an act is {\"request\": {...}, \"scenario\": TEXT}");
	else
		a = perform(s, request, json_string_value(statement));
	json_decref(all);
	return a;
}

static HANDLER(scenario)
{
	struct writer w;

	if (!begin(&w, "text/plain; charset=utf-8"))
		return no_memory();
	acts_print(w.file, &s->acts, &s->source, s->options.command);
	return end(&w);
}

static HANDLER(capture)
{
	const struct model *m = &s->source.watch.model;
	struct answer a = {.status = MHD_HTTP_OK, .type = "application/octet-stream"};

	a.length = m->n_bytes;
	a.is_static = s->source.fixed; /* another model may go while it is being sent */
	a.text = a.is_static ? (char *)m->bytes : malloc(m->n_bytes + 1);
	if (a.text && !a.is_static && m->n_bytes)
		memcpy(a.text, m->bytes, m->n_bytes);
	return a;
}

static HANDLER(description)
{
	return answer_lines(JSON, api_file);
}

/* ---- a lab ---- */

static struct answer no_lab(void)
{
	return api_error(MHD_HTTP_NOT_FOUND, "this page has no lab");
}

static HANDLER(lab)
{
	return s->lab.name ? answer_json(MHD_HTTP_OK, lab_describe(&s->lab)) : no_lab();
}

static HANDLER(picture)
{
	char *text = s->lab.name ? lab_picture(&s->lab) : NULL;

	return text ? answer_text(MHD_HTTP_OK, "image/svg+xml", text) : no_lab();
}

static struct answer try_program(struct server *s, const char *program, bool checks)
{
	int error;

	if (s->options.read_only)
		return api_error(MHD_HTTP_FORBIDDEN, "this page may only look (--read-only)");
	error = lab_keep(&s->lab, program);
	if (error == 0 && checks)
		error = lab_check(&s->lab);
	if (error == -EBUSY)
		return api_error(MHD_HTTP_CONFLICT, "a check is running");
	if (error == -EFBIG)
		return api_error(413, "a program has at most 49152 bytes");
	if (error < 0)
		return api_error(MHD_HTTP_INTERNAL_SERVER_ERROR, strerror(-error));
	return answer_json(MHD_HTTP_OK, lab_state(&s->lab));
}

/* {"program": TEXT, "check": true} */
static HANDLER(program)
{
	json_t *all = json_loads(body, JSON_REJECT_DUPLICATES, NULL);
	const json_t *text = json_object_get(all, "program"),
		     *check = json_object_get(all, "check");
	struct answer a;

	if (!s->lab.name)
		a = no_lab();
	else if (!json_is_string(text) || !json_is_boolean(check))
		a = api_error(MHD_HTTP_BAD_REQUEST,
			      "a program is {\"program\": TEXT, \"check\": true or false}");
	else
		a = try_program(s, json_string_value(text), json_is_true(check));
	json_decref(all);
	return a;
}

/* ---- the table ---- */

static const struct route {
	const char *path;
	bool posts;
	HANDLER((*run));
} routes[] = {
	{"head", false, head},
	{"columns", false, columns},
	{"details", false, details},
	{"explanation", false, explanation},
	{"ladder.svg", false, ladder},
	{"state", false, state},
	{"act", true, act},
	{"scenario", false, scenario},
	{"capture.pcapng", false, capture},
	{"openapi.json", false, description},
	{"lab", false, lab},
	{"lab/picture.svg", false, picture},
	{"lab/program", true, program},
};

struct answer api_answer(struct server *s, struct MHD_Connection *c, const char *path,
			 const char *body)
{
	for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
		if (strcmp(routes[i].path, path) != 0)
			continue;
		if (routes[i].posts != (body != NULL))
			return api_error(MHD_HTTP_METHOD_NOT_ALLOWED,
					 routes[i].posts ? "POST is needed" : "GET is needed");
		if (!body)
			source_refresh(&s->source);
		return routes[i].run(s, c, body);
	}
	return api_error(MHD_HTTP_NOT_FOUND, "there is no such request; see openapi.json");
}
