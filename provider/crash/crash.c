/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See crash.h. The program stands still in the midst of anything: nothing here allocates, and locks
 * are waited for a limited time only. Where inline verbs are part of the program's own functions,
 * only the collector can tell, which knows the lines: the report is sent, and it decides.
 */
#include "crash.h"

#include "provider/base/base.h"
#include "provider/diagnostic/diagnostic.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

__thread struct uhcav_crash_call uhcav_crash_call;
__thread struct uhcav_crash_landing *uhcav_crash_landing;

static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
static const char *const names[] = {"SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE", "SIGABRT"};
#define SIGNALS (sizeof(signals) / sizeof(signals[0]))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction first[SIGNALS], former[SIGNALS];
static uhcav_crash_words_fn *words_of;
static bool reports_all; /* a sweep wants to know of each crash, not of those in verbs alone */
static __thread volatile sig_atomic_t inside; /* a report is under way: what crashes now is ours */

static size_t index_of(int sig)
{
	size_t i = 0;

	while (i + 1 < SIGNALS && signals[i] != sig)
		i++;
	return i;
}

/* ---- where did it happen? ---- */

enum place { PLACE_NOWHERE, PLACE_SYSTEM, PLACE_VERBS, PLACE_PROGRAM };

static bool begins(const char *name, const char *const *with)
{
	for (; *with; with++)
		if (!strncmp(name, *with, strlen(*with)))
			return true;
	return false;
}

static enum place place_of(uintptr_t pc, Dl_info *info)
{
	static const char *const system[] = {"libc.so",    "libc-",    "ld-linux",
					     "libpthread", "libgcc_s", NULL};
	static const char *const verbs[] = {"libuhca", "libibverbs", "librdmacm", NULL};
	const char *base;

	if (!pc || !dladdr((void *)pc, info) || !info->dli_fname)
		return PLACE_NOWHERE;
	base = strrchr(info->dli_fname, '/');
	base = base ? base + 1 : info->dli_fname;
	if (begins(base, verbs))
		return PLACE_VERBS;
	return begins(base, system) ? PLACE_SYSTEM : PLACE_PROGRAM;
}

struct found {
	enum place place;
	const char *call; /* the outermost exported verb, or NULL */
	bool is_library;  /* libibverbs or librdmacm are among the frames */
};

/* The first place that is not the system's, and the verb by which the program came there. */
static struct found look(const struct uhcav_stack *stack)
{
	static const char *const verb[] = {"ibv_", "rdma_", NULL};
	struct found f = {.place = PLACE_NOWHERE};

	for (uint32_t i = 0; i < stack->n; i++) {
		Dl_info info;
		enum place place = place_of(stack->pc[i] - 1, &info);
		if (place == PLACE_SYSTEM || place == PLACE_NOWHERE)
			continue;
		if (f.place == PLACE_NOWHERE)
			f.place = place;
		if (place != PLACE_VERBS)
			break;
		f.is_library |= !strstr(info.dli_fname, "libuhca");
		if (info.dli_sname && begins(info.dli_sname, verb))
			f.call = info.dli_sname;
	}
	return f;
}

/* ---- the report ---- */

static void report_objects(const struct found *f)
{
	char words[128];

	if (words_of && uhcav_crash_call.object &&
	    words_of(uhcav_crash_call.object, words, sizeof(words)))
		uhcav_diagnostic_fact("the last object that this thread gave to %s: %s",
				      f->call || !uhcav_crash_call.name ? "a verb"
									: uhcav_crash_call.name,
				      words);
}

/* Inline verbs come to us without a library in between: the thread has noted which. */
static const char *name_of(const struct found *f)
{
	if (f->call)
		return f->call;
	if (f->place == PLACE_PROGRAM && reports_all)
		return "the program";
	if (f->place == PLACE_PROGRAM)
		return "an inline verb";
	if (f->is_library)
		return "a function of libibverbs or librdmacm";
	return uhcav_crash_call.name ? uhcav_crash_call.name : "a verb";
}

static void report_crash(int sig, const siginfo_t *info, const struct uhcav_stack *stack)
{
	struct found f = look(stack);
	const char *call = name_of(&f);

	if (f.place == PLACE_NOWHERE ||
	    !uhcav_diagnostic_begin_crashed(UHCA_CHECK_VERB_CRASHED, "%s in %s",
					    names[index_of(sig)], call))
		return;
	if (sig == SIGSEGV || sig == SIGBUS)
		uhcav_diagnostic_fact(
			"the address is 0x%llx%s", (unsigned long long)(uintptr_t)info->si_addr,
			(uintptr_t)info->si_addr < 4096 ? ": by a pointer that is NULL" : "");
	report_objects(&f);
	uhcav_diagnostic_stack(stack, "%s in", names[index_of(sig)]);
	if (f.place == PLACE_VERBS || reports_all)
		uhcav_diagnostic_report();
	else
		uhcav_diagnostic_report_if_verb();
}

/* Sent by kill(2) from outside, it is no crash. */
static bool is_crash(int sig, const siginfo_t *info)
{
	return sig == SIGABRT || info->si_code > 0;
}

static void report(int sig, const siginfo_t *info, const void *context)
{
	static union uhcav_stack_room of;

	if (inside || !is_crash(sig, info) || pthread_mutex_trylock(&lock))
		return;
	inside = 1;
	of.stack.n = uhcav_stack_interrupted(uhcav_signal_pc(context), of.stack.pc);
	report_crash(sig, info, &of.stack);
	inside = 0;
	pthread_mutex_unlock(&lock);
}

/* ---- the signal ---- */

/*
 * Who heard the signal before us. One who came after us, and before whom we stand again, may call
 * us in turn: then it is for those who came first.
 */
static struct sigaction *heir(size_t i, const void *context, uintptr_t frame)
{
	static __thread const void *handed;
	static __thread uintptr_t handed_frame;

	if (handed == context && frame < handed_frame)
		return &first[i];
	handed = context;
	handed_frame = frame;
	return &former[i];
}

/* Memory went while we read it: that is the reader's to tell. */
static void land(int sig, const siginfo_t *info, const void *context)
{
	struct uhcav_crash_landing *landing = uhcav_crash_landing;
	uintptr_t at = (uintptr_t)info->si_addr;

	if (!landing || info->si_code <= 0 || (sig != SIGSEGV && sig != SIGBUS) ||
	    at < landing->from || at >= landing->to)
		return;
	uhcav_crash_landing = NULL;
	pthread_sigmask(SIG_SETMASK, &((const ucontext_t *)context)->uc_sigmask, NULL);
	siglongjmp(landing->on, 1);
}

static void on_signal(int sig, siginfo_t *info, void *context)
{
	struct sigaction *to, now;
	int saved = errno;

	land(sig, info, context);
	to = heir(index_of(sig), context, (uintptr_t)__builtin_frame_address(0));
	now = *to;
	report(sig, info, context);
	errno = saved;
	if (now.sa_handler == SIG_IGN && info->si_code <= 0)
		return;
	if (now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN) {
		signal(sig, SIG_DFL);
		if (info->si_code <= 0 && sig != SIGABRT)
			raise(sig);
		return; /* the instruction is tried again, and abort(3) goes on */
	}
	if (now.sa_flags & (int)SA_RESETHAND)
		to->sa_handler = SIG_DFL;
	uhcav_signal_pass(&now, sig, info, context);
}

/* One that stands before us and calls us is left there. */
static void listen_to(size_t i, bool begin)
{
	struct sigaction now, ours = {.sa_sigaction = on_signal};

	if (sigaction(signals[i], NULL, &now) ||
	    ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_signal))
		return;
	if (!begin && signals[i] == SIGSEGV && uhcav_check_on(UHCA_CHECK_SEND_WRITTEN))
		return; /* page_watch stands there */
	former[i] = now;
	if (begin)
		first[i] = now;
	ours.sa_flags = SA_SIGINFO | SA_ONSTACK | (now.sa_flags & SA_RESTART);
	sigemptyset(&ours.sa_mask);
	sigaction(signals[i], &ours, NULL);
}

/* ---- the program's own handlers ---- */

/*
 * Of a signal that is ours already: its handler is the one behind us. A thread that is just in
 * ours may call the one of before.
 */
static int hear_sigaction(int sig, const struct sigaction *act, struct sigaction *old);
static sighandler_t hear_signal(int sig, sighandler_t handler);

static struct uhcav_got_call calls[] = {
	{.name = "sigaction", .answer = (void *)hear_sigaction},
	{.name = "signal", .answer = (void *)hear_signal},
	{.name = NULL},
};

static bool is_ours(int sig)
{
	struct sigaction now;

	for (size_t i = 0; i < SIGNALS; i++)
		if (signals[i] == sig)
			return !sigaction(sig, NULL, &now) && (now.sa_flags & SA_SIGINFO) &&
			       now.sa_sigaction == on_signal;
	return false;
}

static int hear_sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	int (*behind)(int, const struct sigaction *, struct sigaction *);
	struct sigaction *ours;
	struct sigaction was;

	*(void **)&behind = calls[0].behind;
	if (!is_ours(sig))
		return behind(sig, act, old);
	ours = &former[index_of(sig)];
	was = *ours;
	if (act)
		*ours = *act;
	if (old)
		*old = was;
	return 0;
}

static sighandler_t hear_signal(int sig, sighandler_t handler)
{
	sighandler_t (*behind)(int, sighandler_t);
	struct sigaction to = {.sa_handler = handler, .sa_flags = SA_RESTART}, was;

	*(void **)&behind = calls[1].behind;
	if (!is_ours(sig))
		return behind(sig, handler);
	sigemptyset(&to.sa_mask);
	hear_sigaction(sig, &to, &was);
	return was.sa_handler;
}

void uhcav_crash_begin(uhcav_crash_words_fn *words)
{
	words_of = words;
	reports_all = secure_getenv(UHCA_SANITIZE_SWEEP_ENV);
	for (size_t i = 0; i < SIGNALS; i++)
		listen_to(i, true);
	uhcav_crash_listen();
}

void uhcav_crash_listen(void)
{
	static pthread_mutex_t listening = PTHREAD_MUTEX_INITIALIZER;

	if (pthread_mutex_trylock(&listening))
		return;
	for (size_t i = 0; i < SIGNALS; i++)
		listen_to(i, false);
	for (struct uhcav_got_call *c = calls; c->name; c++)
		if (!c->behind)
			c->behind = dlsym(RTLD_DEFAULT, c->name);
	if (calls[0].behind && calls[1].behind)
		uhcav_got_patch_all(calls);
	pthread_mutex_unlock(&listening);
}
