# SPDX-License-Identifier: BSD-2-Clause
"""What of a page programs that read it aloud, and hands that are not steady, need: what axe-core
finds (scripts/deps fetches it), and what it does not look at.
"""
import json
import os

AXE = "/usr/local/lib/node_modules/axe-core/axe.min.js"
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
         "resultTypes": ["violations"]}


def ask_axe(browser):
    """The violations of the page in the browser: rule, what it is, the first elements."""
    if not os.path.exists(AXE):
        assert os.environ.get("CI") != "true", AXE + " is missing (scripts/deps --install tests)"
        print("axe-core is missing (scripts/deps --install tests): it was not asked")
        return []
    if not browser.js("!!window.axe"):
        with open(AXE, encoding="utf-8") as source:
            browser.js(source.read() + "; 0")
    return browser.js("""axe.run(document, %s).then(found => found.violations.map(v =>
        v.id + ": " + v.help + ": " + v.nodes.slice(0, 3).map(n => n.html.slice(0, 160) + " " +
        n.failureSummary.slice(0, 300)).join(" | ")))""" % json.dumps(RULES))


def accessible(browser, where):
    """What can be seen by a program: names, one level of headings, room for a finger, contrast."""
    wrong = browser.js("""(() => {
        const bad = [], name = e => e.getAttribute("aria-label") || e.textContent.trim() ||
            (e.labels && e.labels.length && e.labels[0].textContent.trim()) || e.title;
        const seen = e => e.getClientRects().length && getComputedStyle(e).visibility !== "hidden";
        for (const e of document.querySelectorAll("button, select, input, " +
                "[role=tab], canvas[role], svg[role=img], [tabindex='0']"))
            if (seen(e) && !name(e))
                bad.push("no name: " + e.outerHTML.slice(0, 120));
        for (const e of document.querySelectorAll("button, select, input"))
            if (seen(e) && e.getBoundingClientRect().height < 24)
                bad.push("too small: " + e.outerHTML.slice(0, 120));
        if (document.querySelectorAll("h1").length !== 1)
            bad.push("not one h1");
        const ids = [...document.querySelectorAll("[id]")].map(e => e.id);
        for (const id of ids)
            if (ids.indexOf(id) !== ids.lastIndexOf(id))
                bad.push("twice: id " + id);
        const value = c => c.match(/[0-9.]+/g).slice(0, 3).map(n => n / 255)
            .map(n => n <= 0.03928 ? n / 12.92 : Math.pow((n + 0.055) / 1.055, 2.4))
            .reduce((sum, n, i) => sum + n * [0.2126, 0.7152, 0.0722][i], 0);
        const behind = e => { for (; e; e = e.parentElement) {
            const c = getComputedStyle(e).backgroundColor;
            if (!/, 0\\)$|transparent/.test(c)) return c; } return "rgb(255, 255, 255)"; };
        for (const e of document.querySelectorAll("p, button, td, th, h1, h2, h3, li, " +
                "label, text.note, text.label")) {
            if (!seen(e) || !e.textContent.trim() || e.disabled) continue;
            const style = getComputedStyle(e), svg = e.tagName === "text";
            const a = value(svg ? style.fill : style.color);
            const b = value(behind(svg ? document.getElementById("rows") : e));
            if ((Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 4.5)
                bad.push("contrast: " + e.outerHTML.slice(0, 120));
        }
        if (document.documentElement.scrollWidth > innerWidth + 1)
            bad.push("scrolls sideways: " + document.documentElement.scrollWidth);
        return [...new Set(bad)].slice(0, 5);
    })()""")
    wrong += ask_axe(browser)
    assert not wrong, "accessibility %s:\n%s" % (where, "\n".join(wrong))
