/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * forks: a program with open verbs forks. Children that only exit, and children that use what
 * they inherited, which must give errors and touch nothing; the parent's traffic goes on.
 */
#include "rig.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MESSAGE 512u

static struct rig rig;
static struct ibv_qp *qp[2];

static void exchange(unsigned round)
{
	memset(rig.buf, (int)round, MESSAGE);
	memset(rig.buf + MESSAGE, 0xff, MESSAGE);
	if (!rig_post_recv(&rig, qp[1], MESSAGE, MESSAGE) ||
	    !rig_post_send(&rig, qp[0], 0, MESSAGE))
		rig_die("posting in the parent, round %u", round);
	rig_expect(&rig, 2, 120);
	if (memcmp(rig.buf, rig.buf + MESSAGE, MESSAGE) != 0)
		rig_die("wrong data in round %u", round);
}

/*
 * What a careless child may do with its parent's objects; each must fail, and none may hang.
 * (A query of the device is the child's own and may succeed.)
 */
static int use_verbs(void)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
	struct ibv_qp_init_attr init;
	struct ibv_wc wc;
	unsigned good = 0;

	good += rig_post_send(&rig, qp[0], 0, MESSAGE);
	good += rig_post_recv(&rig, qp[1], 0, MESSAGE);
	good += ibv_poll_cq(rig.cq, 1, &wc) >= 0;
	good += ibv_req_notify_cq(rig.cq, 0) == 0;
	good += ibv_modify_qp(qp[0], &attr, IBV_QP_STATE) == 0;
	good += ibv_query_qp(qp[0], &attr, IBV_QP_STATE, &init) == 0;
	good += ibv_alloc_pd(rig.ctx) != NULL;
	good += ibv_reg_mr(rig.pd, rig.buf, 64, 0) != NULL;
	good += rig_qp(&rig, NULL, NULL) != NULL;
	return good == 0 ? 0 : (int)good;
}

/* A child may give back its copies; that must not reach the parent's objects. */
static int destroy_all(void)
{
	ibv_destroy_qp(qp[0]);
	ibv_destroy_qp(qp[1]);
	ibv_dereg_mr(rig.mr);
	ibv_destroy_cq(rig.cq);
	ibv_dealloc_pd(rig.pd);
	ibv_close_device(rig.ctx);
	return 0;
}

/* A child opens the device anew, as any process may. */
static int open_again(void)
{
	rig_open(&rig, 16, 2 * MESSAGE);
	for (unsigned i = 0; i < 2; i++)
		if (!(qp[i] = rig_qp(&rig, NULL, NULL)))
			return 1;
	for (unsigned i = 0; i < 2; i++)
		rig_connect(&rig, qp[i], qp[1 - i]->qp_num);
	exchange(99);
	return 0;
}

static int only_exit(void)
{
	return 0;
}

static void with_child(const char *name, int (*work)(void))
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		rig_die("fork");
	if (pid == 0) {
		alarm(300);
		/* the atexit functions of libraries run too, as in a real child */
		exit(work());
	}
	exchange(1); /* while the child is at it */
	if (waitpid(pid, &status, 0) != pid)
		rig_die("waitpid");
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		rig_die("the child that is to %s: status 0x%x", name, (unsigned)status);
	for (unsigned i = 2; i < 20; i++)
		exchange(i);
	printf("%s: ok\n", name);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	rig_open(&rig, 64, 2 * MESSAGE);
	for (unsigned i = 0; i < 2; i++)
		if (!(qp[i] = rig_qp(&rig, NULL, NULL)))
			rig_die("QP");
	for (unsigned i = 0; i < 2; i++)
		rig_connect(&rig, qp[i], qp[1 - i]->qp_num);
	exchange(0);
	with_child("exit", only_exit);
	with_child("use verbs", use_verbs);
	with_child("destroy everything", destroy_all);
	with_child("open the device again", open_again);
	if (ibv_destroy_qp(qp[0]) || ibv_destroy_qp(qp[1]))
		rig_die("ibv_destroy_qp");
	rig_close(&rig);
	return 0;
}
