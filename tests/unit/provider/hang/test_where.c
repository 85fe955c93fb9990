/* SPDX-License-Identifier: BSD-2-Clause */
/* The stack of another thread. */
#include "provider/hang/where.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

static int fd[2];
static pid_t tid; /* atomic */

/* Not part of another function: its address says where the thread is. */
static __attribute__((noinline)) ssize_t read_byte(void)
{
	char c;
	ssize_t n = read(fd[0], &c, 1);

	return n ? n : -1;
}

static void *wait_there(void *blocked)
{
	sigset_t all;

	if (blocked) {
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, NULL);
	}
	__atomic_store_n(&tid, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	return (void *)read_byte();
}

static pid_t start(pthread_t *thread, bool blocked)
{
	static int anything;

	__atomic_store_n(&tid, 0, __ATOMIC_RELEASE);
	assert_int_equal(pipe(fd), 0);
	assert_int_equal(pthread_create(thread, NULL, wait_there, blocked ? &anything : NULL), 0);
	while (!__atomic_load_n(&tid, __ATOMIC_ACQUIRE))
		;
	return tid;
}

/* Its read has gone on, and ends with the byte. */
static void end(pthread_t thread)
{
	void *result;

	assert_int_equal(write(fd[1], "", 1), 1);
	pthread_join(thread, &result);
	assert_int_equal((intptr_t)result, 1);
	close(fd[0]);
	close(fd[1]);
}

static bool is_in(const struct uhcav_stack *s, uintptr_t function)
{
	for (uint32_t i = 0; s && i < s->n; i++)
		if (s->pc[i] - function < 256)
			return true;
	return false;
}

static void test_stack(void **state)
{
	pthread_t thread;
	pid_t who = start(&thread, false);
	const struct uhcav_stack *s = NULL;

	(void)state;
	(void)uhcav_stack_outside(); /* loads the unwinder */
	for (int i = 0; i < 1000 && !is_in(s, (uintptr_t)read_byte); i++)
		s = uhcav_hang_where(who);
	assert_true(is_in(s, (uintptr_t)read_byte));
	end(thread);
}

static void test_blocked(void **state)
{
	pthread_t thread;
	pid_t who = start(&thread, true);

	(void)state;
	assert_null(uhcav_hang_where(who));
	end(thread);
}

static void test_gone(void **state)
{
	pthread_t thread;
	pid_t who = start(&thread, false);

	(void)state;
	end(thread);
	assert_null(uhcav_hang_where(who));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stack),
		cmocka_unit_test(test_blocked),
		cmocka_unit_test(test_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
