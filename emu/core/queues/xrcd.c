/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * XRC domains: opening, closing, and the way from an SRQ number in a packet to the SRQ. The errno
 * values are those that libibverbs' users know from the kernel: EAGAIN when there is no such
 * domain and O_CREAT is missing, EINVAL when O_EXCL finds one.
 */
#include "xrcd.h"

#include "srq.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CREATE_NEW ((uint32_t)UHCA_ABI_XRCD_CREATE | UHCA_ABI_XRCD_EXCLUSIVE)

static struct xrc_domain *find_shared(const struct device *dev, const uint64_t file[2])
{
	for (struct list *l = dev->xrc_domains.next; l != &dev->xrc_domains; l = l->next) {
		struct xrc_domain *d = list_entry(l, struct xrc_domain, link);
		if (d->shared && !memcmp(d->file, file, sizeof(d->file)))
			return d;
	}
	return NULL;
}

static struct xrc_domain *domain_create(struct device *dev, const uint64_t file[2])
{
	struct xrc_domain *d = calloc(1, sizeof(*d));
	if (!d)
		return NULL;
	d->shared = file != NULL;
	if (file)
		memcpy(d->file, file, sizeof(d->file));
	list_append(&dev->xrc_domains, &d->link);
	return d;
}

static void domain_put(struct xrc_domain *d)
{
	if (d->handles)
		return;
	list_remove(&d->link);
	free(d);
}

/* Finds the domain or makes it, as the flags allow. */
static int domain_get(struct device *dev, uint32_t oflags, const uint64_t file[2],
		      struct xrc_domain **out)
{
	struct xrc_domain *d = file ? find_shared(dev, file) : NULL;
	if (d && (oflags & CREATE_NEW) == CREATE_NEW)
		return device_refuse(dev, -EINVAL,
				     "oflags has O_EXCL, but the file already has an XRC domain");
	if (!d && !(oflags & UHCA_ABI_XRCD_CREATE))
		return device_refuse(dev, -EAGAIN,
				     "oflags lacks O_CREAT, and the file has no XRC domain");
	if (!d)
		d = domain_create(dev, file);
	*out = d;
	return d ? 0 : -ENOMEM;
}

static int xrcd_create(struct client *c, struct xrc_domain *d, uint32_t *handle)
{
	struct xrcd *x = calloc(1, sizeof(*x));
	if (!x)
		return -ENOMEM;
	x->obj.client = c;
	x->domain = d;
	int err = device_add(c->dev, &c->dev->xrcds, x, &x->obj.handle);
	if (err) {
		free(x);
		return err;
	}
	d->handles++;
	*handle = x->obj.handle;
	return 0;
}

int core_open_xrcd(struct client *c, const struct uhca_cmd_open_xrcd *in, const uint64_t file[2],
		   uint32_t *handle)
{
	struct xrc_domain *d;
	if (!(c->dev->cfg.features & UHCA_ABI_HAS_XRC))
		return device_refuse(c->dev, -EOPNOTSUPP, "the device's profile has no XRC");
	if (in->oflags & ~CREATE_NEW)
		return device_refuse(
			c->dev, -EINVAL,
			"oflags has bits beyond O_CREAT and O_EXCL (in uhca's encoding: 0x%x)",
			in->oflags);
	int err = domain_get(c->dev, in->oflags, file, &d);
	if (err)
		return err;
	err = xrcd_create(c, d, handle);
	if (err)
		domain_put(d);
	return err;
}

static void xrcd_destroy(void *object)
{
	struct xrcd *x = object;

	table_remove(&x->obj.client->dev->xrcds, x->obj.handle);
	x->domain->handles--;
	domain_put(x->domain);
	free(x);
}

int core_close_xrcd(struct client *c, uint32_t handle)
{
	return client_destroy(c, &object_xrcd, handle, NULL);
}

struct srq *xrcd_find_srq(const struct device *dev, const struct xrc_domain *domain, uint32_t srqn)
{
	struct srq *srq = table_find(&dev->srqns, srqn);
	return srq && srq->xrcd->domain == domain ? srq : NULL;
}

static void describe_xrcd(const void *object, struct facts *f)
{
	const struct xrcd *x = object;
	facts_text(f, "domain", x->domain->shared ? "shared" : "private");
	if (x->domain->shared) {
		facts_hex(f, "file_device", x->domain->file[0]);
		facts_number(f, "file_inode", x->domain->file[1]);
	}
	facts_number(f, "users", x->obj.refs);
}

const struct object_type object_xrcd = {
	.type = CORE_OBJECT_XRCD,
	.name = "xrcd",
	.table = offsetof(struct device, xrcds),
	.destroy = xrcd_destroy,
	.describe = describe_xrcd,
};
