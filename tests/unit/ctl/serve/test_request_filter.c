/* SPDX-License-Identifier: BSD-2-Clause */
/* Which requests to the server of the page are refused, and which statements a scenario takes. */
#include "emu/ctl/serve/acts.h"
#include "emu/ctl/serve/request_filter.h"
#include "tests/support/wire/cmocka_all.h"

#include <string.h>

static const struct request_filter ours = {.token = "0123456789abcdef", .port = 8080};

static const struct request_headers right = {.api = true,
					     .hosts = 1,
					     .host = "127.0.0.1:8080",
					     .authorization = "Bearer 0123456789abcdef"};

enum field { NONE, HOSTS, HOST, ORIGIN, SITE, TOKEN, TYPE };

/* The right request with another field; TYPE: of a POST. */
static struct request_headers with(enum field field, const char *value)
{
	struct request_headers r = right;

	if (field == HOSTS)
		r.hosts = (unsigned)(value[0] - '0');
	else if (field == HOST)
		r.host = value;
	else if (field == ORIGIN)
		r.origin = value;
	else if (field == SITE)
		r.fetch_site = value;
	else if (field == TOKEN)
		r.authorization = value;
	else if (field == TYPE)
		r.content_type = value;
	r.posts = field == TYPE;
	return r;
}

static const struct {
	unsigned status;
	enum field field;
	const char *value;
} requests[] = {
	{0, NONE, NULL},
	{0, HOST, "localhost:8080"},
	{400, HOSTS, "2"},
	{400, HOSTS, "0"},
	{400, HOST, NULL},
	{400, HOST, ""},
	{421, HOST, "127.0.0.1"},
	{421, HOST, "127.0.0.1:80800"},
	{421, HOST, "127.0.0.1:8080x"},
	{421, HOST, "127.0.0.1: 8080"},
	{421, HOST, "127.0.0.1.evil.example:8080"},
	{421, HOST, "192.0.2.1:8080"},
	{421, HOST, "[::1]:8080"},
	{403, ORIGIN, "http://evil.example"},
	{403, ORIGIN, "http://127.0.0.1:80808"},
	{403, ORIGIN, "https://127.0.0.1:8080"},
	{403, ORIGIN, ""},
	{0, ORIGIN, "http://127.0.0.1:8080"},
	{403, SITE, "same-site"},
	{0, SITE, "same-origin"},
	{401, TOKEN, NULL},
	{401, TOKEN, "Bearer 0123456789abcdeF"},
	{401, TOKEN, "Bearer 0123456789abcdef0"},
	{401, TOKEN, "bearer 0123456789abcdef"},
	{415, TYPE, NULL},
	{415, TYPE, "application/jsonx"},
	{0, TYPE, "application/json; charset=utf-8"},
};

static void test_requests(void **state)
{
	const struct request_headers page = {.hosts = 1, .host = "localhost:8080"};
	const char *why;

	(void)state;
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		const struct request_headers r = with(requests[i].field, requests[i].value);
		unsigned status = request_filter_judge(&ours, &r, &why);

		if (status != requests[i].status)
			fail_msg("request %zu: %u, not %u", i, status, requests[i].status);
		assert_true((why == NULL) == (status == 0));
	}
	assert_int_equal(request_filter_judge(&ours, &page, &why),
			 0); /* the page itself has no token */
}

static unsigned judge_host(const struct request_filter *g, const char *host)
{
	const struct request_headers r = with(HOST, host);
	const char *why;

	return request_filter_judge(g, &r, &why);
}

static void test_places(void **state)
{
	struct request_filter beyond = ours, at_path = ours;

	(void)state;
	beyond.beyond = true;
	assert_int_equal(judge_host(&beyond, "192.0.2.1:8080"), 0);
	assert_int_equal(judge_host(&beyond, "[2001:db8::1]:8080"), 0);
	assert_int_equal(judge_host(&beyond, "evil.example:8080"), 421); /* may lead anywhere */
	at_path.port = 0;
	assert_int_equal(judge_host(&at_path, "localhost:1234"), 0);
	assert_int_equal(judge_host(&at_path, "localhost"), 0);
	assert_int_equal(judge_host(&at_path, "evil.example"), 421);
}

static void test_tokens(void **state)
{
	struct request_filter a, b;

	(void)state;
	assert_int_equal(request_filter_begin(&a), 0);
	assert_int_equal(request_filter_begin(&b), 0);
	assert_int_equal(strlen(a.token), 64);
	assert_string_not_equal(a.token, b.token);
}

static void test_statements(void **state)
{
	struct acts a = {.n = 0};

	(void)state;
	assert_null(acts_note(&a, "fault one: drop nth=1"));
	assert_null(acts_note(&a, "uhcactl port down uhca0"));
	assert_null(acts_note(&a, "fault two: dup"));
	assert_null(acts_note(&a, "fault one: drop nth=2"));
	assert_int_equal(a.n, 3);
	assert_string_equal(a.line[0], "fault one: drop nth=2");
	assert_non_null(acts_note(&a, "run one: rm"));
	assert_non_null(acts_note(&a, "fault x: drop\nrun one: rm"));
	assert_non_null(acts_note(&a, "fault drop"));
	assert_null(acts_note(&a, "forget none"));
	assert_null(acts_note(&a, "forget one"));
	assert_int_equal(a.n, 2);
	assert_string_equal(a.line[0], "uhcactl port down uhca0");
	for (unsigned i = 0; i < 2 * ACTS_MAX; i++)
		assert_null(acts_note(&a, "# again"));
	assert_int_equal(a.n, ACTS_MAX);
	acts_end(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_requests),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_tokens),
		cmocka_unit_test(test_statements),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
