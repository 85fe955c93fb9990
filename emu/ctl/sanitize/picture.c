/* SPDX-License-Identifier: BSD-2-Clause */
/* Pictures of processes that stand still, the newest of each. See picture.h. */
#include "picture.h"

#include "emu/ctl/lib/lib.h"

#include <stdint.h>
#include <string.h>

#define PICTURES  64u
#define JUST_NOW  1500u /* ms */
#define LATE      1500u /* so much later than it ought to be a busy process may say it again */
#define WORDS     384u
#define FACT_ROOM 512u
#define NAP_NS    5u /* in "stands" */

static struct picture {
	pid_t pid;
	json_t *line; /* NULL: a free place */
	uint64_t heard, ended;
} pictures[PICTURES];

static struct picture *find_picture(pid_t pid)
{
	for (unsigned i = 0; i < PICTURES; i++)
		if (pictures[i].line && pictures[i].pid == pid)
			return &pictures[i];
	return NULL;
}

/* A free place, or the one that was heard of the longest time ago. */
static struct picture *place(void)
{
	struct picture *oldest = &pictures[0];
	for (unsigned i = 0; i < PICTURES; i++) {
		if (!pictures[i].line)
			return &pictures[i];
		if (pictures[i].heard < oldest->heard)
			oldest = &pictures[i];
	}
	return oldest;
}

bool picture_take(pid_t pid, json_t *line)
{
	if (!json_is_array(json_object_get(line, "stands")))
		return false;
	struct picture *p = find_picture(pid);
	p = p ? p : place();
	json_decref(p->line);
	*p = (struct picture){.pid = pid, .line = json_incref(line), .heard = ctl_now_ms()};
	return true;
}

void picture_end(pid_t pid)
{
	struct picture *p = find_picture(pid);
	if (p && !p->ended)
		p->ended = ctl_now_ms();
}

/* The time of its last word until it ended, or until now, was not too long. */
static bool is_valid(const struct picture *p, unsigned ms)
{
	uint64_t now = ctl_now_ms(), until = p->ended ? p->ended : now;
	return until - p->heard < 2ull * ms + LATE && now - until < JUST_NOW;
}

/* emu/abi/sanitize.h: "stands". */
static json_int_t number_of(const json_t *thread, size_t i)
{
	return json_integer_value(json_array_get(thread, i));
}

static void call_words(const json_t *thread, char words[WORDS])
{
	json_int_t number = number_of(thread, 1);
	const struct waiting_call *call = waiting_call((long)number);
	const char *file = json_string_value(json_array_get(thread, 4));
	if (number < 0)
		snprintf(words, WORDS, "polls a completion queue in vain");
	else if (json_array_size(thread) > NAP_NS)
		waiting_naps((uint64_t)number_of(thread, NAP_NS), words, WORDS);
	else if (!call)
		snprintf(words, WORDS, "waits in the system call with number %lld",
			 (long long)number);
	else if (call->on_descriptor)
		snprintf(words, WORDS, "waits in %s of descriptor %lld, %s", call->name,
			 (long long)number_of(thread, 3), file ? file : "?");
	else
		snprintf(words, WORDS, "waits in %s", call->name);
}

static void thread_words(const struct picture *p, const json_t *thread, char fact[FACT_ROOM])
{
	uint64_t ms = (uint64_t)number_of(thread, 2) + ctl_now_ms() - p->heard;
	char words[WORDS];
	call_words(thread, words);
	snprintf(fact, FACT_ROOM, "thread %lld %s, for %.1f s", (long long)number_of(thread, 0),
		 words, (double)ms / 1000);
}

const char *picture_program(pid_t pid)
{
	const struct picture *p = find_picture(pid);
	const char *name = p ? json_string_value(json_object_get(p->line, "program")) : NULL;
	return name ? name : "?";
}

/* Many descriptors at once: it waits for any client, as a server does. */
static bool serves(const struct picture *p)
{
	const json_t *thread;
	size_t i;
	json_array_foreach(json_object_get(p->line, "stands"), i, thread)
	{
		const struct waiting_call *call = waiting_call((long)number_of(thread, 1));
		if (call && (strstr(call->name, "poll") || strstr(call->name, "select")))
			return true;
	}
	return false;
}

bool picture_facts(pid_t pid, unsigned ms, json_t *facts)
{
	const struct picture *p = find_picture(pid);
	char fact[FACT_ROOM];
	const json_t *thread;
	size_t i;
	if (!p || p->ended || !is_valid(p, ms) || serves(p))
		return false;
	json_array_foreach(json_object_get(p->line, "stands"), i, thread)
	{
		thread_words(p, thread, fact);
		json_array_append_new(facts, json_string(fact));
	}
	return true;
}

static void print_one(FILE *out, const struct picture *p)
{
	char fact[FACT_ROOM];
	const json_t *thread;
	size_t i;
	fprintf(out, "uhca-sanitizer: process %d (%s) made no progress:\n", (int)p->pid,
		picture_program(p->pid));
	json_array_foreach(json_object_get(p->line, "stands"), i, thread)
	{
		thread_words(p, thread, fact);
		fprintf(out, "  %s\n", fact);
	}
	json_array_foreach(json_object_get(p->line, "queues"), i, thread)
	{
		fprintf(out, "  %s\n", json_string_value(thread));
	}
}

void picture_print(FILE *out, unsigned ms)
{
	for (unsigned i = 0; i < PICTURES; i++)
		if (pictures[i].line && is_valid(&pictures[i], ms))
			print_one(out, &pictures[i]);
}
