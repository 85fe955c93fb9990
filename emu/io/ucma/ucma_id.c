/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ids of the rdma_cm device: their numbers, their life, their options, and how they move between
 * opens of the device. Numbers are the smallest free ones, as the kernel's, since librdmacm keeps
 * a table by them.
 */
#include "ucma_file.h"

#include "emu/io/base/base.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define QPT_RC       2
#define QPT_UD       4
#define QPT_XRC_SEND 9

/* ---- numbers ---- */

static int grow(struct io_ucma *u)
{
	uint32_t n = u->n_slots ? 2 * u->n_slots : 64;
	void **slot = realloc(u->slot, n * sizeof(*slot));

	if (!slot)
		return -ENOMEM;
	memset(slot + u->n_slots, 0, (n - u->n_slots) * sizeof(*slot));
	u->slot = slot;
	u->n_slots = n;
	return 0;
}

int ucma_slot_take(struct io_ucma *u, void *object, uint32_t *slot)
{
	uint32_t i = u->first_free;

	while (i < u->n_slots && u->slot[i])
		i++;
	u->first_free = i;
	if (i == u->n_slots && grow(u) < 0)
		return -ENOMEM;
	u->slot[i] = object;
	u->first_free = i + 1;
	*slot = i;
	return 0;
}

void ucma_slot_release(struct io_ucma *u, uint32_t slot)
{
	u->slot[slot] = NULL;
	if (slot < u->first_free)
		u->first_free = slot;
}

struct ucma_id *ucma_id_find(const struct ucma_file *f, uint32_t slot)
{
	const struct io_ucma *u = f->ucma;
	struct ucma_id *id = slot < u->n_slots ? u->slot[slot] : NULL;

	return id && !id->is_mcast && id->file == f ? id : NULL;
}

/* ---- life ---- */

struct ucma_id *ucma_id_create(struct ucma_file *f, uint16_t ps, uint8_t qp_type)
{
	struct ucma_id *id = calloc(1, sizeof(*id));

	if (!id)
		return NULL;
	if (ucma_slot_take(f->ucma, id, &id->slot) < 0) {
		free(id);
		return NULL;
	}
	id->file = f;
	id->ps = ps;
	id->qp_type = qp_type;
	LIST_INSERT_HEAD(&f->ids, id, of_file);
	return id;
}

void ucma_id_destroy(struct ucma_id *id)
{
	struct ucma_mcast *m, *next;

	for (m = LIST_FIRST(&id->file->mcasts); m; m = next) {
		next = LIST_NEXT(m, of_file);
		if (m->id == id)
			ucma_mcast_destroy(m);
	}
	ucma_event_drop(id, NULL);
	if (id->cm)
		core_cm_destroy(id->cm, io_clock_now());
	ucma_port_release(id);
	LIST_REMOVE(id, of_file);
	ucma_slot_release(id->file->ucma, id->slot);
	free(id);
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
		return -EINVAL;
	}
	id = ucma_id_create(c->file, in->ps, qp_type);
	if (!id)
		return -ENOMEM;
	id->uid = in->uid;
	resp.id = id->slot;
	ucma_respond(c, &resp, sizeof(resp));
	return 0;
}

int ucma_destroy_id(struct ucma_command *c)
{
	const struct rdma_ucm_destroy_id *in = c->in;
	struct ucma_id *id = ucma_id_find(c->file, in->id);
	struct rdma_ucm_destroy_id_resp resp;

	if (!id)
		return -ENOENT;
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
	struct ucma_mcast *m, *next;

	if (!id)
		return -ENOENT;
	c->emptied = old;
	if (old != c->file) {
		ucma_event_move(id, c->file);
		for (m = LIST_FIRST(&old->mcasts); m; m = next) {
			next = LIST_NEXT(m, of_file);
			if (m->id != id)
				continue;
			LIST_REMOVE(m, of_file);
			LIST_INSERT_HEAD(&c->file->mcasts, m, of_file);
		}
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

static int set_tos(struct ucma_id *id, const void *value, size_t len)
{
	if (len != sizeof(id->tos))
		return -EINVAL;
	memcpy(&id->tos, value, len);
	return 0;
}

static int set_ack_timeout(struct ucma_id *id, const void *value, size_t len)
{
	uint8_t timeout;

	if (len != sizeof(timeout))
		return -EINVAL;
	memcpy(&timeout, value, len);
	if (timeout > 31 || (id->qp_type != QPT_RC && id->qp_type != QPT_XRC_SEND))
		return -EINVAL;
	id->ack_timeout = timeout;
	return 0;
}

/* Until it listens an address can be said to be shared, but that is taken back only at first. */
static int set_reuse(struct ucma_id *id, bool on)
{
	if (id->state != UCMA_IDLE && (!on || id->state == UCMA_LISTENING))
		return -EINVAL;
	id->reuse_address = on;
	return 0;
}

static int set_family_only(struct ucma_id *id, bool on)
{
	if (id->state != UCMA_IDLE && id->state != UCMA_BOUND)
		return -EINVAL;
	id->family_only = on;
	id->family_told = true;
	return 0;
}

static int set_flag(struct ucma_id *id, const void *value, size_t len,
		    int (*set)(struct ucma_id *id, bool on))
{
	int number;

	if (len != sizeof(number))
		return -EINVAL;
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
		return -ENOSYS;
	}
}

/* A path of the program's own making: it is our only one whatever it says. */
static int set_path(struct ucma_id *id, size_t len)
{
	if (len == 0 || len % sizeof(struct ib_path_rec_data) != 0)
		return -EINVAL;
	if (id->state != UCMA_ADDR_RESOLVED)
		return -EINVAL;
	id->state = UCMA_ROUTE_RESOLVED;
	ucma_event_simple(id, 2, 0);
	return 0;
}

int ucma_set_option(struct ucma_command *c)
{
	const struct rdma_ucm_set_option *in = c->in;
	struct ucma_id *id = ucma_id_find(c->file, in->id);

	if (!id)
		return -ENOENT;
	if (in->optlen != c->option_len)
		return -EINVAL;
	if (in->level == RDMA_OPTION_ID)
		return set_id_option(id, in->optname, c->option, c->option_len);
	if (in->level == RDMA_OPTION_IB && in->optname == RDMA_OPTION_IB_PATH)
		return set_path(id, c->option_len);
	return -ENOSYS;
}
