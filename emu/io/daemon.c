/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See daemon.h.
 */
#include "daemon.h"

#include "emu/abi/ucma_call.h"
#include "emu/io/base/base.h"
#include "emu/io/capture/captures.h"
#include "emu/io/fault/fault.h"
#include "emu/io/sandbox/sandbox.h"
#include "ops.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>

#define LAST_MS 1000 /* for what is still closed when the daemon ends */

/* A queue costs a mapping, a client a handful of descriptors, a flow a socket. */
static void raise_limits(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) < 0 || r.rlim_cur >= r.rlim_max)
		return;
	r.rlim_cur = r.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &r) < 0)
		io_log(IO_LOG_WARN, "cannot raise the limit of open files: %s", strerror(errno));
}

static int open_status(struct io_daemon *d)
{
	struct uhca_abi_status *s;
	int error = io_shm_create(&d->status, "uhca-status", sizeof(*s), true);

	if (error < 0)
		return error;
	s = d->status.base;
	s->region.magic = UHCA_ABI_MAGIC;
	s->region.version = UHCA_ABI_VERSION;
	s->region.kind = UHCA_ABI_REGION_STATUS;
	s->region.size = d->status.size;
	if (getrandom(&s->epoch, sizeof(s->epoch), 0) < 0)
		s->epoch = io_clock_wall();
	return 0;
}

/* ---- devices ---- */

static int same_address(const struct io_daemon *d, const struct io_identity *id)
{
	char text[IO_ADDRESS_TEXT];

	for (unsigned i = 0; i < id->addresses.count; i++) {
		const uint8_t *gid = id->addresses.a[i].gid;

		if (!io_fabric_find(&d->fabric, gid))
			continue;
		io_log(IO_LOG_ERROR, "two devices cannot both have the address %s",
		       io_address_format(gid, text));
		return -EADDRINUSE;
	}
	return 0;
}

/* Connects the boxes of a device; how it was made so far tells what it has. */
static void stack_port(struct io_daemon *d, struct io_port *p)
{
	io_pcap_box_init(&p->pcap, &d->capture, &d->teller.recorder,
			 io_capture_add_interface(&d->capture, p->dev.id.name));
	p->pcap.core = p->dev.core;
	p->dev.pcap = &p->pcap;
	p->dev.fault = &p->fault;
	p->dev.net = p->fault.net;
	p->dev.loopback = &p->loopback;
	io_loopback_init(&p->loopback, &d->fabric, &p->dev, d->settings.wire == IO_WIRE_ALWAYS);
	netif_stack(&p->dev.top, &p->fault.netif);
	netif_stack(&p->fault.netif, &p->pcap.netif);
	netif_stack(&p->pcap.netif, &p->loopback.netif);
	if (p->udp.n_sockets > 0)
		netif_stack(&p->loopback.netif, &p->udp.netif);
	p->dev.bottom = &p->loopback.netif;
}

static bool is_own(const void *fabric, const uint8_t gid[16])
{
	return io_fabric_find(fabric, gid) != NULL;
}

static void say_cannot_make(unsigned index, int error)
{
	struct rlimit limit = {0};

	if (error == -EMFILE && getrlimit(RLIMIT_NOFILE, &limit) == 0)
		io_log(IO_LOG_ERROR,
		       "cannot make device uhca%u: %s: the limit is %llu descriptors; raise it "
		       "(ulimit -n) or make fewer devices",
		       index, strerror(-error), (unsigned long long)limit.rlim_cur);
	else
		io_log(IO_LOG_ERROR, "cannot make device uhca%u: %s", index, strerror(-error));
}

static int add_port(struct io_daemon *d, struct io_port *p, unsigned index)
{
	struct io_identity id;
	int error = io_identity_of(&d->settings, index, &id);

	if (error == 0)
		error = same_address(d, &id);
	if (error < 0)
		return error;
	error = io_udp_open(&p->udp, d->loop, &d->settings, &id);
	if (error < 0)
		return error;
	error = io_device_create(&p->dev, io_core_ops(), &d->settings, &id, io_udp_window(&p->udp));
	if (error < 0)
		goto close_udp;
	p->dev.faults = &d->faults;
	error = io_fault_box_init(&p->fault, &d->faults, &p->dev);
	if (error < 0)
		goto destroy_device;
	stack_port(d, p);
	error = io_fabric_add(&d->fabric, &p->dev);
	if (error < 0)
		goto destroy_device;
	io_udp_attach(&p->udp, &p->dev.blocked);
	io_udp_know_own(&p->udp, is_own, &d->fabric);
	p->dev.udp = p->udp.n_sockets > 0 ? &p->udp : NULL;
	error = io_sysfs_add(d->instance.dir, &p->dev.id);
	if (error == 0)
		error = io_counter_files_open(&p->counters, d->instance.dir, &p->dev);
	if (error < 0)
		goto destroy_device;
	d->devices.at[d->devices.n++] = &p->dev;
	io_teller_hooks(&d->teller);
	return 0;
destroy_device:
	io_fault_box_destroy(&p->fault);
	io_device_destroy(&p->dev);
close_udp:
	io_udp_close(&p->udp);
	say_cannot_make(index, error);
	return error;
}

static int open_ports(struct io_daemon *d)
{
	int error = io_sysfs_create(d->instance.dir, d->settings.devices);

	if (error < 0) {
		io_log(IO_LOG_ERROR, "cannot make files in %s: %s", d->instance.dir,
		       strerror(-error));
		return error;
	}
	d->ports = calloc(d->settings.devices, sizeof(*d->ports));
	if (!d->ports)
		return -ENOMEM;
	for (unsigned i = 0; i < d->settings.devices && error == 0; i++)
		error = add_port(d, &d->ports[i], i);
	if (error < 0)
		return error;
	d->devices.cap = d->ports[0].dev.config.train_bytes;
	d->devices.buf = aligned_alloc(4096, (d->devices.cap + 4095) & ~(size_t)4095);
	return d->devices.buf ? 0 : -ENOMEM;
}

static void close_ports(struct io_daemon *d)
{
	for (unsigned i = 0; i < d->devices.n; i++) {
		io_counter_files_close(&d->ports[i].counters);
		io_udp_close(&d->ports[i].udp);
		io_fault_box_destroy(&d->ports[i].fault);
		io_device_destroy(&d->ports[i].dev);
	}
	io_fabric_destroy(&d->fabric);
	free(d->ports);
	free(d->devices.buf);
}

/* ---- clients ---- */

unsigned io_daemon_fatal(struct io_daemon *d, const struct io_device *dev)
{
	struct io_words w;
	unsigned n;

	io_log(IO_LOG_WARN, "%s: fatal error, as ordered", dev->id.name);
	io_ucma_remove_device(&d->ucma, dev);
	n = io_clients_remove_of(&d->clients, dev);
	io_tell_fatal(&w, dev->id.name, n);
	io_teller_say(&d->teller, dev->id.name, &w);
	return n;
}

static int open_clients(struct io_daemon *d)
{
	d->clients = (struct io_clients){.loop = d->loop,
					 .watches = &d->shared,
					 .linger = &d->linger,
					 .devices = &d->devices,
					 .teller = &d->teller,
					 .mem = d->settings.mem,
					 .adopt = d->settings.adopt,
					 .status_fd = d->status.fd,
					 .ops = &io_fault_clients_ops,
					 .user = &d->faults};
	return io_clients_open(&d->clients);
}

/* ---- faults ---- */

static unsigned fatal(void *daemon, const struct io_device *dev)
{
	return io_daemon_fatal(daemon, dev);
}

static int create_faults(struct io_daemon *d)
{
	const struct io_faults_env env = {.settings = &d->settings,
					  .devices = &d->devices,
					  .teller = &d->teller,
					  .status = d->status.base,
					  .dir = d->instance.dir,
					  .fatal = fatal,
					  .user = d};

	return io_faults_create(&d->faults, &env);
}

/* ---- what time brings ---- */

static void on_counters(struct ev_loop *loop, ev_timer *w, int revents)
{
	struct io_daemon *d = w->data;
	static struct io_log_limit limit;
	uint32_t held;

	(void)loop;
	(void)revents;
	for (unsigned i = 0; i < d->devices.n; i++) {
		int error = io_counter_files_update(&d->ports[i].counters);

		if (error < 0 && io_log_limit(&limit, 1, io_clock_now(), &held))
			io_log(IO_LOG_WARN, "%s: counter files: %s (%u more)",
			       d->ports[i].dev.id.name, strerror(-error), held);
	}
}

static void on_linger(struct io_linger *l)
{
	struct io_daemon *d = (struct io_daemon *)((char *)l - offsetof(struct io_daemon, linger));

	io_log(IO_LOG_INFO, "nobody has been here for %u s, leaving", l->seconds);
	d->stop = true;
}

static void on_signal(struct ev_loop *loop, ev_signal *w, int revents)
{
	struct io_daemon *d = w->data;

	(void)loop;
	(void)revents;
	io_log(IO_LOG_INFO, "signal %d, leaving", w->signum);
	d->stop = true;
}

static int open_loop(struct io_daemon *d)
{
	d->loop = ev_loop_new(EVBACKEND_EPOLL | EVFLAG_NOENV);
	if (!d->loop)
		return -ENOMEM;
	io_linger_init(&d->linger, d->loop, d->settings.linger, on_linger);
	ev_timer_init(&d->counters, on_counters, 1, 0);
	ev_signal_init(&d->terminate, on_signal, SIGTERM);
	ev_signal_init(&d->interrupt, on_signal, SIGINT);
	d->counters.data = d->terminate.data = d->interrupt.data = d;
	ev_signal_start(d->loop, &d->terminate);
	ev_signal_start(d->loop, &d->interrupt);
	return io_watches_open(&d->shared, d->loop);
}

/* ---- all of it ---- */

static int open_ctl(struct io_daemon *d, const char *path)
{
	d->ctl.loop = d->loop;
	d->ctl.linger = &d->linger;
	d->ctl.house = (struct io_house){.devices = &d->devices,
					 .teller = &d->teller,
					 .clients = &d->clients,
					 .faults = &d->faults,
					 .ucma = &d->ucma};
	return io_ctl_open(&d->ctl, path);
}

static int open_ucma(struct io_daemon *d, const char *path)
{
	const struct io_ucma_env env = {.loop = d->loop,
					.linger = &d->linger,
					.devices = &d->devices,
					.fabric = &d->fabric,
					.clients = &d->clients,
					.faults = &d->faults};

	return io_ucma_open(&d->ucma, &env, path);
}

static int open_sockets(struct io_daemon *d)
{
	char path[PATH_MAX];
	int error = open_clients(d);

	if (error < 0)
		return error;
	d->clients_at.accept = io_clients_add;
	d->clients_at.arg = &d->clients;
	io_instance_file(&d->instance, "sock", path);
	error = io_listener_open(&d->clients_at, d->loop, path, SOCK_SEQPACKET);
	if (error == 0) {
		io_instance_file(&d->instance, "ctl", path);
		error = open_ctl(d, path);
	}
	if (error == 0) {
		io_instance_file(&d->instance, UHCA_UCMA_SOCKET, path);
		error = open_ucma(d, path);
	}
	if (error < 0)
		io_log(IO_LOG_ERROR, "cannot listen on %s: %s", path, strerror(-error));
	return error;
}

int io_daemon_create(struct io_daemon *d, const struct io_settings *settings,
		     const struct io_instance *instance)
{
	int error;

	memset(d, 0, sizeof(*d));
	d->settings = *settings;
	d->instance = *instance;
	d->clients_at.fd = d->ctl.listener.fd = d->ucma.listener.fd = d->status.fd = d->shared.fd =
		-1;
	io_capture_init(&d->capture);
	io_teller_create(&d->teller, &d->capture, &d->devices, d->settings.on_error);
	raise_limits();
	error = open_loop(d);
	if (error == 0)
		error = open_status(d);
	if (error == 0)
		error = create_faults(d);
	if (error == 0)
		error = open_ports(d);
	if (error == 0)
		error = io_faults_start(&d->faults);
	if (error == 0)
		error = open_sockets(d);
	if (error < 0) {
		io_daemon_destroy(d);
		return error;
	}
	io_linger_start(&d->linger);
	return 0;
}

void io_daemon_confine(struct io_daemon *d)
{
	io_sandbox_enter(d->loop, !d->settings.no_sandbox);
}

static void close_loop(struct io_daemon *d)
{
	io_sandbox_leave(d->loop);
	io_linger_stop(&d->linger);
	ev_timer_stop(d->loop, &d->counters);
	ev_signal_stop(d->loop, &d->terminate);
	ev_signal_stop(d->loop, &d->interrupt);
	io_watches_close(&d->shared);
	ev_loop_destroy(d->loop);
	d->loop = NULL;
}

void io_daemon_destroy(struct io_daemon *d)
{
	io_ctl_close(&d->ctl);
	io_listener_close(&d->clients_at);
	io_ucma_close(&d->ucma);
	io_clients_close(&d->clients);
	io_teller_destroy(&d->teller);
	close_ports(d);
	io_faults_destroy(&d->faults);
	io_shm_destroy(&d->status);
	io_instance_close(&d->instance);
	if (d->loop)
		close_loop(d);
	io_undertaker_end(LAST_MS);
}
