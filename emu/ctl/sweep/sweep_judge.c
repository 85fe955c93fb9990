/* SPDX-License-Identifier: BSD-2-Clause */
/* Findings of a run: from its status, its output, the sanitizer and the rules' counts. */
#include "sweep_judge.h"

#include "emu/abi/ctl.h"
#include "emu/ctl/lib/lib.h"
#include "sweep_text.h"

#include <fnmatch.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES 12 /* of a stack that is shown and compared */

/* ---- what the sanitizer found ---- */

/*
 * Checks that say why a request failed, or that nothing goes on. After a fault that is what has to
 * be, and a hang is told by the time limit.
 */
static const char *const consequences[] = {"conn-*",
					   "rkey-*",
					   "key-*",
					   "queue-*",
					   "qp-access",
					   "recv-short",
					   "recv-missing",
					   "qkey-*",
					   "lost-wakeup",
					   "wait-unarmed",
					   "poll-nothing",
					   "peer-*",
					   "events-unacked",
					   "call-refused",
					   "completion-failed",
					   NULL};

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void put_frame(FILE *out, unsigned i, const json_t *frame)
{
	const char *function = ctl_text_in(frame, "function"), *file = ctl_text_in(frame, "file");

	if (*function)
		fprintf(out, "  #%u %s", i, function);
	else
		fprintf(out, "  #%u +0x%llx", i,
			(unsigned long long)ctl_number_in(frame, "address"));
	if (*file)
		fprintf(out, " %s:%d\n", base_of(file), (int)ctl_number_in(frame, "line"));
	else
		fprintf(out, " (%s)\n", base_of(ctl_text_in(frame, "module")));
}

/* The first stack of a finding: the caller frees it. */
static char *stack_of(const json_t *finding)
{
	const json_t *first = json_array_get(json_object_get(finding, "stacks"), 0), *frame;
	char *text = NULL;
	size_t size, i;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	json_array_foreach(json_object_get(first, "frames"), i, frame)
	{
		if (i < FRAMES)
			put_frame(out, (unsigned)i, frame);
	}
	fclose(out);
	return text;
}

static bool is_consequence(const char *check)
{
	for (unsigned i = 0; consequences[i]; i++)
		if (fnmatch(consequences[i], check, 0) == 0)
			return true;
	return false;
}

/* An object that a failed call was to destroy is there, and so are those that it uses. */
static bool is_fault_of_call(const struct sweep_item *item, const char *check)
{
	return item->kind == SWEEP_CALLS && sweep_call_destroys(item->what) &&
	       (strcmp(check, "left-at-exit") == 0 || strcmp(check, "object-busy") == 0);
}

/* A habit of the program, which the good run has as well, is one wherever it shows. */
static bool is_known(const struct sweep_result *good, enum sweep_fault_of_test of, const char *what,
		     const char *stack)
{
	for (unsigned i = 0; good && i < good->n; i++)
		if (strcmp(good->diagnostic[i].what, what) == 0 &&
		    (of == SWEEP_MISUSE || strcmp(good->diagnostic[i].stack, stack) == 0))
			return true;
	return false;
}

static enum sweep_fault_of_test fault_of_check(const char *check)
{
	if (strcmp(check, "verb-crashed") == 0)
		return SWEEP_CRASH;
	return strcmp(check, "left-at-exit") == 0 ? SWEEP_LEAK : SWEEP_MISUSE;
}

static void take_finding(struct sweep_result *r, const json_t *finding,
			 const struct sweep_result *good)
{
	const char *check = ctl_text_in(finding, "check");
	char *stack, what[512];

	if (is_consequence(check) || is_fault_of_call(&r->item, check))
		return;
	stack = stack_of(finding);
	snprintf(what, sizeof(what), "%s: %s", ctl_text_in(finding, "program"),
		 ctl_text_in(finding, "what"));
	if (stack && !is_known(good, fault_of_check(check), what, stack))
		sweep_result_add(r, fault_of_check(check), what, stack);
	free(stack);
}

static void take_findings(struct sweep_result *r, const json_t *findings,
			  const struct sweep_result *good)
{
	const json_t *finding;
	size_t i;

	json_array_foreach(findings, i, finding) take_finding(r, finding, good);
}

/* ---- what the program's own sanitizer found ---- */

static void take_asan(struct sweep_result *r, const char *output, const char *name,
		      enum sweep_fault_of_test of, const struct sweep_result *good)
{
	char *what, *stack;

	sweep_text_asan(output, name, &what, &stack);
	if (what && stack && !is_known(good, of, what, stack))
		sweep_result_add(r, of, what, stack);
	free(what);
	free(stack);
}

static void look_at_output(struct sweep_result *r, const char *output,
			   const struct sweep_result *good)
{
	take_asan(r, output, "AddressSanitizer: ", SWEEP_CRASH, good);
	take_asan(r, output, "LeakSanitizer: ", SWEEP_LEAK, good);
	take_asan(r, output, "ThreadSanitizer: ", SWEEP_MISUSE, good);
}

/* ---- how it ended ---- */

static bool has(const struct sweep_result *r, enum sweep_fault_of_test of)
{
	for (unsigned i = 0; i < r->n; i++)
		if (r->diagnostic[i].of == of)
			return true;
	return false;
}

static void look_at_signal(struct sweep_result *r)
{
	/* sigabbrev_np(3) is not in glibc 2.31 */
	static const struct {
		int number;
		const char *name;
	} crashes[] = {{SIGSEGV, "SIGSEGV"}, {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},
		       {SIGILL, "SIGILL"},   {SIGFPE, "SIGFPE"},   {SIGTRAP, "SIGTRAP"},
		       {SIGSYS, "SIGSYS"}};
	char what[64];

	for (unsigned i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++)
		if (r->status == 128 + crashes[i].number && !has(r, SWEEP_CRASH)) {
			snprintf(what, sizeof(what), "the command was ended by %s",
				 crashes[i].name);
			sweep_result_add(r, SWEEP_CRASH, what, "");
		}
}

static void look_at_hang(struct sweep_result *r, const char *output)
{
	char *stack;

	if (!strstr(output, SWEEP_HANG_LINE))
		return;
	stack = sweep_text_hang(output);
	sweep_result_add(r, SWEEP_HANG, "the command did not end within its time limit", stack);
	free(stack);
}

/* ---- the fault ---- */

static long number_of(const json_t *record, unsigned rule, const char *member)
{
	const json_t *rules = json_object_get(record, UHCA_CTL_RULES);

	return (long)ctl_number_in(json_array_get(rules, rule), member);
}

static void look_at_rules(struct sweep_result *r, const json_t *record,
			  const struct sweep_counts *good)
{
	const char *program;

	r->fired = number_of(record, 1, UHCA_CTL_HITS) > 0;
	r->again = number_of(record, 0, UHCA_CTL_MATCHED) >
		   (long)sweep_counts_of(good, &r->item, &program);
}

/* A program that does without what it did not get must have got it in another way. */
static bool matters(const struct sweep_item *item)
{
	if (item->kind == SWEEP_CALLS)
		return !sweep_call_destroys(item->what);
	return item->kind == SWEEP_COMPLETIONS;
}

static bool is_reliable(const struct sweep_item *item)
{
	return item->kind == SWEEP_PACKETS &&
	       (strncmp(item->what, "RC_", 3) == 0 || strncmp(item->what, "XRC_", 4) == 0);
}

static void look_at_end(struct sweep_result *r, const struct sweep_counts *good)
{
	const char *program;
	char what[256], words[160];

	if (!r->fired || r->n > 0)
		return;
	sweep_counts_of(good, &r->item, &program);
	sweep_item_words(&r->item, words, sizeof(words));
	if (r->status == 0 && matters(&r->item) && !r->again) {
		snprintf(what, sizeof(what), "%s%s%s%s", r->item.what, *program ? " of " : "",
			 program, r->item.kind == SWEEP_CALLS ? " fails" : " has an error status");
		sweep_result_add(r, SWEEP_PASSED, what, "");
	} else if (r->status != 0 && is_reliable(&r->item)) {
		snprintf(what, sizeof(what), "%s %s", r->item.what, r->item.how);
		sweep_result_add(r, SWEEP_FAILED, what, "");
	}
}

void sweep_judge_good(struct sweep_good *good, const struct sweep_evidence *e)
{
	sweep_counts_read(e->record, &good->counts);
	take_findings(&good->result, e->findings, NULL);
	look_at_output(&good->result, e->output, NULL);
	good->result.said = sweep_text_said(e->output, NULL);
}

void sweep_judge(struct sweep_result *r, const struct sweep_evidence *e,
		 const struct sweep_good *good)
{
	look_at_rules(r, e->record, &good->counts);
	take_findings(r, e->findings, &good->result);
	look_at_output(r, e->output, &good->result);
	look_at_signal(r);
	look_at_hang(r, e->output);
	look_at_end(r, &good->counts);
	r->said = sweep_text_said(e->output, good->result.said);
}
