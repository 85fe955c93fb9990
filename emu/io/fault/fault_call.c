/* SPDX-License-Identifier: BSD-2-Clause */
/* Applies call rules to control messages and rdma_cm commands. */
#include "fault_call.h"

#include "emu/fault/rule/rules.h"
#include "emu/io/base/base.h"
#include "emu/io/capture/captures.h"
#include "emu/io/serve/serve.h"
#include "faults.h"

#include <errno.h>
#include <string.h>

/* As rules name it; ibv_wr_complete is a way to post sends. */
static const char *const asked_name[UHCA_FAULT_VERBS] = {
	[UHCA_FAULT_POST_SEND] = "post_send",         [UHCA_FAULT_POST_RECV] = "post_recv",
	[UHCA_FAULT_POST_SRQ_RECV] = "post_srq_recv", [UHCA_FAULT_WR_COMPLETE] = "post_send",
	[UHCA_FAULT_REQ_NOTIFY_CQ] = "req_notify",    [UHCA_FAULT_BIND_MW] = "bind_mw",
	[UHCA_FAULT_POST_WQ_RECV] = "post_wq_recv",
};

/* ---- asking ---- */

struct io_call_fault io_fault_call(struct io_faults *f, struct io_device *dev,
				   const struct fault_subject *s)
{
	const struct fault_entry *hit[FAULT_HITS_MAX];
	struct io_call_fault is = {0};
	struct io_words w;
	unsigned n = io_faults_decide(f, dev, s, io_clock_now(), hit);

	for (unsigned i = 0; i < n; i++) {
		const struct fault_value *v = &hit[i]->rule.value;

		if (hit[i]->rule.action == FAULT_CALL_SLOW) {
			is.delay += io_faults_delay(f, hit[i]);
		} else if (hit[i]->rule.action == FAULT_CALL_FAIL) {
			is.error = (int)v->number;
			is.bad_wr = v->bad_wr;
		}
	}
	if (n > 0) {
		io_trace_call(&w, s->device, s->call, is.error, s->client);
		io_tracer_say(f->env.tracer, s->device, &w);
	}
	return is;
}

/* ---- control messages: what they name ---- */

static void of_handle(struct fault_subject *s, const struct io_client *c, uint32_t cmd,
		      uint32_t handle)
{
	switch (cmd) {
	case UHCA_CMD_DEALLOC_PD:
	case UHCA_CMD_ALLOC_NULL_MR:
		s->pd = handle;
		break;
	case UHCA_CMD_DESTROY_CQ:
		s->cq = handle;
		break;
	case UHCA_CMD_QUERY_SRQ:
	case UHCA_CMD_DESTROY_SRQ:
		s->srq = handle;
		break;
	case UHCA_CMD_QUERY_QP:
	case UHCA_CMD_DESTROY_QP:
		s->qpn = core_qp_number(c->core, handle);
		break;
	case UHCA_CMD_DEREG_MR:
	case UHCA_CMD_DEALLOC_MW:
		s->key = core_key_of(c->core, handle);
		break;
	default:
		break;
	}
}

static void of_reg_mr(struct fault_subject *s, const struct uhca_cmd_reg_mr *in)
{
	s->pd = in->pd;
	s->address = in->addr;
	s->length = in->length;
}

static void of_create_qp(struct fault_subject *s, const struct uhca_cmd_create_qp *in)
{
	s->pd = in->pd;
	s->cq = in->send_cq;
	s->srq = in->srq;
}

static void of_post(struct fault_subject *s, const struct uhca_cmd_fault_check *in)
{
	s->call = in->verb < UHCA_FAULT_VERBS ? asked_name[in->verb] : "";
	s->qpn = in->qpn;
	s->srq = in->srq;
	s->cq = in->cq;
}

static void name_objects(struct fault_subject *s, const struct io_client *c, const void *msg)
{
	const struct uhca_cmd_request *h = msg;
	const struct uhca_cmd_rereg_mr *rereg = msg;

	switch (h->cmd) {
	case UHCA_CMD_REG_MR:
		of_reg_mr(s, msg);
		break;
	case UHCA_CMD_REG_PINNED_MR:
		of_reg_mr(s, &((const struct uhca_cmd_reg_pinned_mr *)msg)->mr);
		break;
	case UHCA_CMD_REREG_MR:
		s->key = core_key_of(c->core, rereg->handle);
		s->address = rereg->addr;
		s->length = rereg->length;
		break;
	case UHCA_CMD_ALLOC_DM:
		s->length = ((const struct uhca_cmd_alloc_dm *)msg)->length;
		break;
	case UHCA_CMD_CREATE_QP:
		of_create_qp(s, msg);
		break;
	case UHCA_CMD_CREATE_SRQ:
		s->pd = ((const struct uhca_cmd_create_srq *)msg)->pd;
		break;
	case UHCA_CMD_CREATE_AH:
		s->pd = ((const struct uhca_cmd_create_ah *)msg)->pd;
		break;
	case UHCA_CMD_ALLOC_MW:
		s->pd = ((const struct uhca_cmd_alloc_mw *)msg)->pd;
		break;
	case UHCA_CMD_MODIFY_QP:
		s->qpn = core_qp_number(c->core, ((const struct uhca_cmd_modify_qp *)msg)->handle);
		break;
	case UHCA_CMD_FAULT_CHECK:
		of_post(s, msg);
		break;
	default:
		if (h->size == sizeof(struct uhca_cmd_handle))
			of_handle(s, c, h->cmd, ((const struct uhca_cmd_handle *)msg)->handle);
		break;
	}
}

/*
 * A client that is about to be one: its message says who it is. One that opens a device that is not
 * there is none of the rules' business.
 */
static struct io_call_fault judge(void *user, struct io_client *c, const char *name,
				  const void *msg)
{
	const struct uhca_cmd_hello *hello =
		((const struct uhca_cmd_request *)msg)->cmd == UHCA_CMD_HELLO ? msg : NULL;
	struct io_faults *f = user;
	struct io_device *dev = c->dev;
	char program[sizeof(hello->program) + 1] = "";
	struct fault_subject s;

	if (hello)
		dev = io_devices_find(f->env.devices, hello->device, sizeof(hello->device));
	if (dev && dev->command_ns) /* it hangs, and so do its commands */
		return (struct io_call_fault){.error = ETIMEDOUT, .delay = dev->command_ns};
	if (!dev || (!hello && !c->core) || !io_faults_watch(f, FAULT_LAYER_CALL))
		return (struct io_call_fault){0};
	io_fault_subject(&s, FAULT_LAYER_CALL, dev, c);
	s.call = name;
	if (hello) {
		memcpy(program, hello->program, sizeof(hello->program));
		s.program = program;
	} else {
		name_objects(&s, c, msg);
	}
	return io_fault_call(f, dev, &s);
}

static void reset(void *user, struct io_device *dev, uint32_t qpn)
{
	io_fault_cqe_forget(user, dev, qpn);
}

const struct io_clients_ops io_fault_clients_ops = {.judge = judge, .reset = reset};

/* ---- what never comes to us by itself ---- */

static bool names_one(const char *globs)
{
	for (unsigned i = 0; i < UHCA_FAULT_VERBS; i++)
		if (fault_glob_any(globs, asked_name[i]))
			return true;
	return globs[0] == '\0';
}

void io_fault_call_changed(struct io_faults *f)
{
	struct uhca_abi_status *status = f->env.status;
	bool any = false;

	for (unsigned i = 0; i < fault_plan_count(f->plan) && !any; i++) {
		const struct fault_rule *r = &fault_plan_entry(f->plan, i)->rule;

		any = r->layer == FAULT_LAYER_CALL && names_one(r->select.call);
	}
	any = any && io_faults_watch(f, FAULT_LAYER_CALL);
	__atomic_store_n(&status->post_faults, any, __ATOMIC_RELAXED);
}
