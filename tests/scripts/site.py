# SPDX-License-Identifier: BSD-2-Clause
"""Looks at the site's search and layout in a browser. Called by site.sh.

site.py ROOT SITE FOLDER: prints what is wrong. Exit status 0 when nothing is.
"""
import ctypes
import json
import os
import sys

root, site, folder = sys.argv[1:4]
sys.path.insert(0, os.path.join(root, "tests/support/page"))
from browser import Browser  # noqa: E402

CHAOS = "file://" + os.path.join(site, "docs/explanation/chaos.html")
wrong = []


def printed():
    """What programs print of statuses and events."""
    yield from ("IBV_WC_RETRY_EXC_ERR", "IBV_EVENT_QP_LAST_WQE_REACHED")
    verbs, cm = ctypes.CDLL("libibverbs.so.1"), ctypes.CDLL("librdmacm.so.1")
    for call, count in ((verbs.ibv_wc_status_str, 24), (verbs.ibv_event_type_str, 20),
                        (cm.rdma_event_str, 16)):
        call.restype = ctypes.c_char_p
        yield from (call(number).decode() for number in range(count))


def loaded(browser, url):
    browser.open(url, "document.readyState === 'complete'")


def hits(browser, words):
    """The links that the search shows for these words."""
    return browser.js("""(words => {
        const query = document.getElementById("query");
        query.value = words;
        query.dispatchEvent(new Event("input"));
        return [...document.querySelectorAll("#hits a")].map(a => a.getAttribute("href"));
    })(%s)""" % json.dumps(words))


def search(browser):
    loaded(browser, CHAOS + "?q=forget+all-of-this")
    if "Nothing has all of these words" not in browser.js("document.body.innerText"):
        wrong.append("the search finds too much")
    loaded(browser, CHAOS + "?q=stale+key")
    found = browser.js("[...document.querySelectorAll('#hits a')].map(a => a.getAttribute('href'))")
    if not any(link.startswith("../../docs/how-to/faults.html#") for link in found):
        wrong.append("the search finds nothing")


def statuses(browser):
    """What programs print of a status or an event leads to the page of statuses, first of all."""
    loaded(browser, "file://" + os.path.join(site, "index.html"))
    words = list(printed())
    if len(words) != 62:
        wrong.append("%d statuses and events, not 62" % len(words))
    for text in words:
        first = (hits(browser, text) or ["nothing"])[0]
        if "docs/reference/statuses.html#" not in first:
            wrong.append("the search for %s: %s" % (text, first))


def phone(browser):
    """As wide as a phone: the pages are behind a button above the text, which opens them."""
    browser.size(390, 800, mobile=True)
    loaded(browser, CHAOS)
    closed = browser.js("document.querySelector('nav').offsetHeight")
    browser.js("document.querySelector('header label').click()")
    seen = browser.js("""(() => {
        const nav = document.querySelector("nav"), main = document.querySelector("main");
        const button = document.querySelector("header label");
        return ["opened", nav.offsetHeight > 0, "above", nav.offsetTop < main.offsetTop,
                "button", button.offsetHeight > 0 && button.offsetTop < nav.offsetTop,
                "wide", document.documentElement.scrollWidth > 390].join(" ");
    })()""")
    if closed != 0 or seen != "opened true above true button true wide false":
        wrong.append("the pages of a phone: closed %s %s" % (closed, seen))


browser = Browser(folder)
search(browser)
statuses(browser)
phone(browser)
wrong += browser.problems
browser.close()
print("\n".join("FAIL " + line for line in wrong) or
      "ok   search and layout in a browser")
sys.exit(1 if wrong else 0)
