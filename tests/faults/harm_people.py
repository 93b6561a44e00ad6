"""What people do beside writing odd files: they type, interrupt, hang up, and send very many lines."""

from __future__ import annotations

import random
import re
import signal
from dataclasses import replace

from harm import Project, Verdict
from trial import Typed

#: Commands that read lines at a terminal.
ASKING = (("chat",), ("check", "--format", "2。"), ("generate", "--file", "-"), ("polish", "--file", "-", "--json"))
#: What is typed: lines, ends of a line or file, interrupts, keys of a terminal, and what is no text.
KEYS = (
    "你好\n", "5,5。\n", "_雨。\n", "\n", "quit\n", "\x03", "\x03\x03", "\x04", "\x1a", "\x1b[A", "\x1b[200~",
    "\x7f", "\x15", "\x16\x00", "a" * 3000 + "\n", "\x1b]0;t\x07\n", "\u202e\n", "5,,5\n",
)  # fmt: skip


def at_a_terminal(project: Project, rng: random.Random) -> Verdict:
    """A command whose person types odd keys, interrupts it, or closes the terminal."""
    command = rng.choice(ASKING)
    keys = [rng.choice(KEYS).encode() for _ in range(rng.randint(1, 4))]
    if rng.random() < 0.2:
        keys.insert(rng.randrange(len(keys)), b"\xff\xfe\n")
    hang_up = rng.random() < 0.3
    typed = Typed((*keys, *(() if hang_up else (b"\n\x04", b"\x04", b"\x03"))), rng.uniform(0.05, 1.5), hang_up)
    ended = project.run(*command, typed=typed)
    if ended.status == -signal.SIGHUP:  # as a closed terminal ends what says nothing else
        ended = replace(ended, status=0)
    kind = ended.kind
    if "Traceback" in ended.out or project.strays():
        kind = "wrong"
    return Verdict(kind, f"{command}, {keys}, hang up {hang_up}: {ended.status}: {ended.err[-500:]}")


#: Commands of files, with lines that each answers and lines that it refuses.
MANY: dict[tuple[str, ...], tuple[tuple[str, ...], tuple[str, ...]]] = {
    ("check", "--format", "2。", "--json"): (("春风。", "山灯。", "春风山灯。"), ("a lamp", '{"text": 5}')),
    ("generate", "--json"): (("2。", "3，2。", "_雨。"), ("5,,5", "x。", "。")),
    ("polish", "--json", "--beam", "2"): (("_雨。", "__。"), ("2。", "春雨。", "_。。")),
}


def many_lines(project: Project, rng: random.Random) -> Verdict:
    """A file or a pipe of very many lines, some of them bad: each is answered or named, in their order."""
    command = rng.choice([*MANY])
    good, bad = MANY[command]
    lines = [rng.choice(bad if rng.random() < 0.05 else good) for _ in range(rng.choice([3, 40, 400]))]
    blank = [line if rng.random() < 0.9 else "" for line in lines]
    text = "".join(f"{line}\n" for line in blank).encode()
    (project.scratch / "lines.txt").write_bytes(text)
    source = rng.choice(["-", str(project.scratch / "lines.txt")])
    if command[0] == "check" and any(line.startswith("{") for line in blank):
        source = "-"
    ended = project.run(*command, "--file", source, stdin=text)
    asked = {row for row, line in enumerate(blank, start=1) if line}
    answered = [int(row) for row in re.findall(r'"line": (\d+)', ended.out)]
    named = {int(row) for row in re.findall(r", row (\d+)", ended.err)}
    kind = ended.kind
    if not asked:
        return Verdict(kind, f"{command}: {ended.err[-500:]}")
    whole = answered == sorted(answered) and {*answered} | named >= asked
    if kind == "traceback" and ended.status == 1 and "Traceback" not in ended.err:
        kind = "line"  # one line for each bad one, and notes between them
    at_once = command[0] == "check" and '{"text": 5}' in blank  # a line that is no request ends the command
    if not whole and not at_once:
        kind = "wrong"
    return Verdict(kind, f"{command}, {len(lines)} lines of {source}: {ended.status}: {ended.err[-500:]}")
