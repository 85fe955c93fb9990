/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests about fault rules: what each does and answers, that what is wrong is told with its
 * place and changes nothing, and the trace in pieces.
 */
#include "emu/abi/ctl.h"
#include "emu/io/base/clock.h"
#include "emu/io/base/log.h"
#include "emu/io/ctl/ctl_handler.h"
#include "emu/io/ctl/ctl_request.h"
#include "tests/support/io/io_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct io_test_daemon t;

static int setup(void **state)
{
	struct io_settings s;

	(void)state;
	io_log_echo_errors(false);
	assert_int_equal(io_log_open(IO_LOG_ERROR, IO_LOG_FILE, "/dev/null"), 0);
	io_test_settings(&s, 1);
	s.has_fault_seed = true;
	s.fault_seed = UINT64_MAX;
	io_test_daemon_start(&t, &s);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	io_test_daemon_stop(&t);
	io_log_close();
	return 0;
}

/* Members of a fault request, single quotes for double ones; the whole reply is as expected. */
static void expect(const char *members, const char *reply)
{
	char request[2048];
	char *line;

	snprintf(request, sizeof(request), "{'cmd':'fault',%s}", members);
	for (char *p = request; (p = strchr(p, '\'')); p++)
		*p = '"';
	line = io_ctl_request(&t.d.ctl.services, request, strlen(request));
	assert_non_null(line);
	for (char *p = line; (p = strchr(p, '"')); p++)
		*p = '\'';
	assert_string_equal(line, reply);
	free(line);
}

static void refused(const char *members, const char *error)
{
	char reply[1200];

	snprintf(reply, sizeof(reply), "{'ok':false,'error':'%s'}\n", error);
	expect(members, reply);
}

static void test_life_of_a_rule(void **state)
{
	(void)state;
	expect("'action':'list'",
	       "{'ok':true,'result':{'seed':'18446744073709551615','rules':[]}}\n");
	expect("'action':'add','text':'lost: drop nth=3'", "{'ok':true,'result':{'rule':1}}\n");
	expect("'action':'add','text':'drop p=0.5'", "{'ok':true,'result':{'rule':2}}\n");
	assert_true(t.d.ports[0].fault.active);
	expect("'action':'list'",
	       "{'ok':true,'result':{'seed':'18446744073709551615','rules':["
	       "{'rule':1,'name':'lost','text':'lost: drop nth=3','layer':'packet',"
	       "'random':false,'matched':0,'hits':0,'looked':0,'seen':0,"
	       "'words':[{'name':'dir','matched':0}]},"
	       "{'rule':2,'name':'','text':'drop p=0.5','layer':'packet','random':true,"
	       "'matched':0,'hits':0,'looked':0,'seen':0,"
	       "'words':[{'name':'dir','matched':0}]}]}}\n");
	expect("'action':'change','rule':'lost','text':'call.fail=EIO call=reg_mr'",
	       "{'ok':true,'result':{'rule':1}}\n");
	expect("'action':'change','rule':2,'text':'call.slow=1ms call=reg_mr'",
	       "{'ok':true,'result':{'rule':2}}\n");
	assert_false(t.d.ports[0].fault.active);
	expect("'action':'remove','rule':1",
	       "{'ok':true,'result':{'rule':1,'name':'','text':'call.fail=EIO call=reg_mr',"
	       "'layer':'call','random':false,'matched':0,'hits':0,'looked':0,'seen':0,"
	       "'words':[{'name':'call','matched':0}]}}\n");
	expect("'action':'clear'", "{'ok':true,'result':{'rules':1}}\n");
	expect("'action':'clear'", "{'ok':true,'result':{'rules':0}}\n");
}

static void test_refusals(void **state)
{
	(void)state;
	refused("'action':7",
		"fault needs \\'action\\': list, add, now, change, remove, clear, load, "
		"replay or trace");
	refused("'action':'dance'",
		"fault needs \\'action\\': list, add, now, change, remove, clear, load, "
		"replay or trace");
	refused("'action':'list','device':'uhca0'", "fault takes no member 'device'");
	refused("'action':'add'", "fault add needs \\'text\\'");
	refused("'action':'add','text':7", "fault add needs \\'text\\'");
	refused("'action':'remove'", "the rule's number or name is missing");
	refused("'action':'remove','rule':{}", "the rule's number or name is missing");
	refused("'action':'remove','rule':1", "unknown rule '1'");
	refused("'action':'remove','rule':-1", "unknown rule '-1'");
	refused("'action':'remove','rule':4294967297", "unknown rule '4294967297'");
	refused("'action':'change','rule':'x','text':'drop'", "unknown rule 'x'");
	refused("'action':'load'", "fault needs an absolute file name");
	refused("'action':'load','file':'rules'", "fault needs an absolute file name");
	refused("'action':'load','file':'/nonexistent/r'",
		"/nonexistent/r: No such file or directory");
	refused("'action':'replay','file':'/'", "/: not a regular file");
}

/*
 * What a refusal says of a request ends within a character of two bytes: it is told all the same.
 */
static void test_cut_text(void **state)
{
	char request[1200] = "'action':'list','x";
	char error[sizeof(((struct ctl_outcome *)NULL)->error)] = "fault takes no member 'x";
	size_t used = strlen(request), kept = strlen(error);

	(void)state;
	for (unsigned i = 0; i < 510; i++)
		used += (size_t)snprintf(request + used, sizeof(request) - used, "\xc3\xa9");
	snprintf(request + used, sizeof(request) - used, "':1");
	assert_int_equal((sizeof(error) - 1 - kept) % 2, 1);
	memset(error + kept, '?', sizeof(error) - 1 - kept);
	refused(request, error);
}

/* Where it is wrong, and that nothing has changed. */
static void test_places(void **state)
{
	char request[200];
	char path[100];
	FILE *f;

	(void)state;
	expect("'action':'add','text':'drop nht=3'",
	       "{'ok':false,'error':'unknown word 'nht': did you mean 'nth'?',"
	       "'column':6}\n");
	expect("'action':'add','text':'a: drop nth=3'", "{'ok':true,'result':{'rule':1}}\n");
	expect("'action':'add','text':'a: drop nth=3'",
	       "{'ok':false,'error':'rule 1 has the name 'a'','column':1}\n");
	snprintf(path, sizeof(path), "%s/rules", t.dir);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs("drop nth=1\n\ndrop p=2\n", f);
	fclose(f);
	snprintf(request, sizeof(request), "'action':'load','file':'%s'", path);
	expect(request,
	       "{'ok':false,'error':''2' is not a probability such as 0.01 or 1%','line':3,"
	       "'column':8}\n");
	assert_int_equal(fault_plan_count(t.d.faults.plan), 1);
}

/* Longer than one reply holds. */
static void test_trace(void **state)
{
	const struct fault_entry *hits[FAULT_HITS_MAX];
	struct fault_subject s;
	unsigned lines = 0;
	json_int_t from = 0;

	(void)state;
	expect("'action':'trace','from':0",
	       "{'ok':true,'result':{'lines':[],'next':0,'end':0,'lost':0}}\n");
	expect("'action':'add','text':'call.fail=EIO call=reg_mr'",
	       "{'ok':true,'result':{'rule':1}}\n");
	io_fault_subject(&s, FAULT_LAYER_CALL, &t.d.ports[0].dev, NULL);
	s.call = "reg_mr";
	for (unsigned i = 0; i < 1200; i++)
		io_faults_decide(&t.d.faults, &t.d.ports[0].dev, &s, io_clock_now(), hits);
	for (json_int_t end = 1; from < end;) {
		char request[100];
		char *line;
		json_t *reply, *result;

		snprintf(request, sizeof(request),
			 "{\"cmd\":\"fault\",\"action\":\"trace\",\"from\":%lld}", (long long)from);
		line = io_ctl_request(&t.d.ctl.services, request, strlen(request));
		reply = json_loads(line, 0, NULL);
		result = json_object_get(reply, UHCA_CTL_RESULT);
		lines += (unsigned)json_array_size(json_object_get(result, UHCA_CTL_LINES));
		assert_true(json_integer_value(json_object_get(result, UHCA_CTL_NEXT)) > from);
		from = json_integer_value(json_object_get(result, UHCA_CTL_NEXT));
		end = json_integer_value(json_object_get(result, UHCA_CTL_END));
		json_decref(reply);
		free(line);
	}
	assert_int_equal(lines, 1202); /* the plan, the rule, the hits */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_life_of_a_rule), TEST(test_refusals), TEST(test_cut_text),
		TEST(test_places),         TEST(test_trace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
