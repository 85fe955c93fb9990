/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From addresses to devices: bind, resolve_addr, resolve_route. A RoCE device has the addresses
 * of its interface, and a GID is the address, so there is nobody to ask: the answer is there at
 * once, and comes as an event all the same.
 */
#include "ucma_file.h"

#include "emu/io/base/base.h"
#include "emu/io/port/port.h"

#include <errno.h>
#include <string.h>

#define ADDR_RESOLVED  0
#define ADDR_ERROR     1
#define ROUTE_RESOLVED 2
#define ROUTE_ERROR    3

static const struct io_ucma_env *env_of(const struct ucma_id *id)
{
	return &id->file->ucma->env;
}

/* It is not unplugged, and the address has not left its GID table. */
static bool has_address(const struct io_device *dev, const uint8_t gid[16])
{
	return !dev->away && core_gid_index(dev->core, gid) >= 0;
}

static struct io_device *device_with(const struct io_ucma_env *env, const uint8_t gid[16])
{
	struct io_device *dev = io_fabric_find(env->fabric, gid);

	return dev && has_address(dev, gid) ? dev : NULL;
}

static void attach(struct ucma_id *id, struct io_device *dev, const uint8_t gid[16])
{
	id->dev = dev;
	memcpy(id->local_gid, gid, 16);
}

/* The first address of a device, of this family if it has one. */
static void first_address(const struct io_device *dev, bool v4, uint8_t gid[16])
{
	const struct io_address_list *own = &dev->id.addresses;

	memcpy(gid, own->a[0].gid, 16);
	for (unsigned i = own->count; i-- > 0;)
		if (roce_addr_is_v4(own->a[i].gid) == v4 && has_address(dev, own->a[i].gid))
			memcpy(gid, own->a[i].gid, 16);
}

/* Does an id of this daemon listen for what this one connects to, on this device? */
static bool is_listened_to(const struct ucma_id *id, const struct io_device *dev,
			   const uint8_t gid[16])
{
	uint64_t service = ucma_service_id(id, &id->dst);

	return ucma_port_find_listener(id->file->ucma, service, gid, dev) != NULL;
}

/*
 * The device that has the destination, and the address. 127.0.0.1 and ::1 are this host to every
 * program, whatever addresses the instance got: when no device has them they mean the first one,
 * unless another daemon of the host has them and nobody listens here.
 */
static struct io_device *owner_of_destination(const struct ucma_id *id, uint8_t gid[16])
{
	const struct io_ucma_env *env = env_of(id);
	struct io_device *dev = device_with(env, id->dst.gid);

	memcpy(gid, id->dst.gid, 16);
	if (dev || !ucma_addr_is_localhost(&id->dst) || env->devices->n == 0)
		return dev;
	dev = env->devices->at[0];
	first_address(dev, roce_addr_is_v4(id->dst.gid), gid);
	if (is_listened_to(id, dev, gid) || !ucma_addr_has_device(&id->dst))
		return dev;
	memcpy(gid, id->dst.gid, 16);
	return NULL;
}

/* IP over InfiniBand is nothing for Ethernet: the kernel finds it out when it has the device. */
static bool is_ipoib(const struct ucma_id *id)
{
	return id->ps == RDMA_PS_IPOIB;
}

/* The call fails with ENODEV. */
static void say_no_device(const char *call, const struct ucma_addr *a)
{
	static struct io_log_limit limit;
	char text[IO_ADDRESS_TEXT];
	uint32_t held;

	if (io_log_limit(&limit, 3, io_clock_now(), &held))
		io_log(IO_LOG_WARN,
		       "%s: no device has or can reach %s; give one an interface's addresses with "
		       "uhca-run --netdev (%u more)",
		       call, io_address_format(a->gid, text), held);
}

static int refuse_address(int error, const struct ucma_addr *a, const char *words)
{
	char text[IO_ADDRESS_TEXT];

	io_address_format(a->gid, text);
	return io_refuse(error, "%s %s", words, text);
}

static int no_address(const char *which)
{
	return io_refuse(-EINVAL, "%s is not a complete address of AF_INET, AF_INET6 or AF_IB",
			 which);
}

/*
 * localhost, where no device has it, is bound as the kernel does: any device's requests come, and
 * the id has none. libfabric asks for it to find that it has no address yet.
 */
static int bind_address(struct ucma_id *id, const struct ucma_addr *a)
{
	struct ucma_addr before = id->src;
	struct io_device *dev = device_with(env_of(id), a->gid);
	int error;

	if (dev && !ucma_may_use(id->file, dev))
		dev = NULL;

	if (id->state != UCMA_IDLE)
		return ucma_wrong_state(id, "rdma_bind_addr needs an unbound id");
	if (!ucma_addr_is_any(a) && !ucma_addr_is_localhost(a) && !dev) {
		say_no_device("rdma_bind_addr", a);
		return ucma_addr_is_of_host(a)
			       ? refuse_address(-ENODEV, a, "no device has")
			       : refuse_address(-EADDRNOTAVAIL, a, "the host has no address");
	}
	if (dev && is_ipoib(id))
		return io_refuse(
			-EINVAL,
			"ps RDMA_PS_IPOIB needs an InfiniBand port; this port is Ethernet");
	id->src = *a;
	if (dev)
		attach(id, dev, a->gid);
	error = ucma_port_bind(id);
	if (error < 0) {
		id->src = before;
		id->dev = NULL;
		return error;
	}
	id->state = UCMA_BOUND;
	return 0;
}

int ucma_bind_ip(struct ucma_command *c)
{
	const struct rdma_ucm_bind_ip *in = c->in;
	struct ucma_id *id = c->id;
	struct ucma_addr a;

	if (ucma_addr_parse(&in->addr, sizeof(in->addr), &a) < 0)
		return no_address("addr");
	return bind_address(id, &a);
}

int ucma_bind(struct ucma_command *c)
{
	const struct rdma_ucm_bind *in = c->in;
	struct ucma_id *id = c->id;
	struct ucma_addr a;

	if (ucma_addr_parse_sized(&in->addr, sizeof(in->addr), in->addr_size, &a) < 0)
		return no_address("addr");
	return bind_address(id, &a);
}

/* ---- resolve_addr ---- */

/* Are both in the subnet of the address, as far as it is known? */
static bool shares_subnet(const struct io_address *a, const uint8_t gid[16])
{
	unsigned bytes = a->subnet / 8, bits = a->subnet % 8;

	return a->subnet > 0 && memcmp(a->gid, gid, bytes) == 0 &&
	       (bits == 0 || ((a->gid[bytes] ^ gid[bytes]) & 0xff00 >> bits & 0xff) == 0);
}

/* A device that this id may use, with an address in the destination's subnet. */
static struct io_device *neighbour(const struct ucma_id *id, uint8_t gid[16])
{
	const struct io_ucma_env *env = env_of(id);

	for (unsigned i = 0; i < env->devices->n; i++) {
		struct io_device *dev = env->devices->at[i];

		for (unsigned k = 0; k < dev->id.addresses.count; k++) {
			const struct io_address *a = &dev->id.addresses.a[k];

			if (!ucma_may_use(id->file, dev) || !shares_subnet(a, id->dst.gid))
				continue;
			memcpy(gid, a->gid, 16);
			return dev;
		}
	}
	return NULL;
}

/* The first address of the same family that any device has. */
static struct io_device *any_device(const struct ucma_id *id, bool v4, uint8_t gid[16])
{
	const struct io_ucma_env *env = env_of(id);

	for (unsigned i = 0; i < env->devices->n; i++) {
		struct io_device *dev = env->devices->at[i];

		if ((id->dev && id->dev != dev) || !ucma_may_use(id->file, dev))
			continue;
		for (unsigned k = 0; k < dev->id.addresses.count; k++)
			if (roce_addr_is_v4(dev->id.addresses.a[k].gid) == v4 &&
			    has_address(dev, dev->id.addresses.a[k].gid)) {
				memcpy(gid, dev->id.addresses.a[k].gid, 16);
				return dev;
			}
	}
	return NULL;
}

/*
 * Which device, which of its addresses: the one that the host itself would send from; else the
 * one that has the destination; else any that speaks the family.
 */
static struct io_device *choose_device(const struct ucma_id *id, uint8_t gid[16])
{
	const struct io_ucma_env *env = env_of(id);
	struct io_device *dev = NULL;

	if (ucma_addr_source_for(&id->dst, gid) == 0)
		dev = device_with(env, gid);
	if (!dev || !ucma_may_use(id->file, dev))
		dev = owner_of_destination(id, gid);
	if (!dev || !ucma_may_use(id->file, dev))
		dev = neighbour(id, gid);
	return dev ? dev : any_device(id, roce_addr_is_v4(id->dst.gid), gid);
}

void ucma_find_peer(struct ucma_id *id)
{
	if (ucma_addr_is_any(&id->dst))
		memcpy(id->dst.gid, id->local_gid, 16);
	owner_of_destination(id, id->remote_gid);
}

/* As the kernel has it: there is no way to there at all, or it leads by no device. */
static int no_route(const struct ucma_id *id)
{
	uint8_t gid[16];

	say_no_device("rdma_resolve_addr", &id->dst);
	return ucma_addr_source_for(&id->dst, gid) == -ENETUNREACH ? -ENETUNREACH
								   : -ENODEV; /* of an event */
}

static int find_route(struct ucma_id *id)
{
	bool any = ucma_addr_is_any(&id->dst);
	struct io_device *dev = id->dev;
	uint8_t gid[16];

	memcpy(gid, id->local_gid, 16);
	if (!dev)
		dev = any ? any_device(id, roce_addr_is_v4(id->dst.gid), gid)
			  : choose_device(id, gid);
	if (!dev || (!any && !io_fabric_find(env_of(id)->fabric, id->dst.gid) &&
		     !ucma_addr_is_reached(&id->dst, gid)))
		return no_route(id);
	if (is_ipoib(id))
		return io_refuse(
			-EINVAL,
			"ps RDMA_PS_IPOIB needs an InfiniBand port; this port is Ethernet");
	if (!id->dev) {
		attach(id, dev, gid);
		memcpy(id->src.gid, gid, 16);
	}
	ucma_find_peer(id);
	return 0;
}

static int bind_source(struct ucma_id *id, const struct ucma_addr *src)
{
	struct ucma_addr any = {.family = id->dst.family};

	if (id->state != UCMA_IDLE)
		return 0;
	if (src->family)
		return bind_address(id, src);
	if (any.family == AF_INET)
		memset(any.gid + 10, 0xff, 2);
	return bind_address(id, &any);
}

/* late_error: what is to be found on the way; 0: nothing. */
static int resolve(struct ucma_id *id, const struct ucma_addr *src, const struct ucma_addr *dst,
		   int late_error)
{
	int error;

	if (id->state != UCMA_IDLE && id->state != UCMA_BOUND)
		return ucma_wrong_state(id, "rdma_resolve_addr needs an unresolved id");
	if (!ucma_event_has_room(id))
		return ucma_events_wait();
	id->dst = *dst;
	error = bind_source(id, src);
	if (error == 0 && id->src.family != dst->family)
		error = io_refuse(-EINVAL, "dst_addr has family %u, the id's address has family %u",
				  dst->family,
				  id->src.family); /* and bound it stays (resolve_prepare_src of the
						      kernel) */
	if (error < 0) {
		id->dst = (struct ucma_addr){0};
		return error;
	}
	error = late_error ? -late_error : find_route(id);
	if (error == -ENETUNREACH && !late_error)
		return refuse_address(error, dst, "no route to"); /* nobody needs to be asked: the
								     others come as an event */
	if (error == 0)
		id->state = UCMA_ADDR_RESOLVED;
	ucma_event_simple(id, error ? ADDR_ERROR : ADDR_RESOLVED, error);
	return 0;
}

int ucma_resolve_ip(struct ucma_command *c)
{
	const struct rdma_ucm_resolve_ip *in = c->in;
	struct ucma_id *id = c->id;
	struct ucma_addr src = {0};
	struct ucma_addr dst;

	if (in->src_addr.sin6_family &&
	    ucma_addr_parse(&in->src_addr, sizeof(in->src_addr), &src) < 0)
		return no_address("src_addr");
	if (ucma_addr_parse(&in->dst_addr, sizeof(in->dst_addr), &dst) < 0)
		return no_address("dst_addr");
	return resolve(id, &src, &dst, c->late_error);
}

int ucma_resolve_addr(struct ucma_command *c)
{
	const struct rdma_ucm_resolve_addr *in = c->in;
	struct ucma_id *id = c->id;
	struct ucma_addr src = {0};
	struct ucma_addr dst;

	if (in->reserved)
		return -EINVAL; /* no library of ours */
	if (in->src_size &&
	    ucma_addr_parse_sized(&in->src_addr, sizeof(in->src_addr), in->src_size, &src) < 0)
		return no_address("src_addr");
	if (ucma_addr_parse_sized(&in->dst_addr, sizeof(in->dst_addr), in->dst_size, &dst) < 0)
		return no_address("dst_addr");
	return resolve(id, &src, &dst, c->late_error);
}

int ucma_resolve_route(struct ucma_command *c)
{
	struct ucma_id *id = c->id;

	if (id->state != UCMA_ADDR_RESOLVED)
		return ucma_wrong_state(id,
					"rdma_resolve_route needs a resolved address and no route");
	if (!ucma_event_has_room(id))
		return ucma_events_wait();
	if (c->late_error) {
		ucma_event_simple(id, ROUTE_ERROR, -c->late_error);
		return 0;
	}
	id->state = UCMA_ROUTE_RESOLVED;
	ucma_event_simple(id, ROUTE_RESOLVED, 0);
	return 0;
}

/* What a subnet administrator knows of a service: RoCE has none, and the kernel says so there. */
int ucma_resolve_ib_service(struct ucma_command *c)
{
	const struct ucma_id *id = c->id;

	if (id->dev && id->state == UCMA_BOUND)
		return io_refuse(-EOPNOTSUPP,
				 "RoCE has no subnet administrator to ask for services");
	return ucma_wrong_state(id, "a service lookup needs an id that is bound to a device");
}
