"""The page of a rater in headless Chromium; `make look` runs this, `make test` does not.

A page with a script opens the rater's page in two frames, which share the browser's storage as two tabs do, and writes
what it found into itself.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue
from typing import Any, ClassVar

import pytest

from espalier.judging.answers import merged
from espalier.judging.draw import draw
from espalier.judging.protocol import Protocol
from espalier.judging.sample import Sample
from espalier.judging.sheets import page

EVIL = "</script><script>document.title='broken'</script> & <b>bold</b>"
HARNESS = """<!DOCTYPE html><meta charset="utf-8"><body><script>
const wait = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
const opened = (width) => new Promise((done) => {
  const frame = document.createElement("iframe");
  frame.style = `width: ${width}px; height: 700px`;
  frame.onload = () => done(frame.contentWindow);
  frame.src = "page.html";
  document.body.append(frame);
});
const press = (tab, key) => tab.document.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
const radios = (tab) => [...tab.document.querySelectorAll("#screen input")];
const chosen = (tab) => radios(tab).filter((input) => input.checked).map((input) => `${input.name}=${input.value}`);
const count = (tab) => tab.document.getElementById("count").textContent;
const show = (found) => fetch("found", {method: "POST", body: JSON.stringify(found)});
(async () => {
  localStorage.clear();
  const found = {};
  const one = await opened(1000), other = await opened(360);
  found.bold = one.document.querySelectorAll("#screen b").length;
  const texts = [...one.document.querySelectorAll("#screen .text")];
  found.texts = texts.map((text) => text.textContent);
  found.directions = texts.map((text) => one.getComputedStyle(text).direction);
  found.title = one.document.title;
  found.wide = other.document.documentElement.scrollWidth;
  const buttons = [...other.document.querySelectorAll(".answers span, button")];
  found.smallest = Math.min(...buttons.map((each) => each.getBoundingClientRect().height));
  radios(one)[0].click();
  await wait(300);
  found.here = chosen(one);
  found.there = chosen(other);
  radios(other)[radios(other).length - 1].click();  // another question, in the other tab
  await wait(300);
  found.both = [chosen(one), chosen(other)];
  found.count = count(one);
  // By the keyboard: through all screens, the second answer to every question.
  for (let screen = 0; screen < SCREENS; screen++) {
    for (let question = 0; question < 2; question++) press(other, "2");
    press(other, "Enter");
  }
  await wait(300);
  found.done = count(one);
  const again = await opened(1000);  // the page is opened again: all is still there
  found.reopened = count(again);
  let text = "";
  again.URL.createObjectURL = (blob) => { blob.text().then((read) => { text = read; }); return "data:,"; };
  again.document.getElementById("export").click();
  await wait(300);
  found.file = text;
  localStorage.clear();
  show(found);
})().catch((error) => show({error: String(error)}));
</script>"""


@pytest.fixture(scope="module")
def sample() -> Sample:
    criteria = {
        "fluency": {"question": "How fluent is it?", "levels": ["bad", "so so", "good"]},
        "style": {"question": "Does the style fit?", "lowest": 0, "levels": ["no", "yes"]},
    }
    protocol = Protocol.model_validate({
        "paper": "toy", "title": "Texts to judge", "design": "scale", "criteria": criteria, "runs": ["one"],
        "given": {"post": "source"}, "inputs": 4, "raters": 1, "checks": 0, "note": "Judge each text.",
    })  # fmt: skip
    rows = [{"id": f"r{n}", "source": "מה שלומך היום", "text": f"{EVIL} {n}"} for n in range(4)]
    return draw("toy", protocol, {"one": rows}, "en")


class Served(SimpleHTTPRequestHandler):
    """Serves a folder, and keeps what a page posts."""

    posted: ClassVar[Queue[str]] = Queue()

    def do_POST(self) -> None:
        self.posted.put(self.rfile.read(int(self.headers["Content-Length"])).decode())
        self.send_response(204)
        self.end_headers()

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory, sample: Sample) -> dict[str, Any]:
    """What the page with the script found."""
    browser = shutil.which("chromium")
    assert browser is not None, "no Chromium; install it (Debian, Ubuntu: apt install chromium)"
    folder, profile = tmp_path_factory.mktemp("page"), tmp_path_factory.mktemp("browser")
    (folder / "page.html").write_text(page(sample, "rater_1"), encoding="utf-8")
    (folder / "index.html").write_text(HARNESS.replace("SCREENS", str(len(sample.items))), encoding="utf-8")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Served, directory=str(folder))) as served:
        threading.Thread(target=served.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{served.server_address[1]}/index.html"
        options = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}"]
        running = subprocess.Popen([browser, *options, address], stderr=subprocess.DEVNULL)
        try:
            result: dict[str, Any] = json.loads(Served.posted.get(timeout=100))
        finally:
            running.terminate()
            running.wait()
            served.shutdown()
    assert "error" not in result, result
    return result


def test_two_tabs_share_answers_and_lose_none(found: dict[str, Any], sample: Sample) -> None:
    first = sample.orders["rater_1"][0]
    assert found["here"] == found["there"] == [f"{first} fluency=1"]
    assert found["both"] == [[f"{first} fluency=1", f"{first} style=1"]] * 2
    assert "2 of 8 questions answered" in found["count"]
    assert "8 of 8 questions answered" in found["done"] and "8 of 8 questions answered" in found["reopened"]


def test_the_saved_file_is_one_that_is_scored(found: dict[str, Any], sample: Sample) -> None:
    (answers,) = merged({"rater_1.json": found["file"]}, sample)
    assert len(answers.answers) == 8 and not answers.simulated
    first = sample.orders["rater_1"][0]
    assert answers.answers[first, "fluency"] == "1"
    assert {answer for place, answer in answers.answers.items() if place[0] != first} == {"2", "1"}


def test_markup_is_text_and_each_text_has_its_direction(found: dict[str, Any]) -> None:
    assert found["title"] == "Texts to judge" and found["bold"] == 0
    assert found["texts"][0] == "מה שלומך היום" and found["texts"][1].startswith(EVIL)
    assert found["directions"] == ["rtl", "ltr"]


def test_on_a_phone_nothing_is_wider_than_the_screen_and_buttons_are_large(found: dict[str, Any]) -> None:
    assert found["wide"] <= 360 and found["smallest"] >= 43
