/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ids of the rdma_cm device: their life, their options, and how they move between opens of the
 * device. An id stays on the account of the process that made it.
 */
#include "ucma_file.h"

#include "emu/io/base/base.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct ucma_id *ucma_id_find(const struct ucma_file *f, uint32_t slot)
{
	struct ucma_id *id = ucma_number_find(f->ucma, slot);

	if (id && (id->is_mcast || id->file != f || id->request))
		id = NULL;
	f->ucma->asked = id;
	if (id && id->dev)
		core_forget_refusal(id->dev->core);
	return id;
}

int ucma_no_id(void)
{
	return io_refuse(-ENOENT, "the event channel has no id with this number");
}

int ucma_wrong_state(const struct ucma_id *id, const char *what)
{
	static const char *const is[] = {
		[UCMA_IDLE] = "not bound",
		[UCMA_BOUND] = "bound",
		[UCMA_ADDR_RESOLVED] = "resolved (address only)",
		[UCMA_ROUTE_RESOLVED] = "resolved",
		[UCMA_LISTENING] = "listening",
		[UCMA_CONNECTING] = "connecting or connected",
		[UCMA_REMOVED] = "without its device, which has failed",
	};

	return io_refuse(-EINVAL, "the id is %s: %s", is[id->state], what);
}

/* ---- life ---- */

static uint64_t id_cost(void)
{
	return sizeof(struct ucma_id) + core_cm_bytes();
}

struct ucma_id *ucma_id_create(struct ucma_file *f, uint16_t ps, uint8_t qp_type)
{
	struct ucma_owner *o = f->owner;
	struct ucma_id *id = ucma_owner_has_room(o, id_cost()) ? calloc(1, sizeof(*id)) : NULL;

	if (!id)
		return NULL;
	if (ucma_number_take(o, id, &id->slot) < 0) {
		free(id);
		return NULL;
	}
	o->refs++;
	o->memory += id_cost();
	id->owner = o;
	id->file = f;
	id->ps = ps;
	id->qp_type = qp_type;
	LIST_INIT(&id->mcasts);
	TAILQ_INIT(&id->events);
	LIST_INSERT_HEAD(&f->ids, id, of_file);
	return id;
}

void ucma_id_destroy(struct ucma_id *id)
{
	struct ucma_owner *o = id->owner;

	while (!LIST_EMPTY(&id->mcasts))
		ucma_mcast_destroy(LIST_FIRST(&id->mcasts));
	ucma_event_drop(id, NULL);
	if (id->cm)
		core_cm_destroy(id->cm, io_clock_now());
	ucma_port_release(id);
	LIST_REMOVE(id, of_file);
	ucma_number_release(o, id->slot);
	o->memory -= id_cost();
	free(id);
	ucma_owner_put(o);
}

int ucma_create_id(struct ucma_command *c)
{
	const struct rdma_ucm_create_id *in = c->in;
	struct rdma_ucm_create_id_resp resp = {0};
	struct ucma_id *id;
	uint8_t qp_type;

	switch (in->ps) {
	case RDMA_PS_TCP:
		qp_type = QPT_RC;
		break;
	case RDMA_PS_UDP:
	case RDMA_PS_IPOIB:
		qp_type = QPT_UD;
		break;
	case RDMA_PS_IB:
		qp_type = in->qp_type;
		break;
	default:
		return io_refuse(-EINVAL, "ps 0x%x is not a port space", in->ps);
	}
	id = ucma_id_create(c->file, in->ps, qp_type);
	if (!id)
		return io_refuse(-ENOMEM, "the process has reached its share of ids or of memory "
					  "(limit client_memory)");
	id->uid = in->uid;
	resp.id = id->slot;
	ucma_respond(c, &resp, sizeof(resp));
	return 0;
}

int ucma_destroy_id(struct ucma_command *c)
{
	struct ucma_id *id = c->id;
	struct rdma_ucm_destroy_id_resp resp;

	ucma_event_promise(id);
	resp.events_reported = id->events_reported;
	ucma_id_destroy(id);
	ucma_respond(c, &resp, sizeof(resp));
	return 0;
}

int ucma_migrate_id(struct ucma_command *c)
{
	const struct rdma_ucm_migrate_id *in = c->in;
	struct ucma_file *old = c->fds->n > 1 ? ucma_file_of(c->file->ucma, c->fds->fd[1]) : NULL;
	struct ucma_id *id = old ? ucma_id_find(old, in->id) : NULL;
	struct rdma_ucm_migrate_resp resp;

	if (!id)
		return io_refuse(-ENOENT,
				 "the old event channel does not exist, or has no such id");
	c->emptied = old;
	if (old != c->file) {
		ucma_event_move(id, c->file);
		LIST_REMOVE(id, of_file);
		LIST_INSERT_HEAD(&c->file->ids, id, of_file);
		id->file = c->file;
	}
	resp.events_reported = id->events_reported;
	ucma_respond(c, &resp, sizeof(resp));
	return 0;
}

uint64_t ucma_service_id(const struct ucma_id *id, const struct ucma_addr *to)
{
	if (to->family == AF_IB)
		return to->sid;
	return (uint64_t)id->ps << 16 | to->port;
}

/* ---- options ---- */

static int wrong_length(size_t len, size_t right)
{
	return io_refuse(-EINVAL, "optlen %zu is not %zu", len, right);
}

static int set_tos(struct ucma_id *id, const void *value, size_t len)
{
	if (len != sizeof(id->tos))
		return wrong_length(len, sizeof(id->tos));
	memcpy(&id->tos, value, len);
	return 0;
}

static int set_ack_timeout(struct ucma_id *id, const void *value, size_t len)
{
	uint8_t timeout;

	if (len != sizeof(timeout))
		return wrong_length(len, sizeof(timeout));
	memcpy(&timeout, value, len);
	if (timeout > 31)
		return io_refuse(-EINVAL, "RDMA_OPTION_ID_ACK_TIMEOUT %u exceeds 31", timeout);
	if (id->qp_type != QPT_RC && id->qp_type != QPT_XRC_SEND)
		return io_refuse(-EINVAL, "RDMA_OPTION_ID_ACK_TIMEOUT needs RC or XRC");
	id->ack_timeout = timeout;
	return 0;
}

/* Until it listens an address can be said to be shared, but that is taken back only at first. */
static int set_reuse(struct ucma_id *id, bool on)
{
	if (id->state != UCMA_IDLE && (!on || id->state == UCMA_LISTENING))
		return ucma_wrong_state(id, "RDMA_OPTION_ID_REUSEADDR must be set before binding");
	id->reuse_address = on;
	return 0;
}

static int set_family_only(struct ucma_id *id, bool on)
{
	if (id->state != UCMA_IDLE && id->state != UCMA_BOUND)
		return ucma_wrong_state(id, "RDMA_OPTION_ID_AFONLY must be set before binding");
	id->family_only = on;
	id->family_set = true;
	return 0;
}

static int set_flag(struct ucma_id *id, const void *value, size_t len,
		    int (*set)(struct ucma_id *id, bool on))
{
	int number;

	if (len != sizeof(number))
		return wrong_length(len, sizeof(number));
	memcpy(&number, value, sizeof(number));
	return set(id, number != 0);
}

static int set_id_option(struct ucma_id *id, uint32_t name, const void *value, size_t len)
{
	switch (name) {
	case RDMA_OPTION_ID_TOS:
		return set_tos(id, value, len);
	case RDMA_OPTION_ID_ACK_TIMEOUT:
		return set_ack_timeout(id, value, len);
	case RDMA_OPTION_ID_REUSEADDR:
		return set_flag(id, value, len, set_reuse);
	case RDMA_OPTION_ID_AFONLY:
		return set_flag(id, value, len, set_family_only);
	default:
		return io_refuse(-ENOSYS, "optname %u of level RDMA_OPTION_ID is unknown", name);
	}
}

/* One for both directions, and for management, too: the others are for what a RoCE port has not. */
static bool has_primary(const struct ib_path_rec_data *path, size_t len)
{
	const uint32_t primary = IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL;
	struct ib_path_rec_data one;

	for (size_t i = 0; i < len / sizeof(one); i++) {
		memcpy(&one, path + i, sizeof(one));
		if (one.flags == primary)
			return true;
	}
	return false;
}

/* A path of the program's own making: it is our only one whatever else it says. */
static int set_path(struct ucma_id *id, const void *value, size_t len)
{
	if (len % sizeof(struct ib_path_rec_data) != 0)
		return wrong_length(len, sizeof(struct ib_path_rec_data));
	if (!has_primary(value, len))
		return io_refuse(-EINVAL, "RDMA_OPTION_IB_PATH has no path for both directions");
	if (id->state != UCMA_ADDR_RESOLVED)
		return ucma_wrong_state(
			id, "RDMA_OPTION_IB_PATH needs a resolved address and no route");
	if (!ucma_event_has_room(id))
		return ucma_events_wait();
	id->state = UCMA_ROUTE_RESOLVED;
	ucma_event_simple(id, 2, 0);
	return 0;
}

int ucma_set_option(struct ucma_command *c)
{
	const struct rdma_ucm_set_option *in = c->in;
	struct ucma_id *id = c->id;

	if (in->optlen != c->option_len)
		return wrong_length(in->optlen, c->option_len);
	if (in->level == RDMA_OPTION_ID)
		return set_id_option(id, in->optname, c->option, c->option_len);
	if (in->level == RDMA_OPTION_IB && in->optname == RDMA_OPTION_IB_PATH)
		return set_path(id, c->option, c->option_len);
	return io_refuse(-ENOSYS, "level %u has no optname %u", in->level, in->optname);
}
