/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See opcode_watch.h. Two perf events of the thread are data breakpoints, on the opcode and on the
 * status beside it, and send SIGTRAP behind the instruction that used it. Who copies the whole
 * completion uses both by one instruction, and then one signal may come for both, or two; who
 * writes to it leaves another value there; and who uses the opcode alone and leaves it has read it.
 *
 * A program that copies a completion field by field does so, too, and goes on to fields that nobody
 * else asks for: the breakpoints move to slid and sl, and when the former is read alone what
 * was found is taken back. It is told when the process ends.
 *
 * In the handler the program stands still in the midst of anything: nothing here allocates.
 */
#include "opcode_watch.h"

#include "misuse.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

/* A program in which nothing can be found must not look like one in which nothing was. */
static void say_unseen(const char *why)
{
	uhcav_diagnostic_unseen("wc-unset did not see reads of struct ibv_wc: no data breakpoints",
				why);
}

/* Headers of Linux 5.13 have what is needed; C libraries may lack the reason of the signal. */
#if defined(__x86_64__) && defined(PERF_ATTR_SIZE_VER7)

#define PERF_TRAP 6 /* TRAP_PERF */

#define TIMES_MAX 64u /* a process does so; each time costs some calls of the system */
#define SEEN      64u

struct event {
	int fd;
	uint64_t id; /* a program may close what it did not open, and open something else there */
};

/* Two words of a completion: one that is asked about, and its neighbour. */
static __thread struct watched {
	bool on;
	const struct ibv_wc *wc;
	const volatile uint32_t *word;
	uint32_t spoilt;
	struct event used, neighbour;
	uint64_t neighbours_uses; /* of which we have heard, and the last of them */
	uintptr_t neighbours_pc;
	uint32_t held; /* what was found of the opcode; 0: nothing yet */
	enum ibv_wc_status status;
} watched;

static pthread_mutex_t reporting = PTHREAD_MUTEX_INITIALIZER;

/* ---- events ---- */

static bool open_event(struct event *e, const volatile void *at, bool traps)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_BREAKPOINT,
				       .size = sizeof(attr),
				       .bp_type = HW_BREAKPOINT_RW,
				       .bp_addr = (uintptr_t)at,
				       .bp_len = HW_BREAKPOINT_LEN_4,
				       .sample_period = 1,
				       .sigtrap = traps,
				       .remove_on_exec = traps,
				       .exclude_kernel = 1,
				       .exclude_hv = 1};

	e->fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (e->fd < 0)
		return false;
	return !ioctl(e->fd, PERF_EVENT_IOC_ID, &e->id);
}

static bool is_ours(const struct event *e)
{
	uint64_t id;

	return e->fd >= 0 && !ioctl(e->fd, PERF_EVENT_IOC_ID, &id) && id == e->id;
}

static void close_event(struct event *e)
{
	if (is_ours(e))
		close(e->fd);
	e->fd = -1;
}

static uint64_t uses_of(const struct event *e)
{
	uint64_t n = 0;

	return is_ours(e) && read(e->fd, &n, sizeof(n)) == sizeof(n) ? n : 0;
}

/* ---- the handler ---- */

static bool is_new(uintptr_t pc)
{
	static uintptr_t seen[SEEN];
	static unsigned n;

	for (unsigned i = 0; i < SEEN && i < n; i++)
		if (seen[i] == pc)
			return false;
	seen[n++ % SEEN] = pc;
	return true;
}

static uint32_t find_held(const struct watched *w, uintptr_t pc)
{
	static union uhcav_stack_room of;
	uint32_t held = 0;

	pthread_mutex_lock(&reporting);
	if (is_new(pc)) {
		of.stack.n = uhcav_stack_interrupted(pc, of.stack.pc);
		of.stack.pc[0] = pc; /* it stands behind the instruction, as return addresses do */
		uhcav_diagnostic_begin(UHCA_CHECK_WC_UNSET,
				       "a field of a completion with an error is read that says "
				       "nothing");
		uhcav_diagnostic_fact("opcode, of the completion of wr_id 0x%llx of QP 0x%x with "
				      "status %d",
				      (unsigned long long)w->wc->wr_id, w->wc->qp_num,
				      (int)w->status);
		uhcav_diagnostic_stack(&of.stack, "read by");
		held = uhcav_diagnostic_hold();
	}
	pthread_mutex_unlock(&reporting);
	return held;
}

static void end(struct watched *w)
{
	w->on = false;
	close_event(&w->used);
	close_event(&w->neighbour);
}

static void begin(struct watched *w, const void *word, const void *neighbour)
{
	w->word = word;
	w->spoilt = *w->word;
	w->neighbours_uses = 0;
	w->neighbours_pc = 0;
	w->on = open_event(&w->neighbour, neighbour, true) && open_event(&w->used, word, true);
	if (!w->on)
		end(w);
}

/* The word was used, by itself or with its neighbour: is it as it was? */
static void on_use(struct watched *w, uintptr_t pc)
{
	uint64_t uses = uses_of(&w->neighbour);
	bool alone = uses == w->neighbours_uses && pc != w->neighbours_pc;

	w->neighbours_uses = uses;
	if (!alone)
		return;
	end(w); /* before we look ourselves */
	if (*w->word != w->spoilt)
		return;
	if (w->held)
		uhcav_diagnostic_retract(w->held);
	else if ((w->held = find_held(w, pc)))
		begin(w, &w->wc->pkey_index, &w->wc->sl);
}

static void on_trap(int sig, siginfo_t *info, void *context)
{
	uintptr_t pc = (uintptr_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
	struct watched *w = &watched;
	int saved = errno;

	if (info->si_code != PERF_TRAP) { /* somebody else's, who would have ended the process */
		signal(sig, SIG_DFL);
		raise(sig);
		return;
	}
	if (w->on && info->si_addr == (const volatile void *)w->word) {
		on_use(w, pc);
	} else if (w->on) {
		w->neighbours_uses = uses_of(&w->neighbour);
		w->neighbours_pc = pc;
	}
	errno = saved;
}

/* ---- around ---- */

static bool is_traced(void)
{
	char text[2048], *line;
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	line = strstr(text, "TracerPid:");
	return line && strtol(line + strlen("TracerPid:"), NULL, 10);
}

/* A debugger takes SIGTRAP for its own, and a program with a handler does. */
static bool may_trap(void)
{
	struct sigaction now, ours = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
	sigset_t blocked;

	if (sigaction(SIGTRAP, NULL, &now) || pthread_sigmask(SIG_SETMASK, NULL, &blocked) ||
	    sigismember(&blocked, SIGTRAP) || is_traced())
		return false;
	if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_trap)
		return true;
	sigfillset(&ours.sa_mask);
	return now.sa_handler == SIG_DFL && !sigaction(SIGTRAP, &ours, NULL);
}

static bool breakpoints_work;

/*
 * Containers filter perf_event_open(2), and some hypervisors take what is written to the debug
 * registers of a guest and never raise the exception. The first try only counts: no handler is
 * there yet, and SIGTRAP would end the process.
 */
static void try_breakpoints(void)
{
	static volatile uint32_t word;
	struct event e;

	if (open_event(&e, &word, false)) {
		word = 1;
		breakpoints_work = uses_of(&e) > 0;
		if (!breakpoints_work)
			say_unseen("the processor or hypervisor reports no access");
		close_event(&e);
	} else if (errno == EACCES || errno == EPERM) {
		say_unseen("perf_event_open(2) is not permitted");
	} else {
		say_unseen(errno == EINVAL ? "they need Linux 5.13" : strerror(errno));
	}
}

void uhcav_opcode_watch_begin(const struct ibv_wc *wc)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	static unsigned times;
	struct watched *w = &watched;

	pthread_once(&once, try_breakpoints);
	if (!breakpoints_work || __atomic_fetch_add(&times, 1, __ATOMIC_RELAXED) >= TIMES_MAX ||
	    !may_trap())
		return;
	*w = (struct watched){.wc = wc, .status = wc->status, .used.fd = -1, .neighbour.fd = -1};
	begin(w, &wc->opcode, &wc->status);
}

void uhcav_opcode_watch_end(void)
{
	if (watched.on)
		end(&watched);
}

#else

static void say_none(void)
{
	say_unseen("they need x86-64, and a build with headers of Linux 5.13");
}

void uhcav_opcode_watch_begin(const struct ibv_wc *wc)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void)wc;
	pthread_once(&once, say_none);
}

void uhcav_opcode_watch_end(void)
{
}

#endif
