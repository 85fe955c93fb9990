/* SPDX-License-Identifier: BSD-2-Clause */
/* See found_print.h: text and JSON. */
#include "found_print.h"

#include <inttypes.h>

/* The line on which a reader's eye falls: as other sanitizers have it. */
#define RULE "=================================================================\n"

static void text_frame(FILE *out, unsigned i, const struct found_frame *f)
{
	fprintf(out, "    #%u 0x%012" PRIx64 " in %s", i, f->pc, f->function ? f->function : "??");
	if (f->file)
		fprintf(out, " %s:%d\n", f->file, f->line);
	else
		fprintf(out, " (%s+0x%" PRIx64 ")\n", *f->module ? f->module : "no file",
			f->address);
}

static void text_summary(FILE *out, const struct found *f)
{
	const struct found_frame *place = found_place(f);
	fprintf(out, "SUMMARY: uhca-sanitizer: %s", found_check(f->check)->name);
	if (place && place->file)
		fprintf(out, " %s:%d", place->file, place->line);
	else if (place)
		fprintf(out, " (%s+0x%" PRIx64 ")", place->module, place->address);
	if (place && place->function)
		fprintf(out, " in %s", place->function);
	fprintf(out, "\n");
}

void found_print_text(FILE *out, const struct found *f)
{
	const struct found_check *check = found_check(f->check);
	fprintf(out, RULE "==%" JSON_INTEGER_FORMAT "==%s: uhca-sanitizer: %s: %s\n", f->pid,
		found_is_note(f) ? "NOTE" : "ERROR", check->name, f->what);
	for (unsigned i = 0; i < f->n_facts; i++)
		fprintf(out, "  %s\n", f->facts[i]);
	for (unsigned s = 0; s < f->n_stacks; s++) {
		fprintf(out, "  %s", f->stacks[s].title);
		if (s == 0)
			fprintf(out, " (%s, thread %" JSON_INTEGER_FORMAT ")", f->program,
				f->thread);
		fprintf(out, ":\n");
		for (unsigned i = 0; i < f->stacks[s].n_frames; i++)
			text_frame(out, i, &f->stacks[s].frames[i]);
	}
	fprintf(out, "  rule: %s.\n        %s\n  mend: %s.\n", check->rule, check->where,
		check->mend);
	if (!found_is_note(f)) /* it is what others look for who count mistakes */
		text_summary(out, f);
	fflush(out);
}

static json_t *json_frame(const struct found_frame *f)
{
	json_t *frame = json_pack("{s:s, s:I, s:I}", "module", f->module, "address",
				  (json_int_t)f->address, "pc", (json_int_t)f->pc);
	if (f->function)
		json_object_set_new(frame, "function", json_string(f->function));
	if (f->file) {
		json_object_set_new(frame, "file", json_string(f->file));
		json_object_set_new(frame, "line", json_integer(f->line));
	}
	return frame;
}

void found_print_json(FILE *out, const struct found *f)
{
	const struct found_check *check = found_check(f->check);
	json_t *stacks = json_array(), *facts = json_array();
	for (unsigned i = 0; i < f->n_facts; i++)
		json_array_append_new(facts, json_string(f->facts[i]));
	for (unsigned s = 0; s < f->n_stacks; s++) {
		json_t *frames = json_array();
		for (unsigned i = 0; i < f->stacks[s].n_frames; i++)
			json_array_append_new(frames, json_frame(&f->stacks[s].frames[i]));
		json_array_append_new(stacks, json_pack("{s:s, s:o}", "title", f->stacks[s].title,
							"frames", frames));
	}
	json_t *all = json_pack("{s:s, s:s, s:s, s:I, s:I, s:o, s:o, s:s, s:s, s:s}", "check",
				check->name, "what", f->what, "program", f->program, "pid", f->pid,
				"thread", f->thread, "facts", facts, "stacks", stacks, "rule",
				check->rule, "where", check->where, "mend", check->mend);
	json_dumpf(all, out, JSON_COMPACT);
	fputc('\n', out);
	fflush(out);
	json_decref(all);
}
