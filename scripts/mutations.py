# SPDX-License-Identifier: BSD-2-Clause
"""Which single-line mutations a C file has. Used by scripts/mutate.

The file is read as tokens, not parsed: the layout that clang-format gives it tells what a token is
(an operator between two operands stands between spaces). Comments, strings, preprocessor lines,
types, declarations, assertions and what is only logged are left alone.
"""
import hashlib
import re
from typing import NamedTuple

TOKEN = re.compile(
    r"(?P<skip>\s+|/\*.*?\*/|//[^\n]*)|(?P<text>\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*')"
    r"|(?P<number>\d[\w.]*)|(?P<word>[A-Za-z_]\w*)"
    r"|(?P<op><<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)", re.S)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.M)

# Operators between operands: what stands there instead, by kind.
SWAPS = {
    "relation": {"<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"],
                 "==": ["!="], "!=": ["=="]},
    "logic": {"&&": ["||"], "||": ["&&"]},
    "arithmetic": {"+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "%": ["/"],
                   "+=": ["-="], "-=": ["+="]},
    "bits": {"&": ["|"], "|": ["&"], "^": ["|"], "<<": [">>"], ">>": ["<<"], "|=": ["&="],
             "&=": ["|="], "^=": ["|="]},
}
KEYWORDS = set("return break continue goto if else for while do switch case default sizeof typedef "
               "struct union enum static const extern".split())
# Nobody's behaviour depends on these.
UNSEEN = {"assert", "_Static_assert", "static_assert", "io_log"}


class Mutant(NamedTuple):
    """A line of a file and what stands there instead; the id outlives lines that move."""
    id: str
    file: str
    line: int
    kind: str
    before: str
    after: str


class Token(NamedTuple):
    kind: str
    text: str
    start: int
    end: int


def tokens_of(text):
    bare = DIRECTIVE.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)
    return [Token(m.lastgroup, m.group(), m.start(), m.end())
            for m in TOKEN.finditer(bare) if m.lastgroup != "skip"]


def regions(tokens):
    """For each token what it stands in: "function", "table" (an initialiser), or None."""
    depth, kind, out = 0, None, []
    for i, t in enumerate(tokens):
        if t.text == "{":
            if depth == 0:
                before = tokens[i - 1].text if i else ""
                kind = {")": "function", "=": "table"}.get(before)
            depth += 1
        out.append(kind if depth else None)
        if t.text == "}":
            depth -= 1
    return out


def statements(tokens):
    """(first, last) indices of runs that end with ; { or }."""
    first = 0
    for i, t in enumerate(tokens):
        if t.text in ";{}" and t.kind == "op":
            yield first, i
            first = i + 1


def is_declaration(run):
    """TYPE NAME; without a value."""
    words = [t.text for t in run]
    return ("=" not in words and "(" not in words and len(run) > 2 and run[0].kind == "word"
            and words[0] not in KEYWORDS - {"struct", "union", "enum", "static", "const"}
            and (run[1].kind == "word" or words[1] == "*"))


class Source:
    """A file and the changes that can be made to it."""

    def __init__(self, name, text):
        self.name, self.text = name, text
        self.tokens = tokens_of(text)
        self.lines = text.split("\n")
        self.changes = []  # (start, end, kind, replacement)

    def spaced(self, t):
        return self.text[t.start - 1] in " \n\t" and self.text[t.end:t.end + 1] in (" ", "\n")

    def on_one_line(self, start, end):
        return "\n" not in self.text[start:end]

    def add(self, start, end, kind, new):
        self.changes.append((start, end, kind, new))

    def operators(self, t):
        for kind, table in SWAPS.items():
            for new in table.get(t.text, []) if self.spaced(t) else []:
                self.add(t.start, t.end, kind, new)
        if t.text in ("++", "--"):
            self.add(t.start, t.end, "arithmetic", "--" if t.text == "++" else "++")
        if t.text in ("!", "~"):
            self.add(t.start, t.end, "negation", "")

    def number(self, i):
        t = self.tokens[i]
        around = self.tokens[i - 1].text + self.tokens[i + 1].text
        m = re.fullmatch(r"(0[xX][0-9a-fA-F]+|\d+)([uUlL]*)", t.text)
        if not m or around == "{}":
            return
        value = int(m.group(1), 16 if m.group(1)[:2] in ("0x", "0X") else 10)
        for other in (value + 1, value - 1) if value else (1,):
            text = hex(other) if m.group(1)[:2] in ("0x", "0X") else str(other)
            self.add(t.start, t.end, "constant", text + m.group(2))

    def statement(self, run):
        """The whole run: a return value, a condition, or something that is not done."""
        start, end = run[0].start, run[-1].end
        words = [t.text for t in run]
        if words[0] == "return" and len(run) > 2 and self.on_one_line(start, end):
            if run[1].kind != "number" and words[1] not in ("true", "false", "NULL"):
                self.add(start, end, "return", "return 0;")
        elif (words[-1] == ";" and run[0].kind == "word" and words[0] not in KEYWORDS
              and words[1] in ("(", "=", "->", ".", "[", "++", "--", "+=", "-=", "|=", "&=", "^=",
                               "<<=", ">>=", "*=")
              and self.text[:start].rsplit("\n", 1)[-1].strip() == ""
              and self.on_one_line(start, end)):
            self.add(start, end, "statement", ";")

    def condition(self, run):
        """The run starts at "if (": negated."""
        depth = 0
        for t in run[1:]:
            depth += {"(": 1, ")": -1}.get(t.text, 0)
            if depth == 0:
                break
        inner = self.text[run[1].end:t.start]
        if self.on_one_line(run[0].start, t.end) and not inner.startswith("!"):
            self.add(run[1].end, t.start, "condition", f"!({inner})")

    def run(self, first, last):
        """All changes of a statement, or of a piece of one in front of a brace."""
        run = self.tokens[first:last + 1]
        if any(t.text in UNSEEN for t in run) or is_declaration(run):
            return
        for i, t in enumerate(run):
            if t.text == "if" and run[i + 1].text == "(":
                self.condition(run[i:])
        headed = run[0].text in ("if", "for", "while", "else")
        head = self.behind_head(run) if headed else 0
        if head < len(run) - 1:
            self.statement(run[head:])
        for i, t in enumerate(run):
            if t.kind == "op":
                self.operators(t)
            elif t.kind == "number":
                self.number(first + i)
            elif t.text in ("true", "false"):
                self.add(t.start, t.end, "constant", "false" if t.text == "true" else "true")

    @staticmethod
    def behind_head(run):
        """Index of what an if, for, while or else is followed by."""
        depth, i = 0, 0
        while i < len(run):
            t = run[i].text
            depth += {"(": 1, ")": -1}.get(t, 0)
            after = run[i + 1].text if i + 1 < len(run) else ""
            if depth == 0 and t in (")", "else") and after not in ("if", "(") and after:
                return i + 1
            if depth == 0 and t == ")" and after != "(":
                return i + 1
            i += 1
        return len(run)

    def mutants(self):
        where = regions(self.tokens)
        for first, last in statements(self.tokens):
            if where[first] == "function" and first <= last:
                self.run(first, last)
            elif where[first] == "table":
                for i in range(first, last + 1):
                    if self.tokens[i].kind == "number":
                        self.number(i)
                    elif self.tokens[i].text in ("true", "false"):
                        t = self.tokens[i]
                        self.add(t.start, t.end, "constant",
                                 "false" if t.text == "true" else "true")
        return list(self.named())

    def named(self):
        seen = {}  # how often a line of this text was there, for ids
        occurrence = []
        for line in self.lines:
            seen[line.strip()] = seen.get(line.strip(), 0) + 1
            occurrence.append(seen[line.strip()])
        for start, end, kind, new in sorted(set(self.changes)):
            number = self.text.count("\n", 0, start)
            line, column = self.lines[number], start - (self.text.rfind("\n", 0, start) + 1)
            if not self.on_one_line(start, end):
                continue
            after = line[:column] + new + line[column + end - start:]
            name = "\0".join((self.name, line.strip(), str(occurrence[number]), after.strip()))
            yield Mutant(hashlib.sha1(name.encode()).hexdigest()[:8], self.name, number + 1, kind,
                         line, after)


def mutants_of(name, text):
    """All mutants of a file, in order of lines. name is relative to the tree."""
    return Source(name, text).mutants()


def functions_of(text):
    """(first line, last line, name, words of its body) of each function."""
    tokens, out, first = tokens_of(text), [], None
    where = regions(tokens) + [None]
    for i, kind in enumerate(where):
        if kind == "function" and first is None:
            first = i
        elif kind != "function" and first is not None:
            out.append((text.count("\n", 0, tokens[first].start) + 1,
                        text.count("\n", 0, tokens[i - 1].end) + 1, name_before(tokens, first),
                        {t.text for t in tokens[first:i] if t.kind == "word"}))
            first = None
    return out


def name_before(tokens, brace):
    """The name of the function whose body begins at this token."""
    depth = 0
    for i in range(brace - 1, 0, -1):
        depth += {")": 1, "(": -1}.get(tokens[i].text, 0)
        if depth == 0:
            return tokens[i - 1].text
    return ""
