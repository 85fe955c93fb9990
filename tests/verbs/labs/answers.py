#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Answers to the labs: right ones pass their check, wrong ones are refused for what is wrong.

  answers.py [--all] [--jobs N] [LAB [WORD...]]

Without LAB the right answers and every fifth wrong one of each lab are checked, with --all all.
Each lab's text must have a picture, three questions with answers, and mistakes of these answers.

Each LAB.answers beside this file has blocks apart by empty lines:
  right TITLE, or wrong TITLE
  edit OLD => NEW            a change of the solution; OLD stands once in the part for students
  edit FUNCTION: OLD => NEW  once in this function; \\n and \\t are what they are in C
  body FUNCTION              another body of it: the lines up to "end"
  says WORDS                 of a wrong one: what is said in a line that begins with "not yet: ";
                             "in FUNCTION: LINE" of one that does not end
A wrong answer is refused with 1, by one that says what was asked for, and by no crash that was not.
WORDs choose titles. Exit status: 0; 1 when one was judged otherwise; 77 without a compiler.
"""
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SRC = os.path.abspath(os.environ.get("UHCA_SRCDIR") or os.path.join(HERE, "../../.."))
LABS = os.path.join(SRC, "docs", "tutorials", "labs")
REST = "/* ---- the rest is complete ---- */"
LEAST = {"right": 2, "wrong": 20}
FEW = 5         # one wrong answer of so many, where not all are checked
SECONDS = 120   # for one check on a busy machine
ENDS = "60"     # seconds for a program that ends: most take one, on a busy machine some took ten
ENDLESS = "4"   # seconds until a program is ended of which it is known that it does not end


class Answer:
    """A block of a file: what is changed, and what is said of it."""

    def __init__(self, lab, block):
        self.lab, self.says, self.changes = lab, None, []
        lines = iter(block.splitlines())
        self.kind, self.title = next(lines).split(" ", 1)
        if self.kind not in LEAST:
            raise ValueError(f"{lab}: {self.kind} {self.title}")
        for line in lines:
            word, rest = line.split(" ", 1)
            if word == "edit":
                self.changes.append(self.edit(rest))
            elif word == "body":
                body = []
                while (inner := next(lines)) != "end":
                    body.append(inner + "\n")
                self.changes.append((rest, None, "".join(body)))
            elif word == "says" and self.kind == "wrong":
                self.says = rest
            else:
                raise ValueError(f"{lab}: {self.title}: {line}")
        if self.kind == "wrong" and not self.says:
            raise ValueError(f"{lab}: {self.title}: it says nothing")
        self.endless = re.match(r"in \w+: ", self.says or "") is not None
        self.ended = self.endless or (self.says or "").startswith("the program crashed: ")

    @staticmethod
    def edit(text):
        """(function or None, old text, new text)"""
        function = re.match(r"(\w+): ", text)
        text = text[function.end():] if function else text
        old, new = text.split(" => ", 1)
        plain = [part.replace(r"\n", "\n").replace(r"\t", "\t") for part in (old, new)]
        return function.group(1) if function else None, *plain

    def text(self):
        """The solution, changed."""
        with open(os.path.join(LABS, self.lab, "solution.c"), encoding="utf-8") as file:
            mine, rest = file.read().split(REST)
        for function, old, new in self.changes:
            begin, end = 0, len(mine)
            if function:
                found = re.search(rf"^[^\n]*\b{function}\([^;]*?\)\n{{\n(.*?)^}}", mine,
                                  re.M | re.S)
                begin, end = found.span(1)
            part = mine[begin:end]
            if old is not None and part.count(old) != 1:
                raise ValueError(f"{self.lab}: {self.title}: {part.count(old)} times {old}")
            mine = mine[:begin] + (new if old is None else part.replace(old, new)) + mine[end:]
        return mine + REST + rest

    def check(self, top):
        """Runs the lab's check. What is not as it should be, or None."""
        folder = tempfile.mkdtemp(dir=top)
        file = os.path.join(folder, "answer.c")
        with open(file, "w", encoding="utf-8") as out:
            out.write(self.text())
        env = dict(os.environ, UHCA_LAB_DIR=folder)
        env["UHCA_LAB_SECONDS"] = ENDLESS if self.endless else ENDS
        try:
            done = subprocess.run([os.path.join(SRC, "scripts", "lab"), self.lab, "check", file],
                                  env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, errors="replace",
                                  timeout=SECONDS, check=False)
        except subprocess.TimeoutExpired:
            return f"no end in {SECONDS} s"
        wrong = self.judge(done.returncode, done.stdout)
        if wrong:
            said = done.stdout.splitlines()[-30:]
            return wrong + "\n" + "".join(f"    {line}\n" for line in said)
        shutil.rmtree(folder)
        return None

    def judge(self, status, said):
        if self.kind == "right":
            return None if status == 0 else f"it ended with {status}"
        if status != 1:
            return f"it ended with {status}, not with 1"
        reasons = [line for line in said.splitlines() if line.startswith("not yet: ")]
        if "does not compile" in said:
            return "it does not compile"
        if not any(self.says in line for line in reasons):
            return f"no reason says '{self.says}'"
        ended = any("the program crashed: " in line or "did not end in" in line for line in reasons)
        return "it was ended, which was not asked for" if ended and not self.ended else None


def answers_of(lab):
    with open(os.path.join(HERE, lab + ".answers"), encoding="utf-8") as file:
        text = re.sub(r"^#.*\n", "", file.read(), flags=re.M)
    # An empty line in a body is part of it.
    blocks = re.split(r"\n\n+(?=right |wrong )", text.strip("\n"))
    return [Answer(lab, block) for block in blocks]


def mistakes_of_text(lab):
    """What the lab's text lacks: a picture, three questions, answers, mistakes that are made."""
    with open(os.path.join(LABS, lab, "README.md"), encoding="utf-8") as file:
        parts = {part.split("\n", 1)[0]: part for part in file.read().split("\n## ")}
    if not os.path.isfile(os.path.join(LABS, lab, "picture.svg")):
        yield "no picture.svg (scripts/page-pictures --labs)"
    for title in ("Questions", "Answers"):
        count = len(re.findall(r"^[0-9]\. ", parts.get(title, ""), re.M))
        if count != 3:
            yield f"{count} in '{title}', not 3"
    said = [answer.says for answer in answers_of(lab) if answer.says]
    words = re.findall(r"^- `([^`]+)`: ", parts.get("Common mistakes", ""), re.M)
    if len(words) < 5:
        yield f"{len(words)} common mistakes, not 5"
    for one in words:
        if not any(one in line for line in said):
            yield f"a common mistake that no wrong answer makes: {one}"


def main(words):
    if words[:1] in (["-h"], ["--help"]):
        print(__doc__)
        return 0
    every = 1 if words[:1] == ["--all"] else FEW
    words = words[1:] if words[:1] == ["--all"] else words
    jobs = 2 * (os.cpu_count() or 1)    # a part of each is waiting
    if words[:1] == ["--jobs"]:
        jobs, words = int(words[1]), words[2:]
    if not shutil.which((os.environ.get("CC") or "cc").split()[0]):
        print("skip: there is no compiler")
        return 1 if os.environ.get("CI") == "true" else 77
    labs = sorted(name[:-8] for name in os.listdir(HERE) if name.endswith(".answers"))
    with_text = sorted(name for name in os.listdir(LABS)
                       if os.path.isfile(os.path.join(LABS, name, "solution.c")))
    failed = 0
    if labs != with_text:
        print(f"FAIL labs with answers {labs}, labs {with_text}")
        failed = 1
    chosen = [a for lab in labs if not words or lab == words[0] for a in answers_of(lab)
              if all(word in a.title for word in words[1:])]
    for lab in labs if not words else words[:1]:
        for wrong in mistakes_of_text(lab):
            print(f"FAIL {lab}: README.md: {wrong}")
            failed += 1
    for lab in labs if not words else ():
        for kind, least in LEAST.items():
            count = sum(a.lab == lab and a.kind == kind for a in chosen)
            if count < least:
                print(f"FAIL {lab}: {count} {kind} answers, not {least}")
                failed += 1
    if not words:
        wrong = [a for a in chosen if a.kind == "wrong"]
        chosen = [a for a in chosen if a.kind == "right" or wrong.index(a) % every == 0]
    with tempfile.TemporaryDirectory() as top, \
            concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for answer, wrong in zip(chosen, pool.map(lambda a: a.check(top), chosen)):
            if wrong:
                failed += 1
                print(f"FAIL {answer.lab}: {answer.kind} {answer.title}: {wrong}")
    for lab in labs:
        kinds = [a.kind for a in chosen if a.lab == lab]
        if kinds:
            print(f"{lab}: {kinds.count('wrong')} wrong answers, {kinds.count('right')} right ones")
    print(f"{len(chosen)} answers, {failed} judged otherwise")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
