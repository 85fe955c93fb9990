/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See fault.h. The program stands still in the midst of anything, an allocator with its locks for
 * example. So nothing here allocates, and what is told of the post was written down with the hold.
 */
#include "fault.h"

#include "hold.h"
#include "page_watch.h"
#include "provider/base/base.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <ucontext.h>

#define SEEN 256u

static struct sigaction first, former;
static bool listening;

static pthread_mutex_t reporting = PTHREAD_MUTEX_INITIALIZER;

/* ---- the machine ---- */

struct access {
	uintptr_t at, pc;
	enum { UNKNOWN, READS, WRITES } how;
};

static struct access access_of(const siginfo_t *info, const ucontext_t *context)
{
	struct access a = {.at = (uintptr_t)info->si_addr};

#if defined(__x86_64__)
	a.pc = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
	a.how = context->uc_mcontext.gregs[REG_ERR] & 2 ? WRITES : READS; /* page fault code: W/R */
#elif defined(__aarch64__)
	a.pc = (uintptr_t)context->uc_mcontext.pc;
#else
	(void)context;
#endif
	return a;
}

/* ---- a finding ---- */

/* Has it been told: the same instruction, the same post? */
static bool is_new(uintptr_t pc, const struct uhcav_page_watch_post *post)
{
	static struct seen {
		uintptr_t pc;
		const struct uhcav_stack *posted;
		enum uhca_check check;
	} seen[SEEN];
	static unsigned n;
	const struct seen this = {pc, post->stack, post->check};

	for (unsigned i = 0; i < SEEN && i < n; i++)
		if (seen[i].pc == pc && seen[i].posted == this.posted &&
		    seen[i].check == this.check)
			return false;
	seen[n++ % SEEN] = this;
	return true;
}

static const char *word_of(const struct access *a)
{
	return a->how == WRITES ? "wrote to" : a->how == READS ? "read" : "used";
}

static void report_post(const struct access *a, const struct uhcav_page_watch_post *post,
			const struct uhcav_stack *stack)
{
	static const char *const buffer[] = {"the send buffer of a request",
					     "the receive buffer of a request"};

	uhcav_diagnostic_begin(post->check,
			       "an instruction %s %s, before its completion was polled", word_of(a),
			       buffer[post->is_target]);
	uhcav_diagnostic_request(&post->request);
	uhcav_diagnostic_fact("%llu bytes at 0x%llx, L_Key 0x%x", (unsigned long long)post->length,
			      (unsigned long long)post->at, post->lkey);
	uhcav_diagnostic_fact("it %s byte %llu of the buffer", word_of(a),
			      (unsigned long long)(a->at - post->at));
	uhcav_diagnostic_stack(stack, "done by");
	uhcav_diagnostic_stack(post->stack, "%s posted by", post->request.what);
	uhcav_diagnostic_stack(post->made, "memory region 0x%x registered by", post->lkey);
	uhcav_diagnostic_report();
}

static void report(const struct access *a, const struct uhcav_page_watch_post *post)
{
	static union uhcav_stack_room of;

	if (!uhcav_check_on(post->check))
		return;
	pthread_mutex_lock(&reporting);
	if (is_new(a->pc, post)) {
		of.stack.n = uhcav_stack_interrupted(a->pc, of.stack.pc);
		report_post(a, post, &of.stack);
	}
	pthread_mutex_unlock(&reporting);
}

/* ---- a fault ---- */

/* The strictest hold there of which nothing was told; it is of all now. 0: there is none. */
static uint32_t hold_take(uintptr_t at)
{
	uint32_t found = 0;

	for (uint32_t name = 0; (name = uhcav_hold_meets(name, at, at + 1));)
		if (uhcav_hold_at(name)->kind == UHCAV_HOLD_TARGET ||
		    (!found && uhcav_hold_at(name)->kind == UHCAV_HOLD_SOURCE))
			found = name;
	for (uint32_t name = 0; found && (name = uhcav_hold_meets(name, at, at + 1));)
		if (uhcav_hold_at(name)->kind != UHCAV_HOLD_LIFTED &&
		    uhcav_hold_at(name)->kind != UHCAV_HOLD_SHARED)
			uhcav_hold_change(name, UHCAV_HOLD_REPORTED);
	return found;
}

/* Is it by a page of ours, or by one that was ours when it happened? Then the program goes on. */
static bool settle(const struct access *a)
{
	struct uhcav_page_watch_post post;
	uint32_t name;
	bool went_on;

	uhcav_page_watch_lock();
	name = hold_take(a->at);
	if (name)
		post = *uhcav_hold_post(name);
	went_on = uhcav_hold_is_allowed(a->at, a->how != READS);
	uhcav_page_watch_unlock();
	if (name && went_on)
		report(a, &post);
	return went_on && a->at != a->pc;
}

static void hand_over(const struct sigaction *to, int sig, siginfo_t *info, void *context)
{
	bool is_sent = info->si_code <= 0; /* by kill(2): no instruction is tried again */

	if (to->sa_handler != SIG_DFL && to->sa_handler != SIG_IGN) {
		uhcav_signal_pass(to, sig, info, context);
	} else if (!is_sent || to->sa_handler == SIG_DFL) {
		signal(sig, SIG_DFL);
		if (is_sent)
			raise(sig);
	}
}

/*
 * Who heard faults before us. One who came after us, and before whom we stand again, may call us
 * with what is not his: then it is for those who came first.
 */
static struct sigaction heir(const void *context, uintptr_t frame)
{
	static const void *handed;
	static uintptr_t handed_frame;
	struct sigaction to;

	uhcav_page_watch_lock();
	if (handed == context && frame < handed_frame) {
		to = first;
	} else {
		to = former;
		handed = context;
		handed_frame = frame;
		if (former.sa_flags & (int)SA_RESETHAND)
			former.sa_handler = SIG_DFL;
	}
	uhcav_page_watch_unlock();
	return to;
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
	const struct access a = access_of(info, context);
	int saved = errno;

	if (info->si_code != SEGV_ACCERR || !settle(&a)) {
		const struct sigaction to = heir(context, (uintptr_t)__builtin_frame_address(0));
		hand_over(&to, sig, info, context);
	}
	errno = saved;
}

bool uhcav_fault_listen(void)
{
	struct sigaction now, ours = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};

	if (sigaction(SIGSEGV, NULL, &now))
		return false;
	if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_fault)
		return true;
	if (!listening)
		first = now;
	former = now;
	ours.sa_flags |= now.sa_flags & SA_ONSTACK;
	sigfillset(&ours.sa_mask);
	listening = !sigaction(SIGSEGV, &ours, NULL);
	return listening;
}
