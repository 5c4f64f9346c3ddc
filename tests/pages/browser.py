"""A headless Chromium over its debugging pipe: one page at a time, measured and printed."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
from typing import Any

Answer = dict[str, Any]

# Elements whose text is hard to read: [tag, text, contrast], by WCAG 2.1, 1.4.3.
LOW_CONTRAST = """(() => {
  const parse = text => { const n = text.match(/[\\d.]+/g).map(Number); return n.length < 4 ? [...n, 1] : n; };
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const ground = element => {
    for (let at = element; at; at = at.parentElement) {
      const color = parse(getComputedStyle(at).backgroundColor);
      if (color[3] === 1) return color;
    }
    return matchMedia('(prefers-color-scheme: dark)').matches ? [18, 18, 18, 1] : [255, 255, 255, 1];
  };
  const low = [];
  for (const element of document.body.querySelectorAll('*')) {
    const text = [...element.childNodes].filter(n => n.nodeType === 3).map(n => n.data.trim()).join('');
    if (!text || !element.checkVisibility()) continue;
    const style = getComputedStyle(element);
    const pair = [light(parse(style.color)), light(ground(element))].sort((a, b) => b - a);
    const ratio = (pair[0] + 0.05) / (pair[1] + 0.05);
    const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
    if (ratio < (large ? 3 : 4.5)) low.push([element.tagName, text.slice(0, 40), Math.round(ratio * 10) / 10]);
  }
  return low;
})()"""
# Elements that are wider than the window, and columns that break words into letters: [tag, text, width].
MISLAID = """(() => {
  const wide = [], canvas = document.createElement('canvas').getContext('2d');
  for (const element of document.body.querySelectorAll('*')) {
    const box = element.getBoundingClientRect();
    if (!box.width || !element.checkVisibility()) continue;
    const text = element.textContent.trim();
    const style = getComputedStyle(element);
    canvas.font = style.font;
    // Words that a line has room for on any phone, in less room than they need.
    const words = ['TD', 'TH', 'P', 'LI', 'H1', 'H2', 'H3'].includes(element.tagName) ? text.split(/\\s+/) : [];
    const letters = words.some(word => word.length <= 20 && canvas.measureText(word).width > box.width + 1);
    let scrolls = false;
    for (let at = element.parentElement; at; at = at.parentElement) scrolls ||= ['auto', 'scroll'].includes(getComputedStyle(at).overflowX);
    if (letters || (!scrolls && box.right > document.documentElement.clientWidth + 1)) wide.push([element.tagName, text.slice(0, 40), Math.round(box.right)]);
  }
  return wide;
})()"""


class Browser:
    """Ends its program with the block, which must then have exit code 0."""

    def __init__(self) -> None:
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        command = [
            "chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--disable-background-networking", f"--user-data-dir={self._profile.name}", "--remote-debugging-pipe", "about:blank",
        ]  # fmt: skip
        self._program = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{to_browser} 4>&{from_browser}', "-", *command],
            pass_fds=(to_browser, from_browser),
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._number = 0
        self._rest = b""
        self._events: list[Answer] = []
        target = self._call("Target.createTarget", {"url": "about:blank"})["targetId"]
        self._session = self._call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        self.call("Page.enable")

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *error: object) -> None:
        self._call("Browser.close")
        code = self._program.wait(timeout=60)
        os.close(self._out)
        os.close(self._in)
        self._profile.cleanup()
        if error[0] is None and code != 0:
            raise AssertionError(f"chromium ended with exit code {code}")

    def _read(self) -> Answer:
        while b"\0" not in self._rest:
            part = os.read(self._in, 1 << 20)
            if not part:
                raise AssertionError("chromium closed its pipe")
            self._rest += part
        message, _, self._rest = self._rest.partition(b"\0")
        return dict(json.loads(message))

    def _call(self, method: str, parameters: Answer | None = None, session: str | None = None) -> Answer:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters or {}}
        if session:
            message["sessionId"] = session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']['message']}")
                return dict(answer["result"])
            self._events.append(answer)

    def call(self, method: str, parameters: Answer | None = None) -> Answer:
        return self._call(method, parameters, self._session)

    def open(self, path: os.PathLike[str], width: int, dark: bool = False, paper: bool = False) -> None:
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", {"media": "print" if paper else "screen", "features": features})
        self.call("Emulation.setDeviceMetricsOverride", {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600})
        self._events.clear()
        self.call("Page.navigate", {"url": f"file://{os.path.abspath(path)}"})
        while not any(event.get("method") == "Page.loadEventFired" for event in self._events):
            self._events.append(self._read())

    def evaluate(self, expression: str) -> Any:
        answer = self.call("Runtime.evaluate", {"expression": expression, "returnByValue": True})
        if "exceptionDetails" in answer:
            raise AssertionError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def screenshot(self) -> bytes:
        return base64.b64decode(self.call("Page.captureScreenshot", {"captureBeyondViewport": True})["data"])

    def pdf(self) -> bytes:
        return base64.b64decode(self.call("Page.printToPDF", {"printBackground": True})["data"])


def missing() -> bool:
    return shutil.which("chromium") is None
