/* SPDX-License-Identifier: BSD-2-Clause */
/* Builds a diagnostic line by line, and sends it to the collector. */
#include "diagnostic.h"

#include "line.h"
#include "reporter.h"

#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SEEN_BUCKETS 256u
#define CRASH_WAIT_S 2

struct seen {
	struct seen *next;
	enum uhca_check check;
	const struct uhcav_stack *mistake, *concerned;
};

pthread_mutex_t uhcav_diagnostic_lock = PTHREAD_MUTEX_INITIALIZER;
static struct uhcav_line line; /* what is being written */
static bool in_facts;
static __thread pid_t about;         /* 0: itself */
static char once_name[128];          /* "": no other process may find it */
static struct uhca_abi_cause reason; /* kind NONE: not said */
static uint32_t last_held;

pthread_mutex_t uhcav_diagnostic_seen_lock = PTHREAD_MUTEX_INITIALIZER;
static struct seen *seen[SEEN_BUCKETS];

bool uhcav_diagnostic_is_new(enum uhca_check check, const struct uhcav_stack *mistake,
			     const struct uhcav_stack *concerned)
{
	struct seen **bucket =
		&seen[((uintptr_t)mistake >> 4 ^ (uintptr_t)concerned >> 3 ^ check) % SEEN_BUCKETS];
	struct seen *s;

	if (!uhcav_check_on(check))
		return false;
	pthread_mutex_lock(&uhcav_diagnostic_seen_lock);
	for (s = *bucket; s; s = s->next)
		if (s->check == check && s->mistake == mistake && s->concerned == concerned)
			break;
	if (s) {
		pthread_mutex_unlock(&uhcav_diagnostic_seen_lock);
		return false;
	}
	s = malloc(sizeof(*s));
	if (s) {
		*s = (struct seen){*bucket, check, mistake, concerned};
		*bucket = s;
	}
	pthread_mutex_unlock(&uhcav_diagnostic_seen_lock);
	return true;
}

static void put_number(const char *key, uint64_t number)
{
	uhcav_line_put(&line, ",");
	uhcav_line_key(&line, key);
	uhcav_line_number(&line, number);
}

void uhcav_diagnostic_of_thread(pid_t tid)
{
	about = tid;
}

/* Under the lock. */
static void begin(enum uhca_check check, const char *what, va_list arguments)
{
	line.n = 0;
	in_facts = true;
	*once_name = '\0';
	reason.kind = UHCA_ABI_CAUSE_NONE;
	uhcav_line_put(&line, "{");
	uhcav_line_key(&line, "check");
	uhcav_line_string(&line, uhcav_check_name(check));
	put_number("pid", (uint64_t)getpid());
	put_number("thread", (uint64_t)(about ? about : syscall(SYS_gettid)));
	about = 0;
	uhcav_line_put(&line, ",");
	uhcav_line_key(&line, "program");
	uhcav_line_string(&line, program_invocation_short_name);
	uhcav_line_put(&line, ",");
	uhcav_line_key(&line, "what");
	uhcav_line_format(&line, what, arguments);
	uhcav_line_put(&line, ",\"facts\":[");
}

void uhcav_diagnostic_begin(enum uhca_check check, const char *what, ...)
{
	va_list arguments;

	pthread_mutex_lock(&uhcav_diagnostic_lock);
	va_start(arguments, what);
	begin(check, what, arguments);
	va_end(arguments);
}

bool uhcav_diagnostic_begin_crashed(enum uhca_check check, const char *what, ...)
{
	struct timespec until;
	va_list arguments;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += CRASH_WAIT_S;
	if (pthread_mutex_timedlock(&uhcav_diagnostic_lock, &until))
		return false;
	va_start(arguments, what);
	begin(check, what, arguments);
	va_end(arguments);
	return true;
}

/* Between the elements of a list. */
static void separate(void)
{
	if (line.n && line.text[line.n - 1] != '[')
		uhcav_line_put(&line, ",");
}

void uhcav_diagnostic_fact(const char *format, ...)
{
	va_list arguments;

	if (!uhcav_line_has_room(&line))
		return;
	separate();
	va_start(arguments, format);
	uhcav_line_format(&line, format, arguments);
	va_end(arguments);
}

void uhcav_diagnostic_request(const struct uhcav_request_name *r)
{
	uhcav_diagnostic_fact("%s, wr_id 0x%llx, of %s 0x%x", r->what, (unsigned long long)r->wr_id,
			      r->queue, r->number);
}

struct place {
	uintptr_t pc;
	uintptr_t address;
	const char *module;
};

static int find_module(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct place *p = arg;

	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];

		if (h->p_type != PT_LOAD || p->pc - info->dlpi_addr - h->p_vaddr >= h->p_memsz)
			continue;
		p->address = p->pc - info->dlpi_addr;
		p->module = info->dlpi_name;
		return 1;
	}
	return 0;
}

/* The program itself has no name in the loader's list. */
static const char *program_path(void)
{
	static char path[UHCAV_LINE_STRING];
	ssize_t n;

	if (!*path) {
		n = readlink("/proc/self/exe", path, sizeof(path) - 1);
		path[n > 0 ? n : 0] = '\0';
	}
	return path;
}

static void put_frame(uintptr_t pc)
{
	struct place p = {.pc = pc, .address = pc};

	if (!uhcav_line_has_room(&line))
		return;
	dl_iterate_phdr(find_module, &p);
	separate();
	uhcav_line_put(&line, "[");
	uhcav_line_string(&line, !p.module ? "" : *p.module ? p.module : program_path());
	uhcav_line_put(&line, ",");
	uhcav_line_number(&line, p.address);
	uhcav_line_put(&line, ",");
	uhcav_line_number(&line, pc);
	uhcav_line_put(&line, "]");
}

static void put_frames(const struct uhcav_stack *stack)
{
	uhcav_line_put(&line, ",\"frames\":[");
	for (uint32_t i = 0; i < stack->n; i++)
		put_frame(stack->pc[i]);
	uhcav_line_put(&line, "]");
}

static void end_facts(void)
{
	if (in_facts)
		uhcav_line_put(&line, "],\"stacks\":[");
	in_facts = false;
}

void uhcav_diagnostic_stack(const struct uhcav_stack *stack, const char *title, ...)
{
	va_list arguments;

	end_facts();
	if (!stack || !uhcav_line_has_room(&line))
		return;
	separate();
	uhcav_line_put(&line, "{\"title\":");
	va_start(arguments, title);
	uhcav_line_format(&line, title, arguments);
	va_end(arguments);
	put_frames(stack);
	uhcav_line_put(&line, "}");
}

void uhcav_diagnostic_stack_of(const char *name, const char *title, ...)
{
	va_list arguments;

	end_facts();
	if (!uhcav_line_has_room(&line))
		return;
	separate();
	uhcav_line_put(&line, "{\"title\":");
	va_start(arguments, title);
	uhcav_line_format(&line, title, arguments);
	va_end(arguments);
	uhcav_line_put(&line, ",\"note\":");
	uhcav_line_string(&line, name);
	uhcav_line_put(&line, "}");
}

void uhcav_diagnostic_once(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(once_name, sizeof(once_name), format, arguments);
	va_end(arguments);
}

void uhcav_diagnostic_cause(const struct uhca_abi_cause *c)
{
	reason = *c;
}

/* What may be said at any time stands behind all else. */
static void end_line(void)
{
	const uint64_t members[] = {reason.kind,     reason.key,   reason.near,  reason.rights,
				    reason.at,       reason.bytes, reason.start, reason.size,
				    reason.expected, reason.got,   reason.since, reason.rest};
	char digits[24];

	end_facts();
	uhcav_line_put(&line, "]");
	if (*once_name) {
		uhcav_line_put(&line, ",\"once\":");
		uhcav_line_string(&line, once_name);
	}
	for (size_t i = 0; reason.kind && i < sizeof(members) / sizeof(members[0]); i++) {
		snprintf(digits, sizeof(digits), "%s%lld", i ? "," : ",\"cause\":[",
			 (long long)members[i]); /* JSON's numbers are signed */
		uhcav_line_put(&line, digits);
	}
	uhcav_line_put(&line, reason.kind ? "]" : "");
}

static void without_collector(void)
{
	fprintf(stderr, "uhca: the sanitizer's collector cannot be reached: %s\n", line.text);
}

/* Ends the line, with this behind the stacks. */
static void report_with(const char *more)
{
	end_line();
	uhcav_line_put(&line, more);
	uhcav_line_put(&line, "}");
	if (!uhcav_reporter_send(line.text, line.n))
		without_collector();
	pthread_mutex_unlock(&uhcav_diagnostic_lock);
}

void uhcav_diagnostic_drop(void)
{
	pthread_mutex_unlock(&uhcav_diagnostic_lock);
}

bool uhcav_diagnostic_ask(const char *member)
{
	static struct uhcav_line asked; /* one thread asks */
	char answer[UHCAV_ANSWER];

	asked.n = 0;
	uhcav_line_put(&asked, "{");
	uhcav_line_put(&asked, member);
	uhcav_line_put(&asked, "}");
	return uhcav_reporter_ask(asked.text, asked.n, answer) &&
	       strcmp(answer, UHCA_SANITIZE_CLOSED) == 0;
}

bool uhcav_diagnostic_report_with(const char *member)
{
	char answer[UHCAV_ANSWER];
	bool heard;

	end_line();
	uhcav_line_put(&line, ",");
	uhcav_line_put(&line, member);
	uhcav_line_put(&line, "}");
	heard = uhcav_reporter_ask(line.text, line.n, answer);
	pthread_mutex_unlock(&uhcav_diagnostic_lock);
	return !heard || strcmp(answer, UHCA_SANITIZE_WAIT) != 0;
}

void uhcav_diagnostic_unseen(const char *what, const char *why)
{
	char text[256];
	int n = snprintf(text, sizeof(text), "{\"unseen\":\"%s: %s\"}", what, why);

	uhcav_reporter_leave(text, (size_t)n);
}

const char *uhcav_diagnostic_program(void)
{
	return program_invocation_short_name;
}

uint64_t uhcav_diagnostic_setting(const char *name, uint64_t otherwise)
{
	char text[64], answer[UHCAV_ANSWER];
	unsigned long long value;
	int n = snprintf(text, sizeof(text), "{\"setting\":\"%s\"}", name);

	if (!uhcav_reporter_ask(text, (size_t)n, answer) || sscanf(answer, "%llu", &value) != 1)
		return otherwise;
	return value;
}

void uhcav_diagnostic_report(void)
{
	report_with("");
}

void uhcav_diagnostic_report_if_verb(void)
{
	report_with(",\"if_verb\":true");
}

uint32_t uhcav_diagnostic_hold(void)
{
	uint32_t name = ++last_held;

	end_line();
	put_number("held", name);
	uhcav_line_put(&line, "}");
	if (!uhcav_reporter_leave(line.text, line.n))
		without_collector();
	pthread_mutex_unlock(&uhcav_diagnostic_lock);
	return name;
}

void uhcav_diagnostic_retract(uint32_t name)
{
	char text[64];
	int n = snprintf(text, sizeof(text), "{\"retract\":%u}", name);

	pthread_mutex_lock(&uhcav_diagnostic_lock);
	uhcav_reporter_leave(text, (size_t)n);
	pthread_mutex_unlock(&uhcav_diagnostic_lock);
}

/* ---- notes ---- */

static void leave(void)
{
	uhcav_line_put(&line, "}");
	uhcav_reporter_leave(line.text, line.n);
}

static void put_id(const char *key, const struct uhcav_stack *stack, uint32_t pid)
{
	char id[64];

	snprintf(id, sizeof(id), "%u.%llx", pid, (unsigned long long)(uintptr_t)stack);
	uhcav_line_key(&line, key);
	uhcav_line_string(&line, id);
}

static void begin_note(void)
{
	line.n = 0;
	uhcav_line_put(&line, "{");
}

void uhcav_diagnostic_note(const struct uhcav_stack *stack, const char *name)
{
	uint32_t pid = (uint32_t)getpid();

	pthread_mutex_lock(&uhcav_diagnostic_lock);
	if (stack->reported != pid) {
		begin_note();
		put_id("stack", stack, pid);
		put_frames(stack);
		leave();
		((struct uhcav_stack *)(uintptr_t)stack)->reported = pid;
	}
	begin_note();
	uhcav_line_key(&line, "note");
	uhcav_line_string(&line, name);
	uhcav_line_put(&line, ",");
	put_id("of", stack, pid);
	leave();
	pthread_mutex_unlock(&uhcav_diagnostic_lock);
}
