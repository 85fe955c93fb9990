/* SPDX-License-Identifier: BSD-2-Clause */
/* Creation and destruction of what has no queue: domains, regions, windows, handles, rules. */
#include "watch.h"

#include "keys.h"
#include "lifetime.h"
#include "provider/base/base.h"
#include "provider/connection/connection.h"
#include "provider/crash/crash.h"
#include "provider/gone/gone.h"
#include "provider/hang/hang.h"
#include "provider/keys/keys.h"
#include "provider/memory_watch/memory_watch.h"
#include "provider/page_watch/page_watch.h"
#include "provider/portability/portability.h"
#include "provider/qp/qp.h"
#include "provider/queues/queues.h"

#include <unistd.h>

static bool is_memory_watched(void)
{
	return uhcav_check_on(UHCA_CHECK_MEMORY_REPLACED) ||
	       uhcav_check_on(UHCA_CHECK_MEMORY_FREED) || uhcav_check_on(UHCA_CHECK_WR_ID_FREED);
}

/*
 * Libraries that keep regions for what comes later hear for themselves what happens to memory, and
 * deregister when they come to it.
 */
static bool is_cached(const struct uhcav_stack *made)
{
	static const char *const libraries[] = {"libuc", "libfabric", "libmpi", "libopen-pal",
						"libnccl"};

	for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++)
		if (uhcav_stack_is_of(made, libraries[i]))
			return true;
	return false;
}

/* On demand, an adapter follows the process's pages. */
static void watch_memory(const struct uhcav_object *o)
{
	const int writes = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
	struct uhcav_range r = {.mr = o->self,
				.from = o->mr.addr,
				.to = o->mr.addr + o->mr.length,
				.number = o->number,
				.made = o->made};

	if (!o->mr.in_memory || (o->mr.access & IBV_ACCESS_ON_DEMAND) || !is_memory_watched())
		return;
	r.is_target = (o->mr.access & writes) && !is_cached(o->made);
	r.is_remote =
		r.is_target || ((o->mr.access & IBV_ACCESS_REMOTE_READ) && !is_cached(o->made));
	r.is_target = r.is_target && uhcav_check_on(UHCA_CHECK_MEMORY_FREED);
	uhcav_range_add(&r);
}

void uhcav_watch_made(struct uhcav_here here, struct uhcav_object o)
{
	int saved = errno;

	o.pid = getpid();
	o.made = uhcav_stack_take(here);
	uhcav_object_add(&o);
	uhcav_gone_listen();
	if (is_memory_watched() || uhcav_keeping_is_on())
		uhcav_memory_watch_listen();
	if (o.kind == UHCAV_KIND_MR)
		watch_memory(&o);
	if (uhcav_check_on(UHCA_CHECK_VERB_CRASHED))
		uhcav_crash_listen();
	errno = saved;
}

void uhcav_watch_made_on(struct uhcav_here here, enum uhcav_kind kind, const void *self,
			 uint32_t number, const struct ibv_context *context, const void *on)
{
	uhcav_watch_made(here, (struct uhcav_object){.kind = kind,
						     .self = self,
						     .number = number,
						     .context = context,
						     .uses = {on}});
}

struct uhcav_watch_end uhcav_watch_ending(struct uhcav_here here, const void *self)
{
	struct uhcav_watch_end end = {.here = here};

	uhcav_crash_enter(NULL, self);
	uhcav_memory_settle();
	end.known = uhcav_object_take(self, &end.o);
	return end;
}

static enum uhcav_shape shape_of(enum uhcav_kind kind)
{
	switch ((int)kind) {
	case UHCAV_KIND_CQ:
		return UHCAV_SHAPE_CQ;
	case UHCAV_KIND_QP:
		return UHCAV_SHAPE_QP;
	case UHCAV_KIND_WQ:
		return UHCAV_SHAPE_WQ;
	case UHCAV_KIND_DM:
		return UHCAV_SHAPE_DM;
	case UHCAV_KIND_FLOW:
		return UHCAV_SHAPE_FLOW;
	default:
		return UHCAV_SHAPE_PLAIN;
	}
}

/* Who uses it from now on is told. */
static void bury(const struct uhcav_object *o, const struct uhcav_stack *destroyed)
{
	const struct uhcav_tomb t = {.self = (void *)(uintptr_t)o->self,
				     .kind = uhcav_kind_name(o->kind),
				     .number = o->number,
				     .made = o->made,
				     .destroyed = destroyed};

	uhcav_tomb_add(&t, shape_of(o->kind), (struct ibv_context *)(uintptr_t)o->context);
}

int uhcav_watch_ended(const struct uhcav_watch_end *end, int err)
{
	int saved = errno;

	if (!end->known)
		return err;
	if (err) {
		uhcav_object_add(&end->o);
		if (err == EBUSY)
			uhcav_lifetime_busy(end->here, &end->o);
	} else {
		uhcav_lifetime_ended(&end->o);
		bury(&end->o, uhcav_stack_take(end->here));
		if (end->o.kind == UHCAV_KIND_MR) {
			uhcav_range_remove(end->o.self);
			uhcav_quarantine_end(end->o.self);
			uhcav_object_bury(&end->o, uhcav_stack_take(end->here));
			uhcav_left_add(
				uhcav_context_of((struct ibv_context *)(uintptr_t)end->o.context),
				"mr", end->o.mr.rkey, "gone", uhcav_stack_take(end->here));
		}
		if (end->o.kind == UHCAV_KIND_MR || end->o.kind == UHCAV_KIND_AH)
			uhcav_keys_gone(end->here, &end->o);
	}
	errno = saved;
	return err;
}

/* Functions around creation and destruction of a kind. */
#define MAKES(type, attributes, name, of, number_)                                                 \
	static type *name(struct ibv_context *ibctx, attributes *attr)                             \
	{                                                                                          \
		type *object = uhcav_##name(ibctx, attr);                                          \
		if (object)                                                                        \
			uhcav_watch_made_on(UHCAV_HERE, UHCAV_KIND_##of, object, number_, ibctx,   \
					    NULL);                                                 \
		return object;                                                                     \
	}

MAKES(struct ibv_td, struct ibv_td_init_attr, alloc_td, TD, 0)
MAKES(struct ibv_dm, struct ibv_alloc_dm_attr, alloc_dm, DM, object->handle)
MAKES(struct ibv_xrcd, struct ibv_xrcd_init_attr, open_xrcd, XRCD, uhcav_xrcd_of(object)->handle)
MAKES(struct ibv_rwq_ind_table, struct ibv_rwq_ind_table_init_attr, create_rwq_ind_table, RWQ_TABLE,
      object->ind_tbl_handle)
MAKES(struct uhcav_comp_cntr, const struct uhcav_comp_cntr_init_attr, create_comp_cntr, COMP_CNTR,
      ((const struct uhcav_comp_cntr_public *)(const void *)object)->handle)

#define ENDS(type, name)                                                                           \
	static int name(type *object)                                                              \
	{                                                                                          \
		struct uhcav_watch_end end = uhcav_watch_ending(UHCAV_HERE, object);               \
		return uhcav_watch_ended(&end, uhcav_##name(object));                              \
	}

ENDS(struct ibv_pd, dealloc_pd)
ENDS(struct ibv_td, dealloc_td)
ENDS(void, dereg_mr)
ENDS(struct ibv_mw, dealloc_mw)
ENDS(struct ibv_dm, free_dm)
ENDS(struct ibv_flow, destroy_flow)
ENDS(struct ibv_xrcd, close_xrcd)
ENDS(struct ibv_rwq_ind_table, destroy_rwq_ind_table)
ENDS(struct uhcav_comp_cntr, destroy_comp_cntr)

static int destroy_ah(struct ibv_ah *ah)
{
	struct uhcav_watch_end end = uhcav_watch_ending(UHCAV_HERE, ah);

	uhcav_datagram_over(&(struct uhcav_datagram){.who.ctx = uhcav_context_of(ah->context),
						     .ah = ah->handle});
	return uhcav_watch_ended(&end, uhcav_destroy_ah(ah));
}

static struct ibv_pd *alloc_pd(struct ibv_context *ibctx)
{
	struct ibv_pd *pd = uhcav_alloc_pd(ibctx);

	uhcav_hang_device_used();
	if (pd)
		uhcav_watch_made_on(UHCAV_HERE, UHCAV_KIND_PD, pd, pd->handle, ibctx, NULL);
	return pd;
}

static struct ibv_pd *alloc_parent_domain(struct ibv_context *ibctx,
					  struct ibv_parent_domain_init_attr *attr)
{
	struct ibv_pd *pd = uhcav_alloc_parent_domain(ibctx, attr);

	if (pd)
		uhcav_watch_made(UHCAV_HERE, (struct uhcav_object){.kind = UHCAV_KIND_PD,
								   .self = pd,
								   .number = pd->handle,
								   .context = ibctx,
								   .uses = {attr->pd, attr->td}});
	return pd;
}

static void made_mr(struct uhcav_here here, const struct ibv_mr *mr, struct ibv_pd *pd,
		    struct uhcav_object_mr what, const void *on)
{
	uhcav_left_add(uhcav_context_of(pd->context), "mr", mr->rkey, "made",
		       uhcav_stack_take(here));
	what.lkey = mr->lkey;
	what.rkey = mr->rkey;
	what.pd = pd->handle;
	uhcav_watch_made(here, (struct uhcav_object){.kind = UHCAV_KIND_MR,
						     .self = mr,
						     .number = mr->lkey,
						     .context = pd->context,
						     .uses = {pd, on},
						     .mr = what});
}

static struct uhcav_object_mr in_memory(const void *addr, size_t length, uint64_t iova, int access)
{
	return (struct uhcav_object_mr){
		.addr = (uintptr_t)addr,
		.length = length,
		.iova = access & IBV_ACCESS_ZERO_BASED ? 0 : iova,
		.access = access,
		.in_memory = true,
	};
}

static struct ibv_mr *reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
			     int access)
{
	uint32_t lifted = uhcav_page_watch_lift((uintptr_t)addr, length);
	struct ibv_mr *mr = uhcav_reg_mr(pd, addr, length, iova, access);

	uhcav_page_watch_end(lifted);
	if (mr) {
		made_mr(UHCAV_HERE, mr, pd, in_memory(addr, length, iova, access), NULL);
		uhcav_portability_mr(UHCAV_HERE, access);
	}
	return mr;
}

/* The stack of the change is what counts from now on: it says what the region is. */
static int rereg_mr(void *verbs_mr, int flags, struct ibv_pd *pd, void *addr, size_t length,
		    int access)
{
	struct ibv_mr *mr = verbs_mr;
	struct uhcav_object o;
	bool known = uhcav_object_take(mr, &o);
	uint32_t lifted = flags & IBV_REREG_MR_CHANGE_TRANSLATION
				  ? uhcav_page_watch_lift((uintptr_t)addr, length)
			  : known ? uhcav_page_watch_lift(o.mr.addr, o.mr.length)
				  : 0;
	int err = uhcav_rereg_mr(verbs_mr, flags, pd, addr, length, access);

	uhcav_page_watch_end(lifted);
	if (!known)
		return err;
	if (err) {
		uhcav_object_add(&o);
		return err;
	}
	uhcav_portability_rereg(UHCAV_HERE);
	uhcav_range_remove(mr);
	if (flags & IBV_REREG_MR_CHANGE_ACCESS)
		o.mr.access = access;
	if (flags & IBV_REREG_MR_CHANGE_TRANSLATION)
		o.mr = in_memory(addr, length, (uintptr_t)addr, o.mr.access);
	made_mr(UHCAV_HERE, mr, flags & IBV_REREG_MR_CHANGE_PD ? pd : mr->pd, o.mr, NULL);
	return 0;
}

static struct ibv_mr *reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t offset,
				size_t length, unsigned access)
{
	struct ibv_mr *mr = uhcav_reg_dm_mr(pd, dm, offset, length, access);

	if (mr)
		made_mr(UHCAV_HERE, mr, pd,
			(struct uhcav_object_mr){.length = length, .access = (int)access}, dm);
	return mr;
}

static struct ibv_mr *reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length,
				    uint64_t iova, int fd, int access)
{
	struct ibv_mr *mr = uhcav_reg_dmabuf_mr(pd, offset, length, iova, fd, access);

	if (mr)
		made_mr(UHCAV_HERE, mr, pd,
			(struct uhcav_object_mr){.length = length, .iova = iova, .access = access},
			NULL);
	return mr;
}

static struct ibv_mr *alloc_null_mr(struct ibv_pd *pd)
{
	struct ibv_mr *mr = uhcav_alloc_null_mr(pd);

	if (mr)
		made_mr(UHCAV_HERE, mr, pd,
			(struct uhcav_object_mr){.length = UINT64_MAX,
						 .access = IBV_ACCESS_LOCAL_WRITE},
			NULL);
	return mr;
}

static struct ibv_mw *alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	struct ibv_mw *mw = uhcav_alloc_mw(pd, type);

	if (!mw)
		return NULL;
	uhcav_watch_made_on(UHCAV_HERE, UHCAV_KIND_MW, mw, mw->rkey, pd->context, pd);
	uhcav_portability_mw(UHCAV_HERE, type);
	return mw;
}

static struct ibv_ah *create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct ibv_ah *ah = uhcav_create_ah(pd, attr);
	bool loops = ah && uhcav_check_on(UHCA_CHECK_UD_RECV_SHORT) &&
		     uhcav_connection_loops(pd->context, attr);

	if (ah)
		uhcav_watch_made(UHCAV_HERE, (struct uhcav_object){.kind = UHCAV_KIND_AH,
								   .self = ah,
								   .number = ah->handle,
								   .context = pd->context,
								   .uses = {pd},
								   .loops = loops});
	return ah;
}

static struct ibv_flow *create_flow(struct ibv_qp *qp, struct ibv_flow_attr *attr)
{
	struct ibv_flow *flow = uhcav_create_flow(qp, attr);

	if (flow)
		uhcav_watch_made_on(UHCAV_HERE, UHCAV_KIND_FLOW, flow, flow->handle, qp->context,
				    qp);
	return flow;
}

const struct uhcav_watch uhcav_watch_objects[] = {
	{"alloc_dm", (void *)alloc_dm},
	{"alloc_mw", (void *)alloc_mw},
	{"alloc_null_mr", (void *)alloc_null_mr},
	{"alloc_parent_domain", (void *)alloc_parent_domain},
	{"alloc_pd", (void *)alloc_pd},
	{"alloc_td", (void *)alloc_td},
	{"close_xrcd", (void *)close_xrcd},
	{"create_ah", (void *)create_ah},
	{"create_comp_cntr", (void *)create_comp_cntr},
	{"create_flow", (void *)create_flow},
	{"create_rwq_ind_table", (void *)create_rwq_ind_table},
	{"dealloc_mw", (void *)dealloc_mw},
	{"dealloc_pd", (void *)dealloc_pd},
	{"dealloc_td", (void *)dealloc_td},
	{"dereg_mr", (void *)dereg_mr},
	{"destroy_ah", (void *)destroy_ah},
	{"destroy_comp_cntr", (void *)destroy_comp_cntr},
	{"destroy_flow", (void *)destroy_flow},
	{"destroy_rwq_ind_table", (void *)destroy_rwq_ind_table},
	{"free_dm", (void *)free_dm},
	{"open_xrcd", (void *)open_xrcd},
	{"reg_dm_mr", (void *)reg_dm_mr},
	{"reg_dmabuf_mr", (void *)reg_dmabuf_mr},
	{"reg_mr", (void *)reg_mr},
	{"rereg_mr", (void *)rereg_mr},
	{NULL, NULL},
};
